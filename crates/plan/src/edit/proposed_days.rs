//! Days and times that the planner chose: they give way when the person limits their time or changes how long something
//! takes. What the person stated stays.

use std::collections::BTreeSet;

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};

use planwright_model::{
    Assumption, AssumptionOrigin, NodeOrigin, NodeStatus, PlanCalendar, PlanContext, PlanDate,
    PlanNode, PlanOutline, Roadmap, Role, StartSource, TaskId,
};

/// The key of the assumption about the day of the thing itself.
const PLAN_DAY: &str = "day";
/// How far a day moves to find another one.
const LONGEST_MOVE: i64 = 21;
/// Nothing is moved to before this minute of the day, or beyond the other.
const EARLIEST: i32 = 7 * 60;
const LATEST: i32 = 23 * 60;

/// A task that was moved to another day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedDay {
    pub node: TaskId,
    pub title: String,
    pub to: PlanDate,
}

impl MovedDay {
    /// When it starts on its day, in words.
    pub(super) fn format_time(&self) -> String {
        match self.to.time {
            Some(time) => format!("at {}", time.strftime("%H:%M")),
            None => "later on its day".to_owned(),
        }
    }
}

/// Moves what the planner put on days without hours to days with hours, and what it put at times outside the hours into
/// them. Tasks of one day stay together, days stay in their order, and the last day of the plan is kept. What fits
/// nowhere stays.
pub fn move_proposed_days(
    outline: &mut PlanOutline,
    roadmap: Option<&mut Roadmap>,
    locked: &BTreeSet<TaskId>,
) -> Vec<MovedDay> {
    let context = &outline.plan_context;
    let mut nodes = roadmap.as_deref().map_or(&outline.nodes, |map| &map.nodes).clone();
    let before = nodes.clone();
    let movable = |node: &PlanNode| is_movable(node) && !locked.contains(&node.id);
    let days: BTreeSet<Date> =
        nodes.iter().filter(|node| movable(node)).filter_map(own_day).collect();
    let plan_day = context.find_assumption(PLAN_DAY).and_then(|found| found.value.parse().ok());
    let mut new_plan_day = None;
    for day in days.into_iter().filter(|day| !context.calendar.has_hours_on(*day)) {
        let Some(to) = find_day(day, &nodes, context, plan_day) else { continue };
        for node in nodes.iter_mut().filter(|node| movable(node) && own_day(node) == Some(day)) {
            node.fixed_start = node.fixed_start.map(|date| PlanDate { day: to, ..date });
        }
        new_plan_day = new_plan_day.or((plan_day == Some(day)).then_some(to));
    }
    if let Some(day) = new_plan_day.or(plan_day)
        && let Some(days) = days_to_make_room(&nodes, context, day)
    {
        shift_days(&mut nodes, days, locked);
        new_plan_day = Some(later(day, days));
    }
    let proposed = |node: &PlanNode| movable(node) && node.start_source == StartSource::Proposed;
    // Several tasks of a day keep their times, so that they stay in order.
    let all: Vec<Date> = nodes.iter().filter_map(own_day).collect();
    let is_alone =
        |node: &PlanNode| all.iter().filter(|day| Some(**day) == own_day(node)).count() == 1;
    for node in nodes.iter_mut().filter(|node| proposed(node) && is_alone(node)) {
        leave_closed_time(node, &context.calendar);
    }
    let days: BTreeSet<Date> = nodes.iter().filter_map(own_day).collect();
    for day in days {
        separate_times(&mut nodes, day, locked);
    }
    let moved: Vec<&PlanNode> = nodes
        .iter()
        .zip(&before)
        .filter(|(now, old)| (now.fixed_start, now.due) != (old.fixed_start, old.due))
        .map(|(now, _)| now)
        .collect();
    let report = moved.iter().filter_map(|node| {
        let to = node.fixed_start.or(node.due)?;
        Some(MovedDay { node: node.id.clone(), title: node.title.clone(), to })
    });
    let report: Vec<MovedDay> = report.collect();
    copy_starts(&moved, outline, roadmap);
    if let Some(day) = new_plan_day {
        set_plan_day(&mut outline.plan_context, day);
    }
    report
}

