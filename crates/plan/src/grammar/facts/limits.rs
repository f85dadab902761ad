//! Facts about hours, people, money, numbers and places.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::{BrokenReading, FactCheck, LocalBlock, break_of_all, subjects};
use planwright_model::{FactSubject, FactWorkingTime, IsoWeek, TaskId};
use planwright_text::units;

impl FactCheck<'_> {
    /// No week has more work than somebody has hours. A day that is fixed, such as the event itself, is not work of
    /// these hours.
    pub(super) fn check_capacity(&self, person: Option<&str>, most: u32) -> Option<BrokenReading> {
        let theirs = |block: &&LocalBlock<'_>| match (person, block.leaf.other_owner()) {
            (None, None) => !block.is_beside_hours(),
            (Some(name), Some(owner)) => name.eq_ignore_ascii_case(owner),
            _ => false,
        };
        let mut weeks: BTreeMap<IsoWeek, (u32, &TaskId)> = BTreeMap::new();
        for block in self.blocks.iter().filter(theirs) {
            let week = IsoWeek::from_date(block.start.date());
            let (sum, last) = weeks.entry(week).or_insert((0, &block.leaf.id));
            *sum = sum.saturating_add(block.minutes);
            *last = &block.leaf.id;
        }
        let (week, (minutes, node)) = weeks.into_iter().find(|(_, (sum, _))| *sum > most)?;
        let first = self
            .blocks
            .iter()
            .map(|block| block.start.date())
            .find(|day| IsoWeek::from_date(*day) == week)?;
        let what = format!(
            "the week of {} has {}, \"{}\" included",
            self.format_day(first),
            units::format_planned(minutes.into()),
            self.title(node)
        );
        Some(BrokenReading::new([node.clone()], what))
    }

    /// No day has more of the person's own work than they have hours on it.
    pub(super) fn check_daily_capacity(&self, most: u32) -> Option<BrokenReading> {
        let own = |block: &&LocalBlock<'_>| !block.is_others() && !block.is_beside_hours();
        let mut days: BTreeMap<Date, (u32, &TaskId)> = BTreeMap::new();
        for block in self.blocks.iter().filter(own) {
            let (sum, last) = days.entry(block.start.date()).or_insert((0, &block.leaf.id));
            *sum = sum.saturating_add(block.minutes);
            *last = &block.leaf.id;
        }
        let (day, (minutes, node)) = days.into_iter().find(|(_, (sum, _))| *sum > most)?;
        let what = format!(
            "{} has {}, \"{}\" included",
            self.format_day(day),
            units::format_planned(minutes.into()),
            self.title(node)
        );
        Some(BrokenReading::new([node.clone()], what))
    }

    /// Somebody's work happens only at their stated times, unless its time was stated as well.
    pub(super) fn check_working_times(
        &self,
        person: Option<&str>,
        times: &[FactWorkingTime],
    ) -> Option<BrokenReading> {
        let theirs = |block: &LocalBlock<'_>| match (person, block.leaf.other_owner()) {
            (None, None) => true,
            (Some(name), Some(owner)) => name.eq_ignore_ascii_case(owner),
            _ => false,
        };
        let covered = |block: &LocalBlock<'_>| {
            let day = block.start.date();
            let one_day = block.last_day() == day;
            one_day
                && times.iter().any(|time| time.covers(day, block.start.time(), block.end.time()))
        };
        let outside = self
            .blocks
            .iter()
            .find(|block| theirs(block) && !block.is_beside_hours() && !covered(block))?;
        let moment = planwright_text::dates::format_date_time(
            outside.start,
            self.scope.context().constraints.start,
        );
        let what = format!("\"{}\" is planned for {moment}", self.title(&outside.leaf.id));
        Some(BrokenReading::new([outside.leaf.id.clone()], what))
    }

    /// Whoever was said to do something does it.
    pub(super) fn check_person(&self, name: &str, role: &str) -> Option<BrokenReading> {
        let nodes = subjects::nodes_named(self.scope, role);
        break_of_all(&nodes, |node| {
            let below = self.scope.tree.leaves(&node.id);
            let does = |owner: &str| owner.trim().eq_ignore_ascii_case(name);
            if does(&node.owner) || below.iter().any(|leaf| does(&leaf.owner)) {
                return None;
            }
            let who = node.other_owner().map_or("you".to_owned(), str::to_owned);
            let what = format!("\"{}\" is for {who}", self.title(&node.id));
            Some(BrokenReading::new([node.id.clone()], what))
        })
    }

    /// What tasks are stated to cost stays within the budget.
    pub(super) fn check_budget(
        &self,
        subject: Option<&FactSubject>,
        most: u64,
        currency: Option<&str>,
    ) -> Option<BrokenReading> {
        match subject.filter(|subject| **subject != FactSubject::Plan) {
            None => self.check_cost_below(self.scope.root_id, most, currency),
            Some(part) => break_of_all(&self.named_nodes(part), |node| {
                self.check_cost_below(&node.id, most, currency)
            }),
        }
    }

    fn check_cost_below(
        &self,
        top: &TaskId,
        most: u64,
        currency: Option<&str>,
    ) -> Option<BrokenReading> {
        let leaves = self.scope.tree.leaves(top);
        let mut sums: BTreeMap<&str, (u64, &TaskId)> = BTreeMap::new();
        for (leaf, cost) in leaves.iter().filter_map(|leaf| Some((leaf, leaf.cost.as_ref()?))) {
            let (sum, dearest) = sums.entry(&cost.currency).or_insert((0, &leaf.id));
            *sum = sum.saturating_add(cost.hundredths);
            *dearest = &leaf.id;
        }
        let over = |(code, (sum, _)): &(&str, (u64, &TaskId))| {
            currency.is_none_or(|named| named == *code) && *sum > most.saturating_mul(100)
        };
        let (code, (sum, node)) = sums.into_iter().find(over)?;
        let amount = units::format_count(sum.div_ceil(100));
        let what = format!("the tasks cost {amount} {code}, \"{}\" included", self.title(node));
        Some(BrokenReading::new([node.clone()], what))
    }

    /// No task names more of something than there is. It may name fewer: a wave of 50 of 200 servers.
    pub(super) fn check_count(&self, noun: &str, amount: u32) -> Option<BrokenReading> {
        self.scope.nodes.iter().filter(|node| node.id != *self.scope.root_id).find_map(|node| {
            let named = [&node.title, &node.done_when]
                .into_iter()
                .filter_map(|text| subjects::largest_count(text, noun))
                .max()?;
            (named > amount).then(|| {
                let what = format!(
                    "\"{}\" is for {}",
                    self.title(&node.id),
                    units::format_count(named.into())
                );
                BrokenReading::new([node.id.clone()], what)
            })
        })
    }

    /// The plan is made for the place that was named.
    pub(super) fn check_place(&self, name: &str) -> Option<BrokenReading> {
        let planned = self.scope.context().find_assumption("place")?;
        (!planned.value.eq_ignore_ascii_case(name)).then(|| {
            let what = format!("the plan is made for {}", planned.value);
            BrokenReading::new([self.scope.root_id.clone()], what)
        })
    }
}
