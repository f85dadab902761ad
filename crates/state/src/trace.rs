//! The trace: what a person reads of a record, one entry each.
//!
//! An entry is a projection of a single record, so that a window of the trace costs what it shows, however long the
//! session is. Text is passed on as it was journaled; whoever draws or prints it cleans it.

mod planning;
mod why;

pub use why::{prdv, why};

use jiff::Timestamp;

use planwright_model::event::{
    ApprovalEvent, CallEvent, CallOutcome, CloseReason, Event, PauseCause, PlanEvent, Record,
    RunEvent, SessionEvent, Stream, TaskEvent,
};
use planwright_model::{Actor, ApprovalTarget, Cap, ChoiceAction, RequestKind, Seq, TaskId};

/// What an entry is, for its glyph, its colour and the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    Thought,
    Action,
    Observed,
    Started,
    Done,
    Failed,
    Skipped,
    Yours,
    Asked,
    Answered,
    Refused,
    Plan,
    Run,
    Session,
    Unknown,
}

/// Whether the name of an event is enough to know what kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is: the kind, or none for what only keeps books.
    By(Option<EntryKind>),
    /// The event itself has to be looked at.
    Not,
}

impl EntryKind {
    const ALL: [Self; 15] = [
        Self::Thought,
        Self::Action,
        Self::Observed,
        Self::Started,
        Self::Done,
        Self::Failed,
        Self::Skipped,
        Self::Yours,
        Self::Asked,
        Self::Answered,
        Self::Refused,
        Self::Plan,
        Self::Run,
        Self::Session,
        Self::Unknown,
    ];

    /// Reads what stored indexes hold; new kinds are added at the end.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Reads what [`EntryKind::word`] wrote.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The words for all kinds.
    pub fn words() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::word)
    }

    /// What the wire name alone says about the kind of step an event is.
    pub fn of_wire(kind: &str) -> Told {
        Told::By(match kind {
            "session.opened" | "task.started" | "call.spawned" => None,
            "plan.proposed" | "plan.approved" | "plan.abandoned" => Some(Self::Plan),
            "approval.refused" => Some(Self::Refused),
            "approval.answered" | "approval.withdrawn" => Some(Self::Answered),
            "task.handed_over" | "task.occurrence_settled" => Some(Self::Yours),
            "task.completed" => Some(Self::Done),
            "task.skipped" => Some(Self::Skipped),
            "task.reset" => Some(Self::Started),
            "call.intended" => Some(Self::Action),
            "call.output" | "call.concluded" => Some(Self::Observed),
            other if other.starts_with("planning.") || other.starts_with("agent.") => {
                planning::of_wire(other)
            }
            _ => return Told::Not,
        })
    }

    /// The word in the step column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thought => "thought",
            Self::Action => "action",
            Self::Observed => "observed",
            Self::Started => "started",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Yours => "yours",
            Self::Asked => "asks",
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Plan => "plan",
            Self::Run => "run",
            Self::Session => "session",
            Self::Unknown => "unknown",
        }
    }
}

/// One readable step.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEntry {
    pub seq: Seq,
    pub at: Timestamp,
    pub task: Option<TaskId>,
    pub kind: EntryKind,
    /// One line that says it.
    pub text: String,
    /// What can be unfolded under it.
    pub body: Option<String>,
}

impl TraceEntry {
    /// Projects a record. `None` for records that only keep books.
    pub fn of(record: &Record) -> Option<Self> {
        let (kind, text, body) = match &record.event {
            Event::Session(event) => session(event)?,
            Event::Plan(event) => plan(event),
            Event::Approval(event) => approval(event),
            Event::Run(event) => run(event),
            Event::Task(event) => task(event)?,
            Event::Call(event) => call(event)?,
            Event::Planning(event) => planning::planning(event)?,
            Event::Agent(event) => planning::agent(event)?,
            Event::Unknown(unknown) => (
                EntryKind::Unknown,
                format!("an event of a kind this version does not know: {}", record.event.kind()),
                Some(unknown.json().to_owned()),
            ),
        };
        Some(Self {
            seq: record.seq,
            at: record.at,
            task: subject(&record.event).cloned(),
            kind,
            text,
            body,
        })
    }

