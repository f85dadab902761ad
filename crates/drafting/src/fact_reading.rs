//! Facts from words: what of a goal, an answer or a change request can be checked, phrase by phrase, and how a reading
//! changes the context of a plan.

use jiff::ToSpan;
use jiff::civil::{Date, Time, time};

use crate::change_requests::{
    ContextChange, DayPart, ParsedChangeRequest, RequestedChange, apply_context_change,
};
use crate::offline::goal::{
    CalendarRegion, Goal, GoalDay, GoalParseContext, GoalPhrase, GoalPhraseKind, is_measure,
};
use crate::working_slots::WorkingSlot;
use planwright_model::{
    DateField, FactLength, FactReading, FactSubject, FactWorkingTime, LinkKind, LocalTimeInterval,
    PlanContext, PlanEdit, TaskId, Weekday, is_everybody,
};

/// A phrase with what was understood of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFact {
    /// As it was typed.
    pub text: String,
    /// None if rules cannot check it; it is kept all the same.
    pub reading: Option<FactReading>,
}

/// Reads the facts of a goal, in the order of the goal.
pub fn read_goal_facts(goal: &Goal) -> Vec<ReadFact> {
    goal.phrases()
        .iter()
        .map(|phrase| ReadFact { text: phrase.text.clone(), reading: read_phrase(goal, phrase) })
        .collect()
}

/// Reads a text that stands for itself, such as a correction: a goal without a subject.
pub fn read_statement(text: &str, today: Date, region: CalendarRegion) -> Option<FactReading> {
    let context = GoalParseContext::new(today, 5).in_region(region);
    let read = |text: &str| {
        let goal = Goal::parse(text, context);
        goal.phrases().iter().find_map(|phrase| read_phrase(&goal, phrase))
    };
    // "100 guests" and "March" say more after a word that introduces them.
    read(text).or_else(|| read(&format!("x, {text}"))).or_else(|| read(&format!("x by {text}")))
}

fn read_phrase(goal: &Goal, phrase: &GoalPhrase) -> Option<FactReading> {
    Some(match phrase.kind {
        GoalPhraseKind::Deadline => FactReading::Deadline { on: goal.deadline? },
        // A day before the end is that of a part, which the plan need not name.
        GoalPhraseKind::Day
            if goal
                .deadline
                .is_some_and(|end| goal.day.is_some_and(|day| day.last_day() < end)) =>
        {
            return None;
        }
        GoalPhraseKind::Day => match goal.day? {
            GoalDay::On(on) => FactReading::FixedDate { subject: FactSubject::Plan, on },
            GoalDay::Within { from, to } => {
                FactReading::Window { subject: FactSubject::Plan, from, to }
            }
        },
        GoalPhraseKind::Span => plan_weeks(goal.horizon_weeks?),
        GoalPhraseKind::Start => FactReading::Start { on: goal.start? },
        GoalPhraseKind::WorkingTimes => slot_times(&goal.working_times),
        GoalPhraseKind::WeekdaysOff => {
            FactReading::WeekdaysOff { person: None, days: goal.weekdays_off.clone() }
        }
        GoalPhraseKind::Absence(place) => {
            let (from, to) = *goal.absences.get(place)?;
            FactReading::Absence { person: None, from, to }
        }
        // A few minutes a day are the length of a routine, beside which its set-up has room.
        GoalPhraseKind::WeeklyHours
            if goal.is_daily
                && goal.occurrence_minutes.is_some_and(|each| each <= SHORT_SESSION) =>
        {
            return None;
        }
        // What is stated for every day may be every day of the week, and what is not a session comes beside it.
        GoalPhraseKind::WeeklyHours if goal.is_daily => {
            let sessions = goal.weekly_minutes?.max(goal.occurrence_minutes? * 7);
            own_capacity(beside_sessions(sessions))
        }
        GoalPhraseKind::WeeklyHours => match goal.day_minutes {
            Some(minutes) => FactReading::DailyCapacity { minutes },
            None => own_capacity(goal.weekly_minutes?),
        },
        GoalPhraseKind::Count(place) => {
            // On the way to 8 km a run of 10 km breaks nothing.
            let count = goal.counts.get(place).filter(|count| !is_measure(&count.noun))?;
            FactReading::Count { noun: count.noun.clone(), amount: count.amount }
        }
        GoalPhraseKind::Money => {
            // An amount to save or to raise limits nothing.
            let money = goal.quantities.money.as_ref().filter(|money| money.is_limit)?;
            let currency = money.currency_code().map(str::to_owned);
            FactReading::Budget { subject: None, amount: money.amount, currency }
        }
        GoalPhraseKind::Place => FactReading::Place { name: goal.quantities.place.clone()? },
        GoalPhraseKind::Stay => FactReading::EventDays { days: goal.event_days?.into() },
        GoalPhraseKind::Occurrence
        | GoalPhraseKind::Target
        | GoalPhraseKind::Rhythm
        | GoalPhraseKind::TimeOfDay
        | GoalPhraseKind::DueTime
        | GoalPhraseKind::Companions
        | GoalPhraseKind::Direction
        | GoalPhraseKind::Given => return None,
    })
}

