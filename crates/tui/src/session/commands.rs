//! What the person wishes for, as commands. Refusals come back as events.

use tokio::sync::mpsc::error::TrySendError;

use super::{Flow, Screen};
use crate::context::Mode;
use crate::keymap::Action;
use crate::overlays::{Choose, Input, Overlay, Purpose, Wish};
use crate::panes::running;
use crate::ui_state::Focus;
use planwright_model::event::Command;
use planwright_model::{Actor, TaskId};
use planwright_state::{RunPhase, TaskStatus};

impl Screen {
    /// Says one line to the person.
    pub(super) fn say(&mut self, message: impl Into<String>) -> Flow {
        self.ui.message = Some(message.into());
        Flow::Draw
    }

    /// Why nothing can be done here, if so.
    pub(super) fn cannot_act(&self) -> Option<String> {
        match self.mode() {
            Mode::Saved => Some(format!(
                "this is the past, nothing runs here, {} forks here",
                self.keymap.key(Action::Fork)
            )),
            Mode::ScrubbedBack => Some(format!(
                "this is the past, {} goes to live, {} forks here",
                self.keymap.key(Action::Live),
                self.keymap.key(Action::Fork)
            )),
            Mode::Live | Mode::Paused if self.commands.is_none() => {
                Some("another process runs this session, this one only watches".to_owned())
            }
            Mode::Live | Mode::Paused => None,
        }
    }

