//! What happens on a day of its own, or in one piece, and the work before it.

use super::*;
use planwright_model::{
    LocalTimeInterval, PreferredTime, Recurrence, RecurrenceFrequency, Weekday,
};

fn run(roadmap: &Roadmap, context: &PlanContext) -> Schedule {
    schedule_roadmap(&ScheduleRequest::new(roadmap, context)).unwrap()
}

fn set(roadmap: &mut Roadmap, id: &str, change: impl FnOnce(&mut PlanNode)) {
    change(roadmap.nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap());
}

fn own_day(day: &str) -> impl FnOnce(&mut PlanNode) {
    move |node| {
        node.fixed_start = Some(day.parse().unwrap());
        node.in_one_piece = true;
    }
}

fn expect(schedule: &Schedule, expected: &[(&str, &str, u32)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(id, at, minutes)| ((*id).to_owned(), (*at).to_owned(), *minutes))
        .collect();
    assert_eq!(local(schedule), expected);
}

/// Evenings from 19 to 21, Monday to Friday.
fn evenings(context: &mut PlanContext) {
    let at = |hour| jiff::civil::time(hour, 0, 0, 0);
    let evening = vec![LocalTimeInterval::new(at(19), at(21))];
    context.calendar.working =
        Weekday::ALL[..5].iter().map(|day| (*day, evening.clone())).collect();
}

#[test]
fn the_day_itself_is_whole_and_takes_nothing_of_the_weekly_hours() {
    let mut context = context(date(2026, 6, 1));
    evenings(&mut context);
    context.constraints.weekly_minutes = Some(120);
    context.constraints.horizon_weeks = Some(3);
    let mut roadmap = roadmap(&context, &[&[120, 480, 480, 120]]);
    set(&mut roadmap, "p0.t1", own_day("2026-06-03"));
    set(&mut roadmap, "p0.t2", own_day("2026-06-04"));
    let schedule = run(&roadmap, &context);
    expect(
        &schedule,
        &[
            ("p0.t0", "06-01 19:00", 120),
            ("p0.t1", "06-03 09:00", 480),
            ("p0.t2", "06-04 09:00", 480),
            ("p0.t3", "06-08 19:00", 60),
            ("p0.t3", "06-11 19:00", 60),
        ],
    );
}

#[test]
fn the_parts_of_a_day_without_hours_lie_side_by_side_in_the_waking_hours() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.horizon_weeks = Some(2);
    let mut roadmap = roadmap(&context, &[&[300, 480]]);
    set(&mut roadmap, "p0.t0", own_day("2026-06-06"));
    set(&mut roadmap, "p0.t1", own_day("2026-06-06"));
    expect(
        &run(&roadmap, &context),
        &[("p0.t0", "06-06 09:00", 300), ("p0.t1", "06-06 14:00", 480)],
    );
    set(&mut roadmap, "p0.t0", |node| node.preferred_time = Some(PreferredTime::Evenings));
    expect(
        &run(&roadmap, &context),
        &[("p0.t1", "06-06 09:00", 480), ("p0.t0", "06-06 18:00", 300)],
    );
}

#[test]
fn work_before_a_fixed_day_comes_before_it_whatever_its_phase() {
    let mut context = context(date(2026, 6, 3));
    context.constraints.weekly_minutes = Some(600);
    context.constraints.horizon_weeks = Some(2);
    let mut roadmap = roadmap(&context, &[&[60, 60], &[60, 120], &[90, 240]]);
    roadmap.dependencies.push(NodeDependency::finish_to_start("p0", "p1"));
    roadmap.dependencies.push(NodeDependency::finish_to_start("p1", "p2"));
    set(&mut roadmap, "p1.t1", own_day("2026-06-04"));
    set(&mut roadmap, "p2.t0", own_day("2026-06-05"));
    set(&mut roadmap, "p2.t1", own_day("2026-06-06T18:00"));
    let schedule = run(&roadmap, &context);
    expect(
        &schedule,
        &[
            ("p0.t0", "06-03 09:00", 60),
            ("p0.t1", "06-03 10:10", 60),
            ("p1.t0", "06-03 11:20", 60),
            ("p1.t1", "06-04 09:00", 120),
            ("p2.t0", "06-05 09:00", 90),
            ("p2.t1", "06-06 18:00", 240),
        ],
    );
}

#[test]
fn what_stays_whole_fills_a_day_and_is_cut_only_where_no_day_or_week_holds_it() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(600);
    let mut roadmap = roadmap(&context, &[&[420]]);
    set(&mut roadmap, "p0.t0", |node| node.in_one_piece = true);
    expect(&run(&roadmap, &context), &[("p0.t0", "06-01 09:00", 420)]);
    context.constraints.weekly_minutes = Some(300);
    let weeks = run(&roadmap, &context);
    let in_first: u32 = weeks
        .blocks
        .iter()
        .filter(|block| block.start.local_date() < date(2026, 6, 8))
        .map(|block| block.estimated_minutes)
        .sum();
    assert!(weeks.unplaced.is_empty() && in_first <= 300, "{:?}", local(&weeks));
    evenings(&mut context);
    let cut = run(&roadmap, &context);
    assert!(cut.unplaced.is_empty() && cut.blocks.len() > 3, "{:?}", local(&cut));
}

#[test]
fn the_last_time_of_something_daily_stays_on_its_day() {
    // From Wednesday to Saturday; Saturday has no evening, and Monday has.
    let mut context = context(date(2026, 6, 3));
    evenings(&mut context);
    let at = |hour| jiff::civil::time(hour, 0, 0, 0);
    context.calendar.working.insert(Weekday::Sat, vec![LocalTimeInterval::new(at(10), at(12))]);
    context.constraints.horizon_weeks = Some(2);
    let mut roadmap = roadmap(&context, &[&[20]]);
    set(&mut roadmap, "p0.t0", |node| {
        node.preferred_time = Some(PreferredTime::Evenings);
        let daily = Recurrence::every(RecurrenceFrequency::Daily);
        node.recurrence = Some(Recurrence { count: Some(4), ..daily });
    });
    let schedule = run(&roadmap, &context);
    expect(
        &schedule,
        &[
            ("p0.t0", "06-03 19:00", 20),
            ("p0.t0", "06-04 19:00", 20),
            ("p0.t0", "06-05 19:00", 20),
            ("p0.t0", "06-06 10:00", 20),
        ],
    );
}
