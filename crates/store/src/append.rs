//! The append transaction: checks lease and sequence, writes rows, checkpoints and summaries of many batches at once.

use std::collections::btree_map::{BTreeMap, Entry};
use std::path::Path;
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::checksum::live_checksum;
use super::codec::{Encoder, ZSTD};
use super::error::{Doing, StoreError};
use super::event_id;
use super::lease::LeaseKey;
use super::queue::Append;
use super::record::{Batch, Row, SessionSummary};
use super::schema::Writing;
use super::sessions::signed;
use super::time::micros_now;
use planwright_model::{Seq, SessionId};

pub(super) const APPENDING: &str = "writing to the journal";

/// What one transaction knows of a session it writes to.
struct Tail<'a> {
    epoch: i64,
    head: Seq,
    summary: Option<&'a SessionSummary>,
    /// Why an earlier batch of this transaction was refused; later ones must not slip in behind it.
    refused: Option<Arc<StoreError>>,
}

impl Tail<'_> {
    fn check(&self, lease: &LeaseKey, rows: &[Row]) -> Result<(), StoreError> {
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

type Tails<'a> = BTreeMap<i64, Tail<'a>>;

/// Writes a group of batches in one transaction and commits it.
///
/// The outer error means that nothing was kept. An inner one refuses a single batch, of which nothing was written, and
/// leaves the others alone.
pub(super) fn write(
    transaction: Writing<'_>,
    database: &Path,
    encoder: &mut Encoder,
    group: &[Append],
) -> Result<Vec<Result<Seq, StoreError>>, StoreError> {
    let mut work = Work { transaction: &transaction, database, encoder };
    let mut tails = Tails::new();
    let mut outcomes = Vec::with_capacity(group.len());
    for append in group {
        outcomes.push(match work.admit(&mut tails, append)? {
            Ok(()) => Ok(work.write(&mut tails, append)?),
            Err(refusal) => Err(refusal),
        });
    }
    work.sum_up(&tails)?;
    transaction.commit().doing(APPENDING, database)?;
    Ok(outcomes)
}

/// Writes the first batch of a session in the transaction that makes it. `head` is the event before its first own one.
pub(super) fn write_first(
    transaction: &Writing<'_>,
    database: &Path,
    (id, key, head): (&SessionId, i64, Seq),
    batch: &Batch,
) -> Result<(), StoreError> {
    check_sequence(id, head, &batch.rows)?;
    let mut work = Work { transaction, database, encoder: &mut Encoder::new() };
    work.insert_rows(key, &batch.rows)?;
    let head = batch.rows.last().map_or(head, |row| row.seq);
    work.insert_beside(key, head, batch)?;
    let summary = batch.summary.as_ref();
    super::sessions::write_head(transaction, key, head, micros_now(), summary)
        .doing(APPENDING, database)
}

/// Checks that rows continue a journal without a gap.
fn check_sequence(session: &SessionId, head: Seq, rows: &[Row]) -> Result<(), StoreError> {
    let mut expected = head.next();
    for row in rows {
        if row.seq != expected {
            return Err(StoreError::Gap { session: session.clone(), expected, found: row.seq });
        }
        expected = expected.next();
    }
    Ok(())
}

struct Work<'a> {
    transaction: &'a Writing<'a>,
    database: &'a Path,
    encoder: &'a mut Encoder,
}

