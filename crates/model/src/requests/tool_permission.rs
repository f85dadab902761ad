//! Whether an agent may call a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::new_request;
use crate::event::RiskClass;
use crate::request::RequestDetail;
use crate::{CallId, Choice, ChoiceAction, Digest, Request, RequestId, RequestKind};

/// A tool call that the person is asked about.
#[derive(Clone, Debug)]
pub struct ToolCallQuestion<'a> {
    pub call: &'a CallId,
    /// What the task is called.
    pub title: &'a str,
    pub tool: &'a str,
    pub class: RiskClass,
    pub why: &'a AskReason,
    /// The command that it runs, the address that it fetches, where it runs and the files that it touches.
    pub command: Option<&'a str>,
    pub url: Option<&'a str>,
    pub directory: Option<&'a str>,
    pub files: Vec<&'a str>,
    pub args: &'a Value,
    /// The change that it makes, as far as it can be shown before.
    pub preview: Option<&'a str>,
    /// Whether the tool is of another program.
    pub is_foreign: bool,
    /// The person's own agent that asks, as it is called on screens; none for the built-in agent.
    pub asked_by: Option<&'a str>,
    /// Whether the task works in a copy of the workspace.
    pub in_copy: bool,
    /// What exactly is asked for, where the number of the call does not tell.
    pub input: Option<Digest>,
    /// Whether a command may reach the network.
    pub has_network: bool,
    /// Why no sandbox confines it, if none does.
    pub unconfined: Option<&'a str>,
    /// What a wider permission would allow, where one can be given.
    pub rule: Option<String>,
}

/// Why the person is asked about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum AskReason {
    ProtectedPath {
        path: String,
    },
    Dangerous {
        what: String,
    },
    Unsandboxed {
        why: String,
    },
    NewForeignTool,
    ChangedForeignTool,
    InDoubt,
    FirstAfterImport,
    Repeated {
        times: u32,
    },
    Strict,
    NotListedForPhase {
        class: RiskClass,
    },
    /// Nothing allows it.
    NotAllowedYet {
        class: RiskClass,
    },
}

impl AskReason {
    /// The reason in words.
    pub fn describe(&self) -> String {
        match self {
            Self::ProtectedPath { path } => {
                format!("{path} decides what other programs do on their own; this always asks")
            }
            Self::Dangerous { what } => format!("{what}; this always asks"),
            Self::Unsandboxed { why } => format!("no sandbox would confine the command: {why}"),
            Self::NewForeignTool => "you have not allowed this tool of another program yet".into(),
            Self::ChangedForeignTool => {
                "the description or arguments of this tool changed since you allowed it".into()
            }
            Self::InDoubt => "it is not known whether this call already finished".into(),
            Self::FirstAfterImport => "it is the first call after an import".into(),
            Self::Repeated { times } => {
                format!("the same call was made {times} times in a row")
            }
            Self::Strict => "your policy asks before every call".into(),
            Self::NotListedForPhase { class } => {
                format!("the approved plan allows no {} in this phase", class_label(*class))
            }
            Self::NotAllowedYet { class } => {
                format!("the approved plan does not contain this {}", class_label(*class))
            }
        }
    }
}

/// What a call of a class does, as a noun.
fn class_label(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "access to files",
        RiskClass::Write => "change to files",
        RiskClass::Execute => "command",
        RiskClass::Network => "network access",
    }
}

/// The class as a request stores it.
pub(super) fn class_name(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "read",
        RiskClass::Write => "write",
        RiskClass::Execute => "execute",
        RiskClass::Network => "network",
    }
}

/// Whether an agent may call a tool.
pub fn permission_request(id: RequestId, ask: &ToolCallQuestion<'_>) -> Request {
    let kind = RequestKind::Permission {
        call: ask.call.clone(),
        tool: ask.tool.to_owned(),
        class: class_name(ask.class).to_owned(),
        input: ask.input.clone(),
    };
    let mut asked = new_request(id, kind, call_question(ask), ask.why.describe());
    asked.verbatim = verbatim_details(ask);
    asked.details = call_facts(ask);
    asked.choices = permission_choices(ask.rule.as_deref());
    if let Some(agent) = ask.asked_by {
        let text = format!("{agent} is told \"once\" even if you allow more; the rule stays here");
        asked.details.push(RequestDetail::new("Answer", text));
    }
    asked.task = Some(ask.call.task.clone());
    asked
}

