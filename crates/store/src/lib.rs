//! The session store: an `SQLite` database in the data directory that stores every event of every session.
//!
//! It guarantees that an acknowledged batch survives any crash, that sequence numbers have no gaps, that a session has
//! one writer, that a fork shares its history instead of copying it, and that payloads are returned byte for byte. The
//! journal does not interpret payloads; that is left to its callers.
//!
//! [`Store`] is the entry point, [`Journal`] appends to one session under its lease, [`StoreReader`] reads from any
//! thread.

mod append;
mod blocking;
mod bookmarks;
mod checksum;
mod codec;
mod database;
mod database_creation;
mod error;
mod event_id;
pub mod exchange;
mod import;
mod inbox;
mod index;
mod journal;
mod journal_scan;
pub mod journal_source;
mod lease;
mod lineage;
mod maintenance;
mod plan_table;
mod reader;
mod schema;
mod seal;
mod segment;
mod session_removal;
mod session_table;
mod side_tables;
pub mod spending;
pub mod step_search;
mod store_types;
mod time;
mod verify;
mod word_search;
mod writer;
mod writer_queue;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use bookmarks::Bookmark;
pub use error::{FindError, LeaseHolder, StoreError};
pub use import::{ImportedEvent, SessionEventSource, SessionProvenance};
pub use inbox::{InboxAnswer, InboxKey, InboxLetter};
pub use journal::Journal;
pub use plan_table::{BlockRow, PlanRow};
pub use reader::{SessionWatch, StoreReader};
pub use schema::VERSION as SCHEMA_VERSION;
pub use session_removal::{SessionRemoval, StoreSizes};
pub use side_tables::{RecalledMemory, SideWrite, ToolCallRow};
pub use store_types::{
    ForkPoint, JournalBatch, JournalRow, NewSession, SessionInfo, SessionSummary,
};
pub use verify::{CheckDepth, IntegrityReport};
pub use word_search::WordQuery;
pub use writer_queue::AppendAck;

use database::StorePaths;
use planwright_model::{RequestId, SessionId};
use writer_queue::WriterQueue;

/// Whether a store may be modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    ReadWrite,
    ReadOnly,
}

/// An open session store. Clones and journals share it; it is closed with the last of them, or explicitly.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<StoreInner>,
}

#[derive(Debug)]
struct StoreInner {
    paths: StorePaths,
    /// `None` in a read-only store.
    queue: Option<Arc<WriterQueue>>,
    reader: Mutex<StoreReader>,
}

impl Store {
    /// Opens the store in `dir`, creating it if the mode allows writing and nothing exists. A database that is not
    /// ours, newer than this program, or damaged is rejected and not modified.
    pub fn open(dir: &Path, mode: OpenMode) -> Result<Self, StoreError> {
        let paths = StorePaths::new(dir);
        tracing::debug!(dir = %dir.display(), ?mode, "opening the store");
        let (queue, reader) = match mode {
            OpenMode::ReadWrite => {
                let connection = database::open_for_writing(&paths)?;
                let queue = WriterQueue::start(connection, &paths)?;
                (Some(Arc::new(queue)), StoreReader::open(&paths)?)
            }
            OpenMode::ReadOnly => {
                (None, StoreReader::from_connection(database::open_for_reading(&paths)?, &paths))
            }
        };
        tracing::info!(dir = %dir.display(), ?mode, "store opened");
        Ok(Self { inner: Arc::new(StoreInner { paths, queue, reader: Mutex::new(reader) }) })
    }

    /// Adds a session without events; one with a parent is a fork.
    pub fn create_session(&self, new: NewSession) -> Result<(), StoreError> {
        let database = self.inner.paths.database.clone();
        self.writer_queue()?
            .run(move |connection| session_table::create_session(connection, &database, &new))
    }

    /// Creates a session with its first events and opens it for writing, in one transaction.
    pub fn begin_session(
        &self,
        new: NewSession,
        first: JournalBatch,
    ) -> Result<Journal, StoreError> {
        let queue = self.writer_queue()?;
        first.check_size()?;
        let (grant, head) = lease::create_leased_session(queue, &self.inner.paths, new, first)?;
        Ok(Journal::new(Arc::clone(queue), grant, head))
    }

    /// Stores side data in a commit of its own.
    pub fn write_side_data(&self, writes: Vec<SideWrite>) -> Result<(), StoreError> {
        let database = self.inner.paths.database.clone();
        self.writer_queue()?
            .run(move |connection| side_tables::write_side_data(connection, &database, &writes))
    }