impl Work<'_> {
    /// Checks that the lease is still ours and that the rows continue the journal without a gap.
    fn admit(
        &self,
        tails: &mut Tails<'_>,
        append: &Append,
    ) -> Result<Result<(), StoreError>, StoreError> {
        let lease = &*append.session;
        let tail = match tails.entry(lease.key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match self.tail(lease)? {
                Some(tail) => place.insert(tail),
                None => return Ok(Err(StoreError::NoSession { session: lease.id.clone() })),
            },
        };
        let checked = tail.check(lease, &append.batch.rows);
        if let (Err(error), None) = (&checked, &tail.refused) {
            tail.refused = Some(Arc::new(error.clone()));
        }
        Ok(checked)
    }

    fn tail<'b>(&self, lease: &LeaseKey) -> Result<Option<Tail<'b>>, StoreError> {
        self.transaction
            .prepare_cached(
                "SELECT epoch, head_seq FROM session JOIN lease ON session = key WHERE key = ?",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([lease.key], |row| {
                        let head = Seq(row.get::<_, i64>(1)?.cast_unsigned());
                        Ok(Tail { epoch: row.get(0)?, head, summary: None, refused: None })
                    })
                    .optional()
            })
            .doing(APPENDING, self.database)
    }

    /// Writes one admitted batch and returns the new head.
    fn write<'b>(&mut self, tails: &mut Tails<'b>, append: &'b Append) -> Result<Seq, StoreError> {
        let (key, batch) = (append.session.key, &append.batch);
        self.insert_rows(key, &batch.rows)?;
        let tail = tails.get_mut(&key).expect("an admitted session has its tail in the map");
        tail.head = batch.rows.last().map_or(tail.head, |row| row.seq);
        tail.summary = batch.summary.as_ref().or(tail.summary);
        let head = tail.head;
        self.insert_beside(key, head, batch)?;
        Ok(head)
    }

    /// Writes what a batch holds beside its rows.
    fn insert_beside(&mut self, key: i64, head: Seq, batch: &Batch) -> Result<(), StoreError> {
        if let Some(checkpoint) = &batch.checkpoint {
            self.insert_checkpoint(key, head, checkpoint)?;
        }
        for write in &batch.side {
            super::side::apply(self.transaction, self.database, self.encoder, write)?;
        }
        Ok(())
    }

    fn insert_rows(&mut self, key: i64, rows: &[Row]) -> Result<(), StoreError> {
        let mut insert = self
            .transaction
            .prepare_cached(
                "INSERT INTO live (id, at, kind, task, codec, payload, sum) VALUES (?, ?, ?, ?, ?, ?, ?)",
            )
            .doing(APPENDING, self.database)?;
        for row in rows {
            let (codec, payload) = encode(self.encoder, self.database, &row.payload)?;
            let (id, at) = (event_id::of(key, row.seq), row.at.as_microsecond());
            let task = row.task.as_deref();
            let sum = live_checksum((id, at, codec), &row.kind, task, &payload);
            insert
                .execute(params![id, at, row.kind, task, codec, payload, sum])
                .doing(APPENDING, self.database)?;
        }
        Ok(())
    }

    fn insert_checkpoint(&mut self, key: i64, at: Seq, state: &[u8]) -> Result<(), StoreError> {
        // Compressed even where that gains nothing: the frame has a checksum.
        let payload = self.encoder.frame(state).map_err(|error| {
            StoreError::io("compressing a checkpoint for", self.database, error)
        })?;
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO checkpoint (session, seq, codec, payload) VALUES (?, ?, ?, ?)",
            )
            .and_then(|mut statement| {
                statement.execute(params![key, signed(at.0), ZSTD, payload])
            })
            .doing(APPENDING, self.database)
            .map(drop)
    }

    /// Writes head and summary of every session once, however many batches it had.
    fn sum_up(&self, tails: &Tails<'_>) -> Result<(), StoreError> {
        let now = micros_now();
        for (key, tail) in tails {
            super::sessions::write_head(self.transaction, *key, tail.head, now, tail.summary)
                .doing(APPENDING, self.database)?;
        }
        Ok(())
    }
}

fn encode<'a>(
    encoder: &mut Encoder,
    database: &Path,
    payload: &'a [u8],
) -> Result<(i64, std::borrow::Cow<'a, [u8]>), StoreError> {
    encoder
        .encode(payload)
        .map_err(|error| StoreError::io("compressing an event for", database, error))
}
