//! The answers beside a plan: as airy as the room allows, and none of them ever left out.

use super::answers::AnswerRow;
use super::content::CardLine;
use super::draw::unavailable_text;
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use planwright_text::{clean_line, display_width, truncate_end, wrap_words};

/// Where the consequence begins when it stands beside its label.
const COLUMN: usize = 23;

/// How the answers are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerSpacing {
    /// The consequence below the label, a blank row after it.
    Airy,
    /// The consequence beside the label, hanging.
    Beside,
    /// One row each, the consequence cut.
    Tight,
}

/// The rows of all answers, in the widest setting that leaves room for what comes after them.
pub(super) fn side_answer_lines(
    rows: &[AnswerRow],
    width: usize,
    height: usize,
    after: usize,
    cx: &PaneContext<'_>,
) -> Vec<CardLine> {
    let set = |setting| -> Vec<CardLine> {
        rows.iter().flat_map(|row| answer_lines(row, setting, width, cx)).collect()
    };
    [AnswerSpacing::Airy, AnswerSpacing::Beside]
        .into_iter()
        .map(set)
        .find(|lines| lines.len() + after <= height)
        .unwrap_or_else(|| set(AnswerSpacing::Tight))
}

fn answer_lines(
    row: &AnswerRow,
    setting: AnswerSpacing,
    width: usize,
    cx: &PaneContext<'_>,
) -> Vec<CardLine> {
    let off = unavailable_text(row, cx);
    let (key_role, role) = if off.is_some() {
        (ThemeRole::Dim, ThemeRole::Dim)
    } else {
        (ThemeRole::Key, ThemeRole::Text)
    };
    let text = clean_line(off.as_deref().unwrap_or(&row.consequence)).into_owned();
    let label = clean_line(&row.label).into_owned();
    let head: CardLine =
        vec![(format!("  {}  ", cx.keymap.key_hint(row.action)), key_role), (label, role)];
    let used: usize = head.iter().map(|(text, _)| display_width(text)).sum();
    if setting == AnswerSpacing::Airy {
        let below = wrap_words(&text, width.saturating_sub(8).max(8), 0);
        let below = below.into_iter().map(|line| vec![(format!("     {line}"), ThemeRole::Dim)]);
        return std::iter::once(head).chain(below).chain([Vec::new()]).collect();
    }
    let column = COLUMN.max(used + 2);
    let room = width.saturating_sub(column + 1).max(8);
    let mut parts: Vec<String> = match setting {
        AnswerSpacing::Tight => vec![truncate_end(&text, room).into_owned()],
        _ => wrap_words(&text, room, 0).into_iter().map(std::borrow::Cow::into_owned).collect(),
    };
    if parts.is_empty() {
        parts.push(String::new());
    }
    parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| {
            let mut line = if index == 0 { head.clone() } else { Vec::new() };
            let from = if index == 0 { used } else { 0 };
            line.push((" ".repeat(column - from), ThemeRole::Dim));
            line.push((part, ThemeRole::Dim));
            line
        })
        .collect()
}
