//! What would make an infeasible plan feasible: the smallest change of each lever, found by bisection over full runs.

use std::collections::BTreeMap;

use super::ScheduleRequest;
use super::schedule_run::{RunVariation, ScheduleOutcome, run_packed, run_request, weekly_minutes};
use crate::calendar::instant_of;
use planwright_model::{
    LeverChange, LinkKind, NodeDependency, NodeTree, OffsetDateTime, RelaxedDates,
    ScheduleRelaxation, StrategyMode, TaskId,
};
use planwright_text::units::format_planned;

/// The maximum number of suggestions.
const MAX_ANSWERS: usize = 3;
/// The maximum number of days by which a deadline is moved.
const MAX_DAYS: u32 = 3_650;
/// The increment of weekly minutes.
const STEP_MINUTES: u32 = 15;
/// Up to this many optional nodes, every subset of them is tried.
const TRY_ALL_BELOW: usize = 6;
/// A relaxation is searched with a fraction of the effort; more effort could only find more.
const EFFORT_SHARE: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RelaxationLever {
    Deadline,
    Weekly,
    Optional,
    Overlap,
    Others,
}

impl RelaxationLever {
    fn ordered_for(mode: StrategyMode) -> [Self; 5] {
        use RelaxationLever::{Deadline, Optional, Others, Overlap, Weekly};
        match mode {
            StrategyMode::Push => [Weekly, Overlap, Optional, Deadline, Others],
            StrategyMode::Relax => [Deadline, Optional, Overlap, Weekly, Others],
            StrategyMode::Hybrid | StrategyMode::Manual => {
                [Optional, Deadline, Weekly, Overlap, Others]
            }
        }
    }

    /// Returns the constraints that exclude the lever if the person declared them fixed.
    fn constraint_keys(self) -> &'static [&'static str] {
        match self {
            Self::Deadline => &["deadline", "horizon_weeks", "horizon"],
            Self::Weekly => &["weekly_minutes"],
            Self::Optional => &["optional", "scope"],
            Self::Overlap => &["dependencies", "max_parallel_phases"],
            Self::Others => &["portfolio", "other_plans"],
        }
    }
}

/// Returns at most three smallest relaxations, in the order of the strategy.
pub(super) fn find_relaxations(
    request: &ScheduleRequest<'_>,
    outcome: &ScheduleOutcome,
) -> Vec<ScheduleRelaxation> {
    let relaxer = RelaxationSearch::new(request, outcome);
    let hard = &request.context.constraints.hard;
    let levers: Vec<RelaxationLever> =
        RelaxationLever::ordered_for(request.context.strategy_profile.mode)
            .into_iter()
            .filter(|lever| !lever.constraint_keys().iter().any(|key| hard.contains(*key)))
            .filter(|lever| relaxer.max_steps(*lever) > 0)
            .collect();
    let base = RunVariation::default();
    let mut found = Vec::new();
    for &lever in &levers {
        if found.len() < MAX_ANSWERS {
            found.extend(
                relaxer
                    .least_move(lever, &base)
                    .map(|variation| relaxer.describe_relaxation(&variation)),
            );
        }
    }
    if found.is_empty() {
        found = relaxer.relax_pairs(&levers);
    }
    found
}

struct RelaxationSearch<'a> {
    request: &'a ScheduleRequest<'a>,
    outcome: &'a ScheduleOutcome,
    /// Optional nodes, smallest first.
    optional: Vec<(u32, TaskId)>,
    /// Links between phases, with the overlapping links that could replace them.
    overlaps: Vec<(usize, NodeDependency)>,
    /// Movable blocks of other plans, earliest first.
    movable: Vec<String>,
    weekly: Option<(u32, u32)>,
}

