//! Change requests from the sentence to the next approval: what changes, what does not, and what is said about it.

use std::collections::BTreeMap;

use super::*;
use planwright_model::{NodeStatus, PlanNode};

fn asked(text: &str) -> Answer {
    Answer::with_text(A::RequestChanges, text)
}

fn drafted() -> Talk {
    Talk::about("launch a newsletter in 6 weeks", once())
}

/// The nodes of the draft by id, apart from their place among siblings.
fn nodes(talk: &Talk) -> BTreeMap<TaskId, PlanNode> {
    let roadmap = talk.state.planning.roadmap.as_deref().unwrap();
    let placed = |node: &PlanNode| (node.id.clone(), PlanNode { position: 0, ..node.clone() });
    roadmap.nodes.iter().map(placed).collect()
}

/// The first task of the plan.
fn first_task(talk: &Talk) -> PlanNode {
    let roadmap = talk.state.planning.roadmap.as_deref().unwrap();
    let leaves = roadmap.node_tree().leaves(&roadmap.root_id);
    leaves.into_iter().find(|leaf| !leaf.milestone).unwrap().clone()
}

fn blocks_of<'a>(
    talk: &'a Talk,
    id: &'a TaskId,
) -> impl Iterator<Item = &'a planwright_model::ScheduledBlock> {
    let schedule = talk.state.planning.schedule.as_deref().unwrap();
    schedule.blocks.iter().filter(move |block| block.plan_node_id == *id)
}

#[test]
fn a_request_changes_what_it_names_and_nothing_else() {
    for (text, touched) in [
        ("add a task to thank the readers at the end", 1),
        ("the first task takes 90 minutes", 1),
        ("rename the first task to Say who it is for", 1),
        ("the first task is done", 1),
        ("assign the first task to Anna", 1),
        ("finish two weeks later", 0),
        ("I am away next week", 0),
        ("Anna has 10 hours a week", 0),
        ("make it more joyful", 0),
    ] {
        let mut talk = drafted();
        let before = nodes(&talk);
        talk.answer(asked(text));
        let after = nodes(&talk);
        let ids: std::collections::BTreeSet<&TaskId> = before.keys().chain(after.keys()).collect();
        let changed: Vec<&&TaskId> =
            ids.iter().filter(|id| before.get(**id) != after.get(**id)).collect();
        assert_eq!(changed.len(), touched, "{text}: {changed:?}");
    }
}

#[test]
fn what_is_done_already_is_not_planned_and_counts_after_the_approval() {
    let mut talk = drafted();
    let first = first_task(&talk);
    talk.answer(asked("I already did the first task"));
    assert_eq!(nodes(&talk)[&first.id].status, NodeStatus::Done);
    assert_eq!(blocks_of(&talk, &first.id).count(), 0);
    assert!(talk.state.planning.open_changes.is_empty(), "{:?}", talk.state.planning.open_changes);
    talk.answer(A::ApproveAndStop);
    assert!(talk.state.is_runnable());
    let row = talk.state.tasks.row(talk.state.tasks.position(&first.id).unwrap());
    assert_eq!(row.status, planwright_state::TaskStatus::Done);
}

#[test]
fn words_undo_the_last_change() {
    let mut talk = drafted();
    let before = nodes(&talk);
    let first = first_task(&talk);
    talk.answer(asked("drop the last phase"));
    let dropped = nodes(&talk);
    assert!(dropped.len() < before.len());
    talk.answer(asked("undo that"));
    assert_eq!(nodes(&talk), before);
    // Joined with something else, the rest is applied to the draft from before.
    talk.answer(asked("drop the last phase"));
    talk.answer(asked("undo that, and the first task takes 95 minutes"));
    let after = nodes(&talk);
    assert_eq!(after.len(), before.len());
    assert_eq!(after[&first.id].estimate_minutes, Some(95));
    assert!(talk.state.planning.open_changes.is_empty(), "{:?}", talk.state.planning.open_changes);
}

