//! A frame as a picture: one text element for each run of cells with the same style, on the background of a dark terminal.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 14.0;
const BACKGROUND: &str = "#0d1117";
const TEXT: &str = "#d7dce2";

/// The style of a cell.
#[derive(Clone, PartialEq)]
struct Look {
    fg: String,
    bg: Option<String>,
    bold: bool,
    italic: bool,
    struck: bool,
}

/// Draws a frame.
pub(crate) fn picture(buf: &Buffer) -> String {
    let (width, height) = (f64::from(buf.area.width), f64::from(buf.area.height));
    let (wide, high) = (width * CELL.0 + 2.0 * MARGIN, height * CELL.1 + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.1} {high:.1}\" width=\"{wide:.0}\" height=\"{high:.0}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for y in 0..buf.area.height {
        row(buf, y, &mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

fn row(buf: &Buffer, y: u16, svg: &mut String) {
    let mut x = 0;
    while x < buf.area.width {
        let start = x;
        let looks = look(&buf[(x, y)]);
        let mut text = String::new();
        while x < buf.area.width && look(&buf[(x, y)]) == looks {
            let symbol = buf[(x, y)].symbol();
            text.push_str(symbol);
            x += (symbol.width() as u16).max(1);
        }
        cells(&looks, &text, (start, x - start, y), svg);
    }
}

fn cells(look: &Look, text: &str, (x, count, y): (u16, u16, u16), svg: &mut String) {
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
    let width = text.width() as f64 * CELL.0;
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

fn look(cell: &Cell) -> Look {
    let (mut fg, mut bg) = (color(cell.fg), color(cell.bg));
    if cell.modifier.contains(Modifier::REVERSED) {
        let front = fg.unwrap_or_else(|| TEXT.to_owned());
        fg = Some(bg.unwrap_or_else(|| BACKGROUND.to_owned()));
        bg = Some(front);
    }
    Look {
        fg: fg.unwrap_or_else(|| TEXT.to_owned()),
        bg,
        bold: cell.modifier.contains(Modifier::BOLD),
        italic: cell.modifier.contains(Modifier::ITALIC),
        struck: cell.modifier.contains(Modifier::CROSSED_OUT),
    }
}

/// The default theme uses true colors; black on a badge is the only named one.
fn color(color: Color) -> Option<String> {
    match color {
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Black => Some("#000000".to_owned()),
        Color::White => Some("#ffffff".to_owned()),
        _ => None,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
