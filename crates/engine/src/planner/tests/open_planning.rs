//! A strong model plans in one conversation: from the goal to the card, through changes and questions, and over interruptions.

use std::sync::Mutex;

use futures_util::future::BoxFuture;
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::{
    DeltaSink, FinishReason, GenerateRequest, GeneratedAnswer, LanguageModel, ModelCapability,
    ModelError, ModelInfo, RawToolCall, TokenUsage,
};
use planwright_model::agent_conversation::{ReportedOutcome, TURN_PURPOSE};
use planwright_model::event::AgentEvent;
use planwright_model::{FactReading, NodeOrigin, PlanNode, ProfileChoice};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;

/// What it says where a conversation has to be shortened.
pub(super) const SUMMARY: &str =
    "The tasks were drafted and checked several times; item_4 has them.";

/// A model that gives its answers in order and remembers what it was asked.
#[derive(Debug)]
pub(super) struct StrongModel {
    info: ModelInfo,
    answers: Mutex<std::vec::IntoIter<GeneratedAnswer>>,
    pub(super) requests: Mutex<Vec<GenerateRequest>>,
}

impl LanguageModel for StrongModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        _: DeltaSink<'a>,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        self.requests.lock().unwrap().push(request.clone());
        // Only the summarizer is asked without tools.
        if request.tools.is_empty() {
            let summary = answer(SUMMARY, &[], FinishReason::Stop);
            return Box::pin(std::future::ready(Ok(summary)));
        }
        let answer = self.answers.lock().unwrap().next();
        let answer =
            answer.unwrap_or_else(|| panic!("no answer left to {:#?}", request.messages.last()));
        Box::pin(std::future::ready(Ok(answer)))
    }
}

pub(super) fn answer(text: &str, calls: &[(&str, Value)], finish: FinishReason) -> GeneratedAnswer {
    let call = |(name, arguments): &(&str, Value)| RawToolCall {
        id: "c".into(),
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    };
    GeneratedAnswer {
        text: text.to_owned(),
        tool_calls: calls.iter().map(call).collect(),
        usage: TokenUsage::from_counts(100, 20),
        finish,
        model: "strong".into(),
        reasoning: Vec::new(),
        spent_on_retries: TokenUsage::default(),
    }
}

pub(super) fn calls(calls: &[(&str, Value)]) -> GeneratedAnswer {
    answer("", calls, FinishReason::ToolCalls)
}

pub(super) fn done(summary: &str) -> (&'static str, Value) {
    ("StageResult", json!({"status": "success", "confidence": 0.9, "summary": summary}))
}

pub(super) fn strong(answers: Vec<GeneratedAnswer>) -> (Arc<ModelClient>, Arc<StrongModel>) {
    strong_in_window(answers, None)
}

pub(super) fn strong_in_window(
    answers: Vec<GeneratedAnswer>,
    context_window: Option<u32>,
) -> (Arc<ModelClient>, Arc<StrongModel>) {
    let info = ModelInfo {
        provider: "hosted".into(),
        model: "strong".into(),
        host: String::new(),
        local: false,
        context_window,
        capability: Some(ModelCapability::FULL),
        facts: planwright_llm::ModelFacts::default(),
    };
    let answers = Mutex::new(answers.into_iter());
    let model = Arc::new(StrongModel { info, answers, requests: Mutex::default() });
    let shared: Arc<dyn LanguageModel> = model.clone();
    let client = ModelClient {
        dialogue: ModelDialogue::new(shared).with_profile(ProfileChoice::Auto),
        prompts: Arc::new(PlanningPrompts::default()),
        redactor: planwright_text::Redactor::default(),
        next_ask: Arc::default(),
        temperature: None,
        max_output_tokens: None,
        workspace: None,
    };
    (Arc::new(client), model)
}

/// A conversation with its journal.
pub(super) struct Desk {
    pub(super) talk: Talk,
    pub(super) events: Vec<Event>,
    /// After how many events something was committed.
    commits: Vec<usize>,
}

impl Desk {
    pub(super) async fn about(
        goal: &str,
        policy: PolicyOverride,
        client: Arc<ModelClient>,
    ) -> Self {
        let talk =
            Talk { planner: Planner { model: Some(client), ..fixture_planner() }, ..Talk::idle() };
        let mut desk = Self { talk, events: Vec::new(), commits: Vec::new() };
        desk.say(
            PlanningEvent::Began {
                goal: goal.into(),
                thread_id: "user_test:1".into(),
                policy,
                limits: PlanLimits::default(),
                drafter: "hosted/strong".into(),
            }
            .into(),
        );
        desk.run().await;
        desk
    }

