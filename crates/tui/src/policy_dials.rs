//! The seven controls of the way Planwright talks and asks: their values, and what each means in words. Pure.

use planwright_drafting::controller::requires_approval;
use planwright_model::{
    ApprovalPolicy, ApprovalTarget, Autonomy, BrainstormingPreference, ConversationStyle,
    InteractionPolicy, PlanState, PolicyOverride, Tone,
};
use planwright_state::PlanningSlice;

/// One of the controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyDial {
    Approvals,
    Autonomy,
    Probing,
    Brainstorming,
    Style,
    Talkativeness,
    Tone,
}

/// All controls, in the order of the panel.
pub(crate) const DIALS: [PolicyDial; 7] = [
    PolicyDial::Approvals,
    PolicyDial::Autonomy,
    PolicyDial::Probing,
    PolicyDial::Brainstorming,
    PolicyDial::Style,
    PolicyDial::Talkativeness,
    PolicyDial::Tone,
];

const APPROVALS: [ApprovalPolicy; 3] = [
    ApprovalPolicy::SingleFinal,
    ApprovalPolicy::MilestoneApprovals,
    ApprovalPolicy::StrictEveryStep,
];
const AUTONOMY: [Autonomy; 3] = [Autonomy::Low, Autonomy::Medium, Autonomy::High];
const BRAINSTORMING: [BrainstormingPreference; 3] = [
    BrainstormingPreference::OnDemand,
    BrainstormingPreference::SuggestWhenUncertain,
    BrainstormingPreference::AlwaysOffer,
];
const STYLES: [ConversationStyle; 4] = [
    ConversationStyle::Concise,
    ConversationStyle::Standard,
    ConversationStyle::Conversational,
    ConversationStyle::Coach,
];
const TONES: [Tone; 3] = [Tone::Neutral, Tone::Friendly, Tone::Clinical];
/// One turn of the talkativeness dial.
const STEP: f64 = 0.1;

impl PolicyDial {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Approvals => "approvals",
            Self::Autonomy => "autonomy",
            Self::Probing => "probing depth",
            Self::Brainstorming => "brainstorming",
            Self::Style => "style",
            Self::Talkativeness => "talkativeness",
            Self::Tone => "tone",
        }
    }

    /// Its value, as the panel shows it.
    pub(crate) fn value(self, policy: &InteractionPolicy) -> String {
        match self {
            Self::Approvals => match policy.approval_policy {
                ApprovalPolicy::SingleFinal => "single final",
                ApprovalPolicy::MilestoneApprovals => "milestone approvals",
                ApprovalPolicy::StrictEveryStep => "strict, every step",
            }
            .to_owned(),
            Self::Autonomy => match policy.autonomy {
                Autonomy::Low => "low",
                Autonomy::Medium => "medium",
                Autonomy::High => "high",
            }
            .to_owned(),
            Self::Probing => policy.probing_depth.to_string(),
            Self::Brainstorming => match policy.brainstorming_preference {
                BrainstormingPreference::OnDemand => "on demand",
                BrainstormingPreference::SuggestWhenUncertain => "suggest when uncertain",
                BrainstormingPreference::AlwaysOffer => "always offer",
            }
            .to_owned(),
            Self::Style => match policy.conversation_style {
                ConversationStyle::Concise => "concise",
                ConversationStyle::Standard => "standard",
                ConversationStyle::Conversational => "conversational",
                ConversationStyle::Coach => "coach",
            }
            .to_owned(),
            Self::Talkativeness => format!("{:.1}", policy.talkativeness),
            Self::Tone => match policy.tone {
                Tone::Neutral => "neutral",
                Tone::Friendly => "friendly",
                Tone::Clinical => "clinical",
            }
            .to_owned(),
        }
    }

    /// What its value means.
    pub(crate) fn effect_text(
        self,
        policy: &InteractionPolicy,
        planning: &PlanningSlice,
    ) -> String {
        match self {
            Self::Approvals => approvals_effect(policy, planning),
            Self::Autonomy => match policy.autonomy {
                Autonomy::Low => "the outline is always asked; later changes wait for you",
                Autonomy::Medium => "planned writes pass, other shell asks",
                Autonomy::High => "drafts pass at .70 and more; gaps are assumed",
            }
            .to_owned(),
            Self::Probing => match policy.probing_depth {
                0 => "no questions; what is missing is assumed and listed".to_owned(),
                1 => "at most 1 question a round".to_owned(),
                depth => format!("at most {depth} questions a round"),
            },
            Self::Brainstorming => {
                let ideas =
                    if policy.conversation_style == ConversationStyle::Concise { 2 } else { 3 };
                match policy.brainstorming_preference {
                    BrainstormingPreference::OnDemand => format!("{ideas} ideas when you ask"),
                    BrainstormingPreference::SuggestWhenUncertain => {
                        format!("{ideas} ideas at confidence .40 to .70")
                    }
                    BrainstormingPreference::AlwaysOffer => {
                        format!("{ideas} ideas once, before the outline")
                    }
                }
            }
            Self::Style => {
                let extra = match policy.conversation_style {
                    ConversationStyle::Concise => ", no reasons unless asked",
                    ConversationStyle::Coach => ", one why and one next step",
                    ConversationStyle::Standard | ConversationStyle::Conversational => "",
                };
                format!("answers of about {} words{extra}", base_word_count(policy))
            }
            Self::Talkativeness => {
                let words =
                    (f64::from(base_word_count(policy)) * (0.5 + policy.talkativeness)).round();
                format!("at most {words:.0} words, {} options", option_count(policy))
            }
            Self::Tone => match policy.tone {
                Tone::Neutral => "no greeting",
                Tone::Friendly => "one greeting a session",
                Tone::Clinical => "no contractions, every quantity with its unit",
            }
            .to_owned(),
        }
    }

    /// The change that one turn makes; nothing at the end of a dial.
    pub(crate) fn override_for_step(
        self,
        policy: &InteractionPolicy,
        up: bool,
    ) -> Option<PolicyOverride> {
        let mut set = PolicyOverride::default();
        match self {
            Self::Approvals => {
                set.approval_policy = Some(adjacent_value(&APPROVALS, policy.approval_policy, up)?);
            }
            Self::Autonomy => set.autonomy = Some(adjacent_value(&AUTONOMY, policy.autonomy, up)?),
            Self::Probing => {
                let depth = policy.probing_depth;
                let to = if up { depth + 1 } else { depth.checked_sub(1)? };
                set.probing_depth = Some(to).filter(|to| *to <= 3);
                set.probing_depth?;
            }
            Self::Brainstorming => {
                let to = adjacent_value(&BRAINSTORMING, policy.brainstorming_preference, up)?;
                set.brainstorming_preference = Some(to);
            }
            Self::Style => {
                set.conversation_style =
                    Some(adjacent_value(&STYLES, policy.conversation_style, up)?);
            }
            Self::Talkativeness => {
                let by = if up { STEP } else { -STEP };
                let to = ((policy.talkativeness + by) * 10.0).round() / 10.0;
                if !(0.0..=1.0).contains(&to) {
                    return None;
                }
                set.talkativeness = Some(to);
            }
            Self::Tone => set.tone = Some(adjacent_value(&TONES, policy.tone, up)?),
        }
        Some(set)
    }
}

