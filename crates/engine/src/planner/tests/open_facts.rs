//! Facts that a strong model records: in any order, read wrongly at first, and taken back in the same breath.

use planwright_model::{AssumptionOrigin, FactReading, Weekday};
use serde_json::{Value, json};

use super::open_planning::{Desk, StrongModel, calls, done, once_final, strong};
use super::*;

const GOAL: &str = "Paint the hall, done by Friday 10 July 2026. I can't on Mondays, never on Thursdays. \
    Weekdays from 18:00 to 21:00. I am away on 16 June. Make that 17 June.";

fn fact(text: &str, rest: &Value) -> Value {
    let mut fact = json!({"text": text});
    fact.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    fact
}

fn deadline() -> Value {
    fact("done by Friday 10 July 2026", &json!({"kind": "deadline", "on": "2026-07-10"}))
}

fn mondays() -> Value {
    fact("I can't on Mondays", &json!({"kind": "absence", "weekdays": ["mon"]}))
}

fn thursdays() -> Value {
    fact("never on Thursdays", &json!({"kind": "absence", "weekdays": ["thu"]}))
}

fn hours(days: &[&str]) -> Value {
    let times = json!([{"weekdays": days, "start_time": "18:00", "end_time": "21:00"}]);
    fact("Weekdays from 18:00 to 21:00", &json!({"kind": "working_times", "times": times}))
}

const WEEK: [&str; 5] = ["mon", "tue", "wed", "thu", "fri"];

/// Plans with these lists of facts, each one call of the first answer.
async fn record(lists: Vec<Vec<Value>>) -> (Desk, Arc<StrongModel>) {
    record_with_retry(lists, false).await
}

/// The same; a model whose facts were refused hands in once more.
async fn record_with_retry(lists: Vec<Vec<Value>>, is_refused: bool) -> (Desk, Arc<StrongModel>) {
    let mut first: Vec<(&str, Value)> =
        lists.into_iter().map(|facts| ("record_fact", json!({"facts": facts}))).collect();
    first.push(done("Noted."));
    let operations = json!([
        {"op": "add", "id": "paint", "title": "Paint the hall", "minutes": 720},
        {"op": "add", "id": "done", "kind": "milestone", "title": "The hall is painted", "needs": ["paint"]},
    ]);
    let kind = json!({"pattern_type": "milestone_project", "subtype": "quick", "confidence": 0.9,
        "limits": {"horizon_weeks": 5}});
    let option = |label: &str, chosen: bool| {
        json!({"label": label, "summary": "as it is", "effort_hours": 12, "span_weeks": 3, "risk": "low",
            "chosen": chosen, "rationale": "it fits"})
    };
    let outline = calls(&[
        ("PatternSelector", kind),
        ("NodeGenerator", json!({"operations": operations})),
        done("One task."),
    ]);
    let options = json!({"options": [option("Plain", true), option("Fancy", false)],
        "assumptions": ["The walls need no repair, two coats are enough.", "Paint is there"]});
    let roadmap = calls(&[("RoadmapBuilder", options), done("Plain.")]);
    let again = is_refused.then(|| calls(&[done("Noted.")]));
    let answers = [calls(&first)].into_iter().chain(again);
    let answers = answers.chain([outline, roadmap, calls(&[done("Fine.")])]);
    let (client, model) = strong(answers.collect());
    (Desk::about(GOAL, once_final(), client).await, model)
}

fn planned_weekdays(desk: &Desk) -> BTreeSet<Weekday> {
    let schedule = desk.planning().schedule.as_deref().unwrap();
    schedule.blocks.iter().map(|block| Weekday::from_date(block.start.local_date())).collect()
}

fn active(desk: &Desk) -> Vec<FactReading> {
    desk.planning().facts.active().filter_map(|fact| fact.reading.clone()).collect()
}

