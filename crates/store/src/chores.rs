//! What the writer thread does when nobody wants anything: sealing, finishing removals, giving space back.
//!
//! Chores are done in small pieces, each its own transaction, so that an append waits for one piece at most. A chore
//! that fails is given up until the next start: nothing depends on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::database::Place;
use super::error::{Doing, StoreError};
use super::index::{Indexer, next_unindexed};
use super::queue::{Job, Queue};
use super::schema::number;
use super::seal::{Extent, Sealer, next_unsealed};
use super::segment::RUN;
use super::upkeep;
use super::verify::{next_unsummed, sum_some};
use planwright_model::SessionId;

/// How long nothing must have happened before a chore is begun, and before old business is looked for at all.
const QUIET: Duration = Duration::from_millis(20);
const VERY_QUIET: Duration = Duration::from_millis(500);

/// Between two pieces, so that other processes get at the write lock.
const BREATH: Duration = Duration::from_millis(2);

/// What closing may spend on chores: a person waits for it.
const CLOSING_TIME: Duration = Duration::from_millis(200);

pub(super) struct Chores {
    sealer: Sealer,
    seal: BTreeMap<i64, Extent>,
    /// Sessions with sealed runs that may not be indexed yet.
    index: BTreeSet<i64>,
    indexer: Option<Indexer>,
    /// Rows since a session was last looked at.
    appended: HashMap<i64, usize>,
    survey: Survey,
    vacuum: bool,
    in_a_row: bool,
}

/// The search for what earlier runs of the program left undone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Survey {
    Removals,
    /// Sessions up to this key have been seen.
    Tails(i64),
    /// Of the sealed ones, those up to this key have been seen.
    Unindexed(i64),
    /// Of the sessions written without checksums, those up to this key have been seen.
    Unsummed(i64),
    Done,
}

impl Chores {
    pub(super) fn new() -> Self {
        Self {
            sealer: Sealer::new(),
            seal: BTreeMap::new(),
            index: BTreeSet::new(),
            indexer: None,
            appended: HashMap::new(),
            survey: Survey::Removals,
            vacuum: false,
            in_a_row: false,
        }
    }

    /// A session has new rows.
    pub(super) fn appended(&mut self, key: i64, rows: usize) {
        let waiting = self.appended.entry(key).or_default();
        *waiting += rows;
        if *waiting >= RUN {
            *waiting = 0;
            self.plan(key, Extent::AllButTail);
        }
    }

    /// Nobody writes to a session any more.
    pub(super) fn released(&mut self, key: i64) {
        self.appended.remove(&key);
        self.plan(key, Extent::Whole);
    }

    /// Rows were deleted.
    pub(super) fn freed(&mut self) {
        self.vacuum = true;
    }

    /// Leaves everything as it is.
    pub(super) fn give_up(&mut self) {
        self.seal.clear();
        self.index.clear();
        (self.vacuum, self.survey) = (false, Survey::Done);
    }

    fn plan(&mut self, key: i64, extent: Extent) {
        let planned = self.seal.entry(key).or_insert(extent);
        *planned = extent.max(*planned);
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.seal.is_empty() || !self.index.is_empty() || self.vacuum
    }

    /// How long to wait for work before the next chore, if there is one.
    pub(super) fn pause(&mut self) -> Option<Duration> {
        if std::mem::take(&mut self.in_a_row) {
            return Some(BREATH);
        }
        match (self.are_waiting(), self.survey) {
            (false, Survey::Done) => None,
            (false, _) => Some(VERY_QUIET),
            (true, _) => Some(QUIET),
        }
    }

    /// Does one piece of one chore.
    pub(super) fn do_one(&mut self, connection: &Connection, place: &Place) {
        let done = match self.seal.first_key_value() {
            Some((&key, &extent)) => self.seal_one(connection, place, key, extent),
            None if !self.index.is_empty() => self.index_one(connection, place),
            None if self.vacuum => self.give_back(connection, place),
            None => self.look_around(connection, place),
        };
        if done.is_err() {
            self.give_up();
        }
        self.in_a_row = self.are_waiting() || self.survey != Survey::Done;
    }

    fn seal_one(
        &mut self,
        connection: &Connection,
        place: &Place,
        key: i64,
        extent: Extent,
    ) -> Result<(), StoreError> {
        let more = match self.sealer.seal(connection, &place.database, key, extent) {
            // A damaged session stays as it is, so that what can be read of it stays readable; the others are sealed.
            Err(StoreError::Damaged { .. }) => false,
            sealed => sealed?,
        };
        if !more {
            self.seal.remove(&key);
            // Its tables are not worth keeping for the next time.
            self.sealer = Sealer::new();
            self.index.insert(key);
            self.vacuum = true;
        }
        Ok(())
    }

