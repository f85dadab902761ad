//! What a request does to a plan: only what it names changes, and only what changed is reported as made.

use std::collections::BTreeMap;

use planwright_model::{LinkOrigin, NodeStatus, PlanNode};

use super::phrasings::{plan_named, read_on, read_table};
use super::plans::{SamplePlan, TODAY, course_video, house_move};
use super::*;

pub(super) fn apply(plan: &SamplePlan, text: &str) -> RequestOutcome {
    let read = read_on(plan, text);
    apply_change_request(&read, &plan.outline, Some(&plan.roadmap), &BTreeSet::new(), TODAY)
}

/// The nodes that operations name or make, those below them included.
fn touched(plan: &SamplePlan, outcome: &RequestOutcome) -> BTreeSet<TaskId> {
    let mut ids: BTreeSet<TaskId> = BTreeSet::new();
    for made in &outcome.made {
        ids.extend(made.node_ids.iter().cloned());
        ids.extend(made.edits.iter().flat_map(|edit| edit.named_nodes()).cloned());
    }
    let tree = plan.roadmap.node_tree();
    let below: Vec<TaskId> =
        ids.iter().flat_map(|id| tree.subtree(id)).map(|node| node.id.clone()).collect();
    ids.extend(below);
    ids
}

/// Nodes by id, apart from the place among siblings, which others may change.
fn nodes(list: &[PlanNode]) -> BTreeMap<TaskId, PlanNode> {
    let placed = |node: &PlanNode| (node.id.clone(), PlanNode { position: 0, ..node.clone() });
    list.iter().map(placed).collect()
}

/// What changed though no operation names it, in words.
pub(super) fn unnamed_changes(plan: &SamplePlan, outcome: &RequestOutcome) -> Vec<String> {
    let touched = touched(plan, outcome);
    let Some(changed) = outcome.roadmap.as_ref() else { return vec!["no roadmap".to_owned()] };
    let mut found = Vec::new();
    for (before, after) in
        [(&plan.roadmap.nodes, &changed.nodes), (&plan.outline.nodes, &outcome.outline.nodes)]
    {
        let (before, after) = (nodes(before), nodes(after));
        let others = before.keys().chain(after.keys()).filter(|id| !touched.contains(*id));
        let differ = others.filter(|id| before.get(*id) != after.get(*id));
        found.extend(differ.map(|id| format!("{id} changed, but nothing names it")));
    }
    // Links between nodes that nothing names stay, and none is added.
    let between = |roadmap: &Roadmap| -> Vec<String> {
        let links = roadmap.dependencies.iter();
        let apart =
            links.filter(|link| !touched.contains(&link.from) && !touched.contains(&link.to));
        apart.map(|link| format!("{link:?}")).collect()
    };
    let (was, is) = (between(&plan.roadmap), between(changed));
    found.extend(was.iter().filter(|link| !is.contains(link)).map(|link| format!("lost {link}")));
    // The chain closes over what was taken out of it.
    let stated = format!("{:?}", LinkOrigin::UserFeedback);
    let added = is.iter().filter(|link| !was.contains(link) && link.contains(&stated));
    found.extend(added.map(|link| format!("added {link}")));
    found
}

#[test]
fn what_no_operation_names_stays_as_it_is() {
    for row in read_table() {
        let plan = plan_named(&row.plan);
        let found = unnamed_changes(&plan, &apply(&plan, &row.text));
        assert!(found.is_empty(), "{}: {found:?}", row.text);
    }
}

#[test]
fn only_what_changed_is_reported_as_made() {
    for row in read_table() {
        let plan = plan_named(&row.plan);
        let outcome = apply(&plan, &row.text);
        let same = outcome.roadmap.as_ref() == Some(&plan.roadmap)
            && outcome.outline.nodes == plan.outline.nodes
            && has_same_limits(&outcome.outline.plan_context, &plan.outline.plan_context);
        assert_eq!(same, outcome.made.is_empty(), "{}: {:?}", row.text, outcome.made);
        assert!(outcome.made.iter().all(|made| !made.effect.is_empty()), "{}", row.text);
        // The same request again changes nothing more, or says what it would do twice.
        let again = SamplePlan { outline: outcome.outline, roadmap: outcome.roadmap.unwrap() };
        let repeats = ["add", "split", "merge", "double", "undo", "time", "swap", "move", "finish"];
        if !repeats.iter().any(|word| row.wanted.contains(word)) && !row.wanted.contains("remove") {
            let twice = apply(&again, &row.text);
            assert!(twice.made.is_empty(), "{}: {:?}", row.text, twice.made);
        }
    }
}

