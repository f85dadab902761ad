//! `web.fetch`: one page, as text.

use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{Page, get};
use super::{address, html};
use crate::builtin::read;
use crate::context::ToolContext;
use crate::limit;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Address that begins with http:// or https://
    #[schemars(length(min = 1, max = 4096))]
    url: String,
    /// The most characters to return
    #[serde(default = "most")]
    #[schemars(range(min = 100, max = 200_000))]
    max_chars: usize,
}

fn most() -> usize {
    20_000
}

pub(crate) struct WebFetch(ToolMeta);

impl WebFetch {
    pub(crate) fn new() -> Self {
        let about =
            "Fetch a web page with GET and return its text. Pages of private networks are refused.";
        let meta = ToolMeta::built_in::<Args>("web.fetch", Effect::Network, about);
        Self(meta.within(Duration::from_secs(60)).makes(&["web_page"]))
    }
}

impl Tool for WebFetch {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        let target = address::target(&wanted.url, &context.toolbox.settings().web)?;
        let mut resolved = Resolved::new(Effect::Network, args.clone());
        resolved.hosts.push(target.name());
        resolved.url = Some(target.url.to_string());
        Ok(resolved)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let work = async {
                let wanted: Args = read(&resolved.args)?;
                let settings = &context.toolbox.settings().web;
                let target = address::target(&wanted.url, settings)?;
                get(target, settings).await.map(|page| (page, wanted.max_chars))
            };
            let fetched = tokio::select! {
                fetched = work => fetched,
                () = context.cancel.cancelled() => Err(ToolError::new(Code::Cancelled, "the task was cancelled")),
            };
            match fetched {
                Ok((page, most)) => shown(&page, most),
                Err(error) => error.into(),
            }
        })
    }
}

fn shown(page: &Page, most: usize) -> Answer {
    if !page.status.is_success() {
        let mut error =
            ToolError::new(Code::Http, format!("{} answered {}", page.url, page.status));
        if page.status.is_client_error() && page.status.as_u16() != 429 {
            error.category = planwright_model::Category::Recoverable;
        }
        return error.into();
    }
    let text = String::from_utf8_lossy(&page.body);
    let readable = if page.kind.contains("html") {
        html::to_text(&text)
    } else if is_text(&page.kind) {
        html::Readable { title: String::new(), text: text.into_owned() }
    } else {
        return ToolError::new(Code::NotText, format!("{} is {}, not text", page.url, page.kind))
            .into();
    };
    let clean = planwright_text::clean(&readable.text).into_owned();
    let cut = limit::cut(&clean, most);
    let truncated = page.cut || cut.len() < clean.len();
    let result = ToolResult::success(json!({
        "url": page.url,
        "title": planwright_text::clean_line(&readable.title),
        "text": cut,
        "truncated": truncated,
    }));
    Answer { full_output: truncated.then_some(clean), ..Answer::from(result.sure(0.9)) }
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|word| kind.contains(word))
}
