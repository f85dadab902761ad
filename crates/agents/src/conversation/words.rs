//! Answers without a call: never a result. They are answered once, then somebody has to look at them.

use super::super::attempt::AgentAttempt;
use super::messages::answer_room;
use planwright_model::agent_conversation::PromptSource;
use planwright_model::requests::AgentInquiry;
use planwright_model::{Category, ExecutionFailure};
use planwright_state::ConversationEntry;

/// So many answers in a row that are cut off, or empty, end the attempt.
const MOST_UNUSABLE: u32 = 3;
/// How much of a model's words is put to the person.
const MOST_WORDS: usize = 2_000;

/// What is told after the first answer in words.
const NUDGE: &str = "Nothing was done by that answer: words alone do nothing. Call a tool to continue, ask_person if you need an answer of the person, or task.done with how the task ended.";

/// An answer without a call, and how many such answers came in a row.
struct WordyAnswer {
    text: String,
    fault: Option<String>,
    cut_off: bool,
    in_a_row: u32,
    cut_in_a_row: u32,
    room: u32,
}

impl AgentAttempt<'_> {
    /// Reacts to an answer without a call. An error ends the attempt.
    pub(super) async fn answer_words(&self) -> Result<(), ExecutionFailure> {
        let Some(answer) = self.last_wordy_answer() else { return Ok(()) };
        if answer.cut_off {
            return self.continue_cut_answer(&answer);
        }
        let fault = answer.fault.as_deref().unwrap_or_default();
        if answer.in_a_row == 1 {
            let why = if fault.is_empty() {
                String::new()
            } else {
                format!("Your answer could not be used: {fault}. ")
            };
            self.record_prompt(PromptSource::Loop, &format!("{why}{NUDGE}"), None);
            return Ok(());
        }
        if answer.text.trim().is_empty() {
            if answer.in_a_row < MOST_UNUSABLE {
                self.record_prompt(PromptSource::Loop, NUDGE, None);
                return Ok(());
            }
            let message = format!(
                "{} gave no usable answer {} times in a row: {fault}",
                self.model_label(),
                answer.in_a_row
            );
            return Err(ExecutionFailure::new("empty_answer", Category::Recoverable, message));
        }
        let words = planwright_state::agent_progress::truncate_text(&answer.text, MOST_WORDS);
        let words = if fault.is_empty() {
            words
        } else {
            format!("The answer could not be used: {fault}. It says: {words}")
        };
        let inquiry = AgentInquiry { question: &words, choices: &[], call: None };
        let said = self.ask_question(inquiry).await?;
        self.record_prompt(PromptSource::Person, &format!("The person answers: {said}"), None);
        Ok(())
    }

    fn continue_cut_answer(&self, answer: &WordyAnswer) -> Result<(), ExecutionFailure> {
        if answer.cut_in_a_row > MOST_UNUSABLE {
            let message = format!(
                "{} was cut off at its length limit {} times in a row",
                self.model_label(),
                answer.cut_in_a_row
            );
            return Err(ExecutionFailure::new("cut_off", Category::Recoverable, message));
        }
        let text = format!(
            "Your answer was cut off at its length limit, so no call in it was made. You have up to {} tokens now. Continue where it stopped, and write long files in several smaller calls.",
            answer.room
        );
        self.record_prompt(PromptSource::Loop, &text, None);
        Ok(())
    }

    fn last_wordy_answer(&self) -> Option<WordyAnswer> {
        self.with_talk(|talk| {
            let Some(ConversationEntry::Turn { text, fault, cut_off, .. }) = talk.entries.last()
            else {
                return None;
            };
            let is_cut =
                |entry: &ConversationEntry| matches!(entry, ConversationEntry::Turn { cut_off: true, .. });
            let is_wordy = |entry: &ConversationEntry| {
                matches!(entry, ConversationEntry::Turn { calls, cut_off: false, .. } if calls.is_empty())
            };
            Some(WordyAnswer {
                text: text.clone(),
                fault: fault.clone(),
                cut_off: *cut_off,
                in_a_row: talk.turns_in_a_row(is_wordy),
                cut_in_a_row: talk.turns_in_a_row(is_cut),
                room: answer_room(talk),
            })
        })
        .flatten()
    }
}
