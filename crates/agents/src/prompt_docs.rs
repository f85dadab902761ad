//! Prompts, made by recipe: fragments that stay the same, then what is to be known of the task, each within its room.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::framing::{RULE, frame_data};
use super::{AgentJob, AgentServices};
use planwright_drafting::executor::criteria;
use planwright_drafting::executor::recipe::{CompactedPart, Recipe, compact_text};
use planwright_llm::cost::tokens::estimate_text_tokens;
use planwright_llm::{GenerateRequest, Message};
use planwright_model::TaskNode;
use planwright_state::AgentProgress;
use planwright_state::agent_progress::truncate_text;

/// A prompt and what had to be shortened for it.
pub(super) struct AssembledPrompt {
    pub(super) request: GenerateRequest,
    pub(super) compacted: Vec<CompactedPart>,
    /// The fragments it is made of, with their versions.
    pub(super) fragments: Vec<String>,
}

/// What a prompt tells, by the names that recipes use.
pub(super) type PromptDocs = BTreeMap<&'static str, String>;

impl AgentServices {
    /// Puts a prompt together.
    pub(super) fn assemble_prompt(
        &self,
        recipe: &Recipe,
        role: &str,
        docs: &PromptDocs,
    ) -> AssembledPrompt {
        let mut compacted = Vec::new();
        let mut fit = |part: &str, text: &str, most: u64| match compact_text(
            text,
            most,
            estimate_text_tokens,
        ) {
            None => text.to_owned(),
            Some(short) => {
                let (tokens, kept) = (estimate_text_tokens(text), estimate_text_tokens(&short));
                compacted.push(CompactedPart { part: part.to_owned(), tokens, kept });
                short
            }
        };
        let (mut system, mut fragments) = (Vec::new(), Vec::new());
        for fragment in &recipe.prompt_fragments {
            let path = fragment.path.replace("{role}", role);
            let Some(prompt) = self.prompts.get(&path) else { continue };
            system.push(fit(&path, &prompt.text, fragment.max_tokens));
            fragments.push(format!("{path}@{}", prompt.version));
        }
        let mut left = recipe.token_budget.input_docs;
        let mut parts = Vec::new();
        for doc in &recipe.input_docs {
            let Some(text) = docs.get(doc.path.as_str()).filter(|text| !text.is_empty()) else {
                continue;
            };
            let text = fit(&doc.path, text, doc.max_tokens.min(left));
            left = left.saturating_sub(estimate_text_tokens(&text));
            parts.push(text);
        }
        let messages =
            vec![Message::system(system.join("\n\n")), Message::user(parts.join("\n\n"))];
        let mut request = GenerateRequest::new(messages);
        request.cacheable_prefix = 1;
        request.max_output_tokens = u32::try_from(recipe.token_budget.output).ok();
        AssembledPrompt { request, compacted, fragments }
    }
}

/// The task: what it is, what for, and when it counts as done.
pub(super) fn task_doc(job: &AgentJob, goals: &[String]) -> String {
    let TaskNode { id, description, exit_criteria, .. } = &*job.task;
    let mut text = format!("## Task {id}\n{description}");
    if let Some(goal) = &job.goal {
        let _ = write!(text, "\nIt is part of: {goal}");
    }
    if let Some(hint) = &job.hint {
        let _ = write!(text, "\nThe person looked at the work so far and asks: {hint}");
    }
    if !goals.is_empty() && goals != [description.clone()] {
        let _ = write!(text, "\nGoals now:\n- {}", goals.join("\n- "));
    }
    for (at, criterion) in exit_criteria.iter().enumerate() {
        let word = match criteria::criterion_trigger(criterion) {
            planwright_model::task::CriterionEffect::Success => "Done when",
            planwright_model::task::CriterionEffect::Failure => "Failed when",
        };
        let _ = write!(text, "\n{word} ({}): {}", at + 1, criteria::describe_criterion(criterion));
    }
    text
}

/// What earlier tasks brought, each with an equal share of the room.
pub(super) fn context_doc(job: &AgentJob, summary: Option<&str>, room: u64) -> String {
    if job.context.is_empty() {
        return String::new();
    }
    if let Some(summary) = summary {
        let short = compact_text(summary, room.saturating_sub(80), estimate_text_tokens);
        let text = short.as_deref().unwrap_or(summary);
        return format!("## Context\n{RULE}\n{}", frame_data("summary of earlier tasks", text));
    }
    // Frames are made after cutting, so what is cut is what they hold: shorter texts first, then fewer of them.
    for count in (1..=job.context.len()).rev() {
        let share = (room / count as u64).saturating_sub(60);
        for share in [share, share * 3 / 4, share / 2, share / 4] {
            let doc = framed_context(job, count, share);
            if estimate_text_tokens(&doc) <= room {
                return doc;
            }
        }
    }
    String::new()
}

