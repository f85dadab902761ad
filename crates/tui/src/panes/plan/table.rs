//! The table: one row a task, sorted by a column. Columns go from the right where it is narrow; status and title never.

use std::cmp::Ordering;

use jiff::Timestamp;
use jiff::civil::Date;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rows::PlanTreeRows;
use super::times::ChartOffsets;
use super::{draw_row_count, highlight_selected, put_marks, row_glyph};
use crate::pane_context::PaneContext;
use crate::panes::graph::task_worker;
use crate::plan_text::DaySpan;
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::TaskNode;
use planwright_state::{SessionState, TaskRow, TaskStatus};
use planwright_text::{clean_line, units};

/// Rows that are looked at to tell which columns have something in them.
const MOST_LOOKED_AT: usize = 500;

/// A column of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TableColumn {
    /// The order in which tasks would be started.
    #[default]
    Order,
    Status,
    Title,
    Kind,
    When,
    Attempt,
    Elapsed,
    Estimate,
    Tokens,
    Cost,
    Slack,
    Tool,
}

impl TableColumn {
    const ALL: [Self; 12] = [
        Self::Order,
        Self::Status,
        Self::Title,
        Self::Kind,
        Self::When,
        Self::Attempt,
        Self::Elapsed,
        Self::Estimate,
        Self::Tokens,
        Self::Cost,
        Self::Slack,
        Self::Tool,
    ];

    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Order => "order of work",
            Self::Status => "status",
            Self::Title => "title",
            Self::Kind => "who",
            Self::When => "when",
            Self::Attempt => "try",
            Self::Elapsed => "elapsed",
            Self::Estimate => "estimate",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Slack => "to spare",
            Self::Tool => "tool",
        }
    }

    /// The column to the left or right of this one.
    pub(crate) fn adjacent_column(self, forward: bool) -> Self {
        let at = Self::ALL.iter().position(|column| *column == self).unwrap_or(0);
        let by = if forward { 1 } else { Self::ALL.len() - 1 };
        Self::ALL[(at + by) % Self::ALL.len()]
    }

    fn width(self) -> usize {
        match self {
            Self::Order => 0,
            Self::Status | Self::Tokens => 9,
            Self::Title => 20,
            Self::Kind | Self::Tool => 12,
            Self::When => 24,
            Self::Attempt => 4,
            Self::Estimate | Self::Elapsed | Self::Slack => 11,
            Self::Cost => 8,
        }
    }

    fn is_numeric(self) -> bool {
        matches!(
            self,
            Self::Attempt
                | Self::Elapsed
                | Self::Estimate
                | Self::Tokens
                | Self::Cost
                | Self::Slack
        )
    }
}

/// The columns that fit beside titles of so many cells, and the cells the titles get: they are cut last. Columns in which
/// nothing would stand are left out.
fn fit_columns(
    width: usize,
    titles: usize,
    is_used: impl Fn(TableColumn) -> bool,
) -> (Vec<TableColumn>, usize) {
    let mut columns: Vec<TableColumn> =
        TableColumn::ALL[1..].iter().copied().filter(|column| is_used(*column)).collect();
    let least = TableColumn::Title.width();
    let titles = titles.max(least);
    let taken = |columns: &[TableColumn], title: usize| {
        columns.iter().map(|column| column.width() + 2).sum::<usize>() + 3 + title - least
    };
    while taken(&columns, titles) > width && columns.len() > 2 {
        columns.pop();
    }
    let title = (width + least).saturating_sub(taken(&columns, least)).clamp(least, titles);
    (columns, title)
}

/// Cells of the longest title, as far as that is worth looking for.
fn widest_title(cx: &PaneContext<'_>) -> usize {
    let rows = cx.plan.rows.all.iter().take(500);
    rows.map(|row| planwright_text::display_width(&row.title)).max().unwrap_or(0).min(70)
}

/// Rows with a task, sorted. Equal ones stay in the order of work.
pub(super) fn sorted_rows(
    rows: &PlanTreeRows,
    offsets: &ChartOffsets,
    state: &SessionState,
    by: TableColumn,
) -> Vec<usize> {
    let Some(revision) = &state.plan.current else { return Vec::new() };
    let mut found: Vec<(usize, usize)> = (0..rows.all.len())
        .filter_map(|row| Some((row, rows.all[row].task.filter(|task| *task < state.tasks.len())?)))
        .collect();
    let now = state.at.unwrap_or(Timestamp::UNIX_EPOCH);
    found.sort_by(|(_, one), (_, other)| {
        let entry = |task: usize| TableEntry {
            node: &revision.plan.tasks[task],
            row: state.tasks.row(task),
            slack: offsets.task_slack(task),
            days: None,
            now,
        };
        entry(*one).compare_by(&entry(*other), by)
    });
    found.into_iter().map(|(row, _)| row).collect()
}

