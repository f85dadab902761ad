//! The form of a sealed run of events: what is small in one frame, the payloads behind each other in another.
//!
//! `contents`, before compression: a version byte, the number of events, the table of names, then column by column the
//! time of each event as the distance from the one before, its kind and its task as places in the table, and the length
//! of its payload. Numbers are variable-length, seven bits a byte, smallest first. Columns compress better than rows,
//! and a reader that looks for one task need not touch the payloads.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::checksum::segment_checksum;
use super::codec::{Decoder, Encoder, MAX_PAYLOAD, invalid};
use super::record::Row;
use planwright_model::Seq;
use planwright_state::timeline::Outline;

/// How many events a sealed run has at most. More would compress a little better and make seeking slower.
pub(super) const RUN: usize = 128;

/// How many bytes of payload a run has at most, unless a single event is larger.
pub(super) const RUN_BYTES: usize = 512 << 10;

/// Sealing happens once and in the background, so that it may take its time; decoding does not notice the level.
pub(super) const LEVEL: i32 = 6;

const VERSION: u8 = 1;
const MOST_CONTENTS: usize = 16 << 20;

/// A sealed run as it is stored.
pub(super) struct Packed {
    pub(super) contents: Vec<u8>,
    pub(super) payloads: Vec<u8>,
}

pub(super) fn pack(encoder: &mut Encoder, rows: &[Row]) -> io::Result<Packed> {
    let mut names = Names::default();
    let kinds: Vec<_> = rows.iter().map(|row| names.place(&row.kind)).collect();
    let tasks: Vec<_> = rows
        .iter()
        .map(|row| row.task.as_deref().map_or(0, |task| names.place(task) + 1))
        .collect();
    let mut contents = vec![VERSION];
    put(&mut contents, rows.len() as u64);
    names.write(&mut contents);
    let mut before = 0;
    for row in rows {
        let at = row.at.as_microsecond();
        put(&mut contents, zigzag(at.wrapping_sub(before)));
        before = at;
    }
    let lengths = rows.iter().map(|row| row.payload.len() as u64);
    kinds.into_iter().chain(tasks).chain(lengths).for_each(|number| put(&mut contents, number));
    let payloads: Vec<u8> = rows.iter().flat_map(|row| &row.payload).copied().collect();
    Ok(Packed { contents: encoder.frame(&contents)?, payloads: encoder.frame(&payloads)? })
}

impl Packed {
    /// Writes the run with its checksum. The checksum goes first: a run without one is taken for the work of an older program.
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

/// The names of kinds and tasks, each kept once.
#[derive(Default)]
struct Names<'a> {
    places: HashMap<&'a str, u64>,
    list: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn place(&mut self, name: &'a str) -> u64 {
        *self.places.entry(name).or_insert_with(|| {
            self.list.push(name);
            self.list.len() as u64 - 1
        })
    }

    fn write(&self, into: &mut Vec<u8>) {
        put(into, self.list.len() as u64);
        for name in &self.list {
            put(into, name.len() as u64);
            into.extend_from_slice(name.as_bytes());
        }
    }
}

/// What a sealed run says about its events without their payloads.
#[derive(Debug)]
pub(super) struct Contents {
    entries: Vec<Entry>,
    names: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    at: i64,
    kind: usize,
    task: Option<usize>,
    payload: Range<usize>,
}

