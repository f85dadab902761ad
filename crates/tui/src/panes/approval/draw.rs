//! Draws the card: its lines, then the answers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::answers::sub_key;
use super::answers::{AnswerRow, answer_rows};
use super::choice_card;
use super::content::fits_rule;
use super::plan_card::{self, is_plan_card, plan_card_areas};
use super::{closed, current_request, failed, run_cards};
use crate::clock::format_time_of_day;
use crate::composer::{self, Composer};
use crate::pane_context::{Pane, PaneContext};
use crate::panes::finished::{draw_finished_rule, finished_rows, is_finished_shown};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, fit_clauses, styled_piece};
use planwright_model::{Request, TaskId};
use planwright_text::units::format_counted;
use planwright_text::{clean_line, display_width};

/// The approval pane.
pub(crate) struct ApprovalPane;

/// The parts of an open card.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CardAreas {
    pub(crate) lines: Rect,
    pub(crate) answers: Rect,
}

impl ApprovalPane {
    /// Where lines and answers go. The answers are always whole; what does not fit of the lines scrolls.
    pub(crate) fn card_areas(
        area: Rect,
        request: &Request,
        lines: usize,
        revised: bool,
    ) -> CardAreas {
        let top = 1.min(area.height);
        let body = Rect { y: area.y + top, height: area.height - top, ..area };
        if is_plan_card(&request.kind) {
            let parts = plan_card_areas(area, request, revised);
            return CardAreas { lines: parts.facts, answers: parts.keys };
        }
        if choice_card::is_choice_card(request) {
            let parts = choice_card::choice_card_areas(area, request, lines);
            return CardAreas { lines: parts.lines, answers: parts.keys };
        }
        stacked_card_areas(body, &answer_rows(request))
    }

    /// The same for a failed task.
    pub(crate) fn failed_areas(area: Rect, class: SizeClass, rows: &[AnswerRow]) -> CardAreas {
        let top = u16::from(class != SizeClass::Small).min(area.height);
        stacked_card_areas(Rect { y: area.y + top, height: area.height - top, ..area }, rows)
    }
}

/// The answers below the lines.
fn stacked_card_areas(body: Rect, rows: &[AnswerRow]) -> CardAreas {
    // One row stays for what is below.
    let rows: usize = rows.iter().map(AnswerRow::height).sum();
    let rows = (rows as u16 + 1).min(body.height.saturating_sub(2));
    let lines = Rect {
        x: body.x + 1,
        width: body.width.saturating_sub(2),
        height: body.height - rows,
        ..body
    };
    let answers = Rect { y: body.y + lines.height, height: rows, ..body };
    CardAreas { lines, answers }
}

/// Whether the open box is the line of the card itself.
fn types_into_card(cx: &PaneContext<'_>) -> bool {
    let Some(Composer::Form(form)) = &cx.ui.composer else { return false };
    let composer::FormPurpose::Questions { request: id } = form.purpose;
    current_request(cx.state, cx.ui)
        .is_some_and(|request| request.id == id && choice_card::is_choice_card(request))
}

impl Pane for ApprovalPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let typed = cx.ui.composer.as_ref().filter(|_| area.height > 2);
        if let Some(composer) = typed.filter(|_| !types_into_card(cx)) {
            return composer::draw_composer(composer, area, buf, cx);
        }
        let in_panel = cx.ui.focus == PaneFocus::Approval || cx.planning;
        let open = current_request(cx.state, cx.ui).filter(|_| in_panel);
        let Some(request) = open.filter(|_| area.height > 2) else {
            let task = failed::shown_failed_task(cx.state, cx.ui)
                .filter(|_| cx.ui.focus == PaneFocus::Approval);
            return match task.filter(|_| area.height > 2) {
                Some(task) => draw_failed(area, task, buf, cx),
                None if is_finished_shown(cx.state, cx.ui)
                    && cx.ui.focus == PaneFocus::Approval
                    && area.height > 2 =>
                {
                    draw_finished(area, buf, cx);
                }
                None => closed::draw_closed(area, buf, cx),
            };
        };
        if is_plan_card(&request.kind) {
            return plan_card::draw_plan_card(area, request, buf, cx);
        }
        if choice_card::is_choice_card(request) {
            return choice_card::draw_choice_card(area, request, buf, cx);
        }
        let parts = Self::card_areas(area, request, cx.card.lines.len(), cx.card.is_revised);
        draw_rule(area, request, buf, cx);
        draw_lines(parts.lines, buf, cx);
        let rows = answer_rows(&run_cards::with_chosen_amount(request, cx.ui.card.amount));
        draw_answers_below(parts, &rows, card_remark(request, cx), buf, cx);
    }
}

