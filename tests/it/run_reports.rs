//! A run as a job of a build server starts it: what it writes for other programs, and what its exit code says.

use std::fmt::Write as _;
use std::process::Output;

use junit_parser::TestStatus;

use crate::program::{Place, json_lines};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A build of which one part fails with letters that XML and GitHub treat in their own way.
const BUILD: &str = r#"
title = "Build <all> & test"
[[tasks]]
id = "build"
description = "Build"
run = { shell = "echo building" }
[[tasks]]
id = "test"
description = "Test \"it\""
depends_on = ["build"]
group = "tests"
run = { shell = "echo 'thread main panicked: 50% <off> & \"more\"'; printf '\\033[31mred\\033[0m\\001\\n'; exit 101" }
[[tasks]]
id = "ship"
description = "Ship"
depends_on = ["test"]
run = { shell = "true" }
"#;

#[test]
fn a_job_of_github_actions_gets_junit_annotations_a_summary_and_exit_1() {
    let place = Place::new();
    let (junit, page) = (place.dir.path().join("junit.xml"), place.dir.path().join("page.md"));
    let path = place.plan(BUILD);
    let mut command = place.command(&["run", &path, "--yes", "--github"]);
    let output = command
        .args(["--junit", junit.to_str().unwrap()])
        .env("GITHUB_STEP_SUMMARY", &page)
        .env("CI", "true")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));

    let file = std::fs::File::open(&junit).unwrap();
    let report = junit_parser::from_reader(std::io::BufReader::new(file)).unwrap();
    assert_eq!((report.tests, report.failures, report.skipped), (3, 1, 1));
    let suite = &report.suites[0];
    assert_eq!(suite.name, "Build <all> & test");
    let case = |name: &str| suite.cases.iter().find(|case| case.original_name == name).unwrap();
    assert!(matches!(case("Build").status, TestStatus::Success));
    assert!(matches!(case("Ship").status, TestStatus::Skipped(_)));
    let TestStatus::Failure(failure) = &case("Test \"it\"").status else { panic!("{suite:?}") };
    assert_eq!(failure.message, "exit 101");
    // The parser leaves out what is escaped; what stands between must be whole.
    for part in ["thread main panicked: 50%", "off", "more", "red"] {
        assert!(failure.text.contains(part), "{}", failure.text);
    }
    assert_eq!(case("Test \"it\"").classname.as_deref(), Some("tests"));

    let printed = text(&output.stdout);
    let annotation = printed.lines().find(|line| line.starts_with("::error ")).expect(&printed);
    assert!(annotation.contains("exit 101%0A") && annotation.contains("50%25"), "{annotation}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("| Ship | skipped") && page.contains("### Test"), "{page}");
}

