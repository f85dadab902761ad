//! The few shapes that all panes are made of.

mod field;
mod frame;
mod line;
mod rule;

pub(crate) use field::Field;
pub(crate) use frame::{divider, frame};
pub(crate) use line::{Line, Piece, piece, width_of};
pub(crate) use rule::{RuleKind, rule};

/// A number of things, `1 task` or `2 tasks`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}
