//! A session opened for writing: the lease on it and the way to append, in one handle.

use std::sync::Arc;

use super::error::StoreError;
use super::lease::{self, Grant};
use super::queue::{Ack, Queue, Thread};
use super::record::Batch;
use super::wait::block_on;
use planwright_model::{Seq, SessionId};

/// Appends to one session. Clones share the lease, which is given back when the last of them is gone and everything
/// they appended is written.
#[derive(Clone, Debug)]
pub struct Journal {
    open: Arc<Open>,
}

#[derive(Debug)]
struct Open {
    queue: Arc<Queue>,
    head: Seq,
    /// Present until it is given back.
    grant: Option<Grant>,
    lease: Arc<lease::LeaseKey>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(grant) = self.grant.take() {
            lease::give_back(&self.queue, grant);
        }
    }
}

impl Journal {
    pub(super) fn new(queue: Arc<Queue>, grant: Grant, head: Seq) -> Self {
        let lease = Arc::clone(&grant.to);
        Self { open: Arc::new(Open { queue, head, grant: Some(grant), lease }) }
    }

    pub fn session(&self) -> &SessionId {
        &self.open.lease.id
    }

    /// The newest event when the session was opened; the first row to append follows it.
    pub fn head(&self) -> Seq {
        self.open.head
    }

    /// Puts a batch in line, waiting while the queue is full. The returned [`Ack`] resolves when it is committed.
    ///
    /// Batches are committed in the order of these calls, so that a caller may send the next before the last is
    /// acknowledged. After a batch has failed every later one fails too: take the lease anew and read what was kept.
    pub async fn append(&self, batch: Batch) -> Result<Ack, StoreError> {
        self.open.queue.append(&self.open.lease, batch, Thread::Writers).await
    }

    /// [`Journal::append`] for a caller that has nothing else to do until the batch is committed: its own thread commits
    /// it, if the store is at rest, and is blocked for the time of a sync, and now and then of a checkpoint.
    pub async fn append_here(&self, batch: Batch) -> Result<Ack, StoreError> {
        self.open.queue.append(&self.open.lease, batch, Thread::Own).await
    }

    /// Drops this handle and waits until what it appended is written and, if it was the last, the lease given back.
    pub fn release(self) -> Result<(), StoreError> {
        let queue = Arc::clone(&self.open.queue);
        drop(self);
        queue.run(|_| Ok(()))
    }

    /// [`Journal::append`] for callers without a runtime.
    pub fn append_blocking(&self, batch: Batch) -> Result<Ack, StoreError> {
        block_on(self.append(batch))
    }
}
