//! The session store: an `SQLite` database in the data directory that keeps every event of every session.
//!
//! It promises that an acknowledged batch survives any crash, that sequence numbers have no gaps, that one session has
//! one writer, that a fork shares its past instead of copying it, and that payloads come back byte for byte. What the
//! payloads mean is for others: nothing here looks into them.
//!
//! [`Store`] is the door, [`Journal`] appends to one session under its lease, [`Reader`] reads from any thread.

mod append;
mod bookmarks;
mod checksum;
mod chores;
mod codec;
mod creation;
mod database;
mod error;
mod event_id;
pub mod exchange;
mod import;
mod inbox;
mod index;
mod journal;
mod lease;
mod lineage;
mod plans;
mod queue;
mod reader;
mod reading;
mod record;
pub mod replay_journal;
pub mod replay_library;
pub mod replay_spending;
mod schema;
mod seal;
mod search;
mod segment;
mod sessions;
mod side;
mod time;
mod upkeep;
mod verify;
mod wait;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use bookmarks::Bookmark;
pub use codec::MAX_PAYLOAD;
pub use error::{FindError, Holder, StoreError};
pub use import::{Arrival, Incoming, Provenance};
pub use inbox::Letter;
pub use journal::Journal;
pub use plans::{BlockRow, PlanRow};
pub use queue::Ack;
pub use reader::{Reader, Watch};
pub use record::{Batch, ForkPoint, NewSession, Row, SessionInfo, SessionSummary};
pub use schema::VERSION as SCHEMA_VERSION;
pub use search::WordQuery;
pub use side::{Remembered, SideWrite, ToolCallRow};
pub use upkeep::{Removal, Sizes};
pub use verify::{Depth, Integrity};

use database::Place;
use planwright_model::SessionId;
use queue::Queue;

/// Whether a store may change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    ReadWrite,
    ReadOnly,
}

/// An open session store. Clones and journals share it; it closes with the last of them, or when told to.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Place,
    /// Absent in a store that only reads.
    queue: Option<Arc<Queue>>,
    reader: Mutex<Reader>,
}

impl Store {
    /// Opens the store in `dir`, creating it if it may write and nothing is there. What is not ours, newer than we
    /// know, or damaged is refused and not touched.
    pub fn open(dir: &Path, mode: OpenMode) -> Result<Self, StoreError> {
        let place = Place::new(dir);
        let (queue, reader) = match mode {
            OpenMode::ReadWrite => {
                let connection = database::open_for_writing(&place)?;
                let queue = Queue::start(connection, &place)?;
                (Some(Arc::new(queue)), Reader::open(&place)?)
            }
            OpenMode::ReadOnly => (None, Reader::on(database::open_for_reading(&place)?, &place)),
        };
        Ok(Self { inner: Arc::new(Inner { place, queue, reader: Mutex::new(reader) }) })
    }

    pub fn dir(&self) -> &Path {
        &self.inner.place.dir
    }

    pub fn mode(&self) -> OpenMode {
        if self.inner.queue.is_some() { OpenMode::ReadWrite } else { OpenMode::ReadOnly }
    }

    /// Adds a session without events; one with a parent is a fork.
    pub fn create_session(&self, new: NewSession) -> Result<(), StoreError> {
        let database = self.inner.place.database.clone();
        self.queue()?.run(move |connection| sessions::create(connection, &database, &new))
    }

    /// Makes a session with its first events and opens it for writing, in one transaction.
    pub fn begin_session(&self, new: NewSession, first: Batch) -> Result<Journal, StoreError> {
        let queue = self.queue()?;
        first.check_size()?;
        let (grant, head) = lease::take_new(queue, &self.inner.place, new, first)?;
        Ok(Journal::new(Arc::clone(queue), grant, head))
    }

    /// Keeps something beside the journal, in a commit of its own.
    pub fn keep(&self, writes: Vec<SideWrite>) -> Result<(), StoreError> {
        let database = self.inner.place.database.clone();
        self.queue()?.run(move |connection| side::write_all(connection, &database, &writes))
    }

    /// Leaves an answer for whoever holds a session, and says under which number.
    pub fn post(&self, session: &SessionId, letter: Letter) -> Result<i64, StoreError> {
        let (database, session) = (self.inner.place.database.clone(), session.clone());
        self.queue()?.run(move |connection| inbox::post(connection, &database, &session, &letter))
    }

    /// Takes what was left for a session. Only its holder may.
    pub fn take_letters(&self, session: &SessionId) -> Result<Vec<Letter>, StoreError> {
        let (database, session) = (self.inner.place.database.clone(), session.clone());
        self.queue()?.run(move |connection| inbox::take(connection, &database, &session))
    }

    /// Takes back an answer that nobody took yet; false if somebody has.
    pub fn take_back(&self, number: i64) -> Result<bool, StoreError> {
        let database = self.inner.place.database.clone();
        self.queue()?.run(move |connection| inbox::take_back(connection, &database, number))
    }

    /// Writes the plans of a session anew, as its journal tells them.
    pub fn rebuild_plans(
        &self,
        session: &SessionId,
        plans: Vec<PlanRow>,
    ) -> Result<(), StoreError> {
        let (database, session) = (self.inner.place.database.clone(), session.clone());
        self.queue()?.run(move |connection| plans::rebuild(connection, &database, &session, &plans))
    }

