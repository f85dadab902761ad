//! The first start asks for the hours once and keeps them.

use std::sync::{Arc, Mutex};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::{mpsc, watch};

use super::fixture::{settings, text_of};
use super::home_views::first_view;
use super::sessions::press;
use crate::event_loop::InteractiveScreen as _;
use crate::home::HomeScreen;
use crate::session::ScreenMessage;
use crate::{HomeChannels, HomeExit, HomeView, SettingItem, SettingsStore, UiSettings};

/// Keeps the hours in memory.
#[derive(Debug, Default)]
struct KeptHours(Mutex<Option<String>>);

impl SettingsStore for KeptHours {
    fn items(&self) -> Result<Vec<SettingItem>, String> {
        Ok(Vec::new())
    }

    fn change(&self, name: &str, value: Option<&str>) -> Result<Option<String>, String> {
        assert_eq!(name, "me.hours");
        let mut kept = self.0.lock().unwrap();
        Ok(std::mem::replace(&mut *kept, value.map(str::to_owned)))
    }

    fn file_text(&self) -> Result<String, String> {
        Ok(String::new())
    }

    fn replace_file(&self, _text: &str) -> Result<(), String> {
        Ok(())
    }

    fn theme_names(&self) -> Vec<String> {
        Vec::new()
    }
}

struct FirstStart {
    home: HomeScreen,
    store: Arc<KeptHours>,
}

impl FirstStart {
    fn new(view: HomeView) -> Self {
        let store = Arc::new(KeptHours(Mutex::new(view.own_hours.clone())));
        let (_, latest) = watch::channel(Arc::new(view));
        let (requests, _) = mpsc::channel(1);
        let settings = UiSettings { store: Some(store.clone()), ..settings() };
        let home = HomeScreen::new(HomeChannels { requests, latest }, &settings).unwrap();
        Self { home, store }
    }

    fn press(&mut self, codes: &[KeyCode]) {
        for code in codes {
            press(&mut self.home, *code);
        }
    }

    fn type_text(&mut self, text: &str) {
        self.press(&text.chars().map(KeyCode::Char).collect::<Vec<_>>());
    }

    fn frame(&mut self, width: u16, height: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        self.home.draw(&mut buf).unwrap();
        text_of(&buf)
    }

    fn kept(&self) -> Option<String> {
        self.store.0.lock().unwrap().clone()
    }
}

#[test]
fn hours_are_chosen_from_the_card_and_kept() {
    let mut start = FirstStart::new(first_view());
    assert_eq!(start.kept(), None, "nothing is written unasked");
    start.press(&[KeyCode::Tab, KeyCode::Down, KeyCode::Enter]);
    assert_eq!(start.kept().as_deref(), Some("Mon – Fri 19:00 – 21:00, Sat 10:00 – 13:00"));
    let frame = start.frame(80, 24);
    assert!(frame.contains("Kept: Mon – Fri 19:00 – 21:00"), "{frame}");
    start.press(&[KeyCode::Tab, KeyCode::Tab]);
    insta::assert_snapshot!("first_start_hours_80x24", start.frame(80, 24));
    insta::assert_snapshot!("first_start_hours_120x40", start.frame(120, 40));
    insta::assert_snapshot!("first_start_hours_200x60", start.frame(200, 60));
    start.press(&[KeyCode::Tab, KeyCode::Char('u')]);
    assert_eq!(start.kept(), None);
    start.press(&[KeyCode::Char('u')]);
    assert!(start.frame(80, 24).contains("Nothing to undo"));
}

/// Whoever has chosen and types means the goal, not the list.
#[test]
fn after_the_choice_letters_go_into_the_goal_box() {
    let mut start = FirstStart::new(first_view());
    start.press(&[KeyCode::Tab, KeyCode::Down, KeyCode::Enter]);
    start.type_text("learn Rust");
    start.press(&[KeyCode::Enter]);
    assert_eq!(start.home.chosen, Some(HomeExit::Plan("learn Rust".into())));
}

#[test]
fn other_hours_are_typed_in_words() {
    let mut start = FirstStart::new(first_view());
    start.press(&[KeyCode::Tab, KeyCode::Down, KeyCode::Down, KeyCode::Enter]);
    start.type_text("whenever");
    start.press(&[KeyCode::Enter]);
    let frame = start.frame(80, 24);
    assert!(frame.contains("\"whenever\" was not understood"), "{frame}");
    assert_eq!(start.kept(), None);
    let clear = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
    start.home.update(ScreenMessage::Input(Event::Key(clear))).unwrap();
    start.type_text("Tue and Thu evening, Sundays");
    start.press(&[KeyCode::Enter]);
    assert_eq!(start.kept().as_deref(), Some("Tue and Thu 19:00 – 21:00, Sun 10:00 – 13:00"));
    insta::assert_snapshot!("first_start_other_hours_80x24", start.frame(80, 24));
}

#[test]
fn the_question_can_be_skipped_and_is_reached_on_a_small_screen() {
    let mut start = FirstStart::new(first_view());
    start.press(&[KeyCode::Tab, KeyCode::Esc]);
    start.type_text("learn Rust");
    start.press(&[KeyCode::Enter]);
    assert_eq!(start.home.chosen, Some(HomeExit::Plan("learn Rust".into())));
    assert_eq!(start.kept(), None);
    let mut start = FirstStart::new(first_view());
    start.press(&[KeyCode::Tab]);
    let frame = start.frame(60, 16);
    assert!(frame.contains("( ) evenings and Saturdays"), "{frame}");
    let hours = Some("evenings and Saturdays".to_owned());
    let mut start = FirstStart::new(HomeView { own_hours: hours, ..first_view() });
    let frame = start.frame(80, 24);
    assert!(frame.contains("(x) evenings and Saturdays"), "{frame}");
}