/// The first results of earlier tasks, each with so much room.
fn framed_context(job: &AgentJob, count: usize, share: u64) -> String {
    let parts = job.context[..count].iter().map(|earlier| {
        let label = format!("from task {} ({}): {}", earlier.task, earlier.outcome, earlier.title);
        let short = compact_text(&earlier.answer, share, estimate_text_tokens);
        frame_data(&clean_label(&label), short.as_deref().unwrap_or(&earlier.answer))
    });
    let mut text = format!("## Context\n{RULE}\n{}", parts.collect::<Vec<_>>().join("\n"));
    let left_out = job.context.len() - count;
    if left_out > 0 {
        let _ = write!(text, "\n({left_out} more results of earlier tasks do not fit)");
    }
    text
}

/// How many tokens earlier tasks would take if nothing were left out.
pub(super) fn context_tokens(job: &AgentJob) -> u64 {
    job.context.iter().map(|earlier| estimate_text_tokens(&earlier.answer) + 40).sum()
}

/// The room that a recipe gives to a part.
pub(super) fn part_token_limit(recipe: &Recipe, part: &str) -> u64 {
    let doc = recipe.input_docs.iter().find(|doc| doc.path == part);
    doc.map_or(0, |doc| doc.max_tokens)
}

/// The room that is left for a part beside the others.
pub(super) fn remaining_part_tokens(recipe: &Recipe, part: &str, docs: &PromptDocs) -> u64 {
    let used: u64 = docs
        .iter()
        .filter(|(name, _)| **name != part)
        .map(|(name, text)| estimate_text_tokens(text).min(part_token_limit(recipe, name)))
        .sum();
    part_token_limit(recipe, part).min(recipe.token_budget.input_docs.saturating_sub(used))
}

/// What calls brought, the newest first and in full, older ones shorter, as far as there is room.
pub(super) fn results_doc(progress: &AgentProgress, room: u64, older: usize) -> String {
    let mut left = room.saturating_sub(estimate_text_tokens(RULE) + 8);
    let mut parts = Vec::new();
    for (age, step) in progress.steps.iter().rev().enumerate() {
        let whole = if age < 2 { step.output.clone() } else { truncate_text(&step.output, older) };
        let outcome = if step.ok { "ok" } else { "failed" };
        let args = truncate_text(&step.input.to_string(), 300);
        let label = clean_label(&format!("call {} {} {outcome} {args}", step.number, step.tool));
        let most = left.saturating_sub(estimate_text_tokens(&label) + 24);
        let whole = share_answers(&whole, most).unwrap_or(whole);
        let text = match compact_text(&whole, most, estimate_text_tokens) {
            Some(short) if short.is_empty() => break,
            Some(short) => short,
            None => whole,
        };
        let part = frame_data(&label, &text);
        left = left.saturating_sub(estimate_text_tokens(&part));
        parts.push(part);
    }
    // What does not fit as a whole is left out as a whole: a frame is never cut.
    while !parts.is_empty() {
        let doc = format!("## Results, newest first\n{RULE}\n{}", parts.join("\n"));
        if estimate_text_tokens(&doc) <= room {
            return doc;
        }
        parts.pop();
    }
    String::new()
}

/// The answers of several subtasks where they do not fit together: each gets the same room, so that none is left out.
fn share_answers(output: &str, most: u64) -> Option<String> {
    let is_long = estimate_text_tokens(output) > most;
    let line =
        output.lines().find_map(|line| line.strip_prefix("results: ")).filter(|_| is_long)?;
    let answers: Vec<Value> = serde_json::from_str(line).ok()?;
    let text = |one: &Value, name: &str| {
        one.get(name).and_then(Value::as_str).map(planwright_text::clean_text).map(String::from)
    };
    let read: Option<Vec<(String, String)>> =
        answers.iter().map(|one| Some((text(one, "description")?, text(one, "text")?))).collect();
    let read = read.filter(|read| !read.is_empty())?;
    let share = most / read.len() as u64;
    let answers = read.iter().enumerate().map(|(at, (question, answer))| {
        let question = format!("{}. {}", at + 1, truncate_text(question, 80));
        let room = share.saturating_sub(estimate_text_tokens(&question) + 12);
        let answer = compact_text(answer, room, estimate_text_tokens);
        let answer = answer.unwrap_or_else(|| read[at].1.clone());
        format!("{question}\n{answer}")
    });
    Some(answers.collect::<Vec<_>>().join("\n"))
}

