//! Phrases that were once read as something else, and what the plan makes of them.

use jiff::Timestamp;
use jiff::civil::{Date, date};

use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::goal_reading::{GoalReading, read_goal};
use planwright_drafting::offline::{SubtypeProposals, TemplateLibrary, draft_outline};
use planwright_model::{Assumption, AssumptionOrigin, PlanContext, Severity, Weekday};

/// A Tuesday.
const TODAY: Date = date(2026, 11, 17);

fn read(goal: &str) -> GoalReading {
    read_goal(goal, TODAY)
}

fn plan(goal: &str) -> GoalPlan {
    let library = TemplateLibrary::built_in();
    let (time_zone, now) = ("UTC", Timestamp::UNIX_EPOCH);
    plan_goal(&GoalRequest { goal, today: TODAY, time_zone, now, library: &library, events: &[] })
        .unwrap()
}

/// The days of all blocks, in order.
fn days(plan: &GoalPlan) -> Vec<Date> {
    let blocks = &plan.artifacts.schedule.as_ref().unwrap().blocks;
    let mut days: Vec<Date> = blocks.iter().map(|block| block.start.local_date()).collect();
    days.sort_unstable();
    days
}

#[track_caller]
fn assert_valid(goal: &str, plan: &GoalPlan) {
    let found = plan.stages.iter().flat_map(|stage| &stage.violations);
    let broken: Vec<_> = found.filter(|found| found.severity != Severity::Warning).collect();
    assert!(broken.is_empty(), "{goal}: {broken:?}");
}

#[test]
fn dates_amounts_and_lengths_are_told_apart() {
    for (goal, wanted) in [
        ("a kids party on May 8, budget 3500", &["on Sat 8 May 2027", "budget 3,500"][..]),
        ("a party on May 8, 2000 euros", &["on Sat 8 May 2027", "2,000 euros"]),
        (
            "team retro every two weeks on Thursday at 15:00",
            &["every 2 weeks on Thursday at 15:00"],
        ),
        ("train for a triathlon on 2027-08-15, not on Mondays", &["not on Mondays"]),
        ("homeschool my kids from January to June", &["Fri 1 Jan – Wed 30 Jun 2027"]),
        ("do the spring cleaning in the week of April 5", &["Mon 5 – Sun 11 Apr 2027"]),
        ("a class reunion in summer 2028", &["Thu 1 Jun – Thu 31 Aug 2028"]),
        ("a hackathon on March 13 and 14", &["2 days Sat 13 – Sun 14 Mar 2027"]),
        ("set up backups before I go on holiday on December 18", &["until Thu 17 Dec"]),
        ("be ready for the school start on 2027-08-23", &["on Mon 23 Aug 2027"]),
        ("onboard 3 new engineers starting 2027-01-04", &["on Mon 4 Jan 2027"]),
        ("adopt a dog, we both work full time", &["evenings and weekends"]),
    ] {
        let found = read(goal).read;
        for words in wanted {
            assert!(found.iter().any(|read| read == words), "{goal}: no {words} in {found:?}");
        }
    }
    let data = read("train a model that predicts churn, we have 3 years of data").read;
    assert!(data.iter().all(|read| !read.contains("until")), "{data:?}");
}

#[test]
fn days_that_are_named_for_the_work_are_its_days() {
    let cleaning = plan("do the spring cleaning in the week of April 5");
    assert!(days(&cleaning)[0] >= date(2027, 4, 5), "{:?}", days(&cleaning)[0]);
    let kitchen = plan("renovate the kitchen from 2027-02-01 to 2027-04-30");
    let all = days(&kitchen);
    assert!(all[0] >= date(2027, 2, 1) && all[all.len() - 1] <= date(2027, 4, 30), "{all:?}");
    let course = plan("learn Spanish, 4 hours a week, not on Mondays");
    assert!(days(&course).iter().all(|day| Weekday::from_date(*day) != Weekday::Mon));
}

#[test]
fn what_is_due_by_a_far_day_starts_now_and_training_fills_its_weeks() {
    for goal in [
        "write a grant proposal, deadline 2027-02-15, 6 hours a week",
        "ship version 2.0 by end of Q1",
        "run a half marathon on 2027-04-25",
        "plan a team offsite for 20 people in June in Berlin",
    ] {
        let first = days(&plan(goal))[0];
        assert!(first <= date(2026, 11, 24), "{goal}: {first}");
    }
    let runs = days(&plan("run a half marathon on 2027-04-25"));
    let weeks = runs.windows(2).map(|pair| (pair[1] - pair[0]).get_days()).max().unwrap();
    assert!(weeks <= 14, "{weeks} days without a run");
}

#[test]
fn a_near_day_and_few_hours_keep_order_and_limits() {
    for goal in [
        "wedding on 2026-12-05 for 60 guests",
        "write a weekly blog for three months",
        "pass the theory and practical driving test by summer, I can do 3 hours a week",
    ] {
        assert_valid(goal, &plan(goal));
    }
}

#[test]
fn the_half_that_is_not_planned_is_named() {
    let library = TemplateLibrary::built_in();
    let notes = |goal: &str| {
        let context = PlanContext::new(goal, TODAY, "UTC");
        draft_outline(context, &library, TODAY, SubtypeProposals::Off).unwrap().notes
    };
    let named = notes("declutter the garage and learn to play the trumpet");
    assert!(named.iter().any(|note| note.contains("Not planned: \"")), "{named:?}");
    let whole = notes("renovate the bathroom and paint the walls");
    assert!(whole.iter().all(|note| !note.contains("Not planned")), "{whole:?}");
}

#[test]
fn an_answer_in_other_words_is_its_choice_and_a_strange_one_decides_nothing() {
    let library = TemplateLibrary::built_in();
    let file = library.named_blueprint("birthday_party").unwrap();
    let key = "where".to_owned();
    let question = file.questions.iter().find(|question| *question.key.get_ref() == key).unwrap();
    let draft = |answer: &str| {
        let mut context = PlanContext::new("a birthday party on 2027-02-20", TODAY, "UTC");
        context.assumptions.push(Assumption {
            key: key.clone(),
            value: answer.to_owned(),
            origin: AssumptionOrigin::User,
            question: None,
        });
        draft_outline(context, &library, TODAY, SubtypeProposals::Off).unwrap()
    };
    let value = |answer: &str| {
        let context = draft(answer).outline.plan_context;
        context.find_assumption(&key).map(|found| (found.value.clone(), found.origin))
    };
    let choice = question.choices[0].clone();
    let said = format!("we think {choice}, please");
    assert_eq!(value(&said), Some((choice, AssumptionOrigin::User)));
    let assumed = Some((question.default.clone(), AssumptionOrigin::Template));
    assert_eq!(value("xyzzy"), assumed);
    let notes = draft("xyzzy").notes;
    assert!(
        notes.iter().any(|note| note.contains("\"xyzzy\" is none of the answers")),
        "{notes:?}"
    );
}
