//! Numbers in words as people type them, in lower case.

const NUMBERS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Parses a number in words, up to ninety.
pub(crate) fn parse_number_word(text: &str) -> Option<f64> {
    if let Some(place) = NUMBERS.iter().position(|name| *name == text) {
        return Some(place as f64);
    }
    if let Some(place) = TENS.iter().position(|name| *name == text) {
        return Some(place as f64 * 10.0 + 20.0);
    }
    (text == "dozen").then_some(12.0)
}
