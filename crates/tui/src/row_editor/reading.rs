//! Reads what was typed into a row: plain words become operations on the plan.

use std::collections::BTreeMap;

use jiff::civil::{Date, Time};

use super::row_names::{find_row, split_parts};
use super::{RowEditPurpose, RowEditor, RowFieldKind, RowLevel};
use crate::plan_text::{PlanRowKind, PlanTextRow};
use planwright_drafting::change_requests::{read_day, read_minutes};
use planwright_model::{
    AgentDescription, DateField, LinkKind, NodeDependency, NodeFields, NodePlace, PlanDate,
    PlanEdit, SplitPart, TaskAssignee, TaskId,
};
use planwright_plan::diff::format_plan_date;
use planwright_text::units::{format_counted, format_planned};

/// What words refer to.
#[derive(Clone, Copy)]
pub(crate) struct RowReadSource<'a> {
    pub(crate) rows: &'a [PlanTextRow],
    pub(crate) links: &'a [NodeDependency],
    pub(crate) today: Date,
    /// The person's own agents.
    pub(crate) agents: &'a BTreeMap<String, AgentDescription>,
}

/// What was read: the operations, and their content in words.
type RowRead = (Vec<PlanEdit>, Vec<String>);

/// Reads an editor. An error says what could not be read and what would be.
pub(crate) fn read_row_editor(
    editor: &RowEditor,
    source: RowReadSource<'_>,
) -> Result<RowRead, String> {
    match &editor.purpose {
        RowEditPurpose::Edit { node } => read_fields(editor, node, source),
        RowEditPurpose::Add { anchor, level, .. } => {
            read_new_row(editor.typed_text(), anchor, *level, source)
        }
        RowEditPurpose::Split { node } => read_split(editor.typed_text(), node),
        RowEditPurpose::Merge { nodes } => read_merge(editor.typed_text(), nodes),
    }
}

fn read_fields(
    editor: &RowEditor,
    node: &TaskId,
    source: RowReadSource<'_>,
) -> Result<RowRead, String> {
    let (mut edits, mut words) = RowRead::default();
    for field in &editor.fields {
        let Some(text) = field.changed_text() else { continue };
        let (edit, said) = match field.kind {
            RowFieldKind::Title if text.is_empty() => {
                return Err("A row needs a title.".to_owned());
            }
            RowFieldKind::Title => (
                vec![PlanEdit::Rename { node: node.clone(), title: text.to_owned() }],
                String::new(),
            ),
            RowFieldKind::DoneWhen => {
                let done_when = text.to_owned();
                (vec![PlanEdit::SetDoneWhen { node: node.clone(), done_when }], String::new())
            }
            RowFieldKind::Time => read_time(text, node)?,
            RowFieldKind::Who => read_who(text, node, source)?,
            RowFieldKind::Dates => read_dates(text, node, source)?,
            RowFieldKind::Needs => read_needs(text, node, source)?,
        };
        edits.extend(edit);
        words.extend(Some(said).filter(|said| !said.is_empty()));
    }
    Ok((edits, words))
}

fn read_time(text: &str, node: &TaskId) -> Result<(Vec<PlanEdit>, String), String> {
    let minutes = read_minutes(text)
        .ok_or_else(|| format!("\"{text}\" is not a time. Try \"4h\" or \"90 min\"."))?;
    let edit = PlanEdit::SetEstimate { node: node.clone(), minutes };
    Ok((vec![edit], format_planned(minutes.into())))
}

