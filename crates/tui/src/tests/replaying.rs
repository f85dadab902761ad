//! Marks, forks and comparisons: what a screen asks of the application, and what it shows of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crossterm::event::{Event, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fixture::{Fixture, Shown, release_plan, roles_of, settings, text_of};
use super::journals::recorded_journal;
use super::lint::lint;
use crate::compare::CompareScreen;
use crate::event_loop::InteractiveScreen as _;
use crate::keymap::KeyChord;
use crate::session::{ScreenEffect, ScreenMessage};
use crate::ui_state::PaneFocus;
use crate::{ComparableSession, CompareView, ExitReason, SessionActions};
use planwright_model::event::{Record, SessionEvent};
use planwright_model::{RunKind, Seq, SessionId, TaskLink, TaskNode};
use planwright_state::SessionState;
use planwright_state::replay::compare::{RunComparison, compare_runs};
use planwright_state::replay::file_changes::RecordedEdit;
use planwright_state::replay::fork::ForkPlan;
use planwright_state::replay::{History, MemorySource};

const A: &str = "7f3a9c0d1e2f";
const B: &str = "91d0e2aaaaaa";

/// Answers requests from records, and remembers them.
#[derive(Debug, Default)]
pub(super) struct Answering {
    requests: Mutex<Vec<String>>,
}

impl Answering {
    fn request(&self, text: String) {
        self.requests.lock().unwrap().push(text);
    }
}

impl SessionActions for Answering {
    fn set_bookmark(&self, _: &SessionId, at: Seq, note: Option<&str>) -> Result<(), String> {
        self.request(format!("bookmark {at} {note:?}"));
        Ok(())
    }

    fn plan_fork(&self, session: &SessionId, at: Seq) -> Result<ForkPlan, String> {
        let records = &Fixture::failed().records[..at.0 as usize];
        let changed = BTreeMap::from([("audit".into(), "notes/breaking.md".to_owned())]);
        ForkPlan::new(session, &SessionState::from_records(records), None, &changed)
            .map_err(|error| error.to_string())
    }

    fn create_fork(&self, _: &SessionId, at: Seq) -> Result<SessionId, String> {
        self.request(format!("fork {at}"));
        Ok(SessionId::new(B))
    }

    fn compare_sessions(&self, _: &SessionId, with: &str) -> Result<CompareView, String> {
        if with == "c0ffee" {
            return Err("no session begins with `nobody`".to_owned());
        }
        Ok(two_runs())
    }

    fn comparable_sessions(&self, _: &SessionId) -> Result<Vec<ComparableSession>, String> {
        let item = |id: &str, title: &str, is_parent| ComparableSession {
            id: SessionId::new(id),
            title: title.to_owned(),
            at: "2026-06-07T09:30:00Z".parse().unwrap(),
            is_parent,
        };
        Ok(vec![item(B, "Release 2.0 of the parser", true), item("c0ffee", "Nobody's plan", false)])
    }

    fn other_plan_blocks(
        &self,
        _: &SessionId,
    ) -> Result<Vec<planwright_schedule::OtherBlock>, String> {
        Ok(Vec::new())
    }

    fn export_view(
        &self,
        _: &SessionId,
        format: crate::ViewFormat,
        text: &str,
    ) -> Result<String, String> {
        Ok(format!("{} lines to a .{} file", text.lines().count(), format.file_ending()))
    }

    fn export_session(
        &self,
        session: &SessionId,
        export: crate::SessionExport,
    ) -> Result<String, String> {
        Ok(format!("Exported to planwright-{}.{}", session.short_id(), export.file_ending()))
    }

    fn export_comparison(&self, comparison: &RunComparison) -> Result<String, String> {
        self.request(format!("keep {} {}", comparison.a.session, comparison.b.session));
        Ok("written to compare.md".to_owned())
    }
}

fn replay(at: u64) -> (Shown, Arc<Answering>) {
    let actions = Arc::new(Answering::default());
    let shown = Fixture::failed().show_with(false, Some(Seq(at)), Some(Arc::clone(&actions) as _));
    (shown, actions)
}

fn requests(actions: &Answering) -> Vec<String> {
    actions.requests.lock().unwrap().clone()
}

