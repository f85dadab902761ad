//! The card of a task over the session screen.

use crossterm::event::KeyEvent;

use super::{ExternalAction, ScreenEffect, SessionScreen};
use crate::overlays::{CardContext, Overlay, TaskCard, TaskCardOutcome};
use planwright_model::event::{Command, Event};
use planwright_model::{Actor, TaskId};
use planwright_state::TaskStatus;
use planwright_state::replay::RecordSourceError;

/// How many lines of output a card shows, and how many steps back they are looked for.
const OUTPUT_LINES: usize = 5;
const OUTPUT_STEPS: usize = 400;

impl SessionScreen {
    /// Opens the card of a task.
    pub(super) fn open_task_card(&mut self, task: TaskId) -> ScreenEffect {
        // Of a repeating task the card is about the first time that is still open.
        let open = self.state().open_occurrences(&task).first().copied();
        let mut card = TaskCard::new(task, open);
        card.output = self.last_output(&card.task).unwrap_or_default();
        card.cause = self.failure_cause(&card.task);
        card.unsent = self.ui.card_texts.remove(&card.task).unwrap_or_default();
        self.ui.overlay = Some(Overlay::Task(Box::new(card)));
        ScreenEffect::Draw
    }

    /// What made a task fail, read from its output; `None` if it did not fail or nothing more is known than was recorded.
    fn failure_cause(&mut self, task: &TaskId) -> Option<String> {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        state.tasks.get(task).and_then(|row| row.failure.as_ref())?;
        // Without the output the recorded message stands in the card.
        self.tails.load(task, state, &self.timeline, &mut self.history).ok()?;
        self.tails.get(task, state, &self.timeline).map(|tail| tail.cause.short.clone())
    }

    /// The last lines that a task printed, up to the moment that is shown.
    fn last_output(&mut self, task: &TaskId) -> Result<Vec<String>, RecordSourceError> {
        let end = self.timeline.steps_up_to(self.state().seq);
        let seqs: Vec<_> = (end.saturating_sub(OUTPUT_STEPS)..end)
            .rev()
            .filter_map(|index| self.timeline.step_at(index))
            .filter(|step| self.timeline.is_about(step, task))
            .map(|step| step.seq)
            .collect();
        let mut lines: Vec<String> = Vec::new();
        for seq in seqs {
            let Some(record) = self.history.record_at(seq)? else { continue };
            if let Event::Call(event) = &record.event
                && let Some((_, text)) = event.printed_text()
            {
                let printed = text.lines().rev().filter(|line| !line.trim().is_empty());
                lines.extend(printed.map(str::to_owned).take(OUTPUT_LINES - lines.len()));
            }
            if lines.len() >= OUTPUT_LINES {
                break;
            }
        }
        lines.reverse();
        Ok(lines)
    }

    fn task_card_context(&self) -> CardContext<'_> {
        CardContext {
            state: self.state(),
            keymap: &self.keymap,
            palette: &self.palette,
            now: self.shown_time(),
            zone: &self.time_zone,
            can_act: self.why_cannot_act().is_none(),
        }
    }

    pub(super) fn on_task_card_key(
        &mut self,
        mut card: Box<TaskCard>,
        event: &KeyEvent,
    ) -> Result<ScreenEffect, RecordSourceError> {
        let outcome = card.on_key(event, &self.task_card_context());
        match outcome {
            TaskCardOutcome::Close => {
                self.keep_card_text(*card);
                return Ok(ScreenEffect::Draw);
            }
            TaskCardOutcome::GoTo(task) => {
                self.keep_card_text(*card);
                return Ok(self.open_failure(&task));
            }
            TaskCardOutcome::Stay => {}
            TaskCardOutcome::Copy(text) => {
                self.request_external_action(ExternalAction::Copy { text });
                card.message = Some("Copied, if this terminal has a clipboard".to_owned());
            }
            TaskCardOutcome::Send { command, words } => {
                self.ui.overlay = Some(Overlay::Task(card));
                return Ok(self.send_task_command(command, words));
            }
            TaskCardOutcome::Run(action) => {
                self.ui.select_task(card.task.clone());
                self.keep_card_text(*card);
                return self.perform_action(action);
            }
        }
        self.ui.overlay = Some(Overlay::Task(card));
        Ok(ScreenEffect::Draw)
    }

    /// Keeps what was typed in a card that closes.
    fn keep_card_text(&mut self, card: TaskCard) {
        if !card.unsent.is_empty() {
            self.ui.card_texts.insert(card.task, card.unsent);
        }
    }

    /// Sends a command about a task and keeps what undoes it.
    fn send_task_command(&mut self, command: Command, words: String) -> ScreenEffect {
        if let Command::MarkTask { task, occurrence, .. } = &command {
            self.ui.marked_task = Some((task.clone(), *occurrence));
        }
        self.send_command(command, words)
    }

    /// Marks a task done, or says why that is not possible.
    pub(super) fn mark_task_done(&mut self, task: TaskId) -> ScreenEffect {
        let open = self.state().open_occurrences(&task).first().copied();
        let mut card = TaskCard::new(task, open);
        match card.mark_done(&self.task_card_context()) {
            TaskCardOutcome::Send { command, words } => self.send_task_command(command, words),
            _ => self.show_message(card.message.unwrap_or_default()),
        }
    }

    /// Opens the card of a task where another time for it is typed, or says why it has none.
    pub(super) fn ask_task_time(&mut self, task: TaskId) -> ScreenEffect {
        self.open_task_card(task);
        let Some(Overlay::Task(mut card)) = self.ui.overlay.take() else {
            return ScreenEffect::Draw;
        };
        card.ask_when(&self.task_card_context());
        if let Some(why) = card.message.take() {
            return self.show_message(why);
        }
        self.ui.overlay = Some(Overlay::Task(card));
        ScreenEffect::Draw
    }

    /// Opens the task again that was marked last, if it is still as it was left.
    pub(super) fn undo_marked_task(&mut self) -> Option<ScreenEffect> {
        let (task, occurrence) = self.ui.marked_task.take()?;
        let row = self.latest.tasks.get(&task)?;
        let settled = match occurrence {
            Some(time) => row.occurrences.contains_key(&time),
            None => matches!(row.status, TaskStatus::Done | TaskStatus::Skipped(_)),
        };
        if !settled {
            return None;
        }
        let command = Command::ReopenTask { task, occurrence, by: Actor::Person };
        Some(self.send_command(command, "open again"))
    }
}
