//! Typing into the panel: changes, answers, reasons, comments; locking nodes; the policy.

use crossterm::event::KeyEvent;

use super::{Flow, Screen};
use crate::composer::{Composer, Form, FormPurpose, FormRow, TextBox, Topic, Typed};
use crate::keymap::Action;
use crate::overlays::{NodeItem, NodePicker, NodeWish, Overlay, PolicyPanel};
use crate::panes::approval::{self, answer_rows, assumed_words, current};
use crate::panes::running;
use crate::ui_state::Focus;
use planwright_model::event::Command;
use planwright_model::{Actor, Answer, ChoiceAction, RequestId, RequestKind, TaskId};

impl Screen {
    pub(super) fn on_composer_key(&mut self, event: &KeyEvent) -> Flow {
        let flow = self.composer_key(event);
        if self.ui.composer.is_none()
            && let Some(focus) = self.ui.came_from.take()
        {
            self.ui.focus = focus;
        }
        flow
    }

    fn composer_key(&mut self, event: &KeyEvent) -> Flow {
        let Some(composer) = &mut self.ui.composer else { return Flow::Idle };
        match composer.on_key(event) {
            Typed::Stay => Flow::Draw,
            Typed::Close => self.close_composer(),
            Typed::Send => self.send_composed(),
            Typed::TurnScope => {
                if let (Composer::Text(text), false) = (composer, self.ui.marks.is_empty()) {
                    text.marked_only = !text.marked_only;
                }
                Flow::Draw
            }
            Typed::TurnStage => {
                let drafted = self.latest.planning.roadmap.is_some();
                if let (Composer::Text(text), true) = (composer, drafted)
                    && matches!(text.topic, Topic::Changes { .. })
                {
                    text.turn_stage();
                }
                Flow::Draw
            }
            Typed::Editor => self.edit_text_outside(),
        }
    }

    /// Closes the box and keeps what was typed.
    fn close_composer(&mut self) -> Flow {
        if let Some(Composer::Text(text)) = self.ui.composer.take() {
            let kept = text.text();
            if kept.is_empty() {
                self.ui.drafts.remove(&text.topic.key());
            } else {
                self.ui.drafts.insert(text.topic.key(), kept);
            }
        }
        Flow::Draw
    }

    /// Opens a box for a topic, with what was typed there before.
    fn compose(&mut self, topic: Topic) -> Flow {
        let kept = self.ui.drafts.get(&topic.key()).cloned().unwrap_or_default();
        let marked = !self.ui.marks.is_empty() && matches!(topic, Topic::Changes { .. });
        self.open_composer(Composer::Text(Box::new(TextBox::new(topic, &kept, marked))))
    }

    /// Opens a box in the panel; whoever had the focus gets it back afterwards.
    pub(super) fn open_composer(&mut self, composer: Composer) -> Flow {
        self.ui.composer = Some(composer);
        self.ui.came_from = Some(self.ui.focus).filter(|focus| *focus != Focus::Approval);
        self.ui.focus = Focus::Approval;
        Flow::Draw
    }

    /// Changes of the plan: as the answer to a request that offers it, else as a wish of its own.
    pub(super) fn request_changes(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let open = current(&self.latest, &self.ui);
        let offered = open.filter(|request| request.choice(ChoiceAction::RequestChanges).is_some());
        let request = offered.map(|request| request.id);
        if request.is_none() && self.latest.plan.current.is_none() && !self.latest.planning.begun {
            return self.say("there is no plan to change yet");
        }
        if request.is_none()
            && !self.latest.planning.begun
            && let Some(why) = approval::cannot_revise(&self.latest)
        {
            return self.say(why);
        }
        self.compose(Topic::Changes { request })
    }

    /// Opens the box for an answer that takes words; for several questions one line each.
    pub(super) fn open_answer(&mut self, id: RequestId, action: ChoiceAction, label: &str) -> Flow {
        let request = current(&self.latest, &self.ui);
        let kind = request.map(|request| request.kind.clone());
        match kind {
            _ if action == ChoiceAction::RequestChanges => {
                self.compose(Topic::Changes { request: Some(id) })
            }
            Some(RequestKind::Questions { questions }) if action == ChoiceAction::Reply => {
                let rows = questions.iter().map(|question| {
                    let all: Vec<&str> =
                        question.choices.iter().map(|choice| choice.answer.as_str()).collect();
                    let instead = if all.is_empty() {
                        String::new()
                    } else {
                        format!("such as {}; ", all.join(", "))
                    };
                    let hint = format!("{instead}empty: {} is assumed", assumed_words(question));
                    FormRow::new(&question.key, &question.text, &hint, "")
                });
                let purpose = FormPurpose::Questions { request: id };
                let form = Form::new(purpose, "your answers", rows.collect());
                self.open_composer(Composer::Form(Box::new(form)))
            }
            _ => self.compose(Topic::Answer { request: id, action, label: label.to_owned() }),
        }
    }

    /// Enter in the panel: opens the box where words are asked for.
    pub(super) fn type_answer(&mut self) -> Flow {
        let request = current(&self.latest, &self.ui).filter(|_| self.cannot_act().is_none());
        let reply = request.and_then(|request| {
            answer_rows(request).into_iter().find(|row| row.action == Action::Reply)
        });
        if reply.is_some() { self.answer(Action::Reply) } else { Flow::Idle }
    }

