//! Coding agents that people have, and what is known about each of them without starting it.

use serde::{Deserialize, Serialize};

/// A coding agent by its maker's name for it.
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
pub enum AgentProduct {
    Claude,
    Codex,
    Gemini,
    Goose,
    Opencode,
    Qwen,
    /// Any other program that speaks the protocol.
    #[default]
    Custom,
}

impl AgentProduct {
    /// Those that have a name, in the order in which they are listed.
    pub const KNOWN: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Goose, Self::Opencode, Self::Qwen];

    /// As the settings have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Goose => "goose",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Custom => "custom",
        }
    }

    /// What people call it; none for a program that nobody knows.
    pub fn title(self) -> Option<&'static str> {
        Some(match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Goose => "goose",
            Self::Opencode => "opencode",
            Self::Qwen => "Qwen Code",
            Self::Custom => return None,
        })
    }
}

impl std::str::FromStr for AgentProduct {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let all = Self::KNOWN.into_iter().chain([Self::Custom]);
        all.into_iter().find(|product| product.as_str() == word).ok_or(())
    }
}

/// What an agent of the person's own is called on screens, by its name in the settings.
pub fn agent_title(name: &str) -> &str {
    name.parse::<AgentProduct>().ok().and_then(AgentProduct::title).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_a_title_and_others_stand_for_themselves() {
        assert_eq!(agent_title("claude"), "Claude Code");
        assert_eq!((agent_title("mine"), agent_title("custom")), ("mine", "custom"));
        for product in AgentProduct::KNOWN {
            assert_eq!(product.as_str().parse(), Ok(product));
        }
    }
}
