//! What a person meets while planning and while living with a plan: ideas, answers that cannot be read, discarding,
//! approving with a start of their own, another kind of plan, and a plan that is late.

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::*;
use planwright_drafting::person_profile::PersonProfile;
use planwright_model::event::TaskEvent;
use planwright_model::requests::offered_kinds;
use planwright_model::{AssumptionOrigin, ScheduledBlock};
use planwright_state::SessionStatus;

fn strict() -> PolicyOverride {
    with(ApprovalPolicy::StrictEveryStep, Autonomy::Medium)
}

fn say_all(talk: &mut Talk, events: Vec<Event>) {
    for event in events {
        talk.say(event);
    }
}

fn first_day(talk: &Talk) -> jiff::civil::Date {
    let schedule = talk.state.planning.schedule.as_ref().unwrap();
    schedule.blocks.iter().map(|block| block.start.local_date()).min().unwrap()
}

#[test]
fn ideas_join_the_open_question_and_every_answer_still_works() {
    let mut talk = Talk::about("write a book about sourdough", PolicyOverride::default());
    let question = talk.open().clone();
    assert!(matches!(question.kind, RequestKind::Questions { .. }), "{question:?}");
    assert_eq!(talk.answer(A::Ideas), Vec::<String>::new(), "nothing is answered by it");
    let ideas = vec!["Show a rough version to three people: the smallest step.".to_owned()];
    let events = planning::amend_with_ideas(&talk.state, &ideas);
    say_all(&mut talk, events);
    assert_eq!(talk.open().id, question.id);
    assert_eq!(talk.open().ideas.len(), 1);
    talk.answer(A::TakeIdea(1));
    assert!(talk.open().ideas[0].taken);
    assert_eq!(talk.open().available_choice(A::TakeIdea(1)), None);
    assert_eq!(talk.open().id, question.id, "the question is still open");
    while matches!(talk.open().kind, RequestKind::Questions { .. }) {
        talk.answer(A::SkipQuestions);
    }
    let titles: Vec<String> = {
        let outline = talk.state.planning.outline.as_ref().unwrap();
        outline.nodes.iter().map(|node| node.title.clone()).collect()
    };
    assert!(titles.contains(&"Show a rough version to three people".to_owned()), "{titles:?}");
}

#[test]
fn an_answer_that_cannot_be_read_keeps_the_question_with_the_reason() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", PolicyOverride::default());
    let id = talk.open().id;
    let kinds = talk.answer(Answer::with_text(A::Reply, "loads of it"));
    assert_eq!(kinds, ["approval.amended"]);
    assert_eq!(talk.open().id, id);
    let unread = talk.open().unread.clone().unwrap();
    assert_eq!(unread.text, "loads of it");
    assert!(unread.why.starts_with("Not a number of hours. Try \"6 h\""), "{}", unread.why);
    talk.answer(Answer::with_text(A::Reply, "evenings, but never on Fridays"));
    assert_ne!(talk.state.requests.oldest_open().map(|open| open.request.id), Some(id));
    let context = talk.state.planning.context.clone().unwrap();
    assert_eq!(context.calendar.working.len(), 4, "{:?}", context.calendar.working);
}

#[test]
fn what_was_answered_is_never_listed_as_assumed() {
    let mut talk = Talk::about("learn Greek", PolicyOverride::default());
    let mut answered = Vec::new();
    while let RequestKind::Questions { questions } = &talk.open().kind {
        answered.push(questions[0].key.clone());
        let answer = questions[0]
            .choices
            .first()
            .map_or("8 weeks".to_owned(), |choice| choice.answer.clone());
        talk.answer(Answer::with_text(A::Reply, answer));
    }
    assert!(!answered.is_empty());
    let context = talk.state.planning.context.clone().unwrap();
    for key in &answered {
        let kept = context.find_assumption(key).unwrap();
        assert_eq!(kept.origin, AssumptionOrigin::User, "{key}");
    }
    let assumed = talk.open().details.iter().filter(|detail| detail.label == "assumed");
    for detail in assumed {
        let key = detail.text.split(':').next().unwrap_or_default();
        assert!(!answered.iter().any(|known| known == key), "{detail:?}");
    }
}

