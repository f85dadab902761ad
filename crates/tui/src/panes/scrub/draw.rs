//! Draws the scrub bar: in six rows, in five where there are tabs, in one on the smallest screens.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::lane::ScrubLane;
use crate::clock;
use crate::keymap::KeyAction;
use crate::pane_context::{Pane, PaneContext};
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, StyledPiece, draw_pane_rule, pieces_width, styled_piece};
use planwright_state::SessionState;
use planwright_state::timeline::{LandmarkKind, TimelineLandmark};
use planwright_text::{clean_line, dates, truncate_end, units};

/// From here on the bar has its fork line and wider margins.
const WIDE: u16 = 120;

/// The scrub bar.
pub(crate) struct ScrubPane;

/// The cells of lane and track, which the mouse can drag along.
pub(crate) fn track_area(area: Rect) -> Rect {
    let (left, right) = if area.width >= WIDE { (8, 9) } else { (7, 8) };
    let width = area.width.saturating_sub(left + right);
    match area.height {
        0 => Rect::default(),
        1 => Rect { x: area.x + 1, width: area.width / 2, ..area },
        _ => Rect { x: area.x + left, y: area.y + 1, width, height: 2 },
    }
}

impl Pane for ScrubPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let track = track_area(area);
        let Some(lane) =
            cx.lane.filter(|lane| !track.is_empty() && lane.track.width == track.width)
        else {
            return;
        };
        let row = |offset: u16| Rect { y: area.y + offset, height: 1, ..area };
        if area.height == 1 {
            draw_track(lane, track, buf, cx);
            let left = area.right().saturating_sub(track.right() + 2);
            let rest = Rect { x: track.right() + 2, width: left, ..area };
            ScreenLine::new(buf, rest).put(&event_position(cx), cx.style(ThemeRole::Text));
            return;
        }
        draw_rule(area, buf, cx);
        draw_times(lane, row(1), buf, cx);
        draw_lane(lane, Rect { height: 1, ..track }, buf, cx);
        draw_track(lane, Rect { y: track.y + 1, height: 1, ..track }, buf, cx);
        draw_marks(lane, row(3), track.x, buf, cx);
        if area.height > 4 {
            draw_position(row(4), buf, cx);
        }
        if area.height > 5 {
            draw_fork(row(5), buf, cx);
        }
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Scrub);
    let time = &cx.ui.time;
    let playing = match (time.playing, time.touched) {
        (true, _) => "playing".to_owned(),
        (false, true) => "paused".to_owned(),
        // Whoever opens a recording sees that it can be played.
        (false, false) => format!("paused · {} plays", cx.keymap.key_hint(KeyAction::Play)),
    };
    let name = format!("scrub · {playing} · {}×", time.speed);
    let idle = "idle folded ┊";
    let legend = if area.width >= WIDE {
        format!("tasks at once: 3 █  2 ▓  1 ▒  planning ░  {idle}")
    } else {
        idle.to_owned()
    };
    let (name, legend) = ([styled_piece(name, style)], [styled_piece(legend, style)]);
    draw_pane_rule(buf, area, kind, style, &name, &legend);
}

fn draw_times(lane: &ScrubLane, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let (start, end) = lane.track.span();
    let time = |at: jiff::Timestamp| dates::format_time(at.to_zoned(cx.time_zone.clone()).time());
    let mut line = ScreenLine::new(buf, row);
    line.put_right(&[styled_piece(time(end), dim), styled_piece("  ", dim)]);
    line.skip(1).put(&time(start), dim);
}

fn draw_lane(lane: &ScrubLane, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    ScreenLine::new(buf, area).put(&lane.glyphs, cx.theme.replay_style());
    for segment in lane.track.segments.iter().filter(|segment| segment.fold.is_some()) {
        let fold = Rect { x: area.x + segment.first, width: segment.cells, ..area };
        buf.set_style(fold, cx.style(ThemeRole::Dim));
    }
}

fn draw_track(lane: &ScrubLane, track: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let here = cx.state.at.map_or(0, |at| lane.track.cell_at(at));
    for cell in 0..track.width {
        let (glyph, style) = match cell.cmp(&here) {
            std::cmp::Ordering::Less => ("━", cx.theme.replay_style()),
            std::cmp::Ordering::Equal => ("┫", cx.theme.replay_style()),
            std::cmp::Ordering::Greater => ("─", cx.style(ThemeRole::Rule)),
        };
        buf[(track.x + cell, track.y)].set_symbol(glyph).set_style(style);
    }
}

fn draw_marks(lane: &ScrubLane, row: Rect, x: u16, buf: &mut Buffer, cx: &PaneContext<'_>) {
    for (cell, kind) in &lane.marks {
        buf[(x + cell, row.y)].set_char(kind.glyph()).set_style(cx.style(landmark_role(*kind)));
    }
    // A landmark of the run goes before a mark of the person's, and that before a match.
    let others = cx.marks.bookmarks.iter().map(|at| (at, 'B', ThemeRole::Focus));
    let hits = cx.marks.hits.iter().map(|at| (at, '▲', ThemeRole::Warn));
    for (at, glyph, role) in others.chain(hits) {
        let cell = &mut buf[(x + lane.track.cell_at(*at), row.y)];
        if cell.symbol() == " " {
            cell.set_char(glyph).set_style(cx.style(role));
        }
    }
}

fn landmark_role(kind: LandmarkKind) -> ThemeRole {
    match kind {
        LandmarkKind::Failure => ThemeRole::Failed,
        LandmarkKind::Question | LandmarkKind::Approval => ThemeRole::Asks,
        LandmarkKind::Applied => ThemeRole::Done,
    }
}

