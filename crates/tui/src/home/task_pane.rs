//! The third column: what is under the cursor, in full, and the plan it belongs to.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{HomeFocus, HomeScreen};
use crate::glyphs::task_glyph;
use crate::keymap::KeyAction;
use crate::overlays::task_card::{TaskCardLine, TaskCardSource, card_lines, draw_card_line};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, short_plan_name, styled_piece};
use planwright_model::{SessionId, TaskId};
use planwright_state::SessionState;
use planwright_text::{clean_text, dates, units, wrap_words};

/// How many rows the plan of a task gets at most.
const PLAN_ROWS: u16 = 16;

/// What the cursor is on.
enum SelectedSubject<'a> {
    Task { session: &'a SessionId, task: &'a TaskId, occurrence: Option<u32> },
    Question { session: &'a SessionId },
    Plan { session: &'a SessionId },
}

impl HomeScreen {
    fn subject(&self) -> Option<SelectedSubject<'_>> {
        match self.focus {
            HomeFocus::Needs => {
                let row = self.needs.get(self.need_at)?;
                let session = &row.session;
                Some(match row.task() {
                    Some(task) => SelectedSubject::Task { session, task, occurrence: None },
                    None => SelectedSubject::Question { session },
                })
            }
            HomeFocus::Plans | HomeFocus::Filter | HomeFocus::Remove => {
                let session = &self.selected_session()?.id;
                Some(SelectedSubject::Plan { session })
            }
            _ => {
                let item = self.selected_item()?;
                let (task, occurrence) = (&item.due.task, item.due.occurrence);
                Some(SelectedSubject::Task { session: &item.session, task, occurrence })
            }
        }
    }

    pub(super) fn draw_task(&self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let subject = self.subject();
        let name = match &subject {
            Some(SelectedSubject::Plan { .. }) => "plan",
            Some(SelectedSubject::Question { .. }) => "question",
            _ => "task",
        };
        self.draw_rule_above(area, false, name, "", buf);
        match subject {
            Some(SelectedSubject::Task { session, task, occurrence }) => {
                self.draw_task_subject(session, task, occurrence, area, buf);
            }
            Some(SelectedSubject::Question { session }) => self.draw_question(session, area, buf),
            Some(SelectedSubject::Plan { session }) => self.draw_plan_subject(session, area, buf),
            None => {}
        }
    }

    fn draw_task_subject(
        &self,
        session: &SessionId,
        task: &TaskId,
        occurrence: Option<u32>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let Some(open) = self.view.open.iter().find(|open| open.id == *session) else { return };
        let state = &*open.state;
        let Some(position) = state.tasks.position(task) else { return };
        let output = open.failures.get(task).map_or(&[][..], |failure| &failure.tail);
        let below = (area.height / 3).min(PLAN_ROWS).min(state.tasks.len() as u16 + 1);
        let upper = Rect { height: area.height - below, ..area };
        let source = TaskCardSource {
            state,
            task: position,
            occurrence,
            now: (self.clock)(),
            zone: &self.time_zone,
            details: false,
            output,
            cause: None,
        };
        let inner = Rect { x: upper.x + 1, width: upper.width.saturating_sub(2), ..upper };
        let title = Rect { height: 1, ..inner };
        ScreenLine::new(buf, title)
            .put(state.task_title(position), self.palette.bold_style(ThemeRole::Text));
        let lines = card_lines(&source, usize::from(inner.width));
        let body = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        self.draw_lines(&lines, body, buf);
        self.draw_task_keys(state, position, lines.len(), body, buf);
        let plan = Rect { y: upper.bottom() + 1, height: below.saturating_sub(1), ..area };
        let name = format!("plan · {}", short_plan_name(&state.session.title));
        self.draw_rule_above(plan, false, &name, &self.plan_progress(state), buf);
        self.draw_plan_tasks(state, Some(position), plan, buf);
    }

    /// What can be done with the task under the cursor of Today, with what follows from it, where there is room.
    fn draw_task_keys(
        &self,
        state: &SessionState,
        task: usize,
        used: usize,
        area: Rect,
        buf: &mut Buffer,
    ) {
        if self.focus != HomeFocus::Today || state.tasks.row(task).status.is_settled() {
            return;
        }
        let rows = self.task_key_rows(state, task);
        let from = usize::from(area.height).saturating_sub(rows.len() + 1);
        if used + 1 > from {
            return;
        }
        let area = Rect { y: area.y + from as u16, height: rows.len() as u16, ..area };
        for ((action, verb, then), y) in rows.iter().zip(area.y..area.bottom()) {
            let key = self.keymap.key_hint(*action);
            let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
            line.skip(2).put_column(&key, 5, self.style(ThemeRole::Key)).skip(1);
            line.put_column(verb, 8, self.style(ThemeRole::Text)).skip(1);
            line.put(then, self.style(ThemeRole::Dim));
        }
    }

    fn task_key_rows(
        &self,
        state: &SessionState,
        task: usize,
    ) -> [(KeyAction, &'static str, String); 5] {
        let unlocked: Vec<usize> = state.tasks.dependents(task).collect();
        let unlocked = match unlocked[..] {
            [] => "no other task waits for it".to_owned(),
            [only] => format!("{} no longer waits for it", state.task_title(only)),
            _ => format!("{} no longer wait for it", units::format_counted(unlocked.len(), "task")),
        };
        [
            (KeyAction::TodayDone, "done", self.next_today_text()),
            (KeyAction::TodayLater, "when", "now, tomorrow, next week, or type a date".to_owned()),
            (KeyAction::Comment, "note", "kept with the task".to_owned()),
            (KeyAction::TodaySkip, "skip", unlocked),
            (KeyAction::Open, "open", "everything about it".to_owned()),
        ]
    }

    /// What is next today after the task under the cursor.
    fn next_today_text(&self) -> String {
        let selected = self.selected_item().map(|item| (&item.session, &item.due.task));
        let end = self.agenda.late + self.agenda.today;
        let is_next = |item: &&crate::TodayItem| {
            !item.due.status.is_settled() && Some((&item.session, &item.due.task)) != selected
        };
        match self.agenda.items[self.agenda.late..end].iter().find(is_next) {
            Some(next) if next.due.block.is_some() => {
                let start = next.due.start.to_zoned(self.time_zone.clone());
                format!("next today: {}, {}", dates::format_time(start.time()), next.due.title)
            }
            Some(next) => format!("next today: {}", next.due.title),
            None => "then nothing is left for today".to_owned(),
        }
    }

    fn draw_lines(&self, lines: &[TaskCardLine], area: Rect, buf: &mut Buffer) {
        for (line, y) in lines.iter().zip(area.y..area.bottom()) {
            draw_card_line(line, Rect { y, height: 1, ..area }, &self.palette, buf);
        }
    }

    /// `5 of 9 done · ends Fri 27 Nov`
    fn plan_progress(&self, state: &SessionState) -> String {
        let counts = state.tasks.work_counts();
        let done = units::format_part(counts.done as usize, counts.total() as usize);
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        let schedule = state.planning.schedule.as_deref();
        match schedule.and_then(planwright_model::Schedule::finish_time) {
            Some(end) => {
                let end = end.at.to_zoned(self.time_zone.clone()).date();
                format!("{done} done · ends {}", dates::format_date(end, today))
            }
            None => format!("{done} done"),
        }
    }

    /// The tasks of a plan around one of them, each with its day.
    fn draw_plan_tasks(
        &self,
        state: &SessionState,
        around: Option<usize>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let room = usize::from(area.height);
        let today = (self.clock)().to_zoned(self.time_zone.clone()).date();
        let at = around.unwrap_or(0);
        let most = state.tasks.len().saturating_sub(room);
        let top = at.saturating_sub(room / 2).min(most);
        for (task, y) in (top..state.tasks.len()).zip(area.y..area.bottom()) {
            let row = Rect { y, height: 1, ..area };
            let (glyph, role) = task_glyph(state, task);
            let blocks = state
                .planning
                .schedule
                .iter()
                .flat_map(|schedule| schedule.blocks_for_node(state.tasks.id(task)));
            let start = blocks.map(|block| block.start.at).min();
            let when = start
                .map(|at| dates::format_date(at.to_zoned(self.time_zone.clone()).date(), today));
            let dim = self.style(ThemeRole::Dim);
            let mut line = ScreenLine::new(buf, row);
            line.put_right(&[styled_piece(format!("{} ", when.unwrap_or_default()), dim)]);
            let under = around == Some(task);
            line.skip(1).put(if under { "► " } else { "  " }, self.style(ThemeRole::Focus));
            line.put(&format!("{glyph} "), self.style(role));
            line.put(state.task_title(task), self.style(ThemeRole::Text));
        }
    }

    fn draw_question(&self, session: &SessionId, area: Rect, buf: &mut Buffer) {
        let Some(row) = self.needs.get(self.need_at) else { return };
        let state = self.open_state(session);
        let request = match row.item.cause {
            planwright_state::AttentionCause::Asked(id) => {
                state.and_then(|state| state.requests.open.get(&id)).map(|open| &open.request)
            }
            _ => None,
        };
        let mut texts =
            vec![(row.title.clone(), ThemeRole::Text), (row.plan.clone(), ThemeRole::Dim)];
        texts.push((String::new(), ThemeRole::Text));
        texts.push((row.detail.clone(), ThemeRole::Text));
        if let Some(request) = request {
            texts.push((String::new(), ThemeRole::Text));
            texts.push((request.question.clone(), ThemeRole::Asks));
            texts.push((request.why.clone(), ThemeRole::Dim));
        }
        self.draw_texts(&texts, area, buf);
    }

    fn draw_texts(&self, texts: &[(String, ThemeRole)], area: Rect, buf: &mut Buffer) -> u16 {
        let width = usize::from(area.width.saturating_sub(2)).max(12);
        let mut y = area.y;
        for (text, role) in texts {
            if text.is_empty() {
                y = y.saturating_add(1);
                continue;
            }
            let text = clean_text(text);
            for line in wrap_words(&text, width, 0) {
                let row = Rect { y, height: u16::from(y < area.bottom()), ..area };
                ScreenLine::new(buf, row).skip(1).put(&line, self.style(*role));
                y = y.saturating_add(1);
            }
        }
        y
    }

    fn draw_plan_subject(&self, session: &SessionId, area: Rect, buf: &mut Buffer) {
        let Some(row) = self.plans.selected_row() else { return };
        let mut texts = vec![(row.item.title.clone(), ThemeRole::Text)];
        texts.extend(row.detail.clone().map(|detail| (detail, ThemeRole::Dim)));
        if let Some((parent, _)) = &row.item.fork_of {
            let of = self.plans.rows.iter().find(|other| other.item.id == *parent);
            let of = of.map_or_else(|| parent.short_id().to_owned(), |row| row.item.title.clone());
            texts.push((format!("fork of {of}"), ThemeRole::Dim));
        }
        let Some(state) = self.open_state(session) else {
            let done = units::format_part(row.item.done as usize, row.item.total as usize);
            texts.push((format!("{done} tasks done"), ThemeRole::Dim));
            self.draw_texts(&texts, area, buf);
            return;
        };
        texts.push((self.plan_progress(state), ThemeRole::Dim));
        let used = self.draw_texts(&texts, area, buf) + 1;
        let rest = Rect { y: used, height: area.bottom().saturating_sub(used), ..area };
        self.draw_plan_tasks(state, None, rest, buf);
    }
}
