//! How a draft fits into its time: when each task can be done at the pace of the hours, by when it must be done for
//! what follows, and which dates and waiting times give way.

use std::collections::BTreeMap;

use jiff::civil::Date;

use planwright_model::{IsoWeek, LinkKind, NodeTree, PlanDate, PlanNode, TaskId};
use planwright_schedule::calendar::RecurrenceRule;

use super::instance::{BlueprintInstance, InstanceLag, InstanceLink, add_days, days_between};
use super::span::{PlanSpan, leaf_occurrences};

/// Links mostly point forward in a file, so few rounds reach the end; the bound ends files in which they do not.
const MAX_ROUNDS: usize = 12;
/// The steps in which waiting times are shortened, in percent.
const WAIT_STEPS: [u32; 6] = [100, 75, 50, 30, 15, 0];

/// Moves due dates that the hours cannot meet: a kind's lead times are habits, and the hours are the person's.
/// Nothing moves past the day of the plan; what does not fit before that is for the person to decide.
pub(super) fn relax_due_dates(plan: &mut BlueprintInstance, span: &PlanSpan, scale: f64) {
    let finishes = earliest_finishes(plan, span, scale);
    let mut due: Vec<(Date, usize)> = Vec::new();
    for (place, node) in plan.nodes.iter().enumerate() {
        if let Some(date) = node.due.filter(|_| node.recurrence.is_none()) {
            due.push((date.day, place));
        }
    }
    due.sort_unstable();
    let mut minutes = 0;
    for (day, place) in due {
        let node = &plan.nodes[place];
        minutes += node.work_minutes();
        let by_hours = f64::from(minutes) * 7.0 / f64::from(span.weekly_minutes.max(1));
        let by_links = finishes.get(&node.id).copied().unwrap_or(0.0);
        let offset = f64::from(days_between(span.start, first_day(plan, span)));
        // A weekend may lie between the work and its end.
        let days = (by_hours + offset).max(by_links).ceil() as i64 + 2;
        let last = span.day.filter(|last| day <= *last).unwrap_or(Date::MAX);
        let moved = day.max(add_days(span.start, days)).min(last.max(day));
        plan.nodes[place].due = Some(PlanDate::on_day(moved));
    }
}

/// Returns the day on which the work begins: later than the plan if it is held back.
fn first_day(plan: &BlueprintInstance, span: &PlanSpan) -> Date {
    let held = plan.nodes.iter().filter_map(|node| node.not_before).map(|date| date.day).min();
    held.unwrap_or(span.start)
}

/// Returns how much waiting times shrink so that the plan ends in time; `most` is the share that the span allows.
pub(super) fn fit_waiting_times(plan: &BlueprintInstance, span: &PlanSpan, most: f64) -> f64 {
    // A fifth of the days is no working time.
    let room = f64::from(span.days) * 0.9 - 1.0;
    let fits = |scale: &f64| last_finish(plan, span, *scale) <= room;
    let steps = WAIT_STEPS.into_iter().map(|percent| most * f64::from(percent) / 100.0);
    let mut steps = steps.collect::<Vec<f64>>().into_iter();
    steps.find(fits).unwrap_or(if last_finish(plan, span, most) > room * 2.0 { most } else { 0.0 })
}

/// Returns the days after the start at which everything is finished.
pub(super) fn last_finish(plan: &BlueprintInstance, span: &PlanSpan, scale: f64) -> f64 {
    earliest_finishes(plan, span, scale).into_values().fold(0.0, f64::max)
}

/// Returns the days after the start at which each leaf can be finished at the earliest, at the pace of the hours.
fn earliest_finishes(
    plan: &BlueprintInstance,
    span: &PlanSpan,
    scale: f64,
) -> BTreeMap<TaskId, f64> {
    let tree = NodeTree::new(&plan.nodes);
    let pace = 7.0 / f64::from(span.weekly_minutes.max(1));
    let start = f64::from(days_between(span.start, first_day(plan, span)));
    let once = |leaf: &&PlanNode| leaf.recurrence.is_none();
    let days = |leaf: &PlanNode| match leaf.fixed_start {
        // It is done on its day, however long it takes.
        Some(_) => 1.0,
        None => f64::from(leaf.work_minutes()) * pace,
    };
    let leaves: Vec<&PlanNode> = tree.leaves(&plan.nodes[0].id).into_iter().filter(once).collect();
    let mut finish: BTreeMap<TaskId, f64> = leaves
        .iter()
        .map(|leaf| {
            let fixed = leaf.fixed_start.map(|date| f64::from(days_between(span.start, date.day)));
            (leaf.id.clone(), fixed.unwrap_or(start) + days(leaf))
        })
        .collect();
    for _ in 0..MAX_ROUNDS {
        let before = finish.clone();
        for link in &plan.links {
            let sources = tree.leaves(&link.from);
            let ends = sources.iter().filter_map(|leaf| {
                let end = finish.get(&leaf.id)?;
                Some(if link.kind == LinkKind::SS { end - days(leaf) } else { *end })
            });
            let done = match link.kind {
                LinkKind::SS => ends.fold(f64::MAX, f64::min),
                _ => ends.fold(0.0, f64::max),
            };
            if done >= f64::MAX {
                continue;
            }
            for leaf in tree.leaves(&link.to) {
                let own = done + lag_days(link, scale) + days(leaf);
                if let Some(at) = finish.get_mut(&leaf.id) {
                    *at = at.max(own);
                }
            }
        }
        if finish == before {
            break;
        }
    }
    finish
}

