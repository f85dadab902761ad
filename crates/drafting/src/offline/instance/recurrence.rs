//! How often the parts of an instance recur.

use jiff::civil::{Date, Time};

use planwright_model::{
    PatternType, PlanCalendar, PreferredTime, Recurrence, RecurrenceByDay, RecurrenceFrequency,
    Role, Weekday, WeeklyHours,
};
use planwright_schedule::calendar::RecurrenceRule;

use super::super::blueprint::{
    BlueprintGroup, BlueprintRepeat, BlueprintRepeatUnit, BlueprintTask, CalendarSpan,
    parse_time_of_day,
};
use super::super::facts;
use super::super::goal::{CadencePeriod, GoalCadence};
use super::dates::add_days;
use super::{InstanceBuilder, InstanceInputs};

/// The days that a set-up takes besides its work: for a course to begin, or for what was ordered.
const SET_UP_DAYS: f64 = 4.0;
/// A period of so many days has something to look back on.
const LONG_PERIOD: u32 = 14;
/// A first phase of at most so many percent only leads to the others.
const SHORT_OPENING: u32 = 20;
/// The days before the end of a plan in which no period of repeated work begins.
const SPARE_DAYS: i64 = 3;

impl InstanceBuilder<'_> {
    /// Returns the recurrence of a cycle.
    pub(super) fn group_recurrence(
        &mut self,
        every: BlueprintRepeat,
        group: &BlueprintGroup,
    ) -> Recurrence {
        let at_time = group.at_time.as_ref().map(|time| time.get_ref().as_str());
        let InstanceInputs { goal, blueprint, .. } = self.inputs;
        let first = blueprint.cycles.first().is_some_and(|cycle| std::ptr::eq(cycle, group));
        let main = first && blueprint.is_routine();
        // What the goal says about rhythm and time counts for more than the file.
        let every = if goal.cadence.is_some() && main {
            BlueprintRepeat { count: 1, unit: BlueprintRepeatUnit::Cadence }
        } else {
            every
        };
        let mut found = self.build_recurrence(every, (at_time, &group.on.0, None));
        if main {
            found.at_local = goal.at_local.or(found.at_local);
        }
        if !self.inputs.blueprint.is_routine() {
            // A round that cannot be finished before the end is not begun.
            let days = found.freq.in_days() * u32::from(found.interval.max(1));
            found.until = Some(add_days(self.inputs.span.last_day, 1 - i64::from(days)));
        }
        self.limit_to_span(&mut found, None, None);
        // "8 episodes" are eight rounds, and no more.
        if let Some(rounds) = facts::stated_rounds(goal, blueprint).filter(|_| first) {
            found.count = Some(rounds);
        } else if first && !blueprint.is_routine() {
            found.count = found.count.or_else(|| self.usual_rounds(&found));
        }
        found
    }

    /// Returns how many rounds a series has in its usual weeks, whatever hours the person has: more hours begin it earlier,
    /// and do not add a round.
    fn usual_rounds(&self, found: &Recurrence) -> Option<u32> {
        let InstanceInputs { context, blueprint, .. } = self.inputs;
        if !facts::can_lengthen_span(context, blueprint) {
            return None;
        }
        let setup = blueprint.tasks.iter().filter(|task| task.role == Role::Setup);
        let minutes: u32 =
            setup.filter_map(|task| task.effort.as_ref()).map(|own| own.get_ref().likely()).sum();
        let weekly = facts::LEAST_WEEKLY;
        let before = (f64::from(minutes) * 7.0 / f64::from(weekly)).ceil() as u32;
        let period = found.freq.in_days() * u32::from(found.interval.max(1));
        let days = u32::from(*blueprint.weeks.get_ref()) * 7;
        Some((days.saturating_sub(before) / period.max(1)).max(2).saturating_sub(1))
    }

    /// Returns the recurrence of a task: from the start of its phase to its end, or between its own anchors.
    pub(super) fn task_recurrence(
        &mut self,
        every: BlueprintRepeat,
        task: &BlueprintTask,
        group: Option<&BlueprintGroup>,
    ) -> Recurrence {
        let at_time = task.at_time.as_ref().map(|time| time.get_ref().as_str());
        let mut found = self.build_recurrence(every, (at_time, &task.on.0, task.times));
        self.take_stated_days(&mut found, every, task);
        let later = first_look_back(&found, task);
        let moved = |window: (Date, Date)| (add_days(window.0, later).min(window.1), window.1);
        let window = group.and_then(|group| self.phase_window(group)).map(moved);
        let span = self.inputs.span;
        let usual_days = super::dates::days_between(span.start, span.usual_last) + 1;
        let in_phase = group.filter(|_| task.from.is_none() && task.until.is_none());
        let usual_window =
            in_phase.and_then(|group| self.phase_window_within(group, usual_days, span.usual_last));
        let usual_window = usual_window.map(moved);
        if !self.inputs.blueprint.is_routine() {
            let (from, until) = window.unwrap_or_else(|| self.later_window(group));
            (found.from, found.until) = (Some(from), Some(until));
        }
        if let Some(from) = &task.from {
            found.from = Some(self.anchors.resolve_repeated(from.get_ref()));
        }
        if let Some(until) = &task.until {
            found.until = Some(self.anchors.resolve_repeated(until.get_ref()));
        }
        self.limit_to_span(
            &mut found,
            task.effort.as_ref().map(|effort| effort.get_ref().likely()),
            usual_window,
        );
        self.thin_sessions(&mut found);
        found
    }

    /// Puts what a project does every week on the days that the goal names, and the first of it at its time: "practice
    /// every Wednesday at 17:00".
    fn take_stated_days(
        &self,
        found: &mut Recurrence,
        every: BlueprintRepeat,
        task: &BlueprintTask,
    ) {
        let InstanceInputs { goal, blueprint, .. } = self.inputs;
        let weekly = |task: &BlueprintTask| {
            task.every.is_some_and(|every| {
                every.count == 1 && matches!(every.unit, BlueprintRepeatUnit::Week)
            }) && task.on.0.is_empty()
                && task.times.is_none()
        };
        let stated = goal.cadence.as_ref().filter(|cadence| {
            cadence.every == CadencePeriod::Week && cadence.interval == 1 && !cadence.on.is_empty()
        });
        let project = blueprint.pattern == PatternType::MilestoneProject;
        let Some(cadence) = stated.filter(|_| project && every.count == 1 && weekly(task)) else {
            return;
        };
        let days = cadence.on.iter().map(|day| RecurrenceByDay::Weekday(Weekday::from(*day)));
        found.by_day = days.collect();
        let first = blueprint.all_tasks().into_iter().find(|task| weekly(task));
        if first.is_some_and(|first| std::ptr::eq(first, task)) {
            found.at_local = goal.at_local.or(found.at_local);
        }
    }

    /// Lets sessions come less often where the person has fewer hours than the kind; there are as many of them, over a
    /// longer time.
    fn thin_sessions(&self, found: &mut Recurrence) {
        let InstanceInputs { context, blueprint, span, .. } = self.inputs;
        let times = super::super::span::session_thinning(context, blueprint);
        let times = usize::try_from(times).unwrap_or(1);
        match found.freq {
            _ if times < 2 => {}
            RecurrenceFrequency::Weekly if found.by_day.len() > 1 => {
                let kept = found.by_day.len().div_ceil(times);
                let step = found.by_day.len() / kept;
                found.by_day =
                    found.by_day.iter().step_by(step.max(1)).take(kept).copied().collect();
            }
            RecurrenceFrequency::Daily | RecurrenceFrequency::Weekly => {
                let times = u16::try_from(times).unwrap_or(u16::MAX);
                found.interval = found.interval.saturating_mul(times);
            }
            _ => {}
        }
        if let Some(count) = found.count.filter(|_| times > 1) {
            let left = count_open_dates(found, &context.calendar, span.start, span.last_day);
            found.count = Some(count.min(left).max(1));
        }
    }

    fn build_recurrence(
        &mut self,
        every: BlueprintRepeat,
        (at_time, on, times): (Option<&str>, &[Weekday], Option<u16>),
    ) -> Recurrence {
        let cadence = unit_cadence(self.inputs, every.unit);
        let mut found = Recurrence::every(period_frequency(cadence.every));
        found.interval = cadence.interval.saturating_mul(every.count).max(1);
        let named: Vec<Weekday> = cadence.on.iter().map(|day| Weekday::from(*day)).collect();
        let times = times.unwrap_or(cadence.times);
        let weekly = found.freq == RecurrenceFrequency::Weekly;
        let days = match (named.is_empty(), on.is_empty()) {
            (false, _) => named,
            (true, false) if found.freq != RecurrenceFrequency::Daily => on.to_vec(),
            _ if weekly && times > 1 => self.spread_days(times),
            _ => Vec::new(),
        };
        found.by_day = days.into_iter().map(RecurrenceByDay::Weekday).collect();
        if times > 1 && found.freq == RecurrenceFrequency::Daily {
            self.plan.notes.push(format!(
                "{times} times a day is planned as once a day; add the other times yourself"
            ));
        }
        let InstanceInputs { goal, context, blueprint, .. } = self.inputs;
        let own = || goal.at_local.or_else(|| facts::default_time_of_day(context, goal, blueprint));
        let stated = matches!(every.unit, BlueprintRepeatUnit::Cadence).then(own).flatten();
        found.at_local = stated.or_else(|| parse_time_of_day(at_time?));
        found
    }

    /// Spreads a number of sessions over the days of the week that have working hours.
    pub(super) fn spread_days(&self, times: u16) -> Vec<Weekday> {
        let working = &self.inputs.context.calendar.working;
        let open: Vec<Weekday> = Weekday::ALL
            .into_iter()
            .filter(|day| working.get(day).is_some_and(|hours| !hours.is_empty()))
            .collect();
        let days = if open.is_empty() { Weekday::ALL.to_vec() } else { open };
        let times = usize::from(times).min(days.len());
        let place = |index: usize| (2 * index + 1) * days.len() / (2 * times.max(1));
        (0..times).filter_map(|index| days.get(place(index)).copied()).collect()
    }

    /// Ends a recurrence with the plan, unless it is a routine, and gives days without hours a time of day.
    fn limit_to_span(
        &mut self,
        found: &mut Recurrence,
        minutes: Option<u32>,
        usual_window: Option<(Date, Date)>,
    ) {
        let InstanceInputs { blueprint, span, context, .. } = self.inputs;
        if !blueprint.is_routine() {
            if is_any_day(found) {
                // Whatever may fall on any day of its period needs some days before the end.
                let last = add_days(span.last_day, -SPARE_DAYS);
                found.until = Some(found.until.map_or(last, |until| until.min(last)));
            }
            // Few hours make a plan longer, and not its repeated work more.
            let usual = self.usual_recurrence(found, usual_window);
            let times = count_open_dates(&usual, &context.calendar, span.start, span.usual_last);
            found.count = Some(times.max(1));
        }
        if found.at_local.is_some() {
            return;
        }
        let closed = found.by_day.iter().find_map(|day| match day {
            RecurrenceByDay::Weekday(day) => {
                is_closed(&context.calendar.working, *day).then_some(*day)
            }
            RecurrenceByDay::MonthDay(_) => None,
        });
        if let Some(day) = closed {
            found.at_local = Some(self.free_time_on(day, minutes.unwrap_or(60)));
        }
    }

    /// Returns a recurrence as it would be in the usual span: in the window of its phase there, else with an end that is
    /// by as much earlier as the plan is longer.
    fn usual_recurrence(&self, found: &Recurrence, window: Option<(Date, Date)>) -> Recurrence {
        let span = self.inputs.span;
        let more = i64::from(super::dates::days_between(span.usual_last, span.last_day));
        let earlier = found.until.map(|until| add_days(until, -more));
        let (from, until) = match window {
            Some((from, until)) if is_any_day(found) => {
                (Some(from), Some(until.min(add_days(span.usual_last, -SPARE_DAYS))))
            }
            Some((from, until)) => (Some(from), Some(until)),
            None => (found.from, earlier),
        };
        Recurrence { from, until, ..found.clone() }
    }

    /// Returns a time on a day without hours that no other repeated session of the plan has.
    fn free_time_on(&mut self, day: Weekday, minutes: u32) -> Time {
        let first = match self.inputs.blueprint.prefer.to_preferred_time() {
            Some(PreferredTime::Evenings) => 18,
            Some(PreferredTime::Mornings) => 8,
            _ => 10,
        };
        let mut at = Time::new(first, 0, 0, 0).unwrap_or(Time::midnight());
        let step = jiff::Span::new().minutes(i64::from(minutes.clamp(30, 240)));
        while self.session_starts.contains(&(day, at)) {
            let Ok(next) = at.checked_add(step) else { break };
            at = next;
        }
        self.session_starts.push((day, at));
        at
    }

    /// Returns the calendar days of a phase that has a share of the span.
    pub(super) fn phase_window(&self, group: &BlueprintGroup) -> Option<(Date, Date)> {
        let span = self.inputs.span;
        self.phase_window_within(group, span.days, span.last_day)
    }

    /// Returns the percent of the span that the phases before any rhythm have, and those that they need. A few hours of
    /// set-up do not take a month, however long the course is.
    fn opening_share(&self, days: u32) -> (f64, f64) {
        let file = self.inputs.blueprint;
        let repeats = |phase: &&BlueprintGroup| {
            phase.all_tasks().iter().any(|task| task.every.is_some() || task.share.is_some())
        };
        let weekly = file.weekly.as_ref().map(|weekly| *weekly.get_ref());
        let Some(weekly) =
            weekly.filter(|_| !file.phases.first().is_some_and(|first| repeats(&first)))
        else {
            return self.short_opening(days);
        };
        let opening: Vec<&BlueprintGroup> =
            file.phases.iter().take_while(|phase| !repeats(phase)).collect();
        let share: u32 = opening.iter().filter_map(|phase| phase.weeks_share).sum();
        let tasks = opening.iter().flat_map(|phase| phase.all_tasks());
        let (minutes, waits) = tasks.fold((0, 0), |(minutes, waits), task| {
            let own = task.effort.as_ref().map_or(0, |own| own.get_ref().likely());
            let lags = task.after.iter().flatten().filter_map(|link| link.lag);
            (minutes + own, waits + lags.map(CalendarSpan::in_days).max().unwrap_or(0))
        });
        let weeks = f64::from(minutes) / f64::from(weekly.max(1));
        let open = weeks * 7.0 * 1.2 + f64::from(waits) + SET_UP_DAYS;
        let share = f64::from(share);
        (share, share.min(open * 100.0 / f64::from(days.max(1))))
    }

    /// Returns the percent of the span that a short first phase has, and those that it has where the span is longer than
    /// usual: two weeks of watching stay two weeks.
    fn short_opening(&self, days: u32) -> (f64, f64) {
        let file = self.inputs.blueprint;
        let share = file.phases.first().and_then(|phase| phase.weeks_share).unwrap_or(0);
        if share > SHORT_OPENING {
            return (0.0, 0.0);
        }
        let usual = f64::from(*file.weeks.get_ref()) * 7.0;
        let share = f64::from(share);
        (share, share.min(share * usual / f64::from(days.max(1))))
    }

    fn phase_window_within(
        &self,
        group: &BlueprintGroup,
        days: u32,
        last_day: Date,
    ) -> Option<(Date, Date)> {
        let phases = &self.inputs.blueprint.phases;
        let place =
            phases.iter().position(|phase| phase.title.get_ref() == group.title.get_ref())?;
        group.weeks_share?;
        let share = |phase: &BlueprintGroup| f64::from(phase.weeks_share.unwrap_or(0));
        let before: f64 = phases[..place].iter().map(share).sum();
        let start = self.inputs.span.start;
        let (opening, needed) = self.opening_share(days);
        // What the first phase does not need belongs to the others.
        let moved = |percent: f64| match percent {
            percent if percent <= opening => percent.min(needed),
            percent => needed + (percent - opening) * (100.0 - needed) / (100.0 - opening).max(1.0),
        };
        let at = |percent: f64| {
            add_days(start, (f64::from(days) * moved(percent) / 100.0).round() as i64)
        };
        let until = add_days(at(before + share(group)), -1).min(last_day);
        Some((at(before), until.max(at(before))))
    }
}

