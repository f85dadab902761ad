//! Operations on a draft in a conversation: dates follow, everything can be undone, changes can be put back one by one.

use super::*;
use planwright_model::{DateField, NodeFields, PlanOutline, Roadmap, Schedule};
use planwright_plan::diff::DraftChangeKind;
use planwright_plan::graph;
use planwright_state::node_history;

fn single_final() -> PolicyOverride {
    with(ApprovalPolicy::SingleFinal, Autonomy::Medium)
}

fn newsletter() -> Talk {
    Talk::about("launch a newsletter in 6 weeks", single_final())
}

fn change(talk: &mut Talk, edits: Vec<PlanEdit>) -> Vec<String> {
    talk.command(&Command::Edit { edits })
}

fn title(talk: &Talk, id: &str) -> Option<String> {
    let roadmap = talk.state.planning.roadmap.as_deref().unwrap();
    roadmap.find_node(&id.into()).map(|node| node.title.clone())
}

fn rename(id: &str, title: &str) -> PlanEdit {
    PlanEdit::Rename { node: id.into(), title: title.into() }
}

/// What a person sees of a draft: nodes, links and dates.
fn content(talk: &Talk) -> (PlanOutline, Roadmap, Schedule) {
    let planning = &talk.state.planning;
    let mut outline = planning.outline.as_deref().unwrap().clone();
    outline.version = 0;
    let (roadmap, schedule) = (planning.roadmap.as_deref(), planning.schedule.as_deref());
    (outline, roadmap.unwrap().clone(), schedule.unwrap().clone())
}

#[test]
fn one_command_makes_several_operations_and_one_step() {
    let mut talk = newsletter();
    let before = content(&talk);
    let kinds = change(
        &mut talk,
        vec![
            rename("p1.t1", "Say who it is for"),
            PlanEdit::Assign { node: "p1.t2".into(), owner: "Anna".into() },
            PlanEdit::Lock { node: "p1.t1".into() },
        ],
    );
    assert!(kinds.contains(&"planning.revised".to_owned()), "{kinds:?}");
    assert_eq!(title(&talk, "p1.t1").as_deref(), Some("Say who it is for"));
    assert!(talk.state.planning.locked.contains("p1.t1"));
    assert_eq!(talk.state.planning.undo.len(), 1);
    talk.command(&Command::Undo);
    assert_eq!(content(&talk).0.nodes, before.0.nodes);
    assert!(talk.state.planning.locked.is_empty());
    talk.command(&Command::Redo);
    assert!(talk.state.planning.locked.contains("p1.t1"));
    let refused = change(&mut talk, vec![rename("p1.t2", "x"), rename("p1.t1", "y")]);
    assert_eq!(refused, ["approval.refused"]);
    assert_ne!(title(&talk, "p1.t2").as_deref(), Some("x"), "all or none");
}

#[test]
fn locks_and_comments_are_undone_without_asking_again() {
    let mut talk = newsletter();
    let asked = talk.open().id;
    talk.command(&Command::Comment { node: "p2.t1".into(), text: "say how long it is".into() });
    talk.command(&Command::Lock { node: "p2.t1".into(), on: true });
    assert_eq!(talk.open().id, asked);
    assert_eq!(talk.state.planning.comments.len(), 1);
    talk.command(&Command::Undo);
    assert!(talk.state.planning.locked.is_empty());
    talk.command(&Command::Undo);
    assert!(talk.state.planning.comments.is_empty());
    assert_eq!(talk.open().id, asked, "the plan is the same, and so is the question");
    talk.command(&Command::Redo);
    assert_eq!(talk.state.planning.comments[0].text, "say how long it is");
}

