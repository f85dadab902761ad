//! What changed from one draft to the next, row by row. A moved date is a change.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::civil::Date;

use super::rows::{PlanRowKind, PlanTextRow};
use planwright_model::TaskId;
use planwright_plan::diff::longest_rising_run;
use planwright_text::units::format_counted;

/// How a row differs from the draft before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanRowChange {
    Added,
    Removed,
    /// Its words, doer or time differ.
    Changed,
    /// Only its days or its place differ.
    Moved,
}

impl PlanRowChange {
    pub const ALL: [Self; 4] = [Self::Added, Self::Removed, Self::Changed, Self::Moved];

    /// The mark in the margin.
    pub fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed => '~',
            Self::Moved => '>',
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Moved => "moved",
        }
    }
}

/// Two drafts side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftComparison {
    /// The rows of the draft before, by id.
    pub before: HashMap<TaskId, PlanTextRow>,
    pub kinds: BTreeMap<TaskId, PlanRowChange>,
    /// Rows that are gone, each with the row of the old draft that stood before it.
    pub removed: Vec<(Option<TaskId>, PlanTextRow)>,
    /// The last day of the draft before.
    pub end_before: Option<Date>,
    /// Minutes of the person's in the draft before.
    pub own_minutes_before: u64,
}

impl DraftComparison {
    pub fn count(&self, kind: PlanRowChange) -> usize {
        self.kinds.values().filter(|found| **found == kind).count()
    }

    pub fn total(&self) -> usize {
        self.kinds.len()
    }

    /// `+ 1 added   - 1 removed   ~ 1 changed   > 12 moved`, without what did not happen.
    pub fn counts_text(&self) -> String {
        let parts = PlanRowChange::ALL.into_iter().filter(|kind| self.count(*kind) > 0);
        let texts: Vec<String> = parts
            .map(|kind| format!("{} {} {}", kind.sign(), self.count(kind), kind.word()))
            .collect();
        texts.join("   ")
    }
}

/// Compares two drafts by the ids of their rows.
pub fn compare_rows(before: &[PlanTextRow], after: &[PlanTextRow]) -> DraftComparison {
    let old: HashMap<TaskId, PlanTextRow> =
        before.iter().map(|row| (row.id.clone(), row.clone())).collect();
    let new: HashMap<&TaskId, &PlanTextRow> = after.iter().map(|row| (&row.id, row)).collect();
    // The fewest rows that explain the new order, so that one row that moved far does not mark all it passed.
    let shared: Vec<&TaskId> =
        after.iter().map(|row| &row.id).filter(|id| old.contains_key(*id)).collect();
    let ranks: HashMap<&TaskId, usize> = before.iter().map(|row| &row.id).zip(0..).collect();
    let kept = longest_rising_run(&shared.iter().map(|id| ranks[*id]).collect::<Vec<_>>());
    let kept: HashSet<&TaskId> = kept.into_iter().map(|at| shared[at]).collect();
    let mut kinds = BTreeMap::new();
    for row in after {
        let kind = match old.get(&row.id) {
            None => Some(PlanRowChange::Added),
            Some(was) => row_change(was, row, !kept.contains(&row.id)),
        };
        kinds.extend(kind.map(|kind| (row.id.clone(), kind)));
    }
    let mut removed = Vec::new();
    let mut previous = None;
    for row in before {
        if !new.contains_key(&row.id) {
            kinds.insert(row.id.clone(), PlanRowChange::Removed);
            removed.push((previous.clone(), row.clone()));
        }
        previous = Some(row.id.clone());
    }
    DraftComparison {
        end_before: before.iter().filter_map(|row| row.days).map(|days| days.last).max(),
        own_minutes_before: own_minutes(before),
        before: old,
        kinds,
        removed,
    }
}

/// The minutes that the rows take of the person's time.
pub(super) fn own_minutes(rows: &[PlanTextRow]) -> u64 {
    let own = rows.iter().filter(|row| row.is_yours && row.kind == PlanRowKind::Task);
    own.filter_map(|row| row.minutes).map(u64::from).sum()
}

fn row_change(was: &PlanTextRow, row: &PlanTextRow, other_place: bool) -> Option<PlanRowChange> {
    // The time and the days of a phase follow from its rows, those of a milestone from what leads to it.
    let held = row.kind == PlanRowKind::Phase;
    let words = was.title != row.title || was.done_when_text() != row.done_when_text();
    let work = was.who != row.who || was.minutes != row.minutes || was.cost != row.cost;
    let runs =
        was.command != row.command || was.checks != row.checks || was.settings != row.settings;
    if words || !held && (work || runs) {
        return Some(PlanRowChange::Changed);
    }
    let days = row.kind == PlanRowKind::Task && !was.has_same_time(row);
    let moved = days || other_place || !has_same_needs(was, row);
    moved.then_some(PlanRowChange::Moved)
}

/// Whether a row waits for the same rows, in whatever order they are listed.
fn has_same_needs(was: &PlanTextRow, row: &PlanTextRow) -> bool {
    let ids = |row: &PlanTextRow| row.needs.iter().cloned().collect::<HashSet<TaskId>>();
    ids(was) == ids(row)
}

