//! Splits a goal into case-folded words that remember their position and whether they have been used.

use std::ops::Range;

use super::UnreadWord;
use super::amount::TimeUnit;
use super::foreign_dates;

/// One word of the goal, folded to lower case.
#[derive(Clone, Debug)]
pub(super) struct GoalWord {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    /// Preceded by punctuation, so no phrase extends across.
    pub(super) breaks: bool,
    pub(super) used: bool,
}

/// The words of a goal, each of which is used at most once.
#[derive(Debug)]
pub(super) struct GoalWords<'a> {
    source: &'a str,
    list: Vec<GoalWord>,
}

impl<'a> GoalWords<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, list: split_words(source) }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// Returns the word at `index`, or the empty text, which matches nothing, if it is past the end or already used.
    pub(super) fn text_at(&self, index: usize) -> &str {
        self.list.get(index).filter(|word| !word.used).map_or("", |word| &word.text)
    }

    pub(super) fn get(&self, index: usize) -> Option<&GoalWord> {
        self.list.get(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &GoalWord> {
        self.list.iter()
    }

    pub(super) fn is_any_of(&self, index: usize, any: &[&str]) -> bool {
        any.contains(&self.text_at(index))
    }

    /// Returns whether `phrase` (words separated by single spaces) starts at `index`.
    pub(super) fn phrase_starts_at(&self, index: usize, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(offset, part)| self.text_at(index + offset) == part)
    }

    /// Returns the index of the first word from `index` on that is not one of `fillers`.
    pub(super) fn skip_fillers(&self, mut index: usize, fillers: &[&str]) -> usize {
        while self.is_any_of(index, fillers) {
            index += 1;
        }
        index
    }

    pub(super) fn mark_used(&mut self, range: Range<usize>) {
        for word in self.list.iter_mut().take(range.end).skip(range.start) {
            word.used = true;
        }
    }

    /// Returns the first word of the clause that `index` stands in.
    pub(super) fn clause_start(&self, index: usize) -> usize {
        (0..=index).rev().find(|place| self.clause_starts_at(*place)).unwrap_or(0)
    }

    /// Returns whether one of the words occurs in the range, used or not.
    pub(super) fn contains_word(&self, mut range: Range<usize>, any: &[&str]) -> bool {
        range
            .any(|place| self.list.get(place).is_some_and(|word| any.contains(&word.text.as_str())))
    }

    /// Returns whether a clause starts at `index`: the beginning of the goal, or the word after a punctuation mark.
    pub(super) fn clause_starts_at(&self, index: usize) -> bool {
        index == 0 || self.list.get(index).is_none_or(|word| word.breaks)
    }

    /// Returns the character before a word, a currency sign for instance.
    pub(super) fn char_before(&self, index: usize) -> Option<char> {
        let word = self.list.get(index)?;
        self.source[..word.span.start].chars().next_back()
    }

    /// Returns the first character after a word that is not a space.
    pub(super) fn char_after(&self, index: usize) -> Option<char> {
        let word = self.list.get(index)?;
        self.source[word.span.end..].trim_start().chars().next()
    }

    /// Returns the character right after a word.
    pub(super) fn char_right_after(&self, index: usize) -> Option<char> {
        let word = self.list.get(index)?;
        self.source[word.span.end..].chars().next()
    }

    /// Returns whether a dash stands between a word and the one before it: "3 – 10 March".
    pub(super) fn is_dash_before(&self, index: usize) -> bool {
        let (Some(word), Some(before)) =
            (self.list.get(index), index.checked_sub(1).and_then(|place| self.list.get(place)))
        else {
            return false;
        };
        let between = self.source[before.span.end..word.span.start].trim();
        matches!(between, "-" | "–" | "—")
    }

    /// Returns whether a word was typed with a capital letter.
    pub(super) fn is_capitalized(&self, index: usize) -> bool {
        let typed = self.list.get(index).map(|word| &self.source[word.span.clone()]);
        typed.is_some_and(|typed| typed.starts_with(char::is_uppercase))
    }

    /// Returns for each word whether it has been used.
    pub(super) fn used_flags(&self) -> Vec<bool> {
        self.list.iter().map(|word| word.used).collect()
    }

    /// Returns the runs of words that have been used since then.
    pub(super) fn newly_used(&self, before: &[bool]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (index, word) in self.list.iter().enumerate() {
            if !word.used || before.get(index) == Some(&true) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == index => run.end = index + 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }

    /// Returns where words stand in the source, a currency sign before or after them included.
    pub(super) fn byte_span(&self, range: Range<usize>) -> Range<usize> {
        let words = self.list.get(range).unwrap_or_default();
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return 0..0 };
        let is_sign = |sign: &char| matches!(sign, '$' | '€' | '£' | '¥' | '%');
        let before = self.source[..first.span.start].chars().next_back().filter(is_sign);
        let after = self.source[last.span.end..].chars().next().filter(is_sign);
        let start = first.span.start - before.map_or(0, char::len_utf8);
        start..last.span.end + after.map_or(0, char::len_utf8)
    }

    /// Returns words as unread ones.
    pub(super) fn unread_words(&self, range: Range<usize>) -> Vec<UnreadWord> {
        let words = self.list.get(range).unwrap_or_default().iter();
        words.map(|word| UnreadWord { text: word.text.clone(), span: word.span.clone() }).collect()
    }

    /// Returns the runs of unused words; a run ends at a used word and at a punctuation mark.
    pub(super) fn unused_runs(&self) -> Vec<Vec<UnreadWord>> {
        let mut runs: Vec<Vec<UnreadWord>> = Vec::new();
        let mut joins = false;
        for word in &self.list {
            if word.used {
                joins = false;
                continue;
            }
            let unread = UnreadWord { text: word.text.clone(), span: word.span.clone() };
            match runs.last_mut().filter(|_| joins && !word.breaks) {
                Some(run) => run.push(unread),
                None => runs.push(vec![unread]),
            }
            joins = true;
        }
        runs
    }

    /// Returns the text as typed from the first to the last word of the range.
    pub(super) fn typed_text(&self, range: Range<usize>) -> &'a str {
        let words = self.list.get(range).unwrap_or_default();
        match (words.first(), words.last()) {
            (Some(first), Some(last)) => &self.source[first.span.start..last.span.end],
            _ => "",
        }
    }
}

