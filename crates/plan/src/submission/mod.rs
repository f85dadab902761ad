//! Plans that agents of other programs submit: Markdown as agents write it, or the plan file's TOML and JSON.
//!
//! What is submitted is foreign text. Nothing in it reaches the environment or another file, what would act on this
//! machine outside of its tasks is left out and reported, and every node counts as written by a model. A node keeps its
//! id from one revision to the next as long as it says nearly the same.

mod foreign;
mod markdown;
mod node_ids;
mod step_text;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::graph::resolve_graph;
use crate::plan_file::{PlanFileFormat, PlanFileInputs, decode_plan_file};
use planwright_model::{
    GraphFacts, NodeLines, NormalizationChange, Plan, Severity, SubmissionFormat, TaskId, Violation,
};

/// The longest text of a submitted plan, in bytes. A person has to read it.
pub const MAX_SUBMISSION_BYTES: usize = 1024 * 1024;
/// The most steps of a submitted plan.
pub const MAX_SUBMITTED_STEPS: usize = 2_000;
/// The longest title of a plan or a step, in characters; the rest of a longer one is among its details.
pub const MAX_TITLE_CHARS: usize = 200;

/// Where the details of a step are kept in its node.
pub const DETAILS_FIELD: &str = "details";

/// A plan as an agent hands it in.
#[derive(Clone, Copy, Debug)]
pub struct SubmittedText<'a> {
    /// The title that the agent gives beside the text; empty if it gives none.
    pub title: &'a str,
    pub format: SubmissionFormat,
    pub text: &'a str,
}

/// The revision before, whose nodes keep their ids.
#[derive(Clone, Copy, Debug)]
pub struct EarlierRevision<'a> {
    pub plan: &'a Plan,
    /// Every id that a revision of this plan ever had.
    pub used_ids: &'a BTreeSet<TaskId>,
}

/// A submitted plan that can be asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSubmission {
    pub plan: Plan,
    pub facts: GraphFacts,
    pub normalization: Vec<NormalizationChange>,
    pub node_lines: Vec<NodeLines>,
    /// What was found and does not keep it from being used.
    pub findings: Vec<Violation>,
}

/// Why a submitted plan cannot be asked about.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SubmissionError {
    #[error("the plan has {bytes} bytes, more than the {limit} that a person is asked to read")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the plan has no text")]
    Empty,
    #[error("the plan can't be read: {}", first_message(.findings))]
    Invalid { findings: Vec<Violation> },
}

fn first_message(findings: &[Violation]) -> &str {
    findings.first().map_or("it has errors", |finding| finding.message.as_str())
}

impl SubmissionError {
    /// What the agent can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "Submit the steps and leave out listings and diffs.",
            Self::Empty => "Write the steps as a numbered list.",
            Self::Invalid { .. } => "Correct the findings and submit it again.",
        }
    }
}

/// Reads a submitted plan.
pub fn read_submission(
    submitted: SubmittedText<'_>,
    before: Option<EarlierRevision<'_>>,
) -> Result<ReadSubmission, SubmissionError> {
    let (bytes, limit) = (submitted.text.len(), MAX_SUBMISSION_BYTES);
    if bytes > limit {
        return Err(SubmissionError::TooLarge { bytes, limit });
    }
    if submitted.text.trim().is_empty() {
        return Err(SubmissionError::Empty);
    }
    let mut read = match submitted.format {
        SubmissionFormat::Markdown => markdown::read_markdown(submitted.text)?,
        SubmissionFormat::Toml => read_plan_file(submitted.text, PlanFileFormat::Toml)?,
        SubmissionFormat::Json => read_plan_file(submitted.text, PlanFileFormat::Json)?,
    };
    apply_title(&mut read.plan, submitted.title);
    foreign::leave_out_foreign(&mut read.plan, &mut read.normalization);
    // What a plan file calls its tasks is its author's choice; steps in words are recognized by their words.
    if submitted.format == SubmissionFormat::Markdown
        && let Some(before) = before
    {
        node_ids::keep_ids(&mut read, before);
    }
    read.facts = match resolve_graph(&read.plan.tasks, |_| true) {
        Ok(resolved) => resolved.to_facts(&read.plan.tasks),
        Err(cycle) => {
            let message = format!("tasks wait for each other: {cycle}");
            let fix = "Remove one of these links.";
            let finding = Violation::new("cycle", Severity::Fatal, message, fix);
            return Err(SubmissionError::Invalid { findings: vec![finding] });
        }
    };
    Ok(read)
}

fn apply_title(plan: &mut Plan, given: &str) {
    let given = step_text::short_title(given).0;
    if !given.is_empty() {
        plan.title = given;
    } else if plan.title.is_empty() {
        "Submitted plan".clone_into(&mut plan.title);
    }
}

/// Reads the format of plan files: nothing is included, and the environment is empty.
fn read_plan_file(text: &str, format: PlanFileFormat) -> Result<ReadSubmission, SubmissionError> {
    // What an agent wrote is corrected with a note, as any drafted graph is.
    let inputs = PlanFileInputs { allow_missing: true, ..PlanFileInputs::default() };
    let mut decoded = decode_plan_file(text, format, "", &inputs);
    let (findings, faults): (Vec<_>, Vec<_>) =
        decoded.violations.into_iter().partition(|found| found.severity == Severity::Warning);
    if !faults.is_empty() {
        return Err(SubmissionError::Invalid { findings: faults });
    }
    if decoded.plan.tasks.len() > MAX_SUBMITTED_STEPS {
        return Err(too_many_steps(decoded.plan.tasks.len()));
    }
    decoded.task_places.truncate(decoded.plan.tasks.len());
    let places = decoded.plan.tasks.iter().zip(&decoded.task_places);
    let first_lines: Vec<(TaskId, u32)> =
        places.map(|(task, (line, _))| (task.id.clone(), *line)).collect();
    Ok(ReadSubmission {
        node_lines: lines_until_next(&first_lines, text.lines().count() as u32),
        plan: decoded.plan,
        facts: GraphFacts::default(),
        normalization: decoded.normalization,
        findings,
    })
}

fn too_many_steps(steps: usize) -> SubmissionError {
    let message = format!(
        "the plan has {steps} steps, more than the {MAX_SUBMITTED_STEPS} a person can check"
    );
    let fix = "Submit the larger steps, or split the plan.";
    let finding = Violation::new("bad_value", Severity::Fatal, message, fix);
    SubmissionError::Invalid { findings: vec![finding] }
}

/// A node of a plan file has the lines up to where the next one begins.
fn lines_until_next(first_lines: &[(TaskId, u32)], last: u32) -> Vec<NodeLines> {
    let mut starts: Vec<u32> = first_lines.iter().map(|(_, line)| *line).collect();
    starts.sort_unstable();
    let lines = first_lines.iter().map(|(node, first)| {
        let next = starts.iter().find(|start| *start > first);
        let last = next.map_or(last, |next| next - 1).max(*first);
        NodeLines { node: node.clone(), first: *first, last }
    });
    lines.collect()
}
