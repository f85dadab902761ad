//! The two rows at the top: which kind of time this is, what the session is, how far it got.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::areas::SizeClass;
use crate::clock;
use crate::context::{Mode, Pane, PaneContext};
use crate::theme::Role;
use crate::widgets::{Line, Piece, piece, width_of};
use planwright_model::breaker::BreakerState;
use planwright_model::{ApprovalTarget, Cap, MicroDollars, PlanState, Stage};
use planwright_state::{PlanningSlice, RunPhase, SessionState};
use planwright_text::units;

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
        facts = vec![(stage(cx.state), Role::Dim), (position(cx), Role::Dim)];
    }
    // The title keeps a third of the row; what is less important gives way first.
    let room = line.left() * 2 / 3;
    while facts.len() > 1 && width_of(&joined(&facts, cx)) > room {
        facts.remove(0);
    }
    line.right(&joined(&facts, cx));
    line.put(title, cx.theme.bold(Role::Text));
}

/// A fact of the header and how much it wants to be seen.
type Fact = (String, Role);

fn facts(cx: &PaneContext<'_>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    match cx.mode {
        Mode::Saved => facts.push(("saved run, nothing runs".to_owned(), Role::Dim)),
        Mode::ScrubbedBack => facts.push((ahead(cx), Role::Dim)),
        Mode::Live | Mode::Paused => facts.extend(cx.note.map(|note| (note.to_owned(), Role::Dim))),
    }
    if cx.state.planning.begun {
        facts.push((drafter(cx.state), Role::Dim));
    }
    facts.extend(breaker(cx).map(|words| (words, Role::Warn)));
    facts.push((position(cx), Role::Dim));
    facts
}

/// Who drafts.
fn drafter(state: &SessionState) -> String {
    if state.planning.offline {
        return "offline planner".to_owned();
    }
    state.planning.drafter.clone()
}

/// The first tool that is refused for a while.
fn breaker(cx: &PaneContext<'_>) -> Option<String> {
    let (tool, state) = cx.state.breakers.not_closed(cx.now).next()?;
    Some(match state {
        BreakerState::Open => {
            let wait = cx.state.breakers.open_for_ms(tool, cx.now).div_ceil(1000);
            format!("breaker: {tool} open {wait} s")
        }
        _ => format!("breaker: {tool} probing"),
    })
}

/// How far live is ahead of the cursor.
fn ahead(cx: &PaneContext<'_>) -> String {
    let key = cx.keymap.key(crate::keymap::Action::Live);
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
        let run = &cx.state.run;
        if run.phase == RunPhase::Idle {
            // The time in which nobody was there does not count.
            let attended = std::time::Duration::from_millis(cx.state.attended_ms(cx.now));
            return format!("elapsed {}", units::elapsed(attended));
        }
        // What passes while everything waits for the person is not time that the run took.
        let worked = std::time::Duration::from_millis(run.worked_ms(cx.now));
        return format!("elapsed {}", units::elapsed(worked));
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
    let mut facts: Vec<Fact> = Vec::new();
    if totals.anomalies > 0 {
        let word = if totals.anomalies == 1 { "anomaly" } else { "anomalies" };
        facts.push((format!("{} {word}", units::count(totals.anomalies)), Role::Warn));
    }
    facts.push((format!("{} tokens", units::tokens_whole(totals.tokens)), Role::Dim));
    let (words, role, filled) = money(cx);
    facts.push((words, role));
    let mut pieces = joined(&facts, cx);
    if let Some(filled) = filled.filter(|_| cx.class >= SizeClass::Full) {
        pieces.push(piece("━".repeat(filled), cx.style(role)));
        pieces.push(piece("─".repeat(BAR - filled), cx.style(Role::Rule)));
        pieces.push(piece(" ", cx.style(Role::Dim)));
    }
    line.right(&pieces).skip(1);
    let now = current_stage(cx.state);
    let dim = cx.style(Role::Dim);
    let names = stages(cx.state);
    // A narrow screen keeps what was before, what is now and what comes next.
    let narrow = cx.class < SizeClass::Full && names.len() > 4;
    let (from, to) = if narrow { (now.saturating_sub(1), now + 2) } else { (0, names.len()) };
    for (index, name) in names.iter().enumerate().take(to).skip(from) {
        if index > from {
            line.put(" › ", dim);
        }
        if index == now {
            line.put(&format!("[{}]", stage(cx.state)), cx.theme.bold(Role::Text));
        } else {
            line.put(name, dim);
        }
    }
}

