//! The input of a transition.

use std::collections::BTreeSet;

use planwright_model::{
    ApprovalPolicy, ApprovalTarget, Autonomy, InteractionPolicy, PlanCounters, PlanLimits,
    PlanningPosition, Stage,
};

/// The state of a conversation, as far as the table depends on it.
#[derive(Clone, Copy, Debug)]
pub struct TransitionContext<'a> {
    pub place: PlanningPosition,
    pub resume: Option<PlanningPosition>,
    pub counters: &'a PlanCounters,
    pub limits: &'a PlanLimits,
    pub policy: &'a InteractionPolicy,
    pub approved: &'a BTreeSet<ApprovalTarget>,
    /// The stage that the person's change request is about.
    pub scope: Option<Stage>,
    /// Whether another question may be asked.
    pub may_ask: bool,
    /// Whether a single relaxation would help that changes nothing the person stated.
    pub may_relax: bool,
    /// Whether no model is used anymore.
    pub offline: bool,
    /// Whether the scout gate found the goal small and the person set no policy.
    pub small_goal: bool,
    /// Whether the plan consists of steps that the person writes: the outline waits for them.
    pub own_steps: bool,
    /// Seconds of this segment in which the agent worked.
    pub segment_sec: u64,
}

/// Returns whether a policy requires approval of a target.
pub fn requires_approval(
    policy: &InteractionPolicy,
    small_goal: bool,
    target: ApprovalTarget,
) -> bool {
    let strict = policy.approval_policy == ApprovalPolicy::StrictEveryStep;
    match target {
        ApprovalTarget::Final => true,
        ApprovalTarget::Pattern | ApprovalTarget::Roadmap => strict,
        ApprovalTarget::Outline => match policy.autonomy {
            Autonomy::Low => true,
            Autonomy::High => strict,
            Autonomy::Medium => {
                strict
                    || policy.approval_policy == ApprovalPolicy::MilestoneApprovals && !small_goal
            }
        },
    }
}

impl TransitionContext<'_> {
    pub(super) fn has_retries_left(&self, stage: Stage) -> bool {
        self.counters.stage_retries(stage) < self.limits.retry_limit_per_stage
    }

    pub(super) fn requires_approval(&self, target: ApprovalTarget) -> bool {
        let waits = self.own_steps && target == ApprovalTarget::Outline;
        let waits = waits && !self.approved.contains(&target);
        waits || requires_approval(self.policy, self.small_goal, target)
    }
}
