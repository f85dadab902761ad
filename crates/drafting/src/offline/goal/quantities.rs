//! Quantities that a goal states beside its time: how many people, how much money, and where.

use std::fmt;
use std::ops::Range;

use super::amount::{TimeUnit, parse_number};
use super::cadence::CadencePeriod;
use super::dates;
use super::phrases::{GoalPhrase, GoalPhraseKind, read_phrases};
use super::places;
use super::words::GoalWords;
use planwright_text::units;

/// People, money and place of a goal. They are kept with the plan; the built-in planner sizes nothing by them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalQuantities {
    pub people: Option<GoalPeople>,
    pub money: Option<GoalMoney>,
    pub place: Option<String>,
}

/// A number of people, with the noun that the goal uses for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalPeople {
    /// How many groups of people it sums up.
    pub parts: u32,
    pub count: u32,
    pub noun: String,
}

impl fmt::Display for GoalPeople {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", units::format_count(self.count.into()), self.noun)
    }
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalMoney {
    pub amount: u64,
    /// As the goal writes it: "$", "euros"; empty if it names none.
    pub currency: String,
    /// Whether the goal calls it a budget.
    pub is_budget: bool,
    /// Whether it is the most that may be spent, rather than an amount to reach.
    pub is_limit: bool,
    /// Whether it is an amount of every period: "500 a month".
    pub every: Option<CadencePeriod>,
}

impl fmt::Display for GoalMoney {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_budget {
            f.write_str("budget ")?;
        }
        let amount = units::format_count(self.amount);
        match self.currency.as_str() {
            "" => f.write_str(&amount),
            sign if sign.chars().all(char::is_alphabetic) => write!(f, "{amount} {sign}"),
            sign => write!(f, "{sign}{amount}"),
        }?;
        self.every.map_or(Ok(()), |every| write!(f, " a {}", every.name()))
    }
}

/// Finds people, money and place with the phrases that state money and place, and marks the words as read. People are
/// among the counts.
pub(super) fn find_quantities(words: &mut GoalWords<'_>) -> (GoalQuantities, Vec<GoalPhrase>) {
    let money = find_money(words);
    let mut phrases: Vec<GoalPhrase> = money
        .iter()
        .map(|(_, range)| GoalPhrase::new(GoalPhraseKind::Money, words, range.clone()))
        .collect();
    let people = find_people(words);
    let (place, places) = read_phrases(words, GoalPhraseKind::Place, places::find_place);
    phrases.extend(places);
    (GoalQuantities { people, money: money.map(|(money, _)| money), place }, phrases)
}

const PEOPLE: [&str; 34] = [
    "people",
    "persons",
    "guests",
    "participants",
    "attendees",
    "visitors",
    "friends",
    "colleagues",
    "kids",
    "children",
    "students",
    "players",
    "coworkers",
    "employees",
    "relatives",
    "adults",
    "cousins",
    "neighbors",
    "neighbours",
    "classmates",
    "teammates",
    "teenagers",
    "teens",
    "toddlers",
    "babies",
    "seniors",
    "grandchildren",
    "women",
    "men",
    "girls",
    "boys",
    "travelers",
    "travellers",
    "parents",
];

/// "for 40 people", "80 guests", "a 40-person offsite", "our team of 8".
fn find_people(words: &mut GoalWords<'_>) -> Option<GoalPeople> {
    for index in 0..words.len() {
        let Some((people, range)) = people_at(words, index) else { continue };
        words.mark_used(range);
        return Some(people);
    }
    None
}