impl InstanceBuilder<'_> {
    /// Returns the days from about the start of a phase to the end of the plan: the phases before it take their share
    /// of the time.
    fn later_window(&self, group: Option<&BlueprintGroup>) -> (Date, Date) {
        let span = self.inputs.span;
        let last = span.day.unwrap_or(span.last_day).min(span.last_day);
        let phases = &self.inputs.blueprint.phases;
        let place = group.and_then(|group| {
            phases.iter().position(|phase| phase.title.get_ref() == group.title.get_ref())
        });
        let weeks = f64::from(*self.inputs.blueprint.weeks.get_ref());
        let minutes = |task: &BlueprintTask| {
            let once = task.effort.as_ref().map_or(0, |own| own.get_ref().likely());
            let times = task.every.map_or(1.0, |_| occurrences_per_week(self.inputs, task) * weeks);
            f64::from(once) * times
        };
        let effort = |phases: &[BlueprintGroup]| -> f64 {
            phases.iter().flat_map(BlueprintGroup::all_tasks).map(minutes).sum()
        };
        let before = place.map_or(0.0, |place| effort(&phases[..place]));
        let share = before / effort(phases).max(1.0);
        let first = self.anchors.first_useful_day().unwrap_or(span.start);
        let usual = last.min(span.usual_last);
        let days = f64::from(super::dates::days_between(first, usual)) * share;
        (add_days(first, days as i64), last)
    }
}

