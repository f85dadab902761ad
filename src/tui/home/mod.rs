//! Home: a box for a goal, the saved sessions by what they need, what is due today.

mod draw;
mod first;
mod found;
mod list;
mod today;

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, MouseButton, MouseEventKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use list::{List, Row};

use super::event_loop::App;
use super::glyphs::sweep;
use super::keymap::{Action, Key, Keymap, Place};
use super::session::{Flow, Message};
use super::theme::Palette;
use super::widgets::Field;
use super::{ExitReason, HomeExit, HomeView, ListItem, TodayItem, TuiError, UiSettings};
use crate::model::SessionId;
use crate::replay::SourceError;

/// What the keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HomeFocus {
    Goal,
    List,
    Filter,
    /// Whether the selected session is to be removed.
    Remove,
    Today,
    /// The steps that a search brought.
    Found,
}

/// The home screen.
pub(crate) struct Home {
    list: List,
    today: Vec<TodayItem>,
    provider: String,
    focus: HomeFocus,
    goal: Field,
    filter: Field,
    /// Sessions that are to be compared.
    marks: Vec<SessionId>,
    found: Option<found::FoundList>,
    /// The example under the cursor of the first start.
    example: Option<usize>,
    pub(crate) chosen: Option<HomeExit>,
    palette: Palette,
    keymap: Keymap,
    ascii: bool,
    clock: fn() -> Timestamp,
    time_zone: TimeZone,
    /// Where the list was drawn.
    list_area: Rect,
    goal_area: Rect,
    side: Rect,
    /// One line for the person, until the next key.
    message: Option<String>,
}

impl Home {
    pub(crate) fn new(view: HomeView, settings: &UiSettings) -> Result<Self, TuiError> {
        let list = List::new(view.items);
        let found = view.found.map(found::FoundList::new);
        let focus = match &found {
            Some(_) => HomeFocus::Found,
            None if list.needs_you() => HomeFocus::List,
            None => HomeFocus::Goal,
        };
        Ok(Self {
            list,
            today: view.today,
            provider: view.provider,
            focus,
            goal: Field::default(),
            filter: Field::default(),
            marks: Vec::new(),
            found,
            example: None,
            chosen: None,
            palette: settings.theme.palette(settings.color),
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            clock: settings.now,
            time_zone: settings.time_zone.clone(),
            list_area: Rect::default(),
            goal_area: Rect::default(),
            side: Rect::default(),
            message: view.message,
        })
    }

    fn leave(&mut self, exit: HomeExit) -> Flow {
        self.chosen = Some(exit);
        Flow::Exit(ExitReason::Quit)
    }

