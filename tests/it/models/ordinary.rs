//! The normal case, and small deviations from it.

use std::time::Duration;

use planwright_llm::cost::Ledger;
use planwright_llm::{AnswerDelta, FinishReason, OutputSchema, TokenUsage, ignore_deltas};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::server::{Act, Piece};
use super::wire::{self, ALL, Format, KEY};
use super::{ask, asked, open, question, scripted, text_of, with_tool};

#[tokio::test]
async fn an_answer_arrives_in_pieces_and_whole() {
    for format in ALL {
        let acts = vec![
            format.stream(format.text(&["Hel", "lo ", "wörld"])),
            format.complete_text("Hello wörld"),
        ];
        let server = scripted(format, acts).await;
        let model = open(format, &server).await;
        let (streamed, deltas) = ask(model.as_ref(), &question()).await;
        let streamed = streamed.unwrap();
        assert_eq!(streamed.text, "Hello wörld", "{format:?}");
        assert_eq!(text_of(&deltas), "Hello wörld");
        assert_eq!((streamed.finish.clone(), streamed.model.as_str()), (FinishReason::Stop, "m-1"));
        assert_eq!(
            (streamed.usage.input, streamed.usage.output),
            (Some(11), Some(7)),
            "{format:?}"
        );
        let mut request = question();
        request.stream = false;
        let (unstreamed, deltas) = ask(model.as_ref(), &request).await;
        let unstreamed = unstreamed.unwrap();
        assert_eq!(
            (unstreamed.text, unstreamed.usage.input),
            (streamed.text, Some(11)),
            "{format:?}"
        );
        assert!(deltas.is_empty());
        if format != Format::Ollama {
            assert_eq!(unstreamed.usage.cached, Some(4));
        }
        let requests = asked(format, &server);
        assert_eq!(requests[0].body["stream"], true);
        assert!(requests[0].head.contains(KEY), "the key goes to the server it belongs to");
    }
}

#[tokio::test]
async fn tools_are_called_by_their_own_names() {
    for format in ALL {
        let pieces = format.call("file_read", &json!({"path": "a.txt"}));
        let server = scripted(format, vec![format.stream(pieces)]).await;
        let model = open(format, &server).await;
        let (generated, deltas) = ask(model.as_ref(), &with_tool()).await;
        let generated = generated.unwrap();
        assert_eq!(generated.finish, FinishReason::ToolCalls, "{format:?}");
        assert_eq!(generated.tool_calls[0].name, "file.read");
        assert_eq!(generated.tool_calls[0].arguments, r#"{"path":"a.txt"}"#);
        assert!(
            deltas.iter().any(
                |delta| matches!(delta, AnswerDelta::Call { name, .. } if name == "file.read")
            )
        );
        let body = &asked(format, &server)[0].body;
        let name = body.pointer("/tools/0/function/name").or(body.pointer("/tools/0/name"));
        assert_eq!(name, Some(&json!("file_read")), "{format:?}");
    }
}

#[tokio::test]
async fn json_is_constrained_to_its_schema() {
    for format in ALL {
        let wanted = json!({"title": "Plan", "steps": 3});
        let server = scripted(format, vec![format.stream(format.structured(&wanted))]).await;
        let models = wire::models(format, &server);
        let dialogue =
            models.wrap_model(models.open_model("mock", None).await.unwrap(), Ledger::new());
        let mut request = question();
        request.output_schema = Some(OutputSchema::new(
            "plan",
            json!({"type": "object", "properties": {"title": {"type": "string"}, "steps": {"type": "integer"}},
                "required": ["title", "steps"], "additionalProperties": false}),
        ));
        let answer =
            dialogue.ask_json(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap();
        assert_eq!(answer.value, wanted, "{format:?}");
        assert!(answer.notes.is_empty(), "{:?}", answer.notes);
    }
}

#[tokio::test]
async fn a_busy_provider_is_waited_for_as_long_as_it_asks() {
    for format in ALL {
        let busy =
            Act::status(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "0");
        let server = scripted(format, vec![busy, format.stream(format.text(&["ok"]))]).await;
        let model = open(format, &server).await;
        let (generated, deltas) = ask(model.as_ref(), &question()).await;
        assert_eq!(generated.unwrap().text, "ok", "{format:?}");
        assert!(
            matches!(&deltas[0], AnswerDelta::Retrying { attempt: 1, why, .. } if why.contains("slow down"))
        );

        let patient = Act::status(429, "{}").header("retry-after", "3600");
        let server = scripted(format, vec![patient]).await;
        let model = open(format, &server).await;
        let error = ask(model.as_ref(), &question()).await.0.unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.retry_after),
            ("rate_limited", Some(Duration::from_secs(3600)))
        );
        assert_eq!(asked(format, &server).len(), 1, "too long a wait is for the person to decide");
    }
}

#[tokio::test]
async fn a_stumbling_server_is_asked_again() {
    for format in ALL {
        for stumble in [Act::status(500, "oops"), Act::status(503, ""), Act::Reset] {
            let server =
                scripted(format, vec![stumble.clone(), format.stream(format.text(&["ok"]))]).await;
            let model = open(format, &server).await;
            let generated = ask(model.as_ref(), &question()).await.0.unwrap();
            assert_eq!(generated.text, "ok", "{format:?} after {stumble:?}");
            assert_eq!(asked(format, &server).len(), 2);
            assert_eq!(
                generated.spent_on_retries,
                TokenUsage::default(),
                "a refusal costs nothing"
            );
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_asked_again_from_the_start_and_paid_for() {
    for format in ALL {
        let mut broken = format.begun(&["half ", "an ", "answer "]);
        broken.push(Piece::Cut);
        let acts = vec![format.stream(broken), format.stream(format.text(&["the ", "whole"]))];
        let server = scripted(format, acts).await;
        let model = open(format, &server).await;
        let (generated, deltas) = ask(model.as_ref(), &question()).await;
        let generated = generated.unwrap();
        assert_eq!(generated.text, "the whole", "{format:?}");
        assert_eq!(text_of(&deltas), "the whole", "what was seen before is void");
        assert!(generated.spent_on_retries.total() > 0, "{format:?}");
    }
}

#[tokio::test]
async fn cancelling_ends_the_request_and_frees_the_server() {
    for format in ALL {
        let mut pieces = format.begun(&["one "]);
        pieces.push(Piece::Hang);
        let server = scripted(format, vec![format.stream(pieces)]).await;
        let model = open(format, &server).await;
        let cancel = CancellationToken::new();
        let stop = |delta: AnswerDelta| {
            if matches!(delta, AnswerDelta::Text { .. }) {
                cancel.cancel();
            }
        };
        let error = model.generate(&question(), &stop, &cancel).await.unwrap_err();
        assert!(error.is_cancelled(), "{format:?}: {error:?}");
        // The server notices, or the test never ends.
        server.abandoned.notified().await;
        let before = CancellationToken::new();
        before.cancel();
        assert!(
            model.generate(&question(), &ignore_deltas, &before).await.unwrap_err().is_cancelled()
        );
    }
}
