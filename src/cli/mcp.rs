//! `planwright mcp`: the approval desk for agents that speak the Model Context Protocol.

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::guard::refuse_model;
use super::{CliExit, CliProblem, SharedArgs, eprint_line};
use crate::app::App;
use planwright_desk::mcp::{HttpAccess, serve_http, serve_stdio};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Serve over HTTP on this machine at this port instead of standard input and output; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// The token that clients must send; generated and printed if not given
    #[arg(
        long,
        value_name = "TOKEN",
        env = "PLANWRIGHT_MCP_TOKEN",
        hide_env_values = true,
        requires = "http"
    )]
    token: Option<String>,
}

pub(super) fn execute_mcp(shared: &SharedArgs, args: &McpArgs) -> anyhow::Result<CliExit> {
    refuse_model("open an approval desk")?;
    let app = App::settings_only(shared)?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let here = here.to_string_lossy().into_owned();
    let desk = app.ticket_desk();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ended = runtime.block_on(async {
        match args.http {
            None => {
                record_agent(&app);
                serve_stdio(desk.clone(), &here).await.map_err(anyhow::Error::from)
            }
            Some(port) => serve_on_port(&desk, here, port, args.token.clone()).await,
        }
    });
    desk.close();
    ended.map(|()| CliExit::Success)
}

/// Remembers who started this process, so that it can't answer what it asks.
fn record_agent(app: &App) {
    let Some(agents) = app.desk_agents() else { return };
    if let Err(error) = agents.record_parents() {
        tracing::warn!(%error, "the process of the agent can't be recorded");
    }
}

async fn serve_on_port(
    desk: &planwright_desk::TicketDesk,
    here: String,
    port: u16,
    token: Option<String>,
) -> anyhow::Result<()> {
    let made = token.is_none();
    let token = token.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string());
    if token.trim().len() < 16 {
        return Err(CliProblem::usage("the token is shorter than 16 characters")
            .with_remedy("leave --token out, and one is made and printed")
            .into());
    }
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        // Ctrl-C ends the server in good order; tickets wait in the store.
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    let access = HttpAccess { port, token: token.clone() };
    let told = |address: &str| {
        eprint_line(&format!("serving at {address} until Ctrl-C"));
        if made {
            eprint_line(&format!("clients send: Authorization: Bearer {token}"));
        }
    };
    serve_http(desk.clone(), here, access, cancel, told).await.map_err(Into::into)
}
