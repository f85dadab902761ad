//! Facts of a model: words of the person's with what was understood of them, and what follows for the limits of the plan.

use std::collections::BTreeSet;

use jiff::ToSpan as _;
use jiff::civil::{Date, Time, time};
use serde::Deserialize;
use serde_json::Value;

use super::assumed_limits::state_value;
use planwright_drafting::fact_reading;
use planwright_model::event::FactEvent;
use planwright_model::{
    Actor, AssumptionOrigin, Fact, FactLength, FactReading, FactSource, FactSubject,
    FactWorkingTime, LocalTimeInterval, PlanContext, TaskId, Weekday,
};
use planwright_state::{FactSlice, PlanningSlice};

/// The longest absence that is kept day by day.
const MOST_DAYS_AWAY: usize = 366;

/// A fact as a model writes it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct WrittenFact {
    /// What was said, word for word.
    pub(super) text: String,
    /// A file with lines, where it was found there.
    file: Option<String>,
    kind: Option<String>,
    on: Option<Date>,
    from: Option<Date>,
    to: Option<Date>,
    /// The id of a node, or words for it; without either it is about the plan.
    node: Option<String>,
    subject: Option<String>,
    /// The later one of an order.
    then: Option<String>,
    person: Option<String>,
    role: Option<String>,
    weekly_hours: Option<f64>,
    daily_hours: Option<f64>,
    minutes: Option<u32>,
    days: Option<u32>,
    times: Option<Vec<WrittenTime>>,
    weekdays: Option<Vec<Weekday>>,
    amount: Option<u64>,
    currency: Option<String>,
    noun: Option<String>,
    place: Option<String>,
    /// Numbers of facts that these later words take the place of.
    replaces: Option<Vec<u32>>,
}

/// Times of the week at which work may happen, as a model writes them.
#[derive(Clone, Debug, Deserialize)]
struct WrittenTime {
    weekdays: Option<Vec<Weekday>>,
    start_time: Option<String>,
    end_time: Option<String>,
}

impl WrittenTime {
    fn read(&self) -> Result<FactWorkingTime, String> {
        let hours = match (&self.start_time, &self.end_time) {
            (Some(start), Some(end)) => {
                Some(LocalTimeInterval::new(read_time(start)?, read_time(end)?))
            }
            (None, None) => None,
            _ => return Err("`start_time` and `end_time` go together".to_owned()),
        };
        Ok(FactWorkingTime { days: self.weekdays.clone().unwrap_or_default(), hours })
    }
}

impl WrittenFact {
    /// Reads one. `Err` says what is missing.
    pub(super) fn from_value(value: &Value) -> Result<Self, String> {
        serde_json::from_value(value.clone()).map_err(|error| format!("it cannot be read: {error}"))
    }

    /// What rules can check of it.
    fn reading(&self, talk: &PlanningSlice) -> Result<Option<FactReading>, String> {
        let Some(kind) = self.kind.as_deref().filter(|kind| *kind != "none") else {
            return Ok(None);
        };
        let date = |date: Option<Date>, name: &str| date.ok_or(format!("`{name}` is missing"));
        let text = |text: &Option<String>, name: &str| {
            let found = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
            found.map(str::to_owned).ok_or(format!("`{name}` is missing"))
        };
        let subject = || self.subject(talk);
        Ok(Some(match kind {
            "deadline" => match subject()? {
                FactSubject::Plan => FactReading::Deadline { on: date(self.on, "on")? },
                part => FactReading::Window {
                    subject: part,
                    from: first_day(talk),
                    to: date(self.on, "on")?,
                },
            },
            "start" => FactReading::Start { on: date(self.on, "on")? },
            "fixed_date" => {
                FactReading::FixedDate { subject: subject()?, on: date(self.on, "on")? }
            }
            "window" => FactReading::Window {
                subject: subject()?,
                from: date(self.from, "from")?,
                to: date(self.to, "to")?,
            },
            "absence" if self.weekdays.is_some() => FactReading::WeekdaysOff {
                person: self.other_person(),
                days: self.weekdays.clone().unwrap_or_default(),
            },
            "absence" => FactReading::Absence {
                person: self.other_person(),
                from: date(self.from.or(self.on), "from")?,
                to: date(self.to.or(self.on).or(self.from), "to")?,
            },
            "capacity" if self.weekly_hours.is_none() && self.daily_hours.is_some() => {
                self.daily_capacity()?
            }
            "capacity" => FactReading::Capacity {
                person: self.other_person(),
                weekly_minutes: self.weekly_minutes()?,
            },
            "working_times" if self.other_person().is_some() && !self.has_hours() => {
                self.others_weekdays()?
            }
            "working_times" => {
                let times = self.times.iter().flatten().map(WrittenTime::read);
                let times: Vec<FactWorkingTime> = times.collect::<Result<_, _>>()?;
                if times.is_empty() {
                    return Err("`times` is missing".to_owned());
                }
                FactReading::WorkingTimes { person: self.other_person(), times }
            }
            "person" => FactReading::Person {
                name: text(&self.person, "person")?,
                role: self.role.clone().filter(|role| !role.trim().is_empty()),
            },
            "budget" => FactReading::Budget {
                subject: Some(subject()?).filter(|part| *part != FactSubject::Plan),
                amount: self.amount.ok_or("`amount` is missing")?,
                currency: self.currency.as_ref().map(|name| name.trim().to_uppercase()),
            },
            "duration" => FactReading::Duration { subject: subject()?, length: self.length()? },
            "order" => FactReading::Order {
                first: subject()?,
                then: find_subject(talk, self.then.as_deref().ok_or("`then` is missing")?),
            },
            "count" => FactReading::Count {
                noun: text(&self.noun, "noun")?.to_lowercase(),
                amount: self
                    .amount
                    .and_then(|amount| u32::try_from(amount).ok())
                    .ok_or("`amount` is missing")?,
            },
            "place" => FactReading::Place { name: text(&self.place, "place")? },
            other => return Err(format!("\"{other}\" is not a kind of reading")),
        }))
    }

