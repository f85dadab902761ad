//! Differences between plans that were drafted offline.

use std::collections::BTreeSet;

use jiff::civil::date;
use proptest::prelude::*;

use planwright_drafting::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_model::task::CriterionEffect;
use planwright_model::{
    ExitCriterion, LinkKind, NodeDependency, NodeType, Plan, PlanContext, PlanNode, PlanOutline,
    Roadmap, RunKind, SandboxChoice, TaskId, TaskLink, TaskNode,
};
use planwright_plan::diff::*;

fn newsletter() -> (PlanOutline, Roadmap) {
    let library = TemplateLibrary::fixture();
    let context =
        PlanContext::new("launch a newsletter in 6 weeks", date(2026, 6, 8), "Europe/Berlin");
    let outline =
        draft_outline(context, &library, date(2026, 6, 5), SubtypeProposals::Off).unwrap().outline;
    let roadmap = build_roadmap(&outline, &library, RoadmapPreferences::default()).unwrap().roadmap;
    (outline, roadmap)
}

fn node<'a>(nodes: &'a mut [PlanNode], id: &str) -> &'a mut PlanNode {
    nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap()
}

fn drawn(diff: &PlanDiff) -> Vec<String> {
    diff.to_lines().iter().map(|line| format!("{} {}", line.sign.glyph(), line.text)).collect()
}

#[test]
fn a_revision_shows_what_was_added_removed_moved_and_changed() {
    let (_, before) = newsletter();
    let mut after = before.clone();
    node(&mut after.nodes, "p3.t1").estimate_minutes = Some(180);
    after.nodes.retain(|node| node.id.as_str() != "p2.t4");
    node(&mut after.nodes, "p3.t3").parent_id = Some("p4".into());
    node(&mut after.nodes, "p3.t3").position = 9;
    let frame = after.find_node(&"p1".into()).unwrap();
    let mut interview =
        PlanNode::new_child(frame, "p1.n2", NodeType::Task, "Interview two readers");
    interview.position = 3;
    after.nodes.push(interview);
    after.dependencies.retain(|link| link.to.as_str() != "p2.t4");
    after.dependencies.push(NodeDependency::new("p1.n2", "p3.t1", LinkKind::SS).with_lag(60));
    assert_eq!(
        drawn(&diff_roadmaps(&before, &after)),
        [
            "  … 5 unchanged",
            "+ Interview two readers",
            "  … 4 unchanged",
            "- Run a trial of the newsletter with 3 people",
            "  … 1 unchanged",
            "~ Write the landing page for the newsletter: estimate minutes 4 h → 3 h",
            "  … 6 unchanged",
            "> Plan the announcement: where, when and in which words: from \"Find the first audience\" to \"Launch the newsletter\"",
            "  … 4 unchanged",
            "- link p2.t3 → p2.t4 (FS)",
            "+ link p1.n2 → p3.t1 (SS +1 h)",
        ]
    );
}

#[test]
fn only_the_moved_node_has_moved() {
    let (before, _) = newsletter();
    let mut after = before.clone();
    for (id, position) in [("p2.t4", 0), ("p2.t1", 1), ("p2.t2", 2), ("p2.t3", 3)] {
        node(&mut after.nodes, id).position = position;
    }
    let diff = diff_outlines(&before, &after);
    assert_eq!(diff.moved.len(), 1);
    assert_eq!(
        (diff.moved[0].node.as_str(), diff.moved[0].from.place, diff.moved[0].to.place),
        ("p2.t4", 4, 1)
    );
    assert_eq!(diff.unchanged, before.nodes.len() - 1);
}

#[test]
fn hours_and_dates_are_changes_of_the_goal() {
    let (before, _) = newsletter();
    let mut after = before.clone();
    after.plan_context.constraints.weekly_minutes = Some(240);
    after.plan_context.calendar.days_off.insert(date(2026, 12, 24));
    assert_eq!(
        drawn(&diff_outlines(&before, &after)),
        [
            "~ launch a newsletter in 6 weeks: weekly minutes 10 h → 4 h",
            "~ launch a newsletter in 6 weeks: days off none → 2026-12-24",
            "  … 22 unchanged",
        ]
    );
}

#[test]
fn a_diff_round_trips() {
    let (before, _) = newsletter();
    let mut after = before.clone();
    after.nodes.remove(3);
    let diff = diff_outlines(&before, &after);
    let json = serde_json::to_string(&diff).unwrap();
    assert_eq!(serde_json::from_str::<PlanDiff>(&json).unwrap(), diff);
}

/// A tree of up to 24 nodes below a goal, with ids that two such trees share.
fn tree() -> impl Strategy<Value = PlanOutline> {
    let one = (any::<prop::sample::Index>(), 0..3u16, 0..4u32, any::<bool>(), 0..2u8);
    prop::collection::btree_map(0..30u8, one, 0..24).prop_map(|nodes| {
        let context = PlanContext::new("goal", date(2026, 6, 8), "Europe/Berlin");
        let mut outline = PlanOutline::new("goal", context);
        for (id, (parent, position, minutes, lane, title)) in nodes {
            let parent = outline.nodes[parent.index(outline.nodes.len())].clone();
            let mut made =
                PlanNode::new_child(&parent, format!("n{id}"), NodeType::Task, format!("{title}"));
            made.position = position;
            made.estimate_minutes = Some(minutes).filter(|minutes| *minutes > 0);
            if lane { "a" } else { "b" }.clone_into(&mut made.stream);
            outline.nodes.push(made);
        }
        outline
    })
}

