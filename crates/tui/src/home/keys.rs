//! What keys do on the home screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::overlay::{Overlay, Picked};
use super::{Home, HomeFocus, first};
use crate::keymap::{Action, Key, Place};
use crate::session::{Back, Flow, Outside};
use crate::widgets::Field;
use crate::{ExitReason, HomeExit, HomeWish};
use planwright_model::Actor;
use planwright_model::event::Command;
use planwright_schedule::calendar::parse_when;

/// Everything that can be done on the home screen by an action of the table.
pub(crate) const ACTIONS: [Action; 22] = [
    Action::Open,
    Action::Search,
    Action::GoalBox,
    Action::Today,
    Action::MarkSession,
    Action::Compare,
    Action::Fork,
    Action::RemoveSession,
    Action::TodayDone,
    Action::TodaySkip,
    Action::TodayLater,
    Action::Palette,
    Action::Help,
    Action::Quit,
    Action::Back,
    Action::FocusNext,
    Action::Down,
    Action::Up,
    Action::PageDown,
    Action::PageUp,
    Action::Start,
    Action::Latest,
];

impl Home {
    pub(super) fn on_key(&mut self, event: &KeyEvent) -> Flow {
        self.message = None;
        let key = Key::of(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') => return Flow::Exit(ExitReason::Signal("SIGINT")),
                KeyCode::Char('z') => return Flow::Suspend,
                KeyCode::Char('l') => return Flow::Redraw,
                _ => {}
            }
        }
        if let Some(overlay) = &mut self.overlay {
            return match overlay.on_key(event) {
                Picked::Nothing => Flow::Draw,
                Picked::Close => {
                    self.overlay = None;
                    Flow::Draw
                }
                Picked::Action(action) => {
                    self.overlay = None;
                    self.act(action)
                }
            };
        }
        match self.focus {
            HomeFocus::Goal => self.on_goal_key(event),
            HomeFocus::Filter => self.on_filter_key(event),
            HomeFocus::Remove => self.on_remove_key(key),
            HomeFocus::Later => self.on_later_key(event),
            HomeFocus::Today => self.on_list_key(key, &[Place::Today, Place::Home, Place::Screen]),
            HomeFocus::List => self.on_list_key(key, &[Place::Home, Place::Screen]),
            HomeFocus::Found => self.on_found_key(key),
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) -> Flow {
        match self.focus {
            HomeFocus::Goal => {
                self.example = None;
                self.goal.on_paste(text);
            }
            HomeFocus::Later => self.later.on_paste(text),
            HomeFocus::Filter => {
                self.filter.on_paste(text);
                self.list.narrow(self.filter.text());
            }
            HomeFocus::List | HomeFocus::Remove | HomeFocus::Today | HomeFocus::Found => {
                return Flow::Idle;
            }
        }
        Flow::Draw
    }

