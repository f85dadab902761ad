//! The prompts of planning: files that ship with the program and can be replaced from the config directory.

use std::collections::BTreeMap;

/// Name and text of every built-in prompt of planning.
pub const PROMPTS: [(&str, &str); 5] = [
    ("agent_system", include_str!("../../../assets/prompts/agent_system.md")),
    ("pattern_selector", include_str!("../../../assets/prompts/pattern_selector.md")),
    ("node_generator", include_str!("../../../assets/prompts/node_generator.md")),
    ("roadmap_builder", include_str!("../../../assets/prompts/roadmap_builder.md")),
    ("brainstormer", include_str!("../../../assets/prompts/brainstormer.md")),
];

/// The prompts in use.
#[derive(Clone, Debug)]
pub struct Prompts {
    texts: BTreeMap<String, String>,
}

impl Default for Prompts {
    fn default() -> Self {
        let texts = PROMPTS.map(|(name, text)| (name.to_owned(), body(text))).into();
        Self { texts }
    }
}

/// The text below the line with the version.
fn body(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("<!--") => rest.trim().to_owned(),
        _ => text.trim().to_owned(),
    }
}

impl Prompts {
    /// Puts the person's own texts in the place of built-in ones of the same name.
    pub fn with(mut self, own: impl IntoIterator<Item = (String, String)>) -> Self {
        for (name, text) in own {
            self.texts.insert(name, body(&text));
        }
        self
    }

    /// The system prompt for one tool of planning.
    pub(super) fn system(&self, tool: &str) -> String {
        let name = match tool {
            "PatternSelector" => "pattern_selector",
            "NodeGenerator" => "node_generator",
            "RoadmapBuilder" => "roadmap_builder",
            "Brainstormer" => "brainstormer",
            _ => "",
        };
        let text = |name: &str| self.texts.get(name).map(String::as_str).unwrap_or_default();
        format!("{}\n\n{}", text("agent_system"), text(name)).trim().to_owned()
    }
}
