//! Agents that wait for an answer of the person: others work in the meantime, and a run without a screen ends.

use std::fmt::Write as _;

use serde_json::Value;

use super::{AgentEnv, ModelAnswer, code, shell, words};

/// A plan of this many independent tasks for agents.
fn plan(env: &AgentEnv, tasks: usize) -> String {
    let mut text = String::from("title = \"Agents\"\n");
    for task in 0..tasks {
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"t{task}\"\ndescription = \"Leave a mark\"\nrun = {{ agent = {{}} }}"
        );
    }
    env.place.plan(&text)
}

fn asking() -> ModelAnswer<'static> {
    ("I run it.", shell("echo one >> done.txt"))
}

#[test]
fn questions_that_fill_all_slots_end_a_run_without_a_screen() {
    let env = AgentEnv::new("");
    let provider = env.tape("tape", &[asking(), asking(), asking(), asking()]);
    let plan = plan(&env, 4);
    let output = env.run(&provider, &["run", &plan, "--yes", "--jobs", "3"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let printed = words(&output);
    assert!(printed.matches("Allow this command?").count() >= 4, "{printed}");
    assert_eq!(env.written("done.txt"), "", "nothing runs before an answer");
    env.require_intact_store();
}

#[test]
fn more_questions_than_may_wait_at_once_end_the_run_as_well() {
    let env = AgentEnv::new("enable_task_graphs = false\n");
    let answers: Vec<ModelAnswer<'_>> = (0..40).map(|_| asking()).collect();
    let provider = env.tape("tape", &answers);
    let plan = plan(&env, 24);
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let requests = env.bodies("approval", "asked");
    let calls = |body: &&Value| body["request"]["kind"]["about"] == "permission";
    let asked = requests.iter().filter(calls).count();
    let started = env.bodies("task", "started").len();
    assert_eq!((asked, started), (17, 17), "16 wait without a slot, and one in the only slot");
    env.require_intact_store();
}

#[test]
fn a_task_that_waits_for_an_answer_frees_its_slot() {
    let env = AgentEnv::new("");
    let provider = env.tape("tape", &[asking(), ("It is there already.", None), ("Me too.", None)]);
    let plan = plan(&env, 3);
    let output = env.run(&provider, &["run", &plan, "--yes", "--jobs", "1"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert_eq!(env.bodies("task", "completed").len(), 2, "{}", words(&output));
    let provider = env.tape("second", &[("Then I leave it.", None)]);
    let output = env.run(&provider, &["answer", "last", "next", "deny: it is there"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    env.require_intact_store();
}
