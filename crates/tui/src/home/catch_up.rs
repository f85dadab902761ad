//! Catching up with a late plan: the ways to do it, what each would change, and the key that applies one.

use std::collections::BTreeSet;

use crossterm::event::KeyCode;
use jiff::civil::Date;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{HomeCover, HomeScreen};
use crate::HomeRequest;
use crate::keymap::{KeyAction, KeyChord, KeyContext};
use crate::overlays::frame::CardFrame;
use crate::session::ScreenEffect;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, styled_piece};
use planwright_model::catch_up::{CatchUpWay, OpenWork, TaskOccurrence};
use planwright_model::event::Command;
use planwright_model::{Actor, OffsetDateTime, SessionId};
use planwright_schedule::{
    CatchUpFate, CatchUpPreview, CatchUpRequest, CatchUpRow, preview_catch_up,
};
use planwright_state::SessionState;
use planwright_text::{dates, units};

/// The open view: every way with what it would lead to.
pub(super) struct CatchUpCover {
    session: SessionId,
    plan: String,
    ways: Vec<(CatchUpWay, Result<CatchUpPreview, String>)>,
    /// Late tasks, the oldest first, with the day they were planned for.
    late: Vec<LateTask>,
    left_out: BTreeSet<TaskOccurrence>,
    /// The way that would be applied.
    way: usize,
    /// The line under the cursor: a way, or a late task below them.
    cursor: usize,
    /// How many tasks are still to be done.
    open: usize,
}

struct LateTask {
    which: TaskOccurrence,
    title: String,
    day: Date,
}

impl CatchUpCover {
    fn new(session: SessionId, state: &SessionState, work: &OpenWork, home: &HomeScreen) -> Self {
        let zone = home.time_zone.clone();
        let mut late: Vec<LateTask> = work
            .late
            .iter()
            .filter_map(|which| {
                let schedule = state.planning.schedule.as_ref()?;
                let blocks = schedule.blocks_for_node(&which.task);
                let block = blocks
                    .filter(|block| block.occurrence == which.occurrence)
                    .min_by_key(|block| block.start.at)?;
                let day = block.start.at.to_zoned(zone.clone()).date();
                Some(LateTask { which: which.clone(), title: block.title.clone(), day })
            })
            .collect();
        late.sort_by_key(|task| task.day);
        let counts = state.tasks.status_counts();
        Self {
            session,
            plan: state.session.title.clone(),
            ways: Vec::new(),
            late,
            left_out: BTreeSet::new(),
            way: 0,
            cursor: 0,
            open: (counts.pending + counts.yours) as usize,
        }
    }

    /// Works out what every way leads to, without what is left out.
    fn compute_ways(&mut self, state: &SessionState, work: &OpenWork, now: jiff::Timestamp) {
        let talk = &state.planning;
        let (Some(context), Some(roadmap), Some(schedule)) =
            (talk.context.as_deref(), talk.roadmap.as_deref(), talk.schedule.as_deref())
        else {
            return;
        };
        let left_out = &self.left_out;
        let request = CatchUpRequest { roadmap, context, schedule, work, left_out, now };
        let preview = |way: CatchUpWay| (way, preview_catch_up(&request, way));
        self.ways = CatchUpWay::ALL.map(preview).into();
    }

    fn move_cursor(&mut self, by: isize) {
        let last = (self.ways.len() + self.late.len()).saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
        if self.cursor < self.ways.len() {
            self.way = self.cursor;
        }
    }

    fn late_under_cursor(&self) -> Option<&LateTask> {
        self.late.get(self.cursor.checked_sub(self.ways.len())?)
    }
}

/// Columns of the ways: what to do, the next task, the end.
fn way_columns(width: u16) -> [usize; 3] {
    if width >= 90 { [40, 19, 14] } else { [32, 17, 12] }
}

/// What a way does, as a line of the choice.
fn way_label(way: CatchUpWay, preview: &Result<CatchUpPreview, String>) -> String {
    let later = preview.as_ref().map_or(0, CatchUpPreview::days_later);
    match way {
        CatchUpWay::MoveLate => "move them to the next free time".to_owned(),
        CatchUpWay::SkipLate => "skip them, keep the plan".to_owned(),
        CatchUpWay::PushBack if later > 0 => {
            let days = units::format_counted(later.unsigned_abs() as usize, "day");
            format!("push everything back by {days}")
        }
        CatchUpWay::PushBack => "plan everything again from now".to_owned(),
    }
}

impl HomeScreen {
    /// Opens the ways to catch up with a plan.
    pub(super) fn open_catch_up_for(&mut self, session: &SessionId) -> ScreenEffect {
        let (now, zone) = ((self.clock)(), self.time_zone.clone());
        let Some(state) = self.open_state(session) else { return ScreenEffect::Idle };
        let work = state.open_work(now, &zone);
        let mut cover = CatchUpCover::new(session.clone(), state, &work, self);
        cover.compute_ways(state, &work, now);
        if cover.late.is_empty() || cover.ways.is_empty() {
            return self.say("No task of this plan is late");
        }
        self.cover = Some(HomeCover::CatchUp(Box::new(cover)));
        ScreenEffect::Draw
    }

