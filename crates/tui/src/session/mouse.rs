//! The mouse: a click focuses and selects, the wheel scrolls what is under it, the track drags. It never answers.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::{Flow, Screen};
use crate::areas::SizeClass;
use crate::panes::plan::{self, View};
use crate::panes::tabs::TabRow;
use crate::panes::trace::WindowRow;
use crate::panes::{approval, graph, scrub, trace};
use crate::ui_state::Focus;
use planwright_state::replay::SourceError;

/// Rows that one notch of the wheel scrolls.
const NOTCH: i32 = 3;

impl Screen {
    pub(super) fn on_mouse(&mut self, mouse: MouseEvent) -> Result<Flow, SourceError> {
        if self.ui.overlay.is_some() || self.ui.composer.is_some() {
            return Ok(Flow::Idle);
        }
        let at = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(at),
            MouseEventKind::Drag(MouseButton::Left) if self.ui.time.dragging => self.drag(at),
            MouseEventKind::Up(_) => {
                self.ui.time.dragging = false;
                Ok(Flow::Idle)
            }
            MouseEventKind::ScrollUp => Ok(self.wheel(at, 0, -NOTCH)),
            MouseEventKind::ScrollDown => Ok(self.wheel(at, 0, NOTCH)),
            MouseEventKind::ScrollLeft => Ok(self.wheel(at, -2 * NOTCH, 0)),
            MouseEventKind::ScrollRight => Ok(self.wheel(at, 2 * NOTCH, 0)),
            _ => Ok(Flow::Idle),
        }
    }

    fn click(&mut self, at: Position) -> Result<Flow, SourceError> {
        let areas = self.areas;
        if scrub::track_area(areas.scrub).contains(at) {
            self.ui.time.dragging = true;
            self.ui.time.playing = false;
            return self.drag(at);
        }
        if areas.tabs.contains(at) {
            let open = approval::cards(self.state());
            self.ui.focus = TabRow::at(at.x, self.ui.view.kind, self.trace.total, open)
                .unwrap_or(self.ui.focus);
            return Ok(Flow::Draw);
        }
        let panes = [
            (areas.graph, Focus::Graph),
            (areas.trace, Focus::Trace),
            (areas.running, Focus::Running),
            (areas.approval, Focus::Approval),
        ];
        let Some((_, focus)) = panes.into_iter().find(|(area, _)| area.contains(at)) else {
            return Ok(Flow::Idle);
        };
        self.ui.focus = focus;
        match focus {
            Focus::Graph => self.select_at(at),
            Focus::Trace => self.cursor_at(at),
            Focus::Running => {
                self.ui.running = usize::from(at.y.saturating_sub(areas.running.y + 1));
            }
            Focus::Approval => self.choice_at(at),
        }
        Ok(Flow::Draw)
    }

    fn drag(&mut self, at: Position) -> Result<Flow, SourceError> {
        let track = scrub::track_area(self.areas.scrub);
        let cell = at.x.clamp(track.x, track.right().saturating_sub(1).max(track.x)) - track.x;
        self.seek_cell(cell, track.width)
    }

    fn select_at(&mut self, at: Position) {
        let body: Rect = graph::body(self.areas.graph, SizeClass::of(self.size));
        if !body.contains(at) {
            return;
        }
        let view = self.ui.view.kind;
        if view != View::Graph {
            if let Some(id) = plan::row_at(&self.plan, view, body, at.y) {
                self.ui.select(id);
            }
            return;
        }
        let view = self.graph.view;
        let (x, y) = (view.x + i32::from(at.x - body.x), view.y + i32::from(at.y - body.y));
        let node = self.graph.drawing().and_then(|drawing| drawing.node_at(x, y));
        if let Some(task) =
            node.map(|node| node as usize).filter(|task| *task < self.state().tasks.len())
        {
            let id = self.state().tasks.id(task).clone();
            self.ui.select(id);
        }
    }

    fn cursor_at(&mut self, at: Position) {
        let body = trace::body(self.areas.trace, SizeClass::of(self.size));
        let row = usize::from(at.y.saturating_sub(body.y));
        if let Some(WindowRow::Step { step, .. }) =
            self.trace.rows.get(row).filter(|_| body.contains(at))
        {
            self.ui.trace.cursor = Some(step.entry.seq);
            self.ui.trace.following = false;
            self.ui.trace.top = self.ui.trace.top.or_else(|| self.trace.top());
        }
    }

    fn wheel(&mut self, at: Position, x: i32, y: i32) -> Flow {
        let areas = self.areas;
        if areas.graph.contains(at) {
            self.pan(x, y);
        } else if areas.trace.contains(at) {
            self.move_in_trace(y as isize);
        } else if areas.approval.contains(at) {
            self.scroll_card(y as isize);
        } else {
            return Flow::Idle;
        }
        Flow::Draw
    }
}
