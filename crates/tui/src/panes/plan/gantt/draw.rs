//! Draws the visible part of the chart.

use std::collections::BTreeMap;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::axis::{GanttAxis, GanttScale};
use super::bars::{GanttBar, GanttBarKind, GanttRowFacts, row_bars};
use super::links::{LinkLine, link_cells};
use crate::clock::format_time_of_day;
use crate::pane_context::PaneContext;
use crate::panes::graph;
use crate::panes::plan::times::{BarMeasure, PlannedRow};
use crate::panes::plan::{PlanCache, draw_row_count, highlight_selected, put_marks, row_glyph};
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::{LinkKind, PlanContext, TaskId};
use planwright_state::TaskStatus;
use planwright_text::dates::format_date;
use planwright_text::{display_width, shorten_titles};

/// The fewest columns of the names.
const LEAST_NAMES: u16 = 20;
const LEGEND: &str = "█ done  ▓ planned  · to spare  ├─┤ phase  ◊ milestone  ░ day off  ┊ today";

/// The columns that time gets.
pub(crate) fn chart_columns(body: Rect, plan: &PlanCache) -> usize {
    usize::from(body.width.saturating_sub(name_width(body, plan) + 1))
}

/// Columns of the names: as many as they need, so long as time has more than half or all that it needs.
fn name_width(body: Rect, plan: &PlanCache) -> u16 {
    let names = plan.rows.all.iter().take(500);
    let widest = names.map(|row| display_width(&row.title) + 2 * row.depth).max().unwrap_or(0);
    let most = (body.width * 9 / 20).max(body.width.saturating_sub(needed_columns(body, plan) + 1));
    (widest as u16 + 6).clamp(LEAST_NAMES, most.max(LEAST_NAMES))
}

/// Columns that whole weeks of the plan take, on the finest scale on which they fit more than half of the chart.
fn needed_columns(body: Rect, plan: &PlanCache) -> u16 {
    let half = body.width * 11 / 20;
    let first = plan.planned.iter().filter_map(PlannedRow::start).min();
    let last = plan.planned.iter().filter_map(PlannedRow::end).max();
    let (Some(first), Some(last)) = (first, last) else { return half };
    if plan.offsets.measure != BarMeasure::Schedule {
        return half;
    }
    let days = (last.as_second() - first.as_second()).max(0) / (24 * 3600);
    // The first week begins on its Monday, the last one ends on its Sunday.
    let days = u16::try_from(days + 14).unwrap_or(u16::MAX) / 7 * 7;
    let fitting = [2, 1].into_iter().map(|columns| days.saturating_mul(columns));
    fitting.into_iter().find(|columns| *columns <= half).unwrap_or(half)
}

/// Scale and day, as the rule says them.
pub(crate) fn gantt_summary(cx: &PaneContext<'_>) -> String {
    let Some(axis) = &cx.plan.axis else { return String::new() };

    match cx.plan.offsets.measure {
        BarMeasure::Layers if cx.class.has_tabs() => "by layer".to_owned(),
        BarMeasure::Layers => "by layer, not all tasks say how long they take".to_owned(),
        BarMeasure::Minutes | BarMeasure::Schedule => axis.scale.unit_text(),
    }
}

/// When the plan ends, and which rows are on the screen if not all are.
pub(crate) fn gantt_facts(area: Rect, cx: &PaneContext<'_>) -> String {
    let body = graph::graph_body(area, &cx.areas);
    let room = usize::from(body.height.saturating_sub(2));
    let all = cx.plan.shown.len();
    let rows = (all > room && room > 0)
        .then(|| format!("rows {} – {} of {all}", cx.plan.top + 1, (cx.plan.top + room).min(all)));
    let end = Some(end_text(cx)).filter(|text| !text.is_empty());
    end.into_iter().chain(rows).collect::<Vec<_>>().join(" · ")
}

