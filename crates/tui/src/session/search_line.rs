//! The search line: it stands in the footer and finds while one types. Tasks while the plan has the focus, else steps.

use crossterm::event::{KeyCode, KeyEvent};

use super::{ScreenEffect, SessionScreen};
use crate::panes::trace::TraceSearch;
use crate::ui_state::{PaneFocus, SearchLine};
use crate::widgets::TextField;

impl SessionScreen {
    /// Opens the line, with nothing in it.
    pub(super) fn open_search(&mut self) -> ScreenEffect {
        self.open_search_for("")
    }

    /// Opens the line with words that were typed elsewhere, and looks for them.
    pub(super) fn open_search_for(&mut self, words: &str) -> ScreenEffect {
        self.ui.search_line = Some(SearchLine {
            field: TextField::new(words),
            task_before: self.ui.graph.selected.clone(),
            step_before: self.ui.trace.cursor,
            focus_before: self.ui.focus,
            status: String::new(),
        });
        self.search_as_typed();
        ScreenEffect::Draw
    }

    /// A key while the line is open: letters narrow, arrows go from match to match, Enter keeps what was found.
    pub(super) fn on_search_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let Some(line) = &mut self.ui.search_line else { return ScreenEffect::Idle };
        match event.code {
            KeyCode::Esc => self.cancel_search(),
            KeyCode::Enter => self.ui.search_line = None,
            KeyCode::Down | KeyCode::Up if self.ui.focus == PaneFocus::Output => {
                self.go_to_output_match(event.code == KeyCode::Down);
            }
            KeyCode::Down => {
                self.next_hit(true);
            }
            KeyCode::Up => {
                self.next_hit(false);
            }
            KeyCode::Tab => self.turn_search(),
            _ => {
                if line.field.on_key(event) {
                    self.search_as_typed();
                }
            }
        }
        ScreenEffect::Draw
    }

    pub(super) fn paste_into_search(&mut self, text: &str) {
        if let Some(line) = &mut self.ui.search_line {
            line.field.on_paste(text);
            self.search_as_typed();
        }
    }

    /// Looks for what is in the line, from where it was opened.
    fn search_as_typed(&mut self) {
        let Some(line) = &mut self.ui.search_line else { return };
        let words = line.field.text().trim().to_owned();
        line.status.clear();
        if self.ui.focus == PaneFocus::Output {
            self.ui.output.search = (!words.is_empty()).then_some((words, None));
            self.go_to_output_match(true);
            return;
        }
        let (task, step) = (line.task_before.clone(), line.step_before);
        self.ui.graph.selected = task;
        self.ui.graph.reveal = true;
        self.ui.trace.cursor = step;
        if words.is_empty() {
            self.ui.trace.search = None;
            return;
        }
        self.ui.trace.search = Some(TraceSearch::new(&words));
        if self.searches_tasks() {
            self.select_first_match(&words.to_lowercase());
        } else {
            self.next_hit(true);
        }
    }

    /// Leaves everything as it was before the line was opened.
    fn cancel_search(&mut self) {
        let Some(line) = self.ui.search_line.take() else { return };
        self.ui.graph.selected = line.task_before;
        self.ui.graph.reveal = true;
        self.ui.trace.cursor = line.step_before;
        self.ui.focus = line.focus_before;
        self.ui.trace.search = None;
        (self.ui.output.search, self.ui.output.only_matches) = (None, false);
    }

    /// From tasks to steps and back.
    fn turn_search(&mut self) {
        self.ui.focus = match self.ui.focus {
            PaneFocus::Trace => PaneFocus::Graph,
            _ => PaneFocus::Trace,
        };
        self.search_as_typed();
    }

    /// Whether tasks are looked for, and not steps. In the past one looks for moments.
    pub(super) fn searches_tasks(&self) -> bool {
        !self.mode().is_past() && self.ui.focus != PaneFocus::Trace
    }

    /// Says in the line what was found, or beside the keys once it is closed.
    pub(super) fn report_search(&mut self, words: String) -> ScreenEffect {
        match &mut self.ui.search_line {
            Some(line) => {
                line.status = words;
                ScreenEffect::Draw
            }
            None => self.show_message(words),
        }
    }
}
