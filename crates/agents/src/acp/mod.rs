//! Agents of the person's own, driven over the Agent Client Protocol.
//!
//! One process per attempt, in the task's own copy of the workspace and in its own sandbox. Prompts go out, updates come
//! back and become steps of the trace like those of the built-in agent; what the agent asks leave for goes through the one
//! permission function; its claim to be done is judged by the exit criteria, which are checked here and not by it.

mod attempt;
mod bounded_lines;
mod client_requests;
mod connection;
mod live_agent;
mod permission;
mod probe;
mod prompts;
mod terminals;
mod tool_calls;
mod turn;
mod turn_text;
mod updates;

pub use probe::{probe_agent, probe_prompt};

use tokio_util::sync::CancellationToken;

use crate::own_agent::OwnAgent;
use planwright_model::AgentProfile;
use planwright_state::AgentProgress;

use crate::{AgentEnd, AgentEventCallback, AgentJob, AgentServices};
use attempt::OwnAgentAttempt;

impl AgentServices {
    /// Has an agent of the person's own work on a task until it is done, fails, or is cancelled.
    pub async fn run_own_agent(
        &self,
        job: &AgentJob,
        agent: &OwnAgent,
        say: AgentEventCallback<'_>,
        cancel: &CancellationToken,
    ) -> AgentEnd {
        let past = Self::own_agent_past(job, agent);
        let sink = self.open_sink(job, past, say);
        let run = self.open_attempt(job, &sink, past, cancel);
        let result = Box::pin(OwnAgentAttempt::new(&run, agent).work()).await;
        let criteria_met = run.are_criteria_met(AgentProfile::Large);
        run.record_end(result, criteria_met)
    }

    /// What an earlier attempt of the same agent left, about the task as it is now.
    fn own_agent_past<'j>(job: &'j AgentJob, agent: &OwnAgent) -> Option<&'j AgentProgress> {
        let past = job.past.as_ref().filter(|past| past.answer.is_none())?;
        let opening = &past.conversation.as_deref()?.opening;
        let same = opening.agent.as_deref() == Some(&agent.name)
            && opening.task == crate::conversation::task_digest(job);
        same.then_some(past)
    }
}
