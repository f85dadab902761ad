//! Blocks of a plan that another plan asks it to move.

use super::*;
use planwright_model::OverlapShift;

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
