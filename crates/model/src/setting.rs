//! Settings with where they came from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Where a value came from; later ones win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    BuiltIn,
    File(PathBuf),
    Environment(String),
    CommandLine(String),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "environment, {name}"),
            Self::CommandLine(flag) => write!(f, "command line, {flag}"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SourcedSetting<T> {
    pub value: T,
    pub origin: SettingOrigin,
}

impl<T> SourcedSetting<T> {
    pub fn built_in(value: T) -> Self {
        Self { value, origin: SettingOrigin::BuiltIn }
    }

    /// Takes a value from a higher layer, if there is one.
    pub fn override_with(&mut self, value: Option<T>, origin: impl FnOnce() -> SettingOrigin) {
        if let Some(value) = value {
            *self = Self { value, origin: origin() };
        }
    }
}