#[test]
fn what_a_plan_allows_to_fail_is_a_warning_and_no_failure_of_the_report() {
    let place = Place::new();
    let junit = place.dir.path().join("junit.xml");
    let path = place.plan(
        "[[tasks]]\nid = \"lint\"\nrun = { shell = \"echo two hints; exit 1\" }\ncontinue_on_error = true\n",
    );
    let mut command = place.command(&["run", &path, "--yes", "--github"]);
    let summary = place.dir.path().join("summary.md");
    command.args(["--junit", junit.to_str().unwrap(), "--summary", summary.to_str().unwrap()]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = std::fs::File::open(&junit).unwrap();
    let report = junit_parser::from_reader(std::io::BufReader::new(file)).unwrap();
    assert_eq!((report.tests, report.failures, report.skipped), (1, 0, 1));
    let TestStatus::Skipped(skipped) = &report.suites[0].cases[0].status else { panic!() };
    assert_eq!(skipped.message, "failed, as the plan allows: exit 1");
    let printed = text(&output.stdout);
    assert!(printed.contains("\n::warning title=lint failed::exit 1%0Atwo hints"), "{printed}");
    assert!(!printed.contains("::error"), "{printed}");
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(summary.contains("| lint | failed, as the plan allows |"), "{summary}");
}

#[test]
fn a_plan_that_cannot_run_is_annotated_at_each_of_its_mistakes() {
    let place = Place::new();
    let path = place.plan(
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nretrys = 1\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ntimeout = \"soon\"\n",
    );
    let output = place.run(&["run", &path, "--yes", "--github"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    assert!(lines[0].starts_with("::error file=") && lines[0].contains("plan.toml,line=4,col=1::"));
    assert!(lines[0].contains("retries"), "{printed}");
    assert!(lines[1].contains("plan.toml,line=8,col="), "{printed}");
    let quiet = place.run(&["run", &path, "--yes"]);
    assert_eq!(text(&quiet.stdout), "", "only who asks for annotations gets them");
}

/// Three tasks fail, and ninety-nine others depend on each of them.
fn three_roots() -> String {
    let mut plan = "title = \"Wide\"\n".to_owned();
    for root in 0..3 {
        writeln!(
            plan,
            "[[tasks]]\nid = \"root{root}\"\ndescription = \"Root {root}\"\nrun = {{ shell = \"echo panicked at cause-{root}; exit 1\" }}"
        )
        .unwrap();
        for task in 0..99 {
            writeln!(
                plan,
                "[[tasks]]\nid = \"t{root}-{task}\"\ndescription = \"Task {root} {task}\"\ndepends_on = [\"root{root}\"]\nrun = {{ shell = \"true\" }}"
            )
        .unwrap();
        }
    }
    plan
}

#[test]
fn three_hundred_tasks_with_three_causes_end_with_the_three_causes() {
    let place = Place::new();
    let output = place.run(&["run", &place.plan(&three_roots()), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for root in 0..3 {
        let line = said.lines().find(|line| line.starts_with(&format!("Root {root} failed")));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains("99 tasks skipped because of it"), "{line}");
        assert!(said.contains(&format!("panicked at cause-{root}")), "{said}");
    }
    assert!(said.lines().count() < 20, "causes, not consequences:\n{said}");
    assert!(!said.contains("Task 0 0"), "{said}");
}

/// How the program is started, and what its exit code is to be.
struct ExitCase {
    situation: &'static str,
    plan: &'static str,
    args: &'static [&'static str],
    code: i32,
}

const OK: &str = "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n";
const FAILS: &str = "[[tasks]]\nid = \"a\"\nrun = { shell = \"exit 7\" }\n";
const YOURS: &str = "[[tasks]]\nid = \"a\"\nrun = { human = {} }\n";
const BOTH: &str = "[[tasks]]\nid = \"a\"\nrun = { shell = \"exit 7\" }\n[[tasks]]\nid = \"b\"\nrun = { human = {} }\n";

/// Situations of a run that nobody watches. `PLAN` stands for the plan file.
const EXITS: &[ExitCase] = &[
    ExitCase { situation: "all done", plan: OK, args: &["run", "PLAN", "--yes"], code: 0 },
    ExitCase { situation: "a task failed", plan: FAILS, args: &["run", "PLAN", "--yes"], code: 1 },
    ExitCase {
        situation: "a task was stopped at its time limit",
        plan: "[[tasks]]\nid = \"a\"\ntimeout = \"1s\"\nrun = { shell = \"sleep 30\" }\n",
        args: &["run", "PLAN", "--yes"],
        code: 1,
    },
    ExitCase {
        situation: "a task was ended by a signal",
        plan: "[[tasks]]\nid = \"a\"\nrun = { shell = \"kill -9 $$\" }\n",
        args: &["run", "PLAN", "--yes"],
        code: 1,
    },
    ExitCase {
        situation: "a failure that is put up with",
        plan: "[[tasks]]\nid = \"a\"\ncontinue_on_error = true\nrun = { shell = \"exit 7\" }\n",
        args: &["run", "PLAN", "--yes"],
        code: 0,
    },
    ExitCase { situation: "approval is missing", plan: OK, args: &["run", "PLAN"], code: 3 },
    ExitCase {
        situation: "a person has to act",
        plan: YOURS,
        args: &["run", "PLAN", "--yes"],
        code: 3,
    },
    ExitCase {
        situation: "a failure goes before what a person has to do",
        plan: BOTH,
        args: &["run", "PLAN", "--yes"],
        code: 1,
    },
    ExitCase {
        situation: "a plan that cannot be read",
        plan: "tasks = 3\n",
        args: &["run", "PLAN", "--yes"],
        code: 2,
    },
    ExitCase {
        situation: "tasks that wait for each other",
        plan: "[[tasks]]\nid = \"a\"\ndepends_on = [\"b\"]\n[[tasks]]\nid = \"b\"\ndepends_on = [\"a\"]\n",
        args: &["run", "PLAN", "--yes"],
        code: 2,
    },
    ExitCase {
        situation: "no such file",
        plan: OK,
        args: &["run", "nowhere.toml", "--yes"],
        code: 2,
    },
    ExitCase {
        situation: "an unknown flag",
        plan: OK,
        args: &["run", "PLAN", "--nothing"],
        code: 2,
    },
    ExitCase {
        situation: "a mistyped command",
        plan: OK,
        args: &["rnu", "PLAN", "--yes"],
        code: 2,
    },
    ExitCase { situation: "an unknown session", plan: OK, args: &["resume", "zzzz"], code: 2 },
    ExitCase {
        situation: "a task to run that is not there",
        plan: OK,
        args: &["run", "PLAN", "nothing", "--yes"],
        code: 2,
    },
    ExitCase {
        situation: "a terminal is needed",
        plan: "[[tasks]]\nid = \"a\"\ninteractive = true\nrun = { shell = \"vi\" }\n",
        args: &["run", "PLAN", "--yes"],
        code: 2,
    },
    ExitCase {
        situation: "the data directory cannot be written",
        plan: OK,
        args: &["run", "PLAN", "--yes", "--data-dir", "/proc/nothing"],
        code: 2,
    },
];

fn run_case(place: &Place, case: &ExitCase) -> Output {
    let path = place.plan(case.plan);
    let args: Vec<&str> =
        case.args.iter().map(|arg| if *arg == "PLAN" { path.as_str() } else { arg }).collect();
    place.run(&args)
}

#[test]
fn exit_codes_tell_what_happened() {
    let mut wrong = Vec::new();
    for case in EXITS {
        let place = Place::new();
        let output = run_case(&place, case);
        if output.status.code() != Some(case.code) {
            let said = text(&output.stderr);
            wrong.push(format!(
                "{}: {:?}, not {}\n{said}",
                case.situation, output.status, case.code
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_line_of_a_run_names_its_session() {
    let place = Place::new();
    let lines = json_lines(&place.run(&["run", &place.plan(YOURS), "--yes", "--json"]));
    assert!(lines.len() > 3);
    assert!(lines.iter().all(|line| line["session"].is_string()), "{lines:?}");
    assert!(lines.last().unwrap()["waiting"]["tasks"][0] == "a", "{lines:?}");
}