fn end_text(cx: &PaneContext<'_>) -> String {
    let last = cx.plan.planned.iter().filter_map(PlannedRow::end).max();
    match (cx.plan.offsets.measure, last) {
        (BarMeasure::Layers, _) | (_, None) => String::new(),
        (BarMeasure::Minutes, Some(end)) => {
            let day = end.to_zoned(cx.time_zone.clone()).date();
            let today = cx.now.to_zoned(cx.time_zone.clone()).date();
            let when = if day == today {
                format_time_of_day(end, cx.time_zone)
            } else {
                format_date(day, today)
            };
            format!("planned until {when}")
        }
        (BarMeasure::Schedule, Some(end)) => {
            let day = |at: Timestamp| at.to_zoned(cx.time_zone.clone()).date();
            let first = cx.plan.planned.iter().filter_map(PlannedRow::start).min().unwrap_or(end);
            let today = day(cx.now);
            let (from, to) = (format_date(day(first), today), format_date(day(end), today));
            let range = format!("{from} – {to}");
            let context = cx.state.planning.context.as_deref();
            let due = context.and_then(PlanContext::stated_last_day).or(cx.plan.deadline.map(day));
            let spare = due.map(|due| (due - day(end)).get_days());
            match spare {
                Some(days @ 1..) => {
                    format!("{range} · {days} days to spare").replace("1 days", "1 day")
                }
                Some(days @ ..=-1) => {
                    format!("{range} · {} days late", -days).replace("1 days", "1 day")
                }
                _ => range,
            }
        }
    }
}

pub(crate) fn draw_gantt(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let Some(axis) = &cx.plan.axis else { return };
    let names = name_width(body, cx.plan).min(body.width);
    let list = Rect { y: body.y + 2, height: body.height.saturating_sub(2), ..body };
    let chart = Rect { x: body.x + names, width: body.width - names, ..body };
    let until = plan_end_column(axis, cx);
    let chart = GanttChart { cx, axis, area: chart, from: cx.ui.view.column, until };
    draw_headings(body, names, buf, cx);
    chart.draw_labels(buf);
    let shown = cx.plan.top..(cx.plan.top + usize::from(list.height)).min(cx.plan.shown.len());
    let lines = link_cells(&chart.link_lines(), shown.clone());
    for (place, y) in shown.zip(list.y..list.bottom()) {
        let row = cx.plan.shown[place];
        let area = Rect { y, height: 1, ..list };
        chart.draw_background(y, buf);
        // How far a task may move is worth a line for the one that is looked at.
        let selected = cx.ui.graph.selected.as_ref() == Some(&cx.plan.rows.all[row].id);
        chart.draw_bars(row, |part| selected && part == GanttBarKind::Slack, y, buf);
        chart.draw_link_cells(&lines, place, y, buf);
        chart.draw_bars(row, |part| part != GanttBarKind::Slack, y, buf);
        highlight_selected(row, Rect { width: names, ..area }, buf, cx);
        draw_name(row, Rect { width: names, ..area }, buf, cx);
    }
    if has_room_below(body, cx) {
        let below = list.y + cx.plan.shown.len() as u16;
        draw_legend(Rect { y: below, height: 1, ..list }, buf, cx);
    }
    // Where there is no rule, the chart itself says that rows are out of sight.
    if !cx.areas.tabs.is_empty() {
        let shown = cx.plan.shown.len().min(usize::from(list.height));
        draw_row_count(list, shown, cx.plan.shown.len(), buf, cx);
    }
}

/// Whether a row is left under the last one of the plan.
pub(crate) fn has_room_below(body: Rect, cx: &PaneContext<'_>) -> bool {
    cx.plan.top == 0 && cx.plan.shown.len() < usize::from(body.height.saturating_sub(2))
}

/// What the signs mean.
pub(crate) fn draw_legend(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if !row.is_empty() {
        ScreenLine::new(buf, row).skip(1).put(LEGEND, cx.style(ThemeRole::Dim));
    }
}

/// The column after the last one of the plan, its deadline and today, whole weeks or steps of the axis.
fn plan_end_column(axis: &GanttAxis, cx: &PaneContext<'_>) -> i64 {
    let ends = cx.plan.planned.iter().filter_map(PlannedRow::end);
    let last = ends.chain(cx.plan.deadline).map(|at| axis.column_at(at)).max();
    let Some(last) = last else { return i64::MAX };
    let step = match axis.scale {
        GanttScale::Day => 14,
        other => other.step_columns(),
    };
    (last.div_euclid(step) + 1) * step
}

fn draw_headings(body: Rect, names: u16, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let row = Rect { width: names.saturating_sub(2), height: body.height.min(1), ..body };
    ScreenLine::new(buf, row).skip(1).put("task", dim);
}

