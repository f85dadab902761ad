//! What came up when careful models planned real goals: orders, lists of needs, hours of a day, days of a week, dates of
//! parts, and findings that cannot be fixed.

use planwright_llm::GeneratedAnswer;
use planwright_model::{FactReading, FactSubject, PlanContext, Weekday};
use serde_json::{Value, json};

use super::open_planning::{Desk, StrongModel, calls, done, once_final, strong};
use super::*;
use crate::planner::conversation::WorkingDraft;

fn new_draft() -> WorkingDraft {
    WorkingDraft::new_for_goal(PlanContext::new("build", date(2026, 6, 8), "UTC"))
}

fn rows(draft: &WorkingDraft) -> Vec<String> {
    let tree = draft.outline.node_tree();
    tree.children(&draft.outline.root_id).map(|node| node.id.to_string()).collect()
}

fn links(draft: &WorkingDraft) -> Vec<String> {
    let link = |link: &planwright_model::NodeDependency| format!("{} {}", link.from, link.to);
    draft.roadmap.dependencies.iter().map(link).collect()
}

#[test]
fn nodes_of_one_call_stand_in_its_order_and_a_check_keeps_its_command() {
    let mut draft = new_draft();
    let applied = draft.apply_operations(&[
        json!({"op": "add", "id": "do", "title": "Do it", "minutes": 60}),
        json!({"op": "add", "id": "beta", "kind": "milestone", "title": "Beta is out", "needs": ["do"]}),
        json!({"op": "add", "id": "check", "title": "Run the tests", "minutes": 20, "doer": "shell",
            "command": "make test", "role": "gate", "needs": ["beta"]}),
        json!({"op": "add", "id": "review", "title": "Review it", "minutes": 30, "needs": ["check"]}),
        json!({"op": "add", "id": "done", "kind": "milestone", "title": "It is done", "needs": ["review"]}),
    ]);
    assert_eq!(applied.refused, [""; 0]);
    assert_eq!(rows(&draft), ["do", "beta", "check", "review", "done"]);
    assert_eq!(
        applied.notes,
        ["operation 3 (add check): a gate has no work of its own, so its role is review"]
    );
    let check = draft.roadmap.find_node(&"check".into()).unwrap();
    assert_eq!((check.role, check.work_minutes()), (planwright_model::Role::Review, 20));
    // One that comes later goes before the milestone that ends the plan.
    draft.apply_operations(&[json!({"op": "add", "id": "docs", "title": "Write it down"})]);
    assert_eq!(rows(&draft), ["do", "beta", "check", "review", "docs", "done"]);
}

#[test]
fn needs_of_a_change_are_the_links_and_what_is_not_used_is_told() {
    let mut draft = new_draft();
    draft.apply_operations(&[
        json!({"op": "add", "id": "a", "title": "A", "minutes": 60}),
        json!({"op": "add", "id": "b", "title": "B", "minutes": 60, "needs": ["a"]}),
        json!({"op": "add", "id": "c", "title": "C", "minutes": 60, "needs": ["b"]}),
        json!({"op": "link", "from": "a", "to": "b", "lag_days": 2}),
    ]);
    let applied = draft.apply_operations(&[
        json!({"op": "change", "id": "c", "needs": ["a"]}),
        json!({"op": "change", "id": "b", "needs": ["a"], "under": "goal"}),
    ]);
    assert_eq!(applied.refused, [""; 0]);
    assert_eq!(applied.notes, ["operation 2 (change b): `under` is not used by this operation"]);
    assert_eq!(links(&draft), ["a b", "a c"]);
    let lag = draft.roadmap.dependencies.iter().find(|link| link.to.as_str() == "b").unwrap();
    assert_eq!(lag.lag_minutes, 2 * 24 * 60, "a link that stays keeps its lag");
}

const GOAL: &str = "Build the shop with Cleo, done by 31 July 2026. I have 3 hours a day. Cleo never works on Fridays. The copy is due 19 June 2026.";

