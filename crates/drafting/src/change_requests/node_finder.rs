//! Finds the node that a phrase refers to: by id, by its number in the list, by title, by words of a title in any form,
//! by position, or by the marked nodes.

use planwright_model::{NodeTree, PlanNode, Role, TaskId};
use planwright_text::nearest_name;

use super::open_reason::OpenReason;
use super::phrase::{split_at_words, strip_quotes};
use super::position;
use super::stems::stem_word;

/// Finds nodes by what people call them.
pub(super) struct NodeFinder<'a> {
    pub(super) tree: NodeTree<'a>,
    nodes: Vec<NamedNode<'a>>,
    pub(super) root: &'a TaskId,
    marked: &'a [TaskId],
}

/// A node with the words of its title.
struct NamedNode<'a> {
    node: &'a PlanNode,
    number: String,
    words: Vec<String>,
    stems: Vec<String>,
}

/// Words that refer to the marked nodes.
const MARKED: [&str; 13] = [
    "",
    "this",
    "it",
    "these",
    "them",
    "that",
    "those",
    "this one",
    "this task",
    "this phase",
    "these tasks",
    "marked",
    "the marked ones",
];

/// Nouns for nodes: they say what kind of node is meant and are not part of its name.
const NODE_NOUNS: [&str; 12] = [
    "task",
    "step",
    "phase",
    "part",
    "stage",
    "milestone",
    "item",
    "work",
    "question",
    "thing",
    "point",
    "business",
];

/// Words that do not tell titles apart.
const WEAK_WORDS: [&str; 17] = [
    "of", "for", "with", "to", "about", "on", "in", "at", "by", "our", "my", "your", "their",
    "its", "and", "one", "bit",
];

impl<'a> NodeFinder<'a> {
    pub(super) fn new(nodes: &'a [PlanNode], root: &'a TaskId, marked: &'a [TaskId]) -> Self {
        let tree = NodeTree::new(nodes);
        let mut counts: Vec<usize> = Vec::new();
        let mut named = Vec::with_capacity(nodes.len());
        for node in tree.subtree(root).into_iter().filter(|node| node.id != *root) {
            let depth = tree.ancestors(&node.id).len().saturating_sub(1);
            counts.truncate(depth + 1);
            counts.resize(depth + 1, 0);
            counts[depth] += 1;
            let number: Vec<String> = counts.iter().map(ToString::to_string).collect();
            let words = normalize_words(&node.title);
            let stems = stem_words(&words);
            named.push(NamedNode { node, number: number.join("."), words, stems });
        }
        Self { tree, nodes: named, root, marked }
    }

    pub(super) fn has_marked_nodes(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Returns the only node that a phrase refers to.
    pub(super) fn find_one(&self, phrase: &str) -> Result<&'a PlanNode, OpenReason> {
        if is_marked_phrase(phrase) {
            return match self.marked {
                [only] => self.tree.get(only).ok_or(OpenReason::NothingMarked),
                _ => Err(OpenReason::NothingMarked),
            };
        }
        self.find_named(phrase, |_| true)
    }

