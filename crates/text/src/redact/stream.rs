//! Redaction of text that arrives in chunks.

use std::fmt;
use std::mem;
use std::sync::Arc;

use super::Redactor;
use super::loaded_secrets::LoadedSecrets;
use super::scan::{RedactionRules, RedactionScan};

/// Redacts a stream. The concatenated output equals [`Redactor::redact`] of the concatenated input.
///
/// Only text that may turn out to be a secret is held back: a few hundred bytes, or two thousand in a web token. A
/// secret that is recognized but not complete is consumed as it arrives, so memory stays bounded.
pub struct StreamRedactor {
    redactor: Redactor,
    /// What finds the values that are loaded. Values that turn up meanwhile are found from the next chunk on: the scan
    /// goes on where it is, and what it holds back is judged by the new values.
    known: Arc<LoadedSecrets>,
    loaded: StreamStage,
    patterns: StreamStage,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Redactor) -> Self {
        let known = redactor.loaded();
        let (loaded, patterns) = (StreamStage::default(), StreamStage::default());
        Self { redactor, known, loaded, patterns }
    }

    /// Adds a chunk; returns the text decided so far.
    pub fn push(&mut self, piece: &str) -> String {
        self.known = self.redactor.loaded();
        let rules = &self.redactor.0;
        if self.known.is_empty() {
            return self.patterns.push(&rules.patterns, piece);
        }
        let piece = self.loaded.push(&*self.known, piece);
        self.patterns.push(&rules.patterns, &piece)
    }

    /// Ends the stream; returns the text that was held back.
    pub fn finish(mut self) -> String {
        self.known = self.redactor.loaded();
        let rules = &self.redactor.0;
        let piece = self.loaded.finish(&*self.known);
        let mut out = self.patterns.push(&rules.patterns, &piece);
        out.push_str(&self.patterns.finish(&rules.patterns));
        out
    }
}

impl fmt::Debug for StreamRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamRedactor").finish_non_exhaustive()
    }
}

/// One rule set applied to the stream.
#[derive(Default)]
struct StreamStage {
    /// The undecided text, preceded by as much context as rules look back at.
    text: String,
    scan: RedactionScan,
}

impl StreamStage {
    fn push(&mut self, rules: &impl RedactionRules, piece: &str) -> String {
        self.text.push_str(piece);
        let mut out = String::new();
        self.scan.advance(rules, &self.text, true, &mut out);
        let spare = self.scan.discard_scanned(&self.text);
        self.text.drain(..spare);
        out
    }

    fn finish(&mut self, rules: &impl RedactionRules) -> String {
        let mut out = String::new();
        mem::take(&mut self.scan).advance(rules, &mem::take(&mut self.text), false, &mut out);
        out
    }
}

#[cfg(test)]
impl StreamRedactor {
    /// Returns the number of buffered bytes, for tests of the bound.
    pub(super) fn held(&self) -> usize {
        self.loaded.text.len() + self.patterns.text.len()
    }
}
