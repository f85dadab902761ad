//! G401 to G410.

use super::fixture::*;
use crate::grammar::Stage::Schedule;
use crate::grammar::fix_violation;
use crate::grammar::validation_outcome;
use crate::grammar::{PlanArtifacts, ValidationOutcome, is_infeasible, validate_schedule};
use planwright_model::{
    FixedEvent, Recurrence, RecurrenceByDay, RecurrenceFrequency, ScheduledBlock, UnplacedWork,
    WeekCapacity, Weekday,
};

fn blocks(plan: &mut PlanArtifacts) -> &mut Vec<ScheduledBlock> {
    &mut plan.schedule.as_mut().unwrap().blocks
}

fn starts(plan: &mut PlanArtifacts, id: &str) -> Vec<String> {
    let of = blocks(plan).iter().filter(|block| block.plan_node_id.as_str() == id);
    of.map(|block| block.start.to_string()).collect()
}

#[test]
fn the_fixture_breaks_no_rule_of_a_schedule() {
    assert_eq!(validate_schedule(&scheduled()), []);
}

#[test]
fn g401_is_infeasible_unless_the_delay_is_accepted() {
    let mut plan = scheduled();
    plan.outline.plan_context.constraints.deadline = Some(moment("2026-06-01T11:30:00+02:00"));
    plan.outline.plan_context.strategy_profile.buffer_ratio = 0.0;
    let violation = first_violation(Schedule, &plan, "G401");
    assert_eq!(violation.message, "The plan ends 1 h 30 min after the deadline.");
    assert!(is_infeasible(&violation));
    assert_eq!(
        validation_outcome(Schedule, &validate_schedule(&plan)),
        ValidationOutcome::Infeasible
    );
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
    plan.surroundings.accepted_late = true;
    assert_eq!(validate_schedule(&plan), []);
}

#[test]
fn g402_reports_unplaced_work() {
    let mut plan = scheduled();
    blocks(&mut plan).pop();
    plan.schedule
        .as_mut()
        .unwrap()
        .unplaced
        .push(UnplacedWork { plan_node_id: "p2.t2".into(), minutes: 60 });
    assert_eq!(rules(&validate_schedule(&plan)), ["G402"]);
    assert_eq!(
        first_violation(Schedule, &plan, "G402").message,
        "1 h of \"Title p2.t2\" fits nowhere before the end."
    );
}

#[test]
fn g403_moves_a_task_after_its_predecessor() {
    let mut plan = scheduled();
    blocks(&mut plan)[0] = block("p1.t1", "2026-06-01T13:00:00+02:00", 60);
    plan.schedule.as_mut().unwrap().sort_blocks();
    let violation = first_violation(Schedule, &plan, "G403");
    assert_eq!(violation.message, "\"Title p1.t2\" can't start before \"Title p1.t1\" is done.");
    fix_violation(&mut plan, &violation, now()).unwrap();
    assert_eq!(starts(&mut plan, "p1.t2"), ["2026-06-01T14:00:00+02:00"]);
    // Moving one phase uncovers that the next is too early; a second round moves it to the next day.
    crate::grammar::repair_stage(&mut plan, Schedule, now());
    assert_eq!(validate_schedule(&plan), []);
}

#[test]
fn g403_includes_milestones_between_tasks() {
    let mut plan = scheduled();
    let roadmap = plan.roadmap.as_mut().unwrap();
    let milestone = roadmap.nodes.iter().find(|node| node.id.as_str() == "done").unwrap().clone();
    roadmap.nodes.push(planwright_model::PlanNode { id: "gate".into(), position: 9, ..milestone });
    roadmap.dependencies.retain(|link| link.to.as_str() != "p2");
    roadmap.dependencies.extend([link("p1", "gate"), link("gate", "p2").with_lag(30)]);
    assert_eq!(first_violation(Schedule, &plan, "G403").node_ids, ["gate".into(), "p2".into()]);
}

#[test]
fn g404_moves_the_unlocked_block_to_the_next_gap() {
    let mut plan = scheduled();
    plan.surroundings.fixed_events.push(FixedEvent {
        title: "Dentist".to_owned(),
        start: moment("2026-06-01T12:30:00+02:00"),
        end: moment("2026-06-01T14:00:00+02:00"),
    });
    let violation = first_violation(Schedule, &plan, "G404");
    assert_eq!(violation.message, "\"Title p2.t2\" collides with \"Dentist\" at 2026-06-01 12:30.");
    fix_first(Schedule, &mut plan, "G404");
    assert_eq!(
        starts(&mut plan, "p2.t2"),
        ["2026-06-01T12:00:00+02:00", "2026-06-01T14:00:00+02:00"]
    );
    assert_eq!(validate_schedule(&plan), []);
}

#[test]
fn g404_never_moves_a_locked_block() {
    let mut plan = scheduled();
    blocks(&mut plan)[3] = block("p2.t2", "2026-06-01T11:30:00+02:00", 60);
    blocks(&mut plan)[3].locked = true;
    assert_eq!(first_violation(Schedule, &plan, "G404").node_ids[0].as_str(), "p2.t1");
    blocks(&mut plan)[2].locked = true;
    let violation = first_violation(Schedule, &plan, "G404");
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
}

