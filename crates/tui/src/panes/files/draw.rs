//! Draws the files at the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{DiffRow, DiffRowKind, FileRow};
use crate::clock::format_time_of_day;
use crate::pane_context::{Pane, PaneContext};
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, styled_piece};
use planwright_text::truncate_middle;

/// From here on a row has room for the task.
const WITH_TASK: u16 = 72;
/// Said where commands ran, whose changes no journal records.
const NOT_RECORDED: &str = "edits by agents, not those of commands";

/// The files at the cursor.
pub(crate) struct FilesPane;

/// Where the parts of the pane go: its rule, the list, the rule of the difference, the difference, the remark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FilesAreas {
    list: Rect,
    rule: Rect,
    diff: Rect,
    remark: Rect,
}

impl FilesAreas {
    fn new(area: Rect, files: usize, remark: bool) -> Self {
        let rows = area.height.saturating_sub(1);
        let remark = u16::from(remark && rows > 3);
        let rows = rows - remark;
        let list = (files.max(1) as u16).min((rows / 3).max(1)).min(rows);
        let rule = u16::from(files > 0 && rows > list + 1);
        let part = |from: u16, height: u16| Rect { y: area.y + 1 + from, height, ..area };
        Self {
            list: part(0, list),
            rule: part(list, rule),
            diff: part(list + rule, if rule == 0 { 0 } else { rows - list - rule }),
            remark: part(rows, remark),
        }
    }
}

impl FilesPane {
    /// The file whose row covers a point.
    pub(crate) fn file_at(
        area: Rect,
        y: u16,
        cx: &crate::panes::files::FilesCache,
    ) -> Option<usize> {
        let list = FilesAreas::new(area, cx.files.len(), cx.commands > 0).list;
        let row = usize::from(y.checked_sub(list.y)?);
        let top = list_top(cx.shown, usize::from(list.height));
        Some(top + row).filter(|index| row < usize::from(list.height) && *index < cx.files.len())
    }

    /// How many rows of the difference are on the screen.
    pub(crate) fn diff_rows(area: Rect, cx: &crate::panes::files::FilesCache) -> u16 {
        FilesAreas::new(area, cx.files.len(), cx.commands > 0).diff.height
    }
}

/// The first file of the list, so that the shown one is among them.
fn list_top(shown: usize, rows: usize) -> usize {
    (shown + 1).saturating_sub(rows)
}

impl Pane for FilesPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        draw_head(area, buf, cx);
        let files = &cx.files.files;
        let areas = FilesAreas::new(area, files.len(), cx.files.commands > 0);
        if files.is_empty() {
            let words = match cx.files.commands {
                0 => "Nothing has changed up to here.",
                _ => "No edits by agents up to here.",
            };
            ScreenLine::new(buf, areas.list).skip(1).put(words, cx.style(ThemeRole::Dim));
        }
        draw_list(areas.list, buf, cx);
        if let Some(file) = files.get(cx.files.shown) {
            draw_diff_rule(areas.rule, file, buf, cx);
            draw_diff(areas.diff, buf, cx);
        }
        ScreenLine::new(buf, areas.remark).skip(3).put(NOT_RECORDED, cx.style(ThemeRole::Dim));
    }
}

fn draw_head(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Files);
    let at = cx.state.at.map(|at| format!(" at {}", format_time_of_day(at, cx.time_zone)));
    let name = format!("files{} · since the start", at.unwrap_or_default());
    let files = &cx.files.files;
    let sum = |figure: fn(&FileRow) -> usize| files.iter().map(figure).sum::<usize>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    let changed = if area.width >= WITH_TASK { " changed" } else { "" };
    let facts = format!("{}{changed}, +{added} -{removed}", files.len());
    let facts = if files.is_empty() { Vec::new() } else { vec![styled_piece(facts, style)] };
    draw_pane_rule(buf, area, kind, style, &[styled_piece(name, style)], &facts);
}

fn draw_list(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = usize::from(area.height);
    let top = list_top(cx.files.shown, rows);
    let focused = cx.ui.focus == PaneFocus::Files;
    for ((index, file), y) in cx.files.files.iter().enumerate().skip(top).zip(area.y..area.bottom())
    {
        let row = Rect { y, height: 1, ..area };
        let shown = index == cx.files.shown;
        if shown && focused {
            buf.set_style(row, cx.style(ThemeRole::Selection));
        }
        let mut line = ScreenLine::new(buf, row);
        let mut figures = Vec::new();
        if file.added > 0 || file.removed == 0 {
            figures.push(styled_piece(format!("+{}", file.added), cx.style(ThemeRole::DiffAdded)));
        }
        if file.removed > 0 {
            figures.push(styled_piece(
                format!(" -{}", file.removed),
                cx.style(ThemeRole::DiffRemoved),
            ));
        }
        figures.push(styled_piece(" ", cx.style(ThemeRole::Dim)));
        line.put_right(&figures);
        line.skip(1).put(if shown { "►" } else { " " }, cx.style(ThemeRole::Focus)).skip(1);
        let path = if area.width >= WITH_TASK { 33 } else { line.cells_left() };
        let name = truncate_middle(&file.path, path);
        line.put_column(&name, path, cx.style(ThemeRole::Text));
        if area.width >= WITH_TASK {
            line.skip(1).put(&format!("by {}", file.task), cx.style(ThemeRole::Dim));
        }
    }
}

fn draw_diff_rule(area: Rect, file: &FileRow, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (mut kind, style) = cx.rule_style(PaneFocus::Files);
    kind.focus = false;
    let name = if area.width >= WITH_TASK {
        file.path.clone()
    } else {
        format!("{} · by {}", file.path, file.task)
    };
    draw_pane_rule(buf, area, kind, style, &[styled_piece(name, style)], &[]);
}

fn draw_diff(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = cx.files.diff.iter().skip(cx.ui.files.scroll);
    for (DiffRow { kind, text }, y) in rows.zip(area.y..area.bottom()) {
        let (sign, role) = match kind {
            DiffRowKind::Added => ("+ ", ThemeRole::DiffAdded),
            DiffRowKind::Removed => ("- ", ThemeRole::DiffRemoved),
            DiffRowKind::Same => ("  ", ThemeRole::Untrusted),
            DiffRowKind::Heading => ("", ThemeRole::Dim),
        };
        let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
        line.skip(3).put(sign, cx.style(role)).put(text, cx.style(role));
    }
}
