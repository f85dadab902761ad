//! What the writer thread does while it is idle: sealing, finishing removals, returning unused space.
//!
//! Maintenance is done in small steps, each in its own transaction, so that an append waits for one step at most. A
//! task that fails is not retried before the next start: nothing depends on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::database::StorePaths;
use super::error::{SqliteResultExt, StoreError};
use super::index::{SessionIndexer, next_unindexed};
use super::schema::query_number;
use super::seal::{RunSealer, SealExtent, next_unsealed};
use super::segment::MAX_RUN_EVENTS;
use super::session_removal;
use super::verify::{add_missing_checksums, next_without_checksums};
use super::writer_queue::{WriterJob, WriterQueue};
use planwright_model::SessionId;

/// How long the store must be idle before a step is started, and before unfinished work of earlier runs is searched
/// for.
const IDLE_BEFORE_STEP: Duration = Duration::from_millis(20);
const IDLE_BEFORE_SURVEY: Duration = Duration::from_millis(500);

/// The pause between two steps, so that other processes can get the write lock.
const PAUSE_BETWEEN_STEPS: Duration = Duration::from_millis(2);

/// How long closing may spend on maintenance: the user is waiting for it.
const CLOSE_TIME_LIMIT: Duration = Duration::from_millis(200);

pub(super) struct StoreMaintenance {
    sealer: RunSealer,
    seal: BTreeMap<i64, SealExtent>,
    /// Sessions with sealed runs that may not be indexed yet.
    index: BTreeSet<i64>,
    indexer: Option<SessionIndexer>,
    /// Rows appended since a session was last checked.
    appended: HashMap<i64, usize>,
    survey: MaintenanceSurvey,
    vacuum: bool,
    ran_step: bool,
}

/// The search for work that earlier runs of the program left unfinished.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MaintenanceSurvey {
    Removals,
    /// Sessions up to this key have been checked.
    Tails(i64),
    /// Sealed sessions up to this key have been checked.
    Unindexed(i64),
    /// Sessions written without checksums have been checked up to this key.
    Unsummed(i64),
    Done,
}

impl StoreMaintenance {
    pub(super) fn new() -> Self {
        Self {
            sealer: RunSealer::new(),
            seal: BTreeMap::new(),
            index: BTreeSet::new(),
            indexer: None,
            appended: HashMap::new(),
            survey: MaintenanceSurvey::Removals,
            vacuum: false,
            ran_step: false,
        }
    }

    /// A session has new rows.
    pub(super) fn note_appended(&mut self, key: i64, rows: usize) {
        let waiting = self.appended.entry(key).or_default();
        *waiting += rows;
        if *waiting >= MAX_RUN_EVENTS {
            *waiting = 0;
            self.plan_sealing(key, SealExtent::AllButTail);
        }
    }

    /// Nobody writes to a session anymore.
    pub(super) fn note_released(&mut self, key: i64) {
        self.appended.remove(&key);
        self.plan_sealing(key, SealExtent::Whole);
    }

    /// Rows were deleted.
    pub(super) fn note_freed_space(&mut self) {
        self.vacuum = true;
    }

    /// Drops all pending work.
    pub(super) fn abandon_all(&mut self) {
        self.seal.clear();
        self.index.clear();
        (self.vacuum, self.survey) = (false, MaintenanceSurvey::Done);
    }

    fn plan_sealing(&mut self, key: i64, extent: SealExtent) {
        let planned = self.seal.entry(key).or_insert(extent);
        *planned = extent.max(*planned);
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.seal.is_empty() || !self.index.is_empty() || self.vacuum
    }

    /// How long to wait for work before the next step, if there is one.
    pub(super) fn pause_before_next(&mut self) -> Option<Duration> {
        if std::mem::take(&mut self.ran_step) {
            return Some(PAUSE_BETWEEN_STEPS);
        }
        match (self.has_pending(), self.survey) {
            (false, MaintenanceSurvey::Done) => None,
            (false, _) => Some(IDLE_BEFORE_SURVEY),
            (true, _) => Some(IDLE_BEFORE_STEP),
        }
    }

    /// Does one step of one task.
    pub(super) fn run_step(&mut self, connection: &Connection, paths: &StorePaths) {
        let done = match self.seal.first_key_value() {
            Some((&key, &extent)) => self.seal_step(connection, paths, key, extent),
            None if !self.index.is_empty() => self.index_step(connection, paths),
            None if self.vacuum => self.reclaim_space(connection, paths),
            None => self.survey_step(connection, paths),
        };
        if let Err(error) = done {
            // Nothing is lost by it: what is not tidied now is found by the survey of the next start.
            tracing::warn!(%error, "maintenance of the store is put off");
            self.abandon_all();
        }
        self.ran_step = self.has_pending() || self.survey != MaintenanceSurvey::Done;
    }

    fn seal_step(
        &mut self,
        connection: &Connection,
        paths: &StorePaths,
        key: i64,
        extent: SealExtent,
    ) -> Result<(), StoreError> {
        let more = match self.sealer.seal_run(connection, &paths.database, key, extent) {
            // A damaged session is left unchanged, so that its readable part stays readable; the others are sealed.
            Err(StoreError::Damaged { .. }) => false,
            sealed => sealed?,
        };
        if !more {
            self.seal.remove(&key);
            // The tables are not worth keeping until the next time.
            self.sealer = RunSealer::new();
            self.index.insert(key);
            self.vacuum = true;
        }
        Ok(())
    }

