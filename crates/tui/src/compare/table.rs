//! The tasks of both runs in one table: which columns there is room for, and what is folded.

use crate::theme::ThemeRole;
use planwright_state::replay::compare::{PlanRelation, TaskComparison, TaskRunOutcome};
use planwright_text::units;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompareRow {
    /// A task, by its place in the comparison.
    Task(usize),
    /// So many tasks that were about the same.
    Folded(usize),
}

/// The rows in their order. What is the same is worth a row of its own only where it is asked for.
pub(super) fn visible_rows(tasks: &[TaskComparison], folded: bool) -> Vec<CompareRow> {
    let alike = tasks.iter().filter(|task| task.is_similar()).count();
    let fold = folded && alike > 1;
    let shown = |task: &TaskComparison| !fold || !task.is_similar();
    let mut rows: Vec<CompareRow> = tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| shown(task))
        .map(|(place, _)| CompareRow::Task(place))
        .collect();
    if fold {
        rows.push(CompareRow::Folded(alike));
    }
    rows
}

/// Where the columns of the table stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompareColumns {
    pub(super) task: usize,
    pub(super) outcome: usize,
    pub(super) time: usize,
    /// Cells to either side of the middle of the bar; none where there is no room for it.
    pub(super) bar: usize,
    pub(super) tokens: usize,
    pub(super) cost: usize,
}

impl CompareColumns {
    /// The bar gives way first, then the cost.
    pub(super) fn for_width(width: u16) -> Self {
        match width {
            120.. => Self { task: 12, outcome: 12, time: 12, bar: 8, tokens: 10, cost: 9 },
            100.. => Self { task: 12, outcome: 12, time: 12, bar: 0, tokens: 10, cost: 9 },
            _ => Self { task: 10, outcome: 10, time: 12, bar: 0, tokens: 8, cost: 0 },
        }
    }
}

/// What stands before a task: how it stands in the plans.
pub(super) fn plan_mark(task: &TaskComparison) -> (&'static str, ThemeRole) {
    match task.plan {
        PlanRelation::Same => (" ", ThemeRole::Text),
        PlanRelation::Changed => ("~", ThemeRole::DiffChanged),
        PlanRelation::OnlyInA => ("-", ThemeRole::DiffRemoved),
        PlanRelation::OnlyInB => ("+", ThemeRole::DiffAdded),
    }
}

/// What became of a task in one run.
pub(super) fn outcome_cell(found: Option<&TaskRunOutcome>, reused: bool) -> (String, ThemeRole) {
    let Some(found) = found else { return (String::new(), ThemeRole::Dim) };
    let (glyph, role) = match found.status.as_str() {
        "done" => ('✓', ThemeRole::Done),
        "failed" => ('✗', ThemeRole::Failed),
        "running" => ('►', ThemeRole::Running),
        "yours" => ('@', ThemeRole::Yours),
        word if word.starts_with("skipped") => ('»', ThemeRole::Skipped),
        _ => ('·', ThemeRole::Waiting),
    };
    let word = match found.status.as_str() {
        "done" if reused => "reused".to_owned(),
        "done" if found.attempt > 1 => format!("try {}", found.attempt),
        word => word.to_owned(),
    };
    (format!("{glyph} {word}"), role)
}

/// Time of a run, empty where it has none to show.
pub(super) fn time_cell(found: Option<&TaskRunOutcome>, reused: bool) -> String {
    match found {
        Some(_) if reused => "0 s".to_owned(),
        Some(found) if found.time_ms > 0 || found.status == "done" => {
            units::format_elapsed(std::time::Duration::from_millis(found.time_ms))
        }
        _ => String::new(),
    }
}

/// By how much the second run took longer; nothing where one of them did not work.
pub(super) fn time_change_ms(task: &TaskComparison) -> Option<i64> {
    let worked =
        |found: &Option<TaskRunOutcome>| found.as_ref().is_some_and(|found| found.time_ms > 0);
    let either = worked(&task.a) || worked(&task.b);
    (either && !task.reused).then(|| task.time_change())
}

/// How far the bar of a change reaches, of so many cells for the largest one.
pub(super) fn bar_length(change: i64, largest: i64, cells: usize) -> usize {
    if largest == 0 {
        return 0;
    }
    let (change, largest) = (change.unsigned_abs(), largest.unsigned_abs());
    ((change * cells as u64 + largest / 2) / largest) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_the_changes_they_stand_for() {
        assert_eq!(bar_length(-219, 219, 8), 8);
        assert_eq!(bar_length(200, 219, 8), 7);
        assert_eq!(bar_length(48, 219, 8), 2);
        assert_eq!(bar_length(0, 219, 8), 0);
        assert_eq!(bar_length(5, 0, 8), 0);
    }
}
