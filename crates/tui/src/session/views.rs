//! Turning between the views of the plan, and moving through those that are lists.

use super::draw::fold_request;
use super::{ScreenEffect, SessionScreen};
use crate::keymap::KeyAction;
use crate::panes::graph::{GraphNode, GroupFolding, next_zoom};
use crate::panes::plan::{self, PlanView};
use crate::ui_state::PaneFocus;
use planwright_layout::drawing::Zoom;
use planwright_model::TaskId;

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
            PlanView::Graph => self.cycle_graph_scale(),
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

    /// Boxes, titles, dots, and where there are groups one box for each of them.
    fn cycle_graph_scale(&mut self) {
        let graph = &mut self.ui.graph;
        let has_groups = !self.plan.groups.is_empty();
        self.ui.view.opened.clear();
        if self.graph.is_condensed() {
            (graph.folding, graph.zoom) = (GroupFolding::Chosen, Some(Zoom::Boxes));
        } else if has_groups && self.graph.zoom == Zoom::Dots {
            (graph.folding, graph.zoom) = (GroupFolding::All, None);
        } else {
            (graph.folding, graph.zoom) = (GroupFolding::Chosen, Some(next_zoom(self.graph.zoom)));
        }
    }

    /// Makes one box of the group that the selected task is in, or opens it.
    pub(super) fn toggle_group(&mut self) -> ScreenEffect {
        let Some(id) = self.ui.graph.selected.clone() else {
            return self.show_message("no task is selected");
        };
        let task = self.state().tasks.position(&id);
        let Some(group) = self.plan.groups.group_of(&id, task).cloned() else {
            return self.show_message("this task is in no group");
        };
        if self.graph.node_of(&group, None).is_some() {
            return self.open_group(&group);
        }
        self.ui.view.set_folded(&group, true);
        self.ui.select_task(group.clone());
        let folds = fold_request(&self.plan, &self.ui);
        let revision = self.state().plan.current.clone();
        self.graph.update_layout(revision.as_deref(), folds);
        if self.ui.view.kind == PlanView::Graph && self.graph.node_of(&group, None).is_none() {
            self.ui.view.set_folded(&group, false);
            self.ui.select_task(id);
            return self.show_message(
                "this group can't be one box: a task outside comes between two of its own",
            );
        }
        ScreenEffect::Draw
    }

    /// Shows the tasks of a folded group, the first of them selected.
    fn open_group(&mut self, group: &TaskId) -> ScreenEffect {
        let node = self.graph.node_of(group, None).and_then(|node| self.graph.node(node));
        // The graph may be of a later moment than the state, which then has fewer tasks.
        let tasks = &self.state().tasks;
        let first = node.map(GraphNode::first_task);
        let first = first.filter(|task| *task < tasks.len()).map(|task| tasks.id(task).clone());
        self.ui.view.set_folded(group, false);
        if let Some(first) = first {
            self.ui.select_task(first);
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
            if self.ui.view.kind == PlanView::Graph && self.graph.node_of(&id, None).is_some() {
                return self.open_group(&id);
            }
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
