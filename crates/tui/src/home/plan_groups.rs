//! Plans and runs grouped by what they need, narrowed by what is typed, with one of them selected.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::needs::failure_text;
use crate::clock::duration_between;
use crate::{HomeView, OpenSession, SessionListItem};
use planwright_model::{SessionId, TaskId};
use planwright_state::{RunPhase, SessionState, SessionStatus, TaskRow, TaskStatus};
use planwright_text::{dates, units};

/// The groups of the list, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlanGroup {
    Running,
    Drafts,
    /// Plans for people, with their next task.
    Active,
    /// Paused by the person, or stopped because their process went away.
    Paused,
    NotStarted,
    Failed,
    Done,
}

impl PlanGroup {
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Drafts => "drafts",
            Self::Active => "active",
            Self::Paused => "paused",
            Self::NotStarted => "not started",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }

    fn of_session(status: SessionStatus, state: Option<&SessionState>) -> Self {
        let people = state.is_some_and(SessionState::is_only_for_people);
        let runnable = state.is_some_and(SessionState::is_runnable);
        match status {
            SessionStatus::Done | SessionStatus::Dismissed | SessionStatus::Abandoned => Self::Done,
            SessionStatus::Failed => Self::Failed,
            _ if runnable && people && has_schedule(state) => Self::Active,
            SessionStatus::Planning => Self::Drafts,
            SessionStatus::NeedsYou if !runnable => Self::Drafts,
            SessionStatus::Held => Self::NotStarted,
            // Nothing of it runs: a task failed, or only the person can continue.
            SessionStatus::Yours | SessionStatus::Interrupted if has_failed(state) => Self::Failed,
            SessionStatus::Yours => Self::Active,
            SessionStatus::Paused | SessionStatus::Interrupted if !people => Self::Paused,
            // A question that waits keeps nothing running.
            SessionStatus::NeedsYou if !people && is_stopped(state) => Self::Paused,
            _ if people => Self::Active,
            _ => Self::Running,
        }
    }
}

fn is_stopped(state: Option<&SessionState>) -> bool {
    state.is_some_and(|state| state.run.phase == RunPhase::Interrupted)
}

fn has_failed(state: Option<&SessionState>) -> bool {
    state.is_some_and(|state| state.tasks.status_counts().failed > 0)
}

fn has_schedule(state: Option<&SessionState>) -> bool {
    state.is_some_and(|state| state.planning.schedule.is_some())
}

/// One plan or run of the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HomePlanRow {
    pub(super) item: SessionListItem,
    pub(super) group: PlanGroup,
    /// How far it is, or how old.
    pub(super) fact: String,
    /// What happens next in it.
    pub(super) next: Option<String>,
    /// What happens next, with the name of the task.
    pub(super) detail: Option<String>,
}

/// One row of the list on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanListRow {
    Heading(PlanGroup, usize),
    Item(usize),
    Detail(usize),
    Gap,
}

/// The list.
#[derive(Default)]
pub(super) struct PlanList {
    pub(super) rows: Vec<HomePlanRow>,
    /// The rows that pass the filter, in order.
    shown: Vec<usize>,
    pub(super) selected: usize,
    /// The first line on the screen.
    pub(super) top: usize,
}

impl PlanList {
    pub(super) fn new(view: &HomeView, now: Timestamp, zone: &TimeZone) -> Self {
        let states: std::collections::HashMap<&SessionId, &OpenSession> =
            view.open.iter().map(|open| (&open.id, open)).collect();
        let mut rows: Vec<HomePlanRow> = view
            .items
            .iter()
            .map(|item| plan_row(item, states.get(&item.id).copied(), now, zone))
            .collect();
        rows.sort_by(|a, b| (a.group, b.item.updated_at).cmp(&(b.group, a.item.updated_at)));
        let shown = (0..rows.len()).collect();
        Self { rows, shown, selected: 0, top: 0 }
    }

    /// Shows other plans; the one under the cursor stays there if it is still among them.
    pub(super) fn replace(&mut self, mut list: Self, filter: &str) {
        let selected = self.rows.get(self.selected).map(|row| row.item.id.clone());
        list.top = self.top;
        list.selected = self.selected.min(list.rows.len().saturating_sub(1));
        *self = list;
        if let Some(id) = selected {
            self.select_session(&id);
        }
        self.apply_filter(filter);
    }

    /// Selects a session, if it is there.
    pub(super) fn select_session(&mut self, id: &SessionId) -> bool {
        let place = self.rows.iter().position(|row| row.item.id == *id);
        self.selected = place.unwrap_or(self.selected);
        place.is_some()
    }

    pub(super) fn selected_row(&self) -> Option<&HomePlanRow> {
        self.shown.binary_search(&self.selected).ok()?;
        self.rows.get(self.selected)
    }

