//! Colours and attributes by role, loaded from TOML.
//!
//! A [`Theme`] is what a file says; a [`CommandPalette`] is what this terminal can show of it. Screens draw with a palette
//! and name roles only, so that a theme, 16 colours or none at all change nothing but looks.

mod file;
mod role;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use file::ThemeEntry;
pub use role::ThemeRole;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorDepth {
    #[default]
    True,
    Sixteen,
    /// Attributes only, as `NO_COLOR` asks.
    None,
}

/// A set of colours and attributes, one for each role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub name: String,
    /// What the colours were chosen against.
    background: Option<Color>,
    entries: Vec<ThemeEntry>,
}

/// Why a theme file cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("theme {theme} cannot be read: {message}")]
    Syntax { theme: String, message: String },
    #[error("theme {theme} names an unknown {what} {name:?}{}", suggestion_text(nearest.as_deref()))]
    Unknown { theme: String, what: &'static str, name: String, nearest: Option<String> },
}

fn suggestion_text(nearest: Option<&str>) -> String {
    nearest.map(|near| format!(", did you mean {near:?}")).unwrap_or_default()
}

static DARK: LazyLock<Theme> =
    LazyLock::new(|| parse_built_in("dark", include_str!("../../../../themes/dark.toml")));
static MONO: LazyLock<Theme> =
    LazyLock::new(|| parse_built_in("mono", include_str!("../../../../themes/mono.toml")));

/// Reads a theme of ours over nothing.
fn parse_built_in(name: &str, text: &str) -> Theme {
    let empty = Theme {
        name: String::new(),
        background: None,
        entries: vec![ThemeEntry::default(); ThemeRole::ALL.len()],
    };
    file::parse_theme(&empty, name, text).expect("a test reads every theme that is built in")
}

impl Theme {
    /// The names of the themes that are built in; the first is the default.
    pub const BUILT_IN: [&'static str; 5] =
        ["dark", "light", "high_contrast", "colorblind", "mono"];

    /// A theme that is built in.
    pub fn built_in(name: &str) -> Option<Self> {
        Some(match name {
            "dark" => DARK.clone(),
            "light" => parse_built_in(name, include_str!("../../../../themes/light.toml")),
            "high_contrast" => {
                parse_built_in(name, include_str!("../../../../themes/high_contrast.toml"))
            }
            "colorblind" => {
                parse_built_in(name, include_str!("../../../../themes/colorblind.toml"))
            }
            "mono" => MONO.clone(),
            _ => return None,
        })
    }

    /// The text of a theme that is built in, to copy and change.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        Some(match name {
            "dark" => include_str!("../../../../themes/dark.toml"),
            "light" => include_str!("../../../../themes/light.toml"),
            "high_contrast" => include_str!("../../../../themes/high_contrast.toml"),
            "colorblind" => include_str!("../../../../themes/colorblind.toml"),
            "mono" => include_str!("../../../../themes/mono.toml"),
            _ => return None,
        })
    }

    /// Reads a theme file. Roles it does not name keep the values of the dark theme.
    pub fn parse(name: &str, text: &str) -> Result<Self, ThemeError> {
        file::parse_theme(&DARK, name, text)
    }

    /// What a terminal can show of it. Without colours this is the monochrome theme, whichever was chosen.
    pub fn palette(&self, depth: ColorDepth) -> Palette {
        let source = if depth == ColorDepth::None { &*MONO } else { self };
        let style = |entry: &ThemeEntry| match depth {
            ColorDepth::True => entry.true_color_style(),
            ColorDepth::Sixteen => entry.sixteen_color_style(),
            ColorDepth::None => Style::default().add_modifier(entry.modifier),
        };
        Palette { styles: source.entries.iter().map(style).collect() }
    }
}

impl Default for Theme {
    fn default() -> Self {
        DARK.clone()
    }
}

/// The styles a terminal draws with.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    styles: Vec<Style>,
}

impl Palette {
    /// The style of a role.
    pub fn style(&self, role: ThemeRole) -> Style {
        self.styles[role as usize]
    }

    /// A role in bold.
    pub fn bold_style(&self, role: ThemeRole) -> Style {
        self.style(role).add_modifier(Modifier::BOLD)
    }

    /// Gives every cell of a selection its foreground, whatever role was drawn into it: two colors that were chosen for
    /// different backgrounds need not be readable on each other.
    pub fn settle_selection(&self, buf: &mut Buffer) {
        let selection = self.style(ThemeRole::Selection);
        let (Some(fg), Some(bg)) = (selection.fg, selection.bg) else { return };
        for cell in buf.content.iter_mut().filter(|cell| cell.bg == bg) {
            cell.fg = fg;
            cell.modifier.remove(Modifier::DIM);
        }
    }

    /// The lines of a replay: the colour of its badge, without filling cells.
    pub fn replay_style(&self) -> Style {
        let badge = self.style(ThemeRole::BadgeReplay);
        match badge.bg {
            Some(color) => Style::default().fg(color),
            None => Style::default().add_modifier(Modifier::BOLD),
        }
    }
}
