//! Why a command failed, as its output says it: a panic, an error line, else its last words.

use planwright_model::event::OutputStream;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCause {
    /// The line that says it, with the place where it is known.
    pub line: String,
    /// The same in a few words, for lists.
    pub short: String,
}

impl FailureCause {
    fn plain(line: &str) -> Self {
        Self { line: line.to_owned(), short: line.to_owned() }
    }
}

/// Looks for the cause in the output of an attempt, oldest line first. `None` if nothing in it says one.
///
/// The first error of a compiler is the one to fix, and the last line of a traceback is the one that names the error;
/// what build tools add below ("make: *** Error 2") only repeats that something failed.
pub fn find_failure_cause(lines: &[(OutputStream, String)]) -> Option<FailureCause> {
    find_panic(lines)
        .or_else(|| find_traceback_error(lines))
        .or_else(|| find_error_line(lines))
        .or_else(|| last_complaint(lines))
}

/// `thread 'main' panicked at src/lexer.rs:88:22:` with its message in the same line or the next.
fn find_panic(lines: &[(OutputStream, String)]) -> Option<FailureCause> {
    let at = lines.iter().position(|(_, line)| line.contains("panicked at "))?;
    let line = lines[at].1.trim();
    let (head, place) = line.split_once("panicked at ")?;
    // Older compilers wrote the message first, in quotes.
    if let Some((message, place)) = place.strip_prefix('\'').and_then(|rest| rest.split_once("', "))
    {
        return Some(panic_cause(head, place, message));
    }
    let (place, same_line) = split_place(place);
    let next_line = || lines.get(at + 1).map_or("", |(_, line)| line.trim());
    let message = if same_line.is_empty() { next_line() } else { same_line };
    Some(panic_cause(head, place, message))
}

/// Divides `src/lexer.rs:88:22: no rows` into the place and what follows it, which may be nothing.
fn split_place(text: &str) -> (&str, &str) {
    let is_message_start = |(at, _): &(usize, char)| {
        let (before, after) = (&text[..*at], &text[*at + 1..]);
        before.ends_with(|last: char| last.is_ascii_digit()) && after.starts_with(' ')
    };
    let mut ends = text.char_indices().filter(|(_, found)| matches!(found, ':' | ','));
    match ends.find(is_message_start) {
        Some((at, _)) => (&text[..at], text[at + 1..].trim()),
        None => (text.trim_end_matches(':'), ""),
    }
}

fn panic_cause(head: &str, place: &str, message: &str) -> FailureCause {
    // The column says little, the line says where.
    let place = match place.rsplit_once(':') {
        Some((before, column)) if before.contains(':') && column.parse::<u32>().is_ok() => before,
        _ => place,
    };
    if message.is_empty() {
        let line = format!("{head}panicked at {place}");
        return FailureCause { line, short: format!("panicked at {place}") };
    }
    let line = format!("{head}panicked at {place}: {message}");
    let words = message.split(": ").next().unwrap_or(message);
    FailureCause { line, short: format!("{words} at {place}") }
}

/// The last line of a Python traceback.
fn find_traceback_error(lines: &[(OutputStream, String)]) -> Option<FailureCause> {
    let at = lines
        .iter()
        .rposition(|(_, line)| line.starts_with("Traceback (most recent call last)"))?;
    let error = lines[at + 1..]
        .iter()
        .find(|(_, line)| !line.starts_with([' ', '\t']) && !line.trim().is_empty())?;
    Some(FailureCause::plain(error.1.trim()))
}

/// Whether a line of output calls itself an error.
pub fn is_error_line(line: &str) -> bool {
    let lower = line.trim_start().to_lowercase();
    let starts =
        ["error:", "error[", "error ", "fatal:", "fatal error", "panic:", "e   ", "exception:"];
    starts.iter().any(|start| lower.starts_with(start))
        || [": error:", ": fatal error:", " error: "].iter().any(|part| lower.contains(part))
        || line.contains("Error: ")
        || line.contains("panicked at ")
}

/// The first line that calls itself an error.
fn find_error_line(lines: &[(OutputStream, String)]) -> Option<FailureCause> {
    let found = lines.iter().position(|(_, line)| is_error_line(line))?;
    let line = lines[found].1.trim();
    let place = lines.get(found + 1).and_then(|(_, next)| next.trim().strip_prefix("--> "));
    Some(match place {
        Some(place) => FailureCause { line: format!("{line}, {place}"), short: line.to_owned() },
        None => FailureCause::plain(line),
    })
}