fn draw_failed(area: Rect, task: &TaskId, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = failed::failed_rows(cx.state, task);
    let parts = ApprovalPane::failed_areas(area, cx.class, &rows);
    if cx.class != SizeClass::Small {
        failed::draw_failed_rule(area, task, buf, cx);
    }
    draw_lines(parts.lines, buf, cx);
    let below = cx.card.lines_below(cx.ui.card.scroll);
    let past = cx.mode.is_past();
    let remark = past.then(|| ("as it was then".to_owned(), ThemeRole::Dim));
    let more = (below > 0)
        .then(|| (format!("{} below", format_counted(below, "more line")), ThemeRole::Dim));
    draw_answers_below(parts, &rows, remark.or(more), buf, cx);
}

fn draw_finished(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let rows = finished_rows(cx.state);
    let parts = ApprovalPane::failed_areas(area, cx.class, &rows);
    if cx.class != SizeClass::Small {
        draw_finished_rule(area, buf, cx);
    }
    draw_lines(parts.lines, buf, cx);
    draw_answers_below(parts, &rows, None, buf, cx);
}

fn draw_rule(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    let open = &cx.state.requests.open;
    let number = open.keys().position(|id| *id == request.id).unwrap_or(0) + 1;
    let count = failed::card_count(cx.state);
    let name = clean_line(&request.question);
    let fits =
        run_cards::is_run_card(&request.kind) || fits_rule(&name, usize::from(area.width) - 2);
    let name = if fits { lower_first(&name) } else { closed::request_subject(&request.kind) };
    let asked = open.get(&request.id).map(|open| format_time_of_day(open.asked_at, cx.time_zone));
    let task =
        request.task.as_ref().map(|task| clean_line(cx.state.title_by_id(task)).into_owned());
    let order = (count > 1).then(|| format!("{number} of {count}"));
    let parts = [task, order, asked.map(|at| format!("asked {at}"))];
    let facts = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(facts, style)],
    );
}

/// The text with a small first letter, as the rules of panes are written.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    // An abbreviation and the word I stay as they are; an agent may begin its question with them.
    if text.starts_with("I ") || letters.clone().nth(1).is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

pub(super) fn draw_lines(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let picked = cx.ui.card.choice.and_then(|choice| cx.card.choices.get(choice));
    let lines = cx.card.lines.iter().enumerate().skip(cx.ui.card.scroll);
    for ((number, pieces), y) in lines.zip(area.y..area.bottom()) {
        let row = Rect { y, height: 1, ..area };
        let under = picked == Some(&number);
        if under {
            buf.set_style(row, cx.style(ThemeRole::Selection));
        }
        let mut line = ScreenLine::new(buf, row);
        for (text, role) in pieces {
            line.put(text, cx.style(*role));
        }
        if under {
            ScreenLine::new(buf, Rect { x: row.x + 1, ..row }).put("►", cx.style(ThemeRole::Focus));
        }
    }
}

/// What is still below, or how it was answered; nothing if all of it is on the screen.
pub(super) fn card_remark(request: &Request, cx: &PaneContext<'_>) -> Option<(String, ThemeRole)> {
    if cx.mode.is_past() {
        let answer = cx.latest.requests.answered.iter().find(|answered| answered.id == request.id);
        return Some(match answer {
            Some(answered) => (closed::answered_text(answered, cx), ThemeRole::Text),
            None => ("not answered yet".to_owned(), ThemeRole::Dim),
        });
    }
    let below = cx.card.lines_below(cx.ui.card.scroll);
    let lines = if below == 1 { "line" } else { "lines" };
    match (below, cx.ui.card.seen) {
        (0, _) => None,
        (_, true) => Some((format!("{below} more {lines} below"), ThemeRole::Dim)),
        (_, false) => {
            let text = format!("{below} more {lines}; scroll to the end to decide");
            Some((text, ThemeRole::Warn))
        }
    }
}