/// Moves the times of day that the planner chose apart, where tasks of one day overlap since one of them takes longer.
///
/// Returns what begins at another time now.
pub(super) fn separate_changed_days(
    nodes: &mut [PlanNode],
    changed: &[TaskId],
    locked: &BTreeSet<TaskId>,
) -> Vec<MovedDay> {
    let days: BTreeSet<Date> =
        nodes.iter().filter(|node| changed.contains(&node.id)).filter_map(own_day).collect();
    let before: Vec<Option<PlanDate>> = nodes.iter().map(|node| node.fixed_start).collect();
    for day in days {
        separate_times(nodes, day, locked);
    }
    let moved = nodes.iter().zip(before).filter(|(node, before)| node.fixed_start != *before);
    let moved = moved.filter_map(|(node, _)| {
        let to = node.fixed_start?;
        Some(MovedDay { node: node.id.clone(), title: node.title.clone(), to })
    });
    moved.collect()
}

/// Whether the day is one that the planner chose and the person still has before them.
fn is_movable(node: &PlanNode) -> bool {
    node.has_own_day()
        && !node.has_stated_day()
        && node.status != NodeStatus::Done
        && node.other_owner().is_none()
}

fn own_day(node: &PlanNode) -> Option<Date> {
    node.fixed_start.filter(|_| node.has_own_day()).map(|date| date.day)
}

/// Returns the nearest day with hours: earlier for what leads to the day of the plan, later for the rest, the other way
/// if there is none. A day of its own is better than one that another part of the plan has.
fn find_day(
    day: Date,
    nodes: &[PlanNode],
    context: &PlanContext,
    plan_day: Option<Date>,
) -> Option<Date> {
    let taken: BTreeSet<Date> =
        nodes.iter().filter_map(own_day).filter(|other| *other != day).collect();
    let first = context.constraints.start;
    let last = context
        .constraints
        .deadline
        .map_or(Date::MAX, planwright_model::OffsetDateTime::local_date);
    let floor = taken.range(..day).next_back().copied().unwrap_or(first).max(first);
    let ceiling = taken.range(day..).next().copied().unwrap_or(last).min(last);
    let leads = plan_day.is_none_or(|own| day < own);
    let step = |days: i64| day.checked_add(days.days()).ok();
    let near =
        (1..=LONGEST_MOVE).flat_map(|days| if leads { [-days, days] } else { [days, -days] });
    let near: Vec<Date> = near
        .filter_map(step)
        .filter(|found| (floor..=ceiling).contains(found) && context.calendar.has_hours_on(*found))
        .collect();
    let own = near.iter().find(|found| !taken.contains(found));
    own.or(near.first()).copied()
}

/// Returns by how many days the assumed day of the plan has to move so that the hours before it hold what leads to it.
fn days_to_make_room(nodes: &[PlanNode], context: &PlanContext, day: Date) -> Option<i64> {
    let assumed = context.find_assumption(PLAN_DAY)?.origin == AssumptionOrigin::Template;
    let own: Vec<Date> = nodes.iter().filter(|node| is_movable(node)).filter_map(own_day).collect();
    let last = own.iter().max().filter(|_| assumed)?;
    let open = |node: &&PlanNode| node.status != NodeStatus::Done && node.other_owner().is_none();
    let leads = |node: &&PlanNode| {
        let by = node.due.map(|date| date.day).or_else(|| own_day(node));
        by.is_some_and(|by| by < day)
    };
    let needed: u32 = nodes.iter().filter(open).filter(leads).map(PlanNode::work_minutes).sum();
    let first = context.constraints.start;
    let room = |until: Date| -> u32 {
        let days = first.series(1.day()).take_while(|day| *day < until);
        let hours = days.flat_map(|day| context.calendar.hours_on(day).to_vec());
        hours.map(planwright_model::LocalTimeInterval::duration_minutes).sum()
    };
    // Breaks and the ends of hours take some of the time.
    let enough = |until: Date| room(until) >= needed + needed / 5;
    if enough(day) {
        return None;
    }
    let end = context
        .constraints
        .deadline
        .map_or(Date::MAX, planwright_model::OffsetDateTime::local_date);
    let fits = |days: &i64| {
        let open = own.iter().all(|day| context.calendar.has_hours_on(later(*day, *days)));
        open && later(*last, *days) <= end && enough(later(day, *days))
    };
    (1..=LONGEST_MOVE).find(fits)
}

/// Moves all days that the planner chose, and what is due before them.
fn shift_days(nodes: &mut [PlanNode], days: i64, locked: &BTreeSet<TaskId>) {
    for node in nodes.iter_mut().filter(|node| !locked.contains(&node.id)) {
        let shift = |date: PlanDate| PlanDate { day: later(date.day, days), ..date };
        if is_movable(node) {
            node.fixed_start = node.fixed_start.map(shift);
        }
        if node.origin != NodeOrigin::UserFeedback && node.status != NodeStatus::Done {
            node.due = node.due.map(shift);
        }
    }
}

