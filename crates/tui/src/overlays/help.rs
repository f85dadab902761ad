//! Help: every action with its key, from the key map, and what the glyphs mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame;
use crate::keymap::{ActionEntry, ActionGroup, KeyContext, TABLE};
use crate::pane_context::{PaneContext, SessionViewMode};
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::ScreenLine;

const GLYPHS: [&str; 2] = [
    "✓ done  ► running  · waiting  ◦ ready  @ yours  ? asks  ✗ failed  » skipped  ■ held",
    "heavy line: critical path   double box: selected   ~ thought  > action  < observed",
];
const GROUPS: [(ActionGroup, &str); 4] = [
    (ActionGroup::Move, "move"),
    (ActionGroup::Look, "look"),
    (ActionGroup::Decide, "decide"),
    (ActionGroup::Time, "time"),
];

/// A row of help.
#[derive(Clone, Copy)]
enum HelpRow {
    Heading(&'static str),
    Entry(&'static ActionEntry),
    Gap,
}

pub(super) fn draw_help(scroll: usize, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = help_rows();
    let columns = if screen.width >= 92 { 3 } else { 1 };
    let height = rows.len().div_ceil(columns);
    let title =
        format!("help · session, {} · {} has focus", mode_name(cx.mode), focus_name(cx.ui.focus));
    let size = (100, (height + GLYPHS.len() + 2) as u16);
    let inner = frame::draw_overlay_frame(
        screen,
        size,
        &title,
        "dim: not possible here · Esc close",
        buf,
        cx,
    );
    let most = (height + GLYPHS.len()).saturating_sub(usize::from(inner.height));
    let works = crate::session::active_key_places(cx.ui, cx.state, cx.mode);
    for (line, y) in (scroll.min(most)..height + GLYPHS.len()).zip(inner.y..inner.bottom()) {
        let area = Rect { y, height: 1, ..inner };
        if let Some(text) = line.checked_sub(height).and_then(|glyphs| GLYPHS.get(glyphs)) {
            ScreenLine::new(buf, area).skip(2).put(text, cx.style(ThemeRole::Dim));
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
        frame::draw_frame_note(inner, &format!("{below} more below"), buf, cx);
    }
}

/// All groups one after the other, to be broken into columns.
fn help_rows() -> Vec<HelpRow> {
    let mut rows = Vec::new();
    for (group, name) in GROUPS {
        if !rows.is_empty() {
            rows.push(HelpRow::Gap);
        }
        rows.push(HelpRow::Heading(name));
        rows.extend(
            TABLE
                .iter()
                .filter(|entry| entry.group == group)
                .filter(|entry| !entry.place.is_home() && entry.place != KeyContext::Compare)
                .filter(|entry| !entry.keys.is_empty())
                .map(HelpRow::Entry),
        );
    }
    rows
}

fn draw_row(
    row: HelpRow,
    works: &[KeyContext],
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mut line = ScreenLine::new(buf, area);
    match row {
        HelpRow::Gap => {}
        HelpRow::Heading(name) => {
            line.skip(2).put(name, cx.theme.bold_style(ThemeRole::Text));
        }
        HelpRow::Entry(entry) => {
            let possible = works.contains(&entry.place);
            let role = |role| if possible { role } else { ThemeRole::Dim };
            line.skip(2).put_column(
                &cx.keymap.key_hint(entry.action),
                10,
                cx.style(role(ThemeRole::Key)),
            );
            let room = usize::from(area.width).saturating_sub(13);
            line.put_column(entry.words, room, cx.style(role(ThemeRole::Text)));
        }
    }
}

fn mode_name(mode: SessionViewMode) -> &'static str {
    match mode {
        SessionViewMode::Live => "live",
        SessionViewMode::Paused => "paused",
        SessionViewMode::Saved | SessionViewMode::ScrubbedBack => "replay",
    }
}

fn focus_name(focus: PaneFocus) -> &'static str {
    match focus {
        PaneFocus::Graph => "graph",
        PaneFocus::Trace => "trace",
        PaneFocus::Running => "running",
        PaneFocus::Approval => "approval",
    }
}
