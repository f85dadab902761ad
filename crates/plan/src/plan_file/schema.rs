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
#[cfg(test)]
use super::{
    command_options::SERVICE_FIELDS,
    conditions::WHEN_FIELDS,
    plan_options::{NOTIFY_FIELDS, POOL_FIELDS},
    run_kind::AGENT_FIELDS,
    run_settings::{DEFAULT_FIELDS, RETRY_FIELDS},
    template::PARAM_FIELDS,
};
use planwright_model::{
    ExitCriterion, LagBasis, LinkKind, LinkOrigin, NodeOrigin, NotifyCause, PlanDate, RepeatPolicy,
    RetryCause, RunCondition, SandboxChoice, TaskCost,
};

/// A plan: what to do, in which order, with what.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Plan")]
#[expect(dead_code, reason = "described, never read")]
struct PlanSchema {
    /// The version of the format: 1 or 2. Defaults to 1. In version 2 commands that name no shell are given to sh -euc, so that
    /// they stop at the first error.
    #[schemars(range(min = 1, max = 2))]
    version: Option<u32>,
    /// Shown wherever the plan is named. Defaults to the file's name.
    title: Option<String>,
    /// What the plan is for.
    goal: Option<String>,
    /// Why the plan is as it is. Shown on request, never parsed.
    #[schemars(length(max = 4000))]
    rationale: Option<String>,
    /// Capacities of what tasks share. A run never uses more of it at once.
    #[schemars(extend("additionalProperties" = {"type": "integer", "minimum": 1}))]
    resources: Option<BTreeMap<String, u32>>,
    /// When work may happen. Without one, time is plain minutes from 0.
    calendar: Option<CalendarSchema>,
    /// The sandbox of shell tasks that state none.
    sandbox: Option<SandboxChoice>,
    /// What all commands have that state nothing else.
    defaults: Option<DefaultsSchema>,
    /// Whether the first failure ends the run. Defaults to false: what does not depend on it goes on.
    fail_fast: Option<bool>,
    /// Files whose tasks, vars, resources and pools become part of this one, seen from its directory. What this file states
    /// itself goes first.
    include: Option<Vec<String>>,
    /// Resources with a scope: "plan", or "machine" for those that all runs of one data directory share. A number of units, or a
    /// table.
    pools: Option<BTreeMap<String, PoolOrCapacity>>,
    /// A command that is started when the run ends, fails or asks.
    notify: Option<NotifySchema>,
    /// Values by name, for `${{ vars.NAME }}`.
    vars: Option<BTreeMap<String, EnvSchema>>,
    /// Values that whoever runs the plan gives, for `${{ params.NAME }}`: `run FILE NAME=VALUE`. A default, or a table.
    params: Option<BTreeMap<String, ParamSchema>>,
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
    /// What must come first: ids, or links with kind and lag. An id that no task has is an error.
    depends_on: Option<LinkListSchema>,
    /// How long it takes: minutes, or text such as "45m", "2h", "1d" (8 hours) or "1w" (5 days).
    duration: Option<AmountSchema>,
    /// How many units of each resource it takes while it runs. It waits until they are free.
    resources: Option<BTreeMap<String, u32>>,
    /// A resource or pool of which it takes one unit: short for `resources = { NAME = 1 }`.
    pool: Option<String>,
    /// Higher goes first.
    priority: Option<i64>,
    /// The tools it may use.
    tools: Option<TextListSchema>,
    /// How well each tool fits, from 0 to 1.
    tool_affinity: Option<BTreeMap<String, f64>>,
    /// When it counts as done. After a command succeeded, `command`, `file_exists` and `json_path` (in what it printed)
    /// are checked; words are only shown.
    exit_criteria: Option<CriteriaSchema>,
    /// Defaults to 500.
    estimated_tokens: Option<u64>,
    /// Defaults to `worker`.
    agent_role: Option<String>,
    /// Defaults to `generic`.
    task_type: Option<String>,
    /// Anything else, kept as written.
    metadata: Option<BTreeMap<String, Value>>,
    /// When it is stopped: seconds, or text such as "90s", "5m" or "1h". Defaults to an hour, or to twice its duration where that is
    /// longer; services and interactive commands have no limit of their own.
    timeout: Option<AmountSchema>,
    /// The program that its command is given to, such as `["bash", "-euc"]`. Defaults to sh -c, in
    /// version 2 to sh -euc.
    #[schemars(length(min = 1))]
    shell: Option<Vec<String>>,
    /// Variables that its command sees, beside yours.
    env: Option<BTreeMap<String, EnvSchema>>,
    /// The directory its command runs in, below the workspace.
    cwd: Option<String>,
    /// How many further attempts its command has, or a table with `max`, `backoff`, `factor`, `max_delay` and `on`.
    retries: Option<RetriesSchema>,
    /// On which end of what it depends on it runs: "success" (all is done), "failed" (all has ended and something
    /// failed) or "always" (all has ended). Or a table with a condition: `{ if = "…" }`.
    when: Option<WhenSchema>,
    /// Whether its failure counts as done for what depends on it and for the run.
    continue_on_error: Option<bool>,
    /// What it belongs to; `run FILE GROUP` runs all of it.
    group: Option<String>,
    /// Words by which it can be chosen: `run FILE --tag WORD`.
    tags: Option<TextListSchema>,
    /// Lists of values by name: one task for each combination, with ids such as `test[linux,3.12]`, less those that
    /// `exclude` lists. Texts of the task use `${{ matrix.NAME }}`; whoever depends on it depends on all of them.
    matrix: Option<BTreeMap<String, Vec<Value>>>,
    /// What it gives to other tasks by name, for `${{ tasks.ID.outputs.NAME }}`: `"last_line"` that it printed, `"key"` or
    /// `"key:NAME"` for a line NAME=VALUE in the file `$PLANWRIGHT_OUTPUT`, or `"file:PATH"`. It fails where one is missing.
    outputs: Option<BTreeMap<String, String>>,
    /// Patterns of files, seen from its directory, that are kept of each attempt, such as "dist/**". It fails where one
    /// matches nothing, or where they are more than 256 MB.
    artifacts: Option<Vec<String>>,
    /// Files with lines NAME=VALUE, seen from its directory, that are read when it starts. `env` goes before them.
    env_file: Option<TextListSchema>,
    /// Variables of yours that its command sees although it would not: keys of model providers, and in a sandbox all.
    pass_env: Option<Vec<String>>,
    /// Names of variables whose values are covered wherever they turn up, or a table from names to where the values come
    /// from: `"env:NAME"` or `{ command = ["pass", "show", "NAME"] }`.
    secrets: Option<SecretsSchema>,
    /// Patterns of the files that its command reads, seen from its directory, for `cache`.
    inputs: Option<Vec<String>>,
    /// Whether it is left out as up to date when command, variables, parameters and inputs are those of an attempt that
    /// succeeded and its artifacts are there. It needs `inputs`. `run --no-cache` runs it all the same.
    cache: Option<bool>,
    /// It runs while others need it: it starts before them, they wait until it is ready, and it is ended after the last.
    service: Option<ServiceSchema>,
    /// Whether its command has the terminal while it runs: the screen steps aside, and what the command prints is kept as
    /// ever. One at a time; without a screen such a plan is refused.
    interactive: Option<bool>,
    /// The executor that its command runs on, by its name under `[executors]` in the config, as `planwright executors list`
    /// shows it; "here" means this machine. Commands of its exit criteria run there too.
    on: Option<String>,
    /// Whether an interrupted attempt may simply be run again.
    repeat: Option<RepeatPolicy>,
    /// Whether its command is confined to the workspace.
    sandbox: Option<SandboxChoice>,
    /// Whether it starts at its time in the schedule, which needs a calendar and durations.
    at_scheduled_time: Option<bool>,
    /// Who wrote it.
    origin: Option<NodeOrigin>,
    /// The name or role of whoever answers for it. Somebody other than you has hours of their own.
    owner: Option<String>,
    /// It starts then, whatever else moves: a date or a local time. A run waits for it.
    fixed_start: Option<PlanDate>,
    /// It ends then, whatever else moves. For the schedule: a run does not stop a command for it.
    fixed_end: Option<PlanDate>,
    /// It starts then at the earliest. A run waits for it, except with tasks of yours.
    not_before: Option<PlanDate>,
    /// It ends then at the latest. For the schedule: a run does not stop a command for it.
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

/// What all commands have that state nothing else.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Defaults")]
#[expect(dead_code, reason = "described, never read")]
struct DefaultsSchema {
    /// The program that commands are given to, such as `["bash", "-euc"]`.
    #[schemars(length(min = 1))]
    shell: Option<Vec<String>>,
    /// Variables that commands see, beside yours; a task adds to them.
    env: Option<BTreeMap<String, EnvSchema>>,
    /// Files with lines NAME=VALUE.
    env_file: Option<TextListSchema>,
    /// Variables of yours that commands see although they would not.
    pass_env: Option<Vec<String>>,
    /// Secrets of all commands; a task adds to them.
    secrets: Option<SecretsSchema>,
    /// The directory commands run in, below the workspace.
    cwd: Option<String>,
    /// When commands are stopped.
    timeout: Option<AmountSchema>,
    /// How many further attempts commands have.
    retries: Option<RetriesSchema>,
    /// Whether commands are confined to the workspace.
    sandbox: Option<SandboxChoice>,
    /// A resource or pool of which commands take one unit that state neither `pool` nor `resources`.
    pool: Option<String>,
    /// The executor that commands run on which state none.
    on: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, never read")]
enum PoolOrCapacity {
    Capacity(#[schemars(range(min = 1, max = 1000))] u32),
    Table(PoolSchema),
}

/// A resource with a scope.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Pool")]
#[expect(dead_code, reason = "described, never read")]
struct PoolSchema {
    /// How many units there are.
    #[schemars(range(min = 1, max = 1000))]
    capacity: u32,
    /// "plan" or "machine". Defaults to "plan".
    scope: Option<PoolScopeSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename = "PoolScope", rename_all = "snake_case")]
#[expect(dead_code, reason = "described, never read")]
enum PoolScopeSchema {
    Plan,
    Machine,
}

/// A command that is started when something happens to the run.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Notify")]
#[expect(dead_code, reason = "described, never read")]
struct NotifySchema {
    /// When: at the "end" of the run, when it has "failed", at a "question" to you. Defaults to all of them.
    on: Option<Vec<NotifyCause>>,
    /// A program and its arguments. It sees `PLANWRIGHT_EVENT`, `PLANWRIGHT_SESSION` and `PLANWRIGHT_TEXT`.
    #[schemars(length(min = 1))]
    cmd: Vec<String>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Secrets", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum SecretsSchema {
    Names(Vec<String>),
    Table(BTreeMap<String, SecretSchema>),
}

#[derive(JsonSchema)]
#[schemars(rename = "Secret", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum SecretSchema {
    Variable(String),
    Command { command: Vec<String> },
}

/// A command that runs while others need it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Service")]
#[expect(dead_code, reason = "described, never read")]
struct ServiceSchema {
    /// A command that succeeds once it is ready, or a port that accepts connections then.
    ready: ReadySchema,
    /// The signal that ends it. Defaults to SIGTERM; what is left after 2 s is killed.
    stop: Option<StopSchema>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, never read")]
enum ReadySchema {
    Command(String),
    Port(u16),
}

#[derive(JsonSchema)]
#[schemars(rename = "StopSignal", rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "described, never read")]
enum StopSchema {
    Sigterm,
    Sigint,
    Sigquit,
    Sighup,
    Sigkill,
}

#[derive(JsonSchema)]
#[schemars(rename = "Variable", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum EnvSchema {
    Text(String),
    Number(i64),
    Truth(bool),
}

#[derive(JsonSchema)]
#[schemars(rename = "Parameter", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum ParamSchema {
    Text(String),
    Number(i64),
    Truth(bool),
    Table(ParamTableSchema),
}

