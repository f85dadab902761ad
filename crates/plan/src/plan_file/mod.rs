//! Plan files: JSON or TOML with one schema, and Markdown checklists.
//!
//! Everything that is wrong is reported at once, each with its place and a remedy. What a person wrote is never
//! repaired in silence: links to unknown tasks are pruned and reported, anything else that is malformed is an error.
//! Limits: 16 MB, 20,000 tasks, 200,000 links, 128 levels of nesting.

mod calendar;
mod criteria;
mod decoder;
mod duration;
mod error;
mod json;
mod link;
mod markdown;
mod plan;
mod schema;
mod task;
#[cfg(test)]
mod tests;
mod toml;
mod tree;
mod write;

use std::path::Path;

pub use error::PlanFileError;
pub(crate) use error::place;
pub(crate) use plan::Decoded;
pub use schema::schema;
pub(crate) use tree::shown;
pub use write::write_toml;

use self::decoder::Decoder;
use super::graph::Vocabulary;
use planwright_files::{self as files, FileLimit};
use planwright_model::{Normalization, Plan, Severity, Violation};

/// The largest plan file that is read, in bytes.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;
pub const MAX_TASKS: usize = 20_000;
pub const MAX_LINKS: usize = 200_000;

/// How a plan file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Toml,
    Json,
    Markdown,
}

impl Format {
    /// Goes by the file's ending; without a known one, by how the text begins.
    pub fn of(name: &str, text: &str) -> Self {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("toml") => Self::Toml,
            Some("json") => Self::Json,
            Some("md" | "markdown") => Self::Markdown,
            _ if text.trim_start().starts_with('{') => Self::Json,
            _ => Self::Toml,
        }
    }
}

/// A plan as a file gives it, with what was changed while reading.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    pub plan: Plan,
    pub normalization: Vec<Normalization>,
    /// Violations that do not keep the plan from being used.
    pub warnings: Vec<Violation>,
}

/// Reads a plan file. The ending of its name decides the format.
pub fn read(path: &Path) -> Result<PlanFile, PlanFileError> {
    let (name, text) = read_text(path)?;
    parse(&text, Format::of(&name, &text), &name)
}

/// Reads the text of a plan file, with the name that messages use.
pub fn read_text(path: &Path) -> Result<(String, String), PlanFileError> {
    let name = path.display().to_string();
    let unreadable = |source| PlanFileError::Unreadable { name: name.clone(), source };
    let limit = FileLimit { what: "a plan file", bytes: MAX_BYTES };
    let text = match files::read_bytes(path, limit) {
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
            return Err(PlanFileError::TooLarge { name, bytes, limit: MAX_BYTES });
        }
        read => read.map_err(unreadable)?,
    };
    match String::from_utf8(text) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            let (line, _) = tree::Lines::new(&text).place(valid);
            Err(PlanFileError::NotText { name, line })
        }
    }
}

/// Parses the text of a plan file with the built-in task types.
pub fn parse(text: &str, format: Format, name: &str) -> Result<PlanFile, PlanFileError> {
    parse_with(text, format, name, &Vocabulary::default())
}

/// Parses the text of a plan file.
pub fn parse_with(
    text: &str,
    format: Format,
    name: &str,
    vocabulary: &Vocabulary,
) -> Result<PlanFile, PlanFileError> {
    if text.len() as u64 > MAX_BYTES {
        let (name, bytes) = (name.to_owned(), text.len() as u64);
        return Err(PlanFileError::TooLarge { name, bytes, limit: MAX_BYTES });
    }
    let Decoded { plan, violations, normalization, .. } = decode(text, format, name, vocabulary);
    let (warnings, faults): (Vec<_>, Vec<_>) =
        violations.into_iter().partition(|violation| violation.severity == Severity::Warning);
    if faults.is_empty() {
        Ok(PlanFile { plan, normalization, warnings })
    } else {
        Err(PlanFileError::Invalid { name: name.to_owned(), violations: faults })
    }
}

/// Decodes as much as can be, and collects all that is wrong.
pub(crate) fn decode(text: &str, format: Format, name: &str, vocabulary: &Vocabulary) -> Decoded {
    if text.len() as u64 > MAX_BYTES {
        let message =
            format!("the file has {} bytes, more than the {MAX_BYTES} that are read", text.len());
        let fix = "Split the plan into several files.";
        let violations = vec![Violation::new("bad_value", Severity::Fatal, message, fix)];
        return Decoded { violations, ..Decoded::default() };
    }
    if format == Format::Markdown {
        return markdown::decode(text, name);
    }
    let mut decoder = Decoder::new(text, vocabulary);
    let tree = match format {
        Format::Json => json::parse(text).map_err(|error| vec![error]),
        _ => toml::parse(text),
    };
    match tree {
        Ok(tree) => plan::decode(decoder, &tree, &stem(name)),
        Err(errors) => {
            for error in errors {
                let language = if format == Format::Json { "JSON" } else { "TOML" };
                let message = format!("not valid {language}: {}", error.message);
                let fix = "Correct the syntax at this place.";
                decoder
                    .report(Violation::new("bad_value", Severity::Fatal, message, fix), error.at);
            }
            Decoded { violations: decoder.violations, ..Decoded::default() }
        }
    }
}

/// The title of a plan that states none: its file's name without the ending.
fn stem(name: &str) -> String {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or("plan").chars().filter(|c| !c.is_control()).collect()
}
