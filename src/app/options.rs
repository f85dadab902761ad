//! The flags that every command understands. The program is put together by them, so they live beside it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::gate_options::GateArg;
use crate::config::JobLimit;

/// What a run without a screen prints before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    /// A line for each task that ended, without a bar
    Plain,
    /// Every step
    Lines,
    /// Nothing
    None,
}

/// Flags that every subcommand understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct SharedArgs {
    /// Directory of the store
    #[arg(long, global = true, value_name = "DIR", env = "PLANWRIGHT_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Config file
    #[arg(long, global = true, value_name = "FILE", env = "PLANWRIGHT_CONFIG")]
    pub config: Option<PathBuf>,
    /// Provider of the model: auto, offline, a name, a URL, or recorded:FILE
    #[arg(long, global = true, value_name = "NAME", env = "PLANWRIGHT_PROVIDER")]
    pub provider: Option<String>,
    /// Model to use
    #[arg(long, global = true, value_name = "NAME", env = "PLANWRIGHT_MODEL")]
    pub model: Option<String>,
    /// Write every exchange with models to a file that `--provider recorded:FILE` plays back
    #[arg(long, global = true, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Theme by name (see `planwright themes`)
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// No screen: print progress lines instead
    #[arg(long, global = true)]
    pub headless: bool,
    /// Lines of text and a prompt instead of a screen, for screen readers and simple terminals
    #[arg(long, global = true, conflicts_with = "headless")]
    pub plain: bool,
    /// Approve plan requests; never raises a tool's permission
    #[arg(long, global = true)]
    pub yes: bool,
    /// How you want to be talked to and asked, such as tone=neutral (repeatable)
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub policy: Vec<String>,
    /// Whether a small goal or task skips ceremony; the config says so unless this does
    #[arg(long, global = true, value_name = "WHEN")]
    pub gate: Option<GateArg>,
    /// Pin the gate's signals or its decision, as JSON
    #[arg(long, global = true, value_name = "JSON")]
    pub gate_override: Option<String>,
    /// Started by `--detach`: goes on without a terminal, and waits for answers from elsewhere
    #[arg(long, global = true, hide = true)]
    pub background: bool,
    /// How many tasks may run at once, 1 to 64, or `auto`
    #[arg(long, global = true, value_name = "N|auto")]
    pub jobs: Option<JobLimit>,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub json: bool,
    /// No colour
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Without a screen, print nothing unless something fails or waits for you
    #[arg(short, long, global = true, conflicts_with_all = ["verbose", "progress"])]
    pub quiet: bool,
    /// Without a screen, what is printed while it runs
    #[arg(long, global = true, value_name = "HOW")]
    pub progress: Option<ProgressArg>,
    /// Log to a file (-v info, -vv debug); without a screen, also print every step and not only how tasks ended
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}
