//! Agents at work: what they hand in, what they ask, and how their attempts begin and are cancelled.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::worktrees::names_file;
use super::{DeferredAction, Driver, TURN, task_brief};
use crate::agent_executor::AgentBrief;
use crate::agent_port::AgentPortMessage;
use crate::caps;
use crate::controller;
use planwright_llm::cost::BudgetCeiling;
use planwright_model::event::{
    ApprovalEvent, CallOutcome, Event, PauseCause, PlanningEvent, RunEvent, TaskEvent,
};
use planwright_model::limits::MAX_WAITING_ATTEMPTS;
use planwright_model::request::RequestDetail;
use planwright_model::{
    Answer, CallId, ChoiceAction, ExecutionFailure, Request, RequestId, RequestKind, RunCap,
    TaskId, TaskNode, WorktreeOverlap,
};
use planwright_tools::{AttemptWork, TaskAttempt, TaskRef};

/// Whether an agent waits for the answer.
fn is_agent_request(kind: &RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::Permission { .. }
            | RequestKind::TaskCap { .. }
            | RequestKind::AgentQuestion { .. }
            | RequestKind::PartlyDone { .. }
    )
}

impl Driver {
    pub(super) fn on_agent_message(&mut self, message: AgentPortMessage) {
        match message {
            AgentPortMessage::Record(event) => self.record(*event),
            AgentPortMessage::Commit(event, beside, done) => {
                self.record(*event);
                self.side_writes.extend(beside);
                self.starts.push(DeferredAction::Durable(done));
            }
            AgentPortMessage::Review(event, diffs) => {
                self.reviews.insert(event.task_id().clone(), diffs);
                self.record(*event);
            }
            AgentPortMessage::Ask(request, answer) => self.ask_person(request, answer),
            // Whoever was cancelled meanwhile does not wait for these answers any more.
            AgentPortMessage::Barrier(done) => {
                let _ = done.send(());
            }
            AgentPortMessage::Brief(task, told) => {
                // Whoever asked may have been cancelled meanwhile.
                let _ = told.send(self.agent_brief(&task));
            }
            AgentPortMessage::Progress(task, told) => {
                let _ = told.send(self.state.agents.get(&task).cloned());
            }
        }
    }

    pub(super) fn drain_agent_messages(&mut self) {
        for _ in 0..TURN {
            match self.agent_messages.try_recv() {
                Ok(message) => self.on_agent_message(message),
                Err(_) => return,
            }
        }
    }

    /// Puts a question of an agent to the person. One that another process left open is the same question still: it
    /// keeps its number, and what was answered since counts.
    fn ask_person(&mut self, mut request: Box<Request>, waiting: oneshot::Sender<Answer>) {
        if let Some(at) =
            self.answered_early.iter().position(|(open, _)| open.is_same_question(&request))
        {
            let (_, answer) = self.answered_early.swap_remove(at);
            self.starts.push(DeferredAction::Reply(waiting, Box::new(answer)));
            return;
        }
        if let Some(answer) = self.grant_repeat(&request) {
            self.starts.push(DeferredAction::Reply(waiting, Box::new(answer)));
            return;
        }
        let left_open = self.state.requests.open.values().find(|open| {
            !self.asked.contains_key(&open.request.id) && open.request.is_same_question(&request)
        });
        request.id =
            left_open.map_or_else(|| self.state.requests.next_id(), |open| open.request.id);
        if left_open.is_none()
            && let Some(task) = request.task.clone()
        {
            self.withdraw_stale_requests(&task, "it is asked anew");
        }
        request.details.extend(self.words_fact(&request));
        request.details.extend(self.spending_fact(&request));
        self.asked.insert(request.id, waiting);
        self.record(ApprovalEvent::Asked { request: Arc::from(request) });
    }

    /// What the agent that asks said before the call, in its own words.
    fn words_fact(&self, request: &Request) -> Option<RequestDetail> {
        if !matches!(request.kind, RequestKind::Permission { .. }) {
            return None;
        }
        let said = &self.state.agents.get(request.task.as_ref()?)?.said;
        let said = planwright_text::clean_line(said);
        (!said.trim().is_empty()).then(|| RequestDetail::new("It says", format!("\"{said}\"")))
    }

    /// What the task that asks has used so far, if it used anything.
    fn spending_fact(&self, request: &Request) -> Option<RequestDetail> {
        let task = request.task.as_ref()?;
        let row = self.state.tasks.get(task)?;
        let own = self.state.agents.get(task).map_or(0, |progress| progress.tokens);
        let tokens = row.tokens.max(own);
        let spent = format!("{} tokens", planwright_text::units::format_tokens(tokens));
        let spent = if row.cost.0 > 0 { format!("{spent}, {}", row.cost) } else { spent };
        (tokens > 0).then(|| RequestDetail::new("So far", spent))
    }