fn compare_view(a: Vec<Record>, b: Vec<Record>) -> CompareView {
    let history = |records| History::new(MemorySource::new(records));
    let (mut a, mut b) = (history(a), history(b));
    let comparison =
        compare_runs((&SessionId::new(A), &mut a), (&SessionId::new(B), &mut b)).unwrap();
    CompareView { comparison, a, b }
}

/// Two recorded runs of the release: in the first fuzzing fails, the second has one more task and another command.
fn recorded_runs() -> CompareView {
    compare_view(recorded_journal("release_run"), recorded_journal("release_second_run"))
}

/// The release, and a fork of it with one more task and other commands.
fn two_runs() -> CompareView {
    let mut plan = release_plan();
    plan.tasks[2].duration_minutes = Some(7);
    plan.tasks[8].run =
        RunKind::Shell("cargo fuzz run lex -- -max_total_time=120 -rss_limit_mb=4096".into());
    plan.tasks[8].dependencies.push(TaskLink::finish_to_start("seeds"));
    plan.tasks.push(TaskNode::new("seeds", "Collect seed inputs"));
    let begun = Fixture::release().wait(136).approved().start("audit").start("bench");
    let fork = begun
        .hand_over("keys")
        .output("bench", "14 benchmarks written to target/criterion\n")
        .wait(72)
        .done("bench", 72)
        .with(SessionEvent::Forked {
            parent: A.into(),
            at: Seq(14),
            reuses: 1,
            reruns: 11,
            imported: false,
        })
        .propose(plan, vec![])
        .ask_plan()
        .approved()
        .start("audit")
        .wait(178)
        .done("audit", 178)
        .start("api")
        .start("seeds")
        .wait(48)
        .done("seeds", 48)
        .start("fuzz")
        .wait(120)
        .done("fuzz", 120)
        .done("api", 250)
        .start("corpus")
        .start("port")
        .wait(60)
        .done("corpus", 200)
        .done("port", 40);
    compare_view(Fixture::failed().records, fork.records)
}

pub(super) fn screen(actions: &Arc<Answering>) -> CompareScreen {
    CompareScreen::new(recorded_runs(), Some(Arc::clone(actions) as _), &settings()).unwrap()
}

fn draw(screen: &mut CompareScreen, width: u16, height: u16) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf).unwrap();
    lint(&buf);
    buf
}

/// The comparison as it opens.
pub(super) fn compared_runs(width: u16, height: u16) -> Buffer {
    draw(&mut screen(&Arc::default()), width, height)
}

fn frame(screen: &mut CompareScreen, width: u16, height: u16) -> String {
    let buf = draw(screen, width, height);
    format!("{}\n\n{}", text_of(&buf), roles_of(&buf))
}

fn press(screen: &mut CompareScreen, keys: &[&str]) -> ScreenEffect {
    let mut flow = ScreenEffect::Idle;
    for key in keys {
        let key = KeyChord::parse(key).unwrap();
        let event = Event::Key(KeyEvent::new(key.code, KeyModifiers::NONE));
        flow = screen.update(ScreenMessage::Input(event)).unwrap();
    }
    flow
}

/// The row of marks under the track.
fn mark_row(text: &str) -> String {
    let rows: Vec<&str> = text.lines().collect();
    let track = rows.iter().position(|row| row.contains('┫')).unwrap();
    rows[track + 1].to_owned()
}

#[test]
fn two_runs_side_by_side() {
    let actions = Arc::default();
    insta::assert_snapshot!("compare_120x40", frame(&mut screen(&actions), 120, 40));
    insta::assert_snapshot!("compare_80x24", frame(&mut screen(&actions), 80, 24));
    insta::assert_snapshot!("compare_100x30", frame(&mut screen(&actions), 100, 30));
    for (width, height) in [(1, 1), (20, 4), (40, 10), (200, 60)] {
        draw(&mut screen(&actions), width, height);
    }
}

#[test]
fn a_fork_is_named_by_the_run_it_comes_from() {
    let mut screen = CompareScreen::new(two_runs(), None, &settings()).unwrap();
    let text = text_of(&draw(&mut screen, 120, 40));
    assert!(text.contains("B fork of A at event 14"), "{text}");
    assert!(text.contains("+ Collect seed inputs"), "{text}");
}

