//! Carries out tasks of agents with a kit, and commands as before.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::port::Port;
use super::{Job, Runner, ShellRunner};
use planwright_agents::{AgentJob, AgentKit, TASK_CAP, is_set_up};
use planwright_model::event::{AgentEvent, CallOutcome, SessionEvent, Usage};
use planwright_model::request::Detail;
use planwright_model::{
    Category, Choice, ChoiceAction, Failure, Request, RequestId, RequestKind, RunKind, TaskNode,
};
use planwright_tools::Registry;
use planwright_tools::affinity::{self, Profiles, Ranked};
use planwright_tools::context::HeldPermit;
use planwright_tools::permission::SandboxState;
use planwright_tools::process::{CallReport, Reports};

/// What is known about the tools of a registry right now.
pub type ProfilesOf = Arc<dyn Fn(&Registry) -> Profiles + Send + Sync>;
/// The code of an end at which the person takes the task over.
pub(crate) const HANDED_OVER: &str = "handed_over";

/// Shell tasks go to the shell, those of agents to an agent.
#[derive(Clone)]
pub struct AgentRunner {
    pub shell: ShellRunner,
    pub kit: AgentKit,
    pub port: Port,
    /// What is known about the tools, for the choice among them.
    pub profiles: ProfilesOf,
}

impl std::fmt::Debug for AgentRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentRunner").field("kit", &self.kit).finish_non_exhaustive()
    }
}

impl Runner for AgentRunner {
    fn run(&self, job: Job, cancel: CancellationToken, reports: Reports) -> BoxFuture<'static, ()> {
        if !matches!(job.task.run, RunKind::Agent {}) {
            return self.shell.run(job, cancel, reports);
        }
        let runner = self.clone();
        Box::pin(async move {
            let begun = Instant::now();
            runner.reach_servers(&cancel).await;
            let affinity = runner.ranked(&job.task);
            let Self { kit, port, .. } = runner;
            let brief = job.brief.map(|brief| *brief).unwrap_or_default();
            // A cancelled attempt gets none: the agent sees the cancellation before it does anything.
            let permit = kit.toolbox.permits().acquire_unless(&cancel).await;
            let work = AgentJob {
                goal: brief.goal,
                context: brief.context,
                past: brief.past,
                gate: Some(port.gate(&kit.gate)),
                affinity,
                held: permit.map(HeldPermit::new).unwrap_or_default(),
                ..AgentJob::new(Arc::new(TaskNode::clone(&job.task)), job.call.attempt)
            };
            let say = {
                let port = port.clone();
                move |event: AgentEvent| port.say(event)
            };
            let mut end = kit.run(&work, &say, &cancel).await;
            let mut work = work;
            while let Err(failure) = &end.result
                && failure.code == TASK_CAP
                && !cancel.is_cancelled()
            {
                port.flush().await;
                let request = at_its_limit(&job.task, &failure.message);
                match ask_at_limit(&port, request, &work.held, &kit, &cancel).await {
                    _ if cancel.is_cancelled() => {
                        let message = "the task was cancelled";
                        end.result = Err(Failure::new("cancelled", Category::Critical, message));
                    }
                    Some(ChoiceAction::HandToMe) => {
                        let message = "the person takes it over";
                        let failure = Failure::new(HANDED_OVER, Category::Critical, message);
                        end.result = Err(failure);
                    }
                    Some(ChoiceAction::GoOn) => {
                        work.past = port.progress_of(&job.task.id).await;
                        work.granted += kit.limits.react_max_iterations;
                        end = kit.run(&work, &say, &cancel).await;
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

    fn does_agents(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let toolbox = self.kit.toolbox.clone();
        Box::pin(async move { toolbox.stop_servers().await })
    }

    fn tool(&self, task: &TaskNode) -> (&'static str, &'static str) {
        match task.run {
            RunKind::Agent {} => ("agent", "1"),
            _ => self.shell.tool(task),
        }
    }

    fn sandbox(&self) -> SandboxState {
        self.shell.sandbox()
    }

    fn has_tool(&self, name: &str) -> bool {
        self.kit.toolbox.may_offer(name) && is_set_up(&self.kit.toolbox, name)
    }
}

/// Asks whether a task may go on, and leaves its slot to others meanwhile. Only a task that goes on waits for a slot again.
async fn ask_at_limit(
    port: &Port,
    request: Request,
    held: &HeldPermit,
    kit: &AgentKit,
    cancel: &CancellationToken,
) -> Option<ChoiceAction> {
    let ends = cancel.child_token();
    let asking = async {
        let action = tokio::select! {
            answer = port.ask(request) => answer.map(|answer| answer.action),
            () = cancel.cancelled() => None,
        };
        if action != Some(ChoiceAction::GoOn) {
            ends.cancel();
        }
        action
    };
    held.lend(kit.toolbox.permits(), &ends, asking).await
}

/// What the person is asked when a task has used up its iterations.
fn at_its_limit(task: &TaskNode, why: &str) -> Request {
    Request {
        id: RequestId(0),
        kind: RequestKind::TaskCap { task: task.id.clone() },
        question: format!("Let {} go on?", task.id),
        why: why.to_owned(),
        verbatim: Vec::new(),
        details: vec![Detail::new("task", task.description.clone())],
        choices: vec![
            Choice::new(
                ChoiceAction::GoOn,
                "go on",
                "as many iterations again, then it asks again",
            ),
            Choice::new(
                ChoiceAction::HandToMe,
                "hand it to me",
                "it becomes yours; what was done so far stays",
            ),
            Choice::new(
                ChoiceAction::StopTask,
                "let it fail",
                "dependents are skipped; retry it later",
            ),
        ],
        task: Some(task.id.clone()),
    }
}

impl AgentRunner {
    /// Starts the servers of the config before the first task of an agent. What cannot be reached is told, not fatal.
    async fn reach_servers(&self, cancel: &CancellationToken) {
        let reports = tokio::select! {
            reports = self.kit.toolbox.reach_servers() => reports,
            () = cancel.cancelled() => return,
        };
        for report in reports {
            let troubles = report.outcome.err().into_iter().chain(report.left_out);
            for trouble in troubles {
                let what = format!("server {}: {trouble}", report.server);
                let what = self.kit.toolbox.redactor().redact(&what).into_owned();
                self.port.say(SessionEvent::AnomalyNoted { what });
            }
        }
    }

    /// The tools by how well they fit a task; a score given in the plan goes before a calculated one.
    fn ranked(&self, task: &TaskNode) -> Vec<Ranked> {
        let year = jiff::Zoned::now().year();
        let features = affinity::features(&task.description, year);
        let profiles = (self.profiles)(&self.kit.toolbox.registry());
        let profiles: Vec<_> = profiles.iter().collect();
        affinity::rank(&features, &profiles, &task.tool_affinity, &task.tools)
    }
}
