//! Whether dates that were set by hand are kept (G411, G412).

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::artifacts::{RuleScope, display_title_of};
use super::super::rule_table::rule_violation;
use crate::diff::format_plan_date;
use planwright_model::{
    DateField, NodeDates, NodeStatus, PlanDate, PlanNode, Schedule, TaskId, Violation,
};
use planwright_schedule::calendar::find_zone;

/// Returns whether a leaf starts or ends on a date that was fixed by hand.
pub(crate) fn is_fixed_by_hand(scope: &RuleScope<'_>, id: &TaskId) -> bool {
    scope.tree.get(id).is_some_and(|node| node.fixed_start.or(node.fixed_end).is_some())
}

/// Returns the dates of a leaf; a group's "not before" and "due" apply to everything in it.
fn effective_dates(scope: &RuleScope<'_>, leaf: &PlanNode) -> NodeDates {
    let mut dates = leaf.dates();
    for above in scope.tree.ancestors(&leaf.id) {
        dates.not_before = dates.not_before.max(above.not_before);
        dates.due = dates.due.into_iter().chain(above.due).min();
    }
    dates
}

/// G411 and G412.
pub(super) fn check_dates(scope: &RuleScope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    let zone = find_zone(&schedule.tz).unwrap_or(TimeZone::UTC);
    let leaves = scope.tree.leaves(scope.root_id);
    for leaf in leaves.into_iter().filter(|leaf| leaf.status != NodeStatus::Done) {
        let dates = effective_dates(scope, leaf);
        let blocks = || schedule.blocks_for_node(&leaf.id);
        let start = blocks().map(|block| block.start.at).min();
        let end = blocks().map(|block| block.end.at).max();
        let (Some(start), Some(end)) = (start, end) else { continue };
        let (start, end) = (zone.to_datetime(start), zone.to_datetime(end));
        for (field, date) in dates.stated() {
            let (kept, got) = match field {
                DateField::FixedStart => (is_on(start, date), start),
                DateField::FixedEnd => (is_on(last_day_of(end), date) || is_on(end, date), end),
                DateField::NotBefore => (start >= date.first_minute(), start),
                DateField::Due => (end <= date.last_minute(), end),
            };
            // A repeating task has a first start; only that can be too early.
            let applies = leaf.recurrence.is_none() || field == DateField::NotBefore;
            if !kept && applies {
                found.push(date_violation(scope, &leaf.id, (field, date), got));
            }
        }
    }
}

/// Returns whether a moment is on a day, or at a time.
fn is_on(moment: DateTime, date: PlanDate) -> bool {
    match date.time {
        Some(_) => moment == date.first_minute(),
        None => moment.date() == date.day,
    }
}

/// What ends at midnight ends on the day before.
fn last_day_of(end: DateTime) -> DateTime {
    end.checked_sub(jiff::Span::new().minutes(1)).unwrap_or(end)
}

fn date_violation(
    scope: &RuleScope<'_>,
    id: &TaskId,
    (field, date): (DateField, PlanDate),
    got: DateTime,
) -> Violation {
    let fixed = matches!(field, DateField::FixedStart | DateField::FixedEnd);
    let rule = if fixed { "G411" } else { "G412" };
    let near = scope.context().constraints.start;
    let got = format_plan_date(PlanDate::at_time(got), near);
    let (title, date) = (display_title_of(scope, id), format_plan_date(date, near));
    let values = [
        ("title", title.as_str()),
        ("words", field.words()),
        ("date", date.as_str()),
        ("got", got.as_str()),
    ];
    rule_violation(rule, [id.clone()], &values)
}
