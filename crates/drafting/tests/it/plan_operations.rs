//! Operations on plans that were drafted offline: what is named changes, everything else stays as it is.

use std::collections::BTreeSet;

use jiff::civil::date;
use proptest::prelude::*;

use planwright_drafting::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_model::{
    DateField, LinkKind, NodeFields, NodePlace, PlanContext, PlanEdit, PlanNode, PlanOutline,
    Roadmap, RunKind, SplitPart, TaskAssignee, TaskId,
};
use planwright_plan::diff::{DraftView, diff_drafts};
use planwright_plan::edit::*;

fn newsletter() -> (PlanOutline, Roadmap) {
    let library = TemplateLibrary::fixture();
    let context =
        PlanContext::new("launch a newsletter in 6 weeks", date(2026, 6, 8), "Europe/Berlin");
    let outline =
        draft_outline(context, &library, date(2026, 6, 5), SubtypeProposals::Off).unwrap().outline;
    let roadmap = build_roadmap(&outline, &library, RoadmapPreferences::default()).unwrap().roadmap;
    (outline, roadmap)
}

fn apply(edits: &[PlanEdit]) -> Result<EditedPlan, EditError> {
    let (outline, roadmap) = newsletter();
    apply_edits(&outline, Some(&roadmap), edits, &BTreeSet::new())
}

fn applied(edits: &[PlanEdit]) -> Roadmap {
    apply(edits).unwrap().roadmap.unwrap()
}

fn node<'a>(roadmap: &'a Roadmap, id: &str) -> &'a PlanNode {
    roadmap.find_node(&id.into()).unwrap()
}

fn links_of(roadmap: &Roadmap, id: &str) -> Vec<(String, String)> {
    let about = roadmap
        .dependencies
        .iter()
        .filter(|link| link.from.as_str() == id || link.to.as_str() == id);
    about.map(|link| (link.from.to_string(), link.to.to_string())).collect()
}

fn view<'a>(outline: &'a PlanOutline, roadmap: &'a Roadmap) -> DraftView<'a> {
    DraftView { outline, roadmap: Some(roadmap), schedule: None }
}

#[test]
fn several_operations_are_made_together_or_not_at_all() {
    let rename = PlanEdit::Rename { node: "p2.t1".into(), title: "One issue".into() };
    let both = [rename.clone(), PlanEdit::SetEstimate { node: "p2.t1".into(), minutes: 90 }];
    let edited = apply(&both).unwrap();
    assert_eq!((edited.steps.len(), edited.outline.version), (2, 2));
    assert_eq!(edited.node_ids, [TaskId::from("p2.t1")]);
    let roadmap = edited.roadmap.unwrap();
    assert_eq!(node(&roadmap, "p2.t1").estimate_minutes, Some(90));
    let refused = apply(&[rename, PlanEdit::Remove { node: "nothing".into() }]);
    assert!(matches!(refused, Err(EditError::UnknownNode { .. })));
}

#[test]
fn a_split_shares_the_time_and_moves_what_follows_to_the_last_part() {
    let (_, before) = newsletter();
    let (total, whole) = (before.total_minutes, node(&before, "p2.t1").clone());
    let part = |title: &str, minutes| SplitPart { title: title.to_owned(), minutes };
    let split = PlanEdit::Split {
        node: "p2.t1".into(),
        into: vec![part("Write it", None), part("Set it", Some(30)), part("Proof it", None)],
    };
    let after = applied(std::slice::from_ref(&split));
    assert_eq!(after.total_minutes, total);
    let parts: Vec<&PlanNode> = after
        .node_tree()
        .children(&"p2".into())
        .filter(|node| ["Write it", "Set it", "Proof it"].contains(&node.title.as_str()))
        .collect();
    assert_eq!(parts.iter().map(|part| part.work_minutes()).sum::<u32>(), whole.work_minutes());
    assert_eq!(parts[0].id, whole.id);
    assert_eq!(parts[1].estimate_minutes, Some(30));
    assert_eq!((parts[2].done_when.as_str(), parts[0].done_when.as_str()), (&*whole.done_when, ""));
    let last = parts[2].id.to_string();
    for (from, to) in links_of(&before, "p2.t1") {
        let wanted = if from == "p2.t1" { (last.clone(), to) } else { (from, to) };
        assert!(after.dependencies.iter().any(|link| {
            (link.from.as_str(), link.to.as_str()) == (wanted.0.as_str(), wanted.1.as_str())
        }));
    }
    let one = PlanEdit::Split { node: "p2.t1".into(), into: vec![part("Write it", None)] };
    assert!(matches!(apply(&[one]), Err(EditError::PartCount { .. })));
    let phase = PlanEdit::Split { node: "p2".into(), into: vec![part("a", None), part("b", None)] };
    assert!(matches!(apply(&[phase]), Err(EditError::Container { .. })));
}

