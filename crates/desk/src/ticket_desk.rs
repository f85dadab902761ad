//! The desk itself: the store that tickets are in, opened when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use planwright_engine::{Clock, EngineError};
use planwright_model::event::{CommandRefusal, Event};
use planwright_model::{SessionId, Violation};
use planwright_plan::submission::SubmissionError;
use planwright_state::SessionState;
use planwright_state::replay::{History, RecordSourceError};
use planwright_store::journal_source::JournalSource;
use planwright_store::{Store, StoreError};
use planwright_text::Redactor;

/// Opens the store for writing, or says why that is not possible.
pub type StoreOpener = Arc<dyn Fn() -> Result<Store, String> + Send + Sync>;

type OpeningEvents = Arc<dyn Fn(&Store) -> Vec<Event> + Send + Sync>;
type TicketNotifier = Arc<dyn Fn(&SessionId, &str) + Send + Sync>;

/// Why the desk could not do what an agent asked for.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    #[error("there is no ticket {0}")]
    NoTicket(String),
    #[error(transparent)]
    Submission(#[from] SubmissionError),
    #[error("{message}")]
    Refused { message: String },
    #[error("the workspace {0} is not a directory on this machine")]
    BadWorkspace(String),
    #[error("Planwright can't keep this: {0}")]
    Unwritable(String),
    #[error("the process that shows the ticket does not react; try again")]
    NoReaction,
    #[error("{0}")]
    BadArgument(String),
}

impl DeskError {
    /// What the agent can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoTicket(_) => "list_plans names the tickets you opened".to_owned(),
            Self::Submission(error) => error.hint().to_owned(),
            Self::Refused { .. } => "get_plan shows where the ticket stands".to_owned(),
            Self::BadWorkspace(_) => "name an existing directory by its full path".to_owned(),
            Self::Unwritable(_) => {
                "tell the person; nothing is approved, so do not carry out the plan".to_owned()
            }
            Self::NoReaction | Self::BadArgument(_) => String::new(),
        }
    }

    /// What was found in a plan that can't be read.
    pub fn findings(&self) -> &[Violation] {
        match self {
            Self::Submission(SubmissionError::Invalid { findings }) => findings,
            _ => &[],
        }
    }

    pub(crate) fn refused(why: &CommandRefusal) -> Self {
        let message = match why {
            CommandRefusal::NotApproved => {
                "the plan is not approved as it is now; wait for the decision".to_owned()
            }
            other => other.to_string(),
        };
        Self::Refused { message }
    }
}

impl From<StoreError> for DeskError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSession { session } => Self::NoTicket(session.to_string()),
            other => Self::Unwritable(format!("{other}; {}", other.hint())),
        }
    }
}

impl From<EngineError> for DeskError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            other => Self::Unwritable(other.to_string()),
        }
    }
}

impl From<RecordSourceError> for DeskError {
    fn from(error: RecordSourceError) -> Self {
        Self::Unwritable(error.to_string())
    }
}

impl From<serde_json::Error> for DeskError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unwritable(error.to_string())
    }
}

/// The desk. Clones share the store.
#[derive(Clone)]
pub struct TicketDesk {
    opener: StoreOpener,
    store: Arc<Mutex<Option<Store>>>,
    pub(crate) redactor: Redactor,
    pub(crate) clock: Clock,
    /// The program and its version, as sessions name who wrote them.
    pub(crate) program: String,
    /// What every new ticket begins with besides the plan: the person's policy and limits.
    pub(crate) opening_events: OpeningEvents,
    /// Told about everything new that waits for the person: the ticket and one line.
    pub(crate) notify: TicketNotifier,
}

impl std::fmt::Debug for TicketDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TicketDesk").field("program", &self.program).finish_non_exhaustive()
    }
}

impl TicketDesk {
    pub fn new(opener: StoreOpener, redactor: Redactor, program: &str) -> Self {
        Self {
            opener,
            store: Arc::default(),
            redactor,
            clock: planwright_engine::wall_clock(),
            program: program.to_owned(),
            opening_events: Arc::new(|_| Vec::new()),
            notify: Arc::new(|_, _| {}),
        }
    }

    /// Adds what every new ticket begins with.
    #[must_use]
    pub fn with_opening_events(
        mut self,
        events: impl Fn(&Store) -> Vec<Event> + Send + Sync + 'static,
    ) -> Self {
        self.opening_events = Arc::new(events);
        self
    }

    /// Adds who is told about what waits for the person.
    #[must_use]
    pub fn with_notices(
        mut self,
        notify: impl Fn(&SessionId, &str) + Send + Sync + 'static,
    ) -> Self {
        self.notify = Arc::new(notify);
        self
    }

    /// The store. One that can't be opened is tried again at the next call, when the person may have fixed it.
    pub(crate) fn store(&self) -> Result<Store, DeskError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*slot {
            return Ok(store.clone());
        }
        let store = (self.opener)().map_err(DeskError::Unwritable)?;
        *slot = Some(store.clone());
        Ok(store)
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    pub(crate) fn history(store: &Store, id: &SessionId) -> Result<History, DeskError> {
        Ok(History::new(JournalSource::new(store.reader()?, id.clone())))
    }

    /// The ticket as it is now. A session that no agent opened is none: agents see nothing of it.
    pub(crate) fn ticket_state(
        store: &Store,
        id: &SessionId,
    ) -> Result<Arc<SessionState>, DeskError> {
        let mut history = Self::history(store, id)?;
        let head = store.session_info(id)?.head;
        let state = history.state_at(head)?;
        if state.desk.is_ticket() { Ok(state) } else { Err(DeskError::NoTicket(id.to_string())) }
    }

    /// The ticket that an agent names: its whole id, nothing shorter.
    pub(crate) fn parse_ticket(store: &Store, name: &str) -> Result<SessionId, DeskError> {
        let missing = || DeskError::NoTicket(planwright_text::clean_line(name).into_owned());
        let id = store.find_session(name.trim()).map_err(|_| missing())?;
        if id.as_str() != name.trim() {
            return Err(missing());
        }
        Ok(id)
    }

    /// Writes what is queued and closes the store, if it was opened.
    pub fn close(&self) {
        let slot = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(store) = slot {
            store.close();
        }
    }
}
