//! The tools of planning that neither draft nor hand in: each does what it says.

use super::open_planning::{
    Desk, SUMMARY, StrongModel, answer, calls, check_rebuilt, done, once_final, strong,
    strong_in_window,
};
use super::*;
use planwright_llm::{FinishReason, GeneratedAnswer, Message};
use planwright_model::{BrainstormingPreference, PolicyOverride};
use serde_json::{Value, json};

const GOAL: &str = "paint the shed by 2026-08-31";

fn context() -> GeneratedAnswer {
    let facts =
        json!({"facts": [{"text": "by 2026-08-31", "kind": "deadline", "on": "2026-08-31"}]});
    calls(&[("record_fact", facts), done("Nothing to ask.")])
}

fn draft() -> Vec<(&'static str, Value)> {
    let task = |id: &str, title: &str| json!({"op": "add", "id": id, "title": title, "minutes": 90, "done_when": "seen"});
    let mut paint = task("paint", "Paint the shed");
    paint["needs"] = json!(["sand"]);
    vec![
        (
            "PatternSelector",
            json!({"pattern_type": "milestone_project", "subtype": "quick", "confidence": 0.9}),
        ),
        (
            "NodeGenerator",
            json!({"operations": [task("sand", "Sand the shed"), paint,
                {"op": "add", "id": "end", "kind": "milestone", "title": "Shed painted", "needs": ["paint"]}]}),
        ),
    ]
}

fn options() -> Value {
    let option = |label: &str, chosen: bool| {
        json!({"label": label, "summary": format!("{label} it"), "effort_hours": 3, "span_weeks": 1,
            "risk": "low", "chosen": chosen, "rationale": "quick"})
    };
    json!([option("Brush", true), option("Spray", false)])
}

/// The results of the last request, by tool.
fn results(model: &StrongModel) -> Vec<(String, String)> {
    let requests = model.requests.lock().unwrap();
    let parts = requests.last().unwrap().messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            planwright_llm::MessagePart::Result { name, content, .. } => {
                Some((name.clone(), content.clone()))
            }
            _ => None,
        })
        .collect()
}

fn offered(model: &StrongModel, at: usize) -> Vec<String> {
    model.requests.lock().unwrap()[at].tools.iter().map(|tool| tool.name.clone()).collect()
}

async fn desk_with(
    policy: PolicyOverride,
    answers: Vec<GeneratedAnswer>,
) -> (Desk, Arc<StrongModel>) {
    let (client, model) = strong(answers);
    (Desk::about(GOAL, policy, client).await, model)
}

#[tokio::test]
async fn ideas_are_shown_once_and_only_to_those_who_want_them() {
    let ideas = |count: usize| {
        let ideas: Vec<String> = (1..=count).map(|number| format!("idea {number}")).collect();
        ("Brainstormer", json!({ "ideas": ideas }))
    };
    let mut last = draft();
    last.push(("OptionCrafter", json!({"options": options(), "rationale": "quick"})));
    last.push(done("Drafted."));
    let answers = vec![context(), calls(&[ideas(9), ideas(2), ideas(2)]), calls(&last), context()];
    let policy = PolicyOverride {
        brainstorming_preference: Some(BrainstormingPreference::AlwaysOffer),
        ..PolicyOverride::default()
    };
    let (desk, model) = desk_with(policy, answers).await;
    assert_eq!(desk.planning().ideas, ["idea 1", "idea 2"]);
    let told =
        model.requests.lock().unwrap()[2].messages.iter().map(Message::text).collect::<String>();
    assert!(offered(&model, 1).contains(&"Brainstormer".to_owned()), "{told}");
    let kept = &desk.planning().roadmap.as_ref().unwrap().options_tried;
    assert_eq!(
        kept.iter().map(|option| option.label.as_str()).collect::<Vec<_>>(),
        ["Brush", "Spray"]
    );
    let silent = PolicyOverride {
        brainstorming_preference: Some(BrainstormingPreference::OnDemand),
        ..PolicyOverride::default()
    };
    let (_, model) = desk_with(silent, vec![context(), calls(&[ideas(2)]), calls(&last)]).await;
    assert!(!offered(&model, 1).contains(&"Brainstormer".to_owned()));
}

