//! What the person is asked while planning, with the message that goes with it. Texts and choices of the requests are
//! the model's; here they get what the conversation knows.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use planwright_drafting::agent_messages::{
    self, AgentMessageDraft, CallToAction, CallToActionForm, CallToActionKind,
};
use planwright_model::requests::{self, DraftEvidence, ModelFailure, StageTrouble};
use planwright_model::{
    ApprovalTarget, EscalationReason, PatternSpec, PauseKind, PlanState, Request, RequestId, Stage,
};
use planwright_schedule::calendar::WorkCalendar;
use planwright_state::{PlanRevision, PlanningSlice};
use planwright_text::dates::format_date;
use planwright_text::units;

/// The request of a place that waits for the person, and the words that go with it.
pub(super) fn request_for_state(id: RequestId, talk: &PlanningSlice) -> Option<(Request, String)> {
    let place = talk.place;
    Some(match (place.state, place.pause, place.target) {
        (PlanState::SeekApproval, _, Some(target)) => draft_request(id, talk, target),
        (PlanState::NeedsSchedEscalation, ..) => escalation_request(id, talk),
        (_, Some(PauseKind::Questions), _) => questions_request(id, talk),
        (_, Some(PauseKind::Goal), _) => goal_request(id, talk),
        (_, Some(PauseKind::Rfc), _) => subtype_rfc_request(id, talk),
        (_, Some(PauseKind::LowConfidence), _) => low_confidence_request(id, talk),
        (_, Some(PauseKind::Validation), _) => validation_request(id, talk),
        (_, Some(PauseKind::Cap), _) => planning_cap_request(id, talk),
        (_, Some(PauseKind::Budget), _) => budget_request(id, talk),
        (_, Some(PauseKind::Model), _) => model_failure_request(id, talk),
        (_, Some(PauseKind::Approval), Some(target)) => draft_request(id, talk, target),
        _ => return None,
    })
}

fn call_to_action(ask: CallToActionKind) -> CallToAction {
    // The panel names its keys itself; words are for prompts and pipes.
    CallToAction { ask, form: CallToActionForm::Replies }
}

/// Writes a message. The one of the first request greets, also when notes about the goal were printed before it.
fn render_speech(
    id: Option<RequestId>,
    talk: &PlanningSlice,
    speech: &AgentMessageDraft,
) -> String {
    let aside = talk.asks_style.then(|| agent_messages::preference_line().to_owned());
    let speech = AgentMessageDraft { aside, ..speech.clone() };
    agent_messages::compose_message(
        &talk.interaction_policy(),
        talk.response_text.is_empty() || id == Some(RequestId(1)),
        &speech,
    )
}

/// Ideas that the person asked for, with the request that is still open.
pub fn ideas_message(talk: &PlanningSlice, ideas: &[String]) -> String {
    let asked = match (talk.place.state, talk.place.pause) {
        (PlanState::SeekApproval, _) | (_, Some(PauseKind::Approval)) => {
            Some(CallToActionKind::Approval)
        }
        (PlanState::NeedsSchedEscalation, _) => Some(CallToActionKind::Escalation),
        (_, Some(PauseKind::Questions)) => Some(CallToActionKind::Questions),
        (_, Some(PauseKind::Goal)) => Some(CallToActionKind::Goal),
        (_, Some(PauseKind::Rfc)) => Some(CallToActionKind::Rfc),
        (_, Some(PauseKind::LowConfidence)) => Some(CallToActionKind::LowConfidence),
        (_, Some(PauseKind::Validation)) => Some(CallToActionKind::Validation),
        (_, Some(PauseKind::Cap)) => Some(CallToActionKind::Cap),
        (_, Some(PauseKind::Budget)) => Some(CallToActionKind::Budget),
        (_, Some(PauseKind::Model)) => Some(CallToActionKind::Model),
        _ => None,
    };
    let speech = AgentMessageDraft {
        lead: vec!["Some other ways to go about it.".to_owned()],
        points: ideas.to_vec(),
        cta: asked.map(call_to_action),
        ..AgentMessageDraft::default()
    };
    render_speech(None, talk, &speech)
}

