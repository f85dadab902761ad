//! `planwright config`: every value with where it came from.

use clap::{Args, Subcommand};

use super::{Exit, Out, Shared};
use crate::app::App;

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
}

pub(super) fn config(shared: &Shared, args: &ConfigArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let mut out = Out::new();
    match args.what.as_ref().unwrap_or(&ConfigCommand::Show) {
        ConfigCommand::Path => out.line(&app.config_path.display().to_string())?,
        ConfigCommand::Show => {
            let rows = app.settings.rows();
            let wide = |measure: fn(&crate::config::Row) -> usize| {
                rows.iter().map(measure).max().unwrap_or(0)
            };
            let names = wide(|row| row.name.len());
            let values = wide(|row| row.value.to_string().len());
            for row in &rows {
                if shared.json {
                    out.line(&serde_json::to_string(row)?)?;
                } else {
                    out.line(&format!(
                        "{:names$}  {:values$}  {}",
                        row.name,
                        row.value.to_string(),
                        row.origin
                    ))?;
                }
            }
        }
    }
    Ok(Exit::Success)
}
