//! Drafting the schedule, relaxed where that was decided.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Planner, StageResult, relax, trace};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::offline::{RoomierContext, roomier_contexts, waits_for_its_day};
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, AssumptionOrigin, NodeOrigin, PlanContext, PlanDate,
    PlanDrafter, PlanningToolName, Roadmap, Schedule, Severity, Stage,
};
use planwright_plan::grammar::{repair_stage, validate_stage};
use planwright_schedule::calendar::WorkCalendar;
use planwright_schedule::{
    DraftScheduleRequest, ScheduleError, describe_moved_times, next_start, schedule_draft,
};
use planwright_state::PlanningSlice;
use planwright_text::dates::format_date;

impl Planner {
    pub(super) fn draft_schedule(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let (Some(outline), Some(roadmap)) = (talk.outline.as_deref(), talk.roadmap.as_deref())
        else {
            return StageResult::new(ControllerOutcome::MissingPrerequisite);
        };
        if !talk.change_requests.is_empty() {
            return self.change_then_schedule(talk, now);
        }
        if talk.counters.stage_retries(Stage::Schedule) == 1 && talk.schedule.is_some() {
            return self.repair_schedule(talk, now);
        }
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::ScheduleGenerator, &self.session);
        let mut work = StageResult::new(ControllerOutcome::Success);
        let mut context = outline.plan_context.clone();
        let mut roadmap = roadmap.clone();
        // The controller relaxes once by itself where the person gave it a free hand.
        if let Some(relaxed) = automatic_relaxation(talk) {
            work = work
                .with_event(PlanningEvent::Relaxed { summary: relaxed.summary.clone(), by: None });
            let entry = AdaptationLogEntry {
                id: format!("a{}", talk.adaptation_log.len() + 1),
                timestamp: now,
                node_ids: relaxed.node_ids,
                action: AdaptationAction::Relax,
                reason: relaxed.summary,
                origin: NodeOrigin::System,
                strategy_applied: Some("auto_relax".to_owned()),
                portfolio_impact: None,
                from_version: outline.version,
                to_version: outline.version,
            };
            work = work.with_event(PlanningEvent::Adapted { entry });
            context = relaxed.context;
            work =
                work.with_event(PlanningEvent::ContextSet { context: Arc::new(context.clone()) });
            if let Some(changed) = relaxed.roadmap {
                roadmap = changed.clone();
                work = work.with_event(PlanningEvent::RoadmapDrafted {
                    roadmap: Arc::new(changed),
                    by: PlanDrafter::Offline,
                    self_score: talk.self_scores.get(&Stage::Roadmap).copied(),
                });
            }
        }
        if let Some(today) = self.start_today(&context, &roadmap, now) {
            context = today;
            work =
                work.with_event(PlanningEvent::ContextSet { context: Arc::new(context.clone()) });
        }
        match self.schedule_beside_others(talk, &roadmap, &context, now) {
            Ok(BesideOthers { schedule: made, roomier, later }) => {
                if let Some(roomier) = roomier {
                    work = work
                        .with_event(PlanningEvent::ContextSet {
                            context: Arc::new(roomier.context),
                        })
                        .with_event(PlanningEvent::Said { text: roomier.summary });
                }
                if let Some(LaterSteps { roadmap: changed, summary }) = later {
                    roadmap = changed.clone();
                    work = work
                        .with_event(PlanningEvent::RoadmapDrafted {
                            roadmap: Arc::new(changed),
                            by: PlanDrafter::Offline,
                            self_score: talk.self_scores.get(&Stage::Roadmap).copied(),
                        })
                        .with_event(PlanningEvent::Said { text: summary });
                }
                let told = vec![format!("{} blocks", made.blocks.len())];
                let events = self.calendar.current_events();
                let moved =
                    describe_moved_times(&roadmap, &made, &self.blocks_in_the_way(talk), &events);
                if !moved.is_empty() {
                    let text = format!("{}.", moved.join(".\n"));
                    work = work.with_event(PlanningEvent::Said { text });
                }
                let work = work.with_event(PlanningEvent::ScheduleDrafted {
                    schedule: Arc::new(made),
                    by: PlanDrafter::Offline,
                });
                watch.finish(work, Some(1.0), told)
            }
            Err(error) => {
                let text = format!("{error}; check the time zone, the hours and the links");
                let mut work = work.with_event(PlanningEvent::Said { text });
                work.outcome = ControllerOutcome::FatalError;
                watch.finish(work, Some(0.0), vec![error.to_string()])
            }
        }
    }

    /// Moves the first day to today where nobody named one, time is left today, and the work is small or due soon. Other
    /// plans start tomorrow, unless the person approves them with a start today.
    pub(super) fn start_today(
        &self,
        context: &PlanContext,
        roadmap: &Roadmap,
        now: Timestamp,
    ) -> Option<PlanContext> {
        let today = self.local_date(now);
        let tomorrow = today.tomorrow().ok()?;
        let assumed = context.find_assumption("start")?.origin == AssumptionOrigin::Template;
        let tree = roadmap.node_tree();
        let repeats = roadmap.nodes.iter().any(|node| node.recurrence.is_some());
        let minutes = tree.total_minutes(&roadmap.root_id);
        let small = !repeats && minutes <= SMALL_MINUTES;
        let soon = context.constraints.deadline.is_some_and(|deadline| {
            today.until(deadline.local_date()).is_ok_and(|span| span.get_days() < SOON_DAYS)
        });
        if !assumed || context.constraints.start != tomorrow || !(small || soon) {
            return None;
        }
        if waits_for_its_day(context, today, minutes) {
            return None;
        }
        let calendar = WorkCalendar::from_plan(&context.calendar, today).ok()?;
        let left = calendar.working_between(first_start(now), calendar.day_start(tomorrow));
        (left >= LEAST_MINUTES).then(|| {
            let mut context = context.clone();
            context.constraints.start = today;
            for found in context.assumptions.iter_mut().filter(|found| found.key == "start") {
                found.value = today.to_string();
            }
            context
        })
    }

    /// Schedules the open work around the person's other plans. Where they leave too little room, whatever of the time is
    /// only assumed gives way until it fits; what the person stated stays, and is asked about.
    fn schedule_beside_others(
        &self,
        talk: &PlanningSlice,
        roadmap: &Roadmap,
        context: &PlanContext,
        now: Timestamp,
    ) -> Result<BesideOthers, ScheduleError> {
        let schedule = self.schedule_open_work(talk, roadmap, context, now)?;
        let made = BesideOthers { schedule, roomier: None, later: None };
        let broken = self.count_broken_rules(talk, roadmap, context, &made.schedule);
        if self.others.is_empty() || broken == 0 {
            return Ok(made);
        }
        for roomier in roomier_contexts(context) {
            let schedule = self.schedule_open_work(talk, roadmap, &roomier.context, now)?;
            if self.count_broken_rules(talk, roadmap, &roomier.context, &schedule) == 0 {
                return Ok(BesideOthers { schedule, roomier: Some(roomier), later: None });
            }
        }
        Ok(self.accept_later_steps(talk, roadmap, context, made))
    }

    /// Lets steps be later than usual if the person's other plans fill the time before: the dates by which a kind wants
    /// them are habits. What the person stated is not touched.
    fn accept_later_steps(
        &self,
        talk: &PlanningSlice,
        roadmap: &Roadmap,
        context: &PlanContext,
        made: BesideOthers,
    ) -> BesideOthers {
        let Some(later) = later_steps(roadmap, &made.schedule, context) else { return made };
        match self.count_broken_rules(talk, &later.roadmap, context, &made.schedule) {
            0 => BesideOthers { later: Some(later), ..made },
            _ => made,
        }
    }

    /// Counts what a person would have to fix in a schedule.
    fn count_broken_rules(
        &self,
        talk: &PlanningSlice,
        roadmap: &Roadmap,
        context: &PlanContext,
        schedule: &Schedule,
    ) -> usize {
        let Some(mut plan) = self.plan_artifacts(talk) else { return 0 };
        plan.outline.plan_context = context.clone();
        plan.roadmap = Some(roadmap.clone());
        plan.schedule = Some(schedule.clone());
        let found = validate_stage(Stage::Schedule, &plan);
        found.iter().filter(|rule| rule.severity != Severity::Warning).count()
    }

    pub(super) fn schedule_open_work(
        &self,
        talk: &PlanningSlice,
        roadmap: &Roadmap,
        context: &PlanContext,
        now: Timestamp,
    ) -> Result<Schedule, ScheduleError> {
        schedule_draft(&DraftScheduleRequest {
            roadmap,
            context,
            before: talk.schedule.as_deref(),
            shown: talk.shown_schedule(),
            settled: &talk.frozen.to_open_work(),
            events: &self.calendar.current_events(),
            others: &self.blocks_in_the_way(talk),
            goal: &talk.goal,
            now,
        })
    }

    /// Takes the change requests up and goes on in the same state, where the changed plan is scheduled next.
    fn change_then_schedule(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let Some(outline) = talk.outline.as_deref() else {
            return StageResult::new(ControllerOutcome::MissingPrerequisite);
        };
        let mut work = self.apply_change_requests(
            talk,
            outline,
            StageResult::new(ControllerOutcome::Success),
            now,
        );
        let mut after = talk.clone();
        for event in &work.events {
            match event {
                Event::Planning(event) => {
                    after.apply(event, now);
                }
                Event::Fact(event) => {
                    after.facts.apply(event);
                }
                _ => {}
            }
        }
        let more = self.draft_schedule(&after, now);
        work.outcome = more.outcome;
        work.events.extend(more.events);
        work
    }

    fn repair_schedule(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::ScheduleGenerator, &self.session);
        let mut work = StageResult::new(ControllerOutcome::Success);
        let Some(mut plan) = self.plan_artifacts(talk) else { return work };
        let log = repair_stage(&mut plan, Stage::Schedule, now);
        let told = log.iter().map(|entry| entry.reason.clone()).collect();
        for entry in log {
            work = work.with_event(PlanningEvent::Adapted { entry });
        }
        if let Some(schedule) = plan.schedule {
            work = work.with_event(PlanningEvent::ScheduleDrafted {
                schedule: Arc::new(schedule),
                by: PlanDrafter::Offline,
            });
        }
        watch.finish(work, Some(1.0), told)
    }
}

