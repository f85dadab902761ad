//! A tool whose breaker is open: the task waits until it may be tried again, and says so.

use std::time::Duration;

use super::attempt::AgentAttempt;
use super::event_sink::StepDraft;
use planwright_model::{PrdvPhase, StepMetadata};
use planwright_text::units::format_elapsed;
use planwright_tools::ToolInvocation;

/// How often a call waits for its tool before it is made, and refused, all the same.
const WAITS: u32 = 5;

impl AgentAttempt<'_> {
    /// Waits as long as the tool of a call is paused after errors of its own. Others work meanwhile.
    pub(super) async fn wait_for_paused_tool(&self, call: &ToolInvocation, prdv: PrdvPhase) {
        let toolbox = &self.services.toolbox;
        for _ in 0..WAITS {
            let Some(wait) = toolbox.call_host().call_conditions(call).breaker_open_ms else {
                return;
            };
            let wait = Duration::from_millis(wait);
            let text =
                format!("{} keeps failing; waiting {} for it", call.tool, format_elapsed(wait));
            let metadata = StepMetadata { call: Some(call.id.step), ..StepMetadata::default() };
            self.events.record_thought(StepDraft::new(text, prdv).with_metadata(metadata));
            let waiting = async {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = self.cancel.cancelled() => {}
                }
            };
            self.job.held.release_while(toolbox.permits(), self.cancel, waiting).await;
            if self.cancel.is_cancelled() {
                return;
            }
        }
    }
}
