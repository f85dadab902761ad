//! What a step of a `ReAct` loop says about itself beside its words: enough to resume the task, and to explain the step.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::agent_work::{AgentWork, CallPurpose};
use crate::permission::PermissionVerdict;
use crate::tool_choice::ToolSelection;
use crate::{Digest, TaskId};

/// Which part of plan, research, debate, validate a step belongs to.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
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
pub enum PrdvPhase {
    Plan,
    #[default]
    Research,
    Debate,
    Validate,
}

impl PrdvPhase {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Research, Self::Debate, Self::Validate];

    /// As the metadata of a step has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Research => "research",
            Self::Debate => "debate",
            Self::Validate => "validate",
        }
    }
}

/// Who speaks in a step. Roles of tasks are names that people give, so the list is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum StepRole {
    Planner,
    Proposer,
    Critic,
    Synthesizer,
    /// The role of the task itself.
    Task(String),
}

impl StepRole {
    /// As the journal has it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Planner => "planner",
            Self::Proposer => "proposer",
            Self::Critic => "critic",
            Self::Synthesizer => "synthesizer",
            Self::Task(name) => name,
        }
    }

    /// Whether it speaks in a debate about the task, and does not do the task.
    pub fn is_debating(&self) -> bool {
        matches!(self, Self::Proposer | Self::Critic | Self::Synthesizer)
    }
}

impl From<String> for StepRole {
    fn from(name: String) -> Self {
        match name.as_str() {
            "planner" => Self::Planner,
            "proposer" => Self::Proposer,
            "critic" => Self::Critic,
            "synthesizer" => Self::Synthesizer,
            _ => Self::Task(name),
        }
    }
}

impl From<StepRole> for String {
    fn from(role: StepRole) -> Self {
        role.as_str().to_owned()
    }
}

impl fmt::Display for StepRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! step_metadata {
    ($($(#[$meta:meta])* $field:ident: $type:ty = $name:literal),+ $(,)?) => {
        /// The metadata of a step. What a step has nothing to say about is absent.
        ///
        /// Other programs' traces are imported with metadata of their own. What is not ours, or does not fit, is kept
        /// as it is and written back.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(from = "Map<String, Value>")]
        pub struct StepMetadata {
            $($(#[$meta])* pub $field: Option<$type>,)+
            /// What this version does not understand, by its name.
            pub foreign: Map<String, Value>,
        }

        impl From<Map<String, Value>> for StepMetadata {
            fn from(mut fields: Map<String, Value>) -> Self {
                Self { $($field: take_field(&mut fields, $name),)+ foreign: fields }
            }
        }

        impl schemars::JsonSchema for StepMetadata {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "StepMetadata".into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut schema = schemars::json_schema!({ "type": "object" });
                let mut properties = Map::new();
                $(properties.insert(
                    $name.to_owned(),
                    generator.subschema_for::<$type>().to_value(),
                );)+
                schema.insert("properties".to_owned(), Value::Object(properties));
                schema
            }
        }

        impl Serialize for StepMetadata {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $(if let Some(value) = &self.$field {
                    map.serialize_entry($name, value)?;
                })+
                for (name, value) in &self.foreign {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    };
}

step_metadata! {
    /// The number of the call within the attempt.
    call: u32 = "call",
    /// The step of the task's pattern it was made for.
    step: String = "step",
    purpose: CallPurpose = "purpose",
    /// Best affinity minus the affinity of the tool in use.
    affinity_delta: f64 = "affinity_delta",
    /// The ledger as it was when the call was decided, so that decision and call cannot come apart.
    work: Box<AgentWork> = "work",
    choice: Box<ToolSelection> = "choice",
    /// How often the call was repeated.
    retry: u32 = "retry",
    /// What is kept of the arguments is not what was to be called: they held a secret.
    redacted: bool = "redacted",
    ok: bool = "ok",
    cache_hit: bool = "cache_hit",
    verdict: Box<PermissionVerdict> = "verdict",
    /// The call took place, and nobody has what it said.
    output_lost: bool = "output_lost",
    /// The stored prompt that the step answers,
    prompt_ref: Digest = "prompt_ref",
    /// and its redacted text.
    prompt: String = "prompt",
    /// The parts of the recipe that the prompt was made of.
    fragments: Vec<String> = "fragments",
    answer_tokens: u64 = "answer_tokens",
    /// The round of a debate.
    debate_round: u32 = "loop",
    prdv: PrdvPhase = "prdv",
    agent_role: StepRole = "agent_role",
    iteration: u32 = "iteration",
    /// What the attempt had used up by then.
    tokens: u64 = "tokens",
    /// In exports: the depth of the task in the graph,
    task_depth: u32 = "task_depth",
    /// and the tasks that may start while it acts.
    unlock_events: Vec<TaskId> = "unlock_events",
}

/// Takes a field out of the map, if it is there and fits. One that does not fit stays.
fn take_field<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Option<T> {
    let value = T::deserialize(fields.get(name)?).ok()?;
    fields.shift_remove(name);
    Some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_ours_or_does_not_fit_is_written_back() {
        let written = json!({
            "call": 2, "step": "edit", "prdv": "validate", "agent_role": "critic", "loop": 1,
            "purpose": "lookup", "iteration": "second", "choice": null, "session": {"theirs": [1]},
        });
        let metadata: StepMetadata = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(metadata.call, Some(2));
        assert_eq!(metadata.purpose, Some(CallPurpose::Lookup));
        assert_eq!(metadata.agent_role, Some(StepRole::Critic));
        assert_eq!((metadata.iteration, metadata.choice.clone()), (None, None));
        let kept: Vec<&str> = metadata.foreign.keys().map(String::as_str).collect();
        assert_eq!(kept, ["iteration", "choice", "session"]);
        assert_eq!(serde_json::to_value(&metadata).unwrap(), written);
    }

    #[test]
    fn a_step_that_says_nothing_has_empty_metadata() {
        assert_eq!(serde_json::to_string(&StepMetadata::default()).unwrap(), "{}");
    }
}
