//! Where a goal takes place or leads to: "in Lisbon", "a trip to Japan", "take the kids to Disneyland".

use std::ops::Range;

use super::words::GoalWords;
use crate::calendar_names::MONTHS;

/// Words before "to" that make the name after it a place.
const GOING: [&str; 22] = [
    "trip",
    "travel",
    "traveling",
    "travelling",
    "fly",
    "move",
    "moving",
    "relocate",
    "relocating",
    "relocation",
    "emigrate",
    "vacation",
    "holiday",
    "honeymoon",
    "getaway",
    "drive",
    "visit",
    "flight",
    "go",
    "going",
    "cruise",
    "tour",
];
/// Those of them after which even a name in small letters is a place.
const TRAVELING: [&str; 10] = [
    "trip",
    "travel",
    "fly",
    "vacation",
    "holiday",
    "honeymoon",
    "getaway",
    "flight",
    "cruise",
    "tour",
];
/// Verbs that a place follows at once: "visit Rome".
const VISITING: [&str; 4] = ["visit", "visiting", "explore", "exploring"];
/// Words of traveling after which "around" and "through" lead to a place.
const TOURING: [&str; 16] = [
    "trip",
    "travel",
    "tour",
    "roadtrip",
    "drive",
    "backpack",
    "backpacking",
    "cycle",
    "hike",
    "trek",
    "vacation",
    "holiday",
    "cruise",
    "sail",
    "interrail",
    "journey",
];
/// Names that are people.
const PEOPLE: [&str; 12] = [
    "mom", "mum", "dad", "grandma", "grandpa", "granny", "nana", "aunt", "uncle", "mother",
    "father", "santa",
];

/// Finds the place, and marks its words as read.
pub(super) fn find_place(words: &mut GoalWords<'_>) -> Option<String> {
    let found = (0..words.len()).find_map(|index| place_at(words, index));
    let Some((range, name)) = found else { return known_destination(words) };
    let typed = words.typed_text(range.start + 1..range.end);
    let name =
        if name == PlaceSpelling::Lower { capitalize_words(typed) } else { typed.to_owned() };
    words.mark_used(range);
    Some(name)
}

