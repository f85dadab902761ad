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

const POLICY_HELP: &str = "How to talk to you and when to ask (repeatable): conversation_style, talkativeness, tone, \
    autonomy, approval_policy, probing_depth, brainstorming_preference";

/// Flags that every subcommand understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct SharedArgs {
    /// Directory in which sessions are stored
    #[arg(long, global = true, value_name = "DIR", env = "PLANWRIGHT_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Config file to read
    #[arg(long, global = true, value_name = "FILE", env = "PLANWRIGHT_CONFIG")]
    pub config: Option<PathBuf>,
    /// Model provider: auto, offline, a name, a URL, recorded:FILE
    #[arg(long, global = true, value_name = "NAME", env = "PLANWRIGHT_PROVIDER")]
    pub provider: Option<String>,
    /// Model to use
    #[arg(long, global = true, value_name = "NAME", env = "PLANWRIGHT_MODEL")]
    pub model: Option<String>,
    /// Record model calls to a file; --provider recorded:FILE plays them back
    #[arg(long, global = true, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Theme; `planwright themes` lists them
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Print lines instead of opening a screen
    #[arg(long, global = true)]
    pub headless: bool,
    /// Ask and answer in lines of text, for screen readers and simple terminals
    #[arg(long, global = true, conflicts_with = "headless")]
    pub plain: bool,
    /// Take the defaults of questions and approve plans; grants tools no permission
    #[arg(long, global = true)]
    pub yes: bool,
    /// How to talk to you and when to ask
    #[arg(long, global = true, value_name = "KEY=VALUE", help = POLICY_HELP)]
    pub policy: Vec<String>,
    /// How much planning small goals and tasks get: auto, off (always full), `force_exit` (a single pass), `force_full`
    #[arg(long, global = true, value_name = "WHEN")]
    pub gate: Option<GateArg>,
    /// Override the signals or the decision of --gate, as JSON
    #[arg(long, global = true, value_name = "JSON")]
    pub gate_override: Option<String>,
    /// Started by `--detach`: goes on without a terminal, and waits for answers from elsewhere
    #[arg(long, global = true, hide = true)]
    pub background: bool,
    /// How many tasks run at once, 1 to 64, or auto
    #[arg(long, global = true, value_name = "N|auto")]
    pub jobs: Option<JobLimit>,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub json: bool,
    /// Print without color
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Without a screen, a run prints only failures and what waits for you
    #[arg(short, long, global = true, conflicts_with_all = ["verbose", "progress"])]
    pub quiet: bool,
    /// Without a screen, what a run prints: plain, lines or none
    #[arg(long, global = true, value_name = "HOW")]
    pub progress: Option<ProgressArg>,
    /// Write a log (-vv: more); without a screen, print every step
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}
