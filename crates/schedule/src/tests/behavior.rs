use super::*;
use planwright_model::{
    LagBasis, LeverChange, LocalTimeInterval, PlanDate, Recurrence, RecurrenceByDay,
    RecurrenceFrequency, UnplacedWork, Weekday,
};

fn starts(schedule: &Schedule, id: &str) -> Vec<String> {
    let of = |(node, at, _): (String, String, u32)| (node == id).then_some(at);
    local(schedule).into_iter().filter_map(of).collect()
}

fn run(roadmap: &Roadmap, context: &PlanContext) -> Schedule {
    schedule_roadmap(&ScheduleRequest::new(roadmap, context)).unwrap()
}

#[test]
fn a_phase_may_start_while_another_runs() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_parallel_phases = 3;
    let mut roadmap = roadmap(&context, &[&[240, 240, 240], &[60], &[240]]);
    roadmap.dependencies.push(NodeDependency::new("p0", "p1", LinkKind::SS).with_lag(240));
    roadmap.dependencies.push(NodeDependency::finish_to_start("p1", "p2"));
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p1.t0"), ["06-03 09:00"]);
    assert_eq!(starts(&schedule, "p0.t2")[0], "06-03 10:10");
    assert_eq!(schedule.finish_time().unwrap().local_date(), date(2026, 6, 5));
}

#[test]
fn limits_the_open_phases_per_week() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_parallel_phases = 1;
    let schedule = run(&roadmap(&context, &[&[60], &[60], &[60]]), &context);
    let days: Vec<_> = schedule.blocks.iter().map(|block| block.start.local_date()).collect();
    assert_eq!(days, [date(2026, 6, 1), date(2026, 6, 8), date(2026, 6, 15)]);
}

#[test]
fn the_tasks_of_a_cycle_follow_each_other_from_its_start_time() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.horizon_weeks = Some(2);
    let mut roadmap = roadmap(&context, &[&[5, 30, 5]]);
    let at_local = Some(jiff::civil::time(8, 0, 0, 0));
    let by_day =
        vec![RecurrenceByDay::Weekday(Weekday::Mon), RecurrenceByDay::Weekday(Weekday::Sat)];
    let rule = Recurrence { by_day, at_local, ..Recurrence::every(RecurrenceFrequency::Weekly) };
    let cycle = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == "p0").unwrap();
    cycle.node_type = NodeType::Cycle;
    cycle.recurrence = Some(rule);
    let schedule = run(&roadmap, &context);
    assert!(schedule.is_feasible());
    assert_eq!(
        starts(&schedule, "p0.t1"),
        ["06-01 08:05", "06-06 08:05", "06-08 08:05", "06-13 08:05"]
    );
    let last = schedule.blocks.last().unwrap();
    assert_eq!((last.id.as_str(), last.occurrence), ("p0.t2@4#1", Some(4)));
}

#[test]
fn a_routine_waits_for_its_setup() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.horizon_weeks = Some(2);
    let mut roadmap = roadmap(&context, &[&[300], &[20]]);
    roadmap.dependencies.push(NodeDependency::finish_to_start("p0", "p1.t0"));
    let at_local = Some(jiff::civil::time(9, 0, 0, 0));
    let habit = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == "p1.t0").unwrap();
    habit.recurrence =
        Some(Recurrence { at_local, ..Recurrence::every(RecurrenceFrequency::Daily) });
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p0.t0").last().unwrap(), "06-02 09:00");
    assert_eq!(starts(&schedule, "p1.t0")[0], "06-03 09:00");
}

#[test]
fn weeks_without_a_deadline_are_soft_by_one_week() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(120);
    context.constraints.horizon_weeks = Some(2);
    let fits = run(&roadmap(&context, &[&[360]]), &context);
    assert!(fits.is_feasible());
    let over = run(&roadmap(&context, &[&[360, 60]]), &context);
    assert_eq!(over.unplaced, [UnplacedWork { plan_node_id: "p0.t1".into(), minutes: 60 }]);
    assert_eq!(over.lateness_minutes, 0);
    let levers: Vec<_> =
        over.relaxations.iter().map(|answer| answer.changes[0].lever_code()).collect();
    assert_eq!(levers, ["R1", "R2"]);
}

