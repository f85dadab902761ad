//! The work of a roadmap as items to place: leaves, their occurrences, and links from leaf to leaf.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::civil::Date;

use super::ScheduleRequest;
use super::hand_set::{FixedWork, effective_dates};
use super::person_hours;
use super::schedule_run::merge_spans;
use crate::calendar::{RecurrenceRule, WorkCalendar, minute_of, plus_days, resolve_local};
use planwright_model::{
    AssumptionOrigin, LagBasis, LinkKind, NodeDependency, NodeStatus, NodeTree, NodeType,
    PlanContext, PlanNode, PreferredTime, RecurrenceFrequency, Roadmap, ScheduledBlock, TaskId,
    Weekday,
};

/// The maximum number of items in a schedule, so that a hostile recurrence cannot exhaust memory.
const MAX_ITEMS: usize = 5_000;

/// A leaf, or one occurrence of it.
#[derive(Clone, Debug)]
pub(super) struct ScheduleItem {
    /// Index into the roadmap's nodes.
    pub node: usize,
    pub minutes: u32,
    /// The topmost phase it belongs to.
    pub phase: Option<usize>,
    /// The number of the occurrence, from 1, if it recurs.
    pub occurrence: Option<u32>,
    /// The node whose recurrence it follows.
    pub series: Option<usize>,
    /// The first minute it may use.
    pub release: i64,
    /// The end of its own window.
    pub due: i64,
    /// The minute it should end by, because a date was set by hand; it may end later if nothing else fits.
    pub wanted_by: i64,
    /// The end of the day that an occurrence has of its own; it moves past it only where it does not fit before.
    pub own_day_end: i64,
    /// Whose time it takes: 0 is the person, others are counted from 1.
    pub owner: usize,
    /// The minute it starts at, regardless of the working hours.
    pub fixed: Option<i64>,
    /// Blocks that must not be moved.
    pub locked: Vec<(i64, i64)>,
    pub done: bool,
    /// When it is best done.
    pub preferred_time: Option<PreferredTime>,
    /// Whether it is done in one go.
    pub in_one_piece: bool,
    /// Whether it has a day of its own, so that it takes nothing of the hours of its week.
    pub has_own_day: bool,
    /// Whether it is a habit of minutes that keeps its time whatever events and other plans are there.
    pub keeps_time: bool,
}

impl ScheduleItem {
    /// Returns the minutes that are not placed yet.
    pub(super) fn open_minutes(&self) -> u32 {
        if self.done {
            return 0;
        }
        let locked: u64 = self.locked.iter().map(|(from, to)| to.abs_diff(*from)).sum();
        self.minutes.saturating_sub(u32::try_from(locked).unwrap_or(u32::MAX))
    }

    /// Returns whether it is spread over the week: everything of the person's that neither repeats nor stays whole.
    pub(super) fn is_spread(&self) -> bool {
        self.owner == 0 && self.occurrence.is_none() && !self.in_one_piece
    }

    /// Returns whether its position is fixed before anything is ordered.
    pub(super) fn is_settled(&self) -> bool {
        self.done || (self.open_minutes() == 0 && !self.locked.is_empty())
    }
}

/// A link whose predecessor is a leaf or, for a container, all of its relevant leaves.
#[derive(Clone, Debug)]
pub(super) struct ItemLink {
    pub from: Arc<[usize]>,
    pub to: usize,
    pub kind: LinkKind,
    pub lag: i32,
    pub basis: LagBasis,
}

/// Everything to place, and the links between the items.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemNetwork {
    pub items: Vec<ScheduleItem>,
    pub links: Vec<ItemLink>,
    /// For each item the links that lead to it.
    pub into: Vec<Vec<usize>>,
    /// For each item the items that depend on it.
    pub successors: Vec<Vec<usize>>,
    /// Predecessors shared by links, such as all leaves of a phase.
    pub groups: Vec<PredecessorGroup>,
    /// For each link its group.
    pub group_of: Vec<usize>,
    /// For each item the groups it belongs to.
    pub groups_of: Vec<Vec<usize>>,
    /// For each item the first date that it or anything after it should end by.
    pub urgency: Vec<i64>,
    /// For each of the other people the most minutes of a week; none is not limited.
    pub other_weekly: Vec<Option<u64>>,
    /// For each of them when they do not work on it: sorted, never overlapping.
    pub other_away: Vec<Vec<(i64, i64)>>,
}

