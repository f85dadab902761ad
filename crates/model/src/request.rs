//! Requests: what Planwright asks the person, in one shape for every kind of question.

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use super::{
    ApprovalTarget, CallId, Digest, EscalationReason, PlanQuestion, RequestId, RunCap, Stage,
    TaskId,
};
use crate::permission::{PermissionRule, RuleMatcher};

/// What a request is about. The panel draws all of them alike; the engine acts on the kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum RequestKind {
    /// Whether the plan with this hash may run.
    FinalPlan { hash: Digest, revision: u32 },
    /// A limit is reached and the run is held.
    Cap {
        cap: RunCap,
        /// What was used and what is allowed, in the unit of the limit.
        #[serde(default)]
        used: u64,
        #[serde(default)]
        limit: u64,
    },
    /// Whether a call that was started before a crash took place.
    InDoubt { call: CallId },
    /// Facts that are missing.
    Questions { questions: Vec<PlanQuestion> },
    /// There is no goal yet.
    Goal,
    /// Whether a pattern, an outline or a roadmap is right.
    Draft { target: ApprovalTarget, version: u32 },
    /// Whether a new subtype may be used.
    Rfc {
        subtype: String,
        nearest: String,
        /// Not a subtype but a whole new pattern.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pattern: bool,
    },
    /// A stage is not sure enough of its result.
    LowConfidence { stage: Stage },
    /// A stage breaks rules and could not be mended.
    Validation { stage: Stage },
    /// A limit of the conversation is reached.
    PlanningCap {
        reason: EscalationReason,
        /// The limit on money that is in the way, if that is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cap: Option<RunCap>,
    },
    /// The plan does not fit; the choices name what would help.
    Escalation,
    /// Whether a tool may be called.
    Permission {
        call: CallId,
        tool: String,
        class: String,
        /// What exactly it is asked for, where the answer outlives the one who asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Digest>,
    },
    /// An agent used up its iterations.
    TaskCap { task: TaskId },
    /// An agent asks the person something; the call it asks with, if it did so by a call.
    AgentQuestion {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<u32>,
    },
    /// An agent says that its task is done in part.
    PartlyDone { task: TaskId },
    /// Whether what a task changed in its own copy is applied.
    ChangeReview { task: TaskId, attempt: u32 },
    /// Which of the results that several agents brought is taken.
    CandidateChoice { task: TaskId, attempt: u32 },
    /// What becomes of applied changes with which checks fail in the workspace.
    AppliedCheck { task: TaskId, attempt: u32 },
    /// Whether a provider's key may be used.
    Consent { provider: String },
    /// The model gave nothing usable.
    ModelTrouble { stage: Stage },
    /// An agent of another program asks the person something.
    DeskQuestion {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// Whether an agent of another program may use one of its own tools for exactly this.
    DeskPermission { tool: String, action: Digest },
}