#[test]
fn a_discarded_plan_is_restored_with_its_question() {
    for target in ["final", "outline"] {
        let policy = if target == "final" {
            once()
        } else {
            with(ApprovalPolicy::MilestoneApprovals, Autonomy::Low)
        };
        let mut talk = Talk::about("launch a newsletter in 6 weeks", policy);
        let (place, kind) = (talk.place(), talk.open().kind.clone());
        talk.answer(A::Abandon);
        assert_eq!(talk.state.status(), SessionStatus::Abandoned, "{target}");
        assert!(talk.state.requests.open.is_empty());
        talk.command(&Command::Undo);
        assert_eq!(talk.place(), place, "{target}");
        assert_eq!(std::mem::discriminant(&talk.open().kind), std::mem::discriminant(&kind));
        assert_eq!(talk.state.totals.anomalies, 0, "{target}");
        let again = talk.command(&Command::RestorePlan { by: Actor::Person });
        assert_eq!(again, ["approval.refused"], "it is not discarded any more");
    }
}

#[test]
fn a_plan_may_start_today_later_or_at_a_task() {
    let today = date(2026, 6, 8);
    let at = "2026-06-08T09:07:00Z";
    let planned = || {
        let mut talk = Talk::idle();
        talk.now = at.parse().unwrap();
        talk.begin("launch a newsletter in 6 weeks", once(), Vec::new());
        assert!(first_day(&talk) > today);
        talk
    };
    let mut talk = planned();
    talk.answer(A::ApproveFromToday);
    assert_eq!(first_day(&talk), today);
    let schedule = talk.state.planning.schedule.clone().unwrap();
    assert!(schedule.blocks.iter().all(|block| block.start.at >= talk.now), "never in the past");
    assert!(talk.state.is_runnable());

    let mut talk = planned();
    talk.answer(A::ApproveAndStop);
    assert_eq!(talk.state.status(), SessionStatus::Held);

    let mut talk = planned();
    let refused = talk.answer(A::ApproveFromTask);
    assert_eq!(refused, ["approval.refused"], "it has to name the task");
    let plan = talk.state.plan.current.clone().unwrap();
    let third = plan.plan.tasks[2].id.clone();
    talk.answer(Answer { nodes: vec![third.clone()], ..Answer::from(A::ApproveFromTask) });
    assert!(talk.state.is_runnable());
    let skipped = talk.state.tasks.iter().filter(|(_, row)| row.status.is_met()).count();
    assert_eq!(skipped, 2, "what comes before it is skipped");
    assert!(!talk.state.tasks.get(&third).unwrap().status.is_settled());
}

#[test]
fn a_start_today_is_offered_only_where_the_first_task_can_begin_today() {
    let offered = |goal: &str, at: &str| {
        let mut talk = Talk::idle();
        talk.now = at.parse().unwrap();
        talk.begin(goal, once(), Vec::new());
        talk.open().available_choice(A::ApproveFromToday).is_some()
    };
    let goal = "launch a newsletter in 6 weeks";
    assert!(offered(goal, "2026-06-08T09:07:00Z"));
    assert!(!offered(goal, "2026-06-08T21:50:00Z"), "no hours are left");
    let far = "plan a birthday party on 2026-12-12 for 35 guests";
    assert!(offered(far, "2026-06-08T09:07:00Z"), "the first phase of a far day begins now");
}

