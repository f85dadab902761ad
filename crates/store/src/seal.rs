//! Sealing: repacks the oldest live rows of a session into one compressed row, in one transaction.
//!
//! Any process may seal any session, no matter who writes it: rows never change, and the write lock of the database
//! keeps two processes from packing the same ones.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{PayloadDecoder, PayloadEncoder};
use super::error::{SqliteResultExt, StoreError};
use super::event_id;
use super::journal_scan::decode_live_row;
use super::schema::in_write_transaction;
use super::segment::{self, LEVEL, MAX_RUN_BYTES, MAX_RUN_EVENTS, PackedRun};
use super::session_table::to_signed;
use super::store_types::JournalRow;
use planwright_model::Seq;

const SEALING: &str = "packing old events";

/// How many rows of a session in use stay live: the length of a run, where most reading happens.
const KEPT: usize = MAX_RUN_EVENTS;

/// How much of a session to seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SealExtent {
    /// Only full runs; the newest rows stay live.
    AllButTail,
    /// Everything: nobody is writing to it.
    Whole,
}

/// Packs runs of events. Keeps the compressor's tables, which are large at this level.
pub(super) struct RunSealer {
    encoder: PayloadEncoder,
    decoder: PayloadDecoder,
}

impl RunSealer {
    pub(super) fn new() -> Self {
        Self { encoder: PayloadEncoder::with_level(LEVEL), decoder: PayloadDecoder::default() }
    }

    /// Seals one run, and returns whether there may be another.
    pub(super) fn seal_run(
        &mut self,
        connection: &Connection,
        database: &Path,
        key: i64,
        extent: SealExtent,
    ) -> Result<bool, StoreError> {
        let rows = self.oldest_rows(connection, database, key)?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(false) };
        if extent == SealExtent::AllButTail
            && !has_enough_newer_rows(connection, database, key, last)?
        {
            return Ok(false);
        }
        let (first, last) = (first.seq, last.seq);
        let packed = segment::pack_run(&mut self.encoder, &rows)
            .map_err(|error| StoreError::from_io(SEALING, database, error))?;
        in_write_transaction(connection, database, SEALING, |transaction| {
            replace_rows(transaction, key, first, last, &packed).during(SEALING, database)
        })?;
        Ok(true)
    }

    /// The oldest live rows, as many as fit into a run.
    fn oldest_rows(
        &mut self,
        connection: &Connection,
        database: &Path,
        key: i64,
    ) -> Result<Vec<JournalRow>, StoreError> {
        let (from, to) = event_id::id_range(key);
        let mut statement = connection
            .prepare_cached(
                "SELECT id, at, kind, task, codec, payload, sum FROM live WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
            )
            .during(SEALING, database)?;
        let mut found = statement
            .query(params![from, to, to_signed(MAX_RUN_EVENTS as u64)])
            .during(SEALING, database)?;
        let (mut rows, mut bytes) = (Vec::with_capacity(MAX_RUN_EVENTS), 0);
        while let Some(row) = found.next().during(SEALING, database)? {
            let row = decode_live_row(row, &mut self.decoder, database)?;
            bytes += row.payload.len();
            if bytes > MAX_RUN_BYTES && !rows.is_empty() {
                break;
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Whether a session in use has enough newer rows for this run to be sealed.
fn has_enough_newer_rows(
    connection: &Connection,
    database: &Path,
    key: i64,
    last: &JournalRow,
) -> Result<bool, StoreError> {
    let head = connection
        .prepare_cached("SELECT head_seq FROM session WHERE key = ?")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
        .during(SEALING, database)?;
    Ok(head.is_some_and(|head: i64| head >= to_signed(last.seq.0 + KEPT as u64)))
}

/// Replaces the rows with the packed run, unless another process already did.
fn replace_rows(
    connection: &Connection,
    key: i64,
    first: Seq,
    last: Seq,
    packed: &PackedRun,
) -> rusqlite::Result<()> {
    let oldest: Option<i64> = connection
        .prepare_cached("SELECT min(id) FROM live WHERE id BETWEEN ? AND ?")?
        .query_row(event_id::id_range(key), |row| row.get(0))?;
    let (from, to) = (event_id::compose_id(key, first), event_id::compose_id(key, last));
    if oldest != Some(from) {
        return Ok(());
    }
    packed.insert(connection, key, (to_signed(first.0), to_signed(last.0)))?;
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
) -> Result<Option<(i64, SealExtent)>, StoreError> {
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
                .query_row([event_id::id_range(after).1], |row| {
                    let pid: Option<u32> = row.get(1)?;
                    Ok((row.get(0)?, pid, row.get(2)?, row.get::<_, String>(3)?))
                })
                .optional()
        })
        .during(SEALING, database)?;
    Ok(found.map(|(key, pid, started, host)| {
        let in_use = pid.is_some_and(|pid| super::lease::is_holder_alive(pid, started, &host));
        (key, if in_use { SealExtent::AllButTail } else { SealExtent::Whole })
    }))
}
