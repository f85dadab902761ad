//! Writes a plan as a TOML file that a person can read and edit. Fields at their default are omitted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value as Json;
use toml_edit::{Array, InlineTable, Key, Value};

use super::candidates::collapse_candidates;
use super::duration::{self, DayLength};
use super::run_settings::STRICT_SHELL;
use super::template::{escape_template, has_template};
use planwright_model::task::{CriterionEffect, DEFAULT_ROLE, DEFAULT_TOKENS, DEFAULT_TYPE};
use planwright_model::{
    AgentRun, ExitCriterion, FileCalendar, LagBasis, LinkKind, LinkOrigin, LocalTimeInterval,
    NodeOrigin, Plan, RepeatPolicy, RetryCause, RunCondition, RunKind, SandboxChoice, SecretSource,
    ServiceCheck, StopSignal, TaskLink, TaskNode, TaskOutputSource, TaskRetryPolicy,
    TaskRunOptions, ValuePart, Weekday,
};

/// Writes a plan file. Reading it back gives the same plan, except that TOML has no null: such values in `metadata` are
/// omitted.
pub fn write_toml(plan: &Plan) -> String {
    let mut out = String::new();
    let version = written_version(plan);
    if version > 1 {
        write_field(&mut out, "version", version);
    }
    write_field(&mut out, "title", plan.title.as_str());
    if let Some(goal) = &plan.goal {
        write_field(&mut out, "goal", goal.as_str());
    }
    if let Some(rationale) = &plan.rationale {
        write_field(&mut out, "rationale", rationale.as_str());
    }
    if plan.fail_fast {
        write_field(&mut out, "fail_fast", true);
    }
    if let Some(notify) = &plan.notify {
        let on = notify.on.iter().map(|cause| cause.name()).collect::<Array>();
        let command = notify.command.iter().map(String::as_str).collect::<Array>();
        let fields = inline_table([("on", on.into()), ("cmd", command.into())]);
        write_field(&mut out, "notify", fields);
    }
    if plan.tasks.is_empty() {
        write_field(&mut out, "tasks", Array::new());
    }
    if !plan.params.is_empty() {
        out.push_str("\n[params]\n");
        for (name, value) in &plan.params {
            write_field(&mut out, name, value.as_str());
        }
    }
    let is_pool = |name: &&String| plan.machine_pools.contains(*name);
    if plan.resources.keys().any(|name| !is_pool(&name)) {
        out.push_str("\n[resources]\n");
        for (name, capacity) in plan.resources.iter().filter(|(name, _)| !is_pool(name)) {
            write_field(&mut out, name, i64::from(*capacity));
        }
    }
    if plan.resources.keys().any(|name| is_pool(&name)) {
        out.push_str("\n[pools]\n");
        for (name, capacity) in plan.resources.iter().filter(|(name, _)| is_pool(name)) {
            let capacity = Value::from(i64::from(*capacity));
            let pool = inline_table([("capacity", capacity), ("scope", "machine".into())]);
            write_field(&mut out, name, pool);
        }
    }
    if let Some(calendar) = &plan.calendar {
        out.push_str("\n[calendar]\n");
        write_calendar(&mut out, calendar);
    }
    for task in collapse_candidates(plan) {
        out.push_str("\n[[tasks]]\n");
        write_task(&mut out, &task, version);
    }
    out
}

/// The version of the format in which the commands of a plan need not name their shell: 2 where all of them stop at the
/// first error.
fn written_version(plan: &Plan) -> i64 {
    let mut commands = plan.tasks.iter().filter(|task| matches!(task.run, RunKind::Shell(_)));
    let all_stop = commands.clone().all(|task| task.shell == STRICT_SHELL);
    if commands.next().is_some() && all_stop { 2 } else { 1 }
}

