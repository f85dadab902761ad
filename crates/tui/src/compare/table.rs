//! The tasks of both runs in one table: which columns there is room for, and what is hidden.

use crate::theme::ThemeRole;
use planwright_state::replay::compare::{PlanRelation, TaskComparison, TaskRunOutcome};
use planwright_text::{display_width, units};

/// As many tasks whose results were taken over are listed; more of them are hidden.
const FEW_REUSED: usize = 5;

/// The tasks that are listed, by their place in the comparison. What is the same is listed only where it is asked for.
pub(super) fn visible_rows(tasks: &[TaskComparison], hides_same: bool) -> Vec<usize> {
    let few = tasks.iter().filter(|task| task.reused).count() <= FEW_REUSED;
    let same = |task: &TaskComparison| task.is_similar() && !(task.reused && few);
    let listed = |(_, task): &(usize, &TaskComparison)| !hides_same || !same(task);
    tasks.iter().enumerate().filter(listed).map(|(place, _)| place).collect()
}

/// Where the columns of the table stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompareColumns {
    pub(super) task: usize,
    pub(super) outcome_a: usize,
    pub(super) outcome_b: usize,
    pub(super) time_a: usize,
    pub(super) time_b: usize,
    pub(super) change: usize,
    pub(super) tokens: usize,
    pub(super) cost: usize,
}

impl CompareColumns {
    /// The cost gives way first, then the tokens; room that is left goes to the titles.
    pub(super) fn for_width(width: u16) -> Self {
        let whole = Self {
            task: 28,
            outcome_a: 17,
            outcome_b: 16,
            time_a: 10,
            time_b: 13,
            change: 13,
            tokens: 9,
            cost: 10,
        };
        let narrow = Self {
            task: 17,
            outcome_a: 11,
            outcome_b: 11,
            time_a: 12,
            time_b: 12,
            change: 13,
            cost: 0,
            ..whole
        };
        match width {
            120.. => Self { task: 28 + usize::from(width - 120), ..whole },
            100.. => Self { task: 28 + usize::from(width - 100), ..narrow },
            _ => Self { task: 17 + usize::from(width.saturating_sub(80)), tokens: 0, ..narrow },
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

/// Two texts without the words that both begin with, where one of them would be cut before they differ.
pub(super) fn leave_out_same_start(a: &str, b: &str, room: usize) -> (String, String) {
    let same = a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b);
    let same = same.map_or(a.len().min(b.len()), |((at, _), _)| at);
    let word = a[..same].rfind(' ').map_or(0, |at| at + 1);
    if word == 0 || (display_width(a) <= room && display_width(b) <= room) {
        return (a.to_owned(), b.to_owned());
    }
    (format!("… {}", &a[word..]), format!("… {}", &b[word..]))
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
        "done" if found.attempt > 1 => format!("done, try {}", found.attempt),
        word => word.to_owned(),
    };
    (format!("{glyph} {word}"), role)
}

/// Time of a run, empty where it has none to show.
pub(super) fn time_cell(found: Option<&TaskRunOutcome>, reused: bool) -> String {
    match found {
        Some(found) if found.time_ms > 0 && !reused => {
            units::format_elapsed(std::time::Duration::from_millis(found.time_ms))
        }
        _ => String::new(),
    }
}

/// By how many milliseconds the second run took longer; nothing where it is the same, as far as two units tell, or where
/// the result was taken over.
pub(super) fn time_change(task: &TaskComparison) -> Option<i64> {
    let change = task.time_change();
    let shown = time_cell(task.a.as_ref(), false) != time_cell(task.b.as_ref(), task.reused);
    (shown && !task.reused && change != 0).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_their_screen() {
        for width in 80..200_u16 {
            let columns = CompareColumns::for_width(width);
            let CompareColumns { task, outcome_a, outcome_b, .. } = columns;
            let CompareColumns { time_a, time_b, change, tokens, cost, .. } = columns;
            let words = 3 + task + outcome_a + outcome_b;
            let whole = words + time_a + time_b + change + tokens + cost + 1;
            assert!(whole <= usize::from(width), "{whole} of {width}");
            assert_eq!((cost > 0, tokens > 0), (width >= 120, width >= 100));
        }
    }
}
