//! The goal parser: extracts deadline, horizon, hours, cadence, subject and direction from one sentence.
//!
//! It accepts any text in any script, never fails and never reads a clock; what it could not use is reported in
//! [`Goal::notes`]. Sizing and the questions handle missing facts.

mod absences;
mod amount;
mod cadence;
mod companions;
mod counts;
mod date_spans;
mod dates;
mod day_parts;
mod described_rhythm;
mod foreign_dates;
mod given;
mod holiday_things;
mod notice_periods;
mod opening_verbs;
mod phrases;
mod places;
mod quantities;
mod region;
mod spans;
mod start;
mod stated_dates;
mod subject;
mod targets;
#[cfg(test)]
mod tests;
mod weekdays_off;
mod words;
mod working_times;

use std::ops::Range;

use jiff::civil::{Date, Time};

pub use cadence::{CadencePeriod, GoalCadence, PerPeriod, is_produced};
pub use counts::{GoalCount, is_measure};
pub use phrases::{GoalPhrase, GoalPhraseKind};
pub use quantities::{GoalMoney, GoalPeople, GoalQuantities};
pub use region::{CalendarHemisphere, CalendarRegion};
pub use subject::GoalSubject;

use planwright_model::Weekday;
use planwright_model::pattern::is_valid_subtype_name;

use amount::{ArticlePolicy, UnitAmount};
use cadence::GoalTimeBudget;
use dates::DateContext;
use phrases::read_phrases;
use start::StatedStart;
use words::GoalWords;

use crate::change_requests::DayPart;
use crate::working_slots::WorkingSlot;

