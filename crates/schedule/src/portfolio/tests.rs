use jiff::civil::{date, time};

use super::*;
use crate::calendar::{find_zone, resolve_local};
use planwright_model::{LocalTimeInterval, NodeDependency, Weekday};

const BERLIN: &str = "Europe/Berlin";

/// A moment of the week of Monday 2026-06-08, as day and local hours.
fn at(day: i8, hour: i8, minute: i8) -> OffsetDateTime {
    let zone = find_zone(BERLIN).unwrap();
    OffsetDateTime::in_zone(resolve_local(date(2026, 6, day).at(hour, minute, 0, 0), &zone), &zone)
}

fn block(id: &str, start: OffsetDateTime, end: OffsetDateTime) -> ScheduledBlock {
    let mut block = ScheduledBlock::new(id, id, start, end, BERLIN);
    block.id = id.to_owned();
    block
}

fn other(id: &str, start: OffsetDateTime, end: OffsetDateTime) -> OtherBlock {
    OtherBlock { plan: "other".into(), priority_weight: 1.0, block: block(id, start, end) }
}

fn context() -> PlanContext {
    let mut context = PlanContext::new("goal", date(2026, 6, 8), BERLIN);
    context.constraints.max_daily_minutes = 480;
    context
}

fn schedule(blocks: Vec<ScheduledBlock>) -> Schedule {
    Schedule { blocks, ..Schedule::new(BERLIN, at(8, 0, 0), at(15, 0, 0)) }
}

fn probe<'a>(
    schedule: &'a Schedule,
    context: &'a PlanContext,
    others: &'a [OtherBlock],
    events: &'a [FixedEvent],
) -> PortfolioProbe<'a> {
    PortfolioProbe { schedule, context, roadmap: None, priority_weight: 1.0, others, events }
}

#[test]
fn example_20_a_fixed_event_moves_the_block_by_half_an_hour() {
    let mut context = context();
    // An hour more on Monday, so that the week has its 2400 minutes without the event.
    let monday = LocalTimeInterval::new(time(9, 0, 0, 0), time(18, 0, 0, 0));
    context.calendar.working.insert(Weekday::Mon, vec![monday]);
    let schedule = schedule(vec![block("own", at(9, 10, 0), at(9, 11, 30))]);
    let event = FixedEvent { title: "dentist".into(), start: at(9, 11, 0), end: at(9, 12, 0) };
    let others: Vec<_> = [(8, 17, 0), (10, 17, 0), (11, 17, 0), (12, 16, 30)]
        .map(|(day, hour, minute)| other(&format!("o{day}"), at(day, 9, 0), at(day, hour, minute)))
        .into();
    let report =
        probe(&schedule, &context, &others, std::slice::from_ref(&event)).build_report().unwrap();
    assert_eq!(
        report.conflicts,
        [PortfolioConflict {
            kind: ConflictKind::Hard,
            block_id: Some("own".into()),
            with: "dentist".into(),
            start: at(9, 11, 0),
            end: at(9, 11, 30),
            severity_minutes: 30,
        }]
    );
    assert_eq!(
        report.shifts,
        [ShiftSuggestion::Suggested(SuggestedShift {
            block_id: "own".into(),
            from: at(9, 10, 0),
            to: at(9, 9, 30),
            delta_minutes: -30,
            resolves: vec!["dentist".into()],
        })]
    );
    let week = &report.utilization[0];
    assert_eq!((week.planned_minutes + week.other_minutes, week.available_minutes), (1980, 2400));
    assert!((week.utilization - 82.5).abs() < 1e-9);
    // G409 warns above the target of the strategy, which is 80 % here.
    assert!(week.utilization > context.strategy_profile.target_utilization * 100.0);
}

