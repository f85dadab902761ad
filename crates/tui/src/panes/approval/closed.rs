//! The approval pane while no card is open in it: one line that says what was decided last, or what waits.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::failed;
use crate::areas::SizeClass;
use crate::clock::time_of_day;
use crate::context::PaneContext;
use crate::keymap::Action;
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::{Line, counted, piece, rule};
use planwright_model::{Actor, RequestKind};
use planwright_state::AnsweredRequest;
use planwright_state::trace::{action_word, request_word};

/// Draws the rule and the line; on small screens the line alone, in a replay the rule alone.
pub(super) fn draw(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule(Focus::Approval);
    if cx.class == SizeClass::Small {
        return draw_line(Rect { height: 1, ..area }, buf, cx);
    }
    let past = cx.mode.is_past();
    let facts = match (past, cx.state.planning.begun) {
        (true, _) => past_words(cx),
        (false, true) => {
            let planning = &cx.state.planning;
            crate::policy::summary(&planning.policy(), planning)
        }
        (false, false) => String::new(),
    };
    rule(buf, area, kind, style, &[piece("approval", style)], &[piece(facts, style)]);
    if area.height > 1 {
        draw_line(Rect { y: area.y + 1, height: 1, ..area }, buf, cx);
    }
}

fn draw_line(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(Role::Dim);
    let mut line = Line::new(buf, area);
    let open = cx.state.requests.open.len();
    if let Some(oldest) = cx.state.requests.oldest() {
        let key = cx.keymap.key(Action::FocusNext);
        line.right(&[piece(key, cx.style(Role::Key)), piece(" opens ", dim)]);
        let count = if open == 1 { "1 request".to_owned() } else { format!("{open} requests") };
        let text = format!("? {count}: {}", oldest.request.question);
        line.skip(1).put(&text, cx.style(Role::Asks));
        return;
    }
    if let Some(task) = failed::latest(cx.state) {
        let back =
            if cx.ui.focus == Focus::Graph { Action::FocusPrevious } else { Action::FocusNext };
        line.right(&[piece(cx.keymap.key(back), cx.style(Role::Key)), piece(" opens ", dim)]);
        let more = match failed::cards(cx.state) {
            0 | 1 => String::new(),
            all => format!(" (and {} more failed)", all - 1),
        };
        let text = format!("✗ {task} failed{more}: {}", failed::reason(cx.state, task));
        line.skip(1).put(&text, cx.style(Role::Failed));
        return;
    }
    if cx.state.planning.begun && !cx.mode.is_past() {
        let key = cx.keymap.key(Action::Policy);
        line.right(&[piece(key, cx.style(Role::Key)), piece(" policy ", dim)]);
    }
    line.skip(1).put("no open request", dim);
    if let Some(last) = cx.state.requests.answered.last() {
        line.skip(3).put(&format!("last: {}", answer_words(last, cx)), dim);
    }
}

/// An answer in a sentence.
pub(super) fn answer_words(answered: &AnsweredRequest, cx: &PaneContext<'_>) -> String {
    let who = match answered.by {
        Actor::Person => "by you",
        Actor::Flag => "by a flag on the command line",
    };
    let at = time_of_day(answered.at, cx.time_zone);
    format!("{}, {} {who} at {at}", subject(&answered.kind), action_word(answered.action))
}

/// What a request is about, with the revision or task it names.
pub(crate) fn subject(kind: &RequestKind) -> String {
    let word = request_word(kind);
    match kind {
        RequestKind::FinalPlan { hash, revision } => format!("{word} r{revision} {}", hash.short()),
        RequestKind::InDoubt { call } => format!("{word} {call}"),
        RequestKind::Cap { cap, .. } => format!("{word} {}", cap.name()),
        RequestKind::Permission { call, tool, .. } => format!("{word} {tool} {call}"),
        RequestKind::Rfc { subtype, .. } => format!("{word} {subtype}"),
        RequestKind::Consent { provider } => format!("{word} {provider}"),
        _ => word.to_owned(),
    }
}

fn past_words(cx: &PaneContext<'_>) -> String {
    let answered = cx.state.requests.answered.len();
    let before = match answered {
        0 => String::new(),
        count => format!(" · {count} answered before"),
    };
    match cx.state.requests.open.len() {
        0 if failed::cards(cx.state) > 0 => {
            format!("{} failed here{before}", counted(failed::cards(cx.state), "task"))
        }
        0 => format!("no request open here{before}"),
        1 => format!("1 request open here{before}"),
        open => format!("{open} requests open here{before}"),
    }
}
