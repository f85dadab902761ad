//! Searching: steps of the trace, or tasks while the plan has the focus. Copying and paging what was found.

use super::external_actions::ExternalAction;
use super::{ScreenEffect, SessionScreen};
use crate::overlays::{InputDialog, InputPurpose, Overlay};
use crate::panes::trace::{TraceSearch, find_match};
use crate::ui_state::PaneFocus;
use planwright_model::PrdvPhase;
use planwright_model::TaskId;
use planwright_state::replay::RecordSourceError;
use planwright_state::trace::TraceEntry;
use planwright_text::clean_text;

/// How many steps are looked at before keys are looked at again.
const MAX_STEPS_PER_TICK: usize = 1_000;

impl SessionScreen {
    pub(super) fn open_search(&mut self) -> ScreenEffect {
        self.ui.overlay = Some(Overlay::Input(Box::new(InputDialog::new(InputPurpose::Search))));
        ScreenEffect::Draw
    }

    /// Starts a search; an empty one ends the last.
    pub(super) fn start_search(&mut self, text: &str) -> ScreenEffect {
        if text.is_empty() {
            self.ui.trace.search = None;
            return ScreenEffect::Draw;
        }
        self.ui.trace.search = Some(TraceSearch::new(text));
        self.next_hit(true)
    }

