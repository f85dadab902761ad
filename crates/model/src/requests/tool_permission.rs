//! Whether an agent may call a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::new_request;
use crate::event::RiskClass;
use crate::request::RequestDetail;
use crate::{CallId, Choice, ChoiceAction, Request, RequestId, RequestKind};

/// A tool call that the person is asked about.
#[derive(Clone, Debug)]
pub struct ToolCallQuestion<'a> {
    pub call: &'a CallId,
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
    /// Whether a command may reach the network.
    pub has_network: bool,
    /// Why no sandbox confines it, if none does.
    pub unconfined: Option<&'a str>,
    /// What a wider permission would allow, where one can be given.
    pub rule: Option<String>,
}

/// Why the person is asked about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
                format!("{path} changes what other programs do by themselves, so it always asks")
            }
            Self::Dangerous { what } => format!("{what}, so it always asks"),
            Self::Unsandboxed { why } => format!("the command would not be confined: {why}"),
            Self::NewForeignTool => "this tool of another program has not been approved yet".into(),
            Self::ChangedForeignTool => {
                "the description or arguments of this tool changed since you approved it".into()
            }
            Self::InDoubt => "it is not known whether this call already took place".into(),
            Self::FirstAfterImport => "it is the first call after an import".into(),
            Self::Repeated { times } => {
                format!("the same call was made {times} times in a row")
            }
            Self::Strict => "the policy strict_every_step asks for each call".into(),
            Self::NotListedForPhase { class } => {
                format!("the approved plan lists no {} for this phase", class_label(*class))
            }
            Self::NotAllowedYet { class } => {
                format!("nothing allows this {} yet", class_label(*class))
            }
        }
    }
}

/// What a call of a class does, as a noun.
fn class_label(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "reading",
        RiskClass::Write => "writing",
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
        input: None,
    };
    let question = format!("May {} call {}?", ask.call.task, ask.tool);
    let mut asked = new_request(id, kind, question, ask.why.describe());
    asked.verbatim = verbatim_details(ask);
    if ask.has_network {
        asked.details.push(RequestDetail::new("network", "the command may reach any address"));
    }
    if let (Some(_), Some(why)) = (ask.command, ask.unconfined) {
        asked.details.push(RequestDetail::new("sandbox", format!("it runs unconfined: {why}")));
    }
    asked.choices = permission_choices(ask.rule.as_deref());
    asked.task = Some(ask.call.task.clone());
    asked
}

fn permission_choices(rule: Option<&str>) -> Vec<Choice> {
    let mut choices = vec![Choice::new(
        ChoiceAction::AllowOnce,
        "allow once",
        "this very call, and nothing else",
    )];
    if let Some(rule) = rule {
        choices.push(Choice::new(ChoiceAction::AllowForSession, "for this session", rule));
        choices.push(Choice::new(
            ChoiceAction::AllowAlways,
            "always",
            format!("{rule}; kept in your config"),
        ));
    }
    choices.push(Choice::new(ChoiceAction::Deny, "deny", "say why; the agent reads it"));
    choices.push(Choice::new(
        ChoiceAction::StopTask,
        "stop the task",
        "it fails; the rest goes on",
    ));
    choices
}

/// What the call touches, to be shown byte for byte.
fn verbatim_details(ask: &ToolCallQuestion<'_>) -> Vec<RequestDetail> {
    let mut verbatim = Vec::new();
    if let Some(command) = ask.command {
        verbatim.push(RequestDetail::new("command", command));
    }
    if let Some(url) = ask.url {
        verbatim.push(RequestDetail::new("address", url));
    }
    match ask.directory {
        Some(".") => {}
        Some(directory) => verbatim.push(RequestDetail::new("directory", directory)),
        None => verbatim.extend(ask.files.iter().map(|file| RequestDetail::new("file", *file))),
    }
    // A tool of somebody else: nobody knows what its arguments touch, so that all of them are shown.
    if verbatim.is_empty() || ask.is_foreign {
        let args = serde_json::to_string_pretty(ask.args).unwrap_or_default();
        verbatim.push(RequestDetail::new("arguments", args));
    }
    if let Some(preview) = ask.preview {
        let name = if ask.is_foreign { "what it says it does" } else { "change" };
        verbatim.push(RequestDetail::new(name, preview));
    }
    verbatim
}
