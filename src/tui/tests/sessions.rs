//! The list of saved sessions.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use jiff::SignedDuration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fixture::{now, settings, text_of};
use crate::model::{MicroDollars, SessionId};
use crate::state::SessionStatus;
use crate::tui::event_loop::App as _;
use crate::tui::home::Home;
use crate::tui::session::{Flow, Message};
use crate::tui::{ExitReason, HomeExit, HomeView, ListItem, TodayItem};

fn item(id: &str, title: &str, status: SessionStatus, minutes: i64) -> ListItem {
    ListItem {
        id: SessionId::new(id),
        title: title.into(),
        status,
        done: 3,
        total: 11,
        cost: MicroDollars::from_dollars(0.62),
        updated_at: now().checked_sub(SignedDuration::from_mins(minutes)).unwrap(),
        pattern: "milestone".into(),
        bytes: Some(48_000),
        fork_of: None,
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

fn home(items: Vec<ListItem>) -> Home {
    let provider = "offline planner, no model in use".into();
    Home::new(HomeView { items, provider, ..HomeView::default() }, &settings()).unwrap()
}

fn draw(list: &mut Home, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    list.draw(&mut buf).unwrap();
    text_of(&buf)
}

fn press(list: &mut Home, code: KeyCode) -> Flow {
    list.update(Message::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))).unwrap()
}

#[test]
fn what_needs_the_person_comes_first() {
    let mut list = home(items());
    insta::assert_snapshot!("list_80x24", draw(&mut list, 80, 24));
    insta::assert_snapshot!("list_60x8", draw(&mut list, 60, 8));
}

#[test]
fn tasks_of_the_person_need_the_person() {
    let items = vec![
        item("aaaaaa000000", "Garden", SessionStatus::Yours, 2),
        item("bbbbbb000000", "Docs", SessionStatus::Held, 1),
    ];
    let text = draw(&mut home(items), 80, 24);
    let row = |words| text.lines().position(|line| line.contains(words)).unwrap();
    assert!(row("needs you 1") < row("Garden"));
    assert!(row("Garden") < row("held 1"));
    assert!(row("held 1") < row("Docs"));
}

#[test]
fn a_notice_stays_until_the_next_key() {
    let mut list = home(items());
    list.notify("it cannot be suspended");
    assert!(draw(&mut list, 80, 24).contains("it cannot be suspended"));
    press(&mut list, KeyCode::Down);
    assert!(!draw(&mut list, 80, 24).contains("it cannot be suspended"));
}

#[test]
fn an_empty_list_teaches() {
    let mut list = home(Vec::new());
    insta::assert_snapshot!("list_empty_80x24", draw(&mut list, 80, 24));
    assert_eq!(press(&mut list, KeyCode::Enter), Flow::Draw);
    press(&mut list, KeyCode::Down);
    press(&mut list, KeyCode::Down);
    assert_eq!(press(&mut list, KeyCode::Enter), Flow::Exit(ExitReason::Quit));
    assert_eq!(list.chosen, Some(HomeExit::Plan("learn Rust, 5 hours a week".into())));
}

#[test]
fn enter_chooses_and_every_row_can_be_reached() {
    let mut list = home(items());
    for _ in 0..20 {
        press(&mut list, KeyCode::Down);
        draw(&mut list, 60, 8);
    }
    assert!(draw(&mut list, 60, 8).contains("► ✗ cccccc  Migrate CI"));
    assert_eq!(press(&mut list, KeyCode::Enter), Flow::Exit(ExitReason::Quit));
    assert_eq!(list.chosen, Some(HomeExit::Open(SessionId::new("cccccc000000"))));
}

#[test]
fn no_size_breaks_the_list() {
    let mut list = home(items());
    for (width, height) in [(1, 1), (2, 3), (9, 4), (200, 60)] {
        draw(&mut list, width, height);
    }
}

#[test]
fn a_goal_is_typed_and_planned() {
    let mut list = home(items());
    for letter in "g".chars().chain("move house".chars()) {
        press(&mut list, KeyCode::Char(letter));
    }
    insta::assert_snapshot!("home_120x40", draw(&mut list, 120, 40));
    press(&mut list, KeyCode::Enter);
    assert_eq!(list.chosen, Some(HomeExit::Plan("move house".into())));
}

#[test]
fn typing_narrows_the_list() {
    let mut list = home(items());
    for letter in "/ci".chars() {
        press(&mut list, KeyCode::Char(letter));
    }
    let text = draw(&mut list, 80, 24);
    assert!(text.contains("Migrate CI") && !text.contains("Garden"), "{text}");
    press(&mut list, KeyCode::Enter);
    press(&mut list, KeyCode::Enter);
    assert_eq!(list.chosen, Some(HomeExit::Open(SessionId::new("cccccc000000"))));
    let mut list = home(items());
    for letter in "/nothing like it".chars() {
        press(&mut list, KeyCode::Char(letter));
    }
    assert!(draw(&mut list, 80, 24).contains("no session has these words"));
    press(&mut list, KeyCode::Esc);
    assert!(draw(&mut list, 80, 24).contains("Garden"));
}

#[test]
fn a_session_is_removed_only_after_a_yes() {
    let mut list = home(items());
    press(&mut list, KeyCode::Char('d'));
    assert!(draw(&mut list, 120, 24).contains("It cannot be taken back"));
    press(&mut list, KeyCode::Char('n'));
    assert_eq!(list.chosen, None);
    press(&mut list, KeyCode::Char('d'));
    press(&mut list, KeyCode::Char('y'));
    assert!(matches!(list.chosen, Some(HomeExit::Remove(_))));
}

#[test]
fn today_stands_beside_the_list_and_takes_it_over() {
    let today = vec![
        TodayItem {
            at: now(),
            title: "Weekly review".into(),
            plan: "Reviews".into(),
            minutes: 15,
            done: true,
            late: false,
        },
        TodayItem {
            at: now(),
            title: "Long run".into(),
            plan: "Marathon".into(),
            minutes: 90,
            done: false,
            late: true,
        },
    ];
    let view = HomeView { items: items(), today, ..HomeView::default() };
    let mut home = Home::new(view, &settings()).unwrap();
    insta::assert_snapshot!("home_today_120x40", draw(&mut home, 120, 40));
    press(&mut home, KeyCode::Char('t'));
    assert!(draw(&mut home, 80, 24).contains("today, 1 due, 1 late"));
}
