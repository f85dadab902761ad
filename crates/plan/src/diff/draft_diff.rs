//! What is different between two drafts of a plan, row by row, with dates: the table that a person reads before saying yes.
//!
//! Unlike [`PlanDiff`](super::PlanDiff), which compares what was written, this also compares what follows from it: when
//! each row happens, how much work its group holds, and when the plan ends. The text in it is not cleaned for a screen.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::order::{DiffSide, merge_node_order, reordered_nodes};
use super::row_fields::{DiffFieldChange, compare_row_fields};
use super::{FieldChange, fields};
use planwright_model::{
    NodeDependency, OffsetDateTime, PlanNode, PlanOutline, Roadmap, Schedule, TaskId,
};
use planwright_schedule::calendar::find_zone;

/// One draft of a plan, as far as it has come.
#[derive(Clone, Copy, Debug)]
pub struct DraftView<'a> {
    pub outline: &'a PlanOutline,
    pub roadmap: Option<&'a Roadmap>,
    pub schedule: Option<&'a Schedule>,
}

impl<'a> DraftView<'a> {
    /// The day on which a row begins.
    pub fn first_day(&self, id: &TaskId) -> Option<Date> {
        let blocks = self.schedule?.blocks_for_node(id);
        blocks.min_by_key(|block| block.start.at).map(|block| block.start.local_date())
    }

    fn nodes(&self) -> &'a [PlanNode] {
        self.roadmap.map_or(&self.outline.nodes, |roadmap| &roadmap.nodes)
    }

    fn links(&self) -> &'a [NodeDependency] {
        self.roadmap.map_or(&[], |roadmap| &roadmap.dependencies)
    }

    fn zone(&self) -> TimeZone {
        let named = self.schedule.map_or(&self.outline.plan_context.calendar.tz, |made| &made.tz);
        find_zone(named).unwrap_or(TimeZone::UTC)
    }
}

/// A value before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldAndNew<T> {
    pub old: T,
    pub new: T,
}

impl<T: PartialEq> OldAndNew<T> {
    pub fn is_changed(&self) -> bool {
        self.old != self.new
    }
}

/// From the first start to the last end of a row, and of everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSpan {
    pub start: OffsetDateTime,
    pub end: OffsetDateTime,
}

/// What happened to a row; the mark in front of it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DraftChangeKind {
    /// `+`: it is new.
    Added,
    /// `-`: it is gone.
    Removed,
    /// `~`: its words, time, owner, checks or links are different.
    Changed,
    /// `>`: it is the same work on other days, or in another place of the plan.
    Moved,
    /// A group or a milestone whose work or dates follow from other rows. It has no mark and is not counted.
    Follows,
}

impl DraftChangeKind {
    /// Returns the mark, so that the meaning never depends on color alone.
    pub fn mark(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed => '~',
            Self::Moved => '>',
            Self::Follows => ' ',
        }
    }
}

/// What is different about one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowChange {
    pub node: TaskId,
    /// The title now; of a removed row, the title it had.
    pub title: String,
    /// The group it stands in now; of a removed row, the one it stood in.
    pub parent: Option<TaskId>,
    pub kind: DraftChangeKind,
    /// Every field that has another value, in the order in which they are shown.
    pub fields: Vec<DiffFieldChange>,
    /// Minutes of work, of a group all that is below it.
    pub work_minutes: OldAndNew<u32>,
    /// When it happens. A side without a schedule or without the row has none.
    pub span: OldAndNew<Option<RowSpan>>,
    /// Whether it starts or ends on another day, which is what counts as moved.
    pub days_moved: bool,
}

/// How many rows were changed in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowChangeCounts {
    pub added: usize,
    pub removed: usize,
    pub changed: usize,
    pub moved: usize,
}

impl RowChangeCounts {
    pub fn total(&self) -> usize {
        self.added + self.removed + self.changed + self.moved
    }
}

