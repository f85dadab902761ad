//! What opens over the screen: help, a task, a choice, a text box, the question before quitting. Events go on behind.

mod facts_panel;
mod filter_list;
mod fork_card;
pub(crate) mod frame;
mod help;
mod help_table;
mod input;
mod key_list;
mod line_picker;
mod node_picker;
mod palette;
mod policy_panel;
mod quit_card;
mod session_picker;
mod settings_panel;
pub(crate) mod task_card;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use facts_panel::FactsPanel;
pub(crate) use fork_card::ForkCard;
pub(crate) use frame::OverlayRoom;
pub(crate) use help::HelpOverlay;
pub(crate) use input::{InputDialog, InputPurpose};
pub(crate) use key_list::{KeyListHelp, KeyListOutcome, KeyListRow};
pub(crate) use line_picker::LinePicker;
pub(crate) use node_picker::{NodeItem, NodePicker, PickerPurpose};
pub use palette::ViewFormat;
pub(crate) use palette::{CommandPalette, PaletteCommand, PaletteItem, PaletteOutcome};
pub(crate) use policy_panel::PolicyPanel;
pub(crate) use quit_card::{LeaveChoice, QuitCard, RunHome};
pub(crate) use session_picker::SessionPicker;
pub(crate) use settings_panel::{SettingsOutcome, SettingsPanel};
pub(crate) use task_card::{CardContext, TaskCard, TaskCardOutcome, UnsentCardText};

use super::keymap::{KeyChord, KeyContext, Keymap};
use super::pane_context::PaneContext;
use super::theme::ThemeRole;
use super::widgets::{ScreenLine, fit_clauses};
use planwright_model::event::Command;
use planwright_model::{SessionId, TaskId};
use planwright_text::{clean_line, display_width, wrap_words};

/// What is open over the screen.
#[derive(Clone, Debug)]
pub(crate) enum Overlay {
    Help(Box<HelpOverlay>),
    Task(Box<TaskCard>),
    Choose(ChoiceDialog),
    Input(Box<InputDialog>),
    Palette(Box<CommandPalette>),
    Settings(Box<SettingsPanel>),
    /// Which node a request is about.
    Nodes(Box<NodePicker>),
    /// Which line of a submitted plan is commented on.
    Lines(Box<LinePicker>),
    /// Which session to compare with.
    Sessions(Box<SessionPicker>),
    Policy(Box<PolicyPanel>),
    /// What was said.
    Facts(Box<FactsPanel>),
    /// What a fork would do again, and whether to make it.
    Fork(Box<ForkCard>),
    /// Whether to leave while something runs here.
    Quit(QuitCard),
}

/// A question about a command, with one key for each answer.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceDialog {
    pub(crate) title: String,
    pub(crate) question: String,
    pub(crate) options: Vec<DialogOption>,
    /// The row that Enter takes; none at first.
    pub(crate) cursor: Option<usize>,
    /// Whether only the letter of a row takes it, as for a wider yes.
    pub(crate) needs_letter: bool,
}

impl ChoiceDialog {
    /// Whether it only asks if something is really meant.
    pub(crate) fn is_confirmation(&self) -> bool {
        self.options.len() == 1
    }
}

/// One answer and the command it sends.
#[derive(Clone, Debug)]
pub(crate) struct DialogOption {
    pub(crate) key: char,
    pub(crate) label: String,
    pub(crate) consequence: String,
    pub(crate) command: Command,
}

/// What a key in an overlay leads to.
#[derive(Debug)]
pub(crate) enum OverlayOutcome {
    Stay,
    Close,
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
        purpose: InputPurpose,
        text: String,
    },
    /// The node that a request is about.
    Picked {
        purpose: PickerPurpose,
        node: TaskId,
    },
    /// The line of a submitted plan that is commented on, counted from 1.
    PickedLine(u32),
    /// A command that was chosen by its name.
    Run(PaletteCommand),
    /// No command has these words; they are searched for instead.
    Search(String),
    /// The person wants the config file in their editor.
    EditConfig,
    /// How to leave a run.
    Leave(LeaveChoice),
    /// The person wants the fork that was stated.
    Fork,
    /// The session to compare with.
    Compare(SessionId),
}