/// Finds a place that is part of the thing's own name, beside a word of traveling: "our Tuscany vacation", "Rome with
/// the kids". The words stay part of the subject.
fn known_destination(words: &GoalWords<'_>) -> Option<String> {
    if !words.contains_word(0..words.len(), &TOURING)
        && !words.contains_word(0..words.len(), &TRAVELING)
    {
        return None;
    }
    let place = (0..words.len()).find(|place| is_known_place(words, *place))?;
    // A language course in Italian has another word.
    Some(capitalize_words(words.typed_text(place..place + 1)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceSpelling {
    Capital,
    Lower,
}

fn place_at(words: &GoalWords<'_>, index: usize) -> Option<(Range<usize>, PlaceSpelling)> {
    let text = words.text_at(index);
    let before = |list: &[&str]| index > 0 && words.is_any_of(index - 1, list);
    let taken = text == "to"
        && words.contains_word(index.saturating_sub(5)..index, &["take", "taking", "bring"]);
    let leads = match text {
        "in" => true,
        "to" => before(&GOING) || taken,
        "around" | "through" | "across" => words.contains_word(0..words.len(), &TOURING),
        text => VISITING.contains(&text),
    };
    if !leads {
        return None;
    }
    // "in the Alps".
    if text == "in" && words.is_any_of(index + 1, &["the"]) && is_capital_name(words, index + 2) {
        return Some((index..index + 3, PlaceSpelling::Capital));
    }
    let name_end = |is_name: &dyn Fn(usize) -> bool| {
        let mut end = index + 1;
        while end < words.len() && end < index + 4 && is_name(end) {
            end += 1;
        }
        (end > index + 1).then_some(end)
    };
    let in_place = |place: usize| {
        !words.text_at(place).is_empty() && (place == index + 1 || !words.clause_starts_at(place))
    };
    let capital = |place: usize| in_place(place) && is_capital_name(words, place);
    if let Some(end) = name_end(&capital).filter(|_| !is_medium(words, index)) {
        return Some((index..end, PlaceSpelling::Capital));
    }
    let known = |place: usize| in_place(place) && is_known_place(words, place);
    let lower = (text == "in" || text == "to").then(|| name_end(&known)).flatten();
    let single = || {
        let word = words.text_at(index + 1);
        let travels = text == "to" && before(&TRAVELING) && !word.is_empty();
        let ends = words.clause_starts_at(index + 2) || words.is_any_of(index + 2, &AFTER_PLACE);
        (travels && ends && word.chars().all(char::is_alphabetic) && word.len() > 3)
            .then_some(index + 2)
    };
    lower.or_else(single).map(|end| (index..end, PlaceSpelling::Lower))
}

/// Words after the name of a place in small letters.
const AFTER_PLACE: [&str; 10] =
    ["in", "for", "with", "next", "this", "on", "by", "from", "over", "and"];

fn is_capital_name(words: &GoalWords<'_>, place: usize) -> bool {
    let typed = words.typed_text(place..place + 1);
    typed.starts_with(char::is_uppercase)
        && typed.chars().skip(1).all(|c| c.is_lowercase() || matches!(c, '-' | '\''))
        && typed.chars().count() > 2
        && !is_calendar_name(words.text_at(place))
        && !PEOPLE.contains(&words.text_at(place))
}

/// Countries and cities that people write in small letters when they are in a hurry.
const KNOWN: [&str; 84] = [
    "lisbon",
    "berlin",
    "paris",
    "london",
    "rome",
    "madrid",
    "barcelona",
    "vienna",
    "prague",
    "amsterdam",
    "dublin",
    "athens",
    "munich",
    "hamburg",
    "milan",
    "venice",
    "florence",
    "zurich",
    "geneva",
    "oslo",
    "stockholm",
    "copenhagen",
    "helsinki",
    "warsaw",
    "budapest",
    "istanbul",
    "tokyo",
    "kyoto",
    "osaka",
    "seoul",
    "beijing",
    "shanghai",
    "singapore",
    "bangkok",
    "bali",
    "dubai",
    "mumbai",
    "delhi",
    "sydney",
    "melbourne",
    "auckland",
    "toronto",
    "vancouver",
    "montreal",
    "boston",
    "chicago",
    "seattle",
    "denver",
    "austin",
    "miami",
    "hawaii",
    "vegas",
    "edinburgh",
    "manchester",
    "brighton",
    "porto",
    "seville",
    "naples",
    "sicily",
    "tuscany",
    "japan",
    "italy",
    "spain",
    "france",
    "portugal",
    "greece",
    "croatia",
    "iceland",
    "norway",
    "sweden",
    "denmark",
    "finland",
    "ireland",
    "scotland",
    "canada",
    "mexico",
    "peru",
    "brazil",
    "thailand",
    "vietnam",
    "india",
    "morocco",
    "egypt",
    "switzerland",
];

fn is_known_place(words: &GoalWords<'_>, place: usize) -> bool {
    KNOWN.contains(&words.text_at(place))
}

fn capitalize_words(text: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    text.split(' ').filter_map(capital).collect::<Vec<String>>().join(" ")
}

/// What comes before "in" where the name after it is a language or a tool: "a parser in Rust", "a talk in Spanish".
fn is_medium(words: &GoalWords<'_>, index: usize) -> bool {
    const LANGUAGES: [&str; 24] = [
        "rust",
        "python",
        "go",
        "java",
        "kotlin",
        "swift",
        "ruby",
        "javascript",
        "typescript",
        "haskell",
        "scala",
        "excel",
        "english",
        "spanish",
        "french",
        "german",
        "italian",
        "greek",
        "japanese",
        "chinese",
        "portuguese",
        "dutch",
        "latin",
        "russian",
    ];
    words.is_any_of(index + 1, &LANGUAGES)
}

fn is_calendar_name(text: &str) -> bool {
    const SEASONS: [&str; 5] = ["spring", "summer", "autumn", "fall", "winter"];
    MONTHS.contains(&text) || SEASONS.contains(&text) || super::dates::parse_weekday(text).is_some()
}