    /// Keeps the plans whose title, id or kind has all the words.
    pub(super) fn apply_filter(&mut self, filter: &str) {
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        let passes = |row: &HomePlanRow| {
            let item = &row.item;
            let text = format!("{} {} {} {}", item.title, item.id, item.pattern, row.group.label());
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.shown = (0..self.rows.len()).filter(|at| passes(&self.rows[*at])).collect();
        if self.shown.binary_search(&self.selected).is_err() {
            self.selected = self.shown.first().copied().unwrap_or(0);
        }
    }

    pub(super) fn move_selection(&mut self, by: isize) {
        let Some(last) = self.shown.len().checked_sub(1) else { return };
        let at = self.shown.binary_search(&self.selected).unwrap_or(0);
        self.selected = self.shown[at.saturating_add_signed(by).min(last)];
    }

    pub(super) fn shown_count(&self) -> usize {
        self.shown.len()
    }

    /// The groups that have members among the shown rows, with those members.
    pub(super) fn groups(&self) -> Vec<(PlanGroup, &[usize])> {
        self.shown
            .chunk_by(|a, b| self.rows[*a].group == self.rows[*b].group)
            .map(|members| (self.rows[members[0]].group, members))
            .collect()
    }

    /// How many lines the groups take in short: one for each that is worked on, and one for all others.
    pub(super) fn short_line_count(&self) -> usize {
        let groups = self.groups();
        let busy = groups.iter().filter(|(group, _)| *group <= PlanGroup::Active).count();
        busy + usize::from(busy < groups.len())
    }

    /// The lines of the list; with `details` each row that has one brings a second line.
    pub(super) fn lines(&self, details: bool, gaps: bool) -> Vec<PlanListRow> {
        let mut lines = Vec::with_capacity(self.shown.len() + 16);
        for (group, members) in self.groups() {
            if gaps && !lines.is_empty() {
                lines.push(PlanListRow::Gap);
            }
            lines.push(PlanListRow::Heading(group, members.len()));
            for &member in members {
                lines.push(PlanListRow::Item(member));
                let row = &self.rows[member];
                let second = if details { &row.detail } else { &row.next };
                if second.is_some() {
                    lines.push(PlanListRow::Detail(member));
                }
            }
        }
        lines
    }

    /// Brings the selection into view, with the heading above it and the detail below.
    pub(super) fn scroll_to_selection(&mut self, lines: &[PlanListRow], room: usize) {
        let at = lines.iter().position(|row| *row == PlanListRow::Item(self.selected)).unwrap_or(0);
        self.top = self.top.min(at.saturating_sub(1)).max((at + 3).saturating_sub(room));
        self.top = self.top.min(lines.len().saturating_sub(room));
    }
}

fn plan_row(
    item: &SessionListItem,
    open: Option<&OpenSession>,
    now: Timestamp,
    zone: &TimeZone,
) -> HomePlanRow {
    let state = open.map(|open| &*open.state);
    let group = PlanGroup::of_session(item.status, state);
    let fact = match group {
        PlanGroup::Done => units::format_age(duration_between(item.updated_at, now)),
        PlanGroup::Drafts => match state.filter(|state| state.plan.current.is_some()) {
            Some(state) => format!("draft {}", state.draft_number()),
            None => String::new(),
        },
        _ => format!("{}/{}", item.done, item.total),
    };
    let (next, detail) = open.map(|open| next_step(group, item, open, now, zone)).unzip();
    HomePlanRow { item: item.clone(), group, fact, next: next.flatten(), detail: detail.flatten() }
}

/// What happens next, in short and in full.
fn next_step(
    group: PlanGroup,
    item: &SessionListItem,
    open: &OpenSession,
    now: Timestamp,
    zone: &TimeZone,
) -> (Option<String>, Option<String>) {
    let state = &*open.state;
    let asks = !state.requests.open.is_empty();
    let counts = state.tasks.work_counts();
    let detail = match group {
        PlanGroup::Active => return next_task(state, now, zone),
        PlanGroup::Drafts | PlanGroup::Running if asks => Some("waits for your answer".to_owned()),
        PlanGroup::Drafts => Some("being drafted".to_owned()),
        PlanGroup::Running if counts.running == 0 && counts.yours > 0 => {
            Some("waits for your task".to_owned())
        }
        PlanGroup::Running => Some(format!("{} running", counts.running)),
        PlanGroup::Paused if item.status == SessionStatus::Interrupted => {
            Some("stopped before the end".to_owned())
        }
        PlanGroup::Paused => Some("paused".to_owned()),
        PlanGroup::NotStarted => {
            let approved = state.plan.approval.as_ref().map(|approval| {
                let today = now.to_zoned(zone.clone()).date();
                dates::format_date(approval.at.to_zoned(zone.clone()).date(), today)
            });
            approved.map(|day| format!("approved {day}, not started"))
        }
        PlanGroup::Failed => {
            let failed = |(_, row): &(&TaskId, &TaskRow)| row.status == TaskStatus::Failed;
            let first = state.tasks.iter().find(failed);
            let age = units::format_ago(duration_between(item.updated_at, now));
            first.map(|(task, _)| format!("{}, {age}", failure_text(open, task)))
        }
        PlanGroup::Done => None,
    };
    (None, detail)
}

/// `next today 13:30`, and the same with the title of the task.
fn next_task(
    state: &SessionState,
    now: Timestamp,
    zone: &TimeZone,
) -> (Option<String>, Option<String>) {
    let date = now.to_zoned(zone.clone()).date();
    let open = |due: &planwright_state::DueTask| {
        !due.status.is_settled() && due.start.to_zoned(zone.clone()).date() == date
    };
    let today = state.due_tasks(now, zone).into_iter().filter(open).min_by_key(|due| due.start);
    let Some(next) = today.or_else(|| state.next_due_task(now, zone)) else {
        return (None, None);
    };
    let (start, now) = (next.start.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let day = if start.date() == now.date() {
        "today".to_owned()
    } else {
        dates::format_date(start.date(), now.date())
    };
    let when = format!("next {day} {}", dates::format_time(start.time()));
    let detail = format!("{when}, {}", next.title);
    (Some(when), Some(detail))
}
