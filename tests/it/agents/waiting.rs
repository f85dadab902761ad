//! Agents that wait for an answer of the person: others work in the meantime, and a run without a screen ends.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Desk, Said, code, shell, words};

/// A plan of this many independent tasks for agents.
fn plan(desk: &Desk, tasks: usize) -> String {
    let mut text = String::from("title = \"Agents\"\n");
    for task in 0..tasks {
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"t{task}\"\ndescription = \"Leave a mark\"\nrun = {{ agent = {{}} }}"
        );
    }
    desk.place.plan(&text)
}

fn asking() -> Said<'static> {
    ("I run it.", shell("echo one >> done.txt"))
}

#[test]
fn questions_that_fill_all_slots_end_a_run_without_a_screen() {
    let desk = Desk::new("");
    let provider = desk.tape("tape", &[asking(), asking(), asking(), asking()]);
    let plan = plan(&desk, 4);
    let output = desk.run(&provider, &["run", &plan, "--yes", "--jobs", "3"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let said = words(&output);
    for task in 0..4 {
        assert!(said.contains(&format!("May t{task} call shell.run?")), "{said}");
    }
    assert_eq!(desk.written("done.txt"), "", "nothing runs before an answer");
    desk.require_sound();
}

#[test]
fn more_questions_than_may_wait_at_once_end_the_run_as_well() {
    let desk = Desk::new("enable_task_graphs = false\n");
    let answers: Vec<Said<'_>> = (0..40).map(|_| asking()).collect();
    let provider = desk.tape("tape", &answers);
    let plan = plan(&desk, 24);
    let output = desk.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let requests = desk.bodies("approval", "asked");
    let calls = |body: &&Value| body.to_string().contains("call shell.run?");
    let asked = requests.iter().filter(calls).count();
    let started = desk.bodies("task", "started").len();
    assert_eq!((asked, started), (17, 17), "16 wait without a slot, and one in the only slot");
    desk.require_sound();
}

#[test]
fn a_task_that_waits_for_an_answer_leaves_its_slot_to_the_next() {
    let desk = Desk::new("");
    let provider =
        desk.tape("tape", &[asking(), ("It is there already.", None), ("Me too.", None)]);
    let plan = plan(&desk, 3);
    let output = desk.run(&provider, &["run", &plan, "--yes", "--jobs", "1"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert_eq!(desk.bodies("task", "completed").len(), 2, "{}", words(&output));
    let provider = desk.tape("second", &[("Then I leave it.", None)]);
    let output = desk.run(&provider, &["answer", "last", "next", "deny: it is there"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    desk.require_sound();
}
