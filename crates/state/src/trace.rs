//! The trace: what a person reads of a record, one entry each.
//!
//! An entry is a projection of a single record, so that a window of the trace costs what it shows, however long the
//! session is. Text is passed on as it was journaled; whoever draws or prints it cleans it.

mod desk_projection;
mod planning_projection;
mod planning_steps;
mod tool_choice;
mod worktree_projection;

pub use tool_choice::{explain_tool_choice, prdv_phase};

use std::borrow::Cow;

use jiff::Timestamp;

use crate::task_words::describe_tool_call;
use crate::{SessionState, SkipRoots};
use planwright_model::breaker::BreakerState;
use planwright_model::event::{
    ApprovalEvent, CallEvent, CallOutcome, CloseReason, Event, FactEvent, OutputStream, PauseCause,
    PlanEvent, Record, RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::{
    Actor, ApprovalTarget, ChoiceAction, RequestKind, RunCap, Seq, TaskHold, TaskId, TaskResults,
};
use planwright_text::units::{format_bytes, format_counted};

/// What an entry is, for its glyph, its colour and the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceEntryKind {
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
    /// It could start or end, and something keeps it from doing so yet.
    Waiting,
}

/// Whether the name of an event is enough to know what kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireNameKind {
    /// It is: the kind, or none for what only keeps ledger.
    Known(Option<TraceEntryKind>),
    /// The event itself has to be looked at.
    NeedsEvent,
}

impl TraceEntryKind {
    const ALL: [Self; 16] = [
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
        Self::Waiting,
    ];

    /// Reads what stored indexes hold; new kinds are added at the end.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Reads what [`TraceEntryKind::label`] wrote.
    pub fn from_label(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.label() == word)
    }

    /// The words for all kinds.
    pub fn labels() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::label)
    }

    /// What the wire name alone says about the kind of step an event is.
    pub fn from_wire_name(kind: &str) -> WireNameKind {
        WireNameKind::Known(match kind {
            "session.opened" | "session.agents_described" | "task.started" | "call.spawned" => None,
            "plan.proposed" | "plan.approved" | "plan.abandoned" | "plan.restored" => {
                Some(Self::Plan)
            }
            "approval.refused" => Some(Self::Refused),
            "approval.answered" | "approval.withdrawn" => Some(Self::Answered),
            "task.handed_over" | "task.occurrence_settled" | "task.reopened" | "task.noted" => {
                Some(Self::Yours)
            }
            "task.held" | "task.awaiting_close" => Some(Self::Waiting),
            "task.completed" => Some(Self::Done),
            "task.skipped" => Some(Self::Skipped),
            "task.reset" => Some(Self::Started),
            "call.intended" => Some(Self::Action),
            "call.output" | "call.spooled" | "call.concluded" => Some(Self::Observed),
            // It may be that the agent starts.
            "agent.decided" => return WireNameKind::NeedsEvent,
            other if other.starts_with("planning.") || other.starts_with("agent.") => {
                planning_projection::kind_from_wire_name(other)
            }
            _ => return WireNameKind::NeedsEvent,
        })
    }

    /// The word in the step column.
    pub fn label(self) -> &'static str {
        match self {
            Self::Thought => "thought",
            Self::Action => "action",
            Self::Observed => "observation",
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
            Self::Waiting => "waits",
        }
    }
}

/// One readable step.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEntry {
    pub seq: Seq,
    pub at: Timestamp,
    pub task: Option<TaskId>,
    pub kind: TraceEntryKind,
    /// One line that says it. It names rows of the plan by their ids; [`TraceEntry::text_with_titles`] has their titles.
    pub text: String,
    /// The rows that the line names.
    pub rows: Vec<TaskId>,
    /// What can be unfolded under it.
    pub body: Option<String>,
}

