//! Whatever is done to a plan by splitting, merging and moving, no task comes before one it was linked after.

use std::collections::BTreeSet;

use jiff::civil::date;
use proptest::prelude::*;

use planwright_drafting::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_model::{
    LinkKind, PlanContext, PlanEdit, PlanNode, PlanOutline, Roadmap, SplitPart, TaskId,
};
use planwright_plan::edit::*;

fn drafted(goal: &str) -> (PlanOutline, Roadmap) {
    let library = TemplateLibrary::fixture();
    let context = PlanContext::new(goal, date(2026, 6, 8), "Europe/Berlin");
    let outline =
        draft_outline(context, &library, date(2026, 6, 5), SubtypeProposals::Off).unwrap().outline;
    let roadmap = build_roadmap(&outline, &library, RoadmapPreferences::default()).unwrap().roadmap;
    (outline, roadmap)
}

fn leaves(roadmap: &Roadmap) -> Vec<PlanNode> {
    roadmap.node_tree().leaves(&roadmap.root_id).into_iter().cloned().collect()
}

/// Whether a leaf comes before another, over any number of links and over the phases that hold them.
fn precedes(roadmap: &Roadmap, first: &TaskId, second: &TaskId) -> bool {
    let tree = roadmap.node_tree();
    let within = |leaf: &TaskId, node: &TaskId| leaf == node || tree.is_ancestor(node, leaf);
    let (mut open, mut seen) = (vec![first.clone()], BTreeSet::new());
    while let Some(at) = open.pop() {
        let links = roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
        for link in links.filter(|link| within(&at, &link.from)) {
            if within(second, &link.to) {
                return true;
            }
            for leaf in tree.leaves(&link.to) {
                if seen.insert(leaf.id.clone()) {
                    open.push(leaf.id.clone());
                }
            }
        }
    }
    false
}

/// What was linked: the tasks as they were at first, each with the ids that it has become.
struct LinkedTasks {
    became: Vec<BTreeSet<TaskId>>,
    pairs: Vec<(usize, usize)>,
}

impl LinkedTasks {
    /// Links that do not merely follow from the order of the list: between rows that are not beside each other.
    fn from_roadmap(roadmap: &Roadmap) -> Self {
        let ids: Vec<TaskId> = leaves(roadmap).into_iter().map(|leaf| leaf.id).collect();
        let tree = roadmap.node_tree();
        let beside = |from: &TaskId, to: &TaskId| {
            let (Some(from), Some(to)) = (tree.get(from), tree.get(to)) else { return false };
            let rows = tree.is_leaf(&from.id) && tree.is_leaf(&to.id);
            rows && from.parent_id == to.parent_id && from.stream == to.stream
        };
        let mut own = roadmap.clone();
        own.dependencies.retain(|link| !beside(&link.from, &link.to));
        let all = (0..ids.len()).flat_map(|a| (0..ids.len()).map(move |b| (a, b)));
        let pairs = all.filter(|(a, b)| a != b && precedes(&own, &ids[*a], &ids[*b])).collect();
        Self { became: ids.into_iter().map(|id| BTreeSet::from([id])).collect(), pairs }
    }

    fn split(&mut self, whole: &TaskId, parts: &[TaskId]) {
        for became in self.became.iter_mut().filter(|became| became.contains(whole)) {
            became.extend(parts.iter().cloned());
        }
    }

    fn merge(&mut self, gone: &BTreeSet<TaskId>, kept: &TaskId) {
        for became in &mut self.became {
            if gone.iter().any(|id| became.remove(id)) {
                became.insert(kept.clone());
            }
        }
    }

    fn find_broken(&self, roadmap: &Roadmap) -> Option<(TaskId, TaskId)> {
        let ends = self.pairs.iter().map(|(a, b)| (&self.became[*a], &self.became[*b]));
        let apart = ends.filter(|(a, b)| a.is_disjoint(b));
        let mut each =
            apart.flat_map(|(a, b)| a.iter().flat_map(move |a| b.iter().map(move |b| (a, b))));
        each.find(|(a, b)| !precedes(roadmap, a, b)).map(|(a, b)| (a.clone(), b.clone()))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Split(usize),
    Merge(usize),
    Move(usize, u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0usize..60).prop_map(Step::Split),
        (0usize..60).prop_map(Step::Merge),
        (0usize..60, 0u16..6).prop_map(|(node, place)| Step::Move(node, place)),
    ];
    prop::collection::vec(step, 1..10)
}

