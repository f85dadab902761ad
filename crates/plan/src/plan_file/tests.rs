//! Plan files as people write them, and malformed ones.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

mod agents;
mod version_two;

use super::*;
use planwright_model::task::CriterionEffect;
use planwright_model::{
    ExitCriterion, FileCalendar, LagBasis, LinkKind, LinkOrigin, NodeOrigin, RepeatPolicy,
    RetryCause, RunCondition, RunKind, SandboxChoice, TaskLink, TaskNode, TaskRetryPolicy,
};

const RELEASE: &str = r#"
title = "Release 2.0"
[resources]
engineer = 2
[[tasks]]
id = "docs"
question = "Write the guide"
[[tasks]]
id = "build"
description = "Build the release binaries"
run = { shell = "cargo build --release" }
duration = "2h"
resources = { engineer = 1 }
timeout = "5m"
repeat = "safe"
[[tasks]]
id = "announce"
description = "Write the announcement"
depends_on = ["build", { task = "docs", kind = "SS", lag = "1d" }]
priority = 5
tool_affinity = { "file.write" = 0.9 }
"#;

fn toml(text: &str) -> Result<PlanFile, PlanFileError> {
    parse_plan_file(text, PlanFileFormat::Toml, "plan.toml")
}

/// Returns rule, line, message and remedy of every violation.
fn faults(text: &str) -> Vec<(String, u32, String, String)> {
    let error = toml(text).unwrap_err();
    let list = error.violations().iter().cloned();
    list.map(|v| (v.rule, v.line.unwrap(), v.message, v.suggested_fix)).collect()
}

fn fault(text: &str) -> (String, u32, String, String) {
    let mut faults = faults(text);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

#[test]
fn reads_the_complete_example_of_the_manual() {
    let file = toml(RELEASE).unwrap();
    assert_eq!((file.normalization, file.warnings), (vec![], vec![]));
    let plan = file.plan;
    assert_eq!(plan.title, "Release 2.0");
    assert_eq!(plan.resources, BTreeMap::from([("engineer".into(), 2)]));
    assert_eq!(plan.tasks[0].description, "Write the guide");
    let build = &plan.tasks[1];
    assert_eq!(build.run, RunKind::Shell("cargo build --release".into()));
    assert_eq!((build.duration_minutes, build.timeout_seconds), (Some(120), Some(300)));
    assert_eq!(build.repeat, RepeatPolicy::Safe);
    let lagged =
        TaskLink { kind: LinkKind::SS, lag_minutes: 480, ..TaskLink::finish_to_start("docs") };
    assert_eq!(plan.tasks[2].dependencies, [TaskLink::finish_to_start("build"), lagged]);
    assert_eq!(plan.tasks[2].priority, 5);
}

#[test]
fn json_and_toml_give_the_same_plan() {
    let text = r#"{"title": "Release 2.0", "resources": {"engineer": 2}, "tasks": [
        {"id": "docs", "prompt": "Write the guide"},
        {"id": "build", "description": "Build the release binaries", "run": {"shell": "cargo build --release"},
         "duration": 120, "resources": {"engineer": 1}, "timeout_seconds": 300, "repeat": "safe"},
        {"id": "announce", "goal": "Write the announcement", "priority": 5, "affinity": {"file.write": 0.9},
         "dependencies": ["build", {"task": "docs", "kind": "start_to_start", "lag": "1d"}]}]}"#;
    let plan = parse_plan_file(text, PlanFileFormat::Json, "plan.json").unwrap().plan;
    assert_eq!(plan, toml(RELEASE).unwrap().plan);
}

#[test]
fn syntax_errors_report_their_position() {
    let error = toml("title = \"x\"\n[[tasks]\n").unwrap_err();
    assert!(error.to_string().starts_with("plan.toml:2:"), "{error}");
    let error = parse_plan_file("{\"tasks\": [\n  {]", PlanFileFormat::Json, "p.json").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p.json:2:4: not valid JSON: expected a field's name in double quotes"
    );
}

