//! Editing plans that were drafted offline.

use std::collections::BTreeSet;

use jiff::civil::date;
use proptest::prelude::*;

use planwright_drafting::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_model::{
    AdaptationAction, LinkKind, LinkOrigin, NodeDependency, NodeFields, NodeOrigin, NodePlace,
    NodeType, PlanContext, PlanEdit, PlanNode, PlanOutline, Roadmap, RunKind, TaskAssignee, TaskId,
};
use planwright_plan::edit::*;

fn plan(goal: &str) -> (PlanOutline, Roadmap) {
    let library = TemplateLibrary::fixture();
    let context = PlanContext::new(goal, date(2026, 6, 8), "Europe/Berlin");
    let outline =
        draft_outline(context, &library, date(2026, 6, 5), SubtypeProposals::Off).unwrap().outline;
    let roadmap = build_roadmap(&outline, &library, RoadmapPreferences::default()).unwrap().roadmap;
    (outline, roadmap)
}

fn newsletter() -> (PlanOutline, Roadmap) {
    plan("launch a newsletter in 6 weeks")
}

fn edit(edit: &PlanEdit) -> Result<EditedPlan, EditError> {
    let (outline, roadmap) = newsletter();
    apply_edit(&outline, Some(&roadmap), edit, &BTreeSet::new())
}

fn links(roadmap: &Roadmap, id: &str) -> Vec<String> {
    let about = |link: &&NodeDependency| link.from.as_str() == id || link.to.as_str() == id;
    let shown = |link: &NodeDependency| format!("{}→{} {:?}", link.from, link.to, link.kind);
    roadmap.dependencies.iter().filter(about).map(shown).collect()
}

fn children(roadmap: &Roadmap, id: &str) -> Vec<String> {
    roadmap.node_tree().children(&id.into()).map(|node| node.id.to_string()).collect()
}