#[test]
fn the_block_of_the_lighter_plan_moves_and_the_later_gap_wins_a_tie() {
    let context = context();
    let schedule = schedule(vec![block("own", at(9, 12, 0), at(9, 13, 0))]);
    let mut others = vec![other("o", at(9, 12, 0), at(9, 13, 0))];
    let shift = |others: &[OtherBlock]| {
        let report = probe(&schedule, &context, others, &[]).build_report().unwrap();
        assert_eq!(report.conflicts[0].kind, ConflictKind::Soft);
        match &report.shifts[..] {
            [ShiftSuggestion::Suggested(shift)] => (shift.block_id.clone(), shift.delta_minutes),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(shift(&others), ("own".to_owned(), 60));
    others[0].priority_weight = 0.5;
    assert_eq!(shift(&others), ("o".to_owned(), 60));
}

#[test]
fn a_full_week_has_no_shift_and_an_overload_is_reported() {
    let context = context();
    let schedule = schedule(vec![block("own", at(9, 9, 0), at(9, 17, 0))]);
    let events: Vec<_> = (8..13)
        .map(|day| FixedEvent {
            title: format!("e{day}"),
            start: at(day, 9, 0),
            end: at(day, 17, 0),
        })
        .collect();
    let others = [other("o", at(9, 18, 0), at(9, 19, 0))];
    let report = probe(&schedule, &context, &others, &events).build_report().unwrap();
    assert_eq!(
        report.shifts,
        [ShiftSuggestion::NoShift { block_id: "own".into(), conflicts: vec!["e9".into()] }]
    );
    let overloads: Vec<_> = report
        .conflicts
        .iter()
        .filter(|conflict| conflict.kind == ConflictKind::Overload)
        .map(|conflict| (conflict.with.as_str(), conflict.severity_minutes))
        .collect();
    assert_eq!(overloads, [("2026-06-09", 60), ("2026-W24", 540)]);
}

#[test]
fn a_shift_keeps_the_links_of_the_plan() {
    use planwright_model::{NodeType, PlanNode, PlanOutline};
    let context = context();
    let mut outline = PlanOutline::new("g", context.clone());
    for id in ["a", "b"] {
        let mut task = PlanNode::new_child(&outline.nodes[0], id, NodeType::Task, id);
        task.estimate_minutes = Some(60);
        outline.nodes.push(task);
    }
    let roadmap = Roadmap::new(&outline, vec![NodeDependency::finish_to_start("a", "b")]);
    let schedule = schedule(vec![
        block("a", at(9, 9, 0), at(9, 10, 0)),
        block("b", at(9, 12, 0), at(9, 13, 0)),
    ]);
    let event = FixedEvent { title: "busy".into(), start: at(9, 9, 0), end: at(9, 10, 0) };
    let probe = probe(&schedule, &context, &[], std::slice::from_ref(&event));
    let report = PortfolioProbe { roadmap: Some(&roadmap), ..probe }.build_report().unwrap();
    let [ShiftSuggestion::Suggested(shift)] = &report.shifts[..] else {
        panic!("{:?}", report.shifts)
    };
    // Not later than 10:50, so that the break before the successor is kept.
    assert_eq!(shift.to, at(9, 10, 0));
}

#[test]
fn blocks_of_other_stored_plans_are_included_and_those_of_the_plan_itself_are_not() {
    let own = schedule(vec![block("own", at(9, 10, 0), at(9, 11, 30))]);
    let late = schedule(vec![
        block("x#1", at(9, 11, 0), at(9, 12, 0)),
        block("x#2", at(20, 9, 0), at(20, 10, 0)),
    ]);
    let stored = [
        StoredPlan { session: "s1", title: "Own", schedule: &own, priority_weight: 1.0 },
        StoredPlan { session: "s2", title: "Other", schedule: &late, priority_weight: 2.0 },
    ];
    let others = other_blocks(&stored, Some("s1"), own.horizon_start, own.horizon_end);
    assert_eq!(others.len(), 1, "a block beyond the span does not matter");
    assert_eq!((others[0].plan.as_str(), others[0].block.id.as_str()), ("Other", "s2/x#1"));
    let context = context();
    let report = probe(&own, &context, &others, &[]).build_report().unwrap();
    assert_eq!(report.conflicts[0].kind, ConflictKind::Soft);
    assert_eq!(report.conflicts[0].severity_minutes, 30);
}
