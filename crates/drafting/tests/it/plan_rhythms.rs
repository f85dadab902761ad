//! When private plans happen, in which order repeated work begins, and what stays in one piece.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, date};

use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::offline::{TemplateLibrary, roomier_contexts};
use planwright_model::{Severity, Weekday};

/// A Tuesday; plans start on the day after it.
const TODAY: Date = date(2026, 11, 17);

/// The title, start and end of a block in local time.
type PlacedBlock = (String, DateTime, DateTime);

fn plan_of(goal: &str) -> GoalPlan {
    let library = TemplateLibrary::built_in();
    let plan = plan_goal(&GoalRequest {
        goal,
        today: TODAY,
        time_zone: "Europe/Berlin",
        now: Timestamp::UNIX_EPOCH,
        library: &library,
        events: &[],
    });
    let plan = plan.unwrap();
    let found = plan.stages.iter().flat_map(|stage| &stage.violations);
    let broken: Vec<_> = found.filter(|found| found.severity != Severity::Warning).collect();
    assert!(broken.is_empty(), "{goal}: {broken:#?}");
    plan
}

fn blocks_of(plan: &GoalPlan) -> Vec<PlacedBlock> {
    let roadmap = plan.artifacts.roadmap.as_ref().unwrap();
    let schedule = plan.artifacts.schedule.as_ref().unwrap();
    let local = |at: planwright_model::OffsetDateTime| at.offset.to_datetime(at.at);
    let mut rows: Vec<PlacedBlock> = schedule
        .blocks
        .iter()
        .map(|block| {
            let title = roadmap.find_node(&block.plan_node_id).unwrap().title.clone();
            (title, local(block.start), local(block.end))
        })
        .collect();
    rows.sort_by_key(|row| row.1);
    rows
}

#[test]
fn private_plans_have_evenings_and_weekends_and_work_has_office_hours() {
    for (goal, private) in [
        ("learn to knit", true),
        ("declutter our flat", true),
        ("add single sign-on to our web app", false),
        ("introduce code reviews in my team", false),
    ] {
        for (title, start, _) in blocks_of(&plan_of(goal)) {
            let weekend = matches!(Weekday::from_date(start.date()), Weekday::Sat | Weekday::Sun);
            let office = !weekend && (9..17).contains(&start.hour());
            assert_eq!(office, !private, "{goal}: {title} {start}");
        }
    }
}

#[test]
fn three_runs_a_week_have_days_of_rest_between_them_and_none_is_long_in_the_last_week() {
    for (goal, race) in [
        ("train for a 5k race on 2027-03-07", date(2027, 3, 7)),
        ("run a 10 km race on 2027-04-11", date(2027, 4, 11)),
    ] {
        let runs: Vec<PlacedBlock> = blocks_of(&plan_of(goal))
            .into_iter()
            .filter(|(title, ..)| title.to_lowercase().contains("run") && !title.contains("shoes"))
            .filter(|(title, ..)| !title.contains("Run the race"))
            .collect();
        let days: BTreeSet<Date> = runs.iter().map(|row| row.1.date()).collect();
        let days: Vec<Date> = days.into_iter().collect();
        let next = |pair: &&[Date]| pair[0].tomorrow().unwrap() == pair[1];
        let close = days.windows(2).filter(next).count();
        assert!(days.len() > 15 && close * 8 <= days.len(), "{goal}: {close} of {days:?}");
        for (title, start, end) in &runs {
            let left = start.date().until(race).unwrap().get_days();
            let minutes = start.until(*end).unwrap().total(jiff::Unit::Minute).unwrap();
            assert!(left > 0, "{goal}: {title} {start}");
            assert!(left > 6 || minutes <= 45.0, "{goal}: {title} {start} {minutes}");
        }
    }
}

#[test]
fn a_training_has_its_shoes_before_its_first_run_and_its_runs_in_the_evening() {
    for goal in ["train for my first 10k in 12 weeks", "marathon training 16 weeks"] {
        let blocks = blocks_of(&plan_of(goal));
        let shoes = blocks.iter().find(|(title, ..)| title.contains("shoes fitted")).unwrap();
        let is_run = |title: &str| title.contains("run") && !title.contains("shoes");
        let runs: Vec<&PlacedBlock> =
            blocks.iter().filter(|(title, ..)| is_run(&title.to_lowercase())).collect();
        assert!(shoes.2 <= runs[0].1, "{goal}: {shoes:?} {:?}", runs[0]);
        for (title, start, _) in &runs {
            let weekend = matches!(Weekday::from_date(start.date()), Weekday::Sat | Weekday::Sun);
            assert!(weekend || start.hour() >= 18, "{goal}: {title} {start}");
        }
        let race = runs.last().unwrap().1.date();
        let eve: Vec<&&PlacedBlock> =
            runs.iter().filter(|run| run.1.date() == race.yesterday().unwrap()).collect();
        assert!(eve.is_empty(), "{goal}: {eve:?}");
    }
}

