//! The outline: the plan as a document. Phases with their totals, tasks with who, time and when, and under a row what
//! makes it done, its command word for word, remarks with their fate, and what it was in the draft before.

use jiff::civil::Date;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::outline_columns::{fit_time_text, fit_when_text};
use super::outline_lines::{
    OutlineLine, OutlineSource, RowDetailKind, command_beside, detail_texts, note_beside,
    title_lines,
};
use super::outline_when::WhenForm;
use super::row_glyph;
use crate::pane_context::PaneContext;
use crate::plan_text::{PlanRowChange, PlanRowKind, PlanTextRow};
use crate::row_editor::draw_editor_line;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, format_counted};
use planwright_text::display_width;

/// Stands beside a row that is as it was before, where there is room; the sign in the margin says the same.
const PUT_BACK: &str = "put back by you";

/// The part of the pane below its rule.
pub(crate) fn outline_body(area: Rect) -> Rect {
    let top = 1.min(area.height);
    Rect { y: area.y + top, height: area.height - top, ..area }
}

/// Rows of column names above the list.
pub(crate) fn heading_rows(body: Rect) -> u16 {
    u16::from(body.width >= 100 && body.height > 12)
}

pub(super) fn draw_outline(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let body = outline_body(area);
    let heading = heading_rows(body);
    if heading > 0 {
        draw_heading(Rect { height: 1, ..body }, buf, cx);
    }
    let list = Rect { y: body.y + heading, height: body.height - heading, ..body };
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    for (line, y) in cx.plan.lines.iter().skip(cx.plan.top).zip(list.y..list.bottom()) {
        let row = Rect { y, height: 1, ..list };
        match *line {
            OutlineLine::Row(at) => draw_row(at, row, today, buf, cx),
            OutlineLine::Removed { at, part } => draw_removed(at, part, row, today, buf, cx),
            OutlineLine::Editor { row: at, part } => {
                if let Some(editor) = &cx.ui.row_editor {
                    let depth = cx.plan.text.get(at).map_or(0, |text| text.depth);
                    draw_editor_line(editor, part, depth, row, buf, cx);
                }
            }
            OutlineLine::Detail { row: at, kind, part } => {
                draw_detail(at, kind, part, row, buf, cx);
            }
        }
    }
}

fn draw_heading(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let columns = cx.plan.columns;
    let dim = cx.style(ThemeRole::Dim);
    let width = usize::from(row.width);
    put_at(buf, row, columns.indent, "what", dim);
    if columns.who > 0 {
        put_at(buf, row, columns.title_end + 2, "who", dim);
    }
    if columns.time > 0 {
        let end = time_end(cx, width);
        put_at(buf, row, end.saturating_sub(4), "time", dim);
    }
    match columns.form {
        WhenForm::Hidden => {}
        WhenForm::Short => put_right_at(buf, row, width.saturating_sub(1), "when", dim),
        WhenForm::Full => put_at(buf, row, columns.when_start(width), "when", dim),
    }
}

/// Where the column of times ends, right-aligned.
fn time_end(cx: &PaneContext<'_>, width: usize) -> usize {
    let columns = cx.plan.columns;
    let gap = if width >= 100 { 3 } else { 2 };
    let end = width.saturating_sub(1);
    if columns.when > 0 { end - columns.when - gap } else { end }
}

fn put_at(buf: &mut Buffer, row: Rect, column: usize, text: &str, style: Style) {
    let column = column.min(usize::from(row.width)) as u16;
    let area = Rect { x: row.x + column, width: row.width - column, ..row };
    ScreenLine::new(buf, area).put(text, style);
}

fn put_right_at(buf: &mut Buffer, row: Rect, end: usize, text: &str, style: Style) {
    let start = end.saturating_sub(display_width(text));
    put_at(buf, Rect { width: (end as u16).min(row.width), ..row }, start, text, style);
}

fn source<'a>(cx: &PaneContext<'a>, width: usize) -> OutlineSource<'a> {
    cx.plan.outline_source(width)
}

fn draw_row(at: usize, row: Rect, today: Date, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let Some(text) = cx.plan.text.get(at) else { return };
    let selected = cx.ui.graph.selected.as_ref() == Some(&text.id);
    if selected {
        buf.set_style(row, cx.style(ThemeRole::Selection));
    }
    draw_margin(text, selected, row, buf, cx);
    draw_title(at, text, row, buf, cx);
    draw_columns(text, row, today, buf, cx);
}

