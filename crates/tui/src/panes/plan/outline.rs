//! The outline: the tree of the plan with what makes each node done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rows::Rows;
use super::{highlight, more, put_marks, row_glyph};
use crate::context::PaneContext;
use crate::theme::Role;
use crate::widgets::{Line, counted, piece};
use planwright_text::units;

pub(super) fn draw(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = &cx.plan.rows;
    for (row, y) in cx.plan.shown.iter().skip(cx.plan.top).zip(body.y..body.bottom()) {
        let area = Rect { y, height: 1, ..body };
        highlight(*row, area, buf, cx);
        draw_row(*row, rows, area, buf, cx);
    }
    more(body, usize::from(body.height).min(cx.plan.shown.len()), cx.plan.shown.len(), buf, cx);
}

fn draw_row(at: usize, rows: &Rows, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let row = &rows.all[at];
    let (glyph, role) = row_glyph(at, rows, cx.state);
    let dim = cx.style(Role::Dim);
    let group = rows.is_group(at);
    let folded = group && cx.ui.view.folded.contains(&row.id);
    let minutes =
        row.minutes.map(|minutes| units::working_minutes(minutes.into())).unwrap_or_default();
    let mut line = Line::new(buf, area);
    line.right(&[piece(format!("{minutes:>9}"), dim), piece(" ", dim)]);
    line.skip(1).put(&guides(rows, at), cx.style(Role::Rule));
    put_marks(&mut line, &row.id, cx);
    line.put(&format!("{glyph} "), cx.style(role));
    let title = if group { cx.theme.bold(Role::Text) } else { cx.style(Role::Text) };
    line.put(&row.title, title).skip(2);
    if folded {
        let below = row.end - at - 1;
        line.put(&format!("+ {} folded", counted(below, "row")), cx.style(Role::Key)).skip(2);
    }
    if group {
        let counts = rows.counts(at, &cx.state.tasks);
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
        line.put(&counted(comments, "comment"), cx.style(Role::Asks)).skip(2);
    }
    if !row.stream.is_empty() {
        line.put(&format!("[{}]", row.stream), dim).skip(2);
    }
    if !row.done_when.is_empty() && line.left() > 12 {
        line.put("done when ", dim).put(&row.done_when, cx.style(Role::Untrusted));
    }
}

/// The lines that tie a row to the one it belongs to.
fn guides(rows: &Rows, at: usize) -> String {
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
        let goal = PlanNode::goal("g", "Goal");
        let first = PlanNode::under(&goal, "a", NodeType::Phase, "A");
        let mut second = PlanNode::under(&goal, "b", NodeType::Phase, "B");
        second.position = 1;
        let task = PlanNode::under(&first, "t", NodeType::Task, "T");
        let step = PlanNode::under(&task, "s", NodeType::SubTask, "S");
        let mut other = PlanNode::under(&first, "u", NodeType::Task, "U");
        other.position = 1;
        let rows = Rows::of_outline(&[goal, first, second, task, step, other], &"g".into(), None);
        let lines: Vec<String> = (0..rows.all.len())
            .map(|at| format!("{}{}", guides(&rows, at), rows.all[at].id))
            .collect();
        assert_eq!(lines, ["a", "├─t", "│ └─s", "└─u", "b"]);
    }
}