impl<'a> RelaxationSearch<'a> {
    fn new(request: &'a ScheduleRequest<'a>, outcome: &'a ScheduleOutcome) -> Self {
        let tree = request.roadmap.node_tree();
        let mut movable: Vec<_> =
            request.others.iter().filter(|other| !other.block.locked).collect();
        movable.sort_by_key(|other| (other.block.start.at, other.block.id.clone()));
        let most = outcome.axis.week_minutes.iter().copied().max().unwrap_or(0);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let shared = !request.roadmap.resources.is_empty();
        Self {
            request,
            outcome,
            optional: optional_nodes(request, &tree),
            overlaps: overlapping_links(request, &tree),
            movable: movable.into_iter().map(|other| other.block.id.clone()).collect(),
            weekly: weekly_minutes(request).map(|stated| (stated, most)).filter(|_| !shared),
        }
    }

    /// Returns how far a lever can be moved.
    fn max_steps(&self, lever: RelaxationLever) -> u32 {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        match lever {
            // A later end moves no due date.
            RelaxationLever::Deadline if self.outcome.is_feasible() => 0,
            RelaxationLever::Deadline => self.outcome.horizon.end.map_or(0, |_| MAX_DAYS),
            RelaxationLever::Weekly => self
                .weekly
                .map_or(0, |(stated, most)| most.saturating_sub(stated).div_ceil(STEP_MINUTES)),
            RelaxationLever::Optional => count(self.optional.len()),
            RelaxationLever::Overlap => count(self.overlaps.len()),
            RelaxationLever::Others => count(self.movable.len()),
        }
    }

    /// Returns a variation with a lever moved by this many steps.
    fn with_lever_moved(
        &self,
        lever: RelaxationLever,
        steps: u32,
        base: &RunVariation,
    ) -> RunVariation {
        let mut variation = base.clone();
        let count = steps as usize;
        match lever {
            RelaxationLever::Deadline => variation.more_days = steps,
            RelaxationLever::Weekly => {
                variation.weekly = self.weekly.map(|(stated, most)| {
                    stated.saturating_add(steps.saturating_mul(STEP_MINUTES)).min(most.max(stated))
                });
            }
            RelaxationLever::Optional => {
                variation.changes.dropped =
                    self.optional.iter().take(count).map(|(_, id)| id.clone()).collect();
            }
            RelaxationLever::Overlap => {
                let mut links = self.request.roadmap.dependencies.clone();
                for (index, link) in self.overlaps.iter().take(count) {
                    links[*index] = link.clone();
                }
                variation.changes.links = (count > 0).then_some(links);
            }
            RelaxationLever::Others => {
                variation.moved = self.movable.iter().take(count).cloned().collect();
            }
        }
        variation
    }

    fn is_feasible(&self, variation: &RunVariation) -> bool {
        let outcome = run_packed(self.request, variation, self.request.iterations / EFFORT_SHARE);
        // Where all work has a place and only a due date is missed, a way out has to keep the date.
        let dues_only = self.outcome.is_feasible();
        outcome.is_ok_and(|run| if dues_only { run.is_on_time() } else { run.is_feasible() })
    }