fn facts() -> (&'static str, Value) {
    let facts = json!({"facts": [
        {"text": "done by 31 July 2026", "kind": "deadline", "on": "2026-07-31"},
        {"text": "I have 3 hours a day", "kind": "capacity", "daily_hours": 3},
        {"text": "Cleo never works on Fridays", "kind": "working_times", "person": "Cleo",
            "times": [{"weekdays": ["mon", "tue", "wed", "thu"]}]},
        {"text": "The copy is due 19 June 2026", "kind": "deadline", "subject": "copy", "on": "2026-06-19"},
    ]});
    ("record_fact", facts)
}

fn outline(copy_due: &str) -> Vec<(&'static str, Value)> {
    let operations = json!([
        {"op": "add", "id": "shop", "title": "Build the shop", "minutes": 900, "owner": "Cleo"},
        {"op": "add", "id": "copy", "title": "Write the copy", "minutes": 360, "not_before": copy_due},
        {"op": "add", "id": "done", "kind": "milestone", "title": "The shop is done", "needs": ["shop", "copy"]},
    ]);
    let kind = json!({"pattern_type": "milestone_project", "subtype": "quick", "confidence": 0.9});
    vec![("PatternSelector", kind), ("NodeGenerator", json!({"operations": operations}))]
}

fn options() -> (&'static str, Value) {
    let option = |label: &str, chosen: bool| {
        json!({"label": label, "summary": "as it is", "effort_hours": 21, "span_weeks": 3, "risk": "low",
            "chosen": chosen, "rationale": "it fits"})
    };
    ("RoadmapBuilder", json!({"options": [option("Plain", true), option("Fancy", false)]}))
}

fn answers(copy_due: &str, hand_ins: usize) -> Vec<GeneratedAnswer> {
    let mut drafted = outline(copy_due);
    drafted.push(done("Two tasks."));
    let mut answers = vec![calls(&[facts(), done("Noted.")]), calls(&drafted)];
    answers.push(calls(&[options(), done("Plain.")]));
    answers.extend(vec![calls(&[done("It cannot be earlier.")]); hand_ins]);
    answers
}

async fn plan(copy_due: &str, hand_ins: usize) -> (Desk, Arc<StrongModel>) {
    let (client, model) = strong(answers(copy_due, hand_ins));
    (Desk::about(GOAL, once_final(), client).await, model)
}

