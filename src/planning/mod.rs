//! Pure algorithms on plans: no clock, no terminal, no store.

pub mod drawing;
pub mod layout;
