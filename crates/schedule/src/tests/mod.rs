mod behavior;
mod own_days;
mod properties;
mod spreading;
mod verify;

use jiff::civil::{Date, date};

use super::*;
use crate::calendar::{find_zone, resolve_local};
use planwright_model::{
    LinkKind, NodeDependency, NodeType, OffsetDateTime, PlanNode, PlanOutline, StrategyMode,
    StrategyProfile,
};

const BERLIN: &str = "Europe/Berlin";

fn context(start: Date) -> PlanContext {
    PlanContext::new("a goal", start, BERLIN)
}

fn moment(text: &str) -> OffsetDateTime {
    let local: jiff::civil::DateTime = text.parse().unwrap();
    let zone = find_zone(BERLIN).unwrap();
    OffsetDateTime::in_zone(resolve_local(local, &zone), &zone)
}

/// Phases with tasks of these durations in minutes, chained in listed order inside a phase.
fn roadmap(context: &PlanContext, phases: &[&[u32]]) -> Roadmap {
    let mut outline = PlanOutline::new("g", context.clone());
    let mut links = Vec::new();
    for (p, tasks) in phases.iter().enumerate() {
        let mut phase = PlanNode::new_child(
            &outline.nodes[0],
            format!("p{p}"),
            NodeType::Phase,
            format!("Phase {p}"),
        );
        phase.position = p as u16;
        for (t, minutes) in tasks.iter().enumerate() {
            let mut task = PlanNode::new_child(
                &phase,
                format!("p{p}.t{t}"),
                NodeType::Task,
                format!("Task {p}.{t}"),
            );
            task.position = t as u16;
            task.estimate_minutes = Some(*minutes);
            if t > 0 {
                links.push(NodeDependency::finish_to_start(
                    format!("p{p}.t{}", t - 1),
                    format!("p{p}.t{t}"),
                ));
            }
            outline.nodes.push(task);
        }
        outline.nodes.push(phase);
    }
    Roadmap::new(&outline, links)
}

fn local(schedule: &Schedule) -> Vec<(String, String, u32)> {
    let zone = find_zone(BERLIN).unwrap();
    let of = |block: &ScheduledBlock| {
        let at = zone.to_datetime(block.start.at);
        (
            block.plan_node_id.to_string(),
            at.strftime("%m-%d %H:%M").to_string(),
            block.estimated_minutes,
        )
    };
    schedule.blocks.iter().map(of).collect()
}

#[test]
fn example_19_an_infeasible_plan_suggests_relaxations() {
    let mut context = context(date(2026, 6, 1));
    context.strategy_profile = StrategyProfile::from_mode(StrategyMode::Relax);
    context.constraints.weekly_minutes = Some(300);
    context.constraints.deadline = Some(moment("2026-07-10T17:00:00"));
    for tasks in [&[480; 5][..], &[2400], &[960, 960, 480]] {
        let roadmap = roadmap(&context, &[tasks]);
        let schedule = schedule_roadmap(&ScheduleRequest::new(&roadmap, &context)).unwrap();
        assert!(!schedule.is_feasible());
        assert_eq!(schedule.finish_time().unwrap().local_date(), date(2026, 7, 21));
        let changes: Vec<_> =
            schedule.relaxations.iter().flat_map(|answer| &answer.changes).collect();
        let deadline = moment("2026-07-21T17:00:00");
        assert_eq!(
            changes,
            [
                &planwright_model::LeverChange::LaterDeadline { days: 11, deadline },
                &planwright_model::LeverChange::MoreWeeklyMinutes { from: 300, to: 405 },
            ]
        );
    }
}

#[test]
fn blocks_respect_breaks_caps_and_hours() {
    let mut context = context(date(2026, 6, 5));
    context.constraints.weekly_minutes = Some(1200);
    let roadmap = roadmap(&context, &[&[300, 45]]);
    let schedule = schedule_roadmap(&ScheduleRequest::new(&roadmap, &context)).unwrap();
    let expected = [
        ("p0.t0", "06-05 09:00", 120),
        ("p0.t0", "06-05 11:10", 120),
        ("p0.t0", "06-08 09:00", 60),
        ("p0.t1", "06-08 10:10", 45),
    ];
    let expected = expected.map(|(id, at, minutes)| (id.to_owned(), at.to_owned(), minutes));
    assert_eq!(local(&schedule), expected);
    assert_eq!(schedule.capacity.len(), 2);
    assert_eq!(schedule.capacity[0].planned_minutes, 240);
}
