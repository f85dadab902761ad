//! How agents reach the journal and the person: facts go in, intents are made durable, questions are answered.
//!
//! An agent never writes to the journal itself. It hands facts to the driver, which alone decides their order.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};

use super::person_waits::PersonWaits;
use super::{AgentBrief, SavedDecision};
use planwright_agents::clock::Clock;
use planwright_agents::{PersonChannel, WorkClock};
use planwright_drafting::gate::GatePolicy;
use planwright_model::agent_decision::{AgentDecision, PermittedCall};
use planwright_model::event::{
    AgentEvent, CallEvent, CallOutcome, Event, RepeatClass, RiskClass, Usage, WorktreeEvent,
};
use planwright_model::gate::GateDecision;
use planwright_model::permission::PermissionRule;
use planwright_model::request::RequestDetail;
use planwright_model::requests::{ToolCallQuestion, permission_request};
use planwright_model::{
    Answer, CallId, ChoiceAction as A, Digest, ExitCriterion, InteractionPolicy, Request,
    RequestId, RunKind, SessionId, TaskId, TaskNode,
};
use planwright_state::{AgentProgress, BreakerSlice, PersonMessage, PlanRevision, SessionState};
use planwright_store::SideWrite;
use planwright_tools::permission::{PlanGrant, SandboxState, working_directory};
use planwright_tools::{
    CallConclusion, CallConditions, CallHost, CallIntent, CallProgress, PermissionAnswer,
    PermissionRequest, RepeatKind, ToolEffect, ToolInvocation,
};

/// What an agent hands to the driver.
#[derive(Debug)]
pub(super) enum AgentPortMessage {
    Record(Box<Event>),
    /// Answered once the fact is durable, together with what is kept beside it.
    Commit(Box<Event>, Vec<SideWrite>, oneshot::Sender<()>),
    /// What a task changed, and the lines of it.
    Review(Box<WorktreeEvent>, Vec<RequestDetail>),
    /// Answered when the person has.
    Ask(Box<Request>, oneshot::Sender<Answer>),
    /// Answered once everything before it was taken.
    Barrier(oneshot::Sender<()>),
    /// Answered with what the agent of a task is told beside its task.
    Brief(TaskId, oneshot::Sender<Option<AgentBrief>>),
    /// Answered with how far a task's agent has come.
    Progress(TaskId, oneshot::Sender<Option<AgentProgress>>),
}

/// What decides about calls, as it was at the last batch.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentPortView {
    policy: InteractionPolicy,
    plan: Option<Arc<PlanRevision>>,
    approved: bool,
    grants: Vec<PermissionRule>,
    breakers: BreakerSlice,
    /// The session goes on from one that came from elsewhere.
    foreign: bool,
    gate: Option<GateDecision>,
    /// Tasks whose agent is to stop what it does and read a message.
    interrupted: BTreeSet<TaskId>,
    /// Tasks that work in a copy of the workspace.
    copies: BTreeSet<TaskId>,
}

/// The agents' end.
#[derive(Clone)]
pub struct AgentPort {
    sender: mpsc::UnboundedSender<AgentPortMessage>,
    view: Arc<RwLock<AgentPortView>>,
    /// Changes with every message that interrupts.
    interruptions: watch::Receiver<usize>,
    /// Rules from the person's own config.
    rules: Arc<[PermissionRule]>,
    session: SessionId,
    clock: Clock,
    save_decision: Arc<dyn Fn(&SavedDecision) + Send + Sync>,
    waits: PersonWaits,
}

impl std::fmt::Debug for AgentPort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}

/// The driver's end. It is taken once.
#[derive(Clone, Debug)]
pub struct AgentPortReceiver {
    receiver: Arc<Mutex<Option<mpsc::UnboundedReceiver<AgentPortMessage>>>>,
    view: Arc<RwLock<AgentPortView>>,
    interruptions: Arc<watch::Sender<usize>>,
}

