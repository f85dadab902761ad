//! Which lines the outline has: a row each, under it what makes it done, its command, remarks and what it was called.

use super::outline_columns::OutlineColumns;
use super::outline_when::WhenForm;
use crate::plan_text::{DraftComparison, PlanRowChange, PlanRowKind, PlanTextRow, links_change};
use crate::row_editor::EDITOR_LINES;
use planwright_text::{display_width, reveal_hidden, wrap_exact, wrap_words};

/// Titles are broken into lines of so many cells at least.
const MIN_TITLE: usize = 8;

/// What stands under a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowDetailKind {
    /// What its title has left that does not fit into the column.
    Title,
    /// Its title in the draft before.
    Was,
    /// What the column of days has no room for.
    When,
    DoneWhen,
    /// The command word for word.
    Command,
    /// One of the commands that tell whether it is done, word for word.
    Check(usize),
    After,
    Comment(usize),
}

/// One line of the outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutlineLine {
    Row(usize),
    /// A row of the draft before that is gone; its title may take several lines.
    Removed {
        at: usize,
        part: usize,
    },
    /// One line of the editor of a row.
    Editor {
        row: usize,
        part: usize,
    },
    /// One part of what stands under a row.
    Detail {
        row: usize,
        kind: RowDetailKind,
        part: usize,
    },
}

impl OutlineLine {
    /// The row that it belongs to.
    pub(crate) fn row(self) -> Option<usize> {
        match self {
            Self::Row(row) | Self::Detail { row, .. } | Self::Editor { row, .. } => Some(row),
            Self::Removed { .. } => None,
        }
    }
}

/// How much stands under rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowDetailLevel {
    /// Nothing: the plan runs.
    #[default]
    Rows,
    /// Commands and remarks of all rows, what makes it done of the selected one.
    Selected,
    /// Everything of every row, commands beside their titles where they fit.
    Compact,
    /// Everything of every row, each in lines of its own.
    All,
}

/// What lines are made from.
#[derive(Clone, Copy)]
pub(crate) struct OutlineSource<'a> {
    pub(crate) text: &'a [PlanTextRow],
    pub(crate) changes: Option<&'a DraftComparison>,
    pub(crate) columns: OutlineColumns,
    pub(crate) width: usize,
    pub(crate) level: RowDetailLevel,
    /// The row at which an editor is open.
    pub(crate) editor: Option<EditorPlace>,
}

/// Where an editor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditorPlace {
    /// In the place of a row.
    At(usize),
    /// After a row and what it holds.
    After(usize),
}

/// The lines of some rows, those that are gone included.
pub(crate) fn outline_lines(
    source: OutlineSource<'_>,
    shown: &[usize],
    selected: Option<usize>,
) -> Vec<OutlineLine> {
    let mut lines = Vec::with_capacity(shown.len());
    let editor = |row: usize| (0..EDITOR_LINES).map(move |part| OutlineLine::Editor { row, part });
    for (at, row) in shown.iter().enumerate() {
        let Some(text) = source.text.get(*row) else { continue };
        if source.editor == Some(EditorPlace::At(*row)) {
            lines.extend(editor(*row));
            continue;
        }
        lines.push(OutlineLine::Row(*row));
        push_title_rest(&mut lines, source, *row);
        if note_beside(source, text).is_none() && when_note(source, text).is_some() {
            lines.push(OutlineLine::Detail { row: *row, kind: RowDetailKind::When, part: 0 });
        }
        for kind in detail_kinds(source, text, selected == Some(*row)) {
            let parts = detail_texts(source, text, kind).len();
            lines.extend((0..parts).map(|part| OutlineLine::Detail { row: *row, kind, part }));
        }
        push_removed(&mut lines, source, Some(&text.id));
        let next = shown.get(at + 1).and_then(|next| source.text.get(*next));
        if let Some(EditorPlace::After(anchor)) = source.editor
            && let Some(held) = source.text.get(anchor).map(|anchor| anchor.depth)
            && *row >= anchor
            && next.is_none_or(|next| next.depth <= held)
            && !lines.iter().any(|line| matches!(line, OutlineLine::Editor { .. }))
        {
            lines.extend(editor(anchor));
        }
    }
    lines
}

/// The lines of a title after its first.
fn push_title_rest(lines: &mut Vec<OutlineLine>, source: OutlineSource<'_>, row: usize) {
    let kind = RowDetailKind::Title;
    let parts = source.text.get(row).map_or(0, |text| detail_texts(source, text, kind).len());
    lines.extend((0..parts).map(|part| OutlineLine::Detail { row, kind, part }));
}

