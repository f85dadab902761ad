//! A task in full: its fields, its command byte for byte, how it went.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame;
use crate::clock::format_time_of_day;
use crate::glyphs::task_glyph;
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::panes::approval::effect_of_failure;
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::{ExitCriterion, LinkKind, RunKind, TaskId, TaskNode};
use planwright_state::trace::outcome_text;
use planwright_state::{TaskRow, TaskStatus};
use planwright_text::{clean_text, reveal_hidden, units, wrap_exact, wrap_words};

const LABEL: usize = 20;

type TaskCardRow = (String, String, ThemeRole);

pub(super) fn draw_task_card(
    id: &TaskId,
    scroll: usize,
    screen: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let task = cx.state.tasks.position(id);
    let node = task.and_then(|task| cx.state.plan.current.as_ref()?.plan.tasks.get(task));
    let width = screen.width.min(100);
    let rows = match (task, node) {
        (Some(task), Some(node)) => {
            task_card_rows(task, node, usize::from(width).saturating_sub(LABEL + 6), cx)
        }
        _ => vec![(
            String::new(),
            "this task is not in the plan at this moment".to_owned(),
            ThemeRole::Dim,
        )],
    };
    let height = (rows.len() + 2).min(30) as u16;
    let inner =
        frame::draw_overlay_frame(screen, (width, height), id.as_str(), "Esc close", buf, cx);
    let most = rows.len().saturating_sub(usize::from(inner.height));
    for ((label, text, role), y) in rows.iter().skip(scroll.min(most)).zip(inner.y..inner.bottom())
    {
        let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..inner });
        line.skip(1).put_column(label, LABEL, cx.style(ThemeRole::Dim));
        line.put(text, cx.style(*role));
    }
}

fn task_card_rows(
    task: usize,
    node: &TaskNode,
    width: usize,
    cx: &PaneContext<'_>,
) -> Vec<TaskCardRow> {
    let row = cx.state.tasks.row(task);
    let mut card = TaskCardBuilder { rows: Vec::new(), width };
    card.push_text("title", &node.description, ThemeRole::Text);
    let (glyph, role) = task_glyph(cx.state, task);
    card.push_text("status", &format!("{glyph} {}", status_text(row, cx)), role);
    if let Some(failure) = &row.failure {
        let text = format!("{}, {}: {}", failure.code, failure.category, failure.message);
        card.push_text("failure", &text, ThemeRole::Failed);
    }
    match &node.run {
        RunKind::Shell(command) => card.push_verbatim("command", command),
        RunKind::Agent {} => {
            card.push_text("run by", &format!("agent, {}", node.agent_role), ThemeRole::Text);
        }
        RunKind::Human {} => card.push_text("run by", "you", ThemeRole::Text),
    }
    push_links(&mut card, task, node, cx);
    for criterion in &node.exit_criteria {
        card.push_text("done when", &criterion_text(criterion), ThemeRole::Text);
    }
    push_fields(&mut card, node);
    push_outcome(&mut card, row, cx);
    if row.status == TaskStatus::Failed {
        card.push_text("effect", &effect_of_failure(cx.state, task), ThemeRole::Text);
    }
    push_task_actions(&mut card, task, cx);
    card.rows
}

/// The keys that work on this task now, each with what it does.
fn push_task_actions(card: &mut TaskCardBuilder, task: usize, cx: &PaneContext<'_>) {
    if !cx.can_act || cx.mode.is_past() {
        return;
    }
    let tasks = &cx.state.tasks;
    let mut rows: Vec<(KeyAction, &str, String)> = Vec::new();
    let status = tasks.row(task).status;
    if matches!(status, TaskStatus::Failed | TaskStatus::Skipped(_)) {
        rows.push((KeyAction::Retry, "retry", "asks if what depends on it has run too".into()));
    }
    if status == TaskStatus::Failed {
        rows.push((
            KeyAction::Skip,
            "skip",
            "asks: go on without it, or skip what needs it".into(),
        ));
    }
    if status == TaskStatus::Running && cx.state.run.is_active() {
        rows.push((KeyAction::StopTask, "stop it", "asks first; it counts as failed".into()));
    }
    if rows.is_empty() {
        return;
    }
    card.rows.push((String::new(), String::new(), ThemeRole::Text));
    for (action, label, consequence) in rows {
        let key = cx.keymap.key_hint(action);
        card.push_text(&format!("{key}  {label}"), &consequence, ThemeRole::Text);
    }
}

