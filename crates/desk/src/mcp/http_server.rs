//! The MCP server over HTTP: on the loopback interface only, and only for those who have the token.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::DeskServer;
use crate::TicketDesk;

/// The path that clients connect to.
const PATH: &str = "/mcp";
/// The most connections at once; others wait to be accepted.
const MAX_CONNECTIONS: usize = 64;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum HttpServerError {
    #[error("port {port} can't be used: {source}")]
    Bind { port: u16, source: std::io::Error },
    #[error("the server ended: {0}")]
    Io(#[from] std::io::Error),
}

/// Who may use the server.
#[derive(Clone)]
pub struct HttpAccess {
    /// 0 picks a free one.
    pub port: u16,
    /// What clients send as `Authorization: Bearer TOKEN`.
    pub token: String,
}

impl std::fmt::Debug for HttpAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpAccess").field("port", &self.port).finish_non_exhaustive()
    }
}

type ResponseBody = BoxBody<Bytes, std::convert::Infallible>;

/// Serves clients until it is cancelled. `on_listening` is told the address once connections are accepted.
pub async fn serve_http(
    desk: TicketDesk,
    workspace: String,
    access: HttpAccess,
    cancel: CancellationToken,
    on_listening: impl FnOnce(&str),
) -> Result<(), HttpServerError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, access.port));
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| HttpServerError::Bind { port: access.port, source })?;
    on_listening(&format!("http://{}{PATH}", listener.local_addr()?));
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(cancel.child_token())
        // No page in a browser has business here.
        .enforce_origin_validation();
    let factory = move || Ok(DeskServer::new(desk.clone(), &workspace));
    let service =
        StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
    let service = TowerToHyperService::new(service);
    let token: Arc<str> = access.token.into();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            () = cancel.cancelled() => return Ok(()),
        };
        let (service, token, cancel) = (service.clone(), Arc::clone(&token), cancel.clone());
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let (service, token) = (service.clone(), Arc::clone(&token));
                async move { answer_request(request, &service, &token).await }
            });
            let builder = Builder::new(TokioExecutor::new());
            let connection = builder.serve_connection(TokioIo::new(stream), answer);
            tokio::select! {
                ended = connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended");
                    }
                }
                () = cancel.cancelled() => {}
            }
            drop(place);
        });
    }
}

async fn answer_request<S>(
    request: Request<Incoming>,
    service: &S,
    token: &str,
) -> Result<Response<ResponseBody>, std::convert::Infallible>
where
    S: hyper::service::Service<
            Request<Incoming>,
            Response = Response<ResponseBody>,
            Error = std::convert::Infallible,
        >,
{
    if !has_token(&request, token) {
        let words = "the approval desk needs its token: Authorization: Bearer TOKEN\n";
        return Ok(plain_response(StatusCode::UNAUTHORIZED, words));
    }
    if request.uri().path() != PATH {
        return Ok(plain_response(StatusCode::NOT_FOUND, "the approval desk is at /mcp\n"));
    }
    let ends_session = request.method() == Method::DELETE;
    let mut response = service.call(request).await?;
    // The session is gone by then; clients take "accepted" for a failure.
    if ends_session && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::OK;
    }
    Ok(response)
}

/// Compared in full whatever the first bytes are, so that the time says nothing about the token.
fn has_token(request: &Request<Incoming>, token: &str) -> bool {
    let given = request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
    let given = given.and_then(|value| value.strip_prefix(b"Bearer ")).unwrap_or_default();
    let differences =
        given.iter().zip(token.as_bytes()).fold(0u8, |found, (one, other)| found | (one ^ other));
    !token.is_empty() && given.len() == token.len() && differences == 0
}

fn plain_response(status: StatusCode, words: &'static str) -> Response<ResponseBody> {
    let body = Full::new(Bytes::from_static(words.as_bytes())).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}
