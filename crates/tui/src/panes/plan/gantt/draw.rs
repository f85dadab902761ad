//! Draws the visible part of the chart.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::axis::{Axis, day_words};
use super::bars::{Bar, Facts, Part, bars};
use super::links::{Tie, cells};
use crate::clock::time_of_day;
use crate::context::PaneContext;
use crate::panes::plan::times::{Measure, Planned};
use crate::panes::plan::{highlight, put_marks, row_glyph};
use crate::theme::Role;
use crate::widgets::{Line, piece};
use planwright_model::{LinkKind, TaskId};
use planwright_text::units;

/// Columns of the names, estimate included: the wide form and the narrow one.
const NAMES: (u16, u16) = (33, 24);
const ESTIMATE: usize = 10;
const LEGEND: &str =
    "█ done  ▓ critical  ▒ planned  · slack  ░ weekend  ├─┤ phase  ◊ milestone  ▼ now";

/// The columns that time gets.
pub(crate) fn chart_columns(body: Rect) -> usize {
    usize::from(body.width.saturating_sub(names(body) + 1))
}

fn names(body: Rect) -> u16 {
    if body.width >= 100 { NAMES.0 } else { NAMES.1 }
}

/// Scale and day, as the rule says them.
pub(crate) fn summary(cx: &PaneContext<'_>) -> String {
    let Some(axis) = &cx.plan.axis else { return String::new() };
    let scale = match cx.plan.offsets.measure {
        Measure::Layers if cx.class.has_tabs() => "by layer".to_owned(),
        Measure::Layers => "by layer, not all tasks say how long they take".to_owned(),
        Measure::Minutes | Measure::Schedule => axis.scale.word(),
    };
    let day = cx.now.to_zoned(cx.time_zone.clone()).date();
    let word = if cx.mode.is_past() { "cursor" } else { "today" };
    format!("{scale} · {word} {}", day_words(day))
}

/// When the plan ends.
pub(crate) fn facts(cx: &PaneContext<'_>) -> String {
    let last = cx.plan.planned.iter().filter_map(Planned::end).max();
    match (cx.plan.offsets.measure, last) {
        (Measure::Layers, _) | (_, None) => String::new(),
        (Measure::Minutes | Measure::Schedule, Some(end)) => {
            let day = end.to_zoned(cx.time_zone.clone()).date();
            let today = cx.now.to_zoned(cx.time_zone.clone()).date();
            let when = if day == today { time_of_day(end, cx.time_zone) } else { day_words(day) };
            format!("planned to end {when}")
        }
    }
}

pub(crate) fn draw(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let Some(axis) = &cx.plan.axis else { return };
    let names = names(body).min(body.width);
    let list = Rect { y: body.y + 2, height: body.height.saturating_sub(2), ..body };
    let chart = Rect { x: body.x + names, width: body.width - names, ..body };
    let chart = Chart { cx, axis, area: chart, from: cx.ui.view.column };
    draw_headings(body, names, buf, cx);
    chart.labels(buf);
    let shown = cx.plan.top..(cx.plan.top + usize::from(list.height)).min(cx.plan.shown.len());
    let lines = cells(&chart.ties(), shown.clone());
    for (place, y) in shown.zip(list.y..list.bottom()) {
        let row = cx.plan.shown[place];
        let area = Rect { y, height: 1, ..list };
        chart.ground(y, buf);
        chart.bars(row, |part| part == Part::Slack, y, buf);
        chart.lines(&lines, place, y, buf);
        chart.bars(row, |part| part != Part::Slack, y, buf);
        highlight(row, Rect { width: names, ..area }, buf, cx);
        draw_name(row, Rect { width: names, ..area }, buf, cx);
    }
    let below = list.y + cx.plan.shown.len() as u16;
    if cx.plan.top == 0 && cx.plan.shown.len() < usize::from(list.height) {
        let area = Rect { y: below, height: 1, ..list };
        Line::new(buf, area).skip(1).put(LEGEND, cx.style(Role::Dim));
    }
}

fn draw_headings(body: Rect, names: u16, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(Role::Dim);
    let row = Rect { width: names.saturating_sub(2), height: body.height.min(1), ..body };
    let mut line = Line::new(buf, row);
    if names == NAMES.0 {
        line.right(&[piece("estimate", dim)]);
    }
    line.skip(1).put("task", dim);
}

fn draw_name(at: usize, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = &cx.plan.rows;
    let row = &rows.all[at];
    let (glyph, role) = row_glyph(at, rows, cx.state);
    let dim = cx.style(Role::Dim);
    let mut line = Line::new(buf, area);
    if area.width == NAMES.0 {
        let minutes =
            row.minutes.map(|minutes| units::working_minutes(minutes.into())).unwrap_or_default();
        line.right(&[piece(format!("{minutes:>ESTIMATE$}"), dim), piece("  ", dim)]);
    }
    put_marks(&mut line, &row.id, cx);
    line.skip(2 * row.depth).put(&format!("{glyph} "), cx.style(role));
    let locked = cx.plan.planned.get(at).is_some_and(|planned| planned.locked);
    if locked {
        line.put("# ", cx.style(Role::Warn));
    }
    line.put(&row.title, cx.style(Role::Text));
}

struct Chart<'a, 'b> {
    cx: &'a PaneContext<'b>,
    axis: &'a Axis,
    area: Rect,
    /// The column at the left edge.
    from: i64,
}

impl Chart<'_, '_> {
    fn to(&self) -> i64 {
        self.from + i64::from(self.area.width)
    }

    fn x(&self, column: i64) -> Option<u16> {
        let inside = (self.from..self.to()).contains(&column);
        inside.then(|| self.area.x + (column - self.from) as u16)
    }

