//! No plan breaks a fact that applies without G501, and G501 names only facts that are broken.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, date};
use proptest::prelude::*;

use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal_as};
use planwright_drafting::offline::TemplateLibrary;
use planwright_drafting::offline::blueprint::Blueprint;
use planwright_model::{
    Fact, FactLength, FactReading, FactSource, FactSubject, FactWorkingTime, IsoWeek, LinkKind,
    PlanNode, Roadmap, ScheduledBlock, StartSource, TaskId, Weekday,
};
use planwright_plan::grammar::{BROKEN_FACT_RULE, validate_schedule};

const TODAY: Date = date(2026, 11, 17);

static LIBRARY: LazyLock<TemplateLibrary> = LazyLock::new(TemplateLibrary::built_in);

/// Plans a goal as a plan of a kind.
fn plan(goal: &str, kind: &str) -> GoalPlan {
    let request = GoalRequest {
        goal,
        today: TODAY,
        time_zone: "Europe/Berlin",
        now: Timestamp::UNIX_EPOCH,
        library: &LIBRARY,
        events: &[],
    };
    let pattern = LIBRARY.named_blueprint(kind).map(Blueprint::to_pattern);
    plan_goal_as(&request, pattern).unwrap()
}

/// Whether a plan keeps a reading, judged from its blocks alone. None where the plan does not tell.
fn keeps(plan: &GoalPlan, reading: &FactReading) -> Option<bool> {
    let schedule = plan.artifacts.schedule.as_ref()?;
    let blocks = &schedule.blocks;
    let roadmap = plan.artifacts.roadmap.as_ref()?;
    let node = |block: &ScheduledBlock| roadmap.find_node(&block.plan_node_id).unwrap();
    let repeats_at_time = |block: &ScheduledBlock| {
        let repeats = node(block).recurrence.as_ref();
        repeats.is_some_and(|repeats| repeats.at_local.is_some())
    };
    // A day that the kind of plan proposes is not one that the person stated.
    let stated = |block: &ScheduledBlock| node(block).has_stated_day() || repeats_at_time(block);
    let timed = |block: &&ScheduledBlock| {
        let node = node(block);
        let assumed = node.start_source == StartSource::AssumedDay;
        node.fixed_start.is_some() && assumed || stated(block)
    };
    let own = |block: &&ScheduledBlock| node(block).other_owner().is_none();
    let ends_by = |day: Date| {
        schedule.unplaced.is_empty() && blocks.iter().all(|block| block.end.local_date() <= day)
    };
    Some(match reading {
        FactReading::Deadline { on } => ends_by(*on),
        FactReading::Start { on } => blocks.iter().all(|block| block.start.local_date() >= *on),
        // Nobody is at a party while they are away, but pills are taken everywhere.
        FactReading::Absence { person: None, from, to } => blocks
            .iter()
            .filter(|block| own(block) && !repeats_at_time(block))
            .all(|block| !(*from..=*to).contains(&block.start.local_date())),
        FactReading::Capacity { person: None, weekly_minutes } => {
            let mut weeks = std::collections::BTreeMap::new();
            for block in blocks.iter().filter(|block| own(block) && !timed(block)) {
                let minutes = block.start.minutes_until(block.end);
                *weeks.entry(IsoWeek::from_date(block.start.local_date())).or_insert(0) += minutes;
            }
            weeks.values().all(|minutes| *minutes <= i64::from(*weekly_minutes))
        }
        FactReading::WeekdaysOff { person: None, days } => blocks
            .iter()
            .filter(|block| own(block) && !stated(block))
            .all(|block| !days.contains(&Weekday::from_date(block.start.local_date()))),
        FactReading::WorkingTimes { person: None, times } => {
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
            let after = day.filter(|day| *day <= on).map(|day| follow_ups(roadmap, day));
            let follows = |block: &ScheduledBlock| {
                after.as_ref().is_some_and(|after| after.contains(&block.plan_node_id))
            };
            schedule.unplaced.is_empty()
                && blocks.iter().all(|block| follows(block) || block.end.local_date() <= on)
        }
        _ => return None,
    })
}

/// The tasks that are dated after a day or wait for something on it.
fn follow_ups(roadmap: &Roadmap, day: Date) -> BTreeSet<TaskId> {
    let tree = roadmap.node_tree();
    let leaves = tree.leaves(&roadmap.root_id);
    let own_day = |leaf: &PlanNode| {
        let single = leaf.not_before.zip(leaf.due).filter(|(from, to)| from.day == to.day);
        leaf.fixed_start.or(leaf.fixed_end).or(single.map(|(from, _)| from)).map(|at| at.day)
    };
    let below = |id: &TaskId| -> BTreeSet<TaskId> {
        tree.leaves(id).iter().map(|leaf| leaf.id.clone()).collect()
    };
    let on = |after: bool| {
        let fits = move |own: Date| if after { own > day } else { own >= day };
        let found = leaves.iter().filter(move |leaf| own_day(leaf).is_some_and(fits));
        found.map(|leaf| leaf.id.clone()).collect::<BTreeSet<TaskId>>()
    };
    let (mut reached, mut found) = (on(false), on(true));
    loop {
        let links = roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
        let next: BTreeSet<TaskId> = links
            .filter(|link| !below(&link.from).is_disjoint(&reached))
            .flat_map(|link| below(&link.to))
            .collect();
        let before = (reached.len(), found.len());
        reached.extend(next.iter().cloned());
        found.extend(next);
        if (reached.len(), found.len()) == before {
            return found;
        }
    }
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
            .prop_map(|time| FactReading::WorkingTimes { person: None, times: vec![time] }),
        prop::sample::select(Weekday::ALL.to_vec())
            .prop_map(|day| FactReading::WeekdaysOff { person: None, days: vec![day] }),
        (1..200_u32).prop_map(|days| FactReading::Duration {
            subject: FactSubject::Plan,
            length: FactLength::Days(days),
        }),
    ]
}

fn kind() -> impl Strategy<Value = String> {
    let names: Vec<String> = LIBRARY.all_blueprints().map(|file| file.name.clone()).collect();
    prop::sample::select(names)
}

fn goal() -> impl Strategy<Value = String> {
    let what = prop::sample::select(vec![
        "do it",
        "do it for 80 guests",
        "do it from PHP to Go",
        "do it every Friday",
        "do it under 10,000",
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
        " on 2027-02-12",
        " in March",
        " this weekend",
    ]);
    let limits = prop::sample::select(vec![
        "",
        ", 5 hours a week",
        ", weekends only",
        ", evenings only",
        ", not on Thursdays",
        ", 2 hours on Saturday and Sunday",
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
        kind in kind(),
        readings in prop::collection::vec(reading(), 12),
    ) {
        let plan = plan(&goal, &kind);
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
            prop_assert_eq!(told.contains(&fact.id), !kept, "{} {}: {:?}", kind, goal, fact);
        }
        for report in &plan.stages {
            let breaks = report.violations.iter().any(|found| found.rule == BROKEN_FACT_RULE);
            prop_assert!(!breaks || !report.confidence.may_advance, "{} {}: never approved unseen", kind, goal);
        }
    }
}
