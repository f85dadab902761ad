//! The way to the writer thread: a queue bounded by bytes, in which whoever has too much to say waits.

use std::pin::Pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::blocking::block_on;
use super::database::StorePaths;
use super::error::StoreError;
use super::lease::{LeaseGrant, LeaseKey};
use super::store_types::JournalBatch;
use super::writer::{self, JournalWriter, SharedWriter};
use planwright_model::Seq;

/// What may wait in the queue, in units of [`CAPACITY_UNIT_BYTES`] bytes. A larger batch waits until it is alone.
const QUEUE_CAPACITY: u32 = 8192;
const CAPACITY_UNIT_BYTES: usize = 1024;

/// What is done with the writer's connection, or with the reason why nothing may be written.
pub(super) type WriterWork = dyn FnOnce(Result<&Connection, StoreError>) + Send;

/// Work for the writer thread, done in the order it was sent.
pub(super) enum WriterJob {
    Append(Box<QueuedAppend>),
    /// Anything else that writes; it brings its own transaction.
    Run(Box<WriterWork>),
    /// Gives a lease back, after everything that was appended under it.
    Release(LeaseGrant),
    /// Much was deleted: the file may shrink when there is time.
    ReclaimSpace,
    /// Something was done without the thread, and left a chore for it.
    WakeMaintenance,
    Close,
}

/// Which thread commits a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitThread {
    /// The store's, with whatever else is waiting.
    Store,
    /// The caller's, which has nothing to do until the batch is durable; the store's if that is at work.
    Caller,
}

/// A batch on its way to the disk.
pub(super) struct QueuedAppend {
    pub(super) batch: JournalBatch,
    pub(super) session: Arc<LeaseKey>,
    pub(super) reply: oneshot::Sender<Result<Seq, StoreError>>,
    /// Keeps its room in the queue until the batch is committed.
    pub(super) _room: OwnedSemaphorePermit,
}

/// Resolves to the session's head once the batch is committed with a full sync; never before.
#[derive(Debug)]
#[must_use = "an event may be shown only when its append is acknowledged"]
pub struct AppendAck(oneshot::Receiver<Result<Seq, StoreError>>);

impl AppendAck {
    /// Blocks until the batch is committed.
    pub fn wait(self) -> Result<Seq, StoreError> {
        block_on(self)
    }
}

impl Future for AppendAck {
    type Output = Result<Seq, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|received| received.unwrap_or(Err(StoreError::Closed)))
    }
}

/// The sending side, and the owner of the thread.
#[derive(Debug)]
pub(super) struct WriterQueue {
    jobs: Sender<WriterJob>,
    writer: Arc<SharedWriter>,
    room: Arc<Semaphore>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl WriterQueue {
    /// Starts the writer thread on its connection.
    pub(super) fn start(connection: Connection, place: &StorePaths) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel();
        let room = Arc::new(Semaphore::new(QUEUE_CAPACITY as usize));
        let writer = Arc::new(Mutex::new(Some(JournalWriter::new(connection, place.clone()))));
        let thread = spawn_writer(Arc::clone(&writer), place, inbox, Arc::clone(&room))?;
        Ok(Self { jobs, writer, room, thread: Mutex::new(Some(thread)) })
    }

    /// Waits for room, then puts the batch in line.
    pub(super) async fn append(
        &self,
        session: &Arc<LeaseKey>,
        batch: JournalBatch,
        by: CommitThread,
    ) -> Result<AppendAck, StoreError> {
        batch.check_size()?;
        let units = u32::try_from(batch.queued_bytes().div_ceil(CAPACITY_UNIT_BYTES))
            .unwrap_or(QUEUE_CAPACITY)
            .clamp(1, QUEUE_CAPACITY);
        // Whatever waits has taken room, so that no batch overtakes an earlier one of its session.
        let alone = self.room.available_permits() == QUEUE_CAPACITY as usize;
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let (reply, ack) = oneshot::channel();
        let session = Arc::clone(session);
        let append = QueuedAppend { batch, session, reply, _room: room };
        match by {
            CommitThread::Caller if alone => self.commit_on_this_thread(append)?,
            CommitThread::Caller | CommitThread::Store => {
                self.send(WriterJob::Append(Box::new(append)))?
            }
        }
        Ok(AppendAck(ack))
    }

    /// Commits on this thread, unless the writer is busy or another process writes.
    fn commit_on_this_thread(&self, append: QueuedAppend) -> Result<(), StoreError> {
        let mut guard = self.writer.try_lock().ok();
        let Some(writer) = guard.as_mut().and_then(|guard| guard.as_mut()) else {
            return self.send(WriterJob::Append(Box::new(append)));
        };
        let had = writer.has_maintenance();
        if let Err(append) = writer.try_commit_now(append) {
            return self.send(WriterJob::Append(Box::new(append)));
        }
        let has = writer.has_maintenance();
        drop(guard);
        if has && !had {
            // A thread that has ended did its chores at the end.
            let _ = self.send(WriterJob::WakeMaintenance);
        }
        Ok(())
    }

    /// Runs `work` on the writer's connection after everything queued so far, and waits for its answer.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(WriterJob::Run(Box::new(move |connection| {
            // Nobody listens any more if the caller's thread is gone; the work is done all the same.
            let _ = reply.send(connection.and_then(work));
        })))?;
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    pub(super) fn send(&self, job: WriterJob) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| StoreError::Closed)
    }

    /// Lets the thread finish what is queued, and waits for its end. A second call finds nothing to do.
    pub(super) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        // A closed inbox means that the thread has ended already.
        let _ = self.send(WriterJob::Close);
        // A panic there has been reported by the panic hook; every waiter has been told that the store is closed.
        let _ = thread.join();
    }
}

impl Drop for WriterQueue {
    fn drop(&mut self) {
        self.close();
    }
}

fn spawn_writer(
    writer: Arc<SharedWriter>,
    place: &StorePaths,
    inbox: Receiver<WriterJob>,
    room: Arc<Semaphore>,
) -> Result<JoinHandle<()>, StoreError> {
    let failed = |error| StoreError::from_io("starting the writer of", &place.database, error);
    let closing = CloseRoomOnDrop(room);
    thread::Builder::new()
        .name("planwright-journal".into())
        .spawn(move || {
            let _closing = closing;
            writer::run_writer(&writer, &inbox);
        })
        .map_err(failed)
}

/// Wakes everyone who waits for room when the thread ends, however it ends.
struct CloseRoomOnDrop(Arc<Semaphore>);

impl Drop for CloseRoomOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
