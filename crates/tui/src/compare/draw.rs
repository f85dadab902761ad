//! Draws the comparison.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::CompareScreen;
use super::table::{
    CompareColumns, leave_out_same_start, outcome_cell, plan_mark, time_cell, time_change,
};
use crate::keymap::KeyAction;
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::replay::compare::{ComparisonSide, TaskComparison};
use planwright_text::{clean_line, dates, display_width, shorten_titles, truncate_end, units};

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
        let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
        if self.outputs.is_some() {
            self.draw_outputs(body, buf);
        } else if self.traces.is_some() {
            self.draw_traces(body, buf);
        } else {
            self.draw_overview(body, buf);
        }
        self.draw_footer(footer, buf);
    }

    /// Figures, where the runs first differ, and the tasks.
    fn draw_overview(&mut self, area: Rect, buf: &mut Buffer) {
        let figures = self.comparison().summary_figures().len() as u16 + 1;
        // A low screen keeps the table.
        let figures = if area.height >= figures + 6 { figures } else { 0 };
        if figures > 0 {
            self.draw_figures(Rect { height: figures, ..area }, buf);
        }
        let mut top = area.y + figures;
        if figures > 0 && area.width < 100 {
            let lines = self.difference_lines(usize::from(area.width.saturating_sub(2)));
            let rows = (lines.len() as u16).min(area.height.saturating_sub(figures + 6));
            for ((words, role), y) in lines.into_iter().zip(top..top + rows) {
                let row = Rect { y, height: 1, ..area };
                ScreenLine::new(buf, row).skip(1).put(&words, self.style(role));
            }
            top += rows;
        }
        self.draw_table_rule(Rect { y: top, height: 1, ..area }, buf);
        let height = area.bottom().saturating_sub(top + 1);
        self.draw_table(Rect { y: top + 1, height, ..area }, buf);
    }

    fn draw_title(&self, row: Rect, buf: &mut Buffer) {
        let found = self.comparison();
        let style = self.style(ThemeRole::Focus);
        let version = |side: &ComparisonSide| {
            side.revision.map_or("none".to_owned(), |number| number.to_string())
        };
        let (a, b) = (version(&found.a), version(&found.b));
        let facts = if a == b { format!("version {a}") } else { format!("versions {a} and {b}") };
        let room = usize::from(row.width).saturating_sub(display_width(&facts) + 13);
        let lead = display_width("compare · A  · B ");
        let sides = |timed: bool| {
            let b = self.describe_side(&found.b, &found.a, "A", timed);
            (self.describe_side(&found.a, &found.b, "B", timed), b)
        };
        // When they were made goes before any word is cut.
        let fits = |(a, b): &(String, String)| lead + display_width(a) + display_width(b) <= room;
        let (a, b) = Some(sides(true)).filter(fits).unwrap_or_else(|| sides(false));
        let b = truncate_end(&b, (room / 2).max(12)).into_owned();
        let a = truncate_end(&a, room.saturating_sub(display_width(&b) + lead)).into_owned();
        let name = format!("compare · A {a} · B {b}");
        let (name, facts) = ([styled_piece(name, style)], [styled_piece(facts, style)]);
        draw_pane_rule(buf, row, FOCUS, style, &name, &facts);
    }

    /// A run in a few words: a fork says of what, another one its title, both when they were made.
    fn describe_side(
        &self,
        side: &ComparisonSide,
        other: &ComparisonSide,
        letter: &str,
        timed: bool,
    ) -> String {
        let made = side.created_at.filter(|_| timed).map(|at| {
            let moment = at.to_zoned(self.time_zone.clone());
            let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
            if moment.date() == today {
                return format!(", today {}", dates::format_time(moment.time()));
            }
            format!(", {}", dates::format_date_time(moment.datetime(), today))
        });
        let made = made.unwrap_or_default();
        match &side.fork_of {
            Some((parent, at)) => {
                let of = if *parent == other.session { letter } else { parent.short_id() };
                format!("fork of {of} at event {}{made}", units::format_count(at.0))
            }
            None => format!("{}{made}", clean_line(&side.title)),
        }
    }

    fn draw_figures(&self, area: Rect, buf: &mut Buffer) {
        let (dim, text) = (self.style(ThemeRole::Dim), self.style(ThemeRole::Text));
        let (name, column) = if area.width >= 100 { (22, 12) } else { (18, 12) };
        let figure = |y: u16, cells: [&str; 4], style: Style, buf: &mut Buffer| {
            let mut line = ScreenLine::new(buf, Rect { y: area.y + y, height: 1, ..area });
            line.skip(1).put_column(cells[0], name, dim);
            for cell in &cells[1..] {
                line.put_column(&right_aligned(cell, column), column, style);
            }
        };
        figure(0, ["", "A", "B", "B - A"], dim, buf);
        for (figure_of, y) in self.comparison().summary_figures().iter().zip(1..) {
            let cells = [figure_of.name, &figure_of.a, &figure_of.b, &figure_of.change];
            figure(y, cells, text, buf);
        }
        if area.width < 100 {
            return;
        }
        let taken = (1 + name + 3 * column + 6) as u16;
        let right = Rect { x: area.x + taken, width: area.width.saturating_sub(taken + 1), ..area };
        for ((words, role), y) in
            self.difference_lines(usize::from(right.width)).into_iter().zip(area.y..area.bottom())
        {
            ScreenLine::new(buf, Rect { y, height: 1, ..right }).put(&words, self.style(role));
        }
    }

    /// Where the runs first differ and how the plans differ, in so many cells.
    fn difference_lines(&self, room: usize) -> Vec<(String, ThemeRole)> {
        let found = self.comparison();
        let plan = (format!("plan  {}", found.plan_line()), ThemeRole::Text);
        let Some(first) = &found.first_divergence else {
            return vec![("no difference in what they did".to_owned(), ThemeRole::Text), plan];
        };
        let (a, b) = leave_out_same_start(&first.a, &first.b, room.saturating_sub(5));
        vec![
            ("first difference".to_owned(), ThemeRole::Dim),
            (found.first_difference_text(), ThemeRole::Text),
            (format!("  A  {a}"), ThemeRole::Untrusted),
            (format!("  B  {b}"), ThemeRole::Untrusted),
            plan,
        ]
    }

    fn draw_table_rule(&self, row: Rect, buf: &mut Buffer) {
        let style = self.style(ThemeRole::Rule);
        let hidden = self.comparison().tasks.len() - self.table_rows().len();
        let key = self.keymap.key_hint(KeyAction::FoldSame);
        let facts = match (self.folded, hidden) {
            (false, _) => format!("all tasks · {key}"),
            (true, 0) => String::new(),
            (true, _) if row.width < 100 => format!("{hidden} the same are hidden · {key}"),
            (true, _) => {
                format!("{hidden} the same within 15 s, 2k tokens and $0.01 are hidden · {key}")
            }
        };
        let facts = if facts.is_empty() { vec![] } else { vec![styled_piece(facts, style)] };
        draw_pane_rule(buf, row, PLAIN, style, &[styled_piece("tasks", style)], &facts);
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
        if rows.is_empty() {
            let row = Rect { height: body.height.min(1), ..body };
            ScreenLine::new(buf, row).skip(3).put("No tasks differ.", self.style(ThemeRole::Dim));
        }
        let all = &self.comparison().tasks;
        let titles: Vec<_> = rows.iter().map(|task| clean_line(&all[*task].title)).collect();
        let titles: Vec<&str> = titles.iter().map(AsRef::as_ref).collect();
        let titles = shorten_titles(&titles, columns.task - 2);
        for ((place, task), y) in rows.iter().enumerate().skip(self.top).zip(body.y..body.bottom())
        {
            let area = Rect { y, height: 1, ..body };
            let under = place == self.cursor;
            if under {
                buf.set_style(area, self.style(ThemeRole::Selection));
            }
            let task = &self.comparison().tasks[*task];
            self.draw_task(task, &titles[place], under, columns, area, buf);
        }
    }

    fn draw_table_header(&self, columns: CompareColumns, row: Rect, buf: &mut Buffer) {
        let dim = self.style(ThemeRole::Dim);
        let mut line = ScreenLine::new(buf, row);
        line.skip(3).put_column("task", columns.task, dim);
        line.put_column("A", columns.outcome_a, dim).put_column("B", columns.outcome_b, dim);
        let figures = [
            ("time A", columns.time_a),
            ("time B", columns.time_b),
            ("change", columns.change),
            ("tokens", columns.tokens),
            ("cost", columns.cost),
        ];
        for (name, cells) in figures.into_iter().filter(|(_, cells)| *cells > 0) {
            line.put_column(&right_aligned(name, cells), cells, dim);
        }
    }

    fn draw_task(
        &self,
        task: &TaskComparison,
        title: &str,
        under: bool,
        columns: CompareColumns,
        row: Rect,
        buf: &mut Buffer,
    ) {
        let text = self.style(ThemeRole::Text);
        let mut line = ScreenLine::new(buf, row);
        let (sign, role) = plan_mark(task);
        line.skip(1);
        if under {
            line.put("►", self.style(ThemeRole::Focus)).put(sign, self.style(role));
        } else {
            line.put(sign, self.style(role)).skip(1);
        }
        line.put_column(title, columns.task - 2, text).skip(2);
        let outcomes =
            [(&task.a, false, columns.outcome_a), (&task.b, task.reused, columns.outcome_b)];
        for (found, reused, cells) in outcomes {
            let (words, role) = outcome_cell(found.as_ref(), reused);
            line.put_column(&words, cells - 2, self.style(role)).skip(2);
        }
        let change = time_change(task);
        let figure = |change: i64, words: String| {
            if change == 0 || task.reused { String::new() } else { words }
        };
        let (tokens, cost) = (task.tokens_change(), task.cost_change());
        let cells = [
            (time_cell(task.a.as_ref(), false), columns.time_a),
            (time_cell(task.b.as_ref(), task.reused), columns.time_b),
            (change.map_or_else(String::new, units::format_elapsed_change), columns.change),
            (figure(tokens, units::format_tokens_change(tokens)), columns.tokens),
            (figure(cost, units::format_money_change(cost)), columns.cost),
        ];
        for (cell, width) in cells.iter().filter(|(_, width)| *width > 0) {
            line.put_column(&right_aligned(cell, *width), *width, text);
        }
    }

    fn draw_footer(&self, row: Rect, buf: &mut Buffer) {
        let key = |action| self.keymap.key_hint(action);
        let (strong, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        let mut line = ScreenLine::new(buf, row);
        let inner = self.traces.is_some() || self.outputs.is_some();
        let right = if inner {
            vec![(key(KeyAction::Help), "help"), (key(KeyAction::Back), "back")]
        } else {
            vec![
                (key(KeyAction::Palette), "export, swap"),
                (key(KeyAction::Help), "help"),
                (key(KeyAction::Quit), "back"),
            ]
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
        for (keys, words) in self.footer_hints() {
            // An entry is shown whole or not at all.
            if display_width(&keys) + words.len() + 1 > line.cells_left() {
                break;
            }
            line.put(&keys, strong).put(&format!(" {words}"), dim).skip(2);
        }
    }

    fn footer_hints(&self) -> Vec<(String, &'static str)> {
        let key = |action| self.keymap.key_hint(action);
        let moves = self.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]);
        let apart =
            self.keymap.keys_hint(&[KeyAction::NextDivergence, KeyAction::PreviousDivergence]);
        if self.outputs.is_some() {
            return vec![(moves, "scroll"), (apart, "difference")];
        }
        if self.traces.is_some() {
            return vec![
                (moves, "scroll"),
                (key(KeyAction::FocusNext), "other run"),
                (key(KeyAction::NextDivergence), "difference"),
            ];
        }
        let same = if self.folded { "show the same" } else { "hide the same" };
        vec![
            (apart, "difference"),
            (key(KeyAction::Open), "both side by side"),
            (key(KeyAction::CompareOutputs), "outputs"),
            (key(KeyAction::FoldSame), same),
        ]
    }
}

/// Text at the right end of its column.
fn right_aligned(text: &str, cells: usize) -> String {
    let free = cells.saturating_sub(display_width(text));
    format!("{}{text}", " ".repeat(free))
}
