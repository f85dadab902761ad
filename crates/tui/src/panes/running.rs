//! Now: one line for each running task, who does it, for how long, and its last line of output. Takes no rows when
//! nothing runs.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::task_glyph;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::graph::{task_worker, title_of};
use crate::panes::needs_you::waiting_text_within;
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::{PaneFocus, UiState};
use crate::widgets::{ScreenLine, draw_pane_rule, styled_piece};
use planwright_model::RequestKind;
use planwright_state::{AgentProgress, SessionState, TaskCounts, TaskRow, TaskStatus};
use planwright_text::dates::format_date;
use planwright_text::{clean_line, display_width, shorten_titles, units};

/// The most tasks that are listed.
pub(crate) const MOST_LISTED: usize = 6;
/// Columns of a title: the least and the most.
const TITLE: (usize, usize) = (14, 40);
/// Columns of who does it.
const WORKER: usize = 13;
/// Columns of a time.
const TIME: usize = 11;
/// From so many columns on a row has its time; below them the last line of output needs the room.
const TIMED: u16 = 70;
/// From so many columns on the time stands before the output.
const ROOMY: u16 = 100;

/// The pane of what runs now.
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
        let counts = cx.state.tasks.work_counts();
        if cx.class == SizeClass::Small {
            let text = format!("now {} · {}", counts.running, other_counts_text(counts));
            ScreenLine::new(buf, area).skip(1).put(&text, cx.style(ThemeRole::Running));
            return;
        }
        let (kind, style) = cx.rule_style(PaneFocus::Running);
        let past = if cx.mode.is_past() { " · as it was" } else { "" };
        let name = match cx.state.run.jobs {
            // Nothing runs in a person's plan, so that no slot is free either.
            _ if cx.state.tasks.is_persons_plan() => format!("next{past}"),
            // Agents that wait for an answer take no slot, so that more may be under way than run at once.
            jobs if jobs == 0 || counts.running > jobs => format!("now {}{past}", counts.running),
            jobs => format!("now {} of {jobs}{past}", counts.running),
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
    let shown = if cx.ui.full_screen { shown } else { shown.min(MOST_LISTED) };
    let titles: Vec<String> = tasks[..shown]
        .iter()
        .map(|task| clean_line(title_of(cx.state, *task)).into_owned())
        .collect();
    // Where everybody is the same person, titles get the cells that would say so.
    let most = if cx.state.tasks.is_persons_plan() {
        usize::from(area.width) / 2
    } else {
        (usize::from(area.width) / 3).clamp(TITLE.0, TITLE.1)
    };
    let widest = titles.iter().map(|title| display_width(title)).max().unwrap_or(0).min(most);
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let titles = shorten_titles(&titles, widest);
    for (index, (task, title)) in tasks.iter().zip(&titles).enumerate() {
        let row = Rect { y: area.y + 1 + index as u16, height: 1, ..area };
        if cx.ui.focus == PaneFocus::Running && cx.ui.running == index {
            buf.set_style(row, cx.style(ThemeRole::Selection));
        }
        draw_row(*task, title, widest, row, buf, cx);
    }
    if shown < tasks.len() && rows > shown {
        let row = Rect { y: area.y + 1 + shown as u16, height: 1, ..area };
        let text = format!("and {} more", tasks.len() - shown);
        ScreenLine::new(buf, row).skip(3).put(&text, cx.style(ThemeRole::Dim));
    }
}

fn draw_row(
    task: usize,
    title: &str,
    widest: usize,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let row = cx.state.tasks.row(task);
    let (glyph, role) = task_glyph(cx.state, task);
    let dim = cx.style(ThemeRole::Dim);
    let time = row_time(task, row, cx);
    let node = cx.state.plan.current.as_ref().and_then(|plan| plan.plan.tasks.get(task));
    let worker = node.map_or("", task_worker);
    // One column of air at the right edge, where nothing else stands there.
    let air = u16::from(area.width < TIMED).min(area.width);
    let mut line = ScreenLine::new(buf, Rect { width: area.width - air, ..area });
    if area.width >= ROOMY {
        line.put_right(&[styled_piece(row_figures(task, row, cx), dim), styled_piece(" ", dim)]);
    } else if area.width >= TIMED {
        line.put_right(&[styled_piece(time.clone(), dim), styled_piece(" ", dim)]);
    }
    line.skip(1).put(&format!("{glyph} "), cx.style(role));
    line.put_column(title, widest + 2, cx.style(ThemeRole::Text));
    if !cx.state.tasks.is_persons_plan() {
        line.put_column(worker, WORKER, dim);
    }
    if area.width >= ROOMY {
        line.put_column(&format!("{time:>TIME$}"), TIME + 3, dim);
    }
    let (text, role) = activity_text(task, row, line.cells_left(), cx);
    line.put(&text, cx.style(role));
}

