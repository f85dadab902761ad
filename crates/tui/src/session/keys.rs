//! From input to what it does.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind};

use super::{Flow, Screen, places};
use crate::ExitReason;
use crate::context::Mode;
use crate::keymap::{Action, Key};
use crate::overlays::{Input, Outcome, Overlay, Purpose};
use crate::panes::graph::{self, Step};
use crate::panes::plan::View;
use crate::panes::running;
use crate::ui_state::Focus;
use planwright_state::TaskStatus;
use planwright_state::replay::SourceError;

impl Screen {
    pub(super) fn on_input(&mut self, event: Event) -> Result<Flow, SourceError> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(&key),
            Event::Mouse(mouse) => self.on_mouse(mouse),
            Event::Resize(..) => Ok(Flow::Draw),
            Event::Paste(text) => {
                if let Some(overlay) = &mut self.ui.overlay {
                    overlay.on_paste(&text);
                } else if let Some(composer) = &mut self.ui.composer {
                    composer.on_paste(&text);
                }
                Ok(Flow::Draw)
            }
            Event::FocusGained | Event::FocusLost => {
                self.window_has_focus = event == Event::FocusGained;
                Ok(Flow::Idle)
            }
            Event::Key(_) => Ok(Flow::Idle),
        }
    }

    fn on_key(&mut self, event: &KeyEvent) -> Result<Flow, SourceError> {
        let key = Key::of(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') => return Ok(self.quit(ExitReason::Signal("SIGINT"))),
                KeyCode::Char('z') => return Ok(Flow::Suspend),
                KeyCode::Char('l') => return Ok(Flow::Redraw),
                _ => {}
            }
        }
        self.ui.message = None;
        if self.ui.overlay.is_some() {
            return self.on_overlay_key(event);
        }
        if self.ui.composer.is_some() {
            return Ok(self.on_composer_key(event));
        }
        if self.pick_number(key) {
            return Ok(Flow::Draw);
        }
        let places = places(&self.ui, self.state(), self.mode());
        match self.keymap.action(key, &places) {
            Some(action) => self.perform(action),
            None => Ok(Flow::Draw),
        }
    }

    fn on_overlay_key(&mut self, event: &KeyEvent) -> Result<Flow, SourceError> {
        let Some(mut overlay) = self.ui.overlay.take() else { return Ok(Flow::Idle) };
        match overlay.on_key(event, &self.keymap) {
            Outcome::Stay => self.ui.overlay = Some(overlay),
            Outcome::Close => {}
            Outcome::Pass => return self.on_key(event),
            Outcome::Send { command, words } => return Ok(self.send(command, words)),
            Outcome::SendAndStay { command, words } => {
                self.ui.overlay = Some(overlay);
                return Ok(self.send(command, words));
            }
            Outcome::Picked { wish, node } => return Ok(self.picked(wish, node)),
            Outcome::Run(action) => return self.run_from_palette(action),
            Outcome::Leave => return Ok(Flow::Exit(ExitReason::QuitWhileRunning)),
            Outcome::Submit { purpose: Purpose::Note { task }, text } => {
                return Ok(self.complete(task, text));
            }
            Outcome::Submit { purpose: Purpose::Jobs, text } => return Ok(self.set_jobs(&text)),
            Outcome::Submit { purpose: Purpose::Search, text } => return Ok(self.search(&text)),
            Outcome::Submit { purpose: Purpose::Bookmark { at }, text } => {
                return Ok(self.set_bookmark(at, Some(text)));
            }
            Outcome::Submit { purpose: Purpose::Compare, text } => {
                return Ok(self.compare_with(&text));
            }
            Outcome::Fork => return Ok(self.fork()),
            Outcome::Submit { purpose: Purpose::GoTo, text } => {
                return if text.is_empty() { Ok(Flow::Draw) } else { self.go_to(&text) };
            }
        }
        Ok(Flow::Draw)
    }

    /// Leaves at once, or asks while this process carries work on.
    fn quit(&mut self, reason: ExitReason) -> Flow {
        let working = self.commands.is_some() && self.latest.run.is_active();
        if !working {
            return Flow::Exit(reason);
        }
        if matches!(self.ui.overlay, Some(Overlay::Quit)) {
            let signalled = matches!(reason, ExitReason::Signal(_));
            return Flow::Exit(if signalled { reason } else { ExitReason::QuitWhileRunning });
        }
        self.ui.overlay = Some(Overlay::Quit);
        Flow::Draw
    }

    pub(crate) fn perform(&mut self, action: Action) -> Result<Flow, SourceError> {
        Ok(match action {
            // Beside the plan, which moves to the left and right itself, these move along the bar.
            Action::Left | Action::Right
                if self.mode().is_past() && self.ui.focus != Focus::Graph =>
            {
                return self.step_cell(action == Action::Right);
            }
            Action::Left | Action::Down | Action::Up | Action::Right => self.step(action),
            Action::PageUp => self.page(-1),
            Action::PageDown => self.page(1),
            Action::FocusNext => self.turn_focus(true),
            Action::FocusPrevious => self.turn_focus(false),
            Action::Open => self.open_selected(),
            Action::Back => self.back(),
            Action::Follow => self.follow_again(),
            Action::ViewGraph => self.turn_view(View::Graph),
            Action::ViewOutline => self.turn_view(View::Outline),
            Action::ViewGantt => self.turn_view(View::Gantt),
            Action::ViewTable => self.turn_view(View::Table),
            Action::Zoom => self.zoom(),
            Action::Mark => self.mark(),
            Action::SortPrevious | Action::SortNext => {
                self.ui.view.sort = self.ui.view.sort.turned(action == Action::SortNext);
                self.ui.graph.reveal = true;
                Flow::Draw
            }
            Action::Palette => self.open_palette(),
            Action::GoalBox
            | Action::Today
            | Action::TodayDone
            | Action::TodaySkip
            | Action::TodayLater
            | Action::RemoveSession
            | Action::MarkSession
            | Action::Compare
            | Action::NextDivergence
            | Action::PreviousDivergence
            | Action::FoldSame
            | Action::SwapRuns
            | Action::ExportComparison => Flow::Idle,
            Action::Fork => self.open_fork(),
            Action::CompareWith => self.ask_compare(),
            Action::OnlyTask => self.only_task(),
            Action::Why => return self.explain(),
            Action::Jobs => self.open_jobs(),
            Action::OnlyKind => self.only_kind(),
            Action::OnlyRole => self.only_role(),
            Action::Terms => self.turn_terms(),
            Action::Search => self.open_search(),
            Action::NextHit => self.next_hit(true),
            Action::PreviousHit => self.next_hit(false),
            Action::Copy => return self.copy_step(),
            Action::Pager => return self.page_step(),
            Action::CardStart => {
                self.ui.card.scroll = 0;
                Flow::Draw
            }
            Action::CardEnd => {
                self.ui.card.scroll = self.card.most();
                Flow::Draw
            }
            Action::Help => {
                self.ui.overlay = Some(Overlay::Help { scroll: 0 });
                Flow::Draw
            }
            Action::Quit => self.quit(ExitReason::BackToList),
            Action::Yes
            | Action::YesWider
            | Action::Always
            | Action::Options
            | Action::Reply
            | Action::No
            | Action::Reject
            | Action::StopIt
            | Action::TakeOver
            | Action::Again
            | Action::PassOver
            | Action::Ideas => self.answer(action),
            Action::RequestChanges => self.request_changes(),
            Action::Comment => self.comment(),
            Action::Lock => self.lock(),
            Action::Edit => self.edit_node(),
            Action::AddNode => self.add_node(),
            Action::RemoveNode => self.remove_node(),
            Action::MoveUp => self.move_node(false),
            Action::MoveDown => self.move_node(true),
            Action::LinkNodes => self.link_nodes(),
            Action::Undo => return self.undo(false),
            Action::Redo => return self.undo(true),
            Action::Editor => self.edit_outside(),
            Action::Policy => self.open_policy(),
            Action::NextRequest | Action::NextFailed => self.turn_request(true),
            Action::PreviousRequest | Action::PreviousFailed => self.turn_request(false),
            Action::RetryFailed => self.retry_failed(false),
            Action::RetryFailedWithDependents => self.retry_failed(true),
            Action::SkipFailed => self.skip_failed(),
            Action::Done => self.say_done(),
            Action::Retry => self.retry(false),
            Action::RetryWithDependents => self.retry(true),
            Action::Skip => self.skip(),
            Action::StopTask => self.stop_task(),
            Action::Pause => self.pause_or_go_on(),
            Action::PreviousEvent => return self.step_event(-1),
            Action::NextEvent => return self.step_event(1),
            Action::PreviousLandmark => return self.step_landmark(false),
            Action::NextLandmark => return self.step_landmark(true),
            Action::Start => return self.seek(planwright_model::Seq(1)),
            Action::Latest | Action::Live => return self.latest(),
            Action::Play if self.mode().is_past() => return self.toggle_play(),
            Action::Slower | Action::Faster if self.mode().is_past() => {
                self.change_speed(action == Action::Faster)
            }
            Action::Play | Action::Slower | Action::Faster => {
                let key = self.keymap.key(Action::PreviousEvent);
                self.say(format!("this is live, {key} goes back in time"))
            }
            Action::SkipWaits => {
                self.ui.time.skip_waits = !self.ui.time.skip_waits;
                Flow::Draw
            }
            Action::Bookmark => self.turn_bookmark(),
            Action::GoTo => {
                self.ui.overlay = Some(Overlay::Input(Box::new(Input::new(Purpose::GoTo))));
                Flow::Draw
            }
        })
    }

    /// Moves what has the focus by one.
    fn step(&mut self, action: Action) -> Flow {
        match (self.ui.focus, action) {
            (Focus::Graph, _) if self.ui.view.kind != View::Graph => self.step_in_list(action),
            (Focus::Graph, _) => {
                let step = match action {
                    Action::Left => Step::Left,
                    Action::Right => Step::Right,
                    Action::Up => Step::Up,
                    _ => Step::Down,
                };
                let found =
                    graph::moved(&self.graph, self.state(), self.ui.graph.selected.as_ref(), step);
                // Any move ends following, even one against the edge.
                self.ui.graph.following = false;
                if let Some(task) = found {
                    self.ui.select(task);
                }
            }
            (Focus::Trace, Action::Up) => self.move_in_trace(-1),
            (Focus::Trace, Action::Down) => self.move_in_trace(1),
            (Focus::Running, Action::Up) => self.move_in_running(-1),
            (Focus::Running, Action::Down) => self.move_in_running(1),
            (Focus::Approval, Action::Up | Action::Down) if self.has_choices() => {
                self.move_choice(action == Action::Down);
            }
            (Focus::Approval, Action::Up) => self.scroll_card(-1),
            (Focus::Approval, Action::Down) => self.scroll_card(1),
            _ => return Flow::Idle,
        }
        Flow::Draw
    }

    fn page(&mut self, direction: isize) -> Flow {
        match self.ui.focus {
            Focus::Trace => {
                let rows = self.areas.trace.height.saturating_sub(2).max(1);
                self.move_in_trace(direction * isize::try_from(rows).unwrap_or(1));
            }
            Focus::Approval => {
                let rows = self.card.room.saturating_sub(1).max(1);
                self.scroll_card(direction * isize::try_from(rows).unwrap_or(1));
            }
            Focus::Graph if self.ui.view.kind != View::Graph => {
                let rows = isize::try_from(self.areas.graph.height / 2).unwrap_or(1).max(1);
                self.move_in_list(direction * rows);
            }
            Focus::Graph | Focus::Running => {
                let rows = i32::from(self.areas.graph.height) / 2;
                self.pan(0, rows * direction as i32);
            }
        }
        Flow::Draw
    }

    /// Moves the cursor of the trace. Past the last step it follows again.
    pub(super) fn move_in_trace(&mut self, by: isize) {
        let ui = &mut self.ui.trace;
        let Some(seq) = self.trace.neighbour(&self.timeline, ui, by) else { return };
        ui.following = by > 0 && self.trace.is_last(&self.timeline, seq) && self.shown.is_none();
        if ui.top.is_none() && !ui.following {
            ui.top = self.trace.top();
        }
        ui.cursor = Some(seq);
    }

    fn move_in_running(&mut self, by: isize) {
        let last = running::active(self.state()).len().saturating_sub(1);
        self.ui.running = self.ui.running.saturating_add_signed(by).min(last);
    }

    pub(super) fn scroll_card(&mut self, by: isize) {
        self.ui.card.scroll = self.ui.card.scroll.saturating_add_signed(by).min(self.card.most());
    }

    /// Moves the view over the drawing.
    pub(super) fn pan(&mut self, x: i32, y: i32) {
        self.ui.graph.following = false;
        self.ui.graph.reveal = false;
        if self.ui.view.kind != View::Graph {
            self.pan_list(x, y);
            return;
        }
        self.ui.graph.offset.0 += x;
        self.ui.graph.offset.1 += y;
    }

    fn turn_focus(&mut self, forward: bool) -> Flow {
        let all = [Focus::Graph, Focus::Trace, Focus::Running, Focus::Approval];
        let idle = self.areas.running.is_empty() || self.areas.running.height < 2;
        let order: Vec<Focus> =
            all.into_iter().filter(|focus| *focus != Focus::Running || !idle).collect();
        let at = order.iter().position(|focus| *focus == self.ui.focus).unwrap_or(0);
        let next = if forward { at + 1 } else { at + order.len() - 1 } % order.len();
        self.ui.focus = order[next];
        self.ui.running = 0;
        Flow::Draw
    }

    fn open_selected(&mut self) -> Flow {
        match self.ui.focus {
            Focus::Trace => self.unfold(),
            Focus::Graph => self.open_task(),
            Focus::Running => {
                if let Some(task) = running::active(self.state()).get(self.ui.running) {
                    let id = self.state().tasks.id(*task).clone();
                    self.ui.select(id);
                }
                self.open_task()
            }
            // Enter never answers; where words are asked for it opens the box for them.
            Focus::Approval => self.answer_choice().unwrap_or_else(|| self.type_answer()),
        }
    }

    /// The task card; on a task of the person's the question whether it is done.
    fn open_task(&mut self) -> Flow {
        let Some(task) = self.ui.graph.selected.clone() else { return Flow::Idle };
        if self.state().tasks.position(&task).is_none() {
            return self.fold_selected();
        }
        let status = self.state().tasks.get(&task).map(|row| row.status);
        if status == Some(TaskStatus::Yours) && self.cannot_act().is_none() {
            return self.say_done();
        }
        self.ui.overlay = Some(Overlay::Task { task, scroll: 0 });
        Flow::Draw
    }

    pub(super) fn unfold(&mut self) -> Flow {
        if let Some(seq) = self.ui.trace.cursor
            && !self.ui.trace.unfolded.remove(&seq)
        {
            self.ui.trace.unfolded.insert(seq);
            // What is unfolded is to be read, not scrolled away by the next event.
            self.ui.trace.following = false;
            self.ui.trace.top = self.ui.trace.top.or_else(|| self.trace.top());
        }
        Flow::Draw
    }

    /// Shows or hides why the step under the cursor took its tool.
    fn explain(&mut self) -> Result<Flow, SourceError> {
        let Some(seq) = self.ui.trace.cursor else { return Ok(Flow::Idle) };
        if self.ui.trace.explained.remove(&seq) {
            return Ok(Flow::Draw);
        }
        let record = self.history.record(seq)?;
        if record.is_none_or(|record| planwright_state::trace::why(&record).is_none()) {
            return Ok(self.say("no tool was chosen in this step; actions of agents have a why"));
        }
        self.ui.trace.explained.insert(seq);
        // At the end the trace moves up for the words; elsewhere the step stays where it is.
        if !self.ui.trace.following {
            self.ui.trace.top = self.ui.trace.top.or_else(|| self.trace.top());
        }
        Ok(Flow::Draw)
    }

    fn back(&mut self) -> Flow {
        if self.ui.trace.search.take().is_some() {
            return Flow::Draw;
        }
        let filtered = self.ui.trace.only.is_some() || self.ui.trace.role.is_some();
        if filtered && self.ui.focus == Focus::Trace {
            self.ui.trace.only = None;
            self.ui.trace.role = None;
        } else {
            self.ui.focus = Focus::Graph;
        }
        Flow::Draw
    }

    fn follow_again(&mut self) -> Flow {
        if self.ui.focus == Focus::Trace {
            self.ui.trace.following = true;
            self.ui.trace.top = None;
        } else {
            self.ui.graph.following = true;
            self.ui.graph.reveal = true;
            self.follow();
        }
        Flow::Draw
    }

    fn only_task(&mut self) -> Flow {
        let under = self.trace.task_at(self.ui.trace.cursor);
        let trace = &mut self.ui.trace;
        trace.only = match trace.only {
            Some(_) => None,
            None => under.or_else(|| self.ui.graph.selected.clone()),
        };
        trace.following = true;
        trace.top = None;
        Flow::Draw
    }

    /// Whether answers make sense in this mode at all.
    pub(super) fn can_act(&self) -> bool {
        self.commands.is_some() && !matches!(self.mode(), Mode::Saved)
    }
}
