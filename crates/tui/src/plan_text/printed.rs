//! A plan as printed lines: every row with what makes it done, every command exactly as it will run, every fact. What
//! plain mode and headless runs print before they ask.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{
    DraftComparison, PlanFactSource, PlanRowChange, PlanRowKind, PlanTextRow, compare_rows,
    describe_row_change, is_group_row, plan_facts, plan_rows,
};
use planwright_model::{AssumptionOrigin, TaskId};
use planwright_state::SessionState;
use planwright_text::units::{format_counted, format_planned};
use planwright_text::{clean_line, reveal_hidden};

/// One printed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedLine {
    /// A fact, which may be wrapped.
    Fact(String),
    /// A line of a command, byte for byte; it is not wrapped, which would drop spaces.
    Exact(String),
}

impl PrintedLine {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Fact(text) | Self::Exact(text) => text,
        }
    }
}

/// The plan or draft of a session with its facts. Where `before` was printed already, only what changed follows, moved
/// dates first. A plan that was printed without dates is printed whole again with them.
pub fn printed_plan(
    state: &SessionState,
    before: Option<&[PlanTextRow]>,
    zone: &TimeZone,
    today: Date,
) -> Vec<PrintedLine> {
    let rows = plan_rows(state, zone);
    if rows.is_empty() {
        return Vec::new();
    }
    let is_dated = |rows: &[PlanTextRow]| rows.iter().any(|row| row.days.is_some());
    let known = before.filter(|before| !before.is_empty() && is_dated(before) == is_dated(&rows));
    let changes = known.map(|before| compare_rows(before, &rows));
    let mut lines = if let Some(changes) = &changes {
        printed_changes(state, changes, &rows, today)
    } else {
        let mut lines = vec![PrintedLine::Fact(plan_heading(state, &rows))];
        let phases = rows.iter().filter(|row| is_phase(row) && row.depth == 0).count();
        lines.extend(rows.iter().flat_map(|row| printed_row(row, phases, today)));
        lines
    };
    let planning = &state.planning;
    let policy =
        if planning.begun { crate::policy_dials::policy_line(planning) } else { String::new() };
    let source =
        PlanFactSource { state, rows: &rows, changes: changes.as_ref(), policy: &policy, today };
    // What changed stands above, row by row.
    let facts = plan_facts(source).into_iter().filter(|fact| fact.label != "Changed");
    lines.extend(facts.map(|fact| {
        let text = words_for_lines(&fact.text);
        let text = text.trim_end_matches('.');
        PrintedLine::Fact(match fact.label {
            "" => format!("{text}."),
            label => format!("{label}: {text}."),
        })
    }));
    if changes.is_none() && has_assumed_hours(state) {
        lines.push(PrintedLine::Fact(HOURS_COMMAND.to_owned()));
    }
    lines
}

/// How hours are said once for all plans where nothing is asked.
const HOURS_COMMAND: &str =
    "Your own hours, for all plans: planwright config set me.hours \"evenings and Saturdays\".";

fn has_assumed_hours(state: &SessionState) -> bool {
    let context = state.planning.context.as_deref();
    let found = context.and_then(|context| context.find_assumption("working"));
    found.is_some_and(|found| found.origin == AssumptionOrigin::Template)
}

/// One row with everything there is to know about it.
pub fn printed_row_by_number(
    state: &SessionState,
    number: &str,
    zone: &TimeZone,
    today: Date,
) -> Option<Vec<PrintedLine>> {
    let rows = plan_rows(state, zone);
    let row = rows.iter().find(|row| row.number == number)?;
    let phases = rows.iter().filter(|row| is_phase(row) && row.depth == 0).count();
    Some(printed_row(row, phases, today))
}

/// The task or phase with a number of the printed plan, such as `2.1`.
pub fn row_id_by_number(state: &SessionState, number: &str, zone: &TimeZone) -> Option<TaskId> {
    plan_rows(state, zone).into_iter().find(|row| row.number == number).map(|row| row.id)
}

fn is_phase(row: &PlanTextRow) -> bool {
    row.kind == PlanRowKind::Phase
}

fn plan_heading(state: &SessionState, rows: &[PlanTextRow]) -> String {
    let tasks = rows.iter().filter(|row| row.kind == PlanRowKind::Task);
    let own: u64 =
        tasks.clone().filter(|row| row.is_yours).filter_map(|row| row.minutes).map(u64::from).sum();
    let mut parts = vec![format_counted(tasks.count(), "task")];
    let phases: Vec<&PlanTextRow> =
        rows.iter().filter(|row| is_phase(row) && row.depth == 0).collect();
    if let Some(first) = phases.first() {
        let word = if is_group_row(&first.id) { "group" } else { "phase" };
        parts[0] = format!("{} in {}", parts[0], format_counted(phases.len(), word));
    }
    if own > 0 {
        parts.push(format!("{} of your time", format_planned(own)));
    }
    let name = draft_name(state);
    format!("{name}: {}.", parts.join(", "))
}

