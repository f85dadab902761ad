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

/// The name of a plan for a narrow column: the goal without its terms, such as "in 6 weeks" and what follows a comma.
pub fn short_plan_name(title: &str) -> String {
    let before_comma = title.split(", ").next().unwrap_or(title);
    let is_term = |(at, part): (usize, &str)| {
        let rest = &before_comma[at + part.len()..];
        let counts = rest.starts_with(|letter: char| letter.is_ascii_digit());
        counts || matches!(part.trim(), "by" | "before" | "until")
    };
    let parts = [" in ", " for ", " by ", " before ", " until "];
    let mut found = parts.iter().filter_map(|part| Some((before_comma.find(part)?, *part)));
    let end = found.find(|term| is_term(*term)).map_or(before_comma.len(), |(at, _)| at);
    let short = capitalize_title(before_comma[..end].trim_end());
    if short.is_empty() { capitalize_title(title) } else { short }
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
            ("Release 2.0 of the parser", "Release 2.0 of the parser"),
            (", ", ", "),
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
