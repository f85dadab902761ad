//! `planwright hook`: the approval desk for agents that have hooks, and the entry in their settings.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};

use super::guard::{refuse_model, require_person};
use super::plan::write_atomically;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter, eprint_line};
use crate::app::App;
use planwright_desk::hook::{
    HookCommand, HookDecision, HookGate, HookInput, HookOutcome, HookedAgent, SettingsChange,
    installed_settings, removed_settings,
};
use planwright_files::{self as files, FileLimit};

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    action: HookAction,
}

#[derive(Debug, Subcommand)]
enum HookAction {
    /// Decide what Claude Code asks: its hook runs this, with JSON on standard input
    Claude,
    /// Decide what Codex asks: its hook runs this, with JSON on standard input
    Codex,
    /// Decide what Gemini CLI asks: its hook runs this, with JSON on standard input
    Gemini,
    /// Add the hook to an agent's settings, after showing the change
    Install {
        #[command(flatten)]
        place: SettingsPlace,
        /// Ask in Planwright about plans only, or about permissions only
        #[arg(long, value_name = "WHAT")]
        only: Option<HookGateArg>,
    },
    /// Remove the hook from an agent's settings, after showing the change
    Uninstall {
        #[command(flatten)]
        place: SettingsPlace,
    },
}

#[derive(Debug, Args)]
struct SettingsPlace {
    /// The agent
    agent: HookedAgentArg,
    /// Change the settings of the project in the current directory instead of yours
    #[arg(long)]
    project: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HookedAgentArg {
    Claude,
    Codex,
    Gemini,
}

impl From<HookedAgentArg> for HookedAgent {
    fn from(agent: HookedAgentArg) -> Self {
        match agent {
            HookedAgentArg::Claude => Self::Claude,
            HookedAgentArg::Codex => Self::Codex,
            HookedAgentArg::Gemini => Self::Gemini,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HookGateArg {
    Plans,
    Permissions,
}

impl HookGateArg {
    fn gate(self) -> HookGate {
        match self {
            Self::Plans => HookGate::Plans,
            Self::Permissions => HookGate::Permissions,
        }
    }
}

pub(super) fn execute_hook(shared: &SharedArgs, args: &HookArgs) -> anyhow::Result<CliExit> {
    match &args.action {
        HookAction::Claude => answer_hook(shared, HookedAgent::Claude),
        HookAction::Codex => answer_hook(shared, HookedAgent::Codex),
        HookAction::Gemini => answer_hook(shared, HookedAgent::Gemini),
        HookAction::Install { place, only } => install_hook(shared, place, *only),
        HookAction::Uninstall { place } => uninstall_hook(shared, place),
    }
}

/// Waits for the person and prints the decision. The agent reads standard output, the person's words about trouble go to
/// standard error.
fn answer_hook(shared: &SharedArgs, agent: HookedAgent) -> anyhow::Result<CliExit> {
    if std::io::stdin().is_terminal() {
        let what = format!("{} runs this command, with JSON on standard input", agent.product());
        let remedy = format!("set it up with: planwright hook install {}", agent.name());
        return Err(CliProblem::usage(what).with_remedy(remedy).into());
    }
    let input = HookInput::read(std::io::stdin().lock())
        .map_err(|error| CliProblem::usage(error.to_string()))?;
    let app = App::settings_only(shared)?;
    if let Some(agents) = app.desk_agents()
        && let Err(error) = agents.record_parents()
    {
        tracing::warn!(%error, "the process of the agent can't be recorded");
    }
    let desk = app.ticket_desk();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let HookOutcome { decision, trouble } = runtime.block_on(desk.decide_hook(agent, &input));
    desk.close();
    if let Some(trouble) = trouble {
        eprint_line(&format!("planwright: {trouble}"));
        if decision == HookDecision::Undecided {
            eprint_line(&format!("{} asks you itself", agent.product()));
        }
    }
    StdoutWriter::new().write_line(&decision.to_json(agent, &input).to_string())?;
    Ok(CliExit::Success)
}

fn install_hook(
    shared: &SharedArgs,
    place: &SettingsPlace,
    only: Option<HookGateArg>,
) -> anyhow::Result<CliExit> {
    let agent = HookedAgent::from(place.agent);
    let gates: Vec<HookGate> = match only {
        None => agent.gates().to_vec(),
        Some(only) => agent.gates().iter().copied().filter(|gate| *gate == only.gate()).collect(),
    };
    if gates.is_empty() {
        let (what, remedy) = match agent {
            HookedAgent::Codex => (
                "Codex has no hook for plans",
                "let it submit plans with: codex mcp add planwright -- planwright mcp",
            ),
            _ => ("Gemini CLI has no hook for permissions", "leave out --only"),
        };
        return Err(CliProblem::usage(what).with_remedy(remedy).into());
    }
    let command = hook_command(shared, agent)?;
    let (file, text) = read_settings(place)?;
    let change = installed_settings(agent, &text, &gates, &command)
        .map_err(|error| settings_problem(&file, &error.to_string()))?;
    if change.is_empty() {
        return say(&format!("{} has the hook already", file.display()));
    }
    if !change_settings(shared, &file, &change)? {
        return Ok(CliExit::NeedsPerson);
    }
    say(&format!("{} asks here from its next start on", agent.product()))
}

fn uninstall_hook(shared: &SharedArgs, place: &SettingsPlace) -> anyhow::Result<CliExit> {
    let agent = HookedAgent::from(place.agent);
    let (file, text) = read_settings(place)?;
    let change = removed_settings(agent, &text)
        .map_err(|error| settings_problem(&file, &error.to_string()))?;
    if change.is_empty() {
        return say(&format!("{} has no hook of Planwright's", file.display()));
    }
    if !change_settings(shared, &file, &change)? {
        return Ok(CliExit::NeedsPerson);
    }
    say(&format!("{} asks by itself again", agent.product()))
}

fn say(words: &str) -> anyhow::Result<CliExit> {
    StdoutWriter::new().write_line(words)?;
    Ok(CliExit::Success)
}

fn settings_problem(file: &std::path::Path, why: &str) -> CliProblem {
    CliProblem::usage(format!("{} is left as it is: {why}", file.display()))
        .with_remedy("correct the file, or add the hook by hand; see docs/desk.md")
}

/// The settings file and its text; empty if it is not there yet.
fn read_settings(place: &SettingsPlace) -> anyhow::Result<(PathBuf, String)> {
    let agent = HookedAgent::from(place.agent);
    let file = if place.project {
        let here = std::env::current_dir().context("finding the current directory")?;
        agent.project_settings_file(&here)
    } else {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| CliProblem::usage("there is no home directory"))?;
        agent.settings_file(&home, |name| std::env::var_os(name).map(PathBuf::from))
    };
    match files::read_text(&file, FileLimit::EDITED) {
        Ok(text) => Ok((file, text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((file, String::new())),
        Err(error) => Err(error).with_context(|| format!("reading {}", file.display())),
    }
}

/// Shows a change, asks, and writes it. False if the person does not want it or can't be asked.
fn change_settings(
    shared: &SharedArgs,
    file: &std::path::Path,
    change: &SettingsChange,
) -> anyhow::Result<bool> {
    require_person("change an agent's settings")?;
    refuse_model("change an agent's settings")?;
    let mut out = StdoutWriter::new();
    for line in change.diff(&file.display().to_string()).lines() {
        out.write_line(line)?;
    }
    if !shared.yes && !asked_yes("Write this? [y/N] ")? {
        eprint_line("nothing is changed; add --yes to write it without asking");
        return Ok(false);
    }
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("making {}", directory.display()))?;
    }
    // A link, as people have it who keep their settings in a repository, stays one.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    write_atomically(&target, &change.after)?;
    Ok(true)
}

fn asked_yes(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    let mut err = std::io::stderr().lock();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// The command for the agent's settings: this very program, with the store that it uses now.
fn hook_command(shared: &SharedArgs, agent: HookedAgent) -> anyhow::Result<HookCommand> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut words =
        vec![program.to_string_lossy().into_owned(), "hook".into(), agent.name().into()];
    for (flag, path) in [("--data-dir", &shared.data_dir), ("--config", &shared.config)] {
        if let Some(path) = path {
            let path = std::path::absolute(path)?;
            words.extend([flag.to_owned(), path.to_string_lossy().into_owned()]);
        }
    }
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    Ok(HookCommand { line: words.join(" ") })
}

/// A word as a shell reads it: in quotes where it needs them.
fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
