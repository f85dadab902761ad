//! What makes a long journal quick to open and to search: stored stretches of the timeline, and the words of events.
//!
//! Both follow sealed runs, in pieces, when the store has nothing else to do. Nothing rests on them: what is not indexed
//! yet is read from the journal.

use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{Decoder, Encoder};
use super::database::Place;
use super::error::{Doing, StoreError};
use super::event_id;
use super::lineage::{Lineage, Part};
use super::reader::Reader;
use super::record::Row;
use super::schema::immediate;
use super::sessions::{signed, unsigned};
use planwright_model::event::{Event, Record};
use planwright_model::{Seq, SessionId};
use planwright_state::timeline::{STRETCH, StoredStretch, Timeline};

const INDEXING: &str = "indexing a session";
const READING: &str = "reading the index";

/// Indexes sessions piece by piece, with a connection of its own for reading.
pub(super) struct Indexer {
    reader: Reader,
    encoder: Encoder,
    /// The fold of the session that was worked on last, so that stretches need not start over.
    timeline: Option<(i64, Timeline)>,
}

impl Indexer {
    pub(super) fn new(place: &Place) -> Result<Self, StoreError> {
        Ok(Self { reader: Reader::open(place)?, encoder: Encoder::new(), timeline: None })
    }

    /// Does one piece of a session, and says whether there may be another.
    pub(super) fn advance(
        &mut self,
        connection: &Connection,
        place: &Place,
        key: i64,
    ) -> Result<bool, StoreError> {
        if self.words(connection, place, key)? {
            return Ok(true);
        }
        self.stretch(connection, place, key)
    }

    /// Adds the words of one sealed run.
    fn words(&self, connection: &Connection, place: &Place, key: i64) -> Result<bool, StoreError> {
        const NEXT: &str =
            "SELECT first_seq, last_seq FROM segment WHERE session = ?1 AND first_seq >
            coalesce((SELECT upto FROM worded WHERE session = ?1), 0) ORDER BY first_seq LIMIT 1";
        let database = &place.database;
        let next: Option<(i64, i64)> = connection
            .prepare_cached(NEXT)
            .and_then(|mut statement| {
                statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .doing(INDEXING, database)?;
        let Some((first, last)) = next else { return Ok(false) };
        let part = Part { key, first: Seq(unsigned(first)), last: Seq(unsigned(last)) };
        let mut texts = Vec::new();
        let _ = self.reader.forward(part, None, &mut |row| {
            texts.extend(words_of(&row).map(|text| (row.seq, text)));
            ControlFlow::Continue(())
        })?;
        immediate(connection, database, INDEXING, |transaction| {
            let mut insert = transaction
                .prepare_cached("INSERT INTO words (rowid, text) VALUES (?, ?)")
                .doing(INDEXING, database)?;
            for (seq, text) in &texts {
                insert.execute(params![event_id::of(key, *seq), text]).doing(INDEXING, database)?;
            }
            drop(insert);
            transaction
                .execute("INSERT OR REPLACE INTO worded (session, upto) VALUES (?, ?)", [key, last])
                .doing(INDEXING, database)
                .map(drop)
        })?;
        Ok(true)
    }

    /// Adds one stretch of the timeline, if enough events are sealed for it.
    fn stretch(
        &mut self,
        connection: &Connection,
        place: &Place,
        key: i64,
    ) -> Result<bool, StoreError> {
        let database = &place.database;
        let Some((id, sealed)) = sealed(connection, key).doing(INDEXING, database)? else {
            return Ok(false);
        };
        let known = self.timeline.take().filter(|(known, _)| *known == key);
        let mut timeline = if let Some((_, timeline)) = known {
            timeline
        } else {
            let mut timeline = Timeline::default();
            self.reader.stretches(&id)?.into_iter().all(|stored| timeline.take_over(stored));
            timeline
        };
        let (first, last) = (timeline.head().next(), Seq(timeline.head().0 + STRETCH));
        if last.0 > sealed {
            return Ok(false);
        }
        self.reader.timeline_over(&id, first, last, &mut timeline)?;
        let (head, steps) = timeline.pack();
        let (codec, steps) = self
            .encoder
            .encode(&steps)
            .map_err(|error| StoreError::io(INDEXING, database, error))?;
        immediate(connection, database, INDEXING, |transaction| {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO stretch (session, last_seq, head, codec, steps) VALUES (?, ?, ?, ?, ?)",
                    params![key, signed(last.0), head, codec, steps],
                )
                .doing(INDEXING, database)
        })?;
        self.timeline = Some((key, timeline));
        Ok(true)
    }
}

/// The session of a key and up to which event it is sealed.
fn sealed(connection: &Connection, key: i64) -> rusqlite::Result<Option<(SessionId, u64)>> {
    connection
        .prepare_cached(
            "SELECT id, coalesce((SELECT max(last_seq) FROM segment WHERE session = key), 0)
             FROM session WHERE key = ? AND visibility < 2",
        )?
        .query_row([key], |row| {
            Ok((SessionId::new(row.get::<_, String>(0)?), unsigned(row.get(1)?)))
        })
        .optional()
}

/// The next session after `after` that has sealed runs whose words are not indexed.
pub(super) fn next_unindexed(
    connection: &Connection,
    place: &Place,
    after: i64,
) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached(
            "SELECT min(session) FROM segment s WHERE session > ?1 AND last_seq >
             coalesce((SELECT upto FROM worded w WHERE w.session = s.session), 0)",
        )
        .and_then(|mut statement| statement.query_row([after], |row| row.get(0)))
        .doing(INDEXING, &place.database)
}