/// Whether a row can be chosen now; what it says instead if not.
pub(super) fn unavailable_text(row: &AnswerRow, cx: &PaneContext<'_>) -> Option<String> {
    if cx.mode.is_past() {
        return Some(row.consequence.clone());
    }
    if !cx.can_act {
        return Some("read-only here".to_owned());
    }
    if let Some(why) = &row.unavailable {
        return Some(why.clone());
    }
    (row.is_consequential() && !cx.ui.card.seen).then(|| row.consequence.clone())
}

fn draw_answers_below(
    parts: CardAreas,
    rows: &[AnswerRow],
    remark: Option<(String, ThemeRole)>,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    // A short card keeps its answers close.
    let used = (cx.card.lines.len() as u16).min(parts.lines.height);
    let area = Rect { y: parts.lines.y + used, ..parts.answers };
    let mut y = area.y;
    if let Some((text, role)) = remark {
        ScreenLine::new(buf, Rect { y, height: 1, ..area }).skip(1).put(&text, cx.style(role));
    }
    y += 1;
    // What was asked then cannot be answered now.
    let rows = if cx.mode.is_past() && !is_finished_shown(cx.state, cx.ui) { &[] } else { rows };
    let keys = rows
        .iter()
        .map(|row| cx.keymap.key_hint(row.action).len() + if row.parts.is_empty() { 0 } else { 2 });
    let key_width = keys.max().unwrap_or(1) + 2;
    let label_width = label_column(rows);
    for row in rows {
        if y >= area.bottom() {
            break;
        }
        let off = unavailable_text(row, cx);
        let dim = cx.style(ThemeRole::Dim);
        let on = |role| if off.is_some() { dim } else { cx.style(role) };
        let key = cx.keymap.key_hint(row.action);
        if row.parts.is_empty() {
            let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
            line.skip(3).put_column(&key, key_width, on(ThemeRole::Key));
            line.put_column(&row.label, label_width, on(ThemeRole::Text)).skip(2);
            put_consequence(&mut line, off.as_deref().unwrap_or(&row.consequence), cx);
            y += 1;
        }
        // What a key asks about has a row each, with the letter that follows the key.
        for (index, part) in row.parts.iter().enumerate() {
            if y >= area.bottom() {
                break;
            }
            let (words, possible) = match &part.unavailable {
                Some(why) => (format!("not possible: {why}"), false),
                None => (part.consequence.clone(), off.is_none()),
            };
            let role = |role| if possible { cx.style(role) } else { dim };
            let letter = sub_key(part.action)
                .map_or_else(|| (index + 1).to_string(), |letter| letter.to_string());
            let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
            line.skip(3).put_column(&format!("{key} {letter}"), key_width, role(ThemeRole::Key));
            line.put_column(&part.label, label_width, role(ThemeRole::Text)).skip(2);
            put_consequence(&mut line, &words, cx);
            y += 1;
        }
    }
}

/// What follows from an answer, as much of it as fits whole. The task that the card names is "it" where room is short.
fn put_consequence(line: &mut ScreenLine<'_>, words: &str, cx: &PaneContext<'_>) {
    let room = line.cells_left().saturating_sub(1);
    let words = clean_line(words);
    let task = current_request(cx.state, cx.ui).and_then(|request| request.task.as_ref());
    let title = task.map_or("", |task| cx.state.title_by_id(task));
    let rest = words.strip_prefix(title).filter(|_| !title.is_empty());
    let fitting = match rest {
        Some(rest) if display_width(&words) > room => fit_clauses(&format!("it{rest}"), room),
        _ => fit_clauses(&words, room),
    };
    line.put(&fitting, cx.style(ThemeRole::Dim));
}

/// Cells of the column that names the answers.
fn label_column(rows: &[AnswerRow]) -> usize {
    let parts = rows.iter().flat_map(|row| row.parts.iter().map(|part| part.label.as_str()));
    let labels = rows.iter().filter(|row| row.parts.is_empty()).map(|row| row.label.as_str());
    parts.chain(labels).map(display_width).max().unwrap_or(0).clamp(24, 32)
}
