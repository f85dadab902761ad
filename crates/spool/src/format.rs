//! The pieces of a spool as bytes.
//!
//! A spool begins with [`MAGIC`]. Each piece has a header of 13 bytes, the kind (1 standard output, 2 standard error,
//! 3 gap), milliseconds (4 bytes) and length (8 bytes), both little-endian, followed by its text. A gap has no text: its
//! length counts the bytes of pieces, headers included, that are missing there, and in the place of milliseconds stands how
//! many pieces that were (0 where nobody counted them). Offsets count as if they were not missing.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use planwright_model::event::OutputStream;

pub(crate) const MAGIC: &[u8; 8] = b"PWSPOOL1";
pub(crate) const HEADER: usize = 13;
/// No piece is longer; a header that says otherwise is damaged.
const MAX_PIECE: u64 = 64 * 1024 * 1024;

/// A piece of output, or what is missing of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolPiece {
    /// Where it begins.
    pub offset: u64,
    /// Milliseconds since the attempt started.
    pub millis: u32,
    pub content: SpoolContent,
}

/// What a piece holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpoolContent {
    Text {
        stream: OutputStream,
        text: String,
    },
    /// So many bytes of output were not kept.
    Gap {
        bytes: u64,
    },
}

/// The header of a piece, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceHeader {
    pub(crate) kind: PieceKind,
    pub(crate) millis: u32,
    pub(crate) length: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Text(OutputStream),
    Gap,
}

impl PieceHeader {
    /// What counts missing pieces.
    pub(crate) fn gap(bytes: u64, text: u64) -> Self {
        let pieces = (bytes - text) / HEADER as u64;
        let millis = u32::try_from(pieces).unwrap_or_default();
        Self { kind: PieceKind::Gap, millis, length: bytes }
    }

    /// How many bytes of output are in it, or missing at it.
    pub(crate) fn text_bytes(self) -> u64 {
        match self.kind {
            PieceKind::Text(_) => self.length,
            PieceKind::Gap => {
                self.length.saturating_sub(u64::from(self.millis).saturating_mul(HEADER as u64))
            }
        }
    }

    pub(crate) fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0] = match self.kind {
            PieceKind::Text(OutputStream::Stdout) => 1,
            PieceKind::Text(OutputStream::Stderr) => 2,
            PieceKind::Gap => 3,
        };
        bytes[1..5].copy_from_slice(&self.millis.to_le_bytes());
        bytes[5..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// `None` for bytes that no writer made.
    pub(crate) fn decode(bytes: &[u8; HEADER]) -> Option<Self> {
        let kind = match bytes[0] {
            1 => PieceKind::Text(OutputStream::Stdout),
            2 => PieceKind::Text(OutputStream::Stderr),
            3 => PieceKind::Gap,
            _ => return None,
        };
        let millis = u32::from_le_bytes(bytes[1..5].try_into().ok()?);
        let length = u64::from_le_bytes(bytes[5..].try_into().ok()?);
        let fits = kind == PieceKind::Gap || length <= MAX_PIECE;
        fits.then_some(Self { kind, millis, length })
    }
}

/// What stands in a file of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceScan {
    /// Where the last piece ends that was written whole.
    pub(crate) end: u64,
    /// How many bytes of output the pieces have.
    pub(crate) text: u64,
}

/// Reads the headers of all pieces from a place on.
pub(crate) fn scan_pieces(path: &Path, from: u64) -> std::io::Result<PieceScan> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut scan = PieceScan { end: from, text: 0 };
    let mut header = [0; HEADER];
    while scan.end + HEADER as u64 <= size {
        file.seek(SeekFrom::Start(scan.end))?;
        file.read_exact(&mut header)?;
        let Some(found) = PieceHeader::decode(&header) else { break };
        let text = if found.kind == PieceKind::Gap { 0 } else { found.length };
        let next = scan.end + HEADER as u64 + text;
        if next > size {
            break;
        }
        scan = PieceScan { end: next, text: scan.text + text };
    }
    Ok(scan)
}
