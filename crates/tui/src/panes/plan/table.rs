//! The table: one row a task, sorted by a column. Columns go from the right where it is narrow; status and id never.

use std::cmp::Ordering;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rows::Rows;
use super::times::Offsets;
use super::{highlight, more, put_marks, row_glyph};
use crate::context::PaneContext;
use crate::theme::Role;
use crate::widgets::Line;
use planwright_model::{RunKind, TaskNode};
use planwright_state::{SessionState, TaskRow, TaskStatus};
use planwright_text::{clean_line, truncate_middle, units};

/// A column of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Column {
    /// The order in which tasks would be started.
    #[default]
    Order,
    Status,
    Id,
    Title,
    Kind,
    Attempt,
    Elapsed,
    Estimate,
    Tokens,
    Cost,
    Slack,
    Tool,
}

impl Column {
    const ALL: [Self; 12] = [
        Self::Order,
        Self::Status,
        Self::Id,
        Self::Title,
        Self::Kind,
        Self::Attempt,
        Self::Elapsed,
        Self::Estimate,
        Self::Tokens,
        Self::Cost,
        Self::Slack,
        Self::Tool,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Order => "order of work",
            Self::Status => "status",
            Self::Id => "id",
            Self::Title => "title",
            Self::Kind => "kind",
            Self::Attempt => "try",
            Self::Elapsed => "elapsed",
            Self::Estimate => "estimate",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Slack => "slack",
            Self::Tool => "tool",
        }
    }

    /// The column to the left or right of this one.
    pub(crate) fn turned(self, forward: bool) -> Self {
        let at = Self::ALL.iter().position(|column| *column == self).unwrap_or(0);
        let by = if forward { 1 } else { Self::ALL.len() - 1 };
        Self::ALL[(at + by) % Self::ALL.len()]
    }

    fn width(self) -> usize {
        match self {
            Self::Order => 0,
            Self::Status | Self::Estimate | Self::Tokens => 9,
            Self::Id => 13,
            Self::Title => 20,
            Self::Kind => 6,
            Self::Attempt => 4,
            Self::Elapsed | Self::Cost | Self::Slack => 8,
            Self::Tool => 12,
        }
    }

    fn is_figure(self) -> bool {
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

/// The columns that fit, and the cells the title gets.
fn layout(width: usize) -> (Vec<Column>, usize) {
    let mut columns = Column::ALL[1..].to_vec();
    let taken =
        |columns: &[Column]| columns.iter().map(|column| column.width() + 2).sum::<usize>() + 3;
    while taken(&columns) > width && columns.len() > 3 {
        columns.pop();
    }
    let spare = width.saturating_sub(taken(&columns));
    (columns, (Column::Title.width() + spare).min(60))
}

/// Rows with a task, sorted. Equal ones stay in the order of work.
pub(super) fn sorted(
    rows: &Rows,
    offsets: &Offsets,
    state: &SessionState,
    by: Column,
) -> Vec<usize> {
    let Some(revision) = &state.plan.current else { return Vec::new() };
    let mut found: Vec<(usize, usize)> = (0..rows.all.len())
        .filter_map(|row| Some((row, rows.all[row].task.filter(|task| *task < state.tasks.len())?)))
        .collect();
    let now = state.at.unwrap_or(Timestamp::UNIX_EPOCH);
    found.sort_by(|(_, one), (_, other)| {
        let entry = |task: usize| Entry {
            node: &revision.plan.tasks[task],
            row: state.tasks.row(task),
            slack: offsets.slack(task),
            now,
        };
        entry(*one).compared(&entry(*other), by)
    });
    found.into_iter().map(|(row, _)| row).collect()
}

struct Entry<'a> {
    node: &'a TaskNode,
    row: &'a TaskRow,
    slack: Option<u64>,
    now: Timestamp,
}

impl Entry<'_> {
    /// Figures come largest first, slack smallest first, words by the alphabet.
    fn compared(&self, other: &Self, by: Column) -> Ordering {
        let elapsed = |entry: &Self| entry.row.elapsed_ms(entry.now);
        match by {
            Column::Order => Ordering::Equal,
            Column::Status => urgency(self.row.status).cmp(&urgency(other.row.status)),
            Column::Id => self.node.id.cmp(&other.node.id),
            Column::Title => self.node.description.cmp(&other.node.description),
            Column::Kind => self.kind().cmp(other.kind()),
            Column::Attempt => other.row.attempt.cmp(&self.row.attempt),
            Column::Elapsed => elapsed(other).cmp(&elapsed(self)),
            Column::Estimate => other.node.duration_minutes.cmp(&self.node.duration_minutes),
            Column::Tokens => other.row.tokens.cmp(&self.row.tokens),
            Column::Cost => other.row.cost.cmp(&self.row.cost),
            Column::Slack => self.slack.unwrap_or(u64::MAX).cmp(&other.slack.unwrap_or(u64::MAX)),
            Column::Tool => self.tool().cmp(&other.tool()),
        }
    }

    fn kind(&self) -> &'static str {
        match self.node.run {
            RunKind::Agent {} => "agent",
            RunKind::Shell(_) => "shell",
            RunKind::Human {} => "yours",
        }
    }

    fn tool(&self) -> String {
        match &self.row.call {
            Some(call) => call.tool.clone(),
            None => self.node.tools.first().cloned().unwrap_or_default(),
        }
    }

    fn text(&self, column: Column) -> String {
        match column {
            Column::Order | Column::Status => String::new(),
            Column::Id => self.node.id.to_string(),
            Column::Title => self.node.description.clone(),
            Column::Kind => self.kind().to_owned(),
            Column::Attempt if self.row.attempt == 0 => String::new(),
            Column::Attempt => self.row.attempt.to_string(),
            Column::Elapsed => self
                .row
                .elapsed_ms(self.now)
                .map(|ms| units::elapsed(std::time::Duration::from_millis(ms)))
                .unwrap_or_default(),
            Column::Estimate => self
                .node
                .duration_minutes
                .map(|minutes| units::planned(minutes.into()))
                .unwrap_or_default(),
            Column::Tokens if self.row.tokens == 0 => String::new(),
            Column::Tokens => units::tokens(self.row.tokens),
            Column::Cost if self.row.cost.0 == 0 => String::new(),
            Column::Cost => self.row.cost.to_string(),
            Column::Slack => self.slack.map(units::planned).unwrap_or_default(),
            Column::Tool => self.tool(),
        }
    }
}