/// The edit of a step; none where there is nothing to do it with.
fn edit_of(step: &Step, roadmap: &Roadmap) -> Option<PlanEdit> {
    let rows = leaves(roadmap);
    let pick = |at: &usize| &rows[at % rows.len()];
    Some(match step {
        Step::Split(at) => {
            let part = |title: &str| SplitPart { title: title.to_owned(), minutes: None };
            PlanEdit::Split { node: pick(at).id.clone(), into: vec![part("One"), part("Two")] }
        }
        Step::Merge(at) => {
            let (first, second) = (pick(at), rows.get(at % rows.len() + 1)?);
            if first.parent_id != second.parent_id {
                return None;
            }
            let nodes = vec![first.id.clone(), second.id.clone()];
            PlanEdit::Merge { nodes, into: "Both".to_owned() }
        }
        Step::Move(at, position) => {
            let node = pick(at);
            let parent = node.parent_id.clone()?;
            PlanEdit::Move { node: node.id.clone(), parent, position: *position }
        }
    })
}

fn check_steps(goal: &str, steps: &[Step]) {
    let (mut outline, mut roadmap) = drafted(goal);
    let mut linked = LinkedTasks::from_roadmap(&roadmap);
    assert!(!linked.pairs.is_empty(), "{goal} has no links to lose");
    for step in steps {
        let Some(edit) = edit_of(step, &roadmap) else { continue };
        let before: BTreeSet<TaskId> = leaves(&roadmap).into_iter().map(|leaf| leaf.id).collect();
        let Ok(edited) = apply_edit(&outline, Some(&roadmap), &edit, &BTreeSet::new()) else {
            continue;
        };
        (outline, roadmap) = (edited.outline, edited.roadmap.unwrap());
        let after: BTreeSet<TaskId> = leaves(&roadmap).into_iter().map(|leaf| leaf.id).collect();
        match &edit {
            PlanEdit::Split { node, .. } => {
                linked.split(node, &after.difference(&before).cloned().collect::<Vec<_>>());
            }
            PlanEdit::Merge { nodes, .. } => {
                let gone: BTreeSet<TaskId> = before.difference(&after).cloned().collect();
                let kept = nodes.iter().find(|id| after.contains(*id)).unwrap();
                linked.merge(&gone, kept);
            }
            _ => {}
        }
        assert_eq!(linked.find_broken(&roadmap), None, "{goal}: after {edit:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_task_comes_before_one_it_was_linked_after(steps in steps()) {
        check_steps("launch a newsletter in 6 weeks", &steps);
        check_steps("renovate our bathroom by 15 March", &steps);
    }
}

#[test]
fn a_moved_part_keeps_what_it_waits_for() {
    let (outline, roadmap) = drafted("renovate our bathroom by 15 March");
    let whole = leaves(&roadmap).into_iter().find(|leaf| leaf.title.contains("emove")).unwrap();
    let rows = leaves(&roadmap);
    let earlier: Vec<TaskId> = rows
        .iter()
        .filter(|row| precedes(&roadmap, &row.id, &whole.id))
        .map(|row| row.id.clone())
        .collect();
    assert!(!earlier.is_empty());
    let part = |title: &str| SplitPart { title: title.to_owned(), minutes: None };
    let into =
        vec![part("Turn off the water"), part("Remove the fixtures"), part("Clear the rubble")];
    let split = PlanEdit::Split { node: whole.id.clone(), into };
    let split = apply_edit(&outline, Some(&roadmap), &split, &BTreeSet::new()).unwrap();
    let after = split.roadmap.unwrap();
    let lane: Vec<TaskId> = after
        .node_tree()
        .children(whole.parent_id.as_ref().unwrap())
        .filter(|node| node.stream == whole.stream)
        .map(|node| node.id.clone())
        .collect();
    let place = lane.iter().position(|id| *id == whole.id).unwrap();
    let down = PlanEdit::Move {
        node: whole.id.clone(),
        parent: whole.parent_id.clone().unwrap(),
        position: u16::try_from(place + 1).unwrap(),
    };
    // The parts were put in this order by the person; a move does not undo that behind their back.
    let refused = apply_edit(&split.outline, Some(&after), &down, &BTreeSet::new()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "\"Remove the fixtures\" waits for \"Turn off the water\", so it can't stand before it"
    );
    for id in &earlier {
        assert!(precedes(&after, id, &lane[place]), "{id}");
        assert!(precedes(&after, id, &lane[place + 2]), "{id}");
    }
}