/// The cursor, how the row differs from the draft before, and whether it is marked or locked.
fn draw_margin(
    text: &PlanTextRow,
    selected: bool,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    if selected {
        put_at(buf, row, 1, "►", cx.style(ThemeRole::Focus));
    }
    let change = cx.plan.changes.as_ref().and_then(|changes| changes.kinds.get(&text.id));
    if cx.state.planning.put_back.contains(&text.id) {
        put_at(buf, row, 2, "=", cx.theme.bold_style(ThemeRole::Dim));
    } else if let Some(change) = change {
        put_at(buf, row, 2, &change.sign().to_string(), cx.theme.bold_style(change_role(*change)));
    }
    // On narrow screens the second column belongs to the phases: their signs stand one further to the left, unless the
    // cursor is there.
    let narrow = cx.plan.columns.indent < 4 && text.depth == 0;
    let column = match (narrow, selected) {
        (true, false) => 1,
        (true, true) => 2,
        (false, _) => 3,
    };
    if narrow && change.is_some() {
        return;
    }
    if cx.ui.marks.contains(&text.id) {
        put_at(buf, row, column, "*", cx.theme.bold_style(ThemeRole::Focus));
    } else if text.is_locked {
        put_at(buf, row, column, "#", cx.style(ThemeRole::Warn));
    }
}

pub(super) fn change_role(change: PlanRowChange) -> ThemeRole {
    match change {
        PlanRowChange::Added => ThemeRole::DiffAdded,
        PlanRowChange::Removed => ThemeRole::DiffRemoved,
        PlanRowChange::Changed => ThemeRole::DiffChanged,
        PlanRowChange::Moved => ThemeRole::DiffMoved,
    }
}

fn draw_title(at: usize, text: &PlanTextRow, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let columns = cx.plan.columns;
    let (glyph, role) = match text.kind {
        PlanRowKind::Phase => {
            let folded = cx.ui.view.folded.contains(&text.id);
            (if folded { '▸' } else { '▾' }, ThemeRole::Dim)
        }
        PlanRowKind::Milestone => ('◊', ThemeRole::Text),
        PlanRowKind::Task => row_glyph(at, &cx.plan.rows, cx.state),
    };
    let start = columns.title_start(text);
    put_at(buf, row, start - 2, &glyph.to_string(), cx.style(role));
    let is_phase = text.kind == PlanRowKind::Phase;
    let style =
        if is_phase { cx.theme.bold_style(ThemeRole::Text) } else { cx.style(ThemeRole::Text) };
    let end = (columns.title_end as u16).min(row.width);
    let room = Rect { width: end, ..row };
    let area = Rect {
        x: room.x + (start as u16).min(end),
        width: end.saturating_sub(start as u16),
        ..room
    };
    let mut line = ScreenLine::new(buf, area);
    if text.has_number() {
        line.put(&format!("{} ", text.number), cx.style(ThemeRole::Dim));
    }
    let first = title_lines(columns, text).swap_remove(0);
    line.put(&first, style);
    put_title_notes(&mut line, at, text, usize::from(row.width), cx);
}

/// What stands beside a title: its time of day, its command, that it was put back, how much of it is folded.
fn put_title_notes(
    line: &mut ScreenLine<'_>,
    at: usize,
    text: &PlanTextRow,
    width: usize,
    cx: &PaneContext<'_>,
) {
    if let Some(note) = note_beside(source(cx, width), text) {
        line.skip(2).put(&note, cx.style(ThemeRole::Dim));
    }
    if let Some(command) = command_beside(source(cx, width), text) {
        line.skip(2).put(&command, cx.style(ThemeRole::RiskExecute));
    }
    if cx.state.planning.put_back.contains(&text.id) && line.cells_left() >= PUT_BACK.len() + 2 {
        line.skip(2).put(PUT_BACK, cx.style(ThemeRole::Dim));
    }
    if text.kind == PlanRowKind::Phase && cx.ui.view.folded.contains(&text.id) {
        let rows = &cx.plan.rows.all[at];
        let below = rows.end.saturating_sub(at + 1);
        line.skip(2)
            .put(&format!("{} folded", format_counted(below, "row")), cx.style(ThemeRole::Dim));
    }
}

