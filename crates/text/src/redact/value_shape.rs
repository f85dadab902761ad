//! Classifies a value by its appearance: a secret, a placeholder, or code.

/// The prefix of every redaction label.
pub(super) const LABEL: &[u8] = b"[redacted:";

/// Counts of the character classes in a value.
#[derive(Debug, Default)]
pub(super) struct ValueShape {
    pub(super) len: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// Punctuation that joins words, paths and versions: `_-./:`.
    pub(super) joints: usize,
    /// Other punctuation.
    pub(super) signs: usize,
    pub(super) spaces: usize,
    /// Punctuation that is common in code and rare in passwords.
    pub(super) brackets: usize,
    /// Positions where lowercase, uppercase and digits alternate; random text has many, words have few.
    turns: usize,
    distinct: u32,
}

impl ValueShape {
    /// Counts the characters of a value.
    pub(super) fn from_bytes(value: &[u8]) -> Self {
        let mut shape = Self { len: value.len(), ..Self::default() };
        let mut seen = 0_u128;
        let mut last = 0;
        for &byte in value {
            seen |= 1 << (byte & 0x7F);
            let kind = match byte {
                b'a'..=b'z' => 1,
                b'A'..=b'Z' => 2,
                b'0'..=b'9' => 3,
                _ => 0,
            };
            shape.count_byte(byte);
            shape.turns += usize::from(kind != 0 && last != 0 && kind != last);
            if kind != 0 {
                last = kind;
            }
        }
        shape.distinct = seen.count_ones();
        shape
    }

    fn count_byte(&mut self, byte: u8) {
        let counter = match byte {
            b'a'..=b'z' => &mut self.lower,
            b'A'..=b'Z' => &mut self.upper,
            b'0'..=b'9' => &mut self.digits,
            b'_' | b'-' | b'.' | b'/' | b':' => &mut self.joints,
            b' ' | b'\t' => &mut self.spaces,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' => &mut self.brackets,
            _ => &mut self.signs,
        };
        *counter += 1;
    }

    pub(super) fn letter_count(&self) -> usize {
        self.lower + self.upper
    }

    /// Returns whether a value looks random, as keys do, rather than chosen by a person.
    pub(super) fn is_random(&self) -> bool {
        self.len >= 16
            && self.digits >= 2
            && self.letter_count() >= 2
            && self.spaces + self.brackets == 0
            && self.turns * 5 >= self.len
            && self.distinct >= 8
    }

    /// Returns whether uppercase and lowercase alternate more often than in any naming convention.
    pub(super) fn is_case_scrambled(&self) -> bool {
        self.turns * 3 >= self.len
    }

    /// Returns whether a value is long and looks random, by its digits or, if it has hardly any, by its letters.
    pub(super) fn is_likely_random(&self) -> bool {
        let plain = self.spaces + self.brackets == 0;
        self.is_random()
            || (plain && self.len >= 16 && self.distinct >= 8 && self.is_case_scrambled())
    }

    /// Returns whether a value has no punctuation other than that of names and paths.
    pub(super) fn is_name_like(&self) -> bool {
        self.signs + self.spaces + self.brackets == 0
    }
}

/// Returns whether a value only stands for a secret: a variable, a template, a mask, an example, a type.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let Some((&first, rest)) = value.split_first() else { return true };
    if rest.iter().all(|byte| *byte == first) || value.starts_with(LABEL) {
        return true;
    }
    // A percent sign followed by two hexadecimal digits is an encoded character.
    let format = first == b'%' && !rest.iter().take(2).all(u8::is_ascii_hexdigit);
    format
        || matches!(first, b'$' | b'<' | b'{' | b'*')
        || contains_bytes(value, b"${")
        || contains_bytes(value, b"{{")
        || contains_bytes(value, b"...")
        || has_placeholder_word(value)
}

/// Words that examples and declarations use in place of a secret.
fn has_placeholder_word(value: &[u8]) -> bool {
    const EXACT: [&str; 24] = [
        "true",
        "false",
        "none",
        "null",
        "nil",
        "undefined",
        "string",
        "str",
        "bool",
        "boolean",
        "number",
        "integer",
        "optional",
        "required",
        "password",
        "passwd",
        "pass",
        "secret",
        "token",
        "uint8array",
        "utf8string",
        "bytes32",
        "changeme",
        "self",
    ];
    const PREFIXES: [&str; 9] = [
        "your",
        "example",
        "placeholder",
        "insert",
        "redacted",
        "process.env",
        "os.environ",
        "env.",
        "xxxx",
    ];
    let is = |value: &[u8], word: &str| value.eq_ignore_ascii_case(word.as_bytes());
    EXACT.iter().any(|word| is(value, word))
        || PREFIXES.iter().any(|word| value.get(..word.len()).is_some_and(|start| is(start, word)))
}

/// Returns whether a value names a secret rather than being one, as `confirmPassword` does.
pub(super) fn is_secret_name(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    ["passw", "secret", "token", "credential", "apikey", "api_key"]
        .iter()
        .any(|word| contains_bytes(&lower, word.as_bytes()))
}

/// Returns whether a value contains a part.
pub(super) fn contains_bytes(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}
