//! What stands under a text box: where the words go and what follows from sending them.

use super::{TextBox, Topic};
use crate::context::PaneContext;
use crate::theme::Role;
use crate::widgets::counted;
use planwright_drafting::controller::{read_scope, scope_of};
use planwright_drafting::wishes;
use planwright_model::{Stage, TaskId};
use planwright_text::clean_line;

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

/// Which stage takes the words up, as the engine reads them, and what the offline planner makes of them.
fn goes_to(text: &TextBox, cx: &PaneContext<'_>) -> Vec<After> {
    let planning = &cx.state.planning;
    let Some(outline) = planning.outline.as_deref() else { return Vec::new() };
    let words = text.text();
    let stage = stage_words(text, &words, cx);
    if words.is_empty() {
        return vec![("goes to", stage, Role::Text)];
    }
    if !planning.offline {
        let drafter = clean_line(&planning.drafter);
        let line = format!("{stage}, {drafter} reads it and redrafts");
        return vec![("goes to", line, Role::Text)];
    }
    let marked: Vec<TaskId> =
        if text.marked_only { cx.ui.marks.iter().cloned().collect() } else { Vec::new() };
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let reading = wishes::read(&words, outline, planning.roadmap.as_deref(), &marked, today);
    let read =
        match reading.edits.len() + reading.context.len() + usize::from(reading.way.is_some()) {
            0 => String::new(),
            changes => format!(", {} read", counted(changes, "change")),
        };
    let mut lines = vec![("goes to", format!("{stage}{read}"), Role::Text)];
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

/// The stage that is gone back to and who says so.
fn stage_words(text: &TextBox, words: &str, cx: &PaneContext<'_>) -> String {
    if cx.state.planning.roadmap.is_none() {
        return stage_name(Stage::Outline).to_owned();
    }
    let (read, asked) = (read_scope(words), text.stage);
    if words.is_empty() && asked.is_none() {
        return "the stage that your words are about".to_owned();
    }
    let stage = stage_name(scope_of(words, asked));
    match (read, asked) {
        (_, None) => stage.to_owned(),
        (Some(read), Some(asked)) if read < asked => {
            format!("{stage}, as the words say; you chose {}", asked.as_str())
        }
        (Some(read), Some(asked)) if asked < read => {
            format!("{stage}, as you chose; the words say {}", read.as_str())
        }
        (_, Some(_)) => format!("{stage}, as you chose"),
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Outline => "outline (structure changes)",
        Stage::Roadmap => "roadmap (estimates and order change)",
        Stage::Schedule => "schedule (hours and dates change)",
    }
}