#[test]
fn g405_moves_blocks_into_working_hours_and_below_the_caps() {
    let mut plan = scheduled();
    blocks(&mut plan)[3] = block("p2.t2", "2026-06-01T18:00:00+02:00", 60);
    assert_eq!(
        first_violation(Schedule, &plan, "G405").message,
        "\"Title p2.t2\" is placed outside your hours."
    );
    fix_first(Schedule, &mut plan, "G405");
    assert_eq!(starts(&mut plan, "p2.t2"), ["2026-06-02T09:00:00+02:00"]);

    let mut plan = scheduled();
    plan.outline.plan_context.constraints.max_daily_minutes = 180;
    fix_first(Schedule, &mut plan, "G405");
    assert_eq!(starts(&mut plan, "p2.t2"), ["2026-06-02T09:00:00+02:00"]);
}

#[test]
fn g406_recomputes_times_from_local_time_and_zone() {
    let mut plan = scheduled();
    blocks(&mut plan)[0] = block("p1.t1", "2026-06-01T09:00:00+01:00", 60);
    assert_eq!(
        first_violation(Schedule, &plan, "G406").message,
        "The times of \"Title p1.t1\" are not valid."
    );
    fix_first(Schedule, &mut plan, "G406");
    assert_eq!(starts(&mut plan, "p1.t1"), ["2026-06-01T09:00:00+02:00"]);

    blocks(&mut plan)[1].tz = "Mars/Olympus".to_owned();
    blocks(&mut plan)[1].end = blocks(&mut plan)[1].start;
    fix_first(Schedule, &mut plan, "G406");
    assert_eq!(validate_schedule(&plan), []);
    plan.schedule.as_mut().unwrap().tz = "Nowhere".to_owned();
    fix_first(Schedule, &mut plan, "G406");
}

#[test]
fn g407_splits_a_leaf_again() {
    let mut plan = scheduled();
    blocks(&mut plan)[3] = block("p2.t2", "2026-06-01T12:00:00+02:00", 40);
    assert_eq!(
        first_violation(Schedule, &plan, "G407").message,
        "Only 40 min of 1 h of \"Title p2.t2\" has a time."
    );
    fix_first(Schedule, &mut plan, "G407");
    assert_eq!(validate_schedule(&plan), []);
    blocks(&mut plan).push(block("ghost", "2026-06-02T12:00:00+02:00", 40));
    fix_first(Schedule, &mut plan, "G407");
    assert_eq!(validate_schedule(&plan), []);
}

/// A weekly cycle on Fridays at nine across the change to daylight saving time, with its first occurrence in place.
fn weekly() -> PlanArtifacts {
    let mut plan = routine();
    plan.outline.plan_context.constraints.start = jiff::civil::date(2026, 3, 23);
    plan.outline.plan_context.constraints.horizon_weeks = Some(2);
    let mut rule = Recurrence::every(RecurrenceFrequency::Weekly);
    rule.by_day = vec![RecurrenceByDay::Weekday(Weekday::Fri)];
    rule.at_local = Some(jiff::civil::time(9, 0, 0, 0));
    node(&mut plan, "c").recurrence = Some(rule);
    let mut plan = with_roadmap(plan);
    let mut schedule = planwright_model::Schedule::new(
        "Europe/Berlin",
        moment("2026-03-23T00:00:00+01:00"),
        moment("2026-04-06T00:00:00+02:00"),
    );
    let mut first = block("c.t", "2026-03-27T09:00:00+01:00", 60);
    first.occurrence = Some(1);
    schedule.blocks.push(first);
    plan.schedule = Some(schedule);
    plan
}

#[test]
fn g408_adds_a_missing_occurrence_at_the_same_local_time() {
    let mut plan = weekly();
    assert_eq!(
        first_violation(Schedule, &plan, "G408").message,
        "\"Title c\" does not repeat at 2026-04-03."
    );
    fix_first(Schedule, &mut plan, "G408");
    assert_eq!(
        starts(&mut plan, "c.t"),
        ["2026-03-27T09:00:00+01:00", "2026-04-03T09:00:00+02:00"]
    );
    assert_eq!(validate_schedule(&plan), []);
}

#[test]
fn g408_detects_a_drift_across_a_clock_change() {
    let mut plan = weekly();
    let mut drifted = block("c.t", "2026-04-03T10:00:00+02:00", 60);
    drifted.occurrence = Some(2);
    blocks(&mut plan).push(drifted);
    assert_eq!(
        first_violation(Schedule, &plan, "G408").message,
        "\"Title c\" does not repeat at 09:00."
    );
    let rule = road_node(&mut plan, "c").recurrence.as_mut().unwrap();
    rule.at_local = None;
    assert_eq!(
        first_violation(Schedule, &plan, "G408").message,
        "\"Title c\" does not repeat at 09:00."
    );
    fix_first(Schedule, &mut plan, "G408");
    assert_eq!(starts(&mut plan, "c.t")[1], "2026-04-03T09:00:00+02:00");
}

