//! One row of the screen, written from the left and from the right.
//!
//! This is the door through which text reaches the buffer: everything is cleaned here, whoever wrote it, so that no
//! pane can forget to.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use planwright_text::{clean_line, display_width, truncate_end};

/// A piece of text in one style.
pub(crate) type StyledPiece<'a> = (Cow<'a, str>, Style);

/// Makes a piece.
pub(crate) fn styled_piece<'a>(text: impl Into<Cow<'a, str>>, style: Style) -> StyledPiece<'a> {
    (text.into(), style)
}

/// How many cells pieces take.
pub(crate) fn pieces_width(pieces: &[StyledPiece<'_>]) -> usize {
    pieces.iter().map(|(text, _)| display_width(&clean_line(text))).sum()
}

/// A title as titles are written: a goal that was typed in small letters begins with a large one.
pub(crate) fn capitalize_title(title: &str) -> String {
    let mut letters = title.chars();
    let Some(first) = letters.next() else { return String::new() };
    // A name such as iPhone stays as it is.
    if letters.clone().next().is_some_and(char::is_uppercase) {
        return title.to_owned();
    }
    first.to_uppercase().chain(letters).collect()
}

/// The name of a plan for a narrow column: the goal without its terms, such as "in 6 weeks" and ", 5 hours a week".
/// Only what is plainly a term goes: a number, a day or a season follows.
pub fn short_plan_name(title: &str) -> String {
    let after = |part: &str, fits: fn(&str) -> bool| {
        let mut found = title.match_indices(part).map(|(at, _)| at);
        found.find(|at| *at > 0 && fits(&title[at + part.len()..]))
    };
    let cuts = [
        after(", ", is_term),
        after(" in ", |text| starts_with_count(text) || starts_with_month(text)),
        after(" for ", starts_with_count),
        after(" by ", starts_with_date),
        after(" before ", starts_with_date),
        after(" until ", starts_with_date),
        after(" on ", starts_with_date),
        after(" every ", starts_with_date),
    ];
    let end = cuts.into_iter().flatten().min().unwrap_or(title.len());
    capitalize_title(title[..end].trim_end())
}

fn starts_with_month(text: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let first: String = text.chars().take_while(|letter| letter.is_alphabetic()).collect();
    MONTHS.contains(&first.as_str())
}

fn starts_with_count(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn starts_with_date(text: &str) -> bool {
    const NAMES: [&str; 25] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "spring",
        "summer",
        "autumn",
        "winter",
        "next",
        "tomorrow",
    ];
    let text = text.to_lowercase();
    let first: String = text.chars().take_while(|letter| letter.is_alphabetic()).collect();
    let is_short = |name: &str| first.len() == 3 && name.starts_with(&first);
    starts_with_count(&text)
        || text.starts_with("the end of")
        || NAMES.iter().any(|name| first == *name || is_short(name))
}

/// Whether a clause says when, how much or how often, and not what.
fn is_term(clause: &str) -> bool {
    let clause = clause.split(", ").next().unwrap_or(clause);
    let lower = clause.to_lowercase();
    let habits = ["evening", "morning", "weekend", "weekday", "every ", "budget "];
    starts_with_date(clause) || habits.iter().any(|habit| lower.starts_with(habit))
}

/// Text that fits so many cells without a word that is cut: whole clauses go, the last one first.
pub(crate) fn fit_clauses(text: &str, cols: usize) -> String {
    if display_width(text) <= cols {
        return text.to_owned();
    }
    let mut kept = text;
    for boundary in ["; ", ", "] {
        while display_width(kept) + CUT.chars().count() > cols
            && let Some((fewer, _)) = kept.rsplit_once(boundary)
        {
            kept = fewer;
        }
    }
    if kept == text { truncate_end(kept, cols).into_owned() } else { with_cut(kept, cols) }
}

/// Ends a text of which clauses were left out.
const CUT: &str = " …";

fn with_cut(kept: &str, cols: usize) -> String {
    if display_width(kept) + CUT.chars().count() > cols {
        return truncate_end(kept, cols).into_owned();
    }
    format!("{kept}{CUT}")
}

/// A row that is being written.
pub(crate) struct ScreenLine<'b> {
    buf: &'b mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl<'b> ScreenLine<'b> {
    /// Starts at the left of a row. Rows outside the buffer take nothing.
    pub(crate) fn new(buf: &'b mut Buffer, area: Rect) -> Self {
        let area = area.intersection(buf.area);
        let end = if area.height == 0 { area.x } else { area.right() };
        Self { buf, x: area.x, y: area.y, end }
    }

    /// How many cells are left.
    pub(crate) fn cells_left(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    /// Writes text, cut with `…` where it does not fit.
    pub(crate) fn put(&mut self, text: &str, style: Style) -> &mut Self {
        let clean = clean_line(text);
        let cut = truncate_end(&clean, self.cells_left());
        self.write(&cut, style)
    }

    /// Writes text into exactly so many cells.
    pub(crate) fn put_column(&mut self, text: &str, cols: usize, style: Style) -> &mut Self {
        let stop = (usize::from(self.x) + cols).min(usize::from(self.end)) as u16;
        let clean = clean_line(text);
        let cut = truncate_end(&clean, cols.min(self.cells_left()));
        self.write(&cut, style);
        self.x = self.x.max(stop);
        self
    }

    /// Writes several pieces.
    pub(crate) fn put_pieces(&mut self, pieces: &[StyledPiece<'_>]) -> &mut Self {
        for (text, style) in pieces {
            self.put(text, *style);
        }
        self
    }

    /// Leaves cells free.
    pub(crate) fn skip(&mut self, cols: usize) -> &mut Self {
        self.x = (usize::from(self.x) + cols).min(usize::from(self.end)) as u16;
        self
    }

    /// Writes pieces at the right end, if they fit whole, and keeps what comes from the left two cells away.
    pub(crate) fn put_right(&mut self, pieces: &[StyledPiece<'_>]) -> &mut Self {
        let width = pieces_width(pieces);
        if width == 0 || width > self.cells_left() {
            return self;
        }
        let start = self.end - width as u16;
        let (kept_x, kept_end) = (self.x, self.end);
        self.x = start;
        self.end = kept_end;
        self.put_pieces(pieces);
        self.x = kept_x;
        self.end = start.saturating_sub(2).max(kept_x);
        self
    }

    fn write(&mut self, text: &str, style: Style) -> &mut Self {
        if self.cells_left() > 0 {
            let (x, _) = self.buf.set_stringn(self.x, self.y, text, self.cells_left(), style);
            self.x = x;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(width: u16, write: impl FnOnce(&mut ScreenLine<'_>)) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, 1));
        let area = buf.area;
        write(&mut ScreenLine::new(&mut buf, area));
        (0..width).map(|x| buf[(x, 0)].symbol().to_owned()).collect()
    }

    #[test]
    fn text_from_the_left_stays_clear_of_text_at_the_right() {
        let plain = Style::default();
        let text = row(16, |line| {
            line.put_right(&[styled_piece("right", plain)]).put("a long text", plain);
        });
        assert_eq!(text, "a long t…  right");
    }

    #[test]
    fn control_characters_never_get_through() {
        let text = row(12, |line| {
            line.put("a\u{1b}[31mb\u{7}\u{202e}c", Style::default());
        });
        assert!(
            text.chars().all(|letter| !letter.is_control() && letter != '\u{202e}'),
            "{text:?}"
        );
    }

    #[test]
    fn a_plan_is_named_without_its_terms() {
        for (title, name) in [
            ("launch a newsletter in 6 weeks, evenings and Saturdays", "Launch a newsletter"),
            ("learn Rust, 5 hours a week", "Learn Rust"),
            ("move to a new apartment by the end of February", "Move to a new apartment"),
            ("organize an offsite in Lisbon for 40 people", "Organize an offsite in Lisbon"),
            ("write a report by 2026-07-10, 5 hours a week", "Write a report"),
            ("tidy the garage before Saturday", "Tidy the garage"),
            ("paint the fence by March", "Paint the fence"),
            ("train for a marathon on 2027-03-07, 4 hours a week", "Train for a marathon"),
            ("weekly review every Friday", "Weekly review"),
            ("a 3-day offsite in Lisbon in March for 40 people", "A 3-day offsite in Lisbon"),
            ("Release 2.0 of the parser", "Release 2.0 of the parser"),
            ("Build, test and release", "Build, test and release"),
            ("Travel by train through Italy", "Travel by train through Italy"),
            ("Read a novel by Tolstoy", "Read a novel by Tolstoy"),
            ("Draw portraits by Marco", "Draw portraits by Marco"),
            ("Before Christmas, clean the house", "Before Christmas, clean the house"),
            ("", ""),
        ] {
            assert_eq!(short_plan_name(title), name);
        }
    }

    #[test]
    fn columns_keep_their_place() {
        let plain = Style::default();
        let text = row(16, |line| {
            line.put_column("日本語の題", 6, plain).put("7", plain);
        });
        // A wide character leaves its second cell empty in the buffer.
        assert_eq!(text.replace(' ', ""), "日本…7");
    }
}
