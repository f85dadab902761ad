//! The seven controls of the way Planwright talks and asks, in the words of one plan. Pure.

use planwright_drafting::policy_text::{
    ControlDirection, DialFacts, DialReading, SampleContent, describe_file_policy, describe_policy,
    read_dials, sample_message, step_control,
};
use planwright_model::{ApprovalTarget, InteractionPolicy, PlanState, PolicyOverride};
use planwright_state::PlanningSlice;

/// What the plan has to say about its controls.
fn dial_facts(planning: &PlanningSlice) -> DialFacts<'_> {
    DialFacts {
        approved: &planning.approved,
        pending: pending_approval(planning),
        small_goal: planning.small_goal,
        is_over: planning.is_over(),
    }
}

/// What the person is asked to approve at this moment.
fn pending_approval(planning: &PlanningSlice) -> Option<ApprovalTarget> {
    planning.place.target.filter(|_| planning.place.state == PlanState::SeekApproval)
}

/// All controls, in the order of the panel.
pub(crate) fn policy_dials(
    policy: &InteractionPolicy,
    planning: &PlanningSlice,
) -> Vec<DialReading> {
    read_dials(policy, &dial_facts(planning))
}

/// The policy in one line: what runs unasked, how often the person is asked, and what differs from the default.
pub(crate) fn policy_line(planning: &PlanningSlice) -> String {
    describe_policy(&planning.interaction_policy(), &dial_facts(planning))
}

/// The policy of a plan that came from a file: what of it runs unasked once it is approved.
pub(crate) fn file_policy_line(planning: &PlanningSlice) -> String {
    describe_file_policy(&planning.interaction_policy())
}

/// What the next message would read under a policy.
pub(crate) fn policy_sample(
    policy: &InteractionPolicy,
    planning: &PlanningSlice,
    phases: usize,
    end: Option<String>,
) -> String {
    let options = planning.roadmap.iter().flat_map(|roadmap| &roadmap.options_tried);
    let versions = options.map(|option| option.label.clone()).collect();
    sample_message(policy, &dial_facts(planning), &SampleContent { phases, end, versions })
}

/// Turns a control by one step; nothing at its end.
pub(crate) fn turn_dial(
    policy: &InteractionPolicy,
    dial: &DialReading,
    up: bool,
) -> Option<PolicyOverride> {
    let turn = if up { ControlDirection::Next } else { ControlDirection::Previous };
    step_control(policy, dial.field, turn)
}

/// All seven values, to be set together.
pub(crate) fn whole_policy(policy: &InteractionPolicy) -> PolicyOverride {
    PolicyOverride {
        conversation_style: Some(policy.conversation_style),
        talkativeness: Some(policy.talkativeness),
        autonomy: Some(policy.autonomy),
        brainstorming_preference: Some(policy.brainstorming_preference),
        approval_policy: Some(policy.approval_policy),
        probing_depth: Some(policy.probing_depth),
        tone: Some(policy.tone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dial_turns_to_its_ends_and_no_further() {
        let planning = PlanningSlice::default();
        for at in 0..policy_dials(&InteractionPolicy::default(), &planning).len() {
            for up in [true, false] {
                let mut policy = InteractionPolicy::default();
                let mut turns = 0;
                while let Some(set) = turn_dial(&policy, &policy_dials(&policy, &planning)[at], up)
                {
                    policy = policy.with_overrides(&set);
                    turns += 1;
                    assert!(turns < 20);
                }
            }
        }
    }
}