#[tokio::test]
async fn the_portfolio_names_what_is_taken_and_what_conflicts() {
    let mut drafted = draft();
    drafted.push(done("Drafted."));
    let roadmap = vec![
        ("RoadmapBuilder", json!({"options": options(), "rationale": "quick"})),
        ("PortfolioProbe", json!({})),
    ];
    let (client, model) = strong(vec![
        calls(&[("PortfolioProbe", json!({}))]),
        context(),
        calls(&drafted),
        calls(&roadmap),
        calls(&[done("Compared.")]),
        calls(&[done("Dated.")]),
    ]);
    let desk = Desk::about(GOAL, once_final(), client).await;
    let told = results(&model);
    let probes: Vec<&str> = told
        .iter()
        .filter(|(tool, _)| tool == "PortfolioProbe")
        .map(|(_, text)| text.as_str())
        .collect();
    assert!(probes[0].starts_with("There is no draft with dates yet."), "{probes:?}");
    assert!(
        probes[1].starts_with("No conflicts.") && probes[1].contains("min of this plan"),
        "{probes:?}"
    );
    assert!(desk.planning().schedule.is_some());
}

#[tokio::test]
async fn a_preference_is_asked_about_once_and_its_answer_reaches_the_model() {
    let mut drafted = draft();
    drafted.push(done("Drafted."));
    let roadmap = [
        ("RoadmapBuilder", json!({"options": options(), "rationale": "quick"})),
        done("Compared."),
    ];
    let probe = (
        "PreferenceProbe",
        json!({"question": "Mornings or evenings?", "choices": ["mornings", "evenings"], "assumed": "mornings"}),
    );
    let (client, model) = strong(vec![
        context(),
        calls(&drafted),
        calls(&roadmap),
        calls(std::slice::from_ref(&probe)),
        calls(&[probe]),
        calls(&[done("Evenings it is.")]),
    ]);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    desk.answer(Answer::with_text(A::Reply, "evenings")).await;
    let told = results(&model);
    let probes: Vec<&str> = told
        .iter()
        .filter(|(tool, _)| tool == "PreferenceProbe")
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(probes[0], "The person is asked.");
    assert!(probes[1].contains("asked about before"), "{probes:?}");
    assert!(desk.planning().facts.active().any(|fact| fact.text.contains("evenings")));
}

/// A plan with so many words that its conversation outgrows the window.
async fn long_desk() -> (Desk, Arc<StrongModel>) {
    let mut drafted = draft();
    drafted.push(done("Drafted."));
    let wordy = |number: usize| {
        let words = format!("I think about the shed, round {number}. ").repeat(400);
        answer(&words, &[("GrammarValidator", json!({}))], FinishReason::ToolCalls)
    };
    let again = ["item_1", "item_3", "item_999"].map(|id| ("result.read", json!({ "id": id })));
    let roadmap = ("RoadmapBuilder", json!({"options": options(), "rationale": "quick"}));
    let mut answers = vec![context(), calls(&drafted)];
    answers.extend((1..=8).map(wordy));
    answers.push(calls(&again));
    answers.push(calls(&[roadmap, done("Compared.")]));
    answers.push(calls(&[done("Dated.")]));
    let (client, model) = strong_in_window(answers, Some(24_000));
    (Desk::about(GOAL, once_final(), client).await, model)
}

#[tokio::test]
async fn a_long_conversation_is_summarized_and_its_items_can_be_read_again() {
    let (desk, model) = long_desk().await;
    assert!(desk.planning().schedule.is_some(), "{:?}", desk.planning().trouble);
    let talk = desk.planning().conversation.clone().unwrap();
    let summary = talk.summary.clone().expect("a summary");
    assert_eq!(summary.text, SUMMARY);
    let told = results(&model);
    let read: Vec<&str> = told
        .iter()
        .filter(|(tool, _)| tool == "result.read")
        .map(|(_, text)| text.as_str())
        .collect();
    assert!(read[0].contains("# Stage: context"), "{read:?}");
    assert!(read[2].contains("there is no result \"item_999\""), "{read:?}");
    let requests = model.requests.lock().unwrap();
    let summaries = requests.iter().filter(|request| request.tools.is_empty()).count();
    assert!((1..=4).contains(&summaries), "{summaries} questions for a summary");
    let last: Vec<String> = requests.last().unwrap().messages.iter().map(Message::text).collect();
    assert!(last[2].contains(&format!("summary of items 1 to {}", summary.entries)), "{last:#?}");
    let largest = requests.iter().map(planwright_llm::cost::tokens::estimate_request_tokens).max();
    assert!(largest.unwrap() < 24_000, "{largest:?}");
}

