//! What the agent says when no model says it: as many words as the policy allows, in its tone, with one request at the end.
//!
//! Everything here is a pure function of the policy and of what is to be said. Sentences and points are dropped whole
//! and from the end; the request and the list of broken rules are never dropped and do not count.

mod call_to_action;
mod ideas;
#[cfg(test)]
mod tests;
mod tone;

pub use call_to_action::{CallToAction, CallToActionForm, CallToActionKind};
pub use ideas::{option_lines, suggest_ideas};
pub use tone::format_quantity;

use planwright_model::{BrainstormingPreference, ConversationStyle, InteractionPolicy, Tone};

/// What is to be said, before the policy has its say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentMessageDraft {
    /// Sentences, the most important first.
    pub lead: Vec<String>,
    /// A list, the most important first.
    pub points: Vec<String>,
    /// Broken rules, which are all listed.
    pub violations: Vec<String>,
    pub why: Option<String>,
    pub next_step: Option<String>,
    /// One more line before the request, which asks for nothing that must be answered.
    pub aside: Option<String>,
    /// What the person is asked to do.
    pub cta: Option<CallToAction>,
}

const GREETING: &str = "Good to have you here.";
/// What a coach says when nothing better is known.
const COMMON_WHY: &str = "every later step rests on this one.";
const COMMON_NEXT: &str = "read it once and say what you think.";

/// The most words of a message, its request and its broken rules not counted.
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

/// How many options are shown.
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

/// How many ideas are offered at once.
pub fn ideas_shown(policy: &InteractionPolicy) -> usize {
    if policy.conversation_style == ConversationStyle::Concise { 2 } else { 3 }
}

/// Whether ideas are offered unasked: `confidence` is C of the last stage, `margin` the lead of the pattern, `already`
/// whether they were offered in this session.
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

/// The line that is added to the first message while nobody knows how much the person likes to read.
pub fn preference_line() -> &'static str {
    "Short or chatty answers?"
}

/// Puts a speech into words.
pub fn compose_message(
    policy: &InteractionPolicy,
    first_message: bool,
    speech: &AgentMessageDraft,
) -> String {
    let mut tone = tone::ToneWriter::new(policy.tone);
    let asked = speech.cta.as_ref().map(ToString::to_string);
    // Two requests in one message leave the reader to choose between them.
    let fresh = |text: &&String| asked.as_ref().is_none_or(|cta| !text.contains(cta.as_str()));
    let mut room = word_limit(policy);
    let greets = first_message && policy.tone == Tone::Friendly;
    let greeting = greets.then(|| GREETING.to_owned());
    room = room.saturating_sub(greeting.as_deref().map_or(0, count_words));
    let aside = speech.aside.as_ref().filter(fresh).map(|line| tone.apply_tone(line));
    room = room.saturating_sub(aside.as_deref().map_or(0, count_words));

    let coach = policy.conversation_style == ConversationStyle::Coach;
    let mut told = |label: &str, text: Option<&String>, common: &str, share: usize| {
        let text = text.filter(|text| fresh(text)).map_or(common, String::as_str);
        let text = tone.apply_tone(text);
        let text = if text.is_empty() { common.to_owned() } else { text };
        format!("{label}: {}", truncate_words(&text, share))
    };
    let limit = room;
    let why = coach.then(|| told("Why", speech.why.as_ref(), COMMON_WHY, limit / 4));
    let next = coach.then(|| told("Next", speech.next_step.as_ref(), COMMON_NEXT, limit / 4));
    room = room
        .saturating_sub([&why, &next].into_iter().flatten().map(|line| count_words(line)).sum());

    let lead = take_fitting(
        speech.lead.iter().filter(fresh),
        &mut tone,
        &mut room,
        MessageTruncation::FirstOnly,
    );
    let points = take_fitting(
        speech.points.iter().filter(fresh),
        &mut tone,
        &mut room,
        MessageTruncation::Never,
    );
    let explains = !coach && policy.conversation_style != ConversationStyle::Concise;
    let reason =
        speech.why.iter().filter(|text| explains && fresh(text)).map(|why| format!("Why: {why}"));
    let reason: Vec<String> = reason.collect();
    let reason = take_fitting(reason.iter(), &mut tone, &mut room, MessageTruncation::Never);

    let listed = |items: Vec<String>| items.into_iter().map(|item| format!("- {item}"));
    let violations = speech.violations.iter().filter(fresh).map(|text| tone.apply_tone(text));
    let violations: Vec<String> = violations.filter(|text| !text.is_empty()).collect();
    let mut lines: Vec<String> = greeting.into_iter().collect();
    lines.extend(Some(lead.join(" ")).filter(|lead| !lead.is_empty()));
    lines.extend(listed(points));
    lines.extend(listed(violations));
    lines.extend(reason);
    lines.extend(why);
    lines.extend(next);
    lines.extend(aside);
    lines.extend(asked);
    lines.join("\n")
}

/// Whether a first text that does not fit may be cut inside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageTruncation {
    Never,
    FirstOnly,
}

/// Takes texts while there is room; the first that does not fit ends it.
fn take_fitting<'a>(
    texts: impl Iterator<Item = &'a String>,
    tone: &mut tone::ToneWriter,
    room: &mut usize,
    whole: MessageTruncation,
) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        let text = tone.clean(text);
        let count = count_words(&text);
        if count > *room {
            // Saying half a sentence is better than saying nothing.
            if found.is_empty() && whole == MessageTruncation::FirstOnly && *room > 0 {
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

/// Words as people count them: what stands between spaces, lone signs not.
pub fn count_words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// The first words of a text.
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
