//! Many ways to ask for the same change. The table is a text, so that a new phrasing is one line.
//!
//! Notation: `add "title" before|after|in node [minutes]`, `remove node`, `rename node "title"`, `time node minutes`, `move
//! node parent position`, `link first second`, `unlink first second`, `split node part|part`, `merge node node "title"`,
//! `assign node name`, `date node field date`, `done node`; limits as they are described to the person; `open: reason`.

use planwright_model::{DateField, NodePlace};

use super::plans::{SamplePlan, TODAY, course_video, house_move, newsletter};
use super::*;

/// The table, read when the test runs.
pub(super) fn read_table() -> Vec<PhrasingRow> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/change_request_phrasings.txt");
    let table = std::fs::read_to_string(path).unwrap();
    let (mut plan, mut wanted) = (String::new(), String::new());
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(name) = line.strip_prefix("@ ") {
            name.clone_into(&mut plan);
        } else if let Some(change) = line.strip_prefix("= ") {
            change.clone_into(&mut wanted);
        } else {
            let (plan, wanted) = (plan.clone(), wanted.clone());
            rows.push(PhrasingRow { plan, wanted, text: line.to_owned() });
        }
    }
    rows
}

/// A way to ask for a change.
pub(super) struct PhrasingRow {
    pub(super) plan: String,
    pub(super) wanted: String,
    pub(super) text: String,
}

pub(super) fn plan_named(name: &str) -> SamplePlan {
    match name {
        "newsletter" => newsletter(),
        "house_move" => house_move(),
        "course_video" => course_video(),
        other => panic!("no plan {other}"),
    }
}

pub(super) fn read_on(plan: &SamplePlan, text: &str) -> ParsedChangeRequest {
    let source = ChangeRequestSource {
        outline: &plan.outline,
        roadmap: Some(&plan.roadmap),
        planned_end: None,
        marked: &[],
        today: TODAY,
    };
    parse_change_request(text, &source)
}

pub(super) fn note_request(read: &ParsedChangeRequest) -> String {
    let notes: Vec<String> =
        read.clauses.iter().map(|clause| note_change(&clause.change)).collect();
    notes.join(" + ")
}

fn note_change(change: &RequestedChange) -> String {
    let all = |notes: Vec<String>| notes.join(" + ");
    match change {
        RequestedChange::Edits(edits) => all(edits.iter().map(note_edit).collect()),
        RequestedChange::Context(changes) => {
            all(changes.iter().map(|change| change.describe(TODAY)).collect())
        }
        RequestedChange::Approach(approach) => format!("option {}", approach.id()),
        RequestedChange::Restatement(restated) => format!("goal: {}", restated.goal),
        RequestedChange::Kind => "kind".to_owned(),
        RequestedChange::Undo => "undo".to_owned(),
        RequestedChange::Open(Some(why)) => format!("open: {why}"),
        RequestedChange::Open(None) => "open".to_owned(),
    }
}

fn note_edit(edit: &PlanEdit) -> String {
    match edit {
        PlanEdit::Insert { place, fields, .. } => {
            let word = match place {
                NodePlace::Before(_) => "before",
                NodePlace::After(_) => "after",
                NodePlace::Under(_) => "in",
            };
            let time = fields.minutes.map(|minutes| format!(" {minutes}")).unwrap_or_default();
            let title = fields.title.as_deref().unwrap_or_default();
            format!("add \"{title}\" {word} {}{time}", place.node())
        }
        PlanEdit::Remove { node } => format!("remove {node}"),
        PlanEdit::Rename { node, title } => format!("rename {node} \"{title}\""),
        PlanEdit::SetEstimate { node, minutes } => format!("time {node} {minutes}"),
        PlanEdit::Move { node, parent, position } => format!("move {node} {parent} {position}"),
        PlanEdit::Link { from, to, .. } => format!("link {from} {to}"),
        PlanEdit::Unlink { from, to } => format!("unlink {from} {to}"),
        PlanEdit::Split { node, into } => {
            let parts: Vec<&str> = into.iter().map(|part| part.title.as_str()).collect();
            format!("split {node} {}", parts.join("|"))
        }
        PlanEdit::Merge { nodes, into } => {
            let nodes: Vec<&str> = nodes.iter().map(TaskId::as_str).collect();
            format!("merge {} \"{into}\"", nodes.join(" "))
        }
        PlanEdit::Assign { node, owner } => format!("assign {node} {owner}"),
        PlanEdit::SetDate { node, field, date } => {
            let field = match field {
                DateField::FixedStart => "fixed_start",
                DateField::FixedEnd => "fixed_end",
                DateField::NotBefore => "not_before",
                DateField::Due => "due",
            };
            let date = date.map(|date| date.to_string()).unwrap_or_default();
            format!("date {node} {field} {date}")
        }
        PlanEdit::SetDone { node, done: true } => format!("done {node}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn every_phrasing_is_read_as_the_same_change() {
    let mut wrong = Vec::new();
    for row in read_table() {
        let read = note_request(&read_on(&plan_named(&row.plan), &row.text));
        if read != row.wanted {
            wrong.push(format!(
                "{} | {}\n    wanted {}\n    read   {read}",
                row.plan, row.text, row.wanted
            ));
        }
    }
    assert!(wrong.is_empty(), "{} are read otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn case_politeness_and_punctuation_do_not_matter() {
    for row in read_table().iter().filter(|row| !row.wanted.contains("open")) {
        let plan = plan_named(&row.plan);
        let plain = read_on(&plan, &row.text);
        for variant in [
            format!("{}.", row.text.trim_end_matches(['.', '?'])),
            format!("Please {}", row.text),
            format!("{}\n", row.text),
        ] {
            let read = note_request(&read_on(&plan, &variant));
            assert_eq!(read, note_request(&plain), "{variant}");
        }
    }
}
