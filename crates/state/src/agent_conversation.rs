//! The conversation of an agent about its task, folded from the journal: append-only, so that a resumed attempt sends the
//! same bytes as one that was never interrupted.
//!
//! A model's turn comes from its answer, a result from the observation of a call, anything else that was said to the
//! model from an event of its own. What comes next follows from the last entry alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use planwright_model::agent_conversation::{ConversationOpening, PromptSource};
use planwright_model::event::AnsweredCall;
use planwright_model::{ExecutionFailure, MicroDollars, ReasoningItem};

/// A call that a model asked for. Numbers count over the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationCall {
    pub number: u32,
    pub tool: String,
    pub arguments: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// One entry of a conversation after its opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum ConversationEntry {
    /// An answer of the model.
    Turn {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ConversationCall>,
        /// What it thought before its calls; its provider wants it back with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<ReasoningItem>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// What came of a call.
    Result { call: u32, tool: String, ok: bool, text: String },
    /// What was said to the model besides.
    Prompt { source: PromptSource, text: String },
}

/// What stands in the place of the first entries of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationSummary {
    /// How many entries it replaces.
    pub entries: u32,
    pub text: String,
}

/// What was used when the limits of a task began to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetMark {
    pub turns: u32,
    pub tokens: u64,
    pub cost: MicroDollars,
}

/// The conversation about a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentConversation {
    pub opening: ConversationOpening,
    #[serde(default)]
    pub entries: Vec<ConversationEntry>,
    /// Results of calls up to this number are shown shortened.
    #[serde(default)]
    pub compacted_through: u32,
    /// What is shown in the place of the first entries. They stay here, and can be read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ConversationSummary>,
    /// The question whose answer is the next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<u32>,
    /// Why the last attempt ended, until the model was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<ExecutionFailure>,
    /// From where the limits of the task count.
    #[serde(default)]
    pub budget_from: BudgetMark,
}

impl AgentConversation {
    pub fn new(opening: ConversationOpening) -> Self {
        Self {
            opening,
            entries: Vec::new(),
            compacted_through: 0,
            summary: None,
            awaited: None,
            ended: None,
            budget_from: BudgetMark::default(),
        }
    }

    /// Appends an answer. Its calls get the numbers after `last_call`; the last of them is returned.
    pub(super) fn append_turn(
        &mut self,
        (text, reasoning): (&str, &[ReasoningItem]),
        calls: &[AnsweredCall],
        (cut_off, fault): (bool, Option<&str>),
        last_call: u32,
    ) -> u32 {
        let calls: Vec<ConversationCall> = (last_call + 1..)
            .zip(calls)
            .map(|(number, call)| ConversationCall {
                number,
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
                problem: call.problem.clone(),
                note: call.note.clone(),
                redacted: call.redacted,
            })
            .collect();
        let last = calls.last().map_or(last_call, |call| call.number);
        let (text, fault) = (text.to_owned(), fault.map(str::to_owned));
        let reasoning = reasoning.to_vec();
        self.entries.push(ConversationEntry::Turn { text, calls, reasoning, cut_off, fault });
        last
    }

    /// Appends what came of a call, if the call waits for it. Commands of exit criteria, which no model asked for, do not.
    pub(super) fn append_result(&mut self, number: u32, tool: &str, ok: bool, text: &str) -> bool {
        let waits = self.waiting_calls().any(|call| call.number == number);
        if waits {
            let (tool, text) = (tool.to_owned(), text.to_owned());
            self.entries.push(ConversationEntry::Result { call: number, tool, ok, text });
        }
        waits
    }

    /// Calls of the last turn that have no result yet.
    pub fn waiting_calls(&self) -> impl Iterator<Item = &ConversationCall> {
        let at =
            self.entries.iter().rposition(|entry| matches!(entry, ConversationEntry::Turn { .. }));
        let (calls, after) = match at.map(|at| (&self.entries[at], &self.entries[at + 1..])) {
            Some((ConversationEntry::Turn { calls, .. }, after)) => (calls.as_slice(), after),
            _ => (&[][..], &[][..]),
        };
        let answered = |number: u32| {
            after.iter().any(
                |entry| matches!(entry, ConversationEntry::Result { call, .. } if *call == number),
            )
        };
        calls.iter().filter(move |call| !answered(call.number))
    }

    /// Replaces the first entries by a summary. One that does not reach further than the last, or beyond the end or into
    /// the results of a turn, changes nothing.
    pub(super) fn summarize(&mut self, entries: u32, text: &str) -> bool {
        let at = entries as usize;
        let starts = |entry: &ConversationEntry| !matches!(entry, ConversationEntry::Result { .. });
        if at <= self.summarized_entries() || !self.entries.get(at).is_some_and(starts) {
            return false;
        }
        self.summary = Some(ConversationSummary { entries, text: text.to_owned() });
        true
    }

    /// How many entries a summary stands for.
    pub fn summarized_entries(&self) -> usize {
        self.summary.as_ref().map_or(0, |summary| summary.entries as usize)
    }

    /// All calls with what came of them, in the order of the results.
    pub fn finished_calls(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&ConversationCall, bool, &str)> {
        self.entries.iter().filter_map(|entry| match entry {
            ConversationEntry::Result { call, ok, text, .. } => {
                Some((self.find_call(*call)?, *ok, text.as_str()))
            }
            _ => None,
        })
    }

