//! The rounds of what repeats: set-up comes before the first one, and the stages of a long round lie apart.

use planwright_model::{LinkKind, NodeTree, NodeType, PlanNode, Role, TaskId};

use super::InstanceBuilder;
use super::dates::add_days;
use super::link::{InstanceLag, InstanceLink};

const DAY: i32 = 24 * 60;
/// The share of a round, in percent, over which its stages are spread; the rest is room for hours and weekends.
const SPREAD_PERCENT: u32 = 60;
/// A set-up up to this long fits into the first day.
const SHORT_SETUP_MINUTES: u32 = 120;
/// A first round that starts at this hour or later can follow its set-up on the same day.
const SAME_DAY_HOUR: i8 = 12;

impl InstanceBuilder<'_> {
    pub(super) fn arrange_rounds(&mut self) {
        self.start_long_cycles_later();
        self.put_setup_before_rounds();
        self.spread_stages();
    }

    fn cycles(&self) -> Vec<PlanNode> {
        let is_cycle =
            |node: &&PlanNode| node.node_type == NodeType::Cycle && node.recurrence.is_some();
        self.plan.nodes.iter().filter(is_cycle).cloned().collect()
    }

    /// Set-up ends before the first round. A long one is waited for; one of minutes is only planned before it, so that
    /// nobody is kept from a routine by a box that was not ticked.
    fn put_setup_before_rounds(&mut self) {
        let is_setup = |node: &&PlanNode| {
            node.level == 2 && node.role == Role::Setup && node.recurrence.is_none()
        };
        let setup: Vec<&PlanNode> = self.plan.nodes.iter().filter(is_setup).collect();
        let minutes: u32 = setup.iter().map(|node| node.work_minutes()).sum();
        let setup: Vec<TaskId> = setup.into_iter().map(|node| node.id.clone()).collect();
        for cycle in self.cycles().into_iter().filter(|_| minutes > 0) {
            if minutes <= SHORT_SETUP_MINUTES {
                self.start_after_first_day(&cycle);
                continue;
            }
            for from in &setup {
                self.link_nodes(InstanceLink::finish_to_start(from, &cycle.id));
            }
        }
    }

    /// Lets rounds that would come before the set-up of the first day begin on the next one. A weekly round with a day of
    /// its own does not wait a week for it.
    fn start_after_first_day(&mut self, cycle: &PlanNode) {
        let start = self.inputs.span.start;
        let Some(found) = &cycle.recurrence else { return };
        let late = found.at_local.is_some_and(|at| at.hour() >= SAME_DAY_HOUR);
        let has_day = !found.by_day.is_empty() && found.freq.in_days() >= 7;
        if late || has_day || found.from.is_some_and(|from| from > start) {
            return;
        }
        let own = self.plan.nodes.iter_mut().find(|node| node.id == cycle.id);
        if let Some(recurrence) = own.and_then(|node| node.recurrence.as_mut()) {
            recurrence.from = Some(add_days(start, 1));
        }
    }

    /// A look back on a month belongs to its end, and not to the first day.
    fn start_long_cycles_later(&mut self) {
        let shortest = self.cycles().iter().filter_map(period_days).min();
        let start = self.inputs.span.start;
        for node in &mut self.plan.nodes {
            let Some(days) = period_days(node).filter(|days| *days >= 28) else { continue };
            let longer = shortest.is_some_and(|shortest| days > shortest);
            if let Some(recurrence) = node.recurrence.as_mut().filter(|found| found.from.is_none())
                && node.node_type == NodeType::Cycle
                && longer
            {
                recurrence.from = Some(add_days(start, i64::from(days) - 7));
            }
        }
    }

    /// The stages of a round follow each other with days in between, so that the last one is near its end.
    fn spread_stages(&mut self) {
        for cycle in self.cycles() {
            let tree = NodeTree::new(&self.plan.nodes);
            let stages: Vec<TaskId> = tree
                .children(&cycle.id)
                .filter(|node| node.node_type == NodeType::Phase)
                .map(|node| node.id.clone())
                .collect();
            let count = u32::try_from(stages.len()).unwrap_or(u32::MAX);
            let Some(days) = period_days(&cycle).filter(|_| count > 1) else { continue };
            let gap = i32::try_from(days * SPREAD_PERCENT / 100 / (count - 1)).unwrap_or(0);
            for pair in stages.windows(2).filter(|_| gap > 0) {
                self.link_nodes(InstanceLink {
                    from: pair[0].clone(),
                    to: pair[1].clone(),
                    kind: LinkKind::SS,
                    lag: InstanceLag::exactly(gap * DAY),
                    why: "the stages of a round lie on different days".to_owned(),
                });
            }
        }
    }
}

fn period_days(cycle: &PlanNode) -> Option<u32> {
    let recurrence = cycle.recurrence.as_ref()?;
    Some(recurrence.freq.in_days() * u32::from(recurrence.interval.max(1)))
}
