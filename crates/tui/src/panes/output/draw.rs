//! Draws the visible part of a log.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::log::LogLineKind;
use super::{OutputCache, OutputRow};
use crate::clock::format_time_of_day;
use crate::keymap::KeyAction;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::graph::{task_worker, title_of};
use crate::panes::trace::find_match;
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, styled_piece};
use planwright_model::TaskId;
use planwright_state::TaskStatus;
use planwright_text::{OutputColor, clean_line, truncate_end, units};

/// Columns before the text: air, time, mark, bar.
const GUTTER: u16 = 14;
/// Columns of a title where all tasks are shown.
const TITLE: u16 = 22;

/// The output pane.
pub(crate) struct OutputPane;

impl OutputPane {
    /// The columns and rows that text has in an area.
    pub(crate) fn text_size(area: Rect, class: SizeClass, all_tasks: bool) -> (u16, u16) {
        let rule = u16::from(class != SizeClass::Small);
        let title = if all_tasks { TITLE } else { 0 };
        (area.width.saturating_sub(GUTTER + title + 1), area.height.saturating_sub(rule))
    }
}

impl Pane for OutputPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let rule = u16::from(cx.class != SizeClass::Small).min(area.height);
        if rule > 0 {
            draw_rule(area, buf, cx);
        }
        let body = Rect { y: area.y + rule, height: area.height - rule, ..area };
        if cx.output.rows.is_empty() {
            return draw_empty(body, buf, cx);
        }
        let mut before: Option<&TaskId> = None;
        for (row, y) in cx.output.rows.iter().zip(body.y..body.bottom()) {
            let again = before == Some(&row.line.task);
            before = Some(&row.line.task);
            draw_row(row, again, Rect { y, height: 1, ..body }, buf, cx);
        }
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Output);
    let name = match &cx.output.task {
        Some(task) => format!("output · {}", task_text(task, cx)),
        None => "output · all tasks".to_owned(),
    };
    let facts = rule_facts(cx.output, cx);
    let room = usize::from(area.width).saturating_sub(facts.len() + 14).max(8);
    let name = truncate_end(&clean_line(&name), room).into_owned();
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(facts, style)],
    );
}

/// Title, who does it and which attempt it is.
fn task_text(task: &TaskId, cx: &PaneContext<'_>) -> String {
    let Some(at) = cx.state.tasks.position(task) else { return task.to_string() };
    let node = cx.state.plan.current.as_ref().and_then(|plan| plan.plan.tasks.get(at));
    let attempt = match cx.state.tasks.row(at).attempt {
        0 => String::new(),
        attempt => format!(" · attempt {attempt}"),
    };
    format!("{} · {}{attempt}", title_of(cx.state, at), node.map_or("", task_worker))
}

fn rule_facts(output: &OutputCache, cx: &PaneContext<'_>) -> String {
    let count = match output.total {
        1 => "1 line".to_owned(),
        total => format!("{} lines", units::format_count(total as u64)),
    };
    let search = cx.ui.output.search.as_ref().filter(|_| cx.ui.focus == PaneFocus::Output);
    let search = search.map(|(query, _)| {
        if cx.ui.output.only_matches {
            format!(" · {} with {query:?}", units::format_count(output.shown_lines() as u64))
        } else {
            format!(" · search {query:?}")
        }
    });
    let search = search.unwrap_or_default();
    let follows = if cx.ui.output.following && !cx.mode.is_past() { " · following" } else { "" };
    format!("{count}{search}{follows}")
}

fn draw_empty(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if let Some(text) = cx.output.task.as_ref().and_then(|task| skipped_text(task, cx)) {
        let row = Rect { height: body.height.min(1), ..body };
        ScreenLine::new(buf, row).skip(1).put(&text, cx.style(ThemeRole::Text));
        return;
    }
    let running = cx.output.task.as_ref().and_then(|task| cx.state.tasks.get(task));
    let text = match running.map(|row| row.started_at.is_some()) {
        Some(false) => "This task has not started. Its output appears here.",
        Some(true) => "No output so far.",
        None => "Nothing has run yet. Output appears here once tasks start.",
    };
    let row = Rect { height: body.height.min(1), ..body };
    ScreenLine::new(buf, row).skip(1).put(text, cx.style(ThemeRole::Dim));
}

/// Why a task that was skipped wrote nothing, and the key that leads to the failure behind it.
fn skipped_text(task: &TaskId, cx: &PaneContext<'_>) -> Option<String> {
    let at = cx.state.tasks.position(task)?;
    let TaskStatus::Skipped(reason) = cx.state.tasks.row(at).status else { return None };
    let why = cx.state.describe_skip(&cx.needs.skips, at, reason);
    let key = cx.keymap.key_hint(KeyAction::Open);
    let way = match cx.state.failure_behind(at) {
        Some(_) => format!(". {key} goes there."),
        None => ".".to_owned(),
    };
    Some(clean_line(&format!("Skipped {why}{way}")).into_owned())
}

fn draw_row(row: &OutputRow, again: bool, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, area);
    let found = cx.ui.output.search.as_ref().map_or(cx.ui.output.error, |(_, at)| *at);
    let is_found = row.is_first && found == Some(row.number);
    line.put_column(if is_found { "►" } else { "" }, 1, cx.style(ThemeRole::Text));
    let time =
        if row.is_first { format_time_of_day(row.line.at, cx.time_zone) } else { String::new() };
    line.put_column(&time, 9, dim);
    let error = row.line.kind == LogLineKind::Stderr && row.is_first;
    line.put_column(if error { "!" } else { "" }, 2, cx.style(ThemeRole::Warn));
    if cx.output.task.is_none() {
        let title = match cx.state.tasks.owner_position(&row.line.task) {
            Some(task) if !again => title_of(cx.state, task),
            _ => "",
        };
        line.put_column(title, usize::from(TITLE) - 1, dim).skip(1);
    }
    line.put("│ ", cx.style(ThemeRole::Rule));
    let query = cx.ui.output.search.as_ref().map(|(query, _)| query.as_str());
    for (color, text) in &row.pieces {
        put_piece(&mut line, text, query, color_style(*color, cx));
    }
}

/// Writes a piece with what was searched for reversed.
fn put_piece(line: &mut ScreenLine<'_>, text: &str, query: Option<&str>, style: Style) {
    let mut rest = text;
    while let Some((from, to)) = query.and_then(|query| find_match(rest, query)) {
        line.put(&rest[..from], style);
        line.put(&rest[from..to], style.add_modifier(Modifier::REVERSED));
        rest = &rest[to..];
    }
    line.put(rest, style);
}

/// The role whose color is nearest to what a program asked for.
pub(super) fn color_style(color: OutputColor, cx: &PaneContext<'_>) -> Style {
    cx.style(match color {
        OutputColor::Plain => ThemeRole::Untrusted,
        OutputColor::Bold => ThemeRole::Text,
        OutputColor::Dim => ThemeRole::Dim,
        OutputColor::Red => ThemeRole::DiffRemoved,
        OutputColor::Green => ThemeRole::DiffAdded,
        OutputColor::Yellow => ThemeRole::DiffChanged,
        OutputColor::Blue => ThemeRole::Action,
        OutputColor::Magenta => ThemeRole::DiffMoved,
        OutputColor::Cyan => ThemeRole::Observed,
    })
}
