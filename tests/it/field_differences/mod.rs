//! Every field of the plan file's schema makes a difference. Each has a plan that is run twice, with the field and without it,
//! and what can be observed of the two runs must differ: a run that ignores the field fails here. The fields come from the
//! schema, so that a new one without such a plan fails as well.

mod cases;
mod observers;
mod table_cases;

use std::collections::BTreeSet;

use cases::CASES;
use observers::FieldObserver;
use serde_json::Value;
use table_cases::TABLE_CASES;

/// A field of the schema and a plan in which it matters. Lines that begin with `+ ` are there with the field, lines that
/// begin with `- ` without it.
struct FieldCase {
    field: &'static str,
    observer: FieldObserver,
    plan: &'static str,
}

impl FieldCase {
    /// The plan with the field, or without it.
    fn plan(&self, has_field: bool) -> String {
        let (own, other) = if has_field { ("+ ", "- ") } else { ("- ", "+ ") };
        let lines = self.plan.trim_start().lines().filter(|line| !line.starts_with(other));
        let lines: Vec<&str> = lines.map(|line| line.strip_prefix(own).unwrap_or(line)).collect();
        lines.join("\n") + "\n"
    }
}

fn all_cases() -> impl Iterator<Item = &'static FieldCase> {
    CASES.iter().chain(TABLE_CASES)
}

/// Fields that nothing reads but editors.
const FOR_EDITORS: [&str; 1] = ["Plan.$schema"];

/// The parts of the schema that have no fields of their own.
const WITHOUT_FIELDS: [&str; 1] = ["Empty"];

/// All fields of the schema, with the names they also go by. Of tables of several kinds each kind has fields of its own:
/// `ExitCriterion(command).on`.
fn schema_fields() -> BTreeSet<String> {
    let schema = planwright_plan::plan_file::plan_file_schema();
    let mut fields = BTreeSet::new();
    collect_fields("Plan", &schema, &mut fields);
    for (part, table) in schema["$defs"].as_object().unwrap() {
        if !WITHOUT_FIELDS.contains(&part.as_str()) {
            collect_fields(part, table, &mut fields);
        }
    }
    fields
}

/// The fields of a table, however deep they lie in alternatives and lists.
fn collect_fields(part: &str, table: &Value, fields: &mut BTreeSet<String>) {
    let kind = table.pointer("/properties/kind/const").and_then(Value::as_str);
    let name = kind.map_or(part.to_owned(), |kind| format!("{part}({kind})"));
    match table {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("$defs", _) => {}
                    ("properties", Value::Object(properties)) => {
                        for (field, inner) in properties {
                            fields.insert(format!("{name}.{field}"));
                            collect_fields(&format!("{name}.{field}"), inner, fields);
                        }
                    }
                    _ => collect_fields(&name, value, fields),
                }
            }
        }
        Value::Array(alternatives) => {
            for alternative in alternatives {
                collect_fields(&name, alternative, fields);
            }
        }
        _ => {}
    }
}

#[test]
fn every_field_of_the_schema_has_a_plan_in_which_it_matters() {
    let known: BTreeSet<String> =
        all_cases().map(|case| case.field).chain(FOR_EDITORS).map(str::to_owned).collect();
    let fields = schema_fields();
    let missing: Vec<&String> = fields.difference(&known).collect();
    assert!(missing.is_empty(), "no plan shows that a run obeys {missing:?}");
    let gone: Vec<&String> = known.difference(&fields).collect();
    assert!(gone.is_empty(), "{gone:?} is not in the schema any more");
}

/// Runs the cases of one kind and names those that make no difference.
fn require_differences(is_wanted: impl Fn(&FieldObserver) -> bool) {
    let mut wanted = all_cases().filter(|case| is_wanted(&case.observer)).peekable();
    assert!(wanted.peek().is_some());
    let ignored: Vec<String> = wanted
        .filter_map(|case| {
            let with = case.observer.observe(&case.plan(true));
            let without = case.observer.observe(&case.plan(false));
            (with == without).then(|| format!("{}: both times\n{with}", case.field))
        })
        .collect();
    assert!(ignored.is_empty(), "ignored:\n{}", ignored.join("\n"));
}

/// A difference means something only where two runs of one plan show none.
#[test]
fn what_is_observed_of_a_plan_is_the_same_each_time() {
    let changing = |case: &&FieldCase| {
        let plan = case.plan(true);
        case.observer.observe(&plan) != case.observer.observe(&plan)
    };
    let changing: Vec<&str> = all_cases().filter(changing).map(|case| case.field).collect();
    assert!(changing.is_empty(), "two runs differ: {changing:?}");
}

#[test]
fn fields_for_people_are_shown_and_those_for_the_schedule_change_it() {
    require_differences(|observer| {
        matches!(observer, FieldObserver::Shown | FieldObserver::Checked | FieldObserver::Kept)
    });
}

#[test]
fn fields_about_other_runs_hold_between_two_processes() {
    require_differences(|observer| matches!(observer, FieldObserver::Together));
}

#[test]
fn fields_about_order_and_time_change_what_runs_when() {
    require_differences(|observer| matches!(observer, FieldObserver::Paused));
}

#[test]
fn fields_about_interruptions_change_what_a_resume_does() {
    require_differences(|observer| matches!(observer, FieldObserver::Resumed));
}

#[test]
fn fields_of_commands_change_what_the_program_does() {
    require_differences(|observer| matches!(observer, FieldObserver::Program { .. }));
}

#[test]
fn fields_of_agents_change_what_they_do() {
    require_differences(|observer| matches!(observer, FieldObserver::Agent));
}
