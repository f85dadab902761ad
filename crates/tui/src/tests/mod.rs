//! The screens as people see them: drawn from records, driven by keys.

mod changing;
mod driving;
mod facts;
mod failing;
mod first_start;
pub(crate) mod fixture;
mod frames;
mod help_keys;
mod home_views;
mod hostile;
pub(crate) mod journals;
mod key_help;
pub(crate) mod lint;
mod opening;
mod panics;
pub(crate) mod planned;
mod replaying;
mod requests;
mod sessions;
mod sizes;
mod storm;
mod true_hints;
mod views;
mod watching;
mod what_happened;
mod wide_plans;
mod words;
