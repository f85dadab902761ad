//! G501: every kind of reading, kept and broken.

use jiff::civil::{Date, Time, date, time};

use super::fixture::*;
use crate::grammar::{BROKEN_FACT_RULE, PlanArtifacts, Stage, ValidationOutcome};
use crate::grammar::{validate_schedule, validation_outcome};
use planwright_model::{
    Assumption, AssumptionOrigin, Fact, FactLength, FactReading, FactSource, FactStatus,
    FactSubject, FactWorkingTime, LocalTimeInterval, PlanDate, UnplacedWork, Weekday,
};

/// The day of the fixture's schedule, a Monday.
const DAY: Date = date(2026, 6, 1);
const LATER: Date = date(2026, 6, 8);
const EARLIER: Date = date(2026, 5, 25);

fn said(text: &str, reading: FactReading) -> Fact {
    Fact { reading: Some(reading), ..Fact::new(1, FactSource::Goal, text) }
}

/// Returns what G501 says about a plan and one reading.
fn breaks_in(plan: &PlanArtifacts, reading: FactReading) -> Option<String> {
    let mut plan = plan.clone();
    plan.surroundings.facts = vec![said("as I said", reading)];
    let found = validate_schedule(&plan);
    let mut broken = found.into_iter().filter(|found| found.rule == BROKEN_FACT_RULE);
    let first = broken.next().map(|found| {
        assert!(!found.node_ids.is_empty(), "{found:?}");
        let lead = "This breaks what you said, \"as I said\": ";
        found.message.strip_prefix(lead).expect("the fact comes first").to_owned()
    });
    assert_eq!(broken.next(), None);
    first
}

#[track_caller]
fn expect(reading: FactReading, what: Option<&str>) {
    assert_eq!(breaks_in(&scheduled(), reading).as_deref(), what);
}

fn words(text: &str) -> FactSubject {
    FactSubject::Words(text.to_owned())
}

#[test]
fn g501_names_the_fact_verbatim_and_needs_a_repair() {
    let mut plan = scheduled();
    let deadline = FactReading::Deadline { on: EARLIER };
    plan.surroundings.facts = vec![said("by \"25\" May", deadline)];
    let found = validate_schedule(&plan);
    assert_eq!(rules(&found), ["G501"]);
    assert_eq!(
        found[0].message,
        "This breaks what you said, \"by \"25\" May\": \"Title p2.t2\" ends Mon 1 Jun."
    );
    assert_eq!(found[0].node_ids, ["p2.t2".into()]);
    assert_eq!(validation_outcome(Stage::Schedule, &found), ValidationOutcome::InvalidRetryable);
    plan.surroundings.facts[0].status = FactStatus::Withdrawn;
    assert_eq!(validate_schedule(&plan), []);
}

#[test]
fn dates_of_the_plan_are_kept() {
    expect(FactReading::Deadline { on: DAY }, None);
    expect(FactReading::Deadline { on: EARLIER }, Some("\"Title p2.t2\" ends Mon 1 Jun."));
    expect(FactReading::Start { on: DAY }, None);
    expect(FactReading::Start { on: LATER }, Some("\"Title p1.t1\" starts Mon 1 Jun."));
    let mut short = scheduled();
    let left = UnplacedWork { plan_node_id: "p2.t2".into(), minutes: 30 };
    short.schedule.as_mut().unwrap().unplaced.push(left);
    assert_eq!(
        breaks_in(&short, FactReading::Deadline { on: LATER }).as_deref(),
        Some("30 min of \"Title p2.t2\" fits nowhere before then.")
    );
}