fn draw_columns(
    text: &PlanTextRow,
    row: Rect,
    today: Date,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let columns = cx.plan.columns;
    let width = usize::from(row.width);
    let changes = cx.plan.changes.as_ref();
    if columns.who > 0 {
        let who = cx.style(ThemeRole::Dim);
        let area =
            Rect { width: row.width.min((columns.title_end + 2 + columns.who) as u16), ..row };
        put_at(buf, area, columns.title_end + 2, &text.who, who);
    }
    if columns.time > 0 {
        // Nobody stands beside the time of a phase, so that it may take that room.
        let beside = if text.who.is_empty() && columns.who > 0 { columns.who + 2 } else { 0 };
        let time = fit_time_text(text, changes, columns.time + beside);
        let role = if time.contains('→') { ThemeRole::DiffChanged } else { ThemeRole::Text };
        put_right_at(buf, row, time_end(cx, width), &time, cx.style(role));
    }
    if columns.form != WhenForm::Hidden {
        let when = fit_when_text(text, changes, columns, today);
        let role = if when.contains('→') { ThemeRole::DiffMoved } else { ThemeRole::Text };
        if columns.form == WhenForm::Short {
            put_right_at(buf, row, width.saturating_sub(1), &when, cx.style(role));
        } else {
            put_at(buf, row, columns.when_start(width), &when, cx.style(role));
        }
    }
}

fn draw_removed(
    at: usize,
    part: usize,
    row: Rect,
    today: Date,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let removed = cx.plan.changes.as_ref().and_then(|changes| changes.removed.get(at));
    let Some((_, text)) = removed else { return };
    let style = cx.style(ThemeRole::DiffRemoved);
    let columns = cx.plan.columns;
    let area = Rect { width: (columns.title_end as u16).min(row.width), ..row };
    let lines = title_lines(columns, text);
    let title = lines.get(part).map_or("", String::as_str);
    put_at(buf, area, columns.title_start(text), title, style);
    if part > 0 {
        return;
    }
    put_at(buf, row, 2, "-", cx.theme.bold_style(ThemeRole::DiffRemoved));
    let width = usize::from(row.width);
    if columns.time > 0 {
        put_right_at(buf, row, time_end(cx, width), &text.time_text(), cx.style(ThemeRole::Dim));
    }
    let days = fit_when_text(text, None, columns, today);
    if columns.form == WhenForm::Full {
        put_at(buf, row, columns.when_start(width), &days, cx.style(ThemeRole::Dim));
    } else {
        put_right_at(buf, row, width.saturating_sub(1), &days, cx.style(ThemeRole::Dim));
    }
}

fn draw_detail(
    at: usize,
    kind: RowDetailKind,
    part: usize,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let Some(text) = cx.plan.text.get(at) else { return };
    let width = usize::from(row.width);
    let lines = detail_texts(source(cx, width), text, kind);
    let Some(line) = lines.get(part) else { return };
    if kind == RowDetailKind::Title {
        return draw_title_rest(text, line, row, buf, cx);
    }
    let role = match kind {
        RowDetailKind::Command | RowDetailKind::Check(_) => ThemeRole::RiskExecute,
        RowDetailKind::Title | RowDetailKind::Comment(_) => ThemeRole::Text,
        RowDetailKind::Was => ThemeRole::DiffRemoved,
        RowDetailKind::When | RowDetailKind::DoneWhen | RowDetailKind::After => ThemeRole::Dim,
    };
    put_at(buf, row, cx.plan.columns.title_start(text), line, cx.style(role));
}

/// A further line of a title, selected with its row.
fn draw_title_rest(
    text: &PlanTextRow,
    line: &str,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    if cx.ui.graph.selected.as_ref() == Some(&text.id) {
        buf.set_style(row, cx.style(ThemeRole::Selection));
    }
    let number = if text.has_number() { display_width(&text.number) + 1 } else { 0 };
    let is_phase = text.kind == PlanRowKind::Phase;
    let style =
        if is_phase { cx.theme.bold_style(ThemeRole::Text) } else { cx.style(ThemeRole::Text) };
    put_at(buf, row, cx.plan.columns.title_start(text) + number, line, style);
}