    /// The kind of entry a record gives, without building its text.
    pub fn kind_of(event: &Event) -> Option<EntryKind> {
        Some(match event {
            Event::Session(SessionEvent::Opened { .. })
            | Event::Task(TaskEvent::Started { .. })
            | Event::Call(CallEvent::Spawned { .. }) => return None,
            Event::Session(_) => EntryKind::Session,
            Event::Plan(_) => EntryKind::Plan,
            Event::Approval(ApprovalEvent::Asked { .. }) => EntryKind::Asked,
            Event::Approval(ApprovalEvent::Refused { .. }) => EntryKind::Refused,
            Event::Approval(_) => EntryKind::Answered,
            Event::Run(_) => EntryKind::Run,
            Event::Task(TaskEvent::HandedOver { .. } | TaskEvent::OccurrenceSettled { .. }) => {
                EntryKind::Yours
            }
            Event::Task(TaskEvent::Completed { .. }) => EntryKind::Done,
            Event::Task(TaskEvent::Failed { .. }) => EntryKind::Failed,
            Event::Task(TaskEvent::Skipped { .. }) => EntryKind::Skipped,
            Event::Task(TaskEvent::Reset { .. }) => EntryKind::Started,
            Event::Call(CallEvent::Intended { .. }) => EntryKind::Action,
            Event::Call(_) => EntryKind::Observed,
            Event::Planning(event) => return planning::of_wire(event.kind()),
            Event::Agent(event) => return planning::of_wire(event.kind()),
            Event::Unknown(_) => EntryKind::Unknown,
        })
    }
}

/// What of a record can be searched for: its line and what unfolds under it, and all descriptions of a plan. `None` for
/// records that only keep books.
pub fn searchable(record: &Record) -> Option<String> {
    let entry = TraceEntry::of(record)?;
    let mut text = entry.text;
    if let Some(body) = entry.body {
        text.push('\n');
        text.push_str(&body);
    }
    if let Event::Plan(PlanEvent::Proposed { plan, .. }) = &record.event {
        let words = plan.goal.iter().chain(plan.tasks.iter().map(|task| &task.description));
        for words in std::iter::once(&plan.title).chain(words) {
            text.push('\n');
            text.push_str(words);
        }
    }
    if let Some(task) = entry.task {
        text.push('\n');
        text.push_str(task.as_str());
    }
    Some(text)
}

/// The task an entry belongs to, requests about a task included.
pub fn subject(event: &Event) -> Option<&TaskId> {
    match event {
        Event::Approval(ApprovalEvent::Asked { request }) => request.task.as_ref(),
        other => other.task(),
    }
}

type Projection = (EntryKind, String, Option<String>);

fn session(event: &SessionEvent) -> Option<Projection> {
    let text = match event {
        SessionEvent::Created { title, .. } => format!("session created: {title}"),
        SessionEvent::Forked { parent, at, reuses, reruns, .. } => {
            format!("forked from {parent} at event {at}: re-runs {reruns}, reuses {reuses}")
        }
        SessionEvent::Opened { .. } => return None,
        SessionEvent::Closed(reason) => match reason {
            CloseReason::Quit => "closed by you".to_owned(),
            CloseReason::Finished => "closed, nothing left to do".to_owned(),
            CloseReason::NeedsPerson => "closed, waits for you".to_owned(),
            CloseReason::Signal { signal } => format!("closed by {signal}"),
        },
        SessionEvent::WorkspaceMoved { workspace } => format!("workspace is now {workspace}"),
        SessionEvent::AnomalyNoted { what } => format!("anomaly: {what}"),
    };
    Some((EntryKind::Session, text, None))
}

fn plan(event: &PlanEvent) -> Projection {
    let text = match event {
        PlanEvent::Proposed { revision, hash, plan, normalization, .. } => {
            let notes = match normalization.len() {
                0 => String::new(),
                1 => ", 1 correction".to_owned(),
                count => format!(", {count} corrections"),
            };
            let tasks = match plan.tasks.len() {
                1 => "1 task".to_owned(),
                count => format!("{count} tasks"),
            };
            format!("plan r{revision} {} with {tasks}{notes}", hash.short())
        }
        PlanEvent::Approved { hash, by } => {
            format!("plan {} approved {}", hash.short(), by_whom(*by))
        }
        PlanEvent::ApprovalCarried { to_hash, why, .. } => {
            format!("plan {} {why}, approval carried over", to_hash.short())
        }
        PlanEvent::Abandoned { by } => format!("plan abandoned {}", by_whom(*by)),
    };
    (EntryKind::Plan, text, None)
}

fn approval(event: &ApprovalEvent) -> Projection {
    match event {
        ApprovalEvent::Asked { request } => {
            (EntryKind::Asked, format!("{}  {}", request.question, request.why), None)
        }
        ApprovalEvent::Answered { id, answer, by } => {
            // What was asked for stands in the event that takes it up.
            let typed =
                answer.text.as_ref().filter(|_| answer.action != ChoiceAction::RequestChanges);
            let typed = typed.map(|text| format!(": {text}")).unwrap_or_default();
            let text = format!("{id} {} {}{typed}", action_word(answer.action), by_whom(*by));
            (EntryKind::Answered, text, None)
        }
        ApprovalEvent::Withdrawn { id, why } => {
            (EntryKind::Answered, format!("{id} withdrawn: {why}"), None)
        }
        ApprovalEvent::Refused { command, why } => {
            (EntryKind::Refused, format!("{} refused: {why}", command.replace('_', " ")), None)
        }
    }
}

