//! `planwright tools call`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    ask, load_registry, report_server_failures, servers_for, unknown_tool_error, with_project,
};
use crate::app::App;
use crate::app::toolbox::ToolboxOptions;
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use planwright_engine::tool_services;
use planwright_model::CallId;
use planwright_model::permission::PermissionRule;
use planwright_store::Store;
use planwright_tools::context::CallProgress;
use planwright_tools::{
    CallConclusion, CallConditions, CallHost, CallIntent, PermissionAnswer, PermissionRequest,
    PinStatus, ToolInvocation, ToolPin,
};

/// Stands around calls from the command line: the person's rules decide, the person is asked if there is one.
struct CliCallHost {
    rules: Vec<PermissionRule>,
    grants: Mutex<Vec<PermissionRule>>,
    store: Store,
    scope: String,
    config: std::path::PathBuf,
    headless: bool,
    quiet: bool,
}

impl CallHost for CliCallHost {
    fn call_conditions(&self, _: &ToolInvocation) -> CallConditions {
        CallConditions {
            rules: self.rules.clone(),
            grants: self.grants.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..CallConditions::default()
        }
    }

    fn ask_permission<'a>(
        &'a self,
        asked: &'a PermissionRequest,
    ) -> BoxFuture<'a, PermissionAnswer> {
        Box::pin(async move {
            if self.headless || !ask::is_interactive() {
                ask::write_stderr(&format!(
                    "{} needs your answer: {}",
                    asked.tool,
                    asked.why.describe()
                ));
                if let Some(rule) = &asked.offers.rule {
                    ask::write_stderr(&format!(
                        "  a rule in the config would do: {}",
                        rule.describe()
                    ));
                }
                let approved = |pin: &ToolPin| pin.standing == PinStatus::Approved;
                if asked.resolved.pin.as_ref().is_some_and(|pin| !approved(pin)) {
                    ask::write_stderr(&format!(
                        "  planwright tools trust {} approves it",
                        asked.tool
                    ));
                }
                return PermissionAnswer::Nobody;
            }
            let shown = asked.clone();
            let answer = tokio::task::spawn_blocking(move || ask::ask_permission(&shown)).await;
            let answer = answer.unwrap_or(PermissionAnswer::Nobody);
            match &answer {
                PermissionAnswer::Session { rule } => {
                    self.grants.lock().unwrap_or_else(PoisonError::into_inner).push(rule.clone());
                }
                PermissionAnswer::Always { rule } => {
                    if let Err(error) = crate::config::add_rule(&self.config, rule) {
                        ask::write_stderr(&format!("the rule could not be kept: {error:#}"));
                    }
                }
                _ => {}
            }
            answer
        })
    }

    /// A call from the command line belongs to no session; the person who made it is its record.
    fn record_intent<'a>(&'a self, _: &'a CallIntent) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_conclusion<'a>(
        &'a self,
        conclusion: &'a CallConclusion,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let writes = tool_services::side_writes(conclusion, &self.scope);
            let store = self.store.clone();
            let kept = tokio::task::spawn_blocking(move || store.write_side_data(writes)).await;
            kept.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
        })
    }

    fn record_progress(&self, _: &CallId, progress: CallProgress) {
        if self.quiet {
            return;
        }
        match progress {
            CallProgress::Output { text, .. } => {
                for line in text.lines() {
                    ask::write_stderr(&planwright_text::clean_line(line));
                }
            }
            CallProgress::Child { title, state, .. } => {
                let state = serde_json::to_value(&state).unwrap_or_default();
                let word = state["state"].as_str().unwrap_or_default().to_owned();
                ask::write_stderr(&format!("{word}: {}", planwright_text::clean_line(&title)));
            }
            CallProgress::Spawned { .. } => {}
        }
    }
}

pub(super) async fn call_tool(
    shared: &SharedArgs,
    app: &App,
    name: &str,
    args: &str,
    workspace: Option<&Path>,
) -> anyhow::Result<CliExit> {
    let args: Value = serde_json::from_str(args).map_err(|error| {
        CliProblem::usage(format!("the arguments are not JSON: {error}"))
            .with_remedy("write them as '{\"name\": \"value\"}'")
    })?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let directory = workspace.map_or(here.clone(), |given| here.join(given));
    let app = &with_project(app, &directory)?;
    let store = app.open_store()?;
    let servers = servers_for(app, name);
    let (registry, reports) = load_registry(&servers).await;
    if registry.get(name).is_none() {
        servers.stop_all().await;
        return Err(match reports.into_iter().find_map(|report| report.outcome.err()) {
            Some(why) => CliProblem::failed(why)
                .with_remedy("planwright doctor looks at every server")
                .into(),
            None => unknown_tool_error(&registry, name),
        });
    }
    report_server_failures(&reports);
    let workspace =
        app.open_workspace(&directory).map_err(|error| CliProblem::usage(error.message))?;
    let scope = format!("workspace:{}", workspace.root().display());
    let call_host = CliCallHost {
        rules: crate::config::tool_settings::permission_rules(&app.settings),
        grants: Mutex::default(),
        store: store.clone(),
        scope: scope.clone(),
        config: app.config_path.clone(),
        headless: shared.headless,
        quiet: shared.json,
    };
    let toolbox = app.build_toolbox(
        &store,
        ToolboxOptions {
            registry,
            servers: servers.clone(),
            workspace,
            call_host: Arc::new(call_host),
            todo_scope: scope,
            session: format!("cli-{}", std::process::id()),
            jobs: app.settings.jobs.value.initial(),
            redactor: app.redactor(),
            subtasks: None,
        },
    );
    let id = CallId { task: "call".into(), attempt: 1, step: 1 };
    let mut call = ToolInvocation::new(id, name, args);
    call.cancel = signal_cancellation()?;
    let finished = toolbox.invoke(call).await;
    servers.stop_all().await;
    print_tool_result(shared, &finished.result)?;
    let code = finished.result.to_failure().map(|failure| failure.code);
    Ok(match code.as_deref() {
        None => CliExit::Success,
        Some("needs_person") => CliExit::NeedsPerson,
        Some("unknown_tool" | "bad_args") => CliExit::Usage,
        Some(_) => CliExit::Failed,
    })
}

fn print_tool_result(
    shared: &SharedArgs,
    result: &planwright_model::ToolResult,
) -> anyhow::Result<()> {
    let text = if shared.json {
        serde_json::to_string(result)?
    } else {
        serde_json::to_string_pretty(result)?
    };
    // JSON escapes controls by itself; what is left could still fool a terminal.
    StdoutWriter::new().write_line(&planwright_text::clean_text(&text))?;
    Ok(())
}

/// A token that a signal to end cancels, so that commands are ended before this process is.
fn signal_cancellation() -> anyhow::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let token = CancellationToken::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let mut signals = signal(kind).context("listening for signals")?;
        let token = token.clone();
        tokio::spawn(async move {
            signals.recv().await;
            token.cancel();
        });
    }
    Ok(token)
}