/// Returns how often a recurrence really happens between two days: not on days off, and daily work without a time of its
/// own only on days with hours.
pub(in super::super) fn count_open_dates(
    recurrence: &Recurrence,
    calendar: &PlanCalendar,
    first: Date,
    last: Date,
) -> u32 {
    let any = Recurrence { count: None, ..recurrence.clone() };
    let needs_hours =
        recurrence.freq == RecurrenceFrequency::Daily && recurrence.at_local.is_none();
    let period = i64::from(recurrence.freq.in_days() * u32::from(recurrence.interval.max(1)));
    let any_day = is_any_day(recurrence) && recurrence.at_local.is_none();
    let open = |date: &Date| {
        let has_time = (0..period).any(|step| calendar.has_hours_on(add_days(*date, step)));
        !calendar.days_off.contains(date)
            && (!needs_hours || calendar.has_hours_on(*date))
            && (!any_day || has_time)
    };
    let dates = RecurrenceRule::from(&any).dates_between(first, last);
    u32::try_from(dates.iter().filter(|date| open(date)).count()).unwrap_or(u32::MAX)
}

/// Returns whether something may fall on any day of its period.
fn is_any_day(found: &Recurrence) -> bool {
    found.by_day.is_empty() && found.freq != RecurrenceFrequency::Daily
}

