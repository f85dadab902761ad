//! The goal parser on typical input.

use jiff::civil::{date, time};
use proptest::prelude::*;

use super::*;

/// 2026-06-05 is a Friday.
fn parse(text: &str) -> Goal {
    Goal::parse(text, GoalParseContext::new(date(2026, 6, 5), 5))
}

#[test]
fn parses_a_horizon_in_weeks_and_months() {
    assert_eq!(parse("launch a newsletter in 6 weeks").horizon_weeks, Some(6));
    assert_eq!(parse("marathon training 16 weeks").horizon_weeks, Some(16));
    assert_eq!(parse("learn Greek over three months").horizon_weeks, Some(13));
    assert_eq!(parse("renovate within half a year").horizon_weeks, Some(26));
    assert_eq!(parse("a 12-week plan for running").horizon_weeks, Some(12));
    assert_eq!(parse("write a book in a year").horizon_weeks, Some(52));
    assert_eq!(parse("write a book").horizon_weeks, None);
}

#[test]
fn hours_a_week_are_a_budget_and_not_a_cadence() {
    let goal = parse("learn Rust, 5 hours a week");
    assert_eq!((goal.weekly_minutes, goal.cadence, goal.horizon_weeks), (Some(300), None, None));
    assert_eq!(parse("learn Rust with 2 hours a day").weekly_minutes, Some(600));
    assert_eq!(parse("learn Rust 5h/week for 12 weeks").weekly_minutes, Some(300));
    assert_eq!(parse("learn Rust, half an hour per day").weekly_minutes, Some(150));
    assert_eq!(parse("learn Rust, 4 hours weekly").weekly_minutes, Some(240));
}

#[test]
fn minutes_every_day_are_one_occurrence() {
    let goal = parse("meditate 20 minutes every day");
    assert_eq!((goal.weekly_minutes, goal.occurrence_minutes), (None, Some(20)));
    assert_eq!(goal.cadence, Some(GoalCadence::once_per(CadencePeriod::Day)));
}

#[test]
fn parses_a_cadence_in_many_forms() {
    let words = |text: &str| parse(text).cadence.map(|cadence| cadence.describe());
    assert_eq!(words("weekly review routine").as_deref(), Some("every week"));
    assert_eq!(words("water the plants every 3 days").as_deref(), Some("every 3 days"));
    assert_eq!(
        words("run 3 times a week").as_deref(),
        Some("3 times a week on Monday, Wednesday, Friday")
    );
    assert_eq!(words("call mum every Sunday").as_deref(), Some("every week on Sunday"));
    assert_eq!(
        words("gym on Mondays and Thursdays").as_deref(),
        Some("every week on Monday, Thursday")
    );
    assert_eq!(words("stretch every morning").as_deref(), Some("every day"));
    assert_eq!(words("clean the gutters every other month").as_deref(), Some("every 2 months"));
    assert_eq!(words("launch on Friday"), None);
    assert_eq!(words("weekly review every Friday").as_deref(), Some("every week on Friday"));
    assert_eq!(parse("weekly review every Friday").day, None);
    assert_eq!(parse("daily stand-up every Monday").day, None);
}

#[test]
fn medication_every_day_at_eight_keeps_its_time() {
    let goal = parse("take medication every day at 8");
    assert_eq!(goal.at_local, Some(time(8, 0, 0, 0)));
    assert_eq!(goal.cadence, Some(GoalCadence::once_per(CadencePeriod::Day)));
    assert_eq!(goal.subject.name, "medication");
    assert_eq!(parse("pills daily at 7:30 pm").at_local, Some(time(19, 30, 0, 0)));
}

#[test]
fn a_thing_made_per_period_is_not_a_cadence() {
    let goal = parse("write one blog post every week");
    let found = goal.per_period.unwrap();
    assert_eq!((found.count, found.noun.as_str(), found.made), (1, "blog post", true));
    assert_eq!(goal.cadence, None);
    let run = parse("go for a run every day");
    assert!(run.per_period.is_some_and(|found| !found.made));
    assert!(run.cadence.is_some());
}

#[test]
fn deadlines_follow_by_and_before() {
    assert_eq!(parse("finish the report by Friday").deadline, Some(date(2026, 6, 12)));
    assert_eq!(parse("finish the report before 10 July").deadline, Some(date(2026, 7, 9)));
    assert_eq!(parse("finish it before the end of the month").deadline, Some(date(2026, 6, 30)));
    assert_eq!(parse("pay the tax in 10 days").deadline, Some(date(2026, 6, 15)));
    assert_eq!(parse("done by hand").deadline, None);
}