fn write_calendar(out: &mut String, calendar: &FileCalendar) {
    if !calendar.hours.tz.is_empty() {
        write_field(out, "tz", calendar.hours.tz.as_str());
    }
    if let Some(start) = calendar.start {
        write_field(out, "start", start.to_string());
    }
    if let Some(deadline) = calendar.deadline {
        write_field(out, "deadline", deadline.to_string());
    }
    if let Some(weeks) = calendar.horizon_weeks {
        write_field(out, "horizon_weeks", i64::from(weeks));
    }
    let span = |span: &LocalTimeInterval| Value::from(format!("{:.0}-{:.0}", span.start, span.end));
    let spans = |spans: &[LocalTimeInterval]| Value::Array(spans.iter().map(span).collect());
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let days = names.iter().zip(Weekday::ALL);
    let days = days.filter_map(|(name, day)| {
        calendar.hours.working.get(&day).map(|hours| (*name, spans(hours)))
    });
    write_field(out, "working", inline_table(days));
    if !calendar.hours.days_off.is_empty() {
        let days = calendar.hours.days_off.iter().map(ToString::to_string);
        write_field(out, "days_off", days.collect::<Array>());
    }
    if !calendar.hours.extra_working.is_empty() {
        let mut days = InlineTable::new();
        for (day, hours) in &calendar.hours.extra_working {
            days.insert(day.to_string(), spans(hours));
        }
        write_field(out, "extra_working", days);
    }
}

/// Writes a field in which nothing is meant as a template.
fn write_field(out: &mut String, name: &str, value: impl Into<Value>) {
    let mut value = value.into();
    escape_value(&mut value);
    write_raw_field(out, name, value);
}

fn write_raw_field(out: &mut String, name: &str, value: impl Into<Value>) {
    writeln!(out, "{} = {}", Key::new(name), value.into())
        .expect("writing to a string cannot fail");
}

fn escape_value(value: &mut Value) {
    match value {
        Value::String(text) if has_template(text.value()) => {
            *value = escape_template(text.value()).into();
        }
        Value::Array(items) => items.iter_mut().for_each(escape_value),
        Value::InlineTable(fields) => fields.iter_mut().for_each(|(_, value)| escape_value(value)),
        _ => {}
    }
}

/// A command as a file has it: outputs of other tasks are templates again.
fn command_text(command: &str, options: &TaskRunOptions) -> String {
    let mut text = escape_template(command);
    for (variable, parts) in &options.computed_env {
        text = text.replace(&format!("${{{variable}}}"), &parts_text(parts));
    }
    text
}

fn parts_text(parts: &[ValuePart]) -> String {
    let text = |part: &ValuePart| match part {
        ValuePart::Text(text) => escape_template(text),
        ValuePart::Output { task, name } => format!("${{{{ tasks.{task}.outputs.{name} }}}}"),
    };
    parts.iter().map(text).collect()
}

fn write_task(out: &mut String, task: &TaskNode, version: i64) {
    write_field(out, "id", task.id.as_str());
    write_field(out, "description", task.description.as_str());
    match &task.run {
        RunKind::Agent(run) => write_agent_run(out, run),
        RunKind::Shell(command) => {
            let command = command_text(command, &task.options);
            write_raw_field(out, "run", inline_table([("shell", command.into())]));
        }
        RunKind::Human {} => {
            write_field(out, "run", inline_table([("human", InlineTable::new().into())]));
        }
    }
    if !task.dependencies.is_empty() {
        write_field(out, "depends_on", task.dependencies.iter().map(link_value).collect::<Array>());
    }
    if let Some(minutes) = task.duration_minutes {
        write_field(out, "duration", duration::write_minutes(minutes.into(), DayLength::Working));
    }
    if !task.resources.is_empty() {
        let units = task
            .resources
            .iter()
            .map(|(name, units)| (name.as_str(), Value::from(i64::from(*units))));
        write_field(out, "resources", inline_table(units));
    }
    if task.priority != 0 {
        write_field(out, "priority", task.priority);
    }
    write_means(out, task);
    write_details(out, task);
    write_settings(out, task, version);
}