    /// Returns the only container that a phrase refers to.
    pub(super) fn find_container(&self, phrase: &str) -> Result<&'a PlanNode, OpenReason> {
        if is_marked_phrase(phrase) {
            let found = self.find_one(phrase)?;
            return if self.is_container(found) { Ok(found) } else { Err(no_match(phrase)) };
        }
        self.find_named(phrase, |node| self.is_container(node))
    }

    pub(super) fn is_container(&self, node: &PlanNode) -> bool {
        node.node_type.is_container() || !self.tree.is_leaf(&node.id)
    }

    /// Returns all nodes that a phrase lists.
    pub(super) fn find_all(&self, phrase: &str) -> Result<Vec<&'a PlanNode>, OpenReason> {
        if is_marked_phrase(phrase) {
            let found: Vec<_> = self.marked.iter().filter_map(|id| self.tree.get(id)).collect();
            return if found.is_empty() { Err(OpenReason::NothingMarked) } else { Ok(found) };
        }
        let whole = self.find_named(phrase, |_| true);
        if let Ok(node) = whole {
            return Ok(vec![node]);
        }
        if let Some(found) = position::find_by_position(self, phrase) {
            return if found.is_empty() { Err(no_match(phrase)) } else { Ok(found) };
        }
        let Some((first, rest)) = split_list(phrase) else { return whole.map(|node| vec![node]) };
        let mut found: Vec<&PlanNode> = vec![self.find_named(first, |_| true)?];
        found.extend(self.find_all(rest)?);
        Ok(found)
    }

    /// Every leaf that takes time, in the order of the plan.
    pub(super) fn work_leaves(&self, below: &TaskId) -> Vec<&'a PlanNode> {
        let leaves = self.tree.leaves(below).into_iter();
        leaves.filter(|leaf| !is_point(leaf) && !leaf.node_type.is_container()).collect()
    }

    fn find_named(
        &self,
        phrase: &str,
        admits: impl Fn(&PlanNode) -> bool,
    ) -> Result<&'a PlanNode, OpenReason> {
        let phrase = strip_quotes(phrase);
        let is_named = |named: &&NamedNode<'_>| {
            named.node.id.as_str().eq_ignore_ascii_case(phrase)
                || (phrase.contains('.') && named.number == phrase)
        };
        if let Some(found) = self.nodes.iter().find(is_named) {
            return Ok(found.node);
        }
        let full = normalize_words(phrase);
        if matches!(full.as_slice(), [only] if only == "goal" || only == "plan") {
            return self.tree.get(self.root).ok_or_else(|| no_match(phrase));
        }
        let wanted = PhraseWords::new(full);
        let open: Vec<&NamedNode<'a>> =
            self.nodes.iter().filter(|named| admits(named.node)).collect();
        if let Some(found) = pick_only(&open, |named| named.words == wanted.full, phrase) {
            return found;
        }
        // A whole title takes precedence over a position in the phrase; weaker matches do not.
        if let Some(found) = position::find_by_position(self, phrase) {
            let [only] = found.as_slice() else { return Err(no_match(phrase)) };
            return if admits(only) { Ok(*only) } else { Err(no_match(phrase)) };
        }
        if wanted.bare.is_empty() {
            return Err(no_match(phrase));
        }
        let meant = |named: &&&NamedNode<'a>| match wanted.kind {
            Some(PhraseNodeKind::Group) => self.is_container(named.node),
            Some(PhraseNodeKind::Task) => !self.is_container(named.node),
            None => true,
        };
        let restricted: Vec<&NamedNode<'a>> = open.iter().filter(meant).copied().collect();
        let found = match_titles(&restricted, &wanted, phrase);
        let found = found.or_else(|| match_titles(&open, &wanted, phrase));
        found.unwrap_or_else(|| Err(no_match(phrase)))
    }
}

/// The kind of node that a noun in a phrase asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PhraseNodeKind {
    Group,
    Task,
}

/// The words of a phrase in the forms that titles are compared with.
struct PhraseWords {
    full: Vec<String>,
    /// Without nouns such as "task", and without "we" and "I".
    bare: Vec<String>,
    stems: Vec<String>,
    /// Without words that do not tell titles apart.
    strong: Vec<String>,
    kind: Option<PhraseNodeKind>,
}

impl PhraseWords {
    fn new(full: Vec<String>) -> Self {
        let kind = full.iter().find_map(|word| match word.as_str() {
            "phase" | "stage" => Some(PhraseNodeKind::Group),
            "task" | "step" => Some(PhraseNodeKind::Task),
            _ => None,
        });
        let is_noun = |word: &&String| {
            NODE_NOUNS.contains(&word.as_str()) || ["we", "i", "you"].contains(&word.as_str())
        };
        let bare: Vec<String> = full.iter().filter(|word| !is_noun(word)).cloned().collect();
        let stems = stem_words(&bare);
        let is_strong = |word: &&String| !WEAK_WORDS.contains(&word.as_str());
        let strong: Vec<String> =
            stem_words(&bare.iter().filter(is_strong).cloned().collect::<Vec<_>>());
        Self { full, bare, stems, strong, kind }
    }
}

