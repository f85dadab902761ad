//! Changing the plan by hand: which row is meant, removing, moving and linking rows. The engine checks every change,
//! each can be undone, and none asks first.

use super::{ScreenEffect, SessionScreen};
use crate::overlays::PickerPurpose;
use crate::ui_state::PaneFocus;
use planwright_model::event::Command;
use planwright_model::{LinkKind, NodeDependency, PlanEdit, PlanNode, TaskId};

impl SessionScreen {
    /// Why the plan cannot be changed row by row, if so.
    pub(super) fn why_cannot_edit(&self) -> Option<String> {
        if let Some(why) = self.why_cannot_act() {
            return Some(why);
        }
        let drafted = self.latest.planning.outline.is_some();
        (!drafted).then(|| {
            if self.latest.planning.begun {
                return "there is no draft to change yet".to_owned();
            }
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Editor);
            format!("this plan came from a file; {key} opens it in your editor")
        })
    }

    fn draft_nodes(&self) -> &[PlanNode] {
        let planning = &self.latest.planning;
        match (&planning.roadmap, &planning.outline) {
            (Some(roadmap), _) => &roadmap.nodes,
            (None, Some(outline)) => &outline.nodes,
            (None, None) => &[],
        }
    }

    pub(super) fn draft_links(&self) -> &[NodeDependency] {
        self.latest.planning.roadmap.as_ref().map_or(&[], |roadmap| &roadmap.dependencies)
    }

    fn draft_node(&self, id: &TaskId) -> Option<&PlanNode> {
        self.draft_nodes().iter().find(|node| node.id == *id)
    }

    /// Edits a row in place: the selected one where the plan has the focus, else the one that the person names.
    pub(super) fn edit_node(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        match self.ui.graph.selected.clone().filter(|_| self.ui.focus == PaneFocus::Graph) {
            Some(id) => self.open_row_editor(&id),
            None => self.open_node_picker(PickerPurpose::Edit),
        }
    }

    /// Removes the selected row.
    pub(super) fn remove_node(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(node) = self.ui.graph.selected.clone() else {
            return self.show_message("no row is selected");
        };
        let words = format!("remove {}", self.row_title(&node));
        self.select_beside(&node);
        self.send_edit(PlanEdit::Remove { node }, words)
    }

    /// Puts the cursor on the row after one that goes, with what it holds; on the one before where it was the last.
    fn select_beside(&mut self, node: &TaskId) {
        let Some(at) = self.plan.rows.position(node) else { return };
        let rows = &self.plan.rows.all;
        let end = rows[at].end.max(at + 1);
        let next = rows.get(end).or_else(|| at.checked_sub(1).and_then(|before| rows.get(before)));
        if let Some(id) = next.map(|row| row.id.clone()) {
            self.ui.select_task(id);
        }
    }

    /// Sends one operation; marks have served their purpose.
    fn send_edit(&mut self, edit: PlanEdit, words: String) -> ScreenEffect {
        self.ui.marks.clear();
        self.send_command(Command::Edit { edits: vec![edit] }, words)
    }

    /// Moves the selected row among its siblings.
    pub(super) fn move_node(&mut self, down: bool) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(id) = self.ui.graph.selected.clone() else {
            return self.show_message("no row is selected");
        };
        let title = self.row_title(&id);
        let Some(node) = self.draft_node(&id) else {
            return self.show_message("this row is not in the draft any more");
        };
        let Some(parent) = node.parent_id.clone() else {
            return self.show_message("the goal stays where it is");
        };
        let position =
            if down { node.position.saturating_add(1) } else { node.position.saturating_sub(1) };
        if position == node.position {
            return self.show_message(format!("{title} is the first already"));
        }
        let is_below = |other: &PlanNode| {
            other.parent_id.as_ref() == Some(&parent) && other.position > node.position
        };
        if down && !self.draft_nodes().iter().any(is_below) {
            return self.show_message(format!("{title} is the last already"));
        }
        let words = format!("move {title}");
        self.send_edit(PlanEdit::Move { node: id, parent, position }, words)
    }

    /// Links every marked row to the selected one, which then waits for them.
    pub(super) fn link_nodes(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(to) = self.ui.graph.selected.clone() else {
            return self.show_message("no row is selected");
        };
        let from: Vec<TaskId> = self.ui.marks.iter().filter(|id| **id != to).cloned().collect();
        if from.is_empty() {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Mark);
            return self.show_message(format!(
                "{key} marks what must be done first, then select what waits for it"
            ));
        }
        self.ui.marks.clear();
        let edits = from.into_iter().map(|from| PlanEdit::Link {
            from,
            to: to.clone(),
            kind: LinkKind::FS,
            lag_minutes: 0,
        });
        let words = format!("{} waits for the marked rows", self.row_title(&to));
        self.send_command(Command::Edit { edits: edits.collect() }, words)
    }
}