/// The policy in one line, for the card of a plan: how often the person is asked and what runs unasked. Controls that
/// differ from the default are named.
pub(crate) fn policy_line(planning: &PlanningSlice) -> String {
    let policy = planning.interaction_policy();
    let usual = InteractionPolicy::default();
    let asks = match remaining_approvals(&policy, planning) {
        0 => "this is the last approval".to_owned(),
        1 => "1 more approval to come".to_owned(),
        more => format!("{more} more approvals to come"),
    };
    let runs = match policy.autonomy {
        Autonomy::Low => "every command asks",
        Autonomy::Medium => "planned edits run, other commands ask",
        Autonomy::High => "what the plan names runs unasked",
    };
    let other: Vec<String> = DIALS
        .iter()
        .filter(|dial| dial.value(&policy) != dial.value(&usual))
        .map(|dial| format!("{} {}", dial.name(), dial.value(&policy)))
        .collect();
    let other =
        if other.is_empty() { String::new() } else { format!("; set: {}", other.join(", ")) };
    format!("{asks}; {runs}{other}")
}

/// The policy in one line, for the rule of the closed panel.
pub(crate) fn policy_summary(policy: &InteractionPolicy, planning: &PlanningSlice) -> String {
    let questions = match policy.probing_depth {
        1 => "1 question a round".to_owned(),
        depth => format!("{depth} questions a round"),
    };
    let left = remaining_approvals(policy, planning);
    format!(
        "{} autonomy · {}, {left} more to come · {questions} · {}",
        PolicyDial::Autonomy.value(policy),
        PolicyDial::Approvals.value(policy),
        PolicyDial::Tone.value(policy),
    )
}

fn approvals_effect(policy: &InteractionPolicy, planning: &PlanningSlice) -> String {
    let due = |target: &&ApprovalTarget| requires_approval(policy, planning.small_goal, **target);
    let all = ApprovalTarget::ALL.iter().filter(due).count();
    let times = if all == 1 { "once".to_owned() } else { format!("{all} times") };
    let left = remaining_approvals(policy, planning);
    match pending_approval(planning) {
        Some(_) => format!("asked {times}; after this {left} more"),
        None => format!("asked {times} in all; {left} still to come"),
    }
}