struct TableEntry<'a> {
    node: &'a TaskNode,
    row: &'a TaskRow,
    slack: Option<u64>,
    /// When it is planned.
    days: Option<DaySpan>,
    now: Timestamp,
}

impl TableEntry<'_> {
    /// Figures come largest first, slack smallest first, words by the alphabet.
    fn compare_by(&self, other: &Self, by: TableColumn) -> Ordering {
        let elapsed = |entry: &Self| entry.row.elapsed_ms(entry.now);
        match by {
            // The order of work is that of the dates.
            TableColumn::Order | TableColumn::When => Ordering::Equal,
            TableColumn::Status => {
                status_urgency(self.row.status).cmp(&status_urgency(other.row.status))
            }
            TableColumn::Title => {
                planwright_text::compare_names(&self.node.description, &other.node.description)
            }
            TableColumn::Kind => self.kind().cmp(other.kind()),
            TableColumn::Attempt => other.row.attempt.cmp(&self.row.attempt),
            TableColumn::Elapsed => elapsed(other).cmp(&elapsed(self)),
            TableColumn::Estimate => other.node.duration_minutes.cmp(&self.node.duration_minutes),
            TableColumn::Tokens => other.row.tokens.cmp(&self.row.tokens),
            TableColumn::Cost => other.row.cost.cmp(&self.row.cost),
            TableColumn::Slack => {
                self.slack.unwrap_or(u64::MAX).cmp(&other.slack.unwrap_or(u64::MAX))
            }
            TableColumn::Tool => self.tool_name().cmp(&other.tool_name()),
        }
    }

    fn kind(&self) -> &str {
        task_worker(self.node)
    }

    fn tool_name(&self) -> String {
        match &self.row.call {
            Some(call) => call.tool.clone(),
            None => self.node.tools.first().cloned().unwrap_or_default(),
        }
    }

    fn cell_text(&self, column: TableColumn, today: Date) -> String {
        match column {
            TableColumn::Order | TableColumn::Status => String::new(),
            TableColumn::Title => self.node.description.clone(),
            TableColumn::Kind => self.kind().to_owned(),
            TableColumn::When => self.days.map(|days| days.text(today)).unwrap_or_default(),
            TableColumn::Attempt if self.row.attempt == 0 => String::new(),
            TableColumn::Attempt => self.row.attempt.to_string(),
            TableColumn::Elapsed => self
                .row
                .elapsed_ms(self.now)
                .map(|ms| units::format_elapsed(std::time::Duration::from_millis(ms)))
                .unwrap_or_default(),
            TableColumn::Estimate => self
                .node
                .duration_minutes
                .filter(|minutes| *minutes > 0)
                .map(|minutes| units::format_planned(minutes.into()))
                .unwrap_or_default(),
            TableColumn::Tokens if self.row.tokens == 0 => String::new(),
            TableColumn::Tokens => units::format_tokens(self.row.tokens),
            TableColumn::Cost if self.row.cost.0 == 0 => String::new(),
            TableColumn::Cost => self.row.cost.to_string(),
            TableColumn::Slack => self.slack.map(units::format_planned).unwrap_or_default(),
            TableColumn::Tool => self.tool_name(),
        }
    }
}

/// What needs looking at comes first.
fn status_urgency(status: TaskStatus) -> u8 {
    match status {
        TaskStatus::Failed => 0,
        TaskStatus::Yours => 1,
        TaskStatus::Running => 2,
        TaskStatus::Pending => 3,
        TaskStatus::Skipped(_) => 4,
        TaskStatus::Done => 5,
    }
}

pub(super) fn draw_table(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let is_used = |column| is_column_used(column, cx);
    let (columns, title) = fit_columns(usize::from(body.width), widest_title(cx), is_used);
    draw_heading(&columns, title, Rect { height: body.height.min(1), ..body }, buf, cx);
    let list = Rect { y: body.y + 1, height: body.height.saturating_sub(1), ..body };
    for (row, y) in cx.plan.shown.iter().skip(cx.plan.top).zip(list.y..list.bottom()) {
        let area = Rect { y, height: 1, ..list };
        highlight_selected(*row, area, buf, cx);
        draw_row(*row, &columns, title, area, buf, cx);
    }
    draw_row_count(
        list,
        usize::from(list.height).min(cx.plan.shown.len()),
        cx.plan.shown.len(),
        buf,
        cx,
    );
}

