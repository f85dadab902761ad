//! The frame of an overlay: centred, at most 100x30, over a dimmed screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, draw_frame, styled_piece};

/// Takes the screen behind an overlay back.
pub(super) fn dim_background(buf: &mut Buffer, cx: &PaneContext<'_>) {
    let style = cx.style(ThemeRole::Dim);
    for cell in &mut buf.content {
        // A selection or badge behind an overlay is no longer one.
        cell.bg = ratatui::style::Color::Reset;
        cell.set_style(
            Style { bg: None, ..style }.remove_modifier(Modifier::BOLD | Modifier::ITALIC),
        );
    }
}

/// Clears and frames an area of at most this size, and returns what is inside. The header stays visible.
pub(super) fn draw_overlay_frame(
    screen: Rect,
    (width, height): (u16, u16),
    title: &str,
    hint: &str,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) -> Rect {
    let room = OverlayRoom { screen, header: cx.areas.header.height };
    draw_framed_area(room, (width, height), title, hint, cx.style(ThemeRole::Focus), buf)
}

/// Where an overlay may stand: the screen without its header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverlayRoom {
    pub(crate) screen: Rect,
    /// The rows at the top that stay visible.
    pub(crate) header: u16,
}

/// Clears and frames an area of at most this size, on any screen, and returns what is inside.
pub(crate) fn draw_framed_area(
    room: OverlayRoom,
    (width, height): (u16, u16),
    title: &str,
    hint: &str,
    style: Style,
    buf: &mut Buffer,
) -> Rect {
    let (screen, top) = (room.screen, room.header);
    let room = Rect { y: screen.y + top, height: screen.height.saturating_sub(top), ..screen };
    let width = width.min(100).min(room.width);
    let height = height.min(30).min(room.height);
    let area = Rect {
        x: room.x + (room.width - width) / 2,
        y: room.y + (room.height - height) / 3,
        width,
        height,
    };
    if width < 4 || height < 3 {
        return Rect::default();
    }
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            let edge =
                (y == area.y || y + 1 == area.bottom(), x == area.x || x + 1 == area.right());
            let glyph = match edge {
                (true, true) => corner_glyph(area, x, y),
                (true, false) => "─",
                (false, true) => "│",
                (false, false) => " ",
            };
            let cell = &mut buf[(x, y)];
            cell.reset();
            cell.set_symbol(glyph).set_style(style);
        }
    }
    let row = |y: u16| Rect { x: area.x + 3, y, width: area.width - 6, height: 1 };
    if area.width > 8 {
        ScreenLine::new(buf, row(area.y)).put(&format!(" {title} "), style);
        // What the keys do stands at the left, the way out at the right.
        let (keys, close) = hint.rsplit_once("  Esc ").unwrap_or(("", ""));
        let mut line = ScreenLine::new(buf, row(area.bottom() - 1));
        if keys.is_empty() {
            line.put_right(&[styled_piece(format!(" {hint} "), style)]);
        } else {
            line.put_right(&[styled_piece(format!(" Esc {close} "), style)]);
            line.put(&format!(" {keys} "), style);
        }
    }
    Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
}

/// A line across the frame, joined to its sides.
pub(super) fn draw_frame_divider(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    draw_divider(row, cx.style(ThemeRole::Focus), buf);
}

/// The same without a session.
pub(crate) fn draw_divider(row: Rect, style: Style, buf: &mut Buffer) {
    for x in row.x..row.right() {
        buf[(x, row.y)].set_symbol("─").set_style(style);
    }
    buf[(row.x - 1, row.y)].set_symbol("├").set_style(style);
    buf[(row.right(), row.y)].set_symbol("┤").set_style(style);
}

/// A fact at the right end of the upper edge.
pub(super) fn draw_frame_fact(inner: Rect, text: &str, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let row = Rect {
        x: inner.x,
        y: inner.y.saturating_sub(1),
        width: inner.width.saturating_sub(2),
        height: 1,
    };
    let style = cx.style(ThemeRole::Focus);
    ScreenLine::new(buf, row).put_right(&[styled_piece(format!(" {text} "), style)]);
}

/// A fact at the left end of the lower edge.
pub(super) fn draw_frame_note(inner: Rect, text: &str, buf: &mut Buffer, cx: &PaneContext<'_>) {
    draw_note(inner, text, cx.style(ThemeRole::Focus), buf);
}

/// The same without a session.
pub(crate) fn draw_note(inner: Rect, text: &str, style: Style, buf: &mut Buffer) {
    let row =
        Rect { x: inner.x + 2, y: inner.bottom(), width: inner.width.saturating_sub(2), height: 1 };
    ScreenLine::new(buf, row).put(&format!(" {text} "), style);
}

fn corner_glyph(area: Rect, x: u16, y: u16) -> &'static str {
    match (y == area.y, x == area.x) {
        (true, true) => "┌",
        (true, false) => "┐",
        (false, true) => "└",
        (false, false) => "┘",
    }
}

/// The frame of a card that stands over any screen, with a note at the left and a hint at the right of its lower edge.
pub(crate) struct CardFrame<'a> {
    pub(crate) title: &'a str,
    pub(crate) note: &'a str,
    pub(crate) hint: &'a str,
}

impl CardFrame<'_> {
    /// Clears and frames an area of at most this size within `room`, and returns what is inside.
    pub(crate) fn draw(
        &self,
        room: Rect,
        (width, height): (u16, u16),
        style: Style,
        buf: &mut Buffer,
    ) -> Rect {
        let room = room.intersection(buf.area);
        let (width, height) = (width.min(room.width), height.min(room.height));
        if width < 12 || height < 3 {
            return Rect::default();
        }
        let area = Rect {
            x: room.x + (room.width - width) / 2,
            y: room.y + (room.height - height) / 3,
            width,
            height,
        };
        for position in area.positions() {
            buf[position].reset();
        }
        draw_frame(buf, area, style);
        let row = |y: u16| Rect { x: area.x + 3, y, width: area.width - 6, height: 1 };
        ScreenLine::new(buf, row(area.y)).put(&format!(" {} ", self.title), style);
        let mut foot = ScreenLine::new(buf, row(area.bottom() - 1));
        foot.put_right(&[styled_piece(format!(" {} ", self.hint), style)]);
        if !self.note.is_empty() && foot.cells_left() > self.note.len() + 2 {
            foot.put(&format!(" {} ", self.note), style);
        }
        Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
    }
}
