//! A task in full: its fields, its command byte for byte, how it went.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame;
use crate::clock::time_of_day;
use crate::context::PaneContext;
use crate::glyphs::task_glyph;
use crate::keymap::Action;
use crate::panes::approval::effect_of_failure;
use crate::theme::Role;
use crate::widgets::Line;
use planwright_model::{ExitCriterion, LinkKind, RunKind, TaskId, TaskNode};
use planwright_state::trace::outcome_words;
use planwright_state::{TaskRow, TaskStatus};
use planwright_text::{clean, reveal, units, wrap, wrap_exact};

const LABEL: usize = 20;

type Row = (String, String, Role);

pub(super) fn draw(
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
            rows(task, node, usize::from(width).saturating_sub(LABEL + 6), cx)
        }
        _ => vec![(
            String::new(),
            "this task is not in the plan at this moment".to_owned(),
            Role::Dim,
        )],
    };
    let height = (rows.len() + 2).min(30) as u16;
    let inner = frame::draw(screen, (width, height), id.as_str(), "Esc close", buf, cx);
    let most = rows.len().saturating_sub(usize::from(inner.height));
    for ((label, text, role), y) in rows.iter().skip(scroll.min(most)).zip(inner.y..inner.bottom())
    {
        let mut line = Line::new(buf, Rect { y, height: 1, ..inner });
        line.skip(1).column(label, LABEL, cx.style(Role::Dim));
        line.put(text, cx.style(*role));
    }
}

fn rows(task: usize, node: &TaskNode, width: usize, cx: &PaneContext<'_>) -> Vec<Row> {
    let row = cx.state.tasks.row(task);
    let mut card = Card { rows: Vec::new(), width };
    card.text("title", &node.description, Role::Text);
    let (glyph, role) = task_glyph(cx.state, task);
    card.text("status", &format!("{glyph} {}", status_words(row, cx)), role);
    if let Some(failure) = &row.failure {
        let text = format!("{}, {}: {}", failure.code, failure.category, failure.message);
        card.text("failure", &text, Role::Failed);
    }
    match &node.run {
        RunKind::Shell(command) => card.exact("command", command),
        RunKind::Agent {} => {
            card.text("run by", &format!("agent, {}", node.agent_role), Role::Text);
        }
        RunKind::Human {} => card.text("run by", "you", Role::Text),
    }
    links(&mut card, task, node, cx);
    for criterion in &node.exit_criteria {
        card.text("done when", &criterion_words(criterion), Role::Text);
    }
    fields(&mut card, node);
    outcome(&mut card, row, cx);
    if row.status == TaskStatus::Failed {
        card.text("effect", &effect_of_failure(cx.state, task), Role::Text);
    }
    answers(&mut card, task, cx);
    card.rows
}

/// The keys that work on this task now, each with what it does.
fn answers(card: &mut Card, task: usize, cx: &PaneContext<'_>) {
    if !cx.can_act || cx.mode.is_past() {
        return;
    }
    let tasks = &cx.state.tasks;
    let id = tasks.id(task).as_str();
    let names: Vec<&str> =
        tasks.descendants(task).iter().map(|task| tasks.id(*task).as_str()).collect();
    let mut rows: Vec<(Action, &str, String)> = Vec::new();
    let status = tasks.row(task).status;
    if matches!(status, TaskStatus::Failed | TaskStatus::Skipped(_)) {
        rows.push((Action::Retry, "retry", format!("{id} alone")));
        if !names.is_empty() {
            let all = format!("{id}, {}", names.join(", "));
            rows.push((Action::RetryWithDependents, "with dependents", all));
        }
    }
    if status == TaskStatus::Failed {
        rows.push((Action::Skip, "skip", "asks: go on without it, or skip what needs it".into()));
    }
    if status == TaskStatus::Running && cx.state.run.is_active() {
        rows.push((Action::StopTask, "stop it", "asks first; it counts as failed".into()));
    }
    if rows.is_empty() {
        return;
    }
    card.rows.push((String::new(), String::new(), Role::Text));
    for (action, label, consequence) in rows {
        let key = cx.keymap.key(action);
        card.text(&format!("{key}  {label}"), &consequence, Role::Text);
    }
}

