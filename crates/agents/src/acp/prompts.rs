//! What an agent of the person's own is told: the task, where it stands, and what came of its last turn.

use std::fmt::Write as _;

use super::attempt::OwnAgentAttempt;
use crate::framing::{RULE, frame_data};
use crate::prompt_docs::task_doc;
use planwright_drafting::executor::recipe::compact_text;
use planwright_llm::cost::tokens::estimate_text_tokens;
use planwright_model::{ExecutionFailure, ExitCriterion};

/// Results of earlier tasks take at most this many tokens each, and together.
pub(super) const RESULT_TOKENS: u64 = 4_000;
const ALL_RESULT_TOKENS: u64 = 16_000;

impl OwnAgentAttempt<'_> {
    /// The first prompt of a session.
    pub(super) fn briefing(&self) -> String {
        let job = self.run.job;
        let mut text = task_doc(job, &[]);
        let task = &job.task;
        if !task.why.trim().is_empty() {
            let _ = write!(text, "\nWhy: {}", task.why.trim());
        }
        for (label, items) in [("Assumed", &task.assumptions), ("Known", &task.evidence)] {
            for item in items {
                let _ = write!(text, "\n{label}: {item}");
            }
        }
        for fact in &job.facts {
            let _ = write!(text, "\nMust be respected: {fact}");
        }
        for comment in &job.comments {
            let _ = write!(text, "\nThe person's comment: {comment}");
        }
        text.push_str(&self.rules());
        if !job.overview.is_empty() {
            text.push_str("\n\n## The plan\n");
            text.push_str(&job.overview.join("\n"));
        }
        self.push_results(&mut text);
        text
    }

    /// How it is worked here, and how the work ends.
    fn rules(&self) -> String {
        let job = self.run.job;
        let mut text = "\n\n## How to work\n".to_owned();
        text.push_str(
            "You are in your own copy of the person's workspace. Work only here, with relative paths. \
             Do not commit: the person looks at your changes and applies them.",
        );
        if let Some(notice) = &job.worktree
            && !notice.left_out.is_empty()
        {
            let left_out = notice.left_out.join(", ");
            let _ = write!(text, "\nNot copied because git ignores it: {left_out}.");
        }
        if let Some(notice) = &job.worktree
            && !notice.conflicts.is_empty()
        {
            let _ = write!(text, "\nConflicts to resolve: {}.", notice.conflicts.join(", "));
        }
        text.push_str(
            "\nWork until the task is done, then end your turn with a short summary of what you did. \
             If you need a decision of the person, end your turn with the question alone.",
        );
        let criteria = &job.task.exit_criteria;
        if criteria.iter().any(ExitCriterion::is_checkable) {
            text.push_str(
                "\nWhen you end your turn, the conditions above are checked; what does not hold comes back to you.",
            );
        }
        let claimed = |one: &ExitCriterion| matches!(one, ExitCriterion::Text { .. });
        if criteria.iter().any(claimed) {
            text.push_str(
                "\nFor each condition in plain words that does not hold at the end, write a line such as `criterion 2: not met`.",
            );
        }
        text
    }

    fn push_results(&self, text: &mut String) {
        let earlier = &self.run.job.context;
        if earlier.is_empty() {
            return;
        }
        let share = (ALL_RESULT_TOKENS / earlier.len() as u64).clamp(100, RESULT_TOKENS);
        let _ = write!(text, "\n\n## What earlier tasks brought\n{RULE}");
        for one in earlier {
            let short = compact_text(&one.answer, share, estimate_text_tokens);
            let answer = short.as_deref().unwrap_or(&one.answer);
            let title = planwright_text::clean_line(&one.title);
            let label = format!("task {} ({}): {title}", one.task, one.outcome);
            let _ = write!(text, "\n{}", frame_data(&label, answer));
        }
    }

    /// What an agent is told that continues after its last attempt ended.
    pub(super) fn retry_prompt(&self, ended: &ExecutionFailure) -> String {
        let mut text = format!(
            "Your work so far ended: {}. Everything that you did is still there. Continue from here and fix what is named.",
            ended.message.trim_end_matches('.')
        );
        let conflicts = self.run.job.worktree.iter().flat_map(|notice| &notice.conflicts);
        let conflicts: Vec<&str> = conflicts.map(String::as_str).collect();
        if !conflicts.is_empty() {
            text.extend(["\nConflicts to resolve: ", &conflicts.join(", "), "."]);
        }
        text
    }
}

/// What an agent is told whose process was ended in the middle.
pub(super) const INTERRUPTED: &str = "You were interrupted. Look at what you had already done and continue with the task. Do not repeat a command that may have finished.";

/// What an agent is told that begins anew in a copy with its earlier work.
pub(super) const CONTINUED: &str =
    "The copy already has your earlier work on this task. Look at it before you continue.";

/// What an agent is told that stopped before it was done.
pub(super) const GO_ON: &str = "Continue with the task.";

/// What an agent is told whose claim to be done was checked.
pub(super) fn rejection_prompt(unmet: &[String]) -> String {
    format!(
        "Not accepted. Not shown to hold:\n{}\nFix it, then end your turn again.",
        unmet.join("\n")
    )
}

/// What an agent is told about calls that were not allowed.
pub(super) fn refusal_prompt(refusals: &[String]) -> String {
    format!(
        "These were not allowed:\n{}\nContinue without them, or in another way. If the task is done as it stands, say so.",
        refusals.join("\n")
    )
}

/// Numbers of criteria that an agent itself says are not met.
pub(super) fn claimed_unmet(words: &str) -> Vec<usize> {
    let line = |line: &str| {
        let lower = line.trim().trim_start_matches(['-', '*', ' ']).to_lowercase();
        let (number, rest) = lower.strip_prefix("criterion ")?.split_once(':')?;
        rest.trim().starts_with("not met").then(|| number.trim().parse().ok()).flatten()
    };
    words.lines().filter_map(line).collect()
}

/// The question that a turn ends with, if it ends with one.
pub(super) fn closing_question(words: &str) -> Option<&str> {
    let words = words.trim();
    words.ends_with('?').then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_can_say_that_a_condition_does_not_hold() {
        let words = "Done.\n- criterion 2: not met, the docs are missing\nCriterion 3: met";
        assert_eq!(claimed_unmet(words), [2]);
        assert!(claimed_unmet("all criteria are met").is_empty());
    }

    #[test]
    fn a_turn_ends_with_a_question_or_it_does_not() {
        assert_eq!(closing_question(" Which name?\n"), Some("Which name?"));
        assert_eq!(closing_question("Is it? Yes."), None);
    }
}