impl AgentPortReceiver {
    pub(super) fn take_receiver(&self) -> Option<mpsc::UnboundedReceiver<AgentPortMessage>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Shows the agents where the session stands.
    pub(super) fn publish_view(&self, state: &SessionState) {
        let view = AgentPortView {
            policy: state.planning.interaction_policy(),
            plan: state.plan.current.clone(),
            approved: state.is_runnable(),
            grants: state.grants.clone(),
            breakers: state.breakers.clone(),
            foreign: state.session.foreign,
            gate: state.planning.gate.clone(),
            interrupted: interrupted_tasks(state),
            copies: state.worktrees.pending_tasks().cloned().collect(),
        };
        let count = view.interrupted.len();
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = view;
        self.interruptions.send_if_modified(|before| std::mem::replace(before, count) != count);
    }
}

/// Makes both ends for a session.
pub fn open_agent_port(
    session: SessionId,
    rules: Vec<PermissionRule>,
    clock: Clock,
    keep: Arc<dyn Fn(&SavedDecision) + Send + Sync>,
) -> (AgentPort, AgentPortReceiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (interrupts, interruptions) = watch::channel(0);
    let view = Arc::new(RwLock::new(AgentPortView::default()));
    let receiver = AgentPortReceiver {
        receiver: Arc::new(Mutex::new(Some(receiver))),
        view: Arc::clone(&view),
        interruptions: Arc::new(interrupts),
    };
    let rules = rules.into();
    let port = AgentPort {
        sender,
        view,
        interruptions,
        rules,
        session,
        clock,
        save_decision: keep,
        waits: PersonWaits::default(),
    };
    (port, receiver)
}

/// Tasks whose agent has an unread message that interrupts it.
fn interrupted_tasks(state: &SessionState) -> BTreeSet<TaskId> {
    let waits =
        |progress: &AgentProgress| progress.undelivered_messages().any(|message| message.interrupt);
    let agents = state.agents.iter().filter(|(_, progress)| waits(progress));
    agents.map(|(task, _)| task.clone()).collect()
}

impl AgentPort {
    /// Hands a fact over. Nobody listens any more only when the session is gone.
    pub fn record(&self, event: impl Into<Event>) {
        let message = AgentPortMessage::Record(Box::new(event.into()));
        if self.sender.send(message).is_err() {
            tracing::debug!("an event of an agent came after the end of its session");
        }
    }

    /// Hands a fact over and waits until it is durable.
    async fn commit_event(
        &self,
        event: impl Into<Event>,
        beside: Vec<SideWrite>,
    ) -> Result<(), String> {
        let (done, durable) = oneshot::channel();
        let _ = self.sender.send(AgentPortMessage::Commit(Box::new(event.into()), beside, done));
        durable.await.map_err(|_| "the session is closing".to_owned())
    }

    /// Makes an intent to change the workspace durable.
    pub(crate) async fn commit_worktree(&self, event: WorktreeEvent) -> Result<(), String> {
        self.commit_event(event, Vec::new()).await
    }

    /// Hands over what a task changed.
    pub(crate) fn propose_changes(&self, event: WorktreeEvent, diffs: Vec<RequestDetail>) {
        if self.sender.send(AgentPortMessage::Review(Box::new(event), diffs)).is_err() {
            tracing::debug!("the changes of a task came after the end of its session");
        }
    }

    /// Waits until everything handed over before was taken.
    pub async fn flush(&self) {
        let (done, taken) = oneshot::channel();
        if self.sender.send(AgentPortMessage::Barrier(done)).is_ok() {
            // An error means that the session is gone, and with it what was handed over.
            let _ = taken.await;
        }
    }

    /// What the agent of a task is told beside its task. `None` when the session is gone.
    pub async fn agent_brief(&self, task: &TaskId) -> Option<AgentBrief> {
        let (told, brief) = oneshot::channel();
        self.sender.send(AgentPortMessage::Brief(task.clone(), told)).ok()?;
        brief.await.ok().flatten()
    }

