//! What stands under a text box: where the words go and what follows from sending them.

use super::{TextBox, Topic};
use crate::model::{PlanEdit, TaskId};
use crate::planning::wishes::{self, Reading};
use crate::text::clean_line;
use crate::tui::context::PaneContext;
use crate::tui::theme::Role;
use crate::tui::widgets::counted;

/// A label, words and their role.
type After = (&'static str, String, Role);

/// The lines under the box.
pub(super) fn lines(text: &TextBox, cx: &PaneContext<'_>) -> Vec<After> {
    match &text.topic {
        Topic::Changes { .. } => {
            let mut lines = goes_to(text, cx);
            lines.push(("then", then(cx), Role::Dim));
            lines
        }
        Topic::Answer { .. } | Topic::Comment { .. } => Vec::new(),
    }
}

fn then(cx: &PaneContext<'_>) -> String {
    match &cx.state.plan.current {
        Some(plan) => format!(
            "r{} comes back as a difference to r{}, and you decide again",
            plan.revision + 1,
            plan.revision
        ),
        None => "the next draft comes back as a difference, and you decide again".to_owned(),
    }
}

/// Which stage takes the words up: with a model the model says, without one the words are read as they are typed.
fn goes_to(text: &TextBox, cx: &PaneContext<'_>) -> Vec<After> {
    let planning = &cx.state.planning;
    let Some(outline) = planning.outline.as_deref() else { return Vec::new() };
    let words = text.text();
    if words.is_empty() {
        return vec![("goes to", "the stage that your words are about".to_owned(), Role::Dim)];
    }
    if !planning.offline {
        let drafter = clean_line(&planning.drafter);
        return vec![("goes to", format!("{drafter}, which reads it and redrafts"), Role::Text)];
    }
    let marked: Vec<TaskId> =
        if text.marked_only { cx.ui.marks.iter().cloned().collect() } else { Vec::new() };
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let reading = wishes::read(&words, outline, planning.roadmap.as_deref(), &marked, today);
    let mut lines = Vec::new();
    if let Some(stage) = stage(&reading) {
        let changes =
            reading.edits.len() + reading.context.len() + usize::from(reading.way.is_some());
        lines.push((
            "goes to",
            format!("{stage}, {} read", counted(changes, "change")),
            Role::Text,
        ));
    }
    if let Some(first) = reading.unread.first() {
        let more = match reading.unread.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = format!("\"{}\"{more}: the offline planner leaves it open", clean_line(first));
        lines.push(("not read", words, Role::Warn));
    }
    lines
}

/// The first stage that has to be gone through again.
fn stage(reading: &Reading) -> Option<&'static str> {
    let structural = |edit: &PlanEdit| {
        !matches!(
            edit,
            PlanEdit::SetEstimate { .. } | PlanEdit::Link { .. } | PlanEdit::Unlink { .. }
        )
    };
    if reading.edits.iter().any(structural) {
        return Some("outline (structure changes)");
    }
    if !reading.edits.is_empty() || reading.way.is_some() {
        return Some("roadmap (estimates and order change)");
    }
    (!reading.context.is_empty()).then_some("schedule (hours and dates change)")
}
