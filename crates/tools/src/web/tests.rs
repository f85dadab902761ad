use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::address::{check_address, is_public_address, parse_target};
use super::client::check_addresses;
use super::html::html_to_text;
use crate::fixture::Fixture;
use crate::settings::WebSettings;
use crate::tool::ToolErrorCode;
use planwright_model::permission::{PermissionRule, RuleMatcher};

/// Ways to write a private address that a parser might not recognize.
fn disguises(address: std::net::Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let number = u32::from(address);
    let mapped = format!("{:x}:{:x}", number >> 16, number & 0xffff);
    vec![
        format!("{a}.{b}.{c}.{d}"),
        format!("{number}"),
        format!("0x{number:x}"),
        format!("0{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{b}.{}", u32::from(c) * 256 + u32::from(d)),
        format!("{a}.{}", number & 0x00ff_ffff),
        format!("{a}.{b}.{c}.{d}."),
        format!("[::ffff:{a}.{b}.{c}.{d}]"),
        format!("[::ffff:{mapped}]"),
        format!("[::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b::{mapped}]"),
        format!("[2002:{mapped}::1]"),
        format!("０x{number:x}").replace('０', "0"),
        format!("{a}。{b}。{c}。{d}"),
        format!("user@{a}.{b}.{c}.{d}"),
        format!("example.org@{a}.{b}.{c}.{d}"),
        format!("{a}.{b}.{c}.{d}:80"),
        format!("{a}%2e{b}%2e{c}%2e{d}"),
    ]
}

/// G14: more than 500 forms of private addresses, checked without connecting.
#[test]
fn no_form_of_a_private_address_passes() {
    let addresses = [
        "127.0.0.1",
        "127.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.254",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.170.2",
        "0.0.0.0",
        "0.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "192.88.99.1",
    ];
    let settings = WebSettings::default();
    let mut count = 0;
    for address in addresses {
        for form in disguises(address.parse().unwrap()) {
            for scheme in ["http", "https"] {
                let url = format!("{scheme}://{form}/latest/meta-data");
                assert!(parse_target(&url, &settings).is_err(), "{url}");
                count += 1;
            }
        }
    }
    let others = [
        "http://localhost/",
        "http://LOCALHOST/",
        "http://localhost.",
        "http://a.localhost/",
        "http://printer.local/",
        "http://metadata/",
        "http://metadata.google.internal/",
        "http://[::1]/",
        "http://[::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fd12:3456::1]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[2001::1]/",
        "http://[fe80::1%25eth0]/",
        "http://router.lan/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "data:text/plain,x",
        "javascript:alert(1)",
        "http://",
        "//example.org",
        "http://user:pass@example.org/",
        "http://:80/",
        "http://[::ffff:7f00:1]/",
        "http://0/",
        "http://127.1/",
        "not an address",
    ];
    for url in others {
        assert!(parse_target(url, &settings).is_err(), "{url}");
        count += 1;
    }
    assert!(count > 500, "{count}");
}

#[test]
fn a_name_that_resolves_to_a_private_address_is_refused_with_all_its_addresses() {
    let settings = WebSettings::default();
    let public = parse_target("https://example.org/a", &settings).unwrap();
    let at = |address: &str| SocketAddr::new(address.parse().unwrap(), 443);
    assert!(check_addresses(&public, &[at("93.184.216.34"), at("2606:2800:220:1::1")]).is_ok());
    let rebound = check_addresses(&public, &[at("93.184.216.34"), at("127.0.0.1")]).unwrap_err();
    assert_eq!(rebound.code, ToolErrorCode::PrivateAddress);
    assert!(check_addresses(&public, &[]).is_err());
}

