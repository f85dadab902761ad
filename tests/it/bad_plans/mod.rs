//! Plan files with mistakes. Each is refused before anything runs, with its place and what to write instead. Wrong types are
//! made from the schema, so that a new field is tried as well; ranges, references and combinations are written down.

mod cases;

use std::collections::BTreeSet;

use planwright_plan::plan_file::{PlanFileFormat, parse_plan_file, plan_file_schema};
use serde_json::Value;

use crate::program::Place;
use cases::BAD_PLANS;

/// A plan with one mistake. The mark `¦` stands before it.
struct BadPlan {
    field: &'static str,
    problem: &'static str,
    fix: &'static str,
    plan: &'static str,
}

impl BadPlan {
    /// The plan without its mark, and line and column of it.
    fn marked(&self) -> (String, usize, usize) {
        let (before, _) = self.plan[1..].split_once('¦').unwrap();
        let line = before.lines().count().max(1) + usize::from(before.ends_with('\n'));
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        (self.plan[1..].replace('¦', ""), line, column)
    }

    /// What is wrong with how the program refuses it.
    fn find_difference(&self) -> Option<String> {
        let place = Place::new();
        let (plan, line, column) = self.marked();
        let path = place.plan(&plan);
        let mut command = place.command(&["run", &path, "--headless", "--yes"]);
        let output = command.env_remove("NOT_THERE").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let (first, remedy) = said.split_once("\n  ").unwrap_or((&said, ""));
        let where_ = format!("{path}:{line}:{column}: ");
        let is_right = output.status.code() == Some(2)
            && first.starts_with(&format!("planwright: {where_}"))
            && first.contains(self.problem)
            && remedy.contains(self.fix);
        let untouched = !place.work().join("ran").exists() && place.sessions().is_empty();
        (!is_right || !untouched).then(|| {
            let (field, problem, fix) = (self.field, self.problem, self.fix);
            let code = output.status.code();
            format!("{field}: expected {where_}{problem} ({fix}), got {code:?}\n{said}\n{plan}")
        })
    }
}

/// Tries all plans, a few at once.
fn require_no_difference(find_difference: impl Fn(&BadPlan) -> Option<String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(case) = BAD_PLANS.get(at) else { return };
                    wrong.lock().unwrap().extend(find_difference(case));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), BAD_PLANS.len(), wrong.join("\n---\n"));
}

#[test]
fn every_mistake_is_refused_at_its_place_with_a_remedy_before_anything_runs() {
    require_no_difference(BadPlan::find_difference);
}

#[test]
fn check_and_run_refuse_the_same_files_with_the_same_exit_code() {
    for case in BAD_PLANS.iter().step_by(9) {
        let place = Place::new();
        let (plan, line, column) = case.marked();
        // What only a run has to know is open in a check.
        if ["is not set", "has no value"].iter().any(|it| case.problem.contains(it)) {
            continue;
        }
        let path = place.plan(&plan);
        let output = place.run(&["check", &path]);
        assert_eq!(output.status.code(), Some(2), "{}: {plan}", case.field);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("{path}:{line}:{column}")), "{}: {said}", case.field);
    }
}

