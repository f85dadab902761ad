//! Sessions as files: exports, imports, forks, comparisons, search and maintenance, through the program itself.

use std::io::Write as _;
use std::path::Path;

use planwright_model::{Seq, SessionId};
use planwright_state::SessionState;
use planwright_state::replay::History;
use planwright_store::journal_source::JournalSource;
use planwright_store::{OpenMode, Store};
use serde_json::Value;

use crate::program::{DIAMOND, Place, json_lines};

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn file(place: &Place, name: &str) -> String {
    place.work().join(name).to_string_lossy().into_owned()
}

/// A test environment in which a diamond-shaped plan was run.
fn run_place() -> Place {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    place
}

fn exported(place: &Place, format: &str, name: &str) -> String {
    let path = file(place, name);
    let output = place.run(&["export", "last", "--format", format, "-o", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    path
}

#[test]
fn export_then_import_then_export_is_byte_identical() {
    let place = run_place();
    let marked = place.run(&["sessions", "bookmark", "last", "3", "look here"]);
    assert_eq!(marked.status.code(), Some(0), "{}", errors(&marked));
    for (format, name) in [("jsonl", "a.jsonl"), ("jsonl.zst", "a.jsonl.zst")] {
        let first = exported(&place, format, name);
        let other = Place::new();
        let imported = other.run(&["import", &first]);
        assert_eq!(imported.status.code(), Some(0), "{}", errors(&imported));
        let again = exported(&other, format, "again");
        assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(again).unwrap());
        let list = other.sessions();
        assert_eq!((list.len(), &list[0]["imported_from"]), (1, &Value::from("planwright")));
        assert_eq!(list[0]["status"], "done");
        // Approvals from elsewhere do not apply here, and the same id is not imported twice.
        assert_eq!(other.run(&["resume", "last", "--headless"]).status.code(), Some(1));
        assert_eq!(other.run(&["import", &first]).status.code(), Some(1));
        assert_eq!(other.run(&["import", &first, "--new-id"]).status.code(), Some(0));
        assert_eq!(other.run(&["sessions", "verify"]).status.code(), Some(0));
        let shown = other.run(&["replay", &first, "--headless", "--json"]);
        assert_eq!(json_lines(&shown).len() as u64, list[0]["events"].as_u64().unwrap());
    }
}

/// Every moment of the imported session equals the fold up to it.
#[test]
fn an_imported_session_can_be_seen_at_any_moment() {
    let place = run_place();
    let path = exported(&place, "jsonl", "a.jsonl");
    let other = Place::new();
    assert_eq!(other.run(&["import", &path]).status.code(), Some(0));
    let store = Store::open(&other.data(), OpenMode::ReadOnly).unwrap();
    let id: SessionId = store.list_sessions().unwrap()[0].id.clone();
    let mut history = History::new(JournalSource::new(store.reader().unwrap(), id));
    let head = history.head_seq().unwrap();
    let mut state = SessionState::default();
    for seq in 1..=head.0 {
        state.apply(&history.record_at(Seq(seq)).unwrap().unwrap());
        assert_eq!(*history.state_at(Seq(seq)).unwrap(), state, "at {seq}");
    }
}

fn refused(place: &Place, name: &str, bytes: &[u8], words: &str) {
    let path = file(place, name);
    std::fs::write(&path, bytes).unwrap();
    let output = place.run(&["import", &path]);
    assert_eq!(output.status.code(), Some(1), "{name}: {}", text(&output));
    assert!(errors(&output).contains(words), "{name}: {}", errors(&output));
    assert!(place.sessions().is_empty(), "{name} left something behind");
}

#[test]
fn hostile_imports_give_a_clear_error_and_leave_the_store_unchanged() {
    let source = run_place();
    let good = std::fs::read(exported(&source, "jsonl", "a.jsonl")).unwrap();
    let packed = std::fs::read(exported(&source, "jsonl.zst", "a.jsonl.zst")).unwrap();
    let lines: Vec<&str> = std::str::from_utf8(&good).unwrap().lines().collect();
    let place = Place::new();
    // Creates the store first, so that its creation cannot mask a change.
    assert_eq!(place.run(&["import", "/nowhere"]).status.code(), Some(2));

    refused(&place, "cut", &good[..good.len() - 10], "ends in the middle");
    refused(&place, "short", format!("{}\n{}\n", lines[0], lines[1]).as_bytes(), "the file has 1");
    refused(&place, "cut.zst", &packed[..packed.len() - 9], "line");
    let mut flipped = packed.clone();
    flipped[packed.len() / 2] ^= 0x10;
    refused(&place, "flipped.zst", &flipped, "not imported");
    let words = String::from_utf8(good.clone()).unwrap().replacen("Left", "Loft", 1);
    refused(&place, "flipped", words.as_bytes(), "the hashes differ");
    let newer = lines[0].replace("\"planwright_export\":1", "\"planwright_export\":9");
    refused(&place, "newer", format!("{newer}\n").as_bytes(), "format 9");
    let newer = lines[0].replace("\"format\":1", "\"format\":7");
    refused(&place, "events", format!("{newer}\n").as_bytes(), "format 7");
    let count = format!("\"events\":{}", lines.len() - 1);
    let many = lines[0].replace(&count, "\"events\":10000000");
    refused(&place, "many", format!("{many}\n").as_bytes(), "10000000 events");
    let swapped = format!("{}\n{}\n{}\n", lines[0], lines[2], lines[1]);
    refused(&place, "swapped", swapped.as_bytes(), "expected event 1, found 2");
    let forged = good.clone();
    let forged = String::from_utf8(forged).unwrap().replacen(
        "\"kind\":\"session.created\"",
        "\"kind\":\"run.started\"",
        1,
    );
    refused(&place, "forged", forged.as_bytes(), "says to be");
    let deep = format!("{}\n{{\"seq\":1,\"event\":{}\n", lines[0], "[".repeat(2_000_000));
    refused(&place, "deep", deep.as_bytes(), "nested deeper");
    refused(&place, "text", b"hello\nworld\n", "not valid JSON");
    refused(&place, "empty", b"", "empty");

    let mut bomb = zstd_of(format!("{}\n", lines[0]).as_bytes(), 400 << 20);
    refused(&place, "bomb.zst", &bomb, "above the limit");
    bomb.truncate(bomb.len() / 2);
    refused(&place, "half-bomb.zst", &bomb, "");
    // Files without an end are refused by their type, under any name and through any link.
    let fifo = file(&place, "fifo.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let traces = file(&place, "fifo.json");
    assert!(std::process::Command::new("mkfifo").arg(&traces).status().unwrap().success());
    let (link, loose) = (file(&place, "zero.jsonl"), file(&place, "loose.jsonl"));
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    std::os::unix::fs::symlink("nowhere", &loose).unwrap();
    let dir = place.work().join("traces");
    std::fs::create_dir(&dir).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.join("a.json")).unwrap();
    let dir = dir.to_string_lossy().into_owned();
    for odd in ["/dev/zero", "/dev/null", &fifo, &traces, &link, &dir] {
        for command in ["import", "replay"] {
            let output = place.run(&[command, odd, "--headless"]);
            assert_eq!(output.status.code(), Some(2), "{command} {odd}");
            assert!(errors(&output).contains("not an ordinary file"), "{}", errors(&output));
        }
    }
    assert_eq!(place.run(&["import", &loose]).status.code(), Some(2));
    let wide = format!("[{}1]", "1,".repeat(3_000_000));
    refused(&place, "wide.json", wide.as_bytes(), "above the limit");
    refused(&place, "deep.json", "[".repeat(2_000_000).as_bytes(), "nested too deep");
    let lines = format!("{{\"type\":\"user\",\"x\":{wide}}}\n");
    refused(&place, "wide.jsonl", lines.as_bytes(), "above the limit");
    assert!(place.sessions().is_empty());
}

/// A secret in an export: nothing is imported unless the person agrees to drop it, and then it is nowhere.
#[test]
fn an_export_with_a_secret_is_refused_or_imported_without_it() {
    let source = run_place();
    let path = exported(&source, "jsonl", "a.jsonl");
    let secret = "sk-ant-api03-Zk3v9QmW7xT2bN8rL5pY1cH6dJ4fG0sA";
    let good = std::fs::read_to_string(&path).unwrap();
    let (header, events) = good.split_once('\n').unwrap();
    // Without its chain of hashes, anyone may have written the export.
    let mut header: Value = serde_json::from_str(header).unwrap();
    header.as_object_mut().unwrap().remove("chain");
    let events = events.replacen("\"Left\"", &format!("\"Left {secret}\""), 1);
    assert!(events.contains(secret));
    let place = Place::new();
    let bad = file(&place, "secret.jsonl");
    std::fs::write(&bad, format!("{header}\n{events}")).unwrap();
    let refused = place.run(&["import", &bad]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors(&refused).contains("looks like a secret"), "{}", errors(&refused));
    assert!(errors(&refused).contains("--redact"), "{}", errors(&refused));
    assert!(place.sessions().is_empty());
    let imported_result = place.run(&["import", &bad, "--redact"]);
    assert_eq!(imported_result.status.code(), Some(0), "{}", errors(&imported_result));
    let again = exported(&place, "jsonl", "again.jsonl");
    assert!(!std::fs::read_to_string(&again).unwrap().contains(secret));
    // An imported session can be exported again: the header describes its current contents.
    let third = Place::new();
    let passed_on = third.run(&["import", &again]);
    assert_eq!(passed_on.status.code(), Some(0), "{}", errors(&passed_on));
}

/// A line and a long run of spaces in one compressed stream.
fn zstd_of(line: &[u8], spaces: usize) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 19).unwrap();
    encoder.write_all(line).unwrap();
    let block = vec![b' '; 1 << 20];
    for _ in 0..spaces >> 20 {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn every_format_is_written_and_not_empty() {
    let place = run_place();
    for (format, words) in [
        ("json", "\"trace_id\""),
        ("markdown", "## Tasks"),
        ("mermaid", "flowchart"),
        ("dot", "digraph"),
        ("html", "<svg"),
        ("otlp", "execute_tool"),
        ("chrome-trace", "traceEvents"),
        ("result", "react_log"),
        ("toml", "[[tasks]]"),
        ("plan-json", "\"tasks\""),
    ] {
        let output = place.run(&["export", "last", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", errors(&output));
        assert!(text(&output).contains(words), "{format}: {}", text(&output));
    }
    let page = text(&place.run(&["export", "last", "--format", "html"]));
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert_eq!(page.matches("<script").count(), 1, "the slider and nothing else");
    let spans: Value =
        serde_json::from_str(&text(&place.run(&["export", "last", "--format", "otlp"]))).unwrap();
    let spans = spans["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
    assert!(spans.iter().all(|span| span["endTimeUnixNano"].is_string()));
    let ids: std::collections::BTreeSet<&str> =
        spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), spans.len(), "span ids are unique");
}

#[test]
fn a_finished_run_is_exported_with_what_became_of_its_tasks() {
    let place = run_place();
    let exported = |format: &str| text(&place.run(&["export", "last", "--format", format]));
    let gantt = exported("gantt");
    assert!(gantt.contains("dateFormat YYYY-MM-DDTHH:mm:ss.SSS"), "{gantt}");
    assert!(gantt.contains(" :done, 2"), "{gantt}");
    let flowchart = exported("mermaid");
    assert!(flowchart.contains("<br/>done in "), "{flowchart}");
    assert!(flowchart.contains("    classDef done "), "{flowchart}");
    let dot = exported("dot");
    assert!(dot.contains("style=filled"), "{dot}");
    let table = exported("csv");
    assert!(table.starts_with("id,title,status,who,"), "{table}");
    assert!(table.contains(",done,command,"), "{table}");
}

#[test]
fn a_report_begins_with_what_failed_and_why() {
    let place = Place::new();
    let plan = place.plan(
        "[[tasks]]\nid = \"a\"\ndescription = \"Run the tests\"\nrun = { shell = \"echo 'thread main panicked at src/a.rs:3: no rows' >&2; exit 101\" }\n\
         [[tasks]]\nid = \"b\"\ndescription = \"Ship it\"\nrun = { shell = \"true\" }\ndepends_on = [\"a\"]\n",
    );
    place.run(&["run", &plan, "--headless", "--yes"]);
    let report = text(&place.run(&["export", "last", "--format", "markdown"]));
    let failed = report.find("## Failed").unwrap_or_else(|| panic!("{report}"));
    assert!(failed < report.find("## Tasks").unwrap(), "{report}");
    assert!(report.contains("panicked at src/a.rs:3: no rows"), "{report}");
    assert!(report.contains("Skipped because of it: Ship it."), "{report}");
}

#[test]
fn spans_are_sent_to_a_collector() {
    let place = run_place();
    let collector = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", collector.local_addr().unwrap());
    let imported_result = std::thread::spawn(move || {
        let (mut stream, _) = collector.accept().unwrap();
        let mut request = String::new();
        let mut buffer = [0; 8_192];
        // The last bracket of the body is the end of the request.
        while !request.trim_end().ends_with("]}") {
            let read = std::io::Read::read(&mut stream, &mut buffer).unwrap();
            assert!(read > 0, "{request}");
            request.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        request
    });
    let sent = place.run(&["export", "last", "--format", "otlp", "--endpoint", &url]);
    assert_eq!(sent.status.code(), Some(0), "{}", errors(&sent));
    let request = imported_result.join().unwrap();
    assert!(request.starts_with("POST /v1/traces HTTP/1.1"), "{request}");
    assert!(request.contains("resourceSpans") && request.contains("application/json"));
    let nobody = place.run(&["export", "last", "--format", "otlp", "--endpoint", &url]);
    assert_eq!(nobody.status.code(), Some(1), "{}", text(&nobody));
    let wrong = place.run(&["export", "last", "--format", "html", "--endpoint", &url]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn the_page_is_read_by_a_browser() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| std::process::Command::new(name).arg("--version").output().is_ok())
    else {
        let _ =
            writeln!(std::io::stderr(), "no browser is installed, the page was not opened in one");
        return;
    };
    let place = run_place();
    let page = exported(&place, "html", "page.html");
    let profile = place.dir.path().join("browser");
    let output = std::process::Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{page}"))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    for words in ["Diamond", "Trace", "4 of 4 tasks done", "<svg", "echo a &gt;&gt; done.txt"] {
        assert!(dom.contains(words), "{words}: {dom}");
    }
}

#[test]
fn traces_have_the_keys_of_the_seed_and_come_back() {
    let place = run_place();
    let dir = format!("{}/", file(&place, "traces"));
    assert_eq!(
        place.run(&["export", "last", "--format", "json", "-o", &dir]).status.code(),
        Some(0)
    );
    let files: Vec<_> =
        std::fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.path()).collect();
    let traces = json_lines(&place.run(&["sessions", "traces", "last", "--json"]));
    assert_eq!(files.len(), traces.len());
    let one: Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
    let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
    let seed = [
        "trace_id",
        "task_id",
        "timestamp",
        "steps",
        "final_answer",
        "total_tokens_used",
        "execution_time_ms",
        "success",
        "error_message",
    ];
    assert_eq!(keys, seed);
    let step: Vec<&String> = one["steps"][0].as_object().unwrap().keys().collect();
    assert_eq!(
        step,
        [
            "timestamp",
            "action",
            "content",
            "tool_used",
            "tool_input",
            "tool_output",
            "confidence_score",
            "metadata"
        ]
    );

    let other = Place::new();
    let imported = other.run(&["import", &dir]);
    assert_eq!(imported.status.code(), Some(0), "{}", errors(&imported));
    let back = json_lines(&other.run(&["sessions", "traces", "last", "--json"]));
    assert_eq!(back.len(), traces.len());
    let id = traces[0]["trace_id"].as_str().unwrap();
    let shown = place.run(&["sessions", "show", "last", "--trace", id]);
    assert!(text(&shown).contains(id));
    let some = place.run(&["sessions", "traces", "last", "--task", "zzz*", "--json"]);
    assert!(json_lines(&some).is_empty());
}

#[test]
fn a_fork_with_the_same_plan_file_reruns_nothing_whatever_numbers_it_contains() {
    let place = Place::new();
    // The nearest neighbor is the result of a parser that rounds twice.
    let weighed = DIAMOND.replace("run =", "metadata = { weight = 0.9452706955539223 }\nrun =");
    let plan = place.plan(&weighed);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let args = ["fork", "last", "--plan", &plan, "--dry-run", "--json"];
    let dry = json_lines(&place.run(&args)).remove(0);
    assert_eq!(dry["reruns"].as_array().map(Vec::len), Some(0), "{dry}");
    assert_eq!(dry["reuses"].as_array().map(Vec::len), Some(4), "{dry}");
}

#[test]
fn a_fork_lists_what_it_reruns_and_inherits_no_approval() {
    let place = run_place();
    let dry = json_lines(&place.run(&["fork", "last", "--dry-run", "--json"])).remove(0);
    assert!(dry["reruns"].as_array().unwrap().is_empty() && dry["id"].is_null());
    assert_eq!(place.sessions().len(), 1);

    let changed = DIAMOND.replacen("echo b", "echo changed-b", 1);
    assert_ne!(changed, DIAMOND);
    let plan = place.plan(&changed);
    let parent = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let made = json_lines(&place.run(&["fork", &parent, "--plan", &plan, "--json"])).remove(0);
    let (reruns, reuses) = (made["reruns"].as_array().unwrap(), made["reuses"].as_array().unwrap());
    assert!(!reruns.is_empty() && !reuses.is_empty(), "{made}");
    let fork = made["id"].as_str().unwrap().to_owned();
    // Nothing runs before it is approved again.
    assert_eq!(place.run(&["run", &fork, "--headless"]).status.code(), Some(3));
    let ran = place.run(&["run", &fork, "--headless", "--yes"]);
    assert_eq!(ran.status.code(), Some(0), "{}", errors(&ran));
    let shown = json_lines(&place.run(&["sessions", "show", &fork, "--json"])).remove(0);
    assert_eq!(shown["status"], "done");
    assert_eq!(shown["parent"]["session"].as_str(), Some(parent.as_str()));
    // The parent is unchanged.
    let verify = place.run(&["sessions", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", text(&verify));

    let diff = json_lines(&place.run(&["diff", &parent, &fork, "--json"])).remove(0);
    assert!(diff["changed"].as_u64().unwrap() >= 1, "{diff}");
    let reused =
        diff["tasks"].as_array().unwrap().iter().filter(|task| task["reused"] == true).count();
    assert_eq!(reused, reuses.len());
    assert!(diff["first_divergence"].is_object());
    let words = text(&place.run(&["diff", &parent, &fork]));
    assert!(words.contains("first difference") && words.contains("B - A"), "{words}");
    let same = json_lines(&place.run(&["diff", &parent, &parent, "--json"])).remove(0);
    assert!(same["first_divergence"].is_null());

    // A parent with forks is hidden, not deleted; its fork can still be read.
    let removed = place.run(&["sessions", "rm", &parent, "--yes"]);
    assert!(text(&removed).contains("out of the list"), "{}", text(&removed));
    assert_eq!(place.run(&["sessions", "verify", &fork]).status.code(), Some(0));
}

#[test]
fn steps_are_found_by_words_and_filters() {
    let place = run_place();
    let find = |args: &[&str]| {
        let all: Vec<&str> = [&["sessions", "search", "--json"], args].concat();
        json_lines(&place.run(&all))
    };
    assert!(!find(&["diamond"]).is_empty());
    assert!(!find(&["DIAM"]).is_empty(), "the last word may be the beginning of one");
    assert!(find(&["no", "such", "words"]).is_empty());
    assert!(find(&["--kind", "action"]).iter().all(|hit| hit["kind"] == "action"));
    assert!(!find(&["--outcome", "ok"]).is_empty() && find(&["--outcome", "failed"]).is_empty());
    assert!(find(&["--since", "2999-01-01"]).is_empty());
    assert!(!find(&["--tool", "shell", "echo"]).is_empty());
    let hit = find(&["diamond"]).remove(0);
    let (session, seq) = (hit["session"].as_str().unwrap(), hit["seq"].to_string());
    let at = place.run(&["replay", session, "--at", &seq, "--headless"]);
    assert_eq!(at.status.code(), Some(0));
    assert_eq!(place.run(&["sessions", "search", "--kind", "actoin"]).status.code(), Some(2));
}

/// The steps of a task can be filtered by the part of the loop that they belong to.
#[test]
fn steps_are_found_by_their_part_of_the_loop() {
    let place = Place::new();
    let step = |second: u32, action: &str, prdv: &str| {
        serde_json::json!({
            "timestamp": format!("2026-01-05T10:00:0{second}.000000+00:00"), "action": action,
            "content": format!("{prdv} of the parser"), "tool_used": null, "tool_input": null,
            "tool_output": null, "confidence_score": 0.9, "metadata": { "prdv": prdv },
        })
    };
    let steps = [
        step(1, "thought", "plan"),
        step(2, "thought", "research"),
        step(3, "thought", "debate"),
        step(4, "thought", "validate"),
        step(5, "thought", "plan"),
    ];
    let trace = serde_json::json!({
        "trace_id": "port_1_1", "task_id": "port", "timestamp": "2026-01-05T10:00:01.000000+00:00",
        "steps": steps, "final_answer": "done", "total_tokens_used": 12,
        "execution_time_ms": 4000.0, "success": true, "error_message": null,
    });
    let path = file(&place, "one.json");
    std::fs::write(&path, trace.to_string()).unwrap();
    let imported = place.run(&["import", &path]);
    assert_eq!(imported.status.code(), Some(0), "{}", errors(&imported));
    for (role, hits) in [("plan", 2), ("research", 1), ("debate", 1), ("validate", 1)] {
        let find = ["sessions", "search", "--json", "--task", "port", "--role", role];
        assert_eq!(json_lines(&place.run(&find)).len(), hits, "{role}");
    }
}

pub const CODEX: &str = r#"{"timestamp":"2026-01-05T10:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"/srv/app"}}
{"timestamp":"2026-01-05T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Mend the parser"}]}}
{"timestamp":"2026-01-05T10:00:02.000Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Look at the grammar first"}]}}
{"timestamp":"2026-01-05T10:00:03.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"timestamp":"2026-01-05T10:00:04.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"grammar.rs"}}
{"timestamp":"2026-01-05T10:00:05.000Z","type":"sparkle","payload":{"new":"thing"}}
"#;

