//! Whether what a task changed in its own copy of the workspace is applied to the workspace.

use super::new_request;
use crate::request::RequestDetail;
use crate::task_changes::{ApplyConflict, ChangeProposal};
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskNode};

/// What is known about the changes of a task.
#[derive(Clone, Debug)]
pub struct ChangeReview<'a> {
    pub task: &'a TaskNode,
    pub attempt: u32,
    pub proposal: &'a ChangeProposal,
    /// The lines of each file, as a unified difference under its name.
    pub diffs: &'a [RequestDetail],
    /// What the agent says about its work.
    pub summary: &'a str,
    /// Whether exit criteria were checked and are met.
    pub criteria_met: bool,
    /// What git ignores and was not copied.
    pub left_out: &'a [String],
    /// Titles of other tasks under way with the files that they change too.
    pub overlaps: &'a [(String, Vec<String>)],
    /// Files in the workspace that stand in the way of applying.
    pub conflicts: &'a [ApplyConflict],
    /// Why the last try to apply failed, where it was not a conflict.
    pub error: Option<&'a str>,
    /// The title of a task whose applied changes fail their checks, with nothing decided about it.
    pub failing: Option<&'a str>,
    /// Titles of the tasks that start once the changes are applied.
    pub dependents: &'a [String],
}

/// Asks whether the changes of a task are applied.
pub fn change_review_request(id: RequestId, review: &ChangeReview<'_>) -> Request {
    let task = review.task;
    let kind = RequestKind::ChangeReview { task: task.id.clone(), attempt: review.attempt };
    let (question, why) = match (review.conflicts, review.error) {
        ([], None) => (
            "Use these changes?",
            "The agent worked in its own copy. Your workspace is unchanged until you apply.",
        ),
        ([], Some(_)) => (
            "Use these changes?",
            "The changes could not be applied. Nothing in your workspace was changed.",
        ),
        _ => (
            "Conflict with your workspace. Who merges it?",
            "Your workspace and the agent changed the same places. Nothing was applied.",
        ),
    };
    let mut asked = new_request(id, kind, question, why);
    if review.conflicts.is_empty() {
        asked.verbatim = review.diffs.to_vec();
        asked.details = review_details(review);
        asked.choices = review_choices();
    } else {
        asked.verbatim = quoted_conflicts(review.conflicts);
        asked.details = conflict_details(review);
        asked.choices = conflict_choices();
    }
    asked.task = Some(task.id.clone());
    asked
}

fn review_details(review: &ChangeReview<'_>) -> Vec<RequestDetail> {
    let mut details = vec![
        RequestDetail::new("Task", review.task.description.clone()),
        RequestDetail::new("Changes", review.proposal.describe()),
    ];
    details.extend(review.error.map(|error| RequestDetail::new("Error", error)));
    let protected = review.proposal.files.iter().filter(|file| file.protected);
    details.extend(protected.map(|file| {
        let text = format!("{} decides what other programs do on their own", file.path);
        RequestDetail::new("Danger", text)
    }));
    details.extend(marker_details(review.diffs, None));
    let check = match (review.task.exit_criteria.len(), review.criteria_met) {
        (0, _) => "the task has no exit criteria",
        (_, true) => "passed: all exit criteria are met, checked in the copy",
        (_, false) => "the exit criteria are not all met",
    };
    details.push(RequestDetail::new("Check", check));
    details.extend(review.failing.map(|title| {
        let text = format!("the checks of {title} fail in your workspace; decide about that first");
        RequestDetail::new("Workspace", text)
    }));
    if !review.summary.trim().is_empty() {
        details.push(RequestDetail::new("It says", format!("\"{}\"", review.summary.trim())));
    }
    details.extend(review.overlaps.iter().map(|(title, files)| {
        let text = format!("{title} also works on {}", files.join(", "));
        RequestDetail::new("Overlap", text)
    }));
    let not_applied = review.proposal.left_out.iter();
    details.extend(not_applied.map(|what| RequestDetail::new("Not applied", what.clone())));
    if !review.left_out.is_empty() {
        let text = format!("ignored by git: {}", review.left_out.join(", "));
        details.push(RequestDetail::new("Not copied", text));
    }
    details.push(RequestDetail::new("Then", describe_dependents(review.dependents)));
    details
}

