//! Planning from the command line, without a model, a network or a store.

use serde_json::Value;

use crate::program::{Place, json_lines};

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_plan_that_was_kept_names_its_session_and_what_comes_next() {
    let place = Place::new();
    let output = place.run(&["plan", "learn Rust, 5 hours a week", "--headless", "--yes"]);
    let id = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let printed = String::from_utf8(output.stderr).unwrap();
    let id = planwright_model::SessionId::new(&*id);
    let named = id.short_id();
    assert!(printed.contains(&format!("session {named}: not started, 0 of ")), "{printed}");
    assert!(printed.contains(&format!("Run it: planwright run {named}")), "{printed}");
    assert_eq!(place.sessions()[0]["status"], "not started");
    let today = String::from_utf8(place.run(&["today"]).stdout).unwrap();
    if today.starts_with("Nothing is due") {
        assert!(today.contains("Next: ") && today.contains(&format!("({named}/")), "{today}");
    }
    let goal = ["plan", "launch a newsletter", "--headless", "--yes", "--json"];
    let json: serde_json::Value = serde_json::from_slice(&place.run(&goal).stdout).unwrap();
    assert_eq!(json["session"], place.sessions()[0]["id"]);
}

#[test]
fn a_plan_as_json_is_an_object_while_something_is_open() {
    let place = Place::new();
    let output = place.run(&["plan", "learn Spanish", "--headless", "--format", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["planning_status"], "needs_clarification");
    assert_eq!(object["escalate_reason"], "questions");
    assert_eq!(object["requests"][0]["kind"]["about"], "questions");
    assert_eq!(object["pattern_rfc_required"], false);
    assert!(object["response_text"].as_str().is_some_and(|text| !text.is_empty()), "{object}");
    assert!(object["roadmap"].is_null());
}

#[test]
fn a_goal_becomes_a_plan_a_person_could_start_on_monday() {
    let place = Place::new();
    let goal = "launch a newsletter";
    let output = place.run(&["plan", goal, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let plan = text(&output);
    for words in
        ["22 h 45 min of work", "longest path", "> Balanced", "Schedule", "h a week", "Confidence"]
    {
        assert!(plan.contains(words), "{words} is not in:\n{plan}");
    }
    let mut unapproved = vec!["plan", goal, "--headless", "--json"];
    unapproved.extend(["--answer", "skip"].repeat(3));
    let output = place.run(&unapproved);
    assert_eq!(output.status.code(), Some(3), "without --yes nobody approved it");
    let lines = text(&output);
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let plan = lines.next().unwrap();
    let waiting = lines.next().unwrap();
    assert_eq!(waiting["waiting"]["requests"][0]["kind"]["about"], "final_plan");
    assert_eq!(plan["feasible"], true);
    assert_eq!(plan["roadmap"]["total_minutes"], 1365);
}

#[test]
fn the_calendars_of_the_five_goals_parse_without_errors() {
    for goal in [
        "launch a newsletter in 6 weeks",
        "learn Rust, 5 hours a week",
        "migrate service X from Python to Rust",
        "marathon training 16 weeks",
        "weekly review routine",
    ] {
        // Each has its own store: beside the others sixteen weeks are too few, and the plan says so.
        let place = Place::new();
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
fn goals_that_cannot_be_planned_are_reported_in_a_sentence() {
    let place = Place::new();
    let long = "x".repeat(2001);
    for (goal, exit, words) in
        [("  ", 2, "the goal is empty"), (long.as_str(), 1, "2000 characters")]
    {
        let output = place.run(&["plan", goal, "--headless", "--yes"]);
        assert_eq!(output.status.code(), Some(exit), "{words}");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(printed.contains(words), "{printed}");
    }
}

#[test]
fn an_invalid_custom_blueprint_does_not_break_the_plan() {
    let place = Place::new();
    let blueprints = place.dir.path().join("blueprints");
    std::fs::create_dir(&blueprints).unwrap();
    std::fs::write(blueprints.join("broken.toml"), "pattern = 3\n").unwrap();
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

/// A conversation that another process has open: in linear mode it waits for a line that never comes.
struct Holder {
    child: std::process::Child,
}

impl Holder {
    fn start(place: &Place, args: &[&str]) -> Self {
        std::fs::write(place.dir.path().join("config.toml"), "").unwrap();
        let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(args)
            .arg("--plain")
            .env("PLANWRIGHT_DATA_DIR", place.data())
            .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
            .env("TZ", "UTC")
            .current_dir(place.work())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        Self { child }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the last session satisfies a condition.
fn until(place: &Place, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    loop {
        let output = place.run(&["sessions", "show", "last", "--json"]);
        if let Some(shown) = json_lines(&output).into_iter().next()
            && condition(&shown)
        {
            return shown;
        }
        assert!(std::time::Instant::now() < deadline, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn asked(shown: &Value) -> String {
    shown["requests"][0]["request"]["kind"]["about"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_answer_from_another_process_reaches_the_owner_of_the_session() {
    let place = Place::new();
    let mut holder = Holder::start(
        &place,
        &["plan", "learn Rust in 12 weeks", "--policy", "approval_policy=single_final"],
    );
    until(&place, "the hours are asked for", |shown| asked(shown) == "questions");
    // No process that Planwright started may answer, not even after removing the mark.
    let mut marked = place.command(&["answer", "last", "next", "skip"]);
    let marked = marked.env("PLANWRIGHT_CALL_ID", "x/a.1.1").output();
    assert_eq!(marked.unwrap().status.code(), Some(2));
    let program = assert_cmd::cargo::cargo_bin("planwright");
    let script =
        format!("env -u PLANWRIGHT_CALL_ID '{}' answer last next skip; exit $?", program.display());
    let hidden = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("PLANWRIGHT_CALL_ID", "x/a.1.1")
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .output()
        .unwrap();
    assert_eq!(hidden.status.code(), Some(2), "{}", String::from_utf8_lossy(&hidden.stderr));

    // Replies about the conversation and a request for ideas leave the question open.
    for (reply, exit) in [("be brief today", 0), ("ideas", 0), ("skip", 0)] {
        let output = place.run(&["answer", "last", "next", reply]);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(exit), "{reply}: {printed}");
        assert!(text(&output).contains("continues"), "{reply}: {}", text(&output));
    }
    until(&place, "the plan is asked about", |shown| asked(shown) == "final_plan");
    let wrong = place.run(&["answer", "last", "q1", "skip"]);
    assert_eq!(wrong.status.code(), Some(2), "q1 was answered before");
    let output = place.run(&["answer", "last", "next", "approve and stop", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(!json_lines(&output)[0]["answered"].is_null());
    let shown = until(&place, "the plan is approved", |shown| !shown["approval"].is_null());
    assert!(shown["requests"].as_array().unwrap().is_empty());
    assert!(holder.child.try_wait().unwrap().is_none(), "it was the holder that acted on it");

    let journal = json_lines(&place.run(&["replay", "last", "--headless", "--json"]));
    let kinds = |kind: &str| {
        let of = |record: &&Value| record["event"]["body"]["kind"] == kind;
        journal.iter().filter(of).cloned().collect::<Vec<_>>()
    };
    assert_eq!(kinds("policy_set")[0]["event"]["body"]["set"]["conversation_style"], "concise");
    assert_eq!(kinds("ideas_offered")[0]["event"]["body"]["ideas"].as_array().unwrap().len(), 2);
    assert_eq!(kinds("answered").len(), 2);
}

#[test]
fn an_answer_is_kept_for_whoever_resumes_a_session_without_an_owner() {
    let place = Place::new();
    let goal = "launch a newsletter";
    let output =
        place.run(&["plan", goal, "--headless", "--policy", "approval_policy=single_final"]);
    assert_eq!(output.status.code(), Some(3));
    // The day, the people to write to and the hours are asked for.
    for _ in 0..2 {
        let output = place.answer_and_resume(&["answer", "last", "next", "skip"]);
        assert_eq!(output.status.code(), Some(3));
        let shown = json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
        assert_eq!(asked(&shown), "questions");
    }
    let output = place.answer_and_resume(&["answer", "last", "next", "skip"]);
    assert_eq!(output.status.code(), Some(3), "the plan itself is to be approved next");
    let output = place.answer_and_resume(&[
        "answer",
        "last",
        "next",
        "propose changes: rename p1.t1 to Say who it is for",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
    assert_eq!(asked(&shown), "final_plan");
    assert!(shown["plan"]["revision"].as_u64().unwrap() >= 2);
}

fn database(place: &Place) -> rusqlite::Connection {
    rusqlite::Connection::open(place.data().join("planwright.db")).unwrap()
}

fn numbers(place: &Place, sql: &str) -> Vec<i64> {
    let connection = database(place);
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Every row of the table of plans, as one text per row.
fn plan_rows(place: &Place) -> Vec<String> {
    let connection = database(place);
    let sql = "SELECT s.id || ' ' || p.version || ' ' || p.pattern_type || '/' || coalesce(p.pattern_subtype, '')
        || ' ' || p.goal_id || ' ' || (SELECT count(*) FROM plan_node n WHERE n.session = p.session AND n.version = p.version)
        || ' ' || (SELECT count(*) FROM plan_block b WHERE b.session = p.session AND b.version = p.version)
        FROM plans p JOIN session s ON s.key = p.session ORDER BY s.id, p.version";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn nothing_dangles(place: &Place, after: &str) {
    let connection = database(place);
    let mut statement = connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!statement.exists([]).unwrap(), "after {after}");
}

#[test]
fn plans_are_found_by_their_pattern_and_the_table_is_made_again_from_the_journal() {
    let place = Place::new();
    let single = ["--headless", "--policy", "approval_policy=single_final"];
    let plan = |goal: &str, more: &[&str]| {
        let args: Vec<&str> =
            ["plan", goal].into_iter().chain(single).chain(more.iter().copied()).collect();
        place.run(&args).status.code()
    };
    let skipped = ["--answer", "skip", "--answer", "skip", "--answer", "skip"];
    assert_eq!(plan("launch a newsletter", &skipped), Some(3));
    let rename = "propose changes: rename p1.t1 to Say who it is for";
    assert_eq!(place.answer_and_resume(&["answer", "last", "next", rename]).status.code(), Some(3));
    nothing_dangles(&place, "a revision");
    assert!(
        numbers(&place, "SELECT version FROM plans ORDER BY version").len() >= 2,
        "one row a version"
    );
    assert!(numbers(&place, "SELECT count(*) FROM plan_block")[0] > 0);
    assert_eq!(
        place.answer_and_resume(&["answer", "last", "next", "approve and stop"]).status.code(),
        Some(0)
    );
    let columns = numbers(
        &place,
        "SELECT count(*) FROM pragma_table_info('plans') WHERE name LIKE '%confidence%'",
    );
    assert_eq!(columns, [0], "how sure anybody was is not kept");
    let indexed = numbers(
        &place,
        "SELECT count(*) FROM pragma_index_list('plans') WHERE name LIKE 'plans_pattern_%'",
    );
    assert_eq!(indexed, [3]);
    // What was approved is remembered, for later plans and tasks.
    let remembered = numbers(
        &place,
        "SELECT count(*) FROM memory WHERE key LIKE 'plan:%' AND text LIKE '%newsletter%'",
    );
    assert_eq!(remembered, [1]);

    let file = place.work().join("launch.jsonl").to_string_lossy().into_owned();
    assert_eq!(
        place.run(&["export", "last", "--format", "jsonl", "-o", &file]).status.code(),
        Some(0)
    );
    assert_eq!(place.run(&["fork", "last"]).status.code(), Some(0));
    nothing_dangles(&place, "a fork");
    assert_eq!(plan("weekly review routine", &["--yes"]), Some(0));
    let found = |pattern: &str| {
        json_lines(&place.run(&["sessions", "list", "--pattern", pattern, "--json"])).len()
    };
    assert_eq!(found("launch"), 2, "the plan and its fork");
    assert_eq!(found("milestone_project"), 2);
    assert_eq!(found("recurring_cycle/review_routine"), 1);
    assert_eq!(found("creative_arc"), 0);

    let other = Place::new();
    let output = other.run(&["import", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        json_lines(&other.run(&["sessions", "list", "--pattern", "launch", "--json"])).len(),
        1
    );
    nothing_dangles(&other, "an import");

    // Rebuilt from the journal alone, the table is the same.
    let before = plan_rows(&place);
    database(&place)
        .execute_batch("PRAGMA foreign_keys = ON; DELETE FROM plans; DELETE FROM projected;")
        .unwrap();
    assert_eq!(plan_rows(&place).len(), 0);
    assert_eq!(found("launch"), 2);
    assert_eq!(plan_rows(&place), before);

    assert_eq!(
        place.run(&["sessions", "prune", "--older-than", "0d", "--yes"]).status.code(),
        Some(0)
    );
    nothing_dangles(&place, "pruning");
}

#[test]
fn a_plan_reopened_in_a_new_process_is_the_plan_that_was_approved() {
    let place = Place::new();
    let goal = "learn Rust, 5 hours a week";
    assert_eq!(place.run(&["plan", goal, "--headless", "--yes"]).status.code(), Some(0));
    let shown = || json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
    let (first, plan) = (shown(), text(&place.run(&["export", "last", "--format", "plan-json"])));
    assert_eq!(first["approval"]["hash"], first["plan"]["hash"]);
    let again = shown();
    assert_eq!(first["plan"], again["plan"]);
    assert_eq!(plan, text(&place.run(&["export", "last", "--format", "plan-json"])));
    // The next plan is scheduled around it: the same hours are not assigned twice.
    let output =
        place.run(&["plan", "learn Spanish, 5 hours a week", "--headless", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let second = json_lines(&output).remove(0);
    let other: f64 = second["schedule"]["capacity"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|week| week["other_minutes"].as_f64())
        .sum();
    assert!(other > 0.0, "{}", second["schedule"]["capacity"]);
}

#[test]
fn the_style_is_asked_once_and_flags_override_settings() {
    let place = Place::new();
    let first = || {
        let goal = "launch a newsletter in 6 weeks";
        place.run(&["plan", goal, "--headless"]);
        let journal = json_lines(&place.run(&["replay", "last", "--headless", "--json"]));
        journal.iter().any(|record| {
            let text = record["event"]["body"]["text"].as_str().unwrap_or_default();
            record["event"]["body"]["kind"] == "said" && text.contains("Short or chatty answers?")
        })
    };
    assert!(first(), "nobody knows yet");
    assert!(!first(), "asked once is enough");

    let began = |config: &str, args: &[&str]| {
        let mut command = place.command(&["plan", "weekly review routine", "--headless", "--yes"]);
        std::fs::write(place.dir.path().join("config.toml"), config).unwrap();
        command.args(args).output().unwrap();
        let journal = json_lines(&place.run(&["replay", "last", "--headless", "--json"]));
        journal
            .into_iter()
            .find(|record| record["event"]["body"]["kind"] == "began")
            .map(|record| record["event"]["body"].clone())
            .unwrap()
    };
    let config = "user_id = \"ann\"\nsegment_max_sec = 90\n[policy]\ntone = \"clinical\"\nautonomy = \"low\"\n";
    let body = began(config, &["--policy", "autonomy=high"]);
    assert_eq!(body["policy"]["tone"], "clinical", "the config file goes over what is built in");
    assert_eq!(body["policy"]["autonomy"], "high", "the flag goes over the config file");
    assert_eq!(body["limits"]["segment_max_sec"], 90);
    assert!(body["thread_id"].as_str().unwrap().starts_with("user_ann:"));
}

#[test]
fn dates_that_do_not_exist_or_have_passed_are_asked_for() {
    for (goal, words) in [
        ("finish the thesis by 31 February 2027", "is not a date: February 2027 has 28 days"),
        ("ship it by 2027-02-30", "is not a date: February 2027 has 28 days"),
        ("finish the thesis by 2020-01-01", "has passed"),
    ] {
        let place = Place::new();
        let output = place.run(&["plan", goal, "--headless", "--yes"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{goal}: {said}");
        assert!(said.contains(words) && said.contains("--yes can't assume it"), "{goal}: {said}");
        assert!(!text(&output).contains("Schedule"), "{goal}");
    }
}

#[test]
fn impossible_parts_of_a_goal_are_reported_and_the_rest_is_planned() {
    for (goal, words) in [
        ("learn piano in 0 weeks", "say how many weeks"),
        ("learn piano, 0 hours a week", "not a budget"),
        ("learn piano, 900 hours a week", "more than there are"),
        ("learn piano over 10000 weeks", "ten years"),
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
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.contains("Mars/Olympus") && printed.contains("Europe/Berlin"), "{printed}");
}

#[test]
fn the_risks_of_a_plan_are_printed() {
    let place = Place::new();
    let shown = text(&place.run(&["plan", "marathon training", "--headless", "--yes"]));
    let risks = shown.split("\nRisks\n").nth(1).unwrap_or_default();
    assert!(risks.contains("Stop and ask a professional about pain"), "{shown}");
}

#[test]
fn hours_are_set_once_and_every_plan_keeps_to_them() {
    let place = Place::new();
    let config = place.dir.path().join("config.toml");
    let named = config.to_string_lossy().into_owned();
    std::fs::write(&config, "jobs = 2 # mine\n").unwrap();
    let run = |args: &[&str]| place.run(&[&["--config", &named], args].concat());
    let plan = ["plan", "launch a newsletter", "--headless", "--yes"];
    let before = text(&run(&plan));
    let hint = "your hours are Mon – Fri 18:00 – 21:00, Sat and Sun 10:00 – 17:00; planwright config set me.hours";
    assert!(before.contains(hint), "{before}");

    let wrong = run(&["config", "set", "me.hours", "whenever"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && said.contains("\"whenever\" was not understood"), "{said}");
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "jobs = 2 # mine\n");
    let set = run(&["config", "set", "me.hours", "Tue and Thu evening, Sundays"]);
    assert_eq!(text(&set), "me.hours: Tue and Thu evening, Sundays\n");
    let shown = text(&run(&["config", "show"]));
    assert!(
        shown.contains("me.hours") && shown.contains("Tue and Thu evening, Sundays"),
        "{shown}"
    );

    let after = text(&run(&plan));
    assert!(
        after.contains("Yours\n  your hours are Tue and Thu 19:00 – 21:00, Sun 10:00 – 13:00"),
        "{after}"
    );
    let schedule = after.split("Schedule").nth(1).unwrap();
    for day in ["Mon ", "Wed ", "Fri ", "Sat "] {
        let block = |line: &str| line.trim_start().starts_with(day) && line.contains(':');
        assert!(!schedule.lines().any(block), "{day} in:\n{schedule}");
    }
    let kept = std::fs::read_to_string(&config).unwrap();
    assert!(kept.starts_with("jobs = 2 # mine\n"), "{kept}");
}

#[test]
fn a_calendar_that_is_not_one_is_named() {
    let place = Place::new();
    let config = place.dir.path().join("config.toml");
    let named = config.to_string_lossy().into_owned();
    std::fs::write(&config, "[me]\ncalendars = [\"work.ics\"]\n").unwrap();
    std::fs::write(place.dir.path().join("work.ics"), "only words\n").unwrap();
    let plan = ["plan", "learn Rust, 5 hours a week", "--headless", "--yes"];
    let output = place.run(&[&["--config", &*named][..], &plan].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("work.ics: it is not a calendar file"), "{said}");
}

#[test]
fn what_was_said_is_listed_corrected_and_withdrawn_from_the_command_line() {
    let place = Place::new();
    let goal = "write a book about sourdough by 2031-06-30, 10 hours a week";
    let output = place.run(&["plan", goal, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = text(&place.run(&["facts", "last"]));
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines[1].contains("by 2031-06-30") && lines[1].contains("until Mon 30 Jun 2031"));
    assert!(lines[2].contains("10 hours a week") && lines[2].contains("at most 10 h a week"));
    let output = place.run(&["facts", "last", "correct", "2", "by", "2031-07-31"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text(&output).contains("until Thu 31 Jul 2031"), "{}", text(&output));
    let output = place.run(&["facts", "last", "withdraw", "3"]);
    assert!(!text(&output).contains("10 hours"), "{}", text(&output));
    let json: Value =
        serde_json::from_str(&text(&place.run(&["facts", "last", "--json"]))).unwrap();
    assert_eq!(json["facts"][2]["status"], "withdrawn");
    assert_eq!(json["facts"][1]["reading"]["reading"], "deadline");
    let output = place.run(&["facts", "last", "withdraw", "9"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there is no fact 9"), "{said}");
}
