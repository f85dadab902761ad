//! Home: a box for a goal, what needs the person, today over all plans, and the plans and runs by what they need.

mod agenda;
mod catch_up;
mod commands;
mod draw;
mod first_start;
mod footer;
mod goal_box;
mod help;
mod keys;
mod layout;
mod needs;
mod needs_pane;
mod own_hours_card;
mod plan_groups;
mod plans_pane;
mod search_results;
mod task_actions;
mod task_pane;
mod today_pane;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

#[cfg(test)]
pub(crate) use keys::ACTIONS;

use super::clock::duration_between;
use super::event_loop::InteractiveScreen;
use super::glyphs::sanitize_frame;
use super::keymap::{KeyError, Keymap};
use super::overlays::{
    CardContext, CommandPalette, KeyListHelp, PaletteCommand, SettingsPanel, TaskCard,
    UnsentCardText,
};
use super::session::{EditPurpose, ExternalAction, ExternalOutcome, ScreenEffect, ScreenMessage};
use super::theme::{ColorDepth, Palette};
use super::widgets::{TextField, WhenInput};
use super::{
    ExitReason, HomeChannels, HomeExit, HomeRequest, HomeView, SessionListItem, SettingsStore,
    TodayItem, TuiError, UiAppearance, UiSettings,
};
use agenda::DayAgenda;
use catch_up::CatchUpCover;
use layout::HomeAreas;
use needs::{NeedRow, collect_needs, keep_settled};
use own_hours_card::OwnHoursCard;
use plan_groups::{PlanList, PlanListRow};
use planwright_drafting::goal_reading::GoalReading;
use planwright_model::event::Command;
use planwright_model::{SessionId, TaskId};
use planwright_state::SessionState;
use planwright_state::replay::RecordSourceError;
use planwright_text::clean_line;

/// What the keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HomeFocus {
    Goal,
    Needs,
    Today,
    Plans,
    /// The words that narrow the plans.
    Filter,
    /// Whether the selected plan is to be removed.
    Remove,
    /// When the selected task is to be.
    When,
    /// A note for the selected task.
    Note,
    /// The steps that a search brought.
    Found,
    /// When there is time for one's own plans, on the first start.
    OwnHours,
}

/// What stands over the screen.
enum HomeCover {
    /// The keys.
    Help(Box<KeyListHelp>),
    /// Every command that works here.
    Commands(Box<CommandPalette>),
    Settings(Box<SettingsPanel>),
    /// A task of one of the plans.
    Task {
        session: SessionId,
        card: Box<TaskCard>,
    },
    /// Everything that waits for the person.
    Inbox,
    /// The ways to catch up with a late plan.
    CatchUp(Box<CatchUpCover>),
}

/// What is being typed about the selected task.
enum TaskInput {
    None,
    When { session: SessionId, task: TaskId, block: String, input: WhenInput },
    Note { session: SessionId, task: TaskId, field: TextField },
}

/// The home screen.
pub(crate) struct HomeScreen {
    view: Arc<HomeView>,
    needs: Vec<NeedRow>,
    need_at: usize,
    agenda: DayAgenda,
    /// The item of today under the cursor, and the first row on the screen.
    today_at: usize,
    today_top: usize,
    /// The item on each line of the list, as it was drawn last.
    today_lines: Vec<Option<usize>>,
    plans: PlanList,
    focus: HomeFocus,
    goal: TextField,
    /// What was read from the goal, and the text it was read from.
    reading: GoalReading,
    read_text: String,
    /// How far back in earlier goals the box is, and what was typed before.
    recalled: Option<(usize, String)>,
    filter: TextField,
    task_input: TaskInput,
    /// What was typed about tasks and not sent.
    card_texts: BTreeMap<(SessionId, TaskId), UnsentCardText>,
    /// What undoes what was done here, the last one at the end.
    undo: Vec<(HomeRequest, String)>,
    /// Sessions that are to be compared.
    marks: Vec<SessionId>,
    found: Option<search_results::SearchResultList>,
    /// The example under the cursor of the first start.
    example: Option<usize>,
    own_hours: OwnHoursCard,
    cover: Option<HomeCover>,
    pub(crate) chosen: Option<HomeExit>,
    palette: Palette,
    color: ColorDepth,
    keymap: Keymap,
    ascii: bool,
    clock: fn() -> Timestamp,
    time_zone: TimeZone,
    /// When the lists were made.
    listed_at: Timestamp,
    window_has_focus: bool,
    areas: HomeAreas,
    /// One line for the person, until the next key or a moment later.
    message: Option<String>,
    message_until: Option<Timestamp>,
    /// Who keeps the settings.
    store: Option<Arc<dyn SettingsStore>>,
    /// What was chosen among the commands, the last first.
    recent: Vec<PaletteCommand>,
    latest: watch::Receiver<Arc<HomeView>>,
    requests: mpsc::Sender<HomeRequest>,
    outside: Option<ExternalAction>,
}

