//! Spools that have ended: independent zstd frames, so that any part can be read without what is before it.
//!
//! The frames are followed by an index in a skippable frame: for each frame where its content begins and where it stands in
//! the file. `zstd -d` reads such a file and skips the index.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use zstd::bulk::Compressor;

use crate::SpoolError;
use crate::format::HEADER;
use crate::writer::{create_file, io_error};

/// How much content a frame has.
const FRAME: usize = 1 << 20;
/// Fast: output is compressed while others work.
const LEVEL: i32 = 1;
const SKIPPABLE: u32 = 0x184D_2A57;
/// A content offset and a file offset.
const ENTRY: usize = 16;
/// The end of the index: where the gap is, how many bytes are missing there, and how many entries the index has.
const FOOTER: u64 = 24;

/// What is missing in the middle of a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpoolGap {
    /// Where the piece stands that counts it.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

impl SpoolGap {
    /// Where what was kept goes on.
    pub(crate) fn end(self) -> u64 {
        self.at + self.bytes
    }

    /// Where a piece stands in the content that was kept.
    pub(crate) fn kept_position(self, offset: u64) -> u64 {
        if self.bytes == 0 || offset <= self.at {
            offset
        } else if offset < self.at + self.bytes {
            self.at
        } else {
            offset - self.bytes + HEADER as u64
        }
    }
}

/// What is missing in a spool that has ended.
pub(crate) fn read_gap(path: &Path) -> Result<SpoolGap, SpoolError> {
    let mut file = File::open(path).map_err(|source| io_error(path, source))?;
    Ok(read_footer(&mut file, path)?.0)
}

/// The name of a spool once it is compressed.
pub(crate) fn compressed_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    PathBuf::from(name)
}

/// Writes the frames of a compressed spool, which has its name once all of them are there.
struct FrameWriter {
    target: PathBuf,
    unfinished: PathBuf,
    to: File,
    index: Vec<u8>,
    /// How much content the frames hold, and how long they are.
    content: u64,
    written: u64,
    /// Kept from frame to frame: its tables are larger than most outputs.
    compressor: Compressor<'static>,
}

impl std::fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameWriter").field("target", &self.target).finish_non_exhaustive()
    }
}

impl FrameWriter {
    fn create(spool: &Path) -> Result<Self, SpoolError> {
        let target = compressed_path(spool);
        let mut unfinished = target.clone().into_os_string();
        unfinished.push(".part");
        let unfinished = PathBuf::from(unfinished);
        let to = create_file(&unfinished)?;
        let compressor = Compressor::new(LEVEL).map_err(|source| io_error(&unfinished, source))?;
        let index = Vec::new();
        Ok(Self { target, unfinished, to, index, content: 0, written: 0, compressor })
    }

    fn add_frame(&mut self, content: &[u8]) -> Result<(), SpoolError> {
        let fail = |source| io_error(&self.unfinished, source);
        let frame = self.compressor.compress(content).map_err(fail)?;
        self.to.write_all(&frame).map_err(fail)?;
        self.index.extend_from_slice(&self.content.to_le_bytes());
        self.index.extend_from_slice(&self.written.to_le_bytes());
        self.content += content.len() as u64;
        self.written += frame.len() as u64;
        Ok(())
    }

    /// Adds all that follows what the frames hold, and the index.
    fn finish(mut self, rest: &mut dyn Read, gap: SpoolGap) -> Result<(), SpoolError> {
        let mut buffer = vec![0; FRAME];
        loop {
            let read = read_full(rest, &mut buffer);
            let read = read.map_err(|source| io_error(&self.unfinished, source))?;
            if read == 0 {
                break;
            }
            self.add_frame(&buffer[..read])?;
        }
        let entries = (self.index.len() / ENTRY) as u64;
        for number in [gap.at, gap.bytes, entries] {
            self.index.extend_from_slice(&number.to_le_bytes());
        }
        let size = u32::try_from(self.index.len()).unwrap_or(u32::MAX);
        for part in [&SKIPPABLE.to_le_bytes()[..], &size.to_le_bytes()[..], &self.index] {
            self.to.write_all(part).map_err(|source| io_error(&self.unfinished, source))?;
        }
        fs::rename(&self.unfinished, &self.target).map_err(|source| io_error(&self.target, source))
    }
}

/// Compresses the beginning of a spool while it grows, on a thread of its own, so that little is left to do at its end.
#[derive(Debug)]
pub(crate) struct EarlyCompression {
    grown: Sender<u64>,
    thread: JoinHandle<Result<FrameWriter, SpoolError>>,
    announced: u64,
}