#[test]
fn fixed_constraints_are_not_suggested_and_pairs_help_where_no_single_change_does() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.weekly_minutes = Some(120);
    context.constraints.deadline = Some(moment("2026-06-05T17:00:00"));
    context.constraints.hard.insert("deadline".into());
    context.constraints.hard.insert("weekly_minutes".into());
    let mut roadmap = roadmap(&context, &[&[120, 60, 30, 90]]);
    for node in
        roadmap.nodes.iter_mut().filter(|node| node.work_minutes() < 100 && node.work_minutes() > 0)
    {
        node.optional = true;
    }
    let answers = run(&roadmap, &context).relaxations;
    let [answer] = &answers[..] else { panic!("{answers:?}") };
    let [LeverChange::DropOptional { node_ids, minutes }] = &answer.changes[..] else {
        panic!("{answer:?}")
    };
    assert_eq!((node_ids.len(), *minutes), (3, 180));
    assert!(answer.summary.contains("3 optional tasks"));

    // Half of it may be dropped, and the week may grow to the daily cap: neither is sufficient alone.
    context.constraints.hard.remove("weekly_minutes");
    context.constraints.max_daily_minutes = 60;
    let mut roadmap = super::roadmap(&context, &[&[360, 60]]);
    roadmap.dependencies.clear();
    assert!(run(&roadmap, &context).relaxations.is_empty());
    roadmap.nodes[1].optional = false;
    for node in roadmap.nodes.iter_mut().filter(|node| node.work_minutes() == 60) {
        node.optional = true;
    }
    for node in roadmap.nodes.iter_mut().filter(|node| node.work_minutes() == 360) {
        node.estimate_minutes = Some(300);
    }
    let answers = run(&roadmap, &context).relaxations;
    let levers: Vec<_> = answers[0].changes.iter().map(LeverChange::lever_code).collect();
    assert_eq!(levers, ["R2", "R3"]);
}

#[test]
fn another_plans_blocks_are_avoided_and_can_be_moved() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.deadline = Some(moment("2026-06-01T17:00:00"));
    context.constraints.hard.insert("deadline".into());
    let roadmap = roadmap(&context, &[&[120]]);
    let block = ScheduledBlock::new(
        "x",
        "x",
        moment("2026-06-01T09:00:00"),
        moment("2026-06-01T16:00:00"),
        BERLIN,
    );
    let others = [OtherBlock { plan: "other".into(), priority_weight: 1.0, block }];
    let request = ScheduleRequest { others: &others, ..ScheduleRequest::new(&roadmap, &context) };
    let found = schedule_roadmap(&request).unwrap();
    assert!(!found.is_feasible());
    assert_eq!(
        found.relaxations[0].changes,
        [LeverChange::MoveOtherBlocks { block_ids: vec!["x#1".into()] }]
    );
}

#[test]
fn preferred_windows_are_used_if_nothing_is_lost() {
    let mut context = context(date(2026, 6, 1));
    let window = planwright_model::LocalTimeInterval::new(
        jiff::civil::time(14, 0, 0, 0),
        jiff::civil::time(16, 0, 0, 0),
    );
    context.user_prefs.preferred_windows.insert(Weekday::Tue, vec![window]);
    let schedule = run(&roadmap(&context, &[&[60]]), &context);
    assert_eq!(starts(&schedule, "p0.t0"), ["06-02 14:00"]);
}

