//! When the tasks of a plan file are due by its `[calendar]`, counted from the moment it was proposed: a replay shows
//! the same dates.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use planwright_model::TaskId;
use planwright_plan::plan_file_schedule::{LocalContext, schedule_plan_file};
use planwright_state::{PlanRevision, SessionState};

/// Start and end of each task; empty where the plan has no calendar, or comes from a goal and has a schedule.
pub(crate) fn file_task_times(
    state: &SessionState,
    zone: &TimeZone,
) -> HashMap<TaskId, (Timestamp, Timestamp)> {
    let Some((revision, local)) = dated_revision(state, zone) else { return HashMap::new() };
    // A calendar without room for the work was reported when the file was read.
    let report = schedule_plan_file(&revision.plan, &local).ok().flatten();
    let blocks = report.into_iter().flat_map(|report| report.blocks);
    blocks
        .filter_map(|block| Some((block.task, (block.start_at?.at, block.finish_at?.at))))
        .collect()
}

/// The deadline that the calendar of a plan file states.
pub(crate) fn file_deadline(state: &SessionState, zone: &TimeZone) -> Option<Timestamp> {
    let (revision, local) = dated_revision(state, zone)?;
    let stated = revision.plan.calendar.as_ref()?;
    let name = if stated.hours.tz.is_empty() { &local.tz } else { &stated.hours.tz };
    let zone = TimeZone::get(name).unwrap_or_else(|_| zone.clone());
    stated.deadline?.to_zoned(zone).ok().map(|deadline| deadline.timestamp())
}

/// A plan file with a calendar, and what holds where that says nothing.
fn dated_revision<'a>(
    state: &'a SessionState,
    zone: &TimeZone,
) -> Option<(&'a PlanRevision, LocalContext)> {
    let revision = state.plan.current.as_deref()?;
    revision.plan.calendar.as_ref().filter(|_| state.planning.roadmap.is_none())?;
    let proposed = state.plan.revisions.last().map(|head| head.at)?;
    let mut local = LocalContext::from_clock(&proposed.to_zoned(zone.clone()));
    if !revision.facts.time_zone.is_empty() {
        local.tz.clone_from(&revision.facts.time_zone);
    }
    Some((revision, local))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::plan_rows;
    use crate::tests::fixture::Fixture;
    use planwright_plan::plan_file::{PlanFileFormat, parse_plan_file};
    use planwright_text::dates::format_date;

    const DATED: &str = r#"
title = "Two Saturdays"
[calendar]
tz = "UTC"
start = 2026-06-13
deadline = "2026-06-30T12:00"
working = { sat = ["09:00-12:00"] }
[[tasks]]
id = "a"
description = "Sort the tools"
duration = "3h"
run = { human = {} }
[[tasks]]
id = "b"
description = "Paint the shed"
duration = "2h"
depends_on = ["a"]
run = { human = {} }
"#;

    #[test]
    fn a_plan_file_with_a_calendar_has_its_dates_in_the_rows() {
        let plan = parse_plan_file(DATED, PlanFileFormat::Toml, "plan.toml").unwrap().plan;
        let state = Fixture::new("Two Saturdays").propose(plan, vec![]).state();
        let rows = plan_rows(&state, &TimeZone::UTC);
        let today = jiff::civil::date(2026, 6, 8);
        let days: Vec<String> =
            rows.iter().filter_map(|row| Some(format_date(row.days?.first, today))).collect();
        assert_eq!(days, ["Sat 13 Jun", "Sat 20 Jun"]);
        let deadline = file_deadline(&state, &TimeZone::UTC).unwrap();
        assert_eq!(deadline, "2026-06-30T12:00:00Z".parse().unwrap());
    }
}
