//! Blocks of a plan that another plan asks it to move.

use super::*;
use planwright_model::{FixedEvent, OverlapShift};

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
    // It may move by a day: nothing that waits for it is so close.
    let far = |pair: &&[planwright_model::ScheduledBlock]| {
        pair[1].start.at > pair[0].end.plus_minutes(36 * 60).at
    };
    let block = &schedule.blocks.windows(2).find(far).expect("some are far apart")[0];
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
    let busy = vec![FixedEvent {
        title: other_plan.clone(),
        start: shift.from,
        end: shift.from.plus_minutes(60),
    }];
    let shifts = vec![shift];
    Command::ShiftBlocks { shifts, other_plan, moved_there: 0, busy, by: Actor::Person }
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

/// A shift to a time at which what waits for the task should be over puts the task, and what waits for it, elsewhere.
#[test]
fn a_shift_that_would_break_a_link_places_what_waits_as_well() {
    let (mut talk, wanted) = approved_plan(once());
    let before = talk.state.planning.schedule.clone().unwrap();
    let (first, last) = (&before.blocks[0], before.blocks.last().unwrap());
    let late = OverlapShift {
        block: first.id.clone(),
        title: first.title.clone(),
        from: first.start,
        to: last.end.plus_minutes(60),
        ..wanted
    };
    let kinds = talk.command(&shift(late.clone()));
    assert_eq!(kinds, ["planning.adapted", "planning.schedule_drafted"]);
    let after = talk.state.planning.schedule.clone().unwrap();
    let moved = after.blocks.iter().find(|block| block.plan_node_id == first.plan_node_id).unwrap();
    assert!(moved.start >= late.from.plus_minutes(60), "out of the way: {moved:?}");
    assert!(moved.start < late.to, "and not where it would break a link: {moved:?}");
    let broken = talk.planner.stage_violations(Stage::Schedule, &talk.state.planning);
    let serious: Vec<_> =
        broken.iter().filter(|found| found.severity != Severity::Warning).collect();
    assert!(serious.is_empty(), "{serious:?}");
}
