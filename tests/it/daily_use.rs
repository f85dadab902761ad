//! The first run and daily use: what is due, the demo, the config, the doctor, and the commands of the README.

use std::path::Path;
use std::process::Output;

use crate::program::{Place, json_lines};

const KEYS: &str = r#"
title = "Renewal"
[[tasks]]
id = "keys"
description = "Renew the signing key"
run = { human = {} }
[[tasks]]
id = "tell"
description = "Tell the others"
run = { shell = "echo told" }
depends_on = ["keys"]
"#;

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn a_lag_keeps_a_task_of_a_person_out_of_today_until_it_is_over() {
    let place = Place::new();
    let plan = |lag: &str| {
        place.plan(&format!(
            "title = \"Paint\"\n[[tasks]]\nid = \"coat\"\nrun = {{ shell = \"echo painted\" }}\n\
             [[tasks]]\nid = \"sand\"\ndescription = \"Sand it\"\nrun = {{ human = {{}} }}\n\
             depends_on = [{{ task = \"coat\", lag = \"{lag}\", lag_basis = \"elapsed\" }}]\n"
        ))
    };
    place.run(&["run", &plan("2d"), "--headless", "--yes"]);
    assert!(place.run(&["today", "--json"]).stdout.is_empty(), "it is not due for two days");
    // Whoever does it earlier may.
    let done = place.run(&["today", "done", "sand"]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    place.run(&["run", &plan("0m"), "--headless", "--yes"]);
    let due = json_lines(&place.run(&["today", "--json"]));
    assert_eq!((due.len(), due[0]["task"].as_str()), (1, Some("sand")));
}

#[test]
fn tasks_for_a_person_are_due_and_can_be_done_from_another_terminal() {
    let place = Place::new();
    let nothing = place.run(&["today"]);
    assert_eq!(code(&nothing), 0);
    assert!(stdout(&nothing).starts_with("Nothing is due today"), "{}", stdout(&nothing));
    let plan = place.plan(KEYS);
    let run = place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(code(&run), 3);
    let printed = stderr(&run);
    let (_, named) = printed.split_once("planwright today done ").unwrap();
    assert!(named.lines().next().unwrap().ends_with("/keys"), "{printed}");
    let due = json_lines(&place.run(&["today", "--json"]));
    assert_eq!(due.len(), 1);
    assert_eq!((due[0]["task"].as_str(), due[0]["status"].as_str()), (Some("keys"), Some("yours")));
    assert!(stdout(&place.run(&["today"])).contains("Renew the signing key"));
    let moved = place.run(&["today", "move", "1", "tomorrow"]);
    assert_eq!(code(&moved), 2);
    assert!(stderr(&moved).contains("no time to move"), "{}", stderr(&moved));
    let done = place.run(&["today", "done", "keys", "--note", "valid until 2028"]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    assert!(stdout(&done).contains("1 of 2 done"), "{}", stdout(&done));
    // This started nothing: the command of the other task still waits.
    assert!(place.run(&["today", "--json"]).stdout.is_empty());
    let rest = place.run(&["resume", "last", "--headless"]);
    assert_eq!(code(&rest), 0, "{}", stderr(&rest));
    assert_eq!(place.sessions()[0]["status"], "done");
}

#[test]
fn a_task_scheduled_for_later_can_be_done_sooner_by_its_name() {
    let place = Place::new();
    let goal = ["plan", "learn Rust, 5 hours a week", "--headless", "--yes"];
    assert_eq!(code(&place.run(&goal)), 0);
    assert_eq!(code(&place.run(&["resume", "last", "--headless"])), 3);
    assert!(place.run(&["today", "--json"]).stdout.is_empty(), "it begins tomorrow");
    let later = place.run(&["today", "done", "p1.t2"]);
    assert_ne!(code(&later), 0, "it waits for another");
    let done = place.run(&["today", "done", "p1.t1"]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    assert!(stdout(&done).contains("1 of "), "{}", stdout(&done));
    assert_eq!(code(&place.run(&["today", "done", "7"])), 2, "numbers are of the list alone");
}

#[test]
fn completing_the_last_task_of_a_person_ends_the_run() {
    let place = Place::new();
    let plan = place.plan("title = \"One\"\n[[tasks]]\nid = \"a\"\nrun = { human = {} }\n");
    place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(place.sessions()[0]["status"], "active");
    let skipped = place.run(&["today", "skip", "a"]);
    assert_eq!(code(&skipped), 0, "{}", stderr(&skipped));
    assert_eq!(place.sessions()[0]["status"], "done");
    assert_eq!(code(&place.run(&["today", "done", "a"])), 2);
}

#[test]
fn the_demo_comes_with_the_program() {
    let place = Place::new();
    let lines = stdout(&place.run(&["demo", "--headless"]));
    assert!(lines.contains("318 tests passed") && lines.contains("published 2.0.0"), "{lines}");
    let plan = place.run(&["demo", "--plan"]);
    let path = place.plan(&stdout(&plan));
    assert_eq!(code(&place.run(&["check", &path])), 0);
    assert!(place.sessions().is_empty(), "watching keeps nothing");
}

#[test]
fn a_config_is_written_once_and_explains_itself() {
    let place = Place::new();
    let written = place.run(&["config", "init"]);
    assert_eq!(code(&written), 0, "{}", stderr(&written));
    let path = place.dir.path().join("config.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("#jobs = 3") && text.contains("[keys]"));
    // The helper of these tests empties the file before each command; what a person wrote must stay.
    std::fs::write(&path, "jobs = 7\n").unwrap();
    let by_hand = |args: &[&str]| {
        std::process::Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(args)
            .env("PLANWRIGHT_CONFIG", &path)
            .output()
            .unwrap()
    };
    let again = by_hand(&["config", "init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("--force"), "{}", stderr(&again));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "jobs = 7\n");
    let show = by_hand(&["config", "show"]);
    let shown = stdout(&show);
    let jobs = shown.lines().find(|line| line.starts_with("jobs ")).unwrap();
    assert!(jobs.contains('7') && jobs.contains("config.toml"), "{jobs}");
    assert!(shown.lines().any(|line| line.starts_with("theme") && line.ends_with("built in")));
}

/// A doctor in an empty home directory, with nothing in the environment that could be a provider.
fn doctor(home: &Path, args: &[&str]) -> Output {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .arg("doctor")
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TZ", "Europe/Berlin")
        .env("OLLAMA_HOST", "http://127.0.0.1:9")
        .current_dir(home)
        .output()
        .unwrap()
}

#[test]
fn the_doctor_passes_on_a_machine_without_a_provider() {
    let home = tempfile::tempdir().unwrap();
    let output = doctor(home.path(), &[]);
    let printed = stdout(&output);
    assert_eq!(code(&output), 0, "{printed}");
    for words in ["offline planner", "nothing saved yet", "Europe/Berlin", "sandbox", "config init"]
    {
        assert!(printed.contains(words), "{words} is missing:\n{printed}");
    }
    assert!(!printed.contains("fail "), "{printed}");
    for line in json_lines(&doctor(home.path(), &["--json"])) {
        assert!(line["status"] == "ok" || line["next"].is_string(), "{line}");
    }
}

#[test]
fn the_doctor_finds_a_damaged_database_and_suggests_a_fix() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join(".local/share/planwright");
    std::fs::create_dir_all(&data).unwrap();
    let place = Place::new();
    let plan = place.plan(KEYS);
    place.run(&["run", &plan, "--headless", "--yes"]);
    for entry in std::fs::read_dir(place.data()).unwrap().flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), data.join(entry.file_name())).unwrap();
        }
    }
    let database = std::fs::read_dir(&data)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| std::fs::read(path).unwrap().starts_with(b"SQLite format 3"))
        .expect("there is a database");
    assert_eq!(code(&doctor(home.path(), &[])), 0);
    let mut bytes = std::fs::read(&database).unwrap();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0x5a;
    }
    std::fs::write(&database, bytes).unwrap();
    for log in ["-wal", "-shm"] {
        let mut name = database.clone().into_os_string();
        name.push(log);
        let _ = std::fs::remove_file(name);
    }
    let output = doctor(home.path(), &["--json"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    let store = json_lines(&output).into_iter().find(|line| line["status"] == "fail").unwrap();
    assert_eq!(store["name"], "store", "{store}");
    assert!(store["next"].as_str().is_some_and(|next| next.len() > 20), "{store}");
}

#[test]
fn the_doctor_continues_with_a_config_that_cannot_be_read() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/planwright");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "jobz = 3\n").unwrap();
    let output = doctor(home.path(), &[]);
    let printed = stdout(&output);
    assert_eq!(code(&output), 1, "{printed}");
    assert!(
        printed.contains("did you mean `jobs`?") && printed.contains("offline planner"),
        "{printed}"
    );
}

