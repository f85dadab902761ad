//! What carries work out in the world: the tools, what they may do, and the one way to call them.
//!
//! [`Toolbox::invoke`] is that way: it checks the arguments, finds out what they touch, decides by the one permission
//! function ([`permission::decide`]), has the intent journaled, runs the tool within its limits, and has the outcome
//! journaled before anyone reads it. Tools themselves are stateless: what must be kept is handed back as
//! [`StoreWrite`]s.

pub mod affinity;
pub mod builtin;
pub mod cache;
pub mod call;
mod catalog;
pub mod context;
#[cfg(test)]
pub(crate) mod fixture;
pub mod history;
pub mod invoke;
#[cfg(test)]
mod invoke_tests;
pub mod limit;
pub mod mcp;
pub mod meta;
pub mod offline;
pub mod permission;
pub mod process;
pub mod registry;
mod repetition;
pub mod sandbox;
pub mod schema;
mod secrets;
pub mod settings;
pub mod subtasks;
pub mod todo;
pub mod tool;
pub mod verify;
pub mod walk;
pub mod web;
pub mod workspace;

pub use call::{
    Bracket, Conclusion, Finished, Intent, PermissionAnswer, PermissionAsk, Standing, ToolCall,
};
pub use context::{Permits, Progress, Services, ToolContext, ToolFilter};
pub use history::{Observation, ToolChoice};
pub use invoke::{Parts, Toolbox};
pub use meta::{Effect, Pin, PinStanding, RepeatKind, Resolved, Source, ToolMeta, TouchedPath};
pub use permission::{PermissionInput, Rule, Verdict};
pub use registry::Registry;
pub use settings::{McpReach, McpServer, ToolSettings, WebSettings};
pub use subtasks::{SubtaskRequest, Subtasks};
pub use tool::{Answer, Code, StoreWrite, Tool, ToolError};
pub use verify::{Verification, verify};
pub use workspace::Workspace;
