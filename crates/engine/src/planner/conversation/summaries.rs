//! Keeping the conversation within the model's window: past a share of it older entries give way to a summary. What was
//! said stays in the journal and can be read again, so nothing is lost and every request can be rebuilt.

use serde_json::Value;

use super::super::model::ask_model;
use super::StageConversation;
use super::calls::ToolCallEnd;
use super::tool_schemas::is_own_tool;
use planwright_agents::{due_summary, plain_summary, summary_request};
use planwright_llm::ModelError;
use planwright_model::event::PlanningEvent;
use planwright_state::ConversationEntry;

/// The purpose and the prompt of the question for a summary.
const SUMMARIZER: &str = "Summarizer";
/// A summary that says less is none.
const FEWEST_CHARS: usize = 40;

impl StageConversation<'_> {
    /// Summarizes what is too long, by a question of its own. A model that cannot be asked leaves a plain list.
    pub(super) async fn summarize_if_due(&mut self) -> Result<(), ModelError> {
        let due = self.talk.conversation.as_deref().and_then(|talk| {
            let entries = due_summary(talk, &is_own_tool)?;
            Some((entries, summary_request(talk, entries, self.client.prompts.text("summarizer"))))
        });
        let Some((entries, request)) = due else { return Ok(()) };
        self.flush();
        let asked = ask_model(self.client, &request, SUMMARIZER, self.say, self.cancel).await;
        let text = match asked {
            Ok((reply, _)) => reply.text.trim().to_owned(),
            Err(error) if error.is_cancelled() => return Err(error),
            Err(error) => {
                tracing::warn!(%error.message, "no summary by a model, a plain one is used");
                String::new()
            }
        };
        let text = if text.chars().count() < FEWEST_CHARS {
            let talk = self.talk.conversation.as_deref();
            talk.map(|talk| plain_summary(talk, entries)).unwrap_or_default()
        } else {
            planwright_text::clean_text(&text).into_owned()
        };
        let text = self.client.redactor.redact(&text).into_owned();
        self.record(PlanningEvent::ConversationSummarized { entries, text });
        Ok(())
    }

    /// The model's own summary of everything before its answer.
    pub(super) fn summarize_by_model(&mut self, arguments: &Value) -> ToolCallEnd {
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default().trim();
        if text.chars().count() < FEWEST_CHARS {
            return ToolCallEnd::refused("Not summarized: `text` must say what later work needs.");
        }
        let text = planwright_text::clean_text(text).into_owned();
        let talk = self.talk.conversation.as_deref();
        let turn = talk.and_then(|talk| {
            let is_turn =
                |entry: &ConversationEntry| matches!(entry, ConversationEntry::Turn { .. });
            let at = talk.entries.iter().rposition(is_turn)?;
            (at > talk.summarized_entries()).then(|| u32::try_from(at).ok()).flatten()
        });
        let Some(entries) = turn else {
            return ToolCallEnd::refused("Not summarized: there is nothing before this answer.");
        };
        let text = self.client.redactor.redact(&text).into_owned();
        self.record(PlanningEvent::ConversationSummarized { entries, text });
        ToolCallEnd::done(format!(
            "Items 1 to {entries} are replaced by the summary from your next answer on."
        ))
    }
}
