//! The writer: commits everything that is queued as one transaction, then tells everyone who waits.
//!
//! A thread of its own works through the queue. Whoever has nothing else to do until a batch is durable commits it on its
//! own thread instead, if the writer is free: two threads need not be woken for that.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::append::{self, APPENDING};
use super::chores::Chores;
use super::codec::Encoder;
use super::database::Place;
use super::error::StoreError;
use super::lease::{self, LeaseKey};
use super::queue::{Append, Job};
use super::schema;
use super::upkeep;
use planwright_model::Seq;

/// How much one transaction takes from the queue. More would not be faster, only later.
const MOST_ROWS: usize = 16_384;

/// How long the next batch is looked for before the thread goes to sleep. Whoever waited for a commit often has it
/// ready at once, and to be woken costs as much as half a sync.
const SOON: Duration = Duration::from_micros(100);

/// What became of one batch: the new head of its session.
type Outcome = Result<Seq, StoreError>;

/// Owns the only connection that writes.
pub(super) struct Writer {
    connection: Connection,
    place: Place,
    encoder: Encoder,
    chores: Chores,
    /// What the check before the first write found, once it was made.
    health: Option<Result<(), StoreError>>,
    /// Sessions whose last write failed, with the epoch it failed in. A new lease starts clean.
    poisoned: HashMap<i64, (i64, Arc<StoreError>)>,
    /// Groups committed so far, by whichever thread.
    commits: u64,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Writer").field("place", &self.place).finish_non_exhaustive()
    }
}

/// The writer and everyone who may use it; empty once the store is closed.
pub(super) type Shared = Mutex<Option<Writer>>;

/// Works through the queue until it is told to close, or until nobody is left who could tell.
pub(super) fn work(shared: &Shared, inbox: &Receiver<Job>) {
    let mut set_aside = None;
    while let Some(job) = set_aside.take().or_else(|| next(shared, inbox)) {
        let mut guard = lock(shared);
        let Some(writer) = guard.as_mut() else { return };
        match job {
            Job::Append(first) => {
                let (group, next) = collect(*first, inbox);
                writer.commit(group);
                drop(guard);
                set_aside = next.or_else(|| soon(inbox));
            }
            Job::Run(work) => work(writer.checked()),
            Job::Release(grant) => writer.release(&grant),
            Job::Tidy => writer.chores.freed(),
            Job::Look => {}
            Job::Close => break,
        }
    }
    if let Some(writer) = lock(shared).take() {
        writer.finish();
    }
}

/// Waits for a job, and does chores while there is none.
fn next(shared: &Shared, inbox: &Receiver<Job>) -> Option<Job> {
    loop {
        let (pause, before) =
            lock(shared).as_mut().map(|writer| (writer.chores.pause(), writer.commits))?;
        let Some(pause) = pause else { return inbox.recv().ok() };
        match inbox.recv_timeout(pause) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                let mut guard = lock(shared);
                let writer = guard.as_mut()?;
                // It was not quiet where others committed on their own threads.
                if writer.commits == before {
                    writer.do_chore();
                }
            }
        }
    }
}

/// A panic while somebody held the writer has ended it: nobody knows how far it had come.
fn lock(shared: &Shared) -> MutexGuard<'_, Option<Writer>> {
    shared.lock().unwrap_or_else(|poisoned| {
        let mut guard = PoisonError::into_inner(poisoned);
        *guard = None;
        guard
    })
}

impl Writer {
    pub(super) fn new(connection: Connection, place: Place) -> Self {
        let (encoder, chores) = (Encoder::new(), Chores::new());
        Self {
            connection,
            place,
            encoder,
            chores,
            health: None,
            poisoned: HashMap::new(),
            commits: 0,
        }
    }

    /// Whether there is a chore to do when nobody wants anything.
    pub(super) fn has_chores(&self) -> bool {
        self.chores.are_waiting()
    }

    fn do_chore(&mut self) {
        if self.checked().is_ok() {
            self.chores.do_one(&self.connection, &self.place);
        } else {
            self.chores.give_up();
        }
    }

