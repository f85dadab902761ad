//! Facts in a conversation: everything said is kept, the plan respects it or says what it breaks, and facts can be
//! corrected and withdrawn.

use super::*;
use planwright_model::{Fact, FactReading, FactSource};
use planwright_plan::confidence::ConfidenceLevel;

const TODAY: jiff::civil::Date = date(2026, 6, 7);

/// The facts that apply, as number, words and reading.
fn facts(talk: &Talk) -> Vec<String> {
    let said = |fact: &Fact| {
        let reading = fact.reading.as_ref().map(|reading| reading.describe(TODAY));
        let reading = reading.map(|reading| format!(" = {reading}")).unwrap_or_default();
        format!("{} {}: {}{reading}", fact.id, fact.source.describe(), fact.text)
    };
    talk.state.planning.facts.active().map(said).collect()
}

fn find(talk: &Talk, text: &str) -> u32 {
    let mut facts = talk.state.planning.facts.active();
    facts.find(|fact| fact.text.contains(text) && fact.reading.is_some()).unwrap().id
}

fn broken(talk: &Talk) -> Vec<String> {
    talk.state.planning.broken_facts().map(|found| found.message.clone()).collect()
}

fn request_changes(talk: &mut Talk, text: &str) {
    talk.answer(Answer { text: Some(text.to_owned()), ..A::RequestChanges.into() });
}

fn last_day(talk: &Talk) -> jiff::civil::Date {
    let schedule = talk.state.planning.schedule.as_deref().unwrap();
    schedule.blocks.iter().map(|block| block.end.local_date()).max().unwrap()
}

#[test]
fn the_goal_each_answer_and_each_request_are_kept_with_what_was_read() {
    let policy = PolicyOverride { probing_depth: Some(2), ..once() };
    let mut talk = Talk::about("launch a newsletter in 6 weeks, we have a designer", policy);
    assert!(matches!(talk.open().kind, RequestKind::Questions { .. }));
    talk.answer(Answer { text: Some("10 hours".to_owned()), ..A::Reply.into() });
    while matches!(talk.open().kind, RequestKind::Questions { .. }) {
        talk.answer(A::SkipQuestions);
    }
    request_changes(&mut talk, "no work on 2026-06-19");
    let task = talk.state.planning.roadmap.as_deref().unwrap().nodes.last().unwrap().id.clone();
    talk.command(&Command::Comment { node: task, text: "ask Anna first".to_owned() });
    assert_eq!(
        facts(&talk),
        [
            "1 goal: launch a newsletter in 6 weeks, we have a designer",
            "2 goal: in 6 weeks = at most 6 weeks",
            "3 goal: we have a designer",
            "4 answer: 10 hours = at most 10 h a week",
            "5 change request: no work on 2026-06-19 = no work Fri 19 Jun",
            "6 comment: ask Anna first",
        ]
    );
    assert_eq!(broken(&talk), Vec::<String>::new());
}

#[test]
fn what_is_said_later_replaces_what_was_said_before_and_undo_restores_it() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    request_changes(&mut talk, "make it 8 weeks");
    assert_eq!(
        facts(&talk)[1..],
        ["3 change request: make it 8 weeks = at most 8 weeks".to_owned()],
        "{:?}",
        facts(&talk)
    );
    talk.command(&Command::Undo);
    assert_eq!(facts(&talk)[1..], ["2 goal: in 6 weeks = at most 6 weeks".to_owned()]);
}

#[test]
fn a_plan_that_breaks_a_fact_says_so_and_no_flag_approves_it() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    assert_eq!(broken(&talk), Vec::<String>::new());
    request_changes(&mut talk, "only on weekends");
    while talk.place().state == PlanState::NeedsSchedEscalation {
        talk.answer(A::AcceptLate);
    }
    assert_eq!(talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    let late = broken(&talk);
    if late.is_empty() {
        // The planner found room; a day that cannot be kept does not.
        let deadline = talk.state.planning.schedule.as_deref().unwrap().horizon_start.local_date();
        request_changes(&mut talk, &format!("finish by {}", deadline.tomorrow().unwrap()));
        while talk.place().state == PlanState::NeedsSchedEscalation {
            talk.answer(A::AcceptLate);
        }
    }
    let late = broken(&talk);
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(late[0].starts_with("This breaks what you said, \""), "{late:?}");
    let sentence = talk.state.planning.confidence_sentence().unwrap();
    assert_eq!(sentence.level, ConfidenceLevel::Unsure, "{sentence}");
    let id = talk.open().id;
    let by_flag = Command::Answer { id, answer: A::ApproveAndStop.into(), by: Actor::Flag };
    assert_eq!(talk.command(&by_flag), ["approval.refused"]);
    talk.answer(A::ApproveAndStop);
    assert_eq!(talk.place().state, PlanState::Complete, "the person decides");
}

