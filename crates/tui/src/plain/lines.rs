//! Facts as lines: times lead, titles name the task, numbers keep their unit. Pure.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::clock::format_time_of_day;
use crate::plan_text::{PlanRowKind, PrintedLine, fact_rows, plan_rows};
use planwright_model::event::{
    AgentEvent, ApprovalEvent, Event, PlanEvent, PlanningEvent, Record, SessionEvent,
};
use planwright_model::{ApprovalTarget, ChoiceAction, Request, RequestKind};
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
pub(super) fn entry_line(entry: &TraceEntry, state: &SessionState, zone: &TimeZone) -> String {
    let at = format_time_of_day(entry.at, zone);
    let kind = entry.kind.label();
    let text = entry.text.as_str();
    // A line that begins with the word of its kind does not have it twice.
    let said =
        if entry.text_after_label() == text { format!("{kind}: {text}") } else { text.to_owned() };
    match &entry.task {
        Some(task) => format!("[{at}] {}, {said}", state.title_by_id(task)),
        None => format!("[{at}] {said}"),
    }
}

/// That a model is waited for while planning, each time it is reported: ever more seldom.
pub(super) fn waiting_line(
    record: &Record,
    state: &SessionState,
    zone: &TimeZone,
) -> Option<String> {
    let Event::Agent(AgentEvent::ModelWaiting { task: None, .. }) = &record.event else {
        return None;
    };
    let wait = state.waits.of_planning()?.describe(record.at);
    Some(format!("[{}] {wait}", format_time_of_day(record.at, zone)))
}

/// All that a request says, and the words that answer it. A plan that it asks about is printed before.
pub(super) fn request_lines(request: &Request, state: &SessionState) -> Vec<PrintedLine> {
    let fact = |text: String| PrintedLine::Fact(text);
    let plan = asks_about_rows(&request.kind);
    let mut lines = Vec::new();
    if !plan {
        lines.extend(quoted_lines(request));
        for detail in &request.details {
            let text = clean_text(&detail.text).replace('\n', " ");
            lines.push(fact(format!("{}: {}.", detail.label, text.trim_end_matches('.'))));
        }
    }
    let why = request.why.trim_end_matches('.');
    if matches!(request.kind, RequestKind::Permission { .. }) && !why.is_empty() {
        lines.push(fact(format!("Why asked: {why}.")));
    }
    let open = &state.requests.open;
    let number = open.keys().position(|id| *id == request.id).unwrap_or(0) + 1;
    let order = match open.len() {
        0 | 1 => String::new(),
        count => format!("Request {number} of {count}: "),
    };
    lines.push(fact(format!("{order}{}", request.question)));
    if !matches!(request.kind, RequestKind::Permission { .. }) && !why.is_empty() {
        lines.push(fact(format!("  {why}.")));
    }
    for choice in &request.choices {
        match choice.unavailable.as_deref() {
            Some(why) => lines.push(fact(format!("  Not possible: {}: {why}.", choice.label))),
            None if plan => {}
            None => {
                let words = super::line_meaning::choice_phrase(choice);
                let effect = choice.consequence.trim_end_matches('.');
                let effect = if effect.is_empty() { String::new() } else { format!(": {effect}") };
                lines.push(fact(format!("  {words}{effect}.")));
            }
        }
    }
    lines.push(fact(format!("  Choices: {}.", all_phrases(request, state))));
    lines
}

/// Whether a record only says what the program does for itself, or what is printed in full right after it.
pub(super) fn is_machine_step(record: &Record) -> bool {
    match &record.event {
        Event::Planning(event) => matches!(
            event,
            PlanningEvent::Moved { .. }
                | PlanningEvent::PatternPicked { .. }
                | PlanningEvent::OutlineDrafted { .. }
                | PlanningEvent::RoadmapDrafted { .. }
                | PlanningEvent::ScheduleDrafted { .. }
                | PlanningEvent::Judged { .. }
                | PlanningEvent::RequestsReported { .. }
        ),
        Event::Agent(AgentEvent::Gated { .. })
        | Event::Plan(PlanEvent::Proposed { .. })
        | Event::Approval(ApprovalEvent::Asked { .. })
        | Event::Session(SessionEvent::Created { .. }) => true,
        _ => false,
    }
}

/// Whether the rows of a plan are what a request asks about.
pub(super) fn asks_about_rows(kind: &RequestKind) -> bool {
    match kind {
        RequestKind::FinalPlan { .. } | RequestKind::Escalation => true,
        RequestKind::Draft { target, .. } => *target != ApprovalTarget::Pattern,
        _ => false,
    }
}

