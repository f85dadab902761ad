//! What happens to a task's own copy of the workspace, as entries of the trace.

use super::{EntryProjection, TraceEntryKind};
use planwright_model::event::{DiscardCause, WorktreeEvent};
use planwright_model::{ApplyConflict, FailedCheck, ProposedFile, ProposedFileKind};
use planwright_text::units::format_counted;

pub(super) fn entry_kind(event: &WorktreeEvent) -> Option<TraceEntryKind> {
    Some(match event {
        WorktreeEvent::ApplyIntended { .. } => return None,
        WorktreeEvent::Opened { .. } | WorktreeEvent::Merged { .. } => TraceEntryKind::Action,
        WorktreeEvent::Proposed { .. }
        | WorktreeEvent::Applied { .. }
        | WorktreeEvent::Undone { .. }
        | WorktreeEvent::Discarded {
            cause: DiscardCause::NoChanges | DiscardCause::Lost | DiscardCause::NotPicked,
            ..
        } => TraceEntryKind::Observed,
        WorktreeEvent::ApplyRequested { .. }
        | WorktreeEvent::ChangesRequested { .. }
        | WorktreeEvent::Discarded { .. }
        | WorktreeEvent::CheckAccepted { .. }
        | WorktreeEvent::UndoRequested { .. } => TraceEntryKind::Answered,
        WorktreeEvent::Checked { failures, .. } => checked_kind(failures),
        WorktreeEvent::ApplyFailed { .. } | WorktreeEvent::UndoFailed { .. } => {
            TraceEntryKind::Failed
        }
    })
}

fn checked_kind(failures: &[FailedCheck]) -> TraceEntryKind {
    if failures.is_empty() { TraceEntryKind::Observed } else { TraceEntryKind::Failed }
}

pub(super) fn project_worktree(event: &WorktreeEvent) -> Option<EntryProjection> {
    let kind = entry_kind(event)?;
    let mut body = None;
    let text = match event {
        WorktreeEvent::ApplyIntended { .. } => return None,
        WorktreeEvent::Opened { files, left_out, overlaps, .. } => {
            let mut lines: Vec<String> = Vec::new();
            if !left_out.is_empty() {
                lines.push(format!("not copied, ignored by git: {}", left_out.join(", ")));
            }
            lines.extend(overlaps.iter().map(|overlap| {
                format!("{} also works on {}", overlap.task, overlap.files.join(", "))
            }));
            body = (!lines.is_empty()).then(|| lines.join("\n"));
            let warning = if overlaps.is_empty() { "" } else { "; overlaps with another task" };
            let count = format_counted(*files as usize, "file");
            format!("works in its own copy of {count}{warning}")
        }
        WorktreeEvent::Proposed { proposal, .. } => {
            body = Some(proposal.files.iter().map(file_line).collect::<Vec<_>>().join("\n"));
            format!("changed {}", proposal.describe())
        }
        WorktreeEvent::ApplyRequested { by: Some(_), .. } => "changes accepted".to_owned(),
        WorktreeEvent::ApplyRequested { by: None, .. } => {
            "changes accepted by your policy: autonomy is high and the criteria are met".to_owned()
        }
        WorktreeEvent::Applied { .. } => "changes applied to the workspace".to_owned(),
        WorktreeEvent::Checked { failures, .. } if failures.is_empty() => {
            "its criteria are met in the workspace too".to_owned()
        }
        WorktreeEvent::Checked { failures, .. } => {
            let lines: Vec<String> = failures.iter().map(failure_lines).collect();
            body = Some(lines.join("\n"));
            "its criteria are not met in the workspace".to_owned()
        }
        WorktreeEvent::CheckAccepted { .. } => "accepted although checks fail".to_owned(),
        WorktreeEvent::ApplyFailed { conflicts, error, .. } => {
            body = conflict_lines(conflicts);
            match error {
                Some(error) => format!("nothing was applied: {error}"),
                None => "nothing was applied: the workspace changed meanwhile".to_owned(),
            }
        }
        WorktreeEvent::ChangesRequested { text, merge: false, .. } => {
            format!("changes requested: {text}")
        }
        WorktreeEvent::ChangesRequested { .. } => "the agent is to merge the changes".to_owned(),
        WorktreeEvent::Merged { files, conflicts, .. } => {
            body =
                (!conflicts.is_empty()).then(|| format!("conflicts in {}", conflicts.join(", ")));
            let count = format_counted(files.len(), "changed file");
            format!("{count} of the workspace merged into the copy")
        }
        WorktreeEvent::Discarded { cause: DiscardCause::Person, .. } => {
            "changes discarded".to_owned()
        }
        WorktreeEvent::Discarded { cause: DiscardCause::NoChanges, .. } => {
            "no files were changed".to_owned()
        }
        WorktreeEvent::Discarded { cause: DiscardCause::Lost, .. } => {
            "its copy is gone; it starts from a new one".to_owned()
        }
        WorktreeEvent::Discarded { cause: DiscardCause::NotPicked, .. } => {
            "its changes were not picked".to_owned()
        }
        WorktreeEvent::UndoRequested { retry: Some(_), .. } => {
            "its changes go back to the agent, with what failed".to_owned()
        }
        WorktreeEvent::UndoRequested { .. } => "undo of its changes requested".to_owned(),
        WorktreeEvent::Undone { .. } => "its changes were undone".to_owned(),
        WorktreeEvent::UndoFailed { conflicts, .. } => {
            body = conflict_lines(conflicts);
            "nothing was undone: the files changed since".to_owned()
        }
    };
    Some((kind, text, body))
}

fn failure_lines(failure: &FailedCheck) -> String {
    let headline = format!("{}: {}", failure.check, failure.outcome);
    if failure.output.is_empty() { headline } else { format!("{headline}\n{}", failure.output) }
}

fn conflict_lines(conflicts: &[ApplyConflict]) -> Option<String> {
    let line = |conflict: &ApplyConflict| format!("{}: {}", conflict.path, conflict.why);
    let lines: Vec<String> = conflicts.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn file_line(file: &ProposedFile) -> String {
    let what = match file.change {
        ProposedFileKind::Added => "new",
        ProposedFileKind::Modified => "changed",
        ProposedFileKind::Removed => "removed",
    };
    format!("{} {what} +{} -{}", file.path, file.added, file.removed)
}