/// Writes which agent does a task, where it is not the built-in one.
fn write_agent_run(out: &mut String, run: &AgentRun) {
    let field = match run.own_agent() {
        Some(name) => ("with", name.into()),
        None if run.is_pick() => {
            ("best_of", run.best_of.iter().map(String::as_str).collect::<Array>().into())
        }
        None => return,
    };
    write_raw_field(out, "run", inline_table([("agent", inline_table([field]).into())]));
}

/// Writes who answers for a task, its dates, and what it rests on.
fn write_details(out: &mut String, task: &TaskNode) {
    if !task.owner.is_empty() {
        write_field(out, "owner", task.owner.as_str());
    }
    for (field, date) in task.dates().stated() {
        write_field(out, field.as_str(), date.to_string());
    }
    if !task.why.is_empty() {
        write_field(out, "why", task.why.as_str());
    }
    let lists =
        [("risks", &task.risks), ("assumptions", &task.assumptions), ("evidence", &task.evidence)];
    for (name, items) in lists {
        if !items.is_empty() {
            write_field(out, name, items.iter().map(String::as_str).collect::<Array>());
        }
    }
    if let Some(cost) = &task.cost {
        write_field(out, "cost", cost.to_string());
    }
}

/// Writes the means of a task and its exit criteria.
fn write_means(out: &mut String, task: &TaskNode) {
    if !task.tools.is_empty() {
        write_field(out, "tools", task.tools.iter().map(String::as_str).collect::<Array>());
    }
    if !task.tool_affinity.is_empty() {
        let scores =
            task.tool_affinity.iter().map(|(tool, score)| (tool.as_str(), Value::from(*score)));
        write_field(out, "tool_affinity", inline_table(scores));
    }
    if !task.exit_criteria.is_empty() {
        let value = |criterion: &ExitCriterion| criterion_value(criterion, &task.options);
        write_raw_field(
            out,
            "exit_criteria",
            task.exit_criteria.iter().map(value).collect::<Array>(),
        );
    }
    if task.estimated_tokens != DEFAULT_TOKENS {
        write_field(
            out,
            "estimated_tokens",
            i64::try_from(task.estimated_tokens).unwrap_or(i64::MAX),
        );
    }
    if task.agent_role != DEFAULT_ROLE {
        write_field(out, "agent_role", task.agent_role.as_str());
    }
    if task.task_type != DEFAULT_TYPE {
        write_field(out, "task_type", task.task_type.as_str());
    }
    if !task.metadata.is_empty() {
        write_raw_field(out, "metadata", object_table(&task.metadata));
    }
}

/// Writes how a task is run beside what it does.
fn write_run_settings(out: &mut String, task: &TaskNode, version: i64) {
    let texts = |items: &[String]| items.iter().map(String::as_str).collect::<Array>();
    let is_default = version == 2 && task.shell == STRICT_SHELL;
    if !task.shell.is_empty() && !is_default {
        write_field(out, "shell", texts(&task.shell));
    }
    let mut env: BTreeMap<&str, String> =
        task.env.iter().map(|(name, value)| (name.as_str(), escape_template(value))).collect();
    let computed =
        task.options.computed_env.iter().filter(|(name, _)| !name.starts_with("PLANWRIGHT_"));
    env.extend(computed.map(|(name, parts)| (name.as_str(), parts_text(parts))));
    if !env.is_empty() {
        let variables = env.into_iter().map(|(name, value)| (name, Value::from(value)));
        write_raw_field(out, "env", inline_table(variables));
    }
    if !task.cwd.is_empty() {
        write_field(out, "cwd", task.cwd.as_str());
    }
    if let Some(policy) = &task.retries {
        write_field(out, "retries", retry_value(policy));
    }
    write_condition(out, task);
    if task.continue_on_error {
        write_field(out, "continue_on_error", true);
    }
    if !task.group.is_empty() {
        write_field(out, "group", task.group.as_str());
    }
    if !task.tags.is_empty() {
        write_field(out, "tags", texts(&task.tags));
    }
    write_results(out, task);
}

