//! The mouse: a click focuses, selects and presses keys that are drawn, the wheel scrolls what is under it, the track
//! drags. It never says yes.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::{ScreenEffect, SessionScreen};
use crate::panes::files::FilesPane;
use crate::panes::plan::{self, PlanView};
use crate::panes::tabs::{TabRow, TabTarget};
use crate::panes::trace::WindowRow;
use crate::panes::{approval, graph, scrub, trace};
use crate::ui_state::PaneFocus;
use planwright_state::replay::RecordSourceError;

/// Rows that one notch of the wheel scrolls.
const NOTCH: i32 = 3;

impl SessionScreen {
    pub(super) fn on_mouse(
        &mut self,
        mouse: MouseEvent,
    ) -> Result<ScreenEffect, RecordSourceError> {
        let at = Position::new(mouse.column, mouse.row);
        if self.ui.overlay.is_some() || self.ui.composer.is_some() {
            return self.on_overlay_mouse(mouse.kind, at);
        }
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.on_click(at),
            MouseEventKind::Drag(MouseButton::Left) if self.ui.time.dragging => self.on_drag(at),
            MouseEventKind::Up(_) => {
                self.ui.time.dragging = false;
                Ok(ScreenEffect::Idle)
            }
            MouseEventKind::ScrollUp => Ok(self.on_wheel(at, 0, -NOTCH)),
            MouseEventKind::ScrollDown => Ok(self.on_wheel(at, 0, NOTCH)),
            MouseEventKind::ScrollLeft => Ok(self.on_wheel(at, -2 * NOTCH, 0)),
            MouseEventKind::ScrollRight => Ok(self.on_wheel(at, 2 * NOTCH, 0)),
            _ => Ok(ScreenEffect::Idle),
        }
    }

    fn on_click(&mut self, at: Position) -> Result<ScreenEffect, RecordSourceError> {
        let areas = self.areas;
        if let Some(flow) = self.press_key_at(at)? {
            return Ok(flow);
        }
        if scrub::track_area(areas.scrub).contains(at) {
            self.ui.time.dragging = true;
            self.ui.time.playing = false;
            self.ui.focus = PaneFocus::Scrub;
            return self.on_drag(at);
        }
        if areas.tabs.contains(at) {
            let open = approval::card_count(self.state());
            let past = self.mode().is_past();
            match TabRow::tab_at(at.x, self.ui.view.kind, self.trace.total, open, past) {
                Some(TabTarget::View(view)) => return Ok(self.switch_view(view)),
                Some(TabTarget::Pane(focus)) => self.ui.focus = focus,
                None => {}
            }
            return Ok(ScreenEffect::Draw);
        }
        let panes = [
            (areas.graph, PaneFocus::Graph),
            (areas.trace, PaneFocus::Trace),
            (areas.running, PaneFocus::Running),
            (areas.approval, PaneFocus::Approval),
            (areas.files, PaneFocus::Files),
            (areas.scrub, PaneFocus::Scrub),
            (areas.output, PaneFocus::Output),
        ];
        let Some((_, focus)) = panes.into_iter().find(|(area, _)| area.contains(at)) else {
            return Ok(ScreenEffect::Idle);
        };
        self.ui.focus = focus;
        match focus {
            PaneFocus::Graph => self.select_node_at(at),
            PaneFocus::Trace => self.select_step_at(at),
            PaneFocus::Running => {
                self.ui.running = usize::from(at.y.saturating_sub(areas.running.y + 1));
            }
            PaneFocus::Approval => self.select_choice_at(at),
            PaneFocus::Files => {
                if let Some(index) = FilesPane::file_at(areas.files, at.y, &self.files) {
                    self.select_file(index);
                }
            }
            PaneFocus::Scrub => {}
            PaneFocus::Output => self.ui.output.open = true,
        }
        Ok(ScreenEffect::Draw)
    }

    fn on_drag(&mut self, at: Position) -> Result<ScreenEffect, RecordSourceError> {
        let track = scrub::track_area(self.areas.scrub);
        let cell = at.x.clamp(track.x, track.right().saturating_sub(1).max(track.x)) - track.x;
        self.seek_cell(cell, track.width)
    }

    fn select_node_at(&mut self, at: Position) {
        let body: Rect = match self.ui.view.kind {
            PlanView::Outline => plan::outline::outline_body(self.areas.graph),
            _ => graph::graph_body(self.areas.graph, &self.areas),
        };
        if !body.contains(at) {
            return;
        }
        let view = self.ui.view.kind;
        if view != PlanView::Graph {
            if let Some(id) = plan::row_id_at(&self.plan, view, body, at.y) {
                self.ui.select_task(id);
            }
            return;
        }
        let view = self.graph.view;
        let (x, y) = (view.x + i32::from(at.x - body.x), view.y + i32::from(at.y - body.y));
        let node = self.graph.drawing().and_then(|drawing| drawing.node_at(x, y));
        if let Some(id) = node.and_then(|node| self.graph.node_id(node)).cloned() {
            self.ui.select_task(id);
        }
    }

    fn select_step_at(&mut self, at: Position) {
        let body = trace::trace_body(self.areas.trace, &self.areas);
        let row = usize::from(at.y.saturating_sub(body.y));
        if let Some(WindowRow::Step { step, .. }) =
            self.trace.rows.get(row).filter(|_| body.contains(at))
        {
            self.ui.trace.cursor = Some(step.entry.seq);
            self.ui.trace.following = false;
            self.ui.trace.top = self.ui.trace.top.or_else(|| self.trace.top_row());
        }
    }

    fn on_wheel(&mut self, at: Position, x: i32, y: i32) -> ScreenEffect {
        let areas = self.areas;
        if areas.graph.contains(at) {
            self.pan_view(x, y);
        } else if areas.trace.contains(at) {
            self.move_in_trace(y as isize);
        } else if areas.output.contains(at) {
            self.move_in_output(y as isize);
        } else if areas.approval.contains(at) {
            self.scroll_card(y as isize);
        } else if areas.files.contains(at) {
            self.scroll_files(y as isize);
        } else {
            return ScreenEffect::Idle;
        }
        ScreenEffect::Draw
    }
}
