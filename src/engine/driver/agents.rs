//! Agents at work: what they hand in, what they ask, and how their attempts begin and are cancelled.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Driver, Start, TURN};
use crate::engine::agent::DependencyResult;
use crate::engine::caps;
use crate::engine::controller;
use crate::engine::job::{AgentBrief, Job, TaskRef};
use crate::engine::port::PortMessage;
use crate::event::{ApprovalEvent, Event, PauseCause, PlanningEvent, RunEvent, TaskEvent};
use crate::llm::cost::Ceiling;
use crate::model::{Answer, CallId, Cap, Failure, Request, RequestId, RequestKind};

impl Driver {
    pub(super) fn on_port(&mut self, message: PortMessage) {
        match message {
            PortMessage::Say(event) => self.say(*event),
            PortMessage::Commit(event, beside, done) => {
                self.say(*event);
                self.beside.extend(beside);
                self.starts.push(Start::Durable(done));
            }
            PortMessage::Ask(request, answer) => self.on_ask(request, answer),
            PortMessage::Barrier(done) => {
                let _ = done.send(());
            }
            PortMessage::Progress(task, told) => {
                let _ = told.send(self.state.agents.get(&task).cloned());
            }
        }
    }

    /// Puts a question to the person. One that was put before this process began is still on its card, and may have
    /// been answered by now: it is not put twice.
    fn on_ask(&mut self, mut request: Box<Request>, answer: oneshot::Sender<Answer>) {
        let given = self.answered.iter().position(|(earlier, _)| same_question(earlier, &request));
        if let Some(position) = given {
            let (_, given) = self.answered.swap_remove(position);
            self.starts.push(Start::Reply(answer, Box::new(given)));
            return;
        }
        let open = self.state.requests.open.values().find(|open| {
            !self.asked.contains_key(&open.request.id) && same_question(&open.request, &request)
        });
        if let Some(id) = open.map(|open| open.request.id) {
            self.asked.insert(id, answer);
            return;
        }
        request.id = self.state.requests.next_id();
        self.asked.insert(request.id, answer);
        self.say(ApprovalEvent::Asked { request: Arc::from(request) });
    }

    pub(super) fn drain_port(&mut self) {
        for _ in 0..TURN {
            match self.port.try_recv() {
                Ok(message) => self.on_port(message),
                Err(_) => return,
            }
        }
    }

    /// Hands an answer to the agent that waits for it, once it is durable.
    pub(super) fn answer_agent(&mut self, id: RequestId, answer: &Answer) {
        if let Some(waiting) = self.asked.remove(&id) {
            self.starts.push(Start::Reply(waiting, Box::new(answer.clone())));
        } else if let Some(open) = self.state.requests.open.get(&id)
            && is_of_an_agent(&open.request)
        {
            self.answered.push((Arc::clone(&open.request), answer.clone()));
        }
    }

    /// Questions of an attempt that is over no longer make sense.
    pub(super) fn withdraw_asks_of(&mut self, call: &CallId) {
        // Whoever takes the session up again finds the question, and the agent that asked it.
        if self.closing.is_some() {
            return;
        }
        let stale: Vec<RequestId> = self
            .state
            .requests
            .open
            .values()
            .filter(|open| is_of_an_agent(&open.request))
            .filter(|open| {
                open.request.task.as_ref().is_some_and(|task| {
                    *task == call.task || task.as_str().starts_with(&format!("{}.", call.task))
                })
            })
            .map(|open| open.request.id)
            .collect();
        for id in stale {
            self.asked.remove(&id);
            let why = "the attempt is over".to_owned();
            self.say(ApprovalEvent::Withdrawn { id, why });
        }
    }