    fn on_goal_key(&mut self, event: &KeyEvent) -> Flow {
        let empty = self.list.items.is_empty();
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('j') if ctrl => self.goal.new_line(),
            KeyCode::Char('g') if ctrl => {
                let (text, ending, back) = (self.goal.whole(), ".txt", Back::Box);
                self.outside = Some(Outside::Edit { text, ending, back });
            }
            KeyCode::Enter => return self.plan(),
            KeyCode::Down if empty => {
                let last = first::EXAMPLES.len();
                self.example = Some(self.example.map_or(0, |at| (at + 1).min(last)));
            }
            KeyCode::Up if empty => self.example = self.example.and_then(|at| at.checked_sub(1)),
            KeyCode::Down if self.goal.rows() > 1 => {
                self.goal.on_key(event);
            }
            KeyCode::Esc | KeyCode::Tab | KeyCode::Down => self.focus = HomeFocus::List,
            _ => {
                self.example = None;
                self.goal.on_key(event);
            }
        }
        Flow::Draw
    }

    /// Plans what was typed, or takes the example under the cursor.
    fn plan(&mut self) -> Flow {
        let goal = match self.example {
            Some(at) => match first::EXAMPLES.get(at) {
                Some(example) => (*example).to_owned(),
                None => return self.leave(HomeExit::Demo),
            },
            None => self.goal.whole().trim().to_owned(),
        };
        if goal.is_empty() {
            self.message = Some("type what you want to get done".to_owned());
            return Flow::Draw;
        }
        self.leave(HomeExit::Plan(goal))
    }

    fn on_filter_key(&mut self, event: &KeyEvent) -> Flow {
        match event.code {
            KeyCode::Esc => {
                self.filter = Field::default();
                self.list.narrow("");
                self.focus = HomeFocus::List;
            }
            KeyCode::Tab => return self.search(),
            // Where no session has the words in its title, a step may.
            KeyCode::Enter if self.list.count() == 0 => return self.search(),
            KeyCode::Enter => self.focus = HomeFocus::List,
            KeyCode::Down => self.list.move_by(1),
            KeyCode::Up => self.list.move_by(-1),
            _ => {
                if self.filter.on_key(event) {
                    self.list.narrow(self.filter.text());
                }
            }
        }
        Flow::Draw
    }

    fn on_remove_key(&mut self, key: Key) -> Flow {
        self.focus = HomeFocus::List;
        let item = self.list.current().map(|item| item.id.clone());
        match (key.code, item) {
            (KeyCode::Char('y'), Some(id)) => self.wish(HomeWish::Remove(id)),
            _ => Flow::Draw,
        }
    }

    /// Where a block is to go, in words.
    fn on_later_key(&mut self, event: &KeyEvent) -> Flow {
        match event.code {
            KeyCode::Esc => self.focus = HomeFocus::Today,
            KeyCode::Enter => return self.move_due(),
            _ => {
                self.later.on_key(event);
            }
        }
        Flow::Draw
    }

    fn move_due(&mut self) -> Flow {
        let now = (self.clock)().to_zoned(self.time_zone.clone());
        let Some(item) = self.due_now() else { return Flow::Idle };
        let usual = item.due.start.to_zoned(self.time_zone.clone()).time();
        let (Some(block), Some(to)) =
            (item.due.block.clone(), parse_when(self.later.text(), &now, usual))
        else {
            self.message = Some("not a time; write tomorrow, 14:30, fri 9:00 or +2h".to_owned());
            return Flow::Draw;
        };
        let session = item.session.clone();
        self.focus = HomeFocus::Today;
        let command = Command::MoveBlock { block, to: to.timestamp() };
        self.wish(HomeWish::Command { session, command })
    }

    fn on_list_key(&mut self, key: Key, places: &[Place]) -> Flow {
        match self.keymap.action(key, places) {
            Some(action) => self.act(action),
            None => Flow::Idle,
        }
    }

    /// Does what an action means here.
    fn act(&mut self, action: Action) -> Flow {
        let page = isize::try_from(self.list_area.height / 2).unwrap_or(1).max(1);
        match action {
            Action::Down => self.step(1),
            Action::Up => self.step(-1),
            Action::PageDown => self.step(page),
            Action::PageUp => self.step(-page),
            Action::Start => self.step(isize::MIN / 2),
            Action::Latest => self.step(isize::MAX / 2),
            Action::Open => return self.open(),
            Action::Search => self.focus = HomeFocus::Filter,
            Action::GoalBox => self.focus = HomeFocus::Goal,
            Action::MarkSession => self.turn_mark(),
            Action::Compare => return self.compare(),
            Action::Fork => {
                return match self.list.current().map(|item| item.id.clone()) {
                    Some(id) => self.leave(HomeExit::Fork(id)),
                    None => Flow::Idle,
                };
            }
            Action::FocusNext => {
                let today = self.focus == HomeFocus::List && !self.view.today.is_empty();
                self.focus = if today { HomeFocus::Today } else { HomeFocus::Goal };
            }
            Action::RemoveSession if self.list.current().is_some() => {
                self.focus = HomeFocus::Remove;
            }
            Action::Today if self.list.items.is_empty() => {
                self.message = Some("nothing is due today".to_owned());
            }
            Action::Today => {
                self.focus = match self.focus {
                    HomeFocus::Today => HomeFocus::List,
                    _ => HomeFocus::Today,
                };
            }
            Action::TodayDone => return self.settle(true),
            Action::TodaySkip => return self.settle(false),
            Action::TodayLater => return self.ask_when(),
            Action::Help => self.overlay = Some(Overlay::help(self.focus == HomeFocus::Today)),
            Action::Palette => self.overlay = Some(Overlay::commands()),
            Action::Back if self.focus == HomeFocus::Today => self.focus = HomeFocus::List,
            Action::Back if !self.filter.text().is_empty() => {
                self.filter = Field::default();
                self.list.narrow("");
            }
            // One Esc too many must not end the program.
            Action::Back => self.message = Some(format!("{} quits", self.keymap.key(Action::Quit))),
            Action::Quit => return Flow::Exit(ExitReason::Quit),
            _ => return Flow::Idle,
        }
        Flow::Draw
    }

    fn step(&mut self, by: isize) {
        match self.focus {
            HomeFocus::Today => self.move_today(by),
            _ => self.list.move_by(by),
        }
    }

    pub(super) fn move_today(&mut self, by: isize) {
        let last = self.view.today.len().saturating_sub(1);
        self.today_at = self.today_at.saturating_add_signed(by).min(last);
    }

    fn open(&mut self) -> Flow {
        let exit = match self.focus {
            HomeFocus::Today => self.due_now().map(|item| HomeExit::Start(item.session.clone())),
            _ => self.list.current().map(|item| HomeExit::Open(item.id.clone())),
        };
        exit.map_or(Flow::Idle, |exit| self.leave(exit))
    }

    /// Says that the item under the cursor is done, or left out.
    fn settle(&mut self, done: bool) -> Flow {
        let Some(item) = self.due_now() else { return self.nothing_due() };
        if !item.due.yours {
            self.message = Some("this one is not yours to do; Enter opens its plan".to_owned());
            return Flow::Draw;
        }
        let command = Command::Settle {
            task: item.due.task.clone(),
            occurrence: item.due.occurrence,
            done,
            note: None,
            by: Actor::Person,
        };
        let session = item.session.clone();
        self.wish(HomeWish::Command { session, command })
    }

    fn ask_when(&mut self) -> Flow {
        let Some(item) = self.due_now() else { return self.nothing_due() };
        if item.due.block.is_none() {
            self.message = Some("it has no time to move; its plan has no schedule".to_owned());
        } else {
            self.later = Field::new("tomorrow");
            self.focus = HomeFocus::Later;
        }
        Flow::Draw
    }

    fn nothing_due(&mut self) -> Flow {
        self.message = Some("nothing is due today".to_owned());
        Flow::Draw
    }
}