fn status_text(row: &TaskRow, cx: &PaneContext<'_>) -> String {
    let mut words = row.status.label().to_owned();
    if let TaskStatus::Skipped(reason) = row.status {
        words = format!("{words}, {}", reason.as_str());
    }
    if let Some(ms) = row.elapsed_ms(cx.now) {
        words = format!("{words}, {}", units::format_elapsed(std::time::Duration::from_millis(ms)));
    }
    if row.attempt > 1 {
        words = format!("{words}, attempt {}", row.attempt);
    }
    words
}

fn push_links(card: &mut TaskCardBuilder, task: usize, node: &TaskNode, cx: &PaneContext<'_>) {
    let needs: Vec<String> = node
        .dependencies
        .iter()
        .map(|link| match (link.kind, link.lag_minutes) {
            (LinkKind::FS, 0) => link.task.to_string(),
            (kind, 0) => format!("{} ({kind:?})", link.task),
            (kind, lag) => format!("{} ({kind:?} {lag:+} min)", link.task),
        })
        .collect();
    if !needs.is_empty() {
        card.push_text("needs", &needs.join(", "), ThemeRole::Text);
    }
    let unlocks: Vec<&str> =
        cx.state.tasks.dependents(task).map(|task| cx.state.tasks.id(task).as_str()).collect();
    if !unlocks.is_empty() {
        card.push_text("unlocks", &unlocks.join(", "), ThemeRole::Text);
    }
}

fn push_fields(card: &mut TaskCardBuilder, node: &TaskNode) {
    if let Some(minutes) = node.duration_minutes {
        card.push_text("estimate", &units::format_planned(u64::from(minutes)), ThemeRole::Text);
    }
    if node.priority != 0 {
        card.push_text("priority", &node.priority.to_string(), ThemeRole::Text);
    }
    if let Some(seconds) = node.timeout_seconds {
        card.push_text("time limit", &format!("{seconds} s"), ThemeRole::Text);
    }
    let resources: Vec<String> =
        node.resources.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
    if !resources.is_empty() {
        card.push_text("resources", &resources.join(", "), ThemeRole::Text);
    }
}

fn push_outcome(card: &mut TaskCardBuilder, row: &TaskRow, cx: &PaneContext<'_>) {
    if let Some(at) = row.started_at {
        card.push_text("started", &format_time_of_day(at, cx.time_zone), ThemeRole::Text);
    }
    if let Some(at) = row.finished_at {
        card.push_text("ended", &format_time_of_day(at, cx.time_zone), ThemeRole::Text);
    }
    if let Some(outcome) = &row.last_outcome {
        card.push_text("last call", &outcome_text(outcome), ThemeRole::Text);
    }
    if let Some(call) = &row.call {
        card.push_text("now", &call.last_line, ThemeRole::Untrusted);
    }
    if let Some(note) = &row.note {
        card.push_text("note", note, ThemeRole::Text);
    }
}

fn criterion_text(criterion: &ExitCriterion) -> String {
    match criterion {
        ExitCriterion::Text { text, .. } | ExitCriterion::Judged { text, .. } => text.clone(),
        ExitCriterion::FileExists { path, .. } => format!("{path} exists"),
        ExitCriterion::Command { command, .. } => format!("{command} succeeds"),
        ExitCriterion::JsonPath { path, equals, .. } => format!("{path} is {equals}"),
    }
}

struct TaskCardBuilder {
    rows: Vec<TaskCardRow>,
    width: usize,
}

impl TaskCardBuilder {
    fn push_text(&mut self, label: &str, text: &str, role: ThemeRole) {
        let text = clean_text(text);
        let lines = wrap_words(&text, self.width.max(8), 0);
        self.push_lines(label, lines.into_iter().map(std::borrow::Cow::into_owned), role);
    }

    /// Text that must be seen as it is.
    fn push_verbatim(&mut self, label: &str, text: &str) {
        let shown = reveal_hidden(text);
        let lines = wrap_exact(&shown, self.width.max(8));
        self.push_lines(
            label,
            lines.into_iter().map(std::borrow::Cow::into_owned),
            ThemeRole::Text,
        );
    }

    fn push_lines(&mut self, label: &str, lines: impl Iterator<Item = String>, role: ThemeRole) {
        for (index, line) in lines.enumerate() {
            let label = if index == 0 { label } else { "" };
            self.rows.push((label.to_owned(), line, role));
        }
    }
}
