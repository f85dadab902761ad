//! The planner that needs no model: one sentence in, an outline and a roadmap out.
//!
//! Everything here is pure and deterministic. Today's date, the zone and the person's hours are arguments; templates
//! and topic packs are texts, some built in, some given by the caller.

pub mod goal;
