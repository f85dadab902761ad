//! Checks for damage: the structure of the file, the sequence of every session, and every row against its checksum.
//!
//! Each finding is one sentence that names the session, the event and the difference. A finding never ends the check:
//! data that `SQLite` cannot read becomes a finding as well.

use std::cell::RefMut;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Statement, params};

use super::checksum::{NO_CHECKSUM, describe_segment_difference, segment_checksum};
use super::codec::PayloadDecoder;
use super::error::{SqliteResultExt, StoreError};
use super::event_id;
use super::journal_scan::LiveRow;
use super::lineage::SessionLineage;
use super::reader::StoreReader;
use super::segment::RunContents;
use super::session_removal::{CHECKING, query_texts};
use super::session_table::{FixedColumns, to_unsigned};
use planwright_model::{Seq, SessionId};

/// How many findings of a session are listed; with more than that, the file is beyond repair.
const MOST_NAMED: usize = 100;

/// How thorough the check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// The structure of the file and the sequence of every session.
    Quick,
    /// Indexes and constraints as well, and every stored event against its checksum.
    Full,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// One sentence each; empty if there are none.
    pub problems: Vec<String>,
    pub sessions: u64,
}

/// Checks the file with `SQLite`, then every session for gaps and for rows that differ from what was written.
pub(super) fn check_store(
    reader: &StoreReader,
    depth: CheckDepth,
) -> Result<IntegrityReport, StoreError> {
    let (connection, database) = reader.connection();
    let sql = match depth {
        CheckDepth::Quick => "PRAGMA quick_check(20)",
        CheckDepth::Full => "PRAGMA integrity_check(20)",
    };
    let mut problems = query_texts(connection, sql).during(CHECKING, database)?;
    problems.retain(|problem| problem != "ok");
    let broken = reader.broken_references()?;
    if broken > 0 {
        problems.push(format!("{broken} rows refer to something that is not there"));
    }
    problems.extend(changed_sessions(connection).during(CHECKING, database)?);
    problems.extend(ownerless_events(connection).during(CHECKING, database)?);
    let sessions = session_spans(connection).during(CHECKING, database)?;
    for span in &sessions {
        let found = SessionCheck::new(reader, span).run(depth);
        problems.extend(found.into_iter().map(|problem| format!("session {}: {problem}", span.id)));
    }
    Ok(IntegrityReport { problems, sessions: sessions.len() as u64 })
}

/// Checks the rows of one session, and those it reads from the sessions it was forked from.
pub(super) fn check_session(
    reader: &StoreReader,
    session: &SessionId,
) -> Result<Vec<String>, StoreError> {
    let (connection, database) = reader.connection();
    let lineage = SessionLineage::read(connection, database, session)?;
    let keys: Vec<i64> = lineage.parts_within(Seq(1), lineage.head).map(|part| part.key).collect();
    let spans = session_spans(connection).during(CHECKING, database)?;
    let is_in_lineage =
        |span: &&SessionSpan| span.id == session.as_str() || keys.contains(&span.key);
    let mut problems = Vec::new();
    for span in spans.iter().filter(is_in_lineage) {
        problems.extend(span.difference.clone());
        problems.extend(SessionCheck::new(reader, span).run(CheckDepth::Full));
    }
    Ok(problems)
}

/// Sessions whose fixed columns differ from what was written, whether visible, hidden or being removed.
fn changed_sessions(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let all = read_spans(connection, "visibility IS NOT NULL")?;
    let named = |span: SessionSpan| {
        span.difference.map(|problem| format!("session {}: {problem}", span.id))
    };
    Ok(all.into_iter().filter_map(named).collect())
}

/// Live events that belong to no session. Sealed ones are found by their reference.
fn ownerless_events(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut next =
        connection.prepare_cached("SELECT id FROM live WHERE id > ? ORDER BY id LIMIT 1")?;
    let mut known = connection.prepare_cached("SELECT 1 FROM session WHERE key = ?")?;
    let mut problems = Vec::new();
    let mut after = i64::MIN;
    while let Some(id) = next.query_row([after], |row| row.get::<_, i64>(0)).optional()? {
        let key = event_id::session_key(id);
        if !known.exists([key])? && problems.len() < MOST_NAMED {
            problems.push(format!("event {} belongs to no session", event_id::event_seq(id)));
        }
        // Always advances, whatever the number is.
        after = event_id::id_range(key).1.max(id);
    }
    Ok(problems)
}