impl TraceEntry {
    /// Projects a record. `None` for records that only keep ledger.
    pub fn from_record(record: &Record) -> Option<Self> {
        let (kind, text, body) = match &record.event {
            Event::Session(event) => project_session(event)?,
            Event::Plan(event) => project_plan(event),
            Event::Approval(event) => project_approval(event),
            Event::Run(event) => project_run(event),
            Event::Task(event) => project_task(event)?,
            Event::Call(event) => project_call(event)?,
            Event::Planning(event) => planning_projection::project_planning(event)?,
            Event::Agent(event) => planning_projection::project_agent(event)?,
            Event::Fact(event) => planning_projection::project_fact(event)?,
            Event::Worktree(event) => worktree_projection::project_worktree(event)?,
            Event::Desk(event) => desk_projection::project_desk(event),
            Event::Unknown(unknown) => (
                TraceEntryKind::Unknown,
                format!("an event of a kind this version does not know: {}", record.event.kind()),
                Some(unknown.raw_json().to_owned()),
            ),
        };
        Some(Self {
            seq: record.seq,
            at: record.at,
            task: subject_task(&record.event).cloned(),
            kind,
            text,
            rows: planning_projection::named_rows(&record.event),
            body,
        })
    }

    /// Projects a record for whoever knows the session at that moment: tasks by their titles, a skip by the failure
    /// behind it, and the end of a run by how it ended.
    pub fn from_record_in(record: &Record, state: &SessionState) -> Option<Self> {
        let mut entry = Self::from_record(record)?;
        match &record.event {
            Event::Task(TaskEvent::Skipped { task, reason }) => {
                if let Some(at) = state.tasks.position(task) {
                    let skips = SkipRoots::from_tasks(&state.tasks);
                    entry.text = state.describe_skip(&skips, at, *reason);
                }
            }
            Event::Task(TaskEvent::Held { task, hold }) => {
                entry.text = state.describe_hold(task, hold, record.at, &state.plan_zone());
            }
            Event::Task(TaskEvent::AwaitingClose { task, .. }) => {
                if let Some(at) = state.tasks.position(task) {
                    entry.text = state.describe_close_hold(at, record.at, &state.plan_zone());
                }
            }
            // Nothing runs by itself where all is the person's to do.
            Event::Run(RunEvent::Started { .. }) if state.tasks.is_persons_plan() => {
                "the plan is active".clone_into(&mut entry.text);
            }
            Event::Session(SessionEvent::Closed(CloseReason::Finished)) => {
                if let Some(ended) = state.describe_failed_run() {
                    entry.text = format!("closed: {ended}");
                }
            }
            _ => entry.text = entry.text_with_titles(state).into_owned(),
        }
        Some(entry)
    }

    /// The line without the word of its kind, for whoever writes that before it: "in 2 s" of "done in 2 s". Lines that
    /// begin with what they are about keep it: "run started".
    pub fn text_after_label(&self) -> &str {
        use TraceEntryKind as K;
        if !matches!(self.kind, K::Done | K::Failed | K::Skipped | K::Answered) {
            return &self.text;
        }
        let rest = self.text.strip_prefix(self.kind.label());
        rest.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' ')))
            .unwrap_or(&self.text)
    }

    /// The line with the titles of the rows it names, as the plan has them.
    pub fn text_with_titles(&self, state: &SessionState) -> Cow<'_, str> {
        let mut text = Cow::Borrowed(self.text.as_str());
        for id in &self.rows {
            if let Some(title) = state.row_title(id) {
                text = Cow::Owned(replace_word(&text, id.as_str(), &format!("\"{title}\"")));
            }
        }
        text
    }

    /// The kind of entry a record gives, without building its text.
    pub fn entry_kind(event: &Event) -> Option<TraceEntryKind> {
        Some(match event {
            Event::Session(SessionEvent::Opened { .. } | SessionEvent::AgentsDescribed { .. })
            | Event::Task(TaskEvent::Started { .. })
            | Event::Call(CallEvent::Spawned { .. })
            // The words that were said are steps of their own.
            | Event::Fact(FactEvent::Recorded { .. }) => return None,
            Event::Session(_) => TraceEntryKind::Session,
            Event::Plan(_) => TraceEntryKind::Plan,
            Event::Approval(ApprovalEvent::Asked { .. } | ApprovalEvent::Amended { .. }) => {
                TraceEntryKind::Asked
            }
            Event::Approval(ApprovalEvent::Refused { .. }) => TraceEntryKind::Refused,
            Event::Approval(_) | Event::Fact(_) => TraceEntryKind::Answered,
            Event::Run(_) => TraceEntryKind::Run,
            Event::Task(
                TaskEvent::HandedOver { .. }
                | TaskEvent::OccurrenceSettled { .. }
                | TaskEvent::Reopened { .. }
                | TaskEvent::Noted { .. },
            ) => TraceEntryKind::Yours,
            Event::Task(TaskEvent::Held { .. } | TaskEvent::AwaitingClose { .. }) => {
                TraceEntryKind::Waiting
            }
            Event::Task(TaskEvent::Completed { .. }) => TraceEntryKind::Done,
            Event::Task(TaskEvent::Failed { .. }) => TraceEntryKind::Failed,
            Event::Task(TaskEvent::Skipped { .. }) => TraceEntryKind::Skipped,
            Event::Task(TaskEvent::Reset { .. }) => TraceEntryKind::Started,
            Event::Call(CallEvent::Intended { .. }) => TraceEntryKind::Action,
            Event::Call(_) | Event::Task(TaskEvent::ResultsKept { .. } | TaskEvent::Ready { .. }) => {
                TraceEntryKind::Observed
            }
            Event::Planning(event) => {
                return planning_projection::kind_from_wire_name(event.kind());
            }
            Event::Agent(event) => return planning_projection::agent_entry_kind(event),
            Event::Worktree(event) => return worktree_projection::entry_kind(event),
            Event::Desk(event) => desk_projection::entry_kind(event),
            Event::Unknown(_) => TraceEntryKind::Unknown,
        })
    }
}