#[test]
fn effects_name_titles_dates_and_work() {
    let plan = course_video();
    let effect = |text: &str| {
        let outcome = apply(&plan, text);
        outcome.made.into_iter().map(|made| made.effect).chain(outcome.open).collect::<Vec<_>>()
    };
    assert_eq!(
        effect("drop the last phase"),
        ["removed \"Launch\" and the 2 below it; 31 h of work instead of 34 h 30 min"]
    );
    assert_eq!(
        effect("double all estimates"),
        ["re-estimated 10 tasks; 69 h of work instead of 34 h 30 min"]
    );
    assert_eq!(effect("swap phases 2 and 3"), ["moved \"Test\" before \"Build\""]);
    assert_eq!(
        effect("I already did the first task"),
        ["\"Interview five bakers\" is done; 29 h 30 min of 34 h 30 min of work left"]
    );
    assert_eq!(
        effect("Anna has 5 hours a week"),
        [
            "Anna works on it too, up to 5 h a week; no task is theirs yet, \"assign … to Anna\" gives them one"
        ]
    );
    assert_eq!(
        effect("p1.t1 takes 5 hours"),
        ["p1.t1 takes 5 hours (no change: that is how it is already)"]
    );
    assert_eq!(
        effect("the research starts on 12 June"),
        [
            "the research starts on 12 June (\"Research\" holds other tasks; name the task that has the date)"
        ]
    );
    assert_eq!(
        effect("finish by 3 May 2026"),
        ["finish by 3 May 2026 (\"3 May 2026\" is not a day to come)"]
    );
}

#[test]
fn removing_a_task_lowers_the_work_by_its_time() {
    for plan in [course_video(), house_move(), newsletter()] {
        let tree = plan.roadmap.node_tree();
        let leaves: Vec<(TaskId, u32)> = tree
            .leaves(&plan.roadmap.root_id)
            .into_iter()
            .filter(|leaf| !leaf.milestone)
            .map(|leaf| (leaf.id.clone(), leaf.work_minutes()))
            .collect();
        for (id, minutes) in leaves {
            let outcome = apply(&plan, &format!("remove {id}"));
            let after = outcome.roadmap.unwrap().total_minutes;
            assert_eq!(after + minutes, plan.roadmap.total_minutes, "{id} {:?}", outcome.open);
        }
    }
}

#[test]
fn orders_hold_after_moves() {
    let plan = course_video();
    for (text, first, second) in [
        ("do the landing page first", "p4.t1", "p1.t1"),
        ("move testing after launch", "p4.t2", "p3.t1"),
        ("swap the second and third phase", "p3.t2", "p2.t1"),
        ("the video needs the script", "p2.t2", "p2.t4"),
        ("move p1.t2 after p2.t1", "p2.t1", "p1.t2"),
        ("do the trial run before the script", "p3.t1", "p2.t2"),
        ("p1.t1 after p4.t1", "p4.t1", "p1.t1"),
    ] {
        let outcome = apply(&plan, text);
        assert!(outcome.open.is_empty(), "{text}: {:?}", outcome.open);
        let after = SamplePlan { outline: outcome.outline, roadmap: outcome.roadmap.unwrap() };
        let source = ChangeRequestSource {
            outline: &after.outline,
            roadmap: Some(&after.roadmap),
            planned_end: None,
            marked: &[],
            today: TODAY,
        };
        let context = ClauseContext::new(&source);
        let node = |id: &str| after.roadmap.find_node(&id.into()).unwrap();
        assert!(
            context.comes_before(node(first), node(second)),
            "{text}: {:?}",
            after.roadmap.dependencies
        );
    }
}

#[test]
fn done_work_is_kept_and_left_alone() {
    let plan = course_video();
    let outcome = apply(&plan, "the interviews are done, and double all estimates");
    let roadmap = outcome.roadmap.unwrap();
    let node = |id: &str| roadmap.find_node(&id.into()).unwrap();
    assert_eq!(
        (node("p1.t1").status, node("p1.t1").estimate_minutes),
        (NodeStatus::Done, Some(300))
    );
    assert_eq!(node("p1.t2").estimate_minutes, Some(240));
    let done = SamplePlan { outline: outcome.outline, roadmap };
    let open = apply(&done, "the interviews are not done yet").roadmap.unwrap();
    assert_eq!(open.find_node(&"p1.t1".into()).unwrap().status, NodeStatus::Pending);
}
