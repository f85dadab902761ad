//! `planwright agents`: which agents of others are here, whether they can be used, and turning them on.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::json;

use super::guard::refuse_model;
use super::session::block_on;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::app::own_agents::{AgentTest, ListedAgent, tested_command};
use crate::config::{turn_agent_off, turn_agent_on};
use planwright_agents::{OwnAgent, probe_agent, probe_prompt};
use planwright_model::AskingHabit;
use planwright_tools::sandbox::{PrivateDirectory, Sandbox};

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    what: Option<AgentsCommand>,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List the agents that are set up or installed, and what is known about them
    List,
    /// Test an agent in an empty directory: whether it answers, is signed in, asks before a command
    Probe {
        /// Its name, such as claude
        name: String,
        /// What to ask it in place of the usual request to run `touch`
        #[arg(long, value_name = "TEXT")]
        prompt: Option<String>,
    },
    /// Let plans give tasks to an agent
    On {
        /// Its name, such as claude
        name: String,
        /// Give it the tasks that change code and name nobody
        #[arg(long)]
        default: bool,
    },
    /// Stop giving tasks to an agent
    Off {
        /// Its name, such as claude
        name: String,
    },
}

pub(super) fn execute_agents(shared: &SharedArgs, args: &AgentsArgs) -> anyhow::Result<CliExit> {
    planwright_tools::sandbox::protect_self();
    let app = App::settings_only(shared)?;
    match args.what.as_ref().unwrap_or(&AgentsCommand::List) {
        AgentsCommand::List => list_agents(shared, &app),
        AgentsCommand::Probe { name, prompt } => {
            refuse_model("start an agent")?;
            block_on(probe_named(shared, &app, name, prompt.as_deref()))
        }
        AgentsCommand::On { name, default } => turn_on(&app, name, *default),
        AgentsCommand::Off { name } => turn_off(&app, name),
    }
}

fn list_agents(shared: &SharedArgs, app: &App) -> anyhow::Result<CliExit> {
    let listed = app.listed_agents();
    let mut out = StdoutWriter::new();
    if shared.json {
        for agent in &listed {
            out.write_line(&agent_json(app, agent).to_string())?;
        }
        return Ok(CliExit::Success);
    }
    if listed.is_empty() {
        out.write_line("No agent is set up, and none is installed that Planwright knows.")?;
        out.write_line("It knows Claude Code, Codex, Gemini CLI, goose, opencode and Qwen Code; others can be added under [agents] in the config.")?;
        return Ok(CliExit::Success);
    }
    let width = listed.iter().map(|agent| agent.name.len()).max().unwrap_or(0);
    for agent in &listed {
        let state = if agent.is_on { "on" } else { "off" };
        let name = &agent.name;
        out.write_line(&format!("{name:width$}  {state:3}  {}", describe_agent(agent)))?;
    }
    if let Some(off) = listed.iter().find(|agent| !agent.is_on && agent.is_installed) {
        out.write_line(&format!("Turn one on with: planwright agents on {}", off.name))?;
    }
    Ok(CliExit::Success)
}

fn describe_agent(agent: &ListedAgent) -> String {
    let title = agent.title();
    if let Some(missing) = &agent.missing {
        return format!("{title}: {missing}");
    }
    let Some(test) = &agent.test else {
        return format!("{title}, not tested; planwright agents probe {}", agent.name);
    };
    let version = version_suffix(test);
    let zone = crate::config::time_zone();
    let when = test.tested_at.to_zoned(zone).strftime("%-d %b %Y");
    match &test.problem {
        Some(problem) => format!("{title}{version}: {problem} (tested {when})"),
        None => format!("{title}{version}, {}, tested {when}", test.asks.describe()),
    }
}

/// ` 1.2.3`; empty where the agent does not say.
fn version_suffix(test: &AgentTest) -> String {
    test.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default()
}

fn agent_json(app: &App, agent: &ListedAgent) -> serde_json::Value {
    json!({
        "name": agent.name,
        "title": agent.title(),
        "on": agent.is_on,
        "default": app.settings.own_agents.default.as_deref() == Some(&agent.name),
        "installed": agent.is_installed,
        "missing": agent.missing,
        "command": agent.command,
        "test": agent.test,
    })
}

