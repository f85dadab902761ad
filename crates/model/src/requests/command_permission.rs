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
            Self::EveryStep => "your policy has every step asked".to_owned(),
            Self::LowAutonomy => {
                "your policy gives low autonomy: every command is asked".to_owned()
            }
            Self::ForeignPlan => {
                "the plan came from elsewhere; each of its commands is asked".to_owned()
            }
            Self::Dangerous { what } => format!("a model wrote it: {what}, so it always asks"),
            Self::Unconfined { why } => {
                format!("a model wrote it, and it would run unconfined: {why}")
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
    /// The placement in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Unconfined { workspace } => {
                format!("{workspace}, unconfined, as your own command")
            }
            Self::Confined { workspace } => format!("{workspace}, and nothing outside it"),
            Self::BareEnvironment { workspace, why } => {
                format!("{workspace}, with a bare environment but unconfined: {why}")
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
    let question = format!("Run the command of {task}?");
    let mut asked = new_request(id, kind, question, command.why.describe());
    asked.verbatim = vec![RequestDetail::new("command", command.command)];
    asked.details = vec![
        RequestDetail::new("task", command.description),
        RequestDetail::new("runs in", command.placement.describe()),
    ];
    let danger = command.danger.as_deref();
    asked.details.extend(danger.map(|what| RequestDetail::new("danger", what)));
    let allow =
        Choice::new(ChoiceAction::AllowOnce, "allow once", "this very command, and nothing else");
    let is_distinct = |choice: &Choice| {
        command.dependents > 0 || choice.action != ChoiceAction::SkipWithDependents
    };
    asked.choices = std::iter::once(allow)
        .chain(skip_or_stop_choices(command.dependents).into_iter().filter(is_distinct))
        .collect();
    asked.task = Some(task.clone());
    asked
}
