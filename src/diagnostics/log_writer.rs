//! The way of a line from its call site to the file: collected, cleaned, redacted, appended.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use planwright_text::{LearnedSecrets, Redactor, clean_line, from_bytes_lossy};
use tracing_subscriber::fmt::MakeWriter;

use super::rotating_file::RotatingLogFile;

/// Where redacted lines go, and the secrets they must not contain.
#[derive(Debug)]
pub(super) struct LogSink {
    file: Mutex<RotatingLogFile>,
    cover: Mutex<SecretCover>,
}

#[derive(Default)]
struct SecretCover {
    secrets: BTreeSet<String>,
    learned: LearnedSecrets,
    redactor: Redactor,
}

impl std::fmt::Debug for SecretCover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretCover").finish_non_exhaustive()
    }
}

impl LogSink {
    pub(super) fn new(file: RotatingLogFile) -> Self {
        Self { file: Mutex::new(file), cover: Mutex::default() }
    }

    pub(super) fn add_secrets(&self, secrets: impl IntoIterator<Item = String>) {
        let mut cover = self.cover.lock().unwrap_or_else(PoisonError::into_inner);
        let before = cover.secrets.len();
        cover.secrets.extend(secrets);
        if cover.secrets.len() > before {
            cover.redactor = Redactor::new(&cover.secrets).sharing(&cover.learned);
        }
    }

    /// Covers what is learned from now on. What was shared before is not needed any more: one process has one such list.
    pub(super) fn share_learned_secrets(&self, learned: &LearnedSecrets) {
        let mut cover = self.cover.lock().unwrap_or_else(PoisonError::into_inner);
        cover.learned = learned.clone();
        cover.redactor = Redactor::new(&cover.secrets).sharing(learned);
    }

    /// The line as it may be kept. A secret over several lines shows before they are joined to one, a secret with
    /// control characters in it only afterwards.
    fn redact_line(&self, line: &str) -> String {
        let redactor = self.cover.lock().unwrap_or_else(PoisonError::into_inner).redactor.clone();
        redactor.redact(&clean_line(&redactor.redact(line))).into_owned()
    }

    fn append_line(&self, line: &str) {
        let line = self.redact_line(line);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not stop the program, and there is no other place to report it: the line is dropped.
        let _ = file.append_line(&line);
    }
}

/// Hands out one writer for each event.
#[derive(Debug)]
pub(super) struct LogWriterSource(pub(super) Arc<LogSink>);

impl<'a> MakeWriter<'a> for LogWriterSource {
    type Writer = LogLineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LogLineWriter { sink: &self.0, bytes: Vec::new() }
    }
}

/// Collects an event however it is cut into pieces: a secret must not slip through between two of them.
#[derive(Debug)]
pub(super) struct LogLineWriter<'a> {
    sink: &'a LogSink,
    bytes: Vec<u8>,
}

impl io::Write for LogLineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLineWriter<'_> {
    fn drop(&mut self) {
        let line = from_bytes_lossy(&self.bytes);
        let line = line.trim_end();
        if !line.is_empty() {
            self.sink.append_line(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::path::PathBuf;

    use tracing_subscriber::layer::SubscriberExt as _;

    const SECRET: &str = "correct-horse-battery";

    fn sink() -> (tempfile::TempDir, PathBuf, Arc<LogSink>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("planwright.log");
        let sink = LogSink::new(RotatingLogFile::open(&path, 10_000, 2).unwrap());
        sink.add_secrets([SECRET.to_owned()]);
        (dir, path, Arc::new(sink))
    }

    #[derive(Debug)]
    struct Wrapped<'a>(#[expect(dead_code, reason = "read by Debug")] &'a str);

    #[test]
    fn no_part_of_an_event_brings_a_secret_into_the_file() {
        let (_dir, path, sink) = sink();
        let lines = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(LogWriterSource(Arc::clone(&sink)));
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            tracing::warn!(field = SECRET, "a field");
            tracing::warn!("a message with {SECRET}");
            tracing::warn!(field = ?Wrapped(SECRET), error = %io::Error::other(SECRET), "wrapped");
            tracing::warn!("{}{}", &SECRET[..7], &SECRET[7..]);
            tracing::warn!(token, "a token by its shape");
        });
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(!text.contains(SECRET) && !text.contains(&token), "{text}");
        assert_eq!(text.matches("[redacted:loaded_key]").count(), 5, "{text}");
    }

    #[test]
    fn a_secret_in_two_pieces_or_behind_an_escape_is_found() {
        let (_dir, path, sink) = sink();
        let source = LogWriterSource(Arc::clone(&sink));
        let mut writer = source.make_writer();
        writer.write_all(b"key correct-horse").unwrap();
        writer.write_all(b"-battery\n").unwrap();
        drop(writer);
        source.make_writer().write_all(b"key correct-\x1b[1mhorse-battery\n").unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "key [redacted:loaded_key]\n".repeat(2));
    }

    #[test]
    fn an_event_is_one_line_and_a_later_secret_is_covered_from_then_on() {
        let (_dir, path, sink) = sink();
        let source = LogWriterSource(Arc::clone(&sink));
        source.make_writer().write_all(b"first\nERROR forged line tr0ub4dor-x\n").unwrap();
        sink.add_secrets(["tr0ub4dor-x".to_owned()]);
        source.make_writer().write_all(b"tr0ub4dor-x\n").unwrap();
        let learned = LearnedSecrets::default();
        sink.share_learned_secrets(&learned);
        learned.add("printed-by-a-command");
        source.make_writer().write_all(b"printed-by-a-command tr0ub4dor-x\n").unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        let covered = "[redacted:loaded_key]";
        assert!(text.ends_with(&format!("\n{covered}\n{covered} {covered}\n")), "{text}");
    }
}
