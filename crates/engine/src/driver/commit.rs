//! The way to the journal: batches, their acknowledgement, and what starts once they are durable.

use crate::summarize_session;
use std::collections::VecDeque;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::{DeferredAction, Driver, EngineError, OUTPUT_EVERY, TURN, UnacknowledgedBatch};
use crate::WorktreeAction;
use crate::controller::DriverEffect;
use planwright_model::Seq;
use planwright_model::event::Record;
use planwright_state::Checkpoint;
use planwright_state::replay::checkpoint_interval;
use planwright_store::{JournalBatch, JournalRow, StoreError};

impl Driver {
    /// One write to the disk acknowledges many batches at once. True if there was one.
    pub(super) fn drain_commits(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        while let Some(result) = next_acknowledgement(&mut self.unacknowledged).now_or_never() {
            self.on_commit(result)?;
            any = true;
        }
        Ok(any)
    }

    /// How long what was said may still wait for more of its kind.
    pub(super) fn batch_delay(&self) -> Option<Duration> {
        let waits = !self.urgent
            && self.starts.is_empty()
            && self.closing.is_none()
            && self.outbox.len() < TURN;
        let since = self.flushed.filter(|_| waits)?.elapsed();
        OUTPUT_EVERY.checked_sub(since)
    }

    /// Sends what was said in this turn to the journal as one batch. True if it is durable already: what that started may
    /// have had something to say, so that there is another turn before anything is waited for.
    pub(super) async fn flush(&mut self) -> Result<bool, EngineError> {
        if self.batch_delay().is_some() {
            return Ok(false);
        }
        let starts = std::mem::take(&mut self.starts);
        if self.outbox.is_empty() && self.side_writes.is_empty() {
            // Nothing to wait for but what is already under way.
            match self.unacknowledged.back_mut() {
                Some(last) => last.starts.extend(starts),
                None => starts.into_iter().for_each(|start| self.run_deferred(start)),
            }
            return Ok(false);
        }
        if let Some(receiver) = &self.options.agent_receiver {
            receiver.publish_view(&self.state);
        }
        let records = std::mem::take(&mut self.outbox);
        (self.urgent, self.flushed) = (false, Some(Instant::now()));
        self.since_checkpoint += records.len() as u64;
        let checkpoint = if self.since_checkpoint >= checkpoint_interval(self.state.tasks.len()) {
            self.since_checkpoint = 0;
            Some(Checkpoint::encode_state(&self.state)?)
        } else {
            None
        };
        let rows = records.iter().map(journal_row).collect::<Result<Vec<_>, _>>()?;
        let summary = Some(summarize_session(&self.state));
        let side = std::mem::take(&mut self.side_writes);
        let batch = JournalBatch { rows, summary, checkpoint, side };
        // With one task at a time there is nothing to do meanwhile.
        let idle = !starts.is_empty() && self.unacknowledged.is_empty() && self.running.len() <= 1;
        let ack = if idle {
            self.journal.append_on_this_thread(batch).await?
        } else {
            self.journal.append(batch).await?
        };
        self.sent = self.state.seq;
        self.unacknowledged.push_back(UnacknowledgedBatch { ack, head: self.state.seq, starts });
        let durable = idle && self.drain_commits()?;
        self.publish_head();
        for attempt in std::mem::take(&mut self.early) {
            self.start_attempt(attempt);
        }
        Ok(durable)
    }

    pub(super) fn on_commit(&mut self, result: Result<Seq, StoreError>) -> Result<(), EngineError> {
        let batch = self.unacknowledged.pop_front();
        result.inspect_err(|error| tracing::error!(%error, "a batch was not committed"))?;
        if let Some(batch) = batch {
            self.durable = Some(batch.head);
            batch.starts.into_iter().for_each(|start| self.run_deferred(start));
        }
        Ok(())
    }

    /// Tells whoever looks at the session how far it is durable. To wake them takes a while, so that the next batch is
    /// sent first where there is one.
    pub(super) fn publish_head(&mut self) {
        if let Some(head) = self.durable.take() {
            self.published.send_replace(head);
        }
    }

    pub(super) fn run_deferred(&mut self, start: DeferredAction) {
        match start {
            DeferredAction::Attempt(attempt) => self.start_attempt(*attempt),
            DeferredAction::Worktree(call, action, copy) => {
                self.start_worktree_action(call, action, *copy);
            }
            DeferredAction::Effect(DriverEffect::Cancel(call)) => {
                self.cancel_attempt(&call);
            }
            DeferredAction::Effect(DriverEffect::EndLeftovers(call)) => self.end_leftovers(&call),
            DeferredAction::Effect(DriverEffect::AwaitLeftovers(call)) => {
                self.await_leftovers(call);
            }
            DeferredAction::Effect(DriverEffect::Close(why)) => self.close(why),
            DeferredAction::Effect(DriverEffect::SaveDecision(kept)) => {
                (self.options.save_decision)(&kept);
            }
            DeferredAction::Effect(DriverEffect::CancelStage) => self.cancel_stage(),
            DeferredAction::Effect(DriverEffect::ContinueReview(task)) => {
                self.resume_review(&task);
            }
            DeferredAction::Effect(DriverEffect::RemoveWorktree(task)) => {
                self.start_silent_job(&task, WorktreeAction::Remove);
            }
            DeferredAction::Effect(DriverEffect::UndoChanges(task)) => {
                self.start_undo(&task);
            }
            DeferredAction::Effect(DriverEffect::CommandOtherPlan(session, command)) => {
                self.command_other_plan(&session, *command);
            }
            DeferredAction::Effect(DriverEffect::Brainstorm) => self.start_brainstorm(),
            DeferredAction::Stage => self.start_stage(),
            DeferredAction::Notify(notice) => (self.options.notify)(&notice),
            // Both may have stopped waiting; what they wait for is in the journal all the same.
            DeferredAction::Durable(done) => {
                let _ = done.send(());
            }
            DeferredAction::Reply(sender, answer) => {
                let _ = sender.send(*answer);
            }
        }
    }
}

/// The outcome of the oldest batch; never resolves while there is none.
pub(super) async fn next_acknowledgement(
    unacknowledged: &mut VecDeque<UnacknowledgedBatch>,
) -> Result<Seq, StoreError> {
    match unacknowledged.front_mut() {
        Some(oldest) => (&mut oldest.ack).await,
        None => std::future::pending().await,
    }
}

pub(crate) fn journal_row(record: &Record) -> Result<JournalRow, serde_json::Error> {
    Ok(JournalRow {
        seq: record.seq,
        at: record.at,
        kind: record.event.kind(),
        task: record.event.task_id().map(ToString::to_string),
        payload: record.event.encode()?,
    })
}
