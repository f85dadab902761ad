//! A saved session in the forms it can be exported in, for the command line and for the screens.

use jiff::Timestamp;

use super::session_history;
use crate::console::CliProblem;
use planwright_model::event::Record;
use planwright_model::{Seq, SessionId};
use planwright_plan::export::{self, PlanExport};
use planwright_plan::plan_file_schedule::{LocalContext, schedule_plan_file};
use planwright_state::SessionState;
use planwright_state::execution_result::ExecutionResult;
use planwright_store::Store;
use planwright_store::exchange::{html_page, jsonl, markdown_report, otlp, seed_traces};
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
        SessionExport::PlanCalendar => export_calendar(id, &state)?,
        plan => export_plan(id, &state, plan)?,
    })
}

fn export_plan(
    id: &SessionId,
    state: &SessionState,
    format: SessionExport,
) -> anyhow::Result<String> {
    let Some(current) = &state.plan.current else {
        return Err(CliProblem::failed(format!("session {} has no plan yet", id.short_id()))
            .with_remedy(format!("resume it: planwright resume {}", id.short_id()))
            .into());
    };
    let plan = &current.plan;
    Ok(match format {
        SessionExport::PlanFlowchart => export::render_graph_flowchart(plan),
        SessionExport::PlanGantt => {
            match schedule_plan_file(plan, &LocalContext::from_clock(&jiff::Zoned::now()))? {
                Some(schedule) => export::render_graph_gantt(plan, &schedule),
                None => {
                    return Err(CliProblem::failed(
                        "a Gantt chart needs durations, and no task has one",
                    )
                    .with_remedy("give tasks a duration, or use --format mermaid")
                    .into());
                }
            }
        }
        SessionExport::PlanDot => export::render_graph_dot(plan),
        SessionExport::PlanFile => planwright_plan::plan_file::write_toml(plan),
        _ => format!("{}\n", serde_json::to_string_pretty(&**plan)?),
    })
}

/// The schedule of a session that was planned from a goal.
fn export_calendar(id: &SessionId, state: &SessionState) -> anyhow::Result<String> {
    let planning = &state.planning;
    let (Some(context), Some(roadmap), Some(schedule)) =
        (&planning.context, &planning.roadmap, &planning.schedule)
    else {
        return Err(CliProblem::failed(format!("session {} has no schedule", id.short_id()))
            .with_remedy("a calendar needs a session that was planned from a goal")
            .into());
    };
    let plan = PlanExport { context, roadmap, schedule: Some(schedule) };
    Ok(export::render_ical(&plan, id.as_str(), Timestamp::now())?)
}
