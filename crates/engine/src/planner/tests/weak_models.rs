//! What is put right in the drafts of weak models, and what is claimed about their redrafts.

use serde_json::{Value, json};

use super::*;
use planwright_model::agent_conversation::ReportedOutcome;
use planwright_model::{FactReading, FactSubject, RunKind};

/// Drafts a party in three tasks; a redraft has the titles of `again`.
fn party(again: &'static [&'static str]) -> Arc<ModelClient> {
    let task = |title: &str, done_when: &str| -> Value {
        json!({"title": title, "done_when": done_when, "minutes": 60, "doer": "agent"})
    };
    scripted(move |request| {
        let tool = request.tools[0].name.clone();
        let said = serde_json::to_string(&request.messages).unwrap();
        let arguments = match tool.as_str() {
            "PatternSelector" => json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
            }),
            "NodeGenerator" if said.contains("The outline so far") => {
                let tasks: Vec<Value> = again.iter().map(|title| task(title, "")).collect();
                json!({"phases": [{"title": "Party", "tasks": tasks}], "self_score": 0.9})
            }
            "NodeGenerator" => json!({"phases": [{"title": "Party", "tasks": [
                task("Choose a place", "2026-06-08"),
                task("Invite the children", "everybody has answered"),
                task("Bake a cake", "done"),
                task("Buy balloons", "by the end of June"),
                task("Have the party", "2026-06-20."),
            ]}], "self_score": 0.9}),
            _ => json!({"estimates": [], "self_score": 0.9}),
        };
        call(&tool, arguments)
    })
}

const GOAL: &str = "plan a birthday party for my daughter on June 20";

async fn planned(again: &'static [&'static str]) -> Talk {
    let talk = Talk::with_model(GOAL, party(again)).await;
    assert!(matches!(talk.open().kind, RequestKind::FinalPlan { .. }), "{:?}", talk.open().kind);
    talk
}

fn row<'a>(talk: &'a Talk, title: &str) -> &'a planwright_model::PlanNode {
    let outline = talk.state.planning.outline.as_deref().unwrap();
    outline.nodes.iter().find(|node| node.title == title).unwrap()
}

async fn request_changes(talk: &mut Talk, text: &str) {
    let id = talk.open().id;
    let answer = Answer { text: Some(text.to_owned()), ..A::RequestChanges.into() };
    let command = Command::Answer { id, answer, by: Actor::Person };
    for event in decide_command(&talk.state, &command, 3, talk.now).events {
        talk.say(event);
    }
    talk.run_with_model().await;
}

#[tokio::test]
async fn a_stated_day_is_kept_a_date_is_no_criterion_and_a_party_is_no_work_for_agents() {
    let talk = planned(&[]).await;
    let stated = talk.state.planning.facts.active().any(|fact| {
        matches!(fact.reading, Some(FactReading::FixedDate { subject: FactSubject::Plan, .. }))
    });
    assert!(stated, "the goal states a day");
    let party = row(&talk, "Have the party");
    assert_eq!(party.fixed_start.map(|on| on.day), Some(date(2026, 6, 20)));
    assert_eq!((party.done_when.as_str(), &party.run), ("", &None));
    for title in ["Choose a place", "Bake a cake", "Buy balloons"] {
        assert_eq!(row(&talk, title).done_when, "", "{title}");
    }
    assert_eq!(row(&talk, "Invite the children").done_when, "everybody has answered");
    assert_eq!(talk.state.planning.broken_facts().count(), 0);
}

#[tokio::test]
async fn a_stated_month_is_kept() {
    let talk = Talk::with_model("plan a birthday party in September", party(&[])).await;
    let party = row(&talk, "Have the party");
    let days = (party.not_before.unwrap().day, party.due.unwrap().day);
    assert_eq!(days, (date(2026, 9, 1), date(2026, 9, 30)));
}

#[tokio::test]
async fn work_on_software_stays_with_the_agent() {
    let client = scripted(|request| {
        let tool = request.tools[0].name.clone();
        let arguments = match tool.as_str() {
            "PatternSelector" => json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
            }),
            "NodeGenerator" => json!({"phases": [{"title": "Work", "tasks": [
                {"title": "Write the login", "done_when": "it works", "minutes": 60, "doer": "agent"},
            ]}], "self_score": 0.9}),
            _ => json!({"estimates": [], "self_score": 0.9}),
        };
        call(&tool, arguments)
    });
    let talk = Talk::with_model("add OAuth login to our web app", client).await;
    assert_eq!(row(&talk, "Write the login").run, Some(RunKind::agent()));
}

#[tokio::test]
async fn a_request_that_the_rules_read_is_carried_out_without_asking_a_weak_model() {
    let mut talk = planned(&["Something else"]).await;
    let before = talk.state.totals.asks;
    request_changes(&mut talk, "rename \"Invite the children\" to \"Invite 12 children\"").await;
    assert_eq!(talk.state.totals.asks, before, "no model was asked");
    row(&talk, "Invite 12 children");
    assert_eq!(row(&talk, "Have the party").fixed_start.map(|on| on.day), Some(date(2026, 6, 20)));
}

