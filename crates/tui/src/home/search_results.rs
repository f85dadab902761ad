//! Steps of all sessions that hold the words somebody looked for, and the sessions that are to be compared.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{HomeFocus, HomeScreen};
use crate::keymap::{KeyAction, KeyChord, KeyContext};
use crate::session::ScreenEffect;
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, format_counted, styled_piece};
use crate::{HomeExit, SearchResults};
use planwright_state::replay::SearchHit;

/// What a search brought, with one hit under the cursor.
pub(super) struct SearchResultList {
    words: String,
    hits: Vec<SearchHit>,
    cursor: usize,
    top: usize,
}

impl SearchResultList {
    pub(super) fn new(found: SearchResults) -> Self {
        Self { words: found.words, hits: found.hits, cursor: 0, top: 0 }
    }

    fn move_cursor(&mut self, by: isize) {
        let last = self.hits.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }
}

impl HomeScreen {
    /// Looks for what is typed in the steps of all sessions.
    pub(super) fn start_search(&mut self) -> ScreenEffect {
        let words = self.filter.text().trim().to_owned();
        if words.is_empty() {
            self.message = Some("Type the words to search for".to_owned());
            return ScreenEffect::Draw;
        }
        self.exit_with(HomeExit::Search(words))
    }

    pub(super) fn on_results_key(&mut self, key: KeyChord) -> ScreenEffect {
        let page = isize::try_from(self.areas.body.height).unwrap_or(1).max(1);
        let Some(found) = &mut self.found else { return ScreenEffect::Idle };
        match self.keymap.action_for(key, &[KeyContext::Home, KeyContext::Screen]) {
            Some(KeyAction::Down) => found.move_cursor(1),
            Some(KeyAction::Up) => found.move_cursor(-1),
            Some(KeyAction::PageDown) => found.move_cursor(page),
            Some(KeyAction::PageUp) => found.move_cursor(-page),
            Some(KeyAction::Start) => found.move_cursor(isize::MIN / 2),
            Some(KeyAction::Latest) => found.move_cursor(isize::MAX / 2),
            Some(KeyAction::Open) => {
                return match found.hits.get(found.cursor).map(|hit| (hit.session.clone(), hit.seq))
                {
                    Some((session, seq)) => self.exit_with(HomeExit::OpenAt(session, seq)),
                    None => ScreenEffect::Idle,
                };
            }
            Some(KeyAction::Search) => {
                self.found = None;
                self.focus = HomeFocus::Filter;
            }
            Some(KeyAction::Back | KeyAction::Quit) => {
                self.found = None;
                self.focus = HomeFocus::Plans;
            }
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    pub(super) fn draw_results(&mut self, area: Rect, buf: &mut Buffer) {
        let (focus, dim, text) =
            (self.style(ThemeRole::Focus), self.style(ThemeRole::Dim), self.style(ThemeRole::Text));
        let (selection, zone) = (self.style(ThemeRole::Selection), self.time_zone.clone());
        let now = (self.clock)();
        let titles: std::collections::HashMap<_, _> =
            self.view.items.iter().map(|item| (item.id.clone(), item.title.clone())).collect();
        let Some(found) = &mut self.found else { return };
        let name = format!("steps with {:?}", found.words);
        let facts = match found.hits.len() {
            0 => "none".to_owned(),
            count => format!("{}, the newest first", format_counted(count, "hit")),
        };
        let kind = RuleKind { focus: true, past: false };
        draw_pane_rule(
            buf,
            area,
            kind,
            focus,
            &[styled_piece(name, focus)],
            &[styled_piece(facts, focus)],
        );
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        let room = usize::from(body.height);
        found.top = found.top.min(found.cursor).max((found.cursor + 1).saturating_sub(room));
        if found.hits.is_empty() {
            let row = Rect { height: body.height.min(1), ..body };
            ScreenLine::new(buf, row)
                .skip(2)
                .put("No step of any plan or run has these words.", dim);
        }
        for ((place, hit), y) in
            found.hits.iter().enumerate().skip(found.top).zip(body.y..body.bottom())
        {
            let row = Rect { y, height: 1, ..body };
            let under = place == found.cursor;
            if under {
                buf.set_style(row, selection);
            }
            let mut line = ScreenLine::new(buf, row);
            let when = crate::clock::format_day_and_time(hit.at, now, &zone);
            line.skip(1).put(if under { "►" } else { " " }, focus).skip(1);
            line.put_column(&format!("{when:>16}"), 18, dim);
            let title = titles.get(&hit.session).map_or(hit.session.short_id(), String::as_str);
            let wide = area.width >= 100;
            line.put_column(title, if wide { 30 } else { 18 }, text).skip(2);
            let task = hit.task.as_ref().map_or("", |task| task.as_str());
            line.put_column(task, if wide { 12 } else { 8 }, dim).skip(1);
            if wide {
                line.put_column(hit.kind, 10, dim);
            }
            line.put(&hit.text, text);
        }
    }

    /// Marks the selected session, or takes its mark back. Two can be marked; a third takes the place of the first.
    pub(super) fn toggle_mark(&mut self) {
        let Some(id) = self.selected_session().map(|item| item.id.clone()) else { return };
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
    pub(super) fn compare_marked(&mut self) -> ScreenEffect {
        let current = self.selected_session();
        let selected = current.map(|item| item.id.clone());
        let parent = current.and_then(|item| item.fork_of.as_ref()).map(|(id, _)| id.clone());
        let pair = match (self.marks.as_slice(), selected) {
            ([a, b], _) => Some((a.clone(), b.clone())),
            ([a], Some(b)) if *a != b => Some((a.clone(), b)),
            ([], Some(b)) => parent.map(|a| (a, b)),
            _ => None,
        };
        let Some((a, b)) = pair else {
            let key = self.keymap.key_hint(KeyAction::MarkSession);
            self.message = Some(format!("{key} marks the two runs to compare"));
            return ScreenEffect::Draw;
        };
        self.exit_with(HomeExit::Compare(a, b))
    }
}
