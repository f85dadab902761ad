//! A tool of a server, as one of ours.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::server::Server;
use crate::model::{Digest, Failure, ToolResult};
use crate::tools::context::ToolContext;
use crate::tools::limit;
use crate::tools::meta::{Effect, Pin, PinStanding, RepeatKind, Resolved, Source, ToolMeta};
use crate::tools::tool::{Answer, Code, Tool, ToolError};

/// Longer descriptions are cut, larger schemas refused.
const LONGEST_DESCRIPTION: usize = 4000;
const LARGEST_SCHEMA: usize = 64 * 1024;

/// What an approval is bound to: name, description and arguments.
pub fn hash_of(tool: &rmcp::model::Tool) -> Digest {
    Digest::of_json(&json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "schema": *tool.input_schema,
    }))
}

#[derive(Debug)]
pub(super) struct McpTool {
    meta: ToolMeta,
    server: Arc<Server>,
    remote_name: String,
    hash: Digest,
}

impl McpTool {
    /// Fits a tool into our registry. What cannot be fitted is left out with a reason.
    pub(super) fn new(server: &Arc<Server>, tool: &rmcp::model::Tool) -> Result<Self, String> {
        let remote_name = tool.name.to_string();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if remote_name.is_empty() || remote_name.len() > 128 || !remote_name.chars().all(fits) {
            let name = crate::text::clean_line(&remote_name).into_owned();
            return Err(format!("{}: the name `{name}` cannot be used", server.name()));
        }
        let schema = Value::Object(Map::clone(&tool.input_schema));
        if schema.to_string().len() > LARGEST_SCHEMA {
            return Err(format!(
                "{}: the arguments of {remote_name} are described at too great length",
                server.name()
            ));
        }
        let description =
            crate::text::clean(tool.description.as_deref().unwrap_or_default()).into_owned();
        let effects = &server.config.effects;
        let effect = effects
            .get(&remote_name)
            .or_else(|| effects.get("*"))
            .copied()
            .unwrap_or(Effect::Foreign);
        let meta = ToolMeta {
            name: format!("mcp.{}.{remote_name}", server.name()),
            version: hash_of(tool).short().to_owned(),
            description: limit::cut(&description, LONGEST_DESCRIPTION),
            schema,
            prerequisites: Vec::new(),
            produces: Vec::new(),
            idempotent: false,
            read_only: effect == Effect::Look,
            effect,
            repeat: if effect == Effect::Look { RepeatKind::Pure } else { RepeatKind::Unsafe },
            time_limit: server.config.time_limit,
            source: Source::Mcp { server: server.name().to_owned() },
            aliases: Vec::new(),
        };
        Ok(Self { meta, server: Arc::clone(server), remote_name, hash: hash_of(tool) })
    }
}

impl Tool for McpTool {
    fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    fn pin_hash(&self) -> Option<&Digest> {
        Some(&self.hash)
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let approved = context
            .toolbox
            .services()
            .pins
            .as_ref()
            .and_then(|pins| pins.approved(&self.meta.name));
        let standing = match approved {
            None => PinStanding::New,
            Some(hash) if hash == self.hash => PinStanding::Approved,
            Some(_) => PinStanding::Changed,
        };
        let mut resolved = Resolved::new(self.meta.effect, args.clone());
        resolved.pin = Some(Pin { hash: self.hash.clone(), standing });
        resolved.preview = Some(self.meta.description.clone());
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let arguments = resolved.args.as_object().cloned().unwrap_or_default();
            let called =
                self.server.call(&self.remote_name, &self.hash, arguments, &context.cancel).await;
            match called {
                Ok(result) => answer(&result, context.toolbox.settings().model_output_bytes),
                Err(error) => error.into(),
            }
        })
    }
}

fn answer(result: &CallToolResult, most: usize) -> Answer {
    let text = result.content.iter().map(text_of).collect::<Vec<_>>().join("\n");
    let text = crate::text::clean(&text).into_owned();
    let shown = limit::middle(&text, most);
    let cut = shown.len() < text.len();
    let mut data = json!({ "text": shown, "truncated": cut });
    if let Some(structured) =
        result.structured_content.as_ref().filter(|value| value.to_string().len() <= most)
    {
        data["structured"] = structured.clone();
    }
    let answer = if result.is_error == Some(true) {
        let message = limit::cut(&text, 500);
        let failure =
            Failure::from(ToolError::new(Code::Reported, format!("the tool says: {message}")));
        ToolResult::failure_with(&failure, data)
    } else {
        ToolResult::success(data).sure(0.8)
    };
    Answer { full_output: cut.then_some(text), ..Answer::from(answer) }
}

fn text_of(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!("[image, {}, {} bytes in base64]", image.mime_type, image.data.len())
        }
        ContentBlock::Audio(audio) => {
            format!("[audio, {}, {} bytes in base64]", audio.mime_type, audio.data.len())
        }
        ContentBlock::ResourceLink(link) => format!("[link to {}]", link.uri),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
