//! Draws a composer over the approval pane.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;

use super::form::ComposerForm;
use super::{Composer, ComposerTextBox, ComposerTopic, LIMIT, RequestReadingLine};
use crate::pane_context::PaneContext;
use crate::panes::approval::{current_request, request_subject};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, format_counted, pieces_width, styled_piece};
use planwright_model::{ChoiceAction, TaskId};
use planwright_text::{display_width, units, wrap_words};

/// Rows of text that a box shows at least and at most.
const ROWS: (u16, u16) = (2, 10);
/// A box never exceeds this width.
const WIDTH: u16 = 120;
/// From so many columns on what becomes of a request stands beside it.
const SIDE_BY_SIDE: u16 = 90;
/// Columns of the labels, and of what was said.
const LABEL: usize = 12;
const SAID: usize = 40;

/// Lines that a request for changes keeps for what is read of it, so that the plan above does not move with every word.
const READING_ROWS: usize = 5;

impl Composer {
    /// Rows that all of it takes, its rule and its keys included.
    pub(crate) fn wanted_rows(&self, width: u16, marks: usize) -> u16 {
        let rows = match self {
            Self::Form(form) => 2 * form.rows.len() + 2,
            Self::Text(text) => {
                let inner = usize::from(width.min(WIDTH).saturating_sub(6)).max(1);
                let typed = text.row_count(inner).clamp(ROWS.0.into(), ROWS.1.into()) + 2;
                let (lead, read) = match &text.topic {
                    ComposerTopic::Changes { .. } => {
                        let marked = if text.marked_only { marks.min(6) } else { 0 };
                        (marked, reading_rows(text, width).len().max(READING_ROWS))
                    }
                    ComposerTopic::Comment { .. } | ComposerTopic::CommentLine { .. } => (2, 0),
                    _ => (1, 0),
                };
                typed + lead + read + 2
            }
        };
        u16::try_from(rows).unwrap_or(u16::MAX)
    }
}

pub(crate) fn draw_composer(
    composer: &Composer,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let area = Rect { width: area.width.min(WIDTH), ..area };
    match composer {
        Composer::Text(text) => draw_text(text, area, buf, cx),
        Composer::Form(form) => draw_form(form, area, buf, cx),
    }
}

fn draw_heading(
    area: Rect,
    name: &str,
    facts: &str,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) -> Rect {
    let top = u16::from(cx.class != SizeClass::Small);
    if top > 0 {
        let (kind, style) = cx.rule_style(PaneFocus::Approval);
        draw_pane_rule(
            buf,
            area,
            kind,
            style,
            &[styled_piece(name, style)],
            &[styled_piece(facts, style)],
        );
    }
    Rect { y: area.y + top, height: area.height.saturating_sub(top), ..area }
}

fn draw_text(text: &ComposerTextBox, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (name, facts) = title_and_facts(text, cx);
    let body = draw_heading(area, &name, &facts, buf, cx);
    let mut rows = ComposerRows { left: body };
    let bottom = rows.take_bottom();
    draw_lead(text, &mut rows, buf, cx);
    let after = reading_rows(text, body.width);
    let room = rows.left.height.saturating_sub(after.len() as u16);
    let width = body.width.saturating_sub(2);
    // A box grows with its text, to a point; then it scrolls.
    let rows_needed = text.row_count(usize::from(width.saturating_sub(4)).max(1)) as u16;
    let height = room.max(3).min(rows_needed.clamp(ROWS.0, ROWS.1) + 2).min(rows.left.height);
    let frame = Rect { x: body.x + 1, width, height, y: rows.left.y };
    draw_box(text, frame, buf, cx);
    let mut places = frame.bottom()..=bottom.y;
    for (reading, y) in after.iter().zip(&mut places) {
        let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..body });
        line.skip(3).put_column(reading.label, LABEL, cx.style(ThemeRole::Dim));
        let style = cx.style(reading.role);
        if body.width >= SIDE_BY_SIDE && (reading.said.is_empty() || !reading.effect.is_empty()) {
            line.put_column(&reading.said, SAID - 1, style)
                .skip(1)
                .put(&reading.effect, cx.style(ThemeRole::Dim));
        } else {
            line.put(&reading.said, style).put(&reading.effect, cx.style(ThemeRole::Dim));
        }
    }
    let y = places.next().unwrap_or(bottom.y);
    draw_hints(text, Rect { y, ..bottom }, buf, cx);
}

