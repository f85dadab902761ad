//! Plan files: JSON or TOML with one schema, and Markdown checklists.
//!
//! All problems are reported at once, each with its position and a remedy. A person's input is never repaired silently:
//! links to unknown tasks are pruned and reported, anything else that is malformed is an error. Limits: 16 MB, 20,000
//! tasks, 200,000 links, 128 levels of nesting.

mod calendar;
mod candidates;
mod command_options;
mod conditions;
mod criteria;
mod decoder;
mod duration;
mod error;
mod include;
mod json;
mod link;
mod markdown;
mod matrix;
mod plan;
mod plan_options;
mod results;
mod run_kind;
mod run_rules;
mod run_settings;
mod schema;
mod secret_values;
mod task;
mod template;
#[cfg(test)]
mod tests;
mod toml;
mod value_tree;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

pub use error::PlanFileError;
pub(crate) use error::format_place;
pub(crate) use markdown::TitleSlugs;
pub(crate) use plan::DecodedPlan;
pub use schema::plan_file_schema;
pub(crate) use value_tree::escape_for_message;
pub use write::write_toml;

use self::decoder::PlanFileDecoder;
use super::graph::TaskVocabulary;
use planwright_model::{NormalizationChange, Plan, Severity, Violation};

/// The largest plan file that is read, in bytes.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;
pub const MAX_TASKS: usize = 20_000;
pub const MAX_LINKS: usize = 200_000;

/// The format of a plan file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanFileFormat {
    Toml,
    Json,
    Markdown,
}

impl PlanFileFormat {
    /// Detects the format by the file extension, or without a known one by the start of the text.
    pub fn detect(name: &str, text: &str) -> Self {
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

/// A plan read from a file, with the changes made while reading.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    pub plan: Plan,
    pub normalization: Vec<NormalizationChange>,
    /// Violations that do not prevent the plan from being used.
    pub warnings: Vec<Violation>,
}

/// The text of a plan file from its bytes. `name` is what messages call the file.
pub fn decode_text(bytes: Vec<u8>, name: &str) -> Result<String, PlanFileError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        let (line, _) = value_tree::LineIndex::new(&text).line_and_column(valid);
        PlanFileError::NotText { name: name.to_owned(), line }
    })
}

/// What a plan file is read with: values of parameters, and the environment.
#[derive(Clone)]
pub struct PlanFileInputs<'a> {
    /// The values that were given for parameters.
    pub params: BTreeMap<String, String>,
    /// The value of an environment variable, for `${{ env.X }}`.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The text of an included file by the name that the plan file has for it, or why it cannot be read.
    pub include: &'a dyn Fn(&str) -> Result<String, String>,
    /// What is wrong with a text that holds a secret, and what to do about it. Such a text is refused where it takes part in
    /// a run; a plan file is no place for it.
    pub find_secret: &'a dyn Fn(&str) -> Option<(String, String)>,
    /// Whether a value that is not there is an error. A check goes on with a placeholder.
    pub needs_all: bool,
    /// Whether links to tasks that are not in the file are left out with a warning. Otherwise each is an error.
    pub allow_missing: bool,
    /// The names of the person's own agents. Without them no name of an agent is checked.
    pub agents: Option<Vec<String>>,
    /// The names of executors that are set up. Without them no name of one is checked.
    pub executors: Option<Vec<String>>,
    /// Types of tasks of the person's own, beside the built-in ones.
    pub task_types: Vec<String>,
}

impl std::fmt::Debug for PlanFileInputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanFileInputs").field("params", &self.params).finish_non_exhaustive()
    }
}

impl Default for PlanFileInputs<'_> {
    /// No parameters and an empty environment.
    fn default() -> Self {
        let include = &|_: &str| Err("nothing is included here".to_owned());
        Self {
            params: BTreeMap::new(),
            env: &|_| None,
            include,
            find_secret: &|_| None,
            needs_all: true,
            allow_missing: false,
            agents: None,
            executors: None,
            task_types: Vec::new(),
        }
    }
}

/// Parses the text of a plan file with the built-in task types.
pub fn parse_plan_file(
    text: &str,
    format: PlanFileFormat,
    name: &str,
) -> Result<PlanFile, PlanFileError> {
    parse_with_inputs(text, format, name, &PlanFileInputs::default())
}

/// Parses the text of a plan file with the values that were given for it.
pub fn parse_with_inputs(
    text: &str,
    format: PlanFileFormat,
    name: &str,
    inputs: &PlanFileInputs<'_>,
) -> Result<PlanFile, PlanFileError> {
    if text.len() as u64 > MAX_BYTES {
        let (name, bytes) = (name.to_owned(), text.len() as u64);
        return Err(PlanFileError::TooLarge { name, bytes, limit: MAX_BYTES });
    }
    let DecodedPlan { plan, violations, normalization, .. } =
        decode_plan_file(text, format, name, inputs);
    let (warnings, faults): (Vec<_>, Vec<_>) =
        violations.into_iter().partition(|violation| violation.severity == Severity::Warning);
    if faults.is_empty() {
        Ok(PlanFile { plan, normalization, warnings })
    } else {
        Err(PlanFileError::Invalid { name: name.to_owned(), violations: faults })
    }
}

/// Decodes as much as possible, and collects all violations.
pub(crate) fn decode_plan_file(
    text: &str,
    format: PlanFileFormat,
    name: &str,
    inputs: &PlanFileInputs<'_>,
) -> DecodedPlan {
    if text.len() as u64 > MAX_BYTES {
        let message =
            format!("the file has {} bytes, more than the {MAX_BYTES} that are read", text.len());
        let fix = "Split the plan into several files.";
        let violations = vec![Violation::new("bad_value", Severity::Fatal, message, fix)];
        return DecodedPlan { violations, ..DecodedPlan::default() };
    }
    if format == PlanFileFormat::Markdown {
        return markdown::decode_checklist(text, name);
    }
    let mut vocabulary = TaskVocabulary::default();
    vocabulary.task_types.extend(inputs.task_types.iter().cloned());
    let tree = match format {
        PlanFileFormat::Json => json::parse_json(text).map_err(|error| vec![error]),
        _ => toml::parse_toml(text),
    };
    match tree {
        Ok(mut tree) => {
            let (joined, faults) = include::merge_includes(&mut tree, text, inputs);
            let mut decoder = PlanFileDecoder::new(&joined.text, &vocabulary);
            decoder.segments.clone_from(&joined.segments);
            decoder.agents = inputs.agents.as_deref();
            decoder.executors = inputs.executors.as_deref();
            for (message, fix, at) in faults {
                let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
                decoder.report_violation(violation, at);
            }
            secret_values::refuse_secret_values(&mut decoder, &tree, inputs);
            plan::decode_plan(decoder, &mut tree, &title_from_name(name), inputs)
        }
        Err(errors) => {
            let mut decoder = PlanFileDecoder::new(text, &vocabulary);
            for error in errors {
                let language = if format == PlanFileFormat::Json { "JSON" } else { "TOML" };
                let message = format!("not valid {language}: {}", error.message);
                let fix = "Correct the syntax at this place.";
                decoder.report_violation(
                    Violation::new("bad_value", Severity::Fatal, message, fix),
                    error.at,
                );
            }
            DecodedPlan { violations: decoder.violations, ..DecodedPlan::default() }
        }
    }
}

/// Returns the title of a plan that states none: its file name without the extension.
fn title_from_name(name: &str) -> String {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or("plan").chars().filter(|c| !c.is_control()).collect()
}