/// What of a record can be searched for: its line and what unfolds under it, and all descriptions of a plan. `None` for
/// records that only keep ledger.
pub fn searchable_text(record: &Record) -> Option<String> {
    let entry = TraceEntry::from_record(record)?;
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
pub fn subject_task(event: &Event) -> Option<&TaskId> {
    match event {
        Event::Approval(ApprovalEvent::Asked { request }) => request.task.as_ref(),
        other => other.task_id(),
    }
}

/// Replaces a word where it stands alone: `p1.t1` is not part of `p1.t12`.
fn replace_word(text: &str, word: &str, with: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let inside = before.ends_with(is_part)
            || after.starts_with(is_part)
            || after.strip_prefix('.').is_some_and(|after| after.starts_with(is_part));
        replaced.push_str(before);
        replaced.push_str(if inside { word } else { with });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

type EntryProjection = (TraceEntryKind, String, Option<String>);

fn project_session(event: &SessionEvent) -> Option<EntryProjection> {
    let text = match event {
        SessionEvent::Created { title, .. } => format!("created: {title}"),
        SessionEvent::Forked { parent, at, reuses, reruns, .. } => {
            format!("forked from {parent} at event {at}: reruns {reruns}, reuses {reuses}")
        }
        SessionEvent::Opened { .. } | SessionEvent::AgentsDescribed { .. } => return None,
        SessionEvent::Closed(reason) => match reason {
            CloseReason::Quit => "closed by you".to_owned(),
            CloseReason::Finished => "closed, nothing left to do".to_owned(),
            CloseReason::NeedsPerson => "closed, waiting for you".to_owned(),
            CloseReason::Signal { signal } => format!("closed by {signal}"),
        },
        SessionEvent::WorkspaceMoved { workspace } => format!("workspace is now {workspace}"),
        SessionEvent::AnomalyNoted { what } => format!("unexpected: {what}"),
    };
    Some((TraceEntryKind::Session, text, None))
}

fn project_plan(event: &PlanEvent) -> EntryProjection {
    let text = match event {
        PlanEvent::Proposed { plan, normalization, .. } => {
            let notes = match normalization.len() {
                0 => String::new(),
                1 => ", 1 correction".to_owned(),
                count => format!(", {count} corrections"),
            };
            // A milestone is no task to whoever counts them.
            let tasks = plan.tasks.iter().filter(|task| !task.marks_point()).count();
            format!("draft ready: {}{notes}", format_counted(tasks, "task"))
        }
        PlanEvent::Approved { by, .. } => format!("plan approved {}", actor_text(*by)),
        PlanEvent::ApprovalCarried { why, .. } => format!("still approved: {why}"),
        PlanEvent::Abandoned { by } => format!("plan discarded {}", actor_text(*by)),
        PlanEvent::Restored { by } => format!("plan restored {}", actor_text(*by)),
    };
    (TraceEntryKind::Plan, text, None)
}

fn project_approval(event: &ApprovalEvent) -> EntryProjection {
    match event {
        ApprovalEvent::Asked { request } => {
            (TraceEntryKind::Asked, format!("{}  {}", request.question, request.why), None)
        }
        ApprovalEvent::Answered { answer, by, .. } => {
            // What was asked for stands in the event that takes it up.
            let typed =
                answer.text.as_ref().filter(|_| answer.action != ChoiceAction::RequestChanges);
            let typed = typed.map(|text| format!(": {text}")).unwrap_or_default();
            let text = format!("{} {}{typed}", action_text(answer.action), actor_text(*by));
            (TraceEntryKind::Answered, text, None)
        }
        ApprovalEvent::Amended { request } => {
            let text = match (&request.unread, request.ideas.len()) {
                (Some(unread), _) => unread.why.clone(),
                (None, 0) => "the question stays open".to_owned(),
                (None, count) => format!("{} offered", format_counted(count, "idea")),
            };
            (TraceEntryKind::Asked, text, None)
        }
        ApprovalEvent::Withdrawn { why, .. } => {
            (TraceEntryKind::Answered, format!("question withdrawn: {why}"), None)
        }
        ApprovalEvent::Refused { command, why } => {
            (TraceEntryKind::Refused, format!("{} refused: {why}", command.replace('_', " ")), None)
        }
    }
}

fn project_run(event: &RunEvent) -> EntryProjection {
    let text = match event {
        RunEvent::Started { jobs: 1, .. } => "run started, one task at a time".to_owned(),
        RunEvent::Started { jobs, .. } => format!("run started, up to {jobs} tasks at once"),
        RunEvent::Paused(PauseCause::Person) => "paused by you".to_owned(),
        RunEvent::Paused(PauseCause::Cap { cap }) => {
            format!("paused: {} is reached", cap.describe())
        }
        RunEvent::Continued => "resumed".to_owned(),
        RunEvent::CapRaised { cap: cap @ RunCap::DailyBudgetUsd, to: Some(to) } => {
            format!(
                "{} set aside until this plan has spent {}",
                cap.describe(),
                cap.format_amount(*to)
            )
        }
        RunEvent::CapRaised { cap, to: Some(to) } => {
            format!("{} raised to {}", cap.describe(), cap.format_amount(*to))
        }
        RunEvent::CapRaised { cap, to: None } => format!("{} lifted for this plan", cap.describe()),
        RunEvent::Dismissed { on: true } => "dismissed by you".to_owned(),
        RunEvent::Dismissed { on: false } => "back among the failed runs".to_owned(),
        RunEvent::OfflineSet { on: true } => {
            "continues without paid calls; tasks for agents wait".to_owned()
        }
        RunEvent::OfflineSet { on: false } => {
            "only tasks for agents are left, which need a model".to_owned()
        }
        RunEvent::LimitsSet { limits } => format!(
            "limits: a tool pauses after {} failures for {}, an agent has {} steps",
            limits.breaker_threshold,
            format_elapsed(limits.breaker_cooldown_sec.saturating_mul(1000)),
            limits.react_max_iterations
        ),
        RunEvent::JobsChanged { from, to, why } => {
            format!("up to {to} at once instead of {from}: {why}")
        }
        RunEvent::BreakerChanged { tool, state, retry_in_ms } => {
            breaker_text(tool, *state, *retry_in_ms)
        }
        RunEvent::Interrupted { why } => format!("interrupted: {why}"),
        RunEvent::Finished { success, counts, elapsed_ms } => format!(
            "{}: {} done, {} failed, {} skipped in {}",
            if *success { "finished" } else { "ended" },
            counts.completed,
            counts.failed,
            counts.skipped,
            format_elapsed(*elapsed_ms),
        ),
    };
    (TraceEntryKind::Run, text, None)
}

/// What became of the breaker of a tool, in words.
pub fn breaker_text(tool: &str, state: BreakerState, retry_in_ms: Option<u64>) -> String {
    match (state, retry_in_ms) {
        (BreakerState::Open, Some(wait)) => {
            format!("{tool} keeps failing: its calls wait {}", format_elapsed(wait))
        }
        (BreakerState::Open, None) => format!("{tool} keeps failing: its calls wait"),
        (BreakerState::HalfOpen, _) => format!("{tool} is tried again"),
        (BreakerState::Closed, _) => format!("{tool} works again"),
    }
}

fn project_task(event: &TaskEvent) -> Option<EntryProjection> {
    Some(match event {
        TaskEvent::Started { .. } => return None,
        TaskEvent::Held { hold, .. } => (TraceEntryKind::Waiting, hold_text(hold), None),
        TaskEvent::AwaitingClose { .. } => {
            (TraceEntryKind::Waiting, "finished, waiting to close".to_owned(), None)
        }
        TaskEvent::ResultsKept { results, reused: None, .. } => {
            (TraceEntryKind::Observed, results_text(results), None)
        }
        TaskEvent::ResultsKept { results, reused: Some(from), .. } => {
            let same = format!("up to date: command, variables and inputs are those of {from}");
            let kept = results_text(results);
            let text = if kept.is_empty() { same } else { format!("{same}; {kept}") };
            (TraceEntryKind::Observed, text, None)
        }
        TaskEvent::Ready { .. } => (TraceEntryKind::Observed, "ready".to_owned(), None),
        TaskEvent::HandedOver { .. } => (TraceEntryKind::Yours, "yours to do".to_owned(), None),
        TaskEvent::OccurrenceSettled { occurrence, done, by, note, .. } => {
            let what = if *done { "done" } else { "skipped" };
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            let text = format!("time {occurrence} {what} {}{note}", actor_text(*by));
            (TraceEntryKind::Yours, text, None)
        }
        TaskEvent::Reopened { occurrence, by, .. } => {
            let time = occurrence.map(|time| format!("time {time} ")).unwrap_or_default();
            (TraceEntryKind::Yours, format!("{time}open again {}", actor_text(*by)), None)
        }
        TaskEvent::Noted { text, .. } => (TraceEntryKind::Yours, format!("note: {text}"), None),
        TaskEvent::Completed { elapsed_ms, by, note, .. } => {
            let who = by.map(|by| format!(" {}", actor_text(by))).unwrap_or_default();
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            let text = format!("done in {}{who}{note}", format_elapsed(*elapsed_ms));
            (TraceEntryKind::Done, text, None)
        }
        TaskEvent::Failed { failure, retry_in_ms, attempt, .. } => {
            let next = match retry_in_ms {
                Some(wait) => {
                    format!(", attempt {attempt}, next one in {}", format_elapsed(*wait))
                }
                None => String::new(),
            };
            (TraceEntryKind::Failed, format!("failed: {}{next}", failure.message), None)
        }
        TaskEvent::Skipped { reason, .. } => {
            (TraceEntryKind::Skipped, reason.describe().to_owned(), None)
        }
        TaskEvent::Reset { why, .. } => {
            (TraceEntryKind::Started, format!("back to waiting: {why}"), None)
        }
    })
}

/// What an attempt left behind.
fn results_text(results: &TaskResults) -> String {
    let values = results.outputs.iter().map(|(name, value)| format!("output {name} = {value}"));
    let bytes = results.artifacts.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes));
    let names: Vec<&str> = results.artifacts.iter().map(|file| file.path.as_str()).collect();
    let files = (!names.is_empty()).then(|| {
        let (count, size) = (format_counted(names.len(), "file"), format_bytes(bytes));
        format!("kept {count} ({size}): {}", names.join(", "))
    });
    values.chain(files).collect::<Vec<_>>().join("; ")
}

