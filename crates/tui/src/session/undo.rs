//! Taking changes of the plan back. A conversation keeps its drafts; a plan from a file has its revisions.

use super::{ScreenEffect, SessionScreen};
use crate::keymap::KeyAction;
use planwright_model::event::{Command, Event, PlanEvent};
use planwright_model::{Actor, ChangeProposal};
use planwright_state::replay::RecordSourceError;
use planwright_state::{RevisionHead, SessionStatus};
use planwright_text::clean_line;

impl SessionScreen {
    /// Takes the last change of the plan back, or makes it again, and says which one.
    pub(super) fn undo_or_redo(&mut self, again: bool) -> Result<ScreenEffect, RecordSourceError> {
        if let Some(why) = self.why_cannot_act() {
            return Ok(self.show_message(why));
        }
        if !again && let Some(effect) = self.undo_marked_task() {
            return Ok(effect);
        }
        if !again && let Some(effect) = self.undo_task_changes() {
            return Ok(effect);
        }
        let talk = &self.latest.planning;
        if !again && self.latest.status() == SessionStatus::Abandoned {
            return Ok(self.send_command(Command::Undo, "restore the plan"));
        }
        if !again && talk.catch_up.as_ref().is_some_and(|undo| undo.applied) {
            return Ok(self.send_command(Command::Undo, "undo catching up"));
        }
        if !talk.begun {
            return self.switch_revision(again);
        }
        let kept = if again { &talk.redo } else { &talk.undo };
        let Some(draft) = kept.last() else {
            return Ok(self.show_message(self.nothing_to_undo(again)));
        };
        let verb = if again { "redo" } else { "undo" };
        let what = clean_line(&draft.what).into_owned();
        let words = format!("{verb}: {what}");
        if !again && let Some(effect) = self.ask_past_approval(&what) {
            return Ok(effect);
        }
        let command = if again { Command::Redo } else { Command::Undo };
        Ok(self.send_command(command, words))
    }

    /// An approval is not among the steps. Right after it, the last change is undone only when the key is pressed again.
    fn ask_past_approval(&mut self, what: &str) -> Option<ScreenEffect> {
        let state = &self.latest;
        let approval = state.plan.approval.as_ref().filter(|_| state.is_runnable())?;
        let changed = state.planning.history.last().is_some_and(|last| last.at > approval.at);
        let plan = state.planning.outline.as_deref().map(|outline| outline.root_id.clone())?;
        if changed || self.ui.asked_undo.as_ref() == Some(&plan) {
            self.ui.asked_undo = None;
            return None;
        }
        self.ui.asked_undo = Some(plan);
        let key = self.keymap.key_hint(KeyAction::Undo);
        let words = format!("the plan is approved, and that stays; {key} again undoes: {what}");
        Some(self.show_message(words))
    }

    /// Undoes the changes that the selected task applied to the workspace, if it did. Files are put back only when the key
    /// is pressed once more.
    fn undo_task_changes(&mut self) -> Option<ScreenEffect> {
        let task = self.ui.graph.selected.clone()?;
        let copy = self.latest.worktrees.get(&task).filter(|copy| copy.is_applied())?;
        let figures = copy.proposal.as_ref().map(ChangeProposal::describe).unwrap_or_default();
        let (title, key) = (self.row_title(&task), self.keymap.key_hint(KeyAction::Undo));
        if self.ui.asked_undo.as_ref() != Some(&task) {
            self.ui.asked_undo = Some(task);
            let what = format!("{key} again takes the changes of \"{title}\" back: {figures}");
            return Some(self.show_message(what));
        }
        self.ui.asked_undo = None;
        let words = format!("undo the changes of \"{title}\": {figures}");
        let command = Command::UndoChanges { task, by: Actor::Person };
        Some(self.send_command(command, words))
    }

    fn nothing_to_undo(&self, again: bool) -> String {
        if again {
            return "nothing to redo".to_owned();
        }
        let unlock = match self.latest.planning.locked.first() {
            Some(node) => {
                let (key, title) = (self.keymap.key_hint(KeyAction::Lock), self.row_title(node));
                format!("; {key} on \"{title}\" unlocks it")
            }
            None => String::new(),
        };
        format!("nothing to undo{unlock}")
    }

    /// Puts the revision before or after the current one in its place, as a new revision that asks again.
    fn switch_revision(&mut self, again: bool) -> Result<ScreenEffect, RecordSourceError> {
        let Some(head) = adjacent_revision(&self.latest.plan.revisions, again).cloned() else {
            let words = if again { "this is the last draft" } else { "this is the first draft" };
            return Ok(self.show_message(words));
        };
        let record = self.history.record_at(head.seq)?;
        let Some(Event::Plan(PlanEvent::Proposed { plan, facts, normalization, .. })) =
            record.as_ref().map(|record| &record.event)
        else {
            return Ok(self.show_message(format!("draft {} can't be read", head.revision)));
        };
        let command = Command::Revise {
            plan: plan.clone(),
            facts: facts.clone(),
            normalization: normalization.clone(),
        };
        Ok(self.send_command(command, format!("back to draft {}", head.revision)))
    }
}

/// The revision before the plan was first what it is now, or the one that came after it. Going back makes revisions
/// as well, so that plans are told apart by what they are and not by their numbers.
fn adjacent_revision(revisions: &[RevisionHead], again: bool) -> Option<&RevisionHead> {
    let now = &revisions.last()?.hash;
    let first = revisions.iter().position(|head| head.hash == *now)?;
    let at = if again { first + 1 } else { first.checked_sub(1)? };
    revisions.get(at).filter(|head| head.hash != *now)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use planwright_model::{Digest, Seq};

    #[test]
    fn revisions_are_walked_by_what_they_are() {
        let revisions = |plans: &[u8]| -> Vec<RevisionHead> {
            let heads = plans.iter().zip(1..).map(|(plan, revision)| RevisionHead {
                revision,
                hash: Digest::from_value(plan).unwrap(),
                seq: Seq(u64::from(revision)),
                at: Timestamp::UNIX_EPOCH,
                tasks: 1,
            });
            heads.collect()
        };
        let to = |plans: &[u8], again| {
            adjacent_revision(&revisions(plans), again).map(|head| head.revision)
        };
        assert_eq!((to(&[1], false), to(&[1], true)), (None, None));
        assert_eq!((to(&[1, 2, 3], false), to(&[1, 2, 3], true)), (Some(2), None));
        // Back twice, then forward twice.
        assert_eq!(to(&[1, 2, 3, 2], false), Some(1));
        assert_eq!((to(&[1, 2, 3, 2, 1], false), to(&[1, 2, 3, 2, 1], true)), (None, Some(2)));
        assert_eq!(to(&[1, 2, 3, 2, 1, 2], true), Some(3));
    }
}
