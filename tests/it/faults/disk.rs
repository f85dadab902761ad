//! A disk that fails at any write: nothing acknowledged is lost, nothing starts whose intent was not kept, the message
//! names the cause, and the session can be resumed once the disk works again.
//!
//! The suite tries some; `PLANWRIGHT_FAULTS=1000` sets the number.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Output;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use planwright_store::{CheckDepth, OpenMode, Store};
use serde_json::Value;

use super::shim::{Fault, count};
use super::times;
use crate::crash::{effects, in_doubt, journal};
use crate::program::Place;
use crate::torture::Random;

const KINDS: [&str; 5] = ["eio", "enospc", "erofs", "short", "after"];
const TASKS: usize = 5;
const THREADS: u64 = 4;

fn plan() -> String {
    let mut text = "title = \"On a bad disk\"\n".to_owned();
    for task in 0..TASKS {
        let on = if task > 1 { format!("\"t{}\"", task - 2) } else { String::new() };
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"t{task}\"\ndescription = \"x\"\ndepends_on = [{on}]\n\
             run = {{ shell = \"echo t{task} >> done.txt; sleep 0.02\" }}"
        );
    }
    text
}

const RUN: [&str; 5] = ["run", "../plan.toml", "--headless", "--yes", "--json"];

#[test]
fn a_write_that_fails_anywhere_loses_nothing_and_is_named() {
    let place = Place::new();
    place.plan(&plan());
    let unfaulted = Fault::NONE.command(&place, &RUN).output().unwrap();
    assert_eq!(unfaulted.status.code(), Some(0), "{}", String::from_utf8_lossy(&unfaulted.stderr));
    let operations = count(&place);
    assert!(operations > 20, "the layer saw {operations} operations");

    let injections = times("PLANWRIGHT_FAULTS", 40);
    let tried = Mutex::new((BTreeSet::new(), 0_u64, 0_u64));
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let tried = &tried;
            scope.spawn(move || {
                for number in (first..injections).step_by(THREADS as usize) {
                    let fault = chosen(number, injections, operations);
                    let (failed, doubtful) = try_out(fault);
                    let mut tried = tried.lock().unwrap();
                    tried.0.insert(fault.at);
                    tried.1 += u64::from(failed);
                    tried.2 += doubtful;
                }
            });
        }
    });
    let (places, failed, doubtful) = tried.into_inner().unwrap();
    println!(
        "{injections} faults at {} of {operations} operations: {failed} runs failed, {doubtful} tasks in doubt",
        places.len()
    );
    assert!(failed > 0, "some of the faults were felt");
}

/// Spreads the faults over all operations, cycling through the kinds.
fn chosen(number: u64, injections: u64, operations: u64) -> Fault {
    let mut random = Random(number);
    let span = operations + 4;
    let at = if injections >= span * 10 {
        1 + number / 10 % span
    } else {
        1 + (number * span / injections + random.below(3)) % span
    };
    Fault {
        kind: KINDS[(number % KINDS.len() as u64) as usize],
        at,
        lasts: number / KINDS.len() as u64 % 2 == 1,
    }
}

/// Whether the run failed, and how many tasks were in doubt after it.
fn try_out(fault: Fault) -> (bool, u64) {
    let place = Place::new();
    place.plan(&plan());
    let output = fault.command(&place, &RUN).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!words.contains("panicked"), "{fault:?}: {words}");
    match output.status.code() {
        Some(0) => {}
        Some(1) => assert!(names_the_cause(fault, &words), "{fault:?}: {words}"),
        other => panic!("{fault:?}: exit {other:?}: {words}"),
    }
    leaves_no_process_behind(&place, fault);
    let done = effects(&place.work());
    let seen = acknowledged(&output);
    let kept = if place.data().join("planwright.db").exists() && !place.sessions().is_empty() {
        journal(&place)
    } else {
        Vec::new()
    };
    assert!(kept.starts_with(&seen), "{fault:?}: what was printed is kept: {words}");
    assert!(kept.iter().zip(1..).all(|(record, seq)| record["seq"] == seq), "{fault:?}: a gap");
    let intended = intended(&kept);
    for task in done.keys() {
        assert!(intended.contains(task), "{fault:?}: {task} ran without an intent");
    }
    let doubtful = resume_after_fault(&place, fault, &kept);
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let found = store.check_integrity(CheckDepth::Full).unwrap();
    assert!(found.problems.is_empty(), "{fault:?}: {:?}", found.problems);
    (output.status.code() != Some(0), doubtful)
}

fn names_the_cause(fault: Fault, words: &str) -> bool {
    // The database does not learn why a file could not be opened or synced.
    let opening = ["cannot be opened for writing", "unable to open", "I/O error"];
    let causes: &[&str] = match fault.kind {
        "enospc" => &["disk is full", "No space left"],
        "erofs" => &["ead-only"],
        _ => &["nput/output error"],
    };
    causes.iter().chain(&opening).any(|cause| words.contains(cause))
}

fn acknowledged(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record.get("seq").is_some())
        .collect()
}

fn intended(records: &[Value]) -> BTreeSet<String> {
    records
        .iter()
        .filter(|record| record["event"]["body"]["kind"] == "intended")
        .map(|record| record["event"]["body"]["call"]["task"].as_str().unwrap().to_owned())
        .collect()
}

