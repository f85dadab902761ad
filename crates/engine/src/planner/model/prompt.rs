//! What a model is told about the plan so far. Everything the person or a file wrote is framed as data.

use std::fmt::Write as _;

use super::super::conversation::policy_words;
use planwright_model::{PatternChoice, PlanContext, PlanOutline, Roadmap, Stage};
use planwright_state::PlanningSlice;

/// The goal and what is known about it.
pub(super) fn context_prompt(talk: &PlanningSlice, context: &PlanContext) -> String {
    let mut text =
        format!("Goal, as the person typed it:\n<goal>\n{}\n</goal>\n", context.goal_text);
    let limits = &context.constraints;
    let _ = writeln!(text, "Start: {}", limits.start);
    if let Some(deadline) = limits.deadline {
        let _ = writeln!(text, "Deadline: {}", deadline.local_date());
    }
    if let Some(weeks) = limits.horizon_weeks {
        let _ = writeln!(text, "Horizon: {weeks} weeks");
    }
    if let Some(minutes) = limits.weekly_minutes {
        let _ = writeln!(text, "Time: {minutes} minutes a week");
    }
    for assumed in &context.assumptions {
        let _ = writeln!(text, "Assumed {}: {}", assumed.key, assumed.value);
    }
    for idea in &talk.ideas {
        let _ = writeln!(text, "Idea: {idea}");
    }
    let _ = writeln!(text, "Policy: {}", policy_words(talk));
    text
}

/// What the outline should be, with everything that a redraft must meet.
pub(super) fn outline_prompt(
    talk: &PlanningSlice,
    known: &PlanContext,
    choice: &PatternChoice,
) -> String {
    let mut text = context_prompt(talk, known);
    let subtype = choice.pattern.subtype.as_deref().unwrap_or("none");
    let _ = writeln!(text, "Pattern: {} / {subtype}", choice.pattern.pattern_type);
    if let Some(before) = talk.outline.as_deref() {
        text.push_str("The outline so far; keep the ids of what stays:\n");
        text.push_str(&list_outline(before));
    }
    for request in &talk.change_requests {
        let nodes: Vec<&str> =
            request.nodes.iter().map(planwright_model::ids::TaskId::as_str).collect();
        let about =
            if nodes.is_empty() { String::new() } else { format!(" (only {})", nodes.join(", ")) };
        let _ = writeln!(text, "The person asks{about}: <wish>{}</wish>", request.text);
    }
    for node in &talk.locked {
        let _ = writeln!(text, "Locked, must stay exactly as it is: {node}");
    }
    if let Some(judgement) = talk.judgements.get(&Stage::Outline)
        && talk.counters.stage_retries(Stage::Outline) > 0
    {
        for found in &judgement.violations {
            let _ = writeln!(
                text,
                "Broken rule {}: {} {}",
                found.rule, found.message, found.suggested_fix
            );
        }
    }
    text.push_str("Draft it by calling NodeGenerator.\n");
    text
}

/// Estimates and links are asked for by id.
pub(super) fn roadmap_prompt(talk: &PlanningSlice, base: &Roadmap) -> String {
    let mut text = String::new();
    if let Some(known) = talk.context.as_deref() {
        text.push_str(&context_prompt(talk, known));
    }
    text.push_str("Leaves, with the built-in estimate in minutes:\n");
    let tree = base.node_tree();
    for leaf in tree.leaves(&base.root_id) {
        let _ = writeln!(text, "{} | {} | {}", leaf.id, leaf.title, leaf.work_minutes());
    }
    text.push_str("Links so far (from -> to, kind):\n");
    for link in &base.dependencies {
        let _ = writeln!(text, "{} -> {} {:?}", link.from, link.to, link.kind);
    }
    if let Some(judgement) = talk.judgements.get(&Stage::Roadmap)
        && talk.counters.stage_retries(Stage::Roadmap) > 0
    {
        for found in &judgement.violations {
            let _ = writeln!(
                text,
                "Broken rule {}: {} {}",
                found.rule, found.message, found.suggested_fix
            );
        }
    }
    text.push_str("Give better estimates and missing links by calling RoadmapBuilder.\n");
    text
}

fn list_outline(outline: &PlanOutline) -> String {
    let mut text = String::new();
    for node in &outline.nodes {
        let indent = "  ".repeat(usize::from(node.level));
        let _ = writeln!(text, "{indent}{} [{}] {}", node.id, node.node_type.as_str(), node.title);
    }
    text
}
