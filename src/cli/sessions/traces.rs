//! `planwright sessions traces`, `show --trace`, `show --profile` and `verify`: looking closely at what was kept.

use crate::app::{self, App};
use crate::cli::{Exit, Out, Problem, Shared};
use planwright_model::event::Record;
use planwright_model::{Seq, SessionId};
use planwright_state::profile::{AgentShare, Profile, Share};
use planwright_state::result::ExecutionResult;
use planwright_state::verify::Verification;
use planwright_store::exchange::traces::to_json;
use planwright_store::replay_library::fits_pattern;
use planwright_store::{Depth, Store};
use planwright_text::{self as text, units};

/// All records of a session.
pub(crate) fn records(store: &Store, id: &SessionId) -> anyhow::Result<Vec<Record>> {
    let mut history = app::history(store, id)?;
    let mut records = Vec::new();
    while let Some(record) = history.record(Seq(records.len() as u64 + 1))? {
        records.push(record);
    }
    Ok(records)
}

pub(super) fn list(
    shared: &Shared,
    session: Option<&str>,
    pattern: Option<&str>,
) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Ok(Exit::Success) };
    let ids = match session {
        Some(name) => vec![app::find(&store, name)?],
        None => store.list_sessions()?.into_iter().map(|info| info.id).collect(),
    };
    let mut out = Out::new();
    for id in ids {
        for trace in ExecutionResult::of(&records(&store, &id)?).react_traces {
            if pattern.is_some_and(|pattern| !fits_pattern(pattern, trace.task_id.as_str())) {
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
                });
                out.line(&line.to_string())?;
            } else {
                let word = if trace.success { "ok" } else { "failed" };
                out.line(&format!(
                    "{}  {}  {:>4} steps  {word}",
                    id.short(),
                    text::clean_line(&trace.trace_id),
                    trace.steps.len()
                ))?;
            }
        }
    }
    Ok(Exit::Success)
}

/// Prints one trace, or those of its steps that have a label.
pub(super) fn one(
    shared: &Shared,
    session: &str,
    trace_id: &str,
    prdv: Option<&str>,
) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(session)) };
    let id = app::find(&store, session)?;
    let traces = ExecutionResult::of(&records(&store, &id)?).react_traces;
    let Some(trace) = traces.iter().find(|trace| trace.trace_id == trace_id) else {
        let near = text::nearest(trace_id, traces.iter().map(|trace| trace.trace_id.as_str()));
        let problem = Problem::usage(format!("session {} has no trace `{trace_id}`", id.short()));
        return Err(match near {
            Some(near) => problem.remedy(format!("did you mean `{near}`?")),
            None => problem.remedy("planwright sessions traces lists them"),
        }
        .into());
    };
    let mut trace = trace.clone();
    if let Some(prdv) = prdv {
        trace.steps.retain(|step| step.metadata.get("prdv").is_some_and(|own| own == prdv));
    }
    let value = to_json(&trace);
    Out::new().line(&if shared.json {
        value.to_string()
    } else {
        serde_json::to_string_pretty(&value)?
    })?;
    Ok(Exit::Success)
}

pub(super) fn profile(shared: &Shared, session: &str) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(session)) };
    let id = app::find(&store, session)?;
    let profile = Profile::of(&records(&store, &id)?);
    let mut out = Out::new();
    if shared.json {
        out.line(&serde_json::to_string(&profile)?)?;
        return Ok(Exit::Success);
    }
    for (name, ms) in [
        ("at work", profile.run_ms),
        ("in models", profile.model_ms),
        ("in tools", profile.tool_ms),
        ("in the queue", profile.queue_ms),
        ("waiting for you", profile.approval_ms),
        ("on retries", profile.retry_ms),
    ] {
        out.line(&format!("{name:<16}  {}", elapsed(ms)))?;
    }
    for (title, shares) in [
        ("slowest tasks", &profile.slowest_tasks),
        ("slowest tools", &profile.slowest_tools),
        ("chain that took longest", &profile.critical_path),
    ] {
        out.line("")?;
        out.line(title)?;
        for Share { name, ms, count } in shares {
            let times = if *count == 1 { String::new() } else { format!("  {count} times") };
            out.line(&format!("  {:>8}  {}{times}", elapsed(*ms), text::clean_line(name)))?;
        }
    }
    agents(&mut out, &profile.agents)?;
    Ok(Exit::Success)
}

/// What the tasks of agents waited for, and what the engine itself took.
fn agents(out: &mut Out, shares: &[AgentShare]) -> anyhow::Result<()> {
    if shares.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line("tasks of agents: all, in models, in tools, waiting for you, engine")?;
    let mut sum = AgentShare::default();
    for share in shares {
        out.line(&agent_line(share))?;
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
    out.line(&agent_line(&mean))?;
    Ok(())
}

fn agent_line(share: &AgentShare) -> String {
    let parts = [share.ms, share.model_ms, share.tool_ms, share.person_ms, share.engine_ms];
    let parts = parts.map(|ms| format!("{:>8}", format!("{ms} ms")));
    format!("  {}  {}", parts.join(" "), text::clean_line(&share.task))
}

fn elapsed(ms: u64) -> String {
    units::elapsed(std::time::Duration::from_millis(ms))
}

/// Checks the rows of a session against their checksums, then what they mean. Rows that cannot be read are a finding.
fn verify_session(store: &Store, id: &SessionId) -> anyhow::Result<Verification> {
    let damages = store.damages(id)?;
    let mut found = match records(store, id) {
        Ok(records) => Verification::of(&records),
        Err(error) => {
            let unreadable = damages.is_empty().then(|| format!("{error:#}"));
            Verification { problems: unreadable.into_iter().collect(), ..Verification::default() }
        }
    };
    found.problems.splice(0..0, damages);
    Ok(found)
}

pub(super) fn verify(shared: &Shared, session: Option<&str>) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Ok(Exit::Success) };
    let mut out = Out::new();
    let mut sound = true;
    // The whole store goes first: where the list of sessions is damaged, that is said before it cannot be read.
    if session.is_none() {
        let integrity = store.integrity(Depth::Full)?;
        sound &= integrity.problems.is_empty();
        for problem in integrity.problems {
            let line = if shared.json {
                serde_json::json!({ "session": null, "problems": [problem] }).to_string()
            } else {
                format!("store: {}", text::clean_line(&problem))
            };
            out.line(&line)?;
        }
    }
    let ids = match session {
        Some(name) => vec![app::find(&store, name)?],
        None => store.list_sessions()?.into_iter().map(|info| info.id).collect(),
    };
    for id in ids {
        let found = verify_session(&store, &id)?;
        sound &= found.problems.is_empty();
        if shared.json {
            let mut line = serde_json::to_value(&found)?;
            line["session"] = serde_json::json!(id);
            out.line(&line.to_string())?;
            continue;
        }
        if found.problems.is_empty() {
            let (events, traces) = (found.events, found.traces.len());
            out.line(&format!("{}  {events} events, {traces} traces, all in order", id.short()))?;
        }
        for problem in found.problems {
            out.line(&format!("{}  {}", id.short(), text::clean_line(&problem)))?;
        }
    }
    Ok(if sound { Exit::Success } else { Exit::Failed })
}
