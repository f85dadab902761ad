//! Answering the open request. Only a key in the panel answers, and only what has been seen.

use std::time::Duration;

use crossterm::event::KeyCode;
use ratatui::layout::Position;

use super::commands::wish;
use super::{Flow, Screen};
use crate::areas::SizeClass;
use crate::clock::between;
use crate::keymap::{Action, Key};
use crate::overlays::{Choose, Overlay, Wish};
use crate::panes::approval::{self, AnswerRow, ApprovalPane, answer_rows, current, takes_text};
use crate::ui_state::{CardUi, Focus};
use crate::widgets::counted;
use planwright_model::event::Command;
use planwright_model::{Actor, Answer, ChoiceAction, RequestId, RequestKind, TaskId};

/// Keys this soon after a request appeared were meant for something else.
const SETTLE: Duration = Duration::from_millis(300);

/// The keys of answers that share one in the panel.
const KEYS: &str = "123456789";

impl Screen {
    /// Gives the answer that a key stands for, if it may be given now.
    pub(super) fn answer(&mut self, action: Action) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let Some(request) = current(&self.latest, &self.ui) else {
            return self.say("no request is open");
        };
        let id = request.id;
        let Some(row) = answer_rows(request).into_iter().find(|row| row.action == action) else {
            return self.say("this request does not offer that");
        };
        if !self.is_settled(id) || self.ui.card.sent {
            return Flow::Idle;
        }
        if let Some(why) = &row.unavailable {
            return self.say(why.clone());
        }
        if row.lets_happen() && !self.ui.card.seen {
            let below = self.card.below(self.ui.card.scroll);
            let key = self.keymap.key(Action::Down);
            let lines = counted(below, "more line");
            let them = if below == 1 { "it" } else { "them" };
            return self.say(format!("{lines} below, {key} scrolls to {them}"));
        }
        self.give(id, &row)
    }

    /// The failed task in the panel, once it was on the screen for a moment and nothing was sent about it yet.
    fn shown_failed(&self) -> Option<TaskId> {
        let task = approval::turned_to_failed(&self.latest, &self.ui)?;
        let settled = |at| between(at, (self.clock)()) >= SETTLE;
        let ready = self.ui.card.shown_at.is_some_and(settled) && !self.ui.card.sent;
        ready.then(|| task.clone())
    }

    /// Retries the failed task in the panel.
    pub(super) fn retry_failed(&mut self, with_dependents: bool) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let Some(task) = self.shown_failed() else { return Flow::Idle };
        let words = if with_dependents {
            format!("retry {task} with dependents")
        } else {
            format!("retry {task}")
        };
        self.ui.card.sent = true;
        self.send(Command::RetryTask { task, with_dependents }, words)
    }

    /// Asks how the failed task in the panel is skipped.
    pub(super) fn skip_failed(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.shown_failed() {
            Some(task) => self.ask_skip(&task),
            None => Flow::Idle,
        }
    }

    /// Whether this very request has been on the screen for a moment.
    fn is_settled(&self, id: RequestId) -> bool {
        let shown = self.ui.card.shown_at.filter(|_| self.ui.card.request == Some(id));
        shown.is_some_and(|at| between(at, (self.clock)()) >= SETTLE)
    }

    fn give(&mut self, id: RequestId, row: &AnswerRow) -> Flow {
        match row.choices[..] {
            [] => Flow::Idle,
            [choice] if takes_text(choice) => self.open_answer(id, choice, &row.label),
            [choice] => self.send(command(id, choice), row.label.clone()),
            _ => self.choose(id, row),
        }
    }

    /// Asks which of several answers with one key is meant.
    fn choose(&mut self, id: RequestId, row: &AnswerRow) -> Flow {
        let Some(request) = current(&self.latest, &self.ui) else { return Flow::Idle };
        let offered = request.choices.iter().filter(|choice| row.choices.contains(&choice.action));
        // What has a number of its own is chosen by that one.
        let numbered = |action: ChoiceAction| match action {
            ChoiceAction::PickOption(number) | ChoiceAction::UseRelaxation(number) => {
                char::from_digit(number.into(), 10)
            }
            ChoiceAction::SkipAlone => Some('a'),
            ChoiceAction::SkipWithDependents => Some('d'),
            _ => None,
        };
        let taken: Vec<char> = row.choices.iter().filter_map(|choice| numbered(*choice)).collect();
        let mut free = KEYS.chars().filter(|key| !taken.contains(key));
        let options: Vec<Wish> = offered
            .filter_map(|choice| {
                let key = numbered(choice.action).or_else(|| free.next())?;
                Some(wish(key, &choice.label, &choice.consequence, command(id, choice.action)))
            })
            .collect();
        self.ui.overlay = Some(Overlay::Choose(Choose {
            title: row.label.clone(),
            question: request.question.clone(),
            options,
            cursor: None,
        }));
        Flow::Draw
    }

    /// Moves among the answers to pick from; above the first none is picked.
    pub(super) fn move_choice(&mut self, down: bool) {
        let last = self.card.choices.len().saturating_sub(1);
        let choice = match (self.ui.card.choice, down) {
            (None, true) => Some(0),
            (Some(at), true) if at < last => Some(at + 1),
            (Some(at), false) => at.checked_sub(1),
            (at, _) => {
                self.scroll_card(if down { 1 } else { -1 });
                at
            }
        };
        self.pick(choice);
    }

    /// Puts the cursor on an answer and brings it into view.
    fn pick(&mut self, choice: Option<usize>) {
        self.ui.card.choice = choice;
        if let Some(line) = choice.and_then(|at| self.card.choices.get(at)).copied() {
            let card = &mut self.ui.card;
            card.scroll = card.scroll.min(line).max((line + 1).saturating_sub(self.card.room));
        }
    }

    /// Puts the cursor on the answer with a number; says whether there is one.
    pub(super) fn pick_number(&mut self, key: Key) -> bool {
        let KeyCode::Char(digit @ '1'..='9') = key.code else { return false };
        let at = digit as usize - '1' as usize;
        if self.ui.focus != Focus::Approval || key.ctrl || !self.has_choices() {
            return false;
        }
        if at < self.card.choices.len() {
            self.pick(Some(at));
        }
        true
    }

    /// A click on an answer puts the cursor on it; only a key answers.
    pub(super) fn choice_at(&mut self, at: Position) {
        let Some(request) = current(self.state(), &self.ui).filter(|_| self.has_choices()) else {
            return;
        };
        let class = SizeClass::of(self.size);
        let lines = ApprovalPane::card_areas(self.areas.approval, class, request).lines;
        if lines.contains(at) {
            let line = usize::from(at.y - lines.y) + self.ui.card.scroll;
            let found = self.card.choices.iter().position(|known| *known == line);
            self.ui.card.choice = found.or(self.ui.card.choice);
        }
    }

    /// Whether the open request has answers to pick from, and one may be picked.
    pub(super) fn has_choices(&self) -> bool {
        let request = current(&self.latest, &self.ui).filter(|_| self.cannot_act().is_none());
        request.is_some_and(|request| !approval::choices(request).is_empty())
    }

    /// Answers with what is under the cursor, if something is.
    pub(super) fn answer_choice(&mut self) -> Option<Flow> {
        let at = self.ui.card.choice.filter(|_| self.has_choices())?;
        let request = current(&self.latest, &self.ui)?;
        let RequestKind::Questions { questions } = &request.kind else { return None };
        let key = questions.first()?.key.clone();
        let picked = approval::choices(request).get(at)?.answer.clone();
        let id = request.id;
        if !self.is_settled(id) || self.ui.card.sent {
            return Some(Flow::Idle);
        }
        let answers = [(key, picked.clone())].into_iter().collect();
        let answer = Answer { answers, ..Answer::from(ChoiceAction::Reply) };
        Some(self.send(Command::Answer { id, answer, by: Actor::Person }, picked))
    }

    /// Shows or hides what the confidence of the request is made of.
    pub(super) fn turn_terms(&mut self) -> Flow {
        let judged = current(self.state(), &self.ui)
            .is_some_and(|request| approval::judgement(request, self.state()).is_some());
        if !judged {
            return self.say("nothing was judged for this request");
        }
        self.ui.card.terms = !self.ui.card.terms;
        self.ui.card.reveal = self.ui.card.terms;
        Flow::Draw
    }

    /// The next or previous card: the open requests, then the failed tasks.
    pub(super) fn turn_request(&mut self, forward: bool) -> Flow {
        let state = self.state();
        let requests = state.requests.open.keys().map(|id| (Some(*id), None));
        let failed = approval::failed_tasks(state).map(|task| (None, Some(task.clone())));
        let mut cards: Vec<(Option<RequestId>, Option<TaskId>)> = requests.chain(failed).collect();
        if cards.is_empty() {
            return Flow::Idle;
        }
        let request = current(state, &self.ui).map(|request| request.id);
        let task = approval::failed(state, &self.ui).filter(|_| request.is_none());
        let at = cards.iter().position(|(id, failed)| *id == request && failed.as_ref() == task);
        let at = at.unwrap_or(0);
        let next = if forward { at + 1 } else { at + cards.len() - 1 } % cards.len();
        let (request, failed) = cards.swap_remove(next);
        self.ui.card = CardUi { request, failed, ..CardUi::default() };
        Flow::Draw
    }
}

fn command(id: RequestId, action: ChoiceAction) -> Command {
    Command::Answer { id, answer: Answer::from(action), by: Actor::Person }
}