impl Overlay {
    /// Takes a key.
    pub(crate) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> OverlayOutcome {
        let key = KeyChord::from_event(event);
        let action = keymap.action_for(key, &[KeyContext::Screen]);
        match self {
            Self::Help(help) => help.on_key(event, action),
            // The session has what the card looks at, and gives it its keys.
            Self::Task(_) => OverlayOutcome::Stay,
            Self::Choose(choose) => choose.on_key(key),
            Self::Input(input) => input.on_key(event),
            Self::Palette(palette) => match palette.on_key(event) {
                PaletteOutcome::Stay => OverlayOutcome::Stay,
                PaletteOutcome::Close => OverlayOutcome::Close,
                PaletteOutcome::Run(command) => OverlayOutcome::Run(command),
                PaletteOutcome::Search(words) => OverlayOutcome::Search(words),
            },
            Self::Settings(panel) => match panel.on_key(event) {
                SettingsOutcome::Stay => OverlayOutcome::Stay,
                SettingsOutcome::Close => OverlayOutcome::Close,
                SettingsOutcome::EditFile => OverlayOutcome::EditConfig,
            },
            Self::Nodes(picker) => picker.on_key(event),
            Self::Lines(picker) => picker.on_key(event),
            Self::Sessions(picker) => picker.on_key(event),
            Self::Policy(panel) => panel.on_key(event, keymap),
            Self::Facts(panel) => panel.on_key(event, keymap),
            Self::Fork(card) => card.on_key(key, action),
            Self::Quit(card) => card.on_key(key, action),
        }
    }

    /// Whether letters are text in it, so that no key but its own means anything.
    pub(crate) fn takes_letters(&self) -> bool {
        match self {
            Self::Settings(panel) => panel.is_typing(),
            Self::Task(card) => card.is_typing(),
            Self::Facts(panel) => panel.is_typing(),
            Self::Help(_)
            | Self::Input(_)
            | Self::Palette(_)
            | Self::Nodes(_)
            | Self::Lines(_)
            | Self::Sessions(_) => true,
            _ => false,
        }
    }

    /// Whether it asks something that only a key may answer.
    pub(crate) fn asks_yes(&self) -> bool {
        matches!(self, Self::Choose(_) | Self::Fork(_) | Self::Quit(_))
    }

    /// Takes pasted text, which never does anything but stand in a text box.
    pub(crate) fn on_paste(&mut self, text: &str) {
        match self {
            Self::Help(help) => help.on_paste(text),
            Self::Input(input) => input.on_paste(text),
            Self::Palette(palette) => palette.on_paste(text),
            Self::Settings(panel) => panel.on_paste(text),
            Self::Nodes(picker) => picker.on_paste(text),
            Self::Lines(picker) => picker.on_paste(text),
            Self::Sessions(picker) => picker.on_paste(text),
            Self::Task(card) => card.on_paste(text),
            Self::Facts(panel) => panel.on_paste(text),
            _ => {}
        }
    }

    pub(crate) fn render(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        frame::dim_background(buf, cx);
        match self {
            Self::Help(help) => help.draw(screen, buf, cx),
            Self::Task(card) => {
                let top = cx.areas.header.height;
                let room =
                    Rect { y: screen.y + top, height: screen.height.saturating_sub(top), ..screen };
                card.draw(room, buf, &cx.card_context());
            }
            Self::Choose(choose) => choose.draw(screen, buf, cx),
            Self::Input(input) => input.draw(screen, buf, cx),
            Self::Palette(palette) => palette.draw(overlay_room(screen, cx), cx.theme, buf),
            Self::Settings(panel) => panel.draw(overlay_room(screen, cx), cx.theme, buf),
            Self::Nodes(picker) => picker.draw(screen, buf, cx),
            Self::Lines(picker) => picker.draw(screen, buf, cx),
            Self::Sessions(picker) => picker.draw(screen, buf, cx),
            Self::Policy(panel) => panel.draw(screen, buf, cx),
            Self::Facts(panel) => panel.draw(screen, buf, cx),
            Self::Fork(card) => card.draw(screen, buf, cx),
            Self::Quit(card) => card.draw(screen, buf, cx),
        }
    }
}

fn overlay_room(screen: Rect, cx: &PaneContext<'_>) -> OverlayRoom {
    OverlayRoom { screen, header: cx.areas.header.height }
}

