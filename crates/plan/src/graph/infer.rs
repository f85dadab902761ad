//! Suggests links between tasks that state none. Nothing is added silently: every suggestion carries its reasons, can
//! be shown and can be rejected.

use std::collections::BTreeSet;

use crate::graph::text_lists::{self, ListSeparators};
use planwright_model::{ExitCriterion, LinkOrigin, TaskId, TaskLink, TaskNode};

/// The score from which a link is suggested, in tenths.
const MIN_LINK_SCORE: u32 = 6;
/// Links are not inferred for longer lists.
const MAX_TASKS: usize = 500;
/// Words that indicate that something else comes first. "based" stands for "based on".
const CUES: [&str; 3] = ["after", "based", "using"];
/// The maximum number of words between a cue and the noun.
const CUE_REACH_WORDS: usize = 4;
/// Words without a subject of their own.
const STOP: [&str; 41] = [
    "about", "after", "again", "against", "also", "and", "based", "before", "between", "each",
    "every", "for", "from", "into", "its", "more", "most", "new", "next", "old", "once", "only",
    "other", "over", "that", "the", "their", "them", "then", "these", "this", "those", "through",
    "using", "when", "where", "which", "will", "with", "within", "your",
];

/// A link suggested by the text of the tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSuggestion {
    /// The dependent task.
    pub successor: TaskId,
    /// Finish to start, origin `inferred`.
    pub link: TaskLink,
    /// At least 0.6.
    pub score: f64,
    /// The reasons for the link, in words.
    pub reasons: Vec<String>,
}

/// Suggests links if no task states any. A link that would close a cycle with better ones is omitted.
pub fn infer_links(tasks: &[TaskNode]) -> Vec<LinkSuggestion> {
    let stated = tasks.iter().any(|task| !task.dependencies.is_empty());
    if stated || tasks.len() > MAX_TASKS {
        return Vec::new();
    }
    let words: Vec<TaskTerms> = tasks.iter().map(TaskTerms::from_task).collect();
    let mut found = Vec::new();
    for (to, successor) in words.iter().enumerate() {
        for (from, predecessor) in words.iter().enumerate().filter(|(from, _)| *from != to) {
            let (score, reasons) = predecessor.precedence_score(successor, from < to);
            if score >= MIN_LINK_SCORE {
                found.push((score, from, to, reasons));
            }
        }
    }
    found.sort_by_key(|(score, from, to, _)| (std::cmp::Reverse(*score), *to, *from));
    let mut reach = ReachabilityMatrix::new(tasks.len());
    found.retain(|(_, from, to, _)| reach.try_add_link(*from, *to));
    found.sort_by_key(|(_, from, to, _)| (*to, *from));
    found
        .into_iter()
        .map(|(score, from, to, reasons)| LinkSuggestion {
            successor: tasks[to].id.clone(),
            link: TaskLink {
                origin: LinkOrigin::Inferred,
                ..TaskLink::finish_to_start(tasks[from].id.clone())
            },
            score: f64::from(score) / 10.0,
            reasons,
        })
        .collect()
}

/// Adds the accepted suggestions.
pub fn accept_suggestions(tasks: &mut [TaskNode], suggestions: &[LinkSuggestion]) {
    for task in tasks {
        let own = suggestions.iter().filter(|suggestion| suggestion.successor == task.id);
        task.dependencies.extend(own.map(|suggestion| suggestion.link.clone()));
    }
}

/// The terms that a task mentions.
struct TaskTerms {
    all: Vec<String>,
    /// Words that name things: long enough, not the leading verb, not a stop word.
    nouns: BTreeSet<String>,
    /// The declared products of the task, each as its words.
    produces: Vec<Vec<String>>,
    id: String,
}

impl TaskTerms {
    fn from_task(task: &TaskNode) -> Self {
        let all = split_words(&task.description);
        // A description starts with a verb; its object follows.
        let nouns = all.iter().skip(1).filter(|word| is_noun(word)).cloned().collect();
        let produces = produced_names(task)
            .into_iter()
            .map(|name| split_words(&name))
            .filter(|name| !name.is_empty());
        Self { nouns, produces: produces.collect(), all, id: task.id.to_string() }
    }

    /// Returns the evidence for this task preceding another, in tenths, and the reasons.
    fn precedence_score(&self, successor: &Self, listed_first: bool) -> (u32, Vec<String>) {
        let (mut score, mut reasons) = (0, Vec::new());
        let named = self
            .produces
            .iter()
            .find(|name| successor.all.windows(name.len()).any(|window| window == name.as_slice()));
        if let Some(name) = named {
            score += 5;
            reasons.push(format!("it names \"{}\", which {} produces", name.join(" "), self.id));
        }
        if let Some((cue, noun)) = successor.cue_for(&self.nouns) {
            score += 4;
            reasons.push(format!("it says \"{cue}\" and \"{noun}\""));
        }
        if let (true, Some(noun)) = (listed_first, self.nouns.intersection(&successor.nouns).next())
        {
            score += 2;
            reasons.push(format!("it is listed later and shares \"{noun}\""));
        }
        (score, reasons)
    }