/// The minutes a week of sessions of a stated length, with what is not a session: choosing, booking, looking back.
pub(crate) fn beside_sessions(sessions: u32) -> u32 {
    sessions + (sessions / 4).max(BESIDE_SESSIONS)
}

/// The minutes a week beside sessions of a stated length.
const BESIDE_SESSIONS: u32 = 45;

/// The longest daily session that is a habit rather than a limit, in minutes.
const SHORT_SESSION: u32 = 30;

fn plan_weeks(weeks: u16) -> FactReading {
    let length = FactLength::Days(u32::from(weeks) * 7);
    FactReading::Duration { subject: FactSubject::Plan, length }
}

fn own_capacity(weekly_minutes: u32) -> FactReading {
    FactReading::Capacity { person: None, weekly_minutes }
}

/// Times of the week as rules check them. Parts of a day are wide: an evening starts when the working day ends.
fn slot_times(slots: &[WorkingSlot]) -> FactReading {
    let hours = |part: DayPart| match part {
        DayPart::Morning => LocalTimeInterval::new(Time::midnight(), time(12, 0, 0, 0)),
        DayPart::Afternoon => LocalTimeInterval::new(time(12, 0, 0, 0), time(18, 0, 0, 0)),
        DayPart::Evening => LocalTimeInterval::new(time(17, 0, 0, 0), Time::midnight()),
    };
    let times = slots
        .iter()
        .map(|slot| FactWorkingTime { days: slot.days.clone(), hours: slot.part.map(hours) })
        .collect();
    FactReading::WorkingTimes { person: None, times }
}

/// The longest absence of somebody that is kept day by day.
const MAX_DAYS_AWAY: usize = 366;

/// How many tasks a clause may be about to say something about each of them.
const MAX_TASKS_OF_CLAUSE: usize = 3;

/// Reads the facts of a change request that was parsed: limits of the plan, and dates, people and lengths of its tasks.
/// `context` is that of the plan before the change.
pub fn read_request_facts(parsed: &ParsedChangeRequest, context: &PlanContext) -> Vec<FactReading> {
    let mut context = context.clone();
    let mut readings: Vec<FactReading> = Vec::new();
    for change in parsed.context_changes() {
        apply_context_change(&mut context, change);
        let reading = read_change(change, &context);
        readings.retain(|earlier| reading.as_ref().is_none_or(|later| !later.replaces(earlier)));
        readings.extend(reading);
    }
    // Many operations of one clause, such as twice the time for every task, say nothing about a single task for good.
    let few = parsed.clauses.iter().filter_map(|clause| match &clause.change {
        RequestedChange::Edits(edits) if edits.len() <= MAX_TASKS_OF_CLAUSE => Some(edits),
        _ => None,
    });
    readings.extend(few.flatten().filter_map(read_edit));
    readings.extend(parsed.restatements().flat_map(|restated| restated.readings.iter().cloned()));
    readings
}

fn read_change(change: &ContextChange, after: &PlanContext) -> Option<FactReading> {
    Some(match change {
        ContextChange::WeeklyMinutes(minutes) => own_capacity(*minutes),
        ContextChange::Start(on) => FactReading::Start { on: *on },
        ContextChange::Deadline(on) => FactReading::Deadline { on: *on },
        ContextChange::HorizonWeeks(weeks) => plan_weeks(*weeks),
        ContextChange::DaysOff { from, to } => {
            FactReading::Absence { person: None, from: *from, to: *to }
        }
        ContextChange::Person { name, weekly_minutes: Some(minutes) } => {
            FactReading::Capacity { person: Some(name.clone()), weekly_minutes: *minutes }
        }
        ContextChange::Person { name, weekly_minutes: None } => {
            FactReading::Person { name: name.clone(), role: None }
        }
        ContextChange::Budget { amount, currency } => {
            FactReading::Budget { subject: None, amount: *amount, currency: currency.clone() }
        }
        ContextChange::DailyMinutes(_) | ContextChange::Prefer(_) => return None,
        ContextChange::NotOn(_)
        | ContextChange::OnlyOn(_)
        | ContextChange::AlsoOn(_)
        | ContextChange::OnlyDuring(_)
        | ContextChange::NotDuring(_)
        | ContextChange::WorkBetween(_)
        | ContextChange::OnlyAt(_) => calendar_times(after),
    })
}

