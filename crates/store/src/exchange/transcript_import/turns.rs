//! The tasks of a transcript: one for each turn, in order, and one for each subagent beside the turn that asked for it.

use std::collections::HashMap;

use serde_json::Value;

use super::item::{ItemContent, ReadTranscript, title_of};
use super::todo::todo_list;
use planwright_model::{LinkKind, TaskId, TaskLink, TaskNode};

/// More turns and subagents than this share the last task.
const MAX_NODES: usize = 5_000;

/// The longest description of a call.
const MAX_CALL_CHARS: usize = 200;

#[derive(Clone, Debug)]
pub(super) struct TranscriptNode {
    pub id: TaskId,
    title: String,
    link: Option<TaskLink>,
    /// The first and the last item about it.
    pub first: usize,
    last: usize,
}

/// Which items belong to which node.
#[derive(Debug)]
pub(super) struct TurnPlan {
    /// In the order of their first items.
    pub nodes: Vec<TranscriptNode>,
    pub node_of_item: Vec<usize>,
    ends: HashMap<usize, Vec<usize>>,
}

impl TurnPlan {
    pub(super) fn from_transcript(read: &ReadTranscript, title: &str) -> Self {
        let mut plan = TurnPlanner { title, ..TurnPlanner::default() };
        for (index, item) in read.items.iter().enumerate() {
            let place = match &item.subagent {
                Some(agent) => plan.subagent_node(agent, &item.content, index),
                None => plan.turn_node(&item.content, index),
            };
            plan.nodes[place].last = index;
            plan.node_of_item.push(place);
        }
        let mut ends: HashMap<usize, Vec<usize>> = HashMap::new();
        for (place, node) in plan.nodes.iter().enumerate() {
            ends.entry(node.last).or_default().push(place);
        }
        Self { nodes: plan.nodes, node_of_item: plan.node_of_item, ends }
    }

    pub(super) fn tasks(&self) -> Vec<TaskNode> {
        let task = |node: &TranscriptNode| TaskNode {
            dependencies: node.link.iter().cloned().collect(),
            ..TaskNode::new(node.id.clone(), node.title.clone())
        };
        self.nodes.iter().map(task).collect()
    }

    /// The nodes whose last item this is.
    pub(super) fn ends_at(&self, index: usize) -> Vec<usize> {
        self.ends.get(&index).cloned().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct TurnPlanner<'a> {
    title: &'a str,
    nodes: Vec<TranscriptNode>,
    node_of_item: Vec<usize>,
    /// The place of the turn that goes on.
    turn: Option<usize>,
    /// The turn has begun with what the person asked, not only with what stands before it.
    is_asked: bool,
    turns: usize,
    agents: HashMap<String, usize>,
}

impl TurnPlanner<'_> {
    fn turn_node(&mut self, content: &ItemContent, index: usize) -> usize {
        let title = match content {
            ItemContent::Prompt(text) => Some(title_of(text)),
            ItemContent::TurnStarted => Some(None),
            _ => None,
        };
        match (title, self.turn) {
            (None, Some(turn)) => turn,
            // What stands before the first prompt belongs to its turn.
            (Some(title), Some(turn)) if !self.is_asked => {
                self.is_asked = true;
                if let Some(title) = title {
                    self.nodes[turn].title = title;
                }
                turn
            }
            (title, _) => {
                self.is_asked = title.is_some();
                self.add_turn(title.flatten(), index)
            }
        }
    }

    fn add_turn(&mut self, title: Option<String>, index: usize) -> usize {
        if let Some(turn) = self.turn.filter(|_| self.nodes.len() >= MAX_NODES) {
            return turn;
        }
        self.turns += 1;
        let first_title = (self.turns == 1).then(|| self.title.to_owned());
        let title = title.or(first_title).unwrap_or_else(|| format!("Turn {}", self.turns));
        let before = self.turn.map(|turn| self.nodes[turn].id.clone());
        let link = before.map(TaskLink::finish_to_start);
        let id = TaskId::from(format!("turn-{}", self.turns));
        self.turn = Some(self.nodes.len());
        self.nodes.push(TranscriptNode { id, title, link, first: index, last: index });
        self.nodes.len() - 1
    }

    fn subagent_node(&mut self, agent: &str, content: &ItemContent, index: usize) -> usize {
        if let Some(place) = self.agents.get(agent).copied() {
            if let ItemContent::SubagentStarted(title) = content {
                self.nodes[place].title.clone_from(title);
            }
            return place;
        }
        let full = self.nodes.len() >= MAX_NODES;
        if let Some(turn) = self.turn.filter(|_| full) {
            return turn;
        }
        let title = match content {
            ItemContent::SubagentStarted(title) => title.clone(),
            _ => "Subagent".to_owned(),
        };
        // It works while the turn that asked for it waits.
        let link = self.turn.map(|turn| TaskLink {
            kind: LinkKind::SS,
            ..TaskLink::finish_to_start(self.nodes[turn].id.clone())
        });
        let id = TaskId::from(format!("subagent-{}", self.agents.len() + 1));
        self.agents.insert(agent.to_owned(), self.nodes.len());
        self.nodes.push(TranscriptNode { id, title, link, first: index, last: index });
        self.nodes.len() - 1
    }
}

/// The arguments that tell best what a call does, in this order.
const TELLING: [&str; 14] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "url",
    "subject",
    "description",
    "objective",
    "prompt",
    "name",
    "explanation",
];

/// A call in one line: the tool and what it is called with.
pub(super) fn describe_call(tool: &str, input: &Value) -> String {
    let telling = TELLING.iter().find_map(|name| match input.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(words.join(" "))
        }
        _ => None,
    });
    if let Some(items) = todo_list(tool, input) {
        return format!("{tool}: {} items", items.len());
    }
    let arguments = match (telling, input) {
        (Some(text), _) => text,
        (None, Value::Null) => return tool.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, Value::Object(fields)) if fields.is_empty() => return tool.to_owned(),
        (None, other) => other.to_string(),
    };
    let line = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(MAX_CALL_CHARS).collect();
    let more = if short.len() < line.len() { "…" } else { "" };
    format!("{tool}: {short}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_told_by_its_most_telling_argument() {
        assert_eq!(describe_call("Bash", &json!({ "command": "ls\n -l" })), "Bash: ls -l");
        assert_eq!(describe_call("shell", &json!({ "command": ["ls", "-l"] })), "shell: ls -l");
        assert_eq!(describe_call("plan", &json!({ "steps": [1] })), "plan: {\"steps\":[1]}");
        assert_eq!(describe_call("list", &Value::Null), "list");
        assert_eq!(describe_call("list", &json!({})), "list");
        let long = describe_call("say", &json!("x".repeat(500)));
        assert!(long.ends_with('…') && long.chars().count() < 220, "{long}");
    }
}
