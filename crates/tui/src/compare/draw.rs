//! Draws the comparison.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::CompareScreen;
use super::table::{
    CompareColumns, CompareRow, bar_length, outcome_cell, plan_mark, time_cell, time_change_ms,
};
use crate::clock::format_day_and_time;
use crate::keymap::KeyAction;
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::replay::compare::{ComparisonSide, PlanRelation, TaskComparison};
use planwright_text::{display_width, units};

const FOCUS: RuleKind = RuleKind { focus: true, past: false };
const PLAIN: RuleKind = RuleKind { focus: false, past: false };

impl CompareScreen {
    pub(super) fn style(&self, role: ThemeRole) -> Style {
        self.palette.style(role)
    }

    pub(super) fn draw_all(&mut self, buf: &mut Buffer) {
        let area = buf.area;
        if area.height < 4 || area.width < 20 {
            return;
        }
        let row = |y: u16| Rect { y: area.y + y, height: 1, ..area };
        self.draw_title(row(0), buf);
        let footer = Rect { y: area.bottom() - 1, height: 1, ..area };
        if self.traces.is_some() {
            let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
            self.draw_traces(body, buf);
            self.draw_footer(footer, buf);
            return;
        }
        let figures = self.comparison().summary_figures().len() as u16 + 1;
        // A low screen keeps the table.
        let figures = if area.height >= figures + 8 { figures } else { 0 };
        if figures > 0 {
            self.draw_figures(Rect { y: area.y + 1, height: figures, ..area }, buf);
        }
        let line = row(1 + figures);
        draw_pane_rule(buf, line, PLAIN, self.style(ThemeRole::Rule), &[], &[]);
        let table =
            Rect { y: line.y + 1, height: area.bottom().saturating_sub(line.y + 2), ..area };
        self.draw_table(table, buf);
        self.draw_footer(footer, buf);
    }

    fn draw_title(&self, row: Rect, buf: &mut Buffer) {
        let found = self.comparison();
        let style = self.style(ThemeRole::Focus);
        let revision = |side: &ComparisonSide| {
            side.revision.map_or("-".to_owned(), |number| format!("r{number}"))
        };
        let facts = format!("plan {} and {}", revision(&found.a), revision(&found.b));
        let b = self.describe_side(&found.b, &found.a, "A", usize::MAX);
        let b = planwright_text::truncate_end(&b, usize::from(row.width) / 3).into_owned();
        let room = usize::from(row.width).saturating_sub(display_width(&facts) + 13);
        let rest = display_width(&b) + display_width("compare · A  · B ");
        let a = self.describe_side(&found.a, &found.b, "B", room.saturating_sub(rest));
        let name = format!("compare · A {a} · B {b}");
        let name = planwright_text::truncate_end(&name, room).into_owned();
        let facts = [styled_piece(facts, style)];
        draw_pane_rule(buf, row, FOCUS, style, &[styled_piece(name, style)], &facts);
    }

    /// A run in a few words: a fork says of what, another one when it was made. Its title gives way.
    fn describe_side(
        &self,
        side: &ComparisonSide,
        other: &ComparisonSide,
        letter: &str,
        room: usize,
    ) -> String {
        let id = side.session.short_id();
        match &side.fork_of {
            Some((parent, at)) if *parent == other.session => {
                format!("{id} fork of {letter} at event {}", units::format_count(at.0))
            }
            Some((parent, at)) => {
                format!("{id} fork of {} at event {}", parent.short_id(), units::format_count(at.0))
            }
            None => {
                // Half a title says less than the id alone.
                if room < 24 {
                    return id.to_owned();
                }
                let made = side.created_at.map(|at| {
                    // The year appears only where the two are of different years.
                    let newer = other.created_at.map_or(at, |other| other.max(at));
                    format_day_and_time(at, newer, &self.time_zone)
                });
                let made = made.filter(|_| room >= 44);
                let made = made.map(|made| format!(", {made}")).unwrap_or_default();
                let title = planwright_text::clean_line(&side.title);
                let left = room.saturating_sub(display_width(id) + display_width(&made) + 1);
                format!("{id} {}{made}", planwright_text::truncate_end(&title, left))
            }
        }
    }

