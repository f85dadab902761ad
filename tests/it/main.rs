//! Integration tests: the engine on a real store, and the whole program.

mod engine;
mod support;