#[test]
fn the_day_of_the_thing_itself_is_not_a_deadline() {
    let day = |text: &str| {
        let goal = parse(text);
        assert_eq!(goal.deadline, None, "{text}");
        goal.day
    };
    let within = |from, to| Some(GoalDay::Within { from, to });
    assert_eq!(day("wedding on 5 September 2026"), Some(GoalDay::On(date(2026, 9, 5))));
    assert_eq!(day("wedding June 12"), Some(GoalDay::On(date(2026, 6, 12))));
    assert_eq!(day("finish the report tomorrow"), Some(GoalDay::On(date(2026, 6, 6))));
    assert_eq!(day("an offsite in March"), within(date(2027, 3, 1), date(2027, 3, 31)));
    assert_eq!(day("clean up this weekend"), within(date(2026, 6, 6), date(2026, 6, 7)));
    assert_eq!(day("hire this quarter"), within(date(2026, 6, 5), date(2026, 6, 30)));
    let both = parse("wedding on 2026-09-05, venue by July");
    assert_eq!(
        (both.day, both.deadline),
        (Some(GoalDay::On(date(2026, 9, 5))), None),
        "the end of a part is not that of the plan"
    );
    assert_eq!(parse("finish the docs end of June").deadline, Some(date(2026, 6, 30)));
}

#[test]
fn everything_counted_and_everything_given_is_listed() {
    let counts = |text: &str| -> Vec<(String, u32)> {
        parse(text).counts.into_iter().map(|count| (count.noun, count.amount)).collect()
    };
    let one = |noun: &str, amount| vec![(noun.to_owned(), amount)];
    assert_eq!(counts("wedding on 2027-06-12 for 80 guests"), one("guest", 80));
    assert_eq!(counts("migrate 200 servers from Debian 11 to 12"), one("server", 200));
    assert_eq!(counts("hire two backend engineers this quarter"), one("engineer", 2));
    assert_eq!(counts("a dinner with ten dishes"), one("dish", 10));
    assert_eq!(counts("organise a 40-person offsite"), one("person", 40));
    assert_eq!(counts("onboarding for our team of 8"), one("person", 8));
    assert_eq!(counts("lose 5 kg by summer"), one("kg", 5));
    assert_eq!(counts("translate 1,200 pages"), one("page", 1200));
    for none in [
        "learn Rust, 5 hours a week",
        "marathon training 16 weeks",
        "save 5000 euros by June",
        "upgrade Debian 11 to 12",
        "train for my first 10k",
    ] {
        assert_eq!(counts(none), [], "{none}");
    }
    let given = |text: &str| parse(text).given;
    assert_eq!(given("plan a wedding, we have a venue"), ["venue"]);
    assert_eq!(given("plan a wedding, the venue is booked"), ["venue"]);
    assert_eq!(given("plan a wedding, venue and caterer already booked"), ["venue", "caterer"]);
    assert_eq!(given("trip to Rome, I already have the tickets"), ["ticket"]);
    assert!(given("have a baby shower").is_empty());
}

#[test]
fn impossible_and_past_dates_give_a_note_and_no_deadline() {
    let goal = parse("ship the app by 2026-02-30");
    assert_eq!(goal.deadline, None);
    assert_eq!(
        goal.notes,
        ["\"2026-02-30\" is not a date: February 2026 has 28 days; no date was taken from it"]
    );
    let past = parse("ship the app by 2020-01-01");
    assert!(past.deadline.is_none() && past.notes[0].contains("has passed"), "{:?}", past.notes);
    assert!(parse("learn Rust 0 hours a week").notes[0].contains("not a budget"));
    assert!(parse("learn Rust 400 hours a week").notes[0].contains("more than there are"));
    assert!(parse("learn Rust in 9999999 weeks").notes[0].contains("ten years"));
}

#[test]
fn the_subject_is_the_remaining_phrase() {
    let subject = |text: &str| parse(text).subject.definite;
    assert_eq!(subject("launch a newsletter in 6 weeks"), "the newsletter");
    assert_eq!(subject("learn Rust, 5 hours a week"), "Rust");
    assert_eq!(subject("migrate service X from Python to Rust"), "service X");
    assert_eq!(subject("marathon training 16 weeks"), "marathon training");
    assert_eq!(subject("weekly review routine"), "review routine");
    assert_eq!(subject("I want to write my thesis by Friday"), "the thesis");
    assert_eq!(
        subject("launch a newsletter about gardening for beginners in 6 weeks"),
        "the newsletter about gardening for beginners"
    );
    assert_eq!(subject("学习钢琴"), "学习钢琴");
    assert_eq!(subject("launch"), "launch");
}