/// What needs looking at comes first.
fn urgency(status: TaskStatus) -> u8 {
    match status {
        TaskStatus::Failed => 0,
        TaskStatus::Yours => 1,
        TaskStatus::Running => 2,
        TaskStatus::Pending => 3,
        TaskStatus::Skipped(_) => 4,
        TaskStatus::Done => 5,
    }
}

pub(super) fn draw(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (columns, title) = layout(usize::from(body.width));
    draw_heading(&columns, title, Rect { height: body.height.min(1), ..body }, buf, cx);
    let list = Rect { y: body.y + 1, height: body.height.saturating_sub(1), ..body };
    for (row, y) in cx.plan.shown.iter().skip(cx.plan.top).zip(list.y..list.bottom()) {
        let area = Rect { y, height: 1, ..list };
        highlight(*row, area, buf, cx);
        draw_row(*row, &columns, title, area, buf, cx);
    }
    more(list, usize::from(list.height).min(cx.plan.shown.len()), cx.plan.shown.len(), buf, cx);
}

fn draw_heading(
    columns: &[Column],
    title: usize,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mut line = Line::new(buf, area);
    line.skip(2);
    for column in columns {
        let width = if *column == Column::Title { title } else { column.width() };
        let sorted = *column == cx.ui.view.sort;
        let style = if sorted { cx.theme.bold(Role::Focus) } else { cx.style(Role::Dim) };
        cell(&mut line, column.word(), width, column.is_figure(), style);
    }
}

fn draw_row(
    at: usize,
    columns: &[Column],
    title: usize,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let Some(task) = cx.plan.rows.all[at].task.filter(|task| *task < cx.state.tasks.len()) else {
        return;
    };
    let Some(node) = cx.state.plan.current.as_ref().and_then(|plan| plan.plan.tasks.get(task))
    else {
        return;
    };
    let row = cx.state.tasks.row(task);
    let planned = cx.plan.planned.get(at).and_then(|planned| planned.slack);
    let slack = cx.plan.offsets.slack(task).or(planned);
    let entry = Entry { node, row, slack, now: cx.now };
    let (glyph, role) = row_glyph(at, &cx.plan.rows, cx.state);
    let mut line = Line::new(buf, area);
    put_marks(line.skip(1), &node.id, cx);
    for column in columns {
        let width = if *column == Column::Title { title } else { column.width() };
        let style = match column {
            Column::Status | Column::Id => cx.style(role),
            Column::Title => cx.style(Role::Text),
            _ => cx.style(Role::Dim),
        };
        let text = match column {
            Column::Status => format!("{glyph} {}", row.status.word()),
            Column::Id => truncate_middle(&clean_line(node.id.as_str()), width).into_owned(),
            _ => entry.text(*column),
        };
        cell(&mut line, &text, width, column.is_figure(), style);
    }
}

/// Writes one cell: words to the left, figures to the right.
fn cell(line: &mut Line<'_>, text: &str, width: usize, figure: bool, style: ratatui::style::Style) {
    let clean = clean_line(text);
    let text = if figure { planwright_text::pad_left(&clean, width) } else { clean };
    line.column(&text, width, style).skip(2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;

    fn sorted_ids(by: Column) -> Vec<String> {
        let state = Fixture::running().state();
        let revision = state.plan.current.clone().unwrap();
        let rows = Rows::of_plan(&revision.plan, &revision.facts.execution_order);
        let offsets = Offsets::of(&revision.plan, &revision.facts);
        let order = sorted(&rows, &offsets, &state, by);
        order.into_iter().map(|row| rows.all[row].id.to_string()).collect()
    }

    #[test]
    fn what_needs_the_person_comes_first_by_status() {
        assert_eq!(sorted_ids(Column::Status)[..4], ["fuzz", "keys", "port", "docs"]);
        assert_eq!(sorted_ids(Column::Id)[..3], ["announce", "api", "audit"]);
        assert_eq!(sorted_ids(Column::Slack)[0], "audit");
        assert_eq!(sorted_ids(Column::Estimate)[0], "keys");
    }

    #[test]
    fn columns_go_from_the_right_where_it_is_narrow() {
        assert_eq!(layout(200).0.len(), 11);
        let (narrow, _) = layout(60);
        assert_eq!(narrow[..2], [Column::Status, Column::Id]);
        assert!(narrow.len() < 8);
        assert_eq!(layout(10).0, [Column::Status, Column::Id, Column::Title]);
    }

    #[test]
    fn sorting_turns_through_all_columns_and_back() {
        let mut column = Column::Order;
        for _ in 0..12 {
            column = column.turned(true);
        }
        assert_eq!(column, Column::Order);
        assert_eq!(Column::Order.turned(false), Column::Tool);
    }
}
