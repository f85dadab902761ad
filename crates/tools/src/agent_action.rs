//! What an agent of the person's own says it is about to do, as the permission function sees it.
//!
//! The agent makes the call itself, in its own sandbox. Here it is only resolved: what it touches is found out by the
//! workspace boundary, and rules that the person wrote for our own tools apply to the same thing done by an agent.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::context::ToolContext;
use super::meta::{RepeatKind, ResolvedCall, ToolEffect, ToolMeta};
use super::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};

/// What an action touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionTarget {
    /// A command line, and the directory it runs in.
    Command { command: String, directory: String },
    /// Files that it changes, and how, as far as the agent says.
    Edit { paths: Vec<String>, preview: Option<String> },
    /// Files that it only reads.
    Read { paths: Vec<String> },
    /// An address that it fetches.
    Fetch { url: String },
    /// Something that only the agent knows.
    Other,
}

/// An action of an agent, before it happens.
#[derive(Clone, Debug)]
pub struct AgentAction {
    meta: ToolMeta,
    target: ActionTarget,
    /// What the agent says about it, whole.
    input: Value,
}

impl AgentAction {
    /// `tool` names what the agent calls an action that is like none of our tools.
    pub fn new(agent: &str, tool: &str, target: ActionTarget, input: Value) -> Self {
        let (name, effect) = match &target {
            ActionTarget::Command { .. } => ("shell.run".to_owned(), ToolEffect::Execute),
            ActionTarget::Edit { .. } => ("file.edit".to_owned(), ToolEffect::Write),
            ActionTarget::Read { .. } => ("file.read".to_owned(), ToolEffect::Look),
            ActionTarget::Fetch { .. } => ("web.fetch".to_owned(), ToolEffect::Network),
            ActionTarget::Other => (format!("agent.{agent}.{tool}"), ToolEffect::Foreign),
        };
        let mut meta = ToolMeta::built_in::<Value>(&name, effect, "An action of an agent.");
        meta.schema = json!({ "type": "object" });
        // An edit touches only the agent's copy, where its result can be seen.
        meta.repeat = match effect {
            ToolEffect::Execute | ToolEffect::Foreign => RepeatKind::Unsafe,
            _ => RepeatKind::Pure,
        };
        Self { meta, target, input }
    }

    /// The name under which rules and the journal know it.
    pub fn tool_name(&self) -> &str {
        &self.meta.name
    }

    /// The arguments of the call: what our own tool would be given, else what the agent said.
    pub fn arguments(&self) -> Value {
        match &self.target {
            ActionTarget::Command { command, directory } => {
                json!({ "command": command, "directory": directory })
            }
            ActionTarget::Edit { paths, .. } | ActionTarget::Read { paths } => match &paths[..] {
                [one] => json!({ "path": one }),
                several => json!({ "path": several.first(), "paths": several }),
            },
            ActionTarget::Fetch { url } => json!({ "url": url }),
            ActionTarget::Other => match &self.input {
                Value::Object(_) => self.input.clone(),
                other => json!({ "input": other }),
            },
        }
    }
}

impl Tool for AgentAction {
    fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let workspace = context.toolbox.workspace();
        let mut resolved = ResolvedCall::new(self.meta.effect, args.clone());
        match &self.target {
            ActionTarget::Command { command, directory } => {
                if command.trim().is_empty() || command.contains('\0') {
                    let message = "the command is empty or holds a zero byte";
                    return Err(ToolError::new(ToolErrorCode::BadArgs, message));
                }
                resolved.paths.push(workspace.resolve_touched(directory)?);
                resolved.command = Some(command.clone());
            }
            ActionTarget::Edit { paths, preview } => {
                for path in paths {
                    resolved.paths.push(workspace.resolve_touched(path)?);
                }
                resolved.preview.clone_from(preview);
            }
            ActionTarget::Read { paths } => {
                for path in paths {
                    resolved.paths.push(workspace.resolve_touched(path)?);
                }
            }
            ActionTarget::Fetch { url } => {
                resolved.hosts.extend(host_in(url));
                resolved.url = Some(url.clone());
            }
            ActionTarget::Other => {}
        }
        Ok(resolved)
    }

    fn call<'a>(&'a self, _: &'a ResolvedCall, _: &'a ToolContext) -> BoxFuture<'a, ToolAnswer> {
        let message = "only the agent itself can do this";
        let error = ToolError::new(ToolErrorCode::NotAllowedHere, message);
        Box::pin(std::future::ready(error.into()))
    }
}

/// The host of an address, with its port where that is stated.
fn host_in(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.to_lowercase();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_known_by_the_names_of_our_own_tools() {
        let command = ActionTarget::Command { command: "make".into(), directory: ".".into() };
        let action = AgentAction::new("claude", "Bash", command, json!({ "command": "make" }));
        assert_eq!(action.tool_name(), "shell.run");
        assert_eq!(action.arguments()["directory"], ".");
        let other = AgentAction::new("claude", "switch_mode", ActionTarget::Other, json!("x"));
        assert_eq!(other.tool_name(), "agent.claude.switch_mode");
        assert_eq!(other.arguments(), json!({ "input": "x" }));
        assert_eq!(host_in("https://u@Example.org:8443/x?y"), Some("example.org:8443".into()));
        assert_eq!(host_in("nonsense"), None);
    }
}
