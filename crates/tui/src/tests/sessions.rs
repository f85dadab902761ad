//! The list of saved sessions.

use std::sync::Arc;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use jiff::SignedDuration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::{mpsc, watch};

use super::fixture::{now, settings, text_of};
use crate::event_loop::InteractiveScreen as _;
use crate::home::HomeScreen;
use crate::keymap::{KeyChord, KeyContext, TABLE};
use crate::session::{ScreenEffect, ScreenMessage};
use crate::{
    ExitReason, HomeChannels, HomeExit, HomeRequest, HomeView, KeyOverrides, SessionListItem,
    Theme, TodayItem, UiAppearance, WeekLoad,
};
use planwright_model::event::Command;
use planwright_model::{Actor, MicroDollars, Seq, SessionId};
use planwright_state::{DueTask, SessionStatus, TaskStatus};

fn item(id: &str, title: &str, status: SessionStatus, minutes: i64) -> SessionListItem {
    SessionListItem {
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
        facts: vec!["r3 a41f9c2".into(), "run 3/11, 1 failed".into()],
        detail: (status == SessionStatus::NeedsYou).then(|| "run this plan?".into()),
    }
}

pub(super) fn items() -> Vec<SessionListItem> {
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

/// A home screen, the way for news to it and what it requests for.
pub(super) struct Stage {
    pub(super) home: HomeScreen,
    news: watch::Sender<Arc<HomeView>>,
    requests: mpsc::Receiver<HomeRequest>,
}

/// How many requests may wait here.
const WAITING: usize = 4;

pub(super) fn stage(view: HomeView) -> Stage {
    let (news, latest) = watch::channel(Arc::new(view));
    let (sender, requests) = mpsc::channel(WAITING);
    let home = HomeScreen::new(HomeChannels { requests: sender, latest }, &settings()).unwrap();
    Stage { home, news, requests }
}

pub(super) fn view(items: Vec<SessionListItem>) -> HomeView {
    HomeView {
        items,
        provider: "offline planner, no model in use".into(),
        provider_help: vec![
            "The offline planner needs no key and no network; it plans from templates.".into(),
            "For a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama, or write provider and model with  planwright config init.".into(),
        ],
        ..HomeView::default()
    }
}

pub(super) fn home(items: Vec<SessionListItem>) -> HomeScreen {
    stage(view(items)).home
}

fn due(session: &str, task: &str, title: &str, start: &str, minutes: u32) -> TodayItem {
    TodayItem {
        session: SessionId::new(session),
        plan: "Marathon training, 16 weeks".into(),
        due: DueTask {
            task: task.into(),
            title: title.into(),
            block: Some(format!("{task}@2#1")),
            occurrence: Some(2),
            start: start.parse().unwrap(),
            minutes,
            status: TaskStatus::Pending,
            late: false,
            yours: true,
            ready: true,
        },
    }
}

pub(super) fn today() -> Vec<TodayItem> {
    let mut done = due("aaaaaa000000", "review", "Weekly review", "2026-06-08T09:00:00Z", 15);
    done.due.status = TaskStatus::Done;
    let run = due("bbbbbb000000", "run", "Tempo run", "2026-06-08T17:30:00Z", 60);
    let mut late = due("dddddd000000", "keys", "Renew the key", "2026-06-06T14:13:00Z", 30);
    late.due.late = true;
    (late.due.occurrence, late.due.block) = (None, None);
    vec![done, run, late]
}

fn draw(list: &mut HomeScreen, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    list.draw(&mut buf).unwrap();
    text_of(&buf)
}

pub(super) fn press(list: &mut HomeScreen, code: KeyCode) -> ScreenEffect {
    list.update(ScreenMessage::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))).unwrap()
}

#[test]
fn what_needs_the_person_comes_first() {
    let mut list = home(items());
    insta::assert_snapshot!("list_80x24", draw(&mut list, 80, 24));
    insta::assert_snapshot!("list_60x8", draw(&mut list, 60, 8));
}

#[test]
fn tasks_of_the_person_run_on_and_kept_plans_are_below() {
    let items = vec![
        item("aaaaaa000000", "Garden", SessionStatus::Yours, 2),
        item("bbbbbb000000", "Docs", SessionStatus::Held, 1),
    ];
    let text = draw(&mut home(items), 80, 24);
    let row = |words| text.lines().position(|line| line.contains(words)).unwrap();
    assert!(row("running 1") < row("Garden"));
    assert!(row("Garden") < row("ready 1"));
    assert!(row("ready 1") < row("Docs"));
}

#[test]
fn a_notice_stays_until_the_next_key() {
    let mut list = home(items());
    list.show_notice("it cannot be suspended");
    assert!(draw(&mut list, 80, 24).contains("it cannot be suspended"));
    press(&mut list, KeyCode::Down);
    assert!(!draw(&mut list, 80, 24).contains("it cannot be suspended"));
}

