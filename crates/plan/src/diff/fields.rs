//! Which fields of a node, and which limits of a plan, have another value, in words.

use serde::Serialize;

use planwright_model::{PatternSpec, PlanContext, PlanNode, RunKind};
use planwright_text::units;

use super::FieldChange;

/// Collects the changed fields of one node.
pub(super) struct Changes<'a> {
    node: &'a PlanNode,
    pub(super) found: Vec<FieldChange>,
}

impl<'a> Changes<'a> {
    pub(super) fn of(node: &'a PlanNode) -> Self {
        Self { node, found: Vec::new() }
    }

    fn add<T: PartialEq + ?Sized>(
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

/// Level, position and origin are left out: they follow from where a node stands and who touched it last.
pub(super) fn node(changes: &mut Changes<'_>, old: &PlanNode, new: &PlanNode) {
    changes.add("title", &old.title, &new.title, String::clone);
    changes.add("description", old.description.as_str(), new.description.as_str(), text);
    changes.add("done_when", old.done_when.as_str(), new.done_when.as_str(), text);
    changes.add("node_type", &old.node_type, &new.node_type, wire);
    changes.add("role", &old.role, &new.role, wire);
    changes.add("milestone", &old.milestone, &new.milestone, |value| yes(*value));
    changes.add("optional", &old.optional, &new.optional, |value| yes(*value));
    changes.add("recurrence", &old.recurrence, &new.recurrence, wire);
    changes.add("estimate_minutes", &old.estimate_minutes, &new.estimate_minutes, |value| {
        value.map_or_else(|| NONE.to_owned(), minutes)
    });
    changes.add("intensity", &old.intensity, &new.intensity, ToString::to_string);
    changes.add("status", &old.status, &new.status, wire);
    changes
        .add("progress", &old.progress, &new.progress, |value| format!("{:.0} %", value * 100.0));
    changes.add("tags", &old.tags, &new.tags, |tags| list(tags.iter().map(String::as_str)));
    changes.add("resources", &old.resources, &new.resources, wire);
    changes.add("run", &doer(old), &doer(new), String::clone);
}

/// Nobody named means the person, so naming them changes nothing.
fn doer(node: &PlanNode) -> String {
    match &node.run {
        None | Some(RunKind::Human {}) => "human".to_owned(),
        Some(RunKind::Agent {}) => "agent".to_owned(),
        Some(RunKind::Shell(command)) => format!("shell: {command}"),
    }
}

pub(super) fn pattern(
    changes: &mut Changes<'_>,
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
    changes.add("pattern", &named(old), &named(new), words);
}

/// The limits and hours that a schedule follows.
pub(super) fn context(changes: &mut Changes<'_>, old: &PlanContext, new: &PlanContext) {
    let (before, after) = (&old.constraints, &new.constraints);
    changes.add("goal_text", old.goal_text.as_str(), new.goal_text.as_str(), text);
    changes.add("start", &before.start, &after.start, ToString::to_string);
    changes.add("deadline", &before.deadline, &after.deadline, |end| {
        end.map_or_else(|| NONE.to_owned(), |end| end.to_string())
    });
    changes.add("horizon_weeks", &before.horizon_weeks, &after.horizon_weeks, |weeks| {
        weeks.map_or_else(|| NONE.to_owned(), |weeks| format!("{weeks} weeks"))
    });
    changes.add("weekly_minutes", &before.weekly_minutes, &after.weekly_minutes, |value| {
        value.map_or_else(|| NONE.to_owned(), minutes)
    });
    changes.add(
        "max_daily_minutes",
        &before.max_daily_minutes,
        &after.max_daily_minutes,
        |value| minutes(*value),
    );
    changes.add("tz", &old.calendar.tz, &new.calendar.tz, String::clone);
    changes.add("working", &old.calendar.working, &new.calendar.working, wire);
    changes.add("days_off", &old.calendar.days_off, &new.calendar.days_off, |days| {
        let days: Vec<String> = days.iter().map(ToString::to_string).collect();
        list(days.iter().map(String::as_str))
    });
    changes.add("extra_working", &old.calendar.extra_working, &new.calendar.extra_working, wire);
    changes.add(
        "preferred_windows",
        &old.user_prefs.preferred_windows,
        &new.user_prefs.preferred_windows,
        wire,
    );
}

fn minutes(value: u32) -> String {
    units::planned(value.into())
}

fn yes(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn text(value: &str) -> String {
    if value.is_empty() { NONE.to_owned() } else { value.to_owned() }
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let joined = items.collect::<Vec<_>>().join(", ");
    if joined.is_empty() { NONE.to_owned() } else { joined }
}

/// A value as the contracts write it.
fn wire<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Null) => NONE.to_owned(),
        Ok(other) => other.to_string(),
        Err(error) => format!("unreadable: {error}"),
    }
}