/// The rows that stood after a row in the draft before and are gone; one may have stood after another.
fn push_removed(
    lines: &mut Vec<OutlineLine>,
    source: OutlineSource<'_>,
    after: Option<&planwright_model::TaskId>,
) {
    let removed = source.changes.map(|changes| changes.removed.as_slice()).unwrap_or_default();
    let mut last = after;
    while let Some(at) = removed.iter().position(|(before, _)| before.as_ref() == last) {
        let parts = title_lines(source.columns, &removed[at].1).len();
        lines.extend((0..parts).map(|part| OutlineLine::Removed { at, part }));
        last = Some(&removed[at].1.id);
    }
}

/// The title of a row in as many lines as its column needs: nothing that is decided on is cut.
pub(crate) fn title_lines(columns: OutlineColumns, row: &PlanTextRow) -> Vec<String> {
    let number = if row.has_number() { display_width(&row.number) + 1 } else { 0 };
    let room = columns.title_end.saturating_sub(columns.title_start(row) + number);
    let lines = wrap_words(&row.title, room.max(MIN_TITLE), 0);
    if lines.is_empty() {
        return vec![String::new()];
    }
    lines.into_iter().map(std::borrow::Cow::into_owned).collect()
}

fn detail_kinds(
    source: OutlineSource<'_>,
    row: &PlanTextRow,
    selected: bool,
) -> Vec<RowDetailKind> {
    if source.level == RowDetailLevel::Rows {
        return Vec::new();
    }
    let all = matches!(source.level, RowDetailLevel::Compact | RowDetailLevel::All);
    let mut kinds = Vec::new();
    let was = source.changes.and_then(|changes| changes.before.get(&row.id));
    let has_hidden_time =
        |was: &PlanTextRow| source.columns.time == 0 && was.minutes != row.minutes;
    let is_task = row.kind == PlanRowKind::Task;
    let has_note = |was: &PlanTextRow| {
        was.title != row.title
            || is_task && has_hidden_time(was)
            || links_change(was, row).is_some()
    };
    if was.is_some_and(has_note) {
        kinds.push(RowDetailKind::Was);
    }
    if row.kind == PlanRowKind::Task && (all || selected) && !row.done_when.is_empty() {
        kinds.push(RowDetailKind::DoneWhen);
    }
    if row.command.is_some() && command_beside(source, row).is_none() {
        kinds.push(RowDetailKind::Command);
    }
    kinds.extend((0..row.checks.len()).map(RowDetailKind::Check));
    if all && row.kind == PlanRowKind::Task && !row.after.is_empty() {
        kinds.push(RowDetailKind::After);
    }
    kinds.extend((0..row.comments.len()).map(RowDetailKind::Comment));
    kinds
}

/// The time of day or the rhythm of a row, where its column shows days alone.
fn when_note(source: OutlineSource<'_>, row: &PlanTextRow) -> Option<String> {
    row.when_note().filter(|_| source.columns.form != WhenForm::Full)
}

/// The same beside its title, where all of it fits there.
pub(crate) fn note_beside(source: OutlineSource<'_>, row: &PlanTextRow) -> Option<String> {
    let note = when_note(source, row)?;
    let end = source.columns.title_start(row) + display_width(&row.title) + 2;
    (end + display_width(&note) <= source.columns.title_end && row.command.is_none())
        .then_some(note)
}

/// The command beside its title, where all of it fits there.
pub(crate) fn command_beside(source: OutlineSource<'_>, row: &PlanTextRow) -> Option<String> {
    let command = row.command.as_deref()?;
    let shown = reveal_hidden(command);
    let start = source.columns.title_start(row) + display_width(&row.title) + 2;
    let fits = start + 2 + display_width(&shown) + 2 <= source.columns.title_end
        && title_lines(source.columns, row).len() == 1;
    let plain = !command.contains('\n') && shown == command;
    let beside = matches!(source.level, RowDetailLevel::Selected | RowDetailLevel::Compact);
    (beside && fits && plain).then(|| format!("$ {command}"))
}

