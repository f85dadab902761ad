//! What servers do wrong: every case ends within its limit, in an error that names the provider and a next step.

use std::time::Duration;

use planwright_llm::transport::{ExchangeLimits, RetryPolicy};
use planwright_llm::{LanguageModel, ModelError};
use planwright_model::Category;

use super::server::{Act, Piece, Server, send};
use super::wire::{self, ALL, Format};
use super::{ask, asked, question, scripted, with_tool};

/// Limits short enough for a quick test, with room for a busy machine.
fn short() -> ExchangeLimits {
    let (limits, _) = wire::quick();
    ExchangeLimits { call: Duration::from_millis(400), ..limits }
}

fn no_retry() -> RetryPolicy {
    RetryPolicy { retries: 0, outage_wait: Duration::ZERO, ..wire::quick().1 }
}

async fn error_of(format: Format, act: Act, limits: ExchangeLimits) -> ModelError {
    let server = scripted(format, vec![act]).await;
    let models = wire::models_with(wire::settings(format, &server), limits, no_retry());
    let model = models.open_model("mock", None).await.unwrap();
    let error = ask(model.as_ref(), &question()).await.0.unwrap_err();
    assert_eq!(error.provider, "mock", "{format:?}");
    assert!(error.message.contains("mock") && !error.next_step.is_empty(), "{error:?}");
    error
}

