//! `explore_context` and `parallel_execute`: several subtasks at once, under the permits of the session.

mod batches;
mod execute;
mod explore;
mod question_cache;

#[cfg(test)]
mod tests;

pub use batches::infer_edges;
pub(super) use execute::ParallelExecuteTool;
pub(super) use explore::ExploreContextTool;
pub(crate) use question_cache::QuestionCache;

use serde::Serialize;
use serde_json::Value;

use crate::context::{CallProgress, ToolContext};
use crate::text_limit;
use planwright_model::agent_work::ChildState;
use planwright_model::{Category, ExecutionFailure, ToolResult};

/// The result of one subtask, as the caller reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct SubtaskOutcome {
    description: String,
    ok: bool,
    /// At most `result_char_limit` characters, including the truncation mark.
    text: String,
    confidence: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cache_hit: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skipped: bool,
}

impl SubtaskOutcome {
    fn from_result(description: &str, result: &ToolResult, cache_hit: bool, most: usize) -> Self {
        Self {
            description: description.to_owned(),
            ok: result.ok,
            text: text_limit::truncate_chars(&result_text(result), most),
            confidence: result.confidence,
            cache_hit,
            skipped: false,
        }
    }

    fn skipped(description: &str, reason: &str, most: usize) -> Self {
        Self {
            description: description.to_owned(),
            ok: false,
            text: text_limit::truncate_chars(reason, most),
            confidence: 0.0,
            cache_hit: false,
            skipped: true,
        }
    }
}

/// A result as text: its answer if it has one, otherwise its data.
fn result_text(result: &ToolResult) -> String {
    if let Some(failure) = result.to_failure() {
        return format!("failed ({}): {}", failure.code, failure.message);
    }
    match result.data.get("answer").or_else(|| result.data.get("text")) {
        Some(Value::String(text)) => text.clone(),
        _ => serde_json::to_string(&result.data).unwrap_or_default(),
    }
}

/// The answer to the caller: all outcomes in input order.
fn join_outcomes(outcomes: &[SubtaskOutcome], data: Value) -> ToolResult {
    let good = outcomes.iter().filter(|outcome| outcome.ok).count();
    if good == 0 {
        let failure = ExecutionFailure::new(
            "all_subtasks_failed",
            Category::Recoverable,
            "none of the subtasks succeeded",
        );
        return ToolResult::failure_with_data(&failure, data);
    }
    let sure =
        outcomes.iter().map(|outcome| outcome.confidence).sum::<f64>() / outcomes.len() as f64;
    ToolResult::success(data)
        .with_confidence(sure)
        .with_explanation(format!("{good} of {} succeeded", outcomes.len()))
}

/// Reports the progress of a subtask.
fn report_child(context: &ToolContext, child: &ToolContext, title: &str, state: ChildState) {
    let title = planwright_text::clean_line(title).into_owned();
    context.report_progress(CallProgress::Child { child: child.call.task.clone(), title, state });
}

fn finished_state(outcome: &SubtaskOutcome) -> ChildState {
    if outcome.skipped {
        return ChildState::Skipped { why: outcome.text.clone() };
    }
    ChildState::Finished {
        ok: outcome.ok,
        cache_hit: outcome.cache_hit,
        summary: text_limit::truncate_chars(&outcome.text, 200),
    }
}
