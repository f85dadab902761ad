//! The sanitizer: makes untrusted text safe to print.
//!
//! The result contains no control character except the newline, no invisible characters, nothing that changes the text
//! direction, no emoji joiner outside an emoji, and no pile of marks on one character. Cleaning is idempotent and takes
//! time linear in the length. Complete escape sequences are removed; each run of broken ones is replaced by one U+FFFD.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use super::chars::{
    CharPolicy, JOINER, KEYCAP, REPLACEMENT, char_policy, is_combining_mark, is_pictographic,
    is_skin_tone,
};
use super::escape::sequence_len;
use super::width::display_width;

/// The maximum number of marks on one character.
pub(super) const MAX_MARKS: usize = 8;
/// The maximum number of joiners in one emoji; the longest in use have three.
const MAX_JOINERS: usize = 4;
const TAB_STOP: usize = 4;

/// Cleans multi-line text. Line endings become newlines, tabs become spaces up to the next tab stop.
///
/// Where a lone carriage return redraws a line, as progress bars do, only the last drawing is kept, provided that the
/// drawings differ only in digits and symbols. Otherwise each drawing gets its own line, so that nothing can be hidden.
pub fn clean_text(text: &str) -> Cow<'_, str> {
    if is_plain_ascii(text.as_bytes()) || !text.chars().any(needs_cleaning) {
        return Cow::Borrowed(text);
    }
    let stripped = ControlStripper::strip(text);
    let cleaned = if stripped.is_ascii() { stripped } else { MarkLimiter::limit_marks(&stripped) };
    if cleaned == text { Cow::Borrowed(text) } else { Cow::Owned(cleaned) }
}

/// Cleans text that must stay on one line, such as a title. Line endings become one space; leading and trailing ones
/// are removed.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    let cleaned = clean_text(text);
    if cleaned.contains('\n') {
        Cow::Owned(
            cleaned.split('\n').filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "),
        )
    } else {
        cleaned
    }
}

/// Decodes bytes as text, replacing invalid UTF-8 with U+FFFD. The result still has to be cleaned.
pub fn from_bytes_lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn is_plain_ascii(bytes: &[u8]) -> bool {
    // Checks entire blocks without an early exit, so that the compiler can use vector instructions.
    bytes.chunks(64).all(|block| {
        block.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\n'))
    })
}

fn needs_cleaning(c: char) -> bool {
    c != '\n' && (char_policy(c) != CharPolicy::Keep || is_combining_mark(c))
}

/// Removes escape sequences, controls and hidden characters.
struct ControlStripper {
    out: String,
    /// The start of the current line, or of its current drawing.
    line: usize,
    /// The start of the drawing that a carriage return ended.
    redrawn: Option<usize>,
    /// A position whose column is a tab stop; columns are counted from here.
    stop: usize,
}

impl ControlStripper {
    fn strip(text: &str) -> String {
        let mut stripper =
            Self { out: String::with_capacity(text.len()), line: 0, redrawn: None, stop: 0 };
        let mut rest = text;
        while let Some(at) = rest.find(|c| char_policy(c) != CharPolicy::Keep) {
            stripper.out.push_str(&rest[..at]);
            rest = &rest[at..];
            rest = &rest[stripper.handle_special(rest)..];
        }
        stripper.out.push_str(rest);
        stripper.resolve_redraw();
        stripper.out
    }

    /// Handles the special character at the start of `rest`; returns the number of bytes consumed.
    fn handle_special(&mut self, rest: &str) -> usize {
        if let Some(len) = sequence_len(rest) {
            return len;
        }
        let mut chars = rest.chars();
        let Some(c) = chars.next() else { return 0 };
        match (c, char_policy(c)) {
            ('\n', _) | (_, CharPolicy::Line) => self.push_newline(),
            ('\t', _) => self.push_tab(),
            ('\r', _) => return self.handle_carriage_return(rest),
            (_, CharPolicy::Drop) => {}
            (_, CharPolicy::Emoji | CharPolicy::Keep) => self.out.push(c),
            (_, CharPolicy::Replace) if self.out.ends_with(REPLACEMENT) => {}
            (_, CharPolicy::Replace) => self.out.push(REPLACEMENT),
        }
        c.len_utf8()
    }

    fn push_newline(&mut self) {
        self.resolve_redraw();
        self.out.push('\n');
        self.line = self.out.len();
        self.stop = self.line;
    }

    fn push_tab(&mut self) {
        let column = display_width(&self.out[self.stop..]);
        self.out.extend(std::iter::repeat_n(' ', TAB_STOP - column % TAB_STOP));
        self.stop = self.out.len();
    }

    fn handle_carriage_return(&mut self, rest: &str) -> usize {
        let returns = rest.len() - rest.trim_start_matches('\r').len();
        if !rest[returns..].starts_with('\n') {
            self.resolve_redraw();
            self.redrawn = Some(self.line);
            self.out.push('\n');
            self.line = self.out.len();
            self.stop = self.line;
        }
        returns
    }

