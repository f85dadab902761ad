//! The person in a conversation: questions to them, and what they write to a running agent.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::attempt::AgentAttempt;
use super::super::executor::cancelled_failure;
use super::{ConversationEnd, HANDED_OVER};
use planwright_model::agent_conversation::PromptSource;
use planwright_model::requests::{AgentInquiry, agent_question_request};
use planwright_model::{
    Answer, Category, ChoiceAction, ExecutionFailure, Request, RequestId, TaskId,
};
use planwright_state::{ConversationCall, PersonMessage};

/// How an agent reaches the person.
pub trait PersonChannel: Send + Sync {
    /// Puts a request to the person and waits. `None` when nobody can answer any more.
    fn ask_person(&self, request: Request) -> BoxFuture<'_, Option<Answer>>;

    /// What the person wrote to the agent of a task and the model has not read yet.
    fn undelivered_messages<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Vec<PersonMessage>>;

    /// How long a task has waited for answers so far, a wait under way included.
    fn waited(&self, _task: &TaskId) -> Duration {
        Duration::ZERO
    }

    /// Ends when the person wants the agent of a task to stop what it does and read a message. Never, if they do not.
    fn interruption<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }
}

/// A session without anybody to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyThere;

impl PersonChannel for NobodyThere {
    fn ask_person(&self, _: Request) -> BoxFuture<'_, Option<Answer>> {
        Box::pin(std::future::ready(None))
    }

    fn undelivered_messages<'a>(&'a self, _: &'a TaskId) -> BoxFuture<'a, Vec<PersonMessage>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

impl AgentAttempt<'_> {
    /// Puts a request to the person. The task's slot is left to others meanwhile.
    pub(crate) async fn ask_and_wait(
        &self,
        request: Request,
    ) -> Result<Option<Answer>, ExecutionFailure> {
        let ends = self.cancel.child_token();
        let asking = async {
            let answer = tokio::select! {
                answer = self.services.person.ask_person(request) => answer,
                () = self.cancel.cancelled() => None,
            };
            // Only a task that continues waits for a slot again.
            let over = |answer: &Answer| {
                matches!(answer.action, ChoiceAction::HandToMe | ChoiceAction::StopTask)
            };
            if answer.as_ref().is_none_or(over) {
                ends.cancel();
            }
            answer
        };
        let answer =
            self.job.held.release_while(self.services.toolbox.permits(), &ends, asking).await;
        if self.cancel.is_cancelled() { Err(cancelled_failure()) } else { Ok(answer) }
    }

    /// Asks the person a question of the model: their words, or how the attempt ends without them.
    pub(crate) async fn ask_question(
        &self,
        inquiry: AgentInquiry<'_>,
    ) -> Result<String, ExecutionFailure> {
        let asked = self.redact_text(inquiry.question);
        let request = agent_question_request(
            RequestId::UNASSIGNED,
            &self.job.task,
            AgentInquiry { question: &asked, ..inquiry },
        );
        let answer = self.ask_and_wait(request).await?;
        let nobody = || {
            let message =
                format!("the agent, {}, asked, and nobody answered: {asked}", self.model_label());
            ExecutionFailure::new("needs_person", Category::Critical, message)
        };
        let Some(Answer { action, text, .. }) = answer else { return Err(nobody()) };
        match action {
            ChoiceAction::PickOption(number) => {
                let picked = inquiry.choices.get(usize::from(number).saturating_sub(1));
                picked.cloned().ok_or_else(nobody)
            }
            ChoiceAction::HandToMe => Err(handed_over()),
            _ => text.filter(|text| !text.trim().is_empty()).ok_or_else(nobody),
        }
    }

    /// A call by which the model asks. Something comes back only if the attempt is over.
    pub(super) async fn run_question(&self, call: &ConversationCall) -> Option<ConversationEnd> {
        let question = call.arguments.get("question").and_then(Value::as_str).unwrap_or_default();
        if question.trim().is_empty() {
            self.record_unrun(call, "`question` is empty");
            return None;
        }
        let choices: Vec<String> = call
            .arguments
            .get("choices")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|choice| choice.as_str().map(|text| self.redact_text(text)))
            .collect();
        let inquiry = AgentInquiry { question, choices: &choices, call: Some(call.number) };
        match self.ask_question(inquiry).await {
            Ok(answer) => {
                self.record_own_result(call, true, &format!("The person answers: {answer}"));
                None
            }
            Err(failure) => Some(Err(failure)),
        }
    }

    /// Hands what the person wrote to the model before its next turn.
    pub(super) async fn deliver_messages(&self) {
        let waiting = self.services.person.undelivered_messages(&self.job.task.id).await;
        self.record_messages(&waiting);
    }

    pub(crate) fn record_messages(&self, messages: &[PersonMessage]) {
        for message in messages {
            let text = format!("The person writes to you: {}", message.text);
            self.record_prompt(PromptSource::Person, &text, Some(message.number));
        }
    }
}

/// The end at which the person takes the task over.
pub(crate) fn handed_over() -> ExecutionFailure {
    ExecutionFailure::new(HANDED_OVER, Category::Critical, "the person takes it over")
}
