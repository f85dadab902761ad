//! How much freedom a model is given: strict steps for weak models, an open conversation for strong ones.

use serde::{Deserialize, Serialize};

/// How an agent works with its model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AgentProfile {
    /// One open conversation: any tool the task may use, until the model hands in.
    Large,
    /// Strict steps with small prompts.
    #[default]
    Small,
}

impl AgentProfile {
    /// As the settings have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Large => "large",
            Self::Small => "small",
        }
    }
}

/// Which profile the person wants for a model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProfileChoice {
    /// By what is known about the model.
    #[default]
    Auto,
    Large,
    Small,
}

impl ProfileChoice {
    /// The profile, given what follows from the model itself.
    pub fn resolve_profile(self, by_model: AgentProfile) -> AgentProfile {
        match self {
            Self::Auto => by_model,
            Self::Large => AgentProfile::Large,
            Self::Small => AgentProfile::Small,
        }
    }
}

impl std::str::FromStr for ProfileChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "auto" => Ok(Self::Auto),
            "large" => Ok(Self::Large),
            "small" => Ok(Self::Small),
            _ => Err(()),
        }
    }
}
