//! The lines of a card: question, why, corrections, forecast, what must be seen byte for byte, evidence.

use crate::model::{Request, RequestId, RequestKind, RunKind};
use crate::state::SessionState;
use crate::text::{Revealed, clean, display_width, reveal_segments, wrap, wrap_exact};
use crate::tui::theme::Role;

use super::forecast;

/// A line in pieces of one role each. The text is clean.
pub(crate) type CardLine = Vec<(String, Role)>;

/// The column in which values begin.
const LABEL: usize = 17;

/// The lines of the card in the panel, wrapped to its width.
#[derive(Debug, Default)]
pub(crate) struct CardCache {
    key: Option<(RequestId, usize, Option<u32>)>,
    pub(crate) lines: Vec<CardLine>,
    /// Rows that the lines have on the screen.
    pub(crate) room: usize,
}

impl CardCache {
    /// Builds the lines unless they are at hand.
    pub(crate) fn look(
        &mut self,
        request: &Request,
        state: &SessionState,
        width: usize,
        room: usize,
    ) {
        let revision = state.plan.current.as_ref().map(|plan| plan.revision);
        let key = Some((request.id, width, revision));
        if self.key != key {
            self.key = key;
            self.lines = lines(request, state, width.max(10));
        }
        self.room = room;
    }

    /// How many lines are below the ones on the screen.
    pub(crate) fn below(&self, scroll: usize) -> usize {
        self.lines.len().saturating_sub(scroll + self.room)
    }

    /// The furthest one can scroll.
    pub(crate) fn most(&self) -> usize {
        self.lines.len().saturating_sub(self.room)
    }
}

fn lines(request: &Request, state: &SessionState, width: usize) -> Vec<CardLine> {
    let mut lines = Vec::new();
    paragraph(&mut lines, &request.question, Role::Key, width);
    paragraph(&mut lines, &request.why, Role::Dim, width);
    let plan = match request.kind {
        RequestKind::FinalPlan { .. } => state.plan.current.as_deref(),
        _ => None,
    };
    if let Some(revision) = plan {
        for note in &revision.normalization {
            let task = note.task_id.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
            labelled(&mut lines, &note.code, &format!("{task}{}", note.detail), Role::Warn, width);
        }
        lines.push(Vec::new());
        lines.push(vec![("Forecast".to_owned(), Role::Text)]);
        for (label, text) in forecast::rows(revision, state) {
            labelled(&mut lines, label, &text, Role::Text, width);
        }
    }
    commands(&mut lines, request, state, width);
    for detail in &request.details {
        labelled(&mut lines, &detail.label, &detail.text, Role::Text, width);
    }
    lines
}

/// Everything that must be seen byte for byte: what the request quotes, then every command of the plan.
fn commands(lines: &mut Vec<CardLine>, request: &Request, state: &SessionState, width: usize) {
    let plan = match request.kind {
        RequestKind::FinalPlan { .. } => state.plan.current.as_deref(),
        _ => None,
    };
    let tasks = plan.map(|revision| revision.plan.tasks.as_slice()).unwrap_or_default();
    let planned: Vec<(&str, &str)> = tasks
        .iter()
        .filter_map(|task| match &task.run {
            RunKind::Shell(command) => Some((task.id.as_str(), command.as_str())),
            RunKind::Agent {} | RunKind::Human {} => None,
        })
        .collect();
    // The request may quote the plan's commands; they are shown once, under their task.
    for quoted in &request.verbatim {
        if !planned.iter().any(|(_, command)| *command == quoted.text) {
            lines.push(Vec::new());
            lines.push(vec![(format!("  {}", clean(&quoted.label).replace('\n', " ")), Role::Dim)]);
            verbatim(lines, &quoted.text, width);
        }
    }
    if !planned.is_empty() {
        lines.push(Vec::new());
        let count = planned.len();
        let heading = if count == 1 { "Command".to_owned() } else { format!("Commands, {count}") };
        lines.push(vec![
            (heading, Role::Text),
            ("   byte for byte, in the workspace directory ".to_owned(), Role::Dim),
            (crate::text::clean_line(&state.session.workspace).into_owned(), Role::Dim),
        ]);
        for (task, command) in planned {
            lines.push(vec![(format!("  {}", crate::text::clean_line(task)), Role::Dim)]);
            verbatim(lines, command, width);
        }
    }
    if !request.details.is_empty() {
        lines.push(Vec::new());
    }
}

