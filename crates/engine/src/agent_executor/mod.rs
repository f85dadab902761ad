//! Tasks of agents by the built-in agent, and commands as local processes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::AgentPort;
use crate::worktree_runner::WorktreeRunner;
use planwright_agents::{
    AgentEnd, AgentJob, AgentServices, DependencyResult, HANDED_OVER, OwnAgent, OwnAgents,
    TASK_CAP, WorkClock, is_tool_configured,
};
use planwright_model::WorktreeOverlap;
use planwright_model::event::{AgentEvent, CallOutcome, SessionEvent};
use planwright_model::requests::task_limit_request;
use planwright_model::{
    AgentProfile, CallId, Category, ChoiceAction, ExecutionFailure, Request, RequestId, RunKind,
    SessionId, TaskNode, agent_title,
};
use planwright_state::{AgentProgress, TaskWorktree};
use planwright_tools::affinity::{self, RankedTool, ToolProfiles};
use planwright_tools::context::HeldPermit;
use planwright_tools::permission::SandboxState;
use planwright_tools::worktree::borrowed_objects;
use planwright_tools::{
    AttemptEventSink, AttemptOutcome, AttemptWork, LocalProcessExecutor, TaskAttempt, TaskExecutor,
    ToolRegistry,
};

#[cfg(test)]
mod tests;

/// What is known about the tools of a registry right now.
pub type ToolProfileLookup = Arc<dyn Fn(&ToolRegistry) -> ToolProfiles + Send + Sync>;

/// What an agent knows when it begins.
#[derive(Clone, Debug, Default)]
pub struct AgentBrief {
    pub goal: Option<String>,
    /// What came of the tasks that it depends on.
    pub context: Vec<DependencyResult>,
    /// The plan around the task, a line for each task that matters to it.
    pub overview: Vec<String>,
    /// How far an interrupted attempt had come.
    pub past: Option<AgentProgress>,
    /// The copy of the workspace that the task has already.
    pub worktree: Option<TaskWorktree>,
    /// What an earlier attempt changed was discarded or undone.
    pub given_up: bool,
    /// Tasks under way that change files which this one names.
    pub overlaps: Vec<WorktreeOverlap>,
    /// What the person said and the plan must respect.
    pub facts: Vec<String>,
    /// What the person remarked about the task.
    pub comments: Vec<String>,
    /// A question of the agent that waits for an answer, or whose answer waits for the agent.
    pub open_question: Option<String>,
}

/// Shell tasks become local processes, those of agents go to the built-in agent.
#[derive(Clone)]
pub struct BuiltInAgentExecutor {
    pub processes: LocalProcessExecutor,
    pub services: AgentServices,
    pub port: AgentPort,
    /// What is known about the tools, for the choice among them.
    pub profiles: ToolProfileLookup,
    /// Gives tasks that write a copy of the workspace; without it they write to the workspace itself.
    pub worktrees: Option<WorktreeRunner>,
    /// The person's own agents, which do the tasks that name them.
    pub own_agents: Arc<OwnAgents>,
    /// `enable_tool_affinity`: whether scores order tools and leave out those that do not fit.
    pub uses_affinity: bool,
}

impl std::fmt::Debug for BuiltInAgentExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltInAgentExecutor").field("kit", &self.services).finish_non_exhaustive()
    }
}

impl TaskExecutor for BuiltInAgentExecutor {
    fn start(
        &self,
        attempt: TaskAttempt,
        events: AttemptEventSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        // Checks are commands, whoever does the task.
        if !matches!(attempt.task.run, RunKind::Agent(_)) || attempt.work != AttemptWork::Task {
            return self.processes.start(attempt, events, cancel);
        }
        Box::pin(async move {
            let clock = self.port.work_clock(&attempt.task.id);
            let outcome = Box::pin(self.run_within_limit(&attempt, &clock, &cancel)).await;
            // Everything the agent said goes before the end of its attempt.
            self.port.flush().await;
            AttemptOutcome { elapsed: clock.worked(), ..AttemptOutcome::without_output(outcome) }
        })
    }

