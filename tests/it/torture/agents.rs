//! Kills while agents work in parallel: no effect is there twice, no answer is given twice, every call without an outcome
//! is asked about, and the session reaches its end.
//!
//! The model is a server of this test. It derives its answer from the finished steps in the request, so that it knows nothing
//! that the journal does not: a repeated request gets the same answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::execution::wait_for_leftovers;
use super::{PATIENCE, Point, Random, require_intact_store};
use crate::crash::{effects, journal};
use crate::models::server::Piece;
use crate::models::wire::Format;
use crate::program::Place;

const TASKS: usize = 6;
/// About as many events as a run has.
const MOST_LINES: u64 = 330;
/// The kinds of events of an agent, each a moment to kill at.
const KINDS: [&str; 13] = [
    "task.started",
    "agent.decided",
    "agent.model_asked",
    "agent.model_answered",
    "agent.thought",
    "agent.acted",
    "call.intended",
    "call.spawned",
    "call.concluded",
    "agent.observed",
    "agent.state_saved",
    "agent.concluded",
    "task.completed",
];

/// When a run is killed: a moment after this many events, or after the n-th of a kind.
struct Moment {
    kind: Option<&'static str>,
    count: u64,
    pause: Duration,
}

impl Moment {
    /// Seeds alternate: every other one kills at a kind, and all kinds are covered.
    fn of(seed: u64, random: &mut Random) -> Self {
        let kind = seed.is_multiple_of(2).then(|| KINDS[(seed / 2) as usize % KINDS.len()]);
        let count = match kind {
            Some("task.started" | "agent.concluded" | "task.completed") => 1 + random.below(6),
            Some(_) => 1 + random.below(24),
            None => random.below(MOST_LINES),
        };
        // At a kind the next event is what matters, and it follows soon.
        let most = if kind.is_some() { 1_500 } else { 15_000 };
        Self { kind, count, pause: Duration::from_micros(random.below(most)) }
    }

    fn words(&self) -> String {
        let what = self.kind.unwrap_or("events");
        format!("after {} {what} and {} us", self.count, self.pause.as_micros())
    }

    fn is_of(&self, record: &Value) -> bool {
        let event = &record["event"];
        let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = format!("{}.{}", name(&event["topic"]), name(&event["body"]["kind"]));
        record.get("seq").is_some() && self.kind.is_none_or(|wanted| wanted == kind)
    }
}

/// The marks that a task leaves in `done.txt`.
fn marks(task: usize) -> [String; 2] {
    [format!("t{task}-first"), format!("t{task}-last")]
}

fn command(mark: &str) -> String {
    // A command that appends and takes a while, so that a kill can hit before, between and after.
    format!("sleep 0.01; echo {mark} >> done.txt; sleep 0.01")
}

fn plan() -> String {
    let mut text = String::from("title = \"To be killed\"\n");
    for task in 0..TASKS {
        let on = if task < 4 { String::new() } else { format!("\"t{}\"", task - 4) };
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"t{task}\"\ndescription = \"Leave the marks of t{task}.\"\ndepends_on = [{on}]\n\
             tools = [\"file.write\", \"file.edit\", \"shell.run\"]\nrun = {{ agent = {{}} }}"
        );
    }
    text
}

/// Agents write directly: an effect that happened is in the workspace at once. Kills around a task's own copy are tried in
/// `agents::worktrees`.
fn config() -> String {
    let mut text = format!(
        "worktrees = false\nprovider = \"mock\"\nprotocol = \"tools\"\nreasoning_mode = \"direct\"\n[providers.mock]\nkind = \"openai\"\n\
         base_url = \"{}/v1\"\nmodel = \"m\"\nconsent = true\n",
        model()
    );
    for mark in (0..TASKS).flat_map(marks) {
        let _ = writeln!(
            text,
            "[[permissions.allow]]\ntool = \"shell.run\"\ncommand = \"{}\"\nunsandboxed = true",
            command(&mark)
        );
    }
    text
}

/// The address of the model, which serves as long as the tests run.
fn model() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                // The client may be dead by now.
                std::thread::spawn(move || serve(socket).ok());
            }
        });
        address
    })
}