/// Where the cursor stands and what comes next; on wide screens also what the marks mean.
fn draw_position(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (text, dim) = (cx.style(ThemeRole::Text), cx.style(ThemeRole::Dim));
    let mut line = ScreenLine::new(buf, row);
    let next = next_landmark_text(cx, row.width >= WIDE);
    if row.width >= WIDE {
        let place = event_position(cx);
        let legend = mark_legend(cx);
        let taken = place.len() + pieces_width(&[styled_piece(next.as_str(), dim)]) + 8;
        if taken + pieces_width(&legend) <= line.cells_left() {
            line.put_right(&legend);
        }
        line.skip(1).put(&place, text).skip(3).put(&next, dim);
        return;
    }
    let mut place = event_position(cx);
    if let Some((begun, at)) = cx.state.run.started_at.zip(cx.state.at) {
        place = format!("{place} · {} in", clock::format_elapsed_between(begun, at));
    }
    line.put_right(&[styled_piece(next, dim), styled_piece(" ", dim)]);
    line.skip(1).put(&place, text);
}

/// What the marks stand for.
fn mark_legend(cx: &PaneContext<'_>) -> Vec<StyledPiece<'static>> {
    let dim = cx.style(ThemeRole::Dim);
    let kinds = [
        LandmarkKind::Approval,
        LandmarkKind::Failure,
        LandmarkKind::Question,
        LandmarkKind::Applied,
    ];
    let mut pieces = Vec::new();
    for kind in kinds {
        pieces.push(styled_piece(kind.glyph().to_string(), cx.style(landmark_role(kind))));
        pieces.push(styled_piece(format!(" {}  ", kind.label()), dim));
    }
    pieces.push(styled_piece("B", cx.style(ThemeRole::Focus)));
    pieces.push(styled_piece(" bookmark", dim));
    if !cx.marks.hits.is_empty() {
        pieces.push(styled_piece("  ▲", cx.style(ThemeRole::Warn)));
        pieces.push(styled_piece(" match", dim));
    }
    pieces.push(styled_piece(" ", dim));
    pieces
}

/// What a fork of this moment would run again, as far as the plan alone says; the note of a bookmark goes before it.
fn draw_fork(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, row);
    if let Some(note) = cx.ui.bookmarks.get(&cx.state.seq) {
        let words = if note.is_empty() { "bookmarked".to_owned() } else { format!("B {note}") };
        let words = truncate_end(&clean_line(&words), 40).into_owned();
        line.put_right(&[styled_piece(words, cx.style(ThemeRole::Focus)), styled_piece(" ", dim)]);
    }
    line.skip(1);
    let can_fork = cx.situation().is_available(KeyAction::Fork);
    if let Some(fork) = fork_text(cx.state).filter(|_| can_fork) {
        line.put(&cx.keymap.key_hint(KeyAction::Fork), cx.style(ThemeRole::Key));
        line.put(&format!(" fork here: {fork}; files stay as they are now"), dim);
    }
}

fn fork_text(state: &SessionState) -> Option<String> {
    state.plan.current.as_ref()?;
    let counts = state.tasks.status_counts();
    let total = counts.total();
    let noun = if total == 1 { "task" } else { "tasks" };
    // Whether files have changed since is looked at when the card opens: then fewer may be reused.
    Some(match counts.done {
        0 => format!("reruns all {total} {noun}"),
        done => format!("reruns {} or more of {total} {noun}, reuses up to {done}", total - done),
    })
}

fn event_position(cx: &PaneContext<'_>) -> String {
    let (here, head) = (cx.state.seq.0, cx.timeline.head_seq().0);
    format!("event {} of {}", units::format_count(here), units::format_count(head))
}

fn next_landmark_text(cx: &PaneContext<'_>, wide: bool) -> String {
    let here = cx.state.seq;
    let next = cx.timeline.landmark_after(here);
    let after = (std::ops::Bound::Excluded(here), std::ops::Bound::Unbounded);
    let mark = cx.ui.bookmarks.range(after).next();
    if let Some((seq, note)) = mark
        && next.is_none_or(|next| *seq < next.seq)
    {
        let note = truncate_end(&clean_line(note), 30).into_owned();
        return format!("next: B {note}").trim_end().to_owned();
    }
    let Some(next) = next else {
        return "no landmark after this".to_owned();
    };
    let wait = cx.state.at.map(|at| clock::format_elapsed_between(at, next.at));
    let wait = wait.map(|wait| format!(", in {wait}")).unwrap_or_default();
    format!("next: {}{wait}", landmark_text(next, wide, cx.latest))
}

/// A landmark in words, by the title of its task.
fn landmark_text(landmark: &TimelineLandmark, wide: bool, latest: &SessionState) -> String {
    let glyph = landmark.kind.glyph();
    let Some(task) = &landmark.task else {
        return match landmark.kind {
            LandmarkKind::Approval => format!("{glyph} the plan is approved"),
            LandmarkKind::Applied => format!("{glyph} the changed plan is approved"),
            LandmarkKind::Question => format!("{glyph} a question"),
            LandmarkKind::Failure => format!("{glyph} a failure"),
        };
    };
    let plan = latest.plan.current.as_ref();
    let node = plan.and_then(|current| {
        let place = latest.tasks.position(task)?;
        current.plan.tasks.get(place)
    });
    let title = clean_line(node.map_or(task.as_str(), |node| &node.description));
    let title = truncate_end(&title, 40);
    if wide {
        format!("{glyph} {title} {}", landmark.kind.label())
    } else {
        format!("{glyph} {title}")
    }
}
