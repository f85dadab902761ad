//! What the home screen shows, read from the store once and then kept up to date by what changed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::App;
use planwright_model::event::{CallEvent, Event, OutputStream, Record, RunEvent};
use planwright_model::{MicroDollars, Seq, SessionId, TaskId};
use planwright_state::{RunPhase, SessionState, SessionStatus, TaskStatus, find_failure_cause};
use planwright_store::journal_source::task_records;
use planwright_store::spending::{self, SpendingTotals};
use planwright_store::{SessionInfo, Store, StoreError};
use planwright_tui::{HomeView, OpenSession, SessionListItem, TaskFailureOutput};

/// How many sessions with something to do or to ask are looked at, the last used first.
const OPEN_SESSIONS: usize = 64;
/// How many earlier goals can be recalled.
const GOALS: usize = 50;
/// How long a failed run is looked into for what went wrong. Older ones stay in the list.
const FAILED_DAYS: i64 = 14;

/// How often it is looked whether the processes of running sessions are still there.
const PROCESS_CHECK: Duration = Duration::from_secs(5);

/// How many failed tasks of a session are looked into, how many of their records, and how many lines are shown.
const FAILURES: usize = 5;
const FAILURE_RECORDS: usize = 200;
const FAILURE_TAIL: usize = 5;

/// Which events a kept state was folded from, and whether a process was at work on it.
type StateKey = (Seq, bool);

/// Reads the store for home. A refresh costs what changed since the last one.
#[derive(Default)]
pub(crate) struct HomeLoader {
    store: Option<Store>,
    sessions: BTreeMap<SessionId, SessionInfo>,
    states: HashMap<SessionId, (StateKey, OpenSession)>,
    /// The newest time at which a known session was written.
    seen: Timestamp,
    version: Option<i64>,
    loaded: Option<Instant>,
}

impl HomeLoader {
    /// Whether something was written since the last look. Costs one read of shared memory.
    pub(crate) fn has_changed(&mut self, app: &App) -> anyhow::Result<bool> {
        let Some(store) = self.open(app)? else { return Ok(false) };
        let version = store.data_version()?;
        Ok(self.version.replace(version) != Some(version) || self.is_process_in_doubt())
    }

    /// Whether a process that was at work may have gone away since the last look, which writes nothing.
    fn is_process_in_doubt(&self) -> bool {
        let attended = self.states.values().any(|((_, attended), _)| *attended);
        attended && self.loaded.is_none_or(|at| at.elapsed() >= PROCESS_CHECK)
    }

    fn open(&mut self, app: &App) -> anyhow::Result<Option<Store>> {
        if self.store.is_none() {
            self.store = app.read_store()?;
        }
        Ok(self.store.clone())
    }

    /// Everything that there is to see.
    pub(crate) fn load_view(&mut self, app: &App) -> anyhow::Result<HomeView> {
        let drafter = app.select_models(&SessionState::default(), true);
        let mut view = HomeView {
            provider: super::models::provider_line(&drafter),
            provider_help: super::models::provider_help(&drafter),
            own_hours: app.settings.me.hours.value.clone(),
            ..HomeView::default()
        };
        let Some(store) = self.open(app)? else {
            view.plan_file = find_plan_file();
            return Ok(view);
        };
        self.version = Some(store.data_version()?);
        self.loaded = Some(Instant::now());
        self.read_sessions(&store)?;
        let now = Timestamp::now();
        view.open = self.read_open_sessions(&store, now)?;
        let states: HashMap<&SessionId, &SessionState> =
            view.open.iter().map(|open| (&open.id, &*open.state)).collect();
        let items = self.sessions.values().filter(|info| !info.is_empty());
        view.items = items.map(|info| list_item(info, states.get(&info.id).copied())).collect();
        view.goals = self.recent_goals();
        if view.items.is_empty() {
            view.plan_file = find_plan_file();
        }
        if !drafter.is_offline() {
            let since = spending::day_start(now, &crate::config::time_zone());
            let spent = SpendingTotals::starting_at(since).update_total(&store.reader()?)?;
            let cap = MicroDollars::from_dollars(app.settings.models.daily_budget_usd.value);
            view.spent = Some((spent, cap));
        }
        Ok(view)
    }

    /// Reads the rows of sessions that were written since the last time; all of them where one was removed.
    fn read_sessions(&mut self, store: &Store) -> Result<(), StoreError> {
        let first = self.sessions.is_empty();
        if !first {
            for info in store.reader()?.sessions_written_since(self.seen)? {
                self.seen = self.seen.max(info.updated_at);
                if info.hidden {
                    self.sessions.remove(&info.id);
                } else {
                    self.sessions.insert(info.id.clone(), info);
                }
            }
        }
        if first || store.session_count()? != self.sessions.len() as u64 {
            let all = store.list_sessions()?;
            self.seen = all.iter().map(|info| info.updated_at).max().unwrap_or_default();
            self.sessions = all.into_iter().map(|info| (info.id.clone(), info)).collect();
        }
        Ok(())
    }

    /// Forgets a session that was removed here.
    pub(crate) fn forget_session(&mut self, id: &SessionId) {
        self.sessions.remove(id);
        self.states.remove(id);
    }

