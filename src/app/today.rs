//! What is due today in all active plans, and requests about it that need no run and no model.

use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::App;
use super::inbox::{self, AnswerDelivery};
use crate::console::CliProblem;
use planwright_engine as engine;
use planwright_engine::resume::{ResumeMode, end_leftover_processes, resume_events};
use planwright_model::event::{ApprovalEvent, CloseReason, Command, Event, RunEvent};
use planwright_model::{Seq, SessionId};
use planwright_state::{RunPhase, SessionState, SessionStatus};
use planwright_store::{SessionInfo, Store, StoreError};
use planwright_tui::TodayItem;

/// How many plans are looked at, the last used first.
const PLANS: usize = 64;

/// Where a session stands while there is still something to do in it.
pub(crate) const UNFINISHED: [SessionStatus; 5] = [
    SessionStatus::Held,
    SessionStatus::Running,
    SessionStatus::Paused,
    SessionStatus::Interrupted,
    SessionStatus::Yours,
];

/// The sessions of some states with what they look like now, the last used first.
pub(crate) fn sessions_with_status(
    store: &Store,
    among: &[SessionStatus],
    most: usize,
) -> anyhow::Result<Vec<(SessionInfo, Arc<SessionState>)>> {
    let mut found = Vec::new();
    for info in store.list_sessions()? {
        let status = SessionStatus::from_label(&info.summary.status);
        if info.imported.is_none() && status.is_some_and(|status| among.contains(&status)) {
            let state = super::session_history(store, &info.id)?.state_at(info.head)?;
            found.push((info, state));
        }
        if found.len() >= most {
            break;
        }
    }
    Ok(found)
}

/// The sessions that have something to do or to ask.
pub(crate) fn open_sessions(
    store: &Store,
) -> anyhow::Result<Vec<(SessionInfo, Arc<SessionState>)>> {
    let mut among = UNFINISHED.to_vec();
    among.push(SessionStatus::NeedsYou);
    sessions_with_status(store, &among, PLANS)
}

/// What is due, by time, and what is late at the end.
pub(crate) fn due_items(
    sessions: &[(SessionInfo, Arc<SessionState>)],
    now: Timestamp,
    zone: &TimeZone,
) -> Vec<TodayItem> {
    let mut items: Vec<TodayItem> = Vec::new();
    for (info, state) in sessions {
        items.extend(state.due_tasks(now, zone).into_iter().map(|due| TodayItem {
            session: info.id.clone(),
            plan: state.session.title.clone(),
            due,
        }));
    }
    let today = now.to_zoned(zone.clone()).date();
    items.sort_by_key(|item| {
        let earlier = item.due.start.to_zoned(zone.clone()).date() < today;
        (earlier, item.due.start, item.session.clone(), item.due.task.clone())
    });
    items
}

/// What comes next after today, over all plans.
pub(crate) fn next_due_item(
    sessions: &[(SessionInfo, Arc<SessionState>)],
    now: Timestamp,
    zone: &TimeZone,
) -> Option<TodayItem> {
    let of_plan = |(info, state): &(SessionInfo, Arc<SessionState>)| {
        let due = state.next_due_task(now, zone)?;
        Some(TodayItem { session: info.id.clone(), plan: state.session.title.clone(), due })
    };
    sessions.iter().filter_map(of_plan).min_by_key(|item| item.due.start)
}

impl App {
    /// Has a session decide on a command without going on with its run, and closes it again. `Err` says why it refused.
    pub(crate) async fn send_command(
        &self,
        store: &Store,
        id: &SessionId,
        command: Command,
    ) -> anyhow::Result<()> {
        super::require_events(&store.session_info(id)?)?;
        let journal = match store.acquire_session(id) {
            Ok(journal) => journal,
            // Another process works on it: the command is left for that process.
            Err(StoreError::Held { .. }) => return deliver_to_holder(store, id, &command),
            Err(error) => return Err(error.into()),
        };
        let state = super::session_history(store, id)?.state_at(journal.head())?;
        let leftovers = end_leftover_processes(id, &state);
        let mut options = self.engine_options();
        options.save_decision = self.decision_saver(store);
        options.other_plans = Some(self.other_plans(store, id));
        let mut first = resume_events(
            &state,
            &leftovers,
            ResumeMode::View,
            options.jobs,
            crate::console::PROGRAM,
        );
        if state.run.phase == RunPhase::Running {
            // Its process went away without a word. A request about one task is no reason to go on with the others.
            let why = "its process went away".to_owned();
            first.push(RunEvent::Interrupted { why }.into());
        }
        let handle = engine::start_session(journal, SessionState::clone(&state), first, options);
        let begun = handle.begun;
        crate::session_commands::send_command(&handle.commands, command).await;
        let close = Command::Close { why: CloseReason::Quit };
        crate::session_commands::send_command(&handle.commands, close).await;
        handle.wait_until_closed().await?;
        check_refusal(store, id, begun)
    }
}

/// What a session refused after an event.
fn check_refusal(store: &Store, id: &SessionId, after: Seq) -> anyhow::Result<()> {
    let mut history = super::session_history(store, id)?;
    let head = history.head_seq()?;
    let mut seq = after.next();
    while seq <= head {
        let record =
            history.record_at(seq)?.context("an event that was just written is not there")?;
        if let Event::Approval(ApprovalEvent::Refused { why, .. }) = &record.event {
            return Err(CliProblem::failed(why.to_string()).into());
        }
        seq = seq.next();
    }
    Ok(())
}

fn deliver_to_holder(store: &Store, id: &SessionId, command: &Command) -> anyhow::Result<()> {
    match inbox::deliver_command(store, id, command)? {
        AnswerDelivery::Taken => Ok(()),
        AnswerDelivery::Refused(why) => Err(CliProblem::failed(why).into()),
        AnswerDelivery::NobodyThere | AnswerDelivery::NoReaction => {
            let short = id.short_id();
            Err(CliProblem::failed(format!(
                "the process that works on session {short} does not react"
            ))
            .with_remedy(format!("look at it with: planwright attach {short}"))
            .into())
        }
    }
}
