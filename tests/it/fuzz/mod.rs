//! Every parser, fed valid documents with mistakes in them: no panic, no hang, and whatever is accepted can be used.
//!
//! Some hundreds of cases each in the suite; `PROPTEST_CASES=20000 cargo test --test it fuzz` sets the number.

mod mutate;
mod sessions;
mod wire;

use std::path::Path;
use std::sync::OnceLock;

use planwright::Settings;
use planwright_drafting::controller::parse_reply;
use planwright_drafting::offline::{Goal, GoalParseContext, TemplateLibrary, TemplateSource};
use planwright_drafting::{change_requests, policy_text};
use planwright_llm::recorded::Cassette;
use planwright_plan::export::read_ical;
use planwright_plan::plan_file::{PlanFileFormat, parse_plan_file, write_toml};
use planwright_tools::web::{address, html};
use planwright_tools::{WebSettings, permission, schema};
use planwright_tui::{KeyOverrides, Theme, check_keys};
use proptest::prelude::*;

use mutate::mutated;

fn asset(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The files of a folder and of the folders in it.
fn assets(dir: &str) -> Vec<String> {
    fn collect(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { collect(&path, found) } else { found.push(path) }
        }
    }
    let mut names = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(dir), &mut names);
    names.sort();
    names.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn toml_plans() -> Vec<String> {
    assets("assets/examples")
}

/// The example plans that can be read, written as JSON.
fn json_plans() -> Vec<String> {
    toml_plans()
        .iter()
        .filter_map(|text| parse_plan_file(text, PlanFileFormat::Toml, "plan.toml").ok())
        .map(|file| serde_json::to_string_pretty(&file.plan).unwrap())
        .collect()
}

const MARKDOWN: &str = "# Release 2.0\n\nAll of it, in order.\n\n## Prepare\n\n- [ ] audit: read the code (2h)\n  - [ ] notes: write them down\n- [x] bench: measure `cargo bench` after audit\n\n```sh\ncargo test\n```\n\n| id | task | after |\n| --- | --- | --- |\n| a | first | |\n| b | second | a |\n\n1. one\n2. two\n";

/// Every accepted plan is drawn, sorted and written, and reads back as the same plan.
fn use_plan(text: &str, format: PlanFileFormat) {
    let Ok(file) = parse_plan_file(text, format, "plan") else { return };
    let written = write_toml(&file.plan);
    let again = parse_plan_file(&written, PlanFileFormat::Toml, "again.toml");
    match again {
        Ok(again) => assert_eq!(again.plan.digest().unwrap(), file.plan.digest().unwrap()),
        Err(error) => panic!("what was read cannot be read again: {error}\n{written}"),
    }
    let _ = planwright_plan::export::render_graph_flowchart(
        &file.plan,
        &planwright_plan::export::ExportedRun::new(),
        &jiff::tz::TimeZone::UTC,
    );
    let _ = planwright_plan::export::render_graph_dot(
        &file.plan,
        &planwright_plan::export::ExportedRun::new(),
        &jiff::tz::TimeZone::UTC,
    );
    let first_day = jiff::civil::date(2026, 6, 1);
    let here =
        planwright_plan::plan_file_schedule::LocalContext { tz: "UTC".to_owned(), first_day };
    let _ = planwright_plan::plan_file_schedule::schedule_plan_file(&file.plan, &here);
}

