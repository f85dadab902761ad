//! `shell.run`: a command written by a model, confined where the kernel supports it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::parse_args;
use crate::Toolbox;
use crate::context::{CallProgress, ToolContext};
use crate::executor::AttemptEvent;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::process::{self, CALL_VARIABLE, CommandOutput, ProcessSpec};
use crate::sandbox::{CommandConfinement, HELPER_FAILED};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use crate::workspace::{ProtectedState, scan_protected_files};
use planwright_model::event::CallOutcome;
use planwright_model::{ExecutionFailure, StopSignal, ToolResult};

#[derive(Deserialize, JsonSchema)]
struct ShellRunArgs {
    /// Command line for /bin/sh
    #[schemars(length(min = 1, max = 60000))]
    command: String,
    /// Directory to run in, relative to the workspace
    #[serde(default = "default_directory")]
    directory: String,
    /// Seconds after which it is ended
    #[schemars(range(min = 1))]
    timeout_seconds: Option<u64>,
    /// Whether it needs the network; the person is asked about that separately
    #[serde(default)]
    network: bool,
}

fn default_directory() -> String {
    ".".to_owned()
}

pub(super) struct ShellRunTool(ToolMeta);

impl ShellRunTool {
    pub(super) fn new() -> Self {
        let about = "Run a command in the workspace. It can write only there, and read only there, in the system's directories and in what the person made readable. No network unless asked for, no terminal, no input.";
        let meta = ToolMeta::built_in::<ShellRunArgs>("shell.run", ToolEffect::Execute, about);
        // The command has its own, shorter limit.
        Self(meta.with_time_limit(Duration::from_secs(6 * 3600)))
    }
}

impl Tool for ShellRunTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: ShellRunArgs = parse_args(args)?;
        if parsed.command.trim().is_empty() || parsed.command.contains('\0') {
            return Err(ToolError::new(
                ToolErrorCode::BadArgs,
                "`command` is empty or holds a zero byte",
            ));
        }
        let effect = if parsed.network { ToolEffect::ExecuteNetwork } else { ToolEffect::Execute };
        let touched = context.toolbox.workspace().resolve_touched(&parsed.directory)?;
        let mut resolved = ResolvedCall::new(effect, args.clone()).with_path(touched);
        resolved.command = Some(parsed.command);
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let parsed: ShellRunArgs = match parse_args(&resolved.args) {
                Ok(parsed) => parsed,
                Err(error) => return error.into(),
            };
            let most = context.toolbox.settings().command_time;
            let time_limit = parsed
                .timeout_seconds
                .map_or(most, |seconds| Duration::from_secs(seconds).min(most));
            let ran = run_confined(resolved, context, time_limit).await;
            match ran {
                Ok(ran) => ran.into_answer(context, |outcome| check_status(outcome).err()),
                Err(error) => error.into(),
            }
        })
    }
}

/// A command that has ended.
pub(super) struct CompletedCommand {
    pub(super) collected: CommandOutput,
    pub(super) confined: bool,
    protected_changes: Vec<String>,
    /// The check for protected files was incomplete: too many files, or unreadable ones.
    partly_checked: bool,
}

/// Runs the command of a resolved call, confined if possible, and checks protected files afterward.
pub(super) async fn run_confined(
    resolved: &ResolvedCall,
    context: &ToolContext,
    time_limit: Duration,
) -> Result<CompletedCommand, ToolError> {
    let toolbox = &context.toolbox;
    let root = toolbox.workspace().root().to_owned();
    let settings = toolbox.settings();
    let network = resolved.effect == ToolEffect::ExecuteNetwork;
    let roots = toolbox.workspace().roots().map(Path::to_owned);
    let cell = CommandConfinement::prepare(toolbox.sandbox(), settings, roots, network).map_err(
        |error| ToolError::new(ToolErrorCode::Io, format!("confining the command: {error}")),
    )?;
    let confined = cell.launcher.is_some();
    let directory = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
    let spec = ProcessSpec {
        shell: Vec::new(),
        command: resolved.command.clone().unwrap_or_default(),
        directory: root.join(directory),
        without: Vec::new(),
        with: context
            .variables
            .iter()
            .cloned()
            .chain([(CALL_VARIABLE.to_owned(), toolbox.process_mark(&context.call))])
            .collect(),
        time_limit,
        output_limit: settings.kept_output_bytes,
        // The toolbox keeps all that a call printed beside the journal.
        spool: None,
        redactor: toolbox.redactor().clone(),
        launch: cell.launch_mode(),
        launcher: None,
        stop: StopSignal::default(),
    };
    let before = scan_protected_roots(toolbox).await?;
    let collected =
        process::run_and_collect(spec, context.cancel.clone(), context.call.clone(), |event| {
            match event {
                AttemptEvent::Spawned { pid, started_ticks } => {
                    context.report_progress(CallProgress::Spawned {
                        pid: *pid,
                        started_ticks: *started_ticks,
                    });
                }
                AttemptEvent::Output { stream, text }
                | AttemptEvent::Spooled { stream, text, .. } => {
                    context.report_progress(CallProgress::Output {
                        stream: *stream,
                        text: text.clone(),
                    });
                }
                // What only tasks of a plan have.
                AttemptEvent::Results { .. } | AttemptEvent::Ready => {}
            }
        })
        .await;
    let after = scan_protected_roots(toolbox).await?;
    let protected_changes = after.changed_since(&before);
    let partly_checked = before.is_incomplete() || after.is_incomplete();
    Ok(CompletedCommand { collected, confined, protected_changes, partly_checked })
}