proptest! {
    #[test]
    fn equal_plans_do_not_differ(outline in tree()) {
        let diff = diff_outlines(&outline, &outline);
        prop_assert!(diff.is_empty() && diff.to_lines().is_empty());
        prop_assert_eq!(diff.unchanged, outline.nodes.len());
    }

    #[test]
    fn every_node_of_both_sides_is_accounted_for_once(before in tree(), after in tree()) {
        let diff = diff_outlines(&before, &after);
        let ids = |outline: &PlanOutline| -> BTreeSet<TaskId> {
            outline.nodes.iter().map(|node| node.id.clone()).collect()
        };
        let both: BTreeSet<TaskId> = ids(&before).union(&ids(&after)).cloned().collect();
        let shown: Vec<&TaskId> = diff.stretches.iter().filter_map(|stretch| match stretch {
            DiffSegment::Node(id) => Some(id),
            DiffSegment::Unchanged(_) => None,
        }).collect();
        let touched = diff.touched_nodes();
        prop_assert_eq!(shown.len(), touched.len());
        prop_assert_eq!(touched.len() + diff.unchanged, both.len());
        let added: BTreeSet<TaskId> = diff.added.iter().map(|name| name.node.clone()).collect();
        let removed: BTreeSet<TaskId> = diff.removed.iter().map(|name| name.node.clone()).collect();
        prop_assert_eq!(added, ids(&after).difference(&ids(&before)).cloned().collect());
        prop_assert_eq!(removed, ids(&before).difference(&ids(&after)).cloned().collect());
    }

    #[test]
    fn additions_in_one_direction_are_removals_in_the_other(before in tree(), after in tree()) {
        let (forward, backward) = (diff_outlines(&before, &after), diff_outlines(&after, &before));
        let names = |list: &[NodeName]| -> BTreeSet<TaskId> { list.iter().map(|name| name.node.clone()).collect() };
        prop_assert_eq!(names(&forward.added), names(&backward.removed));
        prop_assert_eq!(forward.changed.len(), backward.changed.len());
        prop_assert_eq!(forward.moved.len(), backward.moved.len());
    }
}

fn plan() -> Plan {
    let mut ask = TaskNode::new("ask", "Say yes");
    ask.run = RunKind::Human {};
    let mut build = TaskNode::new("build", "Build it");
    build.run = RunKind::Shell("make".into());
    build.dependencies = vec![TaskLink::finish_to_start("ask")];
    let mut note = TaskNode::new("note", "Write the note");
    note.tools = vec!["file.write".into()];
    note.dependencies = vec![TaskLink::finish_to_start("build")];
    Plan {
        title: "Ship".into(),
        goal: Some("ship it".into()),
        tasks: vec![ask, build, note],
        ..Plan::default()
    }
}

fn reasons(after: &Plan) -> Vec<String> {
    match assess_widening(&plan(), after) {
        ApprovalWidening::Narrower { .. } => Vec::new(),
        ApprovalWidening::Wider { why } => why,
    }
}

#[test]
fn fewer_tasks_and_new_text_for_a_person_keep_an_approval() {
    assert_eq!(
        assess_widening(&plan(), &plan()),
        ApprovalWidening::Narrower {
            why: "the same tasks, no new command, tool or host, no higher cost".into()
        }
    );
    let mut after = plan();
    after.tasks.pop();
    after.tasks[0].description = "Say yes or no".into();
    assert_eq!(reasons(&after), Vec::<String>::new());
}

type Change = fn(&mut Plan);

#[test]
fn any_widening_requires_a_new_approval() {
    let cases: [(&str, Change); 12] = [
        ("the goal changed", |plan| plan.goal = Some("ship more".into())),
        ("\"New\" is new", |plan| {
            let mut new = TaskNode::new("new", "New");
            new.run = RunKind::Human {};
            plan.tasks.push(new);
        }),
        ("\"Build it\" runs another command", |plan| {
            plan.tasks[1].run = RunKind::Shell("make ".into());
        }),
        ("\"Write the note\" runs another command", |plan| {
            let check =
                ExitCriterion::Command { command: "ls".into(), on: CriterionEffect::default() };
            plan.tasks[2].exit_criteria.push(check);
        }),
        ("\"Say yes\" is no longer done by you", |plan| plan.tasks[0].run = RunKind::agent()),
        ("\"Write the note\" may use further tools", |plan| plan.tasks[2].tools.clear()),
        ("\"Write the note\" may use further tools", |plan| {
            plan.tasks[2].tools.push("shell.run".into());
        }),
        ("it may use 900 tokens instead of 500", |plan| plan.tasks[2].estimated_tokens = 900),
        ("\"Build it\" no longer waits for \"Say yes\"", |plan| plan.tasks[1].dependencies.clear()),
        ("\"Write the note\" no longer waits for \"Say yes\"", |plan| {
            plan.tasks[2].dependencies.clear();
        }),
        ("\"Build it\" no longer waits for \"Say yes\"", |plan| {
            plan.tasks.remove(0);
        }),
        ("\"Say yes\" names another host", |plan| {
            plan.tasks[0].metadata.insert("hosts".into(), serde_json::json!(["example.org"]));
        }),
    ];
    for (reason, change) in cases {
        let mut after = plan();
        change(&mut after);
        assert!(reasons(&after).contains(&reason.to_owned()), "{reason}: {:?}", reasons(&after));
    }
    let mut confined = plan();
    confined.tasks[1].sandbox = SandboxChoice::Workspace;
    assert_eq!(reasons(&confined), Vec::<String>::new());
    assert!(matches!(assess_widening(&confined, &plan()), ApprovalWidening::Wider { .. }));
}