/// `Draft 2` of a plan that is drafted, else the title of the plan.
fn draft_name(state: &SessionState) -> String {
    let planning = &state.planning;
    match (&state.plan.current, planning.begun) {
        (Some(_), true) => format!("Draft {}", state.draft_number()),
        (Some(current), false) => format!("Plan {}", clean_line(&current.plan.title)),
        (None, _) => "Draft".to_owned(),
    }
}

/// A row, then what makes it done, what it waits for, its command and the remarks on it.
fn printed_row(row: &PlanTextRow, phases: usize, today: Date) -> Vec<PrintedLine> {
    let indent = " ".repeat(2 * row.depth);
    let days = row.when_text(today);
    let facts: Vec<String> =
        [capitalize(&row.who), row.time_text(), row.cost_text(), words_for_lines(&days)]
            .into_iter()
            .filter(|fact| !fact.is_empty())
            .collect();
    let facts = facts.join(", ");
    let ending = if facts.is_empty() { String::new() } else { format!(" {facts}.") };
    let mut head = match row.kind {
        PlanRowKind::Phase if is_group_row(&row.id) => {
            let facts = if facts.is_empty() { facts } else { format!(": {facts}") };
            format!("{} Group {}{facts}.", row.number, row.title)
        }
        PlanRowKind::Phase if row.depth == 0 && facts.is_empty() => {
            format!("Phase {} of {phases}, {}.", row.number, row.title)
        }
        PlanRowKind::Phase if row.depth == 0 => {
            format!("Phase {} of {phases}, {}: {facts}.", row.number, row.title)
        }
        PlanRowKind::Milestone => {
            format!("{indent}{} Milestone: {}{ending}", row.number, end_sentence(&row.title))
        }
        _ => format!("{indent}{} {}{ending}", row.number, end_sentence(&row.title)),
    };
    let mut lines = Vec::new();
    if row.is_locked {
        head.push_str(" Locked.");
    }
    if row.command.is_some() {
        head.push_str(" Runs exactly:");
    }
    lines.push(PrintedLine::Fact(head));
    if let Some(command) = &row.command {
        let revealed = reveal_hidden(command);
        lines.extend(
            revealed.split('\n').map(|line| PrintedLine::Exact(format!("{indent}      {line}"))),
        );
    }
    lines.extend(printed_settings(row, &indent));
    lines.extend(printed_checks(row, &indent));
    for text in [row.done_when_text(), row.after_text()] {
        if !text.is_empty() {
            let text = capitalize(&end_sentence(&text));
            lines.push(PrintedLine::Fact(format!("{indent}    {text}")));
        }
    }
    for comment in &row.comments {
        let fate =
            if comment.fate.is_empty() { String::new() } else { format!(" {}.", comment.fate) };
        lines.push(PrintedLine::Fact(format!("{indent}    You: \"{}\".{fate}", comment.text)));
    }
    lines
}

/// What the command of a row runs with, as it is.
fn printed_settings(row: &PlanTextRow, indent: &str) -> Vec<PrintedLine> {
    let lines = row.settings.iter().map(|setting| reveal_hidden(setting).replace('\n', "\\n"));
    lines.map(|line| PrintedLine::Exact(format!("{indent}      ({line})"))).collect()
}

/// The commands that tell whether a row is done, as they will run.
fn printed_checks(row: &PlanTextRow, indent: &str) -> Vec<PrintedLine> {
    let mut lines = Vec::new();
    for check in &row.checks {
        lines.push(PrintedLine::Fact(format!(
            "{indent}    {} is checked with exactly:",
            row.number
        )));
        let revealed = reveal_hidden(check);
        let exact = revealed.split('\n');
        lines.extend(exact.map(|line| PrintedLine::Exact(format!("{indent}      {line}"))));
    }
    lines
}

