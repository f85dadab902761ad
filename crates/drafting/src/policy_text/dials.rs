//! The seven controls in the words of one plan: value, effect, the policy in one line, and a sample of the next message.

use std::collections::BTreeSet;

use super::FIELDS;
use crate::agent_messages::{
    AgentMessageDraft, compose_message, ideas_shown, options_shown, word_limit,
};
use crate::controller::requires_approval;
use planwright_model::{
    ApprovalPolicy, ApprovalTarget, Autonomy, BrainstormingPreference, ConversationStyle,
    InteractionPolicy, Tone,
};
use planwright_text::units::format_counted;

/// What a plan has to say about its controls.
#[derive(Clone, Copy, Debug)]
pub struct DialFacts<'a> {
    /// The approvals that were given.
    pub approved: &'a BTreeSet<ApprovalTarget>,
    /// What the person is asked to approve at this moment.
    pub pending: Option<ApprovalTarget>,
    /// Whether the goal takes the short way.
    pub small_goal: bool,
    /// Whether planning is over.
    pub is_over: bool,
}

/// One control in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialReading {
    /// Its name in the configuration.
    pub field: &'static str,
    /// Its name on the screen.
    pub name: &'static str,
    pub value: String,
    /// What its value does.
    pub effect: String,
}

/// What the sample of the next message is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleContent {
    pub phases: usize,
    /// The last day, as shown: "Sat 19 Dec".
    pub end: Option<String>,
    /// The names of the versions that were compared.
    pub versions: Vec<String>,
}

/// Describes the controls, in the order of the panel.
pub fn read_dials(policy: &InteractionPolicy, facts: &DialFacts<'_>) -> Vec<DialReading> {
    const ORDER: [&str; 7] = [
        "approval_policy",
        "autonomy",
        "probing_depth",
        "brainstorming_preference",
        "conversation_style",
        "talkativeness",
        "tone",
    ];
    debug_assert!(ORDER.iter().all(|field| FIELDS.contains(field)));
    ORDER.into_iter().map(|field| read_dial(policy, field, facts)).collect()
}

fn read_dial(
    policy: &InteractionPolicy,
    field: &'static str,
    facts: &DialFacts<'_>,
) -> DialReading {
    DialReading {
        field,
        name: dial_name(field),
        value: dial_value(policy, field),
        effect: dial_effect(policy, field, facts),
    }
}

/// The name of a control on the screen.
pub fn dial_name(field: &str) -> &'static str {
    match field {
        "approval_policy" => "approvals",
        "autonomy" => "autonomy",
        "probing_depth" => "questions",
        "brainstorming_preference" => "brainstorming",
        "conversation_style" => "style",
        "talkativeness" => "talkativeness",
        _ => "tone",
    }
}

/// The value of a control in words.
pub fn dial_value(policy: &InteractionPolicy, field: &str) -> String {
    match field {
        "approval_policy" => match policy.approval_policy {
            ApprovalPolicy::SingleFinal => "the final plan only",
            ApprovalPolicy::MilestoneApprovals => "at milestones",
            ApprovalPolicy::StrictEveryStep => "every step",
        }
        .to_owned(),
        "autonomy" => match policy.autonomy {
            Autonomy::Low => "low",
            Autonomy::Medium => "medium",
            Autonomy::High => "high",
        }
        .to_owned(),
        "probing_depth" => match policy.probing_depth {
            0 => "none".to_owned(),
            depth => format!("at most {depth} a round"),
        },
        "brainstorming_preference" => match policy.brainstorming_preference {
            BrainstormingPreference::OnDemand => "when you ask",
            BrainstormingPreference::SuggestWhenUncertain => "when unsure",
            BrainstormingPreference::AlwaysOffer => "always",
        }
        .to_owned(),
        "conversation_style" => match policy.conversation_style {
            ConversationStyle::Concise => "concise",
            ConversationStyle::Standard => "standard",
            ConversationStyle::Conversational => "conversational",
            ConversationStyle::Coach => "coach",
        }
        .to_owned(),
        "talkativeness" => format!("{:.1}", policy.talkativeness),
        _ => match policy.tone {
            Tone::Neutral => "neutral",
            Tone::Friendly => "friendly",
            Tone::Clinical => "clinical",
        }
        .to_owned(),
    }
}

