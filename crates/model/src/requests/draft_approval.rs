//! Whether a pattern, an outline or a roadmap is right, and the evidence that all drafts show.

use planwright_text::units::{format_counted, format_planned};

use super::kind_choice::kind_choices;
use super::planning_trouble::{confidence_detail, format_findings};
use super::{abandon_choice, idea_details, ideas_choice, new_request};
use crate::agent_conversation::{ReportedOutcome, RequestReport};
use crate::request::RequestDetail;
use crate::{
    ApprovalTarget, Assumption, AssumptionOrigin, Choice, ChoiceAction, PatternChoice, Request,
    RequestId, RequestKind, RoadmapOption, StageAssessment,
};

/// Below this the second-best pattern is shown too.
const SURE_OF_PATTERN: f64 = 0.70;

/// What is known about a draft when the person is asked about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DraftEvidence<'a> {
    pub pattern: Option<&'a PatternChoice>,
    /// Of the stage that made the draft.
    pub assessment: Option<&'a StageAssessment>,
    /// Low confidence was let pass under high autonomy.
    pub low_confidence: bool,
    /// Change requests that no draft could read.
    pub open_changes: &'a [String],
    /// What became of the change requests that a model took up.
    pub reports: &'a [RequestReport],
    pub assumptions: &'a [Assumption],
    /// The options of the roadmap, if there is one.
    pub options: &'a [RoadmapOption],
    /// Ideas that were offered.
    pub ideas: &'a [String],
    /// The schedule begins later than today and could begin today.
    pub may_start_today: bool,
    /// The person writes the steps, and none is written yet.
    pub lacks_steps: bool,
}

/// Whether a draft is right. `version` is the outline's.
pub fn draft_request(
    id: RequestId,
    target: ApprovalTarget,
    version: u32,
    draft: &DraftEvidence<'_>,
) -> Request {
    let (question, why) = match target {
        ApprovalTarget::Pattern => ("Is this the right kind of plan?", "The outline follows it."),
        ApprovalTarget::Outline => ("Is this the right outline?", "Estimates and dates come next."),
        ApprovalTarget::Roadmap => ("Are these estimates right?", "Dates come next."),
        ApprovalTarget::Final => ("Approve this plan?", "Nothing runs before you approve it."),
    };
    let (question, why) = if draft.lacks_steps {
        (
            "Which steps does it take?",
            "No kind of plan fits, so the steps are yours. Add them in order; they get dates when you approve.",
        )
    } else {
        (question, why)
    };
    let mut asked = new_request(id, RequestKind::Draft { target, version }, question, why);
    asked.choices.push(Choice::new(
        ChoiceAction::Approve,
        "approve",
        match target {
            ApprovalTarget::Pattern => "the outline is drafted next",
            ApprovalTarget::Outline => "tasks are estimated and linked next",
            ApprovalTarget::Roadmap | ApprovalTarget::Final => "dates are set next",
        },
    ));
    if draft.lacks_steps {
        for approve in &mut asked.choices {
            approve.unavailable = Some("write at least one step first".to_owned());
        }
    }
    add_draft_evidence(&mut asked, target, draft);
    if matches!(target, ApprovalTarget::Pattern | ApprovalTarget::Outline) {
        asked.details.extend(idea_details(draft.ideas));
        asked.choices.push(ideas_choice());
    }
    asked
}

/// Details and choices that all drafts share.
pub(super) fn add_draft_evidence(
    asked: &mut Request,
    target: ApprovalTarget,
    draft: &DraftEvidence<'_>,
) {
    asked.details.extend(draft.pattern.into_iter().flat_map(pattern_details));
    asked.details.extend(confidence_detail(draft.assessment));
    if draft.low_confidence {
        asked
            .details
            .push(RequestDetail::new("Note", "it continued with guesses, as your policy allows"));
    }
    for finding in format_findings(draft.assessment) {
        asked.details.push(RequestDetail::new("Note", finding));
    }
    for report in draft.reports {
        let label = match report.outcome {
            ReportedOutcome::Answered => "Answer",
            _ => "Your request",
        };
        asked.details.push(RequestDetail::new(label, report.describe()));
    }
    for change in draft.open_changes {
        let text = format!("\"{change}\": not understood; edit the plan, or set up a model");
        asked.details.push(RequestDetail::new("Left open", text));
    }
    for assumed in draft.assumptions {
        if assumed.origin != AssumptionOrigin::User {
            asked.details.push(RequestDetail::new("Assumed", assumed.describe_kept()));
        }
    }
    if target == ApprovalTarget::Pattern {
        asked.choices.extend(kind_choices(draft.pattern));
    }
    asked.choices.push(Choice::new(
        ChoiceAction::RequestChanges,
        "request changes",
        match target {
            ApprovalTarget::Pattern => "say what kind of plan it is",
            _ => "say what should be different; marked rows limit it",
        },
    ));
    if matches!(target, ApprovalTarget::Roadmap | ApprovalTarget::Final) {
        asked.choices.extend(option_choices(draft.options));
    }
    if target != ApprovalTarget::Pattern {
        asked.choices.push(Choice::new(ChoiceAction::Edit, "edit", "change it in place"));
    }
    asked.choices.push(Choice::new(
        ChoiceAction::Reject,
        "draft it differently",
        "another draft is made",
    ));
    asked.choices.push(abandon_choice());
}

fn pattern_details(choice: &PatternChoice) -> Vec<RequestDetail> {
    // A proposal is named by itself, not by the kind whose steps it uses.
    let kind = match choice.pattern.proposed_name() {
        Some(name) => format!("{}, a new kind", name.replace('_', " ")),
        None => choice.pattern.kind_noun(),
    };
    let mut details = vec![RequestDetail::new("Kind", kind)];
    if choice.confidence < SURE_OF_PATTERN
        && let Some(second) = &choice.second
    {
        details.push(RequestDetail::new("Or", second.kind_noun()));
    }
    details
}

/// The options that were not chosen, each compared with the one that is shown.
fn option_choices(options: &[RoadmapOption]) -> Vec<Choice> {
    let shown = options.iter().find(|option| option.chosen).or(options.first());
    let Some(shown) = shown else { return Vec::new() };
    (1u8..)
        .zip(options)
        .filter(|(_, option)| !option.chosen)
        .map(|(number, option)| {
            Choice::new(
                ChoiceAction::PickOption(number),
                &format!("{} option", option.label.to_lowercase()),
                describe_option_difference(option, shown),
            )
        })
        .collect()
}

/// How an option differs from another in one line: tasks, effort, span, risk.
pub fn describe_option_difference(option: &RoadmapOption, other: &RoadmapOption) -> String {
    let effort = i64::from(option.effort_minutes) - i64::from(other.effort_minutes);
    let effort = match effort {
        0 => "the same effort".to_owned(),
        more if more > 0 => format!("{} more", format_planned(more.unsigned_abs())),
        less => format!("{} less", format_planned(less.unsigned_abs())),
    };
    let span = match i32::from(option.span_weeks) - i32::from(other.span_weeks) {
        0 => "the same span".to_owned(),
        more if more > 0 => {
            format!("{} longer", format_counted(more.unsigned_abs() as usize, "week"))
        }
        less => format!("{} shorter", format_counted(less.unsigned_abs() as usize, "week")),
    };
    let risk = if option.risk == other.risk {
        "the same risk".to_owned()
    } else {
        format!("{} risk instead of {}", option.risk.as_str(), other.risk.as_str())
    };
    let tasks = if option.tasks.is_empty() { String::new() } else { format!("{}; ", option.tasks) };
    format!("{tasks}{effort}, {span}, {risk}")
}
