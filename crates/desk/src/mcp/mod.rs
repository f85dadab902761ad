//! The MCP server of the approval desk, over standard input and output or over HTTP on this machine.
//!
//! It never asks the client's user anything: there is no elicitation and no sampling, because a yes in another program
//! is not a person's act here.

mod arguments;
mod http_server;
mod server;

use rmcp::ServiceExt as _;

use crate::TicketDesk;
pub use http_server::{HttpAccess, HttpServerError, serve_http};
pub use server::DeskServer;

/// Why the server ended other than by its client leaving.
#[derive(Debug, thiserror::Error)]
#[error("the MCP connection could not be opened: {0}")]
pub struct StdioServerError(String);

/// Serves one client on standard input and output until it leaves.
pub async fn serve_stdio(desk: TicketDesk, workspace: &str) -> Result<(), StdioServerError> {
    let server = DeskServer::new(desk, workspace);
    let service = match server.serve(rmcp::transport::stdio()).await {
        Ok(service) => service,
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioServerError(error.to_string())),
    };
    // However it ends, the client is gone.
    if let Err(error) = service.waiting().await {
        tracing::warn!(%error, "the MCP server was ended");
    }
    Ok(())
}