fn people_at(words: &GoalWords<'_>, index: usize) -> Option<(GoalPeople, Range<usize>)> {
    let text = words.text_at(index);
    let whole = |number: f64| (1.0..=1e6).contains(&number).then_some(number as u32);
    if let Some(count) = text.strip_suffix("-person").or_else(|| text.strip_suffix("-people")) {
        let count = whole(parse_number(count)?)?;
        return Some((GoalPeople { parts: 1, count, noun: "people".to_owned() }, index..index + 1));
    }
    if super::counts::GROUPS.contains(&text) && words.is_any_of(index + 1, &["of"]) {
        let count = whole(parse_number(words.text_at(index + 2))?)?;
        let start = led_start(words, index, &["our", "my", "a", "the"]);
        return Some((
            GoalPeople { parts: 1, count, noun: format!("people in the {text}") },
            start..index + 3,
        ));
    }
    let count = whole(parse_number(text)?)?;
    if words.phrase_starts_at(index + 1, "of us") && count > 1 {
        let people = GoalPeople { parts: 1, count, noun: "people".to_owned() };
        return Some((people, index..index + 3));
    }
    if let Some(start) = super::counts::bare_people(words, index) {
        return Some((GoalPeople { parts: 1, count, noun: "people".to_owned() }, start..index + 1));
    }
    let place = super::counts::counted_noun(words, index + 1)?;
    let noun = words.text_at(place);
    let noun = PEOPLE.iter().find(|known| **known == noun)?;
    let start = led_start(words, index, &["about", "around", "up", "to"]);
    let one = GoalPeople { parts: 1, count, noun: (*noun).to_owned() };
    let (people, end) = add_people(words, one, place + 1);
    Some((people, start..end))
}

/// Adds people that are counted apart: "two adults and three kids" are five people.
fn add_people(words: &GoalWords<'_>, first: GoalPeople, end: usize) -> (GoalPeople, usize) {
    let (mut sum, mut end) = (first, end);
    loop {
        let joined = words.is_any_of(end, &["and", "plus"]);
        let next = words.skip_fillers(end, &["and", "plus"]);
        // "20 guests, 8 kids": the kids are among them.
        let total = ["people", "persons", "guests"].contains(&sum.noun.as_str());
        let listed = joined || (words.clause_starts_at(next) && !total);
        let more = parse_number(words.text_at(next))
            .filter(|count| listed && (1.0..=1e4).contains(count))
            .and_then(|count| Some((count as u32, person_noun(words, next + 1)?)));
        let Some((count, after)) = more else { return (sum, end) };
        let (parts, count) = (sum.parts + 1, sum.count.saturating_add(count));
        sum = GoalPeople { parts, count, noun: "people".to_owned() };
        end = after;
    }
}

/// Returns whether a noun in the singular is one for people.
pub(super) fn is_people_noun(noun: &str) -> bool {
    PEOPLE.iter().any(|known| super::counts::to_singular(known) == noun)
}

/// Returns where a noun for people ends, of one or of many.
fn person_noun(words: &GoalWords<'_>, index: usize) -> Option<usize> {
    let singular = ["kid", "child", "adult", "baby", "toddler", "teenager", "friend", "person"];
    if words.is_any_of(index, &singular) {
        return Some(index + 1);
    }
    let place = super::counts::counted_noun(words, index)?;
    PEOPLE.contains(&words.text_at(place)).then_some(place + 1)
}

/// Returns where a phrase starts with the fillers and the "for" or "with" before it.
fn led_start(words: &GoalWords<'_>, index: usize, fillers: &[&str]) -> usize {
    let mut start = index;
    while start > 0 && words.is_any_of(start - 1, fillers) {
        start -= 1;
    }
    if start > 0 && words.is_any_of(start - 1, &["for", "with"]) { start - 1 } else { index }
}

