//! Whether links are satisfied in working minutes (G403), and how much slack is left before the deadline.

use std::collections::{BTreeMap, HashMap};

use planwright_model::{IsoWeek, LinkKind, NodeDependency, PlanNode, Schedule, TaskId, Violation};
use planwright_schedule::calendar::{LinkBound, WorkCalendar, WorkSpan};

use super::super::artifacts::{RuleScope, display_title_of};
use super::super::links::is_impossible;
use super::super::rule_table::rule_violation;

/// The maximum number of passes over a chain of milestones.
const MAX_MILESTONE_PASSES: usize = 32;

/// The position of each leaf in working minutes.
pub(crate) struct ScheduleTiming<'a> {
    /// The working time of everybody together.
    pub calendar: WorkCalendar,
    /// The person's own, where others have hours of theirs.
    own_calendar: Option<WorkCalendar>,
    /// For each leaf its occurrences, or its only span under `None`.
    spans: HashMap<&'a TaskId, BTreeMap<Option<u32>, WorkSpan>>,
}

impl<'a> ScheduleTiming<'a> {
    /// Returns `None` if the plan's zone does not exist, which G406 reports.
    pub(crate) fn new(scope: &RuleScope<'a>, schedule: &'a Schedule) -> Option<Self> {
        let first = schedule.blocks.iter().map(|block| block.start.at).min();
        let start = first.map_or(schedule.horizon_start.at, |at| at.min(schedule.horizon_start.at));
        let calendar =
            WorkCalendar::new((&*scope.context().shared_calendar()).into(), start).ok()?;
        let has_hours = scope.context().people.iter().any(|person| !person.hours.is_empty());
        let own = || WorkCalendar::new((&scope.context().calendar).into(), start).ok();
        let own_calendar = if has_hours { own() } else { None };
        let mut timing = Self { calendar, own_calendar, spans: HashMap::new() };
        for block in &schedule.blocks {
            let span = timing.calendar.work_span(block.start.at, block.end.at);
            let leaf = timing.spans.entry(&block.plan_node_id).or_default();
            let total = leaf.entry(block.occurrence).or_insert(span);
            *total = join_spans(*total, span);
        }
        timing.place_milestones(scope);
        Some(timing)
    }

    /// The working time in which somebody's blocks have to lie. Hours that others stated are facts and checked as such.
    pub(crate) fn calendar_for(&self, scope: &RuleScope<'_>, owner: Option<&str>) -> &WorkCalendar {
        let person = owner.and_then(|name| scope.context().find_person(name));
        let own = self.own_calendar.as_ref();
        match person.filter(|person| !person.hours.is_empty()) {
            Some(_) => &self.calendar,
            None => own.unwrap_or(&self.calendar),
        }
    }

    /// A milestone has no block: it is reached as soon as its links allow.
    fn place_milestones(&mut self, scope: &RuleScope<'a>) {
        let is_open =
            |leaf: &&PlanNode| leaf.work_minutes() == 0 && !self.spans.contains_key(&leaf.id);
        let open: Vec<&PlanNode> =
            scope.tree.leaves(scope.root_id).into_iter().filter(is_open).collect();
        for _ in 0..MAX_MILESTONE_PASSES {
            let mut settled = true;
            for leaf in &open {
                let into = scope.links().iter().filter(|link| {
                    link.to == leaf.id || scope.tree.is_ancestor(&link.to, &leaf.id)
                });
                let bounds = into.filter_map(|link| {
                    let from = self.node_span(scope, &link.from)?;
                    Some(self.link_bound(link, from).earliest_start(0))
                });
                let Some(at) = bounds.max() else { continue };
                let span = BTreeMap::from([(None, WorkSpan { start: at, finish: at })]);
                settled &= self.spans.insert(&leaf.id, span.clone()) == Some(span);
            }
            if settled {
                break;
            }
        }
    }

    fn link_bound(&self, link: &NodeDependency, from: WorkSpan) -> LinkBound {
        self.calendar.link_bound(link.kind, link.lag_minutes, link.lag_basis, from)
    }

    /// Returns the span of everything at or below a node, over all occurrences.
    fn node_span(&self, scope: &RuleScope<'_>, id: &TaskId) -> Option<WorkSpan> {
        self.span_of_occurrences(scope, id, |_| true)
    }

    fn span_of_occurrences(
        &self,
        scope: &RuleScope<'_>,
        id: &TaskId,
        admit: impl Fn(Option<u32>) -> bool,
    ) -> Option<WorkSpan> {
        // What repeats from a day of its own on does not hold up what follows its group.
        let mut leaves = scope.tree.leaves(id);
        leaves.retain(|leaf| leaf.id == *id || !leaf.repeats_from_own_day());
        let spans = leaves.iter().filter_map(|leaf| self.spans.get(&leaf.id)).flatten();
        spans
            .filter(|(occurrence, _)| admit(**occurrence))
            .map(|(_, span)| *span)
            .reduce(join_spans)
    }

