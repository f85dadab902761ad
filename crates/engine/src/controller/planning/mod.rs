//! The planning conversation as decisions: where an outcome leads, what is asked there, what an answer means.

mod amendments;
mod answer;
mod approval;
mod catch_up;
mod commands;
mod discard;
mod edits;
mod facts;
mod kind;
mod overlaps;
pub mod requests;
mod reschedule;
mod shifted_plan;

use std::sync::Arc;

use jiff::Timestamp;

pub(crate) use amendments::{amend_with_ideas, idea_edit};
pub(super) use answer::answer_planning_request;
pub(super) use approval::start_at_task;
pub(super) use catch_up::catch_up;
pub(super) use commands::{abandon_planning, request_changes, set_gate, set_policy};
pub(super) use discard::restore_plan;
pub(super) use edits::{
    comment_node, edit_as_file, edit_plan, lock_node, put_back_change, undo_change,
};
pub(super) use facts::{correct_fact, withdraw_fact};
pub(crate) use overlaps::amend_with_overlaps;
pub(super) use reschedule::move_block;
pub(super) use shifted_plan::{ShiftRequest, shift_blocks};

use super::{CommandDecision, DriverEffect};
use planwright_drafting::controller::{
    ControllerOutcome, ControllerTransition, TransitionContext, resolve_transition,
};
use planwright_model::event::{ApprovalEvent, Event, PlanEvent, PlanningEvent, Record};
use planwright_model::{
    ApprovalTarget, EscalationReason, PlanState, PlanningToolName, RequestKind, SessionId, Stage,
    StepTrace,
};
use planwright_plan::graph;
use planwright_plan::roadmap_to_plan::plan_from_roadmap;
use planwright_state::{PlanRevision, PlanningSlice, SessionState};

/// A state that events are tried out on, so that later ones can follow from earlier ones.
pub(super) struct DecisionBuilder<'a> {
    state: std::borrow::Cow<'a, SessionState>,
    now: Timestamp,
    pub(super) events: Vec<Event>,
    pub(super) effects: Vec<DriverEffect>,
}

impl<'a> DecisionBuilder<'a> {
    pub(super) fn new(state: &'a SessionState, now: Timestamp) -> Self {
        Self {
            state: std::borrow::Cow::Borrowed(state),
            now,
            events: Vec::new(),
            effects: Vec::new(),
        }
    }

    pub(super) fn state(&self) -> &SessionState {
        &self.state
    }

    pub(super) fn planning(&self) -> &PlanningSlice {
        &self.state.planning
    }

    /// Speaks to the person. A first message that also asks how much they like to read says so to the journal.
    fn tell_person(&mut self, words: String) {
        let asks_style = self.planning().asks_style;
        self.record(PlanningEvent::Said { text: words });
        if asks_style {
            self.record(PlanningEvent::Traced { step: probe_trace(self.planning()) });
            self.record(PlanningEvent::StyleAsked {});
        }
    }

    /// What was decided, once nothing more follows.
    pub(super) fn into_decision(self) -> CommandDecision {
        CommandDecision { events: self.events, effects: self.effects }
    }

    pub(super) fn record(&mut self, event: impl Into<Event>) {
        let event = event.into();
        let record = Record::new(self.state.seq.next(), self.now, event.clone());
        self.state.to_mut().apply(&record);
        self.events.push(event);
    }
}

/// Everything that follows from an outcome, the questions asked on arrival included. Nothing if it makes no sense here.
pub fn events_for_outcome(
    state: &SessionState,
    outcome: ControllerOutcome,
    scope: Option<Stage>,
    now: Timestamp,
) -> Vec<Event> {
    let mut draft = DecisionBuilder::new(state, now);
    advance_draft(&mut draft, outcome, scope);
    draft.events
}

/// Moves by an outcome. False if the table has no row for it.
pub(super) fn advance_draft(
    draft: &mut DecisionBuilder<'_>,
    outcome: ControllerOutcome,
    scope: Option<Stage>,
) -> bool {
    let Some(moved) = find_transition(draft.planning(), outcome, scope, draft.now) else {
        return false;
    };
    withdraw_open_requests(draft, &moved);
    draft.record(moved_event(draft.planning(), &moved));
    draft.record(PlanningEvent::Traced { step: controller_trace(draft.planning(), &moved) });
    enter_state(draft);
    true
}