/// The state of protected files in all roots. A large workspace takes a while, which must not block others.
async fn scan_protected_roots(toolbox: &Toolbox) -> Result<ProtectedState, ToolError> {
    let roots: Vec<PathBuf> = toolbox.workspace().roots().map(Path::to_owned).collect();
    let scan = move || scan_protected_files(roots.iter().map(PathBuf::as_path));
    tokio::task::spawn_blocking(scan).await.map_err(|error| {
        ToolError::new(
            ToolErrorCode::Internal,
            format!("comparing protected files failed: {error}"),
        )
    })
}

impl CompletedCommand {
    /// Converts the output to an answer. `check_outcome` decides what the exit status means.
    pub(super) fn into_answer(
        self,
        context: &ToolContext,
        check_outcome: impl FnOnce(&CallOutcome) -> Option<ToolError>,
    ) -> ToolAnswer {
        let Self { collected, confined, protected_changes, partly_checked } = self;
        let most = context.toolbox.settings().model_output_bytes;
        let output = planwright_text::clean_text(&collected.output);
        let shown = text_limit::truncate_middle(&output, most);
        let cut = collected.dropped_bytes > 0 || shown.len() < output.len();
        let data = json!({
            "exit_code": match collected.outcome { CallOutcome::Exited { code } => Some(code), _ => None },
            "output": shown,
            "output_bytes": collected.output_bytes,
            "dropped_bytes": collected.dropped_bytes,
            "truncated": cut,
            "confined": confined,
        });
        let error = if protected_changes.is_empty() {
            helper_failure(&collected).or_else(|| check_outcome(&collected.outcome))
        } else {
            let names = protected_changes.join(", ");
            Some(ToolError::new(
                ToolErrorCode::ProtectedChanged,
                format!(
                    "the command changed protected files ({names}); look at them before going on"
                ),
            ))
        };
        let mut result = match error {
            None => ToolResult::success(data),
            Some(error) => ToolResult::failure_with_data(&ExecutionFailure::from(error), data),
        };
        if !confined {
            result = result.with_explanation("the command ran unconfined");
        }
        if partly_checked {
            result = result.with_explanation(
                "not all protected files could be compared: the workspace is too large, or a part of it cannot be read",
            );
        }
        let full_output = cut.then(|| output.into_owned());
        let mut answer = ToolAnswer { full_output, protected_changes, ..ToolAnswer::from(result) };
        answer.writes.clear();
        answer
    }
}

fn helper_failure(collected: &CommandOutput) -> Option<ToolError> {
    let failed = collected.outcome == CallOutcome::Exited { code: HELPER_FAILED }
        && collected.output.starts_with("planwright: the command was not started");
    failed.then(|| ToolError::new(ToolErrorCode::Sandbox, collected.output.trim().to_owned()))
}

/// Interprets the end of a command; status 0 is success.
pub(super) fn check_status(outcome: &CallOutcome) -> Result<(), ToolError> {
    match outcome {
        CallOutcome::Exited { code: 0 } => Ok(()),
        CallOutcome::Exited { code } => Err(ToolError::new(
            ToolErrorCode::ExitStatus,
            format!("the command ended with status {code}"),
        )),
        CallOutcome::Signalled { signal } => Err(ToolError::new(
            ToolErrorCode::ExitStatus,
            format!("signal {signal} ended the command"),
        )),
        CallOutcome::TimedOut { limit_seconds } => Err(ToolError::new(
            ToolErrorCode::Timeout,
            format!("it took longer than {limit_seconds} s and was ended"),
        )),
        CallOutcome::Cancelled => {
            Err(ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled"))
        }
        CallOutcome::CouldNotStart { message } => {
            Err(ToolError::new(ToolErrorCode::Io, message.clone()))
        }
        other => {
            Err(ToolError::new(ToolErrorCode::Internal, format!("the command ended as {other:?}")))
        }
    }
}
