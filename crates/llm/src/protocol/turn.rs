//! One turn of an open conversation: whatever the model answered, with each call checked on its own.
//!
//! Unlike [`ModelDialogue::ask_reply`] nothing is asked again here. Whoever leads the conversation tells the model what
//! was wrong with its answer, so that the journal has every request that was sent.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::answer_check::{check_call, read_calls};
use super::dialogue::ModelDialogue;
use super::reply_types::AnswerNote;
use super::{text_protocol, usability};
use crate::cost::CallCost;
use crate::{DeltaSink, FinishReason, GenerateRequest, GeneratedAnswer, ModelError, RawToolCall};
use planwright_model::ReasoningItem;

/// A call of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnCall {
    /// The name that the model gave, whether there is such a tool or not.
    pub name: String,
    /// Arguments that match the schema, or what was written instead.
    pub arguments: Value,
    /// Why the call cannot be made.
    pub problem: Option<String>,
    /// What was changed in the arguments.
    pub note: Option<String>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTurn {
    pub text: String,
    pub calls: Vec<TurnCall>,
    /// What the model thought before its calls, which its provider wants back with their results.
    pub reasoning: Vec<ReasoningItem>,
    /// The answer ended at its length limit. Its calls are left out: the last of them may be half of one.
    pub cut_off: bool,
    /// Why an answer without calls says nothing usable: it is empty, withheld, a refusal, or a call written as text.
    pub fault: Option<String>,
    pub notes: Vec<AnswerNote>,
    pub cost: CallCost,
}

impl ModelDialogue {
    /// Asks for the next turn of a conversation. Only what kept the model from answering at all is an error.
    pub async fn ask_turn(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let asked = self.ask_in_protocol(request, deltas, cancel).await?;
        let mut turn = read_turn(&asked.generated, request, asked.protocol);
        turn.notes.extend(asked.notes);
        turn.cost = asked.cost;
        Ok(turn)
    }
}

fn read_turn(
    generated: &GeneratedAnswer,
    request: &GenerateRequest,
    protocol: super::AnswerProtocol,
) -> ModelTurn {
    let mut notes = Vec::new();
    let mut turn = ModelTurn {
        text: text_protocol::strip_thinking(&generated.text).to_owned(),
        calls: Vec::new(),
        reasoning: Vec::new(),
        cut_off: generated.finish == FinishReason::Length,
        fault: None,
        notes: Vec::new(),
        cost: CallCost::NONE,
    };
    if turn.cut_off {
        return turn;
    }
    if let Some(reason) = usability::incomplete_end_reason(generated) {
        turn.fault = Some(reason);
        return turn;
    }
    match read_calls(generated, request, protocol, &mut notes) {
        Ok((text, calls)) => {
            text_protocol::strip_thinking(&text).clone_into(&mut turn.text);
            turn.calls = calls.iter().map(|raw| read_call(raw, request)).collect();
            if !turn.calls.is_empty() {
                turn.reasoning.clone_from(&generated.reasoning);
            }
        }
        Err(problem) => turn.fault = Some(problem),
    }
    if turn.calls.is_empty() && turn.fault.is_none() {
        turn.fault = usability::half_object_reason(generated)
            .or_else(|| usability::unusable_text_reason(generated, &request.tools));
    }
    turn.notes = notes;
    turn
}

fn read_call(raw: &RawToolCall, request: &GenerateRequest) -> TurnCall {
    let mut notes = Vec::new();
    match check_call(raw, &request.tools, &mut notes) {
        Ok(call) => {
            let notes: Vec<String> =
                notes.into_iter().map(|note| format!("{}: {}", note.code, note.detail)).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            TurnCall { name: call.name, arguments: call.arguments, problem: None, note }
        }
        Err(problems) => {
            let written = serde_json::from_str::<Value>(&raw.arguments)
                .ok()
                .filter(Value::is_object)
                .unwrap_or_else(|| json!({ "unreadable": raw.arguments }));
            let problem = Some(problems.join("; "));
            TurnCall { name: raw.name.clone(), arguments: written, problem, note: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::AnswerProtocol;
    use crate::{Message, TokenUsage, ToolSpec};
    use planwright_model::ReasoningFormat;

    fn thought() -> ReasoningItem {
        ReasoningItem {
            format: ReasoningFormat::Anthropic,
            position: 0,
            text: "hm".into(),
            raw: json!({"type": "thinking", "signature": "s"}),
        }
    }

    fn turn(text: &str, calls: &[(&str, &str)], finish: FinishReason) -> ModelTurn {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.tools = vec![ToolSpec {
            name: "file.read".into(),
            description: "Reads".into(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}},
                "required": ["path"]}),
        }];
        let call = |(name, arguments): &(&str, &str)| RawToolCall {
            id: String::new(),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        };
        let generated = GeneratedAnswer {
            text: text.to_owned(),
            tool_calls: calls.iter().map(call).collect(),
            usage: TokenUsage::default(),
            finish,
            model: "m".into(),
            reasoning: vec![thought()],
            spent_on_retries: TokenUsage::default(),
        };
        read_turn(&generated, &request, AnswerProtocol::Tools)
    }

    #[test]
    fn every_call_is_there_and_says_what_is_wrong_with_it() {
        let calls = [
            ("file.read", r#"{"path": "a"}"#),
            ("file.read", r#"{"path": "b", "mood": "good"}"#),
            ("file.read", "{\"path\": "),
            ("rm", "{}"),
        ];
        let read = turn("I look.", &calls, FinishReason::ToolCalls);
        assert_eq!(read.text, "I look.");
        assert_eq!(read.reasoning, [thought()]);
        let problems: Vec<bool> = read.calls.iter().map(|call| call.problem.is_some()).collect();
        assert_eq!(problems, [false, false, true, true]);
        assert_eq!(read.calls[1].arguments, json!({"path": "b"}));
        assert!(read.calls[1].note.as_ref().unwrap().contains("mood"), "{read:?}");
        assert_eq!(read.calls[2].arguments, json!({"unreadable": "{\"path\": "}));
        assert!(read.calls[3].problem.as_ref().unwrap().contains("there is no tool `rm`"));
    }

    #[test]
    fn a_cut_answer_keeps_its_words_and_makes_no_call() {
        let read = turn("So far", &[("file.read", r#"{"path": "/"}"#)], FinishReason::Length);
        assert_eq!((read.cut_off, read.calls.len(), read.fault), (true, 0, None));
        assert_eq!((read.text.as_str(), read.reasoning.len()), ("So far", 0));
    }

    #[test]
    fn an_answer_that_says_nothing_names_its_fault_and_words_do_not() {
        let fault = |text: &str, finish| turn(text, &[], finish).fault.unwrap_or_default();
        assert!(fault("", FinishReason::Stop).contains("empty"));
        assert!(fault("<think>hm</think>", FinishReason::Stop).contains("only thinking"));
        let refusal = "I'm sorry, but I can't help with that.";
        assert!(fault(refusal, FinishReason::Stop).contains("refused"));
        assert!(fault("x", FinishReason::Filtered).contains("withheld"));
        assert_eq!(fault("Which of the two files do you mean?", FinishReason::Stop), "");
    }
}
