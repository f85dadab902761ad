//! What may go wrong around the program: its disk, its clock, its terminal, other processes.

mod descriptors;
mod disk;
mod injection;
mod opening;
mod outside;
mod secrets;
mod sharing;
mod shim;
mod signals;
mod strings;
mod terminal;

/// How often a fault is tried: a few times in the suite, or as often as the variable asks for.
fn times(variable: &str, few: u64) -> u64 {
    std::env::var(variable).ok().and_then(|count| count.parse().ok()).unwrap_or(few)
}
