//! Secrets that turn up while the program runs, such as those that a command prints.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::loaded_secrets::LoadedSecrets;

/// Values that became known after redactors were made. Whoever shares it knows every value from then on. Never prints
/// them.
#[derive(Clone, Default)]
pub struct LearnedSecrets(Arc<LearnedValues>);

#[derive(Default)]
struct LearnedValues {
    values: Mutex<Vec<String>>,
    /// How many there are, so that whoever redacts need not lock them.
    count: AtomicUsize,
}

impl LearnedSecrets {
    /// Adds a value, unless it is known.
    pub fn add(&self, value: &str) {
        let mut values = self.0.values.lock().unwrap_or_else(PoisonError::into_inner);
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
            self.0.count.store(values.len(), Ordering::Release);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.count.load(Ordering::Acquire)
    }

    pub(super) fn values(&self) -> Vec<String> {
        self.0.values.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What finds these values and the learned ones, and how many learned ones those are.
    pub(super) fn build_finder(&self, values: &[String]) -> (usize, Arc<LoadedSecrets>) {
        let learned = self.0.values.lock().unwrap_or_else(PoisonError::into_inner);
        let finder = LoadedSecrets::new(values.iter().chain(learned.iter()));
        (learned.len(), Arc::new(finder))
    }
}

impl fmt::Debug for LearnedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearnedSecrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    #[test]
    fn whoever_shares_them_knows_a_value_from_then_on() {
        let learned = LearnedSecrets::default();
        let (one, other) = (Redactor::default().sharing(&learned), Redactor::new(["other-key-1"]));
        let other = other.sharing(&learned);
        let mut begun = other.start_stream();
        assert_eq!(begun.push("open sesame-42 and "), "open sesame-42 and ");
        one.add_secret("sesame-42");
        for redactor in [&one, &other, &other.clone()] {
            assert_eq!(redactor.redact("open sesame-42"), "open [redacted:loaded_key]");
        }
        assert_eq!(other.redact("other-key-1"), "[redacted:loaded_key]");
        assert_eq!(one.redact("other-key-1"), "other-key-1");
        let streamed =
            begun.push("then sesa") + &begun.push("me-42 and other-key-1 again") + &begun.finish();
        assert_eq!(streamed, "then [redacted:loaded_key] and [redacted:loaded_key] again");
        assert!(!format!("{learned:?}").contains("sesame"));
    }

    #[test]
    fn a_redactor_that_is_made_later_knows_what_was_learned_before() {
        let learned = LearnedSecrets::default();
        learned.add("sesame-42");
        learned.add("sesame-42");
        learned.add("tr0ub4dor-9");
        let late = Redactor::new(["other-key-1"]).sharing(&learned);
        let covered = "[redacted:loaded_key]";
        let said = late.redact("sesame-42 tr0ub4dor-9 other-key-1").into_owned();
        assert_eq!(said, format!("{covered} {covered} {covered}"));
        // Who does not share them has not learned anything.
        assert_eq!(Redactor::default().redact("sesame-42"), "sesame-42");
    }

    #[test]
    fn what_a_stream_holds_back_is_judged_by_what_was_learned_meanwhile() {
        let learned = LearnedSecrets::default();
        let redactor = Redactor::new(["sesame-42-and-more"]).sharing(&learned);
        let mut begun = redactor.start_stream();
        // The beginning of a value that is known already is held back.
        assert_eq!(begun.push("open sesame-42"), "open ");
        learned.add("sesame-42");
        assert_eq!(begun.finish(), "[redacted:loaded_key]");
    }

    #[test]
    fn streams_of_every_size_of_chunk_cover_a_value_from_the_next_chunk_on() {
        let text = "then sesame-42 and sesame-42";
        for size in 1..text.len() {
            let learned = LearnedSecrets::default();
            let mut begun = Redactor::default().sharing(&learned).start_stream();
            let mut out = begun.push("first ");
            learned.add("sesame-42");
            for chunk in text.as_bytes().chunks(size) {
                out += &begun.push(std::str::from_utf8(chunk).unwrap());
            }
            out += &begun.finish();
            let covered = "[redacted:loaded_key]";
            assert_eq!(out, format!("first then {covered} and {covered}"), "chunks of {size}");
        }
    }
}
