//! Wraps text to columns, in time linear in its length.
//!
//! [`wrap_words`] breaks at spaces and between wide characters and drops spaces at a break; [`wrap_exact`] keeps every
//! character, for commands that must be shown byte for byte. Expects text that went through
//! [`clean_text`](super::clean_text()).

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::width::{grapheme_width, prefix_within};

/// Replaces a grapheme that is wider than a line.
const STAND_IN: &str = "\u{FFFD}";

/// Wraps text at words to at most `cols` cells; continuation lines of a paragraph are indented by `hang` spaces.
///
/// A word longer than a line is broken. Leading spaces of a paragraph are kept, as code needs them. A hanging indent
/// that would leave no room is omitted.
pub fn wrap_words(text: &str, cols: usize, hang: usize) -> Vec<Cow<'_, str>> {
    let cols = cols.max(1);
    let hang = if hang < cols { hang } else { 0 };
    text.lines().flat_map(|paragraph| ParagraphLines::new(paragraph, cols, hang)).collect()
}

/// Wraps text at exactly `cols` cells, ignoring words, and keeps every character: the joined lines of a paragraph equal
/// that paragraph, except for a grapheme wider than the line.
pub fn wrap_exact(text: &str, cols: usize) -> Vec<Cow<'_, str>> {
    let cols = cols.max(1);
    let mut lines = Vec::new();
    for mut rest in text.split('\n') {
        loop {
            let (line, taken) = take_exact_line(rest, cols);
            lines.push(line);
            rest = &rest[taken..];
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

fn take_exact_line(text: &str, cols: usize) -> (Cow<'_, str>, usize) {
    let line = prefix_within(text, cols);
    match text.graphemes(true).next() {
        Some(grapheme) if line.is_empty() => (Cow::Borrowed(STAND_IN), grapheme.len()),
        _ => (Cow::Borrowed(line), line.len()),
    }
}

/// Yields the lines of one paragraph.
struct ParagraphLines<'a> {
    rest: Option<&'a str>,
    cols: usize,
    hang: usize,
    indent: usize,
}

impl<'a> ParagraphLines<'a> {
    fn new(text: &'a str, cols: usize, hang: usize) -> Self {
        Self { rest: Some(text), cols, hang, indent: 0 }
    }

    fn indent_line(&mut self, line: &'a str) -> Cow<'a, str> {
        let indent = std::mem::replace(&mut self.indent, self.hang);
        if indent == 0 { Cow::Borrowed(line) } else { Cow::Owned(format!("{:indent$}{line}", "")) }
    }
}

impl<'a> Iterator for ParagraphLines<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest.take()?;
        let (line, taken) = take_word_line(text, self.cols - self.indent);
        // Spaces at a break belong to neither line.
        let rest = text[taken..].trim_start_matches(' ');
        self.rest = (!rest.is_empty()).then_some(rest);
        Some(self.indent_line(line))
    }
}

/// Takes one line from the start of a paragraph; returns it with the number of bytes consumed.
fn take_word_line(text: &str, cols: usize) -> (&str, usize) {
    let mut width = 0;
    let mut line_break = None;
    let mut after_wide = false;
    let mut blank = true;
    for (at, grapheme) in text.grapheme_indices(true) {
        let cells = grapheme_width(grapheme);
        let space = grapheme == " ";
        if !blank && (space || after_wide || cells == 2) {
            line_break = Some(at);
        }
        width += cells;
        if width > cols {
            return match (line_break, at) {
                (Some(at), _) => (text[..at].trim_end_matches(' '), at),
                (None, 0) => (STAND_IN, grapheme.len()),
                (None, at) => (&text[..at], at),
            };
        }
        after_wide = cells == 2;
        blank &= space;
    }
    (text.trim_end_matches(' '), text.len())
}

#[cfg(test)]
mod tests {
    use super::super::width::display_width;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_not_split() {
        assert_eq!(wrap_words("the quick brown fox", 10, 0), ["the quick", "brown fox"]);
        assert_eq!(wrap_words("hello world", 5, 0), ["hello", "world"]);
        assert_eq!(wrap_words("hello   ", 5, 0), ["hello"]);
    }

    #[test]
    fn continuation_lines_are_indented() {
        assert_eq!(wrap_words("one two three\nfour", 7, 2), ["one two", "  three", "four"]);
        assert_eq!(wrap_words("one two", 3, 9), ["one", "two"]);
    }

    #[test]
    fn paragraphs_and_their_indents_are_kept() {
        assert_eq!(wrap_words("a\n\n    b c", 7, 0), ["a", "", "    b c"]);
        assert_eq!(wrap_words("", 7, 0), Vec::<String>::new());
        assert_eq!(wrap_words("a\n", 7, 0), ["a"]);
    }

    #[test]
    fn long_words_are_broken() {
        assert_eq!(wrap_words("abcdefgh", 3, 0), ["abc", "def", "gh"]);
        assert_eq!(wrap_words("x abcdefgh", 4, 1), ["x", " abc", " def", " gh"]);
        assert_eq!(wrap_words("      deep", 4, 0), ["    ", "deep"]);
    }

    #[test]
    fn wide_characters_break_anywhere_and_never_overhang() {
        assert_eq!(wrap_words("ab日本語", 5, 0), ["ab日", "本語"]);
        assert_eq!(wrap_words("日a", 1, 0), ["\u{FFFD}", "a"]);
    }

    #[test]
    fn exact_wrapping_keeps_spaces() {
        assert_eq!(wrap_exact("rm -rf   /tmp", 8), ["rm -rf  ", " /tmp"]);
        assert_eq!(wrap_exact("a\n\nb\n", 8), ["a", "", "b", ""]);
        assert_eq!(wrap_exact("日", 1), ["\u{FFFD}"]);
    }

    proptest! {
        #[test]
        fn no_line_exceeds(text in "[a-z 日é👩\u{301}\u{200D}\n]{0,80}", cols in 1_usize..20, hang in 0_usize..6) {
            for line in wrap_words(&text, cols, hang).iter().chain(&wrap_exact(&text, cols)) {
                prop_assert!(display_width(line) <= cols, "{:?}", line);
            }
        }

        #[test]
        fn no_word_is_lost(text in "[a-z \n]{0,80}", cols in 1_usize..20, hang in 0_usize..6) {
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(squeeze(&wrap_words(&text, cols, hang).concat()), squeeze(&text));
        }

        #[test]
        fn exact_lines_join_to_the_text(text in "[a-z 日é]{0,80}", cols in 2_usize..20) {
            prop_assert_eq!(wrap_exact(&text, cols).concat(), text);
        }
    }
}