#[test]
fn the_day_of_the_thing_itself_is_the_date_that_a_task_has() {
    let on = |on| FactReading::FixedDate { subject: FactSubject::Plan, on };
    // Without a day of its own the plan has to be done by then.
    expect(on(LATER), None);
    expect(on(EARLIER), Some("\"Title p2.t2\" ends Mon 1 Jun."));
    let mut party = scheduled();
    road_node(&mut party, "p2.t1").fixed_start = Some(PlanDate::on_day(DAY));
    assert_eq!(breaks_in(&party, on(DAY)), None);
    assert_eq!(breaks_in(&party, on(LATER)).as_deref(), Some("\"Title p2.t1\" is on Mon 1 Jun."));
    let window = |from, to| FactReading::Window { subject: FactSubject::Plan, from, to };
    assert_eq!(breaks_in(&party, window(EARLIER, LATER)), None);
    assert!(breaks_in(&party, window(LATER, date(2026, 6, 30))).is_some());
}

#[test]
fn dates_order_and_length_of_tasks_are_kept() {
    let on = |subject, on| FactReading::FixedDate { subject, on };
    expect(on(words("title p1.t1"), DAY), None);
    let wrong = Some("\"Title p1.t1\" is planned for Mon 1 Jun.");
    expect(on(words("Title p1.t1"), LATER), wrong);
    expect(on(FactSubject::Node("p1.t1".into()), LATER), wrong);
    expect(on(words("the caterer"), LATER), None);
    let node = |id: &str| FactSubject::Node(id.into());
    let order =
        |first: &str, then: &str| FactReading::Order { first: node(first), then: node(then) };
    expect(order("p1", "p2.t1"), None);
    expect(
        order("p2", "p1.t1"),
        Some("\"Title p1.t1\" starts Mon 1 Jun, before \"Title p2\" is done."),
    );
    let takes = |subject, length| FactReading::Duration { subject, length };
    expect(takes(node("p1.t1"), FactLength::Minutes(60)), None);
    expect(takes(node("p1"), FactLength::Minutes(60)), Some("\"Title p1\" takes 2 h."));
    expect(takes(FactSubject::Plan, FactLength::Minutes(120)), Some("the plan takes 4 h."));
    expect(takes(FactSubject::Plan, FactLength::Days(1)), None);
    let mut long = scheduled();
    long.schedule.as_mut().unwrap().blocks.push(block("p2.t2", "2026-06-09T09:00:00+02:00", 60));
    assert_eq!(
        breaks_in(&long, takes(FactSubject::Plan, FactLength::Days(7))).as_deref(),
        Some("\"Title p2.t2\" ends Tue 9 Jun.")
    );
}

#[test]
fn absences_hours_and_times_of_the_week_are_kept() {
    let away = |person: Option<&str>, from, to| FactReading::Absence {
        person: person.map(str::to_owned),
        from,
        to,
    };
    expect(away(None, date(2026, 6, 2), LATER), None);
    expect(away(None, EARLIER, DAY), Some("\"Title p1.t1\" is planned for Mon 1 Jun."));
    expect(away(Some("Anna"), EARLIER, DAY), None);
    let mut shared = scheduled();
    road_node(&mut shared, "p1.t2").owner = "Anna".to_owned();
    assert_eq!(
        breaks_in(&shared, away(Some("anna"), EARLIER, DAY)).as_deref(),
        Some("\"Title p1.t2\" is planned for Mon 1 Jun.")
    );
    let capacity = |weekly_minutes| FactReading::Capacity { person: None, weekly_minutes };
    expect(capacity(240), None);
    expect(capacity(180), Some("the week of Mon 1 Jun has 4 h, \"Title p2.t2\" included."));
    assert_eq!(breaks_in(&shared, capacity(180)), None);
    let off = |person: Option<&str>| FactReading::WeekdaysOff {
        person: person.map(str::to_owned),
        days: vec![Weekday::Mon],
    };
    expect(off(None), Some("\"Title p1.t1\" is planned for Mon 1 Jun."));
    expect(off(Some("Anna")), None);
    assert_eq!(
        breaks_in(&shared, off(Some("anna"))).as_deref(),
        Some("\"Title p1.t2\" is planned for Mon 1 Jun.")
    );
    let daily = |minutes| FactReading::DailyCapacity { minutes };
    expect(daily(240), None);
    expect(daily(180), Some("Mon 1 Jun has 4 h, \"Title p2.t2\" included."));
    let only_for = |person: Option<&str>, days: &[Weekday], hours: Option<(Time, Time)>| {
        FactReading::WorkingTimes {
            person: person.map(str::to_owned),
            times: vec![FactWorkingTime {
                days: days.to_vec(),
                hours: hours.map(|(from, to)| LocalTimeInterval::new(from, to)),
            }],
        }
    };
    let only = |days: &[Weekday], hours: Option<(Time, Time)>| only_for(None, days, hours);
    expect(only(&[Weekday::Mon], None), None);
    let early = Some((time(6, 0, 0, 0), time(8, 0, 0, 0)));
    expect(only_for(Some("Anna"), &[], early), None);
    assert_eq!(
        breaks_in(&shared, only_for(Some("anna"), &[], early)).as_deref(),
        Some("\"Title p1.t2\" is planned for Mon 1 Jun 10:00.")
    );
    expect(only(&[], Some((time(9, 0, 0, 0), time(13, 0, 0, 0)))), None);
    expect(
        only(&[], Some((time(9, 0, 0, 0), time(12, 0, 0, 0)))),
        Some("\"Title p2.t2\" is planned for Mon 1 Jun 12:00."),
    );
    expect(
        only(&[Weekday::Sat, Weekday::Sun], None),
        Some("\"Title p1.t1\" is planned for Mon 1 Jun 09:00."),
    );
}