    /// Returns the week of the last finish, if it leaves less slack before the deadline than the strategy requires. What
    /// repeats until the end, or has a date of its own, is there whenever the rest is done.
    pub(super) fn crowded_finish(
        &self,
        scope: &RuleScope<'_>,
        schedule: &Schedule,
    ) -> Option<IsoWeek> {
        let context = scope.context();
        let deadline = context.constraints.deadline?;
        let open = schedule.blocks.iter().filter(|block| {
            let node = scope.tree.get(&block.plan_node_id);
            let dated =
                node.is_some_and(|node| node.fixed_start.is_some() || node.not_before.is_some());
            block.occurrence.is_none() && !dated
        });
        let finish = open.map(|block| block.end).max()?;
        let horizon = self.calendar.working_between(schedule.horizon_start.at, deadline.at);
        let free = self.calendar.working_between(finish.at, deadline.at);
        let wanted = context.strategy_profile.buffer_ratio * horizon as f64;
        ((free as f64) + 1e-9 < wanted)
            .then(|| IsoWeek::from_date(self.calendar.local_date(finish.at)))
    }
}

fn join_spans(one: WorkSpan, other: WorkSpan) -> WorkSpan {
    WorkSpan { start: one.start.min(other.start), finish: one.finish.max(other.finish) }
}

/// Returns the nearest recurring node at or above a node.
fn recurring_ancestor<'a>(scope: &RuleScope<'a>, id: &TaskId) -> Option<&'a TaskId> {
    let own = scope.tree.get(id).into_iter();
    let mut chain = own.chain(scope.tree.ancestors(id));
    chain.find(|node| node.recurrence.is_some()).map(|node| &node.id)
}

/// A leaf that is too early, its occurrence, and the minimum allowed.
pub(crate) struct EarlyLeaf {
    pub id: TaskId,
    pub occurrence: Option<u32>,
    pub bound: LinkBound,
}

/// Returns the leaves that violate a link. Inside one recurring node a link applies occurrence by occurrence.
pub(crate) fn early_leaves(
    scope: &RuleScope<'_>,
    timing: &ScheduleTiming<'_>,
    link: &NodeDependency,
) -> Vec<EarlyLeaf> {
    if is_impossible(scope, link) {
        return Vec::new();
    }
    let together = recurring_ancestor(scope, &link.from);
    let by_occurrence = together.is_some() && together == recurring_ancestor(scope, &link.to);
    let leaves = scope.tree.leaves(&link.to);
    if matches!(link.kind, LinkKind::FF | LinkKind::SF) && !by_occurrence {
        return early_finish(scope, timing, link).into_iter().collect();
    }
    let mut early = Vec::new();
    for leaf in leaves {
        if leaf.id != link.to && leaf.repeats_from_own_day() {
            continue;
        }
        for (&occurrence, &span) in timing.spans.get(&leaf.id).into_iter().flatten() {
            let same = |other| !by_occurrence || other == occurrence;
            let from = timing.span_of_occurrences(scope, &link.from, same);
            let bound = from.map(|from| timing.link_bound(link, from));
            if let Some(bound) = bound.filter(|bound| !bound.is_met_by(span)) {
                early.push(EarlyLeaf { id: leaf.id.clone(), occurrence, bound });
            }
        }
    }
    early
}

/// A link to a finish constrains the leaf that finishes last.
fn early_finish(
    scope: &RuleScope<'_>,
    timing: &ScheduleTiming<'_>,
    link: &NodeDependency,
) -> Option<EarlyLeaf> {
    let bound = timing.link_bound(link, timing.node_span(scope, &link.from)?);
    let leaves = scope.tree.leaves(&link.to).into_iter();
    let spans = leaves.filter_map(|leaf| Some((leaf, timing.spans.get(&leaf.id)?)));
    let ends =
        spans.flat_map(|(leaf, spans)| spans.iter().map(move |(key, span)| (leaf, key, span)));
    let (leaf, occurrence, span) = ends.max_by_key(|(_, _, span)| span.finish)?;
    let early = EarlyLeaf { id: leaf.id.clone(), occurrence: *occurrence, bound };
    (!bound.is_met_by(*span)).then_some(early)
}

/// G403.
pub(super) fn check_link_timing(
    scope: &RuleScope<'_>,
    timing: &ScheduleTiming<'_>,
    found: &mut Vec<Violation>,
) {
    for link in scope.links() {
        if !early_leaves(scope, timing, link).is_empty() {
            let values = [
                ("a", &*display_title_of(scope, &link.from)),
                ("b", &*display_title_of(scope, &link.to)),
            ];
            found.push(rule_violation("G403", [link.from.clone(), link.to.clone()], &values));
        }
    }
}