/// The hours of a calendar as a reading: what limits to days and times came to, all of them together.
fn calendar_times(context: &PlanContext) -> FactReading {
    let day_times = |(day, hours): (&Weekday, &Vec<LocalTimeInterval>)| {
        let days = vec![*day];
        hours
            .iter()
            .map(|hours| FactWorkingTime { days: days.clone(), hours: Some(*hours) })
            .collect::<Vec<_>>()
    };
    let mut times: Vec<FactWorkingTime> = Vec::new();
    for time in context.calendar.working.iter().flat_map(day_times) {
        match times.iter_mut().find(|known| known.hours == time.hours) {
            Some(known) => known.days.extend(time.days),
            None => times.push(time),
        }
    }
    FactReading::WorkingTimes { person: None, times }
}

/// Reads what a change of one task says about it for good.
pub fn read_edit(edit: &PlanEdit) -> Option<FactReading> {
    let node = |id: &TaskId| FactSubject::Node(id.clone());
    Some(match edit {
        PlanEdit::SetEstimate { node: id, minutes } => {
            FactReading::Duration { subject: node(id), length: FactLength::Minutes(*minutes) }
        }
        PlanEdit::SetDate {
            node: id,
            field: DateField::FixedStart | DateField::FixedEnd,
            date: Some(date),
        } => FactReading::FixedDate { subject: node(id), on: date.day },
        PlanEdit::Link { from, to, kind: LinkKind::FS, lag_minutes: 0.. } => {
            FactReading::Order { first: node(from), then: node(to) }
        }
        _ => return None,
    })
}

/// Whether a change of the plan takes back what was said about a task: its link, its dates, its length, or the task.
pub fn takes_back(edit: &PlanEdit, reading: &FactReading) -> bool {
    let about = |subject: &FactSubject, id: &TaskId| *subject == FactSubject::Node(id.clone());
    match (edit, reading) {
        (PlanEdit::Unlink { from, to }, FactReading::Order { first, then }) => {
            about(first, from) && about(then, to)
        }
        (
            PlanEdit::ClearDates { node } | PlanEdit::SetDate { node, date: None, .. },
            FactReading::FixedDate { subject, .. },
        )
        | (
            PlanEdit::Change { node, .. } | PlanEdit::Split { node, .. },
            FactReading::Duration { subject, .. } | FactReading::FixedDate { subject, .. },
        ) => about(subject, node),
        _ => false,
    }
}

/// Applies a reading to the limits of a plan. Returns false if it changes none of them.
pub fn apply_reading(context: &mut PlanContext, reading: &FactReading) -> bool {
    let change = match reading {
        FactReading::Deadline { on } => ContextChange::Deadline(*on),
        FactReading::Start { on } => ContextChange::Start(*on),
        FactReading::Absence { person: None, from, to } => {
            ContextChange::DaysOff { from: *from, to: *to }
        }
        FactReading::Absence { person: Some(name), from, to } if is_everybody(name) => {
            ContextChange::DaysOff { from: *from, to: *to }
        }
        FactReading::Capacity { person: None, weekly_minutes } => {
            ContextChange::WeeklyMinutes(*weekly_minutes)
        }
        FactReading::Capacity { person: Some(name), weekly_minutes } => {
            ContextChange::Person { name: name.clone(), weekly_minutes: Some(*weekly_minutes) }
        }
        FactReading::WeekdaysOff { person: Some(name), days } => {
            context.person_mut(name).weekdays_off = days.iter().copied().collect();
            open_remaining_days(context, name, days);
            return true;
        }
        FactReading::WeekdaysOff { person: None, days } => {
            context.calendar.working.retain(|day, _| !days.contains(day));
            return true;
        }
        FactReading::DailyCapacity { minutes } => ContextChange::DailyMinutes(*minutes),
        FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(days) } => {
            ContextChange::HorizonWeeks(u16::try_from(days.div_ceil(7)).unwrap_or(u16::MAX).max(1))
        }
        FactReading::WorkingTimes { person: None, times } => {
            return apply_working_times(context, times);
        }
        FactReading::WorkingTimes { person: Some(name), times } => {
            return apply_persons_hours(context, name, times);
        }
        FactReading::Person { name, .. } => {
            context.person_mut(name);
            return true;
        }
        FactReading::Absence { person: Some(name), from, to } => {
            let days = from.series(1.day()).take_while(|day| day <= to).take(MAX_DAYS_AWAY);
            context.person_mut(name).days_off.extend(days);
            return true;
        }
        _ => return false,
    };
    apply_context_change(context, &change);
    true
}

