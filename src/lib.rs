//! Planwright: plan with an agent in the terminal, approve or revise, watch the work run, scrub through all of it.
//!
//! Everything that happens is an event; every screen is a fold over events; people act through commands.
//! `ARCHITECTURE.md` shows how the crates depend on each other.

pub mod app;
pub mod cli;
pub mod config;
pub mod diagnostics;
mod console;
pub mod doctor;
pub mod headless;
pub mod plan_source;