    /// To run a call in doubt again is to allow this very call once; it is not asked about twice.
    fn grant_repeat(&mut self, request: &Request) -> Option<Answer> {
        let RequestKind::Permission { call, .. } = &request.kind else { return None };
        let own = |(task, step): &(TaskId, u32)| *task == call.task && *step == call.step;
        let at = self.run_again.iter().position(own)?;
        self.run_again.swap_remove(at);
        Some(Answer::from(ChoiceAction::AllowOnce))
    }

    /// Hands an answer to the agent that waits for it, once it is durable. One that came before its agent was back is
    /// kept until the agent asks.
    pub(super) fn answer_agent(&mut self, id: RequestId, answer: &Answer) {
        if let Some(waiting) = self.asked.remove(&id) {
            self.starts.push(DeferredAction::Reply(waiting, Box::new(answer.clone())));
            return;
        }
        let Some(open) = self.state.requests.open.get(&id) else { return };
        match &open.request.kind {
            RequestKind::Permission { call, .. } if self.is_shell_task(&call.task) => {}
            kind if is_agent_request(kind) => {
                self.answered_early.push((Arc::clone(&open.request), answer.clone()));
            }
            RequestKind::InDoubt { call } if answer.action == ChoiceAction::RunAgain => {
                self.run_again.push((call.task.clone(), call.step));
            }
            _ => {}
        }
    }

    /// How many attempts wait for an answer of the person and leave their slot to others meanwhile.
    pub(super) fn waiting_attempts(&self) -> usize {
        if self.asked.is_empty() {
            return 0;
        }
        let asking: BTreeSet<usize> = self
            .open_agent_requests()
            .filter(|request| self.asked.contains_key(&request.id))
            .filter_map(|request| self.state.tasks.owner_position(request.task.as_ref()?))
            .collect();
        let waits = |call: &&CallId| {
            self.state.tasks.position(&call.task).is_some_and(|task| asking.contains(&task))
        };
        self.running.keys().filter(waits).count().min(MAX_WAITING_ATTEMPTS)
    }

    /// Questions of an attempt that is over no longer make sense. Those of one that ends because this process leaves
    /// stay open: the person may answer them before the next one takes it up.
    pub(super) fn withdraw_attempt_requests(&mut self, call: &CallId) {
        if self.closing.is_some() {
            return;
        }
        let tasks = &self.state.tasks;
        let position = tasks.position(&call.task);
        let own = |task: &TaskId| {
            *task == call.task || (position.is_some() && tasks.owner_position(task) == position)
        };
        let asking: Vec<RequestId> = self
            .open_agent_requests()
            .filter(|request| request.task.as_ref().is_some_and(own))
            .map(|request| request.id)
            .collect();
        self.answered_early.retain(|(request, _)| !request.task.as_ref().is_some_and(own));
        self.run_again.retain(|(task, _)| !own(task));
        for id in asking {
            self.asked.remove(&id);
            let why = "the attempt is over".to_owned();
            self.record(ApprovalEvent::Withdrawn { id, why });
        }
    }

    /// Takes back what an earlier process asked for a task and nobody waits for any more.
    pub(super) fn withdraw_stale_requests(&mut self, task: &TaskId, why: &str) {
        let stale: Vec<RequestId> = self
            .open_agent_requests()
            .filter(|request| request.task.as_ref() == Some(task))
            .filter(|request| !self.asked.contains_key(&request.id))
            .map(|request| request.id)
            .collect();
        for id in stale {
            self.record(ApprovalEvent::Withdrawn { id, why: why.to_owned() });
        }
    }

    fn open_agent_requests(&self) -> impl Iterator<Item = &Request> {
        let open = self.state.requests.open.values().map(|open| &*open.request);
        open.filter(|request| is_agent_request(&request.kind))
    }

    /// Begins an attempt of an agent. Its own calls are journaled one by one; the attempt as a whole has no intent.
    pub(super) fn start_agent(&mut self, node: &TaskRef, attempt: u32) {
        let call = CallId { task: node.id.clone(), attempt, step: 0 };
        self.running.insert(call.clone(), CancellationToken::new());
        let attempt = TaskAttempt {
            session: self.journal.session().clone(),
            call,
            task: node.clone(),
            work: AttemptWork::Task,
            workspace: std::path::PathBuf::from(&self.state.session.workspace),
            confined: false,
            variables: Vec::new(),
        };
        self.starts.push(DeferredAction::Attempt(Box::new(attempt)));
    }

    /// What the agent of a task is told beside its task.
    fn agent_brief(&self, id: &TaskId) -> Option<AgentBrief> {
        let task = self.state.tasks.position(id)?;
        Some(AgentBrief {
            goal: self.state.session.goal.clone(),
            context: task_brief::dependency_results(&self.state, task),
            overview: task_brief::plan_overview(&self.state, task),
            past: self.state.agents.resumable_progress(id).cloned(),
            worktree: self.state.worktrees.pending(id).cloned(),
            given_up: self.state.worktrees.is_given_up(id),
            overlaps: self
                .task_node(task)
                .map(|node| self.named_overlaps(node))
                .unwrap_or_default(),
            facts: task_brief::stated_facts(&self.state),
            comments: task_brief::task_comments(&self.state, id),
            open_question: self.open_question(id),
        })
    }