/// Both commands begin alike, and one is longer than its line.
#[test]
fn the_first_difference_is_in_sight_where_commands_are_cut() {
    for (width, height) in [(100, 30), (120, 40)] {
        let text = text_of(&draw(&mut screen(&Arc::default()), width, height));
        assert!(text.contains("-rss_l"), "{text}");
    }
}

#[test]
fn the_comparison_opens_where_the_runs_went_apart_and_leads_along() {
    let actions = Arc::default();
    let mut screen = screen(&actions);
    let cursor = |screen: &mut CompareScreen| {
        let buf = draw(screen, 120, 40);
        let palette = settings().theme.palette(crate::theme::ColorDepth::True);
        let marked = palette.style(crate::theme::ThemeRole::Selection).bg;
        let row = (0..40).find(|y| Some(buf[(0, *y)].bg) == marked).unwrap();
        text_of(&buf)
            .lines()
            .nth(usize::from(row))
            .unwrap()
            .split_whitespace()
            .find(|word| word.chars().count() > 1)
            .unwrap()
            .to_owned()
    };
    let first = cursor(&mut screen);
    press(&mut screen, &["n"]);
    let second = cursor(&mut screen);
    assert_ne!(first, second);
    press(&mut screen, &["N"]);
    assert_eq!(cursor(&mut screen), first);
    assert!(text_of(&draw(&mut screen, 120, 40)).contains("are hidden"));
    press(&mut screen, &["="]);
    assert!(!text_of(&draw(&mut screen, 120, 40)).contains("are hidden"));
    assert_eq!(press(&mut screen, &["q"]), ScreenEffect::Exit(ExitReason::BackToList));
}

#[test]
fn runs_are_swapped_and_the_comparison_is_kept() {
    let actions = Arc::new(Answering::default());
    let mut screen = screen(&actions);
    let run = |screen: &mut CompareScreen, words: &str| {
        press(screen, &[":"]);
        for letter in words.chars() {
            press(screen, &[&letter.to_string()]);
        }
        press(screen, &["Enter"]);
    };
    run(&mut screen, "export");
    assert!(text_of(&draw(&mut screen, 120, 40)).contains("written to compare.md"));
    run(&mut screen, "swap");
    run(&mut screen, "export");
    assert_eq!(requests(&actions), [format!("keep {A} {B}"), format!("keep {B} {A}")]);
    let text = text_of(&draw(&mut screen, 120, 40));
    assert!(text.contains("- Collect seed inputs"), "what was new is now missing:\n{text}");
}

