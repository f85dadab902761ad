//! Messages of the agent that are written without a model: as long as the policy allows, in its tone, with one request
//! at the end.
//!
//! Everything here is a pure function of the policy and the content. Entire sentences and points are dropped from the
//! end; the request and the list of broken rules are never dropped and do not count toward the limit.

mod call_to_action;
mod ideas;
#[cfg(test)]
mod tests;
mod tone;

pub use call_to_action::{CallToAction, CallToActionForm, CallToActionKind};
pub use ideas::{option_lines, suggest_ideas};
pub use tone::format_quantity;

use planwright_model::{BrainstormingPreference, ConversationStyle, InteractionPolicy, Tone};

/// The content of a message, before the policy is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentMessageDraft {
    /// Sentences, most important first.
    pub lead: Vec<String>,
    /// A list, most important first.
    pub points: Vec<String>,
    /// Broken rules, which are always listed.
    pub violations: Vec<String>,
    pub why: Option<String>,
    pub next_step: Option<String>,
    /// One more line before the request, which does not require an answer.
    pub aside: Option<String>,
    /// What the person is asked to do.
    pub cta: Option<CallToAction>,
}

const GREETING: &str = "Good to have you here.";
/// The reason a coach gives if no better one is known.
const DEFAULT_WHY: &str = "every later step rests on this one.";
const DEFAULT_NEXT: &str = "read it once and say what you think.";

/// Returns the maximum number of words in a message, excluding its request and its broken rules.
pub fn word_limit(policy: &InteractionPolicy) -> usize {
    let base = match policy.conversation_style {
        ConversationStyle::Concise => 60.0,
        ConversationStyle::Standard => 120.0,
        ConversationStyle::Conversational => 200.0,
        ConversationStyle::Coach => 240.0,
    };
    (base * (0.5 + clamped_talkativeness(policy))).round() as usize
}

fn clamped_talkativeness(policy: &InteractionPolicy) -> f64 {
    if policy.talkativeness.is_nan() { 0.5 } else { policy.talkativeness.clamp(0.0, 1.0) }
}

/// Returns the number of displayed options.
pub fn options_shown(policy: &InteractionPolicy) -> usize {
    let style = policy.conversation_style;
    let talks = clamped_talkativeness(policy);
    match style {
        ConversationStyle::Concise => 2,
        _ if talks >= 0.7 => 3,
        _ if talks < 0.3 => 2,
        ConversationStyle::Standard => 2,
        ConversationStyle::Conversational | ConversationStyle::Coach => 3,
    }
}

/// Returns the number of ideas offered at once.
pub fn ideas_shown(policy: &InteractionPolicy) -> usize {
    if policy.conversation_style == ConversationStyle::Concise { 2 } else { 3 }
}

/// Returns whether ideas are offered without being asked for: `confidence` is C of the last stage, `margin` the lead of
/// the pattern, `already` whether they were offered in this session.
pub fn should_offer_ideas(
    policy: &InteractionPolicy,
    confidence: Option<f64>,
    margin: Option<f64>,
    already: bool,
) -> bool {
    match policy.brainstorming_preference {
        BrainstormingPreference::OnDemand => false,
        BrainstormingPreference::SuggestWhenUncertain => {
            confidence.is_some_and(|value| (0.40..0.70).contains(&value))
                || margin.is_some_and(|margin| margin < 0.10)
        }
        BrainstormingPreference::AlwaysOffer => !already,
    }
}

/// Returns the line that is added to the first message while the person's preferred length is unknown.
pub fn preference_line() -> &'static str {
    "Short or chatty answers?"
}

