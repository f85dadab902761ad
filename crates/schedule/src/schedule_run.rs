//! One full run: from a request and its changes to a layout in time.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::axis::WorkAxis;
use super::generate::{
    DayLocator, GenerationScheme, PlacementProblem, ScheduleLayout, WindowPreference,
    generate_layout, item_bounds,
};
use super::horizon::Horizon;
use super::layout_search::{LayoutScore, score_layout, search_layout};
use super::network::{ItemNetwork, NetworkBuilder, NetworkChanges, ScheduleItem};
use super::pacing::{SessionRule, WorkPacing};
use super::passes::{NetworkTiming, PassClock};
use super::person_hours;
use super::placement::BlockLimits;
use super::priority_rules::PriorityRule;
use super::{ScheduleError, ScheduleRequest, shared_resources};
use crate::calendar::{WorkCalendar, instant_of, minute_of, plus_days};
use planwright_model::{NodeType, PatternType, TaskId};

/// The maximum number of rounds in which recurring nodes are moved after their predecessors.
const ANCHOR_ROUNDS: usize = 6;
const DAY: i64 = 24 * 60;
const WEEK: i64 = 7 * DAY;

/// The changes that a run may make to its request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunVariation {
    pub more_days: u32,
    pub weekly: Option<u32>,
    pub changes: NetworkChanges,
    /// Ids of other plans' blocks that are treated as moved away.
    pub moved: Vec<String>,
}

/// What a layout misses, the worst first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct MissedDates {
    lateness: u64,
    unplaced: u64,
    overdue: u64,
    /// Days after the last day of the stated weeks.
    days_over: i64,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct ScheduleOutcome {
    pub horizon: Horizon,
    pub calendar: WorkCalendar,
    pub network: ItemNetwork,
    pub axis: WorkAxis,
    pub layout: ScheduleLayout,
    pub score: LayoutScore,
}

impl ScheduleOutcome {
    pub(super) fn is_feasible(&self) -> bool {
        self.score.lateness == 0 && self.score.unplaced == 0
    }

    /// Whether everything is also done by the day it is due.
    pub(super) fn is_on_time(&self) -> bool {
        self.is_feasible() && self.score.overdue == 0
    }

    fn missed_dates(&self) -> MissedDates {
        let LayoutScore { lateness, unplaced, overdue, finish, .. } = self.score;
        let over = self.horizon.end.map_or(0, |end| finish.saturating_sub(end).max(0));
        MissedDates { lateness, unplaced, overdue, days_over: (over + DAY - 1) / DAY }
    }
}

/// Runs a request under a variation. The work is spread as widely as its dates allow.
pub(super) fn run_request(
    request: &ScheduleRequest<'_>,
    variation: &RunVariation,
    iterations: u64,
) -> Result<ScheduleOutcome, ScheduleError> {
    let limits = block_limits(request, variation);
    let mut best: Option<(MissedDates, ScheduleOutcome)> = None;
    // After a small change the way of spreading that moves the fewest tasks is taken, not a stricter one that fits now as
    // well. Where most tasks move anyway, the strictest is.
    let mut steadiest: Option<(usize, ScheduleOutcome)> = None;
    let mut tried = Vec::new();
    for pacing in WorkPacing::ALL {
        let sessions = SessionRule::new(request, limits, pacing);
        // Levels that come to the same rule are not tried twice.
        if tried.contains(&sessions) {
            continue;
        }
        tried.push(sessions);
        let outcome = run_paced(request, variation, sessions, iterations)?;
        let missed = outcome.missed_dates();
        if missed == MissedDates::default() {
            if request.before.is_empty() {
                return Ok(outcome);
            }
            let (unmoved, known) = count_unmoved(request, &outcome);
            let steadier = |most: usize| unmoved > most && unmoved * 2 >= known;
            if steadiest.as_ref().is_none_or(|(most, _)| steadier(*most)) {
                steadiest = Some((unmoved, outcome));
            }
            continue;
        }
        if best.as_ref().is_none_or(|(least, _)| missed < *least) {
            best = Some((missed, outcome));
        }
    }
    match steadiest.map(|(_, outcome)| outcome).or(best.map(|(_, outcome)| outcome)) {
        Some(outcome) => Ok(outcome),
        None => run_packed(request, variation, iterations),
    }
}