pub const CLAUDE: &str = r#"{"type":"summary","summary":"Parser work","leafUuid":"1"}
{"type":"user","uuid":"1","sessionId":"s","cwd":"/srv/app","timestamp":"2026-01-05T10:00:00.000Z","message":{"role":"user","content":"Mend the parser"}}
{"type":"assistant","uuid":"2","sessionId":"s","timestamp":"2026-01-05T10:00:01.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Grammar first"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","uuid":"3","sessionId":"s","timestamp":"2026-01-05T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"grammar.rs"}]}}
{"type":"sparkle","sessionId":"s","timestamp":"2026-01-05T10:00:03.000Z","new":"thing"}
"#;

#[test]
fn transcripts_of_other_programs_can_be_scrubbed_and_searched() {
    for (name, transcript, source, tool) in [
        ("rollout.jsonl", CODEX, "codex", "shell"),
        ("claude.jsonl", CLAUDE, "claude-code", "Bash"),
    ] {
        let place = Place::new();
        let path = file(&place, name);
        std::fs::write(&path, transcript).unwrap();
        let imported = place.run(&["import", &path]);
        assert_eq!(imported.status.code(), Some(0), "{}", errors(&imported));
        let list = place.sessions();
        assert_eq!(
            (&list[0]["title"], &list[0]["imported_from"]),
            (&"Mend the parser".into(), &source.into())
        );
        let found = json_lines(&place.run(&["sessions", "search", "grammar", "--json"]));
        assert!(found.len() >= 2, "{found:?}");
        let called = json_lines(&place.run(&["sessions", "search", "--tool", tool, "--json"]));
        assert!(!called.is_empty());
        let unknown =
            json_lines(&place.run(&["sessions", "search", "--kind", "unknown", "--json"]));
        assert!(!unknown.is_empty(), "what is not understood is kept and shown as such");
        assert!(text(&place.run(&["replay", "last", "--headless"])).contains("Mend the parser"));
        assert_eq!(place.run(&["sessions", "verify"]).status.code(), Some(0));
    }
}

