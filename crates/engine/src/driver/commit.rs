//! The way to the journal: batches, their acknowledgement, and what starts once they are durable.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::{Driver, EngineError, OUTPUT_EVERY, Start, TURN, Unacknowledged};
use crate::controller::Effect;
use crate::summary;
use planwright_model::Seq;
use planwright_model::event::Record;
use planwright_state::Checkpoint;
use planwright_state::replay::checkpoint_interval;
use planwright_store::{Batch, Row, StoreError};

impl Driver {
    /// One write to the disk acknowledges many batches at once. True if there was one.
    pub(super) fn drain_commits(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        while let Some(result) = acknowledgement(&mut self.unacknowledged).now_or_never() {
            self.on_commit(result)?;
            any = true;
        }
        Ok(any)
    }

    /// How long what was said may still wait for more of its kind.
    pub(super) fn linger(&self) -> Option<Duration> {
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
        if self.linger().is_some() {
            return Ok(false);
        }
        let starts = std::mem::take(&mut self.starts);
        if self.outbox.is_empty() {
            // Nothing to wait for but what is already under way.
            match self.unacknowledged.back_mut() {
                Some(last) => last.starts.extend(starts),
                None => starts.into_iter().for_each(|start| self.start(start)),
            }
            return Ok(false);
        }
        if let Some(inlet) = &self.options.inlet {
            inlet.publish(&self.state);
        }
        let records = std::mem::take(&mut self.outbox);
        (self.urgent, self.flushed) = (false, Some(Instant::now()));
        self.since_checkpoint += records.len() as u64;
        let checkpoint = if self.since_checkpoint >= checkpoint_interval(self.state.tasks.len()) {
            self.since_checkpoint = 0;
            Some(Checkpoint::encode(&self.state)?)
        } else {
            None
        };
        let rows = records.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        let summary = Some(summary(&self.state));
        let side = std::mem::take(&mut self.beside);
        let batch = Batch { rows, summary, checkpoint, side };
        // With one task at a time there is nothing to do meanwhile.
        let idle = !starts.is_empty() && self.unacknowledged.is_empty() && self.running.len() <= 1;
        let ack = if idle {
            self.journal.append_here(batch).await?
        } else {
            self.journal.append(batch).await?
        };
        self.sent = self.state.seq;
        self.unacknowledged.push_back(Unacknowledged { ack, head: self.state.seq, starts });
        let durable = idle && self.drain_commits()?;
        self.publish();
        for job in std::mem::take(&mut self.early) {
            self.start_job(job);
        }
        Ok(durable)
    }

    pub(super) fn on_commit(&mut self, result: Result<Seq, StoreError>) -> Result<(), EngineError> {
        let batch = self.unacknowledged.pop_front();
        result?;
        if let Some(batch) = batch {
            self.durable = Some(batch.head);
            batch.starts.into_iter().for_each(|start| self.start(start));
        }
        Ok(())
    }

    /// Tells whoever looks at the session how far it is durable. To wake them takes a while, so that the next batch is
    /// sent first where there is one.
    pub(super) fn publish(&mut self) {
        if let Some(head) = self.durable.take() {
            self.published.send_replace(head);
        }
    }

    pub(super) fn start(&mut self, start: Start) {
        match start {
            Start::Job(job) => self.start_job(*job),
            Start::Effect(Effect::Cancel(call)) => {
                self.cancel_attempt(&call);
            }
            Start::Effect(Effect::Close(why)) => self.close(why),
            Start::Effect(Effect::Keep(kept)) => (self.options.keep)(&kept),
            Start::Effect(Effect::CancelStage) => self.cancel_stage(),
            Start::Effect(Effect::Brainstorm) => self.brainstorm(),
            Start::Stage => self.start_stage(),
            Start::Durable(done) => {
                let _ = done.send(());
            }
            Start::Reply(sender, answer) => {
                let _ = sender.send(*answer);
            }
        }
    }
}

/// The outcome of the oldest batch; never resolves while there is none.
pub(super) async fn acknowledgement(
    unacknowledged: &mut VecDeque<Unacknowledged>,
) -> Result<Seq, StoreError> {
    match unacknowledged.front_mut() {
        Some(oldest) => (&mut oldest.ack).await,
        None => std::future::pending().await,
    }
}

pub(crate) fn row(record: &Record) -> Result<Row, serde_json::Error> {
    Ok(Row {
        seq: record.seq,
        at: record.at,
        kind: record.event.kind(),
        task: record.event.task().map(ToString::to_string),
        payload: record.event.encode()?,
    })
}
