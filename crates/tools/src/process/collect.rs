//! Runs a command to its end and collects its output.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{ProcessSpec, run_command};
use crate::executor::{AttemptEvent, AttemptEventSink, AttemptOutcome, AttemptReport};
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

/// Runs a command; every event is also passed to `notice` immediately.
pub async fn run_and_collect(
    spec: ProcessSpec,
    cancel: CancellationToken,
    call: CallId,
    notice: impl Fn(&AttemptEvent),
) -> CommandOutput {
    let (sender, mut receiver) = mpsc::channel(64);
    let events = AttemptEventSink::new(call, sender);
    let running = tokio::spawn(run_command(spec, cancel, events));
    let mut output = String::new();
    while let Some((_, report)) = receiver.recv().await {
        let AttemptReport::Event(event) = report else { break };
        notice(&event);
        if let AttemptEvent::Output { text, .. } | AttemptEvent::Spooled { text, .. } = event {
            output.push_str(&text);
        }
    }
    let ended =
        running.await.unwrap_or_else(|error| AttemptOutcome::could_not_start(error.to_string()));
    let AttemptOutcome { outcome, elapsed, output_bytes, dropped_bytes, .. } = ended;
    CommandOutput { outcome, output, elapsed, output_bytes, dropped_bytes }
}
