//! "Find this out with these tools": what `explore_context` and `parallel_execute` hand to whoever can reason.

use futures_util::future::BoxFuture;

use super::context::ToolContext;
use planwright_model::ToolResult;

/// One piece of work for a nested agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubtaskRequest {
    /// The question or the task, in words.
    pub description: String,
    /// What came out of the subtasks it depends on, in their order.
    pub inputs: Vec<String>,
}

/// Runs subtasks. The context carries the filter of tools, the permit and the door to nested calls; a subtask uses
/// tools through [`ToolContext::nested`] alone.
pub trait SubtaskRunner: Send + Sync {
    fn run_subtask<'a>(
        &'a self,
        request: &'a SubtaskRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult>;

    /// Model name and version, part of the cache key; `offline` where none is used.
    fn model_name(&self) -> &str;
}

/// The task that comes first, the one that needs it, and how sure that is.
pub type InferredEdge = (usize, usize, f64);

/// Asks a model which task needs which. Used at most once for a set of tasks without dependencies.
pub trait EdgeInference: Send + Sync {
    /// Edges by position; none where the model could not be asked.
    fn infer_edges<'a>(
        &'a self,
        tasks: &'a [String],
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Option<Vec<InferredEdge>>>;
}