/// The predecessors of one or more links.
#[derive(Clone, Debug, Default)]
pub(super) struct PredecessorGroup {
    pub members: usize,
    /// The links that start from it.
    pub links: Vec<usize>,
}

impl ItemNetwork {
    pub(super) fn from_parts(items: Vec<ScheduleItem>, links: Vec<ItemLink>) -> Self {
        let mut into = vec![Vec::new(); items.len()];
        let mut successors = vec![Vec::new(); items.len()];
        let mut groups_of = vec![Vec::new(); items.len()];
        let (mut groups, mut group_of) =
            (Vec::<PredecessorGroup>::new(), Vec::with_capacity(links.len()));
        let mut known: HashMap<*const usize, usize> = HashMap::new();
        for (index, link) in links.iter().enumerate() {
            into[link.to].push(index);
            for &from in link.from.iter() {
                successors[from].push(link.to);
            }
            // Links to the leaves of a container share one list of predecessors.
            let group = *known.entry(link.from.as_ptr()).or_insert_with(|| {
                for &from in link.from.iter() {
                    groups_of[from].push(groups.len());
                }
                groups.push(PredecessorGroup { members: link.from.len(), links: Vec::new() });
                groups.len() - 1
            });
            groups[group].links.push(index);
            group_of.push(group);
        }
        for list in &mut successors {
            list.sort_unstable();
            list.dedup();
        }
        let urgency = propagate_urgency(&items, &successors);
        Self {
            items,
            links,
            into,
            successors,
            groups,
            group_of,
            groups_of,
            urgency,
            other_weekly: Vec::new(),
            other_away: Vec::new(),
        }
    }

    /// Returns the times of the week that items of the person prefer.
    pub(super) fn preferred_times(&self) -> BTreeSet<PreferredTime> {
        let own = self.items.iter().filter(|item| item.owner == 0);
        own.filter_map(|item| item.preferred_time).collect()
    }

    /// Returns how many people have time of their own, the person included.
    pub(super) fn owner_count(&self) -> usize {
        self.items.iter().map(|item| item.owner + 1).max().unwrap_or(1)
    }
}

/// What must come before a task that is due is as urgent as the task. Loops end because urgency only grows.
fn propagate_urgency(items: &[ScheduleItem], successors: &[Vec<usize>]) -> Vec<i64> {
    let mut urgency: Vec<i64> = items.iter().map(|item| item.wanted_by).collect();
    if urgency.iter().all(|wanted| *wanted == i64::MAX) {
        return urgency;
    }
    for _ in 0..items.len() {
        let mut settled = true;
        for item in 0..items.len() {
            let after = successors[item].iter().map(|&to| urgency[to]).min().unwrap_or(i64::MAX);
            if after < urgency[item] {
                urgency[item] = after;
                settled = false;
            }
        }
        if settled {
            break;
        }
    }
    urgency
}

/// The differences between the runs of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NetworkChanges {
    /// Nodes that are left out.
    pub dropped: BTreeSet<TaskId>,
    /// Replaces the roadmap's links.
    pub links: Option<Vec<NodeDependency>>,
    /// The first date of a recurring node whose links push it later.
    pub anchors: BTreeMap<TaskId, Date>,
}

/// Locked spans by node and occurrence.
type LockedSpans<'a> = HashMap<(&'a TaskId, Option<u32>), Vec<(i64, i64)>>;

/// Returns the time of events and of the person's other plans: what only has a day is put beside them.
fn times_of_others(request: &ScheduleRequest<'_>) -> Vec<(i64, i64)> {
    let events = request.events.iter().map(|event| (event.start.at, event.end.at));
    let others = request.others.iter().filter(|other| !other.block.is_brief_habit());
    let others = others.map(|other| (other.block.start.at, other.block.end.at));
    merge_spans(events.chain(others).map(|(start, end)| (minute_of(start), minute_of(end))))
}

/// Creates the items and links of a roadmap.
pub(super) struct NetworkBuilder<'a> {
    roadmap: &'a Roadmap,
    tree: NodeTree<'a>,
    calendar: &'a WorkCalendar,
    changes: &'a NetworkChanges,
    /// The day after the last possible date of a recurring node.
    end: Date,
    locked: LockedSpans<'a>,
    items: Vec<ScheduleItem>,
    of_node: HashMap<&'a TaskId, Vec<usize>>,
    /// The shortest block, in minutes.
    least: i64,
    context: &'a PlanContext,
    /// The people other than the person, in the order in which they are met.
    owners: Vec<&'a str>,
    /// What is fixed by hand, for each owner.
    held: BTreeMap<usize, Vec<(i64, i64)>>,
}

