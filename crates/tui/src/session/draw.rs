//! Settles what is visible, then draws it.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::SessionScreen;
use crate::glyphs::sanitize_frame;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::approval::{self, ApprovalPane, CardSource, current_request};
use crate::panes::footer::Footer;
use crate::panes::graph;
use crate::panes::header::HeaderPane;
use crate::panes::plan::{self, PlanPane, PlanView, gantt};
use crate::panes::running::{RunningPane, active_tasks};
use crate::panes::scrub::ScrubPane;
use crate::panes::tabs::TabRow;
use crate::panes::trace::{self, TEXT_COLUMN, TracePane, TraceSource};
use crate::screen_areas::{PaneNeeds, ScreenPhase, SizeClass, graph_room, layout_screen};
use crate::theme::ThemeRole;
use crate::ui_state::{CardUi, PaneFocus};
use crate::widgets::{ScreenLine, draw_pane_divider};
use planwright_model::RequestKind;
use planwright_model::event::{Event, PlanEvent};
use planwright_state::RunPhase;
use planwright_state::replay::RecordSourceError;

impl SessionScreen {
    /// Draws the whole screen into a buffer. Costs what is visible.
    pub(crate) fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError> {
        if let Some(compare) = &mut self.compare {
            compare.render(buf);
            return Ok(());
        }
        self.size = buf.area;
        let class = SizeClass::from_area(buf.area);
        self.prepare_frame(class)?;
        if class == SizeClass::TooSmall {
            self.draw_too_small(buf);
        } else {
            self.draw_panes(class, buf);
        }
        self.palette.settle_selection(buf);
        sanitize_frame(buf, self.ascii);
        if self.has_card() && class != SizeClass::TooSmall {
            self.ui.card.shown_at.get_or_insert_with(self.clock);
        }
        Ok(())
    }

    fn has_card(&self) -> bool {
        self.ui.focus == PaneFocus::Approval
            && (current_request(self.state(), &self.ui).is_some()
                || approval::shown_failed_task(self.state(), &self.ui).is_some())
    }

    /// What the session is about at the moment that is shown: a plan that is not decided on yet, or a run.
    pub(super) fn screen_phase(&self) -> ScreenPhase {
        let state = self.state();
        let drafting = state.planning.begun && !state.planning.is_over();
        let asked = state.requests.open.values().any(|open| {
            matches!(open.request.kind, RequestKind::FinalPlan { .. } | RequestKind::Draft { .. })
        });
        if self.mode().is_past() {
            ScreenPhase::Replay
        } else if asked || drafting && state.run.phase == RunPhase::Idle {
            ScreenPhase::Planning
        } else {
            ScreenPhase::Running
        }
    }

    /// Lays the panes out and gathers what each of them shows.
    pub(super) fn prepare_frame(&mut self, class: SizeClass) -> Result<(), RecordSourceError> {
        self.update_current_card();
        self.update_view_kind();
        // A pane that took its rows with it cannot keep the focus.
        if self.ui.focus == PaneFocus::Running && active_tasks(self.state()).is_empty() {
            self.ui.focus = PaneFocus::Graph;
        }
        let revision = self.state().plan.current.clone();
        self.graph.update_layout(revision.as_deref());
        self.plan.update_rows(self.shown.as_deref().unwrap_or(&self.latest));
        let mut needs = PaneNeeds {
            focus: self.ui.focus,
            card: self.has_card() || self.ui.composer.is_some(),
            phase: self.screen_phase(),
            graph: 0,
            running: active_tasks(self.state()).len() as u16,
        };
        let asked = self.ui.graph.zoom.filter(|_| !needs.card || class == SizeClass::Wide);
        self.graph.choose_zoom(asked, graph_room(self.size, needs));
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        self.plan.update_order(state, &self.ui.view);
        needs.graph = match self.ui.view.kind {
            PlanView::Graph => self.graph.drawing_rows(),
            view => self.plan.preferred_height(view),
        };
        self.areas = layout_screen(self.size, needs);
        self.update_plan_view(class);
        self.update_graph_view(class);
        self.update_trace_view(class)?;
        if needs.phase == ScreenPhase::Replay {
            let hits = self.ui.trace.search.as_ref().map_or(&[][..], |search| search.hits());
            self.marks.update_marks(&mut self.history, &self.ui.bookmarks, hits)?;
        }
        self.load_previous_revision()?;
        self.update_card_view(class);
        Ok(())
    }

