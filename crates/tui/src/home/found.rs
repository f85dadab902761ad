//! Steps of all sessions that hold the words somebody looked for, and the sessions that are to be compared.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Home, HomeFocus};
use crate::keymap::{Action, Key, Place};
use crate::session::Flow;
use crate::theme::Role;
use crate::widgets::{Line, RuleKind, counted, piece, rule};
use crate::{Found, HomeExit};
use planwright_state::replay::SearchHit;

/// What a search brought, with one hit under the cursor.
pub(super) struct FoundList {
    words: String,
    hits: Vec<SearchHit>,
    cursor: usize,
    top: usize,
}

impl FoundList {
    pub(super) fn new(found: Found) -> Self {
        Self { words: found.words, hits: found.hits, cursor: 0, top: 0 }
    }

    fn move_by(&mut self, by: isize) {
        let last = self.hits.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }
}

impl Home {
    /// Looks for what is typed in the steps of all sessions.
    pub(super) fn search(&mut self) -> Flow {
        let words = self.filter.text().trim().to_owned();
        if words.is_empty() {
            self.message = Some("type the words to look for".to_owned());
            return Flow::Draw;
        }
        self.leave(HomeExit::Search(words))
    }

    pub(super) fn on_found_key(&mut self, key: Key) -> Flow {
        let page = isize::try_from(self.list_area.height).unwrap_or(1).max(1);
        let Some(found) = &mut self.found else { return Flow::Idle };
        match self.keymap.action(key, &[Place::Home, Place::Screen]) {
            Some(Action::Down) => found.move_by(1),
            Some(Action::Up) => found.move_by(-1),
            Some(Action::PageDown) => found.move_by(page),
            Some(Action::PageUp) => found.move_by(-page),
            Some(Action::Start) => found.move_by(isize::MIN / 2),
            Some(Action::Latest) => found.move_by(isize::MAX / 2),
            Some(Action::Open) => {
                return match found.hits.get(found.cursor).map(|hit| (hit.session.clone(), hit.seq))
                {
                    Some((session, seq)) => self.leave(HomeExit::OpenAt(session, seq)),
                    None => Flow::Idle,
                };
            }
            Some(Action::Search) => {
                self.found = None;
                self.focus = HomeFocus::Filter;
            }
            Some(Action::Back | Action::Quit) => {
                self.found = None;
                self.focus = HomeFocus::List;
            }
            _ => return Flow::Idle,
        }
        Flow::Draw
    }

    pub(super) fn draw_found(&mut self, area: Rect, buf: &mut Buffer) {
        let (focus, dim, text) =
            (self.style(Role::Focus), self.style(Role::Dim), self.style(Role::Text));
        let (selection, zone) = (self.style(Role::Selection), self.time_zone.clone());
        let titles: std::collections::HashMap<_, _> =
            self.list.items.iter().map(|item| (item.id.clone(), item.title.clone())).collect();
        let Some(found) = &mut self.found else { return };
        let name = format!("steps with {:?}", found.words);
        let facts = match found.hits.len() {
            0 => "none".to_owned(),
            count => format!("{}, the newest first", counted(count, "hit")),
        };
        let kind = RuleKind { focus: true, past: false };
        rule(buf, area, kind, focus, &[piece(name, focus)], &[piece(facts, focus)]);
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        self.list_area = body;
        let room = usize::from(body.height);
        found.top = found.top.min(found.cursor).max((found.cursor + 1).saturating_sub(room));
        if found.hits.is_empty() {
            let row = Rect { height: body.height.min(1), ..body };
            Line::new(buf, row).skip(2).put("no step of any session has these words", dim);
        }
        for ((place, hit), y) in
            found.hits.iter().enumerate().skip(found.top).zip(body.y..body.bottom())
        {
            let row = Rect { y, height: 1, ..body };
            let under = place == found.cursor;
            if under {
                buf.set_style(row, selection);
            }
            let mut line = Line::new(buf, row);
            let when = hit.at.to_zoned(zone.clone()).strftime("%-d %b %H:%M").to_string();
            line.skip(1).put(if under { "►" } else { " " }, focus).skip(1);
            line.column(&format!("{when:>12}"), 14, dim);
            let title = titles.get(&hit.session).map_or(hit.session.short(), String::as_str);
            let wide = area.width >= 100;
            line.column(title, if wide { 30 } else { 18 }, text).skip(2);
            let task = hit.task.as_ref().map_or("", |task| task.as_str());
            line.column(task, if wide { 12 } else { 8 }, dim).skip(1);
            if wide {
                line.column(hit.kind, 10, dim);
            }
            line.put(&hit.text, text);
        }
    }

    /// Marks the selected session, or takes its mark back. Two can be marked; a third takes the place of the first.
    pub(super) fn turn_mark(&mut self) {
        let Some(id) = self.list.current().map(|item| item.id.clone()) else { return };
        if let Some(at) = self.marks.iter().position(|marked| *marked == id) {
            self.marks.remove(at);
            return;
        }
        self.marks.push(id);
        if self.marks.len() > 2 {
            self.marks.remove(0);
        }
    }

    /// Compares the two marked sessions; with one mark, it and the selected one; a fork alone with its parent.
    pub(super) fn compare(&mut self) -> Flow {
        let current = self.list.current();
        let selected = current.map(|item| item.id.clone());
        let parent = current.and_then(|item| item.fork_of.as_ref()).map(|(id, _)| id.clone());
        let pair = match (self.marks.as_slice(), selected) {
            ([a, b], _) => Some((a.clone(), b.clone())),
            ([a], Some(b)) if *a != b => Some((a.clone(), b)),
            ([], Some(b)) => parent.map(|a| (a, b)),
            _ => None,
        };
        let Some((a, b)) = pair else {
            let key = self.keymap.key(Action::MarkSession);
            self.message = Some(format!("{key} marks the two sessions to compare"));
            return Flow::Draw;
        };
        self.leave(HomeExit::Compare(a, b))
    }
}
