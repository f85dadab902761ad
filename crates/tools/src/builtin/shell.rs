//! `shell.run`: a command that a model wrote, confined where the kernel can.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::read;
use crate::Toolbox;
use crate::context::{Progress, ToolContext};
use crate::limit;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::process::{self, CALL_VARIABLE, CallReport, Collected, ProcessSpec};
use crate::sandbox::{Cell, HELPER_FAILED};
use crate::tool::{Answer, Code, Tool, ToolError};
use crate::workspace::{ProtectedState, protected_state};
use planwright_model::event::CallOutcome;
use planwright_model::{Failure, ToolResult};

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Command line for /bin/sh
    #[schemars(length(min = 1, max = 60000))]
    command: String,
    /// Directory to run in, relative to the workspace
    #[serde(default = "here")]
    directory: String,
    /// Seconds after which it is ended
    #[schemars(range(min = 1))]
    timeout_seconds: Option<u64>,
    /// Whether it needs the network, which is asked for apart
    #[serde(default)]
    network: bool,
}

fn here() -> String {
    ".".to_owned()
}

pub(super) struct ShellRun(ToolMeta);

impl ShellRun {
    pub(super) fn new() -> Self {
        let about = "Run a command in the workspace. It cannot write elsewhere, has no network unless asked for, no terminal and no input.";
        let meta = ToolMeta::built_in::<Args>("shell.run", Effect::Execute, about);
        // The command has its own, shorter limit.
        Self(meta.within(Duration::from_secs(6 * 3600)))
    }
}

impl Tool for ShellRun {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        if wanted.command.trim().is_empty() || wanted.command.contains('\0') {
            return Err(ToolError::new(Code::BadArgs, "`command` is empty or holds a zero byte"));
        }
        let effect = if wanted.network { Effect::ExecuteNetwork } else { Effect::Execute };
        let place = context.toolbox.workspace().touch(&wanted.directory)?;
        let mut resolved = Resolved::new(effect, args.clone()).touching(place);
        resolved.command = Some(wanted.command);
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let wanted: Args = match read(&resolved.args) {
                Ok(wanted) => wanted,
                Err(error) => return error.into(),
            };
            let most = context.toolbox.settings().command_time;
            let time_limit = wanted
                .timeout_seconds
                .map_or(most, |seconds| Duration::from_secs(seconds).min(most));
            let ran = run(resolved, context, time_limit).await;
            match ran {
                Ok(ran) => ran.answer(context, |outcome| status(outcome).err()),
                Err(error) => error.into(),
            }
        })
    }
}

/// A command that came to its end.
pub(super) struct Ran {
    pub(super) collected: Collected,
    pub(super) confined: bool,
    protected_changes: Vec<String>,
    /// The check for protected files left something out: too much, or not readable.
    partly_checked: bool,
}

/// Runs the command of a resolved call, confined if that works here, and looks after protected files.
pub(super) async fn run(
    resolved: &Resolved,
    context: &ToolContext,
    time_limit: Duration,
) -> Result<Ran, ToolError> {
    let toolbox = &context.toolbox;
    let root = toolbox.workspace().root().to_owned();
    let settings = toolbox.settings();
    let network = resolved.effect == Effect::ExecuteNetwork;
    let roots = toolbox.workspace().roots().map(Path::to_owned);
    let cell = Cell::make(toolbox.sandbox(), settings, roots, network).map_err(|error| {
        ToolError::new(Code::Io, format!("making a private directory: {error}"))
    })?;
    let confined = cell.launcher.is_some();
    let place = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
    let spec = ProcessSpec {
        command: resolved.command.clone().unwrap_or_default(),
        directory: root.join(place),
        without: Vec::new(),
        with: vec![(CALL_VARIABLE.to_owned(), toolbox.mark(&context.call))],
        time_limit,
        output_limit: settings.kept_output_bytes,
        redactor: toolbox.redactor().clone(),
        launch: cell.launch(),
    };
    let before = look_at_protected(toolbox).await?;
    let collected = process::collect(
        spec,
        context.cancel.clone(),
        context.call.clone(),
        |report| match report {
            CallReport::Spawned { pid, started_ticks } => {
                context.report(Progress::Spawned { pid: *pid, started_ticks: *started_ticks });
            }
            CallReport::Output { stream, text } => {
                context.report(Progress::Output { stream: *stream, text: text.clone() });
            }
            CallReport::Ended { .. } => {}
        },
    )
    .await;
    let after = look_at_protected(toolbox).await?;
    let protected_changes = after.changed_since(&before);
    let partly_checked = before.is_cut() || after.is_cut();
    Ok(Ran { collected, confined, protected_changes, partly_checked })
}