fn status_words(row: &TaskRow, cx: &PaneContext<'_>) -> String {
    let mut words = row.status.word().to_owned();
    if let TaskStatus::Skipped(reason) = row.status {
        words = format!("{words}, {}", reason.as_str());
    }
    if let Some(ms) = row.elapsed_ms(cx.now) {
        words = format!("{words}, {}", units::elapsed(std::time::Duration::from_millis(ms)));
    }
    if row.attempt > 1 {
        words = format!("{words}, attempt {}", row.attempt);
    }
    words
}

fn links(card: &mut Card, task: usize, node: &TaskNode, cx: &PaneContext<'_>) {
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
        card.text("needs", &needs.join(", "), Role::Text);
    }
    let unlocks: Vec<&str> =
        cx.state.tasks.dependents(task).map(|task| cx.state.tasks.id(task).as_str()).collect();
    if !unlocks.is_empty() {
        card.text("unlocks", &unlocks.join(", "), Role::Text);
    }
}

fn fields(card: &mut Card, node: &TaskNode) {
    if let Some(minutes) = node.duration_minutes {
        card.text("estimate", &units::planned(u64::from(minutes)), Role::Text);
    }
    if node.priority != 0 {
        card.text("priority", &node.priority.to_string(), Role::Text);
    }
    if let Some(seconds) = node.timeout_seconds {
        card.text("time limit", &format!("{seconds} s"), Role::Text);
    }
    let resources: Vec<String> =
        node.resources.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
    if !resources.is_empty() {
        card.text("resources", &resources.join(", "), Role::Text);
    }
}

fn outcome(card: &mut Card, row: &TaskRow, cx: &PaneContext<'_>) {
    if let Some(at) = row.started_at {
        card.text("started", &time_of_day(at, cx.time_zone), Role::Text);
    }
    if let Some(at) = row.finished_at {
        card.text("ended", &time_of_day(at, cx.time_zone), Role::Text);
    }
    if let Some(outcome) = &row.last_outcome {
        card.text("last call", &outcome_words(outcome), Role::Text);
    }
    if let Some(call) = &row.call {
        card.text("now", &call.last_line, Role::Untrusted);
    }
    if let Some(note) = &row.note {
        card.text("note", note, Role::Text);
    }
}

fn criterion_words(criterion: &ExitCriterion) -> String {
    match criterion {
        ExitCriterion::Text { text, .. } | ExitCriterion::Judged { text, .. } => text.clone(),
        ExitCriterion::FileExists { path, .. } => format!("{path} exists"),
        ExitCriterion::Command { command, .. } => format!("{command} succeeds"),
        ExitCriterion::JsonPath { path, equals, .. } => format!("{path} is {equals}"),
    }
}

struct Card {
    rows: Vec<Row>,
    width: usize,
}

impl Card {
    fn text(&mut self, label: &str, text: &str, role: Role) {
        let text = clean(text);
        let lines = wrap(&text, self.width.max(8), 0);
        self.push(label, lines.into_iter().map(std::borrow::Cow::into_owned), role);
    }

    /// Text that must be seen as it is.
    fn exact(&mut self, label: &str, text: &str) {
        let shown = reveal(text);
        let lines = wrap_exact(&shown, self.width.max(8));
        self.push(label, lines.into_iter().map(std::borrow::Cow::into_owned), Role::Text);
    }

    fn push(&mut self, label: &str, lines: impl Iterator<Item = String>, role: Role) {
        for (index, line) in lines.enumerate() {
            let label = if index == 0 { label } else { "" };
            self.rows.push((label.to_owned(), line, role));
        }
    }
}