/// The way of a session made from a plan file.
const GIVEN: [&str; 4] = ["plan", "approval", "run", "result"];
/// The way of a session that began with a goal.
const DRAFTED: [&str; 7] =
    ["context", "outline", "roadmap", "schedule", "approval", "run", "result"];

fn stages(state: &SessionState) -> &'static [&'static str] {
    if state.planning.begun { &DRAFTED } else { &GIVEN }
}

/// The stage a session is in, counted from the end so that both ways share the last three.
fn current_stage(state: &SessionState) -> usize {
    let last = stages(state).len() - 1;
    match state.run.phase {
        RunPhase::Finished { .. } => last,
        RunPhase::Running | RunPhase::Paused | RunPhase::Interrupted => last - 1,
        RunPhase::Idle if state.plan.abandoned => last,
        RunPhase::Idle if state.planning.begun => drafting_stage(&state.planning),
        RunPhase::Idle if state.plan.current.is_none() => 0,
        RunPhase::Idle => last - 2,
    }
}

/// Where a conversation about a goal stands among the stages.
fn drafting_stage(planning: &PlanningSlice) -> usize {
    let drawn = |stage: Stage| 1 + stage as usize;
    let place = planning.place;
    if let Some(stage) = place.state.stage() {
        return drawn(stage);
    }
    match (place.state, place.target) {
        (PlanState::SeekApproval, Some(ApprovalTarget::Outline)) => drawn(Stage::Outline),
        (PlanState::SeekApproval, Some(ApprovalTarget::Roadmap)) => drawn(Stage::Roadmap),
        (PlanState::SeekApproval, Some(ApprovalTarget::Pattern)) => 0,
        (PlanState::SeekApproval | PlanState::Complete, _) => 4,
        (PlanState::NeedsSchedEscalation, _) => drawn(Stage::Schedule),
        (PlanState::Aborted, _) => 6,
        _ => planning.resume.and_then(|place| place.state.stage()).map_or(0, drawn),
    }
}

/// The stage with what is worth saying about it.
fn stage(state: &SessionState) -> String {
    let counts = state.tasks.counts();
    let progress = format!("{}/{}", counts.done, counts.total());
    let now = current_stage(state);
    let left = stages(state).len() - 1 - now;
    match (left, state.run.phase) {
        (0, _) if state.plan.abandoned => "abandoned".to_owned(),
        (0, RunPhase::Finished { success: true }) => format!("done {progress}"),
        (0, RunPhase::Finished { .. }) => format!("failed, {progress} done"),
        (0, _) => "ended".to_owned(),
        (1, RunPhase::Interrupted) => format!("interrupted {progress}"),
        (1, RunPhase::Paused) => format!("run {progress}, held"),
        (1, _) => format!("run {progress}"),
        (2, _) if state.plan.is_approved() => "approved, not run".to_owned(),
        _ => stages(state)[now].to_owned(),
    }
}

/// Facts side by side, with one cell of air at the right edge.
fn joined(facts: &[Fact], cx: &PaneContext<'_>) -> Vec<Piece<'static>> {
    let mut pieces = Vec::new();
    for (text, role) in facts.iter().filter(|(text, _)| !text.is_empty()) {
        if !pieces.is_empty() {
            pieces.push(piece("   ", cx.style(Role::Dim)));
        }
        pieces.push(piece(text.clone(), cx.style(*role)));
    }
    pieces.push(piece(" ", cx.style(Role::Dim)));
    pieces
}

/// Cells of the bar of money.
const BAR: usize = 10;

/// What was spent of what may be, how much that wants to be seen, and the filled cells of its bar.
fn money(cx: &PaneContext<'_>) -> (String, Role, Option<usize>) {
    let spent = cx.state.totals.cost;
    let planning = &cx.state.planning;
    let limit = match cx.state.run.raised.get(&Cap::BudgetPerSessionUsd) {
        Some(to) => to.map(MicroDollars),
        None => Some(cx.session_budget),
    };
    // Where nothing can be spent, a limit is noise.
    let paid = spent > MicroDollars::ZERO || planning.begun && !planning.offline;
    let Some(limit) = limit.filter(|limit| paid && *limit > MicroDollars::ZERO) else {
        return (spent.to_string(), Role::Dim, None);
    };
    let share = spent.0 as f64 / limit.0 as f64;
    let role = match share {
        share if share >= 1.0 => Role::Failed,
        share if share >= 0.8 => Role::Warn,
        _ => Role::Dim,
    };
    let filled = (share * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    (format!("{spent} of {limit}"), role, Some(filled))
}
