//! Home: what needs the person, today, the plans and runs, the box for a goal.

use std::sync::Arc;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use jiff::civil::date;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::{mpsc, watch};

use super::fixture::{settings, text_of};
use super::home_views::{
    finished_items, first_view, full_view, newsletter, note, person_plan, view_of,
};
use crate::event_loop::InteractiveScreen as _;
use crate::home::HomeScreen;
use crate::keymap::{KeyChord, KeyContext, TABLE};
use crate::session::{ScreenEffect, ScreenMessage};
use crate::{
    ExitReason, HomeChannels, HomeExit, HomeRequest, HomeView, KeyOverrides, OpenSession, Theme,
    UiAppearance,
};
use planwright_model::catch_up::{CatchUpWay, TaskOccurrence};
use planwright_model::event::{Command, Record, TaskEvent};
use planwright_model::{Actor, Seq, SessionId};
use planwright_state::{SessionState, TaskStatus};

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

impl Stage {
    pub(super) fn press(&mut self, keys: &[&str]) -> ScreenEffect {
        let mut effect = ScreenEffect::Idle;
        for key in keys {
            let key = KeyChord::parse(key).unwrap();
            let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            let event = Event::Key(KeyEvent::new(key.code, modifiers));
            effect = self.home.update(ScreenMessage::Input(event)).unwrap();
        }
        effect
    }

    fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            press(&mut self.home, KeyCode::Char(letter));
        }
    }

    fn frame(&mut self, width: u16, height: u16) -> String {
        draw(&mut self.home, width, height)
    }

    pub(super) fn draw(&mut self, width: u16, height: u16) -> Buffer {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        self.home.draw(&mut buf).unwrap();
        buf
    }

    fn show(&mut self, view: HomeView) {
        self.news.send_replace(Arc::new(view));
        self.home.update(ScreenMessage::Head(Seq(1))).unwrap();
    }

    fn requested(&mut self) -> Option<Command> {
        match self.requests.try_recv().ok()? {
            HomeRequest::Command { command, .. } => Some(command),
            HomeRequest::Remove(_) | HomeRequest::Export { .. } => None,
        }
    }
}

fn draw(home: &mut HomeScreen, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    home.draw(&mut buf).unwrap();
    text_of(&buf)
}

pub(super) fn press(home: &mut HomeScreen, code: KeyCode) -> ScreenEffect {
    home.update(ScreenMessage::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))).unwrap()
}

/// The newsletter alone, and the first of its tasks that is still to be done.
fn newsletter_view() -> (HomeView, planwright_model::TaskId) {
    let state = newsletter();
    let task = state.tasks.id(1).clone();
    (view_of(vec![("aaaaaa000000", state)]), task)
}

#[test]
fn a_key_does_not_put_off_the_next_minute() {
    let mut stage = stage(full_view());
    // It was made at 14:22:31.
    assert_eq!(stage.home.tick_delay(), Some(std::time::Duration::from_secs(29)));
    super::fixture::pass(20_000);
    stage.press(&["j"]);
    assert_eq!(stage.home.tick_delay(), Some(std::time::Duration::from_secs(9)));
}

#[test]
fn a_full_day_is_drawn_at_every_size() {
    let mut stage = stage(full_view());
    for (width, height) in [(80, 24), (120, 40), (200, 60), (60, 16)] {
        let frame = stage.frame(width, height);
        insta::assert_snapshot!(format!("home_{width}x{height}"), frame);
    }
    stage.press(&["t"]);
    insta::assert_snapshot!("home_today_200x60", stage.frame(200, 60));
    insta::assert_snapshot!("home_today_80x24", stage.frame(80, 24));
    stage.press(&["Tab"]);
    insta::assert_snapshot!("home_plans_80x24", stage.frame(80, 24));
    let small = stage.frame(52, 14);
    assert!(small.contains("Planwright needs 60x16, this is 52x14."), "{small}");
}

