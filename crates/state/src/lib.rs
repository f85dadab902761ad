//! What a session looks like now: a pure fold over its records, one file per slice, and the questions screens ask of it.
//!
//! Live, replay and resume use this one fold. It reads no clock and is total: a record about something unknown is
//! counted as an anomaly, never a panic. What is large stays in the journal: the trace is an index over records
//! ([`timeline`]) and not part of the state.

pub mod agent_conversation;
pub mod agent_progress;
mod attention;
mod breaker_slice;
mod checkpoint;
pub mod decision_log;
mod desk_slice;
mod draft_history;
mod due_tasks;
pub mod execution_result;
mod fact_slice;
mod failure_cause;
pub mod journal_verification;
mod model_waits;
mod plan_slice;
mod planned_commands;
mod planning_slice;
pub mod replay;
mod request_slice;
mod run_outlook;
pub mod run_profile;
mod run_slice;
mod schedule_undo;
mod session_slice;
mod session_status;
mod skip_roots;
mod start_time;
mod task_facts;
mod task_table;
mod task_words;
pub mod timeline;
pub mod trace;
#[cfg(test)]
mod typed_event_tests;
mod worktree_slice;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use agent_conversation::{
    AgentConversation, BudgetMark, ConversationCall, ConversationEntry, ConversationSummary,
};
pub use agent_progress::{AgentProgress, AgentSlice, PersonMessage};
pub use attention::{AttentionCause, AttentionItem};
pub use breaker_slice::BreakerSlice;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use desk_slice::{DeskAnswer, DeskDecision, DeskRefusal, DeskSlice, RevisionRefusal};
pub use draft_history::{DraftSnapshot, NodeHistoryEntry, UndoDraft, node_history};
pub use due_tasks::DueTask;
pub use fact_slice::FactSlice;
pub use failure_cause::{FailureCause, find_failure_cause, is_error_line};
pub use model_waits::{ModelWait, ModelWaits};
pub use plan_slice::{PlanRevision, PlanSlice, RevisionHead};
pub use planned_commands::PlannedCommand;
pub use planning_slice::{ChangeRequest, DiscardedPlace, FrozenWork, PlanningSlice};
pub use request_slice::{AnsweredRequest, OpenRequest, RequestSlice};
pub use run_slice::{RunPhase, RunSlice};
pub use schedule_undo::{CatchUpUndo, MOVED_BY_HAND, MOVED_FOR_OTHER_PLAN};
pub use session_slice::SessionSlice;
pub use session_status::SessionStatus;
pub use skip_roots::SkipRoots;
pub use start_time::CloseHold;
pub use task_table::{
    CallInFlight, CriterionChecks, FailedTaskAttempt, TaskCounts, TaskNote, TaskRow, TaskStatus,
    TaskTable, check_step,
};
pub use worktree_slice::{TaskWorktree, WorkspaceCheck, WorktreePhase, WorktreeSlice};

use planwright_model::event::{AgentEvent, CallEvent, Event, Record};
use planwright_model::permission::PermissionRule;
use planwright_model::{Seq, TaskId};
use planwright_plan::graph::SelectionKey;

/// Sums over everything that happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTotals {
    pub tokens: u64,
    pub cost: planwright_model::MicroDollars,
    /// Questions put to models.
    #[serde(default)]
    pub asks: u32,
    /// Tokens of models whose price is not known.
    #[serde(default)]
    pub unpriced_tokens: u64,
    /// Records that made no sense where they stood.
    pub anomalies: u64,
    /// Records of kinds this version does not know.
    pub unknown: u64,
}

/// The fold of a session's records up to one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionState {
    pub seq: Seq,
    pub at: Option<Timestamp>,
    pub session: SessionSlice,
    pub planning: PlanningSlice,
    pub plan: PlanSlice,
    pub requests: RequestSlice,
    pub tasks: TaskTable,
    pub run: RunSlice,
    pub breakers: BreakerSlice,
    /// What agents are doing in their tasks.
    pub agents: AgentSlice,
    /// The copies of the workspace that agents work in.
    pub worktrees: WorktreeSlice,
    /// The other program's agent that submits plans here, if one does.
    pub desk: DeskSlice,
    /// Which models are being waited for.
    pub waits: ModelWaits,
    /// What the person allowed for the rest of the session, as rules.
    pub grants: Vec<PermissionRule>,
    pub totals: SessionTotals,
}

