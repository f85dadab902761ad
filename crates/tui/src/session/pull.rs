//! Takes in new records, and leads the person to what is new.

use super::{Flow, Outside, Screen};
use crate::overlays::Overlay;
use crate::panes::approval;
use crate::ui_state::Focus;
use planwright_model::event::{ApprovalEvent, Event, Record};
use planwright_model::{Seq, TaskId};
use planwright_state::replay::SourceError;
use planwright_state::{SessionState, TaskStatus};

/// How many records are folded before input is looked at again.
const GULP: u64 = 1_000;

impl Screen {
    /// Whether there are records that have not been folded yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.latest.seq < self.head
    }

    /// Folds the records up to `head`, or as many of them as leave the keys quick.
    pub(super) fn pull(&mut self, head: Seq) -> Result<Flow, SourceError> {
        self.head = self.head.max(head);
        if !self.is_behind() {
            return Ok(Flow::Idle);
        }
        let stop = self.head.min(Seq(self.latest.seq.0 + GULP));
        while self.latest.seq < stop {
            let Some(record) = self.history.record(self.latest.seq.next())? else {
                // What cannot be read yet is announced again.
                self.head = self.latest.seq;
                break;
            };
            self.latest.apply(&record);
            self.timeline.apply(&record);
            self.notice(&record);
        }
        if self.shown.is_none() {
            self.lead_to_request();
            self.follow();
        }
        Ok(Flow::Draw)
    }

    /// Answers of the journal to what was sent.
    fn notice(&mut self, record: &Record) {
        self.ui.sent = None;
        match &record.event {
            Event::Approval(ApprovalEvent::Refused { command, why }) => {
                self.ui.message = Some(format!("{} refused: {why}", command.replace('_', " ")));
                self.ui.card.sent = false;
            }
            Event::Approval(ApprovalEvent::Asked { request }) if !self.window_has_focus => {
                let text = format!("asks: {}", request.question);
                self.ask_outside(Outside::Notify { text });
            }
            _ => {}
        }
    }

    /// Turns to a new request, unless the person is typing; turns back once all are answered.
    pub(super) fn lead_to_request(&mut self) {
        let newest = self.state().requests.open.keys().next_back().copied();
        if newest > self.asked && newest.is_some() {
            self.asked = newest;
            // Once it is typed, what is new has the focus.
            self.ui.came_from = None;
            self.ui.card.failed = None;
            if !self.is_typing() {
                self.ui.focus = Focus::Approval;
                // A choice that was open is about something else.
                if !matches!(self.ui.overlay, Some(Overlay::Quit)) {
                    self.ui.overlay = None;
                }
            }
        }
        let had_card = self.ui.card.request.is_some() || self.ui.card.failed.is_some();
        if approval::cards(self.state()) == 0 && self.ui.focus == Focus::Approval && had_card {
            self.ui.focus = Focus::Graph;
        }
        if newest.is_none() {
            self.ui.card.request = None;
        }
    }

    /// Moves the selection to what runs, while following.
    pub(super) fn follow(&mut self) {
        let known =
            |id: &TaskId| self.state().tasks.position(id).is_some() || self.plan.contains(id);
        let lost = self.ui.graph.selected.as_ref().is_none_or(|id| !known(id));
        if !self.ui.graph.following && !lost {
            return;
        }
        let target = target(self.state(), self.ui.graph.selected.as_ref());
        if target.is_some() && target != self.ui.graph.selected {
            self.ui.graph.selected = target;
            self.ui.graph.reveal = true;
        }
    }
}

/// What following looks at: the selected task while it runs, then what runs, what is the person's, what failed.
fn target(state: &SessionState, selected: Option<&TaskId>) -> Option<TaskId> {
    let status = |id: &TaskId| state.tasks.get(id).map(|row| row.status);
    if let Some(id) = selected.filter(|id| status(id) == Some(TaskStatus::Running)) {
        return Some(id.clone());
    }
    let first = |wanted: TaskStatus| {
        state.tasks.iter().find(|(_, row)| row.status == wanted).map(|(id, _)| id.clone())
    };
    let counts = state.tasks.counts();
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
