//! The transition table. The first row that matches position, outcome and guard decides.

use super::outcome::ControllerOutcome::{self as O};
use super::transition_context::TransitionContext;
use planwright_model::{
    ApprovalTarget, Autonomy, PauseKind, PlanEffect as E, PlanState as S, PlanningPosition, Stage,
};

/// The positions that a row applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionSource {
    /// Every position that is not final.
    Any,
    /// Any state in which something is drafted.
    AnyDraft,
    At(S),
    /// `SEEK_APPROVAL` of a target, or the pause in which that approval is overdue.
    Seeking(ApprovalTarget),
    /// `SEEK_APPROVAL` of any target, or the pause in which it is overdue.
    AnySeeking,
    Paused(PauseKind),
}

/// The condition besides position and outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionGuard {
    Always,
    /// The policy requires approval of the target.
    Asks(ApprovalTarget),
    RetriesLeft(Stage),
    /// Retries of the stage that is being drafted are left.
    OwnRetriesLeft,
    ClarifyRoundsLeft,
    RevisionsLeft,
    EscalationsLeft,
    ContinuesLeft,
    AutonomyHigh,
    /// Autonomy is high and the policy still requires approval.
    HighAndAsks(ApprovalTarget),
    MayCollectAgain,
    MayRelax,
    /// A model was used, so the offline implementation has not been tried.
    OfflineUntried,
}

/// The target of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionTarget {
    To(S),
    Pause(PauseKind),
    Seek(ApprovalTarget),
    /// The pause in which the current approval is overdue.
    Overdue,
    /// The draft of the stage that the person's change request is about.
    Scope,
    /// The position where the pause started.
    Resume,
    Stay,
}

/// What a row changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionEffect {
    Do(E),
    RetryOwn,
    ClearRetriesOfScope,
    ClearApprovalsOfScope,
    ClearRetriesOfResume,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransitionRow {
    pub id: &'static str,
    pub from: TransitionSource,
    pub outcome: O,
    pub guard: TransitionGuard,
    pub to: TransitionTarget,
    pub effects: &'static [TransitionEffect],
    /// The stage to fix, if that is not the current one.
    pub blamed: Option<Stage>,
}

const fn transition_row(
    id: &'static str,
    from: TransitionSource,
    outcome: O,
    to: TransitionTarget,
) -> TransitionRow {
    TransitionRow {
        id,
        from,
        outcome,
        guard: TransitionGuard::Always,
        to,
        effects: &[],
        blamed: None,
    }
}

impl TransitionRow {
    const fn with_guard(self, guard: TransitionGuard) -> Self {
        Self { guard, ..self }
    }

    const fn with_effects(self, effects: &'static [TransitionEffect]) -> Self {
        Self { effects, ..self }
    }

    const fn with_blamed_stage(self, stage: Stage) -> Self {
        Self { blamed: Some(stage), ..self }
    }
}

use ApprovalTarget as T;
use PauseKind as P;
use Stage::{Outline, Roadmap, Schedule};
use TransitionEffect::{
    ClearApprovalsOfScope, ClearRetriesOfResume, ClearRetriesOfScope, Do, RetryOwn,
};
use TransitionGuard as G;
use TransitionSource::{Any, AnyDraft, AnySeeking, At, Paused, Seeking};
use TransitionTarget::{Overdue, Pause, Resume, Scope, Seek, Stay, To};

const NEW_SEGMENT: TransitionEffect = Do(E::NewSegment);
const REVISED: &[TransitionEffect] =
    &[NEW_SEGMENT, Do(E::Revision), ClearRetriesOfScope, ClearApprovalsOfScope];
const RESTATED: &[TransitionEffect] =
    &[NEW_SEGMENT, Do(E::ClearRetries(Outline)), Do(E::ClearApprovals(Outline))];
const FLAGGED: &[TransitionEffect] = &[Do(E::FlagLowConfidence)];