    pub(super) fn on_catch_up_key(&mut self, key: KeyChord) -> ScreenEffect {
        let Some(HomeCover::CatchUp(mut cover)) = self.cover.take() else {
            return ScreenEffect::Idle;
        };
        let places = [KeyContext::Card, KeyContext::Home, KeyContext::Screen];
        match (self.keymap.action_for(key, &places), key.code) {
            (_, KeyCode::Char('-')) => self.leave_out(&mut cover, true),
            (_, KeyCode::Char('+')) => self.leave_out(&mut cover, false),
            (Some(KeyAction::Down), _) => cover.move_cursor(1),
            (Some(KeyAction::Up), _) => cover.move_cursor(-1),
            (Some(KeyAction::Yes), _) => return self.apply_catch_up(*cover),
            (Some(KeyAction::Back | KeyAction::Quit), _) => return ScreenEffect::Draw,
            _ => {}
        }
        self.cover = Some(HomeCover::CatchUp(cover));
        ScreenEffect::Draw
    }

    /// Leaves the late task under the cursor as it is, or takes it in again.
    fn leave_out(&mut self, cover: &mut CatchUpCover, out: bool) {
        let Some(which) = cover.late_under_cursor().map(|task| task.which.clone()) else {
            self.message = Some("- and +: select a late task first".to_owned());
            return;
        };
        if out {
            cover.left_out.insert(which);
        } else {
            cover.left_out.remove(&which);
        }
        let (now, zone) = ((self.clock)(), self.time_zone.clone());
        if let Some(state) = self.open_state(&cover.session) {
            let work = state.open_work(now, &zone);
            cover.compute_ways(state, &work, now);
        }
    }

    fn apply_catch_up(&mut self, cover: CatchUpCover) -> ScreenEffect {
        let Some((way, preview)) = cover.ways.get(cover.way) else { return ScreenEffect::Idle };
        let blocked = match preview {
            Err(why) => Some(why.clone()),
            Ok(preview) => preview
                .unplaced()
                .next()
                .map(|row| format!("\"{}\" has no free time before the plan ends", row.title)),
        };
        if let Some(why) = blocked.or_else(|| all_left_out(&cover)) {
            self.message = Some(why);
            self.cover = Some(HomeCover::CatchUp(Box::new(cover)));
            return ScreenEffect::Draw;
        }
        let left_out = cover.left_out.iter().cloned().collect();
        let command = Command::CatchUp { way: *way, left_out, by: Actor::Person };
        let session = cover.session;
        let undo = HomeRequest::Command { session: session.clone(), command: Command::Undo };
        self.undo.push((undo, "Undoing the catch-up".to_owned()));
        self.send_command(session, command)
    }

    pub(super) fn draw_catch_up(&self, cover: &CatchUpCover, room: Rect, buf: &mut Buffer) {
        let rows = cover.rows_of_way();
        let title = format!("catch up · {}", cover.plan);
        let late = units::format_counted(cover.late.len(), "task");
        let note = format!("{late} late, {} to go", cover.open);
        let frame = CardFrame { title: &title, note: &note, hint: "Esc leave it" };
        let height = u16::try_from(rows.len() + cover.ways.len() + 9).unwrap_or(u16::MAX);
        let style = self.style(ThemeRole::Focus);
        let inner = frame.draw(room, (room.width.min(100), height), style, buf);
        let (text, dim) = (self.style(ThemeRole::Text), self.style(ThemeRole::Dim));
        let line = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        let lead = "Done work stays as it is; everything else can move.";
        ScreenLine::new(buf, line(0)).skip(2).put(lead, text);
        let [label, next, ends] = way_columns(inner.width);
        ScreenLine::new(buf, line(2)).skip(5).put_pieces(&[
            styled_piece(format!("{:<label$}", "what to do"), dim),
            styled_piece(format!("{:<next$}", "next task"), dim),
            styled_piece(format!("{:<ends$}", "ends"), dim),
            styled_piece("busiest week", dim),
        ]);
        for (index, (way, preview)) in cover.ways.iter().enumerate() {
            self.draw_way(cover, index, *way, preview, line(3 + index as u16), buf);
        }
        let top = 4 + cover.ways.len() as u16;
        let room = usize::from(inner.height.saturating_sub(top + 2));
        for (row, y) in rows.iter().take(room).zip(top..) {
            self.draw_catch_up_row(cover, row, line(y), buf);
        }
        if rows.len() > room && room > 0 {
            let last = line(top + room as u16 - 1);
            super::draw::clear_area(last, buf);
            let more = rows.len() + 1 - room;
            ScreenLine::new(buf, last).skip(5).put(&format!("… {more} more rows"), dim);
        }
        self.draw_catch_up_keys(line(inner.height.saturating_sub(1)), rows.len(), buf);
    }