impl EarlyCompression {
    /// `None` where no thread can be had; then all of it is compressed at the end.
    pub(crate) fn start(spool: &Path) -> Option<Self> {
        let (grown, lengths) = channel();
        let path = spool.to_owned();
        let work = move || compress_growing(&path, &lengths);
        let thread = std::thread::Builder::new().name("output-spool".to_owned()).spawn(work);
        Some(Self { grown, thread: thread.ok()?, announced: 0 })
    }

    /// Tells how much of the spool is written and stays as it is.
    pub(crate) fn announce(&mut self, length: u64) {
        if length >= self.announced + FRAME as u64 {
            self.announced = length;
            // What it cannot do is done at the end.
            let _ = self.grown.send(length);
        }
    }

    fn into_frames(self) -> Option<FrameWriter> {
        drop(self.grown);
        self.thread.join().ok()?.ok()
    }
}

fn compress_growing(spool: &Path, lengths: &Receiver<u64>) -> Result<FrameWriter, SpoolError> {
    let fail = |source| io_error(spool, source);
    let mut frames = FrameWriter::create(spool)?;
    let mut from = File::open(spool).map_err(fail)?;
    let mut buffer = vec![0; FRAME];
    for length in lengths {
        while frames.content + FRAME as u64 <= length {
            from.read_exact(&mut buffer).map_err(fail)?;
            frames.add_frame(&buffer)?;
        }
    }
    Ok(frames)
}

/// Puts a compressed file in the place of a spool. `open_content` opens all that belongs into it from a place in the spool
/// on. Until the file is whole the spool stays as it is, so that a crash leaves one or the other.
pub(crate) fn compress_spool(
    path: &Path,
    early: Option<EarlyCompression>,
    gap: SpoolGap,
    open_content: impl FnOnce(&Path, u64) -> Result<Box<dyn Read>, SpoolError>,
) -> Result<(), SpoolError> {
    let frames = match early.and_then(EarlyCompression::into_frames) {
        Some(frames) => frames,
        None => FrameWriter::create(path)?,
    };
    let mut rest = open_content(path, frames.content)?;
    frames.finish(&mut rest, gap)?;
    fs::remove_file(path).map_err(|source| io_error(path, source))
}

fn read_full(from: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Opens a compressed spool at a piece. Returns its content from there on.
pub(crate) fn open_compressed(
    path: &Path,
    offset: u64,
) -> Result<Box<dyn Read + Send>, SpoolError> {
    let mut file = File::open(path).map_err(|source| io_error(path, source))?;
    let (skipped, place) = find_frame(&mut file, path, offset)?;
    file.seek(SeekFrom::Start(place)).map_err(|source| io_error(path, source))?;
    let decoder =
        zstd::stream::read::Decoder::new(file).map_err(|source| io_error(path, source))?;
    let mut content = BufReader::with_capacity(1 << 17, decoder);
    std::io::copy(&mut content.by_ref().take(skipped), &mut std::io::sink())
        .map_err(|source| io_error(path, source))?;
    Ok(Box::new(content))
}

/// What is missing in a compressed spool, and where the end of its index stands.
fn read_footer(file: &mut File, path: &Path) -> Result<(SpoolGap, u64), SpoolError> {
    let fail = |source| io_error(path, source);
    let size = file.metadata().map_err(fail)?.len();
    let damaged = || SpoolError::Damaged { path: path.to_owned(), at: size };
    let footer_at = size.checked_sub(FOOTER).ok_or_else(damaged)?;
    let gap = SpoolGap {
        at: read_number(file, footer_at).map_err(fail)?,
        bytes: read_number(file, footer_at + 8).map_err(fail)?,
    };
    Ok((gap, footer_at))
}

/// How much of a frame is before a piece, and where that frame stands in the file.
fn find_frame(file: &mut File, path: &Path, offset: u64) -> Result<(u64, u64), SpoolError> {
    let fail = |source| io_error(path, source);
    let (gap, footer_at) = read_footer(file, path)?;
    let damaged = || SpoolError::Damaged { path: path.to_owned(), at: footer_at + FOOTER };
    let entries = read_number(file, footer_at + 16).map_err(fail)?;
    let index_size = entries.checked_mul(ENTRY as u64).ok_or_else(damaged)?;
    let index_at = footer_at.checked_sub(index_size).ok_or_else(damaged)?;
    let position = gap.kept_position(offset);
    let (mut low, mut high, mut best) = (0, entries, (0, 0));
    while low < high {
        let middle = low + (high - low) / 2;
        let entry = index_at + middle * ENTRY as u64;
        let content = read_number(file, entry).map_err(fail)?;
        if content <= position {
            best = (content, read_number(file, entry + 8).map_err(fail)?);
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok((position - best.0, best.1))
}

fn read_number(file: &mut File, at: u64) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