/// The rows of what was read. Where what becomes of a request stands beside it, it has as many as it needs.
fn reading_rows(text: &ComposerTextBox, width: u16) -> Vec<RequestReadingLine> {
    let width = width.min(WIDTH);
    if width < SIDE_BY_SIDE {
        let room = usize::from(width).saturating_sub(3 + LABEL + 1).max(8);
        return text.reading.iter().flat_map(|reading| stacked_rows(reading, room)).collect();
    }
    let room = usize::from(width).saturating_sub(3 + LABEL + SAID + 1).max(8);
    let rows = text.reading.iter().flat_map(|reading| {
        let mut parts = wrap_words(&reading.effect, room, 0).into_iter().map(Cow::into_owned);
        let first =
            RequestReadingLine { effect: parts.next().unwrap_or_default(), ..reading.clone() };
        let more = parts.map(|part| RequestReadingLine {
            label: "",
            said: String::new(),
            effect: part,
            ..reading.clone()
        });
        std::iter::once(first).chain(more).collect::<Vec<_>>()
    });
    rows.collect()
}

/// A request, and behind it in the same lines what becomes of it.
fn stacked_rows(reading: &RequestReadingLine, room: usize) -> Vec<RequestReadingLine> {
    let both = !reading.said.is_empty() && !reading.effect.is_empty();
    let between = if both { ": " } else { "" };
    let text = format!("{}{between}{}", reading.said, reading.effect);
    let mut left = reading.said.chars().count() + between.len();
    let mut rows = Vec::new();
    for part in wrap_words(&text, room, 0) {
        let said: String = part.chars().take(left).collect();
        let effect: String = part.chars().skip(left).collect();
        // The space at which a line ends is in neither of the two.
        left = left.saturating_sub(part.chars().count() + 1);
        let label = if rows.is_empty() { reading.label } else { "" };
        rows.push(RequestReadingLine { label, said, effect, ..reading.clone() });
    }
    rows
}

fn title_and_facts(text: &ComposerTextBox, cx: &PaneContext<'_>) -> (String, String) {
    match &text.topic {
        ComposerTopic::Changes { .. } => {
            let (draft, _) = crate::panes::plan::draft_numbers(cx.state);
            let scope = match (text.marked_only, cx.ui.marks.len()) {
                (true, marked) => format!("{} only", format_counted(marked, "marked row")),
                (false, _) => "whole plan".to_owned(),
            };
            let locked = match cx.state.planning.locked.len() {
                0 => String::new(),
                count => format!(" · {} locked", format_counted(count, "row")),
            };
            (format!("request changes · draft {draft}"), format!("{scope}{locked}"))
        }
        ComposerTopic::Answer { label, .. } => {
            let about =
                current_request(cx.state, cx.ui).map(|request| request_subject(&request.kind));
            (format!("{label} · {}", about.unwrap_or_default()), String::new())
        }
        ComposerTopic::Message { task } => {
            (format!("message to the agent · {}", row_title(cx, task)), String::new())
        }
        ComposerTopic::CommentLine { line, .. } => {
            (format!("comment on line {line}"), String::new())
        }
        ComposerTopic::Comment { nodes } => {
            let title = |id: &TaskId| row_title(cx, id);
            let titles: Vec<String> = nodes.iter().map(title).collect();
            (format!("comment on {}", titles.join(", ")), String::new())
        }
    }
}

fn row_title(cx: &PaneContext<'_>, id: &TaskId) -> String {
    let row = cx.plan.rows.position(id).map(|at| &cx.plan.rows.all[at]);
    row.map_or_else(|| id.to_string(), |row| row.title.clone())
}

