//! Who drafts a plan and which tool of planning worked, as closed lists with room for names of other versions.
//!
//! On the wire both are plain strings, as they have always been; a name that is not listed is kept as it stands.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who drafted something, or drafts from here on.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(from = "String", into = "String")]
pub enum PlanDrafter {
    /// No conversation has begun.
    #[default]
    Unset,
    /// The built-in planner, without a model.
    Offline,
    /// The person, by hand.
    Person,
    /// A model, as `provider/model` or by its provider alone.
    Model(String),
}

impl PlanDrafter {
    /// As the journal has it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unset => "",
            Self::Offline => "offline",
            Self::Person => "you",
            Self::Model(name) => name,
        }
    }

    /// Who that is, in words.
    pub fn describe(&self) -> &str {
        match self {
            Self::Unset => "nobody yet",
            Self::Offline => "the built-in planner",
            Self::Person => "you",
            Self::Model(name) => name,
        }
    }

    pub fn is_offline(&self) -> bool {
        *self == Self::Offline
    }
}

impl From<&str> for PlanDrafter {
    fn from(name: &str) -> Self {
        match name {
            "" => Self::Unset,
            "offline" => Self::Offline,
            "you" => Self::Person,
            model => Self::Model(model.to_owned()),
        }
    }
}

impl From<String> for PlanDrafter {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<PlanDrafter> for String {
    fn from(drafter: PlanDrafter) -> Self {
        drafter.as_str().to_owned()
    }
}

impl fmt::Display for PlanDrafter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! tool_names {
    ($($variant:ident => $name:literal),+ $(,)?) => {
        /// The tool of planning that a step trace is about.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(from = "String", into = "String")]
        pub enum PlanningToolName {
            $($variant,)+
            /// A tool that this version does not know.
            Other(String),
        }

        impl PlanningToolName {
            /// All that this version knows.
            pub const KNOWN: &[Self] = &[$(Self::$variant),+];

            /// As the journal has it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for PlanningToolName {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

tool_names! {
    ContextElicitor => "ContextElicitor",
    PreferenceProbe => "PreferenceProbe",
    PatternSelector => "PatternSelector",
    Brainstormer => "Brainstormer",
    NodeGenerator => "NodeGenerator",
    GrammarValidator => "GrammarValidator",
    DependencyResolver => "DependencyResolver",
    RoadmapBuilder => "RoadmapBuilder",
    OptionCrafter => "OptionCrafter",
    ScheduleGenerator => "ScheduleGenerator",
    PortfolioProbe => "PortfolioProbe",
    ApprovalHandler => "ApprovalHandler",
    Summarizer => "Summarizer",
    Controller => "controller",
}

impl From<String> for PlanningToolName {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<PlanningToolName> for String {
    fn from(tool: PlanningToolName) -> Self {
        tool.as_str().to_owned()
    }
}

impl fmt::Display for PlanningToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_they_were_read() {
        for name in ["", "offline", "you", "ollama/qwen3", "offline/scripted"] {
            assert_eq!(PlanDrafter::from(name).as_str(), name);
        }
        for name in ["ContextElicitor", "controller", "TeaLeafReader", ""] {
            assert_eq!(PlanningToolName::from(name).as_str(), name);
        }
        let other = PlanningToolName::Other("TeaLeafReader".to_owned());
        assert_eq!(serde_json::to_string(&other).unwrap(), r#""TeaLeafReader""#);
        assert_eq!(PlanningToolName::from("TeaLeafReader"), other);
    }

    #[test]
    fn every_known_tool_reads_back_as_itself() {
        for tool in PlanningToolName::KNOWN {
            assert_eq!(PlanningToolName::from(tool.as_str()), *tool);
        }
    }

    #[test]
    fn only_the_built_in_planner_is_offline() {
        assert!(PlanDrafter::from("offline").is_offline());
        assert!(!PlanDrafter::from("offline/scripted").is_offline());
    }
}