/// Names of currencies, how they are shown, and their codes.
const CURRENCIES: [(&str, &str, &str); 15] = [
    ("euro", "euros", "EUR"),
    ("euros", "euros", "EUR"),
    ("eur", "euros", "EUR"),
    ("dollar", "dollars", "USD"),
    ("dollars", "dollars", "USD"),
    ("usd", "dollars", "USD"),
    ("bucks", "dollars", "USD"),
    ("pounds", "pounds", "GBP"),
    ("gbp", "pounds", "GBP"),
    ("francs", "francs", "CHF"),
    ("chf", "francs", "CHF"),
    ("yen", "yen", "JPY"),
    ("jpy", "yen", "JPY"),
    ("kronor", "kronor", "SEK"),
    ("rupees", "rupees", "INR"),
];
const SIGNS: [(char, &str); 4] = [('$', "USD"), ('€', "EUR"), ('£', "GBP"), ('¥', "JPY")];

/// Returns whether a word names a currency.
pub(super) fn is_currency(text: &str) -> bool {
    CURRENCIES.iter().any(|(name, ..)| *name == text)
}

/// Returns whether a character is the sign of a currency.
pub(super) fn is_currency_sign(sign: char) -> bool {
    SIGNS.iter().any(|(known, _)| *known == sign)
}

impl GoalMoney {
    /// Returns the code of the currency, if one was named.
    pub fn currency_code(&self) -> Option<&'static str> {
        let sign = self.currency.chars().next();
        let by_sign = SIGNS.iter().find(|(known, _)| Some(*known) == sign).map(|(_, code)| *code);
        let named = CURRENCIES.iter().find(|(_, shown, _)| *shown == self.currency);
        by_sign.or_else(|| named.map(|(.., code)| *code))
    }
}

/// "budget 20k", "a budget of 20,000 euros", "8000 euros", "$500", "under 10,000", "a round of 1.5M".
fn find_money(words: &mut GoalWords<'_>) -> Option<(GoalMoney, Range<usize>)> {
    for index in 0..words.len() {
        let Some((money, range)) = money_at(words, index) else { continue };
        // Money that the goal is about ("save 5000 euros") stays part of its subject.
        let beside = money.is_limit
            || money.every.is_some()
            || words
                .is_any_of(range.start.wrapping_sub(1), &["need", "needs", "have", "got", "costs"])
            || words.clause_starts_at(range.start)
            || words.is_any_of(range.start, &["for", "with", "under", "below", "on"]);
        if beside {
            words.mark_used(range.clone());
        }
        return Some((money, range));
    }
    None
}

/// Words before an amount that make it the most that may be spent.
const LIMITS: [&str; 9] =
    ["under", "below", "most", "maximum", "max", "exceeding", "cap", "within", "than"];
/// Words before an amount with a "k" or "M" that make it money, not a distance.
const PAID: [&str; 20] = [
    "of", "raise", "save", "earn", "spend", "invest", "borrow", "budget", "worth", "about",
    "least", "for", "make", "lend", "need", "needs", "have", "got", "collect", "costs",
];

/// Words beside which "10k" is no money.
const DISTANCES: [&str; 14] = [
    "run",
    "running",
    "race",
    "train",
    "training",
    "jog",
    "jogging",
    "marathon",
    "swim",
    "ride",
    "cycling",
    "followers",
    "subscribers",
    "users",
];

