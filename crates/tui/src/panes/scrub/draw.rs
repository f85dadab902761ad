//! Draws the scrub bar in six rows, two or one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::track::ScrubTrack;
use crate::clock::{format_elapsed_between, format_time_of_day};
use crate::pane_context::{Pane, PaneContext};
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_state::timeline::{LandmarkKind, TimelineLandmark};
use planwright_text::units;

/// Cells at either end that hold a time.
const LABEL: u16 = 10;

/// The scrub bar.
pub(crate) struct ScrubPane;

/// The cells of the track, which the mouse can drag along.
pub(crate) fn track_area(area: Rect) -> Rect {
    let labels = if area.height == 1 { 0 } else { LABEL };
    let width = area.width.saturating_sub(2 * labels);
    match area.height {
        0 => Rect::default(),
        1 => Rect { x: area.x + 1, width: area.width / 2, ..area },
        2..6 => Rect { x: area.x + labels, width, height: 1, ..area },
        _ => Rect { x: area.x + labels, y: area.y + 1, width, height: 2 },
    }
}

impl Pane for ScrubPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let track = track_area(area);
        let Some(lane) =
            ScrubTrack::from_timeline(cx.timeline, track.width).filter(|_| !track.is_empty())
        else {
            return;
        };
        let row = |offset: u16| Rect { y: area.y + offset, height: 1, ..area };
        match area.height {
            1 => {
                draw_track(&lane, track, buf, cx);
                let rest = Rect {
                    x: track.right() + 2,
                    width: area.right().saturating_sub(track.right() + 2),
                    ..area
                };
                ScreenLine::new(buf, rest).put(&event_position(cx), cx.style(ThemeRole::Text));
            }
            2..6 => {
                draw_times(&lane, row(0), buf, cx);
                draw_track(&lane, track, buf, cx);
                draw_totals(row(1), true, buf, cx);
            }
            _ => {
                draw_rule(area, buf, cx);
                draw_times(&lane, row(1), buf, cx);
                let lanes = Rect { height: 1, ..track };
                ScreenLine::new(buf, lanes)
                    .put(&lane.activity_glyphs(cx.timeline), cx.style(ThemeRole::Running));
                draw_track(&lane, Rect { y: track.y + 1, height: 1, ..track }, buf, cx);
                draw_marks(&lane, row(3), track.x, buf, cx);
                draw_totals(row(4), false, buf, cx);
                draw_position(row(5), buf, cx);
            }
        }
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let style = cx.theme.replay_style();
    let time = &cx.ui.time;
    let playing = if time.playing { "playing" } else { "paused" };
    let waits = if time.skip_waits { " · waits skipped" } else { "" };
    let name = format!("scrub · {playing} · {}×{waits}", time.speed);
    let legend = "3 tasks at once █  2 ▓  1 ▒  planning ░  waiting blank";
    let kind = RuleKind { focus: false, past: true };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(legend, style)],
    );
}

fn draw_times(lane: &ScrubTrack, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, row);
    line.put_right(&[
        styled_piece(format_time_of_day(lane.end, cx.time_zone), dim),
        styled_piece(" ", dim),
    ]);
    line.skip(1).put(&format_time_of_day(lane.start, cx.time_zone), dim);
}

fn draw_track(lane: &ScrubTrack, track: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let here = cx.state.at.map_or(0, |at| lane.cell_at(at));
    for cell in 0..track.width {
        let (glyph, style) = match cell.cmp(&here) {
            std::cmp::Ordering::Less => ("━", cx.theme.replay_style()),
            std::cmp::Ordering::Equal => ("┫", cx.theme.replay_style()),
            std::cmp::Ordering::Greater => ("─", cx.style(ThemeRole::Rule)),
        };
        buf[(track.x + cell, track.y)].set_symbol(glyph).set_style(style);
    }
}

fn draw_marks(lane: &ScrubTrack, row: Rect, x: u16, buf: &mut Buffer, cx: &PaneContext<'_>) {
    ScreenLine::new(buf, row).skip(1).put("marks", cx.style(ThemeRole::Dim));
    for (cell, kind) in lane.landmark_cells(cx.timeline) {
        let role = match kind {
            LandmarkKind::Failure => ThemeRole::Failed,
            LandmarkKind::Approval => ThemeRole::Asks,
            LandmarkKind::Replan => ThemeRole::DiffMoved,
        };
        buf[(x + cell, row.y)].set_char(kind.glyph()).set_style(cx.style(role));
    }
    // A landmark of the run goes before a mark of the person's, and that before a hit.
    let others = cx.marks.bookmarks.iter().map(|at| (at, 'B', ThemeRole::Focus));
    let hits = cx.marks.hits.iter().map(|at| (at, '▲', ThemeRole::Warn));
    for (at, glyph, role) in others.chain(hits) {
        let cell = &mut buf[(x + lane.cell_at(*at), row.y)];
        if cell.symbol() == " " {
            cell.set_char(glyph).set_style(cx.style(role));
        }
    }
}