/// The question by what the call does.
fn call_question(ask: &ToolCallQuestion<'_>) -> &'static str {
    match ask.class {
        _ if ask.is_foreign => "Allow this tool call?",
        _ if ask.command.is_some() => "Allow this command?",
        RiskClass::Write => "Allow this edit?",
        RiskClass::Network => "Allow access to this address?",
        RiskClass::Read => "Allow reading this?",
        RiskClass::Execute => "Allow this tool call?",
    }
}

/// Who asks, where it happens, what confines it.
fn call_facts(ask: &ToolCallQuestion<'_>) -> Vec<RequestDetail> {
    let who = ask.asked_by.unwrap_or("the agent");
    let mut facts = vec![RequestDetail::new("Asked by", format!("{who}, for {}", ask.title))];
    if ask.is_foreign || ask.command.is_none() {
        facts.push(RequestDetail::new("Tool", ask.tool));
    }
    if ask.command.is_some() {
        // Another folder is among what must be seen byte for byte.
        let place = if ask.in_copy { "its own copy" } else { "this folder" };
        if matches!(ask.directory, None | Some(".")) {
            facts.push(RequestDetail::new("Where", place));
        }
        let network = match (ask.asked_by, ask.has_network) {
            (Some(_), _) => "network only to its hosts",
            (None, true) => "network allowed",
            (None, false) => "no network",
        };
        let sandbox = match ask.unconfined {
            None => format!("on: writes only in {place}, {network}"),
            Some(why) => format!("missing: {why}; nothing confines the command"),
        };
        facts.push(RequestDetail::new("Sandbox", sandbox));
    }
    facts
}

fn permission_choices(rule: Option<&str>) -> Vec<Choice> {
    let mut choices = vec![Choice::new(
        ChoiceAction::AllowOnce,
        "allow once",
        "exactly this; any change asks again",
    )];
    if let Some(rule) = rule {
        choices.push(Choice::new(ChoiceAction::AllowForSession, "allow for this session", rule));
        choices.push(Choice::new(
            ChoiceAction::AllowAlways,
            "always allow",
            format!("saved to your settings: {rule}"),
        ));
    }
    choices.push(Choice::new(
        ChoiceAction::Deny,
        "deny",
        "say why (optional); the agent reads it and continues without",
    ));
    choices.push(Choice::new(
        ChoiceAction::StopTask,
        "stop the task",
        "what needs it is skipped; the other tasks continue",
    ));
    choices
}

/// What the call touches, to be shown byte for byte.
fn verbatim_details(ask: &ToolCallQuestion<'_>) -> Vec<RequestDetail> {
    let mut verbatim = Vec::new();
    if let Some(command) = ask.command {
        verbatim.push(RequestDetail::new("Command", command));
    }
    if let Some(url) = ask.url {
        verbatim.push(RequestDetail::new("Address", url));
    }
    match ask.directory {
        Some(".") => {}
        Some(directory) => verbatim.push(RequestDetail::new("Folder", directory)),
        None => verbatim.extend(ask.files.iter().map(|file| RequestDetail::new("File", *file))),
    }
    // A tool of somebody else: nobody knows what its arguments touch, so that all of them are shown.
    if verbatim.is_empty() || ask.is_foreign {
        let args = serde_json::to_string_pretty(ask.args).unwrap_or_default();
        verbatim.push(RequestDetail::new("Arguments", args));
    }
    if let Some(preview) = ask.preview {
        let name = if ask.is_foreign { "What it says it does" } else { "Change" };
        verbatim.push(RequestDetail::new(name, preview));
    }
    verbatim
}