#[test]
fn a_corrected_limit_moves_the_dates_and_leaves_the_tasks_as_they_are() {
    let mut talk = Talk::about("launch a newsletter by 2026-07-31, 10 hours a week", once());
    let rename = PlanEdit::Rename { node: "p1.t1".into(), title: "Say who it is for".into() };
    talk.command(&Command::Edit { edits: vec![rename] });
    let id = find(&talk, "by 2026-07-31");
    let text = "by 2026-08-31".to_owned();
    let kinds = talk.command(&Command::CorrectFact { id, text, by: Actor::Person });
    assert!(kinds.contains(&"fact.corrected".to_owned()), "{kinds:?}");
    let planning = &talk.state.planning;
    assert_eq!(planning.goal, "launch a newsletter by 2026-08-31, 10 hours a week");
    let deadline = planning.context.as_deref().unwrap().constraints.deadline.unwrap();
    assert_eq!(deadline.local_date(), date(2026, 8, 31));
    let kept = planning.roadmap.as_deref().unwrap().find_node(&"p1.t1".into()).unwrap();
    assert_eq!(kept.title, "Say who it is for");
    assert_eq!(broken(&talk), Vec::<String>::new());
    assert_eq!(talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
}

#[test]
fn a_withdrawn_fact_no_longer_shapes_the_plan() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks, weekends only", once());
    while talk.place().state == PlanState::NeedsSchedEscalation {
        talk.answer(A::AcceptLate);
    }
    let id = find(&talk, "weekends only");
    talk.command(&Command::WithdrawFact { id, by: Actor::Person });
    assert_eq!(talk.state.planning.goal, "launch a newsletter in 6 weeks");
    let schedule = talk.state.planning.schedule.as_deref().unwrap();
    let weekday = |block: &planwright_model::ScheduledBlock| {
        block.start.local_date().weekday().to_monday_zero_offset() < 5
    };
    assert!(schedule.blocks.iter().all(weekday), "the usual hours apply again");
    assert!(last_day(&talk) <= date(2026, 7, 20));
    let whole = Command::WithdrawFact { id: 1, by: Actor::Person };
    assert_eq!(talk.command(&whole), ["approval.refused"], "the goal itself stays");
    let again = Command::WithdrawFact { id, by: Actor::Person };
    assert_eq!(talk.command(&again), ["approval.refused"]);
}

#[test]
fn the_goal_in_other_words_is_read_again() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    let text = "launch a podcast by 2026-09-30".to_owned();
    talk.command(&Command::CorrectFact { id: 1, text, by: Actor::Person });
    assert_eq!(
        facts(&talk),
        ["1 goal: launch a podcast by 2026-09-30", "3 goal: by 2026-09-30 = until Wed 30 Sep",]
    );
    let title = &talk.state.planning.outline.as_deref().unwrap().nodes[0].title;
    assert!(title.contains("podcast"), "{title}");
}

#[test]
fn an_answer_that_is_corrected_is_applied_again() {
    let policy = PolicyOverride { probing_depth: Some(2), ..once() };
    let mut talk = Talk::about("launch a newsletter in 6 weeks", policy);
    talk.answer(Answer { text: Some("4".to_owned()), ..A::Reply.into() });
    while matches!(talk.open().kind, RequestKind::Questions { .. }) {
        talk.answer(A::SkipQuestions);
    }
    while talk.place().state == PlanState::NeedsSchedEscalation {
        talk.answer(A::AcceptLate);
    }
    let id = find(&talk, "4");
    let source = &talk.state.planning.facts.find(id).unwrap().source;
    assert_eq!(*source, FactSource::Answer("weekly_minutes".to_owned()));
    let text = "12 hours".to_owned();
    talk.command(&Command::CorrectFact { id, text, by: Actor::Person });
    let context = talk.state.planning.context.as_deref().unwrap();
    assert_eq!(context.constraints.weekly_minutes, Some(720));
    let reading = talk.state.planning.facts.find(id).unwrap().reading.clone();
    assert_eq!(reading, Some(FactReading::Capacity { person: None, weekly_minutes: 720 }));
}

#[test]
fn a_date_that_does_not_exist_or_has_passed_is_said_and_asked_for() {
    let policy = || PolicyOverride { probing_depth: Some(2), ..once() };
    for (goal, why) in [
        (
            "launch a newsletter by February 30",
            "\"February 30\" is not a date: February 2027 has 28 days",
        ),
        (
            "launch a newsletter by 2020-01-01",
            "\"by 2020-01-01\" is Wed 1 Jan 2020, which has passed",
        ),
    ] {
        let talk = Talk::about(goal, policy());
        let RequestKind::Questions { questions } = &talk.open().kind else {
            panic!("{goal}: {:?}", talk.open().kind)
        };
        assert_eq!(questions[0].text, format!("By when should it be done? {why}."));
    }
}

#[test]
fn a_goal_without_words_or_of_too_many_is_asked_for_and_not_planned() {
    for goal in ["???", "!!! …", &"write ".repeat(400)] {
        let talk = Talk::about(goal, once());
        assert!(matches!(talk.open().kind, RequestKind::Goal), "{goal}");
        assert!(talk.state.planning.outline.is_none());
    }
}
