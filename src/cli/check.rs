//! `planwright check`: what is wrong with a plan file, and what it resolves to.

use std::path::PathBuf;

use clap::Args;

use super::{Exit, Out, Shared};
use crate::planning::check;
use crate::planning::plan_file::{self, Format};

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plan file (TOML, JSON or a Markdown checklist)
    #[arg(value_name = "PLAN-FILE")]
    file: PathBuf,
}

pub(super) fn check(shared: &Shared, args: &CheckArgs) -> anyhow::Result<Exit> {
    let (name, text) =
        plan_file::read_text(&args.file).map_err(|error| super::run::plan_problem(&error))?;
    let report = check::check(&text, Format::of(&name, &text), &name);
    let mut out = Out::new();
    if shared.json {
        out.line(&serde_json::to_string(&report)?)?;
    } else {
        for line in report.lines(&name) {
            out.line(&line)?;
        }
    }
    Ok(if report.valid { Exit::Success } else { Exit::Failed })
}