    fn other_person(&self) -> Option<String> {
        let name = self.person.as_deref()?;
        planwright_model::other_person(name).map(str::to_owned)
    }

    fn weekly_minutes(&self) -> Result<u32, String> {
        let hours = self.weekly_hours.ok_or("`weekly_hours` is missing")?;
        if (0.0..=168.0).contains(&hours) {
            Ok((hours * 60.0).round() as u32)
        } else {
            Err("`weekly_hours` is between 0 and 168".to_owned())
        }
    }

    /// Hours a day: a limit of the person's days, and for others as much a week as five such days have.
    fn daily_capacity(&self) -> Result<FactReading, String> {
        let hours = self.daily_hours.filter(|hours| (0.0..=24.0).contains(hours));
        let minutes = hours.map(|hours| (hours * 60.0).round() as u32);
        let minutes = minutes.ok_or("`daily_hours` is between 0 and 24")?;
        Ok(match self.other_person() {
            Some(name) => FactReading::Capacity { person: Some(name), weekly_minutes: minutes * 5 },
            None => FactReading::DailyCapacity { minutes },
        })
    }

    fn has_hours(&self) -> bool {
        self.times.iter().flatten().any(|time| time.start_time.is_some())
    }

    /// The working days of somebody else, at the hours of the plan: on all others they do not work.
    fn others_weekdays(&self) -> Result<FactReading, String> {
        let times = self.times.iter().flatten();
        let works: Vec<Weekday> =
            times.filter_map(|time| time.weekdays.clone()).flatten().collect();
        if works.is_empty() {
            return Err(
                "`times` needs `weekdays`, `start_time` with `end_time`, or both".to_owned()
            );
        }
        let days = Weekday::ALL.into_iter().filter(|day| !works.contains(day)).collect();
        Ok(FactReading::WeekdaysOff { person: self.other_person(), days })
    }

    fn length(&self) -> Result<FactLength, String> {
        match (self.minutes, self.days) {
            (Some(minutes), _) => Ok(FactLength::Minutes(minutes)),
            (None, Some(days)) => Ok(FactLength::Days(days)),
            (None, None) => Err("`minutes` of work, or `days` from first to last".to_owned()),
        }
    }

    fn subject(&self, talk: &PlanningSlice) -> Result<FactSubject, String> {
        if let Some(node) = &self.node {
            let id = TaskId::from(node.trim());
            let known = talk.outline.as_deref().is_some_and(|plan| plan.find_node(&id).is_some());
            return if known {
                Ok(FactSubject::Node(id))
            } else {
                Err(format!("the plan has no node \"{id}\"; give words as `subject` instead"))
            };
        }
        Ok(self.subject.as_deref().map_or(FactSubject::Plan, |words| find_subject(talk, words)))
    }
}

/// The first day of the plan: a part that is due has the time from then on.
fn first_day(talk: &PlanningSlice) -> Date {
    talk.context.as_deref().map_or(Date::MIN, |context| context.constraints.start)
}

