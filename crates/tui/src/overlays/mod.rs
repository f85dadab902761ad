//! What opens over the screen: help, a task, a choice, a text box, the question before quitting. Events go on behind.

mod fork_card;
mod frame;
mod help;
mod input;
mod nodes;
mod palette;
mod policy;
mod task_card;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use fork_card::ForkCard;
pub(crate) use input::{Input, Purpose};
pub(crate) use nodes::{NodeItem, NodePicker, NodeWish};
pub(crate) use palette::{Palette, PaletteItem};
pub(crate) use policy::PolicyPanel;

use super::context::PaneContext;
use super::keymap::{Action, Key, Keymap, Place};
use super::theme::Role;
use super::widgets::Line;
use planwright_model::TaskId;
use planwright_model::event::Command;

/// What is open over the screen.
#[derive(Clone, Debug)]
pub(crate) enum Overlay {
    Help {
        scroll: usize,
    },
    Task {
        task: TaskId,
        scroll: usize,
    },
    Choose(Choose),
    Input(Box<Input>),
    Palette(Box<Palette>),
    /// Which node a wish is about.
    Nodes(Box<NodePicker>),
    Policy(Box<PolicyPanel>),
    /// What a fork would do again, and whether to make it.
    Fork(Box<ForkCard>),
    /// Whether to leave while work runs.
    Quit,
}

/// A question about a command, with one key for each answer.
#[derive(Clone, Debug)]
pub(crate) struct Choose {
    pub(crate) title: String,
    pub(crate) question: String,
    pub(crate) options: Vec<Wish>,
    /// The row that Enter takes; none at first.
    pub(crate) cursor: Option<usize>,
}

/// One answer and the command it sends.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) key: char,
    pub(crate) label: String,
    pub(crate) consequence: String,
    pub(crate) command: Command,
}

/// What a key in an overlay leads to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Stay,
    Close,
    /// Not for the overlay: it closes and the key does what it does on the screen.
    Pass,
    Send {
        command: Command,
        words: String,
    },
    /// The panel stays open.
    SendAndStay {
        command: Command,
        words: String,
    },
    Submit {
        purpose: Purpose,
        text: String,
    },
    /// The node that a wish is about.
    Picked {
        wish: NodeWish,
        node: TaskId,
    },
    /// An action that was chosen by its name.
    Run(Action),
    Leave,
    /// The person wants the fork that was stated.
    Fork,
}

impl Overlay {
    /// Takes a key.
    pub(crate) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> Outcome {
        let key = Key::of(event);
        let action = keymap.action(key, &[Place::Screen]);
        match self {
            Self::Help { scroll } | Self::Task { scroll, .. } => scrolled(scroll, key, action),
            Self::Choose(choose) => choose.on_key(key),
            Self::Input(input) => input.on_key(event),
            Self::Palette(palette) => palette.on_key(event),
            Self::Nodes(picker) => picker.on_key(event),
            Self::Policy(panel) => panel.on_key(event, keymap),
            Self::Fork(card) => card.on_key(key, action),
            Self::Quit => match (key.code, action) {
                (KeyCode::Char('y'), _) | (_, Some(Action::Quit)) => Outcome::Leave,
                _ => Outcome::Close,
            },
        }
    }

    /// Takes pasted text, which never does anything but stand in a text box.
    pub(crate) fn on_paste(&mut self, text: &str) {
        match self {
            Self::Input(input) => input.on_paste(text),
            Self::Palette(palette) => palette.on_paste(text),
            Self::Nodes(picker) => picker.on_paste(text),
            _ => {}
        }
    }

