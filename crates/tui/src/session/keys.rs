//! From input to what it does.

use std::borrow::Cow;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind};

use super::moving::PaneEnd;
use super::{ScreenEffect, SessionScreen, active_key_places};
use crate::ExitReason;
use crate::action_situation::{ActionSituation, is_answer};
use crate::keymap::{KeyAction, KeyChord, KeyContext};
use crate::overlays::{HelpOverlay, InputDialog, InputPurpose, Overlay, OverlayOutcome};
use crate::pane_context::SessionViewMode;
use crate::panes::plan::PlanView;
use crate::ui_state::PaneFocus;
use planwright_state::replay::RecordSourceError;

impl SessionScreen {
    pub(super) fn on_input(&mut self, event: Event) -> Result<ScreenEffect, RecordSourceError> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(&key),
            Event::Mouse(mouse) => self.on_mouse(mouse),
            Event::Resize(..) => Ok(ScreenEffect::Draw),
            Event::Paste(text) => {
                if let Some(overlay) = &mut self.ui.overlay {
                    overlay.on_paste(&text);
                } else if let Some(composer) = &mut self.ui.composer {
                    composer.on_paste(&text);
                } else if let Some(editor) = &mut self.ui.row_editor {
                    editor.on_paste(&text);
                    self.read_open_editor();
                } else {
                    self.paste_into_search(&text);
                }
                Ok(ScreenEffect::Draw)
            }
            Event::FocusGained | Event::FocusLost => {
                self.window_has_focus = event == Event::FocusGained;
                Ok(ScreenEffect::Idle)
            }
            Event::Key(_) => Ok(ScreenEffect::Idle),
        }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent) -> Result<ScreenEffect, RecordSourceError> {
        let key = KeyChord::from_event(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') if self.ui.composer.is_some() => return Ok(self.keep_composed()),
                KeyCode::Char('c') => return Ok(self.request_quit(ExitReason::Signal("SIGINT"))),
                KeyCode::Char('z') => return Ok(ScreenEffect::Suspend),
                KeyCode::Char('l') => return Ok(ScreenEffect::Redraw),
                _ => {}
            }
        }
        self.ui.message = None;
        self.ui.message_until = None;
        if self.action_of_key(key) != Some(KeyAction::Undo) {
            self.ui.asked_undo = None;
        }
        if self.ui.overlay.is_some() {
            return self.on_overlay_key(event);
        }
        if self.ui.composer.is_some() {
            return Ok(self.on_composer_key(event));
        }
        if self.ui.row_editor.is_some() {
            return Ok(self.on_row_editor_key(event));
        }
        if self.ui.search_line.is_some() {
            return Ok(self.on_search_key(event));
        }
        match self.action_of_key(key) {
            Some(action) => match self.situation().why_unavailable(action) {
                Some(why) => Ok(self.refuse_key(key, &why)),
                None => self.perform_action(action),
            },
            None => Ok(self.refuse_unused_key(key)),
        }
    }

    /// Says why a key does nothing here.
    fn refuse_key(&mut self, key: KeyChord, why: &str) -> ScreenEffect {
        self.show_message(format!("{key}: {why}"))
    }

    fn refuse_unused_key(&mut self, key: KeyChord) -> ScreenEffect {
        let actions = self.keymap.actions_of(key);
        if let Some(why) = self.situation().why_refused(&actions) {
            self.refuse_key(key, &why)
        } else {
            let help = self.keymap.key_hint(KeyAction::Help);
            self.refuse_key(key, &format!("not used here; {help} lists the keys"))
        }
    }

    /// What decides whether an action can be done here.
    pub(super) fn situation(&self) -> ActionSituation<'_> {
        ActionSituation {
            state: self.state(),
            latest: &self.latest,
            ui: &self.ui,
            mode: self.mode(),
            keymap: &self.keymap,
            why_locked: self.why_cannot_act().map(Cow::Owned),
            is_stored: self.actions.is_some(),
            run_home: self.run_home(),
        }
    }

    /// What a key means here. An answer that the open request does not offer gives way to what the key means elsewhere
    /// on the screen: `e` edits the row beside a card that hands nothing over.
    pub(super) fn action_of_key(&self, key: KeyChord) -> Option<KeyAction> {
        let places = active_key_places(&self.ui, self.state(), self.mode());
        let action = self.keymap.action_for(key, &places)?;
        if !is_answer(action) || self.offers_answer(action) {
            return Some(action);
        }
        let others: Vec<KeyContext> =
            places.into_iter().filter(|place| *place != KeyContext::Card).collect();
        self.keymap.action_for(key, &others).or(Some(action))
    }

    fn on_overlay_key(&mut self, event: &KeyEvent) -> Result<ScreenEffect, RecordSourceError> {
        let Some(mut overlay) = self.ui.overlay.take() else { return Ok(ScreenEffect::Idle) };
        let action = self.keymap.action_for(KeyChord::from_event(event), &[KeyContext::Screen]);
        if action == Some(KeyAction::Help) && !overlay.takes_letters() {
            let help = HelpOverlay::over(Some(overlay));
            self.ui.overlay = Some(Overlay::Help(Box::new(help)));
            return Ok(ScreenEffect::Draw);
        }
        if let Overlay::Task(card) = overlay {
            return self.on_task_card_key(card, event);
        }
        match overlay.on_key(event, &self.keymap) {
            OverlayOutcome::Stay => self.ui.overlay = Some(overlay),
            OverlayOutcome::Close => {
                // What was open behind help is open again.
                if let Overlay::Help(help) = overlay {
                    self.ui.overlay = help.behind.map(|behind| *behind);
                }
            }
            OverlayOutcome::Send { command, words } => {
                let asked = matches!(&overlay, Overlay::Choose(dialog) if dialog.is_confirmation());
                return Ok(self.send_chosen(command, &words, asked));
            }
            OverlayOutcome::SendAndStay { command, words } => {
                self.ui.overlay = Some(overlay);
                return Ok(self.send_command(command, words));
            }
            OverlayOutcome::Picked { purpose, node } => {
                return Ok(self.act_on_picked_node(purpose, node));
            }
            OverlayOutcome::PickedLine(line) => return Ok(self.comment_line(line)),
            OverlayOutcome::Run(command) => return self.run_command(command),
            OverlayOutcome::Search(words) => return Ok(self.open_search_for(&words)),
            OverlayOutcome::EditConfig => {
                self.ui.overlay = Some(overlay);
                return Ok(self.edit_config_externally());
            }
            OverlayOutcome::Leave(choice) => return Ok(self.leave_run(choice)),
            OverlayOutcome::Submit { purpose: InputPurpose::Jobs, text } => {
                return Ok(self.set_jobs(&text));
            }
            OverlayOutcome::Submit { purpose: InputPurpose::Bookmark { at }, text } => {
                return Ok(self.set_bookmark(at, Some(text)));
            }
            OverlayOutcome::Compare(other) => return Ok(self.compare_with(&other)),
            OverlayOutcome::Fork => return Ok(self.create_fork()),
            OverlayOutcome::Submit { purpose: InputPurpose::GoTo, text } => {
                return if text.is_empty() {
                    Ok(ScreenEffect::Draw)
                } else {
                    self.seek_typed(&text)
                };
            }
        }
        Ok(ScreenEffect::Draw)
    }

    pub(crate) fn perform_action(
        &mut self,
        action: KeyAction,
    ) -> Result<ScreenEffect, RecordSourceError> {
        Ok(match action {
            KeyAction::Left | KeyAction::Right
                if self.mode().is_past() && self.ui.focus == PaneFocus::Scrub =>
            {
                return self.step_cell(action == KeyAction::Right);
            }
            KeyAction::Left | KeyAction::Down | KeyAction::Up | KeyAction::Right => {
                self.step_focused(action)
            }
            KeyAction::PageUp => self.page_focused(-1),
            KeyAction::PageDown => self.page_focused(1),
            KeyAction::FocusNext => self.cycle_focus(true),
            KeyAction::FocusPrevious => self.cycle_focus(false),
            KeyAction::Open => self.open_selected(),
            KeyAction::Back => self.go_back(),
            KeyAction::Follow => self.resume_following(),
            KeyAction::ViewGraph => self.switch_view(PlanView::Graph),
            KeyAction::ViewOutline => self.switch_view(PlanView::Outline),
            KeyAction::ViewGantt => self.switch_view(PlanView::Gantt),
            KeyAction::ViewTable => self.switch_view(PlanView::Table),
            KeyAction::ViewTimeline => self.switch_view(PlanView::Timeline),
            KeyAction::Output => self.open_output(),
            KeyAction::FullScreen => self.toggle_full_screen(),
            KeyAction::AllOutput => self.toggle_all_output(),
            KeyAction::CopyOutput => return self.copy_output(),
            KeyAction::OnlyMatches => self.toggle_only_matches(),
            KeyAction::WrapOutput => self.toggle_output_wrapping(),
            KeyAction::FirstError => return self.next_output_error(None, true),
            KeyAction::PageOutput => return self.page_output(),
            KeyAction::RetryAllFailed => self.retry_all_failed(),
            KeyAction::CopyFailed => self.copy_failed(),
            KeyAction::Zoom => self.cycle_zoom(),
            KeyAction::FoldGroup => self.toggle_group(),
            KeyAction::DueTask => self.select_due_task(),
            KeyAction::Mark => self.toggle_mark(),
            KeyAction::SortPrevious | KeyAction::SortNext => {
                self.ui.view.sort =
                    self.ui.view.sort.adjacent_column(action == KeyAction::SortNext);
                self.ui.graph.reveal = true;
                ScreenEffect::Draw
            }
            KeyAction::Palette => self.open_palette(),
            KeyAction::GoalBox
            | KeyAction::NextNeed
            | KeyAction::Inbox
            | KeyAction::CatchUp
            | KeyAction::Today
            | KeyAction::TodayDone
            | KeyAction::TodaySkip
            | KeyAction::TodayLater
            | KeyAction::RemoveSession
            | KeyAction::MarkSession
            | KeyAction::Compare
            | KeyAction::NextDivergence
            | KeyAction::PreviousDivergence
            | KeyAction::FoldSame
            | KeyAction::SwapRuns
            | KeyAction::CompareOutputs
            | KeyAction::ExportComparison => ScreenEffect::Idle,
            KeyAction::Files => self.open_files(),
            KeyAction::CopyPath => self.copy_file_path(),
            KeyAction::Fork => self.open_fork_card(),
            KeyAction::CompareWith => self.ask_compare(),
            KeyAction::OnlyTask => self.toggle_task_filter(),
            KeyAction::Why => return self.toggle_explanation(),
            KeyAction::Jobs => self.open_jobs_dialog(),
            KeyAction::OnlyKind => self.cycle_kind_filter(),
            KeyAction::OnlyRole => self.cycle_role_filter(),
            KeyAction::Terms => self.toggle_terms(),
            KeyAction::Search => self.open_search(),
            KeyAction::HideUnchanged => self.toggle_unchanged(),
            KeyAction::NextHit | KeyAction::PreviousHit if self.ui.focus == PaneFocus::Output => {
                return self.next_output_match(action == KeyAction::NextHit);
            }
            // What was searched for comes first, whatever pane has the focus; Esc ends the search.
            KeyAction::NextRequest | KeyAction::NextFailed if self.ui.trace.search.is_some() => {
                self.next_hit(true)
            }
            KeyAction::PreviousRequest | KeyAction::PreviousFailed
                if self.ui.trace.search.is_some() =>
            {
                self.next_hit(false)
            }
            KeyAction::NextHit
            | KeyAction::PreviousHit
            | KeyAction::NextRequest
            | KeyAction::PreviousRequest
                if self.steps_through_changes() =>
            {
                let forward = matches!(action, KeyAction::NextHit | KeyAction::NextRequest);
                self.step_change(forward);
                ScreenEffect::Draw
            }
            KeyAction::NextHit | KeyAction::PreviousHit if self.ui.trace.search.is_none() => {
                self.open_next_need(action == KeyAction::NextHit)
            }
            KeyAction::NextHit => self.next_hit(true),
            KeyAction::PreviousHit => self.next_hit(false),
            KeyAction::Copy => return self.copy_step(),
            KeyAction::Pager => return self.page_step(),
            KeyAction::CardStart => {
                self.ui.card.scroll = 0;
                ScreenEffect::Draw
            }
            KeyAction::CardEnd => {
                self.ui.card.scroll = self.card.max_scroll();
                ScreenEffect::Draw
            }
            KeyAction::Help => {
                self.ui.overlay = Some(Overlay::Help(Box::new(HelpOverlay::over(None))));
                ScreenEffect::Draw
            }
            KeyAction::Quit => self.request_quit(ExitReason::BackToList),
            KeyAction::Yes
            | KeyAction::YesWider
            | KeyAction::Options
            | KeyAction::Reply
            | KeyAction::No
            | KeyAction::StopIt
            | KeyAction::TakeOver
            | KeyAction::Again
            | KeyAction::PassOver
            | KeyAction::Ideas => self.answer_request(action),
            KeyAction::RequestChanges => self.request_changes(),
            KeyAction::Comment => self.comment_nodes(),
            KeyAction::Lock => self.lock_nodes(),
            KeyAction::Edit => self.edit_node(),
            KeyAction::AddNode => self.add_rows(),
            KeyAction::SplitRow => self.split_row(),
            KeyAction::MergeRows => self.merge_rows(),
            KeyAction::KeepChange => self.settle_change(true),
            KeyAction::PutBackChange => self.settle_change(false),
            KeyAction::RemoveNode => self.remove_node(),
            KeyAction::MoveUp => self.move_node(false),
            KeyAction::MoveDown => self.move_node(true),
            KeyAction::LinkNodes => self.link_nodes(),
            KeyAction::Undo => return self.undo_or_redo(false),
            KeyAction::Redo => return self.undo_or_redo(true),
            KeyAction::Editor | KeyAction::EditFailed => self.edit_plan_externally(),
            KeyAction::Policy => self.open_policy(),
            KeyAction::Facts => self.open_facts(),
            KeyAction::NextRequest | KeyAction::NextFailed => self.cycle_request(true),
            KeyAction::PreviousRequest | KeyAction::PreviousFailed => self.cycle_request(false),
            KeyAction::RetryFailed => self.ask_retry_failed(),
            KeyAction::RetryFailedWithDependents => self.retry_failed(true),
            KeyAction::SkipFailed => self.skip_failed(),
            KeyAction::Done => self.mark_selected_done(),
            KeyAction::When => self.ask_selected_time(),
            KeyAction::Retry => self.ask_retry_selected(),
            KeyAction::RetryWithDependents => self.retry_selected(true),
            KeyAction::Skip => self.skip_selected(),
            KeyAction::StopTask => self.ask_stop_task(),
            KeyAction::Pause => self.pause_or_resume(),
            KeyAction::Detach => self.detach_run(),
            KeyAction::PreviousEvent => return self.step_event(-1),
            KeyAction::NextEvent => return self.step_event(1),
            KeyAction::PreviousLandmark => return self.step_landmark(false),
            KeyAction::NextLandmark => return self.step_landmark(true),
            KeyAction::Start if self.mode().is_past() => {
                return self.seek_event(planwright_model::Seq(1));
            }
            KeyAction::Live => return self.seek_latest(),
            KeyAction::Latest if self.mode().is_past() => return self.seek_latest(),
            KeyAction::Start => self.jump_in_focused(PaneEnd::First),
            KeyAction::Latest => self.jump_in_focused(PaneEnd::Last),
            KeyAction::Play if self.mode().is_past() => return self.toggle_play(),
            KeyAction::Slower | KeyAction::Faster if self.mode().is_past() => {
                self.change_speed(action == KeyAction::Faster)
            }
            KeyAction::Play | KeyAction::Slower | KeyAction::Faster => {
                let key = self.keymap.key_hint(KeyAction::PreviousEvent);
                self.show_message(format!("this is live, {key} goes back in time"))
            }
            KeyAction::SkipWaits => {
                self.ui.time.skip_waits = !self.ui.time.skip_waits;
                ScreenEffect::Draw
            }
            KeyAction::Bookmark => self.toggle_bookmark(),
            KeyAction::GoTo => {
                self.ui.overlay =
                    Some(Overlay::Input(Box::new(InputDialog::new(InputPurpose::GoTo))));
                ScreenEffect::Draw
            }
        })
    }

    /// Whether answers make sense in this mode at all.
    pub(super) fn can_act(&self) -> bool {
        self.commands.is_some() && !matches!(self.mode(), SessionViewMode::Saved)
    }
}
