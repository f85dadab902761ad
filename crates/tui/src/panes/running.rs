//! One line for each running task: what it does and for how long. Takes no rows when nothing runs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::task_glyph;
use crate::pane_context::{Pane, PaneContext};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::{PaneFocus, UiState};
use crate::widgets::{ScreenLine, draw_pane_rule, styled_piece};
use planwright_model::RequestKind;
use planwright_state::{AgentProgress, SessionState, TaskCounts, TaskRow, TaskStatus};
use planwright_text::{clean_line, truncate_middle, units};

/// The running pane.
pub(crate) struct RunningPane;

/// The tasks that run or wait for the person to do them, in the plan's order.
pub(crate) fn active_tasks(state: &SessionState) -> Vec<usize> {
    let runs = |status| matches!(status, TaskStatus::Running | TaskStatus::Yours);
    let counts = state.tasks.status_counts();
    if counts.running + counts.yours == 0 {
        return Vec::new();
    }
    let mut tasks: Vec<usize> =
        (0..state.tasks.len()).filter(|task| runs(state.tasks.row(*task).status)).collect();
    // What the machine does first, what waits for the person after it.
    tasks.sort_by_key(|task| state.tasks.row(*task).status == TaskStatus::Yours);
    tasks
}

/// The task under the cursor of the pane.
pub(crate) fn selected_active_task(state: &SessionState, ui: &UiState) -> Option<usize> {
    active_tasks(state).get(ui.running).copied()
}

impl Pane for RunningPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let counts = cx.state.tasks.status_counts();
        if cx.class == SizeClass::Small {
            let text = format!("{} running, {}", counts.running, other_counts_text(counts));
            ScreenLine::new(buf, area).skip(1).put(&text, cx.style(ThemeRole::Running));
            return;
        }
        let (kind, style) = cx.rule_style(PaneFocus::Running);
        let past = if cx.mode.is_past() { " · as it was" } else { "" };
        let name = match cx.state.run.jobs {
            0 => format!("running {}{past}", counts.running),
            jobs => format!("running {} of {jobs}{past}", counts.running),
        };
        draw_pane_rule(
            buf,
            area,
            kind,
            style,
            &[styled_piece(name, style)],
            &[styled_piece(other_counts_text(counts), style)],
        );
        draw_rows(area, buf, cx);
    }
}

fn draw_rows(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let tasks = active_tasks(cx.state);
    let rows = usize::from(area.height.saturating_sub(1));
    let shown = if tasks.len() > rows { rows.saturating_sub(1) } else { tasks.len() };
    for (index, task) in tasks.iter().take(shown).enumerate() {
        let row = Rect { y: area.y + 1 + index as u16, height: 1, ..area };
        if cx.ui.focus == PaneFocus::Running && cx.ui.running == index {
            buf.set_style(row, cx.style(ThemeRole::Selection));
        }
        draw_row(*task, row, buf, cx);
    }
    if shown < tasks.len() && rows > 0 {
        let row = Rect { y: area.bottom() - 1, height: 1, ..area };
        let text = format!("and {} more", tasks.len() - shown);
        ScreenLine::new(buf, row).skip(3).put(&text, cx.style(ThemeRole::Dim));
    }
}

fn draw_row(task: usize, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let row = cx.state.tasks.row(task);
    let (glyph, role) = task_glyph(cx.state, task);
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, area);
    let time = row
        .elapsed_ms(cx.now)
        .map(|ms| units::format_clock(std::time::Duration::from_millis(ms)))
        .unwrap_or_default();
    let used = row.tokens.max(agent_progress(task, cx).map_or(0, |agent| agent.tokens));
    let tokens =
        if used > 0 { format!("{:>7} tok", units::format_tokens(used)) } else { String::new() };
    let attempt =
        if row.attempt > 1 { format!("attempt {}  ", row.attempt) } else { String::new() };
    let figures = format!("{attempt}{time:>10}  {tokens}");
    line.put_right(&[styled_piece(figures.trim_end().to_owned(), dim), styled_piece("  ", dim)]);
    let id = clean_line(cx.state.tasks.id(task).as_str());
    line.skip(1).put(&format!("{glyph} "), cx.style(role));
    line.put_column(&truncate_middle(&id, 12), 13, cx.style(role));
    let (text, role) = activity_text(task, row, cx);
    line.put(&text, cx.style(role));
    // What to press is said whole or not at all.
    let yours = row.status == TaskStatus::Yours && cx.can_act && !cx.mode.is_past();
    if yours && line.cells_left() > DONE_HINT.len() {
        line.put(DONE_HINT, cx.style(role));
    }
}

const DONE_HINT: &str = " · d marks it done";

/// What a task does right now: its last line of output, its command, or what the person has to do.
fn activity_text(task: usize, row: &TaskRow, cx: &PaneContext<'_>) -> (String, ThemeRole) {
    if row.status == TaskStatus::Yours {
        let title = cx.state.plan.current.as_ref().and_then(|plan| plan.plan.tasks.get(task));
        let title = title.map(|node| node.description.as_str()).unwrap_or_default();
        return (format!("yours: {title}"), ThemeRole::Yours);
    }
    let id = cx.state.tasks.id(task);
    let in_doubt = cx.state.requests.open.values().any(
        |open| matches!(&open.request.kind, RequestKind::InDoubt { call } if call.task == *id),
    );
    if in_doubt {
        return ("in doubt, waits for your answer".to_owned(), ThemeRole::Asks);
    }
    match &row.call {
        Some(call) if !call.last_line.is_empty() => {
            (call.last_line.trim_start().to_owned(), ThemeRole::Untrusted)
        }
        Some(call) => (call.summary.to_string(), ThemeRole::Untrusted),
        None => match agent_progress(task, cx) {
            Some(agent) if !agent.doing.is_empty() => (agent.doing.clone(), ThemeRole::Untrusted),
            _ => ("starting".to_owned(), ThemeRole::Dim),
        },
    }
}

/// How far the agent of a task is, if one does it.
fn agent_progress<'a>(task: usize, cx: &PaneContext<'a>) -> Option<&'a AgentProgress> {
    cx.state.agents.get(cx.state.tasks.id(task))
}

fn other_counts_text(counts: TaskCounts) -> String {
    let parts = [
        (counts.yours, "yours"),
        (counts.pending, "waiting"),
        (counts.done, "done"),
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    said.join(", ")
}
