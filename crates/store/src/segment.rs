//! The format of a sealed run of events: the small columns in one frame, the concatenated payloads in another.
//!
//! `contents`, before compression: a version byte, the number of events, the table of names, then column by column the
//! time of each event as the difference from the previous one, its kind and its task as indexes into the table, and the
//! length of its payload. Numbers are variable-length, seven bits per byte, least significant first. Columns compress
//! better than rows, and a reader that looks for one task does not have to read the payloads.
//!
//! `benches/README.md` has the measurements: a step takes 70 bytes sealed instead of 382, and reading one event from a
//! sealed run takes about 0.1 ms.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::checksum::segment_checksum;
use super::codec::{MAX_PAYLOAD, PayloadDecoder, PayloadEncoder, invalid_data};
use super::store_types::JournalRow;
use planwright_model::Seq;
use planwright_state::timeline::EventOutline;

/// The most events in a sealed run. More would compress slightly better, but every read of one event decompresses its
/// entire run.
pub(super) const MAX_RUN_EVENTS: usize = 128;

/// The most bytes of payload in a run, unless a single event is larger.
pub(super) const MAX_RUN_BYTES: usize = 512 << 10;

/// Sealing happens once and in the background, so compression may be slow; the speed of decoding does not depend on the
/// level.
pub(super) const LEVEL: i32 = 6;

const VERSION: u8 = 1;
/// The most bytes the decompressed contents may have. A damaged or hostile frame cannot make a reader allocate more.
const MOST_CONTENTS: usize = 16 << 20;

/// A sealed run as it is stored.
pub(super) struct PackedRun {
    pub(super) contents: Vec<u8>,
    pub(super) payloads: Vec<u8>,
}

pub(super) fn pack_run(encoder: &mut PayloadEncoder, rows: &[JournalRow]) -> io::Result<PackedRun> {
    let mut names = NameTable::default();
    let kinds: Vec<_> = rows.iter().map(|row| names.intern_name(&row.kind)).collect();
    let tasks: Vec<_> = rows
        .iter()
        // 0 means "no task", so indexes of tasks are shifted by one.
        .map(|row| row.task.as_deref().map_or(0, |task| names.intern_name(task) + 1))
        .collect();
    let mut contents = vec![VERSION];
    put_varint(&mut contents, rows.len() as u64);
    names.write(&mut contents);
    let mut previous = 0;
    for row in rows {
        let at = row.at.as_microsecond();
        // Times may decrease when the clock was set back, so differences are signed; wrapping keeps every `i64`
        // reversible.
        put_varint(&mut contents, zigzag_encode(at.wrapping_sub(previous)));
        previous = at;
    }
    let lengths = rows.iter().map(|row| row.payload.len() as u64);
    kinds
        .into_iter()
        .chain(tasks)
        .chain(lengths)
        .for_each(|number| put_varint(&mut contents, number));
    let payloads: Vec<u8> = rows.iter().flat_map(|row| &row.payload).copied().collect();
    Ok(PackedRun {
        contents: encoder.compress_frame(&contents)?,
        payloads: encoder.compress_frame(&payloads)?,
    })
}

impl PackedRun {
    /// Writes the run with its checksum. The checksum is written first: a run without one would be taken for the work
    /// of an older program.
    pub(super) fn insert(
        &self,
        connection: &Connection,
        key: i64,
        (first, last): (i64, i64),
    ) -> rusqlite::Result<()> {
        let sum = segment_checksum((key, first, last), &self.contents, &self.payloads);
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO segment_sum (session, first_seq, sum) VALUES (?, ?, ?)",
            )?
            .execute([key, first, sum])?;
        connection
            .prepare_cached(
                "INSERT INTO segment (session, first_seq, last_seq, contents, payloads) VALUES (?, ?, ?, ?, ?)",
            )?
            .execute(params![key, first, last, self.contents, self.payloads])
            .map(drop)
    }
}

/// The names of kinds and tasks, each stored once.
#[derive(Default)]
struct NameTable<'a> {
    indexes: HashMap<&'a str, u64>,
    list: Vec<&'a str>,
}

impl<'a> NameTable<'a> {
    fn intern_name(&mut self, name: &'a str) -> u64 {
        *self.indexes.entry(name).or_insert_with(|| {
            self.list.push(name);
            self.list.len() as u64 - 1
        })
    }

