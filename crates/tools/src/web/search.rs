//! `web.search`: a search service with the API of `SearXNG`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::address::{self, WebTarget};
use super::client::fetch_page;
use crate::builtin::parse_args;
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::settings::WebSettings;
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct WebSearchArgs {
    /// What to search for
    #[schemars(length(min = 1, max = 400))]
    query: String,
    /// The most results to return
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 30))]
    limit: usize,
}

fn default_limit() -> usize {
    10
}

/// One hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WebSearchHit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) snippet: String,
}

pub(crate) struct WebSearchTool(ToolMeta);

impl WebSearchTool {
    pub(crate) fn new() -> Self {
        let about = "Search the web and return titles, addresses and snippets.";
        let meta = ToolMeta::built_in::<WebSearchArgs>("web.search", ToolEffect::Network, about);
        Self(meta.with_time_limit(Duration::from_secs(60)).with_products(&["search_results"]))
    }
}

impl Tool for WebSearchTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: WebSearchArgs = parse_args(args)?;
        let target = search_target(&parsed.query, &context.toolbox.settings().web)?;
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
            let parsed: WebSearchArgs = match parse_args(&resolved.args) {
                Ok(parsed) => parsed,
                Err(error) => return error.into(),
            };
            let settings = &context.toolbox.settings().web;
            let found = tokio::select! {
                found = search_web(&parsed.query, parsed.limit, settings) => found,
                () = context.cancel.cancelled() => Err(ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled")),
            };
            match found {
                Ok(hits) => {
                    let sure = if hits.is_empty() { 0.3 } else { 0.8 };
                    ToolResult::success(json!({ "count": hits.len(), "results": hits }))
                        .with_confidence(sure)
                        .into()
                }
                Err(error) => error.into(),
            }
        })
    }
}

/// The address of a search. The user configured the service, so it may be on this machine.
fn search_target(query: &str, settings: &WebSettings) -> Result<WebTarget, ToolError> {
    let Some(base) = &settings.search_endpoint else {
        return Err(ToolError::new(
            ToolErrorCode::NotConfigured,
            "no search service is set up; name one that answers as SearXNG does with search_endpoint under [tools] in the config",
        ));
    };
    let mut url = reqwest::Url::parse(base).map_err(|error| {
        ToolError::new(
            ToolErrorCode::NotConfigured,
            format!("search_endpoint cannot be read: {error}"),
        )
    })?;
    if url.path() == "/" {
        url.set_path("/search");
    }
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    let host = url.host_str().unwrap_or_default().to_owned();
    let mut trusting = settings.clone();
    trusting.allow_private.push(host);
    address::parse_target(url.as_str(), &trusting)
}

/// Queries the service.
async fn search_web(
    query: &str,
    limit: usize,
    settings: &WebSettings,
) -> Result<Vec<WebSearchHit>, ToolError> {
    let target = search_target(query, settings)?;
    let mut trusting = settings.clone();
    trusting.allow_private.push(target.host.clone());
    let page = fetch_page(target, &trusting).await?;
    if !page.status.is_success() {
        return Err(ToolError::new(
            ToolErrorCode::Http,
            format!("the search service answered {}", page.status),
        ));
    }
    let answer: Value = serde_json::from_slice(&page.body).map_err(|_| {
        ToolError::new(
            ToolErrorCode::Http,
            "the search service did not answer in JSON; is its JSON format switched on?",
        )
    })?;
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, name: &str, most: usize| {
        let text = value[name].as_str().unwrap_or_default();
        text_limit::truncate_chars(
            &planwright_text::clean_line(&super::html::html_to_text(text).text),
            most,
        )
    };
    let hits = results
        .iter()
        .filter(|result| result["url"].as_str().is_some_and(|url| url.starts_with("http")))
        .take(limit)
        .map(|result| WebSearchHit {
            title: text(result, "title", 200),
            url: result["url"].as_str().unwrap_or_default().to_owned(),
            snippet: text(result, "content", 500),
        })
        .collect();
    Ok(hits)
}