    pub(super) fn say(&mut self, event: Event) {
        self.events.push(event.clone());
        self.talk.say(event);
    }

    pub(super) async fn run(&mut self) {
        for _ in 0..64 {
            if !self.talk.state.planning.is_working() {
                return;
            }
            let said = Mutex::new(Vec::new());
            let say = |events: Vec<Event>| said.lock().unwrap().push(events);
            let cancel = CancellationToken::new();
            let talk = self.talk.state.planning.clone();
            let planner = &self.talk.planner;
            let work = match planner.active_model(&talk).cloned() {
                Some(client) => {
                    planner.run_stage_with_model(&client, &talk, self.talk.now, &say, &cancel).await
                }
                None => planner.run_stage(&talk, self.talk.now),
            };
            for events in said.into_inner().unwrap() {
                for event in events {
                    self.say(event);
                }
                self.commits.push(self.events.len());
            }
            for event in work.events {
                self.say(event);
            }
            let moved =
                planning::events_for_outcome(&self.talk.state, work.outcome, None, self.talk.now);
            assert!(!moved.is_empty(), "{:?} leads nowhere", work.outcome);
            for event in moved {
                self.say(event);
            }
            self.commits.push(self.events.len());
        }
        panic!("the agent does not stop");
    }

    pub(super) async fn answer(&mut self, answer: impl Into<Answer>) {
        let id = self.talk.open().id;
        let command = Command::Answer { id, answer: answer.into(), by: Actor::Person };
        let decision = decide_command(&self.talk.state, &command, 3, self.talk.now);
        for event in decision.events {
            self.say(event);
        }
        self.run().await;
    }

    pub(super) fn planning(&self) -> &PlanningSlice {
        &self.talk.state.planning
    }

    fn node(&self, id: &str) -> &PlanNode {
        let roadmap = self.planning().roadmap.as_deref().unwrap();
        roadmap.find_node(&id.into()).unwrap_or_else(|| panic!("no node {id}"))
    }

    fn days_of(&self, id: &str) -> Vec<String> {
        let schedule = self.planning().schedule.as_deref().unwrap();
        let blocks = schedule.blocks.iter().filter(|block| block.plan_node_id.as_str() == id);
        blocks.map(|block| block.start.local_date().to_string()).collect()
    }

    pub(super) fn broken(&self) -> Vec<String> {
        self.planning().broken_facts().map(|found| found.message.clone()).collect()
    }
}

pub(super) fn once_final() -> PolicyOverride {
    PolicyOverride { probing_depth: Some(1), ..with(ApprovalPolicy::SingleFinal, Autonomy::Medium) }
}

const GOAL: &str = "Launch the shop with Ana and Ben. Ben is away 15 to 19 June 2026. The launch is on 30 June 2026, done by 3 July 2026.";

fn collect() -> GeneratedAnswer {
    calls(&[
        (
            "record_fact",
            json!({"facts": [
                {"text": "Ana", "kind": "person", "person": "Ana"},
                {"text": "Ben is away 15 to 19 June 2026", "kind": "absence", "person": "Ben",
                    "from": "2026-06-15", "to": "2026-06-19"},
                {"text": "The launch is on 30 June 2026", "kind": "fixed_date", "subject": "launch", "on": "2026-06-30"},
                {"text": "done by 3 July 2026", "kind": "deadline", "on": "2026-07-03"},
            ]}),
        ),
        done("Two people, an absence, a launch day and a deadline."),
    ])
}

fn outline() -> GeneratedAnswer {
    let operations = json!([
        {"op": "add", "id": "build", "kind": "phase", "title": "Build the shop"},
        {"op": "add", "id": "api", "under": "build", "title": "Write the order API", "minutes": 1200, "owner": "Ana",
            "done_when": "an order can be placed by curl"},
        {"op": "add", "id": "pages", "under": "build", "title": "Build the shop pages", "minutes": 1800, "owner": "Ben",
            "done_when": "a stranger buys something", "stream": "front"},
        {"op": "add", "id": "go", "kind": "phase", "title": "Go live"},
        {"op": "add", "id": "launch", "under": "go", "title": "Launch the shop", "minutes": 120, "needs": ["api", "pages"],
            "fixed_start": "2026-06-30", "done_when": "the first order came in"},
        {"op": "add", "id": "review", "under": "go", "title": "Review the launch", "minutes": 60, "role": "review",
            "needs": ["launch"], "done_when": "three lessons are written down"},
        {"op": "add", "id": "live", "kind": "milestone", "title": "The shop is live", "needs": ["go"]},
    ]);
    calls(&[
        (
            "PatternSelector",
            json!({"pattern_type": "milestone_project", "subtype": "launch", "confidence": 0.9}),
        ),
        ("NodeGenerator", json!({"operations": operations})),
        done("Two streams until the launch."),
    ])
}

