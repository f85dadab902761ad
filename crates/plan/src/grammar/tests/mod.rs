//! Each rule is broken once and, if it has a mechanical fix, fixed once.

mod facts;
mod fixture;
mod links;
mod pattern;
mod properties;
mod roadmap;
mod schedule;
mod scheduler;
mod structure;
