//! The tools of planning: what each needs, what it makes, and in which stages it may be used.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use planwright_model::{PatternType, PlanState};

/// A tool of planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanTool {
    pub name: &'static str,
    pub version: &'static str,
    pub prerequisites: &'static [&'static str],
    pub produces: &'static [&'static str],
    /// The states in which the agent sees it.
    pub stages: &'static [PlanState],
    pub description: &'static str,
}

use PlanState::{
    CollectContext, DraftOutline, DraftRoadmap, DraftSchedule, SeekApproval, ValidateOutline,
    ValidateRoadmap, ValidateSchedule,
};

const fn plan_tool(
    name: &'static str,
    prerequisites: &'static [&'static str],
    produces: &'static [&'static str],
    stages: &'static [PlanState],
    description: &'static str,
) -> PlanTool {
    PlanTool { name, version: "1", prerequisites, produces, stages, description }
}

/// The seven core tools and the six utilities, in the order of the stages.
pub const PLAN_TOOLS: [PlanTool; 13] = [
    plan_tool(
        "ContextElicitor",
        &["goal"],
        &["context"],
        &[CollectContext],
        "finds missing facts and asks for them",
    ),
    plan_tool(
        "PreferenceProbe",
        &["goal"],
        &["preference"],
        &[CollectContext],
        "asks once how the person likes to be talked to",
    ),
    plan_tool(
        "PatternSelector",
        &["context"],
        &["pattern"],
        &[DraftOutline],
        "maps the goal to the nearest canonical pattern and subtype",
    ),
    plan_tool(
        "Brainstormer",
        &["context"],
        &["ideas"],
        &[DraftOutline],
        "offers a few different ideas, one line each",
    ),
    plan_tool(
        "NodeGenerator",
        &["context", "pattern"],
        &["outline"],
        &[DraftOutline],
        "drafts the nodes of the outline",
    ),
    plan_tool(
        "GrammarValidator",
        &["outline"],
        &["judgement"],
        &[ValidateOutline, ValidateRoadmap, ValidateSchedule],
        "finds broken rules and judges the confidence",
    ),
    plan_tool(
        "DependencyResolver",
        &["outline"],
        &["dependencies"],
        &[DraftRoadmap],
        "links tasks: finish to start and the other kinds, with lag and lead",
    ),
    plan_tool(
        "RoadmapBuilder",
        &["outline", "dependencies"],
        &["roadmap", "options"],
        &[DraftRoadmap],
        "estimates the leaves and compares two or three ways to do it",
    ),
    plan_tool(
        "OptionCrafter",
        &["outline"],
        &["variants"],
        &[DraftOutline, DraftRoadmap],
        "words the options, each by how it differs from the first",
    ),
    plan_tool(
        "ScheduleGenerator",
        &["roadmap"],
        &["schedule"],
        &[DraftSchedule],
        "places every leaf in the calendar",
    ),
    plan_tool(
        "PortfolioProbe",
        &["schedule"],
        &["conflicts"],
        &[ValidateSchedule],
        "finds clashes with other plans and fixed events",
    ),
    plan_tool(
        "ApprovalHandler",
        &["judgement"],
        &["request"],
        &[SeekApproval],
        "asks as often as the approval policy says",
    ),
    plan_tool(
        "Summarizer",
        &["context"],
        &["text"],
        &[CollectContext, DraftOutline, DraftRoadmap, DraftSchedule, SeekApproval],
        "says it in the person's style and tone",
    ),
];

/// The tools an agent sees in a state.
pub fn tools_for_state(state: PlanState) -> impl Iterator<Item = &'static PlanTool> {
    PLAN_TOOLS.iter().filter(move |tool| tool.stages.contains(&state))
}

/// Why a set of tools cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolSetError {
    #[error("{tool} needs {need}, which no tool of the same or an earlier stage makes")]
    NoProducer { tool: String, need: String },
    #[error("{} need each other", JoinedToolNames(tools))]
    Cycle { tools: Vec<String> },
}

struct JoinedToolNames<'a>(&'a [String]);

impl fmt::Display for JoinedToolNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" and "))
    }
}

fn state_rank(state: PlanState) -> usize {
    PlanState::ALL.iter().position(|other| *other == state).unwrap_or(usize::MAX)
}

