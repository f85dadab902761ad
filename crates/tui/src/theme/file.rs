//! Theme files: one table of roles, each with a colour, its 16-colour stand-in and attributes.

use ratatui::style::{Color, Modifier, Style};
use toml::{Table, Value};

use super::{Role, Theme, ThemeError};
use planwright_text::nearest;

/// What a theme says about one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) fg: Option<Color>,
    pub(super) bg: Option<Color>,
    pub(super) ansi: Option<Color>,
    pub(super) ansi_bg: Option<Color>,
    pub(super) modifier: Modifier,
}

impl Entry {
    pub(super) fn true_color(self) -> Style {
        self.style(self.fg, self.bg)
    }

    pub(super) fn sixteen(self) -> Style {
        self.style(self.ansi.or(self.fg), self.ansi_bg.or(self.bg))
    }

    fn style(self, fg: Option<Color>, bg: Option<Color>) -> Style {
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
pub(super) fn parse(base: &Theme, name: &str, text: &str) -> Result<Theme, ThemeError> {
    let reader = Reader { theme: name };
    let file: Table = text.parse().map_err(|error: toml::de::Error| ThemeError::Syntax {
        theme: name.to_owned(),
        message: error.message().to_owned(),
    })?;
    let mut theme = Theme { name: name.to_owned(), ..base.clone() };
    for (key, value) in &file {
        match key.as_str() {
            "background" => theme.background = Some(reader.color("background", value)?),
            "roles" => reader.roles(value, &mut theme)?,
            other => return Err(reader.unknown("field", other, ["background", "roles"])),
        }
    }
    Ok(theme)
}

struct Reader<'a> {
    theme: &'a str,
}

impl Reader<'_> {
    fn roles(&self, value: &Value, theme: &mut Theme) -> Result<(), ThemeError> {
        let roles = value.as_table().ok_or_else(|| self.wrong("roles", "a table"))?;
        for (name, value) in roles {
            let Some(role) = Role::from_name(name) else {
                return Err(self.unknown("role", name, Role::ALL.iter().map(|role| role.name())));
            };
            theme.entries[role as usize] = self.entry(name, value)?;
        }
        Ok(())
    }

    fn entry(&self, role: &str, value: &Value) -> Result<Entry, ThemeError> {
        let fields = value.as_table().ok_or_else(|| self.wrong(role, "a table"))?;
        let mut entry = Entry::default();
        for (field, value) in fields {
            let place = format!("{role}.{field}");
            match field.as_str() {
                "fg" => entry.fg = Some(self.color(&place, value)?),
                "bg" => entry.bg = Some(self.color(&place, value)?),
                "ansi" => entry.ansi = Some(self.color(&place, value)?),
                "ansi_bg" => entry.ansi_bg = Some(self.color(&place, value)?),
                attribute => {
                    let Some(modifier) = modifier(attribute) else {
                        return Err(self.unknown("field", field, FIELDS));
                    };
                    let on = value.as_bool().ok_or_else(|| self.wrong(&place, "true or false"))?;
                    entry.modifier.set(modifier, on);
                }
            }
        }
        Ok(entry)
    }

    fn color(&self, place: &str, value: &Value) -> Result<Color, ThemeError> {
        let text = value.as_str().ok_or_else(|| self.wrong(place, "a colour in quotes"))?;
        if let Some(color) = hex(text) {
            return Ok(color);
        }
        let named = NAMES.iter().find(|(name, _)| *name == text).map(|(_, color)| *color);
        named.ok_or_else(|| self.unknown("colour", text, NAMES.map(|(name, _)| name)))
    }

    fn wrong(&self, place: &str, wanted: &str) -> ThemeError {
        let message = format!("{place} must be {wanted}");
        ThemeError::Syntax { theme: self.theme.to_owned(), message }
    }

    fn unknown<'n>(
        &self,
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> ThemeError {
        ThemeError::Unknown {
            theme: self.theme.to_owned(),
            what,
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        }
    }
}

fn modifier(name: &str) -> Option<Modifier> {
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

fn hex(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some(Color::Rgb(part(0)?, part(2)?, part(4)?))
}
