//! `planwright config`: every value with where it came from, and trust in the settings of a project.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::{Exit, Out, Problem, Shared};
use crate::app::App;
use crate::config::Row;
use crate::store::SideWrite;
use crate::text::clean_line;

#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    what: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Every setting with its value and origin
    Show,
    /// Where the config file is read from
    Path,
    /// Let the settings of a project count in full, as they are now
    #[command(
        long_about = "Let the settings of a project count in full, as they are now.\n\nA project keeps them in \
        .planwright/config.toml. What makes things stricter (rules that deny, lower limits) counts at once; everything \
        else counts once you trust the file. Any change to it asks for trust again."
    )]
    Trust {
        /// Directory of the project
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
}

pub(super) fn config(shared: &Shared, args: &ConfigArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let mut out = Out::new();
    match args.what.as_ref().unwrap_or(&ConfigCommand::Show) {
        ConfigCommand::Path => out.line(&app.config_path.display().to_string())?,
        ConfigCommand::Show => show(shared, &app, &mut out)?,
        ConfigCommand::Trust { workspace } => trust(&app, workspace.clone(), &mut out)?,
    }
    Ok(Exit::Success)
}

fn show(shared: &Shared, app: &App, out: &mut Out) -> anyhow::Result<()> {
    let app = in_directory(app, None)?;
    let mut rows = app.settings.rows();
    if let Some(standing) = &app.project {
        let left_out = standing.left_out.iter().cloned().map(|row| Row {
            origin: format!("{}, not trusted: left out", crate::config::PROJECT_FILE),
            ..row
        });
        rows.extend(left_out);
    }
    let wide = |measure: fn(&Row) -> usize| rows.iter().map(measure).max().unwrap_or(0);
    let names = wide(|row| row.name.len());
    let values = wide(|row| row.value.to_string().len());
    for row in &rows {
        if shared.json {
            out.line(&serde_json::to_string(row)?)?;
        } else {
            let value = row.value.to_string();
            let line = format!("{:names$}  {value:values$}  {}", row.name, row.origin);
            out.line(&clean_line(&line))?;
        }
    }
    Ok(())
}

/// The settings with those of the project in a directory.
fn in_directory(app: &App, directory: Option<PathBuf>) -> anyhow::Result<App> {
    let here = std::env::current_dir().context("finding the current directory")?;
    let reader = app.read_store()?.map(|store| store.reader()).transpose()?;
    app.in_workspace(&directory.unwrap_or(here), reader.as_ref())
}

/// Only a person may: a command that a tool started is refused.
fn trust(app: &App, directory: Option<PathBuf>, out: &mut Out) -> anyhow::Result<()> {
    if crate::tools::process::inside_a_call() {
        return Err(Problem::failed("a command that a tool started cannot give trust").into());
    }
    let app = in_directory(app, directory)?;
    let Some(standing) = &app.project else {
        return Err(Problem::usage("there are no settings of a project here")
            .remedy(format!("they would stand in {}", crate::config::PROJECT_FILE))
            .into());
    };
    let path = standing.config.path.display().to_string();
    for row in &standing.left_out {
        out.line(&clean_line(&format!("{}  {}", row.name, row.value)))?;
    }
    let (tool, hash) = (standing.config.trust_name(), standing.config.hash.as_str().to_owned());
    app.open_store()?.keep(vec![SideWrite::Pin { tool, hash }])?;
    out.line(&clean_line(&format!("{path} counts in full from now on; a change asks again")))?;
    Ok(())
}