    /// Begins an attempt of an agent. Its own calls are journaled one by one; the attempt as a whole has no intent.
    pub(super) fn begin_agent(&mut self, task: usize, node: &TaskRef, attempt: u32) {
        let call = CallId { task: node.id.clone(), attempt, step: 0 };
        self.running.insert(call.clone(), CancellationToken::new());
        let context = self
            .state
            .tasks
            .dependencies(task)
            .map(|on| {
                let id = self.state.tasks.id(on).clone();
                DependencyResult {
                    title: self.node(on).map(|node| node.description.clone()).unwrap_or_default(),
                    outcome: self.state.tasks.row(on).status.word().to_owned(),
                    answer: self.state.agents.answer(&id).unwrap_or_default().to_owned(),
                    task: id,
                }
            })
            .collect();
        let brief = AgentBrief {
            goal: self.state.session.goal.clone(),
            context,
            past: self.state.agents.unfinished(&node.id).cloned(),
        };
        let job = Job {
            session: self.journal.session().clone(),
            call,
            task: node.clone(),
            workspace: std::path::PathBuf::from(&self.state.session.workspace),
            brief: Some(Box::new(brief)),
        };
        self.starts.push(Start::Job(Box::new(job)));
    }

    /// Ends the attempt that a call belongs to, whichever of its steps is named.
    pub(super) fn cancel_attempt(&self, call: &CallId) {
        let same = |other: &&CallId| other.task == call.task && other.attempt == call.attempt;
        for running in self.running.keys().filter(same) {
            if let Some(cancel) = self.running.get(running) {
                cancel.cancel();
            }
        }
    }

    /// A model that may not spend more has not failed: the task waits, and the person is asked about the limit.
    pub(super) fn hold_for_money(&mut self, call: &CallId, failure: &Failure) {
        let task = call.task.clone();
        self.say(TaskEvent::Reset { task, why: failure.message.clone() });
        if !matches!(self.state.run.phase, crate::state::RunPhase::Running) {
            return;
        }
        let cap = if failure.message.contains("run_token_limit") {
            Cap::RunTokenLimit
        } else {
            Cap::BudgetPerSessionUsd
        };
        let now = (self.options.clock)();
        let used = caps::used(&self.state, cap, now);
        let limit = match cap {
            Cap::RunTokenLimit => self.options.caps.tokens,
            _ => self.options.caps.session_cost.0,
        };
        let id = self.state.requests.next_id();
        let mut request = controller::requests::cap(id, &self.state, cap, used, limit);
        request
            .details
            .push(crate::model::request::Detail::new("next call", failure.message.clone()));
        self.say(RunEvent::Paused(PauseCause::Cap { cap }));
        self.say(ApprovalEvent::Asked { request: Arc::new(request) });
    }

    /// Keeps the books of the models in step with what was decided.
    pub(super) fn follow_books(&self, event: &Event) {
        let Some(ledger) = &self.options.ledger else { return };
        if let Event::Planning(PlanningEvent::Moved { outcome, .. }) = event {
            for ceiling in [Ceiling::Session, Ceiling::Turn, Ceiling::Day] {
                match outcome.as_str() {
                    // As much again as a session may cost.
                    "raise_once" => {
                        let more = self.options.caps.session_cost.0;
                        ledger.limit(ceiling, Some(ledger.spent(ceiling).saturating_add(more)));
                    }
                    "raise_for_the_session" => ledger.limit(ceiling, None),
                    _ => {}
                }
            }
        }
        if let Event::Run(RunEvent::CapRaised { cap, to }) = event {
            let ceilings: &[Ceiling] = match cap {
                Cap::RunTokenLimit => &[Ceiling::Tokens],
                Cap::BudgetPerSessionUsd => &[Ceiling::Session, Ceiling::Day],
                Cap::RunWallTimeMin => &[],
            };
            for ceiling in ceilings {
                ledger.limit(*ceiling, *to);
            }
        }
    }
}

/// Whether an agent waits for the answer.
fn is_of_an_agent(request: &Request) -> bool {
    matches!(request.kind, RequestKind::Permission { .. } | RequestKind::TaskCap { .. })
}

/// Whether two questions ask for the same call, byte for byte, in whichever attempt.
fn same_question(one: &Request, other: &Request) -> bool {
    let bound = |request: &Request| match &request.kind {
        RequestKind::Permission { tool, binding: Some(binding), .. } => {
            Some((tool.clone(), binding.clone()))
        }
        _ => None,
    };
    one.task == other.task && bound(one).is_some_and(|one| bound(other) == Some(one))
}