    fn runs_agents(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.processes.close().await;
            self.services.toolbox.stop_servers().await;
        })
    }

    fn tool_identity(&self, task: &TaskNode) -> (&'static str, &'static str) {
        match task.run {
            RunKind::Agent(_) => ("agent", "1"),
            _ => self.processes.tool_identity(task),
        }
    }

    fn confirm_attempt(&self, session: &SessionId, call: &CallId) {
        self.processes.confirm_attempt(session, call);
    }

    fn collect_leftover_output<'a>(
        &'a self,
        session: &'a SessionId,
        call: &'a CallId,
        task: &'a TaskNode,
        journaled: u64,
        events: AttemptEventSink,
    ) -> BoxFuture<'a, ()> {
        self.processes.collect_leftover_output(session, call, task, journaled, events)
    }

    fn sandbox_state(&self) -> SandboxState {
        self.processes.sandbox_state()
    }

    fn has_tool(&self, name: &str) -> bool {
        self.services.toolbox.can_offer(name) && is_tool_configured(&self.services.toolbox, name)
    }

    fn computed_affinity(&self, task: &TaskNode, available: &dyn Fn(&str) -> bool) -> Option<f64> {
        if !matches!(task.run, RunKind::Agent(_)) || task.run.own_agent().is_some() {
            return None;
        }
        let ranked = self.rank_tools(task);
        let mut usable = ranked.iter().filter(|one| available(&one.tool));
        usable.next().map(|best| best.affinity.score)
    }
}

/// Has a task done by whoever it was given to.
async fn run_by(
    own: Option<&OwnAgent>,
    services: &AgentServices,
    work: &AgentJob,
    say: &(dyn Fn(AgentEvent) + Send + Sync),
    cancel: &CancellationToken,
) -> AgentEnd {
    match own {
        Some(agent) => services.run_own_agent(work, agent, say, cancel).await,
        None => services.run_attempt(work, say, cancel).await,
    }
}

/// Which agent works on a task that several agents tried.
enum PickedAgent {
    /// The task is no such task.
    NotNeeded,
    /// Nothing is picked yet: there is nothing to do before the person or the policy picks.
    NotYet,
    /// The one whose result was picked.
    Named(String),
}

fn critical(code: &str, message: &str) -> ExecutionFailure {
    ExecutionFailure::new(code, Category::Critical, message)
}

impl BuiltInAgentExecutor {
    /// Ends an agent at the time limit of its task, where it has one.
    async fn run_within_limit(
        &self,
        attempt: &TaskAttempt,
        clock: &WorkClock,
        cancel: &CancellationToken,
    ) -> CallOutcome {
        let Some(limit_seconds) = attempt.task.timeout_seconds else {
            return self.run_agent(attempt, cancel).await;
        };
        let own = cancel.child_token();
        let running = self.run_agent(attempt, &own);
        tokio::pin!(running);
        tokio::select! {
            outcome = &mut running => outcome,
            () = clock.reach(Duration::from_secs(limit_seconds)) => {
                own.cancel();
                match running.await {
                    CallOutcome::Cancelled => CallOutcome::TimedOut { limit_seconds },
                    ended => ended,
                }
            }
        }
    }

