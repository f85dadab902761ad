//! A task that failed, as a card: what went wrong, what it means for the rest, what can be done.
//!
//! Nobody asks it: the run goes on or ends without an answer. So it comes after the requests, and never takes the focus.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::answers::AnswerRow;
use super::content::{CardLine, push_labeled, push_paragraph, push_verbatim};
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::panes::finished::is_finished_shown;
use crate::panes::graph::title_of;
use crate::panes::output::FailureTail;
use crate::theme::ThemeRole;
use crate::ui_state::{PaneFocus, UiState};
use crate::widgets::{draw_pane_rule, styled_piece};
use planwright_model::{PlanState, RunKind, TaskId};
use planwright_state::{SessionState, SkipRoots, TaskStatus};
use planwright_text::units::{self, format_counted};

/// The failed task in the panel: the one the person turned to, else the one that failed last while nothing is asked.
pub(crate) fn shown_failed_task<'s>(
    state: &'s SessionState,
    ui: &'s UiState,
) -> Option<&'s TaskId> {
    selected_failed_task(state, ui).or_else(|| {
        let free = state.requests.open.is_empty() && !is_finished_shown(state, ui);
        latest_failed_task(state).filter(|_| free)
    })
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

/// Of the last lines of output as many as leave room for what was skipped, these at least.
const LEAST_TAIL: usize = 3;

/// The lines of the card in so many rows: where they are too few, there is less output.
pub(crate) fn fitting_failed_lines(
    state: &SessionState,
    task: &TaskId,
    tail: Option<&FailureTail>,
    skips: &SkipRoots,
    (width, room): (usize, usize),
) -> Vec<CardLine> {
    let lines = failed_lines(state, task, tail, skips, width);
    let over = lines.len().saturating_sub(room);
    match tail.filter(|_| over > 0) {
        Some(tail) => {
            let kept = tail.lines.len().saturating_sub(over).max(LEAST_TAIL);
            let first = tail.lines.len().saturating_sub(kept);
            let shorter = FailureTail { lines: tail.lines[first..].to_vec(), ..tail.clone() };
            failed_lines(state, task, Some(&shorter), skips, width)
        }
        None => lines,
    }
}

/// The lines of the card: the cause first, then the last lines of output, then what was skipped because of it.
pub(crate) fn failed_lines(
    state: &SessionState,
    task: &TaskId,
    tail: Option<&FailureTail>,
    skips: &SkipRoots,
    width: usize,
) -> Vec<CardLine> {
    let mut lines = Vec::new();
    let recorded = state.tasks.get(task).and_then(|row| row.failure.as_ref());
    let cause = match (tail, recorded) {
        (Some(tail), _) => tail.cause.line.clone(),
        (None, Some(failure)) => failure.message.clone(),
        (None, None) => "no reason was recorded".to_owned(),
    };
    push_paragraph(&mut lines, &cause, ThemeRole::Failed, width);
    let Some(at) = state.tasks.position(task) else { return lines };
    if let Some(tail) = tail.filter(|tail| !tail.lines.is_empty()) {
        push_tail(&mut lines, tail, width);
    } else {
        let node = state.plan.current.as_ref().and_then(|revision| revision.plan.tasks.get(at));
        lines.push(section_line("no output", width));
        if let Some(RunKind::Shell(command)) = node.map(|node| &node.run) {
            push_verbatim(&mut lines, command, width);
        }
    }
    lines.push(section_line("", width));
    let effect = effect_of_failure(state, at, skips);
    push_labeled(&mut lines, "Because of it", &effect, ThemeRole::Text, width);
    lines
}

/// A rule inside the card.
fn section_line(name: &str, width: usize) -> CardLine {
    section_line_with_key(name, "", width)
}

/// The same with a key at its right end.
fn section_line_with_key(name: &str, key: &str, width: usize) -> CardLine {
    let name = if name.is_empty() { String::new() } else { format!("── {name} ") };
    let key = if key.is_empty() { String::new() } else { format!(" {key} ──") };
    let taken = planwright_text::display_width(&name) + planwright_text::display_width(&key);
    let rest = "─".repeat(width.saturating_sub(taken));
    vec![(format!("{name}{rest}{key}"), ThemeRole::Rule)]
}

