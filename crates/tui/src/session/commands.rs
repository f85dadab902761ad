//! What the person requests for, as commands. Refusals come back as events.

use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;

use super::{ScreenEffect, SessionScreen};
use crate::clock::{add_duration, duration_between};
use crate::keymap::KeyAction;
use crate::overlays::{ChoiceDialog, DialogOption, InputDialog, InputPurpose, Overlay};
use crate::pane_context::SessionViewMode;
use crate::panes::running;
use crate::ui_state::PaneFocus;
use crate::widgets::format_counted;
use planwright_model::event::Command;
use planwright_model::{Actor, TaskId};
use planwright_state::{RunPhase, TaskStatus};
use planwright_text::clean_line;

/// How long a line for the person stays if no key is pressed.
const MESSAGE_TIME: Duration = Duration::from_secs(4);

impl SessionScreen {
    /// Says one line to the person, for a moment.
    pub(super) fn show_message(&mut self, message: impl Into<String>) -> ScreenEffect {
        self.ui.message = Some(message.into());
        self.ui.message_until = Some(add_duration((self.clock)(), MESSAGE_TIME));
        ScreenEffect::Draw
    }

    /// How long the line stays, where it goes by itself.
    pub(crate) fn message_time_left(&self) -> Option<Duration> {
        let until = self.ui.message_until.filter(|_| self.ui.message.is_some())?;
        Some(duration_between((self.clock)(), until))
    }

    /// Takes the line away once its time is over; says whether it did.
    pub(super) fn expire_message(&mut self) -> bool {
        let over = self.message_time_left() == Some(Duration::ZERO);
        if over {
            self.ui.message = None;
            self.ui.message_until = None;
        }
        over
    }

    /// Why nothing can be done here, if so.
    pub(super) fn why_cannot_act(&self) -> Option<String> {
        match self.mode() {
            SessionViewMode::Saved if self.cursor_seq() == self.head && self.resumes() => {
                self.resume_advice()
            }
            SessionViewMode::Saved => Some(format!(
                "This is the past. {} forks here.",
                self.keymap.key_hint(KeyAction::Fork)
            )),
            SessionViewMode::ScrubbedBack => Some(format!(
                "This is the past. {} returns to live, {} forks here.",
                self.keymap.key_hint(KeyAction::Live),
                self.keymap.key_hint(KeyAction::Fork)
            )),
            SessionViewMode::Live | SessionViewMode::Paused if self.commands.is_none() => {
                Some("Another terminal controls this run. You can watch it here.".to_owned())
            }
            SessionViewMode::Live | SessionViewMode::Paused => None,
        }
    }

    /// Whether a run that nobody works on has something left to do.
    fn resumes(&self) -> bool {
        let finished = matches!(self.latest.run.phase, RunPhase::Finished { success: true });
        self.latest.is_runnable() && self.latest.run.phase != RunPhase::Idle && !finished
    }

    /// How a run goes on that its process has left.
    pub(super) fn resume_advice(&self) -> Option<String> {
        let failed = self.latest.tasks.has_failures();
        let retry = if failed { " --retry failed" } else { "" };
        let id = self.id.short_id();
        self.resumes().then(|| format!("Nothing is running: planwright resume {id}{retry}"))
    }

