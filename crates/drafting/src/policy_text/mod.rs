//! The interaction policy in words: the current effect of each control, setting it by name, and the meaning of one-off
//! remarks.

mod dials;
mod remarks;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

pub use dials::{
    DialFacts, DialReading, SampleContent, describe_file_policy, describe_policy, dial_name,
    dial_value, read_dials, sample_message,
};
pub use remarks::{parse_pure_remark, parse_remark};

use crate::agent_messages::{ideas_shown, options_shown, word_limit};
use crate::controller::requires_approval;
use planwright_model::{
    ApprovalTarget, Autonomy, BrainstormingPreference, ConversationStyle, InteractionPolicy,
    PolicyOverride, Tone,
};
use planwright_text::nearest_name;

/// The seven controls, in display order.
pub const FIELDS: [&str; 7] = [
    "conversation_style",
    "talkativeness",
    "autonomy",
    "brainstorming_preference",
    "approval_policy",
    "probing_depth",
    "tone",
];

/// One control, its value and its effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyRow {
    pub field: &'static str,
    pub value: String,
    pub effect: String,
}

/// Why a control could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("the policy has no \"{name}\"")]
    UnknownField { name: String, nearest: Option<&'static str> },
    #[error("{field} cannot be \"{value}\"")]
    UnknownValue { field: &'static str, value: String, nearest: Option<&'static str> },
}

impl PolicyError {
    /// Returns a valid alternative.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownField { nearest: Some(name), .. }
            | Self::UnknownValue { nearest: Some(name), .. } => format!("did you mean {name}?"),
            Self::UnknownField { .. } => format!("it has {}", FIELDS.join(", ")),
            Self::UnknownValue { field, .. } => match value_names(field) {
                [] if *field == "talkativeness" => "give a number from 0 to 1".to_owned(),
                [] => "give a number from 0 to 3".to_owned(),
                list => format!("choose one of {}", list.join(", ")),
            },
        }
    }
}

/// Returns the allowed names of a control; empty if it is a number.
fn value_names(field: &str) -> &'static [&'static str] {
    match field {
        "conversation_style" => &["concise", "standard", "conversational", "coach"],
        "autonomy" => &["low", "medium", "high"],
        "brainstorming_preference" => &["on_demand", "suggest_when_uncertain", "always_offer"],
        "approval_policy" => &["single_final", "milestone_approvals", "strict_every_step"],
        "tone" => &["neutral", "friendly", "clinical"],
        _ => &[],
    }
}

/// Returns the value of a control as text.
pub fn control_value(policy: &InteractionPolicy, field: &str) -> Option<String> {
    let fields = serde_json::to_value(policy).ok()?;
    Some(match fields.get(field)? {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    })
}

/// Describes the current effect of each control. `approved` are the approvals already given.
pub fn describe_controls(
    policy: &InteractionPolicy,
    approved: &BTreeSet<ApprovalTarget>,
    small_goal: bool,
) -> Vec<PolicyRow> {
    let row = |field: &'static str| PolicyRow {
        field,
        value: control_value(policy, field).unwrap_or_default(),
        effect: control_effect(policy, field, approved, small_goal),
    };
    FIELDS.into_iter().map(row).collect()
}

fn control_effect(
    policy: &InteractionPolicy,
    field: &str,
    approved: &BTreeSet<ApprovalTarget>,
    small_goal: bool,
) -> String {
    match field {
        "conversation_style" => style_effect(policy),
        "talkativeness" => format!("messages have at most {} words", word_limit(policy)),
        "autonomy" => autonomy_effect(policy.autonomy).to_owned(),
        "brainstorming_preference" => brainstorming_effect(policy),
        "approval_policy" => approvals_effect(policy, approved, small_goal),
        "probing_depth" => match policy.probing_depth {
            0 => "nothing is asked, what is missing is assumed and listed".to_owned(),
            1 => "at most 1 question a round".to_owned(),
            count => format!("at most {count} questions a round"),
        },
        "tone" => match policy.tone {
            Tone::Neutral => "no greeting, no exclamation marks",
            Tone::Friendly => "a greeting at the start, at most one exclamation mark",
            Tone::Clinical => "no greeting, no contractions, every number with its unit",
        }
        .to_owned(),
        _ => String::new(),
    }
}

fn style_effect(policy: &InteractionPolicy) -> String {
    let options = options_shown(policy);
    let adds = match policy.conversation_style {
        ConversationStyle::Concise => "no reasons unless you ask",
        ConversationStyle::Standard => "reasons where they fit",
        ConversationStyle::Conversational => "reasons and more room",
        ConversationStyle::Coach => "one reason and one next step in every message",
    };
    format!("{options} options are shown, {adds}")
}

