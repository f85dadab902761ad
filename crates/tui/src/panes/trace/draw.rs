//! Draws the window of the trace.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::kind_filter::TraceKindFilter;
use super::lines::StepLineStyle;
use super::search::find_match;
use super::window::{WindowRow, WrappedStep};
use crate::clock::format_time_of_day;
use crate::glyphs::step_glyph;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::approval::planning_wait;
use crate::panes::graph::title_of;
use crate::panes::trace::TraceColumns;
use crate::screen_areas::ScreenAreas;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::trace::TraceEntryKind;
use planwright_text::{clean_line, truncate_end, units};

/// The trace pane.
pub(crate) struct TracePane;

impl Pane for TracePane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        draw_rule(area, buf, cx);
        let body = trace_body(area, &cx.areas);
        if cx.trace.rows.is_empty() {
            draw_empty(body, buf, cx);
        }
        let mut before: Option<&WrappedStep> = None;
        for (row, y) in cx.trace.rows.iter().zip(body.y..body.bottom()) {
            let area = Rect { y, height: 1, ..body };
            match row {
                WindowRow::Step { step, line, later } => {
                    let head = step_head(step, before, cx);
                    draw_step(step, &head, *line, *later, area, buf, cx);
                    before = Some(step);
                }
                WindowRow::Cursor => draw_cursor(area, buf, cx),
            }
        }
    }
}

/// The rows of the pane that steps have.
pub(crate) fn trace_body(area: Rect, areas: &ScreenAreas) -> Rect {
    let top = u16::from(areas.tabs.is_empty()).min(area.height);
    Rect { y: area.y + top, height: area.height - top, ..area }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    // The tab says what the rule would.
    if !cx.areas.tabs.is_empty() {
        return;
    }
    let (kind, style) = cx.rule_style(PaneFocus::Trace);
    if area.height == 1 {
        let name = format!("activity · {}", step_count_text(cx));
        return draw_pane_rule(
            buf,
            area,
            kind,
            style,
            &[styled_piece(name, style)],
            &[styled_piece(last_step_text(cx), style)],
        );
    }
    let name = match planning_wait(cx) {
        Some(wait) => format!("activity · {}", wait.describe(cx.now)),
        None => format!("activity · {}", trace_summary(cx)),
    };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(step_count_text(cx), style)],
    );
}

/// The last step in a few words, for the rule of a collapsed trace.
fn last_step_text(cx: &PaneContext<'_>) -> String {
    let Some(step) = &cx.trace.last else { return String::new() };
    let words = format!("{} {}", format_time_of_day(step.entry.at, cx.time_zone), step.entry.text);
    truncate_end(&clean_line(&words), 60).into_owned()
}

/// Which steps are shown and from where, as the rule and the tab row say it.
pub(crate) fn trace_summary(cx: &PaneContext<'_>) -> String {
    let which = match &cx.ui.trace.only {
        Some(task) => match cx.state.tasks.owner_position(task) {
            Some(at) => format!("only {}", clean_line(title_of(cx.state, at))),
            None => format!("only {}", clean_line(task.as_str())),
        },
        None => "all tasks".to_owned(),
    };
    let how = match (cx.mode.is_past(), cx.ui.trace.following) {
        (true, true) => " · up to the cursor",
        (false, true) => " · following",
        (_, false) => "",
    };
    let kinds = match cx.ui.trace.kinds {
        TraceKindFilter::All => String::new(),
        kinds => format!(" · {}", kinds.label()),
    };
    let role = match cx.ui.trace.role {
        Some(role) => format!(" · {}", role.as_str()),
        None => String::new(),
    };
    format!("{which}{kinds}{role}{how}")
}

fn step_count_text(cx: &PaneContext<'_>) -> String {
    let total = units::format_count(cx.trace.total as u64);
    let steps = if cx.trace.total == 1 { "step" } else { "steps" };
    if cx.mode.is_past() {
        format!("{} of {total} {steps}", units::format_count(cx.trace.so_far as u64))
    } else {
        format!("{total} {steps}")
    }
}

fn draw_empty(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let ui = &cx.ui.trace;
    let text = match (&ui.only, ui.role, ui.kinds) {
        (_, Some(_), _) => "No step of an agent belongs to this phase.",
        (_, None, kinds) if kinds != TraceKindFilter::All => "There are no steps of this kind.",
        (Some(_), ..) => "Nothing has happened to this task yet.",
        (None, ..) if cx.planning => {
            "No plan yet. What the planner does appears here, then the plan."
        }
        (None, ..) => "Nothing has happened yet. Steps appear here once the plan is approved.",
    };
    ScreenLine::new(buf, Rect { height: body.height.min(1), ..body })
        .skip(2)
        .put(text, cx.style(ThemeRole::Dim));
}

