//! Answering the open request. Only a key in the panel answers, and only what has been seen.

use std::time::Duration;

use super::commands::wish;
use super::{Flow, Screen};
use crate::event::Command;
use crate::model::{Actor, Answer, ChoiceAction, RequestId};
use crate::tui::clock::between;
use crate::tui::keymap::Action;
use crate::tui::overlays::{Choose, Overlay, Wish};
use crate::tui::panes::approval::{self, AnswerRow, answer_rows, current, takes_text};
use crate::tui::ui_state::CardUi;
use crate::tui::widgets::counted;

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

    /// The next or previous open request.
    pub(super) fn turn_request(&mut self, forward: bool) -> Flow {
        let Some(request) = current(self.state(), &self.ui) else { return Flow::Idle };
        let ids: Vec<RequestId> = self.state().requests.open.keys().copied().collect();
        let at = ids.iter().position(|id| *id == request.id).unwrap_or(0);
        let next = if forward { at + 1 } else { at + ids.len() - 1 } % ids.len();
        self.ui.card = CardUi { request: Some(ids[next]), ..CardUi::default() };
        Flow::Draw
    }
}

fn command(id: RequestId, action: ChoiceAction) -> Command {
    Command::Answer { id, answer: Answer::from(action), by: Actor::Person }
}
