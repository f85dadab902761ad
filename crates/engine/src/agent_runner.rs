//! Carries out tasks of agents with a kit, and commands as before.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::agent_port::AgentPort;
use super::{Job, JobRunner, ShellRunner};
use planwright_agents::{AgentJob, AgentServices, HANDED_OVER, TASK_CAP, is_tool_configured};
use planwright_model::event::{AgentEvent, CallOutcome, SessionEvent, Usage};
use planwright_model::requests::task_limit_request;
use planwright_model::{
    AgentProfile, Category, ChoiceAction, ExecutionFailure, Request, RequestId, RunKind, TaskNode,
};
use planwright_tools::ToolRegistry;
use planwright_tools::affinity::{self, RankedTool, ToolProfiles};
use planwright_tools::context::HeldPermit;
use planwright_tools::permission::SandboxState;
use planwright_tools::process::{CallReport, CallReporter};

/// What is known about the tools of a registry right now.
pub type ToolProfileLookup = Arc<dyn Fn(&ToolRegistry) -> ToolProfiles + Send + Sync>;

/// Shell tasks go to the shell, those of agents to an agent.
#[derive(Clone)]
pub struct AgentRunner {
    pub shell: ShellRunner,
    pub services: AgentServices,
    pub port: AgentPort,
    /// What is known about the tools, for the choice among them.
    pub profiles: ToolProfileLookup,
}

impl std::fmt::Debug for AgentRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentRunner").field("kit", &self.services).finish_non_exhaustive()
    }
}

impl JobRunner for AgentRunner {
    fn run(
        &self,
        job: Job,
        cancel: CancellationToken,
        reports: CallReporter,
    ) -> BoxFuture<'static, ()> {
        if !matches!(job.task.run, RunKind::Agent {}) {
            return self.shell.run(job, cancel, reports);
        }
        let runner = self.clone();
        Box::pin(async move {
            let begun = Instant::now();
            runner.reach_servers(&cancel).await;
            let affinity = runner.rank_tools(&job.task);
            let Self { services, port, .. } = runner;
            let brief = job.brief.map(|brief| *brief).unwrap_or_default();
            // A cancelled attempt gets none: the agent sees the cancellation before it does anything.
            let permit = services.toolbox.permits().acquire_unless_cancelled(&cancel).await;
            let work = AgentJob {
                goal: brief.goal,
                context: brief.context,
                overview: brief.overview,
                past: brief.past,
                gate: Some(port.gate_policy(&services.gate)),
                affinity,
                held: permit.map(HeldPermit::new).unwrap_or_default(),
                ..AgentJob::new(Arc::new(TaskNode::clone(&job.task)), job.call.attempt)
            };
            let say = {
                let port = port.clone();
                move |event: AgentEvent| port.record(event)
            };
            let mut end = services.run_attempt(&work, &say, &cancel).await;
            let mut work = work;
            while let Err(failure) = &end.result
                && failure.code == TASK_CAP
                && !cancel.is_cancelled()
            {
                port.flush().await;
                let request =
                    task_limit_request(RequestId::UNASSIGNED, &job.task, &failure.message);
                match ask_at_limit(&port, request, &work.held, &services, &cancel).await {
                    _ if cancel.is_cancelled() => {
                        let message = "the task was cancelled";
                        end.result =
                            Err(ExecutionFailure::new("cancelled", Category::Critical, message));
                    }
                    Some(ChoiceAction::HandToMe) => {
                        let message = "the person takes it over";
                        let failure =
                            ExecutionFailure::new(HANDED_OVER, Category::Critical, message);
                        end.result = Err(failure);
                    }
                    Some(ChoiceAction::GoOn) => {
                        work.past = port.agent_progress(&job.task.id).await;
                        if services.attempt_profile(&work) == AgentProfile::Large {
                            let (task, attempt) = (job.task.id.clone(), job.call.attempt);
                            port.record(AgentEvent::BudgetRenewed { task, attempt });
                            work.past = port.agent_progress(&job.task.id).await;
                        } else {
                            work.granted += services.limits.react_max_iterations;
                        }
                        end = services.run_attempt(&work, &say, &cancel).await;
                    }
                    _ => break,
                }
            }
            // Everything the agent said goes before the end of its attempt.
            port.flush().await;
            let outcome = match end.result {
                Ok(_) => CallOutcome::Exited { code: 0 },
                Err(failure) if failure.code == "cancelled" => CallOutcome::Cancelled,
                Err(failure) => CallOutcome::Errored { failure },
            };
            reports
                .send(CallReport::Ended {
                    outcome,
                    elapsed: begun.elapsed(),
                    output_bytes: 0,
                    dropped_bytes: 0,
                    usage: Usage::default(),
                })
                .await;
        })
    }

    fn runs_agents(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let toolbox = self.services.toolbox.clone();
        Box::pin(async move { toolbox.stop_servers().await })
    }

    fn tool_identity(&self, task: &TaskNode) -> (&'static str, &'static str) {
        match task.run {
            RunKind::Agent {} => ("agent", "1"),
            _ => self.shell.tool_identity(task),
        }
    }

    fn sandbox_state(&self) -> SandboxState {
        self.shell.sandbox_state()
    }

    fn has_tool(&self, name: &str) -> bool {
        self.services.toolbox.can_offer(name) && is_tool_configured(&self.services.toolbox, name)
    }
}

/// Asks whether a task may go on, and leaves its slot to others meanwhile. Only a task that goes on waits for a slot again.
async fn ask_at_limit(
    port: &AgentPort,
    request: Request,
    held: &HeldPermit,
    services: &AgentServices,
    cancel: &CancellationToken,
) -> Option<ChoiceAction> {
    let ends = cancel.child_token();
    let asking = async {
        let action = tokio::select! {
            answer = port.ask_person(request) => answer.map(|answer| answer.action),
            () = cancel.cancelled() => None,
        };
        if action != Some(ChoiceAction::GoOn) {
            ends.cancel();
        }
        action
    };
    held.release_while(services.toolbox.permits(), &ends, asking).await
}

impl AgentRunner {
    /// Starts the servers of the config before the first task of an agent. What cannot be reached is told, not fatal.
    async fn reach_servers(&self, cancel: &CancellationToken) {
        let reports = tokio::select! {
            reports = self.services.toolbox.connect_servers() => reports,
            () = cancel.cancelled() => return,
        };
        for report in reports {
            let troubles = report.outcome.err().into_iter().chain(report.left_out);
            for trouble in troubles {
                let what = format!("server {}: {trouble}", report.server);
                let what = self.services.toolbox.redactor().redact(&what).into_owned();
                self.port.record(SessionEvent::AnomalyNoted { what });
            }
        }
    }

    /// The tools by how well they fit a task; a score given in the plan goes before a calculated one.
    fn rank_tools(&self, task: &TaskNode) -> Vec<RankedTool> {
        let year = jiff::Zoned::now().year();
        let features = affinity::extract_features(&task.description, year);
        let profiles = (self.profiles)(&self.services.toolbox.registry());
        let profiles: Vec<_> = profiles.iter().collect();
        affinity::rank_tools(&features, &profiles, &task.tool_affinity, &task.tools)
    }
}
