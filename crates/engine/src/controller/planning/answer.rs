//! What an answer to a question of planning leads to.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Draft, advance_draft};
use crate::controller::{Decided, Decision, Effect, started};
use crate::planner::{apply_relaxation, user_subtype};
use crate::{Keep, caps};
use planwright_drafting::controller::{Outcome, scope_of};
use planwright_drafting::policy_words;
use planwright_model::event::{
    ApprovalEvent, CloseReason, PlanEvent, PlanningEvent, Refusal, RunEvent,
};
use planwright_model::{
    Actor, AdaptationAction, AdaptationLogEntry, Answer, ApprovalTarget, Cap, ChoiceAction as A,
    Digest, LeverChange, Origin, PatternChoice, PauseKind, PolicyOverride, Request, RequestKind,
    Stage,
};
use planwright_state::SessionState;

/// Decides on an answer. `None` where the request is not of planning.
pub(in super::super) fn answer(
    state: &SessionState,
    request: &Request,
    answer: &Answer,
    by: Actor,
    jobs: u32,
    now: Timestamp,
) -> Option<Decided> {
    if !state.planning.begun || !super::is_planning(&request.kind) {
        return None;
    }
    // A plan file's own request is answered as ever, as long as no conversation is about it.
    let mut draft = Draft::on(state, now);
    let id = request.id;
    if answer.action == A::Edit {
        return Some(Err(Refusal::OutOfRange {
            what: "edit a node, or the whole plan in your editor; the question stays open".into(),
        }));
    }
    if answer.action == A::Ideas {
        return Some(Ok(Decision::default().then(Effect::Brainstorm)));
    }
    if answer.action == A::KeepAndStop {
        return Some(Ok(Decision::default().then(Effect::Close(CloseReason::NeedsPerson))));
    }
    let text = answer.text.as_deref().map(str::trim).unwrap_or_default();
    if let Some(decided) = remark(&mut draft, request, answer.action, text, by) {
        return Some(Ok(decided));
    }
    draft.say(ApprovalEvent::Answered { id, answer: answer.clone(), by });
    let moved = match answer.action {
        A::Abandon => {
            if state.plan.current.is_some() {
                draft.say(PlanEvent::Abandoned { by });
            }
            advance_draft(&mut draft, Outcome::Cancel, None)
        }
        A::Approve if matches!(request.kind, RequestKind::Rfc { .. }) => {
            rfc(&mut draft, Outcome::RfcApproved, "")
        }
        A::Decline => rfc(&mut draft, Outcome::RfcDeclined, ""),
        A::RequestChanges if matches!(request.kind, RequestKind::Rfc { .. }) => {
            rfc(&mut draft, Outcome::RfcChanged, text)
        }
        A::Approve => advance_draft(&mut draft, Outcome::Approved, None),
        A::ApproveAndRun | A::ApproveAndStop => {
            let RequestKind::FinalPlan { hash, .. } = &request.kind else {
                return Some(Err(Refusal::NotOffered { id }));
            };
            return Some(approve(draft, hash, answer.action == A::ApproveAndRun, by, jobs));
        }
        A::RequestChanges => {
            if text.is_empty() && open_comments(&draft) == 0 {
                let what = "say what should be different".to_owned();
                return Some(Err(Refusal::OutOfRange { what }));
            }
            wishes(&mut draft, text, &answer.nodes);
            let scope = scope(&draft, text, answer.stage);
            advance_draft(&mut draft, Outcome::Revise, Some(scope))
        }
        A::Reject => reject(&mut draft),
        A::PickOption(number) => pick(&mut draft, number),
        A::Reply => reply(&mut draft, request, answer, text),
        A::SkipQuestions => {
            let answers: BTreeMap<String, String> = draft
                .talk()
                .questions
                .iter()
                .map(|question| (question.key.clone(), String::new()))
                .collect();
            draft.say(PlanningEvent::QuestionsAnswered { answers });
            advance_draft(&mut draft, Outcome::Skipped, None)
        }
        A::TryAgain => advance_draft(&mut draft, Outcome::Answered, None),
        A::GoOn => advance_draft(&mut draft, Outcome::GoOn, None),
        A::RaiseOnce | A::RaiseForSession => {
            let once = answer.action == A::RaiseOnce;
            // The limit that was in the way is named in the question; one of a turn ends with the turn.
            if let Some(cap) = Cap::named_in(&request.why) {
                let to = once.then(|| caps::raised_once(cap, caps::used(state, cap, now)));
                draft.say(RunEvent::CapRaised { cap, to });
            }
            let outcome = if once { Outcome::RaiseOnce } else { Outcome::RaiseForSession };
            advance_draft(&mut draft, outcome, None)
        }
        A::GoOffline => {
            let failed = matches!(request.kind, RequestKind::ModelTrouble { .. });
            let why = if failed { "the model failed" } else { "you asked for it" };
            draft.say(PlanningEvent::WentOffline { why: why.to_owned() });
            advance_draft(&mut draft, Outcome::GoOffline, None)
        }
        A::UseRelaxation(number) => relax(&mut draft, number, by),
        A::AcceptLate => {
            draft.say(PlanningEvent::AcceptedLate { by });
            advance_draft(&mut draft, Outcome::AcceptLate, None)
        }
        _ => false,
    };
    if !moved {
        return Some(Err(Refusal::NotOffered { id }));
    }
    Some(Ok(draft.decision()))
}

