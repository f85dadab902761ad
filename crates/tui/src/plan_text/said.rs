//! What was said and still applies, row by row: the words, what was understood of them, and whether the plan breaks them.

use jiff::civil::Date;

use planwright_drafting::goal_reading::read_goal;
use planwright_model::{Fact, FactSource};
use planwright_state::SessionState;
use planwright_text::clean_line;

/// One fact as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    pub id: u32,
    /// Where it was said: "goal", "answer".
    pub source: &'static str,
    /// The words, as they were typed.
    pub text: String,
    /// What was understood, in words; empty if rules cannot check it.
    pub reading: String,
    /// Whether it is a phrase of the row above it.
    pub is_part: bool,
    /// Whether the plan breaks it.
    pub is_broken: bool,
    /// Whether it is the goal as a whole, which can be corrected and not withdrawn.
    pub is_goal: bool,
}

impl FactRow {
    /// What follows the words: the reading, or that it is only kept.
    pub fn note(&self) -> String {
        match (self.reading.as_str(), self.is_broken) {
            ("", _) if self.is_goal => "the goal".to_owned(),
            ("", _) => "kept, not checked".to_owned(),
            (reading, true) => format!("{reading}, which this plan breaks"),
            (reading, false) => reading.to_owned(),
        }
    }
}

/// The facts that apply, in the order in which they were said; phrases follow the text that they are part of.
pub fn fact_rows(state: &SessionState, today: Date) -> Vec<FactRow> {
    let facts = &state.planning.facts;
    let row = |fact: &Fact| FactRow {
        id: fact.id,
        source: fact.source.describe(),
        text: clean_line(&fact.text).into_owned(),
        reading: fact.reading.as_ref().map(|reading| reading.describe(today)).unwrap_or_default(),
        is_part: fact.part_of.is_some(),
        is_broken: is_broken(state, fact),
        is_goal: fact.source == FactSource::Goal && fact.part_of.is_none(),
    };
    let wholes = facts.active().filter(|fact| fact.part_of.is_none());
    wholes
        .flat_map(|whole| {
            let parts = facts.active().filter(|fact| fact.part_of == Some(whole.id));
            std::iter::once(whole).chain(parts)
        })
        .map(row)
        .collect()
}

/// What was read of the goal and of what was said since, each with its label; a note has none. Where a model reads, that is
/// what the session keeps as read, and nothing that the built-in reader would make of the words.
pub(crate) fn goal_lines(state: &SessionState, today: Date) -> Vec<(&'static str, String)> {
    if !state.planning.is_read_by_model() {
        return read_goal(&state.planning.goal, today).labeled_lines();
    }
    let readings = |of_goal: bool| {
        let facts = state.planning.facts.active();
        let said = facts.filter(|fact| (fact.source == FactSource::Goal) == of_goal);
        let readings = said.filter_map(|fact| Some(fact.reading.as_ref()?.describe(today)));
        let mut texts: Vec<String> = Vec::new();
        for text in readings.map(|text| clean_line(&text).into_owned()) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join(" · ")
    };
    let lines = [("Read", readings(true)), ("Said since", readings(false))];
    lines.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

fn is_broken(state: &SessionState, fact: &Fact) -> bool {
    let quoted = format!("\"{}\":", fact.text);
    state.planning.broken_facts().any(|found| found.message.contains(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;
    use planwright_model::FactReading;
    use planwright_model::event::FactEvent;

    #[test]
    fn phrases_follow_the_text_that_they_are_part_of() {
        let mut state = planned::scheduled().state();
        let goal = |id, text: &str| Fact::new(id, FactSource::Goal, text);
        let count = FactReading::Count { noun: "guest".into(), amount: 80 };
        for fact in [
            goal(1, "wedding for 80 guests"),
            Fact::new(2, FactSource::ChangeRequest, "something nice"),
            Fact { part_of: Some(1), reading: Some(count), ..goal(3, "80 guests") },
        ] {
            state.planning.facts.apply(&FactEvent::Recorded { fact });
        }
        let rows = fact_rows(&state, jiff::civil::date(2026, 6, 8));
        let lines: Vec<String> =
            rows.iter().map(|row| format!("{} {}: {}", row.id, row.text, row.note())).collect();
        assert_eq!(
            lines,
            [
                "1 wedding for 80 guests: the goal",
                "3 80 guests: 80 guests",
                "2 something nice: kept, not checked",
            ]
        );
    }

    #[test]
    fn what_a_model_read_is_what_the_session_keeps() {
        use planwright_model::agent_conversation::ConversationOpening;
        let today = jiff::civil::date(2026, 6, 8);
        let mut state = planned::scheduled().state();
        let built_in = goal_lines(&state, today);
        assert!(built_in.iter().any(|(label, _)| *label == "Read"), "{built_in:?}");
        let opening = ConversationOpening {
            task: planwright_model::Digest::from_json(&serde_json::json!("x")),
            system: String::new(),
            briefing: String::new(),
            tools: Vec::new(),
            result_tokens: 0,
            agent: None,
        };
        let talk = planwright_state::AgentConversation::new(opening);
        state.planning.conversation = Some(std::sync::Arc::new(talk));
        state.planning.offline = false;
        assert_eq!(goal_lines(&state, today), []);
        let guests = |amount| Some(FactReading::Count { noun: "guest".into(), amount });
        for fact in [
            Fact { reading: guests(80), ..Fact::new(1, FactSource::Goal, "80 guests") },
            Fact { reading: guests(60), ..Fact::new(2, FactSource::ChangeRequest, "60 guests") },
            Fact::new(3, FactSource::ChangeRequest, "something nice"),
        ] {
            state.planning.facts.apply(&FactEvent::Recorded { fact });
        }
        let lines = goal_lines(&state, today);
        assert_eq!(lines.last(), Some(&("Said since", "60 guests".to_owned())), "{lines:?}");
        assert!(!lines.iter().any(|(_, text)| text.contains("something nice")));
    }
}