#[test]
fn a_day_that_is_asked_for_moves_what_the_planner_would_begin_later() {
    let mut talk = Talk::idle();
    talk.now = "2026-06-08T09:07:00Z".parse().unwrap();
    talk.begin("plan a birthday party on 2026-09-12 for 35 guests", once(), Vec::new());
    let chosen = |talk: &Talk| {
        let schedule = talk.state.planning.schedule.clone().unwrap();
        let named = schedule.blocks.iter().filter(|block| block.title.contains("Choose food"));
        named.map(|block| block.end.local_date()).max().unwrap()
    };
    let due = date(2026, 6, 17);
    assert!(chosen(&talk) > due, "{}", chosen(&talk));
    talk.answer(Answer::with_text(
        A::RequestChanges,
        "choose food, drinks and the cake by 17 June".to_owned(),
    ));
    assert!(matches!(talk.open().kind, RequestKind::FinalPlan { .. }), "{:?}", talk.open().kind);
    assert!(chosen(&talk) <= due, "{}", chosen(&talk));
}

#[test]
fn nothing_limits_how_often_the_built_in_planner_revises() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    for hours in 1..9 {
        let text = format!("p1.t1 takes {} minutes", 30 + 15 * hours);
        talk.answer(Answer::with_text(A::RequestChanges, text));
        assert!(
            matches!(talk.open().kind, RequestKind::FinalPlan { .. }),
            "{hours}: {:?}",
            talk.open().kind
        );
    }
}

#[test]
fn the_kind_of_plan_is_chosen_from_the_list_and_in_words() {
    let goal = "master thesis on graph databases";
    let mut talk = Talk::about(goal, strict());
    let asked = talk.open().clone();
    assert!(matches!(asked.kind, RequestKind::Draft { target: ApprovalTarget::Pattern, .. }));
    talk.answer(Answer::with_text(A::RequestChanges, "it is a writing project, not a course"));
    let pattern = talk.state.planning.pattern.clone().unwrap().pattern;
    assert_eq!(pattern.kind_name(), Some("thesis"));
    assert!(matches!(talk.open().kind, RequestKind::Draft { target: ApprovalTarget::Outline, .. }));

    let mut talk = Talk::about(goal, strict());
    let kinds = offered_kinds(talk.state.planning.pattern.as_ref());
    let habit = kinds.iter().position(|kind| kind.pattern.kind_noun() == "habit").unwrap();
    talk.answer(A::PickKind(u8::try_from(habit + 1).unwrap()));
    let pattern = talk.state.planning.pattern.clone().unwrap().pattern;
    assert_eq!(pattern.kind_name(), Some("daily_habit"));

    let mut talk = Talk::about(goal, strict());
    let kinds = talk.answer(Answer::with_text(A::RequestChanges, "something nicer"));
    assert_eq!(kinds, ["approval.amended"]);
    assert!(talk.open().unread.as_ref().unwrap().why.starts_with("No kind of plan is named"));
}

#[test]
fn turning_a_kind_down_shows_another_one() {
    let mut talk = Talk::about("master thesis on graph databases", strict());
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..4 {
        let pattern = talk.state.planning.pattern.clone().unwrap().pattern;
        let name = pattern.exclusion_key();
        assert!(seen.insert(name.clone()), "{name:?} is shown twice");
        talk.answer(A::Reject);
        assert!(matches!(
            talk.open().kind,
            RequestKind::Draft { target: ApprovalTarget::Pattern, .. }
        ));
    }
}

