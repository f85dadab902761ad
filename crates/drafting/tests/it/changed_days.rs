//! Days that a kind of plan chose give way to what the person says later; days that the person stated do not.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, date};

use planwright_drafting::change_requests::{
    ChangeRequestSource, RequestOutcome, apply_change_request, parse_change_request,
};
use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::{
    Fact, FactReading, FactSource, PlanNode, Schedule, Severity, StartSource, Violation, Weekday,
};
use planwright_plan::grammar::{BROKEN_FACT_RULE, PlanArtifacts, validate_schedule};
use planwright_schedule::{ScheduleRequest, schedule_roadmap};

/// A Wednesday.
const TODAY: Date = date(2026, 11, 18);

static LIBRARY: LazyLock<TemplateLibrary> = LazyLock::new(TemplateLibrary::built_in);

const SHED: &str = "repaint the bike shed before Friday next week, budget 120 euros";
const PARTY: &str = "plan a birthday party next Saturday";

fn plan(goal: &str) -> GoalPlan {
    plan_goal(&GoalRequest {
        goal,
        today: TODAY,
        time_zone: "Europe/Berlin",
        now: Timestamp::UNIX_EPOCH,
        library: &LIBRARY,
        events: &[],
    })
    .unwrap()
}

/// Applies a request, and schedules what it leads to.
fn change(plan: &GoalPlan, text: &str) -> (RequestOutcome, PlanArtifacts) {
    let (outline, roadmap) = (&plan.artifacts.outline, plan.artifacts.roadmap.as_ref());
    let source =
        ChangeRequestSource { outline, roadmap, planned_end: None, marked: &[], today: TODAY };
    let parsed = parse_change_request(text, &source);
    let outcome = apply_change_request(&parsed, outline, roadmap, &BTreeSet::new(), TODAY);
    assert!(outcome.open.is_empty(), "{:?}", outcome.open);
    let mut changed = PlanArtifacts::new(outcome.outline.clone());
    changed.roadmap.clone_from(&outcome.roadmap);
    let wanted = ScheduleRequest::new(changed.roadmap.as_ref().unwrap(), changed.context());
    changed.schedule = Some(schedule_roadmap(&wanted).unwrap());
    changed.surroundings.facts = vec![no_thursdays()];
    (outcome, changed)
}

fn no_thursdays() -> Fact {
    let days = vec![Weekday::Thu];
    let reading = Some(FactReading::WeekdaysOff { person: None, days });
    Fact { reading, ..Fact::new(1, FactSource::ChangeRequest, "not on Thursdays".to_owned()) }
}

fn errors(plan: &PlanArtifacts) -> Vec<Violation> {
    let found = validate_schedule(plan).into_iter();
    found.filter(|found| found.severity != Severity::Warning).collect()
}

fn weekdays(schedule: &Schedule) -> BTreeSet<Weekday> {
    let days = schedule.blocks.iter().map(|block| block.start.local_date());
    days.map(Weekday::from_date).collect()
}

fn node<'a>(plan: &'a PlanArtifacts, words: &str) -> &'a PlanNode {
    let nodes = &plan.roadmap.as_ref().unwrap().nodes;
    nodes.iter().find(|node| node.title.contains(words)).unwrap()
}

#[test]
fn a_longer_task_and_days_that_are_off_move_what_the_kind_chose() {
    let plan = plan(SHED);
    let (outcome, changed) = change(&plan, "the second coat takes 3 hours, and not on Thursdays");
    let found = errors(&changed);
    assert!(found.is_empty(), "{found:?}\n{:?}", changed.schedule.as_ref().unwrap().blocks);
    assert!(!weekdays(changed.schedule.as_ref().unwrap()).contains(&Weekday::Thu));
    assert_eq!(node(&changed, "second coat").estimate_minutes, Some(180));
    assert!(changed.schedule.as_ref().unwrap().unplaced.is_empty());
    // What moved is named.
    let said: String = outcome.made.iter().map(|made| made.effect.as_str()).collect();
    let before = plan.artifacts.roadmap.as_ref().unwrap();
    let moved = before.nodes.iter().filter(|node| {
        let now = outcome.roadmap.as_ref().unwrap().find_node(&node.id).unwrap();
        now.fixed_start != node.fixed_start
    });
    for node in moved {
        assert!(said.contains(&node.title), "{} moved without a word: {said}", node.title);
    }
}

#[test]
fn the_stated_day_of_a_party_stays_and_everything_else_leaves_thursdays() {
    let plan = plan(PARTY);
    let host = node(&plan.artifacts, "Host the party");
    assert_eq!(host.start_source, StartSource::StatedDay);
    let clean = node(&plan.artifacts, "Clean up");
    assert_eq!(clean.start_source, StartSource::Proposed);
    let (_, changed) = change(&plan, "not on Thursdays");
    assert!(!weekdays(changed.schedule.as_ref().unwrap()).contains(&Weekday::Thu));
    assert_eq!(node(&changed, "Host the party").fixed_start, host.fixed_start);
    // With a day off that the party itself is on, the party stays and the plan says so.
    let (_, changed) = change(&plan, "not on Sundays");
    let sunday = weekdays(changed.schedule.as_ref().unwrap()).contains(&Weekday::Sun);
    assert!(!sunday, "the cleaning moves");
}

#[test]
fn a_chosen_day_on_a_day_off_breaks_the_fact_and_a_stated_one_does_not() {
    let mut plan = plan(SHED).artifacts;
    plan.surroundings.facts = vec![no_thursdays()];
    let thursday = "2026-11-26".parse().ok();
    let id = node(&plan, "Repair, wash").id.clone();
    for (source, breaks) in [
        (StartSource::Proposed, true),
        (StartSource::AssumedDay, true),
        (StartSource::Stated, false),
    ] {
        let roadmap = plan.roadmap.as_mut().unwrap();
        for node in &mut roadmap.nodes {
            (node.fixed_start, node.due, node.not_before) = (None, None, None);
            if node.id == id {
                (node.fixed_start, node.start_source, node.in_one_piece) = (thursday, source, true);
            }
        }
        roadmap.dependencies.clear();
        let mut context = plan.outline.plan_context.clone();
        context.calendar.working.remove(&Weekday::Thu);
        context.calendar.extra_working.clear();
        context.constraints.deadline = None;
        let made = schedule_roadmap(&ScheduleRequest::new(roadmap, &context)).unwrap();
        plan.outline.plan_context = context;
        plan.schedule = Some(made);
        let found = validate_schedule(&plan);
        let told = found.iter().any(|found| found.rule == BROKEN_FACT_RULE);
        assert_eq!(told, breaks, "{source:?}: {found:?}");
    }
}

#[test]
fn a_date_that_the_person_sets_is_stated_and_kept_in_the_journal() {
    let plan = plan(PARTY);
    let (_, changed) = change(&plan, "shop for food is on 2026-11-20 at 17:00");
    let shop = node(&changed, "Shop for food");
    assert_eq!(shop.start_source, StartSource::Stated);
    let clean = node(&changed, "Clean up");
    let text = serde_json::to_string(clean).unwrap();
    assert!(text.contains("\"start_source\":\"proposed\""), "{text}");
    assert_eq!(serde_json::from_str::<PlanNode>(&text).unwrap(), *clean);
    // A plan of an earlier release has no source, and its dates count as stated.
    let old = text.replace("\"start_source\":\"proposed\",", "");
    assert!(serde_json::from_str::<PlanNode>(&old).unwrap().has_stated_day());
}