#[test]
fn help_lists_the_keys_of_a_comparison_and_narrows_by_typing() {
    let mut screen = screen(&Arc::default());
    press(&mut screen, &["?"]);
    let text = text_of(&draw(&mut screen, 120, 40));
    for words in ["help", "compare", "next difference", "hide or show what is the same"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    press(&mut screen, &["s", "w", "a", "p"]);
    let text = text_of(&draw(&mut screen, 80, 24));
    assert!(text.contains("swap A and B") && !text.contains("page down"), "{text}");
    press(&mut screen, &["Esc", "Enter", "?"]);
    assert!(text_of(&draw(&mut screen, 80, 24)).contains("the other run's steps"));
    press(&mut screen, &["?", "Esc", "q"]);
    assert!(!text_of(&draw(&mut screen, 80, 24)).contains("type to filter"));
}

#[test]
fn both_traces_of_a_task_stand_beside_each_other_or_as_tabs() {
    let actions = Arc::default();
    let mut screen = screen(&actions);
    press(&mut screen, &["=", "Home"]);
    for _ in 0..8 {
        press(&mut screen, &["j"]);
    }
    press(&mut screen, &["Enter"]);
    insta::assert_snapshot!("compare_traces_120x40", frame(&mut screen, 120, 40));
    insta::assert_snapshot!("compare_traces_80x24", frame(&mut screen, 80, 24));
    press(&mut screen, &["Tab"]);
    assert!(text_of(&draw(&mut screen, 80, 24)).contains("B · Fuzz for 2 minutes"));
    press(&mut screen, &["Esc"]);
    assert!(text_of(&draw(&mut screen, 120, 40)).contains("first difference"));
}

#[test]
fn a_session_opens_a_comparison_over_itself_and_comes_back() {
    let (mut shown, _) = replay(20);
    shown.press(&[":"]);
    shown.type_text("compare with");
    shown.press(&["Enter"]);
    let text = shown.text(120, 40);
    assert!(text.contains("forked from it · Sun 7 Jun 09:30"), "{text}");
    insta::assert_snapshot!("compare_list_120x40", shown.frame(120, 40));
    shown.type_text("nobody");
    assert!(shown.text(120, 40).contains("1 of 2"));
    shown.press(&["Enter"]);
    assert!(shown.text(120, 40).contains("no session begins with `nobody`"));
    shown.press(&[":"]);
    shown.type_text("compare with");
    shown.press(&["Enter"]);
    // The run that this one was forked from is the first.
    shown.press(&["Enter"]);
    assert!(shown.text(120, 40).contains("compare · A Release 2.0"));
    assert_ne!(shown.press(&["q"]), ScreenEffect::Exit(ExitReason::BackToList));
    assert!(shown.text(120, 40).contains("REPLAY"));
}

#[test]
fn a_fork_states_what_it_does_again_and_is_made_by_a_yes_alone() {
    let (mut shown, actions) = replay(30);
    shown.press(&["F"]);
    insta::assert_snapshot!("fork_card_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("fork_card_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    assert!(requests(&actions).is_empty());
    shown.press(&["Esc", "F"]);
    assert!(requests(&actions).is_empty());
    assert_eq!(shown.press(&["a"]), ScreenEffect::Exit(ExitReason::BackToList));
    assert_eq!(requests(&actions), ["fork 30"]);
    assert_eq!(shown.screen.created_fork, Some(SessionId::new(B)));
}

#[test]
fn a_run_that_goes_on_is_not_left_for_its_fork() {
    let actions = Arc::new(Answering::default());
    let mut shown = Fixture::running().show_with(true, None, Some(Arc::clone(&actions) as _));
    shown.press(&["[", "[", "F"]);
    assert!(shown.text(120, 40).contains("This run continues"));
    assert_ne!(shown.press(&["a"]), ScreenEffect::Exit(ExitReason::BackToList));
    assert_eq!(requests(&actions).len(), 1);
    assert!(shown.text(120, 40).contains("The fork 91d0e2 is made"));
}

#[test]
fn a_bookmark_is_kept_with_its_note_and_taken_back() {
    let (mut shown, actions) = replay(20);
    shown.press(&["m"]);
    shown.type_text("look here");
    shown.press(&["Enter"]);
    assert_eq!(requests(&actions), ["bookmark 20 Some(\"look here\")"]);
    let text = shown.text(120, 40);
    assert!(text.contains("B look here"), "{text}");
    let marks = mark_row(&text);
    assert!(marks.contains('B'), "{marks}");
    shown.press(&["Home"]);
    assert!(shown.text(120, 40).contains("event 1 of"));
    shown.press(&["}", "}", "}"]);
    shown.press(&["m"]);
    let after = requests(&actions);
    shown.press(&["Esc"]);
    shown.press(&["g", "2", "0", "Enter", "m"]);
    assert_eq!(requests(&actions).last().unwrap(), "bookmark 20 None", "{after:?}");
}

#[test]
fn a_file_has_nobody_to_fork_or_keep_marks() {
    let mut shown = Fixture::failed().replay(20);
    shown.press(&["F"]);
    assert!(shown.text(120, 40).contains("F: this is a file; import it first"));
    shown.press(&["m", "Enter"]);
    assert!(shown.text(120, 40).contains("until you leave"));
}

#[test]
fn keys_that_act_say_that_this_is_the_past() {
    let (mut shown, _) = replay(20);
    for key in ["R", "P", "S"] {
        shown.press(&[key]);
        let text = shown.text(120, 40);
        assert!(text.contains("This is the past. F forks here."), "{key}\n{text}");
    }
}

#[test]
fn a_hit_of_a_search_in_the_past_moves_to_its_moment() {
    let (mut shown, _) = replay(1);
    shown.draw(120, 40);
    shown.press(&["/"]);
    shown.type_text("panicked");
    shown.press(&["Enter"]);
    for _ in 0..200 {
        shown.screen.update(ScreenMessage::Tick).unwrap();
    }
    let hit = shown.screen.state().seq.0;
    assert!(hit > 1, "the cursor stands on the hit");
    let text = shown.text(120, 40);
    let marks = mark_row(&text);
    assert!(marks.contains('▲') || marks.contains('✗'), "{marks}");
}

#[test]
fn on_the_bar_left_and_right_move_a_cell() {
    let (mut shown, _) = replay(20);
    shown.draw(120, 40);
    shown.screen.ui.focus = PaneFocus::Scrub;
    shown.press(&["l"]);
    let on = shown.screen.state().seq.0;
    assert!(on > 20);
    shown.press(&["h"]);
    assert!(shown.screen.state().seq.0 < on);
}

#[test]
fn a_landmark_selects_its_task_in_every_pane() {
    let (mut shown, _) = replay(20);
    shown.press(&["}"]);
    let fuzz = Some("fuzz".into());
    assert_eq!(shown.screen.ui.graph.selected, fuzz);
    let text = shown.text(120, 40);
    assert!(text.contains("╔═ ✗ 2 min ═"), "{text}");
    let frame = shown.text(80, 24);
    assert!(frame.contains("[✗ Fuzz"), "{frame}");
    assert!(frame.contains("\n Fuzz for 2 minutes   command: "), "{frame}");
}

#[test]
fn a_moment_is_found_by_event_time_offset_and_task() {
    let (mut shown, _) = replay(1);
    let mut go = |text: &str| {
        shown.press(&["g"]);
        shown.type_text(text);
        shown.press(&["Enter"]);
        (shown.screen.state().seq.0, shown.screen.ui.message.clone())
    };
    assert_eq!(go("30").0, 30);
    let by_time = go("14:15:41").0;
    assert_eq!(go("+7 min 18 s").0, by_time);
    let (task, said) = go("freeze");
    assert_eq!(said, None, "a part of a title is enough");
    let (same, said) = go("nothing of this name");
    assert_eq!(same, task);
    assert!(said.unwrap().starts_with("Enter an event number, a time, an offset"));
}

#[test]
fn a_recording_opens_at_its_first_landmark_and_says_that_it_plays() {
    let mut shown = Fixture::failed().show_with(false, None, None);
    let text = shown.text(120, 40);
    assert!(text.contains("paused · Space plays"), "{text}");
    assert!(text.contains("event 5 of") || text.contains("event 4 of"), "{text}");
    assert_eq!(shown.screen.update(ScreenMessage::Tick).unwrap(), ScreenEffect::Idle, "at rest");
    shown.press(&["]"]);
    assert!(!shown.text(120, 40).contains("Space plays"));
}

#[test]
fn a_demo_plays_as_soon_as_it_is_open_and_skips_idle_time() {
    let mut shown = Fixture::failed().playing();
    assert!(shown.text(120, 40).contains("scrub · playing"));
    let mut wall = 0;
    while shown.screen.ui.time.playing {
        super::fixture::pass(500);
        wall += 500;
        shown.screen.update(ScreenMessage::Tick).unwrap();
        assert!(wall < 120_000, "it never ends");
    }
    assert_eq!(shown.screen.state().seq.0, Fixture::failed().records.len() as u64);
    assert!(shown.text(120, 40).contains("scrub · paused"));
}

#[test]
fn files_at_the_cursor_are_those_that_agents_changed_up_to_it() {
    let fixture = Fixture::recorded_work();
    let last = Seq(fixture.records.len() as u64);
    let mut shown = fixture.show_with(false, Some(last), None);
    shown.settle_files();
    insta::assert_snapshot!("files_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("files_200x60", shown.frame(200, 60));
    shown.press(&["O"]);
    insta::assert_snapshot!("files_80x24", shown.frame(80, 24));
    shown.press(&["j"]);
    assert!(shown.text(120, 40).contains("Unexpected { found: char, at: Span }"));
    // Before the second edit there is one file.
    let is_edit = |record: &Record| RecordedEdit::from_record(record).is_some();
    let first = fixture.records.iter().position(is_edit);
    let mut shown = fixture.show_with(false, Some(Seq(first.unwrap() as u64 + 1)), None);
    shown.settle_files();
    let text = shown.text(120, 40);
    assert!(text.contains("notes/breaking.md") && text.contains(" 1, +6 -0 "), "{text}");
}
