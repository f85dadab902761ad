//! A training phase planned week by week, each week with its load and its sessions on different days.

use planwright_model::{LinkKind, NodeType, PlanNode, TaskId};
use planwright_plan::sizing::{self, TrainingWeeks};
use planwright_text::units::format_counted;

use super::super::blueprint::{BlueprintGroup, BlueprintTask, EffortRange};
use super::link::{InstanceLag, InstanceLink};
use super::nodes::TaskCopy;
use super::{InstanceBuilder, SiblingLanes, dates};

/// Half a day of elapsed time: the next session falls on another day.
const NEXT_DAY: i32 = 12 * 60;
/// A week of elapsed time.
const NEXT_WEEK: i32 = 7 * 24 * 60;
/// The load of the busiest week of a file that states none.
const DEFAULT_PEAK: u32 = 300;

impl<'a> InstanceBuilder<'a> {
    pub(super) fn add_training_phase(
        &mut self,
        root: &PlanNode,
        index: usize,
        phase: &'a BlueprintGroup,
        lanes: &mut SiblingLanes,
    ) {
        let weeks = TrainingWeeks::from_total(self.inputs.span.weeks());
        let count = weeks.to_array().get(index).copied().unwrap_or(0);
        if index == 0 {
            self.note_adjusted_length(weeks);
        }
        let weekly = self.inputs.blueprint.weekly.as_ref().map(|weekly| *weekly.get_ref());
        let loads = sizing::training_loads(weeks, weekly.unwrap_or(DEFAULT_PEAK));
        let first: u16 = weeks.to_array()[..index.min(4)].iter().sum();
        let id = format!("p{}", index + 1);
        let node = self.add_container(root, id, NodeType::Phase, phase, lanes);
        let mut inner = SiblingLanes::default();
        let (sessions, once): (Vec<_>, Vec<_>) =
            phase.tasks.iter().enumerate().partition(|(_, task)| Self::is_weekly_session(task));
        let opens = |(place, _): &&(usize, &BlueprintTask)| {
            sessions.first().is_some_and(|(first, _)| place < first)
        };
        for (place, task) in once.iter().filter(opens) {
            self.add_task(&node, *place, task, Some(phase), &mut inner);
        }
        for week in first..first + count {
            let load = loads.get(usize::from(week)).copied().unwrap_or(5);
            self.add_training_week(&node, week + 1, load, (phase, &sessions), &mut inner);
        }
        for (place, task) in once.iter().filter(|part| !opens(part)) {
            // What has a date of its own does not wait for the last session.
            if task.at.is_some() || task.by.is_some() {
                inner.forget_last();
            }
            self.add_task(&node, *place, task, Some(phase), &mut inner);
        }
    }

    fn note_adjusted_length(&mut self, weeks: TrainingWeeks) {
        let planned: u16 = weeks.to_array().iter().sum();
        let asked = self.inputs.span.weeks();
        if planned != asked {
            let asked = format_counted(asked.into(), "week");
            self.plan.notes.push(format!(
                "{asked} of training cannot be built up; {planned} weeks are planned"
            ));
        }
    }

    fn add_training_week(
        &mut self,
        phase: &PlanNode,
        number: u16,
        load: u32,
        (group, sessions): (&'a BlueprintGroup, &[(usize, &'a BlueprintTask)]),
        lanes: &mut SiblingLanes,
    ) {
        let id = format!("{}.w{number}", phase.id);
        let mut week = PlanNode::new_child(phase, id, NodeType::SubGoal, format!("Week {number}"));
        week.intensity = phase.intensity;
        self.place_node(&mut week, None, None, true, lanes);
        self.plan.nodes.push(week.clone());
        if number > 1 {
            self.link_to_previous_week(&week.id);
        }
        let first_day = dates::add_days(self.inputs.span.start, (i64::from(number) - 1) * 7);
        let goes_on = |(_, task): &&(usize, &'a BlueprintTask)| {
            let until = task.until.as_ref().map(|until| self.anchors.resolve(until.get_ref()));
            until.is_none_or(|until| first_day <= until)
        };
        let sessions: Vec<&(usize, &'a BlueprintTask)> = sessions.iter().filter(goes_on).collect();
        let weights: Vec<u32> = sessions.iter().map(|(_, task)| task.share.unwrap_or(1)).collect();
        let mut inner = SiblingLanes::default();
        for ((place, task), minutes) in sessions.iter().zip(sizing::training_week(load, &weights)) {
            let id = format!("{}.t{}", week.id, place + 1);
            let before = self.plan.links.len();
            let copy =
                TaskCopy { task, group: Some(group), batch: None, follows_copy: true, sharers: 1 };
            self.add_copy(&week, id, copy, &mut inner);
            if let Some(node) = self.plan.nodes.last_mut() {
                node.estimate_minutes = Some(minutes);
                let range = EffortRange(90, 100, 110).around(minutes);
                self.plan.efforts.insert(node.id.clone(), range);
            }
            for link in self.plan.links.iter_mut().skip(before) {
                link.lag = InstanceLag::Elapsed(NEXT_DAY);
                "a body needs a night between two sessions".clone_into(&mut link.why);
            }
        }
    }

    /// Without this link a light week would be trained in the previous one.
    fn link_to_previous_week(&mut self, week: &TaskId) {
        let weeks = self.plan.nodes.iter().rev().filter(|node| node.node_type == NodeType::SubGoal);
        let Some(before) = weeks.skip(1).map(|node| node.id.clone()).next() else { return };
        self.link_nodes(InstanceLink {
            from: before,
            to: week.clone(),
            kind: LinkKind::SS,
            lag: InstanceLag::Elapsed(NEXT_WEEK),
            why: "each week's load belongs to its own week".to_owned(),
        });
    }
}