/// The maximum number of characters of a goal that are parsed.
pub const MAX_CHARS: usize = 2000;
/// The longest supported horizon: ten years.
pub const MAX_WEEKS: u16 = 520;
const MINUTES_PER_WEEK: f64 = 7.0 * 24.0 * 60.0;
const MINUTES_PER_DAY: f64 = 24.0 * 60.0;
const SLEEPING: [&str; 3] = ["sleep", "sleeping", "slept"];

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
    /// Whether everything else is over before that day: "we fly on 6 February".
    pub ends_before_day: bool,
    /// The part of that day, or of the last day: "tonight", "tomorrow morning".
    pub day_part: Option<DayPart>,
    /// How many days the thing itself takes: "a 3-day offsite", "to Japan for three weeks".
    pub event_days: Option<u16>,
    pub horizon_weeks: Option<u16>,
    /// The time of the last day by which it is done: "by 5 pm".
    pub due_time: Option<Time>,
    /// Hours per week that the person states, in minutes.
    pub weekly_minutes: Option<u32>,
    /// Whether these were stated for every day: "10 minutes a day".
    pub is_daily: bool,
    /// The minutes of each day of [`Self::working_times`]: "2 hours on Saturday and Sunday".
    pub day_minutes: Option<u32>,
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
    /// Days of the week on which nobody works.
    pub weekdays_off: Vec<Weekday>,
    pub quantities: GoalQuantities,
    /// What a number is to reach, as typed: "by 30%", "from 2 days to 4 hours".
    pub target: Option<String>,
    /// Everything that is counted, people included.
    pub counts: Vec<GoalCount>,
    /// People who take part, by name or as the goal calls them: "Ben", "my sister Anna".
    pub companions: Vec<String>,
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
    /// Which of the words follow a punctuation mark.
    breaks: Vec<bool>,
    /// Where each word stands in the text.
    word_spans: Vec<Range<usize>>,
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
        goal.breaks = words.iter().map(|word| word.breaks).collect();
        goal.word_spans = words.iter().map(|word| word.span.clone()).collect();
        goal.read_proposed(&mut words);
        let at = DateContext { today: today.date, region: today.region };
        goal.note(&mut words, GoalPhraseKind::Target, |goal, words| {
            goal.target = targets::find_target(words);
        });
        goal.read_direction(&mut words);
        goal.note(&mut words, GoalPhraseKind::Start, |goal, words| {
            match start::find_start(words, at) {
                Some(StatedStart::On(day)) => goal.start = Some(day),
                Some(StatedStart::Passed { day, typed }) => {
                    let day = planwright_text::dates::format_date(day, today.date);
                    goal.notes.push(format!(
                        "\"{typed}\" is {day}, which has passed; the plan starts now, name a later day to start then"
                    ));
                }
                None => {}
            }
        });
        goal.read_companions(&mut words);
        goal.read_absences(&mut words, at);
        goal.read_notice_period(&mut words, at);
        goal.note(&mut words, GoalPhraseKind::WeekdaysOff, |goal, words| {
            goal.weekdays_off = weekdays_off::find_weekdays_off(words);
        });
        goal.read_hours_of_days(&mut words);
        goal.note(&mut words, GoalPhraseKind::WorkingTimes, |goal, words| {
            if goal.working_times.is_empty() {
                goal.working_times = working_times::find_working_times(words);
            }
        });
        goal.note(&mut words, GoalPhraseKind::Given, |goal, words| {
            goal.given = given::find_given(words, at);
        });
        goal.read_quantities(&mut words);
        goal.read_cadence(&mut words, today.working_days);
        goal.note(&mut words, GoalPhraseKind::WorkingTimes, |goal, words| {
            if goal.working_times.is_empty() && goal.is_daily {
                goal.working_times = working_times::find_daily_part(words);
            }
        });
        goal.read_dates(&mut words, at);
        goal.take_day_of_rhythm(&mut words);
        goal.read_event_days(&mut words);
        goal.read_horizon(&mut words, today.date);
        goal.note(&mut words, GoalPhraseKind::Occurrence, Self::read_occurrence);
        goal.phrases.sort_by_key(|phrase| phrase.span.start);
        let (subject, range) = subject::find_subject(&words, goal.from.as_deref());
        goal.subject = subject;
        words.mark_used(range);
        goal.list_unread(&words);
        goal
    }

    /// Lists the words that nothing uses, with the dates that were left out.
    fn list_unread(&mut self, words: &GoalWords<'_>) {
        let mut runs = words.unused_runs();
        runs.append(&mut self.unread);
        runs.sort_by_key(|run| run.first().map(|word| word.span.start));
        self.unread = runs;
    }

    /// Returns the last day that the goal allows: the deadline, or the day of the thing itself.
    pub fn last_day(&self) -> Option<Date> {
        self.deadline.or(self.day.map(GoalDay::last_day))
    }

    /// Returns the phrases that were read, in the order of the goal.
    pub fn phrases(&self) -> &[GoalPhrase] {
        &self.phrases
    }

    /// Returns whether somebody travels to the place of the goal, and does not move there.
    pub fn is_journey(&self) -> bool {
        const TRAVELING: [&str; 9] =
            ["go", "going", "fly", "flying", "take", "taking", "visit", "visiting", "travel"];
        let to = |phrase: &GoalPhrase| {
            phrase.kind == GoalPhraseKind::Place && !phrase.text.starts_with("in ")
        };
        self.phrases.iter().any(to)
            && self.words.iter().any(|word| TRAVELING.contains(&word.as_str()))
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
            ends_before_day: false,
            day_part: None,
            event_days: None,
            horizon_weeks: None,
            due_time: None,
            weekly_minutes: None,
            is_daily: false,
            day_minutes: None,
            occurrence_minutes: None,
            cadence: None,
            per_period: None,
            at_local: None,
            start: None,
            absences: Vec::new(),
            working_times: Vec::new(),
            weekdays_off: Vec::new(),
            quantities: GoalQuantities::default(),
            target: None,
            counts: Vec::new(),
            companions: Vec::new(),
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
            breaks: Vec::new(),
            word_spans: Vec::new(),
            phrases: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Returns the words in lower case, in their order.
    pub fn folded_words(&self) -> &[String] {
        &self.words
    }

    /// Returns whether the rhythm names days of the week, rather than how often.
    pub fn names_weekdays(&self) -> bool {
        let named = |word: &str| dates::parse_weekday(word).is_some();
        let rhythms = self.phrases.iter().filter(|phrase| phrase.kind == GoalPhraseKind::Rhythm);
        rhythms
            .flat_map(|phrase| phrase.text.split(|letter: char| !letter.is_alphabetic()))
            .any(|word| named(&word.to_lowercase()) || matches!(word, "weekends" | "weekdays"))
    }

    /// Returns where a word stands in the text.
    pub fn word_span(&self, place: usize) -> Option<Range<usize>> {
        self.word_spans.get(place).cloned()
    }

    /// Returns whether a word is part of a time: when, until when, how often or at which hours.
    pub fn is_time_word(&self, place: usize) -> bool {
        use GoalPhraseKind as Kind;
        let is_time = |kind: Kind| {
            matches!(
                kind,
                Kind::Deadline
                    | Kind::Day
                    | Kind::Span
                    | Kind::Start
                    | Kind::WorkingTimes
                    | Kind::WeekdaysOff
                    | Kind::Absence(_)
                    | Kind::WeeklyHours
                    | Kind::DueTime
            )
        };
        let Some(span) = self.word_spans.get(place) else { return false };
        let covers = |phrase: &GoalPhrase| {
            phrase.span.start <= span.start && span.end <= phrase.span.end && is_time(phrase.kind)
        };
        self.phrases.iter().any(covers)
    }

    /// Returns whether a clause starts at a word: at the beginning, or after a punctuation mark.
    pub fn is_clause_start(&self, place: usize) -> bool {
        place == 0 || self.breaks.get(place).is_some_and(|breaks| *breaks)
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
        let mut own_clauses = Vec::new();
        for (place, (count, range)) in counts::find_counts(words).into_iter().enumerate() {
            self.phrases.push(GoalPhrase::new(GoalPhraseKind::Count(place), words, range.clone()));
            self.counts.push(count);
            // ", 20 square meters" says how large it is, and is not its name.
            let led = range.start > 0 && words.is_any_of(range.start - 1, &["about", "around"]);
            let range = range.start - usize::from(led)..range.end;
            let apart = range.start > 0
                && words.clause_starts_at(range.start)
                && words.clause_starts_at(range.end);
            own_clauses.extend(apart.then_some(range));
        }
        let (quantities, found) = quantities::find_quantities(words);
        self.quantities = quantities;
        self.phrases.extend(found);
        self.join_people();
        for range in own_clauses {
            words.mark_used(range);
        }
    }

    /// "two adults and three kids" are counted once, as five people.
    fn join_people(&mut self) {
        let Some(people) = self.quantities.people.as_ref().filter(|people| people.parts > 1) else {
            return;
        };
        let joined = GoalCount { noun: "person".to_owned(), amount: people.count };
        let is_part = |count: &GoalCount| quantities::is_people_noun(&count.noun);
        let Some(first) = self.counts.iter().position(is_part) else { return };
        self.counts[first] = joined;
        // The others keep their places, which phrases refer to.
        for count in self.counts.iter_mut().skip(first + 1).filter(|count| is_part(count)) {
            count.amount = 1;
        }
    }

    fn read_companions(&mut self, words: &mut GoalWords<'_>) {
        self.note(words, GoalPhraseKind::Companions, |goal, words| {
            goal.companions = companions::find_companions(words);
        });
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

    /// Reads hours that are stated for certain days of every week.
    fn read_hours_of_days(&mut self, words: &mut GoalWords<'_>) {
        let Some(found) = working_times::find_timed_days(words) else { return };
        self.note(words, GoalPhraseKind::WeeklyHours, |_, words| words.mark_used(found.amount));
        self.note(words, GoalPhraseKind::WorkingTimes, |_, words| words.mark_used(found.days));
        let days: usize = found.slots.iter().map(|slot| slot.days.len()).sum();
        self.day_minutes = Some(found.minutes);
        self.weekly_minutes = Some(found.minutes * days as u32);
        self.working_times = found.slots;
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
            // Hours of certain days have been read already.
            _ if self.day_minutes.is_some() => {}
            Some(GoalTimeBudget::Weekly { minutes, each_day }) => {
                self.weekly_minutes = self.check_minutes(minutes, MINUTES_PER_WEEK, "a week");
                self.is_daily = each_day.is_some() && self.weekly_minutes.is_some();
                // A routine of every day takes them each time.
                self.occurrence_minutes =
                    each_day.filter(|_| self.is_daily).map(|minutes| minutes.round() as u32);
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
        self.note(words, GoalPhraseKind::DueTime, |goal, words| {
            goal.due_time = cadence::find_due_time(words);
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

    /// "for 20 minutes", "a 90-minute workshop": minutes that are not followed by a period.
    fn read_occurrence(&mut self, words: &mut GoalWords<'_>) {
        for index in 0..words.len() {
            // "an hour" is a length only beside a rhythm: "an hour every Sunday".
            let rhythmic = |found: &UnitAmount| words.get(found.end).is_some_and(|word| word.used);
            let found = amount::parse_amount(words, index, ArticlePolicy::Ignored).or_else(|| {
                let one = amount::parse_amount(words, index, ArticlePolicy::CountsAsOne);
                one.filter(rhythmic)
            });
            let Some(found) = found else { continue };
            let Some(minutes) = found.unit.in_minutes().map(|unit| unit * found.count) else {
                continue;
            };
            // "sleep 8 hours" is the aim and not the length of the work.
            let sleeps = words.contains_word(index.saturating_sub(1)..index, &SLEEPING)
                || words.phrase_starts_at(found.end, "of sleep");
            if sleeps {
                continue;
            }
            // "less than 5 minutes of downtime" limits something else than the work.
            if let Some(range) = limited_length(words, index, found.end) {
                self.unread.push(words.unread_words(range.clone()));
                words.mark_used(range);
                continue;
            }
            let start = index - usize::from(index > 0 && words.is_any_of(index - 1, &["for"]));
            words.mark_used(start..found.end);
            if self.occurrence_minutes.is_none() {
                self.occurrence_minutes = self.check_minutes(minutes, MINUTES_PER_DAY, "at a time");
            }
        }
    }
}

/// Returns the phrase of a length that limits something else than the work: "under 5 minutes of downtime".
fn limited_length(words: &GoalWords<'_>, index: usize, end: usize) -> Option<Range<usize>> {
    const OWN: [&str; 12] = [
        "work", "time", "practice", "training", "exercise", "reading", "writing", "walking",
        "running", "study", "studying", "effort",
    ];
    let mut start = index;
    while start > 0
        && words.is_any_of(
            start - 1,
            &["less", "than", "under", "below", "most", "more", "no", "maximum", "max", "with"],
        )
    {
        start -= 1;
    }
    let limited =
        words.contains_word(start..index, &["than", "under", "below", "most", "maximum", "max"]);
    let of = words.is_any_of(end, &["of"]) && !words.is_any_of(end + 1, &OWN);
    if !limited && !of {
        return None;
    }
    let end = if of { end + 1 + usize::from(!words.text_at(end + 1).is_empty()) } else { end };
    Some(start..end)
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
