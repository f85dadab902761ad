//! The grammar rules for plan files with durations: G301, G303, G306, and G305 if the calendar has an end.

use jiff::civil::Date;

use crate::check::ScheduleReport;
use crate::diff::format_plan_date;
use crate::plan_file::{DecodedPlan, escape_for_message};
use crate::plan_file_schedule::{LocalContext, file_calendar};
use planwright_model::{
    DateField, LinkKind, OffsetDateTime, Plan, PlanDate, RunKind, Severity, TaskId, TaskLink,
    TaskNode, Violation,
};
use planwright_schedule::calendar::plus_days;

/// The assumed duration of a task without siblings to derive it from.
const DEFAULT_MINUTES: u32 = 60;
/// The longest duration at which a task is still easy to track.
const MAX_MINUTES: u32 = 960;

/// Applies the rules if any task has a duration.
pub(super) fn apply_duration_rules(decoded: &mut DecodedPlan) {
    let timed = decoded.plan.tasks.iter().any(|task| task.duration_minutes.is_some());
    if !timed {
        return;
    }
    let mut found = impossible_leads(decoded);
    let filled = fill_estimates(&mut decoded.plan);
    found.extend(filled.into_iter().chain(find_oversized_tasks(&decoded.plan)).map(
        |(index, violation)| {
            let place = decoded.task_places.get(index).copied();
            locate_violation(violation, place)
        },
    ));
    decoded.violations.extend(found);
}

fn locate_violation(mut violation: Violation, place: Option<(u32, u32)>) -> Violation {
    (violation.line, violation.column) = place.unzip();
    violation
}

/// G301: gives every task without an estimate the median of the others, or else 60 minutes. Returns a warning for each,
/// with the task's index.
pub fn fill_estimates(plan: &mut Plan) -> Vec<(usize, Violation)> {
    let mut known: Vec<u32> = plan.tasks.iter().filter_map(|task| task.duration_minutes).collect();
    let minutes = median_minutes(&mut known).unwrap_or(DEFAULT_MINUTES);
    let mut warnings = Vec::new();
    for (index, task) in plan.tasks.iter_mut().enumerate() {
        if task.duration_minutes.is_none() {
            task.duration_minutes = Some(minutes);
            let message =
                format!("No time estimate for \"{}\".", escape_for_message(&task.description));
            let fix = format!(
                "{} is assumed, the median of the other tasks.",
                planwright_text::units::format_planned(minutes.into())
            );
            let violation = Violation::new("G301", Severity::Warning, message, fix);
            warnings.push((index, violation.with_nodes([task.id.clone()])));
        }
    }
    warnings
}

fn median_minutes(values: &mut [u32]) -> Option<u32> {
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(lower + (upper - lower) / 2)
}

/// G306: tasks that take longer than two working days.
pub fn find_oversized_tasks(plan: &Plan) -> Vec<(usize, Violation)> {
    let big = plan
        .tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| task.duration_minutes.is_some_and(|minutes| minutes > MAX_MINUTES));
    big.map(|(index, task)| {
        let message = format!("\"{}\" is too big to track.", escape_for_message(&task.description));
        let fix = "Split into parts of at most 8 h.";
        let violation = Violation::new("G306", Severity::Warning, message, fix);
        (index, violation.with_nodes([task.id.clone()]))
    })
    .collect()
}

/// G305: more effort than the working time from the start to the deadline or the end of the horizon.
pub(super) fn check_total_effort(
    plan: &Plan,
    local: &LocalContext,
    place: Option<(u32, u32)>,
) -> Option<Violation> {
    let stated = plan.calendar.as_ref()?;
    let calendar = file_calendar(stated, local).ok()?;
    let first = calendar.local_date(calendar.horizon_start());
    let end = match (stated.deadline, stated.horizon_weeks) {
        (Some(deadline), _) => {
            planwright_schedule::calendar::resolve_local(deadline, calendar.zone())
        }
        (None, Some(weeks)) => calendar.day_start(plus_days(first, i64::from(weeks) * 7)),
        (None, None) => return None,
    };
    let available = calendar.working_minutes(end);
    let minutes = |task: &planwright_model::TaskNode| u64::from(task.duration_minutes.unwrap_or(0));
    // Either one person does everything, or each resource contributes its units.
    let needed = if plan.resources.is_empty() {
        plan.tasks.iter().map(minutes).sum::<u64>()
    } else {
        let of = |name: &String, capacity: u32| {
            let units = |task: &planwright_model::TaskNode| {
                minutes(task) * u64::from(task.resources.get(name).copied().unwrap_or(0))
            };
            plan.tasks.iter().map(units).sum::<u64>().div_ceil(u64::from(capacity.max(1)))
        };
        plan.resources.iter().map(|(name, capacity)| of(name, *capacity)).max().unwrap_or(0)
    };
    if needed <= available {
        return None;
    }
    let hours = |minutes: u64| {
        let tenths = minutes.div_ceil(6);
        if tenths.is_multiple_of(10) {
            (tenths / 10).to_string()
        } else {
            format!("{:.1}", tenths as f64 / 10.0)
        }
    };
    let message = format!("Needs {} h, {} h available.", hours(needed), hours(available));
    let short = hours(needed - available);
    let later = calendar.finish_at(needed).map(|at| calendar.local_date(at));
    let later = later.map(|day| format!("end on {day} or later, ")).unwrap_or_default();
    let fix = format!(
        "One of these would do: {later}{short} h more working time until then, or {short} h less work."
    );
    Some(locate_violation(Violation::new("G305", Severity::Warning, message, fix), place))
}

