//! Keys and what they lead to.

use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::fixture::{Fixture, Shown, pass, release_plan};
use crate::ExitReason;
use crate::keymap::KeyAction;
use crate::overlays::Overlay;
use crate::pane_context::SessionViewMode;
use crate::session::{ScreenEffect, ScreenMessage};
use crate::ui_state::PaneFocus;
use planwright_model::event::{ApprovalEvent, Command, CommandRefusal, PauseCause, RunEvent};
use planwright_model::{Actor, Answer, ChoiceAction, RequestId, RunKind};

fn answer(action: ChoiceAction) -> Command {
    Command::Answer { id: RequestId(1), answer: Answer::from(action), by: Actor::Person }
}

fn settled(fixture: &Fixture, width: u16, height: u16) -> Shown {
    let mut shown = fixture.live();
    shown.draw(width, height);
    pass(300);
    shown
}

#[test]
fn a_request_is_answered_by_its_key() {
    // A wider yes asks which, and a letter alone chooses; discarding asks first.
    for (keys, action) in [
        (&["a"][..], ChoiceAction::ApproveAndRun),
        (&["A", "Enter", "l"], ChoiceAction::ApproveAndStop),
        (&["x", "Enter", "x"], ChoiceAction::Abandon),
    ] {
        let mut shown = settled(&Fixture::release(), 120, 40);
        shown.press(keys);
        assert_eq!(shown.sent(), Some(answer(action)));
        assert!(shown.text(120, 40).contains("sent: "));
    }
}

#[test]
fn an_answer_is_sent_once_however_often_its_key_is_pressed() {
    let mut shown = settled(&Fixture::release(), 120, 40);
    shown.press(&["a", "a", "A", "x"]);
    assert_eq!(shown.sent(), Some(answer(ChoiceAction::ApproveAndRun)));
    assert_eq!(shown.sent(), None);
}

#[test]
fn a_click_on_a_tab_turns_to_it() {
    let mut shown = Fixture::running().live();
    shown.draw(80, 24);
    for (column, focus) in [
        (17, PaneFocus::Trace),
        (30, PaneFocus::Output),
        (38, PaneFocus::Approval),
        (3, PaneFocus::Graph),
        (70, PaneFocus::Graph),
    ] {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let click = MouseEvent { kind, column, row: 1, modifiers: KeyModifiers::NONE };
        shown.screen.update(ScreenMessage::Input(Event::Mouse(click))).unwrap();
        assert_eq!(shown.screen.ui.focus, focus);
        shown.draw(80, 24);
    }
}

#[test]
fn skipping_a_call_in_doubt_asks_how() {
    let mut shown = settled(&Fixture::in_doubt(), 120, 40);
    shown.press(&["S"]);
    assert_eq!(shown.sent(), None);
    shown.press(&["d"]);
    let answer = Answer::from(ChoiceAction::SkipWithDependents);
    assert_eq!(shown.sent(), Some(Command::Answer { id: RequestId(2), answer, by: Actor::Person }));
}

#[test]
fn keys_typed_before_the_card_appeared_and_shortly_after_do_not_answer_it() {
    let mut shown = Fixture::release().live();
    shown.press(&["a", "a"]);
    assert_eq!(shown.sent(), None);
    shown.draw(120, 40);
    pass(299);
    shown.press(&["a"]);
    assert_eq!(shown.sent(), None);
    pass(1);
    shown.press(&["a"]);
    assert_eq!(shown.sent(), Some(answer(ChoiceAction::ApproveAndRun)));
}

#[test]
fn no_key_says_yes_before_every_command_was_seen() {
    let mut shown = settled(&Fixture::release(), 60, 16);
    let text = shown.text(60, 16);
    assert!(text.contains("a 2 commands not seen, a shows more"), "{text}");
    let mut seen = String::new();
    let mut sent = None;
    for _ in 0..3 {
        shown.press(&["a"]);
        sent = shown.sent();
        if sent.is_some() {
            break;
        }
        seen.push_str(&shown.text(60, 16));
    }
    assert!(seen.contains("$ cargo test --workspace"), "{seen}");
    assert!(seen.contains("$ cargo publish --locked"), "{seen}");
    assert_eq!(sent, Some(answer(ChoiceAction::ApproveAndRun)));
    // Saying no needs no reading, but asks first.
    let mut shown = settled(&Fixture::release(), 60, 16);
    shown.press(&["x", "x"]);
    assert_eq!(shown.sent(), Some(answer(ChoiceAction::Abandon)));
}

