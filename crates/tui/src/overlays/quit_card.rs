//! The question before leaving while something runs here.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OverlayOutcome, frame};
use crate::keymap::{KeyAction, KeyChord};
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, styled_piece};
use planwright_state::{SessionState, TaskStatus};
use planwright_text::{clean_line, truncate_end};

/// How to leave a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaveChoice {
    /// The run goes on without this screen.
    Detach,
    /// The run of another process is stopped.
    StopRun,
    /// Nothing new starts; the screen closes once what runs has ended.
    AfterStep,
    /// What runs is stopped.
    Now,
    Stay,
}

impl LeaveChoice {
    const HERE: [Self; 3] = [Self::AfterStep, Self::Now, Self::Stay];
    const DETACHABLE: [Self; 4] = [Self::Detach, Self::AfterStep, Self::Now, Self::Stay];
    const ELSEWHERE: [Self; 3] = [Self::Detach, Self::StopRun, Self::Stay];

    fn label(self) -> &'static str {
        match self {
            Self::Detach => "keep it running",
            Self::StopRun => "stop the run",
            Self::AfterStep => "stop after this step",
            Self::Now => "stop now",
            Self::Stay => "stay",
        }
    }
}

/// Where a run goes on that is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunHome {
    /// Nowhere: it ends with the screen.
    #[default]
    Screen,
    /// In this process, without the screen.
    ThisProcess,
    /// In another process, whatever becomes of the screen.
    OtherProcess,
}

/// The question, with the row under the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuitCard {
    cursor: usize,
    run_home: RunHome,
}

impl QuitCard {
    pub(crate) fn new(run_home: RunHome) -> Self {
        Self { cursor: 0, run_home }
    }

    fn choices(self) -> &'static [LeaveChoice] {
        match self.run_home {
            RunHome::Screen => &LeaveChoice::HERE,
            RunHome::ThisProcess => &LeaveChoice::DETACHABLE,
            RunHome::OtherProcess => &LeaveChoice::ELSEWHERE,
        }
    }

    pub(super) fn on_key(&mut self, key: KeyChord, action: Option<KeyAction>) -> OverlayOutcome {
        let last = self.choices().len() - 1;
        match (key.code, action) {
            (KeyCode::Enter, _) => return OverlayOutcome::Leave(self.choices()[self.cursor]),
            (_, Some(KeyAction::Down)) => self.cursor = (self.cursor + 1).min(last),
            (_, Some(KeyAction::Up)) => self.cursor = self.cursor.saturating_sub(1),
            (_, Some(KeyAction::Detach)) if self.choices().contains(&LeaveChoice::Detach) => {
                return OverlayOutcome::Leave(LeaveChoice::Detach);
            }
            (_, Some(KeyAction::Back | KeyAction::Quit)) => return OverlayOutcome::Close,
            _ => {}
        }
        OverlayOutcome::Stay
    }

    pub(super) fn draw(self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let title = "leave while it runs?";
        let hint = "Enter choose  Esc stay";
        let height = self.choices().len() as u16 + 4;
        let inner = frame::draw_overlay_frame(screen, (98, height), title, hint, buf, cx);
        let row = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        let text = cx.style(ThemeRole::Text);
        ScreenLine::new(buf, row(0)).skip(1).put(&running_sentence(cx.latest), text);
        for (index, choice) in self.choices().iter().copied().enumerate() {
            let area = row(index as u16 + 1);
            if index == self.cursor {
                buf.set_style(area, cx.style(ThemeRole::Selection));
            }
            let mut line = ScreenLine::new(buf, area);
            let mark = if index == self.cursor { "►" } else { " " };
            line.skip(1).put(mark, cx.style(ThemeRole::Focus)).skip(3);
            if choice == LeaveChoice::Detach {
                let key = cx.keymap.key_hint(KeyAction::Detach);
                line.put_right(&[styled_piece(format!("{key} "), cx.style(ThemeRole::Key))]);
            }
            line.put_column(choice.label(), 23, text);
            line.put(&consequence(choice, cx.latest, inner.width), cx.style(ThemeRole::Dim));
        }
    }
}

/// `2 tasks are running and 1 waits for you.`
fn running_sentence(state: &SessionState) -> String {
    let counts = state.tasks.status_counts();
    let running = match counts.running {
        0 => "The next task starts by itself".to_owned(),
        1 => "1 task is running".to_owned(),
        count => format!("{count} tasks are running"),
    };
    let waiting = counts.yours as usize + state.requests.open.len();
    match waiting {
        0 => format!("{running}."),
        1 => format!("{running} and 1 waits for you."),
        count => format!("{running} and {count} wait for you."),
    }
}

fn consequence(choice: LeaveChoice, state: &SessionState, width: u16) -> String {
    match choice {
        LeaveChoice::AfterStep if width < 84 => "the rest waits: planwright resume last".to_owned(),
        LeaveChoice::AfterStep => "the rest waits until you run: planwright resume last".to_owned(),
        LeaveChoice::Detach if width < 84 => "in the background: planwright attach last".to_owned(),
        LeaveChoice::Detach => {
            "in the background; planwright attach last brings it back".to_owned()
        }
        LeaveChoice::Now | LeaveChoice::StopRun => stopped_tasks(state),
        LeaveChoice::Stay => String::new(),
    }
}

/// Which tasks are stopped, by title; of many the first and how many more.
fn stopped_tasks(state: &SessionState) -> String {
    let Some(current) = &state.plan.current else { return String::new() };
    let running: Vec<usize> = (0..state.tasks.len())
        .filter(|task| state.tasks.row(*task).status == TaskStatus::Running)
        .collect();
    let title = |task: &usize| {
        let words = current.plan.tasks.get(*task).map_or("", |node| &node.description);
        truncate_end(&clean_line(words), 28).into_owned()
    };
    match running.as_slice() {
        [] => String::new(),
        [one] => format!("{} is stopped", title(one)),
        [one, other] => format!("{} and {} are stopped", title(one), title(other)),
        [first, rest @ ..] => format!("{} and {} more are stopped", title(first), rest.len()),
    }
}
