//! Writes a plan as a TOML file that a person can read and edit. Fields at their default are left out.

use std::fmt::Write as _;

use serde_json::Value as Json;
use toml_edit::{Array, InlineTable, Key, Value};

use super::duration::{self, Day};
use planwright_model::task::{CriterionOn, DEFAULT_ROLE, DEFAULT_TOKENS, DEFAULT_TYPE};
use planwright_model::{
    ExitCriterion, FileCalendar, Interval, LagBasis, Link, LinkKind, LinkOrigin, Origin, Plan,
    Repeat, RunKind, SandboxChoice, TaskNode, Weekday,
};

/// Writes a plan file. Reading it back gives the same plan, save that TOML has no null: such values in `metadata`
/// are left out.
pub fn write_toml(plan: &Plan) -> String {
    let mut out = String::new();
    line(&mut out, "title", plan.title.as_str());
    if let Some(goal) = &plan.goal {
        line(&mut out, "goal", goal.as_str());
    }
    if let Some(rationale) = &plan.rationale {
        line(&mut out, "rationale", rationale.as_str());
    }
    if plan.tasks.is_empty() {
        line(&mut out, "tasks", Array::new());
    }
    if !plan.resources.is_empty() {
        out.push_str("\n[resources]\n");
        for (name, capacity) in &plan.resources {
            line(&mut out, name, i64::from(*capacity));
        }
    }
    if let Some(calendar) = &plan.calendar {
        out.push_str("\n[calendar]\n");
        write_calendar(&mut out, calendar);
    }
    for task in &plan.tasks {
        out.push_str("\n[[tasks]]\n");
        write_task(&mut out, task);
    }
    out
}

fn write_calendar(out: &mut String, calendar: &FileCalendar) {
    if !calendar.hours.tz.is_empty() {
        line(out, "tz", calendar.hours.tz.as_str());
    }
    if let Some(start) = calendar.start {
        line(out, "start", start.to_string());
    }
    if let Some(deadline) = calendar.deadline {
        line(out, "deadline", deadline.to_string());
    }
    if let Some(weeks) = calendar.horizon_weeks {
        line(out, "horizon_weeks", i64::from(weeks));
    }
    let span = |span: &Interval| Value::from(format!("{:.0}-{:.0}", span.start, span.end));
    let spans = |spans: &[Interval]| Value::Array(spans.iter().map(span).collect());
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let days = names.iter().zip(Weekday::ALL);
    let days = days.filter_map(|(name, day)| {
        calendar.hours.working.get(&day).map(|hours| (*name, spans(hours)))
    });
    line(out, "working", table(days));
    if !calendar.hours.days_off.is_empty() {
        let days = calendar.hours.days_off.iter().map(ToString::to_string);
        line(out, "days_off", days.collect::<Array>());
    }
    if !calendar.hours.extra_working.is_empty() {
        let mut days = InlineTable::new();
        for (day, hours) in &calendar.hours.extra_working {
            days.insert(day.to_string(), spans(hours));
        }
        line(out, "extra_working", days);
    }
}

fn line(out: &mut String, name: &str, value: impl Into<Value>) {
    writeln!(out, "{} = {}", Key::new(name), value.into())
        .expect("writing to a string cannot fail");
}

fn write_task(out: &mut String, task: &TaskNode) {
    line(out, "id", task.id.as_str());
    line(out, "description", task.description.as_str());
    match &task.run {
        RunKind::Agent {} => {}
        RunKind::Shell(command) => line(out, "run", table([("shell", command.as_str().into())])),
        RunKind::Human {} => line(out, "run", table([("human", InlineTable::new().into())])),
    }
    if !task.dependencies.is_empty() {
        line(out, "depends_on", task.dependencies.iter().map(link).collect::<Array>());
    }
    if let Some(minutes) = task.duration_minutes {
        line(out, "duration", duration::write_minutes(minutes.into(), Day::Working));
    }
    if !task.resources.is_empty() {
        let units = task
            .resources
            .iter()
            .map(|(name, units)| (name.as_str(), Value::from(i64::from(*units))));
        line(out, "resources", table(units));
    }
    if task.priority != 0 {
        line(out, "priority", task.priority);
    }
    write_means(out, task);
    write_settings(out, task);
}