impl<'a> NetworkBuilder<'a> {
    pub(super) fn new(
        request: &ScheduleRequest<'a>,
        calendar: &'a WorkCalendar,
        changes: &'a NetworkChanges,
        end: Date,
    ) -> Self {
        let mut locked = LockedSpans::new();
        for block in request.locked {
            let span = (minute_of(block.start.at), minute_of(block.end.at));
            if span.0 < span.1 {
                locked.entry((&block.plan_node_id, block.occurrence)).or_default().push(span);
            }
        }
        let roadmap = request.roadmap;
        Self {
            roadmap,
            tree: roadmap.node_tree(),
            calendar,
            changes,
            end,
            locked,
            items: Vec::new(),
            of_node: HashMap::new(),
            least: i64::from(request.context.user_prefs.min_block_minutes.max(1)),
            context: request.context,
            owners: Vec::new(),
            held: BTreeMap::from([(0, times_of_others(request))]),
        }
    }

    pub(super) fn build(mut self) -> ItemNetwork {
        let position: HashMap<&TaskId, usize> =
            self.roadmap.nodes.iter().enumerate().rev().map(|(at, node)| (&node.id, at)).collect();
        for leaf in self.tree.leaves(&self.roadmap.root_id) {
            let idle = leaf.node_type.is_container() && leaf.work_minutes() == 0;
            if !idle && !self.is_dropped(leaf) && self.items.len() < MAX_ITEMS {
                let first = self.items.len();
                self.add_leaf(leaf, position.get(&leaf.id).copied().unwrap_or(0));
                self.of_node.insert(&leaf.id, (first..self.items.len()).collect());
            }
        }
        let links = self.build_links();
        self.hurry_before_fixed_days(&links);
        let capacity = |name: &&str| self.context.find_person(name)?.weekly_minutes.map(u64::from);
        let other_weekly = self.owners.iter().map(capacity).collect();
        let other_away = self.owners.iter().map(|name| self.days_away(name)).collect();
        ItemNetwork { other_weekly, other_away, ..ItemNetwork::from_parts(self.items, links) }
    }

    /// Returns when somebody else does not work on the plan, in minutes: sorted, never overlapping.
    fn days_away(&self, name: &str) -> Vec<(i64, i64)> {
        let person = self.context.find_person(name);
        let minute = |day: Date| minute_of(self.calendar.day_start(day));
        let outside =
            person_hours::time_outside_hours(self.context, self.calendar, Some(name), self.end);
        let Some(person) = person else { return outside };
        let start = self.calendar.local_date(self.calendar.horizon_start());
        let weekly = start
            .series(jiff::Span::new().days(1))
            .take_while(|day| *day < self.end)
            .filter(|day| person.weekdays_off.contains(&Weekday::from_date(*day)));
        let weekly: Vec<Date> =
            if person.weekdays_off.is_empty() { Vec::new() } else { weekly.collect() };
        let days: BTreeSet<Date> = person.days_off.iter().copied().chain(weekly).collect();
        let away = days.into_iter().map(|day| (minute(day), minute(plus_days(day, 1))));
        merge_spans(away.chain(outside))
    }

    /// Whatever comes before something on a fixed day should end before it starts.
    fn hurry_before_fixed_days(&mut self, links: &[ItemLink]) {
        let mut wanted: Vec<i64> =
            self.items.iter().map(|item| self.fixed_day_start(item)).collect();
        // Links mostly point forward, so few rounds reach the first task; the bound ends loops.
        for _ in 0..self.items.len() {
            let mut settled = true;
            for link in links.iter().filter(|link| link.kind == LinkKind::FS) {
                let lag = if link.basis == LagBasis::Elapsed { i64::from(link.lag) } else { 0 };
                if wanted[link.to] == i64::MAX {
                    continue;
                }
                let by = wanted[link.to].saturating_sub(lag);
                for &from in link.from.iter() {
                    let open = self.items[from].occurrence.is_none() && !self.items[from].done;
                    if open && by < wanted[from] {
                        wanted[from] = by;
                        settled = false;
                    }
                }
            }
            if settled {
                break;
            }
        }
        for (item, by) in
            self.items.iter_mut().zip(wanted).filter(|(item, _)| item.locked.is_empty())
        {
            item.wanted_by = item.wanted_by.min(by);
        }
    }

