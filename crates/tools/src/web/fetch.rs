//! `web.fetch`: one page, as text.

use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{FetchedPage, fetch_page};
use super::{address, html};
use crate::builtin::parse_args;
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct WebFetchArgs {
    /// Address that begins with http:// or https://
    #[schemars(length(min = 1, max = 4096))]
    url: String,
    /// The most characters to return
    #[serde(default = "default_max_chars")]
    #[schemars(range(min = 100, max = 200_000))]
    max_chars: usize,
}

fn default_max_chars() -> usize {
    20_000
}

pub(crate) struct WebFetchTool(ToolMeta);

impl WebFetchTool {
    pub(crate) fn new() -> Self {
        let about =
            "Fetch a web page with GET and return its text. Pages of private networks are refused.";
        let meta = ToolMeta::built_in::<WebFetchArgs>("web.fetch", ToolEffect::Network, about);
        Self(meta.with_time_limit(Duration::from_secs(60)).with_products(&["web_page"]))
    }
}

impl Tool for WebFetchTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: WebFetchArgs = parse_args(args)?;
        let target = address::parse_target(&parsed.url, &context.toolbox.settings().web)?;
        let mut resolved = ResolvedCall::new(ToolEffect::Network, args.clone());
        resolved.hosts.push(target.name());
        resolved.url = Some(target.url.to_string());
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let work = async {
                let parsed: WebFetchArgs = parse_args(&resolved.args)?;
                let settings = &context.toolbox.settings().web;
                let target = address::parse_target(&parsed.url, settings)?;
                fetch_page(target, settings).await.map(|page| (page, parsed.max_chars))
            };
            let fetched = tokio::select! {
                fetched = work => fetched,
                () = context.cancel.cancelled() => Err(ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled")),
            };
            match fetched {
                Ok((page, most)) => page_answer(&page, most),
                Err(error) => error.into(),
            }
        })
    }
}

fn page_answer(page: &FetchedPage, most: usize) -> ToolAnswer {
    if !page.status.is_success() {
        // A page that is not there is an error of who asks for it; one that cannot be served now is an error of the web.
        let is_missing = page.status.is_client_error() && page.status.as_u16() != 429;
        let code = if is_missing { ToolErrorCode::NotFound } else { ToolErrorCode::Http };
        return ToolError::new(code, format!("{} answered {}", page.url, page.status)).into();
    }
    let text = String::from_utf8_lossy(&page.body);
    let readable = if page.kind.contains("html") {
        html::html_to_text(&text)
    } else if is_text_type(&page.kind) {
        html::ReadableText { title: String::new(), text: text.into_owned() }
    } else {
        return ToolError::new(
            ToolErrorCode::NotText,
            format!("{} is {}, not text", page.url, page.kind),
        )
        .into();
    };
    let clean = planwright_text::clean_text(&readable.text).into_owned();
    let cut = text_limit::truncate_chars(&clean, most);
    let truncated = page.cut || cut.len() < clean.len();
    let result = ToolResult::success(json!({
        "url": page.url,
        "title": planwright_text::clean_line(&readable.title),
        "text": cut,
        "truncated": truncated,
    }));
    ToolAnswer {
        full_output: truncated.then_some(clean),
        ..ToolAnswer::from(result.with_confidence(0.9))
    }
}

fn is_text_type(kind: &str) -> bool {
    kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|word| kind.contains(word))
}
