//! Commands that a model drafted, as lines: they are shown whole before a plan with them is approved.

use planwright_model::request::RequestDetail;
use planwright_model::{ChoiceAction, Digest, Request, RequestKind, SessionId};
use planwright_state::{PlannedCommand, SessionState};
use planwright_text::{clean_line, reveal_hidden};

/// The fewest characters that name a revision.
const SHORTEST: usize = 7;

/// The commands of a plan that is asked about and that the person did not write, one line for each line of a command.
pub(crate) fn command_lines(commands: &[PlannedCommand<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for planned in commands {
        let task = clean_line(planned.task.as_str()).into_owned();
        for (number, line) in reveal_hidden(planned.command).split('\n').enumerate() {
            let lead = if number == 0 { format!("{task}: ") } else { "  | ".to_owned() };
            lines.push(format!("{lead}{line}"));
        }
    }
    lines
}

/// What an answer is about, byte for byte: nothing that hides is left out, and lines stay lines.
pub(crate) fn verbatim_lines(detail: &RequestDetail) -> Vec<String> {
    let label = clean_line(&detail.label).into_owned();
    let lead = |number| if number == 0 { format!("   {label}: ") } else { "     | ".to_owned() };
    let lines = reveal_hidden(&detail.text);
    lines.split('\n').enumerate().map(|(number, line)| format!("{}{line}", lead(number))).collect()
}

/// The command line that approves exactly this revision.
pub(crate) fn approval_command(
    session: &SessionId,
    request: &Request,
    reply: &str,
) -> Option<String> {
    let RequestKind::FinalPlan { hash, .. } = &request.kind else { return None };
    Some(format!(
        "planwright answer {} {} {reply} --revision {}",
        session.short_id(),
        request.id,
        hash.short_hex()
    ))
}

/// The commands under a question that approves them, and how that is done.
pub(crate) fn card_lines(
    session: &SessionId,
    request: &Request,
    drafted: &[PlannedCommand<'_>],
) -> Vec<String> {
    let Some(approve) = approval_command(session, request, "approve") else { return Vec::new() };
    if drafted.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["   a model wrote these commands of the plan:".to_owned()];
    lines.extend(command_lines(drafted).into_iter().map(|line| format!("     {line}")));
    lines.push(format!("   approve them with: {approve}"));
    lines
}

/// Whether an action approves a plan whose commands the person has to see first.
pub(crate) fn approves_drafted(
    request: &Request,
    action: ChoiceAction,
    state: &SessionState,
) -> bool {
    matches!(request.kind, RequestKind::FinalPlan { .. })
        && matches!(
            action,
            ChoiceAction::ApproveAndRun
                | ChoiceAction::ApproveAndStop
                | ChoiceAction::ApproveFromToday
                | ChoiceAction::ApproveFromTask
        )
        && !state.drafted_commands().is_empty()
}

/// Whether a text from the command line names this revision.
pub(crate) fn names_revision(given: &str, hash: &Digest) -> bool {
    given.len() >= SHORTEST && hash.as_str().starts_with(&given.to_ascii_lowercase())
}