    /// Sends a command and says so until the journal answers.
    pub(super) fn send_command(
        &mut self,
        command: Command,
        words: impl Into<String>,
    ) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some(commands) = &self.commands else { return ScreenEffect::Idle };
        let answers = matches!(command, Command::Answer { .. });
        // What was marked done is undone first only as long as nothing else was changed after it.
        if changes_plan(&command) {
            self.ui.marked_task = None;
        }
        match commands.try_send(command) {
            Ok(()) => {
                self.ui.sent = Some(words.into());
                self.ui.card.sent |= answers;
            }
            Err(TrySendError::Full(_)) => {
                return self.show_message("the session is busy, press it again");
            }
            Err(TrySendError::Closed(_)) => return self.show_message("the session has ended"),
        }
        ScreenEffect::Draw
    }

    /// Pauses the run, lets it go on, or starts what is approved.
    pub(super) fn pause_or_resume(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        self.leaves_when_idle = false;
        match self.latest.run.phase {
            RunPhase::Running => self.send_command(Command::Pause, "pause"),
            RunPhase::Paused => self.send_command(Command::Continue, "go on"),
            RunPhase::Idle if self.latest.is_runnable() => {
                self.send_command(Command::Run { by: Actor::Person }, "run it")
            }
            RunPhase::Interrupted if self.latest.is_runnable() => {
                self.send_command(Command::Run { by: Actor::Person }, "go on")
            }
            RunPhase::Idle | RunPhase::Interrupted => {
                self.show_message("the plan has not been approved")
            }
            RunPhase::Finished { .. } => self.show_message("the run has ended"),
        }
    }

    /// Asks how many tasks may run at once.
    pub(super) fn open_jobs_dialog(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        if !self.latest.run.is_active() {
            return self.show_message("nothing runs now; --jobs sets it for the next run");
        }
        self.ui.overlay = Some(Overlay::Input(Box::new(InputDialog::new(InputPurpose::Jobs))));
        ScreenEffect::Draw
    }

    pub(super) fn set_jobs(&mut self, text: &str) -> ScreenEffect {
        if text.trim().eq_ignore_ascii_case("auto") {
            return self.send_command(Command::AdaptJobs, "as many at once as the machine bears");
        }
        match text.trim().parse() {
            Ok(jobs @ 1..=64) => {
                let words = format!("up to {jobs} at once");
                self.send_command(Command::SetJobs { jobs }, words)
            }
            _ if text.trim().is_empty() => ScreenEffect::Draw,
            _ => self.show_message("a number from 1 to 64 is needed, or auto"),
        }
    }

    /// The task that has the focus, in the graph or among those that run, and its status.
    fn selected_task(&self) -> Option<(TaskId, TaskStatus)> {
        let id = match self.ui.focus {
            PaneFocus::Running => running::selected_active_task(&self.latest, &self.ui)
                .map(|task| self.latest.tasks.id(task).clone())?,
            _ => self.ui.graph.selected.clone()?,
        };
        let status = self.latest.tasks.get(&id)?.status;
        Some((id, status))
    }

    /// What people call a task.
    pub(super) fn task_name(&self, task: &TaskId) -> String {
        clean_line(self.latest.title_by_id(task)).into_owned()
    }

    fn refuse_in_state(&mut self, task: &TaskId, status: TaskStatus, verb: &str) -> ScreenEffect {
        let name = self.task_name(task);
        self.show_message(format!("{name} is {}, there is nothing to {verb}", status.label()))
    }

    /// What a retry of the selected task runs again: of one that was skipped for a failure, that failure.
    fn retry_target(&self) -> Option<(TaskId, TaskStatus)> {
        let (task, status) = self.selected_task()?;
        let tasks = &self.latest.tasks;
        let root = match status {
            TaskStatus::Skipped(_) => self.latest.failure_behind(tasks.position(&task)?),
            _ => None,
        };
        Some(root.map_or((task, status), |root| (tasks.id(root).clone(), TaskStatus::Failed)))
    }

    pub(super) fn retry_selected(&mut self, with_dependents: bool) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.retry_target() {
            Some((task, TaskStatus::Failed | TaskStatus::Skipped(_) | TaskStatus::Done))
                if with_dependents =>
            {
                let words = format!("retry {} and what depends on it", self.task_name(&task));
                self.send_command(Command::RetryTask { task, with_dependents }, words)
            }
            Some((task, TaskStatus::Failed | TaskStatus::Skipped(_))) => {
                let words = format!("retry {}", self.task_name(&task));
                self.send_command(Command::RetryTask { task, with_dependents }, words)
            }
            Some((task, status)) => self.refuse_in_state(&task, status, "retry"),
            None => self.show_message("no task is selected"),
        }
    }

    /// Retries the selected task; asks whether what depends on it runs again as well.
    pub(super) fn ask_retry_selected(&mut self) -> ScreenEffect {
        match self.retry_target() {
            Some((task, TaskStatus::Failed | TaskStatus::Skipped(_)))
                if self.why_cannot_act().is_none() && self.has_run_dependents(&task) =>
            {
                self.ask_retry_task(&task)
            }
            _ => self.retry_selected(false),
        }
    }

    /// Whether a task that depends on this one has run, so that a retry may mean it too.
    pub(super) fn has_run_dependents(&self, task: &TaskId) -> bool {
        let tasks = &self.latest.tasks;
        let dependents = tasks.position(task).map(|task| tasks.descendants(task));
        let has_run =
            |task: &usize| matches!(tasks.row(*task).status, TaskStatus::Done | TaskStatus::Failed);
        dependents.iter().flatten().any(has_run)
    }

    pub(super) fn ask_retry_task(&mut self, task: &TaskId) -> ScreenEffect {
        let retry = |with_dependents| Command::RetryTask { task: task.clone(), with_dependents };
        let tasks = &self.latest.tasks;
        let dependents = tasks.position(task).map(|task| tasks.descendants(task));
        let count = dependents.map_or(0, |dependents| dependents.len());
        let all = format_counted(count, "task");
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "retry".to_owned(),
            question: format!("Retry {} only, or what depends on it too?", self.task_name(task)),
            options: vec![
                dialog_option('a', "this task only", "what is done stays done", retry(false)),
                dialog_option(
                    'd',
                    "what depends on it too",
                    format!("{all} run again"),
                    retry(true),
                ),
            ],
            cursor: None,
            needs_letter: false,
        }));
        ScreenEffect::Draw
    }

    /// Skips the selected task; asks whether its dependents go with it where there are any.
    pub(super) fn skip_selected(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some((task, status)) = self.selected_task() else {
            return self.show_message("no task is selected");
        };
        if matches!(status, TaskStatus::Done | TaskStatus::Skipped(_)) {
            return self.refuse_in_state(&task, status, "skip");
        }
        self.ask_skip_task(&task)
    }

    /// Asks whether what needs a task goes with it.
    pub(super) fn ask_skip_task(&mut self, task: &TaskId) -> ScreenEffect {
        let alone = Command::SkipTask { task: task.clone(), with_dependents: false };
        let dependents =
            self.latest.tasks.position(task).map(|task| self.latest.tasks.descendants(task));
        let names: Vec<String> = dependents
            .iter()
            .flatten()
            .map(|task| self.task_name(self.latest.tasks.id(*task)))
            .collect();
        let all = Command::SkipTask { task: task.clone(), with_dependents: true };
        let mut options =
            vec![dialog_option('a', "skip it alone", "what needs it continues without it", alone)];
        if !names.is_empty() {
            let consequence = match names.as_slice() {
                [one] => format!("{one} is skipped as well"),
                [one, other] => format!("{one} and {other} are skipped as well"),
                more => format!("{} are skipped as well", format_counted(more.len(), "task")),
            };
            options.push(dialog_option('d', "skip what needs it too", consequence, all));
        }
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "skip".to_owned(),
            question: format!("Continue without {}?", self.task_name(task)),
            options,
            cursor: None,
            needs_letter: false,
        }));
        ScreenEffect::Draw
    }

    /// Asks whether to end the selected task, which cannot be taken back.
    pub(super) fn ask_stop_task(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some((task, status)) = self.selected_task() else {
            return self.show_message("no task is selected");
        };
        if !self.latest.run.is_active() {
            return self.show_message("nothing runs now, there is nothing to stop");
        }
        if status != TaskStatus::Running {
            return self.refuse_in_state(&task, status, "stop");
        }
        let command = Command::CancelTask { task: task.clone() };
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "stop".to_owned(),
            question: format!("Stop {} while it runs?", self.task_name(&task)),
            options: vec![dialog_option(
                'y',
                "stop it",
                "it counts as failed and can be retried",
                command,
            )],
            cursor: None,
            needs_letter: false,
        }));
        ScreenEffect::Draw
    }

    /// Marks the selected task done at once; undo opens it again.
    pub(super) fn mark_selected_done(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.selected_task() {
            Some((task, _)) => self.mark_task_done(task),
            None => self.show_message("no task is selected"),
        }
    }

    /// Opens the card of the selected task with the line for another time.
    pub(super) fn ask_selected_time(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.selected_task() {
            Some((task, _)) => self.ask_task_time(task),
            None => self.show_message("no task is selected"),
        }
    }
}

pub(super) fn dialog_option(
    key: char,
    label: impl Into<String>,
    consequence: impl Into<String>,
    command: Command,
) -> DialogOption {
    DialogOption { key, label: label.into(), consequence: consequence.into(), command }
}

/// Whether a command changes the plan, so that undo begins with it.
fn changes_plan(command: &Command) -> bool {
    matches!(
        command,
        Command::Edit { .. }
            | Command::PutBackChange { .. }
            | Command::KeepChange { .. }
            | Command::RequestChanges { .. }
            | Command::Lock { .. }
            | Command::Undo
            | Command::Redo
    )
}