fn paragraph(lines: &mut Vec<CardLine>, text: &str, role: Role, width: usize) {
    lines.extend(
        wrap(&clean(text), width, 0).into_iter().map(|line| vec![(line.into_owned(), role)]),
    );
}

/// A label and its text, further lines hanging under the text.
fn labelled(lines: &mut Vec<CardLine>, label: &str, text: &str, role: Role, width: usize) {
    let label = crate::text::clean_line(label);
    let text = clean(text);
    let column = LABEL.max(display_width(&label) + 4).min(width / 2);
    let wrapped = wrap(&text, width.saturating_sub(column).max(8), 0);
    for (index, part) in wrapped.into_iter().enumerate() {
        let lead = if index == 0 { format!("  {label}") } else { String::new() };
        let lead = crate::text::fit(&lead, column).into_owned();
        lines.push(vec![(lead, Role::Dim), (part.into_owned(), role)]);
    }
}

/// Text behind a bar, wrapped but never cut, with everything that hides spelled out.
fn verbatim(lines: &mut Vec<CardLine>, text: &str, width: usize) {
    let room = width.saturating_sub(3).max(8);
    let mut row = Row::default();
    for segment in reveal_segments(text) {
        let role = match &segment {
            Revealed::Plain(_) => Role::Text,
            Revealed::Marked(_) => Role::Warn,
        };
        for (index, part) in segment.as_str().split('\n').enumerate() {
            if index > 0 {
                row.finish(lines);
            }
            row.push(part, role, room, lines);
        }
    }
    row.finish(lines);
}

/// A row of verbatim text that is being filled.
#[derive(Default)]
struct Row {
    pieces: CardLine,
    used: usize,
}

impl Row {
    fn push(&mut self, text: &str, role: Role, room: usize, lines: &mut Vec<CardLine>) {
        if text.is_empty() {
            return;
        }
        let width = display_width(text);
        if self.used + width <= room {
            self.used += width;
            self.pieces.push((text.to_owned(), role));
            return;
        }
        if self.used > 0 {
            self.finish(lines);
        }
        let mut parts = wrap_exact(text, room).into_iter().peekable();
        while let Some(part) = parts.next() {
            self.used = display_width(&part);
            self.pieces.push((part.into_owned(), role));
            if parts.peek().is_some() {
                self.finish(lines);
            }
        }
    }

    fn finish(&mut self, lines: &mut Vec<CardLine>) {
        let mut line = vec![(" ┃ ".to_owned(), Role::RiskExecute)];
        line.append(&mut self.pieces);
        self.used = 0;
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        verbatim(&mut lines, text, width);
        lines.iter().map(|line| line[1..].iter().map(|(text, _)| text.as_str()).collect()).collect()
    }

    #[test]
    fn a_command_is_shown_whole_however_narrow_the_card() {
        let command = "cargo test --workspace --no-fail-fast -- --skip slow_";
        for width in [11, 20, 33, 200] {
            assert_eq!(shown(command, width).concat(), command);
        }
    }

    #[test]
    fn what_hides_is_spelled_out() {
        assert_eq!(shown("rm\u{202e} x", 40), ["rm<U+202E> x"]);
        assert_eq!(shown("a\nb", 40), ["a", "b"]);
        assert_eq!(shown("a\u{1b}[2Jb", 40), ["a<U+001B>[2Jb"]);
    }
}