/// A value that whoever runs the plan gives.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ParameterTable")]
#[expect(dead_code, reason = "described, never read")]
struct ParamTableSchema {
    /// "string", "integer" or "boolean". Defaults to that of the default, else "string".
    #[schemars(rename = "type")]
    kind: Option<ParamTypeSchema>,
    /// Its value where none is given.
    default: Option<EnvSchema>,
    /// Whether a value must be given. Defaults to true where there is no default.
    required: Option<bool>,
    /// What it is for.
    description: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename = "ParameterType", rename_all = "snake_case")]
#[expect(dead_code, reason = "described, never read")]
enum ParamTypeSchema {
    String,
    Integer,
    Boolean,
}

#[derive(JsonSchema)]
#[schemars(rename = "When", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum WhenSchema {
    Word(RunCondition),
    Table(WhenTableSchema),
}

/// A condition.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "WhenTable")]
#[expect(dead_code, reason = "described, never read")]
struct WhenTableSchema {
    /// It is skipped unless this is true: `vars`, `params`, `env` and `matrix` with a name, `tasks.ID.outputs.NAME`,
    /// `tasks.ID.exit_code`, `tasks.ID.status`, text in quotes, numbers, true and false, `==`, `!=`, `and`, `or`, `not`.
    #[schemars(rename = "if")]
    condition: String,
    /// On which end of what it depends on the condition is looked at. Defaults to "success".
    on: Option<RunCondition>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Retries", untagged)]
#[expect(dead_code, reason = "described, never read")]
enum RetriesSchema {
    Number(#[schemars(range(max = 100))] u32),
    Table(RetryPolicySchema),
}

/// How often and when a command is tried again.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "RetryPolicy")]
#[expect(dead_code, reason = "described, never read")]
struct RetryPolicySchema {
    /// How many attempts follow the first.
    #[schemars(range(max = 100))]
    max: u32,
    /// The wait before the first of them: seconds, or text such as "10s". Defaults to 1 s.
    backoff: Option<AmountSchema>,
    /// By how much the wait grows from one to the next, from 1 to 10. Defaults to 2.
    #[schemars(range(min = 1.0, max = 10.0))]
    factor: Option<f64>,
    /// The longest wait. Defaults to 5 minutes.
    max_delay: Option<AmountSchema>,
    /// What it is tried again for. Defaults to all of them.
    on: Option<Vec<RetryCause>>,
}

/// Who does a task.
#[derive(JsonSchema)]
#[schemars(rename = "Run", rename_all = "snake_case")]
#[expect(dead_code, reason = "described, never read")]
enum RunSchema {
    /// A command, run as it is written.
    Shell(String),
    /// An agent: the built-in one, or one of your own.
    Agent(AgentSchema),
    /// A person.
    Human(EmptySchema),
}

/// Which agent does a task. Without a name it is the built-in one, or your default for tasks that change code.
#[derive(JsonSchema)]
#[schemars(rename = "Agent", deny_unknown_fields)]
#[expect(dead_code, reason = "described, never read")]
struct AgentSchema {
    /// The name of one of your own agents, as `planwright agents list` shows it.
    with: Option<String>,
    /// Names of agents that each try the task in a copy of their own (twice, if named twice). You pick one result.
    #[schemars(length(min = 2, max = 5))]
    best_of: Option<Vec<String>>,
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
    /// Which ends are tied together. Defaults to finish to start (FS). FS and SS hold the start of the task, FF and SF
    /// its end: it is finished, and waits to close.
    kind: Option<LinkKind>,
    /// How long after, in whole minutes; a run waits for it. Negative means a lead, which only the schedule uses.
    lag: Option<AmountSchema>,
    /// Whether a lag counts working time ("working", the default) or the clock ("elapsed"). Working time is the calendar's; without
    /// one it is the clock's.
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