    fn on_key(&mut self, event: &KeyEvent) -> Flow {
        self.message = None;
        let key = Key::of(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') => return Flow::Exit(ExitReason::Quit),
                KeyCode::Char('z') => return Flow::Suspend,
                KeyCode::Char('l') => return Flow::Redraw,
                _ => {}
            }
        }
        match self.focus {
            HomeFocus::Goal => self.on_goal_key(event),
            HomeFocus::Filter => self.on_filter_key(event),
            HomeFocus::Remove => self.on_remove_key(key),
            HomeFocus::List | HomeFocus::Today => self.on_list_key(key),
            HomeFocus::Found => self.on_found_key(key),
        }
    }

    fn on_goal_key(&mut self, event: &KeyEvent) -> Flow {
        let empty = self.list.items.is_empty();
        match event.code {
            KeyCode::Enter => return self.plan(),
            KeyCode::Down if empty => {
                let last = first::EXAMPLES.len() - 1;
                self.example = Some(self.example.map_or(0, |at| (at + 1).min(last)));
            }
            KeyCode::Up if empty => self.example = self.example.and_then(|at| at.checked_sub(1)),
            KeyCode::Esc | KeyCode::Tab | KeyCode::Down => self.focus = HomeFocus::List,
            _ => {
                self.example = None;
                self.goal.on_key(event);
            }
        }
        Flow::Draw
    }

    /// Plans what was typed, or the example under the cursor.
    fn plan(&mut self) -> Flow {
        let typed = self.goal.text().trim().to_owned();
        let goal = match self.example {
            Some(at) => first::EXAMPLES[at].to_owned(),
            None => typed,
        };
        if goal.is_empty() {
            self.message = Some("type what you want to get done".to_owned());
            return Flow::Draw;
        }
        self.leave(HomeExit::Plan(goal))
    }

    fn on_filter_key(&mut self, event: &KeyEvent) -> Flow {
        match event.code {
            KeyCode::Esc => {
                self.filter = Field::default();
                self.list.narrow("");
                self.focus = HomeFocus::List;
            }
            KeyCode::Tab => return self.search(),
            // Where no session has the words in its title, a step may.
            KeyCode::Enter if self.list.count() == 0 => return self.search(),
            KeyCode::Enter => self.focus = HomeFocus::List,
            KeyCode::Down => self.list.move_by(1),
            KeyCode::Up => self.list.move_by(-1),
            _ => {
                if self.filter.on_key(event) {
                    self.list.narrow(self.filter.text());
                }
            }
        }
        Flow::Draw
    }

    fn on_remove_key(&mut self, key: Key) -> Flow {
        self.focus = HomeFocus::List;
        let item = self.list.current().map(|item| item.id.clone());
        match (key.code, item) {
            (KeyCode::Char('y'), Some(id)) => self.leave(HomeExit::Remove(id)),
            _ => Flow::Draw,
        }
    }

    fn on_list_key(&mut self, key: Key) -> Flow {
        let page = isize::try_from(self.list_area.height / 2).unwrap_or(1).max(1);
        match self.keymap.action(key, &[Place::Home, Place::Screen]) {
            Some(Action::Down) => self.list.move_by(1),
            Some(Action::Up) => self.list.move_by(-1),
            Some(Action::PageDown) => self.list.move_by(page),
            Some(Action::PageUp) => self.list.move_by(-page),
            Some(Action::Start) => self.list.move_by(isize::MIN / 2),
            Some(Action::Latest) => self.list.move_by(isize::MAX / 2),
            Some(Action::Open) => {
                return match self.list.current().map(|item| item.id.clone()) {
                    Some(id) => self.leave(HomeExit::Open(id)),
                    None => Flow::Idle,
                };
            }
            Some(Action::Search) => self.focus = HomeFocus::Filter,
            Some(Action::MarkSession) => self.turn_mark(),
            Some(Action::Compare) => return self.compare(),
            Some(Action::Fork) => {
                return match self.list.current().map(|item| item.id.clone()) {
                    Some(id) => self.leave(HomeExit::Fork(id)),
                    None => Flow::Idle,
                };
            }
            Some(Action::GoalBox | Action::FocusNext) => self.focus = HomeFocus::Goal,
            Some(Action::RemoveSession) if self.list.current().is_some() => {
                self.focus = HomeFocus::Remove;
            }
            Some(Action::Today) => {
                self.focus = match self.focus {
                    HomeFocus::Today => HomeFocus::List,
                    _ => HomeFocus::Today,
                };
            }
            Some(Action::Back) if !self.filter.text().is_empty() => {
                self.filter = Field::default();
                self.list.narrow("");
            }
            Some(Action::Quit | Action::Back) => return Flow::Exit(ExitReason::Quit),
            _ => return Flow::Idle,
        }
        Flow::Draw
    }

    fn click(&mut self, at: Position) -> Flow {
        if self.goal_area.contains(at) {
            self.focus = HomeFocus::Goal;
            return Flow::Draw;
        }
        if !self.list_area.contains(at) {
            return Flow::Idle;
        }
        let row = self.list.top + usize::from(at.y - self.list_area.y);
        if let Some(Row::Item(item) | Row::Detail(item)) = self.list.rows().get(row) {
            self.list.selected = *item;
            self.focus = HomeFocus::List;
        }
        Flow::Draw
    }
}

impl App for Home {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        let Message::Input(event) = message else { return Ok(Flow::Draw) };
        Ok(match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(&key),
            Event::Paste(text) => {
                match self.focus {
                    HomeFocus::Goal => self.goal.on_paste(&text),
                    HomeFocus::Filter => {
                        self.filter.on_paste(&text);
                        self.list.narrow(self.filter.text());
                    }
                    HomeFocus::List | HomeFocus::Remove | HomeFocus::Today | HomeFocus::Found => {}
                }
                Flow::Draw
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollDown => {
                    self.list.move_by(1);
                    Flow::Draw
                }
                MouseEventKind::ScrollUp => {
                    self.list.move_by(-1);
                    Flow::Draw
                }
                MouseEventKind::Down(MouseButton::Left) => {
                    self.click(Position::new(mouse.column, mouse.row))
                }
                _ => Flow::Idle,
            },
            Event::Resize(..) => Flow::Draw,
            _ => Flow::Idle,
        })
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError> {
        self.render(buf);
        sweep(buf, self.ascii);
        Ok(())
    }

    fn wake(&mut self) -> Option<Duration> {
        None
    }

    fn notify(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }
}
