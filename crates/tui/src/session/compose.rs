//! Typing into the panel: changes, answers, reasons, comments; locking nodes; the policy.

use crossterm::event::KeyEvent;

use super::{ScreenEffect, SessionScreen};
use crate::composer::{
    Composer, ComposerForm, ComposerOutcome, ComposerTextBox, ComposerTopic, FormPurpose, FormRow,
    RequestReadSource, read_request,
};
use crate::keymap::KeyAction;
use crate::overlays::{FactsPanel, NodeItem, NodePicker, Overlay, PickerPurpose, PolicyPanel};
use crate::panes::approval::{self, answer_rows, assumed_text, current_request};
use crate::panes::running;
use crate::plan_text::fact_rows;
use crate::ui_state::PaneFocus;
use planwright_model::event::Command;
use planwright_model::{Actor, Answer, ChoiceAction, RequestId, RequestKind, TaskId};

impl SessionScreen {
    pub(super) fn on_composer_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let flow = self.handle_composer_key(event);
        if self.ui.composer.is_none()
            && let Some(focus) = self.ui.return_focus.take()
        {
            self.ui.focus = focus;
        }
        flow
    }

    fn handle_composer_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let Some(composer) = &mut self.ui.composer else { return ScreenEffect::Idle };
        match composer.on_key(event) {
            ComposerOutcome::Stay => {
                self.read_composed();
                ScreenEffect::Draw
            }
            ComposerOutcome::Close => self.close_composer(),
            ComposerOutcome::Send => self.send_composed(),
            ComposerOutcome::ToggleScope => {
                let Composer::Text(text) = composer else { return ScreenEffect::Draw };
                if matches!(text.topic, ComposerTopic::Comment { .. }) {
                    return self.change_to_lines();
                }
                if !self.ui.marks.is_empty() {
                    text.marked_only = !text.marked_only;
                }
                self.read_composed();
                ScreenEffect::Draw
            }
            ComposerOutcome::CycleStage => {
                let drafted = self.latest.planning.roadmap.is_some();
                if let (Composer::Text(text), true) = (composer, drafted)
                    && matches!(text.topic, ComposerTopic::Changes { .. })
                {
                    text.cycle_stage();
                }
                self.read_composed();
                ScreenEffect::Draw
            }
            ComposerOutcome::Editor => self.edit_text_externally(),
        }
    }

    /// Closes the box and keeps what was typed.
    pub(super) fn close_composer(&mut self) -> ScreenEffect {
        let kept = match self.ui.composer.take() {
            Some(Composer::Text(text)) => vec![(text.topic.draft_key(), text.text())],
            Some(Composer::Form(form)) => form.unsent_texts(),
            None => Vec::new(),
        };
        for (key, text) in kept {
            if text.is_empty() {
                self.ui.drafts.remove(&key);
            } else {
                self.ui.drafts.insert(key, text);
            }
        }
        ScreenEffect::Draw
    }

    /// Ctrl-C in a box closes it as Esc does: ending the program there would lose what was typed.
    pub(super) fn keep_composed(&mut self) -> ScreenEffect {
        self.close_composer();
        self.show_message("your text is kept and is there when you open the box again; Ctrl-C again ends the program")
    }

    /// Opens a box for a topic, with what was typed there before.
    pub(super) fn open_text_box(&mut self, topic: ComposerTopic) -> ScreenEffect {
        let kept = self.ui.drafts.get(&topic.draft_key()).cloned().unwrap_or_default();
        let marked = !self.ui.marks.is_empty() && matches!(topic, ComposerTopic::Changes { .. });
        self.open_composer(Composer::Text(Box::new(ComposerTextBox::new(topic, &kept, marked))))
    }

    /// Opens the box for a rule about the command that is asked about, with the command in it.
    pub(super) fn open_rule_box(&mut self, request: RequestId, command: &str) -> ScreenEffect {
        let label = "always allow".to_owned();
        let topic = ComposerTopic::Answer { request, action: ChoiceAction::AllowAlways, label };
        let kept = self.ui.drafts.get(&topic.draft_key()).cloned();
        let text = kept.unwrap_or_else(|| command.to_owned());
        self.open_composer(Composer::Text(Box::new(ComposerTextBox::new(topic, &text, false))))
    }

    /// Opens a box in the panel; whoever had the focus gets it back afterwards.
    pub(super) fn open_composer(&mut self, composer: Composer) -> ScreenEffect {
        self.ui.composer = Some(composer);
        self.ui.return_focus = Some(self.ui.focus).filter(|focus| *focus != PaneFocus::Approval);
        self.ui.focus = PaneFocus::Approval;
        self.read_composed();
        ScreenEffect::Draw
    }

    /// What is typed is read before it is drawn the next time, and not for every key: reading dates the plan anew, and
    /// keys that wait would wait for each of them.
    pub(super) fn read_composed(&mut self) {
        self.ui.has_unread_text = true;
    }

    /// Reads what was typed since the last frame.
    pub(super) fn read_typed_text(&mut self) {
        if std::mem::take(&mut self.ui.has_unread_text) {
            self.read_request_box();
            self.read_row_fields();
        }
    }

    /// Reads a request for changes as the planner would.
    fn read_request_box(&mut self) {
        let Some(Composer::Text(text)) = &self.ui.composer else { return };
        if !matches!(text.topic, ComposerTopic::Changes { .. }) {
            return;
        }
        let marked: Vec<TaskId> =
            if text.marked_only { self.ui.marks.iter().cloned().collect() } else { Vec::new() };
        let source = RequestReadSource {
            preview: self.preview_source(),
            rows: &self.plan.text,
            marked: &marked,
            today: self.today(),
        };
        let reading = read_request(&text.text(), text.stage, source);
        if let Some(Composer::Text(text)) = &mut self.ui.composer {
            text.reading = reading;
        }
    }

    /// Changes of the plan: as the answer to a request that offers it, else as a request of its own.
    pub(super) fn request_changes(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let open = current_request(&self.latest, &self.ui);
        let offered =
            open.filter(|request| request.available_choice(ChoiceAction::RequestChanges).is_some());
        let request = offered.map(|request| request.id);
        if request.is_none() && self.latest.plan.current.is_none() && !self.latest.planning.begun {
            return self.show_message("there is no plan to change yet");
        }
        let is_question =
            open.is_some_and(|open| matches!(open.kind, RequestKind::Questions { .. }));
        if request.is_none() && is_question {
            return self.show_message("answer this question first; changes come with the draft");
        }
        if request.is_none()
            && !self.latest.planning.begun
            && let Some(why) = approval::why_cannot_revise(&self.latest)
        {
            return self.show_message(why);
        }
        self.open_text_box(ComposerTopic::Changes { request })
    }

    /// Opens the box for an answer that takes words; for several questions one line each.
    pub(super) fn open_answer_box(
        &mut self,
        id: RequestId,
        action: ChoiceAction,
        label: &str,
    ) -> ScreenEffect {
        let request = current_request(&self.latest, &self.ui);
        let kind = request.map(|request| request.kind.clone());
        let unread = request.and_then(|request| Some(request.unread.as_ref()?.text.clone()));
        match kind {
            _ if action == ChoiceAction::RequestChanges => {
                self.open_text_box(ComposerTopic::Changes { request: Some(id) })
            }
            Some(RequestKind::Questions { questions }) if action == ChoiceAction::Reply => {
                // What could not be read stays there to be put right, and so does what was typed and not sent.
                let unread = unread.filter(|_| questions.len() == 1).unwrap_or_default();
                let purpose = FormPurpose::Questions { request: id };
                let kept = |key: &str| self.ui.drafts.get(&purpose.draft_key(key)).cloned();
                let today = self.today();
                let rows = questions.iter().map(|question| {
                    let all: Vec<&str> =
                        question.choices.iter().map(|choice| choice.answer.as_str()).collect();
                    let instead = if all.is_empty() {
                        String::new()
                    } else {
                        format!("such as {}; ", all.join(", "))
                    };
                    let hint =
                        format!("{instead}empty: {} is assumed", assumed_text(question, today));
                    let text = kept(&question.key).unwrap_or_else(|| unread.clone());
                    FormRow::new(&question.key, &question.text, &hint, &text)
                });
                let rows = rows.collect();
                let form = ComposerForm::new(purpose, "your answers", rows);
                self.open_composer(Composer::Form(Box::new(form)))
            }
            _ => self.open_text_box(ComposerTopic::Answer {
                request: id,
                action,
                label: label.to_owned(),
            }),
        }
    }

    /// Enter in the panel: opens the box where words are asked for.
    pub(super) fn open_reply_box(&mut self) -> ScreenEffect {
        let request =
            current_request(&self.latest, &self.ui).filter(|_| self.why_cannot_act().is_none());
        let reply = request.and_then(|request| {
            answer_rows(request).into_iter().find(|row| row.action == KeyAction::Reply)
        });
        if reply.is_some() { self.answer_request(KeyAction::Reply) } else { ScreenEffect::Idle }
    }

    /// The nodes a request is about: the marked ones, else the one under the cursor of the plan or of what runs. None
    /// where another pane has the focus, since what is selected there may not be on the screen.
    pub(super) fn target_nodes(&self) -> Vec<TaskId> {
        if !self.ui.marks.is_empty() {
            return self.ui.marks.iter().cloned().collect();
        }
        match self.ui.focus {
            PaneFocus::Graph => self.ui.graph.selected.iter().cloned().collect(),
            PaneFocus::Running => running::selected_active_task(&self.latest, &self.ui)
                .map(|task| self.latest.tasks.id(task).clone())
                .into_iter()
                .collect(),
            PaneFocus::Approval if current_request(&self.latest, &self.ui).is_none() => {
                approval::turned_to_failed(&self.latest, &self.ui).into_iter().cloned().collect()
            }
            PaneFocus::Trace
            | PaneFocus::Output
            | PaneFocus::Approval
            | PaneFocus::Files
            | PaneFocus::Scrub => Vec::new(),
        }
    }

    /// Asks which node is meant.
    pub(super) fn open_node_picker(&mut self, request: PickerPurpose) -> ScreenEffect {
        let locked = &self.latest.planning.locked;
        let items: Vec<NodeItem> = self
            .plan
            .rows
            .all
            .iter()
            .map(|row| NodeItem {
                id: row.id.clone(),
                title: row.title.clone(),
                depth: row.depth,
                locked: locked.contains(&row.id),
            })
            .collect();
        if items.is_empty() {
            return self.show_message("there is no plan yet");
        }
        let picker = NodePicker::new(request, items, self.ui.graph.selected.as_ref());
        self.ui.overlay = Some(Overlay::Nodes(Box::new(picker)));
        ScreenEffect::Draw
    }

    /// Goes on with the node that was meant, which is the selected one from here on.
    pub(super) fn act_on_picked_node(
        &mut self,
        request: PickerPurpose,
        node: TaskId,
    ) -> ScreenEffect {
        self.ui.select_task(node.clone());
        match request {
            PickerPurpose::Comment => {
                self.open_text_box(ComposerTopic::Comment { nodes: vec![node] })
            }
            PickerPurpose::Lock => self.toggle_locks(vec![node]),
            PickerPurpose::Edit => self.open_row_editor(&node),
        }
    }

    pub(super) fn lock_nodes(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.target_nodes() {
            nodes if nodes.is_empty() => self.open_node_picker(PickerPurpose::Lock),
            nodes => self.toggle_locks(nodes),
        }
    }

    /// Keeps nodes as they are, or lets them go if all of them are locked.
    fn toggle_locks(&mut self, nodes: Vec<TaskId>) -> ScreenEffect {
        let locked = &self.latest.planning.locked;
        let on = !nodes.iter().all(|node| locked.contains(node));
        let verb = if on { "lock" } else { "unlock" };
        let change: Vec<TaskId> =
            nodes.into_iter().filter(|node| locked.contains(node) != on).collect();
        self.ui.marks.clear();
        let mut flow = ScreenEffect::Draw;
        for node in change {
            let words = format!("{verb} {}", self.row_title(&node));
            flow = self.send_command(Command::Lock { node, on }, words);
        }
        flow
    }

    /// Shows what was said, with what was understood of it.
    pub(super) fn open_facts(&mut self) -> ScreenEffect {
        if !self.latest.planning.begun {
            return self.show_message("a plan from a file has no goal that was read");
        }
        let locked = self.why_cannot_act();
        let state = if locked.is_some() { self.state() } else { &self.latest };
        let rows = fact_rows(state, self.today());
        self.ui.overlay = Some(Overlay::Facts(Box::new(FactsPanel::new(rows, locked))));
        ScreenEffect::Draw
    }

    pub(super) fn open_policy(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let panel = PolicyPanel::new(&self.latest.planning);
        self.ui.overlay = Some(Overlay::Policy(Box::new(panel)));
        ScreenEffect::Draw
    }

    fn send_composed(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.ui.composer.take() {
            Some(Composer::Text(text)) => self.send_text(*text),
            Some(Composer::Form(form)) => self.send_form(&form),
            None => ScreenEffect::Idle,
        }
    }

    fn send_text(&mut self, text: ComposerTextBox) -> ScreenEffect {
        let words = text.text();
        let must_say =
            !matches!(text.topic, ComposerTopic::Answer { action: ChoiceAction::Deny, .. });
        if words.is_empty() && must_say {
            self.ui.composer = Some(Composer::Text(Box::new(text)));
            return self.show_message("type something first, or Esc to close");
        }
        self.ui.drafts.remove(&text.topic.draft_key());
        match text.topic.clone() {
            ComposerTopic::Changes { request } => {
                let nodes: Vec<TaskId> = if text.marked_only {
                    self.ui.marks.iter().cloned().collect()
                } else {
                    Vec::new()
                };
                let locked = &self.latest.planning.locked;
                if !nodes.is_empty() && nodes.iter().all(|node| locked.contains(node)) {
                    self.ui.composer = Some(Composer::Text(Box::new(text)));
                    let key = self.keymap.key_hint(KeyAction::Lock);
                    return self.show_message(format!(
                        "all marked nodes are locked; Tab asks the whole plan, or Esc, then {key}"
                    ));
                }
                self.ui.marks.clear();
                let stage = text.stage;
                let Some(id) = request else {
                    let command = Command::RequestChanges { text: words, nodes, stage };
                    return self.send_command(command, "request changes");
                };
                let action = ChoiceAction::RequestChanges;
                let answer = Answer { nodes, stage, ..Answer::with_text(action, words) };
                let command = Command::Answer { id, answer, by: Actor::Person };
                self.send_command(command, "request changes")
            }
            ComposerTopic::Answer { request, action, label } => {
                let answer = Answer::with_text(action, words);
                let asked = current_request(&self.latest, &self.ui);
                if let Some(Err(why)) = asked.map(|asked| asked.parse_typed_rule(&answer)) {
                    self.ui.composer = Some(Composer::Text(Box::new(text)));
                    return self.show_message(why);
                }
                self.send_command(Command::Answer { id: request, answer, by: Actor::Person }, label)
            }
            ComposerTopic::Message { task } => {
                let said = format!("message to {}", self.row_title(&task));
                let command =
                    Command::MessageTask { task, text: words, by: Actor::Person, interrupt: false };
                self.send_command(command, said)
            }
            ComposerTopic::CommentLine { line, .. } => {
                let said = format!("comment on line {line}");
                self.send_command(Command::CommentLine { line, text: words }, said)
            }
            ComposerTopic::Comment { nodes } => {
                self.ui.marks.clear();
                let mut flow = ScreenEffect::Draw;
                for node in nodes {
                    let said = format!("comment on {}", self.row_title(&node));
                    flow = self.send_command(Command::Comment { node, text: words.clone() }, said);
                }
                flow
            }
        }
    }

    fn send_form(&mut self, form: &ComposerForm) -> ScreenEffect {
        for (key, _) in form.unsent_texts() {
            self.ui.drafts.remove(&key);
        }
        match form.purpose.clone() {
            FormPurpose::Questions { request } => {
                let answers = form
                    .rows
                    .iter()
                    .map(|row| (row.key.clone(), row.field.text().trim().to_owned()))
                    .collect();
                let answer = Answer { answers, ..Answer::from(ChoiceAction::Reply) };
                let command = Command::Answer { id: request, answer, by: Actor::Person };
                self.send_command(command, "your answers")
            }
        }
    }
}