fn lag_days(link: &InstanceLink, scale: f64) -> f64 {
    match link.lag {
        InstanceLag::Elapsed(_) => {
            f64::from(link.to_dependency(0, scale).lag_minutes) / (24.0 * 60.0)
        }
        InstanceLag::None | InstanceLag::Percent(_) => 0.0,
    }
}

/// Returns the minutes a week that an instance needs at least: over the days on which it is worked on, before each of its
/// dates, and in the weeks in which most repeats.
pub(super) fn needed_weekly(plan: &BlueprintInstance, span: &PlanSpan) -> u32 {
    let tree = NodeTree::new(&plan.nodes);
    let leaves = tree.leaves(&plan.nodes[0].id);
    let first = first_day(plan, span);
    let weeks_until = |day: Date| (days_between(first, day) + 1).div_ceil(7).max(1);
    let (repeated, once): (Vec<&PlanNode>, Vec<&PlanNode>) =
        leaves.iter().partition(|leaf| leaf_occurrences(leaf, &tree, span.weeks()) > 1);
    let total: u32 = once.iter().map(|leaf| leaf.work_minutes()).sum();
    let last = span.day.unwrap_or(span.last_day);
    let mut most = total.div_ceil(weeks_until(last)) + busiest_week(&repeated, &tree, span);
    let dues = implied_dues(plan, &tree, &once);
    let mut by_date: BTreeMap<Date, u32> = BTreeMap::new();
    let mut fixed_weeks: BTreeMap<IsoWeek, u32> = BTreeMap::new();
    for leaf in &once {
        if let Some(day) = dues.get(&leaf.id) {
            *by_date.entry(*day).or_default() += leaf.work_minutes();
        }
        if let Some(date) = leaf.fixed_start {
            *fixed_weeks.entry(IsoWeek::from_date(date.day)).or_default() += leaf.work_minutes();
        }
    }
    let mut before = 0;
    for (day, minutes) in by_date {
        before += minutes;
        most = most.max(before.div_ceil(weeks_until(day)));
    }
    most.max(fixed_weeks.into_values().max().unwrap_or(0))
}

/// Returns by when each leaf must be done: for its own date, or for that of anything that follows it.
fn implied_dues(
    plan: &BlueprintInstance,
    tree: &NodeTree<'_>,
    once: &[&PlanNode],
) -> BTreeMap<TaskId, Date> {
    let own = |leaf: &&PlanNode| Some((leaf.id.clone(), leaf.due.or(leaf.fixed_start)?.day));
    let mut dues: BTreeMap<TaskId, Date> = once.iter().filter_map(own).collect();
    for _ in 0..MAX_ROUNDS {
        let before = dues.len();
        let mut changed = false;
        for link in plan.links.iter().filter(|link| link.kind == LinkKind::FS) {
            let wanted =
                tree.leaves(&link.to).iter().filter_map(|leaf| dues.get(&leaf.id)).min().copied();
            let Some(wanted) = wanted else { continue };
            for leaf in tree.leaves(&link.from).iter().filter(|leaf| leaf.recurrence.is_none()) {
                let known = dues.entry(leaf.id.clone()).or_insert(Date::MAX);
                changed |= wanted < *known;
                *known = wanted.min(*known);
            }
        }
        if !changed && dues.len() == before {
            break;
        }
    }
    dues
}

/// Returns the minutes of repeated work in the week that has most of it.
fn busiest_week(repeated: &[&PlanNode], tree: &NodeTree<'_>, span: &PlanSpan) -> u32 {
    let mut weeks: BTreeMap<IsoWeek, u32> = BTreeMap::new();
    for leaf in repeated {
        let above =
            || tree.ancestors(&leaf.id).into_iter().find_map(|node| node.recurrence.as_ref());
        let Some(recurrence) = leaf.recurrence.as_ref().or_else(above) else { continue };
        for date in RecurrenceRule::from(recurrence).dates_between(span.start, span.last_day) {
            *weeks.entry(IsoWeek::from_date(date)).or_default() += leaf.work_minutes();
        }
    }
    weeks.into_values().max().unwrap_or(0)
}
