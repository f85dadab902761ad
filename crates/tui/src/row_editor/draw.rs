//! Draws the editor of a row in the place of the row.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{RowEditPurpose, RowEditor, RowFieldKind, RowLevel};
use crate::pane_context::PaneContext;
use crate::panes::plan::OutlineColumns;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, styled_piece};
use planwright_text::display_width;

/// What the rule of the plan says while a row is edited.
pub(crate) fn editor_title(editor: &RowEditor) -> &'static str {
    match editor.purpose {
        RowEditPurpose::Edit { .. } => "plan · editing a row",
        RowEditPurpose::Add { .. } => "plan · adding rows",
        RowEditPurpose::Split { .. } => "plan · splitting a row",
        RowEditPurpose::Merge { .. } => "plan · merging rows",
    }
}

/// Draws one of the editor's lines; `depth` is that of the row it stands at.
pub(crate) fn draw_editor_line(
    editor: &RowEditor,
    part: usize,
    depth: usize,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let columns = cx.plan.columns;
    match part {
        0 => draw_fields(editor, columns, depth, row, buf, cx),
        1 => {
            let role = match editor.reading.failed {
                true => ThemeRole::Failed,
                false if editor.reading.text.is_empty() => ThemeRole::Dim,
                false => ThemeRole::Text,
            };
            let text = match editor.reading.text.as_str() {
                "" => "nothing has changed yet",
                text => text,
            };
            draw_labeled("Read", text, role, columns, row, buf, cx);
        }
        _ => draw_help(editor, columns, row, buf, cx),
    }
}

fn draw_fields(
    editor: &RowEditor,
    columns: OutlineColumns,
    depth: usize,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mark = if matches!(editor.purpose, RowEditPurpose::Add { .. }) { "►+" } else { "►~" };
    ScreenLine::new(buf, row).skip(1).put(mark, cx.theme.bold_style(ThemeRole::Focus));
    let start = (columns.indent + 2 * depth) as u16;
    let start = start.min(row.width.saturating_sub(12));
    let at = editor.fields.get(editor.at).map(|field| field.kind);
    let end = row.width.saturating_sub(1);
    // Fields have the width that typing needs, whatever the columns of the rows are.
    let (who, time) = (14, 16);
    let dates = (columns.when as u16 + 4).clamp(14, 30);
    let ends = [
        end.saturating_sub(who + time + dates),
        end.saturating_sub(time + dates),
        end.saturating_sub(dates),
        end,
    ];
    let in_columns = |kind: RowFieldKind| match kind {
        RowFieldKind::Title => Some((start, ends[0])),
        RowFieldKind::Who => Some((ends[0], ends[1])),
        RowFieldKind::Time => Some((ends[1], ends[2])),
        RowFieldKind::Dates => Some((ends[2], ends[3])),
        RowFieldKind::DoneWhen | RowFieldKind::Needs => None,
    };
    let alone = editor.fields.len() == 1 || at.is_some_and(|kind| in_columns(kind).is_none());
    if alone {
        return draw_field(editor, editor.at, (start, end), row, buf, cx);
    }
    for (index, field) in editor.fields.iter().enumerate() {
        if let Some(span) = in_columns(field.kind) {
            draw_field(editor, index, span, row, buf, cx);
        }
    }
}

fn draw_field(
    editor: &RowEditor,
    index: usize,
    (from, to): (u16, u16),
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let Some(field) = editor.fields.get(index).filter(|_| to > from + 4 && to <= row.width) else {
        return;
    };
    let here = index == editor.at;
    let edge = cx.style(if here { ThemeRole::Focus } else { ThemeRole::Dim });
    let area = Rect { x: row.x + from, width: to - from, ..row };
    ScreenLine::new(buf, area).put("[", edge).put_right(&[styled_piece("]", edge)]);
    let name = match field.kind {
        RowFieldKind::DoneWhen | RowFieldKind::Needs => format!("{}: ", field.kind.name()),
        _ => String::new(),
    };
    let inner = Rect { x: area.x + 2, width: area.width - 4, ..area };
    ScreenLine::new(buf, inner).put(&name, cx.style(ThemeRole::Dim));
    let used = (name.chars().count() as u16).min(inner.width);
    let inner = Rect { x: inner.x + used, width: inner.width - used, ..inner };
    if here {
        field.field.draw(inner, cx.style(ThemeRole::Text), buf);
    } else {
        ScreenLine::new(buf, inner).put(field.field.text(), cx.style(ThemeRole::Text));
    }
}