/// What the person is asked to approve at this moment.
fn pending_approval(planning: &PlanningSlice) -> Option<ApprovalTarget> {
    planning.place.target.filter(|_| planning.place.state == PlanState::SeekApproval)
}

/// How many approvals are still asked for, the one that is open left out.
fn remaining_approvals(policy: &InteractionPolicy, planning: &PlanningSlice) -> usize {
    let now = pending_approval(planning);
    let open = |target: &&ApprovalTarget| {
        requires_approval(policy, planning.small_goal, **target)
            && !planning.approved.contains(*target)
            && now.is_none_or(|now| **target > now)
    };
    if planning.is_over() { 0 } else { ApprovalTarget::ALL.iter().filter(open).count() }
}

fn base_word_count(policy: &InteractionPolicy) -> u32 {
    match policy.conversation_style {
        ConversationStyle::Concise => 60,
        ConversationStyle::Standard => 120,
        ConversationStyle::Conversational => 200,
        ConversationStyle::Coach => 240,
    }
}

fn option_count(policy: &InteractionPolicy) -> u32 {
    let concise = policy.conversation_style == ConversationStyle::Concise;
    let many = matches!(
        policy.conversation_style,
        ConversationStyle::Conversational | ConversationStyle::Coach
    );
    match policy.talkativeness {
        v if v < 0.3 => 2,
        v if v >= 0.7 && !concise => 3,
        _ if many => 3,
        _ => 2,
    }
}

fn adjacent_value<T: Copy + PartialEq>(values: &[T], now: T, up: bool) -> Option<T> {
    let at = values.iter().position(|value| *value == now)?;
    let to = if up { at + 1 } else { at.checked_sub(1)? };
    values.get(to).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approvals_are_counted_as_the_policy_asks_for_them() {
        let none = PlanningSlice::default();
        let words = |approval_policy, planning: &PlanningSlice| {
            let policy = InteractionPolicy { approval_policy, ..InteractionPolicy::default() };
            PolicyDial::Approvals.effect_text(&policy, planning)
        };
        assert_eq!(words(ApprovalPolicy::SingleFinal, &none), "asked once in all; 1 still to come");
        assert_eq!(
            words(ApprovalPolicy::MilestoneApprovals, &none),
            "asked 2 times in all; 2 still to come"
        );
        assert_eq!(
            words(ApprovalPolicy::StrictEveryStep, &none),
            "asked 4 times in all; 4 still to come"
        );
        let approved = [ApprovalTarget::Pattern, ApprovalTarget::Outline].into();
        let mut outline = PlanningSlice { approved, ..PlanningSlice::default() };
        assert_eq!(
            words(ApprovalPolicy::MilestoneApprovals, &outline),
            "asked 2 times in all; 1 still to come"
        );
        outline.place.state = PlanState::SeekApproval;
        outline.place.target = Some(ApprovalTarget::Final);
        assert_eq!(
            words(ApprovalPolicy::MilestoneApprovals, &outline),
            "asked 2 times; after this 0 more"
        );
        // A small goal is asked about once, however often the policy would ask.
        let small = PlanningSlice { small_goal: true, ..PlanningSlice::default() };
        assert_eq!(
            words(ApprovalPolicy::MilestoneApprovals, &small),
            "asked once in all; 1 still to come"
        );
    }

    #[test]
    fn every_dial_turns_to_its_ends_and_no_further() {
        for dial in DIALS {
            for up in [true, false] {
                let mut policy = InteractionPolicy::default();
                let mut turns = 0;
                while let Some(set) = dial.override_for_step(&policy, up) {
                    let before = dial.value(&policy);
                    policy = policy.with_overrides(&set);
                    assert_ne!(dial.value(&policy), before, "{}", dial.name());
                    turns += 1;
                    assert!(turns < 20, "{}", dial.name());
                }
                assert!(!dial.effect_text(&policy, &PlanningSlice::default()).is_empty());
            }
        }
    }

    #[test]
    fn words_and_options_follow_style_and_talkativeness() {
        let policy = |conversation_style, talkativeness| InteractionPolicy {
            conversation_style,
            talkativeness,
            ..InteractionPolicy::default()
        };
        let said = |policy: InteractionPolicy| {
            PolicyDial::Talkativeness.effect_text(&policy, &PlanningSlice::default())
        };
        assert_eq!(said(policy(ConversationStyle::Standard, 0.5)), "at most 120 words, 2 options");
        assert_eq!(said(policy(ConversationStyle::Standard, 0.8)), "at most 156 words, 3 options");
        assert_eq!(said(policy(ConversationStyle::Concise, 0.8)), "at most 78 words, 2 options");
        assert_eq!(said(policy(ConversationStyle::Coach, 0.2)), "at most 168 words, 2 options");
    }
}
