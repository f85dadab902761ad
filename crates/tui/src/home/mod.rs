//! Home: a box for a goal, the saved sessions by what they need, what is due today.

mod draw;
mod first_start;
mod keys;
mod overlay;
mod search_results;
mod session_list;
mod today;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

#[cfg(test)]
pub(crate) use keys::ACTIONS;
use overlay::HomeOverlay;
use session_list::{SessionList, SessionListRow};

use super::event_loop::InteractiveScreen;
use super::glyphs::sanitize_frame;
use super::keymap::{KeyError, Keymap};
use super::session::{EditPurpose, ExternalAction, ExternalOutcome, ScreenEffect, ScreenMessage};
use super::theme::{ColorDepth, Palette};
use super::widgets::TextField;
use super::{
    ExitReason, HomeChannels, HomeExit, HomeRequest, HomeView, SessionListItem, TodayItem,
    TuiError, UiAppearance, UiSettings,
};
use planwright_model::SessionId;
use planwright_state::replay::RecordSourceError;

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
pub(crate) struct HomeScreen {
    view: Arc<HomeView>,
    list: SessionList,
    focus: HomeFocus,
    goal: TextField,
    filter: TextField,
    later: TextField,
    /// Sessions that are to be compared.
    marks: Vec<SessionId>,
    found: Option<search_results::SearchResultList>,
    /// The item of today under the cursor.
    today_at: usize,
    /// The example under the cursor of the first start.
    example: Option<usize>,
    overlay: Option<HomeOverlay>,
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
    requests: mpsc::Sender<HomeRequest>,
    outside: Option<ExternalAction>,
}

impl HomeScreen {
    pub(crate) fn new(feed: HomeChannels, settings: &UiSettings) -> Result<Self, TuiError> {
        let view = Arc::clone(&feed.latest.borrow());
        let mut list = SessionList::new(view.items.clone());
        let left = view.selected.as_ref().is_some_and(|id| list.select_session(id));
        let found = view.found.clone().map(search_results::SearchResultList::new);
        let focus = match &found {
            Some(_) => HomeFocus::Found,
            None if left || list.is_first_waiting() => HomeFocus::List,
            None => HomeFocus::Goal,
        };
        Ok(Self {
            list,
            focus,
            goal: TextField::default(),
            filter: TextField::default(),
            later: TextField::default(),
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
            requests: feed.requests,
            outside: None,
        })
    }

    /// Shows what is known now; cursor, filter and what is typed stay.
    fn refresh_view(&mut self) {
        let view = Arc::clone(&self.latest.borrow_and_update());
        self.list.replace_items(view.items.clone(), self.filter.text());
        self.today_at = self.today_at.min(view.today.len().saturating_sub(1));
        if view.message.is_some() {
            self.message.clone_from(&view.message);
        }
        self.view = view;
    }

    fn exit_with(&mut self, exit: HomeExit) -> ScreenEffect {
        self.chosen = Some(exit);
        ScreenEffect::Exit(ExitReason::Quit)
    }

    fn send_request(&mut self, request: HomeRequest) -> ScreenEffect {
        self.message = match self.requests.try_send(request) {
            Ok(()) => return ScreenEffect::Draw,
            Err(TrySendError::Full(_)) => {
                Some("earlier changes are still being saved; try again in a moment".to_owned())
            }
            Err(TrySendError::Closed(_)) => {
                Some("nobody carries wishes out any more; open it again".to_owned())
            }
        };
        ScreenEffect::Draw
    }

    fn selected_due_item(&self) -> Option<&TodayItem> {
        self.view.today.get(self.today_at)
    }

    fn on_click(&mut self, at: Position) -> ScreenEffect {
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
            if let Some(SessionListRow::Item(item) | SessionListRow::Detail(item)) =
                self.list.visible_rows().get(row)
            {
                self.list.selected = *item;
                self.focus = HomeFocus::List;
            }
        } else {
            return ScreenEffect::Idle;
        }
        ScreenEffect::Draw
    }

    fn on_wheel(&mut self, by: isize) -> ScreenEffect {
        match self.focus {
            HomeFocus::Today => self.move_today_cursor(by),
            _ => self.list.move_selection(by),
        }
        ScreenEffect::Draw
    }
}

impl InteractiveScreen for HomeScreen {
    fn update(&mut self, message: ScreenMessage) -> Result<ScreenEffect, RecordSourceError> {
        Ok(match message {
            ScreenMessage::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                self.on_key(&key)
            }
            ScreenMessage::Input(Event::Paste(text)) => self.on_paste(&text),
            ScreenMessage::Input(Event::Mouse(mouse)) => match mouse.kind {
                MouseEventKind::ScrollDown => self.on_wheel(1),
                MouseEventKind::ScrollUp => self.on_wheel(-1),
                MouseEventKind::Down(MouseButton::Left) => {
                    self.on_click(Position::new(mouse.column, mouse.row))
                }
                _ => ScreenEffect::Idle,
            },
            ScreenMessage::Input(Event::Resize(..)) | ScreenMessage::Tick => ScreenEffect::Draw,
            ScreenMessage::Input(_) | ScreenMessage::Over => ScreenEffect::Idle,
            ScreenMessage::Head(_) => {
                self.refresh_view();
                ScreenEffect::Draw
            }
            ScreenMessage::Returned(returned) => {
                match returned {
                    ExternalOutcome::Edited { text, purpose: EditPurpose::Box } => {
                        self.goal = TextField::from_lines(&text);
                    }
                    ExternalOutcome::Failed { why } => self.message = Some(why),
                    _ => {}
                }
                ScreenEffect::Redraw
            }
        })
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError> {
        self.render(buf);
        self.palette.settle_selection(buf);
        sanitize_frame(buf, self.ascii);
        Ok(())
    }

    fn tick_delay(&mut self) -> Option<Duration> {
        None
    }

    fn take_external_action(&mut self) -> Option<ExternalAction> {
        self.outside.take()
    }

    fn show_notice(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }

    fn apply_appearance(&mut self, look: &UiAppearance) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        Ok(())
    }
}
