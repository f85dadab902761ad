//! Subtasks: what `explore_context` and `parallel_execute` pass to a runner that can reason.

use futures_util::future::BoxFuture;

use super::context::ToolContext;
use planwright_model::ToolResult;

/// A unit of work for a nested agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubtaskRequest {
    /// The question or the task, as text.
    pub description: String,
    /// The results of the subtasks it depends on, in their order.
    pub inputs: Vec<String>,
}

/// Runs subtasks. The context carries the tool filter, the permit and the access to nested calls; a subtask uses tools
/// only through [`ToolContext::call_nested`].
pub trait SubtaskRunner: Send + Sync {
    fn run_subtask<'a>(
        &'a self,
        request: &'a SubtaskRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult>;

    /// Model name and version, part of the cache key; `offline` if none is used.
    fn model_name(&self) -> &str;
}

/// The task that comes first, the one that needs it, and the confidence.
pub type InferredEdge = (usize, usize, f64);

/// Asks a model which task needs which. Used at most once for a set of tasks without dependencies.
pub trait EdgeInference: Send + Sync {
    /// Edges by position; `None` if the model could not be asked.
    fn infer_edges<'a>(
        &'a self,
        tasks: &'a [String],
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Option<Vec<InferredEdge>>>;
}
