//! A broken rule, as checks of plans and plan files report it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::TaskId;

/// How much a broken rule matters.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Fatal,
    Repairable,
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::Repairable => "repairable",
            Self::Warning => "warning",
        }
    }
}

/// A broken rule: what is wrong, where, and what would mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Violation {
    /// A grammar rule such as `G306`, or a rule of plan files such as `unknown_field`.
    pub rule: String,
    pub severity: Severity,
    pub node_ids: Vec<TaskId>,
    pub message: String,
    pub suggested_fix: String,
    /// The included file that it is in, as the plan file names it; none for the plan file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1; only where a file was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Counted from 1, in characters. Not part of the wire format.
    #[serde(skip)]
    pub column: Option<u32>,
}

impl Violation {
    pub fn new(
        rule: &str,
        severity: Severity,
        message: impl Into<String>,
        suggested_fix: impl Into<String>,
    ) -> Self {
        Self {
            rule: rule.to_owned(),
            severity,
            node_ids: Vec::new(),
            message: message.into(),
            suggested_fix: suggested_fix.into(),
            file: None,
            line: None,
            column: None,
        }
    }

    /// The file that it is in, where `plan` is the path of the plan file.
    pub fn path<'a>(&'a self, plan: &'a str) -> Cow<'a, str> {
        match (&self.file, plan.rsplit_once('/')) {
            (None, _) => Cow::Borrowed(plan),
            (Some(file), None) => Cow::Borrowed(file),
            (Some(file), Some((directory, _))) => Cow::Owned(format!("{directory}/{file}")),
        }
    }

    /// Names the tasks it is about.
    pub fn with_nodes(mut self, node_ids: impl IntoIterator<Item = TaskId>) -> Self {
        self.node_ids.extend(node_ids);
        self
    }
}
