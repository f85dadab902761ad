//! Plain mode: the same session as lines of text, the same decisions asked at a prompt.
//!
//! One line is one fact. No cursor movement, no colour, no box drawing, nothing is drawn twice; every decision is a word
//! typed in full, and an unknown word decides nothing. What is asked about is printed whole before it is asked.

mod line_meaning;
mod lines;
mod typed;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use self::line_meaning::{LineMeaning, interpret_line, interpret_question_word};
use self::lines::{
    PlanVersion, all_phrases, asks_about_rows, entry_line, fact_lines, is_machine_step,
    request_lines, status_lines, version_lines, waiting_line, wrap_fact,
};
use self::typed::{LineSource, TypedLine, accepts_answer, read_typed_lines};
use super::panes::approval::assumed_text;
use super::plan_text::{
    PlanTextRow, PrintedLine, goal_lines, plan_rows, printed_plan, printed_row_by_number,
};
use super::{ExitReason, SessionExit, SessionView, TuiError};
use planwright_model::event::{ApprovalEvent, Command, Event, PlanEvent};
use planwright_model::{
    Actor, Answer, ChoiceAction, PlanQuestion, Request, RequestId, RequestKind, Seq,
};
use planwright_state::replay::History;
use planwright_state::trace::TraceEntry;
use planwright_state::{RunPhase, SessionState, SessionStatus};
use planwright_text::clean_line;

const HELP: [&str; 8] = [
    "help, status, quit: what you can type, where it stands, leave.",
    "list: the plan, row by row. show 2.1: one row. versions: the drafts so far.",
    "edit 2.1 title: (words), edit 2.1 time: 2 h, edit 2.1 done when: (words).",
    "facts: what you said. correct 3: (words), withdraw 3: the plan follows.",
    "propose changes: (your words). policy: how often you are asked.",
    "undo, redo: the last change. cancel asks before it discards; restore brings the plan back.",
    "run, pause, resume; detach leaves it running. done 2.1, retry 2.1, skip 2.1, or an id.",
    "A question is answered by one of its choices, typed in full.",
];

/// How long lines of a pipe wait for what the command before them does. A command that changes nothing is not recorded.
const PIPE_PATIENCE: Duration = Duration::from_secs(1);

/// Follows a session in lines until it is over or the person leaves it.
pub async fn run_plain(view: SessionView, time_zone: TimeZone) -> Result<SessionExit, TuiError> {
    let typed = read_typed_lines();
    let mut plain = PlainSession::new(view, time_zone);
    print_fact(&format!("Planwright, plain mode. This plan is {}.", plain.id))?;
    print_fact("Type help, status or quit. Nothing runs before you approve it.")?;
    let reason = plain.follow_session(typed).await?;
    Ok(SessionExit { reason, open: None, summary: plain.summary() })
}

/// Never ends without a moment.
async fn wait_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

fn print_lines(lines: &[PrintedLine]) -> io::Result<()> {
    for line in lines {
        match line {
            PrintedLine::Fact(text) => print_fact(text)?,
            PrintedLine::Exact(text) => print_verbatim(text)?,
        }
    }
    Ok(())
}