/// For how long a task has been going on; of a person's plan, when it is planned.
fn row_time(task: usize, row: &TaskRow, cx: &PaneContext<'_>) -> String {
    if row.status == TaskStatus::Yours && cx.state.tasks.is_persons_plan() {
        let id = cx.state.tasks.id(task);
        let planned = cx.plan.text.iter().find(|text| text.id == *id).and_then(|text| text.start);
        let today = cx.now.to_zoned(cx.time_zone.clone()).date();
        return match planned {
            Some(start) if start.date() == today => start.strftime("%H:%M").to_string(),
            Some(start) => format_date(start.date(), today),
            None => String::new(),
        };
    }
    let time = row.elapsed_ms(cx.now).map(|ms| units::format_clock(Duration::from_millis(ms)));
    time.unwrap_or_default()
}

/// What a row has at its right: the tokens used, or which key opens a task of the person's.
fn row_figures(task: usize, row: &TaskRow, cx: &PaneContext<'_>) -> String {
    if row.status == TaskStatus::Yours && !cx.mode.is_past() {
        return format!("{} opens", cx.keymap.key_hint(crate::keymap::KeyAction::Open));
    }
    let used = row.tokens.max(agent_progress(task, cx).map_or(0, |agent| agent.tokens));
    if used > 0 { format!("{} tokens", units::format_tokens(used)) } else { String::new() }
}

/// What a task does right now: its last line of output, its command, or what waits for the person.
fn activity_text(
    task: usize,
    row: &TaskRow,
    room: usize,
    cx: &PaneContext<'_>,
) -> (String, ThemeRole) {
    if row.status == TaskStatus::Yours {
        return (waiting_text_within(cx.state, task, room), ThemeRole::Dim);
    }
    let id = cx.state.tasks.id(task);
    let in_doubt = cx.state.requests.open.values().any(
        |open| matches!(&open.request.kind, RequestKind::InDoubt { call } if call.task == *id),
    );
    if in_doubt {
        return ("in doubt, waits for your answer".to_owned(), ThemeRole::Asks);
    }
    if cx.state.requests.open.values().any(|open| open.request.task.as_ref() == Some(id)) {
        return ("waits for your answer".to_owned(), ThemeRole::Asks);
    }
    if let Some(words) = cx.state.describe_wait(task, cx.now, cx.time_zone) {
        return (words, ThemeRole::Waiting);
    }
    let (text, role) = match &row.call {
        Some(call) if !call.last_line.is_empty() => {
            let line = call.last_line.trim_start();
            // Of an agent one wants to know as well which of its actions prints this.
            let text = match agent_progress(task, cx) {
                Some(_) => format!("{}: {line}", call.summary),
                None => line.to_owned(),
            };
            (text, ThemeRole::Untrusted)
        }
        Some(call) => (call.summary.to_string(), ThemeRole::Untrusted),
        None => match agent_progress(task, cx) {
            Some(agent) if !agent.doing.is_empty() => (agent.doing.clone(), ThemeRole::Untrusted),
            _ => ("starting".to_owned(), ThemeRole::Dim),
        },
    };
    if row.attempt > 1 {
        return (format!("attempt {} · {text}", row.attempt), role);
    }
    (text, role)
}

/// How far the agent of a task is, if one does it.
fn agent_progress<'a>(task: usize, cx: &PaneContext<'a>) -> Option<&'a AgentProgress> {
    cx.state.agents.get(cx.state.tasks.id(task))
}

pub(crate) fn other_counts_text(counts: TaskCounts) -> String {
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
    said.join(" · ")
}