fn money_at(words: &GoalWords<'_>, index: usize) -> Option<(GoalMoney, Range<usize>)> {
    if dates::is_in_calendar_date(words, index) {
        return None;
    }
    let (amount, mut end) = parse_money_amount(words, index)?;
    let is_sign = |sign: &char| is_currency_sign(*sign);
    let before = words.char_before(index).filter(is_sign);
    let after = words.char_after(end - 1).filter(is_sign);
    let named = |place: usize| {
        CURRENCIES.iter().find(|(name, ..)| *name == words.text_at(place)).map(|found| found.1)
    };
    let code_before = index.checked_sub(1).and_then(named);
    let mut start = index - usize::from(code_before.is_some());
    let currency = match (before.or(after), named(end), code_before) {
        (Some(sign), ..) => sign.to_string(),
        (None, Some(name), _) => {
            end += 1;
            name.to_owned()
        }
        (None, None, Some(name)) => name.to_owned(),
        (None, None, None) => String::new(),
    };
    let mut limited = false;
    let fillers = ["of", "is", "about", "around", "at", "a", "no", "more", "less", "up", "to"];
    let first = start;
    while start > 0 && (words.is_any_of(start - 1, &fillers) || words.is_any_of(start - 1, &LIMITS))
    {
        limited |=
            words.is_any_of(start - 1, &LIMITS) || words.phrase_starts_at(start - 1, "up to");
        start -= 1;
    }
    let mut is_budget = false;
    if start > 0 && words.is_any_of(start - 1, &["budget"]) {
        (start, is_budget) = (start - 1, true);
    } else if words.is_any_of(end, &["budget"]) && !words.clause_starts_at(end) {
        (end, is_budget) = (end + 1, true);
    }
    let every = period_after(words, end);
    end += every.map_or(0, |(_, count)| count);
    let large =
        words.text_at(index).ends_with(['k', 'm']) || words.contains_word(index..end, &LARGE);
    // "10k" is a distance beside a run, and never an amount by itself there.
    let apart = index > 0
        && words.clause_starts_at(index)
        && !words.contains_word(0..words.len(), &DISTANCES);
    let paid = large
        && ends_phrase(words, end)
        && (apart || (index > 0 && words.is_any_of(index - 1, &PAID)) || every.is_some());
    let bare_limit = limited && amount >= 100 && ends_phrase(words, end);
    if currency.is_empty() && !is_budget && !paid && !bare_limit {
        return None;
    }
    if !is_budget && !limited {
        start = first;
        while start > 0 && words.is_any_of(start - 1, &["about", "around", "roughly", "approx"]) {
            start -= 1;
        }
    }
    while start > 0
        && words.is_any_of(
            start - 1,
            &["a", "my", "our", "the", "with", "for", "and", "currently", "now"],
        )
    {
        start -= 1;
    }
    // An amount that is a clause of its own says what may be spent: "renovate the bathroom, 8000 euros".
    let own_clause = start > 0 && words.clause_starts_at(start) && words.clause_starts_at(end);
    // What is paid every month limits no plan.
    let is_limit = (is_budget || limited || own_clause) && every.is_none();
    let every = every.map(|(period, _)| period);
    Some((GoalMoney { amount, currency, is_budget, is_limit, every }, start..end))
}

/// Parses "a month", "per year", "monthly" after an amount; returns how many words that are.
fn period_after(words: &GoalWords<'_>, index: usize) -> Option<(CadencePeriod, usize)> {
    match words.text_at(index) {
        "monthly" => return Some((CadencePeriod::Month, 1)),
        "yearly" | "annually" => return Some((CadencePeriod::Year, 1)),
        "weekly" => return Some((CadencePeriod::Week, 1)),
        "a" | "an" | "per" | "each" | "every" => {}
        _ => return None,
    }
    let unit = TimeUnit::from_name(words.text_at(index + 1))?;
    CadencePeriod::from_unit(unit).map(|period| (period, 2))
}

/// Returns whether a phrase ends at `index`, so that the number before it counts no noun.
fn ends_phrase(words: &GoalWords<'_>, index: usize) -> bool {
    let ends = [
        "by", "in", "and", "with", "before", "until", "this", "next", "for", "on", "from", "to",
        "or", "at", "within", "over",
    ];
    words.clause_starts_at(index) || words.is_any_of(index, &ends)
}

/// Words after a number that multiply it.
const LARGE: [&str; 3] = ["thousand", "million", "mio"];

