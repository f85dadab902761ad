//! Moving blocks of a schedule that was drafted offline.

use planwright_drafting::goal_plan::{GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::*;
use planwright_schedule::*;

fn moment(text: &str) -> OffsetDateTime {
    text.parse().unwrap()
}

fn plan() -> (PlanContext, Roadmap, Schedule) {
    let library = TemplateLibrary::fixture();
    let request = GoalRequest {
        goal: "launch a newsletter in 6 weeks",
        today: jiff::civil::date(2026, 6, 8),
        time_zone: "Europe/Berlin",
        now: "2026-06-08T06:00:00Z".parse().unwrap(),
        library: &library,
        events: &[],
    };
    let plan = plan_goal(&request).unwrap().artifacts;
    (plan.context().clone(), plan.roadmap.unwrap(), plan.schedule.unwrap())
}

#[test]
fn a_moved_block_stays_and_its_dependents_follow() {
    let (context, roadmap, schedule) = plan();
    let first = schedule.blocks[0].clone();
    let later = schedule.blocks[2].start;
    let everybody: Vec<TaskId> = schedule
        .blocks
        .iter()
        .map(|block| block.plan_node_id.clone())
        .filter(|node| *node != first.plan_node_id)
        .collect();
    let request = BlockMoveRequest {
        schedule: &schedule,
        roadmap: &roadmap,
        context: &context,
        block: &first.id,
        to: later.at,
        now: first.start.at,
        settled: &|_| false,
        waits_for: &|task| {
            if *task == first.plan_node_id { everybody.clone() } else { Vec::new() }
        },
        starts_after: &|_| Vec::new(),
    };
    let moved = move_block(&request).unwrap();
    let block = moved.schedule.blocks.iter().find(|block| block.id == first.id).unwrap();
    assert_eq!(block.start, later);
    assert!(block.locked && moved.displaced > 0);
    for (index, one) in moved.schedule.blocks.iter().enumerate() {
        for other in &moved.schedule.blocks[index + 1..] {
            assert!(!one.overlaps(other), "{} and {}", one.id, other.id);
        }
        assert!(one.id == first.id || !one.locked, "{} was not locked", one.id);
    }
}

#[test]
fn a_move_to_a_free_hour_changes_nothing_else() {
    let (context, roadmap, schedule) = plan();
    let last = schedule.blocks.last().unwrap().clone();
    let to = last.end.plus_minutes(24 * 60);
    let request = BlockMoveRequest {
        schedule: &schedule,
        roadmap: &roadmap,
        context: &context,
        block: &last.id,
        to: to.at,
        now: moment("2026-06-08T06:00:00Z").at,
        settled: &|_| false,
        waits_for: &|_| Vec::new(),
        starts_after: &|_| Vec::new(),
    };
    let moved = move_block(&request).unwrap();
    assert_eq!(moved.displaced, 0);
    assert_eq!(moved.schedule.blocks.len(), schedule.blocks.len());
    assert_eq!(moved.schedule.finish_time(), Some(to.plus_minutes(last.estimated_minutes.into())));
    let past = BlockMoveRequest { to: last.start.at, now: to.at, ..request };
    assert!(move_block(&past).unwrap_err().contains("over"));
    let settled = BlockMoveRequest { settled: &|_| true, ..request };
    assert!(move_block(&settled).unwrap_err().contains("settled"));
}

#[test]
fn a_block_is_not_moved_before_the_end_of_what_comes_first() {
    let (context, roadmap, schedule) = plan();
    let (first, last) = (&schedule.blocks[0], schedule.blocks.last().unwrap());
    let request = BlockMoveRequest {
        schedule: &schedule,
        roadmap: &roadmap,
        context: &context,
        block: &last.id,
        to: first.start.at,
        now: first.start.at,
        settled: &|_| false,
        waits_for: &|_| Vec::new(),
        starts_after: &|_| vec![first.plan_node_id.clone()],
    };
    let why = move_block(&request).unwrap_err();
    let end = schedule.blocks_for_node(&first.plan_node_id).map(|block| block.end).max().unwrap();
    let said = format!(
        "\"{}\" comes first and is planned until {}",
        first.title,
        end.at
            .to_zoned(jiff::tz::TimeZone::get("Europe/Berlin").unwrap())
            .strftime("%a %-d %b %H:%M")
    );
    assert!(why.starts_with(&said), "{why} instead of {said}");
    let done = |block: &ScheduledBlock| block.plan_node_id == first.plan_node_id;
    assert!(move_block(&BlockMoveRequest { settled: &done, ..request }).is_ok());
    assert!(move_block(&BlockMoveRequest { to: end.at, ..request }).is_ok());
}