    /// Returns the smallest move of a lever on top of a base, if it helps at all.
    fn least_move(&self, lever: RelaxationLever, base: &RunVariation) -> Option<RunVariation> {
        let feasible = |steps| self.is_feasible(&self.with_lever_moved(lever, steps, base));
        let most = self.max_steps(lever);
        let mut high = self.first_guess(lever).min(most);
        while !feasible(high) {
            if high >= most {
                return None;
            }
            high = high.saturating_mul(2).min(most);
        }
        let mut low = 0;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if feasible(middle) { high = middle } else { low = middle }
        }
        let found = self.with_lever_moved(lever, high, base);
        Some(if lever == RelaxationLever::Optional { self.drop_fewest(found, base) } else { found })
    }

    /// Returns the first guess: the days up to the current finish, otherwise the maximum.
    fn first_guess(&self, lever: RelaxationLever) -> u32 {
        match (lever, self.outcome.horizon.end) {
            (RelaxationLever::Deadline, Some(end)) => {
                let late = self.outcome.score.finish.saturating_sub(end).max(0);
                u32::try_from(late / (24 * 60) + 1).unwrap_or(MAX_DAYS)
            }
            _ => self.max_steps(lever),
        }
    }

    /// Drops fewer minutes than `found`, if that is sufficient.
    fn drop_fewest(&self, found: RunVariation, base: &RunVariation) -> RunVariation {
        let with = |ids: &[&(u32, TaskId)]| {
            let mut variation = base.clone();
            variation.changes.dropped = ids.iter().map(|(_, id)| id.clone()).collect();
            variation
        };
        if self.optional.len() <= TRY_ALL_BELOW {
            let mut choices: Vec<Vec<&(u32, TaskId)>> = (1u32..1 << self.optional.len())
                .map(|mask| {
                    let chosen = self.optional.iter().enumerate();
                    chosen.filter(|(at, _)| mask >> at & 1 == 1).map(|(_, node)| node).collect()
                })
                .collect();
            choices.sort_by_key(|ids| {
                (ids.iter().map(|(minutes, _)| minutes).sum::<u32>(), ids.len())
            });
            let first = choices.iter().map(|ids| with(ids)).find(|choice| self.is_feasible(choice));
            return first.unwrap_or(found);
        }
        let mut kept: Vec<&(u32, TaskId)> =
            self.optional.iter().filter(|(_, id)| found.changes.dropped.contains(id)).collect();
        for at in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if self.is_feasible(&with(&fewer)) {
                kept = fewer;
            }
        }
        with(&kept)
    }

    fn relax_pairs(&self, levers: &[RelaxationLever]) -> Vec<ScheduleRelaxation> {
        let mut found = Vec::new();
        for (index, &first) in levers.iter().enumerate() {
            for &second in &levers[index + 1..] {
                if found.len() >= MAX_ANSWERS {
                    return found;
                }
                let base =
                    self.with_lever_moved(first, self.max_steps(first), &RunVariation::default());
                let Some(both) = self.least_move(second, &base) else { continue };
                // The second lever is at its minimum; now the first may need less than its maximum.
                let mut back = both.clone();
                reset_lever(first, &mut back);
                found
                    .push(self.describe_relaxation(&self.least_move(first, &back).unwrap_or(both)));
            }
        }
        found
    }

    fn describe_relaxation(&self, variation: &RunVariation) -> ScheduleRelaxation {
        let iterations = self.request.iterations / EFFORT_SHARE;
        let outcome = run_request(self.request, variation, iterations).ok();
        let moment =
            |minute| OffsetDateTime::in_zone(instant_of(minute), self.outcome.calendar.zone());
        let mut changes = Vec::new();
        if let Some(end) = outcome.as_ref().and_then(|outcome| outcome.horizon.end)
            && variation.more_days > 0
        {
            changes.push(LeverChange::LaterDeadline {
                days: variation.more_days,
                deadline: moment(end),
            });
        }
        if let (Some(to), Some((from, _))) = (variation.weekly, self.weekly) {
            changes.push(LeverChange::MoreWeeklyMinutes { from, to });
        }
        let dropped = &variation.changes.dropped;
        if !dropped.is_empty() {
            let gone = self.optional.iter().filter(|(_, id)| dropped.contains(id));
            let minutes = gone.map(|(minutes, _)| minutes).sum();
            let node_ids = dropped.iter().cloned().collect();
            changes.push(LeverChange::DropOptional { node_ids, minutes });
        }
        let links = variation.changes.links.as_deref().unwrap_or_default();
        let overlapped = self.overlaps.iter().filter(|(at, link)| links.get(*at) == Some(link));
        changes.extend(overlapped.map(|(_, link)| LeverChange::OverlapPhases {
            from: link.from.clone(),
            to: link.to.clone(),
            lag_minutes: link.lag_minutes,
        }));
        if !variation.moved.is_empty() {
            changes.push(LeverChange::MoveOtherBlocks { block_ids: variation.moved.clone() });
        }
        let summary =
            changes.iter().map(|change| self.change_summary(change)).collect::<Vec<_>>().join("; ");
        let dates = outcome.as_ref().map(|outcome| self.relaxed_dates(outcome));
        let finish = outcome.map(|outcome| moment(outcome.score.finish));
        ScheduleRelaxation { changes, summary, finish, dates: dates.unwrap_or_default() }
    }

    /// When each task is in an outcome.
    fn relaxed_dates(&self, outcome: &ScheduleOutcome) -> Vec<RelaxedDates> {
        let zone = self.outcome.calendar.zone();
        let moment = |minute| OffsetDateTime::in_zone(instant_of(minute), zone);
        let mut spans: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
        for (item, blocks) in outcome.network.items.iter().zip(&outcome.layout.blocks) {
            for &(start, end) in blocks {
                let span = spans.entry(item.node).or_insert((start, end));
                *span = (span.0.min(start), span.1.max(end));
            }
        }
        let dated = spans.into_iter().filter_map(|(node, (start, end))| {
            let node = self.request.roadmap.nodes.get(node)?.id.clone();
            Some(RelaxedDates { node, start: moment(start), end: moment(end) })
        });
        dated.collect()
    }

    fn change_summary(&self, change: &LeverChange) -> String {
        let title = |id: &TaskId| {
            let node = self.request.roadmap.find_node(id);
            node.map_or_else(|| id.to_string(), |node| node.title.clone())
        };
        let count = |number: usize, noun: &str| {
            format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
        };
        match change {
            LeverChange::LaterDeadline { days, deadline } => {
                format!("end {} later, on {}", count(*days as usize, "day"), deadline.local_date())
            }
            LeverChange::MoreWeeklyMinutes { from, to } => {
                format!(
                    "work {} a week instead of {}",
                    format_planned(u64::from(*to)),
                    format_planned(u64::from(*from))
                )
            }
            LeverChange::DropOptional { node_ids, minutes } => {
                format!(
                    "drop {} ({})",
                    count(node_ids.len(), "optional task"),
                    format_planned(u64::from(*minutes))
                )
            }
            LeverChange::OverlapPhases { from, to, lag_minutes } => {
                format!(
                    "start \"{}\" {} after \"{}\" starts",
                    title(to),
                    format_planned(u64::from(lag_minutes.unsigned_abs())),
                    title(from)
                )
            }
            LeverChange::MoveOtherBlocks { block_ids } => {
                format!("move {} of other plans", count(block_ids.len(), "block"))
            }
        }
    }
}

