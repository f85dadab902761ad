//! What keys do on the home screen.

use crossterm::event::{KeyCode, KeyEvent};

use super::help::home_help;
use super::plan_groups::PlanGroup;
use super::{HomeCover, HomeFocus, HomeScreen, TaskInput};
use crate::keymap::{KeyAction, KeyChord, KeyContext};
use crate::overlays::KeyListOutcome;
use crate::session::ScreenEffect;
use crate::widgets::TextField;
use crate::{ExitReason, HomeExit, HomeRequest, SessionListItem, SessionTarget};
use planwright_model::SessionId;
use planwright_model::event::Command;
use planwright_state::{AttentionCause, SessionStatus};

/// Everything that can be done on the home screen by an action of the table.
pub(crate) const ACTIONS: [KeyAction; 28] = [
    KeyAction::Open,
    KeyAction::NextNeed,
    KeyAction::Inbox,
    KeyAction::GoalBox,
    KeyAction::Today,
    KeyAction::TodayDone,
    KeyAction::TodayLater,
    KeyAction::TodaySkip,
    KeyAction::Comment,
    KeyAction::Undo,
    KeyAction::CatchUp,
    KeyAction::Search,
    KeyAction::MarkSession,
    KeyAction::Compare,
    KeyAction::Fork,
    KeyAction::RemoveSession,
    KeyAction::Palette,
    KeyAction::Help,
    KeyAction::Quit,
    KeyAction::Back,
    KeyAction::FocusNext,
    KeyAction::FocusPrevious,
    KeyAction::Down,
    KeyAction::Up,
    KeyAction::PageDown,
    KeyAction::PageUp,
    KeyAction::Start,
    KeyAction::Latest,
];

