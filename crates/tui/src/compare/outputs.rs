//! What one task printed in both runs, as a difference.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use similar::ChangeTag;

use super::CompareScreen;
use crate::session_actions::CompareView;
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, format_counted, styled_piece};
use planwright_model::event::Event;
use planwright_model::{Seq, TaskId};
use planwright_state::replay::compare::TaskComparison;
use planwright_state::replay::{History, MissingOutput, RecordSourceError};
use planwright_text::clean_line;

/// As much output of a run is compared; more would hold up the keys.
const MOST_LINES: usize = 20_000;
/// How long the difference may be searched for; after that it is less tidy.
const LONGEST_SEARCH: std::time::Duration = std::time::Duration::from_millis(300);

/// A line of the difference.
#[derive(Debug)]
struct OutputLine {
    tag: ChangeTag,
    text: String,
}

/// The outputs of one task in both runs.
#[derive(Debug)]
pub(super) struct TaskOutputs {
    title: String,
    lines: Vec<OutputLine>,
    counts: [usize; 2],
    cut: bool,
    top: usize,
}

impl TaskOutputs {
    /// Reads what a task printed and starts a little before the first difference.
    pub(super) fn read(
        task: &TaskComparison,
        view: &mut CompareView,
    ) -> Result<Self, RecordSourceError> {
        let twin = task.task_in_b.as_ref().unwrap_or(&task.task);
        let (a, cut_a) = read_output(&task.task, &mut view.a)?;
        let (b, cut_b) = read_output(twin, &mut view.b)?;
        let difference = similar::TextDiff::configure().timeout(LONGEST_SEARCH).diff_lines(&a, &b);
        let lines: Vec<OutputLine> = difference
            .iter_all_changes()
            .map(|change| OutputLine {
                tag: change.tag(),
                text: clean_line(change.value().trim_end_matches('\n')).into_owned(),
            })
            .collect();
        let first = lines.iter().position(|line| line.tag != ChangeTag::Equal).unwrap_or(0);
        Ok(Self {
            title: clean_line(&task.title).into_owned(),
            lines,
            counts: [a.lines().count(), b.lines().count()],
            cut: cut_a || cut_b,
            top: first.saturating_sub(3),
        })
    }

    pub(super) fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.lines.len().saturating_sub(1));
    }

    /// Goes to the next place where the outputs differ, or to the one before.
    pub(super) fn go_to_difference(&mut self, forward: bool) {
        let begins = |at: &usize| {
            let differs =
                |line: Option<&OutputLine>| line.is_some_and(|line| line.tag != ChangeTag::Equal);
            let before = at.checked_sub(1).and_then(|before| self.lines.get(before));
            differs(self.lines.get(*at)) && !differs(before)
        };
        let found = if forward {
            (self.top + 1..self.lines.len()).find(begins)
        } else {
            (0..self.top).rev().find(begins)
        };
        self.top = found.unwrap_or(self.top);
    }
}

/// All that a task printed, in the order in which it came, and whether that was more than is compared.
fn read_output(task: &TaskId, history: &mut History) -> Result<(String, bool), RecordSourceError> {
    let timeline = history.build_timeline()?;
    let (mut text, mut lines) = (String::new(), 0);
    let mut missing = MissingOutput::default();
    let steps: Vec<Seq> = timeline.steps_of(Some(task), 0).map(|(_, step)| step.seq).collect();
    for seq in steps {
        let Some(record) = history.record_at(seq)? else { break };
        let Event::Call(event) = &record.event else { continue };
        let Some(printed) = history.printed_output(event)? else { continue };
        missing.add(event.call_id(), printed.missing_bytes);
        if printed.text.is_empty() {
            continue;
        }
        if let Some(counted) = missing.take_line(event.call_id()) {
            text.push_str(&counted);
            text.push('\n');
        }
        let piece = printed.text;
        lines += piece.lines().count();
        if lines > MOST_LINES {
            return Ok((text, true));
        }
        text.push_str(&piece);
        if !piece.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok((text, false))
}

impl CompareScreen {
    pub(super) fn draw_outputs(&self, area: Rect, buf: &mut Buffer) {
        let Some(outputs) = &self.outputs else { return };
        let style = self.style(ThemeRole::Focus);
        let name = format!("outputs · {}", outputs.title);
        let [a, b] = outputs.counts.map(|count| format_counted(count, "line"));
        let cut = if outputs.cut { ", the rest is not compared" } else { "" };
        let facts = format!("A {a}, B {b}{cut}");
        let kind = RuleKind { focus: true, past: false };
        let (name, facts) = ([styled_piece(name, style)], [styled_piece(facts, style)]);
        draw_pane_rule(buf, area, kind, style, &name, &facts);
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        let same = outputs.lines.iter().all(|line| line.tag == ChangeTag::Equal);
        if outputs.lines.is_empty() || same {
            let words = if same && !outputs.lines.is_empty() {
                "Both printed the same."
            } else {
                "The task printed nothing in either run."
            };
            let row = Rect { height: body.height.min(1), ..body };
            ScreenLine::new(buf, row).skip(1).put(words, self.style(ThemeRole::Dim));
            return;
        }
        for (line, y) in outputs.lines.iter().skip(outputs.top).zip(body.y..body.bottom()) {
            let (sign, role) = match line.tag {
                ChangeTag::Equal => ("  ", ThemeRole::Untrusted),
                ChangeTag::Delete => ("- ", ThemeRole::DiffRemoved),
                ChangeTag::Insert => ("+ ", ThemeRole::DiffAdded),
            };
            let mut row = ScreenLine::new(buf, Rect { y, height: 1, ..body });
            row.skip(1).put(sign, self.style(role)).put(&line.text, self.style(role));
        }
    }
}
