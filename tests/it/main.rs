//! Integration tests: the engine on a real store, and the whole program.

#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a test binary has no outside, and its panics are its findings"
)]

mod crash;
mod doubt;
mod engine;
mod exchange;
mod models;
mod planning;
mod program;
mod project;
mod screen;
mod servers;
mod support;
mod tools;
mod torture;
