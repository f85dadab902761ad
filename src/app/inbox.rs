//! Answers and commands from other processes: the holder of a session takes them, everybody else leaves them.

use std::time::Duration;

use planwright_engine::SessionHandle;
use planwright_model::event::{AgentEvent, ApprovalEvent, Command, Event, PlanningEvent};
use planwright_model::{Actor, Answer, RequestId, SessionId, TaskId};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use planwright_store::{InboxAnswer, Store, StoreError};

/// How often the holder looks.
const HOLDER_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often the sender looks whether its answer was taken.
const SENDER_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a command that was taken may take to be refused.
const REFUSAL_WAIT: Duration = Duration::from_millis(500);
/// How many commands may wait to be left; a person never types faster.
const COMMANDS: usize = 64;
/// How long a holder that is alive may take; a machine that is asleep or overloaded is no reason to hang.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(30);

/// Passes on what is left for a session for as long as it is worked on here. The driver decides on it as on any command. What
/// was left before is passed on at once, and the handle names it.
pub(crate) fn forward_answers(store: &Store, handle: &mut SessionHandle) {
    let before: Vec<Command> = if store.has_inbox_answers(&handle.id).unwrap_or_default() {
        let taken = store.take_answers(&handle.id).unwrap_or_else(|error| {
            tracing::warn!(%error, "answers in the inbox cannot be taken");
            Vec::new()
        });
        taken.iter().filter_map(answer_command).collect()
    } else {
        Vec::new()
    };
    for command in &before {
        if let Command::Answer { id, answer, .. } = command {
            handle.left_answers.push((*id, answer.action));
        }
    }
    let (store, id) = (store.clone(), handle.id.clone());
    let commands = handle.commands.downgrade();
    tokio::spawn(async move {
        for command in before {
            let Some(commands) = commands.upgrade() else { return };
            if commands.send(command).await.is_err() {
                return;
            }
        }
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

fn answer_command(letter: &InboxAnswer) -> Option<Command> {
    // A letter that names no request is a command.
    if letter.request == RequestId::UNASSIGNED {
        let parsed = serde_json::from_str(&letter.answer);
        return parsed.inspect_err(|_| tracing::warn!("a command cannot be read")).ok();
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

/// Leaves an answer for whoever works on a session next.
pub(crate) fn leave_answer(
    store: &Store,
    id: &SessionId,
    request: RequestId,
    answer: &Answer,
) -> anyhow::Result<()> {
    store.post_answer(id, InboxAnswer { request, answer: serde_json::to_string(answer)? })?;
    Ok(())
}

/// Leaves a message to the agent of a task for the holder of a session and waits for what becomes of it.
pub(crate) fn deliver_message(
    store: &Store,
    id: &SessionId,
    task: &TaskId,
    text: &str,
) -> anyhow::Result<AnswerDelivery> {
    let (task, text, by) = (task.clone(), text.to_owned(), Actor::Person);
    let letter = command_letter(&Command::MessageTask { task: task.clone(), text, by })?;
    deliver_letter(store, id, letter, |event| message_outcome(event, &task))
}

fn command_letter(command: &Command) -> anyhow::Result<InboxAnswer> {
    let answer = serde_json::to_string(command)?;
    Ok(InboxAnswer { request: RequestId::UNASSIGNED, answer })
}

/// Leaves a command for the holder of a session.
pub(crate) fn post_command(store: &Store, id: &SessionId, command: &Command) -> anyhow::Result<()> {
    store.post_answer(id, command_letter(command)?)?;
    Ok(())
}

/// A way to the holder of a session: commands that are sent there are left for it, in order. The task ends when nobody can
/// send any more and everything is left.
pub(crate) fn open_command_channel(
    store: &Store,
    id: &SessionId,
) -> (mpsc::Sender<Command>, JoinHandle<()>) {
    let (sender, mut receiver) = mpsc::channel::<Command>(COMMANDS);
    let (store, id) = (store.clone(), id.clone());
    let forwarding = tokio::spawn(async move {
        while let Some(command) = receiver.recv().await {
            let (store, id) = (store.clone(), id.clone());
            let name = command.name();
            let posted =
                tokio::task::spawn_blocking(move || post_command(&store, &id, &command)).await;
            if let Err(error) = posted.map_err(anyhow::Error::from).and_then(|posted| posted) {
                tracing::error!(%error, command = name, "a command cannot be left");
            }
        }
    });
    (sender, forwarding)
}

/// Leaves a command for the holder of a session and waits until it was taken. A refusal comes at once, everything else
/// takes its time: a task that is to stop may take seconds.
pub(crate) fn deliver_command(
    store: &Store,
    id: &SessionId,
    command: &Command,
) -> anyhow::Result<AnswerDelivery> {
    let mut history = super::session_history(store, id)?;
    let mut seen = history.head_seq()?;
    let number = store.post_answer(id, command_letter(command)?)?;
    let reader = store.reader()?;
    let begun = std::time::Instant::now();
    let mut taken: Option<std::time::Instant> = None;
    loop {
        std::thread::sleep(SENDER_POLL_INTERVAL);
        let head = history.head_seq()?;
        while seen < head {
            seen = seen.next();
            let Some(record) = history.record_at(seen)? else { break };
            if let Event::Approval(ApprovalEvent::Refused { command: refused, why }) = &record.event
                && refused == command.name()
            {
                return Ok(AnswerDelivery::Refused(why.to_string()));
            }
        }
        if taken.is_none() && !reader.is_answer_waiting(number)? {
            taken = Some(std::time::Instant::now());
        }
        if taken.is_some_and(|at| at.elapsed() >= REFUSAL_WAIT) {
            return Ok(AnswerDelivery::Taken);
        }
        let held = store.lease_holder(id)?.is_some();
        if taken.is_none()
            && (!held || begun.elapsed() >= HOLDER_TIMEOUT)
            && withdraw_answer(store, &reader, number)?
        {
            return Ok(if held { AnswerDelivery::NoReaction } else { AnswerDelivery::NobodyThere });
        }
    }
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
