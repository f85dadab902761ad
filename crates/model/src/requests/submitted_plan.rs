//! What agents of other programs ask through the approval desk: whether a plan of theirs is right, an answer, and
//! whether they may use a tool of their own.

use super::new_request;
use super::plan_approval::ProposedPlan;
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, Digest, Request, RequestId, RequestKind, TaskId};

/// Whether a plan that an agent submitted is right. Nothing but the person's answer approves it.
pub fn submitted_plan_request(id: RequestId, plan: &ProposedPlan<'_>, agent: &str) -> Request {
    let kind = RequestKind::FinalPlan { hash: plan.hash.clone(), revision: plan.revision };
    let why = format!("{agent} submitted it and waits for your decision.");
    let mut asked = new_request(id, kind, "Approve this plan?", why);
    asked.choices = vec![
        Choice::new(ChoiceAction::Approve, "approve", format!("{agent} carries it out")),
        Choice::new(
            ChoiceAction::ApproveAndRunHere,
            "approve and run here",
            format!("Planwright carries it out, {agent} does not"),
        ),
        Choice::new(
            ChoiceAction::RequestChanges,
            "request changes",
            format!("{agent} gets your words and comments"),
        ),
        Choice::new(
            ChoiceAction::Deny,
            "reject",
            format!("{agent} is told to stop, with your reason"),
        ),
    ];
    asked
}

/// A question that an agent of another program asks in words.
#[derive(Clone, Copy, Debug)]
pub struct DeskQuestionInWords<'a> {
    pub agent: &'a str,
    pub question: &'a str,
    /// Answers that the agent offers; words are always possible.
    pub choices: &'a [String],
    /// The task it is about, and its title.
    pub task: Option<(&'a TaskId, &'a str)>,
}

/// Asks the person on behalf of an agent of another program.
pub fn desk_question_request(id: RequestId, asks: DeskQuestionInWords<'_>) -> Request {
    let task = asks.task.map(|(task, _)| task.clone());
    let kind = RequestKind::DeskQuestion { task: task.clone() };
    let why = format!("{} asks and waits for your answer.", asks.agent);
    let mut asked = new_request(id, kind, asks.question, why);
    asked.details.extend(asks.task.map(|(_, title)| RequestDetail::new("Task", title)));
    asked.choices = vec![Choice::new(
        ChoiceAction::Reply,
        "answer",
        format!("{} continues with your words", asks.agent),
    )];
    let offered = (1u8..=9).zip(asks.choices).map(|(number, choice)| {
        let continues = format!("{} continues with this answer", asks.agent);
        Choice::new(ChoiceAction::PickOption(number), choice, continues)
    });
    asked.choices.extend(offered);
    asked.choices.push(Choice::new(
        ChoiceAction::Decline,
        "don't answer",
        format!("{} is told that you did not answer", asks.agent),
    ));
    asked.task = task;
    asked
}

/// A use of a tool that an agent of another program asks about.
#[derive(Clone, Debug)]
pub struct DeskPermissionQuestion<'a> {
    pub agent: &'a str,
    /// The agent's own name for the tool.
    pub tool: &'a str,
    /// The command, or the arguments as JSON, byte for byte.
    pub action: &'a str,
    pub is_command: bool,
    pub directory: &'a str,
    /// What the agent says it is for.
    pub reason: &'a str,
    /// What makes the command dangerous, if something does.
    pub danger: Option<&'a str>,
    pub digest: Digest,
}

/// Whether an agent of another program may use one of its tools. It runs in that program, not here.
pub fn desk_permission_request(id: RequestId, asks: &DeskPermissionQuestion<'_>) -> Request {
    let DeskPermissionQuestion { agent, tool, .. } = *asks;
    let kind = RequestKind::DeskPermission { tool: tool.to_owned(), action: asks.digest.clone() };
    let question = if asks.is_command { "Allow this command?" } else { "Allow this tool call?" };
    let why = match asks.danger {
        Some(danger) => format!("{agent} asks before it does this: {danger}."),
        None => format!("{agent} asks before it does this."),
    };
    let mut asked = new_request(id, kind, question, why);
    let label = if asks.is_command { "Command" } else { "Arguments" };
    asked.verbatim = vec![RequestDetail::new(label, asks.action)];
    asked.details = vec![RequestDetail::new("Tool", format!("{tool}, of {agent}"))];
    if !asks.directory.is_empty() {
        asked.details.push(RequestDetail::new("Where", asks.directory));
    }
    if !asks.reason.is_empty() {
        asked.details.push(RequestDetail::new("It says", asks.reason));
    }
    let sandbox =
        format!("{agent} runs it as its own settings say; Planwright does not confine it");
    asked.details.push(RequestDetail::new("Sandbox", sandbox));
    asked.choices = vec![
        Choice::new(ChoiceAction::AllowOnce, "allow once", "this call only"),
        Choice::new(
            ChoiceAction::AllowForSession,
            "allow for this conversation",
            format!("exactly this, whenever {agent} asks again in this conversation"),
        ),
        Choice::new(ChoiceAction::Deny, "deny", format!("{agent} is told why")),
    ];
    asked
}
