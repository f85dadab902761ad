//! Lists the tools of a server, page by page, within limits: a list ends, whatever the server answers.

use std::collections::BTreeSet;
use std::io;

use rmcp::model::{ListToolsResult, PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};

/// Limits on the tool list of one server.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolListLimits {
    pub(super) pages: usize,
    pub(super) tools: usize,
    pub(super) bytes: usize,
}

/// Far above what servers offer: the largest have a few hundred tools on a handful of pages.
pub(super) const LIST_LIMITS: ToolListLimits =
    ToolListLimits { pages: 100, tools: 1000, bytes: 8_000_000 };

/// Why there is no list.
#[derive(Debug)]
pub(super) enum ToolListFailure {
    /// The server responds with an error, or not at all.
    Service(ServiceError),
    /// The list exceeds a limit, or repeats a cursor.
    Refused(String),
}

/// Collects pages, and checks each one before the next is requested.
#[derive(Debug)]
struct ToolPages {
    limits: ToolListLimits,
    tools: Vec<Tool>,
    pages: usize,
    bytes: usize,
    cursors: BTreeSet<String>,
}

impl ToolPages {
    fn new(limits: ToolListLimits) -> Self {
        Self { limits, tools: Vec::new(), pages: 0, bytes: 0, cursors: BTreeSet::new() }
    }

    /// Adds a page. Returns the cursor of the next one, if any.
    fn add_page(&mut self, page: ListToolsResult) -> Result<Option<String>, String> {
        let ToolListLimits { pages, tools, bytes } = self.limits;
        self.pages += 1;
        let cursor_length = page.next_cursor.as_ref().map_or(0, String::len);
        let size = json_length(&page.tools).saturating_add(cursor_length);
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > bytes {
            let limit = planwright_text::units::format_bytes(bytes as u64);
            return Err(format!("its list of tools is larger than the limit of {limit}"));
        }
        self.tools.extend(page.tools);
        if self.tools.len() > tools {
            return Err(format!("it lists more tools than the limit of {tools}"));
        }
        let Some(cursor) = page.next_cursor else { return Ok(None) };
        if !self.cursors.insert(cursor.clone()) {
            let page = self.pages;
            return Err(format!(
                "its list of tools repeats itself: page {page} leads back to an earlier one"
            ));
        }
        if self.pages >= pages {
            return Err(format!("its list of tools has more pages than the limit of {pages}"));
        }
        Ok(Some(cursor))
    }
}

/// The length of a value as JSON, without building the text.
fn json_length(value: &impl serde::Serialize) -> usize {
    struct ByteCounter(usize);
    impl io::Write for ByteCounter {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(piece.len());
            Ok(piece.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    // A value that cannot be written as JSON did not come from JSON.
    if serde_json::to_writer(&mut count, value).is_err() { usize::MAX } else { count.0 }
}

/// All tools of a server.
pub(super) async fn list_tools(
    peer: &Peer<RoleClient>,
    limits: ToolListLimits,
) -> Result<Vec<Tool>, ToolListFailure> {
    let mut pages = ToolPages::new(limits);
    let mut cursor = None;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = peer.list_tools(Some(params)).await.map_err(ToolListFailure::Service)?;
        match pages.add_page(page).map_err(ToolListFailure::Refused)? {
            Some(next) => cursor = Some(next),
            None => return Ok(pages.tools),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(tools: usize, next: Option<&str>) -> ListToolsResult {
        let tool = serde_json::json!({ "name": "t", "inputSchema": { "type": "object" } });
        let page = serde_json::json!({ "tools": vec![tool; tools], "nextCursor": next });
        serde_json::from_value(page).unwrap()
    }

    #[test]
    fn every_limit_of_a_list_is_named_when_it_is_broken() {
        let limits = ToolListLimits { pages: 3, tools: 5, bytes: 400 };
        let refusal_for = |given: Vec<ListToolsResult>| {
            let mut pages = ToolPages::new(limits);
            given.into_iter().map(|page| pages.add_page(page)).find_map(Result::err)
        };
        assert_eq!(refusal_for(vec![page(2, Some("a")), page(2, Some("b")), page(1, None)]), None);
        let long = "c".repeat(500);
        for (pages, expected) in [
            (vec![page(6, None)], "more tools than the limit of 5"),
            (vec![page(1, Some("a")), page(1, Some("b")), page(1, Some("c"))], "limit of 3"),
            (vec![page(0, Some("a")), page(0, Some("a"))], "page 2 leads back"),
            (vec![page(0, Some(&long))], "limit of 400 B"),
        ] {
            let error = refusal_for(pages).unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