/// Returns the days after which something is looked back on for the first time: after a month of it, and not on its first
/// day.
fn first_look_back(found: &Recurrence, task: &BlueprintTask) -> i64 {
    let days = found.freq.in_days() * u32::from(found.interval.max(1));
    let looks_back = task.role == Role::Reflection && days >= LONG_PERIOD && is_any_day(found);
    if looks_back { i64::from(days) - SPARE_DAYS } else { 0 }
}

fn is_closed(working: &WeeklyHours, day: Weekday) -> bool {
    working.get(&day).is_none_or(Vec::is_empty)
}

fn unit_cadence(inputs: InstanceInputs<'_>, unit: BlueprintRepeatUnit) -> GoalCadence {
    match unit {
        BlueprintRepeatUnit::Cadence | BlueprintRepeatUnit::Period => {
            facts::goal_cadence(inputs.goal, inputs.blueprint)
        }
        BlueprintRepeatUnit::Day => GoalCadence::once_per(CadencePeriod::Day),
        BlueprintRepeatUnit::Week => GoalCadence::once_per(CadencePeriod::Week),
        BlueprintRepeatUnit::Month => GoalCadence::once_per(CadencePeriod::Month),
        BlueprintRepeatUnit::Quarter => GoalCadence::once_per(CadencePeriod::Quarter),
        BlueprintRepeatUnit::Year => GoalCadence::once_per(CadencePeriod::Year),
    }
}

/// Returns how often a repeated task occurs in an average week.
pub(super) fn occurrences_per_week(inputs: InstanceInputs<'_>, task: &BlueprintTask) -> f64 {
    let Some(every) = task.every else { return 1.0 };
    let cadence = unit_cadence(inputs, every.unit);
    let times = f64::from(task.times.unwrap_or(1)).max(task.on.0.len() as f64);
    times.max(cadence.per_week() * cadence.every.in_weeks())
        / (cadence.every.in_weeks() * f64::from(cadence.interval) * f64::from(every.count.max(1)))
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

/// Returns how often a recurrence occurs in this many weeks, at least once.
pub(in super::super) fn count_occurrences(recurrence: &Recurrence, weeks: u16) -> u32 {
    if let Some(count) = recurrence.count {
        return count.max(1);
    }
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
