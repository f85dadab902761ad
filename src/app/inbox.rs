//! Answers from other processes: the holder of a session takes them, everybody else leaves them.

use std::time::Duration;

use planwright_engine::SessionHandle;
use planwright_model::event::{ApprovalEvent, Command, Event, PlanningEvent};
use planwright_model::{Actor, Answer, RequestId, SessionId};
use planwright_store::{Letter, Store, StoreError};

/// How often the holder looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often the sender looks whether its answer was taken.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// How long a holder that is alive may take; a machine that is asleep or overloaded is no reason to hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// Passes on what is left for a session for as long as it is worked on here. The driver decides on it as on any command.
pub fn attend(store: &Store, handle: &SessionHandle) {
    let (store, id) = (store.clone(), handle.id.clone());
    let commands = handle.commands.downgrade();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Some(commands) = commands.upgrade() else { return };
            if commands.is_closed() {
                return;
            }
            // A store that is busy is looked at again in a moment.
            if !store.has_letters(&id).unwrap_or(false) {
                continue;
            }
            let (from, session) = (store.clone(), id.clone());
            let taken = tokio::task::spawn_blocking(move || from.take_letters(&session)).await;
            for letter in taken.ok().and_then(Result::ok).unwrap_or_default() {
                if let Some(command) = command_of(&letter)
                    && commands.send(command).await.is_err()
                {
                    return;
                }
            }
        }
    });
}

fn command_of(letter: &Letter) -> Option<Command> {
    let answer: Answer = serde_json::from_str(&letter.answer).ok()?;
    Some(Command::Answer { id: letter.request, answer, by: Actor::Person })
}

/// What became of an answer that was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
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
pub fn deliver(
    store: &Store,
    id: &SessionId,
    request: RequestId,
    answer: &Answer,
) -> anyhow::Result<Delivery> {
    let mut history = super::history(store, id)?;
    let before = history.head()?;
    let letter = Letter { request, answer: serde_json::to_string(answer)? };
    let number = store.post(id, letter)?;
    let reader = store.reader()?;
    let begun = std::time::Instant::now();
    let mut seen = before;
    loop {
        std::thread::sleep(ASK_EVERY);
        let head = history.head()?;
        while seen < head {
            seen = seen.next();
            let Some(record) = history.record(seen)? else { break };
            if let Some(end) = outcome_of(&record.event, request) {
                return Ok(end);
            }
        }
        let held = store.holder(id)?.is_some();
        if (!held || begun.elapsed() >= PATIENCE) && taken_back(store, &reader, number)? {
            return Ok(if held { Delivery::NoReaction } else { Delivery::NobodyThere });
        }
        // It was taken, and whoever took it is gone without a word: nothing came of it.
        if !held && history.head()? == seen {
            return Ok(Delivery::NobodyThere);
        }
        if begun.elapsed() >= 2 * PATIENCE {
            return Ok(Delivery::NoReaction);
        }
    }
}

fn taken_back(
    store: &Store,
    reader: &planwright_store::Reader,
    number: i64,
) -> Result<bool, StoreError> {
    Ok(reader.letter_waits(number)? && store.take_back(number)?)
}

fn outcome_of(event: &Event, request: RequestId) -> Option<Delivery> {
    match event {
        Event::Approval(ApprovalEvent::Answered { id, .. }) if *id == request => {
            Some(Delivery::Taken)
        }
        Event::Approval(ApprovalEvent::Refused { command, why }) if command == "answer" => {
            Some(Delivery::Refused(why.to_string()))
        }
        // A remark or a wish for ideas leaves the question open.
        Event::Planning(PlanningEvent::PolicySet { .. } | PlanningEvent::IdeasOffered { .. }) => {
            Some(Delivery::Taken)
        }
        _ => None,
    }
}
