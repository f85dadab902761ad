//! The open loop: no odd answer completes a task, no call is dropped, and the person can be asked and can speak.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::fixture::*;
use crate::{AgentJob, AgentServices, PersonChannel};
use planwright_llm::{FinishReason, GeneratedAnswer, MessagePart, MessageRole, RawToolCall};
use planwright_model::event::AgentEvent;
use planwright_model::{
    Answer, Category, ChoiceAction, ExecutionFailure, ExitCriterion, ReasoningFormat,
    ReasoningItem, Request, RequestKind, TaskId, ToolResult,
};
use planwright_state::{ConversationEntry, PersonMessage};
use planwright_tools::{Tool, ToolEffect};

/// A person who gives these answers in order, and has written these messages.
#[derive(Default)]
pub(super) struct Present {
    answers: Mutex<Vec<Answer>>,
    messages: Mutex<Vec<PersonMessage>>,
    pub(super) asked: Mutex<Vec<Request>>,
}

impl Present {
    fn who_answers(answers: Vec<Answer>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers), ..Self::default() })
    }
}

impl PersonChannel for Present {
    fn ask_person(&self, request: Request) -> BoxFuture<'_, Option<Answer>> {
        self.asked.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        let answer = (!answers.is_empty()).then(|| answers.remove(0));
        Box::pin(std::future::ready(answer))
    }

    fn undelivered_messages<'a>(&'a self, _: &'a TaskId) -> BoxFuture<'a, Vec<PersonMessage>> {
        let messages = std::mem::take(&mut *self.messages.lock().unwrap());
        Box::pin(std::future::ready(messages))
    }
}

pub(super) fn calls(text: &str, calls: &[(&str, Value)]) -> GeneratedAnswer {
    let mut answer = says(text, None);
    answer.tool_calls = calls
        .iter()
        .enumerate()
        .map(|(at, (name, args))| RawToolCall {
            id: format!("c{at}"),
            name: (*name).to_owned(),
            arguments: args.to_string(),
        })
        .collect();
    answer.finish = FinishReason::ToolCalls;
    answer
}

pub(super) fn done(summary: &str) -> GeneratedAnswer {
    calls("", &[("task.done", json!({"status": "done", "summary": summary}))])
}

/// A thought as its provider wants it back.
pub(super) fn thought(text: &str) -> ReasoningItem {
    let raw = json!({"type": "thinking", "thinking": text, "signature": "c2ln"});
    ReasoningItem { format: ReasoningFormat::Anthropic, position: 0, text: text.to_owned(), raw }
}

pub(super) fn cut(text: &str) -> GeneratedAnswer {
    GeneratedAnswer { finish: FinishReason::Length, ..says(text, None) }
}

pub(super) fn open(model: Arc<ByRule>, directory: &std::path::Path) -> AgentServices {
    open_with(model, Setup::default(), directory)
}

fn open_with(model: Arc<ByRule>, setup: Setup, directory: &std::path::Path) -> AgentServices {
    open_services(model, setup.toolbox(directory))
}

/// The results that the model was sent with its last request, in order.
fn last_results(model: &ByRule) -> Vec<(String, String, bool)> {
    let requests = model.requests.lock().unwrap();
    let parts = requests.last().unwrap().messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            MessagePart::Result { call_id, content, is_error, .. } => {
                Some((call_id.clone(), content.clone(), *is_error))
            }
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn only_handing_in_completes_a_task() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = "I'm sorry, but I can't help with that.";
    let empty = || says("", None);
    let odd: Vec<(&str, Vec<GeneratedAnswer>, &str)> = vec![
        ("empty", vec![empty(), empty(), empty()], "empty_answer"),
        ("refused", vec![says(refusal, None), says(refusal, None)], "needs_person"),
        ("a question", vec![says("Which file?", None), says("Which?", None)], "needs_person"),
        ("prose", vec![says("I would edit a.rs.", None), says("So.", None)], "needs_person"),
        ("thinking", vec![says("<think>hm</think>", None), empty(), empty()], "empty_answer"),
        ("cut off", vec![cut("So "), cut("it "), cut("goes "), cut("on ")], "cut_off"),
    ];
    for (name, answers, code) in odd {
        let sent = answers.len();
        let services = open(ByRule::in_order(answers), directory.path());
        let told = run_task(&services, task("generic", "Do it")).await;
        let failure = told.end.result.clone().expect_err(name);
        assert_eq!(failure.code, code, "{name}: {}", failure.message);
        assert!(told.tools().is_empty(), "{name}: nothing was called");
        // Every answer is in the journal, and after each but the last the model was told what was wrong with it.
        let count = |is: fn(&AgentEvent) -> bool| told.events.iter().filter(|one| is(one)).count();
        let answered = count(|event| matches!(event, AgentEvent::ModelAnswered { .. }));
        assert_eq!(answered, sent, "{name}");
        assert_eq!(count(|event| matches!(event, AgentEvent::Prompted { .. })), sent - 1, "{name}");
    }
}