    /// A request that is gone gives way to the next one.
    fn update_current_card(&mut self) {
        let id = current_request(self.state(), &self.ui).map(|request| request.id);
        let failed = approval::shown_failed_task(self.state(), &self.ui);
        // What is in the panel stays there until it is settled or the person turns to another.
        let focused = self.ui.focus == PaneFocus::Approval;
        let failed = failed.filter(|_| id.is_none() && focused).cloned();
        if id != self.ui.card.request || failed != self.ui.card.failed {
            self.ui.card = CardUi { request: id, failed, ..CardUi::default() };
        }
    }

    fn update_graph_view(&mut self, class: SizeClass) {
        let body = graph::graph_body(self.areas.graph, class);
        let selected =
            self.ui.graph.selected.as_ref().and_then(|id| self.state().tasks.position(id));
        self.graph.highlight_related(selected.map(|task| task as u32));
        let reveal = selected.filter(|_| self.ui.graph.reveal).map(|task| task as u32);
        if !body.is_empty() {
            self.graph.update_viewport(body, &mut self.ui.graph.offset, reveal);
            self.ui.graph.reveal = false;
        }
    }

    fn update_plan_view(&mut self, class: SizeClass) {
        let view = self.ui.view.kind;
        let body = graph::graph_body(self.areas.graph, class);
        if view == PlanView::Graph || body.is_empty() {
            return;
        }
        if view == PlanView::Gantt {
            let now = self.shown_time();
            let state = self.shown.as_deref().unwrap_or(&self.latest);
            let columns = gantt::chart_columns(body);
            self.plan.update_axis(state, now, &self.time_zone, &self.ui.view, columns);
        }
        if self.ui.graph.selected.is_none() {
            self.ui.graph.selected = plan::offset_selection(&self.plan, None, 0);
        }
        let selected = self.ui.graph.selected.as_ref().filter(|_| self.ui.graph.reveal);
        self.plan.update_window(selected, view, body.height, &mut self.ui.view.top);
    }

    fn update_trace_view(&mut self, class: SizeClass) -> Result<(), RecordSourceError> {
        let body = trace::trace_body(self.areas.trace, class);
        let width = body.width.saturating_sub(TEXT_COLUMN + 1).max(8);
        let cursor = self.shown.as_ref().map(|state| state.seq);
        let mut source =
            TraceSource { history: &mut self.history, timeline: &self.timeline, cursor };
        self.trace.update_window(&mut source, &mut self.ui.trace, width, body.height)
    }

    /// Before there is a plan to draw, a draft is shown as its outline.
    fn update_view_kind(&mut self) {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let drafted = state.plan.current.is_none() && state.planning.outline.is_some();
        let view = &mut self.ui.view;
        match (drafted, view.kind) {
            (true, PlanView::Graph) => {
                view.kind = PlanView::Outline;
                view.is_fallback = true;
            }
            (false, PlanView::Outline) if view.is_fallback => {
                view.kind = PlanView::Graph;
                view.is_fallback = false;
            }
            _ => {}
        }
    }

    /// Reads the revision before the current one, once.
    fn load_previous_revision(&mut self) -> Result<(), RecordSourceError> {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let before = state.plan.revisions.iter().rev().nth(1);
        let Some((seq, revision)) = before.map(|head| (head.seq, head.revision)) else {
            self.previous = None;
            return Ok(());
        };
        if self.previous.as_ref().is_some_and(|(known, ..)| *known == seq) {
            return Ok(());
        }
        let record = self.history.record_at(seq)?;
        self.previous = record.and_then(|record| match &record.event {
            Event::Plan(PlanEvent::Proposed { plan, .. }) => {
                Some((seq, revision, Arc::clone(plan)))
            }
            _ => None,
        });
        Ok(())
    }