#[tokio::test]
async fn a_summarized_conversation_is_rebuilt_byte_for_byte() {
    let (desk, model) = long_desk().await;
    assert_eq!(check_rebuilt(&desk, &model), 13);
}

#[tokio::test]
async fn a_model_may_sum_up_by_itself() {
    let mut drafted = draft();
    drafted.push(done("Drafted."));
    let roadmap = ("RoadmapBuilder", json!({"options": options(), "rationale": "quick"}));
    let summary = |text: &str| ("Summarizer", json!({ "text": text }));
    let (client, model) = strong(vec![
        context(),
        calls(&drafted),
        calls(&[summary("short"), summary("Sand first, then paint; nobody else helps with it.")]),
        calls(&[roadmap, done("Compared.")]),
        calls(&[done("Dated.")]),
    ]);
    let desk = Desk::about(GOAL, once_final(), client).await;
    assert_eq!(check_rebuilt(&desk, &model), 5);
    let requests = model.requests.lock().unwrap();
    let texts: Vec<String> = requests[3].messages.iter().map(Message::text).collect();
    assert!(texts[2].contains("Sand first, then paint"), "{texts:#?}");
    assert!(texts[3].starts_with("# Stage: roadmap"), "the stage stays whole: {texts:#?}");
    assert!(texts.iter().all(|text| !text.starts_with("# Stage: context")));
}

#[tokio::test]
async fn others_work_while_the_person_is_away_and_each_wish_has_its_own_report() {
    let goal = "Paint the shed with Ben by 2026-08-31. I am away 8 to 12 June 2026.";
    let facts = json!({"facts": [
        {"text": "by 2026-08-31", "kind": "deadline", "on": "2026-08-31"},
        {"text": "with Ben", "kind": "person", "person": "Ben"},
        {"text": "I am away 8 to 12 June 2026", "kind": "absence", "from": "2026-06-08", "to": "2026-06-12"},
    ]});
    let mut drafted = draft();
    drafted.push((
        "NodeGenerator",
        json!({"operations": [{"op": "assign", "id": "sand", "owner": "Ben"}]}),
    ));
    drafted.push(done("Drafted."));
    let roadmap = ("RoadmapBuilder", json!({"options": options(), "rationale": "quick"}));
    let wishes = json!({"status": "success", "summary": "One of two.", "requests": [
        {"number": 1, "wish": "sand for two hours", "status": "met", "nodes": ["sand"], "words": "Two hours."},
        {"number": 1, "wish": "paint it on Mars", "status": "not", "words": "Nobody gets there."},
    ]});
    let change = json!({"operations": [{"op": "change", "id": "sand", "minutes": 120}]});
    let (client, _) = strong(vec![
        calls(&[("record_fact", facts), done("Noted.")]),
        calls(&drafted),
        calls(&[roadmap, done("Compared.")]),
        calls(&[done("Dated.")]),
        calls(&[("NodeGenerator", change), ("StageResult", wishes)]),
    ]);
    let mut desk = Desk::about(goal, once_final(), client).await;
    let days = |desk: &Desk, id: &str| -> Vec<String> {
        let schedule = desk.planning().schedule.clone().unwrap();
        let blocks = schedule.blocks.iter().filter(|block| block.plan_node_id.as_str() == id);
        blocks.map(|block| block.start.local_date().to_string()).collect()
    };
    assert_eq!(days(&desk, "sand"), ["2026-06-08"], "Ben begins at once");
    assert!(
        days(&desk, "paint").iter().all(|day| day.as_str() > "2026-06-12"),
        "{:?}",
        days(&desk, "paint")
    );
    assert_eq!(desk.broken(), [""; 0]);
    let request = "Please sand for two hours, and paint it on Mars.";
    desk.answer(Answer::with_text(A::RequestChanges, request)).await;
    let reports: Vec<String> = desk
        .planning()
        .reports
        .iter()
        .map(planwright_model::agent_conversation::RequestReport::describe)
        .collect();
    assert_eq!(
        reports,
        [
            "\"sand for two hours\" done: Two hours.",
            "\"paint it on Mars\" not done: Nobody gets there."
        ]
    );
}
