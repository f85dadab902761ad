//! Answers and commands from other processes: the holder of a session takes them, everybody else leaves them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use planwright_engine::{LeftCommand, SessionHandle, command_in_letter};
use planwright_model::event::{AgentEvent, ApprovalEvent, Command, Event, PlanningEvent};
use planwright_model::{Actor, Answer, RequestId, SessionId, TaskId};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use planwright_store::{InboxAnswer, InboxKey, InboxLetter, SideWrite, Store, StoreError};

/// How often the holder looks.
const HOLDER_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often the holder shows that it is at work.
const LIFE_INTERVAL: Duration = Duration::from_secs(1);
/// How often the sender looks whether its answer was taken.
const SENDER_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a command that was taken may take to be refused.
const REFUSAL_WAIT: Duration = Duration::from_millis(500);
/// How many commands may wait to be left; a person never types faster.
const COMMANDS: usize = 64;
/// How long a holder that is alive may take; a machine that is asleep or overloaded is no reason to hang.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(30);

/// Passes on what is left for a session for as long as it is worked on here. The driver decides on it as on any command, and
/// removes it from the inbox in the commit that journals what became of it. The handle names what was left before.
pub(crate) fn forward_answers(store: &Store, handle: &mut SessionHandle) {
    let mut forwarder = LetterForwarder {
        store: store.clone(),
        session: handle.id.clone(),
        letters: handle.letters.downgrade(),
        forwarded: BTreeSet::new(),
    };
    // At once: a process that stops before its first look has stopped responding as well.
    forwarder.show_sign_of_life();
    let before = forwarder.new_commands();
    for letter in &before {
        if let Command::Answer { id, answer, .. } = &letter.command {
            handle.left_answers.push((*id, answer.action));
        }
    }
    // A thread of its own sleeps between two looks; a task would wake up the whole runtime for each of them.
    let watching = std::thread::Builder::new().name("inbox-watch".into());
    if let Err(error) = watching.spawn(move || forwarder.run(before)) {
        tracing::error!(%error, "nobody looks into the inbox");
    }
}

/// Reads the inbox of one session. Letters stay there until they are journaled, so it remembers which ones it has passed on.
struct LetterForwarder {
    store: Store,
    session: SessionId,
    letters: mpsc::WeakSender<LeftCommand>,
    forwarded: BTreeSet<InboxKey>,
}

impl LetterForwarder {
    fn run(mut self, before: Vec<LeftCommand>) {
        let mut found = before;
        let mut life_due = Instant::now() + LIFE_INTERVAL;
        loop {
            let Some(letters) = self.letters.upgrade() else { return };
            for letter in found {
                if letters.blocking_send(letter).is_err() {
                    return;
                }
            }
            if letters.is_closed() {
                return;
            }
            drop(letters);
            std::thread::sleep(HOLDER_POLL_INTERVAL);
            if Instant::now() >= life_due {
                life_due = Instant::now() + LIFE_INTERVAL;
                self.show_sign_of_life();
            }
            found = self.new_commands();
        }
    }

    /// What was left since the last look. A store that is busy is looked at again in a moment.
    fn new_commands(&mut self) -> Vec<LeftCommand> {
        let found = self.read_letters().unwrap_or_else(|error| {
            tracing::debug!(%error, "the inbox cannot be looked into");
            Vec::new()
        });
        let mut new = Vec::new();
        for InboxLetter { key, answer } in found {
            if !self.forwarded.insert(key) {
                continue;
            }
            match command_in_letter(&answer) {
                Some(command) => new.push(LeftCommand { key, command }),
                // Nobody can ever act on it.
                None => self.remove_letter(key),
            }
        }
        new
    }

    fn read_letters(&mut self) -> Result<Vec<InboxLetter>, StoreError> {
        // Asked first, because it costs next to nothing.
        let found = if self.store.has_inbox_answers(&self.session)? {
            self.store.inbox_letters(&self.session)?
        } else {
            Vec::new()
        };
        self.forwarded.retain(|key| found.iter().any(|letter| letter.key == *key));
        Ok(found)
    }

    /// Tells those who watch the session that this process still reads its inbox.
    fn show_sign_of_life(&self) {
        if let Err(error) = self.store.show_sign_of_life(&self.session) {
            tracing::debug!(%error, "nobody can see that this process is at work");
        }
    }

    fn remove_letter(&self, key: InboxKey) {
        if let Err(error) = self.store.write_side_data(vec![SideWrite::RemoveLetter(key)]) {
            tracing::warn!(%error, "a letter that cannot be read stays in the inbox");
        }
    }
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
    interrupt: bool,
) -> anyhow::Result<AnswerDelivery> {
    let (task, text, by) = (task.clone(), text.to_owned(), Actor::Person);
    let letter = command_letter(&Command::MessageTask { task: task.clone(), text, by, interrupt })?;
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
    let key = store.post_answer(id, command_letter(command)?)?;
    let reader = store.reader()?;
    let begun = Instant::now();
    let mut taken: Option<Instant> = None;
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
        if taken.is_none() && !reader.is_answer_waiting(key)? {
            taken = Some(Instant::now());
        }
        if taken.is_some_and(|at| at.elapsed() >= REFUSAL_WAIT) {
            return Ok(AnswerDelivery::Taken);
        }
        let held = store.lease_holder(id)?.is_some();
        if taken.is_none()
            && (!held || begun.elapsed() >= HOLDER_TIMEOUT)
            && withdraw_answer(store, &reader, key)?
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
    let key = store.post_answer(id, letter)?;
    let reader = store.reader()?;
    let begun = Instant::now();
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
        if (!held || begun.elapsed() >= HOLDER_TIMEOUT) && withdraw_answer(store, &reader, key)? {
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
    key: InboxKey,
) -> Result<bool, StoreError> {
    Ok(reader.is_answer_waiting(key)? && store.withdraw_answer(key)?)
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
