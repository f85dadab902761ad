//! Facts: what the person, the workspace, a calendar or another plan said and a plan must respect.
//!
//! A fact keeps the words as they were said. Its reading is the part that rules can check; words without one are kept and
//! shown all the same.

use jiff::civil::{Date, Time};
use serde::{Deserialize, Serialize};

use super::{LocalTimeInterval, TaskId, Weekday};

/// Something that was said and that a plan must respect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fact {
    /// Counts the facts of a session from 1.
    pub id: u32,
    pub source: FactSource,
    /// As it was said.
    pub text: String,
    /// Where it is a phrase of a longer text: the fact that keeps the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<u32>,
    /// What rules can check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<FactReading>,
    #[serde(default)]
    pub status: FactStatus,
    /// The later fact that took its place; it applies again once that one is withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<u32>,
}

impl Fact {
    /// An active fact that is not part of another.
    pub fn new(id: u32, source: FactSource, text: impl Into<String>) -> Self {
        Self {
            id,
            source,
            text: text.into(),
            part_of: None,
            reading: None,
            status: FactStatus::Active,
            replaced_by: None,
        }
    }

    /// Whether plans have to respect it.
    pub fn is_active(&self) -> bool {
        self.status == FactStatus::Active
    }
}

/// Where a fact was said.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(tag = "source", content = "of", rename_all = "snake_case")]
pub enum FactSource {
    Goal,
    /// The answer to a question, by the key of the question.
    Answer(String),
    ChangeRequest,
    /// A comment on a node.
    Comment(TaskId),
    /// A change of the plan by hand.
    Edit,
    /// A file of the workspace, with its lines: `src/main.rs:3-9`.
    Workspace(String),
    Calendar,
    /// Another plan, by its session.
    Plan(String),
}

impl FactSource {
    /// Where it was said, in a word or two.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Answer(_) => "answer",
            Self::ChangeRequest => "change request",
            Self::Comment(_) => "comment",
            Self::Edit => "edit",
            Self::Workspace(_) => "file",
            Self::Calendar => "calendar",
            Self::Plan(_) => "other plan",
        }
    }
}

/// Whether a fact still applies.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FactStatus {
    #[default]
    Active,
    Withdrawn,
}

/// What a reading is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "subject", content = "value", rename_all = "snake_case")]
pub enum FactSubject {
    /// The plan, or the one thing that it is about: the wedding, the race.
    Plan,
    Node(TaskId),
    /// A node by the words that were used for it.
    Words(String),
}

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "unit", content = "amount", rename_all = "snake_case")]
pub enum FactLength {
    /// Work.
    Minutes(u32),
    /// From the first to the last day.
    Days(u32),
}

/// Days of the week, and the hours of them, at which work may happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FactWorkingTime {
    /// Empty means every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Weekday>,
    /// None means the whole day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<LocalTimeInterval>,
}

impl FactWorkingTime {
    /// Whether a block of one day, in local time, lies within it.
    pub fn covers(&self, day: Date, start: Time, end: Time) -> bool {
        let on_day = self.days.is_empty() || self.days.contains(&Weekday::from_date(day));
        let in_hours = self.hours.is_none_or(|hours| {
            let open_end = hours.end == Time::midnight();
            start >= hours.start && (open_end || (end != Time::midnight() && end <= hours.end))
        });
        on_day && in_hours
    }
}

/// What a fact means to the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "reading", content = "value", rename_all = "snake_case")]
pub enum FactReading {
    /// All work ends on this day at the latest.
    Deadline {
        on: Date,
    },
    /// No work happens before this day.
    Start {
        on: Date,
    },
    FixedDate {
        subject: FactSubject,
        on: Date,
    },
    Window {
        subject: FactSubject,
        from: Date,
        to: Date,
    },
    /// Nobody named is the person.
    Absence {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        from: Date,
        to: Date,
    },
    /// Nobody named is the person.
    Capacity {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        weekly_minutes: u32,
    },
    /// Days of the week on which somebody never works. Nobody named is the person.
    WeekdaysOff {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        days: Vec<Weekday>,
    },
    /// The most that the person does on a day.
    DailyCapacity {
        minutes: u32,
    },
    /// Days and hours at which somebody works. Nobody named is the person.
    WorkingTimes {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        times: Vec<FactWorkingTime>,
    },
    Person {
        name: String,
        /// What they do, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    Budget {
        /// What it is for; none is the whole plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<FactSubject>,
        /// In whole units of the currency.
        amount: u64,
        /// Three capital letters, if one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        currency: Option<String>,
    },
    Duration {
        subject: FactSubject,
        length: FactLength,
    },
    Order {
        first: FactSubject,
        then: FactSubject,
    },
    Count {
        /// Singular, in lower case.
        noun: String,
        amount: u32,
    },
    Place {
        name: String,
    },
    /// The thing itself takes this many days: an offsite of three days, a trip of two weeks.
    EventDays {
        days: u32,
    },
}