/// The transition for an outcome of the conversation as it stands.
pub(crate) fn find_transition(
    talk: &PlanningSlice,
    outcome: ControllerOutcome,
    scope: Option<Stage>,
    now: Timestamp,
) -> Option<ControllerTransition> {
    let policy = talk.interaction_policy();
    let seconds = |since: Option<Timestamp>| {
        since.map_or(0, |since| now.duration_since(since).as_secs().max(0) as u64)
    };
    let may_relax = talk.schedule.as_deref().is_some_and(|schedule| {
        schedule.relaxations.iter().any(|relaxation| {
            relaxation.changes.len() == 1
                && !crate::planner::touches_stated_limits(talk, relaxation)
        })
    });
    let view = TransitionContext {
        place: talk.place,
        resume: talk.resume,
        counters: &talk.counters,
        limits: &talk.limits,
        policy: &policy,
        approved: &talk.approved,
        scope,
        may_ask: crate::planner::questions_allowed(talk) > 0,
        may_relax,
        offline: talk.offline,
        small_goal: talk.small_goal,
        own_steps: talk.pattern.as_ref().is_some_and(|choice| choice.pattern.is_own_steps()),
        segment_sec: seconds(talk.segment_began),
    };
    resolve_transition(&view, outcome)
}

fn moved_event(talk: &PlanningSlice, moved: &ControllerTransition) -> PlanningEvent {
    let reason = moved.reason.clone().map(|reason| match reason {
        EscalationReason::PatternRfc(_) => {
            let subtype = talk.pattern.as_ref().and_then(|choice| {
                choice.proposed_pattern.clone().or_else(|| choice.pattern.subtype.clone())
            });
            EscalationReason::PatternRfc(subtype.unwrap_or_default())
        }
        other => other,
    });
    PlanningEvent::Moved {
        row: moved.row.to_owned(),
        from: moved.from,
        outcome: moved.outcome.as_str().to_owned(),
        to: moved.to,
        effects: moved.effects.clone(),
        resume: moved.resume,
        reason,
        why: transition_reasons(talk, moved),
    }
}

/// Rule ids, and the confidence with its parts, of the stage that was just checked.
fn transition_reasons(talk: &PlanningSlice, moved: &ControllerTransition) -> Vec<String> {
    let Some(stage) = moved.from.state.validated_stage() else { return Vec::new() };
    let Some(judgement) = talk.judgements.get(&stage) else { return Vec::new() };
    let confidence = &judgement.confidence;
    let own = confidence.self_score.map(|score| format!(", own score {score:.2}"));
    let mut why = vec![format!(
        "confidence {:.3}: rules {:.2}, heuristics {:.2}{}",
        confidence.value,
        confidence.rules,
        confidence.heuristics,
        own.unwrap_or_default()
    )];
    why.extend(
        judgement.violations.iter().map(|found| format!("{} {}", found.rule, found.message)),
    );
    why
}

fn controller_trace(talk: &PlanningSlice, moved: &ControllerTransition) -> StepTrace {
    let confidence = moved
        .from
        .state
        .validated_stage()
        .and_then(|stage| talk.judgements.get(&stage))
        .map(|judgement| judgement.confidence.value);
    StepTrace {
        seq: talk.traces + 1,
        session_id: talk.thread_id.clone(),
        stage: moved.from.to_string(),
        tool: PlanningToolName::Controller,
        duration_ms: 0,
        confidence,
        cost_delta: 0,
        violations: Vec::new(),
        adaptations: Vec::new(),
        outcome: moved.outcome.as_str().to_owned(),
        cache_hit: false,
        explanations: vec![format!("{} to {}", moved.row, moved.to)],
        why: transition_reasons(talk, moved),
    }
}

/// The line that asks how much the person likes to read is a tool of planning like the others.
fn probe_trace(talk: &PlanningSlice) -> StepTrace {
    StepTrace {
        seq: talk.traces + 1,
        session_id: talk.thread_id.clone(),
        stage: talk.place.to_string(),
        tool: PlanningToolName::PreferenceProbe,
        duration_ms: 0,
        confidence: Some(1.0),
        cost_delta: 0,
        violations: Vec::new(),
        adaptations: Vec::new(),
        outcome: ControllerOutcome::Success.as_str().to_owned(),
        cache_hit: false,
        explanations: vec![planwright_drafting::agent_messages::preference_line().to_owned()],
        why: Vec::new(),
    }
}

