//! Habits of models while they plan: questions in words, several calls at once, thoughts, long silences.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::{
    DeltaSink, FinishReason, GenerateRequest, GeneratedAnswer, LanguageModel, MessagePart,
    ModelError, ModelInfo,
};
use planwright_model::event::{AgentEvent, Event};
use planwright_model::{ProfileChoice, ReasoningFormat, ReasoningItem};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::open_planning::{Desk, StrongModel, answer, calls, done, once_final, strong};
use super::*;

const GOAL: &str = "sort the photos of last year";

fn give_up() -> GeneratedAnswer {
    calls(&[("StageResult", json!({"status": "error", "summary": "enough"}))])
}

#[tokio::test]
async fn a_question_in_words_is_put_to_the_person_and_its_answer_reaches_the_model() {
    let question = || answer("Which year do you mean?", &[], FinishReason::Stop);
    let (client, model) = strong(vec![question(), question(), give_up()]);
    let mut desk = Desk::about(GOAL, once_final(), client).await;
    let open = desk.talk.open();
    assert!(matches!(open.kind, RequestKind::Questions { .. }), "{:?}", open.kind);
    let asked = format!("{} {} {:?}", open.question, open.why, open.kind);
    assert!(asked.contains("Which year do you mean?"), "{asked}");
    assert!(desk.planning().outline.is_none(), "words draft nothing");
    desk.answer(Answer::with_text(A::Reply, "2025, of course")).await;
    let requests = model.requests.lock().unwrap();
    let last = serde_json::to_string(&requests.last().unwrap().messages).unwrap();
    assert!(last.contains("2025, of course"), "{last}");
}

#[tokio::test]
async fn five_calls_at_once_each_get_a_result_and_unknown_fields_are_named() {
    let five = calls(&[
        ("record_fact", json!({"facts": [{"text": "the photos of last year", "kind": "none"}]})),
        ("PortfolioProbe", json!({"mood": "good"})),
        ("PortfolioProbe", json!({})),
        ("no_such_tool", json!({"a": 1})),
        ("StageResult", json!({"status": "success", "confidence": 0.9, "summary": "too early"})),
    ]);
    let (client, model) = strong(vec![five, give_up()]);
    let desk = Desk::about(GOAL, quiet(), client).await;
    let requests = model.requests.lock().unwrap();
    let results: Vec<(&str, bool)> = requests[1]
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            MessagePart::Result { content, is_error, .. } => Some((content.as_str(), *is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 5, "{results:#?}");
    assert!(!results[0].1, "{results:#?}");
    assert!(results[1].0.contains("mood"), "{results:#?}");
    assert!(results[3].1 && results[3].0.contains("no_such_tool"), "{results:#?}");
    assert!(results[4].1 && results[4].0.contains("did not succeed"), "{results:#?}");
    assert!(desk.planning().outline.is_none(), "a hand-in beside a failed call does not count");
}

#[tokio::test]
async fn a_thought_alone_hands_nothing_in_and_a_thought_before_a_call_goes_back_with_it() {
    let thought = || ReasoningItem {
        format: ReasoningFormat::Anthropic,
        position: 0,
        text: "Hm.".to_owned(),
        raw: json!({"type": "thinking", "thinking": "Hm.", "signature": "s"}),
    };
    let alone =
        GeneratedAnswer { reasoning: vec![thought()], ..answer("", &[], FinishReason::Stop) };
    let before =
        GeneratedAnswer { reasoning: vec![thought()], ..calls(&[("GrammarValidator", json!({}))]) };
    let (client, model) = strong(vec![alone, before, give_up()]);
    let desk = Desk::about(GOAL, quiet(), client).await;
    assert_eq!(desk.talk.place(), PlanningPosition::paused_for(PauseKind::Model));
    let requests = model.requests.lock().unwrap();
    assert_eq!(requests.len(), 3, "the thought alone is answered, not taken");
    let sent: Vec<&MessagePart> =
        requests[2].messages.iter().flat_map(|message| &message.parts).collect();
    let at = sent.iter().position(|part| **part == MessagePart::Reasoning(thought())).unwrap();
    assert!(
        sent[at..].iter().any(|part| matches!(part, MessagePart::Call(_))),
        "the thought stands before its call"
    );
    let thoughts = sent.iter().filter(|part| matches!(part, MessagePart::Reasoning(_))).count();
    assert_eq!(thoughts, 1, "without a call nobody wants it back");
}

/// Answers after a silence of two minutes.
#[derive(Debug)]
struct SilentModel(Arc<StrongModel>);

impl LanguageModel for SilentModel {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(120)).await;
            self.0.generate(request, deltas, cancel).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn two_minutes_of_silence_are_shown_and_the_answer_after_them_counts() {
    let (client, model) = strong(vec![calls(&[done("Nothing to ask.")]), give_up()]);
    let silent: Arc<dyn LanguageModel> = Arc::new(SilentModel(model.clone()));
    let mut client = Arc::into_inner(client).unwrap();
    client.dialogue = ModelDialogue::new(silent).with_profile(ProfileChoice::Auto);
    let desk = Desk::about(GOAL, quiet(), Arc::new(client)).await;
    assert_eq!(model.requests.lock().unwrap().len(), 2, "no call was dropped or repeated");
    assert!(desk.talk.open().why.contains("enough"), "{}", desk.talk.open().why);
    let waits: Vec<u64> = desk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Agent(AgentEvent::ModelWaiting { ask: 1, elapsed_sec, .. }) => {
                Some(*elapsed_sec)
            }
            _ => None,
        })
        .collect();
    assert_eq!(waits, [3, 6, 12, 24, 48, 96]);
}
