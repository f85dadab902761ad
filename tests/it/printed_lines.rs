//! Every line that `--json` prints while a session is worked on fits the schema that comes with the program.

use std::time::{Duration, Instant};

use planwright_model::event::schema_fault;
use serde_json::Value;

use crate::program::{DIAMOND, Place, json_lines};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(40);
const YOURS: &str = "[[tasks]]\nid = \"a\"\nrun = { human = {} }\n";

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/events.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The lines of a command, each of which fits.
fn fitting_lines(place: &Place, args: &[&str]) -> Vec<Value> {
    let (schema, output) = (schema(), place.run(args));
    let lines = json_lines(&output);
    assert!(!lines.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    for line in &lines {
        let fault = schema_fault(&schema, &schema, line);
        assert_eq!(fault, None, "{args:?} prints {line}");
    }
    lines
}

#[test]
fn events_and_what_is_waited_for_fit_the_schema() {
    let place = Place::new();
    let lines = fitting_lines(&place, &["run", &place.plan(YOURS), "--yes", "--json"]);
    let (last, events) = lines.split_last().unwrap();
    assert!(events.iter().all(|line| line["seq"].is_u64()), "{lines:?}");
    assert_eq!(last["waiting"]["tasks"][0], "a", "{last}");
    let replayed = fitting_lines(&place, &["replay", "last", "--headless", "--json"]);
    assert!(replayed.len() >= events.len());
}

#[test]
fn a_question_and_its_answer_fit_the_schema() {
    let place = Place::new();
    let file = place.plan(DIAMOND);
    let asked = fitting_lines(&place, &["run", &file, "--headless", "--json"]);
    let question = &asked.last().unwrap()["waiting"]["requests"][0];
    assert!(question["question"].is_string(), "{asked:?}");
    // Nobody works on it, so the answer says how to go on.
    let answer = ["answer", "last", "next", "approve and run", "--json"];
    let answered = fitting_lines(&place, &answer);
    assert_eq!(answered.len(), 1);
    assert_eq!(answered[0]["answered"], question["id"], "{answered:?}");
    assert!(answered[0]["next"].as_str().unwrap().starts_with("planwright resume "));
    let rest = fitting_lines(&place, &["resume", "last", "--headless", "--json"]);
    assert!(rest.iter().any(|line| line["event"]["body"]["kind"] == "finished"), "{rest:?}");
}

#[test]
fn a_run_in_the_background_and_an_answer_to_it_fit_the_schema() {
    let place = Place::new();
    let file = place.plan(DIAMOND);
    let detached = fitting_lines(&place, &["run", &file, "--detach", "--json"]);
    assert_eq!(detached.len(), 1);
    assert!(detached[0]["pid"].as_u64().unwrap() > 1, "{detached:?}");
    let id = detached[0]["session"].as_str().unwrap().to_owned();
    let process = || {
        let listed = json_lines(&place.run(&["ps", "--json"]));
        listed.into_iter().find(|row| row["session"] == id.as_str())
    };
    wait_until(|| process().is_some_and(|row| row["open_requests"] == 1));
    let answered = fitting_lines(&place, &["answer", &id, "next", "approve and run", "--json"]);
    assert!(answered[0]["answered"] != Value::Null && answered[0].get("next").is_none());
    wait_until(|| process().is_none());
    let again = place.run(&["answer", &id, "next", "approve and run", "--json"]);
    assert_eq!(again.status.code(), Some(2), "it was answered once, and nothing is left");
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it takes too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}