/// Prints text that must be seen byte for byte: it is not wrapped, which would drop spaces.
fn print_verbatim(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints one fact.
fn print_fact(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in wrap_fact(text) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

struct PlainSession {
    id: String,
    /// Another process works on the run.
    is_attached: bool,
    /// The run can go on in this process without its terminal.
    detaches: bool,
    history: History,
    head: watch::Receiver<Seq>,
    commands: Option<mpsc::Sender<Command>>,
    state: SessionState,
    time_zone: TimeZone,
    /// The request that was last printed.
    asked: Option<RequestId>,
    /// When that was.
    asked_at: Option<Instant>,
    /// Answers to questions that are put one by one.
    answers: Vec<(String, String)>,
    /// Where lines come from.
    source: LineSource,
    /// When a command was sent of which nothing came back yet.
    sent_at: Option<Instant>,
    /// Discarding was typed and waits for a second word.
    confirms_discard: bool,
    /// The rows of the plan as they were last printed.
    printed: Vec<PlanTextRow>,
    /// The goal whose reading was printed.
    read_goal: String,
    versions: Vec<PlanVersion>,
}

impl PlainSession {
    fn new(view: SessionView, time_zone: TimeZone) -> Self {
        let SessionView { id, history, head, commands, note, detaches, .. } = view;
        Self {
            is_attached: note.is_some(),
            detaches,
            id: id.short_id().to_owned(),
            history,
            head,
            commands,
            state: SessionState::default(),
            time_zone,
            asked: None,
            asked_at: None,
            answers: Vec::new(),
            source: LineSource::from_stdin(),
            sent_at: None,
            confirms_discard: false,
            printed: Vec::new(),
            read_goal: String::new(),
            versions: Vec::new(),
        }
    }

    fn print_prompt(&self) -> io::Result<()> {
        let word = match self.open_request().map(|request| &request.kind) {
            _ if self.confirms_discard => "discard, or keep> ",
            None => "> ",
            Some(RequestKind::Questions { .. } | RequestKind::Goal) => "answer, or skip> ",
            Some(_) => "choice> ",
        };
        let mut out = io::stdout().lock();
        write!(out, "{word}")?;
        out.flush()
    }

    fn open_request(&self) -> Option<&Request> {
        self.state.requests.oldest_open().map(|open| &*open.request)
    }

    async fn follow_session(
        &mut self,
        mut typed: mpsc::Receiver<TypedLine>,
    ) -> Result<ExitReason, TuiError> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut quit = signal(SignalKind::quit())?;
        loop {
            self.print_new_records()?;
            if self.is_finished() {
                return Ok(ExitReason::Quit);
            }
            let mut head = self.head.clone();
            tokio::select! {
                biased;
                _ = hang_up.recv() => return Ok(ExitReason::Signal("SIGHUP")),
                _ = terminate.recv() => return Ok(ExitReason::Signal("SIGTERM")),
                _ = interrupt.recv() => return Ok(ExitReason::Signal("SIGINT")),
                _ = quit.recv() => return Ok(ExitReason::Signal("SIGQUIT")),
                changed = head.changed() => {
                    if changed.is_err() {
                        return Ok(ExitReason::Quit);
                    }
                    self.head = head;
                }
                () = wait_until(self.sent_at.map(|at| at + PIPE_PATIENCE)) => self.sent_at = None,
                line = typed.recv(), if self.takes_line() => match line {
                    Some(line) => {
                        if let Some(reason) = self.handle_line(&line).await? {
                            return Ok(reason);
                        }
                    }
                    None => return Ok(ExitReason::Quit),
                },
            }
        }
    }

    /// Prints what is new, then the request that waits.
    fn print_new_records(&mut self) -> Result<(), TuiError> {
        let announced = *self.head.borrow_and_update();
        let head = self.history.head_seq()?.max(announced);
        let mut said = false;
        while self.state.seq < head {
            let Some(record) = self.history.record_at(self.state.seq.next())? else { break };
            self.state.apply(&record);
            self.sent_at = None;
            self.note_version(&record);
            // What was added to the open request is printed with it.
            if let Event::Approval(ApprovalEvent::Amended { .. }) = &record.event {
                self.asked = None;
            }
            if let Some(entry) = TraceEntry::from_record_in(&record, &self.state)
                .filter(|_| !is_machine_step(&record))
            {
                print_fact(&entry_line(&entry, &self.state, &self.time_zone))?;
                said = true;
            } else if let Some(line) = waiting_line(&record, &self.state, &self.time_zone) {
                print_fact(&line)?;
                said = true;
            }
        }
        let open = self.open_request().map(|request| request.id);
        if open != self.asked {
            self.asked = open;
            self.confirms_discard = false;
            self.answers.clear();
            if let Some(request) = self.open_request().cloned() {
                self.print_goal_reading()?;
                if asks_about_rows(&request.kind) {
                    self.print_plan()?;
                }
                if matches!(request.kind, RequestKind::Questions { .. }) {
                    self.print_question()?;
                } else {
                    print_lines(&request_lines(&request, &self.state))?;
                }
                said = true;
            }
            self.asked_at = Some(Instant::now());
        }
        if said && self.is_discarded() {
            print_fact("The plan is discarded. Type restore to bring it back, or quit.")?;
        }
        if said { Ok(self.print_prompt()?) } else { Ok(()) }
    }

    /// Prints what was read of the goal and what was not, once, before anything is asked about it.
    fn print_goal_reading(&mut self) -> io::Result<()> {
        let planning = &self.state.planning;
        if !planning.begun || self.read_goal == planning.goal {
            return Ok(());
        }
        for (label, text) in goal_lines(&self.state, self.today()) {
            let text = clean_line(text.trim_end_matches('.')).replace(" · ", ", ");
            print_fact(&match label {
                "" => format!("{text}."),
                label => format!("{label}: {text}."),
            })?;
        }
        self.read_goal.clone_from(&self.state.planning.goal);
        Ok(())
    }

    /// Prints the plan, or what changed since it was printed last.
    fn print_plan(&mut self) -> io::Result<()> {
        let before = Some(self.printed.as_slice()).filter(|rows| !rows.is_empty());
        print_lines(&printed_plan(&self.state, before, &self.time_zone, self.today()))?;
        self.printed = plan_rows(&self.state, &self.time_zone);
        Ok(())
    }

    /// The reader's day: that of the last event, which is now while a session is open.
    fn today(&self) -> jiff::civil::Date {
        let at = self.state.at.unwrap_or_default();
        at.to_zoned(self.time_zone.clone()).date()
    }

    fn note_version(&mut self, record: &planwright_model::event::Record) {
        if let Event::Plan(PlanEvent::Proposed { plan, .. }) = &record.event {
            let tasks = plan.tasks.iter().filter(|task| !task.marks_point()).count();
            let number = self.state.draft_number();
            // Edits by hand belong to the draft they change.
            self.versions.retain(|version| version.number < number);
            self.versions.push(PlanVersion { number, tasks, at: record.at });
        }
    }

    /// Whether a line may be taken now. A person may type at any time; lines of a pipe stay in it until something was
    /// printed that they can answer, so that none is lost on what came before.
    fn takes_line(&self) -> bool {
        if self.source == LineSource::Terminal {
            return true;
        }
        let works = self.state.planning.is_working()
            || self.state.run.is_active() && !self.state.tasks.is_waiting_for_person();
        self.sent_at.is_none() && (self.open_request().is_some() || !works)
    }

    /// A discarded plan is not over: it can be restored.
    fn is_finished(&self) -> bool {
        let ended = matches!(self.state.run.phase, RunPhase::Finished { .. });
        ended && self.open_request().is_none()
    }

    fn is_discarded(&self) -> bool {
        self.state.status() == SessionStatus::Abandoned
    }

    fn open_questions(&self) -> Option<Vec<PlanQuestion>> {
        match &self.open_request()?.kind {
            RequestKind::Questions { questions } => Some(questions.clone()),
            _ => None,
        }
    }

    /// The question that comes next, where several are put.
    fn print_question(&self) -> io::Result<()> {
        let Some(questions) = self.open_questions() else { return Ok(()) };
        let at = self.answers.len();
        let Some(question) = questions.get(at) else { return Ok(()) };
        print_fact(&format!("Question {} of {}: {}", at + 1, questions.len(), question.text))?;
        let request = self.open_request();
        // Of several questions each has a reason of its own.
        let asks_kind = question.key == planwright_model::requests::KIND_QUESTION;
        let why = match request.filter(|_| questions.len() == 1) {
            Some(request) if asks_kind => request.why.clone(),
            Some(_) => question.describe_reason(self.today()),
            None => question.changes.clone(),
        };
        if !why.is_empty() {
            print_fact(&format!("  {why}"))?;
        }
        for choice in &question.choices {
            let effect = if choice.effect.is_empty() { "" } else { ": " };
            print_fact(&format!("  {}{effect}{}.", choice.answer, choice.effect))?;
        }
        let assumed = assumed_text(question, self.today());
        let first = if question.choices.is_empty() { "" } else { "one of these, " };
        let ideas = request.is_some_and(|request| {
            request.choices.iter().any(|choice| choice.action == ChoiceAction::Ideas)
        });
        let ideas = if ideas { ", ideas" } else { "" };
        print_fact(&format!(
            "  Choices: {first}your own words, skip (assumes {assumed}){ideas}, policy, cancel (discard), or help."
        ))
    }

    /// Leaves the run to itself, or says why it cannot be left.
    fn detach_run(&self) -> Result<Option<ExitReason>, TuiError> {
        let refused = if !self.state.goes_on_by_itself() {
            "Nothing is running."
        } else if self.is_attached {
            return Ok(Some(ExitReason::Quit));
        } else if self.state.waiting_for_terminal().is_some() {
            "A task needs this terminal, so the run can't leave it."
        } else if self.detaches {
            return Ok(Some(ExitReason::Detached));
        } else {
            "This run can't leave its terminal."
        };
        print_fact(refused)?;
        Ok(None)
    }

    async fn handle_line(&mut self, typed: &TypedLine) -> Result<Option<ExitReason>, TuiError> {
        match typed.text.trim() {
            "" => {}
            "q" | "quit" => return Ok(Some(ExitReason::BackToList)),
            "detach" => return self.detach_run(),
            "h" | "?" | "help" => {
                for line in HELP {
                    print_fact(line)?;
                }
            }
            "s" | "status" => {
                for line in status_lines(&self.state) {
                    print_fact(&line)?;
                }
            }
            "list" => {
                let lines = printed_plan(&self.state, None, &self.time_zone, self.today());
                if lines.is_empty() {
                    print_fact("There is no plan yet. Rows appear once it is drafted.")?;
                }
                print_lines(&lines)?;
            }
            "facts" => {
                for line in fact_lines(&self.state, self.today()) {
                    print_fact(&line)?;
                }
            }
            "versions" => {
                for line in version_lines(&self.versions, &self.time_zone, self.today()) {
                    print_fact(&line)?;
                }
            }
            "policy" => {
                let planning = &self.state.planning;
                let policy = planning.interaction_policy();
                for dial in super::policy_dials::policy_dials(&policy, planning) {
                    let value = format!(" {}.", dial.value);
                    print_fact(&format!("{}:{value} {}.", dial.name, dial.effect))?;
                }
            }
            _ if self.is_too_early(typed) => {
                print_fact(
                    "You typed that before the question was shown, so it decides nothing. Read it and type the answer again.",
                )?;
            }
            line => return self.handle_decision(line).await,
        }
        self.print_prompt()?;
        Ok(None)
    }

    /// Whether a person typed a line before they could read what it would answer.
    fn is_too_early(&self, typed: &TypedLine) -> bool {
        self.source == LineSource::Terminal
            && self.open_request().is_some()
            && !accepts_answer(self.asked_at, typed.at)
    }

    async fn handle_decision(&mut self, line: &str) -> Result<Option<ExitReason>, TuiError> {
        if std::mem::take(&mut self.confirms_discard) {
            return self.confirm_discard(line).await;
        }
        if self.discards(line) {
            self.confirms_discard = true;
            print_fact("Discard this plan? Nothing is deleted, and restore brings it back.")?;
            print_fact("  Choices: discard, or keep.")?;
            self.print_prompt()?;
            return Ok(None);
        }
        if let Some(questions) = self.open_questions() {
            return self.answer_question(&questions, line).await;
        }
        let request = match interpret_line(line, self.open_request(), &self.state) {
            LineMeaning::Answer { id, answer } => Command::Answer { id, answer, by: Actor::Person },
            LineMeaning::Command(command) => command,
            LineMeaning::Show(number) => {
                let (zone, today) = (&self.time_zone, self.today());
                if let Some(lines) = printed_row_by_number(&self.state, &number, zone, today) {
                    print_lines(&lines)?;
                }
                self.print_prompt()?;
                return Ok(None);
            }
            LineMeaning::Unknown(remedy) => {
                print_fact(&remedy)?;
                self.print_prompt()?;
                return Ok(None);
            }
        };
        self.send_command(request).await
    }

    /// Whether a line asks to discard the plan.
    fn discards(&self, line: &str) -> bool {
        let wanted = match self.open_request() {
            Some(request) => interpret_question_word(line, request)
                .is_some_and(|answer| answer.action == ChoiceAction::Abandon),
            None => false,
        };
        wanted && self.commands.is_some()
    }

    /// Discards the plan at the second word, or keeps it and puts the question again.
    async fn confirm_discard(&mut self, line: &str) -> Result<Option<ExitReason>, TuiError> {
        let Some(id) = self.open_request().map(|request| request.id) else { return Ok(None) };
        if matches!(line, "discard" | "yes" | "cancel") {
            let answer = Answer::from(ChoiceAction::Abandon);
            return self.send_command(Command::Answer { id, answer, by: Actor::Person }).await;
        }
        print_fact("Kept. Nothing has changed.")?;
        if self.open_questions().is_some() {
            self.print_question()?;
        } else if let Some(request) = self.open_request() {
            print_fact(&request.question)?;
            print_fact(&format!("  Choices: {}.", all_phrases(request, &self.state)))?;
        }
        self.print_prompt()?;
        Ok(None)
    }

    /// Takes the answer to one question; after the last one all are sent together.
    async fn answer_question(
        &mut self,
        questions: &[PlanQuestion],
        line: &str,
    ) -> Result<Option<ExitReason>, TuiError> {
        let Some(id) = self.open_request().map(|request| request.id) else { return Ok(None) };
        let request = self.open_request();
        let chosen = request.and_then(|request| interpret_question_word(line, request));
        // A single question that is skipped is the choice of that name.
        let skips = matches!(&chosen, Some(answer) if answer.action == ChoiceAction::SkipQuestions);
        if let Some(answer) = chosen.filter(|_| !skips || questions.len() == 1) {
            return self.send_command(Command::Answer { id, answer, by: Actor::Person }).await;
        }
        if let Some(question) = questions.get(self.answers.len()) {
            let answer = if skips { String::new() } else { line.to_owned() };
            self.answers.push((question.key.clone(), answer));
        }
        if self.answers.len() < questions.len() {
            self.print_question()?;
            self.print_prompt()?;
            return Ok(None);
        }
        let answers = std::mem::take(&mut self.answers).into_iter().collect();
        let answer = Answer { answers, ..Answer::from(ChoiceAction::Reply) };
        self.send_command(Command::Answer { id, answer, by: Actor::Person }).await
    }

    async fn send_command(&mut self, command: Command) -> Result<Option<ExitReason>, TuiError> {
        let Some(commands) = &self.commands else {
            print_fact(
                "Read-only: another process controls this run. Nothing can be decided here.",
            )?;
            return Ok(None);
        };
        let sent = commands.send(command).await.is_ok();
        self.sent_at = Some(Instant::now());
        Ok((!sent).then_some(ExitReason::Quit))
    }

    fn summary(&self) -> String {
        let counts = self.state.tasks.work_counts();
        // Leaving interrupts what this process carries on.
        let status = if self.state.run.is_active() {
            SessionStatus::Interrupted
        } else {
            self.state.status()
        };
        format!(
            "Saved: {}, {} of {} done, {}.\n{}",
            status.label(),
            counts.done,
            counts.total(),
            self.state.totals.cost,
            status.next_commands(&self.id)
        )
    }
}
