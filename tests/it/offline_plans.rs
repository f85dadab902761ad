//! What a person reads of a plan made without a model: the printed plan of ordinary goals, and the question in place of
//! one where the goal can't be planned.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use serde_json::Value;

use crate::program::Place;

/// What a run of the program printed.
struct PrintedPlan {
    code: i32,
    out: String,
    err: String,
}

fn print_plan(place: &Place, goal: &str, flags: &[&str]) -> PrintedPlan {
    let mut args = vec!["plan", goal, "--headless"];
    args.extend(flags);
    let output = place.run(&args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    PrintedPlan {
        code: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// A person with hours on every day, so that no test depends on the day it runs on.
fn place_with_hours() -> Place {
    let place = Place::new();
    let set = place.run(&["config", "set", "me.hours", "Mon-Sun 08:00-20:00"]);
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    place
}

fn today() -> Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The days and titles of all blocks.
fn blocks(place: &Place, goal: &str) -> Vec<(Date, String)> {
    let printed = print_plan(place, goal, &["--yes", "--json"]);
    let plan = printed.out.lines().next().unwrap_or_default();
    let plan: Value =
        serde_json::from_str(plan).unwrap_or_else(|_| panic!("{goal}: {}", printed.err));
    let block = |block: &Value| {
        let start = block["start"].as_str().unwrap();
        (start[..10].parse().unwrap(), block["title"].as_str().unwrap().to_owned())
    };
    plan["schedule"]["blocks"].as_array().unwrap().iter().map(block).collect()
}

/// A plan as a person expects it: what was read first, then everything else, and no names of fields.
#[track_caller]
fn assert_reads_well(goal: &str, printed: &PrintedPlan) {
    assert_eq!(printed.code, 0, "{goal}: {}\n{}", printed.err, printed.out);
    let lines: Vec<&str> = printed.out.lines().collect();
    assert_eq!(lines[0], goal);
    let place = |start: &str| {
        let found = lines.iter().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{goal}: no line starts with {start}:\n{}", printed.out))
    };
    let order = ["Read: ", "Outline ", "Options", "Schedule ", "Assumed", "Confidence"].map(place);
    assert!(order.is_sorted(), "{goal}: {order:?}");
    for words in ["_minutes", "_weeks", "Check the result of", "Do it", ": balanced", "p1.t1 "] {
        let shown = lines.iter().find(|line| line.contains(words) && !line.contains("   *p"));
        let outline = words == "p1.t1 ";
        assert!(shown.is_none() || outline, "{goal}: \"{words}\" is printed: {shown:?}");
    }
    // Hours, span and risk stand once in the line of an option.
    for option in lines[order[2]..order[3]].iter().filter(|line| line.contains(" risk")) {
        assert_eq!(option.matches(" over ").count(), 1, "{goal}: {option}");
    }
    for assumed in lines[order[4] + 1..order[5]].iter().filter(|line| !line.is_empty()) {
        let key = assumed.trim().split(": ").next().unwrap_or_default();
        let is_field = !assumed.contains('?') && assumed.contains(": ") && !key.contains(' ');
        assert!(!is_field, "{goal}: {assumed} is a field and its value");
    }
}

/// A question and no plan.
#[track_caller]
fn assert_asks(place: &Place, goal: &str, words: &[&str]) {
    let printed = print_plan(place, goal, &["--yes"]);
    let shown = goal.chars().take(60).collect::<String>();
    assert_eq!(printed.code, 3, "{shown}: {}", printed.err);
    assert_eq!(printed.out, "", "{shown}: a plan was printed");
    assert_eq!(printed.err.matches("  q1 ").count(), 1, "{shown}: {}", printed.err);
    for words in words {
        assert!(printed.err.contains(words), "{shown}: no \"{words}\" in {}", printed.err);
    }
}

#[test]
fn unclear_goals_get_one_question_and_no_plan() {
    let place = Place::new();
    let different = "What should be different when";
    assert_asks(&place, "be better", &[different, "\"be better\""]);
    assert_asks(&place, "asdf", &[different]);
    assert_asks(&place, "?!… ---", &[different]);
    let long = "the quick brown fox jumps over a lazy dog while wedding bells ring ".repeat(30);
    let long: String = long.chars().take(2000).collect();
    assert_asks(&place, &long, &["What is the goal in one sentence?"]);
}

#[test]
fn other_languages_get_a_sentence_and_the_question_about_the_kind() {
    let place = Place::new();
    for (goal, language) in [
        ("Umzug nach Berlin bis Ende Februar organisieren", "German"),
        ("den Garten bis 12. Juni neu machen", "German"),
        ("庭を6月12日までに掃除する", "Japanese"),
    ] {
        let sentence = format!("This looks like {language}. Without a model only English is read");
        assert_asks(&place, goal, &[&sentence, "What kind of plan is this?", "something else: "]);
    }
}

#[test]
fn a_season_is_read_and_listed_as_assumed() {
    let place = place_with_hours();
    let goal = "lose 5 kg by summer";
    let printed = print_plan(&place, goal, &["--yes"]);
    assert_reads_well(goal, &printed);
    assert!(printed.out.contains("Kind: losing weight"), "{}", printed.out);
    assert!(printed.out.contains("the seasons of the northern half of the world"));
    let read = printed.out.lines().find(|line| line.starts_with("Read: ")).unwrap();
    assert!(read.contains("until ") && read.contains("5 kg"), "{read}");
    let last = blocks(&place, goal).into_iter().map(|(day, _)| day).max().unwrap();
    let year = if today().month() < 6 { today().year() } else { today().year() + 1 };
    assert!(last <= jiff::civil::date(year, 6, 20), "{last}");
}

#[test]
fn a_small_task_is_done_by_tomorrow() {
    let place = place_with_hours();
    let goal = "finish the report tomorrow";
    let printed = print_plan(&place, goal, &["--yes"]);
    assert_reads_well(goal, &printed);
    assert!(printed.out.contains("This is a small task"), "{}", printed.out);
    let tomorrow = today().tomorrow().unwrap();
    let blocks = blocks(&place, goal);
    assert!(blocks.iter().all(|(day, _)| *day <= tomorrow), "{blocks:?}");
    let titles: std::collections::BTreeSet<&str> =
        blocks.iter().map(|(_, title)| title.as_str()).collect();
    assert!((1..=4).contains(&titles.len()), "{titles:?}");
}

#[test]
fn a_party_next_saturday_is_on_that_saturday() {
    let place = place_with_hours();
    let goal = "plan a birthday party next Saturday";
    let printed = print_plan(&place, goal, &["--yes"]);
    let read = printed.out.lines().find(|line| line.starts_with("Read: ")).unwrap();
    let day = (1..=14)
        .map(|days| today().checked_add(days.days()).unwrap())
        .find(|day| {
            let shown = planwright_text::dates::format_date(*day, today());
            day.weekday() == Weekday::Saturday && read.contains(&shown)
        })
        .unwrap_or_else(|| panic!("{read} names no Saturday of the next two weeks"));
    assert_reads_well(goal, &printed);
    let blocks = blocks(&place, goal);
    let party: Vec<&(Date, String)> =
        blocks.iter().filter(|(_, title)| title.contains("Host")).collect();
    assert!(!party.is_empty() && party.iter().all(|(on, _)| *on == day), "{party:?}");
}

#[test]
fn a_wedding_has_its_day_its_guests_and_its_own_words() {
    let place = place_with_hours();
    let day = today().checked_add(208.days()).unwrap();
    let goal = format!("wedding on {day} for 80 guests");
    let printed = print_plan(&place, &goal, &["--yes"]);
    assert_reads_well(&goal, &printed);
    let shown = planwright_text::dates::format_date(day, today());
    let read = printed.out.lines().find(|line| line.starts_with("Read: ")).unwrap();
    assert!(read.contains(&shown) && read.contains("80 "), "{read}");
    assert!(printed.out.contains("80"), "{}", printed.out);
    assert!(!printed.out.contains("the event"), "{}", printed.out);
    let blocks = blocks(&place, &goal);
    assert!(blocks.iter().any(|(on, title)| *on == day && title.contains("edding")), "{blocks:?}");
}

#[test]
fn a_launch_in_six_weeks_is_in_its_sixth_week() {
    let place = place_with_hours();
    let goal = "launch a newsletter in 6 weeks";
    let printed = print_plan(&place, goal, &["--yes"]);
    assert_reads_well(goal, &printed);
    let read = printed.out.lines().find(|line| line.starts_with("Read: ")).unwrap();
    assert!(read.contains("6 weeks, until "), "{read}");
    let blocks = blocks(&place, goal);
    let first_issue = blocks.iter().filter(|(_, title)| {
        let title = title.to_lowercase();
        title.contains("send the first issue") || title.contains("first issue goes out")
    });
    for (day, title) in first_issue {
        let days = (*day - today()).get_days();
        assert!((29..=43).contains(&days), "{title} is {days} days ahead");
    }
}

#[test]
fn a_full_calendar_takes_a_small_habit_and_no_plan_ends_in_errors() {
    let place = Place::new();
    for goal in [
        "open a coffee shop next year",
        "transform our company into a platform organisation",
        "migrate our billing service from PHP to Go without downtime",
    ] {
        let printed = print_plan(&place, goal, &["--yes"]);
        assert_eq!(printed.code, 0, "{goal}: {}", printed.err);
    }
    let habit = print_plan(&place, "take medication every day at 8", &["--yes"]);
    assert_eq!(habit.code, 0, "{}", habit.err);
    assert!(!habit.out.contains("instead of 08:00"), "{}", habit.out);
    assert!(habit.out.contains(" 08:00 "), "{}", habit.out);
    // The usual dates of the steps are taken already: they come later, and the plan says which.
    let goal = "find a daycare place by September";
    let printed = print_plan(&place, goal, &["--yes"]);
    assert!(!printed.err.contains("The schedule has errors"), "{}", printed.err);
    assert!(!printed.out.contains("Clashes with"), "{}", printed.out);
}

#[test]
fn what_no_plan_can_use_is_named_and_asked_for() {
    let place = Place::new();
    let by = "By when should it be done?";
    let day = today().checked_add(210.days()).unwrap().to_string();
    for (goal, asks, why, answer) in [
        (
            "write a report by February 30",
            by,
            "\"February 30\" is not a date: February ",
            "in 30 weeks",
        ),
        ("finish the report by yesterday", by, "\"by yesterday\" is ", "in 30 weeks"),
        (
            "write a report by 2020-01-01",
            by,
            "\"by 2020-01-01\" is Wed 1 Jan 2020, which has passed",
            "in 30 weeks",
        ),
        (
            "wedding on 2020-06-12 for 80 guests",
            "On which day is the wedding?",
            "\"on 2020-06-12\" is Fri 12 Jun 2020, which has passed",
            day.as_str(),
        ),
    ] {
        // Nobody can assume what was meant, so that a flag does not skip the question.
        for flags in [&[][..], &["--yes"]] {
            let asked = print_plan(&place, goal, flags);
            assert_eq!((asked.code, asked.out.as_str()), (3, ""), "{goal}: {}", asked.err);
            let question = format!("{asks} {why}");
            assert!(asked.err.contains(&question), "{goal}: {}", asked.err);
            assert!(!asked.err.contains("Without an answer: "), "{goal}: {}", asked.err);
        }
        let printed = print_plan(&place, goal, &["--yes", "--answer", answer]);
        let said = |text: &str| text.contains(why);
        assert!(said(&printed.out) || said(&printed.err), "{goal}: {}", printed.out);
        assert!(printed.out.contains("\nSchedule "), "{goal}: {}", printed.err);
    }
}

#[test]
fn what_was_not_read_stands_before_the_plan_and_before_a_question() {
    let place = Place::new();
    let goal = "plan a birthday party for 12 guests with a pirate theme, alfresco";
    let printed = print_plan(&place, goal, &["--yes"]);
    let line_starting = |start: &str| printed.out.lines().position(|line| line.starts_with(start));
    let outline = line_starting("Outline");
    for start in ["Noted: \"with a pirate theme\"", "Not read: \""] {
        let said = line_starting(start);
        assert!(said.is_some() && said < outline, "{start}: {}", printed.out);
    }
    let asked = print_plan(&place, goal, &[]);
    let read = asked.err.find("Read: ").zip(asked.err.find("waits for you"));
    assert!(read.is_some_and(|(read, waits)| read < waits), "{}", asked.err);
}

#[test]
fn a_question_says_what_is_assumed_and_what_the_answer_changes() {
    let place = Place::new();
    let asked = print_plan(&place, "plan a birthday party next Saturday", &[]);
    let words = "Where is the party? It decides which tasks the plan has. Without an answer: in a place not decided yet";
    assert!(asked.err.contains(words), "{}", asked.err);
    let asked = print_plan(&place, "move house", &[]);
    assert!(asked.err.contains("Every other date counts from it."), "{}", asked.err);
    assert!(!asked.err.contains("how large the plan is"), "{}", asked.err);
}

#[test]
fn an_answer_that_one_question_cannot_read_is_kept_for_the_next() {
    let place = Place::new();
    // The first question is about the end of the plan.
    let flags = ["--yes", "--answer", "Operations"];
    let printed = print_plan(&place, "cut our costs by 10 percent", &flags);
    let assumed = printed.out.split("\nAssumed\n").nth(1).unwrap_or_default();
    assert!(!assumed.contains("Where "), "{}", printed.out);
}

const CIRCLE: &str = r#"label = "a circle"
pattern = "milestone_project"
subtype = "build"
match = { "circle" = 10 }
weeks = 4
why = "It goes around."
[[phase]]
title = "Begin"
[[phase.task]]
key = "a"
title = "Do a thing"
why = "It is first."
done_when = "it is done"
effort = [10, 20, 30]
after = ["b"]
[[phase.task]]
key = "b"
title = "Do another thing"
why = "It is second."
done_when = "it is done"
effort = [10, 20, 30]
after = ["a"]
[[phase]]
title = "End"
[[phase.task]]
title = "End it"
why = "It ends."
done_when = "it is done"
effort = [10, 20, 30]
"#;

#[test]
fn faults_of_a_persons_own_blueprints_are_named_with_place_and_remedy() {
    let place = Place::new();
    let own = place.dir.path().join("blueprints");
    std::fs::create_dir(&own).unwrap();
    let plain = CIRCLE.replace("after = [\"b\"]\n", "");
    let unknown = plain.replace("weeks = 4", "weeks = 4\ncolour = \"red\"");
    let reserved = plain.replace(
        "[[phase]]\ntitle = \"Begin\"",
        "[[question]]\nkey = \"kind\"\ntext = \"Which?\"\ndefault = \"x\"\n[[phase]]\ntitle = \"Begin\"",
    );
    let files = [
        ("circle.toml", CIRCLE.to_owned()),
        ("colored.toml", unknown),
        ("wrong_type.toml", plain.replace("weeks = 4", "weeks = \"four\"")),
        ("reserved.toml", reserved),
        ("fine.toml", plain.replace("circle", "spiral")),
    ];
    for (name, text) in &files {
        std::fs::write(own.join(name), text).unwrap();
    }
    let printed = print_plan(&place, "draw a spiral", &["--kind", "fine", "--yes"]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(printed.out.contains("Do another thing"), "{}", printed.out);
    for (place, message, remedy) in [
        ("circle.toml:11:", "these tasks wait for each other: \"Do a thing\"", "remove one of"),
        ("colored.toml:6:1: ", "there is no field \"colour\"", "remove the line"),
        ("wrong_type.toml:5:", "string \"four\"", "correct the line"),
        ("reserved.toml:8:", "\"kind\" is a value of the planner itself", "another key"),
    ] {
        let line = printed.err.lines().find(|line| line.contains(place));
        let line = line.unwrap_or_else(|| panic!("{place} is not in {}", printed.err));
        assert!(line.contains(message) && line.contains(remedy), "{line}");
    }
}