#[test]
fn changes_to_a_late_plan_leave_done_tasks_alone() {
    let mut talk =
        Talk::about("write a blog post about sourdough, 6 hours a week, 2 weeks", once());
    talk.answer(A::ApproveAndRun);
    let blocks = talk.state.planning.schedule.clone().unwrap().blocks.clone();
    let first = blocks[0].clone();
    talk.now = first.start.at;
    talk.command(&Command::MarkTask {
        task: first.plan_node_id.clone(),
        occurrence: None,
        done: true,
        note: None,
        by: Actor::Person,
    });
    let second = blocks.iter().find(|block| block.plan_node_id != first.plan_node_id).unwrap();
    let to = first.start.at + SignedDuration::from_hours(25);
    talk.command(&Command::MoveBlock { block: second.id.clone(), to });
    // A week later nothing has happened.
    talk.now = first.start.at + SignedDuration::from_hours(7 * 24 + 1);
    talk.command(&Command::RequestChanges {
        text: "start today".into(),
        nodes: Vec::new(),
        stage: None,
    });
    let open = talk.open().clone();
    assert!(
        matches!(open.kind, RequestKind::FinalPlan { .. }),
        "{}: {:?}",
        open.question,
        open.why
    );
    let schedule = talk.state.planning.schedule.clone().unwrap();
    let again = |block: &&ScheduledBlock| {
        block.plan_node_id == first.plan_node_id && block.end.at > talk.now
    };
    assert_eq!(schedule.blocks.iter().find(again), None, "a done task is booked again");
    let past = |block: &&ScheduledBlock| {
        block.plan_node_id != first.plan_node_id && block.start.at < talk.now
    };
    assert_eq!(schedule.blocks.iter().find(past), None, "open work is booked in the past");
    assert!(talk.state.open_work(talk.now, &TimeZone::UTC).late.is_empty());
}

#[test]
fn a_plan_of_a_person_is_active_and_never_stopped() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    talk.answer(A::ApproveAndRun);
    assert_eq!(talk.state.status(), SessionStatus::Yours);
    assert_eq!(talk.state.status().label(), "active");
    talk.say(planwright_model::event::RunEvent::Interrupted { why: "you quit".into() }.into());
    assert_eq!(talk.state.status(), SessionStatus::Yours);
    assert_eq!(SessionStatus::Running.without_process().label(), "stopped");
    let mut kept = Talk::about("launch a newsletter in 6 weeks", once());
    kept.answer(A::ApproveAndStop);
    assert_eq!(kept.state.status().label(), "not started");
    let first = kept.state.plan.current.clone().unwrap().plan.tasks[0].id.clone();
    kept.say(TaskEvent::HandedOver { task: first.clone() }.into());
    kept.command(&Command::MarkTask {
        task: first,
        occurrence: None,
        done: true,
        note: None,
        by: Actor::Person,
    });
    assert_eq!(kept.state.status(), SessionStatus::Yours, "work has begun without a run");
}

#[test]
fn the_other_controls_do_not_change_how_often_a_person_is_asked() {
    let asked = |policy: PolicyOverride| {
        let mut talk = Talk::about(
            "launch a newsletter in 6 weeks",
            PolicyOverride { probing_depth: Some(0), ..policy },
        );
        let mut count = 0;
        while talk.state.requests.oldest_open().is_some() && count < 9 {
            count += 1;
            let done = matches!(talk.open().kind, RequestKind::FinalPlan { .. });
            talk.answer(if done { A::ApproveAndStop } else { A::Approve });
        }
        count
    };
    let usual = asked(PolicyOverride::default());
    let medium = PolicyOverride { autonomy: Some(Autonomy::Medium), ..PolicyOverride::default() };
    assert_eq!(asked(medium), usual);
}

/// Monday, 8 June 2026, 10:07 in Berlin.
fn monday_morning() -> Talk {
    let mut talk = Talk::idle();
    talk.now = "2026-06-08T08:07:00Z".parse().unwrap();
    talk
}

fn local_starts(talk: &Talk) -> Vec<String> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let schedule = talk.state.planning.schedule.as_ref().unwrap();
    let text = |block: &ScheduledBlock| {
        zone.to_datetime(block.start.at).strftime("%a %m-%d %H:%M").to_string()
    };
    schedule.blocks.iter().map(text).collect()
}

#[test]
fn what_is_due_soon_starts_today_and_the_rest_tomorrow() {
    let today = date(2026, 6, 8);
    let mut talk = monday_morning();
    talk.begin("fix the flaky integration tests by Friday", once(), Vec::new());
    assert_eq!(first_day(&talk), today, "{:?}", local_starts(&talk));
    let now = talk.now;
    let schedule = talk.state.planning.schedule.clone().unwrap();
    assert!(schedule.blocks.iter().all(|block| block.start.at > now), "with time to approve it");
    let mut talk = monday_morning();
    talk.begin("launch a newsletter in 6 weeks", once(), Vec::new());
    assert_eq!(first_day(&talk), today.tomorrow().unwrap());
    let mut talk = monday_morning();
    talk.begin("launch a newsletter in 6 weeks, starting today", once(), Vec::new());
    assert_eq!(first_day(&talk), today);
}

