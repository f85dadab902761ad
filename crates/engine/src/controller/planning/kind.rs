//! Choosing another kind of plan: from the list, in words, or by turning the shown one down.

use super::{DecisionBuilder, advance_draft};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::kind_words;
use planwright_model::event::PlanningEvent;
use planwright_model::requests::offered_kinds;
use planwright_model::{ApprovalTarget, PatternChoice, PatternSpec, Stage};

/// Plans it as a kind of the list.
pub(super) fn pick_kind(draft: &mut DecisionBuilder<'_>, number: u8) -> bool {
    let place = usize::from(number).wrapping_sub(1);
    let kinds = offered_kinds(draft.planning().pattern.as_ref());
    let Some(kind) = kinds.into_iter().nth(place) else { return false };
    choose_kind(draft, kind.pattern, "you chose it from the list")
}

/// Plans it as the kind that the words name. False if they name none, or say more than that.
pub(super) fn choose_kind_in_words(draft: &mut DecisionBuilder<'_>, text: &str) -> bool {
    let asks_kind = draft.planning().place.target == Some(ApprovalTarget::Pattern);
    let Some(kind) = kind_words::find_kind(text, &draft.planning().goal) else { return false };
    if !asks_kind && !kind_words::names_only_kind(text) {
        return false;
    }
    let same = draft.planning().pattern.as_ref();
    if !asks_kind && same.is_some_and(|choice| choice.pattern.is_same_pattern(&kind)) {
        return false;
    }
    choose_kind(draft, kind, "you said so")
}

/// Plans it as a kind. What was drafted from another one is drafted again.
fn choose_kind(draft: &mut DecisionBuilder<'_>, kind: PatternSpec, why: &str) -> bool {
    let before = draft.planning().pattern.clone();
    let others = before.as_ref().map(|choice| choice.others.clone()).unwrap_or_default();
    let second = before.map(|choice| choice.pattern);
    draft.record(PlanningEvent::KindChosen {
        choice: PatternChoice {
            pattern: kind,
            confidence: 1.0,
            margin: 1.0,
            second,
            explanations: vec![why.to_owned()],
            others,
            proposed_pattern: None,
        },
    });
    if draft.planning().place.target == Some(ApprovalTarget::Pattern) {
        return advance_draft(draft, ControllerOutcome::Approved, None);
    }
    advance_draft(draft, ControllerOutcome::Revise, Some(Stage::Outline))
}

/// The kind that follows when the shown one is turned down: the second best, then the list. None is offered twice.
pub(super) fn kind_after_rejection(draft: &DecisionBuilder<'_>) -> Option<PatternChoice> {
    let talk = draft.planning();
    let shown = talk.pattern.as_ref()?;
    let turned_down = |spec: &PatternSpec| {
        spec.is_same_pattern(&shown.pattern)
            || talk.excluded_options.contains(&spec.exclusion_key())
    };
    let second = shown.second.clone().filter(|second| !turned_down(second));
    let others = shown.others.iter().map(|kind| kind.pattern.clone());
    let next = second
        .or_else(|| others.into_iter().find(|spec| !turned_down(spec)))
        .or_else(|| kind_words::next_kind(turned_down))?;
    Some(PatternChoice {
        pattern: next,
        // It was not chosen for what the goal says, so nobody is sure of it.
        confidence: 0.5,
        margin: 0.0,
        second: Some(shown.pattern.clone()),
        explanations: vec!["the kinds before it were turned down".to_owned()],
        others: shown.others.clone(),
        proposed_pattern: None,
    })
}
