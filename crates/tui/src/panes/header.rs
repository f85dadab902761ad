//! The two rows at the top: which kind of time this is, what the session is, how far it got.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::clock;
use crate::pane_context::{Pane, PaneContext, SessionViewMode};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, StyledPiece, pieces_width, styled_piece};
use planwright_model::breaker::BreakerState;
use planwright_model::{ApprovalTarget, MicroDollars, PlanState, RunCap, Stage};
use planwright_state::{PlanningSlice, RunPhase, SessionState};
use planwright_text::units;

/// The header.
pub(crate) struct HeaderPane;

impl Pane for HeaderPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let first = Rect { height: 1, ..area };
        draw_title_row(first, buf, cx);
        if area.height > 1 {
            draw_stage_row(Rect { y: area.y + 1, height: 1, ..area }, buf, cx);
        }
    }
}

/// The word and the role of the badge.
pub(crate) fn mode_badge(mode: SessionViewMode) -> (&'static str, ThemeRole) {
    match mode {
        SessionViewMode::Live => ("LIVE", ThemeRole::BadgeLive),
        SessionViewMode::Paused => ("PAUSED", ThemeRole::BadgePaused),
        SessionViewMode::Saved | SessionViewMode::ScrubbedBack => {
            ("REPLAY", ThemeRole::BadgeReplay)
        }
    }
}

fn draw_title_row(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (word, role) = mode_badge(cx.mode);
    let title = if cx.state.session.title.is_empty() {
        &cx.latest.session.title
    } else {
        &cx.state.session.title
    };
    let mut line = ScreenLine::new(buf, area);
    line.put(&format!(" {word} "), cx.style(role)).skip(2);
    let mut facts = header_facts(cx);
    if cx.class == SizeClass::Small {
        facts = vec![(stage_text(cx.state), ThemeRole::Dim), (time_position(cx), ThemeRole::Dim)];
    }
    // The title keeps a third of the row; what is less important gives way first.
    let room = line.cells_left() * 2 / 3;
    while facts.len() > 1 && pieces_width(&join_facts(&facts, cx)) > room {
        facts.remove(0);
    }
    line.put_right(&join_facts(&facts, cx));
    line.put(title, cx.theme.bold_style(ThemeRole::Text));
}

/// A fact of the header and how much it wants to be seen.
type HeaderFact = (String, ThemeRole);

fn header_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let mut facts: Vec<HeaderFact> = Vec::new();
    match cx.mode {
        SessionViewMode::Saved => {
            facts.push(("saved run, nothing runs".to_owned(), ThemeRole::Dim));
        }
        SessionViewMode::ScrubbedBack => facts.push((live_lead_text(cx), ThemeRole::Dim)),
        SessionViewMode::Live | SessionViewMode::Paused => {
            facts.extend(cx.note.map(|note| (note.to_owned(), ThemeRole::Dim)));
        }
    }
    if cx.state.planning.begun {
        facts.push((drafter_name(cx.state), ThemeRole::Dim));
    }
    facts.extend(breaker_text(cx).map(|words| (words, ThemeRole::Warn)));
    facts.push((time_position(cx), ThemeRole::Dim));
    facts
}

/// Who drafts.
fn drafter_name(state: &SessionState) -> String {
    if state.planning.offline {
        return "offline planner".to_owned();
    }
    state.planning.drafter.to_string()
}

/// The first tool that is refused for a while.
fn breaker_text(cx: &PaneContext<'_>) -> Option<String> {
    let (tool, state) = cx.state.breakers.unclosed_breakers(cx.now).next()?;
    Some(match state {
        BreakerState::Open => {
            let wait = cx.state.breakers.open_for_ms(tool, cx.now).div_ceil(1000);
            format!("breaker: {tool} open {wait} s")
        }
        _ => format!("breaker: {tool} probing"),
    })
}

/// How far live is ahead of the cursor.
fn live_lead_text(cx: &PaneContext<'_>) -> String {
    let key = cx.keymap.key_hint(crate::keymap::KeyAction::Live);
    match (cx.state.at, cx.latest.at) {
        (Some(here), Some(live)) => {
            format!("live is {} ahead, {key} returns", clock::format_elapsed_between(here, live))
        }
        _ => format!("{key} returns to live"),
    }
}

/// Elapsed time while live; the place in the run in a replay.
fn time_position(cx: &PaneContext<'_>) -> String {
    let Some(start) = cx.state.session.created_at.or(cx.latest.session.created_at) else {
        return String::new();
    };
    if !cx.mode.is_past() {
        let run = &cx.state.run;
        if run.phase == RunPhase::Idle {
            // The time in which nobody was there does not count.
            let attended = std::time::Duration::from_millis(cx.state.attended_ms(cx.now));
            return format!("elapsed {}", units::format_clock(attended));
        }
        // What passes while everything waits for the person is not time that the run took.
        let worked = std::time::Duration::from_millis(run.worked_ms(cx.now));
        return format!("elapsed {}", units::format_clock(worked));
    }
    let here = cx.state.at.unwrap_or(start);
    let end = cx.timeline.time_span().map_or(here, |(_, end)| end);
    let time = clock::format_time_of_day(here, cx.time_zone);
    let (gone, whole) =
        (clock::format_elapsed_between(start, here), clock::format_elapsed_between(start, end));
    if cx.class == SizeClass::Small {
        return format!("+{gone} of {whole}");
    }
    format!("{time}   +{gone} of {whole}")
}