    fn draw_figures(&self, area: Rect, buf: &mut Buffer) {
        let found = self.comparison();
        let (dim, text) = (self.style(ThemeRole::Dim), self.style(ThemeRole::Text));
        let (name, column, gap) = if area.width >= 100 { (24, 12, 6) } else { (14, 10, 3) };
        let right = Rect {
            x: area.x + 1 + name + 3 * column + gap,
            width: area.width.saturating_sub(2 + name + 3 * column + gap),
            ..area
        };
        let figures = found.summary_figures();
        let figure = |y: u16, cells: [&str; 4], style: Style, buf: &mut Buffer| {
            let mut line = ScreenLine::new(buf, Rect { y: area.y + y, height: 1, ..area });
            line.skip(1).put_column(cells[0], usize::from(name), dim);
            for cell in &cells[1..] {
                line.put_column(
                    &right_aligned(cell, usize::from(column)),
                    usize::from(column),
                    style,
                );
            }
        };
        figure(0, ["", "A", "B", "B - A"], dim, buf);
        for (figure_of, y) in figures.iter().zip(1..) {
            let cells = [figure_of.name, &figure_of.a, &figure_of.b, &figure_of.change];
            figure(y, cells, text, buf);
        }
        for ((words, role), y) in self.difference_lines().into_iter().zip(area.y..area.bottom()) {
            let row = Rect { y, height: 1, ..right };
            ScreenLine::new(buf, row).put(&words, self.style(role));
        }
    }

    /// Where the runs went apart and how the plans differ, beside the figures.
    fn difference_lines(&self) -> Vec<(String, ThemeRole)> {
        let found = self.comparison();
        let mut lines = Vec::new();
        match &found.first_divergence {
            None => lines.push(("both did the same".to_owned(), ThemeRole::Text)),
            Some(first) => {
                lines.push(("first divergence".to_owned(), ThemeRole::Dim));
                let event = first.seq_b.or(first.seq_a).map(|seq| units::format_count(seq.0));
                let task = first.task.as_ref().map(|task| format!(": {task}")).unwrap_or_default();
                let side = if first.seq_b.is_some() { "B" } else { "A" };
                let event = event.unwrap_or_default();
                lines.push((format!("event {event} of {side}{task}"), ThemeRole::Text));
                lines.push((format!("  A  {}", first.a), ThemeRole::Untrusted));
                lines.push((format!("  B  {}", first.b), ThemeRole::Untrusted));
            }
        }
        lines.push((format!("plan  {}", found.plan_line()), ThemeRole::Text));
        let new = found.tasks.iter().filter_map(|task| match task.plan {
            PlanRelation::OnlyInB => Some((format!("+ {}", task.task), ThemeRole::DiffAdded)),
            PlanRelation::OnlyInA => Some((format!("- {}", task.task), ThemeRole::DiffRemoved)),
            _ => None,
        });
        lines.extend(new);
        lines
    }