/// A subject by an id, the word for the plan, or any other words.
fn find_subject(talk: &PlanningSlice, words: &str) -> FactSubject {
    let words = words.trim();
    let id = TaskId::from(words);
    if words.is_empty() || words.eq_ignore_ascii_case("plan") {
        return FactSubject::Plan;
    }
    let known = talk.outline.as_deref().is_some_and(|plan| plan.find_node(&id).is_some());
    if known { FactSubject::Node(id) } else { FactSubject::Words(words.to_owned()) }
}

fn read_time(text: &str) -> Result<Time, String> {
    if text == "24:00" {
        return Ok(Time::midnight());
    }
    let full = if text.len() == 5 { format!("{text}:00") } else { text.to_owned() };
    full.parse().map_err(|_| format!("\"{text}\" is not a time such as 18:30"))
}

/// The events that keep a fact, and what was understood. `Err` says why it is not kept: facts are words that were said, or
/// that stand in a file that was read.
pub(super) fn fact_events(
    talk: &PlanningSlice,
    written: &WrittenFact,
    was_read: &dyn Fn(&str) -> bool,
) -> Result<(Vec<FactEvent>, Fact), String> {
    let text = written.text.trim();
    if text.is_empty() {
        return Err("`text` is empty".to_owned());
    }
    let (source, part_of) = if let Some(file) = &written.file {
        let path = file.split(':').next().unwrap_or(file);
        if !was_read(path) {
            return Err(format!("{path} was not looked at; read it first"));
        }
        (FactSource::Workspace(file.clone()), None)
    } else {
        let whole = find_statement(&talk.facts, text).ok_or(
            "nobody said that word for word; quote the goal, an answer, a change request or a comment exactly",
        )?;
        (whole.source.clone(), Some(whole.id))
    };
    let reading = written.reading(talk)?;
    let known = talk
        .facts
        .active()
        .find(|fact| fact.reading == reading && normalize(&fact.text) == normalize(text));
    if let Some(known) = known {
        return Ok((Vec::new(), known.clone()));
    }
    let id = talk.facts.next_id();
    let fact = Fact { part_of, reading: reading.clone(), ..Fact::new(id, source, text) };
    // The number stays: tasks name it as their evidence.
    if let Some(earlier) = talk.facts.active().find(|earlier| is_read_again(earlier, &fact)) {
        let (id, text, reading) = (earlier.id, earlier.text.clone(), fact.reading.clone());
        let event = FactEvent::Corrected { id, text, reading, by: Actor::Person };
        return Ok((vec![event], Fact { id, ..fact }));
    }
    let mut replaced = replaced_facts(talk, written, &fact)?;
    let same = reading.iter().flat_map(|reading| talk.facts.replaced_by(reading));
    replaced.extend(same.filter(|earlier| is_said_over(earlier, &fact)).map(|earlier| earlier.id));
    let mut events = vec![FactEvent::Recorded { fact: fact.clone() }];
    events.extend(replaced.into_iter().map(|earlier| FactEvent::Withdrawn {
        id: earlier,
        by: Actor::Person,
        replaced_by: Some(id),
    }));
    Ok((events, fact))
}

/// Whether a reading takes the place of one of the same kind. "Not on Mondays" and "not on Fridays" in one statement
/// both apply; two dates for the same thing cannot.
fn is_said_over(earlier: &Fact, now: &Fact) -> bool {
    let adds_up = matches!(now.reading, Some(FactReading::WeekdaysOff { .. }));
    earlier.part_of.is_some() && !(adds_up && earlier.part_of == now.part_of)
}

/// The facts that are taken back or replaced, if that may be.
fn replaced_facts(
    talk: &PlanningSlice,
    written: &WrittenFact,
    now: &Fact,
) -> Result<BTreeSet<u32>, String> {
    let mut replaced = BTreeSet::new();
    for id in written.replaces.iter().flatten() {
        let earlier = talk.facts.active().find(|fact| fact.id == *id);
        let earlier = earlier.ok_or_else(|| format!("`replaces`: there is no fact {id}"))?;
        if earlier.part_of.is_none() {
            return Err(format!("`replaces`: fact {id} is a whole statement, which is kept"));
        }
        if !may_replace(talk, earlier, now) {
            return Err(format!(
                "`replaces`: nothing was said about fact {id} after it; if it was read wrongly, quote the same words with the right reading"
            ));
        }
        replaced.insert(*id);
    }
    Ok(replaced)
}