    fn write(&self, into: &mut Vec<u8>) {
        put_varint(into, self.list.len() as u64);
        for name in &self.list {
            put_varint(into, name.len() as u64);
            into.extend_from_slice(name.as_bytes());
        }
    }
}

/// Everything a sealed run contains about its events except the payloads.
#[derive(Debug)]
pub(super) struct RunContents {
    entries: Vec<RunEntry>,
    names: Vec<String>,
}

#[derive(Debug)]
struct RunEntry {
    at: i64,
    kind: usize,
    task: Option<usize>,
    payload: Range<usize>,
}

impl RunContents {
    pub(super) fn decode(decoder: &mut PayloadDecoder, frame: &[u8]) -> io::Result<Self> {
        let bytes = decoder.decompress_frame(frame, MOST_CONTENTS)?;
        ContentsCursor { bytes: &bytes }.read_contents()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Visits the outlines of the events of a range, without their payloads.
    pub(super) fn scan_outline<E>(
        &self,
        run: Seq,
        first: Seq,
        last: Seq,
        mut visit: impl FnMut(&EventOutline<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (entry, seq) in self.entries.iter().zip(run.0..) {
            if (first.0..=last.0).contains(&seq) {
                visit(&EventOutline {
                    seq: Seq(seq),
                    at: Timestamp::from_microsecond(entry.at).unwrap_or_default(),
                    kind: &self.names[entry.kind],
                    task: entry.task.map(|index| self.names[index].as_str()),
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn has_task(&self, task: &str) -> bool {
        self.name_index(task)
            .is_some_and(|index| self.entries.iter().any(|entry| entry.task == Some(index)))
    }

    /// Joins the contents with the payloads they describe.
    pub(super) fn with_payloads(
        self,
        decoder: &mut PayloadDecoder,
        first: Seq,
        frame: &[u8],
    ) -> io::Result<SealedRun> {
        let payloads = decoder.decompress_frame(frame, MAX_PAYLOAD)?;
        // The ranges are contiguous and never decrease, because `read_contents` adds the lengths with saturation. If
        // the last one ends exactly at the end of the payloads, every range is within bounds and `build_row` cannot
        // panic.
        let end = self.entries.last().map_or(0, |entry| entry.payload.end);
        if end != payloads.len() {
            return Err(invalid_data("the payloads of a sealed run are incomplete".into()));
        }
        Ok(SealedRun { first, contents: self, payloads })
    }

    fn name_index(&self, task: &str) -> Option<usize> {
        self.names.iter().position(|name| name == task)
    }
}

/// A sealed run, decompressed. Its events are assembled one by one on request.
#[derive(Debug)]
pub(super) struct SealedRun {
    first: Seq,
    contents: RunContents,
    payloads: Vec<u8>,
}

impl SealedRun {
    /// The events of a range, in order, optionally of one task.
    pub(super) fn rows_in_range(
        &self,
        first: Seq,
        last: Seq,
        task: Option<&str>,
    ) -> impl DoubleEndedIterator<Item = io::Result<JournalRow>> + '_ {
        // A task that is not in the table matches nothing.
        let task = task.map(|task| self.contents.name_index(task).unwrap_or(usize::MAX));
        let from = (first.0.saturating_sub(self.first.0) as usize).min(self.contents.len());
        let to = (last.0.saturating_add(1).saturating_sub(self.first.0) as usize)
            .clamp(from, self.contents.len());
        let is_requested = move |entry: &RunEntry| task.is_none_or(|task| entry.task == Some(task));
        let entries = self.contents.entries[from..to].iter().enumerate();
        entries.filter(move |(_, entry)| is_requested(entry)).map(move |(index, entry)| {
            self.build_row(Seq(self.first.0 + (from + index) as u64), entry)
        })
    }

    fn build_row(&self, seq: Seq, entry: &RunEntry) -> io::Result<JournalRow> {
        let names = &self.contents.names;
        let at = Timestamp::from_microsecond(entry.at)
            .map_err(|_| invalid_data(format!("{} is not a time", entry.at)))?;
        Ok(JournalRow {
            seq,
            at,
            kind: names[entry.kind].clone().into(),
            task: entry.task.map(|index| names[index].clone()),
            payload: self.payloads[entry.payload.clone()].to_vec(),
        })
    }
}

/// Reads contents from the front.
struct ContentsCursor<'a> {
    bytes: &'a [u8],
}

impl ContentsCursor<'_> {
    fn read_contents(&mut self) -> io::Result<RunContents> {
        match self.take_bytes(1)? {
            [VERSION] => {}
            other => return Err(invalid_data(format!("unknown form {other:?} of a sealed run"))),
        }
        let count = self.read_count()?;
        let names = self.read_names()?;
        let times = self.read_column(count)?;
        let kinds = self.read_column(count)?;
        let tasks = self.read_column(count)?;
        let lengths = self.read_column(count)?;
        let (mut at, mut start) = (0_i64, 0_usize);
        let mut entries = Vec::with_capacity(count);
        for (((time, kind), task), length) in times.into_iter().zip(kinds).zip(tasks).zip(lengths) {
            at = at.wrapping_add(zigzag_decode(time));
            let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            let task =
                task.checked_sub(1).map(|index| check_name_index(index, &names)).transpose()?;
            entries.push(RunEntry {
                at,
                kind: check_name_index(kind, &names)?,
                task,
                payload: start..end,
            });
            start = end;
        }
        Ok(RunContents { entries, names })
    }

    fn read_names(&mut self) -> io::Result<Vec<String>> {
        let count = self.read_count()?;
        (0..count)
            .map(|_| {
                let length = self.read_count()?;
                let bytes = self.take_bytes(length)?.to_vec();
                String::from_utf8(bytes).map_err(|_| invalid_data("a name is not text".into()))
            })
            .collect()
    }

    fn read_column(&mut self, count: usize) -> io::Result<Vec<u64>> {
        (0..count).map(|_| self.read_number()).collect()
    }

    /// Reads the number of items that follow. Each takes at least one byte, so a false count cannot allocate more than
    /// the input's size.
    fn read_count(&mut self) -> io::Result<usize> {
        let count = usize::try_from(self.read_number()?).unwrap_or(usize::MAX);
        if count > self.bytes.len() { Err(truncated_error()) } else { Ok(count) }
    }

    fn read_number(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take_bytes(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(invalid_data("a number is too long".into()))
    }

    fn take_bytes(&mut self, length: usize) -> io::Result<&[u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(truncated_error)?;
        self.bytes = rest;
        Ok(taken)
    }
}

fn check_name_index(index: u64, names: &[String]) -> io::Result<usize> {
    let index = usize::try_from(index).ok().filter(|index| *index < names.len());
    index.ok_or_else(|| invalid_data("a name is missing".into()))
}

fn truncated_error() -> io::Error {
    invalid_data("a sealed run ends too early".into())
}

fn put_varint(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Maps small negative numbers to small positive ones.
fn zigzag_encode(number: i64) -> u64 {
    (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()
}

fn zigzag_decode(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_row()(
            micros in -1_000_000_000_000_i64..4_000_000_000_000_000,
            kind in "[a-z_]{1,8}",
            task in prop::option::of("[a-zé]{0,4}"),
            payload in prop::collection::vec(any::<u8>(), 0..200),
        ) -> JournalRow {
            let at = Timestamp::from_microsecond(micros).unwrap();
            JournalRow { seq: Seq(0), at, kind: kind.into(), task, payload }
        }
    }

    proptest! {
        #[test]
        fn a_packed_run_unpacks_to_the_same_rows(mut rows in prop::collection::vec(any_row(), 1..60), first in 1..1_000_000_u64) {
            for (row, seq) in rows.iter_mut().zip(first..) {
                row.seq = Seq(seq);
            }
            let packed = pack_run(&mut PayloadEncoder::new(), &rows).unwrap();
            let mut decoder = PayloadDecoder::default();
            let contents = RunContents::decode(&mut decoder, &packed.contents).unwrap();
            let run = contents.with_payloads(&mut decoder, Seq(first), &packed.payloads).unwrap();
            let unpacked: io::Result<Vec<_>> = run.rows_in_range(Seq(0), Seq(u64::MAX), None).collect();
            prop_assert_eq!(unpacked.unwrap(), rows);
        }

        #[test]
        fn no_bytes_make_decoding_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = ContentsCursor { bytes: &bytes }.read_contents();
            let versioned = [&[VERSION], bytes.as_slice()].concat();
            let _ = ContentsCursor { bytes: &versioned }.read_contents();
        }
    }
}
