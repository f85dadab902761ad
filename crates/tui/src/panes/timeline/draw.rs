//! Draws the visible part of the timeline.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::bars::{RunBar, RunBars, run_bar, run_bars};
use super::scale::{FOLD_COLUMNS, TimeScale};
use crate::pane_context::PaneContext;
use crate::panes::plan::{highlight_selected, row_glyph};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, format_counted, styled_piece};
use planwright_text::{display_width, units};

/// Columns of the times at the right.
const TIMES: u16 = 12;
const LEGEND: &str = "█ longest path  ▓ other  ░ yours  ✗ failed  ┊ idle, folded";

/// How long it took and how much ran at once, as the rule says it.
pub(crate) fn timeline_facts(bars: &RunBars) -> String {
    let (Some(first), Some(last)) = (bars.busy.first(), bars.busy.last()) else {
        return "nothing has run yet".to_owned();
    };
    let total = Duration::from_millis((last.to - first.from).unsigned_abs());
    let folded = if bars.busy.len() > 1 { ", idle time folded" } else { "" };
    format!("{}{folded} · at most {} at once", units::format_elapsed(total), bars.most_at_once())
}

pub(crate) fn draw_timeline(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let bars = &cx.plan.bars;
    if bars.busy.is_empty() {
        let row = Rect { height: body.height.min(1), ..body };
        let text = "Nothing has run yet. Bars appear here once tasks start.";
        ScreenLine::new(buf, row).skip(1).put(text, cx.style(ThemeRole::Dim));
        return;
    }
    let names = name_columns(body, cx);
    let width = body.width.saturating_sub(names + TIMES + 2);
    let chart = Rect { x: body.x + names, width, ..body };
    let scale = TimeScale::new(&bars.busy, usize::from(width));
    draw_labels(chart, &scale, buf, cx);
    let footer = u16::from(body.height > 3) + u16::from(body.height > 5);
    let list = Rect { y: body.y + 1, height: body.height.saturating_sub(1 + footer), ..body };
    for (row, y) in cx.plan.shown.iter().skip(cx.plan.top).zip(list.y..list.bottom()) {
        let area = Rect { y, height: 1, ..list };
        highlight_selected(*row, Rect { width: names, ..area }, buf, cx);
        draw_row(*row, area, Rect { y, height: 1, ..chart }, &scale, buf, cx);
    }
    let shown = cx.plan.shown.len().saturating_sub(cx.plan.top).min(usize::from(list.height));
    draw_folds(Rect { height: 1 + shown as u16, ..chart }, &scale, buf, cx);
    draw_at_once(Rect { y: list.y + shown as u16, ..body }, chart, &scale, buf, cx);
}

fn name_columns(body: Rect, cx: &PaneContext<'_>) -> u16 {
    let titles = cx.plan.shown.iter().map(|row| display_width(&cx.plan.rows.all[*row].title));
    let widest = titles.take(500).max().unwrap_or(0) as u16;
    (widest + 5).clamp(16, (body.width * 2 / 5).max(16))
}

fn draw_labels(chart: Rect, scale: &TimeScale, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    for (column, text) in scale.labels(cx.time_zone) {
        let area =
            Rect { x: chart.x + column as u16, width: text.len() as u16, height: 1, ..chart };
        ScreenLine::new(buf, area).put(&text, dim);
    }
}

fn draw_row(
    at: usize,
    area: Rect,
    chart: Rect,
    scale: &TimeScale,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let row = &cx.plan.rows.all[at];
    let (glyph, role) = row_glyph(at, &cx.plan.rows, cx.state);
    let dim = cx.style(ThemeRole::Dim);
    let task = row.task.filter(|task| *task < cx.state.tasks.len());
    let bar = task.and_then(|task| run_bar(cx.state, task, cx.now));
    let time = bar.map(|bar| Duration::from_millis((bar.span.to - bar.span.from).unsigned_abs()));
    let time = time.map(units::format_elapsed).unwrap_or_default();
    ScreenLine::new(buf, area).put_right(&[styled_piece(time, dim), styled_piece(" ", dim)]);
    let names = Rect { width: chart.x.saturating_sub(area.x + 2), ..area };
    let mut line = ScreenLine::new(buf, names);
    line.skip(1)
        .put(&format!("{glyph} "), cx.style(role))
        .put(&row.title, cx.style(ThemeRole::Text));
    if let Some(task) = task {
        for bar in run_bars(cx.state, task, cx.now) {
            draw_bar(bar, task, chart, scale, buf, cx);
        }
    }
}

