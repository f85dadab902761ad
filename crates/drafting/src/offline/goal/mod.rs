//! The goal parser: extracts deadline, horizon, hours, cadence, subject and direction from one sentence.
//!
//! It accepts any text in any script, never fails and never reads a clock; what it could not use is reported in
//! [`Goal::notes`]. Sizing and the questions handle missing facts.

mod absences;
mod amount;
mod cadence;
mod counts;
mod date_spans;
mod dates;
mod given;
mod phrases;
mod quantities;
mod region;
mod start;
mod subject;
#[cfg(test)]
mod tests;
mod words;
mod working_times;

use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};

pub use cadence::{CadencePeriod, GoalCadence, PerPeriod};
pub use counts::GoalCount;
pub use phrases::{GoalPhrase, GoalPhraseKind};
pub use quantities::{GoalMoney, GoalPeople, GoalQuantities};
pub use region::{CalendarHemisphere, CalendarRegion};
pub use subject::GoalSubject;

use planwright_model::pattern::is_valid_subtype_name;
use planwright_text::dates::format_date;

use amount::{ArticlePolicy, UnitAmount};
use cadence::GoalTimeBudget;
use dates::{DateContext, DateDoubt, DateReading};
use phrases::read_phrases;
use words::GoalWords;

use crate::working_slots::WorkingSlot;

/// The maximum number of characters of a goal that are parsed.
pub const MAX_CHARS: usize = 2000;
/// The longest supported horizon: ten years.
pub const MAX_WEEKS: u16 = 520;
const MINUTES_PER_WEEK: f64 = 7.0 * 24.0 * 60.0;
const MINUTES_PER_DAY: f64 = 24.0 * 60.0;

/// The facts that a goal states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// As typed, trimmed.
    pub text: String,
    /// The day on which it was read; "tomorrow" counts from it.
    pub read_on: Date,
    /// The last day of the work: "by", "until", "due", "before".
    pub deadline: Option<Date>,
    /// The day or window on which the thing itself happens: "on 2027-06-12", "next Saturday", "in March".
    pub day: Option<GoalDay>,
    /// How many days the thing itself takes: "a 3-day offsite".
    pub event_days: Option<u16>,
    pub horizon_weeks: Option<u16>,
    /// Hours per week that the person states, in minutes.
    pub weekly_minutes: Option<u32>,
    /// The length of one occurrence, if the goal states it.
    pub occurrence_minutes: Option<u32>,
    pub cadence: Option<GoalCadence>,
    pub per_period: Option<PerPeriod>,
    pub at_local: Option<Time>,
    /// The first day, if the goal states one.
    pub start: Option<Date>,
    /// Days on which nobody works, first and last.
    pub absences: Vec<(Date, Date)>,
    /// The only times of the week at which work may happen; empty if the goal names none.
    pub working_times: Vec<WorkingSlot>,
    pub quantities: GoalQuantities,
    /// Everything that is counted, people included.
    pub counts: Vec<GoalCount>,
    /// Nouns of what exists already and need not be planned: "we have a venue".
    pub given: Vec<String>,
    /// What a season of the goal was taken to mean.
    pub season: Option<&'static str>,
    /// Dates that may be meant otherwise, and how they were read: "\"next Saturday\" is Sat 21 Nov".
    pub assumed_dates: Vec<String>,
    /// Dates that do not exist or have passed, with the reason; they are asked about.
    pub unusable_dates: Vec<String>,
    pub subject: GoalSubject,
    pub from: Option<String>,
    pub to: Option<String>,
    /// The name after `proposed:` if the goal names a subtype of its own.
    pub proposed: Option<String>,
    /// Parts of the goal that could not be used, and what to write instead.
    pub notes: Vec<String>,
    words: Vec<String>,
    phrases: Vec<GoalPhrase>,
    /// Runs of words that no reader and no part of the plan uses.
    unread: Vec<Vec<UnreadWord>>,
}

/// The day or window on which the thing that a goal is about happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalDay {
    On(Date),
    Within { from: Date, to: Date },
}

impl GoalDay {
    /// Returns the day, or the last day of the window.
    pub fn last_day(self) -> Date {
        match self {
            Self::On(day) | Self::Within { to: day, .. } => day,
        }
    }
}

