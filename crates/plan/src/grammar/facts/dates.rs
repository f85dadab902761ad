//! Facts about dates: deadline, start, the day or window of something, absences, order, length.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::{BrokenReading, FactCheck, LocalBlock, break_of_all};
use planwright_model::{
    FactLength, FactSubject, LinkKind, PlanDate, PlanNode, TaskId, Weekday, is_everybody,
};
use planwright_text::units;

impl FactCheck<'_> {
    /// All work ends on this day at the latest, and all of it is planned.
    pub(super) fn check_last_day(&self, on: Date) -> Option<BrokenReading> {
        self.check_end(on, |_| true)
    }

    /// As [`Self::check_last_day`], for the blocks that count.
    fn check_end(
        &self,
        on: Date,
        counts: impl Fn(&LocalBlock<'_>) -> bool,
    ) -> Option<BrokenReading> {
        let last = self.blocks.iter().filter(|block| counts(block)).max_by_key(|block| block.end);
        if let Some(late) = last.filter(|block| block.last_day() > on) {
            let what = format!(
                "\"{}\" ends {}",
                self.title(&late.leaf.id),
                self.format_day(late.last_day())
            );
            return Some(BrokenReading::new([late.leaf.id.clone()], what));
        }
        let left = self.schedule.unplaced.iter().find(|left| left.minutes > 0)?;
        let minutes = units::format_planned(left.minutes.into());
        let what =
            format!("{minutes} of \"{}\" fits nowhere before then", self.title(&left.plan_node_id));
        Some(BrokenReading::new([left.plan_node_id.clone()], what))
    }

    /// No work happens before this day.
    pub(super) fn check_first_day(&self, on: Date) -> Option<BrokenReading> {
        let early = self.blocks.iter().min_by_key(|block| block.start)?;
        let day = early.start.date();
        (day < on).then(|| {
            let title = self.title(&early.leaf.id);
            let what = format!("\"{title}\" starts {}", self.format_day(day));
            BrokenReading::new([early.leaf.id.clone()], what)
        })
    }

    /// Something happens on a day or within a window.
    pub(super) fn check_window(
        &self,
        subject: &FactSubject,
        days: (Date, Date),
    ) -> Option<BrokenReading> {
        if *subject != FactSubject::Plan {
            let nodes = self.named_nodes(subject);
            return break_of_all(&nodes, |node| self.check_node_window(node, days));
        }
        // Without a day of its own the plan as a whole is what happens; dates that count from its start say nothing.
        if self.has_kind_without_day() {
            return self.check_last_day(days.1);
        }
        // The thing itself has a date of its own in the plan, or the plan as a whole is what happens.
        let leaves = self.scope.tree.leaves(self.scope.root_id);
        let dated = leaves.iter().filter_map(|leaf| Some((leaf, day_of(leaf)?)));
        let kept = dated.clone().any(|(_, day)| is_within(day, days));
        if kept {
            return None;
        }
        let marked = dated.max_by_key(|(leaf, day)| (leaf.milestone, *day));
        match marked {
            Some((leaf, day)) => {
                let what = format!("\"{}\" is on {}", self.title(&leaf.id), self.format_day(day));
                Some(BrokenReading::new([leaf.id.clone()], what))
            }
            None => self.check_last_day(days.1),
        }
    }

    fn check_node_window(&self, node: &PlanNode, days: (Date, Date)) -> Option<BrokenReading> {
        if let Some(day) = day_of(node) {
            return (!is_within(day, days)).then(|| self.misplaced(node, day));
        }
        let outside = self
            .blocks_below(&node.id)
            .find(|block| block.start.date() < days.0 || block.last_day() > days.1)?;
        Some(self.misplaced(node, outside.start.date()))
    }

    fn misplaced(&self, node: &PlanNode, day: Date) -> BrokenReading {
        let what = format!("\"{}\" is planned for {}", self.title(&node.id), self.format_day(day));
        BrokenReading::new([node.id.clone()], what)
    }

    /// Nobody works while they are away.
    pub(super) fn check_absence(
        &self,
        person: Option<&str>,
        days: (Date, Date),
    ) -> Option<BrokenReading> {
        let theirs = |block: &&LocalBlock<'_>| match (person, block.leaf.other_owner()) {
            (None, None) => true,
            (Some(name), _) if is_everybody(name) => true,
            (Some(name), Some(owner)) => name.eq_ignore_ascii_case(owner),
            _ => false,
        };
        // A time of day that was stated with the task applies on every day.
        let repeats = |block: &LocalBlock<'_>| {
            block.leaf.recurrence.as_ref().is_some_and(|repeats| repeats.at_local.is_some())
        };
        let block = self.blocks.iter().filter(theirs).find(|block| {
            !repeats(block) && block.start.date() <= days.1 && block.last_day() >= days.0
        })?;
        Some(self.misplaced(block.leaf, block.start.date().max(days.0)))
    }

    /// Nobody works on a day of the week on which they never do, unless the day was stated.
    pub(super) fn check_weekdays_off(
        &self,
        person: Option<&str>,
        days: &[Weekday],
    ) -> Option<BrokenReading> {
        let theirs = |block: &&LocalBlock<'_>| match (person, block.leaf.other_owner()) {
            (None, None) => true,
            (Some(name), Some(owner)) => name.eq_ignore_ascii_case(owner),
            _ => false,
        };
        let block = self.blocks.iter().filter(theirs).find(|block| {
            !block.has_stated_time() && days.contains(&Weekday::from_date(block.start.date()))
        })?;
        Some(self.misplaced(block.leaf, block.start.date()))
    }

    /// One thing ends before another starts.
    pub(super) fn check_order(
        &self,
        first: &FactSubject,
        then: &FactSubject,
    ) -> Option<BrokenReading> {
        let (before, after) = (self.named_nodes(first), self.named_nodes(then));
        break_of_all(&before, |earlier| {
            break_of_all(&after, |later| {
                let ends = self.blocks_below(&earlier.id).map(|block| block.end).max()?;
                let starts = self.blocks_below(&later.id).map(|block| block.start).min()?;
                (starts < ends).then(|| {
                    let what = format!(
                        "\"{}\" starts {}, before \"{}\" is done",
                        self.title(&later.id),
                        self.format_day(starts.date()),
                        self.title(&earlier.id)
                    );
                    BrokenReading::new([later.id.clone(), earlier.id.clone()], what)
                })
            })
        })
    }

    /// Something takes no longer than stated; a task takes exactly as long.
    pub(super) fn check_duration(
        &self,
        subject: &FactSubject,
        length: FactLength,
    ) -> Option<BrokenReading> {
        if *subject == FactSubject::Plan {
            return self.check_plan_length(length);
        }
        let nodes = self.named_nodes(subject);
        break_of_all(&nodes, |node| {
            let title = self.title(&node.id);
            let what = match length {
                FactLength::Minutes(minutes) => {
                    let planned = self.scope.tree.total_minutes(&node.id);
                    let words = units::format_planned(planned.into());
                    (planned != minutes).then(|| format!("\"{title}\" takes {words}"))
                }
                FactLength::Days(most) => {
                    let first =
                        self.blocks_below(&node.id).map(|block| block.start.date()).min()?;
                    let last = self.blocks_below(&node.id).map(LocalBlock::last_day).max()?;
                    let days = days_between(first, last);
                    let words = units::format_counted(days as usize, "day");
                    (days > most).then(|| format!("\"{title}\" takes {words}"))
                }
            };
            Some(BrokenReading::new([node.id.clone()], what?))
        })
    }

    fn check_plan_length(&self, length: FactLength) -> Option<BrokenReading> {
        match length {
            FactLength::Minutes(most) => {
                let planned = self.scope.tree.total_minutes(self.scope.root_id);
                let words = units::format_planned(planned.into());
                (planned > most).then(|| {
                    let root = self.scope.root_id.clone();
                    BrokenReading::new([root], format!("the plan takes {words}"))
                })
            }
            FactLength::Days(days) => {
                let start = self.scope.context().constraints.start;
                let span = jiff::Span::new().try_days(i64::from(days).max(1) - 1).ok()?;
                let on = start.checked_add(span).ok()?;
                let after = self.day_of_the_plan().filter(|day| *day <= on);
                let after = after.map(|day| self.leaves_after(day)).unwrap_or_default();
                self.check_end(on, |block| !after.contains(&block.leaf.id))
            }
        }
    }

    /// The thing itself takes as many days as stated: what has a day of its own from the first day on goes on until the
    /// last one, and nothing that follows starts before it is over.
    pub(super) fn check_event_days(&self, days: u32) -> Option<BrokenReading> {
        let first = self.day_of_the_plan()?;
        let span = jiff::Span::new().try_days(i64::from(days.max(1)) - 1).ok()?;
        let last = first.checked_add(span).ok()?;
        let leaves = self.scope.tree.leaves(self.scope.root_id);
        let dated = || leaves.iter().filter_map(|leaf| Some((*leaf, day_of(leaf)?)));
        let mut own: Vec<_> = dated().filter(|(_, day)| *day >= first).collect();
        own.sort_by_key(|(_, day)| *day);
        // The days in a row from the first one on are those of the thing itself.
        let mut ends = first;
        let mut closing = None;
        for (leaf, day) in own {
            if days_between(ends, day) <= 2 {
                (ends, closing) = (day, Some(leaf));
            }
        }
        if let Some(leaf) = closing.filter(|_| ends > first && ends < last) {
            let words = units::format_counted(days_between(first, ends) as usize, "day");
            let what = format!("the plan has {words} of it, the last is \"{}\"", leaf.title);
            return Some(BrokenReading::new([leaf.id.clone()], what));
        }
        let after = self.leaves_after(first);
        let early = self.blocks.iter().find(|block| {
            after.contains(&block.leaf.id)
                && day_of(block.leaf).is_none()
                && (first..=last).contains(&block.start.date())
                && days > 1
        })?;
        Some(self.misplaced(early.leaf, early.start.date()))
    }

    /// The day of the thing itself: a launch "in 6 weeks" is kept by its day, whatever follows.
    fn day_of_the_plan(&self) -> Option<Date> {
        self.scope.context().find_assumption("day")?.value.parse().ok()
    }

    /// Whether the plan is of a kind that has no day of its own, such as a course. The plan of a model has no kind.
    fn has_kind_without_day(&self) -> bool {
        let context = self.scope.context();
        let kind = context.pattern.as_ref().is_some_and(|pattern| pattern.kind.is_some());
        kind && context.find_assumption("day").is_none()
    }

    /// The leaves that follow the day of the plan, such as a review: those dated after it, and those that wait for what
    /// happens on it. What only slipped past the day is none of them.
    fn leaves_after(&self, day: Date) -> BTreeSet<TaskId> {
        let tree = &self.scope.tree;
        let leaves = tree.leaves(self.scope.root_id);
        let dated = leaves.iter().filter(|leaf| day_of(leaf).is_some_and(|own| own > day));
        let mut after: BTreeSet<TaskId> = dated.map(|leaf| leaf.id.clone()).collect();
        let mut open: Vec<TaskId> = leaves
            .iter()
            .filter(|leaf| day_of(leaf).is_some_and(|own| own >= day))
            .map(|leaf| leaf.id.clone())
            .collect();
        while let Some(from) = open.pop() {
            let leads = |id: &TaskId| *id == from || tree.is_ancestor(id, &from);
            let links = self.scope.links().iter().filter(|link| link.kind == LinkKind::FS);
            for to in links.filter(|link| leads(&link.from)).flat_map(|link| tree.leaves(&link.to))
            {
                if after.insert(to.id.clone()) {
                    open.push(to.id.clone());
                }
            }
        }
        after
    }
}

/// The date that a task was given, rather than planned for.
fn day_of(leaf: &PlanNode) -> Option<Date> {
    let whole_day = |early: PlanDate, late: PlanDate| (early.day == late.day).then_some(early);
    let between = leaf.not_before.zip(leaf.due).and_then(|(early, late)| whole_day(early, late));
    leaf.fixed_start.or(leaf.fixed_end).or(between).map(|date| date.day)
}

fn is_within(day: Date, (from, to): (Date, Date)) -> bool {
    (from..=to).contains(&day)
}

/// Returns how many days a span has, the first and the last included.
fn days_between(first: Date, last: Date) -> u32 {
    let days = first.until(last).map_or(0, |span| span.get_days());
    u32::try_from(days).unwrap_or(0) + 1
}
