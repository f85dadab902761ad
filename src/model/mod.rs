//! The nouns of the domain: typed ids, tasks, plans, requests, failures, amounts.
//!
//! Nothing here reads a clock, touches a file or knows how it is drawn. Every type round-trips through JSON.

pub mod amount;
pub mod cap;
pub mod failure;
pub mod hash;
pub mod ids;
pub mod link;
pub mod plan;
pub mod request;
pub mod step;
pub mod task;
pub mod violation;

pub use amount::MicroDollars;
pub use cap::{Cap, Caps};
pub use failure::{Category, Failure, SkipReason};
pub use hash::{Digest, canonical_json};
pub use ids::{CallId, RequestId, Seq, SessionId, TaskId};
pub use link::{LagBasis, Link, LinkKind, LinkOrigin};
pub use plan::{CriticalPathBy, GraphFacts, Normalization, Plan};
pub use request::{Actor, Answer, Choice, ChoiceAction, Request, RequestKind};
pub use step::{ReActStep, ReActTrace, StepAction};
pub use task::{ExitCriterion, Origin, Repeat, RunKind, SandboxChoice, TaskNode};
pub use violation::{Severity, Violation};
