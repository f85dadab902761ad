//! `explore_context`: up to eight questions at once, with read-only tools.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::question_cache::QuestionRun;
use super::{SubtaskOutcome, finished_state, join_outcomes, report_child};
use crate::builtin::parse_args;
use crate::context::{EXPLORE, HeldPermit, ToolContext, ToolFilter};
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::subtasks::SubtaskRequest;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::Digest;
use planwright_model::agent_work::ChildState;

#[derive(Deserialize, JsonSchema)]
struct ExploreContextArgs {
    /// What to find out; each question is looked into on its own
    #[schemars(length(min = 1, max = 8), inner(length(min = 1, max = 2000)))]
    questions: Vec<String>,
    /// Only these tools, if any are named
    tools: Option<BTreeSet<String>>,
}

pub(crate) struct ExploreContextTool(ToolMeta);

impl ExploreContextTool {
    pub(crate) fn new() -> Self {
        let about = "Look into several questions about the workspace or the web at once. Only looks, changes nothing. Each answer has at most 1,500 characters.";
        let meta =
            ToolMeta::built_in::<ExploreContextArgs>(EXPLORE, ToolEffect::Orchestrate, about);
        Self(meta.with_time_limit(Duration::from_secs(1800)).with_products(&["context"]))
    }
}

impl Tool for ExploreContextTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: ExploreContextArgs = parse_args(args)?;
        check_tools(parsed.tools.as_ref(), &ToolFilter::for_exploring(), context)?;
        Ok(ResolvedCall::new(ToolEffect::Orchestrate, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            match parse_args::<ExploreContextArgs>(&resolved.args) {
                Ok(parsed) => explore_questions(&parsed, context).await,
                Err(error) => error.into(),
            }
        })
    }
}

/// Named tools must exist and be among those that this caller may pass on.
pub(super) fn check_tools(
    named: Option<&BTreeSet<String>>,
    filter: &ToolFilter,
    context: &ToolContext,
) -> Result<(), ToolError> {
    let registry = context.toolbox.registry();
    for name in named.into_iter().flatten() {
        let tool = registry.get(name).ok_or_else(|| {
            ToolError::new(
                ToolErrorCode::BadArgs,
                format!("`tools` names {name}, which does not exist"),
            )
        })?;
        if !filter.admits(tool.meta()) {
            return Err(ToolError::new(
                ToolErrorCode::NotAllowedHere,
                format!("{name} cannot be used in a subtask here"),
            ));
        }
    }
    Ok(())
}

/// The filter narrowed to the tools named by a caller, by their full names.
pub(super) fn narrow_filter(
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

async fn explore_questions(parsed: &ExploreContextArgs, context: &ToolContext) -> ToolAnswer {
    let Some(subtasks) = context.toolbox.services().subtasks.clone() else {
        return ToolError::new(ToolErrorCode::NotConfigured, "nobody can look into questions here")
            .into();
    };
    let filter = narrow_filter(ToolFilter::for_exploring(), parsed.tools.as_ref(), context);
    let most = context.toolbox.settings().result_char_limit;
    let workspace = context.toolbox.workspace().clone();
    let stamp = tokio::task::spawn_blocking(move || workspace.change_stamp(".")).await;
    let stamp = stamp.unwrap_or_else(|error| {
        tracing::error!(%error, "the workspace cannot be looked at for changes");
        Value::Null
    });
    let run_one = |(position, question): (usize, &String)| {
        let (subtasks, filter) = (subtasks.clone(), filter.clone());
        let key = Digest::from_json(&json!({
            "question": question,
            "tools": parsed.tools,
            "workspace": stamp,
            "model": subtasks.model_name(),
        }));
        let question = question.clone();
        async move {
            let watched = context.child_context(position, filter.clone(), HeldPermit::default());
            report_child(context, &watched, &question, ChildState::Waiting);
            let run = async {
                let permit =
                    context.toolbox.permits().acquire_unless_cancelled(&context.cancel).await;
                let held = permit.map(HeldPermit::new).unwrap_or_default();
                let child = context.child_context(position, filter, held);
                report_child(context, &child, &question, ChildState::Started);
                let request = SubtaskRequest { description: question.clone(), inputs: Vec::new() };
                let result = subtasks.run_subtask(&request, &child).await;
                QuestionRun { result, used_network: child.used_network() }
            };
            let (result, cache_hit) = context.toolbox.question_cache().get_or_run(key, run).await;
            let outcome = SubtaskOutcome::from_result(&question, &result, cache_hit, most);
            report_child(context, &watched, &question, finished_state(&outcome));
            outcome
        }
    };
    let outcomes = context
        .release_permit_while(join_all(parsed.questions.iter().enumerate().map(run_one)))
        .await;
    join_outcomes(&outcomes, json!({ "results": outcomes })).into()
}
