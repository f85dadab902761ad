//! Searching: steps of the trace, or tasks while the plan has the focus. Copying and paging what was found.

use super::outside::Outside;
use super::{Flow, Screen};
use crate::overlays::{Input, Overlay, Purpose};
use crate::panes::trace::{Search, contains};
use crate::ui_state::Focus;
use planwright_drafting::executor::Prdv;
use planwright_model::TaskId;
use planwright_state::replay::SourceError;
use planwright_state::trace::TraceEntry;
use planwright_text::clean;

/// How many steps are looked at before keys are looked at again.
const GULP: usize = 1_000;

impl Screen {
    pub(super) fn open_search(&mut self) -> Flow {
        self.ui.overlay = Some(Overlay::Input(Box::new(Input::new(Purpose::Search))));
        Flow::Draw
    }

    /// Starts a search; an empty one ends the last.
    pub(super) fn search(&mut self, text: &str) -> Flow {
        if text.is_empty() {
            self.ui.trace.search = None;
            return Flow::Draw;
        }
        self.ui.trace.search = Some(Search::new(text));
        self.next_hit(true)
    }

    /// The next or previous hit: among tasks in the plan, else among steps.
    pub(super) fn next_hit(&mut self, forward: bool) -> Flow {
        if self.ui.trace.search.is_none() {
            let key = self.keymap.key(crate::keymap::Action::Search);
            return self.say(format!("{key} searches"));
        }
        // In the past one looks for moments: a hit moves the cursor of the bar.
        let past = self.mode().is_past();
        let Some(search) = &mut self.ui.trace.search else { return Flow::Idle };
        if !past && matches!(self.ui.focus, Focus::Graph | Focus::Running) {
            let query = search.query().to_owned();
            return self.next_task(&query, forward);
        }
        let from = match self.ui.trace.cursor.filter(|_| !past).or(self.ui.time.cursor) {
            Some(seq) => self.trace.index(seq, &self.timeline),
            None => self.trace.total.saturating_sub(1),
        };
        search.start(from, forward, self.trace.total);
        self.ui.focus = Focus::Trace;
        Flow::Draw
    }

    fn next_task(&mut self, query: &str, forward: bool) -> Flow {
        let found: Vec<TaskId> = self
            .plan
            .rows
            .all
            .iter()
            .filter(|row| {
                contains(row.id.as_str(), query).is_some() || contains(&row.title, query).is_some()
            })
            .map(|row| row.id.clone())
            .collect();
        let at =
            self.ui.graph.selected.as_ref().and_then(|id| found.iter().position(|hit| hit == id));
        let to = match (at, forward) {
            _ if found.is_empty() => return self.say(format!("no task has {query:?} in it")),
            (None, _) => 0,
            (Some(at), true) => (at + 1) % found.len(),
            (Some(at), false) => (at + found.len() - 1) % found.len(),
        };
        self.ui.select(found[to].clone());
        self.say(format!("{} of {} tasks with {query:?}", to + 1, found.len()))
    }

    pub(crate) fn is_searching(&self) -> bool {
        let total = self.trace.total;
        let search = self.ui.trace.search.as_ref();
        search.is_some_and(|search| search.is_running() || self.counts(search, total))
    }

    /// Hits are marked on the bar, which only a replay has.
    fn counts(&self, search: &Search, total: usize) -> bool {
        self.mode().is_past() && search.is_counting(total)
    }

    /// Looks at some more steps.
    pub(super) fn go_on_searching(&mut self) -> Result<Flow, SourceError> {
        let total = self.trace.total;
        if !self.ui.trace.search.as_ref().is_some_and(Search::is_running) {
            return self.count_hits(total);
        }
        for _ in 0..GULP {
            let Some(search) = &mut self.ui.trace.search else { return Ok(Flow::Idle) };
            let query = search.query().to_owned();
            let Some(index) = search.next(total) else {
                return Ok(self.say(format!("no step has {query:?} in it")));
            };
            let Some(seq) = self.trace.step(index, &self.timeline) else { continue };
            let Some(record) = self.history.record(seq)? else { continue };
            let Some(entry) = TraceEntry::of(&record) else { continue };
            let in_body =
                entry.body.as_deref().is_some_and(|body| contains(body, &query).is_some());
            if in_body || contains(&entry.text, &query).is_some() {
                if in_body && contains(&entry.text, &query).is_none() {
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
                    self.seek(seq)?;
                }
                return Ok(self.say(format!("step {} of {total} has {query:?}", index + 1)));
            }
        }
        Ok(self.say("searching"))
    }

    /// Looks at some more steps for the marks on the bar.
    fn count_hits(&mut self, total: usize) -> Result<Flow, SourceError> {
        for _ in 0..GULP {
            let Some(search) = &mut self.ui.trace.search else { return Ok(Flow::Idle) };
            let Some(index) = search.count_next(total) else { break };
            let query = search.query().to_owned();
            let Some(seq) = self.trace.step(index, &self.timeline) else { continue };
            let Some(record) = self.history.record(seq)? else { continue };
            let Some(entry) = TraceEntry::of(&record) else { continue };
            let texts = [Some(entry.text.as_str()), entry.body.as_deref()];
            if texts.into_iter().flatten().any(|text| contains(text, &query).is_some())
                && let Some(search) = &mut self.ui.trace.search
            {
                search.hit(seq);
            }
        }
        Ok(Flow::Draw)
    }

    pub(super) fn only_kind(&mut self) -> Flow {
        self.ui.trace.kinds = self.ui.trace.kinds.next();
        self.ui.trace.following = true;
        self.ui.trace.top = None;
        Flow::Draw
    }

    /// The next part of the agents' loops, all of them after the last.
    pub(super) fn only_role(&mut self) -> Flow {
        let trace = &mut self.ui.trace;
        trace.role = match trace.role {
            None => Prdv::ALL.first().copied(),
            Some(role) => Prdv::ALL.into_iter().find(|next| *next > role),
        };
        trace.following = true;
        trace.top = None;
        Flow::Draw
    }

    /// Whether steps are still being picked out for the trace.
    pub(crate) fn is_filtering(&self) -> bool {
        self.compare.is_none() && self.trace.is_behind(&self.timeline)
    }

    /// All that the step under the cursor says.
    fn step_text(&mut self) -> Result<Option<String>, SourceError> {
        let Some(seq) = self.ui.trace.cursor else { return Ok(None) };
        let record = self.history.record(seq)?;
        let entry = record.and_then(|record| TraceEntry::of(&record));
        Ok(entry.map(|entry| clean(&entry.body.unwrap_or(entry.text)).into_owned()))
    }

    pub(super) fn copy_step(&mut self) -> Result<Flow, SourceError> {
        Ok(match self.step_text()? {
            Some(text) => {
                let lines = text.lines().count();
                self.ask_outside(Outside::Copy { text });
                let words = crate::widgets::counted(lines, "line");
                self.say(format!("{words} on the clipboard, if this terminal has one"))
            }
            None => self.say("no step is under the cursor"),
        })
    }

    pub(super) fn page_step(&mut self) -> Result<Flow, SourceError> {
        Ok(match self.step_text()? {
            Some(text) => self.ask_outside(Outside::Page { text }),
            None => self.say("no step is under the cursor"),
        })
    }
}
