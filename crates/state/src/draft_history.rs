//! What a draft was before: the steps that can be undone and redone, the draft that the present one is compared with, the
//! changes that were put back, and who changed which node when.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::SessionState;
use super::planning_slice::PlanningSlice;
use planwright_model::event::{PlanningEvent, RevisedDraft};
use planwright_model::{
    Comment, CommentOutcome, NodeOrigin, PlanEdit, PlanOutline, Roadmap, Schedule, TaskId,
};
use planwright_plan::diff::{DraftDiff, DraftView, diff_drafts};

/// How many steps can be undone.
const MAX_UNDO_STEPS: usize = 24;
/// How many entries of the history of nodes the state keeps; the journal has all of them.
const MAX_HISTORY_ENTRIES: usize = 400;

/// A draft with everything that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DraftSnapshot {
    /// The number that the person knows it by: 1 for the first.
    pub number: u32,
    pub outline: Option<Arc<PlanOutline>>,
    pub roadmap: Option<Arc<Roadmap>>,
    pub schedule: Option<Arc<Schedule>>,
}

impl DraftSnapshot {
    /// The draft as something that can be compared.
    pub fn view(&self) -> Option<DraftView<'_>> {
        Some(DraftView {
            outline: self.outline.as_deref()?,
            roadmap: self.roadmap.as_deref(),
            schedule: self.schedule.as_deref(),
        })
    }
}

/// Everything that a step can change, as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UndoDraft {
    pub outline: Option<Arc<PlanOutline>>,
    pub roadmap: Option<Arc<Roadmap>>,
    pub schedule: Option<Arc<Schedule>>,
    pub picked_option: Option<String>,
    pub locked: BTreeSet<TaskId>,
    pub comments: Vec<Comment>,
    pub number: u32,
    pub compared: Option<Arc<DraftSnapshot>>,
    pub put_back: BTreeSet<TaskId>,
    pub all_changes: Option<Arc<DraftSnapshot>>,
    /// The goal in the words of that draft; empty in drafts that were kept before goals could be reworded.
    #[serde(default)]
    pub goal: String,
    /// What of the change requests before it was left open.
    #[serde(default)]
    pub open_changes: Vec<String>,
    /// The change that led away from it, in words.
    pub what: String,
}

/// One change of a node, for its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeHistoryEntry {
    pub at: Timestamp,
    /// Who changed it: the person, a model, or the planner itself.
    pub by: NodeOrigin,
    pub nodes: Vec<TaskId>,
    pub what: String,
}

/// Who changed a node when, oldest first.
pub fn node_history<'a>(
    state: &'a SessionState,
    node: &'a TaskId,
) -> impl DoubleEndedIterator<Item = &'a NodeHistoryEntry> {
    state.planning.history.iter().filter(move |entry| entry.nodes.contains(node))
}

impl SessionState {
    /// The number of the present draft as the person counts them: edits by hand belong to the draft they change. That of
    /// the revision where the plan comes from a file; 0 before there is a plan.
    pub fn draft_number(&self) -> u32 {
        let revision = self.plan.current.as_ref().map_or(0, |current| current.revision);
        if self.planning.begun { self.planning.draft_number.max(1) } else { revision }
    }
}