/// What stands before the text of a step: time and title, as far as they are not those of the step above.
fn step_head<'a>(
    step: &'a WrappedStep,
    before: Option<&WrappedStep>,
    cx: &'a PaneContext<'_>,
) -> (String, &'a str) {
    let entry = &step.entry;
    let time = format_time_of_day(entry.at, cx.time_zone);
    let title = entry.task.as_ref().map_or("", |task| cx.columns.task_title(cx.state, task));
    // What came of an action belongs to it.
    let follows = before
        .filter(|before| entry.kind == TraceEntryKind::Observed && before.entry.task == entry.task);
    match follows {
        Some(before) if format_time_of_day(before.entry.at, cx.time_zone) == time => {
            (String::new(), "")
        }
        Some(_) => (time, ""),
        None => (time, title),
    }
}

fn draw_step(
    step: &WrappedStep,
    (time, title): &(String, &str),
    number: usize,
    later: bool,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let entry = &step.entry;
    let (glyph, role) = step_glyph(entry.kind);
    let dim = cx.style(ThemeRole::Dim);
    let own = |style: Style| if later { dim } else { style };
    let under = cx.ui.focus == PaneFocus::Trace && cx.ui.trace.cursor == Some(entry.seq);
    if under {
        buf.set_style(area, cx.style(ThemeRole::Selection));
    }
    // One column of air at both edges.
    let mut line = ScreenLine::new(buf, Rect { width: area.width.saturating_sub(1), ..area });
    line.skip(1);
    if number == 0 {
        line.put_column(time, TraceColumns::time_width(), dim);
        if cx.columns.title > 0 {
            line.put_column(title, usize::from(cx.columns.title), own(cx.style(ThemeRole::Text)));
        }
        line.put(&format!("{glyph} "), own(cx.style(role)));
        if cx.columns.words {
            line.put_column(step_word(entry.kind), TraceColumns::word_width(), own(cx.style(role)));
        }
    } else if matches!(step.lines.get(number), Some((_, StepLineStyle::Skipped))) {
        line.skip(usize::from(cx.columns.glyph_column()) - 1);
        line.put("» ", cx.style(ThemeRole::Skipped));
        line.skip(if cx.columns.words { TraceColumns::word_width() } else { 0 });
    } else {
        line.skip(usize::from(cx.columns.text_column()) - 1);
    }
    if under && number == 0 && entry.body.is_some() {
        let words =
            if cx.ui.trace.unfolded.contains(&entry.seq) { "Enter folds" } else { "Enter unfolds" };
        line.put_right(&[styled_piece(words, cx.style(ThemeRole::Key)), styled_piece(" ", dim)]);
    }
    if let Some((text, look)) = step.lines.get(number) {
        let role = line_role(*look).unwrap_or_else(|| text_role(entry.kind));
        let style = own(cx.style(role));
        match cx.ui.trace.search.as_ref() {
            Some(search) => put_matches(&mut line, text, search.query(), style),
            None => {
                line.put(text, style);
            }
        }
    }
}

/// The role of a line that is not like the rest of its step.
pub(super) fn line_role(look: StepLineStyle) -> Option<ThemeRole> {
    match look {
        StepLineStyle::Plain => None,
        StepLineStyle::Heading => Some(ThemeRole::Text),
        StepLineStyle::Code => Some(ThemeRole::Untrusted),
        StepLineStyle::Added => Some(ThemeRole::DiffAdded),
        StepLineStyle::Removed => Some(ThemeRole::DiffRemoved),
        StepLineStyle::Hunk
        | StepLineStyle::Why
        | StepLineStyle::WhyContinued
        | StepLineStyle::Skipped
        | StepLineStyle::More => Some(ThemeRole::Dim),
    }
}

/// Writes text with what was searched for reversed.
fn put_matches(line: &mut ScreenLine<'_>, text: &str, query: &str, style: Style) {
    let mut rest = text;
    while let Some((from, to)) = find_match(rest, query) {
        line.put(&rest[..from], style);
        line.put(&rest[from..to], style.add_modifier(Modifier::REVERSED));
        rest = &rest[to..];
    }
    line.put(rest, style);
}

/// The word for a step of an agent; what the text says itself is not said twice.
fn step_word(kind: TraceEntryKind) -> &'static str {
    match kind {
        TraceEntryKind::Thought | TraceEntryKind::Action | TraceEntryKind::Observed => kind.label(),
        _ => "",
    }
}

/// Model and tool text looks alike whatever it says.
pub(super) fn text_role(kind: TraceEntryKind) -> ThemeRole {
    match kind {
        TraceEntryKind::Thought => ThemeRole::Thought,
        TraceEntryKind::Action | TraceEntryKind::Observed | TraceEntryKind::Unknown => {
            ThemeRole::Untrusted
        }
        TraceEntryKind::Session | TraceEntryKind::Run | TraceEntryKind::Plan => ThemeRole::Dim,
        _ => ThemeRole::Text,
    }
}

fn draw_cursor(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let style = cx.theme.replay_style();
    let name = format_time_of_day(cx.now, cx.time_zone);
    let kind = crate::widgets::RuleKind { focus: false, past: true };
    draw_pane_rule(buf, area, kind, style, &[styled_piece(name, style)], &[]);
}
