use proptest::prelude::*;

use super::*;
use planwright_model::ApprovalPolicy;

fn effect_of(
    policy: &InteractionPolicy,
    field: &str,
    approved: &[ApprovalTarget],
    small: bool,
) -> String {
    let approved = approved.iter().copied().collect();
    let rows = describe_controls(policy, &approved, small);
    rows.into_iter().find(|row| row.field == field).unwrap().effect
}

#[test]
fn every_control_describes_its_effect() {
    let rows = describe_controls(&InteractionPolicy::default(), &BTreeSet::new(), false);
    let shown: Vec<String> =
        rows.iter().map(|row| format!("{} {}: {}", row.field, row.value, row.effect)).collect();
    assert_eq!(
        shown,
        [
            "conversation_style standard: 2 options are shown, reasons where they fit",
            "talkativeness 0.5: messages have at most 120 words",
            "autonomy medium: approvals are asked as set below, nothing is relaxed unasked",
            "brainstorming_preference suggest_when_uncertain: 3 ideas when a draft or the pattern is not sure",
            "approval_policy milestone_approvals: you will be asked 2 more times: outline, final",
            "probing_depth 1: at most 1 question a round",
            "tone friendly: a greeting at the start, at most one exclamation mark",
        ]
    );
}

#[test]
fn each_approval_policy_under_each_autonomy_counts_its_requests() {
    use ApprovalPolicy::{MilestoneApprovals, SingleFinal, StrictEveryStep};
    use Autonomy::{High, Low, Medium};
    for (approval, autonomy, expected) in [
        (SingleFinal, High, "final"),
        (SingleFinal, Medium, "final"),
        (SingleFinal, Low, "outline, final"),
        (MilestoneApprovals, High, "final"),
        (MilestoneApprovals, Medium, "outline, final"),
        (MilestoneApprovals, Low, "outline, final"),
        (StrictEveryStep, High, "pattern, outline, roadmap, final"),
        (StrictEveryStep, Medium, "pattern, outline, roadmap, final"),
        (StrictEveryStep, Low, "pattern, outline, roadmap, final"),
    ] {
        let policy = InteractionPolicy {
            approval_policy: approval,
            autonomy,
            ..InteractionPolicy::default()
        };
        let effect = effect_of(&policy, "approval_policy", &[], false);
        assert!(effect.ends_with(&format!(": {expected}")), "{approval:?} {autonomy:?}: {effect}");
    }
    let policy = InteractionPolicy::default();
    let effect =
        |approved: &[ApprovalTarget], small| effect_of(&policy, "approval_policy", approved, small);
    assert_eq!(effect(&[ApprovalTarget::Outline], false), "you will be asked 1 more time: final");
    assert_eq!(effect(&[ApprovalTarget::Final], false), "you will not be asked again");
    assert_eq!(
        effect(&[], true),
        "you will be asked 1 more time: final; a small goal skips the outline"
    );
}

#[test]
fn controls_are_set_by_name_and_typos_get_suggestions() {
    assert_eq!(set_control("tone", "Clinical").unwrap().tone, Some(Tone::Clinical));
    assert_eq!(set_control("probing-depth", "3").unwrap().probing_depth, Some(3));
    assert_eq!(set_control("talkativeness", "0.25").unwrap().talkativeness, Some(0.25));
    assert_eq!(
        set_control("approval_policy", "strict every step").unwrap().approval_policy,
        Some(ApprovalPolicy::StrictEveryStep)
    );
    assert_eq!(set_control("tonne", "neutral").unwrap_err().hint(), "did you mean tone?");
    assert_eq!(set_control("tone", "friendy").unwrap_err().hint(), "did you mean friendly?");
    assert_eq!(set_control("talkativeness", "2").unwrap_err().hint(), "give a number from 0 to 1");
    assert_eq!(set_control("probing_depth", "4").unwrap_err().hint(), "give a number from 0 to 3");
    assert_eq!(
        set_control("tone", "xyzzyx").unwrap_err().hint(),
        "choose one of neutral, friendly, clinical"
    );
}

#[test]
fn remarks_change_only_the_controls_they_mention() {
    let brief = PolicyOverride {
        conversation_style: Some(ConversationStyle::Concise),
        ..PolicyOverride::default()
    };
    assert_eq!(parse_remark("Be brief today, please."), brief);
    assert_eq!(parse_remark("no small talk").tone, Some(Tone::Neutral));
    assert_eq!(
        parse_remark("more detail").conversation_style,
        Some(ConversationStyle::Conversational)
    );
    let everything = parse_remark("ask me everything");
    assert_eq!(everything.approval_policy, Some(ApprovalPolicy::StrictEveryStep));
    assert_eq!((everything.probing_depth, everything.autonomy), (Some(3), None));
    assert_eq!(parse_remark("don’t ask").approval_policy, Some(ApprovalPolicy::SingleFinal));
    let questions = parse_remark("don't ask questions");
    assert_eq!((questions.probing_depth, questions.approval_policy), (Some(0), None));
    let both = parse_remark("be brief and no brainstorming");
    assert_eq!(both.conversation_style, Some(ConversationStyle::Concise));
    assert_eq!(both.brainstorming_preference, Some(BrainstormingPreference::OnDemand));
    let later = parse_remark("be brief, no, more detail");
    assert_eq!(later.conversation_style, Some(ConversationStyle::Conversational));
    assert_eq!(parse_remark("the brief for the landing page"), PolicyOverride::default());
}

#[test]
fn arrow_keys_cover_the_entire_range() {
    for field in FIELDS {
        let mut policy = InteractionPolicy::default();
        while let Some(set) = step_control(&policy, field, ControlDirection::Previous) {
            policy = policy.with_overrides(&set);
        }
        let first = control_value(&policy, field).unwrap();
        let mut values = vec![first.clone()];
        while let Some(set) = step_control(&policy, field, ControlDirection::Next) {
            policy = policy.with_overrides(&set);
            values.push(control_value(&policy, field).unwrap());
        }
        let wanted = match field {
            "talkativeness" => 11,
            "probing_depth" | "conversation_style" => 4,
            _ => 3,
        };
        assert_eq!(values.len(), wanted, "{field}: {values:?}");
        for value in &values {
            assert!(set_control(field, value).is_ok(), "{field}={value}");
        }
    }
}

proptest! {
    #[test]
    fn no_remark_or_setting_panics(text in ".{0,60}", value in ".{0,12}") {
        let policy = InteractionPolicy::default().with_overrides(&parse_remark(&text));
        prop_assert!((0.0..=1.0).contains(&policy.talkativeness) && policy.probing_depth <= 3);
        for field in FIELDS.into_iter().chain([text.as_str()]) {
            if let Err(error) = set_control(field, &value) {
                prop_assert!(!error.hint().is_empty() && !error.to_string().is_empty());
            }
        }
    }
}