fn dial_effect(policy: &InteractionPolicy, field: &str, facts: &DialFacts<'_>) -> String {
    match field {
        "approval_policy" => approvals_effect(policy, facts),
        "autonomy" => match policy.autonomy {
            Autonomy::Low => "every command asks, and so does the outline",
            Autonomy::Medium => "planned edits run, other commands ask",
            Autonomy::High => "drafts that are sure continue unasked",
        }
        .to_owned(),
        "probing_depth" => match policy.probing_depth {
            0 => "what is missing is assumed and listed".to_owned(),
            _ => "what you skip is assumed and listed".to_owned(),
        },
        "brainstorming_preference" => {
            let ideas = format_counted(ideas_shown(policy), "idea");
            match policy.brainstorming_preference {
                BrainstormingPreference::OnDemand => format!("{ideas} when you press b"),
                BrainstormingPreference::SuggestWhenUncertain => {
                    format!("{ideas} when confidence is low")
                }
                BrainstormingPreference::AlwaysOffer => format!("{ideas} before the first outline"),
            }
        }
        "conversation_style" => {
            let versions = format_counted(options_shown(policy), "version");
            format!("messages of about {} words, {versions}", word_limit(policy))
        }
        "talkativeness" => "shorter left, longer right".to_owned(),
        _ => match policy.tone {
            Tone::Neutral => "no greeting, plain sentences",
            Tone::Friendly => "one greeting, plain sentences",
            Tone::Clinical => "no greeting, no contractions",
        }
        .to_owned(),
    }
}

/// The approvals that are still asked for after the one that is open.
fn open_approvals(policy: &InteractionPolicy, facts: &DialFacts<'_>) -> Vec<ApprovalTarget> {
    if facts.is_over {
        return Vec::new();
    }
    let open = |target: &ApprovalTarget| {
        requires_approval(policy, facts.small_goal, *target)
            && !facts.approved.contains(target)
            && facts.pending.is_none_or(|now| *target > now)
    };
    ApprovalTarget::ALL.into_iter().filter(open).collect()
}

fn approvals_effect(policy: &InteractionPolicy, facts: &DialFacts<'_>) -> String {
    let asked: Vec<&str> = ApprovalTarget::ALL
        .into_iter()
        .filter(|target| requires_approval(policy, facts.small_goal, *target))
        .map(target_words)
        .collect();
    let which = match asked.as_slice() {
        [one] => (*one).to_owned(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
        [] => "nothing".to_owned(),
    };
    let left = match open_approvals(policy, facts).len() {
        0 => "none after this".to_owned(),
        count => format!("{count} more to come"),
    };
    format!("{which}: {left}")
}

fn target_words(target: ApprovalTarget) -> &'static str {
    match target {
        ApprovalTarget::Pattern => "kind",
        ApprovalTarget::Outline => "outline",
        ApprovalTarget::Roadmap => "estimates",
        ApprovalTarget::Final => "final plan",
    }
}

/// The policy in one line, for the card of a plan: what runs unasked, how often the person is asked, and each control
/// that differs from its default.
pub fn describe_policy(policy: &InteractionPolicy, facts: &DialFacts<'_>) -> String {
    let runs = if asks_every_command(policy) {
        "asks before every command"
    } else if policy.autonomy == Autonomy::High {
        "asks only before what can't be undone"
    } else {
        "asks before commands that are not planned"
    };
    let asks = match open_approvals(policy, facts).as_slice() {
        [] => "this is the last approval".to_owned(),
        [one] => format!("then the {}", target_words(*one)),
        more => format!("{} more approvals", more.len()),
    };
    format!("{runs}; {asks}{}", differing_controls(policy))
}

/// The policy in one line for a plan that came from a file: nothing of it is drafted, so that only what runs counts.
pub fn describe_file_policy(policy: &InteractionPolicy) -> String {
    let runs = if asks_every_command(policy) {
        "asks before every command"
    } else {
        "runs what you approve without asking again"
    };
    format!("{runs}{}", differing_controls(policy))
}

/// Whether even an approved command asks before it runs.
fn asks_every_command(policy: &InteractionPolicy) -> bool {
    policy.autonomy == Autonomy::Low || policy.approval_policy == ApprovalPolicy::StrictEveryStep
}

/// Each control that differs from its default.
fn differing_controls(policy: &InteractionPolicy) -> String {
    let usual = InteractionPolicy::default();
    let differing: Vec<String> = FIELDS
        .into_iter()
        .filter(|field| dial_value(policy, field) != dial_value(&usual, field))
        .map(|field| format!("{} {}", dial_name(field), dial_value(policy, field)))
        .collect();
    if differing.is_empty() {
        String::new()
    } else {
        format!("; set by you: {}", differing.join(", "))
    }
}

