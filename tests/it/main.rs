//! Integration tests: the engine on a real store, and the whole program.

#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a test binary has no outside, and its panics are its findings"
)]

mod agents;
mod conversation;
mod crash;
mod daily;
mod engine;
mod exchange;
mod live_planning;
mod models;
mod planning;
mod program;
mod replaying;
mod screen;
mod support;
mod tools;
mod torture;