/// The last line on standard error, which is where commands say what they could not do, but for what only repeats that.
fn last_complaint(lines: &[(OutputStream, String)]) -> Option<FailureCause> {
    let is_said = |(stream, line): &&(OutputStream, String)| {
        *stream == OutputStream::Stderr && !line.trim().is_empty()
    };
    let said = || lines.iter().rev().filter(is_said).map(|(_, line)| line.trim());
    let last = said().find(|line| !only_repeats(line)).or_else(|| said().next())?;
    Some(FailureCause::plain(last))
}

/// Whether a line says no more than that something failed: tar, make and their like end with one.
fn only_repeats(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower.contains("due to previous error")
        || lower.starts_with("make: ***")
        || lower.starts_with("make[")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(lines: &[&str]) -> FailureCause {
        let lines: Vec<(OutputStream, String)> =
            lines.iter().map(|line| (OutputStream::Stderr, (*line).to_owned())).collect();
        find_failure_cause(&lines).unwrap()
    }

    #[test]
    fn a_panic_is_named_with_its_place() {
        let found = cause(&[
            "#16384 pulse  cov: 1204",
            "thread 'main' panicked at src/lexer.rs:88:22:",
            "index out of bounds: the len is 3 but the index is 3",
            "error: test failed, to rerun pass --lib",
        ]);
        assert_eq!(
            found.line,
            "thread 'main' panicked at src/lexer.rs:88: index out of bounds: the len is 3 but the index is 3"
        );
        assert_eq!(found.short, "index out of bounds at src/lexer.rs:88");
        let old = cause(&["thread 'main' panicked at 'no rows', src/db.rs:7:3"]);
        assert_eq!(old.short, "no rows at src/db.rs:7");
        let one_line = cause(&["thread main panicked at src/a.rs:3: no rows: none at all"]);
        assert_eq!(one_line.line, "thread main panicked at src/a.rs:3: no rows: none at all");
        assert_eq!(one_line.short, "no rows at src/a.rs:3");
        let comma = cause(&["panicked at lexer.rs:88, index out of bounds"]);
        assert_eq!(comma.short, "index out of bounds at lexer.rs:88");
        let bare = cause(&["thread 'main' panicked at src/a.rs:3:9:"]);
        assert_eq!(
            (bare.line.as_str(), bare.short.as_str()),
            ("thread 'main' panicked at src/a.rs:3", "panicked at src/a.rs:3")
        );
    }

    #[test]
    fn what_only_repeats_that_something_failed_is_no_cause() {
        let tar = cause(&[
            "tar: notes: Cannot stat: No such file or directory",
            "tar: Exiting with failure status due to previous errors",
        ]);
        assert_eq!(tar.line, "tar: notes: Cannot stat: No such file or directory");
        assert_eq!(cause(&["make: *** [all] Error 2"]).line, "make: *** [all] Error 2");
    }

    #[test]
    fn the_first_error_of_a_compiler_and_the_last_of_a_traceback() {
        let rust = cause(&[
            "warning: x",
            "error[E0308]: mismatched types",
            "  --> src/a.rs:3:5",
            "error: aborting",
        ]);
        assert_eq!(rust.line, "error[E0308]: mismatched types, src/a.rs:3:5");
        assert_eq!(rust.short, "error[E0308]: mismatched types");
        let python = cause(&[
            "Traceback (most recent call last):",
            "  File \"a.py\", line 1",
            "    x()",
            "ValueError: no rows",
            "make: *** [test] Error 1",
        ]);
        assert_eq!(python.line, "ValueError: no rows");
        assert_eq!(
            cause(&["gcc: fatal error: no input files", "make: *** Error 2"]).line,
            "gcc: fatal error: no input files"
        );
    }

    #[test]
    fn without_one_the_last_words_on_standard_error_have_to_do() {
        assert_eq!(
            cause(&["cat: rows.csv: No such file or directory", ""]).line,
            "cat: rows.csv: No such file or directory"
        );
        let output = [(OutputStream::Stdout, "all fine".to_owned())];
        assert_eq!(find_failure_cause(&output), None);
    }
}