    /// Posts an answer for the holder of a session and returns what names it.
    pub fn post_answer(
        &self,
        session: &SessionId,
        answer: InboxAnswer,
    ) -> Result<InboxKey, StoreError> {
        let (database, session) = (self.inner.paths.database.clone(), session.clone());
        self.writer_queue()?
            .run(move |connection| inbox::post_answer(connection, &database, &session, &answer))
    }

    /// Withdraws an answer that nobody has taken yet; false if somebody has.
    pub fn withdraw_answer(&self, key: InboxKey) -> Result<bool, StoreError> {
        let database = self.inner.paths.database.clone();
        self.writer_queue()?
            .run(move |connection| inbox::withdraw_answer(connection, &database, key))
    }

    /// Rebuilds the plan rows of a session from its journal.
    pub fn rebuild_plans(
        &self,
        session: &SessionId,
        plans: Vec<PlanRow>,
    ) -> Result<(), StoreError> {
        let (database, session) = (self.inner.paths.database.clone(), session.clone());
        self.writer_queue()?.run(move |connection| {
            plan_table::rebuild_plans(connection, &database, &session, &plans)
        })
    }

    /// Opens a session for writing. Fails with [`StoreError::Held`] while someone else has it open.
    pub fn acquire_session(&self, session: &SessionId) -> Result<Journal, StoreError> {
        let queue = self.writer_queue()?;
        let (grant, head) = lease::acquire_lease(queue, &self.inner.paths, session)?;
        Ok(Journal::new(Arc::clone(queue), grant, head))
    }

    /// The live process that has a session open for writing, including this one.
    pub fn lease_holder(&self, session: &SessionId) -> Result<Option<LeaseHolder>, StoreError> {
        self.with_reader(|reader| {
            let (connection, database) = reader.connection();
            lease::lease_holder(connection, database, session)
        })
    }

    /// Shows those who follow a session that this process is still at work on it.
    pub fn show_sign_of_life(&self, session: &SessionId) -> Result<(), StoreError> {
        lease::touch_lock(&self.inner.paths, session)
    }

    /// When the process that works on a session was last at work; `None` where it does not tell.
    pub fn last_sign_of_life(
        &self,
        session: &SessionId,
        holder: &LeaseHolder,
    ) -> Option<jiff::Timestamp> {
        lease::last_sign_of_life(&self.inner.paths, session, holder)
    }

    /// Creates a reader with its own connection, for another thread.
    pub fn reader(&self) -> Result<StoreReader, StoreError> {
        StoreReader::open(&self.inner.paths)
    }

    /// Turns a store with no other users into its reader, so that no second connection is needed to continue reading.
    pub fn into_reader(self) -> Result<StoreReader, StoreError> {
        match Arc::try_unwrap(self.inner) {
            Ok(inner) => Ok(inner.reader.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Err(shared) => StoreReader::open(&shared.paths),
        }
    }

    /// See [`StoreReader::tool_pin_hash`].
    pub fn tool_pin_hash(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.with_reader(|reader| reader.tool_pin_hash(name))
    }

    /// See [`StoreReader::inbox_letters`].
    pub fn inbox_letters(&self, session: &SessionId) -> Result<Vec<InboxLetter>, StoreError> {
        self.with_reader(|reader| reader.inbox_letters(session))
    }

    /// See [`StoreReader::has_inbox_answers`].
    pub fn has_inbox_answers(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.with_reader(|reader| reader.has_inbox_answers(session))
    }

    /// See [`StoreReader::answered_requests`].
    pub fn answered_requests(&self, session: &SessionId) -> Result<Vec<RequestId>, StoreError> {
        self.with_reader(|reader| reader.answered_requests(session))
    }

    /// See [`StoreReader::bookmarks`].
    pub fn bookmarks(&self, session: &SessionId) -> Result<Vec<Bookmark>, StoreError> {
        self.with_reader(|reader| reader.bookmarks(session))
    }

    /// See [`StoreReader::list_sessions`].
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        self.with_reader(StoreReader::list_sessions)
    }

    /// How many sessions there are that are not hidden.
    pub fn session_count(&self) -> Result<u64, StoreError> {
        self.with_reader(|reader| {
            let (connection, database) = reader.connection();
            session_table::session_count(connection, database)
        })
    }

