//! Errors of reading a plan file.

use planwright_model::Violation;

/// Why a plan file cannot be used. The message names file and position; [`PlanFileError::hint`] suggests a remedy.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    #[error("could not read the plan file {name}")]
    Unreadable { name: String, source: std::io::Error },
    #[error("the plan file {name} has {bytes} bytes, more than the {limit} that are read")]
    TooLarge { name: String, bytes: u64, limit: u64 },
    #[error("the plan file {name} is not UTF-8 text (line {line})")]
    NotText { name: String, line: u32 },
    #[error("{}", summarize_violations(name, violations))]
    Invalid { name: String, violations: Vec<Violation> },
}

impl PlanFileError {
    /// Returns how to fix it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the path and its permissions".to_owned(),
            Self::TooLarge { .. } => "split the plan into several files".to_owned(),
            Self::NotText { .. } => "save the file as UTF-8".to_owned(),
            Self::Invalid { violations, .. } => {
                violations.first().map(|first| first.suggested_fix.clone()).unwrap_or_default()
            }
        }
    }

    /// Returns all violations in the content.
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::Invalid { violations, .. } => violations,
            _ => &[],
        }
    }
}

fn summarize_violations(name: &str, violations: &[Violation]) -> String {
    let Some(first) = violations.first() else { return format!("{name} is not a valid plan") };
    let more = match violations.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more problem)".to_owned(),
        more => format!(" (and {more} more problems)"),
    };
    format!("{}: {}{more}", format_place(name, first), first.message)
}

/// Formats a position as compilers do: `plan.toml:3:7`.
pub(crate) fn format_place(name: &str, violation: &Violation) -> String {
    let name = violation.path(name);
    match (violation.line, violation.column) {
        (Some(line), Some(column)) => format!("{name}:{line}:{column}"),
        (Some(line), None) => format!("{name}:{line}"),
        _ => name.into_owned(),
    }
}
