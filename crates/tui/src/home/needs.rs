//! What needs the person, over all plans and runs, in words.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::panes::needs_you::permission_act;
use crate::theme::ThemeRole;
use crate::widgets::short_plan_name;
use crate::{HomeView, OpenSession};
use planwright_model::{Request, RequestKind, RunKind, SessionId, TaskId};
use planwright_state::{AttentionCause, AttentionItem, DueTask, SessionState};
use planwright_text::{dates, units};

/// One row of what needs the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NeedRow {
    pub(super) session: SessionId,
    pub(super) plan: String,
    pub(super) title: String,
    /// More about it, where there is room.
    pub(super) detail: String,
    pub(super) item: AttentionItem,
    /// It was settled while the list was being looked at; the row stays until the person goes elsewhere.
    pub(super) settled: bool,
}

impl NeedRow {
    pub(super) fn glyph(&self) -> (char, ThemeRole) {
        match self.item.cause {
            AttentionCause::Asked(_) | AttentionCause::Stopped => ('?', ThemeRole::Asks),
            AttentionCause::Failed { .. } | AttentionCause::ManyFailed { .. } => {
                ('✗', ThemeRole::Failed)
            }
            AttentionCause::Late(_) => ('@', ThemeRole::Failed),
            AttentionCause::Awaited { .. } => ('@', ThemeRole::Yours),
        }
    }

    /// The task it is about, if it is about one.
    pub(super) fn task(&self) -> Option<&TaskId> {
        match &self.item.cause {
            AttentionCause::Failed { task, .. } | AttentionCause::Awaited { task, .. } => {
                Some(task)
            }
            AttentionCause::ManyFailed { first, .. } => Some(first),
            AttentionCause::Late(late) => late.first().map(|due| &due.task),
            AttentionCause::Asked(_) | AttentionCause::Stopped => None,
        }
    }

    fn is_same_need(&self, other: &Self) -> bool {
        let same_cause = match (&self.item.cause, &other.item.cause) {
            (AttentionCause::Late(_), AttentionCause::Late(_))
            | (AttentionCause::ManyFailed { .. }, AttentionCause::ManyFailed { .. }) => true,
            (one, another) => one == another,
        };
        self.session == other.session && same_cause
    }
}

/// Everything that waits for the person, the oldest first.
pub(super) fn collect_needs(view: &HomeView, now: Timestamp, zone: &TimeZone) -> Vec<NeedRow> {
    let mut rows: Vec<NeedRow> = Vec::new();
    for open in &view.open {
        for item in open.state.attention_items(now, zone) {
            let (title, detail) = describe_need(&item, open, now, zone);
            rows.push(NeedRow {
                session: open.id.clone(),
                plan: short_plan_name(&open.state.session.title),
                title,
                detail,
                item,
                settled: false,
            });
        }
    }
    rows.sort_by(|a, b| (a.item.since, &a.session).cmp(&(b.item.since, &b.session)));
    rows
}

/// Puts rows that are no longer there back in their places, marked as settled.
pub(super) fn keep_settled(before: &[NeedRow], rows: &mut Vec<NeedRow>) {
    for (place, row) in before.iter().enumerate() {
        // Tasks that were late and are not any more have nothing to show.
        let was_late = matches!(row.item.cause, AttentionCause::Late(_));
        if !was_late && !rows.iter().any(|other| other.is_same_need(row)) {
            let row = NeedRow { settled: true, ..row.clone() };
            rows.insert(place.min(rows.len()), row);
        }
    }
}

