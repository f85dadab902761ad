//! Linear mode: the same session as lines of text, the same decisions asked at a prompt.
//!
//! One line is one fact. No cursor movement, no colour, no box drawing, nothing is drawn twice; every decision is a word
//! typed in full, and an unknown word decides nothing.

mod lines;
mod typed;
mod words;

use std::io::{self, Write};
use std::time::Instant;

use jiff::tz::TimeZone;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use self::lines::{command_lines, entry_line, request_lines, status_lines, task_lines, wrapped};
use self::typed::{TypedLine, accepts_answer, typed_lines};
use self::words::{Meaning, meaning};
use super::panes::approval::assumed_words;
use super::{Exit, ExitReason, SessionView, TuiError};
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
pub async fn run_plain(view: SessionView, time_zone: TimeZone) -> Result<Exit, TuiError> {
    let typed = typed_lines();
    let mut plain = Plain::new(view, time_zone);
    say(&format!("Planwright, linear mode. Session {}.", plain.id))?;
    say("Type h for help, s for status, q to quit. Nothing runs before you approve it.")?;
    let reason = plain.follow(typed).await?;
    Ok(Exit { reason, open: None, summary: plain.summary() })
}

/// Prints text that must be seen byte for byte: it is not wrapped, which would drop spaces.
fn say_verbatim(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints one fact.
fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in wrapped(text) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

struct Plain {
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

impl Plain {
    fn new(view: SessionView, time_zone: TimeZone) -> Self {
        let SessionView { id, history, head, commands, .. } = view;
        Self {
            id: id.short().to_owned(),
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

    fn prompt(&self) -> io::Result<()> {
        let word = match self.request().map(|request| &request.kind) {
            None => "> ",
            Some(RequestKind::Questions { .. } | RequestKind::Goal) => "answer, or skip> ",
            Some(_) => "choice> ",
        };
        let mut out = io::stdout().lock();
        write!(out, "{word}")?;
        out.flush()
    }

    fn request(&self) -> Option<&Request> {
        self.state.requests.oldest().map(|open| &*open.request)
    }

    async fn follow(
        &mut self,
        mut typed: mpsc::Receiver<TypedLine>,
    ) -> Result<ExitReason, TuiError> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut quit = signal(SignalKind::quit())?;
        loop {
            self.pull()?;
            if self.is_over() {
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
                        if let Some(reason) = self.take(&line).await? {
                            return Ok(reason);
                        }
                    }
                    None => return Ok(ExitReason::Quit),
                },
            }
        }
    }

    /// Prints what is new, then the request that waits.
    fn pull(&mut self) -> Result<(), TuiError> {
        let announced = *self.head.borrow_and_update();
        let head = self.history.head()?.max(announced);
        let mut said = false;
        while self.state.seq < head {
            let Some(record) = self.history.record(self.state.seq.next())? else { break };
            self.state.apply(&record);
            if let Some(entry) = TraceEntry::of(&record) {
                say(&entry_line(&entry, &self.time_zone))?;
                said = true;
            }
        }
        let open = self.request().map(|request| request.id);
        if open != self.asked {
            self.asked = open;
            self.answers.clear();
            if let Some(request) = self.request() {
                for line in command_lines(request, &self.state) {
                    say_verbatim(&line)?;
                }
                for line in request_lines(request, &self.state) {
                    say(&line)?;
                }
                self.say_question()?;
                said = true;
            }
            self.asked_at = Some(Instant::now());
        }
        if said { Ok(self.prompt()?) } else { Ok(()) }
    }

    fn is_over(&self) -> bool {
        let ended = matches!(self.state.run.phase, RunPhase::Finished { .. });
        (ended || self.state.plan.abandoned) && self.request().is_none()
    }

    fn questions(&self) -> Option<Vec<PlanQuestion>> {
        match &self.request()?.kind {
            RequestKind::Questions { questions } => Some(questions.clone()),
            _ => None,
        }
    }

    /// The question that comes next, where several are put.
    fn say_question(&self) -> io::Result<()> {
        let Some(questions) = self.questions() else { return Ok(()) };
        let at = self.answers.len();
        let Some(question) = questions.get(at) else { return Ok(()) };
        say(&format!("Question {} of {}: {}", at + 1, questions.len(), question.text))?;
        for choice in &question.choices {
            let effect = if choice.effect.is_empty() { "" } else { ": " };
            say(&format!("  For instance {}{effect}{}.", choice.answer, choice.effect))?;
        }
        say(&format!("  Assumed if skipped: {}.", assumed_words(question)))
    }

    async fn take(&mut self, typed: &TypedLine) -> Result<Option<ExitReason>, TuiError> {
        match typed.text.trim() {
            "" => {}
            "q" | "quit" => return Ok(Some(ExitReason::BackToList)),
            "h" | "help" => {
                for line in HELP {
                    say(line)?;
                }
            }
            "s" | "status" => {
                for line in status_lines(&self.state) {
                    say(&line)?;
                }
            }
            "list" => {
                for line in task_lines(&self.state) {
                    say(&line)?;
                }
            }
            "policy" => {
                for dial in super::policy::DIALS {
                    let policy = self.state.planning.policy();
                    let effect = dial.effect(&policy, &self.state.planning);
                    say(&format!("{}: {}. {effect}.", dial.name(), dial.value(&policy)))?;
                }
            }
            _ if self.request().is_some() && !accepts_answer(self.asked_at, typed.at) => {
                say(
                    "That was typed before the request was shown, so it decides nothing. Read it and type the answer again.",
                )?;
            }
            line => return self.decide(line).await,
        }
        self.prompt()?;
        Ok(None)
    }

    async fn decide(&mut self, line: &str) -> Result<Option<ExitReason>, TuiError> {
        if let Some(questions) = self.questions() {
            return self.answer_question(&questions, line).await;
        }
        let wish = match meaning(line, self.request(), &self.state) {
            Meaning::Answer { id, answer } => Command::Answer { id, answer, by: Actor::Person },
            Meaning::Command(command) => command,
            Meaning::Unknown(remedy) => {
                say(&remedy)?;
                self.prompt()?;
                return Ok(None);
            }
        };
        self.send(wish).await
    }

    /// Takes the answer to one question; after the last one all are sent together.
    async fn answer_question(
        &mut self,
        questions: &[PlanQuestion],
        line: &str,
    ) -> Result<Option<ExitReason>, TuiError> {
        let Some(id) = self.request().map(|request| request.id) else { return Ok(None) };
        if line == "cancel" {
            let answer = Answer::from(ChoiceAction::Abandon);
            return self.send(Command::Answer { id, answer, by: Actor::Person }).await;
        }
        if let Some(question) = questions.get(self.answers.len()) {
            let answer = if line == "skip" { String::new() } else { line.to_owned() };
            self.answers.push((question.key.clone(), answer));
        }
        if self.answers.len() < questions.len() {
            self.say_question()?;
            self.prompt()?;
            return Ok(None);
        }
        let answers = std::mem::take(&mut self.answers).into_iter().collect();
        let answer = Answer { answers, ..Answer::from(ChoiceAction::Reply) };
        self.send(Command::Answer { id, answer, by: Actor::Person }).await
    }

    async fn send(&mut self, command: Command) -> Result<Option<ExitReason>, TuiError> {
        let Some(commands) = &self.commands else {
            say("This session is only looked at; nothing can be decided here.")?;
            return Ok(None);
        };
        let sent = commands.send(command).await.is_ok();
        Ok((!sent).then_some(ExitReason::Quit))
    }

    fn summary(&self) -> String {
        let counts = self.state.tasks.counts();
        // Leaving interrupts what this process carries on.
        let status = if self.state.run.is_active() {
            SessionStatus::Interrupted
        } else {
            self.state.status()
        };
        format!(
            "Session {} saved: {}, {} of {} done, cost {}.\n{}",
            self.id,
            status.word(),
            counts.done,
            counts.total(),
            self.state.totals.cost,
            status.next_step(&self.id)
        )
    }
}
