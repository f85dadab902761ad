//! What the agent says about what it asks, on the card: as long and in the tone that the person set.

use super::content::{CardLine, CardSource};
use crate::keymap::{KeyAction, Keymap};
use crate::theme::ThemeRole;
use planwright_drafting::agent_messages::{CallToActionKind, preference_line};
use planwright_state::PlanningSlice;
use planwright_text::{clean_line, wrap_words};

/// The most lines that a message adds to the facts of a plan before they scroll.
pub(super) const MOST_MESSAGE_LINES: u16 = 8;
/// A card that is narrower has its facts first; the message is among the details.
const WIDE: usize = 130;

/// Whether the words of a message go before everything else: the person said how they want to be talked to, or is asked
/// that.
fn is_message_wanted(planning: &PlanningSlice) -> bool {
    let set = &planning.policy_set;
    let chosen =
        set.conversation_style.is_some() || set.talkativeness.is_some() || set.tone.is_some();
    chosen || planning.response_text.contains(preference_line())
}

/// How much of a message a card has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentMessagePart {
    /// All of it.
    Whole,
    /// What a card with its own list does not say: everything but the points.
    WithoutList,
}

/// The message, wrapped; nothing on a narrow card unless it is wanted or details are shown.
pub(super) fn message_lines(
    shown: CardSource<'_>,
    part: AgentMessagePart,
    width: usize,
) -> Vec<CardLine> {
    let planning = &shown.state.planning;
    let wanted = is_message_wanted(planning) || shown.terms;
    if !planning.begun || !(wanted || width >= WIDE) {
        return Vec::new();
    }
    let has_list = part == AgentMessagePart::Whole || wanted;
    let lines = planning.response_text.lines().map(clean_line);
    let lines =
        lines.filter(|line| !line.trim().is_empty() && (has_list || !(line.starts_with("- "))));
    let wrapped = lines.flat_map(|line| {
        let line = with_keys(&line, shown.keymap);
        let indent = if line.starts_with("- ") { 2 } else { 0 };
        let parts = wrap_words(&line, width, indent);
        parts.into_iter().map(|part| vec![(part.into_owned(), ThemeRole::Text)]).collect::<Vec<_>>()
    });
    wrapped.collect()
}

/// A line of the message; what to reply at a prompt is what to press on a screen.
fn with_keys(line: &str, keymap: &Keymap) -> String {
    match CallToActionKind::of_reply_prompt(line) {
        Some(asked) => asked.key_prompt(&|key| keymap.key_hint(prompt_action(key))),
        None => line.to_owned(),
    }
}

/// What a letter of a request for keys stands for.
fn prompt_action(key: char) -> KeyAction {
    match key {
        'A' => KeyAction::YesWider,
        'r' => KeyAction::RequestChanges,
        'x' => KeyAction::No,
        'e' => KeyAction::Edit,
        'S' => KeyAction::PassOver,
        'R' => KeyAction::Again,
        _ => KeyAction::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;
    use planwright_drafting::agent_messages::{
        AgentMessageDraft, CallToAction, CallToActionForm, compose_message,
    };
    use planwright_model::{ConversationStyle, PolicyOverride, Tone};
    use planwright_state::SessionState;

    /// The lines of a card for a message.
    fn lines_of(planning: PlanningSlice, width: usize, terms: bool) -> Vec<String> {
        let state = SessionState { planning, ..planned::scheduled().state() };
        let keymap = Keymap::default();
        let shown = CardSource {
            state: &state,
            rows: &[],
            changes: None,
            keymap: &keymap,
            today: jiff::civil::date(2026, 6, 8),
            terms,
            amount: None,
        };
        let lines = message_lines(shown, AgentMessagePart::Whole, width);
        lines.into_iter().map(|line| line.into_iter().map(|(text, _)| text).collect()).collect()
    }

    /// The lines of the card under a policy, for one and the same content.
    fn shown(set: PolicyOverride) -> Vec<String> {
        let mut planning =
            PlanningSlice { begun: true, policy_set: set, ..PlanningSlice::default() };
        let sentences = |count: usize| {
            (0..count).map(|at| format!("Point {at} of the plan, in a few words more.")).collect()
        };
        let draft = AgentMessageDraft {
            lead: sentences(3),
            points: sentences(20),
            why: Some("It begins with what takes longest, perhaps.".to_owned()),
            next_step: Some("Approve it to start!".to_owned()),
            ..AgentMessageDraft::default()
        };
        planning.response_text = compose_message(&planning.interaction_policy(), true, &draft);
        lines_of(planning, 140, false)
    }

    fn style(style: ConversationStyle) -> PolicyOverride {
        PolicyOverride { conversation_style: Some(style), ..PolicyOverride::default() }
    }

    #[test]
    fn the_style_decides_how_much_is_explained() {
        let (concise, coach) =
            (shown(style(ConversationStyle::Concise)), shown(style(ConversationStyle::Coach)));
        assert!(concise.len() < coach.len());
        assert!(coach.iter().any(|line| line.starts_with("Why: ")), "{coach:?}");
        assert!(coach.iter().any(|line| line.starts_with("Next: ")), "{coach:?}");
        assert!(!concise.iter().any(|line| line.starts_with("Why: ")), "{concise:?}");
    }

    #[test]
    fn the_talkativeness_decides_how_many_points_there_are() {
        let points = |talkativeness: f64| {
            let set =
                PolicyOverride { talkativeness: Some(talkativeness), ..PolicyOverride::default() };
            shown(set).iter().filter(|line| line.starts_with("- ")).count()
        };
        assert!(points(0.0) < points(1.0), "{} and {}", points(0.0), points(1.0));
    }

    #[test]
    fn the_tone_decides_how_it_begins() {
        let tone =
            |tone: Tone| shown(PolicyOverride { tone: Some(tone), ..PolicyOverride::default() });
        assert_eq!(tone(Tone::Friendly)[0], "Good to have you here.");
        assert_ne!(tone(Tone::Neutral)[0], "Good to have you here.");
    }

    #[test]
    fn a_narrow_card_has_the_message_where_it_is_wanted_asked_for_or_asks_for_the_style() {
        let mut planning = PlanningSlice { begun: true, ..PlanningSlice::default() };
        planning.response_text = "The plan takes 5 h.".to_owned();
        let count =
            |planning: &PlanningSlice, width, terms| lines_of(planning.clone(), width, terms).len();
        assert_eq!(count(&planning, 76, false), 0);
        assert_eq!(count(&planning, 76, true), 1);
        assert_eq!(count(&planning, 136, false), 1);
        assert_eq!(count(&planning, 116, false), 0);
        planning.response_text = format!("The plan takes 5 h.\n{}", preference_line());
        assert_eq!(count(&planning, 76, false), 2);
    }

    #[test]
    fn what_to_reply_at_a_prompt_is_what_to_press_here() {
        for ask in CallToActionKind::ALL {
            let mut planning = PlanningSlice { begun: true, ..PlanningSlice::default() };
            let asked = CallToAction { ask, form: CallToActionForm::Replies };
            planning.response_text = asked.to_string();
            let line = lines_of(planning, 136, false).concat();
            assert!(!line.contains("Reply"), "{ask:?}: {line}");
            assert!(line.starts_with("Press ") || line.starts_with("Type "), "{ask:?}: {line}");
        }
    }
}
