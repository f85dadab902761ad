//! What keys do on the home screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::overlay::{HomeOverlay, HomeOverlayOutcome};
use super::{HomeFocus, HomeScreen, first_start};
use crate::keymap::{KeyAction, KeyChord, KeyContext};
use crate::session::{EditPurpose, ExternalAction, ScreenEffect};
use crate::widgets::TextField;
use crate::{ExitReason, HomeExit, HomeRequest};
use planwright_model::Actor;
use planwright_model::event::Command;
use planwright_schedule::calendar::parse_when;

/// Everything that can be done on the home screen by an action of the table.
pub(crate) const ACTIONS: [KeyAction; 22] = [
    KeyAction::Open,
    KeyAction::Search,
    KeyAction::GoalBox,
    KeyAction::Today,
    KeyAction::MarkSession,
    KeyAction::Compare,
    KeyAction::Fork,
    KeyAction::RemoveSession,
    KeyAction::TodayDone,
    KeyAction::TodaySkip,
    KeyAction::TodayLater,
    KeyAction::Palette,
    KeyAction::Help,
    KeyAction::Quit,
    KeyAction::Back,
    KeyAction::FocusNext,
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
        if let Some(overlay) = &mut self.overlay {
            return match overlay.on_key(event) {
                HomeOverlayOutcome::Nothing => ScreenEffect::Draw,
                HomeOverlayOutcome::Close => {
                    self.overlay = None;
                    ScreenEffect::Draw
                }
                HomeOverlayOutcome::Action(action) => {
                    self.overlay = None;
                    self.perform_action(action)
                }
            };
        }
        match self.focus {
            HomeFocus::Goal => self.on_goal_key(event),
            HomeFocus::Filter => self.on_filter_key(event),
            HomeFocus::Remove => self.on_remove_key(key),
            HomeFocus::Later => self.on_later_key(event),
            HomeFocus::Today => {
                self.on_list_key(key, &[KeyContext::Today, KeyContext::Home, KeyContext::Screen])
            }
            HomeFocus::List => self.on_list_key(key, &[KeyContext::Home, KeyContext::Screen]),
            HomeFocus::Found => self.on_results_key(key),
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) -> ScreenEffect {
        match self.focus {
            HomeFocus::Goal => {
                self.example = None;
                self.goal.on_paste(text);
            }
            HomeFocus::Later => self.later.on_paste(text),
            HomeFocus::Filter => {
                self.filter.on_paste(text);
                self.list.apply_filter(self.filter.text());
            }
            HomeFocus::List | HomeFocus::Remove | HomeFocus::Today | HomeFocus::Found => {
                return ScreenEffect::Idle;
            }
        }
        ScreenEffect::Draw
    }

    fn on_goal_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let empty = self.list.items.is_empty();
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('j') if ctrl => self.goal.new_line(),
            KeyCode::Char('g') if ctrl => {
                let (text, ending, back) = (self.goal.full_text(), ".txt", EditPurpose::Box);
                self.outside = Some(ExternalAction::Edit { text, ending, purpose: back });
            }
            KeyCode::Enter => return self.plan_goal(),
            KeyCode::Down if empty => {
                let last = first_start::EXAMPLES.len();
                self.example = Some(self.example.map_or(0, |at| (at + 1).min(last)));
            }
            KeyCode::Up if empty => self.example = self.example.and_then(|at| at.checked_sub(1)),
            KeyCode::Down if self.goal.line_count() > 1 => {
                self.goal.on_key(event);
            }
            KeyCode::Esc | KeyCode::Tab | KeyCode::Down => self.focus = HomeFocus::List,
            _ => {
                self.example = None;
                self.goal.on_key(event);
            }
        }
        ScreenEffect::Draw
    }

    /// Plans what was typed, or takes the example under the cursor.
    fn plan_goal(&mut self) -> ScreenEffect {
        let goal = match self.example {
            Some(at) => match first_start::EXAMPLES.get(at) {
                Some(example) => (*example).to_owned(),
                None => return self.exit_with(HomeExit::Demo),
            },
            None => self.goal.full_text().trim().to_owned(),
        };
        if goal.is_empty() {
            self.message = Some("type what you want to get done".to_owned());
            return ScreenEffect::Draw;
        }
        self.exit_with(HomeExit::Plan(goal))
    }

    fn on_filter_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        match event.code {
            KeyCode::Esc => {
                self.filter = TextField::default();
                self.list.apply_filter("");
                self.focus = HomeFocus::List;
            }
            KeyCode::Tab => return self.start_search(),
            // Where no session has the words in its title, a step may.
            KeyCode::Enter if self.list.shown_count() == 0 => return self.start_search(),
            KeyCode::Enter => self.focus = HomeFocus::List,
            KeyCode::Down => self.list.move_selection(1),
            KeyCode::Up => self.list.move_selection(-1),
            _ => {
                if self.filter.on_key(event) {
                    self.list.apply_filter(self.filter.text());
                }
            }
        }
        ScreenEffect::Draw
    }

    fn on_remove_key(&mut self, key: KeyChord) -> ScreenEffect {
        self.focus = HomeFocus::List;
        let item = self.list.selected_item().map(|item| item.id.clone());
        match (key.code, item) {
            (KeyCode::Char('y'), Some(id)) => self.send_request(HomeRequest::Remove(id)),
            _ => ScreenEffect::Draw,
        }
    }

    /// Where a block is to go, in words.
    fn on_later_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        match event.code {
            KeyCode::Esc => self.focus = HomeFocus::Today,
            KeyCode::Enter => return self.reschedule_due_item(),
            _ => {
                self.later.on_key(event);
            }
        }
        ScreenEffect::Draw
    }

    fn reschedule_due_item(&mut self) -> ScreenEffect {
        let now = (self.clock)().to_zoned(self.time_zone.clone());
        let Some(item) = self.selected_due_item() else { return ScreenEffect::Idle };
        let usual = item.due.start.to_zoned(self.time_zone.clone()).time();
        let (Some(block), Some(to)) =
            (item.due.block.clone(), parse_when(self.later.text(), &now, usual))
        else {
            self.message = Some("not a time; write tomorrow, 14:30, fri 9:00 or +2h".to_owned());
            return ScreenEffect::Draw;
        };
        let session = item.session.clone();
        self.focus = HomeFocus::Today;
        let command = Command::MoveBlock { block, to: to.timestamp() };
        self.send_request(HomeRequest::Command { session, command })
    }

    fn on_list_key(&mut self, key: KeyChord, places: &[KeyContext]) -> ScreenEffect {
        match self.keymap.action_for(key, places) {
            Some(action) => self.perform_action(action),
            None => ScreenEffect::Idle,
        }
    }

    /// Does what an action means here.
    fn perform_action(&mut self, action: KeyAction) -> ScreenEffect {
        let page = isize::try_from(self.list_area.height / 2).unwrap_or(1).max(1);
        match action {
            KeyAction::Down => self.move_selection(1),
            KeyAction::Up => self.move_selection(-1),
            KeyAction::PageDown => self.move_selection(page),
            KeyAction::PageUp => self.move_selection(-page),
            KeyAction::Start => self.move_selection(isize::MIN / 2),
            KeyAction::Latest => self.move_selection(isize::MAX / 2),
            KeyAction::Open => return self.open_selected(),
            KeyAction::Search => self.focus = HomeFocus::Filter,
            KeyAction::GoalBox => self.focus = HomeFocus::Goal,
            KeyAction::MarkSession => self.toggle_mark(),
            KeyAction::Compare => return self.compare_marked(),
            KeyAction::Fork => {
                return match self.list.selected_item().map(|item| item.id.clone()) {
                    Some(id) => self.exit_with(HomeExit::Fork(id)),
                    None => ScreenEffect::Idle,
                };
            }
            KeyAction::FocusNext => {
                let today = self.focus == HomeFocus::List && !self.view.today.is_empty();
                self.focus = if today { HomeFocus::Today } else { HomeFocus::Goal };
            }
            KeyAction::RemoveSession if self.list.selected_item().is_some() => {
                self.focus = HomeFocus::Remove;
            }
            KeyAction::Today if self.list.items.is_empty() => {
                self.message = Some("nothing is due today".to_owned());
            }
            KeyAction::Today => {
                self.focus = match self.focus {
                    HomeFocus::Today => HomeFocus::List,
                    _ => HomeFocus::Today,
                };
            }
            KeyAction::TodayDone => return self.mark_due_item(true),
            KeyAction::TodaySkip => return self.mark_due_item(false),
            KeyAction::TodayLater => return self.ask_new_time(),
            KeyAction::Help => {
                self.overlay = Some(HomeOverlay::new_help(self.focus == HomeFocus::Today));
            }
            KeyAction::Palette => self.overlay = Some(HomeOverlay::new_commands()),
            KeyAction::Back if self.focus == HomeFocus::Today => self.focus = HomeFocus::List,
            KeyAction::Back if !self.filter.text().is_empty() => {
                self.filter = TextField::default();
                self.list.apply_filter("");
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

    fn move_selection(&mut self, by: isize) {
        match self.focus {
            HomeFocus::Today => self.move_today_cursor(by),
            _ => self.list.move_selection(by),
        }
    }

    pub(super) fn move_today_cursor(&mut self, by: isize) {
        let last = self.view.today.len().saturating_sub(1);
        self.today_at = self.today_at.saturating_add_signed(by).min(last);
    }

    fn open_selected(&mut self) -> ScreenEffect {
        let exit = match self.focus {
            HomeFocus::Today => {
                self.selected_due_item().map(|item| HomeExit::Start(item.session.clone()))
            }
            _ => self.list.selected_item().map(|item| HomeExit::Open(item.id.clone())),
        };
        exit.map_or(ScreenEffect::Idle, |exit| self.exit_with(exit))
    }

    /// Says that the item under the cursor is done, or left out.
    fn mark_due_item(&mut self, done: bool) -> ScreenEffect {
        let Some(item) = self.selected_due_item() else { return self.report_nothing_due() };
        if !item.due.yours {
            self.message = Some("this one is not yours to do; Enter opens its plan".to_owned());
            return ScreenEffect::Draw;
        }
        let command = Command::MarkTask {
            task: item.due.task.clone(),
            occurrence: item.due.occurrence,
            done,
            note: None,
            by: Actor::Person,
        };
        let session = item.session.clone();
        self.send_request(HomeRequest::Command { session, command })
    }

    fn ask_new_time(&mut self) -> ScreenEffect {
        let Some(item) = self.selected_due_item() else { return self.report_nothing_due() };
        if item.due.block.is_none() {
            self.message = Some("it has no time to move; its plan has no schedule".to_owned());
        } else {
            self.later = TextField::new("tomorrow");
            self.focus = HomeFocus::Later;
        }
        ScreenEffect::Draw
    }

    fn report_nothing_due(&mut self) -> ScreenEffect {
        self.message = Some("nothing is due today".to_owned());
        ScreenEffect::Draw
    }
}
