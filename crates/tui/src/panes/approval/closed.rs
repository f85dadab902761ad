//! The approval pane while no card is open in it: one line that says what was decided last, or what waits.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::failed;
use crate::clock::format_time_of_day;
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::panes::graph::title_of;
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, format_counted, styled_piece};
use planwright_model::{Actor, RequestKind};
use planwright_state::trace::{action_text, request_text};
use planwright_state::{AnsweredRequest, ModelWait};

/// Draws the rule and the line; on small screens the line alone, in a replay the rule alone.
pub(super) fn draw_closed(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    if cx.class == SizeClass::Small {
        return draw_status_line(Rect { height: 1, ..area }, buf, cx);
    }
    let past = cx.mode.is_past();
    let facts = match (past, cx.state.planning.begun) {
        (true, _) => past_summary(cx),
        (false, true) => crate::policy_dials::policy_line(&cx.state.planning),
        (false, false) => String::new(),
    };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece("approval", style)],
        &[styled_piece(facts, style)],
    );
    if area.height > 1 {
        draw_status_line(Rect { y: area.y + 1, height: 1, ..area }, buf, cx);
    }
}

fn draw_status_line(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, area);
    let open = cx.state.requests.open.len();
    if let Some(oldest) = cx.state.requests.oldest_open() {
        let key = cx.keymap.key_hint(KeyAction::FocusNext);
        line.put_right(&[
            styled_piece(key, cx.style(ThemeRole::Key)),
            styled_piece(" opens ", dim),
        ]);
        let count = if open == 1 { "1 request".to_owned() } else { format!("{open} requests") };
        let text = format!("? {count}: {}", oldest.request.question);
        line.skip(1).put(&text, cx.style(ThemeRole::Asks));
        return;
    }
    if let Some(task) = failed::latest_failed_task(cx.state) {
        let back = if cx.ui.focus == PaneFocus::Graph {
            KeyAction::FocusPrevious
        } else {
            KeyAction::FocusNext
        };
        line.put_right(&[
            styled_piece(cx.keymap.key_hint(back), cx.style(ThemeRole::Key)),
            styled_piece(" opens ", dim),
        ]);
        let more = match failed::card_count(cx.state) {
            0 | 1 => String::new(),
            all => format!(" (and {} more failed)", all - 1),
        };
        let cause = cx.tails.short_cause(task, cx.state, cx.timeline);
        let title = cx.state.tasks.position(task).map_or("", |at| title_of(cx.state, at));
        let text = format!("✗ {title} failed{more}: {cause}");
        line.skip(1).put(&text, cx.style(ThemeRole::Failed));
        return;
    }
    if cx.state.planning.begun && !cx.mode.is_past() {
        let key = cx.keymap.key_hint(KeyAction::Policy);
        line.put_right(&[
            styled_piece(key, cx.style(ThemeRole::Key)),
            styled_piece(" policy ", dim),
        ]);
    }
    if let Some(wait) = planning_wait(cx) {
        line.skip(1).put(&wait.describe(cx.now), cx.style(ThemeRole::Running));
        return;
    }
    line.skip(1).put("nothing needs you here", dim);
    if let Some(last) = cx.state.requests.answered.last() {
        line.skip(3).put(&format!("last: {}", answered_text(last, cx)), dim);
    }
}

/// The answer that planning waits for.
pub(crate) fn planning_wait<'s>(cx: &PaneContext<'s>) -> Option<&'s ModelWait> {
    let waits = !cx.mode.is_past() && cx.state.planning.is_working();
    cx.state.waits.of_planning().filter(|_| waits)
}

/// An answer in a sentence.
pub(super) fn answered_text(answered: &AnsweredRequest, cx: &PaneContext<'_>) -> String {
    let who = match answered.by {
        Actor::Person => "by you",
        Actor::Flag => "by a flag on the command line",
    };
    let at = format_time_of_day(answered.at, cx.time_zone);
    format!("{}, {} {who} at {at}", request_subject(&answered.kind), action_text(answered.action))
}

/// What a request is about, with what it names.
pub(crate) fn request_subject(kind: &RequestKind) -> String {
    let word = request_text(kind);
    match kind {
        RequestKind::Cap { cap, .. } => cap.describe().to_owned(),
        RequestKind::Permission { class, .. } => match class.as_str() {
            "execute" => format!("{word} for a command"),
            "write" => format!("{word} for an edit"),
            "network" => format!("{word} for the network"),
            _ => format!("{word} for a tool"),
        },
        RequestKind::Rfc { subtype, .. } => format!("{word}, {}", subtype.replace('_', " ")),
        RequestKind::Consent { provider } => format!("{word} {provider}"),
        _ => word.to_owned(),
    }
}

fn past_summary(cx: &PaneContext<'_>) -> String {
    let answered = cx.state.requests.answered.len();
    let before = match answered {
        0 => String::new(),
        count => format!(" · {count} answered before"),
    };
    match cx.state.requests.open.len() {
        0 if failed::card_count(cx.state) > 0 => {
            format!("{} failed here{before}", format_counted(failed::card_count(cx.state), "task"))
        }
        0 => format!("no request open here{before}"),
        1 => format!("1 request open here{before}"),
        open => format!("{open} requests open here{before}"),
    }
}