#[test]
fn excess_demand_reports_leaf_resource_demand_and_capacity() {
    let context = context(date(2026, 6, 1));
    let mut roadmap = roadmap(&context, &[&[60]]);
    roadmap.resources = [("desk".to_owned(), 2)].into();
    roadmap.nodes[1].resources = [("desk".to_owned(), 3)].into();
    let error = schedule_roadmap(&ScheduleRequest::new(&roadmap, &context)).unwrap_err();
    assert_eq!(error.to_string(), "\"p0.t0\" needs 3 of desk, which has 2");
}

#[test]
fn leaves_share_resources_in_parallel() {
    let context = context(date(2026, 6, 1));
    let mut roadmap = roadmap(&context, &[&[240], &[240], &[600]]);
    roadmap.resources = [("desk".to_owned(), 2)].into();
    for node in &mut roadmap.nodes {
        node.resources = [("desk".to_owned(), 1)].into();
    }
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p2.t0"), ["06-01 09:00", "06-02 09:00"]);
    assert_eq!(schedule.finish_time().unwrap(), moment("2026-06-02T11:00:00"));
}

#[test]
fn slack_and_the_critical_path_follow_the_links() {
    let context = context(date(2026, 6, 1));
    let mut roadmap = roadmap(&context, &[&[60, 120], &[30], &[60]]);
    roadmap.dependencies.push(NodeDependency::finish_to_start("p0", "p2"));
    roadmap.dependencies.push(NodeDependency {
        lag_basis: LagBasis::Elapsed,
        ..NodeDependency::finish_to_start("p1", "p2").with_lag(60)
    });
    assert_eq!(critical_path(&roadmap), ["p0.t0", "p0.t1", "p2.t0"].map(Into::into));
    let times = leaf_timings(&roadmap, &context).unwrap();
    let slack: Vec<_> =
        times.iter().map(|leaf| (leaf.id.as_str(), leaf.slack_minutes, leaf.critical)).collect();
    assert_eq!(
        slack,
        [("p0.t0", 0, true), ("p0.t1", 0, true), ("p1.t0", 90, false), ("p2.t0", 0, true)]
    );
}

#[test]
fn an_unknown_zone_and_missing_working_time_are_reported() {
    let mut context = context(date(2026, 6, 1));
    let roadmap = roadmap(&context, &[&[60]]);
    context.calendar.working.clear();
    assert_eq!(run(&roadmap, &context).unplaced.len(), 1);
    context.calendar.tz = "Mars/Base".into();
    let error = schedule_roadmap(&ScheduleRequest::new(&roadmap, &context)).unwrap_err();
    assert!(error.to_string().contains("no time zone \"Mars/Base\""));
}

fn set(roadmap: &mut Roadmap, id: &str, change: impl FnOnce(&mut PlanNode)) {
    change(roadmap.nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap());
}

#[test]
fn somebody_else_works_in_time_of_their_own() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_daily_minutes = 60;
    let mut roadmap = roadmap(&context, &[&[60], &[60], &[60], &[60]]);
    context.constraints.max_parallel_phases = 4;
    for id in ["p1.t0", "p2.t0"] {
        set(&mut roadmap, id, |node| node.owner = "Anna".into());
    }
    set(&mut roadmap, "p3.t0", |node| node.owner = "me".into());
    let schedule = run(&roadmap, &context);
    // Anna's two tasks follow each other and take none of the person's 60 minutes a day.
    assert_eq!(starts(&schedule, "p1.t0"), ["06-01 09:00"]);
    assert_eq!(starts(&schedule, "p2.t0"), ["06-01 10:10"]);
    assert_eq!(starts(&schedule, "p0.t0"), ["06-01 09:00"]);
    assert_eq!(starts(&schedule, "p3.t0"), ["06-02 09:00"]);
    assert_eq!(schedule.capacity[0].planned_minutes, 120);
}

