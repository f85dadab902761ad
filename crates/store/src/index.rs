//! What makes a long journal fast to open and to search: stored stretches of the timeline, and the words of events.
//!
//! Both follow sealed runs, in small steps, while the store is idle. Nothing depends on them: what is not indexed yet
//! is read from the journal.

use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{PayloadDecoder, PayloadEncoder};
use super::database::StorePaths;
use super::error::{SqliteResultExt, StoreError};
use super::event_id;
use super::lineage::{LineagePart, SessionLineage};
use super::reader::StoreReader;
use super::schema::in_write_transaction;
use super::session_table::{to_signed, to_unsigned};
use super::store_types::JournalRow;
use planwright_model::event::{Event, Record};
use planwright_model::{Seq, SessionId};
use planwright_state::timeline::{STRETCH_EVENTS, StoredStretch, Timeline};

const INDEXING: &str = "indexing a session";
const READING: &str = "reading the index";

/// Indexes sessions step by step, with its own read connection.
pub(super) struct SessionIndexer {
    reader: StoreReader,
    encoder: PayloadEncoder,
    /// The fold of the last session worked on, so that stretches do not have to start over.
    timeline: Option<(i64, Timeline)>,
}

impl SessionIndexer {
    pub(super) fn new(paths: &StorePaths) -> Result<Self, StoreError> {
        Ok(Self {
            reader: StoreReader::open(paths)?,
            encoder: PayloadEncoder::new(),
            timeline: None,
        })
    }

    /// Does one step for a session, and returns whether there may be another.
    pub(super) fn advance(
        &mut self,
        connection: &Connection,
        paths: &StorePaths,
        key: i64,
    ) -> Result<bool, StoreError> {
        if self.index_words(connection, paths, key)? {
            return Ok(true);
        }
        self.index_stretch(connection, paths, key)
    }

    /// Adds the words of one sealed run.
    fn index_words(
        &self,
        connection: &Connection,
        paths: &StorePaths,
        key: i64,
    ) -> Result<bool, StoreError> {
        const NEXT: &str =
            "SELECT first_seq, last_seq FROM segment WHERE session = ?1 AND first_seq >
            coalesce((SELECT upto FROM worded WHERE session = ?1), 0) ORDER BY first_seq LIMIT 1";
        let database = &paths.database;
        let next: Option<(i64, i64)> = connection
            .prepare_cached(NEXT)
            .and_then(|mut statement| {
                statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .during(INDEXING, database)?;
        let Some((first, last)) = next else { return Ok(false) };
        let part =
            LineagePart { key, first: Seq(to_unsigned(first)), last: Seq(to_unsigned(last)) };
        let mut texts = Vec::new();
        // The flow is always `Continue`; errors are returned.
        let _ = self.reader.scan_part_forward(part, None, &mut |row| {
            texts.extend(event_words(&row).map(|text| (row.seq, text)));
            ControlFlow::Continue(())
        })?;
        in_write_transaction(connection, database, INDEXING, |transaction| {
            let mut insert = transaction
                .prepare_cached("INSERT INTO words (rowid, text) VALUES (?, ?)")
                .during(INDEXING, database)?;
            for (seq, text) in &texts {
                insert
                    .execute(params![event_id::compose_id(key, *seq), text])
                    .during(INDEXING, database)?;
            }
            drop(insert);
            transaction
                .execute("INSERT OR REPLACE INTO worded (session, upto) VALUES (?, ?)", [key, last])
                .during(INDEXING, database)
                .map(drop)
        })?;
        Ok(true)
    }

    /// Adds one stretch of the timeline, if enough events are sealed for it.
    fn index_stretch(
        &mut self,
        connection: &Connection,
        paths: &StorePaths,
        key: i64,
    ) -> Result<bool, StoreError> {
        let database = &paths.database;
        let Some((id, sealed)) = sealed_head(connection, key).during(INDEXING, database)? else {
            return Ok(false);
        };
        let known = self.timeline.take().filter(|(known, _)| *known == key);
        let mut timeline = if let Some((_, timeline)) = known {
            timeline
        } else {
            let mut timeline = Timeline::default();
            self.reader
                .timeline_stretches(&id)?
                .into_iter()
                .all(|stored| timeline.append_stored(stored));
            timeline
        };
        let (first, last) =
            (timeline.head_seq().next(), Seq(timeline.head_seq().0 + STRETCH_EVENTS));
        if last.0 > sealed {
            return Ok(false);
        }
        self.reader.extend_timeline(&id, first, last, &mut timeline)?;
        let (head, steps) = timeline.pack_stretch();
        let (codec, steps) = self
            .encoder
            .encode(&steps)
            .map_err(|error| StoreError::from_io(INDEXING, database, error))?;
        in_write_transaction(connection, database, INDEXING, |transaction| {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO stretch (session, last_seq, head, codec, steps) VALUES (?, ?, ?, ?, ?)",
                    params![key, to_signed(last.0), head, codec, steps],
                )
                .during(INDEXING, database)
        })?;
        self.timeline = Some((key, timeline));
        Ok(true)
    }
}

/// The id of the session with this key, and up to which event it is sealed.
fn sealed_head(connection: &Connection, key: i64) -> rusqlite::Result<Option<(SessionId, u64)>> {
    connection
        .prepare_cached(
            "SELECT id, coalesce((SELECT max(last_seq) FROM segment WHERE session = key), 0)
             FROM session WHERE key = ? AND visibility < 2",
        )?
        .query_row([key], |row| {
            Ok((SessionId::new(row.get::<_, String>(0)?), to_unsigned(row.get(1)?)))
        })
        .optional()
}

/// The next session after `after` that has sealed runs whose words are not indexed.
pub(super) fn next_unindexed(
    connection: &Connection,
    paths: &StorePaths,
    after: i64,
) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached(
            "SELECT min(session) FROM segment s WHERE session > ?1 AND last_seq >
             coalesce((SELECT upto FROM worded w WHERE w.session = s.session), 0)",
        )
        .and_then(|mut statement| statement.query_row([after], |row| row.get(0)))
        .during(INDEXING, &paths.database)
}

