//! The open conversation through the whole program: what completes a task, what does not, and what a resume sends.

use serde_json::{Value, json};

use super::{AgentEnv, ModelAnswer, code, words};

const LARGE: &str = "profile = \"large\"\n";

fn report(status: &str, summary: &str) -> ModelAnswer<'static> {
    let arguments = json!({"status": status, "summary": summary});
    ("", Some(("task.done", arguments)))
}

#[test]
fn an_agent_edits_and_hands_in_and_its_dependent_reads_the_report() {
    let env = AgentEnv::new(LARGE);
    std::fs::write(env.place.work().join("a.txt"), "one\n").unwrap();
    let edit = json!({"path": "a.txt", "old": "one", "new": "two"});
    let tape = env.tape(
        "whole",
        &[
            ("I change it.", Some(("file.edit", edit))),
            report("done", "Changed a.txt."),
            report("done", "Read about it."),
        ],
    );
    let plan = env.plan(
        "code_modify",
        "Change a.txt",
        "[[tasks]]\nid = \"next\"\ndescription = \"Read it\"\ndepends_on = [\"t\"]\nrun = { agent = {} }",
    );
    let output = env.run(&tape, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("a.txt"), "two\n");
    assert_eq!(env.answer().as_deref(), Some("Read about it."));
    let openings = env.bodies("agent", "conversation_opened");
    assert_eq!(openings.len(), 2, "one conversation for each task");
    let briefing = openings[1]["opening"]["briefing"].as_str().unwrap();
    assert!(briefing.contains("Changed a.txt."), "{briefing}");
    env.require_intact_store();
}

#[test]
fn no_odd_answer_completes_a_task_and_each_is_told() {
    let refusal = "I'm sorry, but I can't help with that.";
    let unfinished = report("partly", "Half of it.");
    let odd: [(&str, Vec<ModelAnswer<'_>>, i32, &str); 5] = [
        ("empty", vec![("", None); 6], 1, "no usable answer"),
        ("refusal", vec![(refusal, None), (refusal, None)], 3, refusal),
        ("question", vec![("Which file?", None), ("Which one?", None)], 3, "Which one?"),
        ("partly", vec![unfinished], 3, "Part of the task is done"),
        ("failed", vec![report("failed", "No compiler.")], 1, "No compiler"),
    ];
    for (name, answers, exit, told) in odd {
        let env = AgentEnv::new(LARGE);
        let tape = env.tape(name, &answers);
        let plan = env.plan("generic", "Do it", "");
        let output = env.run(&tape, &["run", &plan, "--yes"]);
        assert_eq!(code(&output), exit, "{name}: {}", words(&output));
        assert_eq!(env.answer(), None, "{name}");
        assert_eq!(env.bodies("task", "completed"), Vec::<Value>::new(), "{name}");
        assert!(words(&output).contains(told), "{name}: {}", words(&output));
        env.require_intact_store();
    }
}

#[test]
fn a_question_without_a_screen_waits_while_others_work_and_its_answer_continues_the_task() {
    let env = AgentEnv::new(LARGE);
    let asks = json!({"question": "Tabs or spaces?", "choices": ["tabs", "spaces"]});
    let tape = env
        .tape("asks", &[("I ask.", Some(("ask_person", asks))), report("done", "The other one.")]);
    let other = "[[tasks]]\nid = \"other\"\ndescription = \"Something else\"\nrun = { agent = {} }\n\
                 [[tasks]]\nid = \"after\"\ndescription = \"After it\"\ndepends_on = [\"t\"]\nrun = { shell = \"true\" }";
    let plan = env.plan("generic", "Format it", other);
    let output = env.run(&tape, &["run", &plan, "--yes", "--jobs", "1"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let told = words(&output);
    assert!(told.contains("Tabs or spaces?") && told.contains("planwright answer"), "{told}");
    assert!(told.contains("replies: your answer in words, tabs, spaces"), "{told}");
    let completed = |env: &AgentEnv| -> Vec<Value> {
        env.bodies("task", "completed").iter().map(|body| body["task"].clone()).collect()
    };
    assert_eq!(completed(&env), ["other"], "the other task is done meanwhile");
    assert_eq!(env.bodies("task", "failed"), Vec::<Value>::new());

    // The label of the answer alone says nothing.
    let output = env.place.run(&["answer", "last", "next", "answer"]);
    assert_eq!(code(&output), 2, "{}", words(&output));
    let tape = env.tape("continues", &[report("done", "With spaces.")]);
    let output = env.run(&tape, &["answer", "last", "next", "spaces"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("With spaces."));
    assert_eq!(completed(&env), ["other", "t", "after"]);
    let opened = env.bodies("agent", "conversation_opened");
    assert_eq!(opened.len(), 2, "one conversation per task, none begun anew");
    env.require_intact_store();
}

#[test]
fn a_retry_continues_the_conversation_and_says_why_the_last_attempt_ended() {
    let env = AgentEnv::new(LARGE);
    let look = json!({"path": "."});
    let tape = env
        .tape("first", &[("I look.", Some(("file.list", look))), report("failed", "No compiler.")]);
    let plan = env.plan("generic", "Build it", "");
    let output = env.run(&tape, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    let tape = env.tape("second", &[report("done", "Built.")]);
    let output = env.run(&tape, &["resume", "last", "--retry", "failed"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("Built."));
    assert_eq!(env.bodies("agent", "conversation_opened").len(), 1, "it is the same one");
    let prompted = env.bodies("agent", "prompted");
    let texts: Vec<&str> = prompted.iter().filter_map(|body| body["text"].as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("ended: No compiler")), "{texts:?}");
}

#[test]
fn a_message_for_a_session_that_nobody_works_on_is_refused_with_a_remedy() {
    let env = AgentEnv::new(LARGE);
    let tape = env.tape("over", &[report("done", "Done.")]);
    let plan = env.plan("generic", "Do it", "");
    env.run(&tape, &["run", &plan, "--yes"]);
    let output = env.place.run(&["message", "last", "t", "use", "tabs"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    let told = words(&output);
    assert!(told.contains("no process works on this session now"), "{told}");
    assert!(told.contains("planwright resume"), "{told}");
    let sent: Vec<Value> = env.bodies("agent", "message_sent");
    assert_eq!(sent, Vec::<Value>::new());
}