/// Checks that every tool can be given what it needs, in an order without a cycle.
pub fn check_tools(tools: &[PlanTool]) -> Result<(), ToolSetError> {
    let first = |tool: &PlanTool| tool.stages.iter().copied().map(state_rank).min().unwrap_or(0);
    for tool in tools {
        for need in tool.prerequisites.iter().filter(|need| **need != "goal") {
            let made = tools.iter().any(|other| {
                other.name != tool.name
                    && other.produces.contains(need)
                    && first(other)
                        <= tool.stages.iter().copied().map(state_rank).max().unwrap_or(0)
            });
            if !made {
                return Err(ToolSetError::NoProducer {
                    tool: tool.name.to_owned(),
                    need: (*need).to_owned(),
                });
            }
        }
    }
    let mut have: BTreeSet<&str> = BTreeSet::from(["goal"]);
    let mut left: Vec<&PlanTool> = tools.iter().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|tool| {
            let ready = tool.prerequisites.iter().all(|need| have.contains(need));
            if ready {
                have.extend(tool.produces);
            }
            !ready
        });
        if left.len() == before {
            let tools = left.iter().map(|tool| tool.name.to_owned()).collect();
            return Err(ToolSetError::Cycle { tools });
        }
    }
    Ok(())
}

/// The arguments of `PatternSelector`, as a model fills them in.
///
/// The schemas set no lengths: servers that turn a schema into a grammar write every possible character out, and long
/// limits have brought such servers down. What is too long is cut when it is read.
pub(super) fn pattern_schema() -> Value {
    let types: Vec<&str> = PatternType::ALL.iter().map(|kind| kind.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "pattern_type": { "type": "string", "enum": types },
            "subtype": { "type": "string" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "rfc": { "type": "string" },
            "source_pattern": { "type": "string" },
            "proposed_pattern": { "type": "string" },
            "why": { "type": "string" }
        },
        "required": ["pattern_type", "confidence"]
    })
}

/// The arguments of `Brainstormer`.
pub(super) fn ideas_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ideas": { "type": "array", "minItems": 2, "items": { "type": "string" } }
        },
        "required": ["ideas"]
    })
}

/// The arguments of `NodeGenerator`.
pub(super) fn outline_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "phases": {
                "type": "array", "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "title": { "type": "string" },
                        "tasks": {
                            "type": "array", "minItems": 1,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "id": { "type": "string" },
                                    "title": { "type": "string" },
                                    "done_when": { "type": "string" },
                                    "minutes": { "type": "integer", "minimum": 5, "maximum": 9600 },
                                    "optional": { "type": "boolean" },
                                    "doer": { "type": "string", "enum": ["human", "agent", "shell"] },
                                    "command": { "type": "string" }
                                },
                                "required": ["title"]
                            }
                        }
                    },
                    "required": ["title", "tasks"]
                }
            },
            "self_score": { "type": "number", "minimum": 0, "maximum": 1 }
        },
        "required": ["phases"]
    })
}

/// The arguments of `RoadmapBuilder`.
pub(super) fn roadmap_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "estimates": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "minutes": { "type": "integer", "minimum": 5, "maximum": 9600 }
                    },
                    "required": ["id", "minutes"]
                }
            },
            "links": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "from": { "type": "string" },
                        "to": { "type": "string" },
                        "kind": { "type": "string", "enum": ["FS", "SS", "FF", "SF"] },
                        "lag_minutes": { "type": "integer", "minimum": -9600, "maximum": 9600 },
                        "why": { "type": "string" }
                    },
                    "required": ["from", "to"]
                }
            },
            "rationale": { "type": "string" },
            "self_score": { "type": "number", "minimum": 0, "maximum": 1 }
        },
        "required": ["estimates"]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_set_can_work() {
        check_tools(&PLAN_TOOLS).unwrap();
    }

    #[test]
    fn every_tool_has_a_name_that_traces_can_be_matched_by() {
        use planwright_model::PlanningToolName;
        for tool in PLAN_TOOLS {
            let name = PlanningToolName::from(tool.name);
            assert!(PlanningToolName::KNOWN.contains(&name), "{}", tool.name);
        }
    }

    #[test]
    fn a_broken_set_names_its_tools() {
        let without: Vec<PlanTool> =
            PLAN_TOOLS.into_iter().filter(|tool| tool.name != "NodeGenerator").collect();
        let error = check_tools(&without).unwrap_err();
        assert!(error.to_string().contains("needs outline"), "{error}");
        let stages: &'static [PlanState] = &[DraftOutline];
        let circle = [
            plan_tool("A", &["b"], &["a"], stages, ""),
            plan_tool("B", &["a"], &["b"], stages, ""),
        ];
        assert_eq!(check_tools(&circle).unwrap_err().to_string(), "A and B need each other");
    }

    #[test]
    fn an_agent_sees_only_the_tools_of_its_stage() {
        let names: Vec<&str> = tools_for_state(DraftOutline).map(|tool| tool.name).collect();
        assert_eq!(
            names,
            ["PatternSelector", "Brainstormer", "NodeGenerator", "OptionCrafter", "Summarizer"]
        );
        assert!(tools_for_state(DraftSchedule).all(|tool| tool.name != "NodeGenerator"));
    }
}
