//! Content hashes. `canonical_json` is the only form that is ever hashed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 over canonical JSON, as 64 hexadecimal digits.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Hashes any serialisable value by its canonical JSON.
    pub fn from_value<T: Serialize>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self::from_json(&serde_json::to_value(value)?))
    }

    /// Hashes a JSON value by its canonical form.
    pub fn from_json(value: &Value) -> Self {
        Self::from_bytes(canonical_json(value).as_bytes())
    }

    /// Hashes bytes as they are.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            hex.push(DIGITS[usize::from(byte >> 4)].into());
            hex.push(DIGITS[usize::from(byte & 15)].into());
        }
        Self(hex)
    }

    /// Reads a hash that was shown: 64 hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| Self(hex.to_ascii_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The seven digits a screen shows.
    pub fn short_hex(&self) -> &str {
        self.0.get(..7).unwrap_or(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes JSON with recursively sorted keys, shortest round-trip numbers and no spaces.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (position, (key, item)) in sorted.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_canonical(&Value::String(key.clone()), out);
                out.push(':');
                write_canonical(item, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_json_sorts_keys_at_every_depth() {
        let value = json!({"b": [1, {"z": 0.1, "a": "é\n"}], "a": null});
        assert_eq!(canonical_json(&value), r#"{"a":null,"b":[1,{"a":"é\n","z":0.1}]}"#);
    }

    #[test]
    fn key_order_does_not_change_a_hash() {
        let one: Value = serde_json::from_str(r#"{"a":1,"b":2}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(Digest::from_value(&one).unwrap(), Digest::from_value(&two).unwrap());
        assert_eq!(Digest::from_value(&one).unwrap().short_hex().len(), 7);
    }
}
