//! One journal row: a fact, when it happened, and its place in the order.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Event;
use crate::Seq;

/// One journal row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Record {
    pub seq: Seq,
    pub at: Timestamp,
    pub event: Event,
}

impl Record {
    pub fn new(seq: Seq, at: Timestamp, event: impl Into<Event>) -> Self {
        Self { seq, at: truncate_to_micros(at), event: event.into() }
    }
}

/// Cuts a time to the microseconds that the journal keeps, so that a record reads back as it was written.
pub fn truncate_to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