/// What is different between two drafts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftDiff {
    /// The rows that are different, in the order of the plan; a removed row stands where it was.
    pub rows: Vec<RowChange>,
    /// When the last block ends.
    pub plan_end: OldAndNew<Option<OffsetDateTime>>,
    /// All work of the plan, in minutes.
    pub total_minutes: OldAndNew<u32>,
    /// Limits of the whole plan that have another value: hours, start, deadline, days off.
    pub limits: Vec<FieldChange>,
}

impl DraftDiff {
    /// Returns whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.limits.is_empty()
    }

    /// Returns the change of a row.
    pub fn row(&self, node: &TaskId) -> Option<&RowChange> {
        self.rows.iter().find(|row| row.node == *node)
    }

    /// Returns the rows that were changed themselves: what a person goes through one by one.
    pub fn own_changes(&self) -> impl Iterator<Item = &RowChange> {
        self.rows.iter().filter(|row| row.kind != DraftChangeKind::Follows)
    }

    pub fn counts(&self) -> RowChangeCounts {
        let mut counts = RowChangeCounts::default();
        for row in &self.rows {
            match row.kind {
                DraftChangeKind::Added => counts.added += 1,
                DraftChangeKind::Removed => counts.removed += 1,
                DraftChangeKind::Changed => counts.changed += 1,
                DraftChangeKind::Moved => counts.moved += 1,
                DraftChangeKind::Follows => {}
            }
        }
        counts
    }
}

/// Compares two drafts. A draft without a roadmap has no work and no links to compare, one without a schedule no dates.
pub fn diff_drafts(before: &DraftView<'_>, after: &DraftView<'_>) -> DraftDiff {
    let (old, new) = (SideFacts::new(before), SideFacts::new(after));
    let reordered = reordered_nodes(&old.side, &new.side);
    let with_work = before.roadmap.is_some() && after.roadmap.is_some();
    let with_dates = before.schedule.is_some() && after.schedule.is_some();
    let compare = |id: &TaskId| -> Option<RowChange> {
        let placed = reordered.contains(id);
        compare_row(id, (&old, &new), placed, (with_work, with_dates))
    };
    let order = merge_node_order(&old.side, &new.side);
    let mut limits = Vec::new();
    if let Some(root) = new.side.root() {
        let mut changes = fields::FieldChangeCollector::new(root);
        fields::compare_contexts(
            &mut changes,
            &before.outline.plan_context,
            &after.outline.plan_context,
        );
        limits = changes.found;
    }
    DraftDiff {
        rows: order.iter().filter_map(compare).collect(),
        plan_end: OldAndNew { old: old.plan_end(), new: new.plan_end() },
        total_minutes: OldAndNew { old: old.total_minutes(), new: new.total_minutes() },
        limits,
    }
}

/// What one side says about its rows.
struct SideFacts<'a> {
    view: DraftView<'a>,
    side: DiffSide<'a>,
    zone: TimeZone,
    spans: BTreeMap<&'a TaskId, RowSpan>,
    needs: BTreeMap<&'a TaskId, Vec<&'a NodeDependency>>,
}

