//! Spans on their way to a collector, by OTLP over HTTP: of a saved session at once, of a run while it goes on.

use std::time::Duration;

use planwright_model::{Seq, SessionId};
use planwright_state::replay::History;
use planwright_store::Store;
use planwright_store::exchange::otlp::{SpanStream, spans_document};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::console::CliProblem;

/// How long spans wait for others to be sent with.
const SEND_INTERVAL: Duration = Duration::from_secs(1);
/// How long a collector may take.
#[cfg(feature = "web")]
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a collector takes spans.
#[derive(Clone, Debug)]
pub(crate) struct SpanCollector {
    url: String,
    #[cfg(feature = "web")]
    client: reqwest::Client,
}

impl SpanCollector {
    /// Checks an address, such as `http://localhost:4318`; nothing is sent yet.
    pub(crate) fn new(endpoint: &str) -> anyhow::Result<Self> {
        let base = endpoint.trim_end_matches('/');
        let url = if base.ends_with("/v1/traces") {
            base.to_owned()
        } else {
            format!("{base}/v1/traces")
        };
        Self::connect(url)
    }

    #[cfg(not(feature = "web"))]
    fn connect(_url: String) -> anyhow::Result<Self> {
        Err(CliProblem::usage("this build cannot send spans")
            .with_remedy("rebuild with --features web, or export them with --format otlp -o FILE")
            .into())
    }

    #[cfg(feature = "web")]
    fn connect(url: String) -> anyhow::Result<Self> {
        let is_address = reqwest::Url::parse(&url)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if !is_address {
            let shown = planwright_text::clean_line(&url).into_owned();
            return Err(CliProblem::usage(format!("`{shown}` is not the address of a collector"))
                .with_remedy("write it as http://localhost:4318")
                .into());
        }
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| CliProblem::failed(format!("no connection can be made: {error}")))?;
        Ok(Self { url, client })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    #[cfg(not(feature = "web"))]
    #[expect(clippy::unused_async, reason = "the same signature as with an HTTP client")]
    pub(crate) async fn send(&self, _document: String) -> anyhow::Result<()> {
        Ok(())
    }

    /// Sends a document. An error says what went wrong and what to do.
    #[cfg(feature = "web")]
    pub(crate) async fn send(&self, document: String) -> anyhow::Result<()> {
        let unsent = |what: String| {
            let url = planwright_text::clean_line(&self.url);
            CliProblem::failed(format!("the spans were not taken by {url}: {what}"))
                .with_remedy("check the address, or write them to a file with -o")
        };
        let request = self
            .client
            .post(&self.url)
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(document);
        let answer = request.send().await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            unsent(format!("{}{}", error.without_url(), cause.unwrap_or_default()))
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        Err(unsent(format!("it answered {status}")).into())
    }
}

/// The spans of a run, sent while it goes on. The run does not depend on it.
#[derive(Debug)]
pub(crate) struct OtlpFeed {
    sending: JoinHandle<anyhow::Result<()>>,
}

impl OtlpFeed {
    pub(crate) fn start(
        store: &Store,
        (id, head): (&SessionId, &watch::Receiver<Seq>),
        collector: SpanCollector,
    ) -> anyhow::Result<Self> {
        let mut history = super::session_history(store, id)?;
        let last = history.head_seq()?;
        let title = history.state_at(last)?.session.title.clone();
        let sender = SpanSender {
            history,
            head: head.clone(),
            stream: SpanStream::new(id, &title),
            seen: Seq::START,
            unsent: Vec::new(),
            collector,
        };
        Ok(Self { sending: tokio::spawn(sender.send_until_end()) })
    }

    /// Waits until the last spans of a run that has ended are sent; the error is that of the last try.
    pub(crate) async fn finish(self) -> anyhow::Result<()> {
        self.sending.await?
    }
}

struct SpanSender {
    history: History,
    head: watch::Receiver<Seq>,
    stream: SpanStream,
    seen: Seq,
    unsent: Vec<serde_json::Value>,
    collector: SpanCollector,
}

impl SpanSender {
    async fn send_until_end(mut self) -> anyhow::Result<()> {
        loop {
            let is_over = self.head.changed().await.is_err();
            self.read_records()?;
            if is_over {
                self.stream.end_open_spans();
                self.unsent.extend(self.stream.take_ended());
                return self.send().await;
            }
            if let Err(error) = self.send().await {
                // A collector may be away for a while; what it missed is sent again.
                tracing::warn!(%error, "spans wait for their collector");
            }
            tokio::time::sleep(SEND_INTERVAL).await;
        }
    }

    fn read_records(&mut self) -> anyhow::Result<()> {
        let head = self.history.head_seq()?;
        loop {
            let records = self.history.records_after(self.seen, head)?;
            let Some(last) = records.last() else { break };
            self.seen = last.seq;
            for record in &records {
                self.stream.apply_record(record);
            }
        }
        self.unsent.extend(self.stream.take_ended());
        Ok(())
    }

    async fn send(&mut self) -> anyhow::Result<()> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        self.collector.send(spans_document(&self.unsent).to_string()).await?;
        self.unsent.clear();
        Ok(())
    }
}