#[test]
fn a_merge_sums_the_time_and_keeps_every_link_to_other_tasks() {
    let (_, before) = newsletter();
    let minutes = node(&before, "p2.t1").work_minutes() + node(&before, "p2.t2").work_minutes();
    let merge = PlanEdit::Merge {
        nodes: vec!["p2.t2".into(), "p2.t1".into()],
        into: "Issue and tool".into(),
    };
    let after = applied(std::slice::from_ref(&merge));
    let merged = node(&after, "p2.t1");
    assert_eq!((merged.title.as_str(), merged.work_minutes()), ("Issue and tool", minutes));
    assert!(after.find_node(&"p2.t2".into()).is_none());
    assert_eq!(after.total_minutes, before.total_minutes);
    assert!(links_of(&after, "p2.t2").is_empty());
    for (from, to) in links_of(&before, "p2.t2") {
        let other = if from == "p2.t2" { &to } else { &from };
        assert!(other == "p2.t1" || !links_of(&after, other).is_empty());
    }
    let doer = PlanEdit::SetDoer {
        node: "p2.t1".into(),
        doer: TaskAssignee::Agent,
        command: None,
        agent: None,
    };
    assert!(matches!(apply(&[doer, merge]), Err(EditError::DifferentDoers { .. })));
}

#[test]
fn a_row_is_inserted_where_it_was_said_with_its_links() {
    let call = PlanEdit::Insert {
        place: NodePlace::Before("p4.t2".into()),
        fields: NodeFields {
            minutes: Some(30),
            owner: Some("Anna".into()),
            why: Some("she knows everybody".into()),
            ..NodeFields::titled("Call Anna")
        },
        group: false,
        needs: Vec::new(),
        needed_by: vec!["p4.t2".into()],
    };
    let edited = apply(&[call]).unwrap();
    let roadmap = edited.roadmap.unwrap();
    let added = node(&roadmap, edited.node_ids[0].as_str());
    assert_eq!((added.other_owner(), added.estimate_minutes), (Some("Anna"), Some(30)));
    let order: Vec<_> =
        roadmap.node_tree().children(&"p4".into()).map(|node| node.title.clone()).collect();
    let place = order.iter().position(|title| title == "Call Anna").unwrap();
    assert_eq!(order[place + 1], node(&roadmap, "p4.t2").title);
    assert_eq!(links_of(&roadmap, added.id.as_str()), [(added.id.to_string(), "p4.t2".to_owned())]);
    assert!(edited.outline.find_node(&added.id).is_some());
}

#[test]
fn owners_and_dates_are_set_and_cleared() {
    let date = |field, text: &str| PlanEdit::SetDate {
        node: "p2.t1".into(),
        field,
        date: Some(text.parse().unwrap()),
    };
    let agent = PlanEdit::SetDoer {
        node: "p2.t1".into(),
        doer: TaskAssignee::Agent,
        command: None,
        agent: None,
    };
    let assign = |owner: &str| PlanEdit::Assign { node: "p2.t1".into(), owner: owner.into() };
    let after = applied(&[agent, assign("Anna"), date(DateField::Due, "2026-06-20")]);
    let task = node(&after, "p2.t1");
    assert_eq!((task.other_owner(), &task.run), (Some("Anna"), &Some(RunKind::Human {})));
    assert_eq!(task.due, Some("2026-06-20".parse().unwrap()));
    let back = applied(&[
        assign("Anna"),
        assign("me"),
        date(DateField::NotBefore, "2026-06-20"),
        PlanEdit::ClearDates { node: "p2.t1".into() },
    ]);
    assert!(node(&back, "p2.t1").owner.is_empty() && node(&back, "p2.t1").dates().is_empty());
    let wrong =
        apply(&[date(DateField::NotBefore, "2026-06-20"), date(DateField::Due, "2026-06-10")]);
    assert!(matches!(wrong, Err(EditError::DatesContradict { .. })));
}