#[tokio::test]
async fn words_are_answered_once_and_then_put_to_the_person() {
    let directory = tempfile::tempdir().unwrap();
    let model = ByRule::in_order(vec![
        says("Which of the two do you mean?", None),
        says("I need to know which of the two.", None),
        done("It was the first."),
    ]);
    let mut services = open(model.clone(), directory.path());
    let person = Present::who_answers(vec![Answer::with_text(ChoiceAction::Reply, "the first")]);
    services.person = person.clone();
    let told = run_task(&services, task("generic", "Change it")).await;
    assert_eq!(told.end.result, Ok("It was the first.".to_owned()));
    let asked = person.asked.lock().unwrap();
    assert_eq!(asked[0].kind, RequestKind::AgentQuestion { task: "t".into(), call: None });
    assert_eq!(asked[0].question, "I need to know which of the two.");
    let prompts = model.prompts();
    assert!(prompts[1].contains("words alone do nothing"), "{}", prompts[1]);
    assert!(prompts[2].ends_with("The person answers: the first"), "{}", prompts[2]);
}

#[tokio::test]
async fn a_cut_answer_is_continued_with_more_room_and_its_call_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let mut half = calls("", &[("file.write", json!({"path": "a", "content": "x"}))]);
    half.finish = FinishReason::Length;
    let write = calls("", &[("file.write", json!({"path": "a", "content": "whole"}))]);
    let model = ByRule::in_order(vec![half, write, done("Written.")]);
    let told = run_task(&open(model.clone(), directory.path()), task("generic", "Write a")).await;
    assert_eq!(told.end.result, Ok("Written.".to_owned()));
    assert_eq!(std::fs::read_to_string(directory.path().join("a")).unwrap(), "whole");
    let requests = model.requests.lock().unwrap();
    let room: Vec<u32> = requests.iter().map(|one| one.max_output_tokens.unwrap()).collect();
    assert_eq!(room, [8_192, 16_384, 8_192]);
    assert!(requests[1].messages.last().unwrap().text().contains("cut off"));
}

#[tokio::test]
async fn all_calls_of_an_answer_run_and_each_has_its_own_result() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.txt"), "one > two\t3\n").unwrap();
    std::fs::write(directory.path().join("b.txt"), "three\n").unwrap();
    let model = ByRule::in_order(vec![
        calls(
            "Five at once.",
            &[
                ("file.read", json!({"path": "a.txt"})),
                ("file.read", json!({"path": "b.txt", "mood": "good"})),
                ("file.write", json!({"path": "c.txt", "content": "new\n"})),
                ("file.read", json!({"path": "c.txt"})),
                ("no.such", json!({})),
                ("task.done", json!({"status": "done", "summary": "too early"})),
            ],
        ),
        done("Read and written."),
    ]);
    let told = run_task(&open(model.clone(), directory.path()), task("generic", "Look")).await;
    assert_eq!(told.end.result, Ok("Read and written.".to_owned()));
    let results = last_results(&model);
    let ids: Vec<&str> = results.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6"]);
    let errors: Vec<bool> = results.iter().map(|(.., error)| *error).collect();
    assert_eq!(errors, [false, false, false, false, true, true]);
    assert!(results[0].1.contains("1\tone > two\t3"), "{}", results[0].1);
    assert!(results[1].1.contains("mood"), "an unknown field is told: {}", results[1].1);
    assert!(results[3].1.contains("1\tnew"), "a look after a write sees it: {}", results[3].1);
    assert!(results[4].1.contains("there is no tool `no.such`"), "{}", results[4].1);
    assert!(results[5].1.contains("call_5 of the same answer did not succeed"), "{}", results[5].1);
}

