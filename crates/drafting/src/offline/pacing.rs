//! How a draft fits into its time: when each task can be done at the pace of the hours, by when it must be done for
//! what follows, and which dates and waiting times give way.

use std::collections::BTreeMap;

use jiff::civil::Date;

use planwright_model::{
    IsoWeek, LinkKind, NodeTree, PlanCalendar, PlanContext, PlanDate, PlanNode, Recurrence, Role,
    TaskId,
};
use planwright_schedule::calendar::RecurrenceRule;

use super::instance::{
    BlueprintInstance, InstanceLag, InstanceLink, add_days, count_open_dates, days_between,
};
use super::span::{PlanSpan, leaf_occurrences};

/// Links mostly point forward in a file, so few rounds reach the end; the bound ends files in which they do not.
const MAX_ROUNDS: usize = 12;
/// The steps in which waiting times are shortened, in percent.
const WAIT_STEPS: [u32; 6] = [100, 75, 50, 30, 15, 0];

/// The share of a kind's own time from which its waits are not what makes a plan too long.
const NEARLY_USUAL: f64 = 0.75;
/// The share of waiting times that is left where cutting them helps nothing.
const LEAST_WAITS: f64 = 0.4;

/// Moves due dates that the hours cannot meet: a kind's lead times are habits, and the hours are the person's.
/// Nothing moves past the day of the plan; what does not fit before that is for the person to decide.
pub(super) fn relax_due_dates(plan: &mut BlueprintInstance, span: &PlanSpan, scale: f64) {
    let finishes = earliest_finishes(plan, span, scale);
    let before_own_days = implied_dues(plan, &NodeTree::new(&plan.nodes), day_before_own);
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
        let last = before_own_days.get(&node.id).map_or(last, |before| last.min(*before));
        let moved = day.max(add_days(span.start, days)).min(last.max(day));
        plan.nodes[place].due = Some(PlanDate::on_day(moved));
    }
}

/// Returns the day on which the work begins: later than the plan if it is held back.
fn first_day(plan: &BlueprintInstance, span: &PlanSpan) -> Date {
    let parts = plan.nodes.iter().filter(|node| node.level == 2 && !node.milestone);
    let first = parts.map(|node| node.not_before.map_or(span.start, |date| date.day)).min();
    first.unwrap_or(span.start)
}

/// Returns how much waiting times shrink so that the plan ends in time; `most` is the share that the span allows.
pub(super) fn fit_waiting_times(plan: &BlueprintInstance, span: &PlanSpan, most: f64) -> f64 {
    // A fifth of the days is no working time.
    let room = f64::from(span.days) * 0.9 - 1.0;
    let fits = |scale: &f64| last_finish(plan, span, *scale) <= room;
    let steps = WAIT_STEPS.into_iter().map(|percent| most * f64::from(percent) / 100.0);
    let mut steps = steps.collect::<Vec<f64>>().into_iter();
    if let Some(found) = steps.find(fits) {
        // With nearly the usual time it is the work that takes long, and not the answers.
        return if most >= NEARLY_USUAL { found.max(most * LEAST_WAITS) } else { found };
    }
    // Where the work itself takes too long, others still need some days for their answers.
    if last_finish(plan, span, most) > room * 2.0 { most } else { most * LEAST_WAITS }
}