/// Parses "8000", "20k", "1.5m", "20,000", "1.5 million"; returns the index after it.
fn parse_money_amount(words: &GoalWords<'_>, index: usize) -> Option<(u64, usize)> {
    let text = words.text_at(index);
    let (digits, mut times) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('m').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut amount = digits.parse::<f64>().ok()?;
    let mut end = index + 1;
    // "20,000" is two words with a comma between them.
    while times < 2.0 && words.char_after(end - 1) == Some(',') {
        let group = words.text_at(end);
        if group.len() != 3 || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        amount = amount * 1000.0 + group.parse::<f64>().ok()?;
        end += 1;
    }
    if words.is_any_of(end, &LARGE) {
        times = if words.is_any_of(end, &["thousand"]) { 1e3 } else { 1e6 };
        end += 1;
    }
    amount *= times;
    (1.0..1e12).contains(&amount).then_some((amount.round() as u64, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<String>, Option<String>, Option<String>) {
        let (found, _) = find_quantities(&mut GoalWords::new(text));
        (
            found.people.map(|people| people.to_string()),
            found.money.map(|money| money.to_string()),
            found.place,
        )
    }

    #[test]
    fn people_money_and_place_are_read() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            read(
                "organize a 3-day offsite in Lisbon in March for 40 people, budget 20k, like last year"
            ),
            (some("40 people"), some("budget 20,000"), some("Lisbon"))
        );
        assert_eq!(read("renovate the bathroom, 8000 euros"), (None, some("8,000 euros"), None));
        assert_eq!(read("a trip with a budget of $1,500"), (None, some("budget $1,500"), None));
        assert_eq!(
            read("a 40-person party in New York"),
            (some("40 people"), None, some("New York"))
        );
        assert_eq!(read("onboarding for our team of 8").0, some("8 people in the team"));
        assert_eq!(read("save 5000€ by June").1, some("€5,000"));
        assert_eq!(read("buy a used car under 10,000").1, some("10,000"));
        assert_eq!(read("raise a seed round of 1.5M").1, some("1,500,000"));
        assert_eq!(
            read("a trip to Japan for at most $3,000"),
            (None, some("$3,000"), some("Japan"))
        );
        assert_eq!(read("raise 2 million dollars").1, some("2,000,000 dollars"));
        assert_eq!(read("buy a sofa for EUR 900").1, some("900 euros"));
        for goal in [
            "a party on May 8, budget 3500",
            "a party on 8 May, 3500 budget",
            "a party on 2027-05-08 budget 3500",
            "a party for 40 people, budget 3500",
        ] {
            assert_eq!(read(goal).1, some("budget 3,500"), "{goal}");
        }
        assert_eq!(read("a party on May 8, 2000 euros").1, some("2,000 euros"));
        assert_eq!(read("a party on May 8, $2000").1, some("$2,000"));
    }

    #[test]
    fn other_numbers_and_names_are_left_alone() {
        assert_eq!(read("learn Rust in 6 weeks, 5 hours a week"), (None, None, None));
        assert_eq!(read("rewrite the parser in Rust"), (None, None, None));
        assert_eq!(read("offsite in March"), (None, None, None));
        assert_eq!(read("lose 5 kg by summer"), (None, None, None));
        assert_eq!(read("train for my first 10k in 12 weeks"), (None, None, None));
        assert_eq!(read("migrate under 500 servers"), (None, None, None));
    }

    #[test]
    fn a_limit_is_told_from_an_amount_to_reach() {
        let limit = |text: &str| {
            let (found, phrases) = find_quantities(&mut GoalWords::new(text));
            let money = found.money.unwrap();
            let typed = phrases.into_iter().find(|phrase| phrase.kind == GoalPhraseKind::Money);
            (money.is_limit, money.currency_code(), typed.unwrap().text)
        };
        assert_eq!(
            limit("renovate the bathroom, 8000 euros"),
            (true, Some("EUR"), "8000 euros".to_owned())
        );
        assert_eq!(limit("save $5,000 by June"), (false, Some("USD"), "$5,000".to_owned()));
        assert_eq!(
            limit("offsite with a budget of 20k"),
            (true, None, "with a budget of 20k".to_owned())
        );
        assert!(!limit("raise a seed round of 1.5M").0);
    }
}
