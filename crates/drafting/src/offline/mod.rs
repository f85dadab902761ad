//! The planner that needs no model: turns one sentence into an outline and a roadmap.
//!
//! Everything here is pure and deterministic. Today's date, the zone and the person's hours are arguments; templates
//! and topic packs are texts, some built in, some provided by the caller.

mod blueprint;
mod choices;
mod draft;
mod estimate;
mod facts;
pub mod goal;
pub mod options;
pub mod pattern;
mod roadmap;
pub mod template;
#[cfg(test)]
mod tests;
mod wording;

pub use draft::{DraftError, OutlineDraft, draft_outline};
pub(crate) use facts::describe_hours as describe_working_hours;
pub use facts::{ContextQuestion, open_questions};
pub use goal::{Goal, GoalParseContext};
pub use options::PlanApproach;
pub use pattern::{PatternPick, SubtypeProposals, select_pattern};
pub use roadmap::{RoadmapDraft, RoadmapPreferences, build_roadmap};
pub use template::{TemplateError, TemplateLibrary, TemplateSource};
