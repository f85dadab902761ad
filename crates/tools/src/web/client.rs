//! One GET request, with limits: addresses are resolved once, checked, and then connected to; redirects are followed by
//! hand.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, header};

use super::address::{WebTarget, check_address, parse_target};
use crate::settings::WebSettings;
use crate::tool::{ToolError, ToolErrorCode};

/// A fetched page.
#[derive(Debug)]
pub(super) struct FetchedPage {
    /// The address after redirects.
    pub(super) url: String,
    pub(super) status: StatusCode,
    pub(super) kind: String,
    pub(super) body: Vec<u8>,
    pub(super) cut: bool,
}

/// Fetches a page. A redirect to another site is an error: the user agreed only to the first one.
pub(super) async fn fetch_page(
    first: WebTarget,
    settings: &WebSettings,
) -> Result<FetchedPage, ToolError> {
    let limit = settings.time_limit;
    tokio::time::timeout(limit, follow_redirects(first, settings)).await.unwrap_or_else(|_| {
        Err(ToolError::new(
            ToolErrorCode::Timeout,
            format!("no answer within {} s", limit.as_secs()),
        ))
    })
}

async fn follow_redirects(
    first: WebTarget,
    settings: &WebSettings,
) -> Result<FetchedPage, ToolError> {
    let approved = first.name();
    let mut next = first;
    for _ in 0..=settings.most_redirects {
        let response = send_request(&next, settings).await?;
        let Some(location) = redirect_location(&response) else {
            return read_body(response, settings).await;
        };
        let url = next.url.join(&location).map_err(|error| {
            ToolError::new(ToolErrorCode::Http, format!("the redirect cannot be read: {error}"))
        })?;
        let target = parse_target(url.as_str(), settings)?;
        if !is_same_site(&approved, &target.name()) {
            return Err(ToolError::new(
                ToolErrorCode::Http,
                format!("it redirects to {}; fetch {url} if that is wanted", target.name()),
            ));
        }
        next = target;
    }
    Err(ToolError::new(
        ToolErrorCode::Http,
        format!("more than {} redirects", settings.most_redirects),
    ))
}

/// The same host, with or without `www.`
fn is_same_site(one: &str, other: &str) -> bool {
    let bare = |name: &str| name.strip_prefix("www.").unwrap_or(name).to_owned();
    bare(one) == bare(other)
}

fn redirect_location(response: &reqwest::Response) -> Option<String> {
    response.status().is_redirection().then_some(())?;
    response.headers().get(header::LOCATION)?.to_str().ok().map(str::to_owned)
}

async fn send_request(
    target: &WebTarget,
    settings: &WebSettings,
) -> Result<reqwest::Response, ToolError> {
    let addresses = resolve_host(target).await?;
    let mut builder = Client::builder()
        .redirect(Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(settings.time_limit)
        .user_agent(concat!("planwright/", env!("CARGO_PKG_VERSION")));
    if settings.use_proxy {
        // The proxy resolves names itself; the user chose to trust it.
    } else {
        // Only to addresses that were checked, so that a name cannot resolve differently the second time.
        builder = builder.no_proxy().resolve_to_addrs(&target.host, &addresses);
    }
    let client = builder.build().map_err(|error| unreachable_error(target, &error))?;
    let accept = "text/html,text/plain,application/json,application/xml;q=0.9,*/*;q=0.5";
    client
        .get(target.url.clone())
        .header(header::ACCEPT, accept)
        .send()
        .await
        .map_err(|error| unreachable_error(target, &error))
}

fn unreachable_error(target: &WebTarget, error: &reqwest::Error) -> ToolError {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = cause.to_string();
        source = cause.source();
    }
    ToolError::new(ToolErrorCode::Http, format!("could not reach {}: {text}", target.name()))
}

/// Resolves once and checks every address; one bad address rejects the name.
async fn resolve_host(target: &WebTarget) -> Result<Vec<SocketAddr>, ToolError> {
    if let Ok(address) = target.host.parse::<IpAddr>() {
        check_address(target, address)?;
        return Ok(vec![SocketAddr::new(address, target.port)]);
    }
    let found: Vec<SocketAddr> = tokio::net::lookup_host((target.host.as_str(), target.port))
        .await
        .map_err(|error| {
            ToolError::new(ToolErrorCode::Http, format!("{} is not known: {error}", target.host))
        })?
        .collect();
    check_addresses(target, &found)?;
    Ok(found)
}

pub(super) fn check_addresses(target: &WebTarget, found: &[SocketAddr]) -> Result<(), ToolError> {
    if found.is_empty() {
        return Err(ToolError::new(ToolErrorCode::Http, format!("{} has no address", target.host)));
    }
    found.iter().try_for_each(|address| check_address(target, address.ip()))
}

async fn read_body(
    response: reqwest::Response,
    settings: &WebSettings,
) -> Result<FetchedPage, ToolError> {
    let url = response.url().to_string();
    let status = response.status();
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("application/octet-stream")
        .to_lowercase();
    let mut body = Vec::new();
    let mut cut = false;
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| {
            ToolError::new(ToolErrorCode::Http, format!("the answer broke off: {error}"))
        })?;
        let room = settings.most_bytes - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            cut = true;
            break;
        }
    }
    Ok(FetchedPage { url, status, kind, body, cut })
}