#[tokio::test]
async fn many_edits_of_several_files_are_one_task() {
    let directory = tempfile::tempdir().unwrap();
    let edits: Vec<(&str, Value)> = (1..=4)
        .map(|number| ("file.write", json!({"path": format!("f{number}.txt"), "content": "x\n"})))
        .collect();
    let model = ByRule::in_order(vec![
        calls("", &edits),
        calls("", &[("file.edit", json!({"path": "f1.txt", "old": "x", "new": "y"}))]),
        calls("", &[("file.edit", json!({"path": "f2.txt", "old": "x", "new": "y"}))]),
        done("Four files."),
    ]);
    let told = run_task(&open(model, directory.path()), task("code_modify", "Change four")).await;
    assert_eq!(told.end.result, Ok("Four files.".to_owned()));
    assert_eq!(told.tools().len(), 6);
    let state = told.events.iter().rev().find_map(|event| match event {
        AgentEvent::StateSaved { state, .. } => Some(state.state.clone()),
        _ => None,
    });
    assert!(state.unwrap().completed_steps.contains(&"edit".to_owned()), "steps stay visible");
}

#[tokio::test]
async fn a_call_that_failed_is_not_made_again_until_something_changed() {
    let directory = tempfile::tempdir().unwrap();
    let read = || ("file.read", json!({"path": "a.txt"}));
    let model = ByRule::in_order(vec![
        calls("", &[read()]),
        calls("", &[read()]),
        calls("", &[("file.write", json!({"path": "a.txt", "content": "x\n"})), read()]),
        done("Read."),
    ]);
    let told = run_task(&open(model.clone(), directory.path()), task("generic", "Read a")).await;
    assert_eq!(told.end.result, Ok("Read.".to_owned()));
    let results = last_results(&model);
    assert!(results[1].1.contains("the same call failed before (call_1)"), "{}", results[1].1);
    assert!(results[3].1.contains("1\tx"), "{}", results[3].1);
    assert_eq!(told.decisions("LOOP_GUARD").len(), 1);
}

fn fake_search(name: &str) -> Arc<dyn Tool> {
    Fake::tool(name, ToolEffect::Look, |_| ToolResult::success(json!({"answer": "found"})))
}

#[tokio::test]
async fn a_third_search_in_a_row_is_refused_while_a_product_is_due() {
    let directory = tempfile::tempdir().unwrap();
    let search = |query: &str| calls("", &[("internet.research", json!({"query": query}))]);
    let model = ByRule::in_order(vec![
        search("a"),
        search("b"),
        search("c"),
        calls("", &[("file.write", json!({"path": "a", "content": "x"}))]),
        search("d"),
        done("Written."),
    ]);
    let registry = tools_with(&[fake_search("internet.research")]);
    let setup = Setup { registry, ..Setup::default() };
    let mut kind = task("code_create", "Write it");
    kind.tools = vec!["internet.research".into(), "file.write".into()];
    let told = run_task(&open_with(model.clone(), setup, directory.path()), kind).await;
    assert_eq!(told.end.result, Ok("Written.".to_owned()));
    let errors: Vec<bool> = last_results(&model).into_iter().map(|(.., error)| error).collect();
    assert_eq!(errors, [false, false, true, false, false]);
}

