//! How often the parts of a blueprint recur.

use jiff::ToSpan as _;
use jiff::civil::Time;

use planwright_model::{Recurrence, RecurrenceByDay, RecurrenceFrequency, Weekday};

use super::super::facts;
use super::super::goal::{CadencePeriod, GoalCadence};
use super::super::template::{PeriodSlot, TemplateRepeat, TemplateRepeatUnit, TemplateSizing};
use super::{BlueprintBuilder, BlueprintInputs};

impl BlueprintBuilder<'_> {
    /// Returns the recurrence of a part; the day and hour come from the goal, or else from the working week.
    pub(super) fn build_recurrence(
        &mut self,
        every: TemplateRepeat,
        when: PeriodSlot,
    ) -> Recurrence {
        let cadence = unit_cadence(self.inputs, every.unit);
        let mut found = Recurrence::every(period_frequency(cadence.every));
        found.interval = cadence.interval.saturating_mul(every.count).max(1);
        found.by_day =
            cadence.on.iter().map(|day| RecurrenceByDay::Weekday(Weekday::from(*day))).collect();
        if cadence.times > 1 && cadence.on.is_empty() && every.count == 1 {
            self.plan.notes.push(format!(
                "{} is planned as once a {}; add the other times of the day yourself",
                cadence.describe(),
                cadence.every.name()
            ));
        }
        let calendar = &self.inputs.context.calendar;
        if found.by_day.is_empty()
            && found.freq == RecurrenceFrequency::Weekly
            && when != PeriodSlot::Any
        {
            found.by_day = facts::last_working_day(calendar)
                .map(RecurrenceByDay::Weekday)
                .into_iter()
                .collect();
        }
        let BlueprintInputs { goal, context, template, .. } = self.inputs;
        let own = || goal.at_local.or_else(|| facts::default_time_of_day(context, goal, template));
        let stated = matches!(every.unit, TemplateRepeatUnit::Cadence).then(own).flatten();
        let hour = stated.or_else(|| {
            (when != PeriodSlot::Any)
                .then(|| last_hour_start(facts::working_week_end(calendar)?))
                .flatten()
        });
        found.at_local = match when {
            PeriodSlot::Any => stated,
            PeriodSlot::LastWorkingDay => None,
            PeriodSlot::LastWorkingHour => hour,
            PeriodSlot::LastWorkingQuarter => {
                hour.and_then(|hour| hour.checked_add(45.minutes()).ok())
            }
        };
        // Routines have no end; rounds and checkpoints end with the plan.
        if self.inputs.template.sizing != TemplateSizing::ByTasks {
            found.count = Some(count_occurrences(&found, self.inputs.size.weeks()));
        }
        found
    }
}

fn unit_cadence(inputs: BlueprintInputs<'_>, unit: TemplateRepeatUnit) -> GoalCadence {
    match unit {
        TemplateRepeatUnit::Cadence | TemplateRepeatUnit::Period => {
            facts::goal_cadence(inputs.goal, inputs.template)
        }
        TemplateRepeatUnit::Day => GoalCadence::once_per(CadencePeriod::Day),
        TemplateRepeatUnit::Week => GoalCadence::once_per(CadencePeriod::Week),
        TemplateRepeatUnit::Month => GoalCadence::once_per(CadencePeriod::Month),
        TemplateRepeatUnit::Quarter => GoalCadence::once_per(CadencePeriod::Quarter),
    }
}

fn period_frequency(period: CadencePeriod) -> RecurrenceFrequency {
    match period {
        CadencePeriod::Day => RecurrenceFrequency::Daily,
        CadencePeriod::Week => RecurrenceFrequency::Weekly,
        CadencePeriod::Month => RecurrenceFrequency::Monthly,
        CadencePeriod::Quarter => RecurrenceFrequency::Quarterly,
        CadencePeriod::Year => RecurrenceFrequency::Yearly,
    }
}

fn last_hour_start(end: Time) -> Option<Time> {
    end.checked_sub(1.hour()).ok()
}

/// Returns how often a recurrence occurs in this many weeks, at least once.
pub(in super::super) fn count_occurrences(recurrence: &Recurrence, weeks: u16) -> u32 {
    let period = match recurrence.freq {
        RecurrenceFrequency::Daily => CadencePeriod::Day,
        RecurrenceFrequency::Weekly => CadencePeriod::Week,
        RecurrenceFrequency::Monthly => CadencePeriod::Month,
        RecurrenceFrequency::Quarterly => CadencePeriod::Quarter,
        RecurrenceFrequency::Yearly => CadencePeriod::Year,
    };
    let rounds = f64::from(weeks) / (period.in_weeks() * f64::from(recurrence.interval.max(1)));
    let days = recurrence.by_day.len().max(1) as f64;
    ((rounds * days).round() as u32).max(1)
}
