//! A task that failed, as a card: what went wrong, what it means for the rest, what can be done.
//!
//! Nobody asks it: the run goes on or ends without an answer. So it comes after the requests, and never takes the focus.

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::answers::AnswerRow;
use super::content::{CardLine, push_labeled, push_paragraph, push_verbatim};
use crate::clock::format_time_of_day;
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::ui_state::{PaneFocus, UiState};
use crate::widgets::{draw_pane_rule, styled_piece};
use planwright_model::{PlanState, RunKind, TaskId};
use planwright_state::{SessionState, TaskStatus};
use planwright_text::units::format_counted;

/// The failed task in the panel: the one the person turned to, else the one that failed last while nothing is asked.
pub(crate) fn shown_failed_task<'s>(
    state: &'s SessionState,
    ui: &'s UiState,
) -> Option<&'s TaskId> {
    selected_failed_task(state, ui)
        .or_else(|| latest_failed_task(state).filter(|_| state.requests.open.is_empty()))
}

/// The failed task that the person turned to.
pub(crate) fn selected_failed_task<'s>(
    state: &SessionState,
    ui: &'s UiState,
) -> Option<&'s TaskId> {
    let task = ui.card.failed.as_ref()?;
    state.tasks.get(task).is_some_and(|row| row.status == TaskStatus::Failed).then_some(task)
}

/// The failed tasks in the order of the plan.
pub(crate) fn failed_tasks(state: &SessionState) -> impl Iterator<Item = &TaskId> {
    let any = state.tasks.status_counts().failed > 0;
    let rows = any.then(|| state.tasks.iter()).into_iter().flatten();
    rows.filter(|(_, row)| row.status == TaskStatus::Failed).map(|(id, _)| id)
}

/// The one that failed last.
pub(super) fn latest_failed_task(state: &SessionState) -> Option<&TaskId> {
    failed_tasks(state).max_by_key(|id| state.tasks.get(id).and_then(|row| row.finished_at))
}

/// How many cards there are to turn to, requests and failed tasks.
pub(crate) fn card_count(state: &SessionState) -> usize {
    state.requests.open.len() + state.tasks.status_counts().failed as usize
}

/// What went wrong in one line.
pub(super) fn failure_reason(state: &SessionState, task: &TaskId) -> String {
    let row = state.tasks.get(task);
    match row.and_then(|row| row.failure.as_ref()) {
        Some(failure) => format!("{}, {}: {}", failure.code, failure.category, failure.message),
        None => "no reason was recorded".to_owned(),
    }
}

/// The lines of the card.
pub(crate) fn failed_lines(state: &SessionState, task: &TaskId, width: usize) -> Vec<CardLine> {
    let mut lines = Vec::new();
    push_paragraph(&mut lines, &format!("{task} failed. What next?"), ThemeRole::Key, width);
    push_paragraph(&mut lines, &failure_reason(state, task), ThemeRole::Failed, width);
    let Some(at) = state.tasks.position(task) else { return lines };
    let node = state.plan.current.as_ref().and_then(|revision| revision.plan.tasks.get(at));
    if let Some(RunKind::Shell(command)) = node.map(|node| &node.run) {
        push_verbatim(&mut lines, command, width);
    }
    push_labeled(&mut lines, "effect", &effect_of_failure(state, at), ThemeRole::Text, width);
    lines
}

/// What the failure means for the rest of the plan.
fn effect_of_failure(state: &SessionState, task: usize) -> String {
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
    let running = match tasks.status_counts().running {
        0 => String::new(),
        1 => ", 1 runs now".to_owned(),
        running => format!(", {running} run now"),
    };
    format!("{words} · {} {are} not affected{running}", format_counted(others, "other task"))
}

/// What can be done, each with its consequence.
pub(crate) fn failed_rows(state: &SessionState, task: &TaskId) -> Vec<AnswerRow> {
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
    let has_run = |task: &usize| {
        matches!(state.tasks.row(*task).status, TaskStatus::Done | TaskStatus::Failed)
    };
    let retry = if after.iter().any(has_run) {
        "asks: this task only, or what depends on it too".to_owned()
    } else {
        follow
    };
    let mut rows = vec![row(KeyAction::RetryFailed, "retry", retry)];
    let skip = match after[..] {
        [] => "asks first; the rest continues",
        _ => "asks: this task only, or what depends on it too",
    };
    rows.push(row(KeyAction::SkipFailed, "skip", skip.to_owned()));
    let changes = "the plan is revised; done tasks stay done";
    let mut revise = row(KeyAction::RequestChanges, "request changes", changes.to_owned());
    revise.unavailable = why_cannot_revise(state);
    rows.push(revise);
    rows
}

/// Why the plan cannot be revised by words, if so.
pub(crate) fn why_cannot_revise(state: &SessionState) -> Option<String> {
    let planning = &state.planning;
    if !planning.begun {
        return Some("from a file: change it by resume --plan FILE".to_owned());
    }
    (planning.place.state != PlanState::Complete).then(|| "the plan is being worked on".to_owned())
}

/// The rule above the card.
pub(super) fn draw_failed_rule(area: Rect, task: &TaskId, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    let before = cx.state.requests.open.len();
    let number = before + failed_tasks(cx.state).position(|id| id == task).unwrap_or(0) + 1;
    let name = format!("approval {number} of {} · failed task", card_count(cx.state));
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(attempt_facts(cx.state, task, cx.time_zone), style)],
    );
}

fn attempt_facts(state: &SessionState, task: &TaskId, time_zone: &TimeZone) -> String {
    let Some(row) = state.tasks.get(task) else { return task.to_string() };
    let failed =
        row.finished_at.map(|at| format!(" · failed {}", format_time_of_day(at, time_zone)));
    format!("{task} · attempt {}{}", row.attempt, failed.unwrap_or_default())
}