    /// A number that changes whenever somebody else writes to the store, in this process or another. Asking for it costs
    /// one read of shared memory.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.with_reader(|reader| {
            let (connection, database) = reader.connection();
            schema::query_number(connection, database, "PRAGMA data_version")
        })
    }

    /// See [`StoreReader::session_info`].
    pub fn session_info(&self, session: &SessionId) -> Result<SessionInfo, StoreError> {
        self.with_reader(|reader| reader.session_info(session))
    }

    /// See [`StoreReader::find_session`].
    pub fn find_session(&self, name: &str) -> Result<SessionId, FindError> {
        self.with_reader(|reader| reader.find_session(name))
    }

    /// Removes a session that nobody has open. One that has forks is only hidden, and removed with the last of them.
    pub fn remove_session(&self, session: &SessionId) -> Result<SessionRemoval, StoreError> {
        session_removal::remove_session(self.writer_queue()?, &self.inner.paths, session)
    }

    /// Seals all events of a session now. The store does this by itself when it is idle.
    pub fn seal_session(&self, session: &SessionId) -> Result<(), StoreError> {
        maintenance::seal_session(self.writer_queue()?, &self.inner.paths, session)
    }

    /// Indexes the sealed events of a session now. The store does this by itself when it is idle.
    pub fn index_session(&self, session: &SessionId) -> Result<(), StoreError> {
        maintenance::index_session(self.writer_queue()?, &self.inner.paths, session)
    }

    /// Bookmarks an event of a session, or removes the bookmark if `note` is `None`. An empty note is a note.
    pub fn set_bookmark(
        &self,
        session: &SessionId,
        seq: planwright_model::Seq,
        note: Option<&str>,
    ) -> Result<(), StoreError> {
        let (database, session) = (self.inner.paths.database.clone(), session.clone());
        let note = note.map(str::to_owned);
        self.writer_queue()?.run(move |connection| {
            bookmarks::set_bookmark(connection, &database, &session, seq, note.as_deref())
        })
    }

    /// Imports an entire session, or nothing of it.
    pub fn import_session<I: SessionEventSource + Send + 'static>(
        &self,
        new: NewSession,
        from: SessionProvenance,
        bookmarks: Vec<Bookmark>,
        incoming: I,
    ) -> Result<Result<(), I::Error>, StoreError>
    where
        I::Error: Send + 'static,
    {
        let database = self.inner.paths.database.clone();
        self.writer_queue()?.run(move |connection| {
            import::import_session(connection, &database, &new, &from, &bookmarks, incoming)
        })
    }

    /// Returns unused space to the file system, which may take a while for a large store.
    pub fn vacuum(&self) -> Result<(), StoreError> {
        let database = self.inner.paths.database.clone();
        self.writer_queue()?
            .run(move |connection| session_removal::vacuum_database(connection, &database))
    }

    /// Checks for damage and for gaps.
    pub fn check_integrity(&self, depth: CheckDepth) -> Result<IntegrityReport, StoreError> {
        self.with_reader(|reader| verify::check_store(reader, depth))
    }

    /// Checks every event of a session against its checksum, including those of the sessions it was forked from.
    /// Returns one sentence for each damaged or missing event.
    pub fn check_session(&self, session: &SessionId) -> Result<Vec<String>, StoreError> {
        self.with_reader(|reader| verify::check_session(reader, session))
    }

    /// Reports how many bytes each part of the store takes.
    pub fn storage_sizes(&self) -> Result<StoreSizes, StoreError> {
        self.with_reader(|reader| {
            session_removal::measure_store(reader.connection().0, &self.inner.paths)
        })
    }

    /// How many bytes the journal of each session takes. Events shared with forks are counted once, in the session that
    /// owns them.
    pub fn session_bytes(&self) -> Result<BTreeMap<SessionId, u64>, StoreError> {
        self.with_reader(session_removal::session_bytes)
    }

    /// Writes what is queued, checkpoints the log into the database if nobody else uses it, and ends the writer thread.
    /// Later writes fail with [`StoreError::Closed`]; reading still works.
    pub fn close(&self) {
        if let Some(queue) = &self.inner.queue {
            queue.close();
        }
    }

    fn writer_queue(&self) -> Result<&Arc<WriterQueue>, StoreError> {
        self.inner.queue.as_ref().ok_or(StoreError::ReadOnly)
    }

    fn with_reader<T>(&self, read: impl FnOnce(&StoreReader) -> T) -> T {
        read(&self.inner.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
