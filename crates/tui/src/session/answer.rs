//! Answering the open request. Only a key in the panel answers, and only what has been seen.

use std::time::Duration;

use ratatui::layout::Position;

use super::commands::dialog_option;
use super::{ScreenEffect, SessionScreen};
use crate::clock::duration_between;
use crate::keymap::KeyAction;
use crate::overlays::{ChoiceDialog, DialogOption, Overlay};
use crate::panes::approval::{
    self, AnswerRow, ApprovalPane, CardAnswer, answer_rows, current_request, sub_key, takes_text,
};
use crate::panes::plan::{OutlineLine, RowDetailKind};
use crate::ui_state::CardUi;
use crate::widgets::format_counted;
use planwright_model::event::Command;
use planwright_model::{Actor, Answer, ChoiceAction, RequestId, TaskId};

/// Keys this soon after a request appeared were meant for something else.
const ANSWER_DELAY: Duration = Duration::from_millis(300);

/// The keys of answers that share one in the panel.
const KEYS: &str = "123456789";

impl SessionScreen {
    /// Gives the answer that a key stands for, if it may be given now.
    pub(super) fn answer_request(&mut self, action: KeyAction) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some(request) = current_request(&self.latest, &self.ui) else {
            return self.show_message("nothing is asked here");
        };
        let id = request.id;
        let Some(row) = answer_rows(request).into_iter().find(|row| row.action == action) else {
            return self.show_message("not one of the answers to this question");
        };
        if !self.is_ready_for_answer(id) || self.ui.card.sent {
            return ScreenEffect::Idle;
        }
        if let Some(why) = &row.unavailable {
            return self.show_message(why.clone());
        }
        if row.is_consequential() && !self.ui.card.seen && approval::is_plan_card(&request.kind) {
            return match action {
                KeyAction::YesWider => self.ask_unread_approval(id),
                _ => self.show_unseen_commands(),
            };
        }
        if row.is_consequential() && !self.ui.card.seen {
            let below = self.card.lines_below(self.ui.card.scroll);
            let key = self.keymap.key_hint(KeyAction::Down);
            let lines = format_counted(below, "more line");
            return self
                .show_message(format!("{lines}; scroll to the end to decide, {key} scrolls"));
        }
        self.give_answer(id, &row)
    }

    /// Goes to the page that begins with the first command that has not been on the screen. How many are left stands
    /// beside the key.
    fn show_unseen_commands(&mut self) -> ScreenEffect {
        let seen = &self.ui.card.seen_commands;
        let unseen =
            |row: &&crate::plan_text::PlanTextRow| row.has_commands() && !seen.contains(&row.id);
        let Some(id) = self.plan.text.iter().find(unseen).map(|row| row.id.clone()) else {
            return ScreenEffect::Idle;
        };
        self.ui.view.kind = crate::panes::plan::PlanView::Outline;
        self.ui.view.folded.clear();
        self.ui.view.folds += 1;
        self.ui.select_task(id.clone());
        match self.first_unseen_line(&id) {
            // A command that is longer than a page is read on where it was left.
            Some(line) => {
                self.ui.view.top = line;
                self.ui.graph.reveal = false;
            }
            // From below the end the window moves up only as far as that row: it is the first of its page.
            None => self.ui.view.top = usize::MAX / 2,
        }
        ScreenEffect::Draw
    }

    /// Asks whether commands that were not on the screen are approved as well: only a letter of its own says so.
    fn ask_unread_approval(&mut self, id: RequestId) -> ScreenEffect {
        let Some(request) = current_request(&self.latest, &self.ui) else {
            return ScreenEffect::Idle;
        };
        let narrow = answer_rows(request).into_iter().find(|row| row.action == KeyAction::Yes);
        let Some(choice) = narrow.and_then(|row| row.choices.first().copied()) else {
            return self.show_unseen_commands();
        };
        let unseen = approval::unseen_commands(&self.plan, &self.ui.card.seen_commands);
        let commands = format_counted(unseen, "command");
        let were = if unseen == 1 { "was" } else { "were" };
        let command = self.command_for_choice(id, choice);
        let what = "they run as the plan has them".to_owned();
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "approve unread".to_owned(),
            question: format!("Approve {commands} that {were} not on the screen?"),
            options: vec![dialog_option('u', "approve unread", what, command)],
            cursor: None,
            needs_letter: true,
        }));
        ScreenEffect::Draw
    }

    /// The line of the outline at which a command that was seen in part continues.
    fn first_unseen_line(&self, id: &TaskId) -> Option<usize> {
        let seen = &self.ui.card.seen_lines.1;
        let at = self.plan.rows.position(id)?;
        let part_of = |line: &OutlineLine| match *line {
            OutlineLine::Detail { row, kind: RowDetailKind::Command, part } if row == at => {
                Some(part)
            }
            _ => None,
        };
        let is_unseen = |part: usize| !seen.contains(&(id.clone(), part));
        let line = self.plan.lines.iter().position(|line| part_of(line).is_some_and(is_unseen))?;
        (part_of(&self.plan.lines[line]) > Some(0)).then_some(line)
    }

    /// Whether a plan is asked about whose commands were not all on the screen.
    pub(super) fn has_unseen_commands(&self) -> bool {
        let request = current_request(&self.latest, &self.ui);
        request.is_some_and(|request| approval::is_plan_card(&request.kind))
            && approval::unseen_commands(&self.plan, &self.ui.card.seen_commands) > 0
    }

    /// The failed task in the panel, once it was on the screen for a moment and nothing was sent about it yet.
    fn ready_failed_task(&self) -> Option<TaskId> {
        let task = approval::turned_to_failed(&self.latest, &self.ui)?;
        let settled = |at| duration_between(at, (self.clock)()) >= ANSWER_DELAY;
        let ready = self.ui.card.shown_at.is_some_and(settled) && !self.ui.card.sent;
        ready.then(|| task.clone())
    }

    /// Whether the open request offers the answer of a key, possible or not.
    pub(super) fn offers_answer(&self, action: KeyAction) -> bool {
        current_request(self.state(), &self.ui)
            .is_some_and(|request| answer_rows(request).iter().any(|row| row.action == action))
    }

    /// Sends what was chosen in a dialog; an answer that comes with words opens the box for them first, and a plan is
    /// discarded only after that was asked.
    pub(super) fn send_chosen(
        &mut self,
        command: Command,
        words: &str,
        asked: bool,
    ) -> ScreenEffect {
        if let Command::Answer { id, answer, .. } = &command
            && matches!(answer.action, ChoiceAction::Abandon | ChoiceAction::DiscardChanges)
            && !asked
        {
            return self.confirm_discard(*id, answer.action);
        }
        if let Command::Answer { id, answer, .. } = &command
            && takes_text(answer.action)
            && answer.text.is_none()
        {
            if answer.action != ChoiceAction::AllowAlways {
                return self.open_answer_box(*id, answer.action, words);
            }
            // Only the rule about a command can be anything but the offered one.
            let asked = current_request(&self.latest, &self.ui);
            let asked = asked.and_then(|asked| asked.asked_command()).map(str::to_owned);
            if let Some(asked) = asked {
                return self.open_rule_box(*id, &asked);
            }
        }
        self.send_command(command, words)
    }

    /// Retries the failed task in the panel; asks whether what depends on it runs again as well.
    pub(super) fn ask_retry_failed(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.ready_failed_task() {
            Some(task) if self.has_run_dependents(&task) => self.ask_retry_task(&task),
            Some(_) => self.retry_failed(false),
            None => ScreenEffect::Idle,
        }
    }

    /// Retries the failed task in the panel.
    pub(super) fn retry_failed(&mut self, with_dependents: bool) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some(task) = self.ready_failed_task() else { return ScreenEffect::Idle };
        let name = self.task_name(&task);
        let words = if with_dependents {
            format!("retry {name} and what depends on it")
        } else {
            format!("retry {name}")
        };
        self.ui.card.sent = true;
        self.send_command(Command::RetryTask { task, with_dependents }, words)
    }

    /// Asks how the failed task in the panel is skipped.
    pub(super) fn skip_failed(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.ready_failed_task() {
            Some(task) => self.ask_skip_task(&task),
            None => ScreenEffect::Idle,
        }
    }

    /// Whether this very request has been on the screen for a moment.
    fn is_ready_for_answer(&self, id: RequestId) -> bool {
        let shown = self.ui.card.shown_at.filter(|_| self.ui.card.request == Some(id));
        shown.is_some_and(|at| duration_between(at, (self.clock)()) >= ANSWER_DELAY)
    }

    fn give_answer(&mut self, id: RequestId, row: &AnswerRow) -> ScreenEffect {
        match row.choices[..] {
            [] => ScreenEffect::Idle,
            [action @ (ChoiceAction::Abandon | ChoiceAction::DiscardChanges)] => {
                self.confirm_discard(id, action)
            }
            _ if row.action == KeyAction::YesWider => self.open_choice_dialog(id, row),
            [ChoiceAction::PickOption(_), ..] if self.shows_versions() => self
                .open_versions(id, &row.choices)
                .unwrap_or_else(|| self.open_choice_dialog(id, row)),
            [choice] if takes_text(choice) => self.open_answer_box(id, choice, &row.label),
            [choice] => {
                let command = self.command_for_choice(id, choice);
                self.send_command(command, row.label.clone())
            }
            _ => self.open_choice_dialog(id, row),
        }
    }

    /// Whether the options of the open request are versions of the draft.
    fn shows_versions(&self) -> bool {
        current_request(&self.latest, &self.ui)
            .is_some_and(|request| approval::is_plan_card(&request.kind))
    }

    /// Asks before a plan or the changes of a task are discarded.
    fn confirm_discard(&mut self, id: RequestId, action: ChoiceAction) -> ScreenEffect {
        let command = answer_command(id, action);
        let back = self.keymap.key_hint(KeyAction::Undo);
        let (question, kept) = match action {
            ChoiceAction::DiscardChanges => {
                ("Discard these changes?", "they are deleted, and the task fails".to_owned())
            }
            _ => ("Discard this plan?", format!("it stays among your plans, {back} restores it")),
        };
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "discard".to_owned(),
            question: question.to_owned(),
            options: vec![dialog_option('x', "discard", kept, command)],
            cursor: None,
            needs_letter: true,
        }));
        ScreenEffect::Draw
    }

    /// The command that gives an answer. A plan that starts at a task starts at the selected one.
    fn command_for_choice(&self, id: RequestId, action: ChoiceAction) -> Command {
        let mut answer = Answer::from(action);
        match action {
            ChoiceAction::ApproveFromTask => answer.nodes.extend(self.ui.graph.selected.clone()),
            ChoiceAction::RaiseOnce | ChoiceAction::RaiseForGood => {
                answer.amount = self.ui.card.amount;
            }
            _ => {}
        }
        Command::Answer { id, answer, by: Actor::Person }
    }

    /// Asks which of several answers with one key is meant.
    fn open_choice_dialog(&mut self, id: RequestId, row: &AnswerRow) -> ScreenEffect {
        let Some(request) = current_request(&self.latest, &self.ui) else {
            return ScreenEffect::Idle;
        };
        let request = approval::with_chosen_amount(request, self.ui.card.amount);
        let offered = request.choices.iter().filter(|choice| row.choices.contains(&choice.action));
        let taken: Vec<char> = row.choices.iter().filter_map(|choice| sub_key(*choice)).collect();
        let mut free = KEYS.chars().filter(|key| !taken.contains(key));
        let options: Vec<DialogOption> = offered
            .filter_map(|choice| {
                let key = sub_key(choice.action).or_else(|| free.next())?;
                Some(dialog_option(
                    key,
                    &choice.label,
                    &choice.consequence,
                    self.command_for_choice(id, choice.action),
                ))
            })
            .collect();
        let question = request.question.clone();
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: row.label.clone(),
            question,
            options,
            cursor: None,
            // Another version of the plan is only shown; everything else takes effect.
            needs_letter: row.action != KeyAction::Options,
        }));
        ScreenEffect::Draw
    }

    /// Changes how far a limit would be raised. False if the open card is not about one.
    pub(super) fn step_amount(&mut self, up: bool) -> bool {
        let request = current_request(&self.latest, &self.ui);
        let chosen = self.ui.card.amount;
        let stepped = request.and_then(|request| approval::step_cap_amount(request, chosen, up));
        self.ui.card.amount = stepped.or(chosen);
        stepped.is_some()
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
        self.select_choice(choice);
    }

    /// Puts the cursor on an answer and brings it into view.
    fn select_choice(&mut self, choice: Option<usize>) {
        self.ui.card.choice = choice;
        if let Some(line) = choice.and_then(|at| self.card.choices.get(at)).copied() {
            let card = &mut self.ui.card;
            card.scroll = card.scroll.min(line).max((line + 1).saturating_sub(self.card.room));
        }
    }

    /// A click on an answer puts the cursor on it; only a key answers.
    pub(super) fn select_choice_at(&mut self, at: Position) {
        let Some(request) = current_request(self.state(), &self.ui).filter(|_| self.has_choices())
        else {
            return;
        };
        let count = self.card.lines.len();
        let revised = self.card.is_revised;
        let lines = ApprovalPane::card_areas(self.areas.approval, request, count, revised).lines;
        if lines.contains(at) {
            let line = usize::from(at.y - lines.y) + self.ui.card.scroll;
            let found = self.card.choices.iter().position(|known| *known == line);
            self.ui.card.choice = found.or(self.ui.card.choice);
        }
    }

    /// Whether the open request has answers to pick from, and one may be picked.
    pub(super) fn has_choices(&self) -> bool {
        let request =
            current_request(&self.latest, &self.ui).filter(|_| self.why_cannot_act().is_none());
        request.is_some_and(|request| !approval::card_answers(request).is_empty())
    }

    /// Answers with what is under the cursor, if something is.
    pub(super) fn answer_selected_choice(&mut self) -> Option<ScreenEffect> {
        let at = self.ui.card.choice.filter(|_| self.has_choices())?;
        let request = current_request(&self.latest, &self.ui)?;
        let picked = approval::card_answers(request).into_iter().nth(at)?;
        let id = request.id;
        if !self.is_ready_for_answer(id) || self.ui.card.sent {
            return Some(ScreenEffect::Idle);
        }
        let (answer, words) = match picked {
            CardAnswer::Words { key, text } => {
                let answers = [(key, text.clone())].into_iter().collect();
                (Answer { answers, ..Answer::from(ChoiceAction::Reply) }, text)
            }
            CardAnswer::Action(action) => (Answer::from(action), "your choice".to_owned()),
        };
        Some(self.send_command(Command::Answer { id, answer, by: Actor::Person }, words))
    }

    /// Shows or hides what the confidence of the request is made of.
    pub(super) fn toggle_terms(&mut self) -> ScreenEffect {
        let judged = current_request(self.state(), &self.ui)
            .is_some_and(|request| approval::request_judgment(request, self.state()).is_some());
        if !judged {
            return self.show_message("nothing was judged for this request");
        }
        self.ui.card.terms = !self.ui.card.terms;
        self.ui.card.reveal = self.ui.card.terms;
        ScreenEffect::Draw
    }

    /// The next or previous card: the open requests, then the failed tasks.
    pub(super) fn cycle_request(&mut self, forward: bool) -> ScreenEffect {
        let state = self.state();
        let requests = state.requests.open.keys().map(|id| (Some(*id), None));
        let failed = approval::failed_tasks(state).map(|task| (None, Some(task.clone())));
        let mut cards: Vec<(Option<RequestId>, Option<TaskId>)> = requests.chain(failed).collect();
        if cards.is_empty() {
            return ScreenEffect::Idle;
        }
        let request = current_request(state, &self.ui).map(|request| request.id);
        let task = approval::shown_failed_task(state, &self.ui).filter(|_| request.is_none());
        let at = cards.iter().position(|(id, failed)| *id == request && failed.as_ref() == task);
        let at = at.unwrap_or(0);
        let next = if forward { at + 1 } else { at + cards.len() - 1 } % cards.len();
        let (request, failed) = cards.swap_remove(next);
        // The plan shows what the card is about.
        if let Some(task) = &failed {
            self.ui.select_task(task.clone());
        }
        self.ui.card = CardUi { request, failed, ..CardUi::default() };
        ScreenEffect::Draw
    }
}

fn answer_command(id: RequestId, action: ChoiceAction) -> Command {
    Command::Answer { id, answer: Answer::from(action), by: Actor::Person }
}
