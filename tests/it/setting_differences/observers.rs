//! What can be seen of the program under a config.

use std::fmt::Write as _;
use std::process::Output;

use serde_json::{Value, json};

use super::servers::acts;
use super::{ObserverName, SettingCase};
use crate::models::server::{Request, Server};
use crate::program::{Place, json_lines};

/// Fields that differ from run to run.
const CHANGING: [&str; 8] =
    ["session", "timestamp", "at", "thread_id", "id", "seq", "pid", "trace_id"];

/// A value without what differs from run to run.
fn scrub(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !CHANGING.contains(&name.as_str()) && !name.ends_with("_ms"))
            .map(|(name, value)| (name.clone(), scrub(value)))
            .collect(),
        Value::Array(items) => items.iter().map(scrub).collect(),
        other => other.clone(),
    }
}

/// Every day is taken, morning to evening.
const BUSY: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//test//EN\r\nBEGIN:VEVENT\r\nUID:busy\r\n\
    DTSTAMP:20260101T000000Z\r\nDTSTART:20260101T090000Z\r\nDTEND:20260101T130000Z\r\nRRULE:FREQ=DAILY\r\n\
    SUMMARY:Busy\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

/// A tool server with one tool, whose description tells what the server sees.
const TOOL_SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) sleep "${PAUSE:-0}"
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id";;
    *'"tools/list"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"tell","description":"Tells %s","inputSchema":{"type":"object","properties":{}}}]}}\n' "$id" "$FOR_COMMANDS $SETTING";;
  esac
done
"#;

/// What a case does under a config.
struct Scene<'a> {
    place: Place,
    case: &'a SettingCase,
}

impl<'a> Scene<'a> {
    fn new(case: &'a SettingCase, config: &str) -> Self {
        let place = Place::new();
        std::fs::write(place.work().join("long.txt"), "x = 1\n".repeat(400)).unwrap();
        let dir = place.dir.path();
        std::fs::write(dir.join("busy.ics"), BUSY).unwrap();
        std::fs::write(dir.join("server.sh"), TOOL_SERVER).unwrap();
        std::fs::create_dir(dir.join("outside")).unwrap();
        std::fs::write(dir.join("outside/a.txt"), "from outside\n").unwrap();
        let config = config.replace("DIR", &dir.to_string_lossy());
        std::fs::write(dir.join("config.toml"), config).unwrap();
        Self { place, case }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = self.place.command(args);
        command.env("WORK_KEY", "sk-of-work").env("FOR_COMMANDS", "seen");
        if self.case.observer == ObserverName::Printed {
            // Nobody is there; only what may use a proxy goes there.
            command.env("http_proxy", "http://127.0.0.1:7").env("no_proxy", "");
        }
        if self.case.zone.as_deref() == Some("") {
            command.env_remove("TZ");
        }
        command.output().unwrap()
    }

    /// Text without paths, numbers of bytes and ids.
    fn clean(&self, text: &str) -> String {
        let text = text.replace(&*self.place.dir.path().to_string_lossy(), "DIR");
        let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        let is_id = |word: &str| {
            let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            word.len() >= 6 && word.chars().all(|c| c.is_ascii_hexdigit())
        };
        words.map(|word| if is_id(word) { "#" } else { word }).collect()
    }

