//! What stands under a text box: where the words go and what follows from sending them.

use super::{ComposerTextBox, ComposerTopic};
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::widgets::format_counted;
use planwright_drafting::change_requests;
use planwright_drafting::controller::{detect_change_stage, resolve_change_stage};
use planwright_model::{Stage, TaskId};
use planwright_text::clean_line;

/// A label, words and their role.
type ConsequenceLine = (&'static str, String, ThemeRole);

/// The lines under the box.
pub(super) fn consequence_lines(
    text: &ComposerTextBox,
    cx: &PaneContext<'_>,
) -> Vec<ConsequenceLine> {
    match &text.topic {
        ComposerTopic::Changes { .. } => {
            let mut lines = destination_lines(text, cx);
            lines.push(("then", next_revision_text(cx), ThemeRole::Dim));
            lines
        }
        ComposerTopic::Answer { .. } | ComposerTopic::Comment { .. } => Vec::new(),
    }
}

fn next_revision_text(cx: &PaneContext<'_>) -> String {
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
fn destination_lines(text: &ComposerTextBox, cx: &PaneContext<'_>) -> Vec<ConsequenceLine> {
    let planning = &cx.state.planning;
    let Some(outline) = planning.outline.as_deref() else { return Vec::new() };
    let words = text.text();
    let stage = stage_text(text, &words, cx);
    if words.is_empty() {
        return vec![("goes to", stage, ThemeRole::Text)];
    }
    if !planning.offline {
        let drafter = clean_line(planning.drafter.as_str());
        let line = format!("{stage}, {drafter} reads it and redrafts");
        return vec![("goes to", line, ThemeRole::Text)];
    }
    let marked: Vec<TaskId> =
        if text.marked_only { cx.ui.marks.iter().cloned().collect() } else { Vec::new() };
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let reading = change_requests::parse_change_request(
        &words,
        outline,
        planning.roadmap.as_deref(),
        &marked,
        today,
    );
    let read =
        match reading.edits.len() + reading.context.len() + usize::from(reading.approach.is_some())
        {
            0 => String::new(),
            changes => format!(", {} read", format_counted(changes, "change")),
        };
    let mut lines = vec![("goes to", format!("{stage}{read}"), ThemeRole::Text)];
    if let Some(first) = reading.unread.first() {
        let more = match reading.unread.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = format!("\"{}\"{more}: the offline planner leaves it open", clean_line(first));
        lines.push(("not read", words, ThemeRole::Warn));
    }
    lines
}

/// The stage that is gone back to and who says so.
fn stage_text(text: &ComposerTextBox, words: &str, cx: &PaneContext<'_>) -> String {
    if cx.state.planning.roadmap.is_none() {
        return stage_description(Stage::Outline).to_owned();
    }
    let (read, asked) = (detect_change_stage(words), text.stage);
    if words.is_empty() && asked.is_none() {
        return "the stage that your words are about".to_owned();
    }
    let stage = stage_description(resolve_change_stage(words, asked));
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

fn stage_description(stage: Stage) -> &'static str {
    match stage {
        Stage::Outline => "outline (structure changes)",
        Stage::Roadmap => "roadmap (estimates and order change)",
        Stage::Schedule => "schedule (hours and dates change)",
    }
}