/// Every transition of the controller.
pub const ROWS: &[TransitionRow] = &[
    transition_row("any.cancel", Any, O::Cancel, To(S::Aborted)),
    // Collecting context.
    transition_row(
        "context.sufficient",
        At(S::CollectContext),
        O::SufficientContext,
        To(S::DraftOutline),
    ),
    transition_row(
        "context.ask",
        At(S::CollectContext),
        O::NeedsClarification,
        Pause(P::Questions),
    )
    .with_guard(G::ClarifyRoundsLeft)
    .with_effects(&[Do(E::ClarifyRound)]),
    transition_row(
        "context.asked_enough",
        At(S::CollectContext),
        O::NeedsClarification,
        To(S::DraftOutline),
    ),
    transition_row(
        "context.assumed",
        At(S::CollectContext),
        O::AssumedContext,
        To(S::DraftOutline),
    ),
    transition_row("context.kind", At(S::CollectContext), O::KindUnknown, Pause(P::Questions))
        .with_effects(&[Do(E::ClarifyRound)]),
    transition_row("context.no_goal", At(S::CollectContext), O::GoalMissing, Pause(P::Goal)),
    transition_row("context.fatal", At(S::CollectContext), O::FatalError, To(S::Aborted)),
    transition_row(
        "context.model_unavailable",
        At(S::CollectContext),
        O::ModelUnavailable,
        Pause(P::Model),
    ),
    transition_row("context.output", At(S::CollectContext), O::InvalidOutput, Pause(P::Model)),
    transition_row("context.tool_error", At(S::CollectContext), O::ToolError, Pause(P::Model)),
    transition_row("context.wall_time", At(S::CollectContext), O::WallTime, Pause(P::Cap)),
    transition_row("context.budget", At(S::CollectContext), O::Budget, Pause(P::Budget)),
    // The outline.
    transition_row("outline.drafted", At(S::DraftOutline), O::Success, To(S::ValidateOutline)),
    transition_row("outline.rfc", At(S::DraftOutline), O::RfcPending, Pause(P::Rfc)),
    transition_row("outline.pattern", At(S::DraftOutline), O::PatternChosen, Seek(T::Pattern)),
    transition_row(
        "outline.collect_again",
        At(S::DraftOutline),
        O::LowConfidence,
        To(S::CollectContext),
    )
    .with_guard(G::MayCollectAgain)
    .with_effects(&[Do(E::CollectAgain)]),
    transition_row(
        "outline.unsure",
        At(S::DraftOutline),
        O::LowConfidence,
        Pause(P::LowConfidence),
    ),
    transition_row("outline.valid_asks", At(S::ValidateOutline), O::Valid, Seek(T::Outline))
        .with_guard(G::Asks(T::Outline)),
    transition_row("outline.valid", At(S::ValidateOutline), O::Valid, To(S::DraftRoadmap)),
    transition_row(
        "outline.retry",
        At(S::ValidateOutline),
        O::InvalidRetryable,
        To(S::DraftOutline),
    )
    .with_guard(G::RetriesLeft(Outline))
    .with_effects(&[Do(E::Retry(Outline))]),
    transition_row(
        "outline.retries_spent",
        At(S::ValidateOutline),
        O::InvalidRetryable,
        Pause(P::Validation),
    ),
    transition_row("outline.fatal", At(S::ValidateOutline), O::InvalidFatal, Pause(P::Validation)),
    transition_row(
        "outline.too_unsure",
        At(S::ValidateOutline),
        O::TooUnsure,
        Pause(P::Validation),
    ),
    transition_row("outline.unsure_retry", At(S::ValidateOutline), O::Unsure, To(S::DraftOutline))
        .with_guard(G::RetriesLeft(Outline))
        .with_effects(&[Do(E::Retry(Outline))]),
    transition_row("outline.unsure_asks", At(S::ValidateOutline), O::Unsure, Seek(T::Outline))
        .with_guard(G::HighAndAsks(T::Outline))
        .with_effects(FLAGGED),
    transition_row("outline.unsure_high", At(S::ValidateOutline), O::Unsure, To(S::DraftRoadmap))
        .with_guard(G::AutonomyHigh)
        .with_effects(FLAGGED),
    transition_row(
        "outline.unsure_spent",
        At(S::ValidateOutline),
        O::Unsure,
        Pause(P::LowConfidence),
    ),
    // The roadmap.
    transition_row("roadmap.drafted", At(S::DraftRoadmap), O::Success, To(S::ValidateRoadmap)),
    transition_row(
        "roadmap.no_outline",
        At(S::DraftRoadmap),
        O::MissingPrerequisite,
        To(S::DraftOutline),
    ),
    transition_row("roadmap.low_retry", At(S::DraftRoadmap), O::LowConfidence, To(S::DraftRoadmap))
        .with_guard(G::OwnRetriesLeft)
        .with_effects(&[RetryOwn]),
    transition_row(
        "roadmap.low_spent",
        At(S::DraftRoadmap),
        O::LowConfidence,
        Pause(P::LowConfidence),
    ),
    transition_row("roadmap.valid_asks", At(S::ValidateRoadmap), O::Valid, Seek(T::Roadmap))
        .with_guard(G::Asks(T::Roadmap)),
    transition_row("roadmap.valid", At(S::ValidateRoadmap), O::Valid, To(S::DraftSchedule)),
    transition_row(
        "roadmap.retry",
        At(S::ValidateRoadmap),
        O::InvalidRetryable,
        To(S::DraftRoadmap),
    )
    .with_guard(G::RetriesLeft(Roadmap))
    .with_effects(&[Do(E::Retry(Roadmap))]),
    transition_row(
        "roadmap.retries_spent",
        At(S::ValidateRoadmap),
        O::InvalidRetryable,
        Pause(P::Validation),
    ),
    transition_row(
        "roadmap.upstream",
        At(S::ValidateRoadmap),
        O::InvalidOutlineUpstream,
        To(S::DraftOutline),
    )
    .with_guard(G::RetriesLeft(Outline))
    .with_effects(&[Do(E::Retry(Outline))]),
    transition_row(
        "roadmap.upstream_spent",
        At(S::ValidateRoadmap),
        O::InvalidOutlineUpstream,
        Pause(P::Validation),
    )
    .with_blamed_stage(Outline),
    transition_row("roadmap.fatal", At(S::ValidateRoadmap), O::InvalidFatal, Pause(P::Validation)),
    transition_row(
        "roadmap.too_unsure",
        At(S::ValidateRoadmap),
        O::TooUnsure,
        Pause(P::Validation),
    ),
    transition_row("roadmap.unsure_retry", At(S::ValidateRoadmap), O::Unsure, To(S::DraftRoadmap))
        .with_guard(G::RetriesLeft(Roadmap))
        .with_effects(&[Do(E::Retry(Roadmap))]),
    transition_row("roadmap.unsure_asks", At(S::ValidateRoadmap), O::Unsure, Seek(T::Roadmap))
        .with_guard(G::HighAndAsks(T::Roadmap))
        .with_effects(FLAGGED),
    transition_row("roadmap.unsure_high", At(S::ValidateRoadmap), O::Unsure, To(S::DraftSchedule))
        .with_guard(G::AutonomyHigh)
        .with_effects(FLAGGED),
    transition_row(
        "roadmap.unsure_spent",
        At(S::ValidateRoadmap),
        O::Unsure,
        Pause(P::LowConfidence),
    ),
    // The schedule.
    transition_row("schedule.drafted", At(S::DraftSchedule), O::Success, To(S::ValidateSchedule)),
    transition_row(
        "schedule.no_roadmap",
        At(S::DraftSchedule),
        O::MissingPrerequisite,
        To(S::DraftRoadmap),
    ),
    transition_row(
        "schedule.low_retry",
        At(S::DraftSchedule),
        O::LowConfidence,
        To(S::DraftSchedule),
    )
    .with_guard(G::OwnRetriesLeft)
    .with_effects(&[RetryOwn]),
    transition_row(
        "schedule.low_spent",
        At(S::DraftSchedule),
        O::LowConfidence,
        Pause(P::LowConfidence),
    ),
    transition_row("schedule.valid", At(S::ValidateSchedule), O::Valid, Seek(T::Final)),
    transition_row(
        "schedule.retry",
        At(S::ValidateSchedule),
        O::InvalidRetryable,
        To(S::DraftSchedule),
    )
    .with_guard(G::RetriesLeft(Schedule))
    .with_effects(&[Do(E::Retry(Schedule))]),
    transition_row(
        "schedule.retries_spent",
        At(S::ValidateSchedule),
        O::InvalidRetryable,
        Pause(P::Validation),
    ),
    transition_row(
        "schedule.upstream",
        At(S::ValidateSchedule),
        O::InvalidRoadmapUpstream,
        To(S::DraftRoadmap),
    )
    .with_guard(G::RetriesLeft(Roadmap))
    .with_effects(&[Do(E::Retry(Roadmap))]),
    transition_row(
        "schedule.upstream_spent",
        At(S::ValidateSchedule),
        O::InvalidRoadmapUpstream,
        Pause(P::Validation),
    )
    .with_blamed_stage(Roadmap),
    transition_row(
        "schedule.far_upstream",
        At(S::ValidateSchedule),
        O::InvalidOutlineUpstream,
        To(S::DraftOutline),
    )
    .with_guard(G::RetriesLeft(Outline))
    .with_effects(&[Do(E::Retry(Outline))]),
    transition_row(
        "schedule.far_upstream_spent",
        At(S::ValidateSchedule),
        O::InvalidOutlineUpstream,
        Pause(P::Validation),
    )
    .with_blamed_stage(Outline),
    transition_row(
        "schedule.fatal",
        At(S::ValidateSchedule),
        O::InvalidFatal,
        Pause(P::Validation),
    ),
    transition_row(
        "schedule.too_unsure",
        At(S::ValidateSchedule),
        O::TooUnsure,
        Pause(P::Validation),
    ),
    transition_row(
        "schedule.unsure_retry",
        At(S::ValidateSchedule),
        O::Unsure,
        To(S::DraftSchedule),
    )
    .with_guard(G::RetriesLeft(Schedule))
    .with_effects(&[Do(E::Retry(Schedule))]),
    transition_row("schedule.unsure_high", At(S::ValidateSchedule), O::Unsure, Seek(T::Final))
        .with_guard(G::AutonomyHigh)
        .with_effects(FLAGGED),
    transition_row(
        "schedule.unsure_spent",
        At(S::ValidateSchedule),
        O::Unsure,
        Pause(P::LowConfidence),
    ),
    transition_row("schedule.relax", At(S::ValidateSchedule), O::Infeasible, To(S::DraftSchedule))
        .with_guard(G::MayRelax)
        .with_effects(&[Do(E::AutoRelax)]),
    transition_row(
        "schedule.infeasible",
        At(S::ValidateSchedule),
        O::Infeasible,
        To(S::NeedsSchedEscalation),
    ),
    // A question that came up while drafting.
    transition_row("draft.question", AnyDraft, O::NeedsClarification, Pause(P::Questions))
        .with_guard(G::ClarifyRoundsLeft)
        .with_effects(&[Do(E::ClarifyRound)]),
    // Errors while drafting.
    transition_row("draft.tool_retry", AnyDraft, O::ToolError, Stay)
        .with_guard(G::OwnRetriesLeft)
        .with_effects(&[RetryOwn]),
    // Planning without the requested model is the person's decision.
    transition_row("draft.tool_model", AnyDraft, O::ToolError, Pause(P::Model))
        .with_guard(G::OfflineUntried),
    transition_row("draft.tool_failed", AnyDraft, O::ToolError, To(S::Aborted)),
    transition_row("draft.output_retry", AnyDraft, O::InvalidOutput, Stay)
        .with_guard(G::OwnRetriesLeft)
        .with_effects(&[RetryOwn]),
    transition_row("draft.output_model", AnyDraft, O::InvalidOutput, Pause(P::Model))
        .with_guard(G::OfflineUntried),
    transition_row("draft.output_spent", AnyDraft, O::InvalidOutput, Pause(P::Validation)),
    transition_row("draft.model_unavailable", AnyDraft, O::ModelUnavailable, Pause(P::Model)),
    transition_row("draft.fatal", AnyDraft, O::FatalError, To(S::Aborted)),
    transition_row("draft.wall_time", AnyDraft, O::WallTime, Pause(P::Cap)),
    transition_row("draft.budget", AnyDraft, O::Budget, Pause(P::Budget)),
    // Approvals, in time or overdue.
    transition_row("approve.pattern", Seeking(T::Pattern), O::Approved, To(S::DraftOutline))
        .with_effects(&[NEW_SEGMENT, Do(E::Approve(T::Pattern))]),
    transition_row("approve.outline", Seeking(T::Outline), O::Approved, To(S::DraftRoadmap))
        .with_effects(&[NEW_SEGMENT, Do(E::Approve(T::Outline))]),
    transition_row("approve.roadmap", Seeking(T::Roadmap), O::Approved, To(S::DraftSchedule))
        .with_effects(&[NEW_SEGMENT, Do(E::Approve(T::Roadmap))]),
    transition_row("approve.final", Seeking(T::Final), O::Approved, To(S::Complete))
        .with_effects(&[NEW_SEGMENT, Do(E::Approve(T::Final))]),
    transition_row("approve.revise", AnySeeking, O::Revise, Scope)
        .with_guard(G::RevisionsLeft)
        .with_effects(REVISED),
    transition_row("approve.revised_enough", AnySeeking, O::Revise, Pause(P::Cap)),
    transition_row("approve.rejected", AnySeeking, O::Rejected, Scope)
        .with_guard(G::RevisionsLeft)
        .with_effects(REVISED),
    transition_row("approve.rejected_enough", AnySeeking, O::Rejected, Pause(P::Cap)),
    transition_row("approve.option", AnySeeking, O::OptionPicked, To(S::DraftRoadmap))
        .with_effects(&[NEW_SEGMENT, Do(E::ClearRetries(Roadmap)), Do(E::ClearApprovals(Roadmap))]),
    transition_row("edit.pattern", Seeking(T::Pattern), O::Edited, To(S::DraftOutline))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("edit.outline", Seeking(T::Outline), O::Edited, To(S::ValidateOutline))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("edit.roadmap", Seeking(T::Roadmap), O::Edited, To(S::ValidateRoadmap))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("edit.final", Seeking(T::Final), O::Edited, To(S::ValidateRoadmap))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("edit.mended", Paused(P::Validation), O::Edited, To(S::ValidateOutline))
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume]),
    transition_row("edit.surer", Paused(P::LowConfidence), O::Edited, To(S::ValidateOutline))
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume]),
    transition_row("edit.past_model", Paused(P::Model), O::Edited, To(S::ValidateOutline))
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume]),
    transition_row("edit.past_cap", Paused(P::Cap), O::Edited, To(S::ValidateOutline))
        .with_effects(&[NEW_SEGMENT]),
    transition_row(
        "edit.escalated",
        At(S::NeedsSchedEscalation),
        O::Edited,
        To(S::ValidateRoadmap),
    )
    .with_effects(&[NEW_SEGMENT]),
    transition_row("edit.complete", At(S::Complete), O::Edited, To(S::ValidateRoadmap))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("facts.seeking", AnySeeking, O::Restated, To(S::CollectContext))
        .with_effects(RESTATED),
    transition_row("facts.complete", At(S::Complete), O::Restated, To(S::CollectContext))
        .with_effects(RESTATED),
    transition_row(
        "facts.escalated",
        At(S::NeedsSchedEscalation),
        O::Restated,
        To(S::CollectContext),
    )
    .with_effects(RESTATED),
    transition_row("facts.questions", Paused(P::Questions), O::Restated, To(S::CollectContext))
        .with_effects(RESTATED),
    transition_row("facts.invalid", Paused(P::Validation), O::Restated, To(S::CollectContext))
        .with_effects(RESTATED),
    transition_row("facts.unsure", Paused(P::LowConfidence), O::Restated, To(S::CollectContext))
        .with_effects(RESTATED),
    transition_row("approve.nobody", AnySeeking, O::NoResponse, Overdue),
    // Pauses.
    transition_row("questions.answered", Paused(P::Questions), O::Answered, Resume)
        .with_effects(&[NEW_SEGMENT]),
    transition_row("questions.skipped", Paused(P::Questions), O::Skipped, Resume)
        .with_effects(&[NEW_SEGMENT]),
    transition_row("goal.answered", Paused(P::Goal), O::Answered, To(S::CollectContext))
        .with_effects(&[NEW_SEGMENT]),
    transition_row(
        "low_confidence.answered",
        Paused(P::LowConfidence),
        O::Answered,
        To(S::CollectContext),
    )
    .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume]),
    transition_row("low_confidence.offline", Paused(P::LowConfidence), O::GoOffline, Resume)
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume, Do(E::Offline)]),
    transition_row("rfc.approved", Paused(P::Rfc), O::RfcApproved, To(S::DraftOutline))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("rfc.declined", Paused(P::Rfc), O::RfcDeclined, To(S::DraftOutline))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("rfc.changed", Paused(P::Rfc), O::RfcChanged, To(S::DraftOutline))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("validation.answered", Paused(P::Validation), O::Answered, Resume)
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume]),
    transition_row("validation.offline", Paused(P::Validation), O::GoOffline, Resume)
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume, Do(E::Offline)]),
    transition_row("cap.continue", Paused(P::Cap), O::Continue, Resume)
        .with_guard(G::ContinuesLeft)
        .with_effects(&[NEW_SEGMENT, Do(E::Continue)]),
    transition_row("cap.continued_enough", Paused(P::Cap), O::Continue, Stay),
    transition_row("cap.go_on", Paused(P::Cap), O::ContinuePastLimit, Resume)
        .with_effects(&[NEW_SEGMENT, Do(E::ResetLimits)]),
    transition_row("cap.stop", Paused(P::Cap), O::Stop, To(S::Aborted)),
    transition_row("budget.once", Paused(P::Budget), O::RaiseOnce, Resume)
        .with_effects(&[NEW_SEGMENT, Do(E::Continue)]),
    transition_row("budget.session", Paused(P::Budget), O::RaiseForSession, Resume)
        .with_effects(&[NEW_SEGMENT, Do(E::Continue)]),
    transition_row("budget.offline", Paused(P::Budget), O::GoOffline, Resume).with_effects(&[
        NEW_SEGMENT,
        Do(E::Continue),
        Do(E::Offline),
    ]),
    transition_row("budget.stop", Paused(P::Budget), O::Stop, To(S::Aborted)),
    transition_row("model.retry", Paused(P::Model), O::Answered, Resume)
        .with_effects(&[NEW_SEGMENT, ClearRetriesOfResume]),
    transition_row("model.offline", Paused(P::Model), O::GoOffline, Resume).with_effects(&[
        NEW_SEGMENT,
        ClearRetriesOfResume,
        Do(E::Offline),
    ]),
    transition_row("model.stop", Paused(P::Model), O::Stop, To(S::Aborted)),
    transition_row("pause.unparsed", At(S::NeedsClarification), O::Unparsed, Stay)
        .with_effects(&[Do(E::Unparsed)]),
    // A schedule that does not fit.
    transition_row(
        "escalation.structure",
        At(S::NeedsSchedEscalation),
        O::UseStructuralRelaxation,
        To(S::DraftRoadmap),
    )
    .with_guard(G::EscalationsLeft)
    .with_effects(&[NEW_SEGMENT, Do(E::Escalation)]),
    transition_row(
        "escalation.use",
        At(S::NeedsSchedEscalation),
        O::UseRelaxation,
        To(S::DraftSchedule),
    )
    .with_guard(G::EscalationsLeft)
    .with_effects(&[NEW_SEGMENT, Do(E::Escalation)]),
    transition_row(
        "escalation.structure_enough",
        At(S::NeedsSchedEscalation),
        O::UseStructuralRelaxation,
        Pause(P::Cap),
    ),
    transition_row(
        "escalation.enough",
        At(S::NeedsSchedEscalation),
        O::UseRelaxation,
        Pause(P::Cap),
    ),
    transition_row("escalation.late", At(S::NeedsSchedEscalation), O::AcceptLate, Seek(T::Final))
        .with_effects(&[NEW_SEGMENT]),
    transition_row("escalation.revise", At(S::NeedsSchedEscalation), O::Revise, Scope)
        .with_guard(G::RevisionsLeft)
        .with_effects(REVISED),
    transition_row(
        "escalation.revised_enough",
        At(S::NeedsSchedEscalation),
        O::Revise,
        Pause(P::Cap),
    ),
    transition_row("escalation.stop", At(S::NeedsSchedEscalation), O::Stop, To(S::Aborted)),
    transition_row("escalation.unparsed", At(S::NeedsSchedEscalation), O::Unparsed, Stay)
        .with_effects(&[Do(E::Unparsed)]),
    // After the end.
    transition_row("complete.change", At(S::Complete), O::Revise, Scope).with_effects(&[
        NEW_SEGMENT,
        ClearRetriesOfScope,
        ClearApprovalsOfScope,
        Do(E::ResetLimits),
    ]),
];