/// Tries the ways to match a title, most specific first. The first one with any match must match exactly one node.
fn match_titles<'a>(
    open: &[&NamedNode<'a>],
    wanted: &PhraseWords,
    phrase: &str,
) -> Option<Result<&'a PlanNode, OpenReason>> {
    let (bare, stems) = (&wanted.bare, &wanted.stems);
    let within = |title: &[String], part: &[String]| {
        title.windows(part.len().max(1)).any(|window| window == part)
    };
    let strong = |named: &NamedNode<'_>| {
        !wanted.strong.is_empty() && wanted.strong.iter().all(|stem| named.stems.contains(stem))
    };
    pick_only(open, |named| named.words == *bare, phrase)
        .or_else(|| pick_only(open, |named| named.stems == *stems, phrase))
        .or_else(|| pick_only(open, |named| named.words.starts_with(bare), phrase))
        .or_else(|| pick_only(open, |named| named.stems.starts_with(stems), phrase))
        .or_else(|| pick_only(open, |named| within(&named.words, bare), phrase))
        .or_else(|| pick_only(open, |named| within(&named.stems, stems), phrase))
        .or_else(|| pick_only(open, strong, phrase))
        .or_else(|| match_misspelled(open, bare, phrase))
}

/// Finds a title with nearly the same words.
fn match_misspelled<'a>(
    open: &[&NamedNode<'a>],
    bare: &[String],
    phrase: &str,
) -> Option<Result<&'a PlanNode, OpenReason>> {
    let spelled = bare.join(" ");
    // "last" is not a misspelled "list".
    if bare.len() > 6
        || spelled.chars().count() < 5
        || bare.iter().any(|word| position::is_position_word(word))
    {
        return None;
    }
    // "design" is not a misspelled "sign": typing errors are seldom in the first letter, and few.
    let slips = if spelled.len() < 10 { 1 } else { 2 };
    let alike = |part: &String| {
        part.chars().next() == spelled.chars().next() && part.len().abs_diff(spelled.len()) <= slips
    };
    let near = |named: &NamedNode<'_>| {
        let windows = named.words.windows(bare.len()).map(|part| part.join(" "));
        let windows: Vec<String> = windows.filter(alike).collect();
        nearest_name(&spelled, windows.iter().map(String::as_str)).is_some()
    };
    pick_only(open, near, phrase)
}

/// Returns the only match, `None` without any. Of a task and a milestone the task is meant: a milestone is not done.
fn pick_only<'a>(
    open: &[&NamedNode<'a>],
    matches: impl Fn(&NamedNode<'a>) -> bool,
    phrase: &str,
) -> Option<Result<&'a PlanNode, OpenReason>> {
    let found: Vec<&'a PlanNode> =
        open.iter().filter(|named| matches(named)).map(|named| named.node).collect();
    let work: Vec<&'a PlanNode> = found.iter().copied().filter(|node| !is_point(node)).collect();
    match (found.as_slice(), work.as_slice()) {
        ([], _) => None,
        ([only], _) | (_, [only]) => Some(Ok(*only)),
        _ => Some(Err(OpenReason::Several {
            words: phrase.to_owned(),
            titles: found.iter().map(|node| node.title.clone()).collect(),
        })),
    }
}

/// Returns whether a node marks a point in time instead of taking time.
pub(super) fn is_point(node: &PlanNode) -> bool {
    node.milestone || node.role == Role::Gate
}

pub(super) fn no_match(phrase: &str) -> OpenReason {
    let words = strip_quotes(phrase);
    let bare = ["the ", "a ", "an "].iter().find_map(|article| {
        let head = words.get(..article.len())?;
        head.eq_ignore_ascii_case(article).then(|| &words[article.len()..])
    });
    OpenReason::NoMatch { words: bare.unwrap_or(words).to_owned() }
}

fn is_marked_phrase(phrase: &str) -> bool {
    MARKED.contains(&phrase.trim().to_lowercase().as_str())
}

/// Splits the first name off a list: "a, b and c", "a with b".
fn split_list(phrase: &str) -> Option<(&str, &str)> {
    let at_comma = phrase.split_once(", ");
    let at_word = split_at_words(phrase, &["and", "with", "plus", "as well as"]).into_iter().next();
    let cut = match (at_comma, at_word) {
        (Some(comma), Some(word)) if word.0.len() < comma.0.len() => Some(word),
        (comma, word) => comma.or(word),
    };
    let (first, rest) = cut?;
    let rest = rest.trim();
    let rest = rest.strip_prefix("and ").unwrap_or(rest);
    (!first.trim().is_empty() && !rest.trim().is_empty()).then_some((first.trim(), rest))
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

fn stem_words(words: &[String]) -> Vec<String> {
    words.iter().map(|word| stem_word(word)).collect()
}
