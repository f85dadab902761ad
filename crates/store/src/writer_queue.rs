//! The queue to the writer thread, bounded by bytes: a caller waits while the queue is full.

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

/// The capacity of the queue, in units of [`CAPACITY_UNIT_BYTES`] bytes. A larger batch waits until it is alone.
const QUEUE_CAPACITY: u32 = 8192;
const CAPACITY_UNIT_BYTES: usize = 1024;

/// Work on the writer's connection; it receives an error if nothing may be written.
pub(super) type WriterWork = dyn FnOnce(Result<&Connection, StoreError>) + Send;

/// Jobs for the writer thread, processed in the order they were sent.
pub(super) enum WriterJob {
    Append(Box<QueuedAppend>),
    /// Any other write; it uses its own transaction.
    Run(Box<WriterWork>),
    /// Releases a lease, after everything that was appended under it.
    Release(LeaseGrant),
    /// Much was deleted: the file may shrink when the store is idle.
    ReclaimSpace,
    /// A caller committed on its own thread, and maintenance is due.
    WakeMaintenance,
    Close,
}

/// Which thread commits a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitThread {
    /// The store's thread, together with other queued batches.
    Store,
    /// The caller's thread, which has nothing to do until the batch is durable; the store's thread if that is busy.
    Caller,
}

/// A batch that is queued or being committed.
pub(super) struct QueuedAppend {
    pub(super) batch: JournalBatch,
    pub(super) session: Arc<LeaseKey>,
    pub(super) reply: oneshot::Sender<Result<Seq, StoreError>>,
    /// Keeps its share of the queue's capacity until the batch is committed.
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

/// The sending side of the queue, and the owner of the thread.
#[derive(Debug)]
pub(super) struct WriterQueue {
    jobs: Sender<WriterJob>,
    writer: Arc<SharedWriter>,
    room: Arc<Semaphore>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl WriterQueue {
    /// Starts the writer thread on its connection.
    pub(super) fn start(connection: Connection, paths: &StorePaths) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel();
        let room = Arc::new(Semaphore::new(QUEUE_CAPACITY as usize));
        let writer = Arc::new(Mutex::new(Some(JournalWriter::new(connection, paths.clone()))));
        let thread = spawn_writer(Arc::clone(&writer), paths, inbox, Arc::clone(&room))?;
        Ok(Self { jobs, writer, room, thread: Mutex::new(Some(thread)) })
    }

    /// Waits for capacity, then queues the batch.
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
        // Every queued batch holds permits, so with all permits available nothing is queued, and a batch committed on
        // this thread cannot overtake an earlier one of its session.
        let alone = self.room.available_permits() == QUEUE_CAPACITY as usize;
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let (reply, ack) = oneshot::channel();
        let session = Arc::clone(session);
        let append = QueuedAppend { batch, session, reply, _room: room };
        match by {
            CommitThread::Caller if alone => self.commit_on_this_thread(append)?,
            CommitThread::Caller | CommitThread::Store => {
                self.send(WriterJob::Append(Box::new(append)))?;
            }
        }
        Ok(AppendAck(ack))
    }

    /// Commits on this thread, unless the writer is busy or another process is writing.
    fn commit_on_this_thread(&self, append: QueuedAppend) -> Result<(), StoreError> {
        // Busy or poisoned: the queue decides what becomes of the batch.
        let mut guard = self.writer.try_lock().ok();
        let Some(writer) = guard.as_mut().and_then(|guard| guard.as_mut()) else {
            return self.send(WriterJob::Append(Box::new(append)));
        };
        let had_maintenance = writer.has_maintenance();
        if let Err(append) = writer.try_commit_now(append) {
            return self.send(WriterJob::Append(Box::new(append)));
        }
        let has_maintenance_now = writer.has_maintenance();
        drop(guard);
        if has_maintenance_now && !had_maintenance {
            // If the thread has ended, it did its maintenance before.
            let _ = self.send(WriterJob::WakeMaintenance);
        }
        Ok(())
    }

    /// Runs `work` on the writer's connection after everything queued so far, and waits for its result.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(WriterJob::Run(Box::new(move |connection| {
            // If the caller's thread is gone, nobody receives the result; the work is done anyway.
            let _ = reply.send(connection.and_then(work));
        })))?;
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    pub(super) fn send(&self, job: WriterJob) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| StoreError::Closed)
    }

    /// Lets the thread finish what is queued, and waits for it to end. A second call does nothing.
    pub(super) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        // A closed channel means that the thread has already ended.
        let _ = self.send(WriterJob::Close);
        // A panic in the thread was reported by the panic hook, and every waiter got `Closed`.
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
    paths: &StorePaths,
    inbox: Receiver<WriterJob>,
    room: Arc<Semaphore>,
) -> Result<JoinHandle<()>, StoreError> {
    let failed = |error| StoreError::from_io("starting the writer of", &paths.database, error);
    let closing = CloseRoomOnDrop(room);
    thread::Builder::new()
        .name("planwright-journal".into())
        .spawn(move || {
            let _closing = closing;
            writer::run_writer(&writer, &inbox);
        })
        .map_err(failed)
}

/// Wakes everyone who waits for capacity when the thread ends, even by a panic.
struct CloseRoomOnDrop(Arc<Semaphore>);

impl Drop for CloseRoomOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