impl FactReading {
    /// Whether a later statement of this reading takes the place of another: a plan has one deadline, one number of
    /// guests, one length of a task, but any number of absences and people.
    pub fn replaces(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Deadline { .. }, Self::Deadline { .. })
            | (Self::Start { .. }, Self::Start { .. })
            | (Self::DailyCapacity { .. }, Self::DailyCapacity { .. })
            | (Self::Place { .. }, Self::Place { .. })
            | (Self::EventDays { .. }, Self::EventDays { .. }) => true,
            (Self::Capacity { person: a, .. }, Self::Capacity { person: b, .. })
            | (Self::WeekdaysOff { person: a, .. }, Self::WeekdaysOff { person: b, .. })
            | (Self::WorkingTimes { person: a, .. }, Self::WorkingTimes { person: b, .. }) => {
                a == b
            }
            (Self::Count { noun: a, .. }, Self::Count { noun: b, .. }) => a == b,
            (Self::Budget { subject: a, .. }, Self::Budget { subject: b, .. }) => a == b,
            // A deadline ends a span of weeks, and a span of weeks ends a deadline.
            (Self::Deadline { .. }, Self::Duration { subject, length: FactLength::Days(_) })
            | (Self::Duration { subject, length: FactLength::Days(_) }, Self::Deadline { .. }) => {
                *subject == FactSubject::Plan
            }
            (Self::Duration { subject: a, .. }, Self::Duration { subject: b, .. }) => a == b,
            _ => match (self.dated_subject(), other.dated_subject()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// What a date or window is about.
    fn dated_subject(&self) -> Option<&FactSubject> {
        match self {
            Self::FixedDate { subject, .. } | Self::Window { subject, .. } => Some(subject),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};

    #[test]
    fn a_fact_round_trips() {
        let fact = Fact {
            id: 3,
            source: FactSource::Answer("weekly_minutes".into()),
            text: "weekends only".into(),
            part_of: Some(2),
            reading: Some(FactReading::WorkingTimes {
                person: None,
                times: vec![FactWorkingTime {
                    days: vec![Weekday::Sat, Weekday::Sun],
                    hours: Some(LocalTimeInterval::new(time(9, 0, 0, 0), Time::midnight())),
                }],
            }),
            status: FactStatus::Withdrawn,
            replaced_by: Some(5),
        };
        let json = serde_json::to_string(&fact).unwrap();
        assert_eq!(serde_json::from_str::<Fact>(&json).unwrap(), fact, "{json}");
        let small = r#"{"id":1,"source":{"source":"goal"},"text":"move house"}"#;
        let read = serde_json::from_str::<Fact>(small).unwrap();
        assert!(read.is_active() && read.reading.is_none(), "{read:?}");
    }

    #[test]
    fn working_times_cover_blocks_within_them() {
        let evenings = FactWorkingTime {
            days: Vec::new(),
            hours: Some(LocalTimeInterval::new(time(17, 0, 0, 0), Time::midnight())),
        };
        let day = date(2026, 11, 17);
        assert!(evenings.covers(day, time(18, 0, 0, 0), time(19, 0, 0, 0)));
        assert!(evenings.covers(day, time(23, 0, 0, 0), Time::midnight()));
        assert!(!evenings.covers(day, time(16, 30, 0, 0), time(18, 0, 0, 0)));
        let saturdays = FactWorkingTime { days: vec![Weekday::Sat], hours: None };
        assert!(!saturdays.covers(day, time(9, 0, 0, 0), time(10, 0, 0, 0)));
    }

    #[test]
    fn what_is_said_later_replaces_what_can_only_be_true_once() {
        let deadline = FactReading::Deadline { on: date(2027, 6, 1) };
        let weeks =
            FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(42) };
        assert!(deadline.replaces(&weeks) && weeks.replaces(&deadline));
        let guests = |amount| FactReading::Count { noun: "guest".into(), amount };
        assert!(guests(60).replaces(&guests(80)));
        assert!(!guests(60).replaces(&FactReading::Count { noun: "table".into(), amount: 8 }));
        let away =
            FactReading::Absence { person: None, from: date(2027, 1, 1), to: date(2027, 1, 2) };
        assert!(!away.replaces(&away.clone()));
        let on = |subject| FactReading::FixedDate { subject, on: date(2027, 6, 12) };
        let window = FactReading::Window {
            subject: FactSubject::Plan,
            from: date(2027, 3, 1),
            to: date(2027, 3, 31),
        };
        assert!(on(FactSubject::Plan).replaces(&window));
        assert!(!on(FactSubject::Words("rehearsal".into())).replaces(&window));
    }
}
