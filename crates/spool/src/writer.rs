//! Writing the spool of one attempt.

use std::fs::{self, File, OpenOptions};
use std::io::{Cursor, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use planwright_model::event::{OutputStream, SpoolRange};

use crate::SpoolError;
use crate::compressed::{EarlyCompression, SpoolGap, compress_spool};
use crate::format::{HEADER, MAGIC, PieceHeader, PieceKind, scan_pieces};
use crate::tail::{SpoolTail, TAIL_HEADER};

/// Shorter spools are not worth compressing.
const SMALLEST_COMPRESSED: u64 = 16 * 1024;
/// Longer ones are compressed while they grow.
const EARLY_COMPRESSED: u64 = 4 << 20;

/// Appends the pieces of an attempt. The file is made with the first piece, so that silent attempts leave none.
#[derive(Debug)]
pub struct SpoolWriter {
    path: PathBuf,
    /// Bytes for the beginning, and for each of the two files that hold the end.
    head_room: u64,
    tail_room: u64,
    file: Option<File>,
    tail: Option<SpoolTail>,
    /// Where the beginning ends.
    head_end: u64,
    /// Output bytes in pieces that were dropped, without headers.
    dropped_text: u64,
    early: Option<EarlyCompression>,
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
            head_end: MAGIC.len() as u64,
            dropped_text: 0,
            early: None,
        }
    }

    /// The same for a spool that another process began and did not end. A piece that it could not finish writing is removed.
    pub fn reopen(path: PathBuf, cap: u64) -> Result<Self, SpoolError> {
        let mut writer = Self::new(path, cap);
        match OpenOptions::new().append(true).open(&writer.path) {
            Ok(file) => {
                let fail = |source| io_error(&writer.path, source);
                let scan = scan_pieces(&writer.path, MAGIC.len() as u64).map_err(fail)?;
                file.set_len(scan.end).map_err(fail)?;
                writer.head_end = scan.end;
                writer.file = Some(file);
                if let Some((tail, dropped)) = SpoolTail::reopen(&writer.path)? {
                    (writer.tail, writer.dropped_text) = (Some(tail), dropped);
                }
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

    /// The offset of the next piece, as if everything were kept.
    fn next_offset(&self) -> u64 {
        self.tail.as_ref().map_or(self.head_end, SpoolTail::end)
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
        let from = self.next_offset();
        if self.tail.is_none() && from + size <= self.head_room {
            let written = write_piece(self.head_file()?, &header, text);
            written.map_err(|source| io_error(&self.path, source))?;
            self.head_end += size;
            self.compress_early();
        } else {
            self.append_to_tail(&header, text)?;
        }
        Ok(SpoolRange { from, to: from + size })
    }

    /// Keeps the compression of a long output at its heels.
    fn compress_early(&mut self) {
        if self.early.is_none() && self.head_end >= EARLY_COMPRESSED {
            self.early = EarlyCompression::start(&self.path);
        }
        if let Some(early) = &mut self.early {
            early.announce(self.head_end);
        }
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

    fn append_to_tail(&mut self, header: &[u8; HEADER], text: &str) -> Result<(), SpoolError> {
        self.head_file()?;
        let mut tail = match self.tail.take() {
            Some(tail) => tail,
            None => SpoolTail::begin(&self.path, self.head_end)?,
        };
        if tail.is_full_for((HEADER + text.len()) as u64, self.tail_room) {
            let start = tail.end();
            self.dropped_text += tail.rotate(&self.path, start, self.dropped_text)?;
        }
        let appended = tail.append(header, text);
        self.tail = Some(tail);
        appended
    }

    /// Whether to end it takes work: a short spool stays as it is.
    pub fn takes_work_to_finish(&self) -> bool {
        self.tail.is_some() || self.head_end >= SMALLEST_COMPRESSED
    }

    /// Ends the spool: joins beginning, gap and end, and compresses what is long enough for it.
    pub fn finish(mut self) -> Result<(), SpoolError> {
        if self.file.take().is_none() {
            return Ok(());
        }
        let Some(tail) = self.tail.take() else {
            if self.head_end >= SMALLEST_COMPRESSED {
                compress_spool(&self.path, self.early.take(), SpoolGap::default(), open_part)?;
            }
            return Ok(());
        };
        // The index of a compressed spool knows where the gap is.
        let gap = SpoolGap { at: self.head_end, bytes: tail.start() - self.head_end };
        let dropped = self.dropped_text;
        compress_spool(&self.path, self.early.take(), gap, |head, from| {
            let header = PieceHeader::gap(gap.bytes, dropped).encode();
            let counted = if gap.bytes > 0 { &header[..] } else { &[] };
            let mut parts = open_part(head, from)?;
            parts = Box::new(parts.chain(Cursor::new(counted.to_vec())));
            for path in tail.paths() {
                parts = Box::new(parts.chain(open_part(path, TAIL_HEADER as u64)?));
            }
            Ok(parts)
        })?;
        for path in tail.paths() {
            fs::remove_file(path).map_err(|source| io_error(path, source))?;
        }
        Ok(())
    }
}

/// A piece so large is not copied once more to be written in one go. One of which only the beginning is there is removed when
/// its spool is reopened.
const LARGE_PIECE: usize = 16 * 1024;

/// Writes a piece to the end of a file.
pub(crate) fn write_piece(
    file: &mut File,
    header: &[u8; HEADER],
    text: &str,
) -> std::io::Result<()> {
    if text.len() >= LARGE_PIECE {
        file.write_all(header)?;
        return file.write_all(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(HEADER + text.len());
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(text.as_bytes());
    file.write_all(&bytes)
}

/// A file of pieces from a place on.
fn open_part(path: &Path, from: u64) -> Result<Box<dyn Read>, SpoolError> {
    let fail = |source| io_error(path, source);
    let mut file = File::open(path).map_err(fail)?;
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    Ok(Box::new(file))
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
