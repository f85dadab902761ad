//! Reading the spool of one attempt, from its beginning or from any piece on, while it grows or after it ended.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use planwright_model::event::SpoolRange;

use crate::SpoolError;
use crate::compressed::{compressed_path, open_compressed, read_gap};
use crate::format::{HEADER, MAGIC, PieceHeader, PieceKind, SpoolContent, SpoolPiece};
use crate::tail::{GrowingTail, growing_tails};
use crate::writer::io_error;

/// Reads pieces in order.
pub struct SpoolReader {
    path: PathBuf,
    source: SpoolSource,
    /// The offset of the next piece, as if everything were kept.
    offset: u64,
    /// Where what was kept goes on, if reading begins in the middle of what was not.
    missing: Option<u64>,
}

enum SpoolSource {
    /// It may grow. What is read of a piece that is not complete yet is read again.
    Growing {
        file: BufReader<File>,
        position: u64,
        /// Where the file begins; `None` for the one with the beginning of the output.
        start: Option<u64>,
    },
    Compressed(Box<dyn Read + Send>),
}

/// What became of looking for more of an output that grows.
enum TailStep {
    /// There is no more yet.
    None,
    /// What follows is in another file, which is read from now on.
    Entered,
    LookAgain,
    /// So many bytes are gone; what follows them can be read.
    Missed(u64),
}