/// The state of protected files in all roots. A large workspace takes a while, which must not hold others up.
async fn look_at_protected(toolbox: &Toolbox) -> Result<ProtectedState, ToolError> {
    let roots: Vec<PathBuf> = toolbox.workspace().roots().map(Path::to_owned).collect();
    let look = move || protected_state(roots.iter().map(PathBuf::as_path));
    tokio::task::spawn_blocking(look).await.map_err(|error| {
        ToolError::new(Code::Internal, format!("comparing protected files failed: {error}"))
    })
}

impl Ran {
    /// Makes an answer of it. `judge` says what is wrong with how the command ended.
    pub(super) fn answer(
        self,
        context: &ToolContext,
        judge: impl FnOnce(&CallOutcome) -> Option<ToolError>,
    ) -> Answer {
        let Self { collected, confined, protected_changes, partly_checked } = self;
        let most = context.toolbox.settings().model_output_bytes;
        let output = planwright_text::clean(&collected.output);
        let shown = limit::middle(&output, most);
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
            helper_failed(&collected).or_else(|| judge(&collected.outcome))
        } else {
            let names = protected_changes.join(", ");
            Some(ToolError::new(
                Code::ProtectedChanged,
                format!(
                    "the command changed protected files ({names}); look at them before going on"
                ),
            ))
        };
        let mut result = match error {
            None => ToolResult::success(data),
            Some(error) => ToolResult::failure_with(&Failure::from(error), data),
        };
        if !confined {
            result = result.explain("the command ran unconfined");
        }
        if partly_checked {
            result = result.explain(
                "not all protected files could be compared: the workspace is too large, or a part of it cannot be read",
            );
        }
        let full_output = cut.then(|| output.into_owned());
        let mut answer = Answer { full_output, protected_changes, ..Answer::from(result) };
        answer.writes.clear();
        answer
    }
}

fn helper_failed(collected: &Collected) -> Option<ToolError> {
    let failed = collected.outcome == CallOutcome::Exited { code: HELPER_FAILED }
        && collected.output.starts_with("planwright: the command was not started");
    failed.then(|| ToolError::new(Code::Sandbox, collected.output.trim().to_owned()))
}

/// What the end of a command means, success being the status 0.
pub(super) fn status(outcome: &CallOutcome) -> Result<(), ToolError> {
    match outcome {
        CallOutcome::Exited { code: 0 } => Ok(()),
        CallOutcome::Exited { code } => {
            Err(ToolError::new(Code::ExitStatus, format!("the command ended with status {code}")))
        }
        CallOutcome::Signalled { signal } => {
            Err(ToolError::new(Code::ExitStatus, format!("signal {signal} ended the command")))
        }
        CallOutcome::TimedOut { limit_seconds } => Err(ToolError::new(
            Code::Timeout,
            format!("it took longer than {limit_seconds} s and was ended"),
        )),
        CallOutcome::Cancelled => Err(ToolError::new(Code::Cancelled, "the task was cancelled")),
        CallOutcome::CouldNotStart { message } => Err(ToolError::new(Code::Io, message.clone())),
        other => Err(ToolError::new(Code::Internal, format!("the command ended as {other:?}"))),
    }
}
