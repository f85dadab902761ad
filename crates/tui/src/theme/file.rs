//! Theme files: one table of roles, each with a colour, its 16-colour stand-in and attributes.

use ratatui::style::{Color, Modifier, Style};
use toml::{Table, Value};

use super::{Theme, ThemeError, ThemeRole};
use planwright_text::nearest_name;

/// What a theme says about one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ThemeEntry {
    pub(super) fg: Option<Color>,
    pub(super) bg: Option<Color>,
    pub(super) ansi: Option<Color>,
    pub(super) ansi_bg: Option<Color>,
    pub(super) modifier: Modifier,
}

impl ThemeEntry {
    pub(super) fn true_color_style(self) -> Style {
        self.style_with(self.fg, self.bg)
    }

    pub(super) fn sixteen_color_style(self) -> Style {
        self.style_with(self.ansi.or(self.fg), self.ansi_bg.or(self.bg))
    }

    fn style_with(self, fg: Option<Color>, bg: Option<Color>) -> Style {
        Style { fg, bg, add_modifier: self.modifier, ..Style::default() }
    }
}

const FIELDS: [&str; 10] =
    ["fg", "bg", "ansi", "ansi_bg", "bold", "dim", "italic", "underlined", "reversed", "struck"];

/// The names of the 16 colours, in the order of their numbers.
const NAMES: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright black", Color::DarkGray),
    ("bright red", Color::LightRed),
    ("bright green", Color::LightGreen),
    ("bright yellow", Color::LightYellow),
    ("bright blue", Color::LightBlue),
    ("bright magenta", Color::LightMagenta),
    ("bright cyan", Color::LightCyan),
    ("bright white", Color::White),
];

/// Reads a theme over a base that has every role.
pub(super) fn parse_theme(base: &Theme, name: &str, text: &str) -> Result<Theme, ThemeError> {
    let reader = ThemeReader { theme: name };
    let file: Table = text.parse().map_err(|error: toml::de::Error| ThemeError::Syntax {
        theme: name.to_owned(),
        message: error.message().to_owned(),
    })?;
    let mut theme = Theme { name: name.to_owned(), ..base.clone() };
    for (key, value) in &file {
        match key.as_str() {
            "background" => theme.background = Some(reader.read_color("background", value)?),
            "roles" => reader.read_roles(value, &mut theme)?,
            other => return Err(reader.unknown_name("field", other, ["background", "roles"])),
        }
    }
    Ok(theme)
}

struct ThemeReader<'a> {
    theme: &'a str,
}

impl ThemeReader<'_> {
    fn read_roles(&self, value: &Value, theme: &mut Theme) -> Result<(), ThemeError> {
        let roles = value.as_table().ok_or_else(|| self.invalid_value("roles", "a table"))?;
        for (name, value) in roles {
            let Some(role) = ThemeRole::from_name(name) else {
                return Err(self.unknown_name(
                    "role",
                    name,
                    ThemeRole::ALL.iter().map(|role| role.name()),
                ));
            };
            theme.entries[role as usize] = self.read_entry(name, value)?;
        }
        Ok(())
    }

    fn read_entry(&self, role: &str, value: &Value) -> Result<ThemeEntry, ThemeError> {
        let fields = value.as_table().ok_or_else(|| self.invalid_value(role, "a table"))?;
        let mut entry = ThemeEntry::default();
        for (field, value) in fields {
            let place = format!("{role}.{field}");
            match field.as_str() {
                "fg" => entry.fg = Some(self.read_color(&place, value)?),
                "bg" => entry.bg = Some(self.read_color(&place, value)?),
                "ansi" => entry.ansi = Some(self.read_color(&place, value)?),
                "ansi_bg" => entry.ansi_bg = Some(self.read_color(&place, value)?),
                attribute => {
                    let Some(modifier) = parse_modifier(attribute) else {
                        return Err(self.unknown_name("field", field, FIELDS));
                    };
                    let on = value
                        .as_bool()
                        .ok_or_else(|| self.invalid_value(&place, "true or false"))?;
                    entry.modifier.set(modifier, on);
                }
            }
        }
        Ok(entry)
    }

    fn read_color(&self, place: &str, value: &Value) -> Result<Color, ThemeError> {
        let text = value.as_str().ok_or_else(|| self.invalid_value(place, "a colour in quotes"))?;
        if let Some(color) = parse_hex_color(text) {
            return Ok(color);
        }
        let named = NAMES.iter().find(|(name, _)| *name == text).map(|(_, color)| *color);
        named.ok_or_else(|| self.unknown_name("colour", text, NAMES.map(|(name, _)| name)))
    }

    fn invalid_value(&self, place: &str, wanted: &str) -> ThemeError {
        let message = format!("{place} must be {wanted}");
        ThemeError::Syntax { theme: self.theme.to_owned(), message }
    }

    fn unknown_name<'n>(
        &self,
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> ThemeError {
        ThemeError::Unknown {
            theme: self.theme.to_owned(),
            what,
            name: name.to_owned(),
            nearest: nearest_name(name, known).map(str::to_owned),
        }
    }
}

fn parse_modifier(name: &str) -> Option<Modifier> {
    Some(match name {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "italic" => Modifier::ITALIC,
        "underlined" => Modifier::UNDERLINED,
        "reversed" => Modifier::REVERSED,
        "struck" => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

fn parse_hex_color(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some(Color::Rgb(part(0)?, part(2)?, part(4)?))
}
