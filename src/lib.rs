//! Planwright: plan with an agent in the terminal, approve or revise, watch the work run, scrub through all of it.
//!
//! Everything that happens is an [`event`]; every screen is a fold over events; people act through commands.
//! `ARCHITECTURE.md` shows how the modules depend on each other.

pub mod app;
pub mod cli;
pub mod config;
pub mod doctor;
pub mod engine;
pub mod event;
pub mod exchange;
pub mod files;
pub mod headless;
pub mod kit;
pub mod llm;
pub mod model;
pub mod planning;
pub mod replay;
pub mod state;
pub mod store;
pub mod text;
pub mod tools;
pub mod tui;
