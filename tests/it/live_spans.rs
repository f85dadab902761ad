//! Spans of a run, sent to a collector while it goes on.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Place;

/// A collector that keeps what it is sent.
struct Collector {
    url: String,
    spans: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&spans);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || take_requests(stream, &kept));
            }
        });
        Self { url, spans }
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let begun = Instant::now();
        loop {
            let spans = self.spans.lock().unwrap().clone();
            if is_so(&spans) {
                return spans;
            }
            assert!(begun.elapsed() < Duration::from_secs(40), "{what}: {spans:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn take_requests(mut stream: std::net::TcpStream, kept: &Mutex<Vec<Value>>) {
    let mut received = Vec::new();
    let mut buffer = [0; 16_384];
    loop {
        let Ok(read @ 1..) = stream.read(&mut buffer) else { return };
        received.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&received).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
            })
            .and_then(|length| length.trim().parse::<usize>().ok())
            .unwrap();
        if body.len() < length {
            continue;
        }
        assert!(head.starts_with("POST /v1/traces"), "{head}");
        let document: Value = serde_json::from_str(body).unwrap();
        let spans = &document["resourceSpans"][0]["scopeSpans"][0]["spans"];
        kept.lock().unwrap().extend(spans.as_array().unwrap().iter().cloned());
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        received.clear();
    }
}

fn attribute(span: &Value, key: &str) -> String {
    let found = span["attributes"].as_array().unwrap().iter().find(|it| it["key"] == key);
    let value = found.map(|it| it["value"].as_object().unwrap().values().next().unwrap().clone());
    value.map(|it| it.as_str().unwrap().to_owned()).unwrap_or_default()
}

const PLAN: &str = "version = 2\ntitle = \"Traced\"\n[[tasks]]\nid = \"a\"\ndescription = \"First\"\nrun = { shell = \"echo one\" }\n\
    [[tasks]]\nid = \"b\"\ndescription = \"Second\"\nrun = { shell = \"until [ -e go ]; do sleep 0.02; done; echo broken >&2; exit 3\" }\ndepends_on = [\"a\"]\n\
    [[tasks]]\nid = \"c\"\ndescription = \"Third\"\nrun = { shell = \"true\" }\ndepends_on = [\"b\"]\n";

#[test]
fn spans_reach_a_collector_while_the_run_goes_on_and_the_last_ones_at_its_end() {
    let collector = Collector::start();
    let place = Place::new();
    let plan = place.plan(PLAN);
    let mut command =
        place.command(&["run", &plan, "--headless", "--yes", "--otlp", &collector.url]);
    let running = std::thread::spawn(move || command.output().unwrap());
    let named = |spans: &[Value], name: &str| spans.iter().any(|span| span["name"] == name);
    let early = collector.wait_for("the first task", |spans| named(spans, "First"));
    assert!(!named(&early, "Second"), "the second has not ended: {early:#?}");
    std::fs::write(place.work().join("go"), "").unwrap();
    let output = running.join().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let spans = collector.wait_for("the run", |spans| named(spans, "run Traced"));
    let find = |name: &str| {
        let found = spans.iter().find(|span| span["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not among {spans:#?}"))
    };
    let (root, first, second, third) =
        (find("run Traced"), find("First"), find("Second"), find("Third"));
    assert_eq!(first["parentSpanId"], root["spanId"]);
    assert_eq!(attribute(first, "process.command_line"), "echo one");
    assert_eq!(second["links"][0]["spanId"], first["spanId"], "what it depends on");
    assert_eq!(second["status"]["code"], 2);
    assert!(!attribute(third, "planwright.skipped").is_empty(), "{third}");
    let call = spans.iter().find(|span| span["parentSpanId"] == second["spanId"]).unwrap();
    assert_eq!(attribute(call, "process.exit.code"), "3");
    assert!(call["events"][0]["attributes"][0].to_string().contains("broken"), "{call}");
    let ids: std::collections::BTreeSet<String> =
        spans.iter().map(|span| span["spanId"].to_string()).collect();
    assert_eq!(ids.len(), spans.len(), "each is sent once");
}

#[test]
fn a_collector_that_is_not_there_does_not_fail_a_run_and_a_wrong_address_starts_none() {
    let place = Place::new();
    let plan = place.plan("version = 2\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n");
    // Nobody listens on a port that was just closed.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{gone}");
    let output = place.run(&["run", &plan, "--headless", "--yes", "--otlp", &url]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the spans were not taken"));
    let wrong = place.run(&["run", &plan, "--headless", "--yes", "--otlp", "not an address"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", String::from_utf8_lossy(&wrong.stderr));
    assert_eq!(place.sessions().len(), 1);
}
