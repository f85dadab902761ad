//! Which tools a task may use, and which one does a step.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AgentJob, AgentServices};
use planwright_drafting::executor::{TaskType, TaskTypeStep, ToolFacts, rules::SEARCH_LIKE};
use planwright_llm::ToolSpec;
use planwright_model::agent_conversation::ConversationTool;
use planwright_model::task::MIN_AFFINITY;
use planwright_model::tool_choice::ToolSelection;
use planwright_model::{CallId, TaskNode};
use planwright_tools::affinity::{RankedTool, choose_tool};
use planwright_tools::context::EXPLORE;
use planwright_tools::{RepeatKind, ToolFilter, ToolInvocation, ToolMeta, Toolbox};

/// The name under which a model says that it is done.
pub(super) const DONE: &str = "task.done";
/// The name under which it says that it is stuck.
pub(super) const ESCALATE: &str = "task.escalate";

/// What an earlier place in the pattern of a step is worth, compared with a score.
const PLACE_WORTH: f64 = 0.10;
/// What a failure of the tool in the same attempt costs it.
const FAILURE_COST: f64 = 0.25;

/// The tools of one decision.
pub(super) struct DecisionTools {
    by_name: BTreeMap<String, ToolFacts>,
    specs: Vec<ToolSpec>,
    pub(super) left_out: Vec<(String, String)>,
}

impl DecisionTools {
    /// Everything that is registered, set up, permitted to the task and its role, and not refused by its breaker.
    pub(super) fn for_job(
        services: &AgentServices,
        job: &AgentJob,
        kind: &TaskType,
        role_tools: Option<&[String]>,
    ) -> Self {
        let toolbox = &services.toolbox;
        let mut tools = Self { by_name: BTreeMap::new(), specs: Vec::new(), left_out: Vec::new() };
        let (registry, everything) = (toolbox.registry(), ToolFilter::default());
        let mut paused = Vec::new();
        for meta in registry.available_tools(&everything) {
            let why = if !is_tool_for_task(meta, &job.task, kind, role_tools) {
                continue;
            } else if !is_tool_configured(toolbox, &meta.name) {
                "not_configured"
            } else if is_affinity_too_low(job, &meta.name) {
                "below_threshold"
            } else if is_breaker_open(toolbox, job, &meta.name) {
                paused.push(meta);
                continue;
            } else {
                tools.add_tool(meta);
                continue;
            };
            tools.left_out.push((meta.name.clone(), why.to_owned()));
        }
        // A tool that nothing else can stand in for stays: its call waits until it may be tried again.
        for meta in paused {
            if tools.has_substitute(&meta.name, kind) {
                tools.left_out.push((meta.name.clone(), "breaker_open".to_owned()));
            } else {
                tools.add_tool(meta);
            }
        }
        tools.sort_by_fit(job);
        tools
    }

    /// Whether every step that a tool does has another one that is offered.
    fn has_substitute(&self, tool: &str, kind: &TaskType) -> bool {
        let other = |step: &TaskTypeStep| {
            step.tools.iter().any(|name| name != tool && self.by_name.contains_key(name))
        };
        let mut steps = kind.steps.iter().filter(|step| step.tools.iter().any(|one| one == tool));
        !kind.until_done && steps.all(other)
    }

    /// Best first, with the score for the model to read. The list of a task without scores stays as it is.
    fn sort_by_fit(&mut self, job: &AgentJob) {
        let score = |name: &str| fit_score(job, name);
        self.specs.sort_by(|one, other| {
            score(&other.name).unwrap_or(0.0).total_cmp(&score(&one.name).unwrap_or(0.0))
        });
        for spec in &mut self.specs {
            spec.description = described_fit(&spec.description, score(&spec.name));
        }
    }

    fn add_tool(&mut self, meta: &ToolMeta) {
        let search_like = SEARCH_LIKE.contains(&meta.name.as_str());
        let facts = ToolFacts { read_only: is_read_only(meta) || search_like, search_like };
        self.by_name.insert(meta.name.clone(), facts);
        self.specs.push(ToolSpec {
            name: meta.name.clone(),
            description: planwright_text::clean_text(&meta.description).into_owned(),
            schema: meta.schema.clone(),
        });
    }

    pub(super) fn tool_facts(&self, name: &str) -> Option<ToolFacts> {
        self.by_name.get(name).copied()
    }

    pub(super) fn tool_spec(&self, name: &str) -> Option<&ToolSpec> {
        self.specs.iter().find(|spec| spec.name == name)
    }

