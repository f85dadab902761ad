//! On which days and at which times the planner without a model puts the tasks of whole plans.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, date};

use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_drafting::own_days_off::OwnDaysOff;
use planwright_drafting::person_profile::PersonProfile;
use planwright_model::{PlanContext, PlanNode, Roadmap, Schedule, Severity, Weekday};
use planwright_schedule::{ScheduleRequest, schedule_roadmap};

/// A Tuesday; plans start on the day after it.
const TODAY: Date = date(2026, 11, 17);
const ZONE: &str = "Europe/Berlin";

/// A block of a plan in local time.
#[derive(Clone, Debug, PartialEq)]
struct PlacedTask {
    title: String,
    start: DateTime,
    end: DateTime,
}

fn plan_of(goal: &str) -> GoalPlan {
    let library = TemplateLibrary::built_in();
    let now = Timestamp::UNIX_EPOCH;
    let request =
        GoalRequest { goal, today: TODAY, time_zone: ZONE, now, library: &library, events: &[] };
    plan_goal(&request).unwrap()
}

fn placed(plan: &GoalPlan) -> Vec<PlacedTask> {
    let schedule = plan.artifacts.schedule.as_ref().unwrap();
    assert!(schedule.unplaced.is_empty(), "{:?}", schedule.unplaced);
    placed_tasks(plan.artifacts.roadmap.as_ref().unwrap(), schedule)
}

fn placed_tasks(roadmap: &Roadmap, schedule: &Schedule) -> Vec<PlacedTask> {
    let row = |block: &planwright_model::ScheduledBlock| PlacedTask {
        title: roadmap.find_node(&block.plan_node_id).unwrap().title.clone(),
        start: block.start.offset.to_datetime(block.start.at),
        end: block.end.offset.to_datetime(block.end.at),
    };
    schedule.blocks.iter().map(row).collect()
}

fn find<'a>(tasks: &'a [PlacedTask], words: &str) -> &'a PlacedTask {
    tasks
        .iter()
        .find(|task| task.title.contains(words))
        .unwrap_or_else(|| panic!("{words}: {tasks:#?}"))
}

