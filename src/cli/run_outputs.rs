//! What a run gives to other programs: reports when it has ended, spans while it goes on.

use super::{StdoutWriter, eprint_line};
use crate::app;
use crate::app::otlp_feed::{OtlpFeed, SpanCollector};
use crate::headless::run_reports::ReportArgs;
use planwright_engine::SessionHandle;
use planwright_model::SessionId;
use planwright_store::Store;

/// The reports and spans of one run.
#[derive(Debug, Default)]
pub(super) struct RunOutputs {
    reports: ReportArgs,
    feed: Option<OtlpFeed>,
}

impl RunOutputs {
    /// Begins to send spans, if they are wanted.
    pub(super) fn start(
        store: &Store,
        handle: &SessionHandle,
        reports: ReportArgs,
    ) -> anyhow::Result<Self> {
        let collector = reports.collector_address().map(SpanCollector::new).transpose()?;
        let place = (&handle.id, &handle.head);
        let feed = collector.map(|collector| OtlpFeed::start(store, place, collector));
        Ok(Self { reports, feed: feed.transpose()? })
    }

    /// Writes the reports of a run that has ended, and sends its last spans.
    pub(super) async fn finish(self, store: &Store, id: &SessionId) -> anyhow::Result<()> {
        if let Some(feed) = self.feed
            && let Err(error) = feed.finish().await
        {
            // The run is what it is, whoever watched it.
            eprint_line(&format!("planwright: {error}"));
        }
        if self.reports.is_empty() {
            return Ok(());
        }
        let mut history = app::session_history(store, id)?;
        let head = history.head_seq()?;
        let annotations = self.reports.write_reports(&*history.state_at(head)?)?;
        let mut out = StdoutWriter::new();
        annotations.iter().try_for_each(|line| out.write_line(line))?;
        Ok(())
    }
}
