//! Answering the open request. Only a key in the panel answers, and only what has been seen.

use std::time::Duration;

use super::commands::wish;
use super::{Flow, Screen};
use crate::event::Command;
use crate::model::{Actor, Answer, ChoiceAction, RequestId};
use crate::tui::clock::between;
use crate::tui::keymap::Action;
use crate::tui::overlays::{Choose, Overlay};
use crate::tui::panes::approval::{AnswerRow, answer_rows, current, is_yes};
use crate::tui::ui_state::CardUi;
use crate::tui::widgets::counted;

/// Keys this soon after a request appeared were meant for something else.
const SETTLE: Duration = Duration::from_millis(300);

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
        if is_yes(action) && !self.ui.card.seen {
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
        if let [alone, dependents] = row.choices[..] {
            self.ui.overlay = Some(Overlay::Choose(Choose {
                title: "skip".to_owned(),
                question: "Go on without the task?".to_owned(),
                options: vec![
                    wish(
                        'a',
                        "skip it alone",
                        "what needs it goes on without it",
                        command(id, alone),
                    ),
                    wish(
                        'd',
                        "skip with dependents",
                        "what needs it is skipped too",
                        command(id, dependents),
                    ),
                ],
            }));
            return Flow::Draw;
        }
        match row.choices.first() {
            Some(choice) => self.send(command(id, *choice), row.label.clone()),
            None => Flow::Idle,
        }
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