fn run(event: &RunEvent) -> Projection {
    let text = match event {
        RunEvent::Started { hash, jobs } => {
            format!("run of plan {} with up to {jobs} at once", hash.short())
        }
        RunEvent::Paused(PauseCause::Person) => "paused by you".to_owned(),
        RunEvent::Paused(PauseCause::Cap { cap }) => format!("held: {} is reached", cap.name()),
        RunEvent::Continued => "goes on".to_owned(),
        RunEvent::CapRaised { cap: cap @ Cap::DailyBudgetUsd, to: Some(to) } => {
            format!("{} set aside until this session has spent {}", cap.name(), cap.amount(*to))
        }
        RunEvent::CapRaised { cap, to: Some(to) } => {
            format!("{} raised to {}", cap.name(), cap.amount(*to))
        }
        RunEvent::CapRaised { cap, to: None } => format!("{} lifted for this session", cap.name()),
        RunEvent::OfflineSet { on: true } => {
            "goes on offline: nothing is paid for, tasks of agents wait".to_owned()
        }
        RunEvent::OfflineSet { on: false } => {
            "only tasks of agents are left, which need a model".to_owned()
        }
        RunEvent::LimitsSet { limits } => format!(
            "works by breaker_threshold {}, breaker_cooldown_sec {}, react_max_iterations {}",
            limits.breaker_threshold, limits.breaker_cooldown_sec, limits.react_max_iterations
        ),
        RunEvent::JobsChanged { from, to, why } => {
            format!("up to {to} at once instead of {from}: {why}")
        }
        RunEvent::Interrupted { why } => format!("interrupted: {why}"),
        RunEvent::Finished { success, counts, elapsed_ms } => format!(
            "{}: {} done, {} failed, {} skipped in {}",
            if *success { "finished" } else { "ended" },
            counts.completed,
            counts.failed,
            counts.skipped,
            elapsed(*elapsed_ms),
        ),
    };
    (EntryKind::Run, text, None)
}

fn task(event: &TaskEvent) -> Option<Projection> {
    Some(match event {
        TaskEvent::Started { .. } => return None,
        TaskEvent::HandedOver { .. } => (EntryKind::Yours, "yours to do now".to_owned(), None),
        TaskEvent::OccurrenceSettled { occurrence, done, by, note, .. } => {
            let what = if *done { "done" } else { "left out" };
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            let text = format!("time {occurrence} {what} {}{note}", by_whom(*by));
            (EntryKind::Yours, text, None)
        }
        TaskEvent::Completed { elapsed_ms, by, note, .. } => {
            let who = by.map(|by| format!(" {}", by_whom(by))).unwrap_or_default();
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            (EntryKind::Done, format!("{}{who}{note}", elapsed(*elapsed_ms)), None)
        }
        TaskEvent::Failed { failure, retry_in_ms, attempt, .. } => {
            let next = match retry_in_ms {
                Some(wait) => format!("attempt {attempt}, tried again in {}", elapsed(*wait)),
                None => "not retried".to_owned(),
            };
            let text = format!("{}, {}, {next}", failure.message, failure.category);
            (EntryKind::Failed, text, None)
        }
        TaskEvent::Skipped { reason, .. } => (EntryKind::Skipped, reason.as_str().to_owned(), None),
        TaskEvent::Reset { why, .. } => {
            (EntryKind::Started, format!("back to waiting: {why}"), None)
        }
    })
}

fn call(event: &CallEvent) -> Option<Projection> {
    Some(match event {
        CallEvent::Intended { tool, input, .. } => {
            let what = input
                .get("command")
                .and_then(serde_json::Value::as_str)
                .map_or_else(|| input.to_string(), str::to_owned);
            let mut lines = what.lines();
            let first = lines.next().unwrap_or_default().to_owned();
            let body = lines.next().is_some().then(|| what.clone());
            (EntryKind::Action, format!("{tool}  {first}"), body)
        }
        CallEvent::Spawned { .. } => return None,
        CallEvent::Output { stream, text, .. } => {
            let mark = if *stream == Stream::Stderr { "stderr  " } else { "" };
            let mut lines = text.trim_end_matches('\n').lines();
            let first = lines.next().unwrap_or_default();
            let more = lines.clone().count();
            let body = (more > 0).then(|| text.trim_end_matches('\n').to_owned());
            let tail = match more {
                0 => String::new(),
                1 => "  · 1 more line".to_owned(),
                more => format!("  · {more} more lines"),
            };
            (EntryKind::Observed, format!("{mark}{first}{tail}"), body)
        }
        CallEvent::Concluded { outcome, elapsed_ms, dropped_bytes, .. } => {
            let cut = match dropped_bytes {
                0 => String::new(),
                bytes => format!(", {bytes} bytes of output not kept"),
            };
            (
                EntryKind::Observed,
                format!("{} after {}{cut}", outcome_words(outcome), elapsed(*elapsed_ms)),
                None,
            )
        }
    })
}

