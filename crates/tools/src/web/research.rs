//! `internet.research`: searches, reads the best pages, and quotes passages that match the question with their source.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::search::WebSearchHit;
use crate::builtin::parse_args;
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError};
use planwright_model::ToolResult;

/// How much of a page is quoted.
const QUOTE: usize = 900;

#[derive(Deserialize, JsonSchema)]
struct ResearchArgs {
    /// What to find out
    #[schemars(length(min = 1, max = 400))]
    query: String,
    /// How many pages to read
    #[serde(default = "default_pages")]
    #[schemars(range(min = 1, max = 5))]
    pages: usize,
}

fn default_pages() -> usize {
    3
}

pub(crate) struct InternetResearchTool(ToolMeta);

impl InternetResearchTool {
    pub(crate) fn new() -> Self {
        let about =
            "Search the web for a question, read the best pages and quote what fits, with sources.";
        let mut meta =
            ToolMeta::built_in::<ResearchArgs>("internet.research", ToolEffect::Network, about);
        meta.effect = ToolEffect::Orchestrate;
        meta.time_limit = Duration::from_secs(180);
        Self(meta.with_products(&["research_notes"]))
    }
}

impl Tool for InternetResearchTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    /// Its searches and fetches are calls of their own, each decided separately.
    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: ResearchArgs = parse_args(args)?;
        if let Some(search) = context.toolbox.registry().get("web.search") {
            search.resolve(&json!({ "query": parsed.query }), context)?;
        }
        Ok(ResolvedCall::new(ToolEffect::Orchestrate, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            match parse_args::<ResearchArgs>(&resolved.args) {
                Ok(parsed) => research_query(&parsed, context).await.into(),
                Err(error) => error.into(),
            }
        })
    }
}

async fn research_query(parsed: &ResearchArgs, context: &ToolContext) -> ToolResult {
    let args = json!({ "query": parsed.query, "limit": parsed.pages * 2 });
    let found = context.call_nested("web.search", args).await.result;
    if !found.ok {
        return found;
    }
    // The search wrote them itself, a moment ago.
    let hits: Vec<WebSearchHit> = found
        .data
        .get("results")
        .and_then(|results| serde_json::from_value(results.clone()).ok())
        .unwrap_or_default();
    let mut sources = Vec::new();
    let mut notes = Vec::new();
    let mut read_pages = 0;
    for hit in &hits {
        if read_pages == parsed.pages {
            break;
        }
        let page = context
            .call_nested("web.fetch", json!({ "url": hit.url, "max_chars": 60_000 }))
            .await
            .result;
        let text = page.data.get("text").and_then(Value::as_str).filter(|_| page.ok);
        let quote = match text {
            Some(text) => {
                read_pages += 1;
                matching_passages(text, &parsed.query)
            }
            // A page that could not be read, or that the user did not allow, is represented by its snippet.
            None => hit.snippet.clone(),
        };
        if !quote.trim().is_empty() {
            notes.push(format!("{} ({})\n{quote}", hit.title, hit.url));
            sources.push(json!({ "title": hit.title, "url": hit.url, "read": text.is_some() }));
        }
    }
    let sure = 0.3 + 0.2 * (read_pages.min(3) as f64);
    ToolResult::success(
        json!({ "answer": notes.join("\n\n"), "sources": sources, "pages_read": read_pages }),
    )
    .with_confidence(sure)
}

/// The paragraphs of a page that contain most words of the question, in page order.
fn matching_passages(text: &str, query: &str) -> String {
    let words: BTreeSet<String> = query
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_owned)
        .collect();
    let paragraphs: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.chars().count() > 40).collect();
    let mut scored: Vec<(usize, usize)> = paragraphs
        .iter()
        .enumerate()
        .map(|(at, paragraph)| {
            let lower = paragraph.to_lowercase();
            (words.iter().filter(|word| lower.contains(word.as_str())).count(), at)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    let mut chosen: Vec<usize> = scored.into_iter().take(3).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    let quote: Vec<&str> = chosen.into_iter().map(|at| paragraphs[at]).collect();
    text_limit::truncate_chars(&quote.join("\n"), QUOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_passages_are_quoted_in_order() {
        let text = "Something quite unrelated to anything that was asked for here.\nRatatui draws terminal interfaces with widgets in Rust programs.\nshort\nWidgets of ratatui are drawn immediately and keep no state at all.";
        let quote = matching_passages(text, "ratatui widgets");
        assert!(quote.starts_with("Ratatui draws") && quote.ends_with("no state at all."));
        assert!(!quote.contains("unrelated"));
    }
}