/// What of an event is looked for: its readable text. `None` for what only keeps books.
fn words_of(row: &Row) -> Option<String> {
    let event = Event::decode(&row.payload).ok()?;
    let text = planwright_state::trace::searchable(&Record { seq: row.seq, at: row.at, event })?;
    Some(super::search::kept_words(&text)).filter(|words| !words.is_empty())
}

impl Reader {
    /// The stored stretches of a session's timeline from its start, as far as they follow each other.
    pub fn stretches(&self, session: &SessionId) -> Result<Vec<StoredStretch>, StoreError> {
        const SQL: &str = "SELECT last_seq, head, codec, steps FROM stretch
            WHERE session = ?1 AND last_seq BETWEEN ?2 AND ?3 ORDER BY last_seq";
        let lineage = Lineage::read(&self.connection, &self.database, session)?;
        let mut found = Vec::new();
        for part in lineage.within(Seq(1), lineage.head) {
            let mut statement =
                self.connection.prepare_cached(SQL).doing(READING, &self.database)?;
            let (first, last) = (signed(part.first.0), signed(part.last.0));
            let mut rows =
                statement.query([part.key, first, last]).doing(READING, &self.database)?;
            while let Some(row) = rows.next().doing(READING, &self.database)? {
                let read = || -> rusqlite::Result<_> {
                    Ok((unsigned(row.get(0)?), row.get(1)?, row.get(2)?, row.get(3)?))
                };
                let (last, head, codec, steps): (u64, _, i64, _) =
                    read().doing(READING, &self.database)?;
                // A fork's own stretch may begin before the fork; one that is missing ends what can be used.
                if last != (found.len() as u64 + 1) * STRETCH {
                    return Ok(found);
                }
                let unpack = if codec == super::codec::ZSTD { unpacked } else { plain };
                found.push(StoredStretch { head, steps, unpack });
            }
        }
        Ok(found)
    }

    /// Folds a range into a timeline. Payloads are read only where the index needs them.
    pub fn timeline_over(
        &self,
        session: &SessionId,
        first: Seq,
        last: Seq,
        timeline: &mut Timeline,
    ) -> Result<(), StoreError> {
        self.outline(session, first..=last, |outline| {
            let event = if outline.needs_event() {
                let row = self.row(session, outline.seq)?;
                row.and_then(|row| Event::decode(&row.payload).ok())
            } else {
                None
            };
            timeline.note(outline, event.as_ref());
            Ok(())
        })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside one that can fail")]
fn plain(stored: &[u8]) -> Option<Vec<u8>> {
    Some(stored.to_vec())
}

fn unpacked(stored: &[u8]) -> Option<Vec<u8>> {
    Decoder::default().decode(super::codec::ZSTD, stored).ok()
}
