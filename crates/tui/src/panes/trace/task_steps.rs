//! What the selected task did, below what is known of it: the end of its own activity, on screens that have the room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::draw::{line_role, text_role};
use super::window::{TraceCache, TraceSource, WindowRow};
use crate::clock::format_time_of_day;
use crate::glyphs::step_glyph;
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::ui_state::TraceUi;
use crate::widgets::ScreenLine;
use planwright_model::TaskId;
use planwright_state::replay::RecordSourceError;

/// Columns before the text of a step: air, time, glyph.
const LEAD: u16 = 3 + 10 + 2;

/// The steps of one task.
#[derive(Debug, Default)]
pub(crate) struct TaskSteps {
    cache: TraceCache,
    ui: TraceUi,
}

impl TaskSteps {
    /// Gathers the last steps of a task that fit an area.
    pub(crate) fn update(
        &mut self,
        task: &TaskId,
        source: &mut TraceSource<'_>,
        area: Rect,
    ) -> Result<(), RecordSourceError> {
        if self.ui.only.as_ref() != Some(task) {
            *self = Self {
                ui: TraceUi { only: Some(task.clone()), ..TraceUi::default() },
                ..Self::default()
            };
        }
        let width = area.width.saturating_sub(LEAD + 1).max(8);
        self.cache.update_window(source, &mut self.ui, width, area.height)
    }

    /// Forgets the task, where none is described.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Draws as many of the last rows as there is room for.
pub(crate) fn draw_task_steps(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = &cx.task_steps.cache.rows;
    let skipped = rows.len().saturating_sub(usize::from(area.height));
    for (row, y) in rows.iter().skip(skipped).zip(area.y..area.bottom()) {
        let WindowRow::Step { step, line: number, later } = row else { continue };
        let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
        let dim = cx.style(ThemeRole::Dim);
        let own = |role| if *later { dim } else { cx.style(role) };
        line.skip(3);
        if *number == 0 {
            let (glyph, role) = step_glyph(step.entry.kind);
            line.put_column(&format_time_of_day(step.entry.at, cx.time_zone), 10, dim);
            line.put(&format!("{glyph} "), own(role));
        } else {
            line.skip(usize::from(LEAD - 3));
        }
        if let Some((text, look)) = step.lines.get(*number) {
            let role = line_role(*look).unwrap_or_else(|| text_role(step.entry.kind));
            line.put(text, own(role));
        }
    }
}
