//! Blueprints as data: what a kind of plan consists of, read from TOML files.
//!
//! This module owns the file format, its checks and the library of all blueprints. `kind` decides which blueprint fits a
//! goal, and `instance` makes the nodes and links of a plan from it.

mod anchor;
mod built_in;
mod checks;
mod format;
mod library;
mod link_checks;
mod placeholders;
mod repeat;
mod topics;
mod writing;

pub use anchor::{AnchorDate, CalendarSpan, LAST_DAY, SpanUnit};
pub(super) use checks::parse_month_day;
pub(super) use format::parse_time_of_day;
pub use format::{
    Blueprint, BlueprintCount, BlueprintGroup, BlueprintLink, BlueprintPreference,
    BlueprintQuestion, BlueprintSizing, BlueprintTask, CountSplit, EffortRange, EventDays,
    FinishMilestone,
};
pub use library::{TemplateError, TemplateLibrary, TemplateSource};
pub(super) use placeholders::{TextPiece, split_placeholders};
pub use repeat::{BlueprintRepeat, BlueprintRepeatUnit, RepeatDays};
pub use topics::{Topic, TopicPack};
pub use writing::{SavedBlueprint, write_blueprint};