fn draw_name(at: usize, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = &cx.plan.rows;
    let row = &rows.all[at];
    let (glyph, role) = match rows.row_status(at, &cx.state.tasks) {
        // What holds others shows that it does, until something happened in it.
        TaskStatus::Pending if rows.is_group(at) => {
            let folded = cx.ui.view.folded.contains(&row.id);
            (if folded { '▸' } else { '▾' }, ThemeRole::Dim)
        }
        _ => row_glyph(at, rows, cx.state),
    };
    let area = Rect { width: area.width.saturating_sub(2), ..area };
    let mut line = ScreenLine::new(buf, area);
    put_marks(&mut line, &row.id, cx);
    line.skip(2 * row.depth).put(&format!("{glyph} "), cx.style(role));
    let locked = cx.plan.planned.get(at).is_some_and(|planned| planned.locked);
    if locked {
        line.put("# ", cx.style(ThemeRole::Warn));
    }
    // Words that a title can do without go before one is cut.
    let title = shorten_titles(&[row.title.as_str()], line.cells_left()).concat();
    line.put(&title, cx.style(ThemeRole::Text));
}

struct GanttChart<'a, 'b> {
    cx: &'a PaneContext<'b>,
    axis: &'a GanttAxis,
    area: Rect,
    /// The column at the left edge.
    from: i64,
    /// The column after the last one that has to do with the plan.
    until: i64,
}

impl GanttChart<'_, '_> {
    /// The column after the last one that is drawn: the pane ends there, or the plan does.
    fn end_column(&self) -> i64 {
        (self.from + i64::from(self.area.width)).min(self.until)
    }

    fn screen_x(&self, column: i64) -> Option<u16> {
        let inside = (self.from..self.end_column()).contains(&column);
        inside.then(|| self.area.x + (column - self.from) as u16)
    }

    fn draw_labels(&self, buf: &mut Buffer) {
        let (upper, lower) = self.axis.visible_labels(self.from, self.end_column());
        let today = self.axis.column_at(self.cx.now);
        let covers = |(column, text): &(i64, String)| {
            (*column..*column + text.len() as i64).contains(&today)
        };
        // The letter of a day gives way to the mark, a label that begins there steps aside, and above any other one
        // the mark stands in the row of the months, where that is free.
        let days = self.axis.scale == GanttScale::Day;
        let inside = |label: &(i64, String)| !days && covers(label) && label.0 < today;
        let raised = lower.iter().any(inside) && !upper.iter().any(covers);
        let beside = |label: (i64, String)| {
            if !days && !raised && covers(&label) { (today + 1, label.1) } else { label }
        };
        let lower: Vec<_> = lower.into_iter().map(beside).collect();
        for (labels, line) in [(upper, 0), (lower, 1)] {
            for (column, text) in labels {
                let Some(x) = self.screen_x(column).filter(|_| line < self.area.height) else {
                    continue;
                };
                let y = self.area.y + line;
                let area = Rect { x, y, width: self.area.right() - x, height: 1 };
                if usize::from(area.width) >= text.len() {
                    ScreenLine::new(buf, area).put(&text, self.cx.style(ThemeRole::Dim));
                }
            }
        }
        if let Some(x) =
            self.screen_x(self.axis.column_at(self.cx.now)).filter(|_| self.area.height > 1)
        {
            let style = self.cx.style(ThemeRole::Today);
            buf[(x, self.area.y + u16::from(!raised))].set_char('▼').set_style(style);
        }
    }

    /// Days off and the line of today, under everything else.
    fn draw_background(&self, y: u16, buf: &mut Buffer) {
        let today = self.axis.column_at(self.cx.now);
        for column in self.from..self.end_column() {
            let Some(x) = self.screen_x(column) else { continue };
            if column == today {
                buf[(x, y)].set_char('┊').set_style(self.cx.style(ThemeRole::Today));
            } else if self.axis.is_day_off(column) {
                buf[(x, y)].set_char('░').set_style(self.cx.style(ThemeRole::Weekend));
            }
        }
    }

    fn draw_link_cells(
        &self,
        lines: &BTreeMap<(usize, i64), char>,
        place: usize,
        y: u16,
        buf: &mut Buffer,
    ) {
        for (&(_, column), glyph) in lines.range((place, i64::MIN)..=(place, i64::MAX)) {
            if let Some(x) = self.screen_x(column) {
                buf[(x, y)].set_char(*glyph).set_style(self.cx.style(ThemeRole::Edge));
            }
        }
    }

