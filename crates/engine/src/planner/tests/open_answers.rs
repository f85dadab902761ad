//! Answers that are no use, and operations that are: a planning conversation ends in a plan or in an honest question.

use planwright_llm::{FinishReason, GeneratedAnswer};
use planwright_model::{PlanContext, PlanNode};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::open_planning::{Desk, answer, calls, done, strong};
use super::*;
use crate::planner::conversation::WorkingDraft;

const GOAL: &str = "sort the photos of last year";

async fn desk_of(answers: Vec<GeneratedAnswer>) -> Desk {
    let (client, _) = strong(answers);
    Desk::about(GOAL, quiet(), client).await
}

#[tokio::test]
async fn no_answer_without_a_hand_in_ends_in_a_plan() {
    let empty = || answer("", &[], FinishReason::Stop);
    let refusal = || answer("I'm sorry, but I can't help with that.", &[], FinishReason::Stop);
    let prose = || answer("First you sort, then you delete.", &[], FinishReason::Stop);
    let cut = || answer("and so", &[], FinishReason::Length);
    for (answers, words) in [
        (vec![empty(), empty(), empty()], "gave no usable answer 3 times"),
        (vec![refusal(), refusal()], "refused"),
        (vec![prose(), prose()], "First you sort"),
        (vec![cut(), cut(), cut(), cut()], "cut off at its length limit"),
    ] {
        let desk = desk_of(answers).await;
        assert_eq!(desk.talk.place(), PlanningPosition::paused_for(PauseKind::Model), "{words}");
        assert!(desk.talk.open().why.contains(words), "{}", desk.talk.open().why);
        assert!(desk.planning().outline.is_none());
        let offers: Vec<A> = desk.talk.open().choices.iter().map(|choice| choice.action).collect();
        assert!(offers.contains(&A::GoOffline) && offers.contains(&A::TryAgain), "{offers:?}");
    }
}

#[tokio::test]
async fn a_stage_without_an_end_is_ended_and_the_built_in_planner_takes_over() {
    let looks = vec![calls(&[("GrammarValidator", json!({}))]); 16];
    let mut answers = vec![calls(&[done("Nothing to ask.")])];
    answers.extend(looks);
    let mut desk = desk_of(answers).await;
    assert_eq!(desk.talk.place(), PlanningPosition::paused_for(PauseKind::Model));
    assert!(desk.talk.open().why.contains("16 turns without handing"), "{}", desk.talk.open().why);
    desk.answer(A::GoOffline).await;
    while desk.talk.place() != PlanningPosition::seeking_approval(ApprovalTarget::Final) {
        let kind = desk.talk.open().kind.clone();
        let action = if matches!(kind, RequestKind::Questions { .. }) {
            A::SkipQuestions
        } else {
            A::Approve
        };
        desk.answer(action).await;
    }
    assert!(desk.planning().outline.is_some());
}

#[tokio::test]
async fn questions_beyond_the_policy_are_not_asked() {
    let ask = json!({"questions": [{"question": "Why?", "assumed": "because"}]});
    let desk = desk_of(vec![
        calls(&[("ContextElicitor", ask)]),
        calls(&[(
            "StageResult",
            json!({"status": "error", "summary": "I cannot plan without an answer."}),
        )]),
    ])
    .await;
    assert_eq!(desk.talk.place(), PlanningPosition::paused_for(PauseKind::Model));
    assert!(desk.talk.open().why.contains("I cannot plan without an answer."));
}

#[tokio::test]
async fn a_fact_is_what_was_said_and_nothing_else() {
    let facts = json!({"facts": [
        {"text": "the photos of last year", "kind": "none"},
        {"text": "by Friday", "kind": "deadline", "on": "2026-06-12"},
        {"text": "uses SQLite", "kind": "none", "file": "src/db.rs:1-9"},
    ]});
    let desk = desk_of(vec![
        calls(&[("record_fact", facts)]),
        calls(&[("StageResult", json!({"status": "error", "summary": "enough"}))]),
    ])
    .await;
    let texts: Vec<&str> = desk.planning().facts.active().map(|fact| fact.text.as_str()).collect();
    assert_eq!(texts, [GOAL, "the photos of last year"]);
    let talk = desk.planning().conversation.as_deref().unwrap();
    let (_, ok, told) = talk.finished_calls().next().unwrap();
    assert!(!ok && told.contains("nobody said that word for word"), "{told}");
    assert!(told.contains("src/db.rs was not looked at"), "{told}");
}

