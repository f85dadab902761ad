//! Rules about the choice of pattern: a known name, a justified proposal, one pattern everywhere, regular reviews (G201
//! to G204).

use super::artifacts::{RuleScope, display_title};
use super::rule_table::rule_violation;
use crate::plan_file::escape_for_message;
use planwright_model::pattern::is_valid_subtype_name;
use planwright_model::{
    NodeType, PatternSpec, PatternType, PlanContext, PlanNode, Recurrence, RecurrenceFrequency,
    Violation,
};
use planwright_text::nearest_name;

/// The allowed length of the justification for a new subtype, in characters.
const RFC_CHARS: std::ops::RangeInclusive<usize> = 20..=600;
/// A transformation is reviewed at least this often.
const WEEKS_PER_REVIEW: f64 = 13.0;

pub(super) fn check_pattern(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    check_legacy_name(scope, found);
    check_proposal(scope, found);
    check_one_pattern(scope, found);
    check_reviews(scope, found);
}

/// G201 for a name as written, before it becomes a [`PatternType`].
pub fn check_pattern_name(name: &str) -> Option<Violation> {
    if PatternType::from_name(name).is_some() {
        return None;
    }
    let values = [("x", &*escape_for_message(name)), ("nearest", nearest_pattern(name).as_str())];
    Some(rule_violation("G201", [], &values))
}

/// Returns the pattern whose name is nearest, or else the one that a word of the name indicates.
pub fn nearest_pattern(name: &str) -> PatternType {
    let name = name.trim().to_lowercase().replace([' ', '-'], "_");
    let by_spelling = nearest_name(&name, PatternType::ALL.iter().map(|pattern| pattern.as_str()));
    by_spelling.and_then(PatternType::from_name).unwrap_or_else(|| pattern_by_word(&name))
}

fn pattern_by_word(name: &str) -> PatternType {
    const WORDS: [(&[&str], PatternType); 4] = [
        (&["hybrid", "sprint", "series"], PatternType::HybridProjectCycle),
        (
            &["arc", "learn", "train", "progress", "accumul"],
            PatternType::ProgressiveAccumulationArc,
        ),
        (&["cycl", "recur", "routine", "habit", "repeat"], PatternType::RecurringCycle),
        (&["strateg", "transform", "change"], PatternType::StrategicTransformation),
    ];
    let hit = WORDS.iter().find(|(words, _)| words.iter().any(|word| name.contains(word)));
    hit.map_or(PatternType::MilestoneProject, |(_, pattern)| *pattern)
}

/// G201 if only an older file's name identifies the pattern.
fn check_legacy_name(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let Some(roadmap) = scope.plan.roadmap.as_ref() else { return };
    if roadmap.pattern.is_some() || roadmap.context.pattern.is_some() {
        return;
    }
    let name = roadmap.legacy_pattern_type.as_ref().or(roadmap.context.pattern_type.as_ref());
    found.extend(name.and_then(|name| check_pattern_name(name)));
}

/// Returns whether a proposed subtype has everything that a person needs to judge it.
pub(super) fn is_reasoned(spec: &PatternSpec) -> bool {
    let Some(name) = spec.proposed_name() else { return true };
    let rfc = spec.rfc.as_deref().map_or(0, |rfc| rfc.trim().chars().count());
    let source = spec.source_pattern.as_deref().is_some_and(|source| !source.trim().is_empty());
    is_valid_subtype_name(name) && source && RFC_CHARS.contains(&rfc)
}

/// G202.
fn check_proposal(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let Some(spec) = scope.pattern.as_ref().filter(|spec| spec.proposed_name().is_some()) else {
        return;
    };
    if !scope.plan.surroundings.allow_proposals || !is_reasoned(spec) {
        let source = spec.source_pattern.as_deref().unwrap_or(spec.pattern_type.as_str());
        found.push(rule_violation("G202", [], &[("source_pattern", &escape_for_message(source))]));
    }
}

/// G203.
fn check_one_pattern(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let outline = &scope.plan.outline;
    let mut patterns = vec![outline.plan_context.pattern.clone(), outline.pattern.clone()];
    patterns.extend(scope.plan.roadmap.as_ref().map(planwright_model::Roadmap::effective_pattern));
    let same = |pair: &[Option<PatternSpec>]| match (&pair[0], &pair[1]) {
        (Some(one), Some(other)) => one.is_same_pattern(other),
        (one, other) => one.is_none() && other.is_none(),
    };
    if !patterns.windows(2).all(same) {
        found.push(rule_violation("G203", [], &[]));
    }
}

/// Returns the length of the plan in weeks, from its deadline or its stated horizon.
pub(super) fn plan_weeks(context: &PlanContext) -> Option<f64> {
    let limits = &context.constraints;
    let by_deadline = limits.deadline.and_then(|deadline| {
        let days = deadline.local_date().since(limits.start).ok()?.get_days();
        (days >= 0).then(|| f64::from(days + 1) / 7.0)
    });
    by_deadline.or_else(|| limits.horizon_weeks.map(f64::from))
}

/// Returns the nodes that lack the review required by G204.
pub(super) fn nodes_without_review<'a>(scope: &RuleScope<'a>) -> Vec<&'a PlanNode> {
    let pattern = scope.pattern.as_ref().map(|spec| spec.pattern_type);
    let wanted = |node: &&PlanNode| {
        node.node_type == NodeType::Cycle
            || (node.node_type == NodeType::Phase
                && pattern == Some(PatternType::ProgressiveAccumulationArc))
    };
    let mut lacking: Vec<&PlanNode> =
        scope.nodes.iter().filter(wanted).filter(|node| !has_review(scope, node)).collect();
    if pattern == Some(PatternType::StrategicTransformation) && !reviews_often(scope) {
        lacking.extend(scope.tree.get(scope.root_id));
    }
    lacking
}

/// Returns whether there is a review below the node, or in something that recurs next to it.
fn has_review(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    let below = scope.tree.subtree(&node.id).iter().any(|node| node.role.is_retrospective());
    let beside = node.parent_id.as_ref().is_some_and(|parent| {
        let mut siblings = scope.tree.children(parent).filter(|node| node.recurrence.is_some());
        siblings.any(|sibling| {
            scope.tree.subtree(&sibling.id).iter().any(|node| node.role.is_retrospective())
        })
    });
    below || (beside && node.node_type == NodeType::Cycle)
}

fn reviews_often(scope: &RuleScope<'_>) -> bool {
    let reviews: Vec<&PlanNode> =
        scope.nodes.iter().filter(|node| node.role.is_retrospective()).collect();
    let needed =
        plan_weeks(scope.context()).map_or(1.0, |weeks| (weeks / WEEKS_PER_REVIEW).floor());
    reviews.len() as f64 >= needed
        || reviews
            .iter()
            .filter_map(|node| node.recurrence.as_ref())
            .any(|recurrence| period_weeks(recurrence) <= WEEKS_PER_REVIEW)
}

fn period_weeks(recurrence: &Recurrence) -> f64 {
    let unit = match recurrence.freq {
        RecurrenceFrequency::Daily => 1.0 / 7.0,
        RecurrenceFrequency::Weekly => 1.0,
        RecurrenceFrequency::Monthly => 52.0 / 12.0,
        RecurrenceFrequency::Quarterly => 13.0,
        RecurrenceFrequency::Yearly => 52.0,
    };
    unit * f64::from(recurrence.interval.max(1))
}

/// G204.
fn check_reviews(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for node in nodes_without_review(scope) {
        found.push(rule_violation("G204", [node.id.clone()], &[("title", &display_title(node))]));
    }
}
