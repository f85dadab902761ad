//! What stands under a request for changes while it is typed: what was understood and what follows from it, what was
//! not, what stays, and what it costs. Made when the text changes, not when it is drawn.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::plan_text::{PlanTextRow, describe_edit, preview_changes};
use crate::theme::ThemeRole;
use planwright_drafting::change_requests::{ParsedChangeRequest, parse_change_request};
use planwright_model::{Stage, TaskId};
use planwright_state::SessionState;
use planwright_text::clean_line;
use planwright_text::units::format_counted;

/// A line under the box: a label, what was said, what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestReadingLine {
    pub(crate) label: &'static str,
    pub(crate) said: String,
    pub(crate) effect: String,
    pub(crate) role: ThemeRole,
}

impl RequestReadingLine {
    fn new(label: &'static str, said: impl Into<String>, effect: impl Into<String>) -> Self {
        Self { label, said: said.into(), effect: effect.into(), role: ThemeRole::Text }
    }
}

/// What a request is read against.
#[derive(Clone, Copy)]
pub(crate) struct RequestReadSource<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) rows: &'a [PlanTextRow],
    /// The rows that the request is limited to; none for the whole plan.
    pub(crate) marked: &'a [TaskId],
    pub(crate) zone: &'a TimeZone,
    pub(crate) today: Date,
}

/// Reads a request as the planner would.
pub(crate) fn read_request(
    words: &str,
    stage: Option<Stage>,
    source: RequestReadSource<'_>,
) -> Vec<RequestReadingLine> {
    let planning = &source.state.planning;
    let mut lines = Vec::new();
    if let (Some(outline), false) = (planning.outline.as_deref(), words.is_empty()) {
        if planning.offline {
            let roadmap = planning.roadmap.as_deref();
            let read = parse_change_request(words, outline, roadmap, source.marked, source.today);
            push_understood(&mut lines, &read, source);
            push_unclear(&mut lines, &read);
        } else {
            let drafter = clean_line(planning.drafter.as_str()).into_owned();
            lines.push(RequestReadingLine::new("Understood", format!("{drafter} reads it"), ""));
        }
    }
    push_locked(&mut lines, source);
    if let Some(stage) = stage {
        let from = match stage {
            Stage::Outline => "the outline: structure may change",
            Stage::Roadmap => "the estimates: times and order may change",
            Stage::Schedule => "the dates: only hours and days change",
        };
        lines.push(RequestReadingLine::new("Redrafts", from, ""));
    }
    let cost = if planning.offline || !planning.begun {
        "nothing: the built-in planner redrafts the plan".to_owned()
    } else {
        format!("one more draft; {} spent so far", source.state.totals.cost)
    };
    lines.push(RequestReadingLine {
        role: ThemeRole::Dim,
        ..RequestReadingLine::new("Cost", cost, "")
    });
    let mut last = "";
    for line in &mut lines {
        if line.label == last {
            line.label = "";
        } else {
            last = line.label;
        }
    }
    lines
}

fn push_understood(
    lines: &mut Vec<RequestReadingLine>,
    read: &ParsedChangeRequest,
    source: RequestReadSource<'_>,
) {
    const LABEL: &str = "Understood";
    for change in &read.context {
        lines.push(RequestReadingLine::new(LABEL, change.to_string(), ""));
    }
    for edit in &read.edits {
        let (said, effect) = describe_edit(edit, source.rows);
        lines.push(RequestReadingLine::new(LABEL, said, effect));
    }
    if let Some((_, said)) = &read.approach {
        let said = clean_line(said).into_owned();
        lines.push(RequestReadingLine::new(LABEL, said, "another version of the plan"));
    }
    if lines.is_empty() {
        return;
    }
    let preview =
        preview_changes(source.state, &read.edits, &read.context, source.zone, source.today);
    match preview {
        Ok(effect) if effect.is_empty() || read.approach.is_some() => {}
        // What follows from hours and dates stands beside them; else it closes the list.
        Ok(effect) if lines[0].effect.is_empty() => lines[0].effect = effect,
        Ok(effect) => lines.push(RequestReadingLine::new(LABEL, "in all", effect)),
        Err(why) => lines.push(RequestReadingLine {
            role: ThemeRole::Failed,
            ..RequestReadingLine::new("Not possible", why, "")
        }),
    }
}

fn push_unclear(lines: &mut Vec<RequestReadingLine>, read: &ParsedChangeRequest) {
    for words in &read.unread {
        lines.push(RequestReadingLine {
            role: ThemeRole::Warn,
            ..RequestReadingLine::new(
                "Unclear",
                clean_line(words).into_owned(),
                "kept as a comment; a model could act on it",
            )
        });
    }
}

fn push_locked(lines: &mut Vec<RequestReadingLine>, source: RequestReadSource<'_>) {
    let locked: Vec<&str> =
        source.rows.iter().filter(|row| row.is_locked).map(|row| row.title.as_str()).collect();
    let said = match locked.as_slice() {
        [] => return,
        [one] => format!("{one} stays as it is"),
        more => format!("{} stay as they are", format_counted(more.len(), "row")),
    };
    lines.push(RequestReadingLine {
        role: ThemeRole::Dim,
        ..RequestReadingLine::new("Locked", said, "")
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::plan_rows;
    use crate::tests::planned;

    #[test]
    fn what_was_understood_and_what_was_not_stand_apart() {
        let mut state = planned::scheduled().state();
        state.planning.offline = true;
        let zone = TimeZone::UTC;
        let rows = plan_rows(&state, &zone);
        let today = jiff::civil::date(2026, 6, 8);
        let source =
            RequestReadSource { state: &state, rows: &rows, marked: &[], zone: &zone, today };
        let lines = read_request("only on weekends, and xyzzy the plugh", None, source);
        let labels: Vec<&str> = lines.iter().map(|line| line.label).collect();
        assert_eq!(labels, ["Understood", "Unclear", "Cost"]);
        assert!(lines[0].effect.contains("the plan"), "{lines:#?}");
        assert_eq!(read_request("", None, source).len(), 1);
    }
}
