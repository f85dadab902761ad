//! Makes the changes that a request asks for, clause by clause, and reports what each of them really did.

use std::collections::BTreeSet;

use jiff::civil::Date;

use planwright_model::{AdaptationAction, NodeStatus, PlanEdit, PlanOutline, Roadmap, TaskId};
use planwright_plan::edit::{self, EditError, EditedPlan, MovedDay};
use planwright_text::dates::format_date;
use planwright_text::units::{format_counted, format_planned};

use super::context_change::{ContextChange, apply_context_change, has_same_limits};
use super::{GoalRestatement, OpenReason, ParsedChangeRequest, PlanApproach, RequestedChange};

/// A change that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeChange {
    /// The clause, as typed.
    pub text: String,
    /// The operations; none for changes to hours, dates and people.
    pub edits: Vec<PlanEdit>,
    pub action: AdaptationAction,
    pub node_ids: Vec<TaskId>,
    /// What is different now, in words.
    pub effect: String,
}

/// A plan after a change request.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestOutcome {
    pub outline: PlanOutline,
    pub roadmap: Option<Roadmap>,
    pub made: Vec<MadeChange>,
    /// What stays open, each with its reason.
    pub open: Vec<String>,
    /// Options that the plan should follow, each with the words that ask for it; whoever drafts can switch.
    pub approaches: Vec<(PlanApproach, String)>,
    /// Facts of the goal in other words; whoever drafts can plan with them.
    pub restatements: Vec<(GoalRestatement, String)>,
}

/// Applies a parsed request. The given plan is never modified; what no operation names stays as it is.
pub fn apply_change_request(
    parsed: &ParsedChangeRequest,
    outline: &PlanOutline,
    roadmap: Option<&Roadmap>,
    locked: &BTreeSet<TaskId>,
    today: Date,
) -> RequestOutcome {
    let mut outcome = RequestOutcome {
        outline: outline.clone(),
        roadmap: roadmap.cloned(),
        made: Vec::new(),
        open: Vec::new(),
        approaches: Vec::new(),
        restatements: Vec::new(),
    };
    for clause in &parsed.clauses {
        let text = clause.text.as_str();
        match &clause.change {
            RequestedChange::Edits(edits) => outcome.apply_edits(text, edits, locked),
            RequestedChange::Context(changes) => outcome.apply_limits(text, changes, locked, today),
            RequestedChange::Approach(approach) => {
                outcome.approaches.push((*approach, text.to_owned()));
            }
            RequestedChange::Restatement(restated) => {
                outcome.restatements.push((restated.clone(), text.to_owned()));
            }
            RequestedChange::Undo => {}
            RequestedChange::Kind => {
                let why = "another kind is another plan; ask for it in a request of its own";
                outcome.open.push(describe_open(text, Some(&OpenReason::because(why))));
            }
            RequestedChange::Open(why) => outcome.open.push(describe_open(text, why.as_ref())),
        }
    }
    outcome
}

/// A clause that stays open, with its reason.
fn describe_open(text: &str, why: Option<&OpenReason>) -> String {
    match why {
        Some(why) => format!("{text} ({why})"),
        None => text.to_owned(),
    }
}

impl RequestOutcome {
    fn apply_edits(&mut self, text: &str, edits: &[PlanEdit], locked: &BTreeSet<TaskId>) {
        let before = self.total_minutes();
        let edits = &self.without_done(edits);
        match self.try_edits(edits, locked) {
            Ok(edited) => {
                let effect = describe_effect(edits, &edited);
                self.outline = edited.outline;
                self.roadmap = edited.roadmap;
                let effect = format!("{effect}{}", describe_total(before, self.total_minutes()));
                self.made.push(MadeChange {
                    text: text.to_owned(),
                    edits: edits.clone(),
                    action: edited.action,
                    node_ids: edited.node_ids,
                    effect,
                });
            }
            Err(error) => {
                let why = describe_edit_error(&error);
                self.open.push(describe_open(text, Some(&why)));
            }
        }
    }

    /// A new time for many tasks leaves those alone that an earlier clause marked as done.
    fn without_done(&self, edits: &[PlanEdit]) -> Vec<PlanEdit> {
        let done = |node: &TaskId| {
            self.outline.find_node(node).is_some_and(|node| node.status == NodeStatus::Done)
        };
        let is_left = |edit: &&PlanEdit| match edit {
            PlanEdit::SetEstimate { node, .. } => edits.len() == 1 || !done(node),
            _ => true,
        };
        edits.iter().filter(is_left).cloned().collect()
    }

