//! Events about facts: what was said, and what became of it.

use serde::{Deserialize, Serialize};

use crate::{Actor, Fact, FactReading};

/// Something was said, or said otherwise, or taken back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FactEvent {
    Recorded {
        fact: Fact,
    },
    /// The person said it in other words, or what was understood was wrong.
    Corrected {
        id: u32,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reading: Option<FactReading>,
        by: Actor,
    },
    /// It no longer applies.
    Withdrawn {
        id: u32,
        by: Actor,
        /// The later fact that takes its place, if one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced_by: Option<u32>,
    },
}

impl FactEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Recorded { .. } => "fact.recorded",
            Self::Corrected { .. } => "fact.corrected",
            Self::Withdrawn { .. } => "fact.withdrawn",
        }
    }
}