impl HomeScreen {
    pub(crate) fn new(feed: HomeChannels, settings: &UiSettings) -> Result<Self, TuiError> {
        let view = Arc::clone(&feed.latest.borrow());
        let (now, zone) = ((settings.now)(), settings.time_zone.clone());
        let mut home = Self {
            needs: collect_needs(&view, now, &zone),
            need_at: 0,
            agenda: DayAgenda::collect(&view, now, &zone),
            today_at: 0,
            today_top: 0,
            today_lines: Vec::new(),
            plans: PlanList::new(&view, now, &zone),
            focus: HomeFocus::Goal,
            goal: TextField::default(),
            reading: GoalReading::default(),
            read_text: String::new(),
            recalled: None,
            filter: TextField::default(),
            task_input: TaskInput::None,
            card_texts: BTreeMap::new(),
            undo: Vec::new(),
            marks: Vec::new(),
            found: view.found.clone().map(search_results::SearchResultList::new),
            example: None,
            own_hours: OwnHoursCard::new(view.own_hours.clone()),
            cover: None,
            chosen: None,
            palette: settings.theme.palette(settings.color),
            color: settings.color,
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            clock: settings.now,
            time_zone: zone,
            listed_at: now,
            window_has_focus: true,
            areas: HomeAreas::default(),
            message: view.message.clone(),
            message_until: None,
            store: settings.store.clone(),
            recent: Vec::new(),
            view,
            latest: feed.latest,
            requests: feed.requests,
            outside: None,
        };
        home.today_at = home.first_open_item();
        let left = home.view.selected.clone();
        let left = left.is_some_and(|id| home.plans.select_session(&id));
        home.focus = match () {
            () if home.found.is_some() => HomeFocus::Found,
            () if left => HomeFocus::Plans,
            () => home.starting_focus(),
        };
        Ok(home)
    }

    /// What needs the person, else what is due; on the very first start the box for a goal.
    fn starting_focus(&self) -> HomeFocus {
        if self.is_first_start() {
            HomeFocus::Goal
        } else if !self.needs.is_empty() {
            HomeFocus::Needs
        } else if !self.agenda.items.is_empty() {
            HomeFocus::Today
        } else {
            HomeFocus::Plans
        }
    }

    fn is_first_start(&self) -> bool {
        self.view.items.is_empty()
    }

    /// Today, at the first thing that is due: what is late, then what is planned for today, then what comes next.
    fn go_to_due(&mut self) {
        self.set_focus(HomeFocus::Today);
        let open = self.agenda.items.iter().position(|item| !item.due.status.is_settled());
        self.today_at = open.unwrap_or(0);
    }

    /// The first item of today that is still to be done, else the first that is.
    fn first_open_item(&self) -> usize {
        let open = |at: &usize| !self.agenda.items[*at].due.status.is_settled();
        let due = self.agenda.late..self.agenda.items.len();
        due.clone().find(open).or_else(|| (0..due.start).find(open)).unwrap_or(0)
    }

    /// Shows what is known now; cursors, filter and what is typed stay.
    fn refresh_view(&mut self) {
        let view = Arc::clone(&self.latest.borrow_and_update());
        if view.message.is_some() {
            self.message.clone_from(&view.message);
            if let Some(HomeCover::Task { card, .. }) = &mut self.cover {
                card.message = None;
            }
        }
        self.view = view;
        self.rebuild_lists();
    }

