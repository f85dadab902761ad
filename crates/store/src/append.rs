//! The append transaction: checks lease and sequence, and writes rows, checkpoints and summaries of many batches at
//! once.

use std::collections::btree_map::{BTreeMap, Entry};
use std::path::Path;
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::checksum::live_checksum;
use super::codec::{PayloadEncoder, ZSTD};
use super::error::{SqliteResultExt, StoreError};
use super::event_id;
use super::lease::LeaseKey;
use super::schema::WriteTransaction;
use super::session_table::to_signed;
use super::store_types::{JournalBatch, JournalRow, SessionSummary};
use super::time::micros_now;
use super::writer_queue::QueuedAppend;
use planwright_model::{Seq, SessionId};

pub(super) const APPENDING: &str = "writing to the journal";

/// What one transaction tracks about a session it writes to.
struct SessionTail<'a> {
    epoch: i64,
    head: Seq,
    summary: Option<&'a SessionSummary>,
    /// Why an earlier batch of this transaction was rejected; later ones must not be written after it.
    refused: Option<Arc<StoreError>>,
}

impl SessionTail<'_> {
    fn check_append(&self, lease: &LeaseKey, rows: &[JournalRow]) -> Result<(), StoreError> {
        let session = lease.id.clone();
        if let Some(source) = &self.refused {
            return Err(StoreError::Poisoned { session, source: Arc::clone(source) });
        }
        if self.epoch != lease.epoch {
            return Err(StoreError::Fenced { session });
        }
        check_sequence(&session, self.head, rows)
    }
}

type SessionTails<'a> = BTreeMap<i64, SessionTail<'a>>;

/// Writes a group of batches in one transaction and commits it.
///
/// The outer error means that nothing was written. An inner one rejects a single batch, of which nothing was written,
/// and does not affect the others.
pub(super) fn write_batches(
    transaction: WriteTransaction<'_>,
    database: &Path,
    encoder: &mut PayloadEncoder,
    group: &[QueuedAppend],
) -> Result<Vec<Result<Seq, StoreError>>, StoreError> {
    let mut work = AppendTransaction { transaction: &transaction, database, encoder };
    let mut tails = SessionTails::new();
    let mut outcomes = Vec::with_capacity(group.len());
    for append in group {
        outcomes.push(match work.admit_append(&mut tails, append)? {
            Ok(()) => Ok(work.write_batch(&mut tails, append)?),
            Err(refusal) => Err(refusal),
        });
    }
    work.write_heads(&tails)?;
    transaction.commit().during(APPENDING, database)?;
    Ok(outcomes)
}

/// Writes the first batch of a session in the transaction that creates it. `head` is the event before its first own
/// one.
pub(super) fn write_first_batch(
    transaction: &WriteTransaction<'_>,
    database: &Path,
    (id, key, head): (&SessionId, i64, Seq),
    batch: &JournalBatch,
) -> Result<(), StoreError> {
    check_sequence(id, head, &batch.rows)?;
    let mut work = AppendTransaction { transaction, database, encoder: &mut PayloadEncoder::new() };
    work.insert_rows(key, &batch.rows)?;
    let head = batch.rows.last().map_or(head, |row| row.seq);
    work.insert_batch_extras(key, head, batch)?;
    let summary = batch.summary.as_ref();
    super::session_table::write_head(transaction, key, head, micros_now(), summary)
        .during(APPENDING, database)
}

/// Checks that rows continue a journal without a gap.
fn check_sequence(session: &SessionId, head: Seq, rows: &[JournalRow]) -> Result<(), StoreError> {
    let mut expected = head.next();
    for row in rows {
        if row.seq != expected {
            return Err(StoreError::Gap { session: session.clone(), expected, found: row.seq });
        }
        expected = expected.next();
    }
    Ok(())
}

struct AppendTransaction<'a> {
    transaction: &'a WriteTransaction<'a>,
    database: &'a Path,
    encoder: &'a mut PayloadEncoder,
}