/// Whether a fact may take the place of another: what is said later may, be it in the same statement, and the same words
/// may be read in another way, but not as nothing.
fn may_replace(talk: &PlanningSlice, earlier: &Fact, now: &Fact) -> bool {
    let (Some(before), Some(after)) = (earlier.part_of, now.part_of) else { return false };
    if before != after {
        return after > before;
    }
    let Some(whole) = talk.facts.find(after) else { return false };
    let whole = normalize(&whole.text);
    let span = |quote: &str| {
        let quote = normalize(quote);
        whole.find(&quote).map(|start| (start, start + quote.len()))
    };
    let (Some(before), Some(after)) = (span(&earlier.text), span(&now.text)) else { return false };
    let overlaps = after.0 < before.1 && before.0 < after.1;
    after.0 >= before.1 || (overlaps && now.reading.is_some())
}

/// Whether the same words are read once more, now about a node that did not exist before.
fn is_read_again(earlier: &Fact, now: &Fact) -> bool {
    let about_node = |reading: &FactReading| {
        matches!(
            reading,
            FactReading::FixedDate { subject: FactSubject::Node(_), .. }
                | FactReading::Window { subject: FactSubject::Node(_), .. }
                | FactReading::Duration { subject: FactSubject::Node(_), .. }
        )
    };
    let (Some(before), Some(after)) = (&earlier.reading, &now.reading) else { return false };
    std::mem::discriminant(before) == std::mem::discriminant(after)
        && about_node(after)
        && !about_node(before)
        && normalize(&earlier.text) == normalize(&now.text)
}

/// The statement that a quote is from, the latest first.
fn find_statement<'a>(facts: &'a FactSlice, quote: &str) -> Option<&'a Fact> {
    let quote = normalize(quote);
    let whole: Vec<&Fact> = facts
        .active()
        .filter(|fact| fact.part_of.is_none())
        .filter(|fact| !matches!(fact.source, FactSource::Workspace(_)))
        .collect();
    whole.into_iter().rev().find(|fact| normalize(&fact.text).contains(&quote))
}

fn normalize(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_matches(['"', '.', ',', ';']).to_owned()
}

/// Takes everything that was said into the limits of the plan. The hours of the week come first, whenever they were
/// said: free weekdays, the end of the last day and the hours of others follow from them.
pub(super) fn apply_readings<'a>(
    context: &mut PlanContext,
    readings: impl Iterator<Item = &'a FactReading>,
) {
    let (hours, rest): (Vec<_>, Vec<_>) = readings.partition(|reading| sets_week(reading));
    for reading in hours.into_iter().chain(rest) {
        apply_reading(context, reading);
    }
}

/// Takes one more reading in. After hours of the week, what was said before and rests on them is taken in again.
pub(super) fn apply_beside<'a>(
    context: &mut PlanContext,
    reading: &FactReading,
    said: impl Iterator<Item = &'a FactReading>,
) {
    apply_reading(context, reading);
    if sets_week(reading) {
        let rests_on_hours = |other: &&FactReading| {
            matches!(
                other,
                FactReading::WeekdaysOff { .. }
                    | FactReading::Deadline { .. }
                    | FactReading::WorkingTimes { person: Some(_), .. }
            )
        };
        said.filter(rests_on_hours).for_each(|other| apply_reading(context, other));
    }
}

fn sets_week(reading: &FactReading) -> bool {
    matches!(reading, FactReading::WorkingTimes { person: None, .. })
}

/// Takes a reading into the limits of the plan.
fn apply_reading(context: &mut PlanContext, reading: &FactReading) {
    match reading {
        FactReading::WorkingTimes { person: None, times } => set_working_times(context, times),
        // Others work on while the person is away.
        FactReading::Absence { person: None, from, to } => {
            let days = from.series(1.day()).take_while(|day| day <= to).take(MOST_DAYS_AWAY);
            context.own_days_off.extend(days);
        }
        reading => {
            fact_reading::apply_reading(context, reading);
        }
    }
}

/// Sets the hours of the week exactly as they were said. Days without hours keep theirs, or get an ordinary day.
fn set_working_times(context: &mut PlanContext, times: &[FactWorkingTime]) {
    let before = context.calendar.working.clone();
    let ordinary = vec![LocalTimeInterval::new(time(9, 0, 0, 0), time(17, 0, 0, 0))];
    let mut week = planwright_model::WeeklyHours::new();
    for time in times {
        let days = if time.days.is_empty() { Weekday::ALL.to_vec() } else { time.days.clone() };
        for day in days {
            let usual = before.get(&day).filter(|hours| !hours.is_empty());
            let hours = match time.hours {
                Some(hours) => vec![hours],
                None => usual.unwrap_or(&ordinary).clone(),
            };
            week.entry(day).or_default().extend(hours);
        }
    }
    if week.values().flatten().any(|hours| hours.duration_minutes() > 0) {
        context.calendar.working = week;
        state_value(context, "working", "as you said".to_owned(), AssumptionOrigin::User);
    }
}