    /// Applies operations together. Those that change nothing are left out as long as another one does.
    fn try_edits(
        &self,
        edits: &[PlanEdit],
        locked: &BTreeSet<TaskId>,
    ) -> Result<EditedPlan, EditError> {
        let together = edit::apply_edits(&self.outline, self.roadmap.as_ref(), edits, locked);
        if edits.len() < 2 || together != Err(EditError::NothingChanges) {
            return together;
        }
        let mut left: Vec<PlanEdit> = Vec::new();
        let mut best = Err(EditError::NothingChanges);
        for edit in edits {
            left.push(edit.clone());
            match edit::apply_edits(&self.outline, self.roadmap.as_ref(), &left, locked) {
                Err(EditError::NothingChanges) => {
                    left.pop();
                }
                tried => best = tried,
            }
        }
        best
    }

    fn apply_limits(
        &mut self,
        text: &str,
        changes: &[ContextChange],
        locked: &BTreeSet<TaskId>,
        today: Date,
    ) {
        let mut effects = Vec::new();
        let mut context = self.outline.plan_context.clone();
        for change in changes {
            let before = context.clone();
            apply_context_change(&mut context, change);
            if !has_same_limits(&before, &context) {
                effects.push(self.describe_limit(change, today));
            }
        }
        if effects.is_empty() {
            let why = OpenReason::AlreadySo("that is how it is already".to_owned());
            self.open.push(describe_open(text, Some(&why)));
            return;
        }
        self.outline.plan_context = context;
        let moved = if changes.iter().any(ContextChange::limits_times) {
            edit::move_proposed_days(&mut self.outline, self.roadmap.as_mut(), locked)
        } else {
            Vec::new()
        };
        effects.extend(describe_moves(&moved, today));
        self.made.push(MadeChange {
            text: text.to_owned(),
            edits: Vec::new(),
            action: AdaptationAction::Reschedule,
            node_ids: moved.into_iter().map(|moved| moved.node).collect(),
            effect: effects.join("; "),
        });
    }

    /// What a change of the limits means; somebody without a task is told how to get one.
    fn describe_limit(&self, change: &ContextChange, today: Date) -> String {
        let words = change.describe(today);
        let ContextChange::Person { name, .. } = change else { return words };
        let nodes = self.roadmap.as_ref().map_or(&self.outline.nodes, |roadmap| &roadmap.nodes);
        let has_task = nodes
            .iter()
            .any(|node| node.other_owner().is_some_and(|owner| owner.eq_ignore_ascii_case(name)));
        if has_task {
            words
        } else {
            format!("{words}; no task is theirs yet, \"assign … to {name}\" gives them one")
        }
    }

    fn total_minutes(&self) -> Option<u32> {
        self.roadmap.as_ref().map(|roadmap| roadmap.node_tree().total_minutes(&roadmap.root_id))
    }
}

/// Which tasks went to other days, the first few by name.
fn describe_moves(moved: &[MovedDay], today: Date) -> Option<String> {
    let named = |moved: &MovedDay| {
        format!("\"{}\" moves to {}", moved.title, format_date(moved.to.day, today))
    };
    let words: Vec<String> = moved.iter().take(6).map(named).collect();
    let more = match moved.len().saturating_sub(words.len()) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!moved.is_empty()).then(|| format!("{}{more}", words.join("; ")))
}

/// What operations did: one sentence for a few, a summary for many.
fn describe_effect(edits: &[PlanEdit], edited: &EditedPlan) -> String {
    let estimates = edits.iter().all(|edit| matches!(edit, PlanEdit::SetEstimate { .. }));
    if estimates && edits.len() > 1 {
        return format!("re-estimated {}", format_counted(edited.node_ids.len(), "task"));
    }
    let reasons: Vec<&str> = edited.steps.iter().map(|step| step.reason.as_str()).collect();
    match reasons.len() {
        0..=4 => reasons.join("; "),
        count => format!("{}; and {} more", reasons[..3].join("; "), count - 3),
    }
}

fn describe_total(before: Option<u32>, after: Option<u32>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before != after => {
            let [before, after] = [before, after].map(|minutes| format_planned(minutes.into()));
            format!("; {after} of work instead of {before}")
        }
        _ => String::new(),
    }
}

/// Why operations were refused, without the code of a rule.
fn describe_edit_error(error: &EditError) -> OpenReason {
    match error {
        EditError::NothingChanges => OpenReason::AlreadySo("that is how it is already".to_owned()),
        EditError::BreaksRule { message, .. } => {
            OpenReason::because(format!("not possible: {}", message.trim_end_matches('.')))
        }
        other => OpenReason::because(format!("{other}; {}", other.hint())),
    }
}
