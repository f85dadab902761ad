//! Reading the spool of one attempt, from its beginning or from any piece on, while it grows or after it ended.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::SpoolError;
use crate::compressed::{compressed_path, first_kept_offset, open_compressed};
use crate::format::{HEADER, MAGIC, PieceHeader, PieceKind, SpoolContent, SpoolPiece};
use crate::writer::io_error;

/// Reads pieces in order.
pub struct SpoolReader {
    path: PathBuf,
    source: SpoolSource,
    /// The offset of the next piece, as if everything were kept.
    offset: u64,
}

enum SpoolSource {
    /// It may grow. What is read of a piece that is not complete yet is read again.
    Growing {
        file: BufReader<File>,
        position: u64,
    },
    Compressed(Box<dyn Read + Send>),
}

impl std::fmt::Debug for SpoolReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SpoolReader");
        shown.field("path", &self.path).field("at", &self.offset).finish_non_exhaustive()
    }
}

impl SpoolReader {
    /// Opens a spool at the piece that begins at `offset`; 0 is its beginning. `None` if there is no such spool.
    pub(crate) fn open(path: &Path, offset: u64) -> Result<Option<Self>, SpoolError> {
        let offset = offset.max(MAGIC.len() as u64);
        match File::open(path) {
            Ok(mut file) => {
                check_magic(path, &mut file)?;
                file.seek(SeekFrom::Start(offset)).map_err(|source| io_error(path, source))?;
                let file = BufReader::with_capacity(1 << 17, file);
                let source = SpoolSource::Growing { file, position: offset };
                Ok(Some(Self { path: path.to_owned(), source, offset }))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let path = compressed_path(path);
                if !path.exists() {
                    return Ok(None);
                }
                check_magic(&path, &mut open_compressed(&path, 0)?)?;
                let offset = first_kept_offset(&path, offset)?;
                let source = SpoolSource::Compressed(open_compressed(&path, offset)?);
                Ok(Some(Self { path, source, offset }))
            }
            Err(source) => Err(io_error(path, source)),
        }
    }

    /// The next piece; `None` at the end, which may be the end for now only.
    pub fn next_piece(&mut self) -> Result<Option<SpoolPiece>, SpoolError> {
        let offset = self.offset;
        let mut header = [0; HEADER];
        if !self.fill(&mut header)? {
            return Ok(None);
        }
        let header = PieceHeader::decode(&header).ok_or_else(|| self.damaged())?;
        let content = match header.kind {
            PieceKind::Gap => SpoolContent::Gap { bytes: header.length },
            PieceKind::Text(stream) => {
                let mut bytes = vec![0; header.length as usize];
                if !self.fill(&mut bytes)? {
                    self.seek_back()?;
                    return Ok(None);
                }
                let text = String::from_utf8(bytes).map_err(|_| self.damaged())?;
                SpoolContent::Text { stream, text }
            }
        };
        let kept = match header.kind {
            PieceKind::Gap => HEADER as u64,
            PieceKind::Text(_) => HEADER as u64 + header.length,
        };
        if let SpoolSource::Growing { position, .. } = &mut self.source {
            *position += kept;
        }
        self.offset += if header.kind == PieceKind::Gap { header.length } else { kept };
        Ok(Some(SpoolPiece { offset, millis: header.millis, content }))
    }

    /// Where the next piece begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads so many bytes, or none of them if there are fewer.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, SpoolError> {
        let source: &mut dyn Read = match &mut self.source {
            SpoolSource::Growing { file, .. } => file,
            SpoolSource::Compressed(content) => content,
        };
        match source.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.seek_back()?;
                Ok(false)
            }
            Err(source) => Err(io_error(&self.path, source)),
        }
    }

    /// Returns to the beginning of the piece that is not complete.
    fn seek_back(&mut self) -> Result<(), SpoolError> {
        let SpoolSource::Growing { file, position } = &mut self.source else { return Ok(()) };
        let buffered = file.fill_buf().map(<[u8]>::len).unwrap_or_default();
        file.consume(buffered);
        file.seek(SeekFrom::Start(*position))
            .map(drop)
            .map_err(|source| io_error(&self.path, source))
    }

    fn damaged(&self) -> SpoolError {
        SpoolError::Damaged { path: self.path.clone(), at: self.offset }
    }
}

