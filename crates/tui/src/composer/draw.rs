//! Draws a composer over the approval pane.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;

use super::after;
use super::form::Form;
use super::{Composer, LIMIT, TextBox, Topic};
use crate::areas::SizeClass;
use crate::context::PaneContext;
use crate::panes::approval::{current, subject};
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::{Line, counted, piece, rule, width_of};
use planwright_model::{ChoiceAction, TaskId};
use planwright_text::{clean_line, truncate_middle, units};

/// Rows of text that a box shows at least and at most.
const ROWS: (u16, u16) = (4, 10);
/// A box never exceeds this width.
const WIDTH: u16 = 120;

pub(crate) fn draw(composer: &Composer, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let area = Rect { width: area.width.min(WIDTH), ..area };
    match composer {
        Composer::Text(text) => draw_text(text, area, buf, cx),
        Composer::Form(form) => draw_form(form, area, buf, cx),
    }
}

fn heading(area: Rect, name: &str, facts: &str, buf: &mut Buffer, cx: &PaneContext<'_>) -> Rect {
    let top = u16::from(cx.class != SizeClass::Small);
    if top > 0 {
        let (kind, style) = cx.rule(Focus::Approval);
        rule(buf, area, kind, style, &[piece(name, style)], &[piece(facts, style)]);
    }
    Rect { y: area.y + top, height: area.height.saturating_sub(top), ..area }
}

fn draw_text(text: &TextBox, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (name, facts) = title(text, cx);
    let body = heading(area, &name, &facts, buf, cx);
    let mut rows = Rows { left: body };
    let bottom = rows.bottom();
    lead(text, &mut rows, buf, cx);
    let after = after::lines(text, cx);
    let room = rows.left.height.saturating_sub(after.len() as u16);
    let width = body.width.saturating_sub(2);
    // A box grows with its text, to a point; then it scrolls.
    let rows_needed = text.rows(usize::from(width.saturating_sub(4)).max(1)) as u16;
    let height = room.min(rows_needed.clamp(ROWS.0, ROWS.1) + 2);
    let frame = Rect { x: body.x + 1, width, height, y: rows.left.y };
    draw_box(text, frame, buf, cx);
    let mut places = frame.bottom()..=bottom.y;
    for ((label, words, role), y) in after.iter().zip(&mut places) {
        let mut line = Line::new(buf, Rect { y, height: 1, ..body });
        line.skip(1).column(label, 10, cx.style(Role::Dim)).put(words, cx.style(*role));
    }
    let y = places.next().unwrap_or(bottom.y);
    draw_hints(text, Rect { y, ..bottom }, buf, cx);
}

fn title(text: &TextBox, cx: &PaneContext<'_>) -> (String, String) {
    match &text.topic {
        Topic::Changes { request } => {
            let about = request
                .and_then(|id| cx.state.requests.open.get(&id))
                .map(|open| subject(&open.request.kind))
                .or_else(|| {
                    let plan = cx.state.plan.current.as_ref()?;
                    Some(format!("plan r{} {}", plan.revision, plan.hash.short()))
                });
            let planning = &cx.state.planning;
            let rounds = if planning.begun {
                let round = planning.counters.revisions + 1;
                format!("round {round} of {}", planning.limits.revision_limit)
            } else {
                String::new()
            };
            (format!("request changes · {}", about.unwrap_or_default()), rounds)
        }
        Topic::Answer { label, .. } => {
            let about = current(cx.state, cx.ui).map(|request| subject(&request.kind));
            (format!("{label} · {}", about.unwrap_or_default()), String::new())
        }
        Topic::Comment { nodes } => (format!("comment on {}", ids(nodes)), String::new()),
    }
}

/// What stands above the box: which nodes it is about, or what the words are for.
fn lead(text: &TextBox, rows: &mut Rows, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(Role::Dim);
    match &text.topic {
        Topic::Changes { .. } => {
            let marked = cx.ui.marks.len();
            let mut line = Line::new(buf, rows.top());
            line.skip(1).put("for   ", dim);
            let dot = |on: bool| if on { "(x)" } else { "( )" };
            line.put(
                &format!("{} the whole plan   ", dot(!text.marked_only)),
                cx.style(Role::Text),
            );
            if marked > 0 {
                let words = format!("{} {}", dot(text.marked_only), counted(marked, "marked node"));
                line.put(&words, cx.style(Role::Text)).skip(3).put("Tab turns", dim);
            } else {
                let key = cx.keymap.key(crate::keymap::Action::Mark);
                line.put(&format!("{key} marks nodes to change those only"), dim);
            }
            if text.marked_only {
                marked_rows(rows, buf, cx);
            }
        }
        Topic::Answer { action: ChoiceAction::Deny, .. } => {
            Line::new(buf, rows.top())
                .skip(1)
                .put("Why not? The agent gets it as the result; it may be empty.", dim);
        }
        Topic::Answer { action: ChoiceAction::AllowAlways, .. } => {
            let words =
                "The rule for your config file: the exact command, or a prefix of it ending in *.";
            Line::new(buf, rows.top()).skip(1).put(words, dim);
        }
        Topic::Answer { .. } => {
            if let Some(request) = current(cx.state, cx.ui) {
                Line::new(buf, rows.top()).skip(1).put(&request.question, cx.style(Role::Text));
            }
        }
        Topic::Comment { nodes } => {
            if let [node] = nodes.as_slice()
                && let Some(at) = cx.plan.rows.position(node)
            {
                let title = &cx.plan.rows.all[at].title;
                Line::new(buf, rows.top()).skip(1).put(title, cx.style(Role::Text));
            }
            let words = "It goes to the next draft, which says what became of it.";
            Line::new(buf, rows.top()).skip(1).put(words, dim);
        }
    }
}