/// Characters that are part of a word if letters or digits are on both sides.
const JOINERS: [char; 9] = ['-', '\'', '’', '.', ':', '/', '_', '&', '@'];

fn split_words(source: &str) -> Vec<GoalWord> {
    let mut list = Vec::new();
    let mut breaks = false;
    let mut rest = source.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if !first.is_alphanumeric() {
            breaks |= !first.is_whitespace() && !is_joining_mark(first, list.last());
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some((at, next)) = rest.peek().copied() {
            let after = source[at + next.len_utf8()..].chars().next();
            let joins = JOINERS.contains(&next) && after.is_some_and(char::is_alphanumeric)
                || next == ',' && joins_thousands(source, start, at);
            // "C++" and "F#" end in characters that belong to the name.
            if !(next.is_alphanumeric()
                || joins
                || matches!(next, '+' | '#')
                || is_combining_mark(next))
            {
                break;
            }
            end = at + next.len_utf8();
            rest.next();
        }
        push_word(&mut list, source, start..end, breaks);
        breaks = false;
    }
    list
}

/// Words that are written with a dot, which ends no clause.
const ABBREVIATIONS: [&str; 9] = ["prof", "dr", "mr", "mrs", "ms", "st", "approx", "ca", "vs"];

/// Returns whether a mark belongs to the word before it: "Dr. Weber".
fn is_joining_mark(mark: char, before: Option<&GoalWord>) -> bool {
    mark == '.' && before.is_some_and(|word| ABBREVIATIONS.contains(&word.text.as_str()))
}

/// Returns whether a comma stands between groups of a number: "60,000".
fn joins_thousands(source: &str, start: usize, comma: usize) -> bool {
    let before = &source[start..comma];
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = before.split(',');
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && digits(first));
    let rest = groups.all(|group| group.len() == 3 && digits(group));
    let after: String = source[comma + 1..].chars().take_while(char::is_ascii_digit).collect();
    first && rest && after.len() == 3
}

/// Combining marks belong to the letter before them; Indic and Arabic words are full of them.
fn is_combining_mark(mark: char) -> bool {
    matches!(mark as u32, 0x300..=0x36F | 0x5B0..=0x5C7 | 0x64B..=0x65F | 0x900..=0xDFF | 0xE31..=0xE4E | 0x200C..=0x200D)
}

