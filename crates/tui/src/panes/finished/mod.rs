//! The card at the end of a run: what failed and why, where the time went, and what can be done next. The same lines
//! stay in the shell after leaving.

mod lines;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use lines::{FinishedSource, finished_heading, finished_lines};

use crate::clock::format_time_of_day;
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::panes::approval::AnswerRow;
use crate::panes::graph::title_of;
use crate::ui_state::{PaneFocus, UiState};
use crate::widgets::{draw_pane_rule, format_counted, styled_piece};
use planwright_state::{RunPhase, SessionState, TaskStatus};

/// Whether the card is what the panel shows: the run is over and the person has not closed it.
pub(crate) fn is_finished_shown(state: &SessionState, ui: &UiState) -> bool {
    ui.finished_open
        && ui.card.failed.is_none()
        && state.requests.open.is_empty()
        && matches!(state.run.phase, RunPhase::Finished { .. })
}

/// What can be done at the end of a run.
pub(crate) fn finished_rows(state: &SessionState) -> Vec<AnswerRow> {
    let row = |action, label: &str, consequence: &str| AnswerRow {
        action,
        choices: Vec::new(),
        label: label.to_owned(),
        consequence: consequence.to_owned(),
        unavailable: None,
        parts: Vec::new(),
    };
    let mut rows = Vec::new();
    let failed: Vec<usize> = match state.tasks.status_counts().failed {
        0 => Vec::new(),
        _ => (0..state.tasks.len())
            .filter(|task| state.tasks.row(*task).status == TaskStatus::Failed)
            .collect(),
    };
    match failed[..] {
        [] => {}
        [only] => {
            let words = format!("{}, then what was skipped", title_of(state, only));
            rows.push(row(KeyAction::RetryAllFailed, "retry what failed", &words));
        }
        _ => {
            let words = format!("{}, then what was skipped", format_counted(failed.len(), "task"));
            rows.push(row(KeyAction::RetryAllFailed, "retry what failed", &words));
        }
    }
    rows.push(row(KeyAction::Fork, "fork", "try again from any moment, reuses what is done"));
    rows.push(row(KeyAction::CompareWith, "compare", "with another run of this plan"));
    rows.push(row(KeyAction::ViewTimeline, "timeline", "what really ran when"));
    rows.push(row(KeyAction::Palette, "commands", "export and more"));
    rows
}

/// The rule above the card.
pub(crate) fn draw_finished_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    let time = |at| {
        let text = format_time_of_day(at, cx.time_zone);
        text.rsplit_once(':')
            .filter(|_| text.len() > 5)
            .map_or(text.clone(), |(at, _)| at.to_owned())
    };
    let facts = match (cx.state.run.started_at, cx.state.run.finished_at) {
        (Some(from), Some(to)) if time(from) == time(to) => time(from),
        (Some(from), Some(to)) => format!("{} – {}", time(from), time(to)),
        _ => String::new(),
    };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(finished_heading(cx.state), style)],
        &[styled_piece(facts, style)],
    );
}
