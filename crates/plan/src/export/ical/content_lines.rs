//! Content lines: folding, escaping, parameters.

use std::fmt::Write;

/// The longest line in octets, without its line break.
const FOLD_AT: usize = 75;

/// Writes content lines with CRLF and folding.
#[derive(Debug, Default)]
pub(super) struct IcalLineWriter(String);

impl IcalLineWriter {
    pub(super) fn push(&mut self, line: &str) {
        let mut room = FOLD_AT;
        for c in line.chars() {
            if c.len_utf8() > room {
                self.0.push_str("\r\n ");
                // The leading space of a continuation line is included.
                room = FOLD_AT - 1;
            }
            self.0.push(c);
            room -= c.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    /// Writes a property with a text value, or nothing if the text is empty.
    pub(super) fn push_text(&mut self, name: &str, text: &str) {
        if !text.trim().is_empty() {
            self.push(&format!("{name}:{}", escape_text(text)));
        }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// Escapes a text value. Line breaks are kept, other control characters are not allowed.
pub(super) fn escape_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\\' | ';' | ',' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Reverses [`escape_text`].
pub(super) fn unescape_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n' | 'N') => plain.push('\n'),
                Some(other) => plain.push(other),
                None => {}
            },
            (c, false) => plain.push(c),
        }
    }
    plain
}

/// One parsed content line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IcalProperty {
    /// In uppercase.
    pub name: String,
    /// Names in uppercase, values without quotation marks.
    pub parameters: Vec<(String, String)>,
    pub value: String,
}

impl IcalProperty {
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = vec![String::new()];
        let mut quoted = false;
        let mut value = None;
        for (index, c) in line.char_indices() {
            match c {
                '"' => quoted = !quoted,
                ':' if !quoted => {
                    value = line.get(index + 1..).map(str::to_owned);
                    break;
                }
                ';' if !quoted => parts.push(String::new()),
                c => {
                    if let Some(part) = parts.last_mut() {
                        let _ = write!(part, "{c}");
                    }
                }
            }
        }
        let mut parts = parts.into_iter();
        let name = parts.next()?.trim().to_ascii_uppercase();
        let parameters = parts.filter_map(|part| {
            let (name, value) = part.split_once('=')?;
            Some((name.trim().to_ascii_uppercase(), value.to_owned()))
        });
        Some(Self { name, parameters: parameters.collect(), value: value? })
    }
}

/// Parses the content lines of a text, unfolded; malformed lines are omitted.
pub(super) fn parse_properties(text: &str) -> Vec<IcalProperty> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.iter().filter_map(|line| IcalProperty::parse(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_fold_at_seventy_five_octets_between_characters() {
        let mut lines = IcalLineWriter::default();
        lines.push_text("SUMMARY", &"äöü, ".repeat(40));
        let text = lines.into_text();
        assert!(text.ends_with("\r\n"));
        assert!(text.split("\r\n").all(|line| line.len() <= 75));
        let property = &parse_properties(&text)[0];
        assert_eq!(unescape_text(&property.value), "äöü, ".repeat(40));
    }

    #[test]
    fn parameters_may_be_quoted() {
        let line = "dtstart;TZID=\"Europe/Berlin;x\";VALUE=DATE-TIME:20260601T090000";
        let property = IcalProperty::parse(line).unwrap();
        assert_eq!(property.name, "DTSTART");
        assert_eq!(property.parameter("TZID"), Some("Europe/Berlin;x"));
        assert_eq!(property.value, "20260601T090000");
    }
}
