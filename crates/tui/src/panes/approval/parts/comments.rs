//! The comments of the person and what became of each, and what stays locked.

use crate::panes::approval::content::{CardLine, push_labeled};
use crate::theme::ThemeRole;
use planwright_model::CommentOutcome;
use planwright_state::SessionState;
use planwright_text::{clean_line, fit_width, truncate_middle, wrap_words};

/// The lines of the card; none if nothing was said.
pub(in super::super) fn comment_lines(state: &SessionState, width: usize) -> Vec<CardLine> {
    let planning = &state.planning;
    let mut lines = Vec::new();
    if !planning.comments.is_empty() {
        lines.push(Vec::new());
        lines.push(vec![("Comments".to_owned(), ThemeRole::Text)]);
    }
    for comment in &planning.comments {
        let (glyph, word, role, end) = match &comment.outcome {
            Some(CommentOutcome::Addressed { how }) => {
                ("✓", "addressed", ThemeRole::Done, how.as_str())
            }
            Some(CommentOutcome::Declined { why }) => {
                ("✗", "declined", ThemeRole::Warn, why.as_str())
            }
            Some(CommentOutcome::Stale) => ("◦", "stale", ThemeRole::Dim, "the node is gone"),
            None => ("·", "open", ThemeRole::Asks, ""),
        };
        let text = match end {
            "" => format!("\"{}\"", comment.text),
            end => format!("\"{}\": {end}", comment.text),
        };
        let room = width.saturating_sub(26).max(8);
        for (index, part) in wrap_words(&clean_line(&text), room, 0).into_iter().enumerate() {
            let lead = if index == 0 {
                let id = clean_line(comment.node.as_str()).into_owned();
                format!("{glyph} {word:<10} {}", fit_width(&truncate_middle(&id, 11), 12))
            } else {
                " ".repeat(25)
            };
            lines.push(vec![(lead, role), (part.into_owned(), ThemeRole::Text)]);
        }
    }
    if !planning.locked.is_empty() {
        let names: Vec<&str> =
            planning.locked.iter().map(planwright_model::TaskId::as_str).collect();
        push_labeled(&mut lines, "# locked", &names.join(", "), ThemeRole::Warn, width);
    }
    for request in &planning.change_requests {
        push_labeled(&mut lines, "asked for", &request.text, ThemeRole::Text, width);
    }
    lines
}