/// The lines of one detail, wrapped; a command is never cut.
pub(crate) fn detail_texts(
    source: OutlineSource<'_>,
    row: &PlanTextRow,
    kind: RowDetailKind,
) -> Vec<String> {
    let room = source.width.saturating_sub(source.columns.title_start(row) + 2).max(8);
    let wrap = |text: String| -> Vec<String> {
        wrap_words(&text, room, 0).into_iter().map(std::borrow::Cow::into_owned).collect()
    };
    match kind {
        RowDetailKind::Title => title_lines(source.columns, row).split_off(1),
        RowDetailKind::When => when_note(source, row).into_iter().collect(),
        RowDetailKind::DoneWhen => wrap(row.done_when_text()),
        RowDetailKind::After => wrap(row.after_text()),
        RowDetailKind::Command => {
            command_lines("$ ", row.command.as_deref().unwrap_or_default(), room)
        }
        RowDetailKind::Check(at) => {
            row.checks.get(at).map_or_else(Vec::new, |check| command_lines("check $ ", check, room))
        }
        RowDetailKind::Comment(at) => row.comments.get(at).map_or_else(Vec::new, |comment| {
            let fate = if comment.fate.is_empty() {
                String::new()
            } else {
                format!("   {}", comment.fate)
            };
            wrap(format!("you: \"{}\"{fate}", comment.text))
        }),
        RowDetailKind::Was => {
            let was = source.changes.and_then(|changes| changes.before.get(&row.id));
            was.map_or_else(Vec::new, |was| wrap(was_text(was, row, source.columns)))
        }
    }
}

/// What a row was called, with what its columns have no room for.
fn was_text(was: &PlanTextRow, row: &PlanTextRow, columns: OutlineColumns) -> String {
    let change = format!("{} → {}", was.time_text(), row.time_text());
    if let Some(links) = links_change(was, row) {
        return links;
    }
    let has_no_room = was.minutes != row.minutes && columns.time < display_width(&change);
    match (was.title == row.title, has_no_room) {
        (true, _) => change,
        (false, true) => format!("was \"{}\", {change}", was.title),
        (false, false) => format!("was \"{}\"", was.title),
    }
}

fn command_lines(first: &str, command: &str, room: usize) -> Vec<String> {
    let room = room.saturating_sub(first.len()).max(6);
    let indent = " ".repeat(first.len());
    let mut lines = Vec::new();
    for (number, line) in command.split('\n').enumerate() {
        let shown = reveal_hidden(line);
        let mut parts = wrap_exact(&shown, room);
        if parts.is_empty() {
            parts.push(std::borrow::Cow::Borrowed(""));
        }
        for (part, text) in parts.into_iter().enumerate() {
            let lead = if number == 0 && part == 0 { first } else { &indent };
            lines.push(format!("{lead}{text}"));
        }
    }
    lines
}

/// The rows that differ from the draft before, and the rows that hold them.
pub(crate) fn changed_rows(
    text: &[PlanTextRow],
    changes: &DraftComparison,
    shown: &[usize],
) -> Vec<usize> {
    let differs = |row: usize| {
        text.get(row).is_some_and(|row| {
            changes.kinds.contains_key(&row.id)
                || changes.removed.iter().any(|(before, _)| before.as_ref() == Some(&row.id))
        })
    };
    let holds = |at: usize, row: usize| {
        let depth = text[row].depth;
        let below = shown[at + 1..].iter().take_while(|other| text[**other].depth > depth);
        below.copied().any(differs)
    };
    let kept = shown.iter().copied().enumerate();
    kept.filter(|(at, row)| differs(*row) || holds(*at, *row)).map(|(_, row)| row).collect()
}

/// Where each change stands among all of them: rows in order, those that are gone by the row before them.
pub(crate) fn change_order(
    text: &[PlanTextRow],
    changes: &DraftComparison,
) -> Vec<planwright_model::TaskId> {
    let mut order: Vec<planwright_model::TaskId> = text
        .iter()
        .filter(|row| {
            changes.kinds.get(&row.id).is_some_and(|kind| *kind != PlanRowChange::Removed)
        })
        .map(|row| row.id.clone())
        .collect();
    order.extend(changes.removed.iter().map(|(_, row)| row.id.clone()));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_whole_in_however_many_lines() {
        let command = "cargo test --workspace --no-fail-fast -- --skip slow_\necho done";
        for room in [12, 30, 90] {
            for lead in ["$ ", "check $ "] {
                let lines = command_lines(lead, command, room);
                let shown: String = lines.iter().map(|line| &line[lead.len()..]).collect();
                assert_eq!(shown, command.replace('\n', ""));
            }
        }
        assert_eq!(command_lines("$ ", "a\u{202e}b", 40), ["$ a<U+202E>b"]);
    }
}
