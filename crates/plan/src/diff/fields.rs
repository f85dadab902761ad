//! The fields of a node, and the limits of a plan, that have a different value, described in words.

use serde::Serialize;

use planwright_model::{DateField, PatternSpec, PlanContext, PlanNode, RunKind};
use planwright_text::units;

use super::FieldChange;

/// Collects the changed fields of one node.
pub(super) struct FieldChangeCollector<'a> {
    node: &'a PlanNode,
    pub(super) found: Vec<FieldChange>,
}

impl<'a> FieldChangeCollector<'a> {
    pub(super) fn new(node: &'a PlanNode) -> Self {
        Self { node, found: Vec::new() }
    }

    fn record_if_changed<T: PartialEq + ?Sized>(
        &mut self,
        field: &str,
        from: &T,
        to: &T,
        words: impl Fn(&T) -> String,
    ) {
        if from != to {
            self.found.push(FieldChange {
                node: self.node.id.clone(),
                title: self.node.title.clone(),
                field: field.to_owned(),
                from: words(from),
                to: words(to),
            });
        }
    }
}

const NONE: &str = "none";

/// Level, position and origin are excluded: they follow from a node's position and its last editor.
pub(super) fn compare_nodes(
    changes: &mut FieldChangeCollector<'_>,
    old: &PlanNode,
    new: &PlanNode,
) {
    changes.record_if_changed("title", &old.title, &new.title, String::clone);
    changes.record_if_changed(
        "description",
        old.description.as_str(),
        new.description.as_str(),
        text_or_none,
    );
    changes.record_if_changed(
        "done_when",
        old.done_when.as_str(),
        new.done_when.as_str(),
        text_or_none,
    );
    changes.record_if_changed("node_type", &old.node_type, &new.node_type, wire_text);
    changes.record_if_changed("role", &old.role, &new.role, wire_text);
    changes
        .record_if_changed("milestone", &old.milestone, &new.milestone, |value| yes_or_no(*value));
    changes.record_if_changed("optional", &old.optional, &new.optional, |value| yes_or_no(*value));
    changes.record_if_changed("recurrence", &old.recurrence, &new.recurrence, wire_text);
    changes.record_if_changed(
        "estimate_minutes",
        &old.estimate_minutes,
        &new.estimate_minutes,
        |value| value.map_or_else(|| NONE.to_owned(), format_minutes),
    );
    changes.record_if_changed("intensity", &old.intensity, &new.intensity, ToString::to_string);
    changes.record_if_changed("status", &old.status, &new.status, wire_text);
    changes.record_if_changed("progress", &old.progress, &new.progress, |value| {
        format!("{:.0} %", value * 100.0)
    });
    changes.record_if_changed("tags", &old.tags, &new.tags, |tags| {
        join_or_none(tags.iter().map(String::as_str))
    });
    changes.record_if_changed("resources", &old.resources, &new.resources, wire_text);
    changes.record_if_changed("run", &describe_doer(old), &describe_doer(new), String::clone);
    compare_details(changes, old, new);
}

/// Compares who answers for a node, its dates, its checks and what it rests on.
fn compare_details(changes: &mut FieldChangeCollector<'_>, old: &PlanNode, new: &PlanNode) {
    changes.record_if_changed("owner", old.owner.as_str(), new.owner.as_str(), text_or_none);
    for field in DateField::ALL {
        let (from, to) = (old.dates().get(field), new.dates().get(field));
        changes.record_if_changed(field.as_str(), &from, &to, |date| {
            date.map_or_else(|| NONE.to_owned(), |date| date.to_string())
        });
    }
    changes.record_if_changed("why", old.why.as_str(), new.why.as_str(), text_or_none);
    let lists = [
        ("risks", &old.risks, &new.risks),
        ("assumptions", &old.assumptions, &new.assumptions),
        ("evidence", &old.evidence, &new.evidence),
    ];
    for (field, from, to) in lists {
        changes.record_if_changed(field, from, to, |items| {
            join_or_none(items.iter().map(String::as_str))
        });
    }
    changes.record_if_changed("exit_criteria", &old.exit_criteria, &new.exit_criteria, wire_text);
    let types = (old.task_type.as_str(), new.task_type.as_str());
    changes.record_if_changed("task_type", types.0, types.1, text_or_none);
    changes.record_if_changed("cost", &old.cost, &new.cost, wire_text);
}