fn read_who(
    text: &str,
    node: &TaskId,
    source: RowReadSource<'_>,
) -> Result<(Vec<PlanEdit>, String), String> {
    if let Some(name) = strip_word(text, "all") {
        return read_agent_of_all(name, source);
    }
    let node = node.clone();
    let doer = |doer, command| PlanEdit::SetDoer { node: node.clone(), doer, command, agent: None };
    let lower = text.to_lowercase();
    if let Some(own) = find_agent(&lower, source) {
        let (name, title) = (own.name.clone(), own.title().to_owned());
        let (doer, command) = (TaskAssignee::Agent, None);
        return Ok((vec![PlanEdit::SetDoer { node, doer, command, agent: Some(name) }], title));
    }
    if let Some(command) = text.strip_prefix('$').map(str::trim) {
        if command.is_empty() {
            return Err("Type the command after the $.".to_owned());
        }
        let edit = doer(TaskAssignee::Shell, Some(command.to_owned()));
        return Ok((vec![edit], "runs a command".to_owned()));
    }
    match lower.as_str() {
        "" => Err("Who does it? You, agent, the name of one of your agents, a person, or $ and a command; \"all\" and an agent for every task of agents.".to_owned()),
        "you" | "me" | "i" | "myself" => {
            let own = PlanEdit::Assign { node: node.clone(), owner: String::new() };
            Ok((vec![own], "yours".to_owned()))
        }
        "agent" | "the agent" => {
            Ok((vec![doer(TaskAssignee::Agent, None)], "the agent".to_owned()))
        }
        _ => {
            let owner = PlanEdit::Assign { node: node.clone(), owner: text.to_owned() };
            Ok((vec![owner], format!("done by {text}")))
        }
    }
}

fn find_agent<'a>(name: &str, source: RowReadSource<'a>) -> Option<&'a AgentDescription> {
    let named =
        |agent: &&AgentDescription| agent.name == name || agent.title().to_lowercase() == name;
    source.agents.values().find(named)
}

/// One agent for all tasks that agents do.
fn read_agent_of_all(
    name: &str,
    source: RowReadSource<'_>,
) -> Result<(Vec<PlanEdit>, String), String> {
    let lower = name.to_lowercase();
    let own = find_agent(&lower, source);
    let is_built_in = matches!(lower.as_str(), "agent" | "agents" | "the agent");
    if own.is_none() && !is_built_in {
        return Err(format!(
            "\"{name}\" is not one of your agents. Try \"all agent\", or set it up with `planwright agents on`."
        ));
    }
    let agent = own.map(|own| own.name.clone());
    let by_agent = |row: &&PlanTextRow| row.own_agent.is_some() || row.who == "agent";
    let edits: Vec<PlanEdit> = source
        .rows
        .iter()
        .filter(by_agent)
        .filter(|row| row.own_agent != agent)
        .map(|row| PlanEdit::SetDoer {
            node: row.id.clone(),
            doer: TaskAssignee::Agent,
            command: None,
            agent: agent.clone(),
        })
        .collect();
    if edits.is_empty() {
        return Err("No other task is done by an agent.".to_owned());
    }
    let title = own.map_or("the agent", |own| own.title());
    let said = format!("{} by {title}", format_counted(edits.len(), "task"));
    Ok((edits, said))
}

/// A day for the start, `by` one for the end, `not before` one, or `after` a row. Nothing clears what was set.
fn read_dates(
    text: &str,
    node: &TaskId,
    source: RowReadSource<'_>,
) -> Result<(Vec<PlanEdit>, String), String> {
    let lower = text.to_lowercase();
    if lower.is_empty() || lower == "any" || lower == "any time" {
        let edit = PlanEdit::ClearDates { node: node.clone() };
        return Ok((vec![edit], "any time".to_owned()));
    }
    if let Some(name) = strip_word(text, "after") {
        let from = find_row(name, source.rows)?;
        return Ok(link_edit(from, node, source));
    }
    let (field, day) = [
        ("not before", DateField::NotBefore),
        ("from", DateField::NotBefore),
        ("by", DateField::Due),
        ("until", DateField::Due),
        ("due", DateField::Due),
        ("on", DateField::FixedStart),
        ("starts", DateField::FixedStart),
    ]
    .into_iter()
    .find_map(|(word, field)| Some((field, strip_word(text, word)?)))
    .unwrap_or((DateField::FixedStart, text));
    let Some(date) = read_day_and_time(day, source.today) else {
        let tries =
            "Try \"next Tue\", \"Sat 14:00\", \"by 5 Dec\" or \"after\" and the name of a row.";
        return Err(format!("\"{day}\" is not a day. {tries}"));
    };
    let edit = PlanEdit::SetDate { node: node.clone(), field, date: Some(date) };
    Ok((vec![edit], format!("{} {}", field.words(), format_plan_date(date, source.today))))
}

