//! `explore_context`: up to eight questions at once, with tools that only look.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::questions::Run;
use super::{Outcome, finished, joined, tell};
use crate::builtin::read;
use crate::context::{ChildState, EXPLORE, HeldPermit, ToolContext, ToolFilter};
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::subtasks::SubtaskRequest;
use crate::tool::{Answer, Code, Tool, ToolError};
use planwright_model::Digest;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// What to find out; each question is looked into on its own
    #[schemars(length(min = 1, max = 8), inner(length(min = 1, max = 2000)))]
    questions: Vec<String>,
    /// Only these tools, if any are named
    tools: Option<BTreeSet<String>>,
}

pub(crate) struct ExploreContext(ToolMeta);

impl ExploreContext {
    pub(crate) fn new() -> Self {
        let about = "Look into several questions about the workspace or the web at once. Only looks, changes nothing. Each answer has at most 1,500 characters.";
        let meta = ToolMeta::built_in::<Args>(EXPLORE, Effect::Orchestrate, about);
        Self(meta.within(Duration::from_secs(1800)).makes(&["context"]))
    }
}

impl Tool for ExploreContext {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        check_tools(wanted.tools.as_ref(), &ToolFilter::exploring(), context)?;
        Ok(Resolved::new(Effect::Orchestrate, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match read::<Args>(&resolved.args) {
                Ok(wanted) => explore(&wanted, context).await,
                Err(error) => error.into(),
            }
        })
    }
}

/// Tools that are named must exist and be among those that this caller may hand on.
pub(super) fn check_tools(
    named: Option<&BTreeSet<String>>,
    filter: &ToolFilter,
    context: &ToolContext,
) -> Result<(), ToolError> {
    let registry = context.toolbox.registry();
    for name in named.into_iter().flatten() {
        let tool = registry.get(name).ok_or_else(|| {
            ToolError::new(Code::BadArgs, format!("`tools` names {name}, which does not exist"))
        })?;
        if !filter.admits(tool.meta()) {
            return Err(ToolError::new(
                Code::NotAllowedHere,
                format!("{name} cannot be used in a subtask here"),
            ));
        }
    }
    Ok(())
}

/// The filter with the names a caller gave, by their full names.
pub(super) fn narrowed(
    mut filter: ToolFilter,
    named: Option<&BTreeSet<String>>,
    context: &ToolContext,
) -> ToolFilter {
    let registry = context.toolbox.registry();
    filter.only = named.map(|names| {
        names
            .iter()
            .filter_map(|name| registry.get(name))
            .map(|tool| tool.meta().name.clone())
            .collect()
    });
    filter
}

async fn explore(wanted: &Args, context: &ToolContext) -> Answer {
    let Some(subtasks) = context.toolbox.services().subtasks.clone() else {
        return ToolError::new(Code::NotConfigured, "nobody can look into questions here").into();
    };
    let filter = narrowed(ToolFilter::exploring(), wanted.tools.as_ref(), context);
    let most = context.toolbox.settings().result_char_limit;
    let workspace = context.toolbox.workspace().clone();
    let stamp = tokio::task::spawn_blocking(move || workspace.stamp(".")).await.unwrap_or_default();
    let run_one = |(position, question): (usize, &String)| {
        let (subtasks, filter) = (subtasks.clone(), filter.clone());
        let key = Digest::of_json(&json!({
            "question": question,
            "tools": wanted.tools,
            "workspace": stamp,
            "model": subtasks.model(),
        }));
        let question = question.clone();
        async move {
            let watched = context.child(position, filter.clone(), HeldPermit::default());
            tell(context, &watched, &question, ChildState::Waiting);
            let run = async {
                let permit = context.toolbox.permits().acquire_unless(&context.cancel).await;
                let held = permit.map(HeldPermit::new).unwrap_or_default();
                let child = context.child(position, filter, held);
                tell(context, &child, &question, ChildState::Started);
                let request = SubtaskRequest { description: question.clone(), inputs: Vec::new() };
                let result = subtasks.run(&request, &child).await;
                Run { result, used_network: child.used_network() }
            };
            let (result, cache_hit) = context.toolbox.questions().answer(key, run).await;
            let outcome = Outcome::of(&question, &result, cache_hit, most);
            tell(context, &watched, &question, finished(&outcome));
            outcome
        }
    };
    let outcomes =
        context.lend_permit(join_all(wanted.questions.iter().enumerate().map(run_one))).await;
    joined(&outcomes, json!({ "results": outcomes })).into()
}