fn later(day: Date, days: i64) -> Date {
    day.checked_add(days.days()).unwrap_or(Date::MAX)
}

/// Forgets a time of day that the hours of the day do not hold, if they hold the task at another time.
fn leave_closed_time(node: &mut PlanNode, calendar: &PlanCalendar) {
    let Some(date) = node.fixed_start else { return };
    let (Some(start), minutes) = (date.time.map(minute_of), node_minutes(node)) else { return };
    let hours = calendar.hours_on(date.day);
    let bounds = |span: &planwright_model::LocalTimeInterval| {
        let end = if span.end == Time::midnight() { 24 * 60 } else { minute_of(span.end) };
        (minute_of(span.start), end)
    };
    let mut spans = hours.iter().map(bounds);
    let inside = spans.clone().any(|(from, to)| from <= start && start + minutes <= to);
    if !inside && spans.any(|(from, to)| to - from >= minutes) {
        node.fixed_start = Some(PlanDate::on_day(date.day));
    }
}

/// Moves the times of a day apart: what stands before its main part ends when that starts, what stands after it follows.
fn separate_times(nodes: &mut [PlanNode], day: Date, locked: &BTreeSet<TaskId>) {
    let timed = |node: &PlanNode| {
        node.has_own_day()
            && node.other_owner().is_none()
            && node.fixed_start.is_some_and(|date| date.day == day && date.time.is_some())
    };
    let mut places: Vec<usize> = (0..nodes.len()).filter(|&at| timed(&nodes[at])).collect();
    places.sort_by_key(|&at| start_minute(&nodes[at]));
    let ends = |node: &PlanNode| start_minute(node) + node_minutes(node);
    let overlap =
        places.windows(2).any(|pair| ends(&nodes[pair[0]]) > start_minute(&nodes[pair[1]]));
    if !overlap {
        return;
    }
    let is_fixed = |node: &PlanNode| {
        node.start_source == StartSource::Stated
            || node.status == NodeStatus::Done
            || locked.contains(&node.id)
    };
    let main = places.iter().position(|&at| is_fixed(&nodes[at]));
    let main = main.or_else(|| places.iter().position(|&at| nodes[at].role == Role::Deliverable));
    let main = main.unwrap_or(0);
    let mut until = start_minute(&nodes[places[main]]);
    for &at in places[..main].iter().rev() {
        let latest = until - node_minutes(&nodes[at]);
        if !is_fixed(&nodes[at]) && start_minute(&nodes[at]) > latest {
            set_minute(&mut nodes[at], latest);
        }
        until = start_minute(&nodes[at]);
    }
    let mut from = ends(&nodes[places[main]]);
    for &at in &places[main + 1..] {
        if !is_fixed(&nodes[at]) && start_minute(&nodes[at]) < from {
            set_minute(&mut nodes[at], from);
        }
        from = ends(&nodes[at]);
    }
}

/// Sets the time of day. What would begin at night gets none, so that the scheduler finds one.
fn set_minute(node: &mut PlanNode, minute: i32) {
    let fits = minute >= EARLIEST && minute + node_minutes(node) <= LATEST.max(minute + 1);
    let time = Time::new((minute / 60) as i8, (minute % 60) as i8, 0, 0).ok().filter(|_| fits);
    node.fixed_start = node.fixed_start.map(|date| PlanDate { time, ..date });
}

fn start_minute(node: &PlanNode) -> i32 {
    node.fixed_start.and_then(|date| date.time).map_or(0, minute_of)
}

fn minute_of(time: Time) -> i32 {
    i32::from(time.hour()) * 60 + i32::from(time.minute())
}

fn node_minutes(node: &PlanNode) -> i32 {
    i32::try_from(node.work_minutes()).unwrap_or(24 * 60)
}

/// Gives both sides of a plan the same starts.
fn copy_starts(moved: &[&PlanNode], outline: &mut PlanOutline, roadmap: Option<&mut Roadmap>) {
    let lists = [Some(&mut outline.nodes), roadmap.map(|map| &mut map.nodes)];
    for node in lists.into_iter().flatten().flatten() {
        if let Some(now) = moved.iter().find(|now| now.id == node.id) {
            (node.fixed_start, node.due) = (now.fixed_start, now.due);
        }
    }
}

fn set_plan_day(context: &mut PlanContext, day: Date) {
    let assumed = |found: &&mut Assumption| {
        found.key == PLAN_DAY && found.origin == AssumptionOrigin::Template
    };
    if let Some(found) = context.assumptions.iter_mut().find(assumed) {
        found.value = day.to_string();
    }
}
