//! A task that failed, as a card: what went wrong, what it means for the rest, what can be done.
//!
//! Nobody asks it: the run goes on or ends without an answer. So it comes after the requests, and never takes the focus.

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::answers::AnswerRow;
use super::content::{CardLine, labelled, paragraph, verbatim};
use crate::clock::time_of_day;
use crate::context::PaneContext;
use crate::keymap::Action;
use crate::theme::Role;
use crate::ui_state::{Focus, UiState};
use crate::widgets::{piece, rule};
use planwright_model::{PlanState, RunKind, TaskId};
use planwright_state::{SessionState, TaskStatus};
use planwright_text::units::counted;

/// The failed task in the panel: the one the person turned to, else the one that failed last while nothing is asked.
pub(crate) fn failed<'s>(state: &'s SessionState, ui: &'s UiState) -> Option<&'s TaskId> {
    turned_to(state, ui).or_else(|| latest(state).filter(|_| state.requests.open.is_empty()))
}

/// The failed task that the person turned to.
pub(crate) fn turned_to<'s>(state: &SessionState, ui: &'s UiState) -> Option<&'s TaskId> {
    let task = ui.card.failed.as_ref()?;
    state.tasks.get(task).is_some_and(|row| row.status == TaskStatus::Failed).then_some(task)
}

/// The failed tasks in the order of the plan.
pub(crate) fn all(state: &SessionState) -> impl Iterator<Item = &TaskId> {
    let any = state.tasks.counts().failed > 0;
    let rows = any.then(|| state.tasks.iter()).into_iter().flatten();
    rows.filter(|(_, row)| row.status == TaskStatus::Failed).map(|(id, _)| id)
}

/// The one that failed last.
pub(super) fn latest(state: &SessionState) -> Option<&TaskId> {
    all(state).max_by_key(|id| state.tasks.get(id).and_then(|row| row.finished_at))
}

/// How many cards there are to turn to, requests and failed tasks.
pub(crate) fn cards(state: &SessionState) -> usize {
    state.requests.open.len() + state.tasks.counts().failed as usize
}

/// What went wrong in one line.
pub(super) fn reason(state: &SessionState, task: &TaskId) -> String {
    let row = state.tasks.get(task);
    match row.and_then(|row| row.failure.as_ref()) {
        Some(failure) => format!("{}, {}: {}", failure.code, failure.category, failure.message),
        None => "no reason was recorded".to_owned(),
    }
}

/// The lines of the card.
pub(crate) fn lines(state: &SessionState, task: &TaskId, width: usize) -> Vec<CardLine> {
    let mut lines = Vec::new();
    paragraph(&mut lines, &format!("{task} failed. What next?"), Role::Key, width);
    paragraph(&mut lines, &reason(state, task), Role::Failed, width);
    let Some(at) = state.tasks.position(task) else { return lines };
    let node = state.plan.current.as_ref().and_then(|revision| revision.plan.tasks.get(at));
    if let Some(RunKind::Shell(command)) = node.map(|node| &node.run) {
        verbatim(&mut lines, command, width);
    }
    labelled(&mut lines, "effect", &effect(state, at), Role::Text, width);
    lines
}

/// What the failure means for the rest of the plan.
pub(crate) fn effect(state: &SessionState, task: usize) -> String {
    let tasks = &state.tasks;
    let after = tasks.descendants(task);
    let skipped: Vec<&str> = after
        .iter()
        .filter(|task| matches!(tasks.row(**task).status, TaskStatus::Skipped(_)))
        .map(|task| tasks.id(*task).as_str())
        .collect();
    let words = match skipped[..] {
        [] => "nothing is skipped for it".to_owned(),
        [only] => format!("{only} is skipped"),
        [first, second, third] => format!("{first}, {second} and {third} are skipped"),
        [first, second] => format!("{first} and {second} are skipped"),
        [first, second, ..] => {
            format!("{first}, {second} and {} more are skipped", skipped.len() - 2)
        }
    };
    let others = tasks.len().saturating_sub(after.len() + 1);
    let are = if others == 1 { "is" } else { "are" };
    let running = match tasks.counts().running {
        0 => String::new(),
        1 => ", 1 runs now".to_owned(),
        running => format!(", {running} run now"),
    };
    format!("{words} · {} {are} not affected{running}", counted(others, "other task"))
}

/// What can be done, each with its consequence.
pub(crate) fn rows(state: &SessionState, task: &TaskId) -> Vec<AnswerRow> {
    let at = state.tasks.position(task);
    let after = at.map(|at| state.tasks.descendants(at)).unwrap_or_default();
    let row = |action, label: &str, consequence: String| AnswerRow {
        action,
        choices: Vec::new(),
        label: label.to_owned(),
        consequence,
        unavailable: None,
        parts: Vec::new(),
    };
    let follow = match after[..] {
        [] => "nothing else was skipped for it".to_owned(),
        [only] => format!("then {}, unless something else holds it up", state.tasks.id(only)),
        _ => "then what waits for nothing else".to_owned(),
    };
    let mut rows = vec![row(Action::RetryFailed, "retry alone", follow)];
    let skip = match after[..] {
        [] => "asks first; what is left goes on",
        _ => "asks: it alone, or what needs it as well",
    };
    if !after.is_empty() {
        let all = match after[..] {
            [only] => state.tasks.id(only).to_string(),
            _ => counted(after.len(), "task"),
        };
        let consequence = format!("{all} as well; what is done runs again");
        rows.push(row(Action::RetryFailedWithDependents, "retry with dependents", consequence));
    }
    rows.push(row(Action::SkipFailed, "skip", skip.to_owned()));
    let changes = "the plan is revised; done tasks stay done";
    let mut revise = row(Action::RequestChanges, "request changes", changes.to_owned());
    revise.unavailable = cannot_revise(state);
    rows.push(revise);
    rows
}

/// Why the plan cannot be revised by words, if so.
pub(crate) fn cannot_revise(state: &SessionState) -> Option<String> {
    let planning = &state.planning;
    if !planning.begun {
        return Some("from a file: change it by resume --plan FILE".to_owned());
    }
    (planning.place.state != PlanState::Complete).then(|| "the plan is being worked on".to_owned())
}

/// The rule above the card.
pub(super) fn draw_rule(area: Rect, task: &TaskId, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule(Focus::Approval);
    let before = cx.state.requests.open.len();
    let number = before + all(cx.state).position(|id| id == task).unwrap_or(0) + 1;
    let name = format!("approval {number} of {} · failed task", cards(cx.state));
    rule(
        buf,
        area,
        kind,
        style,
        &[piece(name, style)],
        &[piece(facts(cx.state, task, cx.time_zone), style)],
    );
}

fn facts(state: &SessionState, task: &TaskId, time_zone: &TimeZone) -> String {
    let Some(row) = state.tasks.get(task) else { return task.to_string() };
    let failed = row.finished_at.map(|at| format!(" · failed {}", time_of_day(at, time_zone)));
    format!("{task} · attempt {}{}", row.attempt, failed.unwrap_or_default())
}
