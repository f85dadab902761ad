//! Detects the capabilities of a model with two small calls.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::ModelDialogue;
use super::answer_check;
use super::reply_types::AnswerProtocol;
use crate::cost::CallCost;
use crate::{
    FinishReason, GenerateRequest, GeneratedAnswer, JsonSupport, Message, ModelCapability,
    ModelError, OutputSchema, ToolSpec, ignore_deltas,
};

/// Room for a call with a one-word argument, and for a model that thinks before it.
pub(super) const PROBE_TOKENS: u32 = 2_000;

/// What the probes found out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProbeFinding {
    pub(super) capability: ModelCapability,
    /// Both answers were complete. An answer that was cut off proves nothing about what the model can do.
    pub(super) proven: bool,
}

/// A request that requires a tool call, and one that requires JSON matching a schema.
pub(super) fn probe_requests() -> (GenerateRequest, GenerateRequest) {
    let shape = json!({
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": false,
    });
    let mut calling = GenerateRequest::new(vec![
        Message::system("You do what you are asked by calling tools."),
        Message::user("Call the tool `report` with the word ready."),
    ]);
    calling.tools = vec![ToolSpec {
        name: "report".to_owned(),
        description: "Reports one word.".to_owned(),
        schema: shape.clone(),
    }];
    let mut asking = GenerateRequest::new(vec![Message::user(
        "Answer with a JSON object whose field `word` is ready.",
    )]);
    asking.output_schema = Some(OutputSchema::new("report", shape));
    for request in [&mut calling, &mut asking] {
        (request.max_output_tokens, request.temperature) = (Some(PROBE_TOKENS), Some(0.0));
    }
    (calling, asking)
}

/// Sends both requests and derives the capabilities from the answers.
pub(super) async fn probe_capability(
    dialogue: &ModelDialogue,
    cancel: &CancellationToken,
    spent: &mut Option<CallCost>,
) -> Result<ProbeFinding, ModelError> {
    let (calling, asking) = probe_requests();
    let answer = ask_probe(dialogue, &calling, cancel, spent).await?;
    let calls_cut = answer.as_ref().is_some_and(is_cut_off);
    // Only a call in the provider's own format is evidence; a printed call works in the text protocol as well.
    let calls = answer.is_some_and(|generated| {
        !generated.tool_calls.is_empty()
            && answer_check::check_reply(
                &generated,
                &calling,
                AnswerProtocol::Tools,
                &mut Vec::new(),
            )
            .is_ok()
    });
    let answer = ask_probe(dialogue, &asking, cancel, spent).await?;
    let json_cut = answer.as_ref().is_some_and(is_cut_off);
    let matches_schema = |generated: &GeneratedAnswer| {
        let shape = asking.output_schema.as_ref().map(|output| &output.schema);
        shape.is_some_and(|shape| {
            answer_check::check_json(generated, shape, &mut Vec::new()).is_ok()
        })
    };
    let fits = json_cut || answer.as_ref().is_some_and(matches_schema);
    let json = if fits { JsonSupport::Schema } else { JsonSupport::None };
    Ok(ProbeFinding {
        capability: ModelCapability { tools: calls || calls_cut, json, streaming: true },
        proven: !calls_cut && !json_cut,
    })
}

/// The answer ended at its length, or before anything but thinking was written.
fn is_cut_off(generated: &GeneratedAnswer) -> bool {
    generated.finish == FinishReason::Length
}

/// `None` if the model rejected this form of request; an error if it could not be reached at all.
async fn ask_probe(
    dialogue: &ModelDialogue,
    request: &GenerateRequest,
    cancel: &CancellationToken,
    spent: &mut Option<CallCost>,
) -> Result<Option<GeneratedAnswer>, ModelError> {
    match dialogue.call_model(request, &ignore_deltas, cancel, spent).await {
        Ok(generated) => Ok(Some(generated)),
        Err(error) => match error.code.as_str() {
            "bad_request" | "server_error" | "empty_answer" | "truncated_stream" | "bad_shape"
            | "bad_json" => Ok(None),
            _ => Err(error),
        },
    }
}
