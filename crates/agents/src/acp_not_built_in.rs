//! What stands in for agents of the person's own in a build without their protocol: each task says so.

use tokio_util::sync::CancellationToken;

use crate::own_agent::OwnAgent;
use crate::{AgentEnd, AgentEventCallback, AgentJob, AgentServices};
use planwright_model::{Category, ExecutionFailure};

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
        let message =
            format!("this build cannot start {}; rebuild with --features acp", agent.title());
        let failure = ExecutionFailure::new("agent_unknown", Category::Critical, message);
        AgentEnd { result: Err(failure), tokens: 0 }
    }
}
