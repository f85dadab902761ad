//! `planwright config`: every value with where it came from, a file to begin with, and trust in that of a project.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use super::guard::{refuse_model, require_person};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::config;
use planwright_store::SideWrite;
use planwright_text::clean_line;
use planwright_tui as tui;

/// Every setting but the keys, commented, with its built-in value.
const TEMPLATE: &str = include_str!("../../assets/config.toml");

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    what: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show every setting with its value and origin
    Show,
    /// Print where the config file is
    Path,
    /// Write a config file that explains every setting
    Init {
        /// Print it instead of writing it
        #[arg(long)]
        print: bool,
        /// Replace the file that is there; the old one is kept beside it as config.toml.old
        #[arg(long)]
        force: bool,
    },
    /// Change a setting; everything else in the config file stays as it is
    #[command(
        long_about = "Change a setting; everything else in the config file stays as it is.\n\nplanwright config \
        set me.hours \"evenings and Saturdays\" states when you have time for your own plans. Without a value the setting \
        is removed from the file."
    )]
    Set {
        /// Its name, such as me.hours, `me.days_off`, theme or jobs
        #[arg(value_name = "NAME")]
        name: String,
        /// Its value; leave it out to remove the setting from the file
        #[arg(value_name = "VALUE")]
        value: Option<String>,
    },
    /// Trust a project's settings as they are now
    #[command(
        long_about = "Trust a project's settings as they are now.\n\nA project keeps them in .planwright/config.toml. What \
        makes things stricter (rules that deny, lower limits) applies at once; everything else applies once you trust \
        the file. After any change it must be trusted again."
    )]
    Trust {
        /// Directory of the project
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
}

pub(super) fn execute_config(shared: &SharedArgs, args: &ConfigArgs) -> anyhow::Result<CliExit> {
    match args.what.as_ref().unwrap_or(&ConfigCommand::Show) {
        ConfigCommand::Path => {
            let path = config_path(shared)?;
            StdoutWriter::new().write_line(&path.display().to_string())?;
        }
        ConfigCommand::Init { print: true, .. } => {
            StdoutWriter::new().write_text(&config_template())?;
        }
        ConfigCommand::Init { force, .. } => init_config(shared, *force)?,
        ConfigCommand::Show => show_settings(shared)?,
        ConfigCommand::Set { name, value } => set_value(shared, name, value.as_deref())?,
        ConfigCommand::Trust { workspace } => trust_project(shared, workspace.as_deref())?,
    }
    Ok(CliExit::Success)
}

/// Where the file is or would be; it need not be readable to be named.
fn config_path(shared: &SharedArgs) -> anyhow::Result<std::path::PathBuf> {
    shared.config.clone().or_else(config::config_file).ok_or_else(|| {
        CliProblem::usage("there is no home directory to keep settings in")
            .with_remedy("name a file with --config")
            .into()
    })
}

fn show_settings(shared: &SharedArgs) -> anyhow::Result<()> {
    let app = load_app_in(shared, None)?;
    let mut out = StdoutWriter::new();
    let mut rows = app.settings.rows();
    if let Some(standing) = &app.project {
        let origin = format!("{}, not trusted: left out", config::PROJECT_FILE);
        let left_out = standing.left_out.iter().cloned();
        rows.extend(left_out.map(|row| config::SettingRow { origin: origin.clone(), ..row }));
    }
    if shared.json {
        for row in &rows {
            out.write_line(&serde_json::to_string(row)?)?;
        }
        return Ok(());
    }
    // One long value must not push all origins off the screen.
    let wide = |measure: fn(&config::SettingRow) -> usize, most: usize| {
        rows.iter().map(measure).max().unwrap_or(0).min(most)
    };
    let names = wide(|row| row.name.len(), 32);
    let values = wide(|row| format_value(&row.value).len(), 28);
    for row in &rows {
        let value = format_value(&row.value);
        let line = format!("{:names$}  {value:values$}  {}", row.name, row.origin);
        out.write_line(&planwright_text::clean_line(&line))?;
    }
    for old in &app.settings.models.replaced {
        out.write_line(&old.describe())?;
    }
    if !app.config_path.exists() {
        out.write_line(&format!(
            "there is no config file; planwright config init writes {}",
            app.config_path.display()
        ))?;
    }
    Ok(())
}

/// Writes one setting, or takes it out.
fn set_value(shared: &SharedArgs, name: &str, value: Option<&str>) -> anyhow::Result<()> {
    refuse_model("change your config")?;
    let path = config_path(shared)?;
    let value = value.map(str::trim).filter(|value| !value.is_empty());
    if let ("theme", Some(theme)) = (name, value) {
        require_theme(shared, theme)?;
    }
    let before = config::change_setting(&path, name, value).map_err(|error| {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        CliProblem::usage(clean_line(&causes.join(": ")).into_owned())
            .with_remedy("planwright config show lists every setting")
    })?;
    let was = before.map(|before| format!(", was {before}")).unwrap_or_default();
    let now = value.unwrap_or("not set");
    StdoutWriter::new().write_line(&clean_line(&format!("{name}: {now}{was}")))?;
    Ok(())
}

/// A theme that is not there would show only when the next screen opens.
fn require_theme(shared: &SharedArgs, theme: &str) -> anyhow::Result<()> {
    let names = App::settings_only(shared)?.theme_names();
    if names.iter().any(|name| name == theme) {
        return Ok(());
    }
    let remedy = format!(
        "there are {}; your own are files in themes/ beside the config file",
        names.join(", ")
    );
    Err(CliProblem::usage(format!("there is no theme `{}`", clean_line(theme)))
        .with_remedy(remedy)
        .into())
}