/// Whether a column has something to say about one of the tasks.
fn is_column_used(column: TableColumn, cx: &PaneContext<'_>) -> bool {
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let is_kept = matches!(column, TableColumn::Status | TableColumn::Title | TableColumn::Kind);
    let mut entries =
        cx.plan.shown.iter().take(MOST_LOOKED_AT).filter_map(|row| entry_at(*row, cx));
    is_kept || entries.any(|entry| !entry.cell_text(column, today).is_empty())
}

/// The task of a row.
fn entry_at<'a>(at: usize, cx: &PaneContext<'a>) -> Option<TableEntry<'a>> {
    let task = cx.plan.rows.all[at].task.filter(|task| *task < cx.state.tasks.len())?;
    let node = cx.state.plan.current.as_ref().and_then(|plan| plan.plan.tasks.get(task))?;
    let planned = cx.plan.planned.get(at).and_then(|planned| planned.slack);
    Some(TableEntry {
        node,
        row: cx.state.tasks.row(task),
        slack: cx.plan.offsets.task_slack(task).or(planned),
        days: cx.plan.text.get(at).and_then(|row| row.days),
        now: cx.now,
    })
}

fn draw_heading(
    columns: &[TableColumn],
    title: usize,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mut line = ScreenLine::new(buf, area);
    line.skip(2);
    for column in columns {
        let width = if *column == TableColumn::Title { title } else { column.width() };
        let sorted = *column == cx.ui.view.sort;
        let style =
            if sorted { cx.theme.bold_style(ThemeRole::Focus) } else { cx.style(ThemeRole::Dim) };
        put_cell(&mut line, column.heading(), width, column.is_numeric(), style);
    }
}

fn draw_row(
    at: usize,
    columns: &[TableColumn],
    title: usize,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let Some(entry) = entry_at(at, cx) else { return };
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let (glyph, role) = row_glyph(at, &cx.plan.rows, cx.state);
    let mut line = ScreenLine::new(buf, area);
    put_marks(line.skip(1), &entry.node.id, cx);
    for column in columns {
        let width = if *column == TableColumn::Title { title } else { column.width() };
        let style = match column {
            TableColumn::Status => cx.style(role),
            TableColumn::Title => cx.style(ThemeRole::Text),
            _ => cx.style(ThemeRole::Dim),
        };
        let text = match column {
            TableColumn::Status => format!("{glyph} {}", entry.row.status.label()),
            _ => entry.cell_text(*column, today),
        };
        put_cell(&mut line, &text, width, column.is_numeric(), style);
    }
}

/// Writes one cell: words to the left, figures to the right.
fn put_cell(
    line: &mut ScreenLine<'_>,
    text: &str,
    width: usize,
    figure: bool,
    style: ratatui::style::Style,
) {
    let clean = clean_line(text);
    let text = if figure { planwright_text::pad_left(&clean, width) } else { clean };
    line.put_column(&text, width, style).skip(2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;

    fn sorted_ids(by: TableColumn) -> Vec<String> {
        let state = Fixture::running().state();
        let revision = state.plan.current.clone().unwrap();
        let rows = PlanTreeRows::from_plan(&revision.plan, &revision.facts.execution_order);
        let offsets = ChartOffsets::from_plan(&revision.plan, &revision.facts);
        let order = sorted_rows(&rows, &offsets, &state, by);
        order.into_iter().map(|row| rows.all[row].id.to_string()).collect()
    }

    #[test]
    fn what_needs_the_person_comes_first_by_status() {
        assert_eq!(sorted_ids(TableColumn::Status)[..4], ["fuzz", "keys", "port", "docs"]);
        assert_eq!(sorted_ids(TableColumn::Title)[..3], ["api", "fuzz", "bench"]);
        assert_eq!(sorted_ids(TableColumn::Slack)[0], "audit");
        assert_eq!(sorted_ids(TableColumn::Estimate)[0], "keys");
    }

    #[test]
    fn columns_go_from_the_right_where_it_is_narrow() {
        let fit = |width, titles| fit_columns(width, titles, |_| true);
        assert_eq!(fit(200, 30).0.len(), 11);
        let (narrow, title) = fit(60, 40);
        assert_eq!((narrow.len(), title), (2, 40));
        assert_eq!(fit(10, 40).0, [TableColumn::Status, TableColumn::Title]);
        let without = fit_columns(200, 30, |column| column != TableColumn::When).0;
        assert!(!without.contains(&TableColumn::When));
    }

    #[test]
    fn sorting_turns_through_all_columns_and_back() {
        let mut column = TableColumn::Order;
        for _ in 0..12 {
            column = column.adjacent_column(true);
        }
        assert_eq!(column, TableColumn::Order);
        assert_eq!(TableColumn::Order.adjacent_column(false), TableColumn::Tool);
    }
}
