//! Lengths of time that a goal states: the weeks of the plan, or the days of the thing itself.
//!
//! "in 6 weeks" limits the plan. "to Japan for three weeks" says how long the trip is, and "after 10 years as a nurse"
//! what has passed.

use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::amount::{self, ArticlePolicy, TimeUnit, UnitAmount};
use super::words::GoalWords;
use super::{Goal, GoalPhrase, GoalPhraseKind, MAX_WEEKS};

/// Words of traveling: a length of time beside them is that of the stay.
const TRAVEL: [&str; 24] = [
    "trip",
    "travel",
    "traveling",
    "travelling",
    "vacation",
    "holiday",
    "holidays",
    "honeymoon",
    "backpacking",
    "backpack",
    "cruise",
    "safari",
    "camping",
    "getaway",
    "tour",
    "roadtrip",
    "visit",
    "visiting",
    "fly",
    "hike",
    "hiking",
    "trek",
    "spend",
    "stay",
];
/// Journeys by their names: a length of time in the same goal is theirs.
const JOURNEYS: [&str; 14] = [
    "trip",
    "vacation",
    "holiday",
    "holidays",
    "honeymoon",
    "backpacking",
    "cruise",
    "safari",
    "camping",
    "getaway",
    "tour",
    "roadtrip",
    "staycation",
    "pilgrimage",
];
/// Things that last for days: a length of time beside them is theirs.
const LASTING: [&str; 12] = [
    "conference",
    "workshop",
    "festival",
    "retreat",
    "offsite",
    "camp",
    "hackathon",
    "convention",
    "summit",
    "fair",
    "exhibition",
    "tournament",
];
/// Words of having somebody or something with oneself for a while.
const HOSTING: [&str; 14] = [
    "host",
    "hosting",
    "guests",
    "guest",
    "visitors",
    "visiting",
    "student",
    "sitting",
    "house-sit",
    "housesit",
    "housesitting",
    "sitter",
    "au-pair",
    "staying",
];
/// What the time of a plan is filled with: "for three months of training".
const OWN_WORK: [&str; 8] =
    ["training", "practice", "learning", "study", "work", "preparation", "lessons", "exercise"];
/// Verbs of whoever holds a course for others.
const GIVING: [&str; 8] = ["teach", "run", "give", "offer", "lead", "hold", "organize", "organise"];
const COURSES: [&str; 6] = ["class", "classes", "course", "courses", "program", "series"];
/// Nouns after a length of time that have it as their own: "a 30-year mortgage".
const OWN_LENGTH: [&str; 16] = [
    "mortgage",
    "loan",
    "lease",
    "contract",
    "warranty",
    "guarantee",
    "anniversary",
    "visa",
    "degree",
    "deal",
    "fixed",
    "subscription",
    "membership",
    "notice",
    "experience",
    "gap",
];
/// Words before "for 10 years" that say that they have passed.
const PERFECT: [&str; 8] = ["been", "have", "has", "had", "worked", "lived", "i've", "we've"];

impl Goal {
    /// Reads how long the thing itself lasts.
    pub(super) fn read_event_days(&mut self, words: &mut GoalWords<'_>) {
        let Some((days, range)) = self.find_event_days(words) else {
            self.read_nights(words);
            return;
        };
        self.event_days = Some(days);
        self.phrases.push(GoalPhrase::new(GoalPhraseKind::Stay, words, range.clone()));
        // "a 3-day offsite" keeps its name.
        if !words.typed_text(range.clone()).contains('-') || days % 7 == 0 {
            words.mark_used(range);
        }
    }

    /// "2 nights" are three days, and so is a long weekend.
    fn read_nights(&mut self, words: &GoalWords<'_>) {
        let long = (0..words.len()).any(|index| {
            words.contains_word(index..index + 1, &["long"])
                && words.contains_word(index + 1..index + 2, &["weekend"])
        });
        if long && self.event_days.is_none() {
            self.event_days = Some(3);
        }
        let nights = self.counts.iter().find(|count| count.noun == "night");
        let nights = nights.map(|count| count.amount).filter(|nights| (1..=60).contains(nights));
        if self.event_days.is_none() {
            self.event_days = nights.and_then(|nights| u16::try_from(nights + 1).ok());
        }
    }

    fn find_event_days(&self, words: &GoalWords<'_>) -> Option<(u16, Range<usize>)> {
        let all = 0..words.len();
        let travels = words.contains_word(all.clone(), &TRAVEL)
            || (self.quantities.place.is_some()
                && words.contains_word(all.clone(), &["go", "going"]));
        let lasts = words.contains_word(all.clone(), &LASTING)
            || words.contains_word(all.clone(), &HOSTING);
        all.into_iter().find_map(|index| {
            let led = words.is_any_of(index, &["for"]);
            let step = usize::from(led || words.is_any_of(index, &["in"]));
            let at = words.skip_fillers(index + step, &["about", "around"]);
            let article = if led || travels || self.quantities.place.is_some() {
                ArticlePolicy::CountsAsOne
            } else {
                ArticlePolicy::Ignored
            };
            let found = amount::parse_amount(words, at, article)?;
            let joined = words.typed_text(at..found.end).contains('-');
            let days = days_of(found)?;
            let dated = self.day.is_some() && found.unit == TimeUnit::Day;
            // "hike it in 7 days in May".
            let inside = words.is_any_of(index, &["in"])
                && found.unit == TimeUnit::Day
                && matches!(self.day, Some(super::GoalDay::Within { .. }));
            let own = inside
                || (step == 0 && self.is_bare_stay(words, found, (travels, lasts)))
                || (joined && found.unit == TimeUnit::Day)
                || (led && (travels || lasts || dated))
                || (joined && (travels || lasts))
                || self.stays_at(words, found.end)
                // "a week of skiing in Austria".
                || (words.is_any_of(found.end, &["of"]) && self.quantities.place.is_some());
            (own && !is_within_time(words, index)).then_some((days, index..found.end))
        })
    }