fn roadmap() -> GeneratedAnswer {
    let option = |label: &str, chosen: bool| {
        json!({"label": label, "summary": "in parallel", "effort_hours": 53, "span_weeks": 4, "risk": "low",
            "chosen": chosen, "rationale": "both can start at once"})
    };
    calls(&[
        (
            "RoadmapBuilder",
            json!({"options": [option("Side by side", true), option("One after the other", false)],
                "risks": ["Ben's week off is close to the launch"]}),
        ),
        done("Side by side, because both can start at once."),
    ])
}

fn schedule() -> GeneratedAnswer {
    calls(&[done("The dates hold.")])
}

fn whole_plan() -> Vec<GeneratedAnswer> {
    vec![collect(), outline(), roadmap(), schedule()]
}

#[tokio::test]
async fn the_plan_is_the_models_and_respects_everything_that_was_said() {
    let (client, model) = strong(whole_plan());
    let desk = Desk::about(GOAL, once_final(), client).await;
    let place = desk.talk.place();
    assert_eq!(
        place,
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        desk.planning().trouble
    );
    assert_eq!(model.requests.lock().unwrap().len(), 4);
    let outline = desk.planning().outline.as_deref().unwrap();
    let ids: Vec<&str> = outline.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["goal", "build", "api", "pages", "go", "launch", "review", "live"]);
    assert_eq!(
        (desk.node("api").owner.as_str(), desk.node("pages").owner.as_str()),
        ("Ana", "Ben")
    );
    assert_eq!(desk.days_of("launch"), ["2026-06-30"]);
    let ben = desk.days_of("pages");
    assert!(
        ben.iter().all(|day| !("2026-06-15"..="2026-06-19").contains(&day.as_str())),
        "{ben:?}"
    );
    assert!(desk.days_of("api")[0] == ben[0], "the two work side by side: {ben:?}");
    assert_eq!(desk.broken(), [""; 0]);
    let chosen = desk.planning().roadmap.as_deref().unwrap().options_tried[0].clone();
    assert_eq!((chosen.label.as_str(), chosen.chosen), ("Side by side", true));
    assert_eq!(desk.node("goal").risks, ["Ben's week off is close to the launch"]);
    assert!(outline.nodes.iter().skip(1).all(|node| node.origin == NodeOrigin::AiAdaptation));
    let readings = desk.planning().facts.active().filter_map(|fact| fact.reading.as_ref());
    assert!(readings.into_iter().any(
        |read| matches!(read, FactReading::Absence { person: Some(name), .. } if name == "Ben")
    ));
}