/// The settings with those of the project in a directory.
fn load_app_in(shared: &SharedArgs, directory: Option<&Path>) -> anyhow::Result<App> {
    let app = App::settings_only(shared)?;
    let here = std::env::current_dir().context("finding the current directory")?;
    app.in_workspace(directory.unwrap_or(&here), app.read_store()?.as_ref())
}

/// Only a person may: a command that a tool started is refused.
fn trust_project(shared: &SharedArgs, directory: Option<&Path>) -> anyhow::Result<()> {
    require_person("trust the settings of a project")?;
    let app = load_app_in(shared, directory)?;
    let Some(standing) = &app.project else {
        return Err(CliProblem::usage("there are no project settings here")
            .with_remedy(format!("they go in {}", config::PROJECT_FILE))
            .into());
    };
    let mut out = StdoutWriter::new();
    for row in &standing.left_out {
        out.write_line(&clean_line(&format!("{}  {}", row.name, format_value(&row.value))))?;
    }
    let (tool, hash) = (standing.config.trust_name(), standing.config.hash.as_str().to_owned());
    app.open_store()?.write_side_data(vec![SideWrite::Pin { tool, hash, definition: None }])?;
    let path = standing.config.path.display();
    out.write_line(&clean_line(&format!(
        "{path} is trusted; after a change it must be trusted again"
    )))?;
    Ok(())
}

/// A value for people: what is not set says so.
fn format_value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "not set".to_owned(),
        serde_json::Value::Object(fields) => {
            let set: Vec<String> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            if set.is_empty() { "as built in".to_owned() } else { set.join(", ") }
        }
        other => other.to_string(),
    }
}

fn init_config(shared: &SharedArgs, force: bool) -> anyhow::Result<()> {
    refuse_model("write your config")?;
    let path = config_path(shared)?;
    let there = planwright_files::read_text(&path, planwright_files::FileLimit::CONFIG);
    if there.as_ref().is_ok_and(|text| !text.trim().is_empty()) {
        if !force {
            return Err(CliProblem::usage(format!("there is a config file already: {}", path.display()))
                .with_remedy("edit it, look at the whole of it with config init --print, or replace it with --force")
                .into());
        }
        let old = path.with_extension("toml.old");
        std::fs::rename(&path, &old).with_context(|| format!("keeping {}", old.display()))?;
    }
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    }
    std::fs::write(&path, config_template())
        .with_context(|| format!("writing {}", path.display()))?;
    StdoutWriter::new().write_line(&format!(
        "wrote {}; every setting is in it, with its default",
        path.display()
    ))?;
    Ok(())
}

/// The whole file: the settings, then every action with its keys.
fn config_template() -> String {
    let mut text = TEMPLATE.to_owned();
    text.push_str("\n[keys]                          # action = \"key\", or several with spaces between them\n");
    for (name, keys, words) in tui::default_keys() {
        let line = match keys.as_str() {
            "" => format!("#{name} ="),
            keys => format!("#{name} = \"{keys}\""),
        };
        let _ = writeln!(text, "{line:<31} # {words}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, known_names};
    use planwright_llm::model_capability_cache::MemoryCapabilityCache;
    use planwright_llm::provider::ModelFactory;
    use planwright_tools::ToolSettings;

    /// The file with every setting in force, those left out that have no value of their own.
    fn in_force() -> String {
        let setting = |line: &str| {
            let rest = line.strip_prefix('#')?;
            let (name, value) = rest.split_once(" =")?;
            let name_fits = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let unset = value.trim_start().starts_with('#');
            (name_fits && !name.is_empty() && !unset).then(|| rest.to_owned())
        };
        let lines: Vec<String> = config_template()
            .lines()
            .map(|line| setting(line).unwrap_or_else(|| line.to_owned()))
            .collect();
        lines.join("\n")
    }

    fn values(settings: &Settings) -> Vec<(String, serde_json::Value)> {
        let rows = settings.rows().into_iter();
        rows.filter(|row| !row.name.starts_with("keys.") && !row.name.starts_with("tools."))
            .filter(|row| row.name != "limits")
            .map(|row| (row.name, row.value))
            .collect()
    }

    #[test]
    fn the_file_that_is_written_changes_nothing_and_all_its_values_are_the_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = dir.path().join("config.toml");
            std::fs::write(&path, text).unwrap();
            Settings::load(&path, true).unwrap()
        };
        let as_written = read(&config_template());
        assert_eq!(as_written, Settings::default(), "values and origins");
        let filled = read(&in_force());
        assert_eq!(values(&filled), values(&Settings::default()));
        let cache = || std::sync::Arc::new(MemoryCapabilityCache::default());
        let models = |settings: &Settings| ModelFactory::new(settings.models.clone(), cache());
        assert_eq!(models(&filled).limits(), models(&Settings::default()).limits());
        assert_eq!(ToolSettings::from(&filled.tools), ToolSettings::default());
        let keys = filled.keys.into_iter().map(|(name, key)| (name, key.value)).collect();
        tui::check_keys(&tui::KeyOverrides(keys)).unwrap();
    }

    #[test]
    fn every_setting_there_is_stands_in_the_file() {
        let text = config_template();
        let words: std::collections::BTreeSet<&str> =
            text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
        for name in known_names() {
            assert!(words.contains(name), "`{name}` is missing in assets/config.toml");
        }
        for (name, ..) in tui::default_keys() {
            assert!(words.contains(name), "the key of `{name}` is missing");
        }
    }
}