    /// Returns when something that starts on a fixed date starts.
    fn fixed_day_start(&self, item: &ScheduleItem) -> i64 {
        let fixed =
            self.roadmap.nodes[item.node].fixed_start.is_some() && item.occurrence.is_none();
        let first = item.locked.iter().map(|block| block.0).min();
        first.filter(|_| fixed && !item.done).unwrap_or(i64::MAX)
    }

    fn is_dropped(&self, leaf: &PlanNode) -> bool {
        let dropped = &self.changes.dropped;
        !dropped.is_empty()
            && (dropped.contains(&leaf.id)
                || self.tree.ancestors(&leaf.id).iter().any(|node| dropped.contains(&node.id)))
    }

    fn add_leaf(&mut self, leaf: &'a PlanNode, node: usize) {
        // What repeats from a day of its own on does not keep its phase open.
        let phase = self.top_phase(leaf).filter(|_| !leaf.repeats_from_own_day());
        let owner = self.owner_index(leaf);
        let mut item = ScheduleItem {
            node,
            minutes: leaf.work_minutes(),
            phase,
            occurrence: None,
            series: None,
            release: i64::MIN,
            due: i64::MAX,
            wanted_by: i64::MAX,
            own_day_end: i64::MAX,
            owner,
            fixed: None,
            locked: self.locked.get(&(&leaf.id, None)).cloned().unwrap_or_default(),
            done: leaf.status == NodeStatus::Done,
            preferred_time: self.preferred_time(leaf),
            in_one_piece: leaf.in_one_piece,
            has_own_day: leaf.has_own_day()
                && !(leaf.has_proposed_day() && self.has_stated_hours()),
            keeps_time: false,
        };
        self.obey_dates(leaf, &mut item);
        match self.recurring_node(leaf) {
            Some(root) => self.add_occurrences(leaf, root, &item),
            None => self.items.push(item),
        }
    }

    /// Whether the person stated their hours a week; what only has a proposed day then takes of them.
    fn has_stated_hours(&self) -> bool {
        let stated = |found: &planwright_model::Assumption| found.origin == AssumptionOrigin::User;
        self.context.find_assumption("weekly_minutes").is_some_and(stated)
    }

    /// Returns when a leaf is best done: its own preference, or else that of the nearest container.
    fn preferred_time(&self, leaf: &PlanNode) -> Option<PreferredTime> {
        let above = self.tree.ancestors(&leaf.id);
        leaf.preferred_time.or_else(|| above.iter().find_map(|node| node.preferred_time))
    }

    /// Returns whose time a leaf takes.
    fn owner_index(&mut self, leaf: &'a PlanNode) -> usize {
        let Some(name) = leaf.other_owner() else { return 0 };
        let known = self.owners.iter().position(|owner| *owner == name);
        known.unwrap_or_else(|| {
            self.owners.push(name);
            self.owners.len() - 1
        }) + 1
    }

    /// Applies the dates that were set by hand. Blocks that the person moved by hand count for more.
    fn obey_dates(&mut self, leaf: &'a PlanNode, item: &mut ScheduleItem) {
        let dates = effective_dates(leaf, &self.tree);
        if dates.is_empty() || item.done {
            return;
        }
        let held = self.held.entry(item.owner).or_default();
        let minutes = i64::from(item.minutes);
        let own = person_hours::owner_calendar(self.context, self.calendar, leaf.other_owner());
        let work = FixedWork {
            calendar: own.as_ref().unwrap_or(self.calendar),
            minutes,
            least: self.least,
            taken: held,
            whole: leaf.in_one_piece,
            preferred_time: item.preferred_time,
        };
        let limits = work.limits(dates);
        item.release = limits.release;
        item.wanted_by = limits.wanted_by;
        if let Some(span) = limits.fixed.filter(|_| item.locked.is_empty()) {
            let place = held.partition_point(|other| other.0 < span.0);
            held.insert(place, span);
            item.locked.push(span);
        }
    }

