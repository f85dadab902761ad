//! Remarks such as "be brief today": only the controls they mention are changed, and only for the session.

use planwright_model::{
    ApprovalPolicy, Autonomy, BrainstormingPreference, ConversationStyle, PolicyOverride, Tone,
};

/// Phrases with the same meaning. Longer ones come before those they contain.
type PolicyRemark = (&'static [&'static str], RemarkEffect);
type RemarkEffect = fn(&mut PolicyOverride);

const REMARKS: [PolicyRemark; 19] = [
    (
        &[
            "no small talk",
            "skip the pleasantries",
            "no pleasantries",
            "be neutral",
            "neutral tone",
        ],
        |set| {
            set.tone = Some(Tone::Neutral);
        },
    ),
    (
        &[
            "be clinical",
            "clinical tone",
            "be formal",
            "formal tone",
            "just the facts",
            "be factual",
        ],
        |set| {
            set.tone = Some(Tone::Clinical);
        },
    ),
    (&["be friendly", "friendly tone", "be nice"], |set| set.tone = Some(Tone::Friendly)),
    (
        &[
            "be brief",
            "keep it brief",
            "be concise",
            "keep it short",
            "be short",
            "short answers",
            "be quick",
            "less talk",
            "fewer words",
            "less detail",
            "tl;dr",
        ],
        |set| set.conversation_style = Some(ConversationStyle::Concise),
    ),
    (
        &[
            "more detail",
            "more details",
            "explain more",
            "tell me more",
            "be chatty",
            "chatty answers",
            "talk more",
            "be conversational",
        ],
        |set| set.conversation_style = Some(ConversationStyle::Conversational),
    ),
    (&["coach me", "be my coach", "guide me"], |set| {
        set.conversation_style = Some(ConversationStyle::Coach);
    }),
    (&["be normal", "as usual", "standard answers"], |set| {
        set.conversation_style = Some(ConversationStyle::Standard);
    }),
    (
        &["ask me everything", "ask about everything", "ask me about everything", "ask everything"],
        |set| {
            set.approval_policy = Some(ApprovalPolicy::StrictEveryStep);
            set.probing_depth = Some(3);
        },
    ),
    (
        &[
            "ask me every step",
            "ask at every step",
            "ask before every step",
            "ask me at every step",
        ],
        |set| {
            set.approval_policy = Some(ApprovalPolicy::StrictEveryStep);
        },
    ),
    (
        &[
            "only ask at the end",
            "ask me once",
            "ask only once",
            "ask me at the end",
            "only ask me at the end",
        ],
        |set| set.approval_policy = Some(ApprovalPolicy::SingleFinal),
    ),
    (
        &["no questions", "don't ask questions", "do not ask questions", "no more questions"],
        |set| {
            set.probing_depth = Some(0);
        },
    ),
    (&["don't ask", "do not ask", "stop asking", "without asking"], |set| {
        set.approval_policy = Some(ApprovalPolicy::SingleFinal);
        set.probing_depth = Some(0);
    }),
    (&["ask more questions", "more questions"], |set| set.probing_depth = Some(3)),
    (&["fewer questions", "less questions"], |set| set.probing_depth = Some(1)),
    (&["just do it", "on your own", "decide for me", "you decide", "be autonomous"], |set| {
        set.autonomy = Some(Autonomy::High);
    }),
    (&["ask me before you change", "check with me", "i decide", "ask before changing"], |set| {
        set.autonomy = Some(Autonomy::Low);
    }),
    (
        &[
            "no ideas",
            "no brainstorming",
            "don't brainstorm",
            "do not brainstorm",
            "no suggestions",
        ],
        |set| {
            set.brainstorming_preference = Some(BrainstormingPreference::OnDemand);
        },
    ),
    (
        &["give me ideas", "always offer ideas", "brainstorm", "more ideas", "suggest ideas"],
        |set| {
            set.brainstorming_preference = Some(BrainstormingPreference::AlwaysOffer);
        },
    ),
    (&["talk less", "quieter"], |set| set.talkativeness = Some(0.2)),
];

/// Words that may surround a remark without adding a meaning.
const FILLERS: [&str; 20] = [
    "today", "please", "now", "and", "but", "for", "this", "session", "time", "with", "me", "just",
    "a", "bit", "so", "thanks", "i", "want", "give", "prefer",
];

/// Answers to the preference line, if nothing else is in the text.
const STYLES: [(&str, ConversationStyle); 3] = [
    ("short", ConversationStyle::Concise),
    ("brief", ConversationStyle::Concise),
    ("chatty", ConversationStyle::Conversational),
];

/// Parses a one-off remark. Controls that it does not mention stay unset; unknown words have no effect.
pub fn parse_remark(words: &str) -> PolicyOverride {
    extract_remarks(words).0
}

/// Parses a text that is only a remark; `None` if it contains anything else.
pub fn parse_pure_remark(words: &str) -> Option<PolicyOverride> {
    let (mut set, rest) = extract_remarks(words);
    let left: Vec<&str> = rest
        .split(|c: char| c == '\0' || c.is_whitespace())
        .filter(|word| !word.is_empty() && !FILLERS.contains(word))
        .collect();
    match left.as_slice() {
        [] => {}
        [word] => {
            let (_, style) = STYLES.iter().find(|(name, _)| name == word)?;
            set.conversation_style = Some(*style);
        }
        _ => return None,
    }
    (set != PolicyOverride::default()).then_some(set)
}

/// Returns the settings of a text, and the text with the understood parts removed.
fn extract_remarks(words: &str) -> (PolicyOverride, String) {
    let mut rest = normalize_remark(words);
    let mut found: Vec<(usize, RemarkEffect)> = Vec::new();
    let mut phrases: Vec<(&str, RemarkEffect)> = REMARKS
        .iter()
        .flat_map(|(phrases, apply)| phrases.iter().map(|phrase| (*phrase, *apply)))
        .collect();
    // Longest first: "don't ask questions" is not "don't ask".
    phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
    for (phrase, apply) in phrases {
        let padded = format!(" {} ", normalize_remark(phrase).trim());
        while let Some(at) = rest.find(&padded) {
            found.push((at, apply));
            rest.replace_range(at + 1..at + padded.len() - 1, &"\0".repeat(padded.len() - 2));
        }
    }
    // Of two remarks about the same control the later one applies.
    found.sort_by_key(|(at, _)| *at);
    let mut set = PolicyOverride::default();
    for (_, apply) in found {
        apply(&mut set);
    }
    (set, rest)
}

/// Returns lowercase words separated by single spaces, with a space at both ends.
fn normalize_remark(text: &str) -> String {
    let plain: String = text
        .to_lowercase()
        .replace('’', "'")
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    format!(" {} ", words.join(" "))
}