/// Runs a request with everything as early as possible: what does not fit then does not fit at all.
pub(super) fn run_packed(
    request: &ScheduleRequest<'_>,
    variation: &RunVariation,
    iterations: u64,
) -> Result<ScheduleOutcome, ScheduleError> {
    run_paced(request, variation, None, iterations)
}

/// Runs a request with one way to spread its work.
fn run_paced(
    request: &ScheduleRequest<'_>,
    variation: &RunVariation,
    sessions: Option<SessionRule>,
    iterations: u64,
) -> Result<ScheduleOutcome, ScheduleError> {
    let (horizon, calendar) = Horizon::new(request, variation.more_days)?;
    let taken = taken_spans(request, &calendar, &variation.moved);
    let mut surroundings = RunSurroundings {
        limits: block_limits(request, variation),
        taken: &taken,
        week_others: Vec::new(),
        sessions,
        horizon,
    };
    let mut changes = variation.changes.clone();
    let mut round = 0;
    loop {
        let builder = NetworkBuilder::new(request, &calendar, &changes, horizon.recur_until);
        let network = builder.build();
        let axis = shortest_axis(request, &network, &calendar, &mut surroundings);
        let places = AxisDayLocator { calendar: &calendar, axis: &axis };
        let problem = surroundings.problem(&network, &axis, &places);
        let (layout, score) = if request.roadmap.resources.is_empty() {
            let earlier = earlier_blocks(request, &network);
            let earlier: Vec<Option<i64>> =
                earlier.iter().map(|blocks| blocks.iter().map(|block| block.0).min()).collect();
            search_layout(&problem, &earlier, iterations, request.seed)
        } else {
            let layout = shared_resources::layout_shared(
                request, &network, &axis, &taken, horizon, iterations,
            )?;
            let score = score_layout(&problem, &layout);
            (layout, score)
        };
        round += 1;
        if round < ANCHOR_ROUNDS
            && move_series_later(request, &network, &axis, &calendar, &layout, &mut changes)
        {
            continue;
        }
        return Ok(ScheduleOutcome { horizon, calendar, network, axis, layout, score });
    }
}

/// A leaf, and which time of it where it repeats.
type LeafTime<'a> = (&'a TaskId, Option<u32>);

/// The blocks that each item had in the version before, as minutes.
fn earlier_blocks(request: &ScheduleRequest<'_>, network: &ItemNetwork) -> Vec<Vec<(i64, i64)>> {
    let mut known: BTreeMap<LeafTime<'_>, Vec<(i64, i64)>> = BTreeMap::new();
    for block in request.before {
        let span = (minute_of(block.start.at), minute_of(block.end.at));
        known.entry((&block.plan_node_id, block.occurrence)).or_default().push(span);
    }
    let blocks_of = |item: &ScheduleItem| {
        let node = request.roadmap.nodes.get(item.node)?;
        known.get(&(&node.id, item.occurrence)).cloned()
    };
    network.items.iter().map(|item| blocks_of(item).unwrap_or_default()).collect()
}

/// How many items have the very blocks that they had in the version before, of how many that had any.
fn count_unmoved(request: &ScheduleRequest<'_>, outcome: &ScheduleOutcome) -> (usize, usize) {
    let earlier = earlier_blocks(request, &outcome.network);
    let known = earlier.iter().zip(&outcome.layout.blocks).filter(|(before, _)| !before.is_empty());
    let unmoved = known.clone().filter(|(before, now)| before == now).count();
    (unmoved, known.count())
}

/// What surrounds the items of a run.
struct RunSurroundings<'a> {
    limits: BlockLimits,
    taken: &'a [(i64, i64)],
    /// What other plans take of each week of the axis.
    week_others: Vec<u64>,
    sessions: Option<SessionRule>,
    horizon: Horizon,
}

