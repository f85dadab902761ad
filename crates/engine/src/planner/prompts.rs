//! The prompts of planning: files that ship with the program and can be replaced from the config directory.

use std::collections::BTreeMap;

/// Name and text of every built-in prompt of planning.
pub const PROMPTS: [(&str, &str); 7] = [
    ("agent_system", include_str!("../../../../assets/prompts/agent_system.md")),
    ("pattern_selector", include_str!("../../../../assets/prompts/pattern_selector.md")),
    ("node_generator", include_str!("../../../../assets/prompts/node_generator.md")),
    ("roadmap_builder", include_str!("../../../../assets/prompts/roadmap_builder.md")),
    ("brainstormer", include_str!("../../../../assets/prompts/brainstormer.md")),
    ("summarizer", include_str!("../../../../assets/prompts/summarizer.md")),
    ("open_planner", include_str!("../../../../assets/prompts/planner/open_planner.md")),
];

/// The prompts in use.
#[derive(Clone, Debug)]
pub struct PlanningPrompts {
    texts: BTreeMap<String, String>,
}

impl Default for PlanningPrompts {
    fn default() -> Self {
        let texts = PROMPTS.map(|(name, text)| (name.to_owned(), prompt_body(text))).into();
        Self { texts }
    }
}

/// The text below the line with the version.
fn prompt_body(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("<!--") => rest.trim().to_owned(),
        _ => text.trim().to_owned(),
    }
}

impl PlanningPrompts {
    /// Puts the person's own texts in the place of built-in ones of the same name.
    pub fn with_overrides(mut self, own: impl IntoIterator<Item = (String, String)>) -> Self {
        for (name, text) in own {
            self.texts.insert(name, prompt_body(&text));
        }
        self
    }

    /// A prompt by its name.
    pub(super) fn text(&self, name: &str) -> &str {
        self.texts.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The system prompt for one tool of planning.
    pub(super) fn system_prompt(&self, tool: &str) -> String {
        let name = match tool {
            "PatternSelector" => "pattern_selector",
            "NodeGenerator" => "node_generator",
            "RoadmapBuilder" => "roadmap_builder",
            "Brainstormer" => "brainstormer",
            _ => "",
        };
        format!("{}\n\n{}", self.text("agent_system"), self.text(name)).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    /// Each prompt with the words that its duties are known by.
    const DUTIES: [(&str, &str, &[&str]); 8] = [
        (
            "agent_system",
            include_str!("../../../../assets/prompts/agent_system.md"),
            &[
                "tools only",
                "## Stages",
                "validator",
                "two axes",
                "taxonomy",
                "policy",
                "milestone_project",
                "recurring_cycle",
                "progressive_accumulation_arc",
                "hybrid_project_cycle",
                "strategic_transformation",
                "one call to action",
            ],
        ),
        (
            "pattern_selector",
            include_str!("../../../../assets/prompts/pattern_selector.md"),
            &["nearest", "subtype", "proposed:", "rfc", "confidence"],
        ),
        (
            "node_generator",
            include_str!("../../../../assets/prompts/node_generator.md"),
            &["phase", "task", "done_when", "lock"],
        ),
        (
            "roadmap_builder",
            include_str!("../../../../assets/prompts/roadmap_builder.md"),
            &["estimate", "link", "minutes"],
        ),
        (
            "summarizer",
            include_str!("../../../../assets/prompts/summarizer.md"),
            &["Shorten", "decisions", "Say nothing that is not there"],
        ),
        (
            "brainstormer",
            include_str!("../../../../assets/prompts/brainstormer.md"),
            &["three ideas", "two where the style is concise", "differs", "effort, span or risk"],
        ),
        (
            "option_crafter",
            include_str!("../../../../assets/prompts/option_crafter.md"),
            &["two or three", "differs", "effort", "span", "risk"],
        ),
        (
            "task_executor",
            include_str!("../../../../assets/prompts/executor/task_executor.md"),
            &["step", "CALL_TOOL", "DONE", "ESCALATE"],
        ),
    ];

    #[test]
    fn every_prompt_names_its_duties_and_has_a_version() {
        for (name, text, duties) in DUTIES {
            assert!(text.starts_with("<!-- version: "), "{name} has no version");
            for duty in duties {
                assert!(text.contains(duty), "{name} does not say \"{duty}\"");
            }
        }
    }

    /// Steps of task types are data that a planner does not need to know.
    #[test]
    fn the_planners_prompt_names_no_step_of_a_task_type() {
        let planner =
            include_str!("../../../../assets/prompts/planner/task_planner.md").to_lowercase();
        for step in ["synthesize", "understand (", "research →", "generate →", "edit →"] {
            assert!(!planner.contains(step), "it names {step}");
        }
    }
}
