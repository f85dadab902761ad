//! The writer: commits everything queued as one transaction, then answers everyone who waits.
//!
//! A dedicated thread processes the queue. A caller that has nothing else to do until a batch is durable commits it on
//! its own thread instead, if the writer is free: that saves waking two threads.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::append::{self, APPENDING};
use super::codec::PayloadEncoder;
use super::database::StorePaths;
use super::error::StoreError;
use super::lease::{self, LeaseKey};
use super::maintenance::StoreMaintenance;
use super::schema;
use super::session_removal;
use super::writer_queue::{QueuedAppend, WriterJob};
use planwright_model::Seq;

/// How many rows one transaction takes from the queue. More would not be faster, only delay the answers.
const MOST_ROWS: usize = 16_384;

/// How long to poll for the next batch before the thread sleeps. A caller that waited for a commit often has the next
/// batch ready immediately, and a wakeup costs as much as half a sync.
const NEXT_JOB_SPIN: Duration = Duration::from_micros(100);

/// The result of one batch: the new head of its session.
type AppendOutcome = Result<Seq, StoreError>;

/// Owns the only connection that writes.
pub(super) struct JournalWriter {
    connection: Connection,
    paths: StorePaths,
    encoder: PayloadEncoder,
    maintenance: StoreMaintenance,
    /// The result of the check before the first write, once it was made.
    health: Option<Result<(), StoreError>>,
    /// Sessions whose last write failed, with the epoch in which it failed. A new lease starts clean.
    poisoned: HashMap<i64, (i64, Arc<StoreError>)>,
    /// Groups committed so far, by any thread.
    commits: u64,
}

impl std::fmt::Debug for JournalWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("JournalWriter").field("paths", &self.paths).finish_non_exhaustive()
    }
}

/// The writer, shared with callers that commit on their own thread; `None` once the store is closed.
pub(super) type SharedWriter = Mutex<Option<JournalWriter>>;

/// Processes the queue until it receives `Close`, or until all senders are gone.
pub(super) fn run_writer(shared: &SharedWriter, inbox: &Receiver<WriterJob>) {
    // At most one job is set aside: the one that ended a group. It is processed before the queue, so the order of jobs
    // is kept.
    let mut set_aside = None;
    while let Some(job) = set_aside.take().or_else(|| next_job(shared, inbox)) {
        let mut guard = lock_writer(shared);
        let Some(writer) = guard.as_mut() else { return };
        match job {
            WriterJob::Append(first) => {
                let (group, next) = collect_appends(*first, inbox);
                writer.commit_group(group);
                // Unlocked before polling, so that a caller can commit on its own thread in the meantime.
                drop(guard);
                set_aside = next.or_else(|| poll_next_job(inbox));
            }
            WriterJob::Run(work) => work(writer.checked_connection()),
            WriterJob::Release(grant) => writer.release_lease(&grant),
            WriterJob::ReclaimSpace => writer.maintenance.note_freed_space(),
            WriterJob::WakeMaintenance => {}
            WriterJob::Close => break,
        }
    }
    if let Some(writer) = lock_writer(shared).take() {
        writer.finish();
    }
}

/// Waits for a job, and does maintenance while there is none.
fn next_job(shared: &SharedWriter, inbox: &Receiver<WriterJob>) -> Option<WriterJob> {
    loop {
        let (pause, before) = lock_writer(shared)
            .as_mut()
            .map(|writer| (writer.maintenance.pause_before_next(), writer.commits))?;
        let Some(pause) = pause else { return inbox.recv().ok() };
        match inbox.recv_timeout(pause) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                let mut guard = lock_writer(shared);
                let writer = guard.as_mut()?;
                // The store was not idle if others committed on their own threads.
                if writer.commits == before {
                    writer.run_maintenance();
                }
            }
        }
    }
}

/// A panic while the writer was locked ends it: its state is unknown.
fn lock_writer(shared: &SharedWriter) -> MutexGuard<'_, Option<JournalWriter>> {
    shared.lock().unwrap_or_else(|poisoned| {
        let mut guard = PoisonError::into_inner(poisoned);
        *guard = None;
        guard
    })
}

impl JournalWriter {
    pub(super) fn new(connection: Connection, paths: StorePaths) -> Self {
        let (encoder, maintenance) = (PayloadEncoder::new(), StoreMaintenance::new());
        Self {
            connection,
            paths,
            encoder,
            maintenance,
            health: None,
            poisoned: HashMap::new(),
            commits: 0,
        }
    }

    /// Whether there is maintenance to do.
    pub(super) fn has_maintenance(&self) -> bool {
        self.maintenance.has_pending()
    }

    fn run_maintenance(&mut self) {
        if self.checked_connection().is_ok() {
            self.maintenance.run_step(&self.connection, &self.paths);
        } else {
            self.maintenance.abandon_all();
        }
    }