/// What a key in the panel stands for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceAction {
    ApproveAndRun,
    /// Approve, and keep it for later.
    ApproveAndStop,
    /// Approve, and let the schedule begin today.
    ApproveFromToday,
    /// Approve, and begin at the task that the answer names; what comes before it is skipped.
    ApproveFromTask,
    /// Approve what another program's agent submitted, and have Planwright run it in that agent's place.
    ApproveAndRunHere,
    Abandon,
    /// The call in doubt took place.
    Happened,
    /// Run the call in doubt again.
    RunAgain,
    /// The command in doubt is still running: wait until its process has ended.
    KeepWaiting,
    /// Go on without the task; dependents treat it as met.
    SkipAlone,
    /// Skip the task and all that depends on it.
    SkipWithDependents,
    /// Let a capped run go on a little.
    RaiseOnce,
    /// Lift a cap for the rest of the session.
    RaiseForSession,
    /// Raise a cap and keep the new limit in the settings.
    RaiseForGood,
    /// Stop; the question stays open.
    Stop,
    /// Say yes to a draft.
    Approve,
    /// Say what should be different.
    RequestChanges,
    /// None of what was shown.
    Reject,
    /// Take an option, counted from 1: of the roadmap, of what an agent offers, of the results of several agents.
    PickOption(u8),
    /// Answer in words.
    Reply,
    /// Leave it to the planner.
    SkipQuestions,
    /// Ask for ideas; the question stays open.
    Ideas,
    /// Take an idea into the plan, counted from 1; the question stays open.
    TakeIdea(u8),
    /// Plan it as another kind, counted from 1 in [`crate::requests::offered_kinds`].
    PickKind(u8),
    /// Turn a proposal down.
    Decline,
    /// Go on past a limit.
    GoOn,
    /// Take a relaxation, counted from 1.
    UseRelaxation(u8),
    AcceptLate,
    /// Move blocks that overlap another plan to free time; the question stays open.
    MoveOverlaps,
    /// Take work that is done in part as the result of its task.
    AcceptPart,
    /// Go on without a model.
    GoOffline,
    /// Ask the model again.
    TryAgain,
    /// Edit by hand.
    Edit,
    /// Keep the plan as it is and stop.
    KeepAndStop,
    AllowOnce,
    AllowForSession,
    AllowAlways,
    /// Refuse, with a reason that the agent sees.
    Deny,
    /// End the task.
    StopTask,
    /// The person takes the task over.
    HandToMe,
    /// Apply what a task changed in its own copy.
    ApplyChanges,
    /// Merge the workspace into the copy and let the agent resolve what conflicts.
    MergeChanges,
    /// Delete the copy; the task fails.
    DiscardChanges,
    /// Take applied changes out of the workspace again; the task fails.
    UndoChanges,
    /// Use the provider from now on.
    UseProvider,
    /// Use the provider for this session only.
    UseProviderOnce,
    OfflineThisTime,
    NeverUse,
}

/// One way to answer, with what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Choice {
    pub action: ChoiceAction,
    pub label: String,
    pub consequence: String,
    /// Why it cannot be chosen now; the row stays visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

impl Choice {
    pub fn new(action: ChoiceAction, label: &str, consequence: impl Into<String>) -> Self {
        Self { action, label: label.to_owned(), consequence: consequence.into(), unavailable: None }
    }
}

/// A labelled line of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RequestDetail {
    pub label: String,
    pub text: String,
}

impl RequestDetail {
    pub fn new(label: &str, text: impl Into<String>) -> Self {
        Self { label: label.to_owned(), text: text.into() }
    }
}

/// Something the person is asked: the question, why it is asked, the evidence, and the answers with their effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Request {
    pub id: RequestId,
    pub kind: RequestKind,
    pub question: String,
    pub why: String,
    /// Commands and other text that must be seen byte for byte before saying yes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verbatim: Vec<RequestDetail>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<RequestDetail>,
    pub choices: Vec<Choice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Ideas that the person asked for; each can be taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<OfferedIdea>,
    /// The last answer, if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadAnswer>,
}

/// An idea beside a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OfferedIdea {
    pub text: String,
    /// Whether the person took it into the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken: bool,
}

/// An answer that could not be read. The request stays open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UnreadAnswer {
    /// What was typed.
    pub text: String,
    /// Why, and what to type instead: `Not a number of hours. Try "6 h".`
    pub why: String,
    /// How many answers in a row could not be read.
    #[serde(default)]
    pub times: u32,
}

impl Request {
    /// The command that is asked about, byte for byte.
    pub fn asked_command(&self) -> Option<&str> {
        let detail = self.verbatim.iter().find(|detail| detail.label == "Command")?;
        Some(&detail.text)
    }

    /// The rule to save: the one that was typed, else the one that was offered.
    #[must_use]
    pub fn apply_typed_rule(&self, offered: PermissionRule, answer: &Answer) -> PermissionRule {
        match (self.parse_typed_rule(answer), &offered.matching) {
            (Ok(Some(matching)), RuleMatcher::Command { .. }) => {
                // More than the exact command never runs unconfined.
                let unsandboxed = offered.unsandboxed && matching == offered.matching;
                PermissionRule { matching, unsandboxed, ..offered }
            }
            _ => offered,
        }
    }

    /// The rule that comes with an answer, if a person typed one.
    ///
    /// # Errors
    /// What was typed does not fit what is asked.
    pub fn parse_typed_rule(&self, answer: &Answer) -> Result<Option<RuleMatcher>, String> {
        let typed = answer.text.as_deref().map_or("", str::trim);
        if answer.action != ChoiceAction::AllowAlways || typed.is_empty() {
            return Ok(None);
        }
        match self.asked_command() {
            Some(command) => RuleMatcher::parse_command_rule(command, typed).map(Some),
            None => Err("only the rule about a command can be typed".to_owned()),
        }
    }