/// The cells that a dialog is wide, where the screen has them.
const DIALOG_WIDTH: u16 = 96;

impl ChoiceDialog {
    fn on_key(&mut self, key: KeyChord) -> OverlayOutcome {
        let last = self.options.len().saturating_sub(1);
        let chosen = self.cursor.and_then(|at| self.options.get(at));
        match (key.code, chosen) {
            (KeyCode::Down | KeyCode::Up | KeyCode::Enter, _) if self.needs_letter => {
                return OverlayOutcome::Stay;
            }
            (KeyCode::Down | KeyCode::Char('j'), _) => {
                self.cursor = Some(self.cursor.map_or(0, |at| (at + 1).min(last)));
                return OverlayOutcome::Stay;
            }
            (KeyCode::Up | KeyCode::Char('k'), _) => {
                self.cursor = self.cursor.and_then(|at| at.checked_sub(1));
                return OverlayOutcome::Stay;
            }
            (KeyCode::Enter, Some(option)) => {
                let words = option.label.clone();
                return OverlayOutcome::Send { command: option.command.clone(), words };
            }
            // The cursor starts above the first row, so that Enter alone answers nothing.
            (KeyCode::Enter, None) => return OverlayOutcome::Stay,
            _ => {}
        }
        let KeyCode::Char(letter) = key.code else { return OverlayOutcome::Close };
        match self.options.iter().find(|option| option.key == letter) {
            Some(option) => OverlayOutcome::Send {
                command: option.command.clone(),
                words: option.label.clone(),
            },
            None => OverlayOutcome::Close,
        }
    }

    fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let width = DIALOG_WIDTH.min(screen.width);
        let texts = self.consequence_lines(usize::from(width.saturating_sub(4)));
        let height = texts.iter().map(Vec::len).sum::<usize>() as u16 + 4;
        let by_number = self.options.iter().all(|option| option.key.is_ascii_digit());
        let inner = frame::draw_overlay_frame(
            screen,
            (DIALOG_WIDTH, height),
            &self.title,
            match (self.cursor, by_number) {
                (_, true) if self.needs_letter => "a number chooses  Esc close",
                (_, false) if self.needs_letter => "a letter chooses  Esc close",
                // Enter alone answers nothing.
                (None, true) => "a number chooses  j k move  Esc close",
                (None, false) => "a letter chooses  j k move  Esc close",
                (Some(_), _) => "j k move  Enter take it  Esc close",
            },
            buf,
            cx,
        );
        let row = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        ScreenLine::new(buf, row(0)).skip(1).put(&self.question, cx.style(ThemeRole::Text));
        let label = self.label_width(usize::from(inner.width));
        let mut y = 2;
        for (index, (option, texts)) in self.options.iter().zip(&texts).enumerate() {
            for (part, text) in texts.iter().enumerate() {
                let area = row(y);
                y += 1;
                if self.cursor == Some(index) {
                    buf.set_style(area, cx.style(ThemeRole::Selection));
                }
                let mut line = ScreenLine::new(buf, area);
                let (key, name) = match part {
                    0 => (option.key.to_string(), option.label.as_str()),
                    _ => (" ".to_owned(), ""),
                };
                line.skip(2).put(&key, cx.style(ThemeRole::Key)).skip(2);
                line.put_column(name, label, cx.style(ThemeRole::Text)).skip(1);
                let fitting = fit_clauses(text, line.cells_left().saturating_sub(1));
                line.put(&fitting, cx.style(ThemeRole::Dim));
            }
        }
    }

    fn label_width(&self, width: usize) -> usize {
        let widest = self.options.iter().map(|option| display_width(&option.label)).max();
        widest.unwrap_or(0).clamp(26, (width / 2).max(26)) + 1
    }

    /// What follows from each option. Where the rows are read before one is taken, nothing of it is cut.
    fn consequence_lines(&self, width: usize) -> Vec<Vec<String>> {
        let room = width.saturating_sub(self.label_width(width) + 8);
        let lines = |option: &DialogOption| {
            let text = clean_line(&option.consequence).into_owned();
            if self.needs_letter || room == 0 || text.is_empty() {
                return vec![text];
            }
            let wrapped = wrap_words(&text, room, 0);
            wrapped.into_iter().map(|line| line.to_string()).collect()
        };
        self.options.iter().map(lines).collect()
    }
}
