//! The data of a tool call: the invocation, the conditions that decide it, the question to the user, the intent and the
//! outcome.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::context::{CallProgress, HeldPermit, ToolFilter};
use super::meta::{RepeatKind, ResolvedCall};
use super::permission::{CallStage, PlanGrant, SandboxState};
use super::tool::{StoreWrite, ToolError};
use planwright_model::event::{CallOutcome, RiskClass};
use planwright_model::permission::{
    AnswerOffers, AskReason, GrantBasis, PermissionRule, PermissionVerdict,
};
use planwright_model::tool_choice::ToolSelection;
use planwright_model::{ApprovalPolicy, Autonomy, CallId, Digest, ToolResult};

/// A request to call a tool.
#[derive(Clone, Debug)]
pub struct ToolInvocation {
    pub id: CallId,
    pub tool: String,
    pub args: Value,
    /// Why this tool was selected, if there was a choice.
    pub choice: Option<ToolSelection>,
    /// The hash of arguments that failed before, if this is a retry that must change something.
    pub failed_args: Option<Digest>,
    pub filter: ToolFilter,
    pub cancel: CancellationToken,
    pub held: HeldPermit,
    /// The person's own agent that makes it, as it is called on screens; none for the built-in agent.
    pub asked_by: Option<String>,
    /// The person allowed this very thing a moment ago, when the agent announced it.
    pub approved_before: bool,
    /// Is told what the call reports while it runs.
    pub observer: Option<CallObserver>,
    /// Variables that a command sees besides.
    pub variables: Vec<(String, String)>,
}

/// Is told what a call reports while it runs.
#[derive(Clone)]
pub struct CallObserver(pub Arc<dyn Fn(&CallProgress) + Send + Sync>);

impl std::fmt::Debug for CallObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallObserver")
    }
}

impl ToolInvocation {
    pub fn new(id: CallId, tool: &str, args: Value) -> Self {
        Self {
            id,
            tool: tool.to_owned(),
            args,
            choice: None,
            failed_args: None,
            filter: ToolFilter::default(),
            cancel: CancellationToken::new(),
            held: HeldPermit::default(),
            asked_by: None,
            approved_before: false,
            observer: None,
            variables: Vec::new(),
        }
    }
}

/// Everything besides the call itself that the decision depends on, at this moment.
#[derive(Clone, Debug, Default)]
pub struct CallConditions {
    pub stage: CallStage,
    pub autonomy: Autonomy,
    pub approval_policy: ApprovalPolicy,
    pub plan: Option<PlanGrant>,
    pub rules: Vec<PermissionRule>,
    pub grants: Vec<PermissionRule>,
    pub in_doubt: bool,
    pub first_after_import: bool,
    /// The tool's breaker rejects calls for this many milliseconds.
    pub breaker_open_ms: Option<u64>,
    /// What has been produced so far, by the names that tools list as prerequisites.
    pub produced: BTreeSet<String>,
}

/// A call that is about to start. Durable before anything runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallIntent {
    pub call: CallId,
    pub tool: String,
    pub version: String,
    pub args: Value,
    pub args_hash: Digest,
    pub class: RiskClass,
    pub repeat: RepeatKind,
    pub resolved: ResolvedCall,
    pub because: GrantBasis,
    pub choice: Option<ToolSelection>,
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PermissionRequest {
    pub call: CallId,
    pub tool: String,
    pub class: RiskClass,
    pub resolved: ResolvedCall,
    pub why: AskReason,
    pub offers: AnswerOffers,
    /// What an answer *once* is bound to.
    pub binding: Digest,
    pub sandbox: SandboxState,
    /// The person's own agent that asks, as it is called on screens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum PermissionAnswer {
    Once,
    /// For this session; the rule becomes a grant.
    Session {
        rule: PermissionRule,
    },
    /// The class, for the rest of the phase.
    Phase,
    /// From now on; the rule is added to the user's config.
    Always {
        rule: PermissionRule,
    },
    Deny {
        reason: String,
    },
    /// Ends the task.
    Stop,
    /// No user is present to answer.
    Nobody,
}

/// How a call ended, with everything that is committed together.
#[derive(Clone, Debug)]
pub struct CallConclusion {
    pub call: CallId,
    pub tool: String,
    pub result: ToolResult,
    pub writes: Vec<StoreWrite>,
    /// The full output, redacted, if the result contains only part of it.
    pub full_output: Option<String>,
    pub after_hash: Option<Digest>,
    pub protected_changes: Vec<String>,
    pub elapsed: Duration,
}

/// What the caller gets.
#[derive(Clone, Debug)]
pub struct FinishedCall {
    pub result: ToolResult,
    pub cache_hit: bool,
    /// The permission decision, if the call got that far.
    pub verdict: Option<PermissionVerdict>,
    pub protected_changes: Vec<String>,
}

impl FinishedCall {
    pub(super) fn from_error(error: ToolError, verdict: Option<PermissionVerdict>) -> Self {
        let result = ToolResult::failure(&error.into());
        Self { result, cache_hit: false, verdict, protected_changes: Vec::new() }
    }
}

/// The environment of every call: provides the policy, asks the user, and writes the journal.
pub trait CallHost: Send + Sync {
    fn call_conditions(&self, call: &ToolInvocation) -> CallConditions;

    /// Asks the user. The toolbox keeps the grants and rules that follow from the answer.
    fn ask_permission<'a>(&'a self, ask: &'a PermissionRequest) -> BoxFuture<'a, PermissionAnswer>;

    /// Makes the intent durable. An error means that nothing is started.
    fn record_intent<'a>(&'a self, intent: &'a CallIntent) -> BoxFuture<'a, Result<(), String>>;

    /// Makes the outcome durable, with the writes in the same commit. An error replaces the result.
    fn record_conclusion<'a>(
        &'a self,
        conclusion: &'a CallConclusion,
    ) -> BoxFuture<'a, Result<(), String>>;

    /// Records progress while a call runs.
    fn record_progress(&self, call: &CallId, progress: CallProgress);

    /// Records how a call ended that another program made.
    fn record_outside_end(&self, _call: &CallId, _outcome: CallOutcome, _elapsed: Duration) {}
}
