//! Moving through the outline: long rows line by line, pages, changes one by one; hiding what did not change.

use super::{ScreenEffect, SessionScreen};
use crate::panes::plan::outline;
use crate::ui_state::PaneFocus;
use planwright_model::TaskId;

impl SessionScreen {
    /// Lines of the outline that are on the screen.
    fn outline_room(&self) -> usize {
        let body = outline::outline_body(self.areas.graph);
        usize::from(body.height.saturating_sub(outline::heading_rows(body)))
    }

    /// Scrolls by a line where the selected row goes on beyond the screen; says whether it did.
    pub(super) fn scroll_within_row(&mut self, by: isize) -> bool {
        let row = self.ui.graph.selected.as_ref().and_then(|id| self.plan.rows.position(id));
        let Some(row) = row else { return false };
        let of_row = |line: &crate::panes::plan::OutlineLine| line.row() == Some(row);
        let Some(first) = self.plan.lines.iter().position(of_row) else { return false };
        let count = self.plan.lines[first..].iter().take_while(|line| of_row(line)).count();
        let room = self.outline_room();
        let top = self.ui.view.top;
        let beyond = if by > 0 { first + count > top + room } else { first < top };
        if beyond {
            self.ui.view.top = top.saturating_add_signed(by);
            self.ui.graph.reveal = false;
        }
        beyond
    }

    /// Scrolls a page and selects the first row of it.
    pub(super) fn page_outline(&mut self, direction: isize) {
        let room = self.outline_room();
        let most = self.plan.lines.len().saturating_sub(room);
        let by = isize::try_from(room.saturating_sub(1).max(1)).unwrap_or(1);
        let top = self.ui.view.top.saturating_add_signed(direction * by).min(most);
        let edge = top == self.ui.view.top;
        self.ui.view.top = top;
        let mut page = self.plan.lines.iter().skip(top).take(room).filter_map(|line| line.row());
        let row = if edge && direction > 0 { page.next_back() } else { page.next() };
        if let Some(id) = row.and_then(|row| self.plan.rows.all.get(row)).map(|row| row.id.clone())
        {
            self.ui.select_task(id);
            self.ui.graph.reveal = false;
        }
    }

    /// Goes to the next or previous row that differs from the draft before; says whether there are any.
    pub(super) fn step_change(&mut self, forward: bool) -> bool {
        let Some(changes) = &self.plan.changes else { return false };
        let order: Vec<TaskId> = self
            .plan
            .text
            .iter()
            .filter(|row| changes.kinds.contains_key(&row.id))
            .map(|row| row.id.clone())
            .collect();
        let place = |id: &TaskId| self.plan.rows.position(id);
        let here = self.ui.graph.selected.as_ref().and_then(place);
        let found = if forward {
            order.iter().find(|id| place(id) > here).or(order.first())
        } else {
            order.iter().rev().find(|id| place(id) < here).or(order.last())
        };
        let Some(id) = found.cloned() else { return false };
        self.ui.select_task(id);
        true
    }

    /// Whether the keys for next and previous mean changes here: drafts are compared and nothing is searched.
    pub(super) fn steps_through_changes(&self) -> bool {
        self.ui.focus == PaneFocus::Graph
            && self.plan.changes.is_some()
            && self.ui.trace.search.is_none()
    }

    /// Hides the rows that are as they were, or shows them again.
    pub(super) fn toggle_unchanged(&mut self) -> ScreenEffect {
        if self.plan.changes.is_none() {
            return self.show_message("this is the first draft; no rows are unchanged");
        }
        self.ui.view.hides_unchanged = !self.ui.view.hides_unchanged;
        self.ui.graph.reveal = true;
        ScreenEffect::Draw
    }
}