impl PlanningSlice {
    /// The draft as it stands, as something that can be compared.
    pub fn draft_view(&self) -> Option<DraftView<'_>> {
        Some(DraftView {
            outline: self.outline.as_deref()?,
            roadmap: self.roadmap.as_deref(),
            schedule: self.schedule.as_deref(),
        })
    }

    /// What is different from the draft that the person saw before. Work that grows with the plan: keep the result.
    pub fn draft_diff(&self) -> Option<DraftDiff> {
        Some(diff_drafts(&self.compared.as_deref()?.view()?, &self.draft_view()?))
    }

    pub(super) fn snapshot_draft(&self) -> DraftSnapshot {
        DraftSnapshot {
            number: self.draft_number,
            outline: self.outline.clone(),
            roadmap: self.roadmap.clone(),
            schedule: self.schedule.clone(),
        }
    }

    fn snapshot_undo(&self, what: &str) -> UndoDraft {
        UndoDraft {
            outline: self.outline.clone(),
            roadmap: self.roadmap.clone(),
            schedule: self.schedule.clone(),
            picked_option: self.picked_option.clone(),
            locked: self.locked.clone(),
            comments: self.comments.clone(),
            number: self.draft_number,
            compared: self.compared.clone(),
            put_back: self.put_back.clone(),
            all_changes: self.all_changes.clone(),
            goal: self.goal.clone(),
            open_changes: self.open_changes.clone(),
            what: what.to_owned(),
        }
    }

    /// Keeps the draft, which a change is about to lead away from. Several change requests at once are one change.
    pub(super) fn push_undo(&mut self, what: &str) {
        let now = self.snapshot_undo(what);
        if now.outline.is_none() {
            return;
        }
        self.redo.clear();
        // What changed nothing is not what would be undone; the next thing that is done is.
        if let Some(last) = self.undo.last_mut().filter(|last| is_same_draft(last, &now)) {
            last.what = now.what;
            return;
        }
        self.undo.push(now);
        if self.undo.len() > MAX_UNDO_STEPS {
            self.undo.remove(0);
        }
    }

    /// Begins a new draft, which is compared with the present one.
    pub(super) fn begin_next_draft(&mut self, what: &str) {
        let same =
            self.undo.last().is_some_and(|last| is_same_draft(last, &self.snapshot_undo("")));
        let begun = same && self.compared.as_deref().is_some_and(|kept| self.is_present(kept));
        self.push_undo(what);
        if self.outline.is_none() || begun {
            return;
        }
        self.compared = Some(Arc::new(self.snapshot_draft()));
        self.draft_number = self.draft_number.max(1) + 1;
        self.put_back.clear();
        self.all_changes = None;
    }

    /// The schedule that the present draft is a change of: that of the draft before, or its own.
    pub fn shown_schedule(&self) -> Option<&Schedule> {
        let before = self.compared.as_deref().and_then(|draft| draft.schedule.as_deref());
        before.or(self.schedule.as_deref())
    }

    /// Whether a snapshot has the outline and the roadmap that the draft has now.
    fn is_present(&self, kept: &DraftSnapshot) -> bool {
        (&kept.outline, &kept.roadmap) == (&self.outline, &self.roadmap)
    }

    /// A draft that was approved is what later ones are compared with; nothing about it is open.
    pub(super) fn settle_draft(&mut self) {
        self.compared = None;
        self.put_back.clear();
        self.all_changes = None;
    }

    /// Takes up a plan that was changed by hand, beside which the one before stays for comparison.
    pub(super) fn adopt_revision(&mut self, what: &str, draft: &RevisedDraft) {
        self.push_undo(what);
        if self.compared.is_none() && self.outline.is_some() {
            self.compared = Some(Arc::new(self.snapshot_draft()));
        }
        self.adopt_plan(Some(draft.outline.clone()), draft.roadmap.clone());
    }

    pub(super) fn adopt_plan(
        &mut self,
        outline: Option<Arc<PlanOutline>>,
        roadmap: Option<Arc<Roadmap>>,
    ) {
        self.context = outline.as_ref().map(|outline| Arc::new(outline.plan_context.clone()));
        self.outline = outline;
        self.roadmap = roadmap;
    }

    /// Folds operations: the plan as they left it, locks and comments as they say.
    pub(super) fn apply_operations(
        &mut self,
        edits: &[PlanEdit],
        what: &str,
        draft: Option<&RevisedDraft>,
        all_changes: Option<&RevisedDraft>,
    ) {
        match draft {
            Some(draft) => self.adopt_revision(what, draft),
            None => self.push_undo(what),
        }
        if draft.is_some() {
            if let Some(all) = all_changes {
                let number = self.draft_number;
                self.all_changes = Some(Arc::new(DraftSnapshot {
                    number,
                    outline: Some(all.outline.clone()),
                    roadmap: all.roadmap.clone(),
                    schedule: None,
                }));
            } else {
                self.put_back.clear();
                self.all_changes = None;
            }
        }
        let version = self.outline.as_deref().map_or(1, |outline| outline.version);
        for edit in edits {
            match edit {
                PlanEdit::Lock { node } => {
                    self.locked.insert(node.clone());
                }
                PlanEdit::Unlock { node } => {
                    self.locked.remove(node);
                }
                PlanEdit::Comment { node, text } => {
                    let id = self.comments.last().map_or(1, |last| last.id + 1);
                    let (node, text) = (node.clone(), text.trim().to_owned());
                    self.comments.push(Comment { id, node, text, version, outcome: None });
                }
                _ => {}
            }
        }
        if draft.is_some() {
            self.retire_comments();
        }
    }

    /// A remark on a node that is gone has nothing left to say.
    fn retire_comments(&mut self) {
        let Some(outline) = self.outline.clone() else { return };
        let roadmap = self.roadmap.clone();
        let there = |id: &TaskId| {
            outline.find_node(id).is_some()
                || roadmap.as_deref().is_some_and(|roadmap| roadmap.find_node(id).is_some())
        };
        for comment in self.comments.iter_mut().filter(|comment| comment.outcome.is_none()) {
            if !there(&comment.node) {
                comment.outcome = Some(CommentOutcome::Stale);
            }
        }
    }

    /// A remark that is no step of its own: it stays when steps are undone.
    pub(super) fn keep_comment(&mut self, comment: &Comment) {
        self.comments.push(comment.clone());
        for step in self.undo.iter_mut().chain(&mut self.redo) {
            step.comments.push(comment.clone());
        }
    }

    /// A lock that is no step of its own: it stays when steps are undone. False if it was so before.
    pub(super) fn keep_lock(&mut self, node: &TaskId, on: bool) -> bool {
        let set = |locked: &mut BTreeSet<TaskId>| {
            if on { locked.insert(node.clone()) } else { locked.remove(node) }
        };
        for step in self.undo.iter_mut().chain(&mut self.redo) {
            set(&mut step.locked);
        }
        set(&mut self.locked)
    }

    /// Folds a change that was put back, or taken again.
    pub(super) fn apply_put_back(
        &mut self,
        put_back: &BTreeSet<TaskId>,
        what: &str,
        draft: &RevisedDraft,
    ) {
        self.push_undo(what);
        let before = self.snapshot_draft();
        if put_back.is_empty() {
            self.all_changes = None;
        } else if self.all_changes.is_none() {
            self.all_changes = Some(Arc::new(before));
        }
        self.put_back.clone_from(put_back);
        self.adopt_plan(Some(draft.outline.clone()), draft.roadmap.clone());
    }

    pub(super) fn apply_undo(&mut self, again: bool) -> bool {
        let from = if again { &mut self.redo } else { &mut self.undo };
        let Some(draft) = from.pop() else { return false };
        let now = self.snapshot_undo(&draft.what);
        let to = if again { &mut self.undo } else { &mut self.redo };
        to.push(now);
        self.schedule = draft.schedule.or_else(|| self.schedule.take());
        self.picked_option = draft.picked_option;
        self.locked = draft.locked;
        self.comments = draft.comments;
        self.draft_number = draft.number;
        self.compared = draft.compared;
        self.put_back = draft.put_back;
        self.all_changes = draft.all_changes;
        self.open_changes = draft.open_changes;
        if !draft.goal.is_empty() {
            self.facts.set_goal(&draft.goal);
            self.goal = draft.goal;
        }
        self.adopt_plan(draft.outline, draft.roadmap);
        true
    }

    /// Whether undoing or redoing the last step changes the plan itself, so that it must be checked and dated again.
    pub fn undo_changes_plan(&self, again: bool) -> bool {
        let step = if again { self.redo.last() } else { self.undo.last() };
        step.is_some_and(|step| {
            (&step.outline, &step.roadmap, &step.picked_option)
                != (&self.outline, &self.roadmap, &self.picked_option)
        })
    }

    /// Keeps who changed which node when.
    pub(super) fn record_history(&mut self, event: &PlanningEvent, at: Timestamp) {
        let person = NodeOrigin::UserFeedback;
        let (by, nodes, what) = match event {
            PlanningEvent::Adapted { entry } => {
                (entry.origin, entry.node_ids.clone(), entry.reason.clone())
            }
            PlanningEvent::Commented { comment } => {
                (person, vec![comment.node.clone()], format!("comment: \"{}\"", comment.text))
            }
            PlanningEvent::NodeLocked { node } => (person, vec![node.clone()], "locked".to_owned()),
            PlanningEvent::NodeUnlocked { node } => {
                (person, vec![node.clone()], "unlocked".to_owned())
            }
            PlanningEvent::ChangePutBack { node, put_back, what, .. } => {
                let mut nodes: Vec<TaskId> = put_back.iter().cloned().collect();
                if !nodes.contains(node) {
                    nodes.push(node.clone());
                }
                (person, nodes, what.clone())
            }
            PlanningEvent::Revised { edits, .. } => {
                for edit in edits.iter().filter(|edit| !edit.changes_plan()) {
                    let (node, what) = match edit {
                        PlanEdit::Lock { node } => (node, "locked".to_owned()),
                        PlanEdit::Unlock { node } => (node, "unlocked".to_owned()),
                        PlanEdit::Comment { node, text } => {
                            (node, format!("comment: \"{}\"", text.trim()))
                        }
                        _ => continue,
                    };
                    self.push_history(NodeHistoryEntry {
                        at,
                        by: person,
                        nodes: vec![node.clone()],
                        what,
                    });
                }
                return;
            }
            PlanningEvent::CommentSettled { id, outcome } => {
                let Some(comment) = self.comments.iter().find(|comment| comment.id == *id) else {
                    return;
                };
                let what = match outcome {
                    CommentOutcome::Addressed { how } => format!("comment addressed: {how}"),
                    CommentOutcome::Declined { why } => format!("comment declined: {why}"),
                    CommentOutcome::Stale => return,
                };
                (NodeOrigin::System, vec![comment.node.clone()], what)
            }
            PlanningEvent::Undone { again } => {
                let step = if *again { self.redo.last() } else { self.undo.last() };
                let Some(step) = step else { return };
                let verb = if *again { "redone" } else { "undone" };
                let (what, nodes) = (format!("{verb}: {}", step.what), self.nodes_changed_by(step));
                (person, nodes, what)
            }
            _ => return,
        };
        self.push_history(NodeHistoryEntry { at, by, nodes, what });
    }

    fn push_history(&mut self, entry: NodeHistoryEntry) {
        if entry.nodes.is_empty() {
            return;
        }
        if self.history.len() >= MAX_HISTORY_ENTRIES {
            self.history.remove(0);
        }
        self.history.push(entry);
    }

    /// The nodes that are not the same in a step and in the draft as it stands.
    fn nodes_changed_by(&self, step: &UndoDraft) -> Vec<TaskId> {
        let view = step.outline.as_deref().map(|outline| DraftView {
            outline,
            roadmap: step.roadmap.as_deref(),
            schedule: None,
        });
        let now = self.draft_view().map(|now| DraftView { schedule: None, ..now });
        let (Some(view), Some(now)) = (view, now) else { return Vec::new() };
        let diff = diff_drafts(&now, &view);
        let mut nodes: Vec<TaskId> = diff.own_changes().map(|row| row.node.clone()).collect();
        nodes.extend(step.locked.symmetric_difference(&self.locked).cloned());
        let known = |list: &[Comment], id: u32| list.iter().any(|comment| comment.id == id);
        let gone = self.comments.iter().filter(|comment| !known(&step.comments, comment.id));
        let back = step.comments.iter().filter(|comment| !known(&self.comments, comment.id));
        nodes.extend(gone.chain(back).map(|comment| comment.node.clone()));
        nodes
    }
}

fn is_same_draft(one: &UndoDraft, other: &UndoDraft) -> bool {
    (&one.outline, &one.roadmap, &one.picked_option, &one.locked, &one.comments)
        == (&other.outline, &other.roadmap, &other.picked_option, &other.locked, &other.comments)
}
