//! The same records and commands, printed as lines instead of drawn.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

pub(crate) use plan_printing::PlanPrinting;
use planwright_drafting::offline::kind::SURE_SCORE;
use planwright_model::event::{
    ApprovalEvent, CallEvent, CloseReason, Command, DraftedCommand, Event, PlanEvent,
    PlanningEvent, Record, RunEvent, WaitingForPerson, WaitingLine,
};
use planwright_model::limits::MAX_WAITING_ATTEMPTS;
use planwright_model::request::RequestDetail;
use planwright_model::requests::KIND_QUESTION;
use planwright_model::{
    Actor, Answer, ChoiceAction, ConfidenceVerdict, EscalationReason, PlanQuestion, PlanState,
    Request, RequestId, RequestKind, Seq, SessionId, StageAssessment,
};
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::trace::TraceEntry;
use planwright_state::{
    OpenRequest, PlannedCommand, PlanningSlice, RunPhase, SessionState, TaskStatus,
};
use planwright_text as text;
use progress::HeadlessProgress;
use readable_lines::ReadableLines;

pub(crate) mod drafted_commands;
mod plan_printing;
pub(crate) mod progress;
pub(crate) mod readable_lines;
pub(crate) mod reply;
pub(crate) mod run_reports;

/// What to answer when nobody is there to ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct PresetAnswers {
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
    /// The reply that was given last.
    pub spoken: Option<String>,
    /// Requests whose answer is already on its way.
    pub answered: BTreeSet<RequestId>,
}

impl PresetAnswers {
    /// Whether they answer nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        !self.approve_plans
            && !self.offline_fallback
            && self.in_doubt.is_none()
            && self.replies.is_empty()
    }

    /// The answer the flags stand for, if they stand for one. A plan that breaks what the person said is for them alone.
    pub(crate) fn answer_to(&self, request: &Request, state: &SessionState) -> Option<Answer> {
        // What an agent of another program wants is for the person alone.
        if state.desk.is_ticket() && !state.runs_here() {
            return None;
        }
        if let Some(reply) = self.next_reply(request) {
            // A reply that does not fit this request stays for the next one.
            return reply::parse_answer(request, reply).ok();
        }
        // A plan whose kind is a guess is approved by a flag only if the plan itself is sound.
        let planning = &state.planning;
        let is_for_person = planning.broken_facts().next().is_some() || is_doubtful_guess(planning);
        match request.kind {
            RequestKind::FinalPlan { .. } if is_for_person => None,
            RequestKind::FinalPlan { .. } if self.keeps_plans => {
                self.approve_plans.then_some(ChoiceAction::ApproveAndStop)
            }
            RequestKind::FinalPlan { .. } => {
                self.approve_plans.then_some(ChoiceAction::ApproveAndRun)
            }
            RequestKind::Draft { .. } => {
                let ready = request.available_choice(ChoiceAction::Approve).is_some();
                (self.approve_plans && ready).then_some(ChoiceAction::Approve)
            }
            // What nobody can assume is for the person alone.
            RequestKind::Questions { .. } => {
                let may_skip = request.available_choice(ChoiceAction::SkipQuestions).is_some();
                (self.approve_plans && may_skip).then_some(ChoiceAction::SkipQuestions)
            }
            RequestKind::Rfc { .. } => self.approve_plans.then_some(ChoiceAction::Decline),
            // An answer that the request does not offer, as for a command that has ended meanwhile, is not given.
            RequestKind::InDoubt { .. } => {
                self.in_doubt.filter(|action| request.available_choice(*action).is_some())
            }
            RequestKind::ModelTrouble { .. }
            | RequestKind::PlanningCap { reason: EscalationReason::Budget, .. } => {
                self.offline_fallback.then_some(ChoiceAction::GoOffline)
            }
            // Raising a limit, allowing a tool and whatever was not foreseen are for the person alone.
            _ => None,
        }
        .map(Answer::from)
    }
}

