//! The scanner: finds candidates in one pass and asks the rules about each one, over entire texts and streams.
//!
//! A rule sees the text through [`ScanInput`] and returns [`NeedsMoreInput`] whenever its result depends on text that
//! has not arrived yet. The result therefore never depends on how the text was split into chunks, so a streamed text is
//! redacted exactly like a complete one. Rules look back at most [`CONTEXT`] bytes, and no hit starts before its
//! candidate.

use std::borrow::Cow;
use std::ops::Range;

use super::SecretKind;
use super::pem::PemBody;

/// How far back rules may look from a candidate. A stream keeps this many bytes of text that is already written, so a
/// rule that looks back further would give different results for a stream and for the complete text.
pub(super) const CONTEXT: usize = 160;

/// The result depends on text that has not arrived yet.
#[derive(Debug)]
pub(super) struct NeedsMoreInput;

/// The result of judging a candidate.
pub(super) type RedactionVerdict = Result<Option<SecretHit>, NeedsMoreInput>;

/// A set of bytes.
pub(super) type ByteClass = fn(u8) -> bool;

/// A secret that was found.
#[derive(Debug)]
pub(super) struct SecretHit {
    /// The part that was examined to decide.
    pub(super) span: Range<usize>,
    pub(super) kind: SecretKind,
    /// The part of the secret after the span, which may have any length.
    pub(super) rest: SecretRemainder,
}

/// What is still consumed after a hit.
#[derive(Debug, Default)]
pub(super) enum SecretRemainder {
    #[default]
    Nothing,
    /// Bytes of a class.
    Run(ByteClass),
    /// A private key block.
    Pem(PemBody),
}

impl SecretRemainder {
    /// Consumes bytes from `at`; returns where it stopped, and whether that is the end of the secret.
    fn consume_remainder(&mut self, input: ScanInput<'_>, at: usize) -> (usize, bool) {
        match self {
            Self::Nothing => (at, true),
            Self::Run(class) => {
                let end = input.bytes[at..]
                    .iter()
                    .position(|byte| !class(*byte))
                    .map_or(input.bytes.len(), |n| at + n);
                (end, end < input.bytes.len() || !input.more)
            }
            Self::Pem(body) => body.consume_body(input, at),
        }
    }
}

/// The text as rules see it: what has arrived, and whether more may follow.
#[derive(Clone, Copy)]
pub(super) struct ScanInput<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) more: bool,
}

impl ScanInput<'_> {
    /// Returns the byte at a position, or `None` past the end of the text.
    pub(super) fn byte_at(self, at: usize) -> Result<Option<u8>, NeedsMoreInput> {
        match self.bytes.get(at) {
            Some(byte) => Ok(Some(*byte)),
            None if self.more => Err(NeedsMoreInput),
            None => Ok(None),
        }
    }

    /// Returns the byte before a position.
    pub(super) fn byte_before(self, at: usize) -> Option<u8> {
        at.checked_sub(1).map(|at| self.bytes[at])
    }

    /// Returns whether the text at a position starts with a prefix.
    pub(super) fn starts_with(self, at: usize, prefix: &[u8]) -> Result<bool, NeedsMoreInput> {
        self.matches_prefix(at, prefix, <[u8]>::eq)
    }

    /// Returns whether the text at a position starts with a prefix, ignoring ASCII case.
    pub(super) fn starts_with_any_case(
        self,
        at: usize,
        prefix: &[u8],
    ) -> Result<bool, NeedsMoreInput> {
        self.matches_prefix(at, prefix, <[u8]>::eq_ignore_ascii_case)
    }

    fn matches_prefix(
        self,
        at: usize,
        prefix: &[u8],
        equal: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<bool, NeedsMoreInput> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let known = rest.len().min(prefix.len());
        match equal(&rest[..known], &prefix[..known]) {
            true if known == prefix.len() => Ok(true),
            true if self.more => Err(NeedsMoreInput),
            _ => Ok(false),
        }
    }

    /// Returns the end of the run of bytes of a class starting at `at`, at most `limit` bytes further.
    pub(super) fn run_end(
        self,
        at: usize,
        limit: usize,
        class: impl Fn(u8) -> bool,
    ) -> Result<usize, NeedsMoreInput> {
        let mut end = at;
        while end < at + limit && self.byte_at(end)?.is_some_and(&class) {
            end += 1;
        }
        Ok(end)
    }

    /// Returns whether a token may start here: not in the middle of a word, unless an escape (`\n`, `%3D`) ends there.
    pub(super) fn starts_token(self, at: usize) -> bool {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match self.bytes[..at] {
            [] | [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
            [.., last] => !word(last),
        }
    }
}

/// The set of byte pairs at which a rule set is consulted: one bit per pair, so that the scan costs one table lookup
/// per byte of ordinary text.
#[derive(Clone)]
pub(super) struct TriggerPairs {
    pairs: Box<[u64; 1024]>,
    /// The bytes that begin a pair.
    firsts: Box<[bool; 256]>,
}