/// A day, and behind it a time where one was typed: `next Sat 14:00`, `5 Dec at 9`.
fn read_day_and_time(text: &str, today: Date) -> Option<PlanDate> {
    if let Some(day) = read_day(text, today) {
        return Some(PlanDate::on_day(day));
    }
    let (day, time) = text.trim().rsplit_once(' ')?;
    let (day, named) = match strip_last_word(day, "at") {
        Some(day) => (day, true),
        None => (day, false),
    };
    let time = read_clock(time, named)?;
    Some(PlanDate { day: read_day(day, today)?, time: Some(time) })
}

/// A time of day: `14:00`, `2pm`, `2:30pm`; a bare hour only where `at` stands before it.
fn read_clock(text: &str, named: bool) -> Option<Time> {
    let lower = text.to_lowercase();
    let (digits, half) = match (lower.strip_suffix("pm"), lower.strip_suffix("am")) {
        (Some(rest), _) => (rest, Some(12)),
        (_, Some(rest)) => (rest, Some(0)),
        _ => (lower.as_str(), None),
    };
    let (hour, minute) = match digits.split_once(':') {
        Some(parts) => parts,
        None if named || half.is_some() => (digits, "0"),
        None => return None,
    };
    let hour: i8 = hour.parse().ok()?;
    let hour = match half {
        Some(shift) if (1..=12).contains(&hour) => hour % 12 + shift,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute.parse().ok()?, 0, 0).ok()
}

fn strip_last_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (rest, last) = text.rsplit_once(' ')?;
    last.eq_ignore_ascii_case(word).then_some(rest)
}

fn link_edit(from: TaskId, node: &TaskId, source: RowReadSource<'_>) -> (Vec<PlanEdit>, String) {
    let words = format!("after {}", title_of(&from, source));
    let edit = PlanEdit::Link { from, to: node.clone(), kind: LinkKind::FS, lag_minutes: 0 };
    (vec![edit], words)
}

fn title_of(id: &TaskId, source: RowReadSource<'_>) -> String {
    let row = source.rows.iter().find(|row| row.id == *id);
    row.map_or_else(|| id.to_string(), |row| row.title.clone())
}

/// The links that are new, and those that are gone.
fn read_needs(
    text: &str,
    node: &TaskId,
    source: RowReadSource<'_>,
) -> Result<(Vec<PlanEdit>, String), String> {
    let names = split_parts(text, ',');
    let wanted = names
        .iter()
        .map(|name| find_row(strip_word(name, "after").unwrap_or(name), source.rows))
        .collect::<Result<Vec<TaskId>, String>>()?;
    let had: Vec<&TaskId> =
        source.links.iter().filter(|link| link.to == *node).map(|link| &link.from).collect();
    let gone = had
        .iter()
        .filter(|from| !wanted.contains(from))
        .map(|from| PlanEdit::Unlink { from: (*from).clone(), to: node.clone() });
    let new = wanted.iter().filter(|from| !had.contains(from)).map(|from| PlanEdit::Link {
        from: from.clone(),
        to: node.clone(),
        kind: LinkKind::FS,
        lag_minutes: 0,
    });
    let titles: Vec<String> = wanted.iter().map(|id| title_of(id, source)).collect();
    let words = if titles.is_empty() {
        "waits for nothing".to_owned()
    } else {
        format!("after {}", titles.join(", "))
    };
    Ok((gone.chain(new).collect(), words))
}

/// A title, then in any order how long it takes, `before` or `after` a row, `by` a day, and who.
fn read_new_row(
    text: &str,
    anchor: &TaskId,
    level: RowLevel,
    source: RowReadSource<'_>,
) -> Result<RowRead, String> {
    let parts = split_parts(text, ',');
    let Some((title, rest)) = parts.split_first() else { return Ok(RowRead::default()) };
    let mut fields = NodeFields::titled(title.as_str());
    let (mut place, mut needs, mut needed_by) = (None, Vec::new(), Vec::new());
    let mut words = vec!["you".to_owned()];
    for part in rest {
        if let Some(minutes) = read_minutes(part) {
            fields.minutes = Some(minutes);
            words.push(format_planned(minutes.into()));
        } else if let Some(name) = strip_word(part, "before") {
            let row = find_row(name, source.rows)?;
            words.push(format!("before {}", title_of(&row, source)));
            place = Some(NodePlace::Before(row.clone()));
            needed_by.push(row);
        } else if let Some(name) = strip_word(part, "after") {
            let row = find_row(name, source.rows)?;
            words.push(format!("after {}", title_of(&row, source)));
            place = Some(NodePlace::After(row.clone()));
            needs.push(row);
        } else if let Some(owner) = strip_word(part, "by") {
            fields.owner = Some(owner.to_owned());
            owner.clone_into(&mut words[0]);
        } else {
            // A comma may belong to the title.
            let title = fields.title.take().unwrap_or_default();
            fields.title = Some(format!("{title}, {part}"));
        }
    }
    let (usual, group) = usual_place(anchor, level, source);
    if group {
        words = vec!["a new phase".to_owned()];
    }
    let place = place.unwrap_or(usual);
    Ok((vec![PlanEdit::Insert { place, fields, group, needs, needed_by }], words))
}