#[test]
fn what_a_goal_does_every_week_is_on_its_day_at_its_time() {
    let goal = "coach my son's football team, training every Wednesday at 17:00";
    let blocks = blocks_of(&plan_of(goal));
    let held: Vec<&PlacedBlock> =
        blocks.iter().filter(|(title, ..)| title == "Hold the training").collect();
    assert!(held.len() > 5, "{blocks:#?}");
    for (_, start, _) in held {
        assert_eq!((Weekday::from_date(start.date()), start.hour()), (Weekday::Wed, 17), "{start}");
    }
}

#[test]
fn practice_begins_after_what_it_needs_is_there() {
    for goal in ["learn to play the cello", "learn the accordion, 3 hours a week"] {
        let blocks = blocks_of(&plan_of(goal));
        let got =
            blocks.iter().find(|(title, ..)| title.starts_with("Get the instrument")).unwrap();
        let first = blocks.iter().find(|(title, ..)| title.starts_with("Practice")).unwrap();
        assert!(got.2 <= first.1, "{goal}: {got:?} {first:?}");
    }
}

#[test]
fn a_rhythm_fits_the_hours_that_the_goal_states() {
    for goal in ["learn Swedish 40 minutes a day", "learn Korean, 2 hours a week"] {
        let plan = plan_of(goal);
        assert!(plan.artifacts.schedule.unwrap().unplaced.is_empty(), "{goal}");
    }
}

#[test]
fn stated_rounds_nights_and_days_are_kept() {
    let plan = plan_of("record a podcast season of 6 episodes");
    let blocks = blocks_of(&plan);
    let recorded = blocks.iter().filter(|(title, ..)| title == "Record the episode").count();
    assert_eq!(recorded, 6);
    let plan = plan_of("camping for 5 days in July");
    let nights = plan.artifacts.context().find_assumption("nights").unwrap().value.clone();
    assert_eq!(nights, "4");
}

#[test]
fn what_is_done_in_one_go_is_not_cut() {
    for goal in ["buy a used camper van", "adopt a kitten"] {
        let plan = plan_of(goal);
        let roadmap = plan.artifacts.roadmap.as_ref().unwrap();
        let schedule = plan.artifacts.schedule.as_ref().unwrap();
        for node in roadmap.nodes.iter().filter(|node| (1..=180).contains(&node.work_minutes())) {
            let pieces = schedule.blocks_for_node(&node.id).count();
            assert!(pieces <= 1 || node.recurrence.is_some(), "{goal}: {}", node.title);
        }
    }
}

#[test]
fn preparation_of_a_near_day_comes_before_it() {
    for goal in ["throw a birthday party tomorrow", "dinner for 7 on Thursday"] {
        let blocks = blocks_of(&plan_of(goal));
        let host = blocks.iter().find(|(title, ..)| title.starts_with("Host")).unwrap();
        for (title, start, _) in blocks.iter().filter(|row| row.1 > host.1) {
            let after = title.contains("lean up") || title.contains("Wash up");
            assert!(after, "{goal}: {title} {start}");
        }
    }
}

#[test]
fn work_of_a_far_window_begins_with_it() {
    let blocks = blocks_of(&plan_of("paint the garage door in the first week of August"));
    assert!(blocks[0].1.date() >= date(2027, 7, 1), "{blocks:?}");
    let blocks = blocks_of(&plan_of("learn to swim over the summer"));
    assert!(blocks[0].1.date() >= date(2027, 6, 1), "{blocks:?}");
}

#[test]
fn only_what_is_assumed_gives_way_to_other_plans() {
    let free = plan_of("declutter our flat");
    let context = free.artifacts.context();
    let roomier = roomier_contexts(context);
    let weeks: Vec<Option<u16>> =
        roomier.iter().map(|found| found.context.constraints.horizon_weeks).collect();
    assert!(weeks.len() >= 4 && weeks.is_sorted(), "{weeks:?}");
    assert_eq!(weeks[0], context.constraints.horizon_weeks, "longer evenings come first");
    let fixed = plan_of("introduce code reviews in my team by end of February");
    assert_eq!(roomier_contexts(fixed.artifacts.context()), []);
}