fn serve(socket: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(socket.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut bytes = Vec::new();
    for piece in answer(&String::from_utf8_lossy(&body)) {
        if let Piece::Send(sent) = piece {
            bytes.extend(sent);
        }
    }
    let mut socket = socket;
    write!(
        socket,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
        Format::OpenAi.content_type(),
        bytes.len()
    )?;
    socket.write_all(&bytes)
}

/// The next step of the task that a request is about, based on the steps it lists as done.
fn answer(body: &str) -> Vec<Piece> {
    // Prompts also name the tasks that this one depends on, which come before it in the plan.
    let named = |task: &usize| body.contains(&format!("the marks of t{task}."));
    let Some(task) = (0..TASKS).rev().find(named) else {
        return Format::OpenAi.text(&["Nothing."]);
    };
    let (file, [first, last]) = (format!("t{task}.txt"), marks(task));
    let call = |name: &str, args: &Value| Format::OpenAi.call(name, args);
    // Arguments appear as they were given, so that each step needs a distinct text.
    if !body.contains(&format!("{task} once")) {
        return call("file_write", &json!({ "path": file, "content": format!("{task} once\n") }));
    }
    if !body.contains(&first) {
        return call("shell_run", &json!({ "command": command(&first) }));
    }
    if !body.contains(&format!("{task} twice")) {
        let (old, new) = (format!("{task} once"), format!("{task} once {task} twice"));
        return call("file_edit", &json!({ "path": file, "old": old, "new": new }));
    }
    if !body.contains(&last) {
        return call("shell_run", &json!({ "command": command(&last) }));
    }
    Format::OpenAi.text(&[&format!("Task {task} has left everything.")])
}

/// Starts a run or a resume, kills it at a moment, and returns what was printed.
fn killed(place: &Place, args: &[&str], moment: &Moment) -> Vec<Value> {
    let own = own(place);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .args(["--headless", "--yes", "--json", "--config", &own])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .current_dir(place.work())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut seen, mut met) = (Vec::new(), 0);
    while met < moment.count {
        let Some(Ok(line)) = lines.next() else { break };
        let record: Value = serde_json::from_str(&line).unwrap();
        met += u64::from(moment.is_of(&record));
        seen.push(record);
    }
    assert!(Instant::now() < deadline, "the run gets as far as that or ends");
    std::thread::sleep(moment.pause);
    child.kill().unwrap();
    child.wait().unwrap();
    // A line that was cut off by the kill is not acknowledged.
    seen.extend(lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()));
    seen.retain(|record: &Value| record.get("seq").is_some());
    seen
}

fn own(place: &Place) -> String {
    place.dir.path().join("own.toml").to_string_lossy().into_owned()
}

fn run(place: &Place, args: &[&str]) -> Output {
    let own = own(place);
    let mut all = args.to_vec();
    all.extend(["--headless", "--config", &own]);
    if args[0] == "answer" { place.answer_and_resume(&all) } else { place.run(&all) }
}

/// Kills agents at the seed's moment, resumes, answers what is asked, and checks the requirements.
pub(super) fn try_out(seed: u64) -> Point {
    let mut random = Random(seed);
    let place = Place::new();
    std::fs::write(own(&place), config()).unwrap();
    let plan = place.plan(&plan());
    let moment = Moment::of(seed, &mut random);
    let mut acknowledged = killed(&place, &["run", &plan], &moment);
    let mut words = moment.words();
    // Some seeds kill again during the resume.
    if !acknowledged.is_empty() && random.below(3) == 0 {
        let again = Moment { kind: None, count: random.below(MOST_LINES / 2), ..moment };
        acknowledged.extend(killed(&place, &["resume", "last"], &again));
        let _ = write!(words, " and the resume after {} events", again.count);
    }
    let sessions = if place.data().exists() { place.sessions() } else { Vec::new() };
    let kept = if sessions.is_empty() { Vec::new() } else { journal(&place) };
    require_journaled(seed, &acknowledged, &kept, sessions.len());
    let before = effects(&place.work()).len();
    let (in_doubt, then) =
        if kept.is_empty() { (0, "never began") } else { resumed(seed, &place, &kept) };
    require_intact_store(seed, &place);
    Point {
        moment: words,
        acknowledged: acknowledged.len(),
        journaled: kept.len(),
        effects: before,
        in_doubt,
        then,
    }
}

