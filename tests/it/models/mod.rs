//! Models against a mock server in all three wire formats, and against a real server where there is one.

mod caps;
mod conversations;
mod dialects;
mod hostile;
mod live;
mod ordinary;
mod outages;
mod program;
mod protocols;
mod secrets;
pub mod server;
mod shapes;
pub mod wire;

use std::sync::{Arc, Mutex};

use planwright_llm::{
    AnswerDelta, GenerateRequest, GeneratedAnswer, LanguageModel, Message, ModelError, ToolSpec,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use server::{Act, Server};
use wire::Format;

/// Opens the model of a mock server. Ollama is asked about its model first, which is not part of the script.
async fn open(format: Format, server: &Server) -> Arc<dyn LanguageModel> {
    wire::models(format, server).open_model("mock", None).await.unwrap()
}

/// A server with a script, after the request that one format makes when a model is opened.
pub async fn scripted(format: Format, mut acts: Vec<Act>) -> Server {
    if format == Format::Ollama {
        acts.insert(0, Act::json(&json!({"capabilities": ["completion", "tools"]})));
    }
    Server::start(acts).await
}

/// The requests to the model itself.
fn asked(format: Format, server: &Server) -> Vec<server::Request> {
    let skip = usize::from(format == Format::Ollama);
    server.requests().into_iter().skip(skip).collect()
}

fn question() -> GenerateRequest {
    GenerateRequest::new(vec![Message::system("Be brief."), Message::user("Say hello.")])
}

pub fn with_tool() -> GenerateRequest {
    let mut request = question();
    request.tools = vec![ToolSpec {
        name: "file.read".into(),
        description: "Reads a file.".into(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    }];
    request
}

/// Asks and collects the reported progress.
pub async fn ask(
    model: &dyn LanguageModel,
    request: &GenerateRequest,
) -> (Result<GeneratedAnswer, ModelError>, Vec<AnswerDelta>) {
    let seen = Mutex::new(Vec::new());
    let keep = |delta: AnswerDelta| seen.lock().unwrap().push(delta);
    let result = model.generate(request, &keep, &CancellationToken::new()).await;
    (result, seen.into_inner().unwrap())
}

fn text_of(deltas: &[AnswerDelta]) -> String {
    let mut text = String::new();
    for delta in deltas {
        match delta {
            AnswerDelta::Text { text: piece } => text.push_str(piece),
            AnswerDelta::Retrying { .. } => text.clear(),
            _ => {}
        }
    }
    text
}
