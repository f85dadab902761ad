//! Work is spread over the week, at preferred times, and never on days off.

use std::collections::BTreeMap;

use super::*;
use planwright_model::{
    LocalTimeInterval, PreferredTime, Recurrence, RecurrenceFrequency, Weekday, WeeklyHours,
};

fn run(roadmap: &Roadmap, context: &PlanContext) -> Schedule {
    schedule_roadmap(&ScheduleRequest::new(roadmap, context)).unwrap()
}

/// The minutes of each day.
fn days(schedule: &Schedule) -> Vec<(String, u32)> {
    let mut days: BTreeMap<String, u32> = BTreeMap::new();
    for (_, at, minutes) in local(schedule) {
        *days.entry(at[..5].to_owned()).or_default() += minutes;
    }
    days.into_iter().collect()
}

fn expect_days(schedule: &Schedule, expected: &[(&str, u32)]) {
    let expected: Vec<_> = expected.iter().map(|(day, sum)| ((*day).to_owned(), *sum)).collect();
    assert_eq!(days(schedule), expected, "{:#?}", local(schedule));
}

fn hours(from: i8, to: i8) -> Vec<LocalTimeInterval> {
    let at = |hour| jiff::civil::time(hour, 0, 0, 0);
    vec![LocalTimeInterval::new(at(from), at(to))]
}

/// Evenings from 19 to 21 and Saturday from 10 to 13.
fn evenings_and_saturday() -> WeeklyHours {
    let evening = |day: &Weekday| (*day, hours(19, 21));
    let mut week: WeeklyHours = Weekday::ALL[..5].iter().map(evening).collect();
    week.insert(Weekday::Sat, hours(10, 13));
    week
}

#[test]
fn five_hours_a_week_are_four_sessions_on_four_days() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(300);
    context.constraints.horizon_weeks = Some(3);
    let schedule = run(&roadmap(&context, &[&[75; 8]]), &context);
    expect_days(
        &schedule,
        &[
            ("06-01", 75),
            ("06-02", 75),
            ("06-03", 75),
            ("06-04", 75),
            ("06-08", 75),
            ("06-09", 75),
            ("06-10", 75),
            ("06-11", 75),
        ],
    );
    assert!(schedule.is_feasible());
}

#[test]
fn two_sessions_a_week_have_free_days_in_between() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(120);
    let schedule = run(&roadmap(&context, &[&[60, 60, 60, 60]]), &context);
    expect_days(&schedule, &[("06-01", 60), ("06-04", 60), ("06-08", 60), ("06-11", 60)]);
}

#[test]
fn a_task_is_not_cut_for_the_last_minutes_of_a_session() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(300);
    let schedule = run(&roadmap(&context, &[&[30, 60, 45, 105, 60]]), &context);
    let blocks = local(&schedule);
    assert_eq!(blocks.len(), 5, "every task in one piece: {blocks:#?}");
    expect_days(&schedule, &[("06-01", 90), ("06-02", 45), ("06-03", 105), ("06-04", 60)]);
}

#[test]
fn spreading_gives_way_before_a_date_does() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(300);
    context.constraints.deadline = Some(moment("2026-06-02T17:00:00"));
    let schedule = run(&roadmap(&context, &[&[75; 4]]), &context);
    assert!(schedule.is_feasible());
    assert_eq!(schedule.finish_time().unwrap().local_date(), date(2026, 6, 2));

    context.constraints.deadline = None;
    context.constraints.horizon_weeks = Some(1);
    context.constraints.start = date(2026, 6, 4);
    let schedule = run(&roadmap(&context, &[&[75; 7]]), &context);
    let last = schedule.finish_time().unwrap().local_date();
    assert!(last <= date(2026, 6, 10), "the stated week is kept: {:#?}", local(&schedule));
}

#[test]
fn a_due_task_is_on_time_although_its_day_is_full() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(300);
    let mut roadmap = roadmap(&context, &[&[75, 75, 60]]);
    roadmap.dependencies.clear();
    for node in &mut roadmap.nodes {
        if node.work_minutes() > 0 {
            node.due = Some("2026-06-01".parse().unwrap());
        }
    }
    expect_days(&run(&roadmap, &context), &[("06-01", 210)]);
}

#[test]
fn tasks_are_at_their_preferred_times_where_the_hours_allow() {
    let mut context = context(date(2026, 6, 1));
    context.calendar.working = evenings_and_saturday();
    context.constraints.weekly_minutes = Some(300);
    let mut roadmap = roadmap(&context, &[&[60, 120, 60]]);
    let prefer = |roadmap: &mut Roadmap, id: &str, time: PreferredTime| {
        let node = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap();
        node.preferred_time = Some(time);
    };
    prefer(&mut roadmap, "p0.t1", PreferredTime::Weekends);
    // Nobody works in office hours here: the task is done in the evening.
    prefer(&mut roadmap, "p0.t2", PreferredTime::OfficeHours);
    let schedule = run(&roadmap, &context);
    let starts: Vec<_> = local(&schedule).into_iter().map(|(id, at, _)| (id, at)).collect();
    let expected = [("p0.t0", "06-01 19:00"), ("p0.t1", "06-06 10:00"), ("p0.t2", "06-08 19:00")];
    assert_eq!(starts, expected.map(|(id, at)| (id.to_owned(), at.to_owned())));

    // A group's preference applies to everything in it; a deadline outweighs it.
    prefer(&mut roadmap, "p0", PreferredTime::Weekends);
    context.constraints.deadline = Some(moment("2026-06-05T21:00:00"));
    let schedule = run(&roadmap, &context);
    assert!(schedule.is_feasible(), "{:#?}", local(&schedule));
}

#[test]
fn nothing_is_planned_on_a_day_off() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(300);
    context.constraints.horizon_weeks = Some(2);
    context.calendar.days_off.extend([date(2026, 6, 1), date(2026, 6, 3)]);
    let mut roadmap = roadmap(&context, &[&[75; 3], &[20]]);
    let habit = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == "p1.t0").unwrap();
    let at_local = Some(jiff::civil::time(8, 0, 0, 0));
    habit.recurrence =
        Some(Recurrence { at_local, ..Recurrence::every(RecurrenceFrequency::Daily) });
    let schedule = run(&roadmap, &context);
    let off = |(day, _): &(String, u32)| day == "06-01" || day == "06-03";
    assert!(!days(&schedule).iter().any(off), "{:#?}", days(&schedule));
    assert_eq!(schedule.blocks_for_node(&"p1.t0".into()).count(), 12);
}

#[test]
fn hours_for_all_plans_are_shared_with_the_other_plans() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(300);
    context.constraints.all_plans_weekly_minutes = Some(360);
    let roadmap = roadmap(&context, &[&[60; 4]]);
    let block = |day: u8| {
        let at = |hour: u8| moment(&format!("2026-06-{day:02}T{hour:02}:00:00"));
        let block = ScheduledBlock::new(format!("x{day}"), "x", at(14), at(18), BERLIN);
        OtherBlock { plan: "other".to_owned(), priority_weight: 1.0, block }
    };
    let others = [block(2)];
    let mut request = ScheduleRequest::new(&roadmap, &context);
    request.others = &others;
    let schedule = schedule_roadmap(&request).unwrap();
    expect_days(&schedule, &[("06-01", 60), ("06-02", 60), ("06-08", 60), ("06-09", 60)]);
}
