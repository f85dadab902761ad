//! The two rows at the top: which kind of time this is, what the session is, how far it got.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::state::{RunPhase, SessionState};
use crate::text::units;
use crate::tui::areas::SizeClass;
use crate::tui::clock;
use crate::tui::context::{Mode, Pane, PaneContext};
use crate::tui::theme::Role;
use crate::tui::widgets::{Line, Piece, piece, width_of};

/// The header.
pub(crate) struct Header;

impl Pane for Header {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let first = Rect { height: 1, ..area };
        draw_first(first, buf, cx);
        if area.height > 1 {
            draw_second(Rect { y: area.y + 1, height: 1, ..area }, buf, cx);
        }
    }
}

/// The word and the role of the badge.
pub(crate) fn badge(mode: Mode) -> (&'static str, Role) {
    match mode {
        Mode::Live => ("LIVE", Role::BadgeLive),
        Mode::Paused => ("PAUSED", Role::BadgePaused),
        Mode::Saved | Mode::ScrubbedBack => ("REPLAY", Role::BadgeReplay),
    }
}

fn draw_first(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (word, role) = badge(cx.mode);
    let title = if cx.state.session.title.is_empty() {
        &cx.latest.session.title
    } else {
        &cx.state.session.title
    };
    let mut line = Line::new(buf, area);
    line.put(&format!(" {word} "), cx.style(role)).skip(2);
    let mut facts = facts(cx);
    if cx.class == SizeClass::Small {
        facts = vec![stage(cx.state), position(cx)];
    }
    // The title keeps a third of the row; what is less important gives way first.
    let room = line.left() * 2 / 3;
    while facts.len() > 1 && width_of(&joined(&facts, "   ", cx.style(Role::Dim))) > room {
        facts.remove(0);
    }
    line.right(&joined(&facts, "   ", cx.style(Role::Dim)));
    line.put(title, cx.theme.bold(Role::Text));
}

fn facts(cx: &PaneContext<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    match cx.mode {
        Mode::Saved => facts.push("saved run, nothing runs".to_owned()),
        Mode::ScrubbedBack => facts.push(ahead(cx)),
        Mode::Live | Mode::Paused => facts.extend(cx.note.map(str::to_owned)),
    }
    facts.push(position(cx));
    facts
}

/// How far live is ahead of the cursor.
fn ahead(cx: &PaneContext<'_>) -> String {
    let key = cx.keymap.key(crate::tui::keymap::Action::Live);
    match (cx.state.at, cx.latest.at) {
        (Some(here), Some(live)) => {
            format!("live is {} ahead, {key} returns", clock::elapsed(here, live))
        }
        _ => format!("{key} returns to live"),
    }
}

/// Elapsed time while live; the place in the run in a replay.
fn position(cx: &PaneContext<'_>) -> String {
    let Some(start) = cx.state.session.created_at.or(cx.latest.session.created_at) else {
        return String::new();
    };
    if !cx.mode.is_past() {
        return format!("elapsed {}", clock::elapsed(start, cx.now));
    }
    let here = cx.state.at.unwrap_or(start);
    let end = cx.timeline.span().map_or(here, |(_, end)| end);
    let time = clock::time_of_day(here, cx.time_zone);
    let (gone, whole) = (clock::elapsed(start, here), clock::elapsed(start, end));
    if cx.class == SizeClass::Small {
        return format!("+{gone} of {whole}");
    }
    format!("{time}   +{gone} of {whole}")
}

fn draw_second(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let mut line = Line::new(buf, area);
    let totals = cx.state.totals;
    let mut facts = Vec::new();
    if totals.anomalies > 0 {
        let word = if totals.anomalies == 1 { "anomaly" } else { "anomalies" };
        facts.push(format!("{} {word}", units::count(totals.anomalies)));
    }
    facts.push(format!("{} tokens", units::tokens_whole(totals.tokens)));
    facts.push(totals.cost.to_string());
    line.right(&joined(&facts, "   ", cx.style(Role::Dim))).skip(1);
    let now = current_stage(cx.state);
    let dim = cx.style(Role::Dim);
    for (index, name) in STAGES.iter().enumerate() {
        if index > 0 {
            line.put(" › ", dim);
        }
        if index == now {
            line.put(&format!("[{}]", stage(cx.state)), cx.theme.bold(Role::Text));
        } else {
            line.put(name, dim);
        }
    }
}

const STAGES: [&str; 4] = ["plan", "approval", "run", "result"];

fn current_stage(state: &SessionState) -> usize {
    match state.run.phase {
        RunPhase::Finished { .. } => 3,
        RunPhase::Running | RunPhase::Paused | RunPhase::Interrupted => 2,
        RunPhase::Idle if state.plan.abandoned => 3,
        RunPhase::Idle if state.plan.current.is_none() => 0,
        RunPhase::Idle => 1,
    }
}

/// The stage with what is worth saying about it.
fn stage(state: &SessionState) -> String {
    let counts = state.tasks.counts();
    let progress = format!("{}/{}", counts.done, counts.total());
    match (current_stage(state), state.run.phase) {
        (3, _) if state.plan.abandoned => "abandoned".to_owned(),
        (3, RunPhase::Finished { success: true }) => format!("done {progress}"),
        (3, _) => format!("failed, {progress} done"),
        (2, RunPhase::Interrupted) => format!("interrupted {progress}"),
        (2, RunPhase::Paused) => format!("run {progress}, held"),
        (2, _) => format!("run {progress}"),
        (1, _) if state.plan.is_approved() => "approved, not run".to_owned(),
        (index, _) => STAGES[index].to_owned(),
    }
}

/// Facts side by side, with one cell of air at the right edge.
fn joined(facts: &[String], gap: &'static str, style: Style) -> Vec<Piece<'static>> {
    let text = facts.iter().filter(|fact| !fact.is_empty()).cloned().collect::<Vec<_>>().join(gap);
    vec![piece(text, style), piece(" ", style)]
}
