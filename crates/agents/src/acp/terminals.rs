//! Commands that an agent lets us run: each has a name, output that can be read while it runs, and an end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::attempt::lock;
use super::connection::{AgentReply, INVALID_PARAMS};
use super::tool_calls::join_words;
use planwright_model::ToolResult;
use planwright_tools::{CallObserver, CallProgress};

/// The most output that is kept for the agent.
const MOST_OUTPUT: usize = 1_000_000;

/// The commands of an attempt.
#[derive(Debug, Default)]
pub(super) struct AgentTerminals {
    open: Mutex<BTreeMap<String, Arc<AgentTerminal>>>,
    count: Mutex<u32>,
}

/// One command.
#[derive(Debug)]
pub(super) struct AgentTerminal {
    name: String,
    cancel: CancellationToken,
    state: Mutex<TerminalState>,
}

#[derive(Debug, Default)]
struct TerminalState {
    output: String,
    limit: usize,
    truncated: bool,
    /// How it ended, once it has.
    exit: Option<Value>,
    /// Waits for the command to start.
    starting: Option<AgentReply>,
    /// Wait for its end.
    waiting: Vec<AgentReply>,
}

/// The command line of a request: a command with arguments, or a line for the shell.
pub(super) fn terminal_command(params: &Value) -> Option<String> {
    let command = params.get("command")?.as_str().filter(|command| !command.trim().is_empty())?;
    let args = params.get("args").and_then(Value::as_array);
    let args: Vec<&str> = args.into_iter().flatten().filter_map(Value::as_str).collect();
    if args.is_empty() {
        return Some(command.to_owned());
    }
    Some(join_words(&[&[command], &args[..]].concat()))
}

impl AgentTerminals {
    /// Opens a command that is about to start; the reply waits for that.
    pub(super) fn open(
        &self,
        limit: Option<u64>,
        cancel: CancellationToken,
        reply: AgentReply,
    ) -> Arc<AgentTerminal> {
        let name = {
            let mut count = lock(&self.count);
            *count += 1;
            format!("term-{count}")
        };
        let limit = limit.map_or(MOST_OUTPUT, |limit| MOST_OUTPUT.min(limit as usize));
        let state = TerminalState { limit, starting: Some(reply), ..TerminalState::default() };
        let terminal =
            Arc::new(AgentTerminal { name: name.clone(), cancel, state: Mutex::new(state) });
        lock(&self.open).insert(name, Arc::clone(&terminal));
        terminal
    }

    /// Finds the command that a request names, or refuses the request.
    fn find(&self, params: &Value, reply: AgentReply) -> Option<(Arc<AgentTerminal>, AgentReply)> {
        let name = params.get("terminalId").and_then(Value::as_str).unwrap_or_default();
        let found = lock(&self.open).get(name).cloned();
        let Some(terminal) = found else {
            reply.refuse(INVALID_PARAMS, &format!("there is no terminal {name}"));
            return None;
        };
        Some((terminal, reply))
    }

    pub(super) fn answer_output(&self, params: &Value, reply: AgentReply) {
        let Some((terminal, reply)) = self.find(params, reply) else { return };
        let state = lock(&terminal.state);
        reply.send(json!({
            "output": state.output,
            "truncated": state.truncated,
            "exitStatus": state.exit,
        }));
    }

    pub(super) fn answer_at_exit(&self, params: &Value, reply: AgentReply) {
        let Some((terminal, reply)) = self.find(params, reply) else { return };
        let mut state = lock(&terminal.state);
        match &state.exit {
            Some(exit) => reply.send(exit.clone()),
            None => state.waiting.push(reply),
        }
    }

    pub(super) fn answer_kill(&self, params: &Value, reply: AgentReply) {
        let Some((terminal, reply)) = self.find(params, reply) else { return };
        terminal.cancel.cancel();
        reply.send(json!({}));
    }

    pub(super) fn answer_release(&self, params: &Value, reply: AgentReply) {
        let Some((terminal, reply)) = self.find(params, reply) else { return };
        terminal.cancel.cancel();
        lock(&self.open).remove(&terminal.name);
        reply.send(json!({}));
    }

    /// Ends what still runs.
    pub(super) fn end_all(&self) {
        for terminal in std::mem::take(&mut *lock(&self.open)).into_values() {
            terminal.cancel.cancel();
        }
    }
}

impl AgentTerminal {
    /// Takes in what the command reports while it runs.
    pub(super) fn observer(self: &Arc<Self>) -> CallObserver {
        let terminal = Arc::clone(self);
        CallObserver(Arc::new(move |progress: &CallProgress| {
            let mut state = lock(&terminal.state);
            match progress {
                CallProgress::Spawned { .. } => {
                    if let Some(reply) = state.starting.take() {
                        reply.send(json!({ "terminalId": terminal.name }));
                    }
                }
                CallProgress::Output { text, .. } => state.push_output(text),
                CallProgress::Child { .. } => {}
            }
        }))
    }

    /// The command is over, or never started.
    pub(super) fn finish(&self, result: &ToolResult) {
        let code = result.data.get("exit_code").and_then(Value::as_i64);
        let exit = json!({ "exitCode": code, "signal": null });
        let mut state = lock(&self.state);
        if let Some(reply) = state.starting.take() {
            let why = result.to_failure().map(|failure| failure.message).unwrap_or_default();
            reply.refuse(INVALID_PARAMS, &why);
        }
        for reply in std::mem::take(&mut state.waiting) {
            reply.send(exit.clone());
        }
        state.exit = Some(exit);
    }
}

impl TerminalState {
    /// Keeps the end of the output, as the protocol wants it.
    fn push_output(&mut self, text: &str) {
        self.output.push_str(text);
        let Some(extra) = self.output.len().checked_sub(self.limit).filter(|extra| *extra > 0)
        else {
            return;
        };
        let cut = (extra..=self.output.len()).find(|at| self.output.is_char_boundary(*at));
        self.output.drain(..cut.unwrap_or(extra));
        self.truncated = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_line_or_words() {
        let line = |params: Value| terminal_command(&params);
        assert_eq!(line(json!({"command": "a | b"})), Some("a | b".into()));
        assert_eq!(
            line(json!({"command": "git", "args": ["log", "x y"]})),
            Some("git log 'x y'".into())
        );
        assert_eq!(line(json!({"command": " "})), None);
    }

    #[test]
    fn the_end_of_the_output_is_kept() {
        let mut state = TerminalState { limit: 5, ..TerminalState::default() };
        state.push_output("äbc");
        state.push_output("def");
        assert_eq!((state.output.as_str(), state.truncated), ("bcdef", true));
    }
}