fn draw_stage_row(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let mut line = ScreenLine::new(buf, area);
    let totals = cx.state.totals;
    let mut facts: Vec<HeaderFact> = Vec::new();
    if totals.anomalies > 0 {
        let word = if totals.anomalies == 1 { "anomaly" } else { "anomalies" };
        facts.push((format!("{} {word}", units::format_count(totals.anomalies)), ThemeRole::Warn));
    }
    facts.push((format!("{} tokens", units::format_whole_tokens(totals.tokens)), ThemeRole::Dim));
    let (words, role, filled) = spending_status(cx);
    facts.push((words, role));
    let mut pieces = join_facts(&facts, cx);
    if let Some(filled) = filled.filter(|_| cx.class >= SizeClass::Full) {
        pieces.push(styled_piece("━".repeat(filled), cx.style(role)));
        pieces.push(styled_piece("─".repeat(BAR - filled), cx.style(ThemeRole::Rule)));
        pieces.push(styled_piece(" ", cx.style(ThemeRole::Dim)));
    }
    line.put_right(&pieces).skip(1);
    let now = current_stage(cx.state);
    let dim = cx.style(ThemeRole::Dim);
    let names = stage_names(cx.state);
    // A narrow screen keeps what was before, what is now and what comes next.
    let narrow = cx.class < SizeClass::Full && names.len() > 4;
    let (from, to) = if narrow { (now.saturating_sub(1), now + 2) } else { (0, names.len()) };
    for (index, name) in names.iter().enumerate().take(to).skip(from) {
        if index > from {
            line.put(" › ", dim);
        }
        if index == now {
            line.put(&format!("[{}]", stage_text(cx.state)), cx.theme.bold_style(ThemeRole::Text));
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

fn stage_names(state: &SessionState) -> &'static [&'static str] {
    if state.planning.begun { &DRAFTED } else { &GIVEN }
}

/// The stage a session is in, counted from the end so that both ways share the last three.
fn current_stage(state: &SessionState) -> usize {
    let last = stage_names(state).len() - 1;
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
fn stage_text(state: &SessionState) -> String {
    let counts = state.tasks.status_counts();
    let progress = format!("{}/{}", counts.done, counts.total());
    let now = current_stage(state);
    let left = stage_names(state).len() - 1 - now;
    match (left, state.run.phase) {
        (0, _) if state.plan.abandoned => "abandoned".to_owned(),
        (0, RunPhase::Finished { success: true }) => format!("done {progress}"),
        (0, RunPhase::Finished { .. }) => format!("failed, {progress} done"),
        (0, _) => "ended".to_owned(),
        (1, RunPhase::Interrupted) => format!("interrupted {progress}"),
        (1, RunPhase::Paused) => format!("run {progress}, held"),
        (1, _) => format!("run {progress}"),
        (2, _) if state.plan.is_approved() => "approved, not run".to_owned(),
        _ => stage_names(state)[now].to_owned(),
    }
}

/// Facts side by side, with one cell of air at the right edge.
fn join_facts(facts: &[HeaderFact], cx: &PaneContext<'_>) -> Vec<StyledPiece<'static>> {
    let mut pieces = Vec::new();
    for (text, role) in facts.iter().filter(|(text, _)| !text.is_empty()) {
        if !pieces.is_empty() {
            pieces.push(styled_piece("   ", cx.style(ThemeRole::Dim)));
        }
        pieces.push(styled_piece(text.clone(), cx.style(*role)));
    }
    pieces.push(styled_piece(" ", cx.style(ThemeRole::Dim)));
    pieces
}

/// Cells of the bar of money.
const BAR: usize = 10;

/// What was spent of what may be, how much that wants to be seen, and the filled cells of its bar.
fn spending_status(cx: &PaneContext<'_>) -> (String, ThemeRole, Option<usize>) {
    let spent = cx.state.totals.cost;
    let planning = &cx.state.planning;
    let limit = match cx.state.run.raised.get(&RunCap::BudgetPerSessionUsd) {
        Some(to) => to.map(MicroDollars),
        None => Some(cx.session_budget),
    };
    // Where nothing can be spent, a limit is noise.
    let paid = spent > MicroDollars::ZERO || planning.begun && !planning.offline;
    let Some(limit) = limit.filter(|limit| paid && *limit > MicroDollars::ZERO) else {
        return (spent.to_string(), ThemeRole::Dim, None);
    };
    let share = spent.0 as f64 / limit.0 as f64;
    let role = match share {
        share if share >= 1.0 => ThemeRole::Failed,
        share if share >= 0.8 => ThemeRole::Warn,
        _ => ThemeRole::Dim,
    };
    let filled = (share * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    (format!("{spent} of {limit}"), role, Some(filled))
}
