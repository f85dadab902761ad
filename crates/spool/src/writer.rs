//! Writing the spool of one attempt.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use planwright_model::event::{OutputStream, SpoolRange};

use crate::SpoolError;
use crate::compressed::{SpoolGap, compress_spool};
use crate::format::{HEADER, MAGIC, PieceHeader, PieceKind};

/// Shorter spools are not worth compressing.
const SMALLEST_COMPRESSED: u64 = 16 * 1024;

/// Appends the pieces of an attempt. The file is made with the first piece, so that silent attempts leave none.
#[derive(Debug)]
pub struct SpoolWriter {
    path: PathBuf,
    /// Bytes for the beginning, and for each of the two files that hold the end.
    head_room: u64,
    tail_room: u64,
    file: Option<File>,
    tail: Option<SpoolTail>,
    /// The offset of the next piece, as if everything were kept.
    offset: u64,
    dropped: u64,
    /// Output bytes in pieces that were dropped, without headers.
    dropped_text: u64,
}

/// The end of a long output: two files that take turns, so that at least half of its room is always full.
#[derive(Debug)]
struct SpoolTail {
    current: TailFile,
    previous: Option<TailFile>,
}

#[derive(Debug)]
struct TailFile {
    file: File,
    path: PathBuf,
    bytes: u64,
    text: u64,
}

impl SpoolWriter {
    /// A writer for a spool at `path` that keeps about `cap` bytes: three quarters from the beginning, the rest from the end.
    pub(crate) fn new(path: PathBuf, cap: u64) -> Self {
        let tail_room = cap / 8;
        Self {
            path,
            head_room: cap - 2 * tail_room,
            tail_room,
            file: None,
            tail: None,
            offset: MAGIC.len() as u64,
            dropped: 0,
            dropped_text: 0,
        }
    }

    /// The same for a spool that another process began and did not end. A piece that it could not finish writing is removed. A
    /// spool of which only beginning and end were kept already cannot be added to.
    pub fn reopen(path: PathBuf, cap: u64) -> Result<Self, SpoolError> {
        let mut writer = Self::new(path, cap);
        let tails = [0, 1].map(|turn| writer.path.with_file_name(writer.tail_name(turn)));
        if let Some(tail) = tails.iter().find(|tail| tail.exists()) {
            let source = std::io::Error::other("only its beginning and its end are kept");
            return Err(io_error(tail, source));
        }
        match OpenOptions::new().append(true).open(&writer.path) {
            Ok(file) => {
                let length = complete_length(&writer.path)?;
                file.set_len(length).map_err(|source| io_error(&writer.path, source))?;
                writer.offset = length;
                writer.file = Some(file);
                Ok(writer)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(writer),
            Err(source) => Err(io_error(&writer.path, source)),
        }
    }

    /// How many bytes of output were not kept.
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped_text
    }

    /// Appends a piece and returns where it stands. It is with the system when this returns: a crash of this process loses
    /// nothing.
    pub fn append(
        &mut self,
        stream: OutputStream,
        millis: u32,
        text: &str,
    ) -> Result<SpoolRange, SpoolError> {
        let length = text.len() as u64;
        let header = PieceHeader { kind: PieceKind::Text(stream), millis, length }.encode();
        let size = HEADER as u64 + length;
        let mut bytes = Vec::with_capacity(HEADER + text.len());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(text.as_bytes());
        if self.tail.is_none() && self.offset + size <= self.head_room {
            let path = self.path.clone();
            let file = self.head_file()?;
            file.write_all(&bytes).map_err(|source| SpoolError::Io { path, source })?;
        } else {
            self.append_to_tail(&bytes, length)?;
        }
        let from = self.offset;
        self.offset += size;
        Ok(SpoolRange { from, to: self.offset })
    }

    fn head_file(&mut self) -> Result<&mut File, SpoolError> {
        if self.file.is_none() {
            if let Some(parent) = self.path.parent() {
                fs::create_dir_all(parent).map_err(|source| io_error(parent, source))?;
            }
            let mut file = create_file(&self.path)?;
            file.write_all(MAGIC).map_err(|source| io_error(&self.path, source))?;
            self.file = Some(file);
        }
        Ok(self.file.as_mut().expect("made above"))
    }