/// The state as one block of JSON.
pub(super) fn state_doc(state: &Value) -> String {
    format!("## State\n{STATE_BEGINS}\n{state}\n{STATE_ENDS}")
}

pub(super) const STATE_BEGINS: &str = "```state";
pub(super) const STATE_ENDS: &str = "```";

/// Reads the state back from a prompt. It comes before anything that somebody else wrote, and JSON text holds no line
/// end, so nothing else can be taken for it.
pub(super) fn state_from_request(request: &GenerateRequest) -> Option<Value> {
    let message = request
        .messages
        .iter()
        .find(|message| message.role == planwright_llm::MessageRole::User)?;
    let text = message.text();
    let (_, rest) = text.split_once(&format!("{STATE_BEGINS}\n"))?;
    serde_json::from_str(rest.lines().next()?).ok()
}

/// A label on one line. The mark of its frame cannot be guessed, so that `>` may stay what it is.
fn clean_label(text: &str) -> String {
    planwright_text::clean_line(text).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::DependencyResult;
    use crate::framing::has_whole_frames;
    use planwright_state::agent_progress::AgentStep;

    #[test]
    fn every_answer_of_many_subtasks_reaches_the_model() {
        let answers: Vec<Value> = (0..8)
            .map(|at| {
                let text = format!("finding-{at} {}", "and more of it ".repeat(100));
                serde_json::json!({"description": format!("question-{at}"), "ok": true, "text": text})
            })
            .collect();
        let output = format!("8 of 8 succeeded\nresults: {}", Value::from(answers));
        let step = AgentStep {
            number: 1,
            step: "search".to_owned(),
            tool: "explore_context".to_owned(),
            input: Value::Null,
            ok: true,
            output,
        };
        let progress = AgentProgress { steps: vec![step], ..AgentProgress::default() };
        let doc = results_doc(&progress, 900, 1500);
        assert!(estimate_text_tokens(&doc) <= 900);
        for at in 0..8 {
            assert!(doc.contains(&format!("question-{at}")), "{at}: {doc}");
            assert!(doc.contains(&format!("finding-{at}")), "{at}: {doc}");
        }
    }

    /// What comes after the rule, which names the marks itself.
    fn after_rule(doc: &str) -> &str {
        doc.split_once(RULE).map_or("", |(_, data)| data)
    }

    proptest! {
        #[test]
        fn no_frame_of_earlier_results_is_ever_cut(
            answers in prop::collection::vec("[a-z> \n]{0,900}", 1..6),
            room in 0..900u64,
        ) {
            let mut job = AgentJob::new(Arc::new(TaskNode::new("t", "Do it")), 1);
            job.context = answers
                .into_iter()
                .map(|answer| DependencyResult {
                    task: "a".into(),
                    title: "make all 2>&1".into(),
                    outcome: "done".into(),
                    answer,
                })
                .collect();
            let doc = context_doc(&job, None, room);
            prop_assert!(has_whole_frames(after_rule(&doc)), "{doc}");
            prop_assert!(doc.is_empty() || estimate_text_tokens(&doc) <= room);
            prop_assert!(doc.is_empty() || doc.contains("2>&1"));
        }

        #[test]
        fn no_frame_of_a_strict_steps_result_is_ever_cut(
            outputs in prop::collection::vec("([a-z> \n]|<<data |<<end of data ){0,600}", 1..6),
            room in 0..900u64,
            older in 0..300usize,
        ) {
            let step = |(number, output): (u32, String)| AgentStep {
                number,
                step: "read".into(),
                tool: "file.read".into(),
                input: serde_json::json!({"path": "a > b"}),
                output,
                ok: true,
            };
            let steps = (1u32..).zip(outputs).map(step).collect();
            let progress = AgentProgress { steps, ..AgentProgress::default() };
            let doc = results_doc(&progress, room, older);
            prop_assert!(has_whole_frames(after_rule(&doc)), "{doc}");
            prop_assert!(doc.is_empty() || estimate_text_tokens(&doc) <= room);
        }
    }
}
