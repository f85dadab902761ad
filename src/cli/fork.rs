//! `planwright fork`: a new session that goes on from a moment of another one.

use std::path::PathBuf;

use clap::Args;

use super::guard::refuse_model;
use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::{self, App, forks};
use planwright_model::{Seq, SessionId, TaskId};
use planwright_state::replay::fork::{ForkPlan, ReplacementPlan};
use planwright_text as text;

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    /// Fork after this event [default: the last one]
    #[arg(long, value_name = "N")]
    at: Option<u64>,
    /// Continue with this plan file instead of the session's plan
    #[arg(long, value_name = "PLAN-FILE")]
    plan: Option<PathBuf>,
    /// Show what would run again and what would be reused; change nothing
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
    } else {
        fork_lines(&id, plan).iter().try_for_each(|line| out.write_line(line))?;
    }
    let Some(made) = made else {
        if !shared.json {
            out.write_line("Nothing was made. Leave out --dry-run to make the fork.")?;
        }
        return Ok(CliExit::Success);
    };
    // Whoever approves the fork with its making wants it to run.
    if shared.yes {
        drop(store);
        super::session::require_screen(shared)?;
        return super::run::open_saved_session(shared, &app, made.as_str());
    }
    if !shared.json {
        let id = made.short_id();
        out.write_line(&format!("Next: planwright run {id} (asks for approval, then runs)"))?;
    }
    Ok(CliExit::Success)
}

/// What the fork reruns and reuses, task by task.
fn fork_lines(id: &SessionId, plan: &ForkPlan) -> Vec<String> {
    let title = |task: &TaskId| {
        let node = plan.revision.plan.tasks.iter().find(|node| node.id == *task);
        text::clean_line(node.map_or(task.as_str(), |node| &node.description)).into_owned()
    };
    let mut lines = vec![format!(
        "Fork of {} at event {}: {}",
        id.short_id(),
        plan.at,
        plan.summary_sentence()
    )];
    for (word, tasks) in [("reruns", &plan.reruns), ("reuses", &plan.reuses)] {
        let titles: Vec<String> = tasks.iter().map(title).collect();
        if !titles.is_empty() {
            lines.push(format!("  {word:<7} {}", titles.join(", ")));
        }
    }
    for (task, path) in &plan.stale {
        let path = text::clean_line(path);
        lines.push(format!("  {} runs again because {path} has changed since", title(task)));
    }
    lines.push("  Files stay as they are now. Approvals are not taken over.".to_owned());
    lines
}
