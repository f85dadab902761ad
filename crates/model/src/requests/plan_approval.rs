//! Whether a plan may run: a plan from a file or an edit, one that was drafted, and one that a change request left as it
//! was.

use super::draft_approval::{DraftEvidence, add_draft_evidence};
use super::new_request;
use crate::agent_conversation::ReportedOutcome;
use crate::request::RequestDetail;
use crate::{
    ApprovalTarget, Choice, ChoiceAction, Digest, GraphFacts, NormalizationChange, Request,
    RequestId, RequestKind,
};

/// The revision that is to be approved.
#[derive(Clone, Copy, Debug)]
pub struct ProposedPlan<'a> {
    pub hash: &'a Digest,
    pub revision: u32,
    pub facts: &'a GraphFacts,
    pub normalization: &'a [NormalizationChange],
}

/// Whether the plan may run.
pub fn final_plan_request(id: RequestId, plan: &ProposedPlan<'_>) -> Request {
    let missing =
        plan.normalization.iter().filter(|note| note.code == "dependency_missing").count();
    let why = match missing {
        0 => "Nothing runs before you approve it.".to_owned(),
        1 => {
            "Nothing runs before you approve it. 1 link to an unknown task was left out.".to_owned()
        }
        count => format!(
            "Nothing runs before you approve it. {count} links to unknown tasks were left out."
        ),
    };
    let starts = match plan.facts.root_tasks.len() {
        1 => "1 task starts now".to_owned(),
        count => format!("{count} tasks can start now"),
    };
    let kind = RequestKind::FinalPlan { hash: plan.hash.clone(), revision: plan.revision };
    let mut asked = new_request(id, kind, "Run this plan?", why);
    asked.choices = vec![
        Choice::new(ChoiceAction::ApproveAndRun, "approve and run", starts),
        Choice::new(
            ChoiceAction::ApproveAndStop,
            "approve and stop",
            "keeps the plan; start it later",
        ),
        Choice::new(
            ChoiceAction::ApproveFromTask,
            "approve and start at a task",
            "what comes before it is skipped",
        ),
        Choice::new(ChoiceAction::Abandon, "discard", "asks first, can be undone"),
    ];
    asked
}

/// What a revision may do that the approved one may not, so that the approval does not carry over.
pub fn widening_detail(approved_revision: u32, why: &[String]) -> RequestDetail {
    RequestDetail::new(
        "May do more",
        format!("{}; draft {approved_revision} is what you approved", why.join("; ")),
    )
}

/// Whether a plan that was drafted may run. `lateness_minutes` is working time after the deadline.
pub fn planned_request(
    id: RequestId,
    plan: &ProposedPlan<'_>,
    draft: &DraftEvidence<'_>,
    lateness_minutes: u32,
) -> Request {
    let mut asked = final_plan_request(id, plan);
    "Approve this plan?".clone_into(&mut asked.question);
    for choice in &mut asked.choices {
        if choice.action == ChoiceAction::ApproveAndRun {
            "approve".clone_into(&mut choice.label);
        }
    }
    asked.choices.retain(|choice| {
        matches!(
            choice.action,
            ChoiceAction::ApproveAndRun
                | ChoiceAction::ApproveAndStop
                | ChoiceAction::ApproveFromTask
        )
    });
    if draft.may_start_today {
        let choice = Choice::new(
            ChoiceAction::ApproveFromToday,
            "approve and start today",
            "the first task is planned for today",
        );
        asked.choices.insert(1, choice);
    }
    add_draft_evidence(&mut asked, ApprovalTarget::Final, draft);
    // What was asked for and not done comes before anything else.
    if !draft.open_changes.is_empty() {
        asked.why = format!("{} Left open: {}.", asked.why, draft.open_changes.join("; "));
    }
    if lateness_minutes > 0 {
        let late = "it ends after the deadline, accepted by you".to_owned();
        asked.details.insert(0, RequestDetail::new("Late", late));
    }
    asked
}

/// Whether a plan may run that a change request did not change: that comes first, and what was left open.
pub fn unchanged_plan_request(
    id: RequestId,
    plan: &ProposedPlan<'_>,
    draft: &DraftEvidence<'_>,
    lateness_minutes: u32,
) -> Request {
    let mut asked = planned_request(id, plan, draft, lateness_minutes);
    let same = "Nothing changed: the plan is as it was.".to_owned();
    let answered = draft.reports.iter().any(|report| report.outcome == ReportedOutcome::Answered);
    asked.why = match draft.open_changes {
        [] if answered => format!("Your question is answered. {same}"),
        [] => same,
        open => format!("{same} Left open: {}.", open.join("; ")),
    };
    asked
}