impl RunSurroundings<'_> {
    fn problem<'a>(
        &'a self,
        network: &'a ItemNetwork,
        axis: &'a WorkAxis,
        places: &'a AxisDayLocator<'a>,
    ) -> PlacementProblem<'a> {
        PlacementProblem {
            network,
            axis,
            limits: self.limits,
            taken: self.taken,
            locator: places,
            aim: self.horizon.aim,
            sessions: self.sessions,
            week_others: &self.week_others,
        }
    }
}

/// Returns the caps of a request.
pub(super) fn block_limits(request: &ScheduleRequest<'_>, variation: &RunVariation) -> BlockLimits {
    let context = request.context;
    let routine = context
        .pattern
        .as_ref()
        .is_some_and(|pattern| pattern.pattern_type == PatternType::RecurringCycle);
    let weekly = variation.weekly.or(weekly_minutes(request)).filter(|_| !routine);
    let prefs = &context.user_prefs;
    BlockLimits {
        min_block: prefs.min_block_minutes.max(1),
        max_block: prefs.max_block_minutes.max(prefs.min_block_minutes).max(1),
        break_minutes: prefs.break_minutes.min(24 * 60),
        daily: u64::from(context.constraints.max_daily_minutes),
        weekly: weekly.map(u64::from),
        all_plans: context.constraints.all_plans_weekly_minutes.filter(|_| !routine).map(u64::from),
        parallel_phases: parallel_phases(request),
    }
}

/// Returns how many phases a week may have: as many as are allowed, or more if there are fewer weeks than phases.
fn parallel_phases(request: &ScheduleRequest<'_>) -> usize {
    let limits = &request.context.constraints;
    let most = usize::from(limits.max_parallel_phases.max(1));
    let days = match limits.deadline {
        Some(end) => limits.start.until(end.local_date()).ok().map(|span| span.get_days() + 1),
        None => limits.horizon_weeks.map(|weeks| i32::from(weeks) * 7),
    };
    let Some(days) = days.and_then(|days| usize::try_from(days).ok()) else { return most };
    let nodes = request.roadmap.nodes.iter();
    let phases = nodes.filter(|node| node.node_type == NodeType::Phase && node.level == 2).count();
    match phases.div_ceil(days.div_ceil(7).max(1)) {
        0 | 1 => most,
        crowded => most.max(crowded + 1),
    }
}

/// Returns the weekly minutes as stated, or else as assumed.
pub(super) fn weekly_minutes(request: &ScheduleRequest<'_>) -> Option<u32> {
    let assumed = || request.context.find_assumption("weekly_minutes")?.value.trim().parse().ok();
    request.context.constraints.weekly_minutes.or_else(assumed)
}

/// Returns the time of events, of other plans and of the person's own days off, merged and in order.
fn taken_spans(
    request: &ScheduleRequest<'_>,
    calendar: &WorkCalendar,
    moved: &[String],
) -> Vec<(i64, i64)> {
    let away =
        request.context.own_days_off.iter().map(|day| {
            (calendar.day_start(*day), calendar.day_start(day.tomorrow().unwrap_or(*day)))
        });
    let events = request.events.iter().map(|event| (event.start.at, event.end.at));
    let others = request
        .others
        .iter()
        .filter(|other| !moved.contains(&other.block.id) && !other.block.is_brief_habit())
        .map(|other| (other.block.start.at, other.block.end.at));
    let taken = events.chain(others).chain(away).map(|(start, end)| {
        // An end inside a minute occupies all of it.
        (minute_of(start), minute_of(end) + i64::from(end.as_second().rem_euclid(60) != 0))
    });
    let until = calendar.local_date(calendar.horizon_start());
    let outside = person_hours::time_outside_hours(request.context, calendar, None, until);
    merge_spans(taken.chain(outside))
}

