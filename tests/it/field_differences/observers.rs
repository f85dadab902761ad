//! What can be observed of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::plan_fields::{observe_paused, observe_resumed};
use crate::program::{Place, json_lines};

/// How a plan is run and looked at.
pub(super) enum FieldObserver {
    /// It is run, and looked at as a person does: what the run prints, and the report of it.
    Shown,
    /// It is checked: the field decides what is planned, which no run waits for.
    Checked,
    /// It is run, and its plan is written out of the session again.
    Kept,
    /// Two processes run it at once.
    Together,
    /// Its tasks run by a clock that leaps, and do what their ids say.
    Paused,
    /// It is interrupted, and resumed.
    Resumed,
    /// The whole program runs it, so many times, with further arguments.
    Program { args: &'static [&'static str], runs: usize },
    /// The whole program runs it with the built-in answers instead of a model.
    Agent,
}

/// The whole program, once.
pub(super) const PROGRAM: FieldObserver = FieldObserver::Program { args: &[], runs: 1 };

impl FieldObserver {
    pub(super) fn observe(&self, plan: &str) -> String {
        match self {
            Self::Shown => observe_shown(plan),
            Self::Checked => observe_checked(plan),
            Self::Kept => observe_kept(plan),
            Self::Together => observe_together(plan),
            Self::Paused => on_paused_runtime(observe_paused(plan)),
            Self::Resumed => on_paused_runtime(observe_resumed(plan)),
            Self::Program { args, runs } => observe_program(plan, args, *runs),
            Self::Agent => observe_agent(plan),
        }
    }
}

fn on_paused_runtime(work: impl Future<Output = String>) -> String {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(work)
}

/// Every file below a directory, with its content.
fn files(directory: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, root, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap_or_default();
            found.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

/// Exit code, files, what the log shows and which artifacts are kept.
fn observe_program(plan: &str, args: &[&str], runs: usize) -> String {
    let place = Place::new();
    std::fs::create_dir(place.work().join("web")).unwrap();
    std::fs::write(place.work().join("more.env"), "FROM_FILE=yes\n").unwrap();
    std::fs::write(place.work().join("input.txt"), "one\n").unwrap();
    let executors =
        "[executors.elsewhere]\nlaunch = [\"env\", \"REACHED=elsewhere\", \"{argv}\"]\n";
    std::fs::write(place.dir.path().join("config.toml"), executors).unwrap();
    let library = "[[tasks]]\nid = \"shared\"\nrun = { shell = \"touch shared\" }\n";
    std::fs::write(place.dir.path().join("lib.toml"), library).unwrap();
    let path = place.plan(plan);
    let mut seen = String::new();
    for _ in 0..runs {
        let mut all = vec!["run", &path, "--headless", "--yes", "--jobs", "2"];
        all.extend(args);
        let mut command = place.command(&all);
        command.env("OPENAI_API_KEY", "sk-of-the-person").env("CI_TOKEN", "swordfish-12");
        let output = command.output().unwrap();
        writeln!(seen, "exit {:?}", output.status.code()).unwrap();
        if output.status.code() == Some(2) {
            // It was refused, and says why.
            let said = String::from_utf8_lossy(&output.stderr).replace(&path, "plan.toml");
            seen.push_str(&said);
        }
    }
    if plan.contains("notify") {
        wait_for_file(&place.work().join("told"));
    }
    let mut found = BTreeMap::new();
    files(&place.work(), &place.work(), &mut found);
    writeln!(seen, "{found:#?}").unwrap();
    seen.push_str(&String::from_utf8_lossy(&place.run(&["logs", "last"]).stdout));
    let mut kept = BTreeMap::new();
    let artifacts = place.data().join("artifacts");
    files(&artifacts, &artifacts, &mut kept);
    let names = kept.keys().filter_map(|name| name.rsplit('/').next());
    // The file that commands write outputs to is no artifact.
    let names: Vec<&str> = names.filter(|name| *name != "output").collect();
    writeln!(seen, "kept {names:?}").unwrap();
    seen
}

/// A command that nobody waits for takes its time.
fn wait_for_file(path: &Path) {
    for _ in 0..200 {
        if path.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
}

/// What agents and tools did, without numbers, which differ from run to run.
fn observe_agent(plan: &str) -> String {
    let place = Place::new();
    std::fs::write(place.work().join("notes.txt"), "hello\n").unwrap();
    let path = place.plan(plan);
    let args = ["run", &path, "--headless", "--yes", "--json", "--provider", "offline"];
    let output = place.run(&args);
    // A plan that names what is not there is refused, and nothing happens.
    if output.status.code() == Some(2) {
        return String::from_utf8_lossy(&output.stderr).into_owned();
    }
    let mut seen = String::new();
    for record in json_lines(&output) {
        let event = &record["event"];
        if ["agent", "call", "task"].iter().any(|topic| event["topic"] == *topic) {
            let body = event["body"].to_string();
            let without: String = body.chars().filter(|letter| !letter.is_ascii_digit()).collect();
            seen.push_str(&without);
            seen.push('\n');
        }
    }
    assert!(!seen.is_empty(), "nothing happened:\n{plan}");
    seen
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a plan that must succeed, and gives what was printed.
fn run_plan(place: &Place, plan: &str) -> String {
    let output = place.run(&["run", &place.plan(plan), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{plan}{}", text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// Words without what differs from run to run: times, durations and ids.
fn without_times(place: &Place, shown: &str) -> String {
    let shown = shown.replace(place.dir.path().to_str().unwrap(), "");
    let is_time = |word: &str| word.contains(':') && word.chars().any(|c| c.is_ascii_digit());
    let is_id = |word: &str| {
        let word = word.trim_end_matches([':', ',', '.']);
        word.len() >= 6 && word.chars().all(|c| c.is_ascii_hexdigit())
    };
    let is_unit = |word: &str| ["ms", "s"].contains(&word.trim_end_matches([',', '.', '|']));
    let mut words: Vec<&str> = Vec::new();
    for word in shown.split_whitespace().filter(|word| !is_time(word) && !is_id(word)) {
        if is_unit(word) {
            words.pop();
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

fn observe_shown(plan: &str) -> String {
    let place = Place::new();
    let printed = run_plan(&place, plan);
    let report = text(&place.run(&["export", "last", "--format", "markdown"]).stdout);
    assert!(report.starts_with("# "), "{report}");
    without_times(&place, &format!("{printed}\n{report}"))
}

fn observe_checked(plan: &str) -> String {
    let place = Place::new();
    let output = place.run(&["check", &place.plan(plan), "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    format!(
        "{:?} {} {} {}",
        output.status.code(),
        report["violations"],
        report["schedule"]["blocks"],
        report["estimated_total_tokens"]
    )
}

fn observe_kept(plan: &str) -> String {
    let place = Place::new();
    run_plan(&place, plan);
    let written = place.run(&["export", "last", "--format", "toml"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    text(&written.stdout)
}

/// Whether what two runs of the same plan do overlaps.
fn observe_together(plan: &str) -> String {
    let place = Place::new();
    let path = place.plan(plan);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut command = place.command(&["run", &path, "--headless", "--yes"]);
            scope.spawn(move || assert!(command.output().unwrap().status.success()));
        }
    });
    format!("overlap: {}", place.work().join("both").exists())
}