/// What a task waits for, where neither the plan nor the reader's time zone is known.
fn hold_text(hold: &TaskHold) -> String {
    match hold {
        TaskHold::Until { at, .. } => {
            format!("starts {}", at.strftime("%Y-%m-%d %H:%M UTC"))
        }
        TaskHold::Resource { name, capacity, used, .. } => {
            format!("waiting for {name}: {used} of {capacity} used")
        }
    }
}

fn project_call(event: &CallEvent) -> Option<EntryProjection> {
    Some(match event {
        CallEvent::Intended { tool, input, .. } => {
            let what = input
                .get("command")
                .or_else(|| input.get("criterion"))
                .and_then(serde_json::Value::as_str)
                .map_or_else(|| input.to_string(), str::to_owned);
            let mut lines = what.lines();
            let first = lines.next().unwrap_or_default().to_owned();
            let body = lines.next().is_some().then(|| what.clone());
            (TraceEntryKind::Action, describe_tool_call(tool, &first), body)
        }
        CallEvent::Spawned { .. } => return None,
        CallEvent::Output { stream, text, .. } => {
            let mark = if *stream == OutputStream::Stderr { "! " } else { "" };
            let mut lines = text.trim_end_matches('\n').lines();
            let first = lines.next().unwrap_or_default();
            let more = lines.clone().count();
            let body = (more > 0).then(|| text.trim_end_matches('\n').to_owned());
            let tail = match more {
                0 => String::new(),
                1 => "  · 1 more line".to_owned(),
                more => format!("  · {more} more lines"),
            };
            (TraceEntryKind::Observed, format!("{mark}{first}{tail}"), body)
        }
        CallEvent::Spooled { stream, lines, tail, .. } => {
            let mark = if *stream == OutputStream::Stderr { "! " } else { "" };
            let last = tail.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            let count = planwright_text::units::format_counted(*lines as usize, "line");
            let body = Some(tail.trim_end_matches('\n').to_owned());
            (TraceEntryKind::Observed, format!("{mark}{last}  · the last of {count}"), body)
        }
        CallEvent::Concluded { outcome, elapsed_ms, dropped_bytes, .. } => {
            let cut = match dropped_bytes {
                0 => String::new(),
                bytes => {
                    let size = planwright_text::units::format_bytes(*bytes);
                    format!(", {size} of output not kept")
                }
            };
            (
                TraceEntryKind::Observed,
                format!("{} after {}{cut}", outcome_text(outcome), format_elapsed(*elapsed_ms)),
                None,
            )
        }
    })
}