fn autonomy_effect(autonomy: Autonomy) -> &'static str {
    match autonomy {
        Autonomy::High => {
            "drafts that are sure enough continue without asking, one small change to fit may be made"
        }
        Autonomy::Medium => "approvals are asked as set below, nothing is relaxed unasked",
        Autonomy::Low => {
            "the outline is always asked with all assumptions, later changes wait for you"
        }
    }
}

fn brainstorming_effect(policy: &InteractionPolicy) -> String {
    let count = ideas_shown(policy);
    match policy.brainstorming_preference {
        BrainstormingPreference::OnDemand => "ideas only when you ask for them".to_owned(),
        BrainstormingPreference::SuggestWhenUncertain => {
            format!("{count} ideas when a draft or the pattern is not sure")
        }
        BrainstormingPreference::AlwaysOffer => format!("{count} ideas before the first outline"),
    }
}

fn approvals_effect(
    policy: &InteractionPolicy,
    approved: &BTreeSet<ApprovalTarget>,
    small_goal: bool,
) -> String {
    // The final approval includes all earlier ones.
    let done = approved.contains(&ApprovalTarget::Final);
    let open: Vec<&str> = ApprovalTarget::ALL
        .into_iter()
        .filter(|target| {
            !done && requires_approval(policy, small_goal, *target) && !approved.contains(target)
        })
        .map(ApprovalTarget::as_str)
        .collect();
    let times = match open.len() {
        0 => return "you will not be asked again".to_owned(),
        1 => "1 more time".to_owned(),
        count => format!("{count} more times"),
    };
    let skipped = small_goal
        && !requires_approval(policy, true, ApprovalTarget::Outline)
        && requires_approval(policy, false, ApprovalTarget::Outline);
    let small = if skipped { "; a small goal skips the outline" } else { "" };
    format!("you will be asked {times}: {}{small}", open.join(", "))
}

/// Sets one control by name, as `--policy key=value` does.
pub fn set_control(field: &str, value: &str) -> Result<PolicyOverride, PolicyError> {
    let wanted = field.trim().to_lowercase().replace('-', "_");
    let Some(field) = FIELDS.into_iter().find(|name| *name == wanted) else {
        let nearest = nearest_name(&wanted, FIELDS);
        return Err(PolicyError::UnknownField { name: field.trim().to_owned(), nearest });
    };
    let plain = value.trim().to_lowercase().replace([' ', '-'], "_");
    let unknown = || PolicyError::UnknownValue {
        field,
        value: value.trim().to_owned(),
        nearest: nearest_name(&plain, value_names(field).iter().copied()),
    };
    let value = match field {
        "talkativeness" => {
            let number = value.trim().parse::<f64>().ok().filter(|v| (0.0..=1.0).contains(v));
            json!(number.ok_or_else(unknown)?)
        }
        "probing_depth" => {
            json!(value.trim().parse::<u8>().ok().filter(|v| *v <= 3).ok_or_else(unknown)?)
        }
        _ if value_names(field).contains(&plain.as_str()) => json!(plain),
        _ => return Err(unknown()),
    };
    serde_json::from_value(json!({ field: value })).map_err(|_| unknown())
}

/// The direction in which a control is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlDirection {
    Next,
    Previous,
}

/// Changes a control by one step; `None` at its end.
pub fn step_control(
    policy: &InteractionPolicy,
    field: &str,
    turn: ControlDirection,
) -> Option<PolicyOverride> {
    let step = match turn {
        ControlDirection::Next => 1,
        ControlDirection::Previous => -1,
    };
    let value = match field {
        "talkativeness" => {
            // In tenths, so that ten steps cover the entire range.
            let tenths = (policy.talkativeness * 10.0).round() as i64 + step;
            (0..=10).contains(&tenths).then(|| format!("{:.1}", tenths as f64 / 10.0))?
        }
        "probing_depth" => {
            let depth = i64::from(policy.probing_depth) + step;
            (0..=3).contains(&depth).then(|| depth.to_string())?
        }
        _ => {
            let now = control_value(policy, field)?;
            let place = value_names(field).iter().position(|name| *name == now)?;
            let place = usize::try_from(place as i64 + step).ok()?;
            (*value_names(field).get(place)?).to_owned()
        }
    };
    set_control(field, &value).ok()
}