/// What was printed is kept, without a gap, and a session that exists has events.
fn require_journaled(seed: u64, acknowledged: &[Value], kept: &[Value], sessions: usize) {
    let seq = |record: &Value| record["seq"].as_u64().unwrap() as usize;
    let is_kept = |record: &Value| kept.get(seq(record) - 1) == Some(record);
    assert!(acknowledged.iter().all(is_kept), "seed {seed}: what was printed is kept");
    let numbered = kept.iter().zip(1..).all(|(record, number)| seq(record) == number);
    assert!(numbered, "seed {seed}: no gap");
    assert_eq!(sessions, usize::from(!kept.is_empty()), "seed {seed}: no session without events");
}

/// Resumes and answers each doubt as someone would who looked at the file; returns how many there were.
fn resumed(seed: u64, place: &Place, kept: &[Value]) -> (usize, &'static str) {
    let mut output = run(place, &["resume", "last", "--yes"]);
    wait_for_leftovers(&place.work());
    let asked = doubts(place);
    let tasks: BTreeSet<&str> = asked.iter().map(|(task, _)| task.as_str()).collect();
    assert_eq!(tasks, open_commands(kept), "seed {seed}: all doubts and none but those");
    for (task, request) in &asked {
        let expected = if asked.is_empty() { 0 } else { 3 };
        assert_eq!(output.status.code(), Some(expected), "seed {seed}: {}", output_text(&output));
        let command = request["verbatim"].to_string();
        let number: usize = task.trim_start_matches('t').parse().unwrap();
        let mark = marks(number).into_iter().find(|mark| command.contains(mark.as_str()));
        let mark = mark.unwrap_or_else(|| panic!("seed {seed}: {request} names its command"));
        let happened = effects(&place.work()).contains_key(&mark);
        let reply = if happened { "it happened" } else { "run it" };
        let id = request["id"].to_string().replace('"', "");
        let id = if id.starts_with('q') { id } else { format!("q{id}") };
        output = run(place, &["answer", "last", &id, reply]);
        wait_for_leftovers(&place.work());
    }
    assert_eq!(output.status.code(), Some(0), "seed {seed}: {}", output_text(&output));
    require_once(seed, place);
    (asked.len(), if asked.is_empty() { "went on" } else { "answered" })
}

fn output_text(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// The questions about calls with an unknown outcome, with their tasks.
fn doubts(place: &Place) -> Vec<(String, Value)> {
    let shown = place.run(&["sessions", "show", "last", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let requests = shown["requests"].as_array().cloned().unwrap_or_default();
    requests
        .into_iter()
        .map(|open| open["request"].clone())
        .filter(|request| request["kind"]["about"] == "in_doubt")
        .map(|request| (request["task"].as_str().unwrap().to_owned(), request))
        .collect()
}

/// Tasks with an intent of a command in the journal and no outcome. For a write, the disk shows the outcome.
fn open_commands(records: &[Value]) -> BTreeSet<&str> {
    let mut open = BTreeMap::new();
    for record in records.iter().filter(|record| record["event"]["topic"] == "call") {
        let body = &record["event"]["body"];
        let task = body["call"]["task"].as_str().unwrap();
        match body["kind"].as_str() {
            Some("intended") => drop(open.insert(task, body["tool"] == "shell.run")),
            Some("concluded") => drop(open.remove(task)),
            _ => {}
        }
    }
    open.into_iter().filter(|(_, command)| *command).map(|(task, _)| task).collect()
}

/// Every mark, every file and every answer is there exactly once.
fn require_once(seed: u64, place: &Place) {
    let effects = effects(&place.work());
    let expected: BTreeMap<String, usize> =
        (0..TASKS).flat_map(marks).map(|mark| (mark, 1)).collect();
    assert_eq!(effects, expected, "seed {seed}");
    let records = journal(place);
    for task in 0..TASKS {
        let text = std::fs::read_to_string(place.work().join(format!("t{task}.txt"))).unwrap();
        assert_eq!(text, format!("{task} once {task} twice\n"), "seed {seed}");
        let answers = records.iter().filter(|record| {
            let body = &record["event"]["body"];
            record["event"]["topic"] == "agent"
                && body["kind"] == "concluded"
                && body["task"] == format!("t{task}")
        });
        assert_eq!(answers.count(), 1, "seed {seed}: t{task} answers once");
    }
    let shown = place.run(&["sessions", "show", "last", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["status"], &shown["anomalies"]), (&json!("done"), &json!(0)), "seed {seed}");
}
