//! Types of the store: journal rows, sessions and their summaries. Payloads are opaque bytes here.

use std::borrow::Cow;

use jiff::Timestamp;

use super::codec::MAX_PAYLOAD;
use super::error::StoreError;
use planwright_model::{MicroDollars, Seq, SessionId};

/// One event as it is journaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    pub seq: Seq,
    /// Stored with microsecond precision.
    pub at: Timestamp,
    pub kind: Cow<'static, str>,
    pub task: Option<String>,
    /// Stored byte for byte.
    pub payload: Vec<u8>,
}

/// What the list of sessions shows without folding a session. Written together with the rows it summarizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    pub title: String,
    pub goal: String,
    pub workspace: String,
    pub status: String,
    pub pattern: String,
    pub done: u32,
    pub total: u32,
    pub cost: MicroDollars,
    pub tokens: u64,
    pub open_requests: u32,
}

/// The event of the parent session after which a fork diverges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    pub session: SessionId,
    pub seq: Seq,
}

/// A session to create. With a parent it is a fork, whose first own event follows the fork point.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub id: SessionId,
    pub created_at: Timestamp,
    /// The format number of the events; readers of the payloads need it, the store does not.
    pub format: u32,
    pub parent: Option<ForkPoint>,
    pub summary: SessionSummary,
}

/// A stored session as shown in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    pub id: SessionId,
    pub created_at: Timestamp,
    /// When the last batch was committed.
    pub updated_at: Timestamp,
    /// When it was last opened for writing.
    pub opened_at: Option<Timestamp>,
    pub summary: SessionSummary,
    pub head: Seq,
    pub parent: Option<ForkPoint>,
    /// Removed by the user, but kept because forks read their history from it.
    pub hidden: bool,
    pub format: u32,
    /// The kind of file it was imported from. Approvals given there do not apply here.
    pub imported: Option<String>,
}

impl SessionInfo {
    /// Whether it has no events of its own.
    pub fn is_empty(&self) -> bool {
        self.head <= self.parent.as_ref().map_or(Seq::START, |point| point.seq)
    }
}

/// What is committed together: rows, the summary after them, and a checkpoint of the state after the last of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalBatch {
    pub rows: Vec<JournalRow>,
    pub summary: Option<SessionSummary>,
    pub checkpoint: Option<Vec<u8>>,
    /// Writes to the side tables.
    pub side: Vec<super::SideWrite>,
}

impl JournalBatch {
    /// A batch that contains only rows.
    pub fn from_rows(rows: Vec<JournalRow>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// The approximate size of the batch while it is queued.
    pub(super) fn queued_bytes(&self) -> usize {
        const PER_ROW: usize = 64;
        let rows = self.rows.iter().map(|row| row.payload.len() + PER_ROW).sum::<usize>();
        rows + self.checkpoint.as_ref().map_or(0, Vec::len)
    }

    /// Rejects a batch with a part that is too large to be stored.
    pub(super) fn check_size(&self) -> Result<(), StoreError> {
        let bytes = self.largest_payload();
        if bytes > MAX_PAYLOAD {
            return Err(StoreError::TooLarge { bytes, limit: MAX_PAYLOAD });
        }
        Ok(())
    }

    /// The largest single part, to which the payload limit applies.
    fn largest_payload(&self) -> usize {
        let rows = self.rows.iter().map(|row| row.payload.len()).max().unwrap_or(0);
        rows.max(self.checkpoint.as_ref().map_or(0, Vec::len))
    }
}
