//! What becomes of the output of a command: it goes to its spool, and to the journal what the journal is to hold.

use std::time::Instant;

use super::output::{OutputLimiter, OutputLines};
use super::{IdlePipes, ProcessSpec, SpareReader, send_event};
use crate::executor::{AttemptEvent, AttemptEventSink};
use planwright_model::event::OutputStream;
use planwright_model::{CallId, SessionId};
use planwright_spool::{SpoolDirectory, SpoolError, SpoolWriter};
use planwright_text::Redactor;

/// How many bytes of one attempt the journal holds. What comes after them stands in the spool, and in the journal where.
const JOURNALED: usize = 256 * 1024;

/// Where the output of one attempt is kept.
#[derive(Clone, Debug)]
pub struct SpoolTarget {
    pub directory: SpoolDirectory,
    pub session: SessionId,
    pub call: CallId,
    /// How many bytes are kept.
    pub cap: u64,
    /// Who reads on when this program is killed.
    pub spare_reader: Option<SpareReader>,
    /// Pipes of commands that have ended.
    pub(crate) idle_pipes: IdlePipes,
}

/// Takes the output of one command, redacts it and passes it on.
pub(super) struct OutputRecorder<'a> {
    lines: OutputLines,
    keeper: OutputKeeper,
    events: &'a AttemptEventSink,
    begun: Instant,
    total: u64,
}

/// Who keeps what the journal does not hold.
enum OutputKeeper {
    Spool {
        writer: Box<SpoolWriter>,
        journal_room: usize,
    },
    /// Nobody: the beginning and the end are passed on.
    Limiter(OutputLimiter),
}

impl<'a> OutputRecorder<'a> {
    pub(super) fn new(spec: &ProcessSpec, events: &'a AttemptEventSink, begun: Instant) -> Self {
        let keeper = match &spec.spool {
            Some(SpoolTarget { directory, session, call, cap, .. }) => OutputKeeper::Spool {
                writer: Box::new(directory.writer(session, call, *cap)),
                journal_room: JOURNALED,
            },
            None => OutputKeeper::Limiter(OutputLimiter::new(spec.output_limit)),
        };
        Self { lines: OutputLines::new(&spec.redactor), keeper, events, begun, total: 0 }
    }

    pub(super) fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.lines.push(stream, bytes);
    }

    pub(super) fn is_large(&self) -> bool {
        self.lines.is_large()
    }

    /// Whether no more is to be joined before it is passed on.
    pub(super) fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    /// Passes complete lines on.
    pub(super) async fn flush(&mut self) {
        for (stream, text) in self.lines.take_complete() {
            self.emit(stream, text).await;
        }
    }

    /// Passes the rest on. Returns how many bytes there were, and how many of them are not kept.
    pub(super) async fn finish(mut self) -> (u64, u64) {
        let rest = std::mem::replace(&mut self.lines, OutputLines::new(&Redactor::default()));
        for (stream, text) in rest.finish() {
            self.emit(stream, text).await;
        }
        match self.keeper {
            OutputKeeper::Limiter(mut limiter) => {
                for (stream, text) in limiter.take_tail() {
                    send_event(self.events, AttemptEvent::Output { stream, text }).await;
                }
                (self.total, limiter.byte_totals().1)
            }
            OutputKeeper::Spool { writer, .. } => {
                let dropped = writer.dropped_bytes();
                finish_spool(writer).await;
                (self.total, dropped)
            }
        }
    }

    async fn emit(&mut self, stream: OutputStream, text: String) {
        self.total += text.len() as u64;
        let event = match &mut self.keeper {
            OutputKeeper::Limiter(limiter) => {
                limiter.admit(stream, text).map(|text| AttemptEvent::Output { stream, text })
            }
            OutputKeeper::Spool { writer, journal_room } => {
                let millis = u32::try_from(self.begun.elapsed().as_millis()).unwrap_or(u32::MAX);
                match writer.append(stream, millis, &text) {
                    Ok(_) if text.len() <= *journal_room => {
                        *journal_room -= text.len();
                        Some(AttemptEvent::Output { stream, text })
                    }
                    Ok(range) => {
                        *journal_room = 0;
                        Some(AttemptEvent::Spooled { stream, range, text })
                    }
                    Err(error) => return self.give_spool_up(&error, stream, text).await,
                }
            }
        };
        if let Some(event) = event {
            send_event(self.events, event).await;
        }
    }

    /// Goes on without a spool, as where the disk is full: the task is not to suffer from it, and its output tells.
    async fn give_spool_up(&mut self, error: &SpoolError, stream: OutputStream, text: String) {
        tracing::error!(%error, "output is not kept in full any more");
        let mut limiter = OutputLimiter::new(JOURNALED);
        let note = format!("[Planwright cannot keep all output from here on: {error}]\n");
        send_event(self.events, AttemptEvent::Output { stream: OutputStream::Stderr, text: note })
            .await;
        if let Some(text) = limiter.admit(stream, text) {
            send_event(self.events, AttemptEvent::Output { stream, text }).await;
        }
        self.keeper = OutputKeeper::Limiter(limiter);
    }
}

/// Ends a spool. Waited for, so that a program that ends now does not leave half of it; most are short, and no other thread is
/// needed for those.
async fn finish_spool(writer: Box<SpoolWriter>) {
    let ended = if writer.takes_work_to_finish() {
        tokio::task::spawn_blocking(move || writer.finish()).await
    } else {
        Ok(writer.finish())
    };
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "an output spool cannot be ended"),
        Err(error) => tracing::error!(%error, "ending an output spool panicked"),
    }
}
