//! Exit codes, and errors that already know theirs.

use std::fmt;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CliExit {
    Success,
    /// Invalid content, a failed task, a store that cannot be used, a plan that was abandoned.
    Failed,
    /// Bad flags, a missing file, no or several sessions match, no terminal.
    Usage,
    /// An answer is needed and nobody can give it.
    NeedsPerson,
    /// A limit was reached, and nobody can raise it here.
    CapReached,
    /// The person left a run in the middle.
    Interrupted,
    /// A signal ended it.
    Signal(u8),
}

impl From<CliExit> for ExitCode {
    fn from(exit: CliExit) -> Self {
        Self::from(match exit {
            CliExit::Success => 0,
            CliExit::Failed => 1,
            CliExit::Usage => 2,
            CliExit::NeedsPerson => 3,
            CliExit::CapReached => 4,
            CliExit::Interrupted => 130,
            CliExit::Signal(number) => 128 + number,
        })
    }
}

impl CliExit {
    /// The exit that another process of this program ended with.
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Success,
            2 => Self::Usage,
            3 => Self::NeedsPerson,
            4 => Self::CapReached,
            signal @ 129..=159 => Self::Signal(signal - 128),
            _ => Self::Failed,
        }
    }

    /// The exit for a signal by its name.
    pub fn for_signal(name: &str) -> Self {
        Self::Signal(match name {
            "SIGHUP" => 1,
            "SIGTERM" => 15,
            "SIGQUIT" => 3,
            _ => 2,
        })
    }
}

/// A problem the person can do something about: one sentence, a remedy, and the exit code.
#[derive(Debug)]
pub(crate) struct CliProblem {
    pub what: String,
    pub remedy: Option<String>,
    pub exit: CliExit,
}

impl CliProblem {
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None, exit: CliExit::Usage }
    }

    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None, exit: CliExit::Failed }
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for CliProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CliProblem {}
