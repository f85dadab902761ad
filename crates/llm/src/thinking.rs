//! How much a model thinks: the setting `effort`, and what follows from it for a request.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{ModelFacts, ThinkingControl, ThinkingSupport};

/// The setting `effort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelEffort {
    Low,
    Medium,
    High,
    Max,
}

impl ModelEffort {
    pub const NAMES: [&str; 4] = ["low", "medium", "high", "max"];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }

    /// The provider's word for this effort: the same one if it has it, otherwise the next lower, otherwise its least.
    /// The highest effort is the provider's highest.
    pub(crate) fn provider_word(self, words: &[String]) -> Option<&str> {
        const ORDER: [&str; 6] = ["minimal", "low", "medium", "high", "xhigh", "max"];
        if self == Self::Max {
            return words.last().map(String::as_str);
        }
        let rank = |word: &str| ORDER.iter().position(|known| *known == word);
        let own = rank(self.as_str());
        let fitting = words.iter().rev().find(|word| rank(word) <= own);
        fitting.or_else(|| words.first()).map(String::as_str)
    }
}

impl fmt::Display for ModelEffort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ModelEffort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "low" => Ok(Self::Low),
            "medium" => Ok(Self::Medium),
            "high" => Ok(Self::High),
            "max" => Ok(Self::Max),
            _ => Err(format!("one of {}", Self::NAMES.join(", "))),
        }
    }
}

/// The room for thinking beside the answer; `None` if the model is not asked to think. A model whose thinking takes a
/// budget is asked only when the person set an effort: it answers well without, and every token is paid.
pub(crate) fn thinking_room(facts: &ModelFacts, effort: Option<ModelEffort>) -> Option<u32> {
    let thinks = match facts.thinking {
        ThinkingSupport::None => false,
        ThinkingSupport::Always => true,
        ThinkingSupport::Optional => effort.is_some() || facts.control != ThinkingControl::Budget,
    };
    let room = match effort {
        Some(ModelEffort::Low) => 4_096,
        None | Some(ModelEffort::Medium) => 16_384,
        Some(ModelEffort::High) => 32_768,
        Some(ModelEffort::Max) => 65_536,
    };
    // Half of what the model can write stays for the answer.
    thinks.then(|| facts.output.map_or(room, |most| room.min(most / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelTable;

    #[test]
    fn an_effort_becomes_the_nearest_word_of_the_provider() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let three = words(&["low", "medium", "high"]);
        let five = words(&["low", "medium", "high", "xhigh", "max"]);
        assert_eq!(ModelEffort::Low.provider_word(&three), Some("low"));
        assert_eq!(ModelEffort::Max.provider_word(&three), Some("high"));
        assert_eq!(ModelEffort::Max.provider_word(&five), Some("max"));
        assert_eq!(ModelEffort::High.provider_word(&five), Some("high"));
        assert_eq!(ModelEffort::Medium.provider_word(&words(&["low", "high"])), Some("low"));
        assert_eq!(ModelEffort::Low.provider_word(&words(&["high"])), Some("high"));
        assert_eq!(ModelEffort::Low.provider_word(&[]), None);
        assert_eq!("max".parse(), Ok(ModelEffort::Max));
        assert!("huge".parse::<ModelEffort>().is_err());
    }

    #[test]
    fn only_a_model_that_thinks_gets_room_for_it() {
        let room = |model: &str, effort| {
            thinking_room(ModelTable::built_in().find_facts(model).unwrap(), effort)
        };
        assert_eq!(room("gpt-4o", Some(ModelEffort::Max)), None);
        assert_eq!(room("gpt-6.1-sol", None), Some(16_384));
        assert_eq!(room("claude-sonnet-4-5", None), None, "a budget is given only on request");
        assert_eq!(room("claude-sonnet-4-5", Some(ModelEffort::Low)), Some(4_096));
        assert_eq!(room("gemini-3.8-flash", Some(ModelEffort::Max)), Some(32_768), "half of all");
    }
}
