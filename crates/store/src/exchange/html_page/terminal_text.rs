//! What commands printed, with its colors, as HTML. Everything else that a terminal would obey is taken out.

use std::fmt::Write;

use super::escape_html;
use planwright_text as text;

/// Styles for the 16 colors of a terminal, readable on light and dark pages.
pub(super) const STYLE: &str = ".a1,.a9{color:var(--fail)}.a2,.a10{color:var(--done)}.a3,.a11{color:var(--skip)}.a4,.a12{color:var(--run)}\
.a5,.a13{color:var(--yours)}.a6,.a14{color:#1b7c83}.a0,.a7,.a8,.a15{color:var(--dim)}.ab{font-weight:600}.ai{font-style:italic}.au{text-decoration:underline}";

/// How text looks until the next change.
#[derive(Clone, Debug, Default, PartialEq)]
struct TextStyle {
    color: Option<TerminalColor>,
    bold: bool,
    italic: bool,
    underlined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TerminalColor {
    Named(u8),
    Rgb(u8, u8, u8),
}

/// Renders a text for a `pre` element.
pub(super) fn render_terminal_text(printed: &str) -> String {
    let mut out = String::new();
    let mut style = TextStyle::default();
    for line in printed.split_inclusive('\n') {
        // A line that was drawn over again shows what it was last.
        let body = line.trim_end_matches(['\n', '\r']);
        let last = body.rsplit('\r').next().unwrap_or(body);
        write_styled(last, &mut style, &mut out);
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

fn write_styled(line: &str, style: &mut TextStyle, out: &mut String) {
    let mut rest = line;
    while let Some(start) = rest.find("\u{1b}[") {
        write_run(&rest[..start], style, out);
        let after = &rest[start + 2..];
        let Some(end) = after.find(|c: char| ('@'..='~').contains(&c)) else { return };
        if after[end..].starts_with('m') {
            style.apply(&after[..end]);
        }
        // The character that ends a sequence is one byte long.
        rest = &after[end + 1..];
    }
    write_run(rest, style, out);
}

fn write_run(run: &str, style: &TextStyle, out: &mut String) {
    let plain = escape_html(&text::clean_line(run));
    if plain.is_empty() {
        return;
    }
    let (mut classes, mut inline) = (Vec::new(), String::new());
    match style.color {
        Some(TerminalColor::Named(number)) => classes.push(format!("a{number}")),
        Some(TerminalColor::Rgb(red, green, blue)) => {
            inline = format!(" style=\"color:#{red:02x}{green:02x}{blue:02x}\"");
        }
        None => {}
    }
    for (on, class) in [(style.bold, "ab"), (style.italic, "ai"), (style.underlined, "au")] {
        if on {
            classes.push(class.to_owned());
        }
    }
    if classes.is_empty() && inline.is_empty() {
        out.push_str(&plain);
    } else {
        let _ = write!(out, "<span class=\"{}\"{inline}>{plain}</span>", classes.join(" "));
    }
}

impl TextStyle {
    /// Applies the numbers of a "select graphic rendition" sequence; unknown ones do nothing.
    fn apply(&mut self, numbers: &str) {
        let mut codes = numbers.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                22 => self.bold = false,
                23 => self.italic = false,
                24 => self.underlined = false,
                30..=37 => self.color = Some(TerminalColor::Named((code - 30) as u8)),
                90..=97 => self.color = Some(TerminalColor::Named((code - 82) as u8)),
                39 => self.color = None,
                38 => self.color = extended_color(&mut codes),
                48 => {
                    extended_color(&mut codes);
                }
                _ => {}
            }
        }
    }
}

/// A color behind 38 or 48: one of 256, or red, green and blue.
fn extended_color(codes: &mut impl Iterator<Item = u16>) -> Option<TerminalColor> {
    let mut byte = || codes.next().and_then(|code| u8::try_from(code).ok());
    match byte()? {
        5 => match byte()? {
            named @ 0..=15 => Some(TerminalColor::Named(named)),
            gray @ 232..=255 => {
                let level = 8 + (gray - 232) * 10;
                Some(TerminalColor::Rgb(level, level, level))
            }
            cube => {
                let level = |part: u8| if part == 0 { 0 } else { 55 + part * 40 };
                let cube = cube - 16;
                Some(TerminalColor::Rgb(level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
            }
        },
        2 => Some(TerminalColor::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_kept_and_nothing_else_of_an_escape_sequence() {
        let html =
            render_terminal_text("a \u{1b}[1;31merror\u{1b}[0m <b>\u{1b}[2J\u{1b}]0;title\u{7}\n");
        assert!(html.starts_with("a <span class=\"a1 ab\">error</span> &lt;b&gt;"), "{html}");
        assert!(!html.contains('\u{1b}') && !html.contains('\u{7}'));
        assert_eq!(
            render_terminal_text("\u{1b}[38;2;1;2;3mx\u{1b}[38;5;208my"),
            "<span class=\"\" style=\"color:#010203\">x</span><span class=\"\" style=\"color:#ff8700\">y</span>"
        );
        assert_eq!(render_terminal_text("10 %\r20 %\r\nend"), "20 %\nend");
        assert_eq!(render_terminal_text("cut \u{1b}[31"), "cut ");
    }
}