    /// Sends a command and says so until the journal answers.
    pub(super) fn send(&mut self, command: Command, words: impl Into<String>) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let Some(commands) = &self.commands else { return Flow::Idle };
        let answers = matches!(command, Command::Answer { .. });
        match commands.try_send(command) {
            Ok(()) => {
                self.ui.sent = Some(words.into());
                self.ui.card.sent |= answers;
            }
            Err(TrySendError::Full(_)) => return self.say("the session is busy, press it again"),
            Err(TrySendError::Closed(_)) => return self.say("the session has ended"),
        }
        Flow::Draw
    }

    /// Pauses the run, lets it go on, or starts what is approved.
    pub(super) fn pause_or_go_on(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.latest.run.phase {
            RunPhase::Running => self.send(Command::Pause, "pause"),
            RunPhase::Paused => self.send(Command::Continue, "go on"),
            RunPhase::Idle if self.latest.may_run() => {
                self.send(Command::Run { by: Actor::Person }, "run it")
            }
            RunPhase::Interrupted if self.latest.may_run() => {
                self.send(Command::Run { by: Actor::Person }, "go on")
            }
            RunPhase::Idle | RunPhase::Interrupted => self.say("the plan has not been approved"),
            RunPhase::Finished { .. } => self.say("the run has ended"),
        }
    }

    /// Asks how many tasks may run at once.
    pub(super) fn open_jobs(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        if !self.latest.run.is_active() {
            return self.say("nothing runs now; --jobs sets it for the next run");
        }
        self.ui.overlay = Some(Overlay::Input(Box::new(Input::new(Purpose::Jobs))));
        Flow::Draw
    }

    pub(super) fn set_jobs(&mut self, text: &str) -> Flow {
        match text.trim().parse() {
            Ok(jobs @ 1..=64) => {
                let words = format!("up to {jobs} at once");
                self.send(Command::SetJobs { jobs }, words)
            }
            _ if text.trim().is_empty() => Flow::Draw,
            _ => self.say("a number from 1 to 64 is needed"),
        }
    }

    /// The task that has the focus, in the graph or among those that run, and its status.
    fn selected_task(&self) -> Option<(TaskId, TaskStatus)> {
        let id = match self.ui.focus {
            Focus::Running => running::selected(&self.latest, &self.ui)
                .map(|task| self.latest.tasks.id(task).clone())?,
            _ => self.ui.graph.selected.clone()?,
        };
        let status = self.latest.tasks.get(&id)?.status;
        Some((id, status))
    }

    pub(super) fn retry(&mut self, with_dependents: bool) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.selected_task() {
            Some((task, TaskStatus::Failed | TaskStatus::Skipped(_) | TaskStatus::Done))
                if with_dependents =>
            {
                let words = format!("retry {task} with dependents");
                self.send(Command::RetryTask { task, with_dependents }, words)
            }
            Some((task, TaskStatus::Failed | TaskStatus::Skipped(_))) => {
                let words = format!("retry {task}");
                self.send(Command::RetryTask { task, with_dependents }, words)
            }
            Some((task, status)) => {
                self.say(format!("{task} is {}, there is nothing to retry", status.word()))
            }
            None => self.say("no task is selected"),
        }
    }

    /// Skips the selected task; asks whether its dependents go with it where there are any.
    pub(super) fn skip(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let Some((task, status)) = self.selected_task() else {
            return self.say("no task is selected");
        };
        if matches!(status, TaskStatus::Done | TaskStatus::Skipped(_)) {
            return self.say(format!("{task} is {}, there is nothing to skip", status.word()));
        }
        self.ask_skip(&task)
    }

    /// Asks whether what needs a task goes with it.
    pub(super) fn ask_skip(&mut self, task: &TaskId) -> Flow {
        let alone = Command::SkipTask { task: task.clone(), with_dependents: false };
        let dependents =
            self.latest.tasks.position(task).map(|task| self.latest.tasks.descendants(task));
        let names: Vec<&str> =
            dependents.iter().flatten().map(|task| self.latest.tasks.id(*task).as_str()).collect();
        let all = Command::SkipTask { task: task.clone(), with_dependents: true };
        let mut options = vec![wish(
            'a',
            format!("skip {task} alone"),
            "what needs it goes on without it",
            alone,
        )];
        if !names.is_empty() {
            let consequence = format!("{} skipped as well", names.join(", "));
            options.push(wish('d', "skip with dependents", consequence, all));
        }
        self.ui.overlay = Some(Overlay::Choose(Choose {
            title: "skip".to_owned(),
            question: format!("Go on without {task}?"),
            options,
            cursor: None,
        }));
        Flow::Draw
    }

    /// Asks whether to end the selected task, which cannot be taken back.
    pub(super) fn stop_task(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        let Some((task, status)) = self.selected_task() else {
            return self.say("no task is selected");
        };
        if !self.latest.run.is_active() {
            return self.say("nothing runs now, there is nothing to stop");
        }
        if status != TaskStatus::Running {
            return self.say(format!("{task} is {}, there is nothing to stop", status.word()));
        }
        let command = Command::CancelTask { task: task.clone() };
        self.ui.overlay = Some(Overlay::Choose(Choose {
            title: "stop".to_owned(),
            question: format!("Stop {task} while it runs?"),
            options: vec![wish(
                'y',
                format!("stop {task}"),
                "it counts as failed and can be retried",
                command,
            )],
            cursor: None,
        }));
        Flow::Draw
    }

    /// Opens the box for a note on a task of the person's.
    pub(super) fn say_done(&mut self) -> Flow {
        if let Some(why) = self.cannot_act() {
            return self.say(why);
        }
        match self.selected_task() {
            Some((task, TaskStatus::Yours)) => {
                self.ui.overlay =
                    Some(Overlay::Input(Box::new(Input::new(Purpose::Note { task }))));
                Flow::Draw
            }
            Some((task, status)) => {
                self.say(format!("{task} is {}, not yours to finish", status.word()))
            }
            None => self.say("no task is selected"),
        }
    }

    pub(super) fn complete(&mut self, task: TaskId, note: String) -> Flow {
        let note = Some(note).filter(|note| !note.is_empty());
        let words = format!("{task} is done");
        self.send(Command::CompleteTask { task, note, by: Actor::Person }, words)
    }
}

pub(super) fn wish(
    key: char,
    label: impl Into<String>,
    consequence: impl Into<String>,
    command: Command,
) -> Wish {
    Wish { key, label: label.into(), consequence: consequence.into(), command }
}