    fn draw_table(&mut self, area: Rect, buf: &mut Buffer) {
        let columns = CompareColumns::for_width(area.width);
        self.draw_table_header(columns, Rect { height: area.height.min(1), ..area }, buf);
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        self.body = body;
        let rows = self.table_rows();
        let room = usize::from(body.height);
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(room));
        self.top = self.top.min(rows.len().saturating_sub(room));
        let largest = self
            .comparison()
            .tasks
            .iter()
            .filter_map(time_change_ms)
            .map(i64::abs)
            .max()
            .unwrap_or(0);
        for ((place, row), y) in rows.iter().enumerate().skip(self.top).zip(body.y..body.bottom()) {
            let area = Rect { y, height: 1, ..body };
            let under = place == self.cursor;
            if under {
                buf.set_style(area, self.style(ThemeRole::Selection));
            }
            match row {
                CompareRow::Task(task) => {
                    let task = &self.comparison().tasks[*task];
                    self.draw_task(task, under, columns, largest, area, buf);
                }
                CompareRow::Folded(count) => {
                    let words = format!(
                        "… {count} tasks the same within 15 s, 2k tokens and $0.01, folded"
                    );
                    ScreenLine::new(buf, area).skip(3).put(&words, self.style(ThemeRole::Dim));
                }
            }
        }
    }

    fn draw_table_header(&self, columns: CompareColumns, row: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        let mut line = ScreenLine::new(buf, row);
        line.skip(3).put_column("task", columns.task, dim);
        line.put_column("A", columns.outcome, dim).put_column("B", columns.outcome, dim);
        for name in ["time A", "time B", "change"] {
            line.put_column(&right_aligned(name, columns.time), columns.time, dim);
        }
        if columns.bar > 0 {
            line.skip(2).put_column("B against A", 2 * columns.bar + 1, dim);
        }
        line.put_column(&right_aligned("tokens", columns.tokens), columns.tokens, dim);
        line.put_column(&right_aligned("cost", columns.cost), columns.cost, dim);
        line.skip(2).put("note", dim);
    }

    fn draw_task(
        &self,
        task: &TaskComparison,
        under: bool,
        columns: CompareColumns,
        largest: i64,
        row: Rect,
        buf: &mut Buffer,
    ) {
        let (dim, text) = (self.style(ThemeRole::Dim), self.style(ThemeRole::Text));
        let mut line = ScreenLine::new(buf, row);
        let (sign, role) = plan_mark(task);
        let (sign, role) =
            if under && sign == " " { ("►", ThemeRole::Focus) } else { (sign, role) };
        line.skip(1).put(sign, self.style(role)).skip(1);
        line.put_column(task.task.as_str(), columns.task - 1, text).skip(1);
        for (found, reused) in [(&task.a, false), (&task.b, task.reused)] {
            let (words, role) = outcome_cell(found.as_ref(), reused);
            line.put_column(&words, columns.outcome - 1, self.style(role)).skip(1);
        }
        let change = time_change_ms(task);
        let times = [
            time_cell(task.a.as_ref(), false),
            time_cell(task.b.as_ref(), task.reused),
            change.map_or_else(String::new, units::format_elapsed_change),
        ];
        for cell in &times {
            line.put_column(&right_aligned(cell, columns.time), columns.time, text);
        }
        if columns.bar > 0 {
            let cells = bar_length(change.unwrap_or(0), largest, columns.bar);
            let less = change.is_some_and(|change| change < 0);
            let left = if less { "━".repeat(cells) } else { String::new() };
            let right = if less { String::new() } else { "━".repeat(cells) };
            line.skip(2).put_column(&right_aligned(&left, columns.bar), columns.bar, text);
            line.put("│", self.style(ThemeRole::Rule)).put_column(&right, columns.bar, text);
        }
        let worked = !task.reused && (task.a.is_some() || task.b.is_some());
        let figure = |change: i64, words: String| match (worked, change) {
            (false, _) => String::new(),
            (true, 0) => "0".to_owned(),
            (true, _) => words,
        };
        let (tokens, cost) = (task.tokens_change(), task.cost_change());
        let tokens = figure(tokens, units::format_tokens_change(tokens));
        line.put_column(&right_aligned(&tokens, columns.tokens), columns.tokens, text);
        let cost = if worked { units::format_money_change(cost) } else { String::new() };
        line.put_column(&right_aligned(&cost, columns.cost), columns.cost, text);
        line.skip(2).put(&task.short_note(), dim);
    }

    fn draw_footer(&self, row: Rect, buf: &mut Buffer) {
        let key = |action| self.keymap.key_hint(action);
        let (strong, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        let mut line = ScreenLine::new(buf, row);
        let right = if self.traces.is_some() {
            vec![(key(KeyAction::Back), "back")]
        } else {
            vec![(key(KeyAction::ExportComparison), "export"), (key(KeyAction::Quit), "back")]
        };
        let mut pieces = Vec::new();
        for (keys, words) in &right {
            pieces.push(styled_piece(format!("  {keys}"), strong));
            pieces.push(styled_piece(format!(" {words}"), dim));
        }
        pieces.push(styled_piece(" ", dim));
        line.put_right(&pieces).skip(1);
        if let Some(message) = &self.message {
            line.put(message, self.style(ThemeRole::Warn));
            return;
        }
        let moves = self.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]);
        let apart =
            self.keymap.keys_hint(&[KeyAction::NextDivergence, KeyAction::PreviousDivergence]);
        let hints = if self.traces.is_some() {
            vec![
                (moves, "scroll"),
                (key(KeyAction::FocusNext), "other run"),
                (key(KeyAction::NextDivergence), "divergence"),
            ]
        } else {
            let fold = if self.folded { "unfold same" } else { "fold same" };
            vec![
                (moves, "task"),
                (key(KeyAction::Open), "both traces"),
                (apart, "next divergence"),
                (key(KeyAction::FoldSame), fold),
                (key(KeyAction::SwapRuns), "swap A and B"),
            ]
        };
        for (keys, words) in hints {
            // An entry is shown whole or not at all.
            if display_width(&keys) + words.len() + 1 > line.cells_left() {
                break;
            }
            line.put(&keys, strong).put(&format!(" {words}"), dim).skip(2);
        }
    }
}

/// Text at the right end of its column.
fn right_aligned(text: &str, cells: usize) -> String {
    let free = cells.saturating_sub(display_width(text));
    format!("{}{text}", " ".repeat(free))
}
