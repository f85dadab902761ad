//! Tools: what they do, what they are permitted to do, and the only way to call them.
//!
//! [`Toolbox::invoke`] is that way: it checks the arguments, resolves what they touch, decides with the one permission
//! function ([`permission::decide_permission`]), records the intent in the journal, runs the tool within its limits,
//! and records the outcome before anyone reads it. Tools themselves are stateless: data that must be kept is returned
//! as [`StoreWrite`]s.

pub mod affinity;
mod agent_action;
pub mod agent_process;
pub mod builtin;
pub mod call;
mod catalog;
pub mod context;
pub mod executor;
pub mod file_walk;
#[cfg(test)]
pub(crate) mod fixture;
pub mod invoke;
#[cfg(test)]
mod invoke_tests;
pub mod machine_pools;
pub mod mcp;
pub mod meta;
pub mod offline_subtasks;
pub mod permission;
pub mod process;
pub mod public_address;
pub mod registry;
mod repetition;
pub mod repository_view;
pub mod result_cache;
pub mod sandbox;
pub mod schema;
mod secrets;
pub mod settings;
pub mod subtasks;
pub mod text_limit;
pub mod todo;
pub mod tool;
pub mod tool_history;
#[cfg(feature = "web")]
pub mod web;
pub mod workspace;
pub mod worktree;
pub mod write_verification;

pub use agent_action::{ActionTarget, AgentAction};
pub use call::{
    CallConclusion, CallConditions, CallHost, CallIntent, CallObserver, FinishedCall,
    PermissionAnswer, PermissionRequest, ToolInvocation,
};
pub use context::{CallProgress, PermitPool, ToolContext, ToolFilter, ToolboxServices};
pub use executor::{
    AttemptEvent, AttemptEventSink, AttemptOutcome, AttemptReport, AttemptWork,
    LocalProcessExecutor, ResultStore, TaskAttempt, TaskCache, TaskExecutor, TaskRef,
};
pub use invoke::{Toolbox, ToolboxParts};
pub use meta::{
    PinStatus, RepeatKind, ResolvedCall, ToolEffect, ToolMeta, ToolPin, ToolSource, TouchedPath,
};
pub use permission::PermissionInput;
pub use registry::ToolRegistry;
pub use settings::{McpServerSettings, McpTransport, ToolSettings, WebSettings};
pub use subtasks::{SubtaskRequest, SubtaskRunner};
pub use tool::{StoreWrite, Tool, ToolAnswer, ToolError, ToolErrorCode};
pub use tool_history::{ToolObservation, select_ranked_tool};
pub use workspace::Workspace;
pub use write_verification::{WriteVerification, verify_write};