impl SessionState {
    /// Folds one record.
    pub fn apply(&mut self, record: &Record) {
        self.apply_to_desk(&record.event, record.at);
        let sensible = match &record.event {
            Event::Session(event) => {
                match event {
                    planwright_model::event::SessionEvent::Forked { imported, .. } => {
                        self.reset_for_fork(*imported);
                    }
                    // Between the last word of one process and the first of the next nobody worked.
                    planwright_model::event::SessionEvent::Opened { .. } => {
                        self.waits.clear();
                        if let Some(last) = self.at {
                            let absent = record.at.duration_since(last).as_millis();
                            self.session.absent_ms += u64::try_from(absent).unwrap_or(0);
                            self.run.add_unattended(last, record.at);
                            self.tasks.add_unattended(last);
                        }
                    }
                    _ => {}
                }
                self.session.apply(event, record.at)
            }
            Event::Plan(event) => self.apply_plan(event, record),
            Event::Approval(event) => self.requests.apply(event, record.at),
            Event::Run(event) => self.apply_run(event, record.at),
            Event::Task(event) => {
                match event {
                    planwright_model::event::TaskEvent::Started { task, .. } => {
                        self.agents.apply_start(task);
                    }
                    planwright_model::event::TaskEvent::Failed { task, failure, .. } => {
                        self.agents.apply_failure(task, failure);
                    }
                    _ => {}
                }
                self.tasks.apply(event, record.at)
            }
            Event::Call(event) => self.apply_call(event, record),
            Event::Planning(event) => self.planning.apply(event, record.at),
            Event::Agent(event) => self.apply_agent(event, record.at),
            Event::Fact(event) => self.planning.facts.apply(event),
            Event::Worktree(event) => {
                self.agents.apply_worktree(event, self.worktrees.get(event.task_id()));
                self.worktrees.apply(event)
            }
            Event::Desk(event) => self.apply_desk(event, record.at),
            Event::Unknown(_) => {
                self.totals.unknown += 1;
                true
            }
        };
        if !sensible {
            self.totals.anomalies += 1;
        }
        let counts = self.tasks.status_counts();
        let asked = !self.requests.open.is_empty() || counts.yours > 0;
        let at_work = counts.running - self.tasks.awaiting_close_count();
        let waits = asked && (at_work == 0 || at_work == self.count_asking_tasks());
        self.run.track_work(waits, record.at);
        self.seq = record.seq;
        self.at = Some(record.at);
    }

    /// How long a process has been there for the session, up to `now`.
    pub fn attended_ms(&self, now: Timestamp) -> u64 {
        let since = self.session.created_at.unwrap_or(now);
        let whole = u64::try_from(now.duration_since(since).as_millis()).unwrap_or(0);
        whole.saturating_sub(self.session.absent_ms)
    }

    /// Whether a task only lacks its completion: its agent has handed in the answer of the current attempt.
    pub fn is_answered(&self, task: usize) -> bool {
        let row = self.tasks.row(task);
        row.status == TaskStatus::Running
            && self.agents.has_answered(self.tasks.id(task), row.attempt)
    }

    /// Whether the work of a task is done and its changes wait to be applied.
    pub fn is_in_review(&self, task: usize) -> bool {
        let row = self.tasks.row(task);
        let is_handed_in = || self.agents.has_handed_in(self.tasks.id(task), row.attempt);
        row.status == TaskStatus::Running && (is_handed_in() || self.awaits_pick(task))
    }

    /// Whether a task waits until one of the results of its tries is picked.
    pub fn awaits_pick(&self, task: usize) -> bool {
        let node = self.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
        self.tasks.row(task).status == TaskStatus::Running
            && node.is_some_and(|node| node.run.is_pick())
            && self.agents.picked(self.tasks.id(task)).is_none()
    }

    /// The tries at a task, in the order of the plan.
    pub fn candidates<'s>(&'s self, task: &'s TaskId) -> impl Iterator<Item = usize> + 's {
        let tasks = self.plan.current.iter().flat_map(|current| &current.plan.tasks);
        let tries = tasks.filter(move |node| node.run.candidate_of() == Some(task));
        tries.filter_map(|node| self.tasks.position(&node.id))
    }

