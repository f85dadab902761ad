//! Help: every action with its key, from the key map, and what the glyphs mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame;
use crate::tui::context::{Mode, PaneContext};
use crate::tui::keymap::{Entry, Group, Place, TABLE};
use crate::tui::theme::Role;
use crate::tui::ui_state::Focus;
use crate::tui::widgets::Line;

const GLYPHS: [&str; 2] = [
    "✓ done  ► running  · waiting  ◦ ready  @ yours  ? asks  ✗ failed  » skipped  ■ held",
    "heavy line: critical path   double box: selected   ~ thought  > action  < observed",
];

pub(super) fn draw(scroll: usize, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let columns: Vec<Vec<&Entry>> = [Group::Move, Group::Decide, Group::Time]
        .iter()
        .map(|group| TABLE.iter().filter(|entry| entry.group == *group).collect())
        .collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let height = (rows + 2 + GLYPHS.len() + 2) as u16;
    let title =
        format!("help · session, {} · {} has focus", mode_word(cx.mode), focus_word(cx.ui.focus));
    let inner =
        frame::draw(screen, (100, height), &title, "dim: not possible here · Esc close", buf, cx);
    let narrow = inner.width < 90;
    let lines = if narrow { stacked(&columns) } else { side_by_side(&columns, rows) };
    let most = (lines.len() + GLYPHS.len()).saturating_sub(usize::from(inner.height));
    let mut y = inner.y;
    for line in lines.iter().skip(scroll.min(most)) {
        if y >= inner.bottom() {
            return;
        }
        draw_line(line, Rect { y, height: 1, ..inner }, narrow, buf, cx);
        y += 1;
    }
    for text in GLYPHS {
        if y < inner.bottom() {
            Line::new(buf, Rect { y, height: 1, ..inner }).skip(2).put(text, cx.style(Role::Dim));
            y += 1;
        }
    }
}

/// A row of help: an entry for each column, or a heading.
enum Row<'a> {
    Heading(Vec<&'static str>),
    Entries(Vec<Option<&'a Entry>>),
}

fn side_by_side<'a>(columns: &[Vec<&'a Entry>], rows: usize) -> Vec<Row<'a>> {
    let entries = (0..rows)
        .map(|row| Row::Entries(columns.iter().map(|column| column.get(row).copied()).collect()));
    std::iter::once(Row::Heading(vec!["move", "decide", "time"])).chain(entries).collect()
}

fn stacked<'a>(columns: &[Vec<&'a Entry>]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (column, name) in columns.iter().zip(["move", "decide", "time"]) {
        rows.push(Row::Heading(vec![name]));
        rows.extend(column.iter().map(|entry| Row::Entries(vec![Some(entry)])));
    }
    rows
}

fn draw_line(row: &Row<'_>, area: Rect, narrow: bool, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let width = if narrow { usize::from(area.width) } else { usize::from(area.width) / 3 };
    let mut line = Line::new(buf, area);
    match row {
        Row::Heading(names) => {
            for name in names {
                line.skip(2).column(name, width - 2, cx.theme.bold(Role::Text));
            }
        }
        Row::Entries(entries) => {
            for entry in entries {
                let Some(entry) = entry else {
                    line.skip(width);
                    continue;
                };
                let works = places(cx).contains(&entry.place);
                let role = |role| if works { role } else { Role::Dim };
                line.skip(2).column(&cx.keymap.key(entry.action), 10, cx.style(role(Role::Key)));
                line.column(entry.words, width.saturating_sub(13), cx.style(role(Role::Text)))
                    .skip(1);
            }
        }
    }
}

/// The places whose keys mean something on the screen behind.
fn places(cx: &PaneContext<'_>) -> Vec<Place> {
    crate::tui::session::places(cx.ui, cx.state, cx.mode)
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
