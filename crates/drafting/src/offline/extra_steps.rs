//! What the thorough approach adds: one or two steps that a careful person would take, by the kind of the plan.

use std::sync::LazyLock;

use serde::Deserialize;

use planwright_model::{NodeTree, NodeType, PatternSpec, PlanNode, Role, TaskId};

use super::instance::InstanceLink;

/// Steps that are added at most.
const MOST_STEPS: usize = 2;

/// Where an added step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExtraStepPosition {
    /// At the end of the first part.
    FirstPart,
    /// At the end of the part before the fixed day, or else before the last part.
    BeforeTheEnd,
    LastPart,
    /// Beside the parts, for what repeats.
    Goal,
}

/// A step that somebody careful adds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtraStep {
    /// Subtypes, or else patterns, or else "other".
    #[serde(rename = "for")]
    kinds: Vec<String>,
    title: String,
    why: String,
    done_when: String,
    minutes: u32,
    position: ExtraStepPosition,
    /// Words of titles that already do the same.
    same_as: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtraStepFile {
    #[serde(rename = "step")]
    steps: Vec<ExtraStep>,
}

static STEPS: LazyLock<Vec<ExtraStep>> = LazyLock::new(|| {
    let text = include_str!("../../../../assets/extra_steps.toml");
    toml::from_str::<ExtraStepFile>(text).map(|file| file.steps).unwrap_or_default()
});

/// Returns the steps that fit a kind of plan, the most useful first.
fn steps_for(spec: &PatternSpec) -> Vec<&'static ExtraStep> {
    let named = |name: &str| -> Vec<&'static ExtraStep> {
        STEPS.iter().filter(|step| step.kinds.iter().any(|kind| kind == name)).collect()
    };
    let names = [spec.subtype.as_deref().unwrap_or_default(), spec.pattern_type.as_str(), "other"];
    names.into_iter().map(named).find(|steps| !steps.is_empty()).unwrap_or_default()
}

/// Adds the steps that fit and that no task does yet; a look by somebody else if all of them are there. Returns their
/// ids.
pub(super) fn add_extra_steps(
    nodes: &mut Vec<PlanNode>,
    root: &TaskId,
    links: &mut Vec<InstanceLink>,
    spec: &PatternSpec,
) -> Vec<TaskId> {
    let titles: Vec<String> = nodes.iter().map(|node| node.title.to_lowercase()).collect();
    let is_new = |step: &&ExtraStep| {
        let done_by = |title: &String| step.same_as.iter().any(|words| title.contains(words));
        !titles.iter().any(done_by)
    };
    let fitting = steps_for(spec).into_iter().filter(is_new);
    let mut steps: Vec<&ExtraStep> = fitting.take(MOST_STEPS).collect();
    if steps.is_empty() {
        steps.extend(STEPS.last());
    }
    let mut added = Vec::new();
    for step in steps {
        let Some(node) = build_step(step, nodes, root, links, added.len()) else { continue };
        added.push(node.id.clone());
        nodes.push(node);
    }
    added
}

fn build_step(
    step: &ExtraStep,
    nodes: &[PlanNode],
    root: &TaskId,
    links: &mut Vec<InstanceLink>,
    index: usize,
) -> Option<PlanNode> {
    let tree = NodeTree::new(nodes);
    let parent = find_parent(step.position, &tree, root)?;
    let prefix = if parent.id == *root { String::new() } else { format!("{}.", parent.id) };
    let id = format!("{prefix}extra{}", index + 1);
    let mut node = PlanNode::new_child(parent, id, NodeType::Task, step.title.as_str());
    node.why.clone_from(&step.why);
    node.done_when.clone_from(&step.done_when);
    node.role = Role::Review;
    node.intensity = parent.intensity;
    node.estimate_minutes = Some(step.minutes);
    let siblings: Vec<&PlanNode> =
        tree.children(&parent.id).filter(|sibling| sibling.stream == node.stream).collect();
    node.position = siblings.iter().map(|sibling| sibling.position + 1).max().unwrap_or(0);
    let follows = |sibling: &&&PlanNode| sibling.recurrence.is_none() && !sibling.milestone;
    if let Some(last) = siblings.iter().rev().find(follows) {
        links.push(InstanceLink::finish_to_start(&last.id, &node.id));
    }
    Some(node)
}

/// Returns the part of the plan that a step belongs to; the goal itself if the plan has no parts.
fn find_parent<'a>(
    position: ExtraStepPosition,
    tree: &NodeTree<'a>,
    root: &TaskId,
) -> Option<&'a PlanNode> {
    let goal = tree.get(root)?;
    let is_part = |node: &&PlanNode| node.node_type == NodeType::Phase;
    let parts: Vec<&PlanNode> = tree.children(root).filter(is_part).collect();
    let last = parts.len().saturating_sub(1);
    let part = match position {
        ExtraStepPosition::Goal => None,
        ExtraStepPosition::FirstPart => parts.first(),
        ExtraStepPosition::LastPart => parts.last(),
        ExtraStepPosition::BeforeTheEnd => {
            let fixed = |part: &&PlanNode| {
                tree.leaves(&part.id).iter().any(|leaf| leaf.fixed_start.is_some())
            };
            let end = parts.iter().position(fixed).unwrap_or(last);
            parts.get(end.saturating_sub(1))
        }
    };
    Some(part.copied().unwrap_or(goal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_steps_for_every_kind_and_titles_that_fit() {
        assert!(STEPS.len() >= 15, "{}", STEPS.len());
        for step in STEPS.iter() {
            assert!(step.title.chars().count() <= 60 && step.minutes > 0, "{}", step.title);
            // What a step is the same as includes itself, so that it is never added twice.
            let own = step.title.to_lowercase();
            assert!(step.same_as.iter().all(|words| !words.is_empty()), "{own}");
        }
        assert!(STEPS.last().is_some_and(|step| step.kinds == ["other"]));
    }
}
