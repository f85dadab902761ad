//! `planwright tools`: which there are, what is known about them, how they did, calling one, and the person's rules.

mod ask;
mod call;
mod listing;
pub(crate) mod rules;
mod trust;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use super::session::block_on;
use super::{CliExit, CliProblem, SharedArgs};
use crate::app::App;
use planwright_tools::mcp::{McpServerReport, McpServers};
use planwright_tools::{ToolRegistry, builtin};

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    what: Option<ToolsCommand>,
}

#[derive(Debug, Subcommand)]
enum ToolsCommand {
    /// List every tool with its class and, for a task, its score
    List {
        /// Score the tools for this task
        #[arg(long, value_name = "TEXT")]
        task: Option<String>,
    },
    /// Show a tool: arguments, profile, and the parts of its score
    Show {
        /// Name of the tool, as in the list
        name: String,
        /// Score it for this task
        #[arg(long, value_name = "TEXT")]
        task: Option<String>,
    },
    /// How often each tool succeeded, and how well its score predicted it
    Stats,
    /// Call a tool; asks like any other call, and exits with 3 if nobody can answer
    Call {
        /// Name of the tool, as in the list
        name: String,
        /// Arguments as a JSON object
        #[arg(default_value = "{}")]
        args: String,
        /// Directory the tool works in
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
    /// Show the tools of an MCP server with what changed, and approve them as they are now
    Trust {
        /// A tool such as mcp.files.read, or a server such as mcp.files
        name: String,
    },
    /// List your permission rules, or revoke one
    Rules {
        #[command(subcommand)]
        what: Option<RulesCommand>,
    },
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// List every rule with its number
    List,
    /// Revoke a rule
    Revoke {
        /// Its number in the list
        number: usize,
    },
}

pub(super) fn execute_tools(shared: &SharedArgs, args: &ToolsArgs) -> anyhow::Result<CliExit> {
    planwright_tools::sandbox::protect_self();
    let app = App::settings_only(shared)?;
    let app = match &args.what {
        // It finds the settings of the project itself: its workspace may be another one.
        Some(ToolsCommand::Call { .. }) => app,
        _ => with_current_project(&app)?,
    };
    match args.what.as_ref().unwrap_or(&ToolsCommand::List { task: None }) {
        ToolsCommand::List { task } => block_on(listing::list_tools(shared, &app, task.as_deref())),
        ToolsCommand::Show { name, task } => {
            block_on(listing::show_tool(shared, &app, name, task.as_deref()))
        }
        ToolsCommand::Stats => listing::print_tool_stats(shared, &app),
        ToolsCommand::Call { name, args, workspace } => {
            block_on(call::call_tool(shared, &app, name, args, workspace.as_deref()))
        }
        ToolsCommand::Trust { name } => block_on(trust::trust_tools(shared, &app, name)),
        ToolsCommand::Rules { what } => match what.as_ref().unwrap_or(&RulesCommand::List) {
            RulesCommand::List => rules::list_rules(shared, &app),
            RulesCommand::Revoke { number } => rules::revoke_rule(&app, *number),
        },
    }
}

/// With the settings of the project here, saying what does not count.
fn with_current_project(app: &App) -> anyhow::Result<App> {
    with_project(app, &std::env::current_dir().context("finding the current directory")?)
}

fn with_project(app: &App, directory: &Path) -> anyhow::Result<App> {
    let app = app.in_workspace(directory, app.read_store()?.as_ref())?;
    if let Some(notice) = app.project_notice() {
        ask::write_stderr(&planwright_text::clean_line(&notice));
    }
    Ok(app)
}

/// The built-in tools and those of the servers.
pub(crate) async fn load_registry(servers: &McpServers) -> (ToolRegistry, Vec<McpServerReport>) {
    let mut registry = builtin::builtin_registry();
    let reports = servers.register_tools(&mut registry).await;
    (registry, reports)
}

/// Says which servers did not answer, beside the output that others may read.
fn report_server_failures(reports: &[McpServerReport]) {
    for report in reports {
        if let Err(why) = &report.outcome {
            ask::write_stderr(&format!("server {}: {why}", report.server));
        }
        for why in &report.left_out {
            ask::write_stderr(&format!("left out: {why}"));
        }
    }
}

fn unknown_tool_error(registry: &ToolRegistry, name: &str) -> anyhow::Error {
    let problem = CliProblem::usage(format!("there is no tool `{name}`"));
    if let Some(why) = builtin::missing_feature_text(name) {
        return problem.with_remedy(why).into();
    }
    match registry.nearest_name(name) {
        Some(near) => problem.with_remedy(format!("did you mean `{near}`?")).into(),
        None => problem.with_remedy("planwright tools list lists them").into(),
    }
}

/// Servers that are needed for a tool: its own, or none.
fn servers_for(app: &App, name: &str) -> McpServers {
    crate::config::tool_settings::mcp_servers(&app.settings).only_server_for(name)
}
