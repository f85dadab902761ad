//! Redaction of text that arrives in pieces.

use std::fmt;
use std::mem;

use super::Redactor;
use super::scan::{RedactionRules, RedactionScan};

/// Redacts a stream. The pieces it gives out joined are what [`Redactor::redact`] makes of the pieces joined.
///
/// It holds back only what may turn out to be a secret: a few hundred bytes, or two thousand in a web token. A secret
/// that is recognised but not over is swallowed as it arrives, so that memory stays bounded.
pub struct StreamRedactor {
    redactor: Redactor,
    loaded: StreamStage,
    patterns: StreamStage,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, loaded: StreamStage::default(), patterns: StreamStage::default() }
    }

    /// Takes a piece; returns what is decided so far.
    pub fn push(&mut self, piece: &str) -> String {
        let rules = &self.redactor.0;
        if rules.loaded.is_empty() {
            return self.patterns.push(&rules.patterns, piece);
        }
        let piece = self.loaded.push(&rules.loaded, piece);
        self.patterns.push(&rules.patterns, &piece)
    }

    /// Ends the stream; returns what was held back.
    pub fn finish(mut self) -> String {
        let rules = &self.redactor.0;
        let piece = self.loaded.finish(&rules.loaded);
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

/// One rule set at work on the stream.
#[derive(Default)]
struct StreamStage {
    /// What is undecided, after as much of what came before as rules look back at.
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
    /// Returns how many bytes are kept, for tests of the bound.
    pub(super) fn held(&self) -> usize {
        self.loaded.text.len() + self.patterns.text.len()
    }
}
