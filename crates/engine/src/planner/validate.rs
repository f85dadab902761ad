//! Checking a stage: the grammar finds what is broken, the confidence is judged, the table decides.

use jiff::Timestamp;

use super::{Planner, StageResult, trace};
use planwright_drafting::controller::{ControllerOutcome, stage_outcome};
use planwright_model::PlanningToolName;
use planwright_model::event::PlanningEvent;
use planwright_model::{Severity, Stage, StageAssessment, TaskId, Violation};
use planwright_plan::confidence::{ConfidenceFacts, judge_stage};
use planwright_plan::grammar::{BROKEN_FACT_RULE, PlanArtifacts, PlanSurroundings, validate_stage};
use planwright_state::PlanningSlice;

/// Takes what is done out of a plan whose schedule is checked: its times are history, and no rule applies to them.
fn leave_out_frozen(plan: &mut PlanArtifacts, talk: &PlanningSlice) {
    if talk.frozen.is_empty() {
        return;
    }
    let done = |id: &TaskId| talk.frozen.tasks.contains(id);
    if let Some(roadmap) = &mut plan.roadmap {
        roadmap.nodes.retain(|node| !done(&node.id));
        roadmap.dependencies.retain(|link| !done(&link.from) && !done(&link.to));
    }
    plan.outline.nodes.retain(|node| !done(&node.id));
    if let Some(schedule) = &mut plan.schedule {
        schedule.blocks.retain(|block| !done(&block.plan_node_id));
    }
}

/// Rules that a schedule breaks because there is too little time before a date: order, fixed dates, due dates.
const DATE_RULES: [&str; 3] = ["G403", "G411", "G412"];

/// Whether all that is wrong with a schedule are dates that cannot be met. The person then chooses what gives way.
fn misses_only_dates(judgement: &StageAssessment) -> bool {
    let mut broken = judgement
        .violations
        .iter()
        .filter(|found| found.severity != Severity::Warning && found.rule != BROKEN_FACT_RULE)
        .peekable();
    broken.peek().is_some() && broken.all(|found| DATE_RULES.contains(&found.rule.as_str()))
}

impl Planner {
    /// The plan as it stands, as the grammar looks at it.
    pub(super) fn plan_artifacts(&self, talk: &PlanningSlice) -> Option<PlanArtifacts> {
        let outline = talk.outline.as_deref()?.clone();
        let mut plan = PlanArtifacts::new(outline);
        plan.roadmap = talk.roadmap.as_deref().cloned();
        plan.schedule = talk.schedule.as_deref().cloned();
        plan.adaptation_log.clone_from(&talk.adaptation_log);
        plan.surroundings = PlanSurroundings {
            fixed_events: self.calendar.current_events().to_vec(),
            other_blocks: self
                .blocks_in_the_way(talk)
                .into_iter()
                .map(|other| other.block)
                .collect(),
            accepted_late: talk.accepted_late,
            allow_proposals: self.settings.allow_new_subtype_proposals,
            facts: talk.facts.active().cloned().collect(),
        };
        Some(plan)
    }

    /// The outcome of a judgement. What breaks a fact is worth one more try; after that the person decides on the card,
    /// which says so first.
    fn outcome_of(
        &self,
        stage: Stage,
        talk: &PlanningSlice,
        plan: &PlanArtifacts,
        judgement: &StageAssessment,
    ) -> ControllerOutcome {
        let outcome = stage_outcome(stage, judgement);
        let tried = talk.counters.stage_retries(stage) > 0;
        if stage == Stage::Schedule && tried && misses_only_dates(judgement) {
            return ControllerOutcome::Infeasible;
        }
        let breaks_fact = judgement.violations.iter().any(|found| found.rule == BROKEN_FACT_RULE);
        if !breaks_fact || talk.counters.stage_retries(stage) == 0 {
            return outcome;
        }
        let mut violations = judgement.violations.clone();
        violations.retain(|found| found.rule != BROKEN_FACT_RULE);
        let score = talk.self_scores.get(&stage).copied();
        let settings = &self.settings.confidence;
        let facts = ConfidenceFacts::default();
        let confidence = judge_stage(stage, plan, &facts, &violations, score, settings);
        stage_outcome(stage, &StageAssessment { confidence, violations })
    }

    /// The plan as a stage is judged: what a later one left behind from before a revision does not count.
    fn judged_artifacts(&self, stage: Stage, talk: &PlanningSlice) -> Option<PlanArtifacts> {
        let mut plan = self.plan_artifacts(talk)?;
        if stage < Stage::Schedule {
            plan.schedule = None;
        }
        if stage < Stage::Roadmap {
            plan.roadmap = None;
        }
        if stage == Stage::Schedule {
            leave_out_frozen(&mut plan, talk);
        }
        Some(plan)
    }

    /// What the rules of a stage find in the plan as it stands.
    pub(super) fn stage_violations(&self, stage: Stage, talk: &PlanningSlice) -> Vec<Violation> {
        self.judged_artifacts(stage, talk)
            .map_or_else(Vec::new, |plan| validate_stage(stage, &plan))
    }

    pub(super) fn validate_stage(
        &self,
        stage: Stage,
        talk: &PlanningSlice,
        now: Timestamp,
    ) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::GrammarValidator, &self.session);
        let Some(plan) = self.judged_artifacts(stage, talk) else {
            return watch.finish(
                StageResult::new(ControllerOutcome::InvalidFatal),
                Some(0.0),
                Vec::new(),
            );
        };
        let violations = validate_stage(stage, &plan);
        let score = talk.self_scores.get(&stage).copied();
        let settings = &self.settings.confidence;
        let confidence =
            judge_stage(stage, &plan, &ConfidenceFacts::default(), &violations, score, settings);
        let value = confidence.value;
        let explanations = violations
            .iter()
            .map(|found| format!("{} {} {}", found.rule, found.message, found.suggested_fix))
            .collect();
        let judgement = StageAssessment { confidence, violations };
        let outcome = self.outcome_of(stage, talk, &plan, &judgement);
        let work = StageResult::new(outcome).with_event(PlanningEvent::Judged { stage, judgement });
        let work = watch.finish(work, Some(value), explanations);
        if work.outcome == ControllerOutcome::Unsure
            && Self::should_offer_ideas(talk, Some(value), None)
        {
            return self.add_ideas(work, talk, now);
        }
        work
    }
}
