//! The list of saved sessions.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use jiff::SignedDuration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fixture::{now, settings, text_of};
use crate::model::{MicroDollars, SessionId};
use crate::state::SessionStatus;
use crate::tui::event_loop::App as _;
use crate::tui::list::List;
use crate::tui::session::{Flow, Message};
use crate::tui::{ExitReason, ListItem};

fn item(id: &str, title: &str, status: SessionStatus, minutes: i64) -> ListItem {
    ListItem {
        id: SessionId::new(id),
        title: title.into(),
        status,
        done: 3,
        total: 11,
        cost: MicroDollars::from_dollars(0.62),
        updated_at: now().checked_sub(SignedDuration::from_mins(minutes)).unwrap(),
        detail: (status == SessionStatus::NeedsYou).then(|| "run this plan?".into()),
    }
}

fn items() -> Vec<ListItem> {
    vec![
        item("aaaaaa000000", "Compare three queue libraries", SessionStatus::Done, 180),
        item("bbbbbb000000", "Port the docs to the new site", SessionStatus::Running, 22),
        item("cccccc000000", "Migrate CI to the new runners", SessionStatus::Failed, 1500),
        item("dddddd000000", "Release 2.0 of the parser crate", SessionStatus::NeedsYou, 14),
        item("eeeeee000000", "Garden beds before autumn", SessionStatus::Held, 60_000),
        item(
            "ffffff000000",
            "\u{1b}[31m東京オフィスの引っ越し and a title that is far too long to fit here",
            SessionStatus::Interrupted,
            1,
        ),
    ]
}

fn draw(list: &mut List, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    list.draw(&mut buf).unwrap();
    text_of(&buf)
}

fn press(list: &mut List, code: KeyCode) -> Flow {
    list.update(Message::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))).unwrap()
}

#[test]
fn what_needs_the_person_comes_first() {
    let mut list = List::new(items(), &settings()).unwrap();
    insta::assert_snapshot!("list_80x24", draw(&mut list, 80, 24));
    insta::assert_snapshot!("list_60x8", draw(&mut list, 60, 8));
}

#[test]
fn tasks_of_the_person_need_the_person() {
    let items = vec![
        item("aaaaaa000000", "Garden", SessionStatus::Yours, 2),
        item("bbbbbb000000", "Docs", SessionStatus::Held, 1),
    ];
    let text = draw(&mut List::new(items, &settings()).unwrap(), 80, 24);
    let row = |words| text.lines().position(|line| line.contains(words)).unwrap();
    assert!(row("needs you 1") < row("Garden"));
    assert!(row("Garden") < row("held 1"));
    assert!(row("held 1") < row("Docs"));
}

#[test]
fn a_notice_stays_until_the_next_key() {
    let mut list = List::new(items(), &settings()).unwrap();
    list.notify("it cannot be suspended");
    assert!(draw(&mut list, 80, 24).contains("it cannot be suspended"));
    press(&mut list, KeyCode::Down);
    assert!(!draw(&mut list, 80, 24).contains("it cannot be suspended"));
}

#[test]
fn an_empty_list_teaches() {
    let mut list = List::new(Vec::new(), &settings()).unwrap();
    insta::assert_snapshot!("list_empty_80x24", draw(&mut list, 80, 24));
    assert_eq!(press(&mut list, KeyCode::Enter), Flow::Idle);
}

#[test]
fn enter_chooses_and_every_row_can_be_reached() {
    let mut list = List::new(items(), &settings()).unwrap();
    for _ in 0..20 {
        press(&mut list, KeyCode::Down);
        draw(&mut list, 60, 8);
    }
    assert!(draw(&mut list, 60, 8).contains("► ✗ cccccc  Migrate CI"));
    assert_eq!(press(&mut list, KeyCode::Enter), Flow::Exit(ExitReason::Quit));
    assert_eq!(list.chosen, Some(SessionId::new("cccccc000000")));
}

#[test]
fn no_size_breaks_the_list() {
    let mut list = List::new(items(), &settings()).unwrap();
    for (width, height) in [(1, 1), (2, 3), (9, 4), (200, 60)] {
        draw(&mut list, width, height);
    }
}