#[tokio::test]
async fn a_redraft_of_a_weak_model_is_never_called_met_and_keeps_dates() {
    let mut talk = planned(&[
        "Choose a place",
        "Invite the children",
        "Bake a cake",
        "Buy balloons",
        "Have the party",
    ])
    .await;
    request_changes(&mut talk, "make it more magical").await;
    let outcomes = |talk: &Talk| -> Vec<ReportedOutcome> {
        talk.state.planning.reports.iter().map(|report| report.outcome).collect()
    };
    assert_eq!(outcomes(&talk), [ReportedOutcome::Not], "{:?}", talk.state.planning.reports);
    let titles = &["Choose a place", "Invite a magician", "Have the party"];
    let mut talk = planned(titles).await;
    request_changes(&mut talk, "make it more magical").await;
    assert_eq!(outcomes(&talk), [ReportedOutcome::Partly]);
    row(&talk, "Invite a magician");
    assert_eq!(row(&talk, "Have the party").fixed_start.map(|on| on.day), Some(date(2026, 6, 20)));
}

#[tokio::test]
async fn a_goal_that_says_nothing_is_asked_about_before_a_weak_model_drafts() {
    let talk = Talk::with_model("get better", party(&[])).await;
    assert!(talk.open().question.contains("get better"), "{}", talk.open().question);
    assert_eq!(talk.state.totals.asks, 0, "no model was asked");
    let talk =
        Talk::with_model("Umzug nach Berlin bis Ende Februar organisieren", party(&[])).await;
    assert!(talk.state.planning.outline.is_some(), "a model reads other languages");
}

#[test]
fn a_remedy_by_rule_keeps_the_score_that_the_model_gave_its_outline() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", PolicyOverride::default());
    talk.answer(A::SkipQuestions);
    let mut planning = talk.state.planning.clone();
    planning.self_scores.insert(Stage::Outline, 0.2);
    let begun = StageResult::new(ControllerOutcome::Success);
    let work = talk.planner.repair_outline(&planning, begun, talk.now);
    let kept = work.events.iter().find_map(|event| match event {
        Event::Planning(PlanningEvent::OutlineDrafted { self_score, .. }) => Some(*self_score),
        _ => None,
    });
    assert_eq!(kept, Some(Some(0.2)));
}

/// Drafts two phases without a finish, with a score of its own; a roadmap adds these links.
fn two_phases(self_score: f64, links: serde_json::Value) -> Arc<ModelClient> {
    scripted(move |request| {
        let tool = request.tools[0].name.clone();
        let task = |id: &str, title: &str| json!({"id": id, "title": title, "done_when": "it can be seen", "minutes": 60});
        let arguments = match tool.as_str() {
            "PatternSelector" => json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
            }),
            "NodeGenerator" => json!({"phases": [
                {"id": "p1", "title": "Prepare", "tasks": [task("p1.t1", "Read about bees"), task("p1.t2", "Buy a hive")]},
                {"id": "p2", "title": "Build", "tasks": [task("p2.t1", "Set up the hive")]},
            ], "self_score": self_score}),
            _ => json!({"estimates": [], "links": links, "self_score": 0.9}),
        };
        call(&tool, arguments)
    })
}

const BEES: &str = "keep bees in the garden for a while";

#[tokio::test]
async fn a_finish_that_a_weak_model_leaves_out_costs_no_try() {
    let talk = Talk::with_model(BEES, two_phases(0.9, json!([]))).await;
    assert!(matches!(talk.open().kind, RequestKind::FinalPlan { .. }), "{:?}", talk.open().kind);
    assert_eq!(talk.state.planning.counters.stage_retries(Stage::Outline), 0);
    let outline = talk.state.planning.outline.as_deref().unwrap();
    assert!(outline.nodes.iter().any(|node| node.milestone), "{outline:?}");
    let said = &talk.state.planning.adaptation_log;
    assert!(said.iter().any(|entry| entry.reason.starts_with("G212")), "{said:?}");
}

#[tokio::test]
async fn a_weak_model_that_doubts_its_outline_is_not_made_sure_by_remedies() {
    let talk = Talk::with_model(BEES, two_phases(0.0, json!([]))).await;
    assert_eq!(talk.state.planning.self_scores.get(&Stage::Outline), Some(&0.0));
    assert_eq!(talk.state.planning.reason, Some(EscalationReason::LowConfidence));
}

#[tokio::test]
async fn links_of_a_weak_model_that_go_in_a_circle_are_taken_out() {
    let circle = json!([{"from": "p1.t2", "to": "p1.t1"}, {"from": "p2", "to": "p1"}]);
    let talk = Talk::with_model(BEES, two_phases(0.9, circle)).await;
    assert!(matches!(talk.open().kind, RequestKind::FinalPlan { .. }), "{:?}", talk.open().kind);
    let roadmap = talk.state.planning.roadmap.as_deref().unwrap();
    let links: Vec<(&str, &str)> =
        roadmap.dependencies.iter().map(|link| (link.from.as_str(), link.to.as_str())).collect();
    for (from, to) in [("p1.t1", "p1.t2"), ("p1", "p2")] {
        assert!(!(links.contains(&(from, to)) && links.contains(&(to, from))), "{links:?}");
    }
}

#[tokio::test]
async fn what_a_weak_model_is_told_holds_the_policy_and_is_kept() {
    let client = two_phases(0.9, json!([]));
    let talk = Talk::with_model(BEES, client).await;
    assert!(talk.prompts.len() >= 2, "outline and roadmap");
    for prompt in &talk.prompts {
        assert!(prompt.contains("Policy: style ") && prompt.contains(BEES), "{prompt}");
    }
}