proptest! {
    #[test]
    fn plan_files_in_toml(text in mutated(toml_plans())) {
        use_plan(&text, PlanFileFormat::Toml);
    }

    #[test]
    fn plan_files_in_json(text in mutated(json_plans())) {
        use_plan(&text, PlanFileFormat::Json);
    }

    #[test]
    fn plan_files_in_markdown(text in mutated(vec![MARKDOWN.to_owned(), asset("README.md")])) {
        use_plan(&text, PlanFileFormat::Markdown);
    }

    #[test]
    fn themes(text in mutated(assets("themes"))) {
        let _ = Theme::parse("own", &text);
    }

    #[test]
    fn settings(text in mutated(vec![CONFIG.to_owned()])) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        if let Ok(settings) = Settings::load(&path, true) {
            let _ = (settings.rows(), settings.caps(), settings.limits());
        }
    }

    #[test]
    fn key_maps(
        keys in prop::collection::btree_map(
            mutated(vec!["quit".into(), "approve".into(), "focus_graph".into(), "next_event".into()]),
            mutated(vec!["ctrl-x".into(), "q".into(), "alt-Enter".into(), "F12".into(), "shift-tab g g".into()]),
            0..4,
        )
    ) {
        let _ = check_keys(&KeyOverrides(keys));
    }

    #[test]
    fn calendars(text in mutated(calendars_written())) {
        let from = "2026-06-01T00:00:00Z".parse().unwrap();
        let until = "2026-12-01T00:00:00Z".parse().unwrap();
        let _ = read_ical(&text, "Europe/Berlin", from, until);
    }

    #[test]
    fn goals(text in mutated(GOALS.map(str::to_owned).to_vec())) {
        let today = GoalParseContext::new(jiff::civil::date(2026, 6, 8), 5);
        let _ = Goal::parse(&text, today);
    }

    #[test]
    fn change_requests(text in mutated(CHANGE_REQUESTS.map(str::to_owned).to_vec())) {
        let outline = sessions::outline();
        let today = jiff::civil::date(2026, 6, 8);
        let source = change_requests::ChangeRequestSource {
            outline,
            roadmap: None,
            planned_end: None,
            marked: &[],
            today,
        };
        let reading = change_requests::parse_change_request(&text, &source);
        // Input that was not understood is quoted as it was typed.
        for clause in &reading.clauses {
            prop_assert!(!clause.text.trim().is_empty());
        }
    }

    #[test]
    fn replies_and_remarks(text in mutated(REPLIES.map(str::to_owned).to_vec())) {
        let _ = parse_reply(&text);
        let _ = policy_text::parse_remark(&text);
    }

    #[test]
    fn blueprints_and_topic_packs(
        blueprint in mutated(assets("assets/blueprints")),
        pack in mutated(assets("assets/topics")),
    ) {
        let blueprint = TemplateSource { name: "own.toml", text: &blueprint };
        let pack = TemplateSource { name: "pack.toml", text: &pack };
        let (library, errors) = TemplateLibrary::with_own(&[blueprint], &[pack]);
        let _ = library;
        for error in errors {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn recordings_of_models(text in mutated(vec![CASSETTE.to_owned()])) {
        let _ = Cassette::parse(&text, Path::new("c.jsonl"));
    }

    #[test]
    fn pages_and_addresses(
        page in mutated(vec![PAGE.to_owned()]),
        url in mutated(vec!["https://user@example.com:8080/a/../b?x=1#y".into(), "http://0x7f.1/".into()]),
    ) {
        let _ = html::html_to_text(&page);
        let _ = address::parse_target(&url, &WebSettings::default());
    }

    #[test]
    fn commands_that_models_write(text in mutated(COMMANDS.map(str::to_owned).to_vec())) {
        let plain = permission::is_plain_command(&text);
        let parts = permission::simple_commands(&text);
        // A plain command is one command: a rule for it never permits another one.
        if plain {
            prop_assert!(parts.len() <= 1, "{text:?} is plain and has {} parts", parts.len());
            prop_assert!(!text.contains(['\n', ';', '|', '`', '<', '>']) && !text.contains("$("), "{text:?}");
        }
        let _ = permission::find_danger(&text);
    }

    #[test]
    fn arguments_of_tools(
        shape in mutated(vec![SCHEMA.to_owned()]),
        args in mutated(vec![r#"{"path": "src/main.rs", "lines": [1, 20], "options": {"deep": true, "limit": 3}}"#.into()]),
    ) {
        let shape = serde_json::from_str(&shape).unwrap_or_else(|_| serde_json::from_str(SCHEMA).unwrap());
        if let Ok(args) = serde_json::from_str(&args) {
            let _ = schema::check_args(&shape, &args);
        }
    }

    #[test]
    fn events_of_a_journal(text in mutated(sessions::events().to_vec())) {
        if let Ok(event) = planwright_model::event::Event::decode(text.as_bytes()) {
            let again = planwright_model::event::Event::decode(&event.encode().unwrap()).unwrap();
            prop_assert_eq!(again, event);
        }
    }
}

const CONFIG: &str = "theme = \"dark\"\njobs = 3\nascii = false\n[keys]\nquit = \"q\"\napprove = \"a\"\n[models]\nprovider = \"ollama\"\nmodel = \"m\"\n[models.providers.mine]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\nconcurrency = 2\n[caps]\nsession_dollars = 1.5\n[confidence_weights]\nself_score = 0.3\n[permissions]\nallow = [\"shell: cargo test\"]\n[mcp.small]\ncommand = [\"x\"]\n";

const GOALS: [&str; 5] = [
    "launch a newsletter in 6 weeks",
    "learn Rust, 5 hours a week, by 2026-10-01",
    "migrate service X from Python to Rust by the end of March",
    "marathon training 16 weeks, three times a week at 7:30",
    "every second Tuesday of the month: review for 45 minutes until 31.12.2026",
];

const CHANGE_REQUESTS: [&str; 6] = [
    "make a 3 hours and remove b",
    "rename 1.2 to \"Better name\"; move 2 before 1",
    "add \"Write the report\" after 1.1, 90 minutes",
    "only 4 hours a week, not on Mondays, starting 2026-07-01",
    "a depends on b with a lag of 2 days",
    "finish by 30 September and never work after 18:00",
];

const REPLIES: [&str; 8] = [
    "approve",
    "approve and stop",
    "propose changes: make it shorter",
    "use 2",
    "raise for the session",
    "be brief and ask less",
    "deny: not this one",
    "more options, warmer tone, ask at every step",
];

const COMMANDS: [&str; 6] = [
    "cargo test --workspace -- --nocapture",
    "FOO=1 make -C dir all",
    "git log --format='%h %s' | head -3",
    "echo \"a $(b `c`)\" > out; rm -rf build && ls",
    "cat <<'X'\ntext\nX\n",
    "find . -name '*.rs' -exec grep -l x {} +",
];

const SCHEMA: &str = r#"{"type": "object", "properties": {"path": {"type": "string", "minLength": 1},
 "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}}, "options": {"type": "object",
 "properties": {"deep": {"type": "boolean"}, "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
 "kind": {"enum": ["a", "b"]}}, "required": ["path"], "additionalProperties": false}"#;

const PAGE: &str = "<!doctype html><html><head><title>T &amp; t</title><script>x()</script><style>a{}</style></head><body><h1>One</h1><p>a <a href='/x?y=1'>b</a> &#x1b;[2J &#8238;</p><ul><li>1<li>2</ul><pre>  keep\n  this</pre><table><tr><td>a<td>b</table></body></html>";

const CASSETTE: &str = "{\"cassette\":1,\"info\":{\"provider\":\"mock\",\"model\":\"m\"}}\n{\"request\":{\"messages\":[]},\"outcome\":{\"text\":\"hello\"}}\n";

/// A calendar as Planwright writes it, and one with what other programs write.
fn calendars_written() -> Vec<String> {
    static WRITTEN: OnceLock<Vec<String>> = OnceLock::new();
    WRITTEN
        .get_or_init(|| {
            let place = crate::program::Place::new();
            let args = ["plan", "learn Rust, 5 hours a week", "--headless", "--yes", "--format", "ics"];
            let output = place.run(&args);
            let written: String =
                String::from_utf8_lossy(&output.stdout).lines().take(80).collect::<Vec<_>>().join("\r\n");
            assert!(written.contains("BEGIN:VEVENT"), "{written}");
            vec![
                written,
                "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Mine\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:1\r\n\
                 DTSTART;TZID=America/New_York:20260608T090000\r\nDTEND;TZID=America/New_York:20260608T093000\r\n\
                 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,-1FR;COUNT=40;UNTIL=20261001T000000Z\r\n\
                 EXDATE:20260622T130000Z,20260706T130000Z\r\nSUMMARY:Stand\\, up\r\n ing\r\nTRANSP:OPAQUE\r\nEND:VEVENT\r\n\
                 BEGIN:VEVENT\r\nUID:2\r\nDTSTART;VALUE=DATE:20260701\r\nDURATION:P1DT2H\r\n\
                 RECURRENCE-ID:20260608T090000\r\nSTATUS:CANCELLED\r\nRDATE:20260801T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
                    .to_owned(),
            ]
        })
        .clone()
}

/// The dependencies of a task, by its number.
type Shape = fn(usize) -> Vec<usize>;

/// Chains, fans, layers and dense plans of a thousand and more tasks, invalid numbers and numbers that are too
/// large: correct, or refused with the position.
#[test]
fn large_and_absurd_plans_are_read_or_refused() {
    let task = |id: usize, on: &[usize]| {
        let on: Vec<String> = on.iter().map(|id| format!("\"t{id}\"")).collect();
        format!(
            "[[tasks]]\nid = \"t{id}\"\ndescription = \"x\"\ndepends_on = [{}]\n",
            on.join(", ")
        )
    };
    let shapes: [(&str, Shape); 4] = [
        ("chain", |id| if id > 0 { vec![id - 1] } else { Vec::new() }),
        ("wide", |id| if id > 0 { vec![0] } else { Vec::new() }),
        ("layered", |id| {
            if id >= 10 { (id / 10 * 10 - 10..id / 10 * 10).collect() } else { Vec::new() }
        }),
        ("dense", |id| (id.saturating_sub(60)..id).collect()),
    ];
    for (name, shape) in shapes {
        for size in [1_000, 10_000] {
            let tasks: String = (0..size).map(|id| task(id, &shape(id))).collect();
            let text = format!("title = \"{name}\"\n{tasks}");
            match parse_plan_file(&text, PlanFileFormat::Toml, "plan.toml") {
                Ok(file) => {
                    assert_eq!(file.plan.tasks.len(), size, "{name}");
                    let last = file.plan.tasks.last().unwrap();
                    assert_eq!(last.dependencies.len(), shape(size - 1).len(), "{name}");
                }
                Err(error) => {
                    let words = error.to_string();
                    assert!(size > 1_000 && words.contains("more than"), "{name} {size}: {words}");
                }
            }
        }
    }
    let refused = [
        ("duration = nan", "duration"),
        ("duration = inf", "duration"),
        ("duration = -1", "duration"),
        ("duration = 1e300", "duration"),
        ("duration = 99999999999999999999", ""),
        ("priority = nan", "priority"),
        ("timeout_seconds = -5", "timeout"),
        ("timeout_seconds = 1e30", "timeout"),
        ("tool_affinity = { x = nan }", "affinity"),
        ("depends_on = [{ task = \"b\", lag = 99999999999999 }]", "lag"),
    ];
    for (line, word) in refused {
        let text = format!(
            "title = \"x\"\n[[tasks]]\nid = \"b\"\ndescription = \"y\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\n{line}\n"
        );
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.toml");
        std::fs::write(&path, &text).unwrap();
        let place = crate::program::Place::new();
        let output = place.run(&["check", &path.to_string_lossy()]);
        let words = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_ne!(output.status.code(), Some(0), "{line} was accepted");
        assert!(words.contains(word) && words.contains("plan.toml:"), "{line}: {words}");
    }
}