fn questions_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let speech = AgentMessageDraft {
        lead: vec!["Something is missing before the draft.".to_owned()],
        points: talk.questions.iter().map(|question| question.text.clone()).collect(),
        cta: Some(call_to_action(CallToActionKind::Questions)),
        ..AgentMessageDraft::default()
    };
    (requests::questions_request(id, &talk.questions), render_speech(Some(id), talk, &speech))
}

fn goal_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let unclear = talk.goal.trim();
    let lead = if unclear.is_empty() {
        "Tell me the goal in one sentence.".to_owned()
    } else if requests::is_long_goal(unclear) {
        "The goal is too long to read without a model. Say it in one sentence.".to_owned()
    } else {
        let unclear = requests::shorten_goal(unclear);
        format!(
            "\"{unclear}\" says too little to plan. Say in one sentence what should be different when it is done."
        )
    };
    let speech = AgentMessageDraft {
        lead: vec![lead],
        cta: Some(call_to_action(CallToActionKind::Goal)),
        ..AgentMessageDraft::default()
    };
    (requests::goal_request(id, unclear), render_speech(Some(id), talk, &speech))
}

fn subtype_rfc_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let pattern = talk.pattern.as_ref().map(|choice| &choice.pattern);
    if let Some(choice) = &talk.pattern
        && let Some(name) = &choice.proposed_pattern
    {
        return pattern_rfc_request(id, talk, name, &choice.pattern);
    }
    let subtype = pattern.and_then(|spec| spec.proposed_name()).unwrap_or_default();
    let nearest = pattern
        .map(|spec| {
            let source = spec.source_pattern.as_deref().unwrap_or("generic");
            PatternSpec::with_subtype(spec.pattern_type, source).kind_noun()
        })
        .unwrap_or_default();
    let reason = talk.pattern_rfc_text.as_deref().unwrap_or_default();
    let speech = AgentMessageDraft {
        lead: vec![format!(
            "This looks like a new kind of plan, {}, near {nearest}.",
            subtype.replace('_', " ")
        )],
        cta: Some(call_to_action(CallToActionKind::Rfc)),
        ..AgentMessageDraft::default()
    };
    let asked = requests::subtype_rfc_request(id, subtype, &nearest, reason);
    (asked, render_speech(Some(id), talk, &speech))
}

/// A whole new pattern: it is recorded for whoever writes templates, and this plan uses the nearest one there is.
fn pattern_rfc_request(
    id: RequestId,
    talk: &PlanningSlice,
    name: &str,
    canonical: &PatternSpec,
) -> (Request, String) {
    let nearest = canonical.kind_noun();
    let reason = talk.pattern_rfc_text.as_deref().unwrap_or_default();
    let speech = AgentMessageDraft {
        lead: vec![format!(
            "This looks like a new kind of plan, {}, near {nearest}.",
            name.replace('_', " ")
        )],
        cta: Some(call_to_action(CallToActionKind::Rfc)),
        ..AgentMessageDraft::default()
    };
    let asked = requests::pattern_rfc_request(id, name, &nearest, reason);
    (asked, render_speech(Some(id), talk, &speech))
}

/// The stage that planning stopped at, and what is known about its draft.
fn stage_trouble(talk: &PlanningSlice) -> StageTrouble<'_> {
    let stage = resumed_stage(talk);
    StageTrouble {
        stage,
        assessment: talk.judgements.get(&stage),
        trouble: talk.trouble.as_deref(),
        ideas: &talk.ideas,
        is_offline: talk.offline,
    }
}

fn resumed_stage(talk: &PlanningSlice) -> Stage {
    talk.resume.and_then(|place| place.state.stage()).unwrap_or(Stage::Outline)
}

