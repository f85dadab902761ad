//! Whether a call without a known outcome took place.

use planwright_text::units::format_counted;
use serde_json::Value;

use super::{new_request, skip_or_stop_choices};
use crate::request::RequestDetail;
use crate::{CallId, Choice, ChoiceAction, Request, RequestId, RequestKind, TaskId};

/// A call that was started before its process left, and whose outcome nobody saw.
#[derive(Clone, Debug)]
pub struct CallInDoubt<'a> {
    pub call: &'a CallId,
    /// The task of the plan that the call belongs to.
    pub task: &'a TaskId,
    /// What the task is called.
    pub title: &'a str,
    /// The tool that was called.
    pub tool: &'a str,
    /// Whether an agent made the call; else it is the command of the task.
    pub by_agent: bool,
    pub action: InDoubtAction<'a>,
    pub evidence: CallEvidence,
    /// How many lines of output were captured, and the last of them.
    pub output_lines: u64,
    pub last_line: &'a str,
    /// How many tasks need this one.
    pub dependents: usize,
}

/// What the call was to do.
#[derive(Clone, Copy, Debug)]
pub enum InDoubtAction<'a> {
    Command(&'a str),
    ToolCall { tool: &'a str, args: &'a Value },
}

impl InDoubtAction<'_> {
    fn to_detail(self) -> RequestDetail {
        match self {
            Self::Command(command) => RequestDetail::new("Command", command),
            Self::ToolCall { tool, args } => {
                if let Some(command) = args.get("command").and_then(Value::as_str) {
                    return RequestDetail::new("Command", command);
                }
                let args = serde_json::to_string_pretty(args).unwrap_or_default();
                RequestDetail::new("Call", format!("{tool} {args}"))
            }
        }
    }
}

/// What is known about the processes of a call in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEvidence {
    /// Planwright ended the process before the call was over.
    EndedHalfway,
    /// The process ended with Planwright; the call has no record of its own.
    EndedWithSession,
    /// No process is known of.
    NoProcess,
    ProcessGone(u32),
    /// Processes are at work after Planwright had gone.
    StillRunning(Vec<u32>),
    /// Processes were found at work after Planwright had gone, and were ended.
    FoundRunning(Vec<u32>),
}

impl CallEvidence {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::EndedHalfway => "Planwright stopped it before it was over".to_owned(),
            Self::EndedWithSession => "it was stopped when Planwright closed".to_owned(),
            Self::NoProcess => "it may not have started".to_owned(),
            Self::ProcessGone(pid) => format!("its process {pid} is gone"),
            Self::StillRunning(pids) => match pids.as_slice() {
                [pid] => format!("its process {pid} is still running"),
                several => format!("{} of its processes are still running", several.len()),
            },
            Self::FoundRunning(pids) => match pids.as_slice() {
                [pid] => format!("its process {pid} was still running and was stopped"),
                several => {
                    format!(
                        "{} of its processes were still running and were stopped",
                        several.len()
                    )
                }
            },
        }
    }
}

/// Whether a call without a known outcome took place.
pub fn in_doubt_request(id: RequestId, doubt: &CallInDoubt<'_>) -> Request {
    let title = doubt.title;
    let is_running = matches!(doubt.evidence, CallEvidence::StillRunning(_));
    let question = match doubt.by_agent {
        _ if is_running => "This command is still running. Wait for it?",
        true => "Did this call finish?",
        false => "Did this command finish?",
    };
    let why = if doubt.by_agent {
        format!("Planwright closed while {title} made this call, so how it ended is not known.")
    } else if is_running {
        format!("Planwright closed while {title} was running, and its command continued.")
    } else if matches!(doubt.evidence, CallEvidence::FoundRunning(_)) {
        format!("{title} was still running after Planwright had closed, and was stopped.")
    } else {
        format!("{title} was started, and how it ended is not known.")
    };
    let kind = RequestKind::InDoubt { call: doubt.call.clone() };
    let mut asked = new_request(id, kind, question, why);
    asked.verbatim = vec![doubt.action.to_detail()];
    asked.details = vec![
        evidence_detail(doubt),
        RequestDetail::new(
            "If repeated",
            "it may do its work twice; other tasks continue meanwhile",
        ),
    ];
    let outcomes = if is_running { running_choices(doubt) } else { outcome_choices(doubt).into() };
    asked.choices = outcomes.into_iter().chain(skip_or_stop_choices(doubt.dependents)).collect();
    asked.task = Some(doubt.task.clone());
    asked
}

fn evidence_detail(doubt: &CallInDoubt<'_>) -> RequestDetail {
    let last = match doubt.last_line {
        "" => String::new(),
        line => format!(", the last one: {line}"),
    };
    let lines = format_counted(doubt.output_lines as usize, "line");
    RequestDetail::new("Known", format!("{}; {lines} of output{last}", doubt.evidence.describe()))
}

/// What can be done about a command that is still running. Its exit code will not be known.
fn running_choices(doubt: &CallInDoubt<'_>) -> Vec<Choice> {
    let title = doubt.title;
    vec![
        Choice::new(
            ChoiceAction::KeepWaiting,
            "keep waiting",
            "you are asked again when its process has ended",
        ),
        Choice::new(
            ChoiceAction::RunAgain,
            "stop it and run it again",
            format!("its process is stopped, and {title} is started again"),
        ),
        Choice::new(
            ChoiceAction::Happened,
            "mark it done",
            format!("{title} is done; its process is not stopped"),
        ),
    ]
}

fn outcome_choices(doubt: &CallInDoubt<'_>) -> [Choice; 2] {
    let title = doubt.title;
    let (happened, again) = if doubt.by_agent {
        (
            "the agent continues after it, without its output".to_owned(),
            "the agent makes exactly this call again, then continues".to_owned(),
        )
    } else {
        (format!("{title} is done, with the output so far"), format!("{title} is started again"))
    };
    [
        Choice::new(ChoiceAction::Happened, "yes, it finished", happened),
        Choice::new(ChoiceAction::RunAgain, "run it again", again),
    ]
}