    fn draw_bars(
        &self,
        row: usize,
        wanted: impl Fn(GanttBarKind) -> bool,
        y: u16,
        buf: &mut Buffer,
    ) {
        let rows = &self.cx.plan.rows;
        let Some(planned) = self.cx.plan.planned.get(row) else { return };
        let tasks = &self.cx.state.tasks;
        let task =
            rows.all[row].task.filter(|task| *task < tasks.len()).map(|task| tasks.row(task));
        let facts = GanttRowFacts {
            status: rows.row_status(row, tasks),
            started: task.and_then(|task| task.started_at),
            finished: task.and_then(|task| task.finished_at),
            is_group: rows.is_group(row),
            milestone: rows.all[row].milestone,
            now: self.cx.now,
            deadline: self.cx.plan.deadline,
        };
        for bar in row_bars(planned, &facts, self.axis).into_iter().filter(|bar| wanted(bar.part)) {
            self.draw_bar(bar, y, buf);
        }
    }

    fn draw_bar(&self, bar: GanttBar, y: u16, buf: &mut Buffer) {
        let (glyph, role) = bar_style(bar.part);
        for column in bar.from.max(self.from)..bar.to.min(self.end_column()) {
            let Some(x) = self.screen_x(column) else { continue };
            let glyph = match bar.part {
                // A line that comes down passes through the span of a phase.
                GanttBarKind::Phase if matches!(buf[(x, y)].symbol(), "│" | "┼") => '┼',
                GanttBarKind::Phase if column == bar.from => '├',
                GanttBarKind::Phase if column + 1 == bar.to => '┤',
                _ => glyph,
            };
            buf[(x, y)].set_char(glyph).set_style(self.cx.style(role));
        }
    }

    /// The links worth a line: those of the selected task.
    fn link_lines(&self) -> Vec<LinkLine> {
        let mut place = vec![usize::MAX; self.cx.plan.rows.all.len()];
        for (at, row) in self.cx.plan.shown.iter().enumerate() {
            place[*row] = at;
        }
        let planned = |id: &TaskId| {
            // Containers have a span, not a bar that something could start at.
            let rows = &self.cx.plan.rows;
            let row = rows.position(id).filter(|row| !rows.is_group(*row))?;
            let at = self.cx.plan.planned.get(row).filter(|_| place[row] != usize::MAX)?;
            Some((place[row], at.blocks.first().copied()?, at.blocks.last().copied()?))
        };
        let mut ties = Vec::new();
        for (from, to) in self.linked_tasks() {
            let (Some((from, _, last)), Some((to, first, _))) = (planned(from), planned(to)) else {
                continue;
            };
            // Both may fall into one column: the line then comes down on the bar it starts.
            let end = self.axis.column_range(last).1;
            let (start, stop) = self.axis.column_range(first);
            let column = start.max(end);
            // On a coarse scale it would come down beside the bar, which says nothing.
            if first.start >= last.end && column < stop {
                ties.push(LinkLine { from: (from, end), to: (to, column) });
            }
        }
        ties
    }

    /// Who comes before whom, of the links that are drawn.
    fn linked_tasks(&self) -> Vec<(&TaskId, &TaskId)> {
        let state = self.cx.state;
        let selected = self.cx.ui.graph.selected.as_ref();
        let about = |from: &TaskId, to: &TaskId| selected.is_some_and(|id| id == from || id == to);
        let mut pairs = Vec::new();
        if let Some(revision) = &state.plan.current {
            for task in &revision.plan.tasks {
                let links = task.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
                let drawn = links.filter(|link| about(&link.task, &task.id));
                pairs.extend(drawn.map(|link| (&link.task, &task.id)));
            }
        } else if let Some(roadmap) = &state.planning.roadmap {
            let links = roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
            let drawn = links.filter(|link| about(&link.from, &link.to));
            pairs.extend(drawn.map(|link| (&link.from, &link.to)));
        }
        pairs
    }
}

fn bar_style(part: GanttBarKind) -> (char, ThemeRole) {
    match part {
        GanttBarKind::Slack => ('·', ThemeRole::Dim),
        GanttBarKind::Planned => ('▓', ThemeRole::Text),
        GanttBarKind::Critical => ('▓', ThemeRole::EdgeCritical),
        GanttBarKind::Late => ('▓', ThemeRole::Failed),
        GanttBarKind::Done => ('█', ThemeRole::Done),
        GanttBarKind::Running => ('█', ThemeRole::Running),
        GanttBarKind::Failed => ('█', ThemeRole::Failed),
        GanttBarKind::Phase => ('─', ThemeRole::Text),
        GanttBarKind::Milestone => ('◊', ThemeRole::Text),
    }
}