fn apply_working_times(context: &mut PlanContext, times: &[FactWorkingTime]) -> bool {
    let slots: Vec<WorkingSlot> = times
        .iter()
        .map(|time| WorkingSlot { days: time.days.clone(), part: time.hours.and_then(day_part) })
        .collect();
    if slots.is_empty() {
        return false;
    }
    apply_context_change(context, &ContextChange::OnlyAt(slots));
    true
}

/// Somebody who works only on days on which the plan has no hours works at ordinary hours there.
fn open_remaining_days(context: &mut PlanContext, name: &str, off: &[Weekday]) {
    let left: Vec<Weekday> = Weekday::ALL.into_iter().filter(|day| !off.contains(day)).collect();
    let hours = &context.calendar.working;
    let has_hours = |day: &Weekday| hours.get(day).is_some_and(|own| !own.is_empty());
    if !left.is_empty() && !left.iter().any(has_hours) {
        apply_persons_hours(context, name, &[FactWorkingTime { days: left, hours: None }]);
    }
}

/// Sets the hours of somebody else exactly as they were said. Days without hours have those of the plan, or ordinary ones.
fn apply_persons_hours(context: &mut PlanContext, name: &str, times: &[FactWorkingTime]) -> bool {
    let ordinary = vec![LocalTimeInterval::new(time(9, 0, 0, 0), time(17, 0, 0, 0))];
    let mut week = planwright_model::WeeklyHours::new();
    for stated in times {
        let usual = |day: &Weekday| context.calendar.working.get(day).filter(|own| !own.is_empty());
        // Hours without days are those of working days; days that were named count even where the plan has none.
        let days: Vec<Weekday> = match stated.days.as_slice() {
            [] => Weekday::ALL.into_iter().filter(|day| usual(day).is_some()).collect(),
            days => days.to_vec(),
        };
        for day in days {
            let hours = match stated.hours {
                Some(hours) => vec![hours],
                None => usual(&day).unwrap_or(&ordinary).clone(),
            };
            week.entry(day).or_default().extend(hours);
        }
    }
    let has_time = week.values().flatten().any(|hours| hours.duration_minutes() > 0);
    if has_time {
        context.person_mut(name).hours = week;
    }
    has_time
}

/// The part of the day that hours lie in; hours that span several have none.
fn day_part(hours: LocalTimeInterval) -> Option<DayPart> {
    let ends_by = |limit: Time| hours.end != Time::midnight() && hours.end <= limit;
    if ends_by(time(12, 0, 0, 0)) {
        Some(DayPart::Morning)
    } else if hours.start >= time(12, 0, 0, 0) && ends_by(time(18, 0, 0, 0)) {
        Some(DayPart::Afternoon)
    } else {
        (hours.start >= time(17, 0, 0, 0)).then_some(DayPart::Evening)
    }
}

