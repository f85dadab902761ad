//! Normalizes a loosely structured payload. Pure and total: any output of a model becomes tasks, and every change is
//! reported.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::TaskFieldReader;
use super::prune::prune_missing;
use super::vocabulary::TaskVocabulary;
use planwright_model::{NodeOrigin, NormalizationChange, TaskId, TaskLink, TaskNode};

/// The maximum length of an id, in characters.
const MAX_ID: usize = 80;
/// Keys under which payloads wrap their tasks.
const WRAPPERS: [&str; 4] = ["tasks", "nodes", "task_graph", "graph"];

/// Turns a payload into tasks. It may be a list of tasks, a table from id to task, or either of them under `tasks`,
/// `nodes`, `task_graph` or `graph`. `origin` is the author; origins claimed by the payload are ignored.
pub fn normalize_payload(
    payload: &Value,
    origin: NodeOrigin,
    vocabulary: &TaskVocabulary,
) -> (Vec<TaskNode>, Vec<NormalizationChange>) {
    let mut report = Vec::new();
    let mut names = TaskIdRegistry::default();
    let listed = payload_tasks(payload, &mut report);
    let mut tasks = Vec::with_capacity(listed.len());
    for (position, (key, value)) in listed.into_iter().enumerate() {
        let fields = match value {
            Value::Object(fields) => fields.clone(),
            Value::String(text) => {
                Map::from_iter([("description".to_owned(), Value::from(text.as_str()))])
            }
            _ => {
                let detail = format!("item {} is not a task", position + 1);
                report.push(normalization_entry("task_dropped", None, detail));
                continue;
            }
        };
        let id = names.assign_id(key, fields.get("id"), position, &mut report);
        let mut reader = TaskFieldReader::new(fields, id.clone(), vocabulary, &mut report);
        let mut task = TaskNode::new(id, "");
        reader.fill_task(&mut task);
        task.origin = origin;
        tasks.push(task);
    }
    report.extend(prune_missing(&mut tasks));
    (tasks, report)
}

pub(super) fn normalization_entry(
    code: &str,
    task_id: Option<&TaskId>,
    detail: String,
) -> NormalizationChange {
    NormalizationChange { code: code.to_owned(), task_id: task_id.cloned(), detail }
}

/// Returns the tasks of a payload, with their keys if it is a table.
fn payload_tasks<'v>(
    payload: &'v Value,
    report: &mut Vec<NormalizationChange>,
) -> Vec<(Option<&'v str>, &'v Value)> {
    match payload {
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(fields) => match WRAPPERS.iter().find_map(|name| fields.get(*name)) {
            Some(inner) if inner.is_array() || inner.is_object() => payload_tasks(inner, report),
            _ => fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect(),
        },
        _ => {
            report.push(normalization_entry(
                "payload_dropped",
                None,
                "the payload holds no tasks".to_owned(),
            ));
            Vec::new()
        }
    }
}

/// The ids that are in use.
#[derive(Default)]
struct TaskIdRegistry {
    taken: BTreeMap<TaskId, u32>,
}

impl TaskIdRegistry {
    /// Assigns the id of a task: as stated, or else its key, or else `task-<n>`; made printable and unique.
    fn assign_id(
        &mut self,
        key: Option<&str>,
        stated: Option<&Value>,
        position: usize,
        report: &mut Vec<NormalizationChange>,
    ) -> TaskId {
        let stated = match stated {
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => key.map(str::to_owned),
        };
        let printable = stated.as_deref().map(printable_id).filter(|id| !id.is_empty());
        let id =
            TaskId::from(printable.clone().unwrap_or_else(|| format!("task-{}", position + 1)));
        if printable.is_none() {
            report.push(normalization_entry(
                "id_missing",
                Some(&id),
                format!("a task without an id became {id}"),
            ));
        } else if printable != stated {
            report.push(normalization_entry(
                "id_changed",
                Some(&id),
                format!("the id was made printable: {id}"),
            ));
        }
        self.claim_id(id, report)
    }

    fn claim_id(&mut self, id: TaskId, report: &mut Vec<NormalizationChange>) -> TaskId {
        if !self.taken.contains_key(&id) {
            self.taken.insert(id.clone(), 1);
            return id;
        }
        let mut number = self.taken.get(&id).copied().unwrap_or(1);
        let free = loop {
            number += 1;
            let candidate = TaskId::from(format!("{id}-{number}"));
            if !self.taken.contains_key(&candidate) {
                break candidate;
            }
        };
        self.taken.insert(id.clone(), number);
        self.taken.insert(free.clone(), 1);
        let detail = format!("the id {id} was used before; this task became {free}");
        report.push(normalization_entry("duplicate_id", Some(&free), detail));
        free
    }
}

/// Returns an id without control characters and surrounding blanks, truncated to the maximum length.
pub(super) fn printable_id(id: &str) -> String {
    let visible: String = id.chars().filter(|c| !c.is_control()).collect();
    visible.trim().chars().take(MAX_ID).collect::<String>().trim_end().to_owned()
}

