//! The JSON Schema of plan files, for editors. The types here are only described, never read; a test holds them to
//! the fields that the decoder knows.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::calendar::{CALENDAR_FIELDS, DAYS};
use super::decoder::FieldNames;
use super::link::LINK_FIELDS;
use super::plan::PLAN_FIELDS;
use super::task::TASK_FIELDS;
use planwright_model::{
    ExitCriterion, LagBasis, LinkKind, LinkOrigin, NodeOrigin, PlanDate, RepeatPolicy,
    SandboxChoice, TaskCost,
};

/// A plan: what to do, in which order, with what.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Plan")]
#[expect(dead_code, reason = "described, never read")]
struct PlanSchema {
    /// Shown wherever the plan is named. Defaults to the file's name.
    title: Option<String>,
    /// What the plan is for.
    goal: Option<String>,
    /// Why the plan is as it is. Shown on request, never parsed.
    #[schemars(length(max = 4000))]
    rationale: Option<String>,
    /// Capacities of shared resources.
    #[schemars(extend("additionalProperties" = {"type": "integer", "minimum": 1}))]
    resources: Option<BTreeMap<String, u32>>,
    /// When work may happen. Without one, time is plain minutes from 0.
    calendar: Option<CalendarSchema>,
    /// The sandbox of shell tasks that state none.
    sandbox: Option<SandboxChoice>,
    /// The tasks, as a list or as a table from id to task.
    tasks: TasksSchema,
    /// The address of this schema.
    #[schemars(rename = "$schema")]
    schema: Option<String>,
}

/// When work may happen, from when on and until when.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Calendar")]
#[expect(dead_code, reason = "described, never read")]
struct CalendarSchema {
    /// An IANA time zone such as `Europe/Berlin`. Defaults to that of the machine.
    tz: Option<String>,
    /// The hours of each day of the week. Defaults to Monday to Friday, 09:00 to 17:00.
    working: Option<WeekSchema>,
    /// Dates without work.
    days_off: Option<Vec<String>>,
    /// Hours of single dates, which replace those of the week.
    extra_working: Option<BTreeMap<String, DayHours>>,
    /// The first day. Defaults to tomorrow.
    start: Option<String>,
    /// A date, which counts to its end, or a local time.
    deadline: Option<String>,
    /// How many weeks there are, where no deadline is given.
    #[schemars(range(min = 1, max = 520))]
    horizon_weeks: Option<u16>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Week", deny_unknown_fields)]
#[expect(dead_code, reason = "described, never read")]
struct WeekSchema {
    mon: Option<DayHours>,
    tue: Option<DayHours>,
    wed: Option<DayHours>,
    thu: Option<DayHours>,
    fri: Option<DayHours>,
    sat: Option<DayHours>,
    sun: Option<DayHours>,
}

/// Hours such as "09:00-17:00", or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, never read")]
enum DayHours {
    One(HoursSchema),
    List(Vec<HoursSchema>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, never read")]
enum HoursSchema {
    Text(String),
    Span { start: String, end: String },
}

#[derive(JsonSchema)]
#[schemars(rename = "Tasks", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum TasksSchema {
    List(Vec<TaskSchema>),
    Table(BTreeMap<String, TaskSchema>),
}

/// One unit of work.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Task")]
#[expect(dead_code, reason = "described, never read")]
struct TaskSchema {
    /// Printable and unique. Defaults to `task-<n>`.
    #[schemars(length(min = 1, max = 80))]
    id: Option<String>,
    /// What is to be done. Defaults to the id.
    description: Option<String>,
    /// Who does it. Defaults to an agent.
    run: Option<RunSchema>,
    /// What must come first: ids, or links with kind and lag.
    depends_on: Option<LinkListSchema>,
    /// How long it takes: minutes, or text such as "45m", "2h", "1d" (8 hours) or "1w" (5 days).
    duration: Option<AmountSchema>,
    /// How many units of each resource it takes.
    resources: Option<BTreeMap<String, u32>>,
    /// Higher goes first.
    priority: Option<i64>,
    /// The tools it may use.
    tools: Option<TextListSchema>,
    /// How well each tool fits, from 0 to 1.
    tool_affinity: Option<BTreeMap<String, f64>>,
    /// When it counts as done.
    exit_criteria: Option<CriteriaSchema>,
    /// Defaults to 500.
    estimated_tokens: Option<u64>,
    /// Defaults to `worker`.
    agent_role: Option<String>,
    /// Defaults to `generic`.
    task_type: Option<String>,
    /// Anything else, kept as written.
    metadata: Option<BTreeMap<String, Value>>,
    /// When it is stopped: seconds, or text such as "90s", "5m" or "1h".
    timeout: Option<AmountSchema>,
    /// Whether an interrupted attempt may simply be run again.
    repeat: Option<RepeatPolicy>,
    /// Whether its command is confined to the workspace.
    sandbox: Option<SandboxChoice>,
    /// Whether it waits for the start of its first block.
    at_scheduled_time: Option<bool>,
    /// Who wrote it.
    origin: Option<NodeOrigin>,
    /// The name or role of whoever answers for it. Somebody other than you has hours of their own.
    owner: Option<String>,
    /// It starts then, whatever else moves: a date or a local time.
    fixed_start: Option<PlanDate>,
    /// It ends then, whatever else moves.
    fixed_end: Option<PlanDate>,
    /// It starts then at the earliest.
    not_before: Option<PlanDate>,
    /// It ends then at the latest.
    due: Option<PlanDate>,
    /// Why it is in the plan, in one sentence.
    why: Option<String>,
    /// What may go wrong.
    risks: Option<TextListSchema>,
    /// What was taken for granted.
    assumptions: Option<TextListSchema>,
    /// Where it comes from: what was said, or files with lines.
    evidence: Option<TextListSchema>,
    /// What it costs, apart from time, such as "120 EUR".
    cost: Option<TaskCost>,
}

/// Who does a task.
#[derive(JsonSchema)]
#[schemars(rename = "Run", rename_all = "snake_case")]
#[expect(dead_code, reason = "described, never read")]
enum RunSchema {
    /// A command, run as it is written.
    Shell(String),
    /// An agent with tools.
    Agent(EmptySchema),
    /// A person.
    Human(EmptySchema),
}

/// No settings yet.
#[derive(JsonSchema)]
#[schemars(rename = "Empty", deny_unknown_fields)]
struct EmptySchema {}

#[derive(JsonSchema)]
#[schemars(rename = "Amount", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum AmountSchema {
    Number(f64),
    Text(String),
}

/// A list, or text that is split on commas, semicolons and newlines.
#[derive(JsonSchema)]
#[schemars(rename = "Texts", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum TextListSchema {
    List(Vec<String>),
    Text(String),
}