/// How a call ended, in words.
pub fn outcome_text(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Exited { code } => format!("exit {code}"),
        CallOutcome::Signalled { signal } => format!("ended by signal {signal}"),
        CallOutcome::TimedOut { limit_seconds } => {
            format!(
                "stopped at its limit of {}",
                format_elapsed(limit_seconds.saturating_mul(1000))
            )
        }
        CallOutcome::Cancelled => "cancelled".to_owned(),
        CallOutcome::CouldNotStart { message } => format!("could not start: {message}"),
        CallOutcome::Errored { failure } => format!("failed: {}", failure.message),
        CallOutcome::SaidToHaveHappened => "finished, as you said".to_owned(),
        CallOutcome::Verified => "confirmed by what is on disk".to_owned(),
        CallOutcome::GivenUp => "in doubt, not counted".to_owned(),
    }
}

fn actor_text(by: Actor) -> &'static str {
    match by {
        Actor::Person => "by you",
        Actor::Flag => "by a flag on the command line",
    }
}

/// An answer in words.
pub fn action_text(action: ChoiceAction) -> &'static str {
    match action {
        ChoiceAction::ApproveAndRun | ChoiceAction::Approve => "approved",
        ChoiceAction::ApproveAndStop => "approved, to start later",
        ChoiceAction::ApproveFromToday => "approved, starting today",
        ChoiceAction::ApproveFromTask => "approved, starting at a task",
        ChoiceAction::MoveOverlaps => "blocks moved to free time",
        ChoiceAction::ApproveAndRunHere => "approved, to run here",
        ChoiceAction::Abandon => "discarded",
        ChoiceAction::Happened => "confirmed as finished",
        ChoiceAction::RunAgain => "run again",
        ChoiceAction::KeepWaiting => "kept waiting",
        ChoiceAction::SkipAlone => "skipped alone",
        ChoiceAction::SkipWithDependents => "skipped with what needs it",
        ChoiceAction::RaiseOnce => "raised once",
        ChoiceAction::RaiseForSession => "raised for this plan",
        ChoiceAction::RaiseForGood => "raised for good",
        ChoiceAction::Stop => "stopped",
        ChoiceAction::RequestChanges => "changes requested",
        ChoiceAction::Reject => "asked for another draft",
        ChoiceAction::PickOption(_) => "another option picked",
        ChoiceAction::Reply => "answered",
        ChoiceAction::SkipQuestions => "skipped",
        ChoiceAction::Ideas => "asked for ideas",
        ChoiceAction::TakeIdea(_) => "idea taken",
        ChoiceAction::PickKind(_) => "another kind chosen",
        ChoiceAction::Decline => "declined",
        ChoiceAction::GoOn => "continued",
        ChoiceAction::UseRelaxation(_) => "changed to fit",
        ChoiceAction::AcceptLate => "accepted late",
        ChoiceAction::AcceptPart => "accepted as it is",
        ChoiceAction::GoOffline => "continued without paid calls",
        ChoiceAction::TryAgain => "retried",
        ChoiceAction::Edit => "edited by hand",
        ChoiceAction::KeepAndStop => "kept and stopped",
        ChoiceAction::AllowOnce => "allowed once",
        ChoiceAction::AllowForSession => "allowed for this session",
        ChoiceAction::AllowAlways => "always allowed",
        ChoiceAction::Deny => "denied",
        ChoiceAction::StopTask => "task stopped",
        ChoiceAction::HandToMe => "taken over",
        ChoiceAction::ApplyChanges => "changes accepted",
        ChoiceAction::MergeChanges => "left to the agent to merge",
        ChoiceAction::DiscardChanges => "changes discarded",
        ChoiceAction::UndoChanges => "changes undone",
        ChoiceAction::UseProvider => "provider always allowed",
        ChoiceAction::UseProviderOnce => "provider allowed for this plan",
        ChoiceAction::OfflineThisTime => "not now",
        ChoiceAction::NeverUse => "provider never used",
    }
}

