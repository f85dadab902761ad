//! Facts about the run as a whole.

use serde::{Deserialize, Serialize};

use crate::breaker::BreakerState;
use crate::{Digest, ExecutionLimits, RunCap};

/// Why a run is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum PauseCause {
    /// The person paused it.
    Person,
    /// A cap was reached; the request says which.
    Cap { cap: RunCap },
}

/// How many tasks ended how.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct RunCounts {
    pub completed: u32,
    pub failed: u32,
    pub skipped: u32,
}

/// Facts about the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunEvent {
    /// Work on the approved plan began, or began again in a new process.
    Started {
        hash: Digest,
        jobs: u32,
    },
    Paused(PauseCause),
    Continued,
    /// A limit was moved; `None` lifts it for the rest of the session.
    CapRaised {
        cap: RunCap,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u64>,
    },
    /// Whether tasks of agents wait, so that nothing is paid for; what needs no model goes on.
    OfflineSet {
        on: bool,
    },
    /// The numbers this session works by from here on.
    LimitsSet {
        limits: ExecutionLimits,
    },
    /// How many tasks may run at once changed.
    JobsChanged {
        from: u32,
        to: u32,
        why: String,
    },
    /// The breaker of a tool opened after errors of the tool, lets one call through to try it, or closed again.
    BreakerChanged {
        tool: String,
        state: BreakerState,
        /// How long calls wait from here on, for one that opened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_in_ms: Option<u64>,
    },
    /// The process is going away with work left; the session can be resumed.
    Interrupted {
        why: String,
    },
    /// Nothing is left to do.
    Finished {
        success: bool,
        counts: RunCounts,
        elapsed_ms: u64,
    },
    /// The person put a failed run aside, or took it up again: it no longer waits for them.
    Dismissed {
        on: bool,
    },
}

impl RunEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Started { .. } => "run.started",
            Self::Paused(_) => "run.paused",
            Self::Continued => "run.continued",
            Self::CapRaised { .. } => "run.cap_raised",
            Self::OfflineSet { .. } => "run.offline_set",
            Self::LimitsSet { .. } => "run.limits_set",
            Self::JobsChanged { .. } => "run.jobs_changed",
            Self::BreakerChanged { .. } => "run.breaker_changed",
            Self::Interrupted { .. } => "run.interrupted",
            Self::Finished { .. } => "run.finished",
            Self::Dismissed { .. } => "run.dismissed",
        }
    }
}
