//! The arguments of the desk's tools. Plain strings and lists, because not every client reads all of JSON Schema.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::DeskError;
use planwright_model::{CommentReply, ReportedTaskState, SubmissionFormat};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SubmitPlanArguments {
    /// What the plan is called, in a few words.
    #[serde(default)]
    pub(super) title: String,
    /// The whole plan as Markdown; write the steps as a numbered list. Give one of markdown, toml and json.
    #[serde(default)]
    pub(super) markdown: String,
    /// The plan in Planwright's plan file format, as TOML.
    #[serde(default)]
    pub(super) toml: String,
    /// The plan in Planwright's plan file format, as JSON text.
    #[serde(default)]
    pub(super) json: String,
    /// The full path of the directory that the plan is about; the server's own directory if left out.
    #[serde(default)]
    pub(super) workspace: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WaitArguments {
    /// The ticket that `submit_plan` returned.
    pub(super) ticket: String,
    /// How long to wait, from 0 to 50 seconds.
    #[serde(default = "longest_wait")]
    #[schemars(with = "i64")]
    pub(super) seconds: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RevisePlanArguments {
    pub(super) ticket: String,
    /// The whole changed plan as Markdown. Give one of markdown, toml and json.
    #[serde(default)]
    pub(super) markdown: String,
    #[serde(default)]
    pub(super) toml: String,
    #[serde(default)]
    pub(super) json: String,
    /// What became of each comment.
    #[serde(default)]
    pub(super) replies: Vec<ReplyArguments>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct ReplyArguments {
    /// The id of the comment.
    #[schemars(with = "i64")]
    pub(super) comment: u32,
    /// Whether the plan now does what the comment asks for.
    pub(super) addressed: bool,
    /// How, or why not, in a sentence.
    #[serde(default)]
    pub(super) words: String,
}

impl From<ReplyArguments> for CommentReply {
    fn from(reply: ReplyArguments) -> Self {
        Self { comment: reply.comment, addressed: reply.addressed, words: reply.words }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReportProgressArguments {
    pub(super) ticket: String,
    /// The hash that `wait_for_decision` returned with the approval.
    pub(super) hash: String,
    /// The id of the node, as `submit_plan` returned it.
    pub(super) task: String,
    pub(super) state: ReportedStateArgument,
    /// What shows it: changed files, a command with its result, a link. Needed for done and failed.
    #[serde(default)]
    pub(super) evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum ReportedStateArgument {
    Started,
    Done,
    Failed,
    Skipped,
}

impl From<ReportedStateArgument> for ReportedTaskState {
    fn from(state: ReportedStateArgument) -> Self {
        match state {
            ReportedStateArgument::Started => Self::Started,
            ReportedStateArgument::Done => Self::Done,
            ReportedStateArgument::Failed => Self::Failed,
            ReportedStateArgument::Skipped => Self::Skipped,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AskPersonArguments {
    pub(super) ticket: String,
    /// One question. To wait on, call again with the same words.
    pub(super) question: String,
    /// Answers to pick from; the person can always answer in words.
    #[serde(default)]
    pub(super) choices: Vec<String>,
    /// The id of the node that it is about, if it is about one.
    #[serde(default)]
    pub(super) task: String,
    /// How long to wait for the answer, from 0 to 50 seconds.
    #[serde(default = "longest_wait")]
    #[schemars(with = "i64")]
    pub(super) seconds: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct TicketArguments {
    pub(super) ticket: String,
}

fn longest_wait() -> u64 {
    crate::MAX_WAIT.as_secs()
}

/// The one text that was given, with its format.
pub(super) fn given_text(
    markdown: String,
    toml: String,
    json: String,
) -> Result<(SubmissionFormat, String), DeskError> {
    let given = [
        (SubmissionFormat::Markdown, markdown),
        (SubmissionFormat::Toml, toml),
        (SubmissionFormat::Json, json),
    ];
    let mut filled = given.into_iter().filter(|(_, text)| !text.trim().is_empty());
    let (Some(one), None) = (filled.next(), filled.next()) else {
        let what = "give the plan as exactly one of markdown, toml and json";
        return Err(DeskError::BadArgument(what.to_owned()));
    };
    Ok(one)
}