/// The files whose changes bring in lines that mark a conflict: whoever merged them left something to decide.
pub fn files_with_conflict_markers(diffs: &[RequestDetail]) -> Vec<&str> {
    let brings = |diff: &RequestDetail, mark: &str| {
        let mut added = diff.text.lines().filter_map(|line| line.strip_prefix('+'));
        added.any(|line| line.starts_with(mark))
    };
    let is_open = |diff: &&RequestDetail| brings(diff, "<<<<<<< ") && brings(diff, ">>>>>>> ");
    let open = diffs.iter().filter(is_open);
    // How many lines were added and removed stands after the name.
    open.filter_map(|diff| diff.label.rsplitn(3, ' ').last()).collect()
}

/// What is said about such files; `who` made the changes where there are several.
pub(super) fn marker_details(diffs: &[RequestDetail], who: Option<&str>) -> Vec<RequestDetail> {
    let who = who.map(|who| format!("{who}: ")).unwrap_or_default();
    let files = files_with_conflict_markers(diffs).into_iter();
    files
        .map(|file| {
            let text = format!("{who}{file} still has conflict markers (<<<<<<<)");
            RequestDetail::new("Not merged", text)
        })
        .collect()
}

pub(super) fn describe_dependents(titles: &[String]) -> String {
    match titles {
        [] => "nothing waits for this task".to_owned(),
        [one] => format!("{one} starts"),
        [first, second] => format!("{first} and {second} start"),
        [first, rest @ ..] => format!("{first} and {} more tasks start", rest.len()),
    }
}

fn review_choices() -> Vec<Choice> {
    let apply =
        Choice::new(ChoiceAction::ApplyChanges, "apply", "writes these files; commits nothing");
    vec![apply, request_choice(), discard_choice()]
}

fn request_choice() -> Choice {
    Choice::new(
        ChoiceAction::RequestChanges,
        "request changes",
        "the agent continues in its copy with your words",
    )
}

fn discard_choice() -> Choice {
    let consequence = "the task fails; what needs it is skipped";
    Choice::new(ChoiceAction::DiscardChanges, "discard", consequence)
}

/// The lines that both sides changed, under the name of their file; a file without such lines stands for itself.
fn quoted_conflicts(conflicts: &[ApplyConflict]) -> Vec<RequestDetail> {
    let quoted = |conflict: &ApplyConflict| {
        let text = match conflict.hunks.as_slice() {
            [] => conflict.why.clone(),
            hunks => hunks.join("\n\n"),
        };
        RequestDetail::new(&conflict.path, text)
    };
    conflicts.iter().map(quoted).collect()
}

fn conflict_details(review: &ChangeReview<'_>) -> Vec<RequestDetail> {
    let mut details = vec![RequestDetail::new("Task", review.task.description.clone())];
    details.extend(review.conflicts.iter().map(|conflict| {
        RequestDetail::new("Conflict", format!("{}: {}", conflict.path, conflict.why))
    }));
    let is_free = |path: &str| !review.conflicts.iter().any(|conflict| conflict.path == path);
    let free: Vec<&str> = review
        .proposal
        .files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| is_free(path))
        .collect();
    if !free.is_empty() {
        details.push(RequestDetail::new("No conflict", free.join(", ")));
    }
    details.push(RequestDetail::new("Changes", review.proposal.describe()));
    details.push(RequestDetail::new("Then", describe_dependents(review.dependents)));
    details
}

fn conflict_choices() -> Vec<Choice> {
    vec![
        Choice::new(
            ChoiceAction::MergeChanges,
            "let the agent merge",
            "it gets your version with conflict markers and hands in again",
        ),
        Choice::new(
            ChoiceAction::TryAgain,
            "apply again",
            "after you changed these places in your workspace yourself",
        ),
        request_choice(),
        discard_choice(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_left_half_merged_are_named() {
        let diff = |label: &str, text: &str| RequestDetail::new(label, text);
        let diffs = [
            diff(
                "docs/a file.md +5 -0",
                "@@ -1 +1,6 @@\n x\n+<<<<<<< ours\n+a\n+=======\n+b\n+>>>>>>> theirs\n",
            ),
            // What stood there before, and what only looks like it, is nobody's merge.
            diff("b.rst +1 -0", " <<<<<<< ours\n >>>>>>> theirs\n+c\n"),
            diff("c.rst +2 -0", "+=======\n+<<<<<<<\n"),
        ];
        assert_eq!(files_with_conflict_markers(&diffs), ["docs/a file.md"]);
        let said = marker_details(&diffs, Some("Codex"));
        let text = "Codex: docs/a file.md still has conflict markers (<<<<<<<)";
        assert_eq!(said, [RequestDetail::new("Not merged", text)]);
    }
}