#[tokio::test]
async fn a_draft_that_breaks_a_fact_goes_back_to_the_model_first() {
    let mut late = whole_plan();
    // The launch is planned a day late; the roadmap stage sends it back, and the model repairs it.
    late[1] = {
        let text = late[1].tool_calls[1].arguments.replace("\"2026-06-30\"", "\"2026-07-01\"");
        let mut answer = late[1].clone();
        answer.tool_calls[1].arguments = text;
        answer
    };
    let repair = json!({"operations": [{"op": "date", "id": "launch", "field": "fixed_start", "date": "2026-06-30"}]});
    late.insert(3, calls(&[("NodeGenerator", repair), done("The launch is on its day now.")]));
    let (client, model) = strong(late);
    let desk = Desk::about(GOAL, once_final(), client).await;
    assert_eq!(desk.talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    assert_eq!(
        (desk.days_of("launch"), desk.broken()),
        (vec!["2026-06-30".to_owned()], Vec::new())
    );
    let requests = model.requests.lock().unwrap();
    let told = serde_json::to_string(&requests[3].messages).unwrap();
    assert!(
        told.contains("Not handed in yet") && told.contains("The launch is on 30 June 2026"),
        "{told}"
    );
}

/// The nodes apart from their place among siblings.
fn plain_nodes(desk: &Desk) -> BTreeMap<TaskId, PlanNode> {
    let roadmap = desk.planning().roadmap.as_deref().unwrap();
    let plain = |node: &PlanNode| (node.id.clone(), PlanNode { position: 0, ..node.clone() });
    roadmap.nodes.iter().map(plain).collect()
}

#[tokio::test]
async fn a_change_request_changes_what_it_names_and_its_report_is_checked() {
    let mut answers = whole_plan();
    let report = |nodes: Value| {
        (
            "StageResult",
            json!({"status": "success", "summary": "Done.", "requests": [
            {"number": 1, "status": "met", "nodes": nodes, "words": "Ana tests the payments before the launch."}]}),
        )
    };
    answers.push(calls(&[report(json!(["launch"]))]));
    let add = json!({"operations": [{"op": "add", "id": "pay", "after": "api", "title": "Test the payments", "minutes": 240,
        "owner": "Ana", "needs": ["api"], "needed_by": ["launch"], "done_when": "a refund works"}]});
    answers.push(calls(&[("NodeGenerator", add), report(json!(["pay", "launch", "review"]))]));
    answers.push(calls(&[report(json!(["pay", "launch"]))]));
    let (client, model) = strong(answers);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    let before = plain_nodes(&desk);
    desk.answer(Answer::with_text(
        A::RequestChanges,
        "let Ana test the payments first, takes half a day",
    ))
    .await;
    assert_eq!(
        desk.talk.place(),
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        desk.planning().trouble
    );
    assert_eq!(
        model.requests.lock().unwrap().len(),
        7,
        "a change takes no more than its own calls"
    );
    let mut after = plain_nodes(&desk);
    assert_eq!(after.remove(&TaskId::from("pay")).unwrap().owner, "Ana");
    assert_eq!(after, before, "what no operation named stays as it was");
    let report = &desk.planning().reports[0];
    assert_eq!((report.outcome, report.objection.clone()), (ReportedOutcome::Met, None));
    assert_eq!(report.nodes, [TaskId::from("pay"), TaskId::from("launch")]);
    let shown: Vec<String> =
        desk.talk.open().details.iter().map(|detail| format!("{detail:?}")).collect();
    assert!(shown.iter().any(|detail| detail.contains("Ana tests the payments")), "{shown:?}");
    let told = serde_json::to_string(&model.requests.lock().unwrap()[5].messages).unwrap();
    assert!(told.contains("reported as done, but nothing in the plan changed"), "{told}");
    let request = desk.planning().facts.active().last().unwrap();
    assert_eq!(
        (request.text.as_str(), request.reading.clone()),
        ("let Ana test the payments first, takes half a day", None)
    );
}

#[tokio::test]
async fn a_question_in_words_is_answered_on_the_card_and_changes_nothing() {
    let mut answers = whole_plan();
    answers.push(calls(&[(
        "StageResult",
        json!({"status": "success", "summary": "Answered.", "requests": [
            {"number": 1, "status": "answered", "words": "Ben's week off: if the pages slip, nobody else knows them."}]}),
    )]));
    let (client, _) = strong(answers);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    let before = plain_nodes(&desk);
    desk.answer(Answer::with_text(A::RequestChanges, "What is the biggest risk?")).await;
    assert_eq!(desk.talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    assert_eq!(plain_nodes(&desk), before);
    let card = desk.talk.open();
    assert!(card.why.starts_with("Your question is answered."), "{}", card.why);
    let details: Vec<String> = card.details.iter().map(|detail| format!("{detail:?}")).collect();
    assert!(
        details.iter().any(|one| one.contains("Answer") && one.contains("Ben's week off")),
        "{details:?}"
    );
    assert!(
        desk.planning().response_text.contains("Ben's week off"),
        "{}",
        desk.planning().response_text
    );
}

#[tokio::test]
async fn the_model_asks_and_every_word_of_the_answer_reaches_it() {
    let ask = json!({"questions": [{"question": "Who reviews it?", "assumed": "nobody", "why": "It adds a week.",
        "choices": ["Dana", "nobody"]}]});
    let mut answers = vec![calls(&[("ContextElicitor", ask.clone()), done("too early")])];
    answers.extend(whole_plan());
    let (client, model) = strong(answers);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    assert_eq!(desk.talk.place(), PlanningPosition::paused_for(PauseKind::Questions));
    assert_eq!(desk.talk.open().question, "Who reviews it?");
    desk.answer(Answer::with_text(
        A::Reply,
        "Dana, but only in the week of 22 June; she needs 2 days",
    ))
    .await;
    assert_eq!(
        desk.talk.place(),
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        desk.planning().trouble
    );
    let requests = model.requests.lock().unwrap();
    let told = serde_json::to_string(&requests[1].messages).unwrap();
    assert!(
        told.contains("answer to \\\\\\\"Who reviews it?\\\\\\\"") || told.contains("answer to"),
        "{told}"
    );
    assert!(told.contains("Dana, but only in the week of 22 June; she needs 2 days"), "{told}");
    assert!(told.contains("Not run, because the stage ended with the call before it"), "{told}");
}

/// Folds a journal up to an event.
fn folded(events: &[Event]) -> SessionState {
    let mut state = SessionState::default();
    for event in events {
        let now: Timestamp = NOW.parse().unwrap();
        state.apply(&Record::new(state.seq.next(), now, event.clone()));
    }
    state
}

#[tokio::test]
async fn every_request_is_rebuilt_byte_for_byte_from_the_journal() {
    let mut answers = whole_plan();
    answers.insert(1, answer("I think about it.", &[], FinishReason::Stop));
    answers.insert(3, answer("half", &[], FinishReason::Length));
    answers.insert(
        4,
        calls(&[
            ("GrammarValidator", json!({})),
            ("nonsense", json!({})),
            ("ScheduleGenerator", json!({})),
        ]),
    );
    answers.push(calls(&[(
        "StageResult",
        json!({"status": "success", "summary": "No.", "requests": [{"number": 1, "status": "not", "words": "It would break the deadline."}]}),
    )]));
    let (client, model) = strong(answers);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    desk.answer(Answer::with_text(A::RequestChanges, "launch in August")).await;
    assert_eq!(
        desk.talk.place(),
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        desk.planning().trouble
    );
    assert_eq!(check_rebuilt(&desk, &model), model.requests.lock().unwrap().len());
}

/// Checks that every turn's request follows from the journal before it, and counts them.
pub(super) fn check_rebuilt(desk: &Desk, model: &StrongModel) -> usize {
    let sent = model.requests.lock().unwrap();
    let sent: Vec<&GenerateRequest> = sent.iter().filter(|one| !one.tools.is_empty()).collect();
    let mut asked = 0;
    for (at, event) in desk.events.iter().enumerate() {
        let Event::Agent(AgentEvent::ModelAsked { purpose, prompt_ref, .. }) = event else {
            continue;
        };
        if purpose != TURN_PURPOSE {
            continue;
        }
        let state = folded(&desk.events[..at]);
        let talk = state.planning.conversation.as_deref().unwrap();
        let request = crate::planner::conversation::planning_request(talk, None, None);
        assert_eq!(
            serde_json::to_string(&request).unwrap(),
            serde_json::to_string(sent[asked]).unwrap()
        );
        assert_eq!(
            crate::planner::conversation::request_digest(
                &request,
                &planwright_text::Redactor::default()
            ),
            *prompt_ref
        );
        asked += 1;
    }
    assert_eq!(asked, sent.len());
    asked
}

#[tokio::test]
async fn whoever_is_interrupted_between_any_two_events_sends_the_same_request() {
    let (client, model) = strong(whole_plan());
    let desk = Desk::about(GOAL, once_final(), client).await;
    let sent = model.requests.lock().unwrap().clone();
    assert!(desk.commits.len() > 20, "{:?}", desk.commits);
    for &end in &desk.commits {
        let state = folded(&desk.events[..end]);
        let talk = &state.planning;
        if !talk.is_working() {
            continue;
        }
        let (client, again) = strong(vec![answer("stop", &[], FinishReason::Stop); 40]);
        let planner = Planner { model: Some(client.clone()), ..fixture_planner() };
        if planner.active_model(talk).is_none() {
            continue;
        }
        let cancel = CancellationToken::new();
        planner
            .run_stage_with_model(&client, talk, NOW.parse().unwrap(), &|_: Vec<Event>| {}, &cancel)
            .await;
        let first = again.requests.lock().unwrap().first().cloned();
        if let Some(first) = first {
            let last = serde_json::to_string(first.messages.last().unwrap()).unwrap();
            assert!(sent.contains(&first), "after event {end} another request is sent: {last}");
        }
    }
}