#[tokio::test]
async fn silence_ends_at_its_limit() {
    for format in ALL {
        assert_eq!(
            error_of(format, Act::Silence, short()).await.code,
            "timeout_call",
            "{format:?}"
        );
        let open = format.stream(vec![Piece::Hang]);
        assert_eq!(error_of(format, open, short()).await.code, "timeout_call", "{format:?}");
        let mut half = format.begun(&["some ", "words "]);
        half.push(Piece::Hang);
        assert_eq!(
            error_of(format, format.stream(half), short()).await.code,
            "timeout_call",
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn keep_alives_and_dripping_bytes_do_not_make_a_call_longer() {
    for format in ALL {
        let drip: &[u8] = if format == Format::Ollama { b" \n" } else { b": still here\n\n" };
        let letters: &[u8] = b"data: {\"never\":\"ends\",";
        for bytes in [drip, letters] {
            let mut pieces = format.begun(&["word "]);
            for _ in 0..200 {
                pieces.push(send(&bytes[..bytes.len().min(14)]));
                pieces.push(Piece::Wait(Duration::from_millis(20)));
            }
            let error = error_of(format, format.stream(pieces), short()).await;
            assert_eq!(error.code, "timeout_call", "{format:?}");
        }
    }
    let mut pings = Format::Anthropic.begun(&["word "]);
    for _ in 0..200 {
        pings.push(send("event: ping\ndata: {\"type\": \"ping\"}\n\n"));
        pings.push(Piece::Wait(Duration::from_millis(20)));
    }
    let error = error_of(Format::Anthropic, Format::Anthropic.stream(pings), short()).await;
    assert_eq!(error.code, "timeout_call");
}

#[tokio::test]
async fn an_answer_that_never_ends_is_ended() {
    for format in ALL {
        let mut pieces = format.begun(&["word "]);
        let word = pieces[pieces.len() - 1].clone();
        for _ in 0..2_000 {
            pieces.push(word.clone());
            pieces.push(Piece::Wait(Duration::from_millis(5)));
        }
        let limits = ExchangeLimits { call: Duration::from_millis(600), ..wire::quick().0 };
        let error = error_of(format, format.stream(pieces), limits).await;
        assert_eq!(error.code, "timeout_call", "{format:?}");
    }
}

#[tokio::test]
async fn invalid_answers_are_reported_with_a_precise_code() {
    for format in ALL {
        let line = |text: &str| match format {
            Format::Ollama => send(format!("{text}\n")),
            _ => send(format!("data: {text}\n\n")),
        };
        let stream = |pieces: Vec<Piece>| format.stream(pieces);
        let html = Act::status(200, "<html>").header("content-type", "text/html");
        let not_text = match format {
            Format::Ollama => send(b"{\"a\":\"\xff\xfe\"}\n".to_vec()),
            _ => send(b"data: \xff\xfe\n\n".to_vec()),
        };
        let long = "x".repeat(300 << 10);
        for (act, code) in [
            (stream(vec![line("{\"broken\": ")]), "bad_json"),
            (
                stream(vec![line(
                    "{\"error\": {\"message\": \"overloaded\", \"type\": \"overloaded_error\"}}",
                )]),
                "overloaded",
            ),
            (stream(vec![not_text]), "not_utf8"),
            (stream(vec![send(format!("data: {long}"))]), "too_large"),
            (stream(Vec::new()), "empty_answer"),
            (html, "wrong_content_type"),
            (Act::status(200, "[1, 2"), "bad_json"),
            (Act::status(200, "{\"unexpected\": true}"), "bad_shape"),
            (Act::status(400, "{\"error\": {\"message\": \"no\"}}"), "bad_request"),
            (Act::status(401, "{}"), "unauthorized"),
            (Act::status(404, "{\"error\": \"model 'm' not found\"}"), "not_found"),
            (Act::status(418, "teapot"), "bad_request"),
            (Act::Reset, "unreachable"),
        ] {
            let shown = format!("{format:?} {act:?}").chars().take(150).collect::<String>();
            let error = error_of(format, act, wire::quick().0).await;
            assert_eq!(error.code, code, "{shown}");
        }
    }
}

#[tokio::test]
async fn fifty_megabytes_are_refused_long_before_they_are_buffered() {
    for format in ALL {
        let word = "y".repeat(8 << 10);
        let mut pieces = format.begun(&[&word]);
        let chunk = pieces[pieces.len() - 1].clone();
        for _ in 0..6_400 {
            pieces.push(chunk.clone());
        }
        let error = error_of(format, format.stream(pieces), wire::quick().0).await;
        assert_eq!(error.code, "too_large", "{format:?}");
        assert_ne!(error.category, Category::Transient, "asking again would bring the same");
        let complete = Act::status(200, &format!("{{\"a\": \"{}\"}}", "z".repeat(2 << 20)));
        assert_eq!(
            error_of(format, complete, wire::quick().0).await.code,
            "too_large",
            "{format:?}"
        );
    }
}

/// A gzip file of zeros in a run-length code, a thousand times smaller than its unpacked size.
fn gzip_bomb(megabytes: usize) -> Vec<u8> {
    struct Bits(Vec<u8>, u32, u32);
    impl Bits {
        fn push(&mut self, value: u32, count: u32) {
            self.1 |= value << self.2;
            self.2 += count;
            while self.2 >= 8 {
                self.0.push(self.1 as u8);
                (self.1, self.2) = (self.1 >> 8, self.2 - 8);
            }
        }
    }
    let mut bits = Bits(vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], 0, 0);
    // One block with fixed codes: a zero byte, then "the last byte 258 times more" over and over.
    bits.push(0b011, 3);
    bits.push(0b0000_1100, 8);
    for _ in 0..(megabytes << 20) / 258 {
        bits.push(0b1010_0011, 8);
        bits.push(0, 5);
    }
    bits.push(0, 7);
    bits.push(0, 7);
    bits.0.extend([0; 8]);
    bits.0
}

#[tokio::test]
async fn a_small_answer_that_unpacks_to_a_large_one_is_refused() {
    let body = gzip_bomb(64);
    assert!(body.len() < 1 << 20);
    let bomb = Act::Reply {
        status: 200,
        headers: vec![
            ("content-type", "application/json".into()),
            ("content-encoding", "gzip".into()),
        ],
        body,
    };
    let error = error_of(Format::OpenAi, bomb, wire::quick().0).await;
    assert_eq!(error.code, "too_large", "{error:?}");
}

#[tokio::test]
async fn redirects_are_not_followed_with_the_key() {
    let elsewhere = Server::start(vec![Act::json(&serde_json::json!({}))]).await;
    for format in ALL {
        for status in [301, 302, 307, 308] {
            let act =
                Act::status(status, "").header("location", &format!("{}/v1/x", elsewhere.url));
            let error = error_of(format, act, wire::quick().0).await;
            assert_eq!(error.code, "redirect_refused", "{format:?} {status}");
        }
    }
    assert!(elsewhere.requests().is_empty(), "nothing reached the other host");
}

#[tokio::test]
async fn an_unreachable_server_is_named_with_its_address() {
    let server = Server::start(vec![Act::Reset]).await;
    let settings = wire::settings(Format::OpenAi, &server);
    let address = server.url.trim_start_matches("http://").to_owned();
    drop(server);
    tokio::task::yield_now().await;
    let models = wire::models_with(settings, wire::quick().0, no_retry());
    let model = models.open_model("mock", None).await.unwrap();
    let error = ask(model.as_ref(), &question()).await.0.unwrap_err();
    assert_eq!(error.code, "unreachable");
    assert!(error.message.contains(&address), "{}", error.message);
}

#[tokio::test]
async fn a_truncated_or_garbled_stream_produces_no_call() {
    for format in ALL {
        let complete = format.call("file_read", &serde_json::json!({"path": "/etc/passwd"}));
        let last = complete.len() - if format == Format::OpenAi { 2 } else { 1 };
        for kept in 0..=last {
            for end in [vec![], vec![Piece::Cut], vec![send("data: {oops\n\n")]] {
                if kept == last && end.is_empty() && format == Format::OpenAi {
                    continue;
                }
                let mut pieces = complete[..kept].to_vec();
                pieces.extend(end);
                let server = scripted(format, vec![format.stream(pieces)]).await;
                let models =
                    wire::models_with(wire::settings(format, &server), wire::quick().0, no_retry());
                let model = models.open_model("mock", None).await.unwrap();
                let result = ask(model.as_ref(), &with_tool()).await.0;
                assert!(result.is_err(), "{format:?} after {kept} pieces: {result:?}");
            }
        }
    }
}

#[tokio::test]
async fn shapes_of_event_streams_make_no_difference() {
    let plain: Vec<u8> = Format::OpenAi
        .text(&["a", "b"])
        .into_iter()
        .flat_map(|piece| match piece {
            Piece::Send(bytes) => bytes,
            _ => Vec::new(),
        })
        .collect();
    let text = String::from_utf8(plain).unwrap();
    let shapes: Vec<Vec<Piece>> = vec![
        text.bytes().map(|byte| send([byte])).collect(),
        vec![send(text.replace('\n', "\r\n"))],
        vec![send(text.replace('\n', "\r"))],
        vec![send(format!("\u{feff}{text}"))],
        vec![send(text.replace("data: ", "data:"))],
        vec![send(text.replace("data: ", ": note\nid: 7\nretry: 10\nevent: message\ndata: "))],
        vec![send(text.replace("data: {", "data: {\ndata: "))],
        vec![send(format!("\n\n\n{text}\n\n"))],
        vec![send(text.replace("data: [DONE]\n\n", ""))],
        vec![send(text.trim_end())],
        vec![send(text.replace("data: [DONE]", "unknown: field\ndata: [DONE]"))],
        vec![send(format!("{text}data: {{\"after\": \"the end\"}}\n\n"))],
    ];
    for (number, pieces) in shapes.into_iter().enumerate() {
        let server = Server::start(vec![Format::OpenAi.stream(pieces)]).await;
        let models =
            wire::models_with(wire::settings(Format::OpenAi, &server), wire::quick().0, no_retry());
        let model = models.open_model("mock", None).await.unwrap();
        let result = ask(model.as_ref(), &question()).await.0;
        assert_eq!(result.map(|generated| generated.text).as_deref(), Ok("ab"), "shape {number}");
    }
}

#[tokio::test]
async fn retry_after_in_every_form_is_survived() {
    for value in
        ["0", "0.001", "-5", "soon", "", "99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT"]
    {
        let busy = Act::status(429, "{}").header("retry-after", value);
        let acts = vec![busy, Format::OpenAi.stream(Format::OpenAi.text(&["ok"]))];
        let server = Server::start(acts).await;
        let model = wire::models(Format::OpenAi, &server).open_model("mock", None).await.unwrap();
        let result = ask(model.as_ref(), &question()).await.0;
        match value {
            "99999999999999999999" => assert_eq!(result.unwrap_err().code, "rate_limited"),
            _ => assert_eq!(result.unwrap().text, "ok", "{value}"),
        }
    }
}

#[tokio::test]
async fn a_provider_that_keeps_failing_opens_its_breaker() {
    let server = Server::start(vec![Act::status(500, "down")]).await;
    let model = wire::models(Format::OpenAi, &server).open_model("mock", None).await.unwrap();
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(ask(model.as_ref(), &question()).await.0.unwrap_err().code);
    }
    assert_eq!(codes[0], "server_error");
    assert_eq!(codes[3], "breaker_open");
    assert_eq!(
        asked(Format::OpenAi, &server).len(),
        6,
        "six failures open it, and then nobody calls"
    );
}

#[tokio::test]
async fn no_more_requests_than_allowed_are_in_progress_at_once() {
    let pieces = |text: &str| {
        let mut pieces = vec![Piece::Wait(Duration::from_millis(30))];
        pieces.extend(Format::OpenAi.text(&[text]));
        Format::OpenAi.stream(pieces)
    };
    let server = Server::start(vec![pieces("x")]).await;
    let mut settings = wire::settings(Format::OpenAi, &server);
    settings.providers.get_mut("mock").unwrap().value.concurrency = Some(1);
    let (limits, retry) = wire::quick();
    let models = wire::models_with(settings, limits, retry);
    let one = models.open_model("mock", None).await.unwrap();
    let two = models.open_model("mock", Some("other")).await.unwrap();
    let (first, second) = (question(), question());
    let both =
        tokio::join!(ask(one.as_ref(), &first), ask(two.as_ref() as &dyn LanguageModel, &second));
    assert!(both.0.0.is_ok() && both.1.0.is_ok());
    assert_eq!(
        (server.requests().len(), server.busiest()),
        (2, 1),
        "models of a provider share its gate"
    );
}