    pub(crate) fn render(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        frame::dim(buf, cx);
        match self {
            Self::Help { scroll } => help::draw(*scroll, screen, buf, cx),
            Self::Task { task, scroll } => task_card::draw(task, *scroll, screen, buf, cx),
            Self::Choose(choose) => choose.draw(screen, buf, cx),
            Self::Input(input) => input.draw(screen, buf, cx),
            Self::Palette(palette) => palette.draw(screen, buf, cx),
            Self::Nodes(picker) => picker.draw(screen, buf, cx),
            Self::Policy(panel) => panel.draw(screen, buf, cx),
            Self::Fork(card) => card.draw(screen, buf, cx),
            Self::Quit => draw_quit(screen, buf, cx),
        }
    }
}

fn scrolled(scroll: &mut usize, key: Key, action: Option<Action>) -> Outcome {
    match action {
        Some(Action::Down) => *scroll += 1,
        Some(Action::Up) => *scroll = scroll.saturating_sub(1),
        Some(Action::PageDown) => *scroll += 10,
        Some(Action::PageUp) => *scroll = scroll.saturating_sub(10),
        Some(Action::Back | Action::Help | Action::Open | Action::Quit) => return Outcome::Close,
        _ if matches!(key.code, KeyCode::Char(_)) => return Outcome::Pass,
        _ => {}
    }
    Outcome::Stay
}

impl Choose {
    fn on_key(&mut self, key: Key) -> Outcome {
        let last = self.options.len().saturating_sub(1);
        let chosen = self.cursor.and_then(|at| self.options.get(at));
        match (key.code, chosen) {
            (KeyCode::Down | KeyCode::Char('j'), _) => {
                self.cursor = Some(self.cursor.map_or(0, |at| (at + 1).min(last)));
                return Outcome::Stay;
            }
            (KeyCode::Up | KeyCode::Char('k'), _) => {
                self.cursor = self.cursor.and_then(|at| at.checked_sub(1));
                return Outcome::Stay;
            }
            (KeyCode::Enter, Some(option)) => {
                let words = option.label.clone();
                return Outcome::Send { command: option.command.clone(), words };
            }
            // The cursor starts above the first row, so that Enter alone answers nothing.
            (KeyCode::Enter, None) => return Outcome::Stay,
            _ => {}
        }
        let KeyCode::Char(letter) = key.code else { return Outcome::Close };
        match self.options.iter().find(|option| option.key == letter) {
            Some(option) => {
                Outcome::Send { command: option.command.clone(), words: option.label.clone() }
            }
            None => Outcome::Close,
        }
    }

    fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let height = self.options.len() as u16 + 4;
        let inner = frame::draw(
            screen,
            (96, height),
            &self.title,
            "j k choose  Enter take it  Esc close",
            buf,
            cx,
        );
        let row = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        Line::new(buf, row(0)).skip(1).put(&self.question, cx.style(Role::Text));
        for (index, option) in self.options.iter().enumerate() {
            let area = row(index as u16 + 2);
            if self.cursor == Some(index) {
                buf.set_style(area, cx.style(Role::Selection));
            }
            let mut line = Line::new(buf, area);
            line.skip(2).put(&option.key.to_string(), cx.style(Role::Key)).skip(2);
            line.column(&option.label, 26, cx.style(Role::Text)).skip(1);
            line.put(&option.consequence, cx.style(Role::Dim));
        }
    }
}

fn draw_quit(screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let inner = frame::draw(screen, (70, 5), "quit", "Esc stay", buf, cx);
    let row = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
    let running = cx.latest.tasks.counts().running;
    let work = match running {
        0 => "The run is not finished.".to_owned(),
        1 => "1 task is running.".to_owned(),
        count => format!("{count} tasks are running."),
    };
    Line::new(buf, row(0)).skip(1).put(&work, cx.style(Role::Text));
    Line::new(buf, row(1))
        .skip(1)
        .put("Quitting interrupts the run; it can be resumed.", cx.style(Role::Text));
    Line::new(buf, row(2))
        .skip(1)
        .put(&cx.keymap.key(Action::Quit), cx.style(Role::Key))
        .put(" again or ", cx.style(Role::Dim))
        .put("y", cx.style(Role::Key))
        .put(" quits", cx.style(Role::Dim));
}
