//! A tool of a server, as one of ours.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::definition::{Earlier, ToolDefinition};
use super::server::Server;
use crate::context::ToolContext;
use crate::limit;
use crate::meta::{Effect, Pin, PinStanding, RepeatKind, Resolved, Source, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use planwright_model::{Digest, Failure, ToolResult};

/// Longer descriptions are cut for the model; the person sees all of them.
const LONGEST_DESCRIPTION: usize = 4000;
/// Larger descriptions and schemas are refused: nobody reads them before they consent.
const LARGEST_TEXT: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct McpTool {
    meta: ToolMeta,
    server: Arc<Server>,
    remote_name: String,
    definition: ToolDefinition,
    hash: Digest,
}

impl McpTool {
    /// Fits a tool into our registry. What cannot be fitted is left out with a reason.
    pub(super) fn new(server: &Arc<Server>, tool: &rmcp::model::Tool) -> Result<Self, String> {
        let remote_name = tool.name.to_string();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if remote_name.is_empty() || remote_name.len() > 128 || !remote_name.chars().all(fits) {
            let name = planwright_text::clean_line(&remote_name).into_owned();
            return Err(format!("{}: the name `{name}` cannot be used", server.name()));
        }
        let definition = ToolDefinition::of(tool);
        let schema = Value::Object(definition.schema());
        let description = tool.description.as_deref().unwrap_or_default();
        let title = tool.title.as_deref().unwrap_or_default();
        let texts = [
            ("arguments", schema.to_string().len()),
            ("description", description.len() + title.len()),
        ];
        if let Some((part, _)) = texts.iter().find(|(_, length)| *length > LARGEST_TEXT) {
            return Err(format!(
                "{}: the {part} of {remote_name} take more than {LARGEST_TEXT} bytes",
                server.name()
            ));
        }
        let description = planwright_text::clean(description).into_owned();
        let effects = &server.config.effects;
        let effect = effects
            .get(&remote_name)
            .or_else(|| effects.get("*"))
            .copied()
            .unwrap_or(Effect::Foreign);
        let meta = ToolMeta {
            name: format!("mcp.{}.{remote_name}", server.name()),
            version: definition.hash().short().to_owned(),
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
        let hash = definition.hash();
        Ok(Self { meta, server: Arc::clone(server), remote_name, definition, hash })
    }
}

impl Tool for McpTool {
    fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    fn pin_hash(&self) -> Option<&Digest> {
        Some(&self.hash)
    }

    fn definition(&self) -> Option<&ToolDefinition> {
        Some(&self.definition)
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let pins = context.toolbox.services().pins.as_ref();
        let approved = pins.and_then(|pins| pins.approved(&self.meta.name));
        let (standing, preview) = match &approved {
            Some(hash) if *hash == self.hash => {
                (PinStanding::Approved, self.meta.description.clone())
            }
            earlier => {
                let stored = pins.and_then(|pins| pins.approved_definition(&self.meta.name));
                let standing =
                    if earlier.is_some() { PinStanding::Changed } else { PinStanding::New };
                let earlier = Earlier::read(earlier.as_ref(), stored.as_deref());
                (standing, self.definition.to_consent_text(&earlier))
            }
        };
        let mut resolved = Resolved::new(self.meta.effect, args.clone());
        resolved.pin = Some(Pin { hash: self.hash.clone(), standing });
        resolved.preview = Some(preview);
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
    let text = planwright_text::clean(&text).into_owned();
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
