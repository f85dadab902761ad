//! The kind of plan that is asked about.

use crate::panes::approval::content::{CardLine, push_labeled};
use crate::theme::ThemeRole;
use planwright_model::PatternChoice;

pub(in super::super) fn pattern_lines(choice: &PatternChoice, width: usize) -> Vec<CardLine> {
    let mut lines = vec![Vec::new()];
    push_labeled(&mut lines, "Kind", &choice.pattern.kind_noun(), ThemeRole::Text, width);
    let sure = match choice.confidence {
        value if value >= 0.80 => "sure",
        value if value >= 0.60 => "fairly sure",
        _ => "unsure: no template fits well",
    };
    push_labeled(&mut lines, "Confidence", sure, ThemeRole::Text, width);
    if let Some(second) = &choice.second {
        push_labeled(&mut lines, "Or", &second.kind_noun(), ThemeRole::Text, width);
    }
    for line in &choice.explanations {
        push_labeled(&mut lines, "Because", line, ThemeRole::Untrusted, width);
    }
    lines
}