/// What stands above the box: which nodes it is about, or what the words are for.
fn draw_lead(
    text: &ComposerTextBox,
    rows: &mut ComposerRows,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let dim = cx.style(ThemeRole::Dim);
    match &text.topic {
        ComposerTopic::Changes { .. } => {
            if text.marked_only {
                draw_marked_rows(rows, buf, cx);
            }
        }
        ComposerTopic::Answer { action: ChoiceAction::Deny, .. } => {
            ScreenLine::new(buf, rows.take_top())
                .skip(1)
                .put("Why not? The agent gets it as the result; it may be empty.", dim);
        }
        ComposerTopic::Answer { action: ChoiceAction::AllowAlways, .. } => {
            let words = "Saved to your settings: exactly this command, or its first words and *.";
            ScreenLine::new(buf, rows.take_top()).skip(1).put(words, dim);
        }
        ComposerTopic::Answer { .. } => {
            if let Some(request) = current_request(cx.state, cx.ui) {
                ScreenLine::new(buf, rows.take_top())
                    .skip(1)
                    .put(&request.question, cx.style(ThemeRole::Text));
            }
        }
        ComposerTopic::Message { .. } => {
            let words = "The agent reads it before its next step. It keeps working meanwhile.";
            ScreenLine::new(buf, rows.take_top()).skip(1).put(words, dim);
        }
        ComposerTopic::Comment { nodes } => {
            if let [node] = nodes.as_slice()
                && let Some(at) = cx.plan.rows.position(node)
            {
                let title = &cx.plan.rows.all[at].title;
                ScreenLine::new(buf, rows.take_top()).skip(1).put(title, cx.style(ThemeRole::Text));
            }
            ScreenLine::new(buf, rows.take_top()).skip(1).put(&comment_fate(cx), dim);
        }
        ComposerTopic::CommentLine { quote, .. } => {
            let quote = planwright_text::reveal_hidden(quote);
            ScreenLine::new(buf, rows.take_top())
                .skip(1)
                .put(quote.trim(), cx.style(ThemeRole::Untrusted));
            ScreenLine::new(buf, rows.take_top()).skip(1).put(&comment_fate(cx), dim);
        }
    }
}

/// What becomes of a comment.
fn comment_fate(cx: &PaneContext<'_>) -> String {
    if !cx.state.desk.is_ticket() {
        return "It goes to the next draft, which says what became of it.".to_owned();
    }
    let agent = planwright_text::clean_line(cx.state.desk.agent_name());
    format!("{agent} gets it when you request changes.")
}

/// The marked nodes and whether they may change.
fn draw_marked_rows(rows: &mut ComposerRows, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let most = usize::from(rows.left.height.saturating_sub(6)).min(5);
    let titles = cx.ui.marks.iter().filter_map(|id| cx.plan.rows.position(id));
    let widest = titles.map(|at| display_width(&cx.plan.rows.all[at].title)).max().unwrap_or(0);
    // Beside the title: marks, time and whether the row may change.
    let room = usize::from(rows.left.width).saturating_sub(44).max(20);
    let title_cells = widest.min(room);
    for id in cx.ui.marks.iter().take(most) {
        let locked = cx.state.planning.locked.contains(id);
        let row = cx.plan.rows.position(id).map(|at| &cx.plan.rows.all[at]);
        let mut line = ScreenLine::new(buf, rows.take_top());
        line.skip(3).put("* ", cx.theme.bold_style(ThemeRole::Focus));
        line.put_column(if locked { "#" } else { "" }, 2, cx.style(ThemeRole::Warn));
        line.put_column(
            row.map_or("", |row| row.title.as_str()),
            title_cells,
            cx.style(ThemeRole::Text),
        )
        .skip(2);
        let minutes = row.and_then(|row| row.minutes);
        let minutes =
            minutes.map(|minutes| units::format_planned(minutes.into())).unwrap_or_default();
        line.put_column(&minutes, 10, cx.style(ThemeRole::Dim));
        if locked {
            line.put("locked, will not change", cx.style(ThemeRole::Warn));
        } else {
            line.put("may change", cx.style(ThemeRole::Dim));
        }
    }
    if cx.ui.marks.len() > most {
        let text = format!("and {} more", cx.ui.marks.len() - most);
        ScreenLine::new(buf, rows.take_top()).skip(5).put(&text, cx.style(ThemeRole::Dim));
    }
}

