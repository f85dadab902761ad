//! Keys as people write them: `a`, `R`, `Ctrl-G`, `Shift-Tab`, `Space`, `HomeScreen`.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers. Shift is part of the character where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyChord {
    pub(crate) code: KeyCode,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
}

impl KeyChord {
    pub(crate) const fn without_modifiers(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false }
    }

    /// What was pressed, with Shift folded into the character.
    pub(crate) fn from_event(event: &KeyEvent) -> Self {
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let code = match event.code {
            // Some terminals report the letter unshifted beside the modifier, others only the letter.
            KeyCode::Char(letter) if shift && !ctrl => {
                KeyCode::Char(letter.to_uppercase().next().unwrap_or(letter))
            }
            KeyCode::Char(letter) if ctrl => KeyCode::Char(letter.to_ascii_lowercase()),
            KeyCode::Tab if shift => KeyCode::BackTab,
            code => code,
        };
        Self { code, ctrl, alt: event.modifiers.contains(KeyModifiers::ALT) }
    }

    /// Reads a key as it is written in the config and on the screen.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut key = Self::without_modifiers(KeyCode::Null);
        let mut shift = false;
        let mut rest = text;
        while let Some((modifier, after)) =
            rest.split_once('-').filter(|(_, after)| !after.is_empty())
        {
            match modifier.to_ascii_lowercase().as_str() {
                "ctrl" | "c" => key.ctrl = true,
                "alt" | "a" => key.alt = true,
                "shift" | "s" => shift = true,
                _ => return None,
            }
            rest = after;
        }
        key.code = parse_key_code(rest)?;
        match key.code {
            KeyCode::Tab if shift => key.code = KeyCode::BackTab,
            KeyCode::Char(letter) if shift => {
                key.code = KeyCode::Char(letter.to_uppercase().next().unwrap_or(letter));
            }
            KeyCode::Char(letter) if key.ctrl => {
                key.code = KeyCode::Char(letter.to_ascii_lowercase());
            }
            _ if shift => return None,
            _ => {}
        }
        Some(key)
    }
}

const NAMES: [(&str, KeyCode); 19] = [
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Shift-Tab", KeyCode::BackTab),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    // The first name of a key is the one that is shown.
    ("Del", KeyCode::Delete),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PageUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("PageDown", KeyCode::PageDown),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
];

fn parse_key_code(text: &str) -> Option<KeyCode> {
    if let Some((_, code)) = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Some(*code);
    }
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if !letter.is_control() && !letter.is_whitespace() => {
            Some(KeyCode::Char(letter))
        }
        (Some('F' | 'f'), Some(_)) => {
            text[1..].parse().ok().filter(|number| (1..=24).contains(number)).map(KeyCode::F)
        }
        _ => None,
    }
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        match self.code {
            KeyCode::Char(letter) if letter != ' ' && self.ctrl => {
                write!(f, "{}", letter.to_ascii_uppercase())
            }
            KeyCode::Char(letter) if letter != ' ' => write!(f, "{letter}"),
            KeyCode::F(number) => write!(f, "F{number}"),
            code => {
                let name =
                    NAMES.iter().find(|(_, known)| *known == code).map_or("?", |(name, _)| name);
                f.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_as_they_are_written() {
        for text in
            ["a", "R", "[", "-", "+", "?", "Ctrl-G", "Shift-Tab", "Space", "Home", "F5", "Alt-x"]
        {
            assert_eq!(KeyChord::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(KeyChord::parse("shift-r"), KeyChord::parse("R"));
        assert_eq!(KeyChord::parse("ctrl--").unwrap().to_string(), "Ctrl--");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ab", "Hyper-x", "F99", " ", "\n", "Ctrl-"] {
            assert_eq!(KeyChord::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_shifted_letter_is_the_same_key_however_the_terminal_reports_it() {
        let reported = |code, modifiers| KeyChord::from_event(&KeyEvent::new(code, modifiers));
        let capital = KeyChord::parse("R").unwrap();
        assert_eq!(reported(KeyCode::Char('R'), KeyModifiers::NONE), capital);
        assert_eq!(reported(KeyCode::Char('R'), KeyModifiers::SHIFT), capital);
        assert_eq!(reported(KeyCode::Char('r'), KeyModifiers::SHIFT), capital);
        assert_eq!(
            reported(KeyCode::Tab, KeyModifiers::SHIFT),
            KeyChord::parse("Shift-Tab").unwrap()
        );
    }
}