#[test]
fn the_history_of_a_node_tells_who_changed_what() {
    let mut talk = newsletter();
    change(&mut talk, vec![rename("p1.t1", "Say who it is for")]);
    talk.command(&Command::Comment { node: "p1.t1".into(), text: "really?".into() });
    talk.command(&Command::Undo);
    talk.command(&Command::Undo);
    let node = TaskId::from("p1.t1");
    let told: Vec<String> =
        node_history(&talk.state, &node).map(|entry| entry.what.clone()).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].starts_with("renamed"), "{told:?}");
    assert_eq!(told[1], "comment: \"really?\"");
    assert!(told[2].starts_with("undone: commented") && told[3].starts_with("undone: renamed"));
}

#[test]
fn a_draft_is_compared_with_the_one_the_person_saw_before() {
    let mut talk = newsletter();
    assert!(talk.state.planning.draft_diff().is_none(), "the first draft has nothing before it");
    let roadmap = talk.state.planning.roadmap.as_deref().unwrap();
    let hours = roadmap.find_node(&"p2.t1".into()).unwrap().work_minutes() / 60 + 8;
    let words = format!("rename p1.t1 to Say who it is for; p2.t1 takes {hours} hours");
    talk.answer(Answer::with_text(A::RequestChanges, words));
    let planning = &talk.state.planning;
    assert_eq!(planning.draft_number, 2);
    let diff = planning.draft_diff().unwrap();
    let kind = |id: &str| diff.row(&id.into()).map(|row| row.kind);
    assert_eq!(kind("p1.t1"), Some(DraftChangeKind::Changed));
    assert_eq!(kind("p2.t1"), Some(DraftChangeKind::Changed));
    assert!(diff.counts().moved > 0, "what comes after eight hours more moves");
    assert!(diff.total_minutes.new > diff.total_minutes.old);
    assert!(diff.plan_end.is_changed());
    talk.command(&Command::Undo);
    assert_eq!(talk.state.planning.draft_number, 1);
    assert!(talk.state.planning.draft_diff().is_none());
}

#[test]
fn a_change_is_put_back_taken_again_and_the_rest_is_dated_at_once() {
    let mut talk = newsletter();
    let before = content(&talk);
    talk.answer(Answer::with_text(
        A::RequestChanges,
        "rename p1.t1 to Say who it is for; p2.t1 takes 8 hours; remove p2.t2",
    ));
    let (after, hash) = (content(&talk), talk.state.plan.current.clone().unwrap().hash.clone());
    talk.command(&Command::PutBackChange { node: "p2.t1".into() });
    assert_eq!(talk.state.planning.put_back, [TaskId::from("p2.t1")].into());
    assert_eq!(title(&talk, "p1.t1").as_deref(), Some("Say who it is for"));
    assert_ne!(content(&talk).2.blocks, after.2.blocks, "the dates follow");
    let shown = talk.state.plan.current.clone().unwrap();
    assert_ne!(shown.hash, hash, "what is shown is what is approved");
    assert!(
        matches!(&talk.open().kind, RequestKind::FinalPlan { hash, .. } if *hash == shown.hash)
    );
    talk.command(&Command::KeepChange { node: "p2.t1".into() });
    assert_eq!(content(&talk).1.nodes, after.1.nodes);
    assert_eq!(talk.state.plan.current.clone().unwrap().hash, hash);
    talk.command(&Command::Undo);
    assert_eq!(talk.state.planning.put_back.len(), 1);
    let open: Vec<TaskId> = talk
        .state
        .planning
        .draft_diff()
        .unwrap()
        .own_changes()
        .filter(|row| row.kind != DraftChangeKind::Moved)
        .map(|row| row.node.clone())
        .collect();
    for node in open {
        talk.command(&Command::PutBackChange { node });
    }
    let back = content(&talk);
    assert_eq!((back.0.nodes, back.1.nodes), (before.0.nodes, before.1.nodes));
    assert_eq!(back.1.dependencies, before.1.dependencies);
    let refused = talk.command(&Command::PutBackChange { node: "p3.t1".into() });
    assert_eq!(refused, ["approval.refused"]);
}