impl TransitionSource {
    pub fn covers(self, place: PlanningPosition) -> bool {
        let seeks = |target: T| {
            let overdue = place.state == S::NeedsClarification && place.pause == Some(P::Approval);
            (place.state == S::SeekApproval || overdue) && place.target == Some(target)
        };
        match self {
            Any => !matches!(place.state, S::Complete | S::Aborted),
            AnyDraft => place.state.drafted_stage().is_some(),
            At(state) => place.state == state,
            Seeking(target) => seeks(target),
            AnySeeking => T::ALL.into_iter().any(seeks),
            Paused(pause) => place.state == S::NeedsClarification && place.pause == Some(pause),
        }
    }
}

impl TransitionGuard {
    pub fn is_satisfied(self, view: &TransitionContext<'_>) -> bool {
        let (counters, limits) = (view.counters, view.limits);
        let high = view.policy.autonomy == Autonomy::High;
        match self {
            G::Always => true,
            G::Asks(target) => view.requires_approval(target),
            G::RetriesLeft(stage) => view.has_retries_left(stage),
            G::OwnRetriesLeft => {
                view.place.state.stage().is_some_and(|stage| view.has_retries_left(stage))
            }
            G::ClarifyRoundsLeft => counters.clarify_rounds < limits.clarify_round_limit,
            // Drafts of the built-in planner cost nothing, so nothing limits them.
            G::RevisionsLeft => view.offline || counters.revisions < limits.revision_limit,
            G::EscalationsLeft => {
                view.offline || counters.escalations < limits.escalation_round_limit
            }
            G::ContinuesLeft => counters.continues < limits.continue_limit,
            G::AutonomyHigh => high,
            G::HighAndAsks(target) => high && view.requires_approval(target),
            G::MayCollectAgain => view.may_ask && !counters.collected_again,
            G::MayRelax => high && view.may_relax && counters.auto_relaxed < 1,
            G::OfflineUntried => !view.offline,
        }
    }
}