impl HomeScreen {
    pub(super) fn on_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        self.message = None;
        let key = KeyChord::from_event(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') => return ScreenEffect::Exit(ExitReason::Signal("SIGINT")),
                KeyCode::Char('z') => return ScreenEffect::Suspend,
                KeyCode::Char('l') => return ScreenEffect::Redraw,
                _ => {}
            }
        }
        match &mut self.cover {
            Some(HomeCover::Help(help)) => {
                if help.on_key(event) == KeyListOutcome::Close {
                    self.cover = None;
                }
                return ScreenEffect::Draw;
            }
            Some(HomeCover::Commands(palette)) => {
                let outcome = palette.on_key(event);
                return self.on_palette_outcome(outcome);
            }
            Some(HomeCover::Settings(panel)) => {
                let outcome = panel.on_key(event);
                return self.on_settings_outcome(&outcome);
            }
            Some(HomeCover::Task { .. }) => return self.on_card_key(event),
            Some(HomeCover::Inbox) => return self.on_inbox_key(key),
            Some(HomeCover::CatchUp(_)) => return self.on_catch_up_key(key),
            None => {}
        }
        match self.focus {
            HomeFocus::Goal => self.on_goal_key(event),
            HomeFocus::Filter => self.on_filter_key(event),
            HomeFocus::Remove => self.on_remove_key(key),
            HomeFocus::When | HomeFocus::Note => self.on_task_input_key(event),
            HomeFocus::Found => self.on_results_key(key),
            HomeFocus::OwnHours => self.on_own_hours_key(event),
            HomeFocus::Today | HomeFocus::Needs | HomeFocus::Plans => self.on_list_key(key),
        }
    }

    fn on_inbox_key(&mut self, key: KeyChord) -> ScreenEffect {
        match self.keymap.action_for(key, &[KeyContext::Home, KeyContext::Screen]) {
            Some(KeyAction::Down) => self.move_need(1),
            Some(KeyAction::Up) => self.move_need(-1),
            Some(KeyAction::Open | KeyAction::NextNeed) => {
                self.cover = None;
                return self.open_need(self.need_at);
            }
            Some(KeyAction::Back | KeyAction::Quit | KeyAction::Inbox) => {
                self.cover = None;
                self.needs.retain(|row| !row.settled);
                self.move_need(0);
            }
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    pub(super) fn on_paste(&mut self, text: &str) -> ScreenEffect {
        if let Some(HomeCover::Task { card, .. }) = &mut self.cover {
            card.on_paste(text);
            return ScreenEffect::Draw;
        }
        if let Some(flow) = self.paste_into_cover(text) {
            return flow;
        }
        if self.focus == HomeFocus::OwnHours {
            return self.paste_own_hours(text);
        }
        match (self.focus, &mut self.task_input) {
            (HomeFocus::Goal, _) => {
                self.example = None;
                self.message = self.goal.cut_message(text).or_else(|| self.message.take());
                self.goal.on_paste(text);
            }
            (HomeFocus::Filter, _) => {
                self.filter.on_paste(text);
                self.plans.apply_filter(self.filter.text());
            }
            (HomeFocus::When, TaskInput::When { input, .. }) => input.on_paste(text),
            (HomeFocus::Note, TaskInput::Note { field, .. }) => field.on_paste(text),
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    fn on_filter_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        match event.code {
            KeyCode::Esc => {
                self.filter = TextField::default();
                self.plans.apply_filter("");
                self.set_focus(HomeFocus::Plans);
            }
            KeyCode::Tab => return self.start_search(),
            // Where no plan has the words in its title, a step may.
            KeyCode::Enter if self.plans.shown_count() == 0 => return self.start_search(),
            KeyCode::Enter => self.set_focus(HomeFocus::Plans),
            KeyCode::Down => self.plans.move_selection(1),
            KeyCode::Up => self.plans.move_selection(-1),
            _ => {
                if self.filter.on_key(event) {
                    self.plans.apply_filter(self.filter.text());
                }
            }
        }
        ScreenEffect::Draw
    }

    fn on_remove_key(&mut self, key: KeyChord) -> ScreenEffect {
        self.set_focus(HomeFocus::Plans);
        let item = self.selected_session().map(|item| item.id.clone());
        match (key.code, item) {
            (KeyCode::Char('y'), Some(id)) => self.send_request(HomeRequest::Remove(id)),
            _ => ScreenEffect::Draw,
        }
    }

    fn on_list_key(&mut self, key: KeyChord) -> ScreenEffect {
        let places: &[KeyContext] = match self.focus {
            HomeFocus::Today => &[KeyContext::Today, KeyContext::Home, KeyContext::Screen],
            _ => &[KeyContext::Home, KeyContext::Screen],
        };
        match self.keymap.action_for(key, places) {
            Some(action) if ACTIONS.contains(&action) => self.perform_action(action),
            Some(_) => self.say(format!("{key}: open a plan first")),
            None => match self.keymap.action_for(key, &[KeyContext::Today]) {
                Some(_) => {
                    let today = self.keymap.key_hint(KeyAction::Today);
                    self.say(format!("That is for tasks of today. {today} goes there."))
                }
                None if self.keymap.actions_of(key).is_empty() => {
                    let help = self.keymap.key_hint(KeyAction::Help);
                    self.say(format!("{key}: not used here; {help} lists the keys"))
                }
                None => self.say(format!("{key}: open a plan first")),
            },
        }
    }

    /// Does what an action means here.
    pub(super) fn perform_action(&mut self, action: KeyAction) -> ScreenEffect {
        let page = isize::try_from(self.areas.body.height / 2).unwrap_or(1).max(1);
        match action {
            KeyAction::Down => return self.move_selection(1),
            KeyAction::Up => return self.move_selection(-1),
            KeyAction::PageDown => return self.move_selection(page),
            KeyAction::PageUp => return self.move_selection(-page),
            KeyAction::Start => return self.move_selection(isize::MIN / 2),
            KeyAction::Latest => return self.move_selection(isize::MAX / 2),
            KeyAction::Open => return self.open_selected(),
            KeyAction::NextNeed => return self.open_next_need(),
            KeyAction::Inbox => self.cover = Some(HomeCover::Inbox),
            KeyAction::Search => self.set_focus(HomeFocus::Filter),
            KeyAction::GoalBox => self.set_focus(HomeFocus::Goal),
            KeyAction::MarkSession => self.toggle_mark(),
            KeyAction::Compare => return self.compare_marked(),
            KeyAction::Fork => return self.fork_selected(),
            KeyAction::FocusNext => self.turn_focus(1),
            KeyAction::FocusPrevious => self.turn_focus(-1),
            KeyAction::RemoveSession => return self.dismiss_or_remove(),
            KeyAction::Today => self.go_to_due(),
            KeyAction::TodayDone => return self.mark_item(true),
            KeyAction::TodaySkip => return self.mark_item(false),
            KeyAction::TodayLater => return self.ask_when(),
            KeyAction::Comment => return self.ask_note(),
            KeyAction::Undo => return self.undo_last(),
            KeyAction::CatchUp => return self.open_catch_up(),
            KeyAction::Help => {
                let help = home_help(self.focus == HomeFocus::Today);
                self.cover = Some(HomeCover::Help(Box::new(help)));
            }
            KeyAction::Palette => return self.open_commands(),
            KeyAction::Back if !self.filter.text().is_empty() => {
                self.filter = TextField::default();
                self.plans.apply_filter("");
            }
            // One Esc too many must not end the program.
            KeyAction::Back => {
                self.message = Some(format!("{} quits", self.keymap.key_hint(KeyAction::Quit)));
            }
            KeyAction::Quit => return ScreenEffect::Exit(ExitReason::Quit),
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    /// The next pane that has something in it; the box for a goal is the last.
    fn turn_focus(&mut self, by: isize) {
        let panes = [
            (HomeFocus::Needs, !self.needs.is_empty()),
            (HomeFocus::Today, true),
            (HomeFocus::Plans, true),
            (HomeFocus::Goal, true),
        ];
        let order: Vec<HomeFocus> =
            panes.into_iter().filter(|(_, has)| *has).map(|(pane, _)| pane).collect();
        let at = order.iter().position(|pane| *pane == self.focus).unwrap_or(0);
        let count = order.len() as isize;
        let next = (at as isize + by).rem_euclid(count) as usize;
        self.set_focus(order[next]);
    }

    pub(super) fn move_selection(&mut self, by: isize) -> ScreenEffect {
        match self.focus {
            HomeFocus::Needs => self.move_need(by),
            HomeFocus::Today => {
                let last = self.agenda.items.len().saturating_sub(1);
                self.today_at = self.today_at.saturating_add_signed(by).min(last);
            }
            HomeFocus::Plans | HomeFocus::Filter => self.plans.move_selection(by),
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    fn move_need(&mut self, by: isize) {
        let last = self.needs.len().saturating_sub(1);
        self.need_at = self.need_at.saturating_add_signed(by).min(last);
    }

    fn open_selected(&mut self) -> ScreenEffect {
        match self.focus {
            HomeFocus::Needs => self.open_need(self.need_at),
            HomeFocus::Today => match self.selected_item().cloned() {
                Some(item) => self.open_card(item.session, item.due.task, item.due.occurrence),
                None => self.say("Nothing planned. i starts a new goal."),
            },
            _ => match self.selected_session().map(|item| item.id.clone()) {
                Some(id) => self.exit_with(HomeExit::Open(id)),
                None => ScreenEffect::Idle,
            },
        }
    }

    /// Opens what waits longest; from a row of the list, that row.
    fn open_next_need(&mut self) -> ScreenEffect {
        let from = if self.focus == HomeFocus::Needs { self.need_at } else { 0 };
        let rows = self.needs.iter().enumerate();
        let next = rows.skip(from).find(|(_, row)| !row.settled).map(|(at, _)| at);
        match next.or_else(|| self.needs.iter().position(|row| !row.settled)) {
            Some(at) => self.open_need(at),
            None => self.say("Nothing needs you"),
        }
    }

    /// Opens the row where it is settled: a question in its plan, a late plan where it catches up, a task as its card.
    fn open_need(&mut self, at: usize) -> ScreenEffect {
        let Some(row) = self.needs.get(at).cloned() else { return ScreenEffect::Idle };
        match row.item.cause {
            AttentionCause::Late(_) => {
                self.need_at = at;
                self.open_catch_up_for(&row.session)
            }
            AttentionCause::Awaited { task, .. } => self.open_card(row.session, task, None),
            AttentionCause::Asked(request) => {
                let target = SessionTarget::Request(request);
                self.exit_with(HomeExit::OpenTarget(row.session, target))
            }
            AttentionCause::Failed { task, .. }
            | AttentionCause::ManyFailed { first: task, .. } => {
                self.exit_with(HomeExit::OpenTarget(row.session, SessionTarget::Task(task)))
            }
            AttentionCause::Stopped => self.exit_with(HomeExit::Open(row.session)),
        }
    }

    fn fork_selected(&mut self) -> ScreenEffect {
        match self.selected_session().map(|item| item.id.clone()) {
            Some(id) if self.focus == HomeFocus::Plans => self.exit_with(HomeExit::Fork(id)),
            _ => self.say("F: select a plan or run first"),
        }
    }

    /// The failed run under the cursor, in the list of plans or among what needs the person.
    pub(super) fn selected_failed_run(&self) -> Option<SessionId> {
        match self.focus {
            HomeFocus::Plans => {
                let row = self.plans.selected_row()?;
                (row.group == PlanGroup::Failed).then(|| row.item.id.clone())
            }
            HomeFocus::Needs => {
                let row = self.needs.get(self.need_at).filter(|row| !row.settled)?;
                let items = &self.view.items;
                let ended = |item: &&SessionListItem| {
                    item.id == row.session && item.status == SessionStatus::Failed
                };
                items.iter().find(ended).map(|item| item.id.clone())
            }
            _ => None,
        }
    }

    /// Puts a failed run aside, which can be undone; asks before a plan is removed.
    fn dismiss_or_remove(&mut self) -> ScreenEffect {
        let Some(session) = self.selected_failed_run() else { return self.ask_remove() };
        let back = Command::DismissRun { on: false };
        self.remember_undo(session.clone(), back, "Undoing the dismissal".to_owned());
        self.send_command(session, Command::DismissRun { on: true })
    }

    fn ask_remove(&mut self) -> ScreenEffect {
        if self.focus != HomeFocus::Plans || self.selected_session().is_none() {
            return self.say("Del: select a plan or run first");
        }
        self.set_focus(HomeFocus::Remove);
        ScreenEffect::Draw
    }

    /// The late plan that the cursor is on, else the one that is late longest.
    fn open_catch_up(&mut self) -> ScreenEffect {
        let late = |row: &&super::NeedRow| matches!(row.item.cause, AttentionCause::Late(_));
        let under = match self.focus {
            HomeFocus::Needs => self.needs.get(self.need_at).filter(late),
            HomeFocus::Today => self
                .selected_item()
                .and_then(|item| self.needs.iter().find(|row| row.session == item.session))
                .filter(late),
            HomeFocus::Plans => self
                .selected_session()
                .and_then(|item| self.needs.iter().filter(late).find(|row| row.session == item.id)),
            _ => None,
        };
        // A plan that is not late can be planned again all the same, after tasks were done early, moved or added.
        let chosen = match self.focus {
            HomeFocus::Today => self.selected_item().map(|item| item.session.clone()),
            HomeFocus::Plans => self.selected_session().map(|item| item.id.clone()),
            _ => None,
        };
        let late = under.or_else(|| self.needs.iter().find(late)).map(|row| row.session.clone());
        match late.or(chosen) {
            Some(session) => self.open_catch_up_for(&session),
            None => self.say("No plan is late"),
        }
    }
}
