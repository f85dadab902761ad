//! The same records and commands, printed as lines instead of drawn.

use std::collections::{BTreeSet, VecDeque};

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use planwright_model::event::{
    ApprovalEvent, CloseReason, Command, Event, PlanEvent, PlanningEvent, Record, RunEvent,
};
use planwright_model::limits::MAX_WAITING_ATTEMPTS;
use planwright_model::request::Detail;
use planwright_model::{
    Actor, Answer, ChoiceAction, EscalateReason, PlanState, Request, RequestId, RequestKind, Seq,
    SessionId,
};
use planwright_state::replay::{History, SourceError};
use planwright_state::trace::{EntryKind, TraceEntry};
use planwright_state::{OpenRequest, RunPhase, SessionState, TaskStatus};
use planwright_text as text;
use progress::Progress;

pub mod drafted;
pub mod progress;
pub mod reply;

/// What to answer when nobody is there to ask.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Plan requests are approved: the person typed `--yes`.
    pub approve_plans: bool,
    /// What to do about calls in doubt: the person typed `--in-doubt`.
    pub in_doubt: Option<ChoiceAction>,
    /// The offline planner drafts when the model fails or its budget is used up: the setting `offline_fallback`. No
    /// flag stands for it.
    pub offline_fallback: bool,
    /// Plans are kept and not run: the command was `plan`.
    pub keeps_plans: bool,
    /// Replies that the person gave beforehand, in order.
    pub replies: VecDeque<String>,
    /// Requests whose answer is already on its way.
    pub answered: BTreeSet<RequestId>,
}

impl Answers {
    /// Whether they answer nothing at all.
    pub fn is_empty(&self) -> bool {
        !self.approve_plans
            && !self.offline_fallback
            && self.in_doubt.is_none()
            && self.replies.is_empty()
    }

    /// The answer the flags stand for, if they stand for one.
    pub fn to(&self, request: &Request) -> Option<Answer> {
        if let Some(reply) = self.replies.front() {
            return reply::answer(request, reply).ok();
        }
        match request.kind {
            RequestKind::FinalPlan { .. } if self.keeps_plans => {
                self.approve_plans.then_some(ChoiceAction::ApproveAndStop)
            }
            RequestKind::FinalPlan { .. } => {
                self.approve_plans.then_some(ChoiceAction::ApproveAndRun)
            }
            RequestKind::Draft { .. } => self.approve_plans.then_some(ChoiceAction::Approve),
            RequestKind::Questions { .. } => {
                self.approve_plans.then_some(ChoiceAction::SkipQuestions)
            }
            RequestKind::Rfc { .. } => self.approve_plans.then_some(ChoiceAction::Decline),
            RequestKind::InDoubt { .. } => self.in_doubt,
            RequestKind::ModelTrouble { .. }
            | RequestKind::PlanningCap { reason: EscalateReason::Budget } => {
                self.offline_fallback.then_some(ChoiceAction::GoOffline)
            }
            // Raising a limit, allowing a tool and whatever was not foreseen are for the person alone.
            _ => None,
        }
        .map(Answer::from)
    }
}

/// How a headless run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Success,
    Failed,
    /// Something waits for the person.
    NeedsPerson,
    /// The driver let go of the session by itself.
    Closed,
}

/// Where lines go.
pub trait Lines {
    fn line(&mut self, text: &str) -> std::io::Result<()>;

    /// Shows one line below all others, in the place of the one before. Empty takes it away.
    fn bar(&mut self, _text: &str) -> std::io::Result<()> {
        Ok(())
    }

    /// Says something beside the lines, which others may read.
    fn notice(&mut self, _text: &str) {}
}

/// How a record is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines for people: every step.
    Text,
    /// A line for each task that ended, and a bar below.
    Progress,
    /// One JSON object per record.
    Json,
    /// Nothing: the result is printed at the end.
    Quiet,
}

/// Why a headless run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum HeadlessError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("could not write to standard output")]
    Output(#[from] std::io::Error),
}

