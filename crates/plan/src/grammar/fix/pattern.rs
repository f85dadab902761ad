//! Fixes for the choice of pattern (G202 to G204).

use super::super::PlanArtifacts;
use super::super::pattern::{is_reasoned, nodes_without_review};
use super::AppliedFix;
use super::working_copy::edit_plan;
use planwright_model::AdaptationAction::{Add, PatternChange};
use planwright_model::{
    NodeType, PatternSpec, PatternType, Recurrence, RecurrenceFrequency, Role, TaskId,
};

/// Minutes of an added review.
const REVIEW_MINUTES: u32 = 15;

/// G202: falls back to the pattern that the proposal was derived from.
pub(super) fn fall_back_to_source(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let spec = plan.scope().pattern.filter(|spec| spec.proposed_name().is_some())?;
    if plan.surroundings.allow_proposals && is_reasoned(&spec) {
        return None;
    }
    let settled = resolve_source_pattern(&spec);
    let what = format!(
        "fell back to {}",
        settled.subtype.as_deref().unwrap_or(settled.pattern_type.as_str())
    );
    set_pattern_everywhere(plan, &settled);
    Some(AppliedFix::new(PatternChange, Vec::new(), what))
}

/// Returns the pattern that `source_pattern` names: a pattern, one of its subtypes, or `pattern/subtype`.
fn resolve_source_pattern(spec: &PatternSpec) -> PatternSpec {
    let source = spec.source_pattern.as_deref().unwrap_or_default();
    let (name, subtype) =
        source.split_once('/').map_or((source, None), |(name, sub)| (name, Some(sub)));
    let owner = |subtype: &str| {
        PatternType::ALL.into_iter().find(|pattern| pattern.subtypes().contains(&subtype))
    };
    let (pattern_type, subtype) = match (PatternType::from_name(name), owner(name)) {
        (Some(pattern), _) => (pattern, subtype.map(str::to_owned)),
        (None, Some(pattern)) => (pattern, Some(name.to_owned())),
        (None, None) => (spec.pattern_type, None),
    };
    PatternSpec { subtype, variant: spec.variant.clone(), ..PatternSpec::new(pattern_type) }
}

fn set_pattern_everywhere(plan: &mut PlanArtifacts, spec: &PatternSpec) {
    plan.outline.plan_context.pattern = Some(spec.clone());
    plan.outline.pattern = Some(spec.clone());
    if let Some(roadmap) = &mut plan.roadmap {
        roadmap.pattern = Some(spec.clone());
        roadmap.legacy_pattern_type = None;
        roadmap.context.pattern = Some(spec.clone());
        roadmap.context.pattern_type = Some(spec.pattern_type.to_string());
    }
}

/// G203: the context reflects the selection, so it takes precedence.
pub(super) fn copy_selected_pattern(plan: &mut PlanArtifacts) -> Option<AppliedFix> {
    let from_roadmap = plan.roadmap.as_ref().and_then(planwright_model::Roadmap::effective_pattern);
    let outline = &plan.outline;
    let selected =
        outline.plan_context.pattern.clone().or(outline.pattern.clone()).or(from_roadmap)?;
    set_pattern_everywhere(plan, &selected);
    Some(AppliedFix::new(
        PatternChange,
        Vec::new(),
        format!("{} everywhere", selected.pattern_type),
    ))
}

/// G204: adds a short review at the end; for a transformation every quarter, in a stream of its own.
pub(super) fn add_review(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.scope();
    nodes_without_review(&scope).iter().find(|node| node.id == *id)?;
    let quarterly = *scope.root_id == *id;
    let id = id.clone();
    edit_plan(plan, |sketch| {
        let last = sketch.tree().leaves(&id).last().map(|leaf| leaf.id.clone());
        let review = sketch.add_node(&id, NodeType::Task, &format!("{id}.review"), "Look back")?;
        let node = sketch.node_mut(&review)?;
        node.role = Role::Review;
        "What to keep and what to change is written down.".clone_into(&mut node.done_when);
        node.estimate_minutes = Some(REVIEW_MINUTES);
        if quarterly {
            "review".clone_into(&mut node.stream);
            node.recurrence = Some(Recurrence::every(RecurrenceFrequency::Quarterly));
        } else if let Some(last) = last.filter(|last| *last != id) {
            sketch.link_nodes(&last, &review);
        }
        Some(AppliedFix::new(Add, vec![review], "added a review"))
    })
}
