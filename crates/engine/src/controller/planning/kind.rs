//! Choosing another kind of plan: from the list, in words, or by turning the shown one down.

use super::{DecisionBuilder, advance_draft};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::kind_words;
use planwright_model::event::PlanningEvent;
use planwright_model::requests::OFFERED_KINDS;
use planwright_model::{ApprovalTarget, PatternChoice, PatternSpec, Stage};

/// Plans it as a kind of the list.
pub(super) fn pick_kind(draft: &mut DecisionBuilder<'_>, number: u8) -> bool {
    let place = usize::from(number).wrapping_sub(1);
    let Some(kind) = OFFERED_KINDS.get(place) else { return false };
    choose_kind(draft, kind.to_pattern(), "you chose it from the list")
}

/// Plans it as the kind that the words name. False if they name none, or say more than that.
pub(super) fn choose_kind_in_words(draft: &mut DecisionBuilder<'_>, text: &str) -> bool {
    let asks_kind = draft.planning().place.target == Some(ApprovalTarget::Pattern);
    let Some(kind) = kind_words::find_kind(text) else { return false };
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
    let second = before.map(|choice| choice.pattern);
    draft.record(PlanningEvent::KindChosen {
        choice: PatternChoice {
            pattern: kind,
            confidence: 1.0,
            margin: 1.0,
            second,
            explanations: vec![why.to_owned()],
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
        let name = spec.subtype.clone().unwrap_or_default();
        let key = format!("pattern:{}/{name}", spec.pattern_type);
        spec.is_same_pattern(&shown.pattern) || talk.excluded_options.contains(&key)
    };
    let second = shown.second.clone().filter(|second| !turned_down(second));
    let next = second.or_else(|| kind_words::next_kind(turned_down))?;
    Some(PatternChoice {
        pattern: next,
        // It was not chosen for what the goal says, so nobody is sure of it.
        confidence: 0.5,
        margin: 0.0,
        second: Some(shown.pattern.clone()),
        explanations: vec!["the kinds before it were turned down".to_owned()],
        proposed_pattern: None,
    })
}
