//! Requests in ordinary words on a plan that the planner made: a gathering with people, place, budget and month.

use super::phrasings::{note_request, read_on};
use super::planned::planned;

const GOAL: &str = "organize a team offsite in Lisbon in March for 12 people, budget 9k";

fn read(text: &str) -> String {
    note_request(&read_on(&planned(GOAL), text))
}

#[test]
fn facts_of_the_goal_are_said_otherwise() {
    let goal = |people: &str, place: &str, when: &str, budget: &str| {
        format!("goal: organize a team offsite in {place} {when} {people}, budget {budget}")
    };
    let usual = |people: &str| goal(people, "Lisbon", "in March", "9k");
    for text in
        ["make it 15 people instead of 12", "we are 15 people now", "there will be 15 people"]
    {
        assert_eq!(read(text), usual("for 15 people"), "{text}");
    }
    assert_eq!(
        read("raise the budget to 12k"),
        goal("for 12 people", "Lisbon", "in March", "12,000")
    );
    for text in ["it should be in Porto, not Lisbon", "move it to Porto", "the offsite is in Porto"]
    {
        assert_eq!(read(text), goal("for 12 people", "Porto", "in March", "9k"), "{text}");
    }
    let late = goal("for 12 people", "Lisbon", "in the last week of March", "9k");
    assert_eq!(read("the offsite should be in the last week of March"), late);
    let fixed = goal("for 12 people", "Lisbon", "on 2027-03-23", "9k");
    assert_eq!(read("move the offsite to March 23"), fixed);
    for text in ["the offsite takes 3 days", "make it a 3-day offsite", "it takes 3 days"] {
        assert_eq!(read(text), format!("goal: {GOAL}, for 3 days"), "{text}");
    }
}

#[test]
fn what_a_goal_does_not_count_stays_open() {
    for text in [
        "make it 15 chairs",
        "we are in Porto",
        "make it 3",
        "do it in English",
        "budget 2000 for the venue",
    ] {
        assert!(!read(text).starts_with("goal:"), "{text}: {}", read(text));
    }
}

#[test]
fn tasks_are_assigned_and_dated_in_ordinary_words() {
    assert_eq!(read("Anna books the travel"), "assign p2.t3 Anna");
    assert_eq!(read("Anna Meyer will book the travel"), "assign p2.t3 Anna Meyer");
    assert_eq!(
        read("move the dinner booking to January"),
        "date p3.t3 not_before 2027-01-01 + date p3.t3 due 2027-01-31"
    );
    assert_eq!(read("have the agenda ready by Christmas"), "date p3.t1 due 2026-12-25");
    for text in [
        "I booked the travel",
        "Who books the travel",
        "Friday book the travel",
        "First book the travel",
    ] {
        assert!(!read(text).starts_with("assign"), "{text}: {}", read(text));
    }
    assert_eq!(read("the agenda is due by the end of January"), "date p3.t1 due 2027-01-31");
    assert_eq!(read("Tom and I share the work"), "Tom works on it too");
    assert_eq!(read("I can only work on it on Mondays"), "only Mondays");
    assert_eq!(
        read("I'm on vacation the first two weeks of January"),
        "no work Fri 1 – Thu 14 Jan 2027"
    );
    assert!(read("more time for the agenda").starts_with("time p3.t1 "));
    assert!(read("the visa question must be done first").contains("p1.t3"));
}

#[test]
fn a_request_that_is_read_is_not_lost_in_one_that_is_not() {
    assert_eq!(read("drop the survey, and make it more fun"), "remove p5.t1 + open");
}

#[test]
fn something_to_do_beside_a_task_is_a_new_task() {
    let read = read("call Anna before booking the travel");
    assert!(read.contains("Call Anna"), "{read}");
}
