//! Screens without a terminal: what benchmarks measure and pictures are made with.

use std::sync::Arc;

use crossterm::event::{Event, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::{mpsc, watch};

use super::event_loop::InteractiveScreen as _;
use super::frame_cast::RecordedFrame;
use super::home::HomeScreen;
use super::keymap::KeyChord;
use super::session::{ScreenMessage, SessionScreen};
use planwright_model::Seq;

use super::{HomeChannels, HomeView, SessionView, TuiError, UiSettings};

/// A screen that draws into buffers and takes keys by their names.
pub struct SessionPreview {
    screen: SessionScreen,
}

impl std::fmt::Debug for SessionPreview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preview").finish_non_exhaustive()
    }
}

impl SessionPreview {
    /// Opens a session as the screen would.
    pub fn open(view: SessionView, settings: &UiSettings) -> Result<Self, TuiError> {
        Ok(Self { screen: SessionScreen::open(view, settings)? })
    }

    /// Draws a frame.
    pub fn draw(&mut self, buf: &mut Buffer) -> Result<(), TuiError> {
        Ok(self.screen.draw(buf)?)
    }

    /// Draws the session as it was after an event, as a frame of a recording.
    pub fn record_frame(
        &mut self,
        seq: Seq,
        seconds: f64,
        (width, height): (u16, u16),
    ) -> Result<RecordedFrame, TuiError> {
        let empty = || Buffer::empty(Rect::new(0, 0, width, height));
        // Where things are is settled by the first drawing, what they show by the second.
        self.draw(&mut empty())?;
        self.screen.seek_event(seq)?;
        let mut buffer = empty();
        self.draw(&mut buffer)?;
        Ok(RecordedFrame { seconds, buffer })
    }

    /// Presses a key, written as in the config. What is no key does nothing.
    pub fn press_key(&mut self, key: &str) -> Result<(), TuiError> {
        if let Some(key) = KeyChord::parse(key) {
            let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            let event = Event::Key(KeyEvent::new(key.code, modifiers));
            self.screen.update(ScreenMessage::Input(event))?;
        }
        Ok(())
    }
}

/// A home screen that draws into buffers.
pub struct HomePreview {
    screen: HomeScreen,
}

impl std::fmt::Debug for HomePreview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HomePreview").finish_non_exhaustive()
    }
}

impl HomePreview {
    /// Opens the home screen as it would be; requests go nowhere.
    pub fn open(view: Arc<HomeView>, settings: &UiSettings) -> Result<Self, TuiError> {
        let feed = HomeChannels { requests: mpsc::channel(1).0, latest: watch::channel(view).1 };
        Ok(Self { screen: HomeScreen::new(feed, settings)? })
    }

    /// Draws a frame.
    pub fn draw(&mut self, buf: &mut Buffer) -> Result<(), TuiError> {
        Ok(self.screen.draw(buf)?)
    }
}
