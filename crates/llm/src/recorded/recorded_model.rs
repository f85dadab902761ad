//! Plays a recording back: matches the hash of the request; equal requests get their answers in the order of recording.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::cassette::{Cassette, CassetteEntry, ExchangeOutcome, redacted_request};
use crate::{
    AnswerDelta, DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, ModelError, ModelInfo,
};
use planwright_files::{self as files, FileLimit};
use planwright_model::{Category, Digest};
use planwright_text::Redactor;

/// Text arrives in pieces of about this many characters, as it would from a stream.
const PIECE: usize = 24;

/// A model that answers from a recording.
#[derive(Debug)]
pub struct RecordedModel {
    info: ModelInfo,
    redactor: Redactor,
    /// Entries not played yet; each is played once.
    waiting: Mutex<Vec<Option<CassetteEntry>>>,
}

impl RecordedModel {
    pub fn new(cassette: Cassette, redactor: Redactor) -> Self {
        let waiting = cassette.entries.into_iter().map(Some).collect();
        Self { info: cassette.info, redactor, waiting: Mutex::new(waiting) }
    }

    pub fn open(file: &Path, redactor: Redactor) -> Result<Self, ModelError> {
        let text = files::read_text(file, FileLimit::RECORDING).map_err(|error| {
            let message = format!("could not read the recording {}: {error}", file.display());
            ModelError::new(
                "recorded",
                "bad_cassette",
                Category::Critical,
                message,
                "check the path",
            )
        })?;
        Ok(Self::new(Cassette::parse(&text, file)?, redactor))
    }

    /// The number of exchanges not played yet.
    pub fn remaining_exchanges(&self) -> usize {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).iter().flatten().count()
    }

    fn take_entry(&self, digest: &Digest) -> Option<CassetteEntry> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let with = |wanted: Option<&Digest>| {
            waiting.iter().position(|entry| {
                entry.as_ref().is_some_and(|entry| entry.digest.as_ref() == wanted)
            })
        };
        let at = with(Some(digest)).or_else(|| with(None))?;
        waiting[at].take()
    }
}

impl LanguageModel for RecordedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ModelError::cancelled(&self.info.provider));
            }
            let (_, digest) = redacted_request(request, &self.redactor);
            let Some(entry) = self.take_entry(&digest) else {
                let message =
                    format!("the recording has no answer to this request ({})", digest.short_hex());
                let next = "the prompt or a setting changed since; record it again with --record";
                return Err(ModelError::new(
                    "recorded",
                    "cassette_miss",
                    Category::Critical,
                    message,
                    next,
                ));
            };
            match entry.outcome {
                ExchangeOutcome::Answer(generated) => {
                    if request.stream {
                        emit_deltas(&generated.text, deltas);
                    }
                    Ok(generated)
                }
                ExchangeOutcome::Error(error) => Err(error),
            }
        })
    }
}

fn emit_deltas(text: &str, deltas: DeltaSink<'_>) {
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(PIECE) {
        deltas(AnswerDelta::Text { text: piece.iter().collect() });
    }
}