    fn update_card_view(&mut self, class: SizeClass) {
        if !self.has_card() {
            return;
        }
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let Some(request) = current_request(state, &self.ui) else {
            let Some(task) = approval::shown_failed_task(state, &self.ui) else { return };
            let rows = approval::failed_rows(state, task);
            let lines = ApprovalPane::failed_areas(self.areas.approval, class, &rows).lines;
            let text = approval::failed_lines(state, task, usize::from(lines.width).max(10));
            self.card.set_lines(text, usize::from(lines.height));
            self.ui.card.scroll = self.ui.card.scroll.min(self.card.max_scroll());
            return;
        };
        let parts = ApprovalPane::card_areas(self.areas.approval, class, request);
        let room = usize::from(parts.lines.height);
        let previous = self.previous.as_ref().map(|(_, revision, plan)| (*revision, &**plan));
        let terms = self.ui.card.terms;
        let shown = CardSource { state, previous, time_zone: &self.time_zone, terms };
        self.card.update_lines(request, shown, usize::from(parts.lines.width), room);
        let card = &mut self.ui.card;
        if std::mem::take(&mut card.reveal)
            && let Some(line) = self.card.confidence_line()
        {
            card.scroll = line;
        }
        card.scroll = card.scroll.min(self.card.max_scroll());
        card.seen |= room > 0 && self.card.lines_below(card.scroll) == 0;
    }

    fn pane_context(&self, class: SizeClass) -> PaneContext<'_> {
        PaneContext {
            state: self.state(),
            latest: &self.latest,
            timeline: &self.timeline,
            ui: &self.ui,
            theme: &self.palette,
            keymap: &self.keymap,
            now: self.shown_time(),
            time_zone: &self.time_zone,
            mode: self.mode(),
            class,
            areas: self.areas,
            can_act: self.can_act(),
            why_locked: self.why_cannot_act(),
            is_stored: self.actions.is_some(),
            note: self.note.as_deref(),
            session_budget: self.session_budget,
            graph: &self.graph,
            plan: &self.plan,
            trace: &self.trace,
            card: &self.card,
            marks: &self.marks,
        }
    }

    fn draw_panes(&self, class: SizeClass, buf: &mut Buffer) {
        let cx = self.pane_context(class);
        let areas = self.areas;
        HeaderPane.render(areas.header, buf, &cx);
        TabRow.render(areas.tabs, buf, &cx);
        PlanPane.render(areas.graph, buf, &cx);
        TracePane.render(areas.trace, buf, &cx);
        RunningPane.render(areas.running, buf, &cx);
        ApprovalPane.render(areas.approval, buf, &cx);
        if class == SizeClass::Wide {
            let style =
                if cx.mode.is_past() { cx.theme.replay_style() } else { cx.style(ThemeRole::Rule) };
            draw_pane_divider(buf, areas.graph.right(), areas.graph, style);
        }
        ScrubPane.render(areas.scrub, buf, &cx);
        Footer.render(areas.footer, buf, &cx);
        if let Some(overlay) = &self.ui.overlay {
            overlay.render(buf.area, buf, &cx);
        }
    }

    /// Says what is missing, and what is asked, in as few cells as there are.
    fn draw_too_small(&self, buf: &mut Buffer) {
        let cx = self.pane_context(SizeClass::TooSmall);
        let area = buf.area;
        let mut text = format!("Planwright needs 60x16, this is {}x{}.", area.width, area.height);
        if !self.is_saved() && self.latest.run.phase == RunPhase::Running {
            text.push_str(" The run goes on.");
        }
        let mut lines = vec![(text, ThemeRole::Text)];
        if let Some(open) = self.state().requests.oldest_open() {
            lines.push((format!("? {}", open.request.question), ThemeRole::Asks));
        }
        let mut y = area.y;
        for (text, role) in lines {
            let clean = planwright_text::clean_line(&text);
            for part in planwright_text::wrap_words(&clean, usize::from(area.width.max(1)), 0) {
                if y < area.bottom() {
                    let row = Rect { y, height: 1, ..area };
                    ScreenLine::new(buf, row).put(&part, cx.style(role));
                    y += 1;
                }
            }
        }
    }
}