impl PresetAnswers {
    /// The reply that is tried on a request. One that this question could not read is kept for a later one where a flag
    /// answers the rest.
    fn next_reply(&self, request: &Request) -> Option<&String> {
        let reply = self.replies.front()?;
        let unread = request.unread.as_ref().is_some_and(|unread| unread.text == *reply);
        (!unread).then_some(reply)
    }

    /// Takes the reply that a request is answered with.
    fn take_reply(&mut self, request: &Request) -> Option<String> {
        self.next_reply(request)?;
        self.spoken = self.replies.pop_front();
        self.spoken.clone()
    }

    /// Keeps the last reply for another question, if this one could not read it and a flag answers it.
    fn keep_unread_reply(&mut self, request: &Request) {
        let Some(unread) = request.unread.as_ref().filter(|_| self.approve_plans) else { return };
        if let Some(spoken) = self.spoken.take_if(|spoken| *spoken == unread.text) {
            self.replies.push_front(spoken);
        }
    }
}

/// Whether nobody is sure of the kind of plan, and the plan does not make up for it.
fn is_doubtful_guess(talk: &PlanningSlice) -> bool {
    let guessed = talk.pattern.as_ref().is_some_and(|choice| {
        choice.confidence < SURE_SCORE && !talk.kind_chosen && choice.pattern.kind.is_some()
    });
    let weak = |judged: &StageAssessment| judged.confidence.verdict != ConfidenceVerdict::Continue;
    guessed && talk.judgements.values().any(weak)
}

/// How a headless run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadlessEnding {
    Success,
    Failed,
    /// Something waits for the person.
    NeedsPerson,
    /// The driver let go of the session by itself.
    Closed,
}

/// How long a run that prints nothing is left alone before it is looked at again.
const QUIET_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// Where lines go.
pub(crate) trait LineSink {
    fn write_line(&mut self, text: &str) -> std::io::Result<()>;

    /// Shows one line below all others, in the place of the one before. Empty takes it away.
    fn show_bar(&mut self, _text: &str) -> std::io::Result<()> {
        Ok(())
    }

    /// Where the further lines begin of one that is too long.
    fn set_hanging(&mut self, _column: usize) {}

    /// Says something beside the lines, which others may read.
    fn write_notice(&mut self, _text: &str) {}
}

