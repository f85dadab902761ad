//! Parses JSON into a tree with positions. `serde_json` does not report the positions of values, hence this small
//! parser.

use std::ops::Range;

use super::value_tree::{MAX_DEPTH, TreeEntry, TreeValue, ValueTree};

/// Where and why text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) message: String,
}

pub(super) fn parse_json(text: &str) -> Result<ValueTree, SyntaxError> {
    let mut reader = JsonTreeReader { text, at: 0 };
    let tree = reader.read_value(0)?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return reader.fail("expected the end of the file");
    }
    Ok(tree)
}

struct JsonTreeReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsonTreeReader<'_> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { at: self.at, message: message.into() })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Consumes a required character, after blanks.
    fn expect_byte(&mut self, byte: u8, what: &str) -> Result<(), SyntaxError> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return self.fail(format!("expected {what}"));
        }
        self.at += 1;
        Ok(())
    }

    fn read_value(&mut self, depth: usize) -> Result<ValueTree, SyntaxError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.skip_blanks();
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.read_table(depth)?,
            Some(b'[') => self.read_list(depth)?,
            Some(b'"') => TreeValue::Text(self.read_string()?),
            Some(b'-' | b'0'..=b'9') => self.read_number()?,
            Some(_) => self.read_literal()?,
            None => return self.fail("the file ends where a value is expected"),
        };
        Ok(ValueTree { span: start..self.at, value })
    }

    fn read_literal(&mut self) -> Result<TreeValue, SyntaxError> {
        let words = [
            ("true", TreeValue::Bool(true)),
            ("false", TreeValue::Bool(false)),
            ("null", TreeValue::Null),
        ];
        for (word, value) in words {
            if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.fail("expected a value")
    }

    fn read_list(&mut self, depth: usize) -> Result<TreeValue, SyntaxError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(TreeValue::List(items));
        }
        loop {
            items.push(self.read_value(depth + 1)?);
            if !self.has_another(b']', "`,` or `]`")? {
                return Ok(TreeValue::List(items));
            }
        }
    }

    fn read_table(&mut self, depth: usize) -> Result<TreeValue, SyntaxError> {
        self.at += 1;
        let mut entries = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(TreeValue::Table(entries));
        }
        loop {
            let (key, key_span) = self.read_key()?;
            self.expect_byte(b':', "`:` after the field's name")?;
            let tree = self.read_value(depth + 1)?;
            entries.push(TreeEntry { key, key_span, tree });
            if !self.has_another(b'}', "`,` or `}`")? {
                return Ok(TreeValue::Table(entries));
            }
        }
    }

    fn read_key(&mut self) -> Result<(String, Range<usize>), SyntaxError> {
        self.skip_blanks();
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.fail("expected a field's name in double quotes");
        }
        Ok((self.read_string()?, start..self.at))
    }

    /// Returns whether another item follows, or the list or table ends.
    fn has_another(&mut self, end: u8, what: &str) -> Result<bool, SyntaxError> {
        self.skip_blanks();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            _ => self.fail(format!("expected {what}")),
        }
    }

    fn skip_digits(&mut self) -> Result<(), SyntaxError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.fail("expected a digit");
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn read_number(&mut self) -> Result<TreeValue, SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        let text = &self.text[start..self.at];
        if let (true, Ok(value)) = (is_integer, text.parse()) {
            return Ok(TreeValue::Integer(value));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(TreeValue::Float(value)),
            _ => self.fail("the number is out of range"),
        }
    }

    fn read_string(&mut self) -> Result<String, SyntaxError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            let rest = &self.text.as_bytes()[start..];
            let ends = |byte: &u8| matches!(byte, b'"' | b'\\') || *byte < 0x20;
            self.at += rest.iter().position(ends).unwrap_or(rest.len());
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.read_escape()?),
                Some(_) => return self.fail("a control character in text must be escaped"),
                None => return self.fail("the text is not closed"),
            }
        }
    }

    fn read_escape(&mut self) -> Result<char, SyntaxError> {
        let code = self.text.as_bytes().get(self.at + 1).copied();
        let plain = match code {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.read_unicode(),
            _ => return self.fail("unknown escape"),
        };
        self.at += 2;
        Ok(plain)
    }

    /// Reads `\uXXXX`, or two of them for a character beyond the basic plane.
    fn read_unicode(&mut self) -> Result<char, SyntaxError> {
        let first = self.read_hex()?;
        let code = match first {
            0xd800..=0xdbff if self.text[self.at..].starts_with("\\u") => {
                let second = self.read_hex()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return self.fail("half of a surrogate pair");
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            _ => first,
        };
        match char::from_u32(code) {
            Some(c) => Ok(c),
            None => self.fail("half of a surrogate pair"),
        }
    }

    fn read_hex(&mut self) -> Result<u32, SyntaxError> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return self.fail("expected four hexadecimal digits");
        };
        self.at += 6;
        let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0);
        Ok(digits.iter().fold(0, |code, digit| code * 16 + value(*digit)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_have_their_byte_ranges() {
        let tree = parse_json(r#" {"a": [1, "é\u00e9\ud83d\ude00"]}"#).unwrap();
        assert_eq!(tree.span, 1..35);
        assert_eq!(tree.to_json(), serde_json::json!({"a": [1, "éé😀"]}));
    }

    #[test]
    fn deep_nesting_is_rejected() {
        let error = parse_json(&"[".repeat(100_000)).unwrap_err();
        assert_eq!(error.message, "nested deeper than 128 levels");
    }

    proptest! {
        #[test]
        fn accepts_what_serde_json_accepts(text in r#"([\[\]{},:"\\/ \nutrfalse0-9.eE+-]|true|null|"a":|\\u00e9|\\ud83d|\\ude00|é){0,24}"#) {
            match (parse_json(&text), serde_json::from_str::<serde_json::Value>(&text)) {
                (Ok(tree), Ok(value)) if !text.contains(char::is_numeric) => prop_assert_eq!(tree.to_json(), value),
                (own, other) => prop_assert_eq!(own.is_ok(), other.is_ok(), "{:?} {:?}", own, other),
            }
        }
    }
}