/// Opens a spool that grows at a piece: in its beginning, or in the files that hold its end. `None` if it has ended meanwhile.
fn open_growing(
    path: &Path,
    mut head: File,
    offset: u64,
) -> Result<Option<SpoolSource>, SpoolError> {
    let fail = |source| io_error(path, source);
    let tails = growing_tails(path)?;
    // Looked at after the tails: what is there when one has begun stays as it is.
    let head_end = head.metadata().map_err(fail)?.len();
    if offset >= head_end && !path.exists() {
        return Ok(None);
    }
    let within = tails.into_iter().rfind(|tail| tail.start <= offset);
    let (file, position, start) = if let Some(mut tail) = within.filter(|_| offset >= head_end) {
        let position = tail.seek(offset).map_err(fail)?;
        (tail.file, position, Some(tail.start))
    } else {
        let position = head.seek(SeekFrom::Start(offset)).map_err(fail)?;
        (head, position, None)
    };
    let file = BufReader::with_capacity(1 << 17, file);
    Ok(Some(SpoolSource::Growing { file, position, start }))
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
                if let Some(source) = open_growing(path, file, offset)? {
                    return Ok(Some(Self { path: path.to_owned(), source, offset, missing: None }));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(io_error(path, source)),
        }
        let path = compressed_path(path);
        if !path.exists() {
            return Ok(None);
        }
        check_magic(&path, &mut open_compressed(&path, 0)?)?;
        let gap = read_gap(&path)?;
        let within = gap.at < offset && offset < gap.end();
        let missing = within.then(|| gap.end());
        let source = SpoolSource::Compressed(open_compressed(&path, missing.unwrap_or(offset))?);
        Ok(Some(Self { path, source, offset, missing }))
    }

    /// The next piece; `None` at the end, which may be the end for now only.
    pub fn next_piece(&mut self) -> Result<Option<SpoolPiece>, SpoolError> {
        let offset = self.offset;
        if let Some(end) = self.missing.take() {
            self.offset = end;
            // How many pieces that were is not known, so their headers count as well.
            let content = SpoolContent::Gap { bytes: end - offset };
            return Ok(Some(SpoolPiece { offset, millis: 0, content }));
        }
        let mut header = [0; HEADER];
        let mut looked_again = false;
        while !self.fill(&mut header)? {
            match self.enter_tail(looked_again)? {
                TailStep::None => return Ok(None),
                TailStep::Entered => {}
                TailStep::LookAgain => looked_again = true,
                TailStep::Missed(bytes) => {
                    let content = SpoolContent::Gap { bytes };
                    return Ok(Some(SpoolPiece { offset, millis: 0, content }));
                }
            }
        }
        let header = PieceHeader::decode(&header).ok_or_else(|| self.damaged())?;
        let PieceKind::Text(stream) = header.kind else {
            self.offset += header.length;
            let content = SpoolContent::Gap { bytes: header.text_bytes() };
            return Ok(Some(SpoolPiece { offset, millis: 0, content }));
        };
        let mut bytes = vec![0; header.length as usize];
        if !self.fill(&mut bytes)? {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|_| self.damaged())?;
        let size = HEADER as u64 + header.length;
        if let SpoolSource::Growing { position, .. } = &mut self.source {
            *position += size;
        }
        self.offset += size;
        let content = SpoolContent::Text { stream, text };
        Ok(Some(SpoolPiece { offset, millis: header.millis, content }))
    }

    /// The pieces in a stretch, which is that of one piece. What is missing of it is counted, whether the output still grows or
    /// has ended meanwhile, so that whoever reads stretch by stretch is told of each byte once.
    pub(crate) fn read_range(mut self, range: SpoolRange) -> Result<Vec<SpoolPiece>, SpoolError> {
        let mut pieces = Vec::new();
        while let Some(mut piece) = self.next_piece()? {
            if piece.offset >= range.to {
                break;
            }
            if let SpoolContent::Gap { bytes } = &mut piece.content {
                *bytes = (*bytes).min((range.to - piece.offset).saturating_sub(HEADER as u64));
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// Goes on in the files that hold the end of an output that grows.
    fn enter_tail(&mut self, looked_again: bool) -> Result<TailStep, SpoolError> {
        let SpoolSource::Growing { file, position, start } = &mut self.source else {
            return Ok(TailStep::None);
        };
        let follows = |tail: &GrowingTail| tail.start >= self.offset && Some(tail.start) > *start;
        let next = growing_tails(&self.path)?.into_iter().find(follows);
        let Some(mut tail) = next else { return Ok(TailStep::None) };
        let missed = tail.start - self.offset;
        // A piece may have been completed, and another file begun, since this one was read.
        if missed > 0 && !looked_again {
            return Ok(TailStep::LookAgain);
        }
        self.offset = tail.start;
        *start = Some(tail.start);
        *position = tail.seek(tail.start).map_err(|source| io_error(&self.path, source))?;
        *file = BufReader::with_capacity(1 << 17, tail.file);
        Ok(if missed > 0 { TailStep::Missed(missed) } else { TailStep::Entered })
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
        let SpoolSource::Growing { file, position, .. } = &mut self.source else {
            return Ok(());
        };
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
    use planwright_model::event::OutputStream;

    fn read_from(path: &Path, offset: u64) -> Vec<SpoolPiece> {
        let mut reader = SpoolReader::open(path, offset).unwrap().unwrap();
        std::iter::from_fn(|| reader.next_piece().unwrap()).collect()
    }

    /// Reads the range of one piece, which is there or counted in full. Returns how many bytes of it are there.
    fn read_one(path: &Path, range: SpoolRange, text: &str) -> Result<u64, TestCaseError> {
        let reader = SpoolReader::open(path, range.from).unwrap().unwrap();
        let pieces = reader.read_range(range).unwrap();
        prop_assert_eq!(pieces.len(), 1);
        match &pieces[0].content {
            SpoolContent::Text { text: found, .. } => {
                prop_assert_eq!(found, text);
                Ok(text.len() as u64)
            }
            SpoolContent::Gap { bytes } => {
                prop_assert_eq!(*bytes, text.len() as u64);
                Ok(0)
            }
        }
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
            let counted: u64 = read.iter().map(|piece| match &piece.content {
                SpoolContent::Text { .. } => 0,
                SpoolContent::Gap { bytes } => *bytes,
            }).sum();
            prop_assert_eq!(counted, dropped);
            let total: u64 = written.iter().map(|(_, text)| text.len() as u64).sum();
            prop_assert_eq!(kept + dropped, total);
            let gaps = read.iter().filter(|piece| matches!(piece.content, SpoolContent::Gap { .. }));
            prop_assert_eq!(gaps.count(), usize::from(dropped > 0));
            // Whoever reads range by range is told of each byte once.
            let mut kept_by_range = 0;
            for (range, text) in &written {
                kept_by_range += read_one(&path, *range, text)?;
            }
            prop_assert_eq!(kept_by_range, kept);
            let (range, last) = written.last().unwrap();
            let end = read_from(&path, range.from);
            prop_assert_eq!(end.len(), 1);
            prop_assert_eq!(text(&end[0]), last.len() as u64);
            prop_assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Whoever reads range by range behind a writer gets each range while it is there, and its size afterwards, also where
        /// the output ended meanwhile.
        #[test]
        fn beyond_the_cap_an_output_is_read_or_counted_range_by_range_while_it_grows_and_after_its_end(
            sizes in prop::collection::vec(0..3_000usize, 20..60),
            cap in 2_000..40_000u64,
            lag in 0..30usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.spool");
            let mut writer = SpoolWriter::new(path.clone(), cap);
            let mut written: Vec<(SpoolRange, String)> = Vec::new();
            for (number, size) in sizes.iter().enumerate() {
                let text = format!("{number}:{}\n", "x".repeat(*size));
                let range = writer.append(stream(number), number as u32, &text).unwrap();
                written.push((range, text));
                let Some(at) = number.checked_sub(lag) else { continue };
                let (range, text) = &written[at];
                let found = read_one(&path, *range, text)?;
                prop_assert!(found > 0 || lag > 0 && writer.dropped_bytes() > 0);
            }
            writer.finish().unwrap();
            for (range, text) in &written[sizes.len().saturating_sub(lag)..] {
                read_one(&path, *range, text)?;
            }
        }

        /// A crash between two pieces changes nothing, also beyond the cap.
        #[test]
        fn a_spool_that_is_reopened_goes_on_as_if_nothing_had_happened(
            sizes in prop::collection::vec(0..3_000usize, 20..60),
            cap in 2_000..40_000u64,
            crashes in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let paths = ["a.spool", "b.spool"].map(|name| directory.path().join(name));
            let mut whole = SpoolWriter::new(paths[0].clone(), cap);
            write(&mut whole, &sizes);
            let crashes: Vec<usize> = crashes.iter().map(|at| at.index(sizes.len())).collect();
            let mut writer = SpoolWriter::new(paths[1].clone(), cap);
            for (number, size) in sizes.iter().enumerate() {
                if crashes.contains(&number) {
                    writer = SpoolWriter::reopen(paths[1].clone(), cap).unwrap();
                }
                let text = format!("{number}:{}\n", "x".repeat(*size));
                writer.append(stream(number), number as u32, &text).unwrap();
            }
            prop_assert_eq!(writer.dropped_bytes(), whole.dropped_bytes());
            writer.finish().unwrap();
            whole.finish().unwrap();
            prop_assert_eq!(read_from(&paths[0], 0), read_from(&paths[1], 0));
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
    fn a_long_output_that_was_compressed_while_it_grew_reads_as_it_was_written() {
        for cap in [1 << 30, 12 << 20] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.spool");
            let mut writer = SpoolWriter::new(path.clone(), cap);
            // More than is needed for it to begin, in pieces that end anywhere in a frame.
            let written = write(&mut writer, &[70_001; 300]);
            let dropped = writer.dropped_bytes();
            writer.finish().unwrap();
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
            let read = read_from(&path, 0);
            let texts = read.iter().filter_map(|piece| match &piece.content {
                SpoolContent::Text { text, .. } => Some(text.clone()),
                SpoolContent::Gap { bytes } => {
                    assert_eq!(*bytes, dropped);
                    None
                }
            });
            let texts: Vec<String> = texts.collect();
            let missing = written.len() - texts.len();
            assert_eq!((missing > 0, dropped > 0), (cap < 1 << 30, cap < 1 << 30));
            let first = texts.iter().zip(&written).take_while(|(a, (_, b))| *a == b).count();
            let rest = written[first + missing..].iter().map(|(_, text)| text);
            assert!(texts[first..].iter().eq(rest), "{first} of {}", texts.len());
        }
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