#[test]
fn unknown_fields_suggest_the_nearest_one() {
    let text = "[[tasks]]\nid = \"a\"\ndesciption = \"x\"\n";
    assert_eq!(
        fault(text),
        (
            "unknown_field".into(),
            3,
            "`tasks[0].desciption` is not a field of a plan file".into(),
            "Did you mean `description`?".into()
        )
    );
    assert_eq!(fault("colour = 1\ntasks = [{ id = \"a\" }]").0, "unknown_field");
    let link =
        "tasks = [{ id = \"b\" }, { id = \"a\", depends_on = [{ task = \"b\", lagg = 1 }] }]";
    assert_eq!(fault(link).3, "Did you mean `lag`?");
}

#[test]
fn several_problems_are_reported_at_once_with_a_summary() {
    let text = "[[tasks]]\nid = \"a\"\npriority = \"high\"\nduration = \"soon\"\nrun = \"human\"\n";
    let lines: Vec<_> = faults(text).iter().map(|fault| fault.1).collect();
    assert_eq!(lines, [5, 3, 4]);
    let error = toml(text).unwrap_err();
    assert!(error.to_string().ends_with("(and 2 more problems)"), "{error}");
    assert_eq!(error.hint(), "Write { shell = \"…\" }, { agent = {} } or { human = {} }.");
}

#[test]
fn a_duplicate_id_reports_both_positions() {
    let text = "[[tasks]]\nid = \"a\"\n\n[[tasks]]\nid = \"a\"\n";
    assert_eq!(fault(text).2, "the id `a` is used twice: in line 2 and in line 5");
}

#[test]
fn a_cycle_is_shown_as_its_path() {
    let text = "[[tasks]]\nid = \"a\"\ndepends_on = [\"b\"]\n[[tasks]]\nid = \"b\"\ndepends_on = [\"a\"]\n";
    let (rule, line, message, fix) = fault(text);
    assert_eq!((rule.as_str(), line), ("cycle", 3));
    assert_eq!(message, "a → b → a wait for each other");
    assert_eq!(fix, "Remove one of these links, for example `b` from `a`.");
}

#[test]
fn demand_above_capacity_reports_task_resource_demand_and_capacity() {
    let text =
        "resources = { engineer = 2 }\n[[tasks]]\nid = \"a\"\nresources = { engineer = 3 }\n";
    let (rule, line, message, _) = fault(text);
    assert_eq!((rule.as_str(), line), ("over_capacity", 4));
    assert_eq!(message, "`a` needs 3 of `engineer`, but there are only 2");
    assert_eq!(fault(&text.replace("engineer = 3", "enginer = 1")).3, "Did you mean `engineer`?");
    assert_eq!(fault(&text.replace("engineer = 2", "engineer = 0")).0, "bad_value");
}

#[test]
fn unknown_dependencies_are_errors_with_the_nearest_name() {
    let text = "[[tasks]]\nid = \"build\"\n[[tasks]]\nid = \"b\"\ndepends_on = [\"biuld\"]\n";
    let (rule, line, message, fix) = fault(text);
    assert_eq!((rule.as_str(), line), ("dependency_missing", 5));
    assert_eq!(message, "`b` waits for a missing task: there is no task biuld");
    assert_eq!(fix, "Did you mean `build`?");
    let (rule, line, message, _) = fault(&text.replace("biuld", "b"));
    assert_eq!((rule.as_str(), line), ("cycle", 5));
    assert_eq!(message, "b cannot wait for itself");
}

#[test]
fn unknown_dependencies_are_left_out_where_that_was_asked_for() {
    let text = "[[tasks]]\nid = \"build\"\n[[tasks]]\nid = \"b\"\ndepends_on = [\"biuld\"]\n";
    let inputs = PlanFileInputs { allow_missing: true, ..PlanFileInputs::default() };
    let file = parse_with_inputs(text, PlanFileFormat::Toml, "plan.toml", &inputs).unwrap();
    assert!(file.plan.tasks[1].dependencies.is_empty());
    assert_eq!(file.normalization.last().unwrap().code, "dependency_missing");
    assert_eq!(file.warnings[0].line, Some(5));
    assert_eq!(file.warnings[0].suggested_fix, "The link is left out.");
}

