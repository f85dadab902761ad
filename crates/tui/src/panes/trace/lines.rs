//! A step as lines: wrapped, Markdown laid out, differences told apart.

use planwright_state::trace::{EntryKind, TraceEntry};
use planwright_text::{MarkdownPart, clean, clean_line, looks_like_markdown, markdown, wrap};

/// How a line of a step is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Heading,
    Code,
    Added,
    Removed,
    Hunk,
    /// Why the agent took this tool; the first line of it carries the word.
    Why,
    WhyOn,
}

/// A line of a step. The text is clean.
pub(crate) type StepLine = (String, Look);

/// Wraps a step. Calls and their output take one line until they are unfolded; everything else is short and whole.
pub(super) fn lines(entry: &TraceEntry, width: usize, unfolded: bool) -> Vec<StepLine> {
    let foldable =
        matches!(entry.kind, EntryKind::Observed | EntryKind::Action | EntryKind::Unknown);
    let text = clean_line(&entry.text);
    if foldable && !unfolded {
        return vec![(text.into_owned(), Look::Plain)];
    }
    let mut lines: Vec<StepLine> = Vec::new();
    // The body of an observation is the whole of it, its first line included.
    if entry.kind != EntryKind::Observed || entry.body.is_none() {
        lines.extend(plain(&text, width));
    }
    if let Some(body) = entry.body.as_ref().filter(|_| unfolded) {
        lines.extend(body_lines(&clean(body), width));
    }
    if lines.is_empty() {
        lines.push((String::new(), Look::Plain));
    }
    lines
}

/// Why the tool of a step was taken, under what the step says.
pub(super) fn why_lines(text: &str, width: usize) -> Vec<StepLine> {
    wrap(&clean_line(text), width, 0)
        .into_iter()
        .enumerate()
        .map(|(index, line)| (line.into_owned(), if index == 0 { Look::Why } else { Look::WhyOn }))
        .collect()
}

fn plain(text: &str, width: usize) -> Vec<StepLine> {
    wrap(text, width, 0).into_iter().map(|line| (line.into_owned(), Look::Plain)).collect()
}

fn body_lines(body: &str, width: usize) -> Vec<StepLine> {
    if is_difference(body) {
        return body.lines().flat_map(|line| difference_line(line, width)).collect();
    }
    if looks_like_markdown(body) {
        let look = |part| match part {
            MarkdownPart::Heading => Look::Heading,
            MarkdownPart::Code | MarkdownPart::Table => Look::Code,
            MarkdownPart::Text | MarkdownPart::Quote => Look::Plain,
        };
        return markdown(body, width).into_iter().map(|(part, line)| (line, look(part))).collect();
    }
    plain(body, width)
}

/// Whether text is the difference of files, as `diff -u` writes it.
fn is_difference(text: &str) -> bool {
    let hunk = text.lines().any(|line| line.starts_with("@@ "));
    let files = text.lines().any(|line| line.starts_with("--- "));
    let git = text.lines().any(|line| line.starts_with("diff --git "));
    hunk && (files || git)
}

fn difference_line(line: &str, width: usize) -> Vec<StepLine> {
    let look = match line.as_bytes().first() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") => Look::Hunk,
        Some(b'+') => Look::Added,
        Some(b'-') => Look::Removed,
        Some(b'@') => Look::Hunk,
        _ => Look::Plain,
    };
    wrap(line, width, 0).into_iter().map(|part| (part.into_owned(), look)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_from_a_list() {
        let text = "--- a/error.rs\n+++ b/error.rs\n@@ -1 +1 @@\n-   Unexpected(char),\n+   Unexpected {},\n";
        let looks: Vec<Look> = body_lines(text, 40).into_iter().map(|(_, look)| look).collect();
        assert_eq!(looks, [Look::Hunk, Look::Hunk, Look::Hunk, Look::Removed, Look::Added]);
        let list = body_lines("- one\n- two", 40);
        assert_eq!(list[0], ("· one".to_owned(), Look::Plain));
    }

    #[test]
    fn output_of_programs_keeps_its_lines() {
        let lines = body_lines("   Compiling a\nwarning: b", 40);
        assert_eq!(lines[0].0, "   Compiling a");
    }
}