impl TriggerPairs {
    pub(super) fn new() -> Self {
        Self { pairs: Box::new([0; 1024]), firsts: Box::new([false; 256]) }
    }

    pub(super) fn add(&mut self, first: u8, second: u8) {
        let index = Self::pair_index(first, second);
        self.pairs[index >> 6] |= 1 << (index & 63);
        self.firsts[usize::from(first)] = true;
    }

    /// Returns whether any pair starts with this byte.
    fn may_begin_with(&self, first: u8) -> bool {
        self.firsts[usize::from(first)]
    }

    pub(super) fn contains(&self, first: u8, second: u8) -> bool {
        let index = Self::pair_index(first, second);
        self.pairs[index >> 6] >> (index & 63) & 1 == 1
    }

    fn find_pair(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let (mut at, last) = (from, bytes.len().checked_sub(1)?);
        loop {
            // Most bytes begin no pair, and one small table tells.
            at += bytes.get(at..last)?.iter().position(|byte| self.firsts[usize::from(*byte)])?;
            if self.contains(bytes[at], bytes[at + 1]) {
                return Some(at);
            }
            at += 1;
        }
    }

    fn pair_index(first: u8, second: u8) -> usize {
        usize::from(first) << 8 | usize::from(second)
    }
}

/// A set of rules.
pub(super) trait RedactionRules {
    fn triggers(&self) -> &TriggerPairs;
    /// Judges the candidate at a trigger.
    fn judge_candidate(&self, input: ScanInput<'_>, at: usize) -> RedactionVerdict;
}

/// The progress of a scan. `copied <= at` always holds after [`advance`](Self::advance).
#[derive(Debug, Default)]
pub(super) struct RedactionScan {
    /// Everything before this position is decided.
    at: usize,
    /// Everything before this position is copied or replaced.
    copied: usize,
    rest: SecretRemainder,
}

impl RedactionScan {
    /// Finds the next hit that can be decided with the text that has arrived.
    pub(super) fn next_hit(
        &mut self,
        rules: &impl RedactionRules,
        input: ScanInput<'_>,
    ) -> Option<SecretHit> {
        while let Some(at) = rules.triggers().find_pair(input.bytes, self.at) {
            self.at = at;
            match rules.judge_candidate(input, at) {
                Ok(Some(hit)) => return Some(hit),
                Ok(None) => self.at += 1,
                // The position stays on the candidate, so the next chunk judges it again from its first byte.
                Err(NeedsMoreInput) => return None,
            }
        }
        // A byte pair can straddle the end of the text that has arrived. A byte that starts no pair is released
        // immediately, so that a line is not held back until its newline arrives.
        let straddles = input.more
            && input.bytes.last().is_some_and(|last| rules.triggers().may_begin_with(*last));
        self.at = self.at.max(input.bytes.len() - usize::from(straddles));
        None
    }

    /// Scans as far as possible, and writes the decided text with labels in place of secrets.
    pub(super) fn advance(
        &mut self,
        rules: &impl RedactionRules,
        text: &str,
        more: bool,
        out: &mut String,
    ) {
        let input = ScanInput { bytes: text.as_bytes(), more };
        while self.consume_remainder(input) {
            match self.next_hit(rules, input) {
                Some(hit) => self.replace_hit(text, hit, out),
                None => break,
            }
        }
        // Rules work on bytes, but only complete characters can be written.
        let decided = text.floor_char_boundary(self.at);
        if decided > self.copied {
            out.push_str(&text[self.copied..decided]);
            self.copied = decided;
        }
    }

    fn consume_remainder(&mut self, input: ScanInput<'_>) -> bool {
        if let SecretRemainder::Nothing = self.rest {
            return true;
        }
        let (at, over) = self.rest.consume_remainder(input, self.at);
        (self.at, self.copied) = (at, at);
        if over {
            self.rest = SecretRemainder::Nothing;
        }
        over
    }

    fn replace_hit(&mut self, text: &str, hit: SecretHit, out: &mut String) {
        out.push_str(&text[self.copied..hit.span.start]);
        out.extend(["[redacted:", hit.kind.name(), "]"]);
        // Scanning continues after the span: no candidate inside a replaced secret is judged.
        (self.at, self.copied) = (hit.span.end, hit.span.end);
        self.rest = hit.rest;
    }

    /// Returns the length of the text that is no longer needed, and adjusts the positions as if it had been removed.
    pub(super) fn discard_scanned(&mut self, text: &str) -> usize {
        let spare = text.floor_char_boundary(self.copied.saturating_sub(CONTEXT));
        self.at -= spare;
        self.copied -= spare;
        spare
    }
}

/// Applies a rule set to a complete text.
pub(super) fn redact_whole_text<'a>(rules: &impl RedactionRules, text: &'a str) -> Cow<'a, str> {
    let mut scan = RedactionScan::default();
    let Some(hit) = scan.next_hit(rules, ScanInput { bytes: text.as_bytes(), more: false }) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    scan.replace_hit(text, hit, &mut out);
    scan.advance(rules, text, false, &mut out);
    Cow::Owned(out)
}
