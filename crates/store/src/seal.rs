//! Sealing: repacking the oldest live rows of a session into one compressed row, in one transaction.
//!
//! Any process may seal any session, whoever writes it: rows never change, and the write lock of the database keeps two
//! from packing the same ones.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{Decoder, Encoder};
use super::error::{Doing, StoreError};
use super::event_id;
use super::reading::event;
use super::record::Row;
use super::schema::immediate;
use super::segment::{self, LEVEL, Packed, RUN, RUN_BYTES};
use super::sessions::signed;
use planwright_model::Seq;

const SEALING: &str = "packing old events";

/// How many rows of a session in use stay as they are: a run's worth, where most reading happens.
const KEPT: usize = RUN;

/// How much of a session to seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// Whole runs, and the newest rows stay.
    AllButTail,
    /// Everything: nobody writes to it now.
    Whole,
}

/// Packs runs of events. Keeps the compressor's tables, which are large at this level.
pub(super) struct Sealer {
    encoder: Encoder,
    decoder: Decoder,
}

impl Sealer {
    pub(super) fn new() -> Self {
        Self { encoder: Encoder::with_level(LEVEL), decoder: Decoder::default() }
    }

    /// Seals one run, and says whether there may be another.
    pub(super) fn seal(
        &mut self,
        connection: &Connection,
        database: &Path,
        key: i64,
        extent: Extent,
    ) -> Result<bool, StoreError> {
        let rows = self.oldest(connection, database, key)?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(false) };
        if extent == Extent::AllButTail && !followed_by_enough(connection, database, key, last)? {
            return Ok(false);
        }
        let (first, last) = (first.seq, last.seq);
        let packed = segment::pack(&mut self.encoder, &rows)
            .map_err(|error| StoreError::io(SEALING, database, error))?;
        immediate(connection, database, SEALING, |transaction| {
            replace(transaction, key, first, last, &packed).doing(SEALING, database)
        })?;
        Ok(true)
    }

    /// The oldest live rows, as many as make a run.
    fn oldest(
        &mut self,
        connection: &Connection,
        database: &Path,
        key: i64,
    ) -> Result<Vec<Row>, StoreError> {
        let (from, to) = event_id::all(key);
        let mut statement = connection
            .prepare_cached(
                "SELECT id, at, kind, task, codec, payload, sum FROM live WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
            )
            .doing(SEALING, database)?;
        let mut found =
            statement.query(params![from, to, signed(RUN as u64)]).doing(SEALING, database)?;
        let (mut rows, mut bytes) = (Vec::with_capacity(RUN), 0);
        while let Some(row) = found.next().doing(SEALING, database)? {
            let row = event(row, &mut self.decoder, database)?;
            bytes += row.payload.len();
            if bytes > RUN_BYTES && !rows.is_empty() {
                break;
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Whether a session in use has so many newer rows that this run may go.
fn followed_by_enough(
    connection: &Connection,
    database: &Path,
    key: i64,
    last: &Row,
) -> Result<bool, StoreError> {
    let head = connection
        .prepare_cached("SELECT head_seq FROM session WHERE key = ?")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
        .doing(SEALING, database)?;
    Ok(head.is_some_and(|head: i64| head >= signed(last.seq.0 + KEPT as u64)))
}

/// Puts the packed run in the place of its rows, unless someone else did so meanwhile.
fn replace(
    connection: &Connection,
    key: i64,
    first: Seq,
    last: Seq,
    packed: &Packed,
) -> rusqlite::Result<()> {
    let oldest: Option<i64> = connection
        .prepare_cached("SELECT min(id) FROM live WHERE id BETWEEN ? AND ?")?
        .query_row(event_id::all(key), |row| row.get(0))?;
    let (from, to) = (event_id::of(key, first), event_id::of(key, last));
    if oldest != Some(from) {
        return Ok(());
    }
    packed.insert(connection, key, (signed(first.0), signed(last.0)))?;
    connection
        .prepare_cached("DELETE FROM live WHERE id BETWEEN ? AND ?")?
        .execute([from, to])
        .map(drop)
}

/// The next session after `after` that has live rows, and how much of it may be sealed.
pub(super) fn next_unsealed(
    connection: &Connection,
    database: &Path,
    after: i64,
) -> Result<Option<(i64, Extent)>, StoreError> {
    let found = connection
        .prepare_cached(
            "SELECT s.key, l.pid, coalesce(l.started, 0), coalesce(l.host, '')
             FROM session s LEFT JOIN lease l ON l.session = s.key
             WHERE s.key = (SELECT id >> 36 FROM live
                            WHERE id > ? AND EXISTS (SELECT 1 FROM session WHERE key = id >> 36)
                            ORDER BY id LIMIT 1)",
        )
        .and_then(|mut statement| {
            statement
                .query_row([event_id::all(after).1], |row| {
                    let pid: Option<u32> = row.get(1)?;
                    Ok((row.get(0)?, pid, row.get(2)?, row.get::<_, String>(3)?))
                })
                .optional()
        })
        .doing(SEALING, database)?;
    Ok(found.map(|(key, pid, started, host)| {
        let in_use = pid.is_some_and(|pid| super::lease::is_alive(pid, started, &host));
        (key, if in_use { Extent::AllButTail } else { Extent::Whole })
    }))
}