#[derive(JsonSchema)]
#[schemars(rename = "Links", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum LinkListSchema {
    List(Vec<LinkOrId>),
    Text(String),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, never read")]
enum LinkOrId {
    Id(String),
    Link(LinkSchema),
}

/// A link with kind and lag.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Link")]
#[expect(dead_code, reason = "described, never read")]
struct LinkSchema {
    /// The id of the task to wait for.
    task: String,
    /// Which ends are tied together. Defaults to finish to start.
    kind: Option<LinkKind>,
    /// How long after; negative means a lead.
    lag: Option<AmountSchema>,
    /// Whether a day of lag has 8 or 24 hours.
    lag_basis: Option<LagBasis>,
    /// Who drew it.
    origin: Option<LinkOrigin>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Criteria", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum CriteriaSchema {
    List(Vec<CriterionOrText>),
    Text(String),
    /// One criterion for each key.
    Table(BTreeMap<String, Value>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, never read")]
enum CriterionOrText {
    Text(String),
    Typed(ExitCriterion),
    /// One criterion for each key.
    Table(BTreeMap<String, Value>),
}

/// The schema of plan files, as `assets/plan.schema.json` holds it.
pub fn plan_file_schema() -> Value {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<PlanSchema>().to_value();
    add_aliases(&mut schema, PLAN_FIELDS);
    let mut nothing = Value::Null;
    let parts = [
        ("Task", TASK_FIELDS),
        ("Link", LINK_FIELDS),
        ("Calendar", CALENDAR_FIELDS),
        ("Week", DAYS),
    ];
    for (name, fields) in parts {
        add_aliases(schema.pointer_mut(&format!("/$defs/{name}")).unwrap_or(&mut nothing), fields);
    }
    schema
}

/// Lets a field go by its other names too.
fn add_aliases(schema: &mut Value, fields: &[FieldNames]) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (name, aliases) in fields {
        for alias in *aliases {
            if let Some(property) = properties.get(*name).cloned() {
                properties.insert((*alias).to_owned(), property);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/plan.schema.json");

    #[test]
    fn the_checked_in_schema_is_current() {
        let current = serde_json::to_string_pretty(&plan_file_schema()).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(PATH, &current).unwrap();
        }
        let kept = std::fs::read_to_string(PATH).unwrap_or_default();
        assert!(
            kept == current,
            "assets/plan.schema.json is out of date; write it anew with `UPDATE_SCHEMA=1 cargo test schema`"
        );
    }

    #[test]
    fn the_schema_has_exactly_the_fields_that_are_read() {
        let schema = plan_file_schema();
        let described = |pointer: &str| -> BTreeSet<String> {
            schema.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect()
        };
        let read = |fields: &[FieldNames]| -> BTreeSet<String> {
            let names =
                fields.iter().flat_map(|(name, aliases)| std::iter::once(name).chain(*aliases));
            names.map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(described("/properties"), read(PLAN_FIELDS));
        assert_eq!(described("/$defs/Task/properties"), read(TASK_FIELDS));
        assert_eq!(described("/$defs/Link/properties"), read(LINK_FIELDS));
        assert_eq!(described("/$defs/Calendar/properties"), read(CALENDAR_FIELDS));
        assert_eq!(described("/$defs/Week/properties"), read(DAYS));
    }
}
