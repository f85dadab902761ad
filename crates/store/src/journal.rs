//! A session opened for writing: its lease and the append operations, in one handle.

use std::sync::Arc;

use super::blocking::block_on;
use super::error::StoreError;
use super::lease::{self, LeaseGrant};
use super::store_types::JournalBatch;
use super::writer_queue::{AppendAck, CommitThread, WriterQueue};
use planwright_model::{Seq, SessionId};

/// Appends to one session. Clones share the lease, which is released when the last of them is dropped and everything
/// they appended is written.
#[derive(Clone, Debug)]
pub struct Journal {
    open: Arc<OpenJournal>,
}

#[derive(Debug)]
struct OpenJournal {
    queue: Arc<WriterQueue>,
    head: Seq,
    /// Present until it is released.
    grant: Option<LeaseGrant>,
    lease: Arc<lease::LeaseKey>,
}

impl Drop for OpenJournal {
    fn drop(&mut self) {
        if let Some(grant) = self.grant.take() {
            lease::queue_release(&self.queue, grant);
        }
    }
}

impl Journal {
    pub(super) fn new(queue: Arc<WriterQueue>, grant: LeaseGrant, head: Seq) -> Self {
        let lease = Arc::clone(&grant.to);
        Self { open: Arc::new(OpenJournal { queue, head, grant: Some(grant), lease }) }
    }

    pub fn session(&self) -> &SessionId {
        &self.open.lease.id
    }

    /// The newest event when the session was opened; the first row to append follows it.
    pub fn head(&self) -> Seq {
        self.open.head
    }

    /// Queues a batch, waiting while the queue is full. The returned [`AppendAck`] resolves when it is committed.
    ///
    /// Batches are committed in the order of these calls, so a caller may send the next one before the last is
    /// acknowledged. After a batch has failed, every later one fails too: acquire the lease again and read what was
    /// stored.
    pub async fn append(&self, batch: JournalBatch) -> Result<AppendAck, StoreError> {
        self.open.queue.append(&self.open.lease, batch, CommitThread::Store).await
    }

    /// [`Journal::append`] for a caller that has nothing else to do until the batch is committed: if the store is idle,
    /// the caller's thread commits it and is blocked for the time of a sync, and occasionally of a checkpoint.
    pub async fn append_on_this_thread(
        &self,
        batch: JournalBatch,
    ) -> Result<AppendAck, StoreError> {
        self.open.queue.append(&self.open.lease, batch, CommitThread::Caller).await
    }

    /// Drops this handle and waits until what it appended is written and, if it was the last one, the lease is
    /// released.
    pub fn release(self) -> Result<(), StoreError> {
        let queue = Arc::clone(&self.open.queue);
        drop(self);
        queue.run(|_| Ok(()))
    }

    /// [`Journal::append`] for callers without a runtime.
    pub fn append_blocking(&self, batch: JournalBatch) -> Result<AppendAck, StoreError> {
        block_on(self.append(batch))
    }
}
