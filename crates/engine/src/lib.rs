//! The engine: one driver per session owns the order of its events.
//!
//! It decides, folds what it decided into its own state, and appends it to the journal. Publishing and effects wait for
//! the commit, so that nobody sees or acts on what is not durable; only calls that are safe to repeat may start while
//! their intent is being written. A failed commit ends the session and never un-says an event. Screens, the headless runner and tests are all clients of the same [`SessionHandle`].

mod agent_executor;
mod agent_port;
pub mod caps;
pub mod controller;
pub mod coordinator;
mod decision_writer;
mod driver;
mod other_plans;
mod person_waits;
pub mod plan_rows;
pub mod planner;
pub mod resume;
mod said;
mod summary;
pub mod tool_services;
mod worktree_runner;

use std::path::PathBuf;
use std::sync::Arc;

pub use planwright_agents::clock::{Clock, wall_clock};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub use agent_executor::{AgentBrief, BuiltInAgentExecutor, ToolProfileLookup};
pub use agent_port::{AgentPort, AgentPortReceiver, listed_classes, open_agent_port};
pub use decision_writer::{WrittenDecision, command_in_letter, write_decision};
pub use driver::EngineError;
pub use driver::default_agent::CODING_TYPES;
pub use other_plans::OtherPlans;
pub use summary::summarize_session;
pub use worktree_runner::{WorktreeAction, WorktreeRunner};

use planwright_llm::cost::Ledger;
use planwright_model::event::{Command, Event, Record};
use planwright_model::{
    ChoiceAction, NotifyCause, PolicyOverride, RequestId, RunCapSettings, Seq, SessionId,
};
use planwright_state::SessionState;
use planwright_store::{InboxKey, Journal, JournalBatch, SideWrite};
use planwright_text::Redactor;
use planwright_tools::TaskExecutor;
use planwright_tools::machine_pools::MachinePools;

/// How many commands may wait; a person never types faster, a script waits.
const COMMANDS: usize = 64;

/// What can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineFeatures {
    /// Off runs the tasks one after another in the planner's order.
    pub task_graphs: bool,
    /// Off journals no output of calls, only that they took place and how they ended.
    pub react_tracing: bool,
    /// Off leaves affinity out of the order in which ready tasks start.
    pub tool_affinity: bool,
}

impl Default for EngineFeatures {
    fn default() -> Self {
        Self { task_graphs: true, react_tracing: true, tool_affinity: true }
    }
}

/// What a call waits for before it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallDurability {
    /// Its intent is durable, unless repeating it is safe: then many steps share one write to the disk.
    #[default]
    Grouped,
    /// Its intent is durable, always.
    Strict,
}

/// A decision of the person's that outlives the session.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedDecision {
    /// How they want to be talked to and asked.
    Policy(PolicyOverride),
    /// Whether a provider's key may be used.
    Consent { provider: String, yes: bool },
    /// A call that is always allowed.
    Rule(planwright_model::permission::PermissionRule),
    /// A subtype of a pattern that the person approved.
    Subtype { name: String },
    /// A whole new pattern that somebody should write a template for.
    PatternProposal { name: String, rfc: String, nearest: String },
    /// The person was asked how much they like to read.
    StyleAsked,
    /// A limit that holds for later plans as well, in its own unit.
    Limit { cap: planwright_model::RunCap, to: u64 },
}

/// How a session is run in this process.
#[derive(Clone)]
pub struct EngineOptions {
    /// How many tasks may run at once.
    pub jobs: u32,
    pub clock: Clock,
    pub executor: Arc<dyn TaskExecutor>,
    pub features: EngineFeatures,
    pub durability: CallDurability,
    pub caps: RunCapSettings,
    /// Covers what the person types; executors have their own for what commands say.
    pub redactor: Redactor,
    /// Lets the number of tasks at once follow load, breakers and rate limits.
    pub adapt_jobs: bool,
    /// Works in the stages of planning; without one a goal cannot be planned here.
    pub planner: Option<Arc<planner::Planner>>,
    /// The person's own agent that gets drafted tasks which change code; without one the built-in agent has them.
    pub default_agent: Option<String>,
    /// Where agents hand in what they do; without it no agent works here.
    pub agent_receiver: Option<AgentPortReceiver>,
    /// The person's other plans; without them a plan is compared with none.
    pub other_plans: Option<Arc<dyn OtherPlans>>,
    /// The copies of the workspace that tasks have; without it agents write to the workspace itself.
    pub worktrees: Option<WorktreeRunner>,
    /// The ledger of what models cost; caps that are raised are raised there too.
    pub ledger: Option<Arc<Ledger>>,
    /// Keeps what the person decided for later sessions too.
    pub save_decision: Arc<dyn Fn(&SavedDecision) + Send + Sync>,
    /// Pools that all runs of this machine share; without them each run has its own.
    pub machine_pools: Option<MachinePools>,
    /// Starts a command that tells somebody what happened to the run.
    pub notify: Arc<dyn Fn(&RunNotice) + Send + Sync>,
}

/// What a plan wants somebody to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunNotice {
    pub session: SessionId,
    pub cause: NotifyCause,
    /// What happened, in one line.
    pub text: String,
    /// A program and its arguments.
    pub command: Vec<String>,
    pub workspace: PathBuf,
}

