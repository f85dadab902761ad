//! Whether a command of the plan may run now, where approving the plan was not enough.

use super::{new_request, skip_or_stop_choices};
use crate::request::RequestDetail;
use crate::{CallId, Choice, ChoiceAction, Digest, Request, RequestId, RequestKind};

/// A command of the plan that is asked about before it runs.
#[derive(Clone, Debug)]
pub struct CommandQuestion<'a> {
    pub call: &'a CallId,
    /// What the task is for.
    pub description: &'a str,
    pub command: &'a str,
    /// What the answer applies to: this command in this place.
    pub input: Digest,
    pub why: CommandAskReason,
    pub placement: CommandPlacement,
    /// What makes the command dangerous, if anything does.
    pub danger: Option<String>,
    /// How many tasks need this one.
    pub dependents: usize,
}

/// Why a command of the plan is asked about before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandAskReason {
    /// The policy wants every step asked.
    EveryStep,
    LowAutonomy,
    /// The plan was imported.
    ForeignPlan,
    /// A model wrote it, and it is dangerous.
    Dangerous {
        what: String,
    },
    /// A model wrote it, and no sandbox confines it.
    Unconfined {
        why: String,
    },
}

impl CommandAskReason {
    /// The reason in words.
    pub fn describe(&self) -> String {
        match self {
            Self::EveryStep => "your policy asks before every step".to_owned(),
            Self::LowAutonomy => "your policy asks before every command".to_owned(),
            Self::ForeignPlan => {
                "the plan was imported, and each of its commands is asked once".to_owned()
            }
            Self::Dangerous { what } => format!("a model wrote it, and {what}; this always asks"),
            Self::Unconfined { why } => {
                format!("a model wrote it, and no sandbox would confine it: {why}")
            }
        }
    }
}

/// Where and how a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandPlacement {
    /// As the person's own command.
    Unconfined { workspace: String },
    /// The sandbox keeps it in the workspace.
    Confined { workspace: String },
    /// It should be confined, but the sandbox cannot be enforced.
    BareEnvironment { workspace: String, why: String },
}

impl CommandPlacement {
    /// The folder in which it runs.
    pub fn workspace(&self) -> &str {
        match self {
            Self::Unconfined { workspace }
            | Self::Confined { workspace }
            | Self::BareEnvironment { workspace, .. } => workspace,
        }
    }

    /// What confines it, in words.
    pub fn describe_sandbox(&self) -> String {
        match self {
            Self::Unconfined { .. } => {
                "off: it can do what you can, as a command that you type".to_owned()
            }
            Self::Confined { .. } => {
                "on: writes only in this folder and a private temp folder".to_owned()
            }
            Self::BareEnvironment { why, .. } => {
                format!("missing: {why}; it gets no variables of yours, but nothing confines it")
            }
        }
    }
}

/// Whether a command of the plan may run now.
pub fn command_request(id: RequestId, command: &CommandQuestion<'_>) -> Request {
    let task = &command.call.task;
    let kind = RequestKind::Permission {
        call: command.call.clone(),
        tool: "shell".to_owned(),
        class: "execute".to_owned(),
        input: Some(command.input.clone()),
    };
    let question = "Allow this command?";
    let mut asked = new_request(id, kind, question, command.why.describe());
    asked.verbatim = vec![RequestDetail::new("Command", command.command)];
    asked.details = vec![
        RequestDetail::new("Asked by", format!("the plan, for {}", command.description)),
        RequestDetail::new("Where", command.placement.workspace()),
        RequestDetail::new("Sandbox", command.placement.describe_sandbox()),
    ];
    let danger = command.danger.as_deref();
    asked.details.extend(danger.map(|what| RequestDetail::new("Danger", what)));
    let allow = Choice::new(
        ChoiceAction::AllowOnce,
        "allow once",
        "exactly this command in this folder; any change asks again",
    );
    let is_distinct = |choice: &Choice| {
        command.dependents > 0 || choice.action != ChoiceAction::SkipWithDependents
    };
    asked.choices = std::iter::once(allow)
        .chain(skip_or_stop_choices(command.dependents).into_iter().filter(is_distinct))
        .collect();
    asked.task = Some(task.clone());
    asked
}