fn draw_totals(row: Rect, with_place: bool, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let counts = cx.state.tasks.status_counts();
    let mut line = ScreenLine::new(buf, row);
    let dim = cx.style(ThemeRole::Dim);
    let right = if with_place { event_position(cx) } else { next_landmark_text(cx) };
    line.put_right(&[styled_piece(right, dim), styled_piece(" ", dim)]).skip(1);
    if !with_place {
        line.put("at the cursor", dim).skip(3);
    }
    line.put(&format!("done {}/{}", counts.done, counts.total()), cx.style(ThemeRole::Done));
    let figures = [
        (counts.running, "running", ThemeRole::Running),
        (counts.yours, "yours", ThemeRole::Yours),
        (counts.failed, "failed", ThemeRole::Failed),
    ];
    for (count, word, role) in figures {
        let role = if count == 0 { ThemeRole::Dim } else { role };
        line.skip(3).put(&format!("{word} {count}"), cx.style(role));
    }
    let totals = cx.state.totals;
    line.skip(3).put(&format!("{} tokens", units::format_whole_tokens(totals.tokens)), dim);
    line.skip(3).put(&totals.cost.to_string(), dim);
}

fn draw_position(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let time = cx.state.at.map(|at| format_time_of_day(at, cx.time_zone)).unwrap_or_default();
    let mut line = ScreenLine::new(buf, row);
    let dim = cx.style(ThemeRole::Dim);
    if let Some(note) = cx.ui.bookmarks.get(&cx.state.seq) {
        let words = if note.is_empty() { "bookmarked".to_owned() } else { format!("B {note}") };
        let words =
            planwright_text::truncate_end(&planwright_text::clean_line(&words), 40).into_owned();
        line.put_right(&[styled_piece(words, cx.style(ThemeRole::Focus)), styled_piece(" ", dim)]);
    } else if let Some(fork) = fork_text(cx) {
        line.put_right(&[styled_piece(fork, dim), styled_piece(" ", dim)]);
    }
    let hits = !cx.marks.hits.is_empty();
    let legend = if hits {
        "A approval  ✗ failure  R replan  B bookmark  ▲ hit"
    } else {
        "A approval  ✗ failure  R replan  B bookmark"
    };
    line.skip(1)
        .put(&event_position(cx), cx.style(ThemeRole::Text))
        .skip(3)
        .put(&time, cx.style(ThemeRole::Text))
        .skip(3)
        .put(legend, cx.style(ThemeRole::Dim));
}

fn event_position(cx: &PaneContext<'_>) -> String {
    let (here, head) = (cx.state.seq.0, cx.timeline.head_seq().0);
    format!("event {} of {}", units::format_count(here), units::format_count(head))
}

/// What a fork of this moment would do again, as far as the plan alone says.
fn fork_text(cx: &PaneContext<'_>) -> Option<String> {
    let total = cx.state.tasks.len();
    cx.state.plan.current.as_ref()?;
    let kept = (0..total).filter(|task| cx.state.tasks.row(*task).status.is_met()).count();
    Some(format!("a fork here re-runs {} of {total}, reuses {kept}", total - kept))
}

fn next_landmark_text(cx: &PaneContext<'_>) -> String {
    let here = cx.state.seq;
    let next = cx.timeline.landmark_after(here);
    let after = (std::ops::Bound::Excluded(here), std::ops::Bound::Unbounded);
    let mark = cx.ui.bookmarks.range(after).next();
    if let Some((seq, note)) = mark
        && next.is_none_or(|next| *seq < next.seq)
    {
        let note =
            planwright_text::truncate_end(&planwright_text::clean_line(note), 30).into_owned();
        return format!("next landmark B {note}").trim_end().to_owned();
    }
    let Some(next) = next else {
        return "no landmark after this".to_owned();
    };
    let wait = cx
        .state
        .at
        .map(|at| format!(", in {}", format_elapsed_between(at, next.at)))
        .unwrap_or_default();
    format!("next landmark {}{wait}", landmark_text(next))
}

fn landmark_text(landmark: &TimelineLandmark) -> String {
    let what = match (&landmark.task, landmark.kind) {
        (Some(task), _) => task.to_string(),
        (None, LandmarkKind::Approval) => "approval".to_owned(),
        (None, LandmarkKind::Replan) => "replan".to_owned(),
        (None, LandmarkKind::Failure) => "failure".to_owned(),
    };
    format!("{} {what}", landmark.kind.glyph())
}
