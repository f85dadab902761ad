//! How much of a conversation's results is shown in full: a share of the model's window, then older ones shortened.

use super::super::attempt::AgentAttempt;
use super::super::framing::{clean_keeping_tabs, result_lines};
use planwright_llm::ModelInfo;
use planwright_llm::cost::tokens::estimate_text_tokens;
use planwright_model::ToolResult;
use planwright_model::event::AgentEvent;
use planwright_state::{AgentConversation, ConversationEntry};
use serde_json::Value;

/// The window of a hosted model that says nothing about it.
const USUAL_WINDOW: u64 = 128_000;
/// The share of the window that results may take in full, in percent.
pub(super) const RESULT_PERCENT: u64 = 40;
/// One result takes at most this part of the share of all.
const SINGLE_RESULT_PART: u64 = 2;
/// Characters of a token, on the safe side.
const TOKEN_CHARS: u64 = 3;

/// How many tokens of results a model is shown in full.
pub fn result_share(info: &ModelInfo) -> u64 {
    info.context_window.map_or(USUAL_WINDOW, u64::from) * RESULT_PERCENT / 100
}

impl AgentAttempt<'_> {
    /// Shortens older results once all together take more than their share. It is done by half of the share at once,
    /// so that what is sent stays the same, and cached, for many turns.
    pub(super) fn compact_results(&self) {
        let Some(through) = self.with_talk(due_compaction).flatten() else { return };
        self.events.record(AgentEvent::ResultsCompacted {
            task: self.job.task.id.clone(),
            attempt: self.job.attempt,
            through,
        });
    }

    /// A result as the model reads it, cut by lines where it alone would take too much room.
    pub(super) fn model_text(&self, tool: &str, result: &ToolResult) -> String {
        let share = self.with_talk(|talk| talk.opening.result_tokens).unwrap_or(USUAL_WINDOW);
        render_result(share, tool, result)
    }
}

/// A result as a model reads it that is shown `share` tokens of results, cut by lines where it alone would take too much.
pub fn render_result(share: u64, tool: &str, result: &ToolResult) -> String {
    let most = share * TOKEN_CHARS / SINGLE_RESULT_PART;
    let text = number_lines(tool, result).unwrap_or_else(|| result_lines(result));
    let text = clean_keeping_tabs(&text);
    cut_by_lines(&text, usize::try_from(most).unwrap_or(usize::MAX))
}

/// Up to which call results are to be shortened now.
pub fn due_compaction(talk: &AgentConversation) -> Option<u32> {
    let last_turn =
        talk.entries.iter().rposition(|entry| matches!(entry, ConversationEntry::Turn { .. }))?;
    let sizes: Vec<(usize, u32, u64)> = talk
        .entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| match entry {
            ConversationEntry::Result { call, text, .. } if *call > talk.compacted_through => {
                Some((at, *call, estimate_text_tokens(text)))
            }
            _ => None,
        })
        .collect();
    let mut total: u64 = sizes.iter().map(|(.., size)| size).sum();
    if total <= talk.opening.result_tokens {
        return None;
    }
    let mut through = None;
    for (_, call, size) in sizes.iter().filter(|(at, ..)| *at < last_turn) {
        if total <= talk.opening.result_tokens / 2 {
            break;
        }
        total = total.saturating_sub(*size);
        through = through.max(Some(*call));
    }
    through
}

/// The text of a file with the numbers of its lines.
fn number_lines(tool: &str, result: &ToolResult) -> Option<String> {
    let text = result.data.get("text").and_then(Value::as_str)?;
    let first = result.data.get("start_line").and_then(Value::as_u64)?;
    if tool != "file.read" || !result.ok {
        return None;
    }
    let mut shown = result.clone();
    for name in ["text", "start_line", "end_line", "truncated"] {
        shown.data.remove(name);
    }
    let lines = (first..).zip(text.lines()).map(|(number, line)| format!("{number}\t{line}"));
    let lines = lines.collect::<Vec<_>>().join("\n");
    Some(format!("{}\n{lines}", result_lines(&shown)))
}

/// The beginning and the end of a text, whole lines of each, with what was left out between them said.
fn cut_by_lines(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let half = most / 2;
    let take = |lines: &mut dyn Iterator<Item = &&str>| {
        let mut used = 0;
        lines
            .take_while(|line| {
                used += line.len() + 1;
                used <= half
            })
            .count()
    };
    let (head, tail) = (take(&mut lines.iter()), take(&mut lines.iter().rev()));
    let left = lines.len().saturating_sub(head + tail);
    if left == lines.len() {
        // A single line is longer than all the room.
        let shown = planwright_state::agent_progress::truncate_text(text, most);
        return format!("{shown}\n[only the beginning fits; ask for a part]");
    }
    let (begin, end) = (lines[..head].join("\n"), lines[lines.len() - tail..].join("\n"));
    format!("{begin}\n[{left} lines left out here; ask for a part to see them]\n{end}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_shown_with_the_numbers_of_its_lines() {
        let result = ToolResult::success(json!({
            "path": "a.rs", "text": "fn a() -> u8 {\n}\n", "start_line": 7, "end_line": 8,
            "total_lines": 20, "truncated": false,
        }));
        let shown = number_lines("file.read", &result).unwrap();
        assert_eq!(shown, "path: a.rs\ntotal_lines: 20\n7\tfn a() -> u8 {\n8\t}");
        assert_eq!(number_lines("grep", &result), None);
    }

    #[test]
    fn what_is_too_long_is_cut_between_lines() {
        let lines: Vec<String> = (0..100).map(|number| format!("line {number}\n")).collect();
        let cut = cut_by_lines(&lines.concat(), 100);
        assert!(cut.starts_with("line 0\nline 1\n") && cut.ends_with("line 98\nline 99"), "{cut}");
        assert!(cut.contains("lines left out here"));
        assert_eq!(cut_by_lines("short", 100), "short");
        assert!(cut_by_lines(&"x".repeat(300), 100).contains("only the beginning fits"));
    }
}