#[test]
fn durations_have_bounds_and_lags_a_basis() {
    let with = |field: &str| format!("[[tasks]]\nid = \"a\"\n{field}\n[[tasks]]\nid = \"b\"\n");
    for bad in ["0", "\"0m\"", "\"11000000m\"", "1.5", "true", "\"1x\""] {
        assert_eq!(fault(&with(&format!("duration = {bad}"))).0, "bad_value", "{bad}");
    }
    let lag = |lag: &str| toml(&with(&format!("depends_on = [{{ task = \"b\", {lag} }}]")));
    let link = |text| lag(text).unwrap().plan.tasks[0].dependencies[0].clone();
    assert_eq!(link("lag = \"1d\", lag_basis = \"elapsed\"").lag_minutes, 1440);
    assert_eq!(link("lag = -30").lag_minutes, -30);
    assert_eq!(lag("lag = 86401").unwrap_err().violations()[0].rule, "bad_value");
    let timed = with("duration = 5\ndepends_on = [{ task = \"b\", lag = 86401 }]");
    assert_eq!(fault(&timed).0, "G303");
}

#[test]
fn ids_are_printable_and_missing_ones_are_numbered() {
    for bad in ["\"\"", "\"a\\u001bb\"", "\" a\"", "7", &format!("\"{}\"", "x".repeat(81))] {
        assert_eq!(faults(&format!("tasks = [{{ id = {bad} }}]"))[0].0, "bad_value", "{bad}");
    }
    let file =
        toml("tasks = [{ id = \"task-2\" }, { description = \"x\" }, { prompt = \"y\" }]").unwrap();
    let ids: Vec<_> = file.plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["task-2", "task-2-2", "task-3"]);
}

#[test]
fn text_in_place_of_a_list_is_split_and_reported() {
    let file = toml(
        "[[tasks]]\nid = \"a\"\n[[tasks]]\nid = \"b\"\n[[tasks]]\nid = \"c\"\ndepends_on = \"a; b\"\ntools = \"file.read and web.fetch\"\n",
    )
    .unwrap();
    assert_eq!(file.plan.tasks[2].dependencies.len(), 2);
    assert_eq!(file.plan.tasks[2].tools, ["file.read", "web.fetch"]);
    assert_eq!(file.normalization.iter().filter(|entry| entry.code == "text_split").count(), 2);
}

#[test]
fn exit_criteria_are_text_typed_or_one_per_key() {
    let file = parse_plan_file(
        r#"[{"id": "a", "criteria": ["done", {"kind": "file_exists", "path": "x", "on": "failure"}, {"sources": 3}]}]"#,
        PlanFileFormat::Json,
        "p.json",
    )
    .unwrap();
    let plain =
        |text: &str| ExitCriterion::Text { text: text.into(), on: CriterionEffect::Success };
    assert_eq!(
        file.plan.tasks[0].exit_criteria,
        [
            plain("done"),
            ExitCriterion::FileExists { path: "x".into(), on: CriterionEffect::Failure },
            plain("sources=3"),
        ]
    );
    let wrong =
        "tasks = [{ id = \"a\", exit_criteria = [{ kind = \"comand\", command = \"x\" }] }]";
    assert_eq!(fault(wrong).3, "Did you mean \"command\"?");
}

#[test]
fn a_sandbox_of_the_plan_applies_to_shell_tasks_that_state_none() {
    let text = "sandbox = \"workspace\"\ntasks = [{ id = \"a\", run = { shell = \"x\" } }, { id = \"b\" }, { id = \"c\", run = { shell = \"x\" }, sandbox = \"none\" }]";
    let choices: Vec<_> = toml(text).unwrap().plan.tasks.iter().map(|task| task.sandbox).collect();
    assert_eq!(choices, [SandboxChoice::Workspace, SandboxChoice::None, SandboxChoice::None]);
}

#[test]
fn null_in_json_means_not_given() {
    let text = r#"[{"id": "a", "description": "x", "duration": null, "depends_on": null, "origin": null}]"#;
    let file = parse_plan_file(text, PlanFileFormat::Json, "p.json").unwrap();
    assert_eq!(file.plan.tasks, [TaskNode::new("a", "x")]);
}

