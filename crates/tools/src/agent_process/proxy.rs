//! A proxy that connects to the hosts of a list and to nothing else: `CONNECT` for what is encrypted, whole addresses for
//! what is not.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::allowed_hosts::{AllowedHost, split_port};
use crate::public_address::is_public_address;

/// The longest head of a request.
const MOST_HEAD: usize = 64 * 1024;
/// How long a head may take to arrive, and a host to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many connections there are at once.
const MOST_CONNECTIONS: usize = 128;
/// How many refused hosts are told about; more would be a flood.
const MOST_REPORTS: usize = 20;

/// Is told about hosts that were refused, each once.
pub type ExitReport = Arc<dyn Fn(&str) + Send + Sync>;

pub(super) struct ExitProxy {
    hosts: Vec<AllowedHost>,
    report: ExitReport,
    reported: Mutex<BTreeSet<String>>,
    connections: Semaphore,
}

impl std::fmt::Debug for ExitProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExitProxy").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// What a request wants to reach.
#[derive(Debug, PartialEq, Eq)]
struct ExitRequest {
    host: String,
    port: u16,
    /// What goes to the host first; empty for a tunnel, which is answered instead.
    forwarded: Vec<u8>,
}

/// Why a request is not served.
#[derive(Debug, PartialEq, Eq)]
enum ExitRefusal {
    /// It cannot be read.
    Unreadable,
    /// Its host is not on the list.
    NotAllowed { host: String, port: u16 },
    /// The host does not answer, or leads to a private address.
    Unreachable { why: String },
}

impl ExitProxy {
    pub(super) fn new(hosts: Vec<AllowedHost>, report: ExitReport) -> Self {
        let connections = Semaphore::new(MOST_CONNECTIONS);
        Self { hosts, report, reported: Mutex::default(), connections }
    }

    /// Serves one connection to its end.
    pub(super) async fn serve(&self, mut stream: TcpStream) {
        // The semaphore is never closed.
        let _permit = self.connections.acquire().await;
        match self.connect(&mut stream).await {
            Ok(mut outside) => {
                // A connection that breaks is over for both sides.
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut outside).await;
            }
            Err(refusal) => {
                self.report_refusal(&refusal);
                let answer = refusal.answer();
                // Whoever is gone needs no answer.
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        }
    }

    async fn connect(&self, stream: &mut TcpStream) -> Result<TcpStream, ExitRefusal> {
        let head = tokio::time::timeout(PATIENCE, read_head(stream)).await;
        let head = head.ok().and_then(Result::ok).ok_or(ExitRefusal::Unreadable)?;
        let request = parse_request(&head).ok_or(ExitRefusal::Unreadable)?;
        let rule = self.hosts.iter().find(|rule| rule.admits(&request.host, request.port));
        let Some(rule) = rule else {
            let ExitRequest { host, port, .. } = request;
            return Err(ExitRefusal::NotAllowed { host, port });
        };
        let failed = |error: &dyn std::fmt::Display| {
            let why = format!("{}:{}: {error}", request.host, request.port);
            ExitRefusal::Unreachable { why }
        };
        let reaching = async {
            let addresses = public_addresses(&request, rule).await?;
            TcpStream::connect(&addresses[..]).await
        };
        let reached = tokio::time::timeout(PATIENCE, reaching).await;
        let mut outside = match reached {
            Ok(Ok(outside)) => outside,
            Ok(Err(error)) => return Err(failed(&error)),
            Err(_) => return Err(failed(&"no answer")),
        };
        let told = if request.forwarded.is_empty() {
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await
        } else {
            outside.write_all(&request.forwarded).await
        };
        told.map_err(|error| failed(&error))?;
        Ok(outside)
    }

    fn report_refusal(&self, refusal: &ExitRefusal) {
        let what = match refusal {
            ExitRefusal::Unreadable => return,
            ExitRefusal::NotAllowed { host, port } => format!("{host}:{port}"),
            ExitRefusal::Unreachable { why } => {
                tracing::debug!(why, "a host that an agent may reach does not answer");
                return;
            }
        };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() < MOST_REPORTS && reported.insert(what.clone()) {
            (self.report)(&what);
        }
    }
}

impl ExitRefusal {
    fn answer(&self) -> String {
        let (status, text) = match self {
            Self::Unreadable => ("400 Bad Request", "this is not a request for a proxy".to_owned()),
            Self::NotAllowed { host, port } => {
                ("403 Forbidden", format!("Planwright does not let this agent reach {host}:{port}"))
            }
            Self::Unreachable { why } => ("502 Bad Gateway", why.clone()),
        };
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        )
    }
}

/// The addresses of a host. A name that leads into a private network is not followed: only an address that the person
/// wrote down may be one.
async fn public_addresses(
    request: &ExitRequest,
    rule: &AllowedHost,
) -> io::Result<Vec<SocketAddr>> {
    let found = tokio::net::lookup_host((request.host.as_str(), request.port)).await?;
    let usable: Vec<SocketAddr> = found
        .filter(|address| rule.is_stated_address() || is_public_address(address.ip()))
        .collect();
    if usable.is_empty() {
        return Err(io::Error::other("it has no public address"));
    }
    Ok(usable)
}

