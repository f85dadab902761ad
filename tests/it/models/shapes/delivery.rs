//! Shapes of servers and connections: what goes wrong before the model's answer is read.

use std::time::Duration;

use super::Shape;
use crate::models::server::{Act, Piece, send};
use crate::models::wire::{ALL, Format};

/// Status codes with nothing else unusual.
const STATUSES: [u16; 38] = [
    204, 205, 206, 300, 304, 305, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 418, 421,
    422, 425, 426, 428, 431, 451, 500, 501, 502, 503, 504, 507, 508, 511, 520, 522, 524, 529, 599,
];

/// Values of `Retry-After`, all of which repeat until the program gives up.
const WAITS: [&str; 12] = [
    "0",
    "0.01",
    "-5",
    "soon",
    "",
    "1, 2",
    "3600",
    "86400",
    "1e300",
    "99999999999999999999",
    "Wed, 21 Oct 2015 07:28:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
];

pub(super) fn shapes() -> Vec<Shape> {
    // What does not depend on the wire format is spread over all of them.
    let mut turn = ALL.into_iter().cycle();
    let mut shapes = Vec::new();
    let mut add = |name: String, act: Act| {
        if let Some(format) = turn.next() {
            shapes.push(Shape::new(format!("{name} ({})", format.kind()), format, act));
        }
    };
    for status in STATUSES {
        add(format!("status {status}"), Act::status(status, "{}"));
    }
    add("status 429, no Retry-After".to_owned(), Act::status(429, "{}"));
    for wait in WAITS {
        let act = Act::status(429, "{}").header("retry-after", wait);
        add(format!("status 429, Retry-After `{wait}`"), act);
    }
    add(
        "status 503, Retry-After `7200`".to_owned(),
        Act::status(503, "{}").header("retry-after", "7200"),
    );
    for status in [301, 302, 303, 307, 308] {
        let act = Act::status(status, "").header("location", "http://127.0.0.2:9/v1/x");
        add(format!("redirect {status} to another host"), act);
    }
    for (name, act) in refusals().into_iter().chain(connections()).chain(bodies()) {
        add(name.to_owned(), act);
    }
    for format in ALL {
        for (name, act) in streams(format) {
            shapes.push(Shape::new(format!("{name} ({})", format.kind()), format, act));
        }
    }
    shapes
}

