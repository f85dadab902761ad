//! What would follow from changes of a plan, before they are made: which tasks move and when the plan ends.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::changes::own_minutes;
use super::{DraftComparison, PlanRowChange, PlanRowKind, PlanTextRow, compare_rows, plan_rows};
use planwright_drafting::change_requests::{ContextChange, apply_context_change};
use planwright_model::{DateField, PlanDate, PlanEdit, TaskId};
use planwright_plan::edit::apply_edits;
use planwright_schedule::calendar::WorkCalendar;
use planwright_schedule::{DraftScheduleRequest, OtherBlock, schedule_draft};
use planwright_state::SessionState;
use planwright_text::dates::format_date;
use planwright_text::units::format_counted;

/// What a preview is made from.
#[derive(Clone, Copy, Debug)]
pub struct PreviewSource<'a> {
    pub state: &'a SessionState,
    /// Blocks of the person's other plans.
    pub others: &'a [OtherBlock],
    pub zone: &'a TimeZone,
    pub now: Timestamp,
}

impl PreviewSource<'_> {
    fn today(&self) -> Date {
        self.now.to_zoned(self.zone.clone()).date()
    }
}

/// Says what follows from some operations: `5 tasks move; the plan still ends Sat 19 Dec.`, or why they cannot be made.
pub fn preview_edits(source: PreviewSource<'_>, edits: &[PlanEdit]) -> Result<String, String> {
    preview_changes(source, edits, &[])
}

/// What comes of a row that is to begin on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreviewedDay {
    Fits,
    /// Something else takes the day.
    NoTime,
    /// The person has no hours then.
    OutsideHours,
}

/// Says whether a row can begin on a day, at hours that the person has.
pub(crate) fn preview_day(
    source: PreviewSource<'_>,
    node: &TaskId,
    day: Date,
) -> Result<PreviewedDay, String> {
    let date = Some(PlanDate::on_day(day));
    let edit = PlanEdit::SetDate { node: node.clone(), field: DateField::FixedStart, date };
    let mut after = apply_preview(source, &[edit])?;
    reschedule(&mut after, source)?;
    let rows = plan_rows(&after, source.zone);
    let days = rows.iter().find(|row| row.id == *node).and_then(|row| row.days);
    if days.is_none_or(|days| days.first != day) {
        return Ok(PreviewedDay::NoTime);
    }
    let fits = is_within_hours(&after, node, day);
    Ok(if fits { PreviewedDay::Fits } else { PreviewedDay::OutsideHours })
}

/// Whether all blocks of a row lie in the hours of the plan. What has a day of its own needs none.
fn is_within_hours(state: &SessionState, node: &TaskId, day: Date) -> bool {
    let planning = &state.planning;
    let own_day = planning.roadmap.as_deref().and_then(|roadmap| {
        roadmap.nodes.iter().find(|other| other.id == *node).map(|node| node.in_one_piece)
    });
    let (Some(context), Some(schedule)) = (&planning.context, &planning.schedule) else {
        return true;
    };
    // "Only on Saturdays" is a preference within the hours of all plans.
    let mut calendar = context.calendar.clone();
    if !context.user_prefs.preferred_windows.is_empty() {
        calendar.working.clone_from(&context.user_prefs.preferred_windows);
    }
    let Ok(hours) = WorkCalendar::from_plan(&calendar, day) else { return true };
    own_day == Some(true)
        || schedule.blocks_for_node(node).all(|block| {
            let minutes = block.start.at.duration_until(block.end.at).as_mins();
            let working = hours.working_between(block.start.at, block.end.at);
            u64::try_from(minutes).is_ok_and(|minutes| working >= minutes)
        })
}

/// The same for operations and for changes of hours and dates.
pub fn preview_changes(
    source: PreviewSource<'_>,
    edits: &[PlanEdit],
    limits: &[ContextChange],
) -> Result<String, String> {
    let state = source.state;
    if state.planning.outline.is_none() && !edits.is_empty() {
        return Ok(String::new());
    }
    let mut after = apply_preview(source, edits)?;
    if state.planning.schedule.is_none() {
        return Ok(String::new());
    }
    if let Some(context) = &mut after.planning.context {
        for change in limits {
            apply_context_change(Arc::make_mut(context), change);
        }
    }
    if let Err(why) = reschedule(&mut after, source) {
        return Ok(format!("The dates can't be worked out: {why}."));
    }
    let (before, after) = (plan_rows(state, source.zone), plan_rows(&after, source.zone));
    let changes = compare_rows(&before, &after);
    let end = after.iter().filter_map(|row| row.days).map(|days| days.last).max();
    let mut effect = describe_effect(&changes, end, source.today());
    if end > changes.end_before
        && let Some(why) = describe_later_end(state, &before, &after)
    {
        effect = format!("{effect} {why}");
    }
    Ok(effect)
}

/// Why a plan ends later although its work is the same: parts of a task are tasks of their own.
fn describe_later_end(
    state: &SessionState,
    before: &[PlanTextRow],
    after: &[PlanTextRow],
) -> Option<String> {
    let tasks = |rows: &[PlanTextRow]| {
        let is_task = |row: &&PlanTextRow| row.kind == PlanRowKind::Task;
        rows.iter().filter(is_task).count()
    };
    let pause = state.planning.context.as_deref()?.user_prefs.break_minutes;
    let divided = tasks(after) > tasks(before) && own_minutes(after) == own_minutes(before);
    let minutes = planwright_text::units::format_planned(pause.into());
    (divided && pause > 0).then(|| format!("Each part is followed by a break of {minutes}."))
}

