//! Shapes of answers: delivered correctly, and still not what was asked for.

use serde_json::{Value, json};

use super::Shape;
use crate::models::server::Act;
use crate::models::wire::{ALL, Format};

/// An answer in one piece with its stop reason.
fn answer(format: Format, message: &Value, reason: &str, usage: &Value) -> Act {
    Act::json(&match format {
        Format::OpenAi => json!({"model": "m-1", "usage": usage,
            "choices": [{"message": message, "finish_reason": reason}]}),
        Format::Anthropic => json!({"type": "message", "model": "m-1", "content": message,
            "stop_reason": reason, "usage": usage}),
        Format::Ollama => {
            let mut answer = json!({"model": "m-1", "message": message, "done": true,
                "done_reason": reason});
            for (name, value) in usage.as_object().into_iter().flatten() {
                answer[name] = value.clone();
            }
            answer
        }
    })
}

fn words(format: Format, text: &str) -> Value {
    match format {
        Format::Anthropic => json!([{"type": "text", "text": text}]),
        _ => json!({"role": "assistant", "content": text}),
    }
}

/// Thinking that the provider separates from the answer.
fn thinking(format: Format, text: &str) -> Value {
    match format {
        Format::OpenAi => json!({"role": "assistant", "content": "", "reasoning_content": text}),
        Format::Anthropic => json!([{"type": "thinking", "thinking": text}]),
        Format::Ollama => json!({"role": "assistant", "content": "", "thinking": text}),
    }
}

/// Calls by the name of the tool and the text of the arguments.
fn calls(format: Format, calls: &[(&str, &str)]) -> Value {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    match format {
        Format::OpenAi => {
            let calls: Vec<Value> = calls.iter().enumerate().map(|(at, (name, arguments))| {
                json!({"id": format!("c{at}"), "function": {"name": name, "arguments": arguments}})
            }).collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        }
        Format::Anthropic => calls
            .iter()
            .map(|(name, text)| json!({"type": "tool_use", "id": "c", "name": name, "input": value(text)}))
            .collect(),
        Format::Ollama => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(name, text)| json!({"function": {"name": name, "arguments": value(text)}}))
                .collect();
            json!({"role": "assistant", "content": "", "tool_calls": calls})
        }
    }
}

fn stop(format: Format) -> &'static str {
    if format == Format::Anthropic { "end_turn" } else { "stop" }
}

fn calls_stop(format: Format) -> &'static str {
    match format {
        Format::OpenAi => "tool_calls",
        Format::Anthropic => "tool_use",
        Format::Ollama => "stop",
    }
}

fn usage(format: Format, input: &Value, output: &Value) -> Value {
    match format {
        Format::OpenAi => json!({"prompt_tokens": input, "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": input}}),
        Format::Anthropic => json!({"input_tokens": input, "output_tokens": output,
            "cache_read_input_tokens": input}),
        Format::Ollama => json!({"prompt_eval_count": input, "eval_count": output}),
    }
}

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for format in ALL {
        let mut add = |name: &str, act: Act| {
            shapes.push(Shape::new(format!("{name} ({})", format.kind()), format, act));
        };
        let few = usage(format, &json!(11), &json!(7));
        let reply = |text: &str, reason: &str| answer(format, &words(format, text), reason, &few);
        for reason in reasons(format) {
            add(&format!("reason `{reason}` after words"), reply("It says hello.", reason));
            let half = "{\"answer\": \"It says";
            add(&format!("reason `{reason}` after half an object"), reply(half, reason));
        }
        for (name, text) in texts() {
            add(name, reply(text, stop(format)));
        }
        let thought = thinking(format, "I should read it.");
        add("thinking alone", answer(format, &thought, stop(format), &few));
        add("an announced call that is missing", reply("I call it.", announced(format)));
        for (name, list, reason) in wrong_calls(format) {
            add(name, answer(format, &calls(format, &list), reason, &few));
        }
    }
    shapes.push(refusal_field());
    shapes.extend(figures());
    shapes.extend(recoveries());
    shapes
}

/// Stop reasons that mean that something is missing, and unknown ones.
fn reasons(format: Format) -> &'static [&'static str] {
    match format {
        Format::OpenAi => {
            &["length", "content_filter", "MAX_TOKENS", "SAFETY", "RECITATION", "insufficient_mood"]
        }
        Format::Anthropic => {
            &["max_tokens", "refusal", "pause_turn", "model_context_window_exceeded", "mood"]
        }
        Format::Ollama => &["length", "load", "unload", "mood"],
    }
}

