//! What the program gives back where it was started: lines on the standard streams, the final problem and the exit code.

mod exit;
mod output;

pub use exit::{CliExit, CliProblem};
pub use output::{StdoutWriter, eprint_line};
