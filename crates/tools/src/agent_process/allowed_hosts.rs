//! Hosts that an agent may reach, as the settings name them: `api.example.org`, `*.example.org:8443`, `127.0.0.1:11434`.

use std::fmt;
use std::str::FromStr;

/// The port of a host that is named without one.
const HTTPS: u16 = 443;

/// A host and its port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllowedHost {
    /// In lower case. `*.` in front stands for any name below.
    host: String,
    port: u16,
}

/// Why something is not a host that can be allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a host; write a name or address, with :PORT if it is not 443")]
pub struct NotAHost(String);

impl FromStr for AllowedHost {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, NotAHost> {
        let wrong = || NotAHost(text.to_owned());
        let (host, port) = split_port(text).ok_or_else(wrong)?;
        let host = host.trim_end_matches('.').to_lowercase();
        let name = host.strip_prefix("*.").unwrap_or(&host);
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        let plain = !name.is_empty() && name.chars().all(fits) && !name.starts_with(['.', '-']);
        // `*.com` would be nearly everything.
        let wide = host.starts_with("*.") && !name.contains('.');
        if port == 0 || !plain || wide {
            return Err(wrong());
        }
        Ok(Self { host, port })
    }
}

/// A host and its port, 443 unless stated. An IPv6 address stands in brackets.
pub(super) fn split_port(text: &str) -> Option<(&str, u16)> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let port = rest.strip_prefix(':').map_or(Ok(HTTPS), str::parse);
        return Some((host, port.ok()?));
    }
    match text.split_once(':') {
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((text, HTTPS)),
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == HTTPS { f.write_str(&host) } else { write!(f, "{host}:{}", self.port) }
    }
}

impl AllowedHost {
    /// Whether a host and port are the ones meant.
    pub fn admits(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        let named = match self.host.strip_prefix('*') {
            Some(below) => host.len() > below.len() && host.ends_with(below),
            None => host == self.host,
        };
        named && port == self.port
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is this machine. What an agent has there is reached without a proxy.
    pub fn is_loopback(&self) -> bool {
        matches!(self.host.as_str(), "127.0.0.1" | "localhost" | "::1")
    }

    /// Whether it is an address, or a name that only this machine knows: then it may well be a private one.
    pub fn is_stated_address(&self) -> bool {
        self.is_loopback() || self.host.parse::<std::net::IpAddr>().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> AllowedHost {
        text.parse().unwrap()
    }

    #[test]
    fn a_host_is_meant_with_its_port_and_names_below_it_only_with_a_star() {
        let api = host("API.example.org");
        assert!(api.admits("api.example.org", 443) && api.admits("api.example.org.", 443));
        assert!(!api.admits("api.example.org", 80) && !api.admits("x.api.example.org", 443));
        assert!(!api.admits("api.example.org.evil.net", 443));
        let below = host("*.example.org:8443");
        assert!(below.admits("a.b.example.org", 8443));
        assert!(!below.admits("example.org", 8443) && !below.admits("evilexample.org", 8443));
        assert_eq!(
            (api.to_string(), below.to_string()),
            ("api.example.org".into(), "*.example.org:8443".into())
        );
        assert!(host("127.0.0.1:9101").is_loopback() && host("[::1]:80").is_loopback());
        assert_eq!(host("[::1]:80").to_string(), "[::1]:80");
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in
            ["", "*", "*.com", "a b", "https://a.org", "a.org:0", "a.org:x", "a.org/x", "-a"]
        {
            assert!(text.parse::<AllowedHost>().is_err(), "{text}");
        }
    }
}
