//! Answers from other processes: the holder of a session takes them, everybody else leaves them.

use std::time::Duration;

use planwright_engine::SessionHandle;
use planwright_model::event::{AgentEvent, ApprovalEvent, Command, Event, PlanningEvent};
use planwright_model::{Actor, Answer, RequestId, SessionId, TaskId};
use serde::{Deserialize, Serialize};

use planwright_store::{InboxAnswer, Store, StoreError};

/// How often the holder looks.
const HOLDER_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How often the sender looks whether its answer was taken.
const SENDER_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a holder that is alive may take; a machine that is asleep or overloaded is no reason to hang.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(30);

/// Passes on what is left for a session for as long as it is worked on here. The driver decides on it as on any command.
pub(crate) fn forward_answers(store: &Store, handle: &SessionHandle) {
    let (store, id) = (store.clone(), handle.id.clone());
    let commands = handle.commands.downgrade();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(HOLDER_POLL_INTERVAL).await;
            let Some(commands) = commands.upgrade() else { return };
            if commands.is_closed() {
                return;
            }
            // A store that is busy is looked at again in a moment.
            let waiting = store.has_inbox_answers(&id).unwrap_or_else(|error| {
                tracing::debug!(%error, "the inbox cannot be looked into");
                false
            });
            if !waiting {
                continue;
            }
            let (from, session) = (store.clone(), id.clone());
            let taken = tokio::task::spawn_blocking(move || from.take_answers(&session)).await;
            let taken = taken.map_err(anyhow::Error::from).and_then(|taken| Ok(taken?));
            let letters = taken.unwrap_or_else(|error| {
                tracing::warn!(%error, "answers in the inbox cannot be taken");
                Vec::new()
            });
            for letter in letters {
                if let Some(command) = answer_command(&letter)
                    && commands.send(command).await.is_err()
                {
                    return;
                }
            }
        }
    });
}

/// What is left for the agent of a task. It names no request, which tells it from an answer.
#[derive(Debug, Serialize, Deserialize)]
struct MessageLetter {
    task: TaskId,
    text: String,
}

fn answer_command(letter: &InboxAnswer) -> Option<Command> {
    if letter.request == RequestId::UNASSIGNED {
        let parsed = serde_json::from_str(&letter.answer);
        let MessageLetter { task, text } =
            parsed.inspect_err(|_| tracing::warn!("a message cannot be read")).ok()?;
        return Some(Command::MessageTask { task, text, by: Actor::Person });
    }
    let parsed = serde_json::from_str(&letter.answer);
    // The error may quote the answer.
    let answer: Answer = parsed
        .inspect_err(|_| tracing::warn!(request = %letter.request, "an answer cannot be read"))
        .ok()?;
    Some(Command::Answer { id: letter.request, answer, by: Actor::Person })
}

/// What became of an answer that was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerDelivery {
    /// The holder acted on it.
    Taken,
    /// The holder turned it down, in its words.
    Refused(String),
    /// Nobody holds the session any more, and the answer was taken back.
    NobodyThere,
    /// The holder lives and does not react.
    NoReaction,
}

/// Leaves an answer for the holder of a session and waits for what becomes of it.
pub(crate) fn deliver_answer(
    store: &Store,
    id: &SessionId,
    request: RequestId,
    answer: &Answer,
) -> anyhow::Result<AnswerDelivery> {
    let letter = InboxAnswer { request, answer: serde_json::to_string(answer)? };
    deliver_letter(store, id, letter, |event| delivery_outcome(event, request))
}

/// Leaves a message to the agent of a task for the holder of a session and waits for what becomes of it.
pub(crate) fn deliver_message(
    store: &Store,
    id: &SessionId,
    task: &TaskId,
    text: &str,
) -> anyhow::Result<AnswerDelivery> {
    let letter = MessageLetter { task: task.clone(), text: text.to_owned() };
    let letter =
        InboxAnswer { request: RequestId::UNASSIGNED, answer: serde_json::to_string(&letter)? };
    deliver_letter(store, id, letter, |event| message_outcome(event, task))
}

fn message_outcome(event: &Event, task: &TaskId) -> Option<AnswerDelivery> {
    match event {
        Event::Agent(AgentEvent::MessageSent { task: sent, .. }) if sent == task => {
            Some(AnswerDelivery::Taken)
        }
        Event::Approval(ApprovalEvent::Refused { command, why }) if command == "message_task" => {
            Some(AnswerDelivery::Refused(why.to_string()))
        }
        _ => None,
    }
}

fn deliver_letter(
    store: &Store,
    id: &SessionId,
    letter: InboxAnswer,
    outcome: impl Fn(&Event) -> Option<AnswerDelivery>,
) -> anyhow::Result<AnswerDelivery> {
    let mut history = super::session_history(store, id)?;
    let before = history.head_seq()?;
    let number = store.post_answer(id, letter)?;
    let reader = store.reader()?;
    let begun = std::time::Instant::now();
    let mut seen = before;
    loop {
        std::thread::sleep(SENDER_POLL_INTERVAL);
        let head = history.head_seq()?;
        while seen < head {
            seen = seen.next();
            let Some(record) = history.record_at(seen)? else { break };
            if let Some(end) = outcome(&record.event) {
                return Ok(end);
            }
        }
        let held = store.lease_holder(id)?.is_some();
        if (!held || begun.elapsed() >= HOLDER_TIMEOUT) && withdraw_answer(store, &reader, number)?
        {
            return Ok(if held { AnswerDelivery::NoReaction } else { AnswerDelivery::NobodyThere });
        }
        // It was taken, and whoever took it is gone without a word: nothing came of it.
        if !held && history.head_seq()? == seen {
            return Ok(AnswerDelivery::NobodyThere);
        }
        if begun.elapsed() >= 2 * HOLDER_TIMEOUT {
            return Ok(AnswerDelivery::NoReaction);
        }
    }
}

fn withdraw_answer(
    store: &Store,
    reader: &planwright_store::StoreReader,
    number: i64,
) -> Result<bool, StoreError> {
    Ok(reader.is_answer_waiting(number)? && store.withdraw_answer(number)?)
}

fn delivery_outcome(event: &Event, request: RequestId) -> Option<AnswerDelivery> {
    match event {
        Event::Approval(ApprovalEvent::Answered { id, .. }) if *id == request => {
            Some(AnswerDelivery::Taken)
        }
        Event::Approval(ApprovalEvent::Refused { command, why }) if command == "answer" => {
            Some(AnswerDelivery::Refused(why.to_string()))
        }
        Event::Approval(ApprovalEvent::Amended { request: amended }) if amended.id == request => {
            Some(match &amended.unread {
                Some(unread) => AnswerDelivery::Refused(unread.why.clone()),
                None => AnswerDelivery::Taken,
            })
        }
        // A remark or a request for ideas leaves the question open.
        Event::Planning(PlanningEvent::PolicySet { .. } | PlanningEvent::IdeasOffered { .. }) => {
            Some(AnswerDelivery::Taken)
        }
        _ => None,
    }
}
