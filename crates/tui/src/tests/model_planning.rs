//! A model plans: who is waited for, what it does, what it asks and what it reports are whole at every size.

use super::fixture::Fixture;
use super::planned;
use planwright_model::agent_conversation::{ReportedOutcome, RequestReport, TURN_PURPOSE};
use planwright_model::event::{AgentEvent, PlanningEvent};
use planwright_model::{Digest, PlanQuestion, QuestionChoice, RequestId};

fn asked(fixture: Fixture) -> Fixture {
    fixture.with(AgentEvent::ModelAsked {
        task: None,
        ask: 1,
        purpose: TURN_PURPOSE.into(),
        provider: "relay".into(),
        model: "strong-1".into(),
        prompt_ref: Digest::from_json(&serde_json::json!("x")),
        estimated_tokens: 10,
        estimated_cost: None,
    })
}

#[test]
fn every_size_says_who_is_waited_for_and_what_was_done() {
    let looked = PlanningEvent::ToolAnswered {
        call: 1,
        tool: "file.read".into(),
        ok: true,
        text: "path: src/lib.rs\ntotal_lines: 2".into(),
    };
    let drafting = asked(planned::begun().with(looked));
    for (width, height) in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let text = drafting.live().text(width, height);
        assert!(text.contains("strong-1 is thinking"), "{width}x{height}\n{text}");
        assert!(text.contains("read src/lib.rs"), "{width}x{height}\n{text}");
    }
    let revised = asked(planned::begun());
    let text = revised.live().text(80, 24);
    assert!(!text.contains("once the plan is approved"), "{text}");
}

#[test]
fn what_a_model_reports_is_whole_on_a_narrow_card() {
    let words = "The notices are Ben's now, with the same hours; the last of them is due three days before the launch.";
    for (outcome, label) in
        [(ReportedOutcome::Met, "Outcome"), (ReportedOutcome::Answered, "Answer")]
    {
        let report = RequestReport {
            request: "Ben takes over the notices, and what about the launch?".into(),
            outcome,
            nodes: Vec::new(),
            words: words.into(),
            objection: None,
        };
        let reported = PlanningEvent::RequestsReported { reports: vec![report] };
        let text = planned::scheduled().with(reported).ask_plan().live().text(80, 24);
        let joined: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(label), "{text}");
        for part in ["The notices are Ben's now, with the same hours;", "days before the launch."] {
            assert!(joined.contains(part), "{part}\n{text}");
        }
    }
}

#[test]
fn answers_that_a_model_offers_are_not_cut() {
    let long =
        "Submit, follow and vote, plus triage for the team and notices by mail, in two languages";
    let choice = |answer: &str| QuestionChoice { answer: answer.into(), effect: String::new() };
    let question = PlanQuestion {
        key: "q1_1".into(),
        text: "What must it do on the first day?".into(),
        assumed: "customers sign in, submit feedback, see its status and vote on that of others"
            .into(),
        changes: "It decides how much there is to build.".into(),
        choices: vec![choice(long), choice("Only submit")],
    };
    let request = planwright_model::requests::questions_request(RequestId(1), &[question]);
    let asks = planned::begun().with(planwright_model::event::ApprovalEvent::Asked {
        request: std::sync::Arc::new(request),
    });
    let text = asks.live().text(80, 24);
    let joined: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(long), "{text}");
    assert!(text.contains("uses what is written above"), "{text}");
}