/// Whether a reading is about the limits of a plan, so that the tasks stay as they are when it changes.
pub fn is_plan_limit(reading: &FactReading) -> bool {
    matches!(
        reading,
        FactReading::Deadline { .. }
            | FactReading::Start { .. }
            | FactReading::Absence { person: None, .. }
            | FactReading::Capacity { person: None, .. }
            | FactReading::DailyCapacity { .. }
            | FactReading::WeekdaysOff { person: None, .. }
            | FactReading::WorkingTimes { person: None, .. }
            | FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(_) }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    /// 2026-11-17 is a Tuesday.
    const TODAY: Date = date(2026, 11, 17);

    fn said(text: &str) -> Vec<String> {
        let goal = Goal::parse(text, GoalParseContext::new(TODAY, 5));
        read_goal_facts(&goal)
            .into_iter()
            .map(|fact| match fact.reading {
                Some(reading) => format!("{} = {}", fact.text, reading.describe(TODAY)),
                None => fact.text,
            })
            .collect()
    }

    #[test]
    fn days_on_which_the_plan_has_no_hours_are_open_to_whoever_works_only_then() {
        let mut context = PlanContext::new("x", TODAY, "UTC");
        let off = |works: &[Weekday]| {
            let days = Weekday::ALL.into_iter().filter(|day| !works.contains(day)).collect();
            FactReading::WeekdaysOff { person: Some("Cleo".into()), days }
        };
        assert!(apply_reading(&mut context, &off(&[Weekday::Mon])));
        assert!(context.find_person("cleo").unwrap().hours.is_empty(), "those of the plan");
        assert!(apply_reading(&mut context, &off(&[Weekday::Sat])));
        let hours = &context.find_person("cleo").unwrap().hours;
        let ordinary = LocalTimeInterval::new(time(9, 0, 0, 0), time(17, 0, 0, 0));
        assert_eq!(hours.get(&Weekday::Sat), Some(&vec![ordinary]));
        assert_eq!(hours.len(), 1);
    }

    #[test]
    fn hours_of_somebody_else_are_theirs_alone() {
        let mut context = PlanContext::new("x", TODAY, "UTC");
        let hours = LocalTimeInterval::new(time(8, 0, 0, 0), time(12, 0, 0, 0));
        let reading = |times| FactReading::WorkingTimes { person: Some("Ben".into()), times };
        let mornings = FactWorkingTime { days: Vec::new(), hours: Some(hours) };
        let own = context.calendar.clone();
        assert!(apply_reading(&mut context, &reading(vec![mornings])));
        assert_eq!(context.calendar, own);
        let ben = context.find_person("ben").unwrap();
        assert_eq!(ben.hours.len(), 5, "on the working days of the plan");
        assert!(ben.hours.values().all(|day| *day == [hours]));
        let saturday = FactWorkingTime { days: vec![Weekday::Sat], hours: None };
        assert!(apply_reading(&mut context, &reading(vec![saturday])));
        let days: Vec<Weekday> =
            context.find_person("Ben").unwrap().hours.keys().copied().collect();
        assert_eq!(days, [Weekday::Sat]);
    }

    #[test]
    fn every_phrase_of_a_goal_is_a_fact() {
        assert_eq!(
            said("organise a 40-person offsite in March in Lisbon with a budget of 20k"),
            [
                "40-person = 40 people",
                "in March = Mon 1 – Wed 31 Mar 2027",
                "in Lisbon = in Lisbon",
                "with a budget of 20k = at most 20,000",
            ]
        );
        assert_eq!(
            said("wedding on 2027-06-12 for 80 guests, we have a venue"),
            ["on 2027-06-12 = on Sat 12 Jun 2027", "80 guests = 80 guests", "we have a venue"]
        );
        assert_eq!(
            said("learn Rust, 5 hours a week, evenings only, I'm away 20 to 27 December"),
            [
                "5 hours a week = at most 5 h a week",
                "evenings only = only from 17:00 on",
                "I'm away 20 to 27 December = no work Sun 20 – Sun 27 Dec",
            ]
        );
        assert_eq!(
            said("launch a newsletter in 6 weeks, starting next Monday"),
            ["in 6 weeks = at most 6 weeks", "starting next Monday = not before Mon 23 Nov",]
        );
        assert_eq!(
            said("save 5000 euros by June"),
            ["5000 euros", "by June = until Tue 1 Jun 2027"]
        );
        assert_eq!(said("take medication every day at 8"), ["every day", "at 8"]);
        assert_eq!(said("be better"), Vec::<String>::new());
    }

    #[test]
    fn a_correction_is_read_by_itself() {
        let read = |text: &str| {
            read_statement(text, TODAY, CalendarRegion::NORTHERN)
                .map(|reading| reading.describe(TODAY))
                .unwrap_or_default()
        };
        assert_eq!(read("100 guests"), "100 guests");
        assert_eq!(read("by 20 June 2027"), "until Sun 20 Jun 2027");
        assert_eq!(read("March"), "until Mon 1 Mar 2027");
        assert_eq!(read("weekends only"), "only weekends");
        assert_eq!(read("at most 3000 euros"), "at most 3,000 EUR");
        assert_eq!(read("something nice"), "");
    }

    #[test]
    fn readings_change_the_limits_of_a_plan() {
        let mut context = PlanContext::new("learn Rust", date(2026, 11, 18), "Europe/Berlin");
        let times = |text: &str| read_statement(text, TODAY, CalendarRegion::NORTHERN).unwrap();
        for text in ["weekends only", "by 20 June 2027", "3 hours a week", "in 6 weeks"] {
            let reading = times(text);
            assert!(is_plan_limit(&reading) && apply_reading(&mut context, &reading), "{text}");
        }
        let days: Vec<Weekday> = context.calendar.working.keys().copied().collect();
        assert_eq!(days, [Weekday::Sat, Weekday::Sun]);
        assert_eq!(context.constraints.weekly_minutes, Some(180));
        let guests = FactReading::Count { noun: "guest".into(), amount: 3 };
        assert!(!is_plan_limit(&guests) && !apply_reading(&mut context, &guests));
    }
}
