//! What the executor keeps between its steps, so that a task can be taken up at any of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Digest;
use crate::task_state::TaskState;

/// How each exit criterion stands, by its position; absent where nobody has found out yet.
pub type CriterionFindings = BTreeMap<usize, bool>;

/// Reads the keys as text, which is what they are in JSON: an event is buffered before its kind is known, and then
/// nothing turns them into numbers.
fn read_findings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<CriterionFindings, D::Error> {
    let by_text = BTreeMap::<String, bool>::deserialize(deserializer)?;
    let parse = |(position, met): (String, bool)| position.parse().map(|position| (position, met));
    by_text.into_iter().map(parse).collect::<Result<_, _>>().map_err(D::Error::custom)
}

/// Why a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallPurpose {
    /// It advances or repeats a step.
    Step,
    /// It only looks, within a step.
    Lookup,
}

/// A call that was ruled to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlannedCall {
    pub step: String,
    pub tool: String,
    pub args: Value,
    pub purpose: CallPurpose,
}

/// How the executor came to an end that nothing has followed from yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum ExecutorConclusion {
    /// Everything is done; the answer may still have to be put into words.
    Done { answer: String },
    /// It is stuck and wants to hear the planner.
    Escalated { why: String },
}

/// How far a subtask of a call is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ChildState {
    Waiting,
    Started,
    Finished { ok: bool, cache_hit: bool, summary: String },
    Skipped { why: String },
}

impl ChildState {
    /// The state in one word, as it is written.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Started => "started",
            Self::Finished { .. } => "finished",
            Self::Skipped { .. } => "skipped",
        }
    }
}

/// The books of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentWork {
    pub state: TaskState,
    /// What the planner wants done now.
    #[serde(default)]
    pub goals: Vec<String>,
    /// Rounds of the planner so far.
    #[serde(default)]
    pub round: u32,
    /// Iterations of the attempt so far; lookups are free.
    #[serde(default)]
    pub iteration: u32,
    /// Calls that advanced or repeated a step of this state.
    #[serde(default)]
    pub calls: u32,
    #[serde(default)]
    pub step_calls: BTreeMap<String, u32>,
    /// Calls that only looked, since the last step was done.
    #[serde(default)]
    pub lookups: u32,
    /// Searches since something else was done.
    #[serde(default)]
    pub searches_in_a_row: u32,
    /// The last wish was turned down; the next one that is leads back to the planner.
    #[serde(default)]
    pub rejected: bool,
    /// Calls that failed, by tool and arguments.
    #[serde(default)]
    pub failed_calls: BTreeSet<Digest>,
    /// What was found so far, and how many calls in a row found nothing new.
    #[serde(default)]
    pub sources: BTreeSet<String>,
    #[serde(default)]
    pub hits: BTreeSet<String>,
    #[serde(default)]
    pub nothing_new: u32,
    /// What the next decision must take into account, such as the end of failing test output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The iteration in which a model last judged the exit criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_in: Option<u32>,
    /// What earlier tasks brought, where it had to be shortened by a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_summary: Option<String>,
    /// How the exit criteria stood when they were last looked at.
    #[serde(default, deserialize_with = "read_findings")]
    pub findings: CriterionFindings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<ExecutorConclusion>,
    /// Whether a full run was chosen: the planner is heard before and after.
    #[serde(default)]
    pub full: bool,
}

impl AgentWork {
    /// Work that has made no call yet.
    pub fn new(state: TaskState, goals: Vec<String>) -> Self {
        Self {
            state,
            goals,
            round: 0,
            iteration: 0,
            calls: 0,
            step_calls: BTreeMap::new(),
            lookups: 0,
            searches_in_a_row: 0,
            rejected: false,
            failed_calls: BTreeSet::new(),
            sources: BTreeSet::new(),
            hits: BTreeSet::new(),
            nothing_new: 0,
            feedback: None,
            judged_in: None,
            context_summary: None,
            findings: CriterionFindings::new(),
            ended: None,
            full: false,
        }
    }

    /// Carries what bounds the attempt, and what was found in it, over to the next piece of work of the same attempt.
    pub fn carry_over_to(&self, next: Self) -> Self {
        Self {
            round: self.round,
            iteration: self.iteration,
            searches_in_a_row: self.searches_in_a_row,
            sources: self.sources.clone(),
            hits: self.hits.clone(),
            context_summary: self.context_summary.clone(),
            failed_calls: self.failed_calls.clone(),
            judged_in: self.judged_in,
            findings: self.findings.clone(),
            full: self.full,
            ..next
        }
    }
}