    /// How far a task's agent has come, everything handed over before included.
    pub async fn agent_progress(&self, task: &TaskId) -> Option<AgentProgress> {
        let (told, progress) = oneshot::channel();
        self.sender.send(AgentPortMessage::Progress(task.clone(), told)).ok()?;
        progress.await.ok().flatten()
    }

    /// Puts a question to the person. `None` when nobody can answer any more.
    pub async fn ask_person(&self, request: Request) -> Option<Answer> {
        let plan = self.current_view().plan.map(|revision| Arc::clone(&revision.plan));
        let _waits = request.task.as_ref().map(|task| self.waits.begin(task, plan.as_deref()));
        let (answered, answer) = oneshot::channel();
        self.sender.send(AgentPortMessage::Ask(Box::new(request), answered)).ok()?;
        answer.await.ok()
    }

    /// A clock for an attempt that begins now.
    pub(crate) fn work_clock(&self, task: &TaskId) -> WorkClock {
        WorkClock::start(Arc::new(self.clone()), task)
    }

    /// The gate's settings, with what was decided for the session over them.
    pub fn gate_policy(&self, base: &GatePolicy) -> GatePolicy {
        self.current_view()
            .gate
            .map_or_else(|| base.clone(), |decision| base.with_decision(&decision))
    }