#[tokio::test]
async fn the_order_in_which_facts_are_recorded_does_not_matter() {
    let mut contexts = Vec::new();
    for facts in [
        vec![hours(&WEEK), mondays(), thursdays(), deadline()],
        vec![deadline(), mondays(), thursdays(), hours(&WEEK)],
        vec![mondays(), hours(&WEEK), deadline(), thursdays()],
    ] {
        let (desk, _) = record(vec![facts]).await;
        assert_eq!(desk.broken(), [""; 0]);
        let free = planned_weekdays(&desk);
        assert!(!free.contains(&Weekday::Mon) && !free.contains(&Weekday::Thu), "{free:?}");
        let context = desk.planning().context.as_deref().unwrap();
        let end = context.constraints.deadline.unwrap();
        // The last evening belongs to the time before the deadline.
        assert_eq!(end.offset.to_datetime(end.at).hour(), 21);
        contexts.push((context.calendar.clone(), context.constraints.clone()));
    }
    assert_eq!(contexts[0], contexts[1]);
    assert_eq!(contexts[0], contexts[2]);
}

#[tokio::test]
async fn free_weekdays_of_one_statement_add_up() {
    let (desk, _) = record(vec![vec![hours(&WEEK), mondays(), thursdays()]]).await;
    let off = |day| FactReading::WeekdaysOff { person: None, days: vec![day] };
    let active = active(&desk);
    assert!(active.contains(&off(Weekday::Mon)) && active.contains(&off(Weekday::Thu)));
}

#[tokio::test]
async fn a_reading_is_corrected_in_the_same_answer_and_its_limits_go_with_it() {
    let wrong = fact(
        "I can't on Mondays",
        &json!({"kind": "absence", "from": "2026-06-08", "to": "2026-06-30"}),
    );
    let mut right = mondays();
    right["replaces"] = json!([3]);
    let (desk, model) = record(vec![vec![hours(&WEEK), wrong], vec![right]]).await;
    let context = desk.planning().context.as_deref().unwrap();
    assert!(context.own_days_off.is_empty(), "{:?}", context.own_days_off);
    assert!(!planned_weekdays(&desk).contains(&Weekday::Mon));
    assert!(!active(&desk).iter().any(|read| matches!(read, FactReading::Absence { .. })));
    // What the model assumed about the rest stays assumed.
    let start = context.find_assumption("start").map(|known| known.origin);
    assert_eq!(start, Some(AssumptionOrigin::Template));
    let told = serde_json::to_string(&model.requests.lock().unwrap()[1].messages).unwrap();
    assert!(told.contains("fact 3 no longer applies"), "{told}");
}

#[tokio::test]
async fn later_words_of_a_statement_take_back_earlier_ones_and_earlier_words_do_not() {
    let away = |text: &str, on: &str| fact(text, &json!({"kind": "absence", "on": on}));
    let mut later = away("Make that 17 June", "2026-06-17");
    later["replaces"] = json!([2]);
    let (desk, _) = record(vec![vec![away("I am away on 16 June", "2026-06-16"), later]]).await;
    let context = desk.planning().context.as_deref().unwrap();
    assert_eq!(context.own_days_off.iter().copied().collect::<Vec<_>>(), [date(2026, 6, 17)]);

    let mut earlier = deadline();
    earlier["replaces"] = json!([2]);
    let mut nothing = fact("I am away on 16 June", &json!({"kind": "none"}));
    nothing["replaces"] = json!([2]);
    let first = away("I am away on 16 June", "2026-06-16");
    let (desk, model) = record_with_retry(vec![vec![first, earlier, nothing]], true).await;
    let context = desk.planning().context.as_deref().unwrap();
    assert_eq!(context.own_days_off.iter().copied().collect::<Vec<_>>(), [date(2026, 6, 16)]);
    let told = serde_json::to_string(&model.requests.lock().unwrap()[1].messages).unwrap();
    assert_eq!(told.matches("nothing was said about fact 2 after it").count(), 2, "{told}");
}

#[tokio::test]
async fn what_the_whole_plan_rests_on_is_known_where_the_card_is_made() {
    let (desk, _) = record(vec![vec![hours(&WEEK)]]).await;
    let rests_on = desk.planning().plan_assumptions();
    assert_eq!(rests_on, ["The walls need no repair, two coats are enough.", "Paint is there"]);
}