/// What the next message would read.
pub fn sample_message(
    policy: &InteractionPolicy,
    facts: &DialFacts<'_>,
    content: &SampleContent,
) -> String {
    let phases = format_counted(content.phases, "phase");
    let lead = match &content.end {
        _ if content.phases == 0 => "The outline is ready.".to_owned(),
        Some(end) => format!("The outline has {phases} and ends on {end}."),
        None => format!("The outline has {phases}."),
    };
    let shown: Vec<&str> =
        content.versions.iter().map(String::as_str).take(options_shown(policy)).collect();
    let mut sentences = vec![lead];
    if shown.len() > 1 {
        let count = format_counted(shown.len(), "version");
        sentences.push(format!("{count} are ready: {}.", shown.join(" and ").to_lowercase()));
    }
    sentences.push("Approve it, or say what doesn't fit.".to_owned());
    sentences.extend(next_steps(policy, facts));
    let draft = AgentMessageDraft {
        lead: sentences,
        why: Some("the phases decide how the weeks are filled.".to_owned()),
        next_step: Some("read the phases once.".to_owned()),
        ..AgentMessageDraft::default()
    };
    // The first message shows the tone whole: only that one greets.
    let text = compose_message(policy, true, &draft);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What comes after the draft under a policy, in sentences: approvals, commands, questions, ideas.
fn next_steps(policy: &InteractionPolicy, facts: &DialFacts<'_>) -> Vec<String> {
    let approvals = match open_approvals(policy, facts).as_slice() {
        [] => "Nothing else needs your approval.".to_owned(),
        [one] => format!("The {} comes next.", target_words(*one)),
        more => format!("{} more approvals follow.", more.len()),
    };
    let commands = if asks_every_command(policy) {
        "Every command asks you first."
    } else if policy.autonomy == Autonomy::High {
        "Only what can't be undone asks you first."
    } else {
        "Commands that are not planned ask you first."
    };
    let mut steps = vec![approvals, commands.to_owned()];
    match policy.probing_depth {
        0 => steps.push("What is missing is assumed.".to_owned()),
        1 => {}
        depth => steps.push(format!("Up to {depth} questions come at once.")),
    }
    let ideas = format_counted(ideas_shown(policy), "idea");
    match policy.brainstorming_preference {
        BrainstormingPreference::AlwaysOffer => steps.push(format!("{ideas} stand beside it.")),
        BrainstormingPreference::OnDemand => steps.push("Ideas come when you ask.".to_owned()),
        BrainstormingPreference::SuggestWhenUncertain => {}
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy_text::{ControlDirection, step_control};

    fn facts(approved: &BTreeSet<ApprovalTarget>) -> DialFacts<'_> {
        DialFacts {
            approved,
            pending: Some(ApprovalTarget::Outline),
            small_goal: false,
            is_over: false,
        }
    }

    #[test]
    fn every_control_that_acts_changes_what_it_says_when_it_is_turned() {
        let none = BTreeSet::new();
        let facts = facts(&none);
        let policy = InteractionPolicy::default();
        for (place, field) in FIELDS.into_iter().enumerate() {
            let turned = [ControlDirection::Next, ControlDirection::Previous]
                .into_iter()
                .find_map(|turn| step_control(&policy, field, turn))
                .unwrap();
            let other = policy.clone().with_overrides(&turned);
            let before = read_dials(&policy, &facts);
            let after = read_dials(&other, &facts);
            assert_ne!(before, after, "{place} {field}");
            assert_ne!(
                describe_policy(&policy, &facts),
                describe_policy(&other, &facts),
                "{field}"
            );
        }
    }

    #[test]
    fn the_sample_changes_with_every_control_that_acts() {
        let none = BTreeSet::new();
        let content = SampleContent { phases: 5, ..SampleContent::default() };
        let facts = facts(&none);
        let policy = InteractionPolicy::default();
        // Length shows where there is more to say than fits.
        for dial in read_dials(&policy, &facts).iter().filter(|dial| dial.field != "talkativeness")
        {
            let turned = [ControlDirection::Next, ControlDirection::Previous]
                .into_iter()
                .filter_map(|turn| step_control(&policy, dial.field, turn))
                .map(|set| policy.clone().with_overrides(&set));
            let before = sample_message(&policy, &facts, &content);
            let is_same =
                |other: InteractionPolicy| sample_message(&other, &facts, &content) == before;
            assert!(!turned.into_iter().all(is_same), "{}", dial.field);
        }
    }

    #[test]
    fn the_sample_follows_style_and_tone() {
        let none = BTreeSet::new();
        let facts = facts(&none);
        let content = SampleContent {
            phases: 5,
            end: Some("Sat 19 Dec".to_owned()),
            versions: vec!["Balanced".to_owned(), "Lean".to_owned(), "Thorough".to_owned()],
        };
        let standard = sample_message(&InteractionPolicy::default(), &facts, &content);
        assert!(
            standard.contains("The outline has 5 phases and ends on Sat 19 Dec."),
            "{standard}"
        );
        assert!(standard.contains("2 versions are ready: balanced and lean."), "{standard}");
        let coach = InteractionPolicy {
            conversation_style: ConversationStyle::Coach,
            ..InteractionPolicy::default()
        };
        assert_ne!(sample_message(&coach, &facts, &content), standard);
        let friendly = InteractionPolicy { tone: Tone::Friendly, ..InteractionPolicy::default() };
        let neutral = InteractionPolicy { tone: Tone::Neutral, ..InteractionPolicy::default() };
        let clinical = InteractionPolicy { tone: Tone::Clinical, ..InteractionPolicy::default() };
        let samples =
            [&friendly, &neutral, &clinical].map(|policy| sample_message(policy, &facts, &content));
        assert!(samples[0] != samples[1] && samples[1] != samples[2], "{samples:#?}");
    }
}
