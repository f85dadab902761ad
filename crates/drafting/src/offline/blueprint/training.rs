//! A training phase planned week by week, each week with its load and its sessions on different days.

use planwright_model::{LinkKind, NodeType, PlanNode, TaskId};
use planwright_text::units::format_counted;

use super::super::template::{TaskSpec, TemplateGroup};
use super::{BlueprintBuilder, BlueprintLag, BlueprintLink, BlueprintWeight, SiblingLanes};
use planwright_plan::sizing::{self, TrainingWeeks};

/// Half a day of elapsed time: the next session falls on another day.
const NEXT_DAY: i32 = 12 * 60;
/// A week of elapsed time.
const NEXT_WEEK: i32 = 7 * 24 * 60;

impl BlueprintBuilder<'_> {
    pub(super) fn add_training_phase(
        &mut self,
        root: &PlanNode,
        index: usize,
        phase: &TemplateGroup,
        lanes: &mut SiblingLanes,
    ) {
        let weeks = TrainingWeeks::from_total(self.inputs.size.weeks());
        let count = weeks.to_array().get(index).copied().unwrap_or(0);
        if index == 0 {
            self.note_adjusted_length(weeks);
        }
        if count == 0 {
            return;
        }
        let peak = u64::from(self.inputs.size.weekly_minutes) * u64::from(self.percent) / 100;
        let loads = sizing::training_loads(weeks, u32::try_from(peak).unwrap_or(u32::MAX));
        let first: u16 = weeks.to_array()[..index].iter().sum();
        let number =
            self.plan.nodes.iter().filter(|node| node.node_type == NodeType::Phase).count() + 1;
        let node = self.add_container(root, format!("p{number}"), NodeType::Phase, phase, lanes);
        let mut inner = SiblingLanes::default();
        for week in first..first + count {
            let load = loads.get(usize::from(week)).copied().unwrap_or(5);
            self.add_training_week(&node, week + 1, load, phase, &mut inner);
        }
        for (place, spec) in phase.tasks.iter().filter(|spec| spec.milestone).enumerate() {
            self.add_task(&node, format!("{}.m{}", node.id, place + 1), spec, &mut inner);
        }
    }

    fn note_adjusted_length(&mut self, weeks: TrainingWeeks) {
        let planned: u16 = weeks.to_array().iter().sum();
        let asked = self.inputs.size.weeks();
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
        group: &TemplateGroup,
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
        let specs: Vec<&TaskSpec> = group.tasks.iter().filter(|spec| !spec.milestone).collect();
        let weights: Vec<u32> = specs.iter().map(|spec| spec.share.unwrap_or(1)).collect();
        let mut inner = SiblingLanes::default();
        for (place, (spec, minutes)) in
            specs.iter().zip(sizing::training_week(load, &weights)).enumerate()
        {
            let before = self.plan.links.len();
            self.add_task(&week, format!("{}.t{}", week.id, place + 1), spec, &mut inner);
            if let Some(node) = self.plan.nodes.last() {
                self.plan.weights.insert(node.id.clone(), BlueprintWeight::Minutes(minutes));
            }
            for link in self.plan.links.iter_mut().skip(before) {
                link.lag = BlueprintLag::Elapsed(NEXT_DAY);
                "a body needs a night between two sessions".clone_into(&mut link.why);
            }
        }
    }

    /// Without this link a light week would be trained in the previous one.
    fn link_to_previous_week(&mut self, week: &TaskId) {
        let weeks = self.plan.nodes.iter().rev().filter(|node| node.node_type == NodeType::SubGoal);
        let Some(before) = weeks.skip(1).map(|node| node.id.clone()).next() else { return };
        self.plan.links.push(BlueprintLink {
            from: before,
            to: week.clone(),
            kind: LinkKind::SS,
            lag: BlueprintLag::Elapsed(NEXT_WEEK),
            why: "each week's load belongs to its own week".to_owned(),
        });
    }
}
