//! `planwright fork`: a new session that goes on from a moment of another one.

use std::path::PathBuf;

use clap::Args;

use super::guard::refuse_model;
use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::{self, App, forks};
use planwright_model::Seq;
use planwright_state::replay::fork::ReplacementPlan;
use planwright_text as text;

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
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

pub(super) fn execute_fork(shared: &SharedArgs, args: &ForkArgs) -> anyhow::Result<CliExit> {
    refuse_model("fork a session")?;
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let id = app::find_session(&store, &args.session)?;
    let new_plan = match &args.plan {
        Some(file) => {
            let ready = super::run::runnable_plan(&app, file, false)?;
            Some(ReplacementPlan {
                plan: ready.plan,
                facts: ready.facts,
                normalization: ready.normalization,
            })
        }
        None => None,
    };
    let fork = forks::plan_fork(&store, &id, args.at.map(Seq), new_plan)?;
    let plan = &fork.plan;
    let mut out = StdoutWriter::new();
    let made = if args.dry_run { None } else { Some(forks::create_fork(&store, &fork)?) };
    if shared.json {
        let mut line = serde_json::to_value(plan)?;
        line["id"] = serde_json::json!(made);
        out.write_line(&line.to_string())?;
        return Ok(CliExit::Success);
    }
    out.write_line(&format!(
        "from event {} of {}: {}",
        plan.at,
        id.short_id(),
        plan.summary_sentence()
    ))?;
    for (word, tasks) in [("re-runs", &plan.reruns), ("reuses", &plan.reuses)] {
        let ids: Vec<String> =
            tasks.iter().map(|task| text::clean_line(task.as_str()).into_owned()).collect();
        if !ids.is_empty() {
            out.write_line(&format!("  {word:<8} {}", ids.join(", ")))?;
        }
    }
    for (task, path) in &plan.stale {
        let (task, path) = (text::clean_line(task.as_str()), text::clean_line(path));
        out.write_line(&format!("  {task} runs again because {path} is not what it wrote"))?;
    }
    out.write_line("  files are as they are now; nothing that was approved there counts here")?;
    out.write_line(&match made {
        Some(made) => format!("planwright run {} asks for approval and runs it", made.short_id()),
        None => "nothing was made; leave out --dry-run to make the fork".to_owned(),
    })?;
    Ok(CliExit::Success)
}
