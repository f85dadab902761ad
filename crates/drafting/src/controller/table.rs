//! The table itself. The first row that matches place, outcome and guard decides.

use super::outcome::Outcome::{self as O};
use super::view::View;
use planwright_model::{
    ApprovalTarget, Autonomy, PauseKind, Place, PlanEffect as E, PlanState as S, Stage,
};

/// Which places a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Every place that is not an end.
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

/// What must hold beside place and outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    Always,
    /// The policy asks for approval of the target.
    Asks(ApprovalTarget),
    RetriesLeft(Stage),
    /// Retries of the stage that is being drafted are left.
    OwnRetriesLeft,
    ClarifyRoundsLeft,
    RevisionsLeft,
    EscalationsLeft,
    ContinuesLeft,
    AutonomyHigh,
    /// Autonomy is high and the policy still asks.
    HighAndAsks(ApprovalTarget),
    MayCollectAgain,
    MayRelax,
    /// A model was at work, so that the offline implementation has not been tried.
    OfflineUntried,
}

/// Where a row leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    To(S),
    Pause(PauseKind),
    Seek(ApprovalTarget),
    /// The pause in which the present approval is overdue.
    Overdue,
    /// The draft of the stage that the person's wish is about.
    Scope,
    /// Where the pause came from.
    Resume,
    Stay,
}

/// What a row changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEffect {
    Do(E),
    RetryOwn,
    ClearRetriesOfScope,
    ClearApprovalsOfScope,
    ClearRetriesOfResume,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub id: &'static str,
    pub from: Source,
    pub outcome: O,
    pub guard: Guard,
    pub to: Target,
    pub effects: &'static [RowEffect],
    /// The stage to mend, where that is not the present one.
    pub blamed: Option<Stage>,
}

const fn row(id: &'static str, from: Source, outcome: O, to: Target) -> Row {
    Row { id, from, outcome, guard: Guard::Always, to, effects: &[], blamed: None }
}

