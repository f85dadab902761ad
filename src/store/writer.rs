//! The writer thread: takes everything that is queued, commits it as one transaction, then tells everyone who waits.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::append;
use super::chores::Chores;
use super::codec::Encoder;
use super::database::Place;
use super::error::StoreError;
use super::lease::{self, LeaseKey};
use super::queue::{Append, Job};
use super::upkeep;
use crate::model::Seq;

/// How much one transaction takes from the queue. More would not be faster, only later.
const MOST_ROWS: usize = 16_384;

/// How long the next batch is looked for before the thread goes to sleep. Whoever waited for a commit often has it
/// ready at once, and to be woken costs as much as half a sync.
const SOON: Duration = Duration::from_micros(100);

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
}

impl Writer {
    pub(super) fn new(connection: Connection, place: Place) -> Self {
        let (encoder, chores) = (Encoder::new(), Chores::new());
        Self { connection, place, encoder, chores, health: None, poisoned: HashMap::new() }
    }

    /// Works until it is told to close, or until nobody is left who could tell.
    pub(super) fn work(mut self, inbox: &Receiver<Job>) {
        let mut set_aside = None;
        while let Some(job) = set_aside.take().or_else(|| self.next(inbox)) {
            match job {
                Job::Append(first) => {
                    let (group, next) = collect(*first, inbox);
                    self.commit(group);
                    set_aside = next.or_else(|| soon(inbox));
                }
                Job::Run(work) => work(self.checked()),
                Job::Release(grant) => self.release(&grant),
                Job::Tidy => self.chores.freed(),
                Job::Close => break,
            }
        }
        self.finish();
    }

    /// Waits for a job, and does chores while there is none.
    fn next(&mut self, inbox: &Receiver<Job>) -> Option<Job> {
        loop {
            let Some(pause) = self.chores.pause() else { return inbox.recv().ok() };
            match inbox.recv_timeout(pause) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.do_chore(),
            }
        }
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
        let written =
            append::write(&self.connection, &self.place.database, &mut self.encoder, &group);
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
fn answer(append: Append, outcome: Result<Seq, StoreError>) {
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
