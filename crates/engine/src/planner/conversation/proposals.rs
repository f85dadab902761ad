//! What a model proposes to the person and does not decide: ideas, options, and one question about their preferences.

use serde_json::{Value, json};

use super::StageConversation;
use super::calls::ToolCallEnd;
use super::tool_schemas::PREFERENCE;
use planwright_drafting::agent_messages::ideas_shown;
use planwright_model::event::PlanningEvent;
use planwright_state::ConversationCall;

/// How many choices a question about preferences has at least.
const FEWEST_CHOICES: usize = 2;

impl StageConversation<'_> {
    /// Shows ideas; which of them is taken up is the person's to say.
    pub(super) fn offer_ideas(&mut self, arguments: &Value) -> ToolCallEnd {
        let most = ideas_shown(&self.talk.interaction_policy());
        let given = arguments.get("ideas").and_then(Value::as_array).into_iter().flatten();
        let ideas: Vec<String> = given
            .filter_map(Value::as_str)
            .map(|idea| planwright_text::clean_line(idea.trim()).into_owned())
            .filter(|idea| !idea.is_empty())
            .map(|idea| self.client.redactor.redact(&idea).into_owned())
            .collect();
        if !(2..=most).contains(&ideas.len()) {
            return ToolCallEnd::refused(format!("Not shown: give 2 to {most} ideas."));
        }
        if self.talk.brainstormed {
            return ToolCallEnd::refused(
                "Not shown: ideas were offered before; the person asks for more if they want them.",
            );
        }
        let count = ideas.len();
        self.record(PlanningEvent::IdeasOffered { ideas });
        ToolCallEnd::done(format!(
            "{count} ideas are shown to the person. Draft the way that you think best; they may ask for another."
        ))
    }

    /// Keeps the ways that were compared with the draft.
    pub(super) fn craft_options(&mut self, arguments: &Value) -> ToolCallEnd {
        let options = arguments.get("options").and_then(Value::as_array).map_or(0, Vec::len);
        if options == 0 {
            return ToolCallEnd::refused("Not kept: give two or three options.");
        }
        self.build_roadmap(&json!({
            "options": arguments.get("options"),
            "rationale": arguments.get("rationale").and_then(Value::as_str).unwrap_or_default(),
        }))
    }

    /// Asks about a preference, once in a session.
    pub(super) fn probe_preference(&mut self, call: &ConversationCall) -> ToolCallEnd {
        let asked_before = self.talk.conversation.as_deref().is_some_and(|talk| {
            talk.finished_calls().any(|(call, ok, _)| ok && call.tool == PREFERENCE)
        });
        if asked_before {
            return ToolCallEnd::refused(
                "Not asked: a preference was asked about before. Decide, and say so in the summary.",
            );
        }
        let choices = call.arguments.get("choices").and_then(Value::as_array).map_or(0, Vec::len);
        if choices < FEWEST_CHOICES {
            return ToolCallEnd::refused("Not asked: give at least two choices.");
        }
        let mut question = call.arguments.clone();
        question["why"] = json!("It decides when the work is placed, not how much of it there is.");
        let call = ConversationCall { arguments: json!({"questions": [question]}), ..call.clone() };
        self.ask_person(&call)
    }
}
