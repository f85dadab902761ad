//! The stages of planning: one at a time, each started once what led to it is durable.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{DeferredAction, Driver, panic_text};
use crate::SavedDecision;
use crate::controller::{DriverEffect, planning};
use crate::planner::{Planner, StageResult};
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{PlanState, RequestKind, SessionId};
use planwright_state::PlanningSlice;
use planwright_store::SideWrite;

/// A stage that is being worked on.
#[derive(Debug)]
pub(super) struct StageInFlight {
    number: u64,
    cancel: CancellationToken,
}

/// What a stage's worker has to say; `Done` is the last.
#[derive(Debug)]
pub(super) enum StageUpdate {
    /// Events that are journaled together.
    Record(Vec<Event>),
    /// What it came to. Result and transition are one batch: a process that is killed leaves both or neither.
    Done(StageResult),
    /// Ideas that the person asked for, whatever stage it is.
    Ideas(Vec<Event>),
}

impl Driver {
    /// Has the present state worked on, if it is one and nobody does yet.
    pub(super) fn queue_stage(&mut self) {
        // Before anything is drafted the person says whether a key that was found may be used.
        let consent = |kind: &RequestKind| matches!(kind, RequestKind::Consent { .. });
        let asks = self.state.requests.open.values().any(|open| consent(&open.request.kind));
        if self.stage.is_some() || asks || !self.state.planning.is_working() {
            return;
        }
        self.stages += 1;
        let cancel = CancellationToken::new();
        self.stage = Some(StageInFlight { number: self.stages, cancel });
        self.starts.push(DeferredAction::Stage);
    }

    pub(super) fn start_stage(&mut self) {
        let Some(stage) = &self.stage else { return };
        let (number, cancel) = (stage.number, stage.cancel.clone());
        let Some(planner) = self.options.planner.clone() else {
            self.record(PlanningEvent::Troubled {
                what: "nothing can plan here".to_owned(),
                cap: None,
            });
            self.end_stage(ControllerOutcome::FatalError);
            return;
        };
        if let Some(ledger) = &self.options.ledger {
            ledger.begin_turn();
        }
        let planner = self.planner_beside_others(planner);
        let talk = self.state.planning.clone();
        let now = (self.options.clock)();
        let sender = self.stage_in.clone();
        tokio::spawn(async move {
            // Facts of a stage are few and small; a queue without a bound keeps the model from waiting for the disk.
            let (facts, mut said) = mpsc::unbounded_channel::<Vec<Event>>();
            let say = move |events: Vec<Event>| {
                // The receiver lives as long as the work that calls this.
                let _ = facts.send(events);
            };
            let work = async move {
                match planner.active_model(&talk) {
                    Some(client) => {
                        planner.run_stage_with_model(client, &talk, now, &say, &cancel).await
                    }
                    None => run_stage_blocking(&planner, talk, now).await,
                }
            };
            // Nobody awaits this task: a panic in it has to come back as the end of the stage.
            let work = AssertUnwindSafe(work).catch_unwind().map(|done| {
                done.unwrap_or_else(|panic| crashed_stage(&panic_text(panic.as_ref())))
            });
            tokio::pin!(work);
            let work = loop {
                tokio::select! {
                    biased;
                    Some(events) = said.recv() => {
                        let report = StageUpdate::Record(events);
                        if sender.send((number, report)).await.is_err() {
                            return;
                        }
                    }
                    work = &mut work => break work,
                }
            };
            // A session that has ended takes nothing any more, here and below.
            while let Ok(events) = said.try_recv() {
                let _ = sender.send((number, StageUpdate::Record(events))).await;
            }
            let _ = sender.send((number, StageUpdate::Done(work))).await;
        });
    }

    /// The planner with the other plans as they are now, where the stage gives dates.
    fn planner_beside_others(&self, planner: Arc<Planner>) -> Arc<Planner> {
        let dates = matches!(
            self.state.planning.place.state,
            PlanState::DraftRoadmap | PlanState::DraftSchedule | PlanState::ValidateSchedule
        );
        let others = self.options.other_plans.as_ref().filter(|_| dates);
        match others.and_then(|others| others.current_blocks()) {
            Some(others) => Arc::new(planner.beside(others)),
            None => planner,
        }
    }

    /// Looks for ideas beside the plan; the conversation waits where it is.
    pub(super) fn start_brainstorm(&mut self) {
        let Some(planner) = self.options.planner.clone() else { return };
        let talk = self.state.planning.clone();
        let now = (self.options.clock)();
        let sender = self.stage_in.clone();
        tokio::spawn(async move {
            let facts = std::sync::Mutex::new(Vec::new());
            let say = |events: Vec<Event>| {
                facts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(events);
            };
            let cancel = CancellationToken::new();
            let looking = planner.brainstorm(&talk, now, &say, &cancel);
            let ideas = AssertUnwindSafe(looking)
                .catch_unwind()
                .await
                .unwrap_or_else(|panic| crashed_stage(&panic_text(panic.as_ref())).events);
            let mut events = facts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            events.extend(ideas);
            // A session that has ended takes nothing any more.
            let _ = sender.send((0, StageUpdate::Ideas(events))).await;
        });
    }

    fn on_ideas(&mut self, events: Vec<Event>) {
        let found = events.iter().find_map(|event| match event {
            Event::Planning(PlanningEvent::IdeasOffered { ideas }) => Some(ideas.clone()),
            _ => None,
        });
        for event in events {
            self.record(event);
        }
        if let Some(ideas) = &found {
            let text = planning::requests::ideas_message(&self.state.planning, ideas);
            self.record(PlanningEvent::Said { text });
        }
        // The request stays open, with the ideas as choices; whoever asked for them may answer again.
        for event in planning::amend_with_ideas(&self.state, &found.unwrap_or_default()) {
            self.record(event);
        }
    }