#[test]
fn unknown_task_types_become_generic_and_are_reported() {
    let file = toml("tasks = [{ id = \"a\", task_type = \"reserch\" }]").unwrap();
    assert_eq!(file.plan.tasks[0].task_type, "generic");
    assert!(file.normalization.iter().any(|entry| entry.code == "unknown_task_type"));
}

#[test]
fn a_task_type_of_ones_own_can_be_named() {
    let inputs =
        PlanFileInputs { task_types: vec!["translate".to_owned()], ..PlanFileInputs::default() };
    let text = "tasks = [{ id = \"a\", description = \"x\", task_type = \"translate\" }]";
    let file = parse_with_inputs(text, PlanFileFormat::Toml, "p.toml", &inputs).unwrap();
    assert_eq!(file.plan.tasks[0].task_type, "translate");
    assert!(file.normalization.is_empty(), "{:?}", file.normalization);
}

#[test]
fn plans_above_the_limits_are_rejected_with_a_message() {
    let many: Vec<_> = (0..20_001).map(|index| json!({"id": format!("t{index}")})).collect();
    let error =
        parse_plan_file(&json!(many).to_string(), PlanFileFormat::Json, "p.json").unwrap_err();
    assert!(error.to_string().contains("20001 tasks, more than the 20000"), "{error}");
    let blank = " ".repeat(MAX_BYTES as usize + 1);
    assert!(matches!(toml(&blank), Err(PlanFileError::TooLarge { .. })));
}

#[test]
fn bytes_that_are_not_text_are_refused_with_their_line() {
    assert_eq!(decode_text(b"- [ ] One\n".to_vec(), "todo.md").unwrap(), "- [ ] One\n");
    let error = decode_text(b"- one\n- \xff".to_vec(), "todo.md").unwrap_err();
    assert!(matches!(error, PlanFileError::NotText { line: 2, .. }));
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "\\PC{1,12}", Just("a\n\"b\"\t\\ 'c' \"\"\"".to_owned())]
}

fn any_link(count: usize, index: usize) -> impl Strategy<Value = TaskLink> {
    let kinds = prop::sample::select(vec![LinkKind::FS, LinkKind::SS, LinkKind::FF, LinkKind::SF]);
    let origins = prop::sample::select(vec![LinkOrigin::System, LinkOrigin::Inferred]);
    (0..count, kinds, -90i32..5000, any::<bool>(), origins).prop_map(
        move |(from, kind, lag, elapsed, origin)| TaskLink {
            task: format!("t{}", from % index.max(1)).into(),
            kind,
            lag_minutes: lag,
            lag_basis: if elapsed { LagBasis::Elapsed } else { LagBasis::Working },
            origin,
        },
    )
}

fn any_criterion() -> impl Strategy<Value = ExitCriterion> {
    let on = prop::sample::select(vec![CriterionEffect::Success, CriterionEffect::Failure]);
    (0..5, "[a-z= ,]{0,5}[a-z]", on).prop_map(|(kind, text, on)| {
        let text = text.trim().to_owned();
        match kind {
            0 => ExitCriterion::Text { text, on },
            1 => ExitCriterion::FileExists { path: text, on },
            2 => ExitCriterion::Command { command: text, on },
            3 => ExitCriterion::JsonPath { path: text, equals: json!({"a": [1, 0.5, "x"]}), on },
            _ => ExitCriterion::Judged { text, on },
        }
    })
}