    /// What the model is offered: the tools and the two ways to end.
    pub(super) fn offered_specs(&self) -> Vec<ToolSpec> {
        let words = |name: &str, description: &str, field: &str| ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: serde_json::json!({
                "type": "object",
                "properties": {field: {"type": "string"}},
                "required": [field],
            }),
        };
        let mut specs = self.specs.clone();
        specs.push(words(DONE, "Say that the task is done, with the answer.", "answer"));
        specs.push(words(ESCALATE, "Say what stands in the way of the task.", "issue"));
        specs
    }

    /// Tools that can do a step, best first. What failed in this attempt goes behind others that fit nearly as well.
    pub(super) fn tools_for_step(
        &self,
        step: &TaskTypeStep,
        affinity: &[RankedTool],
        failures: impl Fn(&str) -> u32,
    ) -> Vec<String> {
        let mut names: Vec<String> = if step.tools.is_empty() {
            self.by_name.keys().cloned().collect()
        } else {
            step.tools.iter().filter(|name| self.by_name.contains_key(*name)).cloned().collect()
        };
        // Where nothing tells tools apart, the order of the pattern holds: the sort is stable, and each place in the
        // pattern is worth something.
        let score = |name: &String| {
            let fit =
                affinity.iter().find(|one| one.tool == *name).map_or(0.0, |one| one.affinity.score);
            let place = step.tools.iter().position(|one| one == name).unwrap_or(0);
            let failed = f64::from(failures(name)) * FAILURE_COST;
            fit - place.min(3) as f64 * PLACE_WORTH - failed
        };
        names.sort_by(|one, other| score(other).total_cmp(&score(one)));
        names
    }

    /// Why this tool: its score, those of the others that could have done it, and what was left out.
    pub(super) fn explain_choice(
        &self,
        tool: &str,
        affinity: &[RankedTool],
    ) -> Option<ToolSelection> {
        let chosen = affinity.iter().find(|one| one.tool == tool)?;
        let usable: Vec<RankedTool> =
            affinity.iter().filter(|one| self.by_name.contains_key(&one.tool)).cloned().collect();
        let (_, mut left_out) = choose_tool(&usable, |_| false);
        left_out.extend(self.left_out.iter().cloned());
        let others = usable.iter().filter(|one| one.tool != tool).take(3);
        Some(ToolSelection {
            tool: tool.to_owned(),
            affinity: chosen.affinity,
            given: chosen.given,
            others: others.map(|one| (one.tool.clone(), one.affinity.score)).collect(),
            left_out,
        })
    }

    /// How much better the best tool would have been.
    pub(super) fn affinity_gap(&self, tool: &str, affinity: &[RankedTool]) -> f64 {
        let score = |name: &str| {
            affinity.iter().find(|one| one.tool == name).map_or(0.0, |one| one.affinity.score)
        };
        let best = self.by_name.keys().map(|name| score(name)).fold(0.0, f64::max);
        (best - score(tool)).max(0.0)
    }
}

/// Types whose tasks write code, and may therefore run what they wrote.
const CODING_TYPES: [&str; 2] = ["code_modify", "code_create"];
/// What tasks that write code need besides the tools of their steps.
const CODING_TOOLS: [&str; 4] = ["shell.run", "test.run", "file.write", "file.edit"];
/// What any task may organize itself with.
const ORGANIZING_TOOLS: [&str; 2] = ["parallel_execute", "manage_todo_list"];