    fn add_occurrences(&mut self, leaf: &'a PlanNode, root: &'a PlanNode, item: &ScheduleItem) {
        let Some(recurrence) = &root.recurrence else { return };
        let start = self.calendar.local_date(self.calendar.horizon_start());
        let anchor = self.changes.anchors.get(&root.id).map_or(start, |anchor| start.max(*anchor));
        let last = plus_days(self.end, -1);
        // A time on a day off happens later, so times are counted after those are gone.
        let every = RecurrenceRule { count: None, ..RecurrenceRule::from(recurrence) };
        let mut dates = every.dates_between(anchor, last);
        // Without a time of its own, a daily node occurs on working days only.
        if recurrence.freq == RecurrenceFrequency::Daily && recurrence.at_local.is_none() {
            dates.retain(|date| {
                let [from, to] =
                    [*date, plus_days(*date, 1)].map(|day| self.calendar.day_start(day));
                self.calendar.working_between(from, to) > 0
            });
        }
        // A fixed time does not depend on the working hours, but nothing is planned on a day off.
        let any_day = recurrence.at_local.is_none()
            && recurrence.by_day.is_empty()
            && recurrence.freq != RecurrenceFrequency::Daily;
        let days = i64::from(recurrence.freq.in_days() * u32::from(recurrence.interval.max(1)));
        dates.retain(|date| {
            !self.calendar.is_day_off(*date)
                && (!any_day || self.has_time_between(*date, plus_days(*date, days)))
        });
        dates.truncate(recurrence.count.map_or(usize::MAX, |count| count as usize));
        // A round that begins on the last weekend of the plan belongs to what comes after it.
        if recurrence.at_local.is_none()
            && dates.len() > 1
            && dates.last().is_some_and(|last| !self.has_time_from(*last))
        {
            dates.pop();
        }
        dates.truncate(MAX_ITEMS.saturating_sub(self.items.len()));
        let offset = i64::from(self.minutes_earlier_in_session(leaf, root));
        let series = self.roadmap.nodes.iter().position(|node| node.id == root.id);
        for (index, &date) in dates.iter().enumerate() {
            let occurrence = Some(index as u32 + 1);
            let next =
                dates.get(index + 1).copied().unwrap_or_else(|| self.end.max(plus_days(date, 1)));
            let hour =
                |at| minute_of(resolve_local(date.to_datetime(at), self.calendar.zone())) + offset;
            let fixed = recurrence.at_local.map(hour);
            if fixed.is_some_and(|fixed| fixed < minute_of(self.calendar.horizon_start())) {
                continue;
            }
            self.items.push(ScheduleItem {
                occurrence,
                series,
                release: minute_of(self.calendar.day_start(date)).max(item.release),
                due: minute_of(self.calendar.day_start(next)),
                own_day_end: if any_day {
                    i64::MAX
                } else {
                    minute_of(self.calendar.day_start(plus_days(date, 1)))
                },
                fixed,
                keeps_time: item.minutes <= ScheduledBlock::BRIEF_MINUTES
                    && !self.context.own_days_off.contains(&date),
                locked: self.locked.get(&(&leaf.id, occurrence)).cloned().unwrap_or_default(),
                ..item.clone()
            });
        }
    }

    /// Returns whether a day or a later one of the plan has working time.
    fn has_time_from(&self, date: Date) -> bool {
        self.has_time_between(date, self.end.max(plus_days(date, 1)))
    }

    fn has_time_between(&self, first: Date, end: Date) -> bool {
        let [from, to] = [first, end].map(|day| self.calendar.day_start(day));
        self.calendar.working_between(from, to) > 0
    }

    /// Returns the minutes of the same session that come before a leaf: the tasks of a cycle follow each other.
    fn minutes_earlier_in_session(&self, leaf: &PlanNode, root: &PlanNode) -> u32 {
        let leaves = self.tree.leaves(&root.id);
        let earlier = leaves.iter().take_while(|other| other.id != leaf.id);
        let same =
            earlier.filter(|other| self.recurring_node(other).is_some_and(|own| own.id == root.id));
        same.fold(0, |sum: u32, other| sum.saturating_add(other.work_minutes())).min(24 * 60)
    }

