//! What would follow from changes of a plan, before they are made: which tasks move and when the plan ends.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{DraftComparison, PlanRowChange, compare_rows, plan_rows};
use planwright_drafting::change_requests::{ContextChange, apply_context_change};
use planwright_model::PlanEdit;
use planwright_plan::edit::apply_edit;
use planwright_schedule::{ScheduleRequest, schedule_roadmap};
use planwright_state::SessionState;
use planwright_text::dates::format_date;
use planwright_text::units::format_counted;

/// Schedules that one preview tries: a few, since it is made while somebody types.
const PREVIEW_ITERATIONS: u64 = 24;

/// Says what follows from some operations: `5 tasks move; the plan still ends Sat 19 Dec.`, or why they cannot be made.
pub fn preview_edits(
    state: &SessionState,
    edits: &[PlanEdit],
    zone: &TimeZone,
    today: Date,
) -> Result<String, String> {
    preview_changes(state, edits, &[], zone, today)
}

/// The same for operations and for changes of hours and dates.
pub fn preview_changes(
    state: &SessionState,
    edits: &[PlanEdit],
    limits: &[ContextChange],
    zone: &TimeZone,
    today: Date,
) -> Result<String, String> {
    let mut after = planning_copy(state);
    for edit in edits {
        let planning = &after.planning;
        let Some(outline) = planning.outline.as_deref() else { return Ok(String::new()) };
        let edited = apply_edit(outline, planning.roadmap.as_deref(), edit, &planning.locked)
            .map_err(|error| planwright_text::clean_line(&error.to_string()).into_owned())?;
        after.planning.outline = Some(Arc::new(edited.outline));
        after.planning.roadmap = edited.roadmap.map(Arc::new);
    }
    if state.planning.schedule.is_none() {
        return Ok(String::new());
    }
    if let Some(context) = &mut after.planning.context {
        for change in limits {
            apply_context_change(Arc::make_mut(context), change);
        }
    }
    let mut before = planning_copy(state);
    reschedule(&mut before)?;
    if let Err(why) = reschedule(&mut after) {
        return Ok(format!("The dates can't be worked out: {why}."));
    }
    let (before, after) = (plan_rows(&before, zone), plan_rows(&after, zone));
    let changes = compare_rows(&before, &after);
    let end = after.iter().filter_map(|row| row.days).map(|days| days.last).max();
    Ok(describe_effect(&changes, end, today))
}

/// The parts of a session that rows are made of.
fn planning_copy(state: &SessionState) -> SessionState {
    SessionState { planning: state.planning.clone(), ..SessionState::default() }
}

/// Puts dates on the draft, the same way for what is and for what would be, so that only the change makes a difference.
fn reschedule(state: &mut SessionState) -> Result<(), String> {
    let planning = &mut state.planning;
    let (Some(roadmap), Some(context)) = (&planning.roadmap, &planning.context) else {
        return Ok(());
    };
    let request = ScheduleRequest {
        iterations: PREVIEW_ITERATIONS,
        ..ScheduleRequest::new(roadmap, context)
    };
    let schedule = schedule_roadmap(&request).map_err(|error| error.to_string())?;
    planning.schedule = Some(Arc::new(schedule));
    Ok(())
}

fn describe_effect(changes: &DraftComparison, end: Option<Date>, today: Date) -> String {
    let moved = match changes.count(PlanRowChange::Moved) {
        0 => "Nothing else moves".to_owned(),
        1 => "1 task moves".to_owned(),
        count => format!("{} move", format_counted(count, "task")),
    };
    match (changes.end_before, end) {
        (Some(was), Some(now)) if was == now => {
            format!("{moved}; the plan still ends {}.", format_date(now, today))
        }
        (_, Some(now)) => format!("{moved}; the plan then ends {}.", format_date(now, today)),
        _ => format!("{moved}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;

    #[test]
    fn more_work_moves_what_comes_after_it() {
        let state = planned::scheduled().state();
        let today = jiff::civil::date(2026, 6, 8);
        let rows = plan_rows(&state, &TimeZone::UTC);
        let first = rows.iter().find(|row| row.minutes.is_some() && row.depth > 0).unwrap();
        let edit = PlanEdit::SetEstimate { node: first.id.clone(), minutes: 900 };
        let said = preview_edits(&state, &[edit], &TimeZone::UTC, today).unwrap();
        assert!(said.contains(" move") && said.contains("the plan "), "{said}");
        let nothing = preview_edits(&state, &[], &TimeZone::UTC, today).unwrap();
        assert!(nothing.starts_with("Nothing else moves; the plan still ends"), "{nothing}");
        let gone = PlanEdit::Remove { node: "nobody".into() };
        assert!(preview_edits(&state, &[gone], &TimeZone::UTC, today).is_err());
    }
}