#[test]
fn a_row_that_only_moved_is_put_back_to_its_day_and_taken_again() {
    let first_day = |talk: &Talk, id: &TaskId| {
        let schedule = talk.state.planning.schedule.as_deref().unwrap();
        schedule.blocks_for_node(id).map(|block| block.start.local_date()).min()
    };
    let mut talk = newsletter();
    let roadmap = talk.state.planning.roadmap.as_deref().unwrap();
    let hours = roadmap.find_node(&"p2.t1".into()).unwrap().work_minutes() / 60 + 8;
    let before = talk.state.clone();
    talk.answer(Answer::with_text(A::RequestChanges, format!("p2.t1 takes {hours} hours")));
    let diff = talk.state.planning.draft_diff().unwrap();
    let moved = diff.own_changes().filter(|row| row.kind == DraftChangeKind::Moved);
    let last = moved.last().unwrap().node.clone();
    let old = before.planning.schedule.as_deref().unwrap();
    let day = old.blocks_for_node(&last).map(|block| block.start.local_date()).min();
    let later = first_day(&talk, &last);
    assert_ne!(later, day, "more work before it moves it");
    talk.command(&Command::PutBackChange { node: last.clone() });
    assert_eq!(talk.state.planning.put_back, [last.clone()].into());
    assert_eq!(first_day(&talk, &last), day, "it is where it was, and the rest is dated around it");
    talk.command(&Command::KeepChange { node: last.clone() });
    assert!(talk.state.planning.put_back.is_empty());
    assert_eq!(first_day(&talk, &last), later);
}

#[test]
fn an_edit_beside_a_change_that_was_put_back_keeps_both() {
    let mut talk = newsletter();
    talk.answer(Answer::with_text(A::RequestChanges, "rename p1.t1 to Say who it is for"));
    talk.command(&Command::PutBackChange { node: "p1.t1".into() });
    change(&mut talk, vec![rename("p2.t1", "One issue")]);
    assert_eq!(talk.state.planning.put_back.len(), 1);
    talk.command(&Command::KeepChange { node: "p1.t1".into() });
    assert_eq!(title(&talk, "p1.t1").as_deref(), Some("Say who it is for"));
    assert_eq!(title(&talk, "p2.t1").as_deref(), Some("One issue"));
}

#[test]
fn words_become_operations_in_the_journal() {
    let mut talk = newsletter();
    let id = talk.open().id;
    let answer = Answer::with_text(A::RequestChanges, "rename p1.t1 to Say who it is for");
    let decision = decide_command(
        &talk.state,
        &Command::Answer { id, answer, by: Actor::Person },
        3,
        talk.now,
    );
    decision.events.into_iter().for_each(|event| talk.say(event));
    let work = talk.planner.run_stage(&talk.state.planning, talk.now);
    let read = work.events.iter().find_map(|event| match event {
        Event::Planning(PlanningEvent::RequestRead { edits, .. }) => Some(edits.clone()),
        _ => None,
    });
    assert_eq!(read, Some(vec![rename("p1.t1", "Say who it is for")]));
}

#[test]
fn dates_and_owners_set_by_hand_reach_the_schedule_and_the_plan() {
    let mut talk = newsletter();
    let fixed = "2026-06-24T10:00".parse().unwrap();
    change(
        &mut talk,
        vec![
            PlanEdit::SetDate {
                node: "p2.t1".into(),
                field: DateField::NotBefore,
                date: Some("2026-06-24".parse().unwrap()),
            },
            PlanEdit::Change {
                node: "p2.t2".into(),
                fields: NodeFields { owner: Some("Anna".into()), ..NodeFields::default() },
            },
        ],
    );
    let schedule = talk.state.planning.schedule.clone().unwrap();
    let first = schedule.blocks_for_node(&"p2.t1".into()).map(|block| block.start).min().unwrap();
    assert!(first.local_date() >= date(2026, 6, 24), "{first}");
    let plan = talk.state.plan.current.clone().unwrap().plan.clone();
    let task = plan.tasks.iter().find(|task| task.id.as_str() == "p2.t2").unwrap();
    assert_eq!(task.other_owner(), Some("Anna"));
    change(
        &mut talk,
        vec![
            PlanEdit::ClearDates { node: "p2.t1".into() },
            PlanEdit::SetDate {
                node: "p2.t1".into(),
                field: DateField::FixedStart,
                date: Some(fixed),
            },
        ],
    );
    let schedule = talk.state.planning.schedule.clone().unwrap();
    let first = schedule.blocks_for_node(&"p2.t1".into()).map(|block| block.start).min().unwrap();
    assert_eq!(first, "2026-06-24T10:00:00+02:00".parse().unwrap());
}