impl TransitionRow {
    pub(super) fn is_applicable(&self, view: &TransitionContext<'_>, outcome: O) -> bool {
        self.outcome == outcome && self.from.covers(view.place) && self.guard.is_satisfied(view)
    }

    pub(super) fn resolve_target(&self, view: &TransitionContext<'_>) -> PlanningPosition {
        match self.to {
            To(state) => PlanningPosition::from_state(state),
            Pause(pause) => PlanningPosition::paused_for(pause),
            Seek(target) => PlanningPosition::seeking_approval(target),
            Overdue => PlanningPosition {
                target: view.place.target,
                ..PlanningPosition::paused_for(P::Approval)
            },
            Scope => PlanningPosition::from_state(view.scope.unwrap_or(Outline).draft_state()),
            Resume => view.resume.unwrap_or(PlanningPosition::from_state(S::DraftOutline)),
            Stay => view.place,
        }
    }
}

impl TransitionEffect {
    pub(super) fn resolve(self, view: &TransitionContext<'_>) -> E {
        let scope = view.scope.unwrap_or(Outline);
        let resumed = view.resume.and_then(|place| place.state.stage()).unwrap_or(Outline);
        match self {
            Do(effect) => effect,
            RetryOwn => E::Retry(view.place.state.stage().unwrap_or(Outline)),
            ClearRetriesOfScope => E::ClearRetries(scope),
            ClearApprovalsOfScope => E::ClearApprovals(scope),
            ClearRetriesOfResume => E::ClearRetries(resumed),
        }
    }
}