    /// Decides at the end of a line whether its last drawing replaces the previous one.
    fn resolve_redraw(&mut self) {
        let Some(before) = self.redrawn.take() else { return };
        let (old, new) = (&self.out[before..self.line - 1], &self.out[self.line..]);
        if new.trim().is_empty() {
            self.out.truncate(self.line - 1);
            self.line = before;
        } else if old.trim().is_empty() || alphabetic_chars(old).eq(alphabetic_chars(new)) {
            self.out.drain(before..self.line);
            self.line = before;
        }
    }
}

fn alphabetic_chars(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphabetic())
}

/// Limits marks, and keeps joiners and selectors only inside emoji. Decisions depend on the output so far, not on the
/// input, so that a second run changes nothing.
#[derive(Default)]
struct MarkLimiter {
    out: String,
    last: LastCharClass,
    stacked: usize,
    joiners: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastCharClass {
    #[default]
    Other,
    Digit,
    Pictograph,
    /// A pictograph with a selector or a skin tone applied.
    Dressed,
    Joiner,
}

impl MarkLimiter {
    fn limit_marks(text: &str) -> String {
        let mut state = Self { out: String::with_capacity(text.len()), ..Self::default() };
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            state.take_char(c, &mut chars);
        }
        state.out
    }

    fn take_char(&mut self, c: char, following: &mut Peekable<Chars<'_>>) {
        if c == JOINER {
            let between = matches!(self.last, LastCharClass::Pictograph | LastCharClass::Dressed)
                && following.peek().is_some_and(|next| is_pictographic(*next));
            if between && self.joiners < MAX_JOINERS {
                self.joiners += 1;
                self.push(c, LastCharClass::Joiner);
            }
        } else if char_policy(c) == CharPolicy::Emoji {
            match self.last {
                LastCharClass::Pictograph => self.push(c, LastCharClass::Dressed),
                LastCharClass::Digit if following.peek() == Some(&KEYCAP) => {
                    self.push(c, LastCharClass::Other);
                }
                _ => {}
            }
        } else if is_combining_mark(c) {
            if self.stacked < MAX_MARKS {
                self.stacked += 1;
                self.push(c, LastCharClass::Other);
            }
        } else {
            self.take_base(c);
        }
    }

    fn take_base(&mut self, c: char) {
        let kind = match c {
            '0'..='9' | '#' | '*' => LastCharClass::Digit,
            _ if is_skin_tone(c) && self.last == LastCharClass::Pictograph => {
                LastCharClass::Dressed
            }
            _ if is_pictographic(c) => LastCharClass::Pictograph,
            _ => LastCharClass::Other,
        };
        if self.last != LastCharClass::Joiner && kind != LastCharClass::Dressed {
            self.joiners = 0;
        }
        self.stacked = 0;
        self.push(c, kind);
    }

    fn push(&mut self, c: char, kind: LastCharClass) {
        self.out.push(c);
        self.last = kind;
    }
}