    /// Returns whether a length without a word before it is that of the thing itself: "a vacation, 2 weeks in July".
    fn is_bare_stay(
        &self,
        words: &GoalWords<'_>,
        found: UnitAmount,
        (travels, lasts): (bool, bool),
    ) -> bool {
        let all = 0..words.len();
        let away = travels
            && (self.quantities.place.is_some() || words.contains_word(all.clone(), &JOURNEYS))
            && !words.contains_word(all, &["train", "training", "prepare", "fit"]);
        let relative = words.is_any_of(found.end, &["before", "after", "earlier", "later", "of"]);
        !relative && (away || (lasts && found.unit == TimeUnit::Day && found.count <= 14.0))
    }

    /// Returns whether the place of the goal follows: "two weeks in Italy".
    fn stays_at(&self, words: &GoalWords<'_>, index: usize) -> bool {
        let Some(place) = &self.quantities.place else { return false };
        let word = words.get(index).filter(|word| word.used && word.text == "in");
        let next = words.get(index + 1).map(|word| word.text.as_str());
        word.is_some() && next.is_some_and(|next| place.to_lowercase().starts_with(next))
    }

    /// Reads the weeks that the plan has.
    pub(super) fn read_horizon(&mut self, words: &mut GoalWords<'_>, today: Date) {
        for index in 0..words.len() {
            if let Some(range) = relative_time(words, index) {
                // When that is, only the person knows.
                self.unread.push(words.unread_words(range.clone()));
                words.mark_used(range);
                continue;
            }
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
            let in_days = found.unit == TimeUnit::Day && self.last_day().is_none();
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
}

/// Finds "six weeks after surgery", "two months before the wedding": a time that counts from something whose day is
/// not known.
fn relative_time(words: &GoalWords<'_>, index: usize) -> Option<Range<usize>> {
    let found = amount::parse_amount(words, index, ArticlePolicy::CountsAsOne)?;
    found.unit.in_weeks()?;
    let from = words.skip_fillers(found.end + 1, &["my", "the", "our", "a", "an", "his", "her"]);
    let known = words.text_at(from);
    // "the beta three weeks before": before what, the goal has said elsewhere.
    let closes = words.is_any_of(found.end, &["before", "earlier", "beforehand", "prior"])
        && words.clause_starts_at(found.end + 1);
    if closes {
        return Some(index..found.end + 1);
    }
    let relates = words.is_any_of(found.end, &["after", "before"])
        && !known.is_empty()
        && !words.clause_starts_at(from)
        && !matches!(known, "now" | "today" | "that");
    // "before" with a date has been read; what is left of it names a thing.
    relates.then_some(index..from + 1)
}

/// Returns whether "in" or another word of the plan's own time stands before a length.
fn is_within_time(words: &GoalWords<'_>, index: usize) -> bool {
    index > 0 && words.is_any_of(index - 1, &["in", "within", "over", "during", "next", "the"])
}

fn days_of(found: UnitAmount) -> Option<u16> {
    let days = found.unit.in_weeks()? * 7.0 * found.count;
    (1.0..=366.0).contains(&days).then_some(days.round() as u16)
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
    } else if index > 0 && words.is_any_of(index - 1, &["in", "for", "over", "within", "during"]) {
        // It was looked at with the word before it.
        return None;
    } else {
        amount::parse_amount(words, index, ArticlePolicy::Ignored)?
    };
    if is_other_length(words, index, found.end) {
        return None;
    }
    // "do 30 days of yoga".
    let days = found.unit == TimeUnit::Day && found.count >= 7.0;
    let long = found.unit.in_weeks().is_some_and(|weeks| weeks >= 1.0)
        || (days && words.is_any_of(found.end, &["of"]));
    (long || (led && found.unit == TimeUnit::Day)).then_some((index, found))
}

/// Returns whether a length of time has passed, or belongs to something else than the plan.
fn is_other_length(words: &GoalWords<'_>, start: usize, end: usize) -> bool {
    let passed =
        start > 0 && words.is_any_of(start - 1, &["after", "since", "last", "past", "every"]);
    // "photos of 10 years" are as old as that.
    let age = start > 1
        && words.is_any_of(start - 1, &["of"])
        && words.is_any_of(end - 1, &["years", "year"]);
    let perfect = words.is_any_of(start, &["for", "over"])
        && words.contains_word(words.clause_start(start)..start, &PERFECT);
    let of = words.skip_fillers(end, &["of"]);
    // "teach a six-week evening class" prepares a class that takes six weeks.
    let given = words.contains_word(0..1, &GIVING) && words.contains_word(end..end + 3, &COURSES);
    // "class reunion 20 years": the years that have passed.
    let counted = start > 0 && words.is_any_of(start - 1, &["reunion", "anniversary", "jubilee"]);
    // "3 years of check-in data" are as long as the data.
    let done = words.contains_word(0..1, &["do", "try", "complete", "start", "take"]);
    let of_thing = words.is_any_of(end, &["of"])
        && !done
        && !words.clause_starts_at(end + 1)
        && !words.contains_word(end + 1..end + 4, &OWN_WORK);
    counted
        || given
        || of_thing
        || age
        || passed
        || perfect
        || words.is_any_of(end, &["as"])
        || words.is_any_of(of, &OWN_LENGTH)
}
