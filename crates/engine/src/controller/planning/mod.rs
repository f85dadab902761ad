//! The planning conversation as decisions: where an outcome leads, what is asked there, what an answer means.

mod answer;
pub mod requests;
mod reschedule;
mod wish;

use std::sync::Arc;

use jiff::Timestamp;

pub(super) use answer::answer;
pub(super) use reschedule::move_block;
pub(super) use wish::{abandon, comment, edit, lock, request_changes, set_gate, set_policy, undo};

use super::{Decision, Effect};
use planwright_drafting::controller::{Outcome, Transition, View, advance};
use planwright_model::event::{ApprovalEvent, Event, PlanEvent, PlanningEvent, Record};
use planwright_model::{
    ApprovalTarget, EscalateReason, PlanState, RequestKind, SessionId, Stage, StepTrace,
};
use planwright_plan::graph;
use planwright_plan::to_plan::plan_of;
use planwright_state::{PlanRevision, PlanningSlice, SessionState};

/// A state that events are tried out on, so that later ones can follow from earlier ones.
pub(super) struct Draft<'a> {
    state: std::borrow::Cow<'a, SessionState>,
    now: Timestamp,
    pub(super) events: Vec<Event>,
    pub(super) effects: Vec<Effect>,
}

impl<'a> Draft<'a> {
    pub(super) fn on(state: &'a SessionState, now: Timestamp) -> Self {
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

    pub(super) fn talk(&self) -> &PlanningSlice {
        &self.state.planning
    }

    /// Speaks to the person. A first message that also asks how much they like to read says so to the journal.
    fn tell(&mut self, words: String) {
        let asks_style = self.talk().asks_style;
        self.say(PlanningEvent::Said { text: words });
        if asks_style {
            self.say(PlanningEvent::Traced { step: probe_trace(self.talk()) });
            self.say(PlanningEvent::StyleAsked {});
        }
    }

    /// What was decided, once nothing more follows.
    pub(super) fn decision(self) -> Decision {
        Decision { events: self.events, effects: self.effects }
    }

    pub(super) fn say(&mut self, event: impl Into<Event>) {
        let event = event.into();
        let record = Record::new(self.state.seq.next(), self.now, event.clone());
        self.state.to_mut().apply(&record);
        self.events.push(event);
    }
}

/// Everything that follows from an outcome, the questions asked on arrival included. Nothing if it makes no sense here.
pub fn outcome(
    state: &SessionState,
    outcome: Outcome,
    scope: Option<Stage>,
    now: Timestamp,
) -> Vec<Event> {
    let mut draft = Draft::on(state, now);
    advance_draft(&mut draft, outcome, scope);
    draft.events
}

/// Moves by an outcome. False if the table has no row for it.
pub(super) fn advance_draft(draft: &mut Draft<'_>, outcome: Outcome, scope: Option<Stage>) -> bool {
    let Some(moved) = transition(draft.talk(), outcome, scope, draft.now) else { return false };
    withdraw_open(draft, &moved);
    draft.say(moved_event(draft.talk(), &moved));
    draft.say(PlanningEvent::Traced { step: controller_trace(draft.talk(), &moved) });
    arrive(draft);
    true
}

/// The transition for an outcome of the conversation as it stands.
pub(crate) fn transition(
    talk: &PlanningSlice,
    outcome: Outcome,
    scope: Option<Stage>,
    now: Timestamp,
) -> Option<Transition> {
    let policy = talk.policy();
    let seconds = |since: Option<Timestamp>| {
        since.map_or(0, |since| now.duration_since(since).as_secs().max(0) as u64)
    };
    let may_relax = talk.schedule.as_deref().is_some_and(|schedule| {
        schedule.relaxations.iter().any(|relaxation| {
            relaxation.changes.len() == 1 && !crate::planner::touches_stated(talk, relaxation)
        })
    });
    let view = View {
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
        segment_sec: seconds(talk.segment_began),
        silent_sec: seconds(talk.last_visible),
    };
    advance(&view, outcome)
}

fn moved_event(talk: &PlanningSlice, moved: &Transition) -> PlanningEvent {
    let reason = moved.reason.clone().map(|reason| match reason {
        EscalateReason::PatternRfc(_) => {
            let subtype = talk.pattern.as_ref().and_then(|choice| {
                choice.proposed_pattern.clone().or_else(|| choice.pattern.subtype.clone())
            });
            EscalateReason::PatternRfc(subtype.unwrap_or_default())
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
        why: why(talk, moved),
    }
}

/// Rule ids, and the confidence with its parts, of the stage that was just checked.
fn why(talk: &PlanningSlice, moved: &Transition) -> Vec<String> {
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

fn controller_trace(talk: &PlanningSlice, moved: &Transition) -> StepTrace {
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
        tool: "controller".to_owned(),
        duration_ms: 0,
        confidence,
        cost_delta: 0,
        violations: Vec::new(),
        adaptations: Vec::new(),
        outcome: moved.outcome.as_str().to_owned(),
        cache_hit: false,
        explanations: vec![format!("{} to {}", moved.row, moved.to)],
        why: why(talk, moved),
    }
}

/// The line that asks how much the person likes to read is a tool of planning like the others.
fn probe_trace(talk: &PlanningSlice) -> StepTrace {
    StepTrace {
        seq: talk.traces + 1,
        session_id: talk.thread_id.clone(),
        stage: talk.place.to_string(),
        tool: "PreferenceProbe".to_owned(),
        duration_ms: 0,
        confidence: Some(1.0),
        cost_delta: 0,
        violations: Vec::new(),
        adaptations: Vec::new(),
        outcome: Outcome::Success.as_str().to_owned(),
        cache_hit: false,
        explanations: vec![planwright_drafting::voice::preference_line().to_owned()],
        why: Vec::new(),
    }
}

/// Questions of planning that no longer make sense once the conversation has moved on.
fn withdraw_open(draft: &mut Draft<'_>, moved: &Transition) {
    if moved.to == moved.from {
        return;
    }
    let overdue = moved.outcome == Outcome::NoResponse;
    let stale: Vec<_> = draft
        .state
        .requests
        .open
        .values()
        .filter(|open| is_planning(&open.request.kind) && !overdue)
        .map(|open| open.request.id)
        .collect();
    for id in stale {
        let why = "the conversation has moved on".to_owned();
        draft.say(ApprovalEvent::Withdrawn { id, why });
    }
}

/// Whether a request belongs to planning.
pub fn is_planning(kind: &RequestKind) -> bool {
    !matches!(
        kind,
        RequestKind::Cap { .. }
            | RequestKind::InDoubt { .. }
            | RequestKind::Permission { .. }
            | RequestKind::TaskCap { .. }
            | RequestKind::Consent { .. }
    )
}

/// What happens on entering a place: a plan is proposed, a question is asked.
fn arrive(draft: &mut Draft<'_>) {
    let place = draft.talk().place;
    let asked = draft.state.requests.open.values().any(|open| is_planning(&open.request.kind));
    match place.state {
        PlanState::SeekApproval if place.target == Some(ApprovalTarget::Final) => propose(draft),
        PlanState::Complete | PlanState::Aborted => {}
        state if state.works() => {}
        _ if asked => {}
        _ => {
            let id = draft.state.requests.next_id();
            if let Some((request, words)) = requests::of_place(id, draft.talk()) {
                draft.tell(words);
                draft.say(ApprovalEvent::Asked { request: Arc::new(request) });
            }
        }
    }
}

/// Makes the roadmap's leaves a plan that can run, and asks whether it may.
fn propose(draft: &mut Draft<'_>) {
    let talk = draft.talk();
    let (Some(outline), Some(roadmap)) = (&talk.outline, &talk.roadmap) else { return };
    let plan = plan_of(&outline.plan_context, roadmap, talk.schedule.as_deref());
    let facts = match graph::resolve(&plan.tasks, |_| true) {
        Ok(resolved) => resolved.facts(&plan.tasks),
        Err(cycle) => {
            draft.say(PlanningEvent::Said { text: format!("the plan cannot run: {cycle}") });
            return;
        }
    };
    let Ok(hash) = plan.digest() else { return };
    // A plan that is as it was is no new revision: the question is put again, and says so.
    if let Some(same) = draft.state.plan.current.clone().filter(|current| current.hash == hash) {
        let id = draft.state.requests.next_id();
        let (request, words) = requests::unchanged_plan(id, draft.talk(), &same);
        draft.tell(words);
        draft.say(ApprovalEvent::Asked { request: Arc::new(request) });
        return;
    }
    let revision = PlanRevision {
        revision: draft.state.plan.revisions.last().map_or(1, |last| last.revision + 1),
        hash,
        plan: Arc::new(plan),
        facts: Arc::new(facts),
        normalization: Vec::new(),
    };
    draft.say(PlanEvent::Proposed {
        revision: revision.revision,
        hash: revision.hash.clone(),
        plan: revision.plan.clone(),
        facts: revision.facts.clone(),
        normalization: Vec::new(),
    });
    let id = draft.state.requests.next_id();
    let (request, words) = requests::final_plan(id, draft.talk(), &revision);
    draft.tell(words);
    draft.say(ApprovalEvent::Asked { request: Arc::new(request) });
}

/// The thread that checkpoints of a conversation belong to.
pub fn thread_id(user: &str, session: &SessionId) -> String {
    format!("user_{user}:{session}")
}