    /// The connection, unless the file is damaged. Every append is preceded by acquiring a lease, which calls this;
    /// reading a store needs no check.
    fn checked_connection(&mut self) -> Result<&Connection, StoreError> {
        let health = self.health.get_or_insert_with(|| {
            session_removal::check_before_writing(&self.connection, &self.paths.database)
        });
        health.clone().map(|()| &self.connection)
    }

    /// Commits a group of batches and answers each of them.
    fn commit_group(&mut self, group: Vec<QueuedAppend>) {
        let (poisoned_appends, group): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|append| self.poison_cause(&append.session).is_some());
        for append in poisoned_appends {
            let error = self.refusal_error(&append.session);
            tracing::warn!(%error, "a batch is refused");
            answer_append(append, Err(error));
        }
        if group.is_empty() {
            return;
        }
        let written = schema::begin_write(&self.connection, &self.paths.database, APPENDING)
            .and_then(|transaction| {
                append::write_batches(transaction, &self.paths.database, &mut self.encoder, &group)
            });
        self.answer_group(group, written);
    }

    /// Commits one batch and answers it, unless it would have to wait: then the batch is returned.
    pub(super) fn try_commit_now(&mut self, append: QueuedAppend) -> Result<(), QueuedAppend> {
        if self.poison_cause(&append.session).is_some() {
            return Err(append);
        }
        let Some(transaction) = schema::try_begin_write(&self.connection) else {
            return Err(append);
        };
        let group = vec![append];
        let written =
            append::write_batches(transaction, &self.paths.database, &mut self.encoder, &group);
        self.answer_group(group, written);
        Ok(())
    }

    /// Answers each batch with its result.
    fn answer_group(
        &mut self,
        group: Vec<QueuedAppend>,
        written: Result<Vec<AppendOutcome>, StoreError>,
    ) {
        self.commits += 1;
        let outcomes = written.unwrap_or_else(|error| vec![Err(error); group.len()]);
        for (append, outcome) in group.into_iter().zip(outcomes) {
            match &outcome {
                Ok(_) => {
                    self.maintenance.note_appended(append.session.key, append.batch.rows.len());
                }
                Err(error) => {
                    tracing::error!(session = %append.session.id, %error, "a batch was not written");
                    self.poison_session(&append.session, error);
                }
            }
            answer_append(append, outcome);
        }
    }

    /// A failed write ends the session for this lease: later events would depend on ones that were never stored.
    fn poison_session(&mut self, session: &LeaseKey, error: &StoreError) {
        if self.poison_cause(session).is_none() {
            self.poisoned.insert(session.key, (session.epoch, Arc::new(error.clone())));
        }
    }

    fn poison_cause(&self, session: &LeaseKey) -> Option<&Arc<StoreError>> {
        let (epoch, source) = self.poisoned.get(&session.key)?;
        (*epoch == session.epoch).then_some(source)
    }

    fn refusal_error(&self, session: &LeaseKey) -> StoreError {
        match self.poison_cause(session) {
            Some(source) => {
                StoreError::Poisoned { session: session.id.clone(), source: Arc::clone(source) }
            }
            None => StoreError::Closed,
        }
    }

    fn release_lease(&mut self, grant: &lease::LeaseGrant) {
        self.poisoned.remove(&grant.to.key);
        // The row only names the holder; if it cannot be cleared, the freed lock still says that nobody writes.
        let released = lease::release_lease(&self.connection, &self.paths.database, grant);
        if let Err(error) = released {
            tracing::debug!(%error, "the holder of a session cannot be cleared");
        }
        self.maintenance.note_released(grant.to.key);
    }

    /// Checkpoints the log into the database if nobody is reading it; otherwise the next process to close does.
    fn finish(mut self) {
        self.maintenance.finish_before_close(&self.connection, &self.paths);
        let moved = self.connection.busy_timeout(Duration::ZERO).and_then(|()| {
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
        if let Err(error) = moved {
            tracing::debug!(%error, "the write-ahead log stays for the next one to close");
        }
    }
}

/// Sends the result. The receiver may be gone, which does not affect the commit.
fn answer_append(append: QueuedAppend, outcome: AppendOutcome) {
    let _ = append.reply.send(outcome);
}

/// The next job, if it arrives almost immediately. Yields, so that the thread that produces it can run.
fn poll_next_job(inbox: &Receiver<WriterJob>) -> Option<WriterJob> {
    let begin = Instant::now();
    loop {
        match inbox.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Empty) if begin.elapsed() < NEXT_JOB_SPIN => std::thread::yield_now(),
            Err(_) => return None,
        }
    }
}

/// Takes the appends that are already waiting. Any other job ends the group and is processed after it.
fn collect_appends(
    first: QueuedAppend,
    inbox: &Receiver<WriterJob>,
) -> (Vec<QueuedAppend>, Option<WriterJob>) {
    let mut rows = first.batch.rows.len();
    let mut group = vec![first];
    while rows < MOST_ROWS {
        match inbox.try_recv() {
            Ok(WriterJob::Append(append)) => {
                rows += append.batch.rows.len();
                group.push(*append);
            }
            Ok(other) => return (group, Some(other)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    (group, None)
}
