//! The trait behind every tool, and what it returns.

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::ToolContext;
use super::meta::{ResolvedCall, ToolMeta};
use planwright_model::{Category, Digest, ExecutionFailure, ToolResult};

/// Something the agent may call. Implementations do their work and report; permission, limits, journaling and redaction
/// are the toolbox's job, and nothing else starts a tool.
pub trait Tool: Send + Sync {
    fn meta(&self) -> &ToolMeta;

    /// Parses arguments that match the schema and determines what the call would touch. Changes nothing.
    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError>;

    /// What an approval is bound to, for foreign tools.
    fn pin_hash(&self) -> Option<&Digest> {
        None
    }

    /// The definition given by the program that offers it, for foreign tools.
    fn definition(&self) -> Option<&super::mcp::ToolDefinition> {
        None
    }

    /// Makes the call. Errors are part of the answer.
    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer>;
}

/// What a tool returns: its result, and what must be committed together with it.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    pub result: ToolResult,
    /// Effects on the store, committed in one transaction with the outcome.
    pub writes: Vec<StoreWrite>,
    /// The full output, if the result contains only part of it.
    pub full_output: Option<String>,
    /// A hash of the file's content afterward.
    pub after_hash: Option<Digest>,
    /// Protected files that have changed; the run stops.
    pub protected_changes: Vec<String>,
}

impl ToolAnswer {
    pub fn with_write(mut self, write: StoreWrite) -> Self {
        self.writes.push(write);
        self
    }
}

impl From<ToolResult> for ToolAnswer {
    fn from(result: ToolResult) -> Self {
        Self {
            result,
            writes: Vec::new(),
            full_output: None,
            after_hash: None,
            protected_changes: Vec::new(),
        }
    }
}

impl From<ToolError> for ToolAnswer {
    fn from(error: ToolError) -> Self {
        ToolResult::failure(&error.into()).into()
    }
}

impl From<Result<ToolResult, ToolError>> for ToolAnswer {
    fn from(outcome: Result<ToolResult, ToolError>) -> Self {
        outcome.map_or_else(Self::from, Self::from)
    }
}

/// Data that a tool wants stored. Tools have no connection to the store; the toolbox's host commits it with the
/// outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "write", rename_all = "snake_case")]
pub enum StoreWrite {
    Memory {
        key: Option<String>,
        text: String,
        tags: Vec<String>,
    },
    Todo {
        list: super::todo::TodoList,
    },
    /// What was learned about a tool from a call.
    History(super::tool_history::ToolObservation),
    /// The user approved a foreign tool with its current definition.
    Pin {
        tool: String,
        hash: Digest,
        /// The approved definition, to be compared with later ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<String>,
    },
}

/// Why a call cannot be made or failed, as plain data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub code: ToolErrorCode,
    pub category: Category,
    pub message: String,
}

impl ToolError {
    pub fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self { code, category: code.category(), message: message.into() }
    }
}

impl From<ToolError> for ExecutionFailure {
    fn from(error: ToolError) -> Self {
        Self::new(error.code.as_str(), error.category, error.message)
    }
}

macro_rules! codes {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, $category:ident;)+) => {
        /// What went wrong, by its wire name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ToolErrorCode { $($(#[$meta])* $variant),+ }

        impl ToolErrorCode {
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The category, unless the tool overrides it.
            pub fn category(self) -> Category {
                match self { $(Self::$variant => Category::$category),+ }
            }
        }
    };
}

codes! {
    UnknownTool = "unknown_tool", Recoverable;
    /// The arguments do not match; this shows nothing about the tool.
    BadArgs = "bad_args", Recoverable;
    /// The same arguments failed before; a retry must change something.
    SameArgs = "same_args", Recoverable;
    /// Not among the tools that this caller may use.
    NotAllowedHere = "not_allowed_here", Recoverable;
    MissingPrerequisite = "missing_prerequisite", Recoverable;
    NotConfigured = "not_configured", Recoverable;
    BreakerOpen = "breaker_open", Transient;
    OutsideWorkspace = "outside_workspace", Recoverable;
    NotFound = "not_found", Recoverable;
    NotAFile = "not_a_file", Recoverable;
    /// The content is not text.
    NotText = "not_text", Recoverable;
    TooLarge = "too_large", Recoverable;
    /// The text to replace does not occur, or occurs more than once.
    NoMatch = "no_match", Recoverable;
    /// A file is no longer what the call was made for.
    ChangedMeanwhile = "changed_meanwhile", Recoverable;
    Io = "io_error", Critical;
    /// A command ended with a status other than 0.
    ExitStatus = "exit_status", Recoverable;
    TestsFailed = "tests_failed", Recoverable;
    Timeout = "timeout", Transient;
    Cancelled = "cancelled", Critical;
    /// The user denied the call, with a reason.
    Denied = "denied", Recoverable;
    /// The user denied the same call twice, or stopped the task.
    Stopped = "stopped", Critical;
    /// No user is present to ask.
    NeedsPerson = "needs_person", Critical;
    /// Not allowed under any policy.
    Refused = "refused", Critical;
    PrivateAddress = "private_address", Critical;
    SecretInArguments = "secret_in_arguments", Critical;
    /// The intent could not be made durable, so nothing was started.
    NotJournaled = "not_journaled", Critical;
    ProtectedChanged = "protected_changed", Critical;
    Sandbox = "sandbox_failed", Critical;
    Http = "http_error", Transient;
    /// A server of the user's config cannot be reached.
    ServerUnavailable = "server_unavailable", Transient;
    /// A foreign tool reported that it failed.
    Reported = "reported_by_tool", Recoverable;
    Cycle = "cycle", Recoverable;
    Internal = "internal_error", Critical;
}
