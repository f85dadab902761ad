//! Tool names on the wire: providers accept letters, digits, `_` and `-`; the registry uses dots as well.

use std::collections::BTreeMap;

use super::{GenerateRequest, MessagePart};

const LONGEST: usize = 64;

/// Maps the names of one request in both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolNameMap {
    to_wire: BTreeMap<String, String>,
    to_registry: BTreeMap<String, String>,
}

impl ToolNameMap {
    /// Covers the tools of a request and those called earlier in the conversation.
    pub(crate) fn from_request(request: &GenerateRequest) -> Self {
        let mut map = Self::default();
        for tool in &request.tools {
            map.add_name(&tool.name);
        }
        for part in request.messages.iter().flat_map(|message| &message.parts) {
            match part {
                MessagePart::Call(call) => map.add_name(&call.name),
                MessagePart::Result { name, .. } => map.add_name(name),
                MessagePart::Text { .. } | MessagePart::Reasoning(_) => {}
            }
        }
        map
    }

    fn add_name(&mut self, name: &str) {
        if self.to_wire.contains_key(name) {
            return;
        }
        let plain = sanitize_name(name);
        let mut wire = plain.clone();
        let mut number = 2;
        while self.to_registry.contains_key(&wire) {
            let suffix = format!("_{number}");
            wire = format!("{}{suffix}", &plain[..plain.len().min(LONGEST - suffix.len())]);
            number += 1;
        }
        self.to_registry.insert(wire.clone(), name.to_owned());
        self.to_wire.insert(name.to_owned(), wire);
    }

    pub(crate) fn wire_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.to_wire.get(name).map_or(name, String::as_str)
    }

    /// The registry name for what a model called. Models vary names; a name without a match is returned unchanged.
    pub(crate) fn registry_name(&self, called: &str) -> String {
        let trimmed = called.trim();
        let trimmed = trimmed.strip_prefix("functions.").unwrap_or(trimmed);
        if let Some(name) = self.to_registry.get(trimmed) {
            return name.clone();
        }
        if self.to_wire.contains_key(trimmed) {
            return trimmed.to_owned();
        }
        let sanitized = sanitize_name(trimmed).to_ascii_lowercase();
        let mut candidates =
            self.to_registry.iter().filter(|(wire, _)| wire.to_ascii_lowercase() == sanitized);
        match (candidates.next(), candidates.next()) {
            (Some((_, name)), None) => name.clone(),
            _ => called.to_owned(),
        }
    }
}

fn sanitize_name(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let plain: String = name
        .chars()
        .take(LONGEST)
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect();
    if plain.is_empty() { "tool".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Message, ToolSpec};

    fn map(names: &[&str]) -> ToolNameMap {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.tools = names.iter().map(|name| spec(name)).collect();
        ToolNameMap::from_request(&request)
    }

    fn spec(name: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: String::new(), schema: serde_json::json!({}) }
    }

    #[test]
    fn dots_become_underscores_and_come_back_even_when_names_collide() {
        let map = map(&["file.read", "file_read", "web.fetch"]);
        assert_eq!(map.wire_name("file.read"), "file_read");
        assert_eq!(map.wire_name("file_read"), "file_read_2");
        assert_eq!(map.registry_name("file_read"), "file.read");
        assert_eq!(map.registry_name("file_read_2"), "file_read");
        assert_eq!(map.registry_name("functions.web_fetch"), "web.fetch");
        assert_eq!(map.registry_name("Web.Fetch"), "web.fetch");
        assert_eq!(map.registry_name("rm"), "rm");
    }

    proptest! {
        #[test]
        fn every_name_is_legal_unique_and_comes_back(names in prop::collection::btree_set(".{1,80}", 1..8)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let map = map(&names);
            for name in &names {
                let wire = map.wire_name(name);
                prop_assert!((1..=64).contains(&wire.len()));
                prop_assert!(wire.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                let mapped_back = map.to_registry[wire].as_str();
                prop_assert_eq!(mapped_back, *name);
            }
        }
    }
}