/// Merges spans into as few as possible, sorted, without empty ones.
pub(super) fn merge_spans(spans: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut spans: Vec<_> = spans.filter(|span| span.0 < span.1).collect();
    spans.sort_unstable();
    let mut merged: Vec<(i64, i64)> = Vec::with_capacity(spans.len());
    for (from, to) in spans {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// Returns the minutes of other plans in each week of an axis.
fn other_minutes_by_week(
    request: &ScheduleRequest<'_>,
    calendar: &WorkCalendar,
    axis: &WorkAxis,
) -> Vec<u64> {
    let mut weeks = vec![0; axis.weeks];
    for other in request.others {
        let (_, week) = axis.day_and_week(calendar.local_date(other.block.start.at));
        if let Some(minutes) = weeks.get_mut(week) {
            *minutes += u64::from(other.block.estimated_minutes);
        }
    }
    weeks
}

/// Returns the shortest axis on which one generation can place everything, or the longest one allowed.
fn shortest_axis(
    request: &ScheduleRequest<'_>,
    network: &ItemNetwork,
    calendar: &WorkCalendar,
    around: &mut RunSurroundings<'_>,
) -> WorkAxis {
    let (horizon, limits) = (around.horizon, around.limits);
    let minutes: u64 = network.items.iter().map(|item| u64::from(item.open_minutes())).sum();
    let a_week = limits.weekly.unwrap_or(u64::MAX).min(limits.daily.saturating_mul(5)).max(1);
    let weeks = i64::try_from(minutes / a_week).unwrap_or(520).min(520) * 3 / 2 + 4;
    let first = horizon.end.unwrap_or(horizon.start).max(horizon.start);
    let mut until = first.saturating_add(weeks * WEEK).min(horizon.limit);
    let windows = &request.context.user_prefs.preferred_windows;
    let times = network.preferred_times();
    loop {
        let axis = WorkAxis::new(calendar, until, windows, &times);
        around.week_others = other_minutes_by_week(request, calendar, &axis);
        if until >= horizon.limit {
            return axis;
        }
        let timing = NetworkTiming::new(network, PassClock::Working(&axis));
        let places = AxisDayLocator { calendar, axis: &axis };
        let problem = around.problem(network, &axis, &places);
        let ranks = PriorityRule::LatestFinish.item_ranks(network, &timing);
        let layout =
            generate_layout(&problem, &ranks, GenerationScheme::Serial, WindowPreference::Any);
        if layout.spans.iter().all(Option::is_some) {
            return axis;
        }
        until = (horizon.start + (until - horizon.start) * 4).min(horizon.limit);
    }
}

/// Moves recurring nodes that start before their links allow; returns whether any moved.
fn move_series_later(
    request: &ScheduleRequest<'_>,
    network: &ItemNetwork,
    axis: &WorkAxis,
    calendar: &WorkCalendar,
    layout: &ScheduleLayout,
    changes: &mut NetworkChanges,
) -> bool {
    let mut moved = false;
    for (index, item) in network.items.iter().enumerate() {
        let Some(node) = item.series.and_then(|series| request.roadmap.nodes.get(series)) else {
            continue;
        };
        let Some((start, finish)) = item_bounds(network, axis, &layout.spans, index) else {
            continue;
        };
        let held =
            layout.spans[index].is_some_and(|span| span.start >= start && span.finish >= finish);
        let wanted = start.max(finish.saturating_sub(u64::from(item.minutes)));
        let Some(minute) = axis.start_minute(wanted).filter(|_| !held) else { continue };
        if layout.spans[index].is_none() && minute < item.due {
            // It does not fit for a reason other than its links.
            continue;
        }
        let own = calendar.local_date(instant_of(item.release));
        let date: Date = calendar.local_date(instant_of(minute)).max(plus_days(own, 1));
        let anchor = changes.anchors.entry(node.id.clone()).or_insert(date);
        // The first occurrence that fails determines the anchor; later ones follow it.
        if *anchor < date || (*anchor == date && !moved) {
            *anchor = date;
            moved = true;
        }
        if moved {
            break;
        }
    }
    moved
}

/// The days and weeks of minutes on an axis.
#[derive(Debug)]
struct AxisDayLocator<'a> {
    calendar: &'a WorkCalendar,
    axis: &'a WorkAxis,
}

impl DayLocator for AxisDayLocator<'_> {
    fn day_and_week(&self, minute: i64) -> (usize, usize) {
        self.axis.day_and_week(self.calendar.local_date(instant_of(minute)))
    }

    fn day_end(&self, minute: i64) -> i64 {
        let date = self.calendar.local_date(instant_of(minute));
        minute_of(self.calendar.day_start(plus_days(date, 1)))
    }
}