fn draw_bar(
    bar: RunBar,
    task: usize,
    chart: Rect,
    scale: &TimeScale,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let (glyph, role) = match (bar.yours, cx.plan.bars.is_on_path(task)) {
        (true, _) => ('░', ThemeRole::Yours),
        (false, true) => ('█', ThemeRole::EdgeCritical),
        (false, false) => ('▓', ThemeRole::Running),
    };
    let style: Style = cx.style(if bar.failed { ThemeRole::Failed } else { role });
    let first = scale.column(bar.span.from);
    let last = scale.column(bar.span.to - 1).max(first);
    for column in first..=last {
        let x = chart.x + column as u16;
        if x < chart.right() {
            let end = bar.failed && column == last;
            buf[(x, chart.y)].set_char(if end { '✗' } else { glyph }).set_style(style);
        }
    }
}

/// The two lines of a fold over all rows, and how long nothing ran, in its middle.
fn draw_folds(area: Rect, scale: &TimeScale, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    for fold in scale.folds() {
        let left = area.x + fold.first as u16;
        let right = left + FOLD_COLUMNS as u16 - 1;
        if right >= area.right() {
            continue;
        }
        for y in area.y + 1..area.bottom() {
            for x in left..=right {
                let glyph = if x == left || x == right { "┊" } else { " " };
                buf[(x, y)].set_symbol(glyph).set_style(dim);
            }
        }
        let middle = area.y + 1 + area.height.saturating_sub(1) / 2;
        let time = units::format_elapsed(Duration::from_millis(fold.idle_ms));
        for (text, y) in [(time.as_str(), middle.saturating_sub(1)), ("idle", middle)] {
            let row = Rect { x: left + 1, y, width: FOLD_COLUMNS as u16 - 2, height: 1 };
            if (area.y + 1..area.bottom()).contains(&y) {
                ScreenLine::new(buf, row).put(text, dim);
            }
        }
    }
}

/// How many tasks ran at once, column by column, and what the bars mean.
fn draw_at_once(
    area: Rect,
    chart: Rect,
    scale: &TimeScale,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let dim = cx.style(ThemeRole::Dim);
    let bottom = chart.bottom();
    if area.y < bottom {
        let row = Rect { height: 1, ..area };
        ScreenLine::new(buf, row).skip(1).put("at once", dim);
        let folded = |column: usize| {
            scale.folds().any(|fold| (fold.first..fold.first + FOLD_COLUMNS).contains(&column))
        };
        for column in (0..usize::from(chart.width)).filter(|column| !folded(*column)) {
            let count = cx.plan.bars.most_between(scale.moment(column), scale.moment(column + 1));
            let glyph = match count {
                0 => ' ',
                1..=9 => char::from_digit(count, 10).unwrap_or(' '),
                _ => '+',
            };
            buf[(chart.x + column as u16, area.y)].set_char(glyph).set_style(dim);
        }
    }
    if area.y + 1 < bottom {
        let row = Rect { y: area.y + 1, height: 1, ..area };
        let hidden =
            cx.plan.shown.len().saturating_sub(usize::from(chart.height).saturating_sub(3));
        let mut line = ScreenLine::new(buf, row);
        if hidden > 0 && cx.plan.shown.len() > hidden {
            let text = format_counted(cx.plan.shown.len(), "task");
            line.put_right(&[styled_piece(text, dim), styled_piece(" ", dim)]);
        }
        line.skip(1).put(LEGEND, dim);
    }
}
