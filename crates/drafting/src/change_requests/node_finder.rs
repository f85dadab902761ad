//! Finds the node that a phrase refers to: by id, by title, by words of a title, or by the marked nodes.

use planwright_model::{NodeTree, PlanNode, TaskId};
use planwright_text::nearest_name;

use super::phrase::{split_at_words, strip_quotes};
use super::position;

/// Finds nodes by what people call them.
pub(super) struct NodeFinder<'a> {
    pub(super) tree: NodeTree<'a>,
    nodes: &'a [PlanNode],
    pub(super) root: &'a TaskId,
    marked: &'a [TaskId],
}

/// Words that refer to the marked nodes.
const MARKED: [&str; 12] = [
    "",
    "this",
    "it",
    "these",
    "them",
    "that",
    "those",
    "this one",
    "this task",
    "these tasks",
    "marked",
    "the marked ones",
];

impl<'a> NodeFinder<'a> {
    pub(super) fn new(nodes: &'a [PlanNode], root: &'a TaskId, marked: &'a [TaskId]) -> Self {
        Self { tree: NodeTree::new(nodes), nodes, root, marked }
    }

    pub(super) fn has_marked_nodes(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Returns the only node that a phrase refers to, or `None` if it is ambiguous.
    pub(super) fn find_one(&self, phrase: &str) -> Option<&'a PlanNode> {
        if is_marked_phrase(phrase) {
            let [only] = self.marked else { return None };
            return self.tree.get(only);
        }
        self.find_named(phrase, |_| true)
    }

    /// Returns the only container that a phrase refers to.
    pub(super) fn find_container(&self, phrase: &str) -> Option<&'a PlanNode> {
        if is_marked_phrase(phrase) {
            return self.find_one(phrase).filter(|node| self.is_container(node));
        }
        self.find_named(phrase, |node| self.is_container(node))
    }

    pub(super) fn is_container(&self, node: &PlanNode) -> bool {
        node.node_type.is_container() || !self.tree.is_leaf(&node.id)
    }

    /// Returns all nodes that a phrase lists, or `None` if any of them is ambiguous.
    pub(super) fn find_all(&self, phrase: &str) -> Option<Vec<&'a PlanNode>> {
        if is_marked_phrase(phrase) {
            let found: Vec<_> = self.marked.iter().filter_map(|id| self.tree.get(id)).collect();
            return (!found.is_empty()).then_some(found);
        }
        if let Some(node) = self.find_named(phrase, |_| true) {
            return Some(vec![node]);
        }
        if let Some(found) = position::find_by_position(self, phrase) {
            return (!found.is_empty()).then_some(found);
        }
        let (first, rest) = split_at_words(phrase, &["and"])
            .into_iter()
            .next()
            .or_else(|| phrase.split_once(','))
            .filter(|(first, rest)| !first.trim().is_empty() && !rest.trim().is_empty())?;
        let first = split_phrases(first).into_iter();
        let mut found: Vec<&PlanNode> =
            first.map(|name| self.find_named(name, |_| true)).collect::<Option<_>>()?;
        found.extend(self.find_all(rest)?);
        Some(found)
    }

    fn find_named(&self, phrase: &str, admits: impl Fn(&PlanNode) -> bool) -> Option<&'a PlanNode> {
        let phrase = strip_quotes(phrase);
        let by_id = self.nodes.iter().find(|node| node.id.as_str().eq_ignore_ascii_case(phrase));
        if by_id.is_some() {
            return by_id;
        }
        if ["goal", "the goal", "plan", "the plan"].contains(&phrase.to_lowercase().as_str()) {
            return self.tree.get(self.root);
        }
        let full = normalize_words(phrase);
        let bare: Vec<String> = full
            .iter()
            .filter(|word| !["task", "step", "phase", "part", "stage"].contains(&word.as_str()))
            .cloned()
            .collect();
        if bare.is_empty() {
            return None;
        }
        let named: Vec<(&PlanNode, Vec<String>)> = self
            .nodes
            .iter()
            .filter(|node| node.id != *self.root && admits(node))
            .map(|node| (node, normalize_words(&node.title)))
            .collect();
        let mut tiers = title_matchers(&full, &bare).into_iter();
        let titled = |matches: TitleMatcher<'_>| {
            let mut found = named.iter().filter(|(_, title)| matches(title)).map(|(node, _)| *node);
            found.next().map(|first| if found.next().is_some() { None } else { Some(first) })
        };
        // A full title takes precedence over a position in the phrase; weaker matches do not.
        if let Some(found) = tiers.next().and_then(titled) {
            return found;
        }
        if let Some(found) = position::find_by_position(self, phrase) {
            let [only] = found.as_slice() else { return None };
            return Some(*only).filter(|node| admits(node));
        }
        tiers.find_map(titled)?
    }
}

fn is_marked_phrase(phrase: &str) -> bool {
    MARKED.contains(&phrase.trim().to_lowercase().as_str())
}

fn split_phrases(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

type TitleMatcher<'a> = Box<dyn Fn(&[String]) -> bool + 'a>;

/// Returns the ways to match a title, most specific first. The first one with any match must match exactly one node.
fn title_matchers<'a>(full: &'a [String], bare: &'a [String]) -> Vec<TitleMatcher<'a>> {
    let spelled: String = bare.join(" ");
    let mut tiers: Vec<TitleMatcher<'a>> = vec![
        Box::new(move |title| title == full),
        Box::new(move |title| title == bare),
        Box::new(move |title| title.starts_with(bare)),
        Box::new(move |title| title.windows(bare.len()).any(|window| window == bare)),
        Box::new(move |title| bare.iter().all(|word| title.contains(word))),
    ];
    // "last" is not a misspelled "list".
    if spelled.chars().count() >= 4 && !bare.iter().any(|word| position::is_position_word(word)) {
        let near = move |title: &[String]| {
            let windows: Vec<String> =
                title.windows(bare.len()).map(|part| part.join(" ")).collect();
            nearest_name(&spelled, windows.iter().map(String::as_str)).is_some()
        };
        tiers.push(Box::new(near));
    }
    tiers
}

/// Returns words in lowercase and singular, without articles.
pub(super) fn normalize_words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !["", "the", "a", "an"].contains(word))
        .map(|word| match word.strip_suffix('s') {
            Some(one) if one.len() > 2 && !one.ends_with('s') => one.to_owned(),
            _ => word.to_owned(),
        })
        .collect()
}
