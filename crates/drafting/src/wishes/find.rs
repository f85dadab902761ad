//! Which node a phrase means: by id, by title, by words of a title, or by what is marked.

use planwright_model::{NodeTree, PlanNode, TaskId};
use planwright_text::nearest;

use super::phrase::{parted, unquoted};
use super::place;

/// Finds nodes by what people call them.
pub(super) struct Finder<'a> {
    pub(super) tree: NodeTree<'a>,
    nodes: &'a [PlanNode],
    pub(super) root: &'a TaskId,
    marked: &'a [TaskId],
}

/// Words that stand for what is marked.
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

impl<'a> Finder<'a> {
    pub(super) fn new(nodes: &'a [PlanNode], root: &'a TaskId, marked: &'a [TaskId]) -> Self {
        Self { tree: NodeTree::new(nodes), nodes, root, marked }
    }

    pub(super) fn has_marks(&self) -> bool {
        !self.marked.is_empty()
    }

    /// The one node that a phrase means; none if it could be two.
    pub(super) fn one(&self, phrase: &str) -> Option<&'a PlanNode> {
        if is_marked(phrase) {
            let [only] = self.marked else { return None };
            return self.tree.get(only);
        }
        self.named(phrase, |_| true)
    }

    /// The one node with others below it that a phrase means.
    pub(super) fn container(&self, phrase: &str) -> Option<&'a PlanNode> {
        if is_marked(phrase) {
            return self.one(phrase).filter(|node| self.holds(node));
        }
        self.named(phrase, |node| self.holds(node))
    }

    pub(super) fn holds(&self, node: &PlanNode) -> bool {
        node.node_type.is_container() || !self.tree.is_leaf(&node.id)
    }

    /// All nodes that a phrase lists; none if any of them could be two.
    pub(super) fn all(&self, phrase: &str) -> Option<Vec<&'a PlanNode>> {
        if is_marked(phrase) {
            let found: Vec<_> = self.marked.iter().filter_map(|id| self.tree.get(id)).collect();
            return (!found.is_empty()).then_some(found);
        }
        if let Some(node) = self.named(phrase, |_| true) {
            return Some(vec![node]);
        }
        if let Some(found) = place::nodes(self, phrase) {
            return (!found.is_empty()).then_some(found);
        }
        let (first, rest) = parted(phrase, &["and"])
            .into_iter()
            .next()
            .or_else(|| phrase.split_once(','))
            .filter(|(first, rest)| !first.trim().is_empty() && !rest.trim().is_empty())?;
        let first = phrase_list(first).into_iter();
        let mut found: Vec<&PlanNode> =
            first.map(|name| self.named(name, |_| true)).collect::<Option<_>>()?;
        found.extend(self.all(rest)?);
        Some(found)
    }

    fn named(&self, phrase: &str, admits: impl Fn(&PlanNode) -> bool) -> Option<&'a PlanNode> {
        let phrase = unquoted(phrase);
        let by_id = self.nodes.iter().find(|node| node.id.as_str().eq_ignore_ascii_case(phrase));
        if by_id.is_some() {
            return by_id;
        }
        if ["goal", "the goal", "plan", "the plan"].contains(&phrase.to_lowercase().as_str()) {
            return self.tree.get(self.root);
        }
        let whole = words(phrase);
        let bare: Vec<String> = whole
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
            .map(|node| (node, words(&node.title)))
            .collect();
        let mut tiers = tiers(&whole, &bare).into_iter();
        let titled = |matches: Matches<'_>| {
            let mut found = named.iter().filter(|(_, title)| matches(title)).map(|(node, _)| *node);
            found.next().map(|first| if found.next().is_some() { None } else { Some(first) })
        };
        // A title goes before what the phrase may say about a place, and nothing else does.
        if let Some(found) = tiers.next().and_then(titled) {
            return found;
        }
        if let Some(found) = place::nodes(self, phrase) {
            let [only] = found.as_slice() else { return None };
            return Some(*only).filter(|node| admits(node));
        }
        tiers.find_map(titled)?
    }
}

fn is_marked(phrase: &str) -> bool {
    MARKED.contains(&phrase.trim().to_lowercase().as_str())
}

fn phrase_list(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

type Matches<'a> = Box<dyn Fn(&[String]) -> bool + 'a>;

/// Ways in which a title may be meant, the surest first. The first way that finds any must find one alone.
fn tiers<'a>(whole: &'a [String], bare: &'a [String]) -> Vec<Matches<'a>> {
    let spelled: String = bare.join(" ");
    let mut tiers: Vec<Matches<'a>> = vec![
        Box::new(move |title| title == whole),
        Box::new(move |title| title == bare),
        Box::new(move |title| title.starts_with(bare)),
        Box::new(move |title| title.windows(bare.len()).any(|window| window == bare)),
        Box::new(move |title| bare.iter().all(|word| title.contains(word))),
    ];
    // "last" is no misspelt "list".
    if spelled.chars().count() >= 4 && !bare.iter().any(|word| place::tells(word)) {
        let near = move |title: &[String]| {
            let windows: Vec<String> =
                title.windows(bare.len()).map(|part| part.join(" ")).collect();
            nearest(&spelled, windows.iter().map(String::as_str)).is_some()
        };
        tiers.push(Box::new(near));
    }
    tiers
}

/// Words in lower case and singular, without articles.
pub(super) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !["", "the", "a", "an"].contains(word))
        .map(|word| match word.strip_suffix('s') {
            Some(one) if one.len() > 2 && !one.ends_with('s') => one.to_owned(),
            _ => word.to_owned(),
        })
        .collect()
}
