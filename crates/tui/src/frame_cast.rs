//! A sequence of frames as a recording for terminal players: asciicast, version 2.

use std::fmt::Write as _;

use jiff::Timestamp;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use serde_json::json;

use planwright_text::display_width;

/// A frame and when it is shown, counted from the first one.
#[derive(Clone, Debug)]
pub struct RecordedFrame {
    pub seconds: f64,
    pub buffer: Buffer,
}

/// Renders a recording. Frames have one size; only rows that changed are drawn again.
pub fn frame_cast(title: &str, recorded_at: Timestamp, frames: &[RecordedFrame]) -> String {
    let Some(first) = frames.first() else { return String::new() };
    let size = first.buffer.area;
    let header = json!({
        "version": 2, "width": size.width, "height": size.height, "timestamp": recorded_at.as_second(),
        "title": title, "env": { "TERM": "xterm-256color" },
    });
    let mut text = format!("{header}\n");
    let mut shown: Option<&Buffer> = None;
    for frame in frames {
        let mut data =
            if shown.is_none() { "\u{1b}[?25l\u{1b}[2J".to_owned() } else { String::new() };
        for y in 0..size.height {
            if shown.is_none_or(|shown| !is_same_row(shown, &frame.buffer, y)) {
                write_row(&frame.buffer, y, &mut data);
            }
        }
        shown = Some(&frame.buffer);
        if !data.is_empty() {
            let _ = writeln!(text, "{}", json!([frame.seconds, "o", data]));
        }
    }
    text
}

fn is_same_row(one: &Buffer, other: &Buffer, y: u16) -> bool {
    one.area == other.area && (0..one.area.width).all(|x| one[(x, y)] == other[(x, y)])
}

fn write_row(buf: &Buffer, y: u16, data: &mut String) {
    let _ = write!(data, "\u{1b}[{};1H\u{1b}[0m", y + 1);
    let (mut style, mut x) = (String::new(), 0);
    while x < buf.area.width {
        let cell = &buf[(x, y)];
        let wanted = cell_style(cell);
        if wanted != style {
            let _ = write!(data, "\u{1b}[0{wanted}m");
            style = wanted;
        }
        data.push_str(cell.symbol());
        // The second cell of a wide character is not one of its own.
        x += (display_width(cell.symbol()) as u16).max(1);
    }
    data.push_str("\u{1b}[0m");
}

/// The numbers that set the style of a cell, each behind a semicolon.
fn cell_style(cell: &Cell) -> String {
    let mut numbers = String::new();
    for (modifier, number) in [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::REVERSED, 7),
        (Modifier::CROSSED_OUT, 9),
    ] {
        if cell.modifier.contains(modifier) {
            let _ = write!(numbers, ";{number}");
        }
    }
    write_color(cell.fg, 30, &mut numbers);
    write_color(cell.bg, 40, &mut numbers);
    numbers
}

/// A color of the text (`base` 30) or of what is behind it (40).
fn write_color(color: Color, base: u8, numbers: &mut String) {
    let named = match color {
        Color::Reset => return,
        Color::Rgb(red, green, blue) => {
            let _ = write!(numbers, ";{};2;{red};{green};{blue}", base + 8);
            return;
        }
        Color::Indexed(index) => {
            let _ = write!(numbers, ";{};5;{index}", base + 8);
            return;
        }
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 60,
        Color::LightRed => 61,
        Color::LightGreen => 62,
        Color::LightYellow => 63,
        Color::LightBlue => 64,
        Color::LightMagenta => 65,
        Color::LightCyan => 66,
        Color::White => 67,
    };
    let _ = write!(numbers, ";{}", base + named);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn only_rows_that_changed_are_drawn_again() {
        let mut first = Buffer::empty(Rect::new(0, 0, 6, 2));
        first.set_string(0, 0, "日本", Style::default().fg(Color::Rgb(1, 2, 3)));
        let mut second = first.clone();
        second.set_string(0, 1, "x", Style::default().fg(Color::Red).add_modifier(Modifier::BOLD));
        let frame = |seconds, buffer: &Buffer| RecordedFrame { seconds, buffer: buffer.clone() };
        let frames = [frame(0.0, &first), frame(0.5, &first), frame(1.5, &second)];
        let cast = frame_cast("t", Timestamp::UNIX_EPOCH, &frames);
        let lines: Vec<serde_json::Value> =
            cast.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["version"], &lines[0]["width"]), (&json!(2), &json!(6)));
        assert_eq!(lines.len(), 3, "a frame that changes nothing is not written: {cast}");
        assert!(lines[1][2].as_str().unwrap().contains("\u{1b}[0;38;2;1;2;3m日本"), "{cast}");
        let last = "\u{1b}[2;1H\u{1b}[0m\u{1b}[0;1;31mx\u{1b}[0m     \u{1b}[0m";
        assert_eq!(lines[2], json!([1.5, "o", last]));
    }
}
