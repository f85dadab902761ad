//! The parts of an agent's conversation that only the journal can give back: how it opened, and who said what was said
//! to the model besides its own turns and results.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, TaskId};

/// The purpose under which a model is asked for its next turn of a conversation.
pub const TURN_PURPOSE: &str = "turn";

/// A tool as it was offered when the conversation opened. Later requests offer the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConversationTool {
    pub name: String,
    pub description: String,
    pub schema: Value,
    /// Its calls may run beside each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

/// How a conversation opened. Everything in it stays as it is for as long as the conversation lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConversationOpening {
    /// Of the task it is about; another task opens another conversation.
    pub task: Digest,
    pub system: String,
    /// The task and where it stands in the plan.
    pub briefing: String,
    pub tools: Vec<ConversationTool>,
    /// How many tokens of results are shown in full before older ones are compacted.
    pub result_tokens: u64,
    /// The person's own agent that it is with, by its name; none where it is a model of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Who said something to the model that is neither a result nor its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    /// The loop, about the last answer.
    Loop,
    /// The person, by a message or an answer.
    Person,
    /// The loop, about why the attempt before this one ended.
    Retry,
    /// The controller of planning, about the stage that begins.
    Stage,
}

/// What became of a change request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedOutcome {
    Met,
    Partly,
    Not,
    /// It was a question, and the words answer it.
    Answered,
}

/// What a model says became of a change request, with what was found when that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RequestReport {
    /// The request as it was typed.
    pub request: String,
    pub outcome: ReportedOutcome,
    /// The nodes that it changed: those that the model named and that really differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<TaskId>,
    /// The model's sentence.
    pub words: String,
    /// What is wrong with the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<String>,
}

impl RequestReport {
    /// What became of the request, in a sentence.
    pub fn describe(&self) -> String {
        let request = planwright_text::clean_line(&self.request);
        let gap = if self.outcome == ReportedOutcome::Answered { ": " } else { " " };
        format!("\"{request}\"{gap}{}", self.describe_outcome())
    }

    /// The same where the request itself stands beside it.
    pub fn describe_outcome(&self) -> String {
        let words = planwright_text::clean_line(&self.words);
        let became = match self.outcome {
            ReportedOutcome::Met => "done",
            ReportedOutcome::Partly => "partly done",
            ReportedOutcome::Not => "not done",
            ReportedOutcome::Answered => return words.into_owned(),
        };
        let objection = self.objection.as_ref().map(|why| format!(" ({why})"));
        format!("{became}: {words}{}", objection.unwrap_or_default())
    }
}