/// One change in a line, for those who read lines: `Moved 1.1 to Sat 21 Nov, was Thu 19 Nov.`
pub fn describe_row_change(
    kind: PlanRowChange,
    was: Option<&PlanTextRow>,
    row: &PlanTextRow,
    today: Date,
) -> String {
    let days = |row: &PlanTextRow| row.when_text(today);
    let name = format!("{} {}", row.number, row.title);
    match (kind, was) {
        (PlanRowChange::Added, _) | (_, None) => {
            let facts = [row.who.clone(), row.time_text(), row.cost_text(), days(row)];
            let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
            format!("Added {name}. {}.", facts.join(", "))
        }
        (PlanRowChange::Removed, _) => format!("Removed {name}."),
        (PlanRowChange::Moved, Some(was)) => {
            let parts = [time_change(was, row, today), needs_change(was, row)];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            match parts.as_slice() {
                [] => format!("Moved {name} to another place."),
                parts => format!("Moved {name} {}.", parts.join("; ")),
            }
        }
        (PlanRowChange::Changed, Some(was)) => {
            format!("Changed {name}: {}.", field_changes(was, row, today).join("; "))
        }
    }
}

fn time_change(was: &PlanTextRow, row: &PlanTextRow, today: Date) -> Option<String> {
    let times = || format!("to {}, was {}", row.when_text(today), was.when_text(today));
    (!was.has_same_time(row)).then(times)
}

fn needs_change(was: &PlanTextRow, row: &PlanTextRow) -> Option<String> {
    let after = |row: &PlanTextRow| match row.after.as_slice() {
        [] => "nothing".to_owned(),
        titles => titles.join(", "),
    };
    let needs = || format!("after {}, was after {}", after(row), after(was));
    (!has_same_needs(was, row)).then(needs)
}

/// What a row that only moved waits for now, where its time is the one it had: nothing else shows why it counts as moved.
pub(crate) fn links_change(was: &PlanTextRow, row: &PlanTextRow) -> Option<String> {
    let same = was.title == row.title && was.minutes == row.minutes && was.has_same_time(row);
    needs_change(was, row).filter(|_| same && row.kind == PlanRowKind::Task)
}

/// Every field of a row that differs, old → new.
pub(super) fn field_changes(was: &PlanTextRow, row: &PlanTextRow, today: Date) -> Vec<String> {
    let days = |row: &PlanTextRow| row.when_text(today);
    let fields = [
        ("title", was.title.clone(), row.title.clone()),
        ("who", was.who.clone(), row.who.clone()),
        ("time", was.time_text(), row.time_text()),
        ("cost", was.cost_text(), row.cost_text()),
        ("when", days(was), days(row)),
        ("done when", was.done_when.clone(), row.done_when.clone()),
        ("failed when", was.failed_when.clone(), row.failed_when.clone()),
        (
            "command",
            was.command.clone().unwrap_or_default(),
            row.command.clone().unwrap_or_default(),
        ),
        ("settings", was.settings.join("; "), row.settings.join("; ")),
        ("checks", was.checks.join("; "), row.checks.join("; ")),
        ("after", was.after.join(", "), row.after.join(", ")),
    ];
    let nothing = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
    // Another title of what it waits for is a change there.
    let same_needs = has_same_needs(was, row);
    let changed = fields
        .into_iter()
        .filter(|(name, was, now)| was != now && !(*name == "after" && same_needs));
    changed.map(|(name, was, now)| format!("{name} {} → {}", nothing(was), nothing(now))).collect()
}

impl DraftComparison {
    /// Every field of a row that differs from the draft before.
    pub fn field_changes(&self, row: &PlanTextRow, today: Date) -> Vec<String> {
        self.before.get(&row.id).map(|was| field_changes(was, row, today)).unwrap_or_default()
    }

    /// `15 changes`.
    pub fn total_text(&self) -> String {
        format_counted(self.total(), "change")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::plan_rows;
    use crate::tests::planned;

    #[test]
    fn additions_removals_changes_and_moved_days_are_told_apart() {
        let before = plan_rows(&planned::scheduled().state(), &jiff::tz::TimeZone::UTC);
        let mut after = before.clone();
        let tasks: Vec<usize> =
            (0..after.len()).filter(|at| after[*at].kind == PlanRowKind::Task).collect();
        after[tasks[0]].minutes = Some(7);
        let days = after[tasks[1]].days.unwrap();
        let later = days.last.tomorrow().unwrap();
        after[tasks[1]].days = Some(crate::plan_text::DaySpan { last: later, ..days });
        let mut new = after[tasks[2]].clone();
        new.id = "new".into();
        let gone = after.remove(tasks[3]);
        after.insert(tasks[2], new);
        let found = compare_rows(&before, &after);
        let kind = |id: &TaskId| found.kinds.get(id).copied();
        assert_eq!(kind(&before[tasks[0]].id), Some(PlanRowChange::Changed));
        assert_eq!(kind(&before[tasks[1]].id), Some(PlanRowChange::Moved));
        assert_eq!(kind(&"new".into()), Some(PlanRowChange::Added));
        assert_eq!(kind(&gone.id), Some(PlanRowChange::Removed));
        assert_eq!(found.total(), 4);
        // The order in which links are listed is no change; other links are, and are named.
        let mut linked = before[tasks[1]].clone();
        linked.needs = vec!["x".into(), "y".into()];
        linked.after = vec!["X".into(), "Y".into()];
        let mut turned = linked.clone();
        turned.needs.reverse();
        assert_eq!(row_change(&linked, &turned, false), None);
        turned.needs.pop();
        turned.after = vec!["Y".into()];
        assert_eq!(row_change(&linked, &turned, false), Some(PlanRowChange::Moved));
        let told = describe_row_change(
            PlanRowChange::Moved,
            Some(&linked),
            &turned,
            jiff::civil::date(2026, 11, 17),
        );
        assert!(told.ends_with(" after Y, was after X, Y."), "{told}");
        assert_eq!(found.counts_text(), "+ 1 added   - 1 removed   ~ 1 changed   > 1 moved");
        assert_eq!(found.removed[0].0.as_ref(), Some(&before[tasks[3] - 1].id));
        assert_eq!(compare_rows(&before, &before).total(), 0);
    }
}
