//! Fixes of the choice of pattern (G202 to G204).

use super::super::PlanArtifacts;
use super::super::pattern::{is_reasoned, without_looking_back};
use super::Change;
use super::sketch::edit;
use planwright_model::AdaptationAction::{Add, PatternChange};
use planwright_model::{Frequency, NodeType, PatternSpec, PatternType, Recurrence, Role, TaskId};

/// Minutes of an added review.
const REVIEW_MINUTES: u32 = 15;

/// G202: what the proposal was derived from.
pub(super) fn fall_back(plan: &mut PlanArtifacts) -> Option<Change> {
    let spec = plan.scope().pattern.filter(|spec| spec.proposed_name().is_some())?;
    if plan.surroundings.allow_proposals && is_reasoned(&spec) {
        return None;
    }
    let settled = source_of(&spec);
    let what = format!(
        "fell back to {}",
        settled.subtype.as_deref().unwrap_or(settled.pattern_type.as_str())
    );
    set_everywhere(plan, &settled);
    Some(Change::new(PatternChange, Vec::new(), what))
}

/// The pattern that `source_pattern` names: a pattern, one of its subtypes, or `pattern/subtype`.
fn source_of(spec: &PatternSpec) -> PatternSpec {
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

fn set_everywhere(plan: &mut PlanArtifacts, spec: &PatternSpec) {
    plan.outline.plan_context.pattern = Some(spec.clone());
    plan.outline.pattern = Some(spec.clone());
    if let Some(roadmap) = &mut plan.roadmap {
        roadmap.pattern = Some(spec.clone());
        roadmap.legacy_pattern_type = None;
        roadmap.context.pattern = Some(spec.clone());
        roadmap.context.pattern_type = Some(spec.pattern_type.to_string());
    }
}

/// G203: the context mirrors what was selected, so it wins.
pub(super) fn copy_selected(plan: &mut PlanArtifacts) -> Option<Change> {
    let from_roadmap = plan.roadmap.as_ref().and_then(planwright_model::Roadmap::effective_pattern);
    let outline = &plan.outline;
    let selected =
        outline.plan_context.pattern.clone().or(outline.pattern.clone()).or(from_roadmap)?;
    set_everywhere(plan, &selected);
    Some(Change::new(PatternChange, Vec::new(), format!("{} everywhere", selected.pattern_type)))
}

/// G204: a short review at the end; for a transformation every quarter, in a stream of its own.
pub(super) fn add_review(plan: &mut PlanArtifacts, id: &TaskId) -> Option<Change> {
    let scope = plan.scope();
    without_looking_back(&scope).iter().find(|node| node.id == *id)?;
    let quarterly = *scope.root_id == *id;
    let id = id.clone();
    edit(plan, |sketch| {
        let last = sketch.tree().leaves(&id).last().map(|leaf| leaf.id.clone());
        let review = sketch.add(&id, NodeType::Task, &format!("{id}.review"), "Look back")?;
        let node = sketch.node_mut(&review)?;
        node.role = Role::Review;
        "What to keep and what to change is written down.".clone_into(&mut node.done_when);
        node.estimate_minutes = Some(REVIEW_MINUTES);
        if quarterly {
            "review".clone_into(&mut node.stream);
            node.recurrence = Some(Recurrence::every(Frequency::Quarterly));
        } else if let Some(last) = last.filter(|last| *last != id) {
            sketch.chain(&last, &review);
        }
        Some(Change::new(Add, vec![review], "added a review"))
    })
}