impl AppendTransaction<'_> {
    /// Checks that we still hold the lease and that the rows continue the journal without a gap.
    fn admit_append(
        &self,
        tails: &mut SessionTails<'_>,
        append: &QueuedAppend,
    ) -> Result<Result<(), StoreError>, StoreError> {
        let lease = &*append.session;
        let tail = match tails.entry(lease.key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => match self.read_tail(lease)? {
                Some(tail) => vacant.insert(tail),
                None => return Ok(Err(StoreError::NoSession { session: lease.id.clone() })),
            },
        };
        let checked = tail.check_append(lease, &append.batch.rows);
        if let (Err(error), None) = (&checked, &tail.refused) {
            tail.refused = Some(Arc::new(error.clone()));
        }
        Ok(checked)
    }

    fn read_tail<'b>(&self, lease: &LeaseKey) -> Result<Option<SessionTail<'b>>, StoreError> {
        self.transaction
            .prepare_cached(
                "SELECT epoch, head_seq FROM session JOIN lease ON session = key WHERE key = ?",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([lease.key], |row| {
                        let head = Seq(row.get::<_, i64>(1)?.cast_unsigned());
                        Ok(SessionTail { epoch: row.get(0)?, head, summary: None, refused: None })
                    })
                    .optional()
            })
            .during(APPENDING, self.database)
    }

    /// Writes one admitted batch and returns the new head.
    fn write_batch<'b>(
        &mut self,
        tails: &mut SessionTails<'b>,
        append: &'b QueuedAppend,
    ) -> Result<Seq, StoreError> {
        let (key, batch) = (append.session.key, &append.batch);
        self.insert_rows(key, &batch.rows)?;
        let tail = tails.get_mut(&key).expect("an admitted session has its tail in the map");
        tail.head = batch.rows.last().map_or(tail.head, |row| row.seq);
        tail.summary = batch.summary.as_ref().or(tail.summary);
        let head = tail.head;
        self.insert_batch_extras(key, head, batch)?;
        Ok(head)
    }

    /// Writes everything a batch contains besides its rows.
    fn insert_batch_extras(
        &mut self,
        key: i64,
        head: Seq,
        batch: &JournalBatch,
    ) -> Result<(), StoreError> {
        if let Some(checkpoint) = &batch.checkpoint {
            self.insert_checkpoint(key, head, checkpoint)?;
        }
        for write in &batch.side {
            super::side_tables::apply_side_write(
                self.transaction,
                self.database,
                self.encoder,
                write,
            )?;
        }
        Ok(())
    }

    fn insert_rows(&mut self, key: i64, rows: &[JournalRow]) -> Result<(), StoreError> {
        let mut insert = self
            .transaction
            .prepare_cached(
                "INSERT INTO live (id, at, kind, task, codec, payload, sum) VALUES (?, ?, ?, ?, ?, ?, ?)",
            )
            .during(APPENDING, self.database)?;
        for row in rows {
            let (codec, payload) = encode_payload(self.encoder, self.database, &row.payload)?;
            let (id, at) = (event_id::compose_id(key, row.seq), row.at.as_microsecond());
            let task = row.task.as_deref();
            let sum = live_checksum((id, at, codec), &row.kind, task, &payload);
            insert
                .execute(params![id, at, row.kind, task, codec, payload, sum])
                .during(APPENDING, self.database)?;
        }
        Ok(())
    }

    fn insert_checkpoint(&mut self, key: i64, at: Seq, state: &[u8]) -> Result<(), StoreError> {
        // Compressed even if that saves nothing: the frame has a checksum.
        let payload = self.encoder.compress_frame(state).map_err(|error| {
            StoreError::from_io("compressing a checkpoint for", self.database, error)
        })?;
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO checkpoint (session, seq, codec, payload) VALUES (?, ?, ?, ?)",
            )
            .and_then(|mut statement| {
                statement.execute(params![key, to_signed(at.0), ZSTD, payload])
            })
            .during(APPENDING, self.database)
            .map(drop)
    }

    /// Writes head and summary of every session once, even if it had several batches.
    fn write_heads(&self, tails: &SessionTails<'_>) -> Result<(), StoreError> {
        let now = micros_now();
        for (key, tail) in tails {
            super::session_table::write_head(self.transaction, *key, tail.head, now, tail.summary)
                .during(APPENDING, self.database)?;
        }
        Ok(())
    }
}

fn encode_payload<'a>(
    encoder: &mut PayloadEncoder,
    database: &Path,
    payload: &'a [u8],
) -> Result<(i64, std::borrow::Cow<'a, [u8]>), StoreError> {
    encoder
        .encode(payload)
        .map_err(|error| StoreError::from_io("compressing an event for", database, error))
}
