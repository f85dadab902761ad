//! Cuts a goal into case-folded words that remember where they stood and whether something has read them already.

use std::ops::Range;

use super::amount::Unit;

/// One word of the goal, folded to lower case.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    /// Punctuation stood before it, so no phrase reaches across.
    pub(super) breaks: bool,
    pub(super) used: bool,
}

/// The words of a goal, each of which is read at most once.
#[derive(Debug)]
pub(super) struct Words<'a> {
    source: &'a str,
    list: Vec<Word>,
}

impl<'a> Words<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, list: cut(source) }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// The word at `index` unless it is past the end or read already; then the empty text, which matches nothing.
    pub(super) fn at(&self, index: usize) -> &str {
        self.list.get(index).filter(|word| !word.used).map_or("", |word| &word.text)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Word> {
        self.list.get(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Word> {
        self.list.iter()
    }

    pub(super) fn is(&self, index: usize, any: &[&str]) -> bool {
        any.contains(&self.at(index))
    }

    /// Whether `phrase` (words parted by single spaces) begins at `index`.
    pub(super) fn starts(&self, index: usize, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(offset, part)| self.at(index + offset) == part)
    }

    /// The first word after `index` that is none of `fillers`.
    pub(super) fn skip(&self, mut index: usize, fillers: &[&str]) -> usize {
        while self.is(index, fillers) {
            index += 1;
        }
        index
    }

    pub(super) fn mark(&mut self, range: Range<usize>) {
        for word in self.list.iter_mut().take(range.end).skip(range.start) {
            word.used = true;
        }
    }

    /// The text as typed from the first to the last word of the range.
    pub(super) fn typed(&self, range: Range<usize>) -> &'a str {
        let words = self.list.get(range).unwrap_or_default();
        match (words.first(), words.last()) {
            (Some(first), Some(last)) => &self.source[first.span.start..last.span.end],
            _ => "",
        }
    }
}

/// Marks that hold a word together when letters or digits stand on both sides.
const JOINERS: [char; 9] = ['-', '\'', '’', '.', ':', '/', '_', '&', '@'];

fn cut(source: &str) -> Vec<Word> {
    let mut list = Vec::new();
    let mut breaks = false;
    let mut rest = source.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if !first.is_alphanumeric() {
            breaks |= !first.is_whitespace();
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some((at, next)) = rest.peek().copied() {
            let after = source[at + next.len_utf8()..].chars().next();
            let joins = JOINERS.contains(&next) && after.is_some_and(char::is_alphanumeric);
            // "C++" and "F#" end in marks that belong to the name.
            if !(next.is_alphanumeric() || joins || matches!(next, '+' | '#') || is_mark(next)) {
                break;
            }
            end = at + next.len_utf8();
            rest.next();
        }
        push(&mut list, source, start..end, breaks);
        breaks = false;
    }
    list
}

/// Combining marks belong to the letter before them; Indic and Arabic words are full of them.
fn is_mark(mark: char) -> bool {
    matches!(mark as u32, 0x300..=0x36F | 0x5B0..=0x5C7 | 0x64B..=0x65F | 0x900..=0xDFF | 0xE31..=0xE4E | 0x200C..=0x200D)
}

fn push(list: &mut Vec<Word>, source: &str, span: Range<usize>, breaks: bool) {
    let mut breaks = breaks;
    for part in split_compound(&source[span.clone()]) {
        let text = match part.word {
            Part::Per => "per".to_owned(),
            Part::Text => {
                source[span.start + part.at.start..span.start + part.at.end].to_lowercase()
            }
        };
        let span = span.start + part.at.start..span.start + part.at.end;
        list.push(Word { text, span, breaks, used: false });
        breaks = false;
    }
}

enum Part {
    Text,
    Per,
}

struct Piece {
    word: Part,
    at: Range<usize>,
}

/// Parts "6-week", "5h", "8am" and "5h/week" into their words; everything else stays whole.
fn split_compound(text: &str) -> Vec<Piece> {
    if let Some(slash) = text.rfind('/')
        && Unit::named(&text[slash + 1..].to_lowercase()).is_some()
    {
        let mut pieces = split_compound(&text[..slash]);
        pieces.push(Piece { word: Part::Per, at: slash..slash + 1 });
        pieces.push(Piece { word: Part::Text, at: slash + 1..text.len() });
        return pieces;
    }
    let digits =
        text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let tail = text[digits..].to_lowercase();
    let unit = tail.strip_prefix('-').unwrap_or(&tail);
    // A lower "m" after a number is metres as often as minutes, "d" as in 3D, "k" a distance: those stay whole.
    let parts = digits > 0
        && !matches!(unit, "m" | "d" | "y")
        && (Unit::named(unit).is_some() || matches!(unit, "am" | "pm" | "x" | "times"));
    if !parts {
        return vec![Piece { word: Part::Text, at: 0..text.len() }];
    }
    let unit_at = text.len() - unit.len();
    vec![
        Piece { word: Part::Text, at: 0..digits },
        Piece { word: Part::Text, at: unit_at..text.len() },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        Words::new(source).iter().map(|word| word.text.clone()).collect()
    }

    #[test]
    fn compounds_of_number_and_unit_are_parted() {
        assert_eq!(
            texts("a 6-week plan, 5h/week"),
            ["a", "6", "week", "plan", "5", "h", "per", "week"]
        );
        assert_eq!(texts("at 8am by 2026-07-10"), ["at", "8", "am", "by", "2026-07-10"]);
    }

    #[test]
    fn names_stay_whole() {
        assert_eq!(
            texts("C++, F# and CI/CD for a 3D printer's 10k"),
            ["c++", "f#", "and", "ci/cd", "for", "a", "3d", "printer's", "10k"]
        );
    }

    #[test]
    fn a_comma_breaks_a_phrase() {
        let words = Words::new("learn Rust, slowly");
        assert!(words.get(2).is_some_and(|word| word.breaks));
    }

    #[test]
    fn other_scripts_are_words_too() {
        assert_eq!(texts("学习 Rust हिन्दी سَلام"), ["学习", "rust", "हिन्दी", "سَلام"]);
    }
}
