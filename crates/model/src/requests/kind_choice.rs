//! The kinds of plan that a person can choose from, in plain words.

use crate::{Choice, ChoiceAction, PatternSpec, PatternType};

/// A kind of plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedKind {
    /// The plain noun for it.
    pub noun: &'static str,
    pub pattern: PatternType,
    pub subtype: &'static str,
    /// What such a plan consists of.
    pub content: &'static str,
}

const fn offered(
    noun: &'static str,
    pattern: PatternType,
    subtype: &'static str,
    content: &'static str,
) -> OfferedKind {
    OfferedKind { noun, pattern, subtype, content }
}

/// The kinds that are offered, in the order of the list.
pub const OFFERED_KINDS: [OfferedKind; 9] = [
    offered(
        "habit",
        PatternType::RecurringCycle,
        "habit",
        "something small several times a week, with a weekly check",
    ),
    offered(
        "training",
        PatternType::ProgressiveAccumulationArc,
        "training_arc",
        "weeks that build up to a date",
    ),
    offered("project", PatternType::MilestoneProject, "generic", "phases with a result at the end"),
    offered("event", PatternType::MilestoneProject, "event", "a date, a place, guests"),
    offered(
        "course",
        PatternType::ProgressiveAccumulationArc,
        "learning_arc",
        "learn something step by step, with practice",
    ),
    offered("text", PatternType::MilestoneProject, "writing", "research, outline, draft, revise"),
    offered("software", PatternType::MilestoneProject, "build", "design, build, test, ship"),
    offered(
        "launch",
        PatternType::MilestoneProject,
        "launch",
        "prepare, find readers or users, announce",
    ),
    offered("purchase", PatternType::MilestoneProject, "purchase", "compare, decide, carry out"),
];

impl OfferedKind {
    pub fn to_pattern(self) -> PatternSpec {
        PatternSpec::with_subtype(self.pattern, self.subtype)
    }
}

/// The kinds other than the one shown, as choices.
pub(super) fn kind_choices(shown: Option<&PatternSpec>) -> Vec<Choice> {
    let differs = |kind: &OfferedKind| {
        shown.is_none_or(|shown| {
            shown.pattern_type != kind.pattern || !shown.is_subtype(kind.subtype)
        })
    };
    (1u8..)
        .zip(&OFFERED_KINDS)
        .filter(|(_, kind)| differs(kind))
        .map(|(number, kind)| Choice::new(ChoiceAction::PickKind(number), kind.noun, kind.content))
        .collect()
}