#[test]
fn somebody_else_works_at_their_own_hours_and_the_person_at_theirs() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_parallel_phases = 4;
    let hours = |from: i8, to: i8| {
        let at = |hour| jiff::civil::time(hour, 0, 0, 0);
        vec![LocalTimeInterval::new(at(from), at(to))]
    };
    for day in [Weekday::Mon, Weekday::Tue] {
        context.person_mut("Ben").hours.insert(day, hours(7, 9));
    }
    context.person_mut("Cleo").hours.insert(Weekday::Sat, hours(18, 22));
    let mut roadmap = roadmap(&context, &[&[120], &[90], &[90], &[120], &[60]]);
    for (id, name) in [("p1.t0", "Ben"), ("p2.t0", "Ben"), ("p3.t0", "Cleo"), ("p4.t0", "Dora")] {
        set(&mut roadmap, id, |node| node.owner = name.into());
    }
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p1.t0"), ["06-01 07:00"]);
    assert_eq!(starts(&schedule, "p2.t0"), ["06-02 07:00"]);
    assert_eq!(starts(&schedule, "p3.t0"), ["06-06 18:00"]);
    // The person and those without hours of their own keep to the hours of the plan.
    assert_eq!(starts(&schedule, "p0.t0"), ["06-01 09:00"]);
    assert_eq!(starts(&schedule, "p4.t0"), ["06-01 09:00"]);
    // A fixed day is theirs as well.
    set(&mut roadmap, "p0.t0", |node| node.fixed_start = Some("2026-06-02".parse().unwrap()));
    set(&mut roadmap, "p1.t0", |node| node.fixed_start = Some("2026-06-02".parse().unwrap()));
    let fixed = run(&roadmap, &context);
    assert_eq!(starts(&fixed, "p0.t0"), ["06-02 09:00"]);
    assert_eq!(starts(&fixed, "p1.t0"), ["06-02 07:00"]);
}

#[test]
fn work_waits_for_its_first_day_and_is_done_when_it_is_due() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_daily_minutes = 60;
    context.constraints.max_parallel_phases = 4;
    let mut roadmap = roadmap(&context, &[&[60], &[60], &[60]]);
    set(&mut roadmap, "p0.t0", |node| node.not_before = Some("2026-06-04".parse().unwrap()));
    set(&mut roadmap, "p2.t0", |node| node.due = Some("2026-06-01".parse().unwrap()));
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p0.t0"), ["06-04 09:00"]);
    assert_eq!(starts(&schedule, "p2.t0"), ["06-01 09:00"]);
    assert_eq!(starts(&schedule, "p1.t0"), ["06-02 09:00"]);
    // A date that cannot be kept does not make the work disappear.
    set(&mut roadmap, "p1.t0", |node| node.due = Some("2026-06-01".parse().unwrap()));
    assert!(run(&roadmap, &context).unplaced.is_empty());
}

#[test]
fn what_a_due_task_waits_for_is_as_urgent() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_daily_minutes = 60;
    context.constraints.max_parallel_phases = 4;
    let mut roadmap = roadmap(&context, &[&[60, 60], &[60, 60]]);
    set(&mut roadmap, "p1.t1", |node| node.due = Some("2026-06-02".parse().unwrap()));
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p1.t0"), ["06-01 09:00"]);
    assert_eq!(starts(&schedule, "p1.t1"), ["06-02 09:00"]);
}

#[test]
fn fixed_dates_hold_whatever_else_moves() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.max_parallel_phases = 4;
    let mut roadmap = roadmap(&context, &[&[60, 60], &[60], &[600], &[60]]);
    set(&mut roadmap, "p0.t0", |node| node.fixed_start = Some("2026-06-03".parse().unwrap()));
    set(&mut roadmap, "p1.t0", |node| node.fixed_start = Some("2026-06-06T20:00".parse().unwrap()));
    set(&mut roadmap, "p2.t0", |node| node.fixed_start = Some("2026-06-03".parse().unwrap()));
    set(&mut roadmap, "p3.t0", |node| node.fixed_end = Some("2026-06-05".parse().unwrap()));
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p0.t0"), ["06-03 09:00"]);
    assert!(starts(&schedule, "p0.t1")[0].as_str() > "06-03 09:59", "links hold");
    assert_eq!(starts(&schedule, "p1.t0"), ["06-06 20:00"], "also on a Saturday evening");
    assert_eq!(starts(&schedule, "p2.t0")[0], "06-03 10:00", "the next one on the same day");
    assert_eq!(
        schedule.blocks_for_node(&"p2.t0".into()).map(|b| b.estimated_minutes).sum::<u32>(),
        600
    );
    assert_eq!(starts(&schedule, "p3.t0"), ["06-05 16:00"]);
}

