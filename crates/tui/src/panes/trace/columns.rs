//! The columns of the activity: time, task, step. The task's column never makes two tasks look alike.

use std::borrow::Cow;

use planwright_model::{Digest, TaskId};
use planwright_state::SessionState;
use planwright_text::{clean_line, display_width, shorten_titles, truncate_middle};

/// Columns of the time, air included.
const TIME: u16 = 10;
/// Columns of the glyph.
const GLYPH: u16 = 2;
/// Columns of the word for a step where there is room for it.
const WORD: u16 = 13;
/// From so many columns of the screen on the words stand beside the glyphs.
const ROOMY: u16 = 140;
/// The fewest columns of a title.
const LEAST_TITLE: u16 = 12;
/// Plans with more tasks are not compared title by title.
const MOST_COMPARED: usize = 2_000;

/// Where the columns begin, and the titles that fit them.
#[derive(Debug, Default)]
pub(crate) struct TraceColumns {
    made_for: Option<(Option<Digest>, u16, bool)>,
    /// Columns of the titles; none where only one task is shown.
    pub(crate) title: u16,
    /// Whether the words stand beside the glyphs.
    pub(crate) words: bool,
    titles: Vec<String>,
}

impl TraceColumns {
    /// Settles the columns for a plan and a width. `screen` is the width of the whole screen.
    pub(crate) fn update(&mut self, state: &SessionState, width: u16, screen: u16, only: bool) {
        self.words = screen >= ROOMY;
        let hash = state.plan.current.as_ref().map(|revision| revision.hash.clone());
        let key = (hash, width, only);
        if self.made_for.as_ref() == Some(&key) {
            return;
        }
        let tasks = state.plan.current.as_ref().map_or(&[][..], |revision| &revision.plan.tasks);
        let titles: Vec<String> =
            tasks.iter().map(|task| clean_line(&task.description).into_owned()).collect();
        let widest = titles.iter().map(|title| display_width(title)).max().unwrap_or(0) as u16;
        self.title = if only || titles.is_empty() {
            0
        } else {
            widest.clamp(LEAST_TITLE, (width / 4).max(LEAST_TITLE)) + 2
        };
        let room = usize::from(self.title.saturating_sub(2)).max(1);
        self.titles = if titles.len() > MOST_COMPARED {
            titles.iter().map(|title| truncate_middle(title, room).into_owned()).collect()
        } else {
            let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
            shorten_titles(&titles, room).into_iter().map(Cow::into_owned).collect()
        };
        self.made_for = Some(key);
    }

    /// The column in which the text of a step begins, and under which its further lines hang.
    pub(crate) fn text_column(&self) -> u16 {
        1 + TIME + self.title + GLYPH + if self.words { WORD } else { 0 }
    }

    /// The column in which glyphs stand.
    pub(crate) fn glyph_column(&self) -> u16 {
        1 + TIME + self.title
    }

    /// Columns of a time.
    pub(crate) fn time_width() -> usize {
        usize::from(TIME)
    }

    /// Columns of a word.
    pub(crate) fn word_width() -> usize {
        usize::from(WORD)
    }

    /// What stands for a task.
    pub(crate) fn task_title<'a>(&'a self, state: &SessionState, task: &'a TaskId) -> &'a str {
        match state.tasks.owner_position(task).and_then(|at| self.titles.get(at)) {
            Some(title) if !title.is_empty() => title,
            _ => task.as_str(),
        }
    }
}
