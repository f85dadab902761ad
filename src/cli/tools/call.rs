//! `planwright tools call`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{ask, complain, in_directory, no_tool, registry, rules, servers_for};
use crate::app::App;
use crate::cli::{Exit, Out, Problem, Shared};
use planwright_engine::tool_services::{self, StoreServices};
use planwright_model::CallId;
use planwright_store::Store;
use planwright_tools::context::Progress;
use planwright_tools::offline::OfflineSubtasks;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::{
    Bracket, Conclusion, Intent, Parts, PermissionAnswer, PermissionAsk, Permits, Pin, PinStanding,
    Rule, Services, Standing, ToolCall, Toolbox, Workspace,
};

/// Stands around calls from the command line: the person's rules decide, the person is asked if there is one.
struct CommandLine {
    rules: Vec<Rule>,
    grants: Mutex<Vec<Rule>>,
    store: Store,
    scope: String,
    config: std::path::PathBuf,
    headless: bool,
    quiet: bool,
}

impl Bracket for CommandLine {
    fn standing(&self, _: &ToolCall) -> Standing {
        Standing {
            rules: self.rules.clone(),
            grants: self.grants.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..Standing::default()
        }
    }

    fn ask<'a>(&'a self, asked: &'a PermissionAsk) -> BoxFuture<'a, PermissionAnswer> {
        Box::pin(async move {
            if self.headless || !ask::somebody_is_there() {
                ask::say(&format!("{} needs your answer: {}", asked.tool, asked.why.words()));
                if let Some(rule) = &asked.offers.rule {
                    ask::say(&format!("  a rule in the config would do: {}", rule.words()));
                }
                let approved = |pin: &Pin| pin.standing == PinStanding::Approved;
                if asked.resolved.pin.as_ref().is_some_and(|pin| !approved(pin)) {
                    ask::say(&format!("  planwright tools trust {} approves it", asked.tool));
                }
                return PermissionAnswer::Nobody;
            }
            let shown = asked.clone();
            let answer = tokio::task::spawn_blocking(move || ask::at_the_prompt(&shown)).await;
            let answer = answer.unwrap_or(PermissionAnswer::Nobody);
            match &answer {
                PermissionAnswer::Session { rule } => {
                    self.grants.lock().unwrap_or_else(PoisonError::into_inner).push(rule.clone());
                }
                PermissionAnswer::Always { rule } => {
                    if let Err(error) = rules::add(&self.config, rule) {
                        ask::say(&format!("the rule could not be kept: {error:#}"));
                    }
                }
                _ => {}
            }
            answer
        })
    }

    /// A call from the command line belongs to no session; the person who made it is its record.
    fn intend<'a>(&'a self, _: &'a Intent) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn conclude<'a>(&'a self, conclusion: &'a Conclusion) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let writes = tool_services::side_writes(conclusion, &self.scope);
            let store = self.store.clone();
            let kept = tokio::task::spawn_blocking(move || store.keep(writes)).await;
            kept.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
        })
    }

    fn progress(&self, _: &CallId, progress: Progress) {
        if self.quiet {
            return;
        }
        match progress {
            Progress::Output { text, .. } => {
                for line in text.lines() {
                    ask::say(&planwright_text::clean_line(line));
                }
            }
            Progress::Child { title, state, .. } => {
                let state = serde_json::to_value(&state).unwrap_or_default();
                let word = state["state"].as_str().unwrap_or_default().to_owned();
                ask::say(&format!("{word}: {}", planwright_text::clean_line(&title)));
            }
            Progress::Spawned { .. } => {}
        }
    }
}

pub(super) async fn call(
    shared: &Shared,
    app: &App,
    name: &str,
    args: &str,
    workspace: Option<&Path>,
) -> anyhow::Result<Exit> {
    let args: Value = serde_json::from_str(args).map_err(|error| {
        Problem::usage(format!("the arguments are not JSON: {error}"))
            .remedy("write them as '{\"name\": \"value\"}'")
    })?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let directory = workspace.map_or(here.clone(), |given| here.join(given));
    let app = &in_directory(app, &directory)?;
    let store = app.open_store()?;
    let servers = servers_for(app, name);
    let (registry, reports) = registry(&servers).await;
    if registry.get(name).is_none() {
        servers.stop().await;
        return Err(match reports.into_iter().find_map(|report| report.outcome.err()) {
            Some(why) => {
                Problem::failed(why).remedy("planwright doctor looks at every server").into()
            }
            None => no_tool(&registry, name),
        });
    }
    complain(&reports);
    let places = tool_services::forbidden(app.data_dir(), &app.config_path);
    let workspace = Workspace::open(&directory, &app.settings.tools.roots, &places)
        .map_err(|error| Problem::usage(error.message))?;
    let scope = format!("workspace:{}", workspace.root().display());
    let services = StoreServices::new(&store);
    let toolbox = Toolbox::new(Parts {
        registry,
        servers: servers.clone(),
        workspace: Arc::new(workspace),
        settings: crate::config::tool_settings::tool_settings(&app.settings),
        sandbox: Sandbox::of_this_program(),
        services: Services {
            memory: Some(services.clone()),
            pins: Some(services.clone()),
            todo: Some(Arc::new({
                let (services, scope) = (services.clone(), scope.clone());
                move || services.todo(&scope)
            })),
            subtasks: Some(Arc::new(OfflineSubtasks)),
            edges: None,
        },
        permits: Permits::new(app.settings.jobs.value.initial() as usize),
        redactor: app.redactor(),
        bracket: Arc::new(CommandLine {
            rules: crate::config::tool_settings::rules(&app.settings),
            grants: Mutex::default(),
            store,
            scope,
            config: app.config_path.clone(),
            headless: shared.headless,
            quiet: shared.json,
        }),
        session: format!("cli-{}", std::process::id()),
    });
    let id = CallId { task: "call".into(), attempt: 1, step: 1 };
    let mut call = ToolCall::new(id, name, args);
    call.cancel = cancelled_by_signal()?;
    let finished = toolbox.invoke(call).await;
    servers.stop().await;
    report(shared, &finished.result)?;
    let code = finished.result.failed().map(|failure| failure.code);
    Ok(match code.as_deref() {
        None => Exit::Success,
        Some("needs_person") => Exit::NeedsPerson,
        Some("unknown_tool" | "bad_args") => Exit::Usage,
        Some(_) => Exit::Failed,
    })
}

fn report(shared: &Shared, result: &planwright_model::ToolResult) -> anyhow::Result<()> {
    let text = if shared.json {
        serde_json::to_string(result)?
    } else {
        serde_json::to_string_pretty(result)?
    };
    // JSON escapes controls by itself; what is left could still fool a terminal.
    Out::new().line(&planwright_text::clean(&text))?;
    Ok(())
}

/// A token that a signal to end cancels, so that commands are ended before this process is.
fn cancelled_by_signal() -> anyhow::Result<CancellationToken> {
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
