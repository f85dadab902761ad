//! Planning from the command line, without a model, a network or a store.

use serde_json::Value;

use crate::program::{Place, json_lines};

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_goal_becomes_a_plan_a_person_could_start_on_monday() {
    let place = Place::new();
    let goal = "launch a newsletter in 6 weeks";
    let output = place.run(&["plan", goal, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let plan = text(&output);
    for words in [
        "2,880 min of work",
        "critical path",
        "> Balanced",
        "Schedule",
        "weekly_minutes",
        "Confidence",
    ] {
        assert!(plan.contains(words), "{words} is not in:\n{plan}");
    }
    let output = place.run(&["plan", goal, "--headless", "--json", "--answer", "skip"]);
    assert_eq!(output.status.code(), Some(3), "without --yes nobody approved it");
    let lines = text(&output);
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let plan = lines.next().unwrap();
    let waiting = lines.next().unwrap();
    assert_eq!(waiting["waiting"]["requests"][0]["kind"]["about"], "final_plan");
    assert_eq!(plan["feasible"], true);
    assert_eq!(plan["roadmap"]["total_minutes"], 2880);
}

#[test]
fn the_calendars_of_the_five_goals_open_in_a_parser_without_complaint() {
    let place = Place::new();
    for goal in [
        "launch a newsletter in 6 weeks",
        "learn Rust, 5 hours a week",
        "migrate service X from Python to Rust",
        "marathon training 16 weeks",
        "weekly review routine",
    ] {
        let file = place.work().join("plan.ics");
        let path = file.to_string_lossy().into_owned();
        let output =
            place.run(&["plan", goal, "--headless", "--yes", "--format", "ics", "-o", &path]);
        assert_eq!(output.status.code(), Some(0), "{goal}");
        let calendar: icalendar::Calendar =
            std::fs::read_to_string(&file).unwrap().parse().unwrap();
        assert!(!calendar.components.is_empty(), "{goal}");
    }
}

#[test]
fn every_format_is_written() {
    let place = Place::new();
    for (format, words) in
        [("markdown", "# "), ("mermaid", "flowchart"), ("gantt", "gantt"), ("dot", "digraph")]
    {
        let output = place.run(&[
            "plan",
            "learn Rust, 5 hours a week",
            "--headless",
            "--yes",
            "--format",
            format,
        ]);
        assert!(text(&output).contains(words), "{format}: {}", text(&output));
    }
}

#[test]
fn what_cannot_be_planned_is_said_in_a_sentence() {
    let place = Place::new();
    let long = "x".repeat(2001);
    for (goal, exit, words) in
        [("  ", 3, "What do you want to get done?"), (long.as_str(), 1, "2000 characters")]
    {
        let output = place.run(&["plan", goal, "--headless", "--yes"]);
        assert_eq!(output.status.code(), Some(exit), "{words}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_template_of_ones_own_with_an_error_does_not_spoil_the_plan() {
    let place = Place::new();
    let templates = place.dir.path().join("templates");
    std::fs::create_dir(&templates).unwrap();
    std::fs::write(templates.join("broken.toml"), "pattern = 3\n").unwrap();
    let output = place.run(&["plan", "learn Rust, 5 hours a week", "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("broken.toml"));
}

#[test]
fn check_schedules_tasks_with_durations_and_explains_rules() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"x\"\n[resources]\ncrane = 1\n\
         [[tasks]]\nid = \"a\"\ndescription = \"x\"\nduration = \"2h\"\nresources = { crane = 1 }\n\
         [[tasks]]\nid = \"b\"\ndescription = \"x\"\nduration = 30\nresources = { crane = 1 }\n",
    );
    let report = json_lines(&place.run(&["check", &plan, "--json"])).remove(0);
    assert_eq!(report["valid"], true);
    assert_eq!(report["schedule"]["makespan_minutes"], 150, "{report}");
    assert_eq!(report["schedule"]["lower_bound_minutes"], 150);
    let explained = text(&place.run(&["check", "--explain", "G111"]));
    assert!(explained.contains("dependency loop"), "{explained}");
    assert_eq!(place.run(&["check", "--explain", "G999"]).status.code(), Some(2));
}

#[test]
fn the_plan_of_a_session_is_exported_and_reads_back_the_same() {
    let place = Place::new();
    let plan = place.plan(crate::program::DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    for (format, words) in [
        ("plan-json", "\"tasks\""),
        ("markdown", "Diamond"),
        ("mermaid", "flowchart"),
        ("dot", "digraph"),
    ] {
        let output = place.run(&["export", "last", "--format", format]);
        assert!(text(&output).contains(words), "{format}: {}", text(&output));
    }
    let file = place.work().join("again.toml").to_string_lossy().into_owned();
    assert_eq!(
        place.run(&["export", "last", "--format", "toml", "-o", &file]).status.code(),
        Some(0)
    );
    let hash = |path: &str| {
        place.run(&["run", path, "--headless"]);
        json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0)["plan"]["hash"]
            .clone()
    };
    assert_eq!(hash(&file), hash(&plan));
    assert_eq!(place.run(&["export", "last", "--format", "gantt"]).status.code(), Some(1));
}

#[test]
fn what_a_goal_says_and_cannot_mean_is_told_and_the_rest_is_planned() {
    for (goal, words) in [
        ("finish the thesis by 31 February 2027", "no deadline was taken"),
        ("ship it by 2027-02-30", "no deadline was taken"),
        ("finish the thesis by 2020-01-01", "has passed"),
        ("learn piano in 0 weeks", "say how many weeks"),
        ("learn piano, 0 hours a week", "not a budget"),
        ("learn piano, 900 hours a week", "more than there are"),
        ("learn piano over 10000 weeks", "ten years"),
        ("marathon training 16 weeks", "professional on pain"),
    ] {
        let place = Place::new();
        let output = place.run(&["plan", goal, "--headless", "--yes"]);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(0), "{goal}: {shown}");
        let note = shown.lines().find(|line| line.starts_with("Note: "));
        assert!(note.is_some_and(|note| note.contains(words)), "{goal}: {note:?}");
        assert!(shown.contains("Schedule"), "{goal}");
    }
    let place = Place::new();
    let output = place
        .command(&["plan", "call mom", "--headless", "--yes"])
        .env("TZ", "Mars/Olympus")
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("Mars/Olympus") && said.contains("Europe/Berlin"), "{said}");
}
