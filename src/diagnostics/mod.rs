//! The diagnostic log: off unless asked for, written to a few files of bounded size in the data directory.
//!
//! `PLANWRIGHT_LOG` or `-v` switches it on. Every line passes the one redactor before it reaches a file, and nothing is
//! ever written to the terminal. Only Planwright's own lines are kept: HTTP and protocol libraries log what they
//! transport, and what a model, a tool or a file said does not belong into a bug report.
//! While it is off no subscriber is set, so a call site costs one atomic load.

mod log_filter;
mod log_writer;
mod rotating_file;

pub(crate) use log_filter::LogFilter;
pub(crate) use rotating_file::{LOG_FILE_COUNT, LOG_FILE_LIMIT, log_files};

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use planwright_text::LearnedSecrets;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::console::{CliProblem, eprint_line};
use log_writer::{LogSink, LogWriterSource};
use rotating_file::RotatingLogFile;

/// The variable that switches the log on and says how much of it is kept.
pub(crate) const LOG_VARIABLE: &str = "PLANWRIGHT_LOG";

/// Where the lines of this process go, once the log is on.
static ACTIVE_LOG: OnceLock<Arc<LogSink>> = OnceLock::new();

/// The newest log file of a data directory; older ones lie beside it with a number.
pub(crate) fn log_file(data_dir: &Path) -> PathBuf {
    data_dir.join("logs").join("planwright.log")
}

/// What `PLANWRIGHT_LOG` and `-v` ask for together: the more talkative of the two.
pub(crate) fn requested_filter(verbosity: u8) -> anyhow::Result<LogFilter> {
    let text = std::env::var_os(LOG_VARIABLE).unwrap_or_default();
    let filter = LogFilter::parse(&text.to_string_lossy()).map_err(|error| {
        CliProblem::usage(format!("{LOG_VARIABLE}: {error}")).with_remedy(LogFilter::USAGE)
    })?;
    Ok(filter.raise_to(match verbosity {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    }))
}

/// Switches the log on if it was asked for. A log that cannot be written is a warning: the command itself may well work.
pub fn start_logging(verbosity: u8, data_dir: Option<&Path>, command: &str) -> anyhow::Result<()> {
    let filter = requested_filter(verbosity)?;
    if filter.is_off() {
        return Ok(());
    }
    let Some(data_dir) = data_dir.map(Path::to_owned).or_else(crate::config::data_dir) else {
        eprint_line("planwright: warning: no log is written, there is no home directory");
        return Ok(());
    };
    let path = log_file(&data_dir);
    match RotatingLogFile::open(&path, LOG_FILE_LIMIT, LOG_FILE_COUNT) {
        Ok(file) => install_subscriber(&filter, file),
        Err(error) => eprint_line(&format!(
            "planwright: warning: no log is written, {}: {error}",
            path.display()
        )),
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        command,
        %filter,
        "Planwright started"
    );
    Ok(())
}

fn install_subscriber(filter: &LogFilter, file: RotatingLogFile) {
    let sink = Arc::new(LogSink::new(file));
    let lines = fmt::layer()
        .with_ansi(false)
        // A failed write would otherwise be reported on standard error, in the middle of a screen.
        .log_internal_errors(false)
        .with_writer(LogWriterSource(Arc::clone(&sink)));
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter.to_targets()));
    // Both fail only when they were set before in this process, which `main` does not do.
    if tracing::subscriber::set_global_default(subscriber).is_ok() && ACTIVE_LOG.set(sink).is_ok() {
        add_secrets(crate::environment_secrets::environment_secrets());
        log_panics();
    }
}

/// Whether lines are kept at all.
pub(crate) fn is_logging() -> bool {
    ACTIVE_LOG.get().is_some()
}

/// Covers further secrets in every line from now on. Without a log there is nothing to cover.
pub(crate) fn add_secrets(secrets: impl IntoIterator<Item = String>) {
    if let Some(sink) = ACTIVE_LOG.get() {
        sink.add_secrets(secrets);
    }
}

/// Covers secrets that turn up later, too.
pub(crate) fn share_learned_secrets(learned: &LearnedSecrets) {
    if let Some(sink) = ACTIVE_LOG.get() {
        sink.share_learned_secrets(learned);
    }
}

/// Logs where a panic happened before whoever else wants to know is told.
fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let message = panic_message(info.payload());
        tracing::error!(place, reason = message, "panic");
        before(info);
    }));
}

/// The message of a panic without what it quotes: the standard library quotes the text that was being cut.
fn panic_message(payload: &dyn Any) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or_default();
    leave_out_quotes(text)
}

/// A message with everything it quotes left out, since that is what a model, a tool or a file said. An open quote
/// takes the rest.
pub(crate) fn leave_out_quotes(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['`', '"']) {
        let quote = &rest[at..=at];
        kept.push_str(&rest[..=at]);
        kept.push('…');
        let quoted = &rest[at + 1..];
        rest = match closing_quote(quoted, quote) {
            Some(end) => {
                kept.push_str(quote);
                &quoted[end + 1..]
            }
            None => "",
        };
    }
    kept + rest
}

/// Where a quote ends. A quote character after a backslash belongs to the quoted text.
fn closing_quote(quoted: &str, quote: &str) -> Option<usize> {
    let mut escaped = false;
    quoted.char_indices().find_map(|(at, char)| {
        let ends = !escaped && quote.starts_with(char);
        escaped = !escaped && char == '\\';
        ends.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_logged_without_what_it_quotes() {
        for (text, logged) in [
            ("inside 'é' of `what a file said`", "inside 'é' of `…`"),
            ("`a` and \"b `c` d\", then e", "`…` and \"…\", then e"),
            ("line 3: \"never closed", "line 3: \"…"),
            (
                r#"string "he said \"hunter2\" to me", expected a number"#,
                r#"string "…", expected a number"#,
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(leave_out_quotes(text), logged);
            assert_eq!(panic_message(&text.to_owned()), logged);
            assert_eq!(panic_message(&text), logged);
        }
        assert_eq!(panic_message(&7), "");
    }
}