    pub(super) fn on_stage_report(&mut self, number: u64, report: StageUpdate) {
        let overtaken = self.stage.as_ref().is_none_or(|stage| stage.number != number);
        match report {
            StageUpdate::Ideas(events) => self.on_ideas(events),
            // What a stage says after it was cancelled or overtaken no longer counts.
            _ if overtaken => {}
            StageUpdate::Record(events) => {
                for mut event in events {
                    self.assign_agents(&mut event);
                    self.record(event);
                }
            }
            StageUpdate::Done(work) => {
                for mut event in work.events {
                    self.assign_agents(&mut event);
                    if let Event::Planning(PlanningEvent::Traced { step }) = &mut event {
                        // What was spent since the last step was traced, this step spent.
                        let spent = self.state.totals.cost.0;
                        step.cost_delta = spent.saturating_sub(self.state.planning.traced_cost);
                    }
                    self.record(event);
                }
                self.end_stage(work.outcome);
            }
        }
    }

    fn end_stage(&mut self, outcome: ControllerOutcome) {
        self.stage = None;
        let now = (self.options.clock)();
        let events = planning::events_for_outcome(&self.state, outcome, None, now);
        if events.is_empty() {
            let what = format!(
                "planning came to {} in {}, which leads nowhere",
                outcome.as_str(),
                self.state.planning.place
            );
            self.record(planwright_model::event::SessionEvent::AnomalyNoted { what });
            let given_up =
                planning::events_for_outcome(&self.state, ControllerOutcome::Cancel, None, now);
            for event in given_up {
                self.record(event);
            }
            return;
        }
        for event in events {
            self.record(event);
        }
        self.show_overlaps();
    }

    /// What is kept beside the journal when planning comes to something.
    pub(super) fn on_planning_event(&mut self, event: &PlanningEvent) {
        match event {
            PlanningEvent::StyleAsked {} => {
                self.starts.push(DeferredAction::Effect(DriverEffect::SaveDecision(
                    SavedDecision::StyleAsked,
                )));
            }
            PlanningEvent::Moved { to, .. } if to.state == PlanState::Complete => {
                self.side_writes.extend(plan_memory(self.journal.session(), &self.state.planning));
            }
            _ => {}
        }
    }

    /// How long the model that drafts may still work; `None` while none does. How long one of its calls may take is for
    /// the call itself to know.
    pub(super) fn model_timeout(&self) -> Option<std::time::Duration> {
        self.stage.as_ref()?;
        let talk = &self.state.planning;
        self.options.planner.as_ref()?.active_model(talk)?;
        let seconds = i64::try_from(talk.limits.segment_max_sec).ok()?;
        let limit = jiff::SignedDuration::from_secs(seconds);
        let end = talk.segment_began?.saturating_add(limit).ok()?;
        Some(super::duration_until(end, (self.options.clock)()))
    }

    /// The model took too long. What it may still say is not acted on; the person decides.
    pub(super) fn on_model_timeout(&mut self) {
        self.cancel_stage();
        self.end_stage(ControllerOutcome::WallTime);
    }

    pub(super) fn cancel_stage(&mut self) {
        if let Some(stage) = self.stage.take() {
            stage.cancel.cancel();
        }
    }

    /// Nobody can answer in this process: the question stays open, and the journal says so.
    pub(super) fn note_no_response(&mut self) {
        if self.state.planning.place.state != PlanState::SeekApproval {
            return;
        }
        let now = (self.options.clock)();
        let events =
            planning::events_for_outcome(&self.state, ControllerOutcome::NoResponse, None, now);
        for event in events {
            self.record(event);
        }
    }
}

/// An approved plan as the memory keeps it, so that later plans and tasks can find it.
fn plan_memory(session: &SessionId, talk: &PlanningSlice) -> Option<SideWrite> {
    let roadmap = talk.roadmap.as_deref()?;
    let pattern = &talk.pattern.as_ref()?.pattern;
    let subtype = pattern.subtype.as_deref().unwrap_or("generic");
    let last = talk.schedule.as_deref().and_then(|schedule| schedule.blocks.last());
    let ends = last.map(|block| format!(", ends {}", block.end.local_date())).unwrap_or_default();
    let text = format!(
        "Approved plan: {} ({} / {subtype}, {} of work{ends})",
        talk.goal,
        pattern.pattern_type,
        planwright_text::units::format_planned(roadmap.total_minutes.into())
    );
    let tags = vec!["plan".to_owned(), pattern.pattern_type.to_string(), subtype.to_owned()];
    Some(SideWrite::Memory { key: Some(format!("plan:{session}")), text, tags })
}

/// The work of a stage, off the runtime's threads. A panic in it is a fatal error of that stage.
async fn run_stage_blocking(
    planner: &Arc<Planner>,
    talk: PlanningSlice,
    now: jiff::Timestamp,
) -> StageResult {
    let planner = Arc::clone(planner);
    let work = tokio::task::spawn_blocking(move || planner.run_stage(&talk, now)).await;
    work.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => crashed_stage(&panic_text(panic.as_ref())),
        Err(error) => crashed_stage(&error.to_string()),
    })
}

/// What a stage comes to that ended in a panic.
fn crashed_stage(why: &str) -> StageResult {
    let what = format!("the planner stopped with an internal error: {why}");
    StageResult {
        events: vec![PlanningEvent::Troubled { what, cap: None }.into()],
        outcome: ControllerOutcome::FatalError,
    }
}