/// The events a session must have itself, without those of its parents.
struct SessionSpan {
    key: i64,
    id: String,
    first: i64,
    head: i64,
    /// Whether all of its sealed runs must have a checksum.
    is_summed: bool,
    difference: Option<String>,
}

fn session_spans(connection: &Connection) -> rusqlite::Result<Vec<SessionSpan>> {
    read_spans(connection, "visibility < 2")
}

fn read_spans(connection: &Connection, condition: &str) -> rusqlite::Result<Vec<SessionSpan>> {
    let sql = format!(
        "SELECT {}, key, head_seq, sum, NOT EXISTS (SELECT 1 FROM unsummed WHERE session = key)
         FROM session WHERE {condition} ORDER BY key",
        FixedColumns::COLUMNS
    );
    let read = |row: &rusqlite::Row<'_>| {
        let (sum, is_summed): (i64, bool) = (row.get(8)?, row.get(9)?);
        let fixed = FixedColumns::read(row)?;
        Ok(SessionSpan {
            key: row.get(6)?,
            id: fixed.readable_id(),
            first: row.get::<_, Option<i64>>(3)?.unwrap_or(0).saturating_add(1),
            head: row.get(7)?,
            is_summed,
            difference: if sum == NO_CHECKSUM && !is_summed {
                None
            } else {
                fixed.describe_difference(sum)
            },
        })
    };
    connection.prepare(&sql)?.query_map([], read)?.collect()
}

/// The check of the rows stored in one session.
struct SessionCheck<'a> {
    connection: &'a Connection,
    database: &'a Path,
    decoder: RefMut<'a, PayloadDecoder>,
    span: &'a SessionSpan,
    problems: Vec<String>,
}

impl<'a> SessionCheck<'a> {
    fn new(reader: &'a StoreReader, span: &'a SessionSpan) -> Self {
        let (connection, database) = reader.connection();
        let decoder = reader.decoder.borrow_mut();
        Self { connection, database, decoder, span, problems: Vec::new() }
    }

    fn run(mut self, depth: CheckDepth) -> Vec<String> {
        self.run_part(Self::check_sequence);
        if depth == CheckDepth::Full {
            self.run_part(Self::check_segments);
            self.run_part(Self::check_lost_segments);
            self.run_part(Self::check_live_rows);
            self.run_part(Self::check_checkpoints);
        }
        if self.problems.len() > MOST_NAMED {
            let more = self.problems.len() - MOST_NAMED;
            self.problems.truncate(MOST_NAMED);
            self.problems.push(format!("… and {more} more"));
        }
        self.problems
    }

    /// Data that `SQLite` cannot read ends one part of the check and becomes a finding.
    fn run_part(&mut self, check: impl FnOnce(&mut Self) -> rusqlite::Result<()>) {
        if let Err(error) = check(self).during(CHECKING, self.database) {
            let detail = match error {
                StoreError::Damaged { detail, .. } => detail,
                StoreError::Sqlite { source, .. } => source.to_string(),
                other => other.to_string(),
            };
            self.problems.push(format!("its events cannot be read to the end: {detail}"));
        }
    }