#[test]
fn the_first_start_has_the_cursor_in_the_box_and_examples_below_it() {
    let mut stage = stage(first_view());
    insta::assert_snapshot!("home_first_80x24", stage.frame(80, 24));
    stage.type_text("i n q d");
    assert!(stage.frame(80, 24).contains("i n q d"), "letters are text");
    let mut stage = self::stage(first_view());
    stage.press(&["Enter"]);
    assert!(stage.home.chosen.is_none(), "an empty box plans nothing");
    stage.press(&["Down", "Down", "Down", "Enter"]);
    assert_eq!(stage.home.chosen, Some(HomeExit::Plan("learn Rust, 5 hours a week".into())));
    let mut stage = self::stage(first_view());
    stage.press(&["Down", "Down", "Down", "Down", "Enter"]);
    assert_eq!(stage.home.chosen, Some(HomeExit::RunFile("plan.toml".into())));
    let mut stage = self::stage(first_view());
    stage.press(&["Down"; 9]);
    stage.press(&["Enter"]);
    assert_eq!(stage.home.chosen, Some(HomeExit::Demo));
}

#[test]
fn letters_type_only_while_the_box_has_the_cursor_and_leaving_keeps_the_text() {
    let mut stage = stage(full_view());
    stage.press(&["i"]);
    stage.type_text("move house");
    stage.type_text(" by the end of February, budget 3000, like last year");
    assert!(stage.frame(120, 40).contains("Read      "), "{}", stage.frame(120, 40));
    insta::assert_snapshot!("home_goal_120x40", stage.frame(120, 40));
    stage.press(&["Ctrl-u"]);
    stage.type_text("move house");
    stage.press(&["Esc"]);
    stage.type_text("jk");
    assert!(stage.frame(80, 24).contains("move house"), "the text stays");
    stage.press(&["i"]);
    stage.type_text("!");
    stage.press(&["Ctrl-j"]);
    stage.type_text("in May");
    stage.press(&["Enter"]);
    assert_eq!(stage.home.chosen, Some(HomeExit::Plan("move house!\nin May".into())));
}

#[test]
fn up_recalls_earlier_goals_and_down_brings_back_what_was_typed() {
    let mut stage = stage(full_view());
    stage.press(&["i"]);
    stage.type_text("half");
    stage.press(&["Up"]);
    assert!(stage.frame(80, 24).contains("learn Rust, 5 hours a week"));
    stage.press(&["Up", "Up", "Up"]);
    assert!(stage.frame(80, 24).contains("launch a newsletter in 6 weeks"));
    stage.press(&["Down", "Down"]);
    assert!(stage.frame(80, 24).contains("┃ half"), "{}", stage.frame(80, 24));
}

#[test]
fn what_needs_the_person_is_one_list_oldest_first_and_n_opens_the_next() {
    let mut stage = stage(full_view());
    let frame = stage.frame(120, 40);
    let row = |words: &str| {
        let found = frame.lines().position(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("{words} in {frame}"))
    };
    assert!(row("are late") < row("Approve the plan"), "late tasks are the oldest");
    assert!(row(" failed ") > row("needs you"), "a failure is there");
    stage.press(&["!"]);
    insta::assert_snapshot!("home_inbox_120x40", stage.frame(120, 40));
    stage.press(&["Esc", "j", "Enter"]);
    assert!(matches!(stage.home.chosen, Some(HomeExit::OpenTarget(..))), "{:?}", stage.home.chosen);
}

#[test]
fn a_row_that_is_settled_stays_until_the_list_is_left() {
    let mut stage = stage(full_view());
    assert!(stage.frame(120, 40).contains("Approve the plan"));
    let mut view = full_view();
    view.open.retain(|open| open.id != SessionId::new("cccccc000000"));
    stage.show(view);
    assert!(stage.frame(120, 40).contains("Approve the plan"), "it is still there, dim");
    stage.press(&["t"]);
    assert!(!stage.frame(120, 40).contains("Approve the plan"));
}

#[test]
fn enter_opens_the_card_of_a_task_and_never_finishes_it() {
    let (view, task) = newsletter_view();
    let state = note(
        SessionState::clone(&view.open[0].state),
        task.as_str(),
        "Opening is too long. Cut it in half.",
        "2026-06-08T10:00:00Z".parse().unwrap(),
    );
    let mut stage = stage(view_of(vec![("aaaaaa000000", state)]));
    stage.press(&["t", "Home", "Enter"]);
    let card = stage.frame(120, 40);
    insta::assert_snapshot!("home_card_120x40", card);
    assert!(card.contains("Opening is too long"), "{card}");
    assert!(stage.requests.try_recv().is_err());
    stage.press(&["v"]);
    let details = stage.frame(120, 40);
    assert!(details.contains(&format!("Id          {task}")), "{details}");
    stage.press(&["d"]);
    let done = Command::MarkTask {
        task: task.clone(),
        occurrence: None,
        done: true,
        note: None,
        by: Actor::Person,
    };
    assert_eq!(stage.requested(), Some(done));
    stage.press(&["c"]);
    stage.type_text("half of it");
    stage.press(&["Enter"]);
    let noted = Command::NoteTask { task, text: "half of it".into(), by: Actor::Person };
    assert_eq!(stage.requested(), Some(noted));
}