/// Parses a link of a payload: an id, a number that stands for one, or a table with `task`.
pub(super) fn parse_link(value: &Value) -> Option<TaskLink> {
    match value {
        Value::String(id) => Some(TaskLink::finish_to_start(printable_id(id))),
        Value::Number(id) => Some(TaskLink::finish_to_start(id.to_string())),
        Value::Object(fields) => {
            let task = fields.get("task").or_else(|| fields.get("id"))?;
            let mut link = parse_link(task).filter(|_| !task.is_object())?;
            let read = |name: &str| fields.get(name).cloned();
            if let Some(kind) = read("kind").and_then(|kind| serde_json::from_value(kind).ok()) {
                link.kind = kind;
            }
            if let Some(basis) =
                read("lag_basis").and_then(|basis| serde_json::from_value(basis).ok())
            {
                link.lag_basis = basis;
            }
            if let Some(origin) =
                read("origin").and_then(|origin| serde_json::from_value(origin).ok())
            {
                link.origin = origin;
            }
            let lag = fields.get("lag_minutes").and_then(Value::as_i64).unwrap_or(0);
            link.lag_minutes = lag.clamp(-86_400, 86_400) as i32;
            Some(link)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use planwright_model::task::CriterionEffect;
    use planwright_model::{ExitCriterion, RunKind};

    fn read(payload: &Value) -> (Vec<TaskNode>, Vec<NormalizationChange>) {
        normalize_payload(payload, NodeOrigin::AiAdaptation, &TaskVocabulary::default())
    }

    fn codes(report: &[NormalizationChange]) -> Vec<&str> {
        report.iter().map(|entry| entry.code.as_str()).collect()
    }

    #[test]
    fn loads_the_planner_payload_of_the_seed() {
        let (tasks, report) = read(&json!({"tasks": [
            {"id": "t1", "question": "Find sources", "tools": "web.search / web.fetch and file.read",
             "affinity": {"web.search": 1.7, "x": "high", "y": 0.4}, "criteria": {"sources": 3, "on": "time"}},
            {"id": "t2", "goal": "Write it up", "depends_on": "t1; t9, t2", "criteria": "clear, short",
             "colour": "red", "origin": "user_feedback"},
            {"id": "t1", "prompt": "Check it", "depends_on": ["t2", {"task": "t1", "kind": "start_to_start"}]},
            "Send it",
        ]}));
        let ids: Vec<_> = tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["t1", "t2", "t1-2", "task-4"]);
        assert_eq!(tasks[0].tools, ["web.search", "web.fetch", "file.read"]);
        assert_eq!(
            tasks[0].tool_affinity,
            BTreeMap::from([("web.search".into(), 1.0), ("y".into(), 0.4)])
        );
        let text =
            |text: &str| ExitCriterion::Text { text: text.into(), on: CriterionEffect::Success };
        assert_eq!(tasks[0].exit_criteria, [text("sources=3"), text("on=time")]);
        assert_eq!(tasks[1].exit_criteria, [text("clear"), text("short")]);
        assert_eq!(tasks[1].dependencies, [TaskLink::finish_to_start("t1")]);
        assert_eq!(tasks[2].dependencies.len(), 2);
        assert!(tasks.iter().all(|task| task.origin == NodeOrigin::AiAdaptation));
        assert_eq!(
            codes(&report),
            [
                "text_split",
                "affinity_clamped",
                "affinity_dropped",
                "criteria_split",
                "text_split",
                "text_split",
                "unknown_field",
                "duplicate_id",
                "id_missing",
                "self_dependency",
                "dependency_missing",
            ]
        );
    }

    #[test]
    fn a_table_of_tasks_takes_ids_from_its_keys() {
        let (tasks, report) =
            read(&json!({"nodes": {"a": {"description": "x"}, "b": {"run": {"shell": "true"}}}}));
        assert_eq!((tasks[0].id.as_str(), tasks[1].id.as_str()), ("a", "b"));
        assert_eq!(tasks[1].run, RunKind::Shell("true".into()));
        assert_eq!(codes(&report), ["description_missing"]);
    }

    #[test]
    fn values_of_the_wrong_kind_fall_back_and_are_reported() {
        let (tasks, report) = read(&json!([{"id": "a", "description": "x", "priority": "high",
            "estimated_tokens": -5, "task_type": "reserch", "metadata": 3, "run": "now", "duration_minutes": 0}, 7]));
        assert_eq!((tasks[0].priority, tasks[0].estimated_tokens), (0, 500));
        assert_eq!(tasks[0].task_type, "generic");
        assert_eq!(
            codes(&report),
            [
                "bad_value",
                "bad_value",
                "unknown_task_type",
                "bad_value",
                "bad_value",
                "bad_value",
                "task_dropped"
            ]
        );
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let name = prop::sample::select(vec![
            "id",
            "question",
            "depends_on",
            "dependencies",
            "tools",
            "affinity",
            "criteria",
            "exit_criteria",
            "run",
            "priority",
            "estimated_tokens",
            "metadata",
            "duration_minutes",
            "task",
            "kind",
            "lag_minutes",
            "shell",
            "tasks",
            "a",
            "resources",
            "timeout_seconds",
            "task_type",
            "text",
            "path",
        ]);
        let text = prop::sample::select(vec![
            "a", "b", "a, b", "text", "command", "FS", "", " a ", "\u{7}x", "12", "0.5",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i64..9).prop_map(Value::from),
            (-1.0..2.0f64).prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..8).prop_map(|fields| {
                    Value::Object(
                        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                    )
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn normalizing_is_idempotent(payload in prop::collection::vec(json_value(), 0..5)) {
            let (tasks, _) = read(&Value::from(payload));
            let again = serde_json::to_value(&tasks).unwrap();
            let (twice, report) = read(&again);
            prop_assert_eq!(&twice, &tasks);
            prop_assert_eq!(report, vec![]);
        }

        #[test]
        fn no_payload_panics(payload in json_value()) {
            let (tasks, _) = read(&payload);
            let ids: std::collections::BTreeSet<_> = tasks.iter().map(|task| &task.id).collect();
            prop_assert_eq!(ids.len(), tasks.len());
        }
    }
}