#[test]
fn g408_allows_an_occurrence_to_move_for_a_fixed_event() {
    let mut plan = weekly();
    let mut later = block("c.t", "2026-04-03T10:00:00+02:00", 60);
    later.occurrence = Some(2);
    blocks(&mut plan).push(later);
    let event = FixedEvent {
        title: "Dentist".into(),
        start: moment("2026-04-03T09:30:00+02:00"),
        end: moment("2026-04-03T10:00:00+02:00"),
    };
    plan.surroundings.fixed_events.push(event);
    assert!(!rules(&validate_schedule(&plan)).contains(&"G408"));
}

#[test]
fn g409_shifts_the_latest_optional_task() {
    let mut plan = scheduled();
    let week = "2026-W23".parse().unwrap();
    let schedule = plan.schedule.as_mut().unwrap();
    schedule.capacity.push(WeekCapacity::new(week, 280, 240, 0));
    road_node(&mut plan, "p2.t2").optional = true;
    assert_eq!(first_violation(Schedule, &plan, "G409").message, "Week of Mon 1 Jun is 86 % full.");
    let entry = fix_first(Schedule, &mut plan, "G409");
    assert_eq!(entry.reason, "G409: moved out of the week of Mon 1 Jun");
    assert_eq!(starts(&mut plan, "p2.t2"), ["2026-06-08T09:00:00+02:00"]);
}

#[test]
fn g409_requires_slack_before_the_deadline() {
    let mut plan = scheduled();
    plan.outline.plan_context.constraints.deadline = Some(moment("2026-06-01T13:10:00+02:00"));
    assert_eq!(rules(&validate_schedule(&plan)), ["G409"]);
}

#[test]
fn g410_detects_other_plans() {
    let mut plan = scheduled();
    let mut other = block("x", "2026-06-01T09:30:00+02:00", 60);
    other.title = "Garden".to_owned();
    plan.surroundings.other_blocks.push(other);
    assert_eq!(first_violation(Schedule, &plan, "G410").message, "Clashes with \"Garden\".");
    let mut moved = plan.clone();
    moved.surroundings.other_blocks[0] = block("x", "2026-06-01T12:30:00+02:00", 60);
    fix_first(Schedule, &mut moved, "G410");
    assert_eq!(validate_schedule(&moved), []);
    plan.surroundings.other_blocks[0].locked = true;
    assert!(rules(&validate_schedule(&plan)).contains(&"G404"));
}

fn date_node(plan: &mut PlanArtifacts, id: &str, change: impl Fn(&mut planwright_model::PlanNode)) {
    change(road_node(plan, id));
}

#[test]
fn g411_reports_a_fixed_date_that_is_not_kept() {
    let mut plan = scheduled();
    date_node(&mut plan, "p2.t2", |node| node.fixed_start = Some("2026-06-01".parse().unwrap()));
    assert_eq!(validate_schedule(&plan), []);
    date_node(&mut plan, "p2.t2", |node| {
        node.fixed_start = Some("2026-06-01T15:00".parse().unwrap());
    });
    let violation = first_violation(Schedule, &plan, "G411");
    assert_eq!(
        violation.message,
        "\"Title p2.t2\" starts Mon 1 Jun 15:00, but is planned for Mon 1 Jun 12:00."
    );
    assert_eq!(fix_violation(&mut plan, &violation, now()), None);
}

#[test]
fn g412_reports_work_that_is_too_early_or_too_late() {
    let mut plan = scheduled();
    date_node(&mut plan, "p2.t1", |node| node.due = Some("2026-06-01T12:00".parse().unwrap()));
    assert_eq!(validate_schedule(&plan), []);
    date_node(&mut plan, "p2.t1", |node| node.due = Some("2026-05-31".parse().unwrap()));
    let violation = first_violation(Schedule, &plan, "G412");
    assert_eq!(
        violation.message,
        "\"Title p2.t1\" is planned for Mon 1 Jun 12:00, but is due Sun 31 May."
    );
    date_node(&mut plan, "p2.t1", |node| {
        (node.due, node.not_before) = (None, Some("2026-06-02".parse().unwrap()));
    });
    assert_eq!(rules(&validate_schedule(&plan)), ["G412"]);
}

#[test]
fn two_people_may_work_at_the_same_time_and_one_may_not() {
    let mut plan = scheduled();
    let other = blocks(&mut plan)[1].clone();
    let index = blocks(&mut plan).iter().position(|block| block.plan_node_id.as_str() == "p2.t2");
    let block = &mut blocks(&mut plan)[index.unwrap()];
    (block.start, block.end) = (other.start, other.end);
    let collides = |plan: &PlanArtifacts| rules(&validate_schedule(plan)).contains(&"G404");
    assert!(collides(&plan));
    date_node(&mut plan, "p2.t2", |node| node.owner = "Anna".into());
    assert!(!collides(&plan));
    date_node(&mut plan, "p1.t2", |node| node.owner = "Anna".into());
    assert!(collides(&plan));
}