impl Row {
    const fn when(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    const fn with(self, effects: &'static [RowEffect]) -> Self {
        Self { effects, ..self }
    }

    const fn blaming(self, stage: Stage) -> Self {
        Self { blamed: Some(stage), ..self }
    }
}

use ApprovalTarget as T;
use Guard as G;
use PauseKind as P;
use RowEffect::{ClearApprovalsOfScope, ClearRetriesOfResume, ClearRetriesOfScope, Do, RetryOwn};
use Source::{Any, AnyDraft, AnySeeking, At, Paused, Seeking};
use Stage::{Outline, Roadmap, Schedule};
use Target::{Overdue, Pause, Resume, Scope, Seek, Stay, To};

const ANEW: RowEffect = Do(E::NewSegment);
const REVISED: &[RowEffect] = &[ANEW, Do(E::Revision), ClearRetriesOfScope, ClearApprovalsOfScope];
const FLAGGED: &[RowEffect] = &[Do(E::FlagLowConfidence)];

/// Every transition of the controller.
pub const ROWS: &[Row] = &[
    row("any.cancel", Any, O::Cancel, To(S::Aborted)),
    // Collecting context.
    row("context.sufficient", At(S::CollectContext), O::SufficientContext, To(S::DraftOutline)),
    row("context.ask", At(S::CollectContext), O::NeedsClarification, Pause(P::Questions))
        .when(G::ClarifyRoundsLeft)
        .with(&[Do(E::ClarifyRound)]),
    row("context.asked_enough", At(S::CollectContext), O::NeedsClarification, To(S::DraftOutline)),
    row("context.assumed", At(S::CollectContext), O::AssumedContext, To(S::DraftOutline)),
    row("context.no_goal", At(S::CollectContext), O::GoalMissing, Pause(P::Goal)),
    row("context.fatal", At(S::CollectContext), O::FatalError, To(S::Aborted)),
    row("context.budget", At(S::CollectContext), O::Budget, Pause(P::Budget)),
    // The outline.
    row("outline.drafted", At(S::DraftOutline), O::Success, To(S::ValidateOutline)),
    row("outline.rfc", At(S::DraftOutline), O::RfcPending, Pause(P::Rfc)),
    row("outline.pattern", At(S::DraftOutline), O::PatternChosen, Seek(T::Pattern)),
    row("outline.collect_again", At(S::DraftOutline), O::LowConfidence, To(S::CollectContext))
        .when(G::MayCollectAgain)
        .with(&[Do(E::CollectAgain)]),
    row("outline.unsure", At(S::DraftOutline), O::LowConfidence, Pause(P::LowConfidence)),
    row("outline.valid_asks", At(S::ValidateOutline), O::Valid, Seek(T::Outline))
        .when(G::Asks(T::Outline)),
    row("outline.valid", At(S::ValidateOutline), O::Valid, To(S::DraftRoadmap)),
    row("outline.retry", At(S::ValidateOutline), O::InvalidRetryable, To(S::DraftOutline))
        .when(G::RetriesLeft(Outline))
        .with(&[Do(E::Retry(Outline))]),
    row("outline.retries_spent", At(S::ValidateOutline), O::InvalidRetryable, Pause(P::Validation)),
    row("outline.fatal", At(S::ValidateOutline), O::InvalidFatal, Pause(P::Validation)),
    row("outline.too_unsure", At(S::ValidateOutline), O::TooUnsure, Pause(P::Validation)),
    row("outline.unsure_retry", At(S::ValidateOutline), O::Unsure, To(S::DraftOutline))
        .when(G::RetriesLeft(Outline))
        .with(&[Do(E::Retry(Outline))]),
    row("outline.unsure_asks", At(S::ValidateOutline), O::Unsure, Seek(T::Outline))
        .when(G::HighAndAsks(T::Outline))
        .with(FLAGGED),
    row("outline.unsure_high", At(S::ValidateOutline), O::Unsure, To(S::DraftRoadmap))
        .when(G::AutonomyHigh)
        .with(FLAGGED),
    row("outline.unsure_spent", At(S::ValidateOutline), O::Unsure, Pause(P::LowConfidence)),
    // The roadmap.
    row("roadmap.drafted", At(S::DraftRoadmap), O::Success, To(S::ValidateRoadmap)),
    row("roadmap.no_outline", At(S::DraftRoadmap), O::MissingPrerequisite, To(S::DraftOutline)),
    row("roadmap.low_retry", At(S::DraftRoadmap), O::LowConfidence, To(S::DraftRoadmap))
        .when(G::OwnRetriesLeft)
        .with(&[RetryOwn]),
    row("roadmap.low_spent", At(S::DraftRoadmap), O::LowConfidence, Pause(P::LowConfidence)),
    row("roadmap.valid_asks", At(S::ValidateRoadmap), O::Valid, Seek(T::Roadmap))
        .when(G::Asks(T::Roadmap)),
    row("roadmap.valid", At(S::ValidateRoadmap), O::Valid, To(S::DraftSchedule)),
    row("roadmap.retry", At(S::ValidateRoadmap), O::InvalidRetryable, To(S::DraftRoadmap))
        .when(G::RetriesLeft(Roadmap))
        .with(&[Do(E::Retry(Roadmap))]),
    row("roadmap.retries_spent", At(S::ValidateRoadmap), O::InvalidRetryable, Pause(P::Validation)),
    row("roadmap.upstream", At(S::ValidateRoadmap), O::InvalidOutlineUpstream, To(S::DraftOutline))
        .when(G::RetriesLeft(Outline))
        .with(&[Do(E::Retry(Outline))]),
    row(
        "roadmap.upstream_spent",
        At(S::ValidateRoadmap),
        O::InvalidOutlineUpstream,
        Pause(P::Validation),
    )
    .blaming(Outline),
    row("roadmap.fatal", At(S::ValidateRoadmap), O::InvalidFatal, Pause(P::Validation)),
    row("roadmap.too_unsure", At(S::ValidateRoadmap), O::TooUnsure, Pause(P::Validation)),
    row("roadmap.unsure_retry", At(S::ValidateRoadmap), O::Unsure, To(S::DraftRoadmap))
        .when(G::RetriesLeft(Roadmap))
        .with(&[Do(E::Retry(Roadmap))]),
    row("roadmap.unsure_asks", At(S::ValidateRoadmap), O::Unsure, Seek(T::Roadmap))
        .when(G::HighAndAsks(T::Roadmap))
        .with(FLAGGED),
    row("roadmap.unsure_high", At(S::ValidateRoadmap), O::Unsure, To(S::DraftSchedule))
        .when(G::AutonomyHigh)
        .with(FLAGGED),
    row("roadmap.unsure_spent", At(S::ValidateRoadmap), O::Unsure, Pause(P::LowConfidence)),
    // The schedule.
    row("schedule.drafted", At(S::DraftSchedule), O::Success, To(S::ValidateSchedule)),
    row("schedule.no_roadmap", At(S::DraftSchedule), O::MissingPrerequisite, To(S::DraftRoadmap)),
    row("schedule.low_retry", At(S::DraftSchedule), O::LowConfidence, To(S::DraftSchedule))
        .when(G::OwnRetriesLeft)
        .with(&[RetryOwn]),
    row("schedule.low_spent", At(S::DraftSchedule), O::LowConfidence, Pause(P::LowConfidence)),
    row("schedule.valid", At(S::ValidateSchedule), O::Valid, Seek(T::Final)),
    row("schedule.retry", At(S::ValidateSchedule), O::InvalidRetryable, To(S::DraftSchedule))
        .when(G::RetriesLeft(Schedule))
        .with(&[Do(E::Retry(Schedule))]),
    row(
        "schedule.retries_spent",
        At(S::ValidateSchedule),
        O::InvalidRetryable,
        Pause(P::Validation),
    ),
    row(
        "schedule.upstream",
        At(S::ValidateSchedule),
        O::InvalidRoadmapUpstream,
        To(S::DraftRoadmap),
    )
    .when(G::RetriesLeft(Roadmap))
    .with(&[Do(E::Retry(Roadmap))]),
    row(
        "schedule.upstream_spent",
        At(S::ValidateSchedule),
        O::InvalidRoadmapUpstream,
        Pause(P::Validation),
    )
    .blaming(Roadmap),
    row(
        "schedule.far_upstream",
        At(S::ValidateSchedule),
        O::InvalidOutlineUpstream,
        To(S::DraftOutline),
    )
    .when(G::RetriesLeft(Outline))
    .with(&[Do(E::Retry(Outline))]),
    row(
        "schedule.far_upstream_spent",
        At(S::ValidateSchedule),
        O::InvalidOutlineUpstream,
        Pause(P::Validation),
    )
    .blaming(Outline),
    row("schedule.fatal", At(S::ValidateSchedule), O::InvalidFatal, Pause(P::Validation)),
    row("schedule.too_unsure", At(S::ValidateSchedule), O::TooUnsure, Pause(P::Validation)),
    row("schedule.unsure_retry", At(S::ValidateSchedule), O::Unsure, To(S::DraftSchedule))
        .when(G::RetriesLeft(Schedule))
        .with(&[Do(E::Retry(Schedule))]),
    row("schedule.unsure_high", At(S::ValidateSchedule), O::Unsure, Seek(T::Final))
        .when(G::AutonomyHigh)
        .with(FLAGGED),
    row("schedule.unsure_spent", At(S::ValidateSchedule), O::Unsure, Pause(P::LowConfidence)),
    row("schedule.relax", At(S::ValidateSchedule), O::Infeasible, To(S::DraftSchedule))
        .when(G::MayRelax)
        .with(&[Do(E::AutoRelax)]),
    row("schedule.infeasible", At(S::ValidateSchedule), O::Infeasible, To(S::NeedsSchedEscalation)),
    // Trouble while drafting.
    row("draft.tool_retry", AnyDraft, O::ToolError, Stay).when(G::OwnRetriesLeft).with(&[RetryOwn]),
    // A plan without the model that was named is for the person to want.
    row("draft.tool_model", AnyDraft, O::ToolError, Pause(P::Model)).when(G::OfflineUntried),
    row("draft.tool_failed", AnyDraft, O::ToolError, To(S::Aborted)),
    row("draft.output_retry", AnyDraft, O::InvalidOutput, Stay)
        .when(G::OwnRetriesLeft)
        .with(&[RetryOwn]),
    row("draft.output_model", AnyDraft, O::InvalidOutput, Pause(P::Model)).when(G::OfflineUntried),
    row("draft.output_spent", AnyDraft, O::InvalidOutput, Pause(P::Validation)),
    row("draft.model_unavailable", AnyDraft, O::ModelUnavailable, Pause(P::Model)),
    row("draft.fatal", AnyDraft, O::FatalError, To(S::Aborted)),
    row("draft.wall_time", AnyDraft, O::WallTime, Pause(P::Cap)),
    row("draft.budget", AnyDraft, O::Budget, Pause(P::Budget)),
    // Approvals, in time or overdue.
    row("approve.pattern", Seeking(T::Pattern), O::Approved, To(S::DraftOutline))
        .with(&[ANEW, Do(E::Approve(T::Pattern))]),
    row("approve.outline", Seeking(T::Outline), O::Approved, To(S::DraftRoadmap))
        .with(&[ANEW, Do(E::Approve(T::Outline))]),
    row("approve.roadmap", Seeking(T::Roadmap), O::Approved, To(S::DraftSchedule))
        .with(&[ANEW, Do(E::Approve(T::Roadmap))]),
    row("approve.final", Seeking(T::Final), O::Approved, To(S::Complete))
        .with(&[ANEW, Do(E::Approve(T::Final))]),
    row("approve.revise", AnySeeking, O::Revise, Scope).when(G::RevisionsLeft).with(REVISED),
    row("approve.revised_enough", AnySeeking, O::Revise, Pause(P::Cap)),
    row("approve.rejected", AnySeeking, O::Rejected, Scope).when(G::RevisionsLeft).with(REVISED),
    row("approve.rejected_enough", AnySeeking, O::Rejected, Pause(P::Cap)),
    row("approve.option", AnySeeking, O::OptionPicked, To(S::DraftRoadmap)).with(&[
        ANEW,
        Do(E::ClearRetries(Roadmap)),
        Do(E::ClearApprovals(Roadmap)),
    ]),
    row("edit.pattern", Seeking(T::Pattern), O::Edited, To(S::DraftOutline)).with(&[ANEW]),
    row("edit.outline", Seeking(T::Outline), O::Edited, To(S::ValidateOutline)).with(&[ANEW]),
    row("edit.roadmap", Seeking(T::Roadmap), O::Edited, To(S::ValidateRoadmap)).with(&[ANEW]),
    row("edit.final", Seeking(T::Final), O::Edited, To(S::ValidateRoadmap)).with(&[ANEW]),
    row("edit.mended", Paused(P::Validation), O::Edited, To(S::ValidateOutline))
        .with(&[ANEW, ClearRetriesOfResume]),
    row("edit.surer", Paused(P::LowConfidence), O::Edited, To(S::ValidateOutline))
        .with(&[ANEW, ClearRetriesOfResume]),
    row("edit.past_model", Paused(P::Model), O::Edited, To(S::ValidateOutline))
        .with(&[ANEW, ClearRetriesOfResume]),
    row("edit.past_cap", Paused(P::Cap), O::Edited, To(S::ValidateOutline)).with(&[ANEW]),
    row("edit.escalated", At(S::NeedsSchedEscalation), O::Edited, To(S::ValidateRoadmap))
        .with(&[ANEW]),
    row("edit.complete", At(S::Complete), O::Edited, To(S::ValidateRoadmap)).with(&[ANEW]),
    row("approve.nobody", AnySeeking, O::NoResponse, Overdue),
    // Pauses.
    row("questions.answered", Paused(P::Questions), O::Answered, To(S::CollectContext))
        .with(&[ANEW]),
    row("questions.skipped", Paused(P::Questions), O::Skipped, To(S::CollectContext)).with(&[ANEW]),
    row("goal.answered", Paused(P::Goal), O::Answered, To(S::CollectContext)).with(&[ANEW]),
    row("low_confidence.answered", Paused(P::LowConfidence), O::Answered, To(S::CollectContext))
        .with(&[ANEW, ClearRetriesOfResume]),
    row("low_confidence.offline", Paused(P::LowConfidence), O::GoOffline, Resume).with(&[
        ANEW,
        ClearRetriesOfResume,
        Do(E::Offline),
    ]),
    row("rfc.approved", Paused(P::Rfc), O::RfcApproved, To(S::DraftOutline)).with(&[ANEW]),
    row("rfc.declined", Paused(P::Rfc), O::RfcDeclined, To(S::DraftOutline)).with(&[ANEW]),
    row("rfc.changed", Paused(P::Rfc), O::RfcChanged, To(S::DraftOutline)).with(&[ANEW]),
    row("validation.answered", Paused(P::Validation), O::Answered, Resume)
        .with(&[ANEW, ClearRetriesOfResume]),
    row("validation.offline", Paused(P::Validation), O::GoOffline, Resume).with(&[
        ANEW,
        ClearRetriesOfResume,
        Do(E::Offline),
    ]),
    row("cap.continue", Paused(P::Cap), O::Continue, Resume)
        .when(G::ContinuesLeft)
        .with(&[ANEW, Do(E::Continue)]),
    row("cap.continued_enough", Paused(P::Cap), O::Continue, Stay),
    row("cap.go_on", Paused(P::Cap), O::GoOn, Resume).with(&[ANEW, Do(E::ResetLimits)]),
    row("cap.stop", Paused(P::Cap), O::Stop, To(S::Aborted)),
    row("budget.once", Paused(P::Budget), O::RaiseOnce, Resume).with(&[ANEW, Do(E::Continue)]),
    row("budget.session", Paused(P::Budget), O::RaiseForSession, Resume)
        .with(&[ANEW, Do(E::Continue)]),
    row("budget.offline", Paused(P::Budget), O::GoOffline, Resume).with(&[
        ANEW,
        Do(E::Continue),
        Do(E::Offline),
    ]),
    row("budget.stop", Paused(P::Budget), O::Stop, To(S::Aborted)),
    row("model.retry", Paused(P::Model), O::Answered, Resume).with(&[ANEW, ClearRetriesOfResume]),
    row("model.offline", Paused(P::Model), O::GoOffline, Resume).with(&[
        ANEW,
        ClearRetriesOfResume,
        Do(E::Offline),
    ]),
    row("model.stop", Paused(P::Model), O::Stop, To(S::Aborted)),
    row("pause.unparsed", At(S::NeedsClarification), O::Unparsed, Stay).with(&[Do(E::Unparsed)]),
    // A schedule that does not fit.
    row(
        "escalation.structure",
        At(S::NeedsSchedEscalation),
        O::UseStructuralRelaxation,
        To(S::DraftRoadmap),
    )
    .when(G::EscalationsLeft)
    .with(&[ANEW, Do(E::Escalation)]),
    row("escalation.use", At(S::NeedsSchedEscalation), O::UseRelaxation, To(S::DraftSchedule))
        .when(G::EscalationsLeft)
        .with(&[ANEW, Do(E::Escalation)]),
    row(
        "escalation.structure_enough",
        At(S::NeedsSchedEscalation),
        O::UseStructuralRelaxation,
        Pause(P::Cap),
    ),
    row("escalation.enough", At(S::NeedsSchedEscalation), O::UseRelaxation, Pause(P::Cap)),
    row("escalation.late", At(S::NeedsSchedEscalation), O::AcceptLate, Seek(T::Final))
        .with(&[ANEW]),
    row("escalation.revise", At(S::NeedsSchedEscalation), O::Revise, Scope)
        .when(G::RevisionsLeft)
        .with(REVISED),
    row("escalation.revised_enough", At(S::NeedsSchedEscalation), O::Revise, Pause(P::Cap)),
    row("escalation.stop", At(S::NeedsSchedEscalation), O::Stop, To(S::Aborted)),
    row("escalation.unparsed", At(S::NeedsSchedEscalation), O::Unparsed, Stay)
        .with(&[Do(E::Unparsed)]),
    // After the end.
    row("complete.change", At(S::Complete), O::Revise, Scope).with(&[
        ANEW,
        ClearRetriesOfScope,
        ClearApprovalsOfScope,
        Do(E::ResetLimits),
    ]),
];

impl Source {
    pub fn covers(self, place: Place) -> bool {
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

impl Guard {
    pub fn holds(self, view: &View<'_>) -> bool {
        let (counters, limits) = (view.counters, view.limits);
        let high = view.policy.autonomy == Autonomy::High;
        match self {
            G::Always => true,
            G::Asks(target) => view.asks(target),
            G::RetriesLeft(stage) => view.retries_left(stage),
            G::OwnRetriesLeft => {
                view.place.state.stage().is_some_and(|stage| view.retries_left(stage))
            }
            G::ClarifyRoundsLeft => counters.clarify_rounds < limits.clarify_round_limit,
            G::RevisionsLeft => counters.revisions < limits.revision_limit,
            G::EscalationsLeft => counters.escalations < limits.escalation_round_limit,
            G::ContinuesLeft => counters.continues < limits.continue_limit,
            G::AutonomyHigh => high,
            G::HighAndAsks(target) => high && view.asks(target),
            G::MayCollectAgain => view.may_ask && !counters.collected_again,
            G::MayRelax => high && view.may_relax && counters.auto_relaxed < 1,
            G::OfflineUntried => !view.offline,
        }
    }
}

impl Row {
    pub(super) fn applies(&self, view: &View<'_>, outcome: O) -> bool {
        self.outcome == outcome && self.from.covers(view.place) && self.guard.holds(view)
    }

    pub(super) fn target(&self, view: &View<'_>) -> Place {
        match self.to {
            To(state) => Place::at(state),
            Pause(pause) => Place::paused(pause),
            Seek(target) => Place::seeking(target),
            Overdue => Place { target: view.place.target, ..Place::paused(P::Approval) },
            Scope => Place::at(view.scope.unwrap_or(Outline).draft()),
            Resume => view.resume.unwrap_or(Place::at(S::DraftOutline)),
            Stay => view.place,
        }
    }
}

impl RowEffect {
    pub(super) fn resolve(self, view: &View<'_>) -> E {
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
