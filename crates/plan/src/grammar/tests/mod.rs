//! Each rule is broken once and, where it has a mechanical fix, mended once.

mod fixture;
mod links;
mod pattern;
mod properties;
mod roadmap;
mod schedule;
mod scheduler;
mod structure;
