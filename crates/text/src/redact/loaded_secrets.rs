//! Secrets whose value is known, because Planwright itself loaded them.

use std::fmt::Write as _;

use super::SecretKind;
use super::scan::{
    RedactionRules, RedactionVerdict, ScanInput, SecretHit, SecretRemainder, TriggerPairs,
};

/// Shorter values are likely words, and redacting them would make text unreadable.
const MIN_VALUE_LEN: usize = 6;

/// The loaded values, including their escaped forms inside JSON strings and URLs.
#[derive(Clone)]
pub(super) struct LoadedSecrets {
    triggers: TriggerPairs,
    /// The byte pairs that must follow the trigger.
    seconds: TriggerPairs,
    /// Longest first, so that a key that starts with another one is replaced entirely.
    values: Vec<Box<[u8]>>,
}

impl LoadedSecrets {
    /// Prepares values. Each line of a multi-line value is a value of its own, because output repeats lines.
    pub(super) fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut values: Vec<Box<[u8]>> = Vec::new();
        for secret in secrets {
            let lines = secret.as_ref().lines().map(str::trim);
            for line in lines.filter(|line| line.len() >= MIN_VALUE_LEN) {
                values.extend(
                    [line.to_owned(), escape_json(line), percent_encode(line)]
                        .map(|form| form.into_bytes().into()),
                );
            }
        }
        values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let (mut triggers, mut seconds) = (TriggerPairs::new(), TriggerPairs::new());
        for value in &values {
            triggers.add(value[0], value[1]);
            seconds.add(value[1], value[2]);
        }
        Self { triggers, seconds, values }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl RedactionRules for LoadedSecrets {
    fn triggers(&self) -> &TriggerPairs {
        &self.triggers
    }

    fn judge_candidate(&self, input: ScanInput<'_>, at: usize) -> RedactionVerdict {
        if !input
            .byte_at(at + 2)?
            .is_some_and(|third| self.seconds.contains(input.bytes[at + 1], third))
        {
            return Ok(None);
        }
        for value in &self.values {
            if input.starts_with(at, value)? {
                return Ok(Some(SecretHit {
                    span: at..at + value.len(),
                    kind: SecretKind::LoadedKey,
                    rest: SecretRemainder::Nothing,
                }));
            }
        }
        Ok(None)
    }
}

fn escape_json(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t")
}

fn percent_encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
