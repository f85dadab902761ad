//! What an answer to a question of planning leads to.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::amendments::{keep_unread, take_idea};
use super::approval::approve_plan;
use super::edits::undo_change;
use super::facts::{record_answers, record_choice, record_request, record_undo};

use super::kind::{choose_kind_in_words, kind_after_rejection, pick_kind};
use super::overlaps::move_overlaps;
use super::{DecisionBuilder, advance_draft};
use crate::controller::{CommandDecision, DecisionResult, DriverEffect};
use crate::planner::{apply_relaxation, parse_subtype_name};
use crate::{SavedDecision, caps};
use planwright_drafting::agent_messages;
use planwright_drafting::change_requests::{contains_undo_request, is_undo_request};
use planwright_drafting::controller::{ControllerOutcome, resolve_change_stage};
use planwright_drafting::kind_words::find_kind;
use planwright_drafting::policy_text;
use planwright_model::event::{
    ApprovalEvent, CloseReason, CommandRefusal, PlanEvent, PlanningEvent, RunEvent,
};
use planwright_model::requests::KIND_QUESTION;
use planwright_model::{
    Actor, AdaptationAction, AdaptationLogEntry, Answer, ApprovalTarget, ChoiceAction as A,
    FactReading, LeverChange, NodeOrigin, PatternChoice, PauseKind, PlanDrafter, PlanQuestion,
    PolicyOverride, Request, RequestKind, RunCap, Stage,
};
use planwright_state::SessionState;

