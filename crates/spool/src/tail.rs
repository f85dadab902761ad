//! The end of a long output while it is written: two files that take turns, so that at least half of its room is always full.
//!
//! Each begins with where its first piece stands and how many bytes of output had been dropped when it was made, so that
//! others can read it while it grows, and a process that reopens the spool knows what is missing.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::SpoolError;
use crate::format::{HEADER, scan_pieces};
use crate::writer::{create_file, io_error, write_piece};

/// Where the first piece stands, and the dropped bytes: 8 bytes each, little-endian.
pub(crate) const TAIL_HEADER: usize = 16;

/// The tail files of a spool that is written.
#[derive(Debug)]
pub(crate) struct SpoolTail {
    current: TailFile,
    previous: Option<TailFile>,
}

#[derive(Debug)]
struct TailFile {
    file: File,
    path: PathBuf,
    turn: usize,
    start: u64,
    /// Bytes of pieces, and how many of them are output.
    bytes: u64,
    text: u64,
}

impl SpoolTail {
    /// Makes the first of the two files.
    pub(crate) fn begin(spool: &Path, start: u64) -> Result<Self, SpoolError> {
        Ok(Self { current: TailFile::create(spool, 0, start, 0)?, previous: None })
    }

    /// The tail that another process left, with the output bytes that it had dropped. `None` where there is none.
    pub(crate) fn reopen(spool: &Path) -> Result<Option<(Self, u64)>, SpoolError> {
        let mut found: Vec<(TailFile, u64)> = Vec::new();
        for turn in [0, 1] {
            found.extend(TailFile::reopen(spool, turn)?);
        }
        found.sort_by_key(|(file, _)| file.start);
        let Some((current, dropped)) = found.pop() else { return Ok(None) };
        let previous = found.pop().map(|(file, _)| file);
        Ok(Some((Self { current, previous }, dropped)))
    }

    /// Whether a piece of this size needs another file.
    pub(crate) fn is_full_for(&self, size: u64, room: u64) -> bool {
        self.current.bytes + size > room
    }

    /// Starts another file in the place of the older one. Returns how many bytes of output went with that.
    pub(crate) fn rotate(
        &mut self,
        spool: &Path,
        start: u64,
        dropped: u64,
    ) -> Result<u64, SpoolError> {
        let lost = self.previous.take().map_or(0, |oldest| oldest.text);
        let next = TailFile::create(spool, 1 - self.current.turn, start, dropped + lost)?;
        self.previous = Some(std::mem::replace(&mut self.current, next));
        Ok(lost)
    }

    pub(crate) fn append(&mut self, header: &[u8; HEADER], text: &str) -> Result<(), SpoolError> {
        let current = &mut self.current;
        write_piece(&mut current.file, header, text)
            .map_err(|source| io_error(&current.path, source))?;
        current.bytes += (HEADER + text.len()) as u64;
        current.text += text.len() as u64;
        Ok(())
    }

    /// Where the first piece stands that is still there.
    pub(crate) fn start(&self) -> u64 {
        self.previous.as_ref().unwrap_or(&self.current).start
    }

    /// Where the next piece will stand.
    pub(crate) fn end(&self) -> u64 {
        self.current.start + self.current.bytes
    }

    /// The files, older first.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.previous.iter().chain([&self.current]).map(|file| file.path.as_path())
    }
}

impl TailFile {
    /// A file of its own each time: whoever still reads the one that was there keeps it.
    fn create(spool: &Path, turn: usize, start: u64, dropped: u64) -> Result<Self, SpoolError> {
        let path = tail_path(spool, turn);
        if let Err(source) = fs::remove_file(&path)
            && source.kind() != std::io::ErrorKind::NotFound
        {
            return Err(io_error(&path, source));
        }
        let mut file = create_file(&path)?;
        let mut header = [0; TAIL_HEADER];
        header[..8].copy_from_slice(&start.to_le_bytes());
        header[8..].copy_from_slice(&dropped.to_le_bytes());
        file.write_all(&header).map_err(|source| io_error(&path, source))?;
        Ok(Self { file, path, turn, start, bytes: 0, text: 0 })
    }

    /// One that another process left, without a piece that was not written whole, and what it says was dropped.
    fn reopen(spool: &Path, turn: usize) -> Result<Option<(Self, u64)>, SpoolError> {
        let path = tail_path(spool, turn);
        let Some((_, start, dropped)) = open_tail(&path)? else { return Ok(None) };
        let fail = |source| io_error(&path, source);
        let scan = scan_pieces(&path, TAIL_HEADER as u64).map_err(fail)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(fail)?;
        file.set_len(scan.end).map_err(fail)?;
        let bytes = scan.end - TAIL_HEADER as u64;
        let reopened = Self { file, path, turn, start, bytes, text: scan.text };
        Ok(Some((reopened, dropped)))
    }
}

fn tail_path(spool: &Path, turn: usize) -> PathBuf {
    let own = spool.file_name().unwrap_or_default().to_string_lossy();
    spool.with_file_name(format!("{own}.tail{turn}"))
}

/// A tail file at its first piece, with its header. `None` if it is not there, or just being made.
fn open_tail(path: &Path) -> Result<Option<(File, u64, u64)>, SpoolError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io_error(path, source)),
    };
    let (mut start, mut dropped) = ([0; 8], [0; 8]);
    if file.read_exact(&mut start).and_then(|()| file.read_exact(&mut dropped)).is_err() {
        return Ok(None);
    }
    Ok(Some((file, u64::from_le_bytes(start), u64::from_le_bytes(dropped))))
}

/// A tail file that is read while it grows.
#[derive(Debug)]
pub(crate) struct GrowingTail {
    pub(crate) file: File,
    /// Where its first piece stands.
    pub(crate) start: u64,
}

impl GrowingTail {
    /// Goes to a piece in it; returns where that is in the file.
    pub(crate) fn seek(&mut self, offset: u64) -> std::io::Result<u64> {
        let position = TAIL_HEADER as u64 + (offset - self.start);
        self.file.seek(SeekFrom::Start(position))
    }
}

/// The tail files of a spool that another process writes, older first.
pub(crate) fn growing_tails(spool: &Path) -> Result<Vec<GrowingTail>, SpoolError> {
    let mut found = Vec::new();
    for turn in [0, 1] {
        let tail = open_tail(&tail_path(spool, turn))?;
        found.extend(tail.map(|(file, start, _)| GrowingTail { file, start }));
    }
    found.sort_by_key(|tail| tail.start);
    Ok(found)
}
