//! Which addresses may be reached. Pure: an address is checked before anything connects to it, at every hop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

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

/// Whether an address belongs to the public internet.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let last = Ipv4Addr::from((u32::from(parts[6]) << 16) | u32::from(parts[7]));
    match parts {
        // Mapped, compatible and translated addresses are checked by the one inside.
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(last),
        [0x2002, high, low, ..] => {
            is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        // Teredo and the rest of the special block, documentation, and the discard-only prefixes.
        [0x2001, 0..=0x01ff | 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}