/// Decides on an answer. `None` where the request is not of planning.
pub(in super::super) fn answer_planning_request(
    state: &SessionState,
    request: &Request,
    answer: &Answer,
    by: Actor,
    jobs: u32,
    now: Timestamp,
) -> Option<DecisionResult> {
    if !state.planning.begun || !super::is_planning_request(&request.kind) {
        return None;
    }
    // A plan file's own request is answered as ever, as long as no conversation is about it.
    let mut draft = DecisionBuilder::new(state, now);
    let id = request.id;
    if answer.action == A::Edit {
        return Some(Err(CommandRefusal::OutOfRange {
            what: "edit a node, or the whole plan in your editor; the question stays open".into(),
        }));
    }
    if answer.action == A::Ideas {
        return Some(Ok(CommandDecision::default().with_effect(DriverEffect::Brainstorm)));
    }
    if answer.action == A::KeepAndStop {
        return Some(Ok(
            CommandDecision::default().with_effect(DriverEffect::Close(CloseReason::NeedsPerson))
        ));
    }
    if let A::TakeIdea(number) = answer.action {
        return Some(take_idea(draft, request, number));
    }
    let text = answer.text.as_deref().map(str::trim).unwrap_or_default();
    if let Some(why) = unread_reply(state, request, answer, text, now) {
        return Some(Ok(keep_unread(draft, request, text, &why)));
    }
    if let Some(decided) = apply_policy_remark(&mut draft, request, answer.action, text, by) {
        return Some(Ok(decided));
    }
    // Words for what a key does as well; the draft from before is asked about again.
    if answer.action == A::RequestChanges && is_undo_request(text) {
        return Some(undo_change(state, false, now));
    }
    draft.record(ApprovalEvent::Answered { id, answer: answer.clone(), by });
    let moved = match answer.action {
        A::Abandon => {
            if state.plan.current.is_some() {
                draft.record(PlanEvent::Abandoned { by });
            }
            advance_draft(&mut draft, ControllerOutcome::Cancel, None)
        }
        A::Approve if matches!(request.kind, RequestKind::Rfc { .. }) => {
            resolve_rfc(&mut draft, ControllerOutcome::RfcApproved, "")
        }
        A::Decline => resolve_rfc(&mut draft, ControllerOutcome::RfcDeclined, ""),
        A::RequestChanges if matches!(request.kind, RequestKind::Rfc { .. }) => {
            resolve_rfc(&mut draft, ControllerOutcome::RfcChanged, text)
        }
        A::Approve => advance_draft(&mut draft, ControllerOutcome::Approved, None),
        A::ApproveAndRun | A::ApproveAndStop | A::ApproveFromToday | A::ApproveFromTask => {
            let RequestKind::FinalPlan { hash, .. } = &request.kind else {
                return Some(Err(CommandRefusal::NotOffered { id }));
            };
            return Some(approve_plan(draft, hash, answer, by, jobs));
        }
        A::PickKind(number) => pick_kind(&mut draft, number),
        A::RequestChanges if names_kind(&mut draft, text) => true,
        A::RequestChanges if draft.planning().place.target == Some(ApprovalTarget::Pattern) => {
            let why =
                "No kind of plan is named in it. Try \"it is a text\", or choose one of the list.";
            return Some(Ok(keep_unread(DecisionBuilder::new(state, now), request, text, why)));
        }
        A::RequestChanges => {
            if text.is_empty() && open_comments(&draft) == 0 {
                let what = "say what should be different".to_owned();
                return Some(Err(CommandRefusal::OutOfRange { what }));
            }
            record_change_requests(&mut draft, text, &answer.nodes);
            let scope = change_scope(&draft, text, answer.stage);
            advance_draft(&mut draft, ControllerOutcome::Revise, Some(scope))
        }
        A::Reject => {
            if let Some(why) = why_nothing_else(&draft) {
                return Some(Err(CommandRefusal::OutOfRange { what: why.to_owned() }));
            }
            reject_draft(&mut draft)
        }
        A::PickOption(number) => pick_option(&mut draft, number),
        A::Reply => apply_reply(&mut draft, request, answer, text),
        A::SkipQuestions => {
            let answers: BTreeMap<String, String> = draft
                .planning()
                .questions
                .iter()
                .map(|question| (question.key.clone(), String::new()))
                .collect();
            draft.record(PlanningEvent::QuestionsAnswered { answers });
            advance_draft(&mut draft, ControllerOutcome::Skipped, None)
        }
        A::TryAgain => advance_draft(&mut draft, ControllerOutcome::Answered, None),
        A::GoOn => advance_draft(&mut draft, ControllerOutcome::ContinuePastLimit, None),
        A::RaiseOnce | A::RaiseForSession => {
            let once = answer.action == A::RaiseOnce;
            // A limit of a turn ends with the turn and is none of these.
            if let Some(cap) = limit_in_the_way(request) {
                let to = once.then(|| cap.raised_limit(caps::cap_usage(state, cap, now)));
                draft.record(RunEvent::CapRaised { cap, to });
            }
            let outcome = if once {
                ControllerOutcome::RaiseOnce
            } else {
                ControllerOutcome::RaiseForSession
            };
            advance_draft(&mut draft, outcome, None)
        }
        A::GoOffline => {
            let failed = matches!(request.kind, RequestKind::ModelTrouble { .. });
            let why = if failed { "the model failed" } else { "you asked for it" };
            draft.record(PlanningEvent::WentOffline { why: why.to_owned() });
            advance_draft(&mut draft, ControllerOutcome::GoOffline, None)
        }
        A::UseRelaxation(number) => use_relaxation(&mut draft, number, by),
        A::MoveOverlaps => {
            return Some(move_overlaps(DecisionBuilder::new(state, now), request, by));
        }
        A::AcceptLate => {
            draft.record(PlanningEvent::AcceptedLate { by });
            advance_draft(&mut draft, ControllerOutcome::AcceptLate, None)
        }
        _ => false,
    };
    if !moved {
        return Some(Err(CommandRefusal::NotOffered { id }));
    }
    Some(Ok(draft.into_decision()))
}

/// Words about the conversation itself, such as "be brief today": they count for this session and answer nothing. What
/// is said besides is an answer all the same.
fn apply_policy_remark(
    draft: &mut DecisionBuilder<'_>,
    request: &Request,
    action: A,
    text: &str,
    by: Actor,
) -> Option<CommandDecision> {
    let in_words = matches!(action, A::Reply | A::RequestChanges);
    if !in_words || text.is_empty() || matches!(request.kind, RequestKind::Goal) {
        return None;
    }
    let alone = policy_text::parse_pure_remark(text);
    let beside = matches!(request.kind, RequestKind::Questions { .. });
    let set = alone.clone().or_else(|| beside.then(|| policy_text::parse_remark(text)))?;
    // An answer to the question about the style holds for later plans as well; other remarks count for this session.
    let asked = draft.planning().response_text.contains(agent_messages::preference_line());
    let saved = asked && set.conversation_style.is_some();
    let effects: Vec<DriverEffect> = saved
        .then(|| DriverEffect::SaveDecision(SavedDecision::Policy(set.clone())))
        .into_iter()
        .collect();
    if set != PolicyOverride::default() {
        draft.record(PlanningEvent::PolicySet { set, saved, by });
    }
    if alone.is_none() {
        draft.effects.extend(effects);
        return None;
    }
    // It answered nothing: the request is put again as it is.
    draft.record(ApprovalEvent::Amended { request: Arc::new(request.clone()) });
    Some(CommandDecision { events: std::mem::take(&mut draft.events), effects })
}