/// Errors with a message.
fn refusals() -> Vec<(&'static str, Act)> {
    let html = "<html><body>Bad gateway</body></html>";
    let long = format!("{{\"error\": \"{}\"}}", "no ".repeat(200_000));
    let quota = r#"{"error": {"message": "You exceeded", "code": "insufficient_quota"}}"#;
    let context = r#"{"error": {"message": "maximum context length is 8"}}"#;
    vec![
        ("status 502 with a page", Act::status(502, html).header("content-type", "text/html")),
        ("status 400 with half JSON", Act::status(400, "{\"error\": {\"mess")),
        ("status 400 with controls", Act::status(400, "{\"error\": \"\\u001b[2J\\u202e\"}")),
        ("status 429, quota used up", Act::status(429, quota)),
        ("status 400, context too long", Act::status(400, context)),
        ("status 500 with 600 KB of words", Act::status(500, &long)),
        ("status 200 with an error", Act::status(200, r#"{"error": {"message": "overloaded"}}"#)),
        ("status 200 with error `null`", Act::status(200, r#"{"error": null}"#)),
    ]
}

fn raw(text: &str, then_hang: bool) -> Act {
    Act::Raw { bytes: text.as_bytes().to_vec(), then_hang }
}

fn connections() -> Vec<(&'static str, Act)> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let comments: Vec<Piece> = (0..400)
        .flat_map(|_| [send(": still here\n\n"), Piece::Wait(Duration::from_millis(50))])
        .collect();
    let stream = |pieces| Act::Stream { kind: "text/event-stream", pieces };
    vec![
        ("reset before an answer", Act::Reset),
        ("closed before an answer", raw("", false)),
        ("silence before headers", Act::Silence),
        ("half a status line", raw("HTTP/1.1 20", false)),
        ("half the headers, then silence", raw(head, true)),
        ("half the headers, then the end", raw(head, false)),
        ("no HTTP at all", raw("220 mail.example ESMTP\r\n", false)),
        ("a status of letters", raw("HTTP/1.1 two OK\r\n\r\n", false)),
        (
            "a body shorter than announced",
            raw(&format!("{head}content-length: 900\r\n\r\n{{"), false),
        ),
        ("a body that never comes", raw(&format!("{head}content-length: 900\r\n\r\n"), true)),
        ("a negative length", raw(&format!("{head}content-length: -1\r\n\r\n{{}}"), false)),
        (
            "chunks without sizes",
            raw(&format!("{events}transfer-encoding: chunked\r\n\r\nxyz\r\ndata"), false),
        ),
        ("an open stream without a byte", stream(vec![Piece::Hang])),
        ("keep-alives only", stream(comments)),
        ("a keep-alive, then a reset", stream(vec![send(": hi\n\n"), Piece::Cut])),
        (
            "headers of 1 MB",
            raw(&format!("{head}x-long: {}\r\n\r\n{{}}", "a".repeat(1 << 20)), false),
        ),
    ]
}

fn complete_answer(kind: &str, body: &[u8]) -> Act {
    Act::Reply {
        status: 200,
        headers: vec![("content-type", kind.to_owned())],
        body: body.to_vec(),
    }
}

fn bodies() -> Vec<(&'static str, Act)> {
    let json = |body: &str| complete_answer("application/json", body.as_bytes());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let packed =
        |body: &[u8]| complete_answer("application/json", body).header("content-encoding", "gzip");
    vec![
        ("a page instead of an answer", complete_answer("text/html", b"<html>Log in</html>")),
        ("an image", complete_answer("image/png", b"\x89PNG\r\n")),
        ("XML", complete_answer("application/xml", b"<answer/>")),
        ("a type of its own", complete_answer("application/x-odd; charset=odd", b"{}")),
        ("a page called JSON", json("<html>Log in</html>")),
        ("gzip that is none", packed(b"not packed at all")),
        ("gzip that ends early", packed(b"\x1f\x8b\x08\0\0\0\0\0")),
        ("an empty body", json("")),
        ("a body of spaces", json(" \n\n ")),
        ("`null`", json("null")),
        ("`[]`", json("[]")),
        ("`42`", json("42")),
        ("a bare string", json("\"done\"")),
        ("an empty object", json("{}")),
        ("half an object", json("{\"choices\": [{\"message\": {\"content\": \"do")),
        ("two objects in a row", json("{} {}")),
        ("JSON of 100,000 levels", json(&deep)),
        ("JSON with NaN", json("{\"choices\": NaN}")),
        ("bytes that are no text", complete_answer("application/json", b"{\"a\": \"\xff\xfe\"}")),
        ("one line of 17 MB", json(&format!("{{\"a\": \"{}\"}}", "z".repeat(17 << 20)))),
    ]
}

/// Streams that begin correctly, or not.
fn streams(format: Format) -> Vec<(&'static str, Act)> {
    let line = |text: &str| match format {
        Format::Ollama => send(format!("{text}\n")),
        _ => send(format!("data: {text}\n\n")),
    };
    let after = |piece: Piece| {
        let mut pieces = format.begun(&["It ", "says "]);
        pieces.push(piece);
        format.stream(pieces)
    };
    let begun = |end: Option<Piece>| {
        let mut pieces = format.begun(&["It ", "says "]);
        pieces.extend(end);
        format.stream(pieces)
    };
    let mut drip = format.begun(&["It "]);
    for _ in 0..60 {
        drip.extend([send(" "), Piece::Wait(Duration::from_millis(50))]);
    }
    let call = format.call("file_read", &serde_json::json!({"path": "a.txt"}));
    let cut_call = call[..call.len() - if format == Format::OpenAi { 2 } else { 1 }].to_vec();
    vec![
        ("a stream that just ends", begun(None)),
        ("a stream that is reset", begun(Some(Piece::Cut))),
        ("a stream that falls silent", begun(Some(Piece::Hang))),
        ("a stream that drips spaces", format.stream(drip)),
        ("a stream without an event", format.stream(Vec::new())),
        ("half JSON in a stream", after(line("{\"broken\": "))),
        ("an error in a stream", after(line("{\"error\": {\"message\": \"overloaded\"}}"))),
        ("no text in a stream", after(send(b"data: \xff\xfe\n\n{\"a\":\"\xff\"}\n".to_vec()))),
        ("a line of 2 MB in a stream", after(send(format!("data: {}", "x".repeat(2 << 20))))),
        ("a tool call whose end is missing", format.stream(cut_call)),
        ("a strange object in a stream", format.stream(vec![line("{\"unexpected\": true}")])),
    ]
}