    /// A result that was held back until it is picked belongs to the session that made it.
    fn reset_held_candidates(&mut self) {
        let Some(current) = self.plan.current.clone() else { return };
        let unpicked = |id: &TaskId| {
            self.tasks.get(id).is_some_and(|row| !row.status.is_settled())
                && self.agents.picked(id).is_none()
        };
        let held: Vec<usize> = current
            .plan
            .tasks
            .iter()
            .filter(|node| node.run.candidate_of().is_some_and(unpicked))
            .filter_map(|node| self.tasks.position(&node.id))
            .collect();
        for task in held {
            self.tasks.reset_task(task);
        }
    }

    /// Whether something is at work and all of it waits for an answer of the person.
    pub fn waits_for_person_only(&self) -> bool {
        let at_work = self.tasks.status_counts().running - self.tasks.awaiting_close_count();
        at_work > 0 && at_work == self.count_asking_tasks()
    }

    /// How many tasks count as running and wait for the person: to say what became of them, to answer their agent, or to
    /// decide about their changes.
    fn count_asking_tasks(&self) -> u32 {
        let open = self.requests.open.values().filter_map(|open| open.request.task.as_ref());
        let asking: BTreeSet<usize> = open
            .filter_map(|task| self.tasks.owner_position(task))
            .filter(|task| {
                let row = self.tasks.row(*task);
                row.status == TaskStatus::Running && !row.is_awaiting_close()
            })
            .collect();
        asking.len() as u32
    }

    /// What a fork does not take over: approvals, questions, what was running, and how the run stood.
    fn reset_for_fork(&mut self, imported: bool) {
        self.grants.clear();
        if imported {
            self.planning.policy_set = planwright_model::PolicyOverride::default();
        }
        self.plan.approval = None;
        self.plan.abandoned = false;
        // Leave to run a command was given to the other session's call.
        self.requests.open.clear();
        self.requests.answered.clear();
        self.waits.clear();
        self.worktrees.reset_for_fork();
        // A fork is the person's own; what came from elsewhere in it stays foreign.
        self.desk = DeskSlice::default();
        self.tasks.reset_unfinished();
        self.reset_held_candidates();
        self.run = self.run.reset_for_fork();
        self.breakers = BreakerSlice::default();
        self.breakers.set_limits(&self.run.limits);
    }

    /// What an agent submits came from elsewhere; what it reports is what its tasks are at.
    fn apply_desk(&mut self, event: &planwright_model::event::DeskEvent, at: Timestamp) -> bool {
        use planwright_model::event::DeskEvent;
        self.session.foreign |= matches!(event, DeskEvent::Opened { .. });
        let sensible = self.desk.apply(event, at);
        match event {
            DeskEvent::Reported { report } => self.tasks.apply_report(report, at) && sensible,
            _ => sensible,
        }
    }

    fn apply_run(&mut self, event: &planwright_model::event::RunEvent, at: Timestamp) -> bool {
        if let planwright_model::event::RunEvent::LimitsSet { limits } = event {
            self.breakers.set_limits(limits);
        }
        if let planwright_model::event::RunEvent::BreakerChanged { tool, state, .. } = event {
            self.breakers.note_announcement(tool, *state);
        }
        self.run.apply(event, at)
    }

    /// Usage and breakers count only the first outcome of a call; a second one changes nothing.
    fn apply_call(&mut self, event: &CallEvent, record: &Record) -> bool {
        let tool = self.tasks.tool_in_flight(event.call_id()).map(str::to_owned);
        let sensible = self.tasks.apply_call(event, record.at);
        self.agents.apply_call(event);
        if let (true, CallEvent::Concluded { outcome, usage, .. }) = (sensible, event) {
            self.totals.tokens = self.totals.tokens.saturating_add(usage.tokens);
            self.totals.cost = self.totals.cost.saturating_add(usage.cost);
            self.breakers.apply(tool.as_deref().unwrap_or_default(), outcome, record.at);
        }
        sensible
    }