/// Checks that a plan breaks nothing that a person would have to fix.
fn expect_valid(plan: &GoalPlan) {
    let broken: Vec<_> = plan
        .stages
        .iter()
        .flat_map(|stage| &stage.violations)
        .filter(|found| found.severity != Severity::Warning)
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_party_next_saturday_is_prepared_before_and_held_at_its_time() {
    let plan = plan_of("plan a birthday party next Saturday");
    expect_valid(&plan);
    let tasks = placed(&plan);
    let party = find(&tasks, "Host the party");
    assert_eq!(party.start, date(2026, 11, 21).at(16, 0, 0, 0));
    assert_eq!(party.end, date(2026, 11, 21).at(20, 0, 0, 0));
    assert!(find(&tasks, "Decorate").end <= party.start);
    for title in
        ["Choose the place", "Invite the guests", "Choose food", "Order the cake", "Shop for"]
    {
        assert!(find(&tasks, title).end < party.start, "{title}: {tasks:#?}");
    }
    assert!(find(&tasks, "Clean up").start > party.end);
}

#[test]
fn the_wedding_day_stays_whole_on_a_day_with_office_hours() {
    let plan = plan_of("wedding on 2027-06-11 for 80 guests");
    expect_valid(&plan);
    let day = date(2027, 6, 11);
    let on_day: Vec<_> =
        placed(&plan).into_iter().filter(|task| task.start.date() == day).collect();
    let roadmap = plan.artifacts.roadmap.unwrap();
    let own = roadmap.nodes.iter().filter(|node| node.fixed_start.is_some_and(|at| at.day == day));
    let minutes: u32 = own.map(PlanNode::work_minutes).sum();
    assert!(minutes >= 480, "{minutes}");
    let sum: i64 = on_day
        .iter()
        .map(|task| task.start.until(task.end).unwrap())
        .map(|span| span.total(jiff::Unit::Minute).unwrap() as i64)
        .sum();
    assert_eq!(sum, i64::from(minutes), "{on_day:#?}");
}

#[test]
fn a_party_that_is_too_near_still_gives_a_plan() {
    for goal in ["plan a birthday party tomorrow", "wedding on 2026-11-20 for 80 guests"] {
        let plan = plan_of(goal);
        let schedule = plan.artifacts.schedule.unwrap();
        assert!(!schedule.blocks.is_empty(), "{goal}");
    }
}

/// Every kind with a day of its own, on two days of the week, in its usual time and in a tenth of it.
#[test]
fn what_happens_on_a_day_is_whole_on_it_and_lead_times_fall_on_working_days() {
    let library = TemplateLibrary::built_in();
    let start = TODAY.tomorrow().unwrap();
    let kinds = library.all_blueprints().filter(|file| file.day.is_some());
    for (file, extra) in kinds.flat_map(|file| [(file, 0), (file, 2)]) {
        for share in [1, 10] {
            let days = (i64::from(*file.weeks.get_ref()) * 7 / share).max(2) + extra;
            let day = start.checked_add(jiff::Span::new().days(days)).unwrap();
            let mut context = PlanContext::new(format!("x on {day}"), start, ZONE);
            context.pattern = Some(file.to_pattern());
            let draft = draft_outline(context, &library, TODAY, SubtypeProposals::Off).unwrap();
            let roadmap =
                build_roadmap(&draft.outline, &library, RoadmapPreferences::default()).unwrap();
            check_own_days(&file.name, day, &roadmap.roadmap, &draft.outline.plan_context);
        }
    }
}

fn check_own_days(kind: &str, day: Date, roadmap: &Roadmap, context: &PlanContext) {
    let schedule = schedule_roadmap(&ScheduleRequest::new(roadmap, context)).unwrap();
    for node in roadmap.nodes.iter().filter(|node| node.fixed_start.is_some()) {
        let own = node.fixed_start.unwrap().day;
        let blocks: Vec<_> = schedule.blocks_for_node(&node.id).collect();
        let shown = format!("{kind} on {day}: \"{}\" {blocks:#?}", node.title);
        if node.work_minutes() > 0 && node.recurrence.is_none() {
            assert_eq!(blocks.len(), 1, "{shown}");
            let block = blocks[0];
            let [from, to] = [block.start, block.end].map(|at| at.offset.to_datetime(at.at));
            assert_eq!(block.estimated_minutes, node.work_minutes(), "{shown}");
            assert_eq!(from.date(), own, "{shown}");
            assert!(
                from.hour() >= 7
                    && (to.date() == own || to.time() == jiff::civil::Time::midnight()),
                "{shown}"
            );
        }
        let lead = own.until(day).unwrap().get_days();
        assert!(lead <= 2 || context.calendar.has_hours_on(own), "{shown}");
    }
}

#[test]
fn what_closes_an_arc_waits_for_the_repeated_work_before_it() {
    for goal in [
        "get out of credit card debt",
        "lose 20 pounds",
        "quit smoking",
        "write a novel",
        "pass the AWS certification by end of March",
        "improve my French",
    ] {
        let plan = plan_of(goal);
        expect_valid(&plan);
        let (schedule, roadmap) =
            (plan.artifacts.schedule.as_ref().unwrap(), plan.artifacts.roadmap.as_ref().unwrap());
        let day = |at: DateTime| at.date();
        let all = placed(&plan);
        let first = all.iter().map(|task| day(task.start)).min().unwrap();
        let last = all.iter().map(|task| day(task.end)).max().unwrap();
        let third = first.until(last).unwrap().get_days() / 3;
        let middle = first.checked_add(jiff::Span::new().days(third)).unwrap();
        let phases: Vec<&PlanNode> = roadmap
            .nodes
            .iter()
            .filter(|node| node.parent_id.as_ref() == Some(&roadmap.root_id))
            .filter(|node| {
                roadmap.nodes.iter().any(|inner| inner.parent_id.as_ref() == Some(&node.id))
            })
            .collect();
        let closing = phases.last().unwrap();
        let own: Vec<_> = schedule
            .blocks
            .iter()
            .filter(|block| {
                let node = roadmap.find_node(&block.plan_node_id).unwrap();
                node.parent_id.as_ref() == Some(&closing.id)
            })
            .collect();
        assert!(!own.is_empty(), "{goal}: {}", closing.title);
        for block in own {
            let start = block.start.offset.to_datetime(block.start.at).date();
            assert!(start > middle, "{goal}: {} on {start}, of {first} to {last}", block.title);
        }
    }
}

#[test]
fn seasons_follow_the_country_of_the_profile() {
    let library = TemplateLibrary::built_in();
    let days_off = OwnDaysOff::parse("public holidays in Australia").unwrap();
    let profile = PersonProfile { days_off, ..PersonProfile::default() };
    let start = TODAY.tomorrow().unwrap();
    let end = |context: PlanContext| {
        let draft = draft_outline(context, &library, TODAY, SubtypeProposals::Off).unwrap();
        draft.outline.plan_context.constraints.deadline.unwrap().local_date()
    };
    let goal = "lose 5 kg by summer";
    assert_eq!(end(PlanContext::new(goal, start, "UTC")), date(2027, 5, 31));
    assert_eq!(end(profile.new_context(goal, start, "UTC")), date(2026, 11, 30));
}

#[test]
fn a_course_ends_when_it_is_learned_and_says_so() {
    let library = TemplateLibrary::built_in();
    let goal = "learn Rust by 2031-06-30, 10 hours a week";
    let context = PlanContext::new(goal, TODAY.tomorrow().unwrap(), ZONE);
    let draft = draft_outline(context, &library, TODAY, SubtypeProposals::Off).unwrap();
    assert!(draft.notes.iter().any(|note| note.contains("well before")), "{:?}", draft.notes);
    let plan = plan_of(goal);
    expect_valid(&plan);
    let tasks = placed(&plan);
    let last = tasks.iter().map(|task| task.end.date()).max().unwrap();
    assert!(last < date(2027, 4, 1), "{last}");
    assert!(plan.artifacts.roadmap.unwrap().total_minutes < 80 * 60);
}

#[test]
fn named_days_have_hours() {
    for (goal, days) in [
        ("clean up the garden this weekend", [date(2026, 11, 21), date(2026, 11, 22)]),
        (
            "fix the flaky integration tests in our CI before Friday",
            [date(2026, 11, 18), date(2026, 11, 19)],
        ),
    ] {
        let plan = plan_of(goal);
        expect_valid(&plan);
        for task in placed(&plan) {
            assert!(days.contains(&task.start.date()), "{goal}: {task:?}");
        }
    }
}

#[test]
fn stated_weeks_hold_the_day_and_what_follows_it() {
    let plan = plan_of("launch a newsletter in 6 weeks");
    expect_valid(&plan);
    let week = (date(2026, 12, 23), date(2026, 12, 29));
    let sent = find(&placed(&plan), "Send the first issue").clone();
    assert!((week.0..=week.1).contains(&sent.start.date()), "{sent:?}");
    assert!(placed(&plan).iter().all(|task| task.end.date() <= week.1), "{:#?}", placed(&plan));
}

#[test]
fn a_training_ends_with_its_race_and_has_its_long_runs_on_weekends() {
    let plan = plan_of("marathon training 16 weeks");
    expect_valid(&plan);
    let tasks = placed(&plan);
    let race = date(2027, 3, 7);
    assert_eq!(tasks.iter().filter(|task| task.start.date() == race).count(), 1, "{tasks:#?}");
    let run = |task: &&PlacedTask| task.title.to_lowercase().contains(" run");
    for task in tasks.iter().filter(run) {
        assert!(task.start.date() < race, "{task:?}");
    }
    let long = tasks.iter().filter(|task| task.title.starts_with("Long run"));
    let weekday = |task: &&PlacedTask| {
        !matches!(Weekday::from_date(task.start.date()), Weekday::Sat | Weekday::Sun)
    };
    let (all, off) = (long.clone().count(), long.filter(weekday).count());
    assert!(all >= 12 && off * 4 <= all, "{off} of {all} long runs: {tasks:#?}");
}

#[test]
fn the_weeks_of_a_training_end_with_the_race_on_stated_days_too() {
    let race = date(2027, 4, 18);
    let goal = "run a half marathon on 2027-04-18, I can train Tuesday, Thursday and Sunday";
    let plan = plan_of(goal);
    expect_valid(&plan);
    let tasks = placed(&plan);
    let runs: Vec<&PlacedTask> = tasks.iter().filter(|task| task.title.contains("un")).collect();
    for run in &runs {
        let own = run.title.starts_with("Run the half marathon");
        assert!(own || run.start.date() < race, "{run:#?}");
        let day = Weekday::from_date(run.start.date());
        assert!(matches!(day, Weekday::Tue | Weekday::Thu | Weekday::Sun), "{run:#?}");
    }
    let long = tasks.iter().filter(|task| task.title.starts_with("Long run")).count();
    assert!(long >= 18, "{long} long runs in 21 weeks");
}

#[test]
fn a_short_first_phase_stays_short_in_a_long_plan() {
    let plan = plan_of("lose 5 kg by summer");
    let tasks = placed(&plan);
    let moved = find(&tasks, "Walk fast");
    assert!(moved.start.date() <= date(2026, 12, 4), "{moved:?}");
}

#[test]
fn rooms_that_a_goal_names_are_counted() {
    let one = placed(&plan_of("paint the living room"));
    let two = placed(&plan_of("paint the living room and the hallway"));
    let coat = |tasks: &[PlacedTask]| find(tasks, "Paint the ceiling").clone();
    let minutes = |task: &PlacedTask| task.start.until(task.end).unwrap().total(jiff::Unit::Minute);
    assert!(minutes(&coat(&two)).unwrap() > minutes(&coat(&one)).unwrap());
}

#[test]
fn the_last_frost_is_where_the_season_has_it() {
    let tasks = placed(&plan_of("plan our vegetable garden and start in March"));
    let planted = find(&tasks, "Plant out").start.date();
    assert!((date(2027, 5, 10)..=date(2027, 5, 22)).contains(&planted), "{planted}");
}

#[test]
fn a_look_back_is_not_the_first_thing_of_its_phase() {
    let tasks = placed(&plan_of("lose 5 kg by summer"));
    let first = find(&tasks, "Walk fast").start.date();
    let back = find(&tasks, "Look back: is the trend right").start.date();
    assert!(first.until(back).unwrap().get_days() >= 21, "{first} {back}");
}
