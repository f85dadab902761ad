//! The available tools, by name, and their descriptions for a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::context::ToolFilter;
use super::meta::ToolMeta;
use super::tool::Tool;

/// The longest name that every provider accepts.
const LONGEST_WIRE_NAME: usize = 64;

/// All tools of a session, in the order of their names.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    aliases: BTreeMap<String, String>,
}

/// A tool as described to a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolDescription {
    /// Letters, digits, `_` and `-`, at most 64: what every provider accepts.
    pub wire_name: String,
    pub name: String,
    pub description: String,
    pub schema: Value,
}

impl std::fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

impl ToolRegistry {
    /// Adds a tool. A name already in use is rejected: no tool may replace another one.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), String> {
        let meta = tool.meta();
        let name = meta.name.clone();
        if self.tools.contains_key(&name) || self.aliases.contains_key(&name) {
            return Err(format!("there are two tools named {name}"));
        }
        for alias in &meta.aliases {
            self.aliases.insert(alias.clone(), name.clone());
        }
        self.tools.insert(name, tool);
        Ok(())
    }

    /// Removes the tools whose names have this prefix.
    pub fn remove_with_prefix(&mut self, start: &str) {
        self.tools.retain(|name, _| !name.starts_with(start));
        self.aliases.retain(|_, name| !name.starts_with(start));
    }

    /// Finds a tool by its name, an alias, or its wire name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools
            .get(name)
            .or_else(|| self.tools.get(self.aliases.get(name)?))
            .or_else(|| self.tools.get(&self.name_from_wire(name)?))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    pub fn all_tools(&self) -> impl Iterator<Item = &ToolMeta> {
        self.tools.values().map(|tool| tool.meta())
    }

    /// The tools that a filter allows.
    pub fn available_tools<'a>(
        &'a self,
        filter: &'a ToolFilter,
    ) -> impl Iterator<Item = &'a ToolMeta> {
        self.all_tools().filter(|meta| filter.admits(meta))
    }

    /// The existing name that is most similar to an unknown one.
    pub fn nearest_name(&self, name: &str) -> Option<&str> {
        planwright_text::nearest_name(name, self.names())
    }

    /// Descriptions for a model, of the tools that a filter allows.
    pub fn describe_tools(&self, filter: &ToolFilter) -> Vec<ToolDescription> {
        let wire = self.wire_names();
        self.available_tools(filter)
            .map(|meta| ToolDescription {
                wire_name: wire.get(meta.name.as_str()).cloned().unwrap_or_default(),
                name: meta.name.clone(),
                description: planwright_text::clean_text(&meta.description).to_string(),
                schema: meta.schema.clone(),
            })
            .collect()
    }

    /// The name that belongs to a wire name.
    pub fn name_from_wire(&self, wire_name: &str) -> Option<String> {
        let wire = self.wire_names();
        wire.into_iter().find(|(_, wire)| wire == wire_name).map(|(name, _)| name.to_owned())
    }

    /// Wire names of all tools, all different, whatever the names are.
    fn wire_names(&self) -> BTreeMap<&str, String> {
        let mut taken: BTreeMap<String, u32> = BTreeMap::new();
        self.tools
            .keys()
            .map(|name| {
                let mut wire = to_wire_name(name);
                while let Some(count) = taken.get_mut(&wire) {
                    *count += 1;
                    let suffix = format!("_{count}");
                    wire.truncate(LONGEST_WIRE_NAME - suffix.len());
                    wire.push_str(&suffix);
                }
                taken.insert(wire.clone(), 1);
                (name.as_str(), wire)
            })
            .collect()
    }
}

fn to_wire_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(fits).take(LONGEST_WIRE_NAME).collect()
}
