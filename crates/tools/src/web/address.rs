//! Which addresses may be reached. Pure: an address is checked before anything connects to it, at every hop.

use std::net::IpAddr;

use reqwest::Url;

pub use crate::public_address::is_public_address;
use crate::settings::WebSettings;
use crate::tool::{ToolError, ToolErrorCode};

/// A target that may be requested, once its addresses are checked too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebTarget {
    pub url: Url,
    /// Lower case, without brackets.
    pub host: String,
    pub port: u16,
    /// The user allows this host to have a private address.
    pub may_be_private: bool,
}

impl WebTarget {
    /// `host`, or `host:port` if the port is not the default; the name used by rules and cards.
    pub fn name(&self) -> String {
        let usual = if self.url.scheme() == "https" { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }
}

/// Parses an address. Only http and https, without credentials; a numeric host is checked immediately.
pub fn parse_target(text: &str, settings: &WebSettings) -> Result<WebTarget, ToolError> {
    let bad =
        |problem: &str| ToolError::new(ToolErrorCode::BadArgs, format!("the address {problem}"));
    let url = Url::parse(text.trim()).map_err(|error| bad(&format!("cannot be read: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("may not hold a user name or password"));
    }
    let host = url.host_str().ok_or_else(|| bad("names no host"))?;
    let host =
        host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_lowercase();
    if host.is_empty() {
        return Err(bad("names no host"));
    }
    let port = url.port_or_known_default().unwrap_or(80);
    let with_port = format!("{host}:{port}");
    let may_be_private =
        settings.allow_private.iter().any(|known| *known == host || *known == with_port);
    let target = WebTarget { url, host, port, may_be_private };
    if let Ok(address) = target.host.parse::<IpAddr>() {
        check_address(&target, address)?;
    } else if is_local_name(&target.host) && !target.may_be_private {
        return Err(private_address_error(&target.host));
    }
    Ok(target)
}

/// Names that mean this machine or its local network, whatever they resolve to.
fn is_local_name(host: &str) -> bool {
    const ENDS: [&str; 6] = ["localhost", "local", "internal", "home.arpa", "lan", "localdomain"];
    !host.contains('.') || ENDS.iter().any(|end| host == *end || host.ends_with(&format!(".{end}")))
}

/// Whether an address that a host resolved to may be connected to.
pub fn check_address(target: &WebTarget, address: IpAddr) -> Result<(), ToolError> {
    if target.may_be_private || is_public_address(address) {
        return Ok(());
    }
    Err(private_address_error(&format!("{} ({address})", target.host)))
}

fn private_address_error(subject: &str) -> ToolError {
    ToolError::new(
        ToolErrorCode::PrivateAddress,
        format!(
            "{subject} is not a public address; the person can allow it with allow_private in the config"
        ),
    )
}
