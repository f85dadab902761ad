//! What can be done with tasks from home: done, skip, another time, a note, and undoing it.

use crossterm::event::{KeyCode, KeyEvent};

use super::{HomeCover, HomeFocus, HomeScreen, TaskInput, TodayItem};
use crate::overlays::{TaskCard, TaskCardOutcome};
use crate::session::{ExternalAction, ScreenEffect};
use crate::widgets::{NOT_A_TIME, TextField, WhenInput};
use crate::{HomeExit, HomeRequest};
use planwright_model::event::Command;
use planwright_model::{Actor, SessionId, TaskId};

/// What is said once a task is where it was.
const MOVED_BACK: &str = "Moved back";
/// How many things can be undone.
const UNDO: usize = 32;

impl HomeScreen {
    pub(super) fn say(&mut self, text: impl Into<String>) -> ScreenEffect {
        self.message = Some(text.into());
        ScreenEffect::Draw
    }

    pub(super) fn remember_undo(&mut self, session: SessionId, command: Command, words: String) {
        if self.undo.len() >= UNDO {
            self.undo.remove(0);
        }
        self.undo.push((HomeRequest::Command { session, command }, words));
    }

    pub(super) fn undo_last(&mut self) -> ScreenEffect {
        match self.undo.pop() {
            Some((request, words)) => {
                // The cursor goes back to the task that it is about.
                if let HomeRequest::Command { session, command: Command::ReopenTask { task, .. } } =
                    &request
                {
                    let same =
                        |item: &TodayItem| item.session == *session && item.due.task == *task;
                    self.today_at =
                        self.agenda.items.iter().position(same).unwrap_or(self.today_at);
                }
                let effect = self.send_request(request);
                self.message.get_or_insert(words);
                effect
            }
            None => self.say("Nothing to undo here. Changes of a plan are undone in the plan."),
        }
    }

    /// Opens the card of a task of one of the plans.
    pub(super) fn open_card(
        &mut self,
        session: SessionId,
        task: TaskId,
        occurrence: Option<u32>,
    ) -> ScreenEffect {
        let mut card = Box::new(TaskCard::new(task, occurrence));
        let open = self.view.open.iter().find(|open| open.id == session);
        if let Some(failure) = open.and_then(|open| open.failures.get(&card.task)) {
            card.output.clone_from(&failure.tail);
        }
        card.unsent =
            self.card_texts.get(&(session.clone(), card.task.clone())).cloned().unwrap_or_default();
        self.cover = Some(HomeCover::Task { session, card });
        ScreenEffect::Draw
    }