/// With what a task is done and when it counts as done.
fn write_means(out: &mut String, task: &TaskNode) {
    if !task.tools.is_empty() {
        line(out, "tools", task.tools.iter().map(String::as_str).collect::<Array>());
    }
    if !task.tool_affinity.is_empty() {
        let scores =
            task.tool_affinity.iter().map(|(tool, score)| (tool.as_str(), Value::from(*score)));
        line(out, "tool_affinity", table(scores));
    }
    if !task.exit_criteria.is_empty() {
        line(out, "exit_criteria", task.exit_criteria.iter().map(criterion).collect::<Array>());
    }
    if task.estimated_tokens != DEFAULT_TOKENS {
        line(out, "estimated_tokens", i64::try_from(task.estimated_tokens).unwrap_or(i64::MAX));
    }
    if task.agent_role != DEFAULT_ROLE {
        line(out, "agent_role", task.agent_role.as_str());
    }
    if task.task_type != DEFAULT_TYPE {
        line(out, "task_type", task.task_type.as_str());
    }
    if !task.metadata.is_empty() {
        line(out, "metadata", object(&task.metadata));
    }
}

fn write_settings(out: &mut String, task: &TaskNode) {
    if let Some(seconds) = task.timeout_seconds {
        line(out, "timeout", duration::write_seconds(seconds));
    }
    if task.repeat == Repeat::Safe {
        line(out, "repeat", "safe");
    }
    if task.sandbox == SandboxChoice::Workspace {
        line(out, "sandbox", "workspace");
    }
    if task.at_scheduled_time {
        line(out, "at_scheduled_time", true);
    }
    match task.origin {
        Origin::System => {}
        Origin::UserFeedback => line(out, "origin", "user_feedback"),
        Origin::AiAdaptation => line(out, "origin", "ai_adaptation"),
    }
}

fn table<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> InlineTable {
    fields.into_iter().collect()
}

fn link(link: &Link) -> Value {
    if *link == Link::finish_to_start(link.task.clone()) {
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
        LagBasis::Working => Day::Working,
        LagBasis::Elapsed => Day::Elapsed,
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
    table(fields).into()
}

fn criterion(criterion: &ExitCriterion) -> Value {
    let text = |text: &String| Value::from(text.as_str());
    let (mut fields, on) = match criterion {
        ExitCriterion::Text { text: words, on: CriterionOn::Success } => return text(words),
        ExitCriterion::Text { text: words, on } => {
            (vec![("kind", "text".into()), ("text", text(words))], on)
        }
        ExitCriterion::FileExists { path, on } => {
            (vec![("kind", "file_exists".into()), ("path", text(path))], on)
        }
        ExitCriterion::Command { command, on } => {
            (vec![("kind", "command".into()), ("command", text(command))], on)
        }
        ExitCriterion::JsonPath { path, equals, on } => {
            let mut fields = vec![("kind", "json_path".into()), ("path", text(path))];
            fields.extend(value(equals).map(|equals| ("equals", equals)));
            (fields, on)
        }
        ExitCriterion::Judged { text: words, on } => {
            (vec![("kind", "judged".into()), ("text", text(words))], on)
        }
    };
    if *on == CriterionOn::Failure {
        fields.push(("on", "failure".into()));
    }
    table(fields).into()
}

fn object(fields: &serde_json::Map<String, Json>) -> InlineTable {
    table(fields.iter().filter_map(|(name, field)| Some((name.as_str(), value(field)?))))
}

/// The same value in TOML, if there is one.
fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().filter_map(value).collect()),
        Json::Object(fields) => object(fields).into(),
    })
}