#[test]
fn a_locked_row_keeps_words_owner_time_and_dates_against_every_operation() {
    let (outline, roadmap) = newsletter();
    let id = || TaskId::from("p2.t1");
    let locked = BTreeSet::from([id()]);
    let part = |title: &str| SplitPart { title: title.into(), minutes: None };
    let edits = [
        PlanEdit::Change { node: id(), fields: NodeFields::titled("x") },
        PlanEdit::Assign { node: id(), owner: "Anna".into() },
        PlanEdit::SetDate {
            node: id(),
            field: DateField::Due,
            date: Some("2026-06-20".parse().unwrap()),
        },
        PlanEdit::ClearDates { node: id() },
        PlanEdit::Split { node: id(), into: vec![part("a"), part("b")] },
        PlanEdit::Merge { nodes: vec![id(), "p2.t2".into()], into: "x".into() },
        PlanEdit::Assign { node: "p2".into(), owner: "Anna".into() },
        PlanEdit::Insert {
            place: NodePlace::Under(id()),
            fields: NodeFields::titled("x"),
            group: false,
            needs: Vec::new(),
            needed_by: Vec::new(),
        },
    ];
    for edit in edits {
        let refused = apply_edit(&outline, Some(&roadmap), &edit, &locked);
        assert!(matches!(refused, Err(EditError::Locked { .. })), "{edit:?}: {refused:?}");
    }
    let unlock = [
        PlanEdit::Unlock { node: id() },
        PlanEdit::Change { node: id(), fields: NodeFields::titled("x") },
        PlanEdit::Lock { node: id() },
    ];
    let edited = apply_edits(&outline, Some(&roadmap), &unlock, &locked).unwrap();
    assert_eq!(edited.locked, locked);
}

fn any_operation() -> impl Strategy<Value = (u8, [prop::sample::Index; 2], u32)> {
    (0..12u8, any::<[prop::sample::Index; 2]>(), 15..400u32)
}

fn make_operation(
    (kind, at, minutes): (u8, [prop::sample::Index; 2], u32),
    roadmap: &Roadmap,
) -> PlanEdit {
    let pick = |index: usize| roadmap.nodes[at[index].index(roadmap.nodes.len())].id.clone();
    let (node, other) = (pick(0), pick(1));
    let part = |title: &str| SplitPart { title: title.into(), minutes: None };
    match kind {
        0 => PlanEdit::Rename { node, title: format!("Title {minutes}") },
        1 => PlanEdit::Change {
            node,
            fields: NodeFields {
                why: Some("so".into()),
                minutes: Some(minutes),
                ..NodeFields::default()
            },
        },
        2 => PlanEdit::SetEstimate { node, minutes },
        3 => PlanEdit::Assign { node, owner: "Anna".into() },
        4 => PlanEdit::Insert {
            place: NodePlace::After(node),
            fields: NodeFields::titled("New"),
            group: false,
            needs: Vec::new(),
            needed_by: Vec::new(),
        },
        5 => PlanEdit::Remove { node },
        6 => PlanEdit::Move { node, parent: other, position: (minutes % 5) as u16 },
        7 => PlanEdit::Link { from: node, to: other, kind: LinkKind::FS, lag_minutes: 30 },
        8 => PlanEdit::Split { node, into: vec![part("One"), part("Two")] },
        9 => PlanEdit::Merge { nodes: vec![node, other], into: "Both".into() },
        10 => PlanEdit::SetDate {
            node,
            field: DateField::Due,
            date: Some("2026-07-01".parse().unwrap()),
        },
        _ => PlanEdit::Unlink { from: node, to: other },
    }
}