/// With the disk working again the session is resumed; in the end every effect exists exactly once.
fn resume_after_fault(place: &Place, fault: Fault, kept: &[Value]) -> u64 {
    let begun = !kept.is_empty();
    let output =
        if begun { place.run(&["resume", "last", "--headless", "--yes"]) } else { place.run(&RUN) };
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let doubtful: BTreeSet<String> = in_doubt(&journal(place)).into_iter().collect();
    if doubtful.is_empty() {
        assert_eq!(output.status.code(), Some(0), "{fault:?}: {words}");
    } else {
        assert_eq!(output.status.code(), Some(3), "{fault:?}: {words}");
        let done = effects(&place.work());
        let there = doubtful.iter().filter(|task| done.contains_key(*task)).count();
        let answer = match there {
            0 => "run",
            all if all == doubtful.len() => "done",
            _ => "skip",
        };
        let args = ["resume", "last", "--headless", "--yes", "--in-doubt", answer];
        let output = place.run(&args);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{fault:?}, {answer}: {words}");
    }
    let done = effects(&place.work());
    for task in (0..TASKS).map(|task| format!("t{task}")) {
        let count = done.get(&task).copied().unwrap_or(0);
        let skipped = doubtful.contains(&task) && count == 0;
        assert!(count == 1 || skipped, "{fault:?}: {task} {count} times");
    }
    doubtful.len() as u64
}

/// No command of a failed run keeps running for long.
fn leaves_no_process_behind(place: &Place, fault: Fault) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while super::outside::is_used(&place.work()) {
        assert!(Instant::now() < deadline, "{fault:?}: a command goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A script with a private mount, which disappears when it ends. Not permitted everywhere.
fn in_own_mounts(script: &str) -> Option<Output> {
    let probe = "mount -t tmpfs -o size=1m none /mnt";
    let unshare = |script: &str| {
        std::process::Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", script])
            .output()
    };
    unshare(probe).ok().filter(|output| output.status.success())?;
    Some(unshare(script).unwrap())
}

#[test]
fn a_full_disk_stops_the_session_and_free_space_lets_it_resume() {
    let place = Place::new();
    let lines = "seq 1 400000; echo done >> done.txt";
    place.plan(&format!(
        "title = \"Much to say\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrepeat = \"safe\"\nrun = {{ shell = \"{lines}\" }}\n"
    ));
    std::fs::create_dir(place.data()).unwrap();
    let program = assert_cmd::cargo::cargo_bin("planwright");
    let (program, data, work) = (program.display(), place.data(), place.work());
    let (data, work) = (data.display(), work.display());
    let script = format!(
        "mount -t tmpfs -o size=400k,mode=700 none {data} && cd {work} || exit 99
         export PLANWRIGHT_DATA_DIR={data} PLANWRIGHT_CONFIG={work}/../config.toml
         {program} run ../plan.toml --headless --yes >/dev/null; echo first $? >&2
         mount -o remount,size=64m {data}
         {program} resume last --headless --yes >/dev/null; echo second $? >&2
         {program} sessions verify >&2; echo third $? >&2"
    );
    let Some(output) = in_own_mounts(&script) else { return };
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("first 1") && words.contains("disk is full"), "{words}");
    assert!(words.contains("second 0") && words.contains("third 0"), "{words}");
}

#[test]
fn a_read_only_file_system_is_named_and_its_sessions_can_be_read() {
    let place = Place::new();
    place.plan(&plan());
    assert_eq!(place.run(&RUN).status.code(), Some(0));
    let program = assert_cmd::cargo::cargo_bin("planwright");
    let (program, data, work) = (program.display(), place.data(), place.work());
    // Without its log next to it, SQLite cannot read such a database in a read-only place: another process has it open.
    let _open = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let before = std::fs::read(place.data().join("planwright.db")).unwrap();
    let (data, work) = (data.display(), work.display());
    let script = format!(
        "mount --bind {data} {data} && mount -o remount,bind,ro {data} && cd {work} || exit 99
         export PLANWRIGHT_DATA_DIR={data} PLANWRIGHT_CONFIG={work}/../config.toml
         {program} run ../plan.toml --headless --yes >/dev/null; echo first $? >&2
         {program} sessions list >&2; echo second $? >&2
         {program} replay last --headless | tail -1 >&2"
    );
    let Some(output) = in_own_mounts(&script) else { return };
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("first 1"), "{words}");
    assert!(words.contains("second 0") && words.contains("On a bad disk"), "{words}");
    assert!(words.contains("cannot be opened for writing"), "{words}");
    assert!(!words.contains("panicked"), "{words}");
    assert_eq!(std::fs::read(place.data().join("planwright.db")).unwrap(), before);
}

#[test]
fn a_clock_that_jumps_back_delays_nothing_and_reverses_no_times() {
    for readings in [2, 9, 30, 70] {
        let place = Place::new();
        place.plan(&plan());
        let mut command = Fault::NONE.command(&place, &RUN);
        let output = command.env("FAULT_CLOCK", readings.to_string()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words}");
        let records = acknowledged(&output);
        let at =
            |record: &Value| record["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(records.is_sorted_by_key(at), "time goes on in the journal");
        assert_eq!(place.sessions()[0]["status"], "done");
        let replayed = place.run(&["replay", "last", "--headless", "--json"]);
        assert_eq!(replayed.status.code(), Some(0));
    }
}
