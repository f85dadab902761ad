//! The few shapes that all panes are made of.

mod line;
mod rule;

pub(crate) use line::{Line, Piece, piece, width_of};
pub(crate) use rule::{RuleKind, rule};
