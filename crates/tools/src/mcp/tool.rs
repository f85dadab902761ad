//! Adapts a tool of a server to our [`Tool`](crate::Tool) trait.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::definition::{EarlierApproval, ToolDefinition};
use super::server::McpServerHandle;
use crate::context::ToolContext;
use crate::meta::{PinStatus, RepeatKind, ResolvedCall, ToolEffect, ToolMeta, ToolPin, ToolSource};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::{Digest, ExecutionFailure, ToolResult};

/// Longer descriptions are truncated for the model; the user sees all of them.
const LONGEST_DESCRIPTION: usize = 4000;
/// Larger descriptions and schemas are rejected: nobody reads them before giving consent.
const LARGEST_TEXT: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct McpTool {
    meta: ToolMeta,
    server: Arc<McpServerHandle>,
    remote_name: String,
    definition: ToolDefinition,
    hash: Digest,
}

impl McpTool {
    /// Converts a tool for our registry. A tool that cannot be converted is excluded with a reason.
    pub(super) fn new(
        server: &Arc<McpServerHandle>,
        tool: &rmcp::model::Tool,
    ) -> Result<Self, String> {
        let remote_name = tool.name.to_string();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if remote_name.is_empty() || remote_name.len() > 128 || !remote_name.chars().all(fits) {
            let name = planwright_text::clean_line(&remote_name).into_owned();
            return Err(format!("{}: the name `{name}` cannot be used", server.name()));
        }
        let definition = ToolDefinition::from_tool(tool);
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
        let description = planwright_text::clean_text(description).into_owned();
        let effects = &server.config.effects;
        let effect = effects
            .get(&remote_name)
            .or_else(|| effects.get("*"))
            .copied()
            .unwrap_or(ToolEffect::Foreign);
        let meta = ToolMeta {
            name: format!("mcp.{}.{remote_name}", server.name()),
            version: definition.hash().short_hex().to_owned(),
            description: text_limit::truncate_chars(&description, LONGEST_DESCRIPTION),
            schema,
            prerequisites: Vec::new(),
            produces: Vec::new(),
            idempotent: false,
            read_only: effect == ToolEffect::Look,
            effect,
            repeat: if effect == ToolEffect::Look { RepeatKind::Pure } else { RepeatKind::Unsafe },
            time_limit: server.config.time_limit,
            source: ToolSource::Mcp { server: server.name().to_owned() },
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

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let pins = context.toolbox.services().pins.as_ref();
        let approved = pins.and_then(|pins| pins.approved_hash(&self.meta.name));
        let (standing, preview) = match &approved {
            Some(hash) if *hash == self.hash => {
                (PinStatus::Approved, self.meta.description.clone())
            }
            earlier => {
                let stored = pins.and_then(|pins| pins.approved_definition(&self.meta.name));
                let standing = if earlier.is_some() { PinStatus::Changed } else { PinStatus::New };
                let earlier = EarlierApproval::from_stored(earlier.as_ref(), stored.as_deref());
                (standing, self.definition.to_consent_text(&earlier))
            }
        };
        let mut resolved = ResolvedCall::new(self.meta.effect, args.clone());
        resolved.pin = Some(ToolPin { hash: self.hash.clone(), standing });
        resolved.preview = Some(preview);
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let arguments = resolved.args.as_object().cloned().unwrap_or_default();
            let called = self
                .server
                .call_tool(&self.remote_name, &self.hash, arguments, &context.cancel)
                .await;
            match called {
                Ok(result) => {
                    convert_result(&result, context.toolbox.settings().model_output_bytes)
                }
                Err(error) => error.into(),
            }
        })
    }
}

fn convert_result(result: &CallToolResult, most: usize) -> ToolAnswer {
    let text = result.content.iter().map(block_text).collect::<Vec<_>>().join("\n");
    let text = planwright_text::clean_text(&text).into_owned();
    let shown = text_limit::truncate_middle(&text, most);
    let cut = shown.len() < text.len();
    let mut data = json!({ "text": shown, "truncated": cut });
    if let Some(structured) =
        result.structured_content.as_ref().filter(|value| value.to_string().len() <= most)
    {
        data["structured"] = structured.clone();
    }
    let answer = if result.is_error == Some(true) {
        let message = text_limit::truncate_chars(&text, 500);
        let failure = ExecutionFailure::from(ToolError::new(
            ToolErrorCode::Reported,
            format!("the tool says: {message}"),
        ));
        ToolResult::failure_with_data(&failure, data)
    } else {
        ToolResult::success(data).with_confidence(0.8)
    };
    ToolAnswer { full_output: cut.then_some(text), ..ToolAnswer::from(answer) }
}

fn block_text(block: &ContentBlock) -> String {
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
