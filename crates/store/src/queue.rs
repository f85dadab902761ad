//! The way to the writer thread: a queue bounded by bytes, in which whoever has too much to say waits.

use std::pin::Pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::database::Place;
use super::error::StoreError;
use super::lease::{Grant, LeaseKey};
use super::record::Batch;
use super::wait::block_on;
use super::writer::{self, Shared, Writer};
use planwright_model::Seq;

/// What may wait in the queue, in units of [`UNIT`] bytes. A larger batch waits until it is alone.
const ROOM: u32 = 8192;
const UNIT: usize = 1024;

/// What is done with the writer's connection, or with the reason why nothing may be written.
pub(super) type Work = dyn FnOnce(Result<&Connection, StoreError>) + Send;

/// Work for the writer thread, done in the order it was sent.
pub(super) enum Job {
    Append(Box<Append>),
    /// Anything else that writes; it brings its own transaction.
    Run(Box<Work>),
    /// Gives a lease back, after everything that was appended under it.
    Release(Grant),
    /// Much was deleted: the file may shrink when there is time.
    Tidy,
    /// Something was done without the thread, and left a chore for it.
    Look,
    Close,
}

/// Which thread commits a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thread {
    /// The store's, with whatever else is waiting.
    Writers,
    /// The caller's, which has nothing to do until the batch is durable; the store's if that is at work.
    Own,
}

/// A batch on its way to the disk.
pub(super) struct Append {
    pub(super) batch: Batch,
    pub(super) session: Arc<LeaseKey>,
    pub(super) reply: oneshot::Sender<Result<Seq, StoreError>>,
    /// Keeps its room in the queue until the batch is committed.
    pub(super) _room: OwnedSemaphorePermit,
}

/// Resolves to the session's head once the batch is committed with a full sync; never before.
#[derive(Debug)]
#[must_use = "an event may be shown only when its append is acknowledged"]
pub struct Ack(oneshot::Receiver<Result<Seq, StoreError>>);

impl Ack {
    /// Blocks until the batch is committed.
    pub fn wait(self) -> Result<Seq, StoreError> {
        block_on(self)
    }
}

impl Future for Ack {
    type Output = Result<Seq, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|received| received.unwrap_or(Err(StoreError::Closed)))
    }
}

/// The sending side, and the owner of the thread.
#[derive(Debug)]
pub(super) struct Queue {
    jobs: Sender<Job>,
    writer: Arc<Shared>,
    room: Arc<Semaphore>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Queue {
    /// Starts the writer thread on its connection.
    pub(super) fn start(connection: Connection, place: &Place) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel();
        let room = Arc::new(Semaphore::new(ROOM as usize));
        let writer = Arc::new(Mutex::new(Some(Writer::new(connection, place.clone()))));
        let thread = spawn(Arc::clone(&writer), place, inbox, Arc::clone(&room))?;
        Ok(Self { jobs, writer, room, thread: Mutex::new(Some(thread)) })
    }

    /// Waits for room, then puts the batch in line.
    pub(super) async fn append(
        &self,
        session: &Arc<LeaseKey>,
        batch: Batch,
        by: Thread,
    ) -> Result<Ack, StoreError> {
        batch.check_size()?;
        let units = u32::try_from(batch.weight().div_ceil(UNIT)).unwrap_or(ROOM).clamp(1, ROOM);
        // Whatever waits has taken room, so that no batch overtakes an earlier one of its session.
        let alone = self.room.available_permits() == ROOM as usize;
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let (reply, ack) = oneshot::channel();
        let session = Arc::clone(session);
        let append = Append { batch, session, reply, _room: room };
        match by {
            Thread::Own if alone => self.commit_here(append)?,
            Thread::Own | Thread::Writers => self.send(Job::Append(Box::new(append)))?,
        }
        Ok(Ack(ack))
    }

    /// Commits on this thread, unless the writer is busy or another process writes.
    fn commit_here(&self, append: Append) -> Result<(), StoreError> {
        let mut guard = self.writer.try_lock().ok();
        let Some(writer) = guard.as_mut().and_then(|guard| guard.as_mut()) else {
            return self.send(Job::Append(Box::new(append)));
        };
        let had = writer.has_chores();
        if let Err(append) = writer.commit_at_once(append) {
            return self.send(Job::Append(Box::new(append)));
        }
        let has = writer.has_chores();
        drop(guard);
        if has && !had {
            // A thread that has ended did its chores at the end.
            let _ = self.send(Job::Look);
        }
        Ok(())
    }

    /// Runs `work` on the writer's connection after everything queued so far, and waits for its answer.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(Job::Run(Box::new(move |connection| {
            // Nobody listens any more if the caller's thread is gone; the work is done all the same.
            let _ = reply.send(connection.and_then(work));
        })))?;
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    pub(super) fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| StoreError::Closed)
    }

    /// Lets the thread finish what is queued, and waits for its end. A second call finds nothing to do.
    pub(super) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        // A closed inbox means that the thread has ended already.
        let _ = self.send(Job::Close);
        // A panic there has been reported by the panic hook; every waiter has been told that the store is closed.
        let _ = thread.join();
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.close();
    }
}

fn spawn(
    writer: Arc<Shared>,
    place: &Place,
    inbox: Receiver<Job>,
    room: Arc<Semaphore>,
) -> Result<JoinHandle<()>, StoreError> {
    let failed = |error| StoreError::io("starting the writer of", &place.database, error);
    let closing = CloseOnDrop(room);
    thread::Builder::new()
        .name("planwright-journal".into())
        .spawn(move || {
            let _closing = closing;
            writer::work(&writer, &inbox);
        })
        .map_err(failed)
}

/// Wakes everyone who waits for room when the thread ends, however it ends.
struct CloseOnDrop(Arc<Semaphore>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