/// How a record is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadlessFormat {
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
pub(crate) enum HeadlessError {
    #[error(transparent)]
    Source(#[from] RecordSourceError),
    #[error("could not write to standard output")]
    Output(#[from] std::io::Error),
}

/// Follows a session until it ends or waits for the person, printing every record and giving the answers it may give.
#[derive(Debug)]
pub(crate) struct SessionFollower<L> {
    pub session: SessionId,
    pub history: History,
    pub head: watch::Receiver<Seq>,
    pub commands: mpsc::Sender<Command>,
    pub answers: PresetAnswers,
    pub format: HeadlessFormat,
    pub lines: L,
    pub state: SessionState,
    /// A run that was over before is to start again: its old end does not count.
    pub expects_start: bool,
    /// Another plan is on its way; and whether its approval, which is given here, starts the run again.
    pub expects_plan: Option<bool>,
    /// Questions are waited with until somebody answers them from elsewhere.
    pub waits_for_answers: bool,
    pub time_zone: jiff::tz::TimeZone,
    pub readable: ReadableLines,
    pub progress: HeadlessProgress,
    pub plans: PlanPrinting,
}

impl<L: LineSink> SessionFollower<L> {
    /// Goes on until there is nothing more to do here. Sends the command that closes the session.
    pub(crate) async fn follow(&mut self) -> Result<HeadlessEnding, HeadlessError> {
        loop {
            let head = *self.head.borrow_and_update();
            self.catch_up(head)?;
            self.print_open_plan()?;
            self.show_drafted_commands();
            for open in self.state.requests.open.values() {
                // Without anybody to ask, a task that used up its iterations fails. A retry continues it.
                let at_limit = (fails_unanswered(&open.request.kind) && !self.waits_for_answers)
                    .then(|| Answer::from(ChoiceAction::StopTask));
                if !self.answers.answered.contains(&open.request.id)
                    && let Some(answer) =
                        self.answers.answer_to(&open.request, &self.state).or(at_limit)
                {
                    self.answers.answered.insert(open.request.id);
                    let spoken = self.answers.take_reply(&open.request).is_some();
                    let by = if spoken { Actor::Person } else { Actor::Flag };
                    let command = Command::Answer { id: open.request.id, answer, by };
                    crate::session_commands::send_command(&self.commands, command).await;
                }
            }
            if let Some(ending) = self.current_ending() {
                let why = if ending == HeadlessEnding::NeedsPerson {
                    CloseReason::NeedsPerson
                } else {
                    CloseReason::Finished
                };
                crate::session_commands::send_command(&self.commands, Command::Close { why }).await;
                return Ok(ending);
            }
            if !self.wait_for_records().await? {
                return Ok(HeadlessEnding::Closed);
            }
        }
    }

    /// Prints the plan that is asked about, with every command and fact, before anybody answers.
    fn print_open_plan(&mut self) -> Result<(), HeadlessError> {
        if !matches!(self.format, HeadlessFormat::Text | HeadlessFormat::Progress) {
            return Ok(());
        }
        for line in self.plans.new_lines(&self.state, &self.time_zone) {
            self.lines.write_line(&line)?;
        }
        Ok(())
    }

    /// Shows what a model drafted before a flag approves it.
    fn show_drafted_commands(&mut self) {
        let approves = |open: &&OpenRequest| {
            let answer = self.answers.answer_to(&open.request, &self.state);
            !self.answers.answered.contains(&open.request.id)
                && answer.is_some_and(|answer| {
                    drafted_commands::approves_drafted(&open.request, answer.action, &self.state)
                })
        };
        if !self.state.requests.open.values().any(|open| approves(&open)) {
            return;
        }
        let lines = drafted_commands::command_lines(&self.state.drafted_commands());
        self.lines.write_notice(
            "commands in this plan that a model wrote, approved by your flag or reply:",
        );
        for line in lines {
            self.lines.write_notice(&format!("  {line}"));
        }
    }

    /// Waits for more records. A bar shows meanwhile that time goes by. `false` once there will be none.
    async fn wait_for_records(&mut self) -> Result<bool, HeadlessError> {
        if self.format != HeadlessFormat::Progress {
            let goes_on = self.head.changed().await.is_ok();
            if goes_on && self.format == HeadlessFormat::Quiet {
                // Nobody sees single records: many at once are read for little more than one.
                tokio::time::sleep(QUIET_PAUSE).await;
            }
            return Ok(goes_on);
        }
        loop {
            let bar = progress::progress_bar(&self.state, Timestamp::now());
            self.lines.show_bar(&bar)?;
            tokio::select! {
                changed = self.head.changed() => return Ok(changed.is_ok()),
                () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
            }
        }
    }

    /// Folds and prints what was committed since the last look.
    pub(crate) fn catch_up(&mut self, head: Seq) -> Result<(), HeadlessError> {
        loop {
            let records = self.history.records_after(self.state.seq, head)?;
            if records.is_empty() {
                return self.print_skips();
            }
            records.iter().try_for_each(|record| self.apply_record(record))?;
        }
    }

    /// Prints the tasks that were skipped because of others.
    fn print_skips(&mut self) -> Result<(), HeadlessError> {
        for line in self.readable.take_skips(&self.state) {
            self.lines.write_line(&line)?;
        }
        Ok(())
    }

    fn apply_record(&mut self, record: &Record) -> Result<(), HeadlessError> {
        self.state.apply(record);
        match &record.event {
            Event::Run(RunEvent::Started { .. })
            | Event::Plan(PlanEvent::ApprovalCarried { .. }) => self.expects_start = false,
            Event::Plan(PlanEvent::Proposed { .. }) => {
                self.readable.fit_plan(&self.state);
                self.lines.set_hanging(self.readable.body_column());
                if let Some(starts) = self.expects_plan.take() {
                    self.expects_start = starts;
                }
            }
            // What was refused has not been answered.
            Event::Approval(ApprovalEvent::Refused { .. }) => {
                self.expects_plan = None;
                self.answers.answered.clear();
            }
            // An answer that could not be read leaves the question open.
            Event::Approval(ApprovalEvent::Amended { request }) => {
                self.answers.answered.clear();
                self.answers.keep_unread_reply(request);
            }
            // So does a remark or a request for ideas.
            Event::Planning(
                PlanningEvent::PolicySet { .. } | PlanningEvent::IdeasOffered { .. },
            ) => self.answers.answered.clear(),
            _ => {}
        }
        self.print_record(record)
    }

    fn print_record(&mut self, record: &Record) -> Result<(), HeadlessError> {
        if matches!(self.format, HeadlessFormat::Text | HeadlessFormat::Progress) {
            if self.readable.keep_skip(record) {
                return Ok(());
            }
            self.print_skips()?;
        }
        match self.format {
            HeadlessFormat::Json => {
                if let Ok(json) = record_json(&self.session, record) {
                    self.lines.write_line(&json)?;
                } else {
                    tracing::error!(seq = record.seq.0, "a record cannot be printed");
                }
            }
            HeadlessFormat::Quiet => {}
            HeadlessFormat::Progress => {
                for line in self.progress.record_lines(record, &self.state, &self.readable) {
                    self.lines.write_line(&line)?;
                }
            }
            HeadlessFormat::Text => self.print_text(record)?,
        }
        Ok(())
    }

    fn print_text(&mut self, record: &Record) -> Result<(), HeadlessError> {
        if let Event::Call(event) = &record.event {
            let spooled = match event {
                CallEvent::Spooled { .. } => self.history.printed_output(event)?,
                _ => None,
            };
            if let Some(printed) = spooled {
                for line in self.readable.output_lines(event.call_id(), &printed) {
                    self.lines.write_line(&line)?;
                }
                return Ok(());
            }
            if let Some(counted) = self.readable.take_missing(event.call_id()) {
                self.lines.write_line(&counted)?;
            }
        }
        if let Some(entry) = TraceEntry::from_record_in(record, &self.state) {
            self.lines.write_line(&self.readable.entry_line(&entry))?;
        }
        Ok(())
    }

    fn current_ending(&self) -> Option<HeadlessEnding> {
        if self.expects_start || self.expects_plan.is_some() {
            return None;
        }
        match self.state.run.phase {
            RunPhase::Finished { success: true } => return Some(HeadlessEnding::Success),
            RunPhase::Finished { success: false } => return Some(HeadlessEnding::Failed),
            _ if self.state.plan.abandoned => return Some(HeadlessEnding::Failed),
            _ => {}
        }
        let kept = self.state.is_runnable() && self.state.run.phase == RunPhase::Idle;
        if self.answers.keeps_plans && !self.state.planning.begun && kept {
            return Some(HeadlessEnding::Success);
        }
        if self.answers.keeps_plans && self.state.planning.begun {
            match self.state.planning.place.state {
                PlanState::Complete => return Some(HeadlessEnding::Success),
                PlanState::Aborted => return Some(HeadlessEnding::Failed),
                _ => {}
            }
        }
        if self.waits_for_answers && !self.state.requests.open.is_empty() {
            return None;
        }
        waits_for_person(&self.state, &self.answers).then_some(HeadlessEnding::NeedsPerson)
    }
}

/// Whether nothing can happen before the person answers or does something.
fn waits_for_person(state: &SessionState, answers: &PresetAnswers) -> bool {
    if state.planning.is_working() {
        return false;
    }
    let on_its_way = |open: &&OpenRequest| answers.answered.contains(&open.request.id);
    let unanswered = state
        .requests
        .open
        .values()
        .filter(|open| answers.answer_to(&open.request, state).is_none() && !on_its_way(open));
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
            open.request.task.as_ref().and_then(|asking| state.tasks.owner_position(asking))
                == Some(task)
        })
    };
    let runs = |task: usize| state.tasks.row(task).is_at_work();
    let busy = |task: usize| runs(task) && !asks(task);
    match state.run.phase {
        RunPhase::Running => {}
        // What runs when a run is held finishes first.
        RunPhase::Paused => return !(0..state.tasks.len()).any(busy),
        RunPhase::Interrupted => return true,
        // Approved and about to be run counts as work, and so does a session that is only just being made.
        _ => return open > 0 || (state.plan.current.is_some() && !state.is_runnable()),
    }
    let counts = state.tasks.status_counts();
    if open == 0 && counts.yours == 0 {
        return false;
    }
    // A new revision that waits for approval holds back what is ready.
    let may_start = |task: usize| state.tasks.is_ready(task) && state.is_runnable() && !asks(task);
    if (0..state.tasks.len()).any(busy) {
        return false;
    }
    // Whatever could start beside the waiting tasks has started in the batch of their questions.
    let waiting = (0..state.tasks.len()).filter(|task| runs(*task)).count();
    waiting >= MAX_WAITING_ATTEMPTS || !(0..state.tasks.len()).any(may_start)
}