/// G411 and G412: finds tasks whose dates the schedule does not keep. Without a calendar there are no dates to keep.
pub(super) fn check_dates(plan: &Plan, schedule: Option<&ScheduleReport>) -> Vec<Violation> {
    let mut found = Vec::new();
    for task in plan.tasks.iter().filter(|task| !task.dates().is_empty()) {
        let block = schedule.and_then(|made| made.blocks.iter().find(|at| at.task == task.id));
        let times = block.and_then(|block| block.start_at.zip(block.finish_at));
        let Some((start, end)) = times else {
            if task.dates().stated().all(|(field, _)| holds_without_schedule(task, field)) {
                continue;
            }
            let message = format!("\"{}\" has dates, but the plan has no times.", task.id);
            let fix = "Add a [calendar] to the plan, and a duration to the task.";
            let violation = Violation::new("G412", Severity::Warning, message, fix);
            found.push(violation.with_nodes([task.id.clone()]));
            continue;
        };
        let local = |moment: OffsetDateTime| moment.offset.to_datetime(moment.at);
        let (start, end) = (local(start), local(end));
        for (field, date) in task.dates().stated() {
            let on = |moment: jiff::civil::DateTime| match date.time {
                Some(_) => moment == date.first_minute(),
                None => moment.date() == date.day,
            };
            let (rule, kept, got) = match field {
                DateField::FixedStart => ("G411", on(start), start),
                DateField::FixedEnd => ("G411", on(end), end),
                DateField::NotBefore => ("G412", start >= date.first_minute(), start),
                DateField::Due => ("G412", end <= date.last_minute(), end),
            };
            if !kept {
                let (date, got) = (format_plan_date(date, Date::MIN), PlanDate::at_time(got));
                let words = field.words();
                let message = format!(
                    "\"{}\": {words} {date}, but planned for {}.",
                    task.id,
                    format_plan_date(got, Date::MIN)
                );
                let fix = "Choose another date, or make room before it.";
                let violation = Violation::new(rule, Severity::Warning, message, fix);
                found.push(violation.with_nodes([task.id.clone()]));
            }
        }
    }
    found
}

/// Whether a run keeps a date by itself: it waits for the start of what it starts.
fn holds_without_schedule(task: &TaskNode, field: DateField) -> bool {
    let is_start = matches!(field, DateField::FixedStart | DateField::NotBefore);
    is_start && !matches!(task.run, RunKind::Human {})
}

/// G303: finds leads that reach back before their predecessor's start.
fn impossible_leads(decoded: &DecodedPlan) -> Vec<Violation> {
    let durations: std::collections::HashMap<&TaskId, u32> = decoded
        .plan
        .tasks
        .iter()
        .filter_map(|task| Some((&task.id, task.duration_minutes?)))
        .collect();
    let mut found = Vec::new();
    for (index, task) in decoded.plan.tasks.iter().enumerate() {
        for link in task.dependencies.iter().filter(|link| link.kind == LinkKind::FS) {
            let lead = i64::from(link.lag_minutes).saturating_neg();
            if durations.get(&link.task).is_some_and(|&minutes| lead > i64::from(minutes)) {
                let (a, b) = (&link.task, &task.id);
                let message = format!("The link {a}→{b} has an impossible offset.");
                let fix = format!(
                    "Clip the lead to {}.",
                    planwright_text::units::format_planned(durations[a].into())
                );
                let violation = Violation::new("G303", Severity::Repairable, message, fix)
                    .with_nodes([a.clone(), b.clone()]);
                found.push(locate_violation(violation, link_place(decoded, index, link)));
            }
        }
    }
    found
}

fn link_place(decoded: &DecodedPlan, index: usize, link: &TaskLink) -> Option<(u32, u32)> {
    let links = decoded.link_places.get(index)?;
    links.iter().find(|(other, _)| other == link).map(|(_, place)| *place)
}