    async fn run_agent(&self, attempt: &TaskAttempt, cancel: &CancellationToken) -> CallOutcome {
        let picked = match self.picked_agent(attempt).await {
            PickedAgent::NotYet => return CallOutcome::Exited { code: 0 },
            PickedAgent::NotNeeded => None,
            PickedAgent::Named(name) => Some(name),
        };
        self.reach_servers(cancel).await;
        let prepared = match self.own_agent(attempt, picked.as_deref()) {
            Ok(own) => self.agent_job(attempt, own.is_some(), cancel).await.map(|job| (own, job)),
            Err(failure) => Err(failure),
        };
        let (own, (mut work, services)) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => return CallOutcome::Errored { failure },
        };
        let say = |event: AgentEvent| self.port.record(event);
        let mut end = run_by(own, &services, &work, &say, cancel).await;
        while let Err(failure) = &end.result
            && failure.code == TASK_CAP
            && !cancel.is_cancelled()
        {
            self.port.flush().await;
            let request =
                task_limit_request(RequestId::UNASSIGNED, &attempt.task, &failure.message);
            match self.ask_at_limit(request, &work.held, cancel).await {
                _ if cancel.is_cancelled() => {
                    end.result = Err(critical("cancelled", "the task was cancelled"));
                }
                Some(ChoiceAction::HandToMe) => {
                    end.result = Err(critical(HANDED_OVER, "the person takes it over"));
                }
                Some(ChoiceAction::GoOn) => {
                    self.renew_budget(attempt, &mut work).await;
                    end = run_by(own, &services, &work, &say, cancel).await;
                }
                _ => break,
            }
        }
        match end.result {
            Ok(_) => CallOutcome::Exited { code: 0 },
            Err(failure) if failure.code == "cancelled" => CallOutcome::Cancelled,
            Err(failure) => CallOutcome::Errored { failure },
        }
    }

    /// Who does a task that several agents tried.
    async fn picked_agent(&self, attempt: &TaskAttempt) -> PickedAgent {
        if !attempt.task.run.is_pick() {
            return PickedAgent::NotNeeded;
        }
        let progress = self.port.agent_progress(&attempt.task.id).await;
        let picked = progress.and_then(|progress| progress.picked);
        picked.map_or(PickedAgent::NotYet, PickedAgent::Named)
    }

    /// The person's own agent that does the task, if one does.
    fn own_agent(
        &self,
        attempt: &TaskAttempt,
        picked: Option<&str>,
    ) -> Result<Option<&OwnAgent>, ExecutionFailure> {
        let Some(name) = attempt.task.run.own_agent().or(picked) else { return Ok(None) };
        let unknown = || {
            let title = agent_title(name);
            let message = format!(
                "{title} is not set up here; `planwright agents list` shows how to turn it on"
            );
            critical("agent_unknown", &message)
        };
        self.own_agents.get(name).map(Some).ok_or_else(unknown)
    }

    /// The task with what its agent is told, and the services in the workspace where it works.
    async fn agent_job(
        &self,
        attempt: &TaskAttempt,
        is_own_agent: bool,
        cancel: &CancellationToken,
    ) -> Result<(AgentJob, AgentServices), ExecutionFailure> {
        let brief = self.port.agent_brief(&attempt.task.id).await.unwrap_or_default();
        let permits = self.services.toolbox.permits();
        // A cancelled attempt gets none: the agent sees the cancellation before it does anything.
        let permit = permits.acquire_unless_cancelled(cancel).await;
        let mut work = AgentJob {
            goal: brief.goal,
            context: brief.context,
            overview: brief.overview,
            past: brief.past,
            facts: brief.facts,
            comments: brief.comments,
            open_question: brief.open_question,
            gate: Some(self.port.gate_policy(&self.services.gate)),
            affinity: self.rank_tools(&attempt.task),
            uses_affinity: self.uses_affinity,
            held: permit.map(HeldPermit::new).unwrap_or_default(),
            ..AgentJob::new(Arc::new(TaskNode::clone(&attempt.task)), attempt.call.attempt)
        };
        let mut services = self.services.clone();
        let known = brief.worktree;
        let copies = self.worktrees.as_ref();
        if is_own_agent && copies.is_none() {
            let message = "an agent of your own works in a copy of the workspace; set worktrees = true in the config";
            return Err(critical("worktree_failed", message));
        }
        let needs_copy = || known.is_some() || is_own_agent || services.may_write(&work);
        if let Some(copies) = copies.filter(|_| needs_copy()) {
            let anew = || "begin anew: what an earlier attempt changed was given up".to_owned();
            work.hint = known.as_ref().and_then(|copy| copy.hint.clone());
            work.hint = work.hint.or_else(|| brief.given_up.then(anew));
            let own = (&attempt.call.task, attempt.call.attempt);
            let opened = copies.open_for_attempt(own, known, brief.overlaps).await?;
            work.worktree = Some(opened.describe(copies));
            let objects = borrowed_objects(copies.workspace.root());
            services.toolbox = services.toolbox.with_workspace(opened.workspace, objects);
        }
        Ok((work, services))
    }

    /// Gives an agent that may go on as much again as it had.
    async fn renew_budget(&self, attempt: &TaskAttempt, work: &mut AgentJob) {
        work.past = self.port.agent_progress(&attempt.task.id).await;
        let own = attempt.task.run.own_agent().is_some() || attempt.task.run.is_pick();
        if own || self.services.attempt_profile(work) == AgentProfile::Large {
            let (task, attempt) = (attempt.task.id.clone(), attempt.call.attempt);
            self.port.record(AgentEvent::BudgetRenewed { task: task.clone(), attempt });
            work.past = self.port.agent_progress(&task).await;
        } else {
            work.granted += self.services.limits.react_max_iterations;
        }
    }

    /// Asks whether a task may go on, and leaves its slot to others meanwhile. Only a task that goes on waits for a slot
    /// again.
    async fn ask_at_limit(
        &self,
        request: Request,
        held: &HeldPermit,
        cancel: &CancellationToken,
    ) -> Option<ChoiceAction> {
        let ends = cancel.child_token();
        let asking = async {
            let action = tokio::select! {
                answer = self.port.ask_person(request) => answer.map(|answer| answer.action),
                () = cancel.cancelled() => None,
            };
            if action != Some(ChoiceAction::GoOn) {
                ends.cancel();
            }
            action
        };
        held.release_while(self.services.toolbox.permits(), &ends, asking).await
    }

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
        if !self.uses_affinity {
            return Vec::new();
        }
        let year = jiff::Zoned::now().year();
        let features = affinity::extract_features(&task.description, year);
        let profiles = (self.profiles)(&self.services.toolbox.registry());
        let profiles: Vec<_> = profiles.iter().collect();
        affinity::rank_tools(&features, &profiles, &task.tool_affinity, &task.tools)
    }
}