/// What must be seen byte for byte before saying yes.
fn quoted_lines(request: &Request) -> Vec<PrintedLine> {
    let mut lines = Vec::new();
    for quoted in &request.verbatim {
        lines.push(PrintedLine::Fact(format!("{}, exactly:", clean_line(&quoted.label))));
        let revealed = reveal_hidden(&quoted.text);
        lines.extend(revealed.split('\n').map(|line| PrintedLine::Exact(format!("    {line}"))));
    }
    lines
}

/// The words that answer a request.
pub(super) fn choice_phrases(request: &Request) -> Vec<String> {
    let offered = request.choices.iter().filter(|choice| choice.unavailable.is_none());
    offered
        .filter(|choice| choice.action != ChoiceAction::Edit)
        .map(super::line_meaning::choice_phrase)
        .collect()
}

/// Everything that can be typed at a request, in a sentence.
pub(super) fn all_phrases(request: &Request, state: &SessionState) -> String {
    let mut phrases = choice_phrases(request);
    if asks_about_rows(&request.kind) {
        let rows = plan_rows(state, &TimeZone::UTC);
        let task = rows.iter().find(|row| row.kind == PlanRowKind::Task);
        if let Some(row) = task {
            if state.planning.begun {
                phrases.push(format!("edit {}", row.number));
            }
            phrases.push(format!("show {}", row.number));
        }
        phrases.push("versions".to_owned());
    }
    if state.planning.begun {
        phrases.push("policy".to_owned());
    }
    // What ends it all comes last.
    if let Some(at) = phrases.iter().position(|phrase| phrase == "cancel") {
        phrases.remove(at);
        phrases.push("cancel (discard)".to_owned());
    }
    format!("{}, or help", phrases.join(", "))
}

pub(super) fn status_lines(state: &SessionState) -> Vec<String> {
    let counts = state.tasks.work_counts();
    let mut lines = vec![format!(
        "{}. {} of {} done, {} running, {} yours, {} failed, {} skipped. {} tokens, {}.",
        state.status().label(),
        counts.done,
        counts.total(),
        counts.running,
        counts.yours,
        counts.failed,
        counts.skipped,
        units::format_whole_tokens(state.totals.tokens),
        state.totals.cost
    )];
    let active = state.tasks.iter().filter(|(_, row)| {
        matches!(
            row.status,
            planwright_state::TaskStatus::Running | planwright_state::TaskStatus::Yours
        )
    });
    lines.extend(
        active.map(|(id, row)| format!("{}: {}.", state.title_by_id(id), row.status.label())),
    );
    lines
}

/// The drafts that were proposed, as they were noted while reading.
/// What was said, a line each, with its number.
pub(super) fn fact_lines(state: &SessionState, today: Date) -> Vec<String> {
    let rows = fact_rows(state, today);
    if rows.is_empty() {
        return vec!["Nothing was said yet that a plan has to respect.".to_owned()];
    }
    rows.iter()
        .map(|row| {
            let indent = if row.is_part { "  " } else { "" };
            let note = row.note().replace(" – ", " to ");
            format!("{indent}{} {}, \"{}\": {note}.", row.id, row.source, row.text)
        })
        .collect()
}

pub(super) fn version_lines(versions: &[PlanVersion], zone: &TimeZone, today: Date) -> Vec<String> {
    if versions.is_empty() {
        return vec!["There is no draft yet.".to_owned()];
    }
    let line = |version: &PlanVersion| {
        let at = version.at.to_zoned(zone.clone()).datetime();
        let tasks = units::format_counted(version.tasks, "task");
        let when = planwright_text::dates::format_near_date_time(at, today);
        format!("Draft {}: {tasks}, {when}.", version.number)
    };
    versions.iter().map(line).collect()
}

/// A draft that was proposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanVersion {
    pub(super) number: u32,
    pub(super) tasks: usize,
    pub(super) at: Timestamp,
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
        let lines: Vec<String> = request_lines(request, &state)
            .iter()
            .flat_map(|line| wrap_fact(line.as_str()))
            .collect();
        insta::assert_snapshot!("plain_final_plan", lines.join("\n"));
    }

    #[test]
    fn no_line_is_too_wide_or_has_what_a_screen_reader_stumbles_over() {
        for (name, fixture) in every_request() {
            let state = fixture.state();
            let request = &state.requests.oldest_open().unwrap().request;
            for line in
                request_lines(request, &state).iter().flat_map(|line| wrap_fact(line.as_str()))
            {
                assert!(planwright_text::display_width(&line) <= WIDTH, "{name}: {line}");
                assert!(!line.chars().any(|letter| "━─│┃✓✗►".contains(letter)), "{name}: {line}");
            }
        }
    }
}