fn write_condition(out: &mut String, task: &TaskNode) {
    let on = match task.when {
        RunCondition::Success => None,
        RunCondition::Failed => Some("failed"),
        RunCondition::Always => Some("always"),
    };
    if task.options.run_if.is_empty() {
        if let Some(on) = on {
            write_field(out, "when", on);
        }
        return;
    }
    let mut fields = vec![("if", Value::from(task.options.run_if.as_str()))];
    fields.extend(on.map(|on| ("on", on.into())));
    write_raw_field(out, "when", inline_table(fields));
}

/// Writes what the command of a task leaves behind.
fn write_results(out: &mut String, task: &TaskNode) {
    let options = &task.options;
    if !options.outputs.is_empty() {
        let outputs = options.outputs.iter().map(|(name, source)| {
            let text = match source {
                TaskOutputSource::LastLine => "last_line".to_owned(),
                TaskOutputSource::Key(key) if key == name => "key".to_owned(),
                TaskOutputSource::Key(key) => format!("key:{key}"),
                TaskOutputSource::File(path) => format!("file:{path}"),
            };
            (name.as_str(), Value::from(text))
        });
        write_field(out, "outputs", inline_table(outputs));
    }
    let lists = [
        ("artifacts", &options.artifacts),
        ("env_file", &options.env_files),
        ("pass_env", &options.pass_env),
        ("inputs", &options.inputs),
    ];
    for (name, items) in lists {
        if !items.is_empty() {
            write_field(out, name, items.iter().map(String::as_str).collect::<Array>());
        }
    }
    if options.cache {
        write_field(out, "cache", true);
    }
    if options.interactive {
        write_field(out, "interactive", true);
    }
    if !options.executor.is_empty() {
        write_field(out, "on", options.executor.as_str());
    }
    write_sources(out, options);
}

/// Writes where secrets come from, and how a service is ready.
fn write_sources(out: &mut String, options: &TaskRunOptions) {
    if !options.secrets.is_empty() {
        let secrets = options.secrets.iter().map(|(name, source)| {
            let value = match source {
                SecretSource::Variable(from) => Value::from(format!("env:{from}")),
                SecretSource::Command(words) => {
                    let words = words.iter().map(String::as_str).collect::<Array>();
                    inline_table([("command", words.into())]).into()
                }
            };
            (name.as_str(), value)
        });
        write_field(out, "secrets", inline_table(secrets));
    }
    if let Some(service) = &options.service {
        let ready = match &service.ready {
            ServiceCheck::Command(command) => Value::from(command.as_str()),
            ServiceCheck::Port(port) => Value::from(i64::from(*port)),
        };
        let mut fields = vec![("ready", ready)];
        if service.stop != StopSignal::default() {
            fields.push(("stop", service.stop.name().into()));
        }
        write_field(out, "service", inline_table(fields));
    }
}

fn retry_value(policy: &TaskRetryPolicy) -> Value {
    if *policy == TaskRetryPolicy::with_max(policy.max) {
        return i64::from(policy.max).into();
    }
    let seconds = |seconds: u64| Value::from(i64::try_from(seconds).unwrap_or(i64::MAX));
    let cause = |cause: &RetryCause| match cause {
        RetryCause::Exit => "exit",
        RetryCause::Timeout => "timeout",
        RetryCause::Signal => "signal",
    };
    inline_table([
        ("max", i64::from(policy.max).into()),
        ("backoff", seconds(policy.backoff)),
        ("factor", policy.factor.into()),
        ("max_delay", seconds(policy.max_delay)),
        ("on", Value::Array(policy.on.iter().map(cause).collect())),
    ])
    .into()
}

