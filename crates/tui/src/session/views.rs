//! Turning between the views of the plan, and moving through those that are lists.

use super::{Flow, Screen};
use crate::keymap::Action;
use crate::panes::graph::next_zoom;
use crate::panes::plan::{self, View};
use crate::ui_state::Focus;

impl Screen {
    /// Shows the plan another way. The selection stays.
    pub(super) fn turn_view(&mut self, view: View) -> Flow {
        self.ui.view.kind = view;
        self.ui.view.stands_in = false;
        self.ui.focus = Focus::Graph;
        self.ui.graph.reveal = true;
        Flow::Draw
    }

    /// The next zoom of the graph, the next scale of the chart.
    pub(super) fn zoom(&mut self) -> Flow {
        match self.ui.view.kind {
            View::Graph => self.ui.graph.zoom = Some(next_zoom(self.graph.zoom)),
            View::Gantt => {
                self.ui.view.zoom = (self.ui.view.zoom + 1) % self.plan.scales.len().max(1);
                self.ui.view.column = 0;
            }
            View::Outline | View::Table => {
                return self.say("this view has one size");
            }
        }
        self.ui.graph.reveal = true;
        Flow::Draw
    }

    /// Marks the selected node, or takes the mark back.
    pub(super) fn mark(&mut self) -> Flow {
        let Some(id) = self.ui.graph.selected.clone() else {
            return self.say("no task is selected");
        };
        if !self.ui.marks.remove(&id) {
            self.ui.marks.insert(id);
        }
        Flow::Draw
    }

    pub(super) fn step_in_list(&mut self, action: Action) {
        match (action, self.ui.view.kind) {
            (Action::Up, _) => self.move_in_list(-1),
            (Action::Down, _) => self.move_in_list(1),
            (_, View::Gantt) => {
                let step = self.plan.axis.as_ref().map_or(1, |axis| axis.scale.step());
                self.ui.view.column += if action == Action::Left { -step } else { step };
                self.ui.graph.following = false;
            }
            (Action::Left, View::Outline) => self.fold_or_rise(),
            (Action::Right, View::Outline) => self.unfold_selected(),
            _ => {}
        }
    }

    pub(super) fn move_in_list(&mut self, by: isize) {
        self.ui.graph.following = false;
        if let Some(id) = plan::moved(&self.plan, self.ui.graph.selected.as_ref(), by) {
            self.ui.select(id);
        }
    }

    pub(super) fn pan_list(&mut self, x: i32, y: i32) {
        self.ui.view.column += i64::from(x);
        self.ui.view.top = self.ui.view.top.saturating_add_signed(y as isize);
    }

    /// Folds what holds others, or opens it again.
    pub(super) fn fold_selected(&mut self) -> Flow {
        if let Some(id) = self.ui.graph.selected.clone() {
            self.ui.view.turn(&id);
            self.ui.graph.reveal = true;
        }
        Flow::Draw
    }

    fn fold_or_rise(&mut self) {
        let Some(id) = self.ui.graph.selected.clone() else { return };
        let Some(row) = self.plan.rows.position(&id) else { return };
        if self.plan.rows.is_group(row) && !self.ui.view.folded.contains(&id) {
            self.ui.view.turn(&id);
        } else if let Some(parent) = self.plan.rows.all[row].parent {
            let above = self.plan.rows.all[parent].id.clone();
            self.ui.select(above);
        }
    }

    fn unfold_selected(&mut self) {
        if let Some(id) = self.ui.graph.selected.clone()
            && self.ui.view.folded.contains(&id)
        {
            self.ui.view.turn(&id);
        }
    }
}