impl<'a> SideFacts<'a> {
    fn new(view: &DraftView<'a>) -> Self {
        let side = DiffSide::new(view.nodes(), &view.outline.root_id);
        let mut spans: BTreeMap<&TaskId, RowSpan> = BTreeMap::new();
        let mut widen = |id: &'a TaskId, span: RowSpan| {
            let known = spans.entry(id).or_insert(span);
            known.start = known.start.min(span.start);
            known.end = known.end.max(span.end);
        };
        for block in view.schedule.into_iter().flat_map(|schedule| &schedule.blocks) {
            let span = RowSpan { start: block.start, end: block.end };
            widen(&block.plan_node_id, span);
            for above in side.ancestors(&block.plan_node_id) {
                widen(&above.id, span);
            }
        }
        let mut needs: BTreeMap<&TaskId, Vec<&NodeDependency>> = BTreeMap::new();
        for link in view.links() {
            needs.entry(&link.to).or_default().push(link);
        }
        Self { view: *view, side, zone: view.zone(), spans, needs }
    }

    /// The first day of the plan, whose year need not be written.
    fn first_day(&self) -> Date {
        self.view.outline.plan_context.constraints.start
    }

    fn plan_end(&self) -> Option<OffsetDateTime> {
        self.view.schedule.and_then(Schedule::finish_time)
    }

    fn total_minutes(&self) -> u32 {
        self.side.total_minutes(&self.view.outline.root_id)
    }

    /// A point takes no time and has no block: it is reached when what it waits for is done.
    fn span_of(&self, node: &PlanNode) -> Option<RowSpan> {
        let own = self.spans.get(&node.id).copied();
        own.or_else(|| {
            let before = self.needs.get(&node.id).into_iter().flatten();
            let end = before.filter_map(|link| self.spans.get(&link.from)).map(|span| span.end);
            let end = end.max().or_else(|| self.plan_end().filter(|_| node.milestone))?;
            Some(RowSpan { start: end, end })
        })
    }

    fn days(&self, span: RowSpan) -> (Date, Date) {
        let day = |moment: OffsetDateTime| self.zone.to_datetime(moment.at).date();
        // What ends at midnight ends on the day before.
        let last = if span.end > span.start { span.end.plus_minutes(-1) } else { span.end };
        (day(span.start), day(last))
    }

    /// The links that lead to a row, each with the title of what it waits for.
    fn needs_of(&self, id: &TaskId) -> Vec<(&'a NodeDependency, &'a str)> {
        let links = self.needs.get(id).into_iter().flatten();
        links
            .map(|link| {
                let title =
                    self.side.get(&link.from).map_or(link.from.as_str(), |node| &node.title);
                (*link, title)
            })
            .collect()
    }
}

/// Compares one row; `None` if nothing about it is different.
fn compare_row(
    id: &TaskId,
    (old, new): (&SideFacts<'_>, &SideFacts<'_>),
    reordered: bool,
    (with_work, with_dates): (bool, bool),
) -> Option<RowChange> {
    let (before, after) = (old.side.get(id), new.side.get(id));
    let shown = after.or(before)?;
    let minutes = |facts: &SideFacts<'_>| facts.side.total_minutes(id);
    let work_minutes = OldAndNew { old: minutes(old), new: minutes(new) };
    let span = OldAndNew {
        old: before.and_then(|node| old.span_of(node)),
        new: after.and_then(|node| new.span_of(node)),
    };
    let days = |facts: &SideFacts<'_>, span: Option<RowSpan>| span.map(|span| facts.days(span));
    let days_moved = with_dates && days(old, span.old) != days(new, span.new);
    let (kind, fields) = match (before, after) {
        (None, _) => (DraftChangeKind::Added, Vec::new()),
        (_, None) => (DraftChangeKind::Removed, Vec::new()),
        (Some(before), Some(after)) => {
            let mut fields = compare_row_fields(before, after, new.first_day());
            if with_work {
                let changed = DiffFieldChange::from_needs(&old.needs_of(id), &new.needs_of(id));
                fields.extend(changed);
            }
            let elsewhere = before.parent_id != after.parent_id || before.stream != after.stream;
            let place = elsewhere || reordered;
            if place {
                fields.push(DiffFieldChange::from_places(
                    &old.side.tree_position(before),
                    &new.side.tree_position(after),
                ));
            }
            let derived =
                after.node_type.is_container() || after.milestone || !new.side.is_leaf(id);
            let other_work = with_work && work_minutes.is_changed();
            let kind = if fields.iter().any(|change| !change.is_place()) {
                DraftChangeKind::Changed
            } else if place || (days_moved && !derived) {
                DraftChangeKind::Moved
            } else if days_moved || (other_work && derived) {
                DraftChangeKind::Follows
            } else {
                return None;
            };
            (kind, fields)
        }
    };
    let (node, title, parent) = (id.clone(), shown.title.clone(), shown.parent_id.clone());
    Some(RowChange { node, title, parent, kind, fields, work_minutes, span, days_moved })
}

#[cfg(test)]
mod tests;
