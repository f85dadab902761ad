//! Limits of an imported file, and the errors of one that is rejected.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The most bytes a file may have, after decompression.
pub(crate) const MAX_BYTES: u64 = 1 << 30;
/// The most events a session may have.
pub(crate) const MAX_EVENTS: u64 = 5_000_000;
/// The longest line.
pub(crate) const MAX_LINE: usize = 24 << 20;
/// The most values in what is parsed at once, because each takes far more memory than its bytes in the file.
pub(crate) const MAX_VALUES: usize = 2_000_000;
/// How deep JSON may be nested.
pub(crate) const MAX_DEPTH: usize = 128;
/// The highest compression ratio of a file, beyond a first allowance.
pub(crate) const MAX_RATIO: u64 = 1_000;
const ALLOWANCE: u64 = 16 << 20;
/// Compressed streams whose window needs more memory than this are rejected.
const WINDOW_LOG: u32 = 27;

/// Why a file was not imported. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("could not read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not an ordinary file", path.display())]
    NotAFile { path: PathBuf },
    #[error("line {line}: {what}")]
    Line { line: u64, what: String },
    #[error("the file is of format {found}, this program reads up to {known}")]
    Newer { found: u32, known: u32 },
    #[error("{what} is above the limit of {limit}")]
    TooMuch { what: String, limit: u64 },
    #[error("line {line} holds what looks like a secret")]
    Secret { line: u64 },
    #[error("{0}")]
    Other(String),
}

impl ImportError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } | Self::NotAFile { .. } => "name a file that can be read",
            Self::Newer { .. } => "use the newer Planwright that wrote it",
            Self::TooMuch { .. } => "split it, or import it where it was made",
            Self::Secret { .. } => "add --redact to import it without its secrets",
            Self::Line { .. } | Self::Other(_) => {
                "the file is damaged or not of a kind that is known; nothing was imported"
            }
        }
    }

    pub(super) fn at_line(line: u64, what: impl Into<String>) -> Self {
        Self::Line { line, what: what.into() }
    }
}

/// Opens a file without blocking. Pipes and devices are rejected: they may never end.
fn open_import_file(path: &Path) -> Result<File, ImportError> {
    planwright_files::open_regular(path).map_err(|source| match source.kind() {
        io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => {
            ImportError::NotAFile { path: path.to_owned() }
        }
        _ => ImportError::Unreadable { path: path.to_owned(), source },
    })
}

/// The lines of a file, decompressed if necessary, each within the limits.
pub(crate) struct BoundedLines {
    reader: Box<dyn BufRead + Send>,
    number: u64,
    read: u64,
    most: u64,
    values: usize,
}

impl std::fmt::Debug for BoundedLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundedLines").field("number", &self.number).finish_non_exhaustive()
    }
}

impl BoundedLines {
    /// Opens a file. Pipes and devices are rejected: they may never end.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
        let file = open_import_file(path)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut file = BufReader::new(file);
        let packed = file.fill_buf().map_err(unreadable)?.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
        let (reader, most): (Box<dyn BufRead + Send>, u64) = if packed {
            let mut stream = zstd::stream::read::Decoder::with_buffer(file).map_err(unreadable)?;
            stream.window_log_max(WINDOW_LOG).map_err(unreadable)?;
            let most = length.saturating_mul(MAX_RATIO).saturating_add(ALLOWANCE);
            (Box::new(BufReader::new(stream)), most.min(MAX_BYTES))
        } else {
            (Box::new(file), MAX_BYTES)
        };
        Ok(Self { reader, number: 0, read: 0, most, values: 0 })
    }

    /// The next line without its terminator; `None` at the end of the file. A last line without a terminator is a
    /// truncated file.
    pub(crate) fn next_line(&mut self) -> Result<Option<String>, ImportError> {
        let number = self.number + 1;
        let mut bytes = Vec::new();
        let room = (self.most - self.read).min(MAX_LINE as u64) + 1;
        let took = (&mut self.reader)
            .take(room)
            .read_until(b'\n', &mut bytes)
            .map_err(|error| ImportError::at_line(number, format!("cannot be read: {error}")))?;
        if took == 0 {
            return Ok(None);
        }
        self.read += took as u64;
        if self.read > self.most {
            return Err(ImportError::TooMuch {
                what: "what the file unpacks to".into(),
                limit: self.most,
            });
        }
        if bytes.last() != Some(&b'\n') {
            if bytes.len() > MAX_LINE {
                let what = format!("line {number}");
                return Err(ImportError::TooMuch { what, limit: MAX_LINE as u64 });
            }
            return Err(ImportError::at_line(number, "the file ends in the middle of it"));
        }
        bytes.pop();
        self.number = number;
        let shape = JsonShape::measure(&bytes);
        if shape.depth > MAX_DEPTH {
            return Err(ImportError::at_line(number, format!("is nested deeper than {MAX_DEPTH}")));
        }
        self.values = shape.values;
        if self.values > MAX_VALUES {
            let what = format!("the number of values in line {number}");
            return Err(ImportError::TooMuch { what, limit: MAX_VALUES as u64 });
        }
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| ImportError::at_line(number, "is not text in UTF-8"))
    }

    /// An upper bound for the values in the last line read.
    pub(crate) fn value_count(&self) -> usize {
        self.values
    }

    /// How many bytes were read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The number of the last line read.
    pub(crate) fn line_number(&self) -> u64 {
        self.number
    }
}

/// What JSON would become in memory, computed without building it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonShape {
    /// How deep brackets are nested.
    pub depth: usize,
    /// An upper bound for the number of values.
    pub values: usize,
}

impl JsonShape {
    pub(crate) fn measure(json: &[u8]) -> Self {
        let (mut now, mut deepest, mut values) = (0usize, 0, 1);
        let (mut in_string, mut escaped) = (false, false);
        for byte in json {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'[' | b'{' if !in_string => {
                    now += 1;
                    values += 1;
                    deepest = deepest.max(now);
                }
                b',' if !in_string => values += 1,
                b']' | b'}' if !in_string => now = now.saturating_sub(1),
                _ => {}
            }
        }
        Self { depth: deepest, values }
    }
}

/// Reads an entire JSON file that does not consist of lines, within the same limits.
pub(crate) fn read_json(path: &Path, most: u64) -> Result<serde_json::Value, ImportError> {
    let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    open_import_file(path)?.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        let what = format!("{}", path.display());
        return Err(ImportError::TooMuch { what, limit: most });
    }
    let shape = JsonShape::measure(&bytes);
    if shape.depth > MAX_DEPTH {
        return Err(ImportError::Other(format!("{} is nested too deep", path.display())));
    }
    if shape.values > MAX_VALUES {
        let what = format!("the number of values in {}", path.display());
        return Err(ImportError::TooMuch { what, limit: MAX_VALUES as u64 });
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        ImportError::Other(format!("{} is not valid JSON: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_of_strings() {
        assert_eq!(
            JsonShape::measure(br#"{"a":[1,"[[[\"[,["]}"#),
            JsonShape { depth: 2, values: 4 }
        );
        assert_eq!(JsonShape::measure(&vec![b'['; 2_000_000]).depth, 2_000_000);
        assert_eq!(JsonShape::measure(b"").depth, 0);
    }
}