/// Follows a session until it ends or waits for the person, printing every record and giving the answers it may give.
#[derive(Debug)]
pub struct Follower<L> {
    pub history: History,
    pub head: watch::Receiver<Seq>,
    pub commands: mpsc::Sender<Command>,
    pub answers: Answers,
    pub format: Format,
    pub lines: L,
    pub state: SessionState,
    /// A run that was over before is to start again: its old end does not count.
    pub expects_start: bool,
    /// Another plan is on its way; and whether its approval, which is given here, starts the run again.
    pub expects_plan: Option<bool>,
    pub time_zone: jiff::tz::TimeZone,
    pub progress: Progress,
}

impl<L: Lines> Follower<L> {
    /// Goes on until there is nothing more to do here. Sends the command that closes the session.
    pub async fn follow(&mut self) -> Result<Ending, HeadlessError> {
        loop {
            let head = *self.head.borrow_and_update();
            self.catch_up(head)?;
            self.show_drafted_commands();
            for open in self.state.requests.open.values() {
                // Without anybody to ask, a task that used up its iterations fails.
                let at_limit = matches!(open.request.kind, RequestKind::TaskCap { .. })
                    .then(|| Answer::from(ChoiceAction::StopTask));
                if !self.answers.answered.contains(&open.request.id)
                    && let Some(answer) = self.answers.to(&open.request).or(at_limit)
                {
                    self.answers.answered.insert(open.request.id);
                    let spoken = self.answers.replies.pop_front().is_some();
                    let by = if spoken { Actor::Person } else { Actor::Flag };
                    let command = Command::Answer { id: open.request.id, answer, by };
                    let _ = self.commands.send(command).await;
                }
            }
            if let Some(ending) = self.ending() {
                let why = if ending == Ending::NeedsPerson {
                    CloseReason::NeedsPerson
                } else {
                    CloseReason::Finished
                };
                let _ = self.commands.send(Command::Close { why }).await;
                return Ok(ending);
            }
            if !self.wait().await? {
                return Ok(Ending::Closed);
            }
        }
    }

    /// Shows what a model drafted before a flag approves it.
    fn show_drafted_commands(&mut self) {
        let approves = |open: &&OpenRequest| {
            let answer = self.answers.to(&open.request);
            !self.answers.answered.contains(&open.request.id)
                && answer.is_some_and(|answer| {
                    drafted::approves_drafted(&open.request, answer.action, &self.state)
                })
        };
        if !self.state.requests.open.values().any(|open| approves(&open)) {
            return;
        }
        let lines = drafted::command_lines(&self.state.drafted_commands());
        self.lines
            .notice("commands in this plan that a model wrote, approved by your flag or reply:");
        for line in lines {
            self.lines.notice(&format!("  {line}"));
        }
    }

    /// Waits for more records. A bar shows meanwhile that time goes by. `false` once there will be none.
    async fn wait(&mut self) -> Result<bool, HeadlessError> {
        if self.format != Format::Progress {
            return Ok(self.head.changed().await.is_ok());
        }
        loop {
            let bar = progress::bar(&self.state, Timestamp::now());
            self.lines.bar(&bar)?;
            tokio::select! {
                changed = self.head.changed() => return Ok(changed.is_ok()),
                () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
            }
        }
    }

    /// Folds and prints what was committed since the last look.
    pub fn catch_up(&mut self, head: Seq) -> Result<(), HeadlessError> {
        loop {
            let records = self.history.following(self.state.seq, head)?;
            if records.is_empty() {
                return Ok(());
            }
            records.iter().try_for_each(|record| self.take(record))?;
        }
    }

    fn take(&mut self, record: &Record) -> Result<(), HeadlessError> {
        self.state.apply(record);
        match &record.event {
            Event::Run(RunEvent::Started { .. })
            | Event::Plan(PlanEvent::ApprovalCarried { .. }) => self.expects_start = false,
            Event::Plan(PlanEvent::Proposed { .. }) if self.expects_plan.is_some() => {
                self.expects_start = self.expects_plan.take().unwrap_or(false);
            }
            // What was refused has not been answered.
            Event::Approval(ApprovalEvent::Refused { .. }) => {
                self.expects_plan = None;
                self.answers.answered.clear();
            }
            // A remark about the conversation, or a wish for ideas, leaves the question open.
            Event::Planning(
                PlanningEvent::PolicySet { .. } | PlanningEvent::IdeasOffered { .. },
            ) => self.answers.answered.clear(),
            _ => {}
        }
        self.print(record)
    }

