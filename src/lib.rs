//! Planwright: plan with an agent in the terminal, approve or revise, watch the work run, scrub through all of it.
//!
//! This package is the program: it reads the command line and the settings, and puts the crates under `crates/` together.
//! Each module uses only those after it: `cli`, `app`, `doctor`, `headless`, `config`, `console`. Nothing of it is meant for
//! other programs; what is public here is what `main` and the integration tests use. `ARCHITECTURE.md` shows the crates.

mod app;
mod cli;
pub mod config;
mod console;
mod diagnostics;
mod doctor;
mod environment_secrets;
mod headless;
#[cfg(test)]
mod layers;
mod plan_source;
mod session_commands;

pub use cli::{OFFLINE_HELP, main};
pub use config::{Settings, config_file};
pub use diagnostics::start_logging;