/// Where a row goes that names no other, and whether it holds rows itself.
fn usual_place(anchor: &TaskId, level: RowLevel, source: RowReadSource<'_>) -> (NodePlace, bool) {
    let at = source.rows.iter().position(|row| row.id == *anchor);
    let Some(row) = at.map(|at| &source.rows[at]) else {
        return (NodePlace::Under(anchor.clone()), false);
    };
    let phase = row.kind == PlanRowKind::Phase;
    let holder = source.rows[..at.unwrap_or(0)].iter().rev().find(|other| other.depth < row.depth);
    match (level, phase) {
        (RowLevel::Above, true) => (NodePlace::After(anchor.clone()), true),
        (RowLevel::Above, false) => match holder {
            Some(holder) => (NodePlace::After(holder.id.clone()), true),
            None => (NodePlace::After(anchor.clone()), true),
        },
        (RowLevel::Same, true) | (RowLevel::Below, _) => (NodePlace::Under(anchor.clone()), false),
        (RowLevel::Same, false) => (NodePlace::After(anchor.clone()), false),
    }
}

/// Parts with a semicolon between them, each with or without a time.
fn read_split(text: &str, node: &TaskId) -> Result<RowRead, String> {
    let mut into = Vec::new();
    for part in split_parts(text, ';') {
        let (title, minutes) = match part.rsplit_once(',') {
            Some((title, time)) if read_minutes(time).is_some() => {
                (title.trim().to_owned(), read_minutes(time))
            }
            _ => (part, None),
        };
        into.push(SplitPart { title, minutes });
    }
    if into.len() < 2 {
        return Err("Name at least two parts, with a semicolon between them.".to_owned());
    }
    let words = format_counted(into.len(), "task");
    Ok((vec![PlanEdit::Split { node: node.clone(), into }], vec![words]))
}

fn read_merge(text: &str, nodes: &[TaskId]) -> Result<RowRead, String> {
    if text.is_empty() {
        return Err("What becomes of them needs a title.".to_owned());
    }
    let words = format!("1 task in place of {}", nodes.len());
    Ok((vec![PlanEdit::Merge { nodes: nodes.to_vec(), into: text.to_owned() }], vec![words]))
}