/// What changed since the draft before: the end first, then moved rows, then the others, with every command that is
/// new or different.
fn printed_changes(
    state: &SessionState,
    changes: &DraftComparison,
    rows: &[PlanTextRow],
    today: Date,
) -> Vec<PrintedLine> {
    let counts = PlanRowChange::ALL.into_iter().filter(|kind| changes.count(*kind) > 0);
    let mut counts: Vec<String> =
        counts.map(|kind| format!("{} {}", changes.count(kind), kind.word())).collect();
    let same = rows.iter().filter(|row| !changes.kinds.contains_key(&row.id)).count();
    counts.push(format!("{same} unchanged"));
    let end = rows.iter().filter_map(|row| row.days).map(|days| days.last).max();
    let day = |date| planwright_text::dates::format_date(date, today);
    let end = match (changes.end_before, end) {
        (Some(was), Some(now)) if was != now => format!(" Ends {}, was {}.", day(now), day(was)),
        _ => String::new(),
    };
    let mut lines =
        vec![PrintedLine::Fact(format!("{}: {}.{end}", draft_name(state), counts.join(", ")))];
    let order = [PlanRowChange::Moved, PlanRowChange::Added, PlanRowChange::Changed];
    for kind in order {
        for row in rows.iter().filter(|row| changes.kinds.get(&row.id) == Some(&kind)) {
            let was = changes.before.get(&row.id);
            let text = words_for_lines(&describe_row_change(kind, was, row, today));
            lines.push(PrintedLine::Fact(format!("  {text}")));
            let command = row.command.as_ref();
            if command.is_some() && command != was.and_then(|was| was.command.as_ref()) {
                lines.push(PrintedLine::Fact(format!("  {} runs exactly:", row.number)));
                let revealed = reveal_hidden(row.command.as_deref().unwrap_or_default());
                let exact =
                    revealed.split('\n').map(|line| PrintedLine::Exact(format!("      {line}")));
                lines.extend(exact);
            }
            if was.is_none_or(|was| was.settings != row.settings) {
                lines.extend(printed_settings(row, ""));
            }
            if was.is_none_or(|was| was.checks != row.checks) {
                lines.extend(printed_checks(row, ""));
            }
        }
    }
    for (_, row) in &changes.removed {
        lines.push(PrintedLine::Fact(format!("  Removed {} {}.", row.number, row.title)));
    }
    lines
}

/// A text without the signs that a screen reader spells out.
fn words_for_lines(text: &str) -> String {
    text.replace(" – ", " to ").replace(" → ", ", now ").replace('›', ",").replace(" · ", ", ")
}

/// A text with the sign that ends a sentence.
fn end_sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;
    use crate::tests::planned;
    use jiff::civil::date;

    fn printed(state: &SessionState) -> String {
        let lines = printed_plan(state, None, &TimeZone::UTC, date(2026, 6, 8));
        lines.iter().map(|line| line.as_str().to_owned() + "\n").collect()
    }

    #[test]
    fn every_title_and_every_command_is_printed() {
        for state in [Fixture::release().state(), planned::scheduled().state()] {
            let text = printed(&state);
            for row in plan_rows(&state, &TimeZone::UTC) {
                assert!(text.contains(row.title.trim_end_matches('.')), "{}\n{text}", row.title);
                for line in
                    row.command.iter().chain(&row.checks).flat_map(|command| command.lines())
                {
                    assert!(
                        text.lines().any(|printed| printed.trim_start() == line),
                        "{line}\n{text}"
                    );
                }
            }
            assert!(!text.chars().any(|letter| "━─│┃✓✗►→–›·".contains(letter)), "{text}");
        }
    }

    #[test]
    fn a_printed_plan_reads_as_lines() {
        insta::assert_snapshot!("printed_plan", printed(&planned::scheduled().state()));
        insta::assert_snapshot!("printed_plan_file", printed(&Fixture::release().state()));
    }

    #[test]
    fn of_a_revised_draft_the_moved_dates_come_first() {
        let state = planned::scheduled().state();
        let zone = TimeZone::UTC;
        let mut before = plan_rows(&state, &zone);
        let tasks: Vec<usize> =
            (0..before.len()).filter(|at| before[*at].kind == PlanRowKind::Task).collect();
        before[tasks[0]].title = "Something else".to_owned();
        let days = before[tasks[1]].days.unwrap();
        let first = days.first.yesterday().unwrap();
        before[tasks[1]].days = Some(crate::plan_text::DaySpan { first, ..days });
        let lines = printed_plan(&state, Some(&before), &zone, date(2026, 6, 8));
        assert!(lines[1].as_str().starts_with("  Moved "), "{lines:#?}");
        assert!(lines[2].as_str().starts_with("  Changed "), "{lines:#?}");
    }

    #[test]
    fn a_plan_that_gets_its_dates_is_printed_whole_again() {
        let state = planned::scheduled().state();
        let zone = TimeZone::UTC;
        let mut before = plan_rows(&state, &zone);
        for row in &mut before {
            (row.days, row.start) = (None, None);
        }
        let today = date(2026, 6, 8);
        let lines = printed_plan(&state, Some(&before), &zone, today);
        assert_eq!(lines, printed_plan(&state, None, &zone, today));
    }
}
