//! The kind of plan that is asked about.

use crate::panes::approval::content::{CardLine, push_labeled};
use crate::theme::ThemeRole;
use planwright_model::{PatternChoice, PatternType};

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
        push_labeled(&mut lines, "Because", &reason_text(line), ThemeRole::Untrusted, width);
    }
    lines
}

/// A reason in words: what was found, and which kind of plan it speaks for.
fn reason_text(line: &str) -> String {
    let weighed = line.rsplit_once(": ").and_then(|(found, rest)| {
        let (shape, _) = rest.split_once(" +")?;
        let shape = PatternType::from_name(shape)?;
        Some(format!("{found} speaks for a {}", shape.kind_noun()))
    });
    weighed.unwrap_or_else(|| line.to_owned())
}
