//! What the scout brings back decides whether a task is debated: two quick answers, how far they agree, what they cannot
//! meet, and the thresholds of the person.

use serde_json::{Value, json};

use super::fixture::*;
use crate::{AgentServices, ReasoningMode};
use planwright_model::{ExitCriterion, TaskNode};

/// Words that are neither plain nor plainly complex.
const DOUBTFUL: &str = "Compare Postgres and Redis, then migrate Billing";

/// A model whose quick answers are these, one after the other, and that debates and does everything else in one word.
fn scouted(answers: [Value; 2]) -> std::sync::Arc<ByRule> {
    let left = std::sync::Mutex::new(answers.into_iter());
    ByRule::new(move |request| {
        let schema = request.output_schema.as_ref().map(|one| one.name.as_str());
        let answer = match schema {
            Some("scout") => left.lock().unwrap().next().expect("two answers").to_string(),
            Some("critique") => {
                json!({"contradictions": [], "missing_facts": [], "broken_constraints": []})
                    .to_string()
            }
            Some(_) => json!({"action": "EXECUTE", "task_type": "generic", "goals": ["Debated"], "reasoning": "r"})
                .to_string(),
            None => "Done.".to_owned(),
        };
        Ok(says(&answer, None))
    })
}

fn steps(titles: &[&str], unmet: &[&str]) -> Value {
    json!({"steps": titles, "unmet": unmet})
}

async fn told(answers: [Value; 2], task: TaskNode, set: impl Fn(&mut AgentServices)) -> Told {
    let directory = tempfile::tempdir().unwrap();
    let mut services = build_services(scouted(answers), Setup::default().toolbox(directory.path()));
    services.reasoning_mode = ReasoningMode::Auto;
    set(&mut services);
    run_task(&services, task).await
}

fn gate(told: &Told) -> Value {
    told.decisions("GATE_DECISION")[0].clone()
}

fn goals(told: &Told) -> Value {
    told.decisions("PLANNER_DECISION")[0]["goals"].clone()
}

#[tokio::test]
async fn answers_that_agree_are_returned_and_others_are_debated() {
    let same = || steps(&["Compare", "Migrate", "Document"], &[]);
    let agreeing = told([same(), same()], task("generic", DOUBTFUL), |_| {}).await;
    assert_eq!(gate(&agreeing)["heuristics"]["overlap"], 1.0);
    assert_eq!(gate(&agreeing)["should_escalate"], false);
    assert_eq!(goals(&agreeing), json!(["Compare", "Migrate", "Document"]));
    assert!(agreeing.decisions("SCOUT_COMPLETED")[0]["tokens"].as_u64() > Some(0));

    let other = || [same(), steps(&["Ask somebody", "Wait"], &[])];
    let torn = told(other(), task("generic", DOUBTFUL), |_| {}).await;
    assert_eq!(gate(&torn)["reason"], "overlap");
    assert_eq!(goals(&torn), json!(["Debated"]));
    // The threshold is the person's.
    let easy = told(other(), task("generic", DOUBTFUL), |services| {
        services.gate.thresholds.overlap = 0.0;
    })
    .await;
    assert_eq!(gate(&easy)["should_escalate"], false);
}

#[tokio::test]
async fn criteria_that_the_answers_cannot_meet_are_a_conflict() {
    let wanted = || {
        let mut wanted = task("generic", DOUBTFUL);
        wanted.exit_criteria = vec![ExitCriterion::Text {
            text: "Both are compared".to_owned(),
            on: planwright_model::task::CriterionEffect::default(),
        }];
        wanted
    };
    let answers = || {
        let one = || steps(&["Compare", "Migrate"], &["Both are compared"]);
        [one(), one()]
    };
    let strict = told(answers(), wanted(), |_| {}).await;
    assert_eq!(gate(&strict)["heuristics"]["conflict"], 1.0);
    assert_eq!(gate(&strict)["reason"], "conflict");
    let off = told(answers(), wanted(), |services| {
        services.gate.thresholds.conflict = 1.1;
    })
    .await;
    assert_eq!(gate(&off)["should_escalate"], false);
}

#[tokio::test]
async fn a_plain_task_is_not_scouted_by_a_model() {
    let none = || steps(&["x"], &[]);
    let plain = told([none(), none()], task("generic", "Say hi"), |_| {}).await;
    assert_eq!(plain.decisions("SCOUT_COMPLETED")[0]["tokens"], 0);
    assert!(gate(&plain)["heuristics"]["overlap"].is_null());
}
