//! Which of the results that several agents brought for one task is taken.

use super::change_review::{describe_dependents, marker_details};
use super::new_request;
use crate::request::RequestDetail;
use crate::task_changes::ChangeProposal;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskId, TaskNode};
use planwright_text::units::{format_elapsed, format_tokens};
use std::time::Duration;

/// What came of one try at the task.
#[derive(Clone, Debug)]
pub struct TriedCandidate<'a> {
    pub task: &'a TaskId,
    /// Who tried: `Claude Code`, `Codex, second try`.
    pub title: String,
    /// What it would change; none where it did not finish.
    pub proposal: Option<&'a ChangeProposal>,
    /// The lines of each file, as a unified difference under its name.
    pub diffs: &'a [RequestDetail],
    /// What the agent says about its work.
    pub summary: &'a str,
    /// Whether exit criteria were checked and are met.
    pub criteria_met: bool,
    pub elapsed_ms: u64,
    /// Tokens that it reported; 0 where it did not say.
    pub tokens: u64,
    /// Why its result cannot be picked.
    pub unavailable: Option<String>,
}

/// Everything that is known when a result is picked.
#[derive(Clone, Debug)]
pub struct CandidateComparison<'a> {
    pub task: &'a TaskNode,
    pub attempt: u32,
    pub candidates: &'a [TriedCandidate<'a>],
    /// Titles of the tasks that start once the changes are applied.
    pub dependents: &'a [String],
}

/// Asks which result is taken.
pub fn candidate_choice_request(id: RequestId, compared: &CandidateComparison<'_>) -> Request {
    let task = compared.task;
    let kind = RequestKind::CandidateChoice { task: task.id.clone(), attempt: compared.attempt };
    let why = "Each agent worked in its own copy. Your workspace is unchanged until you pick.";
    let mut asked = new_request(id, kind, "Which result do you want?", why);
    asked.verbatim = compared.candidates.iter().flat_map(quoted_changes).collect();
    asked.details = vec![RequestDetail::new("Task", task.description.clone())];
    let has_criteria = !task.exit_criteria.is_empty();
    for candidate in compared.candidates {
        asked.details.extend(candidate_details(candidate, has_criteria));
    }
    asked.details.extend(shared_files(compared.candidates));
    asked.details.push(RequestDetail::new("Then", describe_dependents(compared.dependents)));
    asked.choices = choices(compared.candidates);
    asked.task = Some(task.id.clone());
    asked
}

/// The changed lines of a try, each file under its name and that of whoever changed it.
fn quoted_changes(candidate: &TriedCandidate<'_>) -> impl Iterator<Item = RequestDetail> {
    let title = &candidate.title;
    candidate
        .diffs
        .iter()
        .map(move |diff| RequestDetail::new(&format!("{title}: {}", diff.label), diff.text.clone()))
}

fn candidate_details(candidate: &TriedCandidate<'_>, has_criteria: bool) -> Vec<RequestDetail> {
    let mut parts = Vec::new();
    match (candidate.proposal, &candidate.unavailable) {
        (Some(proposal), why) => {
            parts.push(proposal.describe());
            parts.push(match (has_criteria, candidate.criteria_met) {
                (false, _) => "no exit criteria".to_owned(),
                (true, true) => "check passed".to_owned(),
                (true, false) => "check not passed".to_owned(),
            });
            parts.extend(why.clone());
        }
        (None, why) => parts.push(why.clone().unwrap_or_else(|| "no result".to_owned())),
    }
    parts.push(format_elapsed(Duration::from_millis(candidate.elapsed_ms)));
    if candidate.tokens > 0 {
        parts.push(format!("{} tokens", format_tokens(candidate.tokens)));
    }
    let mut details = vec![RequestDetail::new(&candidate.title, parts.join(" · "))];
    let files = candidate.proposal.iter().flat_map(|proposal| &proposal.files);
    details.extend(files.filter(|file| file.protected).map(|file| {
        let text = format!("{}: {} decides what other programs do", candidate.title, file.path);
        RequestDetail::new("Danger", text)
    }));
    details.extend(marker_details(candidate.diffs, Some(&candidate.title)));
    let left_out = candidate.proposal.iter().flat_map(|proposal| &proposal.left_out);
    details.extend(
        left_out
            .map(|what| RequestDetail::new("Not applied", format!("{}: {what}", candidate.title))),
    );
    if !candidate.summary.trim().is_empty() {
        let said = format!("\"{}\"", candidate.summary.trim());
        details.push(RequestDetail::new("It says", said));
    }
    details
}

/// Which files more than one of them changed, and which only one did.
fn shared_files(candidates: &[TriedCandidate<'_>]) -> Option<RequestDetail> {
    let paths = |candidate: &TriedCandidate<'_>| -> Vec<String> {
        let files = candidate.proposal.iter().flat_map(|proposal| &proposal.files);
        files.map(|file| file.path.clone()).collect()
    };
    let finished: Vec<(&str, Vec<String>)> = candidates
        .iter()
        .filter(|candidate| candidate.proposal.is_some())
        .map(|candidate| (candidate.title.as_str(), paths(candidate)))
        .collect();
    if finished.len() < 2 {
        return None;
    }
    let in_all = |path: &String| finished.iter().all(|(_, own)| own.contains(path));
    let mut common: Vec<String> =
        finished[0].1.iter().filter(|path| in_all(path)).cloned().collect();
    common.sort();
    let mut parts = vec![match common.as_slice() {
        [] => "no file is changed by all".to_owned(),
        files => format!("all change {}", files.join(", ")),
    }];
    for (title, own) in &finished {
        let other: Vec<&str> =
            own.iter().filter(|path| !common.contains(path)).map(String::as_str).collect();
        if !other.is_empty() {
            parts.push(format!("{title} also {}", other.join(", ")));
        }
    }
    Some(RequestDetail::new("Files", parts.join("; ")))
}

fn choices(candidates: &[TriedCandidate<'_>]) -> Vec<Choice> {
    let option = |(number, candidate): (u8, &TriedCandidate<'_>)| {
        let consequence = "applies its changes, discards the others";
        let mut choice =
            Choice::new(ChoiceAction::PickOption(number), &candidate.title, consequence);
        choice.unavailable.clone_from(&candidate.unavailable);
        choice
    };
    let mut choices: Vec<Choice> = (1u8..).zip(candidates).map(option).collect();
    let numbers = "begin with its number, such as \"2: keep the old name\"; you pick afterwards";
    choices.push(Choice::new(ChoiceAction::RequestChanges, "request changes", numbers));
    let consequence = "all of them; the task fails and what needs it is skipped";
    choices.push(Choice::new(ChoiceAction::DiscardChanges, "discard", consequence));
    choices
}

/// The number of the result that words are about, and the words.
pub fn parse_numbered_words(text: &str) -> Option<(usize, &str)> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: usize = text[..digits].parse().ok()?;
    let words = text[digits..].trim_start();
    let words = words.strip_prefix([':', '.', ')', ',']).unwrap_or(words).trim();
    (number > 0 && !words.is_empty()).then_some((number, words))
}

#[cfg(test)]
mod tests {
    use super::parse_numbered_words;

    #[test]
    fn words_begin_with_the_number_of_a_result() {
        assert_eq!(parse_numbered_words("2: keep it"), Some((2, "keep it")));
        assert_eq!(parse_numbered_words(" 1 keep it"), Some((1, "keep it")));
        for text in ["keep it", "2", "2:", "0: no", "", "99999999999999999999999: x"] {
            assert_eq!(parse_numbered_words(text), None, "{text}");
        }
    }
}