/// What kind of question a request is, in words.
pub fn request_text(kind: &RequestKind) -> &'static str {
    match kind {
        RequestKind::FinalPlan { .. }
        | RequestKind::Draft { target: ApprovalTarget::Final, .. } => "plan",
        RequestKind::InDoubt { .. } => "in doubt",
        RequestKind::Cap { .. } | RequestKind::PlanningCap { .. } => "limit reached",
        RequestKind::Questions { .. } => "questions",
        RequestKind::Goal => "goal",
        RequestKind::Draft { target: ApprovalTarget::Pattern, .. } => "kind of plan",
        RequestKind::Draft { target: ApprovalTarget::Outline, .. } => "outline",
        RequestKind::Draft { target: ApprovalTarget::Roadmap, .. } => "estimates",
        RequestKind::Rfc { .. } => "new kind of plan",
        RequestKind::LowConfidence { .. } => "unsure draft",
        RequestKind::Validation { .. } => "errors in the draft",
        RequestKind::Escalation => "plan ends too late",
        RequestKind::Permission { .. } | RequestKind::DeskPermission { .. } => "permission",
        RequestKind::TaskCap { .. } => "agent out of steps",
        RequestKind::AgentQuestion { .. } | RequestKind::DeskQuestion { .. } => "agent asks",
        RequestKind::PartlyDone { .. } => "partly done",
        RequestKind::ChangeReview { .. } => "changes to accept",
        RequestKind::CandidateChoice { .. } => "result to pick",
        RequestKind::AppliedCheck { .. } => "checks fail",
        RequestKind::Consent { .. } => "key found",
        RequestKind::ModelTrouble { .. } => "model failed",
    }
}

fn format_elapsed(ms: u64) -> String {
    planwright_text::units::format_elapsed(std::time::Duration::from_millis(ms))
}