/// The searchable text of an event. `None` for events that only contain accounting.
fn event_words(row: &JournalRow) -> Option<String> {
    let event = decode_event(row)?;
    let text =
        planwright_state::trace::searchable_text(&Record { seq: row.seq, at: row.at, event })?;
    Some(super::word_search::indexable_words(&text)).filter(|words| !words.is_empty())
}

/// The event of a row. One that cannot be decoded is left out here; whoever reads the session itself is told.
pub(super) fn decode_event(row: &JournalRow) -> Option<Event> {
    // The error may quote the payload, which does not belong into a log.
    let unreadable =
        |_: &_| tracing::warn!(seq = row.seq.0, kind = %row.kind, "an event cannot be decoded");
    Event::decode(&row.payload).inspect_err(unreadable).ok()
}

impl StoreReader {
    /// The stored stretches of a session's timeline from its start, up to the first gap.
    pub fn timeline_stretches(
        &self,
        session: &SessionId,
    ) -> Result<Vec<StoredStretch>, StoreError> {
        const SQL: &str = "SELECT last_seq, head, codec, steps FROM stretch
            WHERE session = ?1 AND last_seq BETWEEN ?2 AND ?3 ORDER BY last_seq";
        let lineage = SessionLineage::read(&self.connection, &self.database, session)?;
        let mut found = Vec::new();
        for part in lineage.parts_within(Seq(1), lineage.head) {
            let mut statement =
                self.connection.prepare_cached(SQL).during(READING, &self.database)?;
            let (first, last) = (to_signed(part.first.0), to_signed(part.last.0));
            let mut rows =
                statement.query([part.key, first, last]).during(READING, &self.database)?;
            while let Some(row) = rows.next().during(READING, &self.database)? {
                let read = || -> rusqlite::Result<_> {
                    Ok((to_unsigned(row.get(0)?), row.get(1)?, row.get(2)?, row.get(3)?))
                };
                let (last, head, codec, steps): (u64, _, i64, _) =
                    read().during(READING, &self.database)?;
                // A fork's own stretch may begin before the fork; the first missing one ends the usable part.
                if last != (found.len() as u64 + 1) * STRETCH_EVENTS {
                    return Ok(found);
                }
                let unpack =
                    if codec == super::codec::ZSTD { decompress_stored } else { copy_stored };
                found.push(StoredStretch { head, steps, unpack });
            }
        }
        Ok(found)
    }

    /// Folds a range into a timeline. Payloads are read only where the index needs them.
    pub(crate) fn extend_timeline(
        &self,
        session: &SessionId,
        first: Seq,
        last: Seq,
        timeline: &mut Timeline,
    ) -> Result<(), StoreError> {
        self.scan_outline(session, first..=last, |outline| {
            let event = if outline.needs_event() {
                let row = self.read_row(session, outline.seq)?;
                row.and_then(|row| decode_event(&row))
            } else {
                None
            };
            timeline.apply_outline(outline, event.as_ref());
            Ok(())
        })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside one that can fail")]
fn copy_stored(stored: &[u8]) -> Option<Vec<u8>> {
    Some(stored.to_vec())
}

fn decompress_stored(stored: &[u8]) -> Option<Vec<u8>> {
    let decoded = PayloadDecoder::default().decode(super::codec::ZSTD, stored);
    decoded.inspect_err(|error| tracing::warn!(%error, "a payload cannot be decompressed")).ok()
}