#[test]
fn done_goes_to_the_next_row_and_undo_opens_the_task_again() {
    let (view, task) = newsletter_view();
    let mut stage = stage(view);
    stage.press(&["t", "Home"]);
    let before = stage.frame(120, 40);
    stage.press(&["d"]);
    assert!(matches!(stage.requested(), Some(Command::MarkTask { done: true, .. })));
    assert_ne!(stage.frame(120, 40), before, "the cursor moved on");
    stage.press(&["u"]);
    let reopen = Command::ReopenTask { task, occurrence: None, by: Actor::Person };
    assert_eq!(stage.requested(), Some(reopen));
    stage.press(&["u"]);
    assert!(stage.frame(120, 40).contains("Nothing to undo here"));
}

#[test]
fn when_replaces_the_date_it_opens_with_and_says_what_it_read() {
    let (view, _) = newsletter_view();
    let mut stage = stage(view);
    stage.press(&["t", "Home", "w"]);
    assert!(stage.frame(120, 40).contains("type now, tomorrow"));
    stage.type_text("tomorrow 8:00");
    assert!(stage.frame(120, 40).contains("→ Tue 9 Jun 08:00"), "{}", stage.frame(120, 40));
    stage.type_text("x");
    stage.press(&["Enter"]);
    assert!(stage.frame(120, 40).contains("not a date or time"));
    assert!(stage.requests.try_recv().is_err());
    stage.press(&["Backspace", "Enter"]);
    let to = "2026-06-09T08:00:00Z".parse().unwrap();
    match stage.requested() {
        Some(Command::MoveBlock { to: moved, .. }) => assert_eq!(moved, to),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_waits_for_another_task_says_for_which() {
    let (view, _) = newsletter_view();
    let mut stage = stage(view);
    stage.press(&["t", "End", "d"]);
    let frame = stage.frame(120, 40);
    assert!(frame.contains("d: first comes "), "{frame}");
    assert!(stage.requests.try_recv().is_err());
}

#[test]
fn a_late_plan_shows_the_ways_to_catch_up_and_applies_the_chosen_one() {
    let (view, task) = newsletter_view();
    let mut stage = stage(view);
    stage.press(&["C"]);
    insta::assert_snapshot!("catch_up_120x40", stage.frame(120, 40));
    insta::assert_snapshot!("catch_up_80x24", stage.frame(80, 24));
    insta::assert_snapshot!("catch_up_200x60", stage.frame(200, 60));
    stage.press(&["j"]);
    let skipping = stage.frame(120, 40);
    assert!(skipping.contains("skipped"), "{skipping}");
    assert!(stage.requests.try_recv().is_err(), "nothing changes before it is applied");
    stage.press(&["k", "j", "j", "j", "-"]);
    assert!(stage.frame(120, 40).contains("left as it is"), "{}", stage.frame(120, 40));
    stage.press(&["k", "k", "k", "a"]);
    let left_out = vec![TaskOccurrence::new(task, None)];
    let way = CatchUpWay::MoveLate;
    let command = Command::CatchUp { way, left_out, busy: Vec::new(), by: Actor::Person };
    assert_eq!(stage.requested(), Some(command));
    stage.press(&["u"]);
    assert_eq!(stage.requested(), Some(Command::Undo));
}

#[test]
fn requests_that_nobody_gets_to_are_refused_in_a_sentence() {
    let mut state = person_plan("learn Rust, 5 hours a week", date(2026, 6, 7));
    let at = state.at.unwrap();
    for task in 0..8 {
        let id = state.tasks.id(task).clone();
        let over = TaskEvent::HandedOver { task: id };
        state.apply(&Record::new(state.seq.next(), at, over));
    }
    assert_eq!(state.tasks.row(0).status, TaskStatus::Yours);
    let mut stage = stage(view_of(vec![("aaaaaa000000", state)]));
    stage.press(&["t", "Home"]);
    for _ in 0..WAITING {
        stage.press(&["c"]);
        stage.type_text("x");
        stage.press(&["Enter"]);
    }
    assert!(!stage.frame(80, 24).contains("Try again"));
    stage.press(&["c"]);
    stage.type_text("x");
    stage.press(&["Enter"]);
    assert!(stage.frame(80, 24).contains("Earlier changes are still being saved"));
}

#[test]
fn plans_are_grouped_by_what_they_need_and_found_by_their_words() {
    let mut stage = stage(full_view());
    let frame = stage.frame(120, 40);
    let row = |words: &str| {
        let found = frame.lines().position(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("{words} in {frame}"))
    };
    assert!(row("running 2") < row("drafts 1"));
    assert!(row("drafts 1") < row("active 2"));
    assert!(row("active 2") < row("failed 1"));
    stage.press(&["/"]);
    stage.type_text("ci new");
    let found = stage.frame(80, 24);
    assert!(found.contains("Migrate CI") && !found.contains("Learn Rust"), "{found}");
    stage.press(&["Enter", "Enter"]);
    assert_eq!(stage.home.chosen, Some(HomeExit::Open(SessionId::new("0b0000000000"))));
    let mut stage = self::stage(full_view());
    stage.press(&["/"]);
    stage.type_text("nothing like it");
    assert!(stage.frame(80, 24).contains("No plan has these words"));
    stage.press(&["Esc"]);
    assert!(stage.frame(80, 24).contains("Learn Rust"));
}

#[test]
fn a_plan_is_removed_only_after_a_yes() {
    let mut stage = stage(HomeView { items: finished_items(), ..view_of(Vec::new()) });
    stage.press(&["Home", "Down", "Delete"]);
    let text = stage.frame(120, 24);
    assert!(text.contains("deleted for good") && text.contains("Compare three"), "{text}");
    stage.press(&["n"]);
    assert!(stage.requests.try_recv().is_err());
    stage.press(&["Delete", "y"]);
    assert!(matches!(stage.requests.try_recv(), Ok(HomeRequest::Remove(_))));
}

#[test]
fn the_plan_under_the_cursor_is_exported_from_home() {
    let (view, _) = newsletter_view();
    let mut stage = stage(view);
    stage.press(&["t", ":"]);
    stage.type_text("export calendar");
    let text = stage.frame(120, 40);
    assert!(
        text.contains("Export the plan as a calendar") && text.contains("newsletter"),
        "{text}"
    );
    stage.press(&["Enter"]);
    let (session, export) = (SessionId::new("aaaaaa000000"), crate::SessionExport::PlanCalendar);
    assert_eq!(stage.requests.try_recv(), Ok(HomeRequest::Export { session, export }));
    // Without a plan there is nothing to export, and it says so.
    let mut empty = self::stage(view_of(Vec::new()));
    empty.press(&["Esc", ":"]);
    empty.type_text("export calendar");
    assert!(empty.frame(120, 40).contains("there is no plan here yet"));
    empty.press(&["Enter"]);
    assert!(empty.requests.try_recv().is_err());
}

#[test]
fn a_title_of_today_takes_two_lines_rather_than_lose_words_where_there_is_room() {
    let plan = person_plan("launch a newsletter in 6 weeks", date(2026, 6, 8));
    let mut stage = stage(view_of(vec![("aaaaaa000000", plan)]));
    stage.press(&["t"]);
    let rest = |text: String| {
        let second = |line: &&str| line.trim() == "is for and what it promises them";
        text.lines().filter(second).count()
    };
    // The task is done in two sittings. On a low screen only the row under the cursor has the room.
    assert_eq!(rest(stage.frame(80, 24)), 1, "{}", stage.frame(80, 24));
    assert_eq!(rest(stage.frame(80, 50)), 2, "{}", stage.frame(80, 50));
    stage.press(&["j"]);
    let low = stage.frame(80, 24);
    assert_eq!(rest(low.clone()), 1, "{low}");
    // A click on a second line is a click on its row.
    let high = stage.frame(80, 50);
    let line =
        high.lines().position(|line| line.trim() == "is for and what it promises them").unwrap();
    let cursor = |text: &str| text.lines().nth(line - 1).unwrap().contains('►');
    assert!(!cursor(&high), "{high}");
    let click = crossterm::event::MouseEvent {
        kind: crossterm::event::MouseEventKind::Down(crossterm::event::MouseButton::Left),
        column: 20,
        row: line as u16,
        modifiers: KeyModifiers::NONE,
    };
    stage.home.update(ScreenMessage::Input(Event::Mouse(click))).unwrap();
    let clicked = stage.frame(80, 50);
    assert!(cursor(&clicked), "{clicked}");
}

#[test]
fn a_failed_run_is_dismissed_at_once_and_that_can_be_undone() {
    let mut stage = stage(HomeView { items: finished_items(), ..view_of(Vec::new()) });
    stage.press(&["Home"]);
    assert!(stage.frame(120, 24).contains("Del dismiss"), "{}", stage.frame(120, 24));
    stage.press(&["Delete"]);
    let sent = |on| {
        let session = SessionId::new("0b0000000000");
        Ok(HomeRequest::Command { session, command: Command::DismissRun { on } })
    };
    assert_eq!(stage.requests.try_recv(), sent(true));
    stage.press(&["u"]);
    assert_eq!(stage.requests.try_recv(), sent(false));
}

#[test]
fn a_day_with_nothing_to_do_names_what_comes_next() {
    let plan = person_plan("learn Rust, 5 hours a week", date(2026, 6, 8));
    let mut stage = stage(view_of(vec![("aaaaaa000000", plan)]));
    let text = stage.frame(120, 40);
    assert!(text.contains("Nothing planned today. Next: "), "{text}");
}

#[test]
fn news_of_other_processes_show_up_and_the_cursor_stays_on_its_task() {
    let (view, task) = newsletter_view();
    let mut stage = stage(view.clone());
    stage.press(&["t", "Home"]);
    let mut state = SessionState::clone(&view.open[0].state);
    let note = TaskEvent::Noted { task, text: "by another".into(), by: Actor::Person };
    state.apply(&Record::new(state.seq.next(), state.at.unwrap(), note));
    let open = vec![OpenSession {
        id: view.open[0].id.clone(),
        state: Arc::new(state),
        failures: std::collections::BTreeMap::new(),
    }];
    stage.show(HomeView { open, ..view });
    assert!(stage.frame(200, 60).contains("by another"));
}

#[test]
fn a_notice_stays_until_the_next_key() {
    let mut stage = stage(full_view());
    stage.home.show_notice("it cannot be suspended");
    assert!(stage.frame(80, 24).contains("it cannot be suspended"));
    stage.press(&["Down"]);
    assert!(!stage.frame(80, 24).contains("it cannot be suspended"));
}

/// Every action that help of the home screen lists does something there with its key.
#[test]
fn every_key_in_the_help_of_home_works() {
    for action in crate::home::ACTIONS {
        let entry = TABLE.iter().find(|entry| entry.action == action).unwrap();
        for key in entry.keys {
            let mut stage = stage(full_view());
            stage.frame(120, 40);
            stage.press(&["Down"]);
            if entry.place == KeyContext::Today || entry.name == "comment" {
                stage.press(&["t"]);
            }
            let before = stage.frame(120, 40);
            let flow = stage.press(&[key]);
            let after = stage.frame(120, 40);
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
    let mut stage = stage(full_view());
    stage.press(&["?"]);
    insta::assert_snapshot!("home_help_80x24", stage.frame(80, 24));
    stage.press(&["Esc", ":"]);
    stage.type_text("goal");
    let text = stage.frame(80, 24);
    assert!(text.contains("new goal"), "{text}");
    stage.press(&["Enter", "q"]);
    assert!(stage.frame(80, 24).contains("┃ q"), "the box for a goal is open");
}

#[test]
fn another_theme_and_other_keys_apply_at_once() {
    let mut view = full_view();
    view.items.retain(|item| item.title.is_ascii());
    let mut stage = stage(view);
    let keys = std::collections::BTreeMap::from([("quit".to_owned(), "Z".to_owned())]);
    let look = UiAppearance {
        theme: Theme::built_in("light").unwrap(),
        keys: KeyOverrides(keys),
        ascii: true,
        reduced_motion: false,
        problem: None,
    };
    stage.home.apply_appearance(&look).unwrap();
    let text = stage.frame(80, 24);
    assert!(text.contains("Z quit") && text.is_ascii(), "{text}");
    let clash = std::collections::BTreeMap::from([("quit".to_owned(), "?".to_owned())]);
    let clash = UiAppearance { keys: KeyOverrides(clash), ..look };
    assert!(stage.home.apply_appearance(&clash).is_err());
    assert_eq!(stage.press(&["Z"]), ScreenEffect::Exit(ExitReason::Quit));
}