    fn read_open_sessions(
        &mut self,
        store: &Store,
        now: Timestamp,
    ) -> anyhow::Result<Vec<OpenSession>> {
        let recent = now - SignedDuration::from_hours(24 * FAILED_DAYS);
        let mut wanted: Vec<SessionInfo> =
            self.sessions
                .values()
                .filter(|info| info.imported.is_none() && !info.is_empty())
                .filter(|info| match SessionStatus::from_label(&info.summary.status) {
                    None
                    | Some(
                        SessionStatus::Done | SessionStatus::Dismissed | SessionStatus::Abandoned,
                    ) => false,
                    Some(SessionStatus::Failed) => info.updated_at >= recent,
                    Some(_) => true,
                })
                .cloned()
                .collect();
        wanted.sort_by_key(|info| {
            std::cmp::Reverse(info.updated_at.max(info.opened_at.unwrap_or_default()))
        });
        wanted.truncate(OPEN_SESSIONS);
        let kept = std::mem::take(&mut self.states);
        let mut open = Vec::with_capacity(wanted.len());
        for info in wanted {
            let attended = store.lease_holder(&info.id)?.is_some();
            let key = (info.head, attended);
            let known = kept.get(&info.id).filter(|(known, _)| *known == key);
            let session = if let Some((_, session)) = known {
                session.clone()
            } else {
                let state = read_state(store, &info, attended)?;
                let failures = read_failures(store, &info.id, &state)?;
                OpenSession { id: info.id.clone(), state, failures }
            };
            self.states.insert(info.id, (key, session.clone()));
            open.push(session);
        }
        Ok(open)
    }

    fn recent_goals(&self) -> Vec<String> {
        let mut made: Vec<&SessionInfo> =
            self.sessions.values().filter(|info| !info.summary.goal.trim().is_empty()).collect();
        made.sort_by_key(|info| std::cmp::Reverse(info.created_at));
        let mut goals: Vec<String> = Vec::new();
        for info in made {
            if !goals.contains(&info.summary.goal) {
                goals.push(info.summary.goal.clone());
            }
            if goals.len() >= GOALS {
                break;
            }
        }
        goals
    }

    /// The title of a task of an open session.
    pub(crate) fn task_title(&self, session: &SessionId, task: &TaskId) -> Option<String> {
        let (_, open) = self.states.get(session)?;
        let state = &open.state;
        let title = state.task_title(state.tasks.position(task)?);
        Some(planwright_text::clean_line(title).into_owned())
    }
}

/// What the output of the first failed tasks says about them.
pub(crate) fn read_failures(
    store: &Store,
    session: &SessionId,
    state: &SessionState,
) -> anyhow::Result<BTreeMap<TaskId, TaskFailureOutput>> {
    let mut found = BTreeMap::new();
    if state.tasks.status_counts().failed == 0 {
        return Ok(found);
    }
    let reader = store.reader()?;
    let failed = state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed);
    for (task, row) in failed.take(FAILURES) {
        let records = task_records(&reader, session, task.as_str(), state.seq, FAILURE_RECORDS)?;
        let mut lines: Vec<(OutputStream, String)> = Vec::new();
        for record in &records {
            if let Event::Call(
                CallEvent::Output { call, stream, text, .. }
                | CallEvent::Spooled { call, stream, tail: text, .. },
            ) = &record.event
                && call.attempt == row.attempt
            {
                lines.extend(text.lines().map(|line| (*stream, line.to_owned())));
            }
        }
        let cause = find_failure_cause(&lines).map(|cause| cause.short).unwrap_or_default();
        let printed =
            lines.into_iter().map(|(_, line)| line).filter(|line| !line.trim().is_empty());
        let mut tail: Vec<String> = printed.collect();
        tail.drain(..tail.len().saturating_sub(FAILURE_TAIL));
        found.insert(task.clone(), TaskFailureOutput { cause, tail });
    }
    Ok(found)
}

/// What a session looks like now. One that nobody works on any more has stopped, whatever its last event was.
fn read_state(
    store: &Store,
    info: &SessionInfo,
    attended: bool,
) -> anyhow::Result<Arc<SessionState>> {
    let state = super::session_history(store, &info.id)?.state_at(info.head)?;
    if attended || state.run.phase != RunPhase::Running {
        return Ok(state);
    }
    let mut stopped = SessionState::clone(&state);
    let why = "its process went away".to_owned();
    let at = state.at.unwrap_or(info.updated_at);
    stopped.apply(&Record::new(state.seq.next(), at, RunEvent::Interrupted { why }));
    Ok(Arc::new(stopped))
}

fn list_item(info: &SessionInfo, state: Option<&SessionState>) -> SessionListItem {
    // Nobody works on what is not among the open sessions, whatever was written last.
    let written =
        SessionStatus::from_label(&info.summary.status).map(SessionStatus::without_process);
    let counts = state.map(|state| state.tasks.work_counts());
    let status = state.map(SessionState::status);
    // To look at a run that has ended writes that somebody did, and is no work on it.
    let ended = state.and_then(|state| state.run.finished_at);
    SessionListItem {
        id: info.id.clone(),
        title: info.summary.title.clone(),
        status: status.or(written).unwrap_or(SessionStatus::Planning),
        done: counts.map_or(info.summary.done, |counts| counts.done),
        total: counts.map_or(info.summary.total, |counts| counts.total()),
        cost: info.summary.cost,
        updated_at: ended.unwrap_or(info.updated_at),
        pattern: info.summary.pattern.clone(),
        fork_of: info.parent.as_ref().map(|point| (point.session.clone(), point.seq)),
    }
}

/// A plan file in the current folder, by its usual name.
fn find_plan_file() -> Option<String> {
    ["plan.toml", "plan.yaml", "plan.yml", "plan.json"]
        .into_iter()
        .find(|name| std::path::Path::new(name).is_file())
        .map(str::to_owned)
}
