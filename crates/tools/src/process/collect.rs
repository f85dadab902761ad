//! Runs a command to its end and collects its output.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{CallReport, CallReporter, ProcessSpec, run_command};
use planwright_model::CallId;
use planwright_model::event::CallOutcome;

/// How a command ended, and its output.
#[derive(Debug)]
pub struct CommandOutput {
    pub outcome: CallOutcome,
    pub output: String,
    pub elapsed: Duration,
    pub output_bytes: u64,
    pub dropped_bytes: u64,
}

/// Runs a command; every report is also passed to `notice` immediately.
pub async fn run_and_collect(
    spec: ProcessSpec,
    cancel: CancellationToken,
    call: CallId,
    notice: impl Fn(&CallReport),
) -> CommandOutput {
    let (sender, mut receiver) = mpsc::channel(64);
    let running = tokio::spawn(run_command(spec, cancel, CallReporter::new(call, sender)));
    let mut output = String::new();
    let mut ended = None;
    while let Some((_, report)) = receiver.recv().await {
        notice(&report);
        match report {
            CallReport::Output { text, .. } => output.push_str(&text),
            CallReport::Ended { outcome, elapsed, output_bytes, dropped_bytes, .. } => {
                ended = Some((outcome, elapsed, output_bytes, dropped_bytes));
            }
            CallReport::Spawned { .. } => {}
        }
    }
    let joined = running.await;
    let (outcome, elapsed, output_bytes, dropped_bytes) = ended.unwrap_or_else(|| {
        let message = joined
            .err()
            .map_or_else(|| "it ended without a word".to_owned(), |error| error.to_string());
        (CallOutcome::CouldNotStart { message }, Duration::ZERO, 0, 0)
    });
    CommandOutput { outcome, output, elapsed, output_bytes, dropped_bytes }
}