    fn prepare_statement(&self, sql: &str) -> rusqlite::Result<Statement<'a>> {
        self.connection.prepare(sql)
    }

    /// Walks over sealed runs and live rows and reports every event that is missing or out of place.
    fn check_sequence(&mut self) -> rusqlite::Result<()> {
        const SQL: &str = "SELECT first_seq, last_seq FROM segment WHERE session = ?1
            UNION ALL SELECT id & 0xfffffffff, id & 0xfffffffff FROM live
            WHERE id BETWEEN (?1 << 36) AND ((?1 + 1) << 36) - 1 ORDER BY 1";
        let mut expected = self.span.first;
        let mut statement = self.prepare_statement(SQL)?;
        let mut runs = statement.query([self.span.key])?;
        while let Some(run) = runs.next()? {
            let (first, last): (i64, i64) = (run.get(0)?, run.get(1)?);
            if first != expected {
                self.problems.push(format!("expected event {expected}, found {first}"));
            }
            expected = last.saturating_add(1);
        }
        let (kept, head) = (expected - 1, self.span.head);
        if kept != head {
            self.problems.push(format!("its last event is {kept}, not {head}"));
        }
        Ok(())
    }

    fn check_segments(&mut self) -> rusqlite::Result<()> {
        const SQL: &str = "SELECT s.first_seq, s.last_seq, s.contents, s.payloads, m.sum
            FROM segment s LEFT JOIN segment_sum m ON m.session = s.session AND m.first_seq = s.first_seq
            WHERE s.session = ? ORDER BY s.first_seq";
        let mut statement = self.prepare_statement(SQL)?;
        let mut rows = statement.query([self.span.key])?;
        while let Some(row) = rows.next()? {
            let (first, last): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (contents, payloads) = (row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_blob()?);
            let kept: Option<i64> = row.get(4)?;
            let location = (self.span.key, first, last);
            let difference = match kept {
                Some(kept) => describe_segment_difference(location, contents, payloads, kept),
                None if self.span.is_summed => Some("it has no checksum".into()),
                None => None,
            };
            let finding = difference.or_else(|| self.unpack_problem(location, contents, payloads));
            self.problems.extend(
                finding.map(|problem| format!("sealed run of events {first} to {last}: {problem}")),
            );
        }
        Ok(())
    }

    /// Why a sealed run cannot be unpacked, if so.
    fn unpack_problem(
        &mut self,
        (_, first, last): (i64, i64, i64),
        contents: &[u8],
        payloads: &[u8],
    ) -> Option<String> {
        let unpacked = RunContents::decode(&mut self.decoder, contents).and_then(|contents| {
            let count = contents.len() as u64;
            contents
                .with_payloads(&mut self.decoder, Seq(to_unsigned(first)), payloads)
                .map(|_| count)
        });
        match unpacked {
            Err(error) => Some(format!("it cannot be read: {error}")),
            Ok(count) if to_unsigned(first) + count == to_unsigned(last) + 1 => None,
            Ok(count) => Some(format!("it has {count} events")),
        }
    }

    /// Checksums whose run is missing.
    fn check_lost_segments(&mut self) -> rusqlite::Result<()> {
        const SQL: &str = "SELECT first_seq FROM segment_sum m WHERE session = ? AND NOT EXISTS
            (SELECT 1 FROM segment s WHERE s.session = m.session AND s.first_seq = m.first_seq)";
        let mut statement = self.prepare_statement(SQL)?;
        let mut rows = statement.query([self.span.key])?;
        while let Some(row) = rows.next()? {
            let first: i64 = row.get(0)?;
            self.problems.push(format!("the sealed run that begins with event {first} is missing"));
        }
        Ok(())
    }

    fn check_live_rows(&mut self) -> rusqlite::Result<()> {
        const SQL: &str = "SELECT id, at, kind, task, codec, payload, sum FROM live
            WHERE id BETWEEN ? AND ? ORDER BY id";
        let (from, to) = event_id::id_range(self.span.key);
        let mut statement = self.prepare_statement(SQL)?;
        let mut rows = statement.query(params![from, to])?;
        while let Some(row) = rows.next()? {
            let seq = event_id::event_seq(row.get(0)?);
            let finding = match LiveRow::read(row) {
                Ok(live) => {
                    live.describe_difference().or_else(|| live.decode_problem(&mut self.decoder))
                }
                Err(error) => Some(format!("it is not what was written: {error}")),
            };
            self.problems.extend(finding.map(|problem| format!("event {seq}: {problem}")));
        }
        Ok(())
    }

    /// Checkpoints are compressed frames with a checksum of their content.
    fn check_checkpoints(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.prepare_statement(
            "SELECT seq, codec, payload FROM checkpoint WHERE session = ? ORDER BY seq",
        )?;
        let mut rows = statement.query([self.span.key])?;
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            let decoded = self.decoder.decode(row.get(1)?, row.get_ref(2)?.as_blob()?);
            if let Err(error) = decoded {
                self.problems.push(format!("checkpoint after event {seq}: {error}"));
            }
            if !(self.span.first - 1..=self.span.head).contains(&seq) {
                self.problems.push(format!(
                    "there is a checkpoint after event {seq}, which it does not have"
                ));
            }
        }
        Ok(())
    }
}

