//! Makes hidden characters visible: text for approval cards, where the person must see what will run.
//!
//! What the sanitizer removes is shown here: every control, invisible or direction character appears as `<U+202E>`, and
//! so does every character that looks like an ASCII one. Newlines are kept. Nothing is left out.

use super::chars::{
    CharPolicy, char_policy, is_combining_mark, is_lookalike_letter, is_lookalike_sign,
    is_non_ascii_space,
};
use super::clean::MAX_MARKS;

/// A piece of revealed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevealedText {
    /// Text as given; safe to print.
    Plain(String),
    /// The code points of misleading characters, to be drawn as a warning.
    Marked(String),
}

impl RevealedText {
    /// Returns the text to show.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Marked(text) => text,
        }
    }
}

/// Returns the text with every hidden or misleading character replaced by its code point.
pub fn reveal_hidden(text: &str) -> String {
    reveal_segments(text).iter().map(RevealedText::as_str).collect()
}

/// Like [`reveal_hidden`], but in segments, so that a replaced character can be distinguished from text that looks like
/// one.
pub fn reveal_segments(text: &str) -> Vec<RevealedText> {
    let foreign = text.chars().any(is_foreign_letter);
    let mut segments = RevealedSegments::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != word).unwrap_or(rest.len());
        let run = &rest[..end];
        let lookalikes = word && is_disguised(run, foreign);
        run.chars().for_each(|c| segments.push(c, lookalikes));
        rest = &rest[end..];
    }
    segments.done
}

/// Returns whether a word is meant to be read as ASCII: mixed with ASCII letters, or made entirely of look-alikes in a
/// text that does not otherwise use their script.
fn is_disguised(word: &str, foreign: bool) -> bool {
    if word.is_ascii() {
        return false;
    }
    let ascii = word.chars().filter(char::is_ascii_alphabetic).count();
    let others = word.chars().filter(|c| !c.is_ascii() && !is_lookalike_letter(*c)).count();
    match (ascii, others) {
        (0, 0) => !foreign,
        (_, 0) => true,
        _ => ascii > others,
    }
}

/// Returns whether a letter proves that a text really uses Greek, Cyrillic or Armenian.
fn is_foreign_letter(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58F}') && c.is_alphabetic() && !is_lookalike_letter(c)
}

#[derive(Default)]
struct RevealedSegments {
    done: Vec<RevealedText>,
    /// The number of marks on the previous character, and whether they belong there.
    marks: usize,
    on_letter: bool,
}

impl RevealedSegments {
    fn push(&mut self, c: char, lookalikes: bool) {
        if self.is_misleading(c) || lookalikes && is_lookalike_letter(c) {
            self.push_marked(c);
        } else {
            self.push_plain(c);
        }
    }

    fn is_misleading(&mut self, c: char) -> bool {
        if is_combining_mark(c) && char_policy(c) == CharPolicy::Keep {
            self.marks += 1;
            return !self.on_letter || self.marks > MAX_MARKS;
        }
        self.marks = 0;
        self.on_letter = c.is_alphabetic();
        c != '\n'
            && (char_policy(c) != CharPolicy::Keep || is_non_ascii_space(c) || is_lookalike_sign(c))
    }

    fn push_plain(&mut self, c: char) {
        match self.done.last_mut() {
            Some(RevealedText::Plain(text)) => text.push(c),
            _ => self.done.push(RevealedText::Plain(c.to_string())),
        }
    }

    fn push_marked(&mut self, c: char) {
        let code = format!("<U+{:04X}>", u32::from(c));
        match self.done.last_mut() {
            Some(RevealedText::Marked(text)) => text.push_str(&code),
            _ => self.done.push(RevealedText::Marked(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clean::clean_text;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_and_hidden_characters_are_spelled_out() {
        assert_eq!(reveal_hidden("ls\x1b[2K\rrm"), "ls<U+001B>[2K<U+000D>rm");
        assert_eq!(
            reveal_hidden("a\u{202E}b\u{200B}\u{200D}c\tz"),
            "a<U+202E>b<U+200B><U+200D>c<U+0009>z"
        );
        assert_eq!(reveal_hidden("rm\u{A0}-rf \u{E0041}"), "rm<U+00A0>-rf <U+E0041>");
        assert_eq!(reveal_hidden("two\nlines"), "two\nlines");
    }

    #[test]
    fn lookalikes_in_ascii_words_are_spelled_out() {
        assert_eq!(reveal_hidden("p\u{430}ypal.com"), "p<U+0430>ypal.com");
        assert_eq!(reveal_hidden("\u{441}\u{430}t file"), "<U+0441><U+0430>t file");
        assert_eq!(reveal_hidden("\u{440}\u{430}\u{441}"), "<U+0440><U+0430><U+0441>");
        assert_eq!(
            reveal_hidden("..\u{2215}etc \u{2212}f ｒｍ"),
            "..<U+2215>etc <U+2212>f <U+FF52><U+FF4D>"
        );
    }

    #[test]
    fn ordinary_text_in_other_scripts_is_left_alone() {
        for text in [
            "привет, как сора",
            "größe naïve",
            "日本語",
            "Ελληνικά",
            "e\u{301}tude",
            "cargo test -- --skip slow_",
        ] {
            assert_eq!(reveal_hidden(text), text);
        }
    }

    #[test]
    fn marks_are_shown_where_they_do_not_belong() {
        assert_eq!(reveal_hidden("/\u{338}x"), "/<U+0338>x");
        assert_eq!(
            reveal_hidden(&format!("a{}", "\u{301}".repeat(9))),
            format!("a{}<U+0301>", "\u{301}".repeat(8))
        );
    }

    #[test]
    fn segments_distinguish_revealed_from_typed_text() {
        let pieces = reveal_segments("<U+202E>\u{202E}x");
        let expected = [
            RevealedText::Plain("<U+202E>".into()),
            RevealedText::Marked("<U+202E>".into()),
            RevealedText::Plain("x".into()),
        ];
        assert_eq!(pieces, expected);
    }

    proptest! {
        #[test]
        fn revealed_text_is_clean(text in any::<String>()) {
            let revealed = reveal_hidden(&text);
            prop_assert_eq!(clean_text(&revealed), revealed.as_str());
        }
    }
}