#[test]
fn from_a_to_b_names_both_ends() {
    let goal = parse("migrate service X from Python to Rust in 10 weeks");
    assert_eq!((goal.from.as_deref(), goal.to.as_deref()), (Some("Python"), Some("Rust")));
    assert_eq!(goal.horizon_weeks, Some(10));
    assert_eq!(parse("work from Monday to Friday").from, None);
    assert_eq!(parse("work from 9 to 5").from, None);
    assert_eq!(parse("vacation from 3 March to 10 March").from, None);
    let fleet = parse("migrate 200 servers from Debian 11 to 12");
    assert_eq!(
        (fleet.from.as_deref(), fleet.to.as_deref()),
        (Some("Debian 11"), Some("Debian 12"))
    );
}

#[test]
fn a_proposed_subtype_is_named_by_the_goal() {
    let goal = parse("my mornings as proposed:daily_health_protocol_v2");
    assert_eq!(goal.proposed.as_deref(), Some("daily_health_protocol_v2"));
    assert_eq!(goal.cadence, Some(GoalCadence::once_per(CadencePeriod::Day)));
    assert!(goal.contains_phrase("protocol"));
    assert!(parse("proposed:9x please").notes[0].contains("not a subtype name"));
}

#[test]
fn a_long_goal_is_parsed_up_to_its_limit() {
    let goal = parse(&"write ".repeat(1000));
    assert!(goal.notes[0].contains("2000 characters"));
}

proptest! {
    #[test]
    fn parsing_is_deterministic(text in any::<String>()) {
        prop_assert_eq!(parse(&text), parse(&text));
    }

    #[test]
    fn any_mix_of_known_words_parses(parts in prop::collection::vec(prop::sample::select(vec![
        "by", "before", "in", "for", "every", "a", "an", "one", "3", "99999999999", "2026-07-10", "31", "July", "2026", "Friday",
        "hours", "week", "weeks", "days", "month", "per", "at", "8", "pm", "from", "to", "Rust", "half", "next", "end", "of", "the",
        "post", "times", "twice", ",", "0", "1.5", "other", "year", "-", "proposed:x", "daily", "éa", "5-6", "q3", "e\u{301}",
    ]), 0..14)) {
        let goal = parse(&parts.join(" "));
        prop_assert!(goal.horizon_weeks.is_none_or(|weeks| (1..=MAX_WEEKS).contains(&weeks)));
        prop_assert!(goal.weekly_minutes.is_none_or(|minutes| minutes > 0));
    }
}

#[test]
fn a_start_that_has_passed_is_reported_and_not_moved_to_another_year() {
    let goal = parse("renovate the kitchen starting 2 November 2025");
    assert_eq!(goal.start, None);
    assert!(goal.notes.iter().any(|note| note.contains("which has passed")), "{:?}", goal.notes);
    let goal = parse("organize my photos of 10 years");
    assert_eq!(goal.horizon_weeks, None);
}

#[test]
fn a_weekly_rhythm_on_a_day_is_every_such_day() {
    let goal = parse("set up a weekly family meeting on Sunday evenings");
    assert_eq!((goal.day, goal.deadline), (None, None));
    assert_eq!(goal.cadence.as_ref().unwrap().on, [jiff::civil::Weekday::Sunday]);
    assert!(parse("wedding on Sunday").day.is_some());
}

#[test]
fn what_a_journey_needs_is_there_before_it() {
    let before_april = Some(date(2027, 3, 31));
    assert_eq!(parse("learn Italian for our trip in April").deadline, before_april);
    let placed = "learn Italian for a two-week holiday in Tuscany in April, 20 minutes a day";
    assert_eq!(parse(placed).deadline, before_april);
    assert_eq!(parse("plan a trip for four in Tuscany in April").deadline, None);
    let let_out = parse("sublet my apartment while I am abroad from April to June");
    assert_eq!(let_out.deadline, before_april);
    assert_eq!(parse("plan a trip to Rome in April").deadline, None);
}

#[test]
fn the_first_such_day_of_a_month_is_one_day() {
    let day = |text: &str| parse(text).day;
    let on = |year, month, day| Some(GoalDay::On(date(year, month, day)));
    // 2027 begins on a Friday.
    assert_eq!(day("flea market on the first Sunday in June 2027"), on(2027, 6, 6));
    assert_eq!(day("open day on the last Saturday of March 2027"), on(2027, 3, 27));
    assert_eq!(day("reunion, third Friday in January 2027"), on(2027, 1, 15));
}

#[test]
fn the_length_of_a_course_for_others_is_not_that_of_the_plan() {
    assert_eq!(parse("teach a six-week evening class on photography").horizon_weeks, None);
    assert_eq!(parse("take a six-week photography course").horizon_weeks, Some(6));
}
