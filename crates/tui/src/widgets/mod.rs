//! The few shapes that all panes are made of.

mod field;
mod frame;
mod line;
mod rule;

pub(crate) use field::Field;
pub(crate) use frame::{divider, frame};
pub(crate) use line::{Line, Piece, piece, width_of};
pub(crate) use rule::{RuleKind, rule};

pub(crate) use planwright_text::units::counted;
