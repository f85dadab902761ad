//! Exports opened by the programs that they are for. Each test says so and looks at nothing where its program is absent:
//! Graphviz, a browser, and the npm packages `mermaid` and `puppeteer-core` in the directory that `PLANWRIGHT_NODE_MODULES` names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use planwright_model::event::{AgentEvent, Record};
use planwright_model::{ReActStep, Seq, StepAction, StepMetadata};
use planwright_state::replay::file_changes::EditLog;
use planwright_state::replay::workspace_patch::render_workspace_patch;
use serde_json::Value;

use crate::program::{DIAMOND, Place};
use crate::tools::not_tested;

/// The browsers that are tried, by name.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn find_browser() -> Option<&'static str> {
    let found =
        BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        not_tested("no browser is installed");
    }
    found
}

fn node_modules(what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PLANWRIGHT_NODE_MODULES").map(PathBuf::from);
    if found.is_none() {
        not_tested(&format!("{what}: PLANWRIGHT_NODE_MODULES is not set"));
    }
    found
}

/// The page after its scripts have run, as text.
fn dump_page(browser: &str, place: &Place, page: &Path) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", place.dir.path().join("browser").display()))
        .arg(format!("file://{}", page.display()))
        .env("TZ", "UTC")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What Mermaid makes of each diagram: its error, the words in the drawing, and the bars of a Gantt chart.
