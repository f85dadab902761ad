//! `parallel_execute`: up to 32 tasks with dependencies, in batches.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::batches::{self, SubtaskDependencies};
use super::explore::{check_tools, narrow_filter};
use super::{SubtaskOutcome, finished_state, join_outcomes, report_child};
use crate::builtin::parse_args;
use crate::context::{HeldPermit, PARALLEL, ToolContext, ToolFilter};
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::subtasks::SubtaskRequest;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::ToolResult;
use planwright_model::agent_work::ChildState;

#[derive(Deserialize, JsonSchema)]
struct ParallelExecuteArgs {
    #[schemars(length(min = 1, max = 32))]
    tasks: Vec<ParallelTask>,
    /// For the position of a task (from 0), the positions of the tasks it waits for
    #[serde(default)]
    dependencies: BTreeMap<String, Vec<usize>>,
    /// Run tasks even if one they depend on failed
    #[serde(default)]
    continue_on_error: bool,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct ParallelTask {
    /// What to do
    #[schemars(length(min = 1, max = 4000))]
    description: String,
    /// Only these tools, if any are named
    tools: Option<BTreeSet<String>>,
    /// A single call that is the whole task
    call: Option<ParallelTaskCall>,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct ParallelTaskCall {
    tool: String,
    args: BTreeMap<String, Value>,
}

pub(crate) struct ParallelExecuteTool(ToolMeta);

impl ParallelExecuteTool {
    pub(crate) fn new() -> Self {
        let about = "Carry out several tasks at once, with dependencies between them. Tasks may use every tool but this one. Each result has at most 1,500 characters.";
        let mut meta =
            ToolMeta::built_in::<ParallelExecuteArgs>(PARALLEL, ToolEffect::Orchestrate, about);
        meta.repeat = crate::meta::RepeatKind::Unsafe;
        Self(meta.with_time_limit(Duration::from_secs(6 * 3600)))
    }
}

impl Tool for ParallelExecuteTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    /// Range, cycles and tools are checked here, before anything starts.
    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: ParallelExecuteArgs = parse_args(args)?;
        batches::parse_dependencies(parsed.tasks.len(), &parsed.dependencies)?;
        for task in &parsed.tasks {
            let called = task.call.as_ref().map(|call| BTreeSet::from([call.tool.clone()]));
            check_tools(task.tools.as_ref(), &ToolFilter::for_executing(), context)?;
            check_tools(called.as_ref(), &ToolFilter::for_executing(), context)?;
        }
        Ok(ResolvedCall::new(ToolEffect::Orchestrate, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            match parse_args::<ParallelExecuteArgs>(&resolved.args) {
                Ok(parsed) => execute_tasks(&parsed, context).await,
                Err(error) => error.into(),
            }
        })
    }
}

async fn execute_tasks(parsed: &ParallelExecuteArgs, context: &ToolContext) -> ToolAnswer {
    let (needs, inferred) = match resolve_dependencies(parsed, context).await {
        Ok(edges) => edges,
        Err(error) => return error.into(),
    };
    let order = match batches::dependency_batches(&needs) {
        Ok(order) => order,
        Err(error) => return error.into(),
    };
    let mut outcomes: Vec<Option<SubtaskOutcome>> = vec![None; parsed.tasks.len()];
    let work = async {
        for batch in &order {
            let ended = &outcomes;
            let runs = batch
                .iter()
                .map(|position| run_task(*position, parsed, &needs[*position], ended, context));
            let done = join_all(runs).await;
            for (position, outcome) in batch.iter().zip(done) {
                outcomes[*position] = Some(outcome);
            }
        }
    };
    context.release_permit_while(work).await;
    let outcomes: Vec<SubtaskOutcome> = outcomes.into_iter().flatten().collect();
    let mut data = json!({ "results": outcomes, "batches": order });
    if !inferred.is_empty() {
        data["inferred_dependencies"] = json!(inferred);
    }
    join_outcomes(&outcomes, data).into()
}

/// The stated edges or, if there are none, those suggested by a model or by the descriptions.
async fn resolve_dependencies(
    parsed: &ParallelExecuteArgs,
    context: &ToolContext,
) -> Result<(SubtaskDependencies, Vec<Value>), ToolError> {
    let count = parsed.tasks.len();
    let mut needs = batches::parse_dependencies(count, &parsed.dependencies)?;
    if !parsed.dependencies.is_empty() || count < 2 {
        return Ok((needs, Vec::new()));
    }
    let descriptions: Vec<String> =
        parsed.tasks.iter().map(|task| task.description.clone()).collect();
    let suggested = match &context.toolbox.services().edges {
        Some(model) => model.infer_edges(&descriptions, context).await,
        None => None,
    };
    let found = match suggested {
        Some(edges) => batches::accept_edges(count, edges),
        None => batches::infer_edges(&descriptions),
    };
    let mut shown = Vec::new();
    for (from, to, reason) in found {
        needs[to].insert(from);
        shown.push(json!({ "from": from, "to": to, "origin": "inferred", "why": reason }));
    }
    Ok((needs, shown))
}

async fn run_task(
    position: usize,
    parsed: &ParallelExecuteArgs,
    needs: &BTreeSet<usize>,
    ended: &[Option<SubtaskOutcome>],
    context: &ToolContext,
) -> SubtaskOutcome {
    let task = &parsed.tasks[position];
    let most = context.toolbox.settings().result_char_limit;
    let filter = narrow_filter(ToolFilter::for_executing(), task.tools.as_ref(), context);
    let watched = context.child_context(position, filter.clone(), HeldPermit::default());
    report_child(context, &watched, &task.description, ChildState::Waiting);
    let before: Vec<&SubtaskOutcome> =
        needs.iter().filter_map(|other| ended[*other].as_ref()).collect();
    let failed =
        needs.iter().find(|other| ended[**other].as_ref().is_none_or(|outcome| !outcome.ok));
    let outcome = if let Some(other) = failed.filter(|_| !parsed.continue_on_error) {
        let reason = format!("skipped: task {other}, which it needs, did not succeed");
        SubtaskOutcome::skipped(&task.description, &reason, most)
    } else {
        let permit = context.toolbox.permits().acquire_unless_cancelled(&context.cancel).await;
        let held = permit.map(HeldPermit::new).unwrap_or_default();
        let child = context.child_context(position, filter, held);
        report_child(context, &child, &task.description, ChildState::Started);
        let inputs = before.iter().map(|outcome| outcome.text.clone()).collect();
        let result = perform_task(task, inputs, &child).await;
        SubtaskOutcome::from_result(&task.description, &result, false, most)
    };
    report_child(context, &watched, &task.description, finished_state(&outcome));
    outcome
}

async fn perform_task(task: &ParallelTask, inputs: Vec<String>, child: &ToolContext) -> ToolResult {
    if child.cancel.is_cancelled() {
        return ToolResult::failure(
            &ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled").into(),
        );
    }
    if let Some(call) = &task.call {
        return child.call_nested(&call.tool, json!(call.args)).await.result;
    }
    match child.toolbox.services().subtasks.clone() {
        Some(subtasks) => {
            let request = SubtaskRequest { description: task.description.clone(), inputs };
            subtasks.run_subtask(&request, child).await
        }
        None => ToolResult::failure(
            &ToolError::new(ToolErrorCode::NotConfigured, "nobody can carry out tasks here").into(),
        ),
    }
}