/// Words about the conversation itself, such as "be brief today": they count for this session and answer nothing. What
/// is said besides is an answer all the same.
fn remark(
    draft: &mut Draft<'_>,
    request: &Request,
    action: A,
    text: &str,
    by: Actor,
) -> Option<Decision> {
    let in_words = matches!(action, A::Reply | A::RequestChanges);
    if !in_words || text.is_empty() || matches!(request.kind, RequestKind::Goal) {
        return None;
    }
    let alone = policy_words::only(text);
    let beside = matches!(request.kind, RequestKind::Questions { .. });
    let set = alone.clone().or_else(|| beside.then(|| policy_words::read(text)))?;
    if set != PolicyOverride::default() {
        draft.say(PlanningEvent::PolicySet { set, saved: false, by });
    }
    alone.map(|_| Decision { events: std::mem::take(&mut draft.events), effects: Vec::new() })
}

/// The final approval, by the hash that was shown, and the run where it was asked for.
fn approve(mut draft: Draft<'_>, hash: &Digest, run: bool, by: Actor, jobs: u32) -> Decided {
    draft.say(PlanEvent::Approved { hash: hash.clone(), by });
    advance_draft(&mut draft, Outcome::Approved, None);
    if run {
        let begun = started(draft.state(), jobs)?;
        draft.say(begun);
    }
    Ok(draft.decision())
}

fn open_comments(draft: &Draft<'_>) -> usize {
    draft.talk().comments.iter().filter(|comment| comment.outcome.is_none()).count()
}

/// What the person asked for, and the comments that are still open, become wishes of the next draft.
pub(super) fn wishes(draft: &mut Draft<'_>, text: &str, nodes: &[planwright_model::TaskId]) {
    if !text.is_empty() {
        draft.say(PlanningEvent::ChangesRequested { text: text.to_owned(), nodes: nodes.to_vec() });
    }
    let open: Vec<_> = draft
        .talk()
        .comments
        .iter()
        .filter(|comment| comment.outcome.is_none())
        .map(|comment| (comment.text.clone(), comment.node.clone()))
        .collect();
    for (text, node) in open {
        draft.say(PlanningEvent::ChangesRequested { text, nodes: vec![node] });
    }
}

/// The stage a wish goes to, never later than what was already drafted.
pub(super) fn scope(draft: &Draft<'_>, text: &str, asked: Option<Stage>) -> Stage {
    if text.is_empty() || draft.talk().roadmap.is_none() {
        Stage::Outline
    } else {
        scope_of(text, asked)
    }
}

fn reject(draft: &mut Draft<'_>) -> bool {
    let talk = draft.talk();
    let mut excluded = Vec::new();
    match talk.place.target {
        Some(ApprovalTarget::Pattern | ApprovalTarget::Outline) | None => {
            if let Some(choice) = &talk.pattern {
                let name = choice.pattern.subtype.clone().unwrap_or_default();
                excluded.push(format!("pattern:{}/{name}", choice.pattern.pattern_type));
            }
        }
        Some(ApprovalTarget::Roadmap | ApprovalTarget::Final) => {
            if let Some(roadmap) = &talk.roadmap {
                let shown = roadmap.options_tried.iter().filter(|option| option.chosen);
                excluded.extend(shown.map(|option| option.id.clone()));
            }
        }
    }
    draft.say(PlanningEvent::OptionsExcluded { options: excluded });
    advance_draft(draft, Outcome::Rejected, Some(Stage::Outline))
}

fn pick(draft: &mut Draft<'_>, number: u8) -> bool {
    let option = draft
        .talk()
        .roadmap
        .as_deref()
        .and_then(|roadmap| roadmap.options_tried.get(usize::from(number).wrapping_sub(1)))
        .map(|option| option.id.clone());
    let Some(option) = option else { return false };
    draft.say(PlanningEvent::OptionPicked { option });
    advance_draft(draft, Outcome::OptionPicked, None)
}

