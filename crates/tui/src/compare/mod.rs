//! Two runs side by side: their figures, how the plans differ, each task in both, and where they went apart.

mod draw;
mod table;
mod traces;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, MouseButton, MouseEventKind};
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::desk::{CompareView, Desk};
use super::event_loop::App;
use super::glyphs::sweep;
use super::keymap::{Action, Key, KeyError, Keymap, Place};
use super::session::{Flow, Message};
use super::theme::{ColorDepth, Palette};
use super::{ExitReason, Look, TuiError, UiSettings};
use planwright_state::replay::SourceError;
use planwright_state::replay::compare::{Comparison, TaskComparison};
use table::Row;
use traces::Traces;

/// The screen of a comparison.
pub(crate) struct Compare {
    view: CompareView,
    desk: Option<Arc<dyn Desk>>,
    /// The row under the cursor, among those that are shown.
    cursor: usize,
    /// What is the same is one row.
    folded: bool,
    /// The first row of the table on the screen.
    top: usize,
    /// Where the table was drawn.
    body: Rect,
    /// What one task did in both runs.
    traces: Option<Traces>,
    message: Option<String>,
    palette: Palette,
    color: ColorDepth,
    keymap: Keymap,
    ascii: bool,
    time_zone: TimeZone,
}

impl Compare {
    /// Opens on the first divergence.
    pub(crate) fn new(
        view: CompareView,
        desk: Option<Arc<dyn Desk>>,
        settings: &UiSettings,
    ) -> Result<Self, TuiError> {
        let mut screen = Self {
            view,
            desk,
            cursor: 0,
            folded: true,
            top: 0,
            body: Rect::default(),
            traces: None,
            message: None,
            palette: settings.theme.palette(settings.color),
            color: settings.color,
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            time_zone: settings.time_zone.clone(),
        };
        let first = screen.found().first_divergence.as_ref().and_then(|first| first.task.clone());
        let rows = screen.rows();
        let of_first = |row: &Row| match row {
            Row::Task(place) => Some(&screen.found().tasks[*place].task) == first.as_ref(),
            Row::Folded(_) => false,
        };
        screen.cursor = match rows.iter().position(of_first) {
            Some(row) => row,
            None => rows.iter().position(|row| screen.differs(*row)).unwrap_or(0),
        };
        Ok(screen)
    }

    fn found(&self) -> &Comparison {
        &self.view.comparison
    }

    fn rows(&self) -> Vec<Row> {
        table::rows(&self.found().tasks, self.folded)
    }

    /// The task under the cursor.
    fn current(&self) -> Option<&TaskComparison> {
        match self.rows().get(self.cursor)? {
            Row::Task(place) => self.found().tasks.get(*place),
            Row::Folded(_) => None,
        }
    }

    /// Whether the runs did something else in this row.
    fn differs(&self, row: Row) -> bool {
        match row {
            Row::Task(place) => {
                let task = &self.found().tasks[place];
                !task.reused && (task.divergence.is_some() || task.a.is_none() || task.b.is_none())
            }
            Row::Folded(_) => false,
        }
    }

