//! Writes every exchange of a model to a file, redacted, without changing how the model is used.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::cassette::{
    Cassette, CassetteEntry, ExchangeOutcome, redact_in_place, redacted_request,
};
use crate::{DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, ModelError, ModelInfo};
use planwright_files::{self as files, FileLimit};
use planwright_model::Category;
use planwright_text::Redactor;

/// A model whose exchanges are recorded.
#[derive(Debug)]
pub struct RecordingModel {
    inner: Arc<dyn LanguageModel>,
    path: PathBuf,
    file: Mutex<File>,
    redactor: Redactor,
}

impl RecordingModel {
    /// Starts or continues a recording. A file that is not a recording is not modified.
    pub fn record_to(
        inner: Arc<dyn LanguageModel>,
        path: &Path,
        redactor: Redactor,
    ) -> Result<Self, ModelError> {
        let before = match files::read_text(path, FileLimit::RECORDING) {
            Ok(before) => before,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unwritable_error(path, &error)),
        };
        if !before.trim().is_empty() {
            Cassette::parse(&before, path)?;
        }
        let to_model_error = |error: std::io::Error| unwritable_error(path, &error);
        let mut file =
            File::options().create(true).append(true).open(path).map_err(to_model_error)?;
        if before.trim().is_empty() {
            writeln!(file, "{}", Cassette::header_line(inner.info())).map_err(to_model_error)?;
        }
        Ok(Self { inner, path: path.to_owned(), file: Mutex::new(file), redactor })
    }

    fn write_exchange(
        &self,
        request: &GenerateRequest,
        result: &Result<GeneratedAnswer, ModelError>,
    ) -> Result<(), ModelError> {
        let (request, digest) = redacted_request(request, &self.redactor);
        let outcome = match result {
            Ok(generated) => ExchangeOutcome::Answer(generated.clone()),
            Err(error) => ExchangeOutcome::Error(error.clone()),
        };
        let entry = CassetteEntry { digest: Some(digest), request: Some(request), outcome };
        let mut line: Value = serde_json::to_value(&entry).unwrap_or_default();
        if let Some(outcome) = line.get_mut("outcome") {
            redact_in_place(outcome, &self.redactor);
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{line}").map_err(|error| unwritable_error(&self.path, &error))
    }
}

fn unwritable_error(path: &Path, error: &std::io::Error) -> ModelError {
    let message = format!("could not write the recording {}: {error}", path.display());
    ModelError::new(
        "recorded",
        "bad_cassette",
        Category::Critical,
        message,
        "check the path given with --record",
    )
}

impl LanguageModel for RecordingModel {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            let result = self.inner.generate(request, deltas, cancel).await;
            // A request canceled by the user has no answer to record.
            if !matches!(&result, Err(error) if error.is_cancelled()) {
                self.write_exchange(request, &result)?;
            }
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::{OfflineAnswer, OfflineModel};
    use crate::recorded::RecordedModel;
    use crate::{Message, ignore_deltas};

    async fn ask(model: &dyn LanguageModel, text: &str) -> Result<String, String> {
        let request = GenerateRequest::new(vec![Message::user(text)]);
        let cancel = CancellationToken::new();
        let answer = model.generate(&request, &ignore_deltas, &cancel).await;
        answer.map(|generated| generated.text).map_err(|error| error.code)
    }

    #[tokio::test]
    async fn recorded_exchanges_are_played_by_request_then_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tape.jsonl");
        let counter = std::sync::atomic::AtomicU32::new(0);
        let policy = Arc::new(move |request: &GenerateRequest| {
            let text = request.messages[0].text();
            let number = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(OfflineAnswer { text: format!("{number}: {text}"), calls: Vec::new() })
        });
        let inner = Arc::new(OfflineModel::new("echo", policy));
        let redactor = Redactor::new(["topsecretkey123"]);
        let recording = RecordingModel::record_to(inner, &path, redactor.clone()).unwrap();
        for text in ["one", "two", "one", "my key is topsecretkey123"] {
            ask(&recording, text).await.unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("topsecret"), "{text}");

        let recorded = RecordedModel::open(&path, redactor).unwrap();
        assert_eq!(ask(&recorded, "two").await.unwrap(), "1: two");
        assert_eq!(ask(&recorded, "one").await.unwrap(), "0: one");
        assert_eq!(ask(&recorded, "one").await.unwrap(), "2: one", "equal requests in their order");
        assert!(ask(&recorded, "my key is topsecretkey123").await.unwrap().contains("[redacted"));
        assert_eq!(ask(&recorded, "one").await.unwrap_err(), "cassette_miss");
        assert_eq!(recorded.remaining_exchanges(), 0);
    }

    #[tokio::test]
    async fn a_cassette_written_by_hand_answers_in_its_order() {
        let text = concat!(
            r#"{"cassette":1,"info":{"provider":"p","model":"m","host":"","local":true,"context_window":null,"capability":null}}"#,
            "\n",
            r#"{"outcome":{"answer":{"text":"first","finish":"stop","model":"m"}}}"#,
            "\n",
            r#"{"outcome":{"error":{"provider":"p","code":"rate_limited","category":"transient","message":"x","next_step":"y"}}}"#,
        );
        let cassette = Cassette::parse(text, Path::new("x")).unwrap();
        let recorded = RecordedModel::new(cassette, Redactor::default());
        assert_eq!(ask(&recorded, "anything").await.unwrap(), "first");
        assert_eq!(ask(&recorded, "anything").await.unwrap_err(), "rate_limited");
    }

    #[test]
    fn a_file_that_is_not_a_recording_is_not_modified() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt");
        std::fs::write(&path, "my notes").unwrap();
        let inner = Arc::new(OfflineModel::new("echo", Arc::new(|_| Ok(OfflineAnswer::default()))));
        assert!(RecordingModel::record_to(inner, &path, Redactor::default()).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes");
        let newer = r#"{"cassette":2,"info":{"provider":"p","model":"m","host":"","local":true,"context_window":null,"capability":null}}"#;
        assert!(Cassette::parse(newer, &path).unwrap_err().message.contains("newer"));
    }
}
