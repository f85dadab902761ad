//! Valid documents with a few mistakes, as a strategy: lines and words moved, duplicated, removed, replaced by what
//! parsers trip over. Far more of them get past the first check than random bytes would.

use proptest::prelude::*;

/// Replacements for a word.
const WORDS: &[&str] = &[
    "",
    "0",
    "-1",
    "1",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "-0",
    "99999999999999999999",
    "9223372036854775807",
    "18446744073709551615",
    "-9223372036854775808",
    "2147483648",
    "4294967296",
    "0.1e-400",
    "true",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\u{202e}\u{1b}[2J\"",
    "'''",
    "\"\"\"",
    "#",
    "//",
    "\\",
    "\u{feff}",
    "\u{0}",
    "\u{1b}]0;x\u{7}",
    "日本語",
    "e\u{301}\u{301}\u{301}",
    "👩‍💻",
    "..",
    "/",
    "~",
    "*",
    "%s",
    "$(x)",
    "`x`",
    "2026-02-30",
    "9999-12-31T23:59:60Z",
    "-009999-01-01",
    "25:61",
    "P99999999D",
    "PT0S",
    "99w",
    "1e3h",
    "America/Nowhere",
    "UTC",
    "RRULE:FREQ=SECONDLY",
    "FREQ=YEARLY;COUNT=0;INTERVAL=0",
    "a.b.c",
    "a b",
    "[[[[[[[[",
    "]]]]]]]]",
    "{\"a\":{\"a\":{\"a\":{\"a\":1}}}}",
    "data:",
    "data: [DONE]",
    "event: error",
    ":",
    "\r",
    "\r\n",
    "\t",
    "= = =",
    "id",
    "id = 1",
    "depends_on = [\"self\"]",
];

#[derive(Clone, Debug)]
enum Edit {
    DropLine(usize),
    DoubleLine(usize),
    SwapLines(usize, usize),
    /// Cuts off everything after a position.
    Cut(usize),
    /// Removes a piece.
    CutOut(usize, usize),
    /// Puts a piece of the document, or of another one, somewhere else.
    Splice(usize, usize, usize, bool),
    /// Replaces a word or number.
    Word(usize, usize),
    /// Replaces one character.
    Letter(usize, char),
    /// Repeats a piece very often.
    Repeat(usize, usize, usize),
    Nest(usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = || any::<usize>();
    prop_oneof![
        2 => at().prop_map(Edit::DropLine),
        2 => at().prop_map(Edit::DoubleLine),
        2 => (at(), at()).prop_map(|(a, b)| Edit::SwapLines(a, b)),
        1 => at().prop_map(Edit::Cut),
        2 => (at(), 1..40_usize).prop_map(|(at, length)| Edit::CutOut(at, length)),
        2 => (at(), at(), 1..80_usize, any::<bool>()).prop_map(|(a, b, l, o)| Edit::Splice(a, b, l, o)),
        8 => (at(), 0..WORDS.len()).prop_map(|(at, word)| Edit::Word(at, word)),
        2 => (at(), any::<char>()).prop_map(|(at, letter)| Edit::Letter(at, letter)),
        1 => (at(), 1..20_usize, 2..400_usize).prop_map(|(a, l, n)| Edit::Repeat(a, l, n)),
        1 => (at(), 1..300_usize).prop_map(|(at, depth)| Edit::Nest(at, depth)),
    ]
}

/// One of the documents with one to eight mistakes.
pub fn mutated(documents: Vec<String>) -> impl Strategy<Value = String> {
    let count = documents.len();
    (0..count, 0..count, prop::collection::vec(edit(), 1..8)).prop_map(
        move |(one, other, edits)| {
            edits
                .iter()
                .fold(documents[one].clone(), |text, edit| apply(&text, &documents[other], edit))
        },
    )
}

/// The next position where a character begins.
fn place(text: &str, at: usize) -> usize {
    let mut at = at % (text.len() + 1);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn piece(text: &str, at: usize, length: usize) -> (usize, usize) {
    let from = place(text, at);
    let mut to = (from + length).min(text.len());
    while !text.is_char_boundary(to) {
        to += 1;
    }
    (from, to)
}

fn apply(text: &str, other: &str, edit: &Edit) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let count = lines.len();
    match *edit {
        Edit::DropLine(at) => drop(lines.remove(at % count)),
        Edit::DoubleLine(at) => lines.insert(at % count, lines[at % count]),
        Edit::SwapLines(a, b) => lines.swap(a % count, b % count),
        Edit::Cut(at) => return text[..place(text, at)].to_owned(),
        Edit::CutOut(at, length) => {
            let (from, to) = piece(text, at, length);
            return format!("{}{}", &text[..from], &text[to..]);
        }
        Edit::Splice(to, at, length, foreign) => {
            let source = if foreign { other } else { text };
            let (from, end) = piece(source, at, length);
            let to = place(text, to);
            return format!("{}{}{}", &text[..to], &source[from..end], &text[to..]);
        }
        Edit::Word(at, word) => {
            let (from, to) = word_at(text, place(text, at));
            return format!("{}{}{}", &text[..from], WORDS[word], &text[to..]);
        }
        Edit::Letter(at, letter) => {
            let (from, to) = piece(text, at, 1);
            return format!("{}{letter}{}", &text[..from], &text[to..]);
        }
        Edit::Repeat(at, length, times) => {
            let (from, to) = piece(text, at, length);
            return format!("{}{}{}", &text[..from], text[from..to].repeat(times), &text[to..]);
        }
        Edit::Nest(at, depth) => {
            let at = place(text, at);
            return format!("{}{}{}", &text[..at], "[{\"a\":".repeat(depth), &text[at..]);
        }
    }
    lines.join("\n")
}

/// The word, number or quoted text around a position.
fn word_at(text: &str, at: usize) -> (usize, usize) {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '+');
    let from = text[..at]
        .rfind(|letter| !part(letter))
        .map_or(0, |end| end + text[end..].chars().next().map_or(0, char::len_utf8));
    let to = text[at..].find(|letter| !part(letter)).map_or(text.len(), |end| at + end);
    (from, to)
}