#[test]
fn the_dates_of_a_group_apply_to_what_is_in_it() {
    let context = context(date(2026, 6, 1));
    let mut roadmap = roadmap(&context, &[&[60], &[60]]);
    set(&mut roadmap, "p0", |node| node.not_before = Some("2026-06-10T11:00".parse().unwrap()));
    let schedule = run(&roadmap, &context);
    assert_eq!(starts(&schedule, "p0.t0"), ["06-10 11:00"]);
    assert_eq!(starts(&schedule, "p1.t0"), ["06-01 09:00"]);
}

/// An hour of another plan.
fn other_block(start: &str, occurrence: Option<u32>, minutes: i64) -> OtherBlock {
    let start = moment(start);
    let end = start.plus_minutes(minutes);
    let block = ScheduledBlock {
        occurrence,
        estimated_minutes: u32::try_from(minutes).unwrap(),
        ..ScheduledBlock::new("x", "Something else", start, end, "Europe/Berlin")
    };
    OtherBlock { plan: "Another plan".to_owned(), priority_weight: 1.0, block }
}

#[test]
fn a_habit_of_minutes_keeps_its_time_beside_other_plans_and_takes_none_of_theirs() {
    let mut context = context(date(2026, 6, 1));
    context.constraints.horizon_weeks = Some(1);
    let daily = |minutes: u32| {
        let mut roadmap = roadmap(&context, &[&[minutes]]);
        let at_local = Some(jiff::civil::time(9, 0, 0, 0));
        let habit = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == "p0.t0").unwrap();
        habit.recurrence =
            Some(Recurrence { at_local, ..Recurrence::every(RecurrenceFrequency::Daily) });
        roadmap
    };
    let beside = |roadmap: &Roadmap, others: &[OtherBlock]| {
        let request = ScheduleRequest { others, ..ScheduleRequest::new(roadmap, &context) };
        schedule_roadmap(&request).unwrap()
    };
    let meeting = [other_block("2026-06-02T08:30:00", None, 120)];
    assert_eq!(starts(&beside(&daily(5), &meeting), "p0.t0")[1], "06-02 09:00");
    assert_eq!(starts(&beside(&daily(40), &meeting), "p0.t0")[1], "06-02 10:30");
    // Work is planned as if the pill of another plan were not there.
    let pills = [other_block("2026-06-01T09:30:00", Some(1), 5)];
    let once = roadmap(&context, &[&[90]]);
    assert_eq!(starts(&beside(&once, &pills), "p0.t0"), starts(&run(&once, &context), "p0.t0"));
}

#[test]
fn what_only_has_a_day_is_put_beside_other_plans() {
    let context = context(date(2026, 6, 1));
    let mut roadmap = roadmap(&context, &[&[60]]);
    let task = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == "p0.t0").unwrap();
    task.fixed_start = Some(PlanDate::on_day(date(2026, 6, 3)));
    task.in_one_piece = true;
    let others = [other_block("2026-06-03T09:00:00", None, 120)];
    let request = ScheduleRequest { others: &others, ..ScheduleRequest::new(&roadmap, &context) };
    let schedule = schedule_roadmap(&request).unwrap();
    assert_eq!(starts(&schedule, "p0.t0"), ["06-03 11:00"]);
}

