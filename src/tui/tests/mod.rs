//! The screens as people see them: drawn from records, driven by keys.

mod driving;
pub(crate) mod fixture;
mod frames;
mod hostile;
mod sessions;
mod views;
