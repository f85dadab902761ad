//! Answers a question without a model: searches the workspace and cites the best matching lines.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::context::ToolContext;
use super::subtasks::{SubtaskRequest, SubtaskRunner};
use super::tool::{ToolError, ToolErrorCode};
use planwright_model::ToolResult;

/// How many lines an answer cites.
const LINES: usize = 12;
/// The most words that are searched for.
const WORDS: usize = 8;
/// Words that carry no information about the subject.
const COMMON: [&str; 50] = [
    "about", "after", "all", "and", "any", "are", "before", "can", "code", "could", "defined",
    "describe", "does", "done", "explain", "file", "files", "find", "for", "from", "get", "has",
    "have", "how", "into", "its", "list", "look", "made", "many", "name", "not", "project", "read",
    "show", "tell", "that", "the", "there", "these", "this", "used", "uses", "using", "what",
    "when", "where", "which", "who", "with",
];

/// Answers questions by search alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineSubtaskRunner;

impl SubtaskRunner for OfflineSubtaskRunner {
    fn run_subtask<'a>(
        &'a self,
        request: &'a SubtaskRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(answer_by_search(request, context))
    }

    fn model_name(&self) -> &'static str {
        "offline"
    }
}

async fn answer_by_search(request: &SubtaskRequest, context: &ToolContext) -> ToolResult {
    let words = search_words(&request.description);
    if words.is_empty() {
        let message = "the question names nothing that could be searched for";
        return ToolResult::failure(&ToolError::new(ToolErrorCode::BadArgs, message).into());
    }
    let pattern = words.iter().map(|word| escape_regex(word)).collect::<Vec<_>>().join("|");
    let args = json!({ "pattern": pattern, "ignore_case": true, "limit": 2000 });
    let found = context.call_nested("grep", args).await.result;
    if !found.ok {
        return found;
    }
    let lines: Vec<&str> = found
        .data
        .get("lines")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let best = best_lines(&lines, &words);
    if best.is_empty() {
        let names = words.into_iter().collect::<Vec<_>>().join(", ");
        let answer = format!("Nothing in the workspace mentions {names}.");
        return ToolResult::success(json!({ "answer": answer, "sources": [] }))
            .with_confidence(0.2);
    }
    let covered: BTreeSet<&String> = words
        .iter()
        .filter(|word| best.iter().any(|line| line.to_lowercase().contains(*word)))
        .collect();
    let share = covered.len() as f64 / words.len() as f64;
    let sources: BTreeSet<&str> = best.iter().filter_map(|line| line.split(':').next()).collect();
    let answer = format!("Found by search, without a model:\n{}", best.join("\n"));
    ToolResult::success(json!({ "answer": answer, "sources": sources }))
        .with_confidence(0.3 + 0.4 * share)
}

/// The subject of a question: names, paths and rare words, longest first.
pub fn search_words(question: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let mut found: Vec<String> = question
        .split(|c: char| !part(c))
        .map(|word| word.trim_matches(['.', '-', '/']).to_lowercase())
        .filter(|word| word.chars().count() > 2 && !COMMON.contains(&word.as_str()))
        .collect();
    found.sort_by_key(|word| std::cmp::Reverse(word.len()));
    found.into_iter().take(WORDS).collect()
}

pub fn escape_regex(word: &str) -> String {
    word.chars()
        .flat_map(|c| if c.is_alphanumeric() { vec![c] } else { vec!['\\', c] })
        .collect::<String>()
        .replace("\\_", "_")
}

/// The lines that contain most of the words, with rare words weighted higher; a few from each file.
pub fn best_lines(lines: &[&str], words: &BTreeSet<String>) -> Vec<String> {
    let lower: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    let weight: BTreeMap<&str, f64> = words
        .iter()
        .map(|word| {
            let hits = lower.iter().filter(|line| line.contains(word)).count().max(1);
            (word.as_str(), 1.0 / (hits as f64).sqrt())
        })
        .collect();
    let mut scored: Vec<(f64, usize)> = lower
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let score = weight
                .iter()
                .filter(|(word, _)| line.contains(**word))
                .map(|(_, weight)| weight)
                .sum();
            (score, at)
        })
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut per_file: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: Vec<usize> = Vec::new();
    for (_, at) in scored {
        let file = lines[at].split(':').next().unwrap_or_default();
        let count = per_file.entry(file).or_default();
        if *count < LINES / 3 && kept.len() < LINES {
            *count += 1;
            kept.push(at);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|at| lines[at].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_not_searched_for() {
        assert_eq!(
            search_words("Where is the `parse_plan` function used?"),
            BTreeSet::from(["function".into(), "parse_plan".into()])
        );
        assert!(search_words("how is it?").is_empty());
    }

    #[test]
    fn lines_with_more_and_rarer_words_rank_first() {
        let lines: Vec<String> = (0..40)
            .map(|at| format!("a.rs:{at}: plan"))
            .chain(["b.rs:1: parse the plan".to_owned()])
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let words = BTreeSet::from(["plan".to_owned(), "parse".to_owned()]);
        assert!(best_lines(&lines, &words).contains(&"b.rs:1: parse the plan".to_owned()));
    }

    #[test]
    fn patterns_are_taken_literally() {
        assert_eq!(escape_regex("a.b_c"), "a\\.b_c");
    }
}
