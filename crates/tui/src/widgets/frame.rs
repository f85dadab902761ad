//! Boxes and the lines between panes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the four sides; what is inside stays as it is.
pub(crate) fn draw_frame(buf: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buf.area);
    if area.width < 2 || area.height < 2 {
        return;
    }
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    for x in area.x + 1..right {
        buf[(x, area.y)].set_symbol("─").set_style(style);
        buf[(x, bottom)].set_symbol("─").set_style(style);
    }
    for y in area.y + 1..bottom {
        buf[(area.x, y)].set_symbol("│").set_style(style);
        buf[(right, y)].set_symbol("│").set_style(style);
    }
    let corners =
        [(area.x, area.y, "┌"), (right, area.y, "┐"), (area.x, bottom, "└"), (right, bottom, "┘")];
    for (x, y, glyph) in corners {
        buf[(x, y)].set_symbol(glyph).set_style(style);
    }
}

/// The line between two panes side by side, joined to the rules that end at it. Drawn after both of them.
pub(crate) fn draw_pane_divider(buf: &mut Buffer, x: u16, rows: Rect, style: Style) {
    let rows = rows.intersection(buf.area);
    if x == 0 || x + 1 >= buf.area.right() {
        return;
    }
    for y in rows.y..rows.bottom() {
        let is_rule = |x: u16| matches!(buf[(x, y)].symbol(), "─" | "━" | "┄" | "┅");
        let is_heavy = |x: u16| matches!(buf[(x, y)].symbol(), "━" | "┅");
        let (left, right) = (is_rule(x - 1), is_rule(x + 1));
        let glyph = match (y == rows.y, y + 1 == rows.bottom(), left, right) {
            (true, ..) => match (is_heavy(x - 1), is_heavy(x + 1)) {
                (true, true) => "┯",
                (true, false) => "┭",
                (false, true) => "┮",
                (false, false) => "┬",
            },
            (_, true, true, true) => "┴",
            (_, true, true, false) => "┘",
            (_, true, false, true) => "└",
            (_, _, true, true) if is_heavy(x - 1) || is_heavy(x + 1) => "┿",
            (_, _, true, true) => "┼",
            (_, _, true, false) if is_heavy(x - 1) => "┥",
            (_, _, true, false) => "┤",
            (_, _, false, true) if is_heavy(x + 1) => "┝",
            (_, _, false, true) => "├",
            (_, _, false, false) => "│",
        };
        buf[(x, y)].set_symbol(glyph).set_style(style);
    }
}

/// Draws a frame with heavy lines, as what has the cursor is drawn.
pub(crate) fn draw_heavy_frame(buf: &mut Buffer, area: Rect, style: Style) {
    draw_frame(buf, area, style);
    for position in area.intersection(buf.area).positions() {
        let Some(cell) = buf.cell_mut(position) else { continue };
        let heavy = match cell.symbol() {
            "─" => "━",
            "│" => "┃",
            "┌" => "┏",
            "┐" => "┓",
            "└" => "┗",
            "┘" => "┛",
            _ => continue,
        };
        let edge = position.y == area.y
            || position.y + 1 == area.bottom()
            || position.x == area.x
            || position.x + 1 == area.right();
        if edge {
            cell.set_symbol(heavy);
        }
    }
}