/// The next session that may have sealed runs without a checksum, after a key.
pub(super) fn next_without_checksums(
    connection: &Connection,
    database: &Path,
    after: i64,
) -> Result<Option<i64>, StoreError> {
    connection
        .query_row(
            "SELECT session FROM unsummed WHERE session > ? ORDER BY session LIMIT 1",
            [after],
            |row| row.get(0),
        )
        .optional()
        .during(CHECKING, database)
}

/// Adds checksums to sealed runs of an older version, a few at a time, and returns whether there may be more. A run
/// that cannot be unpacked gets none: a checksum would make its damage look intact.
pub(super) fn add_missing_checksums(
    connection: &Connection,
    database: &Path,
    key: i64,
) -> Result<bool, StoreError> {
    const PIECE: usize = 8;
    super::schema::in_write_transaction(connection, database, "adding checksums", |transaction| {
        let sums = missing_checksums(transaction, key, PIECE).during(CHECKING, database)?;
        for (first, sum) in &sums {
            transaction
                .prepare_cached(
                    "INSERT INTO segment_sum (session, first_seq, sum) VALUES (?, ?, ?)",
                )
                .and_then(|mut statement| statement.execute([key, *first, *sum]))
                .during(CHECKING, database)?;
        }
        if sums.len() < PIECE {
            finish_checksums(transaction, key).during(CHECKING, database)?;
        }
        Ok(sums.len() == PIECE)
    })
}

fn missing_checksums(
    connection: &Connection,
    key: i64,
    most: usize,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    const SQL: &str = "SELECT first_seq, last_seq, contents, payloads FROM segment s
        WHERE session = ?1 AND NOT EXISTS
            (SELECT 1 FROM segment_sum m WHERE m.session = ?1 AND m.first_seq = s.first_seq)
        ORDER BY first_seq";
    let mut statement = connection.prepare_cached(SQL)?;
    let mut rows = statement.query([key])?;
    let (mut sums, mut decoder) = (Vec::new(), PayloadDecoder::default());
    while let (true, Some(row)) = (sums.len() < most, rows.next()?) {
        let (first, last): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (contents, payloads) = (row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_blob()?);
        let unpacked = RunContents::decode(&mut decoder, contents).and_then(|table| {
            table.with_payloads(&mut decoder, Seq(to_unsigned(first)), payloads).map(drop)
        });
        if unpacked.is_ok() {
            let location = (key, first, last);
            let sum = segment_checksum(location, contents, payloads);
            sums.push((first, sum));
        }
    }
    Ok(sums)
}

/// Called when all runs of a session have been checked: writes the checksum of the session itself. A session with a
/// damaged run stays on the list, because its missing checksum is already explained.
fn finish_checksums(connection: &Connection, key: i64) -> rusqlite::Result<()> {
    let sql = format!("SELECT {}, sum FROM session WHERE key = ?", FixedColumns::COLUMNS);
    let read = |row: &rusqlite::Row<'_>| Ok((FixedColumns::read(row)?, row.get(6)?));
    let found: Option<(_, i64)> = connection.query_row(&sql, [key], read).optional()?;
    if let Some((fixed, NO_CHECKSUM)) = found {
        let sum = fixed.checksum();
        connection.execute("UPDATE session SET sum = ? WHERE key = ?", [sum, key])?;
    }
    let damaged: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM segment s WHERE session = ?1 AND NOT EXISTS
            (SELECT 1 FROM segment_sum m WHERE m.session = ?1 AND m.first_seq = s.first_seq))",
        [key],
        |row| row.get(0),
    )?;
    if !damaged {
        connection.execute("DELETE FROM unsummed WHERE session = ?", [key])?;
    }
    Ok(())
}