/// One line for what it is, and one for what is behind it.
fn describe_need(
    item: &AttentionItem,
    open: &OpenSession,
    now: Timestamp,
    zone: &TimeZone,
) -> (String, String) {
    let state = &*open.state;
    let title_of = |id: &TaskId| match state.tasks.position(id) {
        Some(task) => state.task_title(task).to_owned(),
        None => id.to_string(),
    };
    match &item.cause {
        AttentionCause::Asked(id) => match state.requests.open.get(id) {
            Some(open) => describe_request(&open.request, state, now, zone),
            None => (String::new(), String::new()),
        },
        AttentionCause::Failed { task, skipped } => {
            let mut detail = failure_text(open, task);
            if *skipped > 0 {
                let tasks = units::format_counted(*skipped, "task");
                detail = format!("{detail}; {tasks} skipped because of it");
            }
            (format!("{} failed", title_of(task)), detail.trim_start_matches("; ").to_owned())
        }
        AttentionCause::ManyFailed { first, count, skipped } => {
            let tasks = units::format_counted(*count, "task");
            let skipped = units::format_counted(*skipped, "task");
            let detail = format!("{} failed first; {skipped} skipped", title_of(first));
            (format!("{tasks} failed"), detail)
        }
        AttentionCause::Late(late) => describe_late(late, now, zone),
        AttentionCause::Awaited { task, waiting } => {
            (title_of(task), format!("{} waits for it", title_of(waiting)))
        }
        AttentionCause::Stopped => {
            let counts = state.tasks.work_counts();
            let done = units::format_part(counts.done as usize, counts.total() as usize);
            ("Stopped before the end".to_owned(), format!("{done} tasks done; P resumes it"))
        }
    }
}

/// Why a task failed: what its output says, else what was recorded.
pub(super) fn failure_text(open: &OpenSession, task: &TaskId) -> String {
    let printed = open.failures.get(task).map(|failure| failure.cause.clone());
    printed.filter(|cause| !cause.is_empty()).unwrap_or_else(|| {
        let row = open.state.tasks.get(task);
        row.and_then(|row| row.failure.as_deref())
            .map(|failure| failure.message.clone())
            .unwrap_or_default()
    })
}

fn describe_late(late: &[DueTask], now: Timestamp, zone: &TimeZone) -> (String, String) {
    let Some(oldest) = late.first() else { return (String::new(), String::new()) };
    let (today, day) =
        (now.to_zoned(zone.clone()).date(), oldest.start.to_zoned(zone.clone()).date());
    let planned = dates::format_date(day, today);
    if late.len() == 1 {
        return (format!("{} is late", oldest.title), format!("planned for {planned}"));
    }
    let detail = format!("the oldest is {}, planned for {planned}", oldest.title);
    (format!("{} are late", units::format_counted(late.len(), "task")), detail)
}

fn describe_request(
    request: &Request,
    state: &SessionState,
    now: Timestamp,
    zone: &TimeZone,
) -> (String, String) {
    match &request.kind {
        RequestKind::FinalPlan { .. } => {
            ("Approve the plan".to_owned(), plan_in_short(state, now, zone))
        }
        RequestKind::Permission { call, class, .. } => {
            let who = state
                .tasks
                .owner_position(&call.task)
                .map_or_else(|| "A task".to_owned(), |task| state.task_title(task).to_owned());
            let detail = request.verbatim.first().map(|part| part.text.clone()).unwrap_or_default();
            (format!("{who} asks to {}", permission_act(class)), detail)
        }
        _ => {
            let about = request.task.as_ref().and_then(|task| state.tasks.position(task));
            let detail = about.map(|task| state.task_title(task).to_owned());
            (request.question.clone(), detail.unwrap_or_else(|| request.why.clone()))
        }
    }
}

/// `17 tasks, 27 h of your time, Thu 19 Nov – Sat 19 Dec`, as far as it is known.
pub(super) fn plan_in_short(state: &SessionState, now: Timestamp, zone: &TimeZone) -> String {
    let mut facts = Vec::new();
    if let Some(current) = &state.plan.current {
        let tasks = current.plan.tasks.iter().filter(|task| !task.marks_point()).count();
        facts.push(units::format_counted(tasks, "task"));
        let yours: u64 = current
            .plan
            .tasks
            .iter()
            .filter(|task| matches!(task.run, RunKind::Human {}))
            .map(|task| u64::from(task.duration_minutes.unwrap_or(0)))
            .sum();
        if yours > 0 {
            facts.push(format!("{} of your time", units::format_planned(yours)));
        }
    }
    let schedule = state.planning.schedule.as_deref();
    let first =
        schedule.and_then(|schedule| schedule.blocks.iter().map(|block| block.start.at).min());
    let last = schedule.and_then(planwright_model::Schedule::finish_time);
    if let (Some(first), Some(last)) = (first, last) {
        let day = |at: Timestamp| at.to_zoned(zone.clone()).date();
        facts.push(dates::format_date_range(day(first), day(last.at), day(now)));
    }
    facts.join(", ")
}
