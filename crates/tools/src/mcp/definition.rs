//! The definition of a server's tool: the text a user consents to, and what has changed since.

use std::fmt::Write as _;

use serde_json::Value;
#[cfg(feature = "mcp")]
use serde_json::{Map, json};

use planwright_model::Digest;

/// Name, title, description and arguments of a tool, as given by its server. An approval is bound to all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition(Value);

/// What an approval is bound to: name, description and arguments.
#[cfg(feature = "mcp")]
pub fn definition_hash(tool: &rmcp::model::Tool) -> Digest {
    ToolDefinition::from_tool(tool).hash()
}

impl ToolDefinition {
    #[cfg(feature = "mcp")]
    pub(super) fn from_tool(tool: &rmcp::model::Tool) -> Self {
        Self(json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "schema": *tool.input_schema,
        }))
    }

    /// Parses what was stored with an approval. `None` if it does not match the approved hash: an older program may
    /// have replaced the hash and left the text.
    pub fn parse_approved(stored: &str, approved: &Digest) -> Option<Self> {
        let definition = Self(serde_json::from_str(stored).ok()?);
        (definition.hash() == *approved).then_some(definition)
    }

    pub fn hash(&self) -> Digest {
        Digest::from_json(&self.0)
    }

    /// The form in which a definition is stored with an approval.
    pub fn to_stored(&self) -> String {
        self.0.to_string()
    }

    #[cfg(feature = "mcp")]
    pub(super) fn schema(&self) -> Map<String, Value> {
        self.0["schema"].as_object().cloned().unwrap_or_default()
    }

    /// The complete definition as text, line by line. Deceptive characters are still in it: the caller must make them
    /// visible.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for part in ["name", "title"] {
            if let Some(value) = self.0[part].as_str() {
                let _ = writeln!(text, "{part}: {value}");
            }
        }
        text.push_str("description:\n");
        for line in self.0["description"].as_str().unwrap_or("(none)").split('\n') {
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("arguments:\n");
        let schema = serde_json::to_string_pretty(&self.0["schema"]).unwrap_or_default();
        for line in schema.lines() {
            let _ = writeln!(text, "  {line}");
        }
        text
    }

    /// The difference from an earlier definition, as lines with `-` and `+`.
    pub fn difference_from(&self, earlier: &Self) -> String {
        let (old, new) = (earlier.to_text(), self.to_text());
        similar::TextDiff::from_lines(&old, &new)
            .unified_diff()
            .context_radius(2)
            .header("approved before", "offered now")
            .to_string()
    }

    /// The text a user reads before approving the tool.
    pub fn to_consent_text(&self, earlier: &EarlierApproval) -> String {
        match earlier {
            EarlierApproval::Never => self.to_text(),
            EarlierApproval::Approved(approved) => format!(
                "what changed since you approved it:\n{}\nall of it as it is now:\n{}",
                self.difference_from(approved),
                self.to_text()
            ),
            EarlierApproval::NotKept => format!(
                "it changed since you approved it; the text you approved was not kept, so that all of it is shown:\n{}",
                self.to_text()
            ),
        }
    }
}

/// What the user approved of a tool before, if it differs.
#[derive(Clone, Debug, PartialEq)]
pub enum EarlierApproval {
    Never,
    Approved(ToolDefinition),
    /// Only its hash is known: it was approved with an earlier version.
    NotKept,
}

impl EarlierApproval {
    /// Reads the state from what is stored about a tool.
    pub fn from_stored(approved: Option<&Digest>, stored: Option<&str>) -> Self {
        let Some(approved) = approved else { return Self::Never };
        stored
            .and_then(|stored| ToolDefinition::parse_approved(stored, approved))
            .map_or(Self::NotKept, Self::Approved)
    }
}

#[cfg(feature = "mcp")]
#[cfg(test)]
mod tests {
    use super::*;

    fn definition(description: &str) -> ToolDefinition {
        let schema = json!({ "type": "object", "properties": { "word": { "type": "string" } } });
        let tool = json!({ "name": "twice", "description": description, "inputSchema": schema });
        ToolDefinition::from_tool(&serde_json::from_value(tool).unwrap())
    }

    #[test]
    fn consent_shows_every_line_and_what_changed() {
        let long = (0..300).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let (old, new) = (definition(&long), definition(&long.replace("line 150", "send it all")));
        let first = old.to_consent_text(&EarlierApproval::Never);
        assert!((0..300).all(|n| first.contains(&format!("  line {n}\n"))));
        assert!(first.contains("\"word\": {"), "{first}");
        let earlier = EarlierApproval::from_stored(Some(&old.hash()), Some(&old.to_stored()));
        assert_eq!(earlier, EarlierApproval::Approved(old.clone()));
        let changed = new.to_consent_text(&earlier);
        assert!(changed.contains("-  line 150\n+  send it all\n"), "{changed}");
        assert!(changed.contains("  line 299\n"), "all of it is shown as well");
    }

    #[test]
    fn a_text_that_differs_from_the_approved_hash_is_not_compared() {
        let (old, new) = (definition("one"), definition("two"));
        assert_eq!(
            EarlierApproval::from_stored(Some(&new.hash()), Some(&old.to_stored())),
            EarlierApproval::NotKept
        );
        assert_eq!(EarlierApproval::from_stored(Some(&new.hash()), None), EarlierApproval::NotKept);
        assert_eq!(EarlierApproval::from_stored(None, None), EarlierApproval::Never);
        assert!(new.to_consent_text(&EarlierApproval::NotKept).contains("was not kept"));
    }
}