    /// Makes the lists anew, because there is news or the clock went on.
    fn rebuild_lists(&mut self) {
        let (now, zone) = ((self.clock)(), &self.time_zone);
        self.listed_at = now;
        let mut needs = collect_needs(&self.view, now, zone);
        if self.focus == HomeFocus::Needs || matches!(self.cover, Some(HomeCover::Inbox)) {
            keep_settled(&self.needs, &mut needs);
        }
        self.needs = needs;
        self.need_at = self.need_at.min(self.needs.len().saturating_sub(1));
        let selected = self.selected_item().cloned();
        self.agenda = DayAgenda::collect(&self.view, now, zone);
        let same = |item: &TodayItem| {
            selected.as_ref().is_some_and(|old| {
                (&old.session, &old.due.task, old.due.occurrence, &old.due.block)
                    == (&item.session, &item.due.task, item.due.occurrence, &item.due.block)
            })
        };
        let last = self.agenda.items.len().saturating_sub(1);
        self.today_at =
            self.agenda.items.iter().position(same).unwrap_or_else(|| self.today_at.min(last));
        let list = PlanList::new(&self.view, now, zone);
        self.plans.replace(list, self.filter.text());
    }

    /// Tells of a task whose time has come, while the person looks elsewhere.
    fn notify_of_due_task(&mut self) {
        let (from, to) = (self.listed_at, (self.clock)());
        let due = |item: &&TodayItem| {
            let due = &item.due;
            due.yours && !due.status.is_settled() && from < due.start && due.start <= to
        };
        if self.window_has_focus {
            return;
        }
        if let Some(item) = self.agenda.items.iter().find(due) {
            let text = format!("{}: {}", item.plan, item.due.title);
            self.outside = Some(ExternalAction::Notify { text: clean_line(&text).into_owned() });
        }
    }

    fn exit_with(&mut self, exit: HomeExit) -> ScreenEffect {
        self.chosen = Some(exit);
        ScreenEffect::Exit(ExitReason::Quit)
    }

    fn send_request(&mut self, request: HomeRequest) -> ScreenEffect {
        self.message = match self.requests.try_send(request) {
            Ok(()) => return ScreenEffect::Draw,
            Err(TrySendError::Full(_)) => {
                Some("Earlier changes are still being saved. Try again in a moment.".to_owned())
            }
            Err(TrySendError::Closed(_)) => {
                Some("This view lost its engine. Open Planwright again.".to_owned())
            }
        };
        ScreenEffect::Draw
    }

    fn send_command(&mut self, session: SessionId, command: Command) -> ScreenEffect {
        self.send_request(HomeRequest::Command { session, command })
    }

    fn selected_item(&self) -> Option<&TodayItem> {
        self.agenda.items.get(self.today_at)
    }

    /// The state of an open session.
    fn open_state(&self, session: &SessionId) -> Option<&SessionState> {
        self.view.open.iter().find(|open| open.id == *session).map(|open| &*open.state)
    }

    /// The plan under the cursor of the list of plans.
    fn selected_session(&self) -> Option<&SessionListItem> {
        self.plans.selected_row().map(|row| &row.item)
    }

    /// The plan that what has the focus is about, with its name.
    fn focused_plan(&self) -> Option<(SessionId, String)> {
        let need =
            || self.needs.get(self.need_at).map(|row| (row.session.clone(), row.plan.clone()));
        let due = || self.selected_item().map(|item| (item.session.clone(), item.plan.clone()));
        let listed = || {
            let item = self.selected_session()?;
            Some((item.id.clone(), clean_line(&item.title).into_owned()))
        };
        match self.focus {
            HomeFocus::Needs => need().or_else(listed),
            HomeFocus::Today => due().or_else(listed),
            _ => listed(),
        }
    }

    fn card_context<'a>(&'a self, state: &'a SessionState) -> CardContext<'a> {
        CardContext {
            state,
            keymap: &self.keymap,
            palette: &self.palette,
            now: (self.clock)(),
            zone: &self.time_zone,
            can_act: true,
        }
    }

    /// Goes to another pane; rows that were settled meanwhile go with the old one.
    fn set_focus(&mut self, focus: HomeFocus) {
        if self.focus == HomeFocus::Needs && focus != HomeFocus::Needs {
            self.needs.retain(|row| !row.settled);
            self.need_at = self.need_at.min(self.needs.len().saturating_sub(1));
        }
        self.focus = focus;
    }

