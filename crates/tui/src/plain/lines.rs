//! Facts as lines: times lead, ids precede titles, numbers keep their unit. Pure.

use jiff::tz::TimeZone;

use crate::clock::format_time_of_day;
use planwright_model::{Request, RequestKind, Stage};
use planwright_plan::confidence::ConfidenceSettings;
use planwright_state::SessionState;
use planwright_state::trace::TraceEntry;
use planwright_text::{clean_line, clean_text, reveal_hidden, units, wrap_words};

/// The widest line.
const WIDTH: usize = 80;

/// A fact, wrapped; further lines are indented.
pub(super) fn wrap_fact(text: &str) -> Vec<String> {
    let clean = clean_line(text);
    wrap_words(&clean, WIDTH, 2).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// A step of the session.
pub(super) fn entry_line(entry: &TraceEntry, zone: &TimeZone) -> String {
    let at = format_time_of_day(entry.at, zone);
    let kind = entry.kind.label();
    match &entry.task {
        Some(task) => format!("[{at}] Task {task}, {kind}: {}", entry.text),
        None => format!("[{at}] {kind}: {}", entry.text),
    }
}

/// All that a request says, and the words that answer it.
pub(super) fn request_lines(request: &Request, state: &SessionState) -> Vec<String> {
    let open = &state.requests.open;
    let number = open.keys().position(|id| *id == request.id).unwrap_or(0) + 1;
    let mut lines = vec![format!("Request {number} of {}: {}", open.len(), request.question)];
    if !request.why.is_empty() {
        lines.push(format!("  Why: {}.", request.why.trim_end_matches('.')));
    }
    if let (RequestKind::FinalPlan { hash, revision }, Some(plan)) =
        (&request.kind, &state.plan.current)
    {
        lines.push(format!("  Final plan, revision {revision}, hash {}.", hash.short_hex()));
        let path = &plan.facts.critical_path;
        let minutes: Option<u64> = plan
            .plan
            .tasks
            .iter()
            .filter(|task| path.contains(&task.id))
            .map(|task| task.duration_minutes.map(u64::from))
            .sum();
        let length = minutes.map(|minutes| format!(", {}", units::format_planned(minutes)));
        lines.push(format!(
            "  Tasks {}. Start at once: {}. Critical path: {}{}.",
            plan.plan.tasks.len(),
            plan.facts.root_tasks.len(),
            units::format_counted(path.len(), "task"),
            length.unwrap_or_default()
        ));
    }
    lines.extend(confidence_line(request, state));
    for quoted in &request.verbatim {
        lines.push(format!("  {}: {}", quoted.label, reveal_hidden(&quoted.text)));
    }
    for detail in &request.details {
        lines.push(format!("  {}: {}", detail.label, clean_text(&detail.text).replace('\n', " ")));
    }
    for choice in request.choices.iter().filter(|choice| choice.unavailable.is_some()) {
        let why = choice.unavailable.as_deref().unwrap_or_default();
        lines.push(format!("  Not possible: {}: {why}", choice.label));
    }
    lines.push(format!("  Choices: {}.", choice_phrases(request).join(", ")));
    lines
}

/// The commands that approving a plan allows, byte for byte and with everything that hides made visible.
pub(super) fn command_lines(request: &Request, state: &SessionState) -> Vec<String> {
    let commands = match request.kind {
        RequestKind::FinalPlan { .. } => state.planned_commands(),
        _ => Vec::new(),
    };
    if commands.is_empty() {
        return Vec::new();
    }
    let place = clean_line(&state.session.workspace).into_owned();
    let mut lines = vec![format!("Commands of this plan, to be run in {place}:")];
    for planned in commands {
        let by = if planned.is_drafted { ", written by a model" } else { "" };
        lines.push(format!("  Task {}{by}:", clean_line(planned.task.as_str())));
        lines.extend(reveal_hidden(planned.command).split('\n').map(|line| format!("    {line}")));
    }
    lines
}

/// The words that answer a request.
pub(super) fn choice_phrases(request: &Request) -> Vec<String> {
    let offered = request.choices.iter().filter(|choice| choice.unavailable.is_none());
    offered.map(super::line_meaning::choice_phrase).collect()
}

fn confidence_line(request: &Request, state: &SessionState) -> Option<String> {
    let stage = match &request.kind {
        RequestKind::FinalPlan { .. } => Stage::Schedule,
        RequestKind::LowConfidence { stage } | RequestKind::Validation { stage } => *stage,
        _ => return None,
    };
    let confidence = &state.planning.judgements.get(&stage)?.confidence;
    let settings = ConfidenceSettings::default();
    let weights = settings.confidence_weights;
    let parts = match confidence.self_score {
        Some(score) => format!(
            "model {score:.2} times {:.2}, rules {:.2} times {:.2}, checks {:.2} times {:.2}",
            weights.self_score,
            confidence.rules,
            weights.rules,
            confidence.heuristics,
            weights.heuristics
        ),
        None => format!(
            "rules {:.2} times {:.2}, checks {:.2} times {:.2}",
            confidence.rules,
            weights.offline_rules,
            confidence.heuristics,
            weights.offline_heuristics
        ),
    };
    Some(format!(
        "  Confidence {:.2}, needed {:.2}: {parts}.",
        confidence.value, settings.confidence_continue
    ))
}

pub(super) fn status_lines(state: &SessionState) -> Vec<String> {
    let counts = state.tasks.status_counts();
    let mut lines = vec![format!(
        "{}. {} of {} done, {} running, {} yours, {} failed, {} skipped. {} tokens, cost {}.",
        state.status().label(),
        counts.done,
        counts.total(),
        counts.running,
        counts.yours,
        counts.failed,
        counts.skipped,
        units::format_count(state.totals.tokens),
        state.totals.cost
    )];
    let active = state.tasks.iter().filter(|(_, row)| {
        matches!(
            row.status,
            planwright_state::TaskStatus::Running | planwright_state::TaskStatus::Yours
        )
    });
    lines.extend(active.map(|(id, row)| format!("Task {id}: {}.", row.status.label())));
    lines
}

pub(super) fn task_lines(state: &SessionState) -> Vec<String> {
    let Some(plan) = &state.plan.current else { return vec!["There is no plan yet.".to_owned()] };
    let line =
        |(task, (_, row)): (&planwright_model::TaskNode, (_, &planwright_state::TaskRow))| {
            let minutes = task
                .duration_minutes
                .map(|minutes| format!(", {}", units::format_planned(minutes.into())));
            let needs: Vec<&str> =
                task.dependencies.iter().map(|link| link.task.as_str()).collect();
            let needs = if needs.is_empty() {
                String::new()
            } else {
                format!(", needs {}", needs.join(" and "))
            };
            format!(
                "Task {}, {}: {}{}{needs}.",
                task.id,
                task.description,
                row.status.label(),
                minutes.unwrap_or_default()
            )
        };
    plan.plan.tasks.iter().zip(state.tasks.iter()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;
    use crate::tests::journals::every_request;

    #[test]
    fn a_request_reads_as_lines() {
        let state = Fixture::release().state();
        let request = &state.requests.oldest_open().unwrap().request;
        let lines: Vec<String> =
            request_lines(request, &state).iter().flat_map(|line| wrap_fact(line)).collect();
        insta::assert_snapshot!("plain_final_plan", lines.join("\n"));
    }

    #[test]
    fn no_line_is_too_wide_or_has_what_a_screen_reader_stumbles_over() {
        for (name, fixture) in every_request() {
            let state = fixture.state();
            let request = &state.requests.oldest_open().unwrap().request;
            for line in request_lines(request, &state).iter().flat_map(|line| wrap_fact(line)) {
                assert!(planwright_text::display_width(&line) <= WIDTH, "{name}: {line}");
                assert!(!line.chars().any(|letter| "━─│┃✓✗►".contains(letter)), "{name}: {line}");
            }
        }
    }
}