    fn draw_catch_up_keys(&self, row: Rect, changes: usize, buf: &mut Buffer) {
        let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        if let Some(message) = &self.message {
            ScreenLine::new(buf, row).skip(2).put(message, self.style(ThemeRole::Warn));
            return;
        }
        let changes = units::format_counted(changes, "change");
        let undo = self.keymap.key_hint(KeyAction::Undo);
        ScreenLine::new(buf, row).skip(2).put_pieces(&[
            styled_piece(self.keymap.key_hint(KeyAction::Yes), key),
            styled_piece(format!(" apply: {changes}, {undo} undoes them     "), dim),
            styled_piece("+ -", key),
            styled_piece(" keep or leave out one row", dim),
        ]);
    }

    fn draw_way(
        &self,
        cover: &CatchUpCover,
        index: usize,
        way: CatchUpWay,
        preview: &Result<CatchUpPreview, String>,
        row: Rect,
        buf: &mut Buffer,
    ) {
        if index == cover.cursor {
            buf.set_style(row, self.style(ThemeRole::Selection));
        }
        let (text, dim) = (self.style(ThemeRole::Text), self.style(ThemeRole::Dim));
        let mut line = ScreenLine::new(buf, row);
        let mark = if index == cover.way { "►   " } else { "    " };
        line.skip(1).put(mark, self.style(ThemeRole::Focus));
        let [label, next, ends] = way_columns(row.width);
        line.put_column(&way_label(way, preview), label - 1, text).skip(1);
        match preview {
            Ok(preview) => {
                line.put_column(&self.near_time(preview.next), next, text);
                let end = preview.end.map(|end| self.local_date(end)).unwrap_or_default();
                line.put_column(&end, ends, text);
                line.put(&units::format_planned(preview.busiest_week_minutes.into()), text);
            }
            Err(why) => {
                line.put(why, dim);
            }
        }
    }

    fn draw_catch_up_row(
        &self,
        cover: &CatchUpCover,
        row: &CatchUpLine<'_>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let under = cover.late_under_cursor().is_some_and(|task| match row {
            CatchUpLine::Changed(row) => {
                task.which.task == row.task && task.which.occurrence == row.occurrence
            }
            CatchUpLine::LeftOut(other) => task.which == other.which,
        });
        if under {
            buf.set_style(area, self.style(ThemeRole::Selection));
        }
        let (glyph, role, when, title, change) = match row {
            CatchUpLine::LeftOut(task) => {
                let when = dates::format_short_date(task.day);
                (' ', ThemeRole::Dim, when, task.title.as_str(), "left as it is".to_owned())
            }
            CatchUpLine::Changed(row) => {
                let from = row.from.at.to_zoned(self.time_zone.clone()).date();
                let (glyph, role, change) = match row.fate {
                    CatchUpFate::Moved { to } => {
                        ('>', ThemeRole::Text, format!("→ {}", self.near_time(Some(to))))
                    }
                    CatchUpFate::Skipped => ('»', ThemeRole::Skipped, "skipped".to_owned()),
                    CatchUpFate::FitsNowhere => {
                        ('?', ThemeRole::Failed, "no free time before the end".to_owned())
                    }
                };
                (glyph, role, dates::format_short_date(from), row.title.as_str(), change)
            }
        };
        let mut line = ScreenLine::new(buf, area);
        line.skip(1).put(if under { "►" } else { " " }, self.style(ThemeRole::Focus));
        line.skip(1).put(&format!("{glyph} "), self.style(role));
        line.put_column(&when, 9, self.style(ThemeRole::Dim));
        let width = line.cells_left().saturating_sub(28);
        line.put_column(title, width, self.style(ThemeRole::Text)).skip(2);
        line.put(&change, self.style(role));
    }

    /// A moment, with today in words.
    fn near_time(&self, at: Option<OffsetDateTime>) -> String {
        let Some(at) = at else { return "none".to_owned() };
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        let at = at.at.to_zoned(self.time_zone.clone()).datetime();
        if at.date() == today {
            return format!("today {}", dates::format_time(at.time()));
        }
        dates::format_date_time(at, today)
    }

    fn local_date(&self, at: OffsetDateTime) -> String {
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        dates::format_date(at.at.to_zoned(self.time_zone.clone()).date(), today)
    }
}

fn all_left_out(cover: &CatchUpCover) -> Option<String> {
    let all = cover.late.iter().all(|task| cover.left_out.contains(&task.which));
    all.then(|| "Every late task is left out; nothing would change".to_owned())
}

/// One line below the ways.
enum CatchUpLine<'a> {
    Changed(&'a CatchUpRow),
    LeftOut(&'a LateTask),
}

impl CatchUpCover {
    /// What the chosen way changes, and the late tasks that are left out.
    fn rows_of_way(&self) -> Vec<CatchUpLine<'_>> {
        let out = self.late.iter().filter(|task| self.left_out.contains(&task.which));
        let preview = self.ways.get(self.way).and_then(|(_, preview)| preview.as_ref().ok());
        let changed = preview.into_iter().flat_map(|preview| &preview.rows);
        changed.map(CatchUpLine::Changed).chain(out.map(CatchUpLine::LeftOut)).collect()
    }
}
