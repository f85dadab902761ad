//! Finding out what a model can do, with two small calls.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Dialogue;
use super::checking;
use super::types::Protocol;
use crate::llm::{
    Capability, GenerateRequest, JsonSupport, Message, ModelError, OutputSchema, ToolSpec,
    ignore_deltas,
};

/// Enough for a call of one word.
const MOST_TOKENS: u32 = 96;

/// Asks for a call of a tool and for JSON of a shape, and believes what comes back.
pub(super) async fn capability(
    dialogue: &Dialogue,
    cancel: &CancellationToken,
) -> Result<Capability, ModelError> {
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
    (calling.max_output_tokens, calling.temperature) = (Some(MOST_TOKENS), Some(0.0));
    let mut spent = None;
    let answer = ask(dialogue, &calling, cancel, &mut spent).await?;
    // Only a call in the provider's own form counts; one that is printed works in the text protocol as well.
    let tools = answer.is_some_and(|generated| {
        !generated.tool_calls.is_empty()
            && checking::reply(&generated, &calling, Protocol::Tools, &mut Vec::new()).is_ok()
    });

    let mut asking = GenerateRequest::new(vec![Message::user(
        "Answer with a JSON object whose field `word` is ready.",
    )]);
    asking.output_schema = Some(OutputSchema { name: "report".to_owned(), schema: shape.clone() });
    (asking.max_output_tokens, asking.temperature) = (Some(MOST_TOKENS), Some(0.0));
    let answer = ask(dialogue, &asking, cancel, &mut spent).await?;
    let json = match answer {
        Some(generated) if checking::json(&generated, &shape, &mut Vec::new()).is_ok() => {
            JsonSupport::Schema
        }
        _ => JsonSupport::None,
    };
    Ok(Capability { tools, json, streaming: true })
}

/// `None` if the model refused to be asked like this; an error if it could not be asked at all.
async fn ask(
    dialogue: &Dialogue,
    request: &GenerateRequest,
    cancel: &CancellationToken,
    spent: &mut Option<crate::llm::cost::Cost>,
) -> Result<Option<crate::llm::Generated>, ModelError> {
    match dialogue.ask(request, &ignore_deltas, cancel, spent).await {
        Ok(generated) => Ok(Some(generated)),
        Err(error) => match error.code.as_str() {
            "bad_request" | "server_error" | "empty_answer" | "truncated_stream" | "bad_shape"
            | "bad_json" => Ok(None),
            _ => Err(error),
        },
    }
}