fn any_task(count: usize, index: usize) -> impl Strategy<Value = TaskNode> {
    let what = (any_text(), 0..3, prop::collection::vec(any_criterion(), 0..3));
    let numbers = (
        any::<i64>(),
        0u64..1 << 60,
        prop::option::of(1u32..50_000),
        prop::option::of(1u64..90_000),
    );
    let maps = (
        prop::collection::btree_map(any_text(), 0.0..=1.0f64, 0..3),
        prop::collection::vec("[a-z.]{1,6}", 0..3),
        prop::collection::vec(any_link(count, index), 0..4),
    );
    (what, numbers, maps, any::<[bool; 4]>()).prop_map(
        move |(
            (description, run, criteria),
            (priority, tokens, duration, timeout),
            (affinity, tools, links),
            flags,
        )| {
            let mut task = TaskNode::new(format!("t{index}"), description.clone());
            task.run = match run {
                0 => RunKind::agent(),
                1 => RunKind::Shell(format!("{description}!")),
                _ => RunKind::Human {},
            };
            task.exit_criteria = criteria;
            (task.priority, task.estimated_tokens) = (priority, tokens);
            (task.duration_minutes, task.timeout_seconds) = (duration, timeout);
            (task.tool_affinity, task.tools) = (affinity, tools);
            let mut seen = std::collections::BTreeSet::new();
            if index > 0 {
                task.dependencies = links
                    .into_iter()
                    .filter(|link| seen.insert((link.task.clone(), link.kind)))
                    .collect();
            }
            if flags[0] {
                task.metadata =
                    serde_json::from_value(json!({"a b": {"c": [true, -1, 2.5]}, "d": "\u{1}"}))
                        .unwrap();
                task.agent_role = "fact_checker".into();
            }
            if flags[1] {
                task.repeat = RepeatPolicy::Safe;
                task.resources.insert("people".into(), 2);
            }
            if flags[2] {
                task.sandbox = SandboxChoice::Workspace;
                task.task_type = "research".into();
            }
            if flags[3] {
                task.at_scheduled_time = true;
                task.origin = NodeOrigin::AiAdaptation;
                task.owner = "Anna Ω".into();
                task.why = "so that it is \"done\"".into();
                task.risks = vec!["rain, or snow".into(), "b".into()];
                task.assumptions = vec!["a\nb".into()];
                task.evidence = vec!["src/a.rs:1-4".into()];
                task.cost = Some("12.50 EUR".parse().unwrap());
            }
            if flags[0] && flags[3] {
                task.not_before = Some("2026-06-01".parse().unwrap());
                task.due = Some("2026-06-05T17:30".parse().unwrap());
            } else if flags[1] && flags[3] {
                task.fixed_start = Some("2026-06-02T09:00".parse().unwrap());
                task.fixed_end = Some("2026-06-02".parse().unwrap());
            }
            task
        },
    )
}

#[test]
fn a_milestone_takes_no_time_and_other_tasks_take_some() {
    let text = "[[tasks]]\nid = \"m\"\ndescription = \"Live\"\nrun = { human = {} }\nduration = \"0m\"\n\
        metadata = { milestone = true }\n";
    let plan = toml(text).unwrap().plan;
    assert_eq!(plan.tasks[0].duration_minutes, Some(0));
    assert_eq!(toml(&write_toml(&plan)).unwrap().plan, plan);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(parse_plan_file(&json, PlanFileFormat::Json, "p.json").unwrap().plan, plan);
    let error = toml(&text.replace("milestone", "other")).unwrap_err().to_string();
    assert!(error.contains("`tasks[0].duration` is out of range"), "{error}");
}

