//! What a model may look at while it plans: the files of the workspace, and nothing that changes anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use planwright_agents::is_tool_configured;
use planwright_model::agent_conversation::ConversationTool;
use planwright_model::{CallId, TaskId, ToolResult};
use planwright_tools::context::EXPLORE;
use planwright_tools::{
    CallConclusion, CallConditions, CallHost, CallIntent, CallProgress, PermissionAnswer,
    PermissionRequest, ToolFilter, ToolInvocation, Toolbox,
};

/// The tools that look at the workspace, in the order they are offered.
const LOOKS: [&str; 10] = [
    "file.list",
    "file.read",
    "glob",
    "grep",
    "code.navigate",
    "git.log",
    "git.status",
    "git.diff",
    "memory.search",
    EXPLORE,
];

/// The name that calls of planning have in place of a task.
const CALLER: &str = "planning";

/// The workspace as the planner sees it.
#[derive(Clone, Debug)]
pub struct PlanningWorkspace {
    toolbox: Toolbox,
}

impl PlanningWorkspace {
    /// Wraps a toolbox whose host is [`LookOnlyHost`].
    pub fn new(toolbox: Toolbox) -> Self {
        Self { toolbox }
    }

    pub(super) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// The tools that there are, as they are offered.
    pub(super) fn looks(&self) -> Vec<ConversationTool> {
        let registry = self.toolbox.registry();
        LOOKS
            .iter()
            .filter(|name| is_tool_configured(&self.toolbox, name))
            .filter_map(|name| registry.get(name))
            .map(|tool| {
                let meta = tool.meta();
                ConversationTool {
                    name: meta.name.clone(),
                    description: planwright_text::clean_text(&meta.description).into_owned(),
                    schema: meta.schema.clone(),
                    read_only: true,
                }
            })
            .collect()
    }

    /// Makes one call.
    pub(super) async fn look(
        &self,
        tool: &str,
        args: Value,
        number: u32,
        cancel: &CancellationToken,
    ) -> ToolResult {
        let id = CallId { task: TaskId::from(CALLER), attempt: 1, step: number };
        let mut call = ToolInvocation::new(id, tool, args);
        call.cancel = cancel.clone();
        let only: BTreeSet<String> = LOOKS.iter().map(|name| (*name).to_owned()).collect();
        // Questions are looked into by read-only calls of their own.
        let read_only = tool != EXPLORE;
        call.filter = ToolFilter { only: Some(only), read_only, ..ToolFilter::default() };
        self.toolbox.invoke(call).await.result
    }
}

/// The surroundings of calls that only look: whatever would need permission is refused, and results are kept with the
/// conversation that asked for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct LookOnlyHost;

impl LookOnlyHost {
    /// As toolboxes want it.
    pub fn shared() -> Arc<dyn CallHost> {
        Arc::new(Self)
    }
}

impl CallHost for LookOnlyHost {
    fn call_conditions(&self, _: &ToolInvocation) -> CallConditions {
        CallConditions::default()
    }

    fn ask_permission<'a>(&'a self, _: &'a PermissionRequest) -> BoxFuture<'a, PermissionAnswer> {
        let reason = "planning only looks at the workspace".to_owned();
        Box::pin(std::future::ready(PermissionAnswer::Deny { reason }))
    }

    fn record_intent<'a>(&'a self, _: &'a CallIntent) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_conclusion<'a>(&'a self, _: &'a CallConclusion) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_progress(&self, _: &CallId, _: CallProgress) {}
}