    /// Returns a cue that is followed by one of the nouns.
    fn cue_for<'n>(&self, nouns: &'n BTreeSet<String>) -> Option<(&str, &'n str)> {
        self.all.iter().enumerate().filter(|(_, word)| CUES.contains(&word.as_str())).find_map(
            |(at, cue)| {
                let after = self.all[at + 1..].iter().take(CUE_REACH_WORDS);
                let mut hits = after.filter_map(|word| nouns.get(word));
                hits.next().map(|noun| (cue.as_str(), noun.as_str()))
            },
        )
    }
}

/// Returns lowercase words, with plurals reduced to their singular.
fn split_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(to_singular).collect()
}

fn to_singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

fn is_noun(word: &str) -> bool {
    word.chars().count() >= 3 && !STOP.contains(&word) && !word.chars().all(char::is_numeric)
}

/// Returns the products of a task: `metadata.produces`, and files whose existence completes it.
fn produced_names(task: &TaskNode) -> Vec<String> {
    let mut names = match task.metadata.get("produces") {
        Some(serde_json::Value::String(text)) => {
            text_lists::split_list(text, ListSeparators::Plain)
        }
        Some(serde_json::Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    names.extend(task.exit_criteria.iter().filter_map(|criterion| match criterion {
        ExitCriterion::FileExists { path, .. } => Some(path.clone()),
        _ => None,
    }));
    names
}

/// Which tasks lead to which, kept transitively closed.
struct ReachabilityMatrix {
    leads_to: Vec<Vec<bool>>,
}

impl ReachabilityMatrix {
    fn new(count: usize) -> Self {
        Self { leads_to: vec![vec![false; count]; count] }
    }

    /// Adds a link, unless it would close a cycle.
    fn try_add_link(&mut self, from: usize, to: usize) -> bool {
        if from == to || self.leads_to[to][from] {
            return false;
        }
        if !self.leads_to[from][to] {
            let mut behind = self.leads_to[to].clone();
            behind[to] = true;
            for before in 0..self.leads_to.len() {
                if before == from || self.leads_to[before][from] {
                    for (reached, more) in self.leads_to[before].iter_mut().zip(&behind) {
                        *reached |= more;
                    }
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::resolve_graph;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn task(id: &str, description: &str, produces: &[&str]) -> TaskNode {
        let mut task = TaskNode::new(id, description);
        if !produces.is_empty() {
            task.metadata.insert("produces".into(), json!(produces));
        }
        task
    }

    fn links(tasks: &[TaskNode]) -> Vec<String> {
        let show = |found: &LinkSuggestion| {
            format!("{}→{} {}", found.link.task, found.successor, found.score)
        };
        infer_links(tasks).iter().map(show).collect()
    }

    #[test]
    fn a_product_mentioned_later_in_the_list_is_enough() {
        let tasks = [
            task("a", "Collect survey answers", &["survey report"]),
            task("b", "Summarise the survey reports", &[]),
        ];
        assert_eq!(links(&tasks), ["a→b 0.7"]);
        let found = &infer_links(&tasks)[0];
        assert_eq!(found.link.origin, LinkOrigin::Inferred);
        assert_eq!(
            found.reasons,
            [
                "it names \"survey report\", which a produces",
                "it is listed later and shares \"survey\""
            ]
        );
    }

    #[test]
    fn a_cue_with_a_noun_needs_the_order_of_the_list() {
        let tasks = [
            task("a", "Freeze the interface", &[]),
            task("b", "Port the tests after the interface is frozen", &[]),
        ];
        assert_eq!(links(&tasks), ["a→b 0.6"]);
        let swapped = [tasks[1].clone(), tasks[0].clone()];
        assert_eq!(links(&swapped), [""; 0], "0.4 alone is not enough");
    }

    #[test]
    fn declared_links_are_never_extended() {
        let mut tasks = [task("a", "Make a plan", &["plan"]), task("b", "Use the plan", &[])];
        tasks[1].dependencies = vec![TaskLink::finish_to_start("a")];
        assert_eq!(links(&tasks), [""; 0]);
    }

    #[test]
    fn a_link_that_would_close_a_cycle_is_omitted() {
        let tasks = [
            task("a", "Write the guide using the index", &["guide"]),
            task("b", "Write the index using the guide", &["index"]),
        ];
        assert_eq!(links(&tasks), ["a→b 1.1"]);
        let mut accepted = tasks.to_vec();
        accept_suggestions(&mut accepted, &infer_links(&tasks));
        assert_eq!(accepted[1].dependencies.len(), 1);
    }

    proptest! {
        #[test]
        fn suggestions_never_close_a_cycle(
            words in prop::collection::vec(prop::collection::vec(0usize..8, 1..6), 1..12),
        ) {
            let vocabulary = ["write", "guide", "index", "after", "using", "report", "based", "plan"];
            let mut tasks: Vec<TaskNode> = words.iter().enumerate().map(|(index, words)| {
                let text: Vec<_> = words.iter().map(|word| vocabulary[*word]).collect();
                task(&format!("t{index}"), &text.join(" "), &[vocabulary[words[0]]])
            }).collect();
            let suggestions = infer_links(&tasks);
            accept_suggestions(&mut tasks, &suggestions);
            prop_assert!(resolve_graph(&tasks, |_| true).is_ok());
            prop_assert!(suggestions.iter().all(|found| found.score >= 0.6 && !found.reasons.is_empty()));
        }
    }
}
