//! What an agent asks while it works on a task: an answer it needs, or what to do with work that is done in part.

use super::new_request;
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskNode};

/// A question of an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentInquiry<'a> {
    pub question: &'a str,
    /// Answers that the agent offers; words are always possible.
    pub choices: &'a [String],
    /// The call it asks with; none if it only wrote words.
    pub call: Option<u32>,
}

/// Asks the person on behalf of an agent. Other tasks continue meanwhile.
pub fn agent_question_request(
    id: RequestId,
    task: &TaskNode,
    inquiry: AgentInquiry<'_>,
) -> Request {
    let kind = RequestKind::AgentQuestion { task: task.id.clone(), call: inquiry.call };
    let why = match inquiry.call {
        Some(_) => "The agent needs an answer before it continues.",
        None => "The agent wrote this and called no tool. It continues with your answer.",
    };
    let mut asked = new_request(id, kind, inquiry.question, why);
    asked.details = vec![RequestDetail::new("Task", task.description.clone())];
    asked.choices =
        vec![Choice::new(ChoiceAction::Reply, "answer", "the agent continues with your words")];
    let offered = (1u8..=9).zip(inquiry.choices).map(|(number, choice)| {
        Choice::new(
            ChoiceAction::PickOption(number),
            choice,
            "the agent continues with this answer",
        )
    });
    asked.choices.extend(offered);
    asked.choices.extend(ending_choices());
    asked.task = Some(task.id.clone());
    asked
}

/// What an agent says about work that is done in part.
#[derive(Clone, Copy, Debug)]
pub struct PartialWork<'a> {
    pub summary: &'a str,
    pub changed_files: &'a [String],
    pub left: &'a [String],
}

/// Asks what to do with a task that its agent finished in part.
pub fn partly_done_request(id: RequestId, task: &TaskNode, work: PartialWork<'_>) -> Request {
    let kind = RequestKind::PartlyDone { task: task.id.clone() };
    let question = "Part of the task is done. Continue?";
    let mut asked = new_request(id, kind, question, work.summary);
    asked.details = vec![RequestDetail::new("Task", task.description.clone())];
    asked.details.extend(work.left.iter().map(|left| RequestDetail::new("Left", left.clone())));
    if !work.changed_files.is_empty() {
        asked.details.push(RequestDetail::new("Changed", work.changed_files.join(", ")));
    }
    asked.choices = vec![
        Choice::new(ChoiceAction::GoOn, "continue", "the agent works on what is left"),
        Choice::new(
            ChoiceAction::AcceptPart,
            "accept as it is",
            "the task counts as done; what needs it starts",
        ),
        Choice::new(
            ChoiceAction::RequestChanges,
            "retry with a hint",
            "the agent continues with your hint",
        ),
    ];
    asked.choices.extend(ending_choices());
    asked.task = Some(task.id.clone());
    asked
}

fn ending_choices() -> [Choice; 2] {
    [
        Choice::new(
            ChoiceAction::HandToMe,
            "give it to me",
            "it becomes your task; what was done stays",
        ),
        Choice::new(
            ChoiceAction::StopTask,
            "let it fail",
            "what needs it is skipped; you can retry later",
        ),
    ]
}
