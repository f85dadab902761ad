//! Changing the plan by hand: the fields of a node, new nodes, their order and links. The engine checks every change.

use super::commands::dialog_option;
use super::{ScreenEffect, SessionScreen};
use crate::composer::{Composer, ComposerForm, FormPurpose, FormRow};
use crate::overlays::{ChoiceDialog, Overlay, PickerPurpose};
use crate::panes::approval::current_request;
use crate::ui_state::PaneFocus;
use planwright_model::event::Command;
use planwright_model::{
    Actor, Answer, ChoiceAction, LinkKind, NodeDependency, PlanEdit, PlanNode, RequestKind,
    RunKind, TaskAssignee, TaskId,
};

impl SessionScreen {
    /// Why the plan cannot be changed node by node, if so.
    fn why_cannot_edit(&self) -> Option<String> {
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

    fn draft_links(&self) -> &[NodeDependency] {
        self.latest.planning.roadmap.as_ref().map_or(&[], |roadmap| &roadmap.dependencies)
    }

    fn draft_node(&self, id: &TaskId) -> Option<&PlanNode> {
        self.draft_nodes().iter().find(|node| node.id == *id)
    }

    /// Opens the form of a node, the selected one where the plan has the focus; for a stage that failed, says that the person goes on by hand.
    pub(super) fn edit_node(&mut self) -> ScreenEffect {
        let request = current_request(&self.latest, &self.ui)
            .filter(|_| self.ui.focus == PaneFocus::Approval);
        if let Some(request) = request
            && request.available_choice(ChoiceAction::Edit).is_some()
            && !matches!(request.kind, RequestKind::FinalPlan { .. } | RequestKind::Draft { .. })
        {
            let (id, answer) = (request.id, Answer::from(ChoiceAction::Edit));
            return self
                .send_command(Command::Answer { id, answer, by: Actor::Person }, "edit by hand");
        }
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        match self.ui.graph.selected.clone().filter(|_| self.ui.focus == PaneFocus::Graph) {
            Some(id) => self.open_node_form(id),
            None => self.open_node_picker(PickerPurpose::Edit),
        }
    }

    /// The fields of a node.
    pub(super) fn open_node_form(&mut self, id: TaskId) -> ScreenEffect {
        if self.latest.planning.locked.contains(&id) {
            return self.show_message(format!("{id} is locked"));
        }
        let Some(node) = self.draft_node(&id) else {
            return self.show_message(format!("there is no node {id}"));
        };
        let minutes = node.estimate_minutes.map(|minutes| minutes.to_string()).unwrap_or_default();
        let needs: Vec<&str> = self
            .draft_links()
            .iter()
            .filter(|link| link.to == id)
            .map(|link| link.from.as_str())
            .collect();
        let mut rows = vec![
            FormRow::new("title", "title", "", &node.title),
            FormRow::new("done_when", "done when", "how to tell that it is done", &node.done_when),
        ];
        if !node.node_type.is_container() {
            rows.push(FormRow::new("minutes", "estimate", "minutes of work", &minutes));
            rows.push(FormRow::new(
                "needs",
                "needs",
                "ids of what must be done before",
                &needs.join(", "),
            ));
            let doer = doer_text(node.run.as_ref());
            rows.push(FormRow::new("doer", "done by", "you, agent, or $ and a command", &doer));
        }
        let title = format!("edit {id}");
        let form = ComposerForm::new(FormPurpose::Node { node: id }, title, rows);
        self.open_composer(Composer::Form(Box::new(form)))
    }

    /// Sends what was changed in the form, all of it or nothing.
    pub(super) fn send_edits(&mut self, form: &ComposerForm, node: &TaskId) -> ScreenEffect {
        let mut edits = Vec::new();
        for row in &form.rows {
            let Some(text) = row.changed_text() else { continue };
            let node = node.clone();
            match row.key.as_str() {
                "title" => edits.push(PlanEdit::Rename { node, title: text.to_owned() }),
                "done_when" => {
                    edits.push(PlanEdit::SetDoneWhen { node, done_when: text.to_owned() });
                }
                "minutes" => {
                    let Ok(minutes) = text.parse() else {
                        self.ui.composer = Some(Composer::Form(Box::new(form.clone())));
                        return self.show_message(format!("{text:?} is not a number of minutes"));
                    };
                    edits.push(PlanEdit::SetEstimate { node, minutes });
                }
                "doer" => {
                    let Some((doer, command)) = parse_doer(text) else {
                        self.ui.composer = Some(Composer::Form(Box::new(form.clone())));
                        return self.show_message("done by: you, agent, or $ and a command");
                    };
                    edits.push(PlanEdit::SetDoer { node, doer, command });
                }
                _ => edits.extend(self.link_edits(&node, text)),
            }
        }
        if edits.is_empty() {
            return self.show_message("nothing was changed");
        }
        self.send_command(Command::Edit { edits }, format!("edit {node}"))
    }

    /// The links that are new, and those that are gone.
    fn link_edits(&self, node: &TaskId, needs: &str) -> Vec<PlanEdit> {
        let wanted: Vec<TaskId> =
            needs.split([',', ' ']).filter(|id| !id.is_empty()).map(TaskId::from).collect();
        let had: Vec<&TaskId> = self
            .draft_links()
            .iter()
            .filter(|link| link.to == *node)
            .map(|link| &link.from)
            .collect();
        let gone = had
            .iter()
            .filter(|from| !wanted.contains(from))
            .map(|from| PlanEdit::Unlink { from: (*from).clone(), to: node.clone() });
        let new = wanted.iter().filter(|from| !had.contains(from)).map(|from| PlanEdit::Link {
            from: from.clone(),
            to: node.clone(),
            kind: LinkKind::FS,
            lag_minutes: 0,
        });
        gone.chain(new).collect()
    }

    /// Opens the form of a new node under the selected one, or beside it if it holds no others.
    pub(super) fn add_node(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(id) = self.ui.graph.selected.clone() else {
            return self.show_message("no node is selected");
        };
        let Some(node) = self.draft_node(&id) else {
            return self.show_message(format!("there is no node {id}"));
        };
        let parent = match (&node.parent_id, node.node_type.is_container()) {
            (Some(parent), false) => parent.clone(),
            _ => id,
        };
        let rows = vec![
            FormRow::new("title", "title", "", ""),
            FormRow::new("minutes", "estimate", "minutes of work, or empty", ""),
        ];
        let title = format!("add a node under {parent}");
        let form = ComposerForm::new(FormPurpose::NewNode { parent }, title, rows);
        self.open_composer(Composer::Form(Box::new(form)))
    }

    pub(super) fn send_new_node(&mut self, form: &ComposerForm, parent: TaskId) -> ScreenEffect {
        let field = |key: &str| {
            form.rows.iter().find(|row| row.key == key).map_or("", |row| row.field.text().trim())
        };
        let (title, minutes) = (field("title").to_owned(), field("minutes"));
        let parsed = if minutes.is_empty() { Ok(None) } else { minutes.parse().map(Some) };
        match parsed {
            _ if title.is_empty() => {
                self.ui.composer = Some(Composer::Form(Box::new(form.clone())));
                self.show_message("a node needs a title")
            }
            Ok(minutes) => {
                let edit = PlanEdit::Add { parent, title, minutes };
                self.send_command(Command::Edit { edits: vec![edit] }, "add a node")
            }
            Err(_) => {
                let text = format!("{minutes:?} is not a number of minutes");
                self.ui.composer = Some(Composer::Form(Box::new(form.clone())));
                self.show_message(text)
            }
        }
    }

    /// Asks before a node is removed.
    pub(super) fn remove_node(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(node) = self.ui.graph.selected.clone() else {
            return self.show_message("no node is selected");
        };
        let command = Command::Edit { edits: vec![PlanEdit::Remove { node: node.clone() }] };
        let consequence = "what needs it is linked to what it needed";
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "remove".to_owned(),
            question: format!("Remove {node} from the plan?"),
            options: vec![dialog_option('y', format!("remove {node}"), consequence, command)],
            cursor: None,
            needs_letter: false,
        }));
        ScreenEffect::Draw
    }

    /// Moves the selected node among its siblings.
    pub(super) fn move_node(&mut self, down: bool) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(id) = self.ui.graph.selected.clone() else {
            return self.show_message("no node is selected");
        };
        let Some(node) = self.draft_node(&id) else {
            return self.show_message(format!("there is no node {id}"));
        };
        let Some(parent) = node.parent_id.clone() else {
            return self.show_message("the goal stays where it is");
        };
        let position =
            if down { node.position.saturating_add(1) } else { node.position.saturating_sub(1) };
        if position == node.position {
            return self.show_message(format!("{id} is the first already"));
        }
        let words = format!("move {id}");
        self.send_command(
            Command::Edit { edits: vec![PlanEdit::Move { node: id, parent, position }] },
            words,
        )
    }

    /// Links every marked node to the selected one, which then waits for them.
    pub(super) fn link_nodes(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let Some(to) = self.ui.graph.selected.clone() else {
            return self.show_message("no node is selected");
        };
        let from: Vec<TaskId> = self.ui.marks.iter().filter(|id| **id != to).cloned().collect();
        if from.is_empty() {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Mark);
            return self.show_message(format!(
                "{key} marks what must be done first, then select what waits for it"
            ));
        }
        self.ui.marks.clear();
        let link = |from: TaskId| PlanEdit::Link {
            from,
            to: to.clone(),
            kind: LinkKind::FS,
            lag_minutes: 0,
        };
        let edits = from.into_iter().map(link).collect();
        self.send_command(Command::Edit { edits }, format!("link to {to}"))
    }
}

/// Who does a task, as the form has it.
fn doer_text(run: Option<&RunKind>) -> String {
    match run {
        Some(RunKind::Shell(command)) => format!("$ {command}"),
        Some(RunKind::Agent {}) => "agent".to_owned(),
        Some(RunKind::Human {}) | None => "you".to_owned(),
    }
}

/// Reads what [`doer_text`] wrote, or what the person typed in its place.
fn parse_doer(text: &str) -> Option<(TaskAssignee, Option<String>)> {
    let command = text.strip_prefix('$').map(str::trim);
    match (text, command) {
        (_, Some(command)) if !command.is_empty() => {
            Some((TaskAssignee::Shell, Some(command.to_owned())))
        }
        ("you" | "me" | "human", _) => Some((TaskAssignee::Human, None)),
        ("agent", _) => Some((TaskAssignee::Agent, None)),
        _ => None,
    }
}