    fn current_view(&self) -> AgentPortView {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The classes that the card of a plan lists for a task.
pub fn listed_classes(task: &TaskNode) -> BTreeSet<RiskClass> {
    let mut classes = BTreeSet::from([RiskClass::Read]);
    let by_type: &[RiskClass] = match task.task_type.as_str() {
        "code_modify" | "code_create" => &[RiskClass::Write, RiskClass::Execute],
        "skill_build" => &[RiskClass::Write, RiskClass::Network],
        "research" => &[RiskClass::Network],
        _ => &[],
    };
    classes.extend(by_type);
    // An agent of the person's own works in a copy, and its changes are looked at before they count.
    if task.run.own_agent().is_some() || task.run.is_pick() {
        classes.extend([RiskClass::Write, RiskClass::Execute]);
    }
    for tool in task.tools.iter().chain(task.tool_affinity.keys()) {
        let class = match tool.as_str() {
            "file.write" | "file.edit" | "skill.generator" => Some(RiskClass::Write),
            "shell.run" | "test.run" => Some(RiskClass::Execute),
            "web.fetch" | "web.search" | "internet.research" => Some(RiskClass::Network),
            _ => None,
        };
        classes.extend(class);
    }
    classes
}

fn task_phase(task: &TaskNode) -> Option<&str> {
    task.metadata.get("phase").and_then(serde_json::Value::as_str)
}

fn plan_grant(view: &AgentPortView, task: &TaskId) -> Option<PlanGrant> {
    let plan = view.plan.as_deref().filter(|_| view.approved)?;
    // A subtask acts for the task that called it.
    let node = task.find_owner(|id| plan.plan.tasks.iter().find(|node| node.id.as_str() == id))?;
    let phase = task_phase(node);
    let same_phase = plan.plan.tasks.iter().filter(|other| task_phase(other) == phase);
    Some(PlanGrant {
        revision: plan.hash.clone(),
        task_classes: listed_classes(node),
        phase_classes: same_phase.flat_map(listed_classes).collect(),
        phase_grants: BTreeSet::new(),
        commands: plan.plan.tasks.iter().filter_map(shell_command).collect(),
        checks: check_commands(node),
        hosts: BTreeSet::new(),
    })
}

fn shell_command(task: &TaskNode) -> Option<String> {
    match &task.run {
        RunKind::Shell(command) => Some(command.clone()),
        _ => None,
    }
}

/// The commands that tell whether a task is done. They were approved with the plan.
fn check_commands(task: &TaskNode) -> BTreeSet<String> {
    let command = |criterion: &ExitCriterion| match criterion {
        ExitCriterion::Command { command, .. } => Some(command.clone()),
        _ => None,
    };
    task.exit_criteria.iter().filter_map(command).collect()
}

fn repeat_class(repeat: RepeatKind) -> RepeatClass {
    match repeat {
        RepeatKind::Unsafe | RepeatKind::Verifiable => RepeatClass::Unsafe,
        _ => RepeatClass::Safe,
    }
}

/// Whether a task, or the one that it is a part of, works in a copy.
fn works_in_copy(task: &TaskId, copies: &BTreeSet<TaskId>) -> bool {
    task.find_owner(|id| copies.iter().find(|copy| copy.as_str() == id)).is_some()
}

/// What the person is asked about a call; the driver numbers it.
fn tool_call_request(ask: &PermissionRequest, view: &AgentPortView) -> Request {
    let resolved = &ask.resolved;
    let plan = view.plan.as_ref().map(|revision| &revision.plan);
    let node = plan.and_then(|plan| plan.tasks.iter().find(|node| node.id == ask.call.task));
    let question = ToolCallQuestion {
        call: &ask.call,
        title: node.map_or(ask.call.task.as_str(), |node| node.description.as_str()),
        tool: &ask.tool,
        class: ask.class,
        why: &ask.why,
        command: resolved.command.as_deref(),
        url: resolved.url.as_deref(),
        directory: working_directory(resolved),
        files: resolved.paths.iter().map(|touched| touched.path.as_str()).collect(),
        args: &resolved.args,
        preview: resolved.preview.as_deref(),
        is_foreign: resolved.pin.is_some(),
        has_network: resolved.effect == ToolEffect::ExecuteNetwork,
        asked_by: ask.asked_by.as_deref(),
        in_copy: ask.asked_by.is_some() || works_in_copy(&ask.call.task, &view.copies),
        input: ask.asked_by.as_ref().map(|_| {
            Digest::from_json(&serde_json::json!([ask.tool, resolved.args, resolved.preview]))
        }),
        unconfined: match &ask.sandbox {
            SandboxState::Enforced => None,
            SandboxState::NotEnforced { why } => Some(why),
        },
        rule: ask.offers.rule.as_ref().map(PermissionRule::describe_beside_call),
    };
    permission_request(RequestId::UNASSIGNED, &question)
}

impl PersonChannel for AgentPort {
    fn ask_person(&self, request: Request) -> BoxFuture<'_, Option<Answer>> {
        Box::pin(Self::ask_person(self, request))
    }

    fn waited(&self, task: &TaskId) -> Duration {
        self.waits.total(task)
    }

    fn undelivered_messages<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Vec<PersonMessage>> {
        Box::pin(async move {
            let progress = self.agent_progress(task).await.unwrap_or_default();
            progress.undelivered_messages().cloned().collect()
        })
    }

    fn interruption<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, ()> {
        let mut changes = self.interruptions.clone();
        Box::pin(async move {
            while !self.current_view().interrupted.contains(task) {
                // The session is gone: nobody interrupts any more.
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        })
    }
}

impl CallHost for AgentPort {
    fn call_conditions(&self, call: &ToolInvocation) -> CallConditions {
        let view = self.current_view();
        let now: Timestamp = (self.clock)();
        let open = view.breakers.open_for_ms(&call.tool, now);
        CallConditions {
            autonomy: view.policy.autonomy,
            approval_policy: view.policy.approval_policy,
            plan: plan_grant(&view, &call.id.task),
            rules: self.rules.to_vec(),
            grants: view.grants.clone(),
            first_after_import: view.foreign,
            breaker_open_ms: (open > 0).then_some(open),
            ..CallConditions::default()
        }
    }

    fn ask_permission<'a>(&'a self, ask: &'a PermissionRequest) -> BoxFuture<'a, PermissionAnswer> {
        let request = tool_call_request(ask, &self.current_view());
        Box::pin(async move {
            let Some(answer) = AgentPort::ask_person(self, request.clone()).await else {
                return PermissionAnswer::Nobody;
            };
            match answer.action {
                A::AllowOnce => PermissionAnswer::Once,
                A::AllowForSession => match ask.offers.rule.clone() {
                    Some(rule) => {
                        let words = rule.describe();
                        self.record(AgentEvent::Granted { rule: rule.clone(), words });
                        PermissionAnswer::Session { rule }
                    }
                    None => PermissionAnswer::Once,
                },
                A::AllowAlways => match ask.offers.rule.clone() {
                    Some(offered) => {
                        let rule = request.apply_typed_rule(offered, &answer);
                        (self.save_decision)(&SavedDecision::Rule(rule.clone()));
                        PermissionAnswer::Always { rule }
                    }
                    None => PermissionAnswer::Once,
                },
                A::Deny => PermissionAnswer::Deny {
                    reason: answer.text.unwrap_or_else(|| "the person said no".to_owned()),
                },
                _ => PermissionAnswer::Stop,
            }
        })
    }

    fn record_intent<'a>(&'a self, intent: &'a CallIntent) -> BoxFuture<'a, Result<(), String>> {
        let permitted = PermittedCall {
            permission: intent.because.clone(),
            call: intent.call.to_string(),
            tool: intent.tool.clone(),
        };
        self.record(AgentEvent::Decided {
            task: intent.call.task.clone(),
            attempt: intent.call.attempt,
            decision: Box::new(AgentDecision::Permitted(permitted)),
        });
        let intended = CallEvent::Intended {
            call: intent.call.clone(),
            tool: intent.tool.clone(),
            version: intent.version.clone(),
            input: intent.args.clone(),
            input_hash: intent.args_hash.clone(),
            class: intent.class,
            repeat: repeat_class(intent.repeat),
            file: intent.resolved.file_change().filter(|_| intent.repeat == RepeatKind::Verifiable),
        };
        Box::pin(self.commit_event(intended, Vec::new()))
    }

    fn record_conclusion<'a>(
        &'a self,
        conclusion: &'a CallConclusion,
    ) -> BoxFuture<'a, Result<(), String>> {
        let outcome = match conclusion.result.to_failure() {
            None => CallOutcome::Exited { code: 0 },
            Some(failure) if failure.code == "cancelled" => CallOutcome::Cancelled,
            Some(failure) => CallOutcome::Errored { failure },
        };
        let concluded = CallEvent::Concluded {
            call: conclusion.call.clone(),
            outcome,
            elapsed_ms: conclusion.elapsed.as_millis() as u64,
            output_bytes: conclusion.full_output.as_ref().map_or(0, String::len) as u64,
            dropped_bytes: 0,
            usage: Usage::default(),
        };
        let beside = crate::tool_services::side_writes(conclusion, self.session.as_str());
        Box::pin(self.commit_event(concluded, beside))
    }

    fn record_outside_end(&self, call: &CallId, outcome: CallOutcome, elapsed: Duration) {
        self.record(CallEvent::Concluded {
            call: call.clone(),
            outcome,
            elapsed_ms: elapsed.as_millis() as u64,
            output_bytes: 0,
            dropped_bytes: 0,
            usage: Usage::default(),
        });
    }

    fn record_progress(&self, call: &CallId, progress: CallProgress) {
        let call = call.clone();
        match progress {
            CallProgress::Spawned { pid, started_ticks } => {
                self.record(CallEvent::Spawned { call, pid, started_ticks });
            }
            CallProgress::Output { stream, text } => {
                self.record(CallEvent::Output { call, stream, text });
            }
            CallProgress::Child { child, title, state } => {
                self.record(AgentEvent::ChildMoved { task: call.task, child, title, state });
            }
        }
    }
}