    fn labels(&self, buf: &mut Buffer) {
        let (upper, lower) = self.axis.labels(self.from, self.to());
        for (labels, line) in [(upper, 0), (lower, 1)] {
            for (column, text) in labels {
                let Some(x) = self.x(column).filter(|_| line < self.area.height) else { continue };
                let y = self.area.y + line;
                let area = Rect { x, y, width: self.area.right() - x, height: 1 };
                if usize::from(area.width) >= text.len() {
                    Line::new(buf, area).put(&text, self.cx.style(Role::Dim));
                }
            }
        }
        if let Some(x) = self.x(self.axis.column(self.cx.now)).filter(|_| self.area.height > 1) {
            let style = self.cx.style(Role::Today);
            buf[(x, self.area.y + 1)].set_char('▼').set_style(style);
        }
    }

    /// Weekends and the line of today, under everything else.
    fn ground(&self, y: u16, buf: &mut Buffer) {
        let today = self.axis.column(self.cx.now);
        for column in self.from..self.to() {
            let Some(x) = self.x(column) else { continue };
            if column == today {
                buf[(x, y)].set_char('┊').set_style(self.cx.style(Role::Today));
            } else if self.axis.is_weekend(column) {
                buf[(x, y)].set_char('░').set_style(self.cx.style(Role::Weekend));
            }
        }
    }

    fn lines(&self, lines: &BTreeMap<(usize, i64), char>, place: usize, y: u16, buf: &mut Buffer) {
        for (&(_, column), glyph) in lines.range((place, i64::MIN)..=(place, i64::MAX)) {
            if let Some(x) = self.x(column) {
                buf[(x, y)].set_char(*glyph).set_style(self.cx.style(Role::Edge));
            }
        }
    }

    fn bars(&self, row: usize, wanted: impl Fn(Part) -> bool, y: u16, buf: &mut Buffer) {
        let rows = &self.cx.plan.rows;
        let Some(planned) = self.cx.plan.planned.get(row) else { return };
        let tasks = &self.cx.state.tasks;
        let task =
            rows.all[row].task.filter(|task| *task < tasks.len()).map(|task| tasks.row(task));
        let facts = Facts {
            status: rows.status(row, tasks),
            started: task.and_then(|task| task.started_at),
            finished: task.and_then(|task| task.finished_at),
            is_group: rows.is_group(row),
            milestone: rows.all[row].milestone,
            now: self.cx.now,
            deadline: self.cx.plan.deadline,
        };
        for bar in bars(planned, &facts, self.axis).into_iter().filter(|bar| wanted(bar.part)) {
            self.bar(bar, y, buf);
        }
    }

    fn bar(&self, bar: Bar, y: u16, buf: &mut Buffer) {
        let (glyph, role) = look(bar.part);
        for column in bar.from.max(self.from)..bar.to.min(self.to()) {
            let Some(x) = self.x(column) else { continue };
            let glyph = match bar.part {
                // A line that comes down passes through the span of a phase.
                Part::Phase if matches!(buf[(x, y)].symbol(), "│" | "┼") => '┼',
                Part::Phase if column == bar.from => '├',
                Part::Phase if column + 1 == bar.to => '┤',
                _ => glyph,
            };
            buf[(x, y)].set_char(glyph).set_style(self.cx.style(role));
        }
    }

    /// The links worth a line: those of the critical path and those of the selected task.
    fn ties(&self) -> Vec<Tie> {
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
        for (from, to) in self.pairs() {
            let (Some((from, _, last)), Some((to, first, _))) = (planned(from), planned(to)) else {
                continue;
            };
            // Both may fall into one column: the line then comes down on the bar it starts.
            let end = self.axis.columns(last).1;
            let (start, stop) = self.axis.columns(first);
            let column = start.max(end);
            // On a coarse scale it would come down beside the bar, which says nothing.
            if first.start >= last.end && column < stop {
                ties.push(Tie { from: (from, end), to: (to, column) });
            }
        }
        ties
    }

    /// Who comes before whom, of the links that are drawn.
    fn pairs(&self) -> Vec<(&TaskId, &TaskId)> {
        let state = self.cx.state;
        let selected = self.cx.ui.graph.selected.as_ref();
        let about = |from: &TaskId, to: &TaskId| selected.is_some_and(|id| id == from || id == to);
        let mut pairs = Vec::new();
        if let Some(revision) = &state.plan.current {
            let path = &revision.facts.critical_path;
            pairs.extend(path.windows(2).map(|pair| (&pair[0], &pair[1])));
            for task in &revision.plan.tasks {
                let links = task.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
                let drawn = links.filter(|link| about(&link.task, &task.id));
                pairs.extend(drawn.map(|link| (&link.task, &task.id)));
            }
        } else if let Some(roadmap) = &state.planning.roadmap {
            pairs.extend(roadmap.critical_path.windows(2).map(|pair| (&pair[0], &pair[1])));
            let links = roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
            let drawn = links.filter(|link| about(&link.from, &link.to));
            pairs.extend(drawn.map(|link| (&link.from, &link.to)));
        }
        pairs
    }
}

fn look(part: Part) -> (char, Role) {
    match part {
        Part::Slack => ('·', Role::Dim),
        Part::Planned => ('▒', Role::Text),
        Part::Critical => ('▓', Role::EdgeCritical),
        Part::Late => ('▒', Role::Failed),
        Part::Done => ('█', Role::Done),
        Part::Running => ('█', Role::Running),
        Part::Failed => ('█', Role::Failed),
        Part::Phase => ('─', Role::Text),
        Part::Milestone => ('◊', Role::Text),
    }
}