/// Renders a message.
pub fn compose_message(
    policy: &InteractionPolicy,
    first_message: bool,
    draft: &AgentMessageDraft,
) -> String {
    let mut tone = tone::ToneWriter::new(policy.tone);
    let request = draft.cta.as_ref().map(ToString::to_string);
    // Two requests in one message would leave the reader to choose between them.
    let fresh = |text: &&String| request.as_ref().is_none_or(|cta| !text.contains(cta.as_str()));
    let mut room = word_limit(policy);
    let greets = first_message && policy.tone == Tone::Friendly;
    let greeting = greets.then(|| GREETING.to_owned());
    room = room.saturating_sub(greeting.as_deref().map_or(0, count_words));
    let aside = draft.aside.as_ref().filter(fresh).map(|line| tone.apply_tone(line));
    room = room.saturating_sub(aside.as_deref().map_or(0, count_words));

    let coach = policy.conversation_style == ConversationStyle::Coach;
    let mut labeled_line = |label: &str, text: Option<&String>, common: &str, share: usize| {
        let text = text.filter(|text| fresh(text)).map_or(common, String::as_str);
        let text = tone.apply_tone(text);
        let text = if text.is_empty() { common.to_owned() } else { text };
        format!("{label}: {}", truncate_words(&text, share))
    };
    let limit = room;
    let why = coach.then(|| labeled_line("Why", draft.why.as_ref(), DEFAULT_WHY, limit / 4));
    let next =
        coach.then(|| labeled_line("Next", draft.next_step.as_ref(), DEFAULT_NEXT, limit / 4));
    room = room
        .saturating_sub([&why, &next].into_iter().flatten().map(|line| count_words(line)).sum());

    let lead = take_fitting(
        draft.lead.iter().filter(fresh),
        &mut tone,
        &mut room,
        MessageTruncation::FirstOnly,
    );
    let points = take_fitting(
        draft.points.iter().filter(fresh),
        &mut tone,
        &mut room,
        MessageTruncation::Never,
    );
    let explains = !coach && policy.conversation_style != ConversationStyle::Concise;
    let reason =
        draft.why.iter().filter(|text| explains && fresh(text)).map(|why| format!("Why: {why}"));
    let reason: Vec<String> = reason.collect();
    let reason = take_fitting(reason.iter(), &mut tone, &mut room, MessageTruncation::Never);

    let listed = |items: Vec<String>| items.into_iter().map(|item| format!("- {item}"));
    let violations = draft.violations.iter().filter(fresh).map(|text| tone.apply_tone(text));
    let violations: Vec<String> = violations.filter(|text| !text.is_empty()).collect();
    let mut lines: Vec<String> = greeting.into_iter().collect();
    lines.extend(Some(lead.join(" ")).filter(|lead| !lead.is_empty()));
    lines.extend(listed(points));
    lines.extend(listed(violations));
    lines.extend(reason);
    lines.extend(why);
    lines.extend(next);
    lines.extend(aside);
    lines.extend(request);
    lines.join("\n")
}

/// Whether a first text that does not fit may be truncated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageTruncation {
    Never,
    FirstOnly,
}

/// Takes texts while there is room; the first that does not fit ends the list.
fn take_fitting<'a>(
    texts: impl Iterator<Item = &'a String>,
    tone: &mut tone::ToneWriter,
    room: &mut usize,
    truncation: MessageTruncation,
) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        let text = tone.clean(text);
        let count = count_words(&text);
        if count > *room {
            // Half a sentence is better than an empty message.
            if found.is_empty() && truncation == MessageTruncation::FirstOnly && *room > 0 {
                found.push(tone.apply_tone(&truncate_words(&text, *room)));
                *room = 0;
            }
            break;
        }
        *room -= count;
        let text = tone.apply_tone(&text);
        found.extend(Some(text).filter(|text| !text.is_empty()));
    }
    found
}

/// Counts words as people do: separated by spaces, excluding single punctuation marks.
pub fn count_words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Returns the first words of a text.
fn truncate_words(text: &str, limit: usize) -> String {
    if count_words(text) <= limit {
        return text.to_owned();
    }
    let mut left = limit;
    let kept: Vec<&str> = text
        .split_whitespace()
        .take_while(|word| {
            let counts = word.chars().any(char::is_alphanumeric);
            left = left.saturating_sub(usize::from(counts && left > 0));
            !counts || left > 0
        })
        .collect();
    format!("{} …", kept.join(" "))
}