#[tokio::test]
async fn a_skill_has_three_calls_in_every_profile() {
    let directory = tempfile::tempdir().unwrap();
    let failing = Fake::tool("skill.generator", ToolEffect::Write, |_| {
        let why = ExecutionFailure::new("bad", Category::Recoverable, "no front matter");
        ToolResult::failure(&why)
    });
    let build = |name: &str| calls("", &[("skill.generator", json!({"name": name}))]);
    let research = |query: &str| calls("", &[("internet.research", json!({"query": query}))]);
    let model = ByRule::in_order(vec![
        research("joins"),
        research("more joins"),
        build("a"),
        build("b"),
        calls("", &[("task.done", json!({"status": "failed", "summary": "It never parses."}))]),
    ]);
    let registry = tools_with(&[failing, fake_search("internet.research")]);
    let setup = Setup { registry, ..Setup::default() };
    let services = open_with(model.clone(), setup, directory.path());
    let told = run_task(&services, task("skill_build", "Write a skill about joins")).await;
    assert_eq!(told.end.result.unwrap_err().code, "failed_by_agent");
    let results = last_results(&model);
    assert!(results[1].1.contains("do the step generate now"), "{}", results[1].1);
    assert!(results[3].1.contains("3 calls"), "{}", results[3].1);
}

#[tokio::test]
async fn work_that_is_done_in_part_is_the_persons_to_decide_about() {
    let directory = tempfile::tempdir().unwrap();
    let partly = || {
        let report = json!({"status": "partly", "summary": "Half.", "left": ["the tests"]});
        calls("", &[("task.done", report)])
    };
    let model = ByRule::in_order(vec![partly()]);
    let told = run_task(&open(model, directory.path()), task("generic", "All of it")).await;
    let failure = told.end.result.unwrap_err();
    assert_eq!(failure.code, "partly_done");
    assert!(failure.message.contains("left: the tests"), "{}", failure.message);

    let model = ByRule::in_order(vec![partly(), partly(), partly()]);
    let mut services = open(model.clone(), directory.path());
    let person = Present::who_answers(vec![
        Answer::from(ChoiceAction::GoOn),
        Answer::with_text(ChoiceAction::RequestChanges, "the tests are in t/"),
        Answer::from(ChoiceAction::AcceptPart),
    ]);
    services.person = person.clone();
    let told = run_task(&services, task("generic", "All of it")).await;
    assert_eq!(told.end.result, Ok("Half.\nLeft: the tests".to_owned()));
    assert!(model.prompts()[2].contains("The person says: the tests are in t/"));
    assert_eq!(person.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_question_of_the_agent_is_answered_by_a_choice() {
    let directory = tempfile::tempdir().unwrap();
    let question = json!({"question": "Which database?", "choices": ["SQLite", "Postgres"]});
    let model = ByRule::in_order(vec![calls("", &[("ask_person", question)]), done("Postgres.")]);
    let mut services = open(model.clone(), directory.path());
    let person = Present::who_answers(vec![Answer::from(ChoiceAction::PickOption(2))]);
    services.person = person.clone();
    let told = run_task(&services, task("generic", "Choose")).await;
    assert_eq!(told.end.result, Ok("Postgres.".to_owned()));
    assert_eq!(last_results(&model)[0].1, "The person answers: Postgres");
    let asked = person.asked.lock().unwrap();
    assert_eq!(asked[0].kind, RequestKind::AgentQuestion { task: "t".into(), call: Some(1) });
}

#[tokio::test]
async fn a_message_is_delivered_before_the_next_turn_and_before_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let person = Arc::new(Present::default());
    let writer = Arc::clone(&person);
    let turn = Mutex::new(0);
    let model = ByRule::new(move |_| {
        let mut turn = turn.lock().unwrap();
        *turn += 1;
        if *turn == 1 {
            // Written while the model thinks about its first answer.
            let message = PersonMessage {
                number: 1,
                text: "use tabs".into(),
                delivered: false,
                interrupt: false,
            };
            writer.messages.lock().unwrap().push(message);
        }
        Ok(done("Finished."))
    });
    let mut services = open(model.clone(), directory.path());
    services.person = person;
    let told = run_task(&services, task("generic", "Write")).await;
    assert_eq!(told.end.result, Ok("Finished.".to_owned()));
    assert_eq!(told.asks(), 2, "the first end is not taken while a message waits");
    assert!(told.events.iter().any(
        |event| matches!(event, AgentEvent::Prompted { message: Some(1), text, .. } if text.contains("use tabs"))
    ));
}

#[tokio::test]
async fn unmet_criteria_go_back_to_the_model_with_their_output_and_fail_in_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let mut wanted = task("generic", "Write a");
    wanted.exit_criteria = vec![ExitCriterion::Command {
        command: "cat a && test -s a".into(),
        on: planwright_model::task::CriterionEffect::Success,
    }];
    let write = calls("", &[("file.write", json!({"path": "a", "content": "x\n"}))]);
    let model = ByRule::in_order(vec![done("Done."), write, done("Now it is.")]);
    let told = run_task(&open(model.clone(), directory.path()), wanted.clone()).await;
    assert_eq!(told.end.result, Ok("Now it is.".to_owned()));
    assert!(last_results(&model)[0].1.contains("Not accepted"), "{:?}", last_results(&model));
    std::fs::remove_file(directory.path().join("a")).unwrap();
    let model = ByRule::new(|_| Ok(done("Done.")));
    let told = run_task(&open(model, directory.path()), wanted).await;
    let failure = told.end.result.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.category),
        ("criteria_unmet", Category::Recoverable)
    );
    assert!(failure.message.contains("cat a"), "{}", failure.message);
}