    fn append_to_tail(&mut self, bytes: &[u8], text: u64) -> Result<(), SpoolError> {
        self.head_file()?;
        let size = bytes.len() as u64;
        let is_full =
            self.tail.as_ref().is_none_or(|tail| tail.current.bytes + size > self.tail_room);
        if is_full {
            self.rotate_tail()?;
        }
        let Some(tail) = &mut self.tail else { return Ok(()) };
        let current = &mut tail.current;
        current.file.write_all(bytes).map_err(|source| io_error(&current.path, source))?;
        current.bytes += size;
        current.text += text;
        Ok(())
    }

    /// Starts another tail file in the place of the older one, whose pieces are dropped.
    fn rotate_tail(&mut self) -> Result<(), SpoolError> {
        let previous = self.tail.take().map(|tail| {
            if let Some(oldest) = tail.previous {
                self.dropped += oldest.bytes;
                self.dropped_text += oldest.text;
            }
            tail.current
        });
        let name = if previous.as_ref().is_some_and(|file| file.path.ends_with(self.tail_name(0))) {
            self.tail_name(1)
        } else {
            self.tail_name(0)
        };
        let path = self.path.with_file_name(name);
        let file = create_file(&path)?;
        let current = TailFile { file, path, bytes: 0, text: 0 };
        self.tail = Some(SpoolTail { current, previous });
        Ok(())
    }

    fn tail_name(&self, turn: u32) -> String {
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{own}.tail{turn}")
    }

    /// Ends the spool: joins beginning, gap and end, and compresses what is long enough for it.
    pub fn finish(mut self) -> Result<(), SpoolError> {
        let Some(mut head) = self.file.take() else { return Ok(()) };
        let mut gap = SpoolGap::default();
        if let Some(tail) = self.tail.take() {
            if self.dropped > 0 {
                let at = head.metadata().map_err(|source| io_error(&self.path, source))?.len();
                gap = SpoolGap { at, bytes: self.dropped };
                let header = PieceHeader { kind: PieceKind::Gap, millis: 0, length: self.dropped };
                head.write_all(&header.encode()).map_err(|source| io_error(&self.path, source))?;
            }
            for part in tail.previous.into_iter().chain([tail.current]) {
                append_file(&mut head, &part.path)
                    .map_err(|source| io_error(&self.path, source))?;
                fs::remove_file(&part.path).map_err(|source| io_error(&part.path, source))?;
            }
        }
        drop(head);
        // The index of a compressed spool knows where the gap is.
        if self.offset - self.dropped >= SMALLEST_COMPRESSED || gap.bytes > 0 {
            compress_spool(&self.path, gap)?;
        }
        Ok(())
    }
}

/// Where the last piece ends that was written whole.
fn complete_length(path: &Path) -> Result<u64, SpoolError> {
    let fail = |source| io_error(path, source);
    let mut file = File::open(path).map_err(fail)?;
    let size = file.metadata().map_err(fail)?.len();
    let mut end = MAGIC.len() as u64;
    let mut header = [0; HEADER];
    while end + HEADER as u64 <= size {
        file.seek(SeekFrom::Start(end)).map_err(fail)?;
        file.read_exact(&mut header).map_err(fail)?;
        let Some(found) = PieceHeader::decode(&header) else { break };
        let next =
            end + HEADER as u64 + if found.kind == PieceKind::Gap { 0 } else { found.length };
        if next > size {
            break;
        }
        end = next;
    }
    Ok(end)
}

fn append_file(to: &mut File, from: &Path) -> std::io::Result<()> {
    let mut from = BufReader::with_capacity(1 << 20, File::open(from)?);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
    }
}

/// Output may be private: nobody else reads it.
pub(crate) fn create_file(path: &Path) -> Result<File, SpoolError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| io_error(path, source))
}

pub(crate) fn io_error(path: &Path, source: std::io::Error) -> SpoolError {
    SpoolError::Io { path: path.to_owned(), source }
}