#[test]
fn a_plan_is_approved_having_every_title_on_the_screen() {
    let mut shown = settled(&Fixture::release(), 80, 24);
    let mut seen = shown.text(80, 24);
    shown.press(&["PageDown"]);
    seen.push_str(&shown.text(80, 24));
    for task in &release_plan().tasks {
        assert!(seen.contains(&task.description), "{}: {seen}", task.description);
    }
    assert!(seen.contains("run this plan?") && seen.contains("a approve"), "{seen}");
}

#[test]
fn enter_and_the_mouse_never_answer() {
    let mut shown = settled(&Fixture::release(), 120, 40);
    shown.press(&["Enter", "y", "Space"]);
    for row in 0..40 {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let click = MouseEvent { kind, column: 90, row, modifiers: KeyModifiers::NONE };
        shown.screen.update(ScreenMessage::Input(Event::Mouse(click))).unwrap();
    }
    assert_eq!(shown.sent(), None);
}

#[test]
fn a_long_command_is_seen_byte_for_byte_before_it_is_approved() {
    let mut plan = release_plan();
    let command = format!("echo start; {}rm -rf \u{202e}/tmp/x", "true && ".repeat(200));
    plan.tasks[3].run = RunKind::Shell(command.clone());
    let fixture = Fixture::new("Long").propose(plan, vec![]).ask_plan();
    let mut shown = settled(&fixture, 80, 24);
    let mut seen = String::new();
    for _ in 0..60 {
        let text = shown.text(80, 24);
        for line in text.lines().map(str::trim) {
            if !seen.contains(line) {
                seen.push_str(line);
            }
        }
        shown.press(&["a"]);
        if let Some(sent) = shown.sent() {
            assert_eq!(sent, answer(ChoiceAction::ApproveAndRun));
            assert!(seen.contains("rm -rf <U+202E>/tmp/x"), "{seen}");
            return;
        }
    }
    panic!("the end was never reached");
}

#[test]
fn a_refusal_is_one_line_and_ends_with_the_next_key() {
    let fixture = Fixture::running();
    let mut shown = fixture.live();
    let mut longer = fixture.clone();
    let why = CommandRefusal::RunState { state: "finished".into() };
    longer.push(ApprovalEvent::Refused { command: "pause".into(), why });
    shown.press(&["P"]);
    assert_eq!(shown.sent(), Some(Command::Pause));
    assert!(shown.text(120, 40).contains("sent: pause"));
    shown.grow(&longer);
    assert!(shown.text(120, 40).contains("pause refused: the run is finished"));
    shown.press(&["j"]);
    assert!(!shown.text(120, 40).lines().last().unwrap().contains("refused"));
}

#[test]
fn stopping_after_the_step_quits_when_all_that_is_at_work_waits_for_an_answer() {
    for (journal, number) in [("change_review", 2), ("agent_question", 2), ("applied_check", 3)] {
        let fixture = super::journals::recorded_request(journal, number);
        let mut shown = fixture.live();
        shown.press(&["q", "j", "Enter"]);
        assert!(matches!(shown.sent(), Some(Command::Pause)), "{journal}");
        let paused = fixture.pause();
        let left = ScreenEffect::Exit(ExitReason::QuitWhileRunning);
        assert_eq!(shown.grow(&paused), left, "{journal}");
    }
    let fixture = Fixture::running();
    let mut shown = fixture.live();
    shown.press(&["q", "j", "Enter"]);
    assert_eq!(shown.grow(&fixture.pause()), ScreenEffect::Draw, "the step is not over");
}

