//! What one task did in both runs, step by step beside each other; on a narrow screen one run at a time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::CompareScreen;
use crate::clock::format_time_of_day;
use crate::glyphs::step_glyph;
use crate::session_actions::CompareView;
use crate::theme::ThemeRole;
use crate::widgets::{
    RuleKind, ScreenLine, draw_pane_divider, draw_pane_rule, format_counted, styled_piece,
};
use planwright_model::{Seq, TaskId};
use planwright_state::replay::compare::TaskComparison;
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::trace::TraceEntry;

/// From here on both runs stand beside each other.
const WIDE: u16 = 100;
/// How many steps of a run are read; more would hold up the keys.
const MOST: usize = 5_000;

/// The steps of one run.
#[derive(Debug)]
struct TraceSide {
    entries: Vec<TraceEntry>,
    /// There were more than are read.
    cut: bool,
    /// The step in which it went another way.
    diverged_at: Option<Seq>,
}

/// One task in both runs.
#[derive(Debug)]
pub(super) struct TaskTraces {
    title: String,
    sides: [TraceSide; 2],
    /// The run that is shown where only one fits.
    shown: usize,
    top: usize,
}

impl TaskTraces {
    /// Reads the steps of a task, and starts a little before the runs went apart.
    pub(super) fn read(
        task: &TaskComparison,
        view: &mut CompareView,
    ) -> Result<Self, RecordSourceError> {
        let divergence = task.divergence.as_ref();
        let twin = task.task_in_b.as_ref().unwrap_or(&task.task);
        let a = TraceSide::read(&task.task, &mut view.a, divergence.and_then(|apart| apart.seq_a))?;
        let b = TraceSide::read(twin, &mut view.b, divergence.and_then(|apart| apart.seq_b))?;
        let shown = usize::from(a.entries.is_empty());
        let title = planwright_text::clean_line(&task.title).into_owned();
        let mut traces = Self { title, sides: [a, b], shown, top: 0 };
        traces.go_to_divergence();
        Ok(traces)
    }

    pub(super) fn scroll(&mut self, by: isize) {
        let longest = self.sides.iter().map(|side| side.entries.len()).max().unwrap_or(0);
        self.top = self.top.saturating_add_signed(by).min(longest.saturating_sub(1));
    }

    pub(super) fn switch_side(&mut self) {
        self.shown = 1 - self.shown;
    }

    /// Goes where the runs went apart.
    pub(super) fn go_to_divergence(&mut self) {
        let places = self.sides.iter().filter_map(|side| {
            side.entries
                .iter()
                .position(|entry| side.diverged_at.is_some_and(|seq| entry.seq >= seq))
        });
        self.top = places.min().unwrap_or(0).saturating_sub(3);
    }
}

impl TraceSide {
    fn read(
        task: &TaskId,
        history: &mut History,
        apart: Option<Seq>,
    ) -> Result<Self, RecordSourceError> {
        let timeline = history.build_timeline()?;
        let steps: Vec<Seq> =
            timeline.steps_of(Some(task), 0).map(|(_, step)| step.seq).take(MOST + 1).collect();
        let mut entries = Vec::new();
        for seq in steps.iter().take(MOST) {
            let record = history.record_at(*seq)?;
            entries.extend(record.and_then(|record| TraceEntry::from_record(&record)));
        }
        Ok(Self { entries, cut: steps.len() > MOST, diverged_at: apart })
    }
}

impl CompareScreen {
    pub(super) fn draw_traces(&self, area: Rect, buf: &mut Buffer) {
        let Some(traces) = &self.traces else { return };
        if area.width >= WIDE {
            let half = Rect { width: (area.width - 1) / 2, ..area };
            let rest = Rect { x: half.right() + 1, width: area.right() - half.right() - 1, ..area };
            self.draw_side(0, traces, half, buf);
            self.draw_side(1, traces, rest, buf);
            draw_pane_divider(buf, half.right(), area, self.style(ThemeRole::Rule));
        } else {
            self.draw_side(traces.shown, traces, area, buf);
        }
    }

    fn draw_side(&self, which: usize, traces: &TaskTraces, area: Rect, buf: &mut Buffer) {
        let side = &traces.sides[which];
        let focus = area.width < WIDE && buf.area.width < WIDE;
        let style = self.style(if focus { ThemeRole::Focus } else { ThemeRole::Rule });
        let letter = if which == 0 { "A" } else { "B" };
        let name = format!("{letter} · {}", traces.title);
        let more = if side.cut { ", the first of them" } else { "" };
        let facts = format!("{}{more}", format_counted(side.entries.len(), "step"));
        let kind = RuleKind { focus, past: false };
        draw_pane_rule(
            buf,
            area,
            kind,
            style,
            &[styled_piece(name, style)],
            &[styled_piece(facts, style)],
        );
        let mut body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        // Beside the divider a column stays free.
        if buf.area.width >= WIDE {
            body.x += u16::from(which == 1);
            body.width = body.width.saturating_sub(1);
        }
        if side.entries.is_empty() {
            let row = Rect { height: body.height.min(1), ..body };
            ScreenLine::new(buf, row)
                .skip(1)
                .put("The task did nothing in this run.", self.style(ThemeRole::Dim));
        }
        for (entry, y) in side.entries.iter().skip(traces.top).zip(body.y..body.bottom()) {
            let row = Rect { y, height: 1, ..body };
            let apart = side.diverged_at == Some(entry.seq);
            if apart {
                buf.set_style(row, self.style(ThemeRole::Selection));
            }
            let (glyph, role) = step_glyph(entry.kind);
            let mut line = ScreenLine::new(buf, row);
            line.put(if apart { "►" } else { " " }, self.style(ThemeRole::Focus));
            line.put(&format_time_of_day(entry.at, &self.time_zone), self.style(ThemeRole::Dim))
                .skip(1);
            line.put(&format!("{glyph} "), self.style(role));
            // What the text says itself is not said twice.
            let word = entry.kind.label();
            let word = if entry.text.starts_with(word) { "" } else { word };
            line.put_column(word, 13, self.style(role));
            line.put(&entry.text, self.style(ThemeRole::Untrusted));
        }
    }
}