    /// The number of the last call; 0 before the first.
    pub fn last_call(&self) -> u32 {
        let calls = self.entries.iter().rev().find_map(|entry| match entry {
            ConversationEntry::Turn { calls, .. } => calls.last(),
            _ => None,
        });
        calls.map_or(0, |call| call.number)
    }

    /// The entries since the last prompt of this source, that one left out.
    pub fn entries_since(&self, wanted: PromptSource) -> &[ConversationEntry] {
        let at = self.entries.iter().rposition(
            |entry| matches!(entry, ConversationEntry::Prompt { source, .. } if *source == wanted),
        );
        at.map_or(&self.entries, |at| &self.entries[at + 1..])
    }

    /// A call by its number.
    pub fn find_call(&self, number: u32) -> Option<&ConversationCall> {
        self.entries.iter().find_map(|entry| match entry {
            ConversationEntry::Turn { calls, .. } => {
                calls.iter().find(|call| call.number == number)
            }
            _ => None,
        })
    }

    /// The whole result of a call, compacted or not.
    pub fn result_text(&self, number: u32) -> Option<&str> {
        self.entries.iter().find_map(|entry| match entry {
            ConversationEntry::Result { call, text, .. } if *call == number => Some(text.as_str()),
            _ => None,
        })
    }

    /// How many turns the model has taken.
    pub fn turns(&self) -> u32 {
        let turns =
            self.entries.iter().filter(|entry| matches!(entry, ConversationEntry::Turn { .. }));
        u32::try_from(turns.count()).unwrap_or(u32::MAX)
    }

    /// How many answers in a row, up to now, meet a condition. Results and the words of a person end the row.
    pub fn turns_in_a_row(&self, meets: impl Fn(&ConversationEntry) -> bool) -> u32 {
        let mut count = 0;
        for entry in self.entries.iter().rev() {
            match entry {
                ConversationEntry::Turn { .. } if meets(entry) => count += 1,
                ConversationEntry::Prompt { source: PromptSource::Loop, .. } => {}
                _ => break,
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use planwright_model::Digest;

    use super::*;

    fn opened() -> AgentConversation {
        AgentConversation::new(ConversationOpening {
            task: Digest::from_json(&json!("t")),
            system: "s".into(),
            briefing: "b".into(),
            tools: Vec::new(),
            result_tokens: 100,
            agent: None,
        })
    }

    fn call(name: &str) -> AnsweredCall {
        AnsweredCall {
            id: None,
            name: name.into(),
            arguments: json!({}),
            problem: None,
            note: None,
            redacted: false,
        }
    }

    #[test]
    fn calls_wait_until_each_has_its_own_result() {
        let mut talk = opened();
        assert_eq!(talk.append_turn(("", &[]), &[call("a"), call("b")], (false, None), 4), 6);
        let waiting = |talk: &AgentConversation| {
            talk.waiting_calls().map(|call| call.number).collect::<Vec<_>>()
        };
        assert_eq!(waiting(&talk), [5, 6]);
        assert!(talk.append_result(6, "b", true, "two"));
        assert!(!talk.append_result(6, "b", true, "again"), "a second result changes nothing");
        assert!(!talk.append_result(7, "shell.run", true, "of a criterion"));
        assert_eq!(waiting(&talk), [5]);
        assert!(talk.append_result(5, "a", false, "one"));
        assert_eq!(waiting(&talk), [0u32; 0]);
        assert_eq!(talk.result_text(5), Some("one"));
        let order: Vec<u32> = talk.finished_calls().map(|(call, ..)| call.number).collect();
        assert_eq!(order, [6, 5]);
    }

    #[test]
    fn a_summary_reaches_further_than_the_last_and_never_between_a_call_and_its_result() {
        let mut talk = opened();
        for number in 1..=3 {
            talk.append_turn(("", &[]), &[call("a")], (false, None), number - 1);
            assert!(talk.append_result(number, "a", true, "one"));
        }
        assert!(!talk.summarize(1, "x"), "between a call and its result");
        assert!(talk.summarize(2, "first"));
        assert!(!talk.summarize(2, "again") && !talk.summarize(6, "beyond the end"));
        assert!(talk.summarize(4, "both"));
        assert_eq!((talk.summarized_entries(), talk.entries.len()), (4, 6));
    }

    #[test]
    fn answers_in_a_row_end_where_a_person_spoke() {
        let mut talk = opened();
        let wordy = |entry: &ConversationEntry| matches!(entry, ConversationEntry::Turn { calls, .. } if calls.is_empty());
        talk.append_turn(("well", &[]), &[], (false, None), 0);
        let nudge = ConversationEntry::Prompt { source: PromptSource::Loop, text: "call".into() };
        talk.entries.push(nudge);
        talk.append_turn(("so", &[]), &[], (false, None), 0);
        assert_eq!(talk.turns_in_a_row(wordy), 2);
        let said = ConversationEntry::Prompt { source: PromptSource::Person, text: "do".into() };
        talk.entries.push(said);
        assert_eq!(talk.turns_in_a_row(wordy), 0);
        assert_eq!(talk.turns(), 2);
    }
}