#[test]
fn leaving_asks_while_work_runs() {
    let mut shown = Fixture::recorded_work().live();
    assert_eq!(shown.press(&["q"]), ScreenEffect::Draw);
    insta::assert_snapshot!("leave_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("leave_80x24", shown.frame(80, 24));
    shown.press(&["q"]);
    assert!(shown.screen.ui.overlay.is_none(), "the same key stays");
    let left = ScreenEffect::Exit(ExitReason::QuitWhileRunning);
    assert_eq!(Fixture::running().live().press(&["q", "j", "j", "Enter"]), left);
    let detached = ScreenEffect::Exit(ExitReason::Detached);
    for keys in [&["q", "Enter"][..], &["q", "D"], &["D"]] {
        assert_eq!(Fixture::running().live().press(keys), detached, "{keys:?}");
    }
    let mut shown = Fixture::running().live();
    shown.press(&["q", "j", "j", "j", "Enter"]);
    assert!(shown.screen.ui.overlay.is_none());
    assert_eq!(Fixture::release().live().press(&["q"]), ScreenEffect::Exit(ExitReason::BackToList));
    assert_eq!(
        Fixture::running().replay(5).press(&["q"]),
        ScreenEffect::Exit(ExitReason::BackToList)
    );
    // As a signal would, since a terminal that is not ours makes one of it.
    let interrupted = ScreenEffect::Exit(ExitReason::Signal("SIGINT"));
    assert_eq!(Fixture::release().live().press(&["Ctrl-C"]), interrupted);
    assert_eq!(Fixture::running().live().press(&["Ctrl-C", "Ctrl-C"]), interrupted);
}

#[test]
fn a_task_of_the_person_is_done_at_once_and_a_note_is_kept_with_it() {
    let mut shown = Fixture::running().live();
    shown.draw(120, 40);
    shown.press(&["Tab", "Tab"]);
    assert_eq!(shown.screen.ui.focus, PaneFocus::Running);
    shown.press(&["j", "j", "Enter"]);
    assert!(
        matches!(shown.screen.ui.overlay, Some(Overlay::Task { .. })),
        "Enter finishes nothing"
    );
    insta::assert_snapshot!("own_task_card_120x40", shown.frame(120, 40));
    shown.press(&["c", "q", "?", "Space", "1", "Enter"]);
    let noted = Command::NoteTask { task: "keys".into(), text: "q? 1".into(), by: Actor::Person };
    assert_eq!(shown.sent(), Some(noted));
    shown.press(&["Esc", "d"]);
    let done = Command::MarkTask {
        task: "keys".into(),
        occurrence: None,
        done: true,
        note: None,
        by: Actor::Person,
    };
    assert_eq!(shown.sent(), Some(done));
}

#[test]
fn skipping_asks_about_dependents() {
    let mut shown = Fixture::running().live();
    shown.screen.ui.select_task("tests".into());
    shown.press(&["S"]);
    shown.press(&["d"]);
    assert_eq!(
        shown.sent(),
        Some(Command::SkipTask { task: "tests".into(), with_dependents: true })
    );
    shown.press(&["S", "a"]);
    assert_eq!(
        shown.sent(),
        Some(Command::SkipTask { task: "tests".into(), with_dependents: false })
    );
}

#[test]
fn a_failed_task_is_retried_from_the_graph() {
    let mut shown = Fixture::running().live();
    shown.screen.ui.select_task("fuzz".into());
    shown.press(&["R"]);
    assert_eq!(
        shown.sent(),
        Some(Command::RetryTask { task: "fuzz".into(), with_dependents: false })
    );
    shown.screen.perform_action(KeyAction::RetryWithDependents).unwrap();
    assert_eq!(
        shown.sent(),
        Some(Command::RetryTask { task: "fuzz".into(), with_dependents: true })
    );
    // What was skipped for a failure runs once the failure is retried.
    shown.screen.ui.select_task("corpus".into());
    shown.press(&["R"]);
    assert_eq!(
        shown.sent(),
        Some(Command::RetryTask { task: "fuzz".into(), with_dependents: false })
    );
    assert!(shown.text(120, 40).contains("sent: retry Fuzz for 2 minutes"));
    shown.screen.ui.select_task("port".into());
    shown.press(&["R"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(120, 40).contains("R: Port the error enum is running"));
}

#[test]
fn the_past_answers_nothing_and_stays_put_while_live_goes_on() {
    let fixture = Fixture::release();
    let mut shown = settled(&fixture, 120, 40);
    shown.press(&["["]);
    assert_eq!(shown.screen.mode(), SessionViewMode::ScrubbedBack);
    shown.press(&["]", "a"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(120, 40).contains("This is the past. L returns to live, F forks here."));
    let before = shown.screen.state().seq;
    shown.grow(&Fixture::running());
    assert_eq!(shown.screen.state().seq, before);
    assert!(shown.text(120, 40).contains("live is 10 min ahead · L"));
    shown.press(&["L"]);
    assert_eq!(shown.screen.mode(), SessionViewMode::Live);
    assert!(shown.text(120, 40).contains("runs in this terminal   3 of 11 done"));
}

#[test]
fn a_new_request_takes_the_focus_but_never_from_a_text_box() {
    let mut shown = Fixture::running().live();
    let asking = Fixture::running().ask_plan();
    shown.grow(&asking);
    // A plan is read before it is answered: the keys go to the plan, those of the card work there.
    assert_eq!(shown.screen.ui.focus, PaneFocus::Graph);
    assert!(shown.text(120, 40).contains("a  approve and run"));
    let mut typing = Fixture::running().live();
    typing.press(&["g", "1"]);
    typing.grow(&asking);
    typing.press(&["R"]);
    assert_eq!(typing.screen.ui.focus, PaneFocus::Graph);
    assert!(typing.screen.ui.overlay.is_some());
    assert_eq!(typing.sent(), None);
}

#[test]
fn every_way_of_moving_in_time_ends_where_it_says() {
    let fixture = Fixture::failed();
    let head = fixture.records.len() as u64;
    let mut shown = fixture.replay(head);
    let mut at = |keys: &[&str]| {
        shown.press(keys);
        shown.screen.state().seq.0
    };
    assert_eq!(at(&["["]), head - 1);
    assert_eq!(at(&["]", "]"]), head);
    assert_eq!(at(&["Home"]), 1);
    assert_eq!(at(&["["]), 0);
    assert_eq!(at(&["["]), 0);
    assert_eq!(at(&["}"]), 4);
    assert_eq!(at(&["}", "{"]), 4);
    assert_eq!(at(&["End"]), head);
    assert_eq!(at(&["g", "1", "2", "Enter"]), 12);
    assert_eq!(at(&["g", "9", "9", "9", "Enter"]), head);
    assert_eq!(at(&["g", "+", "2", "m", "Enter"]), 4);
    assert_eq!(at(&["g", "1", "4", ":", "1", "0", "Enter"]), 2);
    assert_eq!(at(&["g", "x", "Enter"]), 2);
}

#[test]
fn a_request_of_the_past_gives_the_focus_back_once_it_is_answered() {
    let mut shown = Fixture::failed().replay(4);
    shown.screen.ui.focus = PaneFocus::Approval;
    assert!(shown.text(120, 40).contains("approved by"));
    shown.press(&["]"]);
    assert_eq!(shown.screen.ui.focus, PaneFocus::Graph);
}

#[test]
fn a_run_plays_back_and_stops_at_its_end() {
    let fixture = Fixture::failed();
    let mut shown = fixture.replay(1);
    shown.press(&[">", ">", ">", ">", "Space"]);
    assert!(shown.screen.ui.time.playing);
    let mut last = 1;
    for _ in 0..200 {
        let wait = shown.screen.time_until_next().unwrap_or_default();
        pass(i64::try_from(wait.as_millis()).unwrap());
        shown.screen.update(ScreenMessage::Tick).unwrap();
        let here = shown.screen.state().seq.0;
        assert!(here >= last);
        last = here;
    }
    assert_eq!(last, fixture.records.len() as u64);
    assert!(!shown.screen.ui.time.playing);
}

#[test]
fn the_track_can_be_dragged() {
    let fixture = Fixture::failed();
    let mut shown = fixture.replay(1);
    shown.draw(120, 40);
    let mut mouse = |kind, column| {
        let event = MouseEvent { kind, column, row: 35, modifiers: KeyModifiers::NONE };
        shown.screen.update(ScreenMessage::Input(Event::Mouse(event))).unwrap();
        shown.screen.state().seq.0
    };
    let half = mouse(MouseEventKind::Down(MouseButton::Left), 60);
    assert!(half > 1);
    let head = fixture.records.len() as u64;
    assert_eq!(mouse(MouseEventKind::Drag(MouseButton::Left), 119), head);
    let start = mouse(MouseEventKind::Drag(MouseButton::Left), 0);
    assert!(start < half, "{start}");
    mouse(MouseEventKind::Up(MouseButton::Left), 0);
    assert_eq!(mouse(MouseEventKind::Drag(MouseButton::Left), 60), start);
}

#[test]
fn a_resize_keeps_what_is_looked_at() {
    let mut shown = Fixture::running().live();
    shown.press(&["Tab"]);
    shown.draw(120, 40);
    shown.press(&["k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k"]);
    shown.draw(120, 40);
    let (cursor, selected) = (shown.screen.ui.trace.cursor, shown.screen.ui.graph.selected.clone());
    for (width, height) in [(80, 24), (60, 16), (10, 3), (200, 60), (120, 40)] {
        shown.draw(width, height);
        assert_eq!(shown.screen.ui.trace.cursor, cursor);
        assert_eq!(shown.screen.ui.graph.selected, selected);
        assert_eq!(shown.screen.ui.focus, PaneFocus::Trace);
    }
}

#[test]
fn a_step_unfolds_and_folds() {
    let mut shown = Fixture::running().output("port", "one\ntwo\nthree\nfour\nfive\n").live();
    shown.press(&["Tab"]);
    let folded = shown.text(120, 40);
    assert!(folded.contains("3 more lines, Enter unfolds") && !folded.contains("four"), "{folded}");
    shown.press(&["Enter"]);
    let open = shown.text(120, 40);
    assert!(open.contains("four") && open.contains("five"), "{open}");
    shown.press(&["Enter"]);
    assert!(!shown.text(120, 40).contains("four"));
    shown.press(&["f"]);
    assert!(shown.screen.ui.trace.following);
}

#[test]
fn the_trace_of_one_task_holds_only_its_steps() {
    let mut shown = Fixture::running().live();
    shown.screen.ui.select_task("bench".into());
    shown.press(&["Tab", "T"]);
    let text = shown.text(120, 40);
    assert!(text.contains("14 benchmarks"));
    assert!(!text.contains("panicked"));
    assert!(text.contains("only Measure the baseline"), "{text}");
}

#[test]
fn help_names_the_keys_of_the_key_map() {
    let mut shown = Fixture::recorded_work().live();
    shown.press(&["?"]);
    insta::assert_snapshot!("help_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("help_80x24", shown.frame(80, 24));
    shown.press(&["Esc"]);
    assert!(shown.screen.ui.overlay.is_none());
}

#[test]
fn a_task_card_shows_command_and_failure() {
    let mut shown = Fixture::recorded_work().live();
    shown.screen.ui.select_task("fuzz".into());
    shown.press(&["Enter"]);
    insta::assert_snapshot!("task_card_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("task_card_80x24", shown.frame(80, 24));
}

#[test]
fn a_running_task_is_stopped_only_after_a_question() {
    let stop = |task: &str| Some(Command::CancelTask { task: task.into() });
    let mut shown = Fixture::running().live();
    shown.screen.ui.select_task("port".into());
    assert!(shown.text(120, 40).contains("X stop task"));
    shown.press(&["X"]);
    assert_eq!(shown.sent(), None);
    shown.press(&["n"]);
    assert_eq!(shown.sent(), None);
    shown.press(&["X", "y"]);
    assert_eq!(shown.sent(), stop("port"));
    shown.screen.ui.select_task("tests".into());
    shown.press(&["X"]);
    let footer = shown.text(120, 40).lines().last().unwrap().to_owned();
    assert!(footer.contains("X: ") && footer.contains("is waiting"), "{footer}");
}

#[test]
fn the_row_of_the_running_pane_is_the_task_that_keys_mean() {
    let mut shown = Fixture::running().live();
    shown.screen.ui.select_task("tests".into());
    shown.draw(120, 40);
    shown.press(&["Tab", "Tab", "j"]);
    assert!(shown.text(120, 40).contains("X stop task"));
    shown.press(&["X", "y"]);
    assert_eq!(shown.sent(), Some(Command::CancelTask { task: "docs".into() }));
}

#[test]
fn one_key_runs_what_was_kept_and_goes_on_with_what_was_interrupted() {
    let run = Some(Command::Run { by: Actor::Person });
    let mut kept = Fixture::release().kept().live();
    assert!(kept.text(80, 24).contains("P run it"));
    kept.press(&["P"]);
    assert_eq!(kept.sent(), run);
    let mut interrupted = Fixture::running().interrupted().live();
    assert!(interrupted.text(80, 24).contains("P resume"));
    interrupted.press(&["P"]);
    assert_eq!(interrupted.sent(), run);
    let mut paused = Fixture::running().pause().live();
    assert!(paused.text(80, 24).contains("P resume"));
    paused.press(&["P"]);
    assert_eq!(paused.sent(), Some(Command::Continue));
    let mut asking = Fixture::release().live();
    asking.press(&["P"]);
    assert_eq!(asking.sent(), None);
}

#[test]
fn the_first_and_last_row_of_a_plan_are_one_key_away() {
    let mut shown = settled(&Fixture::release(), 60, 16);
    shown.press(&["End"]);
    let text = shown.text(60, 16);
    assert!(text.contains("$ cargo publish --locked"), "{text}");
    shown.press(&["Home"]);
    assert!(shown.text(60, 16).contains("rows 1 –"));
    assert_eq!(shown.screen.mode(), SessionViewMode::Live);
    // In the past the same keys move in time.
    let mut past = Fixture::failed().replay(4);
    past.press(&["End"]);
    assert_eq!(past.screen.state().seq.0, Fixture::failed().records.len() as u64);
}

#[test]
fn a_limit_is_raised_or_kept_by_its_keys() {
    for (keys, action) in [
        (&["a"][..], ChoiceAction::RaiseOnce),
        (&["A", "Enter", "p"], ChoiceAction::RaiseForSession),
        (&["x"], ChoiceAction::Stop),
    ] {
        let mut shown = settled(&Fixture::capped(), 80, 24);
        shown.press(keys);
        let answer = Answer::from(action);
        let by = Actor::Person;
        assert_eq!(shown.sent(), Some(Command::Answer { id: RequestId(2), answer, by }));
    }
}

#[test]
fn how_far_a_limit_is_raised_is_chosen_with_left_and_right() {
    let mut shown = settled(&Fixture::capped(), 120, 40);
    let planwright_model::RequestKind::Cap { cap, used, .. } =
        crate::tests::journals::card_request("cap").kind
    else {
        panic!("the recorded request is about a limit")
    };
    let least = cap.raised_limit(used);
    let amount = least + (least - used);
    shown.press(&["l", "l", "h"]);
    let text = shown.text(120, 40);
    assert!(text.contains(&format!("‹ {} ›", cap.format_amount(amount))), "{text}");
    assert!(text.contains(&format!("up to {}", cap.format_amount(amount))), "{text}");
    shown.press(&["A", "g"]);
    let answer = Answer { amount: Some(amount), ..Answer::from(ChoiceAction::RaiseForGood) };
    let by = Actor::Person;
    assert_eq!(shown.sent(), Some(Command::Answer { id: RequestId(2), answer, by }));
}

#[test]
fn what_stays_in_the_shell_says_how_it_stands_and_how_to_continue() {
    let summary = |fixture: &Fixture, reason| fixture.live().screen.exit_summary(reason);
    let running = Fixture::running();
    insta::assert_snapshot!(
        "after_leaving",
        [
            ("running", summary(&running, ExitReason::QuitWhileRunning)),
            ("failed", summary(&Fixture::failed(), ExitReason::BackToList)),
            ("draft", summary(&Fixture::release(), ExitReason::Quit)),
            ("person", summary(&Fixture::for_person(), ExitReason::BackToList)),
        ]
        .map(|(name, text)| format!("{name}\n{text}"))
        .join("\n\n")
    );
    assert_eq!(summary(&running, ExitReason::TerminalGone), "");
    assert_eq!(summary(&running, ExitReason::Signal("SIGHUP")), "");
}

#[test]
fn a_plan_for_a_person_is_active_and_is_left_without_a_question() {
    let mut shown = Fixture::for_person().live();
    insta::assert_snapshot!("active_120x40", shown.frame(120, 40));
    shown.press(&["P"]);
    assert!(shown.text(120, 40).contains("P: nothing runs by itself in this plan"));
    let slow = std::time::Duration::from_secs(30);
    assert_eq!(shown.screen.tick_interval(), slow, "nothing runs, so that little is drawn again");
    assert_eq!(shown.press(&["q"]), ScreenEffect::Exit(ExitReason::BackToList));
}

#[test]
fn how_a_plan_came_about_is_folded_once_it_is_approved() {
    let planning = super::journals::recorded_request("drafts", 5).live().text(120, 40);
    let mut shown = Fixture::for_person().live();
    let text = shown.text(120, 40);
    assert!(text.contains("earlier steps folded") && text.contains("yours to do"), "{text}");
    assert!(!text.contains("draft ready"), "{text}");
    assert!(planning.contains("approve this plan?"), "{planning}");
    // It is one key away.
    shown.press(&["Tab", "Home", "Enter"]);
    let text = shown.text(120, 40);
    assert!(text.contains("waits for you"), "{text}");
}

#[test]
fn a_run_is_left_once_its_steps_have_ended() {
    let fixture = Fixture::running();
    let mut shown = fixture.live();
    shown.press(&["q", "j", "Enter"]);
    assert_eq!(shown.sent(), Some(Command::Pause));
    let paused = fixture.clone().with(RunEvent::Paused(PauseCause::Person));
    assert_eq!(shown.grow(&paused), ScreenEffect::Draw, "two tasks still run");
    let ended = paused.done("port", 100).done("docs", 100);
    assert_eq!(shown.grow(&ended), ScreenEffect::Exit(ExitReason::QuitWhileRunning));
}

#[test]
fn a_run_of_another_terminal_is_watched_until_it_ends() {
    insta::assert_snapshot!("watch_120x40", Fixture::recorded_work().watched().frame(120, 40));
    let mut shown = Fixture::running().watched();
    let ended = Fixture::failed();
    shown.grow(&ended);
    assert_eq!(shown.screen.state().seq.0, ended.records.len() as u64, "it follows");
    shown.press(&["P"]);
    assert!(shown.text(120, 40).contains("Another terminal controls this run."));
    shown.screen.update(ScreenMessage::Over).unwrap();
    let text = shown.text(120, 40);
    assert!(
        text.contains("REPLAY") && text.contains("Nothing is running: planwright resume"),
        "{text}"
    );
}

#[test]
fn an_action_says_why_its_tool_was_taken() {
    use planwright_model::event::AgentEvent;
    use planwright_model::{ReActStep, StepAction};
    let mut step = ReActStep {
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        task_id: "port".into(),
        action: StepAction::Action,
        content: "file.edit src/error.rs".to_owned(),
        tool_used: Some("file.edit".to_owned()),
        tool_input: None,
        tool_output: None,
        confidence_score: None,
        metadata: planwright_model::StepMetadata::default(),
    };
    let affinity =
        serde_json::json!({"fit": 0.85, "past": 0.84, "context": 0.5, "cost": 0.75, "score": 0.77});
    let choice = serde_json::json!({"tool": "file.edit", "affinity": affinity});
    step.metadata.choice = serde_json::from_value(choice).unwrap();
    let fixture = Fixture::running().with(AgentEvent::from_step("port".into(), 1, step));
    let mut shown = fixture.live();
    // The trace follows its end from the first frame on.
    shown.text(120, 40);
    shown.press(&["Tab", "v"]);
    let text = shown.text(120, 40);
    let why =
        text.lines().find(|line| line.contains("fit .85")).unwrap_or_else(|| panic!("{text}"));
    assert!(why.contains("file.edit .77 = .4 × fit .85 + .3 × past .84"), "{why}");
    shown.press(&["v"]);
    assert!(!shown.text(120, 40).contains("fit .85"));
    shown.press(&["k", "v"]);
    assert!(shown.text(120, 40).contains("no tool was chosen in this step"));
}

#[test]
fn how_many_run_at_once_is_a_command() {
    let mut shown = settled(&Fixture::running(), 80, 24);
    shown.screen.perform_action(KeyAction::Jobs).unwrap();
    shown.press(&["5"]);
    shown.press(&["Enter"]);
    assert_eq!(shown.sent(), Some(Command::SetJobs { jobs: 5 }));
    shown.screen.perform_action(KeyAction::Jobs).unwrap();
    shown.press(&["x", "Enter"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(80, 24).contains("a number from 1 to 64 is needed"));
}

#[test]
fn a_failure_and_a_task_of_the_person_are_told_while_the_window_is_behind_others() {
    use crate::session::ExternalAction;
    let before = Fixture::release().wait(136).approved();
    let mut shown = before.live();
    shown.screen.update(ScreenMessage::Input(Event::FocusLost)).unwrap();
    let told = |shown: &mut Shown| match shown.screen.next_external_action() {
        Some(ExternalAction::Notify { text }) => Some(text),
        _ => None,
    };
    let after = before.start("fuzz").fail("fuzz", 5, "exit 101").hand_over("keys");
    shown.grow(&after);
    assert_eq!(told(&mut shown).as_deref(), Some("Fuzz for 2 minutes failed"));
    assert_eq!(told(&mut shown).as_deref(), Some("yours to do: Renew the signing key"));
    assert_eq!(told(&mut shown), None);
}