/// The limit on money that a request is about. Requests of earlier versions name it in their text only.
fn limit_in_the_way(request: &Request) -> Option<RunCap> {
    match &request.kind {
        RequestKind::PlanningCap { cap: Some(cap), .. } => Some(*cap),
        _ => RunCap::find_in_message(&request.why),
    }
}

/// Why an answer to questions cannot be read, if it cannot.
fn unread_reply(
    state: &SessionState,
    request: &Request,
    answer: &Answer,
    text: &str,
    now: Timestamp,
) -> Option<String> {
    let RequestKind::Questions { questions } = &request.kind else { return None };
    if answer.action != A::Reply || policy_text::parse_pure_remark(text).is_some() {
        return None;
    }
    let first = questions.first()?;
    // A model that plans in a conversation reads any words.
    if state.planning.is_read_by_model() && first.key != KIND_QUESTION {
        return None;
    }
    let typed = BTreeMap::from([(first.key.clone(), text.to_owned())]);
    let given = if answer.answers.is_empty() { &typed } else { &answer.answers };
    // Of several questions some may be skipped, which leaves them empty.
    let skipped = |said: &str| said.trim().is_empty() && !answer.answers.is_empty();
    given.iter().filter(|(_, said)| !skipped(said)).find_map(|(key, said)| {
        if key == KIND_QUESTION {
            return unread_kind(first, said, &state.planning.goal);
        }
        crate::planner::check_answer(state.planning.context.as_deref()?, key, said, now).err()
    })
}

/// Why an answer names no kind of plan, if it names none.
fn unread_kind(question: &PlanQuestion, said: &str, goal: &str) -> Option<String> {
    let said = said.trim();
    let listed = question.choices.iter().any(|choice| choice.answer.eq_ignore_ascii_case(said));
    let known = listed || find_kind(said, goal).is_some();
    (!known).then(|| {
        "No kind of plan is named in it. Choose one of the list, or \"something else\".".to_owned()
    })
}

