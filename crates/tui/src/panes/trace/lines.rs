//! A step as lines: wrapped, Markdown laid out, differences told apart.

use planwright_state::trace::{TraceEntry, TraceEntryKind};
use planwright_text::{
    MarkdownPart, clean_line, clean_text, layout_markdown, looks_like_markdown, wrap_words,
};

/// How a line of a step is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepLineStyle {
    Plain,
    Heading,
    Code,
    Added,
    Removed,
    Hunk,
    /// Why the agent took this tool; the first line of it carries the word.
    Why,
    WhyContinued,
    /// What was skipped because of a failure.
    Skipped,
    /// How much is folded.
    More,
}

/// Results fold after so many lines.
const FOLDED_LINES: usize = 3;

/// A line of a step. The text is clean.
pub(crate) type StepLine = (String, StepLineStyle);

/// Wraps a step. Calls and their output take one line until they are unfolded; everything else is short and whole.
pub(super) fn step_lines(entry: &TraceEntry, width: usize, unfolded: bool) -> Vec<StepLine> {
    let foldable = matches!(
        entry.kind,
        TraceEntryKind::Observed | TraceEntryKind::Action | TraceEntryKind::Unknown
    );
    let text = clean_line(&entry.text);
    if foldable && !unfolded {
        return folded_lines(entry, &text);
    }
    let mut lines: Vec<StepLine> = Vec::new();
    // The body of an observation is the whole of it, its first line included.
    if entry.kind != TraceEntryKind::Observed || entry.body.is_none() {
        lines.extend(plain_lines(&text, width));
    }
    if let Some(body) = entry.body.as_ref().filter(|_| unfolded) {
        lines.extend(body_lines(&clean_text(body), width));
    }
    if lines.is_empty() {
        lines.push((String::new(), StepLineStyle::Plain));
    }
    lines
}

/// The first lines of a step that can be unfolded, and how much there is of it.
fn folded_lines(entry: &TraceEntry, text: &str) -> Vec<StepLine> {
    let body = entry.body.as_ref().filter(|_| entry.kind == TraceEntryKind::Observed);
    let Some(body) = body else { return vec![(text.to_owned(), StepLineStyle::Plain)] };
    let body = clean_text(body);
    let all: Vec<&str> = body.lines().collect();
    let shown = if all.len() > FOLDED_LINES { FOLDED_LINES - 1 } else { all.len() };
    let mut lines: Vec<StepLine> =
        all[..shown].iter().map(|line| ((*line).to_owned(), StepLineStyle::Plain)).collect();
    if shown < all.len() {
        let more = format!("{} more lines, Enter unfolds", all.len() - shown);
        lines.push((more, StepLineStyle::More));
    }
    lines
}

/// Why the tool of a step was taken, under what the step says.
pub(super) fn why_lines(text: &str, width: usize) -> Vec<StepLine> {
    wrap_words(&clean_line(text), width, 0)
        .into_iter()
        .enumerate()
        .map(|(index, line)| {
            (
                line.into_owned(),
                if index == 0 { StepLineStyle::Why } else { StepLineStyle::WhyContinued },
            )
        })
        .collect()
}

fn plain_lines(text: &str, width: usize) -> Vec<StepLine> {
    wrap_words(text, width, 0)
        .into_iter()
        .map(|line| (line.into_owned(), StepLineStyle::Plain))
        .collect()
}

fn body_lines(body: &str, width: usize) -> Vec<StepLine> {
    if is_diff(body) {
        return body.lines().flat_map(|line| diff_lines(line, width)).collect();
    }
    if looks_like_markdown(body) {
        let look = |part| match part {
            MarkdownPart::Heading => StepLineStyle::Heading,
            MarkdownPart::Code | MarkdownPart::Table => StepLineStyle::Code,
            MarkdownPart::Text | MarkdownPart::Quote => StepLineStyle::Plain,
        };
        return layout_markdown(body, width)
            .into_iter()
            .map(|(part, line)| (line, look(part)))
            .collect();
    }
    plain_lines(body, width)
}

/// Whether text is the difference of files, as `diff -u` writes it.
fn is_diff(text: &str) -> bool {
    let hunk = text.lines().any(|line| line.starts_with("@@ "));
    let files = text.lines().any(|line| line.starts_with("--- "));
    let git = text.lines().any(|line| line.starts_with("diff --git "));
    hunk && (files || git)
}

fn diff_lines(line: &str, width: usize) -> Vec<StepLine> {
    let look = match line.as_bytes().first() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") => StepLineStyle::Hunk,
        Some(b'+') => StepLineStyle::Added,
        Some(b'-') => StepLineStyle::Removed,
        Some(b'@') => StepLineStyle::Hunk,
        _ => StepLineStyle::Plain,
    };
    wrap_words(line, width, 0).into_iter().map(|part| (part.into_owned(), look)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_from_a_list() {
        let text = "--- a/error.rs\n+++ b/error.rs\n@@ -1 +1 @@\n-   Unexpected(char),\n+   Unexpected {},\n";
        let looks: Vec<StepLineStyle> =
            body_lines(text, 40).into_iter().map(|(_, look)| look).collect();
        assert_eq!(
            looks,
            [
                StepLineStyle::Hunk,
                StepLineStyle::Hunk,
                StepLineStyle::Hunk,
                StepLineStyle::Removed,
                StepLineStyle::Added
            ]
        );
        let list = body_lines("- one\n- two", 40);
        assert_eq!(list[0], ("· one".to_owned(), StepLineStyle::Plain));
    }

    #[test]
    fn output_of_programs_keeps_its_lines() {
        let lines = body_lines("   Compiling a\nwarning: b", 40);
        assert_eq!(lines[0].0, "   Compiling a");
    }
}
