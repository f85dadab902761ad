//! Moving: inside the pane with the focus, from pane to pane, into what is selected and back.

use super::{ScreenEffect, SessionScreen};
use crate::keymap::KeyAction;
use crate::panes::approval;
use crate::panes::files::FilesPane;
use crate::panes::finished;
use crate::panes::graph::{self, GraphDirection};
use crate::panes::plan::PlanView;
use crate::panes::running;
use crate::screen_areas::SizeClass;
use crate::ui_state::PaneFocus;
use planwright_state::replay::RecordSourceError;

/// One end of what a pane lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaneEnd {
    First,
    Last,
}

impl SessionScreen {
    /// Moves what has the focus by one.
    pub(super) fn step_focused(&mut self, action: KeyAction) -> ScreenEffect {
        match (self.ui.focus, action) {
            (PaneFocus::Graph, _) if self.ui.view.kind != PlanView::Graph => {
                self.step_in_list(action);
            }
            (PaneFocus::Graph, _) => {
                let step = match action {
                    KeyAction::Left => GraphDirection::Left,
                    KeyAction::Right => GraphDirection::Right,
                    KeyAction::Up => GraphDirection::Up,
                    _ => GraphDirection::Down,
                };
                let found = graph::neighbor_task(
                    &self.graph,
                    self.state(),
                    self.ui.graph.selected.as_ref(),
                    step,
                );
                // Any move ends following, even one against the edge.
                self.ui.graph.following = false;
                if let Some(task) = found {
                    self.ui.select_task(task);
                }
            }
            (PaneFocus::Trace, KeyAction::Up) => self.move_in_trace(-1),
            (PaneFocus::Trace, KeyAction::Down) => self.move_in_trace(1),
            (PaneFocus::Running, KeyAction::Up) => self.move_in_running(-1),
            (PaneFocus::Running, KeyAction::Down) => self.move_in_running(1),
            (PaneFocus::Approval, KeyAction::Up | KeyAction::Down) if self.has_choices() => {
                self.move_choice(action == KeyAction::Down);
            }
            (PaneFocus::Approval, KeyAction::Left | KeyAction::Right) => {
                if !self.step_amount(action == KeyAction::Right) {
                    return ScreenEffect::Idle;
                }
            }
            (PaneFocus::Files, KeyAction::Up) => self.move_in_files(-1),
            (PaneFocus::Files, KeyAction::Down) => self.move_in_files(1),
            (PaneFocus::Output, KeyAction::Up) => self.move_in_output(-1),
            (PaneFocus::Output, KeyAction::Down) => self.move_in_output(1),
            (PaneFocus::Output, KeyAction::Left | KeyAction::Right) => {
                return self.move_aside_in_output(action == KeyAction::Right);
            }
            (PaneFocus::Approval, KeyAction::Up) => self.scroll_card(-1),
            (PaneFocus::Approval, KeyAction::Down) => self.scroll_card(1),
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    pub(super) fn page_focused(&mut self, direction: isize) -> ScreenEffect {
        match self.ui.focus {
            PaneFocus::Trace => {
                let rows = self.areas.trace.height.saturating_sub(2).max(1);
                self.move_in_trace(direction * isize::try_from(rows).unwrap_or(1));
            }
            PaneFocus::Output => {
                let rows = self.areas.output.height.saturating_sub(2).max(1);
                self.move_in_output(direction * isize::try_from(rows).unwrap_or(1));
            }
            // A plan that was not seen whole is what there is to read, whichever pane has the focus.
            PaneFocus::Approval if self.has_unseen_commands() => self.page_outline(direction),
            PaneFocus::Approval => {
                let rows = self.card.room.saturating_sub(1).max(1);
                self.scroll_card(direction * isize::try_from(rows).unwrap_or(1));
            }
            PaneFocus::Graph if self.ui.view.kind == PlanView::Outline => {
                self.page_outline(direction);
            }
            PaneFocus::Graph if self.ui.view.kind != PlanView::Graph => {
                let rows = isize::try_from(self.areas.graph.height / 2).unwrap_or(1).max(1);
                self.move_in_list(direction * rows);
            }
            PaneFocus::Files => {
                let rows = FilesPane::diff_rows(self.areas.files, &self.files).max(1);
                self.scroll_files(direction * isize::try_from(rows).unwrap_or(1));
            }
            PaneFocus::Graph | PaneFocus::Running | PaneFocus::Scrub => {
                let rows = i32::from(self.areas.graph.height) / 2;
                self.pan_view(0, rows * direction as i32);
            }
        }
        ScreenEffect::Draw
    }

    /// The first or last row of what has the focus.
    pub(super) fn jump_in_focused(&mut self, end: PaneEnd) -> ScreenEffect {
        let far = isize::try_from(u32::MAX).unwrap_or(isize::MAX / 2);
        let by = if end == PaneEnd::First { -far } else { far };
        match self.ui.focus {
            PaneFocus::Trace => self.move_in_trace(by),
            PaneFocus::Running => self.move_in_running(by),
            PaneFocus::Output => return self.jump_in_output(end == PaneEnd::Last),
            PaneFocus::Approval => self.scroll_card(by),
            PaneFocus::Files => self.move_in_files(by),
            PaneFocus::Graph | PaneFocus::Scrub => self.move_in_list(by),
        }
        ScreenEffect::Draw
    }

    /// Moves the cursor of the trace. Past the last step it follows again.
    pub(super) fn move_in_trace(&mut self, by: isize) {
        let ui = &mut self.ui.trace;
        let Some(seq) = self.trace.neighbor_step(&self.timeline, ui, by) else { return };
        ui.following = by > 0 && self.trace.is_last(&self.timeline, seq) && self.shown.is_none();
        if ui.top.is_none() && !ui.following {
            ui.top = self.trace.top_row();
        }
        ui.cursor = Some(seq);
    }

    fn move_in_running(&mut self, by: isize) {
        let last = running::active_tasks(self.state()).len().saturating_sub(1);
        self.ui.running = self.ui.running.saturating_add_signed(by).min(last);
    }

    pub(super) fn scroll_card(&mut self, by: isize) {
        self.ui.card.scroll =
            self.ui.card.scroll.saturating_add_signed(by).min(self.card.max_scroll());
    }

    /// Moves the view over the drawing.
    pub(super) fn pan_view(&mut self, x: i32, y: i32) {
        self.ui.graph.following = false;
        self.ui.graph.reveal = false;
        if self.ui.view.kind != PlanView::Graph {
            self.pan_list(x, y);
            return;
        }
        self.ui.graph.offset.0 += x;
        self.ui.graph.offset.1 += y;
    }

    pub(super) fn cycle_focus(&mut self, forward: bool) -> ScreenEffect {
        let all = [
            PaneFocus::Graph,
            PaneFocus::Trace,
            PaneFocus::Files,
            PaneFocus::Running,
            PaneFocus::Output,
            PaneFocus::Approval,
            PaneFocus::Scrub,
        ];
        // While a plan is drafted nothing has run that could have printed something.
        let tabs = SizeClass::from_area(self.size).has_tabs() && !self.is_planning();
        let past = self.mode().is_past();
        let asks = approval::card_count(self.state()) > 0;
        let shown = |focus: &PaneFocus| match focus {
            PaneFocus::Running => self.areas.running.height > 1,
            PaneFocus::Output => tabs || !self.areas.output.is_empty(),
            PaneFocus::Files | PaneFocus::Scrub => past,
            // In the past there is a card or nothing.
            PaneFocus::Approval => !past || asks,
            PaneFocus::Graph | PaneFocus::Trace => true,
        };
        let order: Vec<PaneFocus> = all.into_iter().filter(shown).collect();
        let at = order.iter().position(|focus| *focus == self.ui.focus).unwrap_or(0);
        let next = if forward { at + 1 } else { at + order.len() - 1 } % order.len();
        self.ui.focus = order[next];
        self.ui.running = 0;
        ScreenEffect::Draw
    }

    pub(super) fn open_selected(&mut self) -> ScreenEffect {
        match self.ui.focus {
            PaneFocus::Trace => self.toggle_step_fold(),
            PaneFocus::Graph | PaneFocus::Scrub => self.open_task(),
            PaneFocus::Files => self.open_file(),
            PaneFocus::Running => {
                if let Some(task) = running::active_tasks(self.state()).get(self.ui.running) {
                    let id = self.state().tasks.id(*task).clone();
                    self.ui.select_task(id);
                }
                self.open_task()
            }
            PaneFocus::Output => self.open_failure_behind_output(),
            // Enter never answers; where words are asked for it opens the box for them.
            PaneFocus::Approval => {
                self.answer_selected_choice().unwrap_or_else(|| self.open_reply_box())
            }
        }
    }

    /// The task card, or what a group holds.
    fn open_task(&mut self) -> ScreenEffect {
        let Some(task) = self.ui.graph.selected.clone() else { return ScreenEffect::Idle };
        if self.state().tasks.position(&task).is_none() {
            return self.toggle_selected_fold();
        }
        self.open_task_card(task)
    }

    pub(super) fn toggle_step_fold(&mut self) -> ScreenEffect {
        if let Some(seq) = self.ui.trace.cursor
            && !self.ui.trace.unfolded.remove(&seq)
        {
            self.ui.trace.unfolded.insert(seq);
            // What is unfolded is to be read, not scrolled away by the next event.
            self.ui.trace.following = false;
            self.ui.trace.top = Some((seq, 0));
        }
        ScreenEffect::Draw
    }

    /// Shows or hides why the step under the cursor took its tool.
    pub(super) fn toggle_explanation(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        let Some(seq) = self.ui.trace.cursor else { return Ok(ScreenEffect::Idle) };
        if self.ui.trace.explained.remove(&seq) {
            return Ok(ScreenEffect::Draw);
        }
        let record = self.history.record_at(seq)?;
        if record
            .is_none_or(|record| planwright_state::trace::explain_tool_choice(&record).is_none())
        {
            return Ok(
                self.show_message("no tool was chosen in this step; actions of agents have a why")
            );
        }
        self.ui.trace.explained.insert(seq);
        // At the end the trace moves up for the words; elsewhere the step stays where it is.
        if !self.ui.trace.following {
            self.ui.trace.top = self.ui.trace.top.or_else(|| self.trace.top_row());
        }
        Ok(ScreenEffect::Draw)
    }

    pub(super) fn go_back(&mut self) -> ScreenEffect {
        if self.ui.full_screen {
            return self.toggle_full_screen();
        }
        if self.ui.focus == PaneFocus::Approval
            && finished::is_finished_shown(self.state(), &self.ui)
        {
            self.ui.finished_open = false;
        }
        if self.ui.focus == PaneFocus::Output {
            if self.ui.output.search.take().is_some() {
                self.ui.output.only_matches = false;
                return ScreenEffect::Draw;
            }
            return self.close_output();
        }
        if self.ui.trace.search.take().is_some() {
            return ScreenEffect::Draw;
        }
        let filtered = self.ui.trace.only.is_some() || self.ui.trace.role.is_some();
        if filtered && self.ui.focus == PaneFocus::Trace {
            self.ui.trace.only = None;
            self.ui.trace.role = None;
        } else if self.plan.text.is_empty() && approval::card_count(self.state()) > 0 {
            // Before there is a plan the question is all there is to look at.
            self.ui.focus = PaneFocus::Approval;
            let key = self.keymap.key_hint(KeyAction::Quit);
            return self.show_message(format!("{key} leaves; the question stays open"));
        } else {
            self.ui.focus = PaneFocus::Graph;
        }
        ScreenEffect::Draw
    }

    pub(super) fn resume_following(&mut self) -> ScreenEffect {
        if self.ui.focus == PaneFocus::Output {
            self.ui.output.following = true;
        } else if self.ui.focus == PaneFocus::Trace {
            self.ui.trace.following = true;
            self.ui.trace.top = None;
        } else {
            self.ui.graph.following = true;
            self.ui.graph.reveal = true;
            self.follow_running();
        }
        ScreenEffect::Draw
    }

    pub(super) fn toggle_task_filter(&mut self) -> ScreenEffect {
        let under = self.trace.task_at(self.ui.trace.cursor);
        let trace = &mut self.ui.trace;
        trace.only = match trace.only {
            Some(_) => None,
            None => under.or_else(|| self.ui.graph.selected.clone()),
        };
        trace.following = true;
        trace.top = None;
        ScreenEffect::Draw
    }
}
