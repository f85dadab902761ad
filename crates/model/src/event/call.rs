//! Facts about tool calls. The intent is journaled before a call starts and its outcome after it ended; an intent
//! without an outcome is a call in doubt.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, Digest, ExecutionFailure, MicroDollars};

/// What a call can do to the world.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RiskClass {
    Read,
    Write,
    Execute,
    Network,
}

impl RiskClass {
    /// As the journal has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }
}

/// What may be done with a call whose outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepeatClass {
    /// Changes nothing, or its author said that running it again is fine.
    Safe,
    /// The person decides.
    Unsafe,
}

/// Where a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// A stretch of the output spool of a call: from the first byte of one piece to the first byte after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SpoolRange {
    pub from: u64,
    pub to: u64,
}

impl SpoolRange {
    /// Where the first piece of a spool begins.
    pub const START: u64 = 8;
    /// What a piece takes beside its text.
    pub const PIECE_HEADER: u64 = 13;

    /// The place of a text that follows what ends at `end`; 0 is before the first piece.
    pub fn following(end: u64, text: &str) -> Self {
        let from = end.max(Self::START);
        Self { from, to: from + Self::PIECE_HEADER + text.len() as u64 }
    }
}

/// What a call used up.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Usage {
    pub tokens: u64,
    pub cost: MicroDollars,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum CallOutcome {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    TimedOut {
        limit_seconds: u64,
    },
    Cancelled,
    CouldNotStart {
        message: String,
    },
    /// The tool itself said what went wrong and how it is to be treated.
    Errored {
        failure: ExecutionFailure,
    },
    /// It was in doubt, and the person said that it took place.
    SaidToHaveHappened,
    /// It was in doubt, and the disk shows that it took place.
    Verified,
    /// It was in doubt and will not be counted; another call or none takes its place.
    GivenUp,
}

/// What a call does to one file, so that the disk can tell whether it took place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileChange {
    /// Relative to the workspace.
    pub path: String,
    /// A hash of what the file held; none where there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    pub after: Digest,
}

/// Facts about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallEvent {
    /// The call is about to start. Durable before anything runs that is not safe to repeat.
    Intended {
        call: CallId,
        tool: String,
        version: String,
        input: Value,
        input_hash: Digest,
        class: RiskClass,
        repeat: RepeatClass,
        /// The file it changes, where that is all it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<FileChange>,
    },
    /// The process that carries it out, so that one that outlived a crash can be found and ended.
    Spawned { call: CallId, pid: u32, started_ticks: u64 },
    /// A piece of output, whole lines where possible.
    Output { call: CallId, stream: OutputStream, text: String },
    /// More output than the journal holds: where it stands in the output spool of the call, and its last lines.
    Spooled { call: CallId, stream: OutputStream, range: SpoolRange, lines: u64, tail: String },
    /// The call ended.
    Concluded {
        call: CallId,
        outcome: CallOutcome,
        elapsed_ms: u64,
        output_bytes: u64,
        dropped_bytes: u64,
        #[serde(default, skip_serializing_if = "crate::task::is_default")]
        usage: Usage,
    },
}

impl CallEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Intended { .. } => "call.intended",
            Self::Spawned { .. } => "call.spawned",
            Self::Output { .. } => "call.output",
            Self::Spooled { .. } => "call.spooled",
            Self::Concluded { .. } => "call.concluded",
        }
    }
}

/// How much of a piece that is in the spool stands in the journal as well, for lists and cards.
const SPOOLED_TAIL: usize = 512;

/// The end of a text, from the beginning of a line where that leaves enough.
/// As many as [`str::lines`] gives, without finding each: this is done for all that a command prints.
fn count_lines(text: &str) -> u64 {
    // A sum that fits into a byte is made for many bytes at once.
    let ends_of = |bytes: &[u8]| bytes.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    let ends: u64 = text.as_bytes().chunks(255).map(|bytes| u64::from(ends_of(bytes))).sum();
    ends + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

fn last_lines(text: &str) -> &str {
    let from = text.len().saturating_sub(SPOOLED_TAIL);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let tail = &text[from..];
    let line = tail.find('\n').map(|end| end + 1).filter(|start| from > 0 && *start < tail.len());
    &tail[line.unwrap_or(0)..]
}

impl CallEvent {
    /// Output that stands in the spool of a call.
    pub fn spooled(call: CallId, stream: OutputStream, range: SpoolRange, text: &str) -> Self {
        let lines = count_lines(text);
        Self::Spooled { call, stream, range, lines, tail: last_lines(text).to_owned() }
    }

    /// The end of a call that produced no output of its own, such as one that was in doubt.
    pub fn concluded_without_output(call: CallId, outcome: CallOutcome) -> Self {
        Self::Concluded {
            call,
            outcome,
            elapsed_ms: 0,
            output_bytes: 0,
            dropped_bytes: 0,
            usage: Usage::default(),
        }
    }

    /// What was printed, as far as the journal holds it: all of it, or the last lines.
    pub fn printed_text(&self) -> Option<(OutputStream, &str)> {
        match self {
            Self::Output { stream, text, .. } => Some((*stream, text)),
            Self::Spooled { stream, tail, .. } => Some((*stream, tail)),
            _ => None,
        }
    }

    pub fn call_id(&self) -> &CallId {
        match self {
            Self::Intended { call, .. }
            | Self::Spawned { call, .. }
            | Self::Output { call, .. }
            | Self::Spooled { call, .. }
            | Self::Concluded { call, .. } => call,
        }
    }
}