    /// What models used up counts, whether they answered well or not.
    fn apply_agent(&mut self, event: &AgentEvent, at: Timestamp) -> bool {
        let used = |state: &Self| {
            event.task_id().and_then(|task| state.agents.get(task)).map(|own| own.usage)
        };
        let before = used(self).unwrap_or_default();
        let sensible = self.agents.apply(event);
        self.worktrees.apply_agent(event);
        self.waits.apply(event, at);
        self.planning.apply_model_event(event);
        match event {
            AgentEvent::ModelAsked { ask, .. } => {
                let next = *ask == self.totals.asks + 1;
                self.totals.asks = self.totals.asks.max(*ask);
                return next && sensible;
            }
            AgentEvent::ModelAnswered { tokens, cost, .. }
            | AgentEvent::ModelFailed { tokens, cost, .. } => {
                self.totals.tokens = self.totals.tokens.saturating_add(*tokens);
                match cost {
                    Some(cost) => self.totals.cost = self.totals.cost.saturating_add(*cost),
                    None => self.totals.unpriced_tokens += tokens,
                }
                self.planning.last_visible = Some(at);
            }
            AgentEvent::Partial { .. } => self.planning.last_visible = Some(at),
            AgentEvent::UsageReported { .. } => {
                let (tokens, cost) = used(self).unwrap_or_default().since(before);
                self.totals.tokens = self.totals.tokens.saturating_add(tokens);
                self.totals.cost = self.totals.cost.saturating_add(cost);
            }
            AgentEvent::Granted { rule, .. } => self.grants.push(rule.clone()),
            AgentEvent::Revoked { rule } => {
                let before = self.grants.len();
                self.grants.retain(|known| known != rule);
                return self.grants.len() < before;
            }
            AgentEvent::Gated { decision } => {
                // Whoever says how often to be asked is asked that often; the other controls say nothing about it.
                let free = self.planning.policy_set.approval_policy.is_none();
                self.planning.small_goal = !decision.should_escalate && free;
                self.planning.gate = Some((**decision).clone());
            }
            _ => {}
        }
        sensible
    }

    fn apply_plan(&mut self, event: &planwright_model::event::PlanEvent, record: &Record) -> bool {
        let sensible = self.plan.apply(event, record);
        if let (planwright_model::event::PlanEvent::Proposed { .. }, Some(current)) =
            (event, &self.plan.current)
        {
            self.tasks.adopt_plan(&current.plan);
        }
        sensible
    }

