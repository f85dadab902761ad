//! What a fork would do again and what it would take over, task by task, before it is made.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OverlayOutcome, frame};
use crate::keymap::{KeyAction, KeyChord};
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::TaskId;
use planwright_state::replay::fork::ForkPlan;
use planwright_state::{SessionState, TaskStatus};
use planwright_text::{clean_line, display_width, units, wrap_words};

/// What no fork changes.
const NOTE: &str =
    "Files stay as they are now. Approvals are not taken over: the fork asks before it runs.";

/// Cells that a title has at least, whatever stands behind it.
const LEAST_TITLE: usize = 24;

/// One task and what becomes of it.
#[derive(Clone, Debug)]
struct ForkTaskRow {
    reused: bool,
    title: String,
    why: String,
}

/// The question whether to fork here.
#[derive(Clone, Debug)]
pub(crate) struct ForkCard {
    title: String,
    sentence: String,
    /// The run goes on beside the fork.
    run_continues: bool,
    rows: Vec<ForkTaskRow>,
    scroll: usize,
}

impl ForkCard {
    pub(crate) fn new(plan: &ForkPlan, state: &SessionState, goes_on: bool) -> Self {
        let mut sentence = plan.summary_sentence();
        if let Some(first) = sentence.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let title = |task: &TaskId| {
            let node = plan.revision.plan.tasks.iter().find(|node| node.id == *task);
            clean_line(node.map_or(task.as_str(), |node| &node.description)).into_owned()
        };
        let again = plan.reruns.iter().map(|task| ForkTaskRow {
            reused: false,
            title: title(task),
            why: match plan.stale.get(task) {
                Some(path) => format!("{path} has changed since"),
                None => rerun_reason(task, state, !plan.stale.is_empty()),
            },
        });
        let kept = plan.reuses.iter().map(|task| {
            let row = state.tasks.get(task);
            let time = row.and_then(|row| row.elapsed_ms(state.at.unwrap_or_default()));
            let time = time.map(|ms| units::format_elapsed(std::time::Duration::from_millis(ms)));
            let word = row.map_or("done", |row| row.status.label());
            let why = time.map_or_else(|| word.to_owned(), |time| format!("{word}, {time}"));
            ForkTaskRow { reused: true, title: title(task), why }
        });
        Self {
            title: format!("fork at event {}", units::format_count(plan.at.0)),
            sentence,
            run_continues: goes_on,
            rows: again.chain(kept).collect(),
            scroll: 0,
        }
    }

    pub(super) fn on_key(&mut self, key: KeyChord, action: Option<KeyAction>) -> OverlayOutcome {
        match (key.code, action) {
            (KeyCode::Char('a'), _) => return OverlayOutcome::Fork,
            (_, Some(KeyAction::Down)) => self.scroll += 1,
            (_, Some(KeyAction::Up)) => self.scroll = self.scroll.saturating_sub(1),
            (_, Some(KeyAction::PageDown)) => self.scroll += 10,
            (_, Some(KeyAction::PageUp)) => self.scroll = self.scroll.saturating_sub(10),
            // Enter alone makes nothing.
            (KeyCode::Enter, _) => {}
            _ => return OverlayOutcome::Close,
        }
        self.scroll = self.scroll.min(self.rows.len().saturating_sub(1));
        OverlayOutcome::Stay
    }

    /// Cells for the titles: what the reasons leave of a row, and no more than the longest title takes.
    fn title_cells(&self, width: usize) -> usize {
        let widest = |texts: fn(&ForkTaskRow) -> &str| {
            self.rows.iter().map(|row| display_width(texts(row))).max().unwrap_or(0)
        };
        let left = width.saturating_sub(14 + widest(|row| &row.why));
        (widest(|row| &row.title) + 1).min(left.max(LEAST_TITLE))
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let width = usize::from(screen.width.min(92)).saturating_sub(4);
        let notes = wrap_words(NOTE, width.max(20), 0);
        let notes_end = 1 + notes.len() as u16;
        let height = self.rows.len() as u16 + 6 + notes.len() as u16;
        let hint = "j k scroll  a fork  Esc stay";
        let inner = frame::draw_overlay_frame(screen, (92, height), &self.title, hint, buf, cx);
        let row = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        let (text, dim) = (cx.style(ThemeRole::Text), cx.style(ThemeRole::Dim));
        ScreenLine::new(buf, row(0)).skip(1).put(&format!("{}.", self.sentence), text);
        for (note, y) in notes.iter().zip(1..) {
            ScreenLine::new(buf, row(y)).skip(1).put(note, dim);
        }
        let room = inner.height.saturating_sub(3 + notes_end);
        let titles = self.title_cells(usize::from(inner.width));
        let most = self.rows.len().saturating_sub(usize::from(room));
        let top = self.scroll.min(most);
        for ((place, item), y) in
            self.rows.iter().enumerate().skip(top).zip(notes_end..notes_end + room)
        {
            let before = place.checked_sub(1).and_then(|before| self.rows.get(before));
            let begins = before.is_none_or(|before| before.reused != item.reused);
            let (word, glyph, role) = if item.reused {
                ("reuses", "✓ ", ThemeRole::Done)
            } else {
                ("reruns", "· ", ThemeRole::Waiting)
            };
            let mut line = ScreenLine::new(buf, row(y));
            let word = if begins || y == notes_end { word } else { "" };
            line.skip(1).put_column(word, 9, dim).put(glyph, cx.style(role));
            line.put_column(&item.title, titles, text).skip(1).put(&item.why, dim);
        }
        if most > top {
            let words = format!("{} more below", most - top);
            frame::draw_frame_note(inner, &words, buf, cx);
        }
        let after = if self.run_continues {
            "This run continues; the fork waits on the home screen."
        } else {
            "The fork opens and asks whether to run."
        };
        ScreenLine::new(buf, row(inner.height.saturating_sub(2))).skip(1).put(after, dim);
        ScreenLine::new(buf, row(inner.height.saturating_sub(1)))
            .skip(1)
            .put("Fork here?  ", text)
            .put("a", cx.style(ThemeRole::Key))
            .put(" fork  ", dim)
            .put("Esc", cx.style(ThemeRole::Key))
            .put(" stay", dim);
    }
}

/// Why a task runs in the fork.
fn rerun_reason(task: &TaskId, state: &SessionState, after_stale: bool) -> String {
    match state.tasks.get(task).map(|row| row.status) {
        None => "new in the plan".to_owned(),
        Some(TaskStatus::Pending) => "not started here".to_owned(),
        Some(TaskStatus::Done) if after_stale => "after a task that runs again".to_owned(),
        Some(TaskStatus::Done) => "changed in the plan".to_owned(),
        Some(status) => format!("{} here", status.label()),
    }
}