/// What comes after a word at the start of a text.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let rest = text.get(word.len()..)?;
    let apart = rest.starts_with(char::is_whitespace);
    (head.eq_ignore_ascii_case(word) && apart).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::plan_rows;
    use crate::tests::planned;

    fn rows() -> Vec<PlanTextRow> {
        plan_rows(&planned::scheduled().state(), &jiff::tz::TimeZone::UTC)
    }

    static NO_AGENTS: BTreeMap<String, AgentDescription> = BTreeMap::new();

    fn source(rows: &[PlanTextRow]) -> RowReadSource<'_> {
        RowReadSource {
            rows,
            links: &[],
            today: jiff::civil::date(2026, 11, 17),
            agents: &NO_AGENTS,
        }
    }

    #[test]
    fn times_days_and_people_are_read_in_plain_words() {
        let rows = rows();
        let node: TaskId = "t".into();
        assert_eq!(read_time("4h", &node).unwrap().1, "4 h");
        assert_eq!(read_time("1 h 30 min", &node).unwrap().1, "1 h 30 min");
        assert!(read_time("soon", &node).unwrap_err().contains("Try \"4h\""));
        assert_eq!(read_dates("next Tue", &node, source(&rows)).unwrap().1, "starts Tue 24 Nov");
        assert_eq!(read_dates("by 5 Dec", &node, source(&rows)).unwrap().1, "due Sat 5 Dec");
        assert!(read_dates("whenever", &node, source(&rows)).is_err());
        let at = |text: &str| read_dates(text, &node, source(&rows)).map(|(_, words)| words);
        assert_eq!(at("Sat 21 Nov 14:00").as_deref(), Ok("starts Sat 21 Nov 14:00"));
        assert_eq!(at("next Tue at 9").as_deref(), Ok("starts Tue 24 Nov 09:00"));
        assert_eq!(at("by 5 Dec 2:30pm").as_deref(), Ok("due Sat 5 Dec 14:30"));
        assert!(at("Sat 25:00").is_err() && at("Sat 13pm").is_err());
        for words in ["8 mar 9:00", "on March 8 at 9:00", "March 8 at 9"] {
            let (edits, said) = read_dates(words, &node, source(&rows)).unwrap();
            assert_eq!(said, "starts Mon 8 Mar 2027 09:00", "{words}");
            let at = jiff::civil::date(2027, 3, 8).at(9, 0, 0, 0);
            let (field, date) = (DateField::FixedStart, Some(PlanDate::at_time(at)));
            assert_eq!(edits, [PlanEdit::SetDate { node: node.clone(), field, date }]);
        }
        assert!(read_dates("9:00", &node, source(&rows)).is_err());
        assert_eq!(read_who("Anna", &node, source(&rows)).unwrap().1, "done by Anna");
        assert_eq!(read_who("me", &node, source(&rows)).unwrap().1, "yours");
    }

    #[test]
    fn a_task_is_given_to_an_agent_by_its_name_or_title() {
        let rows = rows();
        let node: TaskId = "t".into();
        let claude = AgentDescription {
            name: "claude".into(),
            product: planwright_model::AgentProduct::Claude,
            ..AgentDescription::default()
        };
        let agents = BTreeMap::from([("claude".to_owned(), claude)]);
        let source = RowReadSource { agents: &agents, ..source(&rows) };
        for typed in ["claude", "Claude Code", "CLAUDE"] {
            let (edits, words) = read_who(typed, &node, source).unwrap();
            let [PlanEdit::SetDoer { doer: TaskAssignee::Agent, agent, .. }] = edits.as_slice()
            else {
                panic!("{edits:?}")
            };
            assert_eq!((agent.as_deref(), words.as_str()), (Some("claude"), "Claude Code"));
        }
        // Whoever is not set up is a person.
        assert_eq!(read_who("codex", &node, source).unwrap().1, "done by codex");
    }

    #[test]
    fn a_new_row_names_its_time_and_its_place() {
        let rows = rows();
        let task = rows.iter().find(|row| row.depth == 1).unwrap();
        let typed = format!("Call Anna, 30 min, before \"{}\"", task.title);
        let (edits, words) =
            read_new_row(&typed, &rows[0].id, RowLevel::Same, source(&rows)).unwrap();
        let [PlanEdit::Insert { place, fields, needed_by, .. }] = edits.as_slice() else {
            panic!("{edits:?}")
        };
        assert_eq!(*place, NodePlace::Before(task.id.clone()));
        assert_eq!((fields.title.as_deref(), fields.minutes), (Some("Call Anna"), Some(30)));
        assert_eq!(needed_by, std::slice::from_ref(&task.id));
        assert_eq!(words, ["you", "30 min", &format!("before {}", task.title)]);
        let (edits, _) =
            read_new_row("Read, write", &task.id, RowLevel::Same, source(&rows)).unwrap();
        let [PlanEdit::Insert { place, fields, .. }] = edits.as_slice() else {
            panic!("{edits:?}")
        };
        assert_eq!(
            (place, fields.title.as_deref()),
            (&NodePlace::After(task.id.clone()), Some("Read, write"))
        );
    }

    #[test]
    fn a_split_needs_two_parts() {
        assert!(read_split("One", &"t".into()).is_err());
        let (edits, _) = read_split("Draft it, 2 h; Proofread it", &"t".into()).unwrap();
        let [PlanEdit::Split { into, .. }] = edits.as_slice() else { panic!("{edits:?}") };
        assert_eq!(into[0], SplitPart { title: "Draft it".into(), minutes: Some(120) });
        assert_eq!(into[1], SplitPart { title: "Proofread it".into(), minutes: None });
    }
}
