//! What waits for the person: worked out before a frame, opened one after the other.

use super::external_actions::ExternalAction;
use super::{ScreenEffect, SessionScreen};
use crate::SessionTarget;
use crate::panes::approval;
use crate::panes::finished::finished_lines;
use crate::panes::graph::title_of;
use crate::panes::needs_you::{MOST_ROWS, NeedItem};
use crate::theme::ThemeRole;
use crate::ui_state::{CardUi, PaneFocus};
use crate::widgets::format_counted;
use planwright_model::TaskId;
use planwright_model::event::Command;
use planwright_state::replay::RecordSourceError;
use planwright_state::{RunPhase, TaskStatus};
use planwright_text::clean_line;

impl SessionScreen {
    /// Works out what waits, and reads the causes of the failures that are on the screen.
    pub(super) fn update_needs(&mut self) -> Result<(), RecordSourceError> {
        let now = self.shown_time();
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        self.needs.update(state, now);
        let shown = self.needs.items.iter().take(MOST_ROWS).filter_map(|item| match item {
            NeedItem::Failure(task) => Some(state.tasks.id(*task).clone()),
            NeedItem::Request(_) | NeedItem::Yours(_) => None,
        });
        let card = approval::shown_failed_task(state, &self.ui).cloned();
        for task in shown.chain(card).collect::<Vec<_>>() {
            self.tails.load(&task, state, &self.timeline, &mut self.history)?;
        }
        Ok(())
    }

    /// Opens the next thing that waits: the card of a failure or a question, or a task of the person's.
    pub(super) fn open_next_need(&mut self, forward: bool) -> ScreenEffect {
        let now = self.shown_time();
        self.needs.update(self.shown.as_deref().unwrap_or(&self.latest), now);
        let items = &self.needs.items;
        let Some(last) = items.len().checked_sub(1) else {
            return self.show_message("Nothing needs you.");
        };
        let open = items.iter().position(|item| self.is_open(*item));
        let next = match (open, forward) {
            (Some(at), true) => (at + 1) % items.len(),
            (Some(at), false) => (at + last) % items.len(),
            (None, true) => 0,
            (None, false) => last,
        };
        self.open_need(items[next])
    }

    fn is_open(&self, item: NeedItem) -> bool {
        let card = self.ui.focus == PaneFocus::Approval;
        match item {
            NeedItem::Failure(task) => {
                let id = self.state().tasks.id(task);
                card && self.ui.card.failed.as_ref() == Some(id)
            }
            NeedItem::Request(id) => {
                let shown = approval::current_request(self.state(), &self.ui);
                card && shown.is_some_and(|request| request.id == id)
            }
            NeedItem::Yours(task) => {
                !card && self.ui.graph.selected.as_ref() == Some(self.state().tasks.id(task))
            }
        }
    }

    /// Selects what the person chose before the session was opened.
    pub(super) fn open_target(&mut self, target: &SessionTarget) {
        let state = self.state();
        let item = match target {
            SessionTarget::Request(id) => {
                state.requests.open.contains_key(id).then_some(NeedItem::Request(*id))
            }
            SessionTarget::Task(id) => state.tasks.position(id).map(|task| {
                let failed = state.tasks.row(task).status == TaskStatus::Failed;
                if failed { NeedItem::Failure(task) } else { NeedItem::Yours(task) }
            }),
        };
        // A plan is read before it is answered: its card leaves the keys to the plan above it.
        if let Some(item) = item
            && !matches!(item, NeedItem::Request(_) if self.ui.focus == PaneFocus::Graph)
        {
            self.open_need(item);
        }
    }

    fn open_need(&mut self, item: NeedItem) -> ScreenEffect {
        self.ui.full_screen = false;
        match item {
            NeedItem::Failure(task) => {
                let id = self.state().tasks.id(task).clone();
                self.ui.select_task(id.clone());
                self.ui.card = CardUi { failed: Some(id), ..CardUi::default() };
                self.ui.focus = PaneFocus::Approval;
            }
            NeedItem::Request(id) => {
                self.ui.card = CardUi { request: Some(id), ..CardUi::default() };
                self.ui.focus = PaneFocus::Approval;
            }
            NeedItem::Yours(task) => {
                let id = self.state().tasks.id(task).clone();
                self.ui.focus = PaneFocus::Graph;
                self.ui.select_task(id.clone());
                return self.open_task_card(id);
            }
        }
        ScreenEffect::Draw
    }

    /// Opens the card of a failed task and selects the task.
    pub(super) fn open_failure(&mut self, task: &TaskId) -> ScreenEffect {
        match self.state().tasks.position(task) {
            Some(task) => self.open_need(NeedItem::Failure(task)),
            None => ScreenEffect::Draw,
        }
    }

    /// Retries everything that failed.
    pub(super) fn retry_all_failed(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let failed: Vec<TaskId> = approval::failed_tasks(&self.latest).cloned().collect();
        if failed.is_empty() {
            return self.show_message("R: nothing failed");
        }
        let words = format!("retry {}", format_counted(failed.len(), "failed task"));
        self.ui.finished_open = false;
        self.ui.focus = PaneFocus::Graph;
        let mut effect = ScreenEffect::Draw;
        for task in failed {
            let command = Command::RetryTask { task, with_dependents: false };
            effect = self.send_command(command, words.clone());
        }
        effect
    }

    /// The end of a run takes the panel, unless the person is typing or looks at something else there.
    pub(super) fn show_finished(&mut self) {
        self.ui.finished_open = true;
        let free = self.ui.overlay.is_none() && self.ui.composer.is_none();
        if free && self.ui.focus != PaneFocus::Output {
            self.ui.card = CardUi::default();
            self.ui.focus = PaneFocus::Approval;
            self.ui.full_screen = false;
            // The graph shows what the card is about.
            if let Some(task) = approval::failed_tasks(&self.latest).next().cloned() {
                self.ui.select_task(task);
                self.ui.graph.center = true;
            }
        }
    }

    /// The lines of the end of a run for the shell; nothing if none ended.
    pub(super) fn finished_text(&self) -> String {
        if !matches!(self.latest.run.phase, RunPhase::Finished { .. }) || self.commands.is_none() {
            return String::new();
        }
        let lines = finished_lines(self.finished_source(), 96);
        let text = |line: Vec<(String, ThemeRole)>| -> String {
            let line: String = line.into_iter().map(|(piece, _)| piece).collect();
            format!("  {}", line.trim_end())
        };
        let lines: Vec<String> =
            lines.into_iter().filter(|line| !line.is_empty()).map(text).collect();
        lines.join("\n")
    }

    /// Copies the cause of the failure on the card and its last lines.
    pub(super) fn copy_failed(&mut self) -> ScreenEffect {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let Some(task) = approval::shown_failed_task(state, &self.ui) else {
            return self.show_message("no task failed");
        };
        let title = state.tasks.position(task).map_or("", |task| title_of(state, task)).to_owned();
        let Some(tail) = self.tails.get(task, state, &self.timeline) else {
            return self.show_message("nothing was written");
        };
        let mut text = format!("{title} failed: {}\n", tail.cause.line);
        for (_, line) in &tail.lines {
            text.push_str(&clean_line(line));
            text.push('\n');
        }
        self.request_external_action(ExternalAction::Copy { text });
        self.show_message("Copied, if this terminal has a clipboard")
    }
}
