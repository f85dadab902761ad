//! Numbers that something is to reach: "by 30%", "by half", "from 2 days to 4 hours", "below 500 ms".

use std::ops::Range;

use super::amount::{TimeUnit, parse_number};
use super::words::GoalWords;

/// Verbs that change a number.
const CHANGING: [&str; 26] = [
    "reduce",
    "cut",
    "increase",
    "raise",
    "lower",
    "shorten",
    "improve",
    "bring",
    "grow",
    "speed",
    "boost",
    "drop",
    "shrink",
    "decrease",
    "lift",
    "halve",
    "double",
    "get",
    "push",
    "go",
    "take",
    "slash",
    "trim",
    "reducing",
    "cutting",
    "increasing",
];

/// Finds what a number is to reach, and marks the words as read.
pub(super) fn find_target(words: &mut GoalWords<'_>) -> Option<String> {
    let range = (0..words.len()).find_map(|index| target_at(words, index))?;
    let typed = words.typed_text(range.clone()).to_owned();
    // A percent sign is not part of a word.
    let sign = words.char_right_after(range.end - 1).filter(|sign| *sign == '%');
    words.mark_used(range);
    Some(typed + &sign.map(String::from).unwrap_or_default())
}

fn target_at(words: &GoalWords<'_>, index: usize) -> Option<Range<usize>> {
    if words.is_any_of(index, &["from"])
        && let Some(range) = changed_amount(words, index)
    {
        return Some(range);
    }
    if words.is_any_of(index, &["by", "in"])
        && let Some(end) = fraction_end(words, index + 1)
    {
        return Some(index..end);
    }
    if !words.is_any_of(index, &["by", "to", "below", "under", "above", "over", "least", "than"]) {
        return None;
    }
    let number = words.skip_fillers(index + 1, &["at", "least", "about", "around"]);
    parse_number(words.text_at(number))?;
    let percent = words.char_right_after(number) == Some('%');
    let named = words.is_any_of(number + 1, &["percent", "points"]);
    (percent || named).then_some(index..number + 1 + usize::from(named))
}

/// Parses "half", "a third", "two thirds" after "by".
fn fraction_end(words: &GoalWords<'_>, index: usize) -> Option<usize> {
    const PARTS: [&str; 6] = ["half", "third", "quarter", "thirds", "quarters", "fifth"];
    let part = words.skip_fillers(index, &["a", "one", "two", "three", "about", "at", "least"]);
    let changes = words.contains_word(0..index, &CHANGING);
    let closes = |end: usize| words.clause_starts_at(end) || is_link(words, end);
    (changes && words.is_any_of(part, &PARTS) && closes(part + 1)).then_some(part + 1)
}

fn is_link(words: &GoalWords<'_>, index: usize) -> bool {
    const LINKS: [&str; 9] =
        ["by", "before", "until", "in", "within", "this", "next", "and", "without"];
    words.is_any_of(index, &LINKS)
}

/// Parses "from 2 days to 4 hours", "from 12% to 8%" where something changes a number.
fn changed_amount(words: &GoalWords<'_>, index: usize) -> Option<Range<usize>> {
    if !words.contains_word(0..index, &CHANGING) {
        return None;
    }
    let first = measured_end(words, index + 1)?;
    let to = words.skip_fillers(first, &["down", "up"]);
    if !words.is_any_of(to, &["to"]) {
        return None;
    }
    let at = words.skip_fillers(to + 1, &["under", "below", "about", "at", "most", "least"]);
    Some(index..measured_end(words, at)?)
}

/// Returns where a number with its unit ends. A date is none.
fn measured_end(words: &GoalWords<'_>, index: usize) -> Option<usize> {
    let text = words.text_at(index);
    let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let number = parse_number(text).is_some()
        || (!digits.is_empty() && parse_number(&digits).is_some() && !text.contains('-'));
    if !number {
        return None;
    }
    let next = words.text_at(index + 1);
    let unit = TimeUnit::from_name(next).is_some()
        || matches!(
            next,
            "ms" | "percent" | "kg" | "km" | "gb" | "mb" | "euros" | "dollars" | "points"
        );
    Some(index + 1 + usize::from(unit && !words.clause_starts_at(index + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        find_target(&mut GoalWords::new(text))
    }

    #[test]
    fn what_a_number_is_to_reach_is_read() {
        for (goal, target) in [
            ("reduce our AWS bill by 30% this quarter", "by 30%"),
            ("cut our response time from 2 days to 4 hours", "from 2 days to 4 hours"),
            ("reduce build time of our monorepo by half", "by half"),
            ("raise test coverage to 80 percent", "to 80 percent"),
            ("cut energy use by a third before winter", "by a third"),
            ("get page load below 40%", "below 40%"),
            ("lower churn from 5% to 3% by June", "from 5% to 3%"),
        ] {
            assert_eq!(read(goal).as_deref(), Some(target), "{goal}");
        }
    }

    #[test]
    fn dates_and_places_are_no_targets() {
        for goal in [
            "move from Hamburg to Munich",
            "finish by 30 June",
            "work from 9 to 5",
            "a trip from 10 to 12 March",
            "upgrade Postgres from 12 to 16",
        ] {
            assert_eq!(read(goal), None, "{goal}");
        }
    }
}