/// A record as one line for programs: what the journal has, and the session it belongs to.
pub(crate) fn record_json(
    session: &SessionId,
    record: &Record,
) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(record)?;
    value["session"] = session.as_str().into();
    serde_json::to_string(&value)
}

/// What waits for the person, as one object.
pub(crate) fn waiting_line(session: &SessionId, state: &SessionState) -> WaitingLine {
    let tasks = state
        .tasks
        .iter()
        .filter(|(_, row)| row.status == TaskStatus::Yours)
        .map(|(id, _)| id.clone())
        .collect();
    let requests = state.requests.open.values().map(|open| Arc::clone(&open.request)).collect();
    WaitingLine {
        session: session.clone(),
        waiting: WaitingForPerson { requests, tasks, drafted_commands: drafted_commands(state) },
        model_failure: model_failure(state).map(str::to_owned),
    }
}

/// Why the model that drafts failed, while nobody has decided what follows from it.
pub(crate) fn model_failure(state: &SessionState) -> Option<&str> {
    let failed = |open: &OpenRequest| matches!(open.request.kind, RequestKind::ModelTrouble { .. });
    state.requests.open.values().find(|open| failed(open)).map(|open| open.request.why.as_str())
}

/// The commands of the plan that the person did not write, as they would run.
pub(crate) fn drafted_commands(state: &SessionState) -> Vec<DraftedCommand> {
    let drafted = state.drafted_commands().into_iter();
    let command = |planned: PlannedCommand<'_>| DraftedCommand {
        task: planned.task.clone(),
        command: planned.command.to_owned(),
    };
    drafted.map(command).collect()
}