#[test]
fn a_plan_edited_as_a_file_changes_the_draft_and_round_trips() {
    use planwright_plan::check::check_plan_text;
    use planwright_plan::plan_file::{PlanFileFormat, parse_plan_file, write_toml};
    let mut talk = newsletter();
    let current = talk.state.plan.current.clone().unwrap();
    let text = write_toml(&current.plan);
    assert!(text.contains("duration = \"0m\""), "the plan has a milestone");
    let report = check_plan_text(&text, PlanFileFormat::Toml, "plan.toml", |_| true);
    assert!(report.valid, "{:?}", report.violations);
    let read = parse_plan_file(&text, PlanFileFormat::Toml, "plan.toml").unwrap().plan;
    assert_eq!(read, *current.plan, "what was written is read back");
    let revise = |talk: &mut Talk, plan: planwright_model::Plan| {
        let facts = graph::resolve_graph(&plan.tasks, |_| true).unwrap().to_facts(&plan.tasks);
        let (plan, facts) = (plan.into(), facts.into());
        talk.command(&Command::Revise { plan, facts, normalization: Vec::new() })
    };
    let mut edited = read.clone();
    let task = |plan: &mut planwright_model::Plan, id: &str| {
        plan.tasks.iter().position(|task| task.id.as_str() == id).unwrap()
    };
    let first = task(&mut edited, "p1.t1");
    edited.tasks[first].description = "Say who it is for".into();
    edited.tasks[first].owner = "Anna".into();
    edited.tasks[first].why = "everything else follows from it".into();
    let kinds = revise(&mut talk, edited.clone());
    assert!(kinds.contains(&"planning.revised".to_owned()), "{kinds:?}");
    assert_eq!(title(&talk, "p1.t1").as_deref(), Some("Say who it is for"));
    let now = talk.state.plan.current.clone().unwrap();
    let position = task(&mut edited, "p1.t1");
    assert_eq!(now.plan.tasks[position].owner, "Anna");
    assert_eq!(now.plan.tasks[position].why, "everything else follows from it");
    // What a draft does not keep is refused by name, not lost.
    let mut other = (*now.plan).clone();
    other.tasks[position].priority = 3;
    assert_eq!(revise(&mut talk, other), ["approval.refused"]);
}

#[test]
fn undoing_an_edit_that_broke_an_active_plan_needs_no_second_approval() {
    let date = |field, date: &str| PlanEdit::SetDate {
        node: "p2.t1".into(),
        field,
        date: Some(date.parse().unwrap()),
    };
    for edit in [
        PlanEdit::SetEstimate { node: "p1.t2".into(), minutes: 6000 },
        date(DateField::FixedStart, "2026-05-01T10:00"),
        date(DateField::Due, "2026-06-09"),
    ] {
        let mut talk = newsletter();
        talk.answer(A::ApproveAndRun);
        let approved = talk.state.plan.current.clone().unwrap();
        change(&mut talk, vec![edit.clone()]);
        let asked = talk.open().kind.clone();
        assert!(
            matches!(asked, RequestKind::Validation { .. } | RequestKind::Escalation),
            "{edit:?}: {asked:?}"
        );
        talk.command(&Command::Undo);
        assert!(talk.state.requests.open.is_empty(), "{edit:?}: {:?}", talk.state.requests.open);
        assert_eq!(talk.place().state, planwright_model::PlanState::Complete, "{edit:?}");
        assert_eq!(talk.state.plan.current.clone().unwrap(), approved);
        assert!(talk.state.is_runnable());
    }
}