#[test]
fn people_money_numbers_and_places_are_kept_where_the_plan_states_them() {
    let does = |role: Option<&str>| FactReading::Person {
        name: "Anna".to_owned(),
        role: role.map(str::to_owned),
    };
    expect(does(None), None);
    expect(does(Some("title p1.t1")), Some("\"Title p1.t1\" is for you."));
    let mut plan = scheduled();
    road_node(&mut plan, "p1.t1").owner = "Anna".to_owned();
    road_node(&mut plan, "p1.t1").cost = Some("800 EUR".parse().unwrap());
    road_node(&mut plan, "p1.t2").cost = Some("300.50 EUR".parse().unwrap());
    road_node(&mut plan, "p2.t1").title = "Write to 100 guests".to_owned();
    let place = Assumption {
        key: "place".to_owned(),
        value: "Porto".to_owned(),
        origin: AssumptionOrigin::User,
        question: None,
    };
    plan.outline.plan_context.assumptions.push(place);
    assert_eq!(breaks_in(&plan, does(Some("title p1.t1"))), None);
    let budget = |amount, currency: Option<&str>| FactReading::Budget {
        subject: None,
        amount,
        currency: currency.map(str::to_owned),
    };
    assert_eq!(breaks_in(&plan, budget(1101, None)), None);
    assert_eq!(breaks_in(&plan, budget(1000, Some("USD"))), None);
    assert_eq!(
        breaks_in(&plan, budget(1000, Some("EUR"))).as_deref(),
        Some("the tasks cost 1,101 EUR, \"Title p1.t2\" included.")
    );
    let part = |id: &str, amount| FactReading::Budget {
        subject: Some(FactSubject::Node(id.into())),
        amount,
        currency: Some("EUR".to_owned()),
    };
    assert_eq!(breaks_in(&plan, part("p2.t1", 1)), None, "a part that costs nothing");
    assert_eq!(breaks_in(&plan, part("p1", 1101)), None);
    assert!(breaks_in(&plan, part("p1", 1000)).is_some(), "the part costs 1,101 EUR");
    let guests = |amount| FactReading::Count { noun: "guest".to_owned(), amount };
    assert_eq!(breaks_in(&plan, guests(200)), None);
    assert_eq!(
        breaks_in(&plan, guests(80)).as_deref(),
        Some("\"Write to 100 guests\" is for 100.")
    );
    let place = |name: &str| FactReading::Place { name: name.to_owned() };
    assert_eq!(breaks_in(&plan, place("porto")), None);
    assert_eq!(breaks_in(&plan, place("Lisbon")).as_deref(), Some("the plan is made for Porto."));
}
