//! Everything a model and its server can do wrong, through the whole program: once while planning, once in an agent task.
//!
//! No shape may end in a false success: no exit code 0 unless the answer is really the model's, no panic, no
//! hang, and standard error names the cause. Some of the shapes run in the normal suite; `PLANWRIGHT_SHAPES=all` runs
//! all of them, and `--nocapture` prints the table.

mod answers;
mod delivery;

use std::process::Output;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;

use super::server::{Act, Server};
use super::wire::{Format, KEY};
use crate::program::{Place, json_lines};

/// How many cases run at once; most of their time is waiting.
const AT_ONCE: usize = 16;
/// The normal suite runs one case in this many, which covers all wire formats.
const QUICK_STEP: usize = 10;
/// The whole program ends long before; anything that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(90);

/// The expected end of an agent task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskEnd {
    /// It fails, and reports why.
    Fails,
    /// Exactly this answer of the model completes it.
    Answers(&'static str),
}

/// One kind of failure.
#[derive(Clone, Debug)]
struct Shape {
    name: String,
    format: Format,
    /// What the server does, one act per request; the last one repeats.
    acts: Vec<Act>,
    task: TaskEnd,
}

impl Shape {
    fn new(name: impl Into<String>, format: Format, act: Act) -> Self {
        Self { name: name.into(), format, acts: vec![act], task: TaskEnd::Fails }
    }

    fn answering(mut self, answer: &'static str) -> Self {
        self.task = TaskEnd::Answers(answer);
        self
    }
}

fn all_shapes() -> Vec<Shape> {
    let mut shapes = delivery::shapes();
    shapes.extend(answers::shapes());
    shapes
}

/// A program with a server of one shape.
struct Stage {
    place: Place,
    server: Server,
}

impl Stage {
    async fn new(shape: &Shape) -> Self {
        let about = Act::json(&json!({"capabilities": ["completion", "tools"]}));
        let server = Server::start_beside(Some(about), shape.acts.clone()).await;
        let base = if shape.format == Format::OpenAi { "/v1" } else { "" };
        // In an open conversation words alone complete nothing.
        let profile = if matches!(shape.task, TaskEnd::Answers(_)) { "small" } else { "auto" };
        let config = format!(
            "profile = \"{profile}\"\nprotocol = \"tools\"\nmodel_call_limit_sec = 2\noutage_wait_min = 0\n[limits]\nretries = 1\n\
             connect_sec = 2\n[providers.mock]\nkind = \"{}\"\nbase_url = \"{}{base}\"\nmodel = \"m\"\n\
             api_key_cmd = \"echo {KEY}\"\n",
            shape.format.kind(),
            server.url
        );
        let place = Place::new();
        std::fs::write(place.dir.path().join("own.toml"), config).unwrap();
        std::fs::write(place.work().join("a.txt"), "hello\n").unwrap();
        Self { place, server }
    }

