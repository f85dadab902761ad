//! When a conversation is summarized, and what the summarizer is given: past a share of the model's window the older
//! entries give way to a summary, and stay readable by their numbers.

use super::super::framing::frame_data;
use super::messages::{conversation_request, item_name, item_text};
use planwright_llm::cost::tokens::{estimate_request_tokens, estimate_text_tokens};
use planwright_llm::{GenerateRequest, Message};
use planwright_state::agent_progress::truncate_text;
use planwright_state::{AgentConversation, ConversationEntry};

/// A conversation that takes more of the window is summarized, in percent.
const SUMMARY_PERCENT: u64 = 60;
/// What stays as it is at the end of it, in percent.
const KEPT_PERCENT: u64 = 20;
/// Less than this is not worth a question, in percent.
const FEWEST_PERCENT: u64 = 10;
/// How long a summary may be, in percent of the window, and its bounds in tokens.
const ROOM_PERCENT: u64 = 4;
const ROOM: (u64, u64) = (800, 8_000);
/// How much of one entry the summarizer is given.
const ITEM_CHARS: usize = 6_000;
/// How much of each entry a list shows that no model wrote.
const LINE_CHARS: usize = 200;

/// The window that the share of results was taken from.
fn window(talk: &AgentConversation) -> u64 {
    talk.opening.result_tokens * 100 / super::context_share::RESULT_PERCENT
}

/// How many of the first entries are to be summarized now.
pub fn due_summary(talk: &AgentConversation, is_own: &dyn Fn(&str) -> bool) -> Option<u32> {
    let all = estimate_request_tokens(&conversation_request(talk, is_own));
    if all <= window(talk) * SUMMARY_PERCENT / 100 {
        return None;
    }
    let room = window(talk) * KEPT_PERCENT / 100;
    let last_turn =
        talk.entries.iter().rposition(|entry| matches!(entry, ConversationEntry::Turn { .. }))?;
    let mut kept = 0;
    let mut cut = last_turn;
    for (at, entry) in talk.entries.iter().enumerate().rev() {
        kept += estimate_text_tokens(&item_text(entry));
        if kept > room {
            break;
        }
        // A result stays with its call.
        if !matches!(entry, ConversationEntry::Result { .. }) {
            cut = cut.min(at);
        }
    }
    let replaced = talk.entries.get(talk.summarized_entries()..cut)?;
    let saved: u64 = replaced.iter().map(|entry| estimate_text_tokens(&item_text(entry))).sum();
    let worth = saved * 100 >= window(talk) * FEWEST_PERCENT;
    worth.then(|| u32::try_from(cut).ok()).flatten()
}

/// What the summarizer is asked: the last summary and every entry after it up to `entries`, each with its id.
pub fn summary_request(talk: &AgentConversation, entries: u32, system: &str) -> GenerateRequest {
    let room = (window(talk) * ROOM_PERCENT / 100).clamp(ROOM.0, ROOM.1);
    let mut text = format!(
        "Shorten this planning conversation to at most {room} tokens. Name items that may be needed again by their ids.\n"
    );
    if let Some(summary) = &talk.summary {
        let label = format!("items 1 to {}, shortened before", summary.entries);
        text.extend([&frame_data(&label, &summary.text), "\n"]);
    }
    for (number, entry) in numbered_entries(talk, entries) {
        let shown = truncate_text(&item_text(entry), ITEM_CHARS);
        text.extend([
            &frame_data(&format!("{}, {}", item_name(number), speaker(entry)), &shown),
            "\n",
        ]);
    }
    let mut request = GenerateRequest::new(vec![Message::system(system), Message::user(text)]);
    request.max_output_tokens = u32::try_from(room * 2).ok();
    request
}

