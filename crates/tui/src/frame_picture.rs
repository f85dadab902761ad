//! A frame as a file: its text, or a picture with one text element for each run of cells with the same style, on the
//! background of a dark terminal.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::frame_cast::RecordedFrame;
use planwright_text::display_width;

const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 14.0;
const BACKGROUND: &str = "#0d1117";
const TEXT: &str = "#d7dce2";

/// The style of a cell.
#[derive(Clone, PartialEq)]
struct CellLook {
    fg: String,
    bg: Option<String>,
    bold: bool,
    italic: bool,
    struck: bool,
}

/// The rows of a frame without the spaces at their ends.
pub fn frame_text(buf: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buf.area.height {
        let (mut row, mut x) = (String::new(), 0);
        while x < buf.area.width {
            let symbol = buf[(x, y)].symbol();
            row.push_str(symbol);
            // The second cell of a wide character is not one of its own.
            x += (display_width(symbol) as u16).max(1);
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Draws frames one after the other as an animated SVG that begins again at its end. The last frame stays for a while.
pub fn frame_animation(frames: &[RecordedFrame]) -> String {
    let Some(first) = frames.first() else { return String::new() };
    let mut svg = picture_head(&first.buffer);
    let total = frames.last().map_or(0.0, |last| last.seconds) + LAST_FRAME_SECONDS;
    for (index, frame) in frames.iter().enumerate() {
        let from = frame.seconds / total;
        let until = frames.get(index + 1).map_or(1.0, |next| next.seconds / total);
        if until <= from {
            continue;
        }
        let (values, times) = match (from <= 0.0, until >= 1.0) {
            (true, true) => ("visible".to_owned(), "0".to_owned()),
            (true, false) => ("visible;hidden".to_owned(), format!("0;{until:.5}")),
            (false, true) => ("hidden;visible".to_owned(), format!("0;{from:.5}")),
            (false, false) => {
                ("hidden;visible;hidden".to_owned(), format!("0;{from:.5};{until:.5}"))
            }
        };
        let _ = writeln!(
            svg,
            "<g visibility=\"hidden\"><animate attributeName=\"visibility\" calcMode=\"discrete\" dur=\"{total:.2}s\" repeatCount=\"indefinite\" values=\"{values}\" keyTimes=\"{times}\"/>"
        );
        for y in 0..frame.buffer.area.height {
            draw_row(&frame.buffer, y, &mut svg);
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// How long an animation shows its last frame.
const LAST_FRAME_SECONDS: f64 = 3.0;

/// Draws a frame as SVG.
pub fn frame_picture(buf: &Buffer) -> String {
    let mut svg = picture_head(buf);
    for y in 0..buf.area.height {
        draw_row(buf, y, &mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

fn picture_head(buf: &Buffer) -> String {
    let (width, height) = (f64::from(buf.area.width), f64::from(buf.area.height));
    let (wide, high) = (width * CELL.0 + 2.0 * MARGIN, height * CELL.1 + 2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.1} {high:.1}\" width=\"{wide:.0}\" height=\"{high:.0}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    )
}

fn draw_row(buf: &Buffer, y: u16, svg: &mut String) {
    let mut x = 0;
    while x < buf.area.width {
        let start = x;
        let looks = cell_look(&buf[(x, y)]);
        let mut text = String::new();
        while x < buf.area.width && cell_look(&buf[(x, y)]) == looks {
            let symbol = buf[(x, y)].symbol();
            text.push_str(symbol);
            x += (display_width(symbol) as u16).max(1);
        }
        draw_run(&looks, &text, (start, x - start, y), svg);
    }
}

fn draw_run(look: &CellLook, text: &str, (x, count, y): (u16, u16, u16), svg: &mut String) {
    let left = MARGIN + f64::from(x) * CELL.0;
    let top = MARGIN + f64::from(y) * CELL.1;
    let width = f64::from(count) * CELL.0;
    if let Some(bg) = &look.bg {
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{bg}\"/>",
            CELL.1
        );
    }
    if text.trim().is_empty() {
        return;
    }
    // Spaces at the ends show nothing; those between words keep their width.
    let lead = text.len() - text.trim_start().len();
    let (left, text) = (left + lead as f64 * CELL.0, text.trim());
    let width = display_width(text) as f64 * CELL.0;
    let mut style = format!("fill=\"{}\"", look.fg);
    for (on, attribute) in [
        (look.bold, " font-weight=\"bold\""),
        (look.italic, " font-style=\"italic\""),
        (look.struck, " text-decoration=\"line-through\""),
    ] {
        if on {
            style.push_str(attribute);
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{left:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" xml:space=\"preserve\" {style}>{}</text>",
        top + CELL.1 * 0.74,
        escaped(text)
    );
}

fn cell_look(cell: &Cell) -> CellLook {
    let (mut fg, mut bg) = (color(cell.fg), color(cell.bg));
    if cell.modifier.contains(Modifier::REVERSED) {
        let front = fg.unwrap_or_else(|| TEXT.to_owned());
        fg = Some(bg.unwrap_or_else(|| BACKGROUND.to_owned()));
        bg = Some(front);
    }
    CellLook {
        fg: fg.unwrap_or_else(|| TEXT.to_owned()),
        bg,
        bold: cell.modifier.contains(Modifier::BOLD),
        italic: cell.modifier.contains(Modifier::ITALIC),
        struck: cell.modifier.contains(Modifier::CROSSED_OUT),
    }
}

/// The code of a color; none where the terminal decides. Themes with 16 colors get the usual ones.
fn color(color: Color) -> Option<String> {
    let named = match color {
        Color::Rgb(red, green, blue) => return Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Black => "#000000",
        Color::Red => "#cd3131",
        Color::Green => "#0dbc79",
        Color::Yellow => "#c7a500",
        Color::Blue => "#2472c8",
        Color::Magenta => "#bc3fbc",
        Color::Cyan => "#11a8cd",
        Color::Gray => "#d0d0d0",
        Color::DarkGray => "#767676",
        Color::LightRed => "#f14c4c",
        Color::LightGreen => "#23d18b",
        Color::LightYellow => "#f5f543",
        Color::LightBlue => "#3b8eea",
        Color::LightMagenta => "#d670d6",
        Color::LightCyan => "#29b8db",
        Color::White => "#ffffff",
        Color::Reset | Color::Indexed(_) => return None,
    };
    Some(named.to_owned())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn a_frame_is_written_as_text_and_as_a_picture() {
        let mut frame = Buffer::empty(Rect::new(0, 0, 12, 2));
        frame.set_string(1, 0, "日本 <a>", Style::default().fg(Color::Rgb(1, 2, 255)));
        frame.set_string(0, 1, "x", Style::default().add_modifier(Modifier::REVERSED));
        assert_eq!(frame_text(&frame), " 日本 <a>\nx\n");
        let svg = frame_picture(&frame);
        assert!(svg.contains("日本 &lt;a&gt;</text>") && svg.contains("#0102ff"), "{svg}");
        assert!(svg.contains(&format!("fill=\"{TEXT}\"/>")), "{svg}");
    }
}
