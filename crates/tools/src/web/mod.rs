//! Reading from the web: addresses are judged before anything connects, and what comes back is limited.

pub mod address;
mod client;
pub(super) mod fetch;
pub mod html;
pub(super) mod research;
pub(super) mod search;

#[cfg(test)]
mod tests;
