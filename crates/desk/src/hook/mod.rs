//! Hooks of coding agents: `planwright hook NAME` reads what an agent is about to do and answers what the person decides.
//!
//! A hook is one short conversation over standard input and output. Whatever goes wrong here approves nothing: a plan is
//! then denied with the reason, and a permission is left to the agent's own question.

mod agent;
mod gate;
mod input;
mod output;
mod settings;

pub use agent::{HookGate, HookedAgent};
pub use gate::HookOutcome;
pub use input::{HookInput, HookInputError, HookRequest, MAX_INPUT};
pub use output::HookDecision;
pub use settings::{
    HookCommand, SettingsChange, SettingsError, installed_settings, removed_settings,
};