    fn on_click(&mut self, at: Position) -> ScreenEffect {
        if let Some(flow) = self.press_key_at(at) {
            return flow;
        }
        if self.areas.own_hours.contains(at) {
            return self.click_own_hours(at);
        }
        let row = |area: ratatui::layout::Rect| usize::from(at.y - area.y);
        if self.areas.goal.contains(at) {
            self.set_focus(HomeFocus::Goal);
        } else if self.areas.needs.contains(at) {
            self.set_focus(HomeFocus::Needs);
            let step = self.areas.need_rows.max(1);
            self.need_at =
                (row(self.areas.needs) / usize::from(step)).min(self.needs.len().saturating_sub(1));
        } else if self.areas.today.contains(at) {
            // As they were clicked at; with the focus there may be more of them.
            let clicked = self.today_lines.get(row(self.areas.today)).copied().flatten();
            self.set_focus(HomeFocus::Today);
            self.today_at = clicked.unwrap_or(self.today_at);
        } else if self.areas.plans.contains(at) {
            self.set_focus(HomeFocus::Plans);
            let lines = self.plans.lines(self.areas.plan_details, self.areas.plan_gaps);
            if let Some(PlanListRow::Item(item) | PlanListRow::Detail(item)) =
                lines.get(self.plans.top + row(self.areas.plans))
            {
                self.plans.selected = *item;
            }
        } else {
            return ScreenEffect::Idle;
        }
        ScreenEffect::Draw
    }
}

impl InteractiveScreen for HomeScreen {
    fn update(&mut self, message: ScreenMessage) -> Result<ScreenEffect, RecordSourceError> {
        Ok(match message {
            ScreenMessage::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                let flow = self.on_key(&key);
                self.time_message();
                flow
            }
            ScreenMessage::Input(Event::Paste(text)) => self.on_paste(&text),
            ScreenMessage::Input(Event::Mouse(mouse)) => match mouse.kind {
                MouseEventKind::ScrollDown => self.move_selection(1),
                MouseEventKind::ScrollUp => self.move_selection(-1),
                MouseEventKind::Down(MouseButton::Left) => {
                    self.on_click(Position::new(mouse.column, mouse.row))
                }
                _ => ScreenEffect::Idle,
            },
            ScreenMessage::Input(Event::Resize(..)) => ScreenEffect::Draw,
            ScreenMessage::Input(event @ (Event::FocusGained | Event::FocusLost)) => {
                self.window_has_focus = event == Event::FocusGained;
                ScreenEffect::Idle
            }
            ScreenMessage::Tick => {
                self.notify_of_due_task();
                self.expire_message();
                self.rebuild_lists();
                ScreenEffect::Draw
            }
            ScreenMessage::Input(_) | ScreenMessage::Over => ScreenEffect::Idle,
            ScreenMessage::Head(_) => {
                self.refresh_view();
                ScreenEffect::Draw
            }
            ScreenMessage::Returned(returned) => {
                match returned {
                    ExternalOutcome::Edited { text, purpose: EditPurpose::Box } => {
                        self.goal = TextField::from_lines(&text);
                    }
                    ExternalOutcome::Edited { text, purpose: EditPurpose::Config } => {
                        if let Some(HomeCover::Settings(panel)) = &mut self.cover {
                            panel.replace_file(&text);
                        }
                    }
                    ExternalOutcome::Failed { why } => self.message = Some(why),
                    _ => {}
                }
                ScreenEffect::Redraw
            }
        })
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError> {
        self.read_goal_text();
        self.render(buf);
        self.palette.settle_selection(buf);
        sanitize_frame(buf, self.ascii);
        Ok(())
    }

    /// The clock and what is due change with the minute.
    fn tick_delay(&mut self) -> Option<Duration> {
        // Counted from now: a key that is pressed in between does not put the next minute off.
        let now = (self.clock)();
        let into = self.listed_at.as_second().rem_euclid(60);
        let next = self.listed_at.checked_add(SignedDuration::from_secs(60 - into));
        let minute = duration_between(now, next.unwrap_or(now));
        let line = self.message_until.map(|until| duration_between(now, until));
        Some(line.map_or(minute, |line| line.min(minute)))
    }

    fn take_external_action(&mut self) -> Option<ExternalAction> {
        self.outside.take()
    }

    fn show_notice(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }

    fn apply_appearance(&mut self, look: &UiAppearance) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        Ok(())
    }
}
