//! What the built-in planner reads from a goal, in words, for the goal box, plain mode and cards.
//!
//! A phrase is listed as read only if the planner uses it or keeps it with the plan; every other phrase worth naming is
//! listed as not read. Cheap enough for every key press: one pass over the words, templates are parsed once.

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::change_requests::DayPart;
use crate::offline::blueprint::Blueprint;
use crate::offline::goal::{Goal, GoalCount, GoalDay, GoalParseContext, is_measure};
use crate::offline::{
    KindVerdict, SubtypeProposals, counts_noun, select_kind, side_remarks, two_halves,
};
use crate::working_slots::{day_name, describe_slots, join_words};
use planwright_model::FactReading;
use planwright_text::dates::{format_date, format_date_range};
use planwright_text::units;

/// What was read from a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalReading {
    /// The kind of plan with its article ("a wedding"), if the planner is sure of it.
    pub kind: Option<String>,
    /// Phrases that the plan uses or keeps, such as "6 weeks, until Tue 29 Dec".
    pub read: Vec<String>,
    /// Remarks that stand in the step that they concern, as typed.
    pub noted: Vec<String>,
    /// Phrases that nothing uses, as typed; they stay in the goal as a note.
    pub not_read: Vec<String>,
    /// Sentences about what could not be used: an impossible date, a language that is not read.
    pub notes: Vec<String>,
}

impl GoalReading {
    /// Returns whether there is anything to show.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what was read, what was not, and what could not be used, each with its label; notes have none.
    pub fn labeled_lines(&self) -> Vec<(&'static str, String)> {
        let read: Vec<&str> = self.kind.iter().chain(&self.read).map(String::as_str).collect();
        let mut lines = Vec::new();
        if !read.is_empty() {
            lines.push(("Read", read.join(" · ")));
        }
        let quote = |list: &[String]| {
            list.iter().map(|words| format!("\"{words}\"")).collect::<Vec<String>>().join(", ")
        };
        if !self.noted.is_empty() {
            lines.push(("Noted", format!("{}, in the step it concerns", quote(&self.noted))));
        }
        if !self.not_read.is_empty() {
            let stays = if self.not_read.len() == 1 { "stays" } else { "stay" };
            let words = quote(&self.not_read);
            lines.push(("Not read", format!("{words} {stays} in the goal as a note")));
        }
        lines.extend(self.notes.iter().map(|note| ("", note.clone())));
        lines
    }
}

use crate::kind_words::BUILT_IN as LIBRARY;

/// Reads a goal as of today.
pub fn read_goal(text: &str, today: Date) -> GoalReading {
    let goal = Goal::parse(text, GoalParseContext::new(today, 5));
    if goal.word_count() == 0 {
        return GoalReading::default();
    }
    let pick = select_kind(&goal, &LIBRARY, SubtypeProposals::Off);
    let sure = pick.best().filter(|_| pick.verdict == KindVerdict::Sure);
    let file = sure.and_then(|best| two_halves::find_blueprint(&best.pattern, &goal, &LIBRARY));
    let file = file.as_deref();
    let mut notes = goal.notes.clone();
    notes.extend(unread_language(&goal));
    let noted = file.map(|file| side_remarks::find_remarks(&goal, file)).unwrap_or_default();
    let left = goal.unread_runs().iter().filter_map(|run| side_remarks::leftover(&goal, run, file));
    let not_read = left
        .filter(|words| !noted.contains(words))
        .chain(unused_counts(&goal, today, file, &noted))
        .collect();
    let kind = sure.map(super::offline::kind::KindCandidate::label);
    GoalReading { kind, read: read_phrases(&goal, today, file), noted, not_read, notes }
}

fn read_phrases(goal: &Goal, today: Date, file: Option<&Blueprint>) -> Vec<String> {
    let mut read = Vec::new();
    read.extend(goal.start.map(|day| match day {
        day if day == today => "starts today".to_owned(),
        day => format!("starts {}", format_date(day, today)),
    }));
    read.extend(span_phrases(goal, today));
    let minutes = |minutes: u32| units::format_planned(minutes.into());
    let daily = goal.occurrence_minutes.filter(|_| goal.is_daily);
    read.extend(match daily {
        Some(each) => Some(format!("{} a day", minutes(each))),
        None => goal.weekly_minutes.map(|weekly| format!("{} a week", minutes(weekly))),
    });
    read.extend(rhythm_phrase(goal));
    read.extend(goal.occurrence_minutes.filter(|_| !goal.is_daily).map(
        |each| match goal.cadence {
            Some(_) => format!("{} each time", minutes(each)),
            None => minutes(each),
        },
    ));
    if !goal.working_times.is_empty() {
        read.push(describe_slots(&goal.working_times));
    }
    if !goal.weekdays_off.is_empty() {
        let days: Vec<String> =
            goal.weekdays_off.iter().map(|day| format!("{}s", day_name(*day))).collect();
        read.push(format!("not on {}", join_words(&days)));
    }
    if let (Some(from), Some(to)) = (&goal.from, &goal.to) {
        read.push(format!("from {from} to {to}"));
    }
    for (from, to) in &goal.absences {
        read.push(format!("no work {}", format_date_range(*from, *to, today)));
    }
    read.extend(goal.quantities.place.clone());
    read.extend(goal.quantities.people.as_ref().map(ToString::to_string));
    read.extend(counted_phrases(goal, today, |count| is_used_count(goal, file, count)));
    if !goal.companions.is_empty() {
        read.push(format!("with {}", join_words(&goal.companions)));
    }
    read.extend(goal.quantities.money.as_ref().map(ToString::to_string));
    read.extend(goal.target.clone());
    read.extend(goal.given.iter().map(|noun| format!("{noun} is there already")));
    read
}

