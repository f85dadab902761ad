//! Several processes on one store, and many sessions in one process.

use std::fmt::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use planwright_engine::{self as engine, EngineOptions};
use planwright_model::SessionId;
use planwright_store::{CheckDepth, NewSession, OpenMode, SessionSummary, Store};

use super::times;
use crate::crash::effects;
use crate::program::Place;
use crate::support::{Bench, Script, approved, plan};

fn start(place: &Place, args: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .current_dir(place.work())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(child: Child) -> (Output, String) {
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!words.contains("locked") && !words.contains("busy"), "{words}");
    assert!(!words.contains("panicked"), "{words}");
    (output, words)
}

fn open_intact_store(place: &Place) -> Store {
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let found = store.check_integrity(CheckDepth::Full).unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    store
}

fn chain(name: &str, tasks: usize) -> String {
    let mut text = format!("title = \"{name}\"\n");
    for task in 0..tasks {
        let on = if task > 0 { format!("\"{name}{}\"", task - 1) } else { String::new() };
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"{name}{task}\"\ndescription = \"x\"\ndepends_on = [{on}]\n\
             run = {{ shell = \"echo {name}{task} >> done.txt\" }}"
        );
    }
    text
}

#[test]
fn twenty_programs_that_start_at_once_on_an_empty_store_all_finish() {
    let place = Place::new();
    for number in 0..20 {
        let name = char::from(b'a' + number as u8).to_string();
        let file = place.dir.path().join(format!("{name}.toml"));
        std::fs::write(file, chain(&name, 3)).unwrap();
    }
    let files: Vec<String> =
        (b'a'..b'a' + 20).map(|name| format!("../{}.toml", char::from(name))).collect();
    let all: Vec<Child> =
        files.iter().map(|file| start(&place, &["run", file, "--headless", "--yes"])).collect();
    for child in all {
        let (output, words) = end(child);
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
    assert_eq!(open_intact_store(&place).list_sessions().unwrap().len(), 20);
    let done = effects(&place.work());
    assert_eq!((done.len(), done.values().max()), (60, Some(&1)));
}

#[test]
fn a_session_resumed_twice_at_once_runs_once() {
    for _ in 0..times("PLANWRIGHT_SHARING", 3) {
        let place = Place::new();
        place.plan(&chain("a", 6));
        let waiting = place.run(&["run", "../plan.toml", "--headless"]);
        assert_eq!(waiting.status.code(), Some(3));
        let resume = ["resume", "last", "--headless", "--yes"];
        let both = [start(&place, &resume), start(&place, &resume)];
        let mut codes = Vec::new();
        for child in both {
            let (output, words) = end(child);
            let code = output.status.code().unwrap();
            if code == 1 {
                assert!(words.contains("open for writing in "), "{words}");
                assert!(words.contains("planwright attach"), "the remedy is to attach: {words}");
            }
            codes.push(code);
        }
        codes.sort_unstable();
        // One comes first; the other reports that, or finds that everything is done.
        assert!(codes == [0, 1] || codes == [0, 0], "{codes:?}");
        let done = effects(&place.work());
        assert_eq!((done.len(), done.values().max()), (6, Some(&1)), "{done:?}");
        open_intact_store(&place);
    }
}

#[test]
fn a_watcher_sees_the_whole_run_of_another_process() {
    let place = Place::new();
    place.plan(&chain("a", 12));
    let runner = start(&place, &["run", "../plan.toml", "--headless", "--yes", "--json"]);
    let mut seen = 0;
    let store = loop {
        match Store::open(&place.data(), OpenMode::ReadOnly) {
            Ok(store) if store.find_session("last").is_ok() => break store,
            _ => std::thread::yield_now(),
        }
    };
    let id = store.find_session("last").unwrap();
    let reader = store.reader().unwrap();
    let (output, words) = end(runner);
    assert_eq!(output.status.code(), Some(0), "{words}");
    let events = String::from_utf8_lossy(&output.stdout).lines().count();
    reader
        .scan_rows(&id, planwright_model::Seq(1)..=planwright_model::Seq(u64::MAX), None, |_| {
            seen += 1;
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, events);
    // While a second run is active, every read from outside succeeds.
    let runner = start(&place, &["run", "../plan.toml", "--headless", "--yes"]);
    for _ in 0..4 {
        let replay = place.run(&["replay", "last", "--headless"]);
        let words = String::from_utf8_lossy(&replay.stderr).into_owned();
        assert_eq!(replay.status.code(), Some(0), "{words}");
        assert_eq!(place.run(&["sessions", "list"]).status.code(), Some(0));
    }
    assert_eq!(end(runner).0.status.code(), Some(0));
}

/// A thousand tasks in layers of ten, each depending on two of the previous layer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_of_a_thousand_tasks_runs_with_3_16_and_64_jobs() {
    let names: Vec<String> = (0..1_000).map(|task| format!("t{task:04}")).collect();
    let links: Vec<Vec<&str>> = (0..1_000_usize)
        .map(|task| match task.checked_sub(10) {
            Some(before) => vec![&*names[before], &*names[before / 10 * 10 + (before + 3) % 10]],
            None => Vec::new(),
        })
        .collect();
    let tasks: Vec<(&str, &[&str])> =
        names.iter().zip(&links).map(|(name, on)| (name.as_str(), on.as_slice())).collect();
    for jobs in [3, 16, 64] {
        let bench = Bench::new();
        let script = Script::new(&[]);
        let busiest = script.busiest();
        let handle = bench.start(script, jobs, approved(plan(&tasks)));
        let run = planwright_model::event::Command::Run { by: planwright_model::Actor::Person };
        handle.commands.send(run).await.unwrap();
        let mut head = handle.head.clone();
        // The start of the session, and at least four events per task.
        let most = std::time::Duration::from_secs(240);
        tokio::time::timeout(most, head.wait_for(|head| head.0 > 4_000)).await.unwrap().unwrap();
        let state = bench.until(&handle, |state| state.tasks.status_counts().done == 1_000).await;
        assert_eq!(state.tasks.status_counts().done, 1_000);
        assert!(busiest.lock().unwrap().1 <= jobs as usize, "{:?}", busiest.lock().unwrap());
        handle.wait_until_closed().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_sessions_at_once_in_one_process_come_to_their_ends() {
    let place = Place::new();
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let mut handles = Vec::new();
    for number in 0..64 {
        let id = SessionId::new(format!("session{number:05}"));
        store
            .create_session(NewSession {
                id: id.clone(),
                created_at: jiff::Timestamp::now(),
                format: 1,
                parent: None,
                summary: SessionSummary::default(),
            })
            .unwrap();
        let journal = store.acquire_session(&id).unwrap();
        let first = approved(plan(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]));
        let options = EngineOptions::with_executor(Arc::new(Script::new(&[])));
        let handle = engine::start_session(
            journal,
            planwright_state::SessionState::default(),
            first,
            options,
        );
        let run = planwright_model::event::Command::Run { by: planwright_model::Actor::Person };
        handle.commands.send(run).await.unwrap();
        handles.push(handle);
    }
    for handle in handles {
        let mut head = handle.head.clone();
        let id = handle.id.clone();
        let waiting = async {
            loop {
                head.borrow_and_update();
                let source = planwright_store::journal_source::JournalSource::new(
                    store.reader().unwrap(),
                    id.clone(),
                );
                let mut history = planwright_state::replay::History::new(source);
                let last = history.head_seq().unwrap();
                let state = history.state_at(last).unwrap();
                if state.tasks.status_counts().done == 4 {
                    return;
                }
                head.changed().await.unwrap();
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(120), waiting).await.unwrap();
        handle.wait_until_closed().await.unwrap();
    }
    let found = store.check_integrity(CheckDepth::Full).unwrap();
    assert_eq!((found.problems.len(), found.sessions), (0, 64), "{:?}", found.problems);
}