/// Every command in the `sh` blocks of the README that begins with `planwright` is understood: it does its work, or reports
/// that it needs a terminal.
#[test]
fn the_commands_of_the_readme_work_in_their_order() {
    let readme = include_str!("../../README.md");
    let place = Place::new();
    let plan = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    std::fs::write(place.work().join("plan.toml"), plan).unwrap();
    let mut run = 0;
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
            continue;
        }
        let command = line.split(" #").next().unwrap_or_default().trim();
        let Some(args) = command.strip_prefix("planwright").filter(|_| inside) else { continue };
        let args = words(args);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = place.run(&args);
        let printed = stderr(&output);
        let needs_screen = code(&output) == 2 && printed.contains("needs a terminal");
        let waits = code(&output) == 3 && printed.contains("waits for you");
        assert!(
            code(&output) == 0 || needs_screen || waits,
            "{line}\n{printed}{}",
            stdout(&output)
        );
        run += 1;
    }
    assert!(run >= 12, "the README has only {run} commands");
}

/// Splits a command line at spaces that are not in quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_pictures_of_the_readme_are_there() {
    let readme = include_str!("../../README.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named: Vec<&str> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| target.split('.').next_back() == Some("svg"))
        .collect();
    assert!(named.len() >= 3, "{named:?}");
    for target in named {
        let text = std::fs::read_to_string(root.join(target)).unwrap();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{target}");
    }
}

