//! The part of a list that is on the screen, and moving the selection through it.

use ratatui::layout::Rect;

use super::{PlanCache, PlanView};
use planwright_model::TaskId;

/// Moves the first shown row as little as possible so that the selected one is in view.
pub(super) fn scrolled_top(
    top: usize,
    selected: Option<usize>,
    room: usize,
    total: usize,
) -> usize {
    let most = total.saturating_sub(room);
    let top = match selected {
        Some(at) => top.min(at).max((at + 1).saturating_sub(room)),
        None => top,
    };
    top.min(most)
}

/// The row so many places away from the selected one, in the order of the view.
pub(crate) fn offset_selection(
    cache: &PlanCache,
    selected: Option<&TaskId>,
    by: isize,
) -> Option<TaskId> {
    let last = cache.shown.len().checked_sub(1)?;
    let at = selected.and_then(|id| cache.row_position(id));
    let to = at.map_or(0, |at| at.saturating_add_signed(by).min(last));
    cache.shown.get(to).map(|row| cache.rows.all[*row].id.clone())
}

/// The task of the row under a cell of the pane.
pub(crate) fn row_id_at(cache: &PlanCache, view: PlanView, body: Rect, y: u16) -> Option<TaskId> {
    if view == PlanView::Outline {
        let line = y.checked_sub(body.y + super::outline::heading_rows(body))?;
        let row = cache.lines.get(cache.top + usize::from(line))?.row()?;
        return cache.rows.all.get(row).map(|row| row.id.clone());
    }
    let line = y.checked_sub(body.y + view.heading_rows())?;
    let row = cache.shown.get(cache.top + usize::from(line))?;
    Some(cache.rows.all[*row].id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_moves_only_as_far_as_the_selection_needs() {
        assert_eq!(scrolled_top(0, Some(3), 10, 100), 0);
        assert_eq!(scrolled_top(0, Some(10), 10, 100), 1);
        assert_eq!(scrolled_top(50, Some(40), 10, 100), 40);
        assert_eq!(scrolled_top(95, None, 10, 100), 90);
        assert_eq!(scrolled_top(5, Some(2), 10, 4), 0);
        assert_eq!(scrolled_top(5, Some(2), 0, 4), 3);
    }
}
