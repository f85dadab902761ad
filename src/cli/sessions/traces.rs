//! `planwright sessions traces`, `show --trace`, `show --profile` and `verify`: looking closely at what was kept.

use crate::app::{self, App};
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use planwright_model::event::Record;
use planwright_model::{Seq, SessionId};
use planwright_state::execution_result::ExecutionResult;
use planwright_state::journal_verification::JournalVerification;
use planwright_state::run_profile::{AgentShare, RunProfile, TimeShare};
use planwright_store::exchange::seed_traces::trace_to_json;
use planwright_store::step_search::matches_pattern;
use planwright_store::{CheckDepth, Store};
use planwright_text::{self as text, units};

/// All records of a session.
pub(crate) fn session_records(store: &Store, id: &SessionId) -> anyhow::Result<Vec<Record>> {
    let mut history = app::session_history(store, id)?;
    let mut records = Vec::new();
    while let Some(record) = history.record_at(Seq(records.len() as u64 + 1))? {
        records.push(record);
    }
    Ok(records)
}

pub(super) fn list_traces(
    shared: &SharedArgs,
    session: Option<&str>,
    pattern: Option<&str>,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Ok(CliExit::Success) };
    let ids = match session {
        Some(name) => vec![app::find_session(&store, name)?],
        None => store.list_sessions()?.into_iter().map(|info| info.id).collect(),
    };
    let mut out = StdoutWriter::new();
    for id in ids {
        for trace in ExecutionResult::from_records(&session_records(&store, &id)?).react_traces {
            if pattern.is_some_and(|pattern| !matches_pattern(pattern, trace.task_id.as_str())) {
                continue;
            }
            if shared.json {
                let line = serde_json::json!({
                    "session": id,
                    "trace_id": trace.trace_id,
                    "task_id": trace.task_id,
                    "steps": trace.steps.len(),
                    "success": trace.success,
                    "execution_time_ms": trace.execution_time_ms,
                    "confidence": trace.calculate_confidence(),
                });
                out.write_line(&line.to_string())?;
            } else {
                let word = if trace.success { "ok" } else { "failed" };
                out.write_line(&format!(
                    "{}  {}  {:>4} steps  confidence {:.2}  {word}",
                    id.short_id(),
                    text::clean_line(&trace.trace_id),
                    trace.steps.len(),
                    trace.calculate_confidence()
                ))?;
            }
        }
    }
    Ok(CliExit::Success)
}

/// Prints one trace, or those of its steps that have a label.
pub(super) fn show_trace(
    shared: &SharedArgs,
    session: &str,
    trace_id: &str,
    prdv: Option<&str>,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(session)) };
    let id = app::find_session(&store, session)?;
    let traces = ExecutionResult::from_records(&session_records(&store, &id)?).react_traces;
    let Some(trace) = traces.iter().find(|trace| trace.trace_id == trace_id) else {
        let near = text::nearest_name(trace_id, traces.iter().map(|trace| trace.trace_id.as_str()));
        let problem =
            CliProblem::usage(format!("session {} has no trace `{trace_id}`", id.short_id()));
        return Err(match near {
            Some(near) => problem.with_remedy(format!("did you mean `{near}`?")),
            None => problem.with_remedy("planwright sessions traces lists them"),
        }
        .into());
    };
    let mut trace = trace.clone();
    if let Some(prdv) = prdv {
        trace.steps.retain(|step| step.metadata.prdv.is_some_and(|own| own.as_str() == prdv));
    }
    let value = trace_to_json(&trace);
    StdoutWriter::new().write_line(&if shared.json {
        value.to_string()
    } else {
        serde_json::to_string_pretty(&value)?
    })?;
    Ok(CliExit::Success)
}

pub(super) fn show_profile(shared: &SharedArgs, session: &str) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(session)) };
    let id = app::find_session(&store, session)?;
    let profile = RunProfile::from_records(&session_records(&store, &id)?);
    let mut out = StdoutWriter::new();
    if shared.json {
        out.write_line(&serde_json::to_string(&profile)?)?;
        return Ok(CliExit::Success);
    }
    for (name, ms) in [
        ("at work", profile.run_ms),
        ("in models", profile.model_ms),
        ("in tools", profile.tool_ms),
        ("in the queue", profile.queue_ms),
        ("waiting for you", profile.approval_ms),
        ("on retries", profile.retry_ms),
    ] {
        out.write_line(&format!("{name:<16}  {}", format_elapsed(ms)))?;
    }
    for (title, shares) in [
        ("slowest tasks", &profile.slowest_tasks),
        ("slowest tools", &profile.slowest_tools),
        ("chain that took longest", &profile.critical_path),
    ] {
        out.write_line("")?;
        out.write_line(title)?;
        for TimeShare { name, ms, count } in shares {
            let times = if *count == 1 { String::new() } else { format!("  {count} times") };
            out.write_line(&format!(
                "  {:>8}  {}{times}",
                format_elapsed(*ms),
                text::clean_line(name)
            ))?;
        }
    }
    print_agent_shares(&mut out, &profile.agents)?;
    Ok(CliExit::Success)
}

