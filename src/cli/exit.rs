//! Exit codes, and errors that already know theirs.

use std::fmt;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NeedsPerson => 3,
            Exit::CapReached => 4,
            Exit::Interrupted => 130,
            Exit::Signal(number) => 128 + number,
        })
    }
}

impl Exit {
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
pub struct Problem {
    pub what: String,
    pub remedy: Option<String>,
    pub exit: Exit,
}

impl Problem {
    pub fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None, exit: Exit::Usage }
    }

    pub fn failed(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None, exit: Exit::Failed }
    }

    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}