    fn printed(&self) -> String {
        if !self.case.plan.is_empty() {
            self.plan_file();
        }
        let dir = self.place.dir.path().to_string_lossy();
        let args: Vec<String> = self.case.args.iter().map(|arg| arg.replace("DIR", &dir)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = self.run(&args);
        let printed = [output.stdout, output.stderr].concat();
        format!("{:?} {}", output.status.code(), self.clean(&String::from_utf8_lossy(&printed)))
    }

    fn plan(&self) -> Output {
        let mut args = vec!["plan", &self.case.goal, "--headless", "--format", "json"];
        if !self.case.asks {
            args.extend(["--policy", "probing_depth=0"]);
        }
        let tape = self.tape();
        if !self.case.answers.is_empty() {
            args.extend(["--provider", &tape]);
        }
        self.run(&args)
    }

    /// What each further word of the person's leads to.
    fn replied(&self, provider: &[&str]) -> String {
        let reply = |reply: &String| {
            let answered = self.run(&["answer", "last", "next", reply]);
            let output = self.run(&[&["resume", "last", "--headless"], provider].concat());
            let printed = self.clean(&String::from_utf8_lossy(&output.stderr));
            let asked = printed.lines().find(|line| line.trim_start().starts_with('q'));
            format!("\n{:?} {:?} {asked:?}", answered.status.code(), output.status.code())
        };
        self.case.replies.iter().map(reply).collect()
    }

    fn planned(&self) -> String {
        let output = self.plan();
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut values = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
        let plan = values.next().and_then(Result::ok).map(|value| scrub(&value));
        format!("{:?} {plan:?}{}", output.status.code(), self.replied(&[]))
    }

    /// The names of threads in the journal.
    fn threads(&self) -> String {
        self.plan();
        let records = json_lines(&self.run(&["replay", "last", "--headless", "--json"]));
        let began = records.iter().find(|one| one["event"]["body"]["kind"] == "began").unwrap();
        let thread = began["event"]["body"]["thread_id"].as_str().unwrap();
        thread.split(':').next().unwrap().to_owned()
    }

    fn plan_file(&self) -> String {
        let agent = "[[tasks]]\nid = \"t\"\ndescription = \"What does long.txt say?\"\nrun = { agent = {} }\n";
        let tasks = if self.case.plan.is_empty() { agent } else { &self.case.plan };
        self.place.plan(&format!("title = \"P\"\n{tasks}"))
    }

    /// What the person is asked before a plan file runs.
    fn asks_to_run(&self) -> String {
        let plan = self.plan_file();
        self.run(&["run", &plan, "--headless"]);
        let shown = self.run(&["sessions", "show", "last", "--json"]);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
        scrub(&shown["requests"]).to_string()
    }

    /// A recording with the answers of the case.
    fn tape(&self) -> String {
        let info = json!({"provider": "recorded", "model": "small", "host": "", "local": true,
            "context_window": null, "capability": {"tools": true, "json": "schema", "streaming": true}});
        let mut lines = vec![json!({"cassette": 1, "info": info}).to_string()];
        for answer in &self.case.answers {
            let call = serde_json::from_str::<Value>(answer).ok();
            let calls: Vec<Value> = call
                .iter()
                .map(|call| json!({"id": "c", "name": call["tool"], "arguments": call["args"].to_string()}))
                .collect();
            let (text, finish) = match call {
                Some(_) => ("", "tool_calls"),
                None => (answer.as_str(), "stop"),
            };
            lines.push(
                json!({"outcome": {"answer": {"text": text, "tool_calls": calls, "finish": finish,
                    "model": "small", "usage": {"input": 100, "output": 20}}}})
                .to_string(),
            );
        }
        let path = self.place.dir.path().join("tape.jsonl");
        std::fs::write(&path, lines.join("\n")).unwrap();
        format!("recorded:{}", path.display())
    }

    fn ran(&self) -> String {
        let plan = self.plan_file();
        let tape = self.tape();
        let mut args = vec!["run", &plan, "--yes", "--headless"];
        if !self.case.answers.is_empty() {
            args.extend(["--provider", &tape]);
        }
        let output = self.run(&args);
        let records = json_lines(&self.run(&["replay", "last", "--headless", "--json"]));
        let topics = ["agent", "call", "task", "run", "plan", "approval"];
        // Which of two processes is there first is for the machine to say.
        let shown = |record: &Value| {
            let event = &record["event"];
            topics.iter().any(|topic| event["topic"] == *topic)
                && event["body"]["kind"] != "spawned"
        };
        let lines = records.iter().filter(|record| shown(record));
        let lines = lines.map(|record| self.clean(&scrub(&record["event"]).to_string()));
        let seen: String = lines.collect::<Vec<_>>().join("\n");
        let seen: String = seen.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let pauses = records.iter().filter_map(|one| one["event"]["body"]["retry_in_ms"].as_f64());
        // A stroke for each second that a tool pauses.
        let pauses: String =
            pauses.map(|pause| "|".repeat((pause / 1000.0).round() as usize) + " ").collect();
        format!("{:?}\n{pauses}\n{seen}", output.status.code())
    }

    fn asked(&self, server: &Server) -> String {
        let plan = self.plan_file();
        let args = match self.case.goal.as_str() {
            "" => vec!["run", &plan, "--yes", "--headless", "--provider", "mock"],
            goal => {
                vec![
                    "plan",
                    goal,
                    "--headless",
                    "--policy",
                    "probing_depth=0",
                    "--provider",
                    "mock",
                ]
            }
        };
        let output = self.run(&args);
        let replied = self.replied(&["--provider", "mock"]);
        let requests: Vec<String> = server.requests().iter().map(shape_of).collect();
        let shown = self.run(&["sessions", "show", "last", "--json"]);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
        // The prompt holds paths of the test, so that the last digits differ.
        let cost = shown["cost_usd"].as_f64().unwrap_or_default();
        format!("{:?} {cost:.2}{replied}\n{}", output.status.code(), requests.join("\n"))
    }
}

/// What a request asks for, without the words of the conversation.
fn shape_of(request: &Request) -> String {
    let head = request.head.lines().filter(|line| {
        let line = line.to_ascii_lowercase();
        !["host:", "content-length:", "user-agent:"].iter().any(|name| line.starts_with(name))
    });
    let head: Vec<&str> = head.collect();
    let mut body = request.body.clone();
    if let Some(fields) = body.as_object_mut() {
        for name in ["messages", "tools", "input", "system", "instructions"] {
            fields.remove(name);
        }
    }
    let tools = request.body["tools"].as_array().map_or(0, Vec::len);
    // How much it was shown of the file that it read, and how much of a proposal it is told to give.
    let messages = request.body["messages"].to_string();
    let lines = messages.matches("x = 1").count();
    let room = messages.split_once("At most ").map_or("", |(_, rest)| &rest[..4.min(rest.len())]);
    format!("{}\n{body}\n{tools} tools, {lines} lines, room {room}", head.join("\n"))
}

/// A config with a provider at the address, unless it has one of its own.
fn served_config(config: &str, url: &str) -> String {
    let (own, tables) = match config.find("\n[") {
        Some(at) => config.split_at(at),
        None if config.starts_with('[') => ("", config),
        None => (config, ""),
    };
    let mut text = String::new();
    for (name, usual) in
        [("protocol", "\"tools\""), ("profile", "\"large\""), ("outage_wait_min", "0")]
    {
        if !own.contains(name) {
            let _ = writeln!(text, "{name} = {usual}");
        }
    }
    text.push_str(own);
    if !tables.contains("[limits]") {
        text.push_str("\n[limits]\nretries = 1\n");
    }
    if !tables.contains("[providers.mock]") {
        text.push_str(
            "\n[providers.mock]\nkind = \"openai\"\nbase_url = \"URL/v1\"\nmodel = \"m\"\n",
        );
    }
    text.push_str(tables);
    text.replace("URL", url)
}

/// What is seen of a case under a config.
pub(super) fn observe(case: &SettingCase, config: &str) -> String {
    match case.observer {
        ObserverName::Printed => Scene::new(case, config).printed(),
        ObserverName::Planned => Scene::new(case, config).planned(),
        ObserverName::Journal => Scene::new(case, config).threads(),
        ObserverName::AsksToRun => Scene::new(case, config).asks_to_run(),
        ObserverName::Ran => Scene::new(case, config).ran(),
        ObserverName::Asked => {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            let acts = acts(case.server);
            let server =
                runtime.block_on(Server::start_by(move |number, request| acts(number, request)));
            let seen = Scene::new(case, &served_config(config, &server.url)).asked(&server);
            drop(runtime);
            seen
        }
        ObserverName::Tested => String::new(),
    }
}