/// A summary that needs no model: one line for each entry.
pub fn plain_summary(talk: &AgentConversation, entries: u32) -> String {
    let before = talk.summary.as_ref().map(|summary| summary.text.clone());
    let lines = numbered_entries(talk, entries).map(|(number, entry)| {
        let text = item_text(entry);
        let line = planwright_text::clean_line(&text);
        format!("{} ({}): {}", item_name(number), speaker(entry), truncate_text(&line, LINE_CHARS))
    });
    before.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

fn numbered_entries(
    talk: &AgentConversation,
    entries: u32,
) -> impl Iterator<Item = (u32, &ConversationEntry)> {
    let from = talk.summarized_entries();
    (1..).zip(&talk.entries).take(entries as usize).skip(from)
}

fn speaker(entry: &ConversationEntry) -> &'static str {
    match entry {
        ConversationEntry::Turn { .. } => "the planner",
        ConversationEntry::Result { .. } => "a result",
        ConversationEntry::Prompt { .. } => "said to the planner",
    }
}

#[cfg(test)]
mod tests {
    use planwright_model::Digest;
    use planwright_model::agent_conversation::{ConversationOpening, PromptSource};
    use planwright_state::{ConversationCall, ConversationSummary};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::conversation::messages::read_item;
    use crate::framing::has_whole_frames;

    /// A conversation in a window of 2,500 tokens: stages, turns with a call each, and results of these lengths.
    fn talk_with(results: &[usize]) -> AgentConversation {
        let mut talk = AgentConversation::new(ConversationOpening {
            task: Digest::from_json(&json!("t")),
            system: "s".into(),
            briefing: "b".into(),
            tools: Vec::new(),
            result_tokens: 1_000,
            agent: None,
        });
        for (number, size) in (1u32..).zip(results) {
            if number % 4 == 1 {
                let text = format!("# Stage {number}");
                talk.entries.push(ConversationEntry::Prompt { source: PromptSource::Stage, text });
            }
            let call = ConversationCall {
                number,
                tool: "own".into(),
                arguments: json!({"n": number}),
                problem: None,
                note: None,
                redacted: false,
            };
            talk.entries.push(ConversationEntry::Turn {
                text: String::new(),
                calls: vec![call],
                reasoning: Vec::new(),
                cut_off: false,
                fault: None,
            });
            let text = "word ".repeat(*size);
            let tool = "own".to_owned();
            talk.entries.push(ConversationEntry::Result { call: number, tool, ok: true, text });
        }
        talk
    }

    proptest! {
        #[test]
        fn a_summary_keeps_the_stage_whole_and_everything_readable(
            sizes in prop::collection::vec(1..400usize, 1..30)
        ) {
            let mut talk = talk_with(&sizes);
            let Some(entries) = due_summary(&talk, &|_| true) else { return Ok(()) };
            let asked = summary_request(&talk, entries, "s");
            prop_assert!(has_whole_frames(&asked.messages[1].text()));
            let text = plain_summary(&talk, entries);
            talk.summary = Some(ConversationSummary { entries, text });
            let request = conversation_request(&talk, &|_| true);
            let texts: Vec<String> = request.messages.iter().map(Message::text).collect();
            let last_stage = format!("# Stage {}", (sizes.len() - 1) / 4 * 4 + 1);
            prop_assert_eq!(texts.iter().filter(|text| **text == last_stage).count(), 1);
            prop_assert!(texts.iter().all(|text| has_whole_frames(text)));
            // No result without its call, and none of the last turn is gone.
            let count = |wanted: fn(&planwright_llm::MessagePart) -> bool| {
                request.messages.iter().flat_map(|message| &message.parts).filter(|part| wanted(part)).count()
            };
            let made = count(|part| matches!(part, planwright_llm::MessagePart::Call(_)));
            let given = count(|part| matches!(part, planwright_llm::MessagePart::Result { .. }));
            prop_assert_eq!(made, given);
            prop_assert!(made >= 1);
            for (number, entry) in (1..).zip(&talk.entries) {
                prop_assert_eq!(read_item(&talk, &item_name(number)), Some(item_text(entry)));
            }
            prop_assert_eq!(due_summary(&talk, &|_| true).filter(|next| *next <= entries), None);
        }
    }
}
