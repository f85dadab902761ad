//! Parses JSON written by models: in fences, among prose, with trailing commas, single quotes, comments, or bare keys.
//!
//! Nothing is invented: truncated text is rejected, so that half a call is never completed by us.

use serde_json::{Map, Number, Value};

/// Deeper values are rejected.
const DEEPEST: usize = 128;

/// The most positions in a text at which a value is tried.
const MOST_CANDIDATES: usize = 64;

/// A value, and whether it had to be repaired.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LenientValue {
    pub(super) value: Value,
    pub(super) repaired: bool,
    /// Its start position in the text.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Parses a text that should contain one value and nothing else.
pub(super) fn parse_value(text: &str) -> Option<LenientValue> {
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    if let Ok(value) = serde_json::from_str(trimmed) {
        return Some(LenientValue { value, repaired: false, start, end: start + trimmed.len() });
    }
    parse_relaxed(text, start).filter(|found| text[found.end..].trim().is_empty())
}

/// Finds the outermost objects and lists in a text, in order.
pub(super) fn find_values(text: &str) -> Vec<LenientValue> {
    let (mut found, mut at, mut tries) = (Vec::new(), 0, 0);
    while let Some(next) = text[at..].find(['{', '[']) {
        let start = at + next;
        tries += 1;
        if tries > MOST_CANDIDATES {
            break;
        }
        match parse_strict(text, start).or_else(|| parse_relaxed(text, start)) {
            Some(value) => {
                at = value.end;
                found.push(value);
            }
            None => at = start + 1,
        }
    }
    found
}

fn parse_strict(text: &str, start: usize) -> Option<LenientValue> {
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some(LenientValue { value, repaired: false, start, end: start + values.byte_offset() })
}

fn parse_relaxed(text: &str, start: usize) -> Option<LenientValue> {
    let mut reader = LenientJsonReader { text, at: start };
    let value = reader.read_value(0)?;
    Some(LenientValue { value, repaired: true, start, end: reader.at })
}

struct LenientJsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl LenientJsonReader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn consume_text(&mut self, expected: &str) -> bool {
        let matches_text = self.text[self.at..].starts_with(expected);
        if matches_text {
            self.at += expected.len();
        }
        matches_text
    }

    fn skip_whitespace(&mut self) {
        loop {
            while self.peek().is_some_and(char::is_whitespace) {
                self.next();
            }
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return,
                }
            } else {
                return;
            }
        }
    }

    fn read_value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_whitespace();
        match self.peek()? {
            '{' => self.read_object(depth),
            '[' => self.read_list(depth),
            '"' | '\'' | '\u{201c}' => self.read_string().map(Value::String),
            _ => self.read_literal(),
        }
    }

    fn read_object(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut fields = Map::new();
        loop {
            self.skip_whitespace();
            if self.consume_text("}") {
                return Some(Value::Object(fields));
            }
            let key = match self.peek()? {
                '"' | '\'' | '\u{201c}' => self.read_string()?,
                _ => self.read_bare_key()?,
            };
            self.skip_whitespace();
            if !self.consume_text(":") {
                return None;
            }
            let value = self.read_value(depth + 1)?;
            fields.insert(key, value);
            self.skip_whitespace();
            if !self.consume_text(",") {
                return self.consume_text("}").then_some(Value::Object(fields));
            }
        }
    }

    fn read_list(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.skip_whitespace();
            if self.consume_text("]") {
                return Some(Value::Array(items));
            }
            items.push(self.read_value(depth + 1)?);
            self.skip_whitespace();
            if !self.consume_text(",") {
                return self.consume_text("]").then_some(Value::Array(items));
            }
        }
    }

    fn read_bare_key(&mut self) -> Option<String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$')) {
            self.next();
        }
        (self.at > start).then(|| self.text[start..self.at].to_owned())
    }

    fn read_string(&mut self) -> Option<String> {
        let open = self.next()?;
        let close = if open == '\u{201c}' { '\u{201d}' } else { open };
        let mut out = String::new();
        loop {
            match self.next()? {
                letter if letter == close => return Some(out),
                '\\' => self.read_escape(&mut out)?,
                letter => out.push(letter),
            }
        }
    }

    fn read_escape(&mut self, out: &mut String) -> Option<()> {
        match self.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let first = self.read_hex()?;
                let code = if (0xD800..0xDC00).contains(&first) && self.consume_text("\\u") {
                    let second = self.read_hex()?;
                    0x10000 + ((first - 0xD800) << 10) + second.checked_sub(0xDC00)?
                } else {
                    first
                };
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            '\n' => {}
            letter => out.push(letter),
        }
        Some(())
    }

    fn read_hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(code)
    }

    fn read_literal(&mut self) -> Option<Value> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'))
        {
            self.next();
        }
        let word = &self.text[start..self.at];
        match word {
            "true" | "True" | "TRUE" => Some(Value::Bool(true)),
            "false" | "False" | "FALSE" => Some(Value::Bool(false)),
            "null" | "None" | "nil" | "undefined" => Some(Value::Null),
            _ => {
                let plain = word.replace('_', "");
                let plain = plain.strip_prefix('+').unwrap_or(&plain);
                plain
                    .parse::<i64>()
                    .map(Number::from)
                    .ok()
                    .or_else(|| plain.parse::<f64>().ok().and_then(Number::from_f64))
                    .map(Value::Number)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_in_fences_prose_and_sloppy_writing() {
        for (text, repaired) in [
            (r#"{"a": [1, true]}"#, false),
            ("Sure! Here it is:\n```json\n{\"a\": [1, true]}\n```\nHope it helps.", false),
            (r#"{"a": [1, true,],}"#, true),
            ("{'a': [1, True]} ", true),
            ("{a: [1, true] /* flags */} // done", true),
            ("{\u{201c}a\u{201d}: [+1, true]}", true),
        ] {
            let found = find_values(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].value, json!({"a": [1, true]}), "{text}");
            assert_eq!(found[0].repaired, repaired, "{text}");
        }
    }

    #[test]
    fn strings_may_contain_raw_line_ends_braces_and_escapes() {
        let found = find_values("{\"a\": \"x {\n y\", 'b': 'it\\'s \\u00e9 \\ud83d\\ude00',}");
        assert_eq!(found[0].value, json!({"a": "x {\n y", "b": "it's é 😀"}));
    }

    #[test]
    fn truncated_json_is_never_completed() {
        for text in [r#"{"path": "a"#, r#"{"path": "a""#, r#"{"list": [1, 2"#, "{", "[1,"] {
            assert!(
                find_values(text).iter().all(|found| found.value.get("path").is_none()),
                "{text}"
            );
            assert_eq!(parse_value(text), None, "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        assert!(find_values(&"[".repeat(100_000)).is_empty());
        assert!(parse_value(&format!("{}1{}", "[".repeat(500), "]".repeat(500))).is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[{}\\[\\]\"':,a1 \\\\/*\u{201c}\n]{0,60}") {
            find_values(&text);
            parse_value(&text);
        }

        #[test]
        fn valid_json_is_parsed_unchanged(numbers in prop::collection::vec(any::<i32>(), 0..5), word in ".{0,20}") {
            let value = json!({"n": numbers, "w": word});
            let found = find_values(&format!("so: {value} ok"));
            prop_assert_eq!(&found[0].value, &value);
            prop_assert!(!found[0].repaired);
        }
    }
}
