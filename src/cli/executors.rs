//! `planwright executors`: other places where commands of plans run, and whether they can be reached.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use super::guard::refuse_model;
use super::session::block_on;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use planwright_text::{clean_line, nearest_name};
use planwright_tools::executor::{CommandLauncher, ExecutorProbe, probe_launcher};

#[derive(Debug, Args)]
pub(crate) struct ExecutorsArgs {
    #[command(subcommand)]
    what: Option<ExecutorsCommand>,
}

#[derive(Debug, Subcommand)]
enum ExecutorsCommand {
    /// List the executors that are set up, and how they start a command
    List,
    /// Run a harmless command there; print the time it took, the host and the user
    Probe {
        /// Its name [default: all of them]
        name: Option<String>,
        /// How long to wait for each, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
        timeout: u64,
    },
}

pub(super) fn execute_executors(
    shared: &SharedArgs,
    args: &ExecutorsArgs,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    match args.what.as_ref().unwrap_or(&ExecutorsCommand::List) {
        ExecutorsCommand::List => list_executors(shared, &app),
        ExecutorsCommand::Probe { name, timeout } => {
            refuse_model("start a command on another machine")?;
            block_on(probe_executors(shared, &app, name.as_deref(), Duration::from_secs(*timeout)))
        }
    }
}

fn list_executors(shared: &SharedArgs, app: &App) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    let executors = &app.settings.executors;
    if shared.json {
        for (name, launch) in executors {
            out.write_line(&json!({ "name": name, "launch": launch }).to_string())?;
        }
        return Ok(CliExit::Success);
    }
    if executors.is_empty() {
        out.write_line("No executor is set up: all commands run on this machine.")?;
        out.write_line("Add one to the config, such as:")?;
        out.write_line("  [executors.build]")?;
        out.write_line("  launch = [\"ssh\", \"build.example.org\", \"{command}\"]")?;
        return Ok(CliExit::Success);
    }
    let width = executors.keys().map(String::len).max().unwrap_or(0);
    for (name, launch) in executors {
        out.write_line(&clean_line(&format!("{name:width$}  {}", launch.join(" "))))?;
    }
    Ok(CliExit::Success)
}

async fn probe_executors(
    shared: &SharedArgs,
    app: &App,
    name: Option<&str>,
    limit: Duration,
) -> anyhow::Result<CliExit> {
    let launchers = crate::config::executors::command_launchers(&app.settings);
    if launchers.is_empty() && name.is_none() {
        return list_executors(shared, app);
    }
    let chosen: Vec<(&String, &CommandLauncher)> = match name {
        None => launchers.iter().collect(),
        Some(name) => {
            let found = launchers.get_key_value(name);
            let missing = || missing_executor(name, launchers.keys().map(String::as_str));
            vec![found.ok_or_else(missing)?]
        }
    };
    let mut out = StdoutWriter::new();
    let mut exit = CliExit::Success;
    for (name, launcher) in chosen {
        let directory = std::env::current_dir()?;
        let without = app.key_variables();
        let probe = probe_launcher(launcher, directory, without, limit, app.redactor()).await;
        if probe.reached.is_err() {
            exit = CliExit::Failed;
        }
        let line = if shared.json {
            probe_json(name, &probe).to_string()
        } else {
            clean_line(&probe_line(name, &probe)).into_owned()
        };
        out.write_line(&line)?;
    }
    Ok(exit)
}

fn probe_line(name: &str, probe: &ExecutorProbe) -> String {
    let took = format!("{:.2} s", probe.elapsed.as_secs_f64());
    match &probe.reached {
        Ok((host, user)) => format!("{name}: a command ran in {took} on {host} as {user}"),
        Err(why) => format!("{name}: {why} ({took})"),
    }
}

fn probe_json(name: &str, probe: &ExecutorProbe) -> serde_json::Value {
    let (host, user, problem) = match &probe.reached {
        Ok((host, user)) => (Some(host), Some(user), None),
        Err(why) => (None, None, Some(why)),
    };
    let seconds = probe.elapsed.as_secs_f64();
    json!({ "name": name, "seconds": seconds, "host": host, "user": user, "problem": problem })
}

fn missing_executor<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> CliProblem {
    let remedy = match nearest_name(name, names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!(
            "add [executors.{name}] with `launch` to the config; planwright executors list lists those that are set up"
        ),
    };
    CliProblem::usage(format!("there is no executor `{name}`")).with_remedy(remedy)
}