/// Evenings of three hours on working days.
fn evening_context() -> PlanContext {
    let mut context = context(date(2026, 6, 1));
    let evening =
        LocalTimeInterval::new(jiff::civil::time(18, 0, 0, 0), jiff::civil::time(21, 0, 0, 0));
    let days = [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri];
    context.calendar.working = days.map(|day| (day, vec![evening])).into_iter().collect();
    context
}

#[test]
fn work_that_fits_a_window_exactly_is_not_split_by_a_break() {
    let context = evening_context();
    let schedule = run(&roadmap(&context, &[&[180]]), &context);
    assert_eq!(local(&schedule), [("p0.t0".to_owned(), "06-01 18:00".to_owned(), 180)]);
    // With room for the break it is taken, and a window that is too short by more is none for all of it.
    for (minutes, blocks) in [(170, vec![120, 50]), (181, vec![120, 50, 11])] {
        let mut context = context.clone();
        context.user_prefs.min_block_minutes = 10;
        let schedule = run(&roadmap(&context, &[&[minutes]]), &context);
        let found: Vec<u32> = schedule.blocks.iter().map(|one| one.estimated_minutes).collect();
        assert_eq!(found, blocks, "{minutes}");
    }
}

/// Streams of their own beside each other, as leaves without links.
fn unlinked(context: &PlanContext, minutes: &[u32]) -> Roadmap {
    let mut roadmap = roadmap(context, &[minutes]);
    roadmap.dependencies.clear();
    roadmap
}

#[test]
fn a_change_elsewhere_leaves_the_order_of_other_tasks() {
    let context = evening_context();
    let first = unlinked(&context, &[50, 75, 80, 30, 45, 60, 40]);
    let before = run(&first, &context);
    let at = |schedule: &Schedule, skip: &str| -> Vec<(String, String, u32)> {
        local(schedule).into_iter().filter(|(id, _, _)| id != skip).collect()
    };
    for changed in 0..7 {
        let id = format!("p0.t{changed}");
        let mut roadmap = first.clone();
        let task = roadmap.nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap();
        let minutes = task.estimate_minutes.unwrap();
        task.estimate_minutes = Some(minutes - 5);
        let request =
            ScheduleRequest { before: &before.blocks, ..ScheduleRequest::new(&roadmap, &context) };
        let after = schedule_roadmap(&request).unwrap();
        let earlier = at(&before, &id);
        let place = local(&before).iter().position(|(known, _, _)| *known == id).unwrap();
        // What comes before it stays to the minute, and what comes after it stays in its order.
        assert_eq!(at(&after, &id)[..place], earlier[..place], "{id}");
        let order = |list: &[(String, String, u32)]| {
            let mut ids: Vec<String> = list.iter().map(|(id, _, _)| id.clone()).collect();
            ids.dedup();
            ids
        };
        assert_eq!(order(&at(&after, &id)), order(&earlier), "{id}");
    }
}

#[test]
fn leaving_a_task_out_keeps_the_way_in_which_the_rest_is_spread() {
    let mut context = evening_context();
    context.constraints.deadline = Some(moment("2026-06-19T21:00:00"));
    for (weekly, last) in [180, 200, 240, 300, 360, 420]
        .into_iter()
        .flat_map(|weekly| (20..=200).step_by(20).map(move |last| (weekly, last)))
    {
        context.constraints.weekly_minutes = Some(weekly);
        let first = roadmap(&context, &[&[60, 60, 180, 120, 120, last]]);
        let before = run(&first, &context);
        if !before.is_feasible() {
            continue;
        }
        let mut fewer = first.clone();
        fewer.nodes.retain(|node| node.id.as_str() != "p0.t5");
        fewer.dependencies.retain(|link| link.to.as_str() != "p0.t5");
        let rest: Vec<_> = local(&before).into_iter().filter(|(id, _, _)| id != "p0.t5").collect();
        let request =
            ScheduleRequest { before: &before.blocks, ..ScheduleRequest::new(&fewer, &context) };
        assert_eq!(local(&schedule_roadmap(&request).unwrap()), rest, "{weekly} {last}");
    }
}
