//! The outline: the tree of the plan with what makes each node done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rows::PlanTreeRows;
use super::{draw_row_count, highlight_selected, put_marks, row_glyph};
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, format_counted, styled_piece};
use planwright_text::units;

pub(super) fn draw_outline(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = &cx.plan.rows;
    for (row, y) in cx.plan.shown.iter().skip(cx.plan.top).zip(body.y..body.bottom()) {
        let area = Rect { y, height: 1, ..body };
        highlight_selected(*row, area, buf, cx);
        draw_row(*row, rows, area, buf, cx);
    }
    draw_row_count(
        body,
        usize::from(body.height).min(cx.plan.shown.len()),
        cx.plan.shown.len(),
        buf,
        cx,
    );
}

fn draw_row(at: usize, rows: &PlanTreeRows, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let row = &rows.all[at];
    let (glyph, role) = row_glyph(at, rows, cx.state);
    let dim = cx.style(ThemeRole::Dim);
    let group = rows.is_group(at);
    let folded = group && cx.ui.view.folded.contains(&row.id);
    let minutes =
        row.minutes.map(|minutes| units::format_planned(minutes.into())).unwrap_or_default();
    let mut line = ScreenLine::new(buf, area);
    line.put_right(&[styled_piece(format!("{minutes:>11}"), dim), styled_piece(" ", dim)]);
    line.skip(1).put(&tree_guides(rows, at), cx.style(ThemeRole::Rule));
    put_marks(&mut line, &row.id, cx);
    line.put(&format!("{glyph} "), cx.style(role));
    let title =
        if group { cx.theme.bold_style(ThemeRole::Text) } else { cx.style(ThemeRole::Text) };
    line.put(&row.title, title).skip(2);
    if folded {
        let below = row.end - at - 1;
        line.put(&format!("+ {} folded", format_counted(below, "row")), cx.style(ThemeRole::Key))
            .skip(2);
    }
    if group {
        let counts = rows.task_counts(at, &cx.state.tasks);
        if counts.total() > 0 {
            line.put(&format!("{}/{}", counts.done, counts.total()), dim).skip(2);
        }
    } else {
        line.put(row.id.as_str(), dim).skip(2);
    }
    let open =
        |comment: &&planwright_model::Comment| comment.node == row.id && comment.outcome.is_none();
    let comments = cx.state.planning.comments.iter().filter(open).count();
    if comments > 0 {
        line.put(&format_counted(comments, "comment"), cx.style(ThemeRole::Asks)).skip(2);
    }
    if !row.stream.is_empty() {
        line.put(&format!("[{}]", row.stream), dim).skip(2);
    }
    if !row.done_when.is_empty() && line.cells_left() > 12 {
        line.put("done when ", dim).put(&row.done_when, cx.style(ThemeRole::Untrusted));
    }
}

/// The lines that tie a row to the one it belongs to.
fn tree_guides(rows: &PlanTreeRows, at: usize) -> String {
    let mut parts = Vec::new();
    let mut row = at;
    while let Some(parent) = rows.all[row].parent {
        let last = rows.all[row].end == rows.all[parent].end;
        let own = row == at;
        parts.push(match (own, last) {
            (true, true) => "└─",
            (true, false) => "├─",
            (false, true) => "  ",
            (false, false) => "│ ",
        });
        row = parent;
    }
    parts.reverse();
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::{NodeType, PlanNode};

    #[test]
    fn guides_join_children_to_their_parent() {
        let goal = PlanNode::new_goal("g", "Goal");
        let first = PlanNode::new_child(&goal, "a", NodeType::Phase, "A");
        let mut second = PlanNode::new_child(&goal, "b", NodeType::Phase, "B");
        second.position = 1;
        let task = PlanNode::new_child(&first, "t", NodeType::Task, "T");
        let step = PlanNode::new_child(&task, "s", NodeType::SubTask, "S");
        let mut other = PlanNode::new_child(&first, "u", NodeType::Task, "U");
        other.position = 1;
        let rows = PlanTreeRows::from_outline(
            &[goal, first, second, task, step, other],
            &"g".into(),
            None,
        );
        let lines: Vec<String> = (0..rows.all.len())
            .map(|at| format!("{}{}", tree_guides(&rows, at), rows.all[at].id))
            .collect();
        assert_eq!(lines, ["a", "├─t", "│ └─s", "└─u", "b"]);
    }
}
