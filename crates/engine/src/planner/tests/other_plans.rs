//! A plan that needs the time of another plan: its blocks are freed by a choice, and move when the plan is approved.

use super::*;
use crate::controller::DriverEffect;
use jiff::civil::date;
use jiff::tz::TimeZone;
use planwright_model::{LeverChange, OffsetDateTime, OverlapShift, ScheduledBlock};
use planwright_schedule::OtherBlock;
use planwright_schedule::portfolio::OverlapRequest;

const OTHER: &str = "0123456789ab";

/// Another plan that takes every working day for so many weeks.
fn full_weeks(weeks: i64) -> Vec<OtherBlock> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let monday = date(2026, 6, 8);
    let days = (0..weeks * 7).filter(|day| day % 7 < 5);
    let blocks = days.map(|number| {
        let day = monday.saturating_add(jiff::Span::new().days(number));
        let at = |hour: i8| {
            let local = day.at(hour, 0, 0, 0).to_zoned(zone.clone()).unwrap();
            OffsetDateTime::in_zone(local.timestamp(), &zone)
        };
        let mut block = ScheduledBlock::new("work", "Work", at(9), at(17), "Europe/Berlin");
        block.id = format!("{OTHER}/work#{number}");
        OtherBlock { plan: "The other plan".into(), priority_weight: 1.0, block }
    });
    blocks.collect()
}

/// The relaxation that moves blocks of other plans, counted from 1.
fn freeing_choice(talk: &Talk) -> Option<u8> {
    let relaxations = &talk.state.planning.schedule.as_ref()?.relaxations;
    let frees = |change: &LeverChange| matches!(change, LeverChange::MoveOtherBlocks { .. });
    let at = relaxations.iter().position(|one| one.changes.iter().any(frees))?;
    u8::try_from(at + 1).ok()
}

#[test]
fn blocks_of_another_plan_are_freed_by_a_choice_and_move_with_the_approval() {
    let mut talk = Talk::idle();
    talk.planner = Planner::offline("Europe/Berlin");
    talk.planner.others = full_weeks(2).into();
    let goal = "write a 3 page report by 2026-06-19, 6 hours a week";
    talk.begin(goal, once(), Vec::new());
    assert_eq!(talk.place().state, PlanState::NeedsSchedEscalation, "{:?}", talk.place());
    let number = freeing_choice(&talk).expect("other plans may give way");
    talk.answer(A::UseRelaxation(number));
    assert!(!talk.state.planning.freed_blocks.is_empty());
    assert_eq!(talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    // What the driver looks up before the plan is shown.
    let planning = &talk.state.planning;
    let report = OverlapRequest {
        schedule: planning.schedule.as_deref().unwrap(),
        context: planning.context.as_deref().unwrap(),
        roadmap: planning.roadmap.as_deref(),
        others: &full_weeks(2),
        freed: &planning.freed_blocks,
        events: &[],
        now: talk.now,
    }
    .find_overlaps()
    .unwrap();
    assert!(!report.overlaps.is_empty());
    assert!(report.shifts.iter().all(|shift| shift.session.is_some()), "{:?}", report.shifts);
    talk.say(PlanningEvent::OverlapsFound { report: Box::new(report.clone()) }.into());
    let id = talk.open().id;
    let command = Command::Answer { id, answer: A::ApproveAndStop.into(), by: Actor::Person };
    let decision = decide_command(&talk.state, &command, 3, talk.now);
    let sent = decision.effects.iter().find_map(|effect| match effect {
        DriverEffect::CommandOtherPlan(session, command) => Some((session.as_str(), command)),
        _ => None,
    });
    let moved = !report.shifts.is_empty();
    assert_eq!(sent.is_some(), moved, "{:?}", decision.effects);
    if let Some((session, command)) = sent {
        assert_eq!(session, OTHER);
        assert!(matches!(&**command, Command::ShiftBlocks { shifts, .. } if !shifts.is_empty()));
    }
}

/// A plan of the person's with its first block, and a shift of it by a day.
fn approved_plan(policy: PolicyOverride) -> (Talk, OverlapShift) {
    let mut talk = Talk::idle();
    talk.planner = Planner::offline("Europe/Berlin");
    talk.begin("launch a newsletter in 6 weeks", policy, Vec::new());
    while !matches!(talk.open().kind, RequestKind::FinalPlan { .. }) {
        talk.answer(A::Approve);
    }
    talk.answer(A::ApproveAndStop);
    let schedule = talk.state.planning.schedule.clone().unwrap();
    let block = schedule.blocks.last().unwrap();
    let shift = OverlapShift {
        session: None,
        plan: String::new(),
        block: block.id.clone(),
        title: block.title.clone(),
        from: block.start,
        to: block.start.plus_minutes(24 * 60),
    };
    (talk, shift)
}

fn shift(shift: OverlapShift) -> Command {
    let other_plan = "The report".to_owned();
    Command::ShiftBlocks { shifts: vec![shift], other_plan, moved_there: 0, by: Actor::Person }
}

#[test]
fn a_plan_takes_a_shift_unless_it_asks_before_anything_moves() {
    let (mut talk, wanted) = approved_plan(once());
    let kinds = talk.command(&shift(wanted.clone()));
    assert_eq!(kinds, ["planning.adapted", "planning.schedule_drafted"]);
    let schedule = talk.state.planning.schedule.as_deref().unwrap();
    let moved = schedule.blocks.iter().find(|block| block.id == wanted.block).unwrap();
    assert_eq!(moved.start, wanted.to);
    let entry = talk.state.planning.adaptation_log.last().unwrap();
    let impact = entry.portfolio_impact.as_ref().unwrap();
    assert_eq!(
        (impact.affected_plans[0].as_str(), impact.minutes_shifted),
        ("The report", 24 * 60)
    );
    // The same shift again is about a time that is over.
    assert_eq!(talk.command(&shift(wanted)), ["approval.refused"]);

    let (mut asking, wanted) = approved_plan(with(ApprovalPolicy::SingleFinal, Autonomy::Low));
    let before = asking.state.planning.schedule.clone();
    assert_eq!(asking.command(&shift(wanted)), ["approval.refused"]);
    assert_eq!(asking.state.planning.schedule, before);
}