#[tokio::test]
async fn a_retry_continues_the_same_conversation_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let failed =
        calls("", &[("task.done", json!({"status": "failed", "summary": "No compiler."}))]);
    let look = calls("I look.", &[("file.list", json!({"path": "."}))]);
    let services = open(ByRule::in_order(vec![look, failed]), directory.path());
    let told = run_task(&services, task("generic", "Build it")).await;
    let failure = told.end.result.clone().unwrap_err();
    let mut past = told.progress();
    past.conversation.as_mut().unwrap().ended = Some(failure);
    let model = ByRule::in_order(vec![done("Built.")]);
    let again = open(model.clone(), directory.path());
    let mut job = AgentJob::new(Arc::new(task("generic", "Build it")), 2);
    job.past = Some(past);
    assert_eq!(run(&again, &job).await.end.result, Ok("Built.".to_owned()));
    let requests = model.requests.lock().unwrap();
    let texts: Vec<String> =
        requests[0].messages.iter().map(planwright_llm::Message::text).collect();
    assert!(texts.iter().any(|text| text == "I look."), "what was tried is there: {texts:?}");
    let last = requests[0].messages.last().unwrap();
    assert_eq!(last.role, MessageRole::User);
    assert!(last.text().contains("ended: No compiler"), "{}", last.text());
}

#[tokio::test]
async fn calls_that_a_stop_cut_off_are_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let read = || calls("", &[("file.read", json!({"path": "a.txt"}))]);
    let failed = calls("", &[("task.done", json!({"status": "failed", "summary": "Stopped."}))]);
    let services = open(ByRule::in_order(vec![read(), failed]), directory.path());
    let told = run_task(&services, task("generic", "Read a")).await;
    std::fs::write(directory.path().join("a.txt"), "found\n").unwrap();
    for cut_off in ["Not run, because the attempt ended before it.", "failed (stopped): stopped"] {
        let mut past = told.progress();
        let talk = past.conversation.as_mut().unwrap();
        talk.ended = Some(ExecutionFailure::new("cancelled", Category::Critical, "stopped"));
        for entry in &mut talk.entries {
            if let ConversationEntry::Result { call: 1, text, .. } = entry {
                *text = cut_off.to_owned();
            }
        }
        let model = ByRule::in_order(vec![read(), done("Read.")]);
        let mut job = AgentJob::new(Arc::new(task("generic", "Read a")), 2);
        job.past = Some(past);
        let again = run(&open(model.clone(), directory.path()), &job).await;
        assert_eq!(again.end.result, Ok("Read.".to_owned()));
        assert!(last_results(&model).last().unwrap().1.contains("found"), "{cut_off}");
    }
}