/// Why nothing else can be drafted in place of what was turned down.
fn why_nothing_else(draft: &DecisionBuilder<'_>) -> Option<&'static str> {
    let talk = draft.planning();
    match talk.place.target {
        Some(ApprovalTarget::Pattern) if kind_after_rejection(draft).is_none() => {
            Some("every kind was turned down; say in your own words what it is")
        }
        Some(ApprovalTarget::Roadmap | ApprovalTarget::Final) => {
            let options = &talk.roadmap.as_deref()?.options_tried;
            let left = options
                .iter()
                .filter(|option| !option.chosen && !talk.excluded_options.contains(&option.id));
            (left.count() == 0)
                .then_some("every version was turned down; say what should be different")
        }
        _ => None,
    }
}

/// Plans it as the kind that words name. A model that plans in a conversation reads all other words itself.
fn names_kind(draft: &mut DecisionBuilder<'_>, text: &str) -> bool {
    let talk = draft.planning();
    let asks_kind = talk.place.target == Some(ApprovalTarget::Pattern);
    (asks_kind || !talk.is_read_by_model()) && choose_kind_in_words(draft, text)
}

fn open_comments(draft: &DecisionBuilder<'_>) -> usize {
    draft.planning().comments.iter().filter(|comment| comment.outcome.is_none()).count()
}

/// What the person asked for, and the comments that are still open, become change requests of the next draft.
pub(super) fn record_change_requests(
    draft: &mut DecisionBuilder<'_>,
    text: &str,
    nodes: &[planwright_model::TaskId],
) {
    if !text.is_empty() {
        let undone = draft.planning().undo.last().map(|undo| undo.what.clone());
        if let Some(undone) = undone.filter(|_| contains_undo_request(text)) {
            record_undo(draft, &undone, false);
        }
        record_request(draft, text, nodes);
        draft.record(PlanningEvent::ChangesRequested {
            text: text.to_owned(),
            nodes: nodes.to_vec(),
        });
    }
    let open: Vec<_> = draft
        .planning()
        .comments
        .iter()
        .filter(|comment| comment.outcome.is_none())
        .map(|comment| (comment.text.clone(), comment.node.clone()))
        .collect();
    for (text, node) in open {
        draft.record(PlanningEvent::ChangesRequested { text, nodes: vec![node] });
    }
}

/// The stage a change request goes to, never later than what was already drafted. Without a model the roadmap follows
/// each change of the outline, so it is not drafted again: what nobody asked to change stays as it is.
pub(super) fn change_scope(draft: &DecisionBuilder<'_>, text: &str, asked: Option<Stage>) -> Stage {
    let talk = draft.planning();
    if talk.roadmap.is_none() {
        return Stage::Outline;
    }
    // A model takes every request up by operations on what is there, and drafts nothing else again.
    if talk.is_read_by_model() {
        let outline =
            matches!(talk.place.target, Some(ApprovalTarget::Pattern | ApprovalTarget::Outline));
        return if outline { Stage::Outline } else { Stage::Roadmap };
    }
    let read = if text.is_empty() { Stage::Outline } else { resolve_change_stage(text, asked) };
    if talk.offline { read.max(Stage::Roadmap) } else { read }
}

fn reject_draft(draft: &mut DecisionBuilder<'_>) -> bool {
    let talk = draft.planning();
    let mut excluded = Vec::new();
    match talk.place.target {
        Some(ApprovalTarget::Pattern | ApprovalTarget::Outline) | None => {
            if let Some(choice) = &talk.pattern {
                excluded.push(choice.pattern.exclusion_key());
            }
        }
        Some(ApprovalTarget::Roadmap | ApprovalTarget::Final) => {
            if let Some(roadmap) = &talk.roadmap {
                let shown = roadmap.options_tried.iter().filter(|option| option.chosen);
                excluded.extend(shown.map(|option| option.id.clone()));
            }
        }
    }
    let next = (talk.place.target == Some(ApprovalTarget::Pattern))
        .then(|| kind_after_rejection(draft))
        .flatten();
    draft.record(PlanningEvent::OptionsExcluded { options: excluded });
    if let Some(choice) = next {
        draft.record(PlanningEvent::PatternPicked { choice });
    }
    advance_draft(draft, ControllerOutcome::Rejected, Some(Stage::Outline))
}

fn pick_option(draft: &mut DecisionBuilder<'_>, number: u8) -> bool {
    let option = draft
        .planning()
        .roadmap
        .as_deref()
        .and_then(|roadmap| roadmap.options_tried.get(usize::from(number).wrapping_sub(1)))
        .map(|option| option.id.clone());
    let Some(option) = option else { return false };
    draft.record(PlanningEvent::OptionPicked { option });
    advance_draft(draft, ControllerOutcome::OptionPicked, None)
}

fn apply_reply(
    draft: &mut DecisionBuilder<'_>,
    request: &Request,
    answer: &Answer,
    text: &str,
) -> bool {
    match &request.kind {
        RequestKind::Questions { questions } => {
            let mut answers = answer.answers.clone();
            answers.retain(|key, _| questions.iter().any(|question| question.key == *key));
            if answers.is_empty()
                && let Some(first) = questions.first()
            {
                answers.insert(first.key.clone(), text.to_owned());
            }
            record_answers(draft, &answers);
            draft.record(PlanningEvent::QuestionsAnswered { answers });
            advance_draft(draft, ControllerOutcome::Answered, None)
        }
        RequestKind::Goal => {
            draft.record(PlanningEvent::GoalSet { goal: text.to_owned() });
            advance_draft(draft, ControllerOutcome::Answered, None)
        }
        RequestKind::Validation { .. }
        | RequestKind::LowConfidence { .. }
        | RequestKind::ModelTrouble { .. } => {
            record_change_requests(draft, text, &answer.nodes);
            advance_draft(draft, ControllerOutcome::Answered, None)
        }
        _ => false,
    }
}

/// Settles a proposed subtype.
fn resolve_rfc(draft: &mut DecisionBuilder<'_>, outcome: ControllerOutcome, text: &str) -> bool {
    if !draft.planning().is_waiting_for(PauseKind::Rfc) {
        return false;
    }
    let Some(mut choice) = draft.planning().pattern.clone() else { return false };
    let mut pattern = choice.pattern.clone();
    if let Some(name) = choice.proposed_pattern.take() {
        // The plan uses the nearest pattern there is, whatever becomes of the proposal.
        let rfc = pattern.rfc.take().unwrap_or_default();
        if outcome == ControllerOutcome::RfcApproved {
            let nearest = pattern.pattern_type.to_string();
            draft.effects.push(DriverEffect::SaveDecision(SavedDecision::PatternProposal {
                name,
                rfc,
                nearest,
            }));
        }
        draft.record(PlanningEvent::PatternPicked { choice: PatternChoice { pattern, ..choice } });
        return advance_draft(draft, outcome, None);
    }
    match outcome {
        ControllerOutcome::RfcApproved => {
            pattern.subtype = pattern.proposed_name().map(str::to_owned);
            let kept = pattern
                .subtype
                .clone()
                .map(|name| DriverEffect::SaveDecision(SavedDecision::Subtype { name }));
            draft.effects.extend(kept);
        }
        ControllerOutcome::RfcDeclined => {
            pattern.subtype.clone_from(&pattern.source_pattern);
            pattern.source_pattern = None;
            pattern.rfc = None;
        }
        _ => {
            // The person's own words name what the subtype should be; a name that is none falls back to the nearest.
            match parse_subtype_name(text) {
                Some(name) => pattern.subtype = Some(name),
                None => pattern.subtype.clone_from(&pattern.source_pattern),
            }
            pattern.rfc = None;
        }
    }
    draft.record(PlanningEvent::PatternPicked { choice: PatternChoice { pattern, ..choice } });
    advance_draft(draft, outcome, None)
}

/// The limit that a chosen relaxation states anew.
fn chosen_limit(change: &LeverChange) -> Option<FactReading> {
    match change {
        LeverChange::LaterDeadline { deadline, .. } => {
            Some(FactReading::Deadline { on: deadline.local_date() })
        }
        LeverChange::MoreWeeklyMinutes { to, .. } => {
            Some(FactReading::Capacity { person: None, weekly_minutes: *to })
        }
        _ => None,
    }
}

/// Applies the relaxation that the person chose.
fn use_relaxation(draft: &mut DecisionBuilder<'_>, number: u8, by: Actor) -> bool {
    let chosen = draft
        .planning()
        .schedule
        .as_deref()
        .and_then(|schedule| schedule.relaxations.get(usize::from(number).wrapping_sub(1)))
        .cloned();
    let Some(relaxation) = chosen else { return false };
    let Some(relaxed) = apply_relaxation(draft.planning(), &relaxation) else { return false };
    let version = draft.planning().outline.as_deref().map_or(1, |outline| outline.version);
    draft.record(PlanningEvent::Relaxed { summary: relaxed.summary.clone(), by: Some(by) });
    for change in &relaxation.changes {
        if let LeverChange::MoveOtherBlocks { block_ids } = change {
            draft.record(PlanningEvent::OtherBlocksFreed { blocks: block_ids.clone() });
        }
        if let Some(reading) = chosen_limit(change) {
            record_choice(draft, &relaxed.summary, reading);
        }
    }
    let entry = AdaptationLogEntry {
        id: format!("a{}", draft.planning().adaptation_log.len() + 1),
        timestamp: draft.now,
        node_ids: relaxed.node_ids.clone(),
        action: AdaptationAction::Relax,
        reason: relaxed.summary.clone(),
        origin: NodeOrigin::UserFeedback,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: version,
        to_version: version,
    };
    draft.record(PlanningEvent::Adapted { entry });
    if let Some(outline) = relaxed.outline {
        draft.record(PlanningEvent::OutlineDrafted {
            outline: Arc::new(outline),
            by: PlanDrafter::Person,
            self_score: draft.planning().self_scores.get(&Stage::Outline).copied(),
        });
    }
    if let Some(roadmap) = relaxed.roadmap {
        draft.record(PlanningEvent::RoadmapDrafted {
            roadmap: Arc::new(roadmap),
            by: PlanDrafter::Person,
            self_score: draft.planning().self_scores.get(&Stage::Roadmap).copied(),
        });
    }
    draft.record(PlanningEvent::ContextSet { context: Arc::new(relaxed.context) });
    let structural = relaxation.changes.iter().any(|change| {
        matches!(change, LeverChange::DropOptional { .. } | LeverChange::OverlapPhases { .. })
    });
    let outcome = if structural {
        ControllerOutcome::UseStructuralRelaxation
    } else {
        ControllerOutcome::UseRelaxation
    };
    advance_draft(draft, outcome, None)
}