fn reply(draft: &mut Draft<'_>, request: &Request, answer: &Answer, text: &str) -> bool {
    match &request.kind {
        RequestKind::Questions { questions } => {
            let mut answers = answer.answers.clone();
            answers.retain(|key, _| questions.iter().any(|question| question.key == *key));
            if answers.is_empty()
                && let Some(first) = questions.first()
            {
                answers.insert(first.key.clone(), text.to_owned());
            }
            draft.say(PlanningEvent::QuestionsAnswered { answers });
            advance_draft(draft, Outcome::Answered, None)
        }
        RequestKind::Goal => {
            draft.say(PlanningEvent::GoalSet { goal: text.to_owned() });
            advance_draft(draft, Outcome::Answered, None)
        }
        RequestKind::Validation { .. }
        | RequestKind::LowConfidence { .. }
        | RequestKind::ModelTrouble { .. } => {
            wishes(draft, text, &answer.nodes);
            advance_draft(draft, Outcome::Answered, None)
        }
        _ => false,
    }
}

/// Settles a proposed subtype.
fn rfc(draft: &mut Draft<'_>, outcome: Outcome, text: &str) -> bool {
    if !draft.talk().waits_for(PauseKind::Rfc) {
        return false;
    }
    let Some(mut choice) = draft.talk().pattern.clone() else { return false };
    let mut pattern = choice.pattern.clone();
    if let Some(name) = choice.proposed_pattern.take() {
        // The plan uses the nearest pattern there is, whatever becomes of the proposal.
        let rfc = pattern.rfc.take().unwrap_or_default();
        if outcome == Outcome::RfcApproved {
            let nearest = pattern.pattern_type.to_string();
            draft.effects.push(Effect::Keep(Keep::PatternProposal { name, rfc, nearest }));
        }
        draft.say(PlanningEvent::PatternPicked { choice: PatternChoice { pattern, ..choice } });
        return advance_draft(draft, outcome, None);
    }
    match outcome {
        Outcome::RfcApproved => {
            pattern.subtype = pattern.proposed_name().map(str::to_owned);
            let kept = pattern.subtype.clone().map(|name| Effect::Keep(Keep::Subtype { name }));
            draft.effects.extend(kept);
        }
        Outcome::RfcDeclined => {
            pattern.subtype.clone_from(&pattern.source_pattern);
            pattern.source_pattern = None;
            pattern.rfc = None;
        }
        _ => {
            // The person's own words name what the subtype should be; a name that is none falls back to the nearest.
            match user_subtype(text) {
                Some(name) => pattern.subtype = Some(name),
                None => pattern.subtype.clone_from(&pattern.source_pattern),
            }
            pattern.rfc = None;
        }
    }
    draft.say(PlanningEvent::PatternPicked { choice: PatternChoice { pattern, ..choice } });
    advance_draft(draft, outcome, None)
}

/// Applies the relaxation that the person chose.
fn relax(draft: &mut Draft<'_>, number: u8, by: Actor) -> bool {
    let chosen = draft
        .talk()
        .schedule
        .as_deref()
        .and_then(|schedule| schedule.relaxations.get(usize::from(number).wrapping_sub(1)))
        .cloned();
    let Some(relaxation) = chosen else { return false };
    let Some(relaxed) = apply_relaxation(draft.talk(), &relaxation) else { return false };
    let version = draft.talk().outline.as_deref().map_or(1, |outline| outline.version);
    draft.say(PlanningEvent::Relaxed { summary: relaxed.summary.clone(), by: Some(by) });
    let entry = AdaptationLogEntry {
        id: format!("a{}", draft.talk().adaptation_log.len() + 1),
        timestamp: draft.now,
        node_ids: relaxed.node_ids.clone(),
        action: AdaptationAction::Relax,
        reason: relaxed.summary.clone(),
        origin: Origin::UserFeedback,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: version,
        to_version: version,
    };
    draft.say(PlanningEvent::Adapted { entry });
    if let Some(outline) = relaxed.outline {
        draft.say(PlanningEvent::OutlineDrafted {
            outline: Arc::new(outline),
            by: "you".to_owned(),
            self_score: draft.talk().self_scores.get(&Stage::Outline).copied(),
        });
    }
    if let Some(roadmap) = relaxed.roadmap {
        draft.say(PlanningEvent::RoadmapDrafted {
            roadmap: Arc::new(roadmap),
            by: "you".to_owned(),
            self_score: draft.talk().self_scores.get(&Stage::Roadmap).copied(),
        });
    }
    draft.say(PlanningEvent::ContextSet { context: Arc::new(relaxed.context) });
    let structural = relaxation.changes.iter().any(|change| {
        matches!(change, LeverChange::DropOptional { .. } | LeverChange::OverlapPhases { .. })
    });
    let outcome =
        if structural { Outcome::UseStructuralRelaxation } else { Outcome::UseRelaxation };
    advance_draft(draft, outcome, None)
}