fn push_word(list: &mut Vec<GoalWord>, source: &str, span: Range<usize>, breaks: bool) {
    if let Some(cut) = foreign_dates::cut_written_date(&source[span.clone()]) {
        for (place, part) in cut.into_iter().enumerate() {
            let part = span.start + part.start..span.start + part.end;
            let breaks = breaks && place == 0;
            let text = source[part.clone()].to_owned();
            list.push(GoalWord { text, span: part, breaks, used: false });
        }
        return;
    }
    let mut breaks = breaks;
    for part in split_compound(&source[span.clone()]) {
        let text = match part.word {
            CompoundPieceKind::Per => "per".to_owned(),
            CompoundPieceKind::Text => {
                let typed = &source[span.start + part.at.start..span.start + part.at.end];
                foreign_dates::plain_number(&typed.to_lowercase().replace('’', "'"))
            }
        };
        let span = span.start + part.at.start..span.start + part.at.end;
        list.push(GoalWord { text, span, breaks, used: false });
        breaks = false;
    }
}

enum CompoundPieceKind {
    Text,
    Per,
}

struct CompoundPiece {
    word: CompoundPieceKind,
    at: Range<usize>,
}

/// Splits "6-week", "two-week", "5h", "8am" and "5h/week" into their words; everything else is kept.
fn split_compound(text: &str) -> Vec<CompoundPiece> {
    let piece = |at: Range<usize>| CompoundPiece { word: CompoundPieceKind::Text, at };
    if let Some((number, unit)) = text.split_once('-')
        && crate::number_names::parse_number_word(&number.to_lowercase()).is_some()
        && TimeUnit::from_name(&unit.to_lowercase()).is_some()
    {
        return vec![piece(0..number.len()), piece(number.len() + 1..text.len())];
    }
    if let Some(slash) = text.rfind('/')
        && TimeUnit::from_name(&text[slash + 1..].to_lowercase()).is_some()
    {
        let mut pieces = split_compound(&text[..slash]);
        pieces.push(CompoundPiece { word: CompoundPieceKind::Per, at: slash..slash + 1 });
        pieces.push(piece(slash + 1..text.len()));
        return pieces;
    }
    let digits =
        text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let tail = text[digits..].to_lowercase();
    let unit = tail.strip_prefix('-').unwrap_or(&tail);
    // A lowercase "m" after a number means meters as often as minutes, "d" occurs in 3D, "k" is a distance: those are
    // not split.
    let parts = digits > 0
        && !matches!(unit, "m" | "d" | "y")
        && (TimeUnit::from_name(unit).is_some() || matches!(unit, "am" | "pm" | "x" | "times"));
    if !parts {
        return vec![piece(0..text.len())];
    }
    vec![piece(0..digits), piece(text.len() - unit.len()..text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        GoalWords::new(source).iter().map(|word| word.text.clone()).collect()
    }

    #[test]
    fn compounds_of_number_and_unit_are_split() {
        assert_eq!(
            texts("a 6-week plan, 5h/week"),
            ["a", "6", "week", "plan", "5", "h", "per", "week"]
        );
        assert_eq!(texts("two-week sprints"), ["two", "week", "sprints"]);
        assert_eq!(texts("at 8am by 2026-07-10"), ["at", "8", "am", "by", "2026-07-10"]);
    }

    #[test]
    fn names_are_not_split() {
        assert_eq!(
            texts("C++, F# and CI/CD for a 3D printer's 10k"),
            ["c++", "f#", "and", "ci/cd", "for", "a", "3d", "printer's", "10k"]
        );
    }

    #[test]
    fn the_groups_of_a_number_are_one_word() {
        assert_eq!(
            texts("a 60,000-word novel, 2,000 photos"),
            ["a", "60000-word", "novel", "2000", "photos"]
        );
        assert_eq!(texts("1.500 Gäste, 12'000 francs"), ["1500", "gäste", "12000", "francs"]);
        assert_eq!(texts("1,2 and 2026,100"), ["1", "2", "and", "2026", "100"]);
        assert_eq!(texts("1.5 hours, version 3.11"), ["1.5", "hours", "version", "3.11"]);
    }

    #[test]
    fn a_date_is_cut_out_of_a_sentence_without_spaces() {
        assert_eq!(texts("6月12日に引っ越し"), ["6月12日", "に引っ越し"]);
        assert_eq!(texts("2027年3月1日まで"), ["2027年3月1日", "まで"]);
    }

    #[test]
    fn a_curly_apostrophe_is_read_as_a_straight_one() {
        assert_eq!(texts("New Year’s Eve"), ["new", "year's", "eve"]);
    }

    #[test]
    fn a_comma_breaks_a_phrase() {
        let words = GoalWords::new("learn Rust, slowly");
        assert!(words.get(2).is_some_and(|word| word.breaks));
    }

    #[test]
    fn other_scripts_form_words() {
        assert_eq!(texts("学习 Rust हिन्दी سَلام"), ["学习", "rust", "हिन्दी", "سَلام"]);
    }
}