/// Whether a question is about the kind of plan.
fn asks_kind(questions: &[PlanQuestion]) -> bool {
    questions.iter().any(|question| question.key == KIND_QUESTION)
}

/// Whether a task fails where nobody answers: at a limit of its own. What its agent asks stays open instead.
fn fails_unanswered(kind: &RequestKind) -> bool {
    matches!(kind, RequestKind::TaskCap { .. })
}

/// Whether an answer is about something that must be seen before it is given.
fn shows_details(kind: &RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::Permission { .. }
            | RequestKind::InDoubt { .. }
            | RequestKind::ChangeReview { .. }
            | RequestKind::CandidateChoice { .. }
            | RequestKind::AppliedCheck { .. }
            | RequestKind::AgentQuestion { .. }
            | RequestKind::PartlyDone { .. }
    )
}

/// What may give way where a plan does not fit, one line each, as `planwright answer` takes it.
fn ways_out(request: &Request) -> impl Iterator<Item = String> {
    let open = request.choices.iter().filter(|choice| choice.unavailable.is_none());
    open.map(|choice| {
        let shown = format!("   {}: {}", choice.label, choice.consequence);
        text::clean_line(&shown).into_owned()
    })
}

/// Whether nothing can be assumed in place of an answer.
fn must_be_answered(questions: &[PlanQuestion]) -> bool {
    questions.iter().any(|question| question.assumed.is_empty())
}

