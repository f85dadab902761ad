//! One turn: a prompt goes out, and everything the agent does until it answers is taken in.
//!
//! Nothing here waits for a person: questions are put beside the reading, several at once if the agent likes, and each
//! is answered when its answer is there.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::attempt::{OwnAgentAttempt, lock};
use super::connection::{AgentMessage, METHOD_NOT_FOUND, RequestError};
use super::live_agent::{LiveAgent, is_sign_in_error, sign_in_failure};
use crate::event_sink::PAUSE;
use planwright_model::requests::agent_silent_request;
use planwright_model::{Category, ChoiceAction, ExecutionFailure, RequestId};

/// How long an agent may take to answer after it was told to cancel.
const CANCEL_TIME: Duration = Duration::from_secs(3);

/// Why a turn ended, by the agent's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnStop {
    Done,
    /// At a limit of tokens or requests.
    AtLimit,
    Refused,
    Cancelled,
}

/// How a turn ended.
pub(super) enum TurnEnd {
    /// The agent answered; these were its last words.
    Over {
        stop: TurnStop,
        words: String,
    },
    /// The attempt was cancelled.
    Cancelled,
    /// The attempt is to end, whatever the agent would do next.
    Stopped(ExecutionFailure),
    Broken(RequestError),
}

/// Work for the agent that goes on beside the reading.
pub(super) type TurnWork<'w> = FuturesUnordered<BoxFuture<'w, ()>>;

impl OwnAgentAttempt<'_> {
    pub(super) async fn run_turn(&self, live: &mut LiveAgent, prompt: &str) -> TurnEnd {
        self.text.begin();
        let LiveAgent { connection, incoming, session, .. } = live;
        let session = session.id.clone();
        let params = json!({
            "sessionId": session,
            "prompt": [{ "type": "text", "text": prompt }],
        });
        let answer = connection.request("session/prompt", params);
        tokio::pin!(answer);
        let mut work: TurnWork<'_> = FuturesUnordered::new();
        let mut pauses = tokio::time::interval(PAUSE);
        let mut heard = Instant::now();
        let mut cancelled: Option<Instant> = None;
        let cancel = || connection.notify("session/cancel", json!({ "sessionId": session }));
        let interrupted = self.run.services.person.interruption(&self.run.job.task.id);
        tokio::pin!(interrupted);
        let mut may_interrupt = true;
        let answered = loop {
            let stop = lock(&self.stop).is_some() || self.run.cancel.is_cancelled();
            if stop && cancelled.is_none() {
                cancelled = Some(Instant::now());
                cancel();
            }
            let patience = cancelled.map(|since| since + CANCEL_TIME);
            tokio::select! {
                biased;
                Some(message) = incoming.recv() => {
                    heard = Instant::now();
                    self.on_message(message, &mut work);
                }
                answered = &mut answer => break Some(answered),
                Some(()) = work.next(), if !work.is_empty() => heard = Instant::now(),
                () = self.run.cancel.cancelled(), if cancelled.is_none() => {}
                () = &mut interrupted, if may_interrupt && cancelled.is_none() => {
                    may_interrupt = false;
                    cancel();
                }
                _ = pauses.tick() => {
                    self.record_pieces(self.text.flush());
                    let silent = heard.elapsed() >= self.agent.silence && work.is_empty();
                    if silent && cancelled.is_none() {
                        work.push(Box::pin(self.ask_about_silence(heard.elapsed())));
                    }
                }
                () = sleep_until(patience), if patience.is_some() => break None,
            }
        };
        // What came before the answer was read before it.
        while let Ok(message) = incoming.try_recv() {
            self.on_message(message, &mut work);
        }
        drop(work);
        self.terminals.end_all();
        self.record_pieces(self.text.finish());
        self.record_refused_hosts();
        self.record_left_out(connection.report().left_out());
        self.turn_end(answered)
    }

    fn turn_end(&self, answered: Option<Result<Value, RequestError>>) -> TurnEnd {
        if let Some(failure) = lock(&self.stop).take() {
            return TurnEnd::Stopped(failure);
        }
        if self.run.cancel.is_cancelled() {
            return TurnEnd::Cancelled;
        }
        let words = self.text.words();
        match answered {
            Some(Ok(answer)) => {
                self.record_turn_usage(&answer);
                match answer.get("stopReason").and_then(Value::as_str) {
                    Some("max_tokens" | "max_turn_requests") => {
                        TurnEnd::Over { stop: TurnStop::AtLimit, words }
                    }
                    Some("refusal") => TurnEnd::Over { stop: TurnStop::Refused, words },
                    Some("cancelled") => TurnEnd::Over { stop: TurnStop::Cancelled, words },
                    _ => TurnEnd::Over { stop: TurnStop::Done, words },
                }
            }
            Some(Err(RequestError::Refused { code, message })) => {
                if is_sign_in_error(code, &message) {
                    return TurnEnd::Stopped(sign_in_failure(self.agent, &message));
                }
                let title = self.agent.title();
                let message = self.run.redact_text(&format!("{title} reports an error: {message}"));
                TurnEnd::Stopped(ExecutionFailure::new(
                    "agent_error",
                    Category::Recoverable,
                    message,
                ))
            }
            Some(Err(error)) => TurnEnd::Broken(error),
            None => TurnEnd::Cancelled,
        }
    }

    fn on_message<'w>(&'w self, message: AgentMessage, work: &mut TurnWork<'w>) {
        match message {
            AgentMessage::Notification { method, params } => {
                if method == "session/update" {
                    self.on_update(params.get("update").unwrap_or(&Value::Null));
                }
            }
            AgentMessage::Request { method, params, reply } => match method.as_str() {
                "session/request_permission" => {
                    work.push(Box::pin(self.answer_permission(params, reply)));
                }
                "fs/read_text_file" => work.push(Box::pin(self.read_file(params, reply))),
                "fs/write_text_file" => work.push(Box::pin(self.write_file(params, reply))),
                "terminal/create" => work.push(Box::pin(self.create_terminal(params, reply))),
                "terminal/output" => self.terminals.answer_output(&params, reply),
                "terminal/wait_for_exit" => self.terminals.answer_at_exit(&params, reply),
                "terminal/kill" => self.terminals.answer_kill(&params, reply),
                "terminal/release" => self.terminals.answer_release(&params, reply),
                _ => reply.refuse(METHOD_NOT_FOUND, &format!("{method} is not offered here")),
            },
        }
    }

    /// Asks whether to go on waiting for an agent that says nothing. Time in which a person decides is no silence.
    async fn ask_about_silence(&self, silent: Duration) {
        let request = agent_silent_request(
            RequestId::UNASSIGNED,
            &self.run.job.task,
            self.agent.title(),
            silent.as_secs() / 60,
        );
        let answer = self.run.services.person.ask_person(request).await;
        let code = match answer.map(|answer| answer.action) {
            Some(ChoiceAction::GoOn) => return,
            Some(ChoiceAction::HandToMe) => crate::conversation::HANDED_OVER,
            _ => "agent_silent",
        };
        let minutes = silent.as_secs() / 60;
        let message = format!("{} said nothing for {minutes} min", self.agent.title());
        *lock(&self.stop) = Some(ExecutionFailure::new(code, Category::Recoverable, message));
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
