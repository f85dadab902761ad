//! A saved session in the forms it can be exported in, for the command line and for the screens.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::session_history;
use crate::console::CliProblem;
use planwright_model::event::{Event, PlanningEvent, Record};
use planwright_model::{Plan, Schedule, Seq, SessionId, TaskNode};
use planwright_plan::export::{
    self, CalendarEdition, ExportedRun, ExportedStatus, ExportedTask, PlanExport,
};
use planwright_plan::plan_file_schedule::{LocalContext, schedule_plan_file};
use planwright_state::execution_result::ExecutionResult;
use planwright_state::replay::file_changes::EditLog;
use planwright_state::replay::workspace_patch::render_workspace_patch;
use planwright_state::{SessionState, TaskStatus};
use planwright_store::Store;
use planwright_store::exchange::{
    chrome_trace, html_page, jsonl, markdown_report, otlp, seed_traces,
};
use planwright_tui::SessionExport;

/// All records of a session.
fn session_records(store: &Store, id: &SessionId) -> anyhow::Result<Vec<Record>> {
    let mut history = session_history(store, id)?;
    let mut records = Vec::new();
    while let Some(record) = history.record_at(Seq(records.len() as u64 + 1))? {
        records.push(record);
    }
    Ok(records)
}

/// A session as text in one of its forms.
pub(crate) fn export_text(
    store: &Store,
    id: &SessionId,
    format: SessionExport,
) -> anyhow::Result<String> {
    let mut history = session_history(store, id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    let zone = crate::config::time_zone();
    Ok(match format {
        SessionExport::RunTraces => {
            let found = ExecutionResult::from_records(&session_records(store, id)?).react_traces;
            let all: Vec<_> = found.iter().map(seed_traces::trace_to_json).collect();
            format!("{}\n", serde_json::to_string_pretty(&all)?)
        }
        SessionExport::RunResult => {
            let found = ExecutionResult::from_records(&session_records(store, id)?);
            format!("{}\n", serde_json::to_string_pretty(&found)?)
        }
        SessionExport::RunReport => {
            markdown_report::render_report(&state, &session_records(store, id)?, &zone)
        }
        SessionExport::RunPage => {
            html_page::render_page(&state, &session_records(store, id)?, &zone)
        }
        SessionExport::RunSpans => {
            let spans = otlp::session_spans(id, &state.session.title, &session_records(store, id)?);
            format!("{spans}\n")
        }
        SessionExport::RunEvents => {
            let mut lines = Vec::new();
            jsonl::write_export(&store.reader()?, id, &mut lines)?;
            String::from_utf8(lines)?
        }
        SessionExport::PlanCalendar => export_calendar(store, id, &state)?,
        plan => export_plan(id, &state, plan, &zone)?,
    })
}

/// A session as a trace for timeline viewers.
pub(crate) fn export_chrome_trace(store: &Store, id: &SessionId) -> anyhow::Result<String> {
    let records = session_records(store, id)?;
    let title = store.session_info(id)?.summary.title;
    Ok(format!("{}\n", chrome_trace::render_chrome_trace(id, &title, &records)))
}

/// What agents changed in the workspace up to an event, as a patch.
pub(crate) fn export_workspace_patch(
    store: &Store,
    id: &SessionId,
    at: Option<u64>,
) -> anyhow::Result<String> {
    let mut history = session_history(store, id)?;
    let head = history.head_seq()?;
    if let Some(at) = at.filter(|at| *at == 0 || *at > head.0) {
        return Err(super::unknown_event_error(id, head, at));
    }
    let at = at.map_or(head, Seq);
    let mut log = EditLog::default();
    while log.read_on(&mut history, at)? {}
    Ok(render_workspace_patch(&log, at))
}

fn no_plan_error(id: &SessionId) -> anyhow::Error {
    CliProblem::failed(format!("session {} has no plan yet", id.short_id()))
        .with_remedy(format!("resume it: planwright resume {}", id.short_id()))
        .into()
}

fn export_plan(
    id: &SessionId,
    state: &SessionState,
    format: SessionExport,
    zone: &TimeZone,
) -> anyhow::Result<String> {
    let Some(current) = &state.plan.current else { return Err(no_plan_error(id)) };
    let plan = &current.plan;
    let run = exported_run(state);
    let drafted = drafted_plan(state, &run);
    // Once a drafted plan runs, what really ran matters more than when it was planned.
    let ran = run.values().any(|task| task.started.is_some());
    Ok(match (format, &drafted) {
        (SessionExport::PlanFlowchart, Some(drafted)) => export::render_flowchart(drafted),
        (SessionExport::PlanGantt, Some(drafted)) if !ran => export::render_gantt(drafted),
        (SessionExport::PlanDot, Some(drafted)) => export::render_dot(drafted),
        (SessionExport::PlanFlowchart, None) => export::render_graph_flowchart(plan, &run, zone),
        (SessionExport::PlanGantt, _) => export_gantt(plan, &run, zone)?,
        (SessionExport::PlanDot, None) => export::render_graph_dot(plan, &run, zone),
        (SessionExport::TaskTable, _) => export::render_csv(plan, &run, zone),
        (SessionExport::PlanFile, _) => planwright_plan::plan_file::write_toml(plan),
        _ => format!("{}\n", serde_json::to_string_pretty(&**plan)?),
    })
}

/// What became of the tasks, if any of them was started or settled.
fn exported_run(state: &SessionState) -> ExportedRun {
    let Some(current) = &state.plan.current else { return ExportedRun::new() };
    let mut run = ExportedRun::new();
    for task in &current.plan.tasks {
        let Some(row) = state.tasks.get(&task.id) else { continue };
        let status = match row.status {
            TaskStatus::Pending | TaskStatus::Yours => ExportedStatus::Open,
            TaskStatus::Running => ExportedStatus::Running,
            TaskStatus::Done => ExportedStatus::Done,
            TaskStatus::Failed => ExportedStatus::Failed,
            TaskStatus::Skipped(_) => ExportedStatus::Skipped,
        };
        let (started, ended) = (row.started_at, row.finished_at);
        run.insert(task.id.clone(), ExportedTask { status, started, ended });
    }
    if run.values().all(|task| task.status == ExportedStatus::Open) {
        run.clear();
    }
    run
}

/// The plan with its phases and dates, if it was drafted from a goal.
fn drafted_plan<'a>(state: &'a SessionState, run: &'a ExportedRun) -> Option<PlanExport<'a>> {
    let planning = &state.planning;
    let (context, roadmap) = (planning.context.as_deref()?, planning.roadmap.as_deref()?);
    Some(PlanExport { context, roadmap, schedule: planning.schedule.as_deref(), run: Some(run) })
}

/// What really ran, else when it is planned.
fn export_gantt(plan: &Plan, run: &ExportedRun, zone: &TimeZone) -> anyhow::Result<String> {
    if run.values().any(|task| task.started.is_some()) {
        return Ok(export::render_run_gantt(plan, run, zone, Timestamp::now()));
    }
    let local = LocalContext::from_clock(&jiff::Zoned::now());
    match schedule_plan_file(plan, &local)? {
        Some(schedule) => Ok(export::render_graph_gantt(plan, &schedule, local.first_day)),
        None => Err(CliProblem::failed("a Gantt chart needs durations, and no task has one")
            .with_remedy("give tasks a duration, run the plan, or use --format mermaid")
            .into()),
    }
}

/// The dates of a session: of the plan that was drafted, or of a plan file with a calendar or dates of its own. Events of
/// earlier drafts that are gone are in it as canceled ones.
fn export_calendar(store: &Store, id: &SessionId, state: &SessionState) -> anyhow::Result<String> {
    let records = session_records(store, id)?;
    let revision = records.last().map_or(0, |record| record.seq.0);
    let edition = CalendarEdition { plan_id: id.as_str(), stamp: Timestamp::now(), revision };
    let run = exported_run(state);
    if let Some(plan) = drafted_plan(state, &run).filter(|plan| plan.schedule.is_some()) {
        let earlier: Vec<&Schedule> = records.iter().filter_map(drafted_schedule).collect();
        return Ok(export::render_ical(&plan, &edition, &earlier)?);
    }
    if let Some(plan) = state.plan.current.as_ref().map(|current| &current.plan) {
        let local = LocalContext::from_clock(&jiff::Zoned::now());
        let schedule = match &plan.calendar {
            Some(_) => schedule_plan_file(plan, &local)?,
            None => None,
        };
        let is_dated = |task: &TaskNode| task.dates().stated().next().is_some();
        if schedule.is_some() || plan.tasks.iter().any(is_dated) {
            return Ok(export::render_graph_ical(plan, schedule.as_ref(), &run, &edition)?);
        }
    }
    Err(CliProblem::failed(format!("session {} has no dates", id.short_id()))
        .with_remedy("a plan file needs dates, or a [calendar] and durations")
        .into())
}

fn drafted_schedule(record: &Record) -> Option<&Schedule> {
    match &record.event {
        Event::Planning(PlanningEvent::ScheduleDrafted { schedule, .. }) => Some(schedule),
        _ => None,
    }
}
