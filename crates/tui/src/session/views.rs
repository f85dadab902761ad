//! Turning between the views of the plan, and moving through those that are lists.

use super::{ScreenEffect, SessionScreen};
use crate::keymap::KeyAction;
use crate::panes::graph::next_zoom;
use crate::panes::plan::{self, PlanView};
use crate::ui_state::PaneFocus;

impl SessionScreen {
    /// Shows the plan another way. The selection stays.
    pub(super) fn switch_view(&mut self, view: PlanView) -> ScreenEffect {
        self.ui.view.kind = view;
        self.ui.view.is_fallback = false;
        self.ui.view.chosen = true;
        self.ui.focus = PaneFocus::Graph;
        self.ui.graph.reveal = true;
        ScreenEffect::Draw
    }

    /// Gives everything to the pane with the focus, or the others their room back.
    pub(super) fn toggle_full_screen(&mut self) -> ScreenEffect {
        self.ui.full_screen = !self.ui.full_screen;
        self.ui.graph.reveal = true;
        ScreenEffect::Draw
    }

    /// The next zoom of the graph, the next scale of the chart.
    pub(super) fn cycle_zoom(&mut self) -> ScreenEffect {
        match self.ui.view.kind {
            PlanView::Graph => self.ui.graph.zoom = Some(next_zoom(self.graph.zoom)),
            PlanView::Gantt => {
                self.ui.view.zoom = (self.ui.view.zoom + 1) % self.plan.scales.len().max(1);
                self.ui.view.column = 0;
            }
            PlanView::Outline | PlanView::Table | PlanView::Timeline => {
                return self.show_message("this view has one size");
            }
        }
        self.ui.graph.reveal = true;
        ScreenEffect::Draw
    }

    /// Selects the task that is due: the open one that is planned first. The calendar shows today.
    pub(super) fn select_due_task(&mut self) -> ScreenEffect {
        let state = self.state();
        let blocks = state.planning.schedule.iter().flat_map(|schedule| &schedule.blocks);
        let is_open = |id| state.tasks.get(id).is_none_or(|row| !row.status.is_settled());
        let due = blocks.filter(|block| is_open(&block.plan_node_id)).min_by_key(|b| b.start.at);
        let Some(due) = due.map(|block| block.plan_node_id.clone()) else {
            return self.show_message("No open task of this plan has a date");
        };
        let now = self.shown_time();
        if let Some(axis) = self.plan.axis.as_ref().filter(|_| self.ui.view.kind == PlanView::Gantt)
        {
            let shown = axis.column_at(now) - axis.scale.step_columns();
            self.ui.view.column = shown.max(0);
        }
        self.ui.graph.following = false;
        self.ui.focus = PaneFocus::Graph;
        self.ui.select_task(due);
        ScreenEffect::Draw
    }

    /// Marks the selected node, or takes the mark back.
    pub(super) fn toggle_mark(&mut self) -> ScreenEffect {
        let Some(id) = self.ui.graph.selected.clone() else {
            return self.show_message("no task is selected");
        };
        if !self.ui.marks.remove(&id) {
            self.ui.marks.insert(id);
        }
        ScreenEffect::Draw
    }

    pub(super) fn step_in_list(&mut self, action: KeyAction) {
        match (action, self.ui.view.kind) {
            (KeyAction::Up, _) => self.move_in_list(-1),
            (KeyAction::Down, _) => self.move_in_list(1),
            (_, PlanView::Gantt) => {
                let step = self.plan.axis.as_ref().map_or(1, |axis| axis.scale.step_columns());
                self.ui.view.column += if action == KeyAction::Left { -step } else { step };
                self.ui.graph.following = false;
            }
            (KeyAction::Left, PlanView::Outline) => self.fold_or_select_parent(),
            (KeyAction::Right, PlanView::Outline) => self.unfold_selected(),
            _ => {}
        }
    }

    pub(super) fn move_in_list(&mut self, by: isize) {
        self.ui.graph.following = false;
        let outline = self.ui.view.kind == PlanView::Outline;
        if outline && by.abs() == 1 && self.scroll_within_row(by) {
            return;
        }
        if let Some(id) = plan::offset_selection(&self.plan, self.ui.graph.selected.as_ref(), by) {
            self.ui.select_task(id);
        }
    }

    pub(super) fn pan_list(&mut self, x: i32, y: i32) {
        self.ui.view.column += i64::from(x);
        self.ui.view.top = self.ui.view.top.saturating_add_signed(y as isize);
    }

    /// Folds what holds others, or opens it again.
    pub(super) fn toggle_selected_fold(&mut self) -> ScreenEffect {
        if let Some(id) = self.ui.graph.selected.clone() {
            self.ui.view.toggle_fold(&id);
            self.ui.graph.reveal = true;
        }
        ScreenEffect::Draw
    }

    fn fold_or_select_parent(&mut self) {
        let Some(id) = self.ui.graph.selected.clone() else { return };
        let Some(row) = self.plan.rows.position(&id) else { return };
        if self.plan.rows.is_group(row) && !self.ui.view.folded.contains(&id) {
            self.ui.view.toggle_fold(&id);
        } else if let Some(parent) = self.plan.rows.all[row].parent {
            let above = self.plan.rows.all[parent].id.clone();
            self.ui.select_task(above);
        }
    }

    fn unfold_selected(&mut self) {
        if let Some(id) = self.ui.graph.selected.clone()
            && self.ui.view.folded.contains(&id)
        {
            self.ui.view.toggle_fold(&id);
        }
    }
}
