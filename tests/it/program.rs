//! The whole program without a screen.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A separate data directory and workspace.
pub struct Place {
    pub dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        std::fs::write(dir.path().join("config.toml"), "").unwrap();
        Self { dir }
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.dir.path().join("data")
    }

    pub fn work(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }

    /// Writes a plan file and returns its path.
    pub fn plan(&self, text: &str) -> String {
        let path = self.dir.path().join("plan.toml");
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("planwright").unwrap();
        command
            .args(args)
            .env("PLANWRIGHT_DATA_DIR", self.data())
            .env("PLANWRIGHT_CONFIG", self.dir.path().join("config.toml"))
            .env("TZ", "UTC")
            .env_remove("NO_COLOR")
            .current_dir(self.work())
            .timeout(Duration::from_secs(60));
        let config = self.dir.path().join("config.toml");
        if !config.exists() {
            std::fs::write(config, "").unwrap();
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Answers a question of a session that nobody works on, and resumes the session with the same flags.
    pub fn answer_and_resume(&self, args: &[&str]) -> Output {
        let answered = self.run(args);
        if !answered.status.success() {
            return answered;
        }
        self.run(&resume_after(args))
    }

    pub fn sessions(&self) -> Vec<Value> {
        json_lines(&self.run(&["sessions", "list", "--json"]))
    }
}

/// The command that resumes a session after an `answer`, with the same flags.
pub fn resume_after<'a>(answer: &[&'a str]) -> Vec<&'a str> {
    let mut resume = vec!["resume", answer[1], "--headless"];
    let mut rest = answer[3..].iter().copied().skip_while(|arg| !arg.starts_with("--"));
    while let Some(flag) = rest.next() {
        match flag {
            "--headless" => {}
            "--revision" => drop(rest.next()),
            _ => resume.push(flag),
        }
    }
    resume
}

pub fn json_lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Two branches that meet: each task appends its name to a file.
pub const DIAMOND: &str = r#"
title = "Diamond"
[[tasks]]
id = "a"
description = "Start"
run = { shell = "echo a >> done.txt" }
[[tasks]]
id = "b"
description = "Left"
depends_on = ["a"]
run = { shell = "sleep 0.3; echo b >> done.txt" }
[[tasks]]
id = "c"
description = "Right"
depends_on = ["a"]
run = { shell = "sleep 0.3; echo c >> done.txt" }
[[tasks]]
id = "d"
description = "End"
depends_on = ["b", "c"]
run = { shell = "echo d >> done.txt" }
"#;