/// Returns the days after the start at which everything is finished.
pub(super) fn last_finish(plan: &BlueprintInstance, span: &PlanSpan, scale: f64) -> f64 {
    // What is on a day is there however much time there is.
    let fixed =
        |id: &TaskId| plan.nodes.iter().any(|node| node.id == *id && node.fixed_start.is_some());
    let open = earliest_finishes(plan, span, scale).into_iter().filter(|(id, _)| !fixed(id));
    open.map(|(_, day)| day).fold(0.0, f64::max)
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

/// Lets repeated work begin when what it or its phase waits for can be done: nobody practices on an instrument that is
/// not bought, or visits a pilot that has not begun.
pub(super) fn hold_back_repeated(
    plan: &mut BlueprintInstance,
    span: &PlanSpan,
    calendar: &PlanCalendar,
    scale: f64,
) {
    let finishes = earliest_finishes(plan, span, scale);
    let tree = NodeTree::new(&plan.nodes);
    let mut starts: Vec<(usize, Date)> = Vec::new();
    for (place, node) in plan.nodes.iter().enumerate() {
        if node.recurrence.is_none() {
            continue;
        }
        let above: Vec<&TaskId> =
            tree.ancestors(&node.id).into_iter().map(|node| &node.id).collect();
        let waits = |link: &&InstanceLink| {
            link.kind == LinkKind::FS && (link.to == node.id || above.contains(&&link.to))
        };
        let linked = plan.links.iter().filter(waits).flat_map(|link| {
            let lag = lag_days(link, scale);
            let ends =
                tree.leaves(&link.from).into_iter().filter_map(|leaf| finishes.get(&leaf.id));
            ends.map(move |end| end + lag).collect::<Vec<f64>>()
        });
        // What sets up a phase stands before the work that repeats in it.
        let set_up = plan.nodes[..place].iter().filter(|own| {
            own.parent_id == node.parent_id
                && own.role == Role::Setup
                && node.role != Role::Setup
                && own.stream == node.stream
                && own.recurrence.is_none()
        });
        let ready = set_up.filter_map(|own| finishes.get(&own.id)).copied();
        let ready = linked.chain(ready).fold(0.0, f64::max);
        if ready >= 1.0 {
            // A weekend may lie in between.
            starts.push((place, add_days(span.start, ready.ceil() as i64 + 2)));
        }
    }
    for (place, day) in starts {
        if let Some(found) = plan.nodes[place].recurrence.as_mut() {
            delay_recurrence(found, day, span, calendar);
        }
    }
}

/// Moves the first time to a day, and the last one by as much while there is room, if that leaves at least one. The effort
/// stays as it is where the span allows it: hours decide dates, and never the work.
fn delay_recurrence(found: &mut Recurrence, day: Date, span: &PlanSpan, calendar: &PlanCalendar) {
    let first = found.from.unwrap_or(span.start);
    if first >= day {
        return;
    }
    let last = found.until.unwrap_or(span.last_day);
    let later = add_days(last, i64::from(days_between(first, day)));
    let end = span.day.map_or(span.last_day, |own| add_days(own, -1)).max(last);
    let until = later.min(end).min(add_days(span.last_day, -7)).max(last);
    let moved = Recurrence { from: Some(day), until: Some(until), ..found.clone() };
    let left = count_open_dates(&moved, calendar, day, until);
    if day < last && left > 0 {
        *found = Recurrence { count: moved.count.map(|count| count.min(left)), ..moved };
    }
}

fn lag_days(link: &InstanceLink, scale: f64) -> f64 {
    match link.lag {
        InstanceLag::Elapsed { .. } => {
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
    // A week holds at least what is done in one piece.
    let whole = leaves.iter().filter(|leaf| leaf.in_one_piece && !leaf.has_own_day());
    let longest = whole.map(|leaf| leaf.work_minutes()).max().unwrap_or(0);
    // A day of its own takes nothing of the hours of its week.
    let once: Vec<&PlanNode> = once.into_iter().filter(|leaf| !leaf.has_own_day()).collect();
    let total: u32 = once.iter().map(|leaf| leaf.work_minutes()).sum();
    let last = span.day.unwrap_or(span.last_day);
    let mut most = total.div_ceil(weeks_until(last)) + busiest_week(&repeated, &tree, span);
    let dues = implied_dues(plan, &tree, own_due);
    let mut by_date: BTreeMap<Date, u32> = BTreeMap::new();
    for leaf in &once {
        if let Some(day) = dues.get(&leaf.id) {
            *by_date.entry(*day).or_default() += leaf.work_minutes();
        }
    }
    let mut before = 0;
    for (day, minutes) in by_date {
        before += minutes;
        most = most.max(before.div_ceil(weeks_until(day)));
    }
    most.max(longest)
}

/// What is on a day leaves the days before it to the others.
fn day_before_own(leaf: &PlanNode) -> Option<Date> {
    leaf.fixed_start.map(|date| add_days(date.day, -1))
}

fn own_due(leaf: &PlanNode) -> Option<Date> {
    leaf.due.map(|date| date.day).or_else(|| day_before_own(leaf))
}

/// Returns the minutes that a working day must hold so that everything is done before its dates.
pub(super) fn needed_daily(
    plan: &BlueprintInstance,
    span: &PlanSpan,
    context: &PlanContext,
) -> u32 {
    let tree = NodeTree::new(&plan.nodes);
    let dues = implied_dues(plan, &tree, own_due);
    let last = context.constraints.deadline.map(|_| span.last_day);
    let leaves = tree.leaves(&plan.nodes[0].id);
    // What is on a day of its own takes its part of a very short time.
    let own_until = |day: Date| -> u32 {
        let on = |leaf: &&&PlanNode| {
            leaf.has_own_day() && leaf.fixed_start.is_some_and(|at| at.day <= add_days(day, 1))
        };
        leaves.iter().filter(on).map(|leaf| leaf.work_minutes()).sum()
    };
    let mut by_date: BTreeMap<Date, u32> = BTreeMap::new();
    for leaf in &leaves {
        let counts = leaf.recurrence.is_none() && !leaf.has_own_day();
        if let Some(day) = dues.get(&leaf.id).copied().or(last).filter(|_| counts) {
            *by_date.entry(day).or_default() += leaf.work_minutes();
        }
    }
    let (mut minutes, mut most) = (0, 0);
    for (day, own) in by_date {
        minutes += own;
        let offsets = 0..=days_between(span.start, day);
        let all = offsets.map(|offset| add_days(span.start, offset.into()));
        let days = all.filter(|date| context.calendar.has_hours_on(*date)).count();
        let own = if days <= 2 { own_until(day) } else { 0 };
        let needed = minutes + own;
        most = most.max(needed.div_ceil(u32::try_from(days.max(1)).unwrap_or(1)));
    }
    // Breaks and the ends of blocks take some of a day.
    most + most / 5
}

/// Returns by when each leaf must be done: for its own date, or for that of anything that follows it.
fn implied_dues(
    plan: &BlueprintInstance,
    tree: &NodeTree<'_>,
    due: fn(&PlanNode) -> Option<Date>,
) -> BTreeMap<TaskId, Date> {
    let own = |leaf: &&PlanNode| {
        let by = due(leaf).filter(|_| leaf.recurrence.is_none())?;
        Some((leaf.id.clone(), by))
    };
    let mut dues: BTreeMap<TaskId, Date> =
        tree.leaves(&plan.nodes[0].id).iter().filter_map(own).collect();
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