    fn on_key(&mut self, event: &KeyEvent) -> Result<Flow, SourceError> {
        self.message = None;
        let key = Key::of(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') => return Ok(Flow::Exit(ExitReason::Signal("SIGINT"))),
                KeyCode::Char('z') => return Ok(Flow::Suspend),
                KeyCode::Char('l') => return Ok(Flow::Redraw),
                _ => {}
            }
        }
        let Some(action) = self.keymap.action(key, &[Place::Compare, Place::Screen]) else {
            return Ok(Flow::Draw);
        };
        if self.traces.is_some() {
            return Ok(self.on_trace_action(action));
        }
        self.perform(action)
    }

    fn on_trace_action(&mut self, action: Action) -> Flow {
        let Some(traces) = &mut self.traces else { return Flow::Idle };
        match action {
            Action::Down => traces.scroll(1),
            Action::Up => traces.scroll(-1),
            Action::PageDown => traces.scroll(10),
            Action::PageUp => traces.scroll(-10),
            Action::Start => traces.scroll(isize::MIN / 2),
            Action::Latest => traces.scroll(isize::MAX / 2),
            Action::FocusNext | Action::FocusPrevious | Action::Left | Action::Right => {
                traces.turn();
            }
            Action::NextDivergence | Action::PreviousDivergence => traces.go_to_divergence(),
            Action::Back | Action::Quit | Action::Open => self.traces = None,
            _ => return Flow::Idle,
        }
        Flow::Draw
    }

    fn perform(&mut self, action: Action) -> Result<Flow, SourceError> {
        let page = isize::try_from(self.body.height).unwrap_or(1).max(1);
        match action {
            Action::Down => self.move_by(1),
            Action::Up => self.move_by(-1),
            Action::PageDown => self.move_by(page),
            Action::PageUp => self.move_by(-page),
            Action::Start => self.move_by(isize::MIN / 2),
            Action::Latest => self.move_by(isize::MAX / 2),
            Action::NextDivergence => self.go_to_divergence(true),
            Action::PreviousDivergence => self.go_to_divergence(false),
            Action::FoldSame => self.turn_fold(),
            Action::SwapRuns => self.swap(),
            Action::ExportComparison => self.export(),
            Action::Open => return self.open(),
            Action::Back | Action::Quit => return Ok(Flow::Exit(ExitReason::BackToList)),
            _ => return Ok(Flow::Idle),
        }
        Ok(Flow::Draw)
    }

    fn move_by(&mut self, by: isize) {
        let last = self.rows().len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// The next row in which the runs differ, around the end as well.
    fn go_to_divergence(&mut self, forward: bool) {
        let rows = self.rows();
        let count = rows.len();
        let step = |by: usize| {
            if forward { (self.cursor + by) % count } else { (self.cursor + count - by) % count }
        };
        match (1..=count).map(step).find(|at| self.differs(rows[*at])) {
            Some(at) => self.cursor = at,
            None => self.message = Some("no task did anything else".to_owned()),
        }
    }

    /// Folds what is the same, or unfolds it; the cursor stays on its task.
    fn turn_fold(&mut self) {
        let kept = self.current().map(|task| task.task.clone());
        self.folded = !self.folded;
        let rows = self.rows();
        let same = |row: &Row| match row {
            Row::Task(place) => Some(&self.found().tasks[*place].task) == kept.as_ref(),
            Row::Folded(_) => kept.is_none(),
        };
        self.cursor = rows.iter().position(same).unwrap_or(0);
    }

    fn swap(&mut self) {
        self.view.comparison = self.view.comparison.swapped();
        std::mem::swap(&mut self.view.a, &mut self.view.b);
    }

    fn export(&mut self) {
        let kept = match &self.desk {
            Some(desk) => desk.keep(self.found()),
            None => Err("there is nowhere to write it to".to_owned()),
        };
        self.message = Some(kept.unwrap_or_else(|why| why));
    }

    /// Shows what the task under the cursor did in both runs.
    fn open(&mut self) -> Result<Flow, SourceError> {
        if let Some(task) = self.current().cloned() {
            self.traces = Some(Traces::read(&task, &mut self.view)?);
        } else {
            self.turn_fold();
        }
        Ok(Flow::Draw)
    }

    /// Draws the whole screen.
    pub(crate) fn render(&mut self, buf: &mut Buffer) {
        self.draw_all(buf);
        sweep(buf, self.ascii);
    }
}

impl App for Compare {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        let Message::Input(event) = message else { return Ok(Flow::Draw) };
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(&key),
            Event::Mouse(mouse) => {
                let by = match mouse.kind {
                    MouseEventKind::ScrollDown => 1,
                    MouseEventKind::ScrollUp => -1,
                    MouseEventKind::Down(MouseButton::Left) if self.traces.is_none() => {
                        let at = Position::new(mouse.column, mouse.row);
                        if !self.body.contains(at) {
                            return Ok(Flow::Idle);
                        }
                        let row = self.top + usize::from(at.y - self.body.y);
                        self.cursor = row.min(self.rows().len().saturating_sub(1));
                        return Ok(Flow::Draw);
                    }
                    _ => return Ok(Flow::Idle),
                };
                match &mut self.traces {
                    Some(traces) => traces.scroll(by),
                    None => self.move_by(by),
                }
                Ok(Flow::Draw)
            }
            Event::Resize(..) => Ok(Flow::Draw),
            _ => Ok(Flow::Idle),
        }
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError> {
        self.render(buf);
        Ok(())
    }

    fn wake(&mut self) -> Option<Duration> {
        None
    }

    fn notify(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }

    fn restyle(&mut self, look: &Look) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        Ok(())
    }
}
