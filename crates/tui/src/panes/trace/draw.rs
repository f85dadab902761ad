//! Draws the window of the trace.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::TEXT_COLUMN;
use super::kinds::Kinds;
use super::lines::Look;
use super::search::contains;
use super::window::{WindowRow, Wrapped};
use crate::areas::SizeClass;
use crate::clock::time_of_day;
use crate::context::{Pane, PaneContext};
use crate::glyphs::step_glyph;
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::{Line, piece, rule};
use planwright_state::trace::EntryKind;
use planwright_text::{clean_line, truncate_end, truncate_middle, units};

/// The trace pane.
pub(crate) struct TracePane;

impl Pane for TracePane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        draw_rule(area, buf, cx);
        let body = body(area, cx.class);
        if cx.trace.rows.is_empty() {
            draw_empty(body, buf, cx);
        }
        for (row, y) in cx.trace.rows.iter().zip(body.y..body.bottom()) {
            let area = Rect { y, height: 1, ..body };
            match row {
                WindowRow::Step { step, line, later } => {
                    draw_step(step, *line, *later, area, buf, cx);
                }
                WindowRow::Cursor => draw_cursor(area, buf, cx),
            }
        }
    }
}

/// The rows of the pane that steps have.
pub(crate) fn body(area: Rect, class: SizeClass) -> Rect {
    let top = u16::from(class != SizeClass::Small).min(area.height);
    Rect { y: area.y + top, height: area.height - top, ..area }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if cx.class == SizeClass::Small {
        return;
    }
    let (kind, style) = cx.rule(Focus::Trace);
    if cx.class.has_tabs() {
        return rule(buf, area, kind, style, &[], &[]);
    }
    if area.height == 1 {
        let name = format!("trace · {} · collapsed", count(cx));
        return rule(
            buf,
            area,
            kind,
            style,
            &[piece(name, style)],
            &[piece(last_words(cx), style)],
        );
    }
    let name = format!("trace · {}", summary(cx));
    rule(buf, area, kind, style, &[piece(name, style)], &[piece(count(cx), style)]);
}

/// The last step in a few words, for the rule of a collapsed trace.
fn last_words(cx: &PaneContext<'_>) -> String {
    let Some(step) = &cx.trace.last else { return String::new() };
    let words = format!("{} {}", time_of_day(step.entry.at, cx.time_zone), step.entry.text);
    truncate_end(&clean_line(&words), 60).into_owned()
}

/// Which steps are shown and from where, as the rule and the tab row say it.
pub(crate) fn summary(cx: &PaneContext<'_>) -> String {
    let which = match &cx.ui.trace.only {
        Some(task) => format!("only {}", clean_line(task.as_str())),
        None => "all tasks".to_owned(),
    };
    let how = match (cx.mode.is_past(), cx.ui.trace.following) {
        (true, true) => " · up to the cursor",
        (false, true) => " · following",
        (_, false) => "",
    };
    let kinds = match cx.ui.trace.kinds {
        Kinds::All => String::new(),
        kinds => format!(" · {}", kinds.word()),
    };
    let role = match cx.ui.trace.role {
        Some(role) => format!(" · prdv {}", role.as_str()),
        None => String::new(),
    };
    format!("{which}{kinds}{role}{how}")
}

fn count(cx: &PaneContext<'_>) -> String {
    let total = units::count(cx.trace.total as u64);
    let steps = if cx.trace.total == 1 { "step" } else { "steps" };
    if cx.mode.is_past() {
        format!("{} of {total} {steps}", units::count(cx.trace.so_far as u64))
    } else {
        format!("{total} {steps}")
    }
}

fn draw_empty(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let ui = &cx.ui.trace;
    let text = match (&ui.only, ui.role, ui.kinds) {
        (_, Some(_), _) => "no step of an agent belongs to this part of its loop",
        (_, None, kinds) if kinds != Kinds::All => "there are no steps of these kinds",
        (Some(_), ..) => "nothing has happened to this task yet",
        (None, ..) => "nothing has happened yet",
    };
    Line::new(buf, Rect { height: body.height.min(1), ..body })
        .skip(2)
        .put(text, cx.style(Role::Dim));
}

fn draw_step(
    step: &Wrapped,
    number: usize,
    later: bool,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let entry = &step.entry;
    let (glyph, role) = step_glyph(entry.kind);
    let dim = cx.style(Role::Dim);
    let own = |style: Style| if later { dim } else { style };
    let under = cx.ui.focus == Focus::Trace && cx.ui.trace.cursor == Some(entry.seq);
    if under {
        buf.set_style(area, cx.style(Role::Selection));
    }
    let mut line = Line::new(buf, area);
    line.skip(1);
    if number == 0 {
        let task = entry.task.as_ref().map(|task| clean_line(task.as_str())).unwrap_or_default();
        line.column(&time_of_day(entry.at, cx.time_zone), 10, dim);
        line.column(&truncate_middle(&task, 8), 10, own(cx.style(Role::Text)));
        line.column(&format!("{glyph} {}", entry.kind.word()), 12, own(cx.style(role)));
    } else if matches!(step.lines.get(number), Some((_, Look::Why))) {
        line.skip(usize::from(TEXT_COLUMN) - 11).column("why", 10, dim);
    } else {
        line.skip(usize::from(TEXT_COLUMN) - 1);
    }
    if under && number == 0 && entry.body.is_some() {
        let words =
            if cx.ui.trace.unfolded.contains(&entry.seq) { "Enter folds" } else { "Enter unfolds" };
        line.right(&[piece(words, cx.style(Role::Key)), piece(" ", dim)]);
    }
    if let Some((text, look)) = step.lines.get(number) {
        let role = look_role(*look).unwrap_or_else(|| text_role(entry.kind));
        let style = own(cx.style(role));
        match cx.ui.trace.search.as_ref() {
            Some(search) => put_found(&mut line, text, search.query(), style),
            None => {
                line.put(text, style);
            }
        }
    }
}

/// The role of a line that is not like the rest of its step.
fn look_role(look: Look) -> Option<Role> {
    match look {
        Look::Plain => None,
        Look::Heading => Some(Role::Text),
        Look::Code => Some(Role::Untrusted),
        Look::Added => Some(Role::DiffAdded),
        Look::Removed => Some(Role::DiffRemoved),
        Look::Hunk | Look::Why | Look::WhyOn => Some(Role::Dim),
    }
}

/// Writes text with what was searched for reversed.
fn put_found(line: &mut Line<'_>, text: &str, query: &str, style: Style) {
    let mut rest = text;
    while let Some((from, to)) = contains(rest, query) {
        line.put(&rest[..from], style);
        line.put(&rest[from..to], style.add_modifier(Modifier::REVERSED));
        rest = &rest[to..];
    }
    line.put(rest, style);
}

/// Model and tool text looks alike whatever it says.
fn text_role(kind: EntryKind) -> Role {
    match kind {
        EntryKind::Thought => Role::Thought,
        EntryKind::Action | EntryKind::Observed | EntryKind::Unknown => Role::Untrusted,
        EntryKind::Session | EntryKind::Run | EntryKind::Plan => Role::Dim,
        _ => Role::Text,
    }
}

fn draw_cursor(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let style = cx.theme.past();
    let name = format!("cursor, event {}", units::count(cx.state.seq.0));
    let kind = crate::widgets::RuleKind { focus: false, past: true };
    rule(buf, area, kind, style, &[piece(name, style)], &[]);
}
