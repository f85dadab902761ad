//! The person's editor and pager, and what only the terminal can do: its clipboard and its notices.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::session::{ExternalAction, ExternalOutcome};
use planwright_text::{clean_line, clean_text};

/// The longest text that is put on the clipboard; terminals refuse more.
const CLIPBOARD: usize = 74_000;

/// How long an editor or pager may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How it ended with an editor or a pager.
#[derive(Debug)]
pub(super) enum ProgramEnd {
    Returned(ExternalOutcome),
    /// It was ended because this program has to. What was being edited is in the file.
    Ended {
        kept: Option<PathBuf>,
    },
}

/// Runs an editor or a pager while the terminal is given back. Once `cancel` is cancelled the program is ended, and what
/// was being edited stays in its file.
pub(super) async fn run_external_action(
    what: ExternalAction,
    cancel: &CancellationToken,
) -> ProgramEnd {
    let done = match what {
        ExternalAction::Edit { text, ending, purpose } => match edit_text(&text, ending, cancel)
            .await
        {
            Ok(EditEnd::Left(edited)) => Ok(edited.map_or(ExternalOutcome::Unchanged, |text| {
                ExternalOutcome::Edited { text, purpose }
            })),
            Ok(EditEnd::Ended(path)) => return ProgramEnd::Ended { kept: Some(path) },
            Err(error) => Err(error),
        },
        ExternalAction::Page { text } => match show_in_pager(&text, cancel).await {
            Ok(Some(_)) => Ok(ExternalOutcome::Unchanged),
            Ok(None) => return ProgramEnd::Ended { kept: None },
            Err(error) => Err(error),
        },
        ExternalAction::Copy { .. } | ExternalAction::Notify { .. } => {
            Ok(ExternalOutcome::Unchanged)
        }
    };
    ProgramEnd::Returned(done.unwrap_or_else(|error| ExternalOutcome::Failed {
        why: format!("{error}; nothing was changed"),
    }))
}

enum EditEnd {
    /// The person left the editor; nothing if the text is as it was.
    Left(Option<String>),
    /// The editor was ended; its file is kept.
    Ended(PathBuf),
}

/// Waits for a program. `None` if it was ended before it ended by itself.
async fn wait_for_exit(
    child: &mut Child,
    cancel: &CancellationToken,
) -> io::Result<Option<ExitStatus>> {
    tokio::select! {
        status = child.wait() => return status.map(Some),
        () = cancel.cancelled() => {}
    }
    // Asked first: an editor that is asked saves what it can recover later.
    if let Some(pid) = child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()))
    {
        // It may have ended by itself in this moment, which the waiting below finds.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        child.kill().await?;
    }
    Ok(None)
}

/// Lets the editor change a file of its own; nothing comes back if it was left as it was.
async fn edit_text(text: &str, ending: &str, cancel: &CancellationToken) -> io::Result<EditEnd> {
    let path = create_private_file(ending, text)?;
    let ended = open_editor(&path, cancel).await;
    if matches!(ended, Ok(None)) {
        return Ok(EditEnd::Ended(path));
    }
    let left = planwright_files::read_bytes(&path, planwright_files::FileLimit::EDITED);
    if let Err(error) = std::fs::remove_file(&path) {
        tracing::debug!(%error, "the file that was edited cannot be removed");
    }
    if !ended?.is_some_and(|status| status.success()) {
        return Ok(EditEnd::Left(None));
    }
    let left = planwright_text::from_bytes_lossy(&left?).into_owned();
    Ok(EditEnd::Left((left.trim_end() != text.trim_end()).then_some(left)))
}

async fn open_editor(path: &Path, cancel: &CancellationToken) -> io::Result<Option<ExitStatus>> {
    let mut editor = program_from_env("VISUAL", "EDITOR", "vi")
        .arg(path)
        .spawn()
        .map_err(|error| io::Error::other(format!("your editor could not be started: {error}")))?;
    wait_for_exit(&mut editor, cancel).await
}

/// Shows a text in the pager. `None` if the pager was ended.
async fn show_in_pager(text: &str, cancel: &CancellationToken) -> io::Result<Option<ExitStatus>> {
    let mut pager = program_from_env("PLANWRIGHT_PAGER", "PAGER", "less")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::other(format!("your pager could not be started: {error}")))?;
    if let Some(mut input) = pager.stdin.take() {
        use tokio::io::AsyncWriteExt as _;
        // A pager that is left early closes its end; one that never reads is ended with us.
        let text = clean_text(text);
        tokio::select! {
            _ = input.write_all(text.as_bytes()) => {}
            () = cancel.cancelled() => {}
        }
    }
    wait_for_exit(&mut pager, cancel).await
}

/// The program that the environment names, its own arguments included.
fn program_from_env(first: &str, second: &str, otherwise: &str) -> Command {
    let named = [first, second]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let line = named.unwrap_or_else(|| otherwise.to_owned());
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(otherwise));
    command.args(words);
    command
}

/// A file that only this person can read.
fn create_private_file(ending: &str, text: &str) -> io::Result<PathBuf> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let name = format!("planwright-{}{ending}", uuid::Uuid::now_v7());
    let path = std::env::temp_dir().join(name);
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

/// The bytes that put text on the clipboard.
pub(super) fn clipboard_sequence(text: &str) -> Vec<u8> {
    let mut end = text.len().min(CLIPBOARD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let encoded = BASE64_STANDARD.encode(&text[..end]);
    format!("\x1b]52;c;{encoded}\x1b\\").into_bytes()
}

/// The bytes that show a notice: both ways that terminals understand, then the bell.
pub(super) fn notification_sequence(text: &str) -> Vec<u8> {
    let text = clean_line(text).replace(';', ",");
    format!("\x1b]9;{text}\x1b\\\x1b]777;notify;Planwright;{text}\x1b\\\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clipboard_gets_whole_characters_only() {
        let bytes = clipboard_sequence(&"é".repeat(CLIPBOARD));
        assert!(bytes.starts_with(b"\x1b]52;c;") && bytes.len() < 2 * CLIPBOARD);
        let small = String::from_utf8(clipboard_sequence("plan")).unwrap();
        assert!(small.contains("cGxhbg=="), "{small:?}");
    }

    #[test]
    fn a_notice_cannot_be_broken_out_of() {
        let text = String::from_utf8(notification_sequence("a\u{1b}]52;c;x\u{7}b;c")).unwrap();
        assert_eq!(text.matches('\u{1b}').count(), 4);
        assert_eq!(text.matches('\u{7}').count(), 1);
    }
}