fn draw_labeled(
    label: &str,
    text: &str,
    role: ThemeRole,
    columns: OutlineColumns,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mut line = ScreenLine::new(buf, row);
    line.skip(columns.indent + 4).put_column(label, 10, cx.style(ThemeRole::Dim));
    line.put(text, cx.style(role));
}

fn draw_help(
    editor: &RowEditor,
    columns: OutlineColumns,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    match &editor.purpose {
        RowEditPurpose::Edit { .. } => {
            let mut line = ScreenLine::new(buf, row);
            line.skip(columns.indent + 4).put_column("Fields", 10, cx.style(ThemeRole::Dim));
            for (index, field) in editor.fields.iter().enumerate() {
                let between = if index > 0 { " · " } else { "" };
                line.put(between, cx.style(ThemeRole::Dim));
                let style = if index == editor.at {
                    cx.theme.bold_style(ThemeRole::Focus)
                } else {
                    cx.style(ThemeRole::Dim)
                };
                line.put(field.kind.name(), style);
            }
        }
        RowEditPurpose::Add { level, .. } => {
            let here = match level {
                RowLevel::Above => "a new phase; Tab one level down",
                RowLevel::Same => "Tab one level down, Shift-Tab one level up",
                RowLevel::Below => "inside the row above; Shift-Tab one level up",
            };
            draw_labeled("Levels", here, ThemeRole::Dim, columns, row, buf, cx);
        }
        RowEditPurpose::Split { .. } => {
            let words =
                "a semicolon between them; a time may follow each: Draft it, 2 h; Proofread it";
            draw_labeled("Parts", words, ThemeRole::Dim, columns, row, buf, cx);
        }
        RowEditPurpose::Merge { nodes } => {
            let titles: Vec<&str> = nodes
                .iter()
                .filter_map(|id| cx.plan.rows.position(id))
                .map(|at| cx.plan.rows.all[at].title.as_str())
                .collect();
            draw_labeled("Rows", &titles.join(", "), ThemeRole::Dim, columns, row, buf, cx);
        }
    }
}

/// The keys of the editor, in the footer.
pub(crate) fn draw_editor_footer(
    editor: &RowEditor,
    row: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let keys: &[(&str, &str)] = match editor.purpose {
        RowEditPurpose::Edit { .. } => &[
            ("Enter", "save"),
            ("Esc", "cancel"),
            ("Tab", "next field"),
            ("Ctrl-G", "every field in the editor"),
        ],
        RowEditPurpose::Add { .. } => {
            &[("Enter", "add, then the next one"), ("Esc", "done adding"), ("Tab", "level")]
        }
        RowEditPurpose::Split { .. } | RowEditPurpose::Merge { .. } => {
            &[("Enter", "save"), ("Esc", "cancel")]
        }
    };
    let undo = cx.keymap.key_hint(crate::keymap::KeyAction::Undo);
    let mut line = ScreenLine::new(buf, row);
    let later = format!("{undo} undoes it later ");
    // What can be done later goes first, then the last keys, each of them whole.
    let cells = |(key, words): &(&str, &str)| display_width(key) + display_width(words) + 3;
    let all: usize = keys.iter().map(cells).sum();
    if all + display_width(&later) < usize::from(row.width) {
        line.put_right(&[styled_piece(later, cx.style(ThemeRole::Dim))]);
    }
    line.skip(1);
    for (key, words) in keys {
        if cells(&(key, words)) > line.cells_left() + 2 {
            break;
        }
        line.put(key, cx.style(ThemeRole::Key));
        line.put(&format!(" {words}"), cx.style(ThemeRole::Dim)).skip(2);
    }
}
