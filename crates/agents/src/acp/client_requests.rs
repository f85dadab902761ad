//! What an agent asks of us: leave to do something, files, and commands. Files go through the workspace boundary,
//! everything else through the one permission function.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::attempt::{OwnAgentAttempt, lock};
use super::connection::{AgentReply, INVALID_PARAMS, NOT_FOUND};
use super::permission::PermissionReply;
use super::terminals::terminal_command;
use super::tool_calls::CallDecision;
use planwright_model::{Category, ExecutionFailure};
use planwright_tools::{ActionTarget, AgentAction, ToolError, ToolErrorCode};

/// The largest file that an agent is given.
const MOST_FILE: u64 = 16 * 1024 * 1024;

impl OwnAgentAttempt<'_> {
    /// Decides about a call that the agent asks for, and answers it.
    pub(super) async fn answer_permission(&self, params: Value, reply: AgentReply) {
        let call = params.get("toolCall").cloned().unwrap_or(Value::Null);
        let options = params.get("options").cloned().unwrap_or(Value::Null);
        let asked = {
            let mut calls = lock(&self.calls);
            calls.update(&call).map(|call| {
                if !call.announced {
                    self.announce(call);
                }
                (call.number, call.target(), call.tool_word(), call.input.clone())
            })
        };
        let Some((number, target, tool, input)) = asked else {
            return reply.refuse(INVALID_PARAMS, "the request names no tool call");
        };
        let action = AgentAction::new(&self.agent.name, &tool, target.clone(), input);
        let invocation = self.invocation(number, action.tool_name(), action.arguments());
        let decided = self.run.services.toolbox.authorize(&invocation, action).await;
        let meant = match &decided {
            Ok(_) => PermissionReply::AllowOnce,
            Err(error) if error.code == ToolErrorCode::Cancelled => PermissionReply::Cancelled,
            Err(_) => PermissionReply::RejectOnce,
        };
        let (answer, fits) = meant.answer(&options);
        match decided {
            Ok(_) if fits => self.remember_allowed(number, &target),
            Ok(_) => self.refuse_without_once(number),
            Err(error) => self.refuse_call(number, &target, error),
        }
        reply.send(answer);
    }

    fn remember_allowed(&self, number: u32, target: &ActionTarget) {
        if let Some(call) = lock(&self.calls).by_number(number) {
            call.decision = CallDecision::Allowed;
            // The agent may have told its end before it asked.
            if call.observed {
                self.end_allowed(call, planwright_model::event::CallOutcome::GivenUp);
            }
        }
        let mut granted = lock(&self.granted);
        match target {
            ActionTarget::Command { command, .. } => granted.add_command(command),
            ActionTarget::Edit { paths, .. } => {
                for path in paths {
                    granted.add_path(path);
                }
            }
            _ => {}
        }
    }

    /// The agent offers no way to allow this once: it is not allowed for good instead.
    fn refuse_without_once(&self, number: u32) {
        let why = "the agent offers no answer that allows it once";
        if let Some(call) = lock(&self.calls).by_number(number) {
            self.end_allowed(call, planwright_model::event::CallOutcome::GivenUp);
        }
        self.record_denial(number, why);
        lock(&self.refusals).push(format!("- a call, because {why}"));
    }

    fn refuse_call(&self, number: u32, target: &ActionTarget, error: ToolError) {
        if error.code == ToolErrorCode::Cancelled {
            // It never began, which whoever continues must know.
            self.record_denial(number, "the run stopped before anybody answered");
            return;
        }
        let why = self.run.redact_text(&error.message);
        self.record_denial(number, &why);
        let ends = matches!(
            error.code,
            ToolErrorCode::Stopped | ToolErrorCode::NeedsPerson | ToolErrorCode::NotJournaled
        );
        if ends {
            *lock(&self.stop) = Some(ExecutionFailure::from(error));
            return;
        }
        let what = match target {
            ActionTarget::Command { command, .. } => format!("the command `{command}`"),
            ActionTarget::Edit { paths, .. } => format!("to change {}", paths.join(", ")),
            ActionTarget::Read { paths } => format!("to read {}", paths.join(", ")),
            ActionTarget::Fetch { url } => format!("to fetch {url}"),
            ActionTarget::Other => "a call".to_owned(),
        };
        lock(&self.refusals).push(format!("- {what}: {why}"));
    }

    /// Gives the agent a file of its copy.
    pub(super) async fn read_file(&self, params: Value, reply: AgentReply) {
        let Some(path) = params.get("path").and_then(Value::as_str).map(str::to_owned) else {
            return reply.refuse(INVALID_PARAMS, "the request names no path");
        };
        let number = |name: &str| params.get(name).and_then(Value::as_u64);
        let (line, limit) = (number("line").unwrap_or(1).max(1), number("limit"));
        let workspace = std::sync::Arc::clone(self.run.services.toolbox.workspace());
        let read = tokio::task::spawn_blocking(move || workspace.read(&path, MOST_FILE)).await;
        let text = match read {
            Ok(Ok(bytes)) => String::from_utf8(bytes)
                .map_err(|_| ToolError::new(ToolErrorCode::NotText, "the file is not UTF-8 text")),
            Ok(Err(error)) => Err(error),
            Err(error) => Err(ToolError::new(ToolErrorCode::Internal, error.to_string())),
        };
        match text {
            Ok(text) => {
                let lines = text.split_inclusive('\n').skip(line as usize - 1);
                let lines: String = match limit {
                    Some(limit) => lines.take(limit as usize).collect(),
                    None => lines.collect(),
                };
                reply.send(json!({ "content": lines }));
            }
            Err(error) => refuse_with(reply, &error),
        }
    }

    /// Writes a file of the agent's copy, as our own tool would.
    pub(super) async fn write_file(&self, params: Value, reply: AgentReply) {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let (Some(path), Some(content)) = (text("path"), text("content")) else {
            return reply.refuse(INVALID_PARAMS, "the request needs `path` and `content`");
        };
        let number = lock(&self.calls).nameless_number();
        let root = self.run.services.toolbox.workspace().root();
        let inside = std::path::Path::new(path).strip_prefix(root).ok();
        let named = inside.map_or_else(|| path.to_owned(), |path| path.display().to_string());
        let args = json!({ "path": path, "content": content });
        let mut call = self.invocation(number, "file.write", args);
        call.approved_before = lock(&self.granted).take_path(&named);
        let finished = self.run.services.toolbox.invoke(call).await;
        match finished.result.to_failure() {
            None => reply.send(json!({})),
            Some(failure) => {
                self.end_if_final(&failure);
                lock(&self.refusals).push(format!("- to write {named}: {}", failure.message));
                reply.refuse(INVALID_PARAMS, &failure.message);
            }
        }
    }

    /// Runs a command for the agent, in our sandbox and with our journal.
    pub(super) async fn create_terminal(&self, params: Value, reply: AgentReply) {
        let Some(command) = terminal_command(&params) else {
            return reply.refuse(INVALID_PARAMS, "the request names no command");
        };
        let directory = params.get("cwd").and_then(Value::as_str).unwrap_or(".").to_owned();
        let number = lock(&self.calls).nameless_number();
        let cancel = self.run.cancel.child_token();
        let args = json!({ "command": command, "directory": directory });
        let mut call = self.invocation(number, "shell.run", args);
        call.cancel = CancellationToken::clone(&cancel);
        call.approved_before = lock(&self.granted).take_command(&command);
        call.variables = terminal_variables(&params);
        let limit = params.get("outputByteLimit").and_then(Value::as_u64);
        let terminal = self.terminals.open(limit, cancel, reply);
        call.observer = Some(terminal.observer());
        let finished = self.run.services.toolbox.invoke(call).await;
        let failure = finished.result.to_failure();
        if let Some(failure) = &failure {
            self.end_if_final(failure);
            if matches!(failure.code.as_str(), "denied" | "refused") {
                lock(&self.refusals)
                    .push(format!("- the command `{command}`: {}", failure.message));
            }
        }
        terminal.finish(&finished.result);
    }

    /// Some failures end the attempt, whatever the agent would do next.
    fn end_if_final(&self, failure: &ExecutionFailure) {
        if matches!(failure.code.as_str(), "stopped" | "needs_person" | "not_journaled") {
            *lock(&self.stop) = Some(failure.clone());
        }
        // In the agent's own copy such files are asked about; one that changed all the same ends the attempt.
        if failure.code == "protected_changed" {
            let category = Category::Critical;
            let stop =
                ExecutionFailure::new("protected_changed", category, failure.message.clone());
            *lock(&self.stop) = Some(stop);
        }
    }
}

/// Variables that the agent wants its command to see.
fn terminal_variables(params: &Value) -> Vec<(String, String)> {
    let listed = params.get("env").and_then(Value::as_array).into_iter().flatten();
    let pair = |item: &Value| {
        let text = |name: &str| Some(item.get(name)?.as_str()?.to_owned());
        Some((text("name")?, text("value")?))
    };
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    listed.filter_map(pair).filter(|(name, _)| plain(name)).collect()
}

fn refuse_with(reply: AgentReply, error: &ToolError) {
    match error.code {
        ToolErrorCode::NotFound => {
            reply.refuse(NOT_FOUND, &format!("Resource not found: {}", error.message));
        }
        _ => reply.refuse(INVALID_PARAMS, &error.message),
    }
}