    async fn run(&self, args: &[&str]) -> Output {
        let own = self.place.dir.path().join("own.toml").display().to_string();
        let mut command = self.place.command(args);
        command.args(["--headless", "--provider", "mock", "--config", &own]).timeout(LIMIT);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    /// The answer with which the task of the last session ended.
    async fn task_answer(&self) -> Option<String> {
        let records = json_lines(&self.run(&["replay", "last", "--json"]).await);
        let concluded = records.iter().rev().find(|record| {
            record["event"]["topic"] == "agent" && record["event"]["body"]["kind"] == "concluded"
        })?;
        concluded["event"]["body"]["answer"].as_str().map(str::to_owned)
    }

    async fn tokens(&self) -> u64 {
        let shown = json_lines(&self.run(&["sessions", "show", "last", "--json"]).await);
        shown[0]["tokens"].as_u64().unwrap_or(u64::MAX)
    }
}

/// The result of one shape: the row of the table, and what is wrong with it.
struct Row {
    name: String,
    planned: (Option<i32>, String),
    done: (Option<i32>, String),
    faults: Vec<String>,
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What standard error reports about the cause, without the parts that are the same for all.
fn sentence(output: &Output) -> String {
    let error = stderr(output);
    let line = error.lines().find(|line| line.contains("mock")).or(error.lines().next());
    let line = line.unwrap_or_default().trim();
    let line = line.split_once("continue? ").map_or(line, |(_, why)| why);
    let line = line.split_once("; resume it with").map_or(line, |(why, _)| why);
    line.trim_start_matches("t failed: ").chars().take(160).collect()
}

/// Requirements for every run, whatever went wrong.
fn check_run(kind: &str, output: &Output, faults: &mut Vec<String>) {
    let error = stderr(output);
    match output.status.code() {
        None => faults.push(format!("{kind} did not end by itself: {:?}", output.status)),
        Some(1 | 3 | 4 | 0) => {}
        Some(code) => faults.push(format!("{kind} exits {code}: {error}")),
    }
    if error.contains("panicked") {
        faults.push(format!("{kind} panicked: {error}"));
    }
    let shown = String::from_utf8_lossy(&output.stdout);
    if error.contains(KEY) || shown.contains(KEY) {
        faults.push(format!("{kind} shows the key"));
    }
}

/// Whether standard error names the provider that failed, or asks the person what becomes of an answer of no use.
fn names_cause(output: &Output) -> bool {
    let error = stderr(output);
    let asks = output.status.code() == Some(3) && error.contains("The answer could not be used");
    asks || error.contains("mock")
}

async fn try_shape(shape: Shape) -> Row {
    let mut faults = Vec::new();
    let stage = Stage::new(&shape).await;
    let goal = "launch a newsletter in 6 weeks";
    let planned = stage.run(&["plan", goal, "--yes"]).await;
    check_run("plan", &planned, &mut faults);
    if planned.status.success() {
        faults.push("plan succeeds".to_owned());
    }
    if !stderr(&planned).contains("mock") {
        faults.push(format!("plan does not name the cause: {}", stderr(&planned)));
    }
    // Each run has its own server, so that acts start from the beginning.
    let stage = Stage::new(&shape).await;
    let plan = stage.place.plan(
        "title = \"Shapes\"\n[[tasks]]\nid = \"t\"\ndescription = \"What does a.txt say?\"\n\
         task_type = \"generic\"\nrun = { agent = {} }\n",
    );
    let done = stage.run(&["run", &plan, "--yes"]).await;
    check_run("run", &done, &mut faults);
    match shape.task {
        TaskEnd::Fails if done.status.success() => {
            faults.push(format!("run succeeds with {:?}", stage.task_answer().await));
        }
        TaskEnd::Fails if !names_cause(&done) => {
            faults.push(format!("run does not name the cause: {}", stderr(&done)));
        }
        TaskEnd::Fails => {}
        TaskEnd::Answers(answer) => {
            let given = stage.task_answer().await;
            if !done.status.success() || given.as_deref() != Some(answer) {
                faults.push(format!("run ends with {given:?}: {}", stderr(&done)));
            }
            let tokens = stage.tokens().await;
            if tokens > 1_000_000 {
                faults.push(format!("{tokens} tokens are booked"));
            }
        }
    }
    drop(stage.server);
    let row = |output: &Output| (output.status.code(), sentence(output));
    Row { name: shape.name, planned: row(&planned), done: row(&done), faults }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_failure_shape_of_a_model_ends_in_a_false_success() {
    let shapes = all_shapes();
    assert!(shapes.len() >= 115, "{} shapes", shapes.len());
    let mut names: Vec<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), shapes.len(), "every shape has a name of its own");
    let all = std::env::var("PLANWRIGHT_SHAPES").is_ok_and(|which| which == "all");
    let wanted = std::env::var("PLANWRIGHT_SHAPES").ok().filter(|_| !all);
    let chosen = shapes.into_iter().enumerate().filter(|(at, shape)| match &wanted {
        Some(part) => shape.name.contains(part.as_str()),
        None => all || at % QUICK_STEP == 0,
    });
    let rows: Vec<Row> = futures_util::stream::iter(chosen.map(|(_, shape)| try_shape(shape)))
        .buffered(AT_ONCE)
        .collect()
        .await;
    println!(
        "| shape | plan | what was said | task | what was said |\n| --- | --- | --- | --- | --- |"
    );
    for row in &rows {
        let code = |code: Option<i32>| code.map_or("-".to_owned(), |code| code.to_string());
        let (planned, done) = (&row.planned, &row.done);
        println!(
            "| {} | {} | {} | {} | {} |",
            row.name,
            code(planned.0),
            planned.1,
            code(done.0),
            done.1
        );
    }
    let faults: Vec<String> = rows
        .iter()
        .flat_map(|row| row.faults.iter().map(|fault| format!("{}: {fault}", row.name)))
        .collect();
    assert!(faults.is_empty(), "{} of {} shapes:\n{}", faults.len(), rows.len(), faults.join("\n"));
}
