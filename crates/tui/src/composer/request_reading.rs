//! What stands under a request for changes while it is typed: what was understood and what follows from it, what was
//! not, what stays, and what it costs. Made when the text changes, not when it is drawn.

use jiff::civil::Date;

use crate::plan_text::{PlanTextRow, PreviewSource, describe_edit, preview_changes};
use crate::theme::ThemeRole;
use planwright_drafting::change_requests::{
    ChangeRequestSource, ContextChange, ParsedChangeRequest, RequestedChange, parse_change_request,
};
use planwright_model::{PlanEdit, PlanOutline, Stage, TaskId};
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
    /// The plan, and around what it is planned.
    pub(crate) preview: PreviewSource<'a>,
    pub(crate) rows: &'a [PlanTextRow],
    /// The rows that the request is limited to; none for the whole plan.
    pub(crate) marked: &'a [TaskId],
    pub(crate) today: Date,
}

/// Reads a request as the planner would.
pub(crate) fn read_request(
    words: &str,
    stage: Option<Stage>,
    source: RequestReadSource<'_>,
) -> Vec<RequestReadingLine> {
    let planning = &source.preview.state.planning;
    let mut lines = Vec::new();
    if let (Some(outline), false) = (planning.outline.as_deref(), words.is_empty()) {
        if planning.offline {
            let read = parse_change_request(words, &read_source(outline, source));
            push_understood(&mut lines, &read, source);
            push_open(&mut lines, &read);
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
        format!("one more draft; {} spent so far", source.preview.state.totals.cost)
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

fn read_source<'a>(
    outline: &'a PlanOutline,
    source: RequestReadSource<'a>,
) -> ChangeRequestSource<'a> {
    let planning = &source.preview.state.planning;
    let blocks = planning.schedule.iter().flat_map(|schedule| &schedule.blocks);
    ChangeRequestSource {
        outline,
        roadmap: planning.roadmap.as_deref(),
        planned_end: blocks.map(|block| block.end.local_date()).max(),
        marked: source.marked,
        today: source.today,
    }
}

/// The most rows that one clause has before they are counted.
const CLAUSE_ROWS: usize = 3;

fn push_understood(
    lines: &mut Vec<RequestReadingLine>,
    read: &ParsedChangeRequest,
    source: RequestReadSource<'_>,
) {
    const LABEL: &str = "Understood";
    let mut requests = 0;
    for clause in &read.clauses {
        let words = clean_line(&clause.text).into_owned();
        match &clause.change {
            RequestedChange::Edits(edits) => {
                requests += 1;
                push_edits(lines, edits, source);
                push_effect(lines, (edits, &[]), source);
            }
            RequestedChange::Context(changes) => {
                requests += 1;
                for change in changes {
                    let said = clean_line(&change.describe(source.today)).into_owned();
                    lines.push(RequestReadingLine::new(LABEL, said, ""));
                }
                push_effect(lines, (&[], changes), source);
            }
            RequestedChange::Approach(_) => {
                lines.push(RequestReadingLine::new(LABEL, words, "another version of the plan"));
            }
            RequestedChange::Restatement(restated) => {
                let said = clean_line(&restated.describe()).into_owned();
                lines.push(RequestReadingLine::new(LABEL, said, "the tasks that name it follow"));
            }
            RequestedChange::Kind => {
                lines.push(RequestReadingLine::new(LABEL, words, "another kind of plan"));
            }
            RequestedChange::Undo => {
                let last = source.preview.state.planning.undo.last();
                let effect = last.map_or_else(
                    || "nothing to undo".to_owned(),
                    |undo| format!("undoes {}", clean_line(&undo.what)),
                );
                lines.push(RequestReadingLine::new(LABEL, words, effect));
            }
            RequestedChange::Open(_) => {}
        }
    }
    if requests > 1 {
        let edits: Vec<PlanEdit> = read.edits().cloned().collect();
        let limits: Vec<ContextChange> = read.context_changes().cloned().collect();
        lines.push(RequestReadingLine::new(LABEL, "in all", ""));
        push_effect(lines, (&edits, &limits), source);
    }
}

/// One line for each operation, or one for all where they are many.
fn push_edits(
    lines: &mut Vec<RequestReadingLine>,
    edits: &[PlanEdit],
    source: RequestReadSource<'_>,
) {
    const LABEL: &str = "Understood";
    let estimates = edits.iter().all(|edit| matches!(edit, PlanEdit::SetEstimate { .. }));
    for edit in edits.iter().take(CLAUSE_ROWS) {
        let (said, effect) = describe_edit(edit, source.rows, source.today);
        lines.push(RequestReadingLine::new(LABEL, said, effect));
    }
    let more = edits.len().saturating_sub(CLAUSE_ROWS);
    if more > 0 {
        let said = if estimates { "other time" } else { "and" };
        let effect = format!("{more} more");
        lines.push(RequestReadingLine::new(LABEL, said, effect));
    }
}

/// What follows from a clause for the dates, beside its last line, or that it can't be done.
fn push_effect(
    lines: &mut Vec<RequestReadingLine>,
    (edits, limits): (&[PlanEdit], &[ContextChange]),
    source: RequestReadSource<'_>,
) {
    match preview_changes(source.preview, edits, limits) {
        Ok(effect) if effect.is_empty() => {}
        Ok(effect) => {
            if let Some(last) = lines.last_mut() {
                last.effect = if last.effect.is_empty() {
                    effect
                } else {
                    format!("{}. {effect}", last.effect.trim_end_matches('.'))
                };
            }
        }
        Err(why) => lines.push(RequestReadingLine {
            role: ThemeRole::Failed,
            ..RequestReadingLine::new("Not possible", why, "")
        }),
    }
}

/// What stays open, with the reason where one is known.
fn push_open(lines: &mut Vec<RequestReadingLine>, read: &ParsedChangeRequest) {
    for (words, why) in read.open_clauses() {
        let (label, effect) = match why {
            Some(why) => ("Open", clean_line(&why.to_string()).into_owned()),
            None => ("Unclear", "kept as a comment; a model could act on it".to_owned()),
        };
        lines.push(RequestReadingLine {
            role: ThemeRole::Warn,
            ..RequestReadingLine::new(label, clean_line(words).into_owned(), effect)
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
        let zone = jiff::tz::TimeZone::UTC;
        let rows = plan_rows(&state, &zone);
        let now = "2026-06-08T09:00:00Z".parse().unwrap();
        let preview = PreviewSource { state: &state, others: &[], zone: &zone, now };
        let today = jiff::civil::date(2026, 6, 8);
        let source = RequestReadSource { preview, rows: &rows, marked: &[], today };
        let lines = read_request("only on weekends, and xyzzy the plugh", None, source);
        let labels: Vec<&str> = lines.iter().map(|line| line.label).collect();
        assert_eq!(labels, ["Understood", "Unclear", "Cost"]);
        assert!(lines[0].effect.contains("the plan"), "{lines:#?}");
        assert_eq!(read_request("", None, source).len(), 1);
    }
}
