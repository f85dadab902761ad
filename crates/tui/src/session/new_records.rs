//! Takes in new records, and leads the person to what is new.

use super::{ExternalAction, ScreenEffect, SessionScreen};
use crate::overlays::Overlay;
use crate::panes::approval;
use crate::ui_state::PaneFocus;
use planwright_model::event::{
    ApprovalEvent, Event, PlanEvent, Record, RunEvent, TaskEvent, WorktreeEvent,
};
use planwright_model::{Seq, TaskId};
use planwright_state::replay::RecordSourceError;
use planwright_state::trace::TraceEntry;
use planwright_state::{SessionState, TaskStatus};
use planwright_text::{clean_line, units};

/// How many records are folded before input is looked at again.
const MAX_RECORDS_PER_TICK: u64 = 1_000;

impl SessionScreen {
    /// Whether there are records that have not been folded yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.latest.seq < self.head
    }

    /// Folds the records up to `head`, or as many of them as leave the keys quick.
    pub(super) fn apply_new_records(
        &mut self,
        head: Seq,
    ) -> Result<ScreenEffect, RecordSourceError> {
        self.head = self.head.max(head);
        if !self.is_behind() {
            return Ok(ScreenEffect::Idle);
        }
        let stop = self.head.min(Seq(self.latest.seq.0 + MAX_RECORDS_PER_TICK));
        while self.latest.seq < stop {
            let Some(record) = self.history.record_at(self.latest.seq.next())? else {
                // What cannot be read yet is announced again.
                self.head = self.latest.seq;
                break;
            };
            self.latest.apply(&record);
            self.timeline.apply(&record);
            self.react_to_record(&record);
        }
        if self.shown.is_none() {
            self.focus_new_request();
            self.follow_running();
        }
        Ok(self.exit_if_idle().unwrap_or(ScreenEffect::Draw))
    }

    /// Answers of the journal to what was sent.
    fn react_to_record(&mut self, record: &Record) {
        // What was undone is said, because it may be out of sight.
        let undone = self.ui.sent.take().and_then(|words| {
            let (verb, what) = words.split_once(": ")?;
            match verb {
                "undo" => Some(format!("Undone: {what}")),
                "redo" => Some(format!("Redone: {what}")),
                _ => None,
            }
        });
        if let Some(undone) = undone {
            self.show_message(undone);
        }
        if !self.window_has_focus
            && let Some(text) = self.notification_text(&record.event)
        {
            self.request_external_action(ExternalAction::Notify { text });
        }
        match &record.event {
            Event::Approval(ApprovalEvent::Refused { .. }) => {
                let told = TraceEntry::from_record(record);
                self.ui.message =
                    told.map(|told| clean_line(&told.text_with_titles(&self.latest)).into_owned());
                self.ui.card.sent = false;
            }
            // The request stays open, with ideas or with why the answer could not be read.
            Event::Approval(ApprovalEvent::Amended { .. }) => self.ui.card.sent = false,
            Event::Run(RunEvent::Finished { .. })
                if self.shown.is_none() && self.commands.is_some() =>
            {
                self.show_finished();
            }
            Event::Run(RunEvent::Started { .. }) => self.ui.finished_open = false,
            // From here on what happens is what counts.
            Event::Plan(PlanEvent::Approved { .. }) if self.shown.is_none() => {
                self.ui.trace.following = true;
                self.ui.trace.top = None;
            }
            Event::Worktree(WorktreeEvent::Undone { task }) => {
                let title = self.row_title(task);
                self.show_message(format!("the changes of \"{title}\" are out of the workspace"));
            }
            Event::Worktree(WorktreeEvent::UndoFailed { task, .. }) => {
                let title = self.row_title(task);
                self.show_message(format!(
                    "nothing undone: files of \"{title}\" were changed again since; see the activity"
                ));
            }
            _ => {}
        }
    }

    /// What is worth a notification while the person looks elsewhere: a question, the end of a run, a failure, a task of
    /// theirs. Of many failures only the first is told.
    fn notification_text(&self, event: &Event) -> Option<String> {
        let title_of = |id: &TaskId| match self.latest.tasks.position(id) {
            Some(task) => clean_line(self.latest.task_title(task)).into_owned(),
            None => id.to_string(),
        };
        match event {
            Event::Approval(ApprovalEvent::Asked { request }) => {
                Some(format!("asks: {}", request.question))
            }
            Event::Task(TaskEvent::Failed { task, retry_in_ms: None, .. })
                if self.latest.tasks.status_counts().failed == 1 =>
            {
                Some(format!("{} failed", title_of(task)))
            }
            Event::Task(TaskEvent::HandedOver { task }) if self.latest.run.is_active() => {
                Some(format!("yours to do: {}", title_of(task)))
            }
            Event::Run(RunEvent::Finished { success, .. }) => {
                let counts = self.latest.tasks.work_counts();
                let done = units::format_part(counts.done as usize, counts.total() as usize);
                let end = if *success { "done" } else { "ended" };
                Some(format!("{end}: {done} tasks done, {} failed", counts.failed))
            }
            _ => None,
        }
    }

    /// Turns to a new request, unless the person is typing; turns back once all are answered.
    pub(super) fn focus_new_request(&mut self) {
        let newest = self.state().requests.open.keys().next_back().copied();
        if newest > self.asked && newest.is_some() {
            self.asked = newest;
            // Once it is typed, what is new has the focus.
            self.ui.return_focus = None;
            self.ui.card.failed = None;
            if !self.is_typing() {
                self.ui.focus = self.request_focus();
                self.ui.full_screen = false;
                // A choice that was open is about something else.
                if !matches!(self.ui.overlay, Some(Overlay::Quit(_))) {
                    self.ui.overlay = None;
                }
            }
        }
        let had_card = self.ui.card.request.is_some() || self.ui.card.failed.is_some();
        if approval::card_count(self.state()) == 0
            && self.ui.focus == PaneFocus::Approval
            && had_card
            && !self.ui.finished_open
        {
            self.ui.focus = PaneFocus::Graph;
        }
        if newest.is_none() {
            self.ui.card.request = None;
        }
    }

    /// A plan is read before it is answered, so that its card leaves the keys to the plan above it.
    fn request_focus(&self) -> PaneFocus {
        let newest = self.state().requests.open.values().next_back();
        let plan = newest.is_some_and(|open| approval::is_plan_card(&open.request.kind));
        if plan && !self.mode().is_past() { PaneFocus::Graph } else { PaneFocus::Approval }
    }

    /// Moves the selection to what runs, while following.
    pub(super) fn follow_running(&mut self) {
        let known =
            |id: &TaskId| self.state().tasks.position(id).is_some() || self.plan.contains_node(id);
        let lost = self.ui.graph.selected.as_ref().is_none_or(|id| !known(id));
        if !self.ui.graph.following && !lost {
            return;
        }
        let target = follow_target(self.state(), self.ui.graph.selected.as_ref());
        if target.is_some() && target != self.ui.graph.selected {
            self.ui.graph.selected = target;
            self.ui.graph.reveal = true;
        }
    }
}

/// What following looks at: the selected task while it runs, then what runs, what is the person's, what failed.
fn follow_target(state: &SessionState, selected: Option<&TaskId>) -> Option<TaskId> {
    let status = |id: &TaskId| state.tasks.get(id).map(|row| row.status);
    if let Some(id) = selected.filter(|id| status(id) == Some(TaskStatus::Running)) {
        return Some(id.clone());
    }
    let first = |wanted: TaskStatus| {
        state.tasks.iter().find(|(_, row)| row.status == wanted).map(|(id, _)| id.clone())
    };
    let counts = state.tasks.status_counts();
    if counts.running > 0 {
        return first(TaskStatus::Running);
    }
    if counts.yours > 0 {
        return first(TaskStatus::Yours);
    }
    if let Some(id) = selected.filter(|id| status(id).is_some()) {
        return Some(id.clone());
    }
    let order = state.plan.current.as_ref().and_then(|plan| plan.facts.execution_order.first());
    order.filter(|id| status(id).is_some()).cloned().or_else(|| first(TaskStatus::Pending))
}
