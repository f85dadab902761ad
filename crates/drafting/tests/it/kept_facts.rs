//! No plan breaks a fact that applies without G501, and G501 names only facts that are broken.

use jiff::Timestamp;
use jiff::civil::{Date, date};
use proptest::prelude::*;

use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::{
    Fact, FactLength, FactReading, FactSource, FactSubject, FactWorkingTime, IsoWeek,
    ScheduledBlock, Weekday,
};
use planwright_plan::grammar::{BROKEN_FACT_RULE, validate_schedule};

const TODAY: Date = date(2026, 11, 17);

fn plan(goal: &str) -> GoalPlan {
    let library = TemplateLibrary::built_in();
    plan_goal(&GoalRequest {
        goal,
        today: TODAY,
        time_zone: "Europe/Berlin",
        now: Timestamp::UNIX_EPOCH,
        library: &library,
        events: &[],
    })
    .unwrap()
}

/// Whether a plan keeps a reading, judged from its blocks alone. None where the plan does not tell.
fn keeps(plan: &GoalPlan, reading: &FactReading) -> Option<bool> {
    let schedule = plan.artifacts.schedule.as_ref()?;
    let blocks = &schedule.blocks;
    let roadmap = plan.artifacts.roadmap.as_ref()?;
    let node = |block: &ScheduledBlock| roadmap.find_node(&block.plan_node_id).unwrap();
    let timed = |block: &&ScheduledBlock| {
        let node = node(block);
        node.fixed_start.or(node.fixed_end).is_some()
            || node.recurrence.as_ref().is_some_and(|repeats| repeats.at_local.is_some())
    };
    let own = |block: &&ScheduledBlock| node(block).other_owner().is_none();
    let ends_by = |day: Date| {
        schedule.unplaced.is_empty() && blocks.iter().all(|block| block.end.local_date() <= day)
    };
    Some(match reading {
        FactReading::Deadline { on } => ends_by(*on),
        FactReading::Start { on } => blocks.iter().all(|block| block.start.local_date() >= *on),
        FactReading::Absence { person: None, from, to } => blocks
            .iter()
            .filter(|block| own(block) && !timed(block))
            .all(|block| !(*from..=*to).contains(&block.start.local_date())),
        FactReading::Capacity { person: None, weekly_minutes } => {
            let mut weeks = std::collections::BTreeMap::new();
            for block in blocks.iter().filter(|block| own(block) && !timed(block)) {
                let minutes = block.start.minutes_until(block.end);
                *weeks.entry(IsoWeek::from_date(block.start.local_date())).or_insert(0) += minutes;
            }
            weeks.values().all(|minutes| *minutes <= i64::from(*weekly_minutes))
        }
        FactReading::WorkingTimes { times } => {
            blocks.iter().filter(|block| own(block) && !timed(block)).all(|block| {
                let local = |at: planwright_model::OffsetDateTime| at.offset.to_datetime(at.at);
                let (start, end) = (local(block.start), local(block.end));
                times.iter().any(|time| time.covers(start.date(), start.time(), end.time()))
            })
        }
        FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(days) } => {
            let start = plan.artifacts.context().constraints.start;
            let on = start.checked_add(jiff::Span::new().days(i64::from(*days) - 1)).unwrap();
            // What follows the day of the thing itself may come later.
            let day = plan.artifacts.context().find_assumption("day");
            let day = day.and_then(|found| found.value.parse::<Date>().ok());
            let follows = |block: &ScheduledBlock| {
                let later = |day: Date| {
                    block.start.local_date() > day
                        && node(block).due.is_none_or(|due| due.day > day)
                };
                day.is_some_and(|day| day <= on && later(day))
            };
            schedule.unplaced.is_empty()
                && blocks.iter().all(|block| follows(block) || block.end.local_date() <= on)
        }
        _ => return None,
    })
}

/// The facts that a plan breaks, as G501 says.
fn broken(plan: &GoalPlan, facts: &[Fact]) -> Vec<u32> {
    let mut artifacts = plan.artifacts.clone();
    artifacts.surroundings.facts = facts.to_vec();
    let found = validate_schedule(&artifacts);
    let rule = found.iter().filter(|found| found.rule == BROKEN_FACT_RULE);
    rule.map(|found| {
        let named = |fact: &&Fact| found.message.contains(&format!("\"{}\"", fact.text));
        facts.iter().find(named).expect("the fact is named verbatim").id
    })
    .collect()
}

fn day() -> impl Strategy<Value = Date> {
    (0..200_i64).prop_map(|days| TODAY.checked_add(jiff::Span::new().days(days)).unwrap())
}

fn reading() -> impl Strategy<Value = FactReading> {
    let weekends = FactWorkingTime { days: vec![Weekday::Sat, Weekday::Sun], hours: None };
    let workdays = FactWorkingTime { days: Weekday::ALL[..5].to_vec(), hours: None };
    prop_oneof![
        day().prop_map(|on| FactReading::Deadline { on }),
        day().prop_map(|on| FactReading::Start { on }),
        (day(), 0..20_i64).prop_map(|(from, days)| FactReading::Absence {
            person: None,
            from,
            to: from.checked_add(jiff::Span::new().days(days)).unwrap(),
        }),
        (30..2000_u32)
            .prop_map(|weekly_minutes| FactReading::Capacity { person: None, weekly_minutes }),
        prop::sample::select(vec![weekends, workdays])
            .prop_map(|time| FactReading::WorkingTimes { times: vec![time] }),
        (1..200_u32).prop_map(|days| FactReading::Duration {
            subject: FactSubject::Plan,
            length: FactLength::Days(days),
        }),
    ]
}

fn goal() -> impl Strategy<Value = String> {
    let what = prop::sample::select(vec![
        "launch a newsletter",
        "learn Rust",
        "write a novel",
        "plan the wedding for 80 guests",
        "migrate our billing service from PHP to Go",
        "marathon training",
        "weekly review every Friday",
        "buy a used car under 10,000",
    ]);
    let when = prop::sample::select(vec![
        "",
        " in 6 weeks",
        " by Easter",
        " by 2026-12-01",
        " before Christmas",
        " by summer",
        " in 16 weeks",
        " starting next Monday",
        " by tomorrow",
    ]);
    let limits = prop::sample::select(vec![
        "",
        ", 5 hours a week",
        ", weekends only",
        ", evenings only",
        ", I'm away 20 to 27 December",
        ", 2 hours a week, away 3 to 10 January",
    ]);
    (what, when, limits).prop_map(|(what, when, limits)| format!("{what}{when}{limits}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_plan_breaks_a_fact_without_saying_so(
        goal in goal(),
        readings in prop::collection::vec(reading(), 12),
    ) {
        let plan = plan(&goal);
        let fact = |(reading, id): (FactReading, u32)| Fact {
            reading: Some(reading),
            ..Fact::new(id, FactSource::ChangeRequest, format!("said as number {id}."))
        };
        let mut facts: Vec<Fact> = readings.into_iter().zip(100..).map(fact).collect();
        facts.extend(plan.artifacts.surroundings.facts.clone());
        let told = broken(&plan, &facts);
        for fact in &facts {
            let Some(kept) = fact.reading.as_ref().and_then(|reading| keeps(&plan, reading)) else {
                continue;
            };
            prop_assert_eq!(told.contains(&fact.id), !kept, "{}: {:?}", goal, fact);
        }
        for report in &plan.stages {
            let breaks = report.violations.iter().any(|found| found.rule == BROKEN_FACT_RULE);
            prop_assert!(!breaks || !report.confidence.may_advance, "{}: never approved unseen", goal);
        }
    }
}