fn refused_by(result: Result<EditedPlan, EditError>) -> String {
    match result {
        Err(EditError::BreaksRule { rule, .. }) => rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_title_updates_outline_and_roadmap_and_creates_a_version() {
    let change =
        PlanEdit::Rename { node: "p2.t1".into(), title: "  Draft the\nsample issue ".into() };
    let edited = edit(&change).unwrap();
    let roadmap = edited.roadmap.unwrap();
    for node in [edited.outline.find_node(&"p2.t1".into()), roadmap.find_node(&"p2.t1".into())] {
        let node = node.unwrap();
        assert_eq!(
            (node.title.as_str(), node.origin),
            ("Draft the sample issue", NodeOrigin::UserFeedback)
        );
    }
    assert_eq!(edited.outline.version, 2);
    assert_eq!(edited.action, AdaptationAction::Rename);
    assert_eq!(
        edited.reason,
        "renamed \"Make one complete sample issue\" to \"Draft the sample issue\""
    );
}

#[test]
fn an_estimate_changes_the_total_and_the_critical_path() {
    let (_, before) = newsletter();
    let edited = edit(&PlanEdit::SetEstimate { node: "p2.t1".into(), minutes: 1800 }).unwrap();
    let after = edited.roadmap.unwrap();
    assert_eq!(after.total_minutes, before.total_minutes + 1800 - 255);
    assert!(!before.critical_path.contains(&"p2.t4".into()));
    assert!(after.critical_path.contains(&"p2.t4".into()));
    assert_eq!(edited.outline.find_node(&"p2.t1".into()).unwrap().estimate_minutes, Some(1800));
    assert_eq!(edited.action, AdaptationAction::ReEstimate);
}

#[test]
fn the_tasks_of_a_phase_keep_their_proportions() {
    let edited = edit(&PlanEdit::SetEstimate { node: "p1".into(), minutes: 870 }).unwrap();
    let roadmap = edited.roadmap.unwrap();
    let minutes: Vec<u32> =
        roadmap.node_tree().leaves(&"p1".into()).iter().map(|leaf| leaf.work_minutes()).collect();
    assert_eq!(minutes, [300, 300, 270]);
    assert_eq!(roadmap.find_node(&"p1".into()).unwrap().estimate_minutes, None);
}

#[test]
fn milestones_take_no_time_and_have_no_assignee() {
    let estimate = PlanEdit::SetEstimate { node: "m1".into(), minutes: 30 };
    assert!(matches!(edit(&estimate), Err(EditError::Milestone { .. })));
    let doer = PlanEdit::SetDoer {
        node: "p4.t1".into(),
        doer: TaskAssignee::Agent,
        command: None,
        agent: None,
    };
    assert!(matches!(edit(&doer), Err(EditError::Milestone { .. })));
    assert_eq!(refused_by(edit(&PlanEdit::Remove { node: "m1".into() })), "G212");
}

#[test]
fn a_task_behind_the_last_milestone_becomes_the_last_step_before_it() {
    let insert = |needs: &[&str]| PlanEdit::Insert {
        place: NodePlace::After("m1".into()),
        fields: NodeFields {
            title: Some("Have a launch party".into()),
            minutes: Some(120),
            ..NodeFields::default()
        },
        group: false,
        needs: needs.iter().map(|id| TaskId::from(*id)).collect(),
        needed_by: Vec::new(),
    };
    for needs in [&[] as &[&str], &["p1.t1"]] {
        let roadmap = edit(&insert(needs)).unwrap().roadmap.unwrap();
        let root = roadmap.node_tree().children(&roadmap.root_id).last().unwrap().id.clone();
        assert_eq!(root.as_str(), "m1", "the milestone still ends the plan");
        let party = roadmap.nodes.iter().find(|node| node.title == "Have a launch party").unwrap();
        assert_eq!(party.parent_id.as_ref().map(TaskId::as_str), Some("p5"), "{needs:?}");
    }
    let error = edit(&insert(&["m1"])).unwrap_err();
    assert!(matches!(error, EditError::AfterEnd { .. }), "{error}");
    assert!(error.to_string().contains("which ends the plan"), "{error}");
}

#[test]
fn an_assignee_is_set_on_a_task_and_a_shell_needs_its_command() {
    let shell = |command: Option<&str>| PlanEdit::SetDoer {
        node: "p2.t1".into(),
        doer: TaskAssignee::Shell,
        command: command.map(str::to_owned),
        agent: None,
    };
    assert_eq!(edit(&shell(Some(" "))), Err(EditError::NoCommand));
    let edited = edit(&shell(Some("make issue"))).unwrap();
    let wanted = Some(RunKind::Shell("make issue".into()));
    assert_eq!(edited.outline.find_node(&"p2.t1".into()).unwrap().run, wanted);
    assert_eq!(edited.roadmap.unwrap().find_node(&"p2.t1".into()).unwrap().run, wanted);
    let phase = PlanEdit::SetDoer {
        node: "p2".into(),
        doer: TaskAssignee::Agent,
        command: None,
        agent: None,
    };
    assert!(matches!(edit(&phase), Err(EditError::Container { .. })));
}

#[test]
fn a_new_task_is_added_to_the_end_of_its_phase_and_to_the_chain() {
    let change =
        PlanEdit::Add { parent: "p1".into(), title: "Interview two readers".into(), minutes: None };
    let edited = edit(&change).unwrap();
    let roadmap = edited.roadmap.unwrap();
    assert_eq!(children(&roadmap, "p1"), ["p1.t1", "p1.t2", "p1.t3", "p1.n2"]);
    assert_eq!(links(&roadmap, "p1.n2"), ["p1.t3→p1.n2 FS"]);
    assert_eq!(roadmap.find_node(&"p1.n2".into()).unwrap().estimate_minutes, Some(150));
    assert_eq!(edited.outline.find_node(&"p1.n2".into()).unwrap().level, 3);
    assert_eq!(roadmap.total_minutes, 2880 + 150);
}

#[test]
fn a_task_of_the_goal_comes_before_its_milestone() {
    let change = PlanEdit::Add { parent: "goal".into(), title: "Rest".into(), minutes: Some(30) };
    let roadmap = edit(&change).unwrap().roadmap.unwrap();
    assert_eq!(children(&roadmap, "goal"), ["p1", "p2", "p3", "p4", "p5", "n2", "m1"]);
    assert_eq!(links(&roadmap, "n2"), ["p5→n2 FS", "n2→m1 FS"]);
}

#[test]
fn a_part_of_a_task_inherits_its_time() {
    let change = PlanEdit::Add { parent: "p2.t1".into(), title: "Sketch".into(), minutes: None };
    let edited = edit(&change).unwrap();
    let roadmap = edited.roadmap.clone().unwrap();
    let part = roadmap.find_node(&"p2.t1.n2".into()).unwrap();
    assert_eq!((part.node_type, part.estimate_minutes), (NodeType::SubTask, Some(255)));
    assert_eq!(roadmap.find_node(&"p2.t1".into()).unwrap().estimate_minutes, None);
    assert_eq!(roadmap.total_minutes, 2880);
    let back = PlanEdit::Remove { node: "p2.t1.n2".into() };
    let back =
        apply_edit(&edited.outline, edited.roadmap.as_ref(), &back, &BTreeSet::new()).unwrap();
    let roadmap = back.roadmap.unwrap();
    assert_eq!(roadmap.find_node(&"p2.t1".into()).unwrap().estimate_minutes, Some(255));
    assert_eq!(roadmap.total_minutes, 2880);
}

#[test]
fn the_chain_closes_over_a_removed_node() {
    let edited = edit(&PlanEdit::Remove { node: "p2.t3".into() }).unwrap();
    let roadmap = edited.roadmap.unwrap();
    assert_eq!(links(&roadmap, "p2.t4"), ["p2.t2→p2.t4 FS"]);
    assert!(edited.outline.find_node(&"p2.t3".into()).is_none());
    assert_eq!(edited.node_ids, [TaskId::from("p2.t3")]);
    let phase = edit(&PlanEdit::Remove { node: "p4".into() }).unwrap();
    assert_eq!(phase.node_ids.len(), 5);
    let roadmap = phase.roadmap.unwrap();
    assert_eq!(links(&roadmap, "p5"), ["p5→m1 FS", "p2→p5 FS", "p3→p5 FS"]);
}

#[test]
fn a_moved_task_leaves_one_chain_and_joins_another() {
    let change = PlanEdit::Move { node: "p3.t2".into(), parent: "p1".into(), position: 1 };
    let edited = edit(&change).unwrap();
    let roadmap = edited.roadmap.unwrap();
    assert_eq!(children(&roadmap, "p1"), ["p1.t1", "p3.t2", "p1.t2", "p1.t3"]);
    assert_eq!(links(&roadmap, "p3.t2"), ["p1.t1→p3.t2 FS", "p3.t2→p1.t2 FS"]);
    assert_eq!(links(&roadmap, "p3.t1"), ["p3.t1→p3.t3 FS"]);
    assert_eq!(edited.outline.node_tree().children(&"p1".into()).count(), 4);
}

#[test]
fn moving_a_task_among_its_siblings_changes_the_order() {
    let change = PlanEdit::Move { node: "p2.t4".into(), parent: "p2".into(), position: 0 };
    let roadmap = edit(&change).unwrap().roadmap.unwrap();
    assert_eq!(children(&roadmap, "p2"), ["p2.t4", "p2.t1", "p2.t2", "p2.t3"]);
    assert_eq!(links(&roadmap, "p2.t4"), ["p2.t4→p2.t1 FS"]);
}

#[test]
fn a_task_below_a_task_becomes_a_part_of_it() {
    let change = PlanEdit::Move { node: "p3.t2".into(), parent: "p3.t1".into(), position: 0 };
    let edited = edit(&change).unwrap();
    let node = edited.outline.find_node(&"p3.t2".into()).unwrap();
    assert_eq!((node.node_type, node.level), (NodeType::SubTask, 4));
    let below = PlanEdit::Move { node: "p3".into(), parent: "p3.t1".into(), position: 0 };
    assert!(matches!(edit(&below), Err(EditError::BelowItself { .. })));
}

#[test]
fn example_8_a_link_that_closes_a_cycle_is_rejected() {
    let link = |from: &str, to: &str| PlanEdit::Link {
        from: from.into(),
        to: to.into(),
        kind: LinkKind::FS,
        lag_minutes: 0,
    };
    assert_eq!(refused_by(edit(&link("p2.t4", "p2.t1"))), "G111");
    assert_eq!(refused_by(edit(&link("p2", "p2.t1"))), "G110");
    let edited = edit(&link("p2.t1", "p3.t1")).unwrap();
    let roadmap = edited.roadmap.unwrap();
    let drawn = roadmap.dependencies.last().unwrap();
    assert_eq!((drawn.origin, edited.action), (LinkOrigin::UserFeedback, AdaptationAction::Relink));
}

#[test]
fn a_link_is_removed_and_cannot_be_removed_twice() {
    let change = PlanEdit::Unlink { from: "p2".into(), to: "p3".into() };
    let edited = edit(&change).unwrap();
    let again = apply_edit(&edited.outline, edited.roadmap.as_ref(), &change, &BTreeSet::new());
    assert!(matches!(again, Err(EditError::NoLink { .. })));
    let (outline, _) = newsletter();
    assert_eq!(apply_edit(&outline, None, &change, &BTreeSet::new()), Err(EditError::NoRoadmap));
}

#[test]
fn a_phase_keeps_its_last_task() {
    let (outline, roadmap) = newsletter();
    let one = PlanEdit::Remove { node: "p5.t1".into() };
    let edited = apply_edit(&outline, Some(&roadmap), &one, &BTreeSet::new()).unwrap();
    let last = PlanEdit::Remove { node: "p5.t2".into() };
    let rejected = apply_edit(&edited.outline, edited.roadmap.as_ref(), &last, &BTreeSet::new());
    assert_eq!(refused_by(rejected), "G109");
}

#[test]
fn locked_nodes_are_not_changed() {
    let (outline, roadmap) = newsletter();
    let locked = BTreeSet::from(["p3.t2".into()]);
    for change in [
        PlanEdit::Rename { node: "p3.t2".into(), title: "x".into() },
        PlanEdit::Remove { node: "p3".into() },
        PlanEdit::Add { parent: "p3.t2".into(), title: "Part".into(), minutes: None },
        PlanEdit::Move { node: "p3.t3".into(), parent: "p3.t2".into(), position: 0 },
        PlanEdit::SetEstimate { node: "p3".into(), minutes: 600 },
        PlanEdit::Move { node: "p3".into(), parent: "goal".into(), position: 0 },
        PlanEdit::Link {
            from: "p1".into(),
            to: "p3.t2".into(),
            kind: LinkKind::FS,
            lag_minutes: 0,
        },
    ] {
        let rejected = apply_edit(&outline, Some(&roadmap), &change, &locked);
        assert!(matches!(rejected, Err(EditError::Locked { .. })), "{change:?}: {rejected:?}");
    }
}

#[test]
fn an_unknown_id_suggests_the_nearest() {
    let rejected = edit(&PlanEdit::Remove { node: "p2t1".into() }).unwrap_err();
    assert_eq!(rejected.hint(), "did you mean p2.t1?");
    let same = PlanEdit::Rename { node: "p5".into(), title: "Review the launch".into() };
    assert_eq!(edit(&same), Err(EditError::NothingChanges));
}

const GOALS: [&str; 5] = [
    "launch a newsletter in 6 weeks",
    "learn Rust, 5 hours a week",
    "migrate service X from Python to Rust",
    "become a staff engineer",
    "weekly review routine",
];

fn any_edit() -> impl Strategy<Value = (u8, [prop::sample::Index; 2], u16, u32)> {
    (0..9u8, any::<[prop::sample::Index; 2]>(), 0..6u16, 0..400u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn edits_keep_outline_and_roadmap_consistent(
        goal in 0..GOALS.len(),
        edits in prop::collection::vec(any_edit(), 1..8),
    ) {
        let (mut outline, mut roadmap) = plan(GOALS[goal]);
        let kept: TaskId = roadmap.node_tree().leaves(&roadmap.root_id)[0].id.clone();
        let locked = BTreeSet::from([kept.clone()]);
        let first = roadmap.find_node(&kept).cloned();
        let known = broken_rules(&outline, Some(&roadmap)).len();
        for (kind, at, position, minutes) in edits {
            let pick = |index: usize| roadmap.nodes[at[index].index(roadmap.nodes.len())].id.clone();
            let (node, other) = (pick(0), pick(1));
            let change = match kind {
                0 => PlanEdit::Rename { node, title: format!("Title {minutes}") },
                1 => PlanEdit::SetDoneWhen { node, done_when: format!("it is {minutes}") },
                2 => PlanEdit::SetEstimate { node, minutes },
                3 => PlanEdit::SetDoer { node, doer: TaskAssignee::Agent, command: None, agent: None },
                4 => PlanEdit::Add { parent: node, title: "New".into(), minutes: Some(minutes) },
                5 => PlanEdit::Remove { node },
                6 => PlanEdit::Move { node, parent: other, position },
                7 => PlanEdit::Link { from: node, to: other, kind: LinkKind::FS, lag_minutes: 0 },
                _ => PlanEdit::Unlink { from: node, to: other },
            };
            let Ok(edited) = apply_edit(&outline, Some(&roadmap), &change, &locked) else { continue };
            prop_assert_eq!(edited.outline.version, outline.version + 1);
            prop_assert!(!edited.reason.is_empty() && !edited.node_ids.is_empty());
            outline = edited.outline;
            roadmap = edited.roadmap.unwrap();
            let shape = |nodes: &[PlanNode]| -> Vec<_> {
                let of = |node: &PlanNode| {
                    let words = (node.title.clone(), node.done_when.clone(), node.run.clone());
                    (node.id.clone(), node.parent_id.clone(), node.level, words)
                };
                nodes.iter().map(of).collect()
            };
            prop_assert_eq!(shape(&outline.nodes), shape(&roadmap.nodes));
            prop_assert!(broken_rules(&outline, Some(&roadmap)).len() <= known);
            prop_assert_eq!(roadmap.total_minutes, roadmap.node_tree().total_minutes(&roadmap.root_id));
            let now = roadmap.find_node(&kept).cloned();
            prop_assert_eq!(
                now.as_ref().map(|node| (&node.title, node.estimate_minutes, &node.parent_id)),
                first.as_ref().map(|node| (&node.title, node.estimate_minutes, &node.parent_id))
            );
        }
    }
}