fn draw_box(text: &ComposerTextBox, frame: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if frame.height < 3 || frame.width < 4 {
        return;
    }
    crate::widgets::draw_heavy_frame(buf, frame, cx.style(ThemeRole::Focus));
    let inner =
        Rect { x: frame.x + 2, y: frame.y + 1, width: frame.width - 4, height: frame.height - 2 };
    let mut area = text.area.clone();
    area.set_style(cx.style(ThemeRole::Text));
    area.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
    (&area).render(inner, buf);
}

fn draw_hints(text: &ComposerTextBox, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let count = format!(
        "{}/{} ",
        units::format_count(text.char_count() as u64),
        units::format_count(LIMIT as u64)
    );
    let mut line = ScreenLine::new(buf, row);
    line.put_right(&[styled_piece(count, dim)]).skip(1);
    let mut hints = vec![("Enter", "send"), ("Ctrl-J", "new line")];
    if !cx.ui.marks.is_empty() && matches!(text.topic, ComposerTopic::Changes { .. }) {
        let scope = if text.marked_only { "whole plan" } else { "marked rows only" };
        hints.push(("Tab", scope));
    }
    if matches!(text.topic, ComposerTopic::Comment { .. }) && cx.state.desk.submission.is_some() {
        hints.push(("Tab", "a line of the text"));
    }
    // A narrow box says less, but every key whole.
    let close = if row.width < 90 { "keep" } else { "keep for later" };
    hints.insert(1, ("Esc", close));
    hints.push(("Ctrl-G", "editor"));
    for (key, words) in hints {
        let hint =
            [styled_piece(key, cx.style(ThemeRole::Key)), styled_piece(format!(" {words}"), dim)];
        // An entry is shown whole or not at all.
        if pieces_width(&hint) > line.cells_left() {
            break;
        }
        line.put_pieces(&hint).skip(2);
    }
}

fn draw_form(form: &ComposerForm, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let facts = format!("{} of {}", form.at + 1, form.rows.len());
    let body = draw_heading(area, &form.title, &facts, buf, cx);
    let mut rows = ComposerRows { left: body };
    let bottom = rows.take_bottom();
    let room = usize::from(rows.left.height / 2).max(1);
    let top = (form.at + 1).saturating_sub(room);
    for (index, row) in form.rows.iter().enumerate().skip(top).take(room) {
        let under = index == form.at;
        let label = rows.take_top();
        let mut line = ScreenLine::new(buf, label);
        let style =
            if under { cx.theme.bold_style(ThemeRole::Text) } else { cx.style(ThemeRole::Text) };
        line.skip(1).put(&row.label, style).skip(3).put(&row.hint, cx.style(ThemeRole::Dim));
        let place = rows.take_top();
        if under {
            ScreenLine::new(buf, place).skip(1).put(">", cx.style(ThemeRole::Focus));
            let field = Rect { x: place.x + 3, width: place.width.saturating_sub(4), ..place };
            row.field.draw(field, cx.style(ThemeRole::Text), buf);
        } else {
            ScreenLine::new(buf, place)
                .skip(3)
                .put(row.field.text(), cx.style(ThemeRole::Untrusted));
        }
    }
    // Keys stand under the last field, not at the far end of an empty panel.
    let y = rows.left.y.min(bottom.y);
    let mut line = ScreenLine::new(buf, Rect { y, ..bottom });
    line.skip(1);
    let next = if form.rows.len() == 1 { "send" } else { "next, send from the last" };
    let mut hints = vec![("Enter", next), ("Ctrl-S", "send"), ("Esc", "close")];
    if form.rows.len() == 1 {
        hints.remove(1);
    }
    for (key, words) in hints {
        line.put(key, cx.style(ThemeRole::Key))
            .put(&format!(" {words}"), cx.style(ThemeRole::Dim))
            .skip(2);
    }
}

/// Rows still to be filled.
struct ComposerRows {
    left: Rect,
}

impl ComposerRows {
    fn take_top(&mut self) -> Rect {
        let height = self.left.height.min(1);
        let row = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        row
    }

    fn take_bottom(&mut self) -> Rect {
        let height = self.left.height.min(1);
        self.left.height -= height;
        Rect { y: self.left.y + self.left.height, height, ..self.left }
    }
}
