//! What the person is asked while planning, with what every answer leads to.

use planwright_drafting::agent_messages::{
    self, AgentMessageDraft, CallToAction, CallToActionForm, CallToActionKind,
};
use planwright_drafting::offline::describe_difference;
use planwright_model::request::RequestDetail;
use planwright_model::{
    ApprovalTarget, Choice, ChoiceAction as A, EscalationReason, PatternSpec, PauseKind, PlanState,
    Request, RequestId, RequestKind, Stage, StageAssessment,
};
use planwright_state::{PlanRevision, PlanningSlice};
use planwright_text::units;

/// How many findings a card names.
const FINDINGS: usize = 3;

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

fn new_request(
    id: RequestId,
    kind: RequestKind,
    question: &str,
    why: impl Into<String>,
) -> Request {
    Request {
        id,
        kind,
        question: question.to_owned(),
        why: why.into(),
        verbatim: Vec::new(),
        details: Vec::new(),
        choices: Vec::new(),
        task: None,
    }
}

fn call_to_action(ask: CallToActionKind) -> CallToAction {
    // The panel names its keys itself; words are for prompts and pipes.
    CallToAction { ask, form: CallToActionForm::Replies }
}

fn render_speech(talk: &PlanningSlice, speech: &AgentMessageDraft) -> String {
    let aside = talk.asks_style.then(|| agent_messages::preference_line().to_owned());
    let speech = AgentMessageDraft { aside, ..speech.clone() };
    agent_messages::compose_message(
        &talk.interaction_policy(),
        talk.response_text.is_empty(),
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
    render_speech(talk, &speech)
}

fn ideas_choice() -> Choice {
    Choice::new(A::Ideas, "ideas", "a few other ways to go about it; the question stays open")
}

/// Ideas that were offered, as rows of a card.
fn idea_details(talk: &PlanningSlice) -> impl Iterator<Item = RequestDetail> {
    talk.ideas.iter().map(|idea| RequestDetail::new("idea", idea.clone()))
}

fn abandon_choice() -> Choice {
    Choice::new(A::Abandon, "abandon", "planning ends; what was drafted stays readable")
}

fn questions_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let count = talk.questions.len();
    let question = match talk.questions.as_slice() {
        [only] => only.text.clone(),
        _ => format!("{count} questions before the draft"),
    };
    let mut asked = new_request(
        id,
        RequestKind::Questions { questions: talk.questions.clone() },
        &question,
        "the answer changes how large the plan is; what you skip is assumed and listed",
    );
    if count > 1 {
        for (number, question) in talk.questions.iter().enumerate() {
            asked
                .details
                .push(RequestDetail::new(&format!("{}", number + 1), question.text.clone()));
        }
    }
    for question in &talk.questions {
        asked
            .details
            .push(RequestDetail::new("assumed", format!("{}: {}", question.key, question.assumed)));
    }
    asked.choices = vec![
        Choice::new(A::Reply, "answer", "the draft uses what you say"),
        Choice::new(A::SkipQuestions, "skip", "the assumed values are used and listed"),
        ideas_choice(),
        abandon_choice(),
    ];
    let speech = AgentMessageDraft {
        lead: vec!["Something is missing before I draft.".to_owned()],
        points: talk.questions.iter().map(|question| question.text.clone()).collect(),
        cta: Some(call_to_action(CallToActionKind::Questions)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn goal_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let mut asked =
        new_request(id, RequestKind::Goal, "What do you want to get done?", "there is no goal yet");
    asked.choices =
        vec![Choice::new(A::Reply, "say the goal", "planning begins with it"), abandon_choice()];
    let speech = AgentMessageDraft {
        lead: vec!["Tell me the goal in one sentence.".to_owned()],
        cta: Some(call_to_action(CallToActionKind::Goal)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn subtype_rfc_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let pattern = talk.pattern.as_ref().map(|choice| &choice.pattern);
    if let Some(choice) = &talk.pattern
        && let Some(name) = &choice.proposed_pattern
    {
        return pattern_rfc_request(id, talk, name, &choice.pattern);
    }
    let subtype = pattern.and_then(|spec| spec.proposed_name()).unwrap_or_default().to_owned();
    let nearest = pattern
        .map(|spec| {
            let source = spec.source_pattern.as_deref().unwrap_or("generic");
            format!("{} / {source}", spec.pattern_type)
        })
        .unwrap_or_default();
    let text = talk.pattern_rfc_text.clone().unwrap_or_default();
    let mut asked = new_request(
        id,
        RequestKind::Rfc { subtype: subtype.clone(), nearest: nearest.clone(), pattern: false },
        &format!("Use the new subtype \"{subtype}\"?"),
        format!("nearest known pattern: {nearest}"),
    );
    asked.details.push(RequestDetail::new("reason", text));
    asked.choices = vec![
        Choice::new(A::Approve, "approve", format!("{subtype} joins your list of subtypes")),
        Choice::new(A::Decline, "decline", format!("the plan follows {nearest}")),
        Choice::new(A::RequestChanges, "propose changes", "say what the subtype should be"),
        abandon_choice(),
    ];
    let speech = AgentMessageDraft {
        lead: vec![format!("I would like to use a new subtype, {subtype}, near {nearest}.")],
        cta: Some(call_to_action(CallToActionKind::Rfc)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

/// A whole new pattern: it is recorded for whoever writes templates, and this plan uses the nearest one there is.
fn pattern_rfc_request(
    id: RequestId,
    talk: &PlanningSlice,
    name: &str,
    canonical: &PatternSpec,
) -> (Request, String) {
    let subtype = canonical.subtype.as_deref().unwrap_or("generic");
    let nearest = format!("{} / {subtype}", canonical.pattern_type);
    let mut asked = new_request(
        id,
        RequestKind::Rfc { subtype: name.to_owned(), nearest: nearest.clone(), pattern: true },
        &format!("Record the new pattern \"{name}\"?"),
        format!("this plan follows {nearest} either way"),
    );
    asked
        .details
        .push(RequestDetail::new("reason", talk.pattern_rfc_text.clone().unwrap_or_default()));
    asked.choices = vec![
        Choice::new(A::Approve, "approve", "recorded for a template to be written"),
        Choice::new(A::Decline, "decline", "nothing is recorded"),
        abandon_choice(),
    ];
    let speech = AgentMessageDraft {
        lead: vec![format!("I would like to propose a new pattern, {name}, near {nearest}.")],
        cta: Some(call_to_action(CallToActionKind::Rfc)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn resumed_stage(talk: &PlanningSlice) -> Stage {
    talk.resume.and_then(|place| place.state.stage()).unwrap_or(Stage::Outline)
}

fn format_findings(judgement: Option<&StageAssessment>) -> Vec<String> {
    judgement
        .into_iter()
        .flat_map(|judgement| &judgement.violations)
        .take(FINDINGS)
        .map(|found| format!("{} {} {}", found.rule, found.message, found.suggested_fix))
        .collect()
}

fn add_trouble_choices(talk: &PlanningSlice, asked: &mut Request) {
    asked.choices.push(Choice::new(
        A::Reply,
        "say what to change",
        "the draft is made again with it",
    ));
    asked.choices.push(Choice::new(
        A::TryAgain,
        "try again",
        "the same stage is drafted once more",
    ));
    if !talk.offline {
        asked.choices.push(Choice::new(
            A::GoOffline,
            "offline draft",
            "the built-in planner drafts this stage, without a model",
        ));
    }
    asked.choices.push(Choice::new(
        A::Edit,
        "edit by hand",
        "change the best draft so far yourself",
    ));
    asked.choices.push(abandon_choice());
}

fn confidence_detail(judgement: Option<&StageAssessment>) -> Option<RequestDetail> {
    let confidence = &judgement?.confidence;
    let own = confidence.self_score.map(|own| format!(", own score {own:.2}")).unwrap_or_default();
    Some(RequestDetail::new(
        "confidence",
        format!(
            "{:.2} (rules {:.2}, heuristics {:.2}{own})",
            confidence.value, confidence.rules, confidence.heuristics
        ),
    ))
}

fn low_confidence_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let stage = resumed_stage(talk);
    let judgement = talk.judgements.get(&stage);
    let mut asked = new_request(
        id,
        RequestKind::LowConfidence { stage },
        &format!("The {} is not sure enough. How should it go on?", stage.as_str()),
        "no rule is broken, but too much was guessed",
    );
    asked.details.extend(confidence_detail(judgement));
    asked.details.extend(idea_details(talk));
    add_trouble_choices(talk, &mut asked);
    asked.choices.push(ideas_choice());
    let speech = AgentMessageDraft {
        lead: vec![format!("I am not sure enough of the {}.", stage.as_str())],
        points: talk.ideas.clone(),
        cta: Some(call_to_action(CallToActionKind::LowConfidence)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn validation_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let stage = resumed_stage(talk);
    let judgement = talk.judgements.get(&stage);
    let broken = format_findings(judgement);
    let why = match &talk.trouble {
        Some(trouble) => trouble.clone(),
        None => "it was mended and drafted again, and still breaks rules".to_owned(),
    };
    let mut asked = new_request(
        id,
        RequestKind::Validation { stage },
        &format!("The {} does not hold. What should change?", stage.as_str()),
        why,
    );
    for finding in &broken {
        asked.details.push(RequestDetail::new("finding", finding.clone()));
    }
    asked.details.extend(confidence_detail(judgement));
    add_trouble_choices(talk, &mut asked);
    let speech = AgentMessageDraft {
        lead: vec![format!("The {} does not hold yet.", stage.as_str())],
        violations: broken,
        cta: Some(call_to_action(CallToActionKind::Validation)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

/// The model that drafts failed. Nothing is drafted without it unless the person says so.
fn model_failure_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let stage = resumed_stage(talk);
    let why = talk.trouble.clone().unwrap_or_else(|| "the model failed".to_owned());
    let mut asked = new_request(
        id,
        RequestKind::ModelTrouble { stage },
        &format!(
            "{} could not draft the {}. How should planning continue?",
            talk.drafter,
            stage.as_str()
        ),
        why.clone(),
    );
    asked.choices = vec![
        Choice::new(A::TryAgain, "retry", "the model is asked again for this stage"),
        Choice::new(
            A::GoOffline,
            "use the offline planner",
            "the rest is drafted from built-in templates, without a model",
        ),
    ];
    if talk.outline.is_some() {
        let words = "the model is asked again with your words";
        asked.choices.push(Choice::new(A::Reply, "say what to change", words));
        asked.choices.push(Choice::new(
            A::Edit,
            "edit by hand",
            "change the best draft so far yourself",
        ));
    }
    asked.choices.push(abandon_choice());
    let speech = AgentMessageDraft {
        lead: vec![format!("The model could not draft the {}.", stage.as_str()), why],
        cta: Some(call_to_action(CallToActionKind::Model)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn cap_description(reason: Option<&EscalationReason>) -> (&'static str, &'static str) {
    match reason {
        Some(EscalationReason::CapTurns) => ("the turns of this round are used up", "turn_limit"),
        Some(EscalationReason::CapWallTime) => {
            ("nothing has happened for too long", "wall_time_sec")
        }
        Some(EscalationReason::CapRevisions) => {
            ("the plan was revised as often as the limit allows", "revision_limit")
        }
        Some(EscalationReason::CapEscalations) => {
            ("it was relaxed as often as the limit allows", "escalation_round_limit")
        }
        Some(EscalationReason::CapContinues) => {
            ("it was continued as often as the limit allows", "continue_limit")
        }
        _ => ("a limit of the conversation is reached", "limit"),
    }
}

fn planning_cap_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let (words, name) = cap_description(talk.reason.as_ref());
    let reason = talk.reason.clone().unwrap_or(EscalationReason::CapTurns);
    let mut asked = new_request(
        id,
        RequestKind::PlanningCap { reason },
        "Go on past the limit?",
        format!("{words} ({name}); the best draft so far is kept"),
    );
    asked.choices = vec![
        Choice::new(A::GoOn, "go on", "the counter starts again"),
        Choice::new(A::Edit, "edit by hand", "change the draft yourself"),
        Choice::new(A::KeepAndStop, "keep the plan and stop", "resume later"),
        abandon_choice(),
    ];
    let speech = AgentMessageDraft {
        lead: vec![format!("I paused: {words}.")],
        cta: Some(call_to_action(CallToActionKind::Cap)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn budget_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let why = talk.trouble.clone().unwrap_or_else(|| "the next call would exceed it".to_owned());
    let mut asked = new_request(
        id,
        RequestKind::PlanningCap { reason: EscalationReason::Budget },
        "The budget is reached. How should it go on?",
        why,
    );
    asked.choices = vec![
        Choice::new(A::RaiseOnce, "raise once", "goes on a little further, then asks again"),
        Choice::new(
            A::RaiseForSession,
            "raise for the session",
            "no limit until this session ends",
        ),
        Choice::new(A::GoOffline, "go on offline", "the built-in planner takes over"),
        Choice::new(A::Abandon, "stop", "what was drafted stays readable"),
    ];
    let speech = AgentMessageDraft {
        lead: vec!["The next step would cost more than the budget allows.".to_owned()],
        cta: Some(call_to_action(CallToActionKind::Budget)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn escalation_request(id: RequestId, talk: &PlanningSlice) -> (Request, String) {
    let schedule = talk.schedule.as_deref();
    let relaxations = schedule.map(|schedule| schedule.relaxations.as_slice()).unwrap_or_default();
    let late = schedule.map_or(0, |schedule| schedule.lateness_minutes);
    let unplaced: u32 =
        schedule.map_or(0, |schedule| schedule.unplaced.iter().map(|left| left.minutes).sum());
    let why = match (late, unplaced) {
        (0, 0) => "it does not fit".to_owned(),
        (0, minutes) => format!("{minutes} minutes fit nowhere before the end"),
        (late, _) => format!("it would end {} working hours late", late.div_ceil(60)),
    };
    let mut asked =
        new_request(id, RequestKind::Escalation, "The plan does not fit. What gives way?", why);
    for (number, relaxation) in (1u8..).zip(relaxations) {
        asked.choices.push(Choice::new(
            A::UseRelaxation(number),
            &format!("use {number}"),
            relaxation.summary.clone(),
        ));
    }
    if relaxations.is_empty() {
        let hard = talk
            .context
            .as_deref()
            .map(|context| context.constraints.hard.iter().cloned().collect::<Vec<_>>().join(", "))
            .unwrap_or_default();
        asked.details.push(RequestDetail::new("fixed by you", hard));
    }
    asked.choices.push(Choice::new(A::AcceptLate, "accept late", "the deadline becomes soft"));
    asked.choices.push(Choice::new(
        A::RequestChanges,
        "propose changes",
        "say what should be different",
    ));
    asked.choices.push(abandon_choice());
    let speech = AgentMessageDraft {
        lead: vec!["The plan does not fit into the time there is.".to_owned()],
        points: (1..)
            .zip(relaxations)
            .map(|(number, relaxation)| format!("{number}. {}", relaxation.summary))
            .collect(),
        cta: Some(call_to_action(CallToActionKind::Escalation)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

fn draft_request(id: RequestId, talk: &PlanningSlice, target: ApprovalTarget) -> (Request, String) {
    let version = talk.outline.as_deref().map_or(1, |outline| outline.version);
    let (question, why) = match target {
        ApprovalTarget::Pattern => ("Is this the right kind of plan?", "the outline follows it"),
        ApprovalTarget::Outline => ("Is this the right outline?", "estimates and dates come next"),
        ApprovalTarget::Roadmap => ("Is this the right roadmap?", "dates come next"),
        ApprovalTarget::Final => ("Approve this plan?", "nothing runs before you approve it"),
    };
    let mut asked = new_request(id, RequestKind::Draft { target, version }, question, why);
    asked.choices.push(Choice::new(
        A::Approve,
        "approve",
        match target {
            ApprovalTarget::Pattern => "the outline is drafted",
            ApprovalTarget::Outline => "the roadmap is drafted",
            _ => "the schedule is made",
        },
    ));
    add_draft_details(talk, target, &mut asked);
    if matches!(target, ApprovalTarget::Pattern | ApprovalTarget::Outline) {
        asked.details.extend(idea_details(talk));
        asked.choices.push(ideas_choice());
    }
    let speech = AgentMessageDraft {
        lead: vec![draft_summary(talk, target)],
        points: talk.ideas.clone(),
        why: talk.pattern.as_ref().and_then(|choice| choice.explanations.first().cloned()),
        next_step: Some("Look at it, then approve it or say what to change.".to_owned()),
        cta: Some(call_to_action(CallToActionKind::Approval)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
}

/// The request for the plan as a whole.
pub(super) fn planning_final_request(
    id: RequestId,
    talk: &PlanningSlice,
    revision: &PlanRevision,
) -> (Request, String) {
    let mut asked = super::super::requests::final_plan_request(id, revision);
    asked.choices.retain(|choice| matches!(choice.action, A::ApproveAndRun | A::ApproveAndStop));
    add_draft_details(talk, ApprovalTarget::Final, &mut asked);
    // What was asked for and not done is said before anything else.
    if !talk.open_wishes.is_empty() {
        asked.why = format!("{}; left open: {}", asked.why, talk.open_wishes.join("; "));
    }
    if let Some(schedule) = talk.schedule.as_deref()
        && schedule.lateness_minutes > 0
    {
        asked.details.insert(
            0,
            RequestDetail::new(
                "late",
                format!(
                    "{} of working time after the deadline, accepted by you",
                    units::format_planned(schedule.lateness_minutes.into())
                ),
            ),
        );
    }
    let speech = AgentMessageDraft {
        lead: vec![draft_summary(talk, ApprovalTarget::Final)],
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
    (asked, render_speech(talk, &speech))
}

/// The request for a plan that a wish did not change: it says so first, and what was left open.
pub(super) fn unchanged_plan_request(
    id: RequestId,
    talk: &PlanningSlice,
    revision: &PlanRevision,
) -> (Request, String) {
    let (mut asked, _) = planning_final_request(id, talk, revision);
    let same = format!("r{} is as it was", revision.revision);
    asked.why = match talk.open_wishes.as_slice() {
        [] => format!("nothing changed, {same}"),
        open => format!("nothing changed, {same}; left open: {}", open.join("; ")),
    };
    let mut lead = vec![format!("Nothing changed: {same}.")];
    lead.extend(talk.open_wishes.iter().map(|wish| format!("Left open: {wish}.")));
    let speech = AgentMessageDraft {
        lead,
        next_step: Some("Say it in other words, or edit it by hand.".to_owned()),
        cta: Some(call_to_action(CallToActionKind::Approval)),
        ..AgentMessageDraft::default()
    };
    (asked, render_speech(talk, &speech))
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
        .map(|option| format!("{}: {}", option.label, describe_difference(option, first)))
        .collect()
}

/// Details and choices that all drafts share.
fn add_draft_details(talk: &PlanningSlice, target: ApprovalTarget, asked: &mut Request) {
    if let Some(choice) = &talk.pattern {
        let subtype = choice.pattern.subtype.as_deref().unwrap_or("none");
        let flagged = if choice.pattern.proposed_name().is_some() { ", proposed" } else { "" };
        asked.details.push(RequestDetail::new(
            "pattern",
            format!(
                "{} / {subtype}{flagged}, confidence {}",
                choice.pattern.pattern_type,
                planwright_text::units::format_confidence(choice.confidence, 2)
            ),
        ));
        if choice.confidence < 0.70
            && let Some(second) = &choice.second
        {
            let name = second.subtype.as_deref().unwrap_or("none");
            asked
                .details
                .push(RequestDetail::new("or", format!("{} / {name}", second.pattern_type)));
        }
    }
    let stage = match target {
        ApprovalTarget::Pattern => None,
        ApprovalTarget::Outline => Some(Stage::Outline),
        ApprovalTarget::Roadmap => Some(Stage::Roadmap),
        ApprovalTarget::Final => Some(Stage::Schedule),
    };
    let judgement = stage.and_then(|stage| talk.judgements.get(&stage));
    asked.details.extend(confidence_detail(judgement));
    if talk.low_confidence {
        asked
            .details
            .push(RequestDetail::new("flagged", "low confidence was let pass under high autonomy"));
    }
    for finding in format_findings(judgement) {
        asked.details.push(RequestDetail::new("note", finding));
    }
    for wish in &talk.open_wishes {
        asked.details.push(RequestDetail::new(
            "left open",
            format!("{wish} (edit with e, or set up a model)"),
        ));
    }
    if let Some(context) = talk.context.as_deref() {
        for assumed in &context.assumptions {
            if assumed.origin != planwright_model::AssumptionOrigin::User {
                asked.details.push(RequestDetail::new(
                    "assumed",
                    format!("{}: {}", assumed.key, assumed.value),
                ));
            }
        }
    }
    asked.choices.push(Choice::new(
        A::RequestChanges,
        "request changes",
        "say what should be different; marked nodes limit it",
    ));
    if matches!(target, ApprovalTarget::Roadmap | ApprovalTarget::Final)
        && let Some(roadmap) = talk.roadmap.as_deref()
        && let Some(shown) = roadmap
            .options_tried
            .iter()
            .find(|option| option.chosen)
            .or(roadmap.options_tried.first())
    {
        for (number, option) in (1u8..).zip(&roadmap.options_tried) {
            if !option.chosen {
                asked.choices.push(Choice::new(
                    A::PickOption(number),
                    &format!("option {}", option.label.to_lowercase()),
                    describe_difference(option, shown),
                ));
            }
        }
    }
    if target != ApprovalTarget::Pattern {
        asked.choices.push(Choice::new(A::Edit, "edit", "change it by hand; e on a node"));
    }
    asked.choices.push(Choice::new(A::Reject, "none of these", "a different draft is made"));
    asked.choices.push(abandon_choice());
}

fn draft_summary(talk: &PlanningSlice, target: ApprovalTarget) -> String {
    let nodes = talk.outline.as_deref().map_or(0, |outline| outline.nodes.len());
    match target {
        ApprovalTarget::Pattern => match &talk.pattern {
            Some(choice) => format!(
                "I would plan this as {} / {}.",
                choice.pattern.pattern_type,
                choice.pattern.subtype.as_deref().unwrap_or("generic")
            ),
            None => "I have chosen a pattern.".to_owned(),
        },
        ApprovalTarget::Outline => format!("The outline has {nodes} nodes."),
        ApprovalTarget::Roadmap => {
            let minutes = talk.roadmap.as_deref().map_or(0, |roadmap| roadmap.total_minutes);
            format!("The roadmap comes to {}.", units::format_planned(minutes.into()))
        }
        ApprovalTarget::Final => {
            let minutes = talk.roadmap.as_deref().map_or(0, |roadmap| roadmap.total_minutes);
            let end = talk
                .schedule
                .as_deref()
                .and_then(|schedule| schedule.blocks.last())
                .map(|block| format!(" and ends on {}", block.end.local_date()))
                .unwrap_or_default();
            format!("The plan takes {}{end}.", units::format_planned(minutes.into()))
        }
    }
}