#[test]
fn a_shell_plan_runs_headless_and_is_listed_as_done() {
    let place = Place::new();
    let output = place.run(&["run", &place.plan(DIAMOND), "--headless", "--yes", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let records = json_lines(&output);
    assert!(
        records.iter().zip(1..).all(|(record, seq)| record["seq"] == seq),
        "every event, in order"
    );
    let moment = |task: &str, kind: &str| {
        let position = records.iter().position(|record| {
            record["event"]["topic"] == "task"
                && record["event"]["body"]["kind"] == kind
                && record["event"]["body"]["task"] == task
        });
        position.unwrap_or_else(|| panic!("{task} {kind}"))
    };
    assert!(
        moment("b", "started") < moment("c", "completed")
            && moment("c", "started") < moment("b", "completed")
    );
    assert!(
        moment("a", "completed") < moment("b", "started")
            && moment("c", "completed") < moment("d", "started")
    );
    let sessions = place.sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!(
        (&sessions[0]["status"], &sessions[0]["done"], &sessions[0]["total"]),
        (&"done".into(), &4.into(), &4.into())
    );
    let shown = json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
    assert!(shown["tasks"].as_array().unwrap().iter().all(|task| task["status"] == "done"));
}

#[test]
fn a_failing_task_makes_exit_code_one_and_can_be_retried() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"Fails once\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = { shell = \"test -e ready\" }\n\
         [[tasks]]\nid = \"b\"\ndescription = \"y\"\ndepends_on = [\"a\"]\nrun = { shell = \"true\" }\n",
    );
    let output = place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(code(&output), 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("exit 1"));
    std::fs::write(place.work().join("ready"), "").unwrap();
    let output = place.run(&["resume", "last", "--headless", "--retry", "failed"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(place.sessions()[0]["done"], 2);
}

#[test]
fn without_yes_the_plan_waits_and_can_be_resumed_later() {
    let place = Place::new();
    let output = place.run(&["run", &place.plan(DIAMOND), "--headless"]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("Run this plan?"), "{}", stderr(&output));
    assert!(!place.work().join("done.txt").exists(), "nothing runs before it is approved");
    assert_eq!(place.sessions()[0]["status"], "needs you");
    let output = place.run(&["resume", "last", "--headless", "--yes"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(place.sessions()[0]["status"], "done");
}

#[test]
fn a_persons_task_waits_with_exit_code_three() {
    let place = Place::new();
    let plan = place.plan("title = \"Mine\"\n[[tasks]]\nid = \"call\"\ndescription = \"Call them\"\nrun = { human = {} }\n");
    let output = place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("is yours to do"));
}

#[test]
fn bad_input_gets_one_clear_sentence_and_its_exit_code() {
    let place = Place::new();
    let cases: &[(&str, &str)] = &[
        (
            "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\ndepends_on = [\"b\"]\n[[tasks]]\nid = \"b\"\ndescription = \"x\"\ndepends_on = [\"a\"]\n",
            "a → b → a",
        ),
        (
            "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"y\"\n",
            "`a`",
        ),
        ("title = \"x\"\n[[tasks]]\nid = \"a\"\ndescripton = \"x\"\n", "description"),
        ("title = \"x\"\n[[tasks\n", "plan.toml:2"),
    ];
    for (text, words) in cases {
        let plan = place.plan(text);
        for args in [&["run", &plan, "--headless", "--yes"][..], &["check", &plan][..]] {
            let output = place.run(args);
            let all = format!("{}{}", stderr(&output), String::from_utf8_lossy(&output.stdout));
            // Nothing ran: that is no failure of a task.
            assert_eq!(code(&output), 2, "{all}");
            assert!(all.contains(words), "{words} is not in: {all}");
        }
    }
    assert!(!place.data().exists(), "nothing is written for a plan that cannot run");
    let output = place.run(&["run", "nowhere/plan.toml", "--headless"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    for (args, next) in [
        (&["replay", "zzz", "--headless"][..], "planwright sessions list"),
        (&["resume", "last", "--headless"], "or planwright run plan.toml"),
        (&["sessions", "show", "abc"], "planwright sessions list"),
    ] {
        let output = place.run(args);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains(next), "{}", stderr(&output));
    }
    let output = place.run(&["run", &place.plan(DIAMOND)]);
    assert_eq!(code(&output), 3, "without a terminal it is headless, and nobody approves");
    for words in [&["reusme", "last", "--headless", "--yes"][..], &["chek", "plan.toml"], &["rnu"]]
    {
        let output = place.run(words);
        assert_eq!(code(&output), 2, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("did you mean"), "{}", stderr(&output));
    }
}

/// Each way a run of a plan file ends, with its exit code. None of them needs a flag but `--yes`.
#[test]
fn every_ending_of_a_run_has_its_exit_code() {
    let task = |id: &str, fields: &str| {
        format!("[[tasks]]\nid = \"{id}\"\ndescription = \"{id}\"\n{fields}\n")
    };
    let shell = |id: &str, command: &str, more: &str| {
        task(id, &format!("run = {{ shell = \"{command}\" }}\n{more}"))
    };
    let human = task("sign", "run = { human = {} }");
    let criteria = "exit_criteria = [{ kind = \"file_exists\", path = \"nowhere\" }]";
    let cases: Vec<(&str, String, i32)> = vec![
        ("all done", shell("a", "true", ""), 0),
        ("a failure", shell("a", "exit 3", ""), 1),
        ("a signal", shell("a", "kill -9 $$", ""), 1),
        ("a time limit", shell("a", "sleep 9", "timeout = 1"), 1),
        ("a criterion", shell("a", "true", criteria), 1),
        ("a failure that is put up with", shell("a", "false", "continue_on_error = true"), 0),
        (
            "a cleanup that is not needed",
            shell("a", "true", "") + &shell("b", "true", "depends_on = [\"a\"]\nwhen = \"failed\""),
            0,
        ),
        (
            "a cleanup after a failure",
            shell("a", "false", "")
                + &shell("b", "true", "depends_on = [\"a\"]\nwhen = \"always\""),
            1,
        ),
        (
            "a retry that helps",
            shell(
                "a",
                "test -e again || { touch again; false; }",
                "retries = { max = 1, backoff = 0 }",
            ),
            0,
        ),
        ("a task of the person's", human.clone(), 3),
        ("a failure beside a task of the person's", shell("a", "false", "") + &human, 1),
        ("a shell that is not there", shell("a", "true", "shell = [\"/nowhere/sh\"]"), 1),
        ("a directory that is not there", shell("a", "true", "cwd = \"nowhere\""), 1),
        (
            "a cycle",
            shell("a", "true", "depends_on = [\"b\"]")
                + &shell("b", "true", "depends_on = [\"a\"]"),
            2,
        ),
        ("an unknown field", shell("a", "true", "retrys = 1"), 2),
        ("a directory outside", shell("a", "true", "cwd = \"..\""), 2),
    ];
    for (what, text, expected) in cases {
        let place = Place::new();
        let output = place.run(&["run", &place.plan(&text), "--yes"]);
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert_eq!(code(&output), expected, "{what}: {printed}");
    }
    let place = Place::new();
    let plan = place.plan(&(shell("a", "touch a", "tags = [\"x\"]") + &shell("b", "touch b", "")));
    for (words, expected, made) in
        [(&["b"][..], 0, "b"), (&["--tag", "x"], 0, "a"), (&["c"], 2, ""), (&["--tag", "y"], 2, "")]
    {
        let args: Vec<&str> =
            ["run", &plan, "--yes"].into_iter().chain(words.iter().copied()).collect();
        let output = place.run(&args);
        assert_eq!(code(&output), expected, "{words:?}: {}", stderr(&output));
        for file in ["a", "b"] {
            let path = place.work().join(file);
            assert_eq!(path.exists(), file == made, "{words:?}");
            let _ = std::fs::remove_file(path);
        }
    }
}

#[test]
fn the_end_of_a_run_has_causes_with_output_and_json_names_the_session() {
    let place = Place::new();
    let plan = place.plan(
        "[[tasks]]\nid = \"a\"\ndescription = \"Compile\"\nrun = { shell = \"echo one; echo two >&2; exit 4\" }\n",
    );
    let output = place.run(&["run", &plan, "--yes"]);
    let printed = stderr(&output);
    let lines: Vec<&str> = printed.lines().collect();
    let failed = lines.iter().position(|line| line.starts_with("Compile failed")).expect(&printed);
    assert_eq!(lines[failed + 1..failed + 3], ["  one", "  two"], "{printed}");
    let (junit, summary) = (place.work().join("junit.xml"), place.work().join("run.md"));
    let (junit_name, summary_name) = (junit.to_str().unwrap(), summary.to_str().unwrap());
    let reports = ["--junit", junit_name, "--summary", summary_name, "--github"];
    let args: Vec<&str> = ["run", &plan, "--yes"].into_iter().chain(reports).collect();
    let output = place.run(&args);
    assert_eq!(code(&output), 1);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("::error title=Compile failed::exit 4%0Aone%0Atwo"), "{printed}");
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("<failure message=\"exit 4\">one\ntwo</failure>"), "{junit}");
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(summary.contains("### Compile: exit 4"), "{summary}");
    let output = place.run(&["run", &plan, "--yes", "--json"]);
    let records = json_lines(&output);
    let id = records[0]["session"].as_str().unwrap().to_owned();
    assert!(!id.is_empty() && records.iter().all(|record| record["session"] == id.as_str()));
}

#[test]
fn a_link_to_a_missing_task_is_an_error_everywhere() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\ndepends_on = [\"biuld\"]\nrun = { shell = \"true\" }\n\
         [[tasks]]\nid = \"build\"\ndescription = \"x\"\nrun = { shell = \"true\" }\n",
    );
    // With a screen, in plain mode and without any: nothing is started and no session is made.
    for how in [&["--headless", "--yes"][..], &["--headless"], &["--plain"], &[]] {
        let output = place.run(&[&["run", plan.as_str()], how].concat());
        assert_eq!(code(&output), 2, "{how:?}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.contains("plan.toml:5:15: `a` waits for a missing task: there is no task biuld"),
            "{said}"
        );
        assert!(said.contains("Did you mean `build`?"), "{said}");
    }
    assert!(!place.data().exists(), "nothing was started");
    let output = place.run(&["check", &plan]);
    assert_eq!(code(&output), 2);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("plan.toml:5:15: error[dependency_missing]"), "{said}");
    assert!(said.contains("Did you mean `build`?"), "{said}");
    let itself = place.plan(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndepends_on = [\"a\"]\nrun = { shell = \"true\" }\n",
    );
    for args in [["check", itself.as_str()], ["run", itself.as_str()]] {
        assert_eq!(code(&place.run(&args)), 2, "a link to itself is dropped by {args:?}");
    }
    let plan = place.plan(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\ndepends_on = [\"biuld\"]\nrun = { shell = \"true\" }\n",
    );
    let output = place.run(&["run", &plan, "--headless", "--yes", "--allow-missing"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn an_unusable_store_is_reported_in_a_sentence() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    std::fs::write(place.data(), "not a directory").unwrap();
    let output = place.run(&["run", &plan, "--headless", "--yes"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(place.data()).unwrap(), "not a directory");
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_alone() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(code(&place.run(&["run", &plan, "--headless", "--yes"])), 0);
    let database = place.data().join("planwright.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.pragma_update(None, "user_version", 4_000).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let before = std::fs::read(&database).unwrap();
    for args in [&["sessions", "list"][..], &["run", &plan, "--headless", "--yes"]] {
        let output = place.run(args);
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        assert!(stderr(&output).contains("newer"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[test]
fn a_session_is_named_by_any_unique_prefix() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(code(&place.run(&["run", &plan, "--headless", "--yes"])), 0);
    let id = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    for name in [id.as_str(), &id[..6], &id[..1], "last"] {
        assert_eq!(code(&place.run(&["replay", name, "--headless"])), 0, "{name}");
    }
}

#[test]
fn closed_standard_output_does_not_stop_the_work() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let binary = assert_cmd::cargo::cargo_bin("planwright");
    let script = format!(
        "'{}' run '{plan}' --headless --yes --json --data-dir '{}' | head -n 1 >/dev/null; echo ${{PIPESTATUS[0]}}",
        binary.display(),
        place.data().display()
    );
    let output = std::process::Command::new("bash")
        .arg("-c")
        .arg(script)
        .current_dir(place.work())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0", "{}", stderr(&output));
    assert_eq!(place.sessions()[0]["status"], "done");
}

#[test]
fn settings_are_shown_with_where_they_came_from() {
    let place = Place::new();
    let mut command = place.command(&["config", "show", "--jobs", "5"]);
    std::fs::write(place.dir.path().join("config.toml"), "theme = \"light\"\n").unwrap();
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(
        text.contains("config.toml")
            && text.contains("command line, --jobs")
            && text.contains("built in"),
        "{text}"
    );
    let mut command = place.command(&["config", "show"]);
    std::fs::write(place.dir.path().join("config.toml"), "theem = \"light\"\n").unwrap();
    let output = command.output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("did you mean `theme`?"), "{}", stderr(&output));
}

#[test]
fn completions_and_the_man_page_are_generated() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = place.run(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(String::from_utf8_lossy(&output.stdout).contains("replay"));
    }
    let page = String::from_utf8(place.run(&["man"]).stdout).unwrap();
    assert!(page.starts_with(".ie") || page.contains(".TH planwright"));
    assert!(page.contains("\\-\\-in\\-doubt"), "the options of subcommands are in it");
}

const KEY: &str = "sk-ant-REDACTED";

#[test]
fn provider_keys_never_reach_a_command_or_the_disk() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = { shell = \"env > env.txt; cat key.txt\" }\n",
    );
    std::fs::write(place.work().join("key.txt"), format!("the key is {KEY}\n")).unwrap();
    let output = place
        .command(&["run", &plan, "--headless", "--yes"])
        .env("ANTHROPIC_API_KEY", KEY)
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("the key is [redacted:"));
    let env = std::fs::read_to_string(place.work().join("env.txt")).unwrap();
    assert!(!env.contains("ANTHROPIC_API_KEY") && env.contains("/a/1/1"));
    for file in walk(&place.data()) {
        let found =
            std::fs::read(&file).unwrap().windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key was written to {}", file.display());
    }
}

#[test]
fn a_plan_with_a_secret_in_a_command_is_refused_before_anything_is_written() {
    let place = Place::new();
    let plan = place.plan(&format!(
        "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = {{ shell = \"curl -H 'x-api-key: {KEY}' localhost\" }}\n"
    ));
    let output = place
        .command(&["run", &plan, "--headless", "--yes"])
        .env("ANTHROPIC_API_KEY", KEY)
        .output()
        .unwrap();
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("plan.toml:5:17: `tasks[0].run.shell`")
            && stderr(&output).contains("environment variable"),
        "{}",
        stderr(&output)
    );
    assert!(!place.data().exists());
}

fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn an_approved_and_kept_plan_runs_when_it_is_resumed() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(code(&place.run(&["run", &plan, "--headless"])), 3);
    let output = place.run(&["run", "last", "--headless", "--yes"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let again = place.run(&["resume", "last", "--headless", "--yes"]);
    assert_eq!(code(&again), 0, "a finished session has nothing left: {}", stderr(&again));
    assert_eq!(place.sessions()[0]["status"], "done");
}

#[test]
fn a_workspace_that_is_gone_is_named_and_can_be_replaced() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let gone = place.dir.path().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let gone = gone.to_string_lossy().into_owned();
    assert_eq!(code(&place.run(&["run", &plan, "--headless", "--workspace", &gone])), 3);
    std::fs::remove_dir(&gone).unwrap();
    let output = place.run(&["resume", "last", "--headless", "--yes"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("--workspace"), "{}", stderr(&output));
    let work = place.work().to_string_lossy().into_owned();
    let output = place.run(&["resume", "last", "--headless", "--yes", "--workspace", &work]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(place.work().join("done.txt").exists());
}