/// The marked nodes and whether they may change.
fn marked_rows(rows: &mut Rows, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let most = usize::from(rows.left.height.saturating_sub(6)).min(5);
    for id in cx.ui.marks.iter().take(most) {
        let locked = cx.state.planning.locked.contains(id);
        let row = cx.plan.rows.position(id).map(|at| &cx.plan.rows.all[at]);
        let mut line = Line::new(buf, rows.top());
        line.skip(3).put("* ", cx.theme.bold(Role::Focus));
        let clean = clean_line(id.as_str());
        line.column(&truncate_middle(&clean, 12), 13, cx.style(Role::Text));
        line.column(if locked { "#" } else { "" }, 2, cx.style(Role::Warn));
        line.column(row.map_or("", |row| row.title.as_str()), 36, cx.style(Role::Text)).skip(2);
        let minutes = row.and_then(|row| row.minutes);
        let minutes = minutes.map(|minutes| units::planned(minutes.into())).unwrap_or_default();
        line.column(&minutes, 10, cx.style(Role::Dim));
        if locked {
            line.put("locked, will not change", cx.style(Role::Warn));
        } else {
            line.put("may change", cx.style(Role::Dim));
        }
    }
    if cx.ui.marks.len() > most {
        let text = format!("and {} more", cx.ui.marks.len() - most);
        Line::new(buf, rows.top()).skip(5).put(&text, cx.style(Role::Dim));
    }
}

fn draw_box(text: &TextBox, frame: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if frame.height < 3 || frame.width < 4 {
        return;
    }
    crate::widgets::frame(buf, frame, cx.style(Role::Focus));
    let inner =
        Rect { x: frame.x + 2, y: frame.y + 1, width: frame.width - 4, height: frame.height - 2 };
    let mut area = text.area.clone();
    area.set_style(cx.style(Role::Text));
    area.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
    (&area).render(inner, buf);
}

fn draw_hints(text: &TextBox, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(Role::Dim);
    let count =
        format!("{} of {} ", units::count(text.length() as u64), units::count(LIMIT as u64));
    let mut line = Line::new(buf, row);
    line.right(&[piece(count, dim)]).skip(1);
    let mut hints = vec![("Enter", "send"), ("Ctrl-J", "new line")];
    if !cx.ui.marks.is_empty() && matches!(text.topic, Topic::Changes { .. }) {
        hints.push(("Tab", "scope"));
    }
    if cx.state.planning.roadmap.is_some() && matches!(text.topic, Topic::Changes { .. }) {
        hints.push(("Ctrl-T", "stage"));
    }
    // A narrow box says less, but every key whole.
    let close = if row.width < 100 { "close" } else { "close, keep the text" };
    hints.extend([("Esc", close), ("Ctrl-G", "editor")]);
    for (key, words) in hints {
        let hint = [piece(key, cx.style(Role::Key)), piece(format!(" {words}"), dim)];
        // An entry is shown whole or not at all.
        if width_of(&hint) > line.left() {
            break;
        }
        line.pieces(&hint).skip(2);
    }
}

fn draw_form(form: &Form, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let facts = format!("{} of {}", form.at + 1, form.rows.len());
    let body = heading(area, &form.title, &facts, buf, cx);
    let mut rows = Rows { left: body };
    let bottom = rows.bottom();
    let room = usize::from(rows.left.height / 2).max(1);
    let top = (form.at + 1).saturating_sub(room);
    for (index, row) in form.rows.iter().enumerate().skip(top).take(room) {
        let under = index == form.at;
        let label = rows.top();
        let mut line = Line::new(buf, label);
        let style = if under { cx.theme.bold(Role::Text) } else { cx.style(Role::Text) };
        line.skip(1).put(&row.label, style).skip(3).put(&row.hint, cx.style(Role::Dim));
        let place = rows.top();
        if under {
            Line::new(buf, place).skip(1).put(">", cx.style(Role::Focus));
            let field = Rect { x: place.x + 3, width: place.width.saturating_sub(4), ..place };
            row.field.draw(field, cx.style(Role::Text), buf);
        } else {
            Line::new(buf, place).skip(3).put(row.field.text(), cx.style(Role::Untrusted));
        }
    }
    // Keys stand under the last field, not at the far end of an empty panel.
    let y = rows.left.y.min(bottom.y);
    let mut line = Line::new(buf, Rect { y, ..bottom });
    line.skip(1);
    let next = if form.rows.len() == 1 { "send" } else { "next, send from the last" };
    let mut hints = vec![("Enter", next), ("Ctrl-S", "send"), ("Esc", "close")];
    if form.rows.len() == 1 {
        hints.remove(1);
    }
    for (key, words) in hints {
        line.put(key, cx.style(Role::Key)).put(&format!(" {words}"), cx.style(Role::Dim)).skip(2);
    }
}

fn ids(nodes: &[TaskId]) -> String {
    nodes.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

/// Rows still to be filled.
struct Rows {
    left: Rect,
}

impl Rows {
    fn top(&mut self) -> Rect {
        let height = self.left.height.min(1);
        let row = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        row
    }

    fn bottom(&mut self) -> Rect {
        let height = self.left.height.min(1);
        self.left.height -= height;
        Rect { y: self.left.y + self.left.height, height, ..self.left }
    }
}
