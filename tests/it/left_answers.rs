//! Answers and commands that others left in the inbox of a session, with the engine on a real store.

use std::sync::Arc;

use planwright_engine::{self as engine, EngineOptions, LeftCommand, SessionHandle};
use planwright_model::event::{ApprovalEvent, CloseReason, Command, Event, TaskEvent};
use planwright_model::{Actor, RequestId, RunKind};
use planwright_state::{RunPhase, SessionState, TaskStatus};
use planwright_store::{InboxAnswer, Journal};

use crate::support::{Bench, Script, approved, plan};

const RUN: Command = Command::Run { by: Actor::Person };

/// Leaves a command as another process does, and returns it as the holder reads it.
fn leave(bench: &Bench, command: &Command) -> LeftCommand {
    let answer = serde_json::to_string(command).unwrap();
    let letter = InboxAnswer { request: RequestId::UNASSIGNED, answer };
    bench.store.post_answer(&bench.id, letter).unwrap();
    let last = bench.store.inbox_letters(&bench.id).unwrap().pop().unwrap();
    LeftCommand { key: last.key, command: serde_json::from_str(&last.answer.answer).unwrap() }
}

fn waits(bench: &Bench) -> bool {
    bench.store.has_inbox_answers(&bench.id).unwrap()
}

/// A run whose only task is the person's to do, and waits for them.
async fn waiting_for_person(bench: &Bench) -> SessionHandle {
    let mut plan = plan(&[("mine", &[])]);
    plan.tasks[0].run = RunKind::Human {};
    let handle = bench.start(Script::new(&[]), 1, approved(plan));
    handle.commands.send(RUN).await.unwrap();
    bench.until(&handle, is_mine_waiting).await;
    handle
}

fn is_mine_waiting(state: &SessionState) -> bool {
    state.tasks.get(&"mine".into()).is_some_and(|row| row.status == TaskStatus::Yours)
}

fn is_over(state: &SessionState) -> bool {
    matches!(state.run.phase, RunPhase::Finished { .. })
}

fn complete(note: &str) -> Command {
    Command::CompleteTask { task: "mine".into(), note: Some(note.to_owned()), by: Actor::Person }
}

fn completions(bench: &Bench) -> usize {
    let is_done = |event: &Event| matches!(event, Event::Task(TaskEvent::Completed { .. }));
    bench.records().iter().filter(|record| is_done(&record.event)).count()
}

fn take_up(bench: &Bench, journal: Journal) -> SessionHandle {
    let options = EngineOptions::with_executor(Arc::new(Script::new(&[])));
    engine::start_session(journal, bench.state(), Vec::new(), options)
}

#[tokio::test]
async fn a_left_command_is_gone_once_it_is_journaled_and_never_before() {
    let bench = Bench::new();
    let handle = waiting_for_person(&bench).await;
    let letter = leave(&bench, &complete("by letter"));
    assert!(waits(&bench), "reading it takes nothing away");
    handle.letters.send(letter).await.unwrap();
    // Whatever is seen as journaled is no longer in the inbox: both are one commit.
    bench.until(&handle, |state| !is_mine_waiting(state)).await;
    assert!(!waits(&bench));
    let state = bench.until(&handle, is_over).await;
    assert_eq!(state.tasks.get(&"mine".into()).unwrap().note.as_deref(), Some("by letter"));
    assert_eq!(completions(&bench), 1);
}

#[tokio::test]
async fn a_left_command_whose_commit_was_not_made_waits_for_the_next_holder() {
    let bench = Bench::new();
    let first = waiting_for_person(&bench).await;
    let before = bench.records().len();
    // Another process takes the session away from this one, whose next commit is refused.
    std::fs::remove_file(bench.lock_file()).unwrap();
    let journal = bench.store.acquire_session(&bench.id).unwrap();
    let letter = leave(&bench, &complete("by letter"));
    first.letters.send(letter.clone()).await.unwrap();
    first.letters.closed().await;
    first.wait_until_closed().await.expect_err("the commit is refused");
    assert!(waits(&bench), "nothing is lost");
    assert_eq!(bench.records().len(), before, "nothing was journaled");
    assert!(is_mine_waiting(&bench.state()));

    let second = take_up(&bench, journal);
    second.letters.send(letter).await.unwrap();
    let state = bench.until(&second, |state| !is_mine_waiting(state)).await;
    assert!(!waits(&bench));
    assert_eq!(state.tasks.get(&"mine".into()).unwrap().note.as_deref(), Some("by letter"));
    second.wait_until_closed().await.unwrap();
    assert_eq!(completions(&bench), 1);
}

#[tokio::test]
async fn a_left_command_that_is_refused_is_gone_too() {
    let bench = Bench::new();
    let handle = waiting_for_person(&bench).await;
    let nothing = Command::CancelTask { task: "nothing".into() };
    handle.letters.send(leave(&bench, &nothing)).await.unwrap();
    let is_refusal =
        |event: &Event| matches!(event, Event::Approval(ApprovalEvent::Refused { .. }));
    let refusals = || bench.records().iter().filter(|one| is_refusal(&one.event)).count();
    bench.until(&handle, |_| refusals() == 1).await;
    assert!(!waits(&bench));
    handle.wait_until_closed().await.unwrap();
    assert_eq!(refusals(), 1);
}

#[tokio::test]
async fn a_left_command_that_closes_the_session_does_not_close_it_again() {
    let bench = Bench::new();
    let handle = waiting_for_person(&bench).await;
    let letter = leave(&bench, &Command::Close { why: CloseReason::Quit });
    let (commands, letters) = (handle.commands.clone(), handle.letters.clone());
    letters.send(letter).await.unwrap();
    handle.wait_until_closed().await.unwrap();
    assert!(!waits(&bench), "the next holder would stop at once");
    drop((commands, letters));
}

#[tokio::test]
async fn a_command_that_is_left_for_a_session_that_closes_waits_for_the_next_holder() {
    let bench = Bench::new();
    let handle = waiting_for_person(&bench).await;
    let letter = leave(&bench, &complete("too late"));
    let letters = handle.letters.clone();
    handle.commands.send(Command::Close { why: CloseReason::Quit }).await.unwrap();
    handle.wait_until_closed().await.unwrap();
    letters.send(letter).await.expect_err("nobody takes it any more");
    assert!(waits(&bench));
    assert_eq!(completions(&bench), 0);
}