fn low_confidence_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let trouble = stage_trouble(talk);
    let speech = AgentMessageDraft {
        lead: vec![format!("The {} is a guess in places.", trouble.stage.as_str())],
        points: talk.ideas.clone(),
        cta: Some(call_to_action(CallToActionKind::LowConfidence)),
        ..AgentMessageDraft::default()
    };
    (requests::low_confidence_request(id, &trouble), render_speech(Some(id), talk, &speech))
}

fn validation_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let trouble = stage_trouble(talk);
    let speech = AgentMessageDraft {
        lead: vec![format!("The {} still has errors.", trouble.stage.as_str())],
        violations: requests::format_findings(trouble.assessment),
        cta: Some(call_to_action(CallToActionKind::Validation)),
        ..AgentMessageDraft::default()
    };
    (requests::validation_request(id, &trouble), render_speech(Some(id), talk, &speech))
}

/// The model that drafts failed. Nothing is drafted without it unless the person says so.
fn model_failure_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let failure = ModelFailure {
        stage: resumed_stage(talk),
        drafter: talk.drafter.as_str(),
        why: talk.trouble.as_deref().unwrap_or("the model failed"),
        has_draft: talk.outline.is_some(),
    };
    let lead = format!("The model could not draft the {}.", failure.stage.as_str());
    let speech = AgentMessageDraft {
        lead: vec![lead, failure.why.to_owned()],
        cta: Some(call_to_action(CallToActionKind::Model)),
        ..AgentMessageDraft::default()
    };
    (requests::model_failure_request(id, &failure), render_speech(Some(id), talk, &speech))
}

fn planning_cap_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let reason: Option<&EscalationReason> = talk.reason.as_ref();
    let (words, _) = requests::describe_planning_cap(reason);
    let speech = AgentMessageDraft {
        lead: vec![format!("Planning is paused. {words}.")],
        cta: Some(call_to_action(CallToActionKind::Cap)),
        ..AgentMessageDraft::default()
    };
    (requests::planning_cap_request(id, reason), render_speech(Some(id), talk, &speech))
}

fn budget_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let speech = AgentMessageDraft {
        lead: vec!["The next step would cost more than the budget allows.".to_owned()],
        cta: Some(call_to_action(CallToActionKind::Budget)),
        ..AgentMessageDraft::default()
    };
    let asked = requests::budget_request(id, talk.trouble.as_deref(), talk.trouble_cap);
    (asked, render_speech(Some(id), talk, &speech))
}

fn escalation_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let schedule = talk.schedule.as_deref();
    let none = BTreeSet::new();
    let hard = talk.context.as_deref().map_or(&none, |context| &context.constraints.hard);
    let relaxations = schedule.map(|schedule| schedule.relaxations.as_slice()).unwrap_or_default();
    let speech = AgentMessageDraft {
        lead: vec!["The plan does not fit into the time there is.".to_owned()],
        points: (1..)
            .zip(relaxations)
            .map(|(number, relaxation)| format!("{number}. {}", relaxation.summary))
            .collect(),
        cta: Some(call_to_action(CallToActionKind::Escalation)),
        ..AgentMessageDraft::default()
    };
    (requests::escalation_request(id, schedule, hard), render_speech(Some(id), talk, &speech))
}

/// What is known about the draft that is to be approved.
fn draft_evidence(talk: &PlanningSlice, target: ApprovalTarget) -> DraftEvidence<'_> {
    let stage = match target {
        ApprovalTarget::Pattern => None,
        ApprovalTarget::Outline => Some(Stage::Outline),
        ApprovalTarget::Roadmap => Some(Stage::Roadmap),
        ApprovalTarget::Final => Some(Stage::Schedule),
    };
    DraftEvidence {
        pattern: talk.pattern.as_ref(),
        assessment: stage.and_then(|stage| talk.judgements.get(&stage)),
        low_confidence: talk.low_confidence,
        open_changes: &talk.open_changes,
        reports: &talk.reports,
        assumptions: talk.context.as_deref().map_or(&[], |context| &context.assumptions),
        options: talk.roadmap.as_deref().map_or(&[], |roadmap| &roadmap.options_tried),
        ideas: &talk.ideas,
        may_start_today: false,
        lacks_steps: target == ApprovalTarget::Outline && lacks_steps(talk),
    }
}