    /// The next or previous hit: among tasks in the plan, else among steps.
    pub(super) fn next_hit(&mut self, forward: bool) -> ScreenEffect {
        if self.ui.trace.search.is_none() {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Search);
            return self.show_message(format!("{key} searches"));
        }
        // In the past one looks for moments: a hit moves the cursor of the bar.
        let past = self.mode().is_past();
        let Some(search) = &mut self.ui.trace.search else { return ScreenEffect::Idle };
        if !past && matches!(self.ui.focus, PaneFocus::Graph | PaneFocus::Running) {
            let query = search.query().to_owned();
            return self.select_matching_task(&query, forward);
        }
        let from = match self.ui.trace.cursor.filter(|_| !past).or(self.ui.time.cursor) {
            Some(seq) => self.trace.step_index(seq, &self.timeline),
            None => self.trace.total.saturating_sub(1),
        };
        search.start(from, forward, self.trace.total);
        self.ui.focus = PaneFocus::Trace;
        ScreenEffect::Draw
    }

    fn select_matching_task(&mut self, query: &str, forward: bool) -> ScreenEffect {
        let found: Vec<TaskId> = self
            .plan
            .rows
            .all
            .iter()
            .filter(|row| {
                find_match(row.id.as_str(), query).is_some()
                    || find_match(&row.title, query).is_some()
            })
            .map(|row| row.id.clone())
            .collect();
        let at =
            self.ui.graph.selected.as_ref().and_then(|id| found.iter().position(|hit| hit == id));
        let to = match (at, forward) {
            _ if found.is_empty() => {
                return self.show_message(format!("no task has {query:?} in it"));
            }
            (None, _) => 0,
            (Some(at), true) => (at + 1) % found.len(),
            (Some(at), false) => (at + found.len() - 1) % found.len(),
        };
        self.ui.select_task(found[to].clone());
        self.show_message(format!("{} of {} tasks with {query:?}", to + 1, found.len()))
    }

    pub(crate) fn is_searching(&self) -> bool {
        let total = self.trace.total;
        let search = self.ui.trace.search.as_ref();
        search.is_some_and(|search| search.is_running() || self.is_counting_hits(search, total))
    }

    /// Hits are marked on the bar, which only a replay has.
    fn is_counting_hits(&self, search: &TraceSearch, total: usize) -> bool {
        self.mode().is_past() && search.is_counting(total)
    }

    /// Looks at some more steps.
    pub(super) fn continue_search(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        let total = self.trace.total;
        if !self.ui.trace.search.as_ref().is_some_and(TraceSearch::is_running) {
            return self.count_hits(total);
        }
        for _ in 0..MAX_STEPS_PER_TICK {
            let Some(search) = &mut self.ui.trace.search else { return Ok(ScreenEffect::Idle) };
            let query = search.query().to_owned();
            let Some(index) = search.next_step(total) else {
                return Ok(self.show_message(format!("no step has {query:?} in it")));
            };
            let Some(seq) = self.trace.step_seq(index, &self.timeline) else { continue };
            let Some(record) = self.history.record_at(seq)? else { continue };
            let Some(entry) = TraceEntry::from_record(&record) else { continue };
            let in_body =
                entry.body.as_deref().is_some_and(|body| find_match(body, &query).is_some());
            if in_body || find_match(&entry.text, &query).is_some() {
                if in_body && find_match(&entry.text, &query).is_none() {
                    self.ui.trace.unfolded.insert(seq);
                }
                self.ui.trace.cursor = Some(seq);
                self.ui.trace.top = None;
                self.ui.trace.following = false;
                if let Some(search) = &mut self.ui.trace.search {
                    search.stop();
                }
                if self.mode().is_past() {
                    self.ui.time.playing = false;
                    self.seek_event(seq)?;
                }
                return Ok(
                    self.show_message(format!("step {} of {total} has {query:?}", index + 1))
                );
            }
        }
        Ok(self.show_message("searching"))
    }

    /// Looks at some more steps for the marks on the bar.
    fn count_hits(&mut self, total: usize) -> Result<ScreenEffect, RecordSourceError> {
        for _ in 0..MAX_STEPS_PER_TICK {
            let Some(search) = &mut self.ui.trace.search else { return Ok(ScreenEffect::Idle) };
            let Some(index) = search.next_uncounted(total) else { break };
            let query = search.query().to_owned();
            let Some(seq) = self.trace.step_seq(index, &self.timeline) else { continue };
            let Some(record) = self.history.record_at(seq)? else { continue };
            let Some(entry) = TraceEntry::from_record(&record) else { continue };
            let texts = [Some(entry.text.as_str()), entry.body.as_deref()];
            if texts.into_iter().flatten().any(|text| find_match(text, &query).is_some())
                && let Some(search) = &mut self.ui.trace.search
            {
                search.record_hit(seq);
            }
        }
        Ok(ScreenEffect::Draw)
    }

    pub(super) fn cycle_kind_filter(&mut self) -> ScreenEffect {
        self.ui.trace.kinds = self.ui.trace.kinds.next();
        self.ui.trace.following = true;
        self.ui.trace.top = None;
        ScreenEffect::Draw
    }

    /// The next part of the agents' loops, all of them after the last.
    pub(super) fn cycle_role_filter(&mut self) -> ScreenEffect {
        let trace = &mut self.ui.trace;
        trace.role = match trace.role {
            None => PrdvPhase::ALL.first().copied(),
            Some(role) => PrdvPhase::ALL.into_iter().find(|next| *next > role),
        };
        trace.following = true;
        trace.top = None;
        ScreenEffect::Draw
    }

    /// Whether steps are still being picked out for the trace.
    pub(crate) fn is_filtering(&self) -> bool {
        self.compare.is_none() && self.trace.is_behind(&self.timeline)
    }

    /// All that the step under the cursor says.
    fn step_text(&mut self) -> Result<Option<String>, RecordSourceError> {
        let Some(seq) = self.ui.trace.cursor else { return Ok(None) };
        let record = self.history.record_at(seq)?;
        let entry = record.and_then(|record| TraceEntry::from_record(&record));
        Ok(entry.map(|entry| clean_text(&entry.body.unwrap_or(entry.text)).into_owned()))
    }

    pub(super) fn copy_step(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        Ok(match self.step_text()? {
            Some(text) => {
                let lines = text.lines().count();
                self.request_external_action(ExternalAction::Copy { text });
                let words = crate::widgets::format_counted(lines, "line");
                self.show_message(format!("{words} on the clipboard, if this terminal has one"))
            }
            None => self.show_message("no step is under the cursor"),
        })
    }

    pub(super) fn page_step(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        Ok(match self.step_text()? {
            Some(text) => self.request_external_action(ExternalAction::Page { text }),
            None => self.show_message("no step is under the cursor"),
        })
    }
}