#[cfg(test)]
mod tests {
    use super::super::chars::is_lookalike_sign;
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    /// Returns whether text may be printed, checked independently of the sanitizer's tables.
    fn is_safe(text: &str) -> bool {
        let selectors = ['\u{200D}', '\u{FE0E}', '\u{FE0F}'];
        let hidden = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(u32::from(c), 0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
                    | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
        };
        text.graphemes(true).all(|cluster| {
            let emoji = cluster.chars().any(|c| is_pictographic(c) || c == '\u{20E3}');
            let stacked =
                cluster.chars().filter(|c| is_combining_mark(*c) && !selectors.contains(c)).count();
            cluster.chars().all(|c| !hidden(c) || emoji && selectors.contains(&c))
                && stacked <= 3 * MAX_MARKS
        })
    }

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "fn main() {}\n", "naïve – “quoted” 日本", "e\u{301}", "👩‍👩‍👧 ok", "1️⃣ ❤️ 👍🏽"]
        {
            assert!(matches!(clean_text(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn removes_complete_sequences() {
        assert_eq!(clean_text("\x1b[1;31merror\x1b[0m: no"), "error: no");
        assert_eq!(clean_text("a\x1b]0;owned\x07b\x1b]52;c;cm0=\x1b\\c"), "abc");
        assert_eq!(clean_text("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x1b\\"), "link");
        assert_eq!(clean_text("\x1bP+q\x1b\\\u{9b}2J\u{9d}0;t\u{9c}\x1b(Bz"), "z");
    }

    #[test]
    fn broken_sequences_leave_a_marker_and_hide_nothing() {
        assert_eq!(clean_text("\x1b]0;never closed"), "\u{FFFD}]0;never closed");
        assert_eq!(clean_text("\x1b[31"), "\u{FFFD}[31");
        assert_eq!(clean_text("\x1b\x1b[0m[31m"), "\u{FFFD}[31m");
        assert_eq!(clean_text("a\0\0\x08\u{7f}\u{84}b"), "a\u{FFFD}b");
        assert_eq!(clean_text("\u{90}sixel\nrows"), "\u{FFFD}sixel\nrows");
    }

    #[test]
    fn hidden_characters_are_dropped_or_replaced() {
        assert_eq!(clean_text("co\u{AD}op\u{200B}er\u{FEFF}ate"), "cooperate");
        assert_eq!(clean_text("abc\u{202E}fed\u{2066}"), "abc\u{FFFD}fed\u{FFFD}");
        assert_eq!(clean_text("hi\u{E0041}\u{E0042}\u{E007F}!"), "hi\u{FFFD}!");
        assert_eq!(clean_text("a\u{2028}b\u{2029}c"), "a\nb\nc");
    }

    #[test]
    fn line_ends_become_newlines() {
        assert_eq!(clean_text("a\r\nb\r\r\nc\r"), "a\nb\nc");
        assert_eq!(clean_text("old\rmac\r"), "old\nmac");
    }

    #[test]
    fn progress_output_keeps_its_last_drawing() {
        assert_eq!(clean_text("Fetch 10 %\rFetch 55 %\rFetch 100 %\nok"), "Fetch 100 %\nok");
        assert_eq!(clean_text("#   1%\r##  50%\r"), "##  50%");
        assert_eq!(clean_text("Loading\r       \rDone\n"), "Loading\nDone\n");
        assert_eq!(clean_text("rm -rf /\rls"), "rm -rf /\nls");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(clean_text("\ta\tb\nabcd\te\t\tf"), "    a   b\nabcd    e       f");
        assert_eq!(clean_text("日\tx"), "日  x");
    }

    #[test]
    fn joiners_are_kept_only_inside_emoji() {
        assert_eq!(clean_text("a\u{200D}b"), "ab");
        assert_eq!(clean_text("👩\u{200D}"), "👩");
        assert_eq!(clean_text("👩\u{200D}\u{200D}👧"), "👩\u{200D}👧");
        assert_eq!(clean_text("x\u{FE0F}1\u{FE0F}"), "x1");
        let chain = "👩\u{200D}".repeat(50);
        assert_eq!(clean_text(&chain).matches('\u{200D}').count(), 40);
    }

    #[test]
    fn marks_do_not_pile_up() {
        let tower = format!("z{}o", "\u{301}".repeat(100));
        assert_eq!(clean_text(&tower), format!("z{}o", "\u{301}".repeat(MAX_MARKS)));
    }

    #[test]
    fn one_line_text_has_no_newline() {
        assert_eq!(clean_line("a title\n"), "a title");
        assert_eq!(clean_line("two\r\n\nlines\u{2028}three"), "two lines three");
        assert!(matches!(clean_line("plain"), Cow::Borrowed("plain")));
        assert_eq!(clean_text(&from_bytes_lossy(b"ok\x9b31m\xff")), "ok\u{FFFD}31m\u{FFFD}");
    }

    /// Combines problematic pieces, with its own generator to be fast in an unoptimized build.
    fn hostile(seed: &mut u64) -> String {
        const PIECES: [&str; 40] = [
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x1bP",
            "\x1b\\",
            "\x07",
            "\u{9b}",
            "\u{9d}",
            "\u{9c}",
            "\u{90}",
            "[0m",
            "0;",
            "\r",
            "\n",
            "\t",
            "\0",
            "\x08",
            "\u{200D}",
            "\u{FE0F}",
            "\u{202E}",
            "\u{2066}",
            "\u{200B}",
            "\u{E0041}",
            "\u{301}",
            "\u{FEFF}",
            "👩",
            "🏽",
            "❤",
            "1",
            "\u{20E3}",
            "🇩",
            "日",
            "a",
            "é",
            " ",
            "ᄒ",
            "\u{1160}",
            "\u{2028}",
            "\u{AD}",
            "क\u{94D}",
        ];
        let mut next = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) as usize
        };
        (0..next() % 20).map(|_| PIECES[next() % PIECES.len()]).collect()
    }

    #[test]
    fn ten_thousand_hostile_strings_are_cleaned() {
        let mut seed = 7;
        for _ in 0..10_000 {
            let text = hostile(&mut seed);
            let cleaned = clean_text(&text);
            assert!(is_safe(&cleaned), "{text:?} -> {cleaned:?}");
            assert_eq!(clean_text(&cleaned), cleaned, "{text:?}");
            assert!(!clean_line(&text).contains('\n'));
        }
    }

    #[test]
    fn hostile_repetition_costs_linear_time() {
        for piece in [
            "\x1b]",
            "\x1bP",
            "\u{9d}",
            "\t",
            "\r",
            "a\r",
            "\x1b[",
            "👩\u{200D}",
            "\u{301}",
            "1\r \r",
        ] {
            assert!(is_safe(&clean_text(&piece.repeat(20_000))), "{piece:?}");
        }
    }

    proptest! {
        #[test]
        fn cleaning_is_idempotent_and_safe(text in any::<String>()) {
            let cleaned = clean_text(&text);
            prop_assert!(is_safe(&cleaned), "{:?}", cleaned);
            prop_assert_eq!(clean_text(&cleaned), cleaned.as_ref());
        }

        #[test]
        fn visible_text_is_untouched(text in "[ -~\n]{0,200}") {
            prop_assert_eq!(clean_text(&text), text.as_str());
            prop_assert!(!text.chars().any(is_lookalike_sign));
        }
    }
}