/// An unnamed assignee means the person, so naming them is not a change.
fn describe_doer(node: &PlanNode) -> String {
    match &node.run {
        None | Some(RunKind::Human {}) => "human".to_owned(),
        Some(RunKind::Agent(run)) => {
            run.own_agent().map_or_else(|| "agent".to_owned(), |name| format!("agent: {name}"))
        }
        Some(RunKind::Shell(command)) => format!("shell: {command}"),
    }
}

pub(super) fn compare_patterns(
    changes: &mut FieldChangeCollector<'_>,
    old: Option<&PatternSpec>,
    new: Option<&PatternSpec>,
) {
    let words = |spec: &Option<String>| spec.clone().unwrap_or_else(|| NONE.to_owned());
    let named = |spec: Option<&PatternSpec>| {
        spec.map(|spec| {
            let subtype = spec.subtype.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
            format!("{}{subtype}", spec.pattern_type)
        })
    };
    changes.record_if_changed("pattern", &named(old), &named(new), words);
}

/// Compares the limits and hours that a schedule follows.
pub(super) fn compare_contexts(
    changes: &mut FieldChangeCollector<'_>,
    old: &PlanContext,
    new: &PlanContext,
) {
    let (before, after) = (&old.constraints, &new.constraints);
    changes.record_if_changed(
        "goal_text",
        old.goal_text.as_str(),
        new.goal_text.as_str(),
        text_or_none,
    );
    changes.record_if_changed("start", &before.start, &after.start, ToString::to_string);
    changes.record_if_changed("deadline", &before.deadline, &after.deadline, |end| {
        end.map_or_else(|| NONE.to_owned(), |end| end.to_string())
    });
    changes.record_if_changed(
        "horizon_weeks",
        &before.horizon_weeks,
        &after.horizon_weeks,
        |weeks| weeks.map_or_else(|| NONE.to_owned(), |weeks| format!("{weeks} weeks")),
    );
    changes.record_if_changed(
        "weekly_minutes",
        &before.weekly_minutes,
        &after.weekly_minutes,
        |value| value.map_or_else(|| NONE.to_owned(), format_minutes),
    );
    changes.record_if_changed(
        "max_daily_minutes",
        &before.max_daily_minutes,
        &after.max_daily_minutes,
        |value| format_minutes(*value),
    );
    changes.record_if_changed("tz", &old.calendar.tz, &new.calendar.tz, String::clone);
    changes.record_if_changed("working", &old.calendar.working, &new.calendar.working, wire_text);
    changes.record_if_changed("days_off", &old.calendar.days_off, &new.calendar.days_off, |days| {
        let days: Vec<String> = days.iter().map(ToString::to_string).collect();
        join_or_none(days.iter().map(String::as_str))
    });
    changes.record_if_changed("own_days_off", &old.own_days_off, &new.own_days_off, |days| {
        let days: Vec<String> = days.iter().map(ToString::to_string).collect();
        join_or_none(days.iter().map(String::as_str))
    });
    changes.record_if_changed(
        "extra_working",
        &old.calendar.extra_working,
        &new.calendar.extra_working,
        wire_text,
    );
    changes.record_if_changed(
        "preferred_windows",
        &old.user_prefs.preferred_windows,
        &new.user_prefs.preferred_windows,
        wire_text,
    );
}

fn format_minutes(value: u32) -> String {
    units::format_planned(value.into())
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn text_or_none(value: &str) -> String {
    if value.is_empty() { NONE.to_owned() } else { value.to_owned() }
}

fn join_or_none<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let joined = items.collect::<Vec<_>>().join(", ");
    if joined.is_empty() { NONE.to_owned() } else { joined }
}

/// Returns a value as it is serialized.
fn wire_text<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Null) => NONE.to_owned(),
        Ok(other) => other.to_string(),
        Err(error) => format!("unreadable: {error}"),
    }
}