    /// Opens a session for writing. Fails with [`StoreError::Held`] while another has it open.
    pub fn acquire(&self, session: &SessionId) -> Result<Journal, StoreError> {
        let queue = self.queue()?;
        let (grant, head) = lease::take(queue, &self.inner.place, session)?;
        Ok(Journal::new(Arc::clone(queue), grant, head))
    }

    /// The live process that has a session open for writing, this one included.
    pub fn holder(&self, session: &SessionId) -> Result<Option<Holder>, StoreError> {
        self.read(|reader| {
            let (connection, database) = reader.connection();
            lease::holder(connection, database, session)
        })
    }

    /// A reader with a connection of its own, for another thread.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Reader::open(&self.inner.place)
    }

    /// The reader of a store that nobody else has, so that who goes on reading needs no second connection.
    pub fn into_reader(self) -> Result<Reader, StoreError> {
        match Arc::try_unwrap(self.inner) {
            Ok(inner) => Ok(inner.reader.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Err(shared) => Reader::open(&shared.place),
        }
    }

    /// See [`Reader::pin`].
    pub fn pin(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read(|reader| reader.pin(name))
    }

    /// See [`Reader::has_letters`].
    pub fn has_letters(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.read(|reader| reader.has_letters(session))
    }

    /// See [`Reader::bookmarks`].
    pub fn bookmarks(&self, session: &SessionId) -> Result<Vec<Bookmark>, StoreError> {
        self.read(|reader| reader.bookmarks(session))
    }

    /// See [`Reader::list_sessions`].
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        self.read(Reader::list_sessions)
    }

    /// See [`Reader::session`].
    pub fn session(&self, session: &SessionId) -> Result<SessionInfo, StoreError> {
        self.read(|reader| reader.session(session))
    }

    /// See [`Reader::find_session`].
    pub fn find_session(&self, name: &str) -> Result<SessionId, FindError> {
        self.read(|reader| reader.find_session(name))
    }

    /// Removes a session that nobody has open. One that has forks is only hidden, and goes with the last of them.
    pub fn remove(&self, session: &SessionId) -> Result<Removal, StoreError> {
        upkeep::remove(self.queue()?, &self.inner.place, session)
    }

    /// Packs all events of a session now. The store does so by itself when it has nothing else to do.
    pub fn seal(&self, session: &SessionId) -> Result<(), StoreError> {
        chores::seal_all(self.queue()?, &self.inner.place, session)
    }

    /// Indexes the sealed events of a session now. The store does so by itself when it has nothing else to do.
    pub fn index(&self, session: &SessionId) -> Result<(), StoreError> {
        chores::index_all(self.queue()?, &self.inner.place, session)
    }

    /// Marks an event of a session, or takes the mark away when there is no note, not even an empty one.
    pub fn set_bookmark(
        &self,
        session: &SessionId,
        seq: planwright_model::Seq,
        note: Option<&str>,
    ) -> Result<(), StoreError> {
        let (database, session) = (self.inner.place.database.clone(), session.clone());
        let note = note.map(str::to_owned);
        self.queue()?.run(move |connection| {
            bookmarks::set(connection, &database, &session, seq, note.as_deref())
        })
    }

    /// Takes in a whole session, or nothing of it.
    pub fn import<I: Incoming + Send + 'static>(
        &self,
        new: NewSession,
        from: Provenance,
        bookmarks: Vec<Bookmark>,
        incoming: I,
    ) -> Result<Result<(), I::Error>, StoreError>
    where
        I::Error: Send + 'static,
    {
        let database = self.inner.place.database.clone();
        self.queue()?.run(move |connection| {
            import::import(connection, &database, &new, &from, &bookmarks, incoming)
        })
    }

    /// Gives unused space back to the file system, which may take a while for a large store.
    pub fn vacuum(&self) -> Result<(), StoreError> {
        let database = self.inner.place.database.clone();
        self.queue()?.run(move |connection| upkeep::vacuum(connection, &database))
    }

    /// Looks for damage and for gaps.
    pub fn integrity(&self, depth: Depth) -> Result<Integrity, StoreError> {
        self.read(|reader| verify::check_store(reader, depth))
    }

    /// Checks every event of a session against its checksum, those of the sessions it was forked from included. One sentence
    /// for each that is damaged or missing.
    pub fn damages(&self, session: &SessionId) -> Result<Vec<String>, StoreError> {
        self.read(|reader| verify::check_session(reader, session))
    }

    /// Says where the bytes are.
    pub fn sizes(&self) -> Result<Sizes, StoreError> {
        self.read(|reader| upkeep::sizes(reader.connection().0, &self.inner.place))
    }

    /// How many bytes the journal of each session takes, those it shares with forks counted once, where they are.
    pub fn session_bytes(&self) -> Result<BTreeMap<SessionId, u64>, StoreError> {
        self.read(upkeep::session_bytes)
    }

    /// Writes what is queued, moves the log into the database if nobody else uses it, and ends the writer thread.
    /// Later writes fail with [`StoreError::Closed`]; reading goes on.
    pub fn close(&self) {
        if let Some(queue) = &self.inner.queue {
            queue.close();
        }
    }

    fn queue(&self) -> Result<&Arc<Queue>, StoreError> {
        self.inner.queue.as_ref().ok_or(StoreError::ReadOnly)
    }

    fn read<T>(&self, read: impl FnOnce(&Reader) -> T) -> T {
        read(&self.inner.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