    /// The nodes a wish is about: the marked ones, else the one under the cursor of the plan or of what runs. None
    /// where another pane has the focus, since what is selected there may not be on the screen.
    fn nodes(&self) -> Vec<TaskId> {
        if !self.ui.marks.is_empty() {
            return self.ui.marks.iter().cloned().collect();
        }
        match self.ui.focus {
            Focus::Graph => self.ui.graph.selected.iter().cloned().collect(),
            Focus::Running => running::selected(&self.latest, &self.ui)
                .map(|task| self.latest.tasks.id(task).clone())
                .into_iter()
                .collect(),
            Focus::Approval if current(&self.latest, &self.ui).is_none() => {
                approval::turned_to_failed(&self.latest, &self.ui).into_iter().cloned().collect()
            }
            Focus::Trace | Focus::Approval => Vec::new(),
        }
    }

    /// Asks which node is meant.
    pub(super) fn pick_node(&mut self, wish: NodeWish) -> Flow {
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
            return self.say("there is no plan yet");
        }
        let picker = NodePicker::new(wish, items, self.ui.graph.selected.as_ref());
        self.ui.overlay = Some(Overlay::Nodes(Box::new(picker)));
        Flow::Draw
    }

    /// Goes on with the node that was meant, which is the selected one from here on.
    pub(super) fn picked(&mut self, wish: NodeWish, node: TaskId) -> Flow {
        self.ui.select(node.clone());
        match wish {
            NodeWish::Comment => self.compose(Topic::Comment { nodes: vec![node] }),
            NodeWish::Lock => self.turn_lock(vec![node]),
            NodeWish::Edit => self.open_form(node),
        }
    }

    pub(super) fn comment(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.nodes() {
            nodes if nodes.is_empty() => self.pick_node(NodeWish::Comment),
            nodes => self.compose(Topic::Comment { nodes }),
        }
    }

    pub(super) fn lock(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.nodes() {
            nodes if nodes.is_empty() => self.pick_node(NodeWish::Lock),
            nodes => self.turn_lock(nodes),
        }
    }

    /// Keeps nodes as they are, or lets them go if all of them are locked.
    fn turn_lock(&mut self, nodes: Vec<TaskId>) -> Flow {
        let locked = &self.latest.planning.locked;
        let on = !nodes.iter().all(|node| locked.contains(node));
        let verb = if on { "lock" } else { "unlock" };
        let change: Vec<TaskId> =
            nodes.into_iter().filter(|node| locked.contains(node) != on).collect();
        let mut flow = Flow::Draw;
        for node in change {
            let words = format!("{verb} {node}");
            flow = self.send(Command::Lock { node, on }, words);
        }
        flow
    }

    pub(super) fn open_policy(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let panel =
            PolicyPanel::new(self.latest.planning.policy(), self.latest.planning.gate.as_ref());
        self.ui.overlay = Some(Overlay::Policy(Box::new(panel)));
        Flow::Draw
    }

    fn send_composed(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.ui.composer.take() {
            Some(Composer::Text(text)) => self.send_text(*text),
            Some(Composer::Form(form)) => self.send_form(&form),
            None => Flow::Idle,
        }
    }

    fn send_text(&mut self, text: TextBox) -> Flow {
        let words = text.text();
        let must_say = !matches!(text.topic, Topic::Answer { action: ChoiceAction::Deny, .. });
        if words.is_empty() && must_say {
            self.ui.composer = Some(Composer::Text(Box::new(text)));
            return self.say("type something first, or Esc to close");
        }
        self.ui.drafts.remove(&text.topic.key());
        match text.topic.clone() {
            Topic::Changes { request } => {
                let nodes: Vec<TaskId> = if text.marked_only {
                    self.ui.marks.iter().cloned().collect()
                } else {
                    Vec::new()
                };
                let locked = &self.latest.planning.locked;
                if !nodes.is_empty() && nodes.iter().all(|node| locked.contains(node)) {
                    self.ui.composer = Some(Composer::Text(Box::new(text)));
                    let key = self.keymap.key(Action::Lock);
                    return self.say(format!(
                        "all marked nodes are locked; Tab asks the whole plan, or Esc, then {key}"
                    ));
                }
                self.ui.marks.clear();
                let stage = text.stage;
                let Some(id) = request else {
                    let command = Command::RequestChanges { text: words, nodes, stage };
                    return self.send(command, "request changes");
                };
                let action = ChoiceAction::RequestChanges;
                let answer = Answer { nodes, stage, ..Answer::saying(action, words) };
                let command = Command::Answer { id, answer, by: Actor::Person };
                self.send(command, "request changes")
            }
            Topic::Answer { request, action, label } => {
                let answer = Answer::saying(action, words);
                self.send(Command::Answer { id: request, answer, by: Actor::Person }, label)
            }
            Topic::Comment { nodes } => {
                let mut flow = Flow::Draw;
                for node in nodes {
                    let said = format!("comment on {node}");
                    flow = self.send(Command::Comment { node, text: words.clone() }, said);
                }
                flow
            }
        }
    }

    fn send_form(&mut self, form: &Form) -> Flow {
        match form.purpose.clone() {
            FormPurpose::Questions { request } => {
                let answers = form
                    .rows
                    .iter()
                    .map(|row| (row.key.clone(), row.field.text().trim().to_owned()))
                    .collect();
                let answer = Answer { answers, ..Answer::from(ChoiceAction::Reply) };
                let command = Command::Answer { id: request, answer, by: Actor::Person };
                self.send(command, "your answers")
            }
            FormPurpose::Node { node } => self.send_edits(form, &node),
            FormPurpose::NewNode { parent } => self.send_new_node(form, parent),
        }
    }
}
