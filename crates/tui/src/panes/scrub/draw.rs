//! Draws the scrub bar in six rows, two or one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::lane::Lane;
use crate::clock::{elapsed, time_of_day};
use crate::context::{Pane, PaneContext};
use crate::theme::Role;
use crate::widgets::{Line, RuleKind, piece, rule};
use planwright_state::timeline::{Landmark, LandmarkKind};
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
        let Some(lane) = Lane::of(cx.timeline, track.width).filter(|_| !track.is_empty()) else {
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
                Line::new(buf, rest).put(&place(cx), cx.style(Role::Text));
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
                Line::new(buf, lanes).put(&lane.glyphs(cx.timeline), cx.style(Role::Running));
                draw_track(&lane, Rect { y: track.y + 1, height: 1, ..track }, buf, cx);
                draw_marks(&lane, row(3), track.x, buf, cx);
                draw_totals(row(4), false, buf, cx);
                draw_place(row(5), buf, cx);
            }
        }
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let style = cx.theme.past();
    let time = &cx.ui.time;
    let playing = if time.playing { "playing" } else { "paused" };
    let waits = if time.skip_waits { " · waits skipped" } else { "" };
    let name = format!("scrub · {playing} · {}×{waits}", time.speed);
    let legend = "3 tasks at once █  2 ▓  1 ▒  planning ░  waiting blank";
    let kind = RuleKind { focus: false, past: true };
    rule(buf, area, kind, style, &[piece(name, style)], &[piece(legend, style)]);
}

fn draw_times(lane: &Lane, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(Role::Dim);
    let mut line = Line::new(buf, row);
    line.right(&[piece(time_of_day(lane.end, cx.time_zone), dim), piece(" ", dim)]);
    line.skip(1).put(&time_of_day(lane.start, cx.time_zone), dim);
}

fn draw_track(lane: &Lane, track: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let here = cx.state.at.map_or(0, |at| lane.cell(at));
    for cell in 0..track.width {
        let (glyph, style) = match cell.cmp(&here) {
            std::cmp::Ordering::Less => ("━", cx.theme.past()),
            std::cmp::Ordering::Equal => ("┫", cx.theme.past()),
            std::cmp::Ordering::Greater => ("─", cx.style(Role::Rule)),
        };
        buf[(track.x + cell, track.y)].set_symbol(glyph).set_style(style);
    }
}

fn draw_marks(lane: &Lane, row: Rect, x: u16, buf: &mut Buffer, cx: &PaneContext<'_>) {
    Line::new(buf, row).skip(1).put("marks", cx.style(Role::Dim));
    for (cell, kind) in lane.marks(cx.timeline) {
        let role = match kind {
            LandmarkKind::Failure => Role::Failed,
            LandmarkKind::Approval => Role::Asks,
            LandmarkKind::Replan => Role::DiffMoved,
        };
        buf[(x + cell, row.y)].set_char(kind.glyph()).set_style(cx.style(role));
    }
    // A landmark of the run goes before a mark of the person's, and that before a hit.
    let others = cx.marks.bookmarks.iter().map(|at| (at, 'B', Role::Focus));
    let hits = cx.marks.hits.iter().map(|at| (at, '▲', Role::Warn));
    for (at, glyph, role) in others.chain(hits) {
        let cell = &mut buf[(x + lane.cell(*at), row.y)];
        if cell.symbol() == " " {
            cell.set_char(glyph).set_style(cx.style(role));
        }
    }
}

fn draw_totals(row: Rect, with_place: bool, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let counts = cx.state.tasks.counts();
    let mut line = Line::new(buf, row);
    let dim = cx.style(Role::Dim);
    let right = if with_place { place(cx) } else { next_landmark(cx) };
    line.right(&[piece(right, dim), piece(" ", dim)]).skip(1);
    if !with_place {
        line.put("at the cursor", dim).skip(3);
    }
    line.put(&format!("done {}/{}", counts.done, counts.total()), cx.style(Role::Done));
    let figures = [
        (counts.running, "running", Role::Running),
        (counts.yours, "yours", Role::Yours),
        (counts.failed, "failed", Role::Failed),
    ];
    for (count, word, role) in figures {
        let role = if count == 0 { Role::Dim } else { role };
        line.skip(3).put(&format!("{word} {count}"), cx.style(role));
    }
    let totals = cx.state.totals;
    line.skip(3).put(&format!("{} tokens", units::tokens_whole(totals.tokens)), dim);
    line.skip(3).put(&totals.cost.to_string(), dim);
}

fn draw_place(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let time = cx.state.at.map(|at| time_of_day(at, cx.time_zone)).unwrap_or_default();
    let mut line = Line::new(buf, row);
    let dim = cx.style(Role::Dim);
    if let Some(note) = cx.ui.bookmarks.get(&cx.state.seq) {
        let words = if note.is_empty() { "bookmarked".to_owned() } else { format!("B {note}") };
        let words =
            planwright_text::truncate_end(&planwright_text::clean_line(&words), 40).into_owned();
        line.right(&[piece(words, cx.style(Role::Focus)), piece(" ", dim)]);
    } else if let Some(fork) = fork_words(cx) {
        line.right(&[piece(fork, dim), piece(" ", dim)]);
    }
    let hits = !cx.marks.hits.is_empty();
    let legend = if hits {
        "A approval  ✗ failure  R replan  B bookmark  ▲ hit"
    } else {
        "A approval  ✗ failure  R replan  B bookmark"
    };
    line.skip(1)
        .put(&place(cx), cx.style(Role::Text))
        .skip(3)
        .put(&time, cx.style(Role::Text))
        .skip(3)
        .put(legend, cx.style(Role::Dim));
}

fn place(cx: &PaneContext<'_>) -> String {
    let (here, head) = (cx.state.seq.0, cx.timeline.head().0);
    format!("event {} of {}", units::count(here), units::count(head))
}

/// What a fork of this moment would do again, as far as the plan alone says.
fn fork_words(cx: &PaneContext<'_>) -> Option<String> {
    let total = cx.state.tasks.len();
    cx.state.plan.current.as_ref()?;
    let kept = (0..total).filter(|task| cx.state.tasks.row(*task).status.counts_as_met()).count();
    Some(format!("a fork here re-runs {} of {total}, reuses {kept}", total - kept))
}

fn next_landmark(cx: &PaneContext<'_>) -> String {
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
    let wait = cx.state.at.map(|at| format!(", in {}", elapsed(at, next.at))).unwrap_or_default();
    format!("next landmark {}{wait}", landmark_words(next))
}

fn landmark_words(landmark: &Landmark) -> String {
    let what = match (&landmark.task, landmark.kind) {
        (Some(task), _) => task.to_string(),
        (None, LandmarkKind::Approval) => "approval".to_owned(),
        (None, LandmarkKind::Replan) => "replan".to_owned(),
        (None, LandmarkKind::Failure) => "failure".to_owned(),
    };
    format!("{} {what}", landmark.kind.glyph())
}