    fn print(&mut self, record: &Record) -> Result<(), HeadlessError> {
        match self.format {
            Format::Json => {
                if let Ok(json) = serde_json::to_string(record) {
                    self.lines.line(&json)?;
                }
            }
            Format::Quiet => {}
            Format::Progress => {
                for line in self.progress.lines(record, &self.time_zone) {
                    self.lines.line(&line)?;
                }
            }
            Format::Text => {
                if let Some(entry) = TraceEntry::of(record) {
                    self.lines.line(&readable(&entry, &self.time_zone))?;
                }
            }
        }
        Ok(())
    }

    fn ending(&self) -> Option<Ending> {
        if self.expects_start || self.expects_plan.is_some() {
            return None;
        }
        match self.state.run.phase {
            RunPhase::Finished { success: true } => return Some(Ending::Success),
            RunPhase::Finished { success: false } => return Some(Ending::Failed),
            _ if self.state.plan.abandoned => return Some(Ending::Failed),
            _ => {}
        }
        let kept = self.state.may_run() && self.state.run.phase == RunPhase::Idle;
        if self.answers.keeps_plans && !self.state.planning.begun && kept {
            return Some(Ending::Success);
        }
        if self.answers.keeps_plans && self.state.planning.begun {
            match self.state.planning.place.state {
                PlanState::Complete => return Some(Ending::Success),
                PlanState::Aborted => return Some(Ending::Failed),
                _ => {}
            }
        }
        waits_for_person(&self.state, &self.answers).then_some(Ending::NeedsPerson)
    }
}

/// Whether nothing can happen before the person answers or does something.
fn waits_for_person(state: &SessionState, answers: &Answers) -> bool {
    if state.planning.works() {
        return false;
    }
    let on_its_way = |open: &&OpenRequest| answers.answered.contains(&open.request.id);
    let unanswered = state
        .requests
        .open
        .values()
        .filter(|open| answers.to(&open.request).is_none() && !on_its_way(open));
    let open = unanswered.count() as u32;
    if open < state.requests.open.len() as u32 {
        return false;
    }
    // A task that asked something does nothing before it is answered.
    let asks = |task: usize| {
        let since = state.tasks.row(task).started_at;
        // What was asked before the attempt began was asked by another process; whether it is asked again shows.
        let own = |open: &&OpenRequest| since.is_none_or(|since| open.asked_at >= since);
        state.requests.open.values().filter(own).any(|open| {
            open.request.task.as_ref().and_then(|asking| state.tasks.owner(asking)) == Some(task)
        })
    };
    let runs = |task: usize| state.tasks.row(task).status == TaskStatus::Running;
    let busy = |task: usize| runs(task) && !asks(task);
    match state.run.phase {
        RunPhase::Running => {}
        // What runs when a run is held finishes first.
        RunPhase::Paused => return !(0..state.tasks.len()).any(busy),
        RunPhase::Interrupted => return true,
        // Approved and about to be run counts as work, and so does a session that is only just being made.
        _ => return open > 0 || (state.plan.current.is_some() && !state.may_run()),
    }
    let counts = state.tasks.counts();
    if open == 0 && counts.yours == 0 {
        return false;
    }
    // A new revision that waits for approval holds back what is ready.
    let may_start = |task: usize| state.tasks.is_ready(task) && state.may_run() && !asks(task);
    if (0..state.tasks.len()).any(busy) {
        return false;
    }
    // Whatever could start beside the waiting tasks has started in the batch of their questions.
    let waiting = (0..state.tasks.len()).filter(|task| runs(*task)).count();
    waiting >= MAX_WAITING_ATTEMPTS || !(0..state.tasks.len()).any(may_start)
}

/// The column in which the body of a readable line begins.
pub const BODY: usize = 33;

/// One line for a person.
pub fn readable(entry: &TraceEntry, time_zone: &jiff::tz::TimeZone) -> String {
    let time = entry.at.to_zoned(time_zone.clone()).strftime("%H:%M:%S").to_string();
    let task = entry.task.as_ref().map(ToString::to_string).unwrap_or_default();
    let task = text::clean_line(&task).into_owned();
    let glyph = match entry.kind {
        EntryKind::Thought => "~",
        EntryKind::Action => ">",
        EntryKind::Observed => "<",
        _ => " ",
    };
    let body = match (&entry.body, entry.kind) {
        // Output is shown whole: it is what a script's reader came for.
        (Some(body), EntryKind::Observed) => {
            text::clean(body).replace('\n', "\n                                 ")
        }
        _ => text::clean_line(&entry.text).into_owned(),
    };
    format!("{time}  {task:<10} {glyph} {:<9} {body}", entry.kind.word()).trim_end().to_owned()
}