impl EngineOptions {
    /// Three tasks at once by the wall clock, carried out by `executor`, and nothing else.
    pub fn with_executor(executor: Arc<dyn TaskExecutor>) -> Self {
        Self {
            jobs: 3,
            clock: wall_clock(),
            executor,
            features: EngineFeatures::default(),
            durability: CallDurability::default(),
            caps: RunCapSettings::default(),
            redactor: Redactor::default(),
            adapt_jobs: false,
            planner: None,
            default_agent: None,
            agent_receiver: None,
            other_plans: None,
            worktrees: None,
            ledger: None,
            save_decision: Arc::new(|_| {}),
            machine_pools: None,
            notify: Arc::new(|_| {}),
        }
    }
}

impl std::fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineOptions").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

/// A command that somebody left in the inbox of the session. It is removed there in the commit that journals what became of
/// it.
#[derive(Clone, Debug)]
pub struct LeftCommand {
    pub key: InboxKey,
    pub command: Command,
}

/// A session that is being worked on.
#[derive(Debug)]
pub struct SessionHandle {
    pub id: SessionId,
    /// Wishes go in here; dropping all senders closes the session.
    pub commands: mpsc::Sender<Command>,
    /// Commands that others left for the session go in here.
    pub letters: mpsc::Sender<LeftCommand>,
    /// The last event from before this process took the session up.
    pub begun: Seq,
    /// The number of the last durable event.
    pub head: watch::Receiver<Seq>,
    /// Answers that were left for the session while nobody worked on it; they are on their way.
    pub left_answers: Vec<(RequestId, ChoiceAction)>,
    driver: JoinHandle<Result<(), EngineError>>,
}

impl SessionHandle {
    /// Waits until the driver has let go of the session.
    pub async fn wait_until_closed(self) -> Result<(), EngineError> {
        drop(self.commands);
        drop(self.letters);
        match self.driver.await {
            Ok(result) => result,
            Err(error) => Err(EngineError::Crashed { message: error.to_string() }),
        }
    }
}

/// The way to a session, which may be there before its driver is: change requests wait until somebody decides on them, and are
/// gone if nobody ever does.
#[derive(Debug)]
pub struct SessionChannel {
    commands: mpsc::Sender<Command>,
    inbox: mpsc::Receiver<Command>,
    published: watch::Sender<Seq>,
    head: watch::Receiver<Seq>,
}

impl SessionChannel {
    /// A way to a session whose last durable event is `head` as far as is known.
    pub fn new(head: Seq) -> Self {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (published, head) = watch::channel(head);
        Self { commands, inbox, published, head }
    }

    /// Where change requests go.
    pub fn commands(&self) -> mpsc::Sender<Command> {
        self.commands.clone()
    }

    /// The number of the last durable event.
    pub fn head(&self) -> watch::Receiver<Seq> {
        self.head.clone()
    }
}

/// Starts working on a session: `state` is the fold of what its journal holds, `first` what is to be said first.
pub fn start_session(
    journal: Journal,
    state: SessionState,
    first: Vec<Event>,
    options: EngineOptions,
) -> SessionHandle {
    start_on_channel(SessionChannel::new(state.seq), journal, state, first, options)
}

/// The first batch of a session that is being made, and the fold of it.
pub fn first_batch(
    session: &SessionId,
    before: SessionState,
    events: impl IntoIterator<Item = Event>,
    at: jiff::Timestamp,
) -> Result<(SessionState, JournalBatch), serde_json::Error> {
    let (mut state, mut batch) = (before, JournalBatch::default());
    for event in events {
        let record = Record::new(state.seq.next(), at, event);
        state.apply(&record);
        if let Some(plan) = plan_rows::changed_plan_row(&record.event, &state.planning) {
            let (session, plan) = (session.clone(), Box::new(plan));
            batch.side.push(SideWrite::Plan { session, plan });
        }
        batch.rows.push(driver::journal_row(&record)?);
    }
    batch.summary = Some(summarize_session(&state));
    Ok((state, batch))
}

/// Starts working on a session that was just made: `state` is the fold of its first batch, which counts as work of this
/// process.
pub fn start_new_session(
    journal: Journal,
    state: SessionState,
    options: EngineOptions,
) -> SessionHandle {
    SessionHandle { begun: Seq::START, ..start_session(journal, state, Vec::new(), options) }
}

/// Starts working on a session that somebody looks at already.
pub fn start_on_channel(
    line: SessionChannel,
    journal: Journal,
    state: SessionState,
    first: Vec<Event>,
    options: EngineOptions,
) -> SessionHandle {
    let SessionChannel { commands, inbox, published, head } = line;
    // Another process may have written since somebody looked.
    published.send_if_modified(|seen| std::mem::replace(seen, state.seq) != state.seq);
    let id = journal.session().clone();
    let begun = state.seq;
    tracing::info!(session = %id, seq = begun.0, "session started");
    let (letters, left) = mpsc::channel(COMMANDS);
    let driver = driver::Driver::new(journal, state, options, (inbox, left), published);
    let driver = tokio::spawn(driver.run(first));
    SessionHandle { id, commands, letters, begun, head, left_answers: Vec::new(), driver }
}