#[test]
fn a_mistake_in_json_has_its_place_as_well() {
    let place = Place::new();
    let path = place.dir.path().join("plan.json");
    let text = "{\"version\": 2, \"tasks\": [{\"id\": \"a\", \"run\": {\"shell\": \"touch ran\"},\n  \"timeout\": \"soon\"}]}";
    std::fs::write(&path, text).unwrap();
    let output = place.run(&["run", path.to_str().unwrap(), "--headless", "--yes"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("plan.json:2:14: `tasks[0].timeout` is not a duration"), "{said}");
}

/// What an included file may have.
const INCLUDABLE: [&str; 5] = ["tasks", "nodes", "vars", "resources", "pools"];

/// A plan with its mistake as somebody would write it in JSON.
fn as_json(plan: &str) -> String {
    let value: toml::Value = toml::from_str(plan).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

/// What stands at a place, however the format writes it: a bracket, or the first letters of a name, a text or a number. Empty
/// where there are none, as in blank text.
fn token_at(text: &str) -> String {
    let text = text.trim_start_matches(['"', '\'']);
    let is_part = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let token: String = text.chars().take_while(is_part).take(12).collect();
    let bracket = text.chars().take(1).filter(|letter| matches!(letter, '{' | '['));
    if token.is_empty() { bracket.collect() } else { token }
}

impl BadPlan {
    /// What is wrong with how the program refuses the same mistake in a JSON file.
    fn find_difference_in_json(&self) -> Option<String> {
        let place = Place::new();
        let text = as_json(&self.marked().0);
        let path = place.dir.path().join("plan.json");
        std::fs::write(&path, &text).unwrap();
        let path = path.to_str().unwrap();
        let mut command = place.command(&["run", path, "--headless", "--yes"]);
        let output = command.env_remove("NOT_THERE").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let (first, remedy) = said.split_once("\n  ").unwrap_or((&said, ""));
        let found = first.strip_prefix(&format!("planwright: {path}:")).and_then(|rest| {
            let mut parts = rest.splitn(3, ':');
            let mut number = || parts.next()?.parse::<usize>().ok();
            let line = text.lines().nth(number()?.checked_sub(1)?)?;
            let column = number()?.checked_sub(1)?;
            Some(token_at(&line.chars().skip(column).collect::<String>()))
        });
        let expected = token_at(self.plan.split_once('¦').unwrap().1);
        // Lines are numbered otherwise, and fields of a table stand in another order.
        let without_digits = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
        let is_right = output.status.code() == Some(2)
            && found.as_ref() == Some(&expected)
            && without_digits(first).contains(&without_digits(self.problem))
            && remedy.contains(self.fix);
        let untouched = !place.work().join("ran").exists() && place.sessions().is_empty();
        (!is_right || !untouched).then(|| {
            let (field, problem, fix) = (self.field, self.problem, self.fix);
            let code = output.status.code();
            format!("{field}: expected at `{expected}`: {problem} ({fix}), got {code:?} at {found:?}\n{said}\n{text}")
        })
    }
}

#[test]
fn every_mistake_is_refused_in_json_as_well_at_its_place_with_a_remedy() {
    require_no_difference(BadPlan::find_difference_in_json);
}

/// A message without the number of the task, which counts those of the including file.
fn without_number(message: &str) -> String {
    let mut parts = message.split("tasks[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "tasks" + part.split_once(']').map_or("", |it| it.1))
}

#[test]
fn the_same_mistakes_are_refused_in_an_included_file_and_named_with_it() {
    let mut tried = 0;
    for case in BAD_PLANS.iter().step_by(3) {
        let (plan, line, column) = case.marked();
        let plan = plan.replacen("version = 2\n", "", 1);
        let line = line - usize::from(case.plan.contains("version = 2\n"));
        let Ok(toml::Value::Table(table)) = toml::from_str::<toml::Value>(&plan) else { continue };
        if !table.keys().all(|key| INCLUDABLE.contains(&key.as_str())) {
            continue;
        }
        let place = Place::new();
        std::fs::write(place.dir.path().join("lib.toml"), &plan).unwrap();
        let path = place.plan("version = 2\ninclude = [\"lib.toml\"]\n[[tasks]]\nid = \"own\"\nrun = { shell = \"touch ran\" }\n");
        let mut command = place.command(&["run", &path, "--headless", "--yes"]);
        let output = command.env_remove("NOT_THERE").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let own = place.dir.path().join("lib.toml");
        let expected = format!("planwright: {}:{line}:{column}: ", own.display());
        assert_eq!(output.status.code(), Some(2), "{}: {said}\n{plan}", case.field);
        assert!(said.starts_with(&expected), "{}: {expected}\n{said}\n{plan}", case.field);
        let (said, problem) = (without_number(&said), without_number(case.problem));
        assert!(said.contains(&problem), "{}: {said}\n{plan}", case.field);
        assert!(!place.work().join("ran").exists());
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
}

/// The kinds of JSON values that a part of the schema admits.
fn admitted_kinds(part: &Value, schema: &Value, kinds: &mut BTreeSet<String>) {
    if let Some(name) = part["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return admitted_kinds(&schema["$defs"][name], schema, kinds);
    }
    for several in ["anyOf", "oneOf"] {
        for one in part[several].as_array().into_iter().flatten() {
            admitted_kinds(one, schema, kinds);
        }
    }
    match &part["type"] {
        Value::String(kind) => drop(kinds.insert(kind.clone())),
        Value::Array(all) => kinds.extend(all.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ if part["anyOf"].is_array() || part["oneOf"].is_array() => {}
        _ if part["enum"].is_array() || part["const"].is_string() => {
            kinds.insert("string".to_owned());
        }
        // Anything goes.
        _ => kinds.extend(["string", "integer", "boolean", "array", "object"].map(str::to_owned)),
    }
}

/// Values of kinds that a field does not admit, as they are written.
fn wrong_values(part: &Value, schema: &Value) -> Vec<&'static str> {
    let mut kinds = BTreeSet::new();
    admitted_kinds(part, schema, &mut kinds);
    let has = |kind: &str| kinds.contains(kind);
    let values = [
        ("boolean", "true"),
        ("integer", "7"),
        ("string", "\"7 wrong words\""),
        ("array", "[[[1]]]"),
        ("object", "{ zz = [[1]] }"),
    ];
    let wrong = |(kind, _): &&(&str, &str)| !(has(kind) || *kind == "integer" && has("number"));
    values.iter().filter(wrong).map(|(_, value)| *value).collect()
}

/// A plan that has a field of one part of the schema with this value.
fn plan_with(part: &str, field: &str, value: &str) -> Option<String> {
    const TASK: &str = "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n";
    let task = |more: String| format!("{TASK}{more}\n");
    let after = |link: String| {
        format!(
            "{TASK}[[tasks]]\nid = \"b\"\nrun = {{ shell = \"true\" }}\ndepends_on = [{link}]\n"
        )
    };
    Some(match part {
        "Plan" if field == "tasks" || field == "nodes" => format!("{field} = {value}\n"),
        "Plan" => format!("{field} = {value}\n{TASK}"),
        "Task" if field == "id" || field == "run" => {
            let other = if field == "id" { "run = { shell = \"true\" }" } else { "id = \"a\"" };
            format!("[[tasks]]\n{other}\n{field} = {value}\n")
        }
        "Task" => task(format!("{field} = {value}")),
        "Defaults" => format!("[defaults]\n{field} = {value}\n{TASK}"),
        "RetryPolicy" if field == "max" => task(format!("retries = {{ max = {value} }}")),
        "RetryPolicy" => task(format!("retries = {{ max = 1, {field} = {value} }}")),
        "Pool" if field == "capacity" => format!("[pools]\np = {{ capacity = {value} }}\n{TASK}"),
        "Pool" => format!("[pools]\np = {{ capacity = 1, {field} = {value} }}\n{TASK}"),
        "Notify" if field == "cmd" => format!("notify = {{ cmd = {value} }}\n{TASK}"),
        "Notify" => format!("notify = {{ cmd = [\"x\"], {field} = {value} }}\n{TASK}"),
        "ParameterTable" => format!("[params]\np = {{ {field} = {value} }}\n{TASK}"),
        "Link" if field == "task" => after(format!("{{ task = {value} }}")),
        "Link" => after(format!("{{ task = \"a\", {field} = {value} }}")),
        "WhenTable" if field == "if" => task(format!("when = {{ if = {value} }}")),
        "WhenTable" => task(format!("when = {{ if = \"true\", {field} = {value} }}")),
        "Service" if field == "ready" => task(format!("service = {{ ready = {value} }}")),
        "Service" => task(format!("service = {{ ready = \"true\", {field} = {value} }}")),
        "Agent" => format!("[[tasks]]\nid = \"a\"\nrun = {{ agent = {{ {field} = {value} }} }}\n"),
        "Calendar" => format!("[calendar]\n{field} = {value}\n{TASK}"),
        "Week" => format!("[calendar]\nworking = {{ {field} = {value} }}\n{TASK}"),
        _ => return None,
    })
}

/// Fields that take whatever is written: what else is kept with a task, and the address of the schema.
const TAKES_ANYTHING: [&str; 1] = ["Plan.$schema"];

#[test]
fn every_field_of_the_schema_refuses_values_of_other_kinds_at_their_place() {
    let schema = plan_file_schema();
    let own = [("Plan".to_owned(), &schema)];
    let parts = schema["$defs"].as_object().unwrap().iter().map(|(name, it)| (name.clone(), it));
    let mut tried = 0;
    for (part, table) in own.into_iter().chain(parts) {
        let fields = table["properties"].as_object();
        for (field, own) in fields.into_iter().flatten() {
            let name = format!("{part}.{field}");
            if TAKES_ANYTHING.contains(&name.as_str()) {
                continue;
            }
            for value in wrong_values(own, &schema) {
                let plan = plan_with(&part, field, value)
                    .unwrap_or_else(|| panic!("no plan is made for the part {part} of the schema"));
                let read = parse_plan_file(&plan, PlanFileFormat::Toml, "plan.toml");
                let Err(error) = read else { panic!("{name} takes {value}:\n{plan}") };
                let first = error.violations().first().unwrap_or_else(|| panic!("{error}"));
                assert!(first.line.is_some() && first.column.is_some(), "{name}: {first:?}");
                assert!(!first.suggested_fix.is_empty(), "{name}: {first:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
}
