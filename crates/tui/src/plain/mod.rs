//! Linear mode: the same session as lines of text, the same decisions asked at a prompt.
//!
//! One line is one fact. No cursor movement, no colour, no box drawing, nothing is drawn twice; every decision is a word
//! typed in full, and an unknown word decides nothing.

mod line_meaning;
mod lines;
mod typed;

use std::io::{self, Write};
use std::time::Instant;

use jiff::tz::TimeZone;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use self::line_meaning::{LineMeaning, interpret_line};
use self::lines::{command_lines, entry_line, request_lines, status_lines, task_lines, wrap_fact};
use self::typed::{TypedLine, accepts_answer, read_typed_lines};
use super::panes::approval::assumed_text;
use super::{ExitReason, SessionExit, SessionView, TuiError};
use planwright_model::event::Command;
use planwright_model::{
    Actor, Answer, ChoiceAction, PlanQuestion, Request, RequestId, RequestKind, Seq,
};
use planwright_state::replay::History;
use planwright_state::trace::TraceEntry;
use planwright_state::{RunPhase, SessionState, SessionStatus};

const HELP: [&str; 3] = [
    "h help, s status, list the tasks, policy, q quit.",
    "run, pause, go on; done ID, retry ID, skip ID; propose changes: (your words).",
    "An open request is answered by one of its choices, typed in full.",
];

/// Follows a session in lines until it is over or the person leaves it.
pub async fn run_plain(view: SessionView, time_zone: TimeZone) -> Result<SessionExit, TuiError> {
    let typed = read_typed_lines();
    let mut plain = PlainSession::new(view, time_zone);
    print_fact(&format!("Planwright, linear mode. Session {}.", plain.id))?;
    print_fact("Type h for help, s for status, q to quit. Nothing runs before you approve it.")?;
    let reason = plain.follow_session(typed).await?;
    Ok(SessionExit { reason, open: None, summary: plain.summary() })
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
}

impl PlainSession {
    fn new(view: SessionView, time_zone: TimeZone) -> Self {
        let SessionView { id, history, head, commands, .. } = view;
        Self {
            id: id.short_id().to_owned(),
            history,
            head,
            commands,
            state: SessionState::default(),
            time_zone,
            asked: None,
            asked_at: None,
            answers: Vec::new(),
        }
    }

    fn print_prompt(&self) -> io::Result<()> {
        let word = match self.open_request().map(|request| &request.kind) {
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
                line = typed.recv() => match line {
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
            if let Some(entry) = TraceEntry::from_record(&record) {
                print_fact(&entry_line(&entry, &self.time_zone))?;
                said = true;
            }
        }
        let open = self.open_request().map(|request| request.id);
        if open != self.asked {
            self.asked = open;
            self.answers.clear();
            if let Some(request) = self.open_request() {
                for line in command_lines(request, &self.state) {
                    print_verbatim(&line)?;
                }
                for line in request_lines(request, &self.state) {
                    print_fact(&line)?;
                }
                self.print_question()?;
                said = true;
            }
            self.asked_at = Some(Instant::now());
        }
        if said { Ok(self.print_prompt()?) } else { Ok(()) }
    }

    fn is_finished(&self) -> bool {
        let ended = matches!(self.state.run.phase, RunPhase::Finished { .. });
        (ended || self.state.plan.abandoned) && self.open_request().is_none()
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
        for choice in &question.choices {
            let effect = if choice.effect.is_empty() { "" } else { ": " };
            print_fact(&format!("  For instance {}{effect}{}.", choice.answer, choice.effect))?;
        }
        print_fact(&format!("  Assumed if skipped: {}.", assumed_text(question)))
    }

    async fn handle_line(&mut self, typed: &TypedLine) -> Result<Option<ExitReason>, TuiError> {
        match typed.text.trim() {
            "" => {}
            "q" | "quit" => return Ok(Some(ExitReason::BackToList)),
            "h" | "help" => {
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
                for line in task_lines(&self.state) {
                    print_fact(&line)?;
                }
            }
            "policy" => {
                for dial in super::policy_dials::DIALS {
                    let policy = self.state.planning.interaction_policy();
                    let effect = dial.effect_text(&policy, &self.state.planning);
                    print_fact(&format!("{}: {}. {effect}.", dial.name(), dial.value(&policy)))?;
                }
            }
            _ if self.open_request().is_some() && !accepts_answer(self.asked_at, typed.at) => {
                print_fact(
                    "That was typed before the request was shown, so it decides nothing. Read it and type the answer again.",
                )?;
            }
            line => return self.handle_decision(line).await,
        }
        self.print_prompt()?;
        Ok(None)
    }

    async fn handle_decision(&mut self, line: &str) -> Result<Option<ExitReason>, TuiError> {
        if let Some(questions) = self.open_questions() {
            return self.answer_question(&questions, line).await;
        }
        let request = match interpret_line(line, self.open_request(), &self.state) {
            LineMeaning::Answer { id, answer } => Command::Answer { id, answer, by: Actor::Person },
            LineMeaning::Command(command) => command,
            LineMeaning::Unknown(remedy) => {
                print_fact(&remedy)?;
                self.print_prompt()?;
                return Ok(None);
            }
        };
        self.send_command(request).await
    }

    /// Takes the answer to one question; after the last one all are sent together.
    async fn answer_question(
        &mut self,
        questions: &[PlanQuestion],
        line: &str,
    ) -> Result<Option<ExitReason>, TuiError> {
        let Some(id) = self.open_request().map(|request| request.id) else { return Ok(None) };
        if line == "cancel" {
            let answer = Answer::from(ChoiceAction::Abandon);
            return self.send_command(Command::Answer { id, answer, by: Actor::Person }).await;
        }
        if let Some(question) = questions.get(self.answers.len()) {
            let answer = if line == "skip" { String::new() } else { line.to_owned() };
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
            print_fact("This session is only looked at; nothing can be decided here.")?;
            return Ok(None);
        };
        let sent = commands.send(command).await.is_ok();
        Ok((!sent).then_some(ExitReason::Quit))
    }

    fn summary(&self) -> String {
        let counts = self.state.tasks.status_counts();
        // Leaving interrupts what this process carries on.
        let status = if self.state.run.is_active() {
            SessionStatus::Interrupted
        } else {
            self.state.status()
        };
        format!(
            "Session {} saved: {}, {} of {} done, cost {}.\n{}",
            self.id,
            status.label(),
            counts.done,
            counts.total(),
            self.state.totals.cost,
            status.next_commands(&self.id)
        )
    }
}
