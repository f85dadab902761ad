//! What can be done without a model: arguments filled in from the task and its results, and words made of evidence.

use serde_json::{Map, Value};

use super::AgentJob;
use planwright_drafting::executor::TaskTypeStep;
use planwright_model::agent_work::AgentWork;
use planwright_state::AgentProgress;
use planwright_state::agent_progress::truncate_text;
use planwright_tools::offline_subtasks::{best_lines, escape_regex, search_words};

/// How many lines around a find are looked at.
const BEFORE: u64 = 5;
const AFTER: u64 = 25;
/// How much of the results goes into something that is written.
const RESULTS: usize = 6_000;

/// A line of a file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CitedLine {
    path: String,
    line: u64,
}

/// What the results of a task say about its words.
pub(super) struct TaskEvidence {
    question: String,
    keywords: std::collections::BTreeSet<String>,
    lines: Vec<String>,
    addresses: Vec<String>,
    results: String,
}

impl TaskEvidence {
    pub(super) fn from_progress(
        job: &AgentJob,
        work: &AgentWork,
        progress: &AgentProgress,
    ) -> Self {
        let question = match work.goals.as_slice() {
            [] => job.task.description.clone(),
            goals => goals.join(" "),
        };
        let keywords = search_words(&question);
        let found: Vec<&str> = progress
            .steps
            .iter()
            .filter(|step| step.ok && matches!(step.tool.as_str(), "grep" | "explore_context"))
            .flat_map(|step| step.output.lines())
            .filter(|line| parse_cited_line(line).is_some())
            .collect();
        let lines = best_lines(&found, &keywords);
        let outputs: Vec<&str> =
            progress.steps.iter().filter(|step| step.ok).map(|step| step.output.as_str()).collect();
        let addresses = work.sources.iter().chain(&work.hits);
        Self {
            question,
            keywords,
            lines,
            addresses: addresses.filter(|one| one.starts_with("http")).cloned().collect(),
            results: truncate_text(&outputs.join("\n\n"), RESULTS),
        }
    }

    /// The answer that the finds alone allow: what was found and where. None where nothing was.
    pub(super) fn search_summary(&self) -> Option<String> {
        if self.lines.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.keywords.iter().map(String::as_str).collect();
        Some(format!(
            "Found by search for {}, without a model:\n{}",
            names.join(", "),
            self.lines.join("\n")
        ))
    }

    /// The arguments that a step falls back on for a tool, if everything they need is known.
    pub(super) fn fill_args(&self, step: &TaskTypeStep, tool: &str) -> Option<Value> {
        let template = step.offers.get(tool)?;
        let filled = template
            .iter()
            .map(|(name, value)| Some((name.clone(), self.fill_value(value)?)))
            .collect::<Option<Map<_, _>>>()?;
        Some(Value::Object(filled))
    }

    fn fill_value(&self, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => self.fill_placeholder(text),
            Value::Array(items) => items
                .iter()
                .map(|item| self.fill_value(item))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array),
            other => Some(other.clone()),
        }
    }

    fn fill_placeholder(&self, text: &str) -> Option<Value> {
        let known = |text: String| (!text.trim().is_empty()).then_some(Value::String(text));
        let place = || self.lines.first().and_then(|line| parse_cited_line(line));
        match text {
            "{task}" => known(truncate_text(&self.question, 400)),
            "{slug}" => known(slug_from_text(&self.question)),
            "{keywords}" => {
                let patterns: Vec<String> =
                    self.keywords.iter().map(|word| escape_regex(word)).collect();
                known(patterns.join("|"))
            }
            // Nothing is made of nothing: without a find there is nothing to write down.
            "{results}" if self.lines.is_empty() && self.addresses.is_empty() => None,
            "{results}" => known(self.search_summary().unwrap_or_else(|| self.results.clone())),
            "{best_path}" => known(place()?.path),
            "{best_from}" => Some(place()?.line.saturating_sub(BEFORE).max(1).into()),
            "{best_to}" => Some((place()?.line + AFTER).into()),
            "{best_url}" => known(self.addresses.first()?.clone()),
            plain => Some(Value::String(plain.to_owned())),
        }
    }
}

/// Reads `path:12: text`.
fn parse_cited_line(line: &str) -> Option<CitedLine> {
    let (path, rest) = line.split_once(':')?;
    let (number, _) = rest.split_once(':')?;
    let line = number.trim().parse().ok()?;
    (!path.is_empty() && !path.contains(' ')).then(|| CitedLine { path: path.to_owned(), line })
}

/// A name of small letters, digits and `-`.
fn slug_from_text(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words.take(6) {
        if name.len() + word.len() > 40 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(word);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_a_place_count_as_evidence() {
        assert_eq!(
            parse_cited_line("src/a.rs:12: fn a()"),
            Some(CitedLine { path: "src/a.rs".into(), line: 12 })
        );
        for line in ["matches: 3", "a.rs-11- context", "some words: 12: x", ""] {
            assert_eq!(parse_cited_line(line), None, "{line}");
        }
    }

    #[test]
    fn a_slug_is_a_plain_name() {
        assert_eq!(
            slug_from_text("Write a Skill, about SQL-joins!"),
            "write-a-skill-about-sql-joins"
        );
        assert_eq!(slug_from_text("é ü"), "");
    }
}