/// Whether the person is to write the steps and has not begun.
fn lacks_steps(talk: &PlanningSlice) -> bool {
    let own = talk.pattern.as_ref().is_some_and(|choice| choice.pattern.is_own_steps());
    own && talk.outline.as_deref().is_some_and(|outline| {
        let tree = outline.node_tree();
        tree.leaves(&outline.root_id).iter().all(|leaf| leaf.title.trim().is_empty())
    })
}

/// A plan that has less time than this left today does not begin today.
const LEAST_MINUTES_TODAY: u64 = 15;

/// Whether the schedule could begin today: it begins later, there are working hours left today, and the task it begins
/// with has no date of its own that keeps it from that.
fn may_start_today(talk: &PlanningSlice, now: Timestamp) -> bool {
    let (Some(schedule), Some(context), Some(roadmap)) =
        (talk.schedule.as_deref(), talk.context.as_deref(), talk.roadmap.as_deref())
    else {
        return false;
    };
    let zone = TimeZone::get(&schedule.tz).unwrap_or(TimeZone::UTC);
    let today = now.to_zoned(zone).date();
    let Some(first) = schedule.blocks.iter().min_by_key(|block| block.start) else { return false };
    let tree = roadmap.node_tree();
    let own = tree.get(&first.plan_node_id);
    let is_dated = own.into_iter().chain(tree.ancestors(&first.plan_node_id)).any(|node| {
        [node.not_before, node.fixed_start].into_iter().flatten().any(|date| date.day > today)
    });
    let left = WorkCalendar::from_plan(&context.calendar, today).ok().and_then(|calendar| {
        let tomorrow = today.tomorrow().ok()?;
        Some(calendar.working_between(now, calendar.day_start(tomorrow)))
    });
    let has_time = left.is_some_and(|left| left >= LEAST_MINUTES_TODAY);
    first.start.local_date() > today && !is_dated && has_time
}

fn draft_request(id: RequestId, talk: &PlanningSlice, target: ApprovalTarget) -> (Request, String) {
    let version = talk.outline.as_deref().map_or(1, |outline| outline.version);
    let mut lead = report_lines(talk);
    lead.push(draft_summary(talk, target));
    let speech = AgentMessageDraft {
        lead,
        points: talk.ideas.clone(),
        why: talk.pattern.as_ref().and_then(|choice| choice.explanations.first().cloned()),
        next_step: Some("Look at it, then approve it or say what to change.".to_owned()),
        cta: Some(call_to_action(CallToActionKind::Approval)),
        ..AgentMessageDraft::default()
    };
    let asked = requests::draft_request(id, target, version, &draft_evidence(talk, target));
    (asked, render_speech(Some(id), talk, &speech))
}

fn final_evidence(talk: &PlanningSlice, now: Timestamp) -> DraftEvidence<'_> {
    let may_start_today = may_start_today(talk, now);
    DraftEvidence { may_start_today, ..draft_evidence(talk, ApprovalTarget::Final) }
}

/// How late the plan ends, in working minutes.
fn lateness_minutes(talk: &PlanningSlice) -> u32 {
    talk.schedule.as_deref().map_or(0, |schedule| schedule.lateness_minutes)
}