/// Reads up to the end of the head. What comes behind it in the same piece stays with it.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        let mut piece = [0_u8; 4096];
        let length = stream.read(&mut piece).await?;
        head.extend_from_slice(&piece[..length]);
        if find_end(&head).is_some() {
            return Ok(head);
        }
        if length == 0 || head.len() > MOST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

fn find_end(head: &[u8]) -> Option<usize> {
    head.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

fn parse_request(head: &[u8]) -> Option<ExitRequest> {
    let end = find_end(head)?;
    let text = std::str::from_utf8(&head[..end]).ok()?;
    let (first, rest) = text.split_once("\r\n")?;
    let mut words = first.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = split_port(target)?;
        return Some(ExitRequest { host: host.to_owned(), port, forwarded: Vec::new() });
    }
    let address = target.strip_prefix("http://")?;
    let (authority, path) = match address.find('/') {
        Some(at) => address.split_at(at),
        None => (address, "/"),
    };
    // Credentials in an address are for nobody here.
    if authority.contains('@') {
        return None;
    }
    let has_port = authority.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let (host, port) = if has_port { split_port(authority)? } else { (authority, 80) };
    let mut forwarded = format!("{method} {path} {version}\r\n").into_bytes();
    for line in rest.lines().filter(|line| !line.is_empty() && !is_proxy_header(line)) {
        forwarded.extend_from_slice(line.as_bytes());
        forwarded.extend_from_slice(b"\r\n");
    }
    // One request a connection: the next one may be for another host.
    forwarded.extend_from_slice(b"Connection: close\r\n\r\n");
    forwarded.extend_from_slice(&head[end..]);
    Some(ExitRequest { host: host.to_owned(), port, forwarded })
}

/// Headers that are meant for the proxy, or that it replaces.
fn is_proxy_header(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    name.starts_with("proxy-") || name == "connection"
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn requests_are_read_and_rewritten() {
        let tunnel = parse_request(b"CONNECT api.example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n");
        let wanted = ExitRequest { host: "api.example.org".into(), port: 443, forwarded: vec![] };
        assert_eq!(tunnel, Some(wanted));
        let plain = b"POST http://127.0.0.1:9101/v1/x?a=b HTTP/1.1\r\nHost: 127.0.0.1:9101\r\nProxy-Connection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
        let plain = parse_request(plain).unwrap();
        assert_eq!((plain.host.as_str(), plain.port), ("127.0.0.1", 9101));
        let sent = String::from_utf8(plain.forwarded).unwrap();
        assert_eq!(
            sent,
            "POST /v1/x?a=b HTTP/1.1\r\nHost: 127.0.0.1:9101\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
        );
        assert_eq!(parse_request(b"GET http://a.org HTTP/1.1\r\n\r\n").unwrap().port, 80);
        for wrong in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"GET http://user:pw@a.org/ HTTP/1.1\r\n\r\n",
            b"CONNECT a.org:443\r\n\r\n",
            b"\x16\x03\x01\r\n\r\n",
            b"CONNECT a.org:443 HTTP/1.1",
        ] {
            assert_eq!(parse_request(wrong), None);
        }
    }

    /// What the proxy answers to a request.
    async fn answer(hosts: &[&str], request: &str) -> (String, Vec<String>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let report: ExitReport = {
            let told = Arc::clone(&told);
            Arc::new(move |what| told.lock().unwrap().push(what.to_owned()))
        };
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let proxy = ExitProxy::new(hosts, report);
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(socket.local_addr().unwrap()).await.unwrap();
        let (inside, _) = socket.accept().await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        proxy.serve(inside).await;
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        let told = told.lock().unwrap().clone();
        (answer, told)
    }

    #[tokio::test]
    async fn hosts_that_are_not_listed_are_refused_and_told_about() {
        let (refused, told) =
            answer(&["api.example.org"], "CONNECT evil.example.net:443 HTTP/1.1\r\n\r\n").await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
        assert_eq!(told, ["evil.example.net:443"]);
        let (port, told) = answer(&["127.0.0.1:1"], "CONNECT 127.0.0.1:2 HTTP/1.1\r\n\r\n").await;
        assert!(port.starts_with("HTTP/1.1 403"), "{port}");
        assert_eq!(told, ["127.0.0.1:2"]);
        // A name on the list that leads to this machine is not followed.
        let (private, _) = answer(
            &["localhost.localdomain:1"],
            "CONNECT localhost.localdomain:1 HTTP/1.1\r\n\r\n",
        )
        .await;
        assert!(private.starts_with("HTTP/1.1 502"), "{private}");
    }

    #[tokio::test]
    async fn a_listed_host_is_reached() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let served = tokio::spawn(async move {
            let (mut stream, _) = server.accept().await.unwrap();
            let mut got = String::new();
            stream.read_to_string(&mut got).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").await.unwrap();
            got
        });
        let allowed = format!("127.0.0.1:{port}");
        let request = format!("GET http://{allowed}/x HTTP/1.1\r\nHost: {allowed}\r\n\r\n");
        let (answered, told) = answer(&[&allowed], &request).await;
        assert!(answered.ends_with("hello") && told.is_empty(), "{answered}");
        assert!(served.await.unwrap().starts_with("GET /x HTTP/1.1\r\n"));
    }
}
