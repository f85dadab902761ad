//! `planwright check`: what is wrong with a plan file, and what it resolves to.

use std::path::PathBuf;

use clap::Args;

use super::{Exit, Out, Shared};
use crate::planning::check;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plan file (TOML, JSON or a Markdown checklist)
    #[arg(value_name = "PLAN-FILE")]
    file: PathBuf,
}

pub(super) fn check(shared: &Shared, args: &CheckArgs) -> anyhow::Result<Exit> {
    let report = check::check_file(&args.file).map_err(|error| super::run::plan_problem(&error))?;
    let mut out = Out::new();
    if shared.json {
        out.line(&serde_json::to_string(&report)?)?;
    } else {
        out.text(&report.to_text())?;
    }
    Ok(if report.valid { Exit::Success } else { Exit::Failed })
}