    /// The connection, unless the file is damaged. Every append is preceded by taking a lease, which asks here; to read
    /// a store costs no check.
    fn checked(&mut self) -> Result<&Connection, StoreError> {
        let health = self
            .health
            .get_or_insert_with(|| upkeep::before_writing(&self.connection, &self.place.database));
        health.clone().map(|()| &self.connection)
    }

    /// Commits a group of batches and answers each of them.
    fn commit(&mut self, group: Vec<Append>) {
        let (doomed, group): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|append| self.poison(&append.session).is_some());
        for append in doomed {
            let error = self.refusal(&append.session);
            answer(append, Err(error));
        }
        if group.is_empty() {
            return;
        }
        let written = schema::begin(&self.connection, &self.place.database, APPENDING).and_then(
            |transaction| {
                append::write(transaction, &self.place.database, &mut self.encoder, &group)
            },
        );
        self.settle(group, written);
    }

    /// Commits one batch and answers it, unless there is somebody to wait for: then it is given back.
    pub(super) fn commit_at_once(&mut self, append: Append) -> Result<(), Append> {
        if self.poison(&append.session).is_some() {
            return Err(append);
        }
        let Some(transaction) = schema::begin_at_once(&self.connection) else {
            return Err(append);
        };
        let group = vec![append];
        let written = append::write(transaction, &self.place.database, &mut self.encoder, &group);
        self.settle(group, written);
        Ok(())
    }

    /// Answers what was written, or says why it was not.
    fn settle(&mut self, group: Vec<Append>, written: Result<Vec<Outcome>, StoreError>) {
        self.commits += 1;
        let outcomes = written.unwrap_or_else(|error| vec![Err(error); group.len()]);
        for (append, outcome) in group.into_iter().zip(outcomes) {
            match &outcome {
                Ok(_) => self.chores.appended(append.session.key, append.batch.rows.len()),
                Err(error) => self.stop(&append.session, error),
            }
            answer(append, outcome);
        }
    }

    /// A failed write ends the session for this lease: what was said after it would rest on what was never kept.
    fn stop(&mut self, session: &LeaseKey, error: &StoreError) {
        if self.poison(session).is_none() {
            self.poisoned.insert(session.key, (session.epoch, Arc::new(error.clone())));
        }
    }

    fn poison(&self, session: &LeaseKey) -> Option<&Arc<StoreError>> {
        let (epoch, source) = self.poisoned.get(&session.key)?;
        (*epoch == session.epoch).then_some(source)
    }

    fn refusal(&self, session: &LeaseKey) -> StoreError {
        match self.poison(session) {
            Some(source) => {
                StoreError::Poisoned { session: session.id.clone(), source: Arc::clone(source) }
            }
            None => StoreError::Closed,
        }
    }

    fn release(&mut self, grant: &lease::Grant) {
        self.poisoned.remove(&grant.to.key);
        // The row only names the holder; if it cannot be cleared, the freed lock still says that nobody writes.
        let _ = lease::release(&self.connection, &self.place.database, grant);
        self.chores.released(grant.to.key);
    }

    /// Moves the log into the database if nobody is reading it; otherwise the next one to close does.
    fn finish(mut self) {
        self.chores.finish(&self.connection, &self.place);
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// Tells whoever waits. Nobody may, which changes nothing about the commit.
fn answer(append: Append, outcome: Outcome) {
    let _ = append.reply.send(outcome);
}

/// The job that comes at once, if one does; others may have the processor meanwhile.
fn soon(inbox: &Receiver<Job>) -> Option<Job> {
    let begin = Instant::now();
    loop {
        match inbox.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Empty) if begin.elapsed() < SOON => std::thread::yield_now(),
            Err(_) => return None,
        }
    }
}

/// Takes the appends that are waiting already. Anything else ends the group and is done after it.
fn collect(first: Append, inbox: &Receiver<Job>) -> (Vec<Append>, Option<Job>) {
    let mut rows = first.batch.rows.len();
    let mut group = vec![first];
    while rows < MOST_ROWS {
        match inbox.try_recv() {
            Ok(Job::Append(append)) => {
                rows += append.batch.rows.len();
                group.push(*append);
            }
            Ok(other) => return (group, Some(other)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    (group, None)
}