/// The tools that a conversation offers: everything that is set up, permitted to the task and its role, and fits its type.
/// The list does not change while the conversation lasts, so a tool whose breaker is open is in it too.
pub(super) fn conversation_tools(
    services: &AgentServices,
    job: &AgentJob,
    kind: &TaskType,
    role_tools: Option<&[String]>,
) -> Vec<ConversationTool> {
    let toolbox = &services.toolbox;
    let is_coding = CODING_TYPES.contains(&kind.name.as_str());
    let fits = |meta: &ToolMeta| {
        let name = meta.name.as_str();
        let named = |names: &[String]| names.contains(&meta.name);
        let by_type = kind.until_done
            || is_read_only(meta)
            || ORGANIZING_TOOLS.contains(&name)
            || (is_coding && CODING_TOOLS.contains(&name))
            || kind.steps.iter().any(|step| named(&step.tools));
        let by_plan = if job.task.tools.is_empty() { by_type } else { named(&job.task.tools) };
        let ruled_out = is_affinity_too_low(job, name);
        by_plan && role_tools.is_none_or(named) && !ruled_out && is_tool_configured(toolbox, name)
    };
    let registry = toolbox.registry();
    let everything = ToolFilter::default();
    let offered = registry.available_tools(&everything).filter(|meta| fits(meta));
    let mut offered: Vec<ConversationTool> = offered
        .map(|meta| ConversationTool {
            name: meta.name.clone(),
            description: described_fit(
                &planwright_text::clean_text(&meta.description),
                fit_score(job, &meta.name),
            ),
            schema: meta.schema.clone(),
            read_only: meta.read_only
                && !matches!(meta.repeat, RepeatKind::Unsafe | RepeatKind::Verifiable),
        })
        .collect();
    let score = |tool: &ConversationTool| fit_score(job, &tool.name).unwrap_or(0.0);
    offered.sort_by(|one, other| score(other).total_cmp(&score(one)));
    offered
}

/// How well a tool fits the task, where scores count.
fn fit_score(job: &AgentJob, tool: &str) -> Option<f64> {
    let ranked = job.affinity.iter().find(|one| one.tool == tool && job.uses_affinity)?;
    Some(ranked.affinity.score)
}

/// The description of a tool with its score.
fn described_fit(description: &str, score: Option<f64>) -> String {
    match score {
        Some(score) => format!("{} (fit for this task: {score:.2})", description.trim_end()),
        None => description.to_owned(),
    }
}

impl AgentServices {
    /// Whether a task may change files: one of its tools writes them or runs commands. Without a model nothing does.
    pub fn may_write(&self, job: &AgentJob) -> bool {
        if self.dialogue.model().info().provider == planwright_llm::provider::OFFLINE {
            return false;
        }
        let kind = self.types.get_or_generic(&job.task.task_type);
        let (_, prompt) = self.prompts.role_prompt(&job.task.agent_role);
        let offered = conversation_tools(self, job, kind, prompt.tools.as_deref());
        let registry = self.toolbox.registry();
        let writes = |name: &str| {
            registry.get(name).is_some_and(|tool| {
                use planwright_tools::ToolEffect as Effect;
                matches!(
                    tool.meta().effect,
                    Effect::Write | Effect::Execute | Effect::ExecuteNetwork
                )
            })
        };
        offered.iter().any(|tool| writes(&tool.name))
    }
}

/// Whether a tool is for this task at all: what the plan and the role allow, and what the pattern needs.
fn is_tool_for_task(
    meta: &ToolMeta,
    task: &TaskNode,
    kind: &TaskType,
    role_tools: Option<&[String]>,
) -> bool {
    let named = |names: &[String]| names.contains(&meta.name);
    let by_plan = task.tools.is_empty() || named(&task.tools);
    let by_role = role_tools.is_none_or(named);
    let by_pattern =
        kind.until_done || is_read_only(meta) || kind.steps.iter().any(|step| named(&step.tools));
    by_plan && by_role && by_pattern
}

/// Whether a tool changes nothing but the agent's own notes.
fn is_read_only(meta: &ToolMeta) -> bool {
    meta.read_only || matches!(meta.name.as_str(), EXPLORE | "manage_todo_list")
}

fn is_affinity_too_low(job: &AgentJob, tool: &str) -> bool {
    if !job.uses_affinity {
        return false;
    }
    if let Some(given) = job.task.tool_affinity.get(tool) {
        return *given < MIN_AFFINITY;
    }
    job.affinity.iter().any(|one| one.tool == tool && one.affinity.score < MIN_AFFINITY)
}

/// Whether a tool has what it needs around it.
pub fn is_tool_configured(toolbox: &Toolbox, name: &str) -> bool {
    let services = toolbox.services();
    match name {
        "web.search" | "internet.research" => toolbox.settings().web.search_endpoint.is_some(),
        "memory.search" | "memory.save" => services.memory.is_some(),
        "explore_context" | "parallel_execute" => services.subtasks.is_some(),
        "manage_todo_list" => services.todo.is_some(),
        _ => true,
    }
}

fn is_breaker_open(toolbox: &Toolbox, job: &AgentJob, name: &str) -> bool {
    let id = CallId { task: job.task.id.clone(), attempt: job.attempt, step: 0 };
    let call = ToolInvocation::new(id, name, Value::Null);
    toolbox.call_host().call_conditions(&call).breaker_open_ms.is_some()
}