#[test]
fn an_empty_list_teaches() {
    let mut list = home(Vec::new());
    insta::assert_snapshot!("list_empty_80x24", draw(&mut list, 80, 24));
    assert_eq!(press(&mut list, KeyCode::Enter), ScreenEffect::Draw);
    press(&mut list, KeyCode::Down);
    press(&mut list, KeyCode::Down);
    assert_eq!(press(&mut list, KeyCode::Enter), ScreenEffect::Exit(ExitReason::Quit));
    assert_eq!(list.chosen, Some(HomeExit::Plan("learn Rust, 5 hours a week".into())));
}

#[test]
fn enter_chooses_and_every_row_can_be_reached() {
    let mut list = home(items());
    for _ in 0..20 {
        press(&mut list, KeyCode::Down);
        draw(&mut list, 60, 8);
    }
    let text = draw(&mut list, 60, 8);
    assert!(text.contains("►") && text.contains("cccccc  Migrate"), "{text}");
    assert_eq!(press(&mut list, KeyCode::Enter), ScreenEffect::Exit(ExitReason::Quit));
    assert_eq!(list.chosen, Some(HomeExit::Open(SessionId::new("cccccc000000"))));
}

#[test]
fn a_goal_is_typed_and_planned() {
    let mut list = home(items());
    for letter in "i".chars().chain("move house".chars()) {
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
    let mut stage = stage(view(items()));
    let list = &mut stage.home;
    press(list, KeyCode::Delete);
    let text = draw(list, 120, 24);
    assert!(text.contains("It cannot be taken back") && text.contains("48 kB"), "{text}");
    press(list, KeyCode::Char('n'));
    assert!(stage.requests.try_recv().is_err());
    press(list, KeyCode::Delete);
    press(list, KeyCode::Char('y'));
    assert_eq!(stage.requests.try_recv(), Ok(HomeRequest::Remove(SessionId::new("ffffff000000"))));
    // The screen stays and shows what is left.
    let mut left = items();
    left.retain(|item| item.id != SessionId::new("ffffff000000"));
    let message = Some("session ffffff is removed".to_owned());
    stage.news.send_replace(Arc::new(HomeView { message, ..view(left) }));
    stage.home.update(ScreenMessage::Head(Seq(1))).unwrap();
    let text = draw(&mut stage.home, 80, 24);
    assert!(text.contains("session ffffff is removed") && !text.contains("ffffff  "), "{text}");
}

#[test]
fn today_stands_beside_the_list_and_takes_it_over() {
    let week = Some(WeekLoad { week: 24, planned_minutes: 610, available_minutes: 800 });
    let spent = Some((MicroDollars::from_dollars(1.31), MicroDollars::from_dollars(5.0)));
    let provider = "anthropic claude-sonnet-4-5".into();
    let whole = HomeView { today: today(), week, spent, provider, ..view(items()) };
    let mut home = stage(whole).home;
    insta::assert_snapshot!("home_today_120x40", draw(&mut home, 120, 40));
    press(&mut home, KeyCode::Char('t'));
    let text = draw(&mut home, 80, 24);
    assert!(text.contains("today, 2 due, 1 late"), "{text}");
    insta::assert_snapshot!("today_80x24", text);
}

#[test]
fn a_day_with_nothing_to_do_names_what_comes_next() {
    let next = due("bbbbbb000000", "run", "Tempo run", "2026-06-09T17:30:00Z", 60);
    let mut home = stage(HomeView { next: Some(next), ..view(items()) }).home;
    let text = draw(&mut home, 120, 40);
    for words in ["nothing is due today", "next Tue 9 June, 17:30", "Tempo run"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn requests_that_nobody_gets_to_are_refused_in_a_sentence() {
    let mut stage = stage(HomeView { today: today(), ..view(items()) });
    press(&mut stage.home, KeyCode::Char('t'));
    for _ in 0..WAITING {
        press(&mut stage.home, KeyCode::Char('d'));
    }
    assert!(!draw(&mut stage.home, 80, 24).contains("try again"));
    press(&mut stage.home, KeyCode::Char('d'));
    assert!(draw(&mut stage.home, 80, 24).contains("earlier changes are still being saved"));
    let mut waiting = 0;
    while stage.requests.try_recv().is_ok() {
        waiting += 1;
    }
    assert_eq!(waiting, WAITING);
}

#[test]
fn what_is_due_is_done_skipped_moved_and_started_with_one_key_each() {
    let mut stage = stage(HomeView { today: today(), ..view(items()) });
    let keys = |stage: &mut Stage, keys: &str| {
        for letter in keys.chars() {
            press(&mut stage.home, KeyCode::Char(letter));
        }
    };
    let settle = |done: bool| HomeRequest::Command {
        session: SessionId::new("bbbbbb000000"),
        command: Command::MarkTask {
            task: "run".into(),
            occurrence: Some(2),
            done,
            note: None,
            by: Actor::Person,
        },
    };
    keys(&mut stage, "tjd");
    assert_eq!(stage.requests.try_recv(), Ok(settle(true)));
    keys(&mut stage, "S");
    assert_eq!(stage.requests.try_recv(), Ok(settle(false)));
    keys(&mut stage, "w");
    assert!(draw(&mut stage.home, 80, 24).contains("move to"));
    for _ in 0.."tomorrow".len() {
        press(&mut stage.home, KeyCode::Backspace);
    }
    keys(&mut stage, "soon");
    press(&mut stage.home, KeyCode::Enter);
    assert!(draw(&mut stage.home, 80, 24).contains("not a time"), "and nothing was sent");
    assert!(stage.requests.try_recv().is_err());
    for _ in 0.."soon".len() {
        press(&mut stage.home, KeyCode::Backspace);
    }
    keys(&mut stage, "tomorrow 8:00");
    press(&mut stage.home, KeyCode::Enter);
    let to = "2026-06-09T08:00:00Z".parse().unwrap();
    let moved = HomeRequest::Command {
        session: SessionId::new("bbbbbb000000"),
        command: Command::MoveBlock { block: "run@2#1".into(), to },
    };
    assert_eq!(stage.requests.try_recv(), Ok(moved));
    // A task of a plan file has no time that could be moved.
    keys(&mut stage, "jw");
    assert!(draw(&mut stage.home, 80, 24).contains("no time to move"));
    keys(&mut stage, "k");
    press(&mut stage.home, KeyCode::Enter);
    assert_eq!(stage.home.chosen, Some(HomeExit::Start(SessionId::new("bbbbbb000000"))));
}

#[test]
fn a_goal_may_have_several_lines() {
    let mut home = home(items());
    for letter in "imove house".chars() {
        press(&mut home, KeyCode::Char(letter));
    }
    let newline = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
    home.update(ScreenMessage::Input(Event::Key(newline))).unwrap();
    for letter in "in May".chars() {
        press(&mut home, KeyCode::Char(letter));
    }
    let text = draw(&mut home, 80, 24);
    assert!(text.contains("move house") && text.contains("in May"), "{text}");
    press(&mut home, KeyCode::Enter);
    assert_eq!(home.chosen, Some(HomeExit::Plan("move house\nin May".into())));
}

#[test]
fn the_demo_is_the_last_example() {
    let mut home = home(Vec::new());
    for _ in 0..9 {
        press(&mut home, KeyCode::Down);
    }
    press(&mut home, KeyCode::Enter);
    assert_eq!(home.chosen, Some(HomeExit::Demo));
}

/// Every action that help of the home screen lists does something there with its key.
#[test]
fn every_key_in_the_help_of_home_works() {
    for action in crate::home::ACTIONS {
        let entry = TABLE.iter().find(|entry| entry.action == action).unwrap();
        for key in entry.keys {
            let mut stage = stage(HomeView { today: today(), ..view(items()) });
            draw(&mut stage.home, 120, 40);
            press(&mut stage.home, KeyCode::Down);
            if entry.place == KeyContext::Today {
                press(&mut stage.home, KeyCode::Char('t'));
                press(&mut stage.home, KeyCode::Char('j'));
            }
            let before = draw(&mut stage.home, 120, 40);
            let parsed = KeyChord::parse(key).unwrap();
            let flow = press(&mut stage.home, parsed.code);
            let after = draw(&mut stage.home, 120, 40);
            let requested = stage.requests.try_recv().is_ok();
            let chose = stage.home.chosen.is_some();
            let did =
                requested || chose || before != after || matches!(flow, ScreenEffect::Exit(_));
            assert!(did, "{key} for {} does nothing", entry.name);
        }
    }
}

#[test]
fn help_and_commands_name_the_same_actions() {
    let mut home = home(items());
    press(&mut home, KeyCode::Char('?'));
    insta::assert_snapshot!("home_help_80x24", draw(&mut home, 80, 24));
    press(&mut home, KeyCode::Esc);
    press(&mut home, KeyCode::Char(':'));
    let text = draw(&mut home, 80, 24);
    for words in
        ["F         fork the session", "V         compare the marked", "q         back or quit"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    press(&mut home, KeyCode::Esc);
    for letter in ":goal".chars() {
        press(&mut home, KeyCode::Char(letter));
    }
    let text = draw(&mut home, 80, 24);
    assert!(text.contains("new goal") && text.contains(" 1 of 22 "), "{text}");
    press(&mut home, KeyCode::Enter);
    press(&mut home, KeyCode::Char('q'));
    assert!(draw(&mut home, 80, 24).contains("│ q"), "the box for a goal is open");
}

#[test]
fn another_theme_and_other_keys_count_at_once() {
    let mut items = items();
    items.retain(|item| item.title.is_ascii());
    let mut home = home(items);
    let keys = std::collections::BTreeMap::from([("quit".to_owned(), "Z".to_owned())]);
    let look = UiAppearance {
        theme: Theme::built_in("light").unwrap(),
        keys: KeyOverrides(keys),
        ascii: true,
        reduced_motion: false,
        problem: None,
    };
    home.apply_appearance(&look).unwrap();
    let text = draw(&mut home, 80, 24);
    assert!(text.contains("Z quit") && text.is_ascii(), "{text}");
    let clash = std::collections::BTreeMap::from([("quit".to_owned(), "?".to_owned())]);
    assert!(home.apply_appearance(&UiAppearance { keys: KeyOverrides(clash), ..look }).is_err());
    assert_eq!(press(&mut home, KeyCode::Char('Z')), ScreenEffect::Exit(ExitReason::Quit));
}