fn write_settings(out: &mut String, task: &TaskNode, version: i64) {
    if let Some(seconds) = task.timeout_seconds {
        write_field(out, "timeout", duration::write_seconds(seconds));
    }
    write_run_settings(out, task, version);
    if task.repeat == RepeatPolicy::Safe {
        write_field(out, "repeat", "safe");
    }
    if task.sandbox == SandboxChoice::Workspace {
        write_field(out, "sandbox", "workspace");
    }
    if task.at_scheduled_time {
        write_field(out, "at_scheduled_time", true);
    }
    match task.origin {
        NodeOrigin::System => {}
        NodeOrigin::UserFeedback => write_field(out, "origin", "user_feedback"),
        NodeOrigin::AiAdaptation => write_field(out, "origin", "ai_adaptation"),
    }
}

fn inline_table<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> InlineTable {
    fields.into_iter().collect()
}

fn link_value(link: &TaskLink) -> Value {
    if *link == TaskLink::finish_to_start(link.task.clone()) {
        return link.task.as_str().into();
    }
    let mut fields = vec![("task", Value::from(link.task.as_str()))];
    match link.kind {
        LinkKind::FS => {}
        LinkKind::SS => fields.push(("kind", "SS".into())),
        LinkKind::FF => fields.push(("kind", "FF".into())),
        LinkKind::SF => fields.push(("kind", "SF".into())),
    }
    let day = match link.lag_basis {
        LagBasis::Working => DayLength::Working,
        LagBasis::Elapsed => DayLength::Elapsed,
    };
    if link.lag_minutes != 0 {
        fields.push(("lag", duration::write_minutes(link.lag_minutes.into(), day).into()));
    }
    if link.lag_basis == LagBasis::Elapsed {
        fields.push(("lag_basis", "elapsed".into()));
    }
    match link.origin {
        LinkOrigin::System => {}
        LinkOrigin::UserFeedback => fields.push(("origin", "user_feedback".into())),
        LinkOrigin::AiAdaptation => fields.push(("origin", "ai_adaptation".into())),
        LinkOrigin::Inferred => fields.push(("origin", "inferred".into())),
    }
    inline_table(fields).into()
}

fn criterion_value(criterion: &ExitCriterion, options: &TaskRunOptions) -> Value {
    let text = |text: &String| Value::from(escape_template(text));
    let (mut fields, on) = match criterion {
        ExitCriterion::Text { text: words, on: CriterionEffect::Success } => return text(words),
        ExitCriterion::Text { text: words, on } => {
            (vec![("kind", "text".into()), ("text", text(words))], on)
        }
        ExitCriterion::FileExists { path, on } => {
            (vec![("kind", "file_exists".into()), ("path", text(path))], on)
        }
        ExitCriterion::Command { command, on } => {
            let command = command_text(command, options);
            (vec![("kind", "command".into()), ("command", command.into())], on)
        }
        ExitCriterion::JsonPath { path, equals, on } => {
            let mut fields = vec![("kind", "json_path".into()), ("path", text(path))];
            fields.extend(json_to_toml(equals).map(|equals| ("equals", equals)));
            (fields, on)
        }
        ExitCriterion::Judged { text: words, on } => {
            (vec![("kind", "judged".into()), ("text", text(words))], on)
        }
    };
    if *on == CriterionEffect::Failure {
        fields.push(("on", "failure".into()));
    }
    inline_table(fields).into()
}

fn object_table(fields: &serde_json::Map<String, Json>) -> InlineTable {
    inline_table(
        fields.iter().filter_map(|(name, field)| Some((name.as_str(), json_to_toml(field)?))),
    )
}

/// Returns the same value in TOML, if there is one.
fn json_to_toml(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().filter_map(json_to_toml).collect()),
        Json::Object(fields) => object_table(fields).into(),
    })
}