/// Whether a number that the goal states is used: the kind counts it, or it is part of the name of the thing. Before
/// the kind is known, it may be.
fn is_used_count(goal: &Goal, file: Option<&Blueprint>, count: &GoalCount) -> bool {
    let named = [count.amount.to_string(), units::format_count(count.amount.into())];
    let in_name = named.iter().any(|number| goal.subject.name.contains(number));
    let nights = count.noun == "night" && goal.event_days.is_some();
    in_name
        || nights
        || is_measure(&count.noun)
        || file.is_none_or(|file| counts_noun(file, &count.noun))
}

/// The numbers of the goal that the kind does nothing with, unless a step takes them in.
fn unused_counts(
    goal: &Goal,
    today: Date,
    file: Option<&Blueprint>,
    noted: &[String],
) -> Vec<String> {
    let said =
        |count: &GoalCount| noted.iter().any(|words| side_remarks::names_count(words, count));
    counted_phrases(goal, today, |count| !is_used_count(goal, file, count) && !said(count))
}

/// What is counted besides the people, unless the goal names it once for all: "one".
fn counted_phrases(goal: &Goal, today: Date, fits: impl Fn(&GoalCount) -> bool) -> Vec<String> {
    let people = goal.quantities.people.as_ref().map(|people| people.count);
    let said = |count: &&GoalCount| count.amount > 1 && people != Some(count.amount) && fits(count);
    let words = |count: &GoalCount| {
        FactReading::Count { noun: count.noun.clone(), amount: count.amount }.describe(today)
    };
    goal.counts.iter().filter(said).map(words).collect()
}

/// The day of the thing itself, or the time that the plan has. A horizon starts with the first day of the plan, which
/// is tomorrow unless the goal states another.
fn span_phrases(goal: &Goal, today: Date) -> Vec<String> {
    let mut phrases: Vec<String> =
        goal.day.map(|day| day_phrase(goal, day, today)).into_iter().collect();
    if let Some(days) = goal.event_days.filter(|_| goal.day.is_none()) {
        phrases.push(format_days(days));
    }
    let time = goal.due_time.map(|time| time.strftime(" %H:%M").to_string()).unwrap_or_default();
    phrases.extend(goal.deadline.map(|deadline| match deadline {
        day if day == today => format!("until today{time}"),
        day => format!("until {}{time}", format_date(day, today)),
    }));
    let Some(weeks) = goal.horizon_weeks.filter(|_| goal.last_day().is_none()) else {
        return phrases;
    };
    let start = goal.start.or_else(|| today.tomorrow().ok());
    let last = start.and_then(|start| start.checked_add((i64::from(weeks) * 7 - 1).days()).ok());
    let span = units::format_counted(weeks.into(), "week");
    phrases.extend(last.map(|last| format!("{span}, until {}", format_date(last, today))));
    phrases
}

/// `on Sat 12 Jun 2027`, `3 days in March 2027`, `Sat 21 – Sun 22 Nov`.
fn day_phrase(goal: &Goal, day: GoalDay, today: Date) -> String {
    let length = goal.event_days.map(|days| format!("{} ", format_days(days)));
    let length = length.unwrap_or_default();
    let part = match goal.day_part {
        Some(DayPart::Morning) => ", in the morning",
        Some(DayPart::Afternoon) => ", in the afternoon",
        Some(DayPart::Evening) => ", in the evening",
        None => "",
    };
    match day {
        GoalDay::On(day) if day == today => format!("{length}today{part}"),
        GoalDay::On(day) => format!("{length}on {}{part}", format_date(day, today)),
        GoalDay::Within { from, to } if is_whole_month(from, to) => {
            format!("{length}in {}", from.strftime("%B %Y"))
        }
        GoalDay::Within { from, to } => format!("{length}{}", format_date_range(from, to, today)),
    }
}

