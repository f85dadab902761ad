//! The planner that needs no model: turns one sentence into an outline and a roadmap.
//!
//! Everything here is pure and deterministic. Today's date, the zone and the person's hours are arguments; blueprints
//! and topic packs are texts, some built in, some provided by the caller.

pub mod blueprint;
mod choices;
mod draft;
mod estimate;
mod facts;
pub mod goal;
mod instance;
pub mod kind;
pub mod options;
mod pacing;
mod roadmap;
mod span;
#[cfg(test)]
mod tests;
mod wording;

pub use blueprint::{TemplateError, TemplateLibrary, TemplateSource};
pub use draft::{DraftError, OutlineDraft, draft_outline};
pub use facts::ContextQuestion;
pub(crate) use facts::describe_hours as describe_working_hours;
pub use goal::{Goal, GoalParseContext};
pub use kind::{KindCandidate, KindPick, KindVerdict, SubtypeProposals, select_kind};
pub use options::PlanApproach;
pub use roadmap::{RoadmapDraft, RoadmapPreferences, build_roadmap};
