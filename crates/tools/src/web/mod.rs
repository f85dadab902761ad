//! Reads from the web: addresses are checked before anything connects, and responses are limited.

pub mod address;
mod client;
pub(super) mod fetch;
pub mod html;
pub(super) mod research;
pub(super) mod search;

#[cfg(test)]
mod tests;