#[tokio::test]
async fn turns_are_a_budget_that_the_person_may_renew() {
    let directory = tempfile::tempdir().unwrap();
    let model = ByRule::new(|_| Ok(calls("", &[("file.list", json!({"path": "."}))])));
    let mut services = open(model, directory.path());
    services.limits.task_budget.turns = 4;
    let told = run_task(&services, task("generic", "Go")).await;
    let failure = told.end.result.clone().unwrap_err();
    assert_eq!(failure.code, crate::TASK_CAP);
    assert!(failure.message.contains("4 turns"), "{}", failure.message);
    let mut past = told.progress();
    assert!(past.apply(&AgentEvent::BudgetRenewed { task: "t".into(), attempt: 1 }));
    let again = open(ByRule::in_order(vec![done("Over.")]), directory.path());
    let mut job = AgentJob::new(Arc::new(task("generic", "Go")), 1);
    job.past = Some(past);
    let mut again = again;
    again.limits.task_budget.turns = 4;
    assert_eq!(run(&again, &job).await.end.result, Ok("Over.".to_owned()));
}

#[tokio::test]
async fn older_results_are_compacted_and_can_be_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let long: Vec<String> =
        (0..400).map(|number| format!("line {number} of a long file\n")).collect();
    let long = long.concat();
    for name in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(directory.path().join(name), &long).unwrap();
    }
    let read = |name: &str| calls("", &[("file.read", json!({"path": name}))]);
    let again = calls("", &[("result.read", json!({"id": "call_1"}))]);
    let model = ByRule::with_window(
        8_000,
        vec![read("a.txt"), read("b.txt"), read("c.txt"), again, done("Read.")],
    );
    let told = run_task(&open(model.clone(), directory.path()), task("generic", "Read")).await;
    assert_eq!(told.end.result, Ok("Read.".to_owned()));
    let results = last_results(&model);
    assert!(results[0].1.contains("result.read {\"id\": \"call_1\"}"), "{}", results[0].1);
    assert!(!results[0].1.contains("line 200 of"), "{}", results[0].1);
    let shown = &results[3].1;
    assert!(shown.contains("line 0 of") && shown.contains("lines left out here"), "{shown}");
    for (_, content, _) in &results {
        let begins = content.matches("<<data ").count();
        assert_eq!(begins, content.matches("<<end of data ").count(), "{content}");
        assert_eq!(begins, 1, "{content}");
    }
}

#[tokio::test]
async fn the_opening_has_what_is_really_there() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("AGENTS.md"), "Use tabs.\n").unwrap();
    let model = ByRule::in_order(vec![done("Done.")]);
    let services = open(model.clone(), directory.path());
    let mut job = AgentJob::new(Arc::new(task("code_modify", "Change it")), 1);
    job.overview = vec!["- [running] this task".into()];
    job.context = vec![crate::DependencyResult {
        task: "build".into(),
        title: "Build > test".into(),
        outcome: "done".into(),
        answer: "exit 0\nlast output: 3 > 2".into(),
    }];
    run(&services, &job).await;
    let requests = model.requests.lock().unwrap();
    let system = requests[0].messages[0].text();
    for part in ["Use tabs.", "AGENTS.md sha256", "Platform:", "Date: 1970-01-01", "shell.run"] {
        assert!(system.contains(part), "{part}: {system}");
    }
    let briefing = requests[0].messages[1].text();
    for part in ["Change it", "- [running] this task", "3 > 2", "Build > test"] {
        assert!(briefing.contains(part), "{part}: {briefing}");
    }
    assert_eq!(requests[0].cacheable_prefix, 2);
    let offered: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    for tool in ["shell.run", "test.run", "file.edit", "task.done", "ask_person", "result.read"] {
        assert!(offered.contains(&tool), "{tool}: {offered:?}");
    }
}