    /// Indexes a piece of a session.
    fn index_one(&mut self, connection: &Connection, place: &Place) -> Result<(), StoreError> {
        let Some(&key) = self.index.first() else { return Ok(()) };
        let indexer = match &mut self.indexer {
            Some(indexer) => indexer,
            none => none.insert(Indexer::new(place)?),
        };
        if !indexer.advance(connection, place, key)? {
            self.index.remove(&key);
        }
        if self.index.is_empty() {
            // Its tables and its connection are not worth keeping for the next time.
            self.indexer = None;
        }
        Ok(())
    }

    /// Shrinks the file by a piece if much of it is unused.
    fn give_back(&mut self, connection: &Connection, place: &Place) -> Result<(), StoreError> {
        const WORTH_IT: i64 = 256;
        const DOING: &str = "giving space back";
        let free = number(connection, &place.database, "PRAGMA freelist_count")?;
        let all = number(connection, &place.database, "PRAGMA page_count")?;
        self.vacuum = free > WORTH_IT && free > all / 8;
        if self.vacuum {
            drain(connection, "PRAGMA incremental_vacuum(256)").doing(DOING, &place.database)?;
        } else {
            // The file itself shrinks when the log is moved into it.
            drain(connection, "PRAGMA wal_checkpoint(PASSIVE)").doing(DOING, &place.database)?;
        }
        Ok(())
    }

    fn look_around(&mut self, connection: &Connection, place: &Place) -> Result<(), StoreError> {
        self.survey = match self.survey {
            Survey::Removals if upkeep::delete_some(connection, place)? => Survey::Removals,
            Survey::Removals => Survey::Tails(0),
            Survey::Tails(after) => match next_unsealed(connection, &place.database, after)? {
                Some((key, extent)) => {
                    self.plan(key, extent);
                    Survey::Tails(key)
                }
                None => Survey::Unindexed(0),
            },
            Survey::Unindexed(after) => match next_unindexed(connection, place, after)? {
                Some(key) => {
                    self.index.insert(key);
                    Survey::Unindexed(key)
                }
                None => Survey::Unsummed(0),
            },
            Survey::Unsummed(after) => match next_unsummed(connection, &place.database, after)? {
                Some(key) if sum_some(connection, &place.database, key)? => Survey::Unsummed(after),
                Some(key) => Survey::Unsummed(key),
                None => Survey::Done,
            },
            Survey::Done => Survey::Done,
        };
        Ok(())
    }

    /// Seals what this run of the program has written, as far as a person would not notice.
    pub(super) fn finish(&mut self, connection: &Connection, place: &Place) {
        let deadline = Instant::now() + CLOSING_TIME;
        while !(self.seal.is_empty() && self.index.is_empty()) && Instant::now() < deadline {
            self.do_one(connection, place);
        }
    }
}

/// Takes every row of a statement: a vacuum gives back one page each time it is asked for one.
fn drain(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Seals a session to its end, one piece at a time between other work.
pub(super) fn seal_all(
    queue: &Queue,
    place: &Place,
    session: &SessionId,
) -> Result<(), StoreError> {
    let (database, id) = (place.database.clone(), session.clone());
    let key = queue.run(move |connection| super::lease::key_of(connection, &database, &id))?;
    let mut sealer = Some(Sealer::new());
    while let Some(mut current) = sealer.take() {
        let database = place.database.clone();
        sealer = queue.run(move |connection| {
            let more = current.seal(connection, &database, key, Extent::Whole)?;
            Ok(more.then_some(current))
        })?;
    }
    queue.send(Job::Tidy)
}

/// Indexes the sealed runs of a session to their end, one piece at a time between other work.
pub(super) fn index_all(
    queue: &Queue,
    place: &Place,
    session: &SessionId,
) -> Result<(), StoreError> {
    let (database, id) = (place.database.clone(), session.clone());
    let key = queue.run(move |connection| super::lease::key_of(connection, &database, &id))?;
    let mut indexer = Some(Indexer::new(place)?);
    while let Some(mut current) = indexer.take() {
        let place = place.clone();
        indexer = queue.run(move |connection| {
            let more = current.advance(connection, &place, key)?;
            Ok(more.then_some(current))
        })?;
    }
    Ok(())
}