/// A plan of at most this many minutes starts as soon as possible.
const SMALL_MINUTES: u32 = 240;
/// So does a plan whose deadline is fewer days away.
const SOON_DAYS: i32 = 8;
/// The shortest rest of a day that is worth starting in.
const LEAST_MINUTES: u64 = 30;
/// The time between a draft and the first task of today: a plan that is late as soon as it is approved helps nobody.
const LEAD_MINUTES: i64 = 30;

/// Returns when a plan that is drafted now may start.
pub(super) fn first_start(now: Timestamp) -> Timestamp {
    let lead = SignedDuration::from_mins(LEAD_MINUTES);
    next_start(now.saturating_add(lead).unwrap_or(now))
}

/// The relaxation that the controller makes by itself, once.
fn automatic_relaxation(talk: &PlanningSlice) -> Option<relax::RelaxedPlan> {
    let schedule = talk.schedule.as_deref()?;
    let wanted = talk.counters.auto_relaxed == 1
        && !talk.adaptation_log.iter().any(|entry| {
            entry.action == AdaptationAction::Relax
                && entry.strategy_applied.as_deref() == Some("auto_relax")
        });
    if !wanted {
        return None;
    }
    let first = schedule.relaxations.iter().find(|relaxation| {
        relaxation.changes.len() == 1 && !relax::touches_stated_limits(talk, relaxation)
    })?;
    relax::apply_relaxation(talk, first)
}