fn sample_draft() -> WorkingDraft {
    let context = PlanContext::new("build", date(2026, 6, 8), "UTC");
    let mut draft = WorkingDraft::new_for_goal(context);
    let applied = draft.apply_operations(&[
        json!({"op": "add", "id": "p", "kind": "phase", "title": "P"}),
        json!({"op": "add", "id": "a", "under": "p", "title": "A", "minutes": 60}),
        json!({"op": "add", "id": "b", "under": "p", "title": "B", "minutes": 90, "needs": ["a"]}),
        json!({"op": "add", "id": "q", "kind": "phase", "title": "Q"}),
        json!({"op": "add", "id": "c", "under": "q", "title": "C", "minutes": 30, "needs": ["b"]}),
    ]);
    assert_eq!(applied.refused, [""; 0]);
    draft
}

fn operation() -> impl Strategy<Value = Value> {
    let id = prop::sample::select(vec!["a", "b", "c", "p", "q", "zz", "goal"]);
    (0..9u8, id.clone(), id, "[a-z]{1,6}", 1..300u32).prop_map(
        |(kind, one, other, word, minutes)| match kind {
            0 => json!({"op": "change", "id": one, "title": word, "minutes": minutes}),
            1 => json!({"op": "add", "id": word, "under": one, "title": word, "minutes": minutes}),
            2 => json!({"op": "remove", "id": one}),
            3 => json!({"op": "move", "id": one, "after": other}),
            4 => json!({"op": "link", "from": one, "to": other, "lag_days": 2}),
            5 => json!({"op": "unlink", "from": one, "to": other}),
            6 => json!({"op": "assign", "id": one, "owner": word}),
            7 => json!({"op": "date", "id": one, "field": "due", "date": "2026-07-01"}),
            _ => json!({"op": "split", "id": one, "into": [{"title": "x"}, {"title": word}]}),
        },
    )
}

proptest! {
    /// What no operation names stays byte for byte; only places among siblings may shift, and a group follows its tasks.
    #[test]
    fn operations_change_what_they_name(operations in prop::collection::vec(operation(), 1..6)) {
        let before = sample_draft();
        let mut after = before.clone();
        after.apply_operations(&operations);
        let text = serde_json::to_string(&operations).unwrap();
        let plain = |node: &PlanNode| serde_json::to_string(&PlanNode { position: 0, ..node.clone() }).unwrap();
        for node in &before.roadmap.nodes {
            let tree = before.roadmap.node_tree();
            let below: Vec<String> = tree.subtree(&node.id).iter().map(|one| one.id.to_string()).collect();
            let above = tree.ancestors(&node.id);
            let named = |id: &str| text.contains(&format!("\"{id}\""));
            if below.iter().any(|id| named(id)) || above.iter().any(|one| named(one.id.as_str())) {
                continue;
            }
            let now = after.roadmap.find_node(&node.id);
            prop_assert_eq!(now.map(plain), Some(plain(node)), "{}", text);
        }
        let outline: Vec<&TaskId> = after.outline.nodes.iter().map(|node| &node.id).collect();
        let roadmap: Vec<&TaskId> = after.roadmap.nodes.iter().map(|node| &node.id).collect();
        prop_assert_eq!(outline, roadmap, "{}", text);
    }
}

#[test]
fn a_locked_node_stays_whatever_an_operation_says() {
    let mut draft = sample_draft();
    draft.locked.insert("a".into());
    let before = draft.roadmap.find_node(&"a".into()).cloned();
    let applied = draft.apply_operations(&[
        json!({"op": "change", "id": "a", "title": "other"}),
        json!({"op": "remove", "id": "p"}),
        json!({"op": "change", "id": "b", "title": "Bee"}),
    ]);
    assert_eq!(applied.refused.len(), 2, "{:?}", applied.refused);
    assert!(
        applied.refused[0].contains("operation 1 (change a)")
            && applied.refused[0].contains("locked")
    );
    assert_eq!(draft.roadmap.find_node(&"a".into()).cloned(), before);
    assert_eq!(draft.roadmap.find_node(&"b".into()).unwrap().title, "Bee");
}

#[tokio::test]
async fn a_strict_policy_asks_about_the_kind_before_the_model_drafts_on() {
    let (client, _) = strong(vec![
        calls(&[done("ok")]),
        calls(&[
            (
                "PatternSelector",
                json!({"pattern_type": "milestone_project", "subtype": "quick", "confidence": 0.9,
                "limits": {"horizon_weeks": 2}}),
            ),
            ("NodeGenerator", json!({"operations": [{"op": "add", "title": "x"}]})),
        ]),
    ]);
    let policy = with(ApprovalPolicy::StrictEveryStep, Autonomy::Medium);
    let desk = Desk::about(GOAL, policy, client).await;
    assert_eq!(desk.talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Pattern));
    assert!(desk.planning().outline.is_none());
    assert_eq!(desk.planning().context.as_deref().unwrap().constraints.horizon_weeks, Some(2));
}