#[test]
fn somebody_else_works_up_to_their_own_hours() {
    let mut talk = drafted();
    talk.answer(asked("assign the second phase to Anna"));
    let end = |talk: &Talk| {
        let schedule = talk.state.planning.schedule.as_deref().unwrap();
        schedule.blocks.iter().map(|block| block.end.at).max().unwrap()
    };
    let free = end(&talk);
    talk.answer(asked("Anna has 3 hours a week"));
    let roadmap = talk.state.planning.roadmap.clone().unwrap();
    let hers = |id: &TaskId| roadmap.find_node(id).and_then(PlanNode::other_owner).is_some();
    let schedule = talk.state.planning.schedule.clone().unwrap();
    let mut weeks: BTreeMap<String, u32> = BTreeMap::new();
    for block in schedule.blocks.iter().filter(|block| hers(&block.plan_node_id)) {
        let week = block.start.local_date().iso_week_date();
        let minutes = (block.end.at.as_second() - block.start.at.as_second()) / 60;
        *weeks.entry(format!("{}-{}", week.year(), week.week())).or_default() += minutes as u32;
    }
    assert!(!weeks.is_empty() && weeks.values().all(|minutes| *minutes <= 180), "{weeks:?}");
    assert!(end(&talk) > free, "her part takes more weeks");
}

#[test]
fn offline_a_plan_is_revised_as_often_as_wanted() {
    let mut talk = drafted();
    for round in 1..=12 {
        let minutes = 60 + 5 * round;
        talk.answer(asked(&format!("the first task takes {minutes} minutes")));
        assert_eq!(first_task(&talk).estimate_minutes, Some(minutes));
        assert!(
            matches!(talk.open().kind, RequestKind::FinalPlan { .. }),
            "{:?}",
            talk.open().kind
        );
    }
}

#[test]
fn only_what_changed_is_called_made_and_the_rest_says_why() {
    let mut talk = drafted();
    let minutes = first_task(&talk).estimate_minutes.unwrap();
    talk.answer(asked(&format!("the first task takes {minutes} minutes, and remove the rocket")));
    let open = &talk.state.planning.open_changes;
    assert_eq!(open.len(), 2, "{open:?}");
    assert!(open[0].contains("no change"), "{open:?}");
    assert!(open[1].contains("no task matches \"rocket\""), "{open:?}");
}

/// The titles of a draft that contain some words.
fn titles_with(talk: &Talk, words: &str) -> usize {
    nodes(talk).values().filter(|node| node.title.contains(words)).count()
}

#[test]
fn a_fact_of_the_goal_in_other_words_changes_the_tasks_that_name_it_and_keeps_edits() {
    let goal = "organize a team offsite in Lisbon in March for 12 people, budget 9k";
    let mut talk = Talk::about(goal, once());
    talk.answer(asked("rename the first task to Say what it is for"));
    let before = nodes(&talk);
    let named = titles_with(&talk, "Lisbon");
    assert!(named > 0);
    talk.answer(asked("it should be in Porto, not Lisbon"));
    assert_eq!((titles_with(&talk, "Lisbon"), titles_with(&talk, "Porto")), (0, named));
    assert_eq!(titles_with(&talk, "Say what it is for"), 1);
    assert!(talk.state.planning.goal.contains("in Porto in March for 12 people"));
    assert!(talk.state.planning.open_changes.is_empty(), "{:?}", talk.state.planning.open_changes);
    let broken: Vec<&String> =
        talk.state.planning.broken_facts().map(|found| &found.message).collect();
    assert!(broken.is_empty(), "{broken:?}");
    let after = nodes(&talk);
    let changed = before.iter().filter(|(id, node)| after.get(*id) != Some(node)).count();
    let mentions = |node: &&PlanNode| format!("{node:?}").contains("Lisbon");
    assert_eq!(changed, before.values().filter(mentions).count());

    let counted = titles_with(&talk, "12 people");
    assert!(counted > 0);
    talk.answer(asked("make it 15 people instead of 12"));
    assert_eq!((titles_with(&talk, "12 people"), titles_with(&talk, "15 people")), (0, counted));
    talk.answer(asked("undo that"));
    assert_eq!(titles_with(&talk, "12 people"), counted);
    assert!(talk.state.planning.goal.contains("for 12 people"), "{}", talk.state.planning.goal);
}

#[test]
fn two_facts_of_the_goal_in_one_sentence_both_hold_and_limits_stay() {
    let goal = "organize a team offsite in Lisbon in March for 12 people, budget 9k";
    let mut talk = Talk::about(goal, once());
    talk.answer(asked("at most 2 hours a day"));
    talk.answer(asked("make it 15 people and move it to Porto"));
    let planning = &talk.state.planning;
    assert!(planning.goal.contains("in Porto in March for 15 people"), "{}", planning.goal);
    assert!(planning.open_changes.is_empty(), "{:?}", planning.open_changes);
    assert_eq!((titles_with(&talk, "12 people"), titles_with(&talk, "Lisbon")), (0, 0));
    let limits = &planning.outline.as_deref().unwrap().plan_context.constraints;
    assert_eq!(limits.max_daily_minutes, 120);
}