/// What waits for the person, as one object.
pub fn waiting_json(state: &SessionState) -> serde_json::Value {
    let yours: Vec<_> = state
        .tasks
        .iter()
        .filter(|(_, row)| row.status == TaskStatus::Yours)
        .map(|(id, _)| id)
        .collect();
    let requests: Vec<_> = state.requests.open.values().map(|open| &open.request).collect();
    let mut waiting = serde_json::json!({ "waiting": {
        "requests": requests,
        "tasks": yours,
        "drafted_commands": drafted_json(state),
    } });
    if let Some(failure) = model_failure(state) {
        waiting["model_failure"] = failure.into();
    }
    waiting
}

/// Why the model that drafts failed, while nobody has decided what follows from it.
pub fn model_failure(state: &SessionState) -> Option<&str> {
    let failed = |open: &OpenRequest| matches!(open.request.kind, RequestKind::ModelTrouble { .. });
    state.requests.open.values().find(|open| failed(open)).map(|open| open.request.why.as_str())
}

/// The commands of the plan that the person did not write, as they would run.
pub fn drafted_json(state: &SessionState) -> serde_json::Value {
    let drafted = state.drafted_commands();
    let commands = drafted
        .iter()
        .map(|planned| serde_json::json!({ "task": planned.task, "command": planned.command }));
    commands.collect()
}

/// Whether an answer is about something that must be seen before it is given.
fn is_about_a_call(kind: &RequestKind) -> bool {
    matches!(kind, RequestKind::Permission { .. } | RequestKind::InDoubt { .. })
}

/// What waits for the person, one line each, with how to answer.
pub fn open_questions(session: &SessionId, state: &SessionState) -> Vec<String> {
    let mut lines = Vec::new();
    let drafted = state.drafted_commands();
    for open in state.requests.open.values() {
        let request = &open.request;
        let remedy = match request.kind {
            RequestKind::FinalPlan { .. } if !drafted.is_empty() => {
                "read the commands below, then approve it on a screen or with that command"
            }
            RequestKind::FinalPlan { .. } => "approve it on a screen, or with --yes",
            RequestKind::InDoubt { .. } => "answer on a screen, or with --in-doubt run|done|skip",
            RequestKind::ModelTrouble { .. } => {
                "answer `retry` with another --provider or --model, or `use the offline planner`; or set offline_fallback = true"
            }
            RequestKind::Cap { .. } => "raise it on a screen, or with `planwright answer`",
            RequestKind::Draft { .. } | RequestKind::Questions { .. } | RequestKind::Rfc { .. } => {
                "answer on a screen, with `planwright answer`, or with --yes"
            }
            _ => "answer on a screen, or with `planwright answer`",
        };
        let about = request.task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
        let asked = format!("{} {about}{} {}; {remedy}", request.id, request.question, request.why);
        lines.push(text::clean_line(&asked).into_owned());
        lines.extend(drafted::card_lines(session, request, &drafted));
        if is_about_a_call(&request.kind) {
            let shown = |detail: &Detail| {
                text::clean_line(&format!("   {}: {}", detail.label, detail.text)).into_owned()
            };
            lines.extend(request.verbatim.iter().flat_map(drafted::verbatim_lines));
            // Whether the call was still at work is what the answer hangs on.
            let evidence = request.details.iter().filter(|detail| detail.label == "evidence");
            lines.extend(evidence.map(shown));
            let replies = format!("   replies: {}", reply::words(request).join(", "));
            lines.push(text::clean_line(&replies).into_owned());
        }
    }
    for (id, row) in state.tasks.iter() {
        if row.status == TaskStatus::Yours {
            let yours = format!("{id} is yours to do; then say: planwright today done {id}");
            lines.push(text::clean_line(&yours).into_owned());
        }
    }
    lines
}