/// What the tasks of agents waited for, and what the engine itself took.
fn print_agent_shares(out: &mut StdoutWriter, shares: &[AgentShare]) -> anyhow::Result<()> {
    if shares.is_empty() {
        return Ok(());
    }
    out.write_line("")?;
    out.write_line("tasks of agents: all, in models, in tools, waiting for you, engine")?;
    let mut sum = AgentShare::default();
    for share in shares {
        out.write_line(&agent_share_line(share))?;
        sum.ms += share.ms;
        sum.model_ms += share.model_ms;
        sum.tool_ms += share.tool_ms;
        sum.person_ms += share.person_ms;
        sum.engine_ms += share.engine_ms;
    }
    let count = shares.len() as u64;
    let mean = AgentShare {
        task: "mean".to_owned(),
        ms: sum.ms / count,
        model_ms: sum.model_ms / count,
        tool_ms: sum.tool_ms / count,
        person_ms: sum.person_ms / count,
        engine_ms: sum.engine_ms / count,
    };
    out.write_line(&agent_share_line(&mean))?;
    Ok(())
}

fn agent_share_line(share: &AgentShare) -> String {
    let parts = [share.ms, share.model_ms, share.tool_ms, share.person_ms, share.engine_ms];
    let parts = parts.map(|ms| format!("{:>8}", format!("{ms} ms")));
    format!("  {}  {}", parts.join(" "), text::clean_line(&share.task))
}

fn format_elapsed(ms: u64) -> String {
    units::format_elapsed(std::time::Duration::from_millis(ms))
}

/// Checks the rows of a session against their checksums, then what they mean. Rows that cannot be read are a finding.
fn verify_session(store: &Store, id: &SessionId) -> anyhow::Result<JournalVerification> {
    let damages = store.check_session(id)?;
    let mut found = match session_records(store, id) {
        Ok(records) => JournalVerification::verify_records(&records),
        Err(error) => {
            let unreadable = damages.is_empty().then(|| format!("{error:#}"));
            JournalVerification {
                problems: unreadable.into_iter().collect(),
                ..JournalVerification::default()
            }
        }
    };
    found.problems.splice(0..0, damages);
    Ok(found)
}

pub(super) fn verify_sessions(
    shared: &SharedArgs,
    session: Option<&str>,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Ok(CliExit::Success) };
    let mut out = StdoutWriter::new();
    let mut sound = true;
    // The whole store goes first: where the list of sessions is damaged, that is said before it cannot be read.
    if session.is_none() {
        let integrity = store.check_integrity(CheckDepth::Full)?;
        sound &= integrity.problems.is_empty();
        for problem in integrity.problems {
            let line = if shared.json {
                serde_json::json!({ "session": null, "problems": [problem] }).to_string()
            } else {
                format!("store: {}", text::clean_line(&problem))
            };
            out.write_line(&line)?;
        }
    }
    let ids = match session {
        Some(name) => vec![app::find_session(&store, name)?],
        None => store.list_sessions()?.into_iter().map(|info| info.id).collect(),
    };
    for id in ids {
        let found = verify_session(&store, &id)?;
        sound &= found.problems.is_empty();
        if shared.json {
            let mut line = serde_json::to_value(&found)?;
            line["session"] = serde_json::json!(id);
            out.write_line(&line.to_string())?;
            continue;
        }
        if found.problems.is_empty() {
            let (events, traces) = (found.events, found.traces.len());
            out.write_line(&format!(
                "{}  {events} events, {traces} traces, all in order",
                id.short_id()
            ))?;
        }
        for problem in found.problems {
            out.write_line(&format!("{}  {}", id.short_id(), text::clean_line(&problem)))?;
        }
    }
    Ok(if sound { CliExit::Success } else { CliExit::Failed })
}