#[test]
fn sessions_are_removed_only_when_that_is_confirmed() {
    let place = run_place();
    assert_eq!(place.run(&["sessions", "rm", "last"]).status.code(), Some(2));
    assert_eq!(
        place.run(&["sessions", "prune", "--older-than", "1d", "--yes"]).status.code(),
        Some(0)
    );
    assert_eq!(place.sessions().len(), 1, "it is not that old");
    assert_eq!(place.run(&["sessions", "prune", "--older-than", "soon"]).status.code(), Some(2));
    let removed = place.run(&["sessions", "rm", "last", "--yes", "--vacuum"]);
    assert_eq!(removed.status.code(), Some(0), "{}", errors(&removed));
    assert!(place.sessions().is_empty());
    assert!(Path::new(&place.data()).is_dir());
}

#[test]
fn a_profile_names_where_the_time_went() {
    let place = run_place();
    let profile =
        json_lines(&place.run(&["sessions", "show", "last", "--profile", "--json"])).remove(0);
    assert!(!profile["slowest_tasks"].as_array().unwrap().is_empty());
    assert_eq!(profile["slowest_tools"][0]["name"], "shell");
    assert_eq!(profile["critical_path"].as_array().unwrap().len(), 3, "{profile}");
    assert!(
        text(&place.run(&["sessions", "show", "last", "--profile"])).contains("waiting for you")
    );
}
