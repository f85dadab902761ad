//! The kind of plan that is asked about.

use crate::panes::approval::content::{CardLine, push_labeled};
use crate::theme::ThemeRole;
use planwright_model::PatternChoice;
use planwright_text::units;

pub(in super::super) fn pattern_lines(choice: &PatternChoice, width: usize) -> Vec<CardLine> {
    let mut lines = vec![Vec::new()];
    let subtype = choice.pattern.subtype.as_deref().unwrap_or("no subtype");
    let named = format!("{} / {subtype}", choice.pattern.pattern_type);
    push_labeled(&mut lines, "pattern", &named, ThemeRole::Text, width);
    let sure = format!(
        "{}, ahead of the next by {}",
        units::format_confidence(choice.confidence, 2),
        units::format_confidence(choice.margin, 2)
    );
    push_labeled(&mut lines, "how sure", &sure, ThemeRole::Text, width);
    if let Some(second) = &choice.second {
        push_labeled(&mut lines, "next", &second.pattern_type.to_string(), ThemeRole::Text, width);
    }
    for line in &choice.explanations {
        push_labeled(&mut lines, "because", line, ThemeRole::Untrusted, width);
    }
    lines
}
