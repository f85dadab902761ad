//! What changed since the person looked last: by node id, one line for each node or field. Pure.

use std::collections::BTreeMap;

use crate::panes::approval::content::CardLine;
use crate::theme::ThemeRole;
use planwright_model::{Plan, PlanNode, RunKind, TaskNode};
use planwright_text::clean_line;

/// A node as far as differences look at it.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ComparableNode {
    id: String,
    title: String,
    /// Where it stands: parent and place among its siblings.
    place: Option<(String, usize)>,
    fields: Vec<(&'static str, String)>,
}

impl ComparableNode {
    /// The nodes of a plan that runs.
    pub(in super::super) fn from_plan(plan: &Plan) -> Vec<Self> {
        plan.tasks.iter().map(Self::from_task).collect()
    }

    fn from_task(task: &TaskNode) -> Self {
        let run = match &task.run {
            RunKind::Agent {} => "agent".to_owned(),
            RunKind::Shell(command) => command.clone(),
            RunKind::Human {} => "yours".to_owned(),
        };
        let needs: Vec<&str> = task.dependencies.iter().map(|link| link.task.as_str()).collect();
        let minutes = task.duration_minutes.map(|minutes| minutes.to_string()).unwrap_or_default();
        let criteria = serde_json::to_string(&task.exit_criteria).unwrap_or_default();
        Self {
            id: task.id.to_string(),
            title: task.description.clone(),
            place: None,
            fields: vec![
                ("description", task.description.clone()),
                ("run", run),
                ("depends_on", needs.join(", ")),
                ("estimate_minutes", minutes),
                (
                    "exit_criteria",
                    if task.exit_criteria.is_empty() { String::new() } else { criteria },
                ),
                ("tools", task.tools.join(", ")),
            ],
        }
    }

    /// The nodes of an outline or a roadmap.
    pub(in super::super) fn from_draft(nodes: &[PlanNode]) -> Vec<Self> {
        let minutes = |node: &PlanNode| {
            node.estimate_minutes.map(|minutes| minutes.to_string()).unwrap_or_default()
        };
        let draft = |node: &PlanNode| Self {
            id: node.id.to_string(),
            title: node.title.clone(),
            place: node
                .parent_id
                .as_ref()
                .map(|parent| (parent.to_string(), usize::from(node.position))),
            fields: vec![
                ("title", node.title.clone()),
                ("done_when", node.done_when.clone()),
                ("estimate_minutes", minutes(node)),
                ("stream", node.stream.clone()),
            ],
        };
        nodes.iter().map(draft).collect()
    }
}

/// One line of the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct NodeChange {
    pub(in super::super) sign: char,
    pub(in super::super) node: String,
    pub(in super::super) text: String,
}

/// The difference, and how many nodes are the same in both.
pub(in super::super) fn diff_nodes(
    before: &[ComparableNode],
    after: &[ComparableNode],
) -> (Vec<NodeChange>, usize) {
    let old: BTreeMap<&str, &ComparableNode> =
        before.iter().map(|node| (node.id.as_str(), node)).collect();
    let new: BTreeMap<&str, &ComparableNode> =
        after.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut changes = Vec::new();
    let mut same = 0;
    let change = |sign, node: &ComparableNode, text: String| NodeChange {
        sign,
        node: node.id.clone(),
        text,
    };
    for node in after.iter().filter(|node| !old.contains_key(node.id.as_str())) {
        changes.push(change('+', node, node.title.clone()));
    }
    for node in before.iter().filter(|node| !new.contains_key(node.id.as_str())) {
        changes.push(change('-', node, node.title.clone()));
    }
    for node in after {
        let Some(was) = old.get(node.id.as_str()) else { continue };
        let already = changes.len();
        for ((name, now), (_, then)) in node.fields.iter().zip(&was.fields) {
            if now != then {
                changes.push(change(
                    '~',
                    node,
                    format!("{name}  {} → {}", value_text(then), value_text(now)),
                ));
            }
        }
        if node.place != was.place {
            changes.push(change(
                '>',
                node,
                format!("{} → {}", placement_text(was), placement_text(node)),
            ));
        }
        same += usize::from(changes.len() == already);
    }
    (changes, same)
}

fn value_text(value: &str) -> String {
    if value.is_empty() { "nothing".to_owned() } else { value.to_owned() }
}

