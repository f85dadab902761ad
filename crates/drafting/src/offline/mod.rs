//! The planner that needs no model: one sentence in, an outline and a roadmap out.
//!
//! Everything here is pure and deterministic. Today's date, the zone and the person's hours are arguments; templates
//! and topic packs are texts, some built in, some given by the caller.

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

pub use draft::{Draft, DraftError, draft};
pub use facts::{Question, questions};
pub use goal::{Goal, Today};
pub use options::{Way, difference};
pub use pattern::{Pick, Proposals, select};
pub use roadmap::{RoadmapDraft, Wish, build};
pub use template::{Library, Source, TemplateError};