#[test]
fn the_user_can_allow_a_host_or_one_port_of_it() {
    let settings = WebSettings {
        allow_private: vec!["localhost:8080".into(), "10.0.0.7".into()],
        ..WebSettings::default()
    };
    let local = parse_target("http://localhost:8080/x", &settings).unwrap();
    assert!(check_address(&local, "127.0.0.1".parse().unwrap()).is_ok());
    assert_eq!(local.name(), "localhost:8080");
    assert!(parse_target("http://localhost:9090/", &settings).is_err());
    assert!(parse_target("http://10.0.0.7:1234/", &settings).is_ok());
    assert!(parse_target("http://10.0.0.8/", &settings).is_err());
    assert_eq!(parse_target("https://Example.ORG./", &settings).unwrap().name(), "example.org");
}

proptest! {
    #[test]
    fn address_checks_never_panic_and_loopback_never_passes(text in ".{0,60}", low in 0u32..0x0100_0000) {
        let _ = parse_target(&text, &WebSettings::default());
        let _ = parse_target(&format!("http://{text}/"), &WebSettings::default());
        prop_assert!(!is_public_address(IpAddr::V4((0x7f00_0000 | low).into())));
    }

    #[test]
    fn html_to_text_never_panics_and_drops_scripts(text in "[<>/a-zA-Z =\"'&;#!-]{0,200}") {
        let page = format!("<p>before</p><script>EVIL{}</script>", text.replace("</", ""));
        prop_assert!(!html_to_text(&page).text.contains("EVIL"));
        html_to_text(&text);
    }
}

#[test]
fn a_page_reads_as_a_person_would_read_it() {
    let page = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body><h2>Head</h2>\
        <p>One <b>bold</b>\n  word&nbsp;&mdash; <a href=\"https://x.y/?a=1&amp;b=2\">link</a>.</p><ul><li>a<li>b</ul>\
        <!-- <p>no</p> --><pre>  keep\n  this</pre><table><tr><td>1</td><td>2</td></tr></table>1 < 2</body>";
    let read = html_to_text(page);
    assert_eq!(read.title, "A & B");
    assert_eq!(
        read.text,
        "## Head\n\nOne bold word — link (https://x.y/?a=1&b=2).\n\n- a\n- b\n\n  keep\n  this\n\n1 | 2 |\n\n1 < 2"
    );
}

/// A server on this machine with a few pages: status, headers and body by path; a path may end with its query.
struct PageServer {
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
    asked: Arc<Mutex<Vec<String>>>,
}