fn placement_text(node: &ComparableNode) -> String {
    match &node.place {
        Some((parent, position)) => format!("under {parent}, place {}", position + 1),
        None => "at the top".to_owned(),
    }
}

/// The lines of the card.
pub(in super::super) fn change_lines(
    since: &str,
    before: &[ComparableNode],
    after: &[ComparableNode],
    width: usize,
) -> Vec<CardLine> {
    let (changes, same) = diff_nodes(before, after);
    let count = |sign| changes.iter().filter(|change| change.sign == sign).count();
    let mut lines = vec![Vec::new()];
    let mut head: CardLine = vec![(format!("Changed since {since}"), ThemeRole::Text)];
    for (sign, word) in [('+', "added"), ('-', "removed"), ('~', "changed"), ('>', "moved")] {
        if count(sign) > 0 {
            head.push((format!("   {sign} {} {word}", count(sign)), sign_role(sign)));
        }
    }
    head.push((format!("   {same} same"), ThemeRole::Dim));
    lines.push(head);
    for change in &changes {
        let text = clean_line(&change.text);
        let room = width.saturating_sub(15).max(8);
        for (index, part) in planwright_text::wrap_words(&text, room, 0).into_iter().enumerate() {
            let lead = if index == 0 {
                let id = clean_line(&change.node);
                format!(
                    "{} {}",
                    change.sign,
                    planwright_text::fit_width(&planwright_text::truncate_middle(&id, 11), 12)
                )
            } else {
                " ".repeat(14)
            };
            lines.push(vec![(lead, sign_role(change.sign)), (part.into_owned(), ThemeRole::Text)]);
        }
    }
    lines
}

fn sign_role(sign: char) -> ThemeRole {
    match sign {
        '+' => ThemeRole::DiffAdded,
        '-' => ThemeRole::DiffRemoved,
        '>' => ThemeRole::DiffMoved,
        _ => ThemeRole::DiffChanged,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::fixture::release_plan;

    fn signs(changes: &[NodeChange]) -> Vec<(char, &str)> {
        changes.iter().map(|change| (change.sign, change.node.as_str())).collect()
    }

    #[test]
    fn additions_removals_and_changed_fields_are_told_apart() {
        let before = release_plan();
        let mut after = before.clone();
        after.tasks.retain(|task| task.id.as_str() != "keys");
        after.tasks[2].duration_minutes = Some(12);
        after.tasks.push(TaskNode::new("blog", "Write a blog post"));
        let (changes, same) =
            diff_nodes(&ComparableNode::from_plan(&before), &ComparableNode::from_plan(&after));
        assert_eq!(signs(&changes), [('+', "blog"), ('-', "keys"), ('~', "port")]);
        assert_eq!(changes[2].text, "estimate_minutes  9 → 12");
        assert_eq!(same, 9);
    }

    #[test]
    fn a_node_under_another_parent_has_moved() {
        let goal = PlanNode::new_goal("g", "Goal");
        let node = PlanNode::new_child(&goal, "a", planwright_model::NodeType::Task, "A");
        let mut moved = node.clone();
        moved.position = 3;
        let (changes, _) =
            diff_nodes(&ComparableNode::from_draft(&[node]), &ComparableNode::from_draft(&[moved]));
        assert_eq!(signs(&changes), [('>', "a")]);
        assert_eq!(changes[0].text, "under g, place 1 → under g, place 4");
    }

    proptest! {
        #[test]
        fn every_node_is_accounted_for(kept in 0..20_usize, gone in 0..5_usize, new in 0..5_usize) {
            let node = |name: String| TaskNode::new(name.as_str(), name.as_str());
            let plan = |tasks: Vec<TaskNode>| Plan { tasks, ..Plan::default() };
            let shared = || (0..kept).map(|n| node(format!("k{n}")));
            let before = plan(shared().chain((0..gone).map(|n| node(format!("g{n}")))).collect());
            let after = plan(shared().chain((0..new).map(|n| node(format!("n{n}")))).collect());
            let (changes, same) = diff_nodes(&ComparableNode::from_plan(&before), &ComparableNode::from_plan(&after));
            prop_assert_eq!(same, kept);
            prop_assert_eq!(changes.len(), gone + new);
            prop_assert!(diff_nodes(&ComparableNode::from_plan(&after), &ComparableNode::from_plan(&after)).0.is_empty());
        }
    }
}