/// Questions of planning that no longer make sense once the conversation has moved on.
fn withdraw_open_requests(draft: &mut DecisionBuilder<'_>, moved: &ControllerTransition) {
    if moved.to == moved.from {
        return;
    }
    let overdue = moved.outcome == ControllerOutcome::NoResponse;
    let stale: Vec<_> = draft
        .state
        .requests
        .open
        .values()
        .filter(|open| is_planning_request(&open.request.kind) && !overdue)
        .map(|open| open.request.id)
        .collect();
    for id in stale {
        let why = "a later answer replaced it".to_owned();
        draft.record(ApprovalEvent::Withdrawn { id, why });
    }
}

/// Whether a request belongs to planning.
pub fn is_planning_request(kind: &RequestKind) -> bool {
    !matches!(
        kind,
        RequestKind::Cap { .. }
            | RequestKind::InDoubt { .. }
            | RequestKind::Permission { .. }
            | RequestKind::TaskCap { .. }
            | RequestKind::AgentQuestion { .. }
            | RequestKind::PartlyDone { .. }
            | RequestKind::ChangeReview { .. }
            | RequestKind::CandidateChoice { .. }
            | RequestKind::AppliedCheck { .. }
            | RequestKind::Consent { .. }
            | RequestKind::DeskQuestion { .. }
            | RequestKind::DeskPermission { .. }
    )
}

/// What happens on entering a place: a plan is proposed, a question is asked.
fn enter_state(draft: &mut DecisionBuilder<'_>) {
    let place = draft.planning().place;
    let asked =
        draft.state.requests.open.values().any(|open| is_planning_request(&open.request.kind));
    match place.state {
        PlanState::SeekApproval if place.target == Some(ApprovalTarget::Final) => {
            propose_plan(draft);
        }
        PlanState::Complete | PlanState::Aborted => {}
        state if state.is_working() => {}
        _ if asked => {}
        _ => {
            let id = draft.state.requests.next_id();
            if let Some((request, words)) = requests::request_for_state(id, draft.planning()) {
                draft.tell_person(words);
                draft.record(ApprovalEvent::Asked { request: Arc::new(request) });
            }
        }
    }
}

/// Makes the roadmap's leaves a plan that can run, and asks whether it may.
fn propose_plan(draft: &mut DecisionBuilder<'_>) {
    let talk = draft.planning();
    let (Some(outline), Some(roadmap)) = (&talk.outline, &talk.roadmap) else { return };
    let plan = plan_from_roadmap(&outline.plan_context, roadmap, talk.schedule.as_deref());
    let facts = match graph::resolve_graph(&plan.tasks, |_| true) {
        Ok(resolved) => resolved.to_facts(&plan.tasks),
        Err(cycle) => {
            draft.record(PlanningEvent::Said { text: format!("the plan cannot run: {cycle}") });
            return;
        }
    };
    let Ok(hash) = plan.digest() else {
        tracing::error!("a plan has no digest and is not proposed");
        return;
    };
    // A plan that is as it was is no new revision: the question is put again, and says so.
    if let Some(same) = draft.state.plan.current.clone().filter(|current| current.hash == hash) {
        if draft.state.plan.is_approved() {
            keep_approval(draft);
            return;
        }
        let id = draft.state.requests.next_id();
        let (request, words) =
            requests::unchanged_plan_request(id, draft.planning(), &same, draft.now);
        draft.tell_person(words);
        draft.record(ApprovalEvent::Asked { request: Arc::new(request) });
        return;
    }
    let revision = PlanRevision {
        revision: draft.state.plan.revisions.last().map_or(1, |last| last.revision + 1),
        hash,
        plan: Arc::new(plan),
        facts: Arc::new(facts),
        normalization: Vec::new(),
    };
    draft.record(PlanEvent::Proposed {
        revision: revision.revision,
        hash: revision.hash.clone(),
        plan: revision.plan.clone(),
        facts: revision.facts.clone(),
        normalization: Vec::new(),
    });
    let id = draft.state.requests.next_id();
    let (request, words) =
        requests::planning_final_request(id, draft.planning(), &revision, draft.now);
    draft.tell_person(words);
    draft.record(ApprovalEvent::Asked { request: Arc::new(request) });
}

/// A change of an approved plan that was undone, or changed nothing: the approval still names this plan.
fn keep_approval(draft: &mut DecisionBuilder<'_>) {
    let text = "The plan is as you approved it; nothing has to be approved again.".to_owned();
    draft.record(PlanningEvent::Said { text });
    advance_draft(draft, ControllerOutcome::Approved, None);
}

/// The thread that checkpoints of a conversation belong to.
pub fn thread_id(user: &str, session: &SessionId) -> String {
    format!("user_{user}:{session}")
}