#[test]
fn dates_owner_and_cost_are_refused_with_their_position() {
    let task = |fields: &str| format!("[[tasks]]\nid = \"a\"\ndescription = \"x\"\n{fields}\n");
    for (fields, message) in [
        (
            "due = \"someday\"",
            "plan.toml:4:7: `tasks[0].due` is \"someday\", which is not a valid date",
        ),
        ("fixed_start = \"2026-02-30\"", "`tasks[0].fixed_start` is \"2026-02-30\""),
        (
            "not_before = \"2026-06-05\"\ndue = \"2026-06-01\"",
            "plan.toml:5:7: `tasks[0].due` is before `not_before`",
        ),
        ("owner = \" \"", "`tasks[0].owner` is blank"),
        ("cost = \"12\"", "`tasks[0].cost` is \"12\", which is not an amount"),
        ("risks = 3", "`tasks[0].risks`"),
    ] {
        let error = toml(&task(fields)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let plan = toml(&task("due = 2026-06-01\nowner = \"Anna\"")).unwrap().plan;
    assert_eq!(plan.tasks[0].due, Some("2026-06-01".parse().unwrap()));
}

fn a_calendar() -> FileCalendar {
    let text = "[calendar]\ntz = \"Europe/Berlin\"\nstart = 2026-06-01\ndeadline = \"2026-07-10T17:00\"\n\
        days_off = [2026-06-04]\nworking = { monday = \"09:00-12:30\", tue = [{ start = \"8:00\", end = \"24:00\" }] }\n\
        extra_working = { 2026-06-06 = [\"10:00-11:00\", \"12:00-13:00\"] }\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\n";
    toml(text).unwrap().plan.calendar.unwrap()
}

#[test]
fn a_calendar_is_read_and_its_problems_are_reported_with_their_position() {
    let calendar = a_calendar();
    assert_eq!(calendar.hours.weekly_minutes(), 210 + 16 * 60);
    assert_eq!(calendar.deadline, Some(jiff::civil::date(2026, 7, 10).at(17, 0, 0, 0)));
    let tasks = "[[tasks]]\nid = \"a\"\ndescription = \"x\"\n";
    for (line, words) in [
        ("tz = \"Europe/Berln\"", "Did you mean Europe/Berlin?"),
        ("start = \"2026-02-30\"", "not a valid date"),
        ("deadline = \"soon\"", "not a valid time"),
        ("days_off = [\"2026-13-01\"]", "not a valid date"),
        ("working = { mon = \"17:00-09:00\" }", "ends before it begins"),
        ("working = { mon = \"25:00-26:00\" }", "not a span of hours"),
        ("working = { mon = [] }", "no working hours"),
        ("working = { mondy = \"09:00-17:00\" }", "`monday`"),
        ("horizon_weeks = 0", "out of range"),
        ("hours = 8", "not a field"),
        ("start = 2026-06-01\ndeadline = 2026-05-01", "before the start"),
    ] {
        let error = toml(&format!("[calendar]\n{line}\n{tasks}")).unwrap_err();
        let PlanFileError::Invalid { violations, .. } = error else { panic!("{error}") };
        let [found] = violations.as_slice() else { panic!("{line}: {violations:?}") };
        let text = format!("{} {}", found.message, found.suggested_fix);
        assert!(text.contains(words), "{line}: {text}");
        assert!(found.line.is_some_and(|line| line <= 3), "{found:?}");
    }
}

/// Takes out what a run could not obey and a file is therefore refused for.
fn make_obeyable(task: &mut TaskNode) {
    if task.at_scheduled_time {
        if task.run == (RunKind::Human {}) {
            task.run = RunKind::agent();
        }
        task.metadata.insert("first_start".to_owned(), "2026-06-01T09:00:00+02:00".into());
    }
    if matches!(task.run, RunKind::Shell(_)) {
        task.exit_criteria.retain(|one| !matches!(one, ExitCriterion::Judged { .. }));
    }
}

#[test]
fn what_a_run_could_not_obey_is_refused_with_its_position() {
    let task = |fields: &str| format!("[[tasks]]\nid = \"a\"\ndescription = \"x\"\n{fields}\n");
    let shell = "run = { shell = \"true\" }\n";
    for (fields, message) in [
        (
            format!("{shell}at_scheduled_time = true"),
            "plan.toml:5:21: `a` starts at its scheduled time, but the plan has no calendar",
        ),
        (
            "run = { human = {} }\nat_scheduled_time = true".to_owned(),
            "`a` is a task of yours, which no schedule starts",
        ),
        (
            format!("{shell}at_scheduled_time = true\n[calendar]\ntz = \"UTC\""),
            "but no task has a duration",
        ),
        (
            format!("{shell}exit_criteria = [{{ kind = \"judged\", text = \"nice\" }}]"),
            "plan.toml:5:17: `a` is a command, and nobody judges what it did",
        ),
    ] {
        let error = toml(&task(&fields)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(!error.hint().is_empty());
    }
    let file = toml(&task(&format!("{shell}exit_criteria = [\"it looks good\"]"))).unwrap();
    assert_eq!(file.warnings.len(), 1);
    assert_eq!(file.warnings[0].rule, "unchecked_criterion");
}

#[test]
fn run_settings_are_read_with_defaults_and_refused_with_their_position() {
    let text = r#"
fail_fast = true
[defaults]
shell = ["bash", "-euc"]
env = { CI = true, PORT = 8080 }
cwd = "web"
timeout = "5m"
retries = 1
[[tasks]]
id = "a"
description = "x"
run = { shell = "make" }
[[tasks]]
id = "b"
description = "x"
run = { shell = "make" }
env = { PORT = "9" }
cwd = "api"
timeout = 7
retries = { max = 3, backoff = "10s", factor = 3, max_delay = "1m", on = ["timeout"] }
depends_on = ["a"]
when = "always"
continue_on_error = true
group = "backend"
tags = ["slow", "db"]
shell = ["sh", "-c"]
[[tasks]]
id = "c"
description = "x"
"#;
    let plan = toml(text).unwrap().plan;
    assert!(plan.fail_fast);
    let [a, b, c] = plan.tasks.as_slice() else { panic!() };
    let expected = ["in web", "shell bash -euc", "with CI=true", "with PORT=8080"];
    let attempts = "up to 1 more attempt after a failure";
    assert_eq!(a.command_settings(), [&expected[..], &[attempts]].concat());
    assert_eq!(
        (a.timeout_seconds, a.retries.clone()),
        (Some(300), Some(TaskRetryPolicy::with_max(1)))
    );
    let expected = ["in api", "shell sh -c", "with CI=true", "with PORT=9"];
    let ends = [
        "also after a failure of what it depends on",
        "its failure does not fail the run",
        "up to 3 more attempts after a failure",
    ];
    assert_eq!(b.command_settings(), [&expected[..], &ends].concat());
    let retries = TaskRetryPolicy {
        max: 3,
        backoff: 10,
        factor: 3.0,
        max_delay: 60,
        on: [RetryCause::Timeout].into(),
    };
    assert_eq!((b.timeout_seconds, b.retries.clone()), (Some(7), Some(retries)));
    assert_eq!((b.when, b.continue_on_error), (RunCondition::Always, true));
    assert_eq!(
        (b.group.as_str(), b.tags.as_slice()),
        ("backend", &["slow".into(), "db".into()][..])
    );
    assert_eq!(*c, TaskNode::new("c", "x"), "defaults are for commands");
    assert_eq!(toml(&write_toml(&plan)).unwrap().plan, plan);

    let task = |fields: &str| {
        format!("[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = {{ shell = \"x\" }}\n{fields}\n")
    };
    for (fields, message) in [
        ("shell = []", "plan.toml:5:9: `tasks[0].shell` names no program"),
        ("env = { \"A B\" = \"1\" }", "`tasks[0].env.A B` is not a name of a variable"),
        ("env = { PLANWRIGHT_CALL = \"1\" }", "is not a name of a variable"),
        ("env = { A = [1] }", "`tasks[0].env.A` must be text"),
        ("cwd = \"../x\"", "plan.toml:5:7: `tasks[0].cwd` is \"../x\", which is not inside"),
        ("cwd = \"/etc\"", "which is not inside the workspace"),
        ("retries = -1", "`tasks[0].retries` is -1, out of range"),
        ("retries = { backoff = 1 }", "`tasks[0].retries` lacks `max`"),
        ("retries = { max = 1, factor = 0.5 }", "`tasks[0].retries.factor` is out of range"),
        ("retries = { max = 1, on = [\"exti\"] }", "cannot be \"exti\""),
        ("retries = { max = 1, backof = 1 }", "is not a field"),
        ("when = \"failure\"", "`tasks[0].when` cannot be \"failure\""),
        ("when = \"failed\"", "`a` runs after a failure or an end, but depends on nothing"),
        ("continue_on_error = 1", "`tasks[0].continue_on_error` must be true or false"),
        ("tags = 3", "`tasks[0].tags` must be a list"),
        ("group = \" \"", "`tasks[0].group` is blank"),
    ] {
        let error = toml(&task(fields)).unwrap_err();
        assert!(error.to_string().contains(message), "{fields}: {error}");
        assert!(!error.hint().is_empty());
    }
    for field in ["shell = [\"sh\"]", "env = { A = \"1\" }", "cwd = \"x\"", "retries = 1"] {
        let text = format!("[[tasks]]\nid = \"a\"\ndescription = \"x\"\n{field}\n");
        let error = toml(&text).unwrap_err().to_string();
        assert!(error.contains("which is for commands"), "{error}");
    }
    let error = toml("[defaults]\nretrys = 1\n[[tasks]]\nid = \"a\"\n").unwrap_err();
    assert!(error.to_string().contains("`defaults.retrys` is not a field"), "{error}");
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (1usize..6).prop_flat_map(|count| {
        let tasks: Vec<_> = (0..count).map(|index| any_task(count, index)).collect();
        ("[a-zé ]{0,5}[a-z]", prop::option::of(any_text()), tasks).prop_map(
            |(title, goal, mut tasks)| {
                tasks.iter_mut().for_each(make_obeyable);
                let resources = BTreeMap::from([("people".to_owned(), 3), ("ro om".to_owned(), 1)]);
                let calendar = goal.as_ref().map(|_| a_calendar());
                let fail_fast = calendar.is_some();
                let rationale = goal.clone();
                Plan {
                    title,
                    rationale,
                    goal,
                    resources,
                    calendar,
                    fail_fast,
                    tasks,
                    ..Plan::default()
                }
            },
        )
    })
}

proptest! {
    #[test]
    fn a_written_plan_reads_back_the_same(plan in any_plan()) {
        let text = write_toml(&plan);
        let file = toml(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&file.plan, &plan, "{}", text);
        prop_assert_eq!(file.normalization, vec![]);
        let json = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(parse_plan_file(&json, PlanFileFormat::Json, "p.json").unwrap().plan, plan);
    }

    #[test]
    fn damaged_files_never_panic(at in any::<prop::sample::Index>(), cut in 0usize..4, insert in "\\PC{0,3}|[\\[\\]{}\"=,\\n]{0,4}") {
        let json = serde_json::to_string(&toml(RELEASE).unwrap().plan).unwrap();
        for (text, format) in [(RELEASE, PlanFileFormat::Toml), (json.as_str(), PlanFileFormat::Json), ("1. [ ] a\n  - [x] b\n", PlanFileFormat::Markdown)] {
            let at = at.index(text.len());
            let end = (at + cut).min(text.len());
            let damaged = format!("{}{insert}{}", &text[..at], &text[end..]);
            let _ = parse_plan_file(&damaged, format, "x");
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,80}|[\\[\\]{}\"=,\\n \\-xtasksid0-9.]{0,80}") {
        for format in [PlanFileFormat::Toml, PlanFileFormat::Json, PlanFileFormat::Markdown] {
            let _ = parse_plan_file(&text, format, "x");
        }
    }
}

/// A plan on one line, as programs write it: each task depends on the two before it.
fn on_one_line(count: usize) -> String {
    let task = |at: usize| {
        let links: Vec<String> = (1..=2)
            .filter_map(|back| at.checked_sub(back))
            .map(|at| format!("\"t{at}\""))
            .collect();
        format!(r#"{{"id":"t{at}","description":"Task {at}","depends_on":[{}]}}"#, links.join(","))
    };
    let tasks: Vec<String> = (0..count).map(task).collect();
    format!(r#"{{"tasks":[{}]}}"#, tasks.join(","))
}

#[test]
fn the_work_per_task_of_a_plan_on_one_line_is_constant() {
    let work = |count: usize| {
        let text = on_one_line(count);
        super::value_tree::tests::SCANNED.set(0);
        let read = parse_plan_file(&text, PlanFileFormat::Json, "plan.json").unwrap();
        assert_eq!(read.plan.tasks.len(), count);
        super::value_tree::tests::SCANNED.get()
    };
    let (few, many) = (work(250), work(1_000));
    assert!(many <= 5 * few, "{few} bytes for 250 tasks, {many} for 1,000");
}