    pub(super) fn on_card_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let Some(HomeCover::Task { session, mut card }) = self.cover.take() else {
            return ScreenEffect::Idle;
        };
        let Some(state) = self.open_state(&session) else { return ScreenEffect::Draw };
        let outcome = card.on_key(event, &self.card_context(state));
        self.card_texts.insert((session.clone(), card.task.clone()), card.unsent.clone());
        match outcome {
            TaskCardOutcome::Close => return ScreenEffect::Draw,
            TaskCardOutcome::GoTo(task) => return self.open_card(session, task, None),
            TaskCardOutcome::Stay => {}
            TaskCardOutcome::Copy(text) => {
                self.outside = Some(ExternalAction::Copy { text });
                card.message = Some("Copied, if this terminal has a clipboard".to_owned());
            }
            TaskCardOutcome::Send { command, words } => {
                self.note_undo(&session, &command);
                let effect = self.send_command(session.clone(), command);
                card.message = Some(format!("Saving: {words}"));
                self.cover = Some(HomeCover::Task { session, card });
                return effect;
            }
            // What changes the plan happens in the plan.
            TaskCardOutcome::Run(_) => return self.exit_with(HomeExit::Open(session)),
        }
        self.cover = Some(HomeCover::Task { session, card });
        ScreenEffect::Draw
    }

    /// Keeps what undoes a command.
    fn note_undo(&mut self, session: &SessionId, command: &Command) {
        let (back, words) = match command {
            Command::MarkTask { task, occurrence, .. } => (
                Command::ReopenTask {
                    task: task.clone(),
                    occurrence: *occurrence,
                    by: Actor::Person,
                },
                "Open again",
            ),
            Command::MoveBlock { .. } => (Command::Undo, MOVED_BACK),
            _ => return,
        };
        self.remember_undo(session.clone(), back, words.to_owned());
    }

    /// The item of today under the cursor, or why there is none to act on.
    fn item_to_act_on(&self) -> Result<TodayItem, String> {
        let Some(item) = self.selected_item() else {
            return Err("Nothing planned today".to_owned());
        };
        if !item.due.yours {
            return Err("This task is not yours. Enter opens it.".to_owned());
        }
        Ok(item.clone())
    }

    /// Marks the item under the cursor done or skipped, and goes to the next one.
    pub(super) fn mark_item(&mut self, done: bool) -> ScreenEffect {
        let item = match self.item_to_act_on() {
            Ok(item) => item,
            Err(why) => return self.say(why),
        };
        if item.due.status.is_settled() {
            let status = item.due.status.label();
            return self.say(format!("This task is {status} already. u undoes it."));
        }
        if done && let Some(first) = self.first_unmet(&item) {
            return self.say(format!("d: first comes {first}"));
        }
        let command = Command::MarkTask {
            task: item.due.task.clone(),
            occurrence: item.due.occurrence,
            done,
            note: None,
            by: Actor::Person,
        };
        self.note_undo(&item.session, &command);
        let effect = self.send_command(item.session, command);
        self.move_to_next_open_item();
        effect
    }

    /// The title of what has to be done before an item.
    fn first_unmet(&self, item: &TodayItem) -> Option<String> {
        let state = self.open_state(&item.session)?;
        let task = state.tasks.position(&item.due.task)?;
        let unmet = state.unmet_dependencies(task, item.due.occurrence);
        unmet.first().map(|task| state.task_title(*task).to_owned())
    }

    fn move_to_next_open_item(&mut self) {
        let open = |at: &usize| !self.agenda.items[*at].due.status.is_settled();
        let after = self.today_at + 1..self.agenda.items.len();
        if let Some(next) = after.into_iter().find(open) {
            self.today_at = next;
        }
    }

    /// Opens the line for another time of the item under the cursor.
    pub(super) fn ask_when(&mut self) -> ScreenEffect {
        let item = match self.item_to_act_on() {
            Ok(item) => item,
            Err(why) => return self.say(why),
        };
        let Some(block) = item.due.block.clone() else {
            return self.say("w: this task has no planned time");
        };
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        let (session, task) = (item.session.clone(), item.due.task.clone());
        let kept = self.card_texts.get(&(item.session.clone(), item.due.task.clone()));
        let input = WhenInput::new(&item.due.start.to_zoned(self.time_zone.clone()), today)
            .with_text(kept.map_or("", |kept| &kept.when));
        self.task_input = TaskInput::When { session, task, block, input };
        self.set_focus(HomeFocus::When);
        ScreenEffect::Draw
    }

    pub(super) fn ask_note(&mut self) -> ScreenEffect {
        let Some(item) = self.selected_item().cloned() else {
            return self.say("Nothing planned today");
        };
        let (session, task) = (item.session, item.due.task);
        let kept = self.card_texts.get(&(session.clone(), task.clone()));
        let field = TextField::new(kept.map_or("", |kept| &kept.note));
        self.task_input = TaskInput::Note { session, task, field };
        self.set_focus(HomeFocus::Note);
        ScreenEffect::Draw
    }

    pub(super) fn on_task_input_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        match (event.code, &mut self.task_input) {
            (KeyCode::Esc, _) => {
                self.keep_task_input();
                self.set_focus(HomeFocus::Today);
            }
            (KeyCode::Enter, _) => return self.send_task_input(),
            (_, TaskInput::When { input, .. }) => input.on_key(event),
            (_, TaskInput::Note { field, .. }) => {
                field.on_key(event);
            }
            (_, TaskInput::None) => self.set_focus(HomeFocus::Today),
        }
        ScreenEffect::Draw
    }

    /// Closes the line and keeps what was typed in it.
    fn keep_task_input(&mut self) {
        match std::mem::replace(&mut self.task_input, TaskInput::None) {
            TaskInput::When { session, task, input, .. } => {
                let kept = self.card_texts.entry((session, task)).or_default();
                input.typed().clone_into(&mut kept.when);
            }
            TaskInput::Note { session, task, field } => {
                let kept = self.card_texts.entry((session, task)).or_default();
                field.text().trim().clone_into(&mut kept.note);
            }
            TaskInput::None => {}
        }
    }

    fn send_task_input(&mut self) -> ScreenEffect {
        match std::mem::replace(&mut self.task_input, TaskInput::None) {
            TaskInput::When { session, task, block, input } => {
                let now = (self.clock)().to_zoned(self.time_zone.clone());
                let Some(to) = input.read(&now) else {
                    self.task_input = TaskInput::When { session, task, block, input };
                    return self.say(NOT_A_TIME);
                };
                self.card_texts.entry((session.clone(), task)).or_default().when.clear();
                self.remember_undo(session.clone(), Command::Undo, MOVED_BACK.to_owned());
                self.set_focus(HomeFocus::Today);
                self.send_command(session, Command::MoveBlock { block, to })
            }
            TaskInput::Note { session, task, field } => {
                let text = field.text().trim().to_owned();
                self.card_texts.entry((session.clone(), task.clone())).or_default().note.clear();
                self.set_focus(HomeFocus::Today);
                if text.is_empty() {
                    return ScreenEffect::Draw;
                }
                let command = Command::NoteTask { task, text, by: Actor::Person };
                self.send_command(session, command)
            }
            TaskInput::None => ScreenEffect::Draw,
        }
    }
}