/// How a call ended, in words.
pub fn outcome_words(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Exited { code } => format!("exit {code}"),
        CallOutcome::Signalled { signal } => format!("ended by signal {signal}"),
        CallOutcome::TimedOut { limit_seconds } => {
            format!("stopped at its limit of {limit_seconds} s")
        }
        CallOutcome::Cancelled => "cancelled".to_owned(),
        CallOutcome::CouldNotStart { message } => format!("could not start: {message}"),
        CallOutcome::Errored { failure } => format!("error {}: {}", failure.code, failure.message),
        CallOutcome::SaidToHaveHappened => "said to have happened".to_owned(),
        CallOutcome::Verified => "verified by what is on disk".to_owned(),
        CallOutcome::GivenUp => "outcome unknown, not counted".to_owned(),
    }
}

fn by_whom(by: Actor) -> &'static str {
    match by {
        Actor::Person => "by you",
        Actor::Flag => "by a flag on the command line",
    }
}

/// An answer in words.
pub fn action_word(action: ChoiceAction) -> &'static str {
    match action {
        ChoiceAction::ApproveAndRun => "approved and run",
        ChoiceAction::ApproveAndStop => "approved and stopped",
        ChoiceAction::Abandon => "abandoned",
        ChoiceAction::Happened => "said to have happened",
        ChoiceAction::RunAgain => "run again",
        ChoiceAction::SkipAlone => "skipped, the rest goes on",
        ChoiceAction::SkipWithDependents => "skipped with dependents",
        ChoiceAction::RaiseOnce => "raised once",
        ChoiceAction::RaiseForSession => "raised for the session",
        ChoiceAction::Stop => "stopped",
        ChoiceAction::Approve => "approved",
        ChoiceAction::RequestChanges => "changes requested",
        ChoiceAction::Reject => "rejected",
        ChoiceAction::PickOption(_) => "another option picked",
        ChoiceAction::Reply => "answered",
        ChoiceAction::SkipQuestions => "left to the planner",
        ChoiceAction::Ideas => "asked for ideas",
        ChoiceAction::Decline => "declined",
        ChoiceAction::GoOn => "told to go on",
        ChoiceAction::UseRelaxation(_) => "relaxed",
        ChoiceAction::AcceptLate => "accepted late",
        ChoiceAction::GoOffline => "told to go on offline",
        ChoiceAction::TryAgain => "told to try again",
        ChoiceAction::Edit => "edited by hand",
        ChoiceAction::KeepAndStop => "kept and stopped",
        ChoiceAction::AllowOnce => "allowed once",
        ChoiceAction::AllowForSession => "allowed for the session",
        ChoiceAction::AllowAlways => "always allowed",
        ChoiceAction::Deny => "denied",
        ChoiceAction::StopTask => "task stopped",
        ChoiceAction::HandToMe => "taken over",
        ChoiceAction::UseProvider => "provider allowed",
        ChoiceAction::OfflineThisTime => "offline this time",
        ChoiceAction::NeverUse => "provider refused",
    }
}

/// What kind of question a request is, in words.
pub fn request_word(kind: &RequestKind) -> &'static str {
    match kind {
        RequestKind::FinalPlan { .. }
        | RequestKind::Draft { target: ApprovalTarget::Final, .. } => "final plan",
        RequestKind::InDoubt { .. } => "call in doubt",
        RequestKind::Cap { .. } | RequestKind::PlanningCap { .. } => "cap reached",
        RequestKind::Questions { .. } => "questions",
        RequestKind::Goal => "goal",
        RequestKind::Draft { target: ApprovalTarget::Pattern, .. } => "pattern",
        RequestKind::Draft { target: ApprovalTarget::Outline, .. } => "outline",
        RequestKind::Draft { target: ApprovalTarget::Roadmap, .. } => "roadmap",
        RequestKind::Rfc { pattern: true, .. } => "new pattern",
        RequestKind::Rfc { .. } => "new subtype",
        RequestKind::LowConfidence { .. } => "low confidence",
        RequestKind::Validation { .. } => "broken rules",
        RequestKind::Escalation => "does not fit",
        RequestKind::Permission { .. } => "permission",
        RequestKind::TaskCap { .. } => "task at its limit",
        RequestKind::Consent { .. } => "provider",
        RequestKind::ModelTrouble { .. } => "model trouble",
    }
}

fn elapsed(ms: u64) -> String {
    planwright_text::units::elapsed(std::time::Duration::from_millis(ms))
}
