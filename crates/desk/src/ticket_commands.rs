//! Getting a command into a ticket: the process that shows it decides, and where none does the desk writes what follows.

use std::sync::Arc;
use std::time::Duration;

use crate::ticket_desk::{DeskError, TicketDesk};
use planwright_engine::{WrittenDecision, command_in_letter, write_decision};
use planwright_model::event::{ApprovalEvent, Command, Event};
use planwright_model::{RequestId, Seq, SessionId, TaskId};
use planwright_state::SessionState;
use planwright_store::{InboxAnswer, Journal, SideWrite, Store, StoreError};

/// How often it is looked whether a letter was taken.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a living holder may take.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a session is tried that somebody else takes and leaves again.
const ATTEMPTS: u32 = 20;

/// What a comment is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommentPlace {
    Line(u32),
    Row(TaskId),
}

impl TicketDesk {
    /// Has a ticket decide on a command, and gives the ticket as it is then.
    pub(crate) async fn apply(
        &self,
        id: &SessionId,
        command: &Command,
    ) -> Result<Arc<SessionState>, DeskError> {
        let store = self.store()?;
        for _ in 0..ATTEMPTS {
            match self.acquire(&store, id).await {
                Ok(journal) => return self.write(&store, journal, command).await,
                Err(DeskError::NoReaction) => {}
                Err(error) => return Err(error),
            }
            if self.deliver(&store, id, command).await? {
                return Self::ticket_state(&store, id);
            }
        }
        Err(DeskError::NoReaction)
    }

    /// Leaves a comment of the person's: on a line of the submitted text, counted from 1, or on a row.
    pub async fn comment(
        &self,
        id: &SessionId,
        place: &CommentPlace,
        text: &str,
    ) -> Result<(), DeskError> {
        let text = self.redact(text);
        let command = match place {
            CommentPlace::Line(line) => Command::CommentLine { line: *line, text },
            CommentPlace::Row(node) => Command::Comment { node: node.clone(), text },
        };
        self.apply(id, &command).await.map(drop)
    }

    /// Opens the session for writing; `NoReaction` where somebody else has it open. Waiting for the lock blocks.
    async fn acquire(&self, store: &Store, id: &SessionId) -> Result<Journal, DeskError> {
        let (store, id) = (store.clone(), id.clone());
        let acquired = tokio::task::spawn_blocking(move || store.acquire_session(&id)).await;
        match acquired {
            Ok(Ok(journal)) => Ok(journal),
            Ok(Err(StoreError::Held { .. })) => Err(DeskError::NoReaction),
            Ok(Err(error)) => Err(error.into()),
            Err(error) => Err(DeskError::Unwritable(error.to_string())),
        }
    }

    async fn write(
        &self,
        store: &Store,
        journal: Journal,
        command: &Command,
    ) -> Result<Arc<SessionState>, DeskError> {
        let id = journal.session().clone();
        let mut state = SessionState::clone(&*Self::ticket_at(store, &id, journal.head())?);
        // What the person left before comes first: it may be the decision.
        self.take_letters(store, &journal, &mut state).await?;
        let written = write_decision(&journal, &mut state, command, None, self.now()).await?;
        release(journal).await?;
        match written {
            WrittenDecision::Done => Ok(Arc::new(state)),
            WrittenDecision::Refused(why) => Err(DeskError::refused(&why)),
            WrittenDecision::NeedsDriver => {
                let message = "only the person can do that, in Planwright".to_owned();
                Err(DeskError::Refused { message })
            }
        }
    }

    fn ticket_at(store: &Store, id: &SessionId, head: Seq) -> Result<Arc<SessionState>, DeskError> {
        let state = Self::history(store, id)?.state_at(head)?;
        if state.desk.is_ticket() { Ok(state) } else { Err(DeskError::NoTicket(id.to_string())) }
    }

    /// Acts on answers that were left for a ticket while nobody showed it.
    async fn take_letters(
        &self,
        store: &Store,
        journal: &Journal,
        state: &mut SessionState,
    ) -> Result<(), DeskError> {
        for letter in store.inbox_letters(journal.session())? {
            let Some(command) = command_in_letter(&letter.answer) else {
                store.write_side_data(vec![SideWrite::RemoveLetter(letter.key)])?;
                continue;
            };
            let (key, now) = (Some(letter.key), self.now());
            let written = write_decision(journal, state, &command, key, now).await?;
            if written == WrittenDecision::NeedsDriver {
                // It stays for whoever opens the session in Planwright.
                break;
            }
        }
        Ok(())
    }

    /// Acts on what was left for a ticket, if nobody shows it.
    pub(crate) async fn settle_letters(&self, id: &SessionId) -> Result<(), DeskError> {
        let store = self.store()?;
        if !store.has_inbox_answers(id)? || store.lease_holder(id)?.is_some() {
            return Ok(());
        }
        let journal = match self.acquire(&store, id).await {
            Ok(journal) => journal,
            // Somebody opened it meanwhile and acts on them.
            Err(DeskError::NoReaction) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut state = SessionState::clone(&*Self::ticket_at(&store, id, journal.head())?);
        self.take_letters(&store, &journal, &mut state).await?;
        release(journal).await
    }

    /// Leaves a command for the process that has the session open. False if that process went away without taking it.
    async fn deliver(
        &self,
        store: &Store,
        id: &SessionId,
        command: &Command,
    ) -> Result<bool, DeskError> {
        let before = store.session_info(id)?.head;
        let answer = serde_json::to_string(command)?;
        let letter = InboxAnswer { request: RequestId::UNASSIGNED, answer };
        let key = store.post_answer(id, letter)?;
        let begun = tokio::time::Instant::now();
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            // It is removed in the commit that has what became of it.
            if !store.reader()?.is_answer_waiting(key)? {
                Self::check_refusal(store, id, before, command)?;
                return Ok(true);
            }
            let held = store.lease_holder(id)?.is_some();
            if (!held || begun.elapsed() >= HOLDER_TIMEOUT) && store.withdraw_answer(key)? {
                return if held { Err(DeskError::NoReaction) } else { Ok(false) };
            }
        }
    }

    fn check_refusal(
        store: &Store,
        id: &SessionId,
        before: Seq,
        command: &Command,
    ) -> Result<(), DeskError> {
        let mut history = Self::history(store, id)?;
        let head = history.head_seq()?;
        let mut seq = before;
        while seq < head {
            seq = seq.next();
            let Some(record) = history.record_at(seq)? else { break };
            if let Event::Approval(ApprovalEvent::Refused { command: refused, why }) = &record.event
                && refused == command.name()
            {
                return Err(DeskError::refused(why));
            }
        }
        Ok(())
    }
}

async fn release(journal: Journal) -> Result<(), DeskError> {
    match tokio::task::spawn_blocking(move || journal.release()).await {
        Ok(released) => Ok(released?),
        Err(error) => Err(DeskError::Unwritable(error.to_string())),
    }
}
