//! The person's editor and pager, and what only the terminal can do: its clipboard and its notices.

use std::io::{self, Write as _};
use std::process::Stdio;

use tokio::process::Command;

use super::session::{Outside, Returned};
use crate::text::{clean, clean_line};

/// The longest text that is put on the clipboard; terminals refuse more.
const CLIPBOARD: usize = 74_000;

/// Runs an editor or a pager while the terminal is given back.
pub(super) async fn run(what: Outside) -> Returned {
    let done = match what {
        Outside::Edit { text, ending, back } => edit(&text, ending).await.map(|edited| {
            edited.map_or(Returned::Unchanged, |text| Returned::Edited { text, back })
        }),
        Outside::Page { text } => page(&text).await.map(|()| Returned::Unchanged),
        Outside::Copy { .. } | Outside::Notify { .. } => Ok(Returned::Unchanged),
    };
    done.unwrap_or_else(|error| Returned::Failed { why: format!("{error}; nothing was changed") })
}

/// Lets the editor change a file of its own; nothing comes back if it was left as it was.
async fn edit(text: &str, ending: &str) -> io::Result<Option<String>> {
    let path = private_file(ending, text)?;
    let ended = started("VISUAL", "EDITOR", "vi").arg(&path).status().await;
    let left = crate::files::read_bytes(&path, crate::files::FileLimit::EDITED);
    let _ = std::fs::remove_file(&path);
    match ended {
        Ok(status) if status.success() => {
            let left = crate::text::from_bytes_lossy(&left?).into_owned();
            Ok((left.trim_end() != text.trim_end()).then_some(left))
        }
        Ok(_) => Ok(None),
        Err(error) => Err(io::Error::other(format!("your editor could not be started: {error}"))),
    }
}

async fn page(text: &str) -> io::Result<()> {
    let mut pager = started("PLANWRIGHT_PAGER", "PAGER", "less")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::other(format!("your pager could not be started: {error}")))?;
    if let Some(mut input) = pager.stdin.take() {
        use tokio::io::AsyncWriteExt as _;
        // A pager that is left early closes its end.
        let _ = input.write_all(clean(text).as_bytes()).await;
    }
    pager.wait().await.map(|_| ())
}

/// The program that the environment names, its own arguments included.
fn started(first: &str, second: &str, otherwise: &str) -> Command {
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
fn private_file(ending: &str, text: &str) -> io::Result<std::path::PathBuf> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let name = format!("planwright-{}{ending}", uuid::Uuid::now_v7());
    let path = std::env::temp_dir().join(name);
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

/// The bytes that put text on the clipboard.
pub(super) fn clipboard(text: &str) -> Vec<u8> {
    let mut end = text.len().min(CLIPBOARD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut bytes = Vec::new();
    let copy = crossterm::clipboard::CopyToClipboard::to_clipboard_from(&text[..end]);
    let _ = crossterm::queue!(bytes, copy);
    bytes
}

/// The bytes that show a notice: both ways that terminals understand, then the bell.
pub(super) fn notice(text: &str) -> Vec<u8> {
    let text = clean_line(text).replace(';', ",");
    format!("\x1b]9;{text}\x1b\\\x1b]777;notify;Planwright;{text}\x1b\\\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clipboard_gets_whole_characters_only() {
        let bytes = clipboard(&"é".repeat(CLIPBOARD));
        assert!(bytes.starts_with(b"\x1b]52;c;") && bytes.len() < 2 * CLIPBOARD);
        let small = String::from_utf8(clipboard("plan")).unwrap();
        assert!(small.contains("cGxhbg=="), "{small:?}");
    }

    #[test]
    fn a_notice_cannot_be_broken_out_of() {
        let text = String::from_utf8(notice("a\u{1b}]52;c;x\u{7}b;c")).unwrap();
        assert_eq!(text.matches('\u{1b}').count(), 4);
        assert_eq!(text.matches('\u{7}').count(), 1);
    }
}