impl Contents {
    pub(super) fn decode(decoder: &mut Decoder, frame: &[u8]) -> io::Result<Self> {
        let bytes = decoder.unframe(frame, MOST_CONTENTS)?;
        Cursor { bytes: &bytes }.contents()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Visits what is known of the events of a range without their payloads.
    pub(super) fn outline<E>(
        &self,
        run: Seq,
        first: Seq,
        last: Seq,
        mut visit: impl FnMut(&Outline<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (entry, seq) in self.entries.iter().zip(run.0..) {
            if (first.0..=last.0).contains(&seq) {
                visit(&Outline {
                    seq: Seq(seq),
                    at: Timestamp::from_microsecond(entry.at).unwrap_or_default(),
                    kind: &self.names[entry.kind],
                    task: entry.task.map(|place| self.names[place].as_str()),
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn has_task(&self, task: &str) -> bool {
        self.place(task)
            .is_some_and(|place| self.entries.iter().any(|entry| entry.task == Some(place)))
    }

    /// Joins the contents with the payloads they describe.
    pub(super) fn with(self, decoder: &mut Decoder, first: Seq, frame: &[u8]) -> io::Result<Run> {
        let payloads = decoder.unframe(frame, MAX_PAYLOAD)?;
        let end = self.entries.last().map_or(0, |entry| entry.payload.end);
        if end != payloads.len() {
            return Err(invalid("the payloads of a sealed run are incomplete".into()));
        }
        Ok(Run { first, contents: self, payloads })
    }

    fn place(&self, task: &str) -> Option<usize> {
        self.names.iter().position(|name| name == task)
    }
}

/// A sealed run, decompressed. Its events are put together one by one as they are wanted.
#[derive(Debug)]
pub(super) struct Run {
    first: Seq,
    contents: Contents,
    payloads: Vec<u8>,
}

impl Run {
    /// The events of a range, in order, those of one task if asked.
    pub(super) fn rows(
        &self,
        first: Seq,
        last: Seq,
        task: Option<&str>,
    ) -> impl DoubleEndedIterator<Item = io::Result<Row>> + '_ {
        // A task without a place in the table matches nothing.
        let task = task.map(|task| self.contents.place(task).unwrap_or(usize::MAX));
        let from = (first.0.saturating_sub(self.first.0) as usize).min(self.contents.len());
        let to = (last.0.saturating_add(1).saturating_sub(self.first.0) as usize)
            .clamp(from, self.contents.len());
        let wanted = move |entry: &Entry| task.is_none_or(|task| entry.task == Some(task));
        let entries = self.contents.entries[from..to].iter().enumerate();
        entries
            .filter(move |(_, entry)| wanted(entry))
            .map(move |(place, entry)| self.row(Seq(self.first.0 + (from + place) as u64), entry))
    }

    fn row(&self, seq: Seq, entry: &Entry) -> io::Result<Row> {
        let names = &self.contents.names;
        let at = Timestamp::from_microsecond(entry.at)
            .map_err(|_| invalid(format!("{} is not a time", entry.at)))?;
        Ok(Row {
            seq,
            at,
            kind: names[entry.kind].clone().into(),
            task: entry.task.map(|place| names[place].clone()),
            payload: self.payloads[entry.payload.clone()].to_vec(),
        })
    }
}

/// Reads contents from its front.
struct Cursor<'a> {
    bytes: &'a [u8],
}

impl Cursor<'_> {
    fn contents(&mut self) -> io::Result<Contents> {
        match self.take(1)? {
            [VERSION] => {}
            other => return Err(invalid(format!("unknown form {other:?} of a sealed run"))),
        }
        let count = self.count()?;
        let names = self.names()?;
        let times = self.column(count)?;
        let kinds = self.column(count)?;
        let tasks = self.column(count)?;
        let lengths = self.column(count)?;
        let (mut at, mut start) = (0_i64, 0_usize);
        let mut entries = Vec::with_capacity(count);
        for (((time, kind), task), length) in times.into_iter().zip(kinds).zip(tasks).zip(lengths) {
            at = at.wrapping_add(unzigzag(time));
            let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            let task = task.checked_sub(1).map(|place| known(place, &names)).transpose()?;
            entries.push(Entry { at, kind: known(kind, &names)?, task, payload: start..end });
            start = end;
        }
        Ok(Contents { entries, names })
    }

    fn names(&mut self) -> io::Result<Vec<String>> {
        let count = self.count()?;
        (0..count)
            .map(|_| {
                let length = self.count()?;
                let bytes = self.take(length)?.to_vec();
                String::from_utf8(bytes).map_err(|_| invalid("a name is not text".into()))
            })
            .collect()
    }

    fn column(&mut self, count: usize) -> io::Result<Vec<u64>> {
        (0..count).map(|_| self.number()).collect()
    }

    /// A number of things that follow, each of at least a byte, so that no claim allocates more than there is.
    fn count(&mut self) -> io::Result<usize> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.bytes.len() { Err(cut()) } else { Ok(count) }
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(invalid("a number is too long".into()))
    }

    fn take(&mut self, length: usize) -> io::Result<&[u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(cut)?;
        self.bytes = rest;
        Ok(taken)
    }
}

fn known(place: u64, names: &[String]) -> io::Result<usize> {
    let place = usize::try_from(place).ok().filter(|place| *place < names.len());
    place.ok_or_else(|| invalid("a name is missing".into()))
}

fn cut() -> io::Error {
    invalid("a sealed run ends too early".into())
}

fn put(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Small negative numbers become small positive ones.
fn zigzag(number: i64) -> u64 {
    (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
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
        ) -> Row {
            let at = Timestamp::from_microsecond(micros).unwrap();
            Row { seq: Seq(0), at, kind: kind.into(), task, payload }
        }
    }

    proptest! {
        #[test]
        fn a_packed_run_unpacks_to_the_same_rows(mut rows in prop::collection::vec(any_row(), 1..60), first in 1..1_000_000_u64) {
            for (row, seq) in rows.iter_mut().zip(first..) {
                row.seq = Seq(seq);
            }
            let packed = pack(&mut Encoder::new(), &rows).unwrap();
            let mut decoder = Decoder::default();
            let contents = Contents::decode(&mut decoder, &packed.contents).unwrap();
            let run = contents.with(&mut decoder, Seq(first), &packed.payloads).unwrap();
            let unpacked: io::Result<Vec<_>> = run.rows(Seq(0), Seq(u64::MAX), None).collect();
            prop_assert_eq!(unpacked.unwrap(), rows);
        }

        #[test]
        fn no_bytes_make_decoding_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Cursor { bytes: &bytes }.contents();
            let versioned = [&[VERSION], bytes.as_slice()].concat();
            let _ = Cursor { bytes: &versioned }.contents();
        }
    }
}