    const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plan-file.md");

    /// One row for each field, in the words of the schema.
    fn field_table(schema: &Value, pointer: &str, fields: &[FieldNames]) -> String {
        let mut table = "| field | meaning |\n| --- | --- |\n".to_owned();
        for (name, aliases) in fields {
            let text = schema.pointer(&format!("{pointer}/{name}/description"));
            let words = text.and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
            assert!(pointer.contains("Week") || !words.is_empty(), "{name} is not described");
            let also: Vec<String> = aliases.iter().map(|alias| format!("`{alias}`")).collect();
            let also =
                if also.is_empty() { String::new() } else { format!(" Also {}.", also.join(", ")) };
            let row = format!("| `{name}` | {}{also} |\n", words.replace('|', "\\|"));
            table.push_str(&row);
        }
        table
    }

    #[test]
    fn the_reference_page_has_every_field() {
        let schema = plan_file_schema();
        let mut page = std::fs::read_to_string(DOCUMENT).unwrap();
        let before = page.clone();
        for (name, pointer, fields) in [
            ("plan", "/properties", PLAN_FIELDS),
            ("task", "/$defs/Task/properties", TASK_FIELDS),
            ("link", "/$defs/Link/properties", LINK_FIELDS),
            ("calendar", "/$defs/Calendar/properties", CALENDAR_FIELDS),
            ("defaults", "/$defs/Defaults/properties", DEFAULT_FIELDS),
            ("retries", "/$defs/RetryPolicy/properties", RETRY_FIELDS),
            ("params", "/$defs/ParameterTable/properties", PARAM_FIELDS),
            ("when", "/$defs/WhenTable/properties", WHEN_FIELDS),
            ("service", "/$defs/Service/properties", SERVICE_FIELDS),
            ("agent", "/$defs/Agent/properties", AGENT_FIELDS),
            ("pool", "/$defs/Pool/properties", POOL_FIELDS),
            ("notify", "/$defs/Notify/properties", NOTIFY_FIELDS),
        ] {
            let (from, to) =
                (format!("<!-- {name} fields -->\n"), format!("<!-- end of {name} -->"));
            let start = page.find(&from).expect(name) + from.len();
            let end = page.find(&to).expect(name);
            page.replace_range(start..end, &field_table(&schema, pointer, fields));
        }
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(DOCUMENT, &page).unwrap();
        } else {
            assert!(
                page == before,
                "docs/plan-file.md is out of date; write it anew with `UPDATE_SCHEMA=1 cargo test schema reference`"
            );
        }
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
        assert_eq!(described("/$defs/Defaults/properties"), read(DEFAULT_FIELDS));
        assert_eq!(described("/$defs/RetryPolicy/properties"), read(RETRY_FIELDS));
        assert_eq!(described("/$defs/ParameterTable/properties"), read(PARAM_FIELDS));
        assert_eq!(described("/$defs/WhenTable/properties"), read(WHEN_FIELDS));
        assert_eq!(described("/$defs/Service/properties"), read(SERVICE_FIELDS));
        assert_eq!(described("/$defs/Agent/properties"), read(AGENT_FIELDS));
        assert_eq!(described("/$defs/Pool/properties"), read(POOL_FIELDS));
        assert_eq!(described("/$defs/Notify/properties"), read(NOTIFY_FIELDS));
    }
}