async fn probe_named(
    shared: &SharedArgs,
    app: &App,
    name: &str,
    prompt: Option<&str>,
) -> anyhow::Result<CliExit> {
    let agent = find_agent(app, name)?;
    let usual = probe_prompt();
    let tested = test_agent(&agent, prompt.unwrap_or(&usual)).await?;
    app.save_agent_test(name, tested.clone())?;
    let mut out = StdoutWriter::new();
    if shared.json {
        out.write_line(&serde_json::to_string(&tested)?)?;
    } else {
        for line in test_lines(&agent, &tested) {
            out.write_line(&planwright_text::clean_line(&line))?;
        }
    }
    Ok(if tested.problem.is_none() { CliExit::Success } else { CliExit::Failed })
}

/// Tests an agent in a directory of its own, which is gone afterwards.
pub(crate) async fn test_agent(agent: &OwnAgent, prompt: &str) -> anyhow::Result<AgentTest> {
    let private = PrivateDirectory::create()?;
    let directory = private.path().join("empty");
    std::fs::create_dir(&directory)?;
    let sandbox = Sandbox::with_current_program();
    let probed = probe_agent(agent, &sandbox, &directory, prompt).await;
    let mut test = AgentTest {
        command: tested_command(agent),
        tested_at: Timestamp::now(),
        version: None,
        model: None,
        asks: AskingHabit::Untested,
        problem: None,
    };
    match probed {
        Ok(probe) => {
            test.version = probe.session.version;
            test.model = probe.session.model;
            test.asks = probe.asks;
        }
        Err(failure) => test.problem = Some(failure.message),
    }
    Ok(test)
}

fn test_lines(agent: &OwnAgent, test: &AgentTest) -> Vec<String> {
    let version = version_suffix(test);
    let mut lines = Vec::new();
    if let Some(problem) = &test.problem {
        lines.push(problem.clone());
        return lines;
    }
    lines.push(format!("{}{version} answers and is signed in.", agent.title()));
    lines.extend(test.model.iter().map(|model| format!("Model: {model}")));
    lines.push(match test.asks {
        AskingHabit::Asks => "It asked before it ran a command. The command was not allowed.".into(),
        AskingHabit::DoesNotAsk => {
            "It ran a command without asking. It can only work confined to its copy.".into()
        }
        AskingHabit::Untested => {
            "It ran no command, so whether it asks is not known. It is treated as one that does not.".into()
        }
    });
    lines
}

fn find_agent(app: &App, name: &str) -> anyhow::Result<OwnAgent> {
    app.agent_by_name(name).ok_or_else(|| {
        let names: Vec<String> = app.listed_agents().into_iter().map(|agent| agent.name).collect();
        let near = planwright_text::nearest_name(name, names.iter().map(String::as_str));
        let remedy = match near {
            Some(near) => format!("did you mean {near}?"),
            None => "planwright agents list lists them; add others under [agents] in the config"
                .to_owned(),
        };
        CliProblem::usage(format!("there is no agent `{name}`")).with_remedy(remedy).into()
    })
}

fn turn_on(app: &App, name: &str, default: bool) -> anyhow::Result<CliExit> {
    refuse_model("turn an agent on")?;
    let agent = find_agent(app, name)?;
    turn_agent_on(&app.config_path, name, default)?;
    let mut out = StdoutWriter::new();
    let title = agent.title();
    out.write_line(&format!(
        "{title} is on. Plans may say run = {{ agent = {{ with = \"{name}\" }} }}."
    ))?;
    if default {
        out.write_line("It does the tasks that change code and name nobody.")?;
    }
    let listed = app.listed_agents();
    let listed = listed.iter().find(|agent| agent.name == name);
    if let Some(missing) = listed.and_then(|agent| agent.missing.as_ref()) {
        out.write_line(&format!("It can't start yet: {missing}."))?;
    } else if listed.is_none_or(|agent| agent.test.is_none()) {
        out.write_line(&format!("Test it with: planwright agents probe {name}"))?;
    }
    Ok(CliExit::Success)
}

fn turn_off(app: &App, name: &str) -> anyhow::Result<CliExit> {
    refuse_model("turn an agent off")?;
    if !app.settings.own_agents.agents.contains_key(name) {
        return Err(CliProblem::usage(format!(
            "plans can't give tasks to `{name}`, so it is off already"
        ))
        .with_remedy("planwright agents list shows which agents are on")
        .into());
    }
    turn_agent_off(&app.config_path, name)?;
    let title = planwright_model::agent_title(name);
    StdoutWriter::new()
        .write_line(&format!("{title} is off. Its table is gone from the config."))?;
    Ok(CliExit::Success)
}