/// What waits for the person, one line each, with how to answer.
pub(crate) fn open_questions(session: &SessionId, state: &SessionState) -> Vec<String> {
    let mut lines = Vec::new();
    let drafted = state.drafted_commands();
    let breaks_fact = state.planning.broken_facts().next().is_some();
    for open in state.requests.open.values() {
        let request = &open.request;
        let remedy = match request.kind {
            RequestKind::FinalPlan { .. } if breaks_fact => {
                "it breaks what you said, so --yes does not approve it; correct or withdraw that with `planwright facts`, or approve it on a screen"
            }
            RequestKind::FinalPlan { .. } if !drafted.is_empty() => {
                "read the commands below, then approve it on a screen or with that command"
            }
            RequestKind::FinalPlan { .. } if state.desk.is_ticket() => {
                "decide on a screen, or with `planwright answer`; --yes does not approve what an agent submitted"
            }
            RequestKind::FinalPlan { .. } => "approve it on a screen, or with --yes",
            RequestKind::InDoubt { .. } => {
                "answer on a screen, or with --in-doubt run|done|skip|wait"
            }
            RequestKind::ModelTrouble { .. } => {
                "answer `retry` with another --provider or --model, or `use the built-in planner`; or set offline_fallback = true"
            }
            RequestKind::ChangeReview { .. } => {
                "apply, discard or send them back on a screen, or with `planwright answer`; --yes does not apply changes"
            }
            RequestKind::CandidateChoice { .. } => {
                "pick one on a screen, or with `planwright answer`; --yes picks nothing"
            }
            RequestKind::AppliedCheck { .. } => {
                "decide on a screen, or with `planwright answer`; --yes accepts nothing here"
            }
            RequestKind::Cap { .. } => "raise it on a screen, or with `planwright answer`",
            RequestKind::Questions { ref questions } if asks_kind(questions) => {
                "name it with --kind, or answer with `planwright answer`"
            }
            RequestKind::Questions { ref questions } if must_be_answered(questions) => {
                "answer on a screen, with `planwright answer`, or with --answer; --yes can't assume it"
            }
            RequestKind::Draft { .. }
                if request.available_choice(ChoiceAction::Approve).is_none() =>
            {
                "add steps on a screen, or with `planwright answer` and \"request changes: add …\""
            }
            RequestKind::Draft { .. } | RequestKind::Questions { .. } | RequestKind::Rfc { .. } => {
                "answer on a screen, with `planwright answer`, or with --yes"
            }
            _ => "answer on a screen, or with `planwright answer`",
        };
        let about = request.task.as_ref().map(|task| format!("{}: ", state.title_by_id(task)));
        let about = about.unwrap_or_default();
        let why = request.why.trim_end_matches('.');
        let asked = format!("{} {about}{} {why}; {remedy}", request.id, request.question);
        lines.push(text::clean_line(&asked).into_owned());
        lines.extend(drafted_commands::card_lines(session, request, &drafted));
        if let RequestKind::Questions { questions } = &request.kind
            && asks_kind(questions)
        {
            let choices = questions.iter().flat_map(|question| &question.choices);
            let shown = choices.map(|choice| format!("   {}: {}", choice.answer, choice.effect));
            lines.extend(shown.map(|line| text::clean_line(&line).into_owned()));
        }
        if request.kind == RequestKind::Escalation {
            lines.extend(ways_out(request));
        }
        if shows_details(&request.kind) {
            let shown = |detail: &RequestDetail| {
                text::clean_line(&format!("   {}: {}", detail.label, detail.text)).into_owned()
            };
            lines.extend(request.verbatim.iter().flat_map(drafted_commands::verbatim_lines));
            lines.extend(request.details.iter().map(shown));
            let replies = format!("   replies: {}", reply::reply_options(request).join(", "));
            lines.push(text::clean_line(&replies).into_owned());
        }
    }
    for (id, row) in state.tasks.iter() {
        if row.status == TaskStatus::Yours {
            let title = state.title_by_id(id);
            let short = session.short_id();
            let yours = format!(
                "{title} is yours to do. When it is done: planwright today done {short}/{id}"
            );
            lines.push(text::clean_line(&yours).into_owned());
        }
    }
    lines
}