fn reset_lever(lever: RelaxationLever, variation: &mut RunVariation) {
    let fresh = RunVariation::default();
    match lever {
        RelaxationLever::Deadline => variation.more_days = fresh.more_days,
        RelaxationLever::Weekly => variation.weekly = fresh.weekly,
        RelaxationLever::Optional => variation.changes.dropped = fresh.changes.dropped,
        RelaxationLever::Overlap => variation.changes.links = fresh.changes.links,
        RelaxationLever::Others => variation.moved = fresh.moved,
    }
}

/// Returns optional nodes that are not part of another optional one, smallest first.
fn optional_nodes(request: &ScheduleRequest<'_>, tree: &NodeTree<'_>) -> Vec<(u32, TaskId)> {
    let nodes = request.roadmap.nodes.iter().filter(|node| node.optional);
    let topmost = nodes.filter(|node| !tree.ancestors(&node.id).iter().any(|above| above.optional));
    let mut found: Vec<_> =
        topmost.map(|node| (tree.total_minutes(&node.id), node.id.clone())).collect();
    found.retain(|(minutes, _)| *minutes > 0);
    found.sort();
    found
}

/// Returns the finish-to-start links between containers, each as a start-to-start link after half of the predecessor.
fn overlapping_links(
    request: &ScheduleRequest<'_>,
    tree: &NodeTree<'_>,
) -> Vec<(usize, NodeDependency)> {
    let container = |id: &TaskId| tree.get(id).is_some_and(|node| node.node_type.is_container());
    let links = request.roadmap.dependencies.iter().enumerate();
    links
        .filter(|(_, link)| {
            link.kind == LinkKind::FS && container(&link.from) && container(&link.to)
        })
        .map(|(index, link)| {
            let half = tree.total_minutes(&link.from) / 2 / 15 * 15;
            let lag_minutes = i32::try_from(half).unwrap_or(NodeDependency::MAX_LAG_MINUTES);
            (index, NodeDependency { kind: LinkKind::SS, lag_minutes, ..link.clone() })
        })
        .collect()
}
