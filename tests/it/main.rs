//! Integration tests: the engine on a real store, and the whole program.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod crash;
mod engine;
mod program;
mod screen;
mod support;