/// A word of the goal that was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadWord {
    /// In lower case.
    pub text: String,
    /// Where it stands in [`Goal::text`].
    pub span: Range<usize>,
}

/// The parser's inputs besides the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoalParseContext {
    pub date: Date,
    /// Working days in a week, for "an hour a day".
    pub working_days: u16,
    /// Where the person lives, for seasons and holidays.
    pub region: CalendarRegion,
}

impl GoalParseContext {
    /// A day in the north.
    pub const fn new(date: Date, working_days: u16) -> Self {
        Self { date, working_days, region: CalendarRegion::NORTHERN }
    }

    /// The same for another part of the world.
    pub fn in_region(self, region: CalendarRegion) -> Self {
        Self { region, ..self }
    }
}

impl Goal {
    /// Parses a goal.
    pub fn parse(text: &str, today: GoalParseContext) -> Self {
        let text = text.trim();
        let mut goal = Self::empty(text, today.date);
        let read = match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => {
                goal.notes.push(format!(
                    "only the first {MAX_CHARS} characters of the goal were read; shorten it"
                ));
                &text[..end]
            }
            None => text,
        };
        let mut words = GoalWords::new(read);
        goal.words = words.iter().map(|word| word.text.clone()).collect();
        goal.read_proposed(&mut words);
        let at = DateContext { today: today.date, region: today.region };
        goal.read_direction(&mut words);
        goal.note(&mut words, GoalPhraseKind::Start, |goal, words| {
            goal.start = start::find_start(words, today.date);
        });
        goal.read_absences(&mut words, at);
        goal.note(&mut words, GoalPhraseKind::WorkingTimes, |goal, words| {
            goal.working_times = working_times::find_working_times(words);
        });
        goal.note(&mut words, GoalPhraseKind::Given, |goal, words| {
            goal.given = given::find_given(words);
        });
        goal.read_quantities(&mut words);
        goal.read_cadence(&mut words, today.working_days);
        goal.read_dates(&mut words, at);
        goal.event_days = find_event_days(&words);
        goal.read_horizon(&mut words, today.date);
        goal.note(&mut words, GoalPhraseKind::Occurrence, Self::read_occurrence);
        goal.phrases.sort_by_key(|phrase| phrase.span.start);
        let (subject, range) = subject::find_subject(&words, goal.from.as_deref());
        goal.subject = subject;
        words.mark_used(range);
        goal.unread = words.unused_runs();
        goal
    }

    /// Returns the last day that the goal allows: the deadline, or the day of the thing itself.
    pub fn last_day(&self) -> Option<Date> {
        self.deadline.or(self.day.map(GoalDay::last_day))
    }

    /// Returns the phrases that were read, in the order of the goal.
    pub fn phrases(&self) -> &[GoalPhrase] {
        &self.phrases
    }

    /// Returns runs of words that no reader and no part of the plan uses.
    pub fn unread_runs(&self) -> &[Vec<UnreadWord>] {
        &self.unread
    }

    fn empty(text: &str, read_on: Date) -> Self {
        Self {
            text: text.to_owned(),
            read_on,
            deadline: None,
            day: None,
            event_days: None,
            horizon_weeks: None,
            weekly_minutes: None,
            occurrence_minutes: None,
            cadence: None,
            per_period: None,
            at_local: None,
            start: None,
            absences: Vec::new(),
            working_times: Vec::new(),
            quantities: GoalQuantities::default(),
            counts: Vec::new(),
            given: Vec::new(),
            season: None,
            assumed_dates: Vec::new(),
            unusable_dates: Vec::new(),
            subject: GoalSubject::default(),
            from: None,
            to: None,
            proposed: None,
            notes: Vec::new(),
            words: Vec::new(),
            phrases: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Returns the words in lower case, in their order.
    pub fn folded_words(&self) -> &[String] {
        &self.words
    }

    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Returns whether `phrase` (folded words separated by single spaces) occurs in the goal.
    pub fn contains_phrase(&self, phrase: &str) -> bool {
        let parts: Vec<&str> = phrase.split(' ').collect();
        self.words
            .windows(parts.len())
            .any(|window| window.iter().zip(&parts).all(|(word, part)| word == part))
    }

    /// Returns whether one of the words occurs, unchanged or with a plural or "-ing" ending.
    pub fn contains_any(&self, any: &[&str]) -> bool {
        any.iter().any(|phrase| {
            if phrase.contains(' ') {
                return self.contains_phrase(phrase);
            }
            self.words.iter().any(|word| matches_cue(word, phrase))
        })
    }

    fn read_proposed(&mut self, words: &mut GoalWords<'_>) {
        for index in 0..words.len() {
            let Some(name) = words.text_at(index).strip_prefix("proposed:").map(str::to_owned)
            else {
                continue;
            };
            words.mark_used(index..index + 1);
            if is_valid_subtype_name(&name) {
                self.words.extend(name.split('_').map(str::to_owned));
                self.cadence = self.cadence.take().or_else(|| {
                    cadence::find_cadence(&mut GoalWords::new(&name.replace('_', " ")))
                });
                self.proposed = Some(name);
            } else {
                self.notes.push(format!(
                    "\"proposed:{name}\" is not a subtype name; use 3 to 40 of a-z, 0-9 and _, letter first"
                ));
            }
            return;
        }
    }

    /// Runs a reader and keeps the phrases that it used.
    fn note<'w>(
        &mut self,
        words: &mut GoalWords<'w>,
        kind: GoalPhraseKind,
        read: impl FnOnce(&mut Self, &mut GoalWords<'w>),
    ) {
        let ((), found) = read_phrases(words, kind, |words| read(self, words));
        self.phrases.extend(found);
    }

    fn read_absences(&mut self, words: &mut GoalWords<'_>, at: DateContext) {
        let (days, found) = read_phrases(words, GoalPhraseKind::Absence(0), |words| {
            absences::find_absences(words, at)
        });
        let numbered = found
            .into_iter()
            .zip(0..)
            .map(|(phrase, place)| GoalPhrase { kind: GoalPhraseKind::Absence(place), ..phrase });
        // Two absences side by side are one phrase; the first stands for both.
        self.phrases.extend(numbered.take(days.len()));
        self.absences = days;
    }

    fn read_quantities(&mut self, words: &mut GoalWords<'_>) {
        for (place, (count, range)) in counts::find_counts(words).into_iter().enumerate() {
            self.phrases.push(GoalPhrase::new(GoalPhraseKind::Count(place), words, range));
            self.counts.push(count);
        }
        let (quantities, found) = quantities::find_quantities(words);
        self.quantities = quantities;
        self.phrases.extend(found);
    }

    fn read_direction(&mut self, words: &mut GoalWords<'_>) {
        if let Some(found) = subject::find_direction(words) {
            let phrase = GoalPhrase::new(GoalPhraseKind::Direction, words, found.range.clone());
            self.phrases.push(phrase);
            words.mark_used(found.range);
            self.from = Some(found.from);
            self.to = Some(found.to);
        }
    }

    fn read_cadence(&mut self, words: &mut GoalWords<'_>, working_days: u16) {
        let (budget, found) = read_phrases(words, GoalPhraseKind::WeeklyHours, |words| {
            cadence::find_budget(words, working_days)
        });
        let kind = match budget {
            Some(GoalTimeBudget::Occurrence { .. }) => GoalPhraseKind::Rhythm,
            _ => GoalPhraseKind::WeeklyHours,
        };
        self.phrases.extend(found.into_iter().map(|phrase| GoalPhrase { kind, ..phrase }));
        match budget {
            Some(GoalTimeBudget::Weekly(minutes)) => {
                self.weekly_minutes = self.check_minutes(minutes, MINUTES_PER_WEEK, "a week");
            }
            Some(GoalTimeBudget::Occurrence { minutes, every }) => {
                self.occurrence_minutes = self.check_minutes(minutes, MINUTES_PER_DAY, "a day");
                self.cadence = Some(GoalCadence::once_per(every));
            }
            None => {}
        }
        self.note(words, GoalPhraseKind::Rhythm, |goal, words| {
            goal.per_period = cadence::find_per_period(words);
            let found = cadence::find_cadence(words);
            goal.cadence = goal.cadence.take().or(found);
        });
        self.note(words, GoalPhraseKind::TimeOfDay, |goal, words| {
            goal.at_local = cadence::find_time_of_day(words);
        });
    }

    /// Returns a possible number of minutes; zero and impossible amounts are reported and ignored.
    fn check_minutes(&mut self, minutes: f64, most: f64, of: &str) -> Option<u32> {
        if minutes < 1.0 {
            self.notes.push(format!("no time at all {of} is not a budget; it was left out, say how many minutes there are"));
            return None;
        }
        if minutes > most {
            self.notes.push(format!(
                "{:.0} hours {of} are more than there are; left out, say how many you have",
                minutes / 60.0
            ));
            return None;
        }
        Some(minutes.round() as u32)
    }

    /// Reads the first deadline and the first day of the thing itself; later dates stay unread.
    fn read_dates(&mut self, words: &mut GoalWords<'_>, at: DateContext) {
        for index in 0..words.len() {
            let Some((trigger, found)) = date_phrase_at(words, index, at) else { continue };
            let is_day = trigger == DateTrigger::Day;
            if (is_day && self.day.is_some()) || (!is_day && self.deadline.is_some()) {
                continue;
            }
            let typed = words.typed_text(index..found.end).to_owned();
            words.mark_used(index..found.end);
            let (from, to) = match found.reading {
                DateReading::Impossible(why) => {
                    self.refuse_date(format!("{why}; no date was taken from it"));
                    continue;
                }
                DateReading::Day(date) => (date, trigger.last_day(date)),
                DateReading::Span { from, to } => (from, to),
            };
            if !self.is_plannable(to, at.today, &typed) {
                continue;
            }
            let kind = if is_day { GoalPhraseKind::Day } else { GoalPhraseKind::Deadline };
            self.phrases.push(GoalPhrase::new(kind, words, index..found.end));
            match (is_day, from == to) {
                (true, true) => self.day = Some(GoalDay::On(to)),
                (true, false) => self.day = Some(GoalDay::Within { from, to }),
                (false, _) => self.deadline = Some(to),
            }
            match found.doubt {
                Some(DateDoubt::Season) => self.season = Some(at.region.season_words()),
                Some(DateDoubt::NextWeekday) => {
                    let day = format_date(to, at.today);
                    self.assumed_dates.push(format!("\"{typed}\" is {day}"));
                }
                None => {}
            }
        }
    }

    fn refuse_date(&mut self, why: String) {
        self.unusable_dates.push(why.clone());
        self.notes.push(why);
    }

    /// Returns whether a date can be planned for; one that has passed or is too far away is reported.
    fn is_plannable(&mut self, date: Date, today: Date, typed: &str) -> bool {
        if date < today {
            let day = format_date(date, today);
            self.refuse_date(format!(
                "\"{typed}\" is {day}, which has passed; no date was taken, name a later day"
            ));
            return false;
        }
        let weeks = today.until(date).map_or(i32::MAX, |span| span.get_days() / 7);
        if weeks > i32::from(MAX_WEEKS) {
            self.refuse_date(format!("\"{typed}\" is more than ten years away; no date was taken, plan a nearer part first"));
            return false;
        }
        true
    }

    fn read_horizon(&mut self, words: &mut GoalWords<'_>, today: Date) {
        for index in 0..words.len() {
            let Some((start, found)) = horizon_at(words, index) else { continue };
            let Some(weeks) = found.unit.in_weeks().map(|unit| unit * found.count) else {
                continue;
            };
            words.mark_used(start..found.end);
            if weeks <= 0.0 {
                self.notes.push(
                    "a horizon of nothing was left out; say how many weeks there are".to_owned(),
                );
                continue;
            }
            let in_days = found.unit == amount::TimeUnit::Day && self.last_day().is_none();
            let kind = if in_days { GoalPhraseKind::Deadline } else { GoalPhraseKind::Span };
            self.phrases.push(GoalPhrase::new(kind, words, start..found.end));
            if in_days {
                let days = found.count.min(f64::from(MAX_WEEKS) * 7.0).ceil() as i32;
                self.deadline = today.checked_add(days.days()).ok();
            }
            if weeks > f64::from(MAX_WEEKS) {
                self.notes.push(format!(
                    "{weeks:.0} weeks are more than ten years; {MAX_WEEKS} weeks were taken"
                ));
            }
            self.horizon_weeks = Some(weeks.round().clamp(1.0, f64::from(MAX_WEEKS)) as u16);
            return;
        }
    }

    /// "for 20 minutes", "a 90-minute workshop": minutes that are not followed by a period.
    fn read_occurrence(&mut self, words: &mut GoalWords<'_>) {
        for index in 0..words.len() {
            let Some(found) = amount::parse_amount(words, index, ArticlePolicy::Ignored) else {
                continue;
            };
            let Some(minutes) = found.unit.in_minutes().map(|unit| unit * found.count) else {
                continue;
            };
            let start = index - usize::from(index > 0 && words.is_any_of(index - 1, &["for"]));
            words.mark_used(start..found.end);
            if self.occurrence_minutes.is_none() {
                self.occurrence_minutes = self.check_minutes(minutes, MINUTES_PER_DAY, "at a time");
            }
        }
    }
}

/// The word that introduces a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateTrigger {
    /// The end of the work; the day itself is included.
    By,
    /// The end of the work; the day itself is excluded.
    Before,
    /// The day on which the thing itself happens.
    Day,
}

