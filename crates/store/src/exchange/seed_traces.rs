//! Traces in the format of the seed: one JSON object per attempt, as read by its `load_trace`.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::import_limits::{ImportError, MAX_BYTES, read_json};
use super::secret_policy::redact_value;
use super::transcript_import::ImportedTranscript;
use planwright_model::event::Record;
use planwright_model::{ReActStep, ReActTrace, StepAction, TaskId};
use planwright_text::Redactor;

/// The most bytes one trace file may have.
const MAX_TRACE_BYTES: u64 = 64 << 20;
/// How many files of a directory are read.
const MOST_FILES: usize = 10_000;

/// A trace as the seed writes it: exactly its keys, in its order.
pub fn trace_to_json(trace: &ReActTrace) -> Value {
    let steps: Vec<Value> = trace
        .steps
        .iter()
        .map(|step| {
            json!({
                "timestamp": format_iso(step.timestamp),
                "action": step.action,
                "content": step.content,
                "tool_used": step.tool_used,
                "tool_input": step.tool_input,
                "tool_output": step.tool_output,
                "confidence_score": step.confidence_score,
                "metadata": step.metadata,
            })
        })
        .collect();
    json!({
        "trace_id": trace.trace_id,
        "task_id": trace.task_id,
        "timestamp": trace.steps.first().map(|step| format_iso(step.timestamp)),
        "steps": steps,
        "final_answer": trace.final_answer,
        "total_tokens_used": trace.total_tokens_used,
        "execution_time_ms": trace.execution_time_ms,
        "success": trace.success,
        "error_message": trace.error_message,
    })
}

/// A time in the form every ISO 8601 parser accepts: six digits of a second and an explicit offset.
fn format_iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

/// A file name for a trace; ids may contain any character.
pub fn trace_file_name(trace_id: &str) -> String {
    let safe = |character: char| {
        if character.is_ascii_alphanumeric() || "-_.".contains(character) { character } else { '_' }
    };
    format!(
        "{}.json",
        trace_id.chars().map(safe).take(200).collect::<String>().trim_start_matches('.')
    )
}

/// Reads traces: one, an array of them, or all `.json` files of a directory.
pub fn read_traces(path: &Path, redactor: &Redactor) -> Result<Vec<ReActTrace>, ImportError> {
    let one = |file: &Path, most: u64| {
        let mut value = read_json(file, most)?;
        redact_value(redactor, &mut value);
        parse_traces(value)
    };
    if !path.is_dir() {
        return one(path, MAX_TRACE_BYTES);
    }
    let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let mut files: Vec<_> = std::fs::read_dir(path)
        .map_err(unreadable)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    if files.len() > MOST_FILES {
        let what = format!("{} files", files.len());
        return Err(ImportError::TooMuch { what, limit: MOST_FILES as u64 });
    }
    let (mut traces, mut remaining) = (Vec::new(), MAX_BYTES);
    for file in files {
        traces.extend(one(&file, MAX_TRACE_BYTES.min(remaining))?);
        remaining =
            remaining.saturating_sub(std::fs::metadata(&file).map_or(0, |found| found.len()));
    }
    Ok(traces)
}

fn parse_traces(value: Value) -> Result<Vec<ReActTrace>, ImportError> {
    let items = match value {
        Value::Array(items) => items,
        one => vec![one],
    };
    items.iter().enumerate().map(|(index, item)| parse_trace(item, index)).collect()
}

fn parse_trace(value: &Value, index: usize) -> Result<ReActTrace, ImportError> {
    let trace_error = |problem: &str| ImportError::Other(format!("trace {}: {problem}", index + 1));
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let task_id = TaskId::from(text("task_id").ok_or_else(|| trace_error("has no task_id"))?);
    let steps =
        value.get("steps").and_then(Value::as_array).ok_or_else(|| trace_error("has no steps"))?;
    let steps = steps
        .iter()
        .map(|step| {
            parse_step(step, &task_id).ok_or_else(|| trace_error("has a step that cannot be read"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(ReActTrace {
        trace_id: text("trace_id").unwrap_or_else(|| format!("{task_id}_{index}")),
        task_id,
        steps,
        final_answer: text("final_answer"),
        total_tokens_used: value.get("total_tokens_used").and_then(Value::as_u64).unwrap_or(0),
        execution_time_ms: value.get("execution_time_ms").and_then(Value::as_f64).unwrap_or(0.0),
        success: value.get("success").and_then(Value::as_bool).unwrap_or(false),
        error_message: text("error_message"),
    })
}

fn parse_step(value: &Value, task: &TaskId) -> Option<ReActStep> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let some = |name: &str| value.get(name).filter(|value| !value.is_null()).cloned();
    Some(ReActStep {
        timestamp: parse_time(text("timestamp")?)?,
        task_id: task.clone(),
        action: match text("action")? {
            "thought" => StepAction::Thought,
            "action" => StepAction::Action,
            "observation" => StepAction::Observation,
            _ => return None,
        },
        content: text("content").unwrap_or_default().to_owned(),
        tool_used: text("tool_used").map(str::to_owned),
        tool_input: some("tool_input"),
        tool_output: some("tool_output"),
        confidence_score: value.get("confidence_score").and_then(Value::as_f64),
        metadata: value
            .get("metadata")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_else(Map::new)
            .into(),
    })
}

/// Parses a time with an offset, or without one, which is then read as UTC.
fn parse_time(text: &str) -> Option<Timestamp> {
    let zoned = text.parse::<Timestamp>().ok();
    zoned.or_else(|| format!("{text}Z").parse().ok())
}

/// Converts the traces to a session.
pub fn session_from_traces(traces: &[ReActTrace], title: &str) -> Result<Vec<Record>, ImportError> {
    let mut transcript = ImportedTranscript::new("seed traces", title, "");
    transcript.record_traces(traces);
    transcript.finish()
}