    /// What the agent of a task asked before its process left.
    fn open_question(&self, id: &TaskId) -> Option<String> {
        let open = self.state.requests.open.values().map(|open| &open.request);
        let early = self.answered_early.iter().map(|(request, _)| request);
        let asks = |request: &&Arc<Request>| matches!(&request.kind, RequestKind::AgentQuestion { task, call: None } if task == id);
        open.chain(early).find(asks).map(|request| request.question.clone())
    }

    /// Tasks under way that change files which a task names.
    fn named_overlaps(&self, node: &TaskNode) -> Vec<WorktreeOverlap> {
        let criteria = serde_json::to_string(&node.exit_criteria).unwrap_or_default();
        let text = format!("{} {criteria}", node.description);
        let mut overlaps = self.state.worktrees.overlaps(&node.id, |path| names_file(&text, path));
        // Tries at the same task change the same files on purpose.
        if let Some(pick) = node.run.candidate_of() {
            let own: Vec<&TaskId> =
                self.state.candidates(pick).map(|task| self.state.tasks.id(task)).collect();
            overlaps.retain(|overlap| !own.contains(&&overlap.task));
        }
        overlaps
    }

    /// Completes the tasks whose agent had handed in its answer before an earlier process could complete them, exactly as
    /// the report of that attempt would have.
    pub(super) fn complete_answered_tasks(&mut self) {
        let now = (self.options.clock)();
        for task in 0..self.state.tasks.len() {
            if !self.state.is_answered(task) && !self.state.is_in_review(task) {
                continue;
            }
            let row = self.state.tasks.row(task);
            let elapsed_ms = row.elapsed_ms(now).unwrap_or(0);
            let id = self.state.tasks.id(task).clone();
            let call = CallId { task: id, attempt: row.attempt, step: 0 };
            self.end_attempt(&call, &CallOutcome::Exited { code: 0 }, elapsed_ms);
        }
    }

    /// Ends the attempt that a call belongs to, whichever of its steps is named.
    pub(super) fn cancel_attempt(&mut self, call: &CallId) {
        self.stop_leftover(call);
        let same = |other: &&CallId| other.task == call.task && other.attempt == call.attempt;
        for running in self.running.keys().filter(same) {
            if let Some(cancel) = self.running.get(running) {
                cancel.cancel();
            }
        }
    }

    /// A model that may not spend more has not failed: the task waits, and the person is asked about the limit.
    pub(super) fn pause_for_budget(&mut self, call: &CallId, failure: &ExecutionFailure) {
        let task = call.task.clone();
        self.record(TaskEvent::Reset { task, why: failure.message.clone() });
        if !matches!(self.state.run.phase, planwright_state::RunPhase::Running) {
            return;
        }
        let cap = RunCap::find_in_message(&failure.message).unwrap_or(RunCap::BudgetPerSessionUsd);
        let now = (self.options.clock)();
        let own = |ceiling| {
            let ledger = self.options.ledger.as_ref()?;
            Some((ledger.amount_spent(ceiling), ledger.current_limit(ceiling)?))
        };
        let (used, limit) = match cap {
            RunCap::DailyBudgetUsd => own(BudgetCeiling::Day),
            RunCap::BudgetPerSessionUsd => own(BudgetCeiling::Session),
            RunCap::RunTokenLimit => own(BudgetCeiling::Tokens),
            RunCap::RunWallTimeMin => None,
        }
        .unwrap_or_else(|| {
            (caps::cap_usage(&self.state, cap, now), self.options.caps.session_cost.0)
        });
        let id = self.state.requests.next_id();
        let request = controller::requests::session_cap_request(
            id,
            &self.state,
            (cap, used, limit),
            Some(&failure.message),
        );
        self.record(RunEvent::Paused(PauseCause::Cap { cap }));
        self.record(ApprovalEvent::Asked { request: Arc::new(request) });
    }

    /// Keeps the ledger of the models in step with what was decided.
    pub(super) fn sync_ledger(&self, event: &Event) {
        let Some(ledger) = &self.options.ledger else { return };
        match event {
            // What a turn may cost is not asked about again until as much again is spent.
            Event::Planning(PlanningEvent::Moved { outcome, .. }) => match outcome.as_str() {
                "raise_once" => {
                    let more = self.options.caps.session_cost.0;
                    let to = ledger.amount_spent(BudgetCeiling::Turn).saturating_add(more);
                    ledger.set_limit(BudgetCeiling::Turn, Some(to));
                }
                "raise_for_the_session" => ledger.set_limit(BudgetCeiling::Turn, None),
                _ => {}
            },
            Event::Run(RunEvent::CapRaised { cap, to }) => ledger.raise_limit(*cap, *to),
            _ => {}
        }
    }
}
