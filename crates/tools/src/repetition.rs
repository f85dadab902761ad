//! Detects that the same call is made again and again, or again after a denial.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use planwright_model::Digest;

/// What is remembered about calls to detect repetition.
#[derive(Debug, Default)]
pub(super) struct RepetitionTracker(Mutex<RepetitionState>);

#[derive(Debug, Default)]
struct RepetitionState {
    /// The last call of each task and how often it was made in a row.
    last: BTreeMap<String, (Digest, u32)>,
    denied: BTreeSet<Digest>,
}

impl RepetitionTracker {
    /// Counts a call and returns how many identical ones came right before.
    pub(super) fn count_call(&self, task: &str, hash: &Digest) -> u32 {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = remembered.last.entry(task.to_owned()).or_insert_with(|| (hash.clone(), 0));
        if entry.0 != *hash {
            *entry = (hash.clone(), 0);
        }
        let before = entry.1;
        entry.1 += 1;
        before
    }

    /// Remembers a denial; returns true if the same call was denied before.
    pub(super) fn record_denial(&self, hash: &Digest) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).denied.insert(hash.clone())
    }
}