#[test]
fn flags_may_stand_on_either_side_of_a_bare_goal() {
    let place = Place::new();
    let before = place.run(&["--headless", "--yes", "learn Rust, 5 hours a week"]);
    let behind = place.run(&["learn", "Rust,", "5 hours a week", "--headless", "--yes"]);
    for output in [&before, &behind] {
        assert_eq!(code(output), 0, "{}", stderr(output));
        assert!(stdout(output).starts_with("learn Rust, 5 hours a week\n"), "{}", stdout(output));
    }
    let format = place.run(&["learn to draw", "--headless", "--yes", "--format", "dot"]);
    assert!(stdout(&format).starts_with("digraph"), "{}", stdout(&format));
    // One word that is nearly a command is a typo, whatever flags follow.
    let slip = place.run(&["resum", "--headless"]);
    assert_eq!(code(&slip), 2);
    assert!(stderr(&slip).contains("did you mean `planwright resume`?"), "{}", stderr(&slip));
    let unknown = place.run(&["learn to draw", "--headles"]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("--headless"), "{}", stderr(&unknown));
    assert!(!stderr(&unknown).contains("as a value"), "{}", stderr(&unknown));
    assert_eq!(place.sessions().len(), 3);
}

#[test]
fn an_empty_goal_or_search_is_refused() {
    let place = Place::new();
    for empty in
        [&["plan", "", "--headless"][..], &["plan", "  ", "--headless"], &["--headless", ""]]
    {
        let output = place.run(empty);
        assert_eq!(code(&output), 2, "{empty:?}");
        assert!(stderr(&output).contains("the goal is empty"), "{}", stderr(&output));
    }
    assert!(!place.data().join("planwright.db").exists(), "nothing was made");
    place.run(&["plan", "learn to draw", "--headless", "--yes"]);
    let searched = place.run(&["sessions", "search", " "]);
    assert_eq!(code(&searched), 2);
    assert!(stderr(&searched).contains("nothing to search for"), "{}", stderr(&searched));
    assert_eq!(code(&place.run(&["sessions", "search", "--kind", "plan"])), 0);
}

#[test]
fn an_imported_plan_is_distinguished_from_a_session() {
    let place = Place::new();
    place.run(&["plan", "learn to draw", "--headless", "--yes"]);
    let file = place.work().join("drawing.json");
    let file = file.to_str().unwrap();
    place.run(&["export", "last", "--format", "plan-json", "-o", file]);
    for plan in [file, &place.plan(KEYS)] {
        let output = place.run(&["import", plan]);
        assert_eq!(code(&output), 1);
        let message = stderr(&output);
        assert!(message.contains("is a plan, and only sessions are imported"), "{message}");
        assert!(message.contains(&format!("planwright run {plan}")), "{message}");
    }
}

#[test]
fn a_plan_of_commands_reports_no_tokens() {
    let place = Place::new();
    let commands = stdout(&place.run(&["check", &place.plan(KEYS)]));
    assert!(commands.contains("critical path") && !commands.contains("token"), "{commands}");
    let agents = KEYS.replace("run = { human = {} }", "run = { agent = {} }");
    let agents = stdout(&place.run(&["check", &place.plan(&agents)]));
    assert!(agents.contains("(by tokens)") && agents.contains("estimated"), "{agents}");
}

#[test]
fn a_data_directory_that_is_a_file_is_named_with_what_to_do() {
    let place = Place::new();
    let file = place.work().join("file");
    std::fs::write(&file, "in the way").unwrap();
    for command in [&["sessions", "list"][..], &["today"], &["plan", "learn to draw", "--headless"]]
    {
        let mut args = vec!["--data-dir", file.to_str().unwrap()];
        args.extend(command);
        let output = place.run(&args);
        assert_eq!(code(&output), 1, "{command:?}");
        assert!(stderr(&output).contains("is a file"), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("name a directory with --data-dir"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn rules_are_explained_without_numbers_of_sections() {
    let place = Place::new();
    for rule in ["G401", "G402", "G304"] {
        let message = stdout(&place.run(&["check", "--explain", rule]));
        assert!(message.contains(rule) && !message.contains('\u{a7}'), "{message}");
    }
}