/// The last lines of output, wrapped at nothing: the log has them whole.
fn push_tail(lines: &mut Vec<CardLine>, tail: &FailureTail, width: usize) {
    let heading = match tail.total {
        Some(total) if total > tail.lines.len() => {
            format!("last {} of {} lines", tail.lines.len(), units::format_count(total as u64))
        }
        Some(1) => "1 line of output".to_owned(),
        Some(total) => format!("{total} lines of output"),
        None => format!("last {} lines", tail.lines.len()),
    };
    lines.push(section_line_with_key(&heading, "o all output", width));
    for (_, line) in &tail.lines {
        let clean = planwright_text::clean_line(line);
        let cut = planwright_text::truncate_end(&clean, width.saturating_sub(2)).into_owned();
        lines.push(vec![(format!("  {cut}"), ThemeRole::Untrusted)]);
    }
}

/// What the failure means for the rest of the plan.
fn effect_of_failure(state: &SessionState, task: usize, skips: &SkipRoots) -> String {
    let skipped = skips.skipped_because_of(task);
    let titles: Vec<&str> = skipped.iter().take(3).map(|task| title_of(state, *task)).collect();
    let words = match (titles.len(), skipped.len()) {
        (0, _) => return effect_before_skips(state, task),
        (shown, all) if all > shown => {
            format!("{all} skipped: {} and {} more.", titles.join(", "), all - shown)
        }
        (_, all) => format!("{all} skipped: {}.", titles.join(", ")),
    };
    let others = state.tasks.len().saturating_sub(skipped.len() + 1);
    let are = if others == 1 { "is" } else { "are" };
    format!("{words} {} {are} not affected.", format_counted(others, "other task"))
}

/// What comes after a failed task of which nothing was skipped: at the moment of the failure nothing is yet.
fn effect_before_skips(state: &SessionState, task: usize) -> String {
    let waits = |task: &usize| state.tasks.row(*task).status == TaskStatus::Pending;
    let after: Vec<usize> = state.tasks.descendants(task).into_iter().filter(waits).collect();
    let others = state.tasks.len().saturating_sub(after.len() + 1);
    let are = if others == 1 { "is" } else { "are" };
    let not = format!("{} {are} not affected.", format_counted(others, "other task"));
    let titles: Vec<&str> = after.iter().take(3).map(|task| title_of(state, *task)).collect();
    match (after.len(), titles.len()) {
        (0, _) => format!("nothing was skipped. {not}"),
        (1, _) => format!("{} comes after it. {not}", titles[0]),
        (all, shown) if all > shown => {
            format!("{all} come after it: {} and {} more. {not}", titles.join(", "), all - shown)
        }
        (all, _) => format!("{all} come after it: {}. {not}", titles.join(", ")),
    }
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
        [] => "this task again".to_owned(),
        [only] => format!("this task, then {}", title_of(state, only)),
        _ => "this task, then what was skipped".to_owned(),
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
    rows.push(row(KeyAction::EditFailed, "edit", "the plan in $EDITOR, then retry".to_owned()));
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
        return Some("edit the plan file, then resume --plan FILE".to_owned());
    }
    (planning.place.state != PlanState::Complete).then(|| "the plan is being worked on".to_owned())
}

/// The rule above the card: what failed, how it ended, after how long, at which attempt.
pub(super) fn draw_failed_rule(area: Rect, task: &TaskId, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    let title = cx.state.tasks.position(task).map_or(task.as_str(), |at| title_of(cx.state, at));
    let facts = attempt_facts(task, cx);
    let room = usize::from(area.width).saturating_sub(facts.len() + 20).max(12);
    let title =
        planwright_text::truncate_end(&planwright_text::clean_line(title), room).into_owned();
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(format!("{title} failed"), style)],
        &[styled_piece(facts, style)],
    );
}

fn attempt_facts(task: &TaskId, cx: &PaneContext<'_>) -> String {
    let Some(row) = cx.state.tasks.get(task) else { return String::new() };
    let ended = cx.tails.get(task, cx.state, cx.timeline).and_then(|tail| tail.ended.clone());
    let took = row.elapsed_ms(cx.now).map(|ms| units::format_elapsed(Duration::from_millis(ms)));
    let how = match (ended, took) {
        (Some(ended), Some(took)) => format!("{ended} after {took} · "),
        (None, Some(took)) => format!("after {took} · "),
        (Some(ended), None) => format!("{ended} · "),
        (None, None) => String::new(),
    };
    format!("{how}attempt {}", row.attempt)
}