    /// Does one indexing step for a session.
    fn index_step(
        &mut self,
        connection: &Connection,
        paths: &StorePaths,
    ) -> Result<(), StoreError> {
        let Some(&key) = self.index.first() else { return Ok(()) };
        let indexer = match &mut self.indexer {
            Some(indexer) => indexer,
            none => none.insert(SessionIndexer::new(paths)?),
        };
        if !indexer.advance(connection, paths, key)? {
            self.index.remove(&key);
        }
        if self.index.is_empty() {
            // The tables and the connection are not worth keeping until the next time.
            self.indexer = None;
        }
        Ok(())
    }

    /// Shrinks the file by one step if much of it is unused.
    fn reclaim_space(
        &mut self,
        connection: &Connection,
        paths: &StorePaths,
    ) -> Result<(), StoreError> {
        const WORTH_IT: i64 = 256;
        const DOING: &str = "giving space back";
        let free = query_number(connection, &paths.database, "PRAGMA freelist_count")?;
        let all = query_number(connection, &paths.database, "PRAGMA page_count")?;
        self.vacuum = free > WORTH_IT && free > all / 8;
        if self.vacuum {
            drain_rows(connection, "PRAGMA incremental_vacuum(256)")
                .during(DOING, &paths.database)?;
        } else {
            // The file itself shrinks when the log is checkpointed.
            drain_rows(connection, "PRAGMA wal_checkpoint(PASSIVE)")
                .during(DOING, &paths.database)?;
        }
        Ok(())
    }

    fn survey_step(
        &mut self,
        connection: &Connection,
        paths: &StorePaths,
    ) -> Result<(), StoreError> {
        self.survey = match self.survey {
            MaintenanceSurvey::Removals
                if session_removal::delete_next_chunk(connection, paths)? =>
            {
                MaintenanceSurvey::Removals
            }
            MaintenanceSurvey::Removals => MaintenanceSurvey::Tails(0),
            MaintenanceSurvey::Tails(after) => {
                match next_unsealed(connection, &paths.database, after)? {
                    Some((key, extent)) => {
                        self.plan_sealing(key, extent);
                        MaintenanceSurvey::Tails(key)
                    }
                    None => MaintenanceSurvey::Unindexed(0),
                }
            }
            MaintenanceSurvey::Unindexed(after) => {
                match next_unindexed(connection, paths, after)? {
                    Some(key) => {
                        self.index.insert(key);
                        MaintenanceSurvey::Unindexed(key)
                    }
                    None => MaintenanceSurvey::Unsummed(0),
                }
            }
            MaintenanceSurvey::Unsummed(after) => {
                match next_without_checksums(connection, &paths.database, after)? {
                    Some(key) if add_missing_checksums(connection, &paths.database, key)? => {
                        MaintenanceSurvey::Unsummed(after)
                    }
                    Some(key) => MaintenanceSurvey::Unsummed(key),
                    None => MaintenanceSurvey::Done,
                }
            }
            MaintenanceSurvey::Done => MaintenanceSurvey::Done,
        };
        Ok(())
    }

    /// Seals what this process has written, within a time the user does not notice.
    pub(super) fn finish_before_close(&mut self, connection: &Connection, paths: &StorePaths) {
        let deadline = Instant::now() + CLOSE_TIME_LIMIT;
        while !(self.seal.is_empty() && self.index.is_empty()) && Instant::now() < deadline {
            self.run_step(connection, paths);
        }
    }
}

/// Reads every row of a statement: an incremental vacuum frees one page per row it returns.
fn drain_rows(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Seals a session completely, one step at a time between other work.
pub(super) fn seal_session(
    queue: &WriterQueue,
    paths: &StorePaths,
    session: &SessionId,
) -> Result<(), StoreError> {
    let (database, id) = (paths.database.clone(), session.clone());
    let key =
        queue.run(move |connection| super::lease::find_session_key(connection, &database, &id))?;
    let mut sealer = Some(RunSealer::new());
    while let Some(mut current) = sealer.take() {
        let database = paths.database.clone();
        sealer = queue.run(move |connection| {
            let more = current.seal_run(connection, &database, key, SealExtent::Whole)?;
            Ok(more.then_some(current))
        })?;
    }
    queue.send(WriterJob::ReclaimSpace)
}

/// Indexes all sealed runs of a session, one step at a time between other work.
pub(super) fn index_session(
    queue: &WriterQueue,
    paths: &StorePaths,
    session: &SessionId,
) -> Result<(), StoreError> {
    let (database, id) = (paths.database.clone(), session.clone());
    let key =
        queue.run(move |connection| super::lease::find_session_key(connection, &database, &id))?;
    let mut indexer = Some(SessionIndexer::new(paths)?);
    while let Some(mut current) = indexer.take() {
        let paths = paths.clone();
        indexer = queue.run(move |connection| {
            let more = current.advance(connection, &paths, key)?;
            Ok(more.then_some(current))
        })?;
    }
    Ok(())
}