    /// The choice for an action, if it is offered and can be chosen.
    pub fn available_choice(&self, action: ChoiceAction) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.action == action && choice.unavailable.is_none())
    }

    /// The request with these ideas as choices; those that were there before are replaced.
    pub fn with_ideas(&self, ideas: Vec<OfferedIdea>) -> Self {
        let mut request = self.clone();
        request.choices.retain(|choice| !matches!(choice.action, ChoiceAction::TakeIdea(_)));
        let place = request.choices.iter().position(|choice| choice.action == ChoiceAction::Ideas);
        let place = place.unwrap_or(request.choices.len());
        let rows = (1u8..).zip(&ideas).map(|(number, idea)| {
            let mut choice = Choice::new(
                ChoiceAction::TakeIdea(number),
                &format!("idea {number}"),
                idea.text.clone(),
            );
            choice.unavailable = idea.taken.then(|| "taken into the plan".to_owned());
            choice
        });
        let rows: Vec<Choice> = rows.collect();
        request.choices.splice(place..place, rows);
        request.ideas = ideas;
        request.unread = None;
        request
    }

    /// The request with an answer that could not be read.
    pub fn with_unread_answer(&self, text: &str, why: impl Into<String>) -> Self {
        let times = self.unread.as_ref().map_or(0, |unread| unread.times) + 1;
        let unread = UnreadAnswer { text: text.to_owned(), why: why.into(), times };
        Self { unread: Some(unread), ..self.clone() }
    }

    /// Whether the task's agent puts the very question that another process left open: the same call of the same tool
    /// to the same effect. Only the number of the attempt may differ.
    pub fn is_same_question(&self, other: &Self) -> bool {
        let kinds = match (&self.kind, &other.kind) {
            (
                RequestKind::Permission { call, tool, class, input },
                RequestKind::Permission {
                    call: their_call,
                    tool: their_tool,
                    class: their_class,
                    input: their_input,
                },
            ) => {
                // An agent of the person's own numbers its calls anew; what it asks for tells whether it is the same.
                let same_input = input.is_some() && input == their_input;
                call.task == their_call.task
                    && (same_input || call.step == their_call.step)
                    && (tool, class) == (their_tool, their_class)
            }
            (RequestKind::TaskCap { task }, RequestKind::TaskCap { task: theirs })
            | (RequestKind::PartlyDone { task }, RequestKind::PartlyDone { task: theirs }) => {
                task == theirs
            }
            (
                RequestKind::AgentQuestion { task, call },
                RequestKind::AgentQuestion { task: theirs, call: their_call },
            ) => (task, call) == (theirs, their_call) && self.question == other.question,
            _ => false,
        };
        // Labels and words of another version do not make it another question.
        let quoted = |request: &Self| -> Vec<String> {
            request.verbatim.iter().map(|detail| detail.text.clone()).collect()
        };
        let offered = |request: &Self| -> Vec<ChoiceAction> {
            request.choices.iter().map(|choice| choice.action).collect()
        };
        kinds && quoted(self) == quoted(other) && offered(self) == offered(other)
    }
}

/// How a request was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Answer {
    pub action: ChoiceAction,
    /// What the person typed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Nodes that it is limited to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<TaskId>,
    /// The stage that the person wants changes to start from, where they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Answers by the key of the question, where several were put.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
    /// The new limit, in the unit of the cap, where the person chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<u64>,
}

impl Answer {
    /// An answer with what the person typed.
    pub fn with_text(action: ChoiceAction, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::from(action) }
    }
}

impl From<ChoiceAction> for Answer {
    fn from(action: ChoiceAction) -> Self {
        Self {
            action,
            text: None,
            nodes: Vec::new(),
            stage: None,
            answers: BTreeMap::new(),
            amount: None,
        }
    }
}

/// Who gave an answer. A model never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A key in the panel, or a word typed at our own prompt.
    Person,
    /// `--yes` or another flag of the command line, which the person typed.
    Flag,
}