#[test]
fn a_plan_keeps_to_the_hours_and_days_off_of_the_person() {
    let mut talk = monday_morning();
    talk.planner.profile = PersonProfile {
        hours: planwright_drafting::own_hours::parse_own_hours("Tue and Thu evening").ok(),
        days_off: planwright_drafting::own_days_off::OwnDaysOff::parse("2026-06-11").unwrap(),
        ..PersonProfile::default()
    };
    talk.begin("launch a newsletter in 6 weeks", once(), Vec::new());
    let starts = local_starts(&talk);
    let own = |start: &String| start.starts_with("Tue") || start.starts_with("Thu");
    assert!(starts.iter().all(own), "{starts:?}");
    assert!(!starts.iter().any(|start| start.contains("06-11")), "{starts:?}");
    let context = talk.state.planning.context.clone().unwrap();
    let origin = |key: &str| context.find_assumption(key).map(|found| found.origin);
    assert_eq!(origin("working"), Some(AssumptionOrigin::Memory));
    assert_eq!(origin("weekly_minutes"), Some(AssumptionOrigin::Memory), "all the hours there are");
}

/// Two other plans of twenty minutes each, one after the other from 09:00 on every Tuesday.
fn busy_tuesdays() -> Vec<planwright_schedule::OtherBlock> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let tuesday = date(2026, 6, 9);
    let others = (0..12).flat_map(|week| {
        let day = tuesday.saturating_add(jiff::Span::new().days(7 * week));
        let at = |hour: i8, minute: i8| {
            let local = day.at(hour, minute, 0, 0).to_zoned(zone.clone()).unwrap();
            planwright_model::OffsetDateTime::in_zone(local.timestamp(), &zone)
        };
        let block = |id: &str, from, to| planwright_schedule::OtherBlock {
            plan: format!("Plan {id}"),
            priority_weight: 1.0,
            block: ScheduledBlock::new(format!("{id}{week}"), id, from, to, "Europe/Berlin"),
        };
        [block("A", at(9, 0), at(9, 20)), block("B", at(9, 20), at(9, 40))]
    });
    others.collect()
}

#[test]
fn a_routine_beside_two_others_shifts_and_the_plan_tells() {
    for goal in ["water the plants every Tuesday at 9:00", "call mum every Tuesday"] {
        let mut talk = monday_morning();
        talk.planner.others = busy_tuesdays().into();
        talk.begin(goal, once(), Vec::new());
        let kind = &talk.open().kind;
        assert!(matches!(kind, RequestKind::FinalPlan { .. }), "{goal}: {kind:?}");
        let mut starts = local_starts(&talk);
        starts.retain(|start| start.starts_with("Tue"));
        assert!(starts.len() > 6, "{goal}: {starts:?}");
        assert!(starts.iter().all(|start| &start[10..] >= "09:40"), "{goal}: {starts:?}");
        let timed = goal.contains("9:00");
        let planning = &talk.state.planning;
        let (roadmap, schedule) = (planning.roadmap.as_ref(), planning.schedule.as_ref());
        // After the preparations of the first Tuesday, every round begins where the other plans end.
        starts.retain(|start| !start.starts_with("Tue 06-09"));
        assert!(!timed || starts.iter().all(|at| at.ends_with("09:40")), "{goal}: {starts:?}");
        let told = planwright_schedule::describe_moved_times(
            roadmap.unwrap(),
            schedule.unwrap(),
            &talk.planner.others,
            &[],
        );
        let words = "starts at 09:40 instead of 09:00, \"Plan A\" is there already";
        assert_eq!(told.iter().any(|text| text.ends_with(words)), timed, "{goal}: {told:?}");
    }
}
