//! Home: a box for a goal, the saved sessions by what they need, what is due today.

mod draw;
mod first;
mod found;
mod keys;
mod list;
mod overlay;
mod today;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tokio::sync::{mpsc, watch};

#[cfg(test)]
pub(crate) use keys::ACTIONS;
use list::{List, Row};
use overlay::Overlay;

use super::event_loop::App;
use super::glyphs::sweep;
use super::keymap::{KeyError, Keymap};
use super::session::{Back, Flow, Message, Outside, Returned};
use super::theme::{ColorDepth, Palette};
use super::widgets::Field;
use super::{
    ExitReason, HomeExit, HomeFeed, HomeView, HomeWish, ListItem, Look, TodayItem, TuiError,
    UiSettings,
};
use planwright_model::SessionId;
use planwright_state::replay::SourceError;

/// What the keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HomeFocus {
    Goal,
    List,
    Filter,
    /// Whether the selected session is to be removed.
    Remove,
    Today,
    /// When the selected block is to be.
    Later,
    /// The steps that a search brought.
    Found,
}

/// The home screen.
pub(crate) struct Home {
    view: Arc<HomeView>,
    list: List,
    focus: HomeFocus,
    goal: Field,
    filter: Field,
    later: Field,
    /// Sessions that are to be compared.
    marks: Vec<SessionId>,
    found: Option<found::FoundList>,
    /// The item of today under the cursor.
    today_at: usize,
    /// The example under the cursor of the first start.
    example: Option<usize>,
    overlay: Option<Overlay>,
    pub(crate) chosen: Option<HomeExit>,
    palette: Palette,
    color: ColorDepth,
    keymap: Keymap,
    ascii: bool,
    clock: fn() -> Timestamp,
    time_zone: TimeZone,
    /// Where the list was drawn.
    list_area: Rect,
    goal_area: Rect,
    side: Rect,
    /// Where the items of today were drawn, two rows each.
    today_area: Rect,
    /// One line for the person, until the next key.
    message: Option<String>,
    latest: watch::Receiver<Arc<HomeView>>,
    wishes: mpsc::UnboundedSender<HomeWish>,
    outside: Option<Outside>,
}

impl Home {
    pub(crate) fn new(feed: HomeFeed, settings: &UiSettings) -> Result<Self, TuiError> {
        let view = Arc::clone(&feed.latest.borrow());
        let mut list = List::new(view.items.clone());
        let left = view.selected.as_ref().is_some_and(|id| list.select(id));
        let found = view.found.clone().map(found::FoundList::new);
        let focus = match &found {
            Some(_) => HomeFocus::Found,
            None if left || list.needs_you() => HomeFocus::List,
            None => HomeFocus::Goal,
        };
        Ok(Self {
            list,
            focus,
            goal: Field::default(),
            filter: Field::default(),
            later: Field::default(),
            marks: Vec::new(),
            found,
            today_at: 0,
            example: None,
            overlay: None,
            chosen: None,
            palette: settings.theme.palette(settings.color),
            color: settings.color,
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            clock: settings.now,
            time_zone: settings.time_zone.clone(),
            list_area: Rect::default(),
            goal_area: Rect::default(),
            side: Rect::default(),
            today_area: Rect::default(),
            message: view.message.clone(),
            view,
            latest: feed.latest,
            wishes: feed.wishes,
            outside: None,
        })
    }

    /// Shows what is known now; cursor, filter and what is typed stay.
    fn take_news(&mut self) {
        let view = Arc::clone(&self.latest.borrow_and_update());
        self.list.replace(view.items.clone(), self.filter.text());
        self.today_at = self.today_at.min(view.today.len().saturating_sub(1));
        if view.message.is_some() {
            self.message.clone_from(&view.message);
        }
        self.view = view;
    }

    fn leave(&mut self, exit: HomeExit) -> Flow {
        self.chosen = Some(exit);
        Flow::Exit(ExitReason::Quit)
    }

    fn wish(&mut self, wish: HomeWish) -> Flow {
        if self.wishes.send(wish).is_err() {
            self.message = Some("nobody carries wishes out any more; open it again".to_owned());
        }
        Flow::Draw
    }

    fn due_now(&self) -> Option<&TodayItem> {
        self.view.today.get(self.today_at)
    }

    fn click(&mut self, at: Position) -> Flow {
        if self.goal_area.contains(at) {
            self.focus = HomeFocus::Goal;
        } else if self.today_area.contains(at) {
            let item = usize::from((at.y - self.today_area.y) / 2);
            if item < self.view.today.len() {
                self.today_at = item;
                self.focus = HomeFocus::Today;
            }
        } else if self.list_area.contains(at) {
            let row = self.list.top + usize::from(at.y - self.list_area.y);
            if let Some(Row::Item(item) | Row::Detail(item)) = self.list.rows().get(row) {
                self.list.selected = *item;
                self.focus = HomeFocus::List;
            }
        } else {
            return Flow::Idle;
        }
        Flow::Draw
    }

    fn wheel(&mut self, by: isize) -> Flow {
        match self.focus {
            HomeFocus::Today => self.move_today(by),
            _ => self.list.move_by(by),
        }
        Flow::Draw
    }
}

impl App for Home {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        Ok(match message {
            Message::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                self.on_key(&key)
            }
            Message::Input(Event::Paste(text)) => self.on_paste(&text),
            Message::Input(Event::Mouse(mouse)) => match mouse.kind {
                MouseEventKind::ScrollDown => self.wheel(1),
                MouseEventKind::ScrollUp => self.wheel(-1),
                MouseEventKind::Down(MouseButton::Left) => {
                    self.click(Position::new(mouse.column, mouse.row))
                }
                _ => Flow::Idle,
            },
            Message::Input(Event::Resize(..)) | Message::Tick => Flow::Draw,
            Message::Input(_) | Message::Over => Flow::Idle,
            Message::Head(_) => {
                self.take_news();
                Flow::Draw
            }
            Message::Returned(returned) => {
                match returned {
                    Returned::Edited { text, back: Back::Box } => {
                        self.goal = Field::of_lines(&text);
                    }
                    Returned::Failed { why } => self.message = Some(why),
                    _ => {}
                }
                Flow::Redraw
            }
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

    fn take_outside(&mut self) -> Option<Outside> {
        self.outside.take()
    }

    fn notify(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }

    fn restyle(&mut self, look: &Look) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        Ok(())
    }
}
