//! The planner that needs no model: turns one sentence into an outline and a roadmap.
//!
//! Everything here is pure and deterministic. Today's date, the zone and the person's hours are arguments; blueprints
//! and topic packs are texts, some built in, some provided by the caller.

pub mod blueprint;
mod choices;
mod draft;
mod estimate;
mod extra_steps;
mod facts;
mod fitting_choices;
pub mod goal;
mod instance;
pub mod kind;
pub mod options;
mod pacing;
mod plan_day;
mod questions;
mod redraft;
mod roadmap;
pub(crate) mod side_remarks;
mod span;
mod stated_days;
#[cfg(test)]
mod tests;
pub(crate) mod two_halves;
mod usual_hours;
mod wording;

pub use blueprint::{TemplateError, TemplateLibrary, TemplateSource};
pub use draft::{DraftError, OutlineDraft, draft_outline};
pub(crate) use facts::counts_noun;
pub(crate) use facts::describe_hours as describe_working_hours;
pub use goal::{Goal, GoalParseContext};
pub use kind::{KindCandidate, KindPick, KindVerdict, SubtypeProposals, select_kind};
pub use options::PlanApproach;
pub use questions::ContextQuestion;
pub use redraft::{GoalRedraft, redraft_goal};
pub use roadmap::{RoadmapDraft, RoadmapPreferences, build_roadmap};
pub(crate) use stated_days::HOLIDAYS;
pub use stated_days::waits_for_its_day;
pub use usual_hours::{RoomierContext, roomier_contexts};
