//! The recording file: a header line, then one exchange per line, as JSON. Everything in it is redacted.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{GenerateRequest, GeneratedAnswer, ModelError, ModelInfo};
use planwright_model::{Category, Digest};
use planwright_text::Redactor;

/// The version of the format.
const FORMAT: u32 = 1;

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeOutcome {
    Answer(GeneratedAnswer),
    Error(ModelError),
}

/// One exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CassetteEntry {
    /// The hash of the request. An entry without one, written by hand, answers the next request, whatever it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The request, for people who read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    pub outcome: ExchangeOutcome,
}

#[derive(Serialize, Deserialize)]
struct CassetteHeader {
    cassette: u32,
    info: ModelInfo,
}

/// A recording in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Cassette {
    pub info: ModelInfo,
    pub entries: Vec<CassetteEntry>,
}

impl Cassette {
    pub fn parse(text: &str, file: &Path) -> Result<Self, ModelError> {
        let format_error = |line: usize, problem: &str| {
            let message = format!("{}:{line}: {problem}", file.display());
            let next = "record it again with --record";
            ModelError::new("recorded", "bad_cassette", Category::Critical, message, next)
        };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, first) = lines.next().ok_or_else(|| format_error(1, "the recording is empty"))?;
        let header: CassetteHeader = serde_json::from_str(first)
            .map_err(|_| format_error(1, "not the header of a recording"))?;
        if header.cassette > FORMAT {
            return Err(format_error(1, "written by a newer version of Planwright"));
        }
        let entries = lines
            .map(|(number, line)| {
                serde_json::from_str(line)
                    .map_err(|error| format_error(number + 1, &format!("not an exchange: {error}")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { info: header.info, entries })
    }

    /// The first line of a file.
    pub(super) fn header_line(info: &ModelInfo) -> String {
        let header = CassetteHeader { cassette: FORMAT, info: info.clone() };
        serde_json::to_string(&header).expect("a header is plain data")
    }
}

/// A request as it is recorded, and its hash.
pub(super) fn redacted_request(request: &GenerateRequest, redactor: &Redactor) -> (Value, Digest) {
    let mut value = serde_json::to_value(request).unwrap_or_default();
    redact_in_place(&mut value, redactor);
    let digest = Digest::from_json(&value);
    (value, digest)
}

/// Redacts every string of a value.
pub(super) fn redact_in_place(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(redacted) = redactor.redact(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_in_place(item, redactor)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| redact_in_place(field, redactor));
        }
        _ => {}
    }
}
