//! Help: every action with its key, from the key map, and what the glyphs mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame;
use crate::context::{Mode, PaneContext};
use crate::keymap::{Entry, Group, Place, TABLE};
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::Line;

const GLYPHS: [&str; 2] = [
    "✓ done  ► running  · waiting  ◦ ready  @ yours  ? asks  ✗ failed  » skipped  ■ held",
    "heavy line: critical path   double box: selected   ~ thought  > action  < observed",
];
const GROUPS: [(Group, &str); 4] = [
    (Group::Move, "move"),
    (Group::Look, "look"),
    (Group::Decide, "decide"),
    (Group::Time, "time"),
];

/// A row of help.
#[derive(Clone, Copy)]
enum Row {
    Heading(&'static str),
    Entry(&'static Entry),
    Gap,
}

pub(super) fn draw(scroll: usize, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = rows();
    let columns = if screen.width >= 92 { 3 } else { 1 };
    let height = rows.len().div_ceil(columns);
    let title =
        format!("help · session, {} · {} has focus", mode_word(cx.mode), focus_word(cx.ui.focus));
    let size = (100, (height + GLYPHS.len() + 2) as u16);
    let inner = frame::draw(screen, size, &title, "dim: not possible here · Esc close", buf, cx);
    let most = (height + GLYPHS.len()).saturating_sub(usize::from(inner.height));
    let works = crate::session::places(cx.ui, cx.state, cx.mode);
    for (line, y) in (scroll.min(most)..height + GLYPHS.len()).zip(inner.y..inner.bottom()) {
        let area = Rect { y, height: 1, ..inner };
        if let Some(text) = line.checked_sub(height).and_then(|glyphs| GLYPHS.get(glyphs)) {
            Line::new(buf, area).skip(2).put(text, cx.style(Role::Dim));
            continue;
        }
        let width = inner.width / columns as u16;
        for column in 0..columns {
            if let Some(row) = rows.get(column * height + line) {
                let area = Rect { x: inner.x + column as u16 * width, width, ..area };
                draw_row(*row, &works, area, buf, cx);
            }
        }
    }
    if most > 0 {
        let below = most - scroll.min(most);
        frame::note(inner, &format!("{below} more below"), buf, cx);
    }
}

/// All groups one after the other, to be broken into columns.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (group, name) in GROUPS {
        if !rows.is_empty() {
            rows.push(Row::Gap);
        }
        rows.push(Row::Heading(name));
        rows.extend(
            TABLE
                .iter()
                .filter(|entry| entry.group == group)
                .filter(|entry| !entry.place.is_home() && entry.place != Place::Compare)
                .filter(|entry| !entry.keys.is_empty())
                .map(Row::Entry),
        );
    }
    rows
}

fn draw_row(row: Row, works: &[Place], area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let mut line = Line::new(buf, area);
    match row {
        Row::Gap => {}
        Row::Heading(name) => {
            line.skip(2).put(name, cx.theme.bold(Role::Text));
        }
        Row::Entry(entry) => {
            let possible = works.contains(&entry.place);
            let role = |role| if possible { role } else { Role::Dim };
            line.skip(2).column(&cx.keymap.key(entry.action), 10, cx.style(role(Role::Key)));
            let room = usize::from(area.width).saturating_sub(13);
            line.column(entry.words, room, cx.style(role(Role::Text)));
        }
    }
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "live",
        Mode::Paused => "paused",
        Mode::Saved | Mode::ScrubbedBack => "replay",
    }
}

fn focus_word(focus: Focus) -> &'static str {
    match focus {
        Focus::Graph => "graph",
        Focus::Trace => "trace",
        Focus::Running => "running",
        Focus::Approval => "approval",
    }
}