type Page = (&'static str, u16, String, Vec<u8>);

fn page(path: &'static str, kind: &str, body: impl Into<Vec<u8>>) -> Page {
    (path, 200, format!("content-type: {kind}\r\n"), body.into())
}

fn redirect(path: &'static str, to: &str) -> Page {
    (path, 302, format!("location: {to}\r\n"), Vec::new())
}

impl PageServer {
    /// The pages may contain the address of the server.
    async fn start(pages: impl FnOnce(&str) -> Vec<Page>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let pages = Arc::new(pages(&format!("http://{address}")));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&pages), Arc::clone(&log)));
            }
        });
        Self { address, task, asked }
    }

    fn uri(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut socket: TcpStream, pages: Arc<Vec<Page>>, log: Arc<Mutex<Vec<String>>>) {
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    while !head.ends_with(b"\r\n\r\n") {
        match socket.read(&mut piece).await {
            Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let asked = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let found = pages.iter().find(|(path, ..)| *path == asked);
    log.lock().unwrap().push(asked);
    let not_found = (404, String::new(), Vec::new());
    let (status, head, body) =
        found.map_or(not_found, |(_, status, head, body)| (*status, head.clone(), body.clone()));
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} .\r\n{head}connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let _ = socket.write_all(head.as_bytes()).await;
    let _ = socket.write_all(&body).await;
}

/// A toolbox that may reach the server on this machine.
fn fixture(server: &PageServer) -> Fixture {
    let host = server.address.to_string();
    let endpoint = server.uri();
    let fixture = Fixture::with(|parts| {
        parts.settings.web.allow_private = vec![host];
        parts.settings.web.search_endpoint = Some(endpoint);
        parts.settings.web.most_bytes = 4096;
    });
    fixture.allow(
        ["web.fetch", "web.search"].map(|tool| PermissionRule::allow(tool, RuleMatcher::Any)),
    );
    fixture
}

#[tokio::test]
async fn web_fetch() {
    let server = PageServer::start(|_| {
        vec![
            page("/page", "text/html; charset=utf-8", "<title>T</title><p>Hello</p>"),
            page("/big", "text/plain", "x".repeat(9999)),
            page("/image", "image/png", vec![1, 2]),
            redirect("/loop", "/loop"),
            redirect("/meta", "http://169.254.169.254/latest"),
            redirect("/away", "https://example.org/x"),
        ]
    })
    .await;
    let fixture = fixture(&server);
    let url = |path: &str| json!({ "url": format!("{}{path}", server.uri()) });
    let read = fixture.call("web.fetch", url("/page")).await;
    assert_eq!(
        (read.result.data["title"].as_str(), read.result.data["text"].as_str()),
        (Some("T"), Some("Hello"))
    );
    assert!(fixture.call("web.fetch", url("/page")).await.cache_hit);
    assert_eq!(*server.asked.lock().unwrap(), ["/page"]);
    let big = fixture.call("web.fetch", url("/big")).await.result;
    assert!(big.data["text"].as_str().unwrap().len() <= 4096 && big.data["truncated"] == true);
    assert_eq!(fixture.code("web.fetch", url("/image")).await, "not_text");
    assert_eq!(fixture.code("web.fetch", url("/gone")).await, "not_found");
    assert_eq!(fixture.code("web.fetch", url("/loop")).await, "http_error");
    assert_eq!(fixture.code("web.fetch", url("/meta")).await, "private_address");
    assert_eq!(fixture.code("web.fetch", url("/away")).await, "http_error");
    assert_eq!(
        fixture.code("web.fetch", json!({ "url": "http://127.0.0.1:1/" })).await,
        "private_address"
    );
    assert_eq!(fixture.code("web.fetch", json!({ "url": "nonsense" })).await, "bad_args");
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    let server = PageServer::start(|_| {
        vec![redirect("/here", "/page"), page("/page", "text/plain", "plain")]
    })
    .await;
    let fixture = fixture(&server);
    let read =
        fixture.call("web.fetch", json!({ "url": format!("{}/here", server.uri()) })).await.result;
    assert_eq!(read.data["text"], "plain");
}

#[tokio::test]
async fn searching_and_research_over_a_search_service() {
    let text = "<p>Widgets of ratatui are drawn at once and keep no state of their own.</p><p>Unrelated.</p>";
    let server = PageServer::start(|uri| {
        let hits = json!({ "results": [
            { "title": "Widgets <b>now</b>", "url": format!("{uri}/one"), "content": "about widgets" },
            { "title": "Elsewhere", "url": "https://example.org/two", "content": "snippet of a page that is not read" },
            { "title": "bad", "url": "javascript:x", "content": "" },
        ] });
        vec![
            page("/search?q=ratatui+widgets&format=json", "application/json", hits.to_string()),
            page("/one", "text/html", text),
        ]
    })
    .await;
    let fixture = fixture(&server);
    let found = fixture.call("web.search", json!({ "query": "ratatui widgets" })).await.result;
    assert_eq!(
        (found.data["count"].as_u64(), &found.data["results"][0]["title"]),
        (Some(2), &json!("Widgets now"))
    );
    // Only this machine may be fetched from: the other page is represented by its snippet.
    fixture.script.conditions.lock().unwrap().rules = vec![
        PermissionRule::allow("web.search", RuleMatcher::Any),
        PermissionRule::allow("web.fetch", RuleMatcher::Host { host: server.address.to_string() }),
    ];
    let notes =
        fixture.call("internet.research", json!({ "query": "ratatui widgets" })).await.result;
    let answer = notes.data["answer"].as_str().unwrap();
    assert!(answer.contains("keep no state") && answer.contains("snippet of a page"), "{answer}");
    assert_eq!(notes.data["pages_read"], 1);
}
