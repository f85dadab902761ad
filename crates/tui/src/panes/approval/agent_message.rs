//! What the agent says about what it asks, on the card: as long and in the tone that the person set.

use super::content::CardLine;
use crate::theme::ThemeRole;
use planwright_drafting::agent_messages::preference_line;
use planwright_state::PlanningSlice;
use planwright_text::{clean_line, wrap_words};

/// The most lines that a message adds to the facts of a plan before they scroll.
pub(super) const MOST_MESSAGE_LINES: u16 = 8;

/// Whether the words of a message are shown: the person said how they want to be talked to, or is asked that.
fn is_message_wanted(planning: &PlanningSlice) -> bool {
    let set = &planning.policy_set;
    let chosen =
        set.conversation_style.is_some() || set.talkativeness.is_some() || set.tone.is_some();
    planning.begun && (chosen || planning.response_text.contains(preference_line()))
}

/// The message, wrapped; nothing where the card says it all.
pub(super) fn message_lines(planning: &PlanningSlice, width: usize) -> Vec<CardLine> {
    if !is_message_wanted(planning) {
        return Vec::new();
    }
    let lines = planning.response_text.lines().map(clean_line);
    let wrapped = lines.filter(|line| !line.trim().is_empty()).flat_map(|line| {
        let indent = if line.starts_with("- ") { 2 } else { 0 };
        let parts = wrap_words(&line, width, indent);
        parts.into_iter().map(|part| vec![(part.into_owned(), ThemeRole::Text)]).collect::<Vec<_>>()
    });
    wrapped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_drafting::agent_messages::{AgentMessageDraft, compose_message};
    use planwright_model::{ConversationStyle, PolicyOverride, Tone};

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
        let lines = message_lines(&planning, 100);
        lines.into_iter().map(|line| line.into_iter().map(|(text, _)| text).collect()).collect()
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
    fn without_a_wish_only_the_question_about_the_style_is_shown() {
        let mut planning = PlanningSlice { begun: true, ..PlanningSlice::default() };
        planning.response_text = "The plan takes 5 h.".to_owned();
        assert!(message_lines(&planning, 80).is_empty());
        planning.response_text = format!("The plan takes 5 h.\n{}", preference_line());
        assert_eq!(message_lines(&planning, 80).len(), 2);
    }
}