#[tokio::test]
async fn hours_a_day_days_of_a_week_and_dates_of_parts_are_kept_and_checked() {
    let (desk, model) = plan("2026-06-09", 1).await;
    assert_eq!(desk.talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    let readings: Vec<FactReading> =
        desk.planning().facts.active().filter_map(|fact| fact.reading.clone()).collect();
    assert!(readings.contains(&FactReading::DailyCapacity { minutes: 180 }), "{readings:?}");
    let off = vec![Weekday::Fri, Weekday::Sat, Weekday::Sun];
    let off = FactReading::WeekdaysOff { person: Some("Cleo".into()), days: off };
    assert!(readings.contains(&off), "{readings:?}");
    assert!(
        readings.iter().any(|read| matches!(read,
            FactReading::Window { subject: FactSubject::Words(words), to, .. }
                if words == "copy" && *to == date(2026, 6, 19))),
        "a date of a part is not that of the plan: {readings:?}"
    );
    let context = desk.planning().context.as_deref().unwrap();
    assert_eq!(context.constraints.deadline.unwrap().local_date(), date(2026, 7, 31));
    let schedule = desk.planning().schedule.as_deref().unwrap();
    let mut own = BTreeMap::<jiff::civil::Date, u32>::new();
    for block in &schedule.blocks {
        let day = block.start.local_date();
        if block.plan_node_id.as_str() == "shop" {
            assert_ne!(Weekday::from_date(day), Weekday::Fri, "Cleo works on {day}");
        } else {
            *own.entry(day).or_default() += block.estimated_minutes;
        }
    }
    assert!(own.values().all(|minutes| *minutes <= 180), "{own:?}");
    assert_eq!(desk.broken(), [""; 0]);
    let requests = model.requests.lock().unwrap();
    let told = serde_json::to_string(&requests[1].messages).unwrap();
    assert!(told.contains("fact 3: \\\"I have 3 hours a day\\\""), "{told}");
    assert!(
        told.contains("3. part of 1: \\\"I have 3 hours a day\\\" = at most 3 h a day"),
        "{told}"
    );
}

#[tokio::test]
async fn a_finding_that_stays_is_told_once_and_then_shown_to_the_person() {
    // The copy cannot start before it is due; the model is told, and hands in all the same.
    let (desk, model) = plan("2026-06-22", 6).await;
    assert_eq!(desk.talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    let broken = desk.broken();
    assert!(
        broken.iter().any(|found| found.contains("The copy is due 19 June 2026")),
        "{broken:?}"
    );
    let requests = model.requests.lock().unwrap();
    let told = serde_json::to_string(&requests.last().unwrap().messages).unwrap();
    // Once for the roadmap, and at most once more when its schedule is drafted anew.
    assert!(told.matches("Not handed in yet").count() <= 2, "{told}");
}

#[tokio::test]
async fn what_the_person_takes_back_no_longer_counts() {
    let mut all = answers("2026-06-09", 1);
    let later = json!({"facts": [
        {"text": "the copy has time until 10 July", "kind": "deadline", "node": "copy", "on": "2026-07-10", "replaces": [5]},
    ]});
    let early = json!({"facts": [
        {"text": "I have 3 hours a day", "kind": "none", "replaces": [5]},
    ]});
    let move_copy = json!({"operations": [
        {"op": "date", "id": "copy", "field": "not_before", "date": "2026-06-29"}]});
    let report = json!({"status": "success", "summary": "Moved.", "requests": [
        {"number": 1, "status": "met", "nodes": ["copy"], "words": "The copy has until 10 July."}]});
    all.push(calls(&[
        ("record_fact", early),
        ("record_fact", later),
        ("NodeGenerator", move_copy),
    ]));
    all.push(calls(&[("StageResult", report)]));
    let (client, model) = strong(all);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    let words = "the copy has time until 10 July".to_owned();
    desk.answer(Answer::with_text(A::RequestChanges, words)).await;
    assert_eq!(desk.broken(), [""; 0]);
    let told = serde_json::to_string(&model.requests.lock().unwrap()[5].messages).unwrap();
    assert!(told.contains("nothing was said about fact 5 after it"), "{told}");
    let active: Vec<u32> = desk.planning().facts.active().map(|fact| fact.id).collect();
    assert!(!active.contains(&5), "{active:?}");
}

#[tokio::test]
async fn hours_of_another_person_reach_the_schedule_in_one_call() {
    let facts = json!({"facts": [
        {"text": "done by 31 July 2026", "kind": "deadline", "on": "2026-07-31"},
        {"text": "Cleo never works on Fridays", "kind": "working_times", "person": "Cleo",
            "times": [{"weekdays": ["mon", "tue", "wed", "thu"], "start_time": "07:00", "end_time": "08:30"}]},
    ]});
    let mut answers = answers("2026-06-09", 1);
    answers[0] = calls(&[("record_fact", facts), done("Noted.")]);
    let (client, model) = strong(answers);
    let desk = Desk::about(GOAL, once_final(), client).await;
    assert_eq!(desk.talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    let schedule = desk.planning().schedule.as_deref().unwrap();
    let theirs: Vec<String> = schedule
        .blocks
        .iter()
        .filter(|block| block.plan_node_id.as_str() == "shop")
        .map(|block| block.start.at.to_string())
        .collect();
    assert!(theirs.len() >= 10, "{theirs:?}");
    // 07:00 in Berlin.
    assert!(theirs.iter().all(|start| start.contains("T05:00")), "{theirs:?}");
    assert_eq!(desk.broken(), [""; 0]);
    let requests = model.requests.lock().unwrap();
    let told = serde_json::to_string(requests.last().map(|last| &last.messages).unwrap()).unwrap();
    assert!(told.contains("Cleo: no limit, works Mon, Tue, Wed, Thu 07:00-08:30"), "{told}");
}
