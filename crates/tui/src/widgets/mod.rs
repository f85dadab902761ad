//! The few shapes that all panes are made of.

mod field;
mod frame;
mod line;
mod rule;
mod when_input;

pub(crate) use field::TextField;
pub(crate) use frame::{draw_frame, draw_heavy_frame, draw_pane_divider};
pub use line::short_plan_name;
pub(crate) use line::{
    ScreenLine, StyledPiece, capitalize_title, fit_clauses, pieces_width, styled_piece,
};
pub(crate) use rule::{RuleKind, draw_pane_rule};
pub(crate) use when_input::{NOT_A_TIME, WhenInput};

pub(crate) use planwright_text::units::format_counted;