fn format_days(days: u16) -> String {
    match days {
        7.. if days.is_multiple_of(7) => units::format_counted(usize::from(days / 7), "week"),
        _ => units::format_counted(days.into(), "day"),
    }
}

fn is_whole_month(from: Date, to: Date) -> bool {
    from.day() == 1 && to == from.last_of_month()
}

fn rhythm_phrase(goal: &Goal) -> Option<String> {
    let at = goal.at_local.map(|time| format!("at {}", time.strftime("%H:%M")));
    let rhythm = goal.cadence.as_ref().map(crate::offline::goal::GoalCadence::describe);
    let made = goal
        .per_period
        .as_ref()
        .filter(|found| found.made || (goal.cadence.is_none() && found.count > 1))
        .map(|found| format!("{} {} {}", found.count, found.noun, found.period.describe()));
    match (made.or(rhythm), at) {
        (Some(rhythm), Some(at)) => Some(format!("{rhythm} {at}")),
        (rhythm, at) => rhythm.or(at),
    }
}

/// A language or script that is not read, in a sentence.
fn unread_language(goal: &Goal) -> Option<String> {
    let language = script_name(&goal.text).or_else(|| stop_word_language(goal))?;
    Some(format!(
        "This looks like {language}. Without a model only English is read; dates and numbers still are"
    ))
}

/// The script of most letters, if it is not the Latin one.
fn script_name(text: &str) -> Option<&'static str> {
    let mut counts = [
        ("Japanese", 0),
        ("Chinese", 0),
        ("Korean", 0),
        ("Russian", 0),
        ("Greek", 0),
        ("Arabic", 0),
        ("Hebrew", 0),
        ("Hindi", 0),
    ];
    let mut letters = 0;
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        letters += 1;
        let place = match letter as u32 {
            0x3040..=0x30FF => 0,
            0x4E00..=0x9FFF => 1,
            0xAC00..=0xD7AF => 2,
            0x0400..=0x04FF => 3,
            0x0370..=0x03FF => 4,
            0x0600..=0x06FF => 5,
            0x0590..=0x05FF => 6,
            0x0900..=0x097F => 7,
            _ => continue,
        };
        counts[place].1 += 1;
    }
    // Japanese mixes its own letters with Chinese ones.
    if counts[0].1 > 0 {
        counts[0].1 += counts[1].1;
    }
    let (name, most) =
        counts.into_iter().max_by_key(|(name, count)| (*count, *name == "Japanese"))?;
    (most * 2 > letters).then_some(name)
}