/// The planning of a session with some operations applied, without new dates.
fn apply_preview(source: PreviewSource<'_>, edits: &[PlanEdit]) -> Result<SessionState, String> {
    let state = source.state;
    let mut after = SessionState { planning: state.planning.clone(), ..SessionState::default() };
    let planning = &state.planning;
    let Some(outline) = planning.outline.as_deref().filter(|_| !edits.is_empty()) else {
        return Ok(after);
    };
    // All of them together, as they are saved.
    let edited = apply_edits(outline, planning.roadmap.as_deref(), edits, &planning.locked)
        .map_err(|error| {
            planwright_text::clean_line(&format!("{error}; {}", error.hint())).into_owned()
        })?;
    after.planning.outline = Some(Arc::new(edited.outline));
    after.planning.roadmap = edited.roadmap.map(Arc::new);
    Ok(after)
}

/// Puts dates on the changed draft as the planner will.
fn reschedule(state: &mut SessionState, source: PreviewSource<'_>) -> Result<(), String> {
    let planning = &mut state.planning;
    let (Some(roadmap), Some(context)) = (&planning.roadmap, &planning.context) else {
        return Ok(());
    };
    let schedule = schedule_draft(&DraftScheduleRequest {
        roadmap,
        context,
        before: planning.schedule.as_deref(),
        shown: planning.shown_schedule(),
        settled: &planning.frozen.to_open_work(),
        events: &[],
        others: source.others,
        goal: &planning.goal,
        now: source.now,
    });
    planning.schedule = Some(Arc::new(schedule.map_err(|error| error.to_string())?));
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
        let now: Timestamp = "2026-06-07T12:00:00Z".parse().unwrap();
        let source = PreviewSource { state: &state, others: &[], zone: &TimeZone::UTC, now };
        let rows = plan_rows(&state, &TimeZone::UTC);
        let first = rows.iter().find(|row| row.minutes.is_some() && row.depth > 0).unwrap();
        let edit = PlanEdit::SetEstimate { node: first.id.clone(), minutes: 900 };
        let said = preview_edits(source, &[edit]).unwrap();
        assert!(said.contains(" move") && said.contains("the plan "), "{said}");
        let nothing = preview_edits(source, &[]).unwrap();
        assert!(nothing.starts_with("Nothing else moves; the plan still ends"), "{nothing}");
        let gone = PlanEdit::Remove { node: "nobody".into() };
        assert!(preview_edits(source, &[gone]).is_err());
    }

    #[test]
    fn a_later_end_of_the_same_work_in_more_parts_has_a_reason() {
        let mut state = planned::scheduled().state();
        let before = plan_rows(&state, &TimeZone::UTC);
        let at = before.iter().position(|row| row.kind == PlanRowKind::Task && row.is_yours);
        let at = at.unwrap();
        let mut after = before.clone();
        let half = after[at].minutes.unwrap() / 2;
        let part = PlanTextRow { minutes: Some(half), id: "part".into(), ..after[at].clone() };
        after[at].minutes = Some(before[at].minutes.unwrap() - half);
        after.insert(at + 1, part);
        let why = describe_later_end(&state, &before, &after).unwrap();
        assert_eq!(why, "Each part is followed by a break of 10 min.");
        // More work is its own reason, and without breaks there is another one.
        after[at].minutes = before[at].minutes;
        assert_eq!(describe_later_end(&state, &before, &after), None);
        let context = Arc::make_mut(state.planning.context.as_mut().unwrap());
        context.user_prefs.break_minutes = 0;
        after[at].minutes = Some(before[at].minutes.unwrap() - half);
        assert_eq!(describe_later_end(&state, &before, &after), None);
    }

    #[test]
    fn a_day_without_hours_is_told_apart_from_a_full_one() {
        let state = planned::scheduled().state();
        let now: Timestamp = "2026-06-07T12:00:00Z".parse().unwrap();
        let source = PreviewSource { state: &state, others: &[], zone: &TimeZone::UTC, now };
        let rows = plan_rows(&state, &TimeZone::UTC);
        let task = rows.iter().find(|row| row.is_yours && row.days.is_some()).unwrap();
        let days = task.days.unwrap();
        assert_eq!(preview_day(source, &task.id, days.first), Ok(PreviewedDay::Fits));
        let sunday = (0..7)
            .map(|ahead| days.last.saturating_add(jiff::Span::new().days(ahead)))
            .find(|day| day.weekday() == jiff::civil::Weekday::Sunday)
            .unwrap();
        assert_eq!(preview_day(source, &task.id, sunday), Ok(PreviewedDay::OutsideHours));
    }

    #[test]
    fn hours_that_were_asked_for_in_words_are_kept_too() {
        let mut state = planned::scheduled().state();
        let now: Timestamp = "2026-06-07T12:00:00Z".parse().unwrap();
        let rows = plan_rows(&state, &TimeZone::UTC);
        let task = rows.iter().find(|row| row.is_yours && row.days.is_some()).unwrap();
        let day = task.days.unwrap().first;
        let context = Arc::make_mut(state.planning.context.as_mut().unwrap());
        let mut others = context.calendar.working.clone();
        others.remove(&planwright_model::Weekday::from_date(day));
        assert!(others.values().any(|times| !times.is_empty()));
        context.user_prefs.preferred_windows = others;
        let source = PreviewSource { state: &state, others: &[], zone: &TimeZone::UTC, now };
        assert_ne!(preview_day(source, &task.id, day), Ok(PreviewedDay::Fits));
    }
}