/// A node without its place among its siblings, which moves up and down as others come and go.
fn without_place(node: &PlanNode) -> PlanNode {
    PlanNode { position: 0, ..node.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_no_operation_names_stays_as_it_is(
        operations in prop::collection::vec(any_operation(), 1..6),
    ) {
        let (mut outline, mut roadmap) = newsletter();
        for operation in operations {
            let edit = make_operation(operation, &roadmap);
            let Ok(edited) =
                apply_edit(&outline, Some(&roadmap), &edit, &BTreeSet::new()) else { continue };
            let after = edited.roadmap.unwrap();
            let named: BTreeSet<&TaskId> =
                edit.named_nodes().into_iter().chain(&edited.node_ids).collect();
            for (old, new) in [(&outline.nodes, &edited.outline.nodes), (&roadmap.nodes, &after.nodes)] {
                for node in old.iter().filter(|node| !named.contains(&node.id)) {
                    let now = new.iter().find(|other| other.id == node.id);
                    // A task that loses its last part has its time again; nothing else is ever changed by the way.
                    let parent = named.iter().any(|id| {
                        old.iter().any(|child| child.id == **id && child.parent_id.as_ref() == Some(&node.id))
                    });
                    if parent { continue; }
                    prop_assert_eq!(now.map(without_place), Some(without_place(node)), "{:?}", edit);
                }
            }
            outline = edited.outline;
            roadmap = after;
        }
    }

    #[test]
    fn putting_every_change_back_gives_the_draft_before_and_none_the_new_one(
        operations in prop::collection::vec(any_operation(), 1..7),
        picked in any::<[prop::sample::Index; 3]>(),
    ) {
        let (old_outline, old_roadmap) = newsletter();
        let (mut outline, mut roadmap) = newsletter();
        for operation in operations {
            let edit = make_operation(operation, &roadmap);
            if let Ok(edited) = apply_edit(&outline, Some(&roadmap), &edit, &BTreeSet::new()) {
                outline = edited.outline;
                roadmap = edited.roadmap.unwrap();
            }
        }
        let (before, after) = (view(&old_outline, &old_roadmap), view(&outline, &roadmap));
        let diff = diff_drafts(&before, &after);
        let all: BTreeSet<TaskId> = diff.own_changes().map(|row| row.node.clone()).collect();
        let none = combine_drafts(&before, &after, &BTreeSet::new(), false).unwrap();
        if !all.is_empty() {
            prop_assert_eq!(&none.outline.nodes, &outline.nodes);
            prop_assert_eq!(&none.roadmap.as_ref().unwrap().dependencies, &roadmap.dependencies);
        }
        let back = combine_drafts(&before, &after, &all, false).unwrap();
        prop_assert_eq!(&back.outline.nodes, &old_outline.nodes);
        prop_assert_eq!(&back.roadmap.as_ref().unwrap().nodes, &old_roadmap.nodes);
        prop_assert_eq!(&back.roadmap.as_ref().unwrap().dependencies, &old_roadmap.dependencies);
        // Any choice of rows gives a tree in which every row has its group, or is refused.
        if !all.is_empty() {
            let list: Vec<&TaskId> = all.iter().collect();
            let some: BTreeSet<TaskId> =
                picked.iter().map(|index| (*index.get(&list)).clone()).collect();
            if let Ok(mixed) = combine_drafts(&before, &after, &some, false) {
                let nodes = &mixed.roadmap.as_ref().unwrap().nodes;
                let there: BTreeSet<&TaskId> = nodes.iter().map(|node| &node.id).collect();
                prop_assert_eq!(there.len(), nodes.len());
                for node in nodes {
                    prop_assert!(node.parent_id.as_ref().is_none_or(|parent| there.contains(parent)));
                }
                prop_assert!(some.is_subset(&mixed.put_back));
            }
        }
    }
}
