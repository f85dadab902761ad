//! The minutes of one task: its own effort, scaled by what is counted, or its share of a weekly rhythm.

use planwright_model::PlanContext;

use super::super::blueprint::{Blueprint, BlueprintGroup, BlueprintTask, EffortRange};
use super::InstanceBuilder;
use super::recurrence::occurrences_per_week;

/// The range around a share of a rhythm: the least is a quarter less, the most a quarter more.
const RHYTHM: EffortRange = EffortRange(75, 100, 125);
/// The share of a kind's usual time below which work is kept to the least.
const RUSHED: f64 = 0.15;
/// The least share of a kind's rhythm that is still worth its name.
const LEAST_RHYTHM: f64 = 0.15;
/// The step in which efforts are rounded.
const STEP: u32 = 5;

/// Returns the value of a count: as the goal states it, as it was answered, or the default of the file.
pub(in super::super) fn count_value(context: &PlanContext, file: &Blueprint, name: &str) -> u32 {
    let known = context.find_assumption(name).and_then(|found| {
        let digits: String = found.value.chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    known.or_else(|| file.counts.get(name).map(|count| count.default)).unwrap_or(1)
}

impl InstanceBuilder<'_> {
    /// Returns the minutes for doing a task once. `batch` is the number of things in one copy of it.
    pub(super) fn task_effort(
        &self,
        task: &BlueprintTask,
        group: Option<&BlueprintGroup>,
        batch: Option<u32>,
    ) -> Option<EffortRange> {
        if task.is_instant() {
            return None;
        }
        let stated = self.inputs.goal.occurrence_minutes.filter(|_| task.stated);
        let own = task.effort.as_ref().map(|effort| *effort.get_ref());
        if let Some(minutes) = stated {
            return Some(own.unwrap_or(RHYTHM).around(minutes.max(1)));
        }
        let Some(own) = own else { return self.share_effort(task, group) };
        let mut more = 0.0;
        for (name, each) in &task.per {
            let split = task.split.as_ref().is_some_and(|split| split.get_ref().by == *name);
            let amount = match batch.filter(|_| split) {
                Some(batch) => batch,
                None => count_value(self.inputs.context, self.inputs.blueprint, name),
            };
            more += each * f64::from(amount);
        }
        let all = own.plus(round_step(more));
        // For a day that is very near people do the least that will do.
        let rushed = self.inputs.span.day.is_some() && self.anchors.lead_ratio() < RUSHED;
        let on_day = task.at.as_ref().is_some_and(|at| at.get_ref().days >= 0);
        Some(if rushed && !on_day { all.around(all.0.max(STEP)) } else { all })
    }

    /// Returns the task's percent of the weeks of its phase.
    fn share_effort(
        &self,
        task: &BlueprintTask,
        group: Option<&BlueprintGroup>,
    ) -> Option<EffortRange> {
        let usual = *self.inputs.blueprint.weekly.as_ref()?.get_ref();
        // In a stated span a rhythm is as much as the person has time for, beside what has an effort of its own.
        let stated = self.inputs.span.stated_rhythm;
        let weekly = match stated.zip(group) {
            Some((stated, group)) => self.rhythm_beside(stated, usual, group),
            None => f64::from(usual),
        };
        let share = f64::from(task.share?) / 100.0;
        let weeks = group.map_or(1.0, |group| self.group_weeks(group));
        let minutes = match task.every {
            Some(_) => {
                let times = occurrences_per_week(self.inputs, task).max(0.01);
                weekly * share / times
            }
            None => weekly * weeks * share,
        };
        Some(RHYTHM.around(round_step(minutes).max(STEP)))
    }

    /// Returns the minutes a week that stated hours leave for the rhythm of a phase.
    fn rhythm_beside(&self, stated: u32, usual: u32, group: &BlueprintGroup) -> f64 {
        let weeks = self.group_weeks(group).max(1.0);
        let tasks = group.all_tasks();
        let own = tasks.iter().filter(|task| task.share.is_none() && task.at.is_none());
        let fixed: f64 = own
            .filter_map(|task| {
                let minutes = f64::from(task.effort.as_ref()?.get_ref().likely());
                let often = || occurrences_per_week(self.inputs, task) * weeks;
                Some(minutes * task.every.map_or(1.0, |_| often()))
            })
            .sum();
        // Days off take their part of the weeks.
        let span = self.inputs.span;
        let full = f64::from(stated) * f64::from(span.days) / 7.0;
        let open = (f64::from(span.capacity) / full.max(1.0)).min(1.0);
        let left = (f64::from(stated) * open * 0.95 - fixed / weeks) * 0.95;
        left.max(f64::from(usual) * LEAST_RHYTHM).min(f64::from(usual))
    }

    /// Returns the weeks of a phase: its share of the span.
    pub(super) fn group_weeks(&self, group: &BlueprintGroup) -> f64 {
        let weeks = f64::from(self.inputs.span.rhythm_weeks());
        if let Some(percent) = group.weeks_share {
            return weeks * f64::from(percent) / 100.0;
        }
        weeks / self.inputs.blueprint.phases.len().max(1) as f64
    }
}

fn round_step(minutes: f64) -> u32 {
    ((minutes / f64::from(STEP)).round().max(0.0) as u32).saturating_mul(STEP)
}