fn check_magic(path: &Path, source: &mut impl Read) -> Result<(), SpoolError> {
    let mut magic = [0; MAGIC.len()];
    let read = source.read_exact(&mut magic);
    if read.is_err() || &magic != MAGIC {
        return Err(SpoolError::Damaged { path: path.to_owned(), at: 0 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SpoolWriter;
    use planwright_model::event::{OutputStream, SpoolRange};

    fn read_from(path: &Path, offset: u64) -> Vec<SpoolPiece> {
        let mut reader = SpoolReader::open(path, offset).unwrap().unwrap();
        std::iter::from_fn(|| reader.next_piece().unwrap()).collect()
    }

    fn stream(number: usize) -> OutputStream {
        if number.is_multiple_of(3) { OutputStream::Stderr } else { OutputStream::Stdout }
    }

    /// Writes pieces of these sizes and gives their ranges and texts.
    fn write(writer: &mut SpoolWriter, sizes: &[usize]) -> Vec<(SpoolRange, String)> {
        let mut written = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let text = format!("{number}:{}\n", "x".repeat(*size));
            let range = writer.append(stream(number), number as u32, &text).unwrap();
            written.push((range, text));
        }
        written
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_was_written_is_read_from_any_piece_on(
            sizes in prop::collection::vec(0..9_000usize, 1..40),
            from in any::<prop::sample::Index>(),
            ends in any::<bool>(),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.spool");
            let mut writer = SpoolWriter::new(path.clone(), u64::MAX / 2);
            let written = write(&mut writer, &sizes);
            if ends {
                writer.finish().unwrap();
            }
            let from = from.index(sizes.len());
            let read = read_from(&path, written[from].0.from);
            prop_assert_eq!(read.len(), sizes.len() - from);
            for (piece, (number, (range, text))) in
                read.iter().zip(written.iter().enumerate().skip(from))
            {
                prop_assert_eq!(piece.offset, range.from);
                let content = SpoolContent::Text { stream: stream(number), text: text.clone() };
                prop_assert_eq!(&piece.content, &content);
            }
        }

        #[test]
        fn beyond_the_cap_the_beginning_and_the_end_are_kept_and_the_rest_is_counted(
            sizes in prop::collection::vec(0..3_000usize, 20..80),
            cap in 2_000..40_000u64,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.spool");
            let mut writer = SpoolWriter::new(path.clone(), cap);
            let written = write(&mut writer, &sizes);
            let dropped = writer.dropped_bytes();
            writer.finish().unwrap();
            let read = read_from(&path, 0);
            let text = |piece: &SpoolPiece| match &piece.content {
                SpoolContent::Text { text, .. } => text.len() as u64,
                SpoolContent::Gap { .. } => 0,
            };
            let kept: u64 = read.iter().map(text).sum();
            let total: u64 = written.iter().map(|(_, text)| text.len() as u64).sum();
            prop_assert_eq!(kept + dropped, total);
            let gaps = read.iter().filter(|piece| matches!(piece.content, SpoolContent::Gap { .. }));
            prop_assert_eq!(gaps.count(), usize::from(dropped > 0));
            // Whoever reads range by range is told of it once.
            let told = written.iter().flat_map(|(range, _)| {
                let read = read_from(&path, range.from).into_iter();
                read.take_while(|piece| piece.offset < range.to)
            });
            let told: Vec<SpoolPiece> = told.collect();
            prop_assert_eq!(told, read);
            let (range, last) = written.last().unwrap();
            let end = read_from(&path, range.from);
            prop_assert_eq!(end.len(), 1);
            prop_assert_eq!(text(&end[0]), last.len() as u64);
            prop_assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_reader_follows_a_spool_that_grows_and_reads_its_end_after_it_was_compressed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.spool");
        let mut writer = SpoolWriter::new(path.clone(), 1 << 30);
        writer.append(OutputStream::Stdout, 1, "one\n").unwrap();
        let mut reader = SpoolReader::open(&path, 0).unwrap().unwrap();
        assert!(reader.next_piece().unwrap().is_some());
        assert_eq!(reader.next_piece().unwrap(), None);
        writer.append(OutputStream::Stderr, 2, &"two\n".repeat(20_000)).unwrap();
        writer.finish().unwrap();
        assert!(!path.exists());
        let piece = reader.next_piece().unwrap().unwrap();
        assert_eq!(piece.millis, 2);
        assert_eq!(reader.next_piece().unwrap(), None);
    }

    #[test]
    fn something_else_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.spool");
        std::fs::write(&path, "not a spool at all").unwrap();
        assert!(matches!(SpoolReader::open(&path, 0), Err(SpoolError::Damaged { .. })));
        assert!(SpoolReader::open(&directory.path().join("b.spool"), 0).unwrap().is_none());
    }
}
