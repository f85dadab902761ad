//! Settles what is visible, then draws it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::SessionScreen;
use crate::composer::Composer;
use crate::glyphs::sanitize_frame;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::approval::{self, ApprovalPane, CardSource, current_request};
use crate::panes::files::FilesPane;
use crate::panes::finished::{self, FinishedSource};
use crate::panes::footer::Footer;
use crate::panes::graph::{self, FoldRequest, GraphPane, GraphRoom};
use crate::panes::header::{HeaderPane, SessionBadge};
use crate::panes::needs_you::NeedsYouPane;
use crate::panes::output::OutputPane;
use crate::panes::plan::{
    self, ComparedDraft, EditorPlace, PlanCache, PlanPane, PlanView, RowDetailLevel,
    SelectedTaskPane, gantt, is_sketch,
};
use crate::panes::running::{RunningPane, active_tasks};
use crate::panes::scrub::{ScrubPane, track_area};
use crate::panes::tabs::TabRow;
use crate::panes::trace::{self, TracePane, TraceSource};
use crate::plan_text::{draft_rows, plan_rows};
use crate::screen_areas::{PaneNeeds, ScreenPhase, SizeClass, graph_room, layout_screen};
use crate::theme::ThemeRole;
use crate::ui_state::{CardUi, PaneFocus, UiState};
use crate::widgets::{ScreenLine, draw_pane_divider};
use planwright_model::{Request, RequestKind, RunKind};
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
        if self.is_card_drawn() && class != SizeClass::TooSmall {
            self.ui.card.shown_at.get_or_insert_with(self.clock);
        }
        Ok(())
    }

    fn has_card(&self) -> bool {
        self.ui.focus == PaneFocus::Approval
            && (current_request(self.state(), &self.ui).is_some()
                || approval::shown_failed_task(self.state(), &self.ui).is_some()
                || finished::is_finished_shown(self.state(), &self.ui))
    }

    /// Whether the open card is on the screen: while planning it is, whichever pane has the focus.
    fn is_card_drawn(&self) -> bool {
        let asked = current_request(self.state(), &self.ui).is_some();
        self.has_card() || asked && self.is_planning()
    }

    /// Whether the plan of the moment that is shown is drafted, approved or revised.
    pub(super) fn is_planning(&self) -> bool {
        let state = self.state();
        let drafting = state.planning.begun && !state.planning.is_over();
        let asked = state.requests.open.values().any(|open| {
            matches!(open.request.kind, RequestKind::FinalPlan { .. } | RequestKind::Draft { .. })
        });
        asked || drafting && state.run.phase == RunPhase::Idle
    }

    /// What the session is about at the moment that is shown: a plan that is not decided on yet, or a run.
    pub(super) fn screen_phase(&self) -> ScreenPhase {
        match (self.mode().is_past(), self.is_planning()) {
            (true, _) => ScreenPhase::Replay,
            (false, true) => ScreenPhase::Planning,
            (false, false) => ScreenPhase::Running,
        }
    }

    /// Lays the panes out and gathers what each of them shows.
    pub(super) fn prepare_frame(&mut self, class: SizeClass) -> Result<(), RecordSourceError> {
        self.update_current_card();
        self.update_view_kind();
        self.update_needs()?;
        // A pane that took its rows with it cannot keep the focus.
        if self.ui.focus == PaneFocus::Running && active_tasks(self.state()).is_empty() {
            self.ui.focus = PaneFocus::Graph;
        }
        let revision = self.state().plan.current.clone();
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        self.plan.update_rows(state, &self.time_zone);
        let folds = fold_request(&self.plan, &self.ui);
        self.graph.update_layout(revision.as_deref(), folds);
        self.update_changes()?;
        self.follow_added_row();
        self.open_first_step();
        self.read_typed_text();
        let mut needs = self.pane_needs();
        let asked = self.ui.graph.zoom.filter(|_| !needs.card || class == SizeClass::Wide);
        let (columns, rows) = graph_room(self.size, needs);
        let title_lines = if self.size.width >= 140 { 3 } else { 2 };
        let room = GraphRoom { columns, rows, title_lines };
        let folds = fold_request(&self.plan, &self.ui);
        self.graph.choose_zoom(revision.as_deref(), asked, room, folds);
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        self.plan.update_order(state, &self.ui.view);
        needs.graph = match self.ui.view.kind {
            PlanView::Graph => self.graph.drawing_rows(),
            view => self.plan.preferred_height(view),
        };
        if needs.planning || needs.card {
            needs.card_rows = self.wanted_card_rows(needs);
        }
        if needs.planning {
            // On a small screen a question has no room beside what it is about.
            let hidden = class == SizeClass::Small && plan::is_sketch(self.state());
            needs.graph = if hidden || self.plan.rows.all.is_empty() { 0 } else { needs.graph };
        }
        self.areas = layout_screen(self.size, needs);
        self.update_plan_view(class);
        self.update_graph_view();
        self.update_trace_view()?;
        self.update_output_view(class)?;
        if needs.phase == ScreenPhase::Replay {
            let hits = self.ui.trace.search.as_ref().map_or(&[][..], |search| search.hits());
            self.marks.update_marks(&mut self.history, &self.ui.bookmarks, hits)?;
            self.lane.update(&self.timeline, track_area(self.areas.scrub).width.max(1));
        }
        self.update_files();
        self.update_next_task();
        self.update_card_view(class);
        Ok(())
    }

    fn pane_needs(&self) -> PaneNeeds {
        let planning = self.is_planning();
        PaneNeeds {
            focus: self.ui.focus,
            card: self.is_card_drawn() || self.ui.composer.is_some(),
            phase: self.screen_phase(),
            planning,
            sketch: is_sketch(self.state()),
            card_rows: 12,
            side_graph: planning
                && self.ui.view.kind != PlanView::Graph
                && self.state().plan.current.is_some(),
            graph: u16::from(planning),
            running: active_tasks(self.state()).len() as u16,
            files: self.wants_files(),
            needs_you: self.needs.items.len() as u16,
            output: self.ui.output.open,
            full_screen: self.ui.full_screen,
            describes_task: self.describes_task(),
        }
    }

    /// Whether the selected task writes no output: an agent or the person does it, and nobody asked for its output.
    fn describes_task(&self) -> bool {
        let state = self.state();
        let task = self.ui.graph.selected.as_ref().and_then(|id| state.tasks.position(id));
        let plan = state.plan.current.as_ref().map(|current| &current.plan);
        let node = task.and_then(|task| plan?.tasks.get(task));
        let silent = node.is_some_and(|node| !matches!(node.run, RunKind::Shell(_)));
        silent && !self.ui.output.open && self.ui.focus != PaneFocus::Output
    }

    /// Rows that the open card takes if all of it is to be seen.
    fn wanted_card_rows(&mut self, needs: PaneNeeds) -> u16 {
        let area = layout_screen(self.size, needs).approval;
        let asked = current_request(self.state(), &self.ui);
        let types_into_card = matches!(&self.ui.composer, Some(Composer::Form(_)))
            && asked.is_some_and(approval::is_choice_card);
        if let Some(composer) = self.ui.composer.as_ref().filter(|_| !types_into_card) {
            return composer.wanted_rows(area.width, self.ui.marks.len());
        }
        let Some(request) = current_request(self.state(), &self.ui).cloned() else {
            return self.wanted_end_rows(area.width);
        };
        let revised = self.plan.changes.as_ref().is_some_and(|changes| changes.total() > 0);
        let parts = ApprovalPane::card_areas(area, &request, usize::from(u16::MAX), revised);
        self.build_card_lines(&request, parts.lines);
        if approval::is_choice_card(&request) {
            return approval::choice_card_rows(area.width, &self.card, &request);
        }
        if approval::is_plan_card(&request.kind) {
            return approval::plan_card_rows(area.width, &self.card, &request);
        }
        let lines = self.card.lines.len();
        let answers: usize =
            approval::answer_rows(&request).iter().map(approval::AnswerRow::height).sum();
        (lines + answers + 2).min(usize::from(u16::MAX)) as u16
    }

    /// Rows that the card of a failure or of the end of a run takes.
    fn wanted_end_rows(&self, width: u16) -> u16 {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let width = usize::from(width.saturating_sub(2)).max(10);
        let (lines, rows) = if finished::is_finished_shown(state, &self.ui) {
            let lines = finished::finished_lines(self.finished_source(), width).len();
            (lines, finished::finished_rows(state))
        } else if let Some(task) = approval::shown_failed_task(state, &self.ui) {
            let tail = self.tails.get(task, state, &self.timeline).map(|tail| &**tail);
            let lines = approval::failed_lines(state, task, tail, &self.needs.skips, width).len();
            (lines, approval::failed_rows(state, task))
        } else {
            return 2;
        };
        let answers: usize = rows.iter().map(approval::AnswerRow::height).sum();
        (lines + answers + 2).min(usize::from(u16::MAX)) as u16
    }

    /// Compares the plan that is asked about with the draft before it.
    fn update_changes(&mut self) -> Result<(), RecordSourceError> {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let lever = approval::chosen_lever(state, &self.ui);
        self.plan.show_lever(lever, &self.time_zone);
        if lever.is_some() {
            return Ok(());
        }
        if let Some(draft) = state.planning.compared.clone().filter(|_| self.is_planning()) {
            let compared = ComparedDraft::Number(draft.number);
            if !self.plan.is_compared_with(&compared) {
                let rows = draft_rows(&draft, state, &self.time_zone);
                self.plan.compare_with(Some((compared, &rows)));
            }
            return Ok(());
        }
        let asked = current_request(state, &self.ui);
        let compares =
            asked.is_some_and(|request| matches!(request.kind, RequestKind::FinalPlan { .. }));
        let from_file = compares && !state.planning.begun;
        let before = state.plan.revisions.iter().rev().nth(1).filter(|_| from_file);
        let Some(seq) = before.map(|head| head.seq) else {
            self.plan.compare_with(None);
            return Ok(());
        };
        if self.previous.as_ref().is_none_or(|(known, _)| *known != seq) {
            let then = self.history.state_at(seq)?;
            self.previous = Some((seq, plan_rows(&then, &self.time_zone)));
        }
        let previous = self.previous.as_ref();
        let previous = previous.map(|(seq, rows)| (ComparedDraft::Proposed(*seq), rows.as_slice()));
        self.plan.compare_with(previous);
        Ok(())
    }

    /// Looks the next task up, where the header names it.
    fn update_next_task(&mut self) {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let badge = SessionBadge::from_state(state, self.mode(), self.note.is_some());
        if badge == SessionBadge::Active {
            self.next_task.update(state, (self.clock)(), &self.time_zone);
        }
    }

    /// A request that is gone gives way to the next one.
    fn update_current_card(&mut self) {
        let id = current_request(self.state(), &self.ui).map(|request| request.id);
        let failed = approval::shown_failed_task(self.state(), &self.ui);
        // What is in the panel stays there until it is settled or the person turns to another.
        let focused = self.ui.focus == PaneFocus::Approval;
        let failed = failed.filter(|_| id.is_none() && focused).cloned();
        if id != self.ui.card.request || failed != self.ui.card.failed {
            let choice = current_request(self.state(), &self.ui).and_then(approval::usual_answer);
            self.ui.card = CardUi { request: id, failed, choice, ..CardUi::default() };
        }
    }

    fn update_graph_view(&mut self) {
        let side = self.areas.side_graph;
        let pane = if side.is_empty() { self.areas.graph } else { side };
        let body = graph::graph_body(pane, &self.areas);
        let selected = self.ui.graph.selected.as_ref();
        let selected =
            selected.and_then(|id| self.graph.node_of(id, self.state().tasks.position(id)));
        self.graph.highlight_related(selected);
        let reveal = selected.filter(|_| self.ui.graph.reveal);
        if !body.is_empty() {
            let center = std::mem::take(&mut self.ui.graph.center);
            let found = reveal.filter(|_| center).zip(self.graph.drawing());
            if let Some(found) = found.and_then(|(node, drawing)| drawing.box_of(node)) {
                let (width, height) = (i32::from(body.width), i32::from(body.height));
                self.ui.graph.offset =
                    (found.x - (width - found.w) / 2, found.y - (height - found.h) / 2);
            }
            self.graph.update_viewport(body, &mut self.ui.graph.offset, reveal);
            self.ui.graph.reveal = false;
        }
    }

    fn update_plan_view(&mut self, class: SizeClass) {
        let view = self.ui.view.kind;
        let body = graph::graph_body(self.areas.graph, &self.areas);
        if view == PlanView::Graph || self.areas.graph.is_empty() {
            return;
        }
        if view == PlanView::Timeline {
            let now = self.shown_time();
            self.plan.update_bars(self.shown.as_deref().unwrap_or(&self.latest), now);
        }
        if view == PlanView::Gantt {
            let now = self.shown_time();
            let state = self.shown.as_deref().unwrap_or(&self.latest);
            let columns = gantt::chart_columns(body, &self.plan);
            self.plan.update_axis(state, now, &self.time_zone, &self.ui.view, columns);
        }
        if self.ui.graph.selected.is_none() {
            self.ui.graph.selected = plan::offset_selection(&self.plan, None, 0);
        }
        if view == PlanView::Outline {
            return self.update_outline_view(class);
        }
        let selected = self.ui.graph.selected.as_ref().filter(|_| self.ui.graph.reveal);
        self.plan.update_window(selected, view, body.height, &mut self.ui.view.top);
    }

    /// Lays the outline out and remembers which commands were on the screen.
    fn update_outline_view(&mut self, class: SizeClass) {
        let level = match (self.is_planning(), class) {
            (false, _) => RowDetailLevel::Rows,
            (true, SizeClass::Wide) => RowDetailLevel::All,
            (true, _) => RowDetailLevel::Selected,
        };
        let body = plan::outline::outline_body(self.areas.graph);
        let room = usize::from(body.height - plan::outline::heading_rows(body).min(body.height));
        let width = usize::from(body.width);
        let today = self.shown_time().to_zoned(self.time_zone.clone()).date();
        let selected = self.ui.graph.selected.as_ref();
        let editor = self.ui.row_editor.as_ref().and_then(|editor| {
            let row = self.plan.rows.position(editor.anchor()?)?;
            Some(if editor.keeps_row() { EditorPlace::After(row) } else { EditorPlace::At(row) })
        });
        self.plan.update_outline(width, level, selected, editor, today);
        // Rows that would stay empty say what makes each task done and what it waits for.
        let has_room = level == RowDetailLevel::Selected && 2 * self.plan.lines.len() <= room + 2;
        if has_room {
            self.plan.update_outline(width, RowDetailLevel::Compact, selected, editor, today);
            if self.plan.lines.len() > room {
                self.plan.update_outline(width, level, selected, editor, today);
            }
        }
        let reveal = selected.filter(|_| self.ui.graph.reveal);
        self.plan.update_outline_window(reveal, room, &mut self.ui.view.top);
        if self.is_card_drawn() {
            self.remember_seen_commands(width, room);
        }
        if self.areas.side_graph.is_empty() {
            self.ui.graph.reveal = false;
        }
    }

    fn update_trace_view(&mut self) -> Result<(), RecordSourceError> {
        let body = trace::trace_body(self.areas.trace, &self.areas);
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        let only = self.ui.trace.only.is_some();
        self.columns.update(state, body.width, self.size.width, only);
        let width = body.width.saturating_sub(self.columns.text_column() + 1).max(8);
        let cursor = self.shown.as_ref().map(|state| state.seq);
        let mut source = TraceSource {
            history: &mut self.history,
            timeline: &self.timeline,
            cursor,
            state,
            tails: &mut self.tails,
            skips: &self.needs.skips,
        };
        self.trace.update_window(&mut source, &mut self.ui.trace, width, body.height)?;
        let described = self.ui.graph.selected.as_ref().filter(|_| !self.areas.task.is_empty());
        let Some(task) = described.filter(|task| state.tasks.position(task).is_some()) else {
            self.task_steps.clear();
            return Ok(());
        };
        self.task_steps.update(task, &mut source, self.areas.task)
    }

    /// A command was seen once each of its lines was on the screen.
    fn remember_seen_commands(&mut self, width: usize, room: usize) {
        let card = &mut self.ui.card;
        if card.seen_lines.0 != width {
            card.seen_lines = (width, std::collections::BTreeSet::default());
        }
        for (id, part) in self.plan.command_lines_on_screen(width, room) {
            if card.seen_commands.contains(&id) {
                continue;
            }
            card.seen_lines.1.insert((id.clone(), part));
            let all = self.plan.command_line_count(width, &id);
            if (0..all).all(|part| card.seen_lines.1.contains(&(id.clone(), part))) {
                card.seen_commands.insert(id);
            }
        }
    }

    /// A plan that is decided on is shown as its outline, one that runs as its graph, until the person chooses a view.
    fn update_view_kind(&mut self) {
        // What a person does is read as a list; boxes and arrows are for what runs.
        let planning = self.is_planning() || self.state().tasks.is_persons_plan();
        let drawable = self.state().plan.current.is_some();
        let view = &mut self.ui.view;
        match (planning, view.kind) {
            (true, PlanView::Graph) if !view.chosen || !drawable => {
                view.kind = PlanView::Outline;
                view.is_fallback = true;
            }
            (false, PlanView::Outline) if view.is_fallback => {
                view.kind = PlanView::Graph;
                view.is_fallback = false;
                view.chosen = false;
            }
            _ => {}
        }
    }

    fn update_card_view(&mut self, class: SizeClass) {
        if !self.is_card_drawn() {
            return;
        }
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        if finished::is_finished_shown(state, &self.ui) {
            let rows = finished::finished_rows(state);
            let lines = ApprovalPane::failed_areas(self.areas.approval, class, &rows).lines;
            let text = finished::finished_lines(self.finished_source(), usize::from(lines.width));
            self.card.set_lines(text, usize::from(lines.height));
            self.ui.card.scroll = self.ui.card.scroll.min(self.card.max_scroll());
            return;
        }
        let Some(request) = current_request(state, &self.ui).cloned() else {
            let Some(task) = approval::shown_failed_task(state, &self.ui) else { return };
            let rows = approval::failed_rows(state, task);
            let lines = ApprovalPane::failed_areas(self.areas.approval, class, &rows).lines;
            let tail = self.tails.get(task, state, &self.timeline);
            let width = usize::from(lines.width).max(10);
            let size = (width, usize::from(lines.height));
            let tail = tail.map(|tail| &**tail);
            let skips = &self.needs.skips;
            let text = approval::fitting_failed_lines(state, task, tail, skips, size);
            self.card.set_lines(text, usize::from(lines.height));
            self.ui.card.scroll = self.ui.card.scroll.min(self.card.max_scroll());
            return;
        };
        let lines = self.card.lines.len();
        let revised = self.card.is_revised;
        let parts = ApprovalPane::card_areas(self.areas.approval, &request, lines, revised);
        let room = usize::from(parts.lines.height);
        self.build_card_lines(&request, parts.lines);
        let seen = approval::unseen_commands(&self.plan, &self.ui.card.seen_commands) == 0;
        let card = &mut self.ui.card;
        if std::mem::take(&mut card.reveal)
            && let Some(line) = self.card.confidence_line()
        {
            card.scroll = line;
        }
        card.scroll = card.scroll.min(self.card.max_scroll());
        if approval::is_plan_card(&request.kind) {
            card.seen = seen;
        } else {
            card.seen |= room > 0 && self.card.lines_below(card.scroll) == 0;
        }
    }

    fn build_card_lines(&mut self, request: &Request, lines: Rect) {
        let shown = CardSource {
            state: self.shown.as_deref().unwrap_or(&self.latest),
            rows: &self.plan.text,
            changes: self.plan.changes.as_ref(),
            keymap: &self.keymap,
            today: self.shown_time().to_zoned(self.time_zone.clone()).date(),
            terms: self.ui.card.terms,
            amount: self.ui.card.amount,
        };
        let (width, room) = (usize::from(lines.width), usize::from(lines.height));
        self.card.update_lines(request, shown, width, room);
    }

    /// What the card at the end of a run is made from.
    pub(super) fn finished_source(&self) -> FinishedSource<'_> {
        let state = self.shown.as_deref().unwrap_or(&self.latest);
        FinishedSource {
            state,
            timeline: &self.timeline,
            tails: &self.tails,
            skips: &self.needs.skips,
            budget: self.session_budget,
            edits: self.files.edit_sums(state.seq),
        }
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
            wall_clock: (self.clock)(),
            time_zone: &self.time_zone,
            mode: self.mode(),
            class,
            planning: self.is_planning(),
            beside: false,
            areas: self.areas,
            can_act: self.can_act(),
            why_locked: self.why_cannot_act(),
            is_stored: self.actions.is_some(),
            note: self.note.as_deref(),
            silent_for: self.silent_for(),
            run_home: self.run_home(),
            session_budget: self.session_budget,
            graph: &self.graph,
            plan: &self.plan,
            trace: &self.trace,
            task_steps: &self.task_steps,
            columns: &self.columns,
            card: &self.card,
            marks: &self.marks,
            lane: self.lane.lane(),
            files: &self.files,
            next_task: &self.next_task,
            needs: &self.needs,
            tails: &self.tails,
            output: &self.output,
        }
    }

    fn draw_panes(&self, class: SizeClass, buf: &mut Buffer) {
        let cx = self.pane_context(class);
        let areas = self.areas;
        HeaderPane.render(areas.header, buf, &cx);
        TabRow.render(areas.tabs, buf, &cx);
        PlanPane.render(areas.graph, buf, &cx);
        GraphPane.render(
            areas.side_graph,
            buf,
            &PaneContext { beside: true, ..self.pane_context(class) },
        );
        SelectedTaskPane.render(areas.task, buf, &cx);
        if cx.planning && areas.trace.height == 1 {
            plan::draw_activity_rule(areas.trace, buf, &cx);
        } else {
            TracePane.render(areas.trace, buf, &cx);
        }
        RunningPane.render(areas.running, buf, &cx);
        OutputPane.render(areas.output, buf, &cx);
        ApprovalPane.render(areas.approval, buf, &cx);
        NeedsYouPane.render(areas.needs_you, buf, &cx);
        FilesPane.render(areas.files, buf, &cx);
        let style =
            if cx.mode.is_past() { cx.theme.replay_style() } else { cx.style(ThemeRole::Rule) };
        if !areas.files.is_empty() && areas.files.x > 0 {
            let right = areas.files.right();
            let below = Some(areas.running).filter(|running| running.right() == right);
            let rows = areas.files.union(below.unwrap_or(areas.files));
            draw_pane_divider(buf, areas.files.x - 1, rows, style);
        } else if class == SizeClass::Wide {
            let left = areas.graph.union(areas.approval).union(areas.trace);
            let run = areas.graph.union(areas.running).union(areas.trace);
            let rows = if areas.side_graph.is_empty() { run } else { left };
            if !cx.planning || !areas.side_graph.is_empty() {
                draw_pane_divider(buf, areas.graph.right(), rows, style);
            }
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
            text.push_str(" The run continues.");
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

/// The groups of the plan and what the person folded.
pub(super) fn fold_request<'a>(plan: &'a PlanCache, ui: &'a UiState) -> FoldRequest<'a> {
    FoldRequest {
        groups: &plan.groups,
        folding: ui.graph.folding,
        folded: &ui.view.folded,
        opened: &ui.view.opened,
    }
}