/// A schedule beside the person's other plans, and what gave way for it.
struct BesideOthers {
    schedule: Schedule,
    roomier: Option<RoomierContext>,
    later: Option<LaterSteps>,
}

/// Steps that come later than usual.
struct LaterSteps {
    roadmap: Roadmap,
    /// Which, in a sentence.
    summary: String,
}

/// The steps that are named when others come later than usual.
const NAMED_STEPS: usize = 3;

/// Moves the dates by which steps are due to when the schedule has them. Returns nothing if none is late.
fn later_steps(
    roadmap: &Roadmap,
    schedule: &Schedule,
    context: &PlanContext,
) -> Option<LaterSteps> {
    let mut changed = roadmap.clone();
    let mut told: Vec<String> = Vec::new();
    let day = |date| format_date(date, context.constraints.start);
    for node in &mut changed.nodes {
        let ends = schedule.blocks_for_node(&node.id).filter(|block| block.occurrence.is_none());
        let last = ends.map(|block| block.end.local_date()).max();
        let Some((due, last)) = node.due.zip(last).filter(|(due, last)| last > &due.day) else {
            continue;
        };
        told.push(format!("\"{}\" on {} instead of by {}", node.title, day(last), day(due.day)));
        node.due = Some(PlanDate::on_day(last));
    }
    let more = told.len().saturating_sub(NAMED_STEPS);
    let named = told.iter().take(NAMED_STEPS).cloned().collect::<Vec<String>>().join(", ");
    let others = if more > 0 { format!(", and {more} more") } else { String::new() };
    let summary = format!(
        "Your other plans fill the time before, so some steps are later than usual: {named}{others}. For earlier dates \
         give this plan more hours, such as \"weekends too\", or move steps of another plan."
    );
    (!told.is_empty()).then_some(LaterSteps { roadmap: changed, summary })
}
