//! What the program gives back where it was started: lines on the standard streams, the final problem and the exit code.

mod exit;
mod output;

pub(crate) use exit::{CliExit, CliProblem};
pub(crate) use output::{StdoutWriter, eprint_line};

/// The name and version of this program, as sessions and reports record it.
pub(crate) const PROGRAM: &str = concat!("planwright ", env!("CARGO_PKG_VERSION"));