/// A stop reason that announces a call.
fn announced(format: Format) -> &'static str {
    // Ollama has no such reason; an unknown word stands in for it.
    if format == Format::Ollama { "tool_calls" } else { calls_stop(format) }
}

fn texts() -> Vec<(&'static str, &'static str)> {
    vec![
        ("an empty text", ""),
        ("spaces", "   "),
        ("newlines", "\n\n\n\n"),
        ("thinking in tags alone", "<think>I should read it.</think>\n"),
        ("thinking in tags without an end", "<think>I should read"),
        ("half an object as text", "{\"action\": \"CALL_TOOL\", \"tool\": {\"na"),
        ("half an object in a block", "```json\n{\"phases\": [{\"title\": \"A\"}, {\"ti"),
        ("a refusal in words", "I'm sorry, but I can't help with that."),
        ("a call in prose", "First I use file.read(path=\"a.txt\") to see it."),
        (
            "a printed call of an unknown tool",
            "{\"name\": \"rm.all\", \"arguments\": {\"path\": \"/\"}}",
        ),
    ]
}

type WrongCall = (&'static str, Vec<(&'static str, &'static str)>, &'static str);

fn wrong_calls(format: Format) -> Vec<WrongCall> {
    let (end, cut) = (calls_stop(format), reasons(format)[0]);
    let twice = "{\"path\": 1, \"path\": {\"a\": 2}}";
    vec![
        ("a call that was cut off", vec![("file_read", "{\"path\": \"a.txt\"}")], cut),
        ("arguments that are cut", vec![("file_read", "{\"path\": \"a.t")], end),
        ("arguments that are no JSON", vec![("file_read", "path is a.txt")], end),
        ("arguments that are a list", vec![("file_read", "[1, 2]")], end),
        ("arguments of the wrong shape", vec![("file_read", "{\"lines\": \"all\"}")], end),
        ("arguments with a key twice", vec![("file_read", twice)], end),
        ("an unknown tool", vec![("rm_everything", "{}")], end),
        ("a tool without a name", vec![("", "{}")], end),
        ("40 calls at once", vec![("file_read", "{\"path\": \"a.txt\"}"); 40], end),
    ]
}

fn refusal_field() -> Shape {
    let message = json!({"role": "assistant", "content": null, "refusal": "I will not do that."});
    let act = answer(Format::OpenAi, &message, "stop", &json!({}));
    Shape::new("a refusal in its own field (openai)", Format::OpenAi, act)
}

/// Valid answers with invalid figures: they complete a task and book next to nothing.
fn figures() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for format in ALL {
        for (name, input, output) in [
            ("usage of 9e18 tokens in", json!(9_000_000_000_000_000_000_u64), json!(7)),
            ("usage of 9e18 tokens out", json!(11), json!(9_000_000_000_000_000_000_u64)),
            ("usage below zero", json!(-5), json!(-7)),
            ("usage of 1e40", json!(1e40), json!(1e40)),
            ("usage in words", json!("many"), json!(null)),
        ] {
            let figures = usage(format, &input, &output);
            let act = answer(format, &words(format, "It says hello."), stop(format), &figures);
            let name = format!("{name} ({})", format.kind());
            shapes.push(Shape::new(name, format, act).answering("It says hello."));
        }
    }
    shapes
}

/// Failures that one more request fixes: the answer is really the model's.
fn recoveries() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for format in ALL {
        let good = format.stream(format.text(&["It says ", "hello."]));
        let cut = answer(format, &words(format, "It sa"), reasons(format)[0], &json!({}));
        let empty = answer(format, &words(format, "\n"), stop(format), &json!({}));
        for (name, first) in [
            ("a cut answer, then a whole one", cut),
            ("an empty answer, then a real one", empty),
            ("status 503, then an answer", Act::status(503, "{}")),
            ("a reset, then an answer", Act::Reset),
        ] {
            let mut shape = Shape::new(format!("{name} ({})", format.kind()), format, first);
            shape.acts.push(good.clone());
            shapes.push(shape.answering("It says hello."));
        }
    }
    shapes
}