    /// Folds all records in order.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = Self::default();
        records.into_iter().for_each(|record| state.apply(record));
        state
    }

    /// Where the session stands.
    pub fn status(&self) -> SessionStatus {
        if self.plan.abandoned {
            return SessionStatus::Abandoned;
        }
        if !self.requests.open.is_empty() {
            return SessionStatus::NeedsYou;
        }
        if self.planning.place.state == planwright_model::PlanState::Aborted {
            return SessionStatus::Abandoned;
        }
        let begun = self.tasks.has_begun();
        if self.desk.is_ticket() && self.run.phase == RunPhase::Idle {
            return self.ticket_status();
        }
        match self.run.phase {
            RunPhase::Idle if self.planning.is_working() => SessionStatus::Planning,
            RunPhase::Idle if self.plan.current.is_none() => SessionStatus::Planning,
            // What a person works through needs no run.
            RunPhase::Idle if self.is_runnable() && begun => SessionStatus::Yours,
            RunPhase::Idle => SessionStatus::Held,
            RunPhase::Running | RunPhase::Interrupted
                if self.is_runnable() && self.tasks.is_persons_plan() =>
            {
                SessionStatus::Yours
            }
            RunPhase::Running if self.tasks.is_only_person_left() => SessionStatus::Yours,
            RunPhase::Running => SessionStatus::Running,
            RunPhase::Paused => SessionStatus::Paused,
            // Nobody has to be there for tasks of the person's.
            RunPhase::Interrupted if self.is_runnable() && self.tasks.is_waiting_for_person() => {
                SessionStatus::Yours
            }
            RunPhase::Interrupted => SessionStatus::Interrupted,
            RunPhase::Finished { success: true } => SessionStatus::Done,
            // Work that the person chose to leave out is no failure.
            RunPhase::Finished { success: false } if self.tasks.is_done_but_person_skips() => {
                SessionStatus::Done
            }
            RunPhase::Finished { success: false } if self.run.dismissed => SessionStatus::Dismissed,
            RunPhase::Finished { success: false } => SessionStatus::Failed,
        }
    }

    /// Where a ticket stands whose plan Planwright does not run and about which nobody is asked.
    fn ticket_status(&self) -> SessionStatus {
        let counts = self.tasks.status_counts();
        match () {
            () if !self.is_runnable() => SessionStatus::Planning,
            () if counts.pending + counts.running + counts.yours > 0 => SessionStatus::Elsewhere,
            () if counts.failed > 0 => SessionStatus::Failed,
            () => SessionStatus::Done,
        }
    }

    /// All tasks that wait or run and whose dependencies are met, in the order in which they would be chosen.
    pub fn unlocked_tasks(&self) -> Vec<&TaskId> {
        self.in_selection_order(
            (0..self.tasks.len()).filter(|task| self.tasks.is_unlocked(*task)).collect(),
        )
    }

    /// Tasks in the order in which they would be chosen if all were ready.
    pub fn in_selection_order(&self, mut tasks: Vec<usize>) -> Vec<&TaskId> {
        let Some(current) = &self.plan.current else { return Vec::new() };
        let key = |task: usize| {
            let depth = current.facts.depth.get(task).copied().unwrap_or(0);
            SelectionKey::new(&current.plan.tasks[task], depth, |_| true)
        };
        tasks.sort_by(|a, b| key(*a).cmp(&key(*b)));
        tasks.into_iter().map(|task| self.tasks.id(task)).collect()
    }

    /// Whether the plan's current revision has an approval that names its hash.
    pub fn is_runnable(&self) -> bool {
        self.plan.is_approved() && !self.plan.abandoned
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use planwright_model::event::arbitrary::journal;
    use planwright_model::event::{PlanEvent, TaskEvent};
    use planwright_model::{Category, ExecutionFailure, GraphFacts};

    #[test]
    fn time_without_a_process_and_time_in_doubt_are_no_work() {
        use planwright_model::event::{ApprovalEvent, RunEvent, SessionEvent};
        use planwright_model::requests::{
            CallEvidence, CallInDoubt, InDoubtAction, in_doubt_request,
        };
        use planwright_model::{CallId, RequestId};
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let task = planwright_model::TaskNode::new("a", "a");
        let plan =
            planwright_model::Plan { title: "x".into(), tasks: vec![task], ..Default::default() };
        let (hash, opened) =
            (plan.digest().unwrap(), SessionEvent::Opened { program: "x".into(), pid: 1 });
        let started =
            TaskEvent::Started { task: "a".into(), attempt: 1, depth: 0, affinity_delta: 0.0 };
        let call = CallId { task: "a".into(), attempt: 1, step: 1 };
        let doubt = CallInDoubt {
            call: &call,
            task: &call.task,
            title: "a",
            tool: "shell",
            by_agent: false,
            action: InDoubtAction::Command("true"),
            evidence: CallEvidence::EndedWithSession,
            output_lines: 0,
            last_line: "",
            dependents: 0,
        };
        let request = in_doubt_request(RequestId(1), &doubt);
        let mut state = SessionState::default();
        state.session.created_at = Some(at(0));
        for (second, event) in [
            (0, Event::from(opened.clone())),
            (
                0,
                PlanEvent::Proposed {
                    revision: 1,
                    hash: hash.clone(),
                    plan: plan.into(),
                    facts: GraphFacts { depth: vec![0], ..GraphFacts::default() }.into(),
                    normalization: Vec::new(),
                }
                .into(),
            ),
            (10, RunEvent::Started { hash, jobs: 1 }.into()),
            (10, started.into()),
            (14, SessionEvent::AnomalyNoted { what: "the last word".into() }.into()),
            // The process is killed, and another one comes after an hour.
            (3_614, opened.into()),
            (3_614, ApprovalEvent::Asked { request: request.into() }.into()),
        ] {
            let record = Record::new(state.seq.next(), at(second), event);
            state.apply(&record);
        }
        assert_eq!(state.run.worked_ms(at(9_000)), 4_000);
        assert_eq!(state.run.away_ms, 3_600_000);
        assert_eq!(state.attended_ms(at(3_700)), 100_000);
        assert_eq!(state.tasks.get(&"a".into()).unwrap().elapsed_ms(at(9_000)), Some(4_000));
    }

    proptest! {
        #[test]
        fn results_merge_alike_in_any_order_of_completion(order in Just([0, 1, 2, 3, 4, 5]).prop_shuffle()) {
            let merged = |order: &[usize]| {
                let ids = ["a", "b", "c", "d", "e", "f"];
                let tasks = ids.map(|id| planwright_model::TaskNode::new(id, id)).into();
                let plan = planwright_model::Plan { title: "Merge".into(), tasks, ..Default::default() };
                let mut state = SessionState::default();
                let mut say = |event: Event| {
                    state.apply(&Record::new(state.seq.next(), Timestamp::UNIX_EPOCH, event));
                };
                say(PlanEvent::Proposed {
                    revision: 1,
                    hash: plan.digest().unwrap(),
                    plan: plan.into(),
                    facts: GraphFacts::default().into(),
                    normalization: Vec::new(),
                }
                .into());
                for id in ids {
                    say(TaskEvent::Started { task: id.into(), attempt: 1, depth: 0, affinity_delta: 0.0 }.into());
                }
                for task in order {
                    let task = TaskId::from(ids[*task]);
                    say(if task.as_str() < "d" {
                        TaskEvent::Completed { task, attempt: 1, elapsed_ms: 1, by: None, note: None }.into()
                    } else {
                        let failure = ExecutionFailure::new("exit_status", Category::Critical, "exit 1");
                        TaskEvent::Failed { task, attempt: 1, elapsed_ms: 1, failure, retry_in_ms: None }.into()
                    });
                }
                state
            };
            prop_assert_eq!(merged(&order), merged(&[0, 1, 2, 3, 4, 5]));
        }

        #[test]
        fn a_second_outcome_changes_nothing(records in journal(60), again in any::<Index>()) {
            let mut state = SessionState::from_records(&records);
            let outcomes: Vec<_> = records
                .iter()
                .filter(|record| matches!(&record.event, Event::Call(CallEvent::Concluded { .. })))
                .collect();
            prop_assume!(!outcomes.is_empty());
            let outcome = again.get(&outcomes);
            let Event::Call(event) = &outcome.event else { unreachable!("filtered above") };
            let in_flight = state.tasks.get(&event.call_id().task).and_then(|row| row.call.clone());
            prop_assume!(in_flight.is_none_or(|open| open.call != *event.call_id()));
            let before = (state.tasks.clone(), state.totals.tokens, state.breakers.clone());
            state.apply(&Record { seq: state.seq.next(), ..(*outcome).clone() });
            prop_assert_eq!((state.tasks.clone(), state.totals.tokens, state.breakers.clone()), before);
        }

        #[test]
        fn folding_a_prefix_and_then_the_rest_equals_folding_all(records in journal(60), cut in any::<Index>()) {
            let cut = cut.index(records.len() + 1);
            let mut state = SessionState::from_records(&records[..cut]);
            records[cut..].iter().for_each(|record| state.apply(record));
            prop_assert_eq!(state, SessionState::from_records(&records));
        }

        #[test]
        fn seeking_equals_folding_from_the_start(records in journal(60), cut in any::<Index>()) {
            let cut = cut.index(records.len() + 1);
            let bytes = Checkpoint::encode_state(&SessionState::from_records(&records[..cut])).unwrap();
            let plan = |seq: Seq| records.iter().find(|record| record.seq == seq).cloned();
            let mut state = Checkpoint::decode(&bytes).unwrap().restore_state(plan).unwrap();
            records[cut..].iter().for_each(|record| state.apply(record));
            prop_assert_eq!(state, SessionState::from_records(&records));
        }

        #[test]
        fn the_incremental_ready_set_equals_the_naive_one(records in journal(80)) {
            let state = SessionState::from_records(&records);
            let naive: Vec<usize> = (0..state.tasks.len()).filter(|task| state.tasks.is_ready_by_definition(*task)).collect();
            let kept: Vec<usize> = (0..state.tasks.len()).filter(|task| state.tasks.is_ready(*task)).collect();
            prop_assert_eq!(kept, naive);
        }
    }
}
