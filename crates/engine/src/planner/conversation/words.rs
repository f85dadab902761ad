//! Answers without a call: never a hand-in. They are answered once; then they are a question to the person, or the stage
//! ends in words.

use super::super::StageResult;
use super::super::context::questions_allowed;
use super::StageConversation;
use planwright_agents::answer_room;
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::PlanQuestion;
use planwright_model::agent_conversation::PromptSource;
use planwright_model::event::PlanningEvent;
use planwright_state::ConversationEntry;
use planwright_state::agent_progress::truncate_text;

/// So many answers in a row that are cut off, or empty, end the stage.
const MOST_UNUSABLE: u32 = 3;
/// How much of a model's words is put to the person.
const MOST_WORDS: usize = 600;

const NUDGE: &str = "Nothing was done by that answer: words alone change nothing. Call a tool to continue, ContextElicitor if you need an answer of the person, or StageResult to hand in.";

impl StageConversation<'_> {
    /// Reacts to an answer without a call. Something comes back if the stage ends.
    pub(super) fn answer_words(&mut self) -> Option<StageResult> {
        let talk = self.talk.conversation.as_deref()?;
        let ConversationEntry::Turn { text, fault, cut_off, .. } = talk.entries.last()? else {
            return None;
        };
        let (text, fault) = (text.clone(), fault.clone().unwrap_or_default());
        let is_cut = |entry: &ConversationEntry| {
            matches!(entry, ConversationEntry::Turn { cut_off: true, .. })
        };
        let is_wordy = |entry: &ConversationEntry| matches!(entry, ConversationEntry::Turn { calls, cut_off: false, .. } if calls.is_empty());
        let (cut, wordy) = (talk.turns_in_a_row(is_cut), talk.turns_in_a_row(is_wordy));
        if *cut_off {
            let room = answer_room(talk);
            return self.continue_cut_answer(cut, room);
        }
        if wordy == 1 {
            let why = if fault.is_empty() {
                String::new()
            } else {
                format!("Your answer could not be used: {fault}. ")
            };
            self.nudge(&format!("{why}{NUDGE}"));
            return None;
        }
        let says_nothing = text.trim().is_empty();
        if says_nothing && wordy < MOST_UNUSABLE {
            self.nudge(NUDGE);
            return None;
        }
        if says_nothing || !fault.is_empty() || questions_allowed(&self.talk) == 0 {
            let said = truncate_text(text.trim(), MOST_WORDS);
            let why = [fault.as_str(), said.as_str()];
            let why: Vec<&str> = why.into_iter().filter(|part| !part.is_empty()).collect();
            return Some(self.give_up(&format!(
                "{} gave no usable answer {wordy} times in a row: {}",
                self.client.name(),
                why.join("; ")
            )));
        }
        Some(self.ask_in_its_words(&text))
    }

    /// Words that the model insists on are put to the person.
    fn ask_in_its_words(&self, text: &str) -> StageResult {
        let number =
            self.talk.conversation.as_deref().map_or(0, planwright_state::AgentConversation::turns);
        let question = PlanQuestion {
            key: format!("words_{number}"),
            text: self.client.redactor.redact(&truncate_text(text.trim(), MOST_WORDS)).into_owned(),
            assumed: "as the planner thinks best".to_owned(),
            changes: "The model asks this in its own words.".to_owned(),
            choices: Vec::new(),
        };
        StageResult::new(ControllerOutcome::NeedsClarification)
            .with_event(PlanningEvent::QuestionsFound { questions: vec![question], sketch: None })
    }

    fn continue_cut_answer(&mut self, cut: u32, room: u32) -> Option<StageResult> {
        if cut > MOST_UNUSABLE {
            return Some(self.give_up(&format!(
                "{} was cut off at its length limit {cut} times in a row",
                self.client.name()
            )));
        }
        self.nudge(&format!(
            "Your answer was cut off at its length limit, so no call in it was made. You have up to {room} tokens now. Continue with smaller calls: the operations of a plan may come in several."
        ));
        None
    }

    fn nudge(&mut self, text: &str) {
        let (source, text) = (PromptSource::Loop, text.to_owned());
        self.record(PlanningEvent::Prompted { source, text });
    }
}
