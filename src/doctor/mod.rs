//! What works here and what to do about the rest: a list of checks, each with its verdict and a next step.
//!
//! A check is plain data; whoever owns a part adds its checks in a file of its own and a line in `cli/doctor.rs`.

pub(crate) mod machine;
pub(crate) mod provider;
pub(crate) mod report;
pub(crate) mod tools;

use serde::Serialize;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckStatus {
    Ok,
    /// It works, with something to know.
    Warn,
    Fail,
}

impl CheckStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorCheck {
    pub name: String,
    pub status: CheckStatus,
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl DoctorCheck {
    pub(crate) fn ok(name: &str, what: impl Into<String>) -> Self {
        Self { name: name.to_owned(), status: CheckStatus::Ok, what: what.into(), next: None }
    }

    pub(crate) fn warn(name: &str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { status: CheckStatus::Warn, next: Some(next.into()), ..Self::ok(name, what) }
    }

    pub(crate) fn fail(name: &str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { status: CheckStatus::Fail, next: Some(next.into()), ..Self::ok(name, what) }
    }

    /// What stands before and between the columns beside the name.
    pub(crate) const INDENT: usize = 8;

    /// The check as lines of text, the name padded to a column.
    pub(crate) fn to_lines(&self, name_width: usize) -> Vec<String> {
        let mut lines =
            vec![format!("{:4}  {:name_width$}  {}", self.status.as_str(), self.name, self.what)];
        if let Some(next) = &self.next {
            lines.push(format!("{:4}  {:name_width$}  {next}", "", ""));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_says_its_next_step_under_itself() {
        let check = DoctorCheck::warn("key", "it is old", "get a new one");
        assert_eq!(check.to_lines(6), ["warn  key     it is old", "              get a new one"]);
    }
}
