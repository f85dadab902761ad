//! How often the parts of a blueprint repeat.

use jiff::ToSpan as _;
use jiff::civil::Time;

use planwright_model::{ByDay, Frequency, Recurrence, Weekday};

use super::super::facts;
use super::super::goal::{Cadence, Period};
use super::super::template::{Every, Sizing, Unit, When};
use super::{Artist, Ground};

impl Artist<'_> {
    /// The recurrence of a part; the day and hour come from the goal, else from the working week.
    pub(super) fn recurrence(&mut self, every: Every, when: When) -> Recurrence {
        let cadence = cadence_of(self.ground, every.unit);
        let mut found = Recurrence::every(frequency(cadence.every));
        found.interval = cadence.interval.saturating_mul(every.count).max(1);
        found.by_day = cadence.on.iter().map(|day| ByDay::Weekday(Weekday::from(*day))).collect();
        if cadence.times > 1 && cadence.on.is_empty() && every.count == 1 {
            self.plan.notes.push(format!(
                "{} is planned as once a {}; add the other times of the day yourself",
                cadence.words(),
                cadence.every.name()
            ));
        }
        let calendar = &self.ground.context.calendar;
        if found.by_day.is_empty() && found.freq == Frequency::Weekly && when != When::Any {
            found.by_day =
                facts::last_working_day(calendar).map(ByDay::Weekday).into_iter().collect();
        }
        let Ground { goal, context, template, .. } = self.ground;
        let own = || goal.at_local.or_else(|| facts::usual_time(context, goal, template));
        let stated = matches!(every.unit, Unit::Cadence).then(own).flatten();
        let hour = stated.or_else(|| {
            (when != When::Any).then(|| last_hour_start(facts::last_hour(calendar)?)).flatten()
        });
        found.at_local = match when {
            When::Any => stated,
            When::LastWorkingDay => None,
            When::LastWorkingHour => hour,
            When::LastWorkingQuarter => hour.and_then(|hour| hour.checked_add(45.minutes()).ok()),
        };
        // Routines roll on; rounds and checkpoints end with the plan.
        if self.ground.template.sizing != Sizing::ByTasks {
            found.count = Some(occurrences(&found, self.ground.size.weeks()));
        }
        found
    }
}

fn cadence_of(ground: Ground<'_>, unit: Unit) -> Cadence {
    match unit {
        Unit::Cadence | Unit::Period => facts::rhythm(ground.goal, ground.template),
        Unit::Day => Cadence::each(Period::Day),
        Unit::Week => Cadence::each(Period::Week),
        Unit::Month => Cadence::each(Period::Month),
        Unit::Quarter => Cadence::each(Period::Quarter),
    }
}

fn frequency(period: Period) -> Frequency {
    match period {
        Period::Day => Frequency::Daily,
        Period::Week => Frequency::Weekly,
        Period::Month => Frequency::Monthly,
        Period::Quarter => Frequency::Quarterly,
        Period::Year => Frequency::Yearly,
    }
}

fn last_hour_start(end: Time) -> Option<Time> {
    end.checked_sub(1.hour()).ok()
}

/// How often a recurrence comes in so many weeks, at least once.
pub(in super::super) fn occurrences(recurrence: &Recurrence, weeks: u16) -> u32 {
    let period = match recurrence.freq {
        Frequency::Daily => Period::Day,
        Frequency::Weekly => Period::Week,
        Frequency::Monthly => Period::Month,
        Frequency::Quarterly => Period::Quarter,
        Frequency::Yearly => Period::Year,
    };
    let rounds = f64::from(weeks) / (period.weeks() * f64::from(recurrence.interval.max(1)));
    let days = recurrence.by_day.len().max(1) as f64;
    ((rounds * days).round() as u32).max(1)
}
