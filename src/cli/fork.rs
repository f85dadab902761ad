//! `planwright fork`: a new session that goes on from a moment of another one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::{Exit, Out, Problem, Shared};
use crate::app::{self, App};
use crate::engine::controller::requests;
use crate::event::{ApprovalEvent, Event, FORMAT, Record, SessionEvent};
use crate::model::{Seq, SessionId};
use crate::replay::fork::{ForkPlan, NewPlan};
use crate::state::SessionState;
use crate::store::{Batch, ForkPoint, NewSession, Row, Store};

#[derive(Debug, Args)]
pub struct ForkArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Fork after this event; the last one unless named
    #[arg(long, value_name = "N")]
    at: Option<u64>,
    /// Go on with this plan file instead of the session's plan
    #[arg(long, value_name = "PLAN-FILE")]
    plan: Option<PathBuf>,
    /// Say what would be re-run and reused, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn fork(shared: &Shared, args: &ForkArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let id = app::find(&store, &args.session)?;
    let mut history = app::history(&store, &id)?;
    let head = history.head()?;
    let at = Seq(args.at.unwrap_or(head.0));
    if at == Seq::START || at > head {
        return Err(Problem::usage(format!(
            "session {} has events 1 to {head}, not {at}",
            id.short()
        ))
        .into());
    }
    let new_plan = match &args.plan {
        Some(file) => {
            let ready = super::run::runnable_plan(&app, file, false)?;
            Some(NewPlan {
                plan: ready.plan,
                facts: ready.facts,
                normalization: ready.normalization,
            })
        }
        None => None,
    };
    let state = history.state_at(at)?;
    let imported = state.session.foreign || store.session(&id)?.imported.is_some();
    let plan = ForkPlan::new(&id, &state, imported, new_plan).map_err(|error| {
        Problem::failed(error.to_string()).remedy("choose a later event with --at")
    })?;
    let mut out = Out::new();
    let made = if args.dry_run { None } else { Some(create(&store, &plan, &state)?) };
    if shared.json {
        let mut line = serde_json::to_value(&plan)?;
        line["id"] = serde_json::json!(made);
        out.line(&line.to_string())?;
        return Ok(Exit::Success);
    }
    out.line(&format!("from event {at} of {}: {}", id.short(), plan.words()))?;
    for (word, tasks) in [("re-runs", &plan.reruns), ("reuses", &plan.reuses)] {
        let ids: Vec<String> =
            tasks.iter().map(|task| crate::text::clean_line(task.as_str()).into_owned()).collect();
        if !ids.is_empty() {
            out.line(&format!("  {word:<8} {}", ids.join(", ")))?;
        }
    }
    out.line("  files are as they are now; nothing that was approved there counts here")?;
    out.line(&match made {
        Some(made) => format!("planwright run {} asks for approval and runs it", made.short()),
        None => "nothing was made; leave out --dry-run to make the fork".to_owned(),
    })?;
    Ok(Exit::Success)
}

/// Makes the fork: what it takes over is read from its parent, its own first events say what it does.
pub(crate) fn create(
    store: &Store,
    plan: &ForkPlan,
    state: &SessionState,
) -> anyhow::Result<SessionId> {
    let id = SessionId::from_uuid(uuid::Uuid::now_v7());
    let now = Timestamp::now().max(state.at.unwrap_or_default());
    let mut fold = state.clone();
    let mut rows = Vec::new();
    let mut say = |event: Event, fold: &mut SessionState| -> anyhow::Result<()> {
        let record = Record::new(fold.seq.next(), now, event);
        fold.apply(&record);
        rows.push(Row {
            seq: record.seq,
            at: record.at,
            kind: record.event.kind(),
            task: record.event.task().map(ToString::to_string),
            payload: record.event.encode()?,
        });
        Ok(())
    };
    for event in &plan.events {
        say(event.clone(), &mut fold)?;
    }
    // Tasks run where the person is now, not where the author of an import was, or where nothing is any more.
    if fold.session.foreign || !std::path::Path::new(&fold.session.workspace).is_dir() {
        let workspace = std::env::current_dir()?.to_string_lossy().into_owned();
        say(SessionEvent::WorkspaceMoved { workspace }.into(), &mut fold)?;
    }
    let request = requests::final_plan(fold.requests.next_id(), &plan.revision);
    say(ApprovalEvent::Asked { request: Arc::new(request) }.into(), &mut fold)?;
    let summary = crate::engine::summary(&fold);
    store.create_session(NewSession {
        id: id.clone(),
        created_at: now,
        format: FORMAT,
        parent: Some(ForkPoint { session: plan.parent.clone(), seq: plan.at }),
        summary: summary.clone(),
    })?;
    let journal = store.acquire(&id)?;
    let batch = Batch { summary: Some(summary), ..Batch::of(rows) };
    journal.append_blocking(batch)?.wait()?;
    journal.release()?;
    Ok(id)
}