    /// Returns the node whose recurrence a leaf follows: its own, or else that of the nearest container.
    fn recurring_node(&self, leaf: &'a PlanNode) -> Option<&'a PlanNode> {
        std::iter::once(leaf)
            .chain(self.tree.ancestors(&leaf.id))
            .find(|node| node.recurrence.is_some())
    }

    /// The stages of a round all lie in its period, so they are not phases beside each other.
    fn top_phase(&self, leaf: &PlanNode) -> Option<usize> {
        let ancestors = self.tree.ancestors(&leaf.id);
        if ancestors.iter().any(|node| node.recurrence.is_some()) {
            return None;
        }
        let top = ancestors.iter().rev().find(|node| node.node_type == NodeType::Phase)?;
        self.roadmap.nodes.iter().position(|node| node.id == top.id)
    }

    fn build_links(&self) -> Vec<ItemLink> {
        let links = self.changes.links.as_ref().unwrap_or(&self.roadmap.dependencies);
        let mut found = Vec::new();
        for link in links {
            let known = self.tree.contains(&link.from) && self.tree.contains(&link.to);
            let nested = link.from == link.to
                || self.tree.is_ancestor(&link.from, &link.to)
                || self.tree.is_ancestor(&link.to, &link.from);
            if known && !nested {
                self.expand_link(link, &mut found);
            }
        }
        found
    }

    fn expand_link(&self, link: &NodeDependency, found: &mut Vec<ItemLink>) {
        let sources = match link.kind {
            LinkKind::FS | LinkKind::FF => self.leaves_with_items(&link.from),
            // The start of a container is the earliest of its leaves' starts, and only an opening leaf can have it.
            LinkKind::SS | LinkKind::SF => self.opening_leaves(&link.from),
        };
        let targets: Vec<_> = match link.kind {
            LinkKind::FS | LinkKind::SS => self.leaves_with_items(&link.to),
            LinkKind::FF | LinkKind::SF => self.closing_leaf(&link.to).into_iter().collect(),
        };
        // What repeats from a day of its own on is moved only by links of its own.
        let bound =
            |node: &TaskId, leaf: &&PlanNode| leaf.id == *node || !leaf.repeats_from_own_day();
        let sources: Vec<_> = sources.into_iter().filter(|leaf| bound(&link.from, leaf)).collect();
        let targets = targets.into_iter().filter(|leaf| bound(&link.to, leaf));
        let all: Arc<[usize]> =
            sources.iter().flat_map(|leaf| self.items_of(leaf)).copied().collect();
        if all.is_empty() {
            return;
        }
        for target in targets {
            for &to in self.items_of(target) {
                let same = self.same_occurrence_items(&sources, target, to);
                let from = if same.is_empty() { Arc::clone(&all) } else { same.into() };
                let (kind, lag, basis) = (link.kind, link.lag_minutes, link.lag_basis);
                found.push(ItemLink { from, to, kind, lag, basis });
            }
        }
    }

    /// Inside one recurring container, an occurrence waits only for its own round.
    fn same_occurrence_items(
        &self,
        sources: &[&'a PlanNode],
        target: &'a PlanNode,
        to: usize,
    ) -> Vec<usize> {
        let root = self.recurring_node(target).map(|node| &node.id);
        let within = |leaf: &&&'a PlanNode| {
            root.is_some() && self.recurring_node(leaf).map(|node| &node.id) == root
        };
        let items = sources.iter().filter(within).flat_map(|leaf| self.items_of(leaf));
        items
            .copied()
            .filter(|&from| self.items[from].occurrence == self.items[to].occurrence)
            .collect()
    }

    fn items_of(&self, leaf: &PlanNode) -> &[usize] {
        self.of_node.get(&leaf.id).map_or(&[], Vec::as_slice)
    }

    fn leaves_with_items(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let leaves = self.tree.leaves(id);
        leaves.into_iter().filter(|leaf| self.of_node.contains_key(&leaf.id)).collect()
    }

    fn opening_leaves(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let leaves = self.leaves_with_items(id);
        let opening = |leaf: &&PlanNode| {
            !self.inner_links(id).any(|link| {
                matches!(link.kind, LinkKind::FS | LinkKind::SS)
                    && link.lag_minutes >= 0
                    && self.contains_leaf(&link.to, &leaf.id)
            })
        };
        let openings: Vec<_> = leaves.iter().copied().filter(opening).collect();
        if openings.is_empty() { leaves } else { openings }
    }

    fn closing_leaf(&self, id: &TaskId) -> Option<&'a PlanNode> {
        let leaves = self.leaves_with_items(id);
        let closing = |leaf: &&&PlanNode| {
            !self.inner_links(id).any(|link| {
                matches!(link.kind, LinkKind::FS | LinkKind::FF)
                    && self.contains_leaf(&link.from, &leaf.id)
            })
        };
        leaves.iter().rev().find(closing).or(leaves.last()).copied()
    }

    fn inner_links(&self, id: &TaskId) -> impl Iterator<Item = &NodeDependency> {
        let links = self.changes.links.as_ref().unwrap_or(&self.roadmap.dependencies);
        let inside = |node: &TaskId| self.tree.is_ancestor(id, node);
        links.iter().filter(move |link| inside(&link.from) && inside(&link.to))
    }

    fn contains_leaf(&self, node: &TaskId, leaf: &TaskId) -> bool {
        node == leaf || self.tree.is_ancestor(node, leaf)
    }
}
