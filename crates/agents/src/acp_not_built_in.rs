//! What stands in for agents of the person's own in a build without their protocol: each task says so.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::own_agent::{AgentProbe, OwnAgent};
use crate::{AgentEnd, AgentEventCallback, AgentJob, AgentServices};
use planwright_model::{Category, ExecutionFailure};
use planwright_tools::sandbox::Sandbox;

/// What an agent would be asked.
pub fn probe_prompt() -> String {
    String::new()
}

/// Fails: this build cannot drive another agent.
pub async fn probe_agent(
    agent: &OwnAgent,
    _sandbox: &Sandbox,
    _directory: &Path,
    _prompt: &str,
) -> Result<AgentProbe, ExecutionFailure> {
    Err(not_built_in(agent))
}

fn not_built_in(agent: &OwnAgent) -> ExecutionFailure {
    let message = format!("this build cannot start {}; rebuild with --features acp", agent.title());
    ExecutionFailure::new("agent_unknown", Category::Critical, message)
}

impl AgentServices {
    /// Fails: this build cannot drive another agent.
    #[expect(clippy::unused_async, reason = "the same signature as with the protocol")]
    pub async fn run_own_agent(
        &self,
        _job: &AgentJob,
        agent: &OwnAgent,
        _say: AgentEventCallback<'_>,
        _cancel: &CancellationToken,
    ) -> AgentEnd {
        AgentEnd { result: Err(not_built_in(agent)), tokens: 0 }
    }
}
