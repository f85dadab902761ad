//! `parallel_execute`: up to 32 tasks with dependencies, in batches.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::batches::{self, Needs};
use super::explore::{check_tools, narrowed};
use super::{Outcome, finished, joined, tell};
use crate::builtin::read;
use crate::context::{ChildState, HeldPermit, PARALLEL, ToolContext, ToolFilter};
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::subtasks::SubtaskRequest;
use crate::tool::{Answer, Code, Tool, ToolError};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct Args {
    #[schemars(length(min = 1, max = 32))]
    tasks: Vec<Task>,
    /// For the position of a task (from 0), the positions of the tasks it waits for
    #[serde(default)]
    dependencies: BTreeMap<String, Vec<usize>>,
    /// Run tasks even if one they depend on failed
    #[serde(default)]
    continue_on_error: bool,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Task {
    /// What to do
    #[schemars(length(min = 1, max = 4000))]
    description: String,
    /// Only these tools, if any are named
    tools: Option<BTreeSet<String>>,
    /// A single call that is the whole task
    call: Option<Call>,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Call {
    tool: String,
    args: BTreeMap<String, Value>,
}

pub(crate) struct ParallelExecute(ToolMeta);

impl ParallelExecute {
    pub(crate) fn new() -> Self {
        let about = "Carry out several tasks at once, with dependencies between them. Tasks may use every tool but this one. Each result has at most 1,500 characters.";
        let mut meta = ToolMeta::built_in::<Args>(PARALLEL, Effect::Orchestrate, about);
        meta.repeat = crate::meta::RepeatKind::Unsafe;
        Self(meta.within(Duration::from_secs(6 * 3600)))
    }
}

impl Tool for ParallelExecute {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    /// Range, loops and tools are checked here, before anything starts.
    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        batches::needs(wanted.tasks.len(), &wanted.dependencies)?;
        for task in &wanted.tasks {
            let called = task.call.as_ref().map(|call| BTreeSet::from([call.tool.clone()]));
            check_tools(task.tools.as_ref(), &ToolFilter::executing(), context)?;
            check_tools(called.as_ref(), &ToolFilter::executing(), context)?;
        }
        Ok(Resolved::new(Effect::Orchestrate, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match read::<Args>(&resolved.args) {
                Ok(wanted) => execute(&wanted, context).await,
                Err(error) => error.into(),
            }
        })
    }
}

async fn execute(wanted: &Args, context: &ToolContext) -> Answer {
    let (needs, inferred) = match edges(wanted, context).await {
        Ok(edges) => edges,
        Err(error) => return error.into(),
    };
    let order = match batches::batches(&needs) {
        Ok(order) => order,
        Err(error) => return error.into(),
    };
    let mut outcomes: Vec<Option<Outcome>> = vec![None; wanted.tasks.len()];
    let work = async {
        for batch in &order {
            let ended = &outcomes;
            let runs = batch
                .iter()
                .map(|position| one(*position, wanted, &needs[*position], ended, context));
            let done = join_all(runs).await;
            for (position, outcome) in batch.iter().zip(done) {
                outcomes[*position] = Some(outcome);
            }
        }
    };
    context.lend_permit(work).await;
    let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
    let mut data = json!({ "results": outcomes, "batches": order });
    if !inferred.is_empty() {
        data["inferred_dependencies"] = json!(inferred);
    }
    joined(&outcomes, data).into()
}

/// The stated edges or, where none are stated, those that a model or the words of the tasks suggest.
async fn edges(wanted: &Args, context: &ToolContext) -> Result<(Needs, Vec<Value>), ToolError> {
    let count = wanted.tasks.len();
    let mut needs = batches::needs(count, &wanted.dependencies)?;
    if !wanted.dependencies.is_empty() || count < 2 {
        return Ok((needs, Vec::new()));
    }
    let words: Vec<String> = wanted.tasks.iter().map(|task| task.description.clone()).collect();
    let said = match &context.toolbox.services().edges {
        Some(model) => model.edges(&words, context).await,
        None => None,
    };
    let found = match said {
        Some(edges) => batches::accept(count, edges),
        None => batches::infer_edges(&words),
    };
    let mut shown = Vec::new();
    for (from, to, why) in found {
        needs[to].insert(from);
        shown.push(json!({ "from": from, "to": to, "origin": "inferred", "why": why }));
    }
    Ok((needs, shown))
}

async fn one(
    position: usize,
    wanted: &Args,
    needs: &BTreeSet<usize>,
    ended: &[Option<Outcome>],
    context: &ToolContext,
) -> Outcome {
    let task = &wanted.tasks[position];
    let most = context.toolbox.settings().result_char_limit;
    let filter = narrowed(ToolFilter::executing(), task.tools.as_ref(), context);
    let watched = context.child(position, filter.clone(), HeldPermit::default());
    tell(context, &watched, &task.description, ChildState::Waiting);
    let before: Vec<&Outcome> = needs.iter().filter_map(|other| ended[*other].as_ref()).collect();
    let failed =
        needs.iter().find(|other| ended[**other].as_ref().is_none_or(|outcome| !outcome.ok));
    let outcome = if let Some(other) = failed.filter(|_| !wanted.continue_on_error) {
        let why = format!("skipped: task {other}, which it needs, did not succeed");
        Outcome::skipped(&task.description, &why, most)
    } else {
        let permit = context.toolbox.permits().acquire_unless(&context.cancel).await;
        let held = permit.map(HeldPermit::new).unwrap_or_default();
        let child = context.child(position, filter, held);
        tell(context, &child, &task.description, ChildState::Started);
        let inputs = before.iter().map(|outcome| outcome.text.clone()).collect();
        let result = carry_out(task, inputs, &child).await;
        Outcome::of(&task.description, &result, false, most)
    };
    tell(context, &watched, &task.description, finished(&outcome));
    outcome
}

async fn carry_out(task: &Task, inputs: Vec<String>, child: &ToolContext) -> ToolResult {
    if child.cancel.is_cancelled() {
        return ToolResult::failure(
            &ToolError::new(Code::Cancelled, "the task was cancelled").into(),
        );
    }
    if let Some(call) = &task.call {
        return child.nested(&call.tool, json!(call.args)).await.result;
    }
    match child.toolbox.services().subtasks.clone() {
        Some(subtasks) => {
            let request = SubtaskRequest { description: task.description.clone(), inputs };
            subtasks.run(&request, child).await
        }
        None => ToolResult::failure(
            &ToolError::new(Code::NotConfigured, "nobody can carry out tasks here").into(),
        ),
    }
}