impl DateTrigger {
    fn last_day(self, date: Date) -> Date {
        match self {
            Self::By | Self::Day => date,
            Self::Before => date.checked_sub(1.day()).unwrap_or(date),
        }
    }
}

fn date_phrase_at(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<(DateTrigger, dates::DateMatch)> {
    let (trigger, next) = match words.text_at(index) {
        "by" | "until" | "till" | "deadline" => (DateTrigger::By, index + 1),
        "due" => (DateTrigger::By, words.skip_fillers(index + 1, &["by", "on"])),
        "before" => (DateTrigger::Before, index + 1),
        "no" if words.phrase_starts_at(index, "no later than") => (DateTrigger::By, index + 3),
        _ => {
            let bare = dates::bare_date(words, index, at)?;
            let trigger = if bare.is_end { DateTrigger::By } else { DateTrigger::Day };
            return Some((trigger, bare.found));
        }
    };
    Some((trigger, dates::parse_date_at(words, next, at)?))
}

/// Finds "3-day" before the thing itself. The words stay part of its name.
fn find_event_days(words: &GoalWords<'_>) -> Option<u16> {
    (0..words.len()).find_map(|index| {
        let found = amount::parse_amount(words, index, ArticlePolicy::Ignored)?;
        let joined = words.typed_text(index..found.end).contains('-');
        let days = found.unit == amount::TimeUnit::Day && joined;
        (days && (1.0..=366.0).contains(&found.count)).then_some(found.count.round() as u16)
    })
}

/// Parses an amount of days, weeks, months or years with the word before it, or a bare number of weeks or months.
fn horizon_at(words: &GoalWords<'_>, index: usize) -> Option<(usize, UnitAmount)> {
    let led = words.is_any_of(index, &["in", "for", "over", "within", "during", "next"]);
    let found = if led {
        let at = words.skip_fillers(
            index + 1,
            &["the", "next", "coming", "about", "around", "less", "than", "under"],
        );
        amount::parse_amount(words, at, ArticlePolicy::CountsAsOne)?
    } else {
        amount::parse_amount(words, index, ArticlePolicy::Ignored)?
    };
    let long = found.unit.in_weeks().is_some_and(|weeks| weeks >= 1.0);
    (long || (led && found.unit == amount::TimeUnit::Day)).then_some((index, found))
}

pub(super) fn matches_cue(word: &str, cue: &str) -> bool {
    if word == cue {
        return true;
    }
    if cue.len() < 4 {
        return word.strip_suffix('s') == Some(cue);
    }
    let stem = cue.strip_suffix('e').unwrap_or(cue);
    match word.strip_prefix(stem) {
        Some(tail) if stem == cue => matches!(tail, "s" | "es" | "ing"),
        Some(tail) => matches!(tail, "es" | "ing"),
        None => false,
    }
}