/// The language of two or more short words that English does not have.
fn stop_word_language(goal: &Goal) -> Option<&'static str> {
    const WORDS: [(&str, &[&str]); 5] = [
        (
            "German",
            &[
                "und",
                "der",
                "die",
                "das",
                "den",
                "dem",
                "neu",
                "machen",
                "ein",
                "eine",
                "einen",
                "für",
                "bis",
                "nach",
                "mit",
                "ich",
                "mein",
                "meine",
                "zu",
                "zum",
                "im",
                "wochen",
                "woche",
                "organisieren",
                "planen",
                "lernen",
                "kaufen",
                "schreiben",
                "bauen",
                "finden",
                "vorbereiten",
                "umziehen",
                "renovieren",
                "hochzeit",
                "wohnung",
                "haus",
                "am",
            ],
        ),
        (
            "French",
            &[
                "le",
                "les",
                "une",
                "pour",
                "avec",
                "dans",
                "je",
                "mon",
                "ma",
                "et",
                "du",
                "jusqu",
                "semaines",
                "la",
                "apprendre",
                "organiser",
                "écrire",
                "acheter",
                "préparer",
                "trouver",
                "mariage",
                "maison",
                "à",
            ],
        ),
        (
            "Spanish",
            &[
                "el",
                "los",
                "una",
                "para",
                "con",
                "mi",
                "hasta",
                "y",
                "del",
                "semanas",
                "quiero",
                "en",
                "la",
                "aprender",
                "organizar",
                "escribir",
                "comprar",
                "preparar",
                "encontrar",
                "boda",
                "casa",
            ],
        ),
        (
            "Italian",
            &[
                "il",
                "gli",
                "una",
                "per",
                "con",
                "mio",
                "mia",
                "entro",
                "della",
                "settimane",
                "voglio",
                "di",
                "la",
                "imparare",
                "organizzare",
                "scrivere",
                "comprare",
                "preparare",
                "trovare",
                "matrimonio",
                "casa",
            ],
        ),
        (
            "Portuguese",
            &[
                "um", "uma", "para", "com", "meu", "minha", "até", "do", "da", "semanas", "quero",
                "em",
            ],
        ),
    ];
    let count = |list: &[&str]| list.iter().filter(|word| goal.contains_phrase(word)).count();
    let english = count(&["the", "a", "my", "for", "with", "by", "of", "and", "i", "to", "our"]);
    let (name, found) =
        WORDS.iter().map(|(name, list)| (*name, count(list))).max_by_key(|(_, found)| *found)?;
    (found >= 2 && found > english).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    /// 2026-11-17 is a Tuesday.
    fn read(text: &str) -> GoalReading {
        read_goal(text, date(2026, 11, 17))
    }

    #[track_caller]
    fn expect(text: &str, kind: &str, phrases: &[&str], left: &[&str]) {
        let found = read(text);
        assert_eq!(found.kind.as_deref().unwrap_or_default(), kind, "{text}");
        assert_eq!(found.read, phrases, "{text}");
        let unread: Vec<&String> = found.noted.iter().chain(&found.not_read).collect();
        assert_eq!(unread, left, "{text}");
    }

    #[test]
    fn the_goal_of_the_box_is_read() {
        expect(
            "organize a 3-day offsite in Lisbon in March for 40 people, budget 20k, like last year",
            "a team offsite or retreat",
            &["3 days in March 2027", "Lisbon", "40 people", "budget 20,000"],
            &["like last year"],
        );
        expect(
            "launch a newsletter in 6 weeks, evenings and Saturdays",
            "the launch of a newsletter",
            &["6 weeks, until Tue 29 Dec", "evenings and Saturdays"],
            &[],
        );
        expect("learn Rust, 5 hours a week", "learning to program", &["5 h a week"], &[]);
    }

    #[test]
    fn words_on_time_that_used_to_be_ignored_are_read() {
        expect("lose 5 kg by summer", "losing weight", &["until Mon 31 May 2027", "5 kg"], &[]);
        expect(
            "finish the report tomorrow",
            "a document to finish in a day",
            &["on Wed 18 Nov"],
            &[],
        );
        expect("tidy the hangar next Saturday", "", &["on Sat 21 Nov"], &[]);
        expect(
            "hire two backend engineers this quarter",
            "a search for new employees",
            &["Tue 17 Nov – Thu 31 Dec", "2 engineers"],
            &[],
        );
        expect("learn piano, weekends only", "learning an instrument", &["weekends"], &[]);
        expect("plan the wedding by Easter", "a wedding", &["until Sun 28 Mar 2027"], &[]);
        expect("write a novel starting today", "writing a novel", &["starts today"], &[]);
    }

    #[test]
    fn what_exists_who_is_away_and_what_is_counted_are_read() {
        expect(
            "wedding on 2027-06-12 for 80 guests, we have a venue, away 3 to 10 January",
            "a wedding",
            &[
                "on Sat 12 Jun 2027",
                "no work Sun 3 – Sun 10 Jan 2027",
                "80 guests",
                "venue is there already",
            ],
            &[],
        );
        let servers = read("migrate 200 servers from Debian 11 to 12").read;
        assert_eq!(servers, ["from Debian 11 to Debian 12", "200 servers"]);
    }

    #[test]
    fn a_goal_that_fits_no_kind_has_none() {
        assert_eq!(read("be better").kind, None);
        assert_eq!(read("polish the zorbulator in the hangar").kind, None);
        assert_eq!(read(""), GoalReading::default());
    }

    #[test]
    fn what_nothing_uses_is_named_as_typed() {
        expect(
            "rewrite billing from PHP to Go, like last year",
            "the migration of a system to another technology",
            &["from PHP to Go"],
            &["like last year"],
        );
        let remark = "so that I can change jobs";
        assert_eq!(read(&format!("learn Rust {remark}")).noted, [remark]);
        assert_eq!(read("polish the zorbulator like last year").noted, [] as [&str; 0]);
    }

    #[test]
    fn other_languages_are_named() {
        let german = read("Umzug nach Berlin bis Ende Februar organisieren").notes;
        assert_eq!(german.len(), 1);
        assert!(german[0].starts_with("This looks like German."), "{german:?}");
        for (text, language) in [
            ("Hochzeit am 12. Juni planen", "German"),
            ("apprendre la guitare", "French"),
            ("comprar una casa", "Spanish"),
            ("imparare la chitarra", "Italian"),
            ("ギターを練習する", "Japanese"),
        ] {
            let notes = read(text).notes;
            assert!(notes.first().is_some_and(|note| note.contains(language)), "{text}: {notes:?}");
        }
        for text in ["move to La Paz", "learn am radio", "buy a casa bella lamp for my house"] {
            assert!(read(text).notes.is_empty(), "{text}");
        }
        assert!(read("launch a newsletter").notes.is_empty());
    }
}
