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
use crate::widgets::{ScreenLine, short_plan_name, styled_piece};
use planwright_model::catch_up::{CatchUpWay, OpenWork, TaskOccurrence};
use planwright_model::event::Command;
use planwright_model::{Actor, FixedEvent, OffsetDateTime, ScheduledBlock, SessionId};
use planwright_schedule::{CatchUpFate, CatchUpPreview, CatchUpRequest, CatchUpRow, offered_ways};
use planwright_state::SessionState;
use planwright_text::{dates, display_width, units};

/// The open view: every way with what it would lead to.
pub(super) struct CatchUpCover {
    session: SessionId,
    plan: String,
    ways: Vec<(CatchUpWay, Result<CatchUpPreview, String>)>,
    /// Late tasks, the oldest first, with the day they were planned for.
    late: Vec<LateTask>,
    left_out: BTreeSet<TaskOccurrence>,
    /// Time that the person's other plans take.
    busy: Vec<FixedEvent>,
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
        let counts = state.tasks.work_counts();
        Self {
            plan: short_plan_name(&state.session.title),
            ways: Vec::new(),
            late,
            left_out: BTreeSet::new(),
            busy: home.busy_beside(&session),
            session,
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
        let (left_out, busy) = (&self.left_out, self.busy.as_slice());
        let request = CatchUpRequest { roadmap, context, schedule, work, left_out, busy, now };
        self.ways = offered_ways(&request);
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

/// Columns of the ways on a wide card: what to do, the next task, the end.
const WAY_COLUMNS: [usize; 3] = [36, 20, 17];
/// Columns of the day of a row: that of another month has its name.
const DAY_COLUMN: usize = 12;

/// What a way does, as a line of the choice.
fn way_label(way: CatchUpWay, preview: &Result<CatchUpPreview, String>) -> String {
    let days = preview.as_ref().ok().and_then(|preview| preview.shift_days);
    match (way, days) {
        (CatchUpWay::MoveLate, _) => "move them to free time".to_owned(),
        (CatchUpWay::SkipLate, _) => "skip them, keep the plan".to_owned(),
        (CatchUpWay::PushBack, Some(days)) => {
            format!("push everything back {}", units::format_counted(days as usize, "day"))
        }
        (CatchUpWay::PushBack, None) => "push everything back".to_owned(),
        (CatchUpWay::Replan, _) => "plan what is open again".to_owned(),
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
        if cover.ways.is_empty() {
            return self.say("C: this plan has no dates to catch up with");
        }
        let nothing = |(_, way): &(CatchUpWay, Result<CatchUpPreview, String>)| {
            way.as_ref().is_ok_and(|way| way.rows.is_empty())
        };
        if cover.late.is_empty() && cover.ways.iter().all(nothing) {
            return self.say("Nothing is late, and planning it again would move nothing");
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
                .map(|row| {
                    let title = &row.title;
                    format!("No free time for \"{title}\" before the end: - leaves it out, or choose another way")
                }),
        };
        if let Some(why) = blocked.or_else(|| all_left_out(&cover)) {
            self.message = Some(why);
            self.cover = Some(HomeCover::CatchUp(Box::new(cover)));
            return ScreenEffect::Draw;
        }
        let left_out = cover.left_out.iter().cloned().collect();
        let busy = cover.busy.clone();
        let command = Command::CatchUp { way: *way, left_out, busy, by: Actor::Person };
        let session = cover.session;
        let undo = HomeRequest::Command { session: session.clone(), command: Command::Undo };
        self.undo.push((undo, "Undoing the catch-up".to_owned()));
        self.send_command(session, command)
    }

    pub(super) fn draw_catch_up(&self, cover: &CatchUpCover, room: Rect, buf: &mut Buffer) {
        let rows = cover.rows_of_way();
        let title = format!("catch up · {}", cover.plan);
        let late = units::format_counted(cover.late.len(), "task");
        let note = match cover.late.len() {
            0 => format!("{} to go", units::format_counted(cover.open, "task")),
            _ => format!("{late} late, {} to go", cover.open),
        };
        let frame = CardFrame { title: &title, note: &note, hint: "Esc leave it" };
        let height = u16::try_from(rows.len() + cover.ways.len() + 9).unwrap_or(u16::MAX);
        let style = self.style(ThemeRole::Focus);
        let inner = frame.draw(room, (room.width.min(100), height), style, buf);
        let (text, dim) = (self.style(ThemeRole::Text), self.style(ThemeRole::Dim));
        let line = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        let chosen = cover.ways.get(cover.way).and_then(|(_, preview)| preview.as_ref().ok());
        let late = chosen.and_then(CatchUpPreview::describe_lateness);
        let (lead, style) = match &late {
            Some(late) => (format!("{late}."), self.style(ThemeRole::Warn)),
            None => (describe_late_tasks(cover.late.len()), text),
        };
        ScreenLine::new(buf, line(0)).skip(2).put(&lead, style);
        let columns = self.way_columns(cover, inner.width);
        let [label, next, ends] = columns;
        let taken = 5 + columns.iter().sum::<usize>();
        let week = if taken + 14 <= usize::from(inner.width) { "busiest week" } else { "busiest" };
        ScreenLine::new(buf, line(2)).skip(5).put_pieces(&[
            styled_piece(format!("{:<label$}", "what to do"), dim),
            styled_piece(format!("{:<next$}", "next task"), dim),
            styled_piece(format!("{:<ends$}", "ends"), dim),
            styled_piece(week, dim),
        ]);
        for index in 0..cover.ways.len() {
            self.draw_way(cover, index, columns, line(3 + index as u16), buf);
        }
        let top = 4 + cover.ways.len() as u16;
        let mut room = usize::from(inner.height.saturating_sub(top + 2));
        if rows.len() > room {
            room = room.saturating_sub(1);
            let more = rows.len() - room;
            let last = line(top + room as u16);
            ScreenLine::new(buf, last).skip(5).put(&format!("… {more} more rows"), dim);
        }
        // The late task under the cursor stays in sight.
        let at = cover.cursor.saturating_sub(cover.ways.len());
        let first = (at + 1).saturating_sub(room);
        for (row, y) in rows.iter().skip(first).take(room).zip(top..) {
            self.draw_catch_up_row(cover, row, line(y), buf);
        }
        let changes = rows.iter().filter(|row| matches!(row, CatchUpLine::Changed(_))).count();
        self.draw_catch_up_keys(line(inner.height.saturating_sub(1)), changes, buf);
    }

    /// What each column of the ways needs where they can't be generous. Each leaves two cells to the next.
    fn way_columns(&self, cover: &CatchUpCover, width: u16) -> [usize; 3] {
        if width >= 90 {
            return WAY_COLUMNS;
        }
        let mut columns = ["what to do", "next task", "ends"].map(str::len);
        for (way, preview) in &cover.ways {
            let mut cells = vec![way_label(*way, preview)];
            if let Ok(preview) = preview {
                cells.push(self.near_time(preview.next));
                cells.push(preview.end.map(|end| self.local_date(end)).unwrap_or_default());
            }
            for (column, cell) in columns.iter_mut().zip(&cells) {
                *column = (*column).max(display_width(cell));
            }
        }
        columns.map(|cells| cells + 2)
    }

    fn draw_catch_up_keys(&self, row: Rect, changes: usize, buf: &mut Buffer) {
        let (key, dim) = (self.style(ThemeRole::Key), self.style(ThemeRole::Dim));
        if let Some(message) = &self.message {
            ScreenLine::new(buf, row).skip(2).put(message, self.style(ThemeRole::Warn));
            return;
        }
        let changes = match changes {
            0 => "no changes".to_owned(),
            count => units::format_counted(count, "change"),
        };
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
        [label, next, ends]: [usize; 3],
        row: Rect,
        buf: &mut Buffer,
    ) {
        let Some((way, preview)) = cover.ways.get(index) else { return };
        if index == cover.cursor {
            buf.set_style(row, self.style(ThemeRole::Selection));
        }
        let (text, dim) = (self.style(ThemeRole::Text), self.style(ThemeRole::Dim));
        let mut line = ScreenLine::new(buf, row);
        let mark = if index == cover.way { "►   " } else { "    " };
        line.skip(1).put(mark, self.style(ThemeRole::Focus));
        line.put_column(&way_label(*way, preview), label - 1, text).skip(1);
        match preview {
            Ok(preview) => {
                line.put_column(&self.near_time(preview.next), next - 2, text).skip(2);
                let end = preview.end.map(|end| self.local_date(end)).unwrap_or_default();
                let late = preview.days_late > 0;
                let end_style = if late { self.style(ThemeRole::Warn) } else { text };
                line.put_column(&end, ends - 2, end_style).skip(2);
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
                let when = self.day_with_month(task.day);
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
                (glyph, role, self.day_with_month(from), row.title.as_str(), change)
            }
        };
        let mut line = ScreenLine::new(buf, area);
        line.skip(1).put(if under { "►" } else { " " }, self.style(ThemeRole::Focus));
        line.skip(1).put(&format!("{glyph} "), self.style(role));
        line.put_column(&when, DAY_COLUMN, self.style(ThemeRole::Dim));
        let width = line.cells_left().saturating_sub(22);
        line.put_column(title, width, self.style(ThemeRole::Text)).skip(2);
        line.put(&change, self.style(role));
    }

    /// A day; of another month with its name.
    fn day_with_month(&self, day: jiff::civil::Date) -> String {
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        if (day.year(), day.month()) == (today.year(), today.month()) {
            return dates::format_short_date(day);
        }
        dates::format_date(day, today)
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

/// `3 tasks were not done. Done work stays as it is; everything else can move.`
fn describe_late_tasks(late: usize) -> String {
    let stays = "Done work stays as it is; everything else can move.";
    match late {
        0 => stays.to_owned(),
        1 => format!("1 task was not done. {stays}"),
        count => format!("{count} tasks were not done. {stays}"),
    }
}

fn all_left_out(cover: &CatchUpCover) -> Option<String> {
    let all = cover.late.iter().all(|task| cover.left_out.contains(&task.which));
    (all && !cover.late.is_empty())
        .then(|| "Every late task is left out; nothing would change".to_owned())
}

/// One line below the ways.
enum CatchUpLine<'a> {
    Changed(&'a CatchUpRow),
    LeftOut(&'a LateTask),
}

impl CatchUpCover {
    /// What the chosen way does with the late tasks, those that are left out among them, then what moves along.
    fn rows_of_way(&self) -> Vec<CatchUpLine<'_>> {
        let preview = self.ways.get(self.way).and_then(|(_, preview)| preview.as_ref().ok());
        let rows = preview.map_or(&[][..], |preview| &preview.rows);
        let is_of = |row: &CatchUpRow, task: &LateTask| {
            row.task == task.which.task && row.occurrence == task.which.occurrence
        };
        let late = self.late.iter().filter_map(|task| {
            if self.left_out.contains(&task.which) {
                return Some(CatchUpLine::LeftOut(task));
            }
            rows.iter().find(|row| is_of(row, task)).map(CatchUpLine::Changed)
        });
        let known = |row: &&CatchUpRow| self.late.iter().any(|task| is_of(row, task));
        let along = rows.iter().filter(|row| !known(row)).map(CatchUpLine::Changed);
        late.chain(along).collect()
    }
}

impl HomeScreen {
    /// The time that open work of the person's other plans takes.
    fn busy_beside(&self, session: &SessionId) -> Vec<FixedEvent> {
        let now = (self.clock)();
        let others = self.view.open.iter().filter(|open| open.id != *session);
        let mut busy = Vec::new();
        for open in others.filter(|open| open.state.is_runnable()) {
            let talk = &open.state.planning;
            let Some(schedule) = talk.schedule.as_deref() else { continue };
            let own = |block: &&ScheduledBlock| {
                let roadmap = talk.roadmap.as_deref();
                let node = roadmap.and_then(|roadmap| roadmap.find_node(&block.plan_node_id));
                block.end.at > now && node.is_none_or(|node| node.other_owner().is_none())
            };
            busy.extend(schedule.blocks.iter().filter(own).map(|block| FixedEvent {
                title: open.state.session.title.clone(),
                start: block.start,
                end: block.end,
            }));
        }
        busy
    }
}