/// The request for the plan as a whole.
pub(super) fn planning_final_request(
    id: RequestId,
    talk: &PlanningSlice,
    revision: &PlanRevision,
    now: Timestamp,
) -> (Request, String) {
    let asked = requests::planned_request(
        id,
        &revision.as_proposed_plan(),
        &final_evidence(talk, now),
        lateness_minutes(talk),
    );
    let mut lead = report_lines(talk);
    lead.push(draft_summary(talk, ApprovalTarget::Final));
    let speech = AgentMessageDraft {
        lead,
        points: option_differences(talk).into_iter().chain(unseen_ideas(talk)).collect(),
        why: talk
            .roadmap
            .as_deref()
            .and_then(|roadmap| roadmap.options_tried.iter().find(|option| option.chosen))
            .map(|option| option.rationale.clone()),
        next_step: Some("Approve it to start, or say what to change.".to_owned()),
        cta: Some(call_to_action(CallToActionKind::Approval)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(Some(id), talk, &speech))
}

/// The request for a plan that a change request did not change: that comes first, and what was left open.
pub(super) fn unchanged_plan_request(
    id: RequestId,
    talk: &PlanningSlice,
    revision: &PlanRevision,
    now: Timestamp,
) -> (Request, String) {
    let asked = requests::unchanged_plan_request(
        id,
        &revision.as_proposed_plan(),
        &final_evidence(talk, now),
        lateness_minutes(talk),
    );
    let mut lead = report_lines(talk);
    lead.push("Nothing changed: the plan is as it was.".to_owned());
    lead.extend(talk.open_changes.iter().map(|change| format!("Left open: {change}.")));
    let speech = AgentMessageDraft {
        lead,
        next_step: Some("Say it in other words, or edit it by hand.".to_owned()),
        cta: Some(call_to_action(CallToActionKind::Approval)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(Some(id), talk, &speech))
}

/// What became of the change requests, the answers to questions included.
fn report_lines(talk: &PlanningSlice) -> Vec<String> {
    let end =
        |line: String| if line.ends_with(['.', '!', '?']) { line } else { format!("{line}.") };
    talk.reports.iter().map(|report| end(report.describe())).collect()
}

/// Ideas that no earlier card could show.
fn unseen_ideas(talk: &PlanningSlice) -> Vec<String> {
    let shown = talk.approved.contains(&ApprovalTarget::Outline)
        || talk.approved.contains(&ApprovalTarget::Pattern);
    if shown { Vec::new() } else { talk.ideas.clone() }
}

fn option_differences(talk: &PlanningSlice) -> Vec<String> {
    let Some(roadmap) = talk.roadmap.as_deref() else { return Vec::new() };
    let Some(first) = roadmap.options_tried.first() else { return Vec::new() };
    roadmap
        .options_tried
        .iter()
        .take(agent_messages::options_shown(&talk.interaction_policy()))
        .map(|option| {
            format!("{}: {}", option.label, requests::describe_option_difference(option, first))
        })
        .collect()
}

fn draft_summary(talk: &PlanningSlice, target: ApprovalTarget) -> String {
    let nodes = talk.outline.as_deref().map_or(0, |outline| outline.nodes.len());
    match target {
        ApprovalTarget::Pattern => match &talk.pattern {
            Some(choice) => format!("Kind of plan: {}.", choice.pattern.kind_noun()),
            None => "A kind of plan is chosen.".to_owned(),
        },
        ApprovalTarget::Outline => format!("The outline has {nodes} rows."),
        ApprovalTarget::Roadmap => {
            let minutes = talk.roadmap.as_deref().map_or(0, |roadmap| roadmap.total_minutes);
            format!("The work comes to {}.", units::format_planned(minutes.into()))
        }
        ApprovalTarget::Final => {
            let minutes = talk.roadmap.as_deref().map_or(0, |roadmap| roadmap.total_minutes);
            let end = talk
                .schedule
                .as_deref()
                .and_then(|schedule| schedule.blocks.last())
                .map(|block| {
                    let (first, last) = (talk.schedule.as_deref(), block.end.local_date());
                    let first = first.and_then(|schedule| schedule.blocks.first());
                    let start = first.map_or(last, |block| block.start.local_date());
                    format!(" and ends {}", format_date(last, start))
                })
                .unwrap_or_default();
            format!("The plan takes {}{end}.", units::format_planned(minutes.into()))
        }
    }
}