fn draw_with_mermaid(place: &Place, diagrams: &[String]) -> Option<Vec<Value>> {
    let library = node_modules("Mermaid")?.join("mermaid/dist/mermaid.min.js");
    let browser = find_browser()?;
    let sources = serde_json::to_string(diagrams).unwrap().replace('<', "\\u003c");
    let page = format!(
        r#"<!DOCTYPE html><meta charset="utf-8"><body><div id="room"></div><script src="file://{}"></script><script>
(async () => {{
  const found = [];
  mermaid.initialize({{ startOnLoad: false }});
  for (const [n, source] of {sources}.entries()) {{
    try {{
      const drawn = await mermaid.render('d' + n, source);
      const room = document.getElementById('room');
      room.innerHTML = drawn.svg;
      const words = room.textContent;
      const edges = room.querySelectorAll('path.flowchart-link').length;
      const diagram = await mermaid.mermaidAPI.getDiagramFromText(source);
      const tasks = diagram.db.getTasks ? diagram.db.getTasks() : [];
      const bars = tasks.map(task => [task.startTime.toISOString(), task.endTime.toISOString()]);
      found.push({{ words, edges, bars }});
    }} catch (error) {{ found.push({{ error: String(error) }}); }}
  }}
  document.body.textContent = 'RESULT' + encodeURIComponent(JSON.stringify(found)) + 'END';
}})();
</script>"#,
        library.display()
    );
    let path = place.work().join("mermaid.html");
    std::fs::write(&path, page).unwrap();
    let dom = dump_page(browser, place, &path);
    let result = dom.split("RESULT").last().and_then(|rest| rest.split("END").next()).unwrap();
    let text = percent_decoded(result);
    Some(serde_json::from_str(&text).unwrap_or_else(|_| panic!("{dom}")))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        if let (b'%', [high, low, after @ ..]) = (first, more) {
            let code = [*high, *low];
            let code = std::str::from_utf8(&code).unwrap();
            bytes.push(u8::from_str_radix(code, 16).unwrap());
            rest = after;
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn export(place: &Place, format: &str) -> String {
    let output = place.run(&["export", "last", "--format", format]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Titles with everything that Mermaid could read as something else.
const ODD_TITLES: [&str; 8] = [
    "title page: \"proofs\"; 100% of <b>it</b> & more",
    "section 3, review #2",
    "click here",
    "2026-01-01 is early",
    "end of style: x#y; classDef a",
    "1. first item",
    "- a dash and `code`",
    "{braces} [brackets] (parentheses) | pipes",
];

fn odd_plan(calendar: &str) -> String {
    let mut text = format!("title = \"Release: 2.0; beta\"\n{calendar}\n");
    for (n, title) in ODD_TITLES.iter().enumerate() {
        let title = toml::Value::String((*title).to_owned());
        let _ =
            writeln!(text, "[[tasks]]\nid = \"t{n}\"\ndescription = {title}\nduration = \"60m\"");
        text.push_str("run = { shell = \"true\" }\n");
        if n > 0 {
            let _ = writeln!(text, "depends_on = [\"t{}\"]", n - 1);
        }
    }
    text
}

#[test]
fn mermaid_draws_the_dates_and_the_titles_as_they_are() {
    let place = Place::new();
    let plan = place.plan(&odd_plan("[calendar]\nstart = \"2027-03-01\"\ntz = \"UTC\""));
    place.run(&["run", &plan, "--headless"]);
    let planned = export(&place, "gantt");
    let flowchart = export(&place, "mermaid");
    let approved = place.run(&["run", "last", "--headless", "--yes"]);
    assert_eq!(approved.status.code(), Some(0), "{}", String::from_utf8_lossy(&approved.stderr));
    let ran = export(&place, "gantt");
    let Some(drawn) =
        draw_with_mermaid(&place, &[planned, flowchart, ran, export(&place, "mermaid")])
    else {
        return;
    };
    for one in &drawn {
        assert_eq!(one["error"], Value::Null, "{one}");
        for title in ODD_TITLES {
            assert!(one["words"].as_str().unwrap().contains(title), "{title}: {one}");
        }
    }
    let bars = drawn[0]["bars"].as_array().unwrap();
    assert_eq!(bars.len(), ODD_TITLES.len());
    assert_eq!(
        bars[0],
        serde_json::json!(["2027-03-01T09:00:00.000Z", "2027-03-01T10:00:00.000Z"])
    );
    let now = jiff::Timestamp::now();
    for bar in drawn[2]["bars"].as_array().unwrap() {
        let at = |index: usize| bar[index].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(at(0) <= at(1) && now.duration_since(at(0)).as_secs().abs() < 600, "{bar}");
    }
    assert!(drawn[3]["words"].as_str().unwrap().contains("done in "), "{}", drawn[3]);
    assert_eq!(drawn[1]["edges"], 7);
}

/// 300 tasks with 600 links: above what Mermaid draws at once, so in parts, and every link is drawn.
#[test]
fn mermaid_draws_every_link_of_a_large_plan() {
    let place = Place::new();
    let mut text = String::from("title = \"Large\"\n");
    for n in 0..300_usize {
        let after: Vec<String> =
            (n.saturating_sub(2)..n).map(|before| format!("\"t{before}\"")).collect();
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"t{n}\"\ndescription = \"Task {n}\"\nrun = {{ shell = \"true\" }}\ndepends_on = [{}]",
            after.join(", ")
        );
    }
    let plan = place.plan(&text);
    place.run(&["run", &plan, "--headless"]);
    let document = export(&place, "mermaid");
    let parts: Vec<String> = document
        .split("```mermaid\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next().map(str::to_owned))
        .collect();
    assert!(parts.len() > 1, "{document}");
    let Some(drawn) = draw_with_mermaid(&place, &parts) else { return };
    assert!(drawn.iter().all(|one| one["error"].is_null()), "{drawn:?}");
    let edges: u64 = drawn.iter().map(|one| one["edges"].as_u64().unwrap()).sum();
    assert_eq!(edges, 597);
}

#[test]
fn graphviz_draws_the_plan_with_what_became_of_it() {
    if Command::new("dot").arg("-V").output().is_err() {
        not_tested("Graphviz is not installed");
        return;
    }
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let source = place.work().join("plan.dot");
    std::fs::write(&source, export(&place, "dot")).unwrap();
    let drawn = Command::new("dot").arg("-Tsvg").arg(&source).output().unwrap();
    let svg = String::from_utf8_lossy(&drawn.stdout).into_owned();
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    assert_eq!(svg.matches("class=\"node\"").count(), 4, "{svg}");
    assert_eq!(svg.matches("class=\"edge\"").count(), 4, "{svg}");
    assert!(
        svg.contains("done in ") && svg.contains("started ") && svg.contains("#dafbe1"),
        "{svg}"
    );
}

/// Opens a page, reads it, moves its slider to the first event, and notes every request that it makes.
const READ_PAGE: &str = r##"
const puppeteer = require(process.argv[2] + '/puppeteer-core');
(async () => {
  const browser = await puppeteer.launch({ executablePath: process.argv[3], args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage();
  const requests = [], errors = [];
  page.on('request', request => requests.push(request.url()));
  page.on('console', message => errors.push(message.text()));
  page.on('pageerror', error => errors.push(String(error)));
  await page.goto('file://' + process.argv[4]);
  const look = () => page.evaluate(() => ({
    text: document.body.innerText,
    classes: [...document.querySelectorAll('tr[data-task]')].map(row => row.className),
    steps: [...document.querySelectorAll('[data-n]')].filter(step => !step.hidden).length,
    colored: [...document.querySelectorAll('pre span.a1')].map(span => span.textContent),
    dead: [...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id)),
  }));
  const end = await look();
  await page.evaluate(() => {
    const slider = document.getElementById('at');
    slider.value = 1;
    slider.dispatchEvent(new Event('input'));
  });
  console.log(JSON.stringify({ end, start: await look(), requests, errors }));
  await browser.close();
})();
"##;

#[test]
fn a_browser_reads_the_page_and_moves_its_slider_without_a_network() {
    let (Some(modules), Some(browser)) = (node_modules("the page"), find_browser()) else { return };
    let place = Place::new();
    let plan = place.plan(
        "[[tasks]]\nid = \"a\"\ndescription = \"Run the tests\"\nrun = { shell = \"printf '\\\\033[31mred words\\\\033[0m\\\\n'; echo 'error: no rows <b>' >&2; exit 101\" }\n\
         [[tasks]]\nid = \"b\"\ndescription = \"Ship it\"\nrun = { shell = \"true\" }\ndepends_on = [\"a\"]\n\
         [[tasks]]\nid = \"c\"\ndescription = \"Tidy up\"\nrun = { shell = \"true\" }\n",
    );
    place.run(&["run", &plan, "--headless", "--yes"]);
    let page = place.work().join("page.html");
    std::fs::write(&page, export(&place, "html")).unwrap();
    let script = place.work().join("read.js");
    std::fs::write(&script, READ_PAGE).unwrap();
    let path = Command::new("which").arg(browser).output().unwrap().stdout;
    let output = Command::new("node")
        .arg(&script)
        .arg(&modules)
        .arg(String::from_utf8_lossy(&path).trim())
        .arg(&page)
        .env("HOME", place.dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let text = found["end"]["text"].as_str().unwrap();
    assert!(text.find("Run the tests") < text.find("Graph\n"), "failures come first: {text}");
    for words in ["error: no rows <b>", "Skipped because of it: Ship it", "red words"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(found["end"]["colored"][0], "red words", "{found}");
    assert_eq!(found["end"]["classes"], serde_json::json!(["fail", "skip", "done"]));
    assert_eq!(found["start"]["classes"], serde_json::json!(["wait", "wait", "wait"]));
    let steps = |when: &str| found[when]["steps"].as_u64().unwrap();
    assert!(steps("start") < steps("end"), "{found}");
    assert_eq!(found["requests"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["end"]["dead"], serde_json::json!([]), "{found}");
    assert_eq!(found["errors"], serde_json::json!([]), "{found}");
}

/// The documented fields of the trace event format: phase, times in microseconds, process and lane; what is inside
/// something else in a lane ends before it.
#[test]
fn a_timeline_has_the_documented_fields_and_nests() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let trace: Value = serde_json::from_str(&export(&place, "chrome-trace")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut spans: std::collections::BTreeMap<u64, Vec<(f64, f64)>> =
        std::collections::BTreeMap::new();
    for event in events {
        let phase = event["ph"].as_str().unwrap();
        assert!(["M", "X", "s", "f"].contains(&phase), "{event}");
        assert!(event["ts"].is_number() && event["pid"].is_u64(), "{event}");
        let lane = event["tid"].as_u64().unwrap();
        if phase == "X" {
            let (start, took) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            assert!(event["name"].is_string() && start >= 0.0 && took >= 0.0, "{event}");
            spans.entry(lane).or_default().push((start, start + took));
        }
    }
    let commands = events.iter().filter(|event| event["name"] == "execute_tool shell").count();
    assert_eq!(commands, 4);
    assert!(spans.len() >= 3, "the two tasks of the middle stand in lanes of their own: {spans:?}");
    for spans in spans.values() {
        for (place, (start, end)) in spans.iter().enumerate() {
            for (other_start, other_end) in &spans[place + 1..] {
                let apart = other_start >= end || other_end <= start;
                let inside = other_start >= start && other_end <= end;
                assert!(apart || inside, "{spans:?}");
            }
        }
    }
    let arrows = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!((arrows("s"), arrows("f")), (4, 4));
}

/// A Python with packages of the programs that read exports: `asciinema` (2.4) and `pyte`.
fn tools_python(what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PLANWRIGHT_TOOLS_PYTHON").map(PathBuf::from);
    if found.is_none() {
        not_tested(&format!("{what}: PLANWRIGHT_TOOLS_PYTHON is not set"));
    }
    found
}

/// Reads a recording as the player does, and shows the first and the last screen of a terminal that plays it.
const PLAY_CAST: &str = r"
import json, sys, pyte
from asciinema.asciicast import open_from_url
with open_from_url(sys.argv[1]) as cast:
    screen = pyte.Screen(cast.v2_header['width'], cast.v2_header['height'])
    stream = pyte.Stream(screen)
    shown, times = [], []
    for at, _, text in cast.events('o'):
        times.append(at)
        stream.feed(text)
        shown.append('\n'.join(screen.display))
print(json.dumps({'first': shown[0], 'last': shown[-1], 'frames': len(shown), 'ordered': times == sorted(times), 'seconds': times[-1]}))
";

#[test]
fn a_player_shows_the_recording_from_the_plan_to_the_end() {
    let Some(python) = tools_python("the recording") else { return };
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let cast = place.work().join("run.cast");
    std::fs::write(&cast, export(&place, "cast")).unwrap();
    let script = place.work().join("play.py");
    std::fs::write(&script, PLAY_CAST).unwrap();
    let output = Command::new(python).arg(&script).arg(&cast).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let screen = |name: &str| found[name].as_str().unwrap().to_owned();
    assert!(screen("first").contains("Diamond"), "{}", screen("first"));
    assert_eq!(screen("last").matches('✓').count(), 4, "{}", screen("last"));
    assert_ne!(screen("first"), screen("last"));
    assert!(found["frames"].as_u64().unwrap() > 8 && found["ordered"] == true, "{found}");
    assert!(found["seconds"].as_f64().unwrap() < 60.0, "{found}");
}

#[test]
fn a_browser_plays_the_animated_picture() {
    let Some(browser) = find_browser() else { return };
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let picture = place.work().join("run.svg");
    std::fs::write(&picture, export(&place, "svg")).unwrap();
    let dom = dump_page(browser, &place, &picture);
    assert!(
        dom.contains("<animate") && dom.contains("Diamond") && !dom.contains("parsererror"),
        "{dom}"
    );
    assert!(dom.matches("<animate ").count() > 8, "{dom}");
}

fn edit_record(seq: u64, path: &str, created: bool, diff: &str) -> Record {
    let step = ReActStep {
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        task_id: "a".into(),
        action: StepAction::Observation,
        content: "written".into(),
        tool_used: Some("file.write".into()),
        tool_input: None,
        tool_output: Some(serde_json::json!({ "ok": true, "data": {
            "path": path, "file_hash": "x", "created": created, "diff": diff,
        }})),
        confidence_score: None,
        metadata: StepMetadata::default(),
    };
    let event = AgentEvent::from_step("a".into(), 1, step);
    Record::new(Seq(seq), jiff::Timestamp::UNIX_EPOCH, event)
}

/// The files of an event, from the workspace as it was before the run and the patch up to it.
#[test]
fn git_applies_the_files_of_an_earlier_event() {
    let records = [
        edit_record(1, "notes.md", true, "@@ -0,0 +1,3 @@\n+one\n+two\n+three\n"),
        edit_record(2, "old.rs", false, "@@ -2,2 +2,2 @@\n b\n-c\n+C\n"),
        edit_record(3, "notes.md", false, "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n"),
        edit_record(4, "old.rs", false, "@@ -1,2 +1,3 @@\n+0\n a\n b\n"),
    ];
    let mut log = EditLog::default();
    for record in &records {
        log.apply(record);
    }
    for (at, notes, old) in [
        (1, "one\ntwo\nthree\n", "a\nb\nc\n"),
        (2, "one\ntwo\nthree\n", "a\nb\nC\n"),
        (4, "one\n2\n2.5\nthree\n", "0\na\nb\nC\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("old.rs"), "a\nb\nc\n").unwrap();
        let patch = dir.path().join("run.patch");
        std::fs::write(&patch, render_workspace_patch(&log, Seq(at))).unwrap();
        let applied =
            Command::new("git").arg("apply").arg(&patch).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&applied.stderr).into_owned();
        assert!(applied.status.success(), "{at}: {said}");
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!((read("notes.md"), read("old.rs")), (notes.to_owned(), old.to_owned()), "{at}");
    }
}

#[test]
fn the_files_of_a_session_are_written_without_a_format() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let files = place.run(&["export", "last", "--files", "--at", "9"]);
    let text = String::from_utf8_lossy(&files.stdout).into_owned();
    assert!(text.starts_with("Edits of agents up to event 9: 0 files."), "{text}");
    let all =
        String::from_utf8_lossy(&place.run(&["export", "last", "--files"]).stdout).into_owned();
    assert!(all.contains("4 commands were started"), "{all}");
    assert_eq!(place.run(&["export", "last", "--files", "--at", "9999"]).status.code(), Some(2));
    assert_eq!(place.run(&["export", "last"]).status.code(), Some(2));
}
