//! Searching: steps of the trace, or tasks while the plan has the focus. Copying and paging what was found.

use super::external_actions::ExternalAction;
use super::{ScreenEffect, SessionScreen};
use crate::panes::trace::{TraceSearch, find_match};
use crate::ui_state::PaneFocus;
use crate::widgets::format_counted;
use planwright_model::PrdvPhase;
use planwright_model::TaskId;
use planwright_state::replay::RecordSourceError;
use planwright_state::trace::TraceEntry;
use planwright_text::clean_text;

/// How many steps are looked at before keys are looked at again.
const MAX_STEPS_PER_TICK: usize = 1_000;

impl SessionScreen {
    /// The next or previous hit: among tasks in the plan, else among steps.
    pub(super) fn next_hit(&mut self, forward: bool) -> ScreenEffect {
        if self.ui.trace.search.is_none() {
            let key = self.keymap.key_hint(crate::keymap::KeyAction::Search);
            return self.show_message(format!("{key} searches"));
        }
        // In the past one looks for moments: a hit moves the cursor of the bar.
        let past = self.mode().is_past();
        let Some(search) = &mut self.ui.trace.search else { return ScreenEffect::Idle };
        if !past && self.ui.focus != PaneFocus::Trace {
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
        let found = self.matching_tasks(query);
        let at =
            self.ui.graph.selected.as_ref().and_then(|id| found.iter().position(|hit| hit == id));
        let to = match (at, forward) {
            _ if found.is_empty() => return self.report_no_match(query),
            (None, _) => 0,
            (Some(at), true) => (at + 1) % found.len(),
            (Some(at), false) => (at + found.len() - 1) % found.len(),
        };
        self.ui.select_task(found[to].clone());
        self.report_search(format!("{} of {}", to + 1, format_counted(found.len(), "task")))
    }

    /// The task that has the words, the selected one if it does.
    pub(super) fn select_first_match(&mut self, query: &str) {
        let found = self.matching_tasks(query);
        let selected = self.ui.graph.selected.as_ref();
        let at = found.iter().position(|hit| Some(hit) == selected).unwrap_or(0);
        match found.get(at).cloned() {
            Some(task) => {
                self.ui.select_task(task);
                self.report_search(format!(
                    "{} of {}",
                    at + 1,
                    format_counted(found.len(), "task")
                ));
            }
            None => {
                self.report_no_match(query);
            }
        }
    }

    fn report_no_match(&mut self, query: &str) -> ScreenEffect {
        self.report_search(format!("No match for \"{query}\""))
    }

    fn matching_tasks(&self, query: &str) -> Vec<TaskId> {
        let rows = self.plan.rows.all.iter().filter(|row| {
            find_match(row.id.as_str(), query).is_some() || find_match(&row.title, query).is_some()
        });
        rows.map(|row| row.id.clone()).collect()
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
                return Ok(self.report_no_match(&query));
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
                return Ok(self.report_search(format!("step {} of {total}", index + 1)));
            }
        }
        Ok(self.report_search("searching".to_owned()))
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
        let output = !self.areas.output.is_empty() && self.output.is_behind(&self.timeline);
        self.compare.is_none() && (output || self.trace.is_behind(&self.timeline))
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
